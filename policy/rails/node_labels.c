/* The rail node-labels: workloads ask for labels that nodes carry. */
#include "policy/rails/node_labels.h"
#include "solver/well_known.h"

#include "catalog/catalog.h"
#include "kube/placeholder.h"
#include "kube/pod.h"
#include "kube/snapshot.h"
#include "policy/reading.h"

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_GLOB_LISTS,
     .offset = offsetof(struct node_labels, allow),
     .summary = "of these labels only these values may be selected; what is listed counts as "
                "offered. karpenter.sh/nodepool says who may use which pool"},
    {0},
};

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    struct node_labels *settings = settings_pointer;
    settings->catalog = loading->catalog;
}

/* ---- notes ---- */

struct label_note *label_note(struct label_inquiry *check, enum severity severity,
                              const struct expression *expression,
                              const struct expression_value *value, label_wording *word)
{
    struct label_note *note = LIST_PUSH(check->call->arena, &check->notes);
    *note = (struct label_note){
        .word = word, .expression = expression, .value = value, .severity = severity};
    return note;
}

void label_allow(struct draft *draft, const struct text *values, size_t count)
{
    draft->allowed = ALLOWED_TEXTS(values, count);
    draft->nearest_to = draft->found;
    draft->typo_edits = TYPO_EDITS;
}

/* The first that no template stands for. */
static struct text example_of(const struct text *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!text_has_placeholder(values[i]))
            return values[i];
    return values[0];
}

/* A pattern is nothing to write. */
static struct text choice_of(struct text value, struct arena *arena)
{
    return text_is_glob(value) ? arena_printf(arena, "a value that matches %.*s", TEXT_ARGS(value))
                               : value;
}

struct text label_choices(const struct text *values, size_t count, const char *what,
                          struct arena *arena)
{
    enum { ALL_SHOWN = 3 };
    if (count == 0)
        return TEXT("");
    if (count > ALL_SHOWN)
        return arena_printf(arena, "one of %zu %s, such as %.*s", count, what,
                            TEXT_ARGS(choice_of(example_of(values, count), arena)));
    struct text choices = choice_of(values[0], arena);
    for (size_t i = 1; i < count; i++)
        choices =
            arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(choices), i + 1 < count ? ", " : " or ",
                         TEXT_ARGS(choice_of(values[i], arena)));
    return choices;
}

const char *label_consequence(const struct label_inquiry *check, const struct label_note *note)
{
    static const char *const consequences[] = {
        [LABEL_IN_POD] = ", so these pods would stay Pending.",
        [LABEL_IN_DAEMON] = ", so none of its pods would run.",
        [LABEL_IN_ALTERNATIVE] = ", so this term selects no node.",
        [LABEL_IN_PREFERENCE] = ", so the preference has no effect.",
    };
    const struct expression *expression = note->expression;
    if (expression != NULL && solver_op_is_negative(expression->op))
        return ", so this keeps nothing out.";
    if (note->some)
        return ", so this value selects no node.";
    return consequences[check->place];
}

bool label_is_entry(const struct expression *expression)
{
    return expression->value_count == 1 && expression->values[0].within == expression->field;
}

static const struct field *note_field(const struct label_note *note, struct arena *arena)
{
    if (note->expression == NULL)
        return note->field;
    if (note->value != NULL)
        return expression_value_field(note->value, arena);
    return label_is_entry(note->expression) ? note->expression->field
                                            : field_get(arena, note->expression->field, "key");
}

static struct draft draft_of(struct label_inquiry *check, const struct label_note *note,
                             enum severity severity)
{
    struct draft draft = {.severity = severity, .field = note_field(note, check->call->arena)};
    if (note->value != NULL)
        draft.found = note->value->text;
    else if (note->expression != NULL)
        draft.found = note->expression->key;
    note->word(check, note, &draft);
    return draft;
}

static void report_notes(struct label_inquiry *check, const struct label_notes *notes,
                         enum severity at_most)
{
    struct rail_call *call = check->call;
    FOR_EACH(note, notes) {
        enum severity severity = note->severity;
        bool weaker =
            severity == SEVERITY_RAIL || (severity == SEVERITY_WARN && at_most == SEVERITY_AUDIT);
        if (at_most != SEVERITY_RAIL && weaker && !note->forbidden)
            severity = at_most;
        if (report_counts(call, severity))
            continue;
        struct draft draft = draft_of(check, note, severity);
        report_say(call, &draft);
    }
}

