/* labels: threads */
/* A store that changes, and its versions. TAFFRAIL_SEED=N repeats a random run. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kube/object.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "kube/snapshot_internal.h"
#include "live/store.h"
#include "unit.h"

const char unit_suite[] = "kube live";

/* ---- objects ---- */

static struct store *store;

/* Of JSON text, without its braces: {"kind": ..., MORE}. */
static void read_object(enum kind kind, const char *namespace, const char *name, const char *more,
                        struct arena *arena, struct object *object)
{
    struct source source = {
        .text = arena_printf(arena,
                             "{\"apiVersion\":\"%s%sv1\",\"kind\":\"%s\",\"metadata\":{"
                             "\"namespace\":\"%s\",\"name\":\"%s\"%s}",
                             kind_table[kind].group, *kind_table[kind].group == '\0' ? "" : "/",
                             kind_table[kind].name, namespace, name, more)};
    const struct node *root = NULL;
    struct error error = {0};
    if (!doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error) ||
        !object_read(root, NULL, TEXT(""), arena, object, &error) || object->kind != kind) {
        fprintf(stderr, "%s\n%s\n", source.text.data, error.what);
        CU_FAIL_FATAL("the test's object is none");
    }
}

static void put(enum kind kind, const char *namespace, const char *name, const char *more)
{
    struct arena *arena = arena_create(1 << 20);
    struct object object;
    read_object(kind, namespace, name, more, arena, &object);
    CU_ASSERT_FATAL(store_put(store, &object));
    arena_destroy(arena);
}

static void take_away(enum kind kind, const char *namespace, const char *name)
{
    CU_ASSERT_FATAL(store_remove(store, kind, text_of(namespace), text_of(name)));
}

static const struct snapshot *next_version(struct store_changes *changes)
{
    const struct snapshot *snapshot = store_version(store, changes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
    return snapshot;
}

static struct text label_of(const struct object *object)
{
    return object == NULL ? TEXT("none") : node_string(node_get(object->labels, "is"));
}

#define LABEL(value) ",\"labels\":{\"is\":\"" value "\"}}"

static const struct object *find(const struct snapshot *snapshot, enum kind kind,
                                 const char *namespace, const char *name)
{
    return snapshot_find(snapshot, kind, text_of(namespace), text_of(name));
}

/* ---- what is there now ---- */

static void objects_of_one_name_are_told_apart(void)
{
    enum { MANY = 300 };
    char namespace[16];
    store = store_create();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++) {
            snprintf(namespace, sizeof namespace, "n-%d", i);
            put(KIND_POD, namespace, "same", "}");
            put(KIND_DEPLOYMENT, namespace, "same", "}");
        }
    ASSERT_INT(store_count(store, KIND_POD), MANY);
    ASSERT_INT(store_count(store, KIND_DEPLOYMENT), MANY);
    CU_ASSERT(store_bytes(store, KIND_POD) > 0);
    for (int i = 0; i < MANY; i += 2) {
        snprintf(namespace, sizeof namespace, "n-%d", i);
        take_away(KIND_POD, namespace, "same");
        take_away(KIND_POD, namespace, "same"); /* once more: nothing */
    }
    ASSERT_INT(store_count(store, KIND_POD), MANY / 2);
    ASSERT_INT(store_count(store, KIND_DEPLOYMENT), MANY);
    for (int i = 1; i < MANY; i += 2) {
        snprintf(namespace, sizeof namespace, "n-%d", i);
        take_away(KIND_POD, namespace, "same");
    }
    ASSERT_INT(store_count(store, KIND_POD), 0);
    ASSERT_INT(store_bytes(store, KIND_POD), 0);
    store_destroy(store);
}

static void a_list_replaces_its_kind_when_it_ends(void)
{
    store = store_create();
    put(KIND_POD, "a", "same", "}");
    put(KIND_POD, "b", "same", "}");
    put(KIND_NODE, "", "same", "}");
    store_list_begin(store, KIND_POD);
    put(KIND_POD, "c", "same", "}");
    ASSERT_INT(store_count(store, KIND_POD), 3); /* it may yet break off */
    store_list_begin(store, KIND_POD);
    put(KIND_POD, "b", "same", "}");
    CU_ASSERT(store_list_end(store, KIND_POD));
    ASSERT_INT(store_count(store, KIND_POD), 1);
    ASSERT_INT(store_count(store, KIND_NODE), 1);
    put(KIND_POD, "d", "same", "}"); /* an event after the list */
    store_list_begin(store, KIND_POD);
    CU_ASSERT(store_list_end(store, KIND_POD));
    ASSERT_INT(store_count(store, KIND_POD), 0);
    store_destroy(store);
}

