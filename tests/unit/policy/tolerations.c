/* The rail tolerations: what is granted, what the API server adds, and who tolerates everything. */
#include "rail_modes.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: " spec "}"
#define TOLERATES(toleration) POD("{tolerations: [{" toleration "}]}")
#define KEY "spec.tolerations[0].key "
#define ASKS_NONE(toleration)                                                                  \
    POD("{containers: [{name: c, resources: {requests: {cpu: 0, a.com/b: 0}}}], tolerations: " \
        "[{" toleration "}]}")
#define OPERATOR "spec.tolerations[0].operator "
#define AS_WRITTEN "tolerations: {allow: [team]}}, extendedResourceToleration: false, karpenter: {"

static void without_a_list_only_everything_is_too_much(void)
{
    static const struct rail_case cases[] = {
        {POD("{}"), ""},
        {TOLERATES("key: team, operator: Exists"), ""},
        {TOLERATES("key: a, operator: Exists"), ""},
        {TOLERATES("operator: Exists"), "deny " OPERATOR "Exists"},
        {TOLERATES("operator: Exists, effect: NoExecute"), "deny " OPERATOR "Exists"},
        {TOLERATES("operator: Exists, effect: PreferNoSchedule"), ""},
        /* it leaves after that time, as every pod does */
        {TOLERATES("operator: Exists, effect: NoExecute, tolerationSeconds: 300"), ""},
        {TOLERATES("operator: Exists, effect: NoExecute, tolerationSeconds: -1"), ""},
        {TOLERATES("operator: Exists, effect: NoExecute, tolerationSeconds: 86400"), ""},
        {TOLERATES("operator: Exists, effect: NoExecute, tolerationSeconds: 86401"),
         "deny spec.tolerations[0].tolerationSeconds 86401"},
        {TOLERATES("operator: Exists, effect: NoExecute, tolerationSeconds: 9223372036854775807"),
         "deny spec.tolerations[0].tolerationSeconds 9223372036854775807"},
        {TOLERATES("operator: Exists, effect: NoSchedule, tolerationSeconds: 300"),
         "deny " OPERATOR "Exists"},
        /* agents are for every node */
        {"{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {template: {spec: "
         "{tolerations: [{operator: Exists}]}}}}",
         ""},
        /* no taint has such a key */
        {TOLERATES("key: 'batch\"', operator: Exists"), "deny " KEY "batch\""},
        {TOLERATES("key: a/b/c, operator: Exists"), "deny " KEY "a/b/c"},
        {TOLERATES("key: '', operator: Exists"), "deny " OPERATOR "Exists"},
        /* the API server refuses these */
        {TOLERATES("operator: Equal"), ""},
        {POD("{tolerations: {operator: Exists}}"), ""},
        {POD("{tolerations: [5, null]}"), ""},
    };
    rail_table_run(&(struct rail_table){"tolerations: {}", NULL, cases, COUNT_OF(cases)});
}

