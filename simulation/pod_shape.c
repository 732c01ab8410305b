/* Reads a pod's shape: the fields that the solver looks at, and why Karpenter may ignore the
 * pod. */
#include "simulation/pod_shape.h"

#include <string.h>

#include "kube/complaint.h"
#include "kube/container.h"
#include "kube/device.h"
#include "kube/object.h"
#include "kube/to_solver.h"
#include "kube/topology.h"
#include "solver/well_known.h"

/* ---- what Karpenter does not place ---- */

/* A pod that cannot be understood is no part of the plan: this comes before all other faults. */
static void find_broken(struct pod_shape *shape, struct place place, struct text message)
{
    if (!shape->fault.broken)
        shape->fault = (struct pod_fault){
            .kind = SOLVER_REASON_REQUIREMENT, .message = message, .broken = true, .place = place};
}

static void find_no_machine(struct pod_shape *shape, struct text message, struct text fix)
{
    if (shape->fault.message.size == 0)
        shape->fault = (struct pod_fault){
            .kind = SOLVER_REASON_REQUIREMENT, .message = message, .no_machine = true, .fix = fix};
}

/* kube-scheduler may still place it on an existing node. */
static void find_nodes_only(struct pod_shape *shape, struct text message)
{
    if (shape->nodes_only.message.size == 0)
        shape->nodes_only =
            (struct pod_fault){.kind = SOLVER_REASON_REQUIREMENT, .message = message};
}

/* Labels that only Karpenter sets: it ignores a pod that selects one. */
static bool is_restricted(const char *key_as_written)
{
    static const char *const domains[] = {"karpenter.sh", "karpenter.k8s.aws"};
    size_t size = strlen(key_as_written);
    const char *data = solver_canonical_key(key_as_written, &size);
    struct text key = {data, size};
    struct text domain = {0};
    if (text_is(key, LABEL_HOSTNAME))
        return true;
    if (solver_is_well_known(data, size) || !text_split(key, '/', &domain, NULL))
        return false;
    for (size_t i = 0; i < COUNT_OF(domains); i++) {
        struct text restricted = text_of(domains[i]);
        if (text_equal(domain, restricted))
            return true;
        if (domain.size > restricted.size && text_ends_with(domain, restricted) &&
            domain.data[domain.size - restricted.size - 1] == '.')
            return true;
    }
    return false;
}

static void check_keys(struct pod_shape *shape, struct solver_expressions expressions,
                       struct arena *arena)
{
    for (size_t i = 0; i < expressions.count; i++) {
        const char *key = expressions.items[i].key;
        if (is_restricted(key))
            find_nodes_only(
                shape, arena_printf(arena, "Karpenter does not look at pods that ask for %s", key));
    }
}

/* Karpenter ignores a pod that excludes its nodes, even as a preference. */
static void check_avoids_pools(struct pod_shape *shape, struct solver_expressions expressions)
{
    for (size_t i = 0; i < expressions.count; i++)
        if (expressions.items[i].op == SOLVER_DOES_NOT_EXIST &&
            strcmp(expressions.items[i].key, LABEL_NODE_POOL) == 0)
            find_nodes_only(shape, TEXT("the pod asks for a node without karpenter.sh/nodepool, so "
                                        "Karpenter leaves it alone"));
}

static void check_selection(struct pod_shape *shape, struct arena *arena)
{
    const struct solver_shape *solver = &shape->solver;
    for (size_t i = 0; i < solver->node_selector.count; i++) {
        const struct solver_expression selects = {.key = solver->node_selector.items[i].key};
        check_keys(shape, (struct solver_expressions){&selects, 1}, arena);
    }
    for (size_t i = 0; i < solver->required_count; i++)
        check_keys(shape, solver->required[i], arena);
    if (solver->required_count > 0)
        check_avoids_pools(shape, solver->required[0]);
    const struct solver_preferred_term *heaviest = NULL;
    for (size_t i = 0; i < solver->preferred_count; i++)
        if (heaviest == NULL || solver->preferred[i].weight > heaviest->weight)
            heaviest = &solver->preferred[i];
    if (heaviest != NULL)
        check_avoids_pools(shape, heaviest->expressions);
}

/* ---- expressions ---- */

struct selector_list {
    struct solver_expression *items;
    size_t count, capacity;
};

