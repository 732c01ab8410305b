/* Label keys that pods name: which were meant, and what nodes carry. */
#include "kube/kube.h"
#include "solver/well_known.h"

/* Every node that Karpenter buys carries these labels, whatever its NodePool says. */
static const char *const node_keys[] = {LABEL_ZONE,          LABEL_REGION,   LABEL_HOSTNAME,
                                        LABEL_CAPACITY_TYPE, LABEL_ARCH,     LABEL_OS,
                                        LABEL_INSTANCE_TYPE, LABEL_NODE_POOL};

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

/* Domains under which labels of nodes are looked for, though they stand under another one. A node
 * restriction is a label of somebody's own. */
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

/* ---- what nodes carry ---- */

static bool produces(const struct expression *expression, struct text key)
{
    return text_equal(expression->key, key) && expression->valid &&
           expression->op != SOLVER_DOES_NOT_EXIST;
}

bool pool_produces(const struct pool *pool, struct text key)
{
    for (size_t i = 0; i < pool->labels.count; i++)
        if (produces(&pool->labels.items[i], key))
            return true;
    for (size_t i = 0; i < pool->requirements.count; i++)
        if (produces(&pool->requirements.items[i], key))
            return true;
    return false;
}

bool some_pool_produces(const struct snapshot *snapshot, struct text key)
{
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        if (pool_produces(snapshot_pool(snapshot, i), key))
            return true;
    return false;
}

static void add_value(struct label_offers *offers, struct text value, struct arena *arena)
{
    if (text_map_add(&offers->values, arena, value))
        *LIST_PUSH(arena, offers) = value;
}

static void add_expressions(struct label_offers *offers, const struct expressions *expressions,
                            struct text key, struct arena *arena)
{
    for (size_t i = 0; i < expressions->count; i++) {
        const struct expression *expression = &expressions->items[i];
        if (!produces(expression, key))
            continue;
        offers->from_pool = true;
        if (expression->op != SOLVER_IN)
            offers->any_value = true;
        for (size_t j = 0; expression->op == SOLVER_IN && j < expression->value_count; j++)
            add_value(offers, expression->values[j].text, arena);
    }
}

/* "karpenter.k8s.aws/ec2nodeclass", which Karpenter puts on the nodes of the class. */
static bool is_class_label(const struct pool *pool, struct text key)
{
    struct text group, kind;
    if (!text_split(key, '/', &group, &kind) || !text_equal(group, pool->node_class_group) ||
        kind.size != pool->node_class_kind.size)
        return false;
    for (size_t i = 0; i < kind.size; i++) {
        char c = pool->node_class_kind.data[i];
        if (kind.data[i] != (c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c))
            return false;
    }
    return true;
}

bool label_is_put_by_others(struct text key)
{
    static const char *const beginnings[] = {
        "eks.amazonaws.com/",          "alpha.eksctl.io/",  "cloud.google.com/",
        "kubernetes.azure.com/",       "agentpool",         "node-role.kubernetes.io/",
        "feature.node.kubernetes.io/", "nvidia.com/",       "amd.com/",
        "node.openshift.io/",          "topology.k8s.aws/", "k8s.amazonaws.com/",
    };
    for (size_t i = 0; i < COUNT_OF(beginnings); i++)
        if (text_starts_with(key, text_of(beginnings[i])))
            return true;
    return false;
}

static void add_pool(struct label_offers *offers, const struct pool *pool, struct text key,
                     struct arena *arena)
{
    add_expressions(offers, &pool->labels, key, arena);
    add_expressions(offers, &pool->requirements, key, arena);
    struct text own;
    if (is_class_label(pool, key))
        own = pool->node_class_name;
    else if (text_is(key, LABEL_NODE_POOL))
        own = pool->object->name;
    else if (text_is(key, LABEL_COMPUTE_TYPE) && pool_is_of_auto_mode(pool))
        own = TEXT("auto");
    else
        return;
    offers->from_pool = true;
    add_value(offers, own, arena);
}

void label_offers_read(const struct snapshot *snapshot, struct text key, struct arena *arena,
                       struct label_offers *offers)
{
    *offers = (struct label_offers){0};
    for (size_t i = 0; i < snapshot_pool_count(snapshot); i++)
        if (!snapshot_pool(snapshot, i)->object->deleting)
            add_pool(offers, snapshot_pool(snapshot, i), key, arena);
    const struct text_map *of_nodes = snapshot_node_values(snapshot, key);
    offers->from_node = of_nodes != NULL;
    for (size_t i = 0; of_nodes != NULL && i < of_nodes->count; i++)
        add_value(offers, of_nodes->items[i].key, arena);
}
