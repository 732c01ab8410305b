/* Remarks: what the bytes that are left after a case change in it. Each is a byte for its kind and
 * some for its choices. They come last, so that a case without them is as short as it can be. */
#include <string.h>

#include "solver_bytes.h"

/* Many copies and many remarks take long: of 256 choices so many are of few. */
enum { FEW = 224 };
enum { MAX_PODS = 288, MAX_NODES = 80, MAX_SHAPES = 24, MAX_QUESTIONS = 4 };

/* The list with room for one more at its end. */
#define WITH_ONE_MORE(bytes, items, count) \
    ((items) = with_one_more((bytes)->arena, (items), (count), sizeof *(items)), (count)++)

static void *with_one_more(struct arena *arena, const void *items, size_t count, size_t size_bytes)
{
    void *copy = arena_array(arena, count + 1, size_bytes);
    if (count > 0)
        memcpy(copy, items, count * size_bytes);
    return copy;
}

/* ---- words ---- */

#define NODE_POOL "karpenter.sh/nodepool"

/* Longer than anything else of a pod. */
#define HUNDRED                                          \
    "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij" \
    "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij"
#define LONG HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
static const char *const keys[] = {ZONE,
                                   CAPACITY_TYPE,
                                   INSTANCE_TYPE,
                                   HOSTNAME,
                                   "kubernetes.io/arch",
                                   NODE_POOL,
                                   "example.com/team",
                                   "example.com/size",
                                   "example.com/teams",
                                   SOLVER_RESERVATION_KEY,
                                   "example.com/a",
                                   "example.com/b",
                                   "example.com/c",
                                   "example.com/d",
                                   "example.com/e"};
static const char *const values[] = {"z1",
                                     "z2",
                                     "z3",
                                     "z4",
                                     "spot",
                                     "on-demand",
                                     "reserved",
                                     "t0",
                                     "t1",
                                     "m5.large",
                                     "m5.huge",
                                     "c5.large",
                                     "n0",
                                     "n1",
                                     "amd64",
                                     "arm64",
                                     "p0",
                                     "p1",
                                     "a",
                                     "b",
                                     "1",
                                     "2",
                                     "4",
                                     "x",
                                     "cr-1",
                                     "cr-2",
                                     "",
                                     "-9223372036854775808",
                                     "9223372036854775807",
                                     "01",
                                     LONG};
static const char *const numbers[] = {
    "0", "1", "2", "3", "4", "-9223372036854775808", "9223372036854775807"};
enum { KEYS = sizeof keys / sizeof keys[0], VALUES = sizeof values / sizeof values[0] };
static const char *const drivers[] = {"ebs.csi.aws.com", "efs.csi.aws.com"};

static struct solver_expression take_expression(struct bytes *bytes, size_t op_count)
{
    struct solver_expression one = {.key = keys[take(bytes, KEYS)],
                                    .op = (enum solver_op)take(bytes, op_count)};
    enum { MOST = 9 }; /* more than a reason tells */
    const char **list = ARENA_ARRAY(bytes->arena, MOST, const char *);
    one.values = list;
    if (one.op >= SOLVER_GT)
        list[one.value_count++] = numbers[take(bytes, sizeof numbers / sizeof numbers[0])];
    else if (one.op == SOLVER_IN || one.op == SOLVER_NOT_IN)
        for (size_t left = take(bytes, MOST + 1); left > 0; left--)
            list[one.value_count++] = values[take(bytes, VALUES)];
    return one;
}

static void add_expression(struct bytes *bytes, struct solver_expressions *to,
                           struct solver_expression one)
{
    struct solver_expression *items =
        with_one_more(bytes->arena, to->items, to->count, sizeof *items);
    items[to->count] = one;
    *to = (struct solver_expressions){items, to->count + 1};
}

/* In place of what is said of the key. */
static void set_expression(struct bytes *bytes, struct solver_expressions *to,
                           struct solver_expression one)
{
    struct solver_expression *items =
        with_one_more(bytes->arena, to->items, to->count, sizeof *items);
    size_t at = 0;
    while (at < to->count && strcmp(items[at].key, one.key) != 0)
        at++;
    items[at] = one;
    *to = (struct solver_expressions){items, to->count + (at == to->count)};
}

