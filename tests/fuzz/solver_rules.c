/* Checks a plan against the rules of pods, written independently from Kubernetes' documentation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver_check.h"

/* ---- labels and taints ---- */

const char *label_value(const struct solver_labels *labels, const char *key)
{
    for (size_t i = 0; i < labels->count; i++)
        if (strcmp(labels->items[i].key, key) == 0)
            return labels->items[i].value;
    return NULL;
}

static bool label_meets(const struct solver_labels *labels,
                        const struct solver_expression *expression)
{
    const char *value = label_value(labels, expression->key);
    int64_t number, bound;
    bool among = false;
    for (size_t i = 0; i < expression->value_count; i++)
        among |= value != NULL && strcmp(value, expression->values[i]) == 0;
    switch (expression->op) {
    case SOLVER_IN: /* in nothing: there is none, says Karpenter */
        return among || (expression->value_count == 0 && value == NULL);
    case SOLVER_NOT_IN:
        return !among;
    case SOLVER_EXISTS:
        return value != NULL;
    case SOLVER_DOES_NOT_EXIST:
        return value == NULL;
    default:
        if (value == NULL || !text_to_int64(text_of(value), &number) ||
            !text_to_int64(text_of(expression->values[0]), &bound))
            return false;
        return expression->op == SOLVER_GT ? number > bound : number < bound;
    }
}

bool labels_meet(const struct solver_labels *labels, const struct solver_expressions *expressions)
{
    for (size_t i = 0; i < expressions->count; i++)
        if (!label_meets(labels, &expressions->items[i]))
            return false;
    return true;
}

/* As the API server and Karpenter take it: written as it is printed. */
static bool is_whole_number(const char *written, int64_t *number)
{
    char printed[32];
    *number = strtoll(written, NULL, 10);
    snprintf(printed, sizeof printed, "%lld", (long long)*number);
    return strcmp(written, printed) == 0;
}

static bool value_tolerated(const struct solver_taint *taint,
                            const struct solver_toleration *toleration)
{
    int64_t is, bound;
    if (toleration->exists)
        return true;
    if (!toleration->gt && !toleration->lt)
        return strcmp(toleration->value, taint->value) == 0;
    return is_whole_number(taint->value, &is) && is_whole_number(toleration->value, &bound) &&
           (toleration->gt ? is > bound : is < bound);
}

static bool tolerated(const struct solver_taint *taint, const struct solver_shape *shape)
{
    if (taint->effect == SOLVER_PREFER_NO_SCHEDULE)
        return true;
    for (size_t i = 0; i < shape->toleration_count; i++) {
        const struct solver_toleration *toleration = &shape->tolerations[i];
        if ((toleration->any_effect || toleration->effect == taint->effect) &&
            (toleration->key[0] == '\0' || strcmp(toleration->key, taint->key) == 0) &&
            value_tolerated(taint, toleration))
            return true;
    }
    return false;
}

/* ---- a pod and its machine ---- */

static size_t times_in(const struct solver_expressions *expressions, const char *key)
{
    size_t times = 0;
    for (size_t i = 0; i < expressions->count; i++)
        times += strcmp(expressions->items[i].key, key) == 0;
    return times;
}

/* Whether the pod says more than one thing of a key. Karpenter then judges what they come to, in
 * which Exists is lost, and nothing at all means that there must be no such label: a node without
 * the label may pass. */
static bool is_manifold(const struct solver_shape *shape, const char *key)
{
    size_t times = label_value(&shape->node_selector, key) != NULL;
    for (size_t i = 0; i < shape->required_count; i++)
        times += times_in(&shape->required[i], key);
    for (size_t i = 0; i < shape->preferred_count; i++)
        times += times_in(&shape->preferred[i].expressions, key);
    for (size_t i = 0; i < shape->volume_count; i++)
        for (size_t j = 0; j < shape->volumes[i].alternative_count; j++)
            times += times_in(&shape->volumes[i].alternatives[j], key);
    return times > 1;
}

static bool machine_meets(const struct checking *checking, const struct machine *machine,
                          const struct solver_shape *shape,
                          const struct solver_expressions *expressions)
{
    for (size_t i = 0; i < expressions->count; i++) {
        const struct solver_expression *expression = &expressions->items[i];
        if (machine->claim != NULL ? !claim_keeps(checking, machine, expression)
                                   : !label_meets(&machine->node->labels, expression) &&
                                         (label_value(&machine->node->labels, expression->key) ||
                                          !is_manifold(shape, expression->key)))
            return false;
    }
    return true;
}

static bool any_meets(const struct checking *checking, const struct machine *machine,
                      const struct solver_shape *shape,
                      const struct solver_expressions *alternatives, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (machine_meets(checking, machine, shape, &alternatives[i]))
            return true;
    return count == 0;
}

