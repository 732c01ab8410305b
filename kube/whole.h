/* Whether an object of a file is one to judge: a whole one, that is still to be created. */
#ifndef TAFFRAIL_KUBE_WHOLE_H
#define TAFFRAIL_KUBE_WHOLE_H

#include "kube/object.h"

/* The path of the first field that the API requires and the object lacks, such as a kustomize patch
 * does: the API server refuses it as it is. Empty: it is whole, as far as this knows its kind and
 * version (docs/reference/admission.md 7). */
struct text object_missing_field(const struct object *object, struct arena *arena);
/* A Pod as only the API server has it, which kubectl get wrote: on a node, or being deleted. */
bool object_is_stored_pod(const struct object *object);

#endif
