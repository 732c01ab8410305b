/* Turns bytes into a case: each choice takes a byte; without bytes every choice is the first. */
#include <string.h>

#include "solver_bytes.h"

enum { MAX_TYPES = 8, MAX_POOLS = 4, MAX_NODES = 5, MAX_SHAPES = 7, MAX_PODS = 24, MAX_LIST = 3 };

struct vocabulary {
    const char *key;
    const char *values[4];
};
static const struct vocabulary vocabulary[] = {
    {ZONE, {"z1", "z2", "z3", "z4"}},
    {CAPACITY_TYPE, {"on-demand", "spot", "on-demand", "reserved"}},
    {"kubernetes.io/arch", {"amd64", "arm64", "amd64", "amd64"}},
    {INSTANCE_TYPE, {"t0", "t1", "t2", "none"}},
    {"example.com/team", {"a", "b", "c", "1"}},
    {"example.com/size", {"1", "2", "4", "x"}},
    {HOSTNAME, {"n0", "n1", "n2", "n9"}},
    {"karpenter.sh/nodepool", {"p0", "p1", "p2", "p9"}},
};
enum { WORDS = sizeof vocabulary / sizeof vocabulary[0], NODE_WORDS = 6 };
/* Labels of pods and namespaces. */
static const struct vocabulary pod_vocabulary[] = {
    {"app", {"web", "db", "job", "web"}},
    {"tier", {"front", "back", "front", "back"}},
};

static const char *name_of(struct bytes *bytes, const char *prefix, size_t index)
{
    if (index > 0 && one_in(bytes, 64)) /* a name that is there already */
        index--;
    return arena_printf(bytes->arena, "%s%zu", prefix, index).data;
}

/* ---- expressions, labels, selectors ---- */

static struct solver_expression take_expression(struct bytes *bytes, const struct vocabulary *words,
                                                size_t word_count, size_t op_count)
{
    const struct vocabulary *word = &words[take(bytes, word_count)];
    struct solver_expression expression = {.key = word->key,
                                           .op = (enum solver_op)take(bytes, op_count)};
    bool bound = expression.op >= SOLVER_GT;
    bool bare = expression.op == SOLVER_EXISTS || expression.op == SOLVER_DOES_NOT_EXIST;
    size_t count = bare ? 0 : bound ? 1 : 1 + take(bytes, MAX_LIST) - one_in(bytes, 64);
    const char **values = ARENA_ARRAY(bytes->arena, count, const char *);
    for (size_t i = 0; i < count; i++)
        values[i] = word->values[take(bytes, 4)];
    if (bound && !one_in(bytes, 32))
        values[0] = vocabulary[5].values[take(bytes, 3)]; /* a number */
    expression.values = values;
    expression.value_count = count;
    return expression;
}

static struct solver_expressions take_expressions(struct bytes *bytes,
                                                  const struct vocabulary *words, size_t word_count,
                                                  size_t op_count)
{
    struct solver_expressions expressions = {.count = take(bytes, MAX_LIST)};
    struct solver_expression *items =
        ARENA_ARRAY(bytes->arena, expressions.count, struct solver_expression);
    for (size_t i = 0; i < expressions.count; i++)
        items[i] = take_expression(bytes, words, word_count, op_count);
    expressions.items = items;
    return expressions;
}

/* Of a pod, about nodes. */
static struct solver_expressions take_terms(struct bytes *bytes)
{
    return take_expressions(bytes, vocabulary, WORDS, SOLVER_GTE);
}

static struct solver_selector take_selector(struct bytes *bytes)
{
    struct solver_selector selector = {.kind = SOLVER_SELECTOR_GIVEN};
    if (one_in(bytes, 16))
        selector.kind = one_in(bytes, 2) ? SOLVER_SELECTOR_INVALID : SOLVER_SELECTOR_ABSENT;
    else
        selector.expressions = take_expressions(bytes, pod_vocabulary, 2, SOLVER_GT);
    return selector;
}

/* Some of the keys, each at most once. */
static struct solver_labels take_labels(struct bytes *bytes, const struct vocabulary *words,
                                        size_t word_count)
{
    struct solver_label *items = ARENA_ARRAY(bytes->arena, word_count, struct solver_label);
    struct solver_labels labels = {.items = items};
    for (size_t i = 0; i < word_count; i++) {
        size_t value = take(bytes, 8);
        if (value < 4)
            items[labels.count++] = (struct solver_label){words[i].key, words[i].values[value]};
    }
    return labels;
}