static void add_label(struct bytes *bytes, struct solver_labels *to, struct solver_label one)
{
    struct solver_label *items = with_one_more(bytes->arena, to->items, to->count, sizeof *items);
    size_t at = 0;
    while (at < to->count && strcmp(items[at].key, one.key) != 0)
        at++;
    items[at] = one;
    *to = (struct solver_labels){items, to->count + (at == to->count)};
}

static struct solver_label take_label(struct bytes *bytes)
{
    const char *key = keys[take(bytes, KEYS)];
    return (struct solver_label){key, values[take(bytes, VALUES)]};
}

/* ---- what is sold ---- */

static void rename_type(struct bytes *bytes, struct solver_instance_type *type, const char *name)
{
    struct solver_expression *items =
        ARENA_ARRAY(bytes->arena, type->requirements.count, struct solver_expression);
    const char **own = ARENA_NEW(bytes->arena, const char *);
    *own = type->name = name;
    for (size_t i = 0; i < type->requirements.count; i++) {
        items[i] = type->requirements.items[i];
        if (strcmp(items[i].key, INSTANCE_TYPE) == 0)
            items[i] = (struct solver_expression){
                .key = INSTANCE_TYPE, .op = SOLVER_IN, .values = own, .value_count = 1};
    }
    type->requirements.items = items;
}

static void unsay(struct bytes *bytes, struct solver_expressions *said)
{
    if (said->count == 0)
        return;
    size_t at = take(bytes, said->count);
    struct solver_expression *items =
        ARENA_ARRAY(bytes->arena, said->count, struct solver_expression);
    memcpy(items, said->items, said->count * sizeof *items);
    items[at] = items[said->count - 1];
    *said = (struct solver_expressions){items, said->count - 1};
}

static void remark_on_offering(struct bytes *bytes, struct solver_instance_type *type)
{
    if (type->offering_count == 0)
        return;
    struct solver_offering *items =
        ARENA_ARRAY(bytes->arena, type->offering_count, struct solver_offering);
    memcpy(items, type->offerings, type->offering_count * sizeof *items);
    struct solver_offering *offering = &items[take(bytes, type->offering_count)];
    struct solver_expression more;
    type->offerings = items;
    switch (take(bytes, 6)) {
    case 0:
        offering->list_price_usd_micro = (int64_t)take(bytes, 4);
        break;
    case 1:
        offering->price_usd_micro = 1000 * (int64_t)take(bytes, 256);
        break;
    case 2:
        offering->zone = "";
        break;
    case 3:
        offering->capacity_type = "";
        break;
    case 4: /* its zone and its capacity type are said already */
        more = take_expression(bytes, SOLVER_OP_COUNT);
        if (strcmp(more.key, ZONE) != 0 && strcmp(more.key, CAPACITY_TYPE) != 0)
            add_expression(bytes, &offering->more, more);
        break;
    default:
        offering->available = !offering->available;
    }
}

static void add_attach_limit(struct bytes *bytes, const struct solver_attach_limit **limits,
                             size_t *count)
{
    struct solver_attach_limit *items = with_one_more(bytes->arena, *limits, *count, sizeof *items);
    items[*count].driver = drivers[take(bytes, 2)];
    items[(*count)++].count = (uint32_t)take(bytes, 4);
    *limits = items;
}

static void hold_many_pods(struct bytes *bytes, struct solver_amounts *amounts)
{
    struct solver_amount *items = ARENA_ARRAY(bytes->arena, amounts->count, struct solver_amount);
    for (size_t i = 0; i < amounts->count; i++) {
        items[i] = amounts->items[i];
        if (items[i].resource == SOLVER_PODS)
            items[i].quantity = 110;
    }
    amounts->items = items;
}