/* ---- versions ---- */

static void a_version_tells_what_changed(void)
{
    struct store_changes changes;
    store = store_create();
    put(KIND_POD, "b", "goes", LABEL("1"));
    put(KIND_POD, "a", "changes", LABEL("1"));
    put(KIND_POD, "c", "stays", LABEL("1"));
    const struct snapshot *first = next_version(&changes);
    ASSERT_INT(changes.count, 3);
    ASSERT_TEXT(changes.items[0].after->name, "changes");
    CU_ASSERT_PTR_NULL(changes.items[0].before);
    CU_ASSERT_PTR_EQUAL(changes.items[0].after, find(first, KIND_POD, "a", "changes"));

    take_away(KIND_POD, "b", "goes");
    put(KIND_POD, "a", "changes", LABEL("2"));
    put(KIND_POD, "b", "comes", LABEL("1"));
    put(KIND_NAMESPACE, "", "new", "}");
    CU_ASSERT(store_has_changed(store));
    const struct snapshot *second = next_version(&changes);
    CU_ASSERT(!store_has_changed(store));
    ASSERT_INT(changes.count, 4);
    const struct store_change *items = changes.items;
    ASSERT_TEXT(label_of(items[0].before), "1");
    ASSERT_TEXT(label_of(items[0].after), "2");
    CU_ASSERT_PTR_EQUAL(items[0].before, find(first, KIND_POD, "a", "changes"));
    CU_ASSERT_PTR_EQUAL(items[0].after, find(second, KIND_POD, "a", "changes"));
    ASSERT_TEXT(items[1].after->name, "comes");
    CU_ASSERT_PTR_EQUAL(items[2].before, find(first, KIND_POD, "b", "goes"));
    CU_ASSERT_PTR_NULL(items[2].after);
    ASSERT_INT(items[3].kind, KIND_NAMESPACE);
    store_release(store, first);
    store_release(store, second);
    store_destroy(store);
}

static void what_is_not_read_is_no_change(void)
{
    struct store_changes changes;
    store = store_create();
    put(KIND_NODE, "", "n",
        ",\"resourceVersion\":\"1\"},\"status\":{\"allocatable\":{\"cpu\":\"4\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"lastHeartbeatTime\":\"1\"}]}");
    const struct snapshot *first = next_version(&changes);
    put(KIND_NODE, "", "n",
        ",\"resourceVersion\":\"2\"},\"status\":{\"allocatable\":{\"cpu\":\"4\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"lastHeartbeatTime\":\"2\"}]}");
    CU_ASSERT(!store_has_changed(store));
    const struct snapshot *second = next_version(&changes);
    CU_ASSERT_PTR_EQUAL(first, second);
    ASSERT_INT(changes.count, 0);
    put(KIND_NODE, "", "n", "},\"status\":{\"allocatable\":{\"cpu\":\"8\"}}");
    CU_ASSERT(store_has_changed(store));
    store_release(store, first);
    store_release(store, second);
    store_destroy(store);
}

static void a_change_that_is_undone_is_none(void)
{
    struct store_changes changes;
    store = store_create();
    put(KIND_POD, "a", "p", LABEL("1"));
    const struct snapshot *first = next_version(&changes);
    const struct object *pod = find(first, KIND_POD, "a", "p");
    put(KIND_POD, "a", "p", LABEL("2"));
    put(KIND_POD, "a", "p", LABEL("1"));
    CU_ASSERT(!store_has_changed(store));
    take_away(KIND_POD, "a", "p");
    CU_ASSERT(store_has_changed(store));
    put(KIND_POD, "a", "p", LABEL("1"));
    put(KIND_POD, "a", "passes", LABEL("1"));
    take_away(KIND_POD, "a", "passes");
    put(KIND_POD, "a", "passes", LABEL("2"));
    take_away(KIND_POD, "a", "passes");
    CU_ASSERT(!store_has_changed(store));
    const struct snapshot *second = next_version(&changes);
    CU_ASSERT_PTR_EQUAL(first, second);
    ASSERT_INT(store_count(store, KIND_POD), 1);
    put(KIND_NODE, "", "n", "}");
    const struct snapshot *third = next_version(&changes);
    ASSERT_INT(changes.count, 1);
    CU_ASSERT_PTR_EQUAL(pod, find(third, KIND_POD, "a", "p"));
    store_release(store, first);
    store_release(store, second);
    store_release(store, third);
    store_destroy(store);
}

