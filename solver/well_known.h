/* Labels that Kubernetes and Karpenter put on nodes, by their own names. */
#ifndef TAFFRAIL_SOLVER_WELL_KNOWN_H
#define TAFFRAIL_SOLVER_WELL_KNOWN_H

#include <stddef.h>

#define LABEL_ZONE "topology.kubernetes.io/zone"
#define LABEL_ZONE_ID "topology.k8s.aws/zone-id"
#define LABEL_REGION "topology.kubernetes.io/region"
#define LABEL_HOSTNAME "kubernetes.io/hostname"
#define LABEL_ARCH "kubernetes.io/arch"
#define LABEL_OS "kubernetes.io/os"
#define LABEL_WINDOWS_BUILD "node.kubernetes.io/windows-build"
#define LABEL_INSTANCE_TYPE "node.kubernetes.io/instance-type"
#define LABEL_CAPACITY_TYPE "karpenter.sh/capacity-type"
#define LABEL_NODE_POOL "karpenter.sh/nodepool"
#define LABEL_REGISTERED "karpenter.sh/registered"
#define LABEL_INITIALIZED "karpenter.sh/initialized"

/* All well-known keys (docs/reference/karpenter.md 1.4), from 0; NULL beyond the last. */
const char *solver_well_known_key(size_t index);

#endif
