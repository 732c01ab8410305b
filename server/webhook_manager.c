/* Renews the certificate in its Secret and the CA bundles of the webhook configurations: this file
 * says what is asked next. certs/rotate.c says when. */
#include "server/webhook_manager.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/bundle_conflict.h"

enum {
    WRITES_AT_ONCE = 4,     /* without a pause: a new CA, its bundles, a certificate */
    ROUND_BYTES = 64 << 20, /* of an arena: a Secret and two configurations, read and written */
    LOOK_MAX_MS = 10 * 1000,
    LOOK_MIN_MS = 250,
    FIRST_LOOK_MS = 1000, /* while there is no certificate */
    REQUEST_MS = 5000,
};

/* The next request, or what the manager waits for. */
enum stage {
    READ_SECRET,
    READ_VALIDATING,
    READ_MUTATING,
    DECIDE,
    WRITE_SECRET,
    APPLY_VALIDATING,
    APPLY_MUTATING,
};
static const struct {
    enum call_verb verb;
    enum resource resource;
    enum duty duty;
    size_t which; /* index among the duty's objects */
} requests[] = {
    [READ_SECRET] = {CALL_GET, RESOURCE_SECRET, DUTY_SECRET, 0},
    [READ_VALIDATING] = {CALL_GET, RESOURCE_VALIDATING_CONFIGURATION, DUTY_BUNDLE, 0},
    [READ_MUTATING] = {CALL_GET, RESOURCE_MUTATING_CONFIGURATION, DUTY_BUNDLE, 1},
    [WRITE_SECRET] = {CALL_UPDATE, RESOURCE_SECRET, DUTY_SECRET, 0},
    [APPLY_VALIDATING] = {CALL_APPLY, RESOURCE_VALIDATING_CONFIGURATION, DUTY_BUNDLE, 0},
    [APPLY_MUTATING] = {CALL_APPLY, RESOURCE_MUTATING_CONFIGURATION, DUTY_BUNDLE, 1},
};

struct bundles {
    struct text *items;
    size_t count, capacity;
};

struct webhook_manager {
    struct webhook_manager_options options;
    int64_t look_ms;     /* between two rounds */
    struct arena *arena; /* of one round */

    enum stage stage;
    bool waiting;
    bool leads;
    int64_t start_at_ms;
    unsigned writes_in_a_row;

    /* For the current round. */
    const struct node *secret;                              /* NULL: there is none */
    const struct node *configurations[CONFIGURATION_COUNT]; /* NULL: missing or unreadable */
    struct webhook_entries entries[CONFIGURATION_COUNT];    /* of the configurations */
    bool unread[CONFIGURATION_COUNT];
    struct rotation_secret held;
    struct rotation_step decided;
    bool differs[CONFIGURATION_COUNT]; /* it needs the decided bundle */
    struct text body;                  /* the body to write */

    char *served;  /* the certificate in force; NULL: none */
    char *refused; /* the last refused one, to log it once; NULL: none */
    char *seen;    /* the published bundles at the last look */
    int64_t seen_since_ms;
    struct bundle_conflict conflicts[CONFIGURATION_COUNT];
    char *left_alone[CONFIGURATION_COUNT]; /* the entries of others, to log them once */
    char said[480];                        /* the last logged decision */
    struct webhook_manager_report status;
};

static int64_t look_ms_of(const struct rotation_times *times)
{
    int64_t ms = times->settle_s * 1000 / 4;
    return ms > LOOK_MAX_MS ? LOOK_MAX_MS : ms < LOOK_MIN_MS ? LOOK_MIN_MS : ms;
}

struct webhook_manager *webhook_manager_create(const struct webhook_manager_options *options)
{
    struct webhook_manager *manager = calloc(1, sizeof *manager);
    struct arena *arena = arena_create(ROUND_BYTES);
    if (manager == NULL || arena == NULL) {
        free(manager);
        arena_destroy(arena);
        return NULL;
    }
    manager->options = *options;
    manager->arena = arena;
    manager->look_ms = look_ms_of(&options->settings->times);
    return manager;
}

void webhook_manager_destroy(struct webhook_manager *manager)
{
    if (manager == NULL)
        return;
    arena_destroy(manager->arena);
    free(manager->served);
    free(manager->refused);
    free(manager->seen);
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        bundle_conflict_forget(&manager->conflicts[which]);
        free(manager->left_alone[which]);
    }
    free(manager);
}

void webhook_manager_report(const struct webhook_manager *manager,
                            struct webhook_manager_report *report)
{
    *report = manager->status;
}

/* ---- rounds ---- */