static void check_selectors(const struct checking *checking, const struct machine *machine,
                            const struct solver_shape *shape)
{
    for (size_t i = 0; i < shape->node_selector.count; i++) {
        const struct solver_label *label = &shape->node_selector.items[i];
        const struct solver_expression expression = {
            .key = label->key, .op = SOLVER_IN, .values = &label->value, .value_count = 1};
        REQUIRE(
            machine_meets(checking, machine, shape, &(struct solver_expressions){&expression, 1}));
    }
    REQUIRE(any_meets(checking, machine, shape, shape->required, shape->required_count));
    for (size_t i = 0; i < shape->volume_count; i++)
        REQUIRE(any_meets(checking, machine, shape, shape->volumes[i].alternatives,
                          shape->volumes[i].alternative_count));
}

static bool any_address(const char *ip)
{
    return ip[0] == '\0' || strcmp(ip, "0.0.0.0") == 0 || strcmp(ip, "::") == 0;
}

static void check_ports(const struct solver_shape *a, const struct solver_shape *b)
{
    for (size_t i = 0; i < a->host_port_count; i++)
        for (size_t j = 0; j < b->host_port_count; j++) {
            const struct solver_host_port *x = &a->host_ports[i], *y = &b->host_ports[j];
            REQUIRE(x->port != y->port || strcmp(x->protocol, y->protocol) != 0 ||
                    (!any_address(x->ip) && !any_address(y->ip) && strcmp(x->ip, y->ip) != 0));
        }
}

/* How many claims of a driver are attached, each once. */
static size_t attached(const struct checking *checking, const struct machine *machine,
                       const char *driver, bool *by_new)
{
    const char **claims = ARENA_ARRAY(checking->arena, 64, const char *);
    size_t count = 0;
    for (size_t i = 0; i < machine->resident_count; i++) {
        const struct solver_pod *pod = machine->residents[i].pod;
        for (size_t j = 0; j < pod->mount_count; j++) {
            const struct solver_mount *mount = &pod->mounts[j];
            bool known = mount->driver == NULL || strcmp(mount->driver, driver) != 0;
            *by_new |= !known && machine->residents[i].is_new;
            for (size_t k = 0; k < count; k++)
                known |= strcmp(claims[k], mount->claim) == 0;
            if (!known)
                claims[count++] = mount->claim;
        }
    }
    return count;
}

static void check_attached(const struct checking *checking, const struct machine *machine,
                           const struct solver_attach_limit *limits, size_t limit_count)
{
    for (size_t i = 0; i < limit_count; i++) {
        bool by_new = false;
        size_t count = attached(checking, machine, limits[i].driver, &by_new);
        REQUIRE(!by_new || count <= limits[i].count);
    }
}

void check_rules(const struct checking *checking, const struct machine *machine)
{
    for (size_t i = 0; i < machine->resident_count; i++) {
        const struct resident *resident = &machine->residents[i];
        if (!resident->is_new)
            continue;
        for (size_t j = 0; j < machine->taints.count; j++)
            REQUIRE(tolerated(&machine->taints.items[j], resident->shape));
        check_selectors(checking, machine, resident->shape);
        for (size_t j = 0; j < machine->resident_count; j++)
            if (j != i)
                check_ports(resident->shape, machine->residents[j].shape);
    }
    if (machine->node != NULL)
        check_attached(checking, machine, machine->node->attach_limits,
                       machine->node->attach_limit_count);
    for (size_t i = 0; machine->claim != NULL && i < machine->claim->type_count; i++) {
        const struct solver_instance_type *type =
            &checking->input->types[checking->built->types.indices[machine->claim->types[i]]];
        check_attached(checking, machine, type->attach_limits, type->attach_limit_count);
    }
}

/* ---- between pods ---- */

static bool selects(const struct solver_selector *selector, const struct solver_labels *labels)
{
    return selector->kind == SOLVER_SELECTOR_GIVEN && labels_meet(labels, &selector->expressions);
}

static bool term_selects(const struct checking *checking, const struct solver_shape *owner,
                         const struct solver_pod_affinity *term, const struct solver_shape *other)
{
    const struct solver_case *input = checking->input;
    bool here = term->namespace_count == 0 &&
                term->namespace_selector.kind == SOLVER_SELECTOR_ABSENT &&
                strcmp(owner->namespace, other->namespace) == 0;
    for (size_t i = 0; i < term->namespace_count; i++)
        here |= strcmp(term->namespaces[i], other->namespace) == 0;
    for (size_t i = 0; i < input->namespace_count; i++)
        here |= strcmp(input->namespaces[i].name, other->namespace) == 0 &&
                selects(&term->namespace_selector, &input->namespaces[i].labels);
    return here && selects(&term->selector, &other->labels);
}

