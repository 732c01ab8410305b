/* labels: threads */
/* Reviews in, answers out: statuses, messages, warnings and patches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "folder.h"
#include "server/server.h"
#include "unit.h"
#include "world_of_text.h"

const char unit_suite[] = "review";

enum { NOW = 1795230245 };

static const char policy_text[] =
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: production}\n"
    "spec:\n"
    "  mode: enforce\n"
    "  contact: '#platform-compute'\n"
    "  docs: https://wiki.example.com/{rail}\n"
    "  match: {excludeNamespaces: [kube-system]}\n"
    "  rails:\n"
    "    topology-keys: {}\n"
    "    instance-types: {mode: warn, allow: {families: [m5]}}\n"
    "    accelerators: {mode: enforce, addToleration: true, requireLimits: off}\n"
    "  exceptions:\n"
    "    - {id: EX-1, rails: [topology-keys], match: {names: [excused]}, owner: o, reason: r,\n"
    "       expires: 2026-11-25}\n"
    "    - {id: EX-2, rails: [topology-keys], match: {names: [lapsed]}, owner: o, reason: r,\n"
    "       expires: 2026-11-01}\n"
    "    - {id: EX-3, rails: [topology-keys], match: {names: [settled]}, owner: o, reason: r,\n"
    "       expires: 2027-11-01}\n"
    "    - {id: EX-4, rails: [accelerators], match: {names: [lent]}, owner: o, reason: r,\n"
    "       expires: 2027-11-01}\n";

static struct world *world;
static struct arena *arena;

/* What the cluster holds; NULL: none is visible. */
static const char *state_dir;

static void load(const char *policy)
{
    arena = arena_create(1 << 26);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    world = world_of_text(policy, (struct world_options){.state_dir = state_dir}, 1, NOW);
}

static void set_up(void)
{
    load(policy_text);
}

static void tear_down(void)
{
    world_destroy(world);
    arena_destroy(arena);
}

/* The answer to a body, read back; NULL when there is none. */
static const struct node *answer_to(enum review_phase phase, const char *body,
                                    struct review_record *record)
{
    struct text answer;
    struct error error = {0};
    if (!review_answer(world, phase, text_of(body), NOW, arena, &answer, record, &error)) {
        CU_ASSERT(strlen(error.what) > 0);
        return NULL;
    }
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = answer;
    const struct node *root = NULL;
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_review, NULL, arena, &root, &error));
    ASSERT_TEXT(node_string(node_get(root, "apiVersion")), "admission.k8s.io/v1");
    ASSERT_TEXT(node_string(node_get(root, "kind")), "AdmissionReview");
    CU_ASSERT_PTR_NULL(node_get(root, "request"));
    CU_ASSERT(phase == REVIEW_MUTATE || node_at(root, "response.patch") == NULL);
    CU_ASSERT((node_at(root, "response.patch") == NULL) ==
              (node_at(root, "response.patchType") == NULL));
    return node_get(root, "response");
}

#define REVIEW(fields) \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{" fields "}}"
#define POD(metadata, key)                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" metadata \
    "},\"spec\":{\"topologySpreadConstraints\":[{\"topologyKey\":\"" key "\"}]}}"
#define UID "\"uid\":\"u-1\","

static void bodies_that_are_no_review_are_refused(void)
{
    static const char *const refused[] = {
        "",
        "null",
        "[]",
        "{}",
        "not json",
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\"}",
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":null}",
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\",\"request\":{"
        "\"uid\":\"a\",\"operation\":\"CREATE\"}}",
        "{\"kind\":\"Review\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":\"a\"}}",
        REVIEW("\"operation\":\"CREATE\""),
        REVIEW("\"uid\":\"\",\"operation\":\"CREATE\""),
        REVIEW("\"uid\":7,\"operation\":\"CREATE\""),
        REVIEW(UID "\"operation\":\"PATCH\""),
        REVIEW(UID "\"operation\":null"),
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":[]"),
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":\"x\""),
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":{\"kind\":\"Pod\"}"),
        REVIEW(UID "\"operation\":\"CREATE\",\"operation\":\"DELETE\""),
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct review_record record;
        CU_ASSERT_PTR_NULL(answer_to(REVIEW_VALIDATE, refused[i], &record));
    }
}

