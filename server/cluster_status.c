/* The watched cluster on /readyz and /metrics. */
#include "server/cluster_status.h"

#include <pthread.h>
#include <stdlib.h>

#include "server/metric_table.h"

struct cluster_status {
    pthread_mutex_t mutex;
    struct cluster_report report;
};

struct cluster_status *cluster_status_create(void)
{
    struct cluster_status *status = calloc(1, sizeof *status);
    if (status == NULL)
        return NULL;
    pthread_mutex_init(&status->mutex, NULL);
    status->report.waiting = true;
    return status;
}

void cluster_status_destroy(struct cluster_status *status)
{
    if (status == NULL)
        return;
    pthread_mutex_destroy(&status->mutex);
    free(status);
}

void cluster_status_set(struct cluster_status *status, const struct cluster_report *report)
{
    pthread_mutex_lock(&status->mutex);
    status->report = *report;
    pthread_mutex_unlock(&status->mutex);
}

/* A copy, because printing may end in its arena's guard, and would leave a lock behind. */
static struct cluster_report read_status(struct cluster_status *status)
{
    pthread_mutex_lock(&status->mutex);
    struct cluster_report report = status->report;
    pthread_mutex_unlock(&status->mutex);
    return report;
}

bool cluster_status_is_waiting(struct cluster_status *status)
{
    return read_status(status).waiting;
}

bool cluster_status_is_visible(struct cluster_status *status)
{
    return read_status(status).visible;
}

/* ---- /readyz ---- */

static bool is_watched(const struct cluster_report *report, enum kind kind)
{
    return (report->kinds & KIND_BIT(kind)) != 0;
}

static const char *plural_of(const struct cluster_report *report, enum kind kind)
{
    const char *custom = report->of[kind].custom;
    return custom[0] != '\0' ? custom : kind_table[kind].plural;
}

static const char *name_of(const struct cluster_report *report, enum kind kind)
{
    const char *custom = report->of[kind].custom;
    return custom[0] != '\0' ? custom : kind_table[kind].name;
}

/* Negative: never. */
static int64_t age_ms(const struct cluster_report *report, enum kind kind, int64_t now_ms)
{
    int64_t then_ms = report->of[kind].report.age_ms;
    return then_ms < 0 ? -1 : then_ms + (now_ms - report->at_ms);
}

/* A problem of a single object does not affect the others: these are counted here, and named in the
 * verbose answer. */
static void add_unreadable(const struct cluster_report *report, struct text_builder *out)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        const struct kind_report *of = &report->of[kind];
        if (is_watched(report, kind) && of->unreadable_count > 0)
            text_builder_printf(out, "; %zu of %zu %s cannot be read", of->unreadable_count,
                                of->object_count, plural_of(report, kind));
        if (is_watched(report, kind) && of->lacks)
            text_builder_printf(out, "; there is no memory for all %s", plural_of(report, kind));
    }
}

static void add_troubles(const struct cluster_report *report, struct text_builder *out)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        const struct watch_report *watch = &report->of[kind].report;
        bool unseen =
            (report->unseen & KIND_BIT(kind)) != 0 ||
            (kind_is_custom_owner(kind) && !watch->synced && watch->refused_status != 404);
        if (!is_watched(report, kind) || (!unseen && watch->problem[0] == '\0'))
            continue;
        const char *how = "may be out of date";
        if (unseen)
            how = "cannot be seen";
        else if (watch->degraded)
            how = watch->refused_status == 404 ? "are not there" : "may no longer be read";
        text_builder_printf(out, "; %s %s: ", plural_of(report, kind), how);
        text_builder_add_line(out, watch->problem[0] != '\0' ? text_of(watch->problem)
                                   : report->of[kind].lacks
                                       ? TEXT("there is no memory for all of them")
                                       : TEXT("no answer yet"));
    }
}

void cluster_status_add_line(struct cluster_status *status, int64_t now_ms,
                             struct text_builder *out)
{
    struct cluster_report report = read_status(status);
    size_t count = 0;
    int64_t oldest_ms = -1;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        if (!is_watched(&report, kind))
            continue;
        int64_t kind_ms = age_ms(&report, kind, now_ms);
        count += report.of[kind].object_count;
        oldest_ms = kind_ms > oldest_ms ? kind_ms : oldest_ms;
    }
    if (report.visible)
        text_builder_printf(out, "; cluster: %zu objects, none older than %lld s", count,
                            (long long)((oldest_ms + 999) / 1000));
    else
        text_builder_add(out, TEXT("; cluster: not visible yet"));
    if (report.visible && report.volumes_are_stale)
        text_builder_add(out, TEXT("; its claims and volumes are too old to require a zone"));
    add_unreadable(&report, out);
    add_troubles(&report, out);
}

