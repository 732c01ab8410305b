#include <stdlib.h>
#include <string.h>

#include "policy/evaluation.h"
#include "policy/message.h"
#include "policy/pod_templates.h"

struct findings {
    struct finding *items;
    size_t count, capacity;
};

/* The evaluation of findings. */
struct trial {
    struct evaluation evaluation;
    struct findings findings;
    bool hangs_on_owner; /* something would be otherwise, were the owner seen */
    struct hash_seed seed;
    /* Of the policy at hand. */
    bool controlled;         /* a ReplicaSet or Job of a guarded kind */
    struct views views, old; /* the object, or its pod templates, and those it had before */
};

bool judgement_counts(struct judgement *judgement, enum severity severity)
{
    return record_counts(((struct hearing *)judgement)->record, severity);
}

void judgement_say(struct judgement *judgement, const struct draft *draft)
{
    record_add(((struct hearing *)judgement)->record, draft);
}

static void hear(const struct evaluation *evaluation, const struct rail_use *use,
                 const struct views *views, struct record *record)
{
    for (size_t i = 0; i < views->count; i++) {
        record->object = &views->items[i];
        struct hearing hearing = {.judgement = {.world = evaluation->world,
                                                .subject = evaluation->subject,
                                                .object = record->object,
                                                .now_unix_s = evaluation->now_unix_s,
                                                .arena = evaluation->arena},
                                  .record = record};
        use->rail->judge(&hearing.judgement, use->settings);
    }
}

static struct record record_begin(struct trial *trial)
{
    return (struct record){.arena = trial->evaluation.arena, .seed = trial->seed};
}

/* What is new in the object. The old one is heard first wherever something is cut, so that nobody
 * hides what is new behind what is old. */
static struct record hear_both(struct trial *trial, const struct rail_use *use)
{
    const struct evaluation *evaluation = &trial->evaluation;
    struct record record = record_begin(trial);
    if (evaluation->subject->template_unseen) {
        scale_undecided(evaluation, &record);
        return record;
    }
    hear(evaluation, use, &trial->views, &record);
    if (record.remarks.count == 0 || trial->old.count == 0)
        return record;
    struct bag excuses = {0};
    struct record old = record_begin(trial);
    old.of_old = true;
    old.excuses = &excuses;
    hear(evaluation, use, &trial->old, &old);
    if (excuses.used == 0)
        return record;
    if (record_is_whole(&record)) {
        record_excuse(&record, &excuses);
        return record;
    }
    record = record_begin(trial);
    record.excuses = &excuses;
    hear(evaluation, use, &trial->views, &record);
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
    switch (mode) {
    case MODE_ENFORCE:
        return ACTION_DENY;
    case MODE_WARN:
        return ACTION_WARN;
    case MODE_AUDIT:
        return ACTION_AUDIT;
    case MODE_OFF:
        break;
    }
    return ACTION_NONE;
}

static enum action at_most(enum action action, enum action limit)
{
    return action > limit ? limit : action;
}

bool is_scaled_by_controller(const struct subject *subject)
{
    return subject_is_scale(subject) && requester_is_controller(&subject->requester);
}

static enum action decide(const struct trial *trial, const struct rail_use *use,
                          struct finding *finding, enum severity severity)
{
    enum action action = action_of_mode(use->mode);
    if (finding->pre_existing)
        return at_most(action, ACTION_AUDIT);
    if (severity == SEVERITY_WARN)
        action = at_most(action, ACTION_WARN);
    if (severity == SEVERITY_AUDIT)
        action = at_most(action, ACTION_AUDIT);
    if ((trial->controlled || is_scaled_by_controller(trial->evaluation.subject)) &&
        action == ACTION_DENY)
        action = ACTION_AUDIT;
    finding->spared = action == ACTION_DENY && evaluation_spares(&trial->evaluation, use);
    return finding->spared ? ACTION_WARN : action;
}

/* What an exception makes of a finding. */
static void apply_exception(const struct exception *exception, bool expired,
                            struct finding *finding)
{
    finding->exception = exception->id;
    finding->exception_expired = expired;
    finding->exception_expires_unix_s = exception->expires_unix_s;
    if (!expired && finding->action > ACTION_EXCEPTED)
        finding->action = ACTION_EXCEPTED;
}

/* A draft that is shown, as far as it was left open: allowed is what is shown of it. */
static struct draft finish_draft(const struct draft *shared, struct arena *arena)
{
    struct draft draft = *shared;
    size_t nearest[NEAREST_MAX];
    draft.allowed_count =
        nearest_find(shared->allowed, shared->allowed_count, shared->nearest_to, nearest);
    struct text *shown = ARENA_ARRAY(arena, draft.allowed_count, struct text);
    for (size_t i = 0; i < draft.allowed_count; i++)
        shown[i] = shared->allowed[nearest[i]];
    draft.allowed = shown;
    if (draft.advise != NULL)
        draft.advise(&draft, arena);
    return draft;
}

