/* Hashes of objects as Karpenter makes them: those of the Go library hashstructure (version 2) over
 * Go structs (docs/reference/karpenter.md 6.8). A table says what is in a struct. */
#ifndef TAFFRAIL_KUBE_GO_HASH_H
#define TAFFRAIL_KUBE_GO_HASH_H

#include "base/base.h"

enum go_kind {
    GO_STRING,
    GO_BOOL,
    GO_INT32,
    GO_INT64,
    GO_QUANTITY,
    GO_DURATION,          /* metav1.Duration */
    GO_NILLABLE_DURATION, /* Karpenter's, which knows "Never" */
    GO_TIME,              /* as text: no hash of it is known, but two can be compared */
    GO_STRING_MAP,        /* map[string]string */
    GO_STRUCT,
    GO_STRUCT_SET, /* a list of structs, in any order */
};
struct go_field {
    const char *name; /* in Go */
    const char *key;  /* in JSON */
    enum go_kind kind;
    bool pointer; /* what is written counts, even if it is 0, false or "" */
    const struct go_struct *inside;
    const struct node *otherwise; /* the CRD's default; NULL: none */
};
struct go_struct {
    const char *name;              /* of the type in Go */
    const struct go_field *fields; /* those that are hashed, in the order of Go; the name of the one
                                      behind the last is NULL */
};

/* The hash of a value; NULL and what is no map are a struct without fields. False: there is a value
 * that Go cannot read or whose hash is not known; *hash can still be compared with that of another
 * value. */
bool go_hash_struct(const struct go_struct *type, const struct node *value, struct arena *arena,
                    uint64_t *hash) MUST_CHECK;
uint64_t go_hash_text(struct text t);
/* Adds the paths of the fields in which two values differ, each after "spec" or the like: members
 * of a struct by themselves, maps and lists as a whole. */
void go_hash_compare(const struct go_struct *type, const struct node *a, const struct node *b,
                     struct text path, struct arena *arena, struct text_list *paths);
/* The members of all maps by key, as Go writes a map. No key stands twice: readers keep the last.
 */
const struct node *node_sorted(const struct node *node, struct arena *arena);

#endif
