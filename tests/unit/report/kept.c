/* A live cluster keeps of an object only the fields that are read (live/stored.c). What is decided
 * must not change by that: plans, pins and verdicts over whole objects and over kept ones. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "kube/manifest.h"
#include "kube/snapshot.h"
#include "live/store.h"
#include "pinning/pin.h"
#include "policy/rail.h"
#include "report/report.h"
#include "simulation/simulation.h"
#include "simulation/supply.h"
#include "unit.h"

const char unit_suite[] = "report kept";

enum { ARENA_BYTES = 512 << 20, NOW_UNIX_S = 1760000000 };

/* A cluster twice. */
struct pair {
    struct arena *arena;
    const struct snapshot *whole, *kept;
    const struct catalog *catalog;
    struct manifests subjects; /* what is judged */
    const char *where;
};

static void expect_same(const struct pair *pair, const char *what, struct text whole,
                        struct text kept)
{
    CU_ASSERT(text_equal(whole, kept));
    if (!text_equal(whole, kept))
        fprintf(stderr, "%s: %s\n---- whole\n%.*s\n---- kept\n%.*s\n", pair->where, what,
                TEXT_ARGS(whole), TEXT_ARGS(kept));
}

/* ---- plans ---- */

/* Without the workloads whose templates are not kept: live snapshots simulation no pods of theirs.
 */
static const struct snapshot *without_templates(const struct snapshot *snapshot,
                                                struct arena *arena)
{
    static const kind_set left_out = KIND_BIT(KIND_REPLICATION_CONTROLLER);
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < snapshot_count(snapshot, (enum kind)kind); i++)
            if ((KIND_BIT(kind) & left_out) == 0)
                snapshot_put(builder, snapshot_object(snapshot, (enum kind)kind, i));
    return snapshot_build(builder);
}

