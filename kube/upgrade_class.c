/* Converts AWSNodeTemplate and EC2NodeClass v1beta1 to EC2NodeClass v1. */
#include "kube/upgrade.h"

struct nodes {
    struct node *items;
    size_t count, capacity;
};

/* ---- selectors: a map becomes a list of terms ---- */

/* One condition of a term; if it has several values, any is enough, and each makes terms of its
 * own. */
struct part {
    struct text key;
    bool is_tag;
    LIST(struct text) values;
};

struct parts {
    struct part *items;
    size_t count, capacity;
};

static void add_part(struct parts *parts, struct arena *arena, struct text key, bool is_tag,
                     struct text values)
{
    struct part part = {.key = key, .is_tag = is_tag};
    while (values.size > 0) {
        struct text value = values;
        struct text rest = TEXT("");
        text_split(values, ',', &value, &rest);
        while (value.size > 0 && value.data[0] == ' ')
            value = (struct text){value.data + 1, value.size - 1};
        while (value.size > 0 && value.data[value.size - 1] == ' ')
            value.size--;
        *LIST_PUSH(arena, &part.values) = value;
        values = rest;
    }
    if (part.values.count == 0)
        *LIST_PUSH(arena, &part.values) = TEXT("");
    *LIST_PUSH(arena, parts) = part;
}

/* A term has all of the parts: each value of one part with each value of the others. */
static struct node terms_of_parts(struct parts *parts, struct arena *arena, struct upgrade *upgrade)
{
    enum { MOST_TERMS = 30 }; /* of a v1 object */
    struct nodes terms = {0};
    size_t total = parts->count > 0 ? 1 : 0;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->items[i];
        if (total * part->values.count > MOST_TERMS) {
            upgrade_note(upgrade, arena, "of %s%.*s write a term for each value",
                         part->is_tag ? "the tag " : "", TEXT_ARGS(part->key));
            part->values.count = 1;
        }
        total *= part->values.count;
    }
    for (size_t i = 0; i < total; i++) {
        struct members term = {0};
        struct members tags = {0};
        size_t step = total;
        for (size_t j = 0; j < parts->count; j++) {
            const struct part *part = &parts->items[j];
            step /= part->values.count;
            struct node value = node_of_text(part->values.items[i / step % part->values.count]);
            *LIST_PUSH(arena, part->is_tag ? &tags : &term) = member_of(part->key, value);
        }
        members_put_map(&term, arena, "tags", &tags);
        *LIST_PUSH(arena, &terms) = node_of_members(term.items, term.count);
    }
    return node_of_items(terms.items, terms.count);
}

static const struct node *terms_of(const struct node *selector, struct arena *arena,
                                   struct upgrade *upgrade)
{
    struct parts ids = {0};
    struct parts others = {0};
    struct text owners = TEXT("");
    for (size_t i = 0; node_is(selector, NODE_MAP) && i < node_count(selector); i++) {
        const struct member *member = &selector->members[i];
        struct text key = member_key(member);
        struct text value = node_text(&member->value);
        if (text_is(key, "aws-ids") || text_is(key, "aws::ids"))
            add_part(&ids, arena, TEXT("id"), false, value);
        else if (text_is(key, "aws::owners"))
            owners = value;
        else if (text_is(key, "aws::name"))
            add_part(&others, arena, TEXT("name"), false, value);
        else
            add_part(&others, arena, key, true, value);
    }
    if (ids.count > 0 && others.count > 0)
        upgrade_note(upgrade, arena,
                     "what stood beside the ids is left out: v1 takes an id by itself");
    else if (ids.count == 0 && others.count > 0 && owners.size > 0)
        add_part(&others, arena, TEXT("owner"), false, owners);
    return node_keep(arena, terms_of_parts(ids.count > 0 ? &ids : &others, arena, upgrade));
}

/* Terms that say something; of the others it is said that they do not. */
static const struct node *terms_without_empty(const struct node *terms, const char *name,
                                              struct arena *arena, struct upgrade *upgrade)
{
    struct nodes kept = {0};
    for (size_t i = 0; i < node_count(terms); i++)
        if (node_count(node_item(terms, i)) > 0)
            *LIST_PUSH(arena, &kept) = *node_item(terms, i);
    if (kept.count == node_count(terms))
        return terms;
    upgrade_note(upgrade, arena, "the empty term of spec.%s is left out: it selects nothing", name);
    return node_keep(arena, node_of_items(kept.items, kept.count));
}

