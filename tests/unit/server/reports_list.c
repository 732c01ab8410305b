/* What an audit lists, in which order, and what ends it: the events of each list are a test's. */
#include "object_fixture.h"
#include "scripted_client.h"
#include "server/informer.h"
#include "server/reports.h"
#include "world_of_text.h"

const char unit_suite[] = "server/reports list";

enum { NOW_S = 1795230245, PLENTY = 16 << 20, SLOT = 1, SLOTS = 2 };

/* What happens to a kind that is watched, a letter each. At a space nothing more happens until
 * client_run is called again. */
enum event_letter {
    LIST_BEGINS = 'b',
    LIST_ENDS = 'e',
    OBJECT = 'o',
    UNREADABLE = 'u',
    REMOVED = 'r',
    SAID = 's',     /* a message for people */
    FAILURE = 'f',  /* a request got no answer */
    REFUSED = 'd',  /* 403 */
    NO_SUCH = 'D',  /* 404 */
    POLICIES = 'p', /* others are in force */
    LEADS_NO_MORE = 'x',
};

static struct arena *arena;
static struct reports_audit *audit;
static struct reports_link link_to;
static struct cell *worlds;
static struct error error;
static const char *events_of[KIND_COUNT]; /* NULL: an empty list */
static unsigned destroyed;                /* worlds */
static bool over;
static char listed[1024]; /* the kinds, in their order */
static unsigned runs;
static enum kind listing; /* the kind whose events are told */
static const char *next;  /* of them */
static bool goes_further; /* over the next space */

static bool goes_on(void *context)
{
    CU_ASSERT_PTR_EQUAL(context, &over);
    return !over;
}

static void destroy(void *world)
{
    destroyed++;
    world_destroy(world);
}

static void publish(uint64_t generation, const char *rails)
{
    char policy[512];
    snprintf(policy, sizeof policy,
             "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: p}, spec: "
             "{mode: enforce, rails: {%s}}}\n",
             rails);
    cell_publish(worlds, world_of_text(policy, (struct world_options){0}, generation, NOW_S),
                 destroy);
}

static const struct object *object_of(enum kind kind)
{
    static unsigned number;
    const char *group = kind_table[kind].group;
    struct text yaml =
        arena_printf(arena, "{apiVersion: %s%sv1, kind: %s, metadata: {name: a-%u}, spec: {%s}}",
                     group, group[0] == '\0' ? "" : "/", kind_table[kind].name, number++,
                     kind == KIND_POD ? "topologySpreadConstraints: [{topologyKey: zone}]" : "");
    return fixture_object(arena, yaml.data, "shop");
}

static void happen(enum kind kind, enum event_letter letter)
{
    struct script_watch *watch = &script.of[kind];
    const struct event_handler *handler = &watch->handler;
    switch (letter) {
    case LIST_BEGINS:
        CU_ASSERT(handler->list_begin(handler->context, kind));
        break;
    case LIST_ENDS:
        CU_ASSERT(handler->list_end(handler->context, kind));
        break;
    case OBJECT:
        CU_ASSERT(handler->put(handler->context, object_of(kind)));
        break;
    case UNREADABLE:
        CU_ASSERT(handler->put_unreadable(handler->context, object_of(kind), "bad"));
        break;
    case REMOVED:
        CU_ASSERT(handler->remove(handler->context, object_of(kind)));
        break;
    case SAID:
        handler->say(handler->context, kind, LOG_WARN, "something");
        break;
    case FAILURE:
        watch->report.failures++;
        snprintf(watch->report.problem, sizeof watch->report.problem, "nobody there");
        break;
    case REFUSED:
    case NO_SUCH:
        watch->report.degraded = true;
        watch->report.refused_status = letter == REFUSED ? 403 : 404;
        snprintf(watch->report.problem, sizeof watch->report.problem, "answered %u",
                 watch->report.refused_status);
        break;
    case POLICIES:
        publish(2, "topology-keys: {}");
        break;
    case LEADS_NO_MORE:
        over = true;
        break;
    }
}