static enum stage apply_stage(size_t which)
{
    return which == 0 ? APPLY_VALIDATING : APPLY_MUTATING;
}

/* The longest rest that the round asked for counts. */
static void rest(struct webhook_manager *manager, int64_t until_ms)
{
    manager->stage = READ_SECRET;
    if (manager->start_at_ms < until_ms)
        manager->start_at_ms = until_ms;
}

static const char *name_of(const struct webhook_manager *manager, enum stage stage)
{
    const struct webhook_manager_settings *settings = manager->options.settings;
    return requests[stage].resource == RESOURCE_SECRET ? settings->secret : settings->configuration;
}

static char *problem_of(struct webhook_manager *manager, enum stage stage)
{
    return manager->status.problem[requests[stage].duty + requests[stage].which];
}

static void note(struct webhook_manager *manager, enum stage stage, const char *problem)
{
    char *last = problem_of(manager, stage);
    char what[MANAGER_PROBLEM_BYTES];
    snprintf(what, sizeof what, "%s %s: %s", resource_table[requests[stage].resource].kind,
             name_of(manager, stage), problem);
    manager->status.failures[requests[stage].duty]++;
    if (strcmp(last, what) != 0)
        log_line(LOG_WARN, "webhook-manager", name_of(manager, stage), what,
                 "the request failed; it is made again in a while");
    snprintf(last, sizeof what, "%s", what);
}

static void fail(struct webhook_manager *manager, int64_t now_ms, enum stage stage,
                 int64_t retry_after_s, const char *problem)
{
    note(manager, stage, problem);
    int64_t wait_ms = retry_after_s > 0 ? retry_after_s * 1000 : 0;
    rest(manager, now_ms + manager->look_ms + wait_ms);
}

static void succeed(struct webhook_manager *manager, enum stage stage)
{
    char *problem = problem_of(manager, stage);
    if (problem[0] != '\0')
        log_line(LOG_INFO, "webhook-manager", name_of(manager, stage), NULL,
                 "all is well again: %s", problem);
    problem[0] = '\0';
}

static bool replace_copy(char **copy, struct text t)
{
    char *next = text_duplicate(t);
    free(*copy);
    *copy = next;
    return next != NULL;
}

/* ---- reading ---- */

static void read_secret_data(void *context)
{
    struct webhook_manager *manager = context;
    rotation_secret_read(manager->secret, manager->arena, &manager->held);
}

static bool is_copy(const char *copy, struct text t)
{
    return copy != NULL && text_is(t, copy);
}

/* An invalid leaf is tried in each round, because the clock may be corrected or memory be free by
 * then. Until it is valid the one before stays in force. */
static void serve_leaf(struct webhook_manager *manager)
{
    const struct cert_pair *leaf = &manager->held.leaf;
    const char *secret = manager->options.settings->secret;
    if (leaf->certificate.size == 0 || leaf->key.size == 0 ||
        (manager->refused == NULL && is_copy(manager->served, leaf->certificate)))
        return;
    struct error error = {0};
    bool again = is_copy(manager->refused, leaf->certificate);
    if (manager->options.serve(manager->options.context, leaf, again, &error)) {
        manager->status.serving = true;
        (void)replace_copy(&manager->served, leaf->certificate);
        free(manager->refused);
        manager->refused = NULL;
        log_line(LOG_INFO, "webhook-manager", secret, NULL,
                 "its certificate is in force for new connections");
        return;
    }
    (void)replace_copy(&manager->refused, leaf->certificate);
    if (again)
        return;
    manager->status.failures[DUTY_SECRET]++;
    log_line(LOG_ERROR, "webhook-manager", secret, error.what,
             "its certificate cannot be served%s; it is tried again and again",
             manager->status.serving ? ", so that the last good one stays in force" : "");
}

static void take_secret(struct webhook_manager *manager, int64_t now_ms,
                        const struct call_answer *answer)
{
    struct error error;
    const struct node *root =
        answer->result == CALL_DONE
            ? object_of(requests[manager->stage].resource, answer->body, manager->arena)
            : NULL;
    manager->secret = root;
    if (answer->result != CALL_MISSING && root == NULL) {
        fail(manager, now_ms, READ_SECRET, answer->retry_after_s,
             answer->problem[0] == '\0' ? "the answer is no Secret" : answer->problem);
        return;
    }
    if (!arena_guard(manager->arena, read_secret_data, manager, &error)) {
        fail(manager, now_ms, READ_SECRET, 0, error.what);
        return;
    }
    /* The leader may still have to write it. */
    if (!manager->leads)
        succeed(manager, READ_SECRET);
    serve_leaf(manager);
    if (manager->served != NULL)
        manager->status.signer = certs_signer(text_of(manager->served), manager->held.ca_bundle,
                                              &manager->status.ca_count);
    manager->stage = READ_VALIDATING;
}

