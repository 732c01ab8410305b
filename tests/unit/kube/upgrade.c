/* The upgrade of old pool objects, field by field, and what is said about it. Whole objects are in
 * tests/unit/policy/api_versions.c and tests/conformance/upgrade.test. Selectors become the terms
 * that Karpenter 0.32 made of them (pkg/utils/nodeclass of its AWS provider), except beside an id,
 * where v1 allows nothing else. */
#include <string.h>

#include "kube/object.h"
#include "kube/upgrade.h"
#include "unit.h"

const char unit_suite[] = "kube upgrade";

/* Reads JSON, in which a single quote stands for a double one. */
static void read_quoted(struct text quoted, struct arena *arena, struct object *object)
{
    char *json = ARENA_ARRAY(arena, quoted.size, char);
    for (size_t i = 0; i < quoted.size; i++)
        json[i] = (char)(quoted.data[i] == '\'' ? '"' : quoted.data[i]);
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = (struct text){json, quoted.size};
    const struct node *root = NULL;
    struct error error;
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, &error));
    CU_ASSERT_FATAL(object_read(root, source, TEXT("default"), arena, object, &error));
}

static struct upgrade upgrade_of(struct text quoted, const char *most, struct arena *arena)
{
    struct object object;
    struct upgrade upgrade;
    read_quoted(quoted, arena, &object);
    CU_ASSERT_FATAL(upgrade_applies(&object));
    upgrade_make(&object, text_of(most), arena, &upgrade);
    return upgrade;
}

