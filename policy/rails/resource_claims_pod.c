/* What resource-claims says of pods: their claims must be there, and nodes with the devices within
 * their reach. */
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/rails/resource_claims.h"
#include "policy/reading.h"
#include "simulation/supply.h"
#include "simulation/ways.h"
#include "solver/well_known.h"

/* A driver of devices, the Nodes that publish it and their NodePools. */
struct driver {
    struct text name;
    struct text_list pools;
    LIST(const struct object *) nodes; /* those of pools */
    bool anywhere;          /* also on Nodes of no pool, or on Nodes that it chooses by itself */
    bool is_known, reached; /* whether the pods can run on some of them: found out once */
};
struct pods {
    struct rail_call *call;
    struct workload workload;
    LIST(struct driver) drivers;
    struct text_map by_name; /* from 1 */
    struct text_map judged;  /* names of claims and templates */
};

/* ---- which drivers there are ---- */

static void add_slice(struct pods *pods, const struct object *slice)
{
    const struct snapshot *snapshot = pods->call->world->snapshot;
    struct arena *arena = pods->call->arena;
    const struct node *spec = node_get(slice->root->node, "spec");
    struct text name = node_string(node_get(spec, "driver"));
    const struct object *node =
        snapshot_find(snapshot, KIND_NODE, TEXT(""), node_string(node_get(spec, "nodeName")));
    struct text pool =
        node == NULL ? TEXT("") : node_string(node_get(node->labels, LABEL_NODE_POOL));
    size_t *number = text_map_at(&pods->by_name, arena, name);
    if (*number == 0) {
        *LIST_PUSH(arena, &pods->drivers) = (struct driver){.name = name};
        *number = pods->drivers.count;
    }
    struct driver *driver = &pods->drivers.items[*number - 1];
    if (pool.size == 0)
        driver->anywhere = true;
    else if (!texts_have(driver->pools.items, driver->pools.count, pool))
        *LIST_PUSH(arena, &driver->pools) = pool;
    if (pool.size > 0)
        *LIST_PUSH(arena, &driver->nodes) = node;
}

static void read_drivers(struct pods *pods)
{
    const struct snapshot *snapshot = pods->call->world->snapshot;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_RESOURCE_SLICE); i++)
        add_slice(pods, snapshot_object(snapshot, KIND_RESOURCE_SLICE, i));
}

static bool sees_drivers(const struct world *world)
{
    return snapshot_count(world->snapshot, KIND_RESOURCE_SLICE) > 0 &&
           world_sees(world, KIND_BIT(KIND_RESOURCE_SLICE) | KIND_BIT(KIND_NODE));
}

/* ---- whose devices a class has ---- */

static struct text skip_spaces(struct text t)
{
    while (t.size > 0 && (*t.data == ' ' || *t.data == '\n'))
        t = (struct text){t.data + 1, t.size - 1};
    return t;
}

/* "gpu.example.com" of device.driver == "gpu.example.com", alone or with more behind &&; empty of
 * any other expression. */
static struct text driver_of_expression(struct text expression)
{
    const struct text subject = TEXT("device.driver"), equals = TEXT("==");
    struct text rest = skip_spaces(expression), driver;
    if (!text_starts_with(rest, subject) || text_holds(rest, TEXT("||")))
        return TEXT("");
    rest = skip_spaces((struct text){rest.data + subject.size, rest.size - subject.size});
    if (!text_starts_with(rest, equals))
        return TEXT("");
    rest = skip_spaces((struct text){rest.data + equals.size, rest.size - equals.size});
    if (rest.size == 0 || (*rest.data != '"' && *rest.data != '\''))
        return TEXT("");
    char quote = *rest.data;
    rest = (struct text){rest.data + 1, rest.size - 1};
    return text_split(rest, quote, &driver, NULL) ? driver : TEXT("");
}

/* Empty where the class is not seen, or says it otherwise. */
static struct text driver_of_class(const struct pods *pods, struct text name)
{
    const struct object *class =
        snapshot_find(pods->call->world->snapshot, KIND_DEVICE_CLASS, TEXT(""), name);
    const struct node *selectors =
        class == NULL ? NULL : node_at(class->root->node, "spec.selectors");
    FOR_ITEMS(selector, selectors) {
        struct text driver = driver_of_expression(node_string(node_at(selector, "cel.expression")));
        if (driver.size > 0)
            return driver;
    }
    return TEXT("");
}

