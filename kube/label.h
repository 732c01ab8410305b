/* Labels: valid keys and values, and the labels of nodes. */
#ifndef TAFFRAIL_KUBE_LABEL_H
#define TAFFRAIL_KUBE_LABEL_H

#include "base/base.h"

struct pool;
struct snapshot;

/* Of a Namespace: its name. The API server puts it there (defaults.go, SetDefaults_Namespace). */
#define LABEL_NAMESPACE_NAME "kubernetes.io/metadata.name"

/* The labels that Karpenter puts on its nodes by itself, whatever its template says. */
enum { POOL_OWN_LABELS_MAX = 3 };
struct pool_label {
    struct text key, value;
};
size_t pool_own_labels(const struct pool *pool, struct pool_label labels[POOL_OWN_LABELS_MAX]);
bool some_pool_produces(const struct snapshot *snapshot, struct text key);
/* Whether its domain is one whose labels a cloud, an operator or an administrator puts on nodes, so
 * that NodePools need not. */
bool label_is_put_by_others(struct text key);
/* Whether Karpenter refuses it as a label or requirement of a NodePool, and in what selects nodes:
 * a key of its own domains that it does not know, the host name, the pool's name. */
bool label_is_restricted(struct text key);
/* Whether its domain is this one, or below it. */
bool label_is_in_domain(struct text key, struct text domain);
/* Whether it can be the key of a label, or of a taint: a name with the form of a value, but not
 * empty, perhaps after a domain and '/'. */
bool label_key_is_valid(struct text key);
/* Whether a node can carry it: at most 63 letters, digits, '-', '_' and '.'. */
enum { LABEL_VALUE_BYTES = 63 };
bool label_value_is_valid(struct text value);
/* Whether it is a domain in lower case, as before the '/' of a key: parts of letters, digits and
 * '-', with dots between them. One part is enough. */
bool domain_is_valid(struct text domain);
/* The values that nodes have under a key, as NodePools and Nodes show them. */
struct label_offers {
    bool any_value; /* a NodePool leaves the value open */
    bool from_pool;
    bool from_all_pools;             /* no NodePool's nodes are without the label */
    struct text_map of_pools;        /* the values that NodePools give */
    const struct text_map *of_nodes; /* the snapshot's: there may be thousands; NULL: none */
};
void label_offers_read(const struct snapshot *snapshot, struct text key, struct arena *arena,
                       struct label_offers *offers);
bool label_offers_some(const struct label_offers *offers);
bool label_offers_have(const struct label_offers *offers, struct text value);
/* The values, each once: index begins at 0. There are at most as many as label_offers_steps. */
bool label_offers_next(const struct label_offers *offers, size_t *index, struct text *value);
size_t label_offers_steps(const struct label_offers *offers);
struct text_list label_offers_list(const struct label_offers *offers, struct arena *arena);

#endif
