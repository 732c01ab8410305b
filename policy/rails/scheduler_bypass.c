/* The rail scheduler-bypass: pods that pass kube-scheduler by. */
#include "policy/rails/scheduler_bypass.h"

#include "kube/placeholder.h"
#include "policy/policy_set.h"
#include "policy/reading.h"
#include "solver/well_known.h"

static const struct key keys[] = {
    {.name = "allowNodeName",
     .type = KEY_BOOL,
     .offset = offsetof(struct scheduler_bypass, allow_node_name),
     .summary = "let pods name the node they run on",
     .default_value = "false"},
    {.name = "schedulers",
     .type = KEY_STRINGS,
     .offset = offsetof(struct scheduler_bypass, schedulers),
     .summary = "the schedulers that run in this cluster",
     .default_value = "[default-scheduler, fargate-scheduler]",
     .minimum = 1},
    {.name = "nodeClaimAccounts",
     .type = KEY_ACCOUNTS,
     .offset = offsetof(struct scheduler_bypass, node_claim_accounts),
     .summary = "Karpenter's service accounts, NAMESPACE/NAME as globs: NodeClaims of all others "
                "are found; where none is named, those that a person makes are warned of",
     .minimum = 1},
    {0},
};

static bool is_listed(const struct scheduler_bypass *settings, struct text scheduler)
{
    return texts_have(settings->schedulers.items, settings->schedulers.count, scheduler);
}

bool scheduler_is_named(const struct world *world, struct text scheduler)
{
    FOR_EACH(policy, world->policies) {
        for (size_t j = 0; j < policy->rail_count; j++)
            if (policy->rails[j].rail == &rail_scheduler_bypass &&
                is_listed(policy->rails[j].settings, scheduler))
                return true;
    }
    return false;
}

/* The API server adds this volume to each Pod before it asks webhooks, and nobody writes it: in a
 * file it tells of a dump. */
static bool has_token_volume(const struct node *volumes)
{
    FOR_ITEMS(volume, volumes)
        if (text_starts_with(node_string(node_get(volume, "name")), TEXT("kube-api-access-")))
            return true;
    return false;
}

/* No scheduler looks at a Pod that waits at a gate, and until then an update may add a selector. On
 * UPDATE the old one tells. */
static bool waits_at_gate(const struct rail_call *call)
{
    const struct object *old = call->subject->old_object;
    const struct object *pod = old != NULL ? old : call->object;
    return node_count(node_at(pod->root->node, "spec.schedulingGates")) > 0;
}

/* A Pod that has been placed carries its node's name, whoever wrote it: only before that it tells
 * of somebody's hand. Of a Pod that is created the API server drops the status, so that what has
 * one is a dump. Mirror pods stand for what a kubelet runs by itself: no kubelet runs one that it
 * has not made. */
static bool is_settled(const struct rail_call *call)
{
    const struct subject *subject = call->subject;
    if (call->object->kind != KIND_POD || waits_at_gate(call))
        return false;
    bool is_new = subject->operation == OPERATION_CREATE && !subject->existing &&
                  !object_is_of_file(call->object);
    const struct node *root = call->object->root->node;
    struct text phase = node_string(node_at(root, "status.phase"));
    return (phase.size > 0 && !text_is(phase, "Pending")) || /* it runs, or has run */
           node_at(root, "status.conditions") != NULL ||
           node_at(root, "status.startTime") != NULL ||
           node_get(node_at(root, "metadata.annotations"), "kubernetes.io/config.mirror") != NULL ||
           (!is_new && has_token_volume(node_at(root, "spec.volumes")));
}

/* ---- a node that is named ---- */

static void judge_node_name(struct rail_call *call, const struct workload *workload)
{
    const struct field *field = field_get(call->arena, workload->spec, "nodeName");
    struct text name = node_string(field->node);
    if (name.size == 0 || is_settled(call) || text_has_placeholder(name))
        return;
    report_found(call, SEVERITY_RAIL, field, name,
                 TEXT("Remove nodeName, and select nodes by their labels."),
                 "The pod names its node \"%.*s\", so no scheduler looks whether it fits there. "
                 "When the node is replaced, the pod gets no other.",
                 TEXT_ARGS(name));
}

