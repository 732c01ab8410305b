/* The upgrade of selectors and kubelet settings of old pool objects. Whole objects are in
 * tests/unit/policy/api_versions.c and tests/conformance/upgrade.test. Selectors become the terms
 * that Karpenter 0.32 made of them (pkg/utils/nodeclass of its AWS provider), except beside an id,
 * where v1 allows nothing else. */
#include <string.h>

#include "kube/object.h"
#include "kube/upgrade.h"
#include "unit.h"

const char unit_suite[] = "kube upgrade";

/* Reads JSON, in which a single quote stands for a double one. */
static struct upgrade upgrade_of(struct text quoted, struct arena *arena)
{
    char *json = ARENA_ARRAY(arena, quoted.size, char);
    for (size_t i = 0; i < quoted.size; i++)
        json[i] = (char)(quoted.data[i] == '\'' ? '"' : quoted.data[i]);
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = (struct text){json, quoted.size};
    const struct node *root = NULL;
    struct error error;
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, &error));
    struct object object;
    CU_ASSERT_FATAL(object_read(root, source, TEXT("default"), arena, &object, &error));
    CU_ASSERT_FATAL(upgrade_applies(&object));
    struct upgrade upgrade;
    upgrade_make(&object, TEXT(""), arena, &upgrade);
    return upgrade;
}

static const struct node *object_of(const char *version, const char *kind, const char *spec,
                                    struct arena *arena, struct upgrade *upgrade)
{
    *upgrade = upgrade_of(arena_printf(arena,
                                       "{'apiVersion': '%s', 'kind': '%s', 'metadata': {'name': "
                                       "'a'}, 'spec': %s}",
                                       version, kind, spec),
                          arena);
    return upgrade->objects[0];
}

static bool is_noted(const struct upgrade *upgrade, const char *part, struct arena *arena)
{
    for (size_t i = 0; i < upgrade->notes.count; i++)
        if (strstr(arena_text(arena, upgrade->notes.items[i]).data, part) != NULL)
            return true;
    return false;
}

static void selectors_become_terms(void)
{
    static const struct {
        const char *selector, *terms;
        const char *note; /* NULL: none of these terms */
    } cases[] = {
        {"{'aws-ids': 'ami-1, ami-2 '}", "[{id: ami-1}, {id: ami-2}]", NULL},
        {"{'team': 'a', 'env': 'b'}", "[{tags: {team: a, env: b}}]", NULL},
        /* all of it must fit one image: as terms of their own any of them would do */
        {"{'aws::name': 'eks-*', 'team': 'a', 'aws::owners': '123'}",
         "[{name: \"eks-*\", owner: \"123\", tags: {team: a}}]", NULL},
        {"{'aws::owners': 'self,123', 'aws::name': 'x,y'}",
         "[{name: x, owner: self}, {name: x, owner: \"123\"}, {name: \"y\", owner: self}, {name: "
         "\"y\", owner: \"123\"}]",
         NULL},
        {"{'team': 'a, b', 'env': 'c,d'}",
         "[{tags: {team: a, env: c}}, {tags: {team: a, env: d}}, {tags: {team: b, env: c}}, "
         "{tags: {team: b, env: d}}]",
         NULL},
        /* an id says which image it is, whoever owns it */
        {"{'aws::ids': 'ami-1', 'aws::owners': 'self'}", "[{id: ami-1}]", NULL},
        {"{'aws::ids': 'ami-1', 'team': 'a'}", "[{id: ami-1}]",
         "what stood beside the ids is left out"},
        {"{'aws::owners': 'self'}", "", "name spec.amiSelectorTerms: v1 wants it"},
        /* thirty terms and no more */
        {"{'a': '1,2,3,4,5', 'b': '1,2,3,4,5,6', 'c': 'x'}", NULL, NULL},
        {"{'a': '1', 'b': '1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
         "28,29,30,31'}",
         "[{tags: {a: \"1\", b: \"1\"}}]", "of the tag b write a term for each value"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(arena,
                                        "{'amiFamily': 'Custom', 'instanceProfile': 'p', "
                                        "'subnetSelector': {'a': 'b'}, 'securityGroupSelector': "
                                        "{'a': 'b'}, 'amiSelector': %s}",
                                        cases[i].selector);
        const struct node *root =
            object_of("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", spec.data, arena, &upgrade);
        const struct node *terms = node_at(root, "spec.amiSelectorTerms");
        if (cases[i].terms == NULL) {
            ASSERT_INT(node_count(terms), 30);
        } else if (cases[i].terms[0] == '\0') {
            CU_ASSERT_PTR_NULL(terms);
        } else {
            ASSERT_TEXT(node_yaml_line(terms, arena), cases[i].terms);
        }
        ASSERT_INT(upgrade.notes.count, cases[i].note != NULL);
        CU_ASSERT_TRUE(cases[i].note == NULL || is_noted(&upgrade, cases[i].note, arena));
        arena_destroy(arena);
    }
}

static void kubelet_settings_are_those_of_v1(void)
{
    static const struct {
        const char *kubelet, *note;
    } cases[] = {
        {"{'maxPods': 20, 'containerRuntime': 'containerd'}",
         "in EC2NodeClass c write spec.kubelet: {maxPods: 20}"},
        {"{'containerRuntime': 'containerd'}", NULL},
        {"{}", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(
            arena, "{'providerRef': {'name': 'c'}, 'kubeletConfiguration': %s}", cases[i].kubelet);
        object_of("karpenter.sh/v1alpha5", "Provisioner", spec.data, arena, &upgrade);
        ASSERT_INT(upgrade.notes.count, cases[i].note != NULL);
        if (cases[i].note != NULL && upgrade.notes.count == 1)
            ASSERT_TEXT(upgrade.notes.items[0], cases[i].note);
        arena_destroy(arena);
    }
}

static void seconds_become_durations(void)
{
    static const struct {
        const char *seconds, *duration;
    } cases[] = {
        {"2592000", "720h"}, {"3600", "1h"}, {"3599", "3599s"}, {"5400", "5400s"}, {"0", "0s"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec =
            arena_printf(arena, "{'ttlSecondsUntilExpired': %s, 'ttlSecondsAfterEmpty': %s}",
                         cases[i].seconds, cases[i].seconds);
        const struct node *root =
            object_of("karpenter.sh/v1alpha5", "Provisioner", spec.data, arena, &upgrade);
        ASSERT_TEXT(node_string(node_at(root, "spec.template.spec.expireAfter")),
                    cases[i].duration);
        ASSERT_TEXT(node_string(node_at(root, "spec.disruption.consolidateAfter")),
                    cases[i].duration);
        arena_destroy(arena);
    }
}

const struct unit_test unit_tests[] = {
    {"selectors become terms", selectors_become_terms},
    {"kubelet settings are those of v1", kubelet_settings_are_those_of_v1},
    {"seconds become durations", seconds_become_durations},
    {NULL, NULL},
};
