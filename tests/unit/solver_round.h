/* One round of the solver over the cluster of solver_world.h: provision() solves, buys the
 * NodeClaims and binds the pods, so that the next round has them as nodes. */
#ifndef TAFFRAIL_UNIT_SOLVER_ROUND_H
#define TAFFRAIL_UNIT_SOLVER_ROUND_H

#include "solver_world.h"

static inline void world_shape_affinity(const struct a_pod *pod, struct solver_shape *shape)
{
    struct solver_expressions *terms = ARENA_ARRAY(world.arena, 4, struct solver_expressions);
    struct solver_preferred_term *wanted =
        ARENA_ARRAY(world.arena, 4, struct solver_preferred_term);
    for (size_t i = 0; i < 4 && pod->required[i] != NULL; i++)
        terms[shape->required_count++] = notation_expressions(world.arena, pod->required[i]);
    for (size_t i = 0; i < 4 && pod->preferred[i] != NULL; i++) {
        char *rest;
        wanted[i].weight = (int32_t)strtol(pod->preferred[i], &rest, 10);
        wanted[i].expressions = notation_expressions(world.arena, rest);
        shape->preferred_count++;
    }
    shape->required = terms;
    shape->preferred = wanted;
}

static inline void world_shape_topology(const struct a_pod *pod, struct solver_shape *shape)
{
    struct solver_spread *spreads = ARENA_ARRAY(world.arena, 3, struct solver_spread);
    struct solver_pod_affinity *terms =
        ARENA_ARRAY(world.arena, COUNT_OF(pod->affinities), struct solver_pod_affinity);
    for (size_t i = 0; i < 3 && pod->spreads[i].key != NULL; i++) {
        const struct a_spread *from = &pod->spreads[i];
        const char **match_key = ARENA_NEW(world.arena, const char *);
        *match_key = from->match_key;
        spreads[shape->spread_count++] = (struct solver_spread){
            .key = notation_copy(world.arena, notation_key(text_of(from->key))),
            .max_skew = from->skew,
            .min_domains = from->min_domains,
            .hard = !from->soft,
            .ignore_node_affinity = from->ignore_affinity,
            .honor_node_taints = from->honor_taints,
            .selector = notation_selector(world.arena, from->selector),
            .match_label_keys = match_key,
            .match_label_key_count = from->match_key != NULL,
        };
    }
    for (size_t i = 0; i < COUNT_OF(pod->affinities) && pod->affinities[i].key != NULL; i++) {
        const struct an_affinity *from = &pod->affinities[i];
        const char **namespace = ARENA_NEW(world.arena, const char *);
        *namespace = from->namespaces;
        terms[shape->affinity_count++] = (struct solver_pod_affinity){
            .anti = from->anti,
            .required = from->weight == 0,
            .weight = from->weight,
            .key = notation_copy(world.arena, notation_key(text_of(from->key))),
            .selector = notation_selector(world.arena, from->selector),
            .namespaces = namespace,
            .namespace_count = from->namespaces != NULL,
            .namespace_selector = notation_selector(world.arena, from->namespace_selector),
        };
    }
    shape->spreads = spreads;
    shape->affinities = terms;
}

static inline size_t world_volume_count(const struct a_pod *pod)
{
    size_t count = 0;
    while (count < 12 && (pod->volumes[count].where != NULL || pod->volumes[count].claim != NULL))
        count++;
    return count;
}

