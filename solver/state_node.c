/* Existing nodes: their room, order, labels and taints. */
#include <stdlib.h>
#include <string.h>

#include "solver/problem.h"

/* ---- which pods run where ---- */

/* Turns counts, each at number + 1, into the index where each number begins. */
static size_t *add_up(struct arena *arena, size_t *starts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        starts[i + 1] += starts[i];
    size_t *next = ARENA_ARRAY(arena, count + 1, size_t);
    memcpy(next, starts, (count + 1) * sizeof *next);
    return next;
}

void pods_index(struct solver_problem *problem)
{
    struct arena *arena = problem->arena;
    size_t node_count = problem->nodes.count, class_count = problem->label_classes.count;
    size_t *node_starts = ARENA_ARRAY(arena, node_count + 1, size_t);
    size_t *class_starts = ARENA_ARRAY(arena, class_count + 1, size_t);
    for (size_t i = 0; i < problem->pods.count; i++) {
        const struct pod *pod = &problem->pods.items[i];
        if (pod->node == SOLVER_NONE)
            continue;
        node_starts[pod->node + 1]++;
        if (!pod->leaving)
            class_starts[problem->shapes.items[pod->shape].label_class + 1]++;
    }
    size_t *next_pod = add_up(arena, node_starts, node_count);
    size_t *next_node = add_up(arena, class_starts, class_count);
    uint32_t *pods = ARENA_ARRAY(arena, node_starts[node_count], uint32_t);
    uint32_t *nodes = ARENA_ARRAY(arena, class_starts[class_count], uint32_t);
    for (uint32_t i = 0; i < problem->pods.count; i++) {
        const struct pod *pod = &problem->pods.items[i];
        if (pod->node == SOLVER_NONE)
            continue;
        pods[next_pod[pod->node]++] = i;
        if (!pod->leaving)
            nodes[next_node[problem->shapes.items[pod->shape].label_class]++] = pod->node;
    }
    problem->node_starts = node_starts;
    problem->node_pods = pods;
    problem->class_starts = class_starts;
    problem->class_nodes = nodes;
    problem->started_class_count = class_count;
}

/* ---- room ---- */

/* Keeps room for daemons that suit the node, less what its running daemons take already. */
static void leave_room_for_daemons(const struct solver_problem *problem,
                                   const struct state_node *node, const int64_t *running,
                                   int64_t *room)
{
    int64_t *headroom = ARENA_ARRAY(problem->arena, problem->resource_count, int64_t);
    for (size_t i = 0; i < problem->daemons.count; i++) {
        const struct shape *daemon = &problem->shapes.items[problem->daemons.items[i]];
        const struct term *term =
            daemon->required_count > 0 ? &daemon->required[0] : &daemon->selector;
        if (daemon->needs_devices ||
            !taints_tolerated(node->taints, &daemon->tolerations, false, NULL) ||
            !hostname_allows(problem, term->hostname, node->hostname) ||
            !compatible(problem, &node->labels, &term->requirements, true, NULL))
            continue;
        for (size_t r = 0; r < problem->resource_count; r++)
            headroom[r] = add_capped(headroom[r], daemon->requests[r]);
    }
    for (size_t r = 0; r < problem->resource_count; r++)
        if (headroom[r] > running[r])
            room[r] = subtract_capped(room[r], headroom[r] - running[r]);
}

static void make_node(struct solver_problem *problem, uint32_t number)
{
    struct state_node *node = &problem->nodes.items[number];
    size_t width = problem->resource_count;
    int64_t *room = amounts_vector(problem, node->allocatable);
    int64_t *daemons = ARENA_ARRAY(problem->arena, width, int64_t);
    node->room = room;
    for (size_t r = 0; r < width && node->leaving; r++)
        room[r] = -1;
    for (size_t i = problem->node_starts[number]; i < problem->node_starts[number + 1]; i++) {
        const struct pod *pod = &problem->pods.items[problem->node_pods[i]];
        const struct shape *shape = &problem->shapes.items[pod->shape];
        for (size_t r = 0; r < width; r++) {
            room[r] = subtract_capped(room[r], shape->requests[r]);
            if (pod->daemon)
                daemons[r] = add_capped(daemons[r], shape->requests[r]);
        }
        for (size_t j = 0; j < shape->port_count; j++)
            *LIST_PUSH(problem->arena, &node->ports) = shape->ports[j];
        for (size_t j = 0; j < pod->mount_count; j++)
            *LIST_PUSH(problem->arena, &node->mounts) = pod->mounts[j];
    }
    if (!node->leaving)
        leave_room_for_daemons(problem, node, daemons, room);
}

/* ---- order ---- */

