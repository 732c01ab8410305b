/* The topologyKeys of a pod: spreads, affinity and anti-affinity. */
#ifndef TAFFRAIL_KUBE_TOPOLOGY_H
#define TAFFRAIL_KUBE_TOPOLOGY_H

#include "base/base.h"

struct snapshot;
struct workload;

/* The place in a pod that names a topologyKey. */
enum topology_use { TOPOLOGY_SPREAD, TOPOLOGY_AFFINITY, TOPOLOGY_ANTI_AFFINITY };
struct topology_term {
    enum topology_use use;
    bool required;            /* or preferred, ScheduleAnyway */
    const struct field *term; /* the constraint or podAffinityTerm */
    const struct field *key;  /* its topologyKey */
};
struct topology_terms {
    struct topology_term *items;
    size_t count, capacity;
};
void topology_terms_read(const struct workload *workload, struct arena *arena,
                         struct topology_terms *terms);
/* Whether it can only be a part, such as a Kustomize patch: the API server accepts no Deployment or
 * similar without labels in its template. */
bool workload_is_part(const struct workload *workload);
/* Whether the pods have one of the labels: of the template, or put there by a controller. */
bool workload_has_some_label(const struct workload *workload, const struct node *keys);
/* Whether a spread has a selector of which nothing is written, and no matchLabelKeys that the pods
 * have: kube-scheduler counts no pod with it (docs/reference/karpenter.md 3.4). In other terms it
 * is of all pods. */
bool topology_term_counts_nothing(const struct workload *workload,
                                  const struct topology_term *term);
/* Whether a term of a pod in the namespace own is about pods of a namespace. It may be where labels
 * of the namespace decide that are not seen. */
enum topology_look { TOPOLOGY_LOOKS_ELSEWHERE, TOPOLOGY_MAY_LOOK, TOPOLOGY_LOOKS };
enum topology_look topology_term_looks_into(const struct snapshot *snapshot,
                                            const struct node *term, struct text own,
                                            struct text namespace);
/* Whether the term's selector, namespaces and label keys include the workload's own pods. Where
 * labels decide that are not seen, those of its Namespace or of a part, it may select them and is
 * not known to: ask for what acquits, so that nobody is denied for what is not seen. */
bool topology_term_selects_itself(const struct snapshot *snapshot, const struct workload *workload,
                                  const struct topology_term *term);
bool topology_term_may_select_itself(const struct snapshot *snapshot,
                                     const struct workload *workload,
                                     const struct topology_term *term);
/* The entry of its matchLabelKeys by which each pod of the workload meets itself alone, since no
 * two have one value of the label; NULL: there is none. */
const struct field *topology_term_own_key(const struct workload *workload,
                                          const struct topology_term *term, struct arena *arena);

#endif
