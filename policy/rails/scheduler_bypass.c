#include "policy/rails/scheduler_bypass.h"

#include "policy/policy_set.h"

struct settings {
    bool allow_node_name;
    struct key_strings schedulers;
};

static const struct key keys[] = {
    {.name = "allowNodeName",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, allow_node_name),
     .summary = "let pods name the node they run on",
     .default_value = "false"},
    {.name = "schedulers",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, schedulers),
     .summary = "the schedulers that run in this cluster",
     .default_value = "[default-scheduler, fargate-scheduler]",
     .minimum = 1},
    {0},
};

static bool is_listed(const struct settings *settings, struct text scheduler)
{
    for (size_t i = 0; i < settings->schedulers.count; i++)
        if (text_equal(settings->schedulers.items[i], scheduler))
            return true;
    return false;
}

bool scheduler_is_named(const struct world *world, struct text scheduler)
{
    for (size_t i = 0; i < world->policies->count; i++) {
        const struct policy *policy = &world->policies->items[i];
        for (size_t j = 0; j < policy->rail_count; j++)
            if (policy->rails[j].rail == &rail_scheduler_bypass &&
                is_listed(policy->rails[j].settings, scheduler))
                return true;
    }
    return false;
}

/* A Pod that has been placed carries its node's name, whoever wrote it: only before that it tells
 * of somebody's hand. Mirror pods stand for what a kubelet runs by itself. */
static bool is_settled(const struct object *object)
{
    if (object->kind != KIND_POD)
        return false;
    const struct node *root = object->root->node;
    return node_at(root, "status.conditions") != NULL ||
           node_at(root, "status.startTime") != NULL ||
           node_get(node_at(root, "metadata.annotations"), "kubernetes.io/config.mirror") != NULL;
}

static void judge_node_name(struct judgement *judgement, const struct workload *workload)
{
    const struct field *field = field_get(judgement->arena, workload->spec, "nodeName");
    struct text name = node_string(field->node);
    if (name.size == 0 || is_settled(judgement->object))
        return;
    judgement_report(judgement, &(struct draft){
                                    .field = field,
                                    .found = name,
                                    .statement = arena_printf(
                                        judgement->arena,
                                        "found \"%.*s\": no scheduler looks whether the pod fits "
                                        "there, and when the node is replaced the name is gone",
                                        TEXT_ARGS(name)),
                                    .fix = TEXT("remove nodeName and select nodes by their labels"),
                                });
}

static void advise_meant(struct draft *draft, struct arena *arena)
{
    enum { TYPO_EDITS = 3 };
    if (text_distance(draft->allowed[0], draft->found, TYPO_EDITS) > TYPO_EDITS)
        return;
    draft->fix = arena_printf(arena, "replace with %.*s", TEXT_ARGS(draft->allowed[0]));
    draft->replacement = draft->allowed[0];
}

static void judge_scheduler(struct judgement *judgement, const struct settings *settings,
                            const struct workload *workload)
{
    struct arena *arena = judgement->arena;
    const struct field *field = field_get(arena, workload->spec, "schedulerName");
    struct text scheduler = node_string(field->node);
    if (scheduler.size == 0 || is_listed(settings, scheduler))
        return;
    judgement_report(judgement,
                     &(struct draft){
                         .field = field,
                         .found = scheduler,
                         .statement = arena_printf(
                             arena,
                             "found \"%.*s\", a scheduler that nobody runs: the pod would wait "
                             "for ever",
                             TEXT_ARGS(scheduler)),
                         .allowed = settings->schedulers.items,
                         .allowed_count = settings->schedulers.count,
                         .nearest_to = scheduler,
                         .fix = TEXT("remove schedulerName"),
                         .advise = advise_meant,
                     });
}

static void judge(struct judgement *judgement, const void *settings_pointer)
{
    const struct settings *settings = settings_pointer;
    struct workload workload;
    if (!workload_read(judgement->object, judgement->arena, &workload))
        return;
    if (!settings->allow_node_name)
        judge_node_name(judgement, &workload);
    judge_scheduler(judgement, settings, &workload);
}

const struct rail rail_scheduler_bypass = {
    .name = "scheduler-bypass",
    .summary = "pods placed by a scheduler that runs, not by hand",
    .detail =
        "A pod with nodeName goes to that node whether it fits or not: the scheduler, taints, "
        "volumes' zones and topology are not asked, and Karpenter buys nothing for it. When the "
        "node is replaced the name leads nowhere. A schedulerName that nobody runs leaves the pod "
        "pending without an event.\n\n"
        "Found are both, in templates and in Pods that are created; Pods that have been placed "
        "carry their node's name rightly, and mirror pods are the kubelet's. The schedulers named "
        "here are also those for whose pods zone-pin chooses zones.",
    .example = "scheduler-bypass:\n"
               "  mode: enforce\n"
               "  schedulers: [default-scheduler, volcano]\n",
    .kinds = KINDS_WORKLOADS,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judge = judge,
};
