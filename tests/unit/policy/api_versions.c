/* The rail api-versions: which objects are old, and the v1 objects to write instead. */
#include "kube/upgrade.h"
#include "rail_modes.h"

#define OBJECT(version, kind, spec) \
    "{apiVersion: " version ", kind: " kind ", metadata: {name: a}, spec: {" spec "}}"

static void old_objects_are_found(void)
{
    static const struct rail_case cases[] = {
        {OBJECT("karpenter.sh/v1", "NodePool", ""), ""},
        {OBJECT("karpenter.sh/v1beta1", "NodePool", ""), "deny apiVersion karpenter.sh/v1beta1"},
        {OBJECT("karpenter.sh/v1alpha5", "Provisioner", ""),
         "deny apiVersion karpenter.sh/v1alpha5"},
        {OBJECT("karpenter.k8s.aws/v1", "EC2NodeClass", ""), ""},
        {OBJECT("karpenter.k8s.aws/v1beta1", "EC2NodeClass", ""),
         "deny apiVersion karpenter.k8s.aws/v1beta1"},
        {OBJECT("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", ""),
         "deny apiVersion karpenter.k8s.aws/v1alpha1"},
        {"{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: null}",
         "deny apiVersion karpenter.sh/v1alpha5"},
    };
    rail_table_run(&(struct rail_table){"api-versions: {}", NULL, cases, COUNT_OF(cases)});
}

static void a_policy_says_how_loud_it_is(void)
{
    rail_modes_run("api-versions", "", NULL, OBJECT("karpenter.sh/v1beta1", "NodePool", ""));
}