static void say_missing(const struct webhook_manager *manager, const char *kind)
{
    log_line(LOG_WARN, "webhook-manager", manager->options.settings->configuration, NULL,
             "there is no %s of this name: nobody calls this webhook by it; it is not made, only "
             "its CA bundle is kept right once it is there",
             kind);
}

static void take_configuration(struct webhook_manager *manager, const struct call_answer *answer)
{
    size_t which = requests[manager->stage].which;
    enum resource resource = requests[manager->stage].resource;
    const struct node *root =
        answer->result == CALL_DONE ? object_of(resource, answer->body, manager->arena) : NULL;
    bool missing = answer->result == CALL_MISSING;
    manager->configurations[which] = root;
    manager->unread[which] = root == NULL && !missing;
    if (missing && !manager->status.missing[which])
        say_missing(manager, resource_table[resource].kind);
    manager->status.missing[which] = missing;
    if (manager->unread[which])
        note(manager, manager->stage,
             answer->problem[0] == '\0' ? "the answer is none" : answer->problem);
    manager->stage = which == 0 ? READ_MUTATING : DECIDE;
}

/* ---- the decision ---- */

static struct bundles published(const struct webhook_manager *manager)
{
    struct bundles bundles = {0};
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        const struct webhook_entries *entries = &manager->entries[which];
        for (size_t i = 0; i < entries->count; i++)
            *LIST_PUSH(manager->arena, &bundles) = bundle_of(entries->ours[i], manager->arena);
        /* An unreadable configuration may hold anything, so no CA counts as trusted by it. */
        if (manager->unread[which])
            *LIST_PUSH(manager->arena, &bundles) = TEXT("");
    }
    return bundles;
}

/* For how long the bundles have not changed. */
static int64_t published_for_s(struct webhook_manager *manager, const struct bundles *bundles,
                               int64_t now_ms)
{
    struct text_builder all = {.arena = manager->arena};
    for (size_t i = 0; i < bundles->count; i++) {
        text_builder_printf(&all, "%zu ", bundles->items[i].size);
        text_builder_add(&all, bundles->items[i]);
    }
    struct text now = text_builder_text(&all);
    if (manager->seen == NULL || !text_is(now, manager->seen)) {
        manager->seen_since_ms = now_ms;
        (void)replace_copy(&manager->seen, now);
    }
    return (now_ms - manager->seen_since_ms) / 1000;
}

static bool holds_another(const struct webhook_manager *manager, size_t which)
{
    const struct webhook_entries *entries = &manager->entries[which];
    for (size_t i = 0; i < entries->count; i++)
        if (!text_equal(bundle_of(entries->ours[i], manager->arena), manager->decided.bundle))
            return true;
    return false;
}

static void find_entries(struct webhook_manager *manager)
{
    const struct webhook_manager_settings *settings = manager->options.settings;
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        struct webhook_entries *entries = &manager->entries[which];
        *entries = entries_of(settings, manager->configurations[which], manager->arena);
        if (is_copy(manager->left_alone[which], entries->others) || manager->unread[which] ||
            !replace_copy(&manager->left_alone[which], entries->others) ||
            entries->others.size == 0)
            continue;
        log_line(LOG_WARN, "webhook-manager", settings->configuration, NULL,
                 "entries of the %s call something else than the service %s/%s, so that their CA "
                 "bundle is left alone: %.*s",
                 resource_table[requests[apply_stage(which)].resource].kind, settings->namespace,
                 settings->service, TEXT_ARGS(entries->others));
    }
}

struct deciding {
    struct webhook_manager *manager;
    int64_t now_ms, now_unix_s;
    struct error error;
    bool done;
};

static void decide_body(void *context)
{
    struct deciding *deciding = context;
    struct webhook_manager *manager = deciding->manager;
    const struct webhook_manager_settings *settings = manager->options.settings;
    find_entries(manager);
    const struct bundles bundles = published(manager);
    const struct rotation_view view = {
        .secret = manager->held,
        .names = settings->names,
        .published = bundles.items,
        .published_count = bundles.count,
        .may_lose_trust = manager->status.serving && (manager->unread[0] || manager->unread[1]),
        .published_for_s = published_for_s(manager, &bundles, deciding->now_ms),
        .times = settings->times,
        .now_unix_s = deciding->now_unix_s,
    };
    deciding->done = certs_rotate(&view, manager->arena, &manager->decided, &deciding->error);
    for (size_t which = 0; deciding->done && which < CONFIGURATION_COUNT; which++) {
        manager->differs[which] = holds_another(manager, which);
        bundle_conflict_look(&manager->conflicts[which], manager->configurations[which],
                             manager->differs[which], manager->decided.bundle, manager->arena);
    }
}

