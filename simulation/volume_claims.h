/* The PersistentVolumeClaims that pods mount, and the volumes they are bound to, round after
 * round. */
#ifndef TAFFRAIL_SIMULATION_VOLUME_CLAIMS_H
#define TAFFRAIL_SIMULATION_VOLUME_CLAIMS_H

#include "simulation/pod_shape.h"

struct cluster_pod;
struct object;
struct snapshot;
struct zones;
struct volume_claims;

/* A free PersistentVolume that claims may be bound to. */
struct volume_choice {
    const struct object *volume;
    bool taken;
    int64_t capacity_milli;
    struct solver_volume terms;
};
/* The free volumes that suit claims of one class and one spec. */
struct volume_offer {
    const struct object *class;
    const struct node *spec;
    struct volume_choice **choices; /* the smallest first */
    size_t choice_count;
    size_t free_count;          /* of those that are not taken */
    size_t round;               /* in which this was found */
    struct solver_volume terms; /* where these are, or one can be made */
};
/* A claim that a pod mounts, or will mount. */
struct volume_claim {
    struct text namespace, name;
    const char *id;     /* namespace/name */
    const char *driver; /* NULL: attaches nothing that is counted */
    struct pod_fault fault;
    struct pod_fault nodes_only; /* while it is unbound: as that of a pod_shape */
    const struct object *volume; /* that it is bound to, and that is not located yet; NULL: none */
    struct solver_volume terms;  /* where it can be mounted now */
    bool waits;                  /* WaitForFirstConsumer: is bound where its first pod is placed */
    bool zonal;                  /* a volume provisioned for it is in one zone */
    struct solver_volume made;   /* where its class provisions volumes */
    bool can_be_made;
    struct volume_offer *offer; /* NULL: it does not wait */
    size_t bound_in;            /* the round in which it was bound; 0: before */
    bool of_one_pod;
    const struct cluster_pod *holder; /* of a claim of one pod; NULL: none */
};
struct volume_claims *volume_claims_create(const struct snapshot *snapshot, struct arena *arena);
/* The claim of that name. If it is absent, it is made from the template (a PersistentVolumeClaim
 * without name), which may be NULL. */
struct volume_claim *volume_claim_get(struct volume_claims *claims, struct text namespace,
                                      struct text name, const struct field *template);
/* Finds where the volume of a bound claim is, which of Pods that have a Node nobody asks. */
void volume_claim_locate(struct volume_claims *claims, struct volume_claim *claim);
/* Computes again where waiting claims can go, after volumes were taken. */
void volume_claims_refresh(struct volume_claims *claims);
/* Whether a bound claim can be mounted on a node with these labels, or a waiting one can be bound
 * there. */
bool volume_claim_fits(const struct volume_claim *claim, struct solver_labels labels);
/* Whether its volume, or each that it may get, is on nodes that are named. */
bool volume_claim_names_hosts(const struct volume_claim *claim);
/* Binds a waiting claim where its pod was placed. */
void volume_claim_bind(struct volume_claim *claim, struct solver_labels labels,
                       struct arena *arena);

#endif