#define MOUNTS "},\"spec\":{\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]}"
#define ZONED ",\"labels\":{\"topology.kubernetes.io/zone\":\"z\"}}"
#define BOUND "},\"status\":{\"phase\":\"Bound\"}"

static void versions_share_what_did_not_change(void)
{
    struct store_changes changes;
    store = store_create();
    put(KIND_POD, "a", "plain", "}");
    put(KIND_POD, "a", "mounts", MOUNTS);
    put(KIND_NODE, "", "n", ZONED);
    put(KIND_NODE_POOL, "", "pool", "}");
    put(KIND_PERSISTENT_VOLUME, "", "free", "}");
    put(KIND_PERSISTENT_VOLUME, "", "bound", BOUND);
    const struct snapshot *first = next_version(&changes);
    ASSERT_INT(snapshot_claiming_pod_count(first), 1);
    ASSERT_INT(snapshot_free_volume_count(first), 1);
    ASSERT_INT(snapshot_pool_count(first), 1);
    ASSERT_INT(snapshot_node_zones(first)->count, 1);

    put(KIND_POD, "b", "plain", "}");
    const struct snapshot *second = next_version(&changes);
    CU_ASSERT(first->kinds[KIND_POD].items != second->kinds[KIND_POD].items);
    ASSERT_INT(snapshot_count(first, KIND_POD), 2);
    ASSERT_INT(snapshot_count(second, KIND_POD), 3);
    CU_ASSERT_PTR_EQUAL(find(first, KIND_POD, "a", "plain"), find(second, KIND_POD, "a", "plain"));
    CU_ASSERT_PTR_EQUAL(first->kinds[KIND_NODE].items, second->kinds[KIND_NODE].items);
    CU_ASSERT_PTR_EQUAL(first->picks[PICK_CLAIMING_PODS].items,
                        second->picks[PICK_CLAIMING_PODS].items);
    CU_ASSERT_PTR_EQUAL(first->picks[PICK_FREE_VOLUMES].items,
                        second->picks[PICK_FREE_VOLUMES].items);
    CU_ASSERT_PTR_EQUAL(first->pools, second->pools);
    CU_ASSERT_PTR_EQUAL(first->node_zones.items, second->node_zones.items);
    store_release(store, first);

    take_away(KIND_NODE_POOL, "", "pool");
    put(KIND_PERSISTENT_VOLUME, "", "free", BOUND);
    put(KIND_POD, "a", "mounts", "}");
    take_away(KIND_NODE, "", "n");
    const struct snapshot *third = next_version(&changes);
    ASSERT_INT(snapshot_claiming_pod_count(third), 0);
    ASSERT_INT(snapshot_free_volume_count(third), 0);
    ASSERT_INT(snapshot_pool_count(third), 0);
    ASSERT_INT(snapshot_node_zones(third)->count, 0);
    ASSERT_INT(snapshot_claiming_pod_count(second), 1);
    ASSERT_TEXT(snapshot_pool(second, 0)->object->name, "pool");
    ASSERT_TEXT(snapshot_node_zones(second)->items[0], "z");
    store_release(store, third);
    store_release(store, second);
    store_destroy(store);
}

static void a_held_version_stays(void)
{
    struct store_changes changes;
    store = store_create();
    put(KIND_POD, "a", "p", LABEL("1"));
    const struct snapshot *held = next_version(&changes);
    CU_ASSERT_PTR_EQUAL(next_version(&changes), held);
    store_release(store, held);
    for (int i = 0; i < 100; i++) {
        put(KIND_POD, "a", "p", i % 2 == 0 ? LABEL("2") : LABEL("3"));
        store_release(store, next_version(&changes));
    }
    take_away(KIND_POD, "a", "p");
    const struct snapshot *empty = next_version(&changes);
    ASSERT_TEXT(label_of(find(held, KIND_POD, "a", "p")), "1");
    ASSERT_INT(snapshot_count(empty, KIND_POD), 0);
    store_release(store, held);
    ASSERT_INT(snapshot_count(empty, KIND_POD), 0);
    store_release(store, empty);
    store_destroy(store);
}

