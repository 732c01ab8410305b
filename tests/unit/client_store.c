/* The store tells objects apart by kind, namespace and name; a list replaces what there was. */
#include "client_fixture.h"

const char unit_suite[] = "client store";

enum { MANY = 300 };

static struct store *store;
static struct watch_sink sink;

static struct watch_object told_of(struct object *object, enum kind kind, const char *namespace)
{
    *object = (struct object){.kind = kind,
                              .namespace = text_of(namespace),
                              .name = TEXT("same"),
                              .api_version = TEXT("v1")};
    return (struct watch_object){object, TEXT("{\"metadata\":{\"name\":\"same\"}}")};
}

static void put(enum kind kind, const char *namespace)
{
    struct object object;
    struct watch_object told_object = told_of(&object, kind, namespace);
    CU_ASSERT_FATAL(sink.put(sink.context, &told_object));
}

static void take_away(enum kind kind, const char *namespace)
{
    struct object object;
    struct watch_object told_object = told_of(&object, kind, namespace);
    CU_ASSERT_FATAL(sink.remove(sink.context, &told_object));
}

static void objects_of_one_name_are_told_apart(void)
{
    store = store_create();
    sink = store_sink(store);
    char namespace[16];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++) {
            snprintf(namespace, sizeof namespace, "n-%d", i);
            put(KIND_POD, namespace);
            put(KIND_DEPLOYMENT, namespace);
        }
    ASSERT_INT(store_count(store, KIND_POD), MANY);
    ASSERT_INT(store_count(store, KIND_DEPLOYMENT), MANY);
    for (int i = 0; i < MANY; i += 2) {
        snprintf(namespace, sizeof namespace, "n-%d", i);
        take_away(KIND_POD, namespace);
        take_away(KIND_POD, namespace); /* once more: nothing */
    }
    ASSERT_INT(store_count(store, KIND_POD), MANY / 2);
    ASSERT_INT(store_count(store, KIND_DEPLOYMENT), MANY);
    store_destroy(store);
}

static void a_list_replaces_its_kind_when_it_ends(void)
{
    store = store_create();
    sink = store_sink(store);
    put(KIND_POD, "a");
    put(KIND_POD, "b");
    put(KIND_NODE, "");
    CU_ASSERT(sink.list_begin(store, KIND_POD));
    put(KIND_POD, "c");
    ASSERT_INT(store_count(store, KIND_POD), 3); /* it may yet break off */
    CU_ASSERT(sink.list_begin(store, KIND_POD));
    put(KIND_POD, "b");
    uint64_t version = store_version(store);
    CU_ASSERT(sink.list_end(store, KIND_POD));
    CU_ASSERT(store_version(store) != version);
    ASSERT_INT(store_count(store, KIND_POD), 1);
    ASSERT_INT(store_count(store, KIND_NODE), 1);
    store_destroy(store);
}

const struct unit_test unit_tests[] = {
    {"objects of one name are told apart", objects_of_one_name_are_told_apart},
    {"a list replaces its kind when it ends", a_list_replaces_its_kind_when_it_ends},
    {NULL, NULL},
};
