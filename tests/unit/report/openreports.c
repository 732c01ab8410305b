/* Reports as both of their APIs want them, and when one need not be written again. */
#include "report/openreports.h"

#include <string.h>

#include "kube/object.h"
#include "unit.h"

const char unit_suite[] = "report: openreports";

static const struct node *tree_of(const char *json, struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error error;
    source->text = text_of(json);
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, &error));
    return root;
}

#define RESULT(severity) "{\"rule\":\"zones\"" severity "}"
#define INFO RESULT(",\"severity\":\"info\"")
#define HIGH RESULT(",\"severity\":\"high\"")
#define SUMMARY(fail) "\"summary\":{\"pass\":0,\"fail\":" fail ",\"warn\":5,\"error\":4,\"skip\":1}"
#define METADATA(rest)                          \
    "\"metadata\":{\"name\":\"taffrail\"," rest \
    "\"labels\":{\"app.kubernetes.io/managed-by\":\"taffrail\"}"

/* The older API knows no severity `info`, no source and no limits. */
static void each_api_gets_what_it_knows(void)
{
    static const struct {
        enum report_api api;
        const char *namespace;
        size_t left_out;
        const char *json;
    } cases[] = {
        {REPORT_API_OPENREPORTS, "shop", 0,
         "{\"apiVersion\":\"openreports.io/v1alpha1\",\"kind\":\"Report\"," METADATA(
             "\"namespace\":\"shop\",") "},\"source\":\"taffrail\"," SUMMARY("7") ",\"results\""
                                                                                  ":[" INFO "," HIGH
                                                                                  "]}"},
        {REPORT_API_OPENREPORTS, "", 3,
         "{\"apiVersion\":\"openreports.io/v1alpha1\",\"kind\":\"ClusterReport\"," METADATA(
             "") ",\"annotations\":{\"taffrail.dev/left-out\":\"3\"}},\"source\":\"taffrail\","
                 "\"configuration\":{\"limits\":{\"maxResults\":2}}," SUMMARY(
                     "7") ",\"results\":[" INFO "," HIGH "]}"},
        {REPORT_API_WGPOLICY, "shop", 3,
         "{\"apiVersion\":\"wgpolicyk8s.io/v1alpha2\",\"kind\":\"PolicyReport\"," METADATA(
             "\"namespace\":\"shop\",") ",\"annotations\":{\"taffrail.dev/"
                                        "left-out\":\"3\"}}," SUMMARY("7") ",\"results\":"
                                                                           "[" RESULT("") "," HIGH
                                                                                          "]}"},
        {REPORT_API_WGPOLICY, "", 0,
         "{\"apiVersion\":\"wgpolicyk8s.io/"
         "v1alpha2\",\"kind\":\"ClusterPolicyReport\"," METADATA("") "}," SUMMARY(
             "7") ",\"results\":[" RESULT("") "," HIGH "]}"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        const struct node *results = tree_of("[" INFO "," HIGH "]", arena);
        const struct report_space space = {
            .namespace = text_of(cases[i].namespace),
            .results = results->items,
            .result_count = node_count(results),
            .left_out = cases[i].left_out,
            .counts = {.of = {[AUDIT_DENIED] = 7,
                              [AUDIT_WARNED] = 2,
                              [AUDIT_AUDITED] = 3,
                              [AUDIT_UNDECIDED] = 4,
                              [AUDIT_EXCEPTED] = 1}},
        };
        struct node report = report_node(cases[i].api, &space, arena);
        ASSERT_TEXT(node_json(&report, arena), cases[i].json);
        arena_destroy(arena);
    }
}

#define REPORT(rest) "{" METADATA("") "},\"results\":[" HIGH "]," SUMMARY("7") rest "}"

/* What others add, such as labels, an owner and a version, is no reason to write it again. */
static void what_says_the_same_is_the_same(void)
{
    static const struct {
        const char *other;
        bool same;
    } cases[] = {
        {REPORT(""), true},
        {"{" SUMMARY("7") ",\"results\":[" HIGH "],\"metadata\":{\"resourceVersion\":\"9\","
                          "\"ownerReferences\":[],\"annotations\":{\"a\":\"b\"}}}",
         true},
        {"{\"results\":[" INFO "]," SUMMARY("7") "}", false},
        {"{\"results\":[" HIGH "," HIGH "]," SUMMARY("7") "}", false},
        {"{\"results\":[" HIGH "]," SUMMARY("8") "}", false},
        {"{" SUMMARY("7") "}", false},
        {REPORT(",\"source\":\"taffrail\""), false},
        {REPORT(",\"configuration\":{}"), false},
        {"{\"results\":[" HIGH
         "]," SUMMARY("7") ",\"metadata\":{\"annotations\":{\"taffrail.dev/left-out\":\"1\"}}}",
         false},
    };
    struct arena *arena = arena_create(1 << 20);
    const struct node *report = tree_of(REPORT(""), arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct node *other = tree_of(cases[i].other, arena);
        CU_ASSERT_EQUAL(report_is_same(report, other), cases[i].same);
        CU_ASSERT_EQUAL(report_is_same(other, report), cases[i].same);
    }
    arena_destroy(arena);
}

static void a_result_of_the_whole_cluster_has_no_object(void)
{
    static const struct object pod = {.api_version = TEXT("v1"),
                                      .kind_name = TEXT("Pod"),
                                      .namespace = TEXT("shop"),
                                      .name = TEXT("web"),
                                      .uid = TEXT("u")};
    static const struct finding finding = {.rail = "zones",
                                           .policy = TEXT("p"),
                                           .action = ACTION_DENY,
                                           .message = TEXT("Zone a is not allowed.")};
    struct arena *arena = arena_create(1 << 20);
    struct text message = report_result_message(&finding, arena);
    ASSERT_TEXT(message, "Zone a is not allowed.");
    struct finding of_field = finding;
    of_field.path = TEXT("spec.zone");
    ASSERT_TEXT(report_result_message(&of_field, arena), "spec.zone: Zone a is not allowed.");
    struct node of_cluster = report_result(NULL, &finding, message, arena);
    struct node of_pod = report_result(&pod, &finding, message, arena);
    CU_ASSERT_PTR_NULL(node_get(&of_cluster, "resources"));
    const struct node *resources = node_get(&of_pod, "resources");
    CU_ASSERT_FATAL(node_is(resources, NODE_LIST));
    ASSERT_TEXT(node_json(resources, arena),
                "[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"namespace\":\"shop\",\"name\":\"web\","
                "\"uid\":\"u\"}]");
    ASSERT_TEXT(node_string(node_get(&of_pod, "result")), "fail");
    CU_ASSERT(node_true(node_get(&of_pod, "scored")));
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"each API gets what it knows", each_api_gets_what_it_knows},
    {"what says the same is the same", what_says_the_same_is_the_same},
    {"a result of the whole cluster has no object", a_result_of_the_whole_cluster_has_no_object},
    {NULL, NULL},
};
