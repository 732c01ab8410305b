/* Values of templates that nobody has filled in yet. */
#ifndef TAFFRAIL_KUBE_PLACEHOLDER_H
#define TAFFRAIL_KUBE_PLACEHOLDER_H

#include "base/base.h"

/* "${ZONE}", "$(ZONE)", "{{ .Values.zone }}", "<<ZONE>>", alone or within other text: envsubst, sed
 * or a chart puts a value there before the object is applied. */
bool text_has_placeholder(struct text value);
/* "INSTANCE_TYPE", "ARCH": a word that a script replaces. To ask only of what has no capitals. */
bool text_is_capitals(struct text value);
/* Whether it, or a value within it, has one. */
bool node_has_placeholder(const struct node *node);
/* The first value with one, at or below a field, but in none of the named members of it (NULL ends
 * them); NULL: there is none. */
const struct field *field_placeholder(struct arena *arena, const struct field *field,
                                      const char *const *but);

#endif