void cluster_status_add_kinds(struct cluster_status *status, int64_t now_ms,
                              struct text_builder *out)
{
    struct cluster_report report = read_status(status);
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        const struct kind_report *of = &report.of[kind];
        if (!is_watched(&report, kind))
            continue;
        text_builder_printf(out, "%s: %zu objects", plural_of(&report, kind), of->object_count);
        int64_t kind_ms = age_ms(&report, kind, now_ms);
        if (kind_ms < 0)
            text_builder_add(out, of->report.lists > 0 ? TEXT(", no longer there")
                                                       : TEXT(", never listed"));
        else
            text_builder_printf(out, ", known to be right %lld s ago", (long long)kind_ms / 1000);
        if (of->unreadable_count > 0)
            text_builder_printf(out, ", %zu cannot be read%s%s%s", of->unreadable_count,
                                of->unreadable[0] == '\0' ? "" : " (", of->unreadable,
                                of->unreadable[0] == '\0' ? "" : ")");
        if (of->lacks)
            text_builder_add(out, TEXT(", no memory for all of them"));
        if (of->report.degraded)
            text_builder_add(out, TEXT(", degraded"));
        if (of->report.problem[0] != '\0') {
            text_builder_add(out, TEXT(": "));
            text_builder_add_line(out, text_of(of->report.problem));
        }
        text_builder_add(out, TEXT("\n"));
    }
}

/* ---- /metrics ---- */

/* One number for each kind. */
struct series {
    enum metric metric;
    uint64_t (*value)(const struct kind_report *of);
};

static uint64_t objects_of(const struct kind_report *of)
{
    return of->object_count;
}

static uint64_t bytes_of(const struct kind_report *of)
{
    return of->bytes;
}

static uint64_t unreadable_of(const struct kind_report *of)
{
    return of->unreadable_count;
}

static uint64_t lacking_of(const struct kind_report *of)
{
    return of->lacks;
}

static uint64_t lists_of(const struct kind_report *of)
{
    return of->report.lists;
}

static uint64_t events_of(const struct kind_report *of)
{
    return of->report.events;
}

static uint64_t failures_of(const struct kind_report *of)
{
    return of->report.failures;
}

static uint64_t degraded_of(const struct kind_report *of)
{
    return of->report.degraded;
}

static const struct series series[] = {
    {METRIC_CLUSTER_OBJECTS, objects_of},       {METRIC_CLUSTER_OBJECT_BYTES, bytes_of},
    {METRIC_CLUSTER_UNREADABLE, unreadable_of}, {METRIC_CLUSTER_LACKING, lacking_of},
    {METRIC_CLUSTER_LISTS, lists_of},           {METRIC_CLUSTER_EVENTS, events_of},
    {METRIC_CLUSTER_FAILURES, failures_of},     {METRIC_CLUSTER_DEGRADED, degraded_of},
};

static void add_ages(const struct cluster_report *report, int64_t now_ms, struct text_builder *out)
{
    metric_begin(out, METRIC_CLUSTER_AGE);
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        int64_t kind_ms = age_ms(report, kind, now_ms);
        if (is_watched(report, kind) && kind_ms >= 0)
            metric_add_ms(out, METRIC_CLUSTER_AGE, kind_ms, "kind=\"%s\"", name_of(report, kind));
    }
}

void cluster_status_add_metrics(struct cluster_status *status, int64_t now_ms,
                                struct text_builder *out)
{
    struct cluster_report report = read_status(status);
    metric_one(out, METRIC_CLUSTER_VISIBLE, report.visible);
    metric_one(out, METRIC_CLUSTER_VOLUMES_STALE, report.volumes_are_stale);
    metric_one(out, METRIC_CLUSTER_VIEWS, (int64_t)report.view_count);
    for (size_t i = 0; i < COUNT_OF(series); i++) {
        metric_begin(out, series[i].metric);
        for (enum kind kind = 0; kind < KIND_COUNT; kind++)
            if (is_watched(&report, kind))
                metric_add(out, series[i].metric, (int64_t)series[i].value(&report.of[kind]),
                           "kind=\"%s\"", name_of(&report, kind));
    }
    add_ages(&report, now_ms, out);
}
