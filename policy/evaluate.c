/* The verdict's findings: every rail of every policy that reaches the object is called, and what it
 * says in drafts becomes findings by mode, exceptions, owners and what was there before. */
#include <stdlib.h>
#include <string.h>

#include "policy/evaluation.h"

/* ---- one rail ---- */

const struct object *call_maker(const struct rail_call *call, bool *unseen)
{
    const struct root_owner *root = &call->evaluation->root;
    const struct object *maker = root->maker != NULL ? root->maker : root->object;
    *unseen = root->named && maker == NULL;
    return root->named ? maker : NULL;
}

const void *rail_settings(const struct rail_call *call, const struct rail *rail)
{
    const struct policy *policy = call->policy;
    for (size_t i = 0; i < policy->rail_count; i++)
        if (policy->rails[i].rail == rail && policy_may_use(policy, &policy->rails[i]))
            return policy->rails[i].settings;
    return NULL;
}

static void judge_views(struct rail_call *call, const struct views *views, struct record *record)
{
    call->record = record;
    for (size_t i = 0; i < views->count; i++) {
        call->object = record->object = &views->items[i];
        call->use->rail->judge(call);
    }
}

static struct record record_begin(const struct evaluation *evaluation)
{
    return (struct record){.arena = evaluation->arena, .seed = evaluation->seed};
}

/* Whether the update leaves all that rails look at as it was; found out once. */
static bool is_unchanged(struct evaluation *evaluation)
{
    if (!evaluation->unchanged.is_known)
        evaluation->unchanged.is = subject_is_unchanged(&evaluation->subject);
    evaluation->unchanged.is_known = true;
    return evaluation->unchanged.is;
}

/* What is new in the object. The old one is judged first wherever something is cut, so that nobody
 * hides what is new behind what is old. */
static struct record judge_both(struct rail_call *call)
{
    struct evaluation *evaluation = call->evaluation;
    struct record record = record_begin(evaluation);
    if (call->subject->template_unseen) {
        if (!evaluation->is_told_unseen)
            scale_undecided(call, &record);
        evaluation->is_told_unseen = evaluation->autoscaler != NULL;
        return record;
    }
    judge_views(call, &evaluation->views, &record);
    if (record.drafts.count == 0 || evaluation->old.count == 0)
        return record;
    if (!record_is_whole(&record) && is_unchanged(evaluation)) {
        record_excuse_all(&record);
        return record;
    }
    struct excuses excuses = {0};
    struct record old = record_begin(evaluation);
    old.of_old = true;
    old.excuses = &excuses;
    judge_views(call, &evaluation->old, &old);
    if (excuses.said.used == 0 && excuses.places.count == 0)
        return record;
    if (record_is_whole(&record)) {
        record_excuse(&record, &excuses);
        return record;
    }
    record = record_begin(evaluation);
    record.excuses = &excuses;
    judge_views(call, &evaluation->views, &record);
    record.excuses = NULL;
    return record;
}

/* A path in which list indices give way to names, so that an inserted container does not make the
 * others new. */
static struct text identity_path(struct arena *arena, const struct field *field)
{
    if (field == NULL || field->parent == NULL)
        return TEXT("");
    struct text parent = identity_path(arena, field->parent);
    if (field->key.data != NULL)
        return arena_printf(arena, "%.*s.%.*s", TEXT_ARGS(parent), TEXT_ARGS(field->key));
    return arena_printf(arena, "%.*s[%.*s]", TEXT_ARGS(parent),
                        TEXT_ARGS(name_of_item(field->node)));
}

struct text finding_identity(const struct finding *finding, struct arena *arena)
{
    return identity_path(arena, finding->field);
}

/* ---- from a draft to a finding ---- */

static enum action action_of_mode(enum mode mode)
{
    static const enum action actions[] = {[MODE_OFF] = ACTION_NONE,
                                          [MODE_AUDIT] = ACTION_AUDIT,
                                          [MODE_WARN] = ACTION_WARN,
                                          [MODE_ENFORCE] = ACTION_DENY};
    return actions[mode];
}

static enum action at_most(enum action action, enum action limit)
{
    return action > limit ? limit : action;
}

