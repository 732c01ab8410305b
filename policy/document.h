/* One document of a policy file: its keys, and how it becomes a struct policy. */
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
    struct key_maps exceptions, overrides, pod_templates, trusted_controllers;
    struct policy policy;
};

/* The keys of a document, and those that every rail has besides its own. */
extern const struct key document_keys[];
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

/* Reads a document; every problem is added. False when there was one; *policy then has its name, as
 * far as it is known. */
bool document_read(const struct schema *schema, const struct node *root,
                   const struct catalog *catalog, struct problems *warnings, struct policy *policy);

/* An id stands once in a list of exceptions or of overrides (`what`), and only rails are named that
 * the policy uses. */
bool ids_check(const struct schema *schema, const struct field *list, const struct text *ids,
               size_t count, const char *what);
bool rails_check(const struct schema *schema, const struct field *spec, const struct field *item,
                 const struct key_strings *rails);
/* Beyond what the table can say of exceptions, and of overrides: these have to change something. */
bool exceptions_check(const struct schema *schema, const struct field *spec,
                      struct exception *exceptions, size_t count);
bool overrides_check(const struct schema *schema, const struct field *spec,
                     const struct policy *policy);

/* The children of spec.trustedControllers, and what the table cannot say of them. */
extern const struct key trusted_controller_keys[];
bool trusted_controllers_check(const struct schema *schema, const struct field *spec,
                               struct trusted_controller *items, size_t count);

#endif