/* Of a taint or a toleration; also numbers, and what is none to those that compare. */
static const char *take_taint_value(struct bytes *bytes)
{
    static const char *const values[] = {"a", "", "1", "", "3", "", "a", "", "1", "", "3", "01"};
    return values[take(bytes, sizeof values / sizeof values[0])];
}

static struct solver_taints take_taints(struct bytes *bytes)
{
    struct solver_taints taints = {.count = one_in(bytes, 3) ? 1 + take(bytes, 2) : 0};
    struct solver_taint *items = ARENA_ARRAY(bytes->arena, taints.count, struct solver_taint);
    for (size_t i = 0; i < taints.count; i++) {
        const char *key = one_in(bytes, 2) ? "gpu" : "team";
        const char *value = take_taint_value(bytes);
        items[i] = (struct solver_taint){key, value, (enum solver_effect)take(bytes, 3)};
    }
    taints.items = items;
    return taints;
}

/* ---- quantities ---- */

static int64_t take_quantity(struct bytes *bytes, int64_t unit, size_t limit)
{
    static const int64_t absurd[] = {0, -1, INT64_MAX, INT64_MAX / 2, INT64_MIN, INT64_MAX - 1};
    if (one_in(bytes, 256))
        return absurd[take(bytes, sizeof absurd / sizeof absurd[0])];
    return unit * (int64_t)(1 + take(bytes, limit));
}

/* Units of the fixed resources and the case's own, and how many a request has at most. */
static const struct {
    int64_t unit;
    size_t requested, offered;
} scale[CASE_RESOURCES] = {
    [SOLVER_CPU] = {250, 12, 64}, [SOLVER_MEMORY] = {1 << 28, 16, 64},
    [SOLVER_PODS] = {1, 2, 16},   [SOLVER_NODES] = {1, 2, 4},
    [CASE_GPU] = {1, 2, 4},       [CASE_DISK] = {1 << 20, 8, 64},
};

static void add_amount(struct solver_amounts *amounts, struct solver_amount *items,
                       uint32_t resource, int64_t quantity)
{
    items[amounts->count++] = (struct solver_amount){resource, quantity};
    amounts->items = items;
}

/* cpu and memory always, but seldom nothing at all; extended resources now and then. */
static struct solver_amounts take_requests(struct bytes *bytes)
{
    struct solver_amount *items = ARENA_ARRAY(bytes->arena, CASE_RESOURCES, struct solver_amount);
    struct solver_amounts amounts = {0};
    size_t choice = take(bytes, 16);
    for (uint32_t i = 0; i < CASE_RESOURCES; i++)
        if ((i <= SOLVER_MEMORY && choice < 15) || (i == CASE_GPU && choice == 14) ||
            (i == CASE_DISK && choice >= 12))
            add_amount(&amounts, items, i, take_quantity(bytes, scale[i].unit, scale[i].requested));
    return amounts;
}

static struct solver_amounts take_limits(struct bytes *bytes)
{
    struct solver_amount *items = ARENA_ARRAY(bytes->arena, CASE_RESOURCES, struct solver_amount);
    struct solver_amounts amounts = {0};
    if (one_in(bytes, 3))
        for (uint32_t i = 0; i < CASE_RESOURCES; i++)
            if (i != SOLVER_PODS && one_in(bytes, 3))
                add_amount(&amounts, items, i,
                           take_quantity(bytes, 4 * scale[i].unit, scale[i].offered));
    return amounts;
}

/* Capacity, and what of it is left for pods. */
static void take_capacity(struct bytes *bytes, struct solver_amounts *capacity,
                          struct solver_amounts *allocatable)
{
    struct solver_amount *all = ARENA_ARRAY(bytes->arena, CASE_RESOURCES, struct solver_amount);
    struct solver_amount *left = ARENA_ARRAY(bytes->arena, CASE_RESOURCES, struct solver_amount);
    *capacity = *allocatable = (struct solver_amounts){0};
    for (uint32_t i = 0; i < CASE_RESOURCES; i++) {
        if (i == SOLVER_NODES || (i > SOLVER_NODES && !one_in(bytes, 3)))
            continue;
        int64_t quantity = take_quantity(bytes, scale[i].unit, scale[i].offered);
        int64_t reserved = i <= SOLVER_MEMORY ? scale[i].unit / 4 : 0;
        add_amount(capacity, all, i, quantity);
        if (!one_in(bytes, 64))
            add_amount(allocatable, left, i, quantity > reserved ? quantity - reserved : quantity);
    }
}

