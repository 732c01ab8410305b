/* Instance types for the solver: capacity, allocatable, attach limits and offerings. */
#include <stdio.h>
#include <string.h>

#include "catalog/node_class.h"
#include "catalog_fixture.h"
#include "kube/zone.h"

/* What a type has, leaves to pods, and is offered as. */

/* "a b" */
static struct zones zones_of(const char *written)
{
    struct zones zones = {0};
    struct text rest = text_of(written), zone;
    while (rest.size > 0) {
        if (!text_split(rest, ' ', &zone, &rest)) {
            zone = rest;
            rest.size = 0;
        }
        *LIST_PUSH(arena, &zones) = zone;
    }
    return zones;
}

static const struct catalog_amount *amount_of(const struct catalog_amounts *amounts,
                                              const char *resource)
{
    static const struct catalog_amount none;
    for (size_t i = 0; i < amounts->count; i++)
        if (strcmp(amounts->items[i].resource, resource) == 0)
            return &amounts->items[i];
    return &none;
}

/* "cpu=1930 memory=7238320128 ..." */
static struct text amounts_text(const char *name, bool allocatable)
{
    struct catalog_amounts amounts = catalog_type_amounts(catalog, index_of(name), arena);
    struct text_builder out = {.arena = arena};
    for (size_t i = 0; i < amounts.count; i++)
        text_builder_printf(
            &out, "%s%s=%lld", i > 0 ? " " : "", amounts.items[i].resource,
            (long long)(allocatable ? amounts.items[i].allocatable : amounts.items[i].capacity));
    return out.size > 0 ? text_builder_text(&out) : TEXT("");
}

/* Figures of Karpenter's reference of instance types; those of pod-eni are of its provider's table
 * (zz_generated.vpclimits.go), which is newer. */
