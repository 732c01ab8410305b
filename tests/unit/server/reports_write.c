/* The reports in a cluster are made those of an audit: what is asked for, what is written, what is
 * left alone, and what is done when the API server refuses. */
#include "log_fixture.h"
#include "object_fixture.h"
#include "scripted_client.h"
#include "server/reports.h"
#include "world_of_text.h"

const char unit_suite[] = "server/reports write";

enum { NOW_S = 1795230245, PLENTY = 16 << 20 };

#define NEW_API "/apis/openreports.io/v1alpha1"
#define OLD_API "/apis/wgpolicyk8s.io/v1alpha2"
#define OF_NAME "?fieldSelector=metadata.name%3Dtaffrail&limit=500"
#define LISTS                               \
    "LIST " NEW_API "/reports" OF_NAME "\n" \
    "LIST " NEW_API "/clusterreports" OF_NAME "\n"
#define LISTS_OLD                                 \
    "LIST " OLD_API "/policyreports" OF_NAME "\n" \
    "LIST " OLD_API "/clusterpolicyreports" OF_NAME "\n"
#define APPLIED "?fieldManager=taffrail&force=true"
#define OF_SHOP NEW_API "/namespaces/shop/reports/taffrail"
#define OF_WEB NEW_API "/namespaces/web/reports/taffrail"
#define OF_CLUSTER NEW_API "/clusterreports/taffrail"
#define NO_OLD "DISCOVER " OLD_API "\n"
#define OURS "\"labels\":{\"app.kubernetes.io/managed-by\":\"taffrail\"},"
#define ITEM(name, namespace, labels, version)                                                     \
    "{\"metadata\":{\"name\":\"" name                                                              \
    "\",\"namespace\":\"" namespace "\"," labels                                                   \
                                    "\"uid\":\"uid-" namespace "\",\"resourceVersion\":\"" version \
                                                               "\"}}"
#define LIST_OF(items) "{\"metadata\":{},\"items\":[" items "]}"
#define STATUS(message) "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"message\":\"" message "\"}"

/* ---- a round ---- */

static struct arena *arena;
static struct world *world;
static struct reports_audit *audit;
static struct reports_writer *writer;
static struct reports_link link_to;
static struct reports_written written;
static struct error error;
static int64_t over_ms;   /* the replica leads until then */
static size_t over_asked; /* and until so much has been asked for */

static bool goes_on(void *context)
{
    CU_ASSERT_PTR_EQUAL(context, &over_ms);
    return monotonic_ms() < over_ms && script.asked_count < over_asked;
}

static void begin(void)
{
    script_begin();
    over_ms = INT64_MAX;
    over_asked = SIZE_MAX;
    arena = arena_create(32 << 20);
    world = world_of_text("{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: "
                          "p}, spec: {mode: enforce, rails: {topology-keys: {}}}}\n",
                          (struct world_options){0}, 1, NOW_S);
    audit = reports_audit_create(PLENTY);
    writer = reports_writer_create();
    link_to = (struct reports_link){.goes_on = goes_on, .context = &over_ms};
    CU_ASSERT_FATAL(audit != NULL && writer != NULL &&
                    client_open(NULL, NULL, &link_to.client, &error));
    reports_audit_begin(audit, NOW_S);
}

static void end(void)
{
    client_close(link_to.client);
    free(link_to.body);
    reports_writer_destroy(writer);
    reports_audit_destroy(audit);
    world_destroy(world);
    arena_destroy(arena);
    script_end();
}

/* A Pod with one finding. */
static void put_pod(const char *namespace, size_t number)
{
    struct text pod = arena_printf(
        arena,
        "{apiVersion: v1, kind: Pod, metadata: {name: pod-%zu}, spec: {topologySpreadConstraints: "
        "[{topologyKey: zone}]}}",
        number);
    reports_audit_put(audit, world, fixture_object(arena, pod.data, namespace));
}

static void audit_pods(size_t in_shop, size_t in_web)
{
    reports_audit_begin(audit, NOW_S);
    for (size_t i = 0; i < in_shop; i++)
        put_pod("shop", i);
    for (size_t i = 0; i < in_web; i++)
        put_pod("web", i);
}

static void reply(const char *request, unsigned status, const char *body)
{
    script_reply((struct script_reply){.request = request, .status = status, .body = body});
}

/* Its lists, of which each is empty where it is NULL. */
static void there_are(const char *reports, const char *cluster_reports)
{
    script_new_replies();
    reply("LIST " NEW_API "/reports?*", 200, reports == NULL ? LIST_OF("") : reports);
    reply("LIST " NEW_API "/clusterreports?*", 200,
          cluster_reports == NULL ? LIST_OF("") : cluster_reports);
}

static bool write_api(enum report_api api)
{
    written = (struct reports_written){0};
    error = (struct error){.kind = ERROR_USAGE};
    return reports_write(writer, &link_to, api, audit, &written, &error);
}

static bool write_all(void)
{
    return write_api(REPORT_API_OPENREPORTS);
}

#define ASSERT_WRITTEN(new, same, gone, no)  \
    do {                                     \
        ASSERT_INT(written.written, new);    \
        ASSERT_INT(written.unchanged, same); \
        ASSERT_INT(written.removed, gone);   \
        ASSERT_INT(written.failed, no);      \
    } while (0)

