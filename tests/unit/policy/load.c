/* Policy files to policies: what is refused, where, and what the good ones become. */
#include "policy_files.h"

/* ---- what is refused ---- */

#define HEAD                              \
    "apiVersion: taffrail.dev/v1alpha1\n" \
    "kind: GuardRails\n"                  \
    "metadata: {name: p}\n"               \
    "spec:\n" /* its keys begin in line 5, column 3 */
#define RAILS "  rails: {topology-keys: {}}\n"
#define EXCEPTION "{id: E1, rails: [topology-keys], expires: 2027-03-31}"

static const struct {
    const char *text, *problems;
} refused[] = {
    /* the document */
    {"[]", "1:1 found an empty list, expected a map with apiVersion"},
    {"hello", "1:1 found \"hello\", expected a map"},
    {"", "0:0 there is no policy in this file"},
    {"---\n# nothing\n---\n", "0:0 there is no policy in this file"},
    {"apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n",
     "2:7 kind: found \"ConfigMap\", expected GuardRails"},
    {"{}", "1:1 `apiVersion` is missing, expected taffrail.dev/v1alpha1\n1:1 `kind` is missing, "
           "expected GuardRails\n1:1 `metadata` is missing\n"
           "1:1 `spec` is missing"},
    {"apiVersion: taffrail.dev/v1\nkind: GuardRails\nmetadata: {}\nspec: {}\nstatus: {}\n",
     "1:13 apiVersion: found \"taffrail.dev/v1\"; allowed: taffrail.dev/v1alpha1\n"
     "3:11 metadata: `name` is missing\n"
     "5:1 unknown key `status`; allowed: apiVersion, kind, metadata, spec"},
    {"apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: 5, namespace: a}\n"
     "spec: {}\n",
     "3:18 metadata.name: found the number 5, expected a string; quote it: \"5\"\n"
     "3:21 metadata: unknown key `namespace`; allowed: name, labels"},
    {HEAD "\tmode: warn\n", "5:1 not YAML"},
    {HEAD "  mode: &m warn\n" RAILS, "5:9 an anchor (&)"},
    {HEAD "  mode: warn\n  mode: audit\n" RAILS, "6:3 the key \"mode\" stands twice"},
    /* spec */
    {HEAD "  mode: enforced\n  contacts: a\n  docs: [a]\n  since: 2027-02-30\n" RAILS,
     "5:9 spec.mode: found \"enforced\", did you mean `enforce`? allowed: off, audit, warn, "
     "enforce\n"
     "6:3 spec: unknown key `contacts`, did you mean `contact`? allowed: mode, since, contact\n"
     "7:9 spec.docs: found a list, expected a string\n"
     "8:10 spec.since: found \"2027-02-30\", expected a day"},
    /* limits */
    {HEAD "  limits: {cpuMilliseconds: 1000}\n" RAILS,
     "5:29 spec.limits.cpuMilliseconds: found 1000, which a timeoutSeconds of 2 (the default) "
     "leaves no room for: less than 1000 is allowed"},
    {HEAD "  limits: {cpuMilliseconds: 9000, timeoutSeconds: 10}\n" RAILS,
     "5:29 spec.limits.cpuMilliseconds: found 9000, which a timeoutSeconds of 10 leaves no room "
     "for: less than 9000 is allowed"},
    {HEAD "  limits: {timeoutSeconds: 1, cpuMilliseconds: 600}\n" RAILS,
     "5:48 spec.limits.cpuMilliseconds: found 600, which a timeoutSeconds of 1 leaves no room for: "
     "less than 500 is allowed"},
    {HEAD "  limits: {cpuMilliseconds: 1, timeoutSeconds: 31}\n" RAILS,
     "5:29 spec.limits.cpuMilliseconds: found the number 1, expected a whole number from 10 to "
     "29000\n5:48 spec.limits.timeoutSeconds: found the number 31"},
    /* match */
    {HEAD "  match:\n    namespace: [a]\n    kinds: [Deployments]\n    names: []\n"
          "    excludeGroups: system:masters\n" RAILS,
     "6:5 spec.match: unknown key `namespace`, did you mean `namespaces`?\n"
     "7:13 spec.match.kinds[0]: found \"Deployments\", did you mean `Deployment`?\n"
     "8:12 spec.match.names: found 0 items, expected at least 1\n"
     "9:20 spec.match.excludeGroups: found \"system:masters\", expected a list of strings; write"},
    {HEAD "  match: {namespaces: [], namespaceSelector: {tier: prod}}\n" RAILS,
     "5:23 spec.match.namespaces: found 0 items\n"
     "5:47 spec.match.namespaceSelector: unknown key `tier`"},
    {HEAD "  match:\n" RAILS, "5:9 spec.match: found nothing, expected a map"},
    /* rails */
    {HEAD "  rails: [topology-keys]\n", "5:10 spec.rails: found a list, expected a map of rails"},
    {HEAD "  rails:\n    topologykeys: {}\n    zzz: {}\n",
     "6:5 spec.rails: unknown rail `topologykeys`, did you mean `topology-keys`? allowed: "
     "accelerators\n"
     "7:5 spec.rails: unknown rail `zzz`; allowed: accelerators"},
    {HEAD "  rails:\n    topology-keys: enforce\n",
     "6:20 spec.rails.topology-keys: found \"enforce\", expected a map of the rail's keys, such "
     "as"},
    {HEAD "  rails:\n    topology-keys: {mod: warn, allow: zone, selfMatch: 1, since: never}\n",
     "6:21 spec.rails.topology-keys: unknown key `mod`, did you mean `mode`? allowed: allow, from\n"
     "6:39 spec.rails.topology-keys.allow: found \"zone\", expected a list of strings; write "
     "[\"zone\n"
     "6:56 spec.rails.topology-keys.selfMatch: found the number 1, expected true or false\n"
     "6:66 spec.rails.topology-keys.since: found \"never\""},
    {HEAD "  rails:\n    instance-types:\n      allow: {family: [m5], sizes: [2xlarge, 1]}\n"
          "      deny: {minGeneration: 5}\n      max: {cpu: 0, memory: -1Gi, gpus: many}\n",
     "7:15 spec.rails.instance-types.allow: unknown key `family`, did you mean `families`? "
     "allowed\n"
     "7:46 spec.rails.instance-types.allow.sizes[1]: found the number 1, expected a string; quote\n"
     "8:14 spec.rails.instance-types.deny: unknown key `minGeneration`\n"
     "9:18 spec.rails.instance-types.max.cpu: found the number 0, expected a quantity above 0\n"
     "9:29 spec.rails.instance-types.max.memory: found \"-1Gi\"\n"
     "9:41 spec.rails.instance-types.max.gpus: found \"many\""},
    /* exceptions */
    {HEAD RAILS "  exceptions: [{rails: [topology-keys]}]\n",
     "6:16 spec.exceptions[0]: `id` is missing\n6:16 spec.exceptions[0]: `expires` is missing, "
     "expected a day"},
    {HEAD RAILS "  exceptions:\n    - {id: E1, rails: [], expires: 2027-02-29}\n"
                "    - {id: 2, rails: [topology-key, instance-types], expires: 2027-03-31}\n",
     "7:23 spec.exceptions[0].rails: found 0 items, expected at least 1; name them\n"
     "7:36 spec.exceptions[0].expires: found \"2027-02-29\"\n"
     "8:12 spec.exceptions[1].id: found the number 2, expected a string; quote it\n"
     "8:23 spec.exceptions[1].rails[0]: found \"topology-key\", which is no rail of this policy, "
     "did "
     "you mean `topology-keys`? it has: topology-keys\n"
     "8:37 spec.exceptions[1].rails[1]: found \"instance-types\", which is no rail of this policy"},
    {HEAD RAILS "  exceptions:\n    - " EXCEPTION "\n"
                "    - {id: E2, rails: [topology-keys], expires: 2027-03-31}\n"
                "    - " EXCEPTION "\n    - " EXCEPTION "\n",
     "9:12 spec.exceptions[2].id: found \"E1\", which another exception of this document has "
     "already\n"
     "10:12 spec.exceptions[3].id: found \"E1\""},
    {HEAD "  exceptions: [" EXCEPTION "]\n",
     "5:33 spec.exceptions[0].rails[0]: found \"topology-keys\", which is no rail of this policy; "
     "it"},
    {HEAD RAILS "  exceptions:\n    - id: E1\n      rails: [topology-keys]\n"
                "      expires: 2027-03-31\n      match: {excludeGroups: [a], names: [\"a[0]\"]}\n",
     "10:15 spec.exceptions[0].match: unknown key `excludeGroups`\n"
     "10:43 spec.exceptions[0].match.names[0]: found \"a[0]\", which holds '['"},
    {HEAD RAILS "  exceptions:\n    - {rails: [\"\"], expires: 2027-03-31}\n"
                "    - {rails: [topology-keys], expires: 2027-03-31}\n",
     "7:7 spec.exceptions[0]: `id` is missing\n"
     "7:16 spec.exceptions[0].rails[0]: is empty\n8:7 spec.exceptions[1]: `id` is missing"},
    {HEAD RAILS
     "  exceptions:\n    - id: E1\n      rails: [topology-keys]\n"
     "      expires: 2027-03-31\n      match: {serviceAccounts: [a/b], operations: []}\n",
     "10:15 spec.exceptions[0].match: unknown key `serviceAccounts`\n"
     "10:39 spec.exceptions[0].match: unknown key `operations`"},
    {HEAD RAILS "  match:\n    serviceAccounts: [argocd, a/, \"a/b/c\", \"a/[b]\", /b]\n"
                "    operations: [CONNECT]\n    labelSelector: {app: web}\n",
     "7:23 spec.match.serviceAccounts[0]: found \"argocd\", expected NAMESPACE/NAME of a service "
     "account, such as\n"
     "7:31 spec.match.serviceAccounts[1]: found \"a/\", expected NAMESPACE/NAME\n"
     "7:35 spec.match.serviceAccounts[2]: found \"a/b/c\", expected NAMESPACE/NAME\n"
     "7:44 spec.match.serviceAccounts[3]: found \"a/[b]\", which holds '['\n"
     "7:53 spec.match.serviceAccounts[4]: found \"/b\", expected NAMESPACE/NAME\n"
     "8:18 spec.match.operations[0]: found \"CONNECT\"; allowed: CREATE, UPDATE, DELETE\n"
     "9:21 spec.match.labelSelector: unknown key `app`"},
    /* overrides */
    {HEAD RAILS "  overrides:\n    - {}\n",
     "7:7 spec.overrides[0]: `id` is missing\n7:7 spec.overrides[0]: `match` is missing\n"
     "7:7 spec.overrides[0]: `step` is missing, expected one of softer, stricter"},
    {HEAD RAILS "  overrides:\n    - {id: a, match: {namespaces: [a]}, step: warn}\n"
                "    - {id: a, match: {names: [a]}, step: softer, rails: [zones]}\n",
     "7:47 spec.overrides[0].step: found \"warn\"; allowed: softer, stricter\n"
     "8:12 spec.overrides[1].id: found \"a\", which another override of this document has already\n"
     "8:22 spec.overrides[1].match: says no namespaces: an override is for some of them\n"
     "8:23 spec.overrides[1].match: unknown key `names`, did you mean `namespaces`?\n"
     "8:58 spec.overrides[1].rails[0]: found \"zones\", which is no rail of this policy; it has: "
     "topology-keys"},
    {HEAD "  mode: enforce\n  rails: {topology-keys: {}, zones: {mode: off}}\n  overrides:\n"
          "    - {id: a, match: {namespaces: [a]}, step: stricter, rails: [zones, topology-keys]}\n"
          "    - {id: b, match: {namespaces: [a]}, step: softer, rails: [zones, topology-keys]}\n",
     "8:72 spec.overrides[0].rails[1]: found \"topology-keys\", which is enforced already; nothing "
     "is stricter: take it out of the override\n"
     "9:63 spec.overrides[1].rails[0]: found \"zones\", which is off already; nothing is softer"},
    /* of a step that is none there is one thing to say */
    {HEAD "  mode: off\n" RAILS "  overrides:\n"
          "    - {id: a, match: {namespaces: [a]}, step: warn, rails: [topology-keys]}\n",
     "8:47 spec.overrides[0].step: found \"warn\"; allowed: softer, stricter"},
    {HEAD "  mode: enforce\n" RAILS "  overrides:\n"
          "    - {id: a, match: {namespaces: [a]}, step: stricter}\n",
     "8:47 spec.overrides[0].step: every rail of this policy is enforced already; nothing is "
     "stricter: take the override out"},
    {HEAD RAILS "  overrides:\n    - {id: a, match: {kinds: [Pod]}, step: softer}\n"
                "    - {id: b, match: {namespaces: [a]}, step: softer}\n",
     "7:22 spec.overrides[0].match: says no namespaces: an override is for some of them\n"
     "7:23 spec.overrides[0].match: unknown key `kinds`"},
    /* grants */
    {HEAD RAILS "  grants:\n    - {owner: a, rails: [zones]}\n"
                "    - {owner: b, rails: [topology-keys]}\n",
     "7:26 spec.grants[0].rails[0]: found \"zones\", which is no rail of this policy"},
    {HEAD RAILS "  exceptions:\n", "6:14 spec.exceptions: found nothing, expected a list of maps"},
    /* two documents */
    {HEAD RAILS "---\n" HEAD RAILS, "9:18 metadata.name: a policy \"p\" is at "},
    {HEAD "  mode: a\n---\nkind: GuardRails\n---\n" HEAD "  mode: b\n",
     "5:9 found \"a\"\n7:1 `apiVersion` is missing\n7:1 `metadata` is missing\n"
     "7:1 `spec` is missing\n11:18 a policy \"p\" is at \n13:9 found \"b\""},
    {HEAD "  mode: {{\n---\n" HEAD "  mode: b\n", "5:10 a key of a map is a map\n11:9 found \"b\""},
};