/* ---- a thread that reads while another writes ---- */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t read, published;
    const struct snapshot *now, *reading;
    bool done;
    size_t rounds;
} shared = {.mutex = PTHREAD_MUTEX_INITIALIZER,
            .read = PTHREAD_COND_INITIALIZER,
            .published = PTHREAD_COND_INITIALIZER};

static size_t read_all(const struct snapshot *snapshot)
{
    size_t labelled = 0;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++)
        labelled += label_of(snapshot_object(snapshot, KIND_POD, i)).size == 1 ? 1 : 0;
    return labelled;
}

static void *read_on(void *unused)
{
    const struct snapshot *last = NULL;
    pthread_mutex_lock(&shared.mutex);
    for (;;) {
        while (shared.now == last && !shared.done)
            pthread_cond_wait(&shared.published, &shared.mutex);
        if (shared.done && last != NULL)
            break;
        const struct snapshot *snapshot = shared.reading = last = shared.now;
        pthread_mutex_unlock(&shared.mutex);
        bool whole = read_all(snapshot) == snapshot_count(snapshot, KIND_POD);
        pthread_mutex_lock(&shared.mutex);
        shared.reading = NULL;
        shared.rounds += whole ? 1 : 0;
        pthread_cond_signal(&shared.read);
    }
    pthread_mutex_unlock(&shared.mutex);
    return unused;
}

/* Waits until nobody reads what was published before. */
static void publish(const struct snapshot *next, bool done)
{
    pthread_mutex_lock(&shared.mutex);
    const struct snapshot *before = shared.now;
    shared.now = next;
    shared.done = done;
    pthread_cond_signal(&shared.published);
    while (before != NULL && shared.reading == before)
        pthread_cond_wait(&shared.read, &shared.mutex);
    pthread_mutex_unlock(&shared.mutex);
    if (before != NULL)
        store_release(store, before);
}

static void a_thread_reads_while_another_writes(void)
{
    enum { VERSIONS = 2000, PODS = 20 };
    struct store_changes changes;
    pthread_t reader;
    char name[16];
    store = store_create();
    publish(next_version(&changes), false);
    CU_ASSERT_FATAL(pthread_create(&reader, NULL, read_on, NULL) == 0);
    for (int i = 0; i < VERSIONS; i++) {
        snprintf(name, sizeof name, "p-%d", i % PODS);
        if (i % 7 == 0)
            take_away(KIND_POD, "a", name);
        else
            put(KIND_POD, "a", name, i % 3 == 0 ? LABEL("1") : LABEL("2"));
        publish(next_version(&changes), i + 1 == VERSIONS);
    }
    pthread_join(reader, NULL);
    CU_ASSERT(shared.rounds > 0);
    store_release(store, shared.now);
    store_destroy(store);
}

/* ---- chance, against a model ---- */

enum { NAMES = 12, NAMESPACES = 3, VALUES = 4, HELD = 6, STEPS = 4000 };
static const enum kind kinds[] = {KIND_POD, KIND_NODE, KIND_NODE_POOL, KIND_PERSISTENT_VOLUME};
enum { KINDS = sizeof kinds / sizeof *kinds };
/* The value of each object; 0: it is not there. */
struct model {
    unsigned values[KINDS][NAMESPACES][NAMES];
};
struct held {
    const struct snapshot *snapshot; /* NULL: none */
    struct model model;
};

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 33) % below;
}

static const char *more_of(enum kind kind, unsigned value, struct arena *arena)
{
    const char *rest = kind == KIND_POD && value % 2 == 0                 ? MOUNTS
                       : kind == KIND_PERSISTENT_VOLUME && value % 2 == 0 ? BOUND
                                                                          : "}";
    return arena_printf(arena,
                        ",\"labels\":{\"is\":\"%u\",\"topology.kubernetes.io/zone\":\"%u\"}%s",
                        value, value, rest)
        .data;
}

static const char *namespace_of(enum kind kind, size_t number)
{
    static const char *const names[NAMESPACES] = {"a", "a-b", "c"};
    return kind_table[kind].namespaced ? names[number] : "";
}