static void a_list_is_closed(void)
{
    static const struct rail_case cases[] = {
        {TOLERATES("key: team, value: web, effect: NoSchedule"), ""},
        {TOLERATES("key: team, operator: Equal, value: web, effect: NoSchedule"), ""},
        {TOLERATES("key: team, value: ml, effect: NoSchedule"), "deny " KEY "team=ml:NoSchedule"},
        {TOLERATES("key: team, value: web, effect: NoExecute"), "deny " KEY "team=web:NoExecute"},
        /* more than what is granted */
        {TOLERATES("key: team, value: web"), "deny " KEY "team=web"},
        {TOLERATES("key: team, operator: Exists, effect: NoSchedule"),
         "deny " KEY "team:NoSchedule"},
        {TOLERATES("key: example.com/batch, operator: Exists"), ""},
        {TOLERATES("key: example.com/batch, value: x, effect: NoExecute"), ""},
        {TOLERATES("key: disk-ssd, operator: Exists, effect: NoSchedule"), ""},
        {TOLERATES("key: disk-ssd, operator: Exists, effect: NoExecute"),
         "deny " KEY "disk-ssd:NoExecute"},
        {TOLERATES("key: other, operator: Exists, effect: PreferNoSchedule"), ""},
        {TOLERATES("operator: Exists"), "deny " OPERATOR "Exists"},
        /* it leaves in time, but NoExecute keeps pods out as well */
        {TOLERATES("operator: Exists, effect: NoExecute, tolerationSeconds: 300"),
         "deny " OPERATOR "Exists"},
        {TOLERATES("operator: Exists, effect: NoExecute"), "deny " OPERATOR "Exists"},
        /* values that compare as the granted one does are more than it */
        {TOLERATES("key: team, operator: Lt, value: web, effect: NoSchedule"),
         "deny " KEY "team=web:NoSchedule"},
        /* what the API server adds */
        {TOLERATES("key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute"), ""},
        {TOLERATES("key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute"), ""},
        {TOLERATES("key: node.kubernetes.io/memory-pressure, operator: Exists"), ""},
        {TOLERATES("key: node.kubernetes.io/disk-pressure, operator: Exists"),
         "deny " KEY "node.kubernetes.io/disk-pressure"},
        /* no value is one, and operators that compare have one */
        {TOLERATES("key: team, effect: NoSchedule"), "deny " KEY "team:NoSchedule"},
        {TOLERATES("key: team, value: '', operator: Equal"), "deny " KEY "team"},
        {TOLERATES("key: level, operator: Gt, value: '5', effect: NoSchedule"),
         "deny " KEY "level=5:NoSchedule"},
        {TOLERATES("key: a, value: b"), "deny " KEY "a=b"},
        /* of all that is asked for */
        {POD("{containers: [{name: c, resources: {limits: {cpu: 1, a.com/b: 1, c.com/d: 1}}}], "
             "tolerations: [{key: c.com/d, operator: Exists}]}"),
         ""},
        {TOLERATES("key: node.kubernetes.io/unschedulable, operator: Exists"),
         "deny " KEY "node.kubernetes.io/unschedulable"},
        {TOLERATES("key: nvidia.com/gpu, operator: Exists"), "deny " KEY "nvidia.com/gpu"},
        /* of 0 it adds this one */
        {ASKS_NONE("key: a.com/b, operator: Exists, effect: NoSchedule"), ""},
        {ASKS_NONE("key: a.com/b, operator: Exists"), "deny " KEY "a.com/b"},
        {ASKS_NONE("key: a.com/b, effect: NoSchedule"), "deny " KEY "a.com/b:NoSchedule"},
        {ASKS_NONE("key: cpu, operator: Exists, effect: NoSchedule"), "deny " KEY "cpu:NoSchedule"},
        {ASKS_NONE("key: c.com/d, operator: Exists, effect: NoSchedule"),
         "deny " KEY "c.com/d:NoSchedule"},
        {POD("{tolerations: [{key: nvidia.com/gpu, operator: Exists}], containers: "
             "[{name: m, resources: {limits: {nvidia.com/gpu: 1}}}]}"),
         ""},
    };
    rail_table_run(&(struct rail_table){
        "tolerations: {allow: ['team=web:NoSchedule', example.com/batch, 'disk-*:NoSchedule']}",
        NULL, cases, COUNT_OF(cases)});
}

