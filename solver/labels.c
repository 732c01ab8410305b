/* Well-known labels and their former names. */
#include <string.h>

#include "base/base.h"
#include "solver/solver.h"
#include "solver/well_known.h"

struct label {
    const char *text;
    size_t size;
};
#define LABEL(literal)                 \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }
#define AWS "karpenter.k8s.aws/"

static const struct label well_known[] = {
    LABEL("karpenter.sh/nodepool"),
    LABEL("karpenter.sh/capacity-type"),
    LABEL("topology.kubernetes.io/zone"),
    LABEL("topology.kubernetes.io/region"),
    LABEL("node.kubernetes.io/instance-type"),
    LABEL(LABEL_WINDOWS_BUILD),
    LABEL("kubernetes.io/arch"),
    LABEL("kubernetes.io/os"),
    LABEL(LABEL_ZONE_ID),
    LABEL(AWS "instance-category"),
    LABEL(AWS "instance-family"),
    LABEL(AWS "instance-generation"),
    LABEL(AWS "instance-size"),
    LABEL(AWS "instance-hypervisor"),
    LABEL(AWS "instance-cpu"),
    LABEL(AWS "instance-cpu-manufacturer"),
    LABEL(AWS "instance-cpu-sustained-clock-speed-mhz"),
    LABEL(AWS "instance-memory"),
    LABEL(AWS "instance-ebs-bandwidth"),
    LABEL(AWS "instance-network-bandwidth"),
    LABEL(AWS "instance-local-nvme"),
    LABEL(AWS "instance-gpu-name"),
    LABEL(AWS "instance-gpu-manufacturer"),
    LABEL(AWS "instance-gpu-count"),
    LABEL(AWS "instance-gpu-memory"),
    LABEL(AWS "instance-accelerator-name"),
    LABEL(AWS "instance-accelerator-manufacturer"),
    LABEL(AWS "instance-accelerator-count"),
    LABEL(AWS "instance-encryption-in-transit-supported"),
    LABEL(AWS "instance-capability-flex"),
    LABEL(AWS "instance-tenancy"),
    LABEL(AWS "capacity-reservation-id"),
    LABEL(AWS "capacity-reservation-type"),
    LABEL(AWS "capacity-reservation-interruptible"),
    LABEL(AWS "placement-group-id"),
    LABEL(AWS "placement-group-partition"),
};

static const struct {
    struct label alias, canonical;
} aliases[] = {
    {LABEL("failure-domain.beta.kubernetes.io/zone"), LABEL("topology.kubernetes.io/zone")},
    {LABEL("failure-domain.beta.kubernetes.io/region"), LABEL("topology.kubernetes.io/region")},
    {LABEL("beta.kubernetes.io/arch"), LABEL("kubernetes.io/arch")},
    {LABEL("beta.kubernetes.io/os"), LABEL("kubernetes.io/os")},
    {LABEL("beta.kubernetes.io/instance-type"), LABEL("node.kubernetes.io/instance-type")},
    {LABEL("topology.ebs.csi.aws.com/zone"), LABEL("topology.kubernetes.io/zone")},
};

/* The domain of EKS Auto Mode's instance type labels. */
static const struct label auto_mode = LABEL("eks.amazonaws.com/instance-");
static const struct label auto_mode_canonical = LABEL(AWS "instance-");

static bool is(struct label label, const char *data, size_t size)
{
    return label.size == size && memcmp(label.text, data, size) == 0;
}

static const char *canonical_auto_mode(const char *data, size_t *size)
{
    if (*size <= auto_mode.size || memcmp(data, auto_mode.text, auto_mode.size) != 0)
        return data;
    size_t prefix_size = auto_mode_canonical.size, rest_size = *size - auto_mode.size;
    for (size_t i = 0; i < COUNT_OF(well_known); i++) {
        struct label label = well_known[i];
        if (label.size == prefix_size + rest_size &&
            memcmp(label.text, auto_mode_canonical.text, prefix_size) == 0 &&
            memcmp(label.text + prefix_size, data + auto_mode.size, rest_size) == 0) {
            *size = label.size;
            return label.text;
        }
    }
    return data;
}

const char *solver_canonical_key(const char *data, size_t *size)
{
    for (size_t i = 0; i < COUNT_OF(aliases); i++)
        if (is(aliases[i].alias, data, *size)) {
            *size = aliases[i].canonical.size;
            return aliases[i].canonical.text;
        }
    return canonical_auto_mode(data, size);
}

bool solver_is_well_known(const char *data, size_t size)
{
    for (size_t i = 0; i < COUNT_OF(well_known); i++)
        if (is(well_known[i], data, size))
            return true;
    return false;
}

const char *solver_well_known_key(size_t index)
{
    return index < COUNT_OF(well_known) ? well_known[index].text : NULL;
}
