/* The rail disruption-opt-out: pods that keep Karpenter from disrupting their nodes. */
#include "policy/rails/disruption_opt_out.h"

#include "kube/opt_out.h"
#include "kube/pod.h"
#include "policy/reading.h"

struct settings {
    struct key_strings allow_namespaces;
    int64_t max_duration_s; /* 0: none is allowed */
    struct text max_duration;
};

static const struct key keys[] = {
    {.name = "allowNamespaces",
     .type = KEY_GLOBS,
     .offset = offsetof(struct settings, allow_namespaces),
     .summary = "where pods may opt out, for as long as they run"},
    {.name = "maxDuration",
     .type = KEY_DURATION,
     .offset = offsetof(struct settings, max_duration_s),
     .summary = "elsewhere pods may opt out for this long after their start; absent: not at all"},
    {0},
};

/* Names that Karpenter had before v1beta1 and no longer reads. */
static const char *const dead[] = {"karpenter.sh/do-not-evict", "karpenter.sh/do-not-consolidate"};

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    struct settings *settings = settings_pointer;
    settings->max_duration = node_text(node_get(loading->rail_node, "maxDuration"));
}

struct text disruption_opt_out_most(const struct rail_call *call)
{
    const struct settings *settings = rail_settings(call, &rail_disruption_opt_out);
    return settings == NULL ? TEXT("true") : settings->max_duration;
}

static bool is_granted(const struct rail_call *call)
{
    const struct settings *settings = call->settings;
    return texts_match(settings->allow_namespaces.items, settings->allow_namespaces.count,
                       call->object->namespace);
}

/* ---- what ends by itself ---- */

static bool ends_within(const struct node *spec, int64_t most_s)
{
    int64_t deadline_s;
    return node_integer(node_get(spec, "activeDeadlineSeconds"), &deadline_s) &&
           deadline_s <= most_s;
}

/* Whether a deadline of the pod or of its Job ends it in time. */
static bool has_deadline(const struct rail_call *call, const struct workload *workload,
                         bool *unseen)
{
    int64_t most_s = ((const struct settings *)call->settings)->max_duration_s;
    const struct object *object = call->object;
    const struct object *maker = call_maker(call, unseen);
    const struct node *job =
        object->kind == KIND_CRON_JOB ? node_at(object->root->node, "spec.jobTemplate.spec")
        : object->kind == KIND_JOB    ? node_at(object->root->node, "spec")
        : maker != NULL && maker->kind == KIND_JOB ? node_at(maker->root->node, "spec")
                                                   : NULL;
    return ends_within(workload->spec->node, most_s) || ends_within(job, most_s);
}

/* ---- what is said ---- */

/* A Job has no replicas for a PodDisruptionBudget to keep. */
static bool is_of_job(const struct object *object)
{
    return object->kind == KIND_JOB || object->kind == KIND_CRON_JOB ||
           text_is(object->controller.kind, "Job");
}

static struct text fix_of(const struct rail_call *call)
{
    const struct settings *settings = call->settings;
    bool of_job = is_of_job(call->object);
    if (settings->max_duration_s > 0 && of_job)
        return arena_printf(call->arena,
                            "Set the Job's activeDeadlineSeconds to %lld or less, or set it to "
                            "\"%.*s\" with Karpenter 1.12 or newer.",
                            (long long)settings->max_duration_s, TEXT_ARGS(settings->max_duration));
    if (settings->max_duration_s > 0)
        return arena_printf(
            call->arena, "Set it to \"%.*s\" or less, with Karpenter 1.12 or newer, or remove it.",
            TEXT_ARGS(settings->max_duration));
    if (of_job)
        return TEXT("Remove it, if the Job may begin again; else ask for its namespace to be "
                    "added to allowNamespaces.");
    return TEXT("Remove it; a PodDisruptionBudget keeps enough replicas while nodes are replaced.");
}