/* Of a kind without namespaces the first is all. */
static size_t namespace_count(enum kind kind)
{
    return kind_table[kind].namespaced ? NAMESPACES : 1;
}

static const struct snapshot *build_from(const struct model *model, struct arena *arena)
{
    struct snapshot_builder *builder = snapshot_builder_create(arena);
    for (size_t i = 0; i < KINDS; i++)
        for (size_t j = 0; j < namespace_count(kinds[i]); j++)
            for (size_t k = 0; k < NAMES; k++) {
                unsigned value = model->values[i][j][k];
                char name[16];
                struct object object;
                if (value == 0)
                    continue;
                snprintf(name, sizeof name, "o-%zu", k);
                read_object(kinds[i], namespace_of(kinds[i], j), name,
                            more_of(kinds[i], value, arena), arena, &object);
                snapshot_put(builder, &object);
            }
    return snapshot_build(builder);
}

static bool same_lists(struct object_list a, struct object_list b)
{
    for (size_t i = 0; i < a.count && a.count == b.count; i++)
        if (compare_objects(a.items[i], b.items[i]) != 0 ||
            !text_equal(label_of(a.items[i]), label_of(b.items[i])))
            return false;
    return a.count == b.count;
}

static void compare(const struct held *held)
{
    struct arena *arena = arena_create(8 << 20);
    const struct snapshot *expected = build_from(&held->model, arena);
    const struct snapshot *actual = held->snapshot;
    for (size_t i = 0; i < KINDS; i++)
        CU_ASSERT(same_lists(actual->kinds[kinds[i]], expected->kinds[kinds[i]]));
    for (size_t i = 0; i < PICK_COUNT; i++)
        CU_ASSERT(same_lists(actual->picks[i], expected->picks[i]));
    ASSERT_INT(actual->pool_count, expected->pool_count);
    for (size_t i = 0; i < actual->pool_count; i++)
        CU_ASSERT_PTR_EQUAL(actual->pools[i].object, actual->kinds[KIND_NODE_POOL].items[i]);
    ASSERT_INT(actual->node_zones.count, expected->node_zones.count);
    for (size_t i = 0; i < actual->node_zones.count; i++)
        CU_ASSERT(text_equal(actual->node_zones.items[i], expected->node_zones.items[i]));
    arena_destroy(arena);
}

static void check_changes(const struct store_changes *changes, const struct held *before,
                          const struct held *now)
{
    size_t differ = 0;
    for (size_t i = 0; i < KINDS; i++)
        for (size_t j = 0; j < NAMESPACES; j++)
            for (size_t k = 0; k < NAMES; k++)
                differ += before->model.values[i][j][k] != now->model.values[i][j][k] ? 1 : 0;
    ASSERT_INT(changes->count, differ);
    for (size_t i = 0; i < changes->count; i++) {
        const struct store_change *change = &changes->items[i];
        const struct object *named = change->after != NULL ? change->after : change->before;
        CU_ASSERT_PTR_EQUAL(change->before, snapshot_find(before->snapshot, change->kind,
                                                          named->namespace, named->name));
        CU_ASSERT_PTR_EQUAL(change->after, snapshot_find(now->snapshot, change->kind,
                                                         named->namespace, named->name));
    }
}

static void relist(size_t kind, struct model *model)
{
    store_list_begin(store, kinds[kind]);
    for (size_t j = 0; j < namespace_count(kinds[kind]); j++)
        for (size_t k = 0; k < NAMES; k++) {
            struct arena *arena = arena_create(1 << 20);
            char name[16];
            snprintf(name, sizeof name, "o-%zu", k);
            if (draw(4) == 0)
                model->values[kind][j][k] = draw(VALUES);
            if (model->values[kind][j][k] > 0)
                put(kinds[kind], namespace_of(kinds[kind], j), name,
                    more_of(kinds[kind], model->values[kind][j][k], arena));
            arena_destroy(arena);
        }
    CU_ASSERT(store_list_end(store, kinds[kind]));
}

static void change_one(struct model *model)
{
    size_t kind = draw(KINDS);
    size_t namespace = draw((uint32_t)namespace_count(kinds[kind]));
    size_t number = draw(NAMES);
    unsigned value = draw(VALUES);
    struct arena *arena = arena_create(1 << 20);
    char name[16];
    snprintf(name, sizeof name, "o-%zu", number);
    model->values[kind][namespace][number] = value;
    if (value == 0)
        take_away(kinds[kind], namespace_of(kinds[kind], namespace), name);
    else
        put(kinds[kind], namespace_of(kinds[kind], namespace), name,
            more_of(kinds[kind], value, arena));
    arena_destroy(arena);
}