/* more: how many of the same sort are not shown beside it. */
static void add_finding(struct trial *trial, const struct ruling *ruling,
                        const struct draft *shared, bool pre_existing, size_t more)
{
    enum { PATH_LIMIT = 512, MESSAGE_LIMIT = 1024, FIX_LIMIT = 4096 };
    const struct evaluation *evaluation = &trial->evaluation;
    const struct policy *policy = ruling->policy;
    const struct rail_use *use = &ruling->use;
    struct arena *arena = evaluation->arena;
    struct draft finished = finish_draft(shared, arena);
    const struct draft *draft = &finished;
    struct finding made = {
        .rail = use->rail->name,
        .pre_existing = pre_existing,
        .more = more,
        .field = draft->field,
        .path = message_printable(field_path(arena, draft->field), PATH_LIMIT, arena),
        .found = draft->found,
        .allowed = draft->allowed,
        .allowed_count = draft->allowed_count,
        .allowed_total = shared->allowed_count,
        .fix = message_printable(draft->fix, FIX_LIMIT, arena),
        .replacement = draft->replacement,
        .policy = policy->name,
        .docs = docs_url(policy, use->rail->name, arena),
        .contact = policy->contact,
    };
    struct finding *finding = &made;
    if (ruling->override != NULL)
        finding->override = ruling->override->id;
    finding->action = decide(trial, use, finding, draft->severity);
    trial->hangs_on_owner |= finding->action == ACTION_DENY && evaluation_asks_owner(ruling);

    bool expired = false;
    bool exception_unknown = false;
    const struct exception *exception =
        exception_find(policy, use->rail->name, &evaluation->match, evaluation->now_unix_s,
                       &expired, &exception_unknown);
    bool unknown_namespace = ruling->match_unknown || exception_unknown;
    if (exception != NULL && !unknown_namespace)
        apply_exception(exception, expired, finding);
    finding->spared &= finding->action == ACTION_WARN;
    if ((draft->severity == SEVERITY_UNDECIDED || unknown_namespace) &&
        finding->action != ACTION_EXCEPTED && !pre_existing) {
        finding->undecided = true;
        finding->spared = false;
        finding->quiet = finding->action < ACTION_WARN;
        finding->action = ACTION_WARN;
    }
    struct text namespace = unknown_namespace ? evaluation->subject->object->namespace : TEXT("");
    finding->message =
        message_printable(message_finding(draft, finding, namespace, arena), MESSAGE_LIMIT, arena);
    *LIST_PUSH(arena, &trial->findings) = made; /* a guard that ends leaves none half made */
}

/* The rest of one sort in one finding, behind the last of them. */
static void add_rest(struct trial *trial, const struct ruling *ruling, const struct record *record,
                     enum severity severity, bool pre_existing)
{
    struct arena *arena = trial->evaluation.arena;
    size_t count = record->counts[pre_existing][severity];
    if (count <= REMARKS_KEPT)
        return;
    const struct field *last = NULL;
    for (size_t i = 0; i < record->remarks.count; i++) {
        const struct remark *remark = &record->remarks.items[i];
        if (remark->draft.severity == severity && remark->pre_existing == pre_existing &&
            (last == NULL || field_compare(arena, last, remark->draft.field) < 0))
            last = remark->draft.field;
    }
    size_t more = count - REMARKS_KEPT;
    const struct draft rest = {
        .severity = severity,
        .field = last,
        .statement = arena_printf(arena, "%zu more finding%s of this rail %s not listed", more,
                                  more == 1 ? "" : "s", more == 1 ? "is" : "are"),
    };
    add_finding(trial, ruling, &rest, pre_existing, more);
}

/* ---- the whole ---- */

static void evaluate_rail(struct trial *trial, const struct ruling *ruling)
{
    const struct rail_use *use = &ruling->use;
    if (use->mode == MODE_OFF || use->rail->judge == NULL ||
        (use->rail->kinds & KIND_BIT(trial->views.items[0].kind)) == 0 ||
        (subject_is_scale(trial->evaluation.subject) && !use->rail->judges_scale))
        return;
    const struct record record = hear_both(trial, use);
    for (size_t i = 0; i < record.remarks.count; i++)
        add_finding(trial, ruling, &record.remarks.items[i].draft,
                    record.remarks.items[i].pre_existing, 0);
    for (int severity = 0; severity < SEVERITY_COUNT; severity++) {
        add_rest(trial, ruling, &record, (enum severity)severity, false);
        add_rest(trial, ruling, &record, (enum severity)severity, true);
    }
}