static enum action decide(const struct rail_call *call, const struct draft *draft,
                          struct finding *finding)
{
    const struct evaluation *evaluation = call->evaluation;
    enum action action = action_of_mode(call->mode);
    if (draft->pre_existing)
        return at_most(action, ACTION_AUDIT);
    if (draft->severity == SEVERITY_WARN)
        action = at_most(action, ACTION_WARN);
    if (draft->severity == SEVERITY_AUDIT)
        action = at_most(action, ACTION_AUDIT);
    if ((evaluation->controlled || is_scaled_by_controller(call->subject)) && action == ACTION_DENY)
        action = ACTION_AUDIT;
    finding->spared = action == ACTION_DENY && call_is_spared(call);
    return finding->spared ? ACTION_WARN : action;
}

/* What an exception makes of a finding. */
static void apply_exception(const struct exception *exception, bool expired,
                            struct finding *finding)
{
    finding->exception = exception->id;
    finding->exception_expired = expired;
    finding->exception_expires_unix_s = exception->expires_unix_s;
    if (!expired)
        finding->action = ACTION_EXCEPTED;
}

/* What is wrong with a workload because of its autoscaler is told where that says how many. */
static void tell_of_autoscaler(const struct evaluation *evaluation, struct finding *finding)
{
    struct arena *arena = evaluation->arena;
    const struct object *workload = evaluation->subject.object;
    const struct field *field = field_at(arena, evaluation->autoscaler->root, "spec.maxReplicas");
    if (evaluation->subject.template_unseen)
        finding->problem = arena_printf(
            arena,
            "%.*s %.*s, which may get %.*s replicas, is not visible, so nobody knows what they do.",
            TEXT_ARGS(workload->kind_name), TEXT_ARGS(workload->name),
            TEXT_ARGS(node_text(field->node)));
    else
        finding->problem = arena_printf(arena, "%.*s %.*s may have %.*s replicas. %.*s: %.*s",
                                        TEXT_ARGS(workload->kind_name), TEXT_ARGS(workload->name),
                                        TEXT_ARGS(node_text(field->node)), TEXT_ARGS(finding->path),
                                        TEXT_ARGS(finding->problem));
    finding->field = field;
    finding->path = field_path(arena, field);
    finding->found = node_text(field->node);
    finding->allowed = NULL;
    finding->allowed_count = finding->allowed_total = 0;
    finding->replacement = TEXT("");
}

/* What a draft comes to; whether that hangs on the labels of a namespace that is not seen. */
static bool weigh(const struct rail_call *call, const struct draft *draft, struct finding *finding)
{
    struct evaluation *evaluation = call->evaluation;
    if (call->override != NULL)
        finding->override = call->override->id;
    finding->action = decide(call, draft, finding);
    evaluation->hangs_on_owner |= finding->action == ACTION_DENY && call_asks_owner(call);

    bool expired = false;
    bool exception_unknown = false;
    const struct exception *exception = call_exception(call, &expired, &exception_unknown);
    bool unknown_namespace = call->match_unknown || exception_unknown;
    if (exception != NULL && !unknown_namespace)
        apply_exception(exception, expired, finding);
    finding->spared &= finding->action == ACTION_WARN;
    if ((draft->severity != SEVERITY_UNDECIDED && !unknown_namespace) ||
        finding->action == ACTION_EXCEPTED || draft->pre_existing)
        return unknown_namespace;
    finding->undecided = true;
    if (draft->severity == SEVERITY_UNDECIDED)
        finding->unseen = draft->wanted != 0 ? kinds_without_object(call->world, draft->wanted)
                                             : rail_unseen_sources(call->use->rail,
                                                                   call->object->kind, call->world);
    finding->spared = false;
    finding->quiet = finding->action < ACTION_WARN;
    finding->action = ACTION_WARN;
    return unknown_namespace;
}

/* What the subject's owner hears of a rail that finds something new. Nothing is found by that, so
 * that no verdict waits for the owner. */
static enum action weight_of(const struct rail_call *call)
{
    struct finding finding = {0};
    const struct draft draft = {.severity = SEVERITY_RAIL};
    bool hangs_on_owner = call->evaluation->hangs_on_owner;
    (void)weigh(call, &draft, &finding);
    call->evaluation->hangs_on_owner = hangs_on_owner;
    return finding.action;
}

