/* labels: threads */
/* A store that changes while malloc fails now and then: a failed change leaves the store as it was.
 * TAFFRAIL_SEED=N repeats a run. The linker redirects malloc to this file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "live/store.h"
#include "unit.h"

const char unit_suite[] = "kube live memory";

enum { NAMES = 40, STEPS = 20000, ONE_IN = 12 };

/* ---- malloc ---- */

static uint64_t random_state;
static bool failing;
static size_t failures;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

static bool fails(void)
{
    bool now = failing && draw(ONE_IN) == 0;
    failures += now ? 1 : 0;
    return now;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails() ? NULL : __real_realloc(memory, size);
}

/* ---- a cluster ---- */

static const enum kind kinds[] = {KIND_POD, KIND_NODE, KIND_NODE_POOL};
enum { KINDS = sizeof kinds / sizeof *kinds };
struct model {
    unsigned values[KINDS][NAMES]; /* 0: not there */
};

static bool put(struct store *store, size_t kind, unsigned number, unsigned value)
{
    struct arena *arena = arena_create(1 << 20);
    struct source source = {
        .text = arena_printf(arena,
                             "{\"apiVersion\":\"%s%sv1\",\"kind\":\"%s\",\"metadata\":{"
                             "\"namespace\":\"n\",\"name\":\"o-%u\",\"labels\":{\"is\":\"%u\","
                             "\"topology.kubernetes.io/zone\":\"z-%u\"}},\"spec\":{\"containers\":["
                             "{\"name\":\"c-%u\"}],\"volumes\":[{\"persistentVolumeClaim\":{}}]}}",
                             kind_table[kinds[kind]].group, kind == 2 ? "/" : "",
                             kind_table[kinds[kind]].name, number, value, value, value % 2)};
    const struct node *root = NULL;
    struct object object;
    struct error error = {0};
    CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error));
    CU_ASSERT_FATAL(object_read(root, NULL, TEXT(""), arena, &object, &error));
    failing = true;
    bool done = store_put(store, &object);
    failing = false;
    arena_destroy(arena);
    return done;
}

static bool take_away(struct store *store, size_t kind, unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "o-%u", number);
    failing = true;
    bool done = store_remove(store, kinds[kind], kind == 0 ? TEXT("n") : TEXT(""), text_of(name));
    failing = false;
    return done;
}

static void compare(const struct snapshot *snapshot, const struct model *model)
{
    for (size_t kind = 0; kind < KINDS; kind++) {
        size_t count = 0;
        for (unsigned i = 0; i < NAMES; i++) {
            char name[16], value[16];
            snprintf(name, sizeof name, "o-%u", i);
            snprintf(value, sizeof value, "%u", model->values[kind][i]);
            const struct object *object = snapshot_find(
                snapshot, kinds[kind], kind == 0 ? TEXT("n") : TEXT(""), text_of(name));
            CU_ASSERT((object != NULL) == (model->values[kind][i] > 0));
            if (object != NULL)
                ASSERT_TEXT(node_string(node_get(object->labels, "is")), value);
            count += object != NULL ? 1 : 0;
        }
        ASSERT_INT(snapshot_count(snapshot, kinds[kind]), count);
    }
    ASSERT_INT(snapshot_claiming_pod_count(snapshot), snapshot_count(snapshot, KIND_POD));
    ASSERT_INT(snapshot_pool_count(snapshot), snapshot_count(snapshot, KIND_NODE_POOL));
}

static void nothing_is_lost_when_malloc_fails(void)
{
    const char *given = getenv("TAFFRAIL_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("TAFFRAIL_SEED=%llu ", (unsigned long long)random_state);
    fflush(stdout);
    struct store *store = store_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(store);
    struct model model = {0}, of_version = {0};
    const struct snapshot *version = NULL;
    size_t versions = 0, refused = 0;
    for (int step = 0; step < STEPS; step++) {
        size_t kind = draw(KINDS);
        unsigned number = draw(NAMES), value = draw(4);
        bool done = value == 0 ? take_away(store, kind, number) : put(store, kind, number, value);
        if (done)
            model.values[kind][number] = value;
        if (draw(5) > 0)
            continue;
        struct store_changes changes;
        failing = true;
        const struct snapshot *next = store_version(store, &changes);
        failing = false;
        if (next == NULL) {
            refused++;
            continue;
        }
        versions++;
        compare(next, &model);
        if (version != NULL) {
            compare(version, &of_version);
            store_release(store, version);
        }
        version = next;
        of_version = model;
    }
    printf("%zu failures, %zu versions, %zu refused ", failures, versions, refused);
    CU_ASSERT(failures > 100 && versions > 100 && refused > 100);
    if (version != NULL)
        store_release(store, version);
    store_destroy(store);
}

const struct unit_test unit_tests[] = {
    {"nothing is lost when malloc fails", nothing_is_lost_when_malloc_fails},
    {NULL, NULL},
};