#define CREATE_BY(user, object)                                              \
    REVIEW(UID "\"operation\":\"CREATE\",\"userInfo\":{\"username\":\"" user \
               "\"},\"object\":" object)
/* One that says that a Deployment has made it. */
#define REPLICA_SET                                                                             \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"metadata\":{\"name\":\"a-1\","       \
    "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":\"a\","  \
    "\"controller\":true}]},\"spec\":{\"template\":{\"spec\":{\"topologySpreadConstraints\":[{" \
    "\"topologyKey\":\"zone\"}]}}}}"

/* Rows of docs/reference/admission.md 1.1: what arrives, and whether it is let through. */
static void every_form_of_request_is_answered(void)
{
    static const struct {
        const char *body;
        bool allowed;
        const char *action;
    } cases[] = {
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"a\"",
                                                               "zone") ",\"oldObject\":null"),
         false, "deny"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"generateName\":\"a-\"", "zone")),
         false, "deny"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"dryRun\":true,\"object\":" POD("", "zone")), false,
         "deny"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"a\"",
                                                               "topology.kubernetes.io/zone")),
         true, "none"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"namespace\":\"kube-system\",\"object\":" POD(
             "\"name\":\"a\"", "zone")),
         true, "none"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":null"), true, "none"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":{\"apiVersion\":\"v1\",\"kind\":"
                    "\"ConfigMap\",\"metadata\":{\"name\":\"a\"}}"),
         true, "none"},
        {REVIEW(UID "\"operation\":\"DELETE\",\"object\":null,\"oldObject\":" POD("\"name\":\"a\"",
                                                                                  "zone")),
         true, "none"},
        {REVIEW(UID "\"operation\":\"DELETE\",\"oldObject\":null"), true, "none"},
        {REVIEW(UID "\"operation\":\"CONNECT\",\"subResource\":\"exec\",\"object\":{\"apiVersion\":"
                    "\"v1\",\"kind\":\"PodExecOptions\",\"stdin\":true},\"oldObject\":null,"
                    "\"options\":null"),
         true, "none"},
        {REVIEW(UID "\"operation\":\"UPDATE\",\"subResource\":\"status\",\"object\":" POD(
             "\"name\":\"a\"", "zone") ",\"oldObject\":null"),
         true, "none"},
        {REVIEW(UID "\"operation\":\"UPDATE\",\"subResource\":\"scale\",\"object\":{\"apiVersion\":"
                    "\"autoscaling/v1\",\"kind\":\"Scale\",\"metadata\":{\"name\":\"a\"}}"),
         true, "none"},
        {REVIEW(UID "\"operation\":\"UPDATE\",\"object\":" POD(
             "\"name\":\"a\",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"",
             "zone") ",\"oldObject\":" POD("\"name\":\"a\"", "topology.kubernetes.io/zone")),
         true, "none"},
        {REVIEW(UID
                "\"operation\":\"UPDATE\",\"subResource\":\"ephemeralcontainers\",\"object\":" POD(
                    "\"name\":\"a\"", "zone") ",\"oldObject\":" POD("\"name\":\"a\"", "zone")),
         true, "audit"},
        {REVIEW(UID "\"operation\":\"UPDATE\",\"object\":" POD(
             "\"name\":\"a\"", "zone") ",\"oldObject\":" POD("\"name\":\"a\"", "hostname")),
         false, "deny"},
        {REVIEW(UID "\"operation\":\"UPDATE\",\"object\":" POD("\"name\":\"a\"",
                                                               "zone") ",\"oldObject\":null"),
         false, "deny"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"excused\"", "zone")),
         true, "excepted"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"lapsed\"", "zone")),
         false, "deny"},
        {CREATE_BY("system:serviceaccount:kube-system:deployment-controller", REPLICA_SET), true,
         "audit"},
        {CREATE_BY("jane", REPLICA_SET), false, "deny"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                    "\"metadata\":{\"name\":\"a\"},\"spec\":[1,{\"topologyKey\":7}]}"),
         true, "none"},
        {REVIEW(UID "\"operation\":\"CREATE\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                    "\"metadata\":{\"name\":\"a\"},\"spec\":{\"affinity\":7,\"nodeSelector\":[],"
                    "\"topologySpreadConstraints\":[null,7,{\"topologyKey\":[]}]}}"),
         true, "none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct review_record record;
        const struct node *response = answer_to(REVIEW_VALIDATE, cases[i].body, &record);
        CU_ASSERT_PTR_NOT_NULL(response);
        if (response == NULL)
            continue;
        ASSERT_TEXT(node_string(node_get(response, "uid")), "u-1");
        const struct node *allowed = node_get(response, "allowed");
        CU_ASSERT(node_is(allowed, NODE_BOOL));
        if (node_true(allowed) != cases[i].allowed)
            fprintf(stderr, "case %zu\n", i);
        ASSERT_INT(node_true(allowed), cases[i].allowed);
        ASSERT_TEXT(text_of(action_name(record.verdict.action)), cases[i].action);
        CU_ASSERT_EQUAL(node_get(response, "status") != NULL, !cases[i].allowed);
    }
}

