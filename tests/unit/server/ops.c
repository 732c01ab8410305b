/* labels: threads */
/* The ops port: methods, and what its pages say where a cluster is watched, a certificate kept and
 * reports are written. */
#include "server_fixture.h"

#include "server/cluster_status.h"
#include "server/reports.h"
#include "server/webhook_manager.h"

static struct reply ask(const struct fixture *fixture, const char *method, const char *path)
{
    char request[128];
    struct client client = {.fd = connect_to(fixture->ops_port)};
    snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, path);
    CU_ASSERT(client_print(&client, request));
    struct reply reply = client_receive(&client);
    client_hang_up(&client);
    return reply;
}

static void pages_are_only_read(void)
{
    static const char plain[] = "text/plain; charset=utf-8";
    static const struct {
        const char *method, *path;
        int status;
        const char *type, *body; /* NULL: whatever it is */
    } cases[] = {
        {"GET", "/livez", 200, plain, "ok\n"},
        {"HEAD", "/livez", 200, plain, ""},
        {"GET", "/livez?verbose", 200, plain, "ok\n"},
        {"GET", "/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", NULL},
        {"HEAD", "/readyz", 200, plain, ""},
        {"POST", "/livez", 405, plain, "the method must be GET\n"},
        {"DELETE", "/metrics", 405, plain, "the method must be GET\n"},
        {"OPTIONS", "/", 405, plain, "the method must be GET\n"},
        {"GET", "/metric", 404, plain, "there are three paths: /livez, /readyz and /metrics\n"},
        {"GET", "/metrics/", 404, plain, "there are three paths: /livez, /readyz and /metrics\n"},
    };
    struct fixture fixture = start((struct server_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char type[128];
        struct reply reply = ask(&fixture, cases[i].method, cases[i].path);
        ASSERT_INT(atoi(reply.head + strlen("HTTP/1.1 ")), cases[i].status);
        snprintf(type, sizeof type, "\r\ncontent-type: %s\r\n", cases[i].type);
        CU_ASSERT_PTR_NOT_NULL(strcasestr(reply.head, type));
        CU_ASSERT_PTR_NOT_NULL(strcasestr(reply.head, "\r\nconnection: close\r\n"));
        CU_ASSERT_EQUAL(strcasestr(reply.head, "\r\nallow: GET, HEAD\r\n") != NULL,
                        cases[i].status == 405);
        if (cases[i].body != NULL)
            ASSERT_TEXT(text_of(reply.body), cases[i].body);
    }
    stop(&fixture);
}

#define READY "ok, world 7 loaded 2026-11-06T21:20:00Z"

/* Each of what a server may do besides has its part of the line, and its metrics. */
static void each_duty_has_its_part_of_the_pages(void)
{
    static const struct webhook_manager_settings settings = {.namespace = "taffrail",
                                                             .secret = "certs"};
    static const struct webhook_manager_report keeping = {.serving = true, .leads = true};
    static const struct reports_report reporting = {
        .leads = true, .api = REPORTS_NO_API, .interval_s = 600};
    static struct cluster_report watching = {.visible = true, .kinds = KIND_BIT(KIND_NODE)};
    static const struct {
        bool watches, keeps, reports;
        const char *line;
    } cases[] = {
        {false, false, false, READY "\n"},
        {true, false, false, READY "; cluster: 3 objects, none older than 0 s\n"},
        {false, true, false,
         READY "; certificate of Secret taffrail/certs, kept by this replica\n"},
        {false, false, true, READY "; reports: none yet\n"},
        {true, true, true,
         READY "; cluster: 3 objects, none older than 0 s; certificate of Secret taffrail/certs, "
               "kept by this replica; reports: none yet\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cluster_status *cluster = cluster_status_create();
        struct webhook_manager_status *manager = webhook_manager_status_create(&settings);
        struct reports_status *reports = reports_status_create();
        /* From tomorrow, so that it does not grow older in the test. */
        watching.at_ms = monotonic_ms() + (int64_t)24 * 60 * 60 * 1000;
        watching.of[KIND_NODE].object_count = 3;
        watching.of[KIND_NODE].report.synced = true;
        cluster_status_set(cluster, &watching);
        webhook_manager_status_set(manager, &keeping);
        reports_status_set(reports, &reporting, NULL);
        struct fixture fixture = start((struct server_options){
            .status = cases[i].watches ? cluster : NULL,
            .webhook_manager_status = cases[i].keeps ? manager : NULL,
            .reports_status = cases[i].reports ? reports : NULL,
        });
        ASSERT_TEXT(text_of(get(&fixture, "/readyz").body), cases[i].line);
        struct reply verbose = get(&fixture, "/readyz?verbose");
        ASSERT_INT(verbose.status, 200);
        CU_ASSERT(text_starts_with(text_of(verbose.body), text_of(cases[i].line)));
        CU_ASSERT_EQUAL(strstr(verbose.body, "\nnodes: 3 objects, ") != NULL, cases[i].watches);
        ASSERT_INT(metric(&fixture, "taffrail_ready"), 1);
        ASSERT_INT(metric(&fixture, "taffrail_cluster_visible"), cases[i].watches ? 1 : -1);
        ASSERT_INT(metric(&fixture, "taffrail_leader"), cases[i].keeps ? 1 : -1);
        ASSERT_INT(metric(&fixture, "taffrail_reports_interval_seconds"),
                   cases[i].reports ? 600 : -1);
        stop(&fixture);
        cluster_status_destroy(cluster);
        webhook_manager_status_destroy(manager);
        reports_status_destroy(reports);
    }
}

static void who_waits_is_not_ready(void)
{
    static const struct webhook_manager_settings settings = {.namespace = "taffrail",
                                                             .secret = "certs"};
    static const struct {
        bool looks, serves; /* the first look at the cluster is over; it has a certificate */
        const char *why;    /* NULL: it is ready */
    } cases[] = {
        {true, true, NULL},
        {false, true, "waiting for a first look at the cluster\n"},
        {false, false, "waiting for a first look at the cluster\n"},
        {true, false, "waiting for a certificate in Secret taffrail/certs\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cluster_status *cluster = cluster_status_create();
        struct webhook_manager_status *manager = webhook_manager_status_create(&settings);
        const struct cluster_report watching = {.waiting = !cases[i].looks};
        const struct webhook_manager_report keeping = {.serving = cases[i].serves};
        cluster_status_set(cluster, &watching);
        webhook_manager_status_set(manager, &keeping);
        struct fixture fixture =
            start((struct server_options){.status = cluster, .webhook_manager_status = manager});
        struct reply reply = get(&fixture, "/readyz");
        ASSERT_INT(reply.status, cases[i].why == NULL ? 200 : 503);
        if (cases[i].why != NULL)
            ASSERT_TEXT(text_of(reply.body), cases[i].why);
        ASSERT_INT(metric(&fixture, "taffrail_ready"), cases[i].why == NULL);
        ASSERT_INT(get(&fixture, "/livez").status, 200); /* alive all the same */
        stop(&fixture);
        cluster_status_destroy(cluster);
        webhook_manager_status_destroy(manager);
    }
}

const char unit_suite[] = "server/ops";
const struct unit_test unit_tests[] = {
    {"pages are only read", pages_are_only_read},
    {"each duty has its part of the pages", each_duty_has_its_part_of_the_pages},
    {"who waits is not ready", who_waits_is_not_ready},
    {NULL, NULL},
};
