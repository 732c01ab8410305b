/* Runs a rail over a table: each row is an object and its findings. The whole engine judges it,
 * under a policy that enforces the rail. */
#ifndef TAFFRAIL_RAIL_TABLE_H
#define TAFFRAIL_RAIL_TABLE_H

#include <stdio.h>

#include "catalog/catalog.h"
#include "kube/snapshot.h"
#include "policy/document.h"
#include "simulation/supply.h"
#include "transform_fixture.h"
#include "unit.h"

struct catalog;

struct rail_case {
    const char *object;   /* YAML */
    const char *findings; /* a line each: ACTION PATH FOUND */
};

struct rail_table {
    const char *rails;   /* YAML, under spec.rails of the policy */
    const char *cluster; /* YAML documents that are visible; NULL: none */
    const struct rail_case *cases;
    size_t case_count;
};

struct rail_documents {
    struct arena *arena;
    struct source *source;
    struct object *items;
    size_t count, capacity;
};

static inline void rail_table_take(void *context, const struct node *root)
{
    struct rail_documents *documents = context;
    struct error error = {0};
    bool good = object_read(root, documents->source, TEXT("default"), documents->arena,
                            LIST_PUSH(documents->arena, documents), &error);
    if (!good)
        fprintf(stderr, "%s\n", error.what);
    CU_ASSERT_TRUE_FATAL(good);
}

static inline struct rail_documents rail_table_read(const char *yaml, struct arena *arena)
{
    struct rail_documents documents = {.arena = arena, .source = ARENA_NEW(arena, struct source)};
    documents.source->file = "objects.yaml";
    documents.source->text = text_of(yaml);
    struct problems problems = {.arena = arena};
    doc_read_yaml(documents.source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems,
                  rail_table_take, &documents);
    ASSERT_INT(problems.count, 0);
    return documents;
}

static inline void rail_table_take_root(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

static inline struct policy rail_table_read_policy(struct text yaml, const struct catalog *catalog,
                                                   struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->file = "policy.yaml";
    source->text = yaml;
    struct problems problems = {.arena = arena};
    const struct node *root = NULL;
    doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, arena, &problems, rail_table_take_root,
                  (void *)&root);
    struct schema schema = {source, arena, &problems};
    struct policy policy = {0};
    bool good = root != NULL && document_read(&schema, root, catalog, &problems, &policy);
    if (!good)
        fprintf(stderr, "%.*s\n  %s\n", TEXT_ARGS(source->text), problems.items[0].what);
    CU_ASSERT_TRUE_FATAL(good);
    return policy;
}

static inline struct policy rail_table_policy(const char *rails, const struct catalog *catalog,
                                              struct arena *arena)
{
    struct text yaml = arena_printf(arena,
                                    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails,"
                                    " metadata: {name: table}, spec: {mode: enforce, rails: {%s}}}",
                                    rails);
    return rail_table_read_policy(yaml, catalog, arena);
}

static inline struct text rail_table_findings(const struct world *world,
                                              const struct object *object, struct arena *arena)
{
    struct subject subject = {.operation = OPERATION_CREATE, .object = object};
    struct verdict verdict;
    policy_evaluate(world, &subject, 0, arena, &verdict);
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < verdict.finding_count; i++) {
        const struct finding *finding = &verdict.findings[i];
        text_builder_printf(&lines, "%s%s %.*s %.*s", i == 0 ? "" : "\n",
                            finding->undecided ? "undecided" : action_name(finding->action),
                            TEXT_ARGS(finding->path), TEXT_ARGS(finding->found));
    }
    return text_builder_text(&lines);
}

/* Kept until several others were made: no test has more worlds at a time. */
static inline const struct supply *rail_table_supply(const struct snapshot *snapshot,
                                                     const struct catalog *catalog,
                                                     const struct karpenter_settings *settings,
                                                     bool plans)
{
    static const struct supply *held[4];
    static size_t next;
    const struct supply **last = &held[next++ % COUNT_OF(held)];
    supply_release(*last);
    return *last = supply_create(snapshot, catalog, settings, plans);
}

/* A world of one policy with these rails, a cluster (NULL: none) and a catalogue. */
static inline struct world rail_table_world_of(const char *rails, const char *cluster,
                                               const struct catalog *catalog, struct arena *arena)
{
    struct policy *policy = ARENA_NEW(arena, struct policy);
    struct policy_set *policies = ARENA_NEW(arena, struct policy_set);
    *policy = rail_table_policy(rails, catalog, arena);
    *policies = (struct policy_set){.items = policy, .count = 1};
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    struct rail_documents documents = rail_table_read(cluster == NULL ? "" : cluster, arena);
    kept_pair_count = 0; /* earlier clusters may have been freed */
    for (size_t i = 0; i < documents.count; i++)
        snapshot_put(builder, kept_or_whole(&documents.items[i]));
    struct problems problems = {.arena = arena};
    karpenter_settle(policies, &problems, &problems);
    struct world world = {
        .policies = policies, .snapshot = snapshot_build(builder), .catalog = catalog};
    if (policy_set_asks_supply(policies))
        world.supply = rail_table_supply(world.snapshot, catalog, &policies->karpenter,
                                         policy_set_plans(policies));
    return world;
}

static inline struct world rail_table_world(const char *rails, const char *cluster,
                                            struct arena *arena)
{
    return rail_table_world_of(rails, cluster, catalog_builtin(arena), arena);
}

/* sent: by the API server, and not read from a file. */
static inline void rail_table_run_rows(const struct world *world, const struct rail_table *table,
                                       bool sent, struct arena *arena)
{
    for (size_t i = 0; i < table->case_count; i++) {
        const struct rail_case *row = &table->cases[i];
        struct rail_documents documents = rail_table_read(row->object, arena);
        CU_ASSERT_EQUAL_FATAL(documents.count, 1);
        if (sent)
            documents.source->file = NULL;
        struct text found = rail_table_findings(world, &documents.items[0], arena);
        if (!text_is(found, row->findings)) {
            fprintf(stderr, "%s\n", row->object);
            say_what_is_not_kept(arena);
        }
        ASSERT_TEXT(found, row->findings);
    }
}

static inline void rail_table_run_in(const struct world *world, const struct rail_table *table,
                                     struct arena *arena)
{
    rail_table_run_rows(world, table, false, arena);
}

static inline void rail_table_run(const struct rail_table *table)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(table->rails, table->cluster, arena);
    rail_table_run_in(&world, table, arena);
    arena_destroy(arena);
}

static inline void rail_table_run_sent(const struct rail_table *table)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(table->rails, table->cluster, arena);
    rail_table_run_rows(&world, table, true, arena);
    arena_destroy(arena);
}

/* The same where these kinds of the cluster cannot be listed. */
static inline void rail_table_run_unseen(const struct rail_table *table, kind_set unseen)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world(table->rails, table->cluster, arena);
    world.unseen = unseen;
    rail_table_run_in(&world, table, arena);
    arena_destroy(arena);
}

#endif
