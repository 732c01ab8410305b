/* Policy files: no crash, no leak; a refused file has a reason and a place, and an accepted one can
 * be evaluated. The first byte '{' selects JSON. */
/* reads: policy/load.c policy/schema.c policy/schema_message.c policy/document_keys.c
 * policy/grant.c policy/override.c policy/exception.c policy/match.c */
#include <string.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "fuzz.h"
#include "policy/policy_set.h"

enum { ARENA_BYTES = 64 << 20, NOW_UNIX_S = 1800000000 };

static const struct catalog *catalog;
static char folder[] = "/tmp/taffrail-fuzz-XXXXXX";
static char paths[2][sizeof folder + 16];

static void remove_files(void)
{
    unlink(paths[0]);
    unlink(paths[1]);
    rmdir(folder);
}

static void begin(void)
{
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(paths[0], sizeof paths[0], "%s/p.yaml", folder);
    snprintf(paths[1], sizeof paths[1], "%s/p.json", folder);
    REQUIRE(atexit(remove_files) == 0);
    catalog = catalog_builtin(arena_create(ARENA_BYTES));
}

struct loading {
    struct arena *arena;
    const char *path;
};

static void ask(const struct policy *policy, struct arena *arena)
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
    struct loading *loading = argument;
    struct problems errors = {.arena = loading->arena};
    struct problems warnings = {.arena = loading->arena};
    const struct policy_set *set = NULL;
    bool good = policy_load((const char *const[]){loading->path}, 1, catalog, loading->arena, &set,
                            &errors, &warnings);
    REQUIRE(good == (errors.count == 0));
    for (size_t i = 0; i < errors.count; i++)
        REQUIRE(errors.items[i].what[0] != '\0' && errors.items[i].place.file != NULL);
    if (!good)
        return;
    policy_warn_expired(set, NOW_UNIX_S, &warnings);
    for (size_t i = 0; i < policy_set_count(set); i++)
        ask(&set->items[i], loading->arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (catalog == NULL)
        begin();
    const char *path = paths[size > 0 && data[0] == '{'];
    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    struct loading loading = {arena_create(ARENA_BYTES), path};
    struct error error;
    REQUIRE(arena_guard(loading.arena, load, &loading, &error) || error.kind == ERROR_LIMIT);
    arena_destroy(loading.arena);
    return 0;
}
