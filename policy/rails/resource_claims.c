/* The rail resource-claims: what asks for devices of a class, and how many of them. */
#include "policy/rails/resource_claims.h"
#include "kube/container.h"
#include "kube/device.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "policy/reading.h"

struct settings {
    struct key_quantities max;
};

static const struct key keys[] = {
    {.name = "max",
     .type = KEY_QUANTITIES,
     .offset = offsetof(struct settings, max),
     .summary = "the most devices of a class that one claim may ask for, by DeviceClass"},
    {0},
};

/* One claim, and what it asks for so far. */
struct check {
    struct rail_call *call;
    struct text_list classes; /* those that are visible */
    struct text_map told;     /* classes that are judged */
    struct text_map counts;   /* devices by class */
};

/* ---- classes ---- */

static struct text_list visible_classes(const struct rail_call *call)
{
    const struct snapshot *snapshot = call->world->snapshot;
    struct text_list classes = {0};
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_DEVICE_CLASS); i++)
        *LIST_PUSH(call->arena, &classes) = snapshot_object(snapshot, KIND_DEVICE_CLASS, i)->name;
    return classes;
}

static bool is_known(const struct check *check, struct text class)
{
    return snapshot_find(check->call->world->snapshot, KIND_DEVICE_CLASS, TEXT(""), class) != NULL;
}

static void report_unseen_class(struct check *check, const struct field *field, struct text class)
{
    const kind_set wanted = KIND_BIT(KIND_DEVICE_CLASS);
    report_as(check->call, SEVERITY_UNDECIDED, .field = field, .found = class,
              .statement = arena_printf(check->call->arena,
                                        "Whether there is a DeviceClass \"%.*s\" is not known, "
                                        "since no DeviceClass is visible.",
                                        TEXT_ARGS(class)),
              .wanted = wanted, .fix = advice_to_show(check->call, wanted, ""));
}

static void report_unknown_class(struct check *check, const struct field *field, struct text class)
{
    report_with(check->call, .field = field, .found = class,
                .statement = arena_printf(check->call->arena,
                                          "There is no DeviceClass \"%.*s\", so pods with this "
                                          "claim stay Pending.",
                                          TEXT_ARGS(class)),
                .allowed = ALLOWED_LIST(&check->classes), .nearest_to = class,
                .typo_edits = TYPO_EDITS, .fix = TEXT("Name a DeviceClass of this cluster."));
}

static void judge_class(struct check *check, const struct field *field)
{
    const struct world *world = check->call->world;
    struct text class = node_string(field->node);
    if (is_known(check, class) || !text_map_add(&check->told, check->call->arena, class))
        return;
    if (check->classes.count == 0 || !world_sees(world, KIND_BIT(KIND_DEVICE_CLASS)))
        report_unseen_class(check, field, class);
    else
        report_unknown_class(check, field, class);
}

/* ---- counts ---- */

enum { COUNT_MAX = 1 << 20 }; /* far above what the API server takes */

/* -1: none. */
static int64_t most_of(const struct settings *settings, struct text class)
{
    for (size_t i = 0; i < settings->max.count; i++)
        if (text_equal(settings->max.items[i].name, class))
            return settings->max.items[i].milli / 1000;
    return -1;
}

static void report_all(struct check *check, const struct field *mode, struct text class,
                       int64_t most)
{
    report_with(check->call, .field = mode, .found = node_string(mode->node),
                .statement = arena_printf(check->call->arena,
                                          "This takes all devices of %.*s that a node has, and "
                                          "a claim may have %lld.",
                                          TEXT_ARGS(class), (long long)most),
                .fix = arena_printf(check->call->arena,
                                    "Set allocationMode: ExactCount with a count of %lld at most.",
                                    (long long)most));
}

