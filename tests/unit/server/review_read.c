/* What is read of a review, whole or in less detail, and what a person is told where it is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/review.h"
#include "unit.h"

const char unit_suite[] = "server/review read";

#define MIB ((size_t)1 << 20)

enum { RESERVE_BYTES = 512 << 10 };

#define REVIEW(fields) \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{" fields "}}"
#define POD(metadata, spec) \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{" metadata "},\"spec\":{" spec "}}"
/* Most of any body that it stands in. */
#define LONG                                                                                       \
    "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901" \
    "23456789"                                                                                     \
    "01234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901" \
    "23456789"
#define CREATE(object) REVIEW("\"uid\":\"u-1\",\"operation\":\"CREATE\",\"object\":" object)

static struct arena *arena;
static struct review review;
static struct error error;

static bool read_text(struct text body)
{
    review = (struct review){.uid = TEXT("")};
    return review_read(body, arena, &review, &error);
}

static bool read(const char *body)
{
    return read_text(text_of(body));
}

static void begin(size_t budget_bytes)
{
    arena = arena_create(budget_bytes);
    CU_ASSERT_FATAL(arena != NULL && arena_reserve(arena, RESERVE_BYTES));
}

static void end(void)
{
    arena_destroy(arena);
}

/* ---- the whole ---- */

static void who_asks_for_what_is_read(void)
{
    begin(4 * MIB);
    CU_ASSERT_FATAL(read(REVIEW(
        "\"uid\":\"u-1\",\"operation\":\"UPDATE\",\"subResource\":\"resize\",\"namespace\":"
        "\"shop\","
        "\"dryRun\":true,\"resource\":{\"group\":\"apps\",\"version\":\"v1\","
        "\"resource\":\"deployments\"},\"userInfo\":{\"username\":\"jane\",\"groups\":[\"a\",\"b\"]"
        "},\"object\":" POD("\"name\":\"new\"", "") ",\"oldObject\":" POD("\"name\":\"old\"",
                                                                          ""))));
    const struct subject *subject = &review.subject;
    ASSERT_TEXT(review.uid, "u-1");
    ASSERT_INT(subject->operation, OPERATION_UPDATE);
    ASSERT_TEXT(subject->subresource, "resize");
    CU_ASSERT(subject->dry_run);
    ASSERT_INT(subject->resource_kind, KIND_DEPLOYMENT);
    ASSERT_TEXT(subject->requester.name, "jane");
    ASSERT_INT(subject->requester.group_count, 2);
    ASSERT_TEXT(subject->requester.groups[0], "a");
    ASSERT_TEXT(subject->requester.groups[1], "b");
    ASSERT_TEXT(subject->object->name, "new");
    ASSERT_TEXT(subject->object->namespace, "shop");
    ASSERT_TEXT(subject->old_object->name, "old");
    ASSERT_INT(review.limit, LIMIT_NONE);
    end();

    begin(4 * MIB);
    CU_ASSERT_FATAL(read(REVIEW("\"uid\":\"u-1\",\"operation\":\"CREATE\",\"dryRun\":false,"
                                "\"userInfo\":{\"groups\":\"a\"},\"object\":null")));
    CU_ASSERT_FALSE(subject->dry_run);
    ASSERT_INT(subject->resource_kind, KIND_UNKNOWN);
    ASSERT_INT(subject->requester.name.size, 0);
    ASSERT_INT(subject->requester.group_count, 0);
    CU_ASSERT(subject->object == NULL && subject->old_object == NULL);
    end();
}

