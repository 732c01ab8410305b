/* NodePools and Provisioners. */
#ifndef TAFFRAIL_KUBE_POOL_H
#define TAFFRAIL_KUBE_POOL_H

#include "kube/expression.h"
#include "kube/taint.h"

struct object;
struct snapshot;

/* A NodePool, v1 or v1beta1 (the parts that rails read are in the same place), or a Provisioner. */
struct pool {
    const struct object *object;
    const struct field *requirements_field;
    struct expressions requirements;
    const struct field *labels_field;
    struct expressions labels; /* spec.template.metadata.labels, as In */
    const struct field *taints_field;
    struct taints taints, startup_taints;
    const struct field *limits_field;
    struct text node_class_group, node_class_kind, node_class_name;
    /* "karpenter.k8s.aws/ec2nodeclass", under which Karpenter puts the name of the node class on
     * its nodes; empty when it names none. Terminated. */
    struct text node_class_label;
};
bool pool_read(const struct object *object, struct arena *arena, struct pool *pool);
/* Whether Karpenter makes nodes of the pool for pending pods. It does not when the status says not
 * ready, when the pool is being deleted, or when it has a fixed number of nodes. */
bool pool_makes_nodes(const struct pool *pool);
/* Whether the pool has a fixed number of nodes. */
bool pool_is_static(const struct pool *pool);
/* The visible EC2NodeClass that the pool names; NULL: there is none. EKS Auto Mode's NodeClass of
 * the same name is another one. */
const struct object *pool_node_class(const struct snapshot *snapshot, const struct pool *pool);
/* The kind of a provider's node classes, by their API group; empty: it is not known. */
struct text node_class_kind_of(struct text group);
/* Whether a reference names the node class. Old references have no group. */
bool node_class_is_named(struct text group, struct text kind, struct text name,
                         const struct object *node_class);
/* Whether EKS Auto Mode makes the pool's nodes; they carry LABEL_COMPUTE_TYPE "auto". */
bool pool_is_of_auto_mode(const struct pool *pool);
/* Whether it is one of the pools that EKS Auto Mode brings along: nobody can change it, only switch
 * it off. */
bool pool_is_built_in(const struct pool *pool);
/* Of a pool of another cloud than Amazon's: the domains of labels that its nodes may have though
 * the pool requires nothing of them, since Karpenter of that cloud knows them. */
struct label_domains {
    const char **items;
    size_t count, capacity;
};
struct label_domains pool_label_domains(const struct pool *pool, struct arena *arena);
bool label_domains_have(const struct label_domains *domains, struct text key);
#define LABEL_COMPUTE_TYPE "eks.amazonaws.com/compute-type"

#endif