/* metadata.name is the only field there is, and only In leads to a node: NotIn keeps off one. */
static void judge_match_field(struct rail_call *call, const struct field *match)
{
    struct arena *arena = call->arena;
    const struct field *value = field_item(arena, field_get(arena, match, "values"), 0);
    struct text name = node_string(value->node);
    if (!text_is(node_string(node_get(match->node, "key")), "metadata.name") ||
        !text_is(node_string(node_get(match->node, "operator")), "In") || name.size == 0)
        return;
    report_found(call, SEVERITY_RAIL, value, name,
                 TEXT("Remove matchFields, and select nodes by their labels."),
                 "The pod may run on node \"%.*s\" alone, and Karpenter buys no other for it. When "
                 "the node is replaced, the pod stays Pending.",
                 TEXT_ARGS(name));
}

static void judge_match_fields(struct rail_call *call, const struct workload *workload)
{
    struct arena *arena = call->arena;
    /* daemon-set-controller names the node of each pod it makes. */
    if (call->object->kind == KIND_POD && is_of_daemon_set(call))
        return;
    const struct node_selection *selection = call_selection(call, workload);
    for (size_t i = 0; i < selection->required.count; i++) {
        const struct field *matches =
            field_get(arena, selection->required.items[i].field, "matchFields");
        FOR_FIELDS(match, arena, matches)
            judge_match_field(call, match);
    }
}

/* The label that a kubelet gives to its node alone. Replicas, and whatever Karpenter buys, have no
 * other node; a DaemonSet may have a reason. */
static bool is_of_one_host(const struct expression *expression)
{
    return expression->valid && expression->op == SOLVER_IN &&
           text_is(expression_canonical_key(expression), LABEL_HOSTNAME);
}

static bool names_hosts(const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (is_of_one_host(expression))
            return true;
    return false;
}

static bool selects_hosts(const struct node_selection *selection)
{
    FOR_EACH(term, &selection->required)
        if (names_hosts(&term->expressions))
            return true;
    return names_hosts(&selection->selector);
}

static void judge_host_names(struct rail_call *call, const struct expressions *expressions)
{
    FOR_EACH(expression, expressions) {
        if (!is_of_one_host(expression))
            continue;
        struct text name = expression->values[0].text;
        report_found(call, SEVERITY_WARN,
                     expression_value_field(&expression->values[0], call->arena), name,
                     TEXT("Select nodes by the labels of what the pod needs."),
                     "The pod selects one node by name (\"%.*s\"), and Karpenter buys no other for "
                     "it. When the node is replaced, the pod stays Pending.",
                     TEXT_ARGS(name));
    }
}

static void judge_host_name_selection(struct rail_call *call, const struct workload *workload)
{
    const struct node_selection *selection = call_selection(call, workload);
    if (!selects_hosts(selection) || is_of_daemon_set(call) || is_settled(call))
        return;
    judge_host_names(call, &selection->selector);
    FOR_EACH(term, &selection->required)
        judge_host_names(call, &term->expressions);
}

/* ---- a scheduler ---- */

/* How many edits are a typo. "my-scheduler" is near to "kai-scheduler" without being meant, since
 * what most schedulers' names end with tells nothing; so is "hami-scheduler", that of another
 * project. A typo is denied: these are fewer edits than those of text_meant. */
static size_t edits_of_a_typo(struct text scheduler)
{
    enum { EDITS_MAX = 3, LETTERS_AN_EDIT = 3 };
    const struct text end = TEXT("-scheduler");
    size_t size = scheduler.size - (text_ends_with(scheduler, end) ? end.size : 0);
    return size / LETTERS_AN_EDIT < EDITS_MAX ? size / LETTERS_AN_EDIT : EDITS_MAX;
}

static void judge_scheduler(struct rail_call *call, const struct scheduler_bypass *settings,
                            const struct workload *workload)
{
    struct arena *arena = call->arena;
    const struct field *field = field_get(arena, workload->spec, "schedulerName");
    struct text scheduler = node_string(field->node);
    if (scheduler.size == 0 || is_listed(settings, scheduler))
        return;
    const struct allowed schedulers = ALLOWED_LIST(&settings->schedulers);
    size_t edits = edits_of_a_typo(scheduler);
    bool misspelt = edits > 0 && text_nearest(scheduler, schedulers.items, schedulers.count,
                                              edits) < schedulers.count;
    report_as(call, misspelt || settings->schedulers.given ? SEVERITY_RAIL : SEVERITY_WARN,
              .field = field, .found = scheduler,
              .statement = arena_printf(arena,
                                        "The policy lists no scheduler \"%.*s\". If none of that "
                                        "name runs, the pod stays Pending without an event.",
                                        TEXT_ARGS(scheduler)),
              .allowed = schedulers, .nearest_to = scheduler,
              .fix = TEXT("Name it under schedulers in the policy if it runs, or remove "
                          "schedulerName."),
              .typo_edits = edits);
}

