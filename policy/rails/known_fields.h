/* Fields that an object of its version does not have, which the API server drops: what pool-shape
 * and node-class share. */
#ifndef TAFFRAIL_POLICY_RAILS_KNOWN_FIELDS_H
#define TAFFRAIL_POLICY_RAILS_KNOWN_FIELDS_H

#include "policy/rail.h"

enum { KNOWN_FIELDS_MAX = 24 };
struct known_place {
    const char *path; /* "spec.taints[]" is each item of a list, "spec.disks[].ebs" a map in each */
    const char *names[KNOWN_FIELDS_MAX + 1]; /* ends with NULL */
};
/* Names of other versions, and of other kinds. */
struct known_elsewhere {
    const char *name, *fix;
};
struct known_fields {
    const struct known_place *places; /* the first is the object itself; ends with a NULL path */
    const struct known_elsewhere *elsewhere; /* ends with a NULL name */
    const char *object;                      /* "a NodePool of v1" */
};
/* What a name nearly is, or where it belongs, is told; of one that means nothing it only warns: a
 * Karpenter newer than the table may know it. */
void known_fields_judge(struct judgement *judgement, const struct known_fields *known);

#endif
