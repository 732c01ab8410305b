/* Claims that pods mount, and the volumes they get, round after round. */
#ifndef TAFFRAIL_SIMULATION_CLAIMS_H
#define TAFFRAIL_SIMULATION_CLAIMS_H

#include "simulation/pod_shape.h"

struct object;
struct snapshot;
struct zones;
struct claims_book;

/* A PersistentVolume a claim may get. */
struct volume_choice {
    const struct object *volume;
    bool taken;
    int64_t capacity_milli;
    struct solver_volume places;
};
/* A claim some pod mounts, or will. */
struct claim_state {
    struct text namespace, name;
    const char *id;     /* namespace/name */
    const char *driver; /* NULL: attaches nothing that is counted */
    struct pod_fault fault;
    struct solver_volume places; /* now */
    bool waits;                  /* binds where its first pod lands */
    bool zonal;                  /* what is made for it lives in a zone */
    struct solver_volume made;   /* where its class makes volumes */
    bool can_be_made;
    struct volume_choice **choices; /* volumes there are for it, the smallest first */
    size_t choice_count;
    size_t bound_in; /* the round in which it was; 0: before */
};
struct claims_book *claims_book_create(const struct snapshot *snapshot, struct arena *arena);
/* The claim of that name, made by the template (a PersistentVolumeClaim less its name) when it is
 * not there; template may be NULL. */
struct claim_state *claims_book_get(struct claims_book *book, struct text namespace,
                                    struct text name, const struct field *template);
/* Makes up again where claims that wait can go, since volumes were taken. */
void claims_book_refresh(struct claims_book *book);
/* Whether a claim that is bound can be attached to a node of these labels, or one that waits can be
 * bound there. */
bool claim_fits(const struct claim_state *claim, struct solver_labels labels);
/* Binds a claim that waits where its pod landed. */
void claim_bind(struct claim_state *claim, struct solver_labels labels, struct arena *arena);

#endif