static void a_denial_is_forbidden_with_causes(void)
{
    struct review_record record;
    const struct node *response = answer_to(
        REVIEW_VALIDATE,
        REVIEW(UID "\"operation\":\"CREATE\",\"namespace\":\"team-a\",\"object\":{\"apiVersion\":"
                   "\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\"},\"spec\":{"
                   "\"template\":{\"spec\":{\"topologySpreadConstraints\":[{\"topologyKey\":"
                   "\"zone\"},{\"topologyKey\":\"hostname\"}],\"nodeSelector\":{"
                   "\"node.kubernetes.io/instance-type\":\"r5.large\"}}}}}"),
        &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    int64_t code = 0;
    CU_ASSERT(node_integer(node_at(response, "status.code"), &code));
    ASSERT_INT(code, 403);
    ASSERT_TEXT(node_string(node_at(response, "status.reason")), "Forbidden");
    ASSERT_TEXT(node_string(node_at(response, "status.details.kind")), "Deployment");
    ASSERT_TEXT(node_string(node_at(response, "status.details.group")), "apps");
    ASSERT_TEXT(node_string(node_at(response, "status.details.name")), "web");
    const struct node *causes = node_at(response, "status.details.causes");
    ASSERT_INT(node_count(causes), 2);
    ASSERT_TEXT(node_string(node_get(node_item(causes, 1), "field")),
                "spec.template.spec.topologySpreadConstraints[1].topologyKey");
    ASSERT_TEXT(node_string(node_get(node_item(causes, 1), "reason")), "FieldValueNotSupported");

    struct text first_line;
    CU_ASSERT_FATAL(
        text_split(node_string(node_at(response, "status.message")), '\n', &first_line, NULL));
    ASSERT_TEXT(first_line, "denied by compute guard rails: 2 problems in Deployment team-a/web: "
                            "topology-keys");
    /* instance-types only warns here. */
    const struct node *warnings = node_get(response, "warnings");
    ASSERT_INT(node_count(warnings), 1);
    CU_ASSERT(text_starts_with(node_string(node_item(warnings, 0)), TEXT("[instance-types] ")));
    ASSERT_TEXT(node_string(node_at(response, "auditAnnotations.verdict")), "deny");
    ASSERT_TEXT(node_string(node_at(response, "auditAnnotations.rails")),
                "instance-types,topology-keys");
    ASSERT_TEXT(node_string(node_at(response, "auditAnnotations.policy")), "production");
}

static void an_owner_stands_in_the_first_line(void)
{
    struct review_record record;
    const struct node *response = answer_to(
        REVIEW_VALIDATE,
        REVIEW(UID "\"operation\":\"CREATE\",\"namespace\":\"team-a\",\"userInfo\":{\"username\":"
                   "\"system:serviceaccount:kube-system:replicaset-controller\"},\"object\":" POD(
                       "\"generateName\":\"web-\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
                       "\"kind\":\"ReplicaSet\",\"name\":\"web-7d9\",\"controller\":true}]",
                       "zone")),
        &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    CU_ASSERT(text_starts_with(node_string(node_at(response, "status.message")),
                               TEXT("denied by compute guard rails: 1 problem in Pod team-a/web-* "
                                    "(owner ReplicaSet web-7d9): topology-keys\n")));
}

static const struct node *denial_of(const char *policy)
{
    struct review_record record;
    tear_down();
    load(policy);
    const struct node *response = answer_to(
        REVIEW_VALIDATE,
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"web\"", "zone")),
        &record);
    return node_at(response, "status.message");
}

