/* Small random clusters, kept as a model from which a problem can be built. */
#ifndef TAFFRAIL_UNIT_SOLVER_RANDOM_H
#define TAFFRAIL_UNIT_SOLVER_RANDOM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "solver/solver.h"
#include "unit.h"

/* How many are drawn. ThreadSanitizer looks at what threads share: a few show that. */
#ifdef __SANITIZE_THREAD__
enum { SEEDS = 20 };
#else
enum { SEEDS = 400 };
#endif
enum { SHAPES_MOST = 40, NODES_MOST = 24, PODS_MOST = 160 };

struct random_pod {
    const char *name;
    uint32_t shape, node; /* numbers in the model; node SOLVER_NONE: pending */
    bool leaving, daemon;
    uint32_t number; /* its number in the problem built last */
};
struct random_node {
    struct solver_node as;
    uint32_t number;
};
struct random_cluster {
    struct arena *arena;
    uint64_t state;
    bool limits, best_effort, ignore_preferences, labels_other;
    uint32_t pool_count;
    struct solver_shape shapes[SHAPES_MOST];
    uint32_t shape_numbers[SHAPES_MOST];
    size_t shape_count;
    struct random_node nodes[NODES_MOST];
    size_t node_count;
    struct random_pod pods[PODS_MOST];
    size_t pod_count;
};

static inline uint32_t draw(struct random_cluster *c, uint32_t below)
{
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->state >> 33) % below;
}
static inline bool chance(struct random_cluster *c, uint32_t percent)
{
    return draw(c, 100) < percent;
}
#define PICK(c, list) ((list)[draw((c), sizeof(list) / sizeof *(list))])

static const char *const random_zones[] = {"z1", "z2", "z3"};
static const char *const random_apps[] = {"a", "b", "c", "d"};
static const char *const random_teams[] = {"red", "blue"};
static const char *const random_namespaces[] = {"default", "default", "other", "third"};
#define ZONE "topology.kubernetes.io/zone"
#define HOSTNAME "kubernetes.io/hostname"
#define TYPE_KEY "node.kubernetes.io/instance-type"

static inline const char **one_string(struct random_cluster *c, const char *text)
{
    const char **copy = ARENA_NEW(c->arena, const char *);
    *copy = text;
    return copy;
}

static inline struct solver_expressions one_expression(struct random_cluster *c, const char *key,
                                                       enum solver_op op, const char *value)
{
    struct solver_expression *e = ARENA_NEW(c->arena, struct solver_expression);
    *e = (struct solver_expression){key, op, one_string(c, value), value != NULL, 0};
    return (struct solver_expressions){e, 1};
}

static inline struct solver_expressions random_node_expression(struct random_cluster *c)
{
    switch (draw(c, 8)) {
    case 0:
        return one_expression(c, "team", SOLVER_IN, PICK(c, random_teams));
    case 1:
        return one_expression(c, "team", SOLVER_NOT_IN, PICK(c, random_teams));
    case 2:
        return one_expression(c, "team", SOLVER_EXISTS, NULL);
    case 3:
        return one_expression(c, "rack", SOLVER_DOES_NOT_EXIST, NULL);
    case 4:
        return one_expression(c, TYPE_KEY, SOLVER_IN, draw(c, 3) == 0 ? "t9" : "t2");
    case 5:
        return one_expression(c, "karpenter.k8s.aws/instance-cpu", SOLVER_GT, "3");
    case 6:
        return one_expression(c, "failure-domain.beta.kubernetes.io/zone", SOLVER_NOT_IN,
                              PICK(c, random_zones));
    default:
        return one_expression(c, ZONE, SOLVER_IN,
                              chance(c, 10) ? "nowhere" : PICK(c, random_zones));
    }
}