/* ---- whether the pods can get there ---- */

/* Of a driver where its devices are; NULL: on no Node. */
static struct driver *find_driver(const struct pods *pods, struct text name)
{
    size_t number = text_map_get(&pods->by_name, name, 0);
    return number == 0 ? NULL : &pods->drivers.items[number - 1];
}

/* Others than NodePools put labels on Nodes, too, as the operators of drivers do. */
static bool runs_on_some(const struct pods *pods, const struct driver *driver)
{
    const struct rail_call *call = pods->call;
    struct ways *ways =
        ways_read(&pods->workload, NULL, call->world->snapshot, call->world->catalog, call->arena);
    FOR_EACH(node, &driver->nodes)
        if (ways_lead_to(ways, *node))
            return true;
    return false;
}

static bool reaches_some(const struct pods *pods, const struct driver *driver)
{
    const struct rail_call *call = pods->call;
    FOR_EACH(name, &driver->pools) {
        const struct pool *pool = snapshot_pool_named(call->world->snapshot, *name);
        if (pool == NULL || pool_takes(call->world->catalog, pool, &pods->workload, call->arena))
            return true;
    }
    return driver->anywhere || runs_on_some(pods, driver);
}

static bool reaches(const struct pods *pods, struct driver *driver)
{
    if (!driver->is_known)
        driver->reached = reaches_some(pods, driver);
    driver->is_known = true;
    return driver->reached;
}

static void report_driver(struct pods *pods, const struct field *field, struct text class,
                          struct text name, const struct driver *driver)
{
    enum { SHOWN = 3 };
    struct rail_call *call = pods->call;
    struct arena *arena = call->arena;
    struct text found = node_string(field->node);
    if (driver == NULL) {
        report_found(call, SEVERITY_WARN, field, found,
                     TEXT("Install the driver on the nodes that are to run these pods."),
                     "No Node publishes devices of %.*s, which DeviceClass %.*s selects, so these "
                     "pods stay Pending.",
                     TEXT_ARGS(name), TEXT_ARGS(class));
        return;
    }
    struct text pools = texts_and(driver->pools.items, driver->pools.count, SHOWN, arena);
    report_found(call, SEVERITY_WARN, field, found,
                 arena_printf(arena,
                              "Select NodePool %.*s, and tolerate its taints. By default Karpenter "
                              "buys no node for pods with claims.",
                              TEXT_ARGS(driver->pools.items[0])),
                 "Devices of DeviceClass %.*s (%.*s) are on nodes of NodePool%s %.*s, where these "
                 "pods cannot run.",
                 TEXT_ARGS(class), TEXT_ARGS(name), plural_s(driver->pools.count),
                 TEXT_ARGS(pools));
}

static void report_unseen_drivers(struct pods *pods, const struct field *field)
{
    const kind_set wanted = KIND_BIT(KIND_RESOURCE_SLICE) | KIND_BIT(KIND_NODE);
    report_as(pods->call, SEVERITY_UNDECIDED, .field = field, .found = node_string(field->node),
              .statement = TEXT("Which nodes have its devices is not known, since ResourceSlices "
                                "are not visible."),
              .wanted = wanted, .fix = advice_to_show(pods->call, wanted, ""));
}

/* The classes of a request; one of its alternatives is enough. */
static struct text_list classes_of(const struct node *request, struct arena *arena)
{
    const struct node *asked[] = {request, node_get(request, "exactly")};
    const struct node *alternatives = node_get(request, "firstAvailable");
    struct text_list classes = {0};
    for (size_t i = 0; i < COUNT_OF(asked); i++) {
        struct text name = node_string(node_get(asked[i], "deviceClassName"));
        if (name.size > 0)
            *LIST_PUSH(arena, &classes) = name;
    }
    FOR_ITEMS(alternative, alternatives) {
        struct text name = node_string(node_get(alternative, "deviceClassName"));
        if (name.size > 0)
            *LIST_PUSH(arena, &classes) = name;
    }
    return classes;
}

