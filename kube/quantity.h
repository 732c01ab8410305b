/* Quantities beyond kube.h's. */
#ifndef TAFFRAIL_KUBE_QUANTITY_H
#define TAFFRAIL_KUBE_QUANTITY_H

#include "base/base.h"

/* As quantity_milli, in units of 10^-places. */
bool quantity_scaled(struct text t, int places, int64_t *value) MUST_CHECK;
/* Whether it is a quantity above 0, but one that quantity_milli cannot hold. */
bool quantity_is_vast(struct text t);
/* How Kubernetes writes the quantity: "2048Mi" is "2Gi", "4000" is "4k". The text itself when it is
 * none, or finer than a thousandth. */
struct text quantity_canonical(struct text t, struct arena *arena);

#endif
