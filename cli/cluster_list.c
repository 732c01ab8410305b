/* A cluster, listed once: every object whole, because rails judge it and do not only look it up. */
#include <stdio.h>
#include <sys/random.h>

#include "base/clock.h"
#include "cli/cluster.h"
#include "cli/progress.h"
#include "server/informer.h"

enum {
    TURN_MS = 250,
    USUAL_TIMEOUT_MS = 60 * 1000,
    FAILURES_MAX = 3, /* of each kind in a row without any answer: nobody is there */
};

struct listing {
    struct arena *arena; /* of the objects */
    struct client *client;
    kind_set kinds, listed;
    const struct cluster_wish *wish;
    struct manifests of[KIND_COUNT];
    bool full;
};

static bool is_in(kind_set kinds, enum kind kind)
{
    return (kinds & KIND_BIT(kind)) != 0;
}

/* ---- copies ---- */

/* A field that no rail reads, and that is half of many objects. */
static bool is_left_out(struct text key)
{
    return text_is(key, "managedFields") ||
           text_is(key, "kubectl.kubernetes.io/last-applied-configuration");
}

static struct node copy_node(const struct node *node, struct arena *arena);

static struct node copy_map(const struct node *map, struct arena *arena)
{
    struct member *members = ARENA_ARRAY(arena, map->size, struct member);
    size_t count = 0;
    for (size_t i = 0; i < map->size; i++) {
        const struct member *member = &map->members[i];
        struct text key = member_key(member);
        if (!is_left_out(key))
            members[count++] = member_of(arena_text(arena, key), copy_node(&member->value, arena));
    }
    return node_of_members(members, count);
}

/* The tree was read within limits: its depth is bounded. */
static struct node copy_node(const struct node *node, struct arena *arena)
{
    struct node copy = *node;
    copy.offset = 0;
    if (node->kind == NODE_MAP)
        return copy_map(node, arena);
    if (node->kind == NODE_LIST) {
        struct node *items = ARENA_ARRAY(arena, node->size, struct node);
        for (size_t i = 0; i < node->size; i++)
            items[i] = copy_node(&node->items[i], arena);
        copy.items = items;
    } else if (node->size > 0) {
        copy.bytes = arena_text(arena, node_text(node)).data;
    }
    return copy;
}

struct tree_copy {
    struct listing *listing;
    const struct object *object;
    const char *why; /* why it cannot be read */
};

static void keep(void *argument)
{
    const struct tree_copy *keeping = argument;
    struct arena *arena = keeping->listing->arena;
    struct manifests *list = &keeping->listing->of[keeping->object->kind];
    struct object object;
    struct error error;
    const struct node *root = node_keep(arena, copy_node(keeping->object->root->node, arena));
    if (object_read(root, NULL, TEXT(""), arena, &object, &error))
        *LIST_PUSH(arena, list) = object;
    else
        problems_add_error(&list->problems, &error);
}

static void note_unreadable(void *argument)
{
    const struct tree_copy *keeping = argument;
    const struct object *object = keeping->object;
    problems_add(&keeping->listing->of[object->kind].problems, ERROR_INPUT, NOWHERE,
                 "%s %.*s%s%.*s cannot be read, so it counts as not there: %s",
                 kind_table[object->kind].name, TEXT_ARGS(object->namespace),
                 object->namespace.size > 0 ? "/" : "", TEXT_ARGS(object->name), keeping->why);
}

/* ---- events ---- */

static bool begin_list(void *context, enum kind kind)
{
    struct listing *listing = context;
    if (!is_in(listing->listed, kind))
        listing->of[kind].count = listing->of[kind].problems.count = 0;
    return true;
}

static bool end_list(void *context, enum kind kind)
{
    struct listing *listing = context;
    listing->listed |= KIND_BIT(kind);
    client_wake(listing->client);
    return true;
}

/* The arena's guard must not unwind through the calling client. */
static bool add(struct listing *listing, struct tree_copy keeping, void (*body)(void *))
{
    struct error error;
    if (is_in(listing->listed, keeping.object->kind))
        return true;
    listing->full |= !arena_guard(listing->arena, body, &keeping, &error);
    return !listing->full;
}

static bool put(void *context, const struct object *object)
{
    return add(context, (struct tree_copy){context, object, NULL}, keep);
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    return add(context, (struct tree_copy){context, object, why}, note_unreadable);
}

