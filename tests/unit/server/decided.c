/* A review that was read is decided, whatever limit it comes to, and wherever that is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folder.h"
#include "server/server.h"
#include "unit.h"
#include "world_of_text.h"

const char unit_suite[] = "server decided";

enum { NOW = 1795230245, RESERVE_BYTES = 512 << 10 };

static const char policy_text[] =
    "apiVersion: taffrail.dev/v1alpha1\n"
    "kind: GuardRails\n"
    "metadata: {name: production}\n"
    "spec:\n"
    "  mode: enforce\n"
    "  since: 2026-06-01\n"
    "  contact: '#platform-compute'\n"
    "  docs: https://wiki.example.com/{rail}\n"
    "  match: {excludeNamespaces: [kube-system]}\n"
    "  podTemplates: [{group: ray.io, kind: RayCluster, paths: [spec.template]}]\n"
    "  rails:\n"
    "    topology-keys: {}\n"
    "    instance-types: {allow: {families: [m5]}}\n"
    "    zone-pin: {mode: enforce}\n"
    "    accelerators: {mode: audit, addToleration: true}\n"
    "  exceptions:\n"
    "    - {id: EX-1, rails: [topology-keys, zone-pin, instance-types], match: {names: [excused]}, "
    "owner: o, "
    "reason: r,\n"
    "       expires: 2027-11-25}\n"
    "    - {id: EX-2, rails: [topology-keys], match: {names: [lapsed]}, owner: o, reason: r,\n"
    "       expires: 2026-11-01}\n"
    "  overrides:\n"
    "    - {id: soft, step: softer, match: {namespaces: [soft]}}\n";

static const char state_text[] =
    "apiVersion: apps/v1\n"
    "kind: ReplicaSet\n"
    "metadata: {name: old, namespace: shop, uid: r-1, creationTimestamp: '2026-01-01T00:00:00Z'}\n"
    "spec: {}\n"
    "---\n"
    "apiVersion: apps/v1\n"
    "kind: Deployment\n"
    "metadata: {name: maker, namespace: shop, uid: d-1, creationTimestamp: "
    "'2026-11-01T00:00:00Z'}\n"
    "spec: {}\n";

static struct world *world;

static void set_up(void)
{
    make_folder();
    write_file("objects.yaml", state_text);
    world = world_of_text(policy_text, (struct world_options){.state_dir = folder}, 1, NOW);
    remove_folder();
}

static void tear_down(void)
{
    world_destroy(world);
}

/* ---- a review that is stopped ---- */

struct stop {
    int asked, at; /* at 0: never */
    enum review_limit reason;
};

static int ask(void *context)
{
    struct stop *stop = context;
    return ++stop->asked >= stop->at && stop->at != 0 ? (int)stop->reason : 0;
}

struct attempt {
    struct arena *arena;
    struct text body;
    enum review_phase phase;
    struct text answer;
    struct review_record record;
    struct error error;
    bool answered;
    const struct node *response;
};

static void run(void *argument)
{
    struct attempt *attempt = argument;
    attempt->answered = review_answer(world, attempt->phase, attempt->body, NOW, attempt->arena,
                                      &attempt->answer, &attempt->record, &attempt->error);
}

/* Its arena is the caller's to destroy. */
static struct attempt review(enum review_phase phase, const char *body, size_t budget_bytes,
                             struct stop *stop)
{
    struct attempt attempt = {
        .arena = arena_create(budget_bytes), .body = text_of(body), .phase = phase};
    struct error error = {0};
    CU_ASSERT_FATAL(arena_reserve(attempt.arena, RESERVE_BYTES));
    if (stop != NULL)
        arena_watch(attempt.arena, &(struct arena_watch){ask, stop});
    CU_ASSERT_FATAL(arena_guard(attempt.arena, run, &attempt, &error));
    if (!attempt.answered)
        return attempt;
    CU_ASSERT(attempt.answer.size <= 64 << 10);
    struct source source = {.text = attempt.answer};
    const struct node *root = NULL;
    struct arena *reading = arena_create(4 << 20);
    CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, NULL, reading, &root, &error));
    ASSERT_TEXT(node_string(node_at(root, "response.uid")), "u-1");
    CU_ASSERT(node_true(node_at(root, "response.allowed")) == attempt.record.allowed);
    arena_destroy(reading);
    return attempt;
}

