/* How a pod chooses nodes. */
#include "kube/pod.h"

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/taint.h"
#include "kube/topology.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

static void read_term(struct node_terms *terms, const struct field *field, struct arena *arena)
{
    struct node_term term = {.field = field};
    expressions_add_list(&term.expressions, field_get(arena, field, "matchExpressions"), arena);
    *LIST_PUSH(arena, terms) = term;
}

void node_selection_read(const struct workload *workload, struct arena *arena,
                         struct node_selection *selection)
{
    *selection = (struct node_selection){0};
    selection->selector_field = field_get(arena, workload->spec, "nodeSelector");
    expressions_add_labels(&selection->selector, selection->selector_field, arena);

    if (node_get(workload->spec->node, "affinity") == NULL)
        return;
    const struct field *affinity = field_get(arena, workload->spec, "affinity");
    const struct field *of_nodes = field_get(arena, affinity, "nodeAffinity");
    const struct field *required = field_get(arena, of_nodes, REQUIRED);
    const struct field *terms = field_get(arena, required, "nodeSelectorTerms");
    FOR_FIELDS(item, arena, terms)
        read_term(&selection->required, item, arena);
    const struct field *preferred = field_get(arena, of_nodes, PREFERRED);
    FOR_FIELDS(item, arena, preferred)
        read_term(&selection->preferred, field_get(arena, item, "preference"), arena);
}

bool node_term_is_empty(const struct node_term *term)
{
    return term->expressions.count == 0 &&
           node_count(node_get(term->field->node, "matchFields")) == 0;
}

struct text node_term_node(const struct node_term *term)
{
    FOR_ITEMS(match, node_get(term->field->node, "matchFields"))
        if (text_is(node_string(node_get(match, "key")), "metadata.name") &&
            text_is(node_string(node_get(match, "operator")), "In"))
            return node_string(node_item(node_get(match, "values"), 0));
    return TEXT("");
}

bool workload_may_get_tolerations(const struct workload *workload)
{
    const struct object *object = workload->object;
    return node_string(node_get(workload->spec->node, "runtimeClassName")).size > 0 &&
           (object->kind != KIND_POD || object_is_of_file(object));
}

bool pod_is_on_fargate(const struct node *labels, const struct node *spec)
{
    return node_get(labels, "eks.amazonaws.com/fargate-profile") != NULL ||
           text_is(node_string(node_get(spec, "schedulerName")), FARGATE_SCHEDULER) ||
           text_is(node_string(node_get(node_get(spec, "nodeSelector"), LABEL_COMPUTE_TYPE)),
                   "fargate");
}

static void add_topology_term(struct topology_terms *terms, enum topology_use use, bool required,
                              const struct field *term, struct arena *arena)
{
    *LIST_PUSH(arena, terms) = (struct topology_term){
        .use = use,
        .required = required,
        .term = term,
        .key = field_get(arena, term, "topologyKey"),
    };
}

static void read_spread(const struct workload *workload, struct arena *arena,
                        struct topology_terms *terms)
{
    const struct field *list = field_get(arena, workload->spec, "topologySpreadConstraints");
    FOR_FIELDS(constraint, arena, list) {
        struct text unsatisfiable = node_string(node_get(constraint->node, "whenUnsatisfiable"));
        add_topology_term(terms, TOPOLOGY_SPREAD, !text_is(unsatisfiable, "ScheduleAnyway"),
                          constraint, arena);
    }
}

static void read_pod_affinity(const struct field *affinity, enum topology_use use,
                              struct arena *arena, struct topology_terms *terms)
{
    if (affinity->node == NULL)
        return;
    const struct field *required = field_get(arena, affinity, REQUIRED);
    FOR_FIELDS(item, arena, required)
        add_topology_term(terms, use, true, item, arena);
    const struct field *preferred = field_get(arena, affinity, PREFERRED);
    FOR_FIELDS(item, arena, preferred)
        add_topology_term(terms, use, false, field_get(arena, item, "podAffinityTerm"), arena);
}

void topology_terms_read(const struct workload *workload, struct arena *arena,
                         struct topology_terms *terms)
{
    *terms = (struct topology_terms){0};
    read_spread(workload, arena, terms);
    if (node_get(workload->spec->node, "affinity") == NULL)
        return;
    const struct field *affinity = field_get(arena, workload->spec, "affinity");
    read_pod_affinity(field_get(arena, affinity, "podAffinity"), TOPOLOGY_AFFINITY, arena, terms);
    read_pod_affinity(field_get(arena, affinity, "podAntiAffinity"), TOPOLOGY_ANTI_AFFINITY, arena,
                      terms);
}

struct pod_scheduling pod_scheduling_read(const struct workload *workload, struct arena *arena)
{
    struct node_selection *selection = ARENA_NEW(arena, struct node_selection);
    struct tolerations *tolerations = ARENA_NEW(arena, struct tolerations);
    struct topology_terms *topology = ARENA_NEW(arena, struct topology_terms);
    node_selection_read(workload, arena, selection);
    tolerations_read(workload, arena, tolerations);
    topology_terms_read(workload, arena, topology);
    return (struct pod_scheduling){selection, tolerations, topology};
}

bool pod_is_done(const struct object *pod)
{
    struct text phase = node_string(node_at(pod->root->node, "status.phase"));
    return text_is(phase, "Succeeded") || text_is(phase, "Failed");
}
