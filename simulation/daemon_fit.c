/* Holds a DaemonSet against the instance types of a pool, with the other DaemonSets of its nodes,
 * and against the Nodes that are there, with their pods. */
#include "simulation/daemon_fit.h"

#include "catalog/node_class.h"
#include "catalog/usd.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "simulation/supply.h"
#include "simulation/ways.h"
#include "solver/well_known.h"

/* ---- what pods ask of one machine ---- */

/* By resource: a pod may name very many. */
struct load {
    struct text_map quantities;
};

static void load_add(struct load *load, const struct named_amounts *requests, struct arena *arena)
{
    FOR_EACH(request, requests) {
        size_t *sum = text_map_at(&load->quantities, arena, text_of(request->resource));
        if (__builtin_add_overflow(*sum, (size_t)request->quantity, sum))
            *sum = SIZE_MAX;
    }
}

/* What a pod of the workload requests, and itself. */
static bool read_requests(const struct snapshot *snapshot, const struct workload *workload,
                          struct arena *arena, struct named_amounts *requests)
{
    struct error error;
    if (!pod_requests_read(snapshot, workload, arena, requests, &error))
        return false;
    *LIST_PUSH(arena, requests) = (struct named_amount){"pods", 1};
    return true;
}

bool daemon_fit_read(const struct snapshot *snapshot, const struct catalog *catalog,
                     const struct workload *daemon, struct arena *arena, struct daemon_fit *fit)
{
    *fit = (struct daemon_fit){snapshot, catalog, daemon, arena, {0}};
    return read_requests(snapshot, daemon, arena, &fit->requests);
}

/* ---- instance types ---- */

/* Pods of DaemonSets on some types of a pool. */
struct share_of_types {
    struct load load;
    const struct type_set *types; /* NULL: on all of them */
};
struct shares {
    struct share_of_types *items; /* the first is of all types */
    size_t count, capacity;
};

static bool is_of_same_name(const struct object *a, const struct object *b)
{
    return text_equal(a->namespace, b->namespace) && text_equal(a->name, b->name);
}

/* Whether what the pods select tells types apart. */
static bool tells_types_apart(const struct daemon_fit *fit, const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (catalog_tells_by(fit->catalog, expression_canonical_key(expression)))
            return true;
    return false;
}

/* Those of the pool's types that the pods may run on, by any of their terms; NULL: all. */
static const struct type_set *types_of_daemon(const struct daemon_fit *fit,
                                              const struct workload *daemon,
                                              const struct pool *pool,
                                              const struct type_set *of_pool_types)
{
    struct arena *arena = fit->arena;
    struct node_selection selection;
    node_selection_read(daemon, arena, &selection);
    bool apart = tells_types_apart(fit, &selection.selector);
    for (size_t i = 0; i < selection.required.count && !apart; i++)
        apart = tells_types_apart(fit, &selection.required.items[i].expressions);
    if (!apart)
        return NULL;
    const struct expressions of_pool = expressions_join(&pool->requirements, &pool->labels, arena);
    struct type_set *types = ARENA_NEW(arena, struct type_set);
    *types = type_set_create(fit->catalog, arena);
    const struct expressions none = {0};
    size_t terms = selection.required.count;
    for (size_t i = 0; i < (terms == 0 ? 1 : terms) && i < SUPPLY_TERMS_MAX; i++) {
        if (terms > 0 && node_term_is_empty(&selection.required.items[i]))
            continue;
        const struct expressions pods =
            expressions_join(&selection.selector,
                             terms == 0 ? &none : &selection.required.items[i].expressions, arena);
        const struct type_set fitting = expressions_select(fit->catalog, &of_pool, &pods, arena);
        type_set_add_all(types, &fitting);
    }
    struct type_set missing = type_set_minus(of_pool_types, types, arena);
    return type_set_is_empty(&missing) ? NULL : types;
}

static void add_share(const struct daemon_fit *fit, const struct workload *daemon,
                      const struct pool *pool, const struct type_set *of_pool_types,
                      const struct named_amounts *requests, struct shares *shares)
{
    const struct type_set *types = types_of_daemon(fit, daemon, pool, of_pool_types);
    struct share_of_types *share =
        types == NULL ? &shares->items[0] : LIST_PUSH(fit->arena, shares);
    share->types = types;
    load_add(&share->load, requests, fit->arena);
}

