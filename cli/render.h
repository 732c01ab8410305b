/* The install as YAML: `taffrail render`. */
#ifndef TAFFRAIL_CLI_RENDER_H
#define TAFFRAIL_CLI_RENDER_H

#include "policy/policy.h"

/* The files of manifests/base, and the starter policy; made from them by render_texts.cmake. */
struct render_text {
    const char *name, *text;
};
extern const struct render_text render_texts[]; /* ends with a NULL name */
struct text render_text_of(const char *name);   /* of a file that there is */

/* Where the certificate comes from. */
enum render_certificates {
    CERTIFICATES_SELF, /* the replicas make it, and write the CA bundle: serve --manage-webhooks */
    CERTIFICATES_SECRET, /* the Secret taffrail-tls, which others keep, and --ca */
    CERTIFICATES_CERT_MANAGER,
};

/* What stands in the files, to be replaced. */
struct render_values {
    struct text namespace, image, replicas;
    enum render_certificates certificates;
    bool fails; /* failurePolicy Fail */
    const char *const *excluded_namespaces;
    size_t excluded_count;
    struct text rules; /* items of a list, as render_rules writes them */
    struct text claim_rules, change_rules;
    struct text owner_rights; /* further rules of the ClusterRole */
    struct text ca_bundle;    /* base64; empty: none */
    int64_t timeout_s;        /* of the webhooks; 0: as the files have it */
};
/* One of the files, filled in; empty when it is not part of such an install. */
struct text render_fill(const struct render_text *file, const struct render_values *values,
                        struct arena *arena);

/* The rules of the webhook: the kinds that the rails judge which these policies switch on; of every
 * rail with policies NULL. */
struct text render_rules(const struct policy_set *policies, struct arena *arena);

/* The rules of the entry for NodeClaims, which fails open whatever the other does. */
struct text render_claim_rules(const struct policy_set *policies, struct arena *arena);

/* The rules of the webhook that changes pods. */
struct text render_change_rules(const struct policy_set *policies);

/* What lets custom owners be seen, of which these policies trust the controllers. */
struct text render_owner_rights(const struct policy_set *policies, struct arena *arena);

/* A policy file, as a ConfigMap holds it. */
struct render_policy {
    const char *path; /* for errors */
    struct text name, bytes;
};
/* The ConfigMap. False when a name cannot be a key of it, stands twice, or all are too large. */
bool render_policies(const struct render_policy *policies, size_t count, struct text namespace,
                     struct arena *arena, struct text *manifest, struct error *error) MUST_CHECK;

/* A word as a YAML scalar that stays a string. */
struct text render_word(struct text word, struct arena *arena);

#endif