/* Otherwise a resource of 0 would open whatever has a taint of its name. */
static void what_nobody_adds_is_not_granted_for_a_resource_of_0(void)
{
#define NONE "{key: a.com/b, operator: Exists, effect: NoSchedule}"
#define ASKS_NONE_IN(kind, above, below)                                                        \
    "{apiVersion: batch/v1, kind: " kind ", metadata: {name: a}, spec: " above                  \
    "{template: {spec: {tolerations: [" NONE "], containers: [{name: c, resources: {requests: " \
    "{a.com/b: 0}}}]}}}" below "}"
    static const struct rail_case cases[] = {
        {ASKS_NONE_IN("Job", "", ""), "deny spec.template.spec.tolerations[0].key "
                                      "a.com/b:NoSchedule"},
        {ASKS_NONE_IN("CronJob", "{jobTemplate: {spec: ", "}}"),
         "deny spec.jobTemplate.spec.template.spec.tolerations[0].key a.com/b:NoSchedule"},
        /* a resource that no device plugin has is in no such toleration */
        {POD("{containers: [{name: c, resources: {requests: {cpu: 1, hugepages-2Mi: 2Mi}}}], "
             "tolerations: [{key: cpu, operator: Exists}, {key: hugepages-2Mi, operator: "
             "Exists}]}"),
         "deny " KEY "cpu\ndeny spec.tolerations[1].key hugepages-2Mi"},
    };
    rail_table_run(
        &(struct rail_table){"tolerations: {allow: [team]}", NULL, cases, COUNT_OF(cases)});
    static const struct rail_case as_written[] = {
        {ASKS_NONE("key: a.com/b, operator: Exists, effect: NoSchedule"),
         "deny " KEY "a.com/b:NoSchedule"},
        {POD("{containers: [{name: c, resources: {requests: {a.com/b: 1}}}], tolerations: [" NONE
             "]}"),
         ""},
    };
    rail_table_run(&(struct rail_table){AS_WRITTEN, NULL, as_written, COUNT_OF(as_written)});
}

static void a_grant_leaves_open_what_it_does_not_say(void)
{
    static const struct rail_case cases[] = {
        {TOLERATES("key: team, value: ml-a"), ""},
        {TOLERATES("key: team, value: ml-a, effect: NoExecute"), ""},
        {TOLERATES("key: team, value: ml"), "deny " KEY "team=ml"},
        {TOLERATES("key: team, operator: Exists"), "deny " KEY "team"},
        {TOLERATES("key: team, operator: Exists, value: ml-a"), "deny " KEY "team"},
        /* a taint without a value, and one that has = in it */
        {TOLERATES("key: bare"), ""},
        {TOLERATES("key: bare, value: x"), "deny " KEY "bare=x"},
        {TOLERATES("key: pair, value: a=b"), ""},
        {TOLERATES("key: pair, value: a"), "deny " KEY "pair=a"},
        {TOLERATES("key: any, operator: Exists"), "deny " KEY "any"},
        {TOLERATES("key: any, operator: Exists, effect: NoExecute"), ""},
        {TOLERATES("key: any, value: x, effect: NoExecute"), ""},
        {TOLERATES("operator: Exists, effect: NoExecute"), "deny " OPERATOR "Exists"},
        /* granted, and yet the API server refuses it */
        {TOLERATES("key: a:b, operator: Exists, effect: NoSchedule"), "deny " KEY "a:b"},
    };
    rail_table_run(&(struct rail_table){"tolerations: {allow: ['team=ml-*', 'bare=', 'pair=a=b', "
                                        "'any:NoExecute', 'a:b:NoSchedule']}",
                                        NULL, cases, COUNT_OF(cases)});
    /* All of one effect at once. */
    static const struct rail_case effect[] = {
        {TOLERATES("operator: Exists, effect: NoExecute"), ""},
        {TOLERATES("operator: Exists"), "deny " OPERATOR "Exists"},
        {TOLERATES("operator: Exists, effect: NoSchedule"), "deny " OPERATOR "Exists"},
        {TOLERATES("key: a, operator: Exists, effect: NoExecute"), ""},
    };
    rail_table_run(&(struct rail_table){"tolerations: {allow: ['*:NoExecute']}", NULL, effect,
                                        COUNT_OF(effect)});
}

