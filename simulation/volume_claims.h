/* Claims that pods mount, and the volumes they get, round after round. */
#ifndef TAFFRAIL_SIMULATION_CLAIMS_H
#define TAFFRAIL_SIMULATION_CLAIMS_H

#include "simulation/pod_shape.h"

struct object;
struct snapshot;
struct zones;
struct volume_claims;

/* A PersistentVolume a claim may get. */
struct volume_choice {
    const struct object *volume;
    bool taken;
    int64_t capacity_milli;
    struct solver_volume terms;
};
/* A claim some pod mounts, or will. */
struct volume_claim {
    struct text namespace, name;
    const char *id;     /* namespace/name */
    const char *driver; /* NULL: attaches nothing that is counted */
    struct pod_fault fault;
    struct solver_volume terms; /* now */
    bool waits;                 /* binds where its first pod lands */
    bool zonal;                 /* what is made for it lives in a zone */
    struct solver_volume made;  /* where its class makes volumes */
    bool can_be_made;
    struct volume_choice **choices; /* volumes there are for it, the smallest first */
    size_t choice_count;
    size_t bound_in; /* the round in which it was; 0: before */
};
struct volume_claims *volume_claims_create(const struct snapshot *snapshot, struct arena *arena);
/* The claim of that name, made by the template (a PersistentVolumeClaim less its name) when it is
 * not there; template may be NULL. */
struct volume_claim *volume_claim_get(struct volume_claims *claims, struct text namespace,
                                      struct text name, const struct field *template);
/* Makes up again where claims that wait can go, since volumes were taken. */
void volume_claims_refresh(struct volume_claims *claims);
/* Whether a claim that is bound can be attached to a node of these labels, or one that waits can be
 * bound there. */
bool volume_claim_fits(const struct volume_claim *claim, struct solver_labels labels);
/* Binds a claim that waits where its pod landed. */
void volume_claim_bind(struct volume_claim *claim, struct solver_labels labels,
                       struct arena *arena);

#endif