static void bad_policies_are_refused_with_all_their_problems(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct load result = load_text("p.yaml", refused[i].text);
        CU_ASSERT_FALSE(result.good);
        assert_problems(&result.errors, refused[i].problems, refused[i].text);
        for (size_t j = 0; j < result.errors.count; j++)
            CU_ASSERT_TRUE(
                text_ends_with(text_of(result.errors.items[j].place.file), TEXT("/p.yaml")));
        end(&result);
    }
}

static void json_is_read_too(void)
{
    struct load result = load_good(
        "p.json",
        "{\"apiVersion\": \"taffrail.dev/v1alpha1\", \"kind\": \"GuardRails\",\n"
        " \"metadata\": {\"name\": \"j\"}, \"spec\": {\"rails\": {\"topology-keys\": null}}}");
    ASSERT_INT(policy_set_count(result.set), 1);
    ASSERT_TEXT(result.set->items[0].name, "j");
    ASSERT_INT(result.set->items[0].rail_count, 1);
    end(&result);
    result = load_text("p.json",
                       "{\"apiVersion\": \"taffrail.dev/v1alpha1\", \"kind\": \"GuardRails\",\n"
                       "\"metadata\": {\"name\": \"j\"}, \"spec\": {\"mode\": \"a\",\n"
                       "\"mode\": \"b\"}}");
    assert_problems(&result.errors, "3:1 mode\n3:9 spec.mode: found \"b\"", "duplicate key");
    end(&result);
    result = load_text("p.json", "{\"apiVersion\": ");
    CU_ASSERT_FALSE(result.good);
    ASSERT_INT(result.errors.count, 1);
    end(&result);
}