static void the_last_line_says_how_to_check(void)
{
#define POLICY_WITH(key)                                                          \
    "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, " \
    "spec: {mode: enforce, rails: {topology-keys: {}}" key "}}"
    CU_ASSERT(text_ends_with(node_string(denial_of(POLICY_WITH(""))),
                             TEXT("\ncheck before you push: taffrail check -p POLICY -f FILE")));
    CU_ASSERT(text_ends_with(
        node_string(
            denial_of(POLICY_WITH(", check: kubectl taffrail check --from-cluster -f FILE"))),
        TEXT("\ncheck before you push: kubectl taffrail check --from-cluster -f FILE")));
    /* One line, whatever the policy has. */
    CU_ASSERT(text_ends_with(node_string(denial_of(POLICY_WITH(", check: \"make\\ncheck\""))),
                             TEXT("\ncheck before you push: make check")));
}

static void exceptions_warn_in_their_last_days(void)
{
    struct review_record record;
    const struct node *response = answer_to(
        REVIEW_VALIDATE,
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"excused\"", "zone")),
        &record);
    ASSERT_INT(node_count(node_get(response, "warnings")), 1);
    struct text warning = node_string(node_item(node_get(response, "warnings"), 0));
    CU_ASSERT(
        text_ends_with(warning, TEXT("allowed by exception EX-1 until 2026-11-25 (4 days left)")));
    ASSERT_TEXT(node_string(node_at(response, "auditAnnotations.exception")), "EX-1");

    response = answer_to(
        REVIEW_VALIDATE,
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"settled\"", "zone")),
        &record);
    CU_ASSERT_PTR_NULL(node_get(response, "warnings"));

    response = answer_to(
        REVIEW_VALIDATE,
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"lapsed\"", "zone")),
        &record);
    struct text message = node_string(node_at(response, "status.message"));
    CU_ASSERT_PTR_NOT_NULL(
        memmem(message.data, message.size, "Exception EX-2 expired on 2026-11-01", 36));
}