static const char gpus[] =
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: gpus}, spec: {template: "
    "{spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}], nodeClassRef: {group: "
    "karpenter.k8s.aws, kind: EC2NodeClass, name: d}, requirements: [{key: "
    "karpenter.k8s.aws/instance-family, operator: In, values: [g5]}]}}}}";

static void what_accelerators_adds_is_granted(void)
{
#define ASKS_MIG                                                                                \
    POD("{tolerations: [{key: nvidia.com/mig-1g.5gb, operator: Exists}, {key: nvidia.com/gpu, " \
        "operator: Exists}, {key: amd.com/gpu, operator: Exists}], containers: [{name: m, "     \
        "resources: {limits: {nvidia.com/mig-1g.5gb: 1}}}]}")
    static const char other[] = "deny spec.tolerations[2].key amd.com/gpu";
    static const char both[] = "deny spec.tolerations[1].key nvidia.com/gpu\n"
                               "deny spec.tolerations[2].key amd.com/gpu";
    static const struct {
        const char *rails, *found;
    } rows[] = {
        {"tolerations: {allow: [team]}, accelerators: {addToleration: true}", other},
        {"tolerations: {allow: [team]}, accelerators: {addToleration: false}", both},
        {"tolerations: {allow: [team]}, accelerators: {addToleration: true, mode: warn}", both},
        {"tolerations: {allow: [team], mode: warn}, accelerators: {addToleration: true, mode: "
         "warn}",
         "warn spec.tolerations[1].key nvidia.com/gpu\nwarn spec.tolerations[2].key amd.com/gpu"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct rail_case cases[] = {{ASKS_MIG, rows[i].found}};
        rail_table_run(&(struct rail_table){rows[i].rails, gpus, cases, 1});
    }
}

/* The webhook adds what any policy says, and all policies judge it. */
static void what_another_policy_adds_is_granted(void)
{
#define OTHER(more)                                                                               \
    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: other}, spec: {" more \
    "}}"
#define ADDS "rails: {accelerators: {addToleration: true, requireLimits: off}}"
#define EXCEPTED(until)                                                                        \
    ", exceptions: [{id: E, rails: [accelerators], match: {names: [a]}, owner: o, reason: r, " \
    "expires: " until "}]"
    static const char granted[] = "deny spec.tolerations[2].key amd.com/gpu";
    static const char not_granted[] = "deny spec.tolerations[1].key nvidia.com/gpu\n"
                                      "deny spec.tolerations[2].key amd.com/gpu";
    static const struct {
        const char *policy, *found;
    } rows[] = {
        {OTHER("mode: enforce, " ADDS), granted},
        {OTHER("mode: warn, " ADDS), not_granted},
        {OTHER("mode: enforce, match: {names: [b]}, " ADDS), not_granted},
        {OTHER("mode: enforce, match: {namespaceSelector: {matchLabels: {a: b}}}, " ADDS),
         not_granted},
        {OTHER("mode: enforce, " ADDS ", overrides: [{id: o, step: softer, match: "
               "{namespaceSelector: {matchLabels: {a: b}}}}]"),
         not_granted},
        {OTHER("mode: enforce, " ADDS EXCEPTED("2027-01-01")), not_granted},
        {OTHER("mode: enforce, rails: {accelerators: {requireLimits: off}}"), not_granted},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena *arena = arena_create((size_t)64 << 20);
        const struct catalog *catalog = catalog_builtin(arena);
        struct world world =
            rail_table_world_of("tolerations: {allow: [team]}", gpus, catalog, arena);
        struct policy policies[] = {
            world.policies->items[0],
            rail_table_read_policy(text_of(rows[i].policy), catalog, arena),
        };
        const struct policy_set set = {.items = policies, .count = COUNT_OF(policies)};
        world.policies = &set;
        struct rail_documents documents = rail_table_read(ASKS_MIG, arena);
        struct text found = rail_table_findings(&world, documents.items, arena);
        if (!text_starts_with(found, text_of(rows[i].found)))
            fprintf(stderr, "%s\n", rows[i].policy);
        ASSERT_TEXT(found, rows[i].found);
        arena_destroy(arena);
    }
}

static void each_toleration_is_held_against_the_list(void)
{
    static const struct rail_case cases[] = {
        {POD("{tolerations: [{key: a}, {key: spot}, {key: b, effect: PreferNoSchedule}, {operator: "
             "Exists}, {key: c, operator: Exists}]}"),
         "deny " KEY "a\ndeny spec.tolerations[3].operator Exists\n"
         "deny spec.tolerations[4].key c"},
    };
    rail_table_run(
        &(struct rail_table){"tolerations: {allow: [spot]}", NULL, cases, COUNT_OF(cases)});
}