static inline uint32_t world_add_shape(const struct a_pod *pod)
{
    struct solver_shape shape = {
        .namespace = pod->namespace == NULL ? "default" : pod->namespace,
        .labels = notation_labels(world.arena, pod->labels),
        .requests = notation_amounts(world.arena, world.builder, pod->requests),
        .node_selector = notation_labels(world.arena, pod->selector),
        .host_ports = pod->ports,
        .needs_devices = pod->needs_devices,
        .volume_count = world_volume_count(pod),
    };
    shape.tolerations =
        notation_tolerations(world.arena, pod->tolerations, &shape.toleration_count);
    while (shape.host_port_count < 2 && pod->ports[shape.host_port_count].port != 0)
        shape.host_port_count++;
    world_shape_affinity(pod, &shape);
    world_shape_topology(pod, &shape);
    struct solver_volume *volumes =
        ARENA_ARRAY(world.arena, shape.volume_count, struct solver_volume);
    for (size_t i = 0; i < shape.volume_count; i++) {
        volumes[i].alternatives = notation_alternatives(world.arena, pod->volumes[i].where,
                                                        &volumes[i].alternative_count);
        volumes[i].local = pod->volumes[i].local;
    }
    shape.volumes = volumes;
    uint32_t number = 0;
    struct error error;
    bool good = solver_add_shape(world.builder, &shape, &number, &error);
    CU_ASSERT_TRUE_FATAL(good);
    return number;
}

static inline const char *world_claim_name(const struct world_pod *pod, size_t volume)
{
    const char *claim = pod->as.volumes[volume].claim;
    struct text before, after;
    if (claim == NULL)
        return arena_printf(world.arena, "%s-%zu", pod->name, volume).data;
    if (!text_split(text_of(claim), '#', &before, &after))
        return arena_printf(world.arena, "default/%s", claim).data;
    return arena_printf(world.arena, "default/%.*s%s%.*s", TEXT_ARGS(before), pod->name,
                        TEXT_ARGS(after))
        .data;
}

static inline void world_add_pod(struct world_pod *pod, size_t index)
{
    struct solver_pod added = {
        .name = pod->name,
        .uid =
            pod->as.uid != NULL ? pod->as.uid : arena_printf(world.arena, "uid-%04zu", index).data,
        .created_unix_s = pod->as.created_unix_s,
        .shape = world_add_shape(&pod->as),
        .node = SOLVER_NONE,
        .daemon = pod->as.daemon,
        .leaving = pod->as.leaving,
    };
    for (size_t i = 0; pod->as.node != NULL && i < world.nodes.count; i++)
        if (strcmp(world.nodes.items[i].as.name, pod->as.node) == 0)
            added.node = world.nodes.items[i].number;
    CU_ASSERT_TRUE_FATAL((added.node == SOLVER_NONE) == (pod->as.node == NULL));
    added.mount_count = world_volume_count(&pod->as);
    struct solver_mount *mounts = ARENA_ARRAY(world.arena, added.mount_count, struct solver_mount);
    for (size_t i = 0; i < added.mount_count; i++)
        mounts[i] = (struct solver_mount){world_claim_name(pod, i), pod->as.volumes[i].driver,
                                          pod->as.volumes[i].binds};
    added.mounts = mounts;
    struct error error;
    bool good = solver_add_pod(world.builder, &added, &pod->number, &error);
    CU_ASSERT_TRUE_FATAL(good);
}

/* Adds the whole cluster to the builder. */
static inline void world_build(void)
{
    struct error error;
    world.builder = solver_builder_create(world.arena);
    for (size_t i = 0; i < world.types.count; i++)
        world_add_type(&world.types.items[world_order(i, world.types.count)]);
    for (size_t i = 0; i < world.pools.count; i++)
        world_add_pool(&world.pools.items[world_order(i, world.pools.count)]);
    for (size_t i = 0; i < world.nodes.count; i++)
        world_add_node(&world.nodes.items[world_order(i, world.nodes.count)]);
    for (size_t i = 0; i < world.namespaces.count; i++) {
        const struct solver_label *namespace = &world.namespaces.items[i];
        bool good = solver_add_namespace(world.builder, namespace->key,
                                         notation_labels(world.arena, namespace->value), &error);
        CU_ASSERT_TRUE_FATAL(good);
    }
    for (size_t i = 0; i < world.daemons.count; i++) {
        const struct a_pod *daemon = &world.daemons.items[world_order(i, world.daemons.count)];
        bool good = solver_add_daemon(world.builder, world_add_shape(daemon), &error);
        CU_ASSERT_TRUE_FATAL(good);
    }
    for (size_t i = 0; i < world.pods.count; i++) {
        size_t index = world_order(i, world.pods.count);
        if (!world.pods.items[index].gone)
            world_add_pod(&world.pods.items[index], index);
    }
    bool good = solver_build(world.builder, &world.settings, &world.problem, &error);
    CU_ASSERT_TRUE_FATAL(good);
    world.builder =
        solver_builder_create(world.arena); /* resources get their numbers from here on */
}

