/* Private to manifest*.c: the text of a file. */
#ifndef TAFFRAIL_KUBE_MANIFEST_TEXT_H
#define TAFFRAIL_KUBE_MANIFEST_TEXT_H

#include "kube/manifest.h"

/* Adds the objects of the source, and what is wrong with it, to the manifests. */
void manifests_read_text(struct manifests *manifests, struct source *source,
                         struct text default_namespace, bool only_json);

#endif
