/* Label selectors, as the API server's LabelSelectorAsSelector reads them. */
#include "kube/selector.h"

#include "object_fixture.h"

#define ONE(expression) "{matchExpressions: [{" expression "}]}"

static void selectors_match_labels(void)
{
    static const struct {
        const char *selector, *labels;
        bool matches;
    } rows[] = {
        /* an empty selector takes everything, and a missing one nothing */
        {"{}", "{}", true},
        {"{}", "{app: web}", true},
        {"null", "{app: web}", false},
        {"[]", "{app: web}", false},
        {"{matchLabels: []}", "{}", true},
        {"{matchLabels: {app: web}}", "{app: web, tier: front}", true},
        {"{matchLabels: {app: web}}", "{app: webs}", false},
        {"{matchLabels: {app: web}}", "{tier: web}", false},
        {"{matchLabels: {app: web, tier: front}}", "{app: web, tier: front}", true},
        {"{matchLabels: {app: web, tier: front}}", "{app: web, tier: back}", false},
        {"{matchLabels: {app: web, tier: front}}", "{app: api, tier: front}", false},
        {"{matchLabels: [app]}", "{app: web}", false},
        {"{matchLabels: {app: ''}}", "{app: ''}", true},
        {"{matchLabels: {app: ''}}", "{}", false},
        {ONE("key: app, operator: In, values: [api, web]"), "{app: web}", true},
        {ONE("key: app, operator: In, values: [api, web]"), "{app: api}", true},
        {ONE("key: app, operator: In, values: [api, web]"), "{app: db}", false},
        {ONE("key: app, operator: In, values: [api, web]"), "{}", false},
        {ONE("key: app, operator: In, values: ['']"), "{}", false},
        /* what is not there is not one of the values */
        {ONE("key: app, operator: NotIn, values: [api, web]"), "{app: web}", false},
        {ONE("key: app, operator: NotIn, values: [api, web]"), "{app: db}", true},
        {ONE("key: app, operator: NotIn, values: [api, web]"), "{}", true},
        {ONE("key: app, operator: Exists"), "{app: web}", true},
        {ONE("key: app, operator: Exists"), "{tier: web}", false},
        {ONE("key: app, operator: DoesNotExist"), "{app: web}", false},
        {ONE("key: app, operator: DoesNotExist"), "{tier: web}", true},
        {ONE("key: app, operator: Gt, values: ['1']"), "{app: '2'}", false},
        {ONE("key: app"), "{app: web}", false},
        /* all of them */
        {"{matchExpressions: [{key: a, operator: Exists}, {key: b, operator: Exists}]}",
         "{a: x, b: x}", true},
        {"{matchExpressions: [{key: a, operator: Exists}, {key: b, operator: Exists}]}", "{a: x}",
         false},
        {"{matchExpressions: [{key: a, operator: Exists}, {key: b, operator: Exists}]}", "{b: x}",
         false},
        {"{matchLabels: {a: x}, matchExpressions: [{key: b, operator: Exists}]}", "{a: x, b: y}",
         true},
        {"{matchLabels: {a: x}, matchExpressions: [{key: b, operator: Exists}]}", "{a: x}", false},
        {"{matchLabels: {a: x}, matchExpressions: [{key: b, operator: Exists}]}", "{b: x}", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(1 << 20);
        const char *yaml =
            arena_printf(arena,
                         "{apiVersion: v1, kind: Pod, metadata: {name: a, labels: %s}, spec: "
                         "{selector: %s}}",
                         rows[i].labels, rows[i].selector)
                .data;
        const struct object *object = fixture_object(arena, yaml, "shop");
        bool matches = selector_matches(node_at(object->root->node, "spec.selector"),
                                        node_at(object->root->node, "metadata.labels"));
        if (matches != rows[i].matches)
            fprintf(stderr, "%s of %s\n", rows[i].selector, rows[i].labels);
        CU_ASSERT_EQUAL(matches, rows[i].matches);
        arena_destroy(arena);
    }
}

/* The namespace is "web", and is labelled team: a where it is seen. */
static void a_namespace_is_selected_by_name_and_labels(void)
{
#define NAME "kubernetes.io/metadata.name"
#define TEAM "key: team, operator: "
    static const struct {
        const char *selector;
        enum selected unseen, seen;
    } rows[] = {
        {"{}", SELECTED, SELECTED},
        {"null", NOT_SELECTED, NOT_SELECTED},
        {"{matchLabels: [a]}", NOT_SELECTED, NOT_SELECTED},
        {"{matchLabels: {" NAME ": web}}", SELECTED, SELECTED},
        {"{matchLabels: {" NAME ": api}}", NOT_SELECTED, NOT_SELECTED},
        {ONE("key: " NAME ", operator: In, values: [api, web]"), SELECTED, SELECTED},
        {ONE("key: " NAME ", operator: NotIn, values: [web]"), NOT_SELECTED, NOT_SELECTED},
        {ONE("key: " NAME ", operator: Exists"), SELECTED, SELECTED},
        {ONE("key: " NAME ", operator: DoesNotExist"), NOT_SELECTED, NOT_SELECTED},
        {"{matchLabels: {team: a}}", MAY_BE_SELECTED, SELECTED},
        {"{matchLabels: {team: b}}", MAY_BE_SELECTED, NOT_SELECTED},
        {"{matchLabels: {tier: front}}", MAY_BE_SELECTED, NOT_SELECTED},
        {"{matchLabels: {" NAME ": web, team: a}}", MAY_BE_SELECTED, SELECTED},
        {"{matchLabels: {" NAME ": api, team: a}}", NOT_SELECTED, NOT_SELECTED},
        {ONE(TEAM "In, values: [a]"), MAY_BE_SELECTED, SELECTED},
        {ONE(TEAM "NotIn, values: [a]"), MAY_BE_SELECTED, NOT_SELECTED},
        {ONE(TEAM "Exists"), MAY_BE_SELECTED, SELECTED},
        {ONE(TEAM "DoesNotExist"), MAY_BE_SELECTED, NOT_SELECTED},
        {"{matchLabels: {team: a}, matchExpressions: [{key: " NAME ", operator: DoesNotExist}]}",
         NOT_SELECTED, NOT_SELECTED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(1 << 20);
        const char *yaml = arena_printf(arena,
                                        "{apiVersion: v1, kind: Namespace, metadata: {name: web, "
                                        "labels: {team: a}}, spec: {selector: %s}}",
                                        rows[i].selector)
                               .data;
        const struct object *object = fixture_object(arena, yaml, "");
        const struct node *selector = node_at(object->root->node, "spec.selector");
        enum selected unseen = namespace_selected(selector, object->name, NULL);
        enum selected seen = namespace_selected(selector, object->name, object);
        if (unseen != rows[i].unseen || seen != rows[i].seen)
            fprintf(stderr, "%s\n", rows[i].selector);
        CU_ASSERT_EQUAL(unseen, rows[i].unseen);
        CU_ASSERT_EQUAL(seen, rows[i].seen);
        arena_destroy(arena);
    }
}

static void one_selects_no_more_than_another(void)
{
    static const struct {
        const char *selector, *other;
        bool no_more;
    } rows[] = {
        {"{}", "{}", true},
        {"{matchLabels: {app: web}}", "{}", true},
        {"{}", "{matchLabels: {app: web}}", false},
        {"{matchLabels: {app: web}}", "null", false},
        {"{matchLabels: {app: web}}", "{matchLabels: {app: web}}", true},
        {"{matchLabels: {app: web}}", "{matchLabels: {app: api}}", false},
        {"{matchLabels: {tier: a, app: web}}", "{matchLabels: {app: web}}", true},
        {"{matchLabels: {app: web}}", "{matchLabels: {tier: a, app: web}}", false},
        {"{matchLabels: {app: web}}", "{matchLabels: [app]}", false}, /* which selects nothing */
        /* two ways to write one value */
        {"{matchLabels: {app: web}}", ONE("key: app, operator: In, values: [web]"), true},
        {ONE("key: app, operator: In, values: [web]"), "{matchLabels: {app: web}}", true},
        {ONE("key: app, operator: In, values: [web, api]"), "{matchLabels: {app: web}}", false},
        {ONE("key: app, operator: In, values: w"), "{matchLabels: {app: w}}", false},
        {"{matchLabels: {app: web}}", ONE("key: app, operator: In"), false},
        {ONE("key: app, operator: NotIn, values: [web]"), "{matchLabels: {app: web}}", false},
        {ONE("key: app, operator: Exists"), ONE("key: app, operator: Exists"), true},
        {ONE("key: app, operator: Exists"), ONE("key: app, operator: DoesNotExist"), false},
        {ONE("key: app, operator: Exists}, {key: tier, operator: Exists"),
         ONE("key: tier, operator: Exists"), true},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create(1 << 20);
        const char *yaml = arena_printf(arena,
                                        "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: "
                                        "{selector: %s, other: %s}}",
                                        rows[i].selector, rows[i].other)
                               .data;
        const struct node *spec = node_get(fixture_object(arena, yaml, "shop")->root->node, "spec");
        bool no_more =
            selector_selects_no_more(node_get(spec, "selector"), node_get(spec, "other"), arena);
        if (no_more != rows[i].no_more)
            fprintf(stderr, "%s beside %s\n", rows[i].selector, rows[i].other);
        CU_ASSERT_EQUAL(no_more, rows[i].no_more);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube selectors";
const struct unit_test unit_tests[] = {
    {"selectors match labels", selectors_match_labels},
    {"a namespace is selected by name and labels", a_namespace_is_selected_by_name_and_labels},
    {"one selects no more than another", one_selects_no_more_than_another},
    {NULL, NULL},
};