/* ---- the rows ---- */

#define CONTROLLER "system:serviceaccount:kube-system:replicaset-controller"
#define OWNER(api, kind, name, uid)                                                            \
    ",\"ownerReferences\":[{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"name\":\"" name \
    "\",\"uid\":\"" uid "\",\"controller\":true}]"

struct row {
    const char *what;
    const char *operation, *subresource, *user, *namespace;
    const char *api_version, *kind;
    const char *metadata, *old_metadata; /* NULL: no such object */
    const char *key, *old_key;           /* the topology key */
    bool denied;
};

#define PERSON "jane"
static const struct row rows[] = {
    {"a Pod", "CREATE", "", PERSON, "shop", "v1", "Pod", "\"name\":\"a\"", NULL, "zone", NULL,
     true},
    {"a Deployment", "CREATE", "", PERSON, "shop", "apps/v1", "Deployment", "\"name\":\"a\"", NULL,
     "zone", NULL, true},
    {"a custom resource with templates", "CREATE", "", PERSON, "shop", "ray.io/v1", "RayCluster",
     "\"name\":\"a\"", NULL, "zone", NULL, true},
    {"a kind that nothing guards", "CREATE", "", PERSON, "shop", "v1", "ConfigMap",
     "\"name\":\"a\"", NULL, "zone", NULL, false},
    {"a namespace that is left out", "CREATE", "", PERSON, "kube-system", "v1", "Pod",
     "\"name\":\"a\"", NULL, "zone", NULL, false},
    {"a namespace with a softer mode", "CREATE", "", PERSON, "soft", "v1", "Pod", "\"name\":\"a\"",
     NULL, "zone", NULL, false},
    {"an exception", "CREATE", "", PERSON, "shop", "v1", "Pod", "\"name\":\"excused\"", NULL,
     "zone", NULL, false},
    {"an exception that has expired", "CREATE", "", PERSON, "shop", "v1", "Pod",
     "\"name\":\"lapsed\"", NULL, "zone", NULL, true},
    {"DELETE", "DELETE", "", PERSON, "shop", "v1", "Pod", NULL, "\"name\":\"a\"", NULL, "zone",
     false},
    {"status", "UPDATE", "status", PERSON, "shop", "apps/v1", "Deployment", "\"name\":\"a\"",
     "\"name\":\"a\"", "zone", "kubernetes.io/os", false},
    {"nothing but metadata", "UPDATE", "", PERSON, "shop", "apps/v1", "Deployment",
     "\"name\":\"a\",\"resourceVersion\":\"2\",\"managedFields\":[{\"x\":1}]",
     "\"name\":\"a\",\"resourceVersion\":\"1\"", "zone", "zone", false},
    {"labels of a Deployment, which are not those of its Pods", "UPDATE", "", PERSON, "shop",
     "apps/v1", "Deployment",
     "\"name\":\"a\",\"labels\":{\"b\":\"c\"},\"annotations\":{\"d\":\"e\"}", "\"name\":\"a\"",
     "zone", "zone", false},
    {"another spec", "UPDATE", "", PERSON, "shop", "apps/v1", "Deployment", "\"name\":\"a\"",
     "\"name\":\"a\"", "zone", "kubernetes.io/os", true},
    {"on its way out", "UPDATE", "", PERSON, "shop", "v1", "Pod",
     "\"name\":\"a\",\"deletionTimestamp\":\"2026-11-22T00:00:00Z\"", "\"name\":\"a\"", "zone",
     "kubernetes.io/os", false},
    {"a Pod of an old workload", "CREATE", "", CONTROLLER, "shop", "v1", "Pod",
     "\"generateName\":\"old-\"" OWNER("apps/v1", "ReplicaSet", "old", "r-1"), NULL, "zone", NULL,
     false},
    {"a ReplicaSet that its Deployment makes", "CREATE", "",
     "system:serviceaccount:kube-system:deployment-controller", "shop", "apps/v1", "ReplicaSet",
     "\"name\":\"maker-1\"" OWNER("apps/v1", "Deployment", "maker", "d-1"), NULL, "zone", NULL,
     false},
};