/* ---- what is accepted ---- */

static void the_whole_policy_arrives(void)
{
    struct load result = load_good(
        "p.yaml",
        "apiVersion: taffrail.dev/v1alpha1\n"
        "kind: GuardRails\n"
        "metadata:\n"
        "  name: production\n"
        "  labels: {a: b}\n"
        "spec:\n"
        "  mode: warn\n"
        "  since: 2026-01-01\n"
        "  contact: \"#platform-compute\"\n"
        "  docs: https://wiki.example.com/compute/{rail}\n"
        "  match:\n"
        "    namespaces: [\"team-*\"]\n"
        "    excludeNamespaces: [kube-system, karpenter]\n"
        "    namespaceSelector: {matchLabels: {tier: prod}}\n"
        "    kinds: [Deployment]\n"
        "    excludeGroups: [\"system:masters\", \"CN=Admins, OU=It\"]\n"
        "  rails:\n"
        "    topology-keys:\n"
        "      mode: off\n"
        "      since: 2027-01-01T00:00:00Z\n"
        "    instance-types:\n"
        "  exceptions:\n"
        "    - id: EX-12\n"
        "      rails: [instance-types, topology-keys]\n"
        "      match: {namespaces: [ml-research], names: [\"train-*\"]}\n"
        "      owner: \"#ml-research\"\n"
        "      reason: >\n"
        "        quarterly\n"
        "        retraining\n"
        "      expires: 2027-03-31\n"
        "    - {id: EX-13, rails: [topology-keys], expires: \"2027-03-31T12:00:00+01:00\"}\n");
    ASSERT_INT(result.set->count, 1);
    const struct policy *policy = &result.set->items[0];
    ASSERT_TEXT(policy->name, "production");
    ASSERT_INT(policy->place.line, 4);
    ASSERT_INT(policy->place.column, 9);
    ASSERT_TEXT(policy->contact, "#platform-compute");
    ASSERT_TEXT(policy->docs, "https://wiki.example.com/compute/{rail}");
    CU_ASSERT_TRUE(policy->match.given && policy->match.kinds_given);
    ASSERT_TEXT(policy->match.namespaces.items[0], "team-*");
    ASSERT_INT(policy->match.exclude_namespaces.count, 2);
    CU_ASSERT_PTR_NOT_NULL(node_at(policy->match.namespace_selector, "matchLabels.tier"));
    ASSERT_INT(policy->match.kinds.known, KIND_BIT(KIND_DEPLOYMENT));
    CU_ASSERT_FALSE(policy->match.names.given);
    ASSERT_TEXT(policy->match.exclude_groups.items[1], "CN=Admins, OU=It");

    ASSERT_INT(policy->rail_count, 2);
    CU_ASSERT_STRING_EQUAL(policy->rails[0].rail->name, "instance-types");
    ASSERT_INT(policy->rails[0].mode, MODE_WARN);
    ASSERT_INT(policy->rails[0].since_unix_s, 1767225600);
    CU_ASSERT_PTR_NOT_NULL(policy->rails[0].settings);
    CU_ASSERT_STRING_EQUAL(policy->rails[1].rail->name, "topology-keys");
    ASSERT_INT(policy->rails[1].mode, MODE_OFF);
    ASSERT_INT(policy->rails[1].since_unix_s, 1798761600);

    ASSERT_INT(policy->exception_count, 2);
    const struct exception *exception = &policy->exceptions[0];
    ASSERT_TEXT(exception->id, "EX-12");
    ASSERT_TEXT(exception->owner, "#ml-research");
    ASSERT_TEXT(exception->reason, "quarterly retraining");
    ASSERT_TEXT(exception->rails.items[1], "topology-keys");
    ASSERT_TEXT(exception->match.namespaces.items[0], "ml-research");
    ASSERT_TEXT(exception->match.names.items[0], "train-*");
    CU_ASSERT_TRUE(exception->match.given);
    ASSERT_INT(exception->expires_unix_s, 1806537599);
    ASSERT_INT(exception->place.line, 30);
    ASSERT_INT(exception->place.column, 16);
    ASSERT_INT(policy->exceptions[1].expires_unix_s, 1806490800);
    CU_ASSERT_FALSE(policy->exceptions[1].match.given);
    assert_problems(&result.warnings, "", "production");
    end(&result);
}

