/* What the forecast of disruption says of the clusters in a file, a line of JSON each, in the words
 * of tests/conformance/karpenter/disruption. */
#include <stdio.h>
#include <stdlib.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "simulation/disruption.h"

/* Windows are looked for as far as the judge looks. */
enum { HORIZON_S = 8 * 24 * 60 * 60 };

static const char *const kinds[] = {
    [BLOCK_NOT_KARPENTERS] = "not-karpenters",
    [BLOCK_NO_NODE] = "no-node",
    [BLOCK_LEAVING] = "leaving",
    [BLOCK_NOT_INITIALIZED] = "not-initialized",
    [BLOCK_NODE_OPTS_OUT] = "node-opts-out",
    [BLOCK_NO_POOL] = "no-pool",
    [BLOCK_POD_OPTS_OUT] = "opts-out",
    [BLOCK_BUDGET] = "budgets",
    [BLOCK_SEVERAL_BUDGETS] = "budgets",
};

static struct text name_of(const struct disruption_node *node)
{
    return node->node != NULL ? node->node->name : node->claim->name;
}

static void print_node(const struct disruption_node *node)
{
    for (size_t i = 0; i < node->block_count; i++) {
        const struct disruption_block *block = &node->blocks[i];
        if (block->pod == NULL) {
            printf("node %.*s %s\n", TEXT_ARGS(name_of(node)), kinds[block->kind]);
            continue;
        }
        printf("pod %.*s/%.*s %s", TEXT_ARGS(block->pod->namespace), TEXT_ARGS(block->pod->name),
               kinds[block->kind]);
        if (block->budget_count > 0)
            printf(" %zu", block->budget_count);
        for (size_t j = 0; j < block->budget_count && j < COUNT_OF(block->budgets); j++)
            printf(" %.*s", TEXT_ARGS(block->budgets[j]->name));
        printf("\n");
    }
    if (node->blocked)
        printf("blocked %.*s\n", TEXT_ARGS(name_of(node)));
}

static void print_pool(const struct disruption_pool *pool, int64_t now_unix_s)
{
    int64_t end = now_unix_s + HORIZON_S;
    const struct window *window = &pool->window;
    if (pool->object == NULL)
        return;
    printf("pool %.*s counted %zu disrupted %zu allowed %lld window", TEXT_ARGS(pool->name),
           pool->counted, pool->disrupted, (long long)pool->allowed);
    if (pool->windows != WINDOW_FOUND || window->open_unix_s >= end)
        printf(" never\n");
    else if (window->close_unix_s >= end)
        printf(" %lld\n", (long long)window->open_unix_s);
    else
        printf(" %lld-%lld\n", (long long)window->open_unix_s, (long long)window->close_unix_s);
}

static int compare_names(const void *a, const void *b)
{
    return text_compare((*(const struct object *const *)a)->name,
                        (*(const struct object *const *)b)->name);
}

/* All Nodes, and the NodeClaims that have none, by name. */
static size_t find_asked(const struct snapshot *snapshot, const struct object **asked)
{
    size_t count = 0;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++)
        asked[count++] = snapshot_object(snapshot, KIND_NODE, i);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE_CLAIM); i++) {
        const struct object *claim = snapshot_object(snapshot, KIND_NODE_CLAIM, i);
        if (snapshot_find(snapshot, KIND_NODE, TEXT(""), claim->name) == NULL)
            asked[count++] = claim;
    }
    if (count > 1)
        qsort((void *)asked, count, sizeof *asked, compare_names);
    return count;
}

static unsigned reason_of(struct text name)
{
    return text_is(name, "Drifted") ? REASON_DRIFTED
           : text_is(name, "Empty") ? REASON_EMPTY
                                    : REASON_UNDERUTILIZED;
}

static bool answer(struct text line, struct arena *arena, struct error *error)
{
    struct source source = {.text = line};
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    const struct node *root = NULL;
    if (!doc_read_json(&source, &doc_limits_manifest, NULL, arena, &root, error))
        return false;
    FOR_ITEMS(item, node_get(root, "objects")) {
        struct object *object = ARENA_NEW(arena, struct object);
        if (!object_read(item, &source, TEXT("default"), arena, object, error))
            return false;
        snapshot_put(builder, object);
    }
    const struct snapshot *snapshot = snapshot_build(builder);
    struct disruption_question question = {
        .snapshot = snapshot,
        .seen = ~(kind_set)0,
        .reason = reason_of(node_string(node_get(root, "reason"))),
    };
    const struct object **asked = ARENA_ARRAY(
        arena, snapshot_count(snapshot, KIND_NODE) + snapshot_count(snapshot, KIND_NODE_CLAIM),
        const struct object *);
    question.nodes = asked;
    question.node_count = find_asked(snapshot, asked);
    if (!node_integer(node_get(root, "now"), &question.now_unix_s))
        return error_set(error, ERROR_INPUT, NOWHERE, "a case says no time");
    struct disruption disruption;
    disruption_forecast(&question, arena, &disruption);
    for (size_t i = 0; i < disruption.node_count; i++)
        print_node(&disruption.nodes[i]);
    for (size_t i = 0; i < disruption.pool_count; i++)
        print_pool(&disruption.pools[i], question.now_unix_s);
    return true;
}

int main(int argc, char **argv)
{
    struct arena *file = arena_create((size_t)1 << 30);
    struct arena *arena = arena_create((size_t)1 << 28);
    struct text left, line;
    struct error error = {0};
    if (argc != 3 || !file_read(argv[1], (size_t)1 << 29, file, &left, &error)) {
        fprintf(stderr, "usage: disruption_driver CLUSTERS FIRST: %s\n", error.what);
        return 2;
    }
    long number = strtol(argv[2], NULL, 10);
    for (bool more = left.size > 0; more && left.size > 0;) {
        more = text_split(left, '\n', &line, &left);
        printf("case %ld\n", number++);
        if (!answer(line, arena, &error)) {
            fprintf(stderr, "case %ld: %s\n", number - 1, error.what);
            return 1;
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
    arena_destroy(file);
    return 0;
}
