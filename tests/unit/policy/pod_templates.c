/* podTemplates: what a policy may say of custom resources, where their templates are found, and
 * which resources the webhook has to be sent. How rails judge them is in scenarios/pod-templates.
 */
#include "policy/pod_templates.h"

#include <string.h>

#include "rail_table.h"

/* ---- loading ---- */

struct loaded {
    bool good;
    struct policy policy;
    struct text problems; /* a line each: LINE:COLUMN MESSAGE */
};

/* What stands under spec, in which the first line is line 6. */
static struct loaded load(const char *spec, struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = arena_printf(arena,
                                "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\n"
                                "metadata:\n  name: p\nspec:\n%s",
                                spec);
    struct problems problems = {.arena = arena};
    struct problems warnings = {.arena = arena};
    const struct node *root = NULL;
    struct loaded loaded = {0};
    doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, arena, &problems, rail_table_take_root,
                  (void *)&root);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    struct schema schema = {source, arena, &problems};
    loaded.good = document_read(&schema, root, catalog_builtin(arena), &warnings, &loaded.policy);
    struct text_builder lines = {.arena = arena};
    for (size_t i = 0; i < problems.count; i++) {
        const struct error *error = &problems.items[i];
        text_builder_printf(&lines, "%u:%u %s\n", error->place.line, error->place.column,
                            error->what);
    }
    loaded.problems = text_builder_text(&lines);
    return loaded;
}

#define RAY(more) "  podTemplates:\n    - {group: ray.io, kind: RayCluster" more "}\n"
#define PATHS ", paths: [spec.template]"

