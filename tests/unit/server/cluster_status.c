/* What the ops port says about the watched cluster. */
#include "server/cluster_status.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

enum { AT_MS = 1000000, NOW_MS = AT_MS + 2500 };

static struct cluster_report report;
static struct arena *arena;

/* ---- reports ---- */

static void watch(enum kind kind, size_t objects, int64_t age_ms)
{
    report.kinds |= KIND_BIT(kind);
    report.of[kind] = (struct kind_report){
        .report = {.synced = age_ms >= 0, .age_ms = age_ms},
        .object_count = objects,
    };
}

static void fail(enum kind kind, bool degraded, unsigned status, const char *problem)
{
    struct watch_report *watched = &report.of[kind].report;
    watched->degraded = degraded;
    watched->refused_status = status;
    snprintf(watched->problem, sizeof watched->problem, "%s", problem);
}

static struct text say(void (*add)(struct cluster_status *, int64_t, struct text_builder *))
{
    struct text_builder out = {.arena = arena};
    struct cluster_status *status = cluster_status_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(status);
    CU_ASSERT_TRUE(cluster_status_is_waiting(status));
    CU_ASSERT_FALSE(cluster_status_is_visible(status));
    cluster_status_set(status, &report);
    CU_ASSERT_EQUAL(cluster_status_is_waiting(status), report.waiting);
    CU_ASSERT_EQUAL(cluster_status_is_visible(status), report.visible);
    add(status, NOW_MS, &out);
    cluster_status_destroy(status);
    return text_builder_text(&out);
}

static void begin(bool visible)
{
    report = (struct cluster_report){.at_ms = AT_MS, .visible = visible};
}

/* ---- the line of /readyz ---- */

static void the_line_counts_objects_and_their_age(void)
{
    begin(true);
    watch(KIND_POD, 12000, 38600);
    watch(KIND_NODE, 203, 1000);
    report.of[KIND_NODE_POOL].object_count = 9; /* which is not watched */
    report.of[KIND_NODE_POOL].report.age_ms = 99000;
    /* 38.6 s, and 2.5 s since the report */
    ASSERT_TEXT(say(cluster_status_add_line), "; cluster: 12203 objects, none older than 42 s");
    watch(KIND_POD, 12000, 38500);
    ASSERT_TEXT(say(cluster_status_add_line), "; cluster: 12203 objects, none older than 41 s");
    report.volumes_are_stale = true;
    ASSERT_TEXT(say(cluster_status_add_line),
                "; cluster: 12203 objects, none older than 41 s; its claims and volumes are too "
                "old to require a zone");
    report.visible = false;
    ASSERT_TEXT(say(cluster_status_add_line), "; cluster: not visible yet");
}

static void the_line_says_what_is_not_seen(void)
{
    static const struct {
        bool unseen, degraded;
        unsigned status;
        const char *problem;
        bool lacks;
        const char *said;
    } rows[] = {
        {false, false, 0, "", false, ""},
        {false, false, 0, "cannot connect", false, "; nodes may be out of date: cannot connect"},
        {false, true, 403, "answered 403", false, "; nodes may no longer be read: answered 403"},
        {false, true, 404, "answered 404", false, "; nodes are not there: answered 404"},
        {true, true, 403, "answered 403", false, "; nodes cannot be seen: answered 403"},
        {true, false, 0, "", false, "; nodes cannot be seen: no answer yet"},
        {true, false, 0, "", true,
         "; there is no memory for all nodes; nodes cannot be seen: there is no memory for all of "
         "them"},
        {false, false, 0, "", true, "; there is no memory for all nodes"},
        /* in one line, whatever the API server answered */
        {false, false, 0, "a\nb\x1f\x7f~ c", false, "; nodes may be out of date: a b  ~ c"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        begin(true);
        watch(KIND_NODE, 3, 0);
        fail(KIND_NODE, rows[i].degraded, rows[i].status, rows[i].problem);
        report.of[KIND_NODE].lacks = rows[i].lacks;
        report.unseen = rows[i].unseen ? KIND_BIT(KIND_NODE) : 0;
        fail(KIND_POD, true, 403, "which is not watched");
        ASSERT_TEXT(
            say(cluster_status_add_line),
            arena_printf(arena, "; cluster: 3 objects, none older than 3 s%s", rows[i].said).data);
    }
}

/* One token that ends at night takes the sight of many kinds. */
static void the_line_names_every_kind_that_is_not_seen(void)
{
    const enum kind kinds[] = {KIND_POD, KIND_NODE, KIND_NODE_POOL};
    begin(true);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        watch(kinds[i], 1, 0);
        fail(kinds[i], true, 403, "answered 403");
    }
    struct text line = say(cluster_status_add_line);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const char *said = arena_printf(arena, "; %s may no longer be read: answered 403",
                                        kind_table[kinds[i]].plural)
                               .data;
        CU_ASSERT_PTR_NOT_NULL(strstr(line.data, said));
    }
}