static bool remove_object(void *context, const struct object *object)
{
    (void)context;
    (void)object;
    return true;
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    const struct listing *listing = context;
    (void)kind, (void)level, (void)message;
    client_wake(listing->client);
}

/* ---- waiting for all kinds ---- */

struct outlook {
    bool done;       /* every kind has arrived or failed */
    bool silent;     /* no kind got an answer, again and again */
    enum kind first; /* of the failed ones; KIND_UNKNOWN: none */
};

static struct outlook look(const struct listing *listing, struct watch_report reports[KIND_COUNT])
{
    struct outlook outlook = {.done = true, .silent = listing->listed == 0};
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        if (!is_in(listing->kinds & ~listing->listed, kind))
            continue;
        struct watch_report *report = &reports[kind];
        client_report(listing->client, kind, report);
        outlook.done &= report->degraded;
        outlook.silent &= !report->degraded && report->failures >= FAILURES_MAX;
        if (outlook.first == KIND_UNKNOWN && report->problem[0] != '\0')
            outlook.first = kind;
    }
    return outlook;
}

/* What has arrived need not be watched. */
static void leave_listed(struct listing *listing)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (is_in(listing->listed, kind))
            client_unwatch(listing->client, kind);
}

static bool watch_all(struct listing *listing, struct error *error)
{
    const struct event_handler handler = {.context = listing,
                                          .list_begin = begin_list,
                                          .list_end = end_list,
                                          .put = put,
                                          .put_unreadable = put_unreadable,
                                          .remove = remove_object,
                                          .say = say};
    struct watch_settings settings = {.whole = true};
    if (getrandom(&settings.seed, sizeof settings.seed, 0) < 0)
        settings.seed = (uint64_t)monotonic_us();
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (is_in(listing->kinds, kind) &&
            !client_watch(listing->client, kind, &settings, &handler, error))
            return false;
    return true;
}

static void show(const struct listing *listing, struct progress *progress)
{
    unsigned kinds = 0, listed = 0;
    size_t objects = 0;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        kinds += is_in(listing->kinds, kind);
        listed += is_in(listing->listed, kind);
        objects += listing->of[kind].count;
    }
    progress_show(progress, "listing the cluster: %u of %u kinds, %zu objects, %lld s", listed,
                  kinds, objects, (long long)(monotonic_ms() - progress->begun_ms) / 1000);
}

/* While the client is open, the arena is used only under a guard. */
static bool run(struct listing *listing, int64_t timeout_ms,
                struct watch_report reports[KIND_COUNT], struct error *error)
{
    if (!watch_all(listing, error))
        return false;
    int64_t end_ms = monotonic_ms() + timeout_ms;
    struct outlook outlook = look(listing, reports);
    struct progress progress;
    progress_begin(&progress);
    for (int64_t left_ms = timeout_ms; !outlook.done && !outlook.silent && !listing->full;
         left_ms = end_ms - monotonic_ms()) {
        if (left_ms <= 0)
            break;
        if (!client_run(listing->client, left_ms < TURN_MS ? left_ms : TURN_MS, error)) {
            progress_end(&progress);
            return false;
        }
        leave_listed(listing);
        show(listing, &progress);
        outlook = look(listing, reports);
    }
    progress_end(&progress);
    if (listing->full)
        return error_set(error, ERROR_MEMORY, NOWHERE,
                         "no memory for all the objects of the cluster: take it as files, part by "
                         "part (--state)");
    if (listing->listed != 0 || (outlook.done && listing->wish->may_be_nothing))
        return true;
    const char *problem = outlook.first == KIND_UNKNOWN ? "" : reports[outlook.first].problem;
    if (outlook.done)
        return error_set(error, ERROR_CLUSTER, NOWHERE,
                         "the API server lets nothing be listed; of %s: %s",
                         kind_table[outlook.first].plural, problem);
    return error_set(error, ERROR_CLUSTER, NOWHERE, "the API server cannot be asked: %s",
                     problem[0] == '\0' ? "it did not answer in time (--timeout)" : problem);
}

/* ---- the result ---- */

static const char *problem_of(const struct watch_report *report)
{
    return report->problem[0] == '\0' ? "no answer in time (--timeout)" : report->problem;
}

