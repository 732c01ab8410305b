/* The inside of pin_offers: warm.c makes them, pin_offers.c finds one. */
#ifndef TAFFRAIL_PINNING_PIN_OFFERS_H
#define TAFFRAIL_PINNING_PIN_OFFERS_H

#include "pinning/pin.h"
#include "solver/solver.h"

struct object;
struct snapshot;

/* What the solver says of a set's pods, and what could make it say something else. */
struct pin_offer {
    struct text namespace, name;
    struct zones zones;    /* where a pod could be */
    struct zones of_pools; /* some of them: where a NodePool can launch a machine for it */
    struct zones by_room;  /* where only Nodes suit it: there while one of them has room */
    bool others_matter;    /* where other pods run had a say */
    bool is_broken;        /* the pods cannot be understood; nothing else matters */
};
struct pin_offers {
    struct arena *arena;     /* of its items; NULL: all of it lies in somebody else's */
    _Atomic size_t holds;    /* the last one to be released frees it */
    struct pin_offer *items; /* by namespace and name */
    size_t count;
};

#define PIN_NO_OFFER SIZE_MAX
/* The place of the set's offer; PIN_NO_OFFER: it has none. offers may be NULL. */
size_t pin_offers_index(const struct pin_offers *offers, const struct object *set);

/* Whether it makes claims of its pods' own; sets that do not are not asked for. */
bool set_makes_claims(const struct object *set);
/* passing: for what is not of the offer. */
void pin_offer_ask(const struct snapshot *snapshot, const struct solver_problem *problem,
                   struct solver_run *run, const struct object *set, struct arena *arena,
                   struct arena *passing, struct pin_offer *offer);
void pin_offer_copy(const struct pin_offer *from, struct arena *arena, struct pin_offer *offer);

/* Whether more or less room on a machine in a zone (empty: none) can change the offer; whether
 * another machine there can, or one that is not what it was. */
bool pin_offer_minds_room(const struct pin_offer *offer, struct text zone);
bool pin_offer_minds_machine(const struct pin_offer *offer, struct text zone);
/* Whether a pod that runs, or does no more, can change the offer to the set by who it is. Yes, when
 * in doubt. */
bool pin_offer_minds_pod(const struct pin_offer *offer, const struct object *set,
                         const struct object *pod, struct arena *passing);

#endif