static void unreadable_objects_are_counted(void)
{
    begin(true);
    watch(KIND_POD, 7, 0);
    watch(KIND_NODE, 2, 0);
    report.of[KIND_POD].unreadable_count = 3;
    report.of[KIND_NODE_POOL].unreadable_count = 3;
    ASSERT_TEXT(say(cluster_status_add_line),
                "; cluster: 9 objects, none older than 3 s; 3 of 7 pods cannot be read");
}

static void custom_owners_have_their_own_names(void)
{
    begin(true);
    watch(KIND_OWNER_FIRST, 4, -1);
    snprintf(report.of[KIND_OWNER_FIRST].custom, sizeof report.of[0].custom, "Rollout.argoproj.io");
    watch(KIND_NODE, 0, 0);
    ASSERT_TEXT(say(cluster_status_add_line),
                "; cluster: 4 objects, none older than 3 s; Rollout.argoproj.io cannot be seen: no "
                "answer yet");
    /* a cluster without the resource has no such owners */
    fail(KIND_OWNER_FIRST, true, 404, "answered 404");
    ASSERT_TEXT(say(cluster_status_add_line),
                "; cluster: 4 objects, none older than 3 s; Rollout.argoproj.io are not there: "
                "answered 404");
    watch(KIND_OWNER_FIRST, 4, 0);
    snprintf(report.of[KIND_OWNER_FIRST].custom, sizeof report.of[0].custom, "Rollout.argoproj.io");
    ASSERT_TEXT(say(cluster_status_add_line), "; cluster: 4 objects, none older than 3 s");
}

/* ---- its verbose lines ---- */

static void each_kind_has_a_line(void)
{
    begin(true);
    watch(KIND_POD, 7, 4600);
    report.of[KIND_POD].unreadable_count = 2;
    snprintf(report.of[KIND_POD].unreadable, sizeof report.of[0].unreadable, "shop/a, shop/b");
    report.of[KIND_POD].lacks = true;
    watch(KIND_NODE_POOL, 0, -1);
    fail(KIND_NODE_POOL, true, 403, "answered\n403");
    watch(KIND_NODE_CLAIM, 0, -1);
    fail(KIND_NODE_CLAIM, true, 404, "answered 404");
    report.of[KIND_NODE_CLAIM].report.lists = 1;
    watch(KIND_NODE, 5, 0);
    report.of[KIND_NODE].unreadable_count = 1;
    watch(KIND_OWNER_LAST, 1, 7500);
    snprintf(report.of[KIND_OWNER_LAST].custom, sizeof report.of[0].custom, "RayCluster.ray.io");
    ASSERT_TEXT(say(cluster_status_add_kinds),
                "pods: 7 objects, known to be right 7 s ago, 2 cannot be read (shop/a, shop/b), no "
                "memory for all of them\n"
                "nodepools: 0 objects, never listed, degraded: answered 403\n"
                "nodes: 5 objects, known to be right 2 s ago, 1 cannot be read\n"
                "nodeclaims: 0 objects, no longer there, degraded: answered 404\n"
                "RayCluster.ray.io: 1 objects, known to be right 10 s ago\n");
}

/* ---- metrics ---- */

