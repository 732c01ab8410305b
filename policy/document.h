/* The documents of policy files: their keys, how one of GuardRails becomes a struct policy, and how
 * those of GuardRailExceptions add to it. */
#ifndef TAFFRAIL_POLICY_DOCUMENT_H
#define TAFFRAIL_POLICY_DOCUMENT_H

#include "policy/policy_set.h"
#include "policy/schema.h"

struct catalog;

/* What a document becomes; the offsets of the keys are in here. */
struct document {
    int api_version, kind; /* one choice each */
    const struct node *labels, *annotations;
    enum mode mode;
    int64_t since_unix_s;
    const struct node *rails;
    struct key_maps exceptions, overrides, grants, pod_templates, trusted_controllers;
    struct policy policy;
};

/* What every rail has besides its own keys. */
struct rail_common {
    enum mode mode;
    bool mode_given, since_given;
    int64_t since_unix_s;
};

/* What a document of the kind GuardRailExceptions becomes, before it is bound to policies. */
struct exceptions_document {
    int api_version, kind; /* one choice each */
    const struct node *labels, *annotations;
    struct text name, owner;
    struct key_strings policies;
    struct key_maps exceptions, overrides;
    struct schema schema; /* for what is said of it later; its problems are the binder's */
    const struct field *spec;
    struct place place; /* of its name */
};

/* The keys of the documents, and those that every rail has besides its own. */
extern const struct key document_keys[];
extern const struct key exceptions_document_keys[];
extern const struct key rail_common_keys[];

/* The children of spec.karpenter. */
extern const struct key karpenter_keys[];
/* Where each of its keys stands. */
void karpenter_note_places(const struct schema *schema, const struct field *spec,
                           struct karpenter_words *words);
/* Makes one of what the policies say; that two contradict each other is an error. Then the rails
 * weigh it. */
void karpenter_settle(struct policy_set *policies, struct problems *errors,
                      struct problems *warnings);

/* The children of spec.limits, likewise. That they leave the API server's timeout no room is an
 * error, whichever policies say so. */
extern const struct key review_limit_keys[];
void review_limits_note_place(const struct schema *schema, const struct field *spec,
                              struct review_limits *limits);
void review_limits_settle(const struct policy_set *policies, struct problems *errors);

/* Whether it is of the kind GuardRailExceptions; anything else is read as GuardRails. */
bool document_is_exceptions(const struct node *root);
/* Reads a document; every problem is added. False when there was one; *policy then has its name, as
 * far as it is known. */
bool document_read(const struct schema *schema, const struct node *root,
                   const struct catalog *catalog, struct problems *warnings, struct policy *policy);

bool exceptions_document_read(const struct schema *schema, const struct node *root,
                              struct problems *warnings, struct exceptions_document *document);

/* A policy as documents add to it. */
struct bound_policy {
    struct policy *policy;
    LIST(struct exception) exceptions; /* its own, then those of documents */
    LIST(struct override) overrides;
};
/* Adds what the document holds to the policies that it names, as far as they grant it. What they do
 * not is a problem of the document, added to *problems. */
void exceptions_document_bind(const struct exceptions_document *document,
                              struct bound_policy *policies, size_t policy_count,
                              struct problems *problems);

/* An id stands once in a list of exceptions or of overrides (`what`). */
bool ids_check(const struct schema *schema, const struct field *list, const struct text *ids,
               size_t count, const char *what);
/* The rails that an item may name, and how a message calls whose they are. */
struct rails_named {
    const struct text *names;
    size_t count;
    struct text whose;
};
struct rails_named rails_of_spec(const struct schema *schema, const struct field *spec);
bool rails_check(const struct schema *schema, const struct rails_named *named,
                 const struct field *item, const struct key_strings *rails);
/* Beyond what the table can say of a list under spec, whichever document it is of; notes places. */
bool exceptions_read(const struct schema *schema, const struct field *spec,
                     struct exception *exceptions, size_t count);
bool overrides_read(const struct schema *schema, const struct field *spec,
                    struct override *overrides, size_t count);
/* One of a policy's own, or of a document: it names rails that the policy uses, and an override
 * changes something. */
bool override_check(const struct schema *schema, const struct rails_named *named,
                    const struct field *item, const struct override *override,
                    const struct policy *policy);

/* Beyond what the table can say of spec.grants; notes places. */
bool grants_read(const struct schema *schema, const struct field *spec,
                 const struct rails_named *named, struct grant *grants, size_t count);

/* The children of spec.trustedControllers, and what the table cannot say of them. */
extern const struct key trusted_controller_keys[];
bool trusted_controllers_check(const struct schema *schema, const struct field *spec,
                               struct trusted_controller *items, size_t count);

#endif
