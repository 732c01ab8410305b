/* The rail tolerations: which taints a workload may tolerate. */
#include "policy/rails/tolerations.h"

#include "kube/device.h"
#include "kube/label.h"
#include "kube/placeholder.h"
#include "kube/pod.h"
#include "kube/taint.h"
#include "policy/policy_set.h"
#include "policy/rails/accelerators.h"
#include "policy/reading.h"

struct settings {
    struct key_strings allow;
};

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_GLOBS,
     .offset = offsetof(struct settings, allow),
     .summary = "the taints that may be tolerated, as KEY, KEY=VALUE, KEY:EFFECT or "
                "KEY=VALUE:EFFECT; \"*\" grants all of them at once. Absent: any that is named"},
    {0},
};

static const struct text effects[] = {TEXT("NoSchedule"), TEXT("NoExecute"),
                                      TEXT("PreferNoSchedule")};

/* What is granted: a taint, of which value and effect may be left open. */
struct toleration_grant {
    struct text key, value, effect; /* data NULL: any */
};

static struct toleration_grant read_grant(struct text written)
{
    struct toleration_grant grant = {0};
    struct text rest = written;
    text_split_last(written, ':', &rest, &grant.effect);
    if (!text_split(rest, '=', &grant.key, &grant.value))
        grant.key = rest;
    return grant;
}

static bool is_effect(struct text t)
{
    return texts_have(effects, COUNT_OF(effects), t);
}

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    enum { EFFECT_EDITS = 4 };
    const struct settings *settings = settings_pointer;
    for (size_t i = 0; i < settings->allow.count; i++) {
        struct toleration_grant grant = read_grant(settings->allow.items[i]);
        if (grant.effect.data == NULL || is_effect(grant.effect))
            continue;
        size_t nearest = text_nearest(grant.effect, effects, COUNT_OF(effects), EFFECT_EDITS);
        struct text hint = TEXT("");
        if (nearest < COUNT_OF(effects))
            hint =
                arena_printf(loading->arena, "; did you mean %.*s?", TEXT_ARGS(effects[nearest]));
        loading_warn(loading, settings->allow.nodes[i],
                     "tolerations: \"%.*s\" grants nothing, since no taint has the effect "
                     "\"%.*s\"%.*s",
                     TEXT_ARGS(settings->allow.items[i]), TEXT_ARGS(grant.effect), TEXT_ARGS(hint));
    }
}

/* ---- what is granted ---- */

struct check {
    struct rail_call *call;
    const struct settings *settings;
    const struct workload *workload;
    bool is_daemon;
    /* What the pod asks for, what accelerators gives it for that, and what it asks none of and the
     * API server adds a toleration for all the same: found out once, where it matters. */
    bool is_read;
    struct text_map resources, zeros;
    struct tolerations added;
};

static void read_asked(struct check *check)
{
    if (check->is_read)
        return;
    check->is_read = true;
    check->resources = *call_resources(check->call, check->workload);
    /* The API server adds to Pods alone: in a template somebody has written it. */
    if (check->call->object->kind == KIND_POD && check->call->policy->extended_resource_toleration)
        resource_zeros_read(check->workload, check->call->arena, &check->zeros);
    accelerators_foresee_tolerations(check->call, &check->resources, &check->added);
}

static bool is_exists(const struct toleration *toleration)
{
    return text_is(toleration->op, "Exists");
}

static bool grants(const struct toleration_grant *grant, const struct toleration *toleration)
{
    if (!text_matches_glob(toleration->key, grant->key))
        return false;
    if (grant->effect.data != NULL && !text_equal(grant->effect, toleration->effect))
        return false;
    return grant->value.data == NULL ||
           (!is_exists(toleration) && !toleration_compares(toleration) &&
            text_matches_glob(toleration->value, grant->value));
}

/* What the API server adds by itself: to every pod, for what the pod asks for, and what the
 * controller of DaemonSets adds. The plugins and agents of accelerators ask for none. */
