/* labels: threads */
/* What is seen of a live cluster, and when, by a clock that the test turns. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kube/snapshot.h"
#include "log_fixture.h"
#include "server/informer.h"
#include "unit.h"
#include "world_of_text.h"

const char unit_suite[] = "server informer";

enum { SLOT = 0, OTHER_SLOT = 1, SLOTS = 4, START_MS = 5000 };

static struct publisher *publisher;
static struct cluster_status *cluster_status;
static struct informer *informer;
static struct event_handler handler;
static struct watch_report reports[KIND_COUNT];
static int64_t clock_ms, tick_ms; /* each look at the clock takes a tick */
static unsigned wakes;

static int64_t now_ms(void)
{
    int64_t now = clock_ms;
    clock_ms += tick_ms;
    return now;
}

static void count_wake(void *context)
{
    (void)context;
    wakes++;
}

/* ---- rules ---- */

static void set_rules_with(uint64_t generation, const char *spec)
{
    char policy[2048];
    snprintf(policy, sizeof policy,
             "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: p}\n"
             "spec: {mode: enforce, %srails: {zone-pin: {}, placeable: {}}}\n",
             spec);
    CU_ASSERT_FATAL(publisher_set_policies(
        publisher, world_of_text(policy, (struct world_options){0}, generation, 0)));
}

static void set_rules(uint64_t generation)
{
    set_rules_with(generation, "");
}

/* "+2 Rollout.argoproj.io rollouts -1": what is to be watched. */
static char watched[1024];
static bool watch_fails;

static bool note_owners(void *context, enum kind kind, const struct custom_kind *custom)
{
    size_t size = strlen(watched);
    (void)context;
    if (custom == NULL)
        snprintf(watched + size, sizeof watched - size, "-%d ", kind - KIND_OWNER_FIRST);
    else if (!watch_fails)
        snprintf(watched + size, sizeof watched - size, "+%d %.*s.%.*s %.*s ",
                 kind - KIND_OWNER_FIRST, TEXT_ARGS(custom->kind), TEXT_ARGS(custom->group),
                 TEXT_ARGS(custom->plural));
    return !watch_fails;
}

/* ---- a informer ---- */

/* With these options, the publisher, the status and the clock aside. */
static void open_informer_with(struct informer_options options)
{
    clock_ms = START_MS;
    tick_ms = 0;
    wakes = 0;
    memset(reports, 0, sizeof reports);
    for (size_t kind = 0; kind < KIND_COUNT; kind++)
        reports[kind].age_ms = -1;
    publisher = publisher_create(SLOTS);
    cluster_status = cluster_status_create();
    CU_ASSERT_FATAL(publisher != NULL && cluster_status != NULL);
    options.publisher = publisher;
    options.status = cluster_status;
    options.now_ms = now_ms;
    options.watch_owners = note_owners;
    informer = informer_create(&options);
    CU_ASSERT_FATAL(informer != NULL && informer_begin(informer));
    handler = informer_handler(informer);
    set_rules(1);
}

static void open_informer(void)
{
    open_informer_with((struct informer_options){.wake = count_wake});
}

static void close_informer(void)
{
    publisher_destroy(publisher);
    informer_destroy(informer);
    cluster_status_destroy(cluster_status);
}

static const struct world *pin(unsigned slot)
{
    return cell_pin(publisher_cell(publisher), slot);
}

static void unpin(unsigned slot)
{
    cell_unpin(publisher_cell(publisher), slot);
}

static int64_t step(void)
{
    return informer_step(informer, reports);
}

/* Steps until nothing is left to do. */
static void settle(void)
{
    for (int64_t wait_ms; (wait_ms = step()) < 1000;)
        clock_ms += wait_ms > 0 ? wait_ms : 1;
}

static size_t seen(enum kind kind)
{
    const struct world *world = pin(SLOT);
    size_t count = snapshot_count(world->snapshot, kind);
    unpin(SLOT);
    return count;
}

static kind_set unseen(void)
{
    const struct world *world = pin(SLOT);
    kind_set kinds = world->unseen;
    unpin(SLOT);
    return kinds;
}

static bool stale(void)
{
    const struct world *world = pin(SLOT);
    bool are_stale = world->volumes_are_stale;
    unpin(SLOT);
    return are_stale;
}

/* ---- what the API server says ---- */

static void tell(bool (*told)(void *context, const struct object *object), enum kind kind,
                 const char *name)
{
    struct arena *arena = arena_create(1 << 20);
    struct source source = {
        .text = arena_printf(arena,
                             "{\"apiVersion\":\"%s%sv1\",\"kind\":\"%s\",\"metadata\":{"
                             "\"name\":\"%s\"}}",
                             kind_table[kind].group, *kind_table[kind].group == '\0' ? "" : "/",
                             kind_table[kind].name, name)};
    const struct node *root = NULL;
    struct object object;
    struct error error = {0};
    CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error));
    CU_ASSERT_FATAL(object_read(root, NULL, TEXT("shop"), arena, &object, &error));
    CU_ASSERT(told(handler.context, &object));
    arena_destroy(arena);
}

static void put(enum kind kind, const char *name)
{
    tell(handler.put, kind, name);
}

/* A list of one page; name NULL: an empty one. */
static void list(enum kind kind, const char *name)
{
    CU_ASSERT(handler.list_begin(handler.context, kind));
    if (name != NULL)
        put(kind, name);
    CU_ASSERT(handler.list_end(handler.context, kind));
    reports[kind] = (struct watch_report){.synced = true, .watching = true, .lists = 1};
}

