/* The rules of the webhook configurations: what the policies judge, and no more. */
#include "cli/render.h"

/* Their mistakes cannot appear later: they never change, or their kind itself is the mistake. */
static const kind_set judged_on_create =
    KIND_BIT(KIND_AWS_NODE_TEMPLATE) | KIND_BIT(KIND_NODE_CLAIM);

/* Kinds that differ only in their resource are one rule. */
struct rule {
    struct text group;
    bool namespaced;
    unsigned operations; /* a set of 1 << OPERATION_X */
    struct text_builder resources;
};

enum {
    ON_CREATE = 1 << OPERATION_CREATE,
    ON_UPDATE = 1 << OPERATION_UPDATE,
    ON_DELETE = 1 << OPERATION_DELETE,
    ON_WRITE = ON_CREATE | ON_UPDATE,
};
static const char *const operations_text[] = {
    [ON_CREATE] = "CREATE",
    [ON_UPDATE] = "UPDATE",
    [ON_DELETE] = "DELETE",
    [ON_WRITE] = "CREATE, UPDATE",
    [ON_CREATE | ON_DELETE] = "CREATE, DELETE",
    [ON_UPDATE | ON_DELETE] = "UPDATE, DELETE",
    [ON_WRITE | ON_DELETE] = "CREATE, UPDATE, DELETE",
};

struct rules {
    struct rule *items;
    size_t count, capacity;
};

static struct rule *rule_of(struct rules *rules, struct text group, bool namespaced,
                            unsigned operations, struct arena *arena)
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

static void add_resource(struct rule *rule, struct text resource)
{
    text_builder_printf(&rule->resources, "%s%.*s", rule->resources.size == 0 ? "" : ", ",
                        TEXT_ARGS(resource));
}

/* For Kubernetes' own groups the API server converts other versions to v1. For a custom resource,
 * the installation decides which versions exist. */
static const char *versions_of(struct text group)
{
    static const char *const own[] = {"",       "apps",           "batch",
                                      "policy", "storage.k8s.io", "scheduling.k8s.io"};
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
        add_resource(rule_of(rules, resources.items[i].group, true, ON_WRITE, arena),
                     render_word(resources.items[i].plural, arena));
}

/* What the rails of these policies judge; policies NULL: what every rail does. */
struct judged {
    unsigned operations[KIND_COUNT]; /* of each kind, as of a rule */
    kind_set scales;                 /* kinds whose subresource scale is judged, too */
    bool resizes;
};

static void add_operations(struct judged *judged, const struct policy_set *policies,
                           const struct rail *rail)
{
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        for (enum operation operation = OPERATION_CREATE; operation <= OPERATION_DELETE;
             operation++)
            if (policies == NULL ? rail_judges(rail, kind, operation)
                                 : policy_set_judges(policies, rail, kind, operation))
                judged->operations[kind] |= 1U << operation;
}

static struct judged find_judged(const struct policy_set *policies)
{
    struct judged judged = {0};
    for (size_t i = 0; i < rail_count(); i++) {
        const struct rail *rail = rail_at(i);
        if (policies != NULL && !policy_set_uses(policies, rail))
            continue;
        add_operations(&judged, policies, rail);
        judged.resizes |= rail_judges_resize(rail);
        if (rail_judges_scale(rail))
            judged.scales |= rail_kinds(rail) & KINDS_WITH_SCALE;
    }
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((judged_on_create & KIND_BIT(kind)) != 0)
            judged.operations[kind] &= ON_CREATE;
    if ((judged.scales & KINDS_SCALED) != 0) /* it sets replicas, too */
        judged.operations[KIND_HORIZONTAL_POD_AUTOSCALER] |= ON_WRITE;
    return judged;
}

static void add_kinds(struct rules *rules, const struct judged *judged, kind_set kinds,
                      struct arena *arena)
{
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++) {
        const struct kind_info *info = &kind_table[kind];
        if ((kinds & KIND_BIT(kind)) != 0 && judged->operations[kind] != 0)
            add_resource(rule_of(rules, text_of(info->group), info->namespaced,
                                 judged->operations[kind], arena),
                         text_of(info->plural));
    }
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
                            TEXT_ARGS(group), versions_of(rule->group),
                            operations_text[rule->operations],
                            TEXT_ARGS(text_builder_text(&rule->resources)),
                            rule->namespaced ? "Namespaced" : "Cluster");
    }
    return rules->count == 0 ? TEXT(" []") : text_builder_text(&yaml);
}

static void add_scales(struct rules *rules, kind_set kinds, struct arena *arena)
{
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++) {
        const struct kind_info *info = &kind_table[kind];
        if ((kinds & KIND_BIT(kind)) != 0)
            add_resource(rule_of(rules, text_of(info->group), info->namespaced, ON_UPDATE, arena),
                         arena_printf(arena, "%s/scale", info->plural));
    }
}

struct text render_rules(const struct policy_set *policies, struct arena *arena)
{
    struct judged judged = find_judged(policies);
    struct rules rules = {0};
    add_kinds(&rules, &judged, ~KIND_BIT(KIND_NODE_CLAIM), arena);
    if (judged.resizes)
        add_resource(rule_of(&rules, TEXT(""), true, ON_UPDATE, arena), TEXT("pods/resize"));
    add_scales(&rules, judged.scales, arena);
    if (policies != NULL)
        add_custom_resources(&rules, policies, arena);
    return rules_as_yaml(&rules, arena);
}

struct text render_claim_rules(const struct policy_set *policies, struct arena *arena)
{
    struct rules rules = {0};
    const struct judged judged = find_judged(policies);
    add_kinds(&rules, &judged, KIND_BIT(KIND_NODE_CLAIM), arena);
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