static void report_many(struct check *check, const struct field *count, struct text class,
                        size_t devices, int64_t most)
{
    struct text found = node_is_given(count->node) ? node_text(count->node) : TEXT("1");
    report_with(check->call, .field = count, .found = found,
                .statement = arena_printf(check->call->arena,
                                          "The claim asks for %zu devices of %.*s, and a claim may "
                                          "have %lld.",
                                          devices, TEXT_ARGS(class), (long long)most),
                .fix = arena_printf(check->call->arena, "Ask for %lld at most, in all requests.",
                                    (long long)most));
}

/* so_far: devices of the class in requests that are wanted beside this one. Returns how many it
 * asks for. */
static size_t judge_count(struct check *check, const struct field *asked, struct text class,
                          size_t so_far)
{
    struct arena *arena = check->call->arena;
    int64_t most = most_of(check->call->settings, class);
    if (node_true(node_get(asked->node, "adminAccess")))
        return 0; /* it looks at devices that others have, and takes none */
    const struct field *mode = field_get(arena, asked, "allocationMode");
    const struct field *field = field_get(arena, asked, "count");
    int64_t count = 1;
    (void)node_integer(field->node, &count);
    count = count < 1 ? 1 : count < COUNT_MAX ? count : COUNT_MAX;
    if (text_is(node_string(mode->node), "All")) {
        if (most >= 0)
            report_all(check, mode, class, most);
        return 0;
    }
    size_t devices = so_far + (size_t)count;
    if (most >= 0 && (int64_t)so_far <= most && (int64_t)devices > most)
        report_many(check, field, class, devices, most);
    return (size_t)count;
}

/* ---- requests ---- */

/* What names a class: a request of v1beta1 and before, `exactly` of later ones, an alternative.
 * *class: empty where none is named. Returns how many devices it asks for. */
static size_t judge_asked(struct check *check, const struct field *asked, struct text *class)
{
    const struct field *name = field_get(check->call->arena, asked, "deviceClassName");
    *class = node_string(name->node);
    if (class->size == 0)
        return 0;
    judge_class(check, name);
    return judge_count(check, asked, *class, text_map_get(&check->counts, *class, 0));
}

static void judge_exactly(struct check *check, const struct field *asked)
{
    struct text class;
    size_t devices = judge_asked(check, asked, &class);
    if (devices > 0)
        *text_map_at(&check->counts, check->call->arena, class) += devices;
}

/* One of them is taken: of each class the largest counts. */
static void judge_alternatives(struct check *check, const struct field *alternatives)
{
    struct arena *arena = check->call->arena;
    struct text_map largest = {0};
    FOR_FIELDS(alternative, arena, alternatives) {
        struct text class;
        size_t devices = judge_asked(check, alternative, &class);
        if (devices > text_map_get(&largest, class, 0))
            *text_map_at(&largest, arena, class) = devices;
    }
    for (size_t i = 0; i < largest.count; i++)
        *text_map_at(&check->counts, arena, largest.items[i].key) += largest.items[i].value;
}

/* v1beta1 has it beside the name, later versions in exactly. Returns whether it was told of. */
static bool judge_place(struct check *check, const struct field *request)
{
    struct rail_call *call = check->call;
    const struct field *name = field_get(call->arena, request, "deviceClassName");
    struct text version = call->object->api_version;
    if (!node_is_given(name->node) ||
        !TEXT_IS_ONE_OF(version, "resource.k8s.io/v1", "resource.k8s.io/v1beta2"))
        return false;
    report_found(call, SEVERITY_RAIL, name, node_string(name->node),
                 TEXT("Move it under exactly of the request, and all else but name with it."),
                 "A request of %.*s has no field deviceClassName. The API server refuses the "
                 "claim.",
                 TEXT_ARGS(version));
    return true;
}

static void judge_request(struct check *check, const struct field *request)
{
    struct arena *arena = check->call->arena;
    if (!judge_place(check, request))
        judge_exactly(check, request);
    judge_exactly(check, field_get(arena, request, "exactly"));
    judge_alternatives(check, field_get(arena, request, "firstAvailable"));
}