/* What a policy has to judge of the object: itself, or the pod templates that it holds. */
static struct views views_of(const struct policy *policy, const struct object *object,
                             struct arena *arena)
{
    if (object == NULL)
        return (struct views){0};
    if (object->kind != KIND_UNKNOWN)
        return (struct views){object, 1};
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

/* What matters in these is settled once they are made. */
static const kind_set judged_on_create_only =
    KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_STORAGE_CLASS);

/* They run out by themselves, or keep nobody from running; of the others a finalizer may keep what
 * still has an effect, such as a budget that blocks every drain. */
static const kind_set let_go =
    KINDS_WORKLOADS | KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_PROVISIONER);

bool subject_is_judged(const struct subject *subject)
{
    if (subject->operation != OPERATION_CREATE && subject->operation != OPERATION_UPDATE)
        return false;
    if (text_is(subject->subresource, "status"))
        return false;
    if (subject->operation == OPERATION_CREATE)
        return true;
    const struct object *object = subject->object;
    kind_set kind = KIND_BIT(object->kind);
    bool goes = object->deleting && (kind & (let_go | KIND_BIT(KIND_UNKNOWN))) != 0;
    return (kind & judged_on_create_only) == 0 && !goes;
}

static void evaluate_policy(struct trial *trial, const struct policy *policy)
{
    const struct evaluation *evaluation = &trial->evaluation;
    const struct subject *subject = evaluation->subject;
    enum match_result match = match_evaluate(&policy->match, &evaluation->match);
    trial->hangs_on_owner |= policy->match.names.given;
    if (match == MATCH_NO)
        return;
    trial->views = views_of(policy, subject->object, evaluation->arena);
    if (trial->views.count == 0)
        return;
    trial->old = views_of(policy, subject->old_object, evaluation->arena);
    trial->controlled = object_is_controlled(evaluation->world, subject, &evaluation->root,
                                             trial->views.items[0].kind);
    for (size_t i = 0; i < policy->rail_count; i++) {
        const struct ruling ruling = evaluation_rule(evaluation, policy, &policy->rails[i], match);
        evaluate_rail(trial, &ruling);
    }
}

static void evaluate_policies(void *argument)
{
    struct trial *trial = argument;
    const struct policy_set *policies = trial->evaluation.world->policies;
    for (size_t i = 0; i < policies->count; i++)
        evaluate_policy(trial, &policies->items[i]);
}

static struct trial trial_begin(const struct world *world, const struct subject *subject,
                                int64_t now_unix_s, struct arena *arena)
{
    struct trial trial = {.evaluation = evaluation_begin(world, subject, now_unix_s, arena)};
    if (subject->operation == OPERATION_UPDATE || subject->object->kind == KIND_UNKNOWN)
        trial.seed = hash_seed_new();
    return trial;
}

static void trial_end(const struct trial *trial, struct verdict *verdict)
{
    const struct findings *findings = &trial->findings;
    if (findings->count > 1)
        qsort_r(findings->items, findings->count, sizeof *findings->items, compare_findings,
                trial->evaluation.arena);
    verdict->findings = findings->items;
    verdict->finding_count = findings->count;
    if (trial->hangs_on_owner)
        verdict->awaited = trial->evaluation.root.awaited;
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].undecided && findings->items[i].action > verdict->action)
            verdict->action = findings->items[i].action;
}

void policy_evaluate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                     struct arena *arena, struct verdict *verdict)
{
    *verdict = (struct verdict){0};
    if (!subject_is_judged(subject))
        return;
    struct trial trial = trial_begin(world, subject, now_unix_s, arena);
    evaluate_policies(&trial);
    trial_end(&trial, verdict);
}

void policy_evaluate_within(const struct world *world, const struct subject *subject,
                            int64_t now_unix_s, struct arena *arena, struct verdict *verdict)
{
    struct error error;
    *verdict = (struct verdict){0};
    if (!subject_is_judged(subject))
        return;
    struct trial trial = trial_begin(world, subject, now_unix_s, arena);
    if (!arena_guard(arena, evaluate_policies, &trial, &error))
        verdict->limit = limit_of_arena(arena);
    trial_end(&trial, verdict);
}

const char *action_name(enum action action)
{
    static const char *const names[] = {
        [ACTION_NONE] = "none", [ACTION_EXCEPTED] = "excepted", [ACTION_AUDIT] = "audit",
        [ACTION_WARN] = "warn", [ACTION_DENY] = "deny",
    };
    return names[action];
}