static const struct solver_attach_limit *take_attach_limits(struct bytes *bytes, size_t *count)
{
    struct solver_attach_limit *limit = ARENA_NEW(bytes->arena, struct solver_attach_limit);
    *count = one_in(bytes, 4);
    *limit = (struct solver_attach_limit){"ebs.csi.aws.com", (uint32_t)take(bytes, 4)};
    return limit;
}

/* ---- supply ---- */

/* One of each value that the offerings have. */
static struct solver_expression offered(struct bytes *bytes,
                                        const struct solver_instance_type *type, const char *key)
{
    const char **values = ARENA_ARRAY(bytes->arena, type->offering_count, const char *);
    for (size_t i = 0; i < type->offering_count; i++)
        values[i] =
            strcmp(key, ZONE) == 0 ? type->offerings[i].zone : type->offerings[i].capacity_type;
    return (struct solver_expression){
        .key = key, .op = SOLVER_IN, .values = values, .value_count = type->offering_count};
}

/* Of a reservation with few machines free, or none. */
static void reserve(struct bytes *bytes, struct solver_offering *offering)
{
    static const char *const ids[] = {"cr-1", "cr-2"};
    struct solver_expression *id = ARENA_NEW(bytes->arena, struct solver_expression);
    *id = (struct solver_expression){.key = SOLVER_RESERVATION_KEY,
                                     .op = SOLVER_IN,
                                     .values = &ids[take(bytes, 2)],
                                     .value_count = 1};
    offering->capacity_type = "reserved";
    offering->more = (struct solver_expressions){id, one_in(bytes, 16) ? 0 : 1};
    offering->reservation_capacity = (uint32_t)take(bytes, 4);
}

static void take_offerings(struct bytes *bytes, struct solver_instance_type *type)
{
    static const char *const reservations[] = {"r1"};
    static const struct solver_expression reserved = {.key = "example.com/reservation",
                                                      .op = SOLVER_IN,
                                                      .values = reservations,
                                                      .value_count = 1};
    size_t count = 4 - take(bytes, 5);
    struct solver_offering *items = ARENA_ARRAY(bytes->arena, count, struct solver_offering);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct solver_offering){
            .zone = vocabulary[0].values[take(bytes, 3)],
            .capacity_type = vocabulary[1].values[take(bytes, 3)],
            .price_usd_micro = one_in(bytes, 8) ? -1 : take_quantity(bytes, 1000, 256),
            .available = !one_in(bytes, 8),
        };
        if (items[i].price_usd_micro < 0 || items[i].price_usd_micro == INT64_MAX)
            items[i].price_usd_micro = -1;
        if (one_in(bytes, 16)) {
            items[i].more = (struct solver_expressions){&reserved, 1};
            if (take(bytes, 4) != 0)
                reserve(bytes, &items[i]);
        }
        if (one_in(bytes, 32)) {
            struct solver_amounts capacity, *own = ARENA_NEW(bytes->arena, struct solver_amounts);
            take_capacity(bytes, &capacity, own);
            items[i].allocatable = own;
        }
    }
    type->offerings = items;
    type->offering_count = count;
}

static void take_type(struct bytes *bytes, size_t index, struct solver_instance_type *type)
{
    struct solver_expression *items = ARENA_ARRAY(bytes->arena, 5, struct solver_expression);
    const char **values = ARENA_ARRAY(bytes->arena, 3, const char *);
    type->name = values[0] = name_of(bytes, "t", index);
    values[1] = vocabulary[2].values[take(bytes, 4)];
    values[2] = vocabulary[5].values[take(bytes, 4)];
    take_capacity(bytes, &type->capacity, &type->allocatable);
    take_offerings(bytes, type);
    const char *const keys[] = {INSTANCE_TYPE, vocabulary[2].key, vocabulary[5].key};
    for (size_t i = 0; i < 3; i++)
        items[i] = (struct solver_expression){
            .key = keys[i], .op = SOLVER_IN, .values = &values[i], .value_count = 1};
    items[3] = offered(bytes, type, ZONE);
    items[4] = offered(bytes, type, CAPACITY_TYPE);
    type->requirements = (struct solver_expressions){items, 5};
    type->attach_limits = take_attach_limits(bytes, &type->attach_limit_count);
}

