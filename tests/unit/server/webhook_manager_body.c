/* What the webhook manager reads of Secrets and configurations, and what it writes. */
#include "server/webhook_manager.h"

#include "object_fixture.h"

const char unit_suite[] = "server/webhook manager body";

static const struct webhook_manager_settings settings = {
    .namespace = "taffrail", .secret = "certs", .configuration = "rails", .service = "webhook"};
static struct arena *arena;

static const struct node *node_of(const char *yaml)
{
    return fixture_object(arena, yaml, "")->root->node;
}

#define CONFIGURATION(metadata, webhooks)                                                  \
    "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, " \
    "metadata: {name: rails, uid: c-1, resourceVersion: '7'" metadata "}, webhooks: " webhooks "}"
#define CALLS(name, service, namespace)                        \
    "{name: " name ", clientConfig: {service: {name: " service \
    ", namespace: " namespace "}, caBundle: QQ==}}"

static void entries_are_of_our_service(void)
{
    static const struct {
        const char *webhooks;
        size_t ours;
        const char *others;
    } cases[] = {
        {"[]", 0, ""},
        {"7", 0, ""},
        {"[" CALLS("a", "webhook", "taffrail") "]", 1, ""},
        {"[" CALLS("a", "webhook", "other") "]", 0, "a"},
        {"[" CALLS("a", "other", "taffrail") "]", 0, "a"},
        {"[{name: a, clientConfig: {url: 'https://webhook.taffrail.svc'}}]", 0, "a"},
        {"[" CALLS("a", "other", "taffrail") ", " CALLS(
             "b", "webhook", "taffrail") ", {name: c}, " CALLS("d", "webhook", "taffrail") "]",
         2, "a, c"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text yaml = arena_printf(arena, CONFIGURATION("", "%s"), cases[i].webhooks);
        struct webhook_entries entries = entries_of(&settings, node_of(yaml.data), arena);
        ASSERT_INT(entries.count, cases[i].ours);
        ASSERT_TEXT(entries.others, cases[i].others);
        for (size_t j = 0; j < entries.count; j++)
            ASSERT_TEXT(bundle_of(entries.ours[j], arena), "A");
    }
    ASSERT_INT(entries_of(&settings, NULL, arena).count, 0);
    static const struct {
        const char *config, *bundle;
    } bundles[] = {{"{caBundle: QUI=}", "AB"},
                   {"{caBundle: ''}", ""},
                   {"{caBundle: '?'}", ""},
                   {"{caBundle: 7}", ""},
                   {"{}", ""}};
    for (size_t i = 0; i < COUNT_OF(bundles); i++) {
        struct text yaml = arena_printf(arena, CONFIGURATION("", "[{name: a, clientConfig: %s}]"),
                                        bundles[i].config);
        const struct node *entry = node_item(node_get(node_of(yaml.data), "webhooks"), 0);
        ASSERT_TEXT(bundle_of(entry, arena), bundles[i].bundle);
    }
}

/* The last other one that has written a bundle. */
static void who_else_writes_bundles(void)
{
    static const struct {
        const char *managed, *manager;
    } cases[] = {
        {"[]", ""},
        {"7", ""},
        {"[{manager: argo, fieldsV1: {'f:webhooks': {'f:caBundle': {}}}}]", "argo"},
        {"[{manager: argo, fieldsV1: {'f:webhooks': {'f:rules': {}}}}]", ""},
        {"[{manager: argo}]", ""},
        {"[{manager: taffrail, fieldsV1: {'f:caBundle': {}}}]", ""},
        {"[{manager: argo, fieldsV1: {'f:caBundle': {}}}, {manager: taffrail, fieldsV1: "
         "{'f:caBundle': {}}}]",
         "argo"},
        {"[{manager: argo, fieldsV1: {'f:caBundle': {}}}, {manager: helm, fieldsV1: "
         "{'f:caBundle': {}}}]",
         "helm"},
        {"[{manager: argo, fieldsV1: {'f:caBundle': {}}}, {manager: kubectl, fieldsV1: "
         "{'f:rules': {}}}]",
         "argo"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text yaml =
            arena_printf(arena, CONFIGURATION(", managedFields: %s", "[]"), cases[i].managed);
        ASSERT_TEXT(bundle_manager(node_of(yaml.data), arena), cases[i].manager);
    }
    ASSERT_TEXT(bundle_manager(NULL, arena), "");
}

/* Only our entries and their bundles, of the configuration that was read and no other. */
static void bundles_and_nothing_else_are_written(void)
{
    static const char webhooks[] = "[" CALLS("b", "webhook", "taffrail") ", " CALLS(
        "x", "other", "taffrail") ", " CALLS("a", "webhook", "taffrail") "]";
    struct text yaml = arena_printf(arena, CONFIGURATION(", labels: {a: b}", "%s"), webhooks);
    const struct node *configuration = node_of(yaml.data);
    struct webhook_entries entries = entries_of(&settings, configuration, arena);
    ASSERT_TEXT(
        bundles_body(RESOURCE_VALIDATING_CONFIGURATION, configuration, &entries, TEXT("AB"), arena),
        "{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":"
        "\"ValidatingWebhookConfiguration\",\"metadata\":{\"name\":\"rails\",\"uid\":\"c-1"
        "\",\"resourceVersion\":\"7\"},\"webhooks\":[{\"name\":\"b\",\"clientConfig\":{"
        "\"caBundle\":\"QUI=\"}},{\"name\":\"a\",\"clientConfig\":{\"caBundle\":\"QUI=\"}}"
        "]}");
    CU_ASSERT(text_starts_with(
        bundles_body(RESOURCE_MUTATING_CONFIGURATION, configuration, &entries, TEXT("AB"), arena),
        TEXT("{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":"
             "\"MutatingWebhookConfiguration\",")));
}

static void the_rest_of_a_secret_stays(void)
{
    struct rotation_secret secret = {.leaf = {TEXT("C"), TEXT("K")}};
    ASSERT_TEXT(secret_body(NULL, &settings, &secret, arena),
                "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"certs\","
                "\"namespace\":\"taffrail\"},\"type\":\"Opaque\",\"data\":{\"tls.crt\":\"Qw==\","
                "\"tls.key\":\"Sw==\"}}");
    const struct node *read =
        node_of("{apiVersion: v1, kind: Secret, metadata: {name: certs, resourceVersion: '7', "
                "labels: {a: b}}, data: {tls.crt: T0xE, other: eA==, ca.crt: T0xE}, type: x}");
    ASSERT_TEXT(secret_body(read, &settings, &secret, arena),
                "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"certs\","
                "\"resourceVersion\":\"7\",\"labels\":{\"a\":\"b\"}},\"type\":\"x\",\"data\":{"
                "\"other\":\"eA==\",\"tls.crt\":\"Qw==\",\"tls.key\":\"Sw==\"}}");
    const struct node *empty = node_of("{apiVersion: v1, kind: Secret, metadata: {name: certs}}");
    CU_ASSERT(text_ends_with(secret_body(empty, &settings, &secret, arena),
                             TEXT("\"data\":{\"tls.crt\":\"Qw==\",\"tls.key\":\"Sw==\"}}")));
}

/* What is no base64 counts as not there: it is made anew. */
static void a_secret_is_read_item_by_item(void)
{
    struct rotation_secret secret;
    rotation_secret_read(
        node_of("{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {tls.crt: Qw==, "
                "tls.key: '?', ca.crt: ''}}"),
        arena, &secret);
    ASSERT_TEXT(secret.leaf.certificate, "C");
    ASSERT_TEXT(secret.leaf.key, "");
    rotation_secret_read(NULL, arena, &secret);
    ASSERT_TEXT(secret.leaf.certificate, "");
}

#define TEST(function)                       \
    static void in_arena_##function(void)    \
    {                                        \
        arena = arena_create(1 << 22);       \
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena); \
        function();                          \
        arena_destroy(arena);                \
    }
TEST(entries_are_of_our_service)
TEST(who_else_writes_bundles)
TEST(bundles_and_nothing_else_are_written)
TEST(the_rest_of_a_secret_stays)
TEST(a_secret_is_read_item_by_item)

const struct unit_test unit_tests[] = {
    {"entries are of our service", in_arena_entries_are_of_our_service},
    {"who else writes bundles", in_arena_who_else_writes_bundles},
    {"bundles and nothing else are written", in_arena_bundles_and_nothing_else_are_written},
    {"the rest of a Secret stays", in_arena_the_rest_of_a_secret_stays},
    {"a Secret is read item by item", in_arena_a_secret_is_read_item_by_item},
    {NULL, NULL},
};