static void what_is_granted_is_told_nearest_first(void)
{
#define REMOVE "Remove the toleration, or ask for it to be granted."
    static const struct rail_words rows[] = {
        {TOLERATES("key: team"), "The policy does not grant the toleration of team.", REMOVE},
        {TOLERATES("key: team, value: ml, operator: Exists, effect: NoExecute"),
         "The policy does not grant the toleration of team:NoExecute.", REMOVE},
        {TOLERATES("key: x, value: v"), "The policy does not grant the toleration of x=v.", REMOVE},
    };
    rail_words_run("tolerations: {allow: [j, k, q, w, z, teams]}", NULL, rows, COUNT_OF(rows));
    rail_words_run("tolerations: {allow: []}", NULL,
                   &(struct rail_words){TOLERATES("key: team"),
                                        "The policy does not grant the toleration of team.",
                                        REMOVE},
                   1);
    static const struct rail_words every[] = {
        {TOLERATES("operator: Exists, effect: NoSchedule"),
         "The pod tolerates every NoSchedule taint. It may start on nodes that are kept "
         "for others or that Karpenter empties (karpenter.sh/disrupted).",
         "Name the key of the taint that the pod must tolerate."},
        {TOLERATES("operator: Exists"),
         "The pod tolerates every taint. It may start on nodes that are kept for others "
         "or that Karpenter empties (karpenter.sh/disrupted).",
         "Name the key of the taint that the pod must tolerate."},
        {TOLERATES("operator: Exists, effect: NoExecute, tolerationSeconds: 86401"),
         "The pod tolerates every NoExecute taint for more than a day. It stays on a node that is "
         "unreachable, and is not replaced.",
         "Set tolerationSeconds: 300, or name the key of the taint that the pod must tolerate."},
    };
    rail_words_run("tolerations: {}", NULL, every, COUNT_OF(every));
}