static void a_mode_not_said_is_audit(void)
{
    struct load result = load_good("p.yaml", HEAD RAILS);
    ASSERT_INT(result.set->items[0].rails[0].mode, MODE_AUDIT);
    ASSERT_INT(result.set->items[0].rails[0].since_unix_s, 0);
    CU_ASSERT_FALSE(result.set->items[0].match.given);
    ASSERT_INT(result.set->items[0].contact.size, 0);
    end(&result);
}

static void a_policy_without_rails_is_warned_of(void)
{
    static const char *const specs[] = {HEAD "  rails: {}\n", HEAD "  mode: warn\n"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct load result = load_good("p.yaml", specs[i]);
        assert_problems(&result.warnings, "3:18 the policy \"p\" names no rail", specs[i]);
        end(&result);
    }
}

static void expired_exceptions_are_warned_of(void)
{
    struct load result = load_good("p.yaml", HEAD RAILS "  exceptions:\n    - " EXCEPTION "\n");
    enum { LAST_SECOND = 1806537599 };
    ASSERT_INT(result.warnings.count, 0);
    policy_warn_expired(result.set, LAST_SECOND, &result.warnings);
    ASSERT_INT(result.warnings.count, 0);
    policy_warn_expired(result.set, LAST_SECOND + 1, &result.warnings);
    assert_problems(&result.warnings, "7:49 the exception E1 of the policy \"p\" has expired",
                    "expired");
    end(&result);
}

