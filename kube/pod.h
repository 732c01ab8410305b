/* Workloads and the pods they make: how a pod chooses nodes. */
#ifndef TAFFRAIL_KUBE_POD_H
#define TAFFRAIL_KUBE_POD_H

#include "kube/expression.h"

struct object;
struct tolerations;
struct topology_terms;

/* Whether its containers have ended for good. */
bool pod_is_done(const struct object *pod);

/* The part of a workload that becomes a Pod. */
struct workload {
    const struct object *object;
    const struct field *metadata, *spec; /* of the pod or its template; nodes may be absent */
};
/* False when the object is not a workload. */
bool workload_read(const struct object *object, struct arena *arena, struct workload *workload);
struct node_term {
    const struct field *field;
    struct expressions expressions;
};
struct node_terms {
    struct node_term *items;
    size_t count, capacity;
};
/* An empty term, without expressions and fields, selects no node. */
bool node_term_is_empty(const struct node_term *term);
/* The name of the only Node that its matchFields take (metadata.name In); empty: they name none. */
struct text node_term_node(const struct node_term *term);
/* How a pod chooses nodes. Required terms are alternatives (OR); the selector goes with each. */
struct node_selection {
    const struct field *selector_field;
    struct expressions selector;
    struct node_terms required, preferred;
};
void node_selection_read(const struct workload *workload, struct arena *arena,
                         struct node_selection *selection);
/* Whether the API server may add tolerations that are not written: those of a RuntimeClass, which
 * is not read, come when a Pod is created. */
bool workload_may_get_tolerations(const struct workload *workload);
/* What a pod asks of the scheduler: how it chooses nodes, what it tolerates of theirs, and where
 * other pods are to be. */
struct pod_scheduling {
    const struct node_selection *selection;
    const struct tolerations *tolerations;
    const struct topology_terms *topology;
};
struct pod_scheduling pod_scheduling_read(const struct workload *workload, struct arena *arena);
#define FARGATE_SCHEDULER "fargate-scheduler"
/* Whether EKS runs it on Fargate, on a node of its own: as its webhook marks pods when they are
 * created, or as the pod asks. labels are the pod's, NULL: none. */
bool pod_is_on_fargate(const struct node *labels, const struct node *spec);

#endif