static int compare_nodes(const void *a_pointer, const void *b_pointer, void *argument)
{
    const struct solver_problem *problem = argument;
    const struct state_node *a = &problem->nodes.items[*(const uint32_t *)a_pointer];
    const struct state_node *b = &problem->nodes.items[*(const uint32_t *)b_pointer];
    if (a->initialized != b->initialized)
        return a->initialized ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void order_nodes(struct solver_problem *problem)
{
    size_t count = problem->nodes.count;
    uint32_t *order = ARENA_ARRAY(problem->arena, count, uint32_t);
    uint32_t *place = ARENA_ARRAY(problem->arena, count, uint32_t);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    if (count > 1)
        qsort_r(order, count, sizeof *order, compare_nodes, problem);
    for (uint32_t i = 0; i < count; i++)
        place[order[i]] = i;
    problem->node_order = order;
    problem->node_rank = place;
    problem->node_words = bits_words(count);
}

/* ---- labels and taints ---- */

static void put_value(const struct solver_problem *problem, uint32_t **columns, uint32_t key,
                      uint32_t node, uint32_t value)
{
    if (columns[key] == NULL) {
        columns[key] = ARENA_ARRAY(problem->arena, problem->nodes.count, uint32_t);
        memset(columns[key], 0xff, problem->nodes.count * sizeof(uint32_t));
    }
    if (columns[key][node] == SOLVER_NONE)
        columns[key][node] = value;
}

static void index_labels(struct solver_problem *problem)
{
    uint32_t key_count = solver_names_key_count(problem->names);
    uint32_t **written = ARENA_ARRAY(problem->arena, key_count, uint32_t *);
    uint32_t **canonical = ARENA_ARRAY(problem->arena, key_count, uint32_t *);
    for (uint32_t i = 0; i < problem->nodes.count; i++) {
        const struct state_node *node = &problem->nodes.items[i];
        for (size_t j = 0; j < node->raw.count; j++)
            put_value(problem, written, node->raw.items[j].key, i, node->raw.items[j].value);
        for (size_t j = 0; j < node->labels.count; j++) {
            const struct solver_requirement *r = &node->labels.items[j];
            size_t value = bits_next(r->words, r->word_count, 0);
            if (value != SIZE_MAX)
                put_value(problem, canonical, r->key, i, (uint32_t)value);
        }
    }
    problem->written_values = (const uint32_t *const *)written;
    problem->label_values = (const uint32_t *const *)canonical;
    problem->label_key_count = key_count;
}

static void index_taints(struct solver_problem *problem)
{
    struct intern fingerprints = {.arena = problem->arena};
    struct fingerprint fingerprint = {.arena = problem->arena};
    for (size_t i = 0; i < problem->nodes.count; i++) {
        struct taint_list taints = problem->nodes.items[i].taints;
        fingerprint.size = 0;
        for (size_t j = 0; j < taints.count; j++) {
            fingerprint_number(&fingerprint,
                               (uint64_t)taints.items[j].key << 32 | taints.items[j].value);
            fingerprint_number(&fingerprint, (uint64_t)taints.items[j].effect);
        }
        bool added = false;
        uint32_t list = intern_number(&fingerprints, fingerprint.bytes, fingerprint.size, &added);
        if (added)
            *LIST_PUSH(problem->arena, &problem->node_taints) = (struct tainted){
                taints, ARENA_ARRAY(problem->arena, bits_words(problem->nodes.count), uint64_t)};
        bits_add(problem->node_taints.items[list].nodes, i);
    }
}

void nodes_index(struct solver_problem *problem)
{
    order_nodes(problem);
    index_labels(problem);
    index_taints(problem);
    for (uint32_t i = 0; i < problem->nodes.count; i++)
        make_node(problem, i);
}

/* ---- choosing ---- */

/* Whether a node's value for one key is compatible, as compatible() has it with strict. */
static bool value_suits(const struct solver_problem *problem, const struct solver_requirement *r,
                        bool negative, uint32_t value)
{
    return value == SOLVER_NONE ? negative : solver_requirement_has(problem->names, r, value);
}

static void keep_by_key(const struct solver_problem *problem, const struct solver_requirement *r,
                        uint64_t *nodes)
{
    bool negative = solver_requirement_is_negative(r);
    const uint32_t *values = label_values(problem, r->key);
    if (values == NULL) {
        if (!negative)
            memset(nodes, 0, bits_words(problem->nodes.count) * sizeof *nodes);
        return;
    }
    for (size_t w = 0; w < bits_words(problem->nodes.count); w++) {
        uint64_t kept = nodes[w];
        for (uint64_t left = kept; left != 0; left &= left - 1) {
            size_t node = w * BITS_WORD + (size_t)__builtin_ctzll(left);
            if (!value_suits(problem, r, negative, values[node]))
                kept &= ~(left & -left);
        }
        nodes[w] = kept;
    }
}

void nodes_keep(const struct solver_problem *problem, const struct term *term, uint64_t *nodes)
{
    for (size_t i = 0; i < term->requirements.count; i++)
        keep_by_key(problem, &term->requirements.items[i], nodes);
    if (term->hostname == NULL)
        return;
    for (BITS_EACH(node, nodes, bits_words(problem->nodes.count)))
        if (!hostname_allows(problem, term->hostname, problem->nodes.items[node].hostname))
            bits_remove(nodes, node);
}

void nodes_keep_tolerated(const struct solver_problem *problem,
                          const struct toleration_list *tolerations, bool prefer, uint64_t *nodes)
{
    for (size_t i = 0; i < problem->node_taints.count; i++) {
        const struct tainted *tainted = &problem->node_taints.items[i];
        if (taints_tolerated(tainted->taints, tolerations, prefer, NULL))
            continue;
        for (size_t w = 0; w < bits_words(problem->nodes.count); w++)
            nodes[w] &= ~tainted->nodes[w];
    }
}

void nodes_keep_domains(const struct solver_problem *problem, uint32_t key, const uint64_t *domains,
                        size_t word_count, uint64_t *nodes)
{
    const uint32_t *values = label_values(problem, key);
    for (size_t w = 0; w < bits_words(problem->nodes.count); w++) {
        uint64_t kept = values == NULL ? 0 : nodes[w];
        for (uint64_t left = kept; left != 0; left &= left - 1) {
            uint32_t value = values[w * BITS_WORD + (size_t)__builtin_ctzll(left)];
            if (value / BITS_WORD >= word_count || !bits_has(domains, value))
                kept &= ~(left & -left);
        }
        nodes[w] = kept;
    }
}