static const struct {
    const char *spec, *problems; /* of each line its beginning */
} refused[] = {
    {RAY(", path: [spec.template]"),
     "7:41 spec.podTemplates[0]: unknown key `path`, did you mean `paths`?\n"
     "7:7 spec.podTemplates[0]: `paths` is missing, expected where its pod templates are, such as "
     "[spec.template]; or `podSpecs`\n"},
    {RAY(", paths: []"),
     "7:48 spec.podTemplates[0].paths: found 0 items, expected at least 1; name them, or leave "
     "the key out\n"},
    {"  podTemplates:\n    - {paths: [spec.template]}\n",
     "7:7 spec.podTemplates[0]: `group` is missing, expected a string\n"
     "7:7 spec.podTemplates[0]: `kind` is missing, expected a string\n"},
    {"  podTemplates: {group: ray.io}\n",
     "6:17 spec.podTemplates: found a map, expected a list of maps\n"},
    {"  podTemplates: [rayclusters]\n",
     "6:18 spec.podTemplates[0]: found \"rayclusters\", expected a map\n"},
    /* paths */
    {RAY(", paths: [spec..template, .spec, spec., \"a[0].b\", \"a[*][*]\", \"[*].a\"]"),
     "7:49 spec.podTemplates[0].paths[0]: found \"spec..template\", expected keys with dots "
     "between them, and [*] behind that of a list, such as spec.workerGroupSpecs[*].template\n"
     "7:65 spec.podTemplates[0].paths[1]: found \".spec\"\n"
     "7:72 spec.podTemplates[0].paths[2]: found \"spec.\"\n"
     "7:79 spec.podTemplates[0].paths[3]: found \"a[0].b\"\n"
     "7:89 spec.podTemplates[0].paths[4]: found \"a[*][*]\"\n"
     "7:100 spec.podTemplates[0].paths[5]: found \"[*].a\"\n"},
    {RAY(", podSpecs: [/spec/driver, $.spec]"),
     "7:52 spec.podTemplates[0].podSpecs[0]: found \"/spec/driver\"\n"
     "7:66 spec.podTemplates[0].podSpecs[1]: found \"$.spec\"\n"},
    {RAY(", podSpecs: []"), "7:51 spec.podTemplates[0].podSpecs: found 0 items\n"},
    {RAY(", podSpecs: [spec.a-b, spec.c_d, spec.e1, spec.F, \"spec.~\"]"),
     "7:89 spec.podTemplates[0].podSpecs[4]: found \"spec.~\"\n"},
    {RAY(", podSpecs: [spec.a, spec.a]"),
     "7:60 spec.podTemplates[0].podSpecs[1]: found \"spec.a\"\n"},
    {RAY(", paths: [spec.a, spec.b, spec.a], podSpecs: [spec.b.spec, spec.a.specs]"),
     "7:65 spec.podTemplates[0].paths[2]: found \"spec.a\", where \"spec.a\" leads already: take "
     "one of them out\n"
     "7:85 spec.podTemplates[0].podSpecs[0]: found \"spec.b.spec\", where \"spec.b\" leads "
     "already\n"},
    /* names */
    {"  podTemplates: [{group: apps, kind: Deployment" PATHS "}]\n",
     "6:38 spec.podTemplates[0].kind: found \"Deployment\", which is judged without being named "
     "here: take the entry out; podTemplates are for custom resources\n"},
    {"  podTemplates: [{group: karpenter.sh, kind: NodePool" PATHS "}]\n",
     "6:46 spec.podTemplates[0].kind: found \"NodePool\", which is judged without being named\n"},
    {"  podTemplates: [{group: apps, kind: StatefulSets" PATHS "}]\n",
     "6:26 spec.podTemplates[0].group: found \"apps\", expected the API group of a custom resource "
     "without its version, such as ray.io\n"},
    {"  podTemplates: [{group: ray.io/v1, kind: rayCluster, resource: RayClusters" PATHS "}]\n",
     "6:26 spec.podTemplates[0].group: found \"ray.io/v1\", expected the API group\n"
     "6:43 spec.podTemplates[0].kind: found \"rayCluster\", expected a kind as manifests name it, "
     "such as RayCluster\n"
     "6:65 spec.podTemplates[0].resource: found \"RayClusters\", expected a plural in small "
     "letters, as kubectl api-resources names it, such as rayclusters\n"},
    {"  podTemplates: [{group: ray.io, kind: \"Ray~\"" PATHS "}]\n",
     "6:40 spec.podTemplates[0].kind: found \"Ray~\", expected a kind\n"},
    {"  podTemplates:\n    - {group: ray, kind: Ray_1" PATHS "}\n"
     "    - {group: ray.io, kind: [a]" PATHS "}\n    - {group: ray.io, kind: Ray2" PATHS "}\n",
     "8:29 spec.podTemplates[1].kind: found a list, expected a string\n"
     "7:15 spec.podTemplates[0].group: found \"ray\", expected the API group\n"
     "7:26 spec.podTemplates[0].kind: found \"Ray_1\", expected a kind\n"},
    {"  podTemplates: [{group: ray.io, kind: 1Ray" PATHS "}]\n",
     "6:40 spec.podTemplates[0].kind: found \"1Ray\", expected a kind\n"},
    {"  podTemplates: [{group: a..b, kind: Ray-Cluster, resource: ray.clusters" PATHS "}]\n",
     "6:26 spec.podTemplates[0].group: found \"a..b\", expected the API group\n"
     "6:38 spec.podTemplates[0].kind: found \"Ray-Cluster\", expected a kind\n"
     "6:61 spec.podTemplates[0].resource: found \"ray.clusters\", expected a plural\n"},
    {"  podTemplates:\n"
     "    - {group: ray.io, kind: RayCluster" PATHS "}\n"
     "    - {group: example.com, kind: RayCluster" PATHS "}\n"
     "    - {group: ray.io, kind: RayCluster, podSpecs: [spec.other]}\n",
     "9:29 spec.podTemplates[2].kind: found \"RayCluster\" of ray.io, which "
     "spec.podTemplates[0] has already: put all of its paths there\n"},
    /* who is trusted besides */
    {"  trustedControllers: [{account: argo, owner: Rollout.argoproj.io, makes: ReplicaSet}]\n",
     "6:34 spec.trustedControllers[0].account: found \"argo\", expected NAMESPACE/NAME of a "
     "service "
     "account\n"},
    {"  trustedControllers: [{account: a/b, owner: Rollout, makes: ReplicaSets}]\n",
     "6:62 spec.trustedControllers[0].makes: found \"ReplicaSets\", did you mean `ReplicaSet`?\n"
     "6:46 spec.trustedControllers[0].owner: found \"Rollout\", expected KIND.GROUP, without a "
     "version, such as Rollout.argoproj.io\n"},
    {"  trustedControllers: [{account: a/b, owner: Rollout.argoproj.io/v1, makes: Pod}, {}]\n",
     "6:83 spec.trustedControllers[1]: `account` is missing\n"
     "6:83 spec.trustedControllers[1]: `owner` is missing\n"
     "6:83 spec.trustedControllers[1]: `makes` is missing\n"
     "6:46 spec.trustedControllers[0].owner: found \"Rollout.argoproj.io/v1\", expected "
     "KIND.GROUP\n"},
    {"  trustedControllers:\n"
     "    - {account: a, owner: rollout.argoproj.io, makes: Pod, resource: Rollouts}\n"
     "    - {account: b/c, owner: Rollout.argoproj.io, makes: Pod, resource: rollouts}\n",
     "7:17 spec.trustedControllers[0].account: found \"a\"\n"
     "7:27 spec.trustedControllers[0].owner: found \"rollout.argoproj.io\"\n"
     "7:70 spec.trustedControllers[0].resource: found \"Rollouts\", expected a plural\n"},
    /* what match may name */
    {"  match: {kinds: [RayCluster]}\n" RAY(PATHS),
     "6:19 spec.match.kinds[0]: found \"RayCluster\"; allowed: Pod, Deployment\n"},
    {"  match: {kinds: [Pod, RayCluster.ray.com]}\n" RAY(PATHS),
     "6:24 spec.match.kinds: found \"RayCluster.ray.com\", which podTemplates of this policy do "
     "not name, did you mean `RayCluster.ray.io`? they name: RayCluster.ray.io\n"},
    {"  rails: {zones: {allow: [a]}}\n  exceptions:\n"
     "    - {id: a, rails: [zones], expires: 2030-01-01, match: {kinds: [RayCluster.ray.io]}}\n",
     "8:68 spec.exceptions[0].match.kinds: found \"RayCluster.ray.io\", which podTemplates of this "
     "policy do not name; they name: none\n"},
    {"  rails: {zones: {allow: [a]}}\n  exceptions:\n"
     "    - {id: a, rails: [zones], expires: 2030-01-01, match: {kinds: [RayCluster.ray.io]}}\n"
     "    - {id: b, rails: [zones], expires: 2030-01-01, match: {kinds: [Pod]}}\n",
     "8:68 spec.exceptions[0].match.kinds: found \"RayCluster.ray.io\"\n"},
};

