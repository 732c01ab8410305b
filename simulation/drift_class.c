/* What EC2NodeClasses select, and what the hashes of a cluster's classes have in common
 * (docs/reference/karpenter.md 6.9, 6.10). */
#include "simulation/drift_class.h"

#include "kube/image_family.h"
#include "kube/karpenter_hash.h"
#include "kube/object.h"
#include "kube/snapshot.h"

/* ---- the CA bundle's part of a hash ---- */

static bool parse_hash(struct text t, uint64_t *hash)
{
    *hash = 0;
    for (size_t i = 0; i < t.size; i++)
        if (__builtin_mul_overflow(*hash, 10, hash) ||
            __builtin_add_overflow(*hash, (uint64_t)(t.data[i] - '0'), hash))
            return false;
    return text_is_digits(t);
}

static struct class_secret secret_of(const struct object *class, struct arena *arena)
{
    uint64_t written = 0, computed = 0;
    const struct karpenter_hash *names = karpenter_hash(class);
    bool known = names != NULL &&
                 text_is(object_annotation(class, names->version_annotation), names->version) &&
                 parse_hash(object_annotation(class, names->annotation), &written) &&
                 karpenter_hash_value(class, arena, &computed);
    return (struct class_secret){known, written ^ computed};
}

struct class_secret class_secret_find(const struct snapshot *snapshot, const struct object *before,
                                      struct arena *arena)
{
    enum { MOST_CLASSES = 16 }; /* enough to see whether they agree */
    struct class_secret secret = {0};
    if (before != NULL)
        secret = secret_of(before, arena);
    size_t count = snapshot_count(snapshot, KIND_EC2_NODE_CLASS);
    for (size_t i = 0; i < count && i < MOST_CLASSES; i++) {
        const struct object *class = snapshot_object(snapshot, KIND_EC2_NODE_CLASS, i);
        if (before != NULL && text_equal(class->name, before->name))
            continue;
        struct class_secret other = secret_of(class, arena);
        if (other.known && secret.known && other.value != secret.value)
            return (struct class_secret){0};
        if (other.known)
            secret = other;
    }
    return secret;
}

/* ---- what a class selects ---- */

static const struct node *member_with(const struct node *terms, const char *key)
{
    FOR_ITEMS(term, terms)
        if (node_string(node_get(term, key)).size > 0)
            return node_get(term, key);
    return NULL;
}

static bool are_ids(const struct node *terms)
{
    FOR_ITEMS(term, terms)
        if (node_string(node_get(term, "id")).size == 0)
            return false;
    return node_count(terms) > 0;
}

static bool have_id(const struct node *terms, struct text id)
{
    FOR_ITEMS(term, terms)
        if (text_equal(node_string(node_get(term, "id")), id))
            return true;
    return false;
}

static struct text alias_of(const struct node *terms)
{
    return node_string(member_with(terms, "alias"));
}

static bool select_the_same(const struct node *before, const struct node *after)
{
    size_t count = node_count(before);
    struct text alias = alias_of(before);
    return count == node_count(after) &&
           (count == 0 || node_equal(before, after) ||
            (count == 1 && alias.size > 0 && image_aliases_agree(alias, alias_of(after))));
}

/* Whether both aliases name one version each, and not the same one. */
static bool is_another_version(const struct node *before, const struct node *after)
{
    struct text old_alias = alias_of(before);
    struct text new_alias = alias_of(after);
    return old_alias.size > 0 && new_alias.size > 0 && !image_aliases_agree(old_alias, new_alias) &&
           !text_ends_with(old_alias, TEXT("@latest")) &&
           !text_ends_with(new_alias, TEXT("@latest"));
}

static enum drift_answer image_drifts(const struct node *before, const struct node *after,
                                      const struct object *claim)
{
    struct text image = node_string(node_at(claim->root->node, "status.imageID"));
    if (is_another_version(before, after))
        return DRIFT_YES;
    if (image.size == 0 || !are_ids(after))
        return DRIFT_PERHAPS;
    if (!have_id(after, image))
        return DRIFT_YES;
    return node_count(after) == 1 ? DRIFT_NO : DRIFT_PERHAPS; /* a newer one may come first */
}

static enum drift_answer reservation_drifts(const struct node *before, const struct node *after,
                                            const struct object *claim)
{
    (void)before;
    struct text id =
        node_string(node_get(claim->labels, "karpenter.k8s.aws/capacity-reservation-id"));
    if (id.size == 0)
        return DRIFT_NO;
    if (node_count(after) == 0)
        return DRIFT_YES;
    if (!are_ids(after))
        return DRIFT_PERHAPS;
    return have_id(after, id) ? DRIFT_NO : DRIFT_YES;
}

/* In the order in which Karpenter asks. */
static const struct {
    const char *key, *path, *reason;
    /* NULL: only EC2 knows what the node has. */
    enum drift_answer (*drifts)(const struct node *before, const struct node *after,
                                const struct object *claim);
} selectors[CLASS_SELECTIONS] = {
    {"amiSelectorTerms", "spec.amiSelectorTerms", "AMIDrift", image_drifts},
    {"securityGroupSelectorTerms", "spec.securityGroupSelectorTerms", "SecurityGroupDrift", NULL},
    {"subnetSelectorTerms", "spec.subnetSelectorTerms", "SubnetDrift", NULL},
    {"capacityReservationSelectorTerms", "spec.capacityReservationSelectorTerms",
     "CapacityReservationDrift", reservation_drifts},
};

static const struct node *terms_of(const struct object *class, const char *key)
{
    return class == NULL ? NULL : node_get(node_get(class->root->node, "spec"), key);
}

void class_selections_read(struct class_selections *selections, const struct object *before,
                           const struct object *after)
{
    for (size_t i = 0; i < CLASS_SELECTIONS; i++) {
        const struct node *a = terms_of(before, selectors[i].key);
        const struct node *b = terms_of(after, selectors[i].key);
        selections->before[i] = a;
        selections->after[i] = b;
        selections->changed[i] = !select_the_same(a, b);
    }
}

struct text class_selections_path(const struct class_selections *selections, size_t index)
{
    return selections->changed[index] ? text_of(selectors[index].path) : TEXT("");
}

static enum drift_answer ask(const struct class_selections *selections, size_t index,
                             const struct object *claim)
{
    if (!selections->changed[index])
        return DRIFT_NO;
    if (selectors[index].drifts == NULL)
        return DRIFT_PERHAPS;
    return selectors[index].drifts(selections->before[index], selections->after[index], claim);
}

struct drift_cause class_selections_cause(const struct class_selections *selections,
                                          const struct object *claim)
{
    struct drift_cause cause = {0};
    for (size_t i = 0; i < CLASS_SELECTIONS; i++) {
        enum drift_answer answer = ask(selections, i, claim);
        if (answer > cause.holds)
            cause = (struct drift_cause){answer, text_of(selectors[i].reason),
                                         text_of(selectors[i].path)};
    }
    return cause;
}

bool class_selections_decide(const struct class_selections *selections, struct text reason)
{
    for (size_t i = 0; i < CLASS_SELECTIONS; i++)
        if (text_is(reason, selectors[i].reason))
            return selections->changed[i];
    return false;
}