static void take_pool(struct bytes *bytes, size_t index, size_t type_count,
                      struct solver_pool *pool)
{
    pool->name = name_of(bytes, "p", index);
    pool->weight = (uint32_t)take(bytes, 3);
    pool->requirements = take_expressions(bytes, vocabulary, NODE_WORDS, SOLVER_OP_COUNT);
    for (size_t i = 0; i < pool->requirements.count; i++)
        if (one_in(bytes, 16)) {
            struct solver_expression *items =
                ARENA_ARRAY(bytes->arena, pool->requirements.count, struct solver_expression);
            memcpy(items, pool->requirements.items, pool->requirements.count * sizeof *items);
            items[i].min_values = (uint32_t)(1 + take(bytes, 3));
            pool->requirements.items = items;
        }
    if (one_in(bytes, 4))
        pool->labels = take_labels(bytes, &vocabulary[4], 2);
    pool->taints = take_taints(bytes);
    pool->limits = take_limits(bytes);
    size_t choice = take(bytes, 32);
    if (choice % 8 != 7)
        return;
    uint32_t *types = ARENA_ARRAY(bytes->arena, type_count, uint32_t);
    for (size_t i = 0; i < type_count; i++)
        if (one_in(bytes, 2))
            types[pool->type_count++] = (uint32_t)i;
    pool->types = types;
    pool->unlisted_types = choice == 15 || choice == 23;
    if (choice == 23) {
        static const char *const domains[] = {"example.org", "example.com"};
        pool->label_domains = domains;
        pool->label_domain_count = 2;
    }
}

static void take_node(struct bytes *bytes, size_t index, struct solver_node *node)
{
    node->name = name_of(bytes, "n", index);
    if (one_in(bytes, 2))
        node->pool = vocabulary[7].values[take(bytes, 4)];
    struct solver_labels labels = take_labels(bytes, vocabulary, NODE_WORDS);
    struct solver_label *items = ARENA_ARRAY(bytes->arena, labels.count + 2, struct solver_label);
    for (size_t i = 0; i < labels.count; i++)
        items[i] = labels.items[i];
    items[labels.count++] = (struct solver_label){HOSTNAME, node->name};
    if (node->pool != NULL)
        items[labels.count++] = (struct solver_label){vocabulary[7].key, node->pool};
    node->labels = (struct solver_labels){items, labels.count};
    node->taints = take_taints(bytes);
    take_capacity(bytes, &node->capacity, &node->allocatable);
    node->attach_limits = take_attach_limits(bytes, &node->attach_limit_count);
    node->initialized = !one_in(bytes, 3);
}

/* ---- pods ---- */

static const char *const namespace_names[] = {"default", "other"};

static const char *take_topology_key(struct bytes *bytes)
{
    static const char *const keys[] = {ZONE,          HOSTNAME,           ZONE,     HOSTNAME,
                                       CAPACITY_TYPE, "example.com/team", "nowhere"};
    return keys[take(bytes, sizeof keys / sizeof keys[0])];
}

static void take_spreads(struct bytes *bytes, struct solver_shape *shape)
{
    static const char *const label_keys[] = {"tier"};
    shape->spread_count = one_in(bytes, 3) ? 1 + take(bytes, 2) : 0;
    struct solver_spread *items =
        ARENA_ARRAY(bytes->arena, shape->spread_count, struct solver_spread);
    for (size_t i = 0; i < shape->spread_count; i++) {
        size_t flags = take(bytes, 64);
        items[i] = (struct solver_spread){
            .key = take_topology_key(bytes),
            .max_skew = (int32_t)(1 + take(bytes, 3)),
            .min_domains = one_in(bytes, 8) ? (int32_t)(1 + take(bytes, 4)) : 0,
            .hard = (flags & 3) != 0,
            .ignore_node_affinity = (flags & 12) == 12,
            .honor_node_taints = (flags & 48) == 48,
            .selector = take_selector(bytes),
            .match_label_keys = label_keys,
            .match_label_key_count = one_in(bytes, 8),
        };
    }
    shape->spreads = items;
}

