/* Taints and tolerations. */
#ifndef TAFFRAIL_KUBE_TAINT_H
#define TAFFRAIL_KUBE_TAINT_H

#include "base/base.h"

struct workload;

/* With the effect NoSchedule, by which Karpenter empties a Node. */
#define TAINT_DISRUPTED "karpenter.sh/disrupted"

struct taint {
    const struct field *field;
    struct text key, value, effect;
};
struct taints {
    struct taint *items;
    size_t count, capacity;
};
void taints_read(const struct field *list, struct arena *arena, struct taints *taints);
/* NoSchedule or NoExecute: PreferNoSchedule lets every pod in. */
bool taint_is_hard(const struct taint *taint);

struct toleration {
    const struct field *field; /* NULL: nobody writes it; it is added */
    struct text key, op, value, effect;
};
struct tolerations {
    struct toleration *items;
    size_t count, capacity;
};
void tolerations_read(const struct workload *workload, struct arena *arena,
                      struct tolerations *tolerations);
/* Whether its value is a number that the taint's has to be above (Gt) or below (Lt). */
bool toleration_compares(const struct toleration *toleration);
bool tolerations_cover(const struct tolerations *tolerations, const struct taint *taint);

#endif
