/* Well-known labels: the key or value that somebody meant. */
#ifndef TAFFRAIL_CATALOG_LABEL_H
#define TAFFRAIL_CATALOG_LABEL_H

#include "base/base.h"

struct catalog;

/* Whether every node that Karpenter buys carries the label, whatever its NodePool says, and is of a
 * place by it: the zone, the hostname, the instance type... */
bool label_is_of_every_place(struct text key);
/* The well-known key that somebody meant with this one: an old spelling or a CSI driver's, no
 * domain or another domain, or at most two edits away. Empty when the key is well-known itself, or
 * none is near. */
struct text label_key_meant(const struct catalog *catalog, struct text key);
/* The number of all values that a node can have under the key, with *values; 0: not all are known.
 */
size_t label_values_all(struct text key, const struct text **values);
/* The value of a well-known key (canonical) that somebody meant with this invalid one: in another
 * case, by another word, or nearest by edits. Empty when none is near. */
struct text label_value_meant(const struct catalog *catalog, struct text key, struct text value,
                              struct arena *arena);
/* Whether it stands for a value that is filled in before it is applied: what no label can hold,
 * which the API server refuses, or under a well-known key (canonical) a word in capitals that is
 * none of its values, such as INSTANCE_TYPE. */
bool label_value_is_template(const struct catalog *catalog, struct text key, struct text value);
/* An architecture that Kubernetes runs on, though no machine of the catalogue has it. */
bool label_value_is_architecture(struct text value);

#endif