/* Of each line as much as is expected. */
static bool begin_alike(struct text actual, struct text expected)
{
    struct text line = TEXT("");
    struct text wanted = TEXT("");
    while (text_split(expected, '\n', &wanted, &expected))
        if (!text_split(actual, '\n', &line, &actual) || !text_starts_with(line, wanted))
            return false;
    return actual.size == 0;
}

static void wrong_entries_are_refused_where_they_stand(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct loaded loaded = load(refused[i].spec, arena);
        CU_ASSERT_FALSE(loaded.good);
        if (!begin_alike(loaded.problems, text_of(refused[i].problems)))
            ASSERT_TEXT(loaded.problems, refused[i].problems);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void a_resource_is_the_kind_with_an_s_unless_it_is_named(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct loaded loaded = load("  podTemplates:\n"
                                "    - {group: ray.io, kind: RayCluster" PATHS "}\n"
                                "    - {group: a.b-c.d, kind: Index, resource: indices" PATHS "}\n"
                                /* its group tells it from Kubernetes' own */
                                "    - {group: batch.volcano.sh, kind: Job" PATHS "}\n",
                                arena);
    ASSERT_TEXT(loaded.problems, "");
    CU_ASSERT_TRUE_FATAL(loaded.good);
    ASSERT_INT(loaded.policy.templated_count, 3);
    ASSERT_TEXT(loaded.policy.templated[0].resource, "rayclusters");
    ASSERT_TEXT(loaded.policy.templated[1].resource, "indices");
    ASSERT_TEXT(loaded.policy.templated[2].resource, "jobs");
    arena_destroy(arena);
}

/* ---- finding templates ---- */

#define OBJECT(spec) \
    "{apiVersion: ray.io/v2, kind: RayCluster, metadata: {name: a, labels: {x: y}}, " spec "}"
#define TEMPLATE "{metadata: {labels: {a: b}}, spec: {nodeName: m}}"

static const struct {
    const char *paths, *object;
    const char *found; /* a line each: paths of metadata and spec */
} searches[] = {
    {"paths: [spec.template]", OBJECT("spec: {template: " TEMPLATE "}"),
     "spec.template.metadata spec.template.spec"},
    {"paths: [template]", OBJECT("template: {}"), "template.metadata template.spec"},
    {"paths: [\"spec.groups[*].template\"]",
     OBJECT("spec: {groups: [{template: {}}, {name: b}, 3, null, {template: {}}]}"),
     "spec.groups[0].template.metadata spec.groups[0].template.spec\n"
     "spec.groups[4].template.metadata spec.groups[4].template.spec"},
    {"paths: [\"a[*].b[*]\"]", OBJECT("a: [{b: [{}, {}]}, {b: []}, {b: [{}]}]"),
     "a[0].b[0].metadata a[0].b[0].spec\na[0].b[1].metadata a[0].b[1].spec\n"
     "a[2].b[0].metadata a[2].b[0].spec"},
    {"paths: [spec.b, spec.a]", OBJECT("spec: {a: {}, b: {}}"),
     "spec.b.metadata spec.b.spec\nspec.a.metadata spec.a.spec"},
    /* what is not there, and what is something else */
    {"paths: [spec.template]", OBJECT("spec: {}"), ""},
    {"paths: [spec.template]", OBJECT("a: b"), ""},
    {"paths: [spec.template]", OBJECT("spec: {template: null}"), ""},
    {"paths: [spec.template]", OBJECT("spec: {template: [{}]}"), ""},
    {"paths: [spec.template]", OBJECT("spec: [{template: {}}]"), ""},
    {"paths: [\"spec.groups[*]\"]", OBJECT("spec: {groups: {a: {}}}"), ""},
    {"paths: [spec.template.spec.template]", OBJECT("spec: {template: a}"), ""},
    /* labels and annotations in the spec, under its metadata, beside it */
    {"podSpecs: [spec.driver]", OBJECT("spec: {driver: {}}"), "spec.driver spec.driver"},
    {"podSpecs: [spec.driver]", OBJECT("spec: {driver: {metadata: {}}}"),
     "spec.driver.metadata spec.driver"},
    {"podSpecs: [spec.driver.template.spec]", OBJECT("spec: {driver: {template: {spec: {}}}}"),
     "spec.driver.template.metadata spec.driver.template.spec"},
    {"paths: [spec.a], podSpecs: [spec.a.tail]", OBJECT("spec: {a: {tail: {}}}"),
     "spec.a.metadata spec.a.spec\nspec.a.tail spec.a.tail"},
    {"podSpecs: [spec]", OBJECT("spec: {nodeSelector: {}}"), "spec spec"},
};

static struct views find(const struct policy *policy, const char *yaml, struct arena *arena)
{
    struct rail_documents documents = rail_table_read(yaml, arena);
    const struct object *object = &documents.items[0];
    const struct templated_kind *kind =
        templated_kind_find(policy, object->api_version, object->kind_name);
    if (kind == NULL)
        return (struct views){0};
    return pod_templates_read(kind, object, arena);
}

static void templates_are_found_by_their_paths(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(searches); i++) {
        struct text spec = arena_printf(
            arena, "  podTemplates: [{group: ray.io, kind: RayCluster, %s}]\n", searches[i].paths);
        struct loaded loaded = load(spec.data, arena);
        ASSERT_TEXT(loaded.problems, "");
        struct views views = find(&loaded.policy, searches[i].object, arena);
        struct text_builder found = {.arena = arena};
        for (size_t j = 0; j < views.count; j++) {
            struct workload workload;
            CU_ASSERT_TRUE_FATAL(workload_read(&views.items[j], arena, &workload));
            ASSERT_TEXT(views.items[j].name, "a");
            text_builder_printf(&found, "%s%.*s %.*s", j == 0 ? "" : "\n",
                                TEXT_ARGS(field_path(arena, workload.metadata)),
                                TEXT_ARGS(field_path(arena, workload.spec)));
        }
        ASSERT_TEXT(text_builder_text(&found), searches[i].found);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void containers_that_a_controller_completes_are_left_out(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct loaded loaded = load(
        "  podTemplates: [{group: ray.io, kind: RayCluster, podSpecs: [spec.driver]}]\n", arena);
    struct views views = find(&loaded.policy,
                              OBJECT("spec: {driver: {containers: [{name: a}], nodeName: m, "
                                     "initContainers: [{name: b}]}}"),
                              arena);
    ASSERT_INT(views.count, 1);
    const struct node *spec = views.items[0].template->spec->node;
    ASSERT_INT(node_count(spec), 1);
    ASSERT_TEXT(node_string(node_get(spec, "nodeName")), "m");
    arena_destroy(arena);
}

/* A RayCluster of that many templates in a list; more: behind them. */
static const char *many_templates(size_t count, const char *template, const char *more,
                                  struct arena *arena)
{
    struct text_builder object = {.arena = arena};
    text_builder_printf(&object, "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {name: a}, "
                                 "groups: [");
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&object, "%s%s", i == 0 ? "" : ", ", template);
    text_builder_printf(&object, "]%s}", more);
    return text_builder_text(&object).data;
}

static void an_object_of_very_many_templates_is_not_judged_for_ever(void)
{
    static const struct {
        size_t templates;
        const char *more;
        size_t judged;
        bool cut;
    } rows[] = {
        {TEMPLATES_MAX - 1, ", last: {}", TEMPLATES_MAX, false},
        {TEMPLATES_MAX, "", TEMPLATES_MAX, false},
        {TEMPLATES_MAX, ", last: 5", TEMPLATES_MAX, false},
        {TEMPLATES_MAX, ", last: {}", TEMPLATES_MAX, true},
        {TEMPLATES_MAX + 500, ", last: {}", TEMPLATES_MAX, true},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct loaded loaded =
        load("  podTemplates: [{group: ray.io, kind: RayCluster, paths: [\"groups[*]\", last]}]\n",
             arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct views views = find(
            &loaded.policy, many_templates(rows[i].templates, "{}", rows[i].more, arena), arena);
        ASSERT_INT(views.count, rows[i].judged);
        CU_ASSERT_EQUAL(views.cut, rows[i].cut);
    }
    arena_destroy(arena);
}

/* What stands behind those that are judged is decided all the same. */
static void what_is_behind_very_many_templates_is_decided(void)
{
#define OF_GROUPS                                                                                  \
    "}, podTemplates: [{group: ray.io, kind: RayCluster, paths: [\"groups[*]\", last]}], limits: " \
    "{"
#define NODE_NAME "scheduler-bypass: {}" OF_GROUPS
#define NOTED "scheduler-bypass: {mode: audit}" OF_GROUPS
#define OFF "scheduler-bypass: {mode: off}" OF_GROUPS
#define OF_POOLS "pool-shape: {}" OF_GROUPS
    static const struct {
        const char *rails;
        size_t templates;
        const char *more, *old; /* old: what is behind them in the old object; NULL: it is new */
        enum action action;
    } rows[] = {
        {NODE_NAME, TEMPLATES_MAX, ", last: {spec: {nodeName: m}}", NULL, ACTION_DENY},
        {NODE_NAME, TEMPLATES_MAX - 1, ", last: {}", NULL, ACTION_NONE},
        {NOTED, TEMPLATES_MAX, ", last: {}", NULL, ACTION_WARN},
        {OFF, TEMPLATES_MAX, ", last: {}", NULL, ACTION_NONE},
        {OF_POOLS, TEMPLATES_MAX, ", last: {}", NULL, ACTION_NONE},
        {NODE_NAME, TEMPLATES_MAX, ", last: {}", ", last: {}", ACTION_WARN},
        {NODE_NAME, TEMPLATES_MAX, ", last: {spec: {nodeName: m}}", ", last: {}", ACTION_DENY},
    };
    struct arena *arena = arena_create((size_t)256 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world world = rail_table_world(rows[i].rails, NULL, arena);
        struct rail_documents objects =
            rail_table_read(many_templates(rows[i].templates, "{}", rows[i].more, arena), arena);
        struct subject subject = {.operation = OPERATION_CREATE, .object = objects.items};
        struct rail_documents before = {0};
        if (rows[i].old != NULL) {
            before =
                rail_table_read(many_templates(rows[i].templates, "{}", rows[i].old, arena), arena);
            subject.operation = OPERATION_UPDATE;
            subject.old_object = before.items;
        }
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, rows[i].action);
        ASSERT_INT(verdict.finding_count, rows[i].action != ACTION_NONE);
        if (verdict.finding_count == 0)
            continue;
        CU_ASSERT_STRING_EQUAL(verdict.findings[0].rail, "scheduler-bypass");
        ASSERT_TEXT(verdict.findings[0].message,
                    "This RayCluster has more than 1000 pod templates, and only the first 1000 are "
                    "judged. Split it into several, of 1000 pod templates at most.");
    }
    arena_destroy(arena);
}

/* ---- which policies, which kinds ---- */

static void a_kind_is_told_by_its_group(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    struct loaded loaded =
        load("  podTemplates: [{group: ray.io, kind: RayCluster, paths: [spec]}]\n", arena);
    static const struct {
        const char *api_version, *kind;
        bool known;
    } cases[] = {
        {"ray.io/v1", "RayCluster", true},    {"ray.io/v1alpha1", "RayCluster", true},
        {"ray.io/v1", "RayJob", false},       {"ray.io/v1", "raycluster", false},
        {"x.ray.io/v1", "RayCluster", false}, {"v1", "RayCluster", false},
        {"ray.io", "RayCluster", false},      {"apps/v1", "Deployment", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        CU_ASSERT_EQUAL(templated_kind_find(&loaded.policy, text_of(cases[i].api_version),
                                            text_of(cases[i].kind)) != NULL,
                        cases[i].known);
    arena_destroy(arena);
}

static void the_webhook_is_sent_what_some_rail_judges(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct policy policies[] = {
        load("  rails: {zones: {allow: [a]}}\n"
             "  podTemplates:\n"
             "    - {group: ray.io, kind: RayJob" PATHS "}\n"
             "    - {group: ray.io, kind: RayCluster" PATHS "}\n",
             arena)
            .policy,
        load("  rails: {topology-keys: {mode: warn}, zones: {mode: off, allow: [a]}}\n"
             "  podTemplates:\n"
             "    - {group: ray.io, kind: RayCluster, paths: [spec.other]}\n"
             "    - {group: argoproj.io, kind: Rollout" PATHS "}\n",
             arena)
            .policy,
        /* off, of pools alone, and of replicas alone */
        load("  rails: {zones: {mode: off, allow: [a]}, pool-shape: {}, shared-volume: {}}\n"
             "  podTemplates: [{group: jobset.x-k8s.io, kind: JobSet" PATHS "}]\n",
             arena)
            .policy,
    };
    const struct policy_set set = {.items = policies, .count = COUNT_OF(policies)};
    struct custom_resources resources;
    policy_set_custom_resources(&set, arena, &resources);
    static const char *const expected[][2] = {
        {"ray.io", "rayjobs"}, {"ray.io", "rayclusters"}, {"argoproj.io", "rollouts"}};
    CU_ASSERT_EQUAL_FATAL(resources.count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        ASSERT_TEXT(resources.items[i].group, expected[i][0]);
        ASSERT_TEXT(resources.items[i].plural, expected[i][1]);
    }
    arena_destroy(arena);
}

/* ---- whom a policy reaches ---- */

static void match_names_a_custom_resource_with_its_group(void)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    static const struct {
        const char *match, *object;
        enum match_result expected;
    } cases[] = {
        {"kinds: [RayCluster.ray.io]", "{apiVersion: ray.io/v1, kind: RayCluster}", MATCH_YES},
        {"kinds: [Pod]", "{apiVersion: ray.io/v1, kind: RayCluster}", MATCH_NO},
        {"kinds: [RayCluster.ray.io]", "{apiVersion: ray.io/v1, kind: RayJob}", MATCH_NO},
        {"kinds: [RayCluster.ray.io]", "{apiVersion: b.io/v1, kind: RayCluster}", MATCH_NO},
        {"kinds: [Pod, RayCluster.ray.io]", "{apiVersion: v1, kind: Pod}", MATCH_YES},
        {"kinds: [RayCluster.ray.io]", "{apiVersion: v1, kind: Pod}", MATCH_NO},
        {"namespaces: [ml]", "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {namespace: ml}}",
         MATCH_YES},
        {"namespaces: [ml]", "{apiVersion: ray.io/v1, kind: RayCluster}", MATCH_NO},
        {"excludeNamespaces: [ml]",
         "{apiVersion: ray.io/v1, kind: RayCluster, metadata: {namespace: ml}}", MATCH_NO},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text spec = arena_printf(arena, "  match: {%s}\n" RAY(PATHS), cases[i].match);
        struct loaded loaded = load(spec.data, arena);
        ASSERT_TEXT(loaded.problems, "");
        struct rail_documents documents = rail_table_read(cases[i].object, arena);
        const struct match_subject subject = {.object = &documents.items[0]};
        CU_ASSERT_EQUAL(match_evaluate(&loaded.policy.match, &subject), cases[i].expected);
    }
    arena_destroy(arena);
}

/* ---- who is judged in another's place ---- */

static void only_workloads_can_be_made_by_a_custom_resource(void)
{
#define OF_A_RAY_CLUSTER                                                                     \
    "name: a, ownerReferences: [{apiVersion: ray.io/v1, kind: RayCluster, name: r, uid: u, " \
    "controller: true}]"
#define IN_ZONE_B "{nodeSelector: {topology.kubernetes.io/zone: b}}"
    static const struct {
        const char *object, *findings; /* when its controller asks */
    } cases[] = {
        {"{apiVersion: apps/v1, kind: StatefulSet, metadata: {" OF_A_RAY_CLUSTER
         "}, spec: {template: {spec: " IN_ZONE_B "}}}",
         "audit spec.template.spec.nodeSelector[topology.kubernetes.io/zone] b"},
        /* a custom resource that another one makes */
        {"{apiVersion: ray.io/v1, kind: RayCluster, metadata: {" OF_A_RAY_CLUSTER
         "}, spec: {template: {spec: " IN_ZONE_B "}}}",
         "audit spec.template.spec.nodeSelector[topology.kubernetes.io/zone] b"},
        {"{apiVersion: v1, kind: Pod, metadata: {" OF_A_RAY_CLUSTER "}, spec: " IN_ZONE_B "}",
         "deny spec.nodeSelector[topology.kubernetes.io/zone] b"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {" OF_A_RAY_CLUSTER
         "}, spec: {template: {spec: {requirements: [{key: topology.kubernetes.io/zone, operator: "
         "In, values: [b]}]}}}}",
         "deny spec.template.spec.requirements[0].values[0] b"},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct loaded loaded = load("  mode: enforce\n  rails: {zones: {allow: [a]}}\n" RAY(
                                    PATHS ", controllers: [ray-system/kuberay-*]"),
                                arena);
    ASSERT_TEXT(loaded.problems, "");
    const struct policy_set policies = {.items = &loaded.policy, .count = 1};
    struct world world = rail_table_world("", NULL, arena);
    world.policies = &policies;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct rail_documents documents = rail_table_read(cases[i].object, arena);
        struct subject subject = {
            .operation = OPERATION_CREATE,
            .object = &documents.items[0],
            .requester = {.name = TEXT("system:serviceaccount:ray-system:kuberay-operator")}};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        CU_ASSERT_FATAL(verdict.finding_count == 1);
        const struct finding *finding = &verdict.findings[0];
        ASSERT_TEXT(arena_printf(arena, "%s %.*s %.*s", action_name(finding->action),
                                 TEXT_ARGS(finding->path), TEXT_ARGS(finding->found)),
                    cases[i].findings);
        /* of what is there already, workloads alone have been judged with their controller */
        subject.existing = true;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, verdict.findings[0].action);
        ASSERT_INT(verdict.action == ACTION_DENY, i >= 2);
        subject.existing = false;
        /* what somebody else writes is judged as it stands */
        subject.requester.name = TEXT("system:serviceaccount:ml:kuberay-operator");
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, ACTION_DENY);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy pod templates";
const struct unit_test unit_tests[] = {
    {"wrong entries are refused where they stand", wrong_entries_are_refused_where_they_stand},
    {"a resource is the kind with an s unless it is named",
     a_resource_is_the_kind_with_an_s_unless_it_is_named},
    {"templates are found by their paths", templates_are_found_by_their_paths},
    {"containers that a controller completes are left out",
     containers_that_a_controller_completes_are_left_out},
    {"an object of very many templates is not judged for ever",
     an_object_of_very_many_templates_is_not_judged_for_ever},
    {"what is behind very many templates is decided",
     what_is_behind_very_many_templates_is_decided},
    {"a kind is told by its group", a_kind_is_told_by_its_group},
    {"the webhook is sent what some rail judges", the_webhook_is_sent_what_some_rail_judges},
    {"match names a custom resource with its group", match_names_a_custom_resource_with_its_group},
    {"only workloads can be made by a custom resource",
     only_workloads_can_be_made_by_a_custom_resource},
    {NULL, NULL},
};
