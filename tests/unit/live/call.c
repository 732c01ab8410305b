/* labels: threads */
/* One request: its path, how its answer is read, and bodies. */
#include <stdio.h>
#include <string.h>

#include "live/client.h"
#include "unit.h"

const char unit_suite[] = "client call";

static void paths_are_those_of_the_api(void)
{
    static const struct {
        struct call_request request;
        const char *path;
    } cases[] = {
        {{CALL_GET, RESOURCE_SECRET, "taffrail", "tls", {0}, 0, NULL},
         "/api/v1/namespaces/taffrail/secrets/tls"},
        {{CALL_CREATE, RESOURCE_SECRET, "taffrail", "tls", {0}, 0, NULL},
         "/api/v1/namespaces/taffrail/secrets?fieldManager=taffrail"},
        {{CALL_UPDATE, RESOURCE_LEASE, "a", "b.c", {0}, 0, NULL},
         "/apis/coordination.k8s.io/v1/namespaces/a/leases/b.c?fieldManager=taffrail"},
        {{CALL_APPLY, RESOURCE_MUTATING_CONFIGURATION, "", "taffrail", {0}, 0, NULL},
         "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/taffrail"
         "?fieldManager=taffrail&force=true"},
        {{CALL_GET, RESOURCE_VALIDATING_CONFIGURATION, "", "taffrail", {0}, 0, NULL},
         "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/taffrail"},
        {{CALL_DELETE, RESOURCE_REPORT, "a", "taffrail", {0}, 0, NULL},
         "/apis/openreports.io/v1alpha1/namespaces/a/reports/taffrail"},
        {{CALL_LIST, RESOURCE_POLICY_REPORT, "", "taffrail", {0}, 0, NULL},
         "/apis/wgpolicyk8s.io/v1alpha2/policyreports?fieldSelector=metadata.name%3Dtaffrail"
         "&limit=500"},
        {{CALL_LIST, RESOURCE_CLUSTER_REPORT, "", "taffrail", {0}, 0, "a/b="},
         "/apis/openreports.io/v1alpha1/clusterreports?fieldSelector=metadata.name%3Dtaffrail"
         "&limit=500&continue=a%2Fb%3D"},
        {{CALL_DISCOVER, RESOURCE_REPORT, "", "", {0}, 0, NULL}, "/apis/openreports.io/v1alpha1"},
        {{CALL_DISCOVER, RESOURCE_SECRET, "", "", {0}, 0, NULL}, "/api/v1"},
        {{CALL_GET, RESOURCE_SECRET, "a/b", "tls", {0}, 0, NULL}, NULL},
        {{CALL_GET, RESOURCE_SECRET, "a", "b?c", {0}, 0, NULL}, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char path[CALL_PATH_BYTES];
        bool done = call_path(&cases[i].request, path);
        CU_ASSERT_EQUAL(done, cases[i].path != NULL);
        if (done)
            ASSERT_TEXT(text_of(path), cases[i].path);
    }
}

#define STATUS "{\"kind\":\"Status\",\"code\":409,\"reason\":\"R\",\"message\":\"it says why\"}"

static void answers_are_told_apart(void)
{
    static const struct {
        unsigned status;
        const char *body, *failure;
        int64_t retry_after_s;
        enum call_result result;
        const char *problem;
        int64_t wait_s;
    } cases[] = {
        {200, "{}", NULL, 0, CALL_DONE, "", 0},
        {201, "{}", NULL, 7, CALL_DONE, "", 0},
        {404, STATUS, NULL, 0, CALL_MISSING, "answered 404: it says why", 0},
        {409, STATUS, NULL, 0, CALL_CONFLICT, "answered 409: it says why", 0},
        {401, "", NULL, 0, CALL_FORBIDDEN, "answered 401, with no Status", 0},
        {403, STATUS, NULL, 0, CALL_FORBIDDEN, "answered 403: it says why", 0},
        {400, STATUS, NULL, 0, CALL_INVALID, "answered 400: it says why", 0},
        {422, STATUS, NULL, 0, CALL_INVALID, "answered 422: it says why", 0},
        {429, STATUS, NULL, 3, CALL_BUSY, "answered 429: it says why", 3},
        {429, STATUS, NULL, 86400, CALL_BUSY, "answered 429: it says why", 300},
        {503, STATUS, NULL, 2, CALL_BUSY, "answered 503: it says why", 2},
        {503, STATUS, NULL, 0, CALL_FAILED, "answered 503: it says why", 0},
        {500, "<html>no</html>", NULL, 0, CALL_FAILED, "answered 500, with no Status", 0},
        {302, "", NULL, 0, CALL_FAILED, "answered 302, with no Status", 0},
        {0, "", "connection refused", 0, CALL_FAILED, "connection refused", 0},
        {200, "{\"half", "the connection broke", 0, CALL_FAILED, "the connection broke", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct call_answer answer;
        call_read(cases[i].status, text_of(cases[i].body), cases[i].retry_after_s, cases[i].failure,
                  &answer);
        ASSERT_INT(answer.result, cases[i].result);
        ASSERT_INT(answer.retry_after_s, cases[i].wait_s);
        ASSERT_TEXT(text_of(answer.problem), cases[i].problem);
        ASSERT_TEXT(answer.body, cases[i].result == CALL_DONE ? cases[i].body : "");
    }
}

static void trees_are_written_as_they_were_read(void)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "{\"a\":[],\"b\":{},\"c\":null,\"d\":[true,false,12345678901234567890,-1.50e3]}",
        "{\"a\\\"\\\\\":\"\\n\\u0001 \xC3\xA4/\"}",
        "[[[\"\"]],\"x\"]",
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct source source = {.text = text_of(texts[i])};
        const struct node *root = NULL;
        struct error error;
        CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_policy, NULL, arena, &root, &error));
        ASSERT_TEXT(node_json(root, arena), texts[i]);
    }
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"paths are those of the API", paths_are_those_of_the_api},
    {"answers are told apart", answers_are_told_apart},
    {"trees are written as they were read", trees_are_written_as_they_were_read},
    {NULL, NULL},
};