/* Whether somebody else has put back another bundle too often to answer now. */
static bool pauses(struct webhook_manager *manager, int64_t now_ms, size_t which)
{
    struct bundle_conflict *conflict = &manager->conflicts[which];
    int64_t left_ms = bundle_conflict_pause_ms(conflict, manager->look_ms, now_ms);
    if (left_ms == 0)
        return false;
    enum stage stage = apply_stage(which);
    snprintf(problem_of(manager, stage), MANAGER_PROBLEM_BYTES,
             "%s %s: the CA bundle was overwritten%s%.*s; it is put back in %lld s",
             resource_table[requests[stage].resource].kind, name_of(manager, stage),
             conflict->manager.size > 0 ? " by field manager " : "", TEXT_ARGS(conflict->manager),
             (long long)(left_ms + 999) / 1000);
    return true;
}

/* Bundles that match are done; others are written, unless there is a pause. */
static void judge_bundles(struct webhook_manager *manager, int64_t now_ms)
{
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        if (manager->differs[which])
            manager->differs[which] = !pauses(manager, now_ms, which);
        else if (!manager->unread[which])
            succeed(manager, apply_stage(which));
    }
}

/* Both are written, one after the other, before the next read. */
static bool next_to_apply(struct webhook_manager *manager, size_t from)
{
    for (size_t which = from; which < CONFIGURATION_COUNT; which++)
        if (manager->differs[which]) {
            manager->stage = apply_stage(which);
            return true;
        }
    return false;
}

static void say_decision(struct webhook_manager *manager)
{
    struct text what = manager->decided.what;
    char line[sizeof manager->said];
    snprintf(line, sizeof line, "%.*s", TEXT_ARGS(what));
    if (what.size > 0 && strcmp(line, manager->said) != 0)
        log_line(LOG_INFO, "webhook-manager", manager->options.settings->secret, NULL, "%s", line);
    memcpy(manager->said, line, sizeof line);
}

static void decide(struct webhook_manager *manager, int64_t now_ms, int64_t now_unix_s)
{
    struct deciding deciding = {.manager = manager, .now_ms = now_ms, .now_unix_s = now_unix_s};
    manager->decided = (struct rotation_step){0};
    if (!arena_guard(manager->arena, decide_body, &deciding, &deciding.error) || !deciding.done) {
        fail(manager, now_ms, READ_SECRET, 0, deciding.error.what);
        return;
    }
    say_decision(manager);
    judge_bundles(manager, now_ms);
    if (manager->decided.write) {
        manager->stage = WRITE_SECRET;
        return;
    }
    succeed(manager, READ_SECRET);
    if (next_to_apply(manager, 0))
        return;
    manager->writes_in_a_row = 0;
    int64_t again_ms = manager->decided.again_in_s * 1000;
    bool soon = again_ms >= 0 && again_ms < manager->look_ms;
    rest(manager, now_ms + (soon && again_ms >= LOOK_MIN_MS ? again_ms
                            : soon                          ? LOOK_MIN_MS
                                                            : manager->look_ms));
}

/* ---- writing ---- */

static void write_body(void *context)
{
    struct webhook_manager *manager = context;
    if (manager->stage == WRITE_SECRET)
        manager->body = secret_body(manager->secret, manager->options.settings,
                                    &manager->decided.secret, manager->arena);
    else
        manager->body = bundles_body(requests[manager->stage].resource,
                                     manager->configurations[manager->stage - APPLY_VALIDATING],
                                     &manager->entries[manager->stage - APPLY_VALIDATING],
                                     manager->decided.bundle, manager->arena);
}

static void take_written(struct webhook_manager *manager, int64_t now_ms)
{
    enum stage stage = manager->stage;
    enum duty duty = requests[stage].duty;
    manager->status.writes[duty]++;
    log_line(LOG_INFO, "webhook-manager", name_of(manager, stage), NULL, "%s of %s written",
             duty == DUTY_SECRET ? "CA and certificate" : "the CA bundle",
             resource_table[requests[stage].resource].kind);
    if (duty == DUTY_BUNDLE)
        bundle_conflict_applied(&manager->conflicts[requests[stage].which], name_of(manager, stage),
                                manager->decided.bundle, now_ms);
    /* If the state never settles, writes must not follow each other without a pause. */
    if (stage != APPLY_VALIDATING || !manager->differs[1])
        manager->writes_in_a_row++;
    rest(manager, manager->writes_in_a_row >= WRITES_AT_ONCE ? now_ms + manager->look_ms : now_ms);
}