static void judge_claim(struct rail_call *call, const struct field *spec)
{
    struct check check = {.call = call, .classes = visible_classes(call)};
    FOR_FIELDS(request, call->arena, field_at(call->arena, spec, "devices.requests"))
        judge_request(&check, request);
}

/* ---- containers that ask without a claim, for which kube-scheduler makes one ---- */

/* By what name besides its own a container asks for the class; empty: it has none, or is not seen.
 */
static struct text extended_name_of(const struct rail_call *call, struct text class)
{
    const struct object *seen =
        snapshot_find(call->world->snapshot, KIND_DEVICE_CLASS, TEXT(""), class);
    return seen == NULL ? TEXT("")
                        : node_string(node_at(seen->root->node, "spec.extendedResourceName"));
}

/* What a container asks for. A resource of this kind has one limit, which is its request. */
struct asked {
    const struct field *quantity;
    int64_t count; /* 0: nothing, or what is no quantity */
};

static struct asked asked_of(const struct field *container, struct text resource,
                             struct arena *arena)
{
    struct amount amount;
    struct asked asked = {
        .quantity = field_member(arena, field_at(arena, container, "resources.limits"), resource)};
    amount_read(asked.quantity, &amount);
    int64_t count = amount.valid ? amount.milli / 1000 : 0;
    asked.count = count < COUNT_MAX ? count : COUNT_MAX;
    return asked;
}

/* All that a pod asks for of a class, and where that comes to be too much (NULL: nowhere). */
struct tally {
    const struct key_quantity *max;
    int64_t count;
    const struct field *above;
};

static void add_asked(struct tally *tally, const struct asked *asked)
{
    tally->count += asked->count;
    if (tally->above == NULL && tally->count > tally->max->milli / 1000)
        tally->above = asked->quantity;
}

/* Init containers run one after the other, before the containers. They take what sidecars and
 * containers behind them will have, and of what is more the largest counts. */
static void add_resource(struct tally *tally, const struct workload *workload, struct text resource,
                         struct arena *arena)
{
    const struct field *init = field_get(arena, workload->spec, "initContainers");
    const struct field *containers = field_get(arena, workload->spec, "containers");
    struct asked more = {0};
    int64_t later = 0;
    FOR_FIELDS(container, arena, containers) {
        struct asked asked = asked_of(container, resource, arena);
        later += asked.count;
        add_asked(tally, &asked);
    }
    for (size_t i = node_is(init->node, NODE_LIST) ? node_count(init->node) : 0; i-- > 0;) {
        const struct field *container = field_item(arena, init, i);
        struct asked asked = asked_of(container, resource, arena);
        if (container_is_sidecar(container->node)) {
            later += asked.count;
            add_asked(tally, &asked);
        } else if (asked.count - later > more.count) {
            more = (struct asked){asked.quantity, asked.count - later};
        }
    }
    add_asked(tally, &more);
}

static void report_tally(struct rail_call *call, const struct tally *tally)
{
    const struct key_quantity *max = tally->max;
    long long most = (long long)(max->milli / 1000);
    report_with(call, .field = tally->above, .found = node_text(tally->above->node),
                .statement = arena_printf(call->arena,
                                          "The pod asks for %lld devices of %.*s, and a claim may "
                                          "have %lld.",
                                          (long long)tally->count, TEXT_ARGS(max->name), most),
                .fault = arena_printf(call->arena, "The pod asks for too many devices of %.*s.",
                                      TEXT_ARGS(max->name)),
                .extent = tally->count,
                .fix = arena_printf(call->arena, "Ask for %lld at most, in all containers.", most));
}

static void judge_containers(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    struct arena *arena = call->arena;
    struct workload workload;
    if (settings->max.count == 0 || !call_workload(call, &workload))
        return;
    FOR_EACH(max, &settings->max) {
        struct text extended_name = extended_name_of(call, max->name);
        struct tally tally = {.max = max};
        add_resource(&tally, &workload, resource_of_device_class(max->name, arena), arena);
        if (extended_name.size > 0)
            add_resource(&tally, &workload, extended_name, arena);
        if (tally.above != NULL)
            report_tally(call, &tally);
    }
}