static const struct node *read_body(const char *body)
{
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error why;
    source->text = arena_text(arena, text_of(body));
    CU_ASSERT_FATAL(doc_read_json(source, &doc_limits_manifest, NULL, arena, &root, &why));
    return root;
}

static const char *joined(const char *first, const char *then, const char *last)
{
    return arena_printf(arena, "%s%s%s", first, then, last).data;
}

/* A report that was written, as the cluster then has it. */
static const char *as_stored(const char *body, const char *version)
{
    static const char metadata[] = "\"metadata\":{";
    const char *at = strstr(body, metadata);
    if (at == NULL)
        return body;
    at += strlen(metadata);
    return arena_printf(arena, "%.*s\"resourceVersion\":\"%s\",%s", (int)(at - body), body, version,
                        at)
        .data;
}

/* ---- asking ---- */

static const struct call_request get_shop = {
    .verb = CALL_GET, .resource = RESOURCE_REPORT, .namespace = "shop", .name = REPORT_NAME};

static void what_the_server_had_no_time_for_is_asked_again(void)
{
    static const struct {
        struct script_reply reply;
        int64_t at_s[4]; /* the later times of asking; 0: no more */
        enum call_result result;
    } cases[] = {
        {{.status = 200}, {0}, CALL_DONE},
        {{.status = 429}, {1, 3, 7}, CALL_BUSY},
        {{.status = 500}, {1, 3, 7}, CALL_FAILED},
        {{.status = 599}, {1, 3, 7}, CALL_FAILED},
        {{.status = 0, .failure = "nobody there"}, {1, 3, 7}, CALL_FAILED},
        {{.status = 503}, {1, 3, 7}, CALL_FAILED},
        /* it says when to come back, at most in a minute */
        {{.status = 429, .retry_after_s = 2}, {2, 4, 8}, CALL_BUSY},
        {{.status = 503, .retry_after_s = 30}, {30, 60, 90}, CALL_BUSY},
        {{.status = 429, .retry_after_s = 61}, {60, 120, 180}, CALL_BUSY},
        /* it has its time and then an answer */
        {{.status = 429, .times = 1}, {1}, CALL_MISSING},
        {{.status = 500, .times = 3}, {1, 3, 7}, CALL_MISSING},
        /* the same would be said again */
        {{.status = 400}, {0}, CALL_INVALID},
        {{.status = 403}, {0}, CALL_FORBIDDEN},
        {{.status = 404}, {0}, CALL_MISSING},
        {{.status = 409}, {0}, CALL_CONFLICT},
        {{.status = 413}, {0}, CALL_FAILED},
        {{.status = 499}, {0}, CALL_FAILED},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        struct script_reply first = cases[i].reply;
        first.request = "GET " OF_SHOP;
        script_reply(first);
        CU_ASSERT(reports_ask(&link_to, &get_shop));
        ASSERT_INT(link_to.answer.result, cases[i].result);
        for (size_t j = 0; j < script.asked_count; j++) {
            CU_ASSERT_FATAL(j < 4);
            ASSERT_INT(script.asked[j].at_ms,
                       SCRIPT_BEGINS_MS + (j == 0 ? 0 : cases[i].at_s[j - 1] * 1000));
        }
        size_t more = 0;
        while (more < 3 && cases[i].at_s[more] > 0)
            more++;
        ASSERT_INT(script.asked_count, more + 1);
        end();
    }
}

static void what_cannot_be_sent_is_tried_again(void)
{
    begin();
    reply("GET " OF_SHOP, 200, "{}");
    script.calls_fail = 1;
    CU_ASSERT(reports_ask(&link_to, &get_shop));
    ASSERT_INT(link_to.answer.result, CALL_DONE);
    ASSERT_INT(monotonic_ms(), SCRIPT_BEGINS_MS + 1000);
    script.calls_fail = 9;
    CU_ASSERT(reports_ask(&link_to, &get_shop));
    ASSERT_INT(link_to.answer.result, CALL_FAILED);
    ASSERT_TEXT(text_of(link_to.answer.problem), "the script sends nothing");
    ASSERT_INT(script.calls_fail, 5);
    end();
}

static void a_client_that_does_not_run_gives_no_answer(void)
{
    begin();
    script.runs_fail = 1;
    script_reply(
        (struct script_reply){.request = "GET " OF_SHOP, .status = 200, .after_ms = NEVER_MS});
    /* The pause before it is tried again fails, too. */
    script.runs_fail = 2;
    CU_ASSERT_FALSE(reports_ask(&link_to, &get_shop));
    ASSERT_INT(link_to.answer.result, CALL_FAILED);
    ASSERT_TEXT(text_of(link_to.answer.problem), "the script does not run");
    end();
}

/* Nobody waits for it any more. */
static void a_late_answer_is_that_of_no_other_request(void)
{
    static const struct {
        int64_t over_after_ms;
        unsigned runs_fail;
    } cases[] = {
        {500, 0},       /* it leads no more, and then again */
        {INT64_MAX, 2}, /* nor does the pause before another try run */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        if (cases[i].over_after_ms < INT64_MAX)
            over_ms = SCRIPT_BEGINS_MS + cases[i].over_after_ms;
        script.runs_fail = cases[i].runs_fail;
        script_reply((struct script_reply){.request = "GET " OF_SHOP,
                                           .status = 200,
                                           .body = "{\"a\":1}",
                                           .after_ms = 1500,
                                           .times = 1});
        script_reply((struct script_reply){.request = "GET " OF_SHOP,
                                           .status = 200,
                                           .body = "{\"b\":2}",
                                           .after_ms = 2000,
                                           .times = 1});
        CU_ASSERT_FALSE(reports_ask(&link_to, &get_shop));
        over_ms = INT64_MAX;
        int64_t begun_ms = monotonic_ms();
        CU_ASSERT(reports_ask(&link_to, &get_shop));
        ASSERT_TEXT(link_to.answer.body, "{\"b\":2}");
        ASSERT_INT(monotonic_ms(), begun_ms + 2000);
        end();
    }
}

