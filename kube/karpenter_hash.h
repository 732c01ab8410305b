/* The hashes by which Karpenter sees that NodeClaims differ from their NodePool or EC2NodeClass
 * (docs/reference/karpenter.md 6.7). */
#ifndef TAFFRAIL_KUBE_KARPENTER_HASH_H
#define TAFFRAIL_KUBE_KARPENTER_HASH_H

#include "base/base.h"

struct object;

/* What Karpenter writes on the object, and on each NodeClaim it makes of it. */
struct karpenter_hash {
    const char *annotation, *version_annotation;
    const char *version; /* the one that is computed here */
};
/* NULL: it hashes no such objects. */
const struct karpenter_hash *karpenter_hash(const struct object *object);
/* The hash, with the API server's defaults applied. That of an EC2NodeClass leaves out the
 * cluster's CA bundle, which no object shows: the annotation is this hash XOR one number, the same
 * for all classes of a cluster. False: a value has none. */
bool karpenter_hash_value(const struct object *object, struct arena *arena,
                          uint64_t *hash) MUST_CHECK;
/* The paths of the hashed fields in which two objects of one kind differ, in Karpenter's order. */
void karpenter_hash_compare(const struct object *a, const struct object *b, struct arena *arena,
                            struct text_list *paths);
/* The first hashed field of a NodePool that one of its NodeClaims does not have as it is now;
 * empty: none that NodeClaims show. */
struct text karpenter_hash_unlike(const struct object *pool, const struct object *claim,
                                  struct arena *arena);

#endif