/* Both may be in one domain of the key; false also when the key is none that we follow. */
static bool may_share(const struct machine *a, const struct machine *b, const char *key)
{
    if (strcmp(key, HOSTNAME) == 0)
        return a == b;
    if (strcmp(key, ZONE) != 0)
        return false;
    for (size_t i = 0; i < a->zone_count; i++)
        for (size_t j = 0; j < b->zone_count; j++)
            if (a->zones[i] == b->zones[j])
                return true;
    return false;
}

/* One pod's required term against another pod. */
static void check_apart(const struct checking *checking, const struct machine *machine,
                        const struct resident *owner, const struct machine *other_machine,
                        const struct resident *other)
{
    for (size_t i = 0; i < owner->shape->affinity_count; i++) {
        const struct solver_pod_affinity *term = &owner->shape->affinities[i];
        if (term->anti && term->required && may_share(machine, other_machine, term->key))
            REQUIRE(!term_selects(checking, owner->shape, term, other->shape));
    }
}

static void check_pair(const struct checking *checking, const struct machine *a,
                       const struct resident *x, const struct machine *b, const struct resident *y)
{
    if ((x->is_new || y->is_new) && !x->pod->leaving && !y->pod->leaving)
        check_apart(checking, a, x, b, y);
}

/* A volume that is not bound yet will be in one zone: pods that share it come to one where plans
 * are looked for that kube-scheduler accepts, too. */
static void check_shared_volume(const struct machine *a, const struct resident *x,
                                const struct machine *b, const struct resident *y)
{
    for (size_t i = 0; i < x->pod->mount_count && x->is_new && y->is_new; i++)
        for (size_t j = 0; j < y->pod->mount_count; j++) {
            const struct solver_mount *one = &x->pod->mounts[i], *other = &y->pod->mounts[j];
            if (one->binds && other->binds && strcmp(one->claim, other->claim) == 0 &&
                a->zone_count > 0 && b->zone_count > 0)
                REQUIRE(may_share(a, b, ZONE));
        }
}

static bool optimizes(const struct solver_settings *settings)
{
    const struct solver_optimize *wanted = &settings->optimize;
    return wanted->joint_zones || wanted->spread_in_one || wanted->exact_limits ||
           wanted->best_fit || wanted->cheapest;
}

/* Every pod against every other; affinities need one that they select in the domain, or to select
 * the pod itself. */
static void check_pod(const struct checking *checking, const struct machine *machine,
                      const struct resident *pod)
{
    bool *met = ARENA_ARRAY(checking->arena, pod->shape->affinity_count, bool);
    for (size_t i = 0; i < checking->machine_count; i++) {
        const struct machine *other_machine = &checking->machines[i];
        for (size_t j = 0; j < other_machine->resident_count; j++) {
            const struct resident *other = &other_machine->residents[j];
            if (other == pod)
                continue;
            check_pair(checking, machine, pod, other_machine, other);
            if (optimizes(&checking->input->settings))
                check_shared_volume(machine, pod, other_machine, other);
            for (size_t k = 0; k < pod->shape->affinity_count; k++)
                met[k] |=
                    may_share(machine, other_machine, pod->shape->affinities[k].key) &&
                    term_selects(checking, pod->shape, &pod->shape->affinities[k], other->shape);
        }
    }
    for (size_t k = 0; pod->is_new && k < pod->shape->affinity_count; k++) {
        const struct solver_pod_affinity *term = &pod->shape->affinities[k];
        bool followed = strcmp(term->key, HOSTNAME) == 0 ||
                        (strcmp(term->key, ZONE) == 0 && machine->zone_count > 0);
        if (followed && term->required && !term->anti &&
            term->selector.kind != SOLVER_SELECTOR_ABSENT)
            REQUIRE(met[k] || term_selects(checking, pod->shape, term, pod->shape));
    }
}

/* At most maxSkew pods of a shape that spreads over hosts and counts itself are on one; but where a
 * pod may give up a required term, or come to tolerate PreferNoSchedule, Karpenter counts anew. */
static void check_hosts(const struct machine *machine, const struct resident *pod)
{
    for (size_t i = 0; i < pod->shape->spread_count; i++) {
        const struct solver_spread *spread = &pod->shape->spreads[i];
        int32_t count = 0;
        if (!pod->is_new || !spread->hard || strcmp(spread->key, HOSTNAME) != 0 ||
            !selects(&spread->selector, &pod->shape->labels))
            continue;
        for (size_t j = 0; j < machine->resident_count; j++)
            count += machine->residents[j].shape == pod->shape && machine->residents[j].is_new;
        int64_t counted_anew = 1 + (int64_t)pod->shape->required_count;
        REQUIRE(count <= spread->max_skew * (1 + counted_anew));
    }
}

void check_topology(const struct checking *checking)
{
    for (size_t i = 0; i < checking->machine_count; i++)
        for (size_t j = 0; j < checking->machines[i].resident_count; j++) {
            check_pod(checking, &checking->machines[i], &checking->machines[i].residents[j]);
            check_hosts(&checking->machines[i], &checking->machines[i].residents[j]);
        }
}