static struct text plan_of(const struct pair *pair, const struct snapshot *snapshot)
{
    struct arena *arena = pair->arena;
    struct simulation_settings settings = {0};
    struct simulation simulation;
    struct problems problems = {.arena = arena};
    struct report_style style = {0};
    struct error error = {0};
    char *json = NULL;
    size_t size = 0;
    int format = 0;
    struct text_builder text = {.arena = arena};
    if (!simulation_run(without_templates(snapshot, arena), pair->catalog, &settings, arena,
                        &simulation, &problems, &error))
        return arena_text(arena, text_of(error.what));
    for (size_t i = 0; i < problems.count; i++)
        text_builder_printf(&text, "%s\n", problems.items[i].what);
    while (strcmp(report_plan_format_names[format], "json") != 0)
        format++;
    FILE *out = open_memstream(&json, &size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT(report_plan_write(format, &simulation, NULL, &style, arena, out, &error));
    fclose(out);
    text_builder_add(&text, (struct text){json, size});
    free(json);
    return text_builder_text(&text);
}

/* ---- pins ---- */

static void add_zones(struct text_builder *text, const struct zones *zones)
{
    for (size_t i = 0; zones != NULL && i < zones->count; i++)
        text_builder_printf(text, " %.*s", TEXT_ARGS(zones->items[i]));
    text_builder_add(text, TEXT("\n"));
}

static struct text pin_of(const struct pair *pair, const struct snapshot *snapshot,
                          const struct supply *supply, const struct object *pod)
{
    struct text_builder text = {.arena = pair->arena};
    struct pin pin;
    pin_read(snapshot, supply, pod, pair->arena, &pin);
    text_builder_printf(&text, "%d %s%s%s%s%s", (int)pin.kind, pin_source_name(pin.source),
                        pin.chosen ? " chosen" : "", pin.reachable ? " reachable" : "",
                        pin.follows ? " follows" : "", pin.of_replicas ? " of replicas" : "");
    add_zones(&text, &pin.zones);
    return text_builder_text(&text);
}

static void compare_pins(const struct pair *pair)
{
    const struct supply *whole = supply_create(pair->whole, pair->catalog, NULL, false);
    const struct supply *kept = supply_create(pair->kept, pair->catalog, NULL, false);
    for (size_t i = 0; i < pair->subjects.count; i++) {
        const struct object *pod = &pair->subjects.items[i];
        if (pod->kind == KIND_POD)
            expect_same(pair, "pin", pin_of(pair, pair->whole, whole, pod),
                        pin_of(pair, pair->kept, kept, pod));
    }
    supply_release(whole);
    supply_release(kept);
}

/* ---- verdicts ---- */

static const struct policy_set *all_rails(struct arena *arena, const struct catalog *catalog)
{
    static const struct rail *const rails[] = {
#define RAIL(symbol) &symbol,
#include "policy/rails/rails.def"
#undef RAIL
    };
    char path[] = "/tmp/taffrail-kept-XXXXXX.yaml";
    int file = mkstemps(path, 5);
    CU_ASSERT_FATAL(file >= 0);
    FILE *out = fdopen(file, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fprintf(out, "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: all}\n"
                 "spec:\n  mode: enforce\n  rails:\n");
    for (size_t i = 0; i < sizeof rails / sizeof *rails; i++)
        for (const char *line = rails[i]->example; *line != '\0';) {
            int size = (int)strcspn(line, "\n");
            fprintf(out, "    %.*s\n", size, line);
            line += size + (line[size] == '\n' ? 1 : 0);
        }
    fclose(out);
    const char *paths[] = {path};
    const struct policy_set *policies = NULL;
    struct problems errors = {.arena = arena}, warnings = {.arena = arena};
    bool loaded = policy_load(paths, 1, catalog, arena, &policies, &errors, &warnings);
    unlink(path);
    if (!loaded)
        fprintf(stderr, "%s\n", errors.items[0].what);
    CU_ASSERT_FATAL(loaded);
    return policies;
}

static void add_verdict(struct text_builder *text, const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        text_builder_printf(text, "%s %s %.*s: %.*s: %.*s\n", finding->rail,
                            action_name(finding->action), TEXT_ARGS(finding->path),
                            TEXT_ARGS(finding->found), TEXT_ARGS(finding->message));
    }
    for (size_t i = 0; i < verdict->change_count; i++)
        text_builder_printf(text, "%s %s %.*s\n", verdict->changes[i].rail,
                            outcome_name(verdict->changes[i].outcome),
                            TEXT_ARGS(verdict->changes[i].added));
}

static struct text verdict_of(const struct pair *pair, const struct world *world,
                              const struct object *object, const char *requester)
{
    struct text_builder text = {.arena = pair->arena};
    struct subject subject = {
        .operation = OPERATION_CREATE, .object = object, .requester = {.name = text_of(requester)}};
    struct verdict verdict;
    policy_evaluate(world, &subject, NOW_UNIX_S, pair->arena, &verdict);
    add_verdict(&text, &verdict);
    policy_mutate(world, &subject, NOW_UNIX_S, pair->arena, &verdict);
    add_verdict(&text, &verdict);
    return text_builder_text(&text);
}

static void compare_verdicts(const struct pair *pair)
{
    /* Whose objects have owners, and whose have none. */
    static const char *const requesters[] = {"system:kube-controller-manager", "alice"};
    struct world world = {.policies = all_rails(pair->arena, pair->catalog),
                          .catalog = pair->catalog};
    for (size_t i = 0; i < pair->subjects.count; i++)
        for (size_t j = 0; j < sizeof requesters / sizeof *requesters; j++) {
            const struct object *object = &pair->subjects.items[i];
            world.snapshot = pair->whole;
            struct text whole = verdict_of(pair, &world, object, requesters[j]);
            world.snapshot = pair->kept;
            expect_same(pair, kind_table[object->kind].name, whole,
                        verdict_of(pair, &world, object, requesters[j]));
        }
}

/* ---- clusters ---- */

static const struct snapshot *keep(struct store *store, const struct snapshot *whole)
{
    struct store_changes changes;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        for (size_t i = 0; i < snapshot_count(whole, (enum kind)kind); i++)
            CU_ASSERT_FATAL(store_put(store, snapshot_object(whole, (enum kind)kind, i)));
    const struct snapshot *kept = store_version(store, &changes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    return kept;
}

/* The state in a folder; what is judged is in the folder beside it. */
static void compare_folder(const char *state)
{
    struct arena *arena = arena_create(ARENA_BYTES);
    struct store *store = store_create();
    struct pair pair = {.arena = arena, .where = state};
    struct problems problems = {.arena = arena};
    struct error error = {0};
    CU_ASSERT_FATAL(state_load(state, NULL, NULL, arena, &pair.whole, &problems, &error));
    pair.kept = keep(store, pair.whole);
    pair.catalog = catalog_builtin(arena);
    manifests_init(&pair.subjects, arena);
    manifests_read(&pair.subjects, arena_printf(arena, "%s/..", state).data, TEXT("default"));
    expect_same(&pair, "plan", plan_of(&pair, pair.whole), plan_of(&pair, pair.kept));
    compare_pins(&pair);
    compare_verdicts(&pair);
    store_release(store, pair.kept);
    store_destroy(store);
    arena_destroy(arena);
}

static void what_is_kept_decides_as_the_whole(void)
{
    static const char *const patterns[] = {
        "tests/scenarios/*/state", "tests/scenarios/plan/*/state", "manifests/demo/cluster"};
    glob_t folders = {0};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", getenv("TAFFRAIL_SOURCE_DIR"), patterns[i]);
        CU_ASSERT(glob(path, i == 0 ? 0 : GLOB_APPEND, NULL, &folders) == 0);
    }
    CU_ASSERT(folders.gl_pathc > 10);
    for (size_t i = 0; i < folders.gl_pathc; i++)
        compare_folder(folders.gl_pathv[i]);
    globfree(&folders);
}

const struct unit_test unit_tests[] = {
    {"what is kept decides as the whole", what_is_kept_decides_as_the_whole},
    {NULL, NULL},
};
