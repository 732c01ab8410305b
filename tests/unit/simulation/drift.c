/* Which NodeClaims an edit makes drift. */
#include "simulation/drift.h"

#include "cluster_fixture.h"
#include "object_fixture.h"

const char unit_suite[] = "simulation drift";

enum { MOST_CLAIMS = 8, BUDGET_BYTES = 64 << 20 };

/* The hashes of POOL() without more, and of CLASS() without more in a cluster without a CA bundle.
 */
#define POOL_HASH "6821555240594823858"
#define OF_POOL \
    "karpenter.sh/nodepool-hash: \"" POOL_HASH "\", karpenter.sh/nodepool-hash-version: v3"
#define OF_OLD_POOL "karpenter.sh/nodepool-hash: \"1\", karpenter.sh/nodepool-hash-version: v3"
#define OF_V2_POOL "karpenter.sh/nodepool-hash: \"77\", karpenter.sh/nodepool-hash-version: v2"

#define REFERENCE "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}"
#define POOL_NAMED(name, annotations, metadata, spec)                                       \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name                  \
    ", annotations: {" annotations "}}, spec: {template: {metadata: {" metadata "}, spec: " \
    "{" REFERENCE spec "}}}}"
#define POOL(metadata, spec) POOL_NAMED("general", OF_POOL, metadata, spec)
#define IN(key, values) "{key: " key ", operator: In, values: " values "}"
#define REQUIRES(expressions) ", requirements: [" expressions "]"

#define CLAIM_OF(pool, name, annotations, labels, more)                     \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: " name \
    ", annotations: {" annotations "}, labels: {karpenter.sh/nodepool: " pool labels "}}" more "}"
#define CLAIM(name, annotations, labels, more) CLAIM_OF("general", name, annotations, labels, more)
#define DRIFTED(reason) \
    ", status: {conditions: [{type: Drifted, status: \"True\", reason: " reason "}]}"
#define SPOT ", karpenter.sh/capacity-type: spot"

struct drift_case {
    const char *name, *before, *after;
    const char *cluster[MOST_CLAIMS];
    /* "NAME VERDICT REASON PATH", then "| " and the paths, and "by fields" */
    const char *expected;
};

static struct text words_of(const struct drift *drift, struct arena *arena)
{
    static const char *const verdicts[] = {"none", "newly", "already", "undone", "unknown"};
    struct text_builder words = {.arena = arena};
    size_t counts[DRIFT_VERDICTS] = {0};
    FOR_EACH(claim, &drift->claims) {
        counts[claim->verdict]++;
        text_builder_printf(&words, "%.*s %s", TEXT_ARGS(claim->claim->name),
                            verdicts[claim->verdict]);
        if (claim->reason.size > 0)
            text_builder_printf(&words, " %.*s", TEXT_ARGS(claim->reason));
        if (claim->path.size > 0)
            text_builder_printf(&words, " %.*s", TEXT_ARGS(claim->path));
        text_builder_printf(&words, "; ");
    }
    for (size_t i = 0; i < DRIFT_VERDICTS; i++)
        ASSERT_INT(drift->counts[i], counts[i]);
    struct text paths =
        texts_join(drift->paths.items, drift->paths.count, drift->paths.count, arena);
    text_builder_printf(&words, "| %.*s%s", TEXT_ARGS(paths), drift->by_fields ? " by fields" : "");
    return text_builder_text(&words);
}

static void run(const struct drift_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct drift_case *test = &cases[i];
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        size_t documents = 0;
        while (documents < MOST_CLAIMS && test->cluster[documents] != NULL)
            documents++;
        const struct snapshot *snapshot = fixture_snapshot(&fixture, test->cluster, documents);
        struct drift drift;
        struct text words = TEXT("no nodes");
        if (drift_of_edit(snapshot, fixture_object(fixture.arena, test->before, ""),
                          fixture_object(fixture.arena, test->after, ""), fixture.arena, &drift))
            words = words_of(&drift, fixture.arena);
        if (!text_is(words, test->expected))
            fprintf(stderr, "in \"%s\":\n", test->name);
        ASSERT_TEXT(words, test->expected);
        arena_destroy(fixture.arena);
    }
}