static void versions_are_what_a_model_says(void)
{
    const char *given = getenv("TAFFRAIL_SEED");
    random_state = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
    printf("TAFFRAIL_SEED=%llu ", (unsigned long long)random_state);
    fflush(stdout);
    struct held held[HELD] = {0}, last = {0};
    struct store_changes changes;
    store = store_create();
    last.snapshot = next_version(&changes);
    for (int step = 0; step < STEPS; step++) {
        struct held now = last;
        for (uint32_t i = draw(10); i > 0; i--)
            change_one(&now.model);
        if (draw(20) == 0)
            relist(draw(KINDS), &now.model);
        now.snapshot = next_version(&changes);
        check_changes(&changes, &last, &now);
        struct held *slot = &held[draw(HELD)];
        if (slot->snapshot != NULL) {
            compare(slot);
            store_release(store, slot->snapshot);
        }
        *slot = last;
        last = now;
    }
    compare(&last);
    for (size_t i = 0; i < HELD; i++)
        if (held[i].snapshot != NULL)
            store_release(store, held[i].snapshot);
    compare(&last);
    store_release(store, last.snapshot);
    store_destroy(store);
}

/* ---- what cannot be read ---- */

static void injure(enum kind kind, const char *namespace, const char *name)
{
    CU_ASSERT_FATAL(store_put_unreadable(store, kind, text_of(namespace), text_of(name)));
}

static bool is_unreadable(const struct snapshot *snapshot, const char *name)
{
    return snapshot_is_unreadable(snapshot, KIND_POD, TEXT("shop"), text_of(name));
}

static void what_cannot_be_read_is_known_by_name(void)
{
    struct store_changes changes;
    store = store_create();
    put(KIND_POD, "shop", "a", LABEL("1"));
    put(KIND_POD, "shop", "b", LABEL("1"));
    const struct snapshot *first = next_version(&changes);
    injure(KIND_POD, "shop", "b");
    injure(KIND_POD, "shop", "c");
    injure(KIND_NODE, "", "n");
    ASSERT_INT(store_count(store, KIND_POD), 3);
    ASSERT_INT(store_unreadable_count(store, KIND_POD), 2);

    /* To who follows changes it has gone, and what was never read is none. */
    const struct snapshot *hurt = next_version(&changes);
    ASSERT_INT(changes.count, 1);
    ASSERT_TEXT(changes.items[0].before->name, "b");
    CU_ASSERT_PTR_NULL(changes.items[0].after);
    ASSERT_INT(snapshot_count(hurt, KIND_POD), 1);
    CU_ASSERT_PTR_NULL(find(hurt, KIND_POD, "shop", "b"));
    CU_ASSERT(!is_unreadable(hurt, "a") && is_unreadable(hurt, "b") && is_unreadable(hurt, "c"));
    ASSERT_INT(snapshot_unreadable_count(hurt, KIND_POD), 2);
    ASSERT_TEXT(snapshot_unreadable(hurt, KIND_POD, 1)->name, "c");
    CU_ASSERT(!snapshot_reads_all(hurt, KIND_POD, TEXT("shop")));
    CU_ASSERT(snapshot_reads_all(hurt, KIND_POD, TEXT("sho")));
    CU_ASSERT(snapshot_reads_all(hurt, KIND_POD, TEXT("shop2")));
    CU_ASSERT(!snapshot_reads_all(hurt, KIND_NODE, TEXT("")));
    CU_ASSERT(snapshot_reads_all(hurt, KIND_STORAGE_CLASS, TEXT("")));
    const kind_set asked = KIND_BIT(KIND_POD) | KIND_BIT(KIND_JOB) | KIND_BIT(KIND_STORAGE_CLASS);
    const kind_set seen = asked & ~KIND_BIT(KIND_JOB);
    CU_ASSERT_EQUAL(snapshot_unseen(hurt, asked, seen), KIND_BIT(KIND_POD) | KIND_BIT(KIND_JOB));
    CU_ASSERT_EQUAL(snapshot_unseen(first, asked, seen), KIND_BIT(KIND_JOB));
    ASSERT_INT(snapshot_unreadable_count(first, KIND_POD), 0);
    ASSERT_TEXT(label_of(find(first, KIND_POD, "shop", "b")), "1");

    /* It is no change to be as before; it heals by what is put, and a deletion forgets it. */
    injure(KIND_POD, "shop", "b");
    CU_ASSERT(!store_has_changed(store));
    put(KIND_POD, "shop", "b", LABEL("2"));
    take_away(KIND_POD, "shop", "c");
    const struct snapshot *healed = next_version(&changes);
    ASSERT_INT(changes.count, 1);
    CU_ASSERT_PTR_NULL(changes.items[0].before);
    ASSERT_TEXT(label_of(find(healed, KIND_POD, "shop", "b")), "2");
    ASSERT_INT(snapshot_unreadable_count(healed, KIND_POD), 0);
    ASSERT_INT(store_unreadable_count(store, KIND_POD), 0);
    CU_ASSERT(is_unreadable(hurt, "c"));

    /* A list in which it does not come any more forgets it, too. */
    store_list_begin(store, KIND_NODE);
    CU_ASSERT(store_list_end(store, KIND_NODE));
    const struct snapshot *last = next_version(&changes);
    ASSERT_INT(changes.count, 0);
    CU_ASSERT(snapshot_reads_all(last, KIND_NODE, TEXT("")));
    CU_ASSERT(!snapshot_reads_all(healed, KIND_NODE, TEXT("")));
    store_release(store, hurt);
    store_release(store, first);
    store_release(store, last);
    store_release(store, healed);
    store_destroy(store);
}