/* What a type says of the zone, the capacity type and reservations is of its offerings. */
static bool is_said_by(const struct solver_instance_type *type, const char *key)
{
    bool reserved = false;
    for (size_t i = 0; i < type->offering_count; i++)
        reserved |= strcmp(type->offerings[i].capacity_type, "reserved") == 0;
    return strcmp(key, ZONE) != 0 && strcmp(key, CAPACITY_TYPE) != 0 &&
           strcmp(key, HOSTNAME) != 0 && strcmp(key, NODE_POOL) != 0 &&
           !(reserved && strcmp(key, SOLVER_RESERVATION_KEY) == 0);
}

static void remark_on_type(struct bytes *bytes, struct solver_case *made)
{
    static const char *const names[] = {"m5.large", "m5.xlarge", "m5.2xlarge", "c5.large",
                                        "m5",       "t1",        "zz"};
    if (made->type_count == 0)
        return;
    struct solver_instance_type *type = &made->types[take(bytes, made->type_count)];
    struct solver_expression one;
    switch (take(bytes, 7)) {
    case 0:
        rename_type(bytes, type, names[take(bytes, sizeof names / sizeof names[0])]);
        break;
    case 1:
        rename_type(bytes, type, made->types[take(bytes, made->type_count)].name);
        type->node_class = "other";
        break;
    case 2:
        made->odd_types = true;
        one = take_expression(bytes, SOLVER_GT);
        if (one.op == SOLVER_NOT_IN)
            one.op = SOLVER_EXISTS;
        if (one.op != SOLVER_IN)
            one.value_count = 0;
        if (is_said_by(type, one.key))
            set_expression(bytes, &type->requirements, one);
        break;
    case 3:
        made->odd_types = true;
        unsay(bytes, &type->requirements);
        break;
    case 4:
        made->odd_types = true;
        remark_on_offering(bytes, type);
        break;
    case 5:
        add_attach_limit(bytes, &type->attach_limits, &type->attach_limit_count);
        break;
    default:
        hold_many_pods(bytes, &type->capacity);
        hold_many_pods(bytes, &type->allocatable);
    }
}

/* Pools list their types where classes make more than one of a name: each lists one of them. */
static void tell_classes_apart(struct bytes *bytes, struct solver_case *made)
{
    bool any = false;
    for (size_t i = 0; i < made->type_count; i++)
        any |= made->types[i].node_class != NULL;
    for (size_t i = 0; i < made->pool_count && any; i++) {
        struct solver_pool *pool = &made->pools[i];
        size_t count = pool->types == NULL ? made->type_count : pool->type_count, kept = 0;
        uint32_t *types = ARENA_ARRAY(bytes->arena, count, uint32_t);
        for (size_t j = 0; j < count; j++) {
            /* Every other pool is of the other class. */
            size_t at = i % 2 == 0 ? j : count - 1 - j;
            uint32_t type = pool->types == NULL ? (uint32_t)at : pool->types[at];
            bool known = false;
            for (size_t k = 0; k < kept; k++)
                known |= strcmp(made->types[types[k]].name, made->types[type].name) == 0;
            if (!known)
                types[kept++] = type;
        }
        pool->types = types;
        pool->type_count = kept;
    }
}

static bool is_said_by_pools(const char *key)
{
    return strcmp(key, HOSTNAME) != 0 && strcmp(key, NODE_POOL) != 0;
}

static void remark_on_pool(struct bytes *bytes, struct solver_case *made)
{
    if (made->pool_count == 0)
        return;
    struct solver_pool *pool = &made->pools[take(bytes, made->pool_count)];
    struct solver_expression one;
    struct solver_label label;
    switch (take(bytes, 3)) {
    case 0:
        one = take_expression(bytes, SOLVER_OP_COUNT);
        one.min_values = (uint32_t)take(bytes, 4);
        if (is_said_by_pools(one.key))
            add_expression(bytes, &pool->requirements, one);
        break;
    case 1:
        label = take_label(bytes);
        if (is_said_by_pools(label.key))
            add_label(bytes, &pool->labels, label);
        break;
    default:
        pool->weight = (uint32_t)take(bytes, 4);
    }
}

/* ---- what is there ---- */

static size_t take_copies(struct bytes *bytes)
{
    size_t choice = take(bytes, 256);
    return choice < FEW ? 1 + choice % 4 : 5 * (choice - FEW + 1);
}