#define OF_NO_TAINTS                                         \
    "karpenter.sh/nodepool-hash: \"17700736223175069915\", " \
    "karpenter.sh/nodepool-hash-version: v3"
#define LABELS "labels: {team: data}"
#define LABELS_PATH "spec.template.metadata.labels"

static void the_hash_of_a_pool(void)
{
    static const struct drift_case cases[] = {
        {"a label",
         POOL("", ""),
         POOL(LABELS, ""),
         {CLAIM("a", OF_POOL, "", ""), CLAIM("b", OF_OLD_POOL, "", "")},
         "a newly NodePoolDrifted " LABELS_PATH "; b already NodePoolDrifted; | " LABELS_PATH},
        {"nothing",
         POOL("", ""),
         POOL("", ", expireAfter: 43200m"),
         {CLAIM("a", OF_POOL, "", ""), CLAIM("b", OF_OLD_POOL, "", DRIFTED("NodePoolDrifted"))},
         "a none; b already NodePoolDrifted; | "},
        {"back again",
         POOL_NAMED("general",
                    "karpenter.sh/nodepool-hash: \"2957325844761436115\", "
                    "karpenter.sh/nodepool-hash-version: v3",
                    "labels: {team: \"\"}", ""),
         POOL("", ""),
         {CLAIM("a", OF_POOL, "", DRIFTED("NodePoolDrifted")), CLAIM("b", OF_POOL, "", ""),
          CLAIM("c", OF_POOL, "", DRIFTED("AMIDrift"))},
         "a undone NodePoolDrifted; b undone NodePoolDrifted; c already AMIDrift; | " LABELS_PATH},
        {"others are left alone",
         POOL("", ""),
         POOL(LABELS, ""),
         {CLAIM_OF("other", "a", OF_POOL, "", ""), CLAIM("b", "", "", ""),
          CLAIM("c", OF_V2_POOL, "", ""),
          "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: d, deletionTimestamp: "
          "\"2026-01-01T00:00:00Z\", annotations: {" OF_POOL "}, labels: {karpenter.sh/nodepool: "
          "general}}}",
          "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: e, annotations: "
          "{" OF_POOL "}}}"},
         "b none; c none; | " LABELS_PATH},
        {"two equal taints have the hash of none",
         POOL_NAMED("general", OF_NO_TAINTS, "", ", taints: []"),
         POOL("", ", taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}]"),
         {CLAIM("a", OF_NO_TAINTS, "", "")},
         "a none; | "},
        {"without Karpenter's annotations",
         POOL_NAMED("general", "", "", ""),
         POOL_NAMED("general", "", LABELS, ""),
         {CLAIM("a", OF_POOL, "", ""), CLAIM("b", OF_OLD_POOL, "", "")},
         "a newly NodePoolDrifted " LABELS_PATH "; b already NodePoolDrifted; | " LABELS_PATH},
        {"made anew",
         NULL,
         POOL("", ""),
         {CLAIM("a", OF_POOL, "", ""), CLAIM("b", OF_OLD_POOL, "", "")},
         "a none; b newly NodePoolDrifted; | "},
        {"an old version",
         NULL,
         "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: general}}",
         {CLAIM("a", OF_POOL, "", "")},
         "no nodes"},
    };
    run(cases, COUNT_OF(cases));
}

#define OF_V4_POOL "karpenter.sh/nodepool-hash: \"77\", karpenter.sh/nodepool-hash-version: v4"
#define OUR_V4_POOL \
    "karpenter.sh/nodepool-hash: \"" POOL_HASH "\", karpenter.sh/nodepool-hash-version: v4"
#define OF_OLD_V4_POOL "karpenter.sh/nodepool-hash: \"1\", karpenter.sh/nodepool-hash-version: v4"