static void refuse(enum kind kind, unsigned status)
{
    reports[kind] = (struct watch_report){
        .degraded = true, .refused_status = status, .age_ms = -1, .failures = 1};
    snprintf(reports[kind].problem, sizeof reports[kind].problem, "answered %u", status);
}

static void list_all_but(kind_set left_out)
{
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if ((informer_kinds() & ~left_out & KIND_BIT(kind)) != 0)
            list(kind, kind_table[kind].namespaced ? "a" : "b");
}

static void let_pass(int64_t ms)
{
    clock_ms += ms;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        if (reports[kind].synced)
            reports[kind].age_ms += ms;
}

/* ---- tests ---- */

static void test_nothing_is_seen_before_all_is_listed(void)
{
    open_informer();
    CU_ASSERT(unseen() == informer_kinds());
    CU_ASSERT(stale());
    CU_ASSERT(cluster_status_is_waiting(cluster_status));
    list_all_but(KIND_BIT(KIND_NODE));
    settle();
    CU_ASSERT(unseen() == informer_kinds());
    ASSERT_INT(seen(KIND_POD), 0);
    list(KIND_NODE, "n");
    settle();
    CU_ASSERT(unseen() == 0);
    CU_ASSERT(!stale());
    ASSERT_INT(seen(KIND_POD), 1);
    ASSERT_INT(seen(KIND_NODE), 1);
    CU_ASSERT(!cluster_status_is_waiting(cluster_status));
    close_informer();
}

static bool tells_age(enum kind kind)
{
    struct arena *arena = arena_create(1 << 20);
    struct text_builder out = {.arena = arena};
    cluster_status_add_metrics(cluster_status, clock_ms, &out);
    struct text series =
        arena_printf(arena, "taffrail_cluster_age_seconds{kind=\"%s\"}", kind_table[kind].name);
    bool tells = strstr(text_builder_text(&out).data, series.data) != NULL;
    arena_destroy(arena);
    return tells;
}

/* A view of hours ago is no basis for a denial. What is no longer there is as if it never was. */
static void test_a_right_that_is_lost(void)
{
    enum { LOST_MS = 5 * 60 * 1000 };
    static const struct {
        enum kind kind;
        unsigned status;
        bool unseen;
    } cases[] = {
        {KIND_POD, 403, true},
        {KIND_POD, 404, true},
        {KIND_NODE_POOL, 403, true},
        {KIND_NODE_POOL, 404, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        enum kind kind = cases[i].kind;
        const char *name = kind_table[kind].plural;
        open_informer();
        list_all_but(0);
        settle();
        struct listening listening = listen_to_log();
        reports[kind].watching = false;
        reports[kind].degraded = true;
        reports[kind].refused_status = cases[i].status;
        let_pass(LOST_MS);
        settle();
        CU_ASSERT((unseen() & KIND_BIT(kind)) == 0);
        ASSERT_INT(seen(kind), 1);
        CU_ASSERT(tells_age(kind));
        let_pass(1);
        settle();
        ASSERT_INT((unseen() & KIND_BIT(kind)) != 0, cases[i].unseen);
        ASSERT_INT(seen(kind), 0);
        let_pass(LOST_MS);
        settle();
        ASSERT_INT(tells_age(kind), cases[i].unseen);
        struct text log = heard(&listening);
        ASSERT_HEARD(log, "can no longer be seen: what depends on them is not decided",
                     cases[i].unseen);
        ASSERT_INT(strstr(log.data, name) != NULL, cases[i].unseen);
        /* Half of the next list is not seen either. */
        CU_ASSERT(handler.list_begin(handler.context, kind));
        put(kind, "a");
        reports[kind].listing = true;
        settle();
        ASSERT_INT(seen(kind), 0);
        put(kind, "c");
        CU_ASSERT(handler.list_end(handler.context, kind));
        reports[kind] = (struct watch_report){.synced = true, .watching = true, .lists = 2};
        settle();
        CU_ASSERT((unseen() & KIND_BIT(kind)) == 0);
        ASSERT_INT(seen(kind), 2);
        close_informer();
    }
}

static void test_kinds_that_are_refused(void)
{
    open_informer();
    const kind_set refused =
        KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE) | KIND_BIT(KIND_EC2_NODE_CLASS);
    list_all_but(refused);
    refuse(KIND_NODE_POOL, 404);      /* no Karpenter: none is there */
    refuse(KIND_EC2_NODE_CLASS, 403); /* there may be some */
    refuse(KIND_NODE, 404);           /* every cluster has them: whoever answers is no API server */
    settle();
    CU_ASSERT(unseen() == (KIND_BIT(KIND_NODE) | KIND_BIT(KIND_EC2_NODE_CLASS)));
    ASSERT_INT(seen(KIND_POD), 1);
    /* What was seen once stays, though it may no longer be read. */
    reports[KIND_POD].degraded = true;
    reports[KIND_POD].refused_status = 403;
    settle();
    CU_ASSERT((unseen() & KIND_BIT(KIND_POD)) == 0);
    ASSERT_INT(seen(KIND_POD), 1);
    list(KIND_NODE, "n");
    settle();
    CU_ASSERT(unseen() == KIND_BIT(KIND_EC2_NODE_CLASS));
    close_informer();
}

static void test_a_kind_that_fails_is_not_waited_for_long(void)
{
    open_informer();
    list_all_but(KIND_BIT(KIND_NODE));
    reports[KIND_NODE].failures = 1;
    settle();
    let_pass(9999);
    settle();
    CU_ASSERT(cluster_status_is_waiting(cluster_status));
    ASSERT_INT(seen(KIND_POD), 0);
    let_pass(1);
    settle();
    CU_ASSERT(unseen() == KIND_BIT(KIND_NODE));
    ASSERT_INT(seen(KIND_POD), 1);
    close_informer();
}

