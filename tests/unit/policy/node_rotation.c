/* The rail node-rotation: how old nodes may grow, and which images they are made from. */
#include "rail_modes.h"

#define POOL(disruption, spec)                                                              \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {" disruption \
    "template: {spec: {" spec "}}}}"
#define OLD_POOL(disruption)                                                                      \
    "{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: a}, spec: {disruption: " \
    "{" disruption "}}}"
#define EXPIRE(value) POOL("", "expireAfter: " value)
#define AT "spec.template.spec.expireAfter "
#define GRACE ", terminationGracePeriod: 24h"

static void nodes_expire_in_time(void)
{
    static const struct rail_case cases[] = {
        {EXPIRE("336h" GRACE), ""},
        {EXPIRE("336h0m1s" GRACE), "deny " AT "336h0m1s"},
        {EXPIRE("20160m" GRACE), ""},
        {EXPIRE("Never" GRACE), "deny " AT "Never"},
        {EXPIRE("never" GRACE), "deny " AT "never"},
        {EXPIRE("2592000" GRACE), "deny " AT "2592000"},
        {EXPIRE("'2592000'" GRACE), "deny " AT "2592000"},
        {EXPIRE("720h | Never" GRACE), "deny " AT "720h | Never"},
        {EXPIRE("30d" GRACE), "deny " AT "30d"},
        {EXPIRE("xd" GRACE), "deny " AT "xd"},
        {EXPIRE("[1]" GRACE), "deny " AT ""},
        {EXPIRE("99999999999999999999h" GRACE), "deny " AT "99999999999999999999h"},
        /* 720h, where nothing is said */
        {POOL("", "a: b" GRACE), "deny " AT ""},
        {EXPIRE("null" GRACE), "deny " AT ""},
        {EXPIRE("24h"), "deny spec.template.spec.terminationGracePeriod "},
        {POOL("", "expireAfter: 336h, terminationGracePeriod: Never"),
         "deny spec.template.spec.terminationGracePeriod Never"},
        {POOL("", "expireAfter: 336h, terminationGracePeriod: null"),
         "deny spec.template.spec.terminationGracePeriod "},
        {POOL("", "expireAfter: 336h, terminationGracePeriod: 0s"), ""},
        /* left at its old place, it counts for nothing */
        {POOL("disruption: {expireAfter: 24h}, ", "a: b" GRACE),
         "deny spec.disruption.expireAfter 24h"},
        {POOL("disruption: {expireAfter: often}, ", "a: b" GRACE),
         "deny spec.disruption.expireAfter often"},
        {POOL("disruption: {expireAfter: 24h}, ", "expireAfter: 400h" GRACE),
         "deny spec.disruption.expireAfter 24h\ndeny " AT "400h"},
        {POOL("disruption: {expireAfter: null}, ", "expireAfter: 24h" GRACE), ""},
        {POOL("disruption: {expireAfter: null}, ", "a: b" GRACE), "deny " AT ""},
        {POOL("disruption: {expireAfter: 24h}, ", "expireAfter: null" GRACE),
         "deny spec.disruption.expireAfter 24h"},
        {POOL("disruption: {expireAfter: Never}, ", "expireAfter: Never" GRACE),
         "deny spec.disruption.expireAfter Never\ndeny " AT "Never"},
        /* each is said */
        {EXPIRE("Never"), "deny " AT "Never\ndeny spec.template.spec.terminationGracePeriod "},
        {EXPIRE("24h, terminationGracePeriod: null"),
         "deny spec.template.spec.terminationGracePeriod "},
        {EXPIRE("24h, terminationGracePeriod: ''"),
         "deny spec.template.spec.terminationGracePeriod "},
        {EXPIRE("24h, terminationGracePeriod: 5m"), ""},
        {OLD_POOL("expireAfter: 24h"), ""},
        {OLD_POOL("expireAfter: 336h1s"), "deny spec.disruption.expireAfter 336h1s"},
        {OLD_POOL("expireAfter: null"), "deny spec.disruption.expireAfter "},
        {OLD_POOL("expireAfter: Never"), "deny spec.disruption.expireAfter Never"},
        {OLD_POOL(""), "deny spec.disruption.expireAfter "},
    };
    rail_table_run(&(struct rail_table){
        "node-rotation: {maxExpireAfter: 336h, requireTerminationGracePeriod: true}", NULL, cases,
        COUNT_OF(cases)});
    static const struct rail_case defaults[] = {
        {POOL("", "a: b"), ""},
        {EXPIRE("720h"), ""},
        {EXPIRE("721h"), "deny " AT "721h"},
        {POOL("", "terminationGracePeriod: 30"),
         "deny spec.template.spec.terminationGracePeriod 30"},
        {POOL("", "terminationGracePeriod: 1h30m"), ""},
        {POOL("", "terminationGracePeriod: null"), ""},
        /* too long for Karpenter: the rail pool-shape finds it */
        {POOL("", "terminationGracePeriod: 99999999999999999999h"), ""},
        {OLD_POOL("a: b"), ""},
    };
    rail_table_run(&(struct rail_table){"node-rotation: {}", NULL, defaults, COUNT_OF(defaults)});
    /* a second less than what nothing said means */
    static const struct rail_case missing[] = {
        {POOL("", "a: b"), "deny " AT ""},
        {OLD_POOL("a: b"), "deny spec.disruption.expireAfter "},
    };
    rail_table_run(&(struct rail_table){"node-rotation: {maxExpireAfter: 719h59m59s}", NULL,
                                        missing, COUNT_OF(missing)});
}

