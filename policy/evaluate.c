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
    /* Of the policy at hand. */
    bool controlled;         /* a ReplicaSet or Job of a guarded kind */
    struct views views, old; /* the object, or its pod templates, and those it had before */
};

void judgement_report(struct judgement *judgement, const struct draft *draft)
{
    struct hearing *hearing = (struct hearing *)judgement;
    *LIST_PUSH(judgement->arena, &hearing->drafts) = *draft;
}

/* Whether a field lies in the template that is judged, not elsewhere in the custom resource. */
static bool is_in_template(const struct field *field, const struct pod_template *template)
{
    while (field != NULL && field != template->spec && field != template->metadata)
        field = field->parent;
    return field != NULL;
}

/* What makes two drafts of a rail the same; no part of it holds a NUL. */
static struct text identity_of(const struct draft *draft, struct text path, struct arena *arena)
{
    return arena_printf(arena, "%.*s%c%.*s%c%.*s", TEXT_ARGS(path), '\0', TEXT_ARGS(draft->found),
                        '\0', TEXT_ARGS(draft->statement));
}

static struct drafts hear(const struct evaluation *evaluation, const struct rail_use *use,
                          const struct views *views)
{
    struct arena *arena = evaluation->arena;
    struct drafts drafts = {0};
    struct text_map outside = {0};
    for (size_t i = 0; i < views->count; i++) {
        const struct object *object = &views->items[i];
        struct hearing hearing = {.judgement = {.world = evaluation->world,
                                                .subject = evaluation->subject,
                                                .object = object,
                                                .now_unix_s = evaluation->now_unix_s,
                                                .arena = arena}};
        use->rail->judge(&hearing.judgement, use->settings);
        if (object->template == NULL)
            return hearing.drafts;
        for (size_t j = 0; j < hearing.drafts.count; j++) {
            const struct draft *draft = &hearing.drafts.items[j];
            /* What a rail says of the custom resource itself it says at each of its templates. */
            if (is_in_template(draft->field, object->template) ||
                text_map_add(&outside, arena,
                             identity_of(draft, field_path(arena, draft->field), arena)))
                *LIST_PUSH(arena, &drafts) = *draft;
        }
    }
    return drafts;
}

/* ---- what was there before ---- */

/* What tells an item of a list from the others: KubeRay calls it groupName. */
static struct text name_of_item(const struct node *item)
{
    struct text name = node_string(node_get(item, "name"));
    return name.size > 0 ? name : node_string(node_get(item, "groupName"));
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

/* How often a rail finds each thing in the old object. */
static struct text_map formers_of(const struct drafts *drafts, struct arena *arena)
{
    struct text_map formers = {0};
    for (size_t i = 0; i < drafts->count; i++) {
        const struct draft *draft = &drafts->items[i];
        (void)text_map_add(&formers, arena,
                           identity_of(draft, identity_path(arena, draft->field), arena));
    }
    return formers;
}

/* Whether the old object has this finding too; each old one excuses one new one. */
static bool take_pre_existing(struct arena *arena, const struct draft *draft, struct text_map *old)
{
    if (old->count == 0)
        return false;
    struct text identity = identity_of(draft, identity_path(arena, draft->field), arena);
    if (text_map_get(old, identity, 0) == 0)
        return false;
    *text_map_at(old, arena, identity) -= 1;
    return true;
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

/* An autoscaler's replicas are needed now, and nobody reads what it is told. */
static bool is_scaled_by_controller(const struct subject *subject)
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

static void add_finding(struct trial *trial, const struct ruling *ruling,
                        const struct draft *shared, bool pre_existing)
{
    enum { PATH_LIMIT = 512, MESSAGE_LIMIT = 1024, FIX_LIMIT = 4096 };
    const struct evaluation *evaluation = &trial->evaluation;
    const struct policy *policy = ruling->policy;
    const struct rail_use *use = &ruling->use;
    struct arena *arena = evaluation->arena;
    struct draft finished = finish_draft(shared, arena);
    const struct draft *draft = &finished;
    struct finding *finding = LIST_PUSH(arena, &trial->findings);
    *finding = (struct finding){
        .rail = use->rail->name,
        .pre_existing = pre_existing,
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
}

/* ---- the whole ---- */

static void evaluate_rail(struct trial *trial, const struct ruling *ruling)
{
    const struct rail_use *use = &ruling->use;
    const struct evaluation *evaluation = &trial->evaluation;
    if (use->mode == MODE_OFF || use->rail->judge == NULL ||
        (use->rail->kinds & KIND_BIT(trial->views.items[0].kind)) == 0 ||
        (subject_is_scale(evaluation->subject) && !use->rail->judges_scale))
        return;
    bool unseen = evaluation->subject->template_unseen;
    struct drafts drafts =
        unseen ? scale_undecided(evaluation) : hear(evaluation, use, &trial->views);
    if (drafts.count == 0)
        return;
    struct drafts old_drafts = {0};
    if (!unseen)
        old_drafts = hear(evaluation, use, &trial->old);
    struct text_map old = formers_of(&old_drafts, evaluation->arena);
    for (size_t i = 0; i < drafts.count; i++) {
        const struct draft *draft = &drafts.items[i];
        bool pre_existing = take_pre_existing(evaluation->arena, draft, &old);
        add_finding(trial, ruling, draft, pre_existing);
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

void policy_evaluate(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                     struct arena *arena, struct verdict *verdict)
{
    *verdict = (struct verdict){0};
    if (!is_judged(subject))
        return;
    struct trial trial = {.evaluation = evaluation_begin(world, subject, now_unix_s, arena)};
    for (size_t i = 0; i < world->policies->count; i++)
        evaluate_policy(&trial, &world->policies->items[i]);

    struct findings *findings = &trial.findings;
    if (findings->count > 1)
        qsort_r(findings->items, findings->count, sizeof *findings->items, compare_findings, arena);
    verdict->findings = findings->items;
    verdict->finding_count = findings->count;
    if (trial.hangs_on_owner)
        verdict->awaited = trial.evaluation.root.awaited;
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