/* The answer is the link's own, and stays until the next one. */
static void an_answer_is_kept(void)
{
    begin();
    script_reply((struct script_reply){
        .request = "GET " OF_SHOP, .status = 200, .body = "{\"a\":1}", .times = 1});
    script_reply((struct script_reply){
        .request = "GET " OF_SHOP, .status = 200, .body = "{\"b\":2}", .times = 1});
    CU_ASSERT(reports_ask(&link_to, &get_shop));
    ASSERT_TEXT(link_to.answer.body, "{\"a\":1}");
    CU_ASSERT(reports_ask(&link_to, &get_shop));
    ASSERT_TEXT(link_to.answer.body, "{\"b\":2}");
    CU_ASSERT(reports_ask(&link_to, &get_shop));
    ASSERT_INT(link_to.answer.result, CALL_MISSING);
    ASSERT_INT(link_to.answer.body.size, 0);
    CU_ASSERT_PTR_NULL(link_to.body);
    ASSERT_INT(monotonic_ms(), SCRIPT_BEGINS_MS);
    end();
}

/* Nothing is asked for by one who leads no more; a request that is under way may be a write, and
 * has a second. */
static void who_leads_no_more_asks_no_more(void)
{
    static const struct {
        int64_t over_after_ms;
        struct script_reply reply;
        bool answered;
        int64_t took_ms;
        size_t asked;
    } cases[] = {
        {0, {.status = 200}, false, 0, 0},
        {1, {.status = 200}, true, 0, 1},
        {500, {.status = 200, .after_ms = 900}, true, 900, 1},
        {500, {.status = 200, .after_ms = 1001}, false, 1000, 1},
        {1500, {.status = 200, .after_ms = 1900}, true, 1900, 1},
        {5000, {.status = 200, .after_ms = NEVER_MS}, false, 5000, 1},
        /* before it is asked again */
        {999, {.status = 500}, false, 1000, 1},
        {1001, {.status = 500}, false, 3000, 2},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        over_ms = SCRIPT_BEGINS_MS + cases[i].over_after_ms;
        struct script_reply only = cases[i].reply;
        only.request = "GET " OF_SHOP;
        script_reply(only);
        CU_ASSERT_EQUAL(reports_ask(&link_to, &get_shop), cases[i].answered);
        ASSERT_INT(monotonic_ms(), SCRIPT_BEGINS_MS + cases[i].took_ms);
        ASSERT_INT(script.asked_count, cases[i].asked);
        end();
    }
}

static void waiting_lasts_as_long_as_it_is_told(void)
{
    begin();
    /* Who wakes the client wakes it once, and the time is not over. */
    client_wake(link_to.client);
    CU_ASSERT(reports_wait(&link_to, 2500));
    ASSERT_INT(monotonic_ms(), SCRIPT_BEGINS_MS + 2500);
    CU_ASSERT(reports_wait(&link_to, 0));
    ASSERT_INT(monotonic_ms(), SCRIPT_BEGINS_MS + 2500);
    over_ms = monotonic_ms() + 10;
    CU_ASSERT_FALSE(reports_wait(&link_to, 10));
    CU_ASSERT_FALSE(reports_wait(&link_to, 10));
    ASSERT_INT(monotonic_ms(), over_ms);
    over_ms = INT64_MAX;
    script.runs_fail = 1;
    CU_ASSERT_FALSE(reports_wait(&link_to, 10));
    end();
}

/* ---- which API there is ---- */

