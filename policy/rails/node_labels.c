#include "policy/rails/node_labels.h"

#include "catalog/catalog.h"
#include "kube/pod.h"
#include "kube/snapshot.h"

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_GLOB_LISTS,
     .offset = offsetof(struct node_labels, allow),
     .summary = "of these labels only these values may be selected; what is listed counts as "
                "offered. karpenter.sh/nodepool says who may use which pool"},
    {0},
};

static void prepare(void *settings_pointer, const struct catalog *catalog,
                    const struct node *rail_node, struct source *source, struct arena *arena,
                    struct problems *warnings)
{
    (void)rail_node, (void)source, (void)arena, (void)warnings;
    struct node_labels *settings = settings_pointer;
    settings->catalog = catalog;
}

/* ---- notes ---- */

struct label_note *label_note(struct label_inquiry *check, enum severity severity,
                              const struct field *field, struct text found)
{
    struct label_note *note = LIST_PUSH(check->call->arena, &check->notes);
    note->draft = (struct draft){.severity = severity, .field = field, .found = found};
    return note;
}

void label_note_allow(struct label_note *note, const struct text *values, size_t count,
                      const char *otherwise)
{
    note->draft.allowed = values;
    note->draft.allowed_count = count;
    note->draft.nearest_to = note->draft.found;
    note->draft.fix = text_of(otherwise);
    note->draft.advise = advise_typo;
}

static void report_notes(struct rail_call *call, const struct label_notes *notes,
                         enum severity at_most)
{
    for (size_t i = 0; i < notes->count; i++) {
        struct draft draft = notes->items[i].draft;
        bool weaker = draft.severity == SEVERITY_RAIL ||
                      (draft.severity == SEVERITY_WARN && at_most == SEVERITY_AUDIT);
        if (at_most != SEVERITY_RAIL && weaker && !notes->items[i].forbidden)
            draft.severity = at_most;
        report_draft(call, &draft);
    }
}

/* ---- one list of requirements after the other ---- */

static bool is_impossible(const struct label_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        if (notes->items[i].draft.severity == SEVERITY_RAIL)
            return true;
    return false;
}

static bool names_types(const struct label_inquiry *check, const struct expressions *expressions)
{
    for (size_t i = 0; i < expressions->count; i++) {
        struct text key = expressions->items[i].key;
        size_t size = key.size;
        const char *canonical = solver_canonical_key(key.data, &size);
        if (expressions->items[i].valid &&
            catalog_has_key(check->settings->catalog, (struct text){canonical, size}))
            return true;
    }
    return false;
}

/* Values that exist one by one may exclude each other: g6f has a share of a GPU, and a count of
 * GPUs above 0 leaves it out. */
static void judge_together(struct label_inquiry *check, const struct field *field,
                           const struct expressions *expressions, const struct expressions *more)
{
    const struct catalog *catalog = check->settings->catalog;
    struct arena *arena = check->call->arena;
    if (check->notes.count > 0 || check->by_node || check->other_cloud ||
        !names_types(check, expressions))
        return;
    struct type_set types = expressions_select(catalog, expressions, more, arena);
    if (type_set_count(&types) > 0)
        return;
    struct label_note *note = label_note(
        check, catalog_is_builtin(catalog) ? SEVERITY_WARN : SEVERITY_RAIL, field, TEXT(""));
    note->draft.statement = TEXT("no instance type fits all of this together");
    note->draft.fix = TEXT("remove one of the requirements");
}

static struct label_notes inquire(struct label_inquiry *check, const struct field *field,
                                  const struct expressions *expressions,
                                  const struct expressions *more)
{
    check->notes = (struct label_notes){0};
    check->by_node = false;
    for (size_t i = 0; i < expressions->count; i++)
        label_judge(check, &expressions->items[i]);
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
    for (size_t i = 0; i < count; i++)
        report_notes(call, &notes[i], check->is_daemon ? SEVERITY_WARN : at_most);
}

static void see_pools(struct label_inquiry *check)
{
    const struct world *world = check->call->world;
    const struct snapshot *snapshot = world->snapshot;
    check->unseen = snapshot_pool_count(snapshot) == 0 ||
                    !world_sees(world, KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE));
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++) {
        if (pool_is_covered_by(check->settings->catalog, snapshot_pool(snapshot, i)))
            check->pools_visible = true;
        else
            check->other_cloud = true;
    }
}

static void judge(struct rail_call *call)
{
    const void *settings = call->settings;
    struct workload workload;
    struct node_selection selection;
    struct label_inquiry check = {
        .call = call,
        .settings = settings,
        .is_daemon = is_of_daemon_set(call->subject, call->object),
    };
    if (!workload_read(call->object, call->arena, &workload))
        return;
    node_selection_read(&workload, call->arena, &selection);
    see_pools(&check);
    struct label_notes notes = inquire(&check, selection.selector_field, &selection.selector, NULL);
    report_notes(call, &notes, check.is_daemon ? SEVERITY_WARN : SEVERITY_RAIL);
    judge_required(call, &check, &selection);
    for (size_t i = 0; i < selection.preferred.count; i++) {
        const struct node_term *term = &selection.preferred.items[i];
        notes = inquire(&check, term->field, &term->expressions, NULL);
        for (size_t j = 0; j < notes.count; j++)
            notes.items[j].forbidden = false;
        report_notes(call, &notes, severity_of_preference(call));
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
        "together. Values that some machine of the catalogue has are left to placeable, even where "
        "no visible NodePool would buy one (spot beside pools on demand, arm64 beside amd64): "
        "which pods the pools together can run is its subject. Old spellings that still work "
        "(beta.kubernetes.io/arch) are warned about. So "
        "is what only the built-in catalogue contradicts, since new types appear; what one of "
        "several alternatives says, while another is possible; preferred terms; and DaemonSets, "
        "for which no node is bought. NotIn and DoesNotExist ask for nothing that must be "
        "there.\n\n"
        "Labels that a cloud or an operator puts on nodes (eks.amazonaws.com/nodegroup, "
        "feature.node.kubernetes.io/...) cannot be decided while no visible Node carries them, "
        "and no label of your own can while no NodePool is visible. Name such labels under allow, "
        "with their values; \"*\" is any.",
    .example = "node-labels:\n"
               "  mode: enforce\n"
               "  allow:\n"
               "    karpenter.sh/nodepool: [general, \"team-web-*\"]\n"
               "    example.com/disk: [\"*\"]\n",
    .kinds = KINDS_WORKLOADS,
    .keys = keys,
    .settings_size = sizeof(struct node_labels),
    .prepare = prepare,
    .judge = judge,
};