static inline const char *world_place_name(const struct solver_placement *place)
{
    if (place->kind == SOLVER_UNSCHEDULABLE)
        return NULL;
    if (place->kind == SOLVER_ON_NODE)
        return solver_node_name(world.problem, place->index);
    return arena_printf(world.arena, "claim-%03zu", world.claims_bought + place->index).data;
}

/* Uses a run of its own. */
static inline void world_solve(void)
{
    world.run = solver_run_create(world.problem, world.arena);
    world.plan = solver_solve(world.run);
    CU_ASSERT_PTR_NOT_NULL_FATAL(world.plan);
    size_t placed = 0;
    for (size_t i = 0; i < world.pods.count; i++) {
        struct world_pod *pod = &world.pods.items[i];
        pod->place = (struct solver_placement){.kind = SOLVER_UNSCHEDULABLE};
        for (size_t j = 0; !pod->gone && j < world.plan->placement_count; j++)
            if (world.plan->placements[j].pod == pod->number) {
                pod->place = world.plan->placements[j];
                placed++;
            }
        pod->on = world_place_name(&pod->place);
    }
    unit_assert_int((long long)placed, (long long)world.plan->placement_count, "places of pods",
                    __FILE__, __LINE__);
}

/* Places every pending pod; nothing is bought. */
static inline void solve(void)
{
    world_build();
    world_solve();
}

static inline const char *world_value(uint32_t key, uint32_t value)
{
    struct text t;
    t.data = solver_names_value_text(solver_problem_names(world.problem), key, value, &t.size);
    return notation_copy(world.arena, t);
}

/* The first value, by text, of an In requirement; NULL for others. */
static inline const char *world_first_value(const struct solver_requirement *requirement)
{
    const char *first = NULL;
    if (solver_requirement_op(requirement) != SOLVER_IN)
        return NULL;
    for (uint32_t i = 0; i < requirement->word_count * 64; i++)
        if ((requirement->words[i / 64] >> (i % 64) & 1) != 0) {
            const char *value = world_value(requirement->key, i);
            first = first == NULL || strcmp(value, first) < 0 ? value : first;
        }
    return first;
}