static struct shares shares_of_others(const struct daemon_fit *fit, const struct pool *pool,
                                      const struct type_set *of_pool_types)
{
    const struct snapshot *snapshot = fit->snapshot;
    struct shares shares = {0};
    (void)LIST_PUSH(fit->arena, &shares);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DAEMON_SET); i++) {
        const struct object *object = snapshot_object(snapshot, KIND_DAEMON_SET, i);
        struct workload daemon;
        struct named_amounts requests;
        if (object->deleting || is_of_same_name(object, fit->daemon->object) ||
            !workload_read(object, fit->arena, &daemon) ||
            !pool_takes(fit->catalog, pool, &daemon, fit->arena) ||
            !read_requests(snapshot, &daemon, fit->arena, &requests))
            continue;
        add_share(fit, &daemon, pool, of_pool_types, &requests, &shares);
    }
    return shares;
}

/* Whether a machine of the type holds them all. What it does not have at all it has 0 of. */
static bool holds(const struct catalog_amounts *amounts, const struct shares *shares, size_t type)
{
    size_t known = 0, wanted = 0;
    FOR_EACH(share, shares) {
        if (share->types == NULL || type_set_has(share->types, type))
            wanted += share->load.quantities.count;
    }
    FOR_EACH(amount, amounts) {
        size_t sum = 0;
        FOR_EACH(share, shares) {
            if (share->types != NULL && !type_set_has(share->types, type))
                continue;
            size_t quantity = text_map_get(&share->load.quantities, text_of(amount->resource), 0);
            known += quantity > 0;
            if (__builtin_add_overflow(sum, quantity, &sum))
                sum = SIZE_MAX;
        }
        if (sum > 0 && (amount->allocatable < 0 || sum > (size_t)amount->allocatable))
            return false;
    }
    return known == wanted;
}

/* Of a class that is not visible disks may be of any size. */
static const struct class_settings *settings_of(const struct daemon_fit *fit,
                                                const struct pool *pool)
{
    const struct object *class = pool_node_class(fit->snapshot, pool);
    const struct class_settings *settings = NULL;
    struct error error;
    bool read = class != NULL && class_settings_read(class, fit->arena, &settings, &error);
    return read ? settings : &unseen_settings;
}

struct type_set daemon_fit_lost(const struct daemon_fit *fit, const struct pool *pool,
                                const struct type_set *types, size_t *roomy)
{
    struct arena *arena = fit->arena;
    const struct class_settings *settings = settings_of(fit, pool);
    const struct shares others = shares_of_others(fit, pool, types);
    struct shares all = {0};
    FOR_EACH(share, &others)
        *LIST_PUSH(arena, &all) = *share;
    struct share_of_types own = {.types = types_of_daemon(fit, fit->daemon, pool, types)};
    load_add(&own.load, &fit->requests, arena);
    *LIST_PUSH(arena, &all) = own;

    struct type_set lost = type_set_create(fit->catalog, arena);
    *roomy = 0;
    FOR_TYPES(i, types) {
        const struct arena_mark mark = arena_mark(arena);
        const struct catalog_amounts amounts =
            catalog_class_amounts(fit->catalog, i, settings, arena);
        bool fits = amounts.count > 0 && holds(&amounts, &all, i);
        bool is_lost = !fits && amounts.count > 0 && holds(&amounts, &others, i);
        *roomy += fits || is_lost;
        if (is_lost)
            type_set_add(&lost, i);
        arena_rewind(arena, mark);
    }
    return lost;
}

/* ---- what room there is ---- */

struct room {
    const struct object *node;
    struct named_amounts allocatable, left;
};
struct rooms {
    struct room *items;
    size_t count, capacity;
    struct text_map by_name; /* from 1 */
};

static void add_room(const struct daemon_fit *fit, const struct object *node, struct rooms *rooms)
{
    struct arena *arena = fit->arena;
    struct room room = {.node = node};
    struct error error;
    const struct field *field = field_at(arena, node->root, "status.allocatable");
    if (!node_is_given(field->node))
        field = field_at(arena, node->root, "status.capacity");
    if (!named_amounts_read(node, field, arena, &room.allocatable, &error) ||
        room.allocatable.count == 0)
        return;
    FOR_EACH(amount, &room.allocatable)
        *LIST_PUSH(arena, &room.left) = *amount;
    *LIST_PUSH(arena, rooms) = room;
    *text_map_at(&rooms->by_name, arena, node->name) = rooms->count;
}