static void copy_node(struct bytes *bytes, struct solver_case *made, size_t from)
{
    size_t copies = take_copies(bytes);
    for (; copies > 0 && made->node_count < MAX_NODES; copies--) {
        struct solver_node copy = made->nodes[from];
        copy.name = arena_printf(bytes->arena, "m%zu", made->node_count).data;
        add_label(bytes, &copy.labels, (struct solver_label){HOSTNAME, copy.name});
        WITH_ONE_MORE(bytes, made->nodes, made->node_count);
        made->nodes[made->node_count - 1] = copy;
    }
}

static void remark_on_node(struct bytes *bytes, struct solver_case *made)
{
    if (made->node_count == 0)
        return;
    size_t at = take(bytes, made->node_count);
    struct solver_node *node = &made->nodes[at];
    switch (take(bytes, 6)) {
    case 0:
        node->leaving = true;
        break;
    case 1:
        node->to_come = true;
        break;
    case 2:
        add_label(bytes, &node->labels, take_label(bytes));
        break;
    case 3:
        add_attach_limit(bytes, &node->attach_limits, &node->attach_limit_count);
        break;
    case 4:
        node->initialized = !node->initialized;
        break;
    default:
        copy_node(bytes, made, at);
    }
}

/* ---- pods ---- */

static void add_port(struct bytes *bytes, struct solver_shape *shape)
{
    static const char *const ips[] = {"", "0.0.0.0", "::", "10.0.0.1", "10.0.0.2"};
    static const char *const protocols[] = {"TCP", "UDP", ""};
    struct solver_host_port *items =
        with_one_more(bytes->arena, shape->host_ports, shape->host_port_count, sizeof *items);
    items[shape->host_port_count].ip = ips[take(bytes, 5)];
    items[shape->host_port_count].protocol = protocols[take(bytes, 3)];
    size_t number = take(bytes, 4);
    items[shape->host_port_count].unseen = number > 1;
    items[shape->host_port_count++].port = (uint32_t)(80 + number % 2);
    shape->host_ports = items;
}

/* Of a term that is there, or of one more. */
static void add_required(struct bytes *bytes, struct solver_shape *shape)
{
    size_t at = take(bytes, shape->required_count + 1);
    struct solver_expressions *items =
        with_one_more(bytes->arena, shape->required, shape->required_count, sizeof *items);
    shape->required_count += at == shape->required_count;
    add_expression(bytes, &items[at], take_expression(bytes, SOLVER_GTE));
    shape->required = items;
}

static void add_preferred(struct bytes *bytes, struct solver_shape *shape)
{
    struct solver_preferred_term *items =
        with_one_more(bytes->arena, shape->preferred, shape->preferred_count, sizeof *items);
    items[shape->preferred_count].weight = (int32_t)(1 + take(bytes, 100));
    add_expression(bytes, &items[shape->preferred_count++].expressions,
                   take_expression(bytes, SOLVER_GTE));
    shape->preferred = items;
}

static void add_volume(struct bytes *bytes, struct solver_shape *shape)
{
    struct solver_volume *items =
        with_one_more(bytes->arena, shape->volumes, shape->volume_count, sizeof *items);
    struct solver_volume *volume = &items[shape->volume_count];
    enum { MOST = 20 };
    size_t choice = take(bytes, (size_t)3 * MOST);
    size_t expressions = (1 + choice / MOST) % 3;
    volume->alternative_count = choice % MOST;
    volume->local = choice % 5 == 4;
    struct solver_expressions *alternatives =
        ARENA_ARRAY(bytes->arena, volume->alternative_count, struct solver_expressions);
    for (size_t i = 0; i < volume->alternative_count; i++)
        for (size_t j = 0; j < expressions; j++)
            add_expression(bytes, &alternatives[i], take_expression(bytes, SOLVER_GT));
    volume->alternatives = alternatives;
    shape->volumes = items;
    shape->volume_count++;
}

