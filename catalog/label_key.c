/* Label keys in pods: the key that was meant. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "solver/well_known.h"

/* Those of places first, then the pool's. */
static const char *const node_keys[] = {LABEL_ZONE,          LABEL_REGION,   LABEL_HOSTNAME,
                                        LABEL_CAPACITY_TYPE, LABEL_ARCH,     LABEL_OS,
                                        LABEL_INSTANCE_TYPE, LABEL_NODE_POOL};

bool label_is_of_every_place(struct text key)
{
    for (size_t i = 0; i < COUNT_OF(node_keys) - 1; i++)
        if (text_is(key, node_keys[i]))
            return true;
    return false;
}

static const struct {
    const char *written, *meant;
} other_words[] = {
    {"zone", LABEL_ZONE},
    {"region", LABEL_REGION},
    {"node", LABEL_HOSTNAME},
    {"hostname", LABEL_HOSTNAME},
    {"arch", LABEL_ARCH},
    {"os", LABEL_OS},
    {"instance-type", LABEL_INSTANCE_TYPE},
    {"capacity-type", LABEL_CAPACITY_TYPE},
    {"karpenter.sh/provisioner-name", LABEL_NODE_POOL},
    /* CSI drivers' own zone labels, which only their volumes carry. */
    {"topology.gke.io/zone", LABEL_ZONE},
    {"topology.disk.csi.azure.com/zone", LABEL_ZONE},
    {"topology.ebs.csi.eks.amazonaws.com/zone", LABEL_ZONE},
    {"topology.cinder.csi.openstack.org/zone", LABEL_ZONE},
};

/* ---- the key that was meant ---- */

struct search {
    struct text wanted, found;
    size_t least;
};

static void consider(struct search *search, struct text known)
{
    size_t distance = text_distance(search->wanted, known, search->least - 1);
    if (distance < search->least) {
        search->least = distance;
        search->found = known;
    }
}

/* Domains that people mistake for the domain of a node label. A node restriction is a label of the
 * user's own. */
static bool may_be_mistaken(struct text domain)
{
    static const char *const ends[] = {"kubernetes.io", "k8s.io", "karpenter.sh", "k8s.aws"};
    if (text_starts_with(domain, TEXT("node-restriction.")))
        return false;
    for (size_t i = 0; i < COUNT_OF(ends); i++)
        if (text_ends_with(domain, text_of(ends[i])))
            return true;
    return false;
}

/* "kubernetes.io/arch" for "node.kubernetes.io/arch". */
static void consider_domain(struct search *search, struct text name, struct text known)
{
    struct text known_name;
    if (search->found.size == 0 && text_split(known, '/', NULL, &known_name) &&
        text_equal(known_name, name))
        search->found = known;
}

struct text label_key_meant(const struct catalog *catalog, struct text key)
{
    enum { TYPO_EDITS = 2 };
    for (size_t i = 0; i < COUNT_OF(other_words); i++)
        if (text_is(key, other_words[i].written))
            return text_of(other_words[i].meant);
    size_t canonical_size = key.size;
    const char *canonical = solver_canonical_key(key.data, &canonical_size);
    if (canonical != key.data)
        return (struct text){canonical, canonical_size};
    if (solver_is_well_known(key.data, key.size) || text_is(key, LABEL_HOSTNAME) ||
        catalog_has_key(catalog, key))
        return TEXT("");

    struct search search = {.wanted = key, .least = TYPO_EDITS + 1};
    const struct solver_names *names = catalog_names(catalog);
    uint32_t count = solver_names_key_count(names);
    for (size_t i = 0; i < COUNT_OF(node_keys); i++)
        consider(&search, text_of(node_keys[i]));
    for (uint32_t i = 0; i < count; i++) {
        struct text known;
        known.data = solver_names_key_text(names, i, &known.size);
        consider(&search, known);
    }
    struct text domain, name;
    if (search.found.size > 0 || !text_split(key, '/', &domain, &name) || !may_be_mistaken(domain))
        return search.found;
    for (size_t i = 0; i < COUNT_OF(node_keys); i++)
        consider_domain(&search, name, text_of(node_keys[i]));
    for (uint32_t i = 0; i < count; i++) {
        struct text known;
        known.data = solver_names_key_text(names, i, &known.size);
        consider_domain(&search, name, known);
    }
    return search.found;
}