static inline struct solver_selector random_selector(struct random_cluster *c)
{
    uint32_t kind = draw(c, 12);
    if (kind == 0)
        return (struct solver_selector){SOLVER_SELECTOR_ABSENT, {NULL, 0}};
    if (kind == 1) /* everything */
        return (struct solver_selector){SOLVER_SELECTOR_GIVEN, {NULL, 0}};
    enum solver_op op = kind == 2 ? SOLVER_NOT_IN : SOLVER_IN;
    return (struct solver_selector){SOLVER_SELECTOR_GIVEN,
                                    one_expression(c, "app", op, PICK(c, random_apps))};
}

static inline void random_topology(struct random_cluster *c, struct solver_shape *shape)
{
    static const char *const keys[] = {
        ZONE, ZONE, HOSTNAME, HOSTNAME, "rack", "team", "failure-domain.beta.kubernetes.io/zone"};
    struct solver_spread *spreads = ARENA_ARRAY(c->arena, 2, struct solver_spread);
    struct solver_pod_affinity *terms = ARENA_ARRAY(c->arena, 2, struct solver_pod_affinity);
    shape->spreads = spreads;
    shape->affinities = terms;
    while (shape->spread_count < 2 && chance(c, 30))
        spreads[shape->spread_count++] = (struct solver_spread){
            .key = PICK(c, keys),
            .max_skew = 1 + (int32_t)draw(c, 2),
            .min_domains = chance(c, 20) ? 3 : 0,
            .hard = chance(c, 60),
            .ignore_node_affinity = chance(c, 30),
            .honor_node_taints = chance(c, 30),
            .selector = random_selector(c),
            .match_label_keys = one_string(c, "version"),
            .match_label_key_count = chance(c, 20),
        };
    while (shape->affinity_count < 2 && chance(c, 30)) {
        bool anti = chance(c, 60);
        terms[shape->affinity_count++] = (struct solver_pod_affinity){
            .anti = anti,
            .required = chance(c, 60),
            .weight = (int32_t)draw(c, 100),
            .key = PICK(c, keys),
            .selector = random_selector(c),
            .namespaces = one_string(c, "other"),
            .namespace_count = chance(c, 20),
            .namespace_selector =
                chance(c, 20)
                    ? (struct solver_selector){SOLVER_SELECTOR_GIVEN,
                                               one_expression(c, "env", SOLVER_NOT_IN, "test")}
                    : (struct solver_selector){0},
        };
    }
}

static inline void random_wishes(struct random_cluster *c, struct solver_shape *shape)
{
    struct solver_expressions *required = ARENA_ARRAY(c->arena, 2, struct solver_expressions);
    struct solver_preferred_term *preferred =
        ARENA_ARRAY(c->arena, 2, struct solver_preferred_term);
    struct solver_toleration *toleration = ARENA_NEW(c->arena, struct solver_toleration);
    shape->required = required;
    shape->preferred = preferred;
    while (shape->required_count < 2 && chance(c, 25))
        required[shape->required_count++] = random_node_expression(c);
    while (shape->preferred_count < 2 && chance(c, 20))
        preferred[shape->preferred_count++] =
            (struct solver_preferred_term){(int32_t)draw(c, 100), random_node_expression(c)};
    *toleration = (struct solver_toleration){
        .key = "dedicated", .exists = true, .value = "", .any_effect = true};
    shape->tolerations = toleration;
    shape->toleration_count = chance(c, 30);
}