static void test_published_allocatable(void)
{
    static const struct {
        const char *type;
        int64_t cpu_milli, memory_mib, pods;
        const char *others;
    } cases[] = {
        {"a1.medium", 940, 1392, 8, "vpc.amazonaws.com/pod-eni=10"},
        {"c4.8xlarge", 35840, 53903, 234, ""},
        {"c5.large", 1930, 3114, 29, "vpc.amazonaws.com/pod-eni=9"},
        {"c5.metal", 95690, 173400, 737, "vpc.amazonaws.com/pod-eni=107"},
        {"c6gn.16xlarge", 63770, 112720, 737,
         "vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=107"},
        {"c7g.medium", 940, 1392, 8, "vpc.amazonaws.com/pod-eni=4"},
        {"c7i-flex.large", 1930, 3114, 29, "vpc.amazonaws.com/pod-eni=3"},
        {"d3.xlarge", 3920, 29845, 10, "vpc.amazonaws.com/pod-eni=42"},
        {"dl1.24xlarge", 95690, 718987, 737,
         "habana.ai/gaudi=8 vpc.amazonaws.com/efa=4 vpc.amazonaws.com/pod-eni=62"},
        {"f1.2xlarge", 7910, 114565, 58, ""},
        {"g4ad.16xlarge", 63770, 239554, 234, "amd.com/gpu=4 vpc.amazonaws.com/pod-eni=6"},
        {"g4dn.12xlarge", 47810, 178933, 234,
         "nvidia.com/gpu=4 vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=54"},
        {"g5.48xlarge", 191450, 723299, 345,
         "nvidia.com/gpu=8 vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=115"},
        {"g5g.metal", 63770, 112720, 737, "nvidia.com/gpu=2 vpc.amazonaws.com/pod-eni=107"},
        {"g6f.large", 1930, 7002, 20, "vpc.amazonaws.com/pod-eni=10"},
        {"hpc7g.4xlarge", 15890, 118649, 198,
         "vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=118"},
        {"i3.large", 1930, 13770, 29, ""},
        {"i4i.large", 1930, 14481, 29, "vpc.amazonaws.com/pod-eni=9"},
        {"i4i.metal", 127610, 961470, 737, "vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=120"},
        {"im4gn.large", 1930, 6844, 29, "vpc.amazonaws.com/pod-eni=9"},
        {"inf1.24xlarge", 95690, 177976, 321,
         "aws.amazon.com/neuron=16 aws.amazon.com/neuroncore=64 vpc.amazonaws.com/efa=1 "
         "vpc.amazonaws.com/pod-eni=111"},
        {"inf2.xlarge", 3920, 14162, 58,
         "aws.amazon.com/neuron=1 aws.amazon.com/neuroncore=2 vpc.amazonaws.com/pod-eni=18"},
        {"is4gen.medium", 940, 5181, 8, "vpc.amazonaws.com/pod-eni=4"},
        {"m1.small", 940, 1166, 8, ""},
        {"m4.16xlarge", 63770, 239554, 234, ""},
        {"m5.large", 1930, 6903, 29, "vpc.amazonaws.com/pod-eni=9"},
        {"m5.24xlarge", 95690, 355262, 737, "vpc.amazonaws.com/pod-eni=107"},
        {"m6g.large", 1930, 6844, 29, "vpc.amazonaws.com/pod-eni=9"},
        {"m7a.medium", 940, 3345, 8, "vpc.amazonaws.com/pod-eni=4"},
        {"m7i.metal-24xl", 95690, 355262, 737, "vpc.amazonaws.com/pod-eni=107"},
        {"m8g.xlarge", 3920, 14103, 58, "vpc.amazonaws.com/pod-eni=18"},
        {"p3dn.24xlarge", 95690, 718987, 737,
         "nvidia.com/gpu=8 vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=107"},
        {"p4d.24xlarge", 95690, 1082712, 737,
         "nvidia.com/gpu=8 vpc.amazonaws.com/efa=4 vpc.amazonaws.com/pod-eni=62"},
        {"p5.48xlarge", 191450, 1938410, 100,
         "nvidia.com/gpu=8 vpc.amazonaws.com/efa=32 vpc.amazonaws.com/pod-eni=120"},
        {"r5.4xlarge", 15890, 118312, 234, "vpc.amazonaws.com/pod-eni=54"},
        {"r7iz.32xlarge", 127610, 961470, 737,
         "vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=107"},
        {"r8g.48xlarge", 191450, 1446378, 737,
         "vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=107"},
        {"t2.micro", 940, 548, 4, ""},
        {"t3.nano", 1930, 74, 4, ""},
        {"t3.small", 1930, 1418, 11, ""},
        {"t4g.medium", 1930, 3187, 17, ""},
        {"trn1.2xlarge", 7910, 29317, 58,
         "aws.amazon.com/neuron=1 aws.amazon.com/neuroncore=2 vpc.amazonaws.com/pod-eni=17"},
        {"trn1.32xlarge", 127610, 481894, 247,
         "aws.amazon.com/neuron=16 aws.amazon.com/neuroncore=32 vpc.amazonaws.com/efa=8 "
         "vpc.amazonaws.com/pod-eni=82"},
        {"trn2.48xlarge", 191450, 1938410, 100,
         "aws.amazon.com/neuron=16 aws.amazon.com/neuroncore=128 vpc.amazonaws.com/efa=16"},
        {"u-6tb1.112xlarge", 446810, 5811134, 737, ""},
        {"u7i-12tb.224xlarge", 893690, 11630731, 737,
         "vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=107"},
        {"vt1.24xlarge", 95690, 173400, 737,
         "vpc.amazonaws.com/efa=1 vpc.amazonaws.com/pod-eni=107"},
        {"x1e.32xlarge", 127610, 3694939, 234, ""},
        {"x2idn.16xlarge", 63770, 961470, 737, "vpc.amazonaws.com/pod-eni=107"},
        {"z1d.3xlarge", 11900, 88002, 234, "vpc.amazonaws.com/pod-eni=54"},
    };
    static const char *const named[] = {"cpu", "ephemeral-storage", "memory", "pods"};
    builtin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct catalog_amounts amounts =
            catalog_type_amounts(catalog, index_of(cases[i].type), arena);
        const struct catalog_amount *storage = amount_of(&amounts, "ephemeral-storage");
        struct text_builder others = {.arena = arena};
        for (size_t j = 0; j < amounts.count; j++) {
            bool is_named = false;
            for (size_t k = 0; k < sizeof named / sizeof *named; k++)
                is_named = is_named || strcmp(amounts.items[j].resource, named[k]) == 0;
            if (!is_named)
                text_builder_printf(&others, "%s%s=%lld", others.size > 0 ? " " : "",
                                    amounts.items[j].resource,
                                    (long long)amounts.items[j].allocatable);
        }
        struct text found =
            arena_printf(arena, "%s %lldm %lldMi %lld %lldGi %.*s", cases[i].type,
                         (long long)amount_of(&amounts, "cpu")->allocatable,
                         (long long)amount_of(&amounts, "memory")->allocatable >> 20,
                         (long long)amount_of(&amounts, "pods")->allocatable,
                         (long long)storage->allocatable >> 30, (int)others.size,
                         others.size > 0 ? others.data : "");
        struct text expected = arena_printf(
            arena, "%s %lldm %lldMi %lld 17Gi %s", cases[i].type, (long long)cases[i].cpu_milli,
            (long long)cases[i].memory_mib, (long long)cases[i].pods, cases[i].others);
        ASSERT_TEXT(found, expected.data);
    }
}