static void test_ready_without_a_cluster(void)
{
    open_informer();
    let_pass(10000);
    settle();
    CU_ASSERT(!cluster_status_is_waiting(cluster_status));
    CU_ASSERT(unseen() == informer_kinds());
    close_informer();
}

/* Half of a first list is never seen: it is waited for while it goes on, dropped when it broke off.
 */
static void test_half_of_a_list(void)
{
    open_informer();
    list_all_but(KIND_BIT(KIND_NODE_POOL));
    CU_ASSERT(handler.list_begin(handler.context, KIND_NODE_POOL));
    put(KIND_NODE_POOL, "first");
    reports[KIND_NODE_POOL].listing = true;
    let_pass(20000);
    settle();
    CU_ASSERT(unseen() == informer_kinds());
    reports[KIND_NODE_POOL].listing = false;
    reports[KIND_NODE_POOL].failures = 1;
    settle();
    CU_ASSERT(unseen() == KIND_BIT(KIND_NODE_POOL));
    ASSERT_INT(seen(KIND_NODE_POOL), 0);
    ASSERT_INT(seen(KIND_POD), 1);
    /* Events that are gathered when the next try begins wait with it. */
    put(KIND_POD, "new");
    ASSERT_INT(step(), 1);
    CU_ASSERT(handler.list_begin(handler.context, KIND_NODE_POOL));
    put(KIND_NODE_POOL, "first");
    reports[KIND_NODE_POOL].listing = true;
    clock_ms++;
    ASSERT_INT(step(), 1000);
    ASSERT_INT(seen(KIND_POD), 1);
    list(KIND_NODE_POOL, "first");
    settle();
    CU_ASSERT(unseen() == 0);
    ASSERT_INT(seen(KIND_NODE_POOL), 1);
    ASSERT_INT(seen(KIND_POD), 2);
    close_informer();
}

static void test_volumes_grow_stale(void)
{
    open_informer();
    list_all_but(0);
    settle();
    reports[KIND_PERSISTENT_VOLUME].watching = false;
    let_pass(60000);
    settle();
    CU_ASSERT(!stale());
    let_pass(1);
    settle();
    CU_ASSERT(stale());
    ASSERT_INT(seen(KIND_PERSISTENT_VOLUME), 1);
    /* An open watch is quiet while nothing changes, for a little more than a minute; one that is
     * quiet for longer is followed by a list in time. */
    reports[KIND_PERSISTENT_VOLUME].watching = true;
    settle();
    CU_ASSERT(!stale());
    ASSERT_INT(informer_quiet_ms(KIND_PERSISTENT_VOLUME), 75000);
    ASSERT_INT(informer_quiet_ms(KIND_PERSISTENT_VOLUME_CLAIM), 75000);
    ASSERT_INT(informer_quiet_ms(KIND_POD), 0);
    let_pass(29999);
    settle();
    CU_ASSERT(!stale());
    let_pass(1);
    settle();
    CU_ASSERT(stale());
    reports[KIND_PERSISTENT_VOLUME].age_ms = 0;
    settle();
    CU_ASSERT(stale()); /* claims are no younger */
    reports[KIND_PERSISTENT_VOLUME_CLAIM].age_ms = 0;
    settle();
    CU_ASSERT(!stale());
    close_informer();
}

/* Whatever is told, nobody waits for the next tick to see it; a list that begins shows nothing. */
static void test_what_is_told_wakes(void)
{
    enum told { BEGINS, ENDS, PUT, UNREADABLE, REMOVED, SAID, TOLD_COUNT };
    for (enum told told = BEGINS; told < TOLD_COUNT; told++) {
        const struct object object = {.kind = KIND_POD,
                                      .kind_name = TEXT("Pod"),
                                      .namespace = TEXT("shop"),
                                      .name = TEXT("c")};
        open_informer();
        log_set_level(LOG_ERROR + 1);
        list_all_but(0);
        settle();
        wakes = 0;
        if (told == BEGINS)
            CU_ASSERT(handler.list_begin(handler.context, KIND_POD));
        if (told == ENDS)
            CU_ASSERT(handler.list_end(handler.context, KIND_POD));
        if (told == PUT)
            put(KIND_POD, "c");
        if (told == UNREADABLE)
            CU_ASSERT(handler.put_unreadable(handler.context, &object, "bad"));
        if (told == REMOVED)
            tell(handler.remove, KIND_POD, "c");
        if (told == SAID)
            handler.say(handler.context, KIND_POD, LOG_WARN, "nobody there");
        ASSERT_INT(wakes, told != BEGINS);
        log_set_level(LOG_INFO);
        close_informer();
    }
}

static void test_events_are_gathered(void)
{
    open_informer();
    list_all_but(0);
    settle();
    const struct world *before = pin(OTHER_SLOT);
    wakes = 0;
    put(KIND_POD, "c");
    put(KIND_POD, "d");
    ASSERT_INT(wakes, 1);
    int64_t wait_ms = step();
    ASSERT_INT(wait_ms, 1);
    ASSERT_INT(seen(KIND_POD), 1);
    tell(handler.remove, KIND_POD, "c");
    ASSERT_INT(wakes, 1);
    clock_ms += wait_ms;
    ASSERT_INT(step(), 1000);
    ASSERT_INT(seen(KIND_POD), 2);
    /* Who looks at the world before goes on doing so. */
    ASSERT_INT(snapshot_count(before->snapshot, KIND_POD), 1);
    CU_ASSERT(text_is(snapshot_object(before->snapshot, KIND_POD, 0)->name, "a"));
    unpin(OTHER_SLOT);
    put(KIND_POD, "a"); /* as it was */
    ASSERT_INT(wakes, 2);
    ASSERT_INT(step(), 1000);
    /* What came and went while it was gathered leaves nothing to do. */
    put(KIND_POD, "e");
    ASSERT_INT(step(), 1);
    tell(handler.remove, KIND_POD, "e");
    clock_ms++;
    ASSERT_INT(step(), 1000);
    ASSERT_INT(step(), 1000);
    ASSERT_INT(seen(KIND_POD), 2);
    close_informer();
}

