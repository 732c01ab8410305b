/* Label keys in pods: the key that was meant. */
#include "catalog/build.h"
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

void catalog_read_known_keys(struct catalog *catalog)
{
    struct arena *arena = catalog->arena;
    const size_t count = COUNT_OF(node_keys) + catalog->key_count;
    catalog->known_count = count;
    catalog->known_keys = ARENA_ARRAY(arena, count, struct text);
    catalog->known_names = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++) {
        struct text *key = &catalog->known_keys[i];
        if (i < COUNT_OF(node_keys))
            *key = text_of(node_keys[i]);
        else
            key->data = solver_names_key_text(catalog->names, (uint32_t)(i - COUNT_OF(node_keys)),
                                              &key->size);
        if (!text_split(*key, '/', NULL, &catalog->known_names[i]))
            catalog->known_names[i] = TEXT("");
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
static struct text key_of_name(const struct catalog *catalog, struct text name)
{
    for (size_t i = 0; name.size > 0 && i < catalog->known_count; i++)
        if (text_equal(catalog->known_names[i], name))
            return catalog->known_keys[i];
    return TEXT("");
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
    size_t nearest = text_nearest(key, catalog->known_keys, catalog->known_count, TYPO_EDITS);
    if (nearest < catalog->known_count)
        return catalog->known_keys[nearest];
    struct text domain, name;
    bool mistaken = text_split(key, '/', &domain, &name) && may_be_mistaken(domain);
    return mistaken ? key_of_name(catalog, name) : TEXT("");
}