/* Of memory 7.5 % go before the capacity, rounded up to a whole Mi, of Graviton's 64 Mi before
 * that. */
static void test_capacity(void)
{
    builtin();
    ASSERT_TEXT(amounts_text("m5.large", false),
                "cpu=2000 ephemeral-storage=21474836480 memory=7945060352 pods=29 "
                "vpc.amazonaws.com/pod-eni=9");
    ASSERT_TEXT(amounts_text("m6g.large", false),
                "cpu=2000 ephemeral-storage=21474836480 memory=7883194368 pods=29 "
                "vpc.amazonaws.com/pod-eni=9");
    /* Neither can become a node. */
    ASSERT_TEXT(amounts_text("c7g-flex.large", false), "");
    ASSERT_TEXT(amounts_text("mac1.metal", false), "");
    size_t without = 0, upside_down = 0;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        struct catalog_amounts amounts = catalog_type_amounts(catalog, i, arena);
        without += amounts.count == 0;
        for (size_t j = 0; j < amounts.count; j++)
            upside_down += amounts.items[j].allocatable > amounts.items[j].capacity ||
                           amounts.items[j].allocatable <= 0;
    }
    ASSERT_INT(without, 40 + 9); /* hardware not known; of Apple's */
    ASSERT_INT(upside_down, 0);
}

static void test_attach_limits(void)
{
    builtin();
    ASSERT_INT(catalog_attach_limit(catalog, index_of("m5.large")), 26);
    ASSERT_INT(catalog_attach_limit(catalog, index_of("m7i.large")), 31);
    ASSERT_INT(catalog_attach_limit(catalog, index_of("g5.48xlarge")), 8);
    ASSERT_INT(catalog_attach_limit(catalog, index_of("c7g-flex.large")), 0);
}

#define MACHINE(name, resources, offerings)                                                     \
    "{\"name\": \"" name "\", \"architecture\": \"amd64\", \"operatingSystems\": [\"linux\"], " \
    "\"resources\": {" resources "}, \"offerings\": [" offerings "]}"
#define WHERE(key, op, values) \
    "{\"key\": \"" key "\", \"operator\": \"" op "\", \"values\": [" values "]}"
#define ZONE(op, values) WHERE("topology.kubernetes.io/zone", op, values)
#define CAPACITY(values) WHERE("karpenter.sh/capacity-type", "In", values)
#define OFFER(more, requirements) "{" more "\"Requirements\": [" requirements "]}"
#define PLAIN "\"cpu\": \"4\", \"memory\": \"16Gi\""

/* What ConstructInstanceTypes of Karpenter's kwok provider (1.14.1) makes of the same file, but of
 * "tiny": there it leaves cpu=-50, which refuses every pod. */
