/* How often a CA bundle is put back that somebody else overwrites, and what of it the log says. */
#include "server/bundle_conflict.h"

#include "log_fixture.h"
#include "object_fixture.h"

const char unit_suite[] = "server/bundle conflict";

enum { LOOK_MS = 10000, CALM_MS = 30 * 60 * 1000, AT_MS = 5000000 };

static void each_time_it_waits_twice_as_long(void)
{
    static const struct {
        bool overwritten;
        unsigned count; /* of times it was put back */
        int64_t since_ms, pause_ms;
        unsigned count_after;
    } cases[] = {
        {true, 0, 0, 0, 0},       {true, 0, 5000, 0, 0},        {true, 1, 0, 20000, 1},
        {true, 1, 19999, 1, 1},   {true, 1, 20000, 0, 1},       {true, 1, 20001, 0, 1},
        {true, 2, 0, 40000, 2},   {true, 3, 10000, 70000, 3},   {true, 5, 319999, 1, 5},
        {true, 5, 320000, 0, 5},  {false, 3, 0, 0, 3},          {true, 5, CALM_MS - 1, 0, 5},
        {true, 5, CALM_MS, 0, 5}, {true, 5, CALM_MS + 1, 0, 0}, /* after half an hour it is a first
                                                                   time again */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bundle_conflict conflict = {
            .overwritten = cases[i].overwritten, .count = cases[i].count, .put_back_at_ms = AT_MS};
        ASSERT_INT(bundle_conflict_pause_ms(&conflict, LOOK_MS, AT_MS + cases[i].since_ms),
                   cases[i].pause_ms);
        ASSERT_INT(conflict.count, cases[i].count_after);
    }
}

/* Where another bundle is wanted than was applied, it is ourselves who changed our mind. */
static void what_counts_as_overwritten(void)
{
    static const struct {
        const char *applied; /* NULL: nothing yet */
        bool differs;
        const char *wanted;
        bool overwritten;
    } cases[] = {
        {"A", true, "A", true},  {"A", false, "A", false}, {NULL, true, "A", false},
        {"A", true, "B", false}, {"AA", true, "A", false},
    };
    struct arena *arena = arena_create(1 << 20);
    const struct object *configuration = fixture_object(
        arena,
        "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, "
        "metadata: {name: a, managedFields: [{manager: argo, fieldsV1: {'f:caBundle': {}}}]}}",
        "");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bundle_conflict conflict = {.overwritten = !cases[i].overwritten};
        if (cases[i].applied != NULL)
            bundle_conflict_applied(&conflict, "a", text_of(cases[i].applied), 0);
        conflict.manager = TEXT("of before");
        bundle_conflict_look(&conflict, configuration->root->node, cases[i].differs,
                             text_of(cases[i].wanted), arena);
        ASSERT_INT(conflict.overwritten, cases[i].overwritten);
        ASSERT_TEXT(conflict.manager, cases[i].overwritten ? "argo" : "");
        bundle_conflict_forget(&conflict);
        CU_ASSERT(conflict.applied == NULL && !conflict.overwritten && conflict.count == 0);
    }
    arena_destroy(arena);
}

static void the_log_says_who_overwrites(void)
{
    static const struct {
        bool overwritten;
        unsigned count, count_after;
        const char *manager, *said;
    } cases[] = {
        {false, 2, 2, "argo", NULL},
        {true, 0, 1, "argo",
         "the CA bundle was overwritten by field manager argo; it was put back, at once. Leave "
         "caBundle out of what installs the configuration"},
        {true, 1, 2, "", "the CA bundle was overwritten; it was put back, less and less often. "},
        {true, 4, 5, "argo", "less and less often"},
        {true, 5, 5, "argo", "less and less often"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bundle_conflict conflict = {.overwritten = cases[i].overwritten,
                                           .count = cases[i].count,
                                           .manager = text_of(cases[i].manager),
                                           .put_back_at_ms = 7};
        struct listening listening = listen_to_log();
        bundle_conflict_applied(&conflict, "rails", TEXT("A"), AT_MS);
        struct text log = heard(&listening);
        ASSERT_INT(log.size > 0, cases[i].said != NULL);
        if (cases[i].said != NULL) {
            ASSERT_HEARD(log, cases[i].said, 1);
            ASSERT_HEARD(log, "\"object\":\"rails\"", 1);
        }
        ASSERT_INT(conflict.count, cases[i].count_after);
        ASSERT_INT(conflict.put_back_at_ms, cases[i].overwritten ? AT_MS : 7);
        ASSERT_TEXT(text_of(conflict.applied), "A");
        bundle_conflict_applied(&conflict, "rails", TEXT("B"), AT_MS);
        ASSERT_TEXT(text_of(conflict.applied), "B");
        bundle_conflict_forget(&conflict);
    }
}

const struct unit_test unit_tests[] = {
    {"each time it waits twice as long", each_time_it_waits_twice_as_long},
    {"what counts as overwritten", what_counts_as_overwritten},
    {"the log says who overwrites", the_log_says_who_overwrites},
    {NULL, NULL},
};
