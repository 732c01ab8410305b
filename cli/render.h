/* The install as YAML: `taffrail render`. */
#ifndef TAFFRAIL_CLI_RENDER_H
#define TAFFRAIL_CLI_RENDER_H

#include "policy/policy.h"

/* The files of manifests/base, and the starter policy; render_texts.cmake makes this table. */
struct render_text {
    const char *name, *text;
};
extern const struct render_text render_texts[]; /* ends with a NULL name */
struct text render_text_of(const char *name);   /* of an existing file */

/* The source of the certificate. */
enum render_certificates {
    CERTIFICATES_SELF, /* the replicas make it, and write the CA bundle: serve --manage-webhooks */
    CERTIFICATES_SECRET, /* the Secret taffrail-tls, which others maintain, and --ca */
    CERTIFICATES_CERT_MANAGER,
};

/* The values that replace those in the files. */
struct render_values {
    struct text namespace, image, replicas;
    enum render_certificates certificates;
    bool fails; /* failurePolicy Fail */
    bool on_karpenter_nodes;
    const char *const *excluded_namespaces;
    size_t excluded_count;
    struct text rules; /* items of a list, as render_rules writes them */
    struct text claim_rules, change_rules;
    struct text owner_rights; /* more rules of the ClusterRole */
    struct text ca_bundle;    /* base64; empty: none */
    int64_t timeout_s;        /* of the webhooks; 0: as in the files */
};
/* One of the files, filled in; empty when the install does not need it. */
struct text render_fill(const struct render_text *file, const struct render_values *values,
                        struct arena *arena);

/* The rules of the webhook: the kinds that the rails of these policies judge; policies NULL: the
 * kinds of every rail. */
struct text render_rules(const struct policy_set *policies, struct arena *arena);

/* The rules of the entry for NodeClaims, which always fails open. */
struct text render_claim_rules(const struct policy_set *policies, struct arena *arena);

/* The rules of the webhook that changes pods. */
struct text render_change_rules(const struct policy_set *policies);

/* The rights to see the custom owners whose controllers these policies trust. */
struct text render_owner_rights(const struct policy_set *policies, struct arena *arena);

/* A policy file, for a ConfigMap. */
struct render_policy {
    const char *path; /* for errors */
    struct text name, bytes;
};
/* Whether a literal block of YAML keeps every byte; all else is base64, in binaryData. */
bool render_is_literal(struct text bytes);
/* The ConfigMap. False when a name cannot be a key, occurs twice, or all are too large. */
bool render_policies(const struct render_policy *policies, size_t count, struct text namespace,
                     struct arena *arena, struct text *manifest, struct error *error) MUST_CHECK;

/* A word as a YAML scalar that stays a string. */
struct text render_word(struct text word, struct arena *arena);

#endif