static bool is_added_anyway(struct check *check, struct text key)
{
    static const char *const of_every_pod[] = {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/memory-pressure",
    };
    if (text_is_one_of(key, of_every_pod, COUNT_OF(of_every_pod)))
        return true;
    read_asked(check);
    if (resource_is_extended(key) && text_map_has(&check->resources, key))
        return true;
    FOR_EACH(toleration, &check->added)
        if (text_equal(toleration->key, key))
            return true;
    return check->is_daemon && (text_starts_with(key, TEXT("node.kubernetes.io/")) ||
                                device_of_resource(key) != DEVICE_COUNT);
}

static bool is_listed(const struct settings *settings, const struct toleration *toleration)
{
    const struct key_strings *allow = &settings->allow;
    for (size_t i = 0; i < allow->count; i++) {
        struct toleration_grant grant = read_grant(allow->items[i]);
        if (grants(&grant, toleration))
            return true;
    }
    return false;
}

static bool is_granted(struct check *check, const struct toleration *toleration)
{
    return is_listed(check->settings, toleration) ||
           (toleration->key.size > 0 &&
            (!check->settings->allow.given || is_added_anyway(check, toleration->key) ||
             is_toleration_of_some(toleration, &check->zeros)));
}

/* A pod that leaves within a day is moved as one is that tolerates nothing: the API server itself
 * gives every pod 300 seconds, and people write minutes or hours. But it gets in all the same, so
 * that a list of what may be tolerated has no such exception. */
enum { LONGEST_STAY_S = 24 * 3600 };

static bool leaves_in_time(const struct toleration *toleration)
{
    int64_t stay_s;
    const struct node *stay = node_get(toleration->field->node, "tolerationSeconds");
    return text_is(toleration->effect, "NoExecute") && node_integer(stay, &stay_s) &&
           stay_s <= LONGEST_STAY_S;
}

static bool is_excused(const struct settings *settings, const struct toleration *toleration)
{
    return !settings->allow.given && leaves_in_time(toleration);
}

bool tolerations_finds_every(const void *settings, const struct toleration *toleration)
{
    return !is_listed(settings, toleration) && !is_excused(settings, toleration);
}

/* Networks, volumes and agents are for every node, whatever its taints, and leave with it. Where a
 * policy lists what may be tolerated, it is the one to say so. */
static bool is_agent(const struct check *check)
{
    return check->is_daemon && !check->settings->allow.given;
}

/* ---- what is said ---- */

/* As kubectl writes a taint: "team=ml:NoSchedule". */
static struct text taint_text(const struct toleration *toleration, struct arena *arena)
{
    struct text value = is_exists(toleration) ? TEXT("") : toleration->value;
    struct text effect = toleration->effect;
    return arena_printf(arena, "%.*s%s%.*s%s%.*s", TEXT_ARGS(toleration->key),
                        value.size > 0 ? "=" : "", TEXT_ARGS(value), effect.size > 0 ? ":" : "",
                        TEXT_ARGS(effect));
}

/* What follows from it: NoSchedule keeps nodes for others and is how Karpenter empties them,
 * NoExecute is what a node has that is lost. */
static void report_every_taint(const struct check *check, const struct toleration *toleration)
{
    struct text effect = toleration->effect;
    struct draft draft = {
        .severity = check->is_daemon ? SEVERITY_WARN : SEVERITY_RAIL,
        .field = field_get(check->call->arena, toleration->field, "operator"),
        .found = toleration->op,
        .statement = TEXT("The pod tolerates every taint. It may start on nodes that are kept for "
                          "others or that Karpenter empties (karpenter.sh/disrupted)."),
        .fix = TEXT("Name the key of the taint that the pod must tolerate."),
    };
    if (text_is(effect, "NoSchedule"))
        draft.statement = TEXT("The pod tolerates every NoSchedule taint. It may start on nodes "
                               "that are kept for others or that Karpenter empties "
                               "(karpenter.sh/disrupted).");
    if (text_is(effect, "NoExecute") && check->settings->allow.given) {
        draft.statement =
            TEXT("The pod tolerates every NoExecute taint. It may start on nodes that "
                 "are kept for others, and stay on one that is unreachable.");
    } else if (text_is(effect, "NoExecute")) {
        const struct field *stay =
            field_get(check->call->arena, toleration->field, "tolerationSeconds");
        draft.statement = TEXT("The pod tolerates every NoExecute taint for ever. It stays on a "
                               "node that is unreachable, and is not replaced.");
        draft.fix = TEXT("Set tolerationSeconds: 300, or name the key of the taint that the pod "
                         "must tolerate.");
        if (node_is(stay->node, NODE_NUMBER)) {
            draft.field = stay;
            draft.found = node_text(stay->node);
            draft.statement = TEXT("The pod tolerates every NoExecute taint for more than a day. "
                                   "It stays on a node that is unreachable, and is not replaced.");
        }
    }
    report_draft(check->call, &draft);
}