static bool add_selector_expression(struct selector_list *list, const struct node *expression,
                                    struct arena *arena)
{
    struct text op = node_string(node_get(expression, "operator"));
    const struct node *values = node_get(expression, "values");
    struct solver_expression converted = {
        .key = terminated(arena, node_string(node_get(expression, "key")))};
    if (converted.key[0] == '\0' || !solver_op_parse(op.data, op.size, &converted.op) ||
        converted.op > SOLVER_DOES_NOT_EXIST)
        return false;
    bool takes_values = converted.op == SOLVER_IN || converted.op == SOLVER_NOT_IN;
    if (takes_values != (node_count(values) > 0))
        return false;
    const char **items = ARENA_ARRAY(arena, node_count(values), const char *);
    for (size_t i = 0; i < node_count(values); i++)
        items[i] = terminated(arena, node_string(node_item(values, i)));
    converted.values = items;
    converted.value_count = node_count(values);
    *LIST_PUSH(arena, list) = converted;
    return true;
}

/* ---- node selection ---- */

static int32_t weight_of(const struct field *term)
{
    int64_t weight = 0;
    if (!node_integer(node_get(term->parent->node, "weight"), &weight) || weight < 0 ||
        weight > INT32_MAX)
        return 0;
    return (int32_t)weight;
}

/* One that cannot be understood selects no node. */
static struct solver_expressions read_fields(const struct node_term *term, struct arena *arena)
{
    struct selector_list list = {0};
    FOR_ITEMS(field, node_get(term->field->node, "matchFields"))
        if (!add_selector_expression(&list, field, arena))
            *LIST_PUSH(arena, &list) = (struct solver_expression){.key = "", .op = SOLVER_IN};
    return (struct solver_expressions){list.items, list.count};
}

/* Karpenter reads an empty term as any node and kube-scheduler as none: only what both accept is a
 * place. */
static void read_required(struct pod_shape *shape, const struct node_terms *terms,
                          struct arena *arena)
{
    struct solver_expressions *required =
        ARENA_ARRAY(arena, terms->count, struct solver_expressions);
    struct solver_expressions *fields = ARENA_ARRAY(arena, terms->count, struct solver_expressions);
    size_t count = 0;
    for (size_t i = 0; i < terms->count; i++) {
        if (node_term_is_empty(&terms->items[i]))
            continue;
        fields[count] = read_fields(&terms->items[i], arena);
        if (fields[count].count > 0) {
            shape->fields = fields;
            find_nodes_only(shape, TEXT("Karpenter does not look at pods whose node affinity has "
                                        "matchFields"));
        }
        /* pod_check has reported what is wrong. */
        if (!expressions_convert(&terms->items[i].expressions, arena, &required[count++]))
            return;
    }
    shape->solver.required = required;
    shape->solver.required_count = count;
    if (count == 0 && terms->count > 0)
        find_no_machine(shape,
                        TEXT("every nodeSelectorTerm of its node affinity is empty, and an empty "
                             "term selects no node"),
                        TEXT("write matchExpressions into a nodeSelectorTerm, or remove the "
                             "required node affinity"));
}

static void read_preferred(struct pod_shape *shape, const struct node_terms *terms,
                           struct arena *arena)
{
    struct solver_preferred_term *preferred =
        ARENA_ARRAY(arena, terms->count, struct solver_preferred_term);
    for (size_t i = 0; i < terms->count; i++) {
        preferred[i].weight = weight_of(terms->items[i].field);
        if (!expressions_convert(&terms->items[i].expressions, arena, &preferred[i].expressions))
            return;
    }
    shape->solver.preferred = preferred;
    shape->solver.preferred_count = terms->count;
}

/* ---- ports ---- */

/* With hostNetwork every container port is a host port. */
static uint32_t host_port_of(const struct node *port, bool host_network)
{
    int64_t number = 0;
    if (!node_integer(node_get(port, "hostPort"), &number) && host_network)
        (void)node_integer(node_get(port, "containerPort"), &number);
    return number > 0 && number <= UINT16_MAX ? (uint32_t)number : 0;
}

struct host_ports {
    struct solver_host_port *items;
    size_t count, capacity;
};

