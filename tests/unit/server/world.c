/* What a world is loaded with, and what is said of it: the day from which maxDuration counts, where
 * it is from, what cannot be seen. */
#include <malloc.h>
#include <string.h>

#include "folder.h"
#include "server/server.h"
#include "unit.h"

const char unit_suite[] = "server/world";

enum { DAY_S = 24 * 60 * 60, NOW_S = 1795230245 /* 2026-11-21 */ };

/* Ends 2026-12-25, and lasts 30 days at most. */
static const char policy[] =
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: base}\n"
    "spec:\n"
    "  mode: enforce\n"
    "  rails: {topology-keys: {}}\n"
    "  grants: [{owner: team, rails: [topology-keys], maxDuration: 720h}]\n"
    "---\n"
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRailExceptions\n"
    "metadata: {name: t}\n"
    "spec:\n"
    "  policies: [base]\n"
    "  owner: team\n"
    "  exceptions: [{id: e, rails: [topology-keys], match: {namespaces: [a]}, reason: r,\n"
    "    expires: 2026-12-25}]\n";

static const char plain_policy[] =
    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: base}, spec: {rails: "
    "{topology-keys: {}}}}\n";

/* policy.yaml of that text, and a folder state with objects.yaml; state NULL: none. */
static void write_files(const char *policy_text, const char *state)
{
    make_folder();
    write_file("policy.yaml", policy_text);
    if (state == NULL)
        return;
    write_folder("state");
    write_file("state/objects.yaml", state);
}

struct loaded {
    struct arena *arena;
    struct problems errors, warnings;
    struct world *world;
    bool loads;
};

static struct loaded load_files(struct world_options options, bool state)
{
    const char *paths[] = {path_of("policy.yaml")};
    struct loaded loaded = {.arena = arena_create(1 << 22)};
    loaded.errors.arena = loaded.warnings.arena = loaded.arena;
    options.policy_paths = paths;
    options.policy_path_count = 1;
    options.state_dir = state ? path_of("state") : NULL;
    loaded.loads = world_load(&options, 9, NOW_S, &loaded.world, &loaded.errors, &loaded.warnings);
    return loaded;
}

static void unload(struct loaded *loaded)
{
    if (loaded->loads)
        world_destroy(loaded->world);
    arena_destroy(loaded->arena);
}

static bool says(const struct problems *problems, const char *what)
{
    for (size_t i = 0; i < problems->count; i++)
        if (strstr(problems->items[i].what, what) != NULL)
            return true;
    return false;
}

/* Cases of a policy have a day of their own, which may be long ago; what is too long today is too
 * long. */
static void what_lasts_too_long_counts_from_the_later_day(void)
{
    static const struct {
        int64_t today_unix_s;
        bool loads;
    } cases[] = {
        {0, false},
        {NOW_S - 300 * (int64_t)DAY_S, false},
        {NOW_S + 1 * (int64_t)DAY_S, false},
        {NOW_S + 10 * (int64_t)DAY_S, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_files(policy, NULL);
        struct loaded loaded =
            load_files((struct world_options){.today_unix_s = cases[i].today_unix_s}, false);
        ASSERT_INT(loaded.loads, cases[i].loads);
        ASSERT_INT(loaded.errors.count, !cases[i].loads);
        CU_ASSERT(loaded.loads || says(&loaded.errors, "ends later than the policy"));
        unload(&loaded);
        remove_folder();
    }
}

#define CLAIM \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: b}, spec: {}}\n"

static void a_world_knows_where_it_is_from(void)
{
    static const struct {
        const char *state; /* NULL: none */
        bool blind;
    } cases[] = {{NULL, true}, {CLAIM, false}, {"", false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_files(plain_policy, cases[i].state);
        struct loaded loaded = load_files((struct world_options){.unseen = KIND_BIT(KIND_NODE)},
                                          cases[i].state != NULL);
        CU_ASSERT_FATAL(loaded.loads);
        ASSERT_INT(loaded.world->blind, cases[i].blind);
        ASSERT_INT(loaded.world->generation, 9);
        ASSERT_INT(loaded.world->loaded_unix_s, NOW_S);
        CU_ASSERT(!loaded.world->of_cluster && !loaded.world->live);
        CU_ASSERT(loaded.world->unseen == KIND_BIT(KIND_NODE));
        CU_ASSERT_PTR_NULL(loaded.world->supply); /* nothing needs it */
        unload(&loaded);
        remove_folder();
    }
}

/* Where pods could run is reckoned where a rail asks for it. */
static void a_supply_is_made_where_it_is_asked_for(void)
{
    static const struct {
        const char *rails;
        bool supply;
    } cases[] = {{"topology-keys: {}", false}, {"placeable: {}", true}};
    static const char pool[] =
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
        "{spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, "
        "requirements: []}}}}\n";
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char policy_text[256];
        snprintf(policy_text, sizeof policy_text,
                 "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: base}, "
                 "spec: {mode: enforce, rails: {%s}}}\n",
                 cases[i].rails);
        write_files(policy_text, pool);
        struct loaded loaded = load_files((struct world_options){0}, true);
        CU_ASSERT_FATAL(loaded.loads);
        ASSERT_INT(loaded.world->supply != NULL, cases[i].supply);
        unload(&loaded);
        remove_folder();
    }
}

static void all_errors_are_said_at_once(void)
{
    static const struct {
        const char *policy, *state;
        bool state_there, loads;
        const char *error, *other; /* NULL: none */
    } cases[] = {
        {plain_policy, CLAIM, true, true, NULL, NULL},
        {"kind: [", CLAIM, true, false, "", NULL},
        {plain_policy, NULL, true, false, "state", NULL},
        {"{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: base}, spec: "
         "{rails: {topology-keyz: {}}}}\n",
         NULL, true, false, "topology-keyz", "state"},
    };
    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        const struct world_options options = {.serves = i % 2 != 0};
        write_files(cases[i / 2].policy, cases[i / 2].state);
        struct loaded loaded = load_files(options, cases[i / 2].state_there);
        ASSERT_INT(loaded.loads, cases[i / 2].loads);
        ASSERT_INT(loaded.errors.count,
                   (cases[i / 2].error != NULL) + (cases[i / 2].other != NULL));
        CU_ASSERT(cases[i / 2].error == NULL || says(&loaded.errors, cases[i / 2].error));
        CU_ASSERT(cases[i / 2].other == NULL || says(&loaded.errors, cases[i / 2].other));
        unload(&loaded);
        remove_folder();
    }
}

/* A server that has refused its files looks at them again and again. */
static void what_is_refused_takes_no_memory(void)
{
    enum { TIMES = 50, GROWTH_BYTES = 64 << 10 };
    size_t before = 0;
    write_files("kind: [", NULL);
    for (size_t i = 0; i < TIMES; i++) {
        struct loaded loaded = load_files((struct world_options){0}, false);
        CU_ASSERT_FALSE(loaded.loads);
        unload(&loaded);
        if (i == TIMES / 2)
            before = mallinfo2().uordblks;
    }
    CU_ASSERT(mallinfo2().uordblks < before + GROWTH_BYTES);
    remove_folder();
}

/* Nor does what has more problems than there is memory for. */
static void too_many_problems_take_no_memory(void)
{
    enum { TIMES = 20, GROWTH_BYTES = 64 << 10, HOLES = 5000 };
    static const char hole[] = "kind: [\n---\n";
    static char state[HOLES * (sizeof hole - 1) + 1];
    size_t before = 0;
    for (size_t i = 0; i < HOLES; i++)
        memcpy(state + i * (sizeof hole - 1), hole, sizeof hole);
    write_files(plain_policy, state);
    for (size_t i = 0; i < TIMES; i++) {
        struct loaded loaded = load_files((struct world_options){0}, true);
        CU_ASSERT_FALSE(loaded.loads);
        CU_ASSERT(says(&loaded.errors, "memory budget of"));
        unload(&loaded);
        if (i == TIMES / 2)
            before = mallinfo2().uordblks;
    }
    CU_ASSERT(mallinfo2().uordblks < before + GROWTH_BYTES);
    remove_folder();
}

/* What cannot be seen is said to who serves, where nothing will show it later. */
static void who_serves_is_warned_of_what_cannot_be_seen(void)
{
    static const char with_since[] =
        "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: base}, spec: "
        "{since: 2026-06-01, rails: {placeable: {}}}}\n";
    static const char belief[] = "`since` rests on what authors write";
    static const char sources[] = "what depends on them is not decided";
    static const struct {
        bool serves, watches;
        const char *state; /* NULL: none */
        bool believes, misses;
    } cases[] = {
        {false, false, NULL, false, false},  {true, false, NULL, true, true},
        {true, true, NULL, false, false},    {true, false, CLAIM, false, true},
        {false, false, CLAIM, false, false}, {true, true, CLAIM, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        write_files(with_since, cases[i].state);
        const struct world_options options = {.serves = cases[i].serves,
                                              .watches = cases[i].watches};
        struct loaded loaded = load_files(options, cases[i].state != NULL);
        CU_ASSERT_FATAL(loaded.loads);
        ASSERT_INT(says(&loaded.warnings, belief), cases[i].believes);
        ASSERT_INT(says(&loaded.warnings, sources), cases[i].misses);
        ASSERT_INT(world_holes(loaded.world)->count, 0);
        unload(&loaded);
        remove_folder();
    }
}

/* They are warnings, and others are no holes. */
static void what_cannot_be_read_of_the_state_is_a_hole(void)
{
    write_files(plain_policy,
                CLAIM "---\nkind: [\n---\n"
                      "{apiVersion: v1, kind: Node, kind: Node, metadata: {name: a}}");
    struct loaded loaded = load_files((struct world_options){.serves = true}, true);
    CU_ASSERT_FATAL(loaded.loads);
    const struct problems *holes = world_holes(loaded.world);
    CU_ASSERT_FATAL(holes->count == 1);
    CU_ASSERT_STRING_EQUAL(holes->items[0].place.file, path_of("state/objects.yaml"));
    CU_ASSERT(says(holes, "not YAML") && says(&loaded.warnings, "not YAML"));
    CU_ASSERT(loaded.warnings.count > holes->count);
    unload(&loaded);
    remove_folder();
}

const struct unit_test unit_tests[] = {
    {"what lasts too long counts from the later day",
     what_lasts_too_long_counts_from_the_later_day},
    {"a world knows where it is from", a_world_knows_where_it_is_from},
    {"a supply is made where it is asked for", a_supply_is_made_where_it_is_asked_for},
    {"what is refused takes no memory", what_is_refused_takes_no_memory},
    {"too many problems take no memory", too_many_problems_take_no_memory},
    {"all errors are said at once", all_errors_are_said_at_once},
    {"who serves is warned of what cannot be seen", who_serves_is_warned_of_what_cannot_be_seen},
    {"what cannot be read of the state is a hole", what_cannot_be_read_of_the_state_is_a_hole},
    {NULL, NULL},
};