static bool status_says(const char *what)
{
    struct arena *arena = arena_create(1 << 20);
    struct text_builder out = {.arena = arena};
    cluster_status_add_line(cluster_status, clock_ms, &out);
    text_builder_add(&out, TEXT("\n"));
    cluster_status_add_kinds(cluster_status, clock_ms, &out);
    cluster_status_add_metrics(cluster_status, clock_ms, &out);
    bool says = strstr(text_builder_text(&out).data, what) != NULL;
    if (!says)
        fprintf(stderr, "\"%s\" is not in\n%s", what, text_builder_text(&out).data);
    arena_destroy(arena);
    return says;
}

/* For as long as the last view took to make: views that take long are made seldom. */
static void test_what_takes_long_is_gathered_for_long(void)
{
    enum { TICK_MS = 30 };
    open_informer();
    list_all_but(0);
    settle();
    put(KIND_POD, "c");
    ASSERT_INT(step(), 1);
    clock_ms++;
    tick_ms = TICK_MS;
    ASSERT_INT(step(), 1000);
    tick_ms = 0;
    ASSERT_INT(seen(KIND_POD), 2);
    put(KIND_POD, "d");
    int64_t wait_ms = step();
    CU_ASSERT(wait_ms >= TICK_MS && wait_ms < (int64_t)10 * TICK_MS);
    clock_ms += wait_ms - 1;
    ASSERT_INT(step(), 1);
    ASSERT_INT(seen(KIND_POD), 2);
    clock_ms++;
    ASSERT_INT(step(), 1000);
    ASSERT_INT(seen(KIND_POD), 3);
    put(KIND_POD, "e"); /* that one took no time */
    ASSERT_INT(step(), 1);
    close_informer();
}

/* ---- the log ---- */

static void test_the_log_says_what_is_seen(void)
{
    open_informer();
    list_all_but(KIND_BIT(KIND_NODE) | KIND_BIT(KIND_NODE_POOL));
    refuse(KIND_NODE, 403);
    refuse(KIND_NODE_POOL, 404);
    clock_ms += 1234;
    struct listening listening = listen_to_log();
    settle();
    struct text log = heard(&listening);
    char line[128];
    size_t kinds = 0;
    for (enum kind kind = 0; kind < KIND_COUNT; kind++)
        kinds += (informer_kinds() & KIND_BIT(kind)) != 0;
    snprintf(line, sizeof line, "the cluster is visible: %zu objects in 1.234 s", kinds - 2);
    ASSERT_HEARD(log, line, 1);
    ASSERT_HEARD(log, "cannot be seen: what depends on them is not decided", 1);
    ASSERT_HEARD(log, "\"object\":\"nodes\"", 1);

    /* Volumes that are too old, and current again: once each. */
    static const struct {
        int64_t age_ms;
        const char *said; /* NULL: nothing */
    } ages[] = {
        {60000, NULL},
        {60001, "claims or volumes are older than 60 s: zone-pin requires no zone until they are "
                "current again"},
        {70000, NULL},
        {0, "claims and volumes are current"},
        {0, NULL},
    };
    reports[KIND_PERSISTENT_VOLUME].watching = false;
    for (size_t i = 0; i < COUNT_OF(ages); i++) {
        reports[KIND_PERSISTENT_VOLUME].age_ms = ages[i].age_ms;
        listening = listen_to_log();
        settle();
        log = heard(&listening);
        if (ages[i].said != NULL)
            ASSERT_HEARD(log, ages[i].said, 1);
        ASSERT_HEARD(log, "\"msg\"", ages[i].said != NULL ? 1 : 0);
    }
    close_informer();
}

static bool spoil(void *context, const struct object *object)
{
    return handler.put_unreadable(context, object, "too deep");
}

static void test_the_log_says_what_cannot_be_read(void)
{
    open_informer();
    list_all_but(0);
    settle();
    const struct {
        bool (*told)(void *context, const struct object *object);
        enum kind kind;
        const char *said; /* NULL: nothing */
    } cases[] = {
        {handler.put, KIND_POD, NULL},
        {spoil, KIND_POD, "\"object\":\"Pod shop/x\""},
        {spoil, KIND_POD, NULL}, /* is said already */
        {spoil, KIND_NODE, "\"object\":\"Node x\""},
        {handler.put, KIND_POD, "can be read now"},
        {handler.put, KIND_POD, NULL},
        {handler.remove, KIND_NODE, NULL},
        {handler.put, KIND_NODE, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct listening listening = listen_to_log();
        tell(cases[i].told, cases[i].kind, "x");
        struct text log = heard(&listening);
        if (cases[i].said != NULL)
            ASSERT_HEARD(log, cases[i].said, 1);
        ASSERT_HEARD(log, "\"msg\"", cases[i].said != NULL ? 1 : 0);
    }
    struct listening listening = listen_to_log();
    handler.say(handler.context, KIND_POD, LOG_WARN, "answered 500");
    handler.say(handler.context, KIND_NODE, LOG_INFO, "all is well");
    struct text log = heard(&listening);
    ASSERT_HEARD(log, "cannot be listed or watched now", 1);
    ASSERT_HEARD(log, "\"error\":\"answered 500\"", 1);
    ASSERT_HEARD(log, "\"msg\":\"all is well\"", 1);
    close_informer();
}

/* The names of five, in the verbose page, and that there are more. */
static void test_five_that_cannot_be_read_are_named(void)
{
    static const struct {
        int count;
        const char *named;
    } cases[] = {
        {1, "1 cannot be read (shop/p0)"},
        {2, "2 cannot be read (shop/p0, shop/p1)"},
        {5, "5 cannot be read (shop/p0, shop/p1, shop/p2, shop/p3, shop/p4)"},
        {6, "6 cannot be read (shop/p0, shop/p1, shop/p2, shop/p3, shop/p4, ...)"},
    };
    log_set_level(LOG_ERROR);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        open_informer();
        list_all_but(0);
        settle();
        for (int j = 0; j < cases[i].count; j++) {
            char name[16];
            snprintf(name, sizeof name, "p%d", j);
            tell(spoil, KIND_POD, name);
        }
        settle();
        let_pass(1000);
        settle();
        CU_ASSERT(status_says(cases[i].named));
        close_informer();
    }
    log_set_level(LOG_INFO);
}