static void the_word_that_is_missing_is_told(void)
{
#define NOT_GRANTED(taint, fix) "The policy does not grant the toleration of " taint ".", fix
    static const struct rail_words rows[] = {
        {TOLERATES("key: team, value: web"),
         NOT_GRANTED("team=web", "Add effect: NoSchedule (team=web:NoSchedule is granted).")},
        {TOLERATES("key: crit, operator: Exists"),
         NOT_GRANTED("crit", "Add effect: NoSchedule (crit:NoSchedule is granted).")},
        {TOLERATES("key: team, operator: Exists, effect: NoSchedule"),
         NOT_GRANTED(
             "team:NoSchedule",
             "Write value: web instead of operator: Exists (team=web:NoSchedule is granted).")},
        {TOLERATES("key: team, effect: NoSchedule"),
         NOT_GRANTED("team:NoSchedule", "Add value: web (team=web:NoSchedule is granted).")},
        {TOLERATES("key: team, operator: Exists"),
         NOT_GRANTED("team",
                     "Write value: web instead of operator: Exists, and add effect: NoSchedule "
                     "(team=web:NoSchedule is granted).")},
        {TOLERATES("key: team"),
         NOT_GRANTED(
             "team",
             "Add value: web, and add effect: NoSchedule (team=web:NoSchedule is granted).")},
        /* another word stands there: it is another taint */
        {TOLERATES("key: team, value: ml, effect: NoSchedule"),
         NOT_GRANTED("team=ml:NoSchedule", REMOVE)},
        {TOLERATES("key: team, value: ml"), NOT_GRANTED("team=ml", REMOVE)},
        {TOLERATES("key: crit, operator: Exists, effect: NoExecute"),
         NOT_GRANTED("crit:NoExecute", REMOVE)},
        {TOLERATES("key: team, operator: Exists, effect: NoExecute"),
         NOT_GRANTED("team:NoExecute", REMOVE)},
        {TOLERATES("key: teams, operator: Exists"), NOT_GRANTED("teams", REMOVE)},
    };
    rail_words_run("tolerations: {allow: ['team=web:NoSchedule', 'crit:NoSchedule']}", NULL, rows,
                   COUNT_OF(rows));
    static const struct {
        const char *allow, *object, *fix;
    } grants[] = {
        /* patterns, and a taint without a value */
        {"'team=ml-*'", TOLERATES("key: team, operator: Exists"),
         "Write a value that ml-* matches instead of operator: Exists (team=ml-* is "
         "granted)."},
        {"'team=ml-?'", TOLERATES("key: team"),
         "Add a value that ml-? matches (team=ml-? is granted)."},
        {"'bare='", TOLERATES("key: bare, operator: Exists"),
         "Write value: \"\" instead of operator: Exists (bare= is granted)."},
        {"'disk-*:NoExecute'", TOLERATES("key: disk-ssd, operator: Exists"),
         "Add effect: NoExecute (disk-*:NoExecute is granted)."},
        /* what is granted of every taint is no hint at this one; nor is a grant of nothing */
        {"'*:NoExecute'", TOLERATES("key: team, operator: Exists"), REMOVE},
        {"'team:NoSched'", TOLERATES("key: team, operator: Exists"), REMOVE},
        /* of several the one that lacks least, then the first */
        {"'team=a:NoSchedule', 'team:NoExecute', 'team=b'",
         TOLERATES("key: team, operator: Exists"),
         "Add effect: NoExecute (team:NoExecute is granted)."},
        {"'team=a:NoSchedule', 'team=b', 'team=c'", TOLERATES("key: team, operator: Exists"),
         "Write value: b instead of operator: Exists (team=b is granted)."},
        {"'team=a:NoSchedule', 'team=b:NoSchedule'", TOLERATES("key: team"),
         "Add value: a, and add effect: NoSchedule (team=a:NoSchedule is granted)."},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(grants); i++) {
        struct world world = rail_table_world(
            arena_printf(arena, "tolerations: {allow: [%s]}", grants[i].allow).data, NULL, arena);
        struct rail_documents documents = rail_table_read(grants[i].object, arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.finding_count, 1);
        ASSERT_TEXT(verdict.findings[0].fix, grants[i].fix);
    }
    arena_destroy(arena);
}

static void a_star_grants_everything_at_once(void)
{
    static const struct rail_case cases[] = {
        {TOLERATES("operator: Exists"), ""},
        {TOLERATES("key: team, operator: Exists"), ""},
    };
    rail_table_run(
        &(struct rail_table){"tolerations: {allow: ['*']}", NULL, cases, COUNT_OF(cases)});
}

static void an_empty_list_grants_nothing(void)
{
    static const struct rail_case cases[] = {
        {TOLERATES("key: team, operator: Exists"), "deny " KEY "team"},
    };
    rail_table_run(&(struct rail_table){"tolerations: {allow: []}", NULL, cases, COUNT_OF(cases)});
}