/* ---- a NodeClaim that Karpenter has not made ---- */

/* The API server drops the status of what is created: what has one is there already, and a dump of
 * it says nothing of who made it. */
static bool is_launched(const struct object *claim)
{
    const struct node *root = claim->root->node;
    return node_at(root, "status.conditions") != NULL || node_at(root, "status.providerID") != NULL;
}

/* Service accounts, the control plane, and what a cloud runs beside it. */
static bool is_person(const struct requester *requester)
{
    return !text_starts_with(requester->name, TEXT("system:")) &&
           !text_starts_with(requester->name, TEXT("eks:"));
}

static bool is_made_by_karpenter(const struct rail_call *call,
                                 const struct scheduler_bypass *settings)
{
    const struct subject *subject = call->subject;
    if (subject->existing)
        return node_get(call->object->labels, LABEL_NODE_POOL) != NULL;
    if (settings->node_claim_accounts.given)
        return requester_is_account(&subject->requester, &settings->node_claim_accounts);
    return !is_person(&subject->requester) || is_launched(call->object);
}

static void judge_node_claim(struct rail_call *call, const struct scheduler_bypass *settings)
{
    bool who_is_known = settings->node_claim_accounts.given && !call->subject->existing;
    if (is_made_by_karpenter(call, settings))
        return;
    report_found(call, who_is_known ? SEVERITY_RAIL : SEVERITY_WARN,
                 field_at(call->arena, call->object->root, "metadata.name"), call->object->name,
                 TEXT("Let Karpenter make it: change a NodePool, or add one."),
                 "Karpenter did not make this NodeClaim. It buys a machine that no "
                 "NodePool's requirements, limits and budgets hold for.");
}

/* ---- the whole ---- */

static void judge(struct rail_call *call)
{
    const struct scheduler_bypass *settings = call->settings;
    struct workload workload;
    if (call->object->kind == KIND_NODE_CLAIM) {
        judge_node_claim(call, settings);
        return;
    }
    if (!call_workload(call, &workload))
        return;
    if (!settings->allow_node_name) {
        judge_node_name(call, &workload);
        judge_match_fields(call, &workload);
        judge_host_name_selection(call, &workload);
    }
    judge_scheduler(call, settings, &workload);
}

const struct rail rail_scheduler_bypass = {
    .name = "scheduler-bypass",
    .summary = "pods placed by a scheduler that runs, not by hand",
    .detail =
        "A pod with nodeName goes to that node whether it fits or not: the scheduler, taints, "
        "volumes' zones and topology are not asked, and Karpenter buys nothing for it. When the "
        "node is replaced the name leads nowhere. A schedulerName that nobody runs leaves the pod "
        "pending without an event. Which schedulers run cannot be seen: one that the policy does "
        "not name is found in the rail's own mode where schedulers is given or the name is a "
        "misspelling, and warned of where the list is the default.\n\n"
        "Found are both, in templates and in Pods that are created; Pods that have been placed "
        "carry their node's name rightly, and mirror pods are the kubelet's. The schedulers named "
        "here are also those for whose pods zone-pin chooses zones.\n\n"
        "Selecting kubernetes.io/hostname is warned of: the pod then has one node and no other. "
        "Required node affinity with matchFields, metadata.name In, is nodeName by another way, "
        "and allowNodeName is for both. The node that daemon-set-controller writes into a pod is "
        "no finding; one that is written into the template of a DaemonSet is.\n\n"
        "A NodeClaim is made by Karpenter, from a NodePool. One that a person makes buys a machine "
        "that no NodePool's requirements, limits and budgets hold for: it is warned of. With "
        "nodeClaimAccounts only those accounts make NodeClaims, and one by anybody else is found "
        "in the rail's own mode. The webhook is asked of NodeClaims with failurePolicy Ignore, "
        "whatever it has for the rest, since it may need those nodes itself.",
    .example = "scheduler-bypass:\n"
               "  mode: enforce\n"
               "  schedulers: [default-scheduler, volcano]\n"
               "  nodeClaimAccounts: [karpenter/karpenter]\n",
    .kinds = KINDS_WORKLOADS | KIND_BIT(KIND_NODE_CLAIM),
    .keys = keys,
    .settings_size = sizeof(struct scheduler_bypass),
    .judge = judge,
};