static void take_affinities(struct bytes *bytes, struct solver_shape *shape)
{
    shape->affinity_count = one_in(bytes, 3) ? 1 + take(bytes, 2) : 0;
    struct solver_pod_affinity *items =
        ARENA_ARRAY(bytes->arena, shape->affinity_count, struct solver_pod_affinity);
    for (size_t i = 0; i < shape->affinity_count; i++) {
        size_t flags = take(bytes, 64);
        items[i] = (struct solver_pod_affinity){
            .anti = flags & 1,
            .required = (flags & 6) != 0,
            .weight = (int32_t)(1 + take(bytes, 100)),
            .key = take_topology_key(bytes),
            .selector = take_selector(bytes),
            .namespaces = namespace_names,
            .namespace_count = (flags & 24) == 24 ? 1 + (flags >> 5) : 0,
        };
        if (one_in(bytes, 8))
            items[i].namespace_selector = take_selector(bytes);
    }
    shape->affinities = items;
}

static void take_tolerations(struct bytes *bytes, struct solver_shape *shape)
{
    shape->toleration_count = one_in(bytes, 2) ? 1 + take(bytes, 2) : 0;
    struct solver_toleration *items =
        ARENA_ARRAY(bytes->arena, shape->toleration_count, struct solver_toleration);
    for (size_t i = 0; i < shape->toleration_count; i++) {
        static const char *const keys[] = {"gpu", "team", ""};
        size_t key = take(bytes, 3);
        size_t op = key == 2 ? 1 : take(bytes, 6);
        const char *value = take_taint_value(bytes);
        bool any_effect = one_in(bytes, 2);
        items[i] = (struct solver_toleration){
            .key = keys[key],
            .exists = op % 2 == 1,
            .gt = op == 2,
            .lt = op == 4,
            .value = value,
            .any_effect = any_effect,
            .effect = (enum solver_effect)take(bytes, 3),
        };
    }
    shape->tolerations = items;
}

static void take_ports_and_volumes(struct bytes *bytes, struct solver_shape *shape)
{
    shape->host_port_count = one_in(bytes, 8);
    struct solver_host_port *port = ARENA_NEW(bytes->arena, struct solver_host_port);
    const char *ip = one_in(bytes, 2) ? "10.0.0.1" : "";
    const char *protocol = one_in(bytes, 3) ? "UDP" : "TCP";
    size_t number = take(bytes, 4);
    *port = (struct solver_host_port){ip, protocol, (uint32_t)(80 + number % 2), number > 1};
    shape->host_ports = port;
    shape->volume_count = one_in(bytes, 4) ? 1 + take(bytes, 2) : 0;
    struct solver_volume *volumes =
        ARENA_ARRAY(bytes->arena, shape->volume_count, struct solver_volume);
    for (size_t i = 0; i < shape->volume_count; i++) {
        volumes[i].alternative_count = take(bytes, MAX_LIST);
        volumes[i].local = i == 1;
        struct solver_expressions *alternatives =
            ARENA_ARRAY(bytes->arena, volumes[i].alternative_count, struct solver_expressions);
        for (size_t j = 0; j < volumes[i].alternative_count; j++)
            alternatives[j] = take_expressions(bytes, vocabulary, 1 + take(bytes, 2), SOLVER_GT);
        volumes[i].alternatives = alternatives;
    }
    shape->volumes = volumes;
}

static void take_shape(struct bytes *bytes, struct solver_shape *shape)
{
    shape->namespace = namespace_names[one_in(bytes, 4)];
    shape->labels = take_labels(bytes, pod_vocabulary, 2);
    shape->requests = take_requests(bytes);
    if (one_in(bytes, 6))
        shape->node_selector = take_labels(bytes, vocabulary, NODE_WORDS);
    shape->required_count = one_in(bytes, 4) ? 1 + take(bytes, 3) : 0;
    struct solver_expressions *required =
        ARENA_ARRAY(bytes->arena, shape->required_count, struct solver_expressions);
    for (size_t i = 0; i < shape->required_count; i++)
        required[i] = take_terms(bytes);
    shape->required = required;
    shape->preferred_count = one_in(bytes, 4) ? 1 + take(bytes, 2) : 0;
    struct solver_preferred_term *preferred =
        ARENA_ARRAY(bytes->arena, shape->preferred_count, struct solver_preferred_term);
    for (size_t i = 0; i < shape->preferred_count; i++)
        preferred[i] =
            (struct solver_preferred_term){(int32_t)(1 + take(bytes, 100)), take_terms(bytes)};
    shape->preferred = preferred;
    take_tolerations(bytes, shape);
    take_spreads(bytes, shape);
    take_affinities(bytes, shape);
    take_ports_and_volumes(bytes, shape);
    shape->needs_devices = one_in(bytes, 32);
}