/* The terms, or those of the old selector; NULL: there are none. */
static const struct node *chosen_terms(const struct node *spec, const char *terms,
                                       const char *selector, struct arena *arena,
                                       struct upgrade *upgrade)
{
    const struct node *written = node_get(spec, terms);
    if (written == NULL && node_get(spec, selector) != NULL)
        written = terms_of(node_get(spec, selector), arena, upgrade);
    if (node_is(written, NODE_LIST))
        written = terms_without_empty(written, terms, arena, upgrade);
    return node_count(written) > 0 ? written : NULL;
}

static void put_terms(const struct node *spec, const char *terms, const char *selector,
                      struct arena *arena, struct upgrade *upgrade, struct members *out)
{
    const struct node *chosen = chosen_terms(spec, terms, selector, arena, upgrade);
    members_put(out, arena, terms, chosen);
    if (chosen == NULL)
        upgrade_note(upgrade, arena, "name spec.%s: v1 wants it", terms);
}

/* ---- images ---- */

static const struct {
    const char *family, *alias;
} aliases[] = {
    {"AL2", "al2@latest"},
    {"AL2023", "al2023@latest"},
    {"Bottlerocket", "bottlerocket@latest"},
    {"Windows2019", "windows2019@latest"},
    {"Windows2022", "windows2022@latest"},
};

/* docs/reference/karpenter.md 5.5. */
static void note_end_of_al2(const struct node *spec, struct arena *arena, struct upgrade *upgrade)
{
    upgrade_note(upgrade, arena,
                 "al2 images end with Kubernetes 1.32, and the last are of November 2025: write "
                 "alias al2023@VERSION, with a release that you have tested%s",
                 node_get(spec, "userData") == NULL ? "" : ", and userData as a NodeConfig");
}

/* As Karpenter's own conversion does: AL2 lays out a device that Ubuntu does not start from. */
static void put_ubuntu_root(struct arena *arena, struct members *out)
{
    struct members ebs = {0}, mapping = {0};
    members_put(&ebs, arena, "encrypted", node_keep(arena, node_of_bool(true)));
    members_put_text(&ebs, arena, "volumeType", TEXT("gp3"));
    members_put_text(&ebs, arena, "volumeSize", TEXT("20Gi"));
    members_put_text(&mapping, arena, "deviceName", TEXT("/dev/sda1"));
    members_put(&mapping, arena, "rootVolume", node_keep(arena, node_of_bool(true)));
    members_put_map(&mapping, arena, "ebs", &ebs);
    const struct node *item = node_keep(arena, node_of_members(mapping.items, mapping.count));
    members_put(out, arena, "blockDeviceMappings", node_keep(arena, node_of_items(item, 1)));
}

static void put_images(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                       struct members *out)
{
    struct text family = node_string(node_get(spec, "amiFamily"));
    bool by_tags = node_count(node_get(spec, "amiSelector")) > 0;
    const struct node *chosen =
        chosen_terms(spec, "amiSelectorTerms", "amiSelector", arena, upgrade);
    if (family.size == 0)
        family = TEXT("AL2");
    bool is_ubuntu = text_is(family, "Ubuntu");
    if (is_ubuntu) {
        upgrade_note(upgrade, arena,
                     "v1 knows no amiFamily Ubuntu: it is written as AL2, whose "
                     "user data is the same; choose the images and the block "
                     "devices yourself");
        family = TEXT("AL2");
    }
    members_put_text(out, arena, "amiFamily", family);
    members_put(out, arena, "amiSelectorTerms", chosen);
    if (is_ubuntu && chosen != NULL && node_get(spec, "blockDeviceMappings") == NULL)
        put_ubuntu_root(arena, out);
    if (chosen != NULL)
        return;
    for (size_t i = 0; !by_tags && i < COUNT_OF(aliases); i++) {
        if (!text_is(family, aliases[i].family))
            continue;
        struct parts alias = {0};
        add_part(&alias, arena, TEXT("alias"), false, text_of(aliases[i].alias));
        members_put(out, arena, "amiSelectorTerms",
                    node_keep(arena, terms_of_parts(&alias, arena, upgrade)));
        if (text_is(family, "AL2"))
            note_end_of_al2(spec, arena, upgrade);
        else
            upgrade_note(upgrade, arena,
                         "put a version for latest in alias %s: nodes are replaced at each release",
                         aliases[i].alias);
        return;
    }
    upgrade_note(upgrade, arena, "name spec.amiSelectorTerms: v1 wants it");
}