/* By docs/reference/karpenter.md 5.5 and 5.6; the CRDs judge in tests/conformance/upgrade.test. */
static const struct {
    const char *old, *new;
    size_t notes;
} upgrades[] = {
    /* a pool that consolidates, and expires at its old place */
    {OBJECT("karpenter.sh/v1beta1", "NodePool",
            "weight: 3, limits: {cpu: 9}, disruption: {consolidationPolicy: WhenUnderutilized, "
            "expireAfter: 48h}, template: {metadata: {labels: {x: w}}, spec: {taints: [], "
            "nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: c}, "
            "requirements: []}}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
     "{metadata: {labels: {x: w}}, spec: {taints: [], requirements: [], nodeClassRef: {group: "
     "karpenter.k8s.aws, kind: EC2NodeClass, name: c}, expireAfter: \"48h\"}}, disruption: "
     "{consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: \"0s\"}, limits: {cpu: 9}, "
     "weight: 3}}",
     1},
    /* fields at a place where the API server drops them, and limits as a Provisioner has them */
    {OBJECT(
         "karpenter.sh/v1beta1", "NodePool",
         "requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}], taints: [{key: "
         "x, effect: NoSchedule}], limits: {resources: {cpu: 9}}, template: {labels: {x: w}, "
         "spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}}, "
         "nodeClassRef: {name: c}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
     "{metadata: {labels: {x: w}}, spec: {taints: [{key: x, effect: NoSchedule}], requirements: "
     "[{key: kubernetes.io/arch, operator: In, values: [arm64]}, {key: kubernetes.io/os, operator: "
     "In, values: [linux]}], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: "
     "c}}}, limits: {cpu: 9}}}",
     5},
    /* as a toleration has it */
    {OBJECT("karpenter.sh/v1beta1", "NodePool",
            "template: {spec: {taints: [{key: x, operator: Exists, effect: NoSchedule}], "
            "requirements: [], nodeClassRef: {name: c}}}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: "
     "{taints: [{key: x, effect: NoSchedule}], requirements: [], nodeClassRef: {group: "
     "karpenter.k8s.aws, kind: EC2NodeClass, name: c}}}}}",
     1},
    /* what v1 refuses, and what never was a field */
    {OBJECT("karpenter.sh/v1beta1", "NodePool",
            "colour: red, template: {metadata: {labels: {karpenter.sh/nodepool: a, "
            "karpenter.sh/capacity-type: spot}}, spec: {nodeClassRef: {name: c}, requirements: "
            "[{key: karpenter.sh/pool, operator: Exists}]}}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
     "{metadata: {labels: {karpenter.sh/capacity-type: spot}}, spec: {requirements: [], "
     "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}}}}",
     3},
    /* other providers: by the requirements, by the kind; and a class without a name */
    {OBJECT("karpenter.sh/v1beta1", "NodePool",
            "template: {spec: {nodeClassRef: {name: c}, requirements: [{key: "
            "karpenter.azure.com/sku-family, operator: In, values: [D]}]}}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: "
     "{requirements: [{key: karpenter.azure.com/sku-family, operator: In, values: [D]}], "
     "nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: c}}}}}",
     0},
    {OBJECT("karpenter.sh/v1beta1", "NodePool",
            "template: {spec: {nodeClassRef: {kind: IBMNodeClass}, requirements: []}}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: "
     "{requirements: [], nodeClassRef: {group: karpenter-ibm.sh, kind: IBMNodeClass}}}}}",
     1},
    /* one that waits, and a kubelet that is the class's now */
    {OBJECT("karpenter.sh/v1beta1", "NodePool",
            "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: "
            "[{nodes: '1'}]}, template: {spec: {kubelet: {maxPods: 9}, nodeClassRef: {name: c}, "
            "requirements: []}}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: "
     "{requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}}}, "
     "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: "
     "\"1\"}]}}}",
     1},
    /* a Provisioner that says nothing: what v1alpha5 chose, never expiring, never consolidated */
    {OBJECT("karpenter.sh/v1alpha5", "Provisioner", "providerRef: {name: c}"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: "
     "{requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}, {key: "
     "kubernetes.io/arch, operator: In, values: [amd64]}, {key: karpenter.sh/capacity-type, "
     "operator: In, values: [on-demand]}, {key: karpenter.k8s.aws/instance-category, operator: In, "
     "values: [c, m, r]}, {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: "
     "[\"2\"]}], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, "
     "expireAfter: Never}}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: "
     "Never}}}",
     0},
    /* one that chooses all of it; a label chooses as well */
    {OBJECT("karpenter.sh/v1alpha5", "Provisioner",
            "providerRef: {name: c}, ttlSecondsAfterEmpty: 30, ttlSecondsUntilExpired: 60, labels: "
            "{kubernetes.io/arch: arm64}, limits: {resources: {cpu: 8}}, requirements: [{key: "
            "kubernetes.io/os, operator: Exists}, {key: karpenter.sh/capacity-type, operator: In, "
            "values: [spot]}, {key: karpenter.k8s.aws/instance-family, operator: In, values: [m6g]}"
            "]"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
     "{metadata: {labels: {kubernetes.io/arch: arm64}}, spec: {requirements: [{key: "
     "kubernetes.io/os, operator: Exists}, {key: karpenter.sh/capacity-type, operator: In, values: "
     "[spot]}, {key: karpenter.k8s.aws/instance-family, operator: In, values: [m6g]}], "
     "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, expireAfter: "
     "\"60s\"}}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: \"30s\"}, limits: "
     "{cpu: 8}}}",
     1},
    /* annotations by their new name; fields that are the node class' */
    {OBJECT(
         "karpenter.sh/v1alpha5", "Provisioner",
         "providerRef: {name: c}, userData: x, annotations: {karpenter.sh/do-not-evict: 'true'}, "
         "limits: {cpu: 8}, requirements: [{key: kubernetes.io/os, operator: Exists}, {key: "
         "kubernetes.io/arch, values: [arm64]}, {key: karpenter.sh/capacity-type, operator: "
         "Exists}, {key: node.kubernetes.io/instance-type, operator: Exists}]"),
     "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: "
     "{metadata: {annotations: {karpenter.sh/do-not-disrupt: \"true\"}}, spec: {requirements: "
     "[{key: "
     "kubernetes.io/os, operator: Exists}, {key: kubernetes.io/arch, values: [arm64]}, {key: "
     "karpenter.sh/capacity-type, operator: Exists}, {key: node.kubernetes.io/instance-type, "
     "operator: Exists}], nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, "
     "expireAfter: Never}}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}, "
     "limits: {cpu: 8}}}",
     3},
    /* a role beside an instance profile, and a term that selects nothing */
    {OBJECT("karpenter.k8s.aws/v1beta1", "EC2NodeClass",
            "amiFamily: AL2023, amiSelectorTerms: [{}], role: r, instanceProfile: p, "
            "subnetSelectorTerms: [{id: s}, {}], securityGroupSelectorTerms: [{id: g}], kubelet: "
            "{maxPods: 9}"),
     "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
     "{amiFamily: AL2023, amiSelectorTerms: [{alias: \"al2023@latest\"}], instanceProfile: p, "
     "subnetSelectorTerms: [{id: s}], securityGroupSelectorTerms: [{id: g}], metadataOptions: "
     "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpTokens: required, "
     "httpPutResponseHopLimit: 2}, kubelet: {maxPods: 9}}}",
     4},
    /* an instance profile that is none */
    {OBJECT("karpenter.k8s.aws/v1beta1", "EC2NodeClass",
            "amiFamily: AL2, amiSelectorTerms: [{id: i}], instanceProfile: '  ', "
            "subnetSelectorTerms: [{id: s}], securityGroupSelectorTerms: [{id: g}]"),
     "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
     "{amiFamily: AL2, amiSelectorTerms: [{id: i}], role: KarpenterNodeRole, subnetSelectorTerms: "
     "[{id: s}], securityGroupSelectorTerms: [{id: g}], metadataOptions: {httpEndpoint: enabled, "
     "httpProtocolIPv6: disabled, httpTokens: required, httpPutResponseHopLimit: 2}}}",
     2},
    /* selectors become terms; the old default of the hop limit is written out */
    {OBJECT("karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate",
            "amiSelector: {aws-ids: 'ami-1,ami-2'}, instanceProfile: p, subnetSelector: {Name: "
            "'x,y', t: z}, securityGroupSelector: {t: z}"),
     "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
     "{amiFamily: AL2, amiSelectorTerms: [{id: ami-1}, {id: ami-2}], instanceProfile: p, "
     "subnetSelectorTerms: [{tags: {Name: x, t: z}}, {tags: {Name: \"y\", t: z}}], "
     "securityGroupSelectorTerms: [{tags: {t: z}}], metadataOptions: {httpEndpoint: enabled, "
     "httpProtocolIPv6: disabled, httpTokens: required, httpPutResponseHopLimit: 2}}}",
     0},
    /* v1 takes a role or an instance profile, and no empty term */
    {OBJECT("karpenter.k8s.aws/v1beta1", "EC2NodeClass",
            "amiFamily: AL2023, amiSelectorTerms: [{id: i}], role: r, instanceProfile: p, "
            "subnetSelectorTerms: [{id: s}, {}], securityGroupSelectorTerms: [{id: g}]"),
     "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
     "{amiFamily: AL2023, amiSelectorTerms: [{id: i}], instanceProfile: p, subnetSelectorTerms: "
     "[{id: s}], securityGroupSelectorTerms: [{id: g}], metadataOptions: {httpEndpoint: enabled, "
     "httpProtocolIPv6: disabled, httpTokens: required, httpPutResponseHopLimit: 2}}}",
     2},
    {OBJECT("karpenter.k8s.aws/v1beta1", "EC2NodeClass",
            "amiFamily: AL2023, amiSelectorTerms: [{id: i}], role: r, instanceProfile: ' ', "
            "subnetSelectorTerms: [{id: s}], securityGroupSelectorTerms: [{id: g}]"),
     "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
     "{amiFamily: AL2023, amiSelectorTerms: [{id: i}], role: r, subnetSelectorTerms: [{id: s}], "
     "securityGroupSelectorTerms: [{id: g}], metadataOptions: {httpEndpoint: enabled, "
     "httpProtocolIPv6: disabled, httpTokens: required, httpPutResponseHopLimit: 2}}}",
     1},
    {OBJECT("karpenter.k8s.aws/v1beta1", "EC2NodeClass",
            "amiFamily: Bottlerocket, role: r, subnetSelectorTerms: [{id: s}], "
            "securityGroupSelectorTerms: [{id: g}], metadataOptions: {httpPutResponseHopLimit: 1}"),
     "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
     "{amiFamily: Bottlerocket, amiSelectorTerms: [{alias: \"bottlerocket@latest\"}], role: r, "
     "subnetSelectorTerms: [{id: s}], securityGroupSelectorTerms: [{id: g}], metadataOptions: "
     "{httpEndpoint: enabled, httpProtocolIPv6: disabled, httpTokens: required, "
     "httpPutResponseHopLimit: 1}}}",
     1},
};

static void old_objects_become_new_ones(void)
{
    struct arena *arena = arena_create((size_t)16 << 20);
    for (size_t i = 0; i < COUNT_OF(upgrades); i++) {
        struct rail_documents documents = rail_table_read(upgrades[i].old, arena);
        struct upgrade upgrade;
        CU_ASSERT_TRUE_FATAL(upgrade_applies(&documents.items[0]));
        upgrade_make(&documents.items[0], TEXT(""), arena, &upgrade);
        ASSERT_INT(upgrade.object_count, 1);
        ASSERT_TEXT(node_yaml_line(upgrade.objects[0], arena), upgrades[i].new);
        ASSERT_INT(upgrade.notes.count, upgrades[i].notes);
        /* As a file it says the same. */
        struct rail_documents written =
            rail_table_read(node_yaml(upgrade.objects[0], arena).data, arena);
        CU_ASSERT_TRUE(node_equal(written.items[0].root->node, upgrade.objects[0]));
    }
    arena_destroy(arena);
}

static void what_is_written_is_read_again(void)
{
    static const char *const texts[] = {
        "{a: \"true\", b: \"12\", c: \"1e3\", d: \"\", e: \"a: b\", f: \"#x\", g: \"x y\"}",
        "{a: \"line\\nanother\\n\", b: \"one\\ntwo\", c: \"two\\n\\n\", d: \" x\\ny\", e: \"\\t\"}",
        "{a: [], b: {}, c: [[1, 2], [{x: 1.5}]], d: null, e: true, \"on\": {deep: {deeper: [x]}}}",
        "[1, {a: b, c: [d]}, \"@x\", \"*y\", \"-\", \"~\", \"0x1f\", \"é\", \"\\\"\\\\\"]",
    };
    struct arena *arena = arena_create((size_t)1 << 20);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        const struct node *read[3] = {NULL};
        struct text text = text_of(texts[i]);
        for (size_t j = 0; j < COUNT_OF(read); j++) {
            struct source *source = ARENA_NEW(arena, struct source);
            struct problems problems = {.arena = arena};
            source->text = text;
            doc_read_yaml(source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems,
                          rail_table_take_root, (void *)&read[j]);
            CU_ASSERT_PTR_NOT_NULL_FATAL(read[j]);
            text = j == 0 ? node_yaml(read[0], arena) : node_yaml_line(read[0], arena);
        }
        CU_ASSERT_TRUE(node_equal(read[0], read[1]));
        CU_ASSERT_TRUE(node_equal(read[0], read[2]));
    }
    arena_destroy(arena);
}

#define LABEL(number)                                     \
    "example.com/a-label-with-a-rather-long-name-" number \
    ": and-a-value-that-is-as-long-as-the-name-is, "
#define LABELS(tens) LABEL(tens "0") LABEL(tens "1") LABEL(tens "2") LABEL(tens "3")
#define MANY_LABELS \
    LABELS("0")     \
    LABELS("1") LABELS("2") LABELS("3") LABELS("4") LABELS("5") LABELS("6") LABELS("7") LABELS("8")
#define MANY_LABELS_AND_A_KUBELET                                                             \
    OBJECT("karpenter.sh/v1beta1", "NodePool",                                                \
           "template: {metadata: {labels: {" MANY_LABELS "}}, spec: {kubelet: {maxPods: 9}, " \
           "nodeClassRef: {name: c}, requirements: []}}")

static void it_says_what_to_write(void)
{
    static const struct rail_words rows[] = {
        {OBJECT("karpenter.sh/v1beta1", "NodePool",
                "template: {spec: {nodeClassRef: {name: c}, requirements: []}}"),
         "Karpenter 1.1 and later have no NodePool of "
         "karpenter.sh/v1beta1, so the API server refuses it.",
         "Write instead: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: "
         "EC2NodeClass, name: c}}}}}."},
        {OBJECT("karpenter.sh/v1alpha5", "Provisioner", ""),
         "Karpenter 0.33 and later have no Provisioner of "
         "karpenter.sh/v1alpha5, so the API server refuses it.",
         "Write instead: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {requirements: [{key: kubernetes.io/os, operator: In, values: "
         "[linux]}, {key: kubernetes.io/arch, operator: In, values: [amd64]}, {key: "
         "karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: "
         "karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}, {key: "
         "karpenter.k8s.aws/instance-generation, operator: Gt, values: [\"2\"]}], nodeClassRef: "
         "{group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, expireAfter: Never}}, "
         "disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}}}. By hand: put "
         "the "
         "name of the EC2NodeClass in spec.template.spec.nodeClassRef.name: the Provisioner names "
         "no "
         "AWSNodeTemplate."},
        /* what it says of its nodes becomes a second object */
        {OBJECT("karpenter.sh/v1alpha5", "Provisioner",
                "provider: {instanceProfile: p, subnetSelector: {t: z}, securityGroupSelector: {t: "
                "z}, amiFamily: Bottlerocket}, requirements: [{key: kubernetes.io/os, operator: "
                "Exists}, {key: kubernetes.io/arch, operator: Exists}, {key: "
                "karpenter.sh/capacity-type, operator: Exists}, {key: "
                "node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]"),
         "Karpenter 0.33 and later have no Provisioner of "
         "karpenter.sh/v1alpha5, so the API server refuses it.",
         "Write instead: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {requirements: [{key: kubernetes.io/os, operator: Exists}, {key: "
         "kubernetes.io/arch, operator: Exists}, {key: karpenter.sh/capacity-type, operator: "
         "Exists}, {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}], "
         "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}, expireAfter: "
         "Never}}, disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}}} and "
         "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: "
         "{amiFamily: Bottlerocket, amiSelectorTerms: [{alias: \"bottlerocket@latest\"}], "
         "instanceProfile: p, subnetSelectorTerms: [{tags: {t: z}}], securityGroupSelectorTerms: "
         "[{tags: {t: z}}], metadataOptions: {httpEndpoint: enabled, httpProtocolIPv6: disabled, "
         "httpTokens: required, httpPutResponseHopLimit: 2}}}. By hand: put a version for latest "
         "in "
         "alias bottlerocket@latest: nodes are replaced at each release."},
        {OBJECT("karpenter.sh/v1beta1", "NodePool",
                "template: {spec: {kubelet: {maxPods: 9}, nodeClassRef: {name: c}, requirements: "
                "[]}}"),
         "Karpenter 1.1 and later have no NodePool of "
         "karpenter.sh/v1beta1, so the API server refuses it.",
         "Write instead: {apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: "
         "{template: {spec: {requirements: [], nodeClassRef: {group: karpenter.k8s.aws, kind: "
         "EC2NodeClass, name: c}}}}}. By hand: in EC2NodeClass c write spec.kubelet: {maxPods: "
         "9}."},
        {OBJECT("karpenter.k8s.aws/v1beta1", "EC2NodeClass", "amiFamily: Ubuntu"),
         "Karpenter 1.1 and later have no EC2NodeClass of "
         "karpenter.k8s.aws/v1beta1, so the API server refuses it.",
         "Write instead: {apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: "
         "a}, spec: {amiFamily: AL2, amiSelectorTerms: [{alias: \"al2@latest\"}], role: "
         "KarpenterNodeRole, metadataOptions: {httpEndpoint: enabled, httpProtocolIPv6: disabled, "
         "httpTokens: required, httpPutResponseHopLimit: 2}}}. By hand: v1 knows no amiFamily "
         "Ubuntu: it is written as AL2, whose user data is the same; choose the images and the "
         "block devices yourself; al2 images end with Kubernetes 1.32, and the last are of "
         "November 2025: write alias al2023@VERSION, with a release that you have tested; put the "
         "role of your nodes in spec.role: the instance profile of "
         "Karpenter's settings is no longer read; name spec.subnetSelectorTerms: v1 wants it; name "
         "spec.securityGroupSelectorTerms: v1 wants it."},
        /* more than a message can hold */
        {MANY_LABELS_AND_A_KUBELET,
         "Karpenter 1.1 and later have no NodePool of "
         "karpenter.sh/v1beta1, so the API server refuses it.",
         "Run taffrail convert -f FILE, which writes the new object. By hand: in EC2NodeClass c "
         "write "
         "spec.kubelet: {maxPods: 9}."},
    };
    rail_words_run("api-versions: {}", NULL, rows, COUNT_OF(rows));
}

/* Of the same policy node-rotation would deny what the old object did. */
static void nodes_live_as_long_as_the_policy_lets_them(void)
{
    static const struct {
        const char *rails, *written;
    } cases[] = {
        {"api-versions: {}", "expireAfter: Never"},
        {"api-versions: {}, node-rotation: {maxExpireAfter: 336h}", "expireAfter: \"336h\""},
        {"api-versions: {}, node-rotation: {mode: \"off\"}", "expireAfter: Never"},
    };
    struct arena *arena = arena_create((size_t)32 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world world = rail_table_world(cases[i].rails, NULL, arena);
        struct rail_documents documents = rail_table_read(
            OBJECT("karpenter.sh/v1alpha5", "Provisioner", "providerRef: {name: c}"), arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        CU_ASSERT_PTR_NOT_NULL(strstr(verdict.findings[0].fix.data, cases[i].written));
    }
    arena_destroy(arena);
}

static struct text fix_with_annotation(const struct world *world, size_t size, struct arena *arena)
{
    char *value = arena_alloc(arena, size + 1);
    memset(value, 'x', size);
    value[size] = '\0';
    struct text old = arena_printf(
        arena,
        "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {template: "
        "{metadata: {annotations: {a: %s}}, spec: {nodeClassRef: {name: c}, requirements: []}}}}",
        value);
    struct rail_documents documents = rail_table_read(old.data, arena);
    struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_evaluate(world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
    return verdict.findings[0].fix;
}

static void an_object_that_just_fits_is_told(void)
{
    enum { MOST = 3000 };
    struct arena *arena = arena_create((size_t)32 << 20);
    struct world world = rail_table_world("api-versions: {}", NULL, arena);
    size_t around = fix_with_annotation(&world, 1, arena).size - strlen("x.");
    ASSERT_INT(fix_with_annotation(&world, MOST - around, arena).size, MOST + strlen("."));
    ASSERT_TEXT(fix_with_annotation(&world, MOST - around + 1, arena),
                "Run taffrail convert -f FILE, which writes the new object.");
    arena_destroy(arena);
}

const char unit_suite[] = "policy api-versions";
const struct unit_test unit_tests[] = {
    {"old objects are found", old_objects_are_found},
    {"a policy says how loud it is", a_policy_says_how_loud_it_is},
    {"it says what to write", it_says_what_to_write},
    {"nodes live as long as the policy lets them", nodes_live_as_long_as_the_policy_lets_them},
    {"an object that just fits is told", an_object_that_just_fits_is_told},
    {"old objects become new ones", old_objects_become_new_ones},
    {"what is written is read again", what_is_written_is_read_again},
    {NULL, NULL},
};