/* The labels of a NodeClaim's node: those of type, offering, NodeClaim and pool. */
static inline struct solver_labels world_claim_labels(const struct solver_node_claim *claim,
                                                      const struct a_type *type)
{
    LIST(struct solver_label) labels = {0};
    const struct a_pool *pool = NULL;
    const char *pool_name = solver_pool_name(world.problem, claim->pool);
    for (size_t i = 0; i < world.pools.count; i++)
        if (strcmp(world.pools.items[i].name, pool_name) == 0)
            pool = &world.pools.items[i];
    struct an_offering offerings[8];
    size_t count = world_offerings(type, offerings);
    struct solver_expressions said = world_type_expressions(type, offerings, count);
    *LIST_PUSH(world.arena, &labels) =
        (struct solver_label){"topology.kubernetes.io/zone", claim->zone};
    *LIST_PUSH(world.arena, &labels) =
        (struct solver_label){"karpenter.sh/capacity-type", claim->capacity_type};
    *LIST_PUSH(world.arena, &labels) = (struct solver_label){"karpenter.sh/nodepool", pool_name};
    if (claim->reservation[0] != '\0')
        *LIST_PUSH(world.arena, &labels) =
            (struct solver_label){SOLVER_RESERVATION_KEY, claim->reservation};
    for (size_t i = 0; i < said.count; i++)
        if (said.items[i].op == SOLVER_IN && i != 6 && i != 7) /* zones and capacity types */
            *LIST_PUSH(world.arena, &labels) =
                (struct solver_label){said.items[i].key, said.items[i].values[0]};
    struct solver_labels own = notation_labels(world.arena, pool == NULL ? NULL : pool->labels);
    for (size_t i = 0; i < own.count; i++)
        *LIST_PUSH(world.arena, &labels) = own.items[i];
    for (size_t i = 0; i < claim->requirements->count; i++) {
        const struct solver_requirement *requirement = &claim->requirements->items[i];
        struct text key;
        key.data =
            solver_names_key_text(solver_problem_names(world.problem), requirement->key, &key.size);
        const char *value = world_first_value(requirement);
        bool known = false;
        for (size_t j = 0; j < labels.count; j++)
            known = known || text_is(key, labels.items[j].key);
        if (value != NULL && !known && !solver_is_well_known(key.data, key.size))
            *LIST_PUSH(world.arena, &labels) =
                (struct solver_label){notation_copy(world.arena, key), value};
    }
    return (struct solver_labels){labels.items, labels.count};
}

/* The reservation has one free instance less. */
static inline void world_use_reservation(const char *reservation)
{
    for (size_t i = 0; i < world.types.count; i++)
        for (size_t j = 0; j < 8; j++) {
            struct an_offering *offering = &world.types.items[i].offerings[j];
            if (offering->reservation != NULL && strcmp(offering->reservation, reservation) == 0)
                offering->machines--;
        }
}

/* Turns the plan's NodeClaims into nodes that are not initialized yet. */
static inline void world_buy(void)
{
    for (size_t i = 0; i < world.plan->claim_count; i++) {
        const struct solver_node_claim *claim = &world.plan->claims[i];
        const struct a_type *type = NULL;
        for (size_t j = 0; j < world.types.count; j++)
            if (world.types.items[j].number == claim->type)
                type = &world.types.items[j];
        world_use_reservation(claim->reservation);
        CU_ASSERT_PTR_NOT_NULL_FATAL(type);
        const char *taints = NULL;
        for (size_t j = 0; j < world.pools.count; j++)
            if (strcmp(world.pools.items[j].name, solver_pool_name(world.problem, claim->pool)) ==
                0)
                taints = world.pools.items[j].taints;
        struct world_node node = {
            .as = {.name = arena_printf(world.arena, "claim-%03zu", world.claims_bought + i).data,
                   .pool = solver_pool_name(world.problem, claim->pool),
                   .taints = taints,
                   .uninitialized = true},
            .labels = world_claim_labels(claim, type),
            .type = type,
        };
        *LIST_PUSH(world.arena, &world.nodes) = node;
    }
}

/* The name of the node a pod is bound to, or placed on in the last round; NULL: none. */
static inline const char *node_of(size_t pod)
{
    const struct world_pod *p = &world.pods.items[pod];
    return p->as.node != NULL ? p->as.node : p->on;
}

/* One round without binding: the pods stay pending. */
static inline void provision_unbound(void)
{
    solve();
    world_buy();
    world.claims_bought += world.plan->claim_count;
}

/* One round as in a cluster: what is placed is bound. */
static inline void provision(void)
{
    solve();
    world_buy();
    for (size_t i = 0; i < world.pods.count; i++)
        if (!world.pods.items[i].gone)
            world.pods.items[i].as.node = node_of(i);
    world.claims_bought += world.plan->claim_count;
}

static inline void pod_gone(size_t pod)
{
    world.pods.items[pod].gone = true;
}
static inline void pending_pods_gone(void)
{
    for (size_t i = 0; i < world.pods.count; i++)
        world.pods.items[i].gone = world.pods.items[i].gone || node_of(i) == NULL;
}

#endif