/* What no world uses any more is freed: views by the hundred do not add up. */
static void test_views_are_given_back(void)
{
    enum { VIEWS = 300, NAME_BYTES = 4000, GROWTH_BYTES = 400 << 10 };
    static char name[NAME_BYTES];
    memset(name, 'n', sizeof name - 1);
    open_informer();
    list_all_but(0);
    settle();
    size_t before = 0;
    for (size_t i = 0; i < (size_t)2 * VIEWS; i++) {
        name[0] = (char)('a' + i % 2);
        put(KIND_CSI_NODE, name);
        name[0] = (char)('a' + (i + 1) % 2);
        tell(handler.remove, KIND_CSI_NODE, name);
        settle();
        if (i == VIEWS)
            before = mallinfo2().uordblks;
    }
    ASSERT_INT(seen(KIND_CSI_NODE), 2);
    CU_ASSERT(mallinfo2().uordblks < before + GROWTH_BYTES);
    close_informer();
}

static void test_rules_change_and_the_view_stays(void)
{
    open_informer();
    list_all_but(0);
    settle();
    const struct world *before = pin(OTHER_SLOT);
    set_rules(2);
    const struct world *between = pin(SLOT);
    ASSERT_INT(between->generation, 2);
    CU_ASSERT(between->snapshot == before->snapshot);
    CU_ASSERT(between->policies != before->policies);
    unpin(SLOT);
    settle();
    const struct world *after = pin(SLOT);
    CU_ASSERT(after->snapshot == before->snapshot);
    ASSERT_INT(after->generation, 2);
    CU_ASSERT(after->unseen == 0);
    CU_ASSERT(after->supply != NULL && after->supply != before->supply);
    unpin(SLOT);
    ASSERT_INT(before->generation, 1);
    unpin(OTHER_SLOT);
    close_informer();
}

static const struct supply *supply(void)
{
    const struct world *world = pin(SLOT);
    const struct supply *of_world = world->supply;
    unpin(SLOT);
    return of_world;
}

/* To look at every instance type takes long: what comes at once is gathered. */
static void test_a_supply_is_made_now_and_then(void)
{
    open_informer();
    list_all_but(0);
    settle();
    let_pass(1000);
    const struct supply *first = supply();
    CU_ASSERT_FATAL(first != NULL);
    CU_ASSERT(pin(OTHER_SLOT)->supply == first); /* so that no other takes its place in memory */
    put(KIND_POD, "c");
    settle();
    let_pass(5000);
    settle();
    CU_ASSERT(supply() == first);
    put(KIND_NODE_POOL, "c");
    (void)step();
    clock_ms += 2;
    (void)step();
    const struct supply *second = supply();
    CU_ASSERT(second != first);
    unpin(OTHER_SLOT);
    CU_ASSERT(pin(OTHER_SLOT)->supply == second);
    put(KIND_NODE, "c");
    (void)step();
    clock_ms += 2;
    int64_t wait_ms = step();
    ASSERT_INT(seen(KIND_NODE), 2);
    CU_ASSERT(supply() == second);
    CU_ASSERT(wait_ms > 0 && wait_ms <= 100);
    clock_ms += wait_ms;
    (void)step();
    CU_ASSERT(supply() != second);
    unpin(OTHER_SLOT);
    close_informer();
}

static void test_the_status_tells(void)
{
    open_informer();
    list_all_but(KIND_BIT(KIND_NODE));
    refuse(KIND_NODE, 403);
    settle();
    let_pass(1500);
    settle();
    clock_ms += 500;
    struct arena *arena = arena_create(1 << 20);
    struct text_builder line = {.arena = arena}, metrics = {.arena = arena};
    cluster_status_add_line(cluster_status, clock_ms, &line);
    const char *said = text_builder_text(&line).data;
    CU_ASSERT(strstr(said, "objects, none older than 2 s; nodes cannot be seen: answered 403") !=
              NULL);
    cluster_status_add_metrics(cluster_status, clock_ms, &metrics);
    const char *page = text_builder_text(&metrics).data;
    CU_ASSERT(strstr(page, "\ntaffrail_cluster_age_seconds{kind=\"Pod\"} 2.000\n") != NULL);
    CU_ASSERT(strstr(page, "\ntaffrail_cluster_objects{kind=\"Pod\"} 1\n") != NULL);
    CU_ASSERT(strstr(page, "\ntaffrail_cluster_degraded{kind=\"Node\"} 1\n") != NULL);
    CU_ASSERT(strstr(page, "age_seconds{kind=\"Node\"}") == NULL);
    CU_ASSERT(strstr(page, "Provisioner") == NULL);
    arena_destroy(arena);
    close_informer();
}