/* The API server takes no such key. A template is taken, and its pods are refused. */
static void report_invalid_key(const struct check *check, const struct toleration *toleration)
{
    struct arena *arena = check->call->arena;
    report_found(check->call, SEVERITY_RAIL, field_get(arena, toleration->field, "key"),
                 toleration->key,
                 TEXT("Write letters, digits, '-', '_' and '.', with at most one domain before a "
                      "'/'."),
                 "No taint can have the key \"%.*s\", and the API server refuses the pod.",
                 TEXT_ARGS(toleration->key));
}

/* The words that make a toleration narrower. */
enum { LACKS_VALUE = 1, LACKS_EFFECT = 2 };

/* Those that it lacks to be one of this grant; 0 where other words stand in their place. */
static int lacking(const struct toleration_grant *grant, const struct toleration *toleration)
{
    int words = 0;
    if (text_is(grant->key, "*") || !text_matches_glob(toleration->key, grant->key))
        return 0;
    if (grant->effect.data != NULL && !text_equal(grant->effect, toleration->effect)) {
        if (toleration->effect.size > 0 || !is_effect(grant->effect))
            return 0;
        words |= LACKS_EFFECT;
    }
    if (grant->value.data != NULL &&
        (is_exists(toleration) || !text_matches_glob(toleration->value, grant->value))) {
        if (!is_exists(toleration) && toleration->value.size > 0)
            return 0;
        words |= LACKS_VALUE;
    }
    return words;
}

static struct text value_to_write(struct text granted, struct arena *arena)
{
    if (text_is_glob(granted))
        return arena_printf(arena, "a value that %.*s matches", TEXT_ARGS(granted));
    return granted.size > 0 ? arena_printf(arena, "value: %.*s", TEXT_ARGS(granted))
                            : TEXT("value: \"\"");
}

static struct text narrowing_text(struct text granted, const struct toleration *toleration,
                                  int words, struct arena *arena)
{
    struct toleration_grant grant = read_grant(granted);
    struct text_builder fix = {.arena = arena};
    if ((words & LACKS_VALUE) != 0)
        text_builder_printf(&fix, "%s %.*s%s%s", is_exists(toleration) ? "Write" : "Add",
                            TEXT_ARGS(value_to_write(grant.value, arena)),
                            is_exists(toleration) ? " instead of operator: Exists" : "",
                            words == LACKS_VALUE ? "" : ", and ");
    if ((words & LACKS_EFFECT) != 0)
        text_builder_printf(&fix, "%s effect: %.*s", words == LACKS_EFFECT ? "Add" : "add",
                            TEXT_ARGS(grant.effect));
    text_builder_printf(&fix, " (%.*s is granted).", TEXT_ARGS(granted));
    return text_builder_text(&fix);
}

struct advice {
    const struct key_strings *allow;
    const struct toleration *toleration;
};