static void warnings_keep_to_the_limits_of_the_api_server(void)
{
    struct text_builder body = {.arena = arena};
    text_builder_printf(&body,
                        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
                        "\"request\":{\"uid\":\"u-1\",\"operation\":\"CREATE\",\"object\":{"
                        "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},"
                        "\"spec\":{\"affinity\":{\"nodeAffinity\":{"
                        "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":"
                        "[{\"matchExpressions\":[{\"key\":\"karpenter.k8s.aws/instance-family\","
                        "\"operator\":\"In\",\"values\":[\"r5\"");
    for (int i = 0; i < 40; i++)
        text_builder_printf(&body,
                            "]},{\"key\":\"karpenter.k8s.aws/instance-family\","
                            "\"operator\":\"In\",\"values\":[\"%s\\n\\u0007%d\"",
                            "\xc3\xa9\xe2\x82\xac-family", i);
    text_builder_printf(&body, "]}]}]}}}}}}}");
    struct review_record record;
    const struct node *response =
        answer_to(REVIEW_VALIDATE, text_builder_text(&body).data, &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    const struct node *warnings = node_get(response, "warnings");
    ASSERT_INT(node_count(warnings), 13);
    for (size_t i = 0; i < node_count(warnings); i++) {
        struct text warning = node_string(node_item(warnings, i));
        CU_ASSERT(warning.size > 0 && warning.size <= 120);
        for (size_t j = 0; j < warning.size; j++)
            CU_ASSERT((unsigned char)warning.data[j] >= 0x20 && warning.data[j] != 0x7f);
    }
    /* Controllers have nobody who would read them. */
    struct text as_controller = arena_printf(
        arena,
        "%.*s,\"userInfo\":{\"username\":\"system:serviceaccount:kube-system:job-controller"
        "\"}}}",
        (int)(body.size - 2), body.data);
    response = answer_to(REVIEW_VALIDATE, as_controller.data, &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    CU_ASSERT_PTR_NULL(node_get(response, "warnings"));
}

static void the_uid_comes_back_byte_for_byte(void)
{
    struct review_record record;
    const struct node *response = answer_to(
        REVIEW_VALIDATE,
        REVIEW("\"uid\":\"\\u00e9\\\"\\\\/<>\\u2028-\\ud83d\\ude00\",\"operation\":\"DELETE\""),
        &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    ASSERT_TEXT(node_string(node_get(response, "uid")),
                "\xc3\xa9\"\\/<>\xe2\x80\xa8-\xf0\x9f\x98\x80");
}

#define GPU_POD(metadata, tolerations)                                                           \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" metadata "},\"spec\":{" tolerations \
    "\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}}]}}"
/* The patches were made with GNU base64 from what stands beside them. */
static void mutate_answers_with_a_patch(void)
{
    static const struct {
        const char *body, *patch, *warning, *audit;
    } cases[] = {
        {CREATE_BY("jane", GPU_POD("\"name\":\"a\"", "")),
         /* [{"op":"add","path":"/spec/tolerations","value":[]},{"op":"add","path":
          * "/spec/tolerations/-","value":{"key":"nvidia.com/gpu","operator":"Exists"}}] */
         "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvdG9sZXJhdGlvbnMiLCJ2YWx1ZSI6W119LHsib3AiOiJhZGQiLCJwY"
         "XRoIjoiL3NwZWMvdG9sZXJhdGlvbnMvLSIsInZhbHVlIjp7ImtleSI6Im52aWRpYS5jb20vZ3B1Iiwib3BlcmF0b3"
         "IiOiJFeGlzdHMifX1d",
         "[accelerators] added a toleration of nvidia.com/gpu",
         "added a toleration of nvidia.com/gpu"},
        /* a name that is not there yet; nobody reads the warning */
        {CREATE_BY("system:serviceaccount:kube-system:replicaset-controller",
                   GPU_POD("\"generateName\":\"a-\"", "\"tolerations\":[],")),
         /* [{"op":"add","path":"/spec/tolerations/-","value":{"key":"nvidia.com/gpu",
          * "operator":"Exists"}}] */
         "W3sib3AiOiJhZGQiLCJwYXRoIjoiL3NwZWMvdG9sZXJhdGlvbnMvLSIsInZhbHVlIjp7ImtleSI6Im52aWRpYS5jb"
         "20vZ3B1Iiwib3BlcmF0b3IiOiJFeGlzdHMifX1d",
         NULL, "added a toleration of nvidia.com/gpu"},
        /* asked again */
        {CREATE_BY("jane", GPU_POD("\"name\":\"a\"", "\"tolerations\":[{\"key\":\"nvidia.com/gpu\","
                                                     "\"operator\":\"Exists\"}],")),
         NULL, NULL, NULL},
        /* a patch that cannot be made is not sent, and nothing else goes wrong */
        {CREATE_BY("jane", GPU_POD("\"name\":\"a\"", "\"tolerations\":7,")), NULL, NULL,
         "could not add a toleration of nvidia.com/gpu"},
        {REVIEW(UID "\"operation\":\"DELETE\",\"object\":null,\"oldObject\":" GPU_POD(
             "\"name\":\"a\"", "")),
         NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct review_record record;
        const struct node *response = answer_to(REVIEW_MUTATE, cases[i].body, &record);
        CU_ASSERT_PTR_NOT_NULL_FATAL(response);
        CU_ASSERT(node_true(node_get(response, "allowed")));
        CU_ASSERT(record.allowed);
        ASSERT_TEXT(node_string(node_get(response, "patch")),
                    cases[i].patch == NULL ? "" : cases[i].patch);
        ASSERT_TEXT(node_string(node_get(response, "patchType")),
                    cases[i].patch == NULL ? "" : "JSONPatch");
        const struct node *warnings = node_get(response, "warnings");
        ASSERT_INT(node_count(warnings), cases[i].warning != NULL);
        ASSERT_TEXT(node_string(node_item(warnings, 0)),
                    cases[i].warning == NULL ? "" : cases[i].warning);
        const struct node *audit = node_get(response, "auditAnnotations");
        ASSERT_INT(node_count(audit), cases[i].audit == NULL ? 0 : 2);
        ASSERT_TEXT(node_string(node_get(audit, "accelerators")),
                    cases[i].audit == NULL ? "" : cases[i].audit);
        ASSERT_TEXT(node_string(node_get(audit, "policy")),
                    cases[i].audit == NULL ? "" : "production");
    }
}

static void a_change_that_is_excepted_names_its_exception(void)
{
    struct review_record record;
    const struct node *response =
        answer_to(REVIEW_MUTATE, CREATE_BY("jane", GPU_POD("\"name\":\"lent\"", "")), &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    CU_ASSERT(node_true(node_get(response, "allowed")));
    CU_ASSERT_PTR_NULL(node_get(response, "patch"));
    ASSERT_TEXT(node_string(node_at(response, "auditAnnotations.exception")), "EX-4");
    ASSERT_TEXT(node_string(node_at(response, "auditAnnotations.policy")), "production");
    CU_ASSERT_PTR_NOT_NULL(node_at(response, "auditAnnotations.accelerators"));
}

static void mutate_changes_nothing(void)
{
    struct review_record record;
    const struct node *response = answer_to(
        REVIEW_MUTATE,
        REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD("\"name\":\"a\"", "zone")), &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    CU_ASSERT(node_true(node_get(response, "allowed")));
    ASSERT_INT(node_count(response), 2);
}

static void add_labels(struct text_builder *out, size_t count)
{
    enum { LABEL_BYTES = 100 };
    for (size_t i = 0; i < count; i++)
        text_builder_printf(out, "%s\"label-%0*zu\":\"x\"", i == 0 ? "" : ",", LABEL_BYTES, i);
}

/* Of a workload that selects by very many labels the spread is longer than an answer may be. */
static void a_change_that_is_too_long_is_not_made(void)
{
    static const char policy[] =
        "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, spec: {mode: "
        "enforce, rails: {zone-spread: {action: default}}}}";
    static const size_t counts[] = {1, 400};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        make_folder();
        struct text_builder body = {.arena = arena}, owner = {.arena = arena};
        text_builder_add(&owner, TEXT("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: "
                                      "web, namespace: shop}, spec: {replicas: 3, selector: "
                                      "{matchLabels: {"));
        add_labels(&owner, counts[i]);
        text_builder_add(&owner, TEXT("}}, template: {spec: {}}}}\n"));
        write_file("web.yaml", text_builder_text(&owner).data);
        tear_down();
        state_dir = folder;
        load(policy);
        state_dir = NULL;
        remove_folder();
        body = (struct text_builder){.arena = arena};
        text_builder_add(
            &body,
            TEXT("{\"kind\":\"AdmissionReview\",\"apiVersion\":"
                 "\"admission.k8s.io/v1\",\"request\":{\"uid\":\"u-1\","
                 "\"operation\":\"CREATE\",\"namespace\":\"shop\",\"userInfo\":{\"username\":"
                 "\"system:serviceaccount:kube-system:statefulset-controller\"},\"object\":{"
                 "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
                 "\"web-0\",\"labels\":{"));
        add_labels(&body, counts[i]);
        text_builder_add(&body, TEXT("},\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                                     "\"StatefulSet\",\"name\":\"web\",\"controller\":true}]},"
                                     "\"spec\":{\"containers\":[{\"name\":\"a\"}]}}}}"));
        struct review_record record;
        const struct node *response =
            answer_to(REVIEW_MUTATE, text_builder_text(&body).data, &record);
        CU_ASSERT_PTR_NOT_NULL_FATAL(response);
        bool fits = counts[i] == 1;
        CU_ASSERT(node_true(node_get(response, "allowed")) && record.allowed);
        ASSERT_INT(node_get(response, "patch") != NULL, fits);
        ASSERT_INT(record.verdict.limit, fits ? LIMIT_NONE : LIMIT_SHAPE);
        ASSERT_INT(record.verdict.change_count, fits ? 1 : 0);
        ASSERT_TEXT(node_string(node_at(response, "auditAnnotations.limit")),
                    fits ? "" : "shape: nothing is changed");
    }
}

struct changing {
    struct text body, answer;
    struct arena *arena;
    struct review_record record;
    struct error error;
    bool answered;
};

static void change(void *argument)
{
    struct changing *changing = argument;
    changing->answered = review_answer(world, REVIEW_MUTATE, changing->body, NOW, changing->arena,
                                       &changing->answer, &changing->record, &changing->error);
}

/* Whatever memory there is, a change is made whole or not at all. */
static void an_unfinished_change_is_left_out(void)
{
    enum { RESERVE = 512 << 10, FIRST_BYTES = 4000, LAST_BYTES = 400000, STEP_BYTES = 500 };
    const char *body = CREATE_BY("jane", GPU_POD("\"name\":\"a\"", ""));
    bool limited = false, whole = false;
    for (size_t bytes = FIRST_BYTES; bytes < LAST_BYTES; bytes += STEP_BYTES) {
        struct changing changing = {.body = text_of(body), .arena = arena_create(bytes)};
        struct error error;
        CU_ASSERT_FATAL(changing.arena != NULL && arena_reserve(changing.arena, RESERVE));
        CU_ASSERT_FATAL(arena_guard(changing.arena, change, &changing, &error));
        CU_ASSERT(changing.answered && changing.record.allowed);
        bool none = changing.record.verdict.limit == LIMIT_NONE;
        bool patched = memmem(changing.answer.data, changing.answer.size, "\"patch\"", 7) != NULL;
        ASSERT_INT(patched, none);
        ASSERT_INT(changing.record.verdict.change_count, none);
        limited |= !none;
        whole |= none;
        arena_destroy(changing.arena);
    }
    CU_ASSERT(limited && whole);
}

/* For the trail and the metrics. */
static void the_record_says_what_was_reviewed(void)
{
    static const struct {
        const char *body;
        const char *operation, *kind, *namespace, *name, *user;
        bool dry_run, allowed;
    } cases[] = {
        {REVIEW(UID "\"operation\":\"CREATE\",\"namespace\":\"shop\",\"dryRun\":true,\"userInfo\":{"
                    "\"username\":\"jane\"},\"object\":" POD("\"name\":\"a\"", "zone")),
         "CREATE", "Pod", "shop", "a", "jane", true, false},
        {REVIEW(UID "\"operation\":\"CREATE\",\"namespace\":\"shop\",\"object\":" POD(
             "\"generateName\":\"a-\"", "topology.kubernetes.io/zone")),
         "CREATE", "Pod", "shop", "a-", "", false, true},
        {REVIEW(UID "\"operation\":\"DELETE\",\"namespace\":\"shop\",\"oldObject\":" POD(
             "\"name\":\"b\"", "zone")),
         "DELETE", "Pod", "shop", "b", "", false, true},
        {REVIEW(UID "\"operation\":\"UPDATE\",\"namespace\":\"shop\",\"object\":null,"
                    "\"oldObject\":" POD("\"name\":\"c\"", "zone")),
         "UPDATE", "Pod", "shop", "c", "", false, true},
        {REVIEW(UID "\"operation\":\"CONNECT\",\"userInfo\":{\"username\":\"joe\"}"), "CONNECT", "",
         "", "", "joe", false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct review_record record;
        CU_ASSERT_PTR_NOT_NULL_FATAL(answer_to(REVIEW_VALIDATE, cases[i].body, &record));
        ASSERT_TEXT(record.uid, "u-1");
        ASSERT_TEXT(record.operation, cases[i].operation);
        ASSERT_TEXT(record.kind, cases[i].kind);
        ASSERT_TEXT(record.namespace, cases[i].namespace);
        ASSERT_TEXT(record.name, cases[i].name);
        ASSERT_TEXT(record.user, cases[i].user);
        ASSERT_INT(record.dry_run, cases[i].dry_run);
        ASSERT_INT(record.allowed, cases[i].allowed);
        ASSERT_INT(record.verdict.limit, LIMIT_NONE);
    }
}

static void hostile_text_forges_no_line(void)
{
    struct review_record record;
    const struct node *response =
        answer_to(REVIEW_VALIDATE,
                  REVIEW(UID "\"operation\":\"CREATE\",\"object\":" POD(
                      "\"name\":\"a\\nb\"", "topology.kubernetes.io/zone\\n\\u001b")),
                  &record);
    CU_ASSERT_PTR_NOT_NULL_FATAL(response);
    struct text message = node_string(node_at(response, "status.message"));
    size_t lines = 1;
    for (size_t i = 0; i < message.size; i++) {
        lines += message.data[i] == '\n';
        CU_ASSERT(message.data[i] != '\033');
    }
    ASSERT_INT(lines, 4); /* headline, problem, fix, hint */
}

#define TEST(function)                    \
    static void in_world_##function(void) \
    {                                     \
        set_up();                         \
        function();                       \
        tear_down();                      \
    }
TEST(bodies_that_are_no_review_are_refused)
TEST(every_form_of_request_is_answered)
TEST(a_denial_is_forbidden_with_causes)
TEST(an_owner_stands_in_the_first_line)
TEST(the_last_line_says_how_to_check)
TEST(exceptions_warn_in_their_last_days)
TEST(warnings_keep_to_the_limits_of_the_api_server)
TEST(the_uid_comes_back_byte_for_byte)
TEST(mutate_answers_with_a_patch)
TEST(a_change_that_is_excepted_names_its_exception)
TEST(mutate_changes_nothing)
TEST(a_change_that_is_too_long_is_not_made)
TEST(an_unfinished_change_is_left_out)
TEST(the_record_says_what_was_reviewed)
TEST(hostile_text_forges_no_line)

const struct unit_test unit_tests[] = {
    {"bodies that are no review are refused", in_world_bodies_that_are_no_review_are_refused},
    {"every form of request is answered", in_world_every_form_of_request_is_answered},
    {"a denial is Forbidden, with causes", in_world_a_denial_is_forbidden_with_causes},
    {"an owner stands in the first line", in_world_an_owner_stands_in_the_first_line},
    {"the last line says how to check", in_world_the_last_line_says_how_to_check},
    {"exceptions warn in their last days", in_world_exceptions_warn_in_their_last_days},
    {"warnings keep to the API server's limits",
     in_world_warnings_keep_to_the_limits_of_the_api_server},
    {"the uid comes back byte for byte", in_world_the_uid_comes_back_byte_for_byte},
    {"mutate answers with a patch", in_world_mutate_answers_with_a_patch},
    {"a change that is excepted names its exception",
     in_world_a_change_that_is_excepted_names_its_exception},
    {"mutate changes nothing", in_world_mutate_changes_nothing},
    {"an unfinished change is left out", in_world_an_unfinished_change_is_left_out},
    {"a change that is too long is not made", in_world_a_change_that_is_too_long_is_not_made},
    {"the record says what was reviewed", in_world_the_record_says_what_was_reviewed},
    {"hostile text forges no line", in_world_hostile_text_forges_no_line},
    {NULL, NULL},
};