/* ---- one list of requirements after the other ---- */

static bool is_impossible(const struct label_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->items[i].severity == SEVERITY_RAIL)
            return true;
    return false;
}

static bool names_types(const struct label_inquiry *check, const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (expression->valid &&
            catalog_has_key(check->settings->catalog, expression_canonical_key(expression)))
            return true;
    return false;
}

static void word_together(struct label_inquiry *check, const struct label_note *note,
                          struct draft *draft)
{
    draft->statement =
        arena_printf(check->call->arena, "No instance type fits all of this together%s",
                     label_consequence(check, note));
    draft->fix = TEXT("Remove one of the requirements.");
}

static void see_clouds(struct label_inquiry *check)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    for (size_t i = 0; !check->clouds.known && i < snapshot_pool_count(snapshot); i++) {
        bool ours = pool_is_covered_by(check->settings->catalog, snapshot_pool(snapshot, i));
        check->clouds.ours |= ours;
        check->clouds.other |= !ours;
    }
    check->clouds.known = true;
}

bool label_sees_own_cloud(struct label_inquiry *check)
{
    see_clouds(check);
    return check->clouds.ours;
}

bool label_sees_other_cloud(struct label_inquiry *check)
{
    see_clouds(check);
    return check->clouds.other;
}

/* Values that exist one by one may exclude each other: g6f has a share of a GPU, and a count of
 * GPUs above 0 leaves it out. */
static void judge_together(struct label_inquiry *check, const struct field *field,
                           const struct expressions *expressions, const struct expressions *more)
{
    const struct catalog *catalog = check->settings->catalog;
    struct arena *arena = check->call->arena;
    if (check->notes.count > 0 || check->by_node || check->types_told ||
        !names_types(check, expressions) || label_sees_other_cloud(check))
        return;
    struct type_set types = expressions_select_possible(catalog, expressions, more, arena);
    if (!type_set_is_empty(&types))
        return;
    enum severity severity = catalog_is_builtin(catalog) ? SEVERITY_WARN : SEVERITY_RAIL;
    label_note(check, severity, NULL, NULL, word_together)->field = field;
}

static struct label_notes inquire(struct label_inquiry *check, const struct field *field,
                                  const struct expressions *expressions,
                                  const struct expressions *more)
{
    check->notes = (struct label_notes){0};
    check->by_node = false;
    for (size_t i = 0; i < expressions->count; i++)
        label_judge(check, &expressions->items[i]);
    label_judge_reach(check, expressions);
    judge_together(check, field, expressions, more);
    return check->notes;
}

/* Terms are alternatives: while one of them is possible the others only mislead. */
static void judge_required(struct rail_call *call, struct label_inquiry *check,
                           const struct node_selection *selection)
{
    size_t count = selection->required.count;
    struct label_notes *notes = ARENA_ARRAY(call->arena, count, struct label_notes);
    enum severity at_most = SEVERITY_RAIL;
    for (size_t i = 0; i < count; i++) {
        const struct node_term *term = &selection->required.items[i];
        notes[i] = inquire(check, term->field, &term->expressions, &selection->selector);
        if (!is_impossible(&notes[i]))
            at_most = SEVERITY_WARN;
    }
    for (size_t i = 0; i < count; i++) {
        check->place = check->is_daemon                        ? LABEL_IN_DAEMON
                       : at_most == SEVERITY_WARN && count > 1 ? LABEL_IN_ALTERNATIVE
                                                               : LABEL_IN_POD;
        report_notes(check, &notes[i], check->is_daemon ? SEVERITY_WARN : at_most);
    }
}

static void see_what_is_there(struct label_inquiry *check)
{
    const struct world *world = check->call->world;
    const struct snapshot *snapshot = world->snapshot;
    check->pools_unseen =
        snapshot_pool_count(snapshot) == 0 || !world_sees(world, KIND_BIT(KIND_NODE_POOL));
    check->nodes_unseen =
        snapshot_count(snapshot, KIND_NODE) == 0 || !world_sees(world, KIND_BIT(KIND_NODE));
}

