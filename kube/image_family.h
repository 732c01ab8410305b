/* Families of machine images, as EC2NodeClasses name them. */
#ifndef TAFFRAIL_KUBE_IMAGE_FAMILY_H
#define TAFFRAIL_KUBE_IMAGE_FAMILY_H

#include "base/base.h"

/* The amiFamily that an alias stands for: AL2023 of "al2023@latest". Empty: it stands for none, or
 * names no version. */
struct text image_family_of_alias(struct text alias);
/* Whether two aliases select the same images: Karpenter takes a version of Bottlerocket with and
 * without the v of its release. */
bool image_aliases_agree(struct text a, struct text b);

#endif