static void what_an_object_is_called(void)
{
    static const struct {
        const char *in_request, *in_object, *name;
    } cases[] = {
        {"", "\"name\":\"a\"", "a"},
        {"\"name\":\"b\",", "\"name\":\"a\"", "a"},
        {"\"name\":\"a-1\",", "\"generateName\":\"a-\"", "a-1"}, /* made in the meantime */
        {"", "\"generateName\":\"a-\"", ""},
        {"\"name\":7,", "\"generateName\":\"a-\"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[512];
        begin(4 * MIB);
        snprintf(body, sizeof body,
                 REVIEW("\"uid\":\"u-1\",\"operation\":\"CREATE\",%s\"object\":" POD("%s", "")),
                 cases[i].in_request, cases[i].in_object);
        CU_ASSERT_FATAL(read(body));
        ASSERT_TEXT(review.subject.object->name, cases[i].name);
        end();
    }
}

/* What is deleted is the object, and may leave what it owns. */
static void what_is_deleted_is_judged(void)
{
    static const struct {
        const char *options;
        bool orphans;
    } cases[] = {
        {"", false},
        {",\"options\":null", false},
        {",\"options\":{\"propagationPolicy\":\"Orphan\"}", true},
        {",\"options\":{\"propagationPolicy\":\"Background\"}", false},
        {",\"options\":{\"orphanDependents\":true}", true},
        {",\"options\":{\"orphanDependents\":false}", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[512];
        begin(4 * MIB);
        snprintf(body, sizeof body,
                 REVIEW("\"uid\":\"u-1\",\"operation\":\"%s\",\"object\":null,\"oldObject\":" POD(
                     "\"name\":\"a\"", "") "%s"),
                 "DELETE", cases[i].options);
        CU_ASSERT_FATAL(read(body));
        ASSERT_TEXT(review.subject.object->name, "a");
        CU_ASSERT_PTR_NULL(review.subject.old_object);
        ASSERT_INT(review.subject.orphans, cases[i].orphans);
        snprintf(body, sizeof body,
                 REVIEW("\"uid\":\"u-1\",\"operation\":\"%s\",\"object\":null,\"oldObject\":" POD(
                     "\"name\":\"a\"", "") "%s"),
                 "UPDATE", cases[i].options);
        CU_ASSERT_FATAL(read(body));
        CU_ASSERT_PTR_NULL(review.subject.object);
        CU_ASSERT_FALSE(review.subject.orphans);
        end();
    }
}

/* What rails read of a pod is read, and most of the rest is not. */
static void what_is_read_of_a_pod(void)
{
    static const struct {
        const char *container, *path; /* of the container's value */
        bool read;
    } cases[] = {
        {"\"image\":\"x\"", "image", true},
        {"\"resources\":{\"limits\":{\"cpu\":\"1\"}}", "resources.limits.cpu", true},
        {"\"args\":[\"x\"]", "args", false},
        {"\"command\":[\"x\"]", "command", false},
        {"\"livenessProbe\":{}", "livenessProbe", false},
        {"\"readinessProbe\":{}", "readinessProbe", false},
        {"\"startupProbe\":{}", "startupProbe", false},
        {"\"lifecycle\":{}", "lifecycle", false},
        {"\"securityContext\":{}", "securityContext", false},
        {"\"envFrom\":[]", "envFrom", false},
        {"\"env\":[{\"name\":\"A\"}]", "env", false},
        {"\"env\":[{\"name\":\"NVIDIA_VISIBLE_DEVICES\"}]", "env", true},
        {"\"env\":[{\"name\":\"NVIDIA_\\u0056ISIBLE_DEVICES\"}]", "env", true}, /* the same */
        {"\"arg\":1", "arg", true},
        {"\"argss\":1", "argss", true},
        {"\"\":1", "", true},
    };
    static const struct {
        const char *before, *after, *path;
    } places[] = {
        {"\"containers\":[{", "}]", "spec.containers"},
        {"\"initContainers\":[{", "}]", "spec.initContainers"},
        {"\"ephemeralContainers\":[{", "}]", "spec.ephemeralContainers"},
        {"\"template\":{\"spec\":{\"containers\":[{", "}]}}", "spec.template.spec.containers"},
        {"\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":[{", "}]}}}}",
         "spec.jobTemplate.spec.template.spec.containers"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t j = 0; j < COUNT_OF(places); j++) {
            char body[1024];
            begin(4 * MIB);
            snprintf(body, sizeof body, CREATE(POD("\"name\":\"a\"", "%s%s%s")), places[j].before,
                     cases[i].container, places[j].after);
            CU_ASSERT_FATAL(read(body));
            const struct node *container =
                node_item(node_at(review.subject.object->root->node, places[j].path), 0);
            const struct node *found = cases[i].path[0] == '\0' ? node_get(container, "")
                                                                : node_at(container, cases[i].path);
            if ((found != NULL) != cases[i].read)
                fprintf(stderr, "%s in %s\n", cases[i].container, places[j].path);
            ASSERT_INT(found != NULL, cases[i].read);
            end();
        }
}