const struct rail_use *rail_beside(const struct rail_call *call, const struct rail *other)
{
    const struct policy *policy = call->policy;
    /* Whether `since` spares the subject hangs on what is found in templates: of these the modes
     * alone count. */
    bool in_template = call->record->keeps_all;
    for (size_t i = 0; i < policy->rail_count; i++) {
        const struct rail_use *use = &policy->rails[i];
        if (use->rail != other)
            continue;
        const struct rail_call beside = evaluation_call(
            call->evaluation, policy, use, call->match_unknown ? MATCH_UNKNOWN : MATCH_YES);
        bool weighs_less =
            beside.mode < call->mode || (!in_template && weight_of(&beside) < weight_of(call));
        return weighs_less ? NULL : use;
    }
    return NULL;
}

/* Whether the rail changes this subject, as the policy has it. */
static bool is_applied(const struct rail_call *call, const struct policy *policy,
                       const struct rail_use *use)
{
    struct evaluation *evaluation = call->evaluation;
    bool expired = false, unknown = false;
    if (match_evaluate(&policy->match, &evaluation->match) != MATCH_YES)
        return false;
    const struct rail_call applied = evaluation_call(evaluation, policy, use, MATCH_YES);
    const struct exception *exception = call_exception(&applied, &expired, &unknown);
    return applied.mode == MODE_ENFORCE && !applied.match_unknown && !unknown &&
           (exception == NULL || expired);
}

const struct rail_use *rail_applied(const struct rail_call *call, const struct rail *rail,
                                    const struct rail_use *after)
{
    const struct policy_set *policies = call->world->policies;
    for (size_t i = 0; i < policies->count; i++)
        for (size_t j = 0; j < policies->items[i].rail_count; j++) {
            const struct rail_use *use = &policies->items[i].rails[j];
            if (use == after)
                after = NULL;
            else if (use->rail == rail && after == NULL &&
                     is_applied(call, &policies->items[i], use))
                return use;
        }
    return NULL;
}

bool report_is_of_source(const struct rail_call *call)
{
    const struct evaluation *evaluation = call->evaluation;
    /* What the old object had too is told of; and all of a template counts that another is compared
     * with. */
    if (!evaluation->drops_unseen || evaluation->old.count > 0 || call->record->keeps_all)
        return false;
    struct finding finding = {0};
    const struct draft draft = {.severity = SEVERITY_UNDECIDED};
    (void)weigh(call, &draft, &finding);
    return finding.unseen != 0;
}

/* What is told of it. unknown_namespace: empty, there is none. */
static void put_into_words(const struct rail_call *call, const struct draft *shared,
                           struct text unknown_namespace, struct finding *finding)
{
    enum { PATH_LIMIT = 512, PROBLEM_LIMIT = 1024, FIX_LIMIT = 4096 };
    struct arena *arena = call->arena;
    const struct draft draft = draft_finish(shared, arena);
    finding->path = message_printable(field_path(arena, draft.field), PATH_LIMIT, arena);
    finding->found = draft.found;
    finding->allowed = draft.allowed.items;
    finding->allowed_count = draft.allowed.count;
    finding->allowed_total = shared->allowed.count;
    finding->fix = message_printable(draft.fix, FIX_LIMIT, arena);
    finding->replacement = draft.replacement;
    finding->docs = docs_url(call->policy, call->use->rail->name, arena);
    finding->problem = message_printable(message_problem(&draft, finding, unknown_namespace, arena),
                                         PROBLEM_LIMIT, arena);
    if (call->evaluation->autoscaler != NULL)
        tell_of_autoscaler(call->evaluation, finding);
    finding->message = message_whole(finding->problem, finding->fix, arena);
}

/* more: how many of the same sort are not shown beside it. */
static void add_finding(const struct rail_call *call, const struct draft *draft, size_t more)
{
    struct evaluation *evaluation = call->evaluation;
    struct finding finding = {
        .rail = call->use->rail->name,
        .pre_existing = draft->pre_existing,
        .more = more,
        .field = draft->field,
        .policy = call->policy->name,
        .contact = call->policy->contact,
        .check = call->policy->check,
    };
    bool unknown_namespace = weigh(call, draft, &finding);
    if (finding.unseen != 0 && evaluation->drops_unseen)
        return;
    put_into_words(call, draft, unknown_namespace ? call->subject->object->namespace : TEXT(""),
                   &finding);
    *LIST_PUSH(call->arena, &evaluation->findings) =
        finding; /* a guard that ends leaves none half made */
}