static void add_object(struct text_builder *out, const struct row *row, const char *metadata,
                       const char *key, size_t padding)
{
    const char *open = "", *close = "";
    if (strcmp(row->kind, "Pod") != 0) {
        open = "\"template\":{\"spec\":{";
        close = "}}";
    }
    if (metadata == NULL) {
        text_builder_add(out, TEXT("null"));
        return;
    }
    text_builder_printf(out,
                        "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{%s},\"spec\":{%s"
                        "\"topologySpreadConstraints\":[{\"topologyKey\":\"%s\"}],\"padding\":[",
                        row->api_version, row->kind, metadata, open, key);
    for (size_t i = 0; i < padding; i++)
        text_builder_add(out, i == 0 ? TEXT("{}") : TEXT(",{}"));
    text_builder_printf(out, "]%s}}", close);
}

static struct text body_of(const struct row *row, size_t padding, struct arena *arena)
{
    struct text_builder out = {.arena = arena};
    text_builder_printf(
        &out,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
        "\"uid\":\"u-1\",\"operation\":\"%s\",\"subResource\":\"%s\",\"namespace\":\"%s\","
        "\"userInfo\":{\"username\":\"%s\",\"groups\":[\"system:authenticated\"]},\"object\":",
        row->operation, row->subresource, row->namespace, row->user);
    add_object(&out, row, row->metadata, row->key, padding);
    text_builder_add(&out, TEXT(",\"oldObject\":"));
    add_object(&out, row, row->old_metadata, row->old_key, padding);
    text_builder_add(&out, TEXT("}}"));
    return text_builder_text(&out);
}

static void check(const struct row *row, const struct attempt *attempt, const char *how)
{
    bool right = attempt->answered && attempt->record.allowed == !row->denied;
    CU_ASSERT_TRUE(right);
    if (!right)
        fprintf(stderr, "%s, %s: %s %s\n", row->what, how,
                attempt->answered ? "answered otherwise" : "not answered", attempt->error.what);
}