static void add_host_ports(const struct node *container, bool host_network, bool unseen,
                           struct arena *arena, struct host_ports *ports)
{
    FOR_ITEMS(port, node_get(container, "ports")) {
        uint32_t number = host_port_of(port, host_network);
        if (number > 0)
            *LIST_PUSH(arena, ports) = (struct solver_host_port){
                terminated(arena, node_string(node_get(port, "hostIP"))),
                terminated(arena, node_string(node_get(port, "protocol"))), number, unseen};
    }
}

static void read_host_ports(const struct workload *workload, struct arena *arena,
                            struct solver_shape *solver)
{
    struct host_ports ports = {0};
    const struct node *spec = workload->spec->node;
    bool host_network = node_true(node_get(spec, "hostNetwork"));
    FOR_ITEMS(container, node_get(spec, "containers"))
        add_host_ports(container, host_network, false, arena, &ports);
    FOR_ITEMS(container, node_get(spec, "initContainers"))
        if (container_is_sidecar(container))
            add_host_ports(container, host_network, true, arena, &ports);
    solver->host_ports = ports.items;
    solver->host_port_count = ports.count;
}

/* ---- spread and affinity ---- */

static const char **one_value(struct arena *arena, struct text value)
{
    const char **values = ARENA_NEW(arena, const char *);
    *values = terminated(arena, value);
    return values;
}

static struct solver_selector read_selector(const struct node *selector, struct arena *arena,
                                            struct selector_list *list)
{
    if (selector == NULL || node_is(selector, NODE_NULL))
        return (struct solver_selector){.kind = SOLVER_SELECTOR_ABSENT};
    if (!node_is(selector, NODE_MAP))
        return (struct solver_selector){.kind = SOLVER_SELECTOR_INVALID};
    const struct node *labels = node_get(selector, "matchLabels");
    for (size_t i = 0; node_is(labels, NODE_MAP) && i < node_count(labels); i++) {
        const struct member *member = &labels->members[i];
        *LIST_PUSH(arena, list) =
            (struct solver_expression){.key = terminated(arena, member_key(member)),
                                       .op = SOLVER_IN,
                                       .values = one_value(arena, node_string(&member->value)),
                                       .value_count = 1};
    }
    const struct node *expressions = node_get(selector, "matchExpressions");
    FOR_ITEMS(item, expressions)
        if (!add_selector_expression(list, item, arena))
            return (struct solver_selector){.kind = SOLVER_SELECTOR_INVALID};
    return (struct solver_selector){.kind = SOLVER_SELECTOR_GIVEN,
                                    .expressions = {list->items, list->count}};
}

static const char *const *strings_of(const struct node *list, struct arena *arena, size_t *count)
{
    *count = node_is(list, NODE_LIST) ? node_count(list) : 0;
    const char **items = ARENA_ARRAY(arena, *count, const char *);
    for (size_t i = 0; i < *count; i++)
        items[i] = terminated(arena, node_string(node_item(list, i)));
    return items;
}

static int32_t small_number(const struct node *node, int32_t absent)
{
    int64_t number = 0;
    if (!node_integer(node, &number) || number < 0 || number > INT32_MAX)
        return absent;
    return (int32_t)number;
}

static struct solver_spread read_spread(const struct topology_term *term, struct arena *arena)
{
    const struct node *node = term->term->node;
    struct selector_list list = {0};
    struct solver_spread spread = {
        .key = terminated(arena, node_string(term->key->node)),
        .max_skew = small_number(node_get(node, "maxSkew"), 1),
        .min_domains = small_number(node_get(node, "minDomains"), 0),
        .hard = term->required,
        .ignore_node_affinity =
            text_is(node_string(node_get(node, "nodeAffinityPolicy")), "Ignore"),
        .honor_node_taints = text_is(node_string(node_get(node, "nodeTaintsPolicy")), "Honor"),
        .selector = read_selector(node_get(node, "labelSelector"), arena, &list),
    };
    spread.match_label_keys =
        strings_of(node_get(node, "matchLabelKeys"), arena, &spread.match_label_key_count);
    return spread;
}

/* The API server writes these keys into the selector when it stores a pod. */
static void merge_label_keys(const struct node *keys, enum solver_op op,
                             struct solver_labels labels, struct arena *arena,
                             struct selector_list *list, struct solver_selector *selector)
{
    FOR_ITEMS(item, keys) {
        const char *key = terminated(arena, node_string(item));
        const char *value = label_of(labels, key);
        if (value == NULL || selector->kind != SOLVER_SELECTOR_GIVEN)
            continue;
        *LIST_PUSH(arena, list) = (struct solver_expression){
            .key = key, .op = op, .values = one_value(arena, text_of(value)), .value_count = 1};
        selector->expressions = (struct solver_expressions){list->items, list->count};
    }
}