/* The rest of one sort in one finding, behind the last of them. */
static void add_rest(const struct rail_call *call, const struct record *record,
                     enum severity severity, bool pre_existing)
{
    struct arena *arena = call->arena;
    size_t count = record->counts[pre_existing][severity];
    if (count <= DRAFTS_KEPT)
        return;
    const struct field *last = NULL;
    FOR_EACH(draft, &record->drafts)
        if (draft->severity == severity && draft->pre_existing == pre_existing &&
            (last == NULL || field_compare(arena, last, draft->field) < 0))
            last = draft->field;
    size_t more = count - DRAFTS_KEPT;
    const struct draft rest = {
        .severity = severity,
        .field = last,
        .statement = arena_printf(arena, "%zu more finding%s of this rail %s not listed.", more,
                                  more == 1 ? "" : "s", more == 1 ? "is" : "are"),
        .pre_existing = pre_existing,
    };
    add_finding(call, &rest, more);
}

/* ---- the whole ---- */

/* Whether a rail has anything to do with the object, whatever its mode. */
static bool is_asked(const struct evaluation *evaluation, const struct rail *rail)
{
    if (evaluation->autoscaler != NULL &&
        (rail->kinds & KIND_BIT(KIND_HORIZONTAL_POD_AUTOSCALER)) != 0)
        return false; /* it has judged the autoscaler itself */
    return rail_judges(rail, evaluation->views.items[0].kind, evaluation->subject.operation) &&
           (rail->judges_scale || !subject_is_scale(&evaluation->subject));
}

static void evaluate_rail(struct rail_call *call)
{
    const struct record record = judge_both(call);
    if (record.drafts.count == 0)
        return;
    for (size_t i = 0; i < record.drafts.count; i++)
        add_finding(call, &record.drafts.items[i], 0);
    for (int severity = 0; severity < SEVERITY_COUNT; severity++) {
        add_rest(call, &record, (enum severity)severity, false);
        add_rest(call, &record, (enum severity)severity, true);
    }
}

/* What a policy has to judge of the object: itself, or the pod templates that it holds. */
static struct views views_of(const struct policy *policy, const struct object *object,
                             struct arena *arena)
{
    if (object == NULL)
        return (struct views){0};
    if (object->kind != KIND_UNKNOWN)
        return (struct views){object, 1, false};
    const struct templated_kind *kind =
        templated_kind_find(policy, object->api_version, object->kind_name);
    if (kind == NULL)
        return (struct views){0};
    return pod_templates_read(kind, object, arena);
}

static int compare_findings(const void *a_pointer, const void *b_pointer, void *arena)
{
    const struct finding *a = a_pointer;
    const struct finding *b = b_pointer;
    int order = field_compare(arena, a->field, b->field);
    if (order == 0)
        order = strcmp(a->rail, b->rail);
    if (order == 0)
        order = text_compare(a->policy, b->policy);
    if (order == 0)
        order = (a->more > 0) - (b->more > 0);
    return order != 0 ? order : text_compare(a->message, b->message);
}

/* They run out by themselves, or keep nobody from running; of the others a finalizer may keep what
 * still has an effect, such as a budget that blocks every drain. */
static const kind_set let_go = KINDS_WORKLOADS | KIND_BIT(KIND_NODE_POOL) |
                               KIND_BIT(KIND_PROVISIONER) | KIND_BIT(KIND_UNKNOWN);

bool subject_is_judged(const struct subject *subject)
{
    const struct object *object = subject->object;
    if (text_is(subject->subresource, "status"))
        return false;
    if (subject->operation == OPERATION_CREATE)
        return true;
    bool goes = object->deleting &&
                (subject->operation == OPERATION_DELETE || (KIND_BIT(object->kind) & let_go) != 0);
    return !goes &&
           (object->kind == KIND_UNKNOWN ? subject->operation == OPERATION_UPDATE
                                         : some_rail_judges(object->kind, subject->operation));
}

