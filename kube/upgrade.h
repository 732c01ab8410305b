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
    /* Of a pool: its node class, and the kubelet settings that move there; NULL: none. */
    struct text class_name;
    const struct node *kubelet;
};

/* Whether the object is a Provisioner, an AWSNodeTemplate, or the v1beta1 version of a v1 kind. */
bool upgrade_applies(const struct object *object);
/* For such an object. Defaults that the old API filled in silently are written out. Nodes may
 * live for the duration most; empty: as long as the old object says. */
void upgrade_make(const struct object *object, struct text most, struct arena *arena,
                  struct upgrade *upgrade);

/* ---- inside ---- */

#define POOL_VERSION "karpenter.sh/v1"
#define CLASS_VERSION "karpenter.k8s.aws/v1"

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
/* Where a field may stand below spec, its own place first ("": in spec itself), and where v1 has it
 * below spec.template. */
struct upgrade_places {
    const struct node *spec;
    const char *paths[4]; /* NULL after the last */
    const char *new_path;
};
/* All that stands under the key: lists and maps are joined, of all else the first counts. NULL:
 * nothing does. */
const struct node *upgrade_gather(const struct upgrade_places *places, const char *key,
                                  struct arena *arena, struct upgrade *upgrade);
/* Says which members of a map are none of the known ones; a NULL ends those. */
void upgrade_leave_out(const struct node *map, const char *path, const char *const *known,
                       const char *what, struct arena *arena, struct upgrade *upgrade);
void upgrade_pool(const struct object *object, struct text most, struct arena *arena,
                  struct upgrade *upgrade);
void upgrade_provisioner(const struct object *object, struct text most, struct arena *arena,
                         struct upgrade *upgrade);
/* Adds an object with the metadata of the old one. */
void upgrade_add(const struct object *object, const char *api_version, const char *kind,
                 const struct members *spec, struct arena *arena, struct upgrade *upgrade);
/* The EC2NodeClass spec for the spec of an AWSNodeTemplate, or for a Provisioner's provider. */
void upgrade_node_class(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                        struct members *out);

#endif
