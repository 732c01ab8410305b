/* Makes a world from files. */
#include "catalog/catalog.h"
#include "kube/manifest.h"
#include "kube/snapshot.h"
#include "server/server.h"
#include "simulation/supply.h"

enum { WORLD_BUDGET_BYTES = 1 << 30 };

/* A world lives in an arena of its own, which is destroyed with it. */
struct owned_world {
    struct world world;
    struct arena *arena;
    struct problems holes;
};

struct loading {
    const struct world_options *options;
    uint64_t generation;
    int64_t now_unix_s;
    struct arena *arena;
    struct problems *errors, *warnings;
    struct owned_world *owned;
    bool complete;
};

static bool load_catalog(struct loading *loading, const struct catalog **catalog)
{
    struct error error;
    bool loaded = catalog_load(loading->options->catalog_file, loading->arena, catalog, &error);
    if (!loaded)
        problems_add_error(loading->errors, &error);
    return loaded;
}

/* A watched cluster is looked at later. */
static void warn_of_sources(struct loading *loading, const struct world *world)
{
    kind_set empty = 0;
    if (!loading->options->serves || loading->options->watches)
        return;
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if (snapshot_count(world->snapshot, kind) == 0)
            empty |= KIND_BIT(kind);
    struct text missing = policy_set_unseen_sources(world->policies, empty, loading->arena);
    if (missing.size > 0)
        problems_add(loading->warnings, ERROR_POLICY, NOWHERE, "%.*s", TEXT_ARGS(missing));
}

/* The caller may keep a few of the warnings; holes are compared later, and all of them are kept. */
static bool load_snapshot(struct loading *loading, const struct snapshot **snapshot,
                          struct problems *holes)
{
    const struct world_options *options = loading->options;
    struct error error;
    bool loaded = state_load(options->state_dir, options->listed, options->change, loading->arena,
                             snapshot, holes, &error);
    if (!loaded)
        problems_add_error(loading->errors, &error);
    size_t kept = 0;
    for (size_t i = 0; i < holes->count; i++) {
        problems_add_error(loading->warnings, &holes->items[i]);
        if (world_warning_is_hole(&holes->items[i]))
            holes->items[kept++] = holes->items[i];
    }
    holes->count = kept;
    return loaded;
}

/* For owners that cannot be seen, nobody knows more than what somebody wrote. */
static void warn_of_belief(struct loading *loading, const struct policy_set *policies)
{
    const struct seen_owners none = {{0}};
    if (loading->options->watches) /* what is seen is logged after the first look */
        return;
    struct text kinds = policy_set_believed(
        policies, loading->options->state_dir == NULL ? ~(kind_set)0 : 0, &none, loading->arena);
    if (kinds.size > 0)
        problems_add(
            loading->warnings, ERROR_POLICY, NOWHERE,
            "`since` rests on what authors write of owners that cannot be seen here (%.*s): "
            "what their controllers make counts as old",
            TEXT_ARGS(kinds));
}

static int64_t today_of(const struct loading *loading)
{
    int64_t today_unix_s = loading->options->today_unix_s;
    return today_unix_s > loading->now_unix_s ? today_unix_s : loading->now_unix_s;
}

static void load(void *argument)
{
    struct loading *loading = argument;
    struct owned_world *owned = ARENA_NEW(loading->arena, struct owned_world);
    owned->arena = owned->holes.arena = loading->arena;
    struct world *world = &owned->world;
    world->generation = loading->generation;
    world->blind = loading->options->state_dir == NULL && loading->options->listed == NULL;
    world->of_cluster = loading->options->listed != NULL;
    world->unseen = loading->options->unseen;
    world->loaded_unix_s = loading->now_unix_s;
    if (!load_catalog(loading, &world->catalog))
        return;
    /* Both are read even if the first is invalid, so that all errors are reported at once. */
    const struct policy_sources sources = {
        loading->options->policy_paths, loading->options->policy_path_count,
        loading->options->policy_texts, loading->options->policy_text_count};
    bool policies = policy_load_all(&sources, world->catalog, loading->arena, &world->policies,
                                    loading->errors, loading->warnings);
    if (policies)
        policies =
            policy_refuse_long(world->policies, today_of(loading), loading->arena, loading->errors);
    if (policies)
        world->cpu_limit_us = policy_set_cpu_limit_us(world->policies);
    if (policies)
        policy_warn_expired(world->policies, loading->now_unix_s, loading->warnings);
    if (policies && loading->options->serves)
        warn_of_belief(loading, world->policies);
    bool snapshot = load_snapshot(loading, &world->snapshot, &owned->holes);
    if (policies && snapshot)
        warn_of_sources(loading, world);
    loading->owned = owned;
    loading->complete = policies && snapshot;
}

static void load_guarded(void *argument)
{
    struct loading *loading = argument;
    struct error error;
    if (!arena_guard(loading->arena, load, loading, &error)) {
        loading->complete = false;
        problems_add_error(loading->errors, &error);
    }
}

bool world_load(const struct world_options *options, uint64_t generation, int64_t now_unix_s,
                struct world **world, struct problems *errors, struct problems *warnings)
{
    struct loading loading = {
        .options = options,
        .generation = generation,
        .now_unix_s = now_unix_s,
        .arena = arena_create(WORLD_BUDGET_BYTES),
        .errors = errors,
        .warnings = warnings,
    };
    if (loading.arena == NULL) {
        problems_add(errors, ERROR_MEMORY, NOWHERE, "no memory to load policies and state");
        return false;
    }
    /* Where the memory for problems runs out, the world's is given back, and then it is told. */
    struct error error;
    bool told = arena_guard(errors->arena, load_guarded, &loading, &error);
    if (!told || !loading.complete) {
        arena_destroy(loading.arena);
        if (!told)
            problems_add_error(errors, &error);
        return false;
    }
    struct world *loaded = &loading.owned->world;
    if (policy_set_asks_supply(loaded->policies))
        loaded->supply =
            supply_create(loaded->snapshot, loaded->catalog, policy_set_karpenter(loaded->policies),
                          policy_set_plans(loaded->policies));
    *world = loaded;
    return true;
}

void world_destroy(void *world)
{
    struct owned_world *owned = world;
    if (owned == NULL)
        return;
    supply_release(owned->world.supply);
    arena_destroy(owned->arena);
}

bool world_warning_is_hole(const struct error *warning)
{
    return warning->kind != ERROR_POLICY && warning->kind != ERROR_TWICE;
}

const struct problems *world_holes(const struct world *world)
{
    return &((const struct owned_world *)world)->holes;
}
