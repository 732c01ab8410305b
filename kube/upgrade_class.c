/* Node classes: AWSNodeTemplate and EC2NodeClass v1beta1 as EC2NodeClass v1. */
#include "kube/upgrade.h"

struct nodes {
    struct node *items;
    size_t count, capacity;
};

/* ---- selectors: a map of tags becomes a list of terms ---- */

static void add_term(struct nodes *terms, struct arena *arena, const char *key, struct node value)
{
    struct member *member = ARENA_NEW(arena, struct member);
    *member = member_of(text_of(key), value);
    *LIST_PUSH(arena, terms) = node_of_members(member, 1);
}

static bool is_ids_key(struct text key)
{
    return text_is(key, "aws-ids") || text_is(key, "aws::ids");
}

static void add_each(struct nodes *terms, struct arena *arena, const char *key, struct text values)
{
    while (values.size > 0) {
        struct text value = values;
        struct text rest = TEXT("");
        text_split(values, ',', &value, &rest);
        while (value.size > 0 && value.data[0] == ' ')
            value = (struct text){value.data + 1, value.size - 1};
        add_term(terms, arena, key, node_of_text(value));
        values = rest;
    }
}

/* Of tags all must fit; of the values of one, which commas separate, any. */
static void add_tags(struct nodes *terms, struct arena *arena, const struct members *tags,
                     struct upgrade *upgrade)
{
    size_t many = tags->count;
    for (size_t i = 0; i < tags->count; i++)
        if (text_split(node_string(&tags->items[i].value), ',', NULL, NULL))
            many = many == tags->count ? i : many;
    struct text values = many < tags->count ? node_string(&tags->items[many].value) : TEXT("once");
    while (values.size > 0) {
        struct text value = values;
        struct text rest = TEXT("");
        text_split(values, ',', &value, &rest);
        struct member *items = ARENA_ARRAY(arena, tags->count, struct member);
        for (size_t i = 0; i < tags->count; i++) {
            items[i] = tags->items[i];
            if (i == many)
                items[i].value = node_of_text(value);
            else if (text_split(node_string(&items[i].value), ',', NULL, NULL))
                upgrade_note(upgrade, arena, "of the tag %.*s write a term for each value",
                             (int)items[i].key_size, items[i].key);
        }
        add_term(terms, arena, "tags", node_of_members(items, tags->count));
        values = rest;
    }
}

static const struct node *terms_of(const struct node *selector, struct arena *arena,
                                   struct upgrade *upgrade)
{
    struct nodes terms = {0};
    struct members tags = {0};
    for (size_t i = 0; node_is(selector, NODE_MAP) && i < node_count(selector); i++) {
        const struct member *member = &selector->members[i];
        struct text key = {member->key, member->key_size};
        struct text value = node_text(&member->value);
        if (is_ids_key(key))
            add_each(&terms, arena, "id", value);
        else if (text_is(key, "aws::name"))
            add_each(&terms, arena, "name", value);
        else if (text_is(key, "aws::owners"))
            upgrade_note(upgrade, arena, "the owners %.*s belong into each term", TEXT_ARGS(value));
        else
            *LIST_PUSH(arena, &tags) = member_of(key, node_of_text(value));
    }
    if (tags.count > 0)
        add_tags(&terms, arena, &tags, upgrade);
    return node_keep(arena, node_of_items(terms.items, terms.count));
}

static void put_terms(const struct node *spec, const char *terms, const char *selector,
                      struct arena *arena, struct upgrade *upgrade, struct members *out)
{
    const struct node *written = node_get(spec, terms);
    if (written == NULL && node_get(spec, selector) != NULL)
        written = terms_of(node_get(spec, selector), arena, upgrade);
    if (node_count(written) > 0)
        members_put(out, arena, terms, written);
    else
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

static void put_images(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                       struct members *out)
{
    struct text family = node_string(node_get(spec, "amiFamily"));
    bool chosen = node_count(node_get(spec, "amiSelectorTerms")) > 0 ||
                  node_count(node_get(spec, "amiSelector")) > 0;
    if (family.size == 0)
        family = TEXT("AL2");
    if (text_is(family, "Ubuntu")) {
        upgrade_note(upgrade, arena,
                     "v1 knows no amiFamily Ubuntu: it is written as AL2, whose "
                     "user data is the same; choose the images and the block "
                     "devices yourself");
        family = TEXT("AL2");
    }
    members_put_text(out, arena, "amiFamily", family);
    if (chosen) {
        put_terms(spec, "amiSelectorTerms", "amiSelector", arena, upgrade, out);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(aliases); i++) {
        if (!text_is(family, aliases[i].family))
            continue;
        struct nodes terms = {0};
        add_term(&terms, arena, "alias", node_of_text(text_of(aliases[i].alias)));
        members_put(out, arena, "amiSelectorTerms",
                    node_keep(arena, node_of_items(terms.items, terms.count)));
        upgrade_note(upgrade, arena,
                     "put a version for latest in alias %s: nodes are replaced at each release",
                     aliases[i].alias);
        return;
    }
    upgrade_note(upgrade, arena, "name spec.amiSelectorTerms: v1 wants it");
}

/* ---- the rest ---- */

/* Of these v1 has other defaults. */
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

static void put_role(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                     struct members *out)
{
    const struct node *role = node_get(spec, "role");
    const struct node *profile = node_get(spec, "instanceProfile");
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

void upgrade_node_class(const struct node *spec, struct arena *arena, struct upgrade *upgrade,
                        struct members *out)
{
    static const char *const kept[] = {"associatePublicIPAddress",
                                       "blockDeviceMappings",
                                       "context",
                                       "detailedMonitoring",
                                       "instanceStorePolicy",
                                       "tags",
                                       "userData"};
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
}