static void what_is_read_beside_containers(void)
{
    static const struct {
        const char *object, *path;
        bool read;
    } cases[] = {
        {POD("\"managedFields\":[1]", ""), "metadata.managedFields", false},
        {POD("\"annotations\":{\"a\":\"b\"}", ""), "metadata.annotations", true},
        {POD("", "\"securityContext\":{}"), "spec.securityContext", false},
        {POD("", "\"nodeSelector\":{}"), "spec.nodeSelector", true},
        {POD("", "\"volumes\":{\"configMap\":1}"), "spec.volumes.configMap", false},
        {POD("", "\"volumes\":{\"secret\":1}"), "spec.volumes.secret", false},
        {POD("", "\"volumes\":{\"projected\":1}"), "spec.volumes.projected", false},
        {POD("", "\"volumes\":{\"downwardAPI\":1}"), "spec.volumes.downwardAPI", false},
        {POD("", "\"volumes\":{\"persistentVolumeClaim\":1}"), "spec.volumes.persistentVolumeClaim",
         true},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"status\":{\"a\":1}}", "status.a", true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[512];
        begin(4 * MIB);
        snprintf(body, sizeof body, CREATE("%s"), cases[i].object);
        CU_ASSERT_FATAL(read(body));
        ASSERT_INT(node_at(review.subject.object->root->node, cases[i].path) != NULL,
                   cases[i].read);
        end();
    }
}

/* ---- what is refused ---- */

static void a_refusal_says_what_is_wrong(void)
{
    static char long_uid[512], longest_uid[512], long_operation[512];
    char name[300];
    memset(name, 'u', sizeof name);
    snprintf(longest_uid, sizeof longest_uid, REVIEW("\"uid\":\"%.256s\",\"operation\":\"CREATE\""),
             name);
    snprintf(long_uid, sizeof long_uid, REVIEW("\"uid\":\"%.257s\",\"operation\":\"CREATE\""),
             name);
    snprintf(long_operation, sizeof long_operation, REVIEW("\"uid\":\"u\",\"operation\":\"%.41s\""),
             name);
    const struct {
        const char *body, *what; /* NULL: it is read */
    } cases[] = {
        {longest_uid, NULL},
        {long_uid, "request.uid has 257 bytes, more than the allowed 256"},
        {REVIEW("\"operation\":\"CREATE\""), "request.uid is missing or not a string"},
        {REVIEW("\"uid\":\"u\",\"operation\":\"Create\""),
         "request.operation is \"Create\", not CREATE, UPDATE, DELETE or CONNECT"},
        {REVIEW("\"uid\":\"u\""),
         "request.operation is \"\", not CREATE, UPDATE, DELETE or CONNECT"},
        {long_operation,
         "request.operation is \"uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu\", not CREATE, UPDATE, "
         "DELETE or CONNECT"},
        {"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":[]}",
         "the AdmissionReview has no request"},
        {"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v2\",\"request\":{}}",
         "the body is no AdmissionReview of admission.k8s.io/v1"},
        {"{\"kind\":\"Review\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{}}",
         "the body is no AdmissionReview of admission.k8s.io/v1"},
        {REVIEW("\"uid\":\"u\",\"operation\":\"CREATE\""), NULL},
        {REVIEW("\"uid\":\"u\",\"operation\":\"UPDATE\""), NULL},
        {REVIEW("\"uid\":\"u\",\"operation\":\"DELETE\""), NULL},
        {REVIEW("\"uid\":\"u\",\"operation\":\"CONNECT\""), NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(4 * MIB);
        ASSERT_INT(read(cases[i].body), cases[i].what == NULL);
        if (cases[i].what != NULL) {
            ASSERT_TEXT(text_of(error.what), cases[i].what);
            ASSERT_INT(error.kind, ERROR_INPUT);
            ASSERT_INT(review.limit, LIMIT_NONE);
        }
        end();
    }
    for (enum operation operation = OPERATION_CREATE; operation <= OPERATION_CONNECT; operation++) {
        char body[256];
        begin(4 * MIB);
        snprintf(body, sizeof body, REVIEW("\"uid\":\"u\",\"operation\":\"%s\""),
                 operation_name(operation));
        CU_ASSERT(read(body));
        ASSERT_INT(review.subject.operation, operation);
        end();
    }
}

/* ---- in less detail ---- */

