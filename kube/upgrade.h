/* Converts old pool objects to Karpenter's v1 API (docs/reference/karpenter.md 5.5 and 5.6). */
#ifndef TAFFRAIL_KUBE_UPGRADE_H
#define TAFFRAIL_KUBE_UPGRADE_H

#include "base/base.h"

struct object;

struct upgrade {
    struct text wanted;            /* the apiVersion, and the kind where it has another name */
    const struct node *objects[2]; /* whole, ready to be applied */
    size_t object_count;
    struct {
        struct text *items; /* what has no counterpart, or must be filled in by hand */
        size_t count, capacity;
    } notes;
};

/* Whether the object is a Provisioner, an AWSNodeTemplate, or the v1beta1 version of a v1 kind. */
bool upgrade_applies(const struct object *object);
/* For such an object. Defaults that the old API filled in silently are written out. */
void upgrade_make(const struct object *object, struct arena *arena, struct upgrade *upgrade);

/* ---- inside ---- */

struct members {
    struct member *items;
    size_t count, capacity;
};
/* With value NULL, nothing is added. */
void members_put(struct members *members, struct arena *arena, const char *key,
                 const struct node *value);
void members_put_text(struct members *members, struct arena *arena, const char *key,
                      struct text value);
void members_put_map(struct members *members, struct arena *arena, const char *key,
                     const struct members *map);
void upgrade_note(struct upgrade *upgrade, struct arena *arena, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* The EC2NodeClass spec for the spec of an AWSNodeTemplate, or for a Provisioner's provider. */
void upgrade_node_class(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                        struct members *out);

#endif
