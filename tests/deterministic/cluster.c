/* The objects of a cluster by kind, with a history that can be forgotten. */
#include "cluster.h"

#include <inttypes.h>

#include "check.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "live/watch.h"
#include "threads.h"

struct state {
    bool there;
    uint64_t revision;
    uint32_t variant;
};
struct change {
    uint64_t revision;
    unsigned object;
    struct state before, after;
};
struct collection {
    struct state objects[CLUSTER_NAMES];
    int64_t changed_us[CLUSTER_NAMES];
    struct change *history; /* by revision */
    size_t count, capacity;
    uint64_t forgotten; /* the revision up to which the history is gone */
};

static struct collection collections[KIND_COUNT];
enum { BUSIEST = 40 };
/* Kinds whose objects change, the busy ones several times. */
static enum kind changing[KIND_COUNT * BUSIEST];
static size_t changing_count;
static uint64_t revision = 997; /* so that versions become longer before long */
static void (*listener)(enum kind kind);

void cluster_listen(void (*hear)(enum kind kind))
{
    listener = hear;
}

uint64_t cluster_revision(void)
{
    return revision;
}

const char *cluster_namespace(unsigned i)
{
    return i < CLUSTER_NAMES / 2 ? "bank" : "shop";
}

/* ---- changes ---- */

static void put(enum kind kind, unsigned object, struct state after)
{
    struct collection *collection = &collections[kind];
    if (collection->count == collection->capacity) {
        collection->capacity = collection->capacity == 0 ? 256 : 2 * collection->capacity;
        collection->history =
            world_realloc(collection->history, collection->capacity * sizeof *collection->history);
    }
    after.revision = ++revision;
    collection->history[collection->count++] =
        (struct change){revision, object, collection->objects[object], after};
    collection->objects[object] = after;
    collection->changed_us[object] = world_now_us();
    if (listener != NULL)
        listener(kind);
}

static bool is_lasting(enum kind kind)
{
    return kind == KIND_STORAGE_CLASS || kind == KIND_NAMESPACE;
}

static unsigned busyness(enum kind kind)
{
    switch (kind) {
    case KIND_POD:
        return BUSIEST;
    case KIND_REPLICA_SET:
    case KIND_PERSISTENT_VOLUME:
    case KIND_PERSISTENT_VOLUME_CLAIM:
        return 10;
    default:
        return 1;
    }
}

void cluster_begin(kind_set kinds)
{
    for (enum kind kind = KIND_POD; kind < KIND_OWNER_FIRST; kind++) {
        if ((kinds & KIND_BIT(kind)) == 0)
            continue;
        for (unsigned i = 0; i < busyness(kind); i++)
            changing[changing_count++] = kind;
        for (unsigned i = 0; i < CLUSTER_NAMES; i++)
            if (is_lasting(kind) || i % 3 != 0)
                put(kind, i, (struct state){.there = true});
    }
}

void cluster_change(uint64_t chance)
{
    enum kind kind = changing[chance % changing_count];
    chance /= changing_count;
    unsigned object = (unsigned)(chance % CLUSTER_NAMES);
    chance /= CLUSTER_NAMES;
    struct state next = collections[kind].objects[object];
    if (next.there && !is_lasting(kind) && chance % 5 < 2)
        next.there = false;
    else
        next = (struct state){.there = true, .variant = (uint32_t)(chance / 5 % 1000)};
    if (!next.there && !collections[kind].objects[object].there)
        return;
    put(kind, object, next);
}

void cluster_compact(void)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        collections[kind].count = 0;
        collections[kind].forgotten = revision;
    }
}

int cluster_zone_of_claim(unsigned i)
{
    const struct state *claim = &collections[KIND_PERSISTENT_VOLUME_CLAIM].objects[i];
    const struct state *volume = &collections[KIND_PERSISTENT_VOLUME].objects[i];
    return claim->there && volume->there ? (int)(volume->variant % CLUSTER_ZONES) : -1;
}

/* ---- as text ---- */

static const char *version_of(enum kind kind)
{
    return kind_versions(kind)[0];
}

static void add_type(enum kind kind, const char *suffix, struct bytes *out)
{
    const char *group = kind_table[kind].group;
    bytes_printf(out, "\"apiVersion\":\"%s%s%s\",\"kind\":\"%s%s\"", group,
                 *group == '\0' ? "" : "/", version_of(kind), kind_table[kind].name, suffix);
}

#define ZONE_KEY "topology.kubernetes.io/zone"