/* What it would do to the rails is known once there are some. */
static void an_override_of_no_rails_is_accepted(void)
{
    struct load result = load_good(
        "p.yaml", HEAD "  overrides: [{id: a, match: {namespaces: [a]}, step: softer}]\n");
    ASSERT_INT(result.set->items[0].override_count, 1);
    end(&result);
}

/* ---- what is asked of the policies ---- */

static void a_set_judges_what_one_of_its_policies_does(void)
{
    static const struct {
        const char *rails, *rail;
        enum kind kind;
        enum operation operation;
        bool judged;
    } rows[] = {
        {"zones: {}, topology-keys: {}", "topology-keys", KIND_POD, OPERATION_CREATE, true},
        {"zones: {}", "topology-keys", KIND_POD, OPERATION_CREATE, false},
        {"topology-keys: {mode: off}", "topology-keys", KIND_POD, OPERATION_CREATE, false},
        {"topology-keys: {}", "topology-keys", KIND_NODE_POOL, OPERATION_CREATE, false},
        {"topology-keys: {}", "topology-keys", KIND_POD, OPERATION_DELETE, false},
        {"topology-keys: {}", "topology-keys", KIND_POD, OPERATION_CONNECT, false},
        {"change-impact: {}", "change-impact", KIND_NODE_POOL, OPERATION_DELETE, true},
        {"change-impact: {}", "change-impact", KIND_NODE_POOL, OPERATION_CREATE, false},
        {"change-impact: {deletions: [Namespace]}", "change-impact", KIND_NAMESPACE,
         OPERATION_DELETE, true},
        {"change-impact: {deletions: [Namespace]}", "change-impact", KIND_PERSISTENT_VOLUME_CLAIM,
         OPERATION_DELETE, false},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct text policy = arena_printf(arena, HEAD "  rails: {%s}\n", rows[i].rails);
        struct load result = load_good("p.yaml", policy.data);
        bool judged = policy_set_judges(result.set, rail_find(text_of(rows[i].rail)), rows[i].kind,
                                        rows[i].operation);
        if (judged != rows[i].judged)
            fprintf(stderr, "row %zu\n", i);
        CU_ASSERT_EQUAL(judged, rows[i].judged);
        end(&result);
    }
    arena_destroy(arena);
}