/* ---- the rest ---- */

/* v1 has other defaults for these. */
static void put_metadata_options(const struct node *old, struct arena *arena, struct members *out)
{
    static const char *const texts[][2] = {
        {"httpEndpoint", "enabled"}, {"httpProtocolIPv6", "disabled"}, {"httpTokens", "required"}};
    struct members options = {0};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const struct node *written = node_get(old, texts[i][0]);
        members_put_text(&options, arena, texts[i][0],
                         written == NULL ? text_of(texts[i][1]) : node_text(written));
    }
    const struct node *limit = node_get(old, "httpPutResponseHopLimit");
    members_put(&options, arena, "httpPutResponseHopLimit",
                limit != NULL ? limit : node_keep(arena, node_of_integer(2, arena)));
    members_put_map(out, arena, "metadataOptions", &options);
}

static bool is_blank(struct text t)
{
    size_t i = 0;
    while (i < t.size && t.data[i] == ' ')
        i++;
    return i == t.size;
}

static void put_role(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                     struct members *out)
{
    const struct node *role = node_get(spec, "role");
    const struct node *profile = node_get(spec, "instanceProfile");
    if (profile != NULL && is_blank(node_string(profile))) {
        upgrade_note(upgrade, arena, "spec.instanceProfile is blank, and left out");
        profile = NULL;
    }
    if (profile != NULL && role != NULL)
        upgrade_note(upgrade, arena,
                     "spec.role %.*s is left out: v1 takes it or the instanceProfile, not both",
                     TEXT_ARGS(node_text(role)));
    if (profile != NULL) {
        members_put(out, arena, "instanceProfile", profile);
    } else if (role != NULL) {
        members_put(out, arena, "role", role);
    } else {
        members_put_text(out, arena, "role", TEXT("KarpenterNodeRole"));
        upgrade_note(upgrade, arena,
                     "put the role of your nodes in spec.role: the instance profile "
                     "of Karpenter's settings is no longer read");
    }
}

/* What is taken along as it is, and what is read; a NULL ends it. A Provisioner's provider has an
 * apiVersion and a kind. */
#define KEPT                                                                            \
    "associatePublicIPAddress", "blockDeviceMappings", "context", "detailedMonitoring", \
        "instanceStorePolicy", "kubelet", "tags", "userData"

void upgrade_node_class(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                        struct members *out)
{
    static const char *const kept[] = {KEPT};
    static const char *const known[] = {KEPT,
                                        "amiFamily",
                                        "amiSelector",
                                        "amiSelectorTerms",
                                        "apiVersion",
                                        "instanceProfile",
                                        "kind",
                                        "launchTemplate",
                                        "metadataOptions",
                                        "role",
                                        "securityGroupSelector",
                                        "securityGroupSelectorTerms",
                                        "subnetSelector",
                                        "subnetSelectorTerms",
                                        NULL};
    put_images(spec, arena, upgrade, out);
    put_role(spec, arena, upgrade, out);
    put_terms(spec, "subnetSelectorTerms", "subnetSelector", arena, upgrade, out);
    put_terms(spec, "securityGroupSelectorTerms", "securityGroupSelector", arena, upgrade, out);
    put_metadata_options(node_get(spec, "metadataOptions"), arena, out);
    for (size_t i = 0; i < COUNT_OF(kept); i++)
        members_put(out, arena, kept[i], node_get(spec, kept[i]));
    if (node_get(spec, "launchTemplate") != NULL)
        upgrade_note(upgrade, arena,
                     "spec.launchTemplate has no counterpart: say in the "
                     "EC2NodeClass what the template said");
    upgrade_leave_out(spec, "spec", known, "an EC2NodeClass", arena, upgrade);
}