static void fields_where_hashes_are_not_ours(void)
{
    static const struct drift_case cases[] = {
        {"another version",
         POOL_NAMED("general", OF_V4_POOL, "", ""),
         POOL_NAMED("general", OF_V4_POOL, LABELS, ""),
         {CLAIM("a", OF_V4_POOL, "", ""), CLAIM("b", OF_OLD_V4_POOL, "", ""),
          CLAIM("c", OF_POOL, "", "")},
         "a newly NodePoolDrifted " LABELS_PATH
         "; b already NodePoolDrifted; c none; | " LABELS_PATH " by fields"},
        {"another version, nothing changes",
         POOL_NAMED("general", OF_V4_POOL, "", ""),
         POOL_NAMED("general", OF_V4_POOL, "", ", expireAfter: 720h"),
         {CLAIM("a", OF_V4_POOL, "", ""), CLAIM("b", OF_OLD_V4_POOL, "", "")},
         "a none; b already NodePoolDrifted; |  by fields"},
        {"the annotation is not the hash",
         POOL_NAMED("general", OF_OLD_POOL, "", ""),
         POOL_NAMED("general", OF_OLD_POOL, LABELS, ""),
         {CLAIM("a", OF_OLD_POOL, "", ""), CLAIM("b", OF_POOL, "", "")},
         "a newly NodePoolDrifted " LABELS_PATH "; b already NodePoolDrifted; | " LABELS_PATH
         " by fields"},
        {"another version, with the hash that ours would have",
         POOL_NAMED("general", OUR_V4_POOL, "", ""),
         POOL_NAMED("general", OUR_V4_POOL, LABELS, ""),
         {CLAIM("a", OUR_V4_POOL, "", "")},
         "a newly NodePoolDrifted " LABELS_PATH "; | " LABELS_PATH " by fields"},
        {"neither an annotation nor a hash",
         POOL_NAMED("general", "", "", ", terminationGracePeriod: soon"),
         POOL_NAMED("general", "", "", ""),
         {CLAIM("a", OF_POOL, "", ""), CLAIM("b", OF_POOL, "", DRIFTED("NodePoolDrifted"))},
         "a newly NodePoolDrifted spec.template.spec.terminationGracePeriod; b already "
         "NodePoolDrifted; | spec.template.spec.terminationGracePeriod by fields"},
        {"a value without a hash",
         POOL("", ""),
         POOL("", ", terminationGracePeriod: soon"),
         {CLAIM("a", OF_POOL, "", "")},
         "a newly NodePoolDrifted spec.template.spec.terminationGracePeriod; | "
         "spec.template.spec.terminationGracePeriod by fields"},
    };
    run(cases, COUNT_OF(cases));
}

#define CAPACITY(values) IN("karpenter.sh/capacity-type", values)
#define ZONE_KEY "topology.kubernetes.io/zone"
#define FIRST "spec.template.spec.requirements[0]"

static void requirements_of_a_pool(void)
{
    static const struct drift_case cases[] = {
        {"a value goes",
         POOL("", REQUIRES(CAPACITY("[spot, on-demand]"))),
         POOL("", REQUIRES(IN("a", "[b]") ", " CAPACITY("[on-demand]"))),
         {CLAIM("a", OF_POOL, SPOT ", a: b", ""),
          CLAIM("b", OF_POOL, ", karpenter.sh/capacity-type: on-demand, a: b", "")},
         "a newly RequirementsDrifted spec.template.spec.requirements[1]; b none; | "
         "spec.template.spec.requirements[1]"},
        {"a value comes",
         POOL("", REQUIRES(CAPACITY("[spot]"))),
         POOL("", REQUIRES(CAPACITY("[spot, on-demand]"))),
         {CLAIM("a", OF_POOL, SPOT, "")},
         "a none; | "},
        {"a key that the NodeClaim lacks",
         POOL("", ""),
         POOL("", REQUIRES("{key: a, operator: Exists}")),
         {CLAIM("a", OF_POOL, SPOT, "")},
         "a newly RequirementsDrifted " FIRST "; | " FIRST},
        {"NotIn and DoesNotExist of a key that it lacks",
         POOL("", ""),
         POOL("", REQUIRES("{key: a, operator: NotIn, values: [b]}, {key: c, operator: "
                           "DoesNotExist}")),
         {CLAIM("a", OF_POOL, "", ""), CLAIM("b", OF_POOL, ", a: b", ""),
          CLAIM("c", OF_POOL, ", c: d", "")},
         "a none; b newly RequirementsDrifted " FIRST
         "; c newly RequirementsDrifted spec.template.spec.requirements[1]; | " FIRST
         ", spec.template.spec.requirements[1]"},
        {"a bound",
         POOL("", ""),
         POOL("", REQUIRES("{key: size, operator: Gt, values: [\"4\"], minValues: 2}")),
         {CLAIM("a", OF_POOL, ", size: \"4\"", ""), CLAIM("b", OF_POOL, ", size: \"5\"", ""),
          CLAIM("c", OF_POOL, ", size: many", "")},
         "a newly RequirementsDrifted " FIRST "; b none; c newly RequirementsDrifted " FIRST
         "; | " FIRST},
        {"old spellings",
         POOL("", ""),
         POOL("", REQUIRES(IN("failure-domain.beta.kubernetes.io/zone", "[a]"))),
         {CLAIM("a", OF_POOL, ", " ZONE_KEY ": a", ""),
          CLAIM("b", OF_POOL, ", " ZONE_KEY ": b", ""),
          CLAIM("c", OF_POOL, ", failure-domain.beta.kubernetes.io/zone: a", ""),
          CLAIM("d", OF_POOL, ", failure-domain.beta.kubernetes.io/zone: a, team: x", "")},
         "a none; b newly RequirementsDrifted " FIRST "; c none; d none; | " FIRST},
        {"a requirement goes",
         POOL("", REQUIRES(CAPACITY("[on-demand]"))),
         POOL("", ""),
         {CLAIM("a", OF_POOL, SPOT, DRIFTED("RequirementsDrifted")), CLAIM("b", OF_POOL, SPOT, "")},
         "a undone RequirementsDrifted; b undone RequirementsDrifted; | "},
        {"the hash comes first",
         POOL("", ""),
         POOL(LABELS, REQUIRES(CAPACITY("[on-demand]"))),
         {CLAIM("a", OF_POOL, SPOT, "")},
         "a newly NodePoolDrifted " LABELS_PATH "; | " LABELS_PATH},
    };
    run(cases, COUNT_OF(cases));
}