static void test_user_amounts(void)
{
    static const struct {
        const char *type, *capacity, *allocatable;
    } cases[] = {
        {"all-huge", "cpu=4000 hugepages-2Mi=18253611008 memory=17179869184 pods=110",
         "cpu=3900 hugepages-2Mi=18253611008 memory=0 pods=110"},
        {"huge",
         "cpu=4000 hugepages-1Gi=2147483648 hugepages-2Mi=1073741824 memory=17179869184 "
         "nvidia.com/gpu=2 pods=58",
         "cpu=3900 hugepages-1Gi=2147483648 hugepages-2Mi=1073741824 memory=13948157952 "
         "nvidia.com/gpu=2 pods=58"},
        {"odd",
         "cpu=1500 ephemeral-storage=21474836480 example.com/slots=7 memory=1000000000 pods=110 "
         "smarter/fuse=1000",
         "cpu=1400 ephemeral-storage=21474836480 example.com/slots=7 memory=989514240 pods=110 "
         "smarter/fuse=1000"},
        {"tiny", "cpu=50 memory=17179869184 pods=110", "cpu=0 memory=0 pods=0"},
    };
    user("[" MACHINE(
        "odd",
        "\"cpu\": \"1500m\", \"memory\": \"1e9\", \"ephemeral-storage\": \"20Gi\", "
        "\"example.com/slots\": \"7\", \"smarter/fuse\": \"1k\"",
        "") "," MACHINE("huge",
                        PLAIN ", \"hugepages-2Mi\": \"1Gi\", \"hugepages-1Gi\": \"2Gi\", "
                              "\"pods\": \"58\", \"nvidia.com/gpu\": 2",
                        "") "," MACHINE("all-huge", PLAIN ", \"hugepages-2Mi\": \"17Gi\"",
                                        "") "," MACHINE("tiny",
                                                        "\"cpu\": \"50m\", \"memory\": \"16Gi\"",
                                                        "") "]");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_TEXT(amounts_text(cases[i].type, false), cases[i].capacity);
        ASSERT_TEXT(amounts_text(cases[i].type, true), cases[i].allocatable);
    }
}

static void add_expressions(struct text_builder *out, struct solver_expressions expressions)
{
    for (size_t i = 0; i < expressions.count; i++) {
        const struct solver_expression *expression = &expressions.items[i];
        text_builder_printf(out, "%s %s", expression->key, solver_op_name(expression->op));
        for (size_t j = 0; j < expression->value_count; j++)
            text_builder_printf(out, " %s", expression->values[j]);
        text_builder_printf(out, ";");
    }
}

/* "zone/capacity-type/price[more] ..." */
static struct text offerings_text(const char *name, const char *zones)
{
    struct zones read = zones_of(zones);
    struct catalog_offerings offerings =
        catalog_type_offerings(catalog, index_of(name), &read, arena);
    struct text_builder out = {.arena = arena};
    for (size_t i = 0; i < offerings.count; i++) {
        const struct solver_offering *offering = &offerings.items[i];
        text_builder_printf(&out, "%s%s/%s/%lld", i > 0 ? " " : "", offering->zone,
                            offering->capacity_type, (long long)offering->price_usd_micro);
        if (offering->more.count > 0) {
            text_builder_printf(&out, "[");
            add_expressions(&out, offering->more);
            text_builder_printf(&out, "]");
        }
        CU_ASSERT_TRUE(offering->available);
        CU_ASSERT_PTR_NULL(offering->allocatable);
    }
    return out.size > 0 ? text_builder_text(&out) : TEXT("");
}

static void test_builtin_offerings(void)
{
    builtin();
    ASSERT_TEXT(offerings_text("m5.large", "eu-west-1b eu-west-1a"),
                "eu-west-1a/on-demand/96000 eu-west-1a/spot/96000 eu-west-1b/on-demand/96000 "
                "eu-west-1b/spot/96000");
    ASSERT_TEXT(offerings_text("trn2.48xlarge", "z"), "z/on-demand/-1 z/spot/-1");
    ASSERT_TEXT(offerings_text("m5.large", ""),
                "us-east-1a/on-demand/96000 us-east-1a/spot/96000 us-east-1b/on-demand/96000 "
                "us-east-1b/spot/96000 us-east-1c/on-demand/96000 us-east-1c/spot/96000");
}