static void judge(struct rail_call *call)
{
    struct workload workload;
    struct label_inquiry check = {
        .call = call,
        .settings = call->settings,
        .is_daemon = is_of_daemon_set(call),
        .types_told = rail_settings(call, &rail_instance_types) != NULL,
    };
    if (!call_workload(call, &workload))
        return;
    const struct node_selection *selection = call_selection(call, &workload);
    see_what_is_there(&check);
    label_read_selected(&check, &selection->selector);
    check.place = check.is_daemon ? LABEL_IN_DAEMON : LABEL_IN_POD;
    struct label_notes notes =
        inquire(&check, selection->selector_field, &selection->selector, NULL);
    report_notes(&check, &notes, check.is_daemon ? SEVERITY_WARN : SEVERITY_RAIL);
    judge_required(call, &check, selection);
    check.place = LABEL_IN_PREFERENCE;
    FOR_EACH(term, &selection->preferred) {
        notes = inquire(&check, term->field, &term->expressions, NULL);
        for (size_t j = 0; j < notes.count; j++)
            notes.items[j].forbidden = false;
        report_notes(&check, &notes, severity_of_preference(call));
    }
}

const struct rail rail_node_labels = {
    .name = "node-labels",
    .summary = "labels selected that some node carries",
    .detail =
        "A pod that selects a label no node carries waits for ever. The "
        "rail reads nodeSelector and node affinity, required and preferred, and looks each label "
        "up: among the labels and requirements of visible NodePools, on visible Nodes, in the "
        "instance catalogue, and among the zones of the cluster.\n\n"
        "Found are labels and values that nothing offers, with the nearest that is offered; "
        "well-known labels under a wrong domain, without one, or misspelt (node.kubernetes.io/"
        "arch, zone); values in the wrong place, such as a family given as a category, or an "
        "instance type with a dash for its dot; and requirements that no instance type meets "
        "together; what instance-types of the same policy tells of types is left to it. Values "
        "that some machine of the catalogue has are left to placeable, even where "
        "no visible NodePool would buy one (spot beside pools on demand, arm64 beside amd64): "
        "which pods the pools together can run is its subject. Old spellings that still work "
        "(beta.kubernetes.io/arch) are warned about. So "
        "is what only the built-in catalogue contradicts, since new types appear; what one of "
        "several alternatives says, while another is possible; preferred terms; and DaemonSets, "
        "for which no node is bought; and a requirement on kubernetes.io/hostname other than In, "
        "for which Karpenter refuses the pod. NotIn and DoesNotExist ask for nothing that must be "
        "there.\n\n"
        "Under allow a policy grants values of a label. The requirements of a term must leave one "
        "of these: NotIn beside Exists is found where it leaves only others. NotIn alone also "
        "takes nodes without the label. It is found where every visible NodePool gives the label "
        "to its nodes, and one of them gives a value that the term takes and that is not granted. "
        "Some labels are on each machine, such as karpenter.k8s.aws/instance-family and "
        "instance-cpu-manufacturer. NotIn of these is found where every visible NodePool has an "
        "EC2NodeClass and one of them buys machines with such a value. For labels that begin with "
        "eks.amazonaws.com/instance-, every visible NodePool must be of EKS Auto Mode instead. "
        "DoesNotExist selects no value, so it is not found here. Where NodePools and Nodes are "
        "seen, NotIn and Exists are also found where some node has a value that they take, and "
        "none has a granted one that they take: then name the granted value with In.\n\n"
        "Values that are filled in later, such as INSTANCE_TYPE, are not judged. Where allow names "
        "the label, the other values of the list must be granted all the same. In what the API "
        "server sends nothing is filled in later: there these values are judged, too.\n\n"
        "Labels that a cloud or an operator puts on nodes (eks.amazonaws.com/nodegroup, "
        "feature.node.kubernetes.io/...) cannot be decided while no visible Node carries them. "
        "While no NodePool or no Node is visible, no other label can, a misspelt one included: "
        "node groups give nodes labels, too, and zone may be a label of your own. Names of "
        "NodePools need no Node. Name labels that are not seen under allow, with their values; "
        "\"*\" is any.",
    .example = "node-labels:\n"
               "  mode: enforce\n"
               "  allow:\n"
               "    karpenter.sh/nodepool: [general, \"team-web-*\"]\n"
               "    example.com/disk: [\"*\"]\n",
    .kinds = KINDS_WORKLOADS,
    .sources = KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE),
    .sources_of = KINDS_WORKLOADS,
    .keys = keys,
    .settings_size = sizeof(struct node_labels),
    .prepare = prepare,
    .judge = judge,
};