static void take_pod(struct bytes *bytes, size_t index, const struct solver_case *made,
                     struct solver_pod *pod)
{
    pod->name = arena_printf(bytes->arena, "default/%s", name_of(bytes, "pod-", index)).data;
    pod->uid = arena_printf(bytes->arena, "%02zu", 97 * index % 101).data;
    pod->created_unix_s = (int64_t)take(bytes, 3);
    pod->shape = (uint32_t)take(bytes, made->shape_count);
    pod->node = SOLVER_NONE;
    if (made->node_count > 0 && one_in(bytes, 3)) {
        pod->node = (uint32_t)take(bytes, made->node_count);
        pod->daemon = one_in(bytes, 6);
        pod->leaving = one_in(bytes, 6);
    }
    pod->mount_count = one_in(bytes, 4) ? 0 : made->shapes[pod->shape].volume_count;
    struct solver_mount *mounts = ARENA_ARRAY(bytes->arena, pod->mount_count, struct solver_mount);
    for (size_t i = 0; i < pod->mount_count; i++) {
        mounts[i].claim = arena_printf(bytes->arena, "default/c%zu", take(bytes, 8)).data;
        mounts[i].driver = one_in(bytes, 4) ? NULL : "ebs.csi.aws.com";
    }
    pod->mounts = mounts;
}

#define TAKE_LIST(made, bytes, list, list_count, number, type)                     \
    type *list = ARENA_ARRAY((bytes)->arena, (made)->list_count = (number), type); \
    (made)->list = list

struct solver_case *case_make(const uint8_t *data, size_t size, struct arena *arena)
{
    struct bytes bytes = {data, size, arena};
    struct solver_case *made = ARENA_NEW(arena, struct solver_case);
    size_t flags = take(&bytes, 256);
    made->settings = (struct solver_settings){
        .ignore_preferences = (flags & 3) == 3,
        .best_effort_min_values = (flags & 12) == 12,
        .optimize = {(flags & 16) != 0, (flags & 32) != 0, (flags & 64) != 0, (flags & 128) != 0,
                     (flags & 128) != 0},
    };
    TAKE_LIST(made, &bytes, types, type_count, MAX_TYPES - take(&bytes, MAX_TYPES + 1),
              struct solver_instance_type);
    for (size_t i = 0; i < made->type_count; i++)
        take_type(&bytes, i, &types[i]);
    TAKE_LIST(made, &bytes, pools, pool_count, MAX_POOLS - take(&bytes, MAX_POOLS + 1),
              struct solver_pool);
    for (size_t i = 0; i < made->pool_count; i++)
        take_pool(&bytes, i, made->type_count, &pools[i]);
    TAKE_LIST(made, &bytes, nodes, node_count, take(&bytes, MAX_NODES + 1), struct solver_node);
    for (size_t i = 0; i < made->node_count; i++)
        take_node(&bytes, i, &nodes[i]);
    TAKE_LIST(made, &bytes, namespaces, namespace_count, 2, struct case_namespace);
    for (size_t i = 0; i < made->namespace_count; i++)
        namespaces[i] =
            (struct case_namespace){namespace_names[i], take_labels(&bytes, pod_vocabulary, 2)};
    TAKE_LIST(made, &bytes, shapes, shape_count, 1 + take(&bytes, MAX_SHAPES), struct solver_shape);
    for (size_t i = 0; i < made->shape_count; i++)
        take_shape(&bytes, &shapes[i]);
    TAKE_LIST(made, &bytes, daemons, daemon_count, one_in(&bytes, 3) ? 1 + take(&bytes, 2) : 0,
              uint32_t);
    for (size_t i = 0; i < made->daemon_count; i++)
        daemons[i] = (uint32_t)take(&bytes, made->shape_count);
    TAKE_LIST(made, &bytes, pods, pod_count, 1 + take(&bytes, MAX_PODS), struct solver_pod);
    for (size_t i = 0; i < made->pod_count; i++)
        take_pod(&bytes, i, made, &pods[i]);
    case_remark(&bytes, made);
    return made;
}
