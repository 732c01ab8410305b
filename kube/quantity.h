/* Kubernetes quantities, and shares: numbers or percentages. */
#ifndef TAFFRAIL_KUBE_QUANTITY_H
#define TAFFRAIL_KUBE_QUANTITY_H

#include "base/base.h"

/* A Kubernetes quantity in thousandths ("100m" is 100, "1Ki" is 1024000), rounded up; false when it
 * is no quantity, or does not fit. */
bool quantity_milli(struct text t, int64_t *milli) MUST_CHECK;

/* A number of nodes or pods, or a percentage of them: "5", "10%". */
struct share {
    int64_t amount;
    bool percent;
};
/* False when it is neither a number nor a percentage, is negative, or above 100 %. */
bool share_parse(struct text t, struct share *share) MUST_CHECK;
/* Of so many nodes or pods: a percentage of them, rounded up as Karpenter and the disruption
 * controller do it, or the number itself. */
int64_t share_amount(struct share share, int64_t all);
/* As quantity_milli, in units of 10^-places. */
bool quantity_scaled(struct text t, int places, int64_t *value) MUST_CHECK;
/* Whether it is a quantity above 0 that is too large for quantity_milli. */
bool quantity_is_vast(struct text t);
/* The quantity as Kubernetes writes it: "2048Mi" is "2Gi", "4000" is "4k". The text itself when it
 * is no quantity, or finer than a thousandth. */
struct text quantity_canonical(struct text t, struct arena *arena);

#endif
