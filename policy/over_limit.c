/* What could not be judged to its end is decided all the same: nobody gets past a rail in enforce
 * by being too much for it, and nobody is held up where nothing would have been denied. */
#include "policy/evaluation.h"
#include "policy/pod_templates.h"

const char *limit_name(enum review_limit limit)
{
    static const char *const names[LIMIT_COUNT] = {
        [LIMIT_NONE] = "none", [LIMIT_MEMORY] = "memory",   [LIMIT_SHAPE] = "shape",
        [LIMIT_CPU] = "cpu",   [LIMIT_TIMEOUT] = "timeout", [LIMIT_CLIENT_GONE] = "client_gone",
    };
    return names[limit];
}

enum review_limit limit_of_arena(const struct arena *arena)
{
    int reason;
    switch (arena_ended(arena, &reason)) {
    case ARENA_WENT_ON:
        return LIMIT_NONE;
    case ARENA_STOPPED:
        return (enum review_limit)reason;
    case ARENA_OVER_BUDGET:
    case ARENA_NO_MEMORY:
        break;
    }
    return LIMIT_MEMORY;
}

/* ---- what an update leaves as it is ---- */

static bool is_key(const struct member *member, const char *key)
{
    return text_is(member_key(member), key);
}

/* Every member of a but metadata and status is in b too. */
static bool parts_are_in(const struct node *a, const struct node *b)
{
    for (size_t i = 0; i < node_count(a); i++) {
        const struct member *member = &a->members[i];
        if (is_key(member, "metadata") || is_key(member, "status"))
            continue;
        if (!node_equal(&member->value, node_member(b, member_key(member))))
            return false;
    }
    return true;
}

/* Selectors, Karpenter and the kubelet look for labels and annotations on the Pod or NodeClaim; in
 * a custom resource they may be those of a template. Elsewhere a template has its own. */
bool guards_metadata(enum kind kind)
{
    return kind == KIND_POD || kind == KIND_NODE_CLAIM || kind == KIND_UNKNOWN;
}

static bool metadata_is_equal(const struct node *root, const struct node *old)
{
    return node_equal(node_at(root, "metadata.labels"), node_at(old, "metadata.labels")) &&
           node_equal(node_at(root, "metadata.annotations"), node_at(old, "metadata.annotations"));
}

bool subject_is_unchanged(const struct subject *subject)
{
    if (subject->operation != OPERATION_UPDATE || subject->old_object == NULL)
        return false;
    const struct node *root = subject->object->root->node;
    const struct node *old = subject->old_object->root->node;
    return parts_are_in(root, old) && parts_are_in(old, root) &&
           (!guards_metadata(subject->object->kind) || metadata_is_equal(root, old));
}

/* ---- what guards it ---- */

/* What a rail would be given of the object; KIND_UNKNOWN: nothing. */
static enum kind judged_kind(const struct policy *policy, const struct object *object)
{
    if (object->kind != KIND_UNKNOWN)
        return object->kind;
    return templated_kind_find(policy, object->api_version, object->kind_name) == NULL
               ? KIND_UNKNOWN
               : KIND_CUSTOM;
}

static bool guards(const struct rail_call *call, enum kind kind)
{
    const struct rail *rail = call->use->rail;
    const struct subject *subject = call->subject;
    bool judges = rail_judges(rail, kind, subject->operation) ||
                  (rail->judges_scale && (rail->kinds & KINDS_SCALED) != 0 &&
                   kind == KIND_HORIZONTAL_POD_AUTOSCALER);
    return call->mode != MODE_OFF && judges &&
           (subject->subresource.size == 0 || (rail->judges_scale && subject_is_scale(subject)) ||
            (rail->judges_resize && text_is(subject->subresource, "resize")));
}

static bool is_excepted(const struct rail_call *call)
{
    bool expired = false, unknown = false;
    const struct exception *exception = call_exception(call, &expired, &unknown);
    return unknown || (exception != NULL && !expired);
}

/* The rail that decides: the first that denies, else the first that guards. */
struct guardian {
    const struct policy *policy;
    const char *rail;
    enum action action;
    bool forgets_owners; /* what their age would take to find out is too much, too */
};

struct question {
    const struct rail_call *call;
    bool spared;
};

static void ask_age(void *argument)
{
    struct question *question = argument;
    question->spared = call_is_spared(question->call);
}

/* What is asked of the owners must leave room for the answer. */
static bool is_spared(const struct rail_call *call, struct guardian *guardian)
{
    struct question question = {call, false};
    struct arena_mark mark = arena_mark(call->arena);
    struct error error;
    if (guardian->forgets_owners)
        return false;
    if (arena_guard(call->arena, ask_age, &question, &error))
        return question.spared;
    arena_rewind(call->arena, mark);
    guardian->forgets_owners = true;
    return false;
}