static const struct node *object_of(const char *version, const char *kind, const char *spec,
                                    struct arena *arena, struct upgrade *upgrade)
{
    *upgrade = upgrade_of(arena_printf(arena,
                                       "{'apiVersion': '%s', 'kind': '%s', 'metadata': {'name': "
                                       "'a'}, 'spec': %s}",
                                       version, kind, spec),
                          "", arena);
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
        {"{'team': 'a,'}", "[{tags: {team: a}}]", NULL},
        {"{'team': 'a, '}", "[{tags: {team: a}}, {tags: {team: \"\"}}]", NULL},
        {"{'team': ''}", "[{tags: {team: \"\"}}]", NULL},
        {"'text'", "", "name spec.amiSelectorTerms: v1 wants it"},
        {"{'aws::name': '1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,"
         "28,29,30,31'}",
         "[{name: \"1\"}]", "of name write a term for each value"},
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
        {"2592000", "720h"}, {"3600", "1h"}, {"3599", "3599s"},
        {"5400", "5400s"},   {"0", "0s"},    {"1.5", "1.5s"},
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

/* docs/reference/karpenter.md 5.5: consolidation wins over the seconds after which an empty node
 * goes. */
static void consolidation_is_that_of_v1(void)
{
    static const struct {
        const char *spec, *disruption;
    } cases[] = {
        {"{'consolidation': {'enabled': true}}",
         "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: \"0s\"}"},
        {"{'consolidation': {'enabled': false}, 'ttlSecondsAfterEmpty': 30}",
         "{consolidationPolicy: WhenEmpty, consolidateAfter: \"30s\"}"},
        {"{}", "{consolidationPolicy: WhenEmpty, consolidateAfter: Never}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        const struct node *root =
            object_of("karpenter.sh/v1alpha5", "Provisioner", cases[i].spec, arena, &upgrade);
        ASSERT_TEXT(node_yaml_line(node_at(root, "spec.disruption"), arena), cases[i].disruption);
        arena_destroy(arena);
    }
}

static void the_node_class_is_that_of_the_reference(void)
{
    static const struct {
        const char *version, *kind, *spec, *reference;
    } cases[] = {
        {"karpenter.sh/v1beta1", "NodePool",
         "{'template': {'spec': {'nodeClassRef': {'group': 'example.com', 'kind': 'ENodeClass', "
         "'name': 'c'}}}}",
         "{group: example.com, kind: ENodeClass, name: c}"},
        {"karpenter.sh/v1beta1", "NodePool",
         "{'template': {'spec': {'nodeClassRef': {'apiGroup': 'example.com', 'kind': 'ENodeClass', "
         "'name': 'c'}}}}",
         "{group: example.com, kind: ENodeClass, name: c}"},
        {"karpenter.sh/v1beta1", "NodePool",
         "{'template': {'spec': {'nodeClassRef': {'apiVersion': 'karpenter.k8s.aws/v1beta1', "
         "'kind': 'EC2NodeClass', 'name': 'c'}}}}",
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"},
        {"karpenter.sh/v1alpha5", "Provisioner",
         "{'providerRef': {'apiVersion': 'karpenter.k8s.aws/v1alpha1', 'kind': 'AWSNodeTemplate', "
         "'name': 'c'}}",
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        const struct node *root =
            object_of(cases[i].version, cases[i].kind, cases[i].spec, arena, &upgrade);
        ASSERT_TEXT(node_yaml_line(node_at(root, "spec.template.spec.nodeClassRef"), arena),
                    cases[i].reference);
        arena_destroy(arena);
    }
}

/* Fields of a NodePool that stand at several places; path: below spec.template. */
static void fields_are_gathered(void)
{
    static const struct {
        const char *template, *path, *gathered;
    } cases[] = {
        {"{'spec': {'taints': [{'key': 'a'}]}, 'taints': [{'key': 'b'}]}", "spec.taints",
         "[{key: a}, {key: b}]"},
        {"{'metadata': {'labels': {'a': '1'}}, 'labels': {'a': '2', 'b': '3'}}", "metadata.labels",
         "{a: \"1\", b: \"3\"}"},
        {"{'metadata': {'annotations': {'karpenter.sh/do-not-evict': 'true', "
         "'karpenter.sh/do-not-consolidate': 'true', 'note': 'x'}}, 'annotations': {'more': 'b'}}",
         "metadata.annotations", "{karpenter.sh/do-not-disrupt: \"true\", note: x, more: b}"},
        /* what cannot be joined: the first place is the field's own */
        {"{'spec': {'taints': [{'key': 'a'}]}, 'taints': {'key': 'b'}}", "spec.taints",
         "[{key: a}]"},
        {"{'spec': {'taints': {'key': 'a'}}, 'taints': [{'key': 'b'}]}", "spec.taints", "{key: a}"},
        {"{'spec': {'terminationGracePeriod': '1h'}, 'terminationGracePeriod': '2h'}",
         "spec.terminationGracePeriod", "\"1h\""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(arena, "{'template': %s}", cases[i].template);
        const struct node *root =
            object_of("karpenter.sh/v1beta1", "NodePool", spec.data, arena, &upgrade);
        const struct node *template = node_at(root, "spec.template");
        ASSERT_TEXT(node_yaml_line(node_at(template, cases[i].path), arena), cases[i].gathered);
        CU_ASSERT_TRUE(is_noted(&upgrade, "stood where the API server drops it", arena));
        arena_destroy(arena);
    }
}

static void what_v1_has_no_place_for_is_said(void)
{
    static const struct {
        const char *template, *note;
    } cases[] = {
        {"{'spec': {'requirements': [{'key': 'karpenter.sh/provisioner-name', 'operator': 'In', "
         "'values': ['a']}]}}",
         "the requirement on karpenter.sh/provisioner-name is left out"},
        {"{'spec': {'resources': {'requests': {'cpu': '1'}}}}",
         "spec.template.spec.resources is left out: v1 has no such field"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(arena, "{'template': %s}", cases[i].template);
        const struct node *root =
            object_of("karpenter.sh/v1beta1", "NodePool", spec.data, arena, &upgrade);
        const struct node *inside = node_at(root, "spec.template.spec");
        CU_ASSERT_TRUE(is_noted(&upgrade, cases[i].note, arena));
        ASSERT_INT(node_count(node_get(inside, "requirements")), 0);
        CU_ASSERT_PTR_NULL(node_get(inside, "resources"));
        arena_destroy(arena);
    }
}

/* What is to be looked at by hand, and nothing more. */
static void what_changes_its_meaning_is_said(void)
{
    static const struct {
        const char *spec;
        size_t note_count;
        const char *note;
    } cases[] = {
        {"'weight': 1", 0, NULL},
        {"'disruption': {'expireAfter': '720h'}", 1,
         "v1 drains a node that is 720h old at once: expiry no longer waits for budgets"},
        {"'disruption': {'expireAfter': 'Never'}", 0, NULL},
        {"'labels': {'karpenter.sh/other': 'a'}", 2,
         "the label karpenter.sh/other is left out: v1 refuses it; use one of your own domain"},
        {"'labels': {'my-karpenter.sh/other': 'a'}", 1,
         "spec.labels stood where the API server drops it, and is written to "
         "spec.template.metadata.labels"},
        {"'requirements': [{'key': 'karpenter.sh/other', 'operator': 'Exists'}]", 2,
         "the requirement on karpenter.sh/other is left out: v1 refuses it"},
        {"'requirements': [{'key': 'team'}]", 2,
         "the requirement on team has no operator: say which"},
        {"'kubelet': {'maxPods': 20}", 2, "in EC2NodeClass c write spec.kubelet: {maxPods: 20}"},
        {"'limits': {'resources': {'cpu': 10}}", 1,
         "spec.limits.resources stood where the API server drops it, and is written to "
         "spec.limits"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(
            arena, "{'template': {'spec': {'nodeClassRef': {'name': 'c'}}}, %s}", cases[i].spec);
        object_of("karpenter.sh/v1beta1", "NodePool", spec.data, arena, &upgrade);
        ASSERT_INT(upgrade.notes.count, cases[i].note_count);
        CU_ASSERT_TRUE(cases[i].note == NULL || is_noted(&upgrade, cases[i].note, arena));
        arena_destroy(arena);
    }
}

/* Whoever wrote a field that nobody knows learns that it is gone: five are named, and more are
 * counted. */
static void fields_that_nobody_knows_are_named(void)
{
    static const struct {
        const char *version, *kind, *spec;
        size_t note_count; /* of what is left out */
        const char *last;
    } cases[] = {
        {"karpenter.sh/v1beta1", "NodePool", "{'colour': 1}", 1,
         "spec.colour is left out: a NodePool has no such field"},
        {"karpenter.sh/v1beta1", "NodePool", "{'template': {'colour': 1}}", 1,
         "spec.template.colour is left out: a NodePool has no such field"},
        {"karpenter.sh/v1beta1", "NodePool", "{'template': {'spec': {'colour': 1}}}", 1,
         "spec.template.spec.colour is left out: a NodePool has no such field"},
        {"karpenter.sh/v1beta1", "NodePool", "{'template': {'spec': {'userData': 'x'}}}", 1,
         "spec.template.spec.userData is left out: a NodePool has no such field; it belongs to the "
         "EC2NodeClass"},
        {"karpenter.sh/v1beta1", "NodePool",
         "{'template': {'spec': {'taints': [{'key': 'a', 'effect': 'NoExecute', 'operator': "
         "'Exists'}]}}}",
         1, "taints[0].operator is left out: a taint has no such field"},
        {"karpenter.sh/v1alpha5", "Provisioner",
         "{'startupTaints': [{'key': 'a', 'timeAdded': null}, {'tolerationSeconds': 1}, 5]}", 1,
         "startupTaints[1].tolerationSeconds is left out: a taint has no such field"},
        {"karpenter.sh/v1alpha5", "Provisioner", "{'colour': 1}", 1,
         "spec.colour is left out: a Provisioner has no such field"},
        {"karpenter.sh/v1alpha5", "Provisioner", "{'ttlSecondsUntilEmpty': 30}", 1,
         "spec.ttlSecondsUntilEmpty is left out: a Provisioner has no such field"},
        {"karpenter.k8s.aws/v1beta1", "EC2NodeClass", "{'colour': 1}", 1,
         "spec.colour is left out: an EC2NodeClass has no such field"},
        {"karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate",
         "{'a': 1, 'b': 1, 'tags': {}, 'c': 1, 'd': 1, 'e': 1}", 5,
         "spec.e is left out: an EC2NodeClass has no such field"},
        {"karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate",
         "{'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1, 'f': 1}", 6, "1 more field of spec is left out"},
        {"karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate",
         "{'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1, 'f': 1, 'g': 1}", 6,
         "2 more fields of spec are left out"},
        {"karpenter.k8s.aws/v1beta1", "EC2NodeClass", "'text'", 0, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        object_of(cases[i].version, cases[i].kind, cases[i].spec, arena, &upgrade);
        size_t count = 0;
        struct text last = TEXT("");
        for (size_t j = 0; j < upgrade.notes.count; j++) {
            if (!text_holds(upgrade.notes.items[j], TEXT(" left out")))
                continue;
            count++;
            last = upgrade.notes.items[j];
        }
        ASSERT_INT(count, cases[i].note_count);
        ASSERT_TEXT(last, cases[i].last == NULL ? "" : cases[i].last);
        arena_destroy(arena);
    }
}

/* Each field of an EC2NodeClass that v1 has as well, whatever is in it. */
static void the_fields_of_a_node_class_are_taken_along(void)
{
    static const struct {
        const char *given, *field, *taken;
    } cases[] = {
        {"'associatePublicIPAddress': false", "associatePublicIPAddress", "false"},
        {"'blockDeviceMappings': [{'deviceName': '/dev/xvda'}]", "blockDeviceMappings",
         "[{deviceName: /dev/xvda}]"},
        {"'context': 'c'", "context", "c"},
        {"'detailedMonitoring': true", "detailedMonitoring", "true"},
        {"'instanceStorePolicy': 'RAID0'", "instanceStorePolicy", "RAID0"},
        {"'kubelet': {'maxPods': 20}", "kubelet", "{maxPods: 20}"},
        {"'tags': {'team': 'a'}", "tags", "{team: a}"},
        {"'userData': 'echo'", "userData", "echo"},
        {"'subnetSelector': {'team': 'a,b'}", "subnetSelectorTerms",
         "[{tags: {team: a}}, {tags: {team: b}}]"},
        {"'securityGroupSelector': {'team': 'a,b'}", "securityGroupSelectorTerms",
         "[{tags: {team: a}}, {tags: {team: b}}]"},
        {"'subnetSelectorTerms': [{'id': 'subnet-2'}], 'subnetSelector': {'team': 'a'}",
         "subnetSelectorTerms", "[{id: subnet-2}]"},
        {"'securityGroupSelectorTerms': [{'name': 'sg'}, {}]", "securityGroupSelectorTerms",
         "[{name: sg}]"},
        {"'metadataOptions': {'httpEndpoint': 'disabled', 'httpProtocolIPv6': 'enabled', "
         "'httpTokens': 'optional', 'httpPutResponseHopLimit': 1}",
         "metadataOptions",
         "{httpEndpoint: disabled, httpProtocolIPv6: enabled, httpTokens: optional, "
         "httpPutResponseHopLimit: 1}"},
        {"'tags': {}", "subnetSelectorTerms", NULL},
        {"'tags': {}", "securityGroupSelectorTerms", NULL},
        {"'securityGroupSelectorTerms': [{}]", "securityGroupSelectorTerms", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(arena, "{%s}", cases[i].given);
        const struct node *root =
            object_of("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", spec.data, arena, &upgrade);
        const struct node *taken = node_get(node_get(root, "spec"), cases[i].field);
        struct text missing = arena_printf(arena, "name spec.%s: v1 wants it", cases[i].field);
        CU_ASSERT_EQUAL(taken == NULL, cases[i].taken == NULL);
        CU_ASSERT_EQUAL(is_noted(&upgrade, missing.data, arena), cases[i].taken == NULL);
        if (taken != NULL && cases[i].taken != NULL)
            ASSERT_TEXT(node_yaml_line(taken, arena), cases[i].taken);
        arena_destroy(arena);
    }
}

/* docs/reference/karpenter.md 5.6: each field of a Provisioner, and where a NodePool has it. */
static void the_fields_of_a_provisioner_have_their_places(void)
{
    static const struct {
        const char *given, *path, *taken;
    } cases[] = {
        {"'labels': {'team': 'a'}", "spec.template.metadata.labels", "{team: a}"},
        {"'labels': {'kubernetes.io/hostname': 'a', 'team': 'a'}", "spec.template.metadata.labels",
         "{team: a}"},
        {"'annotations': {'karpenter.sh/do-not-evict': 'true'}",
         "spec.template.metadata.annotations", "{karpenter.sh/do-not-disrupt: \"true\"}"},
        {"'taints': [{'key': 'a'}]", "spec.template.spec.taints", "[{key: a}]"},
        {"'startupTaints': [{'key': 'a'}]", "spec.template.spec.startupTaints", "[{key: a}]"},
        {"'limits': {'resources': {'cpu': 10}}", "spec.limits", "{cpu: 10}"},
        {"'limits': {'cpu': 10}", "spec.limits", "{cpu: 10}"},
        {"'weight': 5", "spec.weight", "5"},
        {"'providerRef': {'name': 'c'}", "spec.template.spec.nodeClassRef",
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"},
        {"'provider': {'tags': {}}", "spec.template.spec.nodeClassRef",
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}"},
        {"'ttlSecondsUntilExpired': 7200", "spec.template.spec.expireAfter", "\"2h\""},
        {"'weight': 5", "spec.template.spec.expireAfter", "Never"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(arena, "{%s}", cases[i].given);
        const struct node *root =
            object_of("karpenter.sh/v1alpha5", "Provisioner", spec.data, arena, &upgrade);
        ASSERT_TEXT(node_yaml_line(node_at(root, cases[i].path), arena), cases[i].taken);
        arena_destroy(arena);
    }
}

/* docs/reference/karpenter.md 5.5: each field of a v1beta1 NodePool, at its own place, or at
 * another where the API server dropped it. */
static void the_fields_of_a_pool_have_their_places(void)
{
#define INSIDE(fields) "{'template': {'spec': {" fields "}}}"
#define CLASS "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"
    static const struct {
        const char *spec, *path, *taken; /* taken: NULL: there is none */
        bool dropped;
    } cases[] = {
        {"{'weight': 5}", "spec.weight", "5", false},
        {"{'limits': {'cpu': 10}}", "spec.limits", "{cpu: 10}", false},
        {"{'limits': {'resources': {'cpu': 10}}}", "spec.limits", "{cpu: 10}", true},
        {"{}", "spec.disruption", NULL, false},
        {"{'disruption': {}}", "spec.disruption",
         "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: \"0s\"}", false},
        {"{'disruption': {'consolidationPolicy': 'WhenUnderutilized'}}", "spec.disruption",
         "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: \"0s\"}", false},
        {"{'disruption': {'consolidationPolicy': 'WhenEmpty', 'consolidateAfter': 'Never', "
         "'budgets': [{'nodes': 10}]}}",
         "spec.disruption",
         "{consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: 10}]}",
         false},
        {"{'disruption': {'expireAfter': '24h'}}", "spec.template.spec.expireAfter", "\"24h\"",
         false},
        {INSIDE("'expireAfter': '24h'"), "spec.template.spec.expireAfter", "\"24h\"", false},
        {"{'template': {'expireAfter': '24h'}}", "spec.template.spec.expireAfter", "\"24h\"", true},
        {"{'expireAfter': '24h'}", "spec.template.spec.expireAfter", "\"24h\"", true},
        {"{'expireAfter': '24h', 'disruption': {'expireAfter': '48h'}}",
         "spec.template.spec.expireAfter", "\"48h\"", false},
        {"{}", "spec.template.spec.expireAfter", NULL, false},
        {INSIDE("'terminationGracePeriod': '1h'"), "spec.template.spec.terminationGracePeriod",
         "\"1h\"", false},
        {"{'terminationGracePeriod': '1h'}", "spec.template.spec.terminationGracePeriod", "\"1h\"",
         true},
        {INSIDE("'taints': [{'key': 'a'}]"), "spec.template.spec.taints", "[{key: a}]", false},
        {"{'taints': [{'key': 'a'}]}", "spec.template.spec.taints", "[{key: a}]", true},
        {INSIDE("'startupTaints': [{'key': 'a'}]"), "spec.template.spec.startupTaints",
         "[{key: a}]", false},
        {"{'startupTaints': [{'key': 'a'}]}", "spec.template.spec.startupTaints", "[{key: a}]",
         true},
        {INSIDE("'requirements': [{'key': 'team', 'operator': 'Exists'}]"),
         "spec.template.spec.requirements", "[{key: team, operator: Exists}]", false},
        {"{'requirements': [{'key': 'team', 'operator': 'Exists'}]}",
         "spec.template.spec.requirements", "[{key: team, operator: Exists}]", true},
        {INSIDE("'requirements': [{'key': 'kubernetes.io/hostname', 'operator': 'Exists'}, {'key': "
                "'team', 'operator': 'Exists'}]"),
         "spec.template.spec.requirements", "[{key: team, operator: Exists}]", false},
        {INSIDE("'nodeClassRef': {'name': 'c'}"), "spec.template.spec.nodeClassRef", CLASS, false},
        {"{'template': {'nodeClassRef': {'name': 'c'}}}", "spec.template.spec.nodeClassRef", CLASS,
         true},
        {"{'nodeClassRef': {'name': 'c'}}", "spec.template.spec.nodeClassRef", CLASS, true},
        {"{'template': {'metadata': {'labels': {'team': 'a'}}}}", "spec.template.metadata.labels",
         "{team: a}", false},
        {INSIDE("'labels': {'team': 'a'}"), "spec.template.metadata.labels", "{team: a}", true},
        {"{'labels': {'team': 'a'}}", "spec.template.metadata.labels", "{team: a}", true},
        {INSIDE("'annotations': {'note': 'x'}"), "spec.template.metadata.annotations", "{note: x}",
         true},
    };
#undef INSIDE
#undef CLASS
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        const struct node *root =
            object_of("karpenter.sh/v1beta1", "NodePool", cases[i].spec, arena, &upgrade);
        const struct node *taken = node_at(root, cases[i].path);
        CU_ASSERT_EQUAL(taken == NULL, cases[i].taken == NULL);
        if (taken != NULL && cases[i].taken != NULL)
            ASSERT_TEXT(node_yaml_line(taken, arena), cases[i].taken);
        if (is_noted(&upgrade, "where the API server drops it", arena) != cases[i].dropped)
            fprintf(stderr, "%s\n", cases[i].spec);
        CU_ASSERT_EQUAL(is_noted(&upgrade, "where the API server drops it", arena),
                        cases[i].dropped);
        arena_destroy(arena);
    }
}

/* The class of another provider is told by its kind, or by the domain of what the pool requires. */
static void the_provider_is_that_of_the_pool(void)
{
    static const struct {
        const char *reference, *key, *written;
    } cases[] = {
        {"'kind': 'AKSNodeClass'", "team",
         "{group: karpenter.azure.com, kind: AKSNodeClass, name: c}"},
        {"'kind': 'IBMNodeClass'", "team",
         "{group: karpenter-ibm.sh, kind: IBMNodeClass, name: c}"},
        {"'kind': 'EC2NodeClass'", "karpenter.azure.com/sku-cpu",
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"},
        {"'uid': ''", "karpenter.azure.com/sku-cpu",
         "{group: karpenter.azure.com, kind: AKSNodeClass, name: c}"},
        {"'uid': ''", "karpenter-ibm.sh/zone",
         "{group: karpenter-ibm.sh, kind: IBMNodeClass, name: c}"},
        {"'uid': ''", "my-karpenter-ibm.sh/zone",
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"},
        {"'uid': ''", "karpenter.k8s.aws/instance-cpu",
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}"},
        {"'group': 'example.com', 'apiVersion': 'a.com/v1'", "team",
         "{group: example.com, kind: EC2NodeClass, name: c}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(arena,
                                        "{'template': {'spec': {'nodeClassRef': {'name': 'c', %s}, "
                                        "'requirements': [{'key': '%s', 'operator': 'Exists'}]}}}",
                                        cases[i].reference, cases[i].key);
        const struct node *root =
            object_of("karpenter.sh/v1beta1", "NodePool", spec.data, arena, &upgrade);
        ASSERT_TEXT(node_yaml_line(node_at(root, "spec.template.spec.nodeClassRef"), arena),
                    cases[i].written);
        arena_destroy(arena);
    }
}

/* What v1alpha5 added where the Provisioner did not speak of it, in labels or requirements. */
static void the_defaults_of_a_provisioner_are_written(void)
{
#define OS "{key: kubernetes.io/os, operator: In, values: [linux]}"
#define ARCH "{key: kubernetes.io/arch, operator: In, values: [amd64]}"
#define CAPACITY "{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}"
#define TYPES                                                                             \
    "{key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}, {key: " \
    "karpenter.k8s.aws/instance-generation, operator: Gt, values: [\"2\"]}"
#define EXISTS(key) "{'requirements': [{'key': '" key "', 'operator': 'Exists'}]}"
#define FIRST(key) "[{key: " key ", operator: Exists}, "
#define CHOOSES(key)                                           \
    {                                                          \
        EXISTS(key), FIRST(key) OS ", " ARCH ", " CAPACITY "]" \
    }
    static const struct {
        const char *spec, *requirements;
    } cases[] = {
        {"{}", "[" OS ", " ARCH ", " CAPACITY ", " TYPES "]"},
        {EXISTS("kubernetes.io/os"), FIRST("kubernetes.io/os") ARCH ", " CAPACITY ", " TYPES "]"},
        {EXISTS("kubernetes.io/arch"), FIRST("kubernetes.io/arch") OS ", " CAPACITY ", " TYPES "]"},
        {EXISTS("karpenter.sh/capacity-type"),
         FIRST("karpenter.sh/capacity-type") OS ", " ARCH ", " TYPES "]"},
        {"{'labels': {'kubernetes.io/arch': 'arm64'}}", "[" OS ", " CAPACITY ", " TYPES "]"},
        CHOOSES("node.kubernetes.io/instance-type"),
        CHOOSES("karpenter.k8s.aws/instance-family"),
        CHOOSES("karpenter.k8s.aws/instance-category"),
        CHOOSES("karpenter.k8s.aws/instance-generation"),
        {EXISTS("karpenter.k8s.aws/instance-cpu"),
         FIRST("karpenter.k8s.aws/instance-cpu") OS ", " ARCH ", " CAPACITY ", " TYPES "]"},
        {"{'labels': {'karpenter.k8s.aws/instance-family': 'm5'}}",
         "[" OS ", " ARCH ", " CAPACITY "]"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        const struct node *root =
            object_of("karpenter.sh/v1alpha5", "Provisioner", cases[i].spec, arena, &upgrade);
        ASSERT_TEXT(node_yaml_line(node_at(root, "spec.template.spec.requirements"), arena),
                    cases[i].requirements);
        arena_destroy(arena);
    }
#undef OS
#undef ARCH
#undef CAPACITY
#undef TYPES
#undef EXISTS
#undef FIRST
#undef CHOOSES
}

/* A Provisioner without a node template or a provider gets a guess, and that is said; without a
 * name there is nothing to guess by. */
static void a_provisioner_names_its_node_class(void)
{
    static const char guess[] = "put the name of the EC2NodeClass in "
                                "spec.template.spec.nodeClassRef.name: the Provisioner names no "
                                "AWSNodeTemplate";
    static const struct {
        const char *metadata, *spec, *name;
        size_t object_count;
        bool guessed;
    } cases[] = {
        {"{'name': 'a'}", "{}", "a", 1, true},
        {"{'name': 'default'}", "{}", "default", 1, true},
        {"{'name': 'default'}", "{'providerRef': {'name': ''}}", "default", 1, true},
        {"{'name': 'default'}", "{'provider': 'text'}", "default", 1, true},
        {"{'name': 'default'}", "{'providerRef': {'name': 'c'}}", "c", 1, false},
        {"{'name': 'default'}", "{'provider': {}}", "default", 2, false},
        {"{'generateName': 'a-'}", "{}", "", 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade = upgrade_of(
            arena_printf(arena,
                         "{'apiVersion': 'karpenter.sh/v1alpha5', 'kind': 'Provisioner', "
                         "'metadata': %s, 'spec': %s}",
                         cases[i].metadata, cases[i].spec),
            "", arena);
        ASSERT_TEXT(
            node_string(node_at(upgrade.objects[0], "spec.template.spec.nodeClassRef.name")),
            cases[i].name);
        ASSERT_INT(upgrade.object_count, cases[i].object_count);
        CU_ASSERT_EQUAL(is_noted(&upgrade, guess, arena), cases[i].guessed);
        CU_ASSERT_EQUAL(is_noted(&upgrade, "name the node class in", arena),
                        cases[i].name[0] == '\0');
        arena_destroy(arena);
    }
}

/* At most as long as the policy lets nodes live. */
static void nodes_expire_in_time(void)
{
    static const struct {
        const char *old, *most, *expires;
    } cases[] = {
        {"721h", "720h", "720h"},
        {"720h", "720h", "720h"},
        {"Never", "720h", "720h"},
        {"Never", "", "Never"},
        {"721h", "", "721h"},
        {"soon", "720h", "soon"}, /* what is no duration is not longer than one */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct text pool =
            arena_printf(arena,
                         "{'apiVersion': 'karpenter.sh/v1beta1', 'kind': 'NodePool', 'metadata': "
                         "{'name': 'a'}, 'spec': {'disruption': {'expireAfter': '%s'}}}",
                         cases[i].old);
        struct upgrade upgrade = upgrade_of(pool, cases[i].most, arena);
        ASSERT_TEXT(node_string(node_at(upgrade.objects[0], "spec.template.spec.expireAfter")),
                    cases[i].expires);
        arena_destroy(arena);
    }
}

static void metadata_options_that_are_not_written_are_those_of_v1beta1(void)
{
    struct arena *arena = arena_create((size_t)1 << 20);
    struct upgrade upgrade;
    const struct node *root =
        object_of("karpenter.k8s.aws/v1beta1", "EC2NodeClass",
                  "{'metadataOptions': {'httpTokens': 'optional'}}", arena, &upgrade);
    ASSERT_TEXT(node_yaml_line(node_at(root, "spec.metadataOptions"), arena),
                "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpTokens: optional, "
                "httpPutResponseHopLimit: 2}");
    arena_destroy(arena);
}

/* What kubectl and Karpenter write themselves would be wrong on a new object. */
static void the_metadata_is_taken_along(void)
{
    static const struct {
        const char *metadata, *taken;
        bool unnamed;
    } cases[] = {
        {"{'name': 'a', 'uid': 'u', 'annotations': {'note': 'x', 'karpenter.sh/nodepool-hash': "
         "'1', 'compatibility.karpenter.sh/v1beta1-nodeclass-reference': 'y', "
         "'kubectl.kubernetes.io/last-applied-configuration': '{}'}}",
         "{name: a, annotations: {note: x}}", false},
        {"{'generateName': 'a-'}", "{generateName: a-}", false},
        {"{'labels': {'team': 'a'}}", "{labels: {team: a}}", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct text pool = arena_printf(
            arena, "{'apiVersion': 'karpenter.sh/v1alpha5', 'kind': 'Provisioner', 'metadata': %s}",
            cases[i].metadata);
        struct upgrade upgrade = upgrade_of(pool, "", arena);
        ASSERT_TEXT(node_yaml_line(node_get(upgrade.objects[0], "metadata"), arena),
                    cases[i].taken);
        CU_ASSERT_EQUAL(is_noted(&upgrade, "the object has no metadata.name", arena),
                        cases[i].unnamed);
        arena_destroy(arena);
    }
}

static void old_pool_objects_are_upgraded(void)
{
    static const struct {
        const char *version, *kind;
        bool applies;
    } cases[] = {
        {"karpenter.sh/v1alpha5", "Provisioner", true},
        {"karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", true},
        {"karpenter.sh/v1beta1", "NodePool", true},
        {"karpenter.sh/v1", "NodePool", false},
        {"karpenter.k8s.aws/v1", "EC2NodeClass", false},
        {"v1", "Pod", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct object object;
        read_quoted(arena_printf(arena,
                                 "{'apiVersion': '%s', 'kind': '%s', 'metadata': {'name': 'a'}}",
                                 cases[i].version, cases[i].kind),
                    arena, &object);
        CU_ASSERT_EQUAL(upgrade_applies(&object), cases[i].applies);
        arena_destroy(arena);
    }
}

/* v1 takes a role or an instance profile, and one of them is required. */
static void one_of_role_and_profile_is_taken(void)
{
    static const struct {
        const char *given, *role, *profile;
        const char *note; /* NULL: none */
    } cases[] = {
        {"'role': 'nodes'", "nodes", "", NULL},
        {"'instanceProfile': 'p'", "", "p", NULL},
        {"'instanceProfile': 'p', 'role': 'nodes'", "", "p",
         "spec.role nodes is left out: v1 takes it or the instanceProfile, not both"},
        {"'role': 'nodes', 'launchTemplate': 'lt'", "nodes", "",
         "spec.launchTemplate has no counterpart: say in the EC2NodeClass what the template said"},
        {"'instanceProfile': '  ', 'role': 'nodes'", "nodes", "",
         "spec.instanceProfile is blank, and left out"},
        {"'instanceProfile': ' p'", "", " p", NULL},
        {"'instanceProfile': 'p '", "", "p ", NULL},
        {"'tags': {}", "KarpenterNodeRole", "",
         "put the role of your nodes in spec.role: the instance profile of Karpenter's settings is "
         "no longer read"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(
            arena,
            "{'amiFamily': 'Custom', 'amiSelectorTerms': [{'id': 'ami-1'}], 'subnetSelectorTerms': "
            "[{'id': 'subnet-1'}], 'securityGroupSelectorTerms': [{'id': 'sg-1'}], %s}",
            cases[i].given);
        const struct node *root =
            object_of("karpenter.k8s.aws/v1beta1", "EC2NodeClass", spec.data, arena, &upgrade);
        ASSERT_TEXT(node_string(node_at(root, "spec.role")), cases[i].role);
        ASSERT_TEXT(node_string(node_at(root, "spec.instanceProfile")), cases[i].profile);
        ASSERT_INT(upgrade.notes.count, cases[i].note != NULL);
        if (cases[i].note != NULL && upgrade.notes.count == 1)
            ASSERT_TEXT(upgrade.notes.items[0], cases[i].note);
        arena_destroy(arena);
    }
}

/* v1 wants terms for images: where none were written, the alias of the family. */
static void families_become_aliases(void)
{
    static const struct {
        const char *given, *family, *alias, *note; /* alias: "": there are no terms */
    } cases[] = {
        {"'tags': {}", "AL2", "al2@latest", "al2 images end with Kubernetes 1.32"},
        {"'amiFamily': 'AL2'", "AL2", "al2@latest", "al2 images end with Kubernetes 1.32"},
        {"'userData': 'echo'", "AL2", "al2@latest", "and userData as a NodeConfig"},
        /* who chose images by their owner did not want all of a family */
        {"'amiFamily': 'AL2023', 'amiSelector': {'aws::owners': 'self'}", "AL2023", "",
         "name spec.amiSelectorTerms: v1 wants it"},
        {"'amiFamily': 'AL2023', 'amiSelector': {}", "AL2023", "al2023@latest",
         "put a version for latest in alias al2023@latest"},
        {"'amiFamily': 'AL2023'", "AL2023", "al2023@latest",
         "put a version for latest in alias al2023@latest"},
        {"'amiFamily': 'Bottlerocket'", "Bottlerocket", "bottlerocket@latest",
         "put a version for latest in alias bottlerocket@latest"},
        {"'amiFamily': 'Windows2019'", "Windows2019", "windows2019@latest",
         "put a version for latest in alias windows2019@latest"},
        {"'amiFamily': 'Windows2022'", "Windows2022", "windows2022@latest",
         "put a version for latest in alias windows2022@latest"},
        {"'amiFamily': 'Custom'", "Custom", "", "name spec.amiSelectorTerms: v1 wants it"},
        {"'amiFamily': 'Ubuntu', 'amiSelectorTerms': [{'alias': 'x'}]", "AL2", "x",
         "v1 knows no amiFamily Ubuntu: it is written as AL2, whose user data is the same; choose "
         "the images and the block devices yourself"},
        {"'amiFamily': 'AL2', 'amiSelectorTerms': [{'alias': 'x'}]", "AL2", "x", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec =
            arena_printf(arena,
                         "{'role': 'nodes', 'subnetSelectorTerms': [{'id': 'subnet-1'}], "
                         "'securityGroupSelectorTerms': [{'id': 'sg-1'}], %s}",
                         cases[i].given);
        const struct node *root =
            object_of("karpenter.k8s.aws/v1beta1", "EC2NodeClass", spec.data, arena, &upgrade);
        const struct node *terms = node_at(root, "spec.amiSelectorTerms");
        ASSERT_TEXT(node_string(node_at(root, "spec.amiFamily")), cases[i].family);
        ASSERT_INT(node_count(terms), cases[i].alias[0] != '\0');
        if (node_count(terms) == 1)
            ASSERT_TEXT(node_string(node_get(node_item(terms, 0), "alias")), cases[i].alias);
        ASSERT_INT(upgrade.notes.count, cases[i].note != NULL);
        CU_ASSERT_TRUE(cases[i].note == NULL || is_noted(&upgrade, cases[i].note, arena));
        arena_destroy(arena);
    }
}

/* AL2, as which it goes on, lays out another device. */
static void ubuntu_keeps_its_root_device(void)
{
#define OWN "'amiSelectorTerms': [{'id': 'ami-1'}]"
    static const struct {
        const char *given, *device, *size;
        bool is_root;
    } cases[] = {
        {"'amiFamily': 'Ubuntu', " OWN, "/dev/sda1", "20Gi", true},
        {"'amiFamily': 'Ubuntu', " OWN ", 'blockDeviceMappings': [{'deviceName': '/dev/sdb', "
         "'ebs': {'encrypted': true, 'volumeSize': '9Gi'}}]",
         "/dev/sdb", "9Gi", false},
        /* of no image it is not known */
        {"'amiFamily': 'Ubuntu'", NULL, NULL, false},
        {"'amiFamily': 'AL2', " OWN, NULL, NULL, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        struct text spec = arena_printf(arena, "{'role': 'nodes', %s}", cases[i].given);
        const struct node *root =
            object_of("karpenter.k8s.aws/v1beta1", "EC2NodeClass", spec.data, arena, &upgrade);
        const struct node *mappings = node_at(root, "spec.blockDeviceMappings");
        ASSERT_INT(node_count(mappings), cases[i].device != NULL);
        if (node_count(mappings) == 1) {
            const struct node *mapping = node_item(mappings, 0);
            ASSERT_TEXT(node_string(node_get(mapping, "deviceName")), cases[i].device);
            ASSERT_TEXT(node_string(node_at(mapping, "ebs.volumeSize")), cases[i].size);
            CU_ASSERT_TRUE(node_true(node_at(mapping, "ebs.encrypted")));
            CU_ASSERT_EQUAL(node_true(node_get(mapping, "rootVolume")), cases[i].is_root);
        }
        arena_destroy(arena);
    }
}

/* What is to be written instead: another version, or an object of another kind. */
static void the_wanted_object_is_named(void)
{
    static const struct {
        const char *version, *kind, *wanted;
    } cases[] = {
        {"karpenter.k8s.aws/v1beta1", "EC2NodeClass", "karpenter.k8s.aws/v1"},
        {"karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", "EC2NodeClass of karpenter.k8s.aws/v1"},
        {"karpenter.sh/v1beta1", "NodePool", "karpenter.sh/v1"},
        {"karpenter.sh/v1alpha5", "Provisioner", "NodePool of karpenter.sh/v1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create((size_t)1 << 20);
        struct upgrade upgrade;
        object_of(cases[i].version, cases[i].kind, "{}", arena, &upgrade);
        ASSERT_TEXT(upgrade.wanted, cases[i].wanted);
        arena_destroy(arena);
    }
}

const struct unit_test unit_tests[] = {
    {"selectors become terms", selectors_become_terms},
    {"kubelet settings are those of v1", kubelet_settings_are_those_of_v1},
    {"seconds become durations", seconds_become_durations},
    {"consolidation is that of v1", consolidation_is_that_of_v1},
    {"the node class is that of the reference", the_node_class_is_that_of_the_reference},
    {"fields are gathered", fields_are_gathered},
    {"what v1 has no place for is said", what_v1_has_no_place_for_is_said},
    {"what changes its meaning is said", what_changes_its_meaning_is_said},
    {"fields that nobody knows are named", fields_that_nobody_knows_are_named},
    {"the fields of a node class are taken along", the_fields_of_a_node_class_are_taken_along},
    {"the fields of a Provisioner have their places",
     the_fields_of_a_provisioner_have_their_places},
    {"the fields of a pool have their places", the_fields_of_a_pool_have_their_places},
    {"the provider is that of the pool", the_provider_is_that_of_the_pool},
    {"the defaults of a Provisioner are written", the_defaults_of_a_provisioner_are_written},
    {"a Provisioner names its node class", a_provisioner_names_its_node_class},
    {"nodes expire in time", nodes_expire_in_time},
    {"metadata options that are not written are those of v1beta1",
     metadata_options_that_are_not_written_are_those_of_v1beta1},
    {"the metadata is taken along", the_metadata_is_taken_along},
    {"old pool objects are upgraded", old_pool_objects_are_upgraded},
    {"one of role and profile is taken", one_of_role_and_profile_is_taken},
    {"families become aliases", families_become_aliases},
    {"Ubuntu keeps its root device", ubuntu_keeps_its_root_device},
    {"the wanted object is named", the_wanted_object_is_named},
    {NULL, NULL},
};
