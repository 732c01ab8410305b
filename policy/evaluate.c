#include <stdlib.h>
#include <string.h>

#include "policy/evaluation.h"
#include "policy/message.h"

struct findings {
    struct finding *items;
    size_t count, capacity;
};

/* The evaluation of findings. */
struct trial {
    struct evaluation evaluation;
    bool controlled; /* a ReplicaSet or Job of a guarded kind */
    struct findings findings;
};

void judgement_report(struct judgement *judgement, const struct draft *draft)
{
    struct hearing *hearing = (struct hearing *)judgement;
    *LIST_PUSH(judgement->arena, &hearing->drafts) = *draft;
}

static struct drafts hear(const struct evaluation *evaluation, const struct rail_use *use,
                          const struct object *object)
{
    struct hearing hearing = {.judgement = {.world = evaluation->world,
                                            .subject = evaluation->subject,
                                            .object = object,
                                            .now_unix_s = evaluation->now_unix_s,
                                            .arena = evaluation->arena}};
    use->rail->judge(&hearing.judgement, use->settings);
    return hearing.drafts;
}

/* ---- what was there before ---- */

/* A path in which list indices give way to names, so that an inserted container does not make the
 * others new. */
static struct text identity_path(struct arena *arena, const struct field *field)
{
    if (field == NULL || field->parent == NULL)
        return TEXT("");
    struct text parent = identity_path(arena, field->parent);
    if (field->key.data != NULL)
        return arena_printf(arena, "%.*s.%.*s", TEXT_ARGS(parent), TEXT_ARGS(field->key));
    struct text name = node_string(node_get(field->node, "name"));
    return arena_printf(arena, "%.*s[%.*s]", TEXT_ARGS(parent), TEXT_ARGS(name));
}