static struct text body_with(const char *metadata, size_t spec_bytes, size_t labels)
{
    struct arena *of_body = arena_create(64 * MIB);
    struct text_builder out = {.arena = of_body};
    text_builder_printf(&out,
                        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\","
                        "\"request\":{\"uid\":\"u-1\",\"operation\":\"CREATE\",\"namespace\":"
                        "\"shop\",\"userInfo\":{\"username\":\"jane\"},\"object\":{\"apiVersion\":"
                        "\"v1\",\"kind\":\"Pod\",\"metadata\":{%s,\"labels\":{",
                        metadata);
    for (size_t i = 0; i < labels; i++)
        text_builder_printf(&out, "%s\"label-%zu\":\"x\"", i == 0 ? "" : ",", i);
    text_builder_add(&out, TEXT("}},\"spec\":{\"list\":["));
    for (size_t i = 0; out.size < spec_bytes; i++)
        text_builder_printf(&out, "%s{\"a\":1}", i == 0 ? "" : ",");
    text_builder_add(&out, TEXT("]}}}}"));
    struct text body = {text_duplicate(text_builder_text(&out)), out.size};
    arena_destroy(of_body);
    CU_ASSERT_PTR_NOT_NULL_FATAL(body.data);
    return body;
}

#define FULL_NAME                                                                          \
    "\"name\":\"a\",\"generateName\":\"b\",\"namespace\":\"shop\",\"uid\":\"p-1\","        \
    "\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"annotations\":{\"c\":\"d\"},"        \
    "\"deletionTimestamp\":\"2026-01-02T00:00:00Z\",\"ownerReferences\":[{\"apiVersion\":" \
    "\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web\",\"uid\":\"r\",\"controller\":true}]"

/* Its labels and its owner count for what it matches; where these are too much, only its names. */
static void less_is_read_of_what_is_too_large(void)
{
    static const struct {
        size_t budget_bytes, spec_bytes, labels;
        enum review_limit limit;
        bool has_spec, has_head;
    } cases[] = {
        {4 * MIB, 1000, 3, LIMIT_NONE, true, true},
        {200000, 400000, 3, LIMIT_MEMORY, false, true},
        {200000, 400000, 20000, LIMIT_MEMORY, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text body = body_with(FULL_NAME, cases[i].spec_bytes, cases[i].labels);
        begin(cases[i].budget_bytes);
        CU_ASSERT_FATAL(read_text(body));
        const struct object *object = review.subject.object;
        ASSERT_INT(review.limit, cases[i].limit);
        ASSERT_TEXT(review.uid, "u-1");
        ASSERT_TEXT(review.subject.requester.name, "jane");
        ASSERT_INT(object->kind, KIND_POD);
        ASSERT_TEXT(object->name, "a");
        ASSERT_TEXT(object->generate_name, "b");
        ASSERT_TEXT(object->namespace, "shop");
        ASSERT_TEXT(object->uid, "p-1");
        ASSERT_INT(object->created_unix_s, 1767225600);
        CU_ASSERT(object->deleting);
        ASSERT_INT(node_at(object->root->node, "spec.list") != NULL, cases[i].has_spec);
        ASSERT_TEXT(object->controller.name, cases[i].has_head ? "web" : "");
        ASSERT_INT(node_count(object->labels), cases[i].has_head ? cases[i].labels : 0);
        ASSERT_INT(node_at(object->root->node, "metadata.annotations") != NULL, cases[i].has_spec);
        free((void *)body.data);
        end();
    }
}

/* The reason that ends the reading, at the first question. */
static int stop_asking(void *context)
{
    return *(const int *)context;
}

static void who_has_no_time_reads_nothing_more(void)
{
    static const struct {
        enum review_limit reason;
        bool read;
    } cases[] = {{LIMIT_CPU, true}, {LIMIT_TIMEOUT, false}, {LIMIT_CLIENT_GONE, false}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text body = body_with(FULL_NAME, 400000, 3);
        int reason = (int)cases[i].reason;
        begin(16 * MIB);
        arena_watch(arena, &(struct arena_watch){stop_asking, &reason});
        ASSERT_INT(read_text(body), cases[i].read);
        ASSERT_INT(review.limit, cases[i].reason);
        CU_ASSERT(!cases[i].read || review.subject.object->controller.name.size > 0);
        free((void *)body.data);
        end();
    }
}

/* ---- what a person is told ---- */

static struct text padded(const char *object, size_t size)
{
    size_t object_size = strlen(object);
    char *body = malloc(size + 1);
    CU_ASSERT_FATAL(body != NULL && object_size <= size);
    memcpy(body, object, object_size);
    memset(body + object_size, ' ', size - object_size);
    body[size] = '\0';
    return (struct text){body, size};
}

static void a_size_is_said_in_words(void)
{
    static const struct {
        size_t bytes;
        const char *said;
    } cases[] = {
        {1024, "1 KiB"},
        {1025, "2 KiB"},
        {100 << 10, "100 KiB"},
        {MIB - 1, "1024 KiB"},
        {MIB, "1 MiB"},
        {MIB + MIB / 10 + 1, "1.1 MiB"},
        {MIB + MIB / 2, "1.5 MiB"},
        {3 * MIB, "3 MiB"},
        {12 * MIB, "12 MiB"},
    };
    const struct world world = {.cpu_limit_us = 1999};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char message[200];
        begin(4 * MIB);
        CU_ASSERT_FATAL(read(CREATE(POD("\"name\":\"a\"", ""))));
        struct text body = padded("{}", cases[i].bytes);
        struct shortfall shortfall = review_shortfall(&world, &review, LIMIT_CPU, body, arena);
        snprintf(message, sizeof message,
                 "This Pod could not be judged within 1 ms of processor time; its review is %s of "
                 "JSON.",
                 cases[i].said);
        ASSERT_TEXT(shortfall.message, message);
        ASSERT_TEXT(shortfall.fix, "Make it smaller."); /* nothing of it is known */
        ASSERT_INT(shortfall.limit, LIMIT_CPU);
        free((void *)body.data);
        end();
    }
}

