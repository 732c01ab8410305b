/* The Events of audit logs. */
#include "kube/audit_event.h"

#include "unit.h"

enum { BUDGET_BYTES = 1 << 20 };

#define PLAIN(rest) "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"" rest "}"
#define EVENT(more)                                                                  \
    "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"user\":{\"username\":" \
    "\"alice\",\"groups\":[\"a\",\"b\"]}" more "}"

static void events_are_read(void)
{
    static const struct {
        const char *record;
        bool read;
        const char *user;
        size_t groups;
        bool dry_run;
    } cases[] = {
        {EVENT(""), true, "alice", 2, false},
        /* a request is judged by whom it is made for */
        {EVENT(",\"impersonatedUser\":{\"username\":\"bob\",\"groups\":[\"c\"]}"), true, "bob", 1,
         false},
        {EVENT(",\"impersonatedUser\":{\"username\":\"bob\"}"), true, "bob", 0, false},
        {EVENT(",\"requestURI\":\"/api/v1/pods?dryRun=All\""), true, "alice", 2, true},
        {EVENT(",\"requestURI\":\"/api/v1/pods?fieldManager=x&dryRun=All&a=b\""), true, "alice", 2,
         true},
        {EVENT(",\"requestURI\":\"/api/v1/pods?dryRun=\""), true, "alice", 2, false},
        {EVENT(",\"requestURI\":\"/api/v1/dryRun=All\""), true, "alice", 2, false},
        {"{\"message\":\"{\\\"kind\\\":\\\"Event\\\",\\\"apiVersion\\\":\\\"audit.k8s.io/"
         "v1\\\"}\"}",
         true, "", 0, false},
        /* the Event that says what happens to an object is another one */
        {"{\"kind\":\"Event\",\"apiVersion\":\"v1\"}", false, "", 0, false},
        {"{\"kind\":\"EventList\",\"apiVersion\":\"audit.k8s.io/v1\"}", false, "", 0, false},
        {"{\"message\":\"started\"}", false, "", 0, false},
        {"started", false, "", 0, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct audit_event event = {0};
        bool read = audit_event_read(text_of(cases[i].record), arena, &event);
        if (read != cases[i].read)
            fprintf(stderr, "%s\n", cases[i].record);
        CU_ASSERT_EQUAL(read, cases[i].read);
        ASSERT_TEXT(event.user, cases[i].user);
        ASSERT_INT(event.group_count, cases[i].groups);
        CU_ASSERT_EQUAL(event.dry_run, cases[i].dry_run);
        arena_destroy(arena);
    }
}

static struct arena *arena;

static struct audit_event read_event(const char *record)
{
    struct audit_event event = {0};
    bool is_event = audit_event_read(text_of(record), arena, &event);
    if (!is_event)
        fprintf(stderr, "%s\n", record);
    CU_ASSERT_TRUE_FATAL(is_event);
    return event;
}

static void an_event_is_read(void)
{
    struct audit_event event = read_event(
        PLAIN(",\"stage\":\"ResponseComplete\",\"verb\":\"create\",\"requestReceivedTimestamp\":"
              "\"2026-11-23T08:00:00.000000Z\",\"requestURI\":\"/api/v1/namespaces/shop/pods\","
              "\"user\":{\"username\":\"alice\",\"groups\":[\"dev\",\"system:authenticated\"]},"
              "\"objectRef\":{\"apiGroup\":\"apps\",\"resource\":\"deployments\",\"subresource\":"
              "\"scale\",\"namespace\":\"shop\",\"name\":\"web\"},\"responseStatus\":{\"code\":403,"
              "\"message\":\"no\"},\"requestObject\":{\"a\": 1},\"responseObject\":{\"b\": 2},"
              "\"annotations\":{\"c\":\"d\"}"));
    ASSERT_TEXT(event.stage, "ResponseComplete");
    ASSERT_TEXT(event.verb, "create");
    ASSERT_TEXT(event.received, "2026-11-23T08:00:00.000000Z");
    ASSERT_TEXT(event.group, "apps");
    ASSERT_TEXT(event.resource, "deployments");
    ASSERT_TEXT(event.subresource, "scale");
    ASSERT_TEXT(event.namespace, "shop");
    ASSERT_TEXT(event.name, "web");
    ASSERT_INT(event.code, 403);
    ASSERT_TEXT(event.message, "no");
    ASSERT_TEXT(event.request_json, "{\"a\": 1}");
    ASSERT_TEXT(event.response_json, "{\"b\": 2}");
    CU_ASSERT_PTR_NOT_NULL(event.request_object);
    CU_ASSERT_PTR_NOT_NULL(event.response_object);
    ASSERT_TEXT(node_string(node_get(event.annotations, "c")), "d");
    CU_ASSERT_FALSE(event.dry_run);
    CU_ASSERT_FALSE(event.cut);
}

static void what_is_not_logged_is_absent(void)
{
    struct audit_event event = read_event(PLAIN(",\"requestObject\":null,\"responseObject\":[]"));
    CU_ASSERT_PTR_NULL(event.request_object);
    CU_ASSERT_PTR_NULL(event.response_object);
    CU_ASSERT_PTR_NULL(event.annotations);
    ASSERT_TEXT(event.request_json, "");
    ASSERT_TEXT(event.user, "");
    ASSERT_INT(event.group_count, 0);
    ASSERT_INT(event.code, 0);
    event = read_event(PLAIN(",\"annotations\":{\"audit.k8s.io/truncated\":\"true\"}"));
    CU_ASSERT_TRUE(event.cut);
    event = read_event(PLAIN(",\"annotations\":{\"audit.k8s.io/truncated\":\"false\"}"));
    CU_ASSERT_FALSE(event.cut);
}

static void groups_are_those_of_the_user(void)
{
    struct audit_event event = read_event(EVENT(""));
    CU_ASSERT_EQUAL_FATAL(event.group_count, 2);
    ASSERT_TEXT(event.groups[0], "a");
    ASSERT_TEXT(event.groups[1], "b");
    event = read_event(EVENT(",\"impersonatedUser\":{\"username\":\"bob\",\"groups\":[\"c\"]}"));
    CU_ASSERT_EQUAL_FATAL(event.group_count, 1);
    ASSERT_TEXT(event.groups[0], "c");
}

/* managedFields may be nested deeper than any object; the same key elsewhere is read. */
static void managed_fields_are_passed_over(void)
{
#define METADATA "{\"metadata\":{\"name\":\"a\",\"managedFields\":[{}]},\"managedFields\":[{}]}"
    struct audit_event event =
        read_event(PLAIN(",\"metadata\":{\"managedFields\":\"m\"},\"requestObject\":" METADATA
                         ",\"responseObject\":" METADATA ",\"objectRef\":{\"metadata\":{"
                         "\"managedFields\":\"m\"}},\"annotations\":" METADATA));
    const struct node *const objects[] = {event.request_object, event.response_object};
    for (size_t i = 0; i < COUNT_OF(objects); i++) {
        ASSERT_TEXT(node_string(node_at(objects[i], "metadata.name")), "a");
        CU_ASSERT_PTR_NULL(node_at(objects[i], "metadata.managedFields"));
        CU_ASSERT_PTR_NOT_NULL(node_at(objects[i], "managedFields"));
    }
    CU_ASSERT_PTR_NOT_NULL(node_at(event.annotations, "metadata.managedFields"));
}

static void the_message_of_an_event_is_none_around_it(void)
{
    struct audit_event whole = read_event(
        PLAIN(",\"verb\":\"update\",\"message\":\"{\\\"kind\\\":\\\"Event\\\",\\\"apiVersion\\\":"
              "\\\"audit.k8s.io/v1\\\",\\\"verb\\\":\\\"create\\\"}\""));
    ASSERT_TEXT(whole.verb, "update");
}

#define TEST(function)                      \
    static void in_arena_##function(void)   \
    {                                       \
        arena = arena_create(BUDGET_BYTES); \
        function();                         \
        arena_destroy(arena);               \
    }
TEST(an_event_is_read)
TEST(what_is_not_logged_is_absent)
TEST(groups_are_those_of_the_user)
TEST(managed_fields_are_passed_over)
TEST(the_message_of_an_event_is_none_around_it)

const char unit_suite[] = "kube audit events";
const struct unit_test unit_tests[] = {
    {"events are read", events_are_read},
    {"an event is read", in_arena_an_event_is_read},
    {"what is not logged is absent", in_arena_what_is_not_logged_is_absent},
    {"groups are those of the user", in_arena_groups_are_those_of_the_user},
    {"managedFields are passed over", in_arena_managed_fields_are_passed_over},
    {"the message of an Event is none around it",
     in_arena_the_message_of_an_event_is_none_around_it},
    {NULL, NULL},
};
