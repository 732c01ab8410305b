/* One step of a warm: what a change means (warm_delta.c), and what is done about it (warm.c). */
#ifndef TAFFRAIL_PINNING_WARM_STEP_H
#define TAFFRAIL_PINNING_WARM_STEP_H

#include "pinning/pin_offers.h"
#include "pinning/standing.h"
#include "pinning/warm.h"

struct catalog;
struct snapshot;

/* Most events change no offer: the problem is told of them when a set has to be asked. */
struct warm {
    struct standing standing;
    bool is_ready;
    struct arena *problem;       /* of standing */
    size_t built_bytes;          /* that the problem took when it was made from nothing */
    struct standing_delta delta; /* in pending: what the problem has not been told of */
    struct arena *pending;
    struct solver_run *run; /* of the problem, in asking; NULL: none yet */
    struct arena *asking;
    struct arena *passing, *piece;   /* of one step, and of a part of it */
    const struct pin_offers *offers; /* the last ones, held; NULL: none */
};

struct step {
    struct warm *warm;
    const struct snapshot *snapshot;
    const struct store_changes *changes;
    const struct catalog *catalog;
    struct karpenter_settings settings;
    struct pin_offers *offers; /* the next; its arena is its own */
    bool anew;
    bool all_sets; /* are asked again */
    bool sets_changed;
    bool machines_changed, namespaces_changed, daemons_changed;
    bool zones_may_differ;
    bool *minds; /* by old offer: it is asked again */
    bool unchanged;
    bool good;
};

static inline size_t offer_count(const struct step *step)
{
    return step->warm->offers == NULL ? 0 : step->warm->offers->count;
}

static inline bool nodes_equal(const struct node *a, const struct node *b)
{
    return a == b || (a != NULL && b != NULL && node_equal(a, b));
}

/* What the changes mean to the problem, in warm->delta and the step, and to those who were asked
 * before, in minds. */
void note_changes(struct step *step);
/* What machines that came, went or changed mean to those who were asked before. */
void mind_effect(struct step *step, const struct standing_effect *effect);

#endif