static void judge_opt_out(struct rail_call *call, const struct workload *workload,
                          const struct field *field)
{
    const struct settings *settings = call->settings;
    struct text value = node_string(field->node);
    double duration_ns = 0;
    bool for_good = text_is(value, "true");
    if (text_is(value, "false") || !node_is(field->node, NODE_STRING))
        return;
    if (!for_good && !opt_out_duration(value, &duration_ns)) {
        report(call, SEVERITY_WARN, field, fix_of(call),
               OPT_OUT " \"%.*s\" does nothing. Karpenter reads \"true\" or a duration.",
               TEXT_ARGS(value));
        return;
    }
    bool unseen = false;
    if (is_granted(call) || (!for_good && duration_ns <= 1e9 * (double)settings->max_duration_s) ||
        has_deadline(call, workload, &unseen))
        return;
    /* Its Job was judged, and may have a deadline. */
    bool may_end = unseen && is_of_job(call->object) && settings->max_duration_s > 0;
    struct text why = TEXT("That is not granted here.");
    if (settings->max_duration_s > 0)
        why = arena_printf(call->arena, "At most %.*s is granted here.",
                           TEXT_ARGS(settings->max_duration));
    report(call, may_end ? SEVERITY_WARN : SEVERITY_RAIL, field, fix_of(call),
           "The pod keeps its node from being replaced %s%.*s. %.*s",
           for_good ? "while it runs" : "for ", TEXT_ARGS(for_good ? TEXT("") : value),
           TEXT_ARGS(why));
}

static void judge_dead(struct rail_call *call, const struct field *annotations)
{
    for (size_t i = 0; i < COUNT_OF(dead); i++) {
        const struct field *field = field_get(call->arena, annotations, dead[i]);
        if (field->node != NULL && !text_is(node_text(field->node), "false"))
            report_found(call, SEVERITY_RAIL, field, text_of(dead[i]),
                         is_granted(call) ? TEXT("Write " OPT_OUT " instead.") : TEXT("Remove it."),
                         "Karpenter no longer reads %s.", dead[i]);
    }
}

/* Where Karpenter does not look: place says what it is there. */
static void judge_misplaced(struct rail_call *call, const struct workload *workload,
                            const struct field *map, struct text place)
{
    struct arena *arena = call->arena;
    const struct field *field = field_get(arena, map, OPT_OUT);
    if (field->node == NULL || text_is(node_text(field->node), "false"))
        return;
    struct text right = field_path(arena, field_get(arena, workload->metadata, "annotations"));
    report(call, SEVERITY_WARN, field,
           arena_printf(arena, "Remove it, or, where it is granted, put it under %.*s.",
                        TEXT_ARGS(right)),
           OPT_OUT " does nothing %.*s.", TEXT_ARGS(place));
}

static void judge(struct rail_call *call)
{
    struct arena *arena = call->arena;
    struct workload workload;
    if (!call_workload(call, &workload))
        return;
    const struct field *annotations = field_get(arena, workload.metadata, "annotations");
    const struct field *field = field_get(arena, annotations, OPT_OUT);
    judge_opt_out(call, &workload, field);
    judge_dead(call, annotations);
    judge_misplaced(call, &workload, field_get(arena, workload.metadata, "labels"),
                    TEXT("as a label, since Karpenter reads it as an annotation"));
    if (call->object->kind != KIND_POD)
        judge_misplaced(call, &workload,
                        field_at(arena, call->object->root, "metadata.annotations"),
                        arena_printf(arena, "on a %.*s, since Karpenter reads it on pods",
                                     TEXT_ARGS(call->object->kind_name)));
}

const struct rail rail_disruption_opt_out = {
    .name = "disruption-opt-out",
    .summary = "pods that keep their nodes only where it is granted",
    .detail =
        "A pod annotated " OPT_OUT ": \"true\" keeps its node: Karpenter "
        "neither consolidates nor drifts it while the pod runs. One such pod in every node, and "
        "patches and savings stop. In allowNamespaces pods may say so; elsewhere a duration of at "
        "most maxDuration, counted from the pod's start (Karpenter 1.12 or newer reads it), or a "
        "pod "
        "or Job whose activeDeadlineSeconds is no more than that, will do for what must not be "
        "interrupted.\n\n"
        "Found are also karpenter.sh/do-not-evict and do-not-consolidate, which Karpenter has not "
        "read since v1beta1, in all namespaces; and, as warnings, a value that does nothing, the "
        "annotation on a Deployment or another workload where it belongs on the pod template, and "
        "the same written as a label.",
    .example = "disruption-opt-out:\n"
               "  mode: enforce\n"
               "  allowNamespaces: [batch-*]\n"
               "  maxDuration: 12h\n",
    .kinds = KINDS_WORKLOADS,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .prepare = prepare,
    .judge = judge,
};