static inline struct solver_shape random_shape(struct random_cluster *c)
{
    static const int64_t cpus[] = {100, 500, 500, 1000, 2500, 9000};
    struct solver_shape shape = {.namespace = PICK(c, random_namespaces)};
    struct solver_label *labels = ARENA_ARRAY(c->arena, 3, struct solver_label);
    struct solver_amount *requests = ARENA_ARRAY(c->arena, 3, struct solver_amount);
    labels[0] = (struct solver_label){"app", PICK(c, random_apps)};
    labels[1] = (struct solver_label){"version", chance(c, 50) ? "1" : "2"};
    labels[2] = (struct solver_label){"team", PICK(c, random_teams)};
    shape.labels = (struct solver_labels){labels, 1 + draw(c, 2)};
    requests[0] = (struct solver_amount){SOLVER_CPU, PICK(c, cpus)};
    requests[1] = (struct solver_amount){SOLVER_MEMORY, 1000 * (int64_t)draw(c, 3)};
    requests[2] = (struct solver_amount){SOLVER_FIXED_RESOURCES, 1};
    shape.requests = (struct solver_amounts){requests, chance(c, 10) ? 3 : 2};
    shape.node_selector = (struct solver_labels){&labels[2], chance(c, 15)};
    random_wishes(c, &shape);
    random_topology(c, &shape);
    struct solver_host_port *port = ARENA_NEW(c->arena, struct solver_host_port);
    *port = (struct solver_host_port){"", "TCP", 80, chance(c, 50)};
    shape.host_ports = port;
    shape.host_port_count = chance(c, 10);
    struct solver_volume *volume = ARENA_NEW(c->arena, struct solver_volume);
    struct solver_expressions *places = ARENA_ARRAY(c->arena, 2, struct solver_expressions);
    places[0] = one_expression(c, ZONE, SOLVER_IN, PICK(c, random_zones));
    places[1] = one_expression(c, ZONE, SOLVER_IN, PICK(c, random_zones));
    *volume = (struct solver_volume){.alternatives = places, .alternative_count = draw(c, 3)};
    shape.volumes = volume;
    shape.volume_count = chance(c, 20);
    shape.needs_devices = chance(c, 2);
    return shape;
}

static inline struct random_node random_node(struct random_cluster *c, const char *name)
{
    static const struct solver_taint taints[] = {
        {"dedicated", "yes", SOLVER_NO_SCHEDULE},
        {"soft", "yes", SOLVER_PREFER_NO_SCHEDULE},
    };
    static const struct solver_attach_limit attach = {"csi", 1};
    struct solver_label *labels = ARENA_ARRAY(c->arena, 5, struct solver_label);
    struct solver_amount *amounts = ARENA_ARRAY(c->arena, 4, struct solver_amount);
    size_t count = 0;
    const char *zone = chance(c, 8) ? "z-elsewhere" : PICK(c, random_zones);
    labels[count++] = (struct solver_label){HOSTNAME, name};
    labels[count++] = (struct solver_label){
        chance(c, 10) ? "failure-domain.beta.kubernetes.io/zone" : ZONE, zone};
    if (chance(c, 50))
        labels[count++] = (struct solver_label){"team", PICK(c, random_teams)};
    if (chance(c, 50))
        labels[count++] = (struct solver_label){"rack", chance(c, 50) ? "r1" : "r2"};
    labels[count++] = (struct solver_label){TYPE_KEY, "t2"};
    amounts[0] = (struct solver_amount){SOLVER_CPU, 1000 * (1 + (int64_t)draw(c, 4))};
    amounts[1] = (struct solver_amount){SOLVER_MEMORY, 8000};
    amounts[2] = (struct solver_amount){SOLVER_PODS, 6};
    amounts[3] = (struct solver_amount){SOLVER_FIXED_RESOURCES, 1};
    size_t amount_count = chance(c, 10) ? 4 : 3;
    return (struct random_node){.as = {.name = name,
                                       .pool = chance(c, 70) ? "pool-0" : NULL,
                                       .labels = {labels, count},
                                       .taints = {&taints[draw(c, 2)], chance(c, 25)},
                                       .capacity = {amounts, amount_count},
                                       .allocatable = {amounts, amount_count},
                                       .attach_limits = &attach,
                                       .attach_limit_count = chance(c, 50),
                                       .initialized = chance(c, 80),
                                       .leaving = chance(c, 10)}};
}

