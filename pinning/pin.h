/* Where a pod's volumes let it run, and where it is to go when they leave a choice: pure functions
 * of a snapshot and of who the pod is. */
#ifndef TAFFRAIL_PINNING_PIN_H
#define TAFFRAIL_PINNING_PIN_H

#include "kube/zone.h"

struct object;
struct snapshot;
struct supply;
struct topology_term;

/* ---- one claim ---- */

/* In order of what it lets one say. */
enum claim_hold {
    CLAIM_ANYWHERE, /* no zone is in it */
    CLAIM_NARROWS,  /* some zones are possible; others than this pod use it, or it is ephemeral */
    CLAIM_UNKNOWN,  /* its zone is, or will be, one that cannot be seen */
    CLAIM_UNBOUND,  /* goes where its pod goes */
    CLAIM_RESERVED, /* names its volume, and is not bound to it yet */
    CLAIM_BOUND,
};
/* What says the zone. */
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
    bool any_zone; /* zones do not say where it can be */
    struct zones zones;
    struct text selected; /* the zone of the node kube-scheduler has chosen; empty: none */
};
/* template: what a StatefulSet makes the claim of when it is not there; may be NULL. */
void claim_zones_read(const struct snapshot *snapshot, struct text namespace, struct text name,
                      const struct field *template, struct arena *arena,
                      struct claim_zones *result);
/* Of a claim that is made for one pod and goes with it. */
void ephemeral_zones_read(const struct snapshot *snapshot, const struct field *template,
                          struct arena *arena, struct claim_zones *result);
/* The one zone that a claim is in, or will be since kube-scheduler has chosen its node; empty when
 * there is none. */
struct text claim_settled_zone(const struct snapshot *snapshot, const struct object *claim,
                               struct arena *arena);

/* ---- a pod ---- */

enum pin_kind {
    PIN_NONE,       /* nothing to say */
    PIN_IMPOSSIBLE, /* its volumes have no zone in common */
    PIN_CANDIDATES, /* some zones, and no choice to make */
    PIN_UNBOUND,
    PIN_RESERVED,
    PIN_BOUND,
};
struct pin {
    enum pin_kind kind;
    enum pin_source source;
    struct zones zones; /* those of its volumes, or candidates; the one chosen alone */
    bool chosen;        /* one zone, deliberately */
    bool reachable;     /* in every one of them a Node is, or can be made */
    bool follows;       /* not its volume, but that of a pod it must be beside */
    bool of_replicas;   /* its owner is a visible StatefulSet of two or more */
};
/* Whether a pod mounts a claim or must be in one zone with others: all others have no pin. */
bool pin_may_apply(const struct object *pod);
/* supply NULL: where nodes could come up is not known. */
void pin_read(const struct snapshot *snapshot, const struct supply *supply,
              const struct object *pod, struct arena *arena, struct pin *pin);
/* Whether that is PIN_IMPOSSIBLE, which takes a look at its own volumes alone. *volumes, by their
 * names in the pod: "data in us-east-1a, logs in us-east-1b". */
bool pin_is_impossible(const struct snapshot *snapshot, const struct object *pod,
                       struct arena *arena, struct text *volumes);
/* Where its bound volumes are: the zones they have in common, and *volumes as above. False when
 * none is bound to a zone, or nothing is common to them. */
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
/* One of the candidates, the same for all that are of one identity. */
size_t pin_rotation(struct text identity, const struct zones *candidates);

/* The zones of the bound claims of pods it must be beside; false: it follows none. */
bool pin_by_affinity(const struct snapshot *snapshot, const struct object *pod, struct arena *arena,
                     struct zones *zones);
/* Whether the term is a required podAffinity by zone. */
bool pin_is_zone_affinity(const struct topology_term *term);

#endif