static struct solver_selector take_selector(struct bytes *bytes)
{
    static const char *const apps[] = {"web",  "db",   "job",  "app1", "app2",
                                       "app3", "app4", "app5", "app6", "app7"};
    struct solver_selector selector = {.kind = SOLVER_SELECTOR_GIVEN};
    static const char *const one[] = {"1"};
    size_t choice = take(bytes, 13);
    if (choice < 10)
        add_expression(
            bytes, &selector.expressions,
            (struct solver_expression){
                .key = "app", .op = SOLVER_IN, .values = &apps[choice], .value_count = 1});
    else if (choice == 10)
        selector.kind = SOLVER_SELECTOR_ABSENT;
    else if (choice == 11)
        selector.kind = SOLVER_SELECTOR_INVALID;
    else /* by an operator that selectors do not have */
        add_expression(bytes, &selector.expressions,
                       (struct solver_expression){
                           .key = "app", .op = SOLVER_GT, .values = one, .value_count = 1});
    return selector;
}

static void add_affinity(struct bytes *bytes, struct solver_shape *shape)
{
    static const char *const namespaces[] = {"default", "other", "third"};
    struct solver_pod_affinity *items =
        with_one_more(bytes->arena, shape->affinities, shape->affinity_count, sizeof *items);
    struct solver_pod_affinity *term = &items[shape->affinity_count++];
    size_t flags = take(bytes, 32);
    term->anti = flags & 1;
    term->required = (flags & 2) == 0;
    term->key = keys[take(bytes, KEYS)];
    term->weight = 1;
    term->selector = take_selector(bytes);
    term->namespaces = namespaces;
    term->namespace_count = (flags & 4) != 0 ? 3 : 0;
    if ((flags & 8) != 0) /* every namespace */
        term->namespace_selector.kind = SOLVER_SELECTOR_GIVEN;
    if ((flags & 16) != 0) /* and those with a label */
        add_expression(bytes, &term->namespace_selector.expressions,
                       (struct solver_expression){.key = "tier", .op = SOLVER_EXISTS});
    shape->affinities = items;
}

static void add_spread(struct bytes *bytes, struct solver_shape *shape)
{
    struct solver_spread *items =
        with_one_more(bytes->arena, shape->spreads, shape->spread_count, sizeof *items);
    struct solver_spread *spread = &items[shape->spread_count++];
    size_t flags = take(bytes, 16);
    spread->key = keys[take(bytes, KEYS)];
    spread->max_skew = (int32_t)(1 + (flags & 1));
    spread->hard = (flags & 2) == 0;
    spread->honor_node_taints = (flags & 4) != 0;
    spread->min_domains = (flags & 8) != 0 ? (int32_t)(1 + take(bytes, 6)) : 0;
    spread->selector = take_selector(bytes);
    shape->spreads = items;
}

static void copy_shape(struct bytes *bytes, struct solver_case *made, size_t from)
{
    if (made->shape_count == MAX_SHAPES)
        return;
    bool *only_asked =
        with_one_more(bytes->arena, made->only_asked, made->shape_count, sizeof *only_asked);
    made->only_asked = only_asked;
    WITH_ONE_MORE(bytes, made->shapes, made->shape_count);
    made->shapes[made->shape_count - 1] = made->shapes[from];
}

static void set_request(struct bytes *bytes, struct solver_shape *shape)
{
    struct solver_amount *items =
        with_one_more(bytes->arena, shape->requests.items, shape->requests.count, sizeof *items);
    uint32_t resource = (uint32_t)take(bytes, CASE_RESOURCES);
    int64_t quantity = (int64_t)take(bytes, 256) * (resource == SOLVER_CPU      ? 50
                                                    : resource == SOLVER_MEMORY ? 1 << 26
                                                                                : 1);
    size_t at = 0;
    while (at < shape->requests.count && items[at].resource != resource)
        at++;
    items[at] = (struct solver_amount){resource, quantity};
    shape->requests =
        (struct solver_amounts){items, shape->requests.count + (at == shape->requests.count)};
}