/* Returns whether its devices are known to be out of reach; *class is one of them. */
static bool is_out_of_reach(const struct pods *pods, const struct text_list *classes,
                            struct text *class)
{
    FOR_EACH(name, classes) {
        struct text driver = driver_of_class(pods, *name);
        struct driver *found = find_driver(pods, driver);
        if (driver.size == 0 || (found != NULL && reaches(pods, found)))
            return false;
        *class = *name;
    }
    return classes->count > 0;
}

static void judge_devices(struct pods *pods, const struct field *field, const struct node *spec)
{
    const struct node *requests = node_at(spec, "devices.requests");
    if (node_count(requests) > 0 && !sees_drivers(pods->call->world)) {
        report_unseen_drivers(pods, field);
        return;
    }
    FOR_ITEMS(request, requests) {
        const struct text_list classes = classes_of(request, pods->call->arena);
        struct text class;
        if (!is_out_of_reach(pods, &classes, &class))
            continue;
        struct text driver = driver_of_class(pods, class);
        report_driver(pods, field, class, driver, find_driver(pods, driver));
        return;
    }
}

/* ---- whether the claims are there ---- */

static struct text_list names_of(const struct rail_call *call, enum kind kind)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct text_list names = {0};
    for (size_t i = 0; i < snapshot_count(snapshot, kind); i++) {
        const struct object *object = snapshot_object(snapshot, kind, i);
        if (text_equal(object->namespace, call->object->namespace))
            *LIST_PUSH(call->arena, &names) = object->name;
    }
    return names;
}

static bool sees_claims(const struct rail_call *call, enum kind kind)
{
    const struct world *world = call->world;
    return (world->live || snapshot_count(world->snapshot, kind) > 0) &&
           world_sees_in(world, KIND_BIT(kind), call->object->namespace);
}

/* What is missing may come: only then do the pods start. */
static void report_missing(struct pods *pods, const struct field *field, enum kind kind)
{
    struct rail_call *call = pods->call;
    const char *name = kind_table[kind].name;
    struct text found = node_string(field->node);
    if (!sees_claims(call, kind)) {
        report_as(call, SEVERITY_UNDECIDED, .field = field, .found = found,
                  .statement = arena_printf(call->arena, "%s \"%.*s\" is not visible.", name,
                                            TEXT_ARGS(found)),
                  .wanted = WANTS_ONE, .fix = advice_to_show_one(call, kind, "it"));
        return;
    }
    const struct text_list there = names_of(call, kind);
    report_as(call, SEVERITY_WARN, .field = field, .found = found,
              .statement = arena_printf(call->arena,
                                        "There is no %s \"%.*s\" in namespace %.*s, so these pods "
                                        "stay Pending until there is.",
                                        name, TEXT_ARGS(found), TEXT_ARGS(call->object->namespace)),
              .allowed = ALLOWED_LIST(&there), .nearest_to = found, .typo_edits = TYPO_EDITS,
              .fix = arena_printf(call->arena, "Apply the %s, too.", name));
}

static void judge_named(struct pods *pods, const struct field *field, enum kind kind,
                        const char *spec)
{
    struct rail_call *call = pods->call;
    struct text name = node_string(field->node);
    struct text once = arena_printf(call->arena, "%s/%.*s", kind_table[kind].name, TEXT_ARGS(name));
    if (name.size == 0 || !text_map_add(&pods->judged, call->arena, once))
        return;
    const struct object *claim =
        snapshot_find(call->world->snapshot, kind, call->object->namespace, name);
    if (claim == NULL)
        report_missing(pods, field, kind);
    else
        judge_devices(pods, field, node_at(claim->root->node, spec));
}

void resource_claims_judge_workload(struct rail_call *call)
{
    struct arena *arena = call->arena;
    struct pods pods = {.call = call};
    if (!call_workload(call, &pods.workload))
        return;
    const struct field *claims = field_get(arena, pods.workload.spec, "resourceClaims");
    if (node_count(claims->node) == 0)
        return;
    read_drivers(&pods);
    FOR_FIELDS(claim, arena, claims) {
        judge_named(&pods, field_get(arena, claim, "resourceClaimName"), KIND_RESOURCE_CLAIM,
                    "spec");
        judge_named(&pods, field_get(arena, claim, "resourceClaimTemplateName"),
                    KIND_RESOURCE_CLAIM_TEMPLATE, "spec.spec");
    }
}
