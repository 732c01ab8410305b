/* What a world is loaded with: the day from which maxDuration counts. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    char path[] = "/tmp/taffrail-world-XXXXXX.yaml";
    int descriptor = mkstemps(path, 5);
    CU_ASSERT_FATAL(descriptor >= 0);
    CU_ASSERT_FATAL(write(descriptor, policy, strlen(policy)) == (ssize_t)strlen(policy));
    close(descriptor);
    const char *paths[] = {path};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct problems errors = {.arena = arena}, warnings = {.arena = arena};
        struct world *world = NULL;
        const struct world_options options = {
            .policy_paths = paths, .policy_path_count = 1, .today_unix_s = cases[i].today_unix_s};
        ASSERT_INT(world_load(&options, 1, NOW_S, &world, &errors, &warnings), cases[i].loads);
        ASSERT_INT(errors.count, !cases[i].loads);
        for (size_t j = 0; j < errors.count; j++)
            CU_ASSERT_PTR_NOT_NULL(strstr(errors.items[j].what, "ends later than the policy"));
        if (world != NULL)
            world_destroy(world);
        arena_destroy(arena);
    }
    unlink(path);
}

const struct unit_test unit_tests[] = {
    {"what lasts too long counts from the later day",
     what_lasts_too_long_counts_from_the_later_day},
    {NULL, NULL},
};