static void every_kind_of_workload(void)
{
#define TEMPLATE "{spec: {tolerations: [{operator: Exists}]}}"
#define OF(api, kind, spec) \
    "{apiVersion: " api ", kind: " kind ", metadata: {name: a}, spec: " spec "}"
    static const char found[] = "deny spec.template.spec.tolerations[0].operator Exists";
    static const struct rail_case cases[] = {
        {OF("apps/v1", "Deployment", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "ReplicaSet", "{template: " TEMPLATE "}"), found},
        {OF("v1", "ReplicationController", "{template: " TEMPLATE "}"), found},
        {OF("apps/v1", "StatefulSet", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "Job", "{template: " TEMPLATE "}"), found},
        {OF("batch/v1", "CronJob", "{jobTemplate: {spec: {template: " TEMPLATE "}}}"),
         "deny spec.jobTemplate.spec.template.spec.tolerations[0].operator Exists"},
        /* what runs on every node */
        {OF("apps/v1", "DaemonSet", "{template: " TEMPLATE "}"),
         "warn spec.template.spec.tolerations[0].operator Exists"},
        {"{apiVersion: v1, kind: Pod, metadata: {name: a, ownerReferences: [{apiVersion: apps/v1, "
         "kind: DaemonSet, name: d, uid: u, controller: true}]}, spec: {tolerations: [{key: "
         "node.kubernetes.io/unschedulable, operator: Exists}]}}",
         /* as anybody can write it: policy_daemon_pods.c */
         "deny spec.tolerations[0].key node.kubernetes.io/unschedulable"},
        {OF("apps/v1", "DaemonSet",
            "{template: {spec: {tolerations: [{operator: Exists, effect: NoExecute}]}}}"),
         "warn spec.template.spec.tolerations[0].operator Exists"},
        {OF("apps/v1", "DaemonSet",
            "{template: {spec: {tolerations: [{key: node.kubernetes.io/disk-pressure, operator: "
            "Exists}, {key: team, operator: Exists}]}}}"),
         "deny spec.template.spec.tolerations[1].key team"},
    };
    rail_table_run(&(struct rail_table){"tolerations: {allow: []}", NULL, cases, COUNT_OF(cases)});
}

static void a_grant_without_an_effect_there_is_warned_about(void)
{
    static const struct {
        const char *grant, *effect, *hint;
    } cases[] = {
        {"team:NoScheduel", "NoScheduel", "; did you mean NoSchedule?"},
        {"team=a:noexecute", "noexecute", "; did you mean NoExecute?"},
        {"team:PreferNoSched", "PreferNoSched", "; did you mean PreferNoSchedule?"},
        {"team:NoSche", "NoSche", "; did you mean NoSchedule?"}, /* four letters short */
        {"team:NoSch", "NoSch", ""},
        {"team:evict", "evict", ""},
        {"team:", "", ""},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct source source = {
            .text = arena_printf(arena,
                                 "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: "
                                 "{name: a}, spec: {rails: {tolerations: {allow: ['a:NoExecute', "
                                 "b, '%s', 'c:NoSchedule', 'd=e:PreferNoSchedule']}}}}",
                                 cases[i].grant)};
        struct problems problems = {.arena = arena};
        const struct node *root = NULL;
        doc_read_yaml(&source, YAML_POLICY, &doc_limits_policy, arena, &problems,
                      rail_table_take_root, (void *)&root);
        struct schema schema = {&source, arena, &problems};
        struct policy policy = {0};
        CU_ASSERT_TRUE_FATAL(
            document_read(&schema, root, catalog_builtin(arena), &problems, &policy));
        ASSERT_INT(problems.count, 1);
        ASSERT_TEXT(text_of(problems.items[0].what),
                    arena_printf(arena,
                                 "tolerations: \"%s\" grants nothing, since no taint has the "
                                 "effect \"%s\"%s",
                                 cases[i].grant, cases[i].effect, cases[i].hint)
                        .data);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy tolerations";
const struct unit_test unit_tests[] = {
    {"without a list only everything is too much", without_a_list_only_everything_is_too_much},
    {"a list is closed", a_list_is_closed},
    {"what nobody adds is not granted for a resource of 0",
     what_nobody_adds_is_not_granted_for_a_resource_of_0},
    {"a grant leaves open what it does not say", a_grant_leaves_open_what_it_does_not_say},
    {"what accelerators adds is granted", what_accelerators_adds_is_granted},
    {"what another policy adds is granted", what_another_policy_adds_is_granted},
    {"each toleration is held against the list", each_toleration_is_held_against_the_list},
    {"what is granted is told nearest first", what_is_granted_is_told_nearest_first},
    {"the word that is missing is told", the_word_that_is_missing_is_told},
    {"a star grants everything at once", a_star_grants_everything_at_once},
    {"an empty list grants nothing", an_empty_list_grants_nothing},
    {"every kind of workload", every_kind_of_workload},
    {"a grant without an effect there is warned about",
     a_grant_without_an_effect_there_is_warned_about},
    {NULL, NULL},
};