#define CLASS_OF(name, hash, spec)                                                  \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: " name \
    ", annotations: {karpenter.k8s.aws/ec2nodeclass-hash: \"" hash                  \
    "\", karpenter.k8s.aws/ec2nodeclass-hash-version: v6}}, spec: {" spec "}}"
/* As in docs/reference/karpenter.md 6.9, with the CA bundle "LS0tCA==". */
#define TYPICAL                                                                             \
    "role: KarpenterNodeRole-demo, tags: {team: data}, blockDeviceMappings: [{deviceName: " \
    "/dev/xvda, ebs: {volumeSize: 100Gi, volumeType: gp3, encrypted: true}}]"
#define CLASS_HASH "15567499828976506629"
#define AL2023 ", amiSelectorTerms: [{alias: al2023@v1}]"
#define CLASS(spec) CLASS_OF("default", CLASS_HASH, spec)
#define OF_CLASS                                                \
    "karpenter.k8s.aws/ec2nodeclass-hash: \"" CLASS_HASH "\", " \
    "karpenter.k8s.aws/ec2nodeclass-hash-version: v6"
#define OF_OLD_CLASS                               \
    "karpenter.k8s.aws/ec2nodeclass-hash: \"1\", " \
    "karpenter.k8s.aws/ec2nodeclass-hash-version: v6"
#define CHOOSING(terms) ", capacityReservationSelectorTerms: [" terms "]"
#define IN_RESERVATION(id) ", karpenter.k8s.aws/capacity-reservation-id: " id
#define IMAGE(id) ", status: {imageID: " id "}"