/* ---- files and folders ---- */

static void write_policy(const char *name, const char *policy)
{
    char text[512];
    snprintf(text, sizeof text,
             "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: %s}\n"
             "spec: {rails: {topology-keys: {}}}\n",
             policy);
    write_file(name, text);
}

static void the_policies_of_a_folder_stand_by_name(void)
{
    make_folder();
    write_policy("b.yml", "second");
    write_policy("a.yaml", "first");
    write_file("empty.yaml", "# nothing yet\n");
    write_file("README.md", "not: [a policy\n");
    write_folder("c");
    write_policy("c/d.yaml", "third");
    /* as a ConfigMap is mounted: the same file once more, behind a link */
    write_folder("..data");
    write_policy("..data/a.yaml", "first");
    write_policy(".hidden.yaml", "second");
    write_policy("z.json.yaml", "last");
    struct load result = load((const char *const[]){"", NULL});
    static const char *const names[] = {"first", "last", "second", "third"};
    CU_ASSERT_TRUE_FATAL(result.good);
    CU_ASSERT_EQUAL_FATAL(policy_set_count(result.set), 4);
    for (size_t i = 0; i < 4; i++)
        ASSERT_TEXT(result.set->items[i].name, names[i]);
    end(&result);

    /* by name, whatever the order of the paths, and nothing read twice */
    result = load((const char *const[]){"c", "a.yaml", NULL});
    ASSERT_INT(policy_set_count(result.set), 2);
    ASSERT_TEXT(result.set->items[0].name, "first");
    end(&result);
    result = load((const char *const[]){"a.yaml", "c", "a.yaml", NULL});
    assert_problems(&result.errors, "3:18 metadata.name: a policy \"first\" is at ", "twice");
    end(&result);
    /* of two files the one that is named later is wrong */
    write_policy("d.yaml", "first");
    static const char *const orders[][3] = {{"a.yaml", "d.yaml", NULL}, {"d.yaml", "a.yaml", NULL}};
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        result = load(orders[i]);
        assert_problems(&result.errors, "3:18 metadata.name: a policy \"first\" is at ",
                        orders[i][0]);
        CU_ASSERT_TRUE(
            text_ends_with(text_of(result.errors.items[0].place.file), text_of(orders[i][1])));
        end(&result);
    }
    remove_folder();
}

