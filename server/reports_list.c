/* Lists what an audit judges, page by page, one kind after the other: each object is judged as it
 * arrives, in the world of that moment. */
#include <sys/random.h>

#include "base/clock.h"
#include "kube/object.h"
#include "server/informer.h"
#include "server/reports.h"

enum {
    TURN_MS = 1000,
    PAGE_OBJECTS = 250,
    PAGE_BYTES_MAX = 4 << 20,
    OBJECT_BYTES_MAX = 4 << 20, /* etcd takes 1.5 MB */
    FAILURES_MAX = 4,           /* of a kind in a row without any answer */
};

static const enum kind owners_first[] = {
    KIND_CRON_JOB,     KIND_DEPLOYMENT,  KIND_DAEMON_SET,
    KIND_STATEFUL_SET, KIND_REPLICA_SET, KIND_REPLICATION_CONTROLLER,
    KIND_JOB,
};

struct listing {
    struct reports_link *link;
    struct cell *worlds;
    unsigned slot;
    struct reports_audit *audit;
    uint64_t generation; /* of the policies when the audit began */
    bool begun, ended;   /* of the kind's list */
    bool broken;         /* it began twice: some objects have been judged already */
    bool changed;        /* other policies are in force */
};

/* ---- events ---- */

static bool begin_list(void *context, enum kind kind)
{
    (void)kind;
    struct listing *listing = context;
    listing->broken |= listing->begun;
    return true;
}

static bool end_list(void *context, enum kind kind)
{
    (void)kind;
    struct listing *listing = context;
    listing->ended = true;
    client_wake(listing->link->client);
    return true;
}

static bool over(const struct listing *listing)
{
    return listing->broken || listing->changed || !listing->link->goes_on(listing->link->context);
}

/* Once the audit is over, the rest of the page is passed over. */
static bool put(void *context, const struct object *object)
{
    struct listing *listing = context;
    listing->begun = true;
    if (over(listing) || listing->ended)
        return true;
    const struct world *world = cell_pin(listing->worlds, listing->slot);
    listing->changed = world->generation != listing->generation;
    if (!listing->changed)
        reports_audit_put(listing->audit, world, object);
    cell_unpin(listing->worlds, listing->slot);
    return true;
}

static bool put_unreadable(void *context, const struct object *object, const char *why)
{
    (void)context, (void)object, (void)why;
    return true; /* a review of it is counted, and so is what the cluster's view lacks */
}

static bool remove_object(void *context, const struct object *object)
{
    (void)context, (void)object;
    return true;
}

static void say(void *context, enum kind kind, enum log_level level, const char *message)
{
    (void)kind, (void)level, (void)message;
    const struct listing *listing = context;
    client_wake(listing->link->client);
}

/* ---- one kind ---- */

static bool watch(struct listing *listing, enum kind kind, struct error *error)
{
    const struct event_handler handler = {.context = listing,
                                          .list_begin = begin_list,
                                          .list_end = end_list,
                                          .put = put,
                                          .put_unreadable = put_unreadable,
                                          .remove = remove_object,
                                          .say = say};
    struct watch_settings settings = {.whole = true,
                                      .page_objects = PAGE_OBJECTS,
                                      .page_bytes_max = PAGE_BYTES_MAX,
                                      .object_bytes_max = OBJECT_BYTES_MAX};
    if (getrandom(&settings.seed, sizeof settings.seed, 0) < 0)
        settings.seed = (uint64_t)monotonic_us();
    listing->begun = listing->ended = false;
    return client_watch(listing->link->client, kind, &settings, &handler, error);
}

/* False with *error: it cannot be listed now. */
static bool wait_for(struct listing *listing, enum kind kind, struct error *error)
{
    struct watch_report report = {0};
    *error = (struct error){0};
    while (!over(listing) && !listing->ended) {
        if (!client_run(listing->link->client, TURN_MS, error))
            return false;
        client_report(listing->link->client, kind, &report);
        if (report.degraded) {
            if (report.refused_status != 404) /* 404: the cluster has no such kind */
                reports_audit_miss(listing->audit, kind_table[kind].plural, report.problem);
            return true;
        }
        if (!listing->ended && report.failures >= FAILURES_MAX)
            return error_set(error, ERROR_CLUSTER, NOWHERE, "%s cannot be listed: %s",
                             kind_table[kind].plural, report.problem);
    }
    /* The version of a page that expires, and another kubeconfig, are no problem. */
    if (listing->broken)
        return error_set(error, ERROR_CLUSTER, NOWHERE, "the list of %s broke off: %s",
                         kind_table[kind].plural,
                         report.problem[0] == '\0' ? "it had to begin again" : report.problem);
    return listing->ended && !over(listing);
}

static bool list_kind(struct listing *listing, enum kind kind, struct error *error)
{
    bool done = watch(listing, kind, error) && wait_for(listing, kind, error);
    client_unwatch(listing->link->client, kind);
    return done;
}

bool reports_list(struct reports_link *link, struct cell *worlds, unsigned slot,
                  struct reports_audit *audit, struct error *error)
{
    struct listing listing = {.link = link, .worlds = worlds, .slot = slot, .audit = audit};
    const struct world *world = cell_pin(worlds, slot);
    kind_set kinds = policy_set_judged_kinds(world->policies) & informer_kinds();
    listing.generation = world->generation;
    cell_unpin(worlds, slot);
    *error = (struct error){0};
    for (size_t i = 0; i < COUNT_OF(owners_first); i++) {
        enum kind kind = owners_first[i];
        if ((kinds & KIND_BIT(kind)) != 0 && !list_kind(&listing, kind, error))
            return false;
        kinds &= ~KIND_BIT(kind);
    }
    for (enum kind kind = KIND_UNKNOWN + 1; kind < KIND_COUNT; kind++)
        if ((kinds & KIND_BIT(kind)) != 0 && !list_kind(&listing, kind, error))
            return false;
    return true;
}