/* ---- classes by which containers ask as for an extended resource ---- */

static void judge_extended_resource(struct rail_call *call)
{
    const struct field *name =
        field_at(call->arena, call->object->root, "spec.extendedResourceName");
    struct text resource = node_string(name->node);
    if (resource.size > 0)
        report_found(
            call, SEVERITY_WARN, name, resource,
            TEXT("Keep nodes for such pods, or report the devices by a device plugin."),
            "Karpenter does not know that devices stand behind %.*s. For pods that ask for "
            "it there is no new node, unless a device plugin reports it, too.",
            TEXT_ARGS(resource));
}

/* Kubernetes makes a claim of a template for each Pod: the template has been judged. */
static bool is_made_of_template(const struct rail_call *call)
{
    return text_is(call->object->controller.kind, "Pod") &&
           (call->subject->existing || requester_is_controller(&call->subject->requester));
}

static void judge(struct rail_call *call)
{
    const struct field *root = call->object->root;
    if (is_made_of_template(call))
        return;
    switch (call->object->kind) {
    case KIND_RESOURCE_CLAIM:
        judge_claim(call, field_get(call->arena, root, "spec"));
        break;
    case KIND_RESOURCE_CLAIM_TEMPLATE:
        judge_claim(call, field_at(call->arena, root, "spec.spec"));
        break;
    case KIND_DEVICE_CLASS:
        judge_extended_resource(call);
        break;
    default:
        judge_containers(call);
        resource_claims_judge_workload(call);
        break;
    }
}

const struct rail rail_resource_claims = {
    .name = "resource-claims",
    .summary = "claims of devices that there are, and not too many",
    .detail =
        "A ResourceClaim asks for devices of a DeviceClass; a pod whose claim names a class that "
        "does not exist stays Pending. The rail finds such names in ResourceClaims and "
        "ResourceClaimTemplates, with the nearest that there is, also among alternatives "
        "(firstAvailable), since one that is missing fails the whole claim. While no DeviceClass "
        "is visible it cannot be decided. Claims that Kubernetes makes of a template are not "
        "judged again. A request of v1 or v1beta2 that has its deviceClassName where v1beta1 has "
        "it, beside its name, is found, since the API server refuses it.\n\n"
        "With max, a claim that asks for more devices of a class, in all its requests together, "
        "is found, and so is one that takes all that a node has (allocationMode All). Of "
        "alternatives the largest counts, and a request with adminAccess takes none. The same "
        "holds for pods that ask for a class by a resource of their containers, its "
        "extendedResourceName or deviceclass.resource.kubernetes.io/CLASS: kube-scheduler makes a "
        "claim of it. An init container uses the devices of the containers behind it; of what init "
        "containers ask for beyond those, the largest number counts.\n\n"
        "The rail warns of pods and pod templates when a claim or a template that they name "
        "(resourceClaims) is not there, with the nearest name, and when the devices of its class "
        "are only on nodes of NodePools where these pods cannot run, or on none at all. The "
        "driver is taken from a selector of the class that begins with device.driver ==, and the "
        "nodes from the driver's ResourceSlices; while none is visible it cannot be decided.\n\n"
        "It warns of a DeviceClass with an extendedResourceName: Karpenter looks for extended "
        "resources among what instance types and device plugins have, and not behind a class.",
    .example = "resource-claims:\n"
               "  max: {gpu.nvidia.com: 8}\n",
    .kinds = KIND_BIT(KIND_RESOURCE_CLAIM) | KIND_BIT(KIND_RESOURCE_CLAIM_TEMPLATE) |
             KIND_BIT(KIND_DEVICE_CLASS) | KINDS_WORKLOADS,
    .sources = KIND_BIT(KIND_DEVICE_CLASS) | KIND_BIT(KIND_RESOURCE_SLICE),
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judge = judge,
};