static void cases_are_passed_over(void)
{
    make_folder();
    write_policy("a.yaml", "first");
    write_file("cases.yaml", "- name: a case\n");
    write_folder("tests");
    write_folder("tests/deep");
    write_file("tests/pod.yaml", "kind: Pod\n");
    write_policy("tests/deep/b.yaml", "second");
    write_folder("more");
    write_folder("more/tests");
    write_file("more/tests/pod.yaml", "kind: Pod\n");
    write_policy("my-tests.yaml", "third");
    write_policy("more/mycases.yaml", "fourth");
    struct load result = load((const char *const[]){"", NULL});
    CU_ASSERT_TRUE(result.good);
    ASSERT_INT(policy_set_count(result.set), 3);
    end(&result);
    result = load((const char *const[]){"/", NULL});
    ASSERT_INT(policy_set_count(result.set), 3);
    end(&result);

    /* what is named is read, whatever it is called */
    result = load((const char *const[]){"tests/deep", NULL});
    ASSERT_INT(policy_set_count(result.set), 1);
    end(&result);
    result = load((const char *const[]){"tests", NULL});
    assert_problems(&result.errors, "1:7 kind", "tests");
    end(&result);
    result = load((const char *const[]){"cases.yaml", NULL});
    CU_ASSERT_FALSE(result.good);
    end(&result);
    remove_folder();
}

/* As a folder that the ConfigMap is mounted as. */
static void keys_are_read_as_files(void)
{
    static const struct {
        struct text key;
        bool read;
    } rows[] = {
        {TEXT("a.yaml"), true},       {TEXT("a.yml"), true},  {TEXT("a.json"), true},
        {TEXT("mycases.yaml"), true}, {TEXT("a.txt"), false}, {TEXT("README"), false},
        {TEXT(".a.yaml"), false},     {TEXT(""), false},      {TEXT("cases.yaml"), false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CU_ASSERT_EQUAL(policy_key_is_read(rows[i].key), rows[i].read);
}

static void what_cannot_be_read_is_said(void)
{
    make_folder();
    write_folder("empty");
    write_folder("other");
    write_file("other/notes.txt", "x");
    write_file("other/nothing.yaml", "");
    struct load result =
        load((const char *const[]){"empty", "missing.yaml", "other", "missing/", NULL});
    assert_problems(&result.errors,
                    "0:0 there is no policy in this folder\n0:0 No such file or directory\n"
                    "0:0 there is no policy in this folder\n0:0 No such file or directory",
                    "missing");
    ASSERT_INT(policy_set_count(result.set), 0);
    for (size_t i = 0; i < result.errors.count; i++)
        CU_ASSERT_TRUE(
            text_starts_with(text_of(result.errors.items[i].place.file), text_of(folder)));
    end(&result);

    char link[256];
    path_in_folder("other/loop", link);
    ASSERT_INT(symlink("..", link), 0);
    result = load((const char *const[]){"other", NULL});
    assert_problems(&result.errors, "0:0 there is no policy in this folder", "a link back");
    end(&result);
    remove_folder();
}

static void errors_of_files_come_in_order(void)
{
    make_folder();
    write_file("1.yaml", HEAD "  mode: a\n");
    write_policy("2.yaml", "two");
    write_file("3.yaml", "kind: GuardRails\nmetadata: {name: x}\nspec: {mode: 1}\napiVersion: b\n");
    struct load result = load((const char *const[]){"", NULL});
    assert_problems(&result.errors, "5:9 spec.mode\n3:14 spec.mode\n4:13 apiVersion", "order");
    CU_ASSERT_TRUE(text_ends_with(text_of(result.errors.items[0].place.file), TEXT("/1.yaml")));
    CU_ASSERT_TRUE(text_ends_with(text_of(result.errors.items[1].place.file), TEXT("/3.yaml")));
    end(&result);
    remove_folder();
}

static void a_hostile_file_ends_soon(void)
{
    struct text_builder text = {.arena = arena_create(64 << 20)};
    text_builder_add(&text, TEXT(HEAD RAILS "  exceptions:\n"));
    for (int i = 0; i < 20000; i++)
        text_builder_add(&text, TEXT("  - {id: a, rails: [b], expires: c, d: e}\n"));
    struct load result = load_text("p.yaml", text_builder_text(&text).data);
    ASSERT_INT(result.errors.count, 101);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.errors.items[100].what, "more problems may follow"));
    end(&result);

    struct text_builder deep = {.arena = text.arena};
    text_builder_add(&deep, TEXT(HEAD "  rails: "));
    for (int i = 0; i < 100; i++)
        text_builder_add(&deep, TEXT("["));
    result = load_text("p.yaml", text_builder_text(&deep).data);
    ASSERT_INT(result.errors.count, 1);
    ASSERT_INT(result.errors.items[0].kind, ERROR_LIMIT);
    end(&result);
    arena_destroy(text.arena);
}