static void evaluate_policy(struct evaluation *evaluation, const struct policy *policy)
{
    const struct subject *subject = &evaluation->subject;
    enum match_result match = match_evaluate(&policy->match, &evaluation->match);
    evaluation->hangs_on_owner |= policy->match.names.given;
    if (match == MATCH_NO)
        return;
    evaluation->views = views_of(policy, subject->object, evaluation->arena);
    if (evaluation->views.count == 0)
        return;
    evaluation->old =
        views_of(policy, subject->operation == OPERATION_UPDATE ? subject->old_object : NULL,
                 evaluation->arena);
    evaluation->controlled = object_is_controlled(evaluation->world, subject, &evaluation->root,
                                                  evaluation->views.items[0].kind);
    for (size_t i = 0; i < policy->rail_count; i++) {
        if (!is_asked(evaluation, policy->rails[i].rail))
            continue;
        struct rail_call call = evaluation_call(evaluation, policy, &policy->rails[i], match);
        if (call.mode != MODE_OFF)
            evaluate_rail(&call);
    }
    if (evaluation->views.cut)
        decide_templates(evaluation, policy, is_unchanged(evaluation));
}

static void evaluate_each(struct evaluation *evaluation)
{
    const struct policy_set *policies = evaluation->world->policies;
    for (size_t i = 0; i < policies->count; i++)
        evaluate_policy(evaluation, &policies->items[i]);
}

static struct evaluation begin(const struct world *world, const struct subject *subject,
                               int64_t now_unix_s, struct arena *arena)
{
    struct evaluation evaluation = evaluation_begin(world, subject, now_unix_s, arena);
    if (subject->operation == OPERATION_UPDATE || subject->object->kind == KIND_UNKNOWN)
        evaluation.seed = hash_seed_new();
    return evaluation;
}

/* What an autoscaler does to the workload that it scales. */
static void evaluate_scaled(struct evaluation *evaluation)
{
    struct subject subject = evaluation->subject;
    const struct object *autoscaler =
        subject_of_autoscaler(evaluation->world, evaluation->arena, &subject);
    if (autoscaler == NULL)
        return;
    struct evaluation scaled =
        begin(evaluation->world, &subject, evaluation->now_unix_s, evaluation->arena);
    scaled.autoscaler = autoscaler;
    scaled.drops_unseen = evaluation->drops_unseen;
    scaled.findings.items = evaluation->findings.items;
    scaled.findings.count = evaluation->findings.count;
    scaled.findings.capacity = evaluation->findings.capacity;
    evaluate_each(&scaled);
    evaluation->findings.items = scaled.findings.items;
    evaluation->findings.count = scaled.findings.count;
    evaluation->findings.capacity = scaled.findings.capacity;
}

static void evaluate_policies(void *argument)
{
    struct evaluation *evaluation = argument;
    evaluate_each(evaluation);
    evaluate_scaled(evaluation);
}

static void end(const struct evaluation *evaluation, struct verdict *verdict)
{
    struct finding *findings = evaluation->findings.items;
    size_t count = evaluation->findings.count;
    if (count > 1)
        qsort_r(findings, count, sizeof *findings, compare_findings, evaluation->arena);
    verdict->findings = findings;
    verdict->finding_count = count;
    verdict->is_controlled = evaluation->root.named;
    if (evaluation->hangs_on_owner)
        verdict->awaited = evaluation->root.awaited;
    for (size_t i = 0; i < count; i++)
        if (!findings[i].undecided && findings[i].action > verdict->action)
            verdict->action = findings[i].action;
}

void policy_evaluate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                     struct arena *arena, struct verdict *verdict)
{
    *verdict = (struct verdict){0};
    if (!subject_is_judged(subject))
        return;
    struct evaluation evaluation = begin(world, subject, now_unix_s, arena);
    evaluate_policies(&evaluation);
    end(&evaluation, verdict);
}

void policy_evaluate_within(const struct world *world, const struct subject *subject,
                            int64_t now_unix_s, struct arena *arena, struct verdict *verdict)
{
    struct error error;
    *verdict = (struct verdict){0};
    if (!subject_is_judged(subject))
        return;
    struct evaluation evaluation = begin(world, subject, now_unix_s, arena);
    evaluation.drops_unseen = true;
    if (!arena_guard(arena, evaluate_policies, &evaluation, &error))
        verdict->limit = limit_of_arena(arena);
    end(&evaluation, verdict);
}

const char *action_name(enum action action)
{
    static const char *const names[] = {
        [ACTION_NONE] = "none", [ACTION_EXCEPTED] = "excepted", [ACTION_AUDIT] = "audit",
        [ACTION_WARN] = "warn", [ACTION_DENY] = "deny",
    };
    return names[action];
}
