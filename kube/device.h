/* GPUs and accelerators, by the resources that name them. */
#ifndef TAFFRAIL_KUBE_DEVICE_H
#define TAFFRAIL_KUBE_DEVICE_H

#include "base/base.h"

struct expression;
struct toleration;
struct workload;

/* Whether it asks for types with 0 GPUs or accelerators. Types without any have no such label; only
 * types with a share of one have it. */
bool expression_wants_no_devices(const struct expression *expression);

/* The resources, each once, that containers and initContainers ask for, under requests or limits,
 * with a quantity above 0 (one that does not parse counts). */
void resource_names_read(const struct workload *workload, struct arena *arena,
                         struct text_map *names);
/* Those that some of them ask for with a quantity of 0, for which ExtendedResourceToleration of the
 * API server adds a toleration all the same. */
void resource_zeros_read(const struct workload *workload, struct arena *arena,
                         struct text_map *names);
/* One of a device plugin, as nvidia.com/gpu is: not cpu, memory, hugepages-2Mi, and none of
 * Kubernetes' own. */
bool resource_is_extended(struct text resource);
/* What ExtendedResourceToleration of the API server adds for an extended resource; and whether a
 * toleration is what it adds for one of these resources. */
struct toleration toleration_of_resource(struct text resource);
bool is_toleration_of_some(const struct toleration *toleration, const struct text_map *resources);
/* The DeviceClass that a resource names by itself (deviceclass.resource.kubernetes.io/CLASS): for a
 * container that asks for it kube-scheduler makes a claim. Empty: it names none. */
struct text resource_device_class(struct text resource);
struct text resource_of_device_class(struct text class, struct arena *arena);
/* Whether it asks for devices through resourceClaims. */
bool workload_claims_devices(const struct workload *workload);

/* The maker of a type's accelerators; a resource's domain names it. */
enum device { DEVICE_NVIDIA, DEVICE_AMD, DEVICE_GAUDI, DEVICE_NEURON, DEVICE_COUNT };
/* A set of device makers: bit 1 << DEVICE_X. */
typedef uint32_t device_set;
#define DEVICE_BIT(device) ((device_set)1 << (device))
/* The maker for "nvidia.com/mig-1g.5gb" or "aws.amazon.com/neuroncore"; DEVICE_COUNT for any other.
 */
enum device device_of_resource(struct text resource);

#endif