static void an_ec2_node_class(void)
{
    static const struct drift_case cases[] = {
        {"a tag",
         CLASS(TYPICAL AL2023),
         CLASS("role: r, "
               "tags: {a: b}" AL2023),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", ""), CLAIM("b", OF_OLD_CLASS, "", ""),
          CLAIM_OF("other", "c", OF_CLASS, "", "")},
         "a newly NodeClassDrift spec.role; b already NodeClassDrift; | spec.role, spec.tags, "
         "spec.blockDeviceMappings"},
        {"the same in other words",
         CLASS(TYPICAL AL2023),
         CLASS("amiFamily: AL2023, metadataOptions: {httpTokens: required}, " TYPICAL AL2023),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", ""), CLAIM("b", OF_OLD_CLASS, "", "")},
         "a none; b already NodeClassDrift; | "},
        {"to what a node has already",
         CLASS_OF("default", "856389693220403652", TYPICAL AL2023),
         CLASS_OF("default", "856389693220403652", TYPICAL AL2023 ", context: x"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", DRIFTED("NodeClassDrift"))},
         "a already NodeClassDrift; | spec.context"},
        {"drifted for what the hash no longer says, and for what the class does not change",
         CLASS(TYPICAL AL2023),
         CLASS("amiFamily: AL2023, " TYPICAL AL2023),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", DRIFTED("NodeClassDrift")),
          CLAIM("b", OF_CLASS, "", DRIFTED("SubnetDrift")),
          CLAIM("c", OF_CLASS, "", DRIFTED("CloudMood"))},
         "a undone NodeClassDrift; b already SubnetDrift; c already CloudMood; | "},
        {"made anew",
         NULL,
         CLASS(TYPICAL AL2023),
         {POOL("", ""), CLASS_OF("other", CLASS_HASH, TYPICAL AL2023),
          CLAIM("a", OF_CLASS, "", "")},
         "a unknown AMIDrift spec.amiSelectorTerms; | spec.amiSelectorTerms"},
        {"an old version",
         NULL,
         "{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, metadata: {name: default}}",
         {CLAIM("a", OF_CLASS, "", "")},
         "no nodes"},
        {"a class of another cloud is made anew",
         NULL,
         "{apiVersion: karpenter.azure.com/v1beta1, kind: AKSNodeClass, metadata: {name: default}}",
         {CLAIM("a", "", "",
                ", spec: {nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: "
                "default}}")},
         "a unknown spec; | spec"},
        {"what is no hash of another class says nothing",
         CLASS(TYPICAL AL2023),
         CLASS(TYPICAL AL2023 ", context: x"),
         {POOL("", ""), CLASS_OF("b", "none", TYPICAL),
          CLASS_OF("c", "18446744073709551616", TYPICAL),
          "{apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, metadata: {name: f}}",
          CLASS_OF("d", "36893488147419103232", TYPICAL),
          CLASS_OF("e", "5", "blockDeviceMappings: [{ebs: {volumeSize: [1]}}]"),
          CLAIM("a", OF_CLASS, "", "")},
         "a newly NodeClassDrift spec.context; | spec.context"},
        {"images: from the latest, whichever that was",
         CLASS(TYPICAL ", amiSelectorTerms: [{alias: al2023@latest}]"),
         CLASS(TYPICAL AL2023),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", IMAGE("ami-1"))},
         "a unknown AMIDrift spec.amiSelectorTerms; | spec.amiSelectorTerms"},
        {"images: by tags",
         CLASS(TYPICAL ", amiFamily: AL2023" AL2023),
         CLASS(TYPICAL ", amiFamily: AL2023, amiSelectorTerms: [{tags: {a: b}}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", IMAGE("ami-1"))},
         "a unknown AMIDrift spec.amiSelectorTerms; | spec.amiSelectorTerms"},
        {"images: the same version, and others",
         CLASS(TYPICAL AL2023),
         CLASS(TYPICAL ", amiSelectorTerms: [{alias: al2023@v1}, {id: ami-2}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", IMAGE("ami-1"))},
         "a unknown AMIDrift spec.amiSelectorTerms; | spec.amiSelectorTerms"},
        {"a reservation goes",
         CLASS(TYPICAL AL2023 CHOOSING("{id: cr-1}, {id: cr-2}")),
         CLASS(TYPICAL AL2023 CHOOSING("{id: cr-1}")),
         {POOL("", ""), CLAIM("a", OF_CLASS, IN_RESERVATION("cr-1"), ""),
          CLAIM("b", OF_CLASS, IN_RESERVATION("cr-2"), ""), CLAIM("c", OF_CLASS, "", "")},
         "a none; b newly CapacityReservationDrift spec.capacityReservationSelectorTerms; c none; "
         "| "
         "spec.capacityReservationSelectorTerms"},
        {"all of them go",
         CLASS(TYPICAL AL2023 CHOOSING("{id: cr-1}")),
         CLASS(TYPICAL AL2023),
         {POOL("", ""), CLAIM("a", OF_CLASS, IN_RESERVATION("cr-1"), "")},
         "a newly CapacityReservationDrift spec.capacityReservationSelectorTerms; | "
         "spec.capacityReservationSelectorTerms"},
        {"the NodePool is not seen",
         CLASS(TYPICAL AL2023),
         CLASS(TYPICAL AL2023 ", context: x"),
         {CLAIM("a", OF_CLASS, "", ", spec: {" REFERENCE "}"),
          CLAIM("b", OF_CLASS, "",
                ", spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: x}}")},
         "a newly NodeClassDrift spec.context; | spec.context"},
        {"classes that disagree",
         CLASS(TYPICAL AL2023),
         CLASS(TYPICAL AL2023 ", context: x"),
         {POOL("", ""), CLASS_OF("other", "5", TYPICAL), CLAIM("a", OF_CLASS, "", ""),
          CLAIM("b", OF_OLD_CLASS, "", "")},
         "a newly NodeClassDrift spec.context; b already NodeClassDrift; | spec.context by fields"},
        {"classes that agree",
         CLASS(TYPICAL AL2023),
         CLASS(TYPICAL AL2023 ", context: x"),
         {POOL("", ""), CLASS_OF("other", CLASS_HASH, TYPICAL AL2023),
          CLAIM("a", OF_CLASS, "", "")},
         "a newly NodeClassDrift spec.context; | spec.context"},
        {"a class from a file, and another one in the cluster",
         "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: default}, spec: "
         "{" TYPICAL AL2023 "}}",
         CLASS(TYPICAL AL2023 ", context: x"),
         {POOL("", ""), CLASS_OF("other", CLASS_HASH, TYPICAL AL2023), CLAIM("a", OF_CLASS, "", ""),
          CLAIM("b", OF_OLD_CLASS, "", "")},
         "a newly NodeClassDrift spec.context; b already NodeClassDrift; | spec.context"},
    };
    run(cases, COUNT_OF(cases));
}