static void the_newer_api_is_preferred(void)
{
    static const struct {
        unsigned newer, older;
        bool known;
        enum report_api api;
        const char *asked, *problem;
    } cases[] = {
        {200, 200, true, REPORT_API_OPENREPORTS, "DISCOVER " NEW_API "\n", ""},
        {404, 200, true, REPORT_API_WGPOLICY, "DISCOVER " NEW_API "\nDISCOVER " OLD_API "\n", ""},
        {404, 404, true, REPORTS_NO_API, "DISCOVER " NEW_API "\nDISCOVER " OLD_API "\n", ""},
        {403, 200, false, REPORTS_NO_API, "DISCOVER " NEW_API "\n",
         "reports cannot be looked for: answered 403: no"},
        {404, 403, false, REPORTS_NO_API, "DISCOVER " NEW_API "\nDISCOVER " OLD_API "\n",
         "policyreports cannot be looked for: answered 403: no"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        reply("DISCOVER " NEW_API, cases[i].newer, STATUS("no"));
        reply("DISCOVER " OLD_API, cases[i].older, STATUS("no"));
        enum report_api api = REPORTS_NO_API;
        CU_ASSERT_EQUAL(reports_discover(&link_to, &api, &error), cases[i].known);
        ASSERT_INT(error.kind, cases[i].known ? ERROR_NONE : ERROR_CLUSTER);
        if (cases[i].known)
            ASSERT_INT(api, cases[i].api);
        else
            ASSERT_TEXT(text_of(error.what), cases[i].problem);
        ASSERT_ASKED(cases[i].asked);
        end();
    }
    begin();
    over_ms = 0;
    enum report_api api;
    error.kind = ERROR_USAGE;
    CU_ASSERT_FALSE(reports_discover(&link_to, &api, &error));
    ASSERT_INT(error.kind, ERROR_NONE);
    end();
}

/* ---- what is written ---- */

static void a_report_is_made_for_each_namespace(void)
{
    begin();
    audit_pods(2, 1);
    reports_audit_miss(audit, "jobs", "answered 403");
    there_are(NULL, NULL);
    reply("PATCH *", 201, "{\"metadata\":{\"resourceVersion\":\"1\"}}");
    CU_ASSERT(write_all());
    ASSERT_INT(error.kind, ERROR_NONE);
    ASSERT_WRITTEN(3, 0, 0, 0);
    ASSERT_INT(written.left_out, 0);
    ASSERT_TEXT(text_of(written.problem), "");

    const struct node *report = read_body(script_last("PATCH " OF_SHOP "*").body);
    ASSERT_TEXT(node_string(node_get(report, "apiVersion")), "openreports.io/v1alpha1");
    ASSERT_TEXT(node_string(node_get(report, "kind")), "Report");
    ASSERT_TEXT(node_string(node_at(report, "metadata.name")), "taffrail");
    ASSERT_TEXT(node_string(node_at(report, "metadata.namespace")), "shop");
    ASSERT_INT(node_count(node_get(report, "results")), 2);
    report = read_body(script_last("PATCH " OF_CLUSTER "*").body);
    ASSERT_TEXT(node_string(node_get(report, "kind")), "ClusterReport");
    ASSERT_INT(node_count(node_get(report, "results")), 1);
    ASSERT_ASKED(LISTS "PATCH " OF_SHOP APPLIED "\nPATCH " OF_WEB APPLIED
                       "\nPATCH " OF_CLUSTER APPLIED "\n" NO_OLD);
    end();
}

/* What was written is known, and so is what was found to be right: as long as nobody else has
 * written it, it is not read again. */
static void what_is_known_is_not_read_again(void)
{
    static const struct {
        const char *version; /* in the cluster, before the round */
        size_t pods;
        const char *asked;
        uint64_t written, unchanged;
    } rounds[] = {
        {NULL, 1, "PATCH " OF_SHOP APPLIED "\n", 1, 0}, /* it has version 11 then */
        {"11", 1, "", 0, 1},
        {"11", 1, "", 0, 1}, /* also after two rounds */
        {"11", 2, "PATCH " OF_SHOP APPLIED "\n", 1, 0},
        {"11", 2, "", 0, 1},
        /* somebody else has written it: what it says counts */
        {"12", 2, "GET " OF_SHOP "\n", 0, 1},
        {"12", 2, "", 0, 1},
        {"13", 1, "GET " OF_SHOP "\nPATCH " OF_SHOP APPLIED "\n", 1, 0},
        {"11", 1, "", 0, 1},
    };
    begin();
    const char *last = "{}";
    for (size_t i = 0; i < COUNT_OF(rounds); i++) {
        const char *version = rounds[i].version == NULL ? "" : rounds[i].version;
        struct text list =
            arena_printf(arena, LIST_OF(ITEM("taffrail", "shop", OURS, "%s")), version);
        audit_pods(rounds[i].pods, 0);
        there_are(rounds[i].version == NULL ? NULL : list.data, NULL);
        reply("PATCH " OF_SHOP "*", 200, "{\"metadata\":{\"resourceVersion\":\"11\"}}");
        reply("GET " OF_SHOP, 200, as_stored(last, version));
        CU_ASSERT(write_all());
        ASSERT_WRITTEN(rounds[i].written, rounds[i].unchanged, 0, 0);
        if (script_count("PATCH *") > 0)
            last = arena_text(arena, text_of(script_last("PATCH *").body)).data;
        ASSERT_ASKED(joined(LISTS, rounds[i].asked, NO_OLD));
    }
    end();
}

/* The other API's versions are others. */
static void what_is_known_is_of_one_api(void)
{
    begin();
    audit_pods(1, 0);
    there_are(NULL, NULL);
    reply("PATCH *", 200, "{\"metadata\":{\"resourceVersion\":\"11\"}}");
    CU_ASSERT(write_all());
    script_new_replies();
    script_forget_asked();
    reply("LIST " OLD_API "/policyreports?*", 200, LIST_OF(ITEM("taffrail", "shop", OURS, "11")));
    reply("LIST " OLD_API "/clusterpolicyreports?*", 200, LIST_OF(""));
    reply("PATCH *", 200, "{\"metadata\":{\"resourceVersion\":\"12\"}}");
    CU_ASSERT(write_api(REPORT_API_WGPOLICY));
    ASSERT_WRITTEN(1, 0, 0, 0);
    /* Nothing is older. */
    ASSERT_ASKED(LISTS_OLD "GET " OLD_API "/namespaces/shop/policyreports/taffrail\n"
                           "PATCH " OLD_API "/namespaces/shop/policyreports/taffrail" APPLIED "\n");
    end();
}

/* A report that is there, and what is done about it. */
static void reports_of_others_are_left_alone(void)
{
    static const struct {
        const char *there;
        unsigned status;
        const char *read; /* what a GET shows; NULL: the report that is to be written */
        const char *asked;
        uint64_t written, unchanged, failed;
    } cases[] = {
        {ITEM("taffrail", "shop", OURS, "5"), 200, NULL, "GET " OF_SHOP "\n", 0, 1, 0},
        {ITEM("taffrail", "shop", OURS, "5"), 200, "{\"metadata\":{" OURS "\"name\":\"taffrail\"}}",
         "GET " OF_SHOP "\nPATCH " OF_SHOP APPLIED "\n", 1, 0, 0},
        /* it is gone, or cannot be read */
        {ITEM("taffrail", "shop", OURS, "5"), 404, "",
         "GET " OF_SHOP "\nPATCH " OF_SHOP APPLIED "\n", 1, 0, 0},
        {ITEM("taffrail", "shop", OURS, "5"), 403, "",
         "GET " OF_SHOP "\nPATCH " OF_SHOP APPLIED "\n", 1, 0, 0},
        /* another one has it now */
        {ITEM("taffrail", "shop", OURS, "5"), 200, "{\"metadata\":{\"name\":\"taffrail\"}}",
         "GET " OF_SHOP "\n", 0, 0, 1},
        {ITEM("taffrail", "shop", OURS, "5"), 200, "nothing that can be read", "GET " OF_SHOP "\n",
         0, 0, 1},
        {ITEM("taffrail", "shop", "", "5"), 200, NULL, "", 0, 0, 1},
        {ITEM("taffrail", "shop", "\"labels\":{\"app.kubernetes.io/managed-by\":\"taffrails\"},",
              "5"),
         200, NULL, "", 0, 0, 1},
        /* another name, though the API server was asked for one alone */
        {ITEM("kyverno", "shop", "", "5"), 200, NULL, "PATCH " OF_SHOP APPLIED "\n", 1, 0, 0},
        /* another namespace: nothing is ours there, and nothing is removed */
        {ITEM("taffrail", "web", "", "5"), 200, NULL, "PATCH " OF_SHOP APPLIED "\n", 1, 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        audit_pods(1, 0);
        there_are(NULL, NULL);
        reply("PATCH *", 200, "{}");
        CU_ASSERT(write_all());
        const char *wanted = arena_text(arena, text_of(script_last("PATCH *").body)).data;
        reports_writer_destroy(writer); /* one that knows nothing */
        writer = reports_writer_create();
        script_forget_asked();
        there_are(arena_printf(arena, LIST_OF("%s"), cases[i].there).data, NULL);
        reply("GET *", cases[i].status, cases[i].read == NULL ? wanted : cases[i].read);
        reply("PATCH *", 200, "{}");
        struct listening listening = listen_to_log();
        CU_ASSERT(write_all());
        struct text log = heard(&listening);
        ASSERT_WRITTEN(cases[i].written, cases[i].unchanged, 0, cases[i].failed);
        ASSERT_HEARD(log, "the Report cannot be written", cases[i].failed);
        ASSERT_TEXT(text_of(written.problem),
                    cases[i].failed == 0
                        ? ""
                        : "the Report of shop cannot be written: there is one of this name that "
                          "others have made (without the label app.kubernetes.io/managed-by="
                          "taffrail): remove or rename it");
        ASSERT_ASKED(joined(LISTS, cases[i].asked, NO_OLD));
        end();
    }
}

/* ---- lists ---- */

static void lists_are_read_page_by_page(void)
{
    begin();
    audit_pods(0, 0);
    script_reply(
        (struct script_reply){.request = "LIST " NEW_API "/reports" OF_NAME,
                              .status = 200,
                              .body = "{\"metadata\":{\"continue\":\"next/1\"},\"items\":[" ITEM(
                                  "taffrail", "shop", OURS, "5") "]}"});
    script_reply(
        (struct script_reply){.request = "LIST " NEW_API "/reports" OF_NAME "&continue=next%2F1",
                              .status = 200,
                              .body = LIST_OF(ITEM("taffrail", "web", OURS, "6"))});
    reply("LIST " NEW_API "/clusterreports?*", 200, LIST_OF(ITEM("taffrail", "", OURS, "7")));
    reply("DELETE *", 200, "{}");
    CU_ASSERT(write_all());
    ASSERT_WRITTEN(0, 0, 3, 0);
    ASSERT_ASKED("LIST " NEW_API "/reports" OF_NAME "\nLIST " NEW_API "/reports" OF_NAME
                 "&continue=next%2F1\nLIST " NEW_API "/clusterreports" OF_NAME "\nDELETE " OF_SHOP
                 "\nDELETE " OF_WEB "\nDELETE " OF_CLUSTER "\n" NO_OLD);
    end();
}

/* Without the whole list nothing is written, as it is not known what is there. */
static void without_a_list_nothing_is_written(void)
{
    static const struct {
        unsigned status;
        const char *body, *problem; /* of the list of reports; NULL: it can be read */
    } cases[] = {
        {200, "{\"metadata\":{},\"items\":null}", NULL},
        {200, "{\"metadata\":{}}", "the list of %s cannot be read"},
        {200, "{\"items\":[", "the list of %s cannot be read"},
        {200, "", "the list of %s cannot be read"},
        {403, STATUS("no"), "%s cannot be listed: answered 403: no"},
        {404, STATUS("no"), "%s cannot be listed: answered 404: no"},
        {500, STATUS("no"), "%s cannot be listed: answered 500: no"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (size_t second = 0; second < 2; second++) {
            const char *of[2] = {"LIST " NEW_API "/reports?*", "LIST " NEW_API "/clusterreports?*"};
            char problem[128];
            begin();
            audit_pods(1, 0);
            reply(of[second], cases[i].status, cases[i].body);
            reply(of[!second], 200, LIST_OF(ITEM("taffrail", "web", OURS, "6")));
            reply("PATCH *", 200, "{}");
            reply("DELETE *", 200, "{}");
            CU_ASSERT_EQUAL(write_all(), cases[i].problem == NULL);
            if (cases[i].problem == NULL) {
                ASSERT_WRITTEN(1, 0, 1, 0);
                ASSERT_INT(error.kind, ERROR_NONE);
            } else {
                ASSERT_WRITTEN(0, 0, 0, 0);
                ASSERT_INT(error.kind, ERROR_CLUSTER);
                snprintf(problem, sizeof problem, cases[i].problem,
                         second ? "clusterreports" : "reports");
                ASSERT_TEXT(text_of(error.what), problem);
                ASSERT_INT(script_count("PATCH *") + script_count("DELETE *"), 0);
            }
            end();
        }
}

/* ---- what the API server refuses ---- */

/* Half as many results, until it is small enough. */
static void a_report_that_is_too_large_gets_smaller(void)
{
    static const struct {
        unsigned status;
        const char *message;
        unsigned times;
        size_t pods, results, left_out;
        uint64_t failed;
    } cases[] = {
        {413, "no", 1, 9, 4, 5, 0},
        {413, "no", 3, 9, 1, 8, 0},
        /* another try may help, and after four it is smaller */
        {500, "etcdserver: request is too large", 3, 9, 9, 0, 0},
        {500, "etcdserver: request is too large", 4, 9, 4, 5, 0},
        {400, "the request is too large", 2, 9, 2, 7, 0},
        {422, "metadata.annotations: Too long: may not be more than 262144 bytes", 1, 2, 1, 1, 0},
        /* one result that is too large */
        {413, "no", 0, 1, 1, 0, 1},
        {413, "no", 0, 5, 1, 4, 1},
        {422, "it is too long", 0, 5, 5, 0, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        audit_pods(cases[i].pods, 1);
        there_are(NULL, NULL);
        const char *status = arena_printf(arena, STATUS("%s"), cases[i].message).data;
        script_reply((struct script_reply){.request = "PATCH " OF_SHOP "*",
                                           .status = cases[i].status,
                                           .body = status,
                                           .times = cases[i].times});
        reply("PATCH *", 200, "{}");
        struct listening listening = listen_to_log();
        CU_ASSERT(write_all());
        struct text log = heard(&listening);
        /* The other namespace has its report all the same, and whole. */
        ASSERT_WRITTEN(cases[i].failed == 0 ? 2 : 1, 0, 0, cases[i].failed);
        ASSERT_HEARD(log, "the Report cannot be written", cases[i].failed);
        const struct node *report = read_body(script_last("PATCH " OF_SHOP "*").body);
        ASSERT_INT(node_count(node_get(report, "results")), cases[i].results);
        ASSERT_INT(written.left_out, cases[i].left_out);
        end();
    }
}

/* Because etcd takes no more; what is left out is counted. */
static void a_report_has_so_many_results(void)
{
    begin();
    audit_pods(REPORT_RESULTS_MAX + 3, 1);
    there_are(NULL, NULL);
    reply("PATCH *", 200, "{}");
    CU_ASSERT(write_all());
    const struct node *report = read_body(script_last("PATCH " OF_SHOP "*").body);
    ASSERT_INT(node_count(node_get(report, "results")), REPORT_RESULTS_MAX);
    ASSERT_INT(written.left_out, 3);
    end();
}

static void what_cannot_be_written_is_said(void)
{
    static const struct {
        unsigned status;
        const char *message;
        uint64_t failed;
        bool looked_again; /* for the API */
    } cases[] = {
        {403, "reports is forbidden: no", 1, false},
        {422, "reports is invalid", 1, false},
        {409, "conflict", 1, false},
        {500, "on fire", 1, false},
        /* a namespace that ends, and one that has ended */
        {403, "namespace shop is being terminated", 0, false},
        {404, "namespaces shop not found", 0, true},
        {409, "shop is being terminated", 1, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        audit_pods(1, 1);
        there_are(NULL, NULL);
        reply("PATCH " OF_SHOP "*", cases[i].status,
              arena_printf(arena, STATUS("%s"), cases[i].message).data);
        reply("PATCH *", 200, "{}");
        reply("DISCOVER " NEW_API, 200, "{}");
        struct listening listening = listen_to_log();
        CU_ASSERT(write_all());
        struct text log = heard(&listening);
        ASSERT_INT(error.kind, ERROR_NONE);
        ASSERT_WRITTEN(1, 0, 0, cases[i].failed);
        ASSERT_HEARD(log, "the Report cannot be written", cases[i].failed);
        ASSERT_HEARD(log, "\"object\":\"shop\"", cases[i].failed);
        ASSERT_TEXT(text_of(written.problem),
                    cases[i].failed == 0
                        ? ""
                        : arena_printf(arena,
                                       "the Report of shop cannot be written: answered %u: %s",
                                       cases[i].status, cases[i].message)
                              .data);
        ASSERT_INT(script_count("DISCOVER " NEW_API), cases[i].looked_again);
        end();
    }
}

static void of_the_cluster_it_is_said_so(void)
{
    begin();
    reports_audit_miss(audit, "jobs", "answered 403");
    there_are(NULL, NULL);
    reply("PATCH *", 403, STATUS("no"));
    struct listening listening = listen_to_log();
    CU_ASSERT(write_all());
    ASSERT_HEARD(heard(&listening), "\"object\":\"the cluster\"", 1);
    ASSERT_TEXT(text_of(written.problem),
                "the ClusterReport of the cluster cannot be written: answered 403: no");
    end();
}

/* The API itself is gone when no report finds its resource. */
static void an_api_that_is_gone_is_looked_for_again(void)
{
    static const struct {
        unsigned newer, older;
        bool done;
        enum error_kind kind;
        const char *problem;
    } cases[] = {
        {200, 200, true, ERROR_NONE, ""},
        {404, 200, false, ERROR_CLUSTER, "the API of the reports is gone; it is looked for again"},
        {404, 404, false, ERROR_CLUSTER, "the API of the reports is gone; it is looked for again"},
        {403, 200, false, ERROR_CLUSTER, "reports cannot be looked for: answered 403: no"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        audit_pods(1, 0);
        there_are(NULL, NULL);
        reply("LIST *", 200, LIST_OF(""));
        reply("PATCH *", 404, STATUS("no"));
        reply("DISCOVER " NEW_API, cases[i].newer, STATUS("no"));
        reply("DISCOVER " OLD_API, cases[i].older, STATUS("no"));
        CU_ASSERT_EQUAL(write_all(), cases[i].done);
        ASSERT_INT(error.kind, cases[i].kind);
        if (!cases[i].done)
            ASSERT_TEXT(text_of(error.what), cases[i].problem);
        ASSERT_WRITTEN(0, 0, 0, 0);
        end();
    }
}

/* ---- what is removed ---- */

static void reports_of_clean_namespaces_are_removed(void)
{
    static const struct {
        const char *there, *cluster_there;
        unsigned status;
        const char *message, *asked;
        uint64_t removed, failed;
        const char *problem;
    } cases[] = {
        {ITEM("taffrail", "web", OURS, "6"), NULL, 200, "", "DELETE " OF_WEB "\n", 1, 0, ""},
        {NULL, ITEM("taffrail", "", OURS, "6"), 200, "", "DELETE " OF_CLUSTER "\n", 1, 0, ""},
        {ITEM("taffrail", "web", "", "6"), ITEM("other", "", OURS, "6"), 200, "", "", 0, 0, ""},
        /* another one was quicker, or it has another owner now */
        {ITEM("taffrail", "web", OURS, "6"), NULL, 404, "no", "DELETE " OF_WEB "\n", 0, 0, ""},
        {ITEM("taffrail", "web", OURS, "6"), NULL, 409, "no", "DELETE " OF_WEB "\n", 0, 0, ""},
        {ITEM("taffrail", "web", OURS, "6"), NULL, 403, "no", "DELETE " OF_WEB "\n", 0, 1,
         "the Report of web cannot be removed: answered 403: no"},
        {NULL, ITEM("taffrail", "", OURS, "6"), 403, "no", "DELETE " OF_CLUSTER "\n", 0, 1,
         "the ClusterReport of the cluster cannot be removed: answered 403: no"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        audit_pods(1, 0);
        const char *lists[2] = {NULL, NULL};
        const char *items[2] = {cases[i].there, cases[i].cluster_there};
        for (size_t j = 0; j < 2; j++)
            if (items[j] != NULL)
                lists[j] = arena_printf(arena, LIST_OF("%s"), items[j]).data;
        there_are(lists[0], lists[1]);
        reply("PATCH *", 200, "{}");
        reply("DELETE *", cases[i].status,
              arena_printf(arena, STATUS("%s"), cases[i].message).data);
        struct listening listening = listen_to_log();
        CU_ASSERT(write_all());
        struct text log = heard(&listening);
        ASSERT_WRITTEN(1, 0, cases[i].removed, cases[i].failed);
        ASSERT_TEXT(text_of(written.problem), cases[i].problem);
        ASSERT_HEARD(log, "cannot be removed", cases[i].failed);
        if (cases[i].asked[0] != '\0') {
            const struct node *options = read_body(script_last("DELETE *").body);
            ASSERT_TEXT(node_string(node_get(options, "kind")), "DeleteOptions");
            ASSERT_TEXT(node_string(node_at(options, "preconditions.uid")),
                        cases[i].there != NULL ? "uid-web" : "uid-");
            ASSERT_TEXT(node_string(node_at(options, "preconditions.resourceVersion")), "6");
        }
        ASSERT_ASKED(joined(LISTS "PATCH " OF_SHOP APPLIED "\n", cases[i].asked, NO_OLD));
        end();
    }
}

/* As long as the API server likes, and whatever it has in it. */
static void the_report_that_was_listed_is_removed(void)
{
    enum { LONG = 3000 };
    char uid[LONG + 1];
    memset(uid, 'u', LONG);
    uid[LONG] = '\0';
    begin();
    audit_pods(1, 0);
    there_are(
        arena_printf(arena,
                     LIST_OF("{\"metadata\":{\"name\":\"taffrail\",\"namespace\":\"web\"," OURS
                             "\"uid\":\"%s\",\"resourceVersion\":\"6\\\",\\\"a\"}}"),
                     uid)
            .data,
        NULL);
    reply("PATCH *", 200, "{}");
    reply("DELETE *", 200, "{}");
    CU_ASSERT(write_all());
    ASSERT_WRITTEN(1, 0, 1, 0);
    const struct node *options = read_body(script_last("DELETE *").body);
    ASSERT_TEXT(node_string(node_at(options, "preconditions.uid")), uid);
    ASSERT_TEXT(node_string(node_at(options, "preconditions.resourceVersion")), "6\",\"a");
    end();
}

/* What was written before the newer API came is ours to remove; wherever the older one is there. */
static void reports_of_the_older_api_are_removed(void)
{
    begin();
    audit_pods(1, 0);
    there_are(NULL, NULL);
    reply("PATCH *", 200, "{}");
    reply("DISCOVER " OLD_API, 200, "{}");
    reply("LIST " OLD_API "/policyreports?*", 200,
          LIST_OF(ITEM("taffrail", "shop", OURS, "6") "," ITEM("taffrail", "web", "", "6")));
    reply("LIST " OLD_API "/clusterpolicyreports?*", 200, LIST_OF(ITEM("taffrail", "", OURS, "6")));
    reply("DELETE *", 200, "{}");
    CU_ASSERT(write_all());
    ASSERT_WRITTEN(1, 0, 2, 0);
    ASSERT_ASKED(LISTS "PATCH " OF_SHOP APPLIED "\nDISCOVER " OLD_API "\n" LISTS_OLD
                       "DELETE " OLD_API "/namespaces/shop/policyreports/taffrail\n"
                       "DELETE " OLD_API "/clusterpolicyreports/taffrail\n");
    end();

    /* Where they cannot be listed, the round has failed. */
    static const char *const resources[] = {"policyreports", "clusterpolicyreports"};
    for (size_t i = 0; i < COUNT_OF(resources); i++) {
        begin();
        there_are(NULL, NULL);
        reply("DISCOVER " OLD_API, 200, "{}");
        reply(arena_printf(arena, "LIST " OLD_API "/%s?*", resources[i]).data, 403, STATUS("no"));
        reply("LIST *", 200, LIST_OF(ITEM("taffrail", "shop", OURS, "6")));
        CU_ASSERT_FALSE(write_all());
        ASSERT_INT(error.kind, ERROR_CLUSTER);
        ASSERT_TEXT(
            text_of(error.what),
            arena_printf(arena, "%s cannot be listed: answered 403: no", resources[i]).data);
        ASSERT_INT(script_count("DELETE *"), 0);
        end();
    }
}

/* ---- the end of leading ---- */

/* Wherever it is in a round, it breaks off there, and that is no error. */
static void a_round_breaks_off_where_the_replica_leads_no_more(void)
{
    for (size_t asked = 0; asked <= 10; asked++) {
        begin();
        audit_pods(1, 1);
        there_are(
            LIST_OF(ITEM("taffrail", "shop", OURS, "6") "," ITEM("taffrail", "old", OURS, "6")),
            NULL);
        reply("DISCOVER " OLD_API, 200, "{}");
        reply("LIST " OLD_API "/policyreports?*", 200,
              LIST_OF(ITEM("taffrail", "shop", OURS, "6")));
        reply("LIST *", 200, LIST_OF(""));
        reply("PATCH *", 200, "{}");
        reply("DELETE *", 200, "{}");
        over_asked = asked;
        /* lists, shop read and written, web written, old removed; discovered, lists, removed */
        CU_ASSERT_EQUAL(write_all(), asked == 10);
        ASSERT_INT(error.kind, ERROR_NONE);
        ASSERT_INT(script.asked_count, asked);
        end();
    }
}

const struct unit_test unit_tests[] = {
    {"what the server had no time for is asked again",
     what_the_server_had_no_time_for_is_asked_again},
    {"what cannot be sent is tried again", what_cannot_be_sent_is_tried_again},
    {"a client that does not run gives no answer", a_client_that_does_not_run_gives_no_answer},
    {"a late answer is that of no other request", a_late_answer_is_that_of_no_other_request},
    {"an answer is kept", an_answer_is_kept},
    {"who leads no more asks no more", who_leads_no_more_asks_no_more},
    {"waiting lasts as long as it is told", waiting_lasts_as_long_as_it_is_told},
    {"the newer API is preferred", the_newer_api_is_preferred},
    {"a report is made for each namespace", a_report_is_made_for_each_namespace},
    {"what is known is not read again", what_is_known_is_not_read_again},
    {"what is known is of one API", what_is_known_is_of_one_api},
    {"reports of others are left alone", reports_of_others_are_left_alone},
    {"lists are read page by page", lists_are_read_page_by_page},
    {"without a list nothing is written", without_a_list_nothing_is_written},
    {"a report that is too large gets smaller", a_report_that_is_too_large_gets_smaller},
    {"a report has so many results", a_report_has_so_many_results},
    {"what cannot be written is said", what_cannot_be_written_is_said},
    {"of the cluster it is said so", of_the_cluster_it_is_said_so},
    {"an API that is gone is looked for again", an_api_that_is_gone_is_looked_for_again},
    {"reports of clean namespaces are removed", reports_of_clean_namespaces_are_removed},
    {"the report that was listed is removed", the_report_that_was_listed_is_removed},
    {"reports of the older API are removed", reports_of_the_older_api_are_removed},
    {"a round breaks off where the replica leads no more",
     a_round_breaks_off_where_the_replica_leads_no_more},
    {NULL, NULL},
};