static struct solver_pod_affinity read_affinity(const struct topology_term *term,
                                                struct solver_labels labels, struct arena *arena)
{
    const struct node *node = term->term->node;
    struct selector_list list = {0};
    struct selector_list namespaces = {0};
    struct solver_pod_affinity affinity = {
        .anti = term->use == TOPOLOGY_ANTI_AFFINITY,
        .required = term->required,
        .weight = term->required ? 0 : weight_of(term->term),
        .key = terminated(arena, node_string(term->key->node)),
        .selector = read_selector(node_get(node, "labelSelector"), arena, &list),
        .namespace_selector =
            read_selector(node_get(node, "namespaceSelector"), arena, &namespaces),
    };
    merge_label_keys(node_get(node, "matchLabelKeys"), SOLVER_IN, labels, arena, &list,
                     &affinity.selector);
    merge_label_keys(node_get(node, "mismatchLabelKeys"), SOLVER_NOT_IN, labels, arena, &list,
                     &affinity.selector);
    affinity.namespaces =
        strings_of(node_get(node, "namespaces"), arena, &affinity.namespace_count);
    return affinity;
}

static void read_topology(const struct topology_terms *terms, struct arena *arena,
                          struct solver_shape *solver)
{
    struct solver_spread *spreads = ARENA_ARRAY(arena, terms->count, struct solver_spread);
    struct solver_pod_affinity *affinities =
        ARENA_ARRAY(arena, terms->count, struct solver_pod_affinity);
    FOR_EACH(term, terms) {
        if (term->use == TOPOLOGY_SPREAD)
            spreads[solver->spread_count++] = read_spread(term, arena);
        else
            affinities[solver->affinity_count++] = read_affinity(term, solver->labels, arena);
    }
    solver->spreads = spreads;
    solver->affinities = affinities;
}

/* ---- the whole ---- */

static struct solver_labels join(struct solver_labels a, struct solver_labels b,
                                 struct arena *arena)
{
    struct solver_label *items = ARENA_ARRAY(arena, a.count + b.count, struct solver_label);
    size_t count = 0;
    for (size_t i = 0; i < a.count; i++)
        items[count++] = a.items[i];
    for (size_t i = 0; i < b.count; i++)
        if (label_of(a, b.items[i].key) == NULL)
            items[count++] = b.items[i];
    return (struct solver_labels){items, count};
}

static void check_workload(const struct workload *workload, const struct pod_scheduling *scheduling,
                           struct arena *arena, struct pod_shape *shape)
{
    struct complaint wrong = {0};
    pod_check(workload, scheduling, arena, &wrong);
    if (wrong.field != NULL)
        find_broken(shape, object_place(workload->object, wrong.field, arena), wrong.message);
}

static bool claims_devices(const struct workload *workload)
{
    static const char *const lists[] = {"containers", "initContainers"};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        FOR_ITEMS(container, node_get(workload->spec->node, lists[i]))
            if (node_count(node_at(container, "resources.claims")) > 0)
                return true;
    return workload_claims_devices(workload);
}

/* required: its own, or those of the workload whose affinity counts. */
static void read_needs(const struct snapshot *snapshot, const struct workload *workload,
                       const struct pod_scheduling *scheduling, const struct node_terms *required,
                       struct arena *arena, struct pod_shape *shape)
{
    struct solver_shape *solver = &shape->solver;
    solver->needs_devices = claims_devices(workload);
    solver->node_selector = labels_of(scheduling->selection->selector_field->node, arena);
    read_required(shape, required, arena);
    solver->tolerations =
        tolerations_convert(scheduling->tolerations, arena, &solver->toleration_count);
    read_host_ports(workload, arena, solver);
    struct error error = {0};
    if (!pod_requests_read(snapshot, workload, arena, &shape->requests, &error)) {
        find_broken(shape, error.place, arena_text(arena, text_of(error.what)));
        shape->fault.no_machine = error.kind == ERROR_LIMIT; /* more than can be counted */
    }
}