#define IMAGES(terms) CLASS(TYPICAL ", amiFamily: AL2023, amiSelectorTerms: " terms)
#define RESERVATIONS(terms) CLASS(TYPICAL AL2023 ", capacityReservationSelectorTerms: " terms)
#define RESERVED ", karpenter.k8s.aws/capacity-reservation-id: cr-1"
#define IMAGES_PATH "spec.amiSelectorTerms"

static void what_a_class_selects(void)
{
    static const struct drift_case cases[] = {
        {"another pinned image",
         IMAGES("[{alias: al2023@v1}]"),
         IMAGES("[{alias: al2023@v2}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", "")},
         "a newly AMIDrift " IMAGES_PATH "; | " IMAGES_PATH},
        {"the same pinned image, written otherwise",
         IMAGES("[{alias: bottlerocket@1.20.4}]"),
         IMAGES("[{alias: bottlerocket@v1.20.4}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", "")},
         "a none; | "},
        {"from an id to a version",
         IMAGES("[{id: ami-1}]"),
         IMAGES("[{alias: al2023@v1}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", "")},
         "a unknown AMIDrift " IMAGES_PATH "; | " IMAGES_PATH},
        {"the latest image",
         IMAGES("[{alias: al2023@v1}]"),
         IMAGES("[{alias: al2023@latest}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", "")},
         "a unknown AMIDrift " IMAGES_PATH "; | " IMAGES_PATH},
        {"images by id",
         IMAGES("[{id: ami-1}]"),
         IMAGES("[{id: ami-2}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", IMAGE("ami-1")),
          CLAIM("b", OF_CLASS, "", IMAGE("ami-2")), CLAIM("c", OF_CLASS, "", "")},
         "a newly AMIDrift " IMAGES_PATH "; b none; c unknown AMIDrift " IMAGES_PATH
         "; | " IMAGES_PATH},
        {"one more image",
         IMAGES("[{id: ami-1}]"),
         IMAGES("[{id: ami-1}, {id: ami-2}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", IMAGE("ami-1")),
          CLAIM("b", OF_CLASS, "", DRIFTED("AMIDrift"))},
         "a unknown AMIDrift " IMAGES_PATH "; b already AMIDrift " IMAGES_PATH "; | " IMAGES_PATH},
        {"another one of two images",
         IMAGES("[{id: ami-1}, {id: ami-2}]"),
         IMAGES("[{id: ami-3}, {id: ami-2}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", IMAGE("ami-1"))},
         "a newly AMIDrift " IMAGES_PATH "; | " IMAGES_PATH},
        {"subnets and security groups",
         CLASS(TYPICAL AL2023 ", subnetSelectorTerms: [{id: a}], securityGroupSelectorTerms: "
                              "[{id: a}]"),
         CLASS(TYPICAL AL2023 ", subnetSelectorTerms: [{id: b}], securityGroupSelectorTerms: "
                              "[{id: b}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", "")},
         "a unknown SecurityGroupDrift spec.securityGroupSelectorTerms; | "
         "spec.securityGroupSelectorTerms, spec.subnetSelectorTerms"},
        {"made anew, where no hash can be told: Karpenter looks at the hash first",
         NULL,
         CLASS(TYPICAL AL2023),
         {POOL("", ""), CLAIM("a", OF_CLASS, "", "")},
         "a unknown NodeClassDrift; | " IMAGES_PATH " by fields"},
        {"reservations",
         RESERVATIONS("[{id: cr-1}]"),
         RESERVATIONS("[{id: cr-2}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, RESERVED, ""), CLAIM("b", OF_CLASS, "", "")},
         "a newly CapacityReservationDrift spec.capacityReservationSelectorTerms; b none; | "
         "spec.capacityReservationSelectorTerms"},
        {"reservations by tags",
         RESERVATIONS("[{id: cr-1}]"),
         RESERVATIONS("[{tags: {a: b}}]"),
         {POOL("", ""), CLAIM("a", OF_CLASS, RESERVED, "")},
         "a unknown CapacityReservationDrift spec.capacityReservationSelectorTerms; | "
         "spec.capacityReservationSelectorTerms"},
    };
    run(cases, COUNT_OF(cases));
}