static void test_user_offerings(void)
{
    static const struct {
        const char *type, *zones, *offerings;
    } cases[] = {
        /* Available: false is not believed, as in Karpenter's provider. */
        {"plain", "x", "a/spot/500000 b/on-demand/-1"},
        {"lists", "x", "a/on-demand/1 a/spot/1 b/on-demand/1 b/spot/1"},
        {"anywhere", "y x", "x/on-demand/20000 y/on-demand/20000"},
        {"anywhere", "", "/on-demand/20000"},
        {"elsewhere", "c b a", "a/on-demand/-1 c/on-demand/-1"},
        {"more", "x",
         "a/on-demand/-1[example.com/rack In r1 r2;] "
         "a/on-demand/-1[example.com/rack NotIn r2;example.com/slot NotIn 7;example.com/slot Gte "
         "6;] "
         "a/on-demand/-1[example.com/rack Exists;example.com/slot Lte 8;example.com/old "
         "DoesNotExist;]"},
        {"unsold", "x", ""},
    };
    user("[" MACHINE(
        "plain", PLAIN, OFFER("\"Price\": 0.5, \"Available\": false, ", CAPACITY("\"spot\"") "," ZONE("In", "\"a\"")) "," OFFER("", CAPACITY("\"on-demand\"") "," ZONE("In", "\"b\""))) "," MACHINE("lists", PLAIN, OFFER("\"Price\": 0.000001, ", CAPACITY("\"spot\", \"on-demand\"") "," ZONE("In", "\"a\", \"b\""))) "," MACHINE("anywhere",
                                                                                                                                                                                                                                                                                                                                    PLAIN, OFFER("\"Price\": 0.02, ", "")) "," MACHINE("elsewhere",
                                                                                                                                                                                                                                                                                                                                                                                       PLAIN,
                                                                                                                                                                                                                                                                                                                                                                                       OFFER(
                                                                                                                                                                                                                                                                                                                                                                                           "",
                                                                                                                                                                                                                                                                                                                                                                                           ZONE("NotIn",
                                                                                                                                                                                                                                                                                                                                                                                                "\"b\""))) "," MACHINE("more",
                                                                                                                                                                                                                                                                                                                                                                                                                       PLAIN,
                                                                                                                                                                                                                                                                                                                                                                                                                       OFFER(
                                                                                                                                                                                                                                                                                                                                                                                                                           "", ZONE("In", "\"a\"") "," WHERE(
                                                                                                                                                                                                                                                                                                                                                                                                                                   "example.com/rack",
                                                                                                                                                                                                                                                                                                                                                                                                                                   "In", "\"r1\", \"r2\"")) "," OFFER("",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                      ZONE(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "In", "\"a\"") "," WHERE("example.com/rack",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   "NotIn", "\"r2\"") "," WHERE("example.com/slot", "Gt", "\"5\"") "," WHERE("example.com/slot",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "NotIn", "\"7\"")) "," OFFER("",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          ZONE(
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "In",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              "\"a\"") "," WHERE("example.com/rack", "Exists", "") "," WHERE("example.com/slot", "Lt", "\"9\"") "," WHERE("example.com/old",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          "DoesNotExist", ""))) "," MACHINE("unsold",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            PLAIN,
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            "") "]");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_TEXT(offerings_text(cases[i].type, cases[i].zones), cases[i].offerings);
    CU_ASSERT_TRUE(catalog_has_key(catalog, TEXT("example.com/rack")));
    CU_ASSERT_FALSE(catalog_has_key(catalog, TEXT("example.com/old"))); /* no machine carries it */
    ASSERT_INT(catalog_attach_limit(catalog, index_of("plain")), 0);
    user("[" MACHINE("m5.large", PLAIN, "") "]");
    ASSERT_INT(catalog_attach_limit(catalog, index_of("m5.large")), 26);
}