static void add_labels(enum kind kind, const struct state *state, struct bytes *out)
{
    bytes_printf(out, "\"labels\":{\"revision\":\"%" PRIu64 "\"", state->revision);
    if (kind == KIND_NODE)
        bytes_printf(out,
                     ",\"" ZONE_KEY "\":\"zone-%u\",\"kubernetes.io/os\":\"linux\","
                     "\"kubernetes.io/arch\":\"amd64\"",
                     state->variant % CLUSTER_ZONES);
    if (kind == KIND_POD)
        bytes_printf(out, ",\"app\":\"app-%u\"", state->variant % 5);
    bytes_printf(out, "}");
}

static void add_spec(enum kind kind, unsigned i, const struct state *state, struct bytes *out)
{
    unsigned zone = state->variant % CLUSTER_ZONES;
    switch (kind) {
    case KIND_POD:
        bytes_printf(out,
                     ",\"spec\":{\"containers\":[{\"name\":\"main\",\"image\":\"i:%u\","
                     "\"resources\":{\"requests\":{\"cpu\":\"%um\",\"memory\":\"64Mi\"}}}],"
                     "\"nodeName\":\"o-%02u\"},\"status\":{\"phase\":\"Running\"}",
                     state->variant, 10 + state->variant % 7, state->variant % CLUSTER_NAMES);
        break;
    case KIND_NODE:
        bytes_printf(
            out, ",\"spec\":{},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"16Gi\","
                 "\"pods\":\"110\"},\"capacity\":{\"cpu\":\"4\",\"memory\":\"16Gi\","
                 "\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
        break;
    case KIND_NODE_POOL:
        bytes_printf(out,
                     ",\"spec\":{\"template\":{\"spec\":{\"requirements\":[{\"key\":\"" ZONE_KEY
                     "\",\"operator\":\"In\",\"values\":[\"zone-0\",\"zone-1\",\"zone-2\"]}]}}}");
        break;
    case KIND_STORAGE_CLASS:
        bytes_printf(out, ",\"provisioner\":\"ebs.csi.aws.com\","
                          "\"volumeBindingMode\":\"WaitForFirstConsumer\"");
        break;
    case KIND_PERSISTENT_VOLUME_CLAIM:
        bytes_printf(out,
                     ",\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"volumeName\":\"o-%02u\","
                     "\"storageClassName\":\"o-00\"},\"status\":{\"phase\":\"Bound\"}",
                     i);
        break;
    case KIND_PERSISTENT_VOLUME:
        bytes_printf(out,
                     ",\"spec\":{\"storageClassName\":\"o-00\",\"claimRef\":{\"namespace\":\"%s\","
                     "\"name\":\"o-%02u\"},\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":["
                     "{\"matchExpressions\":[{\"key\":\"" ZONE_KEY
                     "\",\"operator\":\"In\",\"values\":[\"zone-%u\"]}]}]}}}",
                     cluster_namespace(i), i, zone);
        break;
    default:
        bytes_printf(out, ",\"spec\":{}");
    }
}

static void add_object(enum kind kind, unsigned i, const struct state *state, bool typed,
                       struct bytes *out)
{
    bytes_printf(out, "{");
    if (typed) {
        add_type(kind, "", out);
        bytes_printf(out, ",");
    }
    bytes_printf(out, "\"metadata\":{\"name\":\"o-%02u\",", i);
    if (kind_table[kind].namespaced)
        bytes_printf(out, "\"namespace\":\"%s\",", cluster_namespace(i));
    bytes_printf(out, "\"resourceVersion\":\"%" PRIu64 "\",", state->revision);
    add_labels(kind, state, out);
    /* Brackets and quotes in a string mislead who counts them without care. */
    bytes_printf(out,
                 ",\"annotations\":{\"pv.kubernetes.io/bind-completed\":\"yes\",\"note\":"
                 "\"a \\\"}]{[\\\\\",\"ballast\":\"%.*s\"}}",
                 (int)(state->variant % 40), "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop");
    add_spec(kind, i, state, out);
    bytes_printf(out, "}");
}

void cluster_status(unsigned code, const char *reason, const char *message, struct bytes *out)
{
    bytes_printf(out,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                 "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"code\":%u}",
                 message, reason, code);
}

/* ---- lists ---- */

/* The objects as they were. */
static void state_at(const struct collection *collection, uint64_t when,
                     struct state objects[CLUSTER_NAMES])
{
    memcpy(objects, collection->objects, sizeof collection->objects);
    for (size_t i = collection->count; i-- > 0 && collection->history[i].revision > when;)
        objects[collection->history[i].object] = collection->history[i].before;
}

unsigned cluster_list(enum kind kind, size_t limit, const char *continue_token, struct bytes *out)
{
    const struct collection *collection = &collections[kind];
    struct state objects[CLUSTER_NAMES];
    uint64_t when = revision;
    unsigned from = 0, i;
    if (continue_token[0] != '\0' &&
        (sscanf(continue_token, "%" SCNu64 "+%u", &when, &from) != 2 || from > CLUSTER_NAMES)) {
        cluster_status(400, "BadRequest", "continue key is not valid", out);
        return 400;
    }
    if (when < collection->forgotten && continue_token[0] != '\0') {
        cluster_status(410, "Expired", "The provided continue parameter is too old", out);
        return 410;
    }
    state_at(collection, when, objects);
    struct bytes items = {0};
    size_t count = 0;
    for (i = from; i < CLUSTER_NAMES && (limit == 0 || count < limit); i++) {
        if (!objects[i].there)
            continue;
        bytes_printf(&items, "%s", count++ == 0 ? "" : ",");
        add_object(kind, i, &objects[i], false, &items);
    }
    bytes_printf(out, "{");
    add_type(kind, "List", out);
    bytes_printf(out, ",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", when);
    if (i < CLUSTER_NAMES)
        bytes_printf(out, ",\"continue\":\"%" PRIu64 "+%u\"", when, i);
    bytes_printf(out, "},\"items\":[");
    bytes_add(out, items.data == NULL ? "" : items.data, items.size);
    bytes_printf(out, "]}\n");
    bytes_free(&items);
    return 200;
}

/* ---- watches ---- */

static size_t first_after(const struct collection *collection, uint64_t when)
{
    size_t low = 0, high = collection->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (collection->history[middle].revision <= when)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool cluster_has_expired(enum kind kind, uint64_t when)
{
    return when < collections[kind].forgotten;
}

bool cluster_event(enum kind kind, uint64_t *when, struct bytes *out)
{
    const struct collection *collection = &collections[kind];
    size_t at = first_after(collection, *when);
    if (at == collection->count)
        return false;
    const struct change *change = &collection->history[at];
    *when = change->revision;
    bytes_printf(out, "{\"type\":\"%s\",\"object\":",
                 !change->after.there    ? "DELETED"
                 : !change->before.there ? "ADDED"
                                         : "MODIFIED");
    add_object(kind, change->object, &change->after, true, out);
    bytes_printf(out, "}\n");
    return true;
}

void cluster_bookmark(enum kind kind, struct bytes *out)
{
    bytes_printf(out, "{\"type\":\"BOOKMARK\",\"object\":{");
    add_type(kind, "", out);
    bytes_printf(
        out, ",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\",\"creationTimestamp\":null}}}\n",
        revision);
}

/* ---- comparing ---- */

static bool is_same(const struct snapshot *snapshot, enum kind kind, unsigned i, char *where,
                    size_t where_bytes)
{
    char name[16], wanted[24] = "none", seen[24] = "none";
    snprintf(name, sizeof name, "o-%02u", i);
    const struct state *state = &collections[kind].objects[i];
    const char *namespace = kind_table[kind].namespaced ? cluster_namespace(i) : "";
    const struct object *object = snapshot_find(snapshot, kind, text_of(namespace), text_of(name));
    if (state->there)
        snprintf(wanted, sizeof wanted, "%" PRIu64, state->revision);
    if (object != NULL)
        snprintf(seen, sizeof seen, "%.*s",
                 TEXT_ARGS(node_string(node_get(object->labels, "revision"))));
    if (strcmp(wanted, seen) == 0)
        return true;
    snprintf(where, where_bytes, "%s %s/%s is at %s, and seen at %s", kind_table[kind].name,
             namespace, name, wanted, seen);
    return false;
}

bool cluster_compare(const struct snapshot *snapshot, kind_set kinds, int64_t unchanged_since_us,
                     char *where, size_t where_bytes)
{
    for (enum kind kind = KIND_POD; kind < KIND_OWNER_FIRST; kind++) {
        if ((kinds & KIND_BIT(kind)) == 0)
            continue;
        size_t count = 0;
        for (unsigned i = 0; i < CLUSTER_NAMES; i++) {
            count += collections[kind].objects[i].there;
            if (collections[kind].changed_us[i] <= unchanged_since_us &&
                !is_same(snapshot, kind, i, where, where_bytes))
                return false;
        }
        if (unchanged_since_us == NEVER && snapshot_count(snapshot, kind) != count) {
            snprintf(where, where_bytes, "%zu of %zu %s are seen", snapshot_count(snapshot, kind),
                     count, kind_table[kind].plural);
            return false;
        }
    }
    return true;
}