#define CLASS_OF(version, spec)                                                                   \
    "{apiVersion: karpenter.k8s.aws/" version ", kind: EC2NodeClass, metadata: {name: c}, spec: " \
    "{" spec "}}"
#define CLASS(terms) CLASS_OF("v1", "amiSelectorTerms: [" terms "]")
#define ARN_OF(path) "arn:aws:ssm:eu-west-1::parameter/" path
#define TERMS "spec.amiSelectorTerms"

static void images_are_pinned(void)
{
    static const struct rail_case cases[] = {
        {CLASS("{alias: al2023@v20250116}"), ""},
        {CLASS("{alias: al2023@latest}"), "deny " TERMS "[0].alias al2023@latest"},
        {CLASS("{alias: windows2022@latest}"), "deny " TERMS "[0].alias windows2022@latest"},
        {CLASS("{id: ami-0123}, {id: ami-0456}"), ""},
        {CLASS("{id: ami-0123}, {name: 'amazon-eks-node-1.31-*', owner: amazon}"),
         "deny " TERMS "[1].name amazon-eks-node-1.31-*"},
        {CLASS("{name: my-image-7}"), ""},
        /* which AWS lets a name have */
        {CLASS("{name: \"golden image (7) [a] 'b' ./-@_\"}"), ""},
        {CLASS("{name: golden-?}"), "deny " TERMS "[0].name golden-?"},
        {CLASS("{name: '*'}"), "deny " TERMS "[0].name *"},
        {CLASS("{tags: {image: 'golden-*', team: a}}"), "deny " TERMS "[0].tags.image golden-*"},
        {CLASS("{tags: {image: '*', team: '?'}}"),
         "deny " TERMS "[0].tags.image *\ndeny " TERMS "[0].tags.team ?"},
        {CLASS("{tags: {image: [golden-*], team: null}}"), ""},
        {CLASS("{tags: ['*']}"), ""},
        /* each term, and each part of it */
        {CLASS("{alias: al2023@latest}, {alias: al2@latest}"),
         "deny " TERMS "[0].alias al2023@latest\ndeny " TERMS "[1].alias al2@latest"},
        {CLASS("{name: 'a-*', tags: {b: 'c-*'}, ssmParameter: /d/latest}"),
         "deny " TERMS "[0].name a-*\ndeny " TERMS "[0].ssmParameter /d/latest\ndeny " TERMS
         "[0].tags.b c-*"},
        {CLASS("{alias: latest}, {alias: al2023}, {alias: al2023@latest-1}"), ""},
        {CLASS_OF("v1", "amiSelectorTerms: {alias: al2023@latest}"), ""},
        {CLASS("{tags: {team: a, image: 'golden-?'}}"), "deny " TERMS "[0].tags.image golden-?"},
        {CLASS("{tags: {image: golden-7}}"), ""},
        {CLASS("{ssmParameter: /aws/service/eks/optimized-ami/1.31/amazon-linux-2023/x86_64/"
               "standard/recommended/image_id}"),
         "deny " TERMS "[0].ssmParameter /aws/service/eks/optimized-ami/1.31/amazon-linux-2023/"
         "x86_64/standard/recommended/image_id"},
        {CLASS("{ssmParameter: /our/images/latest}"),
         "deny " TERMS "[0].ssmParameter /our/images/latest"},
        {CLASS("{ssmParameter: /our/images/latest-but-one}"), ""},
        {CLASS("{ssmParameter: /our/latest/arm64}"),
         "deny " TERMS "[0].ssmParameter /our/latest/arm64"},
        {CLASS("{ssmParameter: /our/images/recommended}"),
         "deny " TERMS "[0].ssmParameter /our/images/recommended"},
        {CLASS("{ssmParameter: /our/not-recommended/arm64}, {ssmParameter: /our/latest-7/arm64}"),
         ""},
        /* the lists of latest images, and what Canonical has as current */
        {CLASS("{ssmParameter: /aws/service/ami-windows-latest/"
               "Windows_Server-2022-English-Core-EKS_Optimized-1.33/image_id}"),
         "deny " TERMS "[0].ssmParameter /aws/service/ami-windows-latest/"
         "Windows_Server-2022-English-Core-EKS_Optimized-1.33/image_id"},
        {CLASS("{ssmParameter: '" ARN_OF("aws/service/ami-amazon-linux-latest/al2023-arm64") "'}"),
         "deny " TERMS
         "[0].ssmParameter " ARN_OF("aws/service/ami-amazon-linux-latest/al2023-arm64")},
        {CLASS("{ssmParameter: /aws/service/canonical/ubuntu/eks/24.04/1.33/stable/current/amd64/"
               "hvm/ebs-gp3/ami-id}"),
         "deny " TERMS "[0].ssmParameter /aws/service/canonical/ubuntu/eks/24.04/1.33/stable/"
         "current/amd64/hvm/ebs-gp3/ami-id"},
        {CLASS("{ssmParameter: /aws/service/canonical/ubuntu/eks/24.04/1.33/stable/20240605/amd64/"
               "hvm/ebs-gp3/ami-id}, {ssmParameter: /aws/service/bottlerocket/aws-k8s-1.33/x86_64/"
               "1.20.4/image_id}, {ssmParameter: /our/images/current/arm64}, {ssmParameter: "
               "/our/ami-linux-latest/arm64}"),
         ""},
        /* a version of a parameter, which a label is not */
        {CLASS("{ssmParameter: '/our/images/latest:7'}, {ssmParameter: '" ARN_OF(
             "aws/service/ami-amazon-linux-latest/al2023-arm64:7") "'}"),
         ""},
        {CLASS("{ssmParameter: '/our/latest/arm64:tested'}"),
         "deny " TERMS "[0].ssmParameter /our/latest/arm64:tested"},
        /* moving for two reasons, and said once */
        {CLASS("{ssmParameter: /our/recommended/images/latest}"),
         "deny " TERMS "[0].ssmParameter /our/recommended/images/latest"},
        {CLASS(""), "deny " TERMS " "},
        {CLASS_OF("v1beta1", "amiFamily: AL2"), "deny " TERMS " "},
        {CLASS("null, 5, {alias: 7, name: [a]}"), ""},
    };
    rail_table_run(&(struct rail_table){"node-rotation: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case not_asked = {CLASS("{alias: al2023@latest}"), ""};
    rail_table_run(&(struct rail_table){"node-rotation: {pinnedAmi: false}", NULL, &not_asked, 1});
}

#define PIN(of, not, example)                                                                \
    "Pin a " of                                                                              \
    "release" not " that you have tested, as in " example                                    \
                  "; kubectl get ec2nodeclass c -o jsonpath='{.status.amis[*].name}' shows " \
                  "the one in use."

/* What the alias resolves to is in the status, and goes into the fix. */
static void the_fix_names_the_version_in_use(void)
{
    static const struct {
        const char *alias, *image, *fix;
    } rows[] = {
        {"al2023@latest", "amazon-eks-node-al2023-x86_64-standard-1.31-v20250116",
         "Pin the version that is in use: al2023@v20250116."},
        {"bottlerocket@latest", "bottlerocket-aws-k8s-1.31-x86_64-v1.32.0-cacc4ce9",
         "Pin the version that is in use: bottlerocket@v1.32.0."},
        /* not all that begins with a v is a version */
        {"al2023@latest", "our-vpc-v-node-v7", "Pin the version that is in use: al2023@v7."},
        {"al2023@latest", "custom", PIN("", "", "al2023@vYYYYMMDD")},
        {"bottlerocket@latest", "bottlerocket-aws-k8s-1.19-x86_64-v0.9.1",
         "Pin the version that is in use: bottlerocket@v0.9.1."},
        {"al2023@latest", "a-v9-b", "Pin the version that is in use: al2023@v9."},
        {"al2023@latest", "v1-image-v", PIN("", "", "al2023@vYYYYMMDD")},
        {"al2023@latest", "image-v:-v/", PIN("", "", "al2023@vYYYYMMDD")},
        /* the first that tells it */
        {"al2@latest", "custom}, {id: ami-2, name: amazon-eks-node-1.31-v20250117",
         "Pin the version that is in use: al2@v20250117."},
        {"al2@latest", "custom",
         "Move to al2023, and pin a release that you have tested, as in al2023@vYYYYMMDD."},
        {"al2@latest", "node-v1}, {id: ami-2, name: node-v2",
         "Pin the version that is in use: al2@v1."},
        {"windows2022@latest", "Windows_Server-2022-v7",
         "Select the images by id, since Windows has no alias of one version."},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("node-rotation: {}", NULL, arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text yaml = arena_printf(
            arena,
            "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: c}, "
            "spec: {amiSelectorTerms: [{alias: %s}]}, status: {amis: [{id: ami-1, name: "
            "%s}]}}",
            rows[i].alias, rows[i].image);
        struct rail_documents documents = rail_table_read(yaml.data, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_EQUAL_FATAL(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].fix, rows[i].fix);
    }
    arena_destroy(arena);
}

#define PROVISIONER(spec)                                                                          \
    "{apiVersion: karpenter.sh/v1alpha5, kind: Provisioner, metadata: {name: a}, spec: {" spec "}" \
    "}"
#define TTL "spec.ttlSecondsUntilExpired "

/* A Provisioner has seconds, and nodes that do not expire where it says nothing. */
static void provisioners_count_in_seconds(void)
{
    static const struct rail_case cases[] = {
        {PROVISIONER("ttlSecondsUntilExpired: 2592000"), ""},
        {PROVISIONER("ttlSecondsUntilExpired: 2592001"), "deny " TTL "2592001"},
        {PROVISIONER("ttlSecondsUntilExpired: 43200"), ""},
        {PROVISIONER("ttlSecondsUntilExpired: 43199"), "warn " TTL "43199"},
        {PROVISIONER("ttlSecondsUntilExpired: null"), ""},
        {PROVISIONER("ttlSecondsUntilExpired: 30m"), ""},
        {PROVISIONER(""), ""},
    };
    rail_table_run(&(struct rail_table){"node-rotation: {}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_words words[] = {
        {PROVISIONER("ttlSecondsUntilExpired: 1800"),
         "With ttlSecondsUntilExpired 1800 each node is drained and replaced 48 times a day.",
         "Set it to at least 86400."},
        {PROVISIONER("ttlSecondsUntilExpired: 2592001"),
         "ttlSecondsUntilExpired 2592001 is above the maximum of 720h.",
         "Set it to at most 2592000."},
    };
    rail_words_run("node-rotation: {}", NULL, words, COUNT_OF(words));
}

static void nodes_do_not_expire_all_day(void)
{
    static const struct rail_case cases[] = {
        {EXPIRE("12h"), ""},
        {EXPIRE("11h59m59s"), "warn " AT "11h59m59s"},
        {EXPIRE("0s"), "warn " AT "0s"},
        {OLD_POOL("expireAfter: 30m"), "warn spec.disruption.expireAfter 30m"},
    };
    rail_table_run(&(struct rail_table){"node-rotation: {}", NULL, cases, COUNT_OF(cases)});
    /* where no node may live for a day, that is what was meant */
    static const struct rail_case meant = {EXPIRE("4h"), ""};
    rail_table_run(&(struct rail_table){"node-rotation: {maxExpireAfter: 23h}", NULL, &meant, 1});
    static const struct rail_words words[] = {
        {EXPIRE("30m"), "With expireAfter 30m each node is drained and replaced 48 times a day.",
         "Set it to at least 24h."},
        {EXPIRE("59s"),
         "With expireAfter 59s each node is drained and replaced as soon as it is there.",
         "Set it to at least 24h."},
    };
    rail_words_run("node-rotation: {}", NULL, words, COUNT_OF(words));
}

/* What a class of v1beta1 is to select, api-versions says. */
static void it_leaves_to_others_what_is_theirs(void)
{
    static const struct rail_case old = {CLASS_OF("v1beta1", "amiFamily: AL2"),
                                         "deny apiVersion karpenter.k8s.aws/v1beta1"};
    rail_table_run(&(struct rail_table){"node-rotation: {}, api-versions: {}", NULL, &old, 1});
    static const struct rail_case new = {CLASS(""), "deny " TERMS " "};
    rail_table_run(&(struct rail_table){"node-rotation: {}, api-versions: {}", NULL, &new, 1});
    /* and of al2, whose images are no longer made, node-class */
    static const struct rail_case over = {CLASS("{alias: al2@latest}"),
                                          "warn " TERMS "[0].alias al2@latest"};
    rail_table_run(&(struct rail_table){"node-rotation: {}, node-class: {}", NULL, &over, 1});
}

static void it_says_what_to_write(void)
{
    static const struct rail_words rows[] = {
        {EXPIRE("Never"),
         "With expireAfter: Never no node is replaced for its age, however old its kernel and its "
         "image.",
         "Set it to at most 90m."},
        {EXPIRE("2h"), "expireAfter 2h is above the maximum of 90m.", "Set it to at most 90m."},
        {POOL("", "a: b"), "Without expireAfter nodes live for 720h, above the maximum of 90m.",
         "Set it to at most 90m."},
        {EXPIRE("7200"), "The number 7200 has no unit.", "Write 2h, if seconds are meant."},
        {EXPIRE("7260"), "The number 7260 has no unit.", "Write 121m, if seconds are meant."},
        {EXPIRE("61"), "The number 61 has no unit.", "Write 61s, if seconds are meant."},
        {EXPIRE("0"), "\"0\" is no duration.",
         "Write hours, minutes and seconds, such as 336h or 1h30m."},
        {EXPIRE("a day"), "\"a day\" is no duration.",
         "Write hours, minutes and seconds, such as 336h or 1h30m."},
        {EXPIRE("-60"), "\"-60\" is no duration.",
         "Write hours, minutes and seconds, such as 336h or 1h30m."},
        {EXPIRE("1"), "The number 1 has no unit.", "Write 1s, if seconds are meant."},
        {POOL("disruption: {expireAfter: 1h}, ", "a: b"),
         "expireAfter stands where v1beta1 had it. The API server drops it, and nodes expire after "
         "720h.",
         "Move it to spec.template.spec.expireAfter."},
        {POOL("disruption: {expireAfter: 2h}, ", "a: b"),
         "expireAfter stands where v1beta1 had it. The API server drops it, and nodes expire after "
         "720h.",
         "Write spec.template.spec.expireAfter: 90m instead."},
        {POOL("disruption: {expireAfter: 1h}, ", "expireAfter: 1h"),
         "expireAfter stands where v1beta1 had it. The API server drops it.",
         "Remove it, since spec.template.spec.expireAfter counts."},
        {CLASS("{alias: windows2022@latest}"),
         "With windows2022@latest all nodes are replaced whenever an image is published, tested or "
         "not.",
         "Select the images by id, since Windows has no alias of one version."},
        {CLASS("{alias: bottlerocket@latest}"),
         "With bottlerocket@latest all nodes are replaced whenever an image is published, tested "
         "or not.",
         PIN("Bottlerocket ", " (not a version of Kubernetes)", "bottlerocket@vX.Y.Z")},
        {CLASS("{alias: al2@latest}"),
         "al2@latest has had no new image since November 2025, and has none for Kubernetes 1.33 or "
         "later.",
         "Move to al2023, and pin a release that you have tested, as in al2023@vYYYYMMDD."},
        {CLASS("{name: a-*}"), "\"a-*\" selects whatever image matches when a node is made.",
         "Name one image, or its id."},
        {CLASS("{tags: {a: 'b-*'}}"),
         "\"b-*\" selects whatever image has the tag when a node is made.",
         "Name one image, or its id."},
        {CLASS("{ssmParameter: /a/latest}"),
         "\"/a/latest\" is a parameter that moves on with each new image.",
         "Name one image, or its id."},
        {CLASS(""), "Without amiSelectorTerms no image is selected.",
         "Select one image by id or name."},
        {CLASS_OF("v1beta1", "amiFamily: AL2"),
         "Without amiSelectorTerms the newest image of the amiFamily counts. All nodes are "
         "replaced whenever one is published.",
         "Select one image by id or name."},
    };
    rail_words_run("node-rotation: {maxExpireAfter: 90m}", NULL, rows, COUNT_OF(rows));
    static const struct rail_words grace[] = {
        {EXPIRE("24h"),
         "Without terminationGracePeriod a pod that may not be evicted keeps an expired node for "
         "ever.",
         "Set terminationGracePeriod: 24h."},
    };
    rail_words_run("node-rotation: {requireTerminationGracePeriod: true}", NULL, grace,
                   COUNT_OF(grace));
    rail_replaces("node-rotation: {maxExpireAfter: 90m}", EXPIRE("2h"), "90m");
    rail_replaces("node-rotation: {maxExpireAfter: 336h}", EXPIRE("Never"), "336h");
    rail_replaces("node-rotation: {maxExpireAfter: 45s}", EXPIRE("1h"), "45s");
    rail_replaces("node-rotation: {}", EXPIRE("2592000"), ""); /* if seconds are meant */
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("node-rotation", "", NULL, EXPIRE("Never"));
    rail_modes_run("node-rotation", "", NULL, CLASS("{alias: al2023@latest}"));
}

const char unit_suite[] = "policy node-rotation";
const struct unit_test unit_tests[] = {
    {"nodes expire in time", nodes_expire_in_time},
    {"images are pinned", images_are_pinned},
    {"the fix names the version in use", the_fix_names_the_version_in_use},
    {"provisioners count in seconds", provisioners_count_in_seconds},
    {"nodes do not expire all day", nodes_do_not_expire_all_day},
    {"it leaves to others what is theirs", it_leaves_to_others_what_is_theirs},
    {"it says what to write", it_says_what_to_write},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {NULL, NULL},
};