static bool is_own(const struct daemon_fit *fit, const struct object *pod)
{
    return text_is(pod->controller.kind, "DaemonSet") &&
           text_equal(pod->controller.name, fit->daemon->object->name) &&
           text_equal(pod->namespace, fit->daemon->object->namespace);
}

static void take(struct room *room, const struct named_amounts *requests)
{
    for (size_t i = 0; i < room->left.count; i++) {
        struct named_amount *left = &room->left.items[i];
        int64_t taken = named_amount_of(requests, left->resource);
        if (__builtin_sub_overflow(left->quantity, taken, &left->quantity))
            left->quantity = INT64_MIN;
    }
}

static void take_pods(const struct daemon_fit *fit, struct rooms *rooms)
{
    const struct snapshot *snapshot = fit->snapshot;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        struct text node = node_string(node_at(pod->root->node, "spec.nodeName"));
        size_t number = node.size == 0 ? 0 : text_map_get(&rooms->by_name, node, 0);
        if (number == 0 || pod->deleting || pod_is_done(pod) || is_own(fit, pod))
            continue;
        const struct arena_mark mark = arena_mark(fit->arena);
        struct workload workload;
        struct named_amounts requests;
        if (workload_read(pod, fit->arena, &workload) &&
            read_requests(snapshot, &workload, fit->arena, &requests))
            take(&rooms->items[number - 1], &requests);
        arena_rewind(fit->arena, mark);
    }
}

static bool has_room(const struct room *room, const struct load *load)
{
    size_t known = 0;
    FOR_EACH(left, &room->left) {
        size_t wanted = text_map_get(&load->quantities, text_of(left->resource), 0);
        if (wanted > 0 && (left->quantity < 0 || wanted > (size_t)left->quantity))
            return false;
        known += wanted > 0;
    }
    return known == load->quantities.count;
}

/* ---- what it costs ---- */

static double part_of(const struct load *load, const struct room *room, const char *resource)
{
    int64_t whole = named_amount_of(&room->allocatable, resource);
    size_t part = text_map_get(&load->quantities, text_of(resource), 0);
    return whole <= 0 ? 0 : part >= (size_t)whole ? 1 : (double)part / (double)whole;
}

/* The larger part of the processors and of the memory, of the price on demand. */
static void add_price(const struct daemon_fit *fit, const struct load *load,
                      const struct room *room, struct daemon_nodes *nodes)
{
    struct text name = node_string(node_get(room->node->labels, LABEL_INSTANCE_TYPE));
    size_t type = catalog_find(fit->catalog, name);
    int64_t price = type == catalog_count(fit->catalog)
                        ? -1
                        : catalog_type(fit->catalog, type)->usd_micro_per_hour;
    double cpu = part_of(load, room, "cpu"), memory = part_of(load, room, "memory");
    if (price < 0)
        return;
    nodes->priced++;
    double part = cpu > memory ? cpu : memory;
    nodes->usd_micro_per_hour =
        usd_sum(nodes->usd_micro_per_hour, part < 1 ? (int64_t)((double)price * part) : price);
}

/* ---- the whole ---- */

struct daemon_nodes daemon_fit_nodes(const struct daemon_fit *fit)
{
    const struct snapshot *snapshot = fit->snapshot;
    struct daemon_nodes nodes = {0};
    struct rooms rooms = {0};
    struct ways *ways = ways_read(fit->daemon, NULL, snapshot, fit->catalog, fit->arena);
    struct load load = {{0}};
    load_add(&load, &fit->requests, fit->arena);
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_NODE); i++) {
        const struct object *node = snapshot_object(snapshot, KIND_NODE, i);
        if (!node->deleting && ways_lead_to(ways, node))
            add_room(fit, node, &rooms);
    }
    nodes.count = rooms.count;
    if (rooms.count > 0)
        take_pods(fit, &rooms);
    FOR_EACH(room, &rooms) {
        if (!has_room(room, &load))
            *LIST_PUSH(fit->arena, &nodes.full) = room->node->name;
        add_price(fit, &load, room, &nodes);
    }
    return nodes;
}
