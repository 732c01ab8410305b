/* How an EC2NodeClass changes the built-in types. The figures are those of the provider itself:
 * each case was given to NewInstanceType of github.com/aws/karpenter-provider-aws
 * pkg/providers/instancetype, v1.14.1, with vmMemoryOverheadPercent 0.075 and the EC2 description
 * of the two types, over core v1.14.1, and Allocatable() of the result printed. */
#include "catalog/node_class.h"
#include "cluster_fixture.h"

enum { BUDGET_BYTES = 64 << 20 };

static const struct object *node_class(struct fixture *fixture, const char *spec,
                                       const char *status)
{
    const char *document =
        arena_printf(fixture->arena,
                     "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: "
                     "main}, spec: {%s}, status: {%s}}",
                     spec, status)
            .data;
    const struct snapshot *snapshot = fixture_snapshot(fixture, &document, 1);
    const struct object *object =
        snapshot_find(snapshot, KIND_EC2_NODE_CLASS, TEXT(""), TEXT("main"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    return object;
}

static const struct catalog *builtin(struct fixture *fixture)
{
    return catalog_builtin(fixture->arena);
}

static struct text amounts_text(struct fixture *fixture, const struct class_settings *settings,
                                const char *type)
{
    static const char *const shown[] = {"cpu", "ephemeral-storage", "memory", "pods"};
    const struct catalog *catalog = builtin(fixture);
    struct catalog_amounts amounts = catalog_class_amounts(
        catalog, catalog_find(catalog, text_of(type)), settings, fixture->arena);
    struct text_builder text = {.arena = fixture->arena};
    for (size_t i = 0; i < amounts.count; i++)
        for (size_t j = 0; j < sizeof shown / sizeof *shown; j++)
            if (strcmp(amounts.items[i].resource, shown[j]) == 0)
                text_builder_printf(&text, "%s%s=%lld", text.size == 0 ? "" : " ", shown[j],
                                    (long long)amounts.items[i].allocatable);
    return text_builder_text(&text);
}

static void what_is_left_to_pods(void)
{
    static const struct {
        const char *name, *spec, *m5_large, *m6gd_xlarge;
    } cases[] = {
        {"nothing said", "amiSelectorTerms: [{alias: al2023@latest}]",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=18253611008 memory=14788067328 pods=58"},
        {"maxPods", "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {maxPods: 110}",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=110",
         "cpu=3920 ephemeral-storage=18253611008 memory=14788067328 pods=110"},
        {"maxPods of Bottlerocket",
         "amiSelectorTerms: [{alias: bottlerocket@latest}], kubelet: {maxPods: 110}",
         "cpu=1930 ephemeral-storage=18253611008 memory=6304038912 pods=110",
         "cpu=3920 ephemeral-storage=18253611008 memory=14188281856 pods=110"},
        {"podsPerCore", "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {podsPerCore: 4}",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=8",
         "cpu=3920 ephemeral-storage=18253611008 memory=14788067328 pods=16"},
        {"podsPerCore of Bottlerocket",
         "amiSelectorTerms: [{alias: bottlerocket@latest}], kubelet: {podsPerCore: 4}",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=18253611008 memory=14788067328 pods=58"},
        {"both",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {podsPerCore: 30, maxPods: 50}",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=50",
         "cpu=3920 ephemeral-storage=18253611008 memory=14788067328 pods=50"},
        {"systemReserved",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {systemReserved: {cpu: 100m, "
         "memory: 100Mi, ephemeral-storage: 1Gi}}",
         "cpu=1830 ephemeral-storage=17179869184 memory=7133462528 pods=29",
         "cpu=3820 ephemeral-storage=17179869184 memory=14683209728 pods=58"},
        {"kubeReserved",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {kubeReserved: {cpu: 200m, memory: "
         "1Gi, ephemeral-storage: 3Gi}}",
         "cpu=1800 ephemeral-storage=16106127360 memory=6766460928 pods=29",
         "cpu=3800 ephemeral-storage=16106127360 memory=14650703872 pods=58"},
        {"kubeReserved cpu",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {kubeReserved: {cpu: '1'}}",
         "cpu=1000 ephemeral-storage=18253611008 memory=7238320128 pods=29",
         "cpu=3000 ephemeral-storage=18253611008 memory=14788067328 pods=58"},
        {"evictionHard",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {evictionHard: {memory.available: "
         "500Mi, nodefs.available: 2Gi}}",
         "cpu=1930 ephemeral-storage=18253611008 memory=6818889728 pods=29",
         "cpu=3920 ephemeral-storage=18253611008 memory=14368636928 pods=58"},
        {"evictionHard percent",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {evictionHard: {memory.available: "
         "7.5%, nodefs.available: 13%}}",
         "cpu=1930 ephemeral-storage=17609365913 memory=6747298201 pods=29",
         "cpu=3920 ephemeral-storage=17609365913 memory=13705727180 pods=58"},
        {"evictionHard off",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {evictionHard: {memory.available: "
         "100%, nodefs.available: 0%}}",
         "cpu=1930 ephemeral-storage=20401094656 memory=7343177728 pods=29",
         "cpu=3920 ephemeral-storage=20401094656 memory=14892924928 pods=58"},
        {"evictionSoft",
         "amiSelectorTerms: [{alias: al2023@latest}], kubelet: {evictionSoft: {memory.available: "
         "2Gi}}",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=18253611008 memory=14788067328 pods=58"},
        {"root",
         "amiSelectorTerms: [{alias: al2023@latest}], blockDeviceMappings: [{deviceName: "
         "/dev/xvda, ebs: {volumeSize: 101Gi}}]",
         "cpu=1930 ephemeral-storage=96529389977 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=96529389977 memory=14788067328 pods=58"},
        {"marked root",
         "amiSelectorTerms: [{alias: al2023@latest}], blockDeviceMappings: [{deviceName: "
         "/dev/xvda, ebs: {volumeSize: 100Gi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 50Gi}, "
         "rootVolume: true}]",
         "cpu=1930 ephemeral-storage=47244640256 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=47244640256 memory=14788067328 pods=58"},
        {"two marked roots", /* the CRD takes one */
         "amiSelectorTerms: [{alias: al2023@latest}], blockDeviceMappings: [{deviceName: "
         "/dev/xvda, ebs: {volumeSize: 50Gi}, rootVolume: true}, {deviceName: /dev/xvdb, ebs: "
         "{volumeSize: 100Gi}, rootVolume: true}]",
         "cpu=1930 ephemeral-storage=47244640256 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=47244640256 memory=14788067328 pods=58"},
        {"another device",
         "amiSelectorTerms: [{alias: al2023@latest}], blockDeviceMappings: [{deviceName: "
         "/dev/xvdz, ebs: {volumeSize: 100Gi}}]",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=18253611008 memory=14788067328 pods=58"},
        {"Bottlerocket data",
         "amiSelectorTerms: [{alias: bottlerocket@v1}], blockDeviceMappings: [{deviceName: "
         "/dev/xvda, ebs: {volumeSize: 4Gi}}, {deviceName: /dev/xvdb, ebs: {volumeSize: 80Gi}}]",
         "cpu=1930 ephemeral-storage=76235669504 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=76235669504 memory=14788067328 pods=58"},
        {"Custom last",
         "amiFamily: Custom, blockDeviceMappings: [{deviceName: /dev/a, ebs: {volumeSize: 40Gi}}, "
         "{deviceName: /dev/b, ebs: {volumeSize: 60G}}]",
         "cpu=1930 ephemeral-storage=52926258176 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=52926258176 memory=14788067328 pods=58"},
        {"Windows2022", "amiSelectorTerms: [{alias: windows2022@latest}]",
         "cpu=1930 ephemeral-storage=47244640256 memory=6304038912 pods=110",
         "cpu=3920 ephemeral-storage=47244640256 memory=14188281856 pods=110"},
        {"Windows2019 maxPods", "amiFamily: Windows2019, kubelet: {maxPods: 20}",
         "cpu=1930 ephemeral-storage=47244640256 memory=7342129152 pods=20",
         "cpu=3920 ephemeral-storage=47244640256 memory=15226372096 pods=20"},
        {"RAID0", "amiSelectorTerms: [{alias: al2023@latest}], instanceStorePolicy: RAID0",
         "cpu=1930 ephemeral-storage=18253611008 memory=7238320128 pods=29",
         "cpu=3920 ephemeral-storage=212226258176 memory=14788067328 pods=58"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct class_settings *settings = NULL;
        struct error error;
        bool good = class_settings_read(node_class(&fixture, cases[i].spec, ""), fixture.arena,
                                        &settings, &error);
        CU_ASSERT_TRUE_FATAL(good);
        struct text large = amounts_text(&fixture, settings, "m5.large");
        struct text xlarge = amounts_text(&fixture, settings, "m6gd.xlarge");
        if (!text_is(large, cases[i].m5_large) || !text_is(xlarge, cases[i].m6gd_xlarge))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(large, cases[i].m5_large);
        ASSERT_TEXT(xlarge, cases[i].m6gd_xlarge);
        arena_destroy(fixture.arena);
    }
}

/* Most classes make no other types: their NodePools share one list of them. */
static void what_changes_nothing(void)
{
    static const struct {
        const char *spec, *status;
        bool usual;
    } cases[] = {
        {"amiFamily: AL2", "", true},
        {"amiSelectorTerms: [{alias: bottlerocket@1.20.0}]", "", true},
        {"amiSelectorTerms: [{id: ami-1}]", "", true},
        {"kubelet: {clusterDNS: [10.0.0.10], evictionSoft: {memory.available: 1Gi}}", "", true},
        {"blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: 20Gi}}]", "", true},
        {"amiFamily: Bottlerocket, kubelet: {podsPerCore: 2}", "", true},
        {"amiFamily: Bottlerocket, kubelet: {maxPods: 29}", "", false},
        {"kubelet: {evictionHard: {memory.available: 100Mi}}", "", false},
        {"amiFamily: Windows2022", "", false},
        {"kubelet: {maxPods: null}", "", true},
        {"amiFamily: Ubuntu", "", true}, /* read as AL2, which its user data is that of */
        {"blockDeviceMappings: [{deviceName: /dev/xvda}]", "", true},
        {"", "capacityReservations: [{instanceType: m5.large, state: active}]", true},
        {"instanceStorePolicy: RAID0", "", false},
        {"", "capacityReservations: [{id: cr-1, instanceType: m5.large, state: active}]", false},
        {"", "capacityReservations: [{id: cr-1, instanceType: m5.large, state: expiring}]", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct class_settings *settings = NULL;
        struct error error;
        bool good = class_settings_read(node_class(&fixture, cases[i].spec, cases[i].status),
                                        fixture.arena, &settings, &error);
        if (!good || (settings == NULL) != cases[i].usual)
            fprintf(stderr, "of %s %s:\n", cases[i].spec, cases[i].status);
        CU_ASSERT_TRUE(good && (settings == NULL) == cases[i].usual);
        arena_destroy(fixture.arena);
    }
}

static void what_is_refused(void)
{
    static const struct {
        const char *spec, *said;
    } cases[] = {
        {"kubelet: {maxPods: -1}", "spec.kubelet.maxPods of its EC2NodeClass main is -1; it must "
                                   "be a whole number of 0 or more"},
        {"kubelet: {maxPods: 99999999999}",
         "spec.kubelet.maxPods of its EC2NodeClass main is 99999999999; it must be a whole number "
         "of 0 or more"},
        {"kubelet: {kubeReserved: {memory: lots}}",
         "spec.kubelet.kubeReserved.memory of its EC2NodeClass main is \"lots\", which is no "
         "quantity of 0 or more"},
        {"kubelet: {kubeReserved: {memory: 9e30}}",
         "spec.kubelet.kubeReserved.memory of its EC2NodeClass main is \"9e+30\", which is too "
         "large: it may be 9.2P at most"},
        {"kubelet: {systemReserved: {cpu: -100m}}",
         "spec.kubelet.systemReserved.cpu of its EC2NodeClass main is \"-100m\", which is no "
         "quantity of 0 or more"},
        {"kubelet: {evictionHard: {memory.available: 101%}}",
         "spec.kubelet.evictionHard[memory.available] of its EC2NodeClass main is \"101%\"; it "
         "must be a quantity, or a percentage from 0% to 100%"},
        {"kubelet: {podsPerCore: -1}",
         "spec.kubelet.podsPerCore of its EC2NodeClass main is -1; it must be a whole number of 0 "
         "or more"},
        {"kubelet: {evictionHard: {nodefs.available: lots}}",
         "spec.kubelet.evictionHard[nodefs.available] of its EC2NodeClass main is \"lots\", which "
         "is no quantity of 0 or more"},
        {"kubelet: {evictionHard: {memory.available: lots%}}",
         "spec.kubelet.evictionHard[memory.available] of its EC2NodeClass main is \"lots%\"; it "
         "must be a quantity, or a percentage from 0% to 100%"},
        {"kubelet: {evictionHard: {memory.available: -1%}}",
         "spec.kubelet.evictionHard[memory.available] of its EC2NodeClass main is \"-1%\"; it "
         "must be a quantity, or a percentage from 0% to 100%"},
        {"blockDeviceMappings: [{ebs: {volumeSize: large}}]",
         "spec.blockDeviceMappings[0].ebs.volumeSize of its EC2NodeClass main is \"large\", which "
         "is no quantity of 0 or more"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct class_settings *settings = NULL;
        struct error error = {.what = ""};
        bool good = class_settings_read(node_class(&fixture, cases[i].spec, ""), fixture.arena,
                                        &settings, &error);
        CU_ASSERT_FALSE(good);
        ASSERT_TEXT(text_of(error.what), cases[i].said);
        arena_destroy(fixture.arena);
    }
}

/* What is kept back may be more than there is: such a machine takes nothing. */
static void more_than_there_is(void)
{
    struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
    const struct class_settings *settings = NULL;
    struct error error;
    bool good = class_settings_read(
        node_class(&fixture,
                   "kubelet: {kubeReserved: {cpu: 9e15, memory: 9P}, systemReserved: {cpu: 9e15}}",
                   ""),
        fixture.arena, &settings, &error);
    CU_ASSERT_TRUE_FATAL(good);
    ASSERT_TEXT(amounts_text(&fixture, settings, "m5.large"),
                "cpu=0 ephemeral-storage=0 memory=0 pods=0");
    arena_destroy(fixture.arena);
}

/* NodePools of classes that say the same share their types. */
static void settings_are_compared(void)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } cases[] = {
        {"kubelet: {maxPods: 20}", "kubelet: {maxPods: 20, clusterDNS: [10.0.0.10]}", true},
        {"kubelet: {maxPods: 20}", "kubelet: {maxPods: 21}", false},
        {"kubelet: {maxPods: 20}", "", false},
        {"", "kubelet: {maxPods: 20}", false},
        {"", "amiFamily: AL2", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct class_settings *a = NULL, *b = NULL;
        struct error error;
        CU_ASSERT_TRUE(
            class_settings_read(node_class(&fixture, cases[i].a, ""), fixture.arena, &a, &error) &&
            class_settings_read(node_class(&fixture, cases[i].b, ""), fixture.arena, &b, &error));
        CU_ASSERT_EQUAL(class_settings_equal(a, b), cases[i].equal);
        arena_destroy(fixture.arena);
    }
    const struct class_settings *unseen = &usual_settings;
    struct error error;
    CU_ASSERT_TRUE(class_settings_read(NULL, NULL, &unseen, &error));
    CU_ASSERT_PTR_NULL(unseen);
}

const char unit_suite[] = "kube catalog of a node class";
const struct unit_test unit_tests[] = {
    {"what is left to pods", what_is_left_to_pods},
    {"what changes nothing", what_changes_nothing},
    {"what is refused", what_is_refused},
    {"more is kept back than there is", more_than_there_is},
    {"settings are compared", settings_are_compared},
    {NULL, NULL},
};