static void keep_first(void *context, const struct node *root)
{
    const struct node **first = context;
    if (*first == NULL)
        *first = root;
}

static kind_set set_of_resource(struct text group, struct text plural)
{
    enum kind kind = kind_of_resource(group, plural);
    CU_ASSERT(kind != KIND_UNKNOWN); /* the role names one that nobody knows */
    return kind == KIND_UNKNOWN ? 0 : KIND_BIT(kind);
}

/* Every kind that is watched, and no other, by list and watch alone. */
static void test_the_role_is_what_is_watched(void)
{
    char path[512];
    const char *source_dir = getenv("TAFFRAIL_SOURCE_DIR");
    snprintf(path, sizeof path, "%s/manifests/base/rbac.yaml",
             source_dir == NULL ? "." : source_dir);
    struct arena *arena = arena_create(1 << 22);
    struct source source = {.file = path};
    struct error error = {0};
    CU_ASSERT_FATAL(file_read(path, 1 << 20, arena, &source.text, &error));
    struct problems problems = {.arena = arena};
    const struct node *role = NULL;
    doc_read_yaml(&source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems, keep_first,
                  &role);
    const struct node *rules = node_get(role, "rules");
    CU_ASSERT_FATAL(problems.count == 0 && node_is(rules, NODE_LIST));
    kind_set granted = 0;
    for (size_t i = 0; i < node_count(rules); i++) {
        const struct node *rule = node_item(rules, i);
        struct text group = node_string(node_item(node_get(rule, "apiGroups"), 0));
        const struct node *resources = node_get(rule, "resources");
        ASSERT_INT(node_count(node_get(rule, "verbs")), 2);
        for (size_t j = 0; j < node_count(resources); j++)
            granted |= set_of_resource(group, node_string(node_item(resources, j)));
    }
    CU_ASSERT(granted == informer_kinds());
    arena_destroy(arena);
}

/* ---- custom owners ---- */

#define TRUST(kind) "{account: a/b, owner: " kind ", makes: ReplicaSet}"

static void put_owner(const char *name)
{
    struct object object = {.kind = KIND_OWNER_FIRST,
                            .api_version = TEXT("argoproj.io/v1"),
                            .kind_name = TEXT("Rollout"),
                            .namespace = TEXT("shop"),
                            .name = text_of(name)};
    CU_ASSERT(handler.put(handler.context, &object));
}

static bool sees_owners(const char *group, const char *kind)
{
    const struct world *world = pin(SLOT);
    bool sees = world->owners.ids[0] == custom_kind_id(text_of(group), text_of(kind));
    unpin(SLOT);
    return sees;
}

static void test_custom_owners_are_those_of_the_rules(void)
{
    open_informer();
    watched[0] = '\0';
    informer_follow(informer);
    ASSERT_TEXT(text_of(watched), "");
    set_rules_with(2, "trustedControllers: [" TRUST("Rollout.argoproj.io") "], ");
    watch_fails = true; /* it is tried again */
    informer_follow(informer);
    watch_fails = false;
    informer_follow(informer);
    informer_follow(informer);
    ASSERT_TEXT(text_of(watched), "+0 Rollout.argoproj.io rollouts ");
    list_all_but(0);
    settle();
    CU_ASSERT(cluster_status_is_waiting(cluster_status)); /* for these, too */
    CU_ASSERT(handler.list_begin(handler.context, KIND_OWNER_FIRST));
    put_owner("web");
    CU_ASSERT(handler.list_end(handler.context, KIND_OWNER_FIRST));
    reports[KIND_OWNER_FIRST] = (struct watch_report){.synced = true, .watching = true};
    settle();
    CU_ASSERT(!cluster_status_is_waiting(cluster_status));
    CU_ASSERT(unseen() == 0);
    CU_ASSERT(sees_owners("argoproj.io", "Rollout"));
    ASSERT_INT(seen(KIND_OWNER_FIRST), 1);
    let_pass(1000);
    settle();
    CU_ASSERT(status_says("Rollout.argoproj.io: 1 objects, known to be right"));
    CU_ASSERT(status_says("taffrail_cluster_objects{kind=\"Rollout.argoproj.io\"} 1\n"));
    /* It may no longer be listed. */
    reports[KIND_OWNER_FIRST].degraded = true;
    settle();
    CU_ASSERT(!sees_owners("argoproj.io", "Rollout"));
    reports[KIND_OWNER_FIRST].degraded = false;
    settle();
    CU_ASSERT(sees_owners("argoproj.io", "Rollout"));
    /* Until others have been listed they are believed, and none of the old are left. */
    watched[0] = '\0';
    set_rules_with(3, "trustedControllers: [" TRUST("Canary.example.com") "], ");
    informer_follow(informer);
    ASSERT_TEXT(text_of(watched), "-0 +0 Canary.example.com canarys ");
    reports[KIND_OWNER_FIRST] = (struct watch_report){.age_ms = -1};
    settle();
    CU_ASSERT(!sees_owners("argoproj.io", "Rollout"));
    CU_ASSERT(!sees_owners("example.com", "Canary"));
    ASSERT_INT(seen(KIND_OWNER_FIRST), 0);
    close_informer();
}