static void add_toleration(struct bytes *bytes, struct solver_shape *shape)
{
    static const char *const taints[] = {"gpu", "team", ""};
    struct solver_toleration *items =
        with_one_more(bytes->arena, shape->tolerations, shape->toleration_count, sizeof *items);
    items[shape->toleration_count++] = (struct solver_toleration){
        .key = taints[take(bytes, 3)],
        .exists = one_in(bytes, 2),
        .value = "",
        .effect = (enum solver_effect)take(bytes, 3),
    };
    shape->tolerations = items;
}

static void remark_on_shape(struct bytes *bytes, struct solver_case *made)
{
    static const char *const apps[] = {"web",  "db",   "job",  "app1", "app2",
                                       "app3", "app4", "app5", "app6", "app7"};
    size_t at = take(bytes, made->shape_count);
    struct solver_shape *shape = &made->shapes[at];
    switch (take(bytes, 14)) {
    case 0:
        add_port(bytes, shape);
        break;
    case 1:
        add_label(bytes, &shape->node_selector, take_label(bytes));
        break;
    case 2:
        add_required(bytes, shape);
        break;
    case 3:
        add_preferred(bytes, shape);
        break;
    case 4:
        add_volume(bytes, shape);
        break;
    case 5:
        add_affinity(bytes, shape);
        break;
    case 6:
        add_spread(bytes, shape);
        break;
    case 7: /* one that was not added to the cluster */
        shape->namespace = "third";
        break;
    case 8:
        made->only_asked[at] = !made->only_asked[at];
        break;
    case 9:
        add_label(bytes, &shape->labels,
                  (struct solver_label){"app", apps[take(bytes, sizeof apps / sizeof apps[0])]});
        break;
    case 10:
        copy_shape(bytes, made, at);
        break;
    case 11:
        set_request(bytes, shape);
        break;
    case 12:
        add_toleration(bytes, shape);
        break;
    default:
        shape->requests.count = 0;
    }
}

static void copy_pod(struct bytes *bytes, struct solver_case *made, size_t from)
{
    size_t copies = take_copies(bytes);
    for (; copies > 0 && made->pod_count < MAX_PODS; copies--) {
        struct solver_pod copy = made->pods[from];
        copy.name = arena_printf(bytes->arena, "default/more-%zu", made->pod_count).data;
        copy.uid = arena_printf(bytes->arena, "1%03zu", made->pod_count).data;
        WITH_ONE_MORE(bytes, made->pods, made->pod_count);
        made->pods[made->pod_count - 1] = copy;
    }
}

/* All mounts: of unbound claims, or of claims by one number. */
static void set_mounts(struct bytes *bytes, const struct solver_case *made, struct solver_pod *pod)
{
    size_t flags = take(bytes, 32);
    pod->mount_count = made->shapes[pod->shape].volume_count;
    struct solver_mount *mounts = ARENA_ARRAY(bytes->arena, pod->mount_count, struct solver_mount);
    for (size_t i = 0; i < pod->mount_count; i++)
        mounts[i] = (struct solver_mount){
            .claim = arena_printf(bytes->arena, "default/c%zu", (flags >> 2) + i).data,
            .driver = drivers[flags >> 1 & 1],
            .binds = flags & 1,
        };
    pod->mounts = mounts;
}

static void remark_on_pod(struct bytes *bytes, struct solver_case *made)
{
    size_t at = take(bytes, made->pod_count);
    struct solver_pod *pod = &made->pods[at];
    switch (take(bytes, 7)) {
    case 0:
        set_mounts(bytes, made, pod);
        break;
    case 1:
        pod->uid = NULL;
        break;
    case 2:
        pod->shape = (uint32_t)take(bytes, made->shape_count);
        pod->mount_count = 0;
        break;
    case 3:
        pod->node = SOLVER_NONE;
        break;
    case 4:
        if (made->node_count > 0)
            pod->node = (uint32_t)take(bytes, made->node_count);
        break;
    case 5:
        pod->uid = "same";
        pod->created_unix_s = 0;
        break;
    default:
        copy_pod(bytes, made, at);
    }
}

/* ---- what is refused ---- */

