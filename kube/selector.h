/* Label selectors. */
#ifndef TAFFRAIL_KUBE_SELECTOR_H
#define TAFFRAIL_KUBE_SELECTOR_H

#include "base/base.h"

struct object;
struct selector_index;

/* Whether a metav1.LabelSelector selects these labels (NULL: none). A NULL selector selects
 * nothing, an empty one everything; a malformed one nothing. */
bool selector_matches(const struct node *selector, const struct node *labels);
/* Whether it asks for all that another one (NULL: selects nothing) does. Else it may select more.
 */
bool selector_selects_no_more(const struct node *selector, const struct node *other,
                              struct arena *arena);
/* Whether a namespaceSelector selects a namespace. Each has its name as a label; its other labels
 * are known only where its object is seen (else NULL). */
enum selected { NOT_SELECTED, MAY_BE_SELECTED, SELECTED };
enum selected namespace_selected(const struct node *selector, struct text name,
                                 const struct object *seen);
const struct selector_index *selector_index_make(const struct node *selector, struct arena *arena);
bool selector_index_matches(const struct selector_index *index, const struct node *labels);

#endif
