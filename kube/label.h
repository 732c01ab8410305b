/* Labels: what may be a key or a value, and what nodes carry. */
#ifndef TAFFRAIL_KUBE_LABEL_H
#define TAFFRAIL_KUBE_LABEL_H

#include "base/base.h"

struct pool;
struct snapshot;

/* Whether its nodes carry a label of that key, as its labels and requirements say. */
bool pool_produces(const struct pool *pool, struct text key);
bool some_pool_produces(const struct snapshot *snapshot, struct text key);
/* Whether it is of a domain whose labels a cloud, an operator or an administrator puts on nodes,
 * and NodePools need not. */
bool label_is_put_by_others(struct text key);
/* Whether it can be the key of a label, or of a taint: a name as a value has it, but never empty,
 * perhaps after a domain and '/'. */
bool label_key_is_valid(struct text key);
/* Whether a node can carry it: at most 63 letters, digits, '-', '_' and '.'. */
bool label_value_is_valid(struct text value);
/* Whether it is a domain in lower case, as before the '/' of a key: labels of letters, digits and
 * '-', with dots between them. One label does. */
bool domain_is_valid(struct text domain);
/* What nodes carry under a key, as far as NodePools say it and Nodes show it. */
struct label_offers {
    bool any_value; /* a NodePool leaves the value open */
    bool from_pool, from_node;
    struct text *items; /* the values, each once */
    size_t count, capacity;
    struct text_map values; /* the same */
};
void label_offers_read(const struct snapshot *snapshot, struct text key, struct arena *arena,
                       struct label_offers *offers);

#endif