/* Which they are is told with the objects: new rules alone change neither. */
static void test_new_rules_do_not_rename_owners(void)
{
    open_informer();
    set_rules_with(2, "trustedControllers: [" TRUST("Rollout.argoproj.io") "], ");
    informer_follow(informer);
    list_all_but(0);
    CU_ASSERT(handler.list_begin(handler.context, KIND_OWNER_FIRST));
    put_owner("web");
    CU_ASSERT(handler.list_end(handler.context, KIND_OWNER_FIRST));
    reports[KIND_OWNER_FIRST] = (struct watch_report){.synced = true, .watching = true};
    settle();
    set_rules_with(3, "trustedControllers: [" TRUST("Canary.example.com") "], ");
    CU_ASSERT(sees_owners("argoproj.io", "Rollout"));
    CU_ASSERT(!sees_owners("example.com", "Canary"));
    ASSERT_INT(seen(KIND_OWNER_FIRST), 1);
    close_informer();
}

static void test_owners_come_with_the_view_that_has_them(void)
{
    open_informer();
    set_rules_with(2, "trustedControllers: [" TRUST("Rollout.argoproj.io") "], ");
    informer_follow(informer);
    list_all_but(0);
    refuse(KIND_OWNER_FIRST, 403);
    settle();
    /* No view can be made while Nodes are half listed, and that they are is published. */
    reports[KIND_NODE] = (struct watch_report){.listing = true, .age_ms = -1};
    CU_ASSERT(handler.list_begin(handler.context, KIND_OWNER_FIRST));
    put_owner("web");
    CU_ASSERT(handler.list_end(handler.context, KIND_OWNER_FIRST));
    reports[KIND_OWNER_FIRST] = (struct watch_report){.synced = true, .watching = true};
    settle();
    CU_ASSERT(unseen() == KIND_BIT(KIND_NODE));
    CU_ASSERT(!sees_owners("argoproj.io", "Rollout"));
    list(KIND_NODE, "n");
    settle();
    CU_ASSERT(sees_owners("argoproj.io", "Rollout"));
    ASSERT_INT(seen(KIND_OWNER_FIRST), 1);
    close_informer();
}

static void test_as_many_custom_owners_as_there_are_kinds_for(void)
{
    open_informer();
    char spec[1024] = "trustedControllers: [";
    for (char kind = 'A'; kind <= 'I'; kind++)
        snprintf(spec + strlen(spec), sizeof spec - strlen(spec),
                 "{account: a/b, owner: %c.a.io, makes: ReplicaSet}, ", kind);
    snprintf(spec + strlen(spec), sizeof spec - strlen(spec), "], ");
    set_rules_with(2, spec);
    watched[0] = '\0';
    informer_follow(informer);
    CU_ASSERT(strstr(watched, "+7 H.a.io hs ") != NULL);
    CU_ASSERT(strstr(watched, "I.a.io") == NULL);
    close_informer();
}

/* Which owners are only believed is said once the look at them is over, and again of other rules.
 */
static void test_the_log_says_who_is_believed(void)
{
    static const char believed[] = "`since` rests on what authors write of owners that cannot be "
                                   "seen (Rollout.argoproj.io)";
    static const char rules[] =
        "since: 2026-06-01, trustedControllers: [" TRUST("Rollout.argoproj.io") "], ";
    enum { REFUSED, LISTED, SILENT };
    static const struct {
        int owners;
        size_t at_once, later; /* how often it is said */
    } cases[] = {{REFUSED, 1, 0}, {LISTED, 0, 0}, {SILENT, 0, 1}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        open_informer();
        set_rules_with(2, rules);
        informer_follow(informer);
        list_all_but(0);
        if (cases[i].owners == REFUSED)
            refuse(KIND_OWNER_FIRST, 403);
        if (cases[i].owners == LISTED)
            list(KIND_OWNER_FIRST, NULL);
        struct listening listening = listen_to_log();
        settle();
        ASSERT_HEARD(heard(&listening), believed, cases[i].at_once);
        listening = listen_to_log();
        let_pass(9999);
        settle();
        ASSERT_HEARD(heard(&listening), believed, 0);
        listening = listen_to_log();
        let_pass(1);
        settle();
        ASSERT_HEARD(heard(&listening), believed, cases[i].later);
        set_rules_with(3, rules);
        informer_follow(informer);
        listening = listen_to_log();
        settle();
        let_pass(9998);
        settle();
        ASSERT_HEARD(heard(&listening), believed, cases[i].at_once);
        listening = listen_to_log();
        let_pass(1000);
        settle();
        ASSERT_HEARD(heard(&listening), believed, cases[i].later);
        close_informer();
    }
}

static void test_the_log_says_where_there_is_nothing_to_look_in(void)
{
    static const char sources[] = "the rails see no NodePool (placeable), no Node (placeable";
    for (int there = 0; there < 2; there++) {
        open_informer();
        informer_follow(informer);
        list_all_but(KIND_BIT(KIND_NODE_POOL) | KIND_BIT(KIND_NODE));
        list(KIND_NODE_POOL, there ? "a" : NULL);
        list(KIND_NODE, there ? "n" : NULL);
        struct listening listening = listen_to_log();
        settle();
        let_pass(60000);
        settle();
        ASSERT_HEARD(heard(&listening), sources, there ? 0 : 1);
        close_informer();
    }
}

/* ---- what cannot be read, and what there is no room for ---- */

static bool injure(void *context, const struct object *object)
{
    return handler.put_unreadable(context, object, "too deep");
}