static void the_same_is_decided_whatever_memory_there_is(void)
{
    static const size_t budgets[] = {5000,    20000,   60000,   100000,  200000,
                                     400000,  700000,  1000000, 1500000, 2000000,
                                     3000000, 4000000, 6000000, 8000000, 64 << 20};
    struct arena *arena = arena_create(16 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text body = body_of(&rows[i], 20000, arena);
        bool limited = false, whole = false;
        for (size_t j = 0; j < COUNT_OF(budgets); j++) {
            struct attempt attempt = review(REVIEW_VALIDATE, body.data, budgets[j], NULL);
            char how[64];
            snprintf(how, sizeof how, "%zu bytes of memory", budgets[j]);
            check(&rows[i], &attempt, how);
            limited |= attempt.record.verdict.limit == LIMIT_MEMORY;
            whole |= attempt.record.verdict.limit == LIMIT_NONE;
            arena_destroy(attempt.arena);
        }
        CU_ASSERT(limited && whole);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

static void the_same_is_decided_wherever_it_is_stopped(void)
{
    struct arena *arena = arena_create(16 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text body = body_of(&rows[i], 20000, arena);
        struct stop stop = {.reason = LIMIT_CPU};
        struct attempt whole = review(REVIEW_VALIDATE, body.data, 64 << 20, &stop);
        check(&rows[i], &whole, "not stopped");
        arena_destroy(whole.arena);
        int asked = stop.asked;
        CU_ASSERT(asked > 3);
        for (int at = 1; at <= asked; at++) {
            char how[64];
            stop = (struct stop){.at = at, .reason = LIMIT_CPU};
            struct attempt attempt = review(REVIEW_VALIDATE, body.data, 64 << 20, &stop);
            snprintf(how, sizeof how, "stopped at %d of %d", at, asked);
            check(&rows[i], &attempt, how);
            ASSERT_INT(attempt.record.verdict.limit, LIMIT_CPU);
            arena_destroy(attempt.arena);
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
}

/* Were there no limit nothing would be new in these. */
static void what_rails_read_of_metadata_is_guarded(void)
{
    static const struct row read[] = {
        {"labels of a Pod", "UPDATE", "", PERSON, "shop", "v1", "Pod",
         "\"name\":\"a\",\"labels\":{\"b\":\"c\"}", "\"name\":\"a\"", "zone", "zone", true},
        {"an annotation of a Pod", "UPDATE", "", PERSON, "shop", "v1", "Pod",
         "\"name\":\"a\",\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\"}",
         "\"name\":\"a\"", "zone", "zone", true},
        {"labels of a custom resource", "UPDATE", "", PERSON, "shop", "ray.io/v1", "RayCluster",
         "\"name\":\"a\",\"labels\":{\"b\":\"c\"}", "\"name\":\"a\"", "zone", "zone", true},
    };
    static const size_t budgets[] = {20000, 100000, 1000000};
    struct arena *arena = arena_create(16 << 20);
    for (size_t i = 0; i < COUNT_OF(read); i++) {
        struct text body = body_of(&read[i], 20000, arena);
        for (size_t j = 0; j < COUNT_OF(budgets); j++) {
            struct attempt attempt = review(REVIEW_VALIDATE, body.data, budgets[j], NULL);
            check(&read[i], &attempt, "at the limit");
            ASSERT_INT(attempt.record.verdict.limit, LIMIT_MEMORY);
            arena_destroy(attempt.arena);
        }
        arena_reset(arena);
    }
    arena_destroy(arena);
}

struct outcomes {
    int unanswered, warned, denied;
};

/* Ended by the time of the caller at each place where it is asked for. */
static struct outcomes run_out_of_time(struct text body)
{
    struct outcomes outcomes = {0};
    struct stop stop = {0};
    struct attempt whole = review(REVIEW_VALIDATE, body.data, 64 << 20, &stop);
    arena_destroy(whole.arena);
    int asked = stop.asked;
    for (int at = 1; at <= asked; at++) {
        stop = (struct stop){.at = at, .reason = LIMIT_TIMEOUT};
        struct attempt attempt = review(REVIEW_VALIDATE, body.data, 64 << 20, &stop);
        ASSERT_INT(attempt.record.verdict.limit, LIMIT_TIMEOUT);
        if (!attempt.answered) {
            outcomes.unanswered++;
        } else if (!attempt.record.allowed) {
            outcomes.denied++;
        } else {
            outcomes.warned++;
            CU_ASSERT(attempt.record.verdict.finding_count > 1);
            CU_ASSERT(memmem(attempt.answer.data, attempt.answer.size, "[limits]", 8) != NULL);
        }
        arena_destroy(attempt.arena);
    }
    return outcomes;
}

#define PREFERS                                                                              \
    "\"affinity\":{\"nodeAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{" \
    "\"weight\":1,\"preference\":{\"matchExpressions\":[{\"key\":"                           \
    "\"karpenter.k8s.aws/instance-family\",\"operator\":\"In\",\"values\":[\"c5\"]}]}}]}},"

#define SELECTS "\"nodeSelector\":{\"karpenter.k8s.aws/instance-family\":\"c5\"},"

/* What instance-types finds comes before what takes topology-keys long. */
static struct text pod_in(const char *namespace, const char *spec, struct arena *arena)
{
    enum { SPREADS = 20000 };
    struct text_builder out = {.arena = arena};
    text_builder_printf(
        &out,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
        "\"uid\":\"u-1\",\"operation\":\"CREATE\",\"namespace\":\"%s\",\"userInfo\":{\"username\":"
        "\"" PERSON "\"},\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
        "\"a\"},\"spec\":{%s\"topologySpreadConstraints\":[",
        namespace, spec);
    for (size_t i = 0; i < SPREADS; i++)
        text_builder_printf(&out, "%s{\"topologyKey\":\"kubernetes.io/os\"}", i == 0 ? "" : ",");
    text_builder_add(&out, TEXT("]}}}}"));
    return text_builder_text(&out);
}

static void without_time_what_is_found_is_answered_where_it_decides(void)
{
    struct arena *arena = arena_create(16 << 20);
    /* Something denies: the rest does not matter. */
    struct outcomes outcomes = run_out_of_time(pod_in("shop", SELECTS, arena));
    CU_ASSERT(outcomes.unanswered > 0 && outcomes.denied > 0 && outcomes.warned == 0);
    /* Nothing could deny: there are the warnings so far. */
    outcomes = run_out_of_time(pod_in("soft", SELECTS, arena));
    CU_ASSERT(outcomes.unanswered > 0 && outcomes.denied == 0 && outcomes.warned > 0);
    /* There is a warning, and the rest could deny: failurePolicy decides. */
    outcomes = run_out_of_time(pod_in("shop", PREFERS, arena));
    CU_ASSERT(outcomes.unanswered > 0 && outcomes.denied == 0 && outcomes.warned == 0);
    arena_destroy(arena);
}

static void without_time_nothing_found_is_no_answer(void)
{
    static const enum review_limit reasons[] = {LIMIT_TIMEOUT, LIMIT_CLIENT_GONE};
    struct arena *arena = arena_create(16 << 20);
    struct text body = body_of(&rows[0], 20000, arena);
    for (size_t i = 0; i < COUNT_OF(reasons); i++) {
        struct stop stop = {.at = 1, .reason = reasons[i]};
        struct attempt attempt = review(REVIEW_VALIDATE, body.data, 64 << 20, &stop);
        CU_ASSERT_FALSE(attempt.answered);
        ASSERT_INT(attempt.record.verdict.limit, reasons[i]);
        CU_ASSERT(attempt.error.what[0] != '\0');
        arena_destroy(attempt.arena);
    }
    arena_destroy(arena);
}

static bool has(struct text text, const char *part)
{
    return memmem(text.data, text.size, part, strlen(part)) != NULL;
}

static void a_denial_names_the_limit_and_the_way_below_it(void)
{
    struct arena *arena = arena_create(16 << 20);
    struct text body = body_of(&rows[1], 20000, arena);
    struct attempt attempt = review(REVIEW_VALIDATE, body.data, 100000, NULL);
    static const char *const parts[] = {
        "1 problem in Deployment shop/a: limits",
        "1. limits  This Deployment could not be judged within 98 KiB of memory; ",
        "; its review is 59 KiB of JSON.",
        "Make it smaller: most of it is in spec.template.spec.padding.",
        "docs: https://wiki.example.com/instance-types   ask: #platform-compute",
        "\"code\":403",
        "\"limit\":\"memory\"",
        "\"rails\":\"limits\"",
        "\"causes\":[{\"reason\":\"FieldValueInvalid\"",
    };
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        CU_ASSERT_TRUE(has(attempt.answer, parts[i]));
        if (!has(attempt.answer, parts[i]))
            fprintf(stderr, "no \"%s\" in %s\n", parts[i], attempt.answer.data);
    }
    arena_destroy(attempt.arena);

    /* Where nothing would be denied a person is told. */
    body = body_of(&rows[5], 20000, arena);
    attempt = review(REVIEW_VALIDATE, body.data, 100000, NULL);
    CU_ASSERT(has(attempt.answer, "\"warnings\":[\"[limits] This Pod could not be judged"));
    arena_destroy(attempt.arena);
    arena_destroy(arena);
}

static void what_is_too_deep_is_decided(void)
{
    struct arena *arena = arena_create(16 << 20);
    struct text_builder out = {.arena = arena};
    static const struct {
        const char *before, *after;
        size_t depth;
        bool allowed;
        enum review_limit limit;
    } cases[] = {
        {"\"spec\":{\"x\":", "}", 130, false, LIMIT_SHAPE},
        {"\"spec\":{\"x\":", "}", 100000, false, LIMIT_SHAPE},
        {"\"spec\":{},\"metadata\":{\"managedFields\":", "}", 130, true, LIMIT_NONE},
        {"\"spec\":{},\"metadata\":{\"managedFields\":", "}", 100000, true, LIMIT_NONE},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        out = (struct text_builder){.arena = arena};
        text_builder_printf(&out,
                            "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
                            "\"request\":{\"uid\":\"u-1\",\"operation\":\"CREATE\",\"object\":{"
                            "\"apiVersion\":\"v1\",\"kind\":\"Pod\",%s",
                            cases[i].before);
        for (size_t j = 0; j < cases[i].depth; j++)
            text_builder_add(&out, TEXT("["));
        for (size_t j = 0; j < cases[i].depth; j++)
            text_builder_add(&out, TEXT("]"));
        text_builder_printf(&out, "%s}}}", cases[i].after);
        struct attempt attempt = review(REVIEW_VALIDATE, out.data, 4 << 20, NULL);
        CU_ASSERT_TRUE(attempt.answered);
        ASSERT_INT(attempt.record.allowed, cases[i].allowed);
        ASSERT_INT(attempt.record.verdict.limit, cases[i].limit);
        arena_destroy(attempt.arena);
    }
    arena_destroy(arena);
}

static void mutate_never_denies(void)
{
    struct arena *arena = arena_create(16 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text body = body_of(&rows[i], 20000, arena);
        for (size_t budget = 100; budget < 64 << 20; budget *= 4) {
            struct attempt attempt = review(REVIEW_MUTATE, body.data, budget, NULL);
            CU_ASSERT_TRUE(attempt.answered && attempt.record.allowed);
            if (attempt.record.verdict.limit != LIMIT_NONE && rows[i].metadata != NULL)
                CU_ASSERT(has(attempt.answer, "\"limit\":\"memory: nothing is changed\""));
            arena_destroy(attempt.arena);
        }
        struct stop stop = {.at = 1, .reason = LIMIT_TIMEOUT};
        struct attempt attempt = review(REVIEW_MUTATE, body.data, 64 << 20, &stop);
        CU_ASSERT(!attempt.answered || attempt.record.allowed);
        arena_destroy(attempt.arena);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

/* ---- answers ---- */

static void answers_are_bounded(void)
{
    static const struct {
        size_t count, size;
        const char *fill;
    } cases[] = {
        {1, 300000, "x"}, {8000, 4, "x"},        {60, 3000, "\\\""},
        {8000, 60, "<"},  {200, 900, "\\u0001"},
    };
    struct arena *arena = arena_create(64 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text_builder out = {.arena = arena};
        text_builder_add(&out,
                         TEXT("{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s"
                              ".io/v1\",\"request\":{\"uid\":\"u-1\",\"operation\":\"CREATE\","
                              "\"object\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\","
                              "\"metadata\":{\"name\":\""));
        for (size_t j = 0; j < cases[i].size; j++)
            text_builder_add(&out, text_of(cases[i].fill));
        text_builder_add(
            &out, TEXT("\"},\"spec\":{\"affinity\":{\"nodeAffinity\":{"
                       "\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                       "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":"
                       "\"node.kubernetes.io/instance-type\",\"operator\":\"In\",\"values\":["));
        for (size_t j = 0; j < cases[i].count; j++) {
            text_builder_printf(&out, "%s\"c5.%zu",
                                j == 0 ? ""
                                       : "]},{\"key\":\"node.kubernetes.io/instance-type\","
                                         "\"operator\":\"In\",\"values\":[",
                                j);
            for (size_t k = 0; k < cases[i].size; k++)
                text_builder_add(&out, text_of(cases[i].fill));
            text_builder_add(&out, TEXT("\""));
        }
        text_builder_add(&out, TEXT("]}]}]}}}}}}}"));
        struct attempt attempt = review(REVIEW_VALIDATE, out.data, 64 << 20, NULL);
        CU_ASSERT_TRUE(attempt.answered);
        CU_ASSERT_FALSE(attempt.record.allowed);
        ASSERT_INT(attempt.record.verdict.limit, LIMIT_NONE);
        CU_ASSERT(attempt.record.verdict.finding_count <= 51);
        if (cases[i].count > 50)
            CU_ASSERT(has(attempt.answer, "more"));
        arena_destroy(attempt.arena);
        arena_reset(arena);
    }
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"set up", set_up},
    {"the same is decided whatever memory there is", the_same_is_decided_whatever_memory_there_is},
    {"the same is decided wherever it is stopped", the_same_is_decided_wherever_it_is_stopped},
    {"what rails read of metadata is guarded", what_rails_read_of_metadata_is_guarded},
    {"without time what is found is answered where it decides",
     without_time_what_is_found_is_answered_where_it_decides},
    {"without time nothing found is no answer", without_time_nothing_found_is_no_answer},
    {"a denial names the limit and the way below it",
     a_denial_names_the_limit_and_the_way_below_it},
    {"what is too deep is decided", what_is_too_deep_is_decided},
    {"mutate never denies", mutate_never_denies},
    {"answers are bounded", answers_are_bounded},
    {"tear down", tear_down},
    {NULL, NULL},
};