/* By the grant that it is fewest words away from. */
static void advise_narrowing(struct draft *draft, struct arena *arena)
{
    const struct advice *advice = draft->adviser;
    static const int fewest_first[] = {LACKS_EFFECT, LACKS_VALUE, LACKS_VALUE | LACKS_EFFECT};
    const struct key_strings *allow = advice->allow;
    for (size_t i = 0; i < COUNT_OF(fewest_first); i++) {
        for (size_t j = 0; j < allow->count; j++) {
            struct toleration_grant grant = read_grant(allow->items[j]);
            if (lacking(&grant, advice->toleration) != fewest_first[i])
                continue;
            draft->fix =
                narrowing_text(allow->items[j], advice->toleration, fewest_first[i], arena);
            return;
        }
    }
}

static void report_not_granted(const struct check *check, const struct toleration *toleration)
{
    struct arena *arena = check->call->arena;
    const struct key_strings *allow = &check->settings->allow;
    struct text found = taint_text(toleration, arena);
    struct advice *advice = ARENA_NEW(arena, struct advice);
    *advice = (struct advice){allow, toleration};
    report_with(check->call, .field = field_get(arena, toleration->field, "key"), .found = found,
                .statement = arena_printf(
                    arena, "The policy does not grant the toleration of %.*s.", TEXT_ARGS(found)),
                .allowed = ALLOWED_LIST(allow), .nearest_to = found,
                .fix = TEXT("Remove the toleration, or ask for it to be granted."),
                .advise = advise_narrowing, .adviser = advice);
}

static void judge(struct rail_call *call)
{
    struct workload workload;
    struct check check = {
        .call = call,
        .settings = call->settings,
        .workload = &workload,
        .is_daemon = is_of_daemon_set(call),
    };
    if (!call_workload(call, &workload))
        return;
    const struct tolerations tolerations = call_tolerations(call, &workload);
    FOR_EACH(toleration, &tolerations) {
        if (text_has_placeholder(toleration->key))
            continue;
        if (toleration->key.size > 0 && !label_key_is_valid(toleration->key)) {
            report_invalid_key(&check, toleration);
            continue;
        }
        /* PreferNoSchedule keeps nobody out. */
        if (text_is(toleration->effect, "PreferNoSchedule") || is_granted(&check, toleration))
            continue;
        if (toleration->key.size > 0)
            report_not_granted(&check, toleration);
        else if (is_exists(toleration) && !is_agent(&check) &&
                 !is_excused(check.settings, toleration))
            report_every_taint(&check, toleration);
    }
}

const struct rail rail_tolerations = {
    .name = "tolerations",
    .summary = "taints tolerated only by those they are meant for",
    .detail =
        "A taint keeps nodes for somebody: a team, accelerators, a system. A pod that tolerates it "
        "gets in, whoever wrote it. With allow, only the tolerations it lists may be written; a "
        "grant of a value or an effect is not one of all of them, so KEY=VALUE:EFFECT is tolerated "
        "by a toleration that says all three.\n\n"
        "A toleration with operator Exists and no key tolerates every taint there is, also "
        "karpenter.sh/disrupted, by which Karpenter empties nodes: it is always found, unless "
        "allow "
        "holds \"*\". Without allow DaemonSets may: networks, volumes and agents are for every "
        "node, whatever its taints, and leave with it; with allow they are warned of. NoExecute "
        "with tolerationSeconds of a day at most is no finding without allow.\n\n"
        "A key that no taint can have is found: the API server refuses the pods of such a "
        "template.\n\n"
        "Never found is what the API server adds by itself: not-ready, unreachable and "
        "memory-pressure, the resources that the pod asks for (nvidia.com/gpu), in Pods also those "
        "that they ask for with a quantity of 0 unless the policy says "
        "extendedResourceToleration: false, and in pods of "
        "DaemonSets the conditions of nodes and the taints of accelerators; nor what accelerators "
        "of any policy in enforce adds with addToleration. PreferNoSchedule keeps "
        "nobody out, so tolerating it "
        "opens nothing.",
    .example = "tolerations:\n"
               "  mode: enforce\n"
               "  allow: [\"team=web:NoSchedule\", \"example.com/batch\"]\n",
    .kinds = KINDS_WORKLOADS,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .prepare = prepare,
    .judge = judge,
};