static void test_one_object_that_cannot_be_read(void)
{
    open_informer();
    list_all_but(0);
    settle();
    tell(injure, KIND_POD, "deep");
    tell(injure, KIND_NODE, "b");
    settle();
    let_pass(1000);
    settle();
    const struct world *world = pin(SLOT);
    CU_ASSERT(snapshot_is_unreadable(world->snapshot, KIND_POD, TEXT("shop"), TEXT("deep")));
    CU_ASSERT(world_lists(world, KIND_BIT(KIND_POD) | KIND_BIT(KIND_NODE)));
    CU_ASSERT(world_sees_in(world, KIND_BIT(KIND_POD), TEXT("other")));
    CU_ASSERT(!world_sees_in(world, KIND_BIT(KIND_POD), TEXT("shop")));
    CU_ASSERT(!world_sees(world, KIND_BIT(KIND_NODE)));
    unpin(SLOT);
    ASSERT_INT(seen(KIND_POD), 1);
    ASSERT_INT(seen(KIND_NODE), 0);
    CU_ASSERT(status_says("; 1 of 2 pods cannot be read; 1 of 1 nodes cannot be read\n"));
    CU_ASSERT(status_says("pods: 2 objects, known to be right 1 s ago, 1 cannot be read "
                          "(shop/deep)\n"));
    CU_ASSERT(status_says("taffrail_cluster_unreadable_objects{kind=\"Node\"} 1\n"));
    CU_ASSERT(!cluster_status_is_waiting(cluster_status));
    put(KIND_NODE, "b");
    tell(handler.remove, KIND_POD, "deep");
    settle();
    let_pass(1000);
    settle();
    CU_ASSERT(status_says("taffrail_cluster_unreadable_objects{kind=\"Node\"} 0\n"));
    CU_ASSERT(status_says("taffrail_cluster_unreadable_objects{kind=\"Pod\"} 0\n"));
    ASSERT_INT(seen(KIND_NODE), 1);
    close_informer();
}

static kind_set listed_again;

static void note_list(void *context, enum kind kind)
{
    (void)context;
    listed_again |= KIND_BIT(kind);
}

/* A flood of Pods takes nothing from Nodes, and when it is over what is lacking is listed. */
static void test_what_there_is_no_room_for(void)
{
    enum { FLOOD = 3000 };
    char name[32];
    open_informer_with(
        (struct informer_options){.list_again = note_list, .view_bytes_max = 200000});
    log_set_level(LOG_ERROR);
    list_all_but(KIND_BIT(KIND_POD) | KIND_BIT(KIND_NODE));
    CU_ASSERT(handler.list_begin(handler.context, KIND_POD));
    for (int i = 0; i < FLOOD; i++) {
        snprintf(name, sizeof name, "pod-%d", i);
        put(KIND_POD, name);
    }
    CU_ASSERT(handler.list_end(handler.context, KIND_POD));
    reports[KIND_POD] = (struct watch_report){.synced = true, .watching = true, .lists = 1};
    list(KIND_NODE, "n");
    settle();
    CU_ASSERT(seen(KIND_POD) > 100 && seen(KIND_POD) < FLOOD / 2);
    ASSERT_INT(seen(KIND_NODE), 1);
    CU_ASSERT(unseen() == KIND_BIT(KIND_POD)); /* of some not even the names are known */
    let_pass(1000);
    settle();
    CU_ASSERT(status_says("; there is no memory for all pods"));
    CU_ASSERT(status_says("taffrail_cluster_lacking{kind=\"Pod\"} 1\n"));
    let_pass(120000);
    settle();
    CU_ASSERT(listed_again == 0);
    for (int i = 0; i < FLOOD; i++) {
        snprintf(name, sizeof name, "pod-%d", i);
        tell(handler.remove, KIND_POD, name);
    }
    let_pass(60000);
    settle();
    CU_ASSERT(listed_again == KIND_BIT(KIND_POD));
    list(KIND_POD, "one");
    settle();
    CU_ASSERT(unseen() == 0);
    ASSERT_INT(seen(KIND_POD), 1);
    log_set_level(LOG_INFO);
    close_informer();
}

const struct unit_test unit_tests[] = {
    {"custom owners are those of the rules", test_custom_owners_are_those_of_the_rules},
    {"new rules do not rename owners", test_new_rules_do_not_rename_owners},
    {"owners come with the view that has them", test_owners_come_with_the_view_that_has_them},
    {"as many custom owners as there are kinds for",
     test_as_many_custom_owners_as_there_are_kinds_for},
    {"the log says who is believed", test_the_log_says_who_is_believed},
    {"the log says where there is nothing to look in",
     test_the_log_says_where_there_is_nothing_to_look_in},
    {"one object that cannot be read", test_one_object_that_cannot_be_read},
    {"what there is no room for", test_what_there_is_no_room_for},
    {"nothing is seen before all is listed", test_nothing_is_seen_before_all_is_listed},
    {"a right that is lost", test_a_right_that_is_lost},
    {"kinds that are refused", test_kinds_that_are_refused},
    {"a kind that fails is not waited for long", test_a_kind_that_fails_is_not_waited_for_long},
    {"ready without a cluster", test_ready_without_a_cluster},
    {"half of a list", test_half_of_a_list},
    {"volumes grow stale", test_volumes_grow_stale},
    {"what is told wakes", test_what_is_told_wakes},
    {"events are gathered", test_events_are_gathered},
    {"what takes long is gathered for long", test_what_takes_long_is_gathered_for_long},
    {"the log says what is seen", test_the_log_says_what_is_seen},
    {"the log says what cannot be read", test_the_log_says_what_cannot_be_read},
    {"five that cannot be read are named", test_five_that_cannot_be_read_are_named},
    {"views are given back", test_views_are_given_back},
    {"rules change and the view stays", test_rules_change_and_the_view_stays},
    {"a supply is made now and then", test_a_supply_is_made_now_and_then},
    {"the status tells", test_the_status_tells},
    {"the role is what is watched", test_the_role_is_what_is_watched},
    {NULL, NULL},
};