static struct solver_instance_type solver_type_of(const char *name, const char *zones,
                                                  struct solver_builder *builder)
{
    struct zones read = zones_of(zones);
    struct solver_instance_type type;
    CU_ASSERT_TRUE_FATAL(
        catalog_solver_type(catalog, index_of(name), &read, NULL, builder, arena, &type));
    return type;
}

static int64_t quantity(struct solver_amounts amounts, uint32_t resource)
{
    for (size_t i = 0; i < amounts.count; i++)
        if (amounts.items[i].resource == resource)
            return amounts.items[i].quantity;
    return 0;
}

static void test_whole_type(void)
{
    builtin();
    struct solver_builder *builder = solver_builder_create(arena);
    struct solver_instance_type type =
        solver_type_of("g4dn.12xlarge", "eu-west-1b eu-west-1a", builder);
    uint32_t gpu = solver_builder_resource(builder, "nvidia.com/gpu");
    CU_ASSERT_STRING_EQUAL(type.name, "g4dn.12xlarge");
    ASSERT_INT(quantity(type.capacity, SOLVER_CPU), 48000);
    ASSERT_INT(quantity(type.allocatable, SOLVER_CPU), 47810);
    ASSERT_INT(quantity(type.allocatable, SOLVER_MEMORY) >> 20, 178933);
    ASSERT_INT(quantity(type.allocatable, SOLVER_PODS), 234);
    ASSERT_INT(quantity(type.allocatable, gpu), 4);
    ASSERT_INT(type.offering_count, 4);
    ASSERT_INT(type.attach_limit_count, 1);
    CU_ASSERT_STRING_EQUAL(type.attach_limits->driver, "ebs.csi.aws.com");
    struct text_builder out = {.arena = arena};
    add_expressions(&out, type.requirements);
    struct text requirements = text_builder_text(&out);
    static const char *const parts[] = {
        "node.kubernetes.io/instance-type In g4dn.12xlarge;",
        "karpenter.k8s.aws/instance-gpu-name In t4;",
        "karpenter.k8s.aws/instance-accelerator-name DoesNotExist;",
        "kubernetes.io/os In linux;",
        "node.kubernetes.io/windows-build DoesNotExist;",
        "topology.kubernetes.io/zone In eu-west-1a eu-west-1b;",
        "topology.kubernetes.io/region In eu-west-1;",
        "karpenter.sh/capacity-type In on-demand spot;",
        "karpenter.k8s.aws/capacity-reservation-id DoesNotExist;",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(requirements.data, parts[i]) == NULL) {
            fprintf(stderr, "no \"%s\" in %s\n", parts[i], requirements.data);
            CU_FAIL("a requirement");
        }
    struct zones none = {0};
    CU_ASSERT_FALSE(catalog_solver_type(catalog, index_of("c7g-flex.large"), &none, NULL, builder,
                                        arena, &type));
    CU_ASSERT_FALSE(
        catalog_solver_type(catalog, index_of("mac1.metal"), &none, NULL, builder, arena, &type));
}

/* "id/kind/interruptible/price" of the reserved offerings. */
static struct text reserved_text(const char *name, const struct class_settings *settings)
{
    struct zones zones = zones_of("eu-west-1a");
    struct solver_instance_type type;
    struct text_builder out = {.arena = arena};
    CU_ASSERT_TRUE_FATAL(catalog_solver_type(catalog, index_of(name), &zones, settings,
                                             solver_builder_create(arena), arena, &type));
    for (size_t i = 0; i < type.offering_count; i++) {
        const struct solver_offering *offering = &type.offerings[i];
        if (strcmp(offering->capacity_type, "reserved") != 0)
            continue;
        CU_ASSERT_EQUAL_FATAL(offering->more.count, 3);
        for (size_t j = 0; j < 3; j++)
            text_builder_printf(&out, "%s/", offering->more.items[j].values[0]);
        text_builder_printf(&out, "%lld ", (long long)offering->list_price_usd_micro);
    }
    return out.size > 0 ? text_builder_text(&out) : TEXT("");
}

