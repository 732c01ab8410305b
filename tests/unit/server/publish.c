/* Worlds of rules and a view of a cluster: what each is made of, and when its parts go. */
#include "server/publish.h"

#include <stdlib.h>

#include "unit.h"
#include "world_of_text.h"

const char unit_suite[] = "server/publish";

enum { SLOT = 0, OTHER_SLOT = 1, SLOTS = 2 };

static struct publisher *publisher;
static unsigned given_back, times_heard;

static struct world *load(uint64_t generation)
{
    return world_of_text(
        "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, "
        "spec: {rails: {topology-keys: {}}}}\n",
        (struct world_options){0}, generation, 0);
}

static void give_back(struct cluster_view *view)
{
    given_back++;
    free(view);
}

/* A view of nothing that any test looks into. */
static struct cluster_view *view_of(const void *snapshot, struct loaded_policies *rules)
{
    struct cluster_view *view = calloc(1, sizeof *view);
    CU_ASSERT_PTR_NOT_NULL_FATAL(view);
    *view = (struct cluster_view){.snapshot = snapshot, .rules = rules, .give_back = give_back};
    return view;
}

static void open_publisher(void)
{
    given_back = times_heard = 0;
    publisher = publisher_create(SLOTS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(publisher);
}

static const struct world *pin(unsigned slot)
{
    return cell_pin(publisher_cell(publisher), slot);
}

static void unpin(unsigned slot)
{
    cell_unpin(publisher_cell(publisher), slot);
}

static uint64_t count(void)
{
    return cell_count(publisher_cell(publisher));
}

static const char snapshots[4]; /* their places are what tells them apart */

/* ---- tests ---- */

static void rules_alone_are_a_world(void)
{
    open_publisher();
    CU_ASSERT_PTR_NULL(publisher_hold_policies(publisher));
    struct world *rules = load(3);
    const struct snapshot *of_files = rules->snapshot;
    CU_ASSERT_FATAL(publisher_set_policies(publisher, rules));
    const struct world *world = pin(SLOT);
    ASSERT_INT(world->generation, 3);
    CU_ASSERT(world->blind && !world->live && !world->of_cluster && !world->volumes_are_stale);
    CU_ASSERT_PTR_EQUAL(world->snapshot, of_files);
    CU_ASSERT_PTR_EQUAL(world->policies, rules->policies);
    unpin(SLOT);
    publisher_destroy(publisher);
}

static void a_view_waits_for_rules(void)
{
    const struct visibility visibility = {
        .unseen = KIND_BIT(KIND_NODE), .owners = {{7}}, .volumes_are_stale = true};
    open_publisher();
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[0], NULL), &visibility));
    ASSERT_INT(count(), 0);
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(1)));
    ASSERT_INT(count(), 1);
    const struct world *world = pin(SLOT);
    CU_ASSERT(world->live && world->of_cluster && !world->blind && world->volumes_are_stale);
    CU_ASSERT(world->unseen == KIND_BIT(KIND_NODE));
    ASSERT_INT(world->owners.ids[0], 7);
    CU_ASSERT_PTR_EQUAL(world->snapshot, (const void *)&snapshots[0]);
    CU_ASSERT_PTR_NULL(world->supply);
    unpin(SLOT);
    publisher_destroy(publisher);
    ASSERT_INT(given_back, 1);
}

/* What is seen may change while the view stays, and stays when rules come. */
static void what_is_seen_changes_beside_the_view(void)
{
    const struct visibility before = {.unseen = KIND_BIT(KIND_NODE)};
    const struct visibility after = {.owners = {{8}}, .volumes_are_stale = true};
    open_publisher();
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(1)));
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[1], NULL), &before));
    CU_ASSERT(publisher_set_view(publisher, NULL, &after));
    ASSERT_INT(count(), 3);
    for (uint64_t generation = 1; generation < 3; generation++) {
        const struct world *world = pin(SLOT);
        ASSERT_INT(world->generation, generation);
        CU_ASSERT_PTR_EQUAL(world->snapshot, (const void *)&snapshots[1]);
        CU_ASSERT(world->unseen == 0 && world->volumes_are_stale);
        ASSERT_INT(world->owners.ids[0], 8);
        unpin(SLOT);
        CU_ASSERT_FATAL(publisher_set_policies(publisher, load(generation + 1)));
    }
    ASSERT_INT(given_back, 0);
    publisher_destroy(publisher);
    ASSERT_INT(given_back, 1);
}

/* Not before the last who looks at it has looked. */
static void a_view_goes_back_once_nobody_uses_it(void)
{
    const struct visibility all = {0};
    open_publisher();
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(1)));
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[0], NULL), &all));
    (void)pin(OTHER_SLOT);
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[1], NULL), &all));
    ASSERT_INT(given_back, 0);
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[2], NULL), &all));
    ASSERT_INT(given_back, 1); /* the one between */
    unpin(OTHER_SLOT);
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[3], NULL), &all));
    ASSERT_INT(given_back, 3);
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(2)));
    ASSERT_INT(given_back, 3); /* it is part of the world of the next rules, too */
    publisher_destroy(publisher);
    ASSERT_INT(given_back, 4);
}

/* They live as long as somebody holds them: who asked for them, a view, a world. */
static void rules_are_held(void)
{
    const struct visibility all = {0};
    open_publisher();
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(1)));
    struct loaded_policies *held = publisher_hold_policies(publisher);
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[0], held), &all));
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(2)));
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(3)));
    struct loaded_policies *newest = publisher_hold_policies(publisher);
    ASSERT_INT(newest->world->generation, 3);
    publisher_release_policies(publisher, newest);
    ASSERT_INT(held->world->generation, 1);
    ASSERT_INT(held->hold_count, 2); /* of the test, and of the view */
    publisher_release_policies(publisher, held);
    ASSERT_INT(held->world->generation, 1);
    ASSERT_INT(held->hold_count, 1);
    publisher_release_policies(publisher, NULL);
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[1], NULL), &all));
    publisher_destroy(publisher);
    ASSERT_INT(given_back, 2);
}

static void hear(void *context)
{
    ASSERT_INT(*(const int *)context, 5);
    times_heard++;
}

static void who_listens_hears_of_rules(void)
{
    const struct visibility all = {0};
    int context = 5;
    open_publisher();
    publisher_listen(publisher, hear, &context);
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(1)));
    ASSERT_INT(times_heard, 1);
    CU_ASSERT(publisher_set_view(publisher, view_of(&snapshots[0], NULL), &all));
    ASSERT_INT(times_heard, 1);
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(2)));
    ASSERT_INT(times_heard, 2);
    publisher_listen(publisher, NULL, NULL);
    CU_ASSERT_FATAL(publisher_set_policies(publisher, load(3)));
    ASSERT_INT(times_heard, 2);
    publisher_destroy(publisher);
    publisher_destroy(NULL);
}

const struct unit_test unit_tests[] = {
    {"rules alone are a world", rules_alone_are_a_world},
    {"a view waits for rules", a_view_waits_for_rules},
    {"what is seen changes beside the view", what_is_seen_changes_beside_the_view},
    {"a view goes back once nobody uses it", a_view_goes_back_once_nobody_uses_it},
    {"rules are held", rules_are_held},
    {"who listens hears of rules", who_listens_hears_of_rules},
    {NULL, NULL},
};