static void each_limit_has_its_words(void)
{
    static const struct {
        enum review_limit limit;
        const char *within;
    } cases[] = {
        {LIMIT_MEMORY, "judged within 4 MiB of memory"},
        {LIMIT_SHAPE, "read: it is too deep"},
        {LIMIT_CPU, "judged within 250 ms of processor time"},
        {LIMIT_TIMEOUT, "judged before its caller's time was over"},
    };
    const struct world world = {.cpu_limit_us = 250000};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *body = CREATE(POD("\"name\":\"a\"", "\"x\":{\"long\":[1,[2,\"" LONG "\"]]}"));
        char message[200];
        begin(4 * MIB);
        CU_ASSERT_FATAL(read(body));
        snprintf(review.obstacle.what, sizeof review.obstacle.what, "it is too deep");
        struct shortfall shortfall =
            review_shortfall(&world, &review, cases[i].limit, text_of(body), arena);
        snprintf(message, sizeof message, "This Pod could not be %s; its review is 1 KiB of JSON.",
                 cases[i].within);
        ASSERT_TEXT(shortfall.message, message);
        ASSERT_TEXT(shortfall.fix, "Make it smaller: most of it is in spec.x.long[1][1].");
        /* Where nothing is known of the object it is one. */
        review.subject.object = NULL;
        shortfall = review_shortfall(&world, &review, cases[i].limit, text_of(body), arena);
        CU_ASSERT(text_starts_with(shortfall.message, TEXT("This object could not be ")));
        end();
    }
}

/* To find what is largest in it, a body of eight mebibytes is looked through, and no larger one. */
static void the_largest_value_of_a_huge_body_is_not_sought(void)
{
    static const struct {
        size_t bytes;
        bool sought;
    } cases[] = {{8 * MIB, true}, {8 * MIB + 1, false}};
    const struct world world = {.cpu_limit_us = 1000};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(4 * MIB);
        CU_ASSERT_FATAL(read(CREATE(POD("\"name\":\"a\"", ""))));
        struct text body = padded(CREATE(POD("", "\"x\":\"" LONG "\"")), cases[i].bytes);
        struct shortfall shortfall = review_shortfall(&world, &review, LIMIT_CPU, body, arena);
        ASSERT_TEXT(shortfall.fix, cases[i].sought ? "Make it smaller: most of it is in spec.x."
                                                   : "Make it smaller.");
        free((void *)body.data);
        end();
    }
}