/* The mutating configuration is written in the same round, also when the validating one failed. */
static void go_on(struct webhook_manager *manager, enum stage after)
{
    if (after == APPLY_VALIDATING)
        (void)next_to_apply(manager, 1);
}

static void take_write(struct webhook_manager *manager, int64_t now_ms,
                       const struct call_answer *answer)
{
    enum stage stage = manager->stage;
    if (answer->result == CALL_DONE)
        take_written(manager, now_ms);
    else if (answer->result == CALL_CONFLICT) /* another has written: look again soon */
        rest(manager, now_ms + LOOK_MIN_MS);
    else
        fail(manager, now_ms, stage, answer->retry_after_s, answer->problem);
    go_on(manager, stage);
}

/* ---- called by the thread ---- */

static void ask(struct webhook_manager *manager, int64_t now_ms, struct webhook_manager_step *step)
{
    const struct webhook_manager_settings *settings = manager->options.settings;
    enum stage stage = manager->stage;
    struct error error;
    bool namespaced = resource_table[requests[stage].resource].namespaced;
    step->request = (struct call_request){
        .verb = requests[stage].verb,
        .resource = requests[stage].resource,
        .namespace = namespaced ? settings->namespace : "",
        .name = name_of(manager, stage),
        .limit_ms = REQUEST_MS,
    };
    if (stage == WRITE_SECRET && manager->secret == NULL)
        step->request.verb = CALL_CREATE;
    if (step->request.verb != CALL_GET &&
        !arena_guard(manager->arena, write_body, manager, &error)) {
        fail(manager, now_ms, stage, 0, error.what);
        go_on(manager, stage);
        step->until_ms = manager->stage == READ_SECRET ? manager->start_at_ms : now_ms;
        return;
    }
    if (step->request.verb != CALL_GET)
        step->request.body = manager->body;
    step->ask = manager->waiting = true;
}

static void begin_round(struct webhook_manager *manager)
{
    arena_reset(manager->arena);
    manager->secret = NULL;
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        manager->configurations[which] = NULL;
        manager->entries[which] = (struct webhook_entries){0};
        manager->unread[which] = false;
    }
}

/* Another leader may have done anything meanwhile: earlier observations do not count. */
static void forget(struct webhook_manager *manager)
{
    free(manager->seen);
    manager->seen = NULL;
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        bundle_conflict_forget(&manager->conflicts[which]);
        manager->status.missing[which] = false;
    }
    for (size_t i = 0; i < MANAGER_PROBLEM_COUNT; i++)
        manager->status.problem[i][0] = '\0';
}

void webhook_manager_next(struct webhook_manager *manager, int64_t now_ms, int64_t now_unix_s,
                          bool leads, struct webhook_manager_step *step)
{
    *step = (struct webhook_manager_step){.until_ms = INT64_MAX};
    if (manager->waiting)
        return;
    if (leads != manager->leads) {
        forget(manager);
        if (leads) {
            manager->start_at_ms = now_ms;
            rest(manager, now_ms);
        }
    }
    manager->leads = leads;
    if (manager->stage == READ_SECRET) {
        if (now_ms < manager->start_at_ms) {
            step->until_ms = manager->start_at_ms;
            return;
        }
        begin_round(manager);
    } else if (!leads) {
        bool first = !manager->status.serving && manager->look_ms > FIRST_LOOK_MS;
        rest(manager, now_ms + (first ? FIRST_LOOK_MS : manager->look_ms));
        step->until_ms = manager->start_at_ms;
        return;
    }
    if (manager->stage == DECIDE)
        decide(manager, now_ms, now_unix_s);
    if (manager->stage == READ_SECRET && now_ms < manager->start_at_ms)
        step->until_ms = manager->start_at_ms;
    else
        ask(manager, now_ms, step);
}

void webhook_manager_take(struct webhook_manager *manager, int64_t now_ms,
                          const struct call_answer *answer)
{
    manager->waiting = false;
    switch (manager->stage) {
    case READ_SECRET:
        take_secret(manager, now_ms, answer);
        break;
    case READ_VALIDATING:
    case READ_MUTATING:
        take_configuration(manager, answer);
        break;
    case WRITE_SECRET:
    case APPLY_VALIDATING:
    case APPLY_MUTATING:
        take_write(manager, now_ms, answer);
        break;
    case DECIDE:
        break;
    }
}