/* What a step of a list leaves of what is lacking. */
static void what_lacks_does_so_until_a_list_ends(void)
{
    static const struct {
        const char *what;
        char step; /* b, e: a list begins, ends; p: a Pod is put */
        bool has_room, lacks;
    } steps[] = {
        {"nothing is lacking at first", 'b', true, false},
        {"an object has room", 'p', true, false},
        {"not even a name has", 'p', false, true},
        {"the list ends", 'e', false, true},
        {"another begins, and has shown nothing", 'b', true, true},
        {"its first object has room, and the others are still absent", 'p', true, true},
        {"it breaks off, and one begins", 'b', true, true},
        {"again its first object has room", 'p', true, true},
        {"and all had", 'e', true, false},
        {"an event has none", 'p', false, true},
        {"a list begins once more", 'b', true, true},
        {"an object has none", 'p', false, true},
        {"that list breaks off", 'b', true, true},
        {"the next one has room for all", 'e', true, false},
    };
    store = store_create();
    CU_ASSERT_PTR_NOT_NULL_FATAL(store);
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        char name[16];
        snprintf(name, sizeof name, "pod-%zu", i);
        store_limit(store, steps[i].has_room ? 1 << 20 : 0);
        bool right = true;
        if (steps[i].step == 'b')
            store_list_begin(store, KIND_POD);
        else if (steps[i].step == 'e')
            right = store_list_end(store, KIND_POD);
        else
            put(KIND_POD, "shop", name, "}");
        right &= store_lacks(store, KIND_POD) == steps[i].lacks &&
                 store_misses(store, KIND_POD) == steps[i].lacks;
        if (!right)
            fprintf(stderr, "%s\n", steps[i].what);
        CU_ASSERT(right);
        CU_ASSERT(!store_lacks(store, KIND_NODE) && !store_misses(store, KIND_NODE));
    }
    store_destroy(store);
}

const struct unit_test unit_tests[] = {
    {"objects of one name are told apart", objects_of_one_name_are_told_apart},
    {"a list replaces its kind when it ends", a_list_replaces_its_kind_when_it_ends},
    {"a version tells what changed", a_version_tells_what_changed},
    {"what is not read is no change", what_is_not_read_is_no_change},
    {"a change that is undone is none", a_change_that_is_undone_is_none},
    {"versions share what did not change", versions_share_what_did_not_change},
    {"a held version stays", a_held_version_stays},
    {"a thread reads while another writes", a_thread_reads_while_another_writes},
    {"what cannot be read is known by name", what_cannot_be_read_is_known_by_name},
    {"what lacks does so until a list ends", what_lacks_does_so_until_a_list_ends},
    {"versions are what a model says", versions_are_what_a_model_says},
    {NULL, NULL},
};