/* A pod of any shape, pending or on an existing node. */
static inline struct random_pod random_pod(struct random_cluster *c, const char *name,
                                           uint32_t pending_percent)
{
    struct random_pod pod = {.name = name,
                             .shape = draw(c, (uint32_t)c->shape_count),
                             .node = draw(c, (uint32_t)c->node_count),
                             .leaving = chance(c, 5),
                             .daemon = chance(c, 5)};
    if (chance(c, pending_percent))
        pod.node = SOLVER_NONE;
    return pod;
}

static inline struct random_cluster *random_cluster(struct arena *arena, uint64_t seed)
{
    struct random_cluster *c = ARENA_NEW(arena, struct random_cluster);
    c->arena = arena;
    c->state = seed * 2654435761u + 99;
    c->limits = chance(c, 40);
    c->best_effort = chance(c, 30);
    c->ignore_preferences = chance(c, 20);
    c->pool_count = 1 + draw(c, 3);
    for (c->shape_count = 0; c->shape_count < 14; c->shape_count++)
        c->shapes[c->shape_count] = random_shape(c);
    for (size_t count = 2 + draw(c, 9); c->node_count < count; c->node_count++)
        c->nodes[c->node_count] =
            random_node(c, arena_printf(arena, "node-%02zu", c->node_count).data);
    for (size_t count = 10 + draw(c, 30); c->pod_count < count; c->pod_count++)
        c->pods[c->pod_count] =
            random_pod(c, arena_printf(arena, "ns/pod-%03zu", c->pod_count).data, 40);
    return c;
}

/* ---- telling a builder ---- */

#define MUST(expression)                    \
    do {                                    \
        bool must_be_true = (expression);   \
        CU_ASSERT_TRUE_FATAL(must_be_true); \
    } while (0)

static inline void tell_pool(struct random_cluster *c, struct solver_builder *builder, uint32_t i)
{
    static const struct solver_taint taints[] = {
        {"dedicated", "yes", SOLVER_NO_SCHEDULE},
        {"soft", "yes", SOLVER_PREFER_NO_SCHEDULE},
    };
    uint32_t number;
    struct error error;
    struct solver_amount limits[] = {{SOLVER_CPU, 12000}, {SOLVER_NODES, 9}};
    const struct solver_label team = {"team", random_teams[i % 2]};
    const struct solver_expression some_zone = {ZONE, SOLVER_NOT_IN, random_zones, 1, 0};
    MUST(solver_add_pool(builder,
                         &(struct solver_pool){.name = arena_printf(c->arena, "pool-%u", i).data,
                                               .weight = i,
                                               .requirements = {&some_zone, i == 1},
                                               .labels = {&team, i < 2},
                                               .taints = {&taints[i % 2], i > 0},
                                               .limits = {limits, i == 0 && c->limits ? 2 : 0}},
                         &number, &error));
}

static inline void tell_namespace(struct solver_builder *builder, const char *name,
                                  const char *environment)
{
    struct error error;
    const struct solver_label label = {"env", environment};
    MUST(solver_add_namespace(builder, name, (struct solver_labels){&label, 1}, &error));
}

