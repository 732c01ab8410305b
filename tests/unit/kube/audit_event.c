/* The Events of audit logs. */
#include "kube/audit_event.h"

#include "unit.h"

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
        struct arena *arena = arena_create(1 << 20);
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

const char unit_suite[] = "kube audit events";
const struct unit_test unit_tests[] = {
    {"events are read", events_are_read},
    {NULL, NULL},
};