/* A late kind may come another time; a refused one will not. */
static void tell_needed(const struct listing *listing, enum kind kind,
                        const struct watch_report *report, struct problems *errors)
{
    problems_add(errors, report->degraded ? ERROR_INPUT : ERROR_CLUSTER, NOWHERE,
                 "%s could not be listed, so %s: %s", kind_table[kind].plural,
                 listing->wish->left_out, problem_of(report));
}

/* Who may list little would get a line for each kind. */
static void tell_others(const struct listing *listing, kind_set missing, const char *so,
                        const struct watch_report reports[KIND_COUNT], struct problems *warnings)
{
    enum { NAMED_MAX = 4 };
    struct text names[KIND_COUNT];
    size_t count = 0;
    const char *problem = NULL;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        if (!is_in(missing, kind))
            continue;
        names[count++] = text_of(kind_table[kind].plural);
        problem = problem == NULL ? problem_of(&reports[kind]) : problem;
    }
    if (count > 0)
        problems_add(warnings, ERROR_INPUT, NOWHERE, "%.*s could not be listed, so %s: %s",
                     TEXT_ARGS(texts_and(names, count, NAMED_MAX, listing->arena)), so, problem);
}

static void gather(struct listing *listing, const struct watch_report reports[KIND_COUNT],
                   struct listed_cluster *cluster, struct problems *warnings)
{
    struct arena *arena = listing->arena;
    struct manifests *objects = &cluster->objects;
    /* Node classes of other clouds, and what Karpenter had before: most clusters have none, and who
     * may not list them is refused all the same. */
    kind_set rare = ~informer_kinds(), told = 0;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        if (!is_in(listing->kinds, kind))
            continue;
        const struct manifests *of = &listing->of[kind];
        for (size_t i = 0; is_in(listing->listed, kind) && i < of->count; i++)
            *LIST_PUSH(arena, objects) = of->items[i];
        for (size_t i = 0; i < of->problems.count; i++)
            problems_add_error(&objects->problems, &of->problems.items[i]);
        bool absent = reports[kind].refused_status == 404 && is_in(KINDS_OPTIONAL | rare, kind);
        if (is_in(listing->listed, kind) || absent)
            continue;
        cluster->unseen |= KIND_BIT(kind);
        if (!is_in(listing->wish->needed, kind) ||
            (is_in(rare, kind) && reports[kind].refused_status != 0))
            continue;
        told |= KIND_BIT(kind);
        tell_needed(listing, kind, &reports[kind], &objects->problems);
    }
    kind_set others = cluster->unseen & ~told;
    tell_others(listing, others & ~rare, "what depends on them is not decided", reports, warnings);
    if ((others & rare) != 0)
        tell_others(listing, others & rare,
                    arena_printf(arena, "if there are any, %s", listing->wish->left_out).data,
                    reports, warnings);
}

/* Who has many clusters wants to know which one that was. */
static void name_cluster(const struct client_config *config, struct error *error)
{
    struct error plain = *error;
    error_fill(error, plain.kind, NOWHERE, "%s (%.*s, %.*s)", plain.what, TEXT_ARGS(config->server),
               TEXT_ARGS(config->origin));
}

bool cluster_list(const struct cluster_options *options, const struct client_config *config,
                  const struct cluster_wish *wish, struct arena *arena,
                  struct listed_cluster *cluster, struct problems *warnings, struct error *error)
{
    int64_t timeout_ms = options->timeout_ms > 0 ? options->timeout_ms : USUAL_TIMEOUT_MS;
    struct watch_report reports[KIND_COUNT] = {0};
    struct listing *listing = ARENA_NEW(arena, struct listing);
    listing->arena = arena;
    listing->wish = wish;
    listing->kinds = informer_kinds() | (wish->needed & (KIND_BIT(KIND_COUNT) - 2));
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        manifests_init(&listing->of[kind], arena);
    *cluster = (struct listed_cluster){0};
    manifests_init(&cluster->objects, arena);
    bool done = client_open(config, monotonic_ms, &listing->client, error) &&
                run(listing, timeout_ms, reports, error);
    client_close(listing->client);
    if (!done && error->kind == ERROR_CLUSTER)
        name_cluster(config, error);
    if (done)
        gather(listing, reports, cluster, warnings);
    return done;
}