static inline void tell_supply(struct random_cluster *c, struct solver_builder *builder)
{
    uint32_t number;
    struct error error;
    MUST(solver_builder_resource(builder, "example.com/gpu") == SOLVER_FIXED_RESOURCES);
    for (int64_t i = 1; i <= 3; i++) {
        const char *name = arena_printf(c->arena, "t%d", (int)i).data;
        const char *cpus = arena_printf(c->arena, "%d", (int)(2 * i)).data;
        struct solver_expression said[] = {
            {TYPE_KEY, SOLVER_IN, &name, 1, 0},
            {ZONE, SOLVER_IN, random_zones, i == 3 ? 1 : 3, 0},
            {"karpenter.k8s.aws/instance-cpu", SOLVER_IN, &cpus, 1, 0},
        };
        struct solver_amount amounts[] = {{SOLVER_CPU, 2000 * i},
                                          {SOLVER_MEMORY, 4000 * i},
                                          {SOLVER_PODS, 5},
                                          {SOLVER_FIXED_RESOURCES, 1}};
        struct solver_amounts all = {amounts, i == 3 ? 4 : 3};
        struct solver_offering offerings[6];
        for (size_t j = 0; j < 6; j++)
            offerings[j] = (struct solver_offering){
                .zone = random_zones[j / 2],
                .capacity_type = j % 2 == 0 ? "spot" : "on-demand",
                .price_usd_micro = i * 1000 + (j % 2 == 0 ? 0 : 500),
                .available = i != 3 || j < 2,
            };
        MUST(solver_add_type(builder,
                             &(struct solver_instance_type){.name = name,
                                                            .requirements = {said, 3},
                                                            .capacity = all,
                                                            .allocatable = all,
                                                            .offerings = offerings,
                                                            .offering_count = i == 3 ? 2 : 6},
                             &number, &error));
    }
    for (uint32_t i = 0; i < c->pool_count; i++)
        tell_pool(c, builder, i);
    tell_namespace(builder, "third", "test");
    if (c->labels_other)
        tell_namespace(builder, "other", "test");
}

static inline void tell_daemon(struct solver_builder *builder)
{
    struct error error;
    uint32_t shape;
    const struct solver_amount request = {SOLVER_CPU, 100};
    MUST(solver_add_shape(builder,
                          &(struct solver_shape){.namespace = "default", .requests = {&request, 1}},
                          &shape, &error) &&
         solver_add_daemon(builder, shape, &error));
}

static inline void tell_node(struct random_cluster *c, struct solver_builder *builder, size_t node)
{
    struct error error;
    MUST(solver_add_node(builder, &c->nodes[node].as, &c->nodes[node].number, &error));
}

static inline void tell_shape(struct random_cluster *c, struct solver_builder *builder,
                              size_t shape)
{
    struct error error;
    MUST(solver_add_shape(builder, &c->shapes[shape], &c->shape_numbers[shape], &error));
}

/* The claim of a pod's volume; several pods share it. */
static inline struct solver_mount random_mount(struct random_cluster *c, size_t pod)
{
    return (struct solver_mount){arena_printf(c->arena, "ns/claim-%zu", pod % 4).data,
                                 pod % 3 == 0 ? NULL : "csi", false};
}

static inline void tell_pod(struct random_cluster *c, struct solver_builder *builder, size_t index)
{
    struct random_pod *pod = &c->pods[index];
    struct solver_mount mount = random_mount(c, index);
    struct error error;
    tell_shape(c, builder, pod->shape);
    MUST(solver_add_pod(builder,
                        &(struct solver_pod){.name = pod->name,
                                             .uid = pod->name,
                                             .shape = c->shape_numbers[pod->shape],
                                             .node = pod->node == SOLVER_NONE
                                                         ? SOLVER_NONE
                                                         : c->nodes[pod->node].number,
                                             .daemon = pod->daemon,
                                             .leaving = pod->leaving,
                                             .mounts = &mount,
                                             .mount_count = c->shapes[pod->shape].volume_count},
                        &pod->number, &error));
}

static inline struct solver_settings random_settings(const struct random_cluster *c)
{
    return (struct solver_settings){.ignore_preferences = c->ignore_preferences,
                                    .best_effort_min_values = c->best_effort};
}

static inline const struct solver_problem *random_build(struct random_cluster *c)
{
    struct solver_builder *builder = solver_builder_create(c->arena);
    tell_supply(c, builder);
    tell_daemon(builder);
    for (size_t i = 0; i < c->node_count; i++)
        tell_node(c, builder, i);
    for (size_t i = 0; i < c->shape_count / 2; i++)
        tell_shape(c, builder, i);
    for (size_t i = 0; i < c->pod_count; i++)
        tell_pod(c, builder, i);
    struct solver_settings settings = random_settings(c);
    const struct solver_problem *problem;
    struct error error;
    MUST(solver_build(builder, &settings, &problem, &error));
    return problem;
}

#endif