/* As the server reads policies of the cluster beside its files. */
static void texts_are_read_beside_files(void)
{
    make_folder();
    write_policy("a.yaml", "first");
    char path[256];
    path_in_folder("a.yaml", path);
    const char *const paths[] = {path};
    static const struct policy_text texts[] = {
        {"ConfigMap b/c", TEXT(HEAD RAILS)},
        {"ConfigMap b/d", TEXT("# nothing\n")},
        {"ConfigMap b/e", TEXT("kind: [\n")},
    };
    struct arena *arena = arena_create(64 << 20);
    for (size_t count = 1; count <= COUNT_OF(texts); count++) {
        const struct policy_sources sources = {paths, 1, texts, count};
        const struct policy_set *set = NULL;
        struct problems errors = {.arena = arena}, warnings = {.arena = arena};
        bool good =
            policy_load_all(&sources, catalog_builtin(arena), arena, &set, &errors, &warnings);
        CU_ASSERT_EQUAL(good, count == 1);
        ASSERT_INT(policy_set_count(set), 2);
        ASSERT_TEXT(set->items[0].name, "first");
        CU_ASSERT_EQUAL_FATAL(errors.count, count - 1);
        for (size_t i = 0; i < errors.count; i++)
            CU_ASSERT_STRING_EQUAL(errors.items[i].place.file, texts[i + 1].name);
    }
    arena_destroy(arena);
    remove_folder();
}

static void a_policy_comes_from_standard_input(void)
{
    make_folder();
    write_file("p.yaml", HEAD "  mode: a\n");
    char path[256];
    path_in_folder("p.yaml", path);
    struct arena *arena = arena_create(64 << 20);
    const char *const paths[] = {"-"};
    const struct policy_set *set = NULL;
    struct problems errors = {.arena = arena}, warnings = {.arena = arena};
    int before = dup(STDIN_FILENO);
    CU_ASSERT_PTR_NOT_NULL_FATAL(freopen(path, "r", stdin));
    CU_ASSERT_FALSE(policy_load(paths, 1, catalog_builtin(arena), arena, &set, &errors, &warnings));
    CU_ASSERT_FATAL(dup2(before, STDIN_FILENO) == STDIN_FILENO && close(before) == 0);
    assert_problems(&errors, "5:9 spec.mode", "standard input");
    CU_ASSERT_STRING_EQUAL(errors.items[0].place.file, "<stdin>");
    arena_destroy(arena);
    remove_folder();
}

const char unit_suite[] = "policy load";
const struct unit_test unit_tests[] = {
    {"bad policies are refused with all their problems",
     bad_policies_are_refused_with_all_their_problems},
    {"JSON is read too", json_is_read_too},
    {"the whole policy arrives", the_whole_policy_arrives},
    {"a mode not said is audit", a_mode_not_said_is_audit},
    {"a policy without rails is warned of", a_policy_without_rails_is_warned_of},
    {"expired exceptions are warned of", expired_exceptions_are_warned_of},
    {"an override of no rails is accepted", an_override_of_no_rails_is_accepted},
    {"a set judges what one of its policies does", a_set_judges_what_one_of_its_policies_does},
    {"texts are read beside files", texts_are_read_beside_files},
    {"a policy comes from standard input", a_policy_comes_from_standard_input},
    {"the policies of a folder stand by name", the_policies_of_a_folder_stand_by_name},
    {"cases and what they judge are passed over", cases_are_passed_over},
    {"keys are read as files", keys_are_read_as_files},
    {"what cannot be read is said", what_cannot_be_read_is_said},
    {"errors of files come in order", errors_of_files_come_in_order},
    {"a hostile file ends soon", a_hostile_file_ends_soon},
    {NULL, NULL},
};