#define POOL_WITH(group, kind)                                                        \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: general}, spec: " \
    "{template: {spec: {nodeClassRef: {group: " group ", kind: " kind ", name: default}}}}}"
#define OTHER_CLASS(group, kind, spec) \
    "{apiVersion: " group "/v1, kind: " kind ", metadata: {name: default}, spec: {" spec "}}"
#define KWOK "karpenter.kwok.sh", "KWOKNodeClass"

static void classes_of_others(void)
{
    static const struct drift_case cases[] = {
        {"kwok",
         OTHER_CLASS("karpenter.kwok.sh", "KWOKNodeClass", "a: 1"),
         OTHER_CLASS("karpenter.kwok.sh", "KWOKNodeClass", "a: 2"),
         {POOL_WITH("karpenter.kwok.sh", "KWOKNodeClass"), CLAIM("a", OF_POOL, "", ""),
          CLAIM("b", OF_POOL, "", DRIFTED("NodePoolDrifted"))},
         "a none; b already NodePoolDrifted; | "},
        {"another provider",
         OTHER_CLASS("karpenter.azure.com", "AKSNodeClass", "a: 1"),
         OTHER_CLASS("karpenter.azure.com", "AKSNodeClass", "a: 2"),
         {POOL_WITH("karpenter.azure.com", "AKSNodeClass"), CLAIM("a", OF_POOL, "", "")},
         "a unknown spec; | spec"},
        {"another provider, nothing changes",
         OTHER_CLASS("karpenter.azure.com", "AKSNodeClass", "a: 1"),
         OTHER_CLASS("karpenter.azure.com", "AKSNodeClass", "a: 1"),
         {POOL_WITH("karpenter.azure.com", "AKSNodeClass"), CLAIM("a", OF_POOL, "", "")},
         "a none; | "},
        {"no class",
         NULL,
         "{apiVersion: v1, kind: Node, metadata: {name: a}}",
         {CLAIM("a", OF_POOL, "", "")},
         "no nodes"},
    };
    run(cases, COUNT_OF(cases));
}

const struct unit_test unit_tests[] = {
    {"the hash of a pool", the_hash_of_a_pool},
    {"fields where hashes are not ours", fields_where_hashes_are_not_ours},
    {"requirements of a pool", requirements_of_a_pool},
    {"an EC2NodeClass", an_ec2_node_class},
    {"what a class selects", what_a_class_selects},
    {"classes of others", classes_of_others},
    {NULL, NULL},
};
