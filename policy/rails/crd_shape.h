/* The fields that NodePools, node classes and kubelets have, and a checker of objects by them. */
#ifndef TAFFRAIL_POLICY_RAILS_CRD_SHAPE_H
#define TAFFRAIL_POLICY_RAILS_CRD_SHAPE_H

#include "policy/rail.h"

enum crd_shape_type {
    SHAPE_ANY,
    SHAPE_OWNED, /* Karpenter sets it itself, and takes none */
    SHAPE_STRING,
    SHAPE_BOOLEAN,
    SHAPE_INTEGER,
    SHAPE_STRING_LIST,
    SHAPE_STRING_MAP,
    SHAPE_LIST, /* of maps, each with the fields */
    SHAPE_MAP,
};
struct crd_shape {
    enum crd_shape_type type;
    struct text name;
    const struct crd_shape *fields; /* in order of name; NULL: any */
    size_t field_count;
    /* Of a string, or of each string of a list; the default comes first. NULL: any. */
    const struct text *choices;
    size_t choice_count;
};

/* ---- crd_shape_data.c, which scripts/shapes makes ---- */

extern const struct crd_shape crd_shape_node_pool_v1, crd_shape_node_pool_v1beta1,
    crd_shape_ec2_node_class_v1, crd_shape_kubelet, crd_shape_auto_node_class,
    crd_shape_aks_node_class, crd_shape_gce_node_class;

/* ---- values ---- */

const struct crd_shape *crd_shape_field(const struct crd_shape *shape,
                                        struct text name); /* NULL: none */
/* By a path through maps and lists, which must exist: "spec.disruption.budgets.nodes". */
const struct crd_shape *crd_shape_at(const struct crd_shape *shape, const char *path);
/* Whether a value is of the type. A list or a map of strings may have null among them. */
bool crd_shape_fits(const struct crd_shape *shape, const struct node *node);
bool crd_shape_has_choice(const struct crd_shape *shape, struct text value);
/* Of a value that would be right as a string: finds that it is a number. */
void crd_shape_judge_quotes(struct rail_call *call, const struct field *field);

/* ---- names ---- */

struct moved_field {
    const char *name, *fix; /* a fix that ends with a space goes on with the API group there */
};
/* What is said of a name that the shape does not have. */
struct crd_shape_words {
    const char *lacks;    /* "A NodePool of v1 has no field", of what has no such name */
    const char *effect;   /* a sentence: what comes of it */
    bool null_is_nothing; /* a field without a value does no harm */
    /* Names of other versions and kinds. Ends with a NULL name; may be NULL. */
    const struct moved_field *moved;
};
#define SHAPE_DROPPED(object) \
    .lacks = object " has no field", .effect = "The API server drops it silently."
/* Reports the fields at and below a map that the shape does not have, with the name that was meant
 * or the place where the field belongs. Where neither is known it warns: a later version may have
 * the field. */
void crd_shape_judge_names(struct rail_call *call, const struct crd_shape *shape,
                           const struct field *map, const struct crd_shape_words *words);

#endif