void pod_needs_read(const struct snapshot *snapshot, const struct workload *workload,
                    const struct pod_scheduling *scheduling, struct arena *arena,
                    struct pod_shape *shape)
{
    *shape = (struct pod_shape){
        .read = true, .solver = {.namespace = terminated(arena, workload->object->namespace)}};
    check_workload(workload, scheduling, arena, shape);
    read_needs(snapshot, workload, scheduling, &scheduling->selection->required, arena, shape);
}

void pod_shape_read(const struct snapshot *snapshot, const struct shape_source *source,
                    struct arena *arena, struct pod_shape *shape)
{
    const struct workload *workload = &source->workload;
    struct pod_scheduling own = pod_scheduling_read(workload, arena), affinity = own;
    *shape = (struct pod_shape){.read = true,
                                .solver = {.namespace = terminated(arena, source->namespace)}};
    struct solver_shape *solver = &shape->solver;
    check_workload(workload, &own, arena, shape);
    if (source->affinity_of != NULL) {
        affinity = pod_scheduling_read(source->affinity_of, arena);
        check_workload(source->affinity_of, &affinity, arena, shape);
    }
    read_needs(snapshot, workload, &own, &affinity.selection->required, arena, shape);
    read_preferred(shape, &own.selection->preferred, arena);
    check_selection(shape, arena);
    struct solver_labels labels = labels_of(node_get(workload->metadata->node, "labels"), arena);
    solver->labels = join(labels, source->more_labels, arena);
    read_topology(own.topology, arena, solver);
}

/* ---- pods of one template ---- */

/* Fields of a Pod's spec that its shape does not come from. */
static bool is_of_one_pod(const struct member *member)
{
    return TEXT_IS_ONE_OF(member_key(member), "nodeName", "volumes", "hostname");
}

static size_t count_compared(const struct node *spec)
{
    size_t count = 0;
    for (size_t i = 0; node_is(spec, NODE_MAP) && i < node_count(spec); i++)
        count += is_of_one_pod(&spec->members[i]) ? 0 : 1;
    return count;
}

static bool specs_agree(const struct node *a, const struct node *b)
{
    bool agree = count_compared(a) == count_compared(b);
    for (size_t i = 0; agree && node_is(a, NODE_MAP) && i < node_count(a); i++) {
        const struct member *member = &a->members[i];
        agree =
            is_of_one_pod(member) || node_equal(&member->value, node_member(b, member_key(member)));
    }
    return agree;
}

/* A resize under way changes what a pod requests. */
static bool statuses_agree(const struct object *a, const struct object *b)
{
    static const char *const lists[] = {"status.containerStatuses", "status.initContainerStatuses"};
    bool agree = object_condition(a, "PodResizePending") == NULL &&
                 object_condition(b, "PodResizePending") == NULL;
    for (size_t i = 0; i < COUNT_OF(lists) && agree; i++)
        agree = node_equal(node_at(a->root->node, lists[i]), node_at(b->root->node, lists[i]));
    return agree;
}

bool pod_shapes_agree(const struct object *a, const struct object *b)
{
    bool stored = a->uid.size > 0; /* the others take defaults of LimitRanges */
    return a->kind == KIND_POD && b->kind == KIND_POD && stored == (b->uid.size > 0) &&
           text_equal(a->namespace, b->namespace) && node_equal(a->labels, b->labels) &&
           specs_agree(node_get(a->root->node, "spec"), node_get(b->root->node, "spec")) &&
           statuses_agree(a, b);
}

/* ---- what the API server adds ---- */

void tolerate_extended_resources(struct solver_shape *shape, const struct named_amounts *requests,
                                 struct arena *arena)
{
    struct solver_toleration *tolerations =
        ARENA_ARRAY(arena, shape->toleration_count + requests->count, struct solver_toleration);
    size_t count = 0;
    for (; count < shape->toleration_count; count++)
        tolerations[count] = shape->tolerations[count];
    for (size_t i = 0; i < requests->count; i++)
        if (resource_is_extended(text_of(requests->items[i].resource)))
            tolerations[count++] = (struct solver_toleration){.key = requests->items[i].resource,
                                                              .exists = true,
                                                              .value = "",
                                                              .effect = SOLVER_NO_SCHEDULE};
    shape->tolerations = tolerations;
    shape->toleration_count = count;
}
