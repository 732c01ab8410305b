/* Policy files: no crash, no leak; a refused file has a reason and a place, and an accepted one can
 * be evaluated. The first byte '{' selects JSON. */
/* reads: policy/load.c policy/schema.c policy/schema_message.c policy/document_keys.c
 * policy/grant.c policy/override.c policy/exception.c policy/match.c */
#include "catalog/catalog.h"
#include "fuzz.h"
#include "policy/policy_set.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000 };

static const struct catalog *catalog;
static struct arena *arena;

static void ask(const struct policy *policy)
{
    const struct object pod = {.kind = KIND_POD, .namespace = TEXT("team-a")};
    const struct match_subject subject = {.object = &pod, .root_name = TEXT("web")};
    REQUIRE(policy->name.size > 0 && policy->place.line > 0);
    match_evaluate(&policy->match, &subject);
    for (size_t i = 0; i < policy->rail_count; i++) {
        const struct rail_use *use = &policy->rails[i];
        REQUIRE(use->rail != NULL && use->settings != NULL && use->mode <= MODE_ENFORCE);
        bool expired = false;
        bool unknown = false;
        exception_find(policy, use->rail->name, &subject, NOW_UNIX_S, &expired, &unknown);
        docs_url(policy, use->rail->name, arena);
    }
    for (size_t i = 0; i < policy->exception_count; i++)
        REQUIRE(policy->exceptions[i].id.size > 0 && policy->exceptions[i].rails.count > 0 &&
                policy->exceptions[i].place.line > 0);
}

static void load(void *argument)
{
    const char *path = argument;
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    const struct policy_set *set = NULL;
    bool good = policy_load(&path, 1, catalog, arena, &set, &errors, &warnings);
    REQUIRE(good == (errors.count == 0));
    for (size_t i = 0; i < errors.count; i++)
        REQUIRE(errors.items[i].what[0] != '\0' && errors.items[i].place.file != NULL);
    if (!good)
        return;
    policy_warn_expired(set, NOW_UNIX_S, &warnings);
    for (size_t i = 0; i < policy_set_count(set); i++)
        ask(&set->items[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *paths[2];
    if (arena == NULL) {
        paths[0] = fuzz_path("p.yaml");
        paths[1] = fuzz_path("p.json");
        catalog = catalog_builtin(arena_create(ARENA_BYTES));
        arena = arena_create(ARENA_BYTES);
    }
    const char *path = paths[size > 0 && data[0] == '{'];
    fuzz_write(path, data, size);
    fuzz_guarded(arena, load, (void *)(uintptr_t)path);
    return 0;
}
