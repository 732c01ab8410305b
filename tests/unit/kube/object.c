/* Objects, kinds, times and snapshots. */
#include <string.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "kube/time.h"
#include "unit.h"

const char unit_suite[] = "kube objects";

static struct arena *arena;

static const struct node *read_json(const char *text)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = text_of(text);
    const struct node *root = NULL;
    struct error error;
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, &error));
    return root;
}

static void times_are_rfc3339_or_days(void)
{
    static const struct {
        const char *text;
        bool valid;
        int64_t unix_s;
    } cases[] = {
        {"1970-01-01", true, 0},
        {"1970-01-01T00:00:00Z", true, 0},
        {"2026-11-21T03:04:05Z", true, 1795230245}, /* date -ud 2026-11-21T03:04:05Z +%s */
        {"2026-11-21T04:04:05.123456+01:00", true, 1795230245},
        {"2024-02-29", true, 1709164800},
        {"2023-02-29", false, 0},
        {"2026-13-01", false, 0},
        {"2026-1-1", false, 0},
        {"2026-01-01T24:00:00Z", false, 0},
        {"2026-01-01T00:00:00", false, 0},
        {"2026-01-01 00:00:00Z", false, 0},
        {"2026-11-21t03:04:05z", true, 1795230245},
        {"2026\r11\r21T03:04:05Z", false, 0},
        {"2026-11-21T03\03204\03205Z", false, 0},
        {"2026-01-01T00:00:00Zx", false, 0},
        {"2026-11-21T00:04:05-03:00", true, 1795230245},
        {"2026-11-21T03:04:05*00:00", false, 0},
        {"2026-11-21T03:04:05+0x:00", false, 0},
        {"2026-11-21T03:04:05+01-00", false, 0},
        {"2026-11-21T03:04:05+01:0x", false, 0},
        {"2026-11-21T03:04:05+24:00", false, 0},
        {"2026-11-21T03:04:05+00:60", false, 0},
        {"2026-01", false, 0},
        {"2026-01-1", false, 0},
        {"2026-01-01Tx0:00:00Z", false, 0},
        {"2026-01-01T00:x0:00Z", false, 0},
        {"2026-01-01T00:00-00Z", false, 0},
        {"2026-01-01T00:00:x0Z", false, 0},
        {"2026-01-01T00:00:00.Z", false, 0},
        {"2026-01-01T00:60:00Z", false, 0},
        {"2026-01-01T00:00:60Z", false, 0},
        {"tomorrow", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t unix_s = 0;
        bool valid = time_parse(text_of(cases[i].text), &unix_s);
        ASSERT_INT(valid, cases[i].valid);
        if (valid)
            ASSERT_INT(unix_s, cases[i].unix_s);
    }
}

static void kinds_go_by_group_and_name(void)
{
    static const struct {
        const char *api_version, *kind;
        enum kind expected;
    } cases[] = {
        {"v1", "Pod", KIND_POD},
        {"apps/v1", "Deployment", KIND_DEPLOYMENT},
        {"extensions/v1beta1", "Deployment", KIND_DEPLOYMENT},
        {"example.com/v1", "Deployment", KIND_UNKNOWN},
        {"extensions/v1beta1", "Job", KIND_UNKNOWN},
        {"batch/v1", "CronJob", KIND_CRON_JOB},
        {"karpenter.sh/v1", "NodePool", KIND_NODE_POOL},
        {"karpenter.sh/v1beta1", "NodePool", KIND_NODE_POOL},
        {"v1", "NodePool", KIND_UNKNOWN},
        {"v1", "pod", KIND_UNKNOWN},
        {"v1", "", KIND_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        ASSERT_INT(kind_of(text_of(cases[i].api_version), text_of(cases[i].kind)),
                   cases[i].expected);
    CU_ASSERT_TRUE(kind_is_custom_owner(KIND_OWNER_LAST));
    CU_ASSERT_FALSE(kind_is_custom_owner(KIND_CUSTOM));
}

static void pods_of_daemon_sets_are_told(void)
{
    static const struct {
        const char *json;
        bool daemon;
    } cases[] = {
        {"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"a\"}}", true},
        {"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\"}}",
         false},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"ownerReferences\":"
         "[{"
         "\"kind\":\"DaemonSet\",\"controller\":true}]}}",
         true},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"ownerReferences\":"
         "[{"
         "\"kind\":\"DaemonSet\"}]}}",
         false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct object object;
        struct error error;
        CU_ASSERT_FATAL(
            object_read(read_json(cases[i].json), NULL, TEXT("ns"), arena, &object, &error));
        ASSERT_INT(object_is_of_daemon_set(&object), cases[i].daemon);
    }
}

static void objects_of_wrong_types_are_refused(void)
{
    static const char *const refused[] = {
        "[]",
        "{}",
        "{\"apiVersion\":\"v1\"}",
        "{\"apiVersion\":1,\"kind\":\"Pod\"}",
        "{\"apiVersion\":\"v1\",\"kind\":[\"Pod\"]}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":\"web\"}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":7}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"labels\":[\"a\"]}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"annotations\":\"a\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":{}}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":true}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"uid\":1}}",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct object object;
        struct error error = {0};
        CU_ASSERT(
            !object_read(read_json(refused[i]), NULL, TEXT("default"), arena, &object, &error));
        ASSERT_INT(error.kind, ERROR_INPUT);
        CU_ASSERT(strlen(error.what) > 0);
    }
}