static void check_line(struct text metrics, const char *line)
{
    struct text wanted = arena_printf(arena, "\n%s\n", line);
    if (memmem(metrics.data, metrics.size, wanted.data, wanted.size) == NULL)
        fprintf(stderr, "there is no line %s in\n%.*s", line, TEXT_ARGS(metrics));
    CU_ASSERT_PTR_NOT_NULL(memmem(metrics.data, metrics.size, wanted.data, wanted.size));
}

static void metrics_are_of_watched_kinds(void)
{
    static const char *const lines[] = {
        "taffrail_cluster_visible 1",
        "taffrail_cluster_volumes_stale 1",
        "taffrail_cluster_views_total 77",
        "taffrail_cluster_objects{kind=\"Pod\"} 7",
        "taffrail_cluster_object_bytes{kind=\"Pod\"} 700",
        "taffrail_cluster_unreadable_objects{kind=\"Pod\"} 2",
        "taffrail_cluster_lacking{kind=\"Pod\"} 1",
        "taffrail_cluster_lists_total{kind=\"Pod\"} 3",
        "taffrail_cluster_events_total{kind=\"Pod\"} 4",
        "taffrail_cluster_failures_total{kind=\"Pod\"} 5",
        "taffrail_cluster_degraded{kind=\"Pod\"} 1",
        "taffrail_cluster_age_seconds{kind=\"Pod\"} 7.100",
        "taffrail_cluster_objects{kind=\"Node\"} 0",
        "taffrail_cluster_lacking{kind=\"Node\"} 0",
        "taffrail_cluster_age_seconds{kind=\"Node\"} 2.500",
        "taffrail_cluster_objects{kind=\"RayCluster.ray.io\"} 1",
    };
    begin(true);
    report.volumes_are_stale = true;
    report.view_count = 77;
    watch(KIND_POD, 7, 4600);
    struct kind_report *pods = &report.of[KIND_POD];
    pods->bytes = 700;
    pods->unreadable_count = 2;
    pods->lacks = true;
    pods->report.lists = 3;
    pods->report.events = 4;
    pods->report.failures = 5;
    pods->report.degraded = true;
    watch(KIND_NODE, 0, 0);
    watch(KIND_OWNER_LAST, 1, -1);
    snprintf(report.of[KIND_OWNER_LAST].custom, sizeof report.of[0].custom, "RayCluster.ray.io");
    struct text metrics = say(cluster_status_add_metrics);
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        check_line(metrics, lines[i]);
    /* of what was never listed no age is known */
    static const char *const absent[] = {"age_seconds{kind=\"RayCluster.ray.io\"}", "NodePool"};
    for (size_t i = 0; i < COUNT_OF(absent); i++)
        CU_ASSERT_PTR_NULL(memmem(metrics.data, metrics.size, absent[i], strlen(absent[i])));
    /* what was listed just now has the age 0 */
    report.at_ms = NOW_MS;
    check_line(say(cluster_status_add_metrics),
               "taffrail_cluster_age_seconds{kind=\"Node\"} 0.000");
}

#define TEST(function)                    \
    static void in_arena_##function(void) \
    {                                     \
        arena = arena_create(1 << 20);    \
        function();                       \
        arena_destroy(arena);             \
    }
TEST(the_line_counts_objects_and_their_age)
TEST(the_line_says_what_is_not_seen)
TEST(the_line_names_every_kind_that_is_not_seen)
TEST(unreadable_objects_are_counted)
TEST(custom_owners_have_their_own_names)
TEST(each_kind_has_a_line)
TEST(metrics_are_of_watched_kinds)

const char unit_suite[] = "server cluster status";
const struct unit_test unit_tests[] = {
    {"the line counts objects and their age", in_arena_the_line_counts_objects_and_their_age},
    {"the line says what is not seen", in_arena_the_line_says_what_is_not_seen},
    {"the line names every kind that is not seen",
     in_arena_the_line_names_every_kind_that_is_not_seen},
    {"unreadable objects are counted", in_arena_unreadable_objects_are_counted},
    {"custom owners have their own names", in_arena_custom_owners_have_their_own_names},
    {"each kind has a line", in_arena_each_kind_has_a_line},
    {"metrics are of watched kinds", in_arena_metrics_are_of_watched_kinds},
    {NULL, NULL},
};