static bool denies(const struct rail_call *call, enum kind kind, struct guardian *guardian)
{
    const struct evaluation *evaluation = call->evaluation;
    return call->mode == MODE_ENFORCE && call->subject->operation != OPERATION_DELETE &&
           !call->match_unknown && !call->subject->template_unseen &&
           !is_scaled_by_controller(call->subject) &&
           !object_is_controlled(call->world, call->subject, &evaluation->root, kind) &&
           !is_excepted(call) && !is_spared(call, guardian);
}

static void ask_policy(struct evaluation *evaluation, const struct policy *policy,
                       struct guardian *guardian)
{
    enum match_result match = match_evaluate(&policy->match, &evaluation->match);
    enum kind kind = judged_kind(policy, evaluation->subject.object);
    for (size_t i = 0; match != MATCH_NO && i < policy->rail_count; i++) {
        const struct rail_call call = evaluation_call(evaluation, policy, &policy->rails[i], match);
        if (!guards(&call, kind))
            continue;
        enum action action = denies(&call, kind, guardian) ? ACTION_DENY : ACTION_WARN;
        if (action > guardian->action)
            *guardian =
                (struct guardian){policy, call.use->rail->name, action, guardian->forgets_owners};
    }
}

static struct finding finding_of(const struct evaluation *evaluation,
                                 const struct shortfall *shortfall, const struct guardian *guardian)
{
    enum { TEXT_LIMIT = 1024 };
    struct arena *arena = evaluation->arena;
    struct text problem = message_printable(shortfall->message, TEXT_LIMIT, arena);
    struct text fix = message_printable(shortfall->fix, TEXT_LIMIT, arena);
    return (struct finding){
        .rail = "limits",
        .action = guardian->action,
        .field = evaluation->subject.object->root,
        .path = TEXT(""),
        .problem = problem,
        .fix = fix,
        .message = message_whole(problem, fix, arena),
        .policy = guardian->policy->name,
        .docs = docs_url(guardian->policy, guardian->rail, arena),
        .contact = guardian->policy->contact,
        .check = guardian->policy->check,
    };
}

static void add_finding(const struct evaluation *evaluation, const struct shortfall *shortfall,
                        const struct guardian *guardian, struct verdict *verdict)
{
    struct finding *findings =
        ARENA_ARRAY(evaluation->arena, verdict->finding_count + 1, struct finding);
    for (size_t i = 0; i < verdict->finding_count; i++)
        findings[i] = verdict->findings[i];
    findings[verdict->finding_count] = finding_of(evaluation, shortfall, guardian);
    verdict->findings = findings; /* complete: a guard may have ended before */
    verdict->finding_count++;
    if (guardian->action > verdict->action)
        verdict->action = guardian->action;
}

void decide_templates(struct evaluation *evaluation, const struct policy *policy, bool unchanged)
{
    struct arena *arena = evaluation->arena;
    struct guardian guardian = {.action = ACTION_NONE};
    ask_policy(evaluation, policy, &guardian);
    if (guardian.action == ACTION_NONE)
        return;
    if (unchanged)
        guardian.action = ACTION_WARN;
    evaluation->hangs_on_owner |= guardian.action == ACTION_DENY;
    const struct text kind = evaluation->subject.object->kind_name;
    const struct shortfall shortfall = {
        .message = arena_printf(arena,
                                "This %.*s has more than %d pod templates, and only the first %d "
                                "are judged.",
                                TEXT_ARGS(kind), TEMPLATES_MAX, TEMPLATES_MAX),
        .fix = arena_printf(arena, "Split it into several, of %d pod templates at most.",
                            TEMPLATES_MAX),
    };
    struct finding finding = finding_of(evaluation, &shortfall, &guardian);
    finding.rail = guardian.rail; /* reports of check and audit are by rail */
    *LIST_PUSH(arena, &evaluation->findings) = finding;
}

void policy_decide_limit(const struct world *world, const struct subject *subject,
                         int64_t now_unix_s, const struct shortfall *shortfall, struct arena *arena,
                         struct verdict *verdict)
{
    verdict->limit = shortfall->limit;
    if (!subject_is_judged(subject))
        return;
    struct evaluation evaluation = evaluation_begin(world, subject, now_unix_s, arena);
    struct guardian guardian = {.action = ACTION_NONE};
    for (size_t i = 0; i < world->policies->count && guardian.action != ACTION_DENY; i++)
        ask_policy(&evaluation, &world->policies->items[i], &guardian);
    if (guardian.action == ACTION_DENY && shortfall->unchanged)
        guardian.action = ACTION_WARN;
    if (guardian.action == ACTION_DENY)
        verdict->awaited = evaluation.root.awaited;
    if (guardian.action != ACTION_NONE)
        add_finding(&evaluation, shortfall, &guardian, verdict);
}