/* The first amount twice, or one of a resource that nothing has. */
static void spoil_amounts(struct bytes *bytes, struct solver_amounts *amounts)
{
    struct solver_amount *items =
        with_one_more(bytes->arena, amounts->items, amounts->count, sizeof *items);
    items[amounts->count] = amounts->count > 0 && one_in(bytes, 2)
                                ? items[0]
                                : (struct solver_amount){CASE_RESOURCES + 1, 1};
    *amounts = (struct solver_amounts){items, amounts->count + 1};
}

static void spoil_pool(struct bytes *bytes, struct solver_case *made)
{
    if (made->pool_count == 0)
        return;
    struct solver_pool *pool = &made->pools[0];
    uint32_t *types = with_one_more(bytes->arena, pool->types, pool->type_count, sizeof *types);
    types[pool->type_count++] = CASE_UNKNOWN;
    pool->types = types;
}

static void spoil(struct bytes *bytes, struct solver_case *made)
{
    struct solver_pod *pod = &made->pods[0];
    switch (take(bytes, 9)) {
    case 0:
        if (made->type_count > 0)
            spoil_amounts(bytes, &made->types[0].capacity);
        break;
    case 1:
        if (made->type_count > 0)
            spoil_amounts(bytes, &made->types[0].allocatable);
        break;
    case 2:
        if (made->node_count > 0)
            spoil_amounts(bytes, &made->nodes[0].capacity);
        break;
    case 3:
        if (made->node_count > 0)
            spoil_amounts(bytes, &made->nodes[0].allocatable);
        break;
    case 4:
        spoil_pool(bytes, made);
        break;
    case 5:
        pod->shape = CASE_UNKNOWN;
        break;
    case 6:
        pod->node = CASE_UNKNOWN;
        break;
    case 7:
        pod->mount_count = made->shapes[pod->shape].volume_count + 1;
        pod->mounts = ARENA_ARRAY(bytes->arena, pod->mount_count, struct solver_mount);
        break;
    default:
        if (made->daemon_count > 0)
            made->daemons[0] = CASE_UNKNOWN;
    }
}

/* ---- the whole ---- */

static void remark_on_settings(struct bytes *bytes, struct solver_case *made)
{
    size_t flags = take(bytes, 16);
    made->settings.reserved_fallback = flags & 1;
    made->stocked = (flags & 2) != 0;
    made->settings.optimize.best_fit |= (flags & 4) != 0;
    made->settings.optimize.cheapest |= (flags & 8) != 0;
    made->patience = take(bytes, 256);
}

static void add_question(struct bytes *bytes, struct solver_case *made)
{
    size_t shape = take(bytes, made->shape_count), flags = take(bytes, 64);
    if (made->question_count == MAX_QUESTIONS)
        return;
    WITH_ONE_MORE(bytes, made->questions, made->question_count);
    made->questions[made->question_count - 1] = (struct case_question){
        .shape = (uint32_t)shape,
        .beyond_limits = flags & 1,
        .reserved_fallback = (flags & 2) != 0,
        .starved = (flags & 4) != 0,
        .none_of_unknown = (flags & 8) != 0,
        .one_of_unknown = (flags & 16) != 0,
        .mounts = (flags & 32) != 0,
    };
}

static void remark(struct bytes *bytes, struct solver_case *made)
{
    static void (*const kinds[])(struct bytes * bytes, struct solver_case * made) = {
        remark_on_settings, remark_on_type, remark_on_pool, remark_on_node,
        remark_on_shape,    remark_on_pod,  add_question,
    };
    kinds[take(bytes, sizeof kinds / sizeof kinds[0])](bytes, made);
}

void case_remark(struct bytes *bytes, struct solver_case *made)
{
    made->only_asked = ARENA_ARRAY(bytes->arena, made->shape_count, bool);
    size_t fault = take(bytes, 32); /* mostly none */
    size_t choice = take(bytes, 256);
    size_t count = choice < FEW ? choice % 8 : 4 * (choice - FEW + 1);
    for (size_t i = 0; i < count && bytes->size > 0; i++)
        remark(bytes, made);
    tell_classes_apart(bytes, made);
    if (fault == 1)
        spoil(bytes, made);
}
