/* One document of a policy file: its keys, and how it becomes a struct policy. */
#ifndef TAFFRAIL_POLICY_DOCUMENT_H
#define TAFFRAIL_POLICY_DOCUMENT_H

#include "policy/policy_set.h"
#include "policy/schema.h"

/* The keys of a document, and those that every rail has besides its own. */
extern const struct key document_keys[];
extern const struct key rail_common_keys[];

/* Reads a document; every problem is added. False when there was one; *policy then has its name, as
 * far as it is known. */
bool document_read(const struct schema *schema, const struct node *root,
                   const struct catalog *catalog, struct problems *warnings, struct policy *policy);

/* What the table cannot say of exceptions: no id twice, only rails that the policy uses. */
bool exceptions_check(const struct schema *schema, const struct field *spec,
                      struct exception *exceptions, size_t count);

#endif