/* An update of what is too large changes nothing that rails read: compared as it is written. */
static void an_update_may_change_nothing(void)
{
    static const struct {
        const char *kind, *operation, *object, *old_object;
        bool unchanged;
    } cases[] = {
        {"Pod", "UPDATE", "\"metadata\":{},\"spec\":{\"a\":1}",
         "\"metadata\":{},\"spec\":{\"a\":1}", true},
        {"Pod", "CREATE", "\"metadata\":{},\"spec\":{\"a\":1}",
         "\"metadata\":{},\"spec\":{\"a\":1}", false},
        {"Pod", "UPDATE", "\"metadata\":{},\"spec\":{\"a\":1}",
         "\"metadata\":{},\"spec\":{\"a\":2}", false},
        {"Pod", "UPDATE", "\"metadata\":{},\"spec\":{\"a\":1}",
         "\"metadata\":{},\"spek\":{\"a\":1}", false},
        {"Pod", "UPDATE", "\"metadata\":{},\"spec\":{}", "\"metadata\":{},\"spec\":{},\"x\":1",
         false},
        {"Pod", "UPDATE", "\"metadata\":{},\"spec\":{},\"x\":1", "\"metadata\":{},\"spec\":{}",
         false},
        {"Pod", "UPDATE", "\"metadata\":{},\"spec\":{},\"status\":{\"a\":1}",
         "\"status\":{\"a\":2},\"metadata\":{},\"spec\":{}", true},
        {"Pod", "UPDATE", "\"metadata\":{\"uid\":\"1\",\"labels\":{\"a\":\"b\"}}",
         "\"metadata\":{\"uid\":\"2\",\"labels\":{\"a\":\"b\"}}", true},
        {"Pod", "UPDATE", "\"metadata\":{\"labels\":{\"a\":\"b\"}}", "\"metadata\":{}", false},
        {"Pod", "UPDATE", "\"metadata\":{\"annotations\":{\"a\":\"b\"}}",
         "\"metadata\":{\"annotations\":{\"a\":\"c\"}}", false},
        {"Deployment", "UPDATE", "\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{}",
         "\"metadata\":{},\"spec\":{}", true},
    };
    const struct world world = {.cpu_limit_us = 1000};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char body[1024];
        const char *api = strcmp(cases[i].kind, "Pod") == 0 ? "v1" : "apps/v1";
        begin(4 * MIB);
        snprintf(body, sizeof body,
                 REVIEW("\"uid\":\"u\",\"operation\":\"%s\",\"object\":{\"apiVersion\":\"%s\","
                        "\"kind\":\"%s\",%s},\"oldObject\":{\"apiVersion\":\"%s\",\"kind\":\"%s\","
                        "%s}"),
                 cases[i].operation, api, cases[i].kind, cases[i].object, api, cases[i].kind,
                 cases[i].old_object);
        CU_ASSERT_FATAL(read(body));
        review.limit = LIMIT_MEMORY;
        struct shortfall shortfall =
            review_shortfall(&world, &review, LIMIT_MEMORY, text_of(body), arena);
        if (shortfall.unchanged != cases[i].unchanged)
            fprintf(stderr, "%s\n", body);
        ASSERT_INT(shortfall.unchanged, cases[i].unchanged);
        end();
    }
    begin(4 * MIB);
    const char *alone = REVIEW("\"uid\":\"u\",\"operation\":\"UPDATE\",\"object\":" POD("", ""));
    CU_ASSERT_FATAL(read(alone));
    review.limit = LIMIT_MEMORY;
    CU_ASSERT_FALSE(review_shortfall(&world, &review, LIMIT_MEMORY, text_of(alone), arena)
                        .unchanged); /* nobody knows */
    end();
}

const struct unit_test unit_tests[] = {
    {"who asks for what is read", who_asks_for_what_is_read},
    {"what an object is called", what_an_object_is_called},
    {"what is deleted is judged", what_is_deleted_is_judged},
    {"what is read of a pod", what_is_read_of_a_pod},
    {"what is read beside containers", what_is_read_beside_containers},
    {"a refusal says what is wrong", a_refusal_says_what_is_wrong},
    {"less is read of what is too large", less_is_read_of_what_is_too_large},
    {"who has no time reads nothing more", who_has_no_time_reads_nothing_more},
    {"a size is said in words", a_size_is_said_in_words},
    {"each limit has its words", each_limit_has_its_words},
    {"the largest value of a huge body is not sought",
     the_largest_value_of_a_huge_body_is_not_sought},
    {"an update may change nothing", an_update_may_change_nothing},
    {NULL, NULL},
};
