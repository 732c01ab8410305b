/* One object: the metadata and the owner that every kind has. */
#ifndef TAFFRAIL_KUBE_OBJECT_H
#define TAFFRAIL_KUBE_OBJECT_H

#include "kube/kind.h"

struct owner {
    struct text api_version, kind, name, uid;
};

/* The paths of a pod's metadata and spec inside a custom resource. */
struct pod_template {
    const struct field *metadata, *spec;
};

/* What --state has is not judged beside what -f names. */
enum object_origin { ORIGIN_CLUSTER, ORIGIN_STATE, ORIGIN_CHANGE };

struct object {
    enum kind kind;
    struct text api_version, kind_name;
    struct text namespace; /* empty for cluster-scoped kinds */
    struct text name, generate_name, uid;
    struct owner controller; /* the ownerReference with controller: true; name empty: none */
    int64_t created_unix_s;  /* 0: not said */
    bool deleting;
    enum object_origin origin;
    const struct node *labels; /* may be NULL */
    const struct field *root;
    struct source *source;               /* what it was read from; may be NULL */
    const struct pod_template *template; /* of KIND_CUSTOM, else NULL */
    bool replicas_told; /* its spec.replicas says how many it may have, whatever scales it */
};

/* Reads the metadata that every object has. False when root is no object: no apiVersion or kind, or
 * metadata of wrong types. An object of a namespaced kind without a namespace gets
 * default_namespace. */
bool object_read(const struct node *root, struct source *source, struct text default_namespace,
                 struct arena *arena, struct object *object, struct error *error) MUST_CHECK;
/* Whether it was read from a file: it may be a template, whose values are filled in before it is
 * applied, or a dump. What the API server sends is neither. */
bool object_is_of_file(const struct object *object);
/* "web", or "web-*" for an object that only has a generateName. */
struct text object_display_name(const struct object *object, struct arena *arena);
/* A DaemonSet, or a Pod of one. */
bool object_is_of_daemon_set(const struct object *object);
/* Whether a NodePool or an EC2NodeClass is of the version before v1. */
bool object_is_v1beta1(const struct object *object);
/* An annotation; empty: it has none of that key. */
struct text object_annotation(const struct object *object, const char *key);
/* The condition of that type in the status; NULL: none. */
const struct node *object_condition(const struct object *object, const char *type);
/* Whether the status has it, and its status is "True". Of no object (NULL) none holds. */
bool object_condition_holds(const struct object *object, const char *type);
/* What is at a path, as of node_at: an int32 of 0 or more in the API, such as spec.replicas. Where
 * it is none it is absent; what is larger, as only a file has it, is INT32_MAX. */
int64_t node_int32(const struct node *root, const char *path, int64_t absent);
/* Whether both can be the uid of one object: objects from files have none, so an empty uid agrees
 * with any. */
bool uids_agree(struct text a, struct text b);

#endif