/* There is one list at a time. */
static enum kind watched_kind(void)
{
    enum kind watched = KIND_COUNT;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (script.of[kind].watched) {
            CU_ASSERT_EQUAL(watched, KIND_COUNT);
            watched = kind;
        }
    return watched;
}

static void note_run(int64_t for_ms)
{
    ASSERT_INT(for_ms, 1000);
    runs++;
    goes_further = true;
}

/* What is left up to the next space. */
static bool turn(void)
{
    enum kind kind = watched_kind();
    CU_ASSERT_FATAL(kind < KIND_COUNT);
    if (kind != listing) {
        size_t size = strlen(listed);
        snprintf(listed + size, sizeof listed - size, "%s ", kind_table[kind].plural);
        next = events_of[kind] == NULL ? "be" : events_of[kind];
        listing = kind;
    }
    if (*next == ' ' && goes_further)
        next++;
    goes_further = false;
    const char *first = next;
    for (; *next != '\0' && *next != ' '; next++)
        happen(kind, (enum event_letter) * next);
    return next != first;
}

static void begin(const char *rails)
{
    script_begin();
    script.turn = turn;
    script.runs = note_run;
    arena = arena_create(32 << 20);
    audit = reports_audit_create(PLENTY);
    worlds = cell_create(SLOTS);
    link_to = (struct reports_link){.goes_on = goes_on, .context = &over};
    CU_ASSERT_FATAL(audit != NULL && worlds != NULL &&
                    client_open(NULL, NULL, &link_to.client, &error));
    memset(events_of, 0, sizeof events_of);
    destroyed = runs = 0;
    over = false;
    listed[0] = '\0';
    listing = KIND_COUNT;
    publish(1, rails);
    reports_audit_begin(audit, NOW_S);
}

static void end(void)
{
    CU_ASSERT_EQUAL(watched_kind(), KIND_COUNT);
    /* No world is held any more. */
    unsigned before = destroyed;
    publish(3, "topology-keys: {}");
    ASSERT_INT(destroyed, before + 1);
    cell_destroy(worlds);
    client_close(link_to.client);
    reports_audit_destroy(audit);
    arena_destroy(arena);
    script_end();
}

static bool list(void)
{
    error = (struct error){.kind = ERROR_USAGE};
    return reports_list(&link_to, worlds, SLOT, audit, &error);
}

/* ---- tests ---- */

/* Owners come before what is made of them, since their findings are not said again. */
static void owners_are_listed_first(void)
{
    static const struct {
        const char *rails, *listed;
    } cases[] = {
        {"topology-keys: {}", "cronjobs deployments daemonsets statefulsets replicasets "
                              "replicationcontrollers jobs pods "
                              "podtemplates "},
        {"pool-limits: {}", "nodepools "},
        {"", ""}, /* nobody is judged */
        {"pool-limits: {}, pod-disruption-budgets: {}", "nodepools poddisruptionbudgets "},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(cases[i].rails);
        CU_ASSERT(list());
        ASSERT_INT(error.kind, ERROR_NONE);
        ASSERT_TEXT(text_of(listed), cases[i].listed);
        /* The end of a list is the end of waiting. */
        ASSERT_INT(monotonic_ms(), SCRIPT_BEGINS_MS);
        end();
    }
}
static void whole_objects_are_listed_in_small_pages(void)
{
    begin("topology-keys: {}");
    CU_ASSERT(list());
    for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
        const struct watch_settings *settings = &script.of[kind].settings;
        if (script.of[kind].count == 0)
            continue;
        CU_ASSERT(settings->whole);
        ASSERT_INT(settings->page_objects, 250);
        ASSERT_INT(settings->page_bytes_max, 4 << 20);
        ASSERT_INT(settings->object_bytes_max, 4 << 20);
        CU_ASSERT_PTR_NULL(settings->budget);
        CU_ASSERT_PTR_NULL(settings->custom);
    }
    /* By chance both are the same once in 2^64. */
    CU_ASSERT_NOT_EQUAL(script.of[KIND_POD].settings.seed, script.of[KIND_JOB].settings.seed);
    end();
}

