/* The zones that a pod's volumes allow, and the zone that is chosen where they leave a choice: pure
 * functions of a snapshot and a pod. */
#ifndef TAFFRAIL_PINNING_PIN_H
#define TAFFRAIL_PINNING_PIN_H

#include "kube/zone.h"

struct object;
struct snapshot;
struct supply;
struct topology_term;

/* ---- one claim ---- */

/* How certain the zone is, in ascending order. */
enum claim_hold {
    CLAIM_ANYWHERE, /* it has nothing to do with zones */
    CLAIM_NARROWS,  /* some zones are possible; others than this pod use it, or it is ephemeral */
    CLAIM_UNKNOWN,  /* its zone is not visible */
    CLAIM_UNBOUND,  /* its volume will be where its pod is */
    CLAIM_RESERVED, /* it names its volume, and is not bound to it yet */
    CLAIM_BOUND,
};
/* Where the zone comes from. */
enum pin_source {
    PIN_FROM_SOLVER,
    PIN_FROM_STORAGE_CLASS,
    PIN_FROM_SELECTED_NODE,
    PIN_FROM_VOLUME,
};
const char *pin_source_name(enum pin_source source); /* "solver", "storage-class", ... */

struct claim_zones {
    enum claim_hold hold;
    enum pin_source source;
    bool any_zone; /* it is not confined to zones */
    struct zones zones;
    struct text selected; /* the zone of the node kube-scheduler has chosen; empty: none */
};
/* template: a StatefulSet's, from which an absent claim will be made; may be NULL. */
void claim_zones_read(const struct snapshot *snapshot, struct text namespace, struct text name,
                      const struct field *template, struct arena *arena,
                      struct claim_zones *result);
/* The same for an ephemeral claim, which is made for one pod and deleted with it. */
void ephemeral_zones_read(const struct snapshot *snapshot, const struct field *template,
                          struct arena *arena, struct claim_zones *result);
/* The one zone that a claim is in, or will be in because kube-scheduler has chosen its node; empty:
 * none. */
struct text claim_settled_zone(const struct snapshot *snapshot, const struct object *claim,
                               struct arena *arena);

/* ---- a pod ---- */

enum pin_kind {
    PIN_NONE,       /* no pin */
    PIN_IMPOSSIBLE, /* its volumes have no zone in common */
    PIN_CANDIDATES, /* some zones, of which none is chosen */
    PIN_UNBOUND,
    PIN_RESERVED,
    PIN_BOUND,
};
struct pin {
    enum pin_kind kind;
    enum pin_source source;
    struct zones zones; /* the zones of its volumes, or the candidates; if chosen, that one alone */
    bool chosen;        /* one zone is chosen */
    bool reachable;     /* in each of them a Node is, or can be launched */
    bool follows;     /* the zone is not that of its own volume, but of a pod that it must be in one
                         zone with */
    bool of_replicas; /* its owner is a visible StatefulSet of two or more replicas */
};
/* Whether a pod mounts a claim or must be in one zone with others: other pods have no pin. */
bool pin_may_apply(const struct object *pod);
/* supply NULL: where nodes can be launched is not known. */
void pin_read(const struct snapshot *snapshot, const struct supply *supply,
              const struct object *pod, struct arena *arena, struct pin *pin);
/* Whether the pin is PIN_IMPOSSIBLE; only the pod's own volumes count for that. *volumes, by their
 * names in the pod: "data in us-east-1a, logs in us-east-1b". */
bool pin_is_impossible(const struct snapshot *snapshot, const struct object *pod,
                       struct arena *arena, struct text *volumes);
/* The zones that the bound volumes have in common, and *volumes as above. False when none is bound
 * to a zone, or they have no zone in common. */
bool pin_bound_zones(const struct snapshot *snapshot, const struct object *pod, struct arena *arena,
                     struct zones *zones, struct text *volumes);

/* ---- inside ---- */

/* A StatefulSet's pod. */
struct pin_set {
    const struct object *set; /* NULL: of none that is visible */
    int64_t start, replicas, ordinal;
};
struct pin_set pin_set_of(const struct snapshot *snapshot, const struct object *pod);
/* The zone of an ordinal whose claims are not bound. */
struct text pin_zone_of_ordinal(const struct snapshot *snapshot, const struct pin_set *set,
                                const struct zones *candidates, struct arena *arena);
/* The index of a candidate, the same for everything with one identity. */
size_t pin_rotation(struct text identity, const struct zones *candidates);

/* The zones of the bound claims of pods that it must be in one zone with; false: there are none. */
bool pin_by_affinity(const struct snapshot *snapshot, const struct object *pod, struct arena *arena,
                     struct zones *zones);
/* Whether the term is a required podAffinity by zone. */
bool pin_is_zone_affinity(const struct topology_term *term);

#endif
