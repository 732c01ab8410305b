#include "cli/render.h"

/* What cannot change afterwards is judged when it is made, and only then. */
static const kind_set judged_on_create =
    KIND_BIT(KIND_PERSISTENT_VOLUME_CLAIM) | KIND_BIT(KIND_STORAGE_CLASS);

/* Kinds that share all but their resources are one rule. */
struct rule {
    const char *group;
    bool namespaced, create_only;
    struct text_builder resources;
};

struct rules {
    struct rule *items;
    size_t count, capacity;
};

static struct rule *rule_of(struct rules *rules, enum kind kind, struct arena *arena)
{
    const struct kind_info *info = &kind_table[kind];
    bool create_only = (judged_on_create & KIND_BIT(kind)) != 0;
    for (size_t i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->items[i];
        if (text_is(text_of(rule->group), info->group) && rule->namespaced == info->namespaced &&
            rule->create_only == create_only)
            return rule;
    }
    struct rule *rule = LIST_PUSH(arena, rules);
    *rule = (struct rule){info->group, info->namespaced, create_only, {.arena = arena}};
    return rule;
}

static void add_resource(struct rule *rule, const char *resource)
{
    text_builder_printf(&rule->resources, "%s%s", rule->resources.size == 0 ? "" : ", ", resource);
}

/* Of Kubernetes' own groups the API server converts to v1 what was sent in another version; which
 * versions a custom resource has, its installation decides. */
static const char *versions_of(const char *group)
{
    return text_starts_with(text_of(group), TEXT("karpenter.")) ? "\"*\"" : "v1";
}

struct text render_rules(const struct policy_set *policies, struct arena *arena)
{
    kind_set kinds = 0;
    bool resizes = false;
    for (size_t i = 0; i < rail_count(); i++) {
        if (policies != NULL && !policy_set_uses(policies, rail_at(i)))
            continue;
        kinds |= rail_kinds(rail_at(i));
        resizes |= rail_judges_resize(rail_at(i));
    }

    struct rules rules = {0};
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++) {
        if ((kinds & KIND_BIT(kind)) == 0)
            continue;
        struct rule *rule = rule_of(&rules, kind, arena);
        add_resource(rule, kind_table[kind].plural);
        if (kind == KIND_POD && resizes)
            add_resource(rule, "pods/resize");
    }

    struct text_builder yaml = {.arena = arena};
    for (size_t i = 0; i < rules.count; i++) {
        const struct rule *rule = &rules.items[i];
        text_builder_printf(&yaml,
                            "\n      - apiGroups: [%s]\n"
                            "        apiVersions: [%s]\n"
                            "        operations: [%s]\n"
                            "        resources: [%.*s]\n"
                            "        scope: %s",
                            rule->group[0] == '\0' ? "\"\"" : rule->group, versions_of(rule->group),
                            rule->create_only ? "CREATE" : "CREATE, UPDATE",
                            TEXT_ARGS(text_builder_text(&rule->resources)),
                            rule->namespaced ? "Namespaced" : "Cluster");
    }
    return rules.count == 0 ? TEXT(" []") : text_builder_text(&yaml);
}

/* Pods, and only when they are created. */
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