static void metadata_is_read_and_nulls_are_absent(void)
{
    struct object object;
    struct error error;
    const struct node *root = read_json(
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"web-\",\"name\":"
        "null,\"labels\":null,\"creationTimestamp\":null,\"deletionTimestamp\":\"2026-01-01T00:"
        "00:00Z\",\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"n\"},{\"apiVersion\":"
        "\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-7d9\",\"uid\":\"u\",\"controller\":"
        "true}]}}");
    CU_ASSERT_FATAL(object_read(root, NULL, TEXT("team-a"), arena, &object, &error));
    ASSERT_TEXT(object.namespace, "team-a");
    ASSERT_TEXT(object_display_name(&object, arena), "web-*");
    ASSERT_TEXT(object.controller.kind, "ReplicaSet");
    ASSERT_TEXT(object.controller.name, "web-7d9");
    CU_ASSERT(object.deleting);
    ASSERT_INT(object.created_unix_s, 0);
    CU_ASSERT_PTR_NULL(object.labels);

    root = read_json("{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\",\"metadata\":{"
                     "\"name\":\"a\",\"namespace\":\"b\"}}");
    CU_ASSERT_FATAL(object_read(root, NULL, TEXT("team-a"), arena, &object, &error));
    ASSERT_TEXT(object.namespace, ""); /* cluster-scoped, whatever it says */

    root = read_json("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":null}");
    CU_ASSERT_FATAL(object_read(root, NULL, TEXT("team-a"), arena, &object, &error));
    ASSERT_TEXT(object.namespace, "team-a");
    ASSERT_TEXT(object.name, "");
}

static void what_comes_from_a_file_is_told(void)
{
    struct source file = {.file = "pod.yaml"}, request = {0};
    const struct object objects[] = {{.source = &file}, {.source = &request}, {.source = NULL}};
    CU_ASSERT_TRUE(object_is_of_file(&objects[0]));
    CU_ASSERT_FALSE(object_is_of_file(&objects[1]));
    CU_ASSERT_FALSE(object_is_of_file(&objects[2]));
}

static void the_last_of_one_name_stands_in_a_snapshot(void)
{
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    static const char *const pods[] = {
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\",\"uid\":\"1\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"uid\":\"2\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\",\"uid\":\"3\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"g-\"}}",
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"generateName\":\"g-\"}}",
    };
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        struct object object;
        struct error error;
        CU_ASSERT_FATAL(object_read(read_json(pods[i]), NULL, TEXT("ns"), arena, &object, &error));
        snapshot_put(builder, &object);
    }
    const struct snapshot *snapshot = snapshot_build(builder);
    ASSERT_INT(snapshot_count(snapshot, KIND_POD), 4);
    const struct object *found = snapshot_find(snapshot, KIND_POD, TEXT("ns"), TEXT("b"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    ASSERT_TEXT(found->uid, "3");
    CU_ASSERT_PTR_NULL(snapshot_find(snapshot, KIND_POD, TEXT("other"), TEXT("b")));
    CU_ASSERT_PTR_NULL(snapshot_object(snapshot, KIND_POD, 4));
    CU_ASSERT_PTR_NULL(snapshot_pool(snapshot, 0));
}

#define TEST(function)                       \
    static void in_arena_##function(void)    \
    {                                        \
        arena = arena_create(1 << 24);       \
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena); \
        function();                          \
        arena_destroy(arena);                \
    }
TEST(objects_of_wrong_types_are_refused)
TEST(metadata_is_read_and_nulls_are_absent)
TEST(pods_of_daemon_sets_are_told)
TEST(the_last_of_one_name_stands_in_a_snapshot)

const struct unit_test unit_tests[] = {
    {"times are RFC 3339 or days", times_are_rfc3339_or_days},
    {"kinds go by group and name", kinds_go_by_group_and_name},
    {"objects of wrong types are refused", in_arena_objects_of_wrong_types_are_refused},
    {"metadata is read, nulls are absent", in_arena_metadata_is_read_and_nulls_are_absent},
    {"pods of DaemonSets are told", in_arena_pods_of_daemon_sets_are_told},
    {"what comes from a file is told", what_comes_from_a_file_is_told},
    {"the last of one name stands", in_arena_the_last_of_one_name_stands_in_a_snapshot},
    {NULL, NULL},
};
