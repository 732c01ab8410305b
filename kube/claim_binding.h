/* What a PersistentVolumeClaim is bound to, or waits for, as Kubernetes' volume binder sees it. */
#ifndef TAFFRAIL_KUBE_CLAIM_BINDING_H
#define TAFFRAIL_KUBE_CLAIM_BINDING_H

#include "kube/volume.h"

enum claim_binding_state {
    BINDING_CLAIM_NOT_SEEN,
    BINDING_CLAIM_DELETING,
    BINDING_CLAIM_LOST,
    /* It names a volume: */
    BINDING_VOLUME_NOT_SEEN,
    BINDING_VOLUME_DELETING,
    BINDING_VOLUME_OF_ANOTHER, /* whose claimRef names another claim */
    BINDING_NAMED,             /* and the binder has not completed it */
    BINDING_BOUND,
    /* It names none: */
    BINDING_NO_CLASS, /* and wants no StorageClass to make one */
    BINDING_CLASS_NOT_SEEN,
    BINDING_IMMEDIATE, /* a volume is being made, wherever the class makes it */
    BINDING_WAITS,     /* for the first pod */
};
struct claim_binding {
    enum claim_binding_state state;
    struct text namespace, name, uid;
    const struct node *root; /* of the claim, or of what it is made by; NULL: neither is seen */
    struct text volume_name;
    const struct object *volume; /* NULL: it names none, or one that is not seen */
    /* Read when it names no volume. */
    struct claim claim;
    const struct object *class; /* NULL: none */
};
/* template: what the claim is made by when it is not there; may be NULL. */
void claim_binding_read(const struct snapshot *snapshot, struct text namespace, struct text name,
                        const struct field *template, struct arena *arena,
                        struct claim_binding *binding);
/* Of a claim that does not exist yet. */
void template_binding_read(const struct snapshot *snapshot, const struct field *template,
                           struct arena *arena, struct claim_binding *binding);
/* Whether a volume that is free has what the claim asks for and is kept for no other. */
bool volume_suits(const struct object *volume, int64_t capacity_milli,
                  const struct claim_binding *binding);
/* False: it says none that can be read. */
bool volume_capacity(const struct object *volume, int64_t *milli) MUST_CHECK;

#endif
