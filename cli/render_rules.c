/* The rules of the webhook configurations: what the policies judge, and no more. */
#include "cli/render.h"

/* Their mistakes cannot appear later: they never change, or their kind itself is the mistake. */
static const kind_set judged_on_create =
    KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_PERSISTENT_VOLUME) |
    KIND_BIT(KIND_STORAGE_CLASS) | KIND_BIT(KIND_AWS_NODE_TEMPLATE) | KIND_BIT(KIND_NODE_CLAIM);

/* Kinds that differ only in their resource are one rule. */
struct rule {
    struct text group;
    bool namespaced;
    const char *operations; /* one of the constants below */
    struct text_builder resources;
};

static const char on_create[] = "CREATE", on_update[] = "UPDATE", on_both[] = "CREATE, UPDATE";

struct rules {
    struct rule *items;
    size_t count, capacity;
};

static struct rule *rule_of(struct rules *rules, struct text group, bool namespaced,
                            const char *operations, struct arena *arena)
{
    for (size_t i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->items[i];
        if (text_equal(rule->group, group) && rule->namespaced == namespaced &&
            rule->operations == operations)
            return rule;
    }
    struct rule *rule = LIST_PUSH(arena, rules);
    *rule = (struct rule){group, namespaced, operations, {.arena = arena}};
    return rule;
}

static struct rule *rule_of_kind(struct rules *rules, enum kind kind, struct arena *arena)
{
    const struct kind_info *info = &kind_table[kind];
    return rule_of(rules, text_of(info->group), info->namespaced,
                   (judged_on_create & KIND_BIT(kind)) != 0 ? on_create : on_both, arena);
}

static void add_resource(struct rule *rule, struct text resource)
{
    text_builder_printf(&rule->resources, "%s%.*s", rule->resources.size == 0 ? "" : ", ",
                        TEXT_ARGS(resource));
}

/* For Kubernetes' own groups the API server converts other versions to v1. For a custom resource,
 * the installation decides which versions exist. */
static const char *versions_of(struct text group)
{
    static const char *const own[] = {"", "apps", "batch", "policy", "storage.k8s.io"};
    for (size_t i = 0; i < COUNT_OF(own); i++)
        if (text_is(group, own[i]))
            return "v1";
    return "\"*\"";
}

static void add_custom_resources(struct rules *rules, const struct policy_set *policies,
                                 struct arena *arena)
{
    struct custom_resources resources;
    policy_set_custom_resources(policies, arena, &resources);
    for (size_t i = 0; i < resources.count; i++)
        add_resource(rule_of(rules, resources.items[i].group, true, on_both, arena),
                     render_word(resources.items[i].plural, arena));
}

/* The kinds that the rails of these policies judge; policies NULL: those of every rail. */
struct judged {
    kind_set kinds, scales; /* scales: kinds whose subresource scale is judged, too */
    bool resizes;
};

static struct judged find_judged(const struct policy_set *policies)
{
    struct judged judged = {0};
    for (size_t i = 0; i < rail_count(); i++) {
        const struct rail *rail = rail_at(i);
        if (policies != NULL && !policy_set_uses(policies, rail))
            continue;
        judged.kinds |= rail_kinds(rail);
        judged.resizes |= rail_judges_resize(rail);
        if (rail_judges_scale(rail))
            judged.scales |= rail_kinds(rail) & KINDS_SCALED;
    }
    return judged;
}

static void add_kinds(struct rules *rules, kind_set kinds, struct arena *arena)
{
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0)
            add_resource(rule_of_kind(rules, kind, arena), text_of(kind_table[kind].plural));
}

static struct text rules_as_yaml(const struct rules *rules, struct arena *arena)
{
    struct text_builder yaml = {.arena = arena};
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->items[i];
        struct text group = rule->group.size == 0 ? TEXT("\"\"") : render_word(rule->group, arena);
        text_builder_printf(&yaml,
                            "\n      - apiGroups: [%.*s]\n"
                            "        apiVersions: [%s]\n"
                            "        operations: [%s]\n"
                            "        resources: [%.*s]\n"
                            "        scope: %s",
                            TEXT_ARGS(group), versions_of(rule->group), rule->operations,
                            TEXT_ARGS(text_builder_text(&rule->resources)),
                            rule->namespaced ? "Namespaced" : "Cluster");
    }
    return rules->count == 0 ? TEXT(" []") : text_builder_text(&yaml);
}

static void add_scales(struct rules *rules, kind_set kinds, struct arena *arena)
{
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0)
            add_resource(rule_of(rules, text_of(kind_table[kind].group), true, on_update, arena),
                         arena_printf(arena, "%s/scale", kind_table[kind].plural));
}

struct text render_rules(const struct policy_set *policies, struct arena *arena)
{
    struct judged judged = find_judged(policies);
    struct rules rules = {0};
    add_kinds(&rules, judged.kinds & ~KIND_BIT(KIND_NODE_CLAIM), arena);
    if (judged.resizes)
        add_resource(rule_of(&rules, TEXT(""), true, on_update, arena), TEXT("pods/resize"));
    add_scales(&rules, judged.scales, arena);
    if (policies != NULL)
        add_custom_resources(&rules, policies, arena);
    return rules_as_yaml(&rules, arena);
}

struct text render_claim_rules(const struct policy_set *policies, struct arena *arena)
{
    struct rules rules = {0};
    add_kinds(&rules, find_judged(policies).kinds & KIND_BIT(KIND_NODE_CLAIM), arena);
    return rules_as_yaml(&rules, arena);
}

/* Pods, only when they are created. */
struct text render_change_rules(const struct policy_set *policies)
{
    bool changes = policies != NULL && policy_set_changes_pods(policies);
    for (size_t i = 0; policies == NULL && i < rail_count(); i++)
        changes |= rail_changes_pods(rail_at(i));
    return changes ? TEXT("\n      - apiGroups: [\"\"]\n"
                          "        apiVersions: [v1]\n"
                          "        operations: [CREATE]\n"
                          "        resources: [pods]\n"
                          "        scope: Namespaced")
                   : TEXT(" []");
}

/* No more than the server watches. */
struct text render_owner_rights(const struct policy_set *policies, struct arena *arena)
{
    struct text_builder yaml = {.arena = arena};
    struct custom_kinds kinds = {0};
    if (policies != NULL)
        policy_set_owner_kinds(policies, arena, &kinds);
    for (size_t i = 0; i < kinds.count && i < OWNER_KINDS_MAX; i++) {
        struct text group = render_word(kinds.items[i].group, arena);
        struct text plural = render_word(kinds.items[i].plural, arena);
        text_builder_printf(&yaml,
                            "\n  - apiGroups: [%.*s]\n"
                            "    resources: [%.*s]\n"
                            "    verbs: [list, watch]",
                            TEXT_ARGS(group), TEXT_ARGS(plural));
    }
    return text_builder_text(&yaml);
}