/* Of the reservations of a class a type has its own; without a list price they count as nothing. */
static void test_reserved(void)
{
    static const struct class_reservation reservations[] = {
        {"cr-1", "eu-west-1a", "m5.large", "default", false},
        {"cr-2", "eu-west-1a", "m5.large", "capacity-block", true},
        {"cr-3", "eu-west-1a", "trn2.48xlarge", "capacity-block", false},
    };
    struct class_settings settings = auto_mode_settings;
    settings.reservations = reservations;
    settings.reservation_count = COUNT_OF(reservations);
    builtin();
    ASSERT_TEXT(reserved_text("m5.large", &settings),
                "cr-1/default/false/96000 cr-2/capacity-block/true/96000 ");
    ASSERT_TEXT(reserved_text("trn2.48xlarge", &settings), "cr-3/capacity-block/false/0 ");
    ASSERT_TEXT(reserved_text("c5.large", &settings), "");
}

static void test_regions(void)
{
    static const struct {
        const char *zones, *region; /* NULL: none */
    } cases[] = {
        {"us-gov-west-1a", "region In us-gov-west-1;"},
        {"us-west-2a us-west-2-lax-1a", "region In us-west-2;"},
        {"us-east-1-wl1-bos-wlz-1", "region In us-east-1;"},
        {"eu-west-1a us-east-2b eu-west-1b", "region In eu-west-1 us-east-2;"},
        {"", "region In us-east-1;"},
        {"test-zone-a", NULL},
        {"eu-west-1a zone1", NULL},
        {"eu-west-1", NULL},
    };
    builtin();
    struct solver_builder *builder = solver_builder_create(arena);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct solver_instance_type type = solver_type_of("m5.large", cases[i].zones, builder);
        struct text_builder out = {.arena = arena};
        add_expressions(&out, type.requirements);
        const char *found = strstr(text_builder_text(&out).data, "region In");
        size_t size = found == NULL ? 0 : strcspn(found, ";") + 1;
        ASSERT_TEXT(((struct text){found, size}), cases[i].region);
    }
}

/* What a type is told to the solver, read back, is what the catalogue holds. */
static void test_requirements_survive(void)
{
    builtin();
    struct solver_builder *builder = solver_builder_create(arena);
    struct solver_names *names = solver_names_create(arena, catalog_names(catalog));
    struct zones zones = zones_of("eu-west-1a");
    size_t types = 0, lost = 0, changed = 0;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        struct solver_instance_type type;
        if (!catalog_solver_type(catalog, i, &zones, &assumed_settings, builder, arena, &type))
            continue;
        types++;
        struct solver_requirements read = {0};
        for (size_t j = 0; j < type.requirements.count; j++) {
            const struct solver_expression *written = &type.requirements.items[j];
            uint32_t key = solver_names_key(names, written->key, strlen(written->key)), values[8];
            CU_ASSERT_FATAL(written->value_count <= sizeof values / sizeof *values);
            for (size_t k = 0; k < written->value_count; k++)
                values[k] =
                    solver_names_value(names, key, written->values[k], strlen(written->values[k]));
            solver_requirements_add(names, &read,
                                    solver_requirement_make(names, key, written->op, values,
                                                            written->value_count, 0, arena),
                                    arena);
        }
        const struct solver_requirements *held = &catalog_type(catalog, i)->requirements;
        for (size_t j = 0; j < held->count; j++) {
            const struct solver_requirement *found =
                solver_requirements_get(&read, held->items[j].key);
            lost += found == NULL;
            changed += found != NULL && !solver_requirement_equal(found, &held->items[j]);
        }
    }
    ASSERT_INT(types, 1432 - 49);
    ASSERT_INT(lost, 0);
    ASSERT_INT(changed, 0);
}

const char unit_suite[] = "kube_catalog_offerings";
const struct unit_test unit_tests[] = {
    {"published figures", test_published_allocatable},
    {"capacity", test_capacity},
    {"attach limits", test_attach_limits},
    {"a user's amounts", test_user_amounts},
    {"built-in offerings", test_builtin_offerings},
    {"a user's offerings", test_user_offerings},
    {"a whole type", test_whole_type},
    {"reserved machines", test_reserved},
    {"regions", test_regions},
    {"requirements survive", test_requirements_survive},
    {NULL, NULL},
};