/* What happens to the Pods, which are followed by one more list, that of PodTemplates. */
static void a_list_ends_or_the_audit_does(void)
{
    static const struct {
        const char *events;
        size_t objects;
        const char *missed; /* what the audit says of the whole cluster */
        bool goes_on;       /* to the next kind */
        const char *problem;
        unsigned waits; /* of a second */
    } cases[] = {
        {"be", 0, NULL, true, "", 0},
        {"booe", 2, NULL, true, "", 0},
        {"bo o e", 2, NULL, true, "", 2},
        {"boure", 1, NULL, true, "", 0},
        /* a message ends no list, and it is looked at the report at once */
        {"bos oe", 2, NULL, true, "", 0},
        /* what comes after the end is of a watch, which nobody asked for */
        {"boeo", 1, NULL, true, "", 0},
        /* it may not be listed, or the cluster has none */
        {"ds", 0, "pods are not audited: they cannot be listed (answered 403).", true, "", 0},
        {"Ds", 0, NULL, true, "", 0},
        {"d", 0, "pods are not audited: they cannot be listed (answered 403).", true, "", 1},
        /* nobody answers, and then somebody does */
        {"f f f boe", 1, NULL, true, "", 3},
        {"fffs x", 0, NULL, false, "", 1},
        {"f f f f", 0, NULL, false, "pods cannot be listed: nobody there", 4},
        {"ffffsboe", 1, NULL, true, "", 0},
        /* a list that begins twice before its first object has lost nothing */
        {"bbooe", 2, NULL, true, "", 0},
        {"boboe", 1, NULL, false, "the list of pods broke off: it had to begin again", 0},
        {"bofbs", 1, NULL, false, "the list of pods broke off: nobody there", 0},
        /* judged by other policies it would be half of each */
        {"bopoe", 1, NULL, false, "", 0},
        {"bpoe", 0, NULL, false, "", 0},
        /* somebody else leads */
        {"boxoe", 1, NULL, false, "", 0},
        {"x", 0, NULL, false, "", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin("topology-keys: {}");
        events_of[KIND_POD] = cases[i].events;
        bool done = list();
        struct reports_audit_sums sums = reports_audit_sums(audit);
        ASSERT_INT(done, cases[i].goes_on);
        ASSERT_INT(strstr(listed, "podtemplates") != NULL, cases[i].goes_on);
        ASSERT_INT(sums.object_count, cases[i].objects);
        ASSERT_INT(error.kind, cases[i].problem[0] == '\0' ? ERROR_NONE : ERROR_CLUSTER);
        if (cases[i].problem[0] != '\0')
            ASSERT_TEXT(text_of(error.what), cases[i].problem);
        size_t spaces = reports_audit_space_count(audit);
        ASSERT_INT(spaces, (cases[i].objects > 0) + (cases[i].missed != NULL));
        if (cases[i].missed != NULL) {
            struct report_space of = reports_audit_space(audit, spaces - 1, 10, arena);
            ASSERT_TEXT(of.namespace, "");
            ASSERT_TEXT(node_string(node_get(&of.results[0], "message")), cases[i].missed);
        }
        ASSERT_INT((monotonic_ms() - SCRIPT_BEGINS_MS) / 1000, cases[i].waits);
        end();
    }
}

static void an_audit_does_not_begin_without_a_client(void)
{
    begin("topology-keys: {}");
    script.watches_fail = 1;
    CU_ASSERT_FALSE(list());
    ASSERT_INT(error.kind, ERROR_MEMORY);
    ASSERT_TEXT(text_of(listed), "");
    script.runs_fail = 1;
    CU_ASSERT_FALSE(list());
    ASSERT_INT(error.kind, ERROR_IO);
    ASSERT_TEXT(text_of(error.what), "the script does not run");
    over = true;
    CU_ASSERT_FALSE(list());
    ASSERT_INT(error.kind, ERROR_NONE);
    ASSERT_INT(runs, 1);
    end();
}

const struct unit_test unit_tests[] = {
    {"owners are listed first", owners_are_listed_first},
    {"whole objects are listed in small pages", whole_objects_are_listed_in_small_pages},
    {"a list ends, or the audit does", a_list_ends_or_the_audit_does},
    {"an audit does not begin without a client", an_audit_does_not_begin_without_a_client},
    {NULL, NULL},
};