/* Whether the old object has this finding too; each old one excuses one new one. */
static bool take_pre_existing(struct arena *arena, const struct draft *draft, struct drafts *old)
{
    struct text path = identity_path(arena, draft->field);
    for (size_t i = 0; i < old->count; i++) {
        if (!text_equal(old->items[i].found, draft->found) ||
            !text_equal(old->items[i].statement, draft->statement) ||
            !text_equal(identity_path(arena, old->items[i].field), path))
            continue;
        old->items[i] = old->items[--old->count];
        return true;
    }
    return false;
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

static enum action decide(const struct trial *trial, const struct rail_use *use,
                          const struct finding *finding, enum severity severity)
{
    enum action action = action_of_mode(use->mode);
    if (finding->pre_existing)
        return at_most(action, ACTION_AUDIT);
    if (severity == SEVERITY_WARN)
        action = at_most(action, ACTION_WARN);
    if (severity == SEVERITY_AUDIT)
        action = at_most(action, ACTION_AUDIT);
    if (evaluation_spares(&trial->evaluation, use))
        action = at_most(action, ACTION_WARN);
    if (trial->controlled && action == ACTION_DENY)
        action = ACTION_AUDIT;
    return action;
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

static void add_finding(struct trial *trial, const struct ruling *ruling, const struct draft *draft,
                        bool pre_existing)
{
    enum { ALLOWED_SHOWN = 5, PATH_LIMIT = 512, MESSAGE_LIMIT = 1024, FIX_LIMIT = 4096 };
    const struct evaluation *evaluation = &trial->evaluation;
    const struct policy *policy = ruling->policy;
    const struct rail_use *use = &ruling->use;
    struct arena *arena = evaluation->arena;
    struct finding *finding = LIST_PUSH(arena, &trial->findings);
    *finding = (struct finding){
        .rail = use->rail->name,
        .pre_existing = pre_existing,
        .field = draft->field,
        .path = message_printable(field_path(arena, draft->field), PATH_LIMIT, arena),
        .found = draft->found,
        .allowed = draft->allowed,
        .allowed_count =
            draft->allowed_count < ALLOWED_SHOWN ? draft->allowed_count : ALLOWED_SHOWN,
        .allowed_total = draft->allowed_count,
        .fix = message_printable(draft->fix, FIX_LIMIT, arena),
        .replacement = draft->replacement,
        .policy = policy->name,
        .docs = docs_url(policy, use->rail->name, arena),
        .contact = policy->contact,
    };
    if (ruling->override != NULL)
        finding->override = ruling->override->id;
    finding->action = decide(trial, use, finding, draft->severity);

    bool expired = false;
    bool exception_unknown = false;
    const struct exception *exception =
        exception_find(policy, use->rail->name, &evaluation->match, evaluation->now_unix_s,
                       &expired, &exception_unknown);
    bool unknown_namespace = ruling->match_unknown || exception_unknown;
    if (exception != NULL && !unknown_namespace)
        apply_exception(exception, expired, finding);
    if ((draft->severity == SEVERITY_UNDECIDED || unknown_namespace) &&
        finding->action != ACTION_EXCEPTED && !pre_existing) {
        finding->undecided = true;
        finding->quiet = finding->action < ACTION_WARN;
        finding->action = ACTION_WARN;
    }
    struct text namespace = unknown_namespace ? evaluation->subject->object->namespace : TEXT("");
    finding->message =
        message_printable(message_finding(draft, finding, namespace, arena), MESSAGE_LIMIT, arena);
}

/* ---- the whole ---- */

static void evaluate_rail(struct trial *trial, const struct ruling *ruling)
{
    const struct rail_use *use = &ruling->use;
    const struct evaluation *evaluation = &trial->evaluation;
    const struct subject *subject = evaluation->subject;
    if (use->mode == MODE_OFF || use->rail->judge == NULL ||
        (use->rail->kinds & KIND_BIT(subject->object->kind)) == 0)
        return;
    struct drafts drafts = hear(evaluation, use, subject->object);
    if (drafts.count == 0)
        return;
    struct drafts old = {0};
    if (subject->old_object != NULL)
        old = hear(evaluation, use, subject->old_object);
    for (size_t i = 0; i < drafts.count; i++) {
        const struct draft *draft = &drafts.items[i];
        bool pre_existing = take_pre_existing(evaluation->arena, draft, &old);
        add_finding(trial, ruling, draft, pre_existing);
    }
}

static bool is_controlled(const struct object *object)
{
    if (object->kind != KIND_REPLICA_SET && object->kind != KIND_JOB)
        return false;
    enum kind owner = kind_of(object->controller.api_version, object->controller.kind);
    return object->controller.name.size > 0 && (KIND_BIT(owner) & KINDS_WORKLOADS) != 0;
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
    return order != 0 ? order : text_compare(a->message, b->message);
}

/* What matters in these is settled once they are made. */
static const kind_set judged_on_create_only =
    KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_STORAGE_CLASS);

/* Objects on their way out, and calls that change no spec, are let through. */
static bool is_judged(const struct subject *subject)
{
    if (subject->operation == OPERATION_UPDATE &&
        (KIND_BIT(subject->object->kind) & judged_on_create_only) != 0)
        return false;
    return (subject->operation == OPERATION_CREATE || subject->operation == OPERATION_UPDATE) &&
           !text_is(subject->subresource, "status") &&
           !(subject->operation == OPERATION_UPDATE && subject->object->deleting);
}

void policy_evaluate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                     struct arena *arena, struct verdict *verdict)
{
    *verdict = (struct verdict){0};
    if (!is_judged(subject))
        return;
    struct trial trial = {
        .evaluation = evaluation_begin(world, subject, now_unix_s, arena),
        .controlled = is_controlled(subject->object),
    };

    for (size_t i = 0; i < world->policies->count; i++) {
        const struct policy *policy = &world->policies->items[i];
        enum match_result match = match_evaluate(&policy->match, &trial.evaluation.match);
        for (size_t j = 0; match != MATCH_NO && j < policy->rail_count; j++) {
            const struct ruling ruling =
                evaluation_rule(&trial.evaluation, policy, &policy->rails[j], match);
            evaluate_rail(&trial, &ruling);
        }
    }

    struct findings *findings = &trial.findings;
    if (findings->count > 1)
        qsort_r(findings->items, findings->count, sizeof *findings->items, compare_findings, arena);
    verdict->findings = findings->items;
    verdict->finding_count = findings->count;
    for (size_t i = 0; i < findings->count; i++)
        if (!findings->items[i].undecided && findings->items[i].action > verdict->action)
            verdict->action = findings->items[i].action;
}

const char *action_name(enum action action)
{
    static const char *const names[] = {
        [ACTION_NONE] = "none", [ACTION_EXCEPTED] = "excepted", [ACTION_AUDIT] = "audit",
        [ACTION_WARN] = "warn", [ACTION_DENY] = "deny",
    };
    return names[action];
}
