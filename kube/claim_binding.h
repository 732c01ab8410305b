/* What a PersistentVolumeClaim is bound to, or waits for, as Kubernetes' volume binder sees it. */
#ifndef TAFFRAIL_KUBE_CLAIM_BINDING_H
#define TAFFRAIL_KUBE_CLAIM_BINDING_H

#include "kube/volume.h"

enum claim_binding_state {
    BINDING_CLAIM_NOT_SEEN,
    BINDING_CLAIM_DELETING,
    BINDING_CLAIM_LOST,
    /* The claim names a volume: */
    BINDING_VOLUME_NOT_SEEN,
    BINDING_VOLUME_DELETING,
    BINDING_VOLUME_OF_ANOTHER, /* whose claimRef names another claim */
    BINDING_NAMED,             /* and the binder has not completed the binding */
    BINDING_BOUND,
    /* The claim names no volume: */
    BINDING_RESERVED, /* a free volume names the claim: the binder binds them at once */
    BINDING_NO_CLASS, /* and wants no StorageClass to make one */
    BINDING_CLASS_NOT_SEEN,
    BINDING_IMMEDIATE, /* a volume is being made, wherever the class makes it */
    BINDING_WAITS,     /* for the first pod */
};
struct claim_binding {
    enum claim_binding_state state;
    struct text namespace, name, uid;
    const struct node *root; /* of the claim, or of its template; NULL: neither is seen */
    struct text volume_name;
    const struct object *volume; /* that names the claim, or that it names; NULL: none is seen */
    /* Read when the claim names no volume. */
    struct claim claim;
    const struct object *class; /* NULL: none */
};
/* template: the template of the claim when the claim does not exist; may be NULL. */
void claim_binding_read(const struct snapshot *snapshot, struct text namespace, struct text name,
                        const struct field *template, struct arena *arena,
                        struct claim_binding *binding);
/* Of a claim that is at hand. */
void claim_binding_of(const struct snapshot *snapshot, const struct object *claim,
                      struct arena *arena, struct claim_binding *binding);
/* The same for a claim that does not exist yet. */
void template_binding_read(const struct snapshot *snapshot, const struct field *template,
                           struct arena *arena, struct claim_binding *binding);
/* Whether a free volume has what the claim asks for and is reserved for no other claim. */
bool volume_suits(const struct object *volume, int64_t capacity_milli,
                  const struct claim_binding *binding);
/* False: the volume has no readable capacity. */
bool volume_capacity(const struct object *volume, int64_t *milli) MUST_CHECK;

#endif
