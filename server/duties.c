#include "server/duties.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/duties_contest.h"

enum {
    WRITES_AT_ONCE = 4,     /* without a pause: a new CA, its bundles, a certificate */
    ROUND_BYTES = 64 << 20, /* of an arena: a Secret and two configurations, read and written */
    LOOK_MAX_MS = 10 * 1000,
    LOOK_MIN_MS = 250,
    FIRST_LOOK_MS = 1000, /* while there is no certificate */
    REQUEST_MS = 5000,
};

/* What is asked for next, or waited for. */
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
    size_t which; /* of the duty's objects */
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

struct duties {
    struct duties_options options;
    int64_t look_ms;     /* between two rounds */
    struct arena *arena; /* of one round */

    enum stage stage;
    bool waiting;
    bool leads;
    int64_t start_at_ms;
    unsigned writes_in_a_row;

    /* Of the round. */
    const struct node *secret;                              /* NULL: there is none */
    const struct node *configurations[CONFIGURATION_COUNT]; /* NULL: none, or not to be read */
    struct webhook_entries entries[CONFIGURATION_COUNT];    /* of them */
    bool unread[CONFIGURATION_COUNT];
    struct rotation_secret held;
    struct rotation_step decided;
    bool differs[CONFIGURATION_COUNT]; /* it is to get the bundle that was decided */
    struct text body;                  /* that is written */

    char *served;  /* the certificate in force; NULL: none */
    char *refused; /* one that was refused since, so that it is said once; NULL: none */
    char *seen;    /* the bundles that were published when last looked */
    int64_t seen_since_ms;
    struct contest contests[CONFIGURATION_COUNT];
    char *left_alone[CONFIGURATION_COUNT]; /* the entries of others, so that they are said once */
    char said[480];                        /* of the last decision, so that it is said once */
    struct duties_status status;
};

static int64_t look_ms_of(const struct rotation_times *times)
{
    int64_t ms = times->settle_s * 1000 / 4;
    return ms > LOOK_MAX_MS ? LOOK_MAX_MS : ms < LOOK_MIN_MS ? LOOK_MIN_MS : ms;
}

struct duties *duties_create(const struct duties_options *options)
{
    struct duties *duties = calloc(1, sizeof *duties);
    struct arena *arena = arena_create(ROUND_BYTES);
    if (duties == NULL || arena == NULL) {
        free(duties);
        arena_destroy(arena);
        return NULL;
    }
    duties->options = *options;
    duties->arena = arena;
    duties->look_ms = look_ms_of(&options->settings->times);
    return duties;
}

void duties_destroy(struct duties *duties)
{
    if (duties == NULL)
        return;
    arena_destroy(duties->arena);
    free(duties->served);
    free(duties->refused);
    free(duties->seen);
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        contest_forget(&duties->contests[which]);
        free(duties->left_alone[which]);
    }
    free(duties);
}

void duties_report(const struct duties *duties, struct duties_status *status)
{
    *status = duties->status;
}

/* ---- rounds ---- */

static enum stage apply_stage(size_t which)
{
    return which == 0 ? APPLY_VALIDATING : APPLY_MUTATING;
}

/* Whatever in the round asked for the longest rest gets it. */
static void rest(struct duties *duties, int64_t until_ms)
{
    duties->stage = READ_SECRET;
    if (duties->start_at_ms < until_ms)
        duties->start_at_ms = until_ms;
}

static const char *name_of(const struct duties *duties, enum stage stage)
{
    const struct duties_settings *settings = duties->options.settings;
    return requests[stage].resource == RESOURCE_SECRET ? settings->secret : settings->configuration;
}

static char *problem_of(struct duties *duties, enum stage stage)
{
    return duties->status.problem[requests[stage].duty + requests[stage].which];
}

static void note(struct duties *duties, enum stage stage, const char *problem)
{
    char *last = problem_of(duties, stage);
    char what[DUTIES_PROBLEM_BYTES];
    snprintf(what, sizeof what, "%s %s: %s", resource_table[requests[stage].resource].kind,
             name_of(duties, stage), problem);
    duties->status.failures[requests[stage].duty]++;
    if (strcmp(last, what) != 0)
        log_line(LOG_WARN, "duties", name_of(duties, stage), what,
                 "the request failed; it is made again in a while");
    snprintf(last, sizeof what, "%s", what);
}

static void fail(struct duties *duties, int64_t now_ms, enum stage stage, int64_t retry_after_s,
                 const char *problem)
{
    note(duties, stage, problem);
    int64_t wait_ms = retry_after_s > 0 ? retry_after_s * 1000 : 0;
    rest(duties, now_ms + duties->look_ms + wait_ms);
}

static void succeed(struct duties *duties, enum stage stage)
{
    char *problem = problem_of(duties, stage);
    if (problem[0] != '\0')
        log_line(LOG_INFO, "duties", name_of(duties, stage), NULL, "all is well again: %s",
                 problem);
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
    struct duties *duties = context;
    rotation_secret_read(duties->secret, duties->arena, &duties->held);
}

static bool is_copy(const char *copy, struct text t)
{
    return copy != NULL && text_is(t, copy);
}

/* One that is no good is tried each round, as a clock may be set or memory be free by then; until
 * it is good the one before stays in force. */
static void serve_leaf(struct duties *duties)
{
    const struct cert_pair *leaf = &duties->held.leaf;
    const char *secret = duties->options.settings->secret;
    if (leaf->certificate.size == 0 || leaf->key.size == 0 ||
        (duties->refused == NULL && is_copy(duties->served, leaf->certificate)))
        return;
    struct error error = {0};
    bool again = is_copy(duties->refused, leaf->certificate);
    if (duties->options.serve(duties->options.context, leaf, again, &error)) {
        duties->status.serving = true;
        (void)replace_copy(&duties->served, leaf->certificate);
        free(duties->refused);
        duties->refused = NULL;
        log_line(LOG_INFO, "duties", secret, NULL,
                 "its certificate is in force for new connections");
        return;
    }
    (void)replace_copy(&duties->refused, leaf->certificate);
    if (again)
        return;
    duties->status.failures[DUTY_SECRET]++;
    log_line(LOG_ERROR, "duties", secret, error.what,
             "its certificate cannot be served%s; it is tried again and again",
             duties->status.serving ? ", so that the last good one stays in force" : "");
}

static void take_secret(struct duties *duties, int64_t now_ms, const struct call_answer *answer)
{
    struct error error;
    const struct node *root =
        answer->result == CALL_DONE
            ? object_of(requests[duties->stage].resource, answer->body, duties->arena)
            : NULL;
    duties->secret = root;
    if (answer->result != CALL_MISSING && root == NULL) {
        fail(duties, now_ms, READ_SECRET, answer->retry_after_s,
             answer->problem[0] == '\0' ? "the answer is no Secret" : answer->problem);
        return;
    }
    if (!arena_guard(duties->arena, read_secret_data, duties, &error)) {
        fail(duties, now_ms, READ_SECRET, 0, error.what);
        return;
    }
    /* Who leads may still have to write it. */
    if (!duties->leads)
        succeed(duties, READ_SECRET);
    serve_leaf(duties);
    duties->stage = READ_VALIDATING;
}

static void say_missing(const struct duties *duties, const char *kind)
{
    log_line(LOG_WARN, "duties", duties->options.settings->configuration, NULL,
             "there is no %s of this name: nobody calls this webhook by it; it is not made, only "
             "its CA bundle is kept right once it is there",
             kind);
}

static void take_configuration(struct duties *duties, const struct call_answer *answer)
{
    size_t which = requests[duties->stage].which;
    enum resource resource = requests[duties->stage].resource;
    const struct node *root =
        answer->result == CALL_DONE ? object_of(resource, answer->body, duties->arena) : NULL;
    bool missing = answer->result == CALL_MISSING;
    duties->configurations[which] = root;
    duties->unread[which] = root == NULL && !missing;
    if (missing && !duties->status.missing[which])
        say_missing(duties, resource_table[resource].kind);
    duties->status.missing[which] = missing;
    if (duties->unread[which])
        note(duties, duties->stage,
             answer->problem[0] == '\0' ? "the answer is none" : answer->problem);
    duties->stage = which == 0 ? READ_MUTATING : DECIDE;
}

/* ---- deciding ---- */

static struct bundles published(const struct duties *duties)
{
    struct bundles bundles = {0};
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        const struct webhook_entries *entries = &duties->entries[which];
        for (size_t i = 0; i < entries->count; i++)
            *LIST_PUSH(duties->arena, &bundles) = bundle_of(entries->ours[i], duties->arena);
        /* What cannot be looked at may hold anything, so it counts as holding nothing. */
        if (duties->unread[which])
            *LIST_PUSH(duties->arena, &bundles) = TEXT("");
    }
    return bundles;
}

/* Since when they have been like this. */
static int64_t published_for_s(struct duties *duties, const struct bundles *bundles, int64_t now_ms)
{
    struct text_builder all = {.arena = duties->arena};
    for (size_t i = 0; i < bundles->count; i++) {
        text_builder_printf(&all, "%zu ", bundles->items[i].size);
        text_builder_add(&all, bundles->items[i]);
    }
    struct text now = text_builder_text(&all);
    if (duties->seen == NULL || !text_is(now, duties->seen)) {
        duties->seen_since_ms = now_ms;
        (void)replace_copy(&duties->seen, now);
    }
    return (now_ms - duties->seen_since_ms) / 1000;
}

static bool holds_another(const struct duties *duties, size_t which)
{
    const struct webhook_entries *entries = &duties->entries[which];
    for (size_t i = 0; i < entries->count; i++)
        if (!text_equal(bundle_of(entries->ours[i], duties->arena), duties->decided.bundle))
            return true;
    return false;
}

static void find_entries(struct duties *duties)
{
    const struct duties_settings *settings = duties->options.settings;
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        struct webhook_entries *entries = &duties->entries[which];
        *entries = entries_of(settings, duties->configurations[which], duties->arena);
        if (is_copy(duties->left_alone[which], entries->others) || duties->unread[which] ||
            !replace_copy(&duties->left_alone[which], entries->others) || entries->others.size == 0)
            continue;
        log_line(LOG_WARN, "duties", settings->configuration, NULL,
                 "entries of the %s call something else than the service %s/%s, so that their CA "
                 "bundle is left alone: %.*s",
                 resource_table[requests[apply_stage(which)].resource].kind, settings->namespace,
                 settings->service, TEXT_ARGS(entries->others));
    }
}

struct deciding {
    struct duties *duties;
    int64_t now_ms, now_unix_s;
    struct error error;
    bool done;
};

static void decide_body(void *context)
{
    struct deciding *deciding = context;
    struct duties *duties = deciding->duties;
    const struct duties_settings *settings = duties->options.settings;
    find_entries(duties);
    const struct bundles bundles = published(duties);
    const struct rotation_view view = {
        .secret = duties->held,
        .names = settings->names,
        .published = bundles.items,
        .published_count = bundles.count,
        .published_for_s = published_for_s(duties, &bundles, deciding->now_ms),
        .times = settings->times,
        .now_unix_s = deciding->now_unix_s,
    };
    deciding->done = certs_rotate(&view, duties->arena, &duties->decided, &deciding->error);
    for (size_t which = 0; deciding->done && which < CONFIGURATION_COUNT; which++) {
        duties->differs[which] = holds_another(duties, which);
        contest_look(&duties->contests[which], duties->configurations[which],
                     duties->differs[which], duties->decided.bundle, duties->arena);
    }
}

/* Whether somebody else has put back another bundle too often to answer now. */
static bool pauses(struct duties *duties, int64_t now_ms, size_t which)
{
    struct contest *contest = &duties->contests[which];
    int64_t left_ms = contest_pause_ms(contest, duties->look_ms, now_ms);
    if (left_ms == 0)
        return false;
    enum stage stage = apply_stage(which);
    snprintf(problem_of(duties, stage), DUTIES_PROBLEM_BYTES,
             "%s %s: the CA bundle was overwritten%s%.*s; it is put back in %lld s",
             resource_table[requests[stage].resource].kind, name_of(duties, stage),
             contest->manager.size > 0 ? " by field manager " : "", TEXT_ARGS(contest->manager),
             (long long)(left_ms + 999) / 1000);
    return true;
}

/* What is as it was decided is well; what differs is written, unless that is to wait. */
static void judge_bundles(struct duties *duties, int64_t now_ms)
{
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        if (duties->differs[which])
            duties->differs[which] = !pauses(duties, now_ms, which);
        else if (!duties->unread[which])
            succeed(duties, apply_stage(which));
    }
}

/* Both, one after the other, before anything is looked at again. */
static bool next_to_apply(struct duties *duties, size_t from)
{
    for (size_t which = from; which < CONFIGURATION_COUNT; which++)
        if (duties->differs[which]) {
            duties->stage = apply_stage(which);
            return true;
        }
    return false;
}

static void say_decision(struct duties *duties)
{
    struct text what = duties->decided.what;
    char line[sizeof duties->said];
    snprintf(line, sizeof line, "%.*s", TEXT_ARGS(what));
    if (what.size > 0 && strcmp(line, duties->said) != 0)
        log_line(LOG_INFO, "duties", duties->options.settings->secret, NULL, "%s", line);
    memcpy(duties->said, line, sizeof line);
}

static void decide(struct duties *duties, int64_t now_ms, int64_t now_unix_s)
{
    struct deciding deciding = {.duties = duties, .now_ms = now_ms, .now_unix_s = now_unix_s};
    duties->decided = (struct rotation_step){0};
    if (!arena_guard(duties->arena, decide_body, &deciding, &deciding.error) || !deciding.done) {
        fail(duties, now_ms, READ_SECRET, 0, deciding.error.what);
        return;
    }
    say_decision(duties);
    judge_bundles(duties, now_ms);
    if (duties->decided.write) {
        duties->stage = WRITE_SECRET;
        return;
    }
    succeed(duties, READ_SECRET);
    if (next_to_apply(duties, 0))
        return;
    duties->writes_in_a_row = 0;
    int64_t again_ms = duties->decided.again_in_s * 1000;
    bool soon = again_ms >= 0 && again_ms < duties->look_ms;
    rest(duties, now_ms + (soon && again_ms >= LOOK_MIN_MS ? again_ms
                           : soon                          ? LOOK_MIN_MS
                                                           : duties->look_ms));
}

/* ---- writing ---- */

static void write_body(void *context)
{
    struct duties *duties = context;
    if (duties->stage == WRITE_SECRET)
        duties->body = secret_body(duties->secret, duties->options.settings,
                                   &duties->decided.secret, duties->arena);
    else
        duties->body = bundles_body(requests[duties->stage].resource,
                                    duties->configurations[duties->stage - APPLY_VALIDATING],
                                    &duties->entries[duties->stage - APPLY_VALIDATING],
                                    duties->decided.bundle, duties->arena);
}

static void take_written(struct duties *duties, int64_t now_ms)
{
    enum stage stage = duties->stage;
    enum duty duty = requests[stage].duty;
    duties->status.writes[duty]++;
    log_line(LOG_INFO, "duties", name_of(duties, stage), NULL, "%s of %s written",
             duty == DUTY_SECRET ? "CA and certificate" : "the CA bundle",
             resource_table[requests[stage].resource].kind);
    if (duty == DUTY_BUNDLE)
        contest_applied(&duties->contests[requests[stage].which], name_of(duties, stage),
                        duties->decided.bundle, now_ms);
    /* What does not come to rest by itself must not write as fast as it can. */
    if (stage != APPLY_VALIDATING || !duties->differs[1])
        duties->writes_in_a_row++;
    rest(duties, duties->writes_in_a_row >= WRITES_AT_ONCE ? now_ms + duties->look_ms : now_ms);
}

/* Whatever came of the validating one, the mutating one is written in the same round. */
static void go_on(struct duties *duties, enum stage after)
{
    if (after == APPLY_VALIDATING)
        (void)next_to_apply(duties, 1);
}

static void take_write(struct duties *duties, int64_t now_ms, const struct call_answer *answer)
{
    enum stage stage = duties->stage;
    if (answer->result == CALL_DONE)
        take_written(duties, now_ms);
    else if (answer->result == CALL_CONFLICT) /* another has written: look again, and soon */
        rest(duties, now_ms + LOOK_MIN_MS);
    else
        fail(duties, now_ms, stage, answer->retry_after_s, answer->problem);
    go_on(duties, stage);
}

/* ---- what the one who runs it calls ---- */

static void ask(struct duties *duties, int64_t now_ms, struct duties_step *step)
{
    const struct duties_settings *settings = duties->options.settings;
    enum stage stage = duties->stage;
    struct error error;
    bool namespaced = resource_table[requests[stage].resource].namespaced;
    step->request = (struct call_request){
        .verb = requests[stage].verb,
        .resource = requests[stage].resource,
        .namespace = namespaced ? settings->namespace : "",
        .name = name_of(duties, stage),
        .limit_ms = REQUEST_MS,
    };
    if (stage == WRITE_SECRET && duties->secret == NULL)
        step->request.verb = CALL_CREATE;
    if (step->request.verb != CALL_GET && !arena_guard(duties->arena, write_body, duties, &error)) {
        fail(duties, now_ms, stage, 0, error.what);
        go_on(duties, stage);
        step->until_ms = duties->stage == READ_SECRET ? duties->start_at_ms : now_ms;
        return;
    }
    if (step->request.verb != CALL_GET)
        step->request.body = duties->body;
    step->ask = duties->waiting = true;
}

static void begin_round(struct duties *duties)
{
    arena_reset(duties->arena);
    duties->secret = NULL;
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        duties->configurations[which] = NULL;
        duties->entries[which] = (struct webhook_entries){0};
        duties->unread[which] = false;
    }
}

/* Another may have done anything meanwhile: what was seen before does not count. */
static void forget(struct duties *duties)
{
    free(duties->seen);
    duties->seen = NULL;
    for (size_t which = 0; which < CONFIGURATION_COUNT; which++) {
        contest_forget(&duties->contests[which]);
        duties->status.missing[which] = false;
    }
    for (size_t i = 0; i < DUTIES_PROBLEM_COUNT; i++)
        duties->status.problem[i][0] = '\0';
}

void duties_next(struct duties *duties, int64_t now_ms, int64_t now_unix_s, bool leads,
                 struct duties_step *step)
{
    *step = (struct duties_step){.until_ms = INT64_MAX};
    if (duties->waiting)
        return;
    if (leads != duties->leads) {
        forget(duties);
        if (leads) {
            duties->start_at_ms = now_ms;
            rest(duties, now_ms);
        }
    }
    duties->leads = leads;
    if (duties->stage == READ_SECRET) {
        if (now_ms < duties->start_at_ms) {
            step->until_ms = duties->start_at_ms;
            return;
        }
        begin_round(duties);
    } else if (!leads) {
        bool first = !duties->status.serving && duties->look_ms > FIRST_LOOK_MS;
        rest(duties, now_ms + (first ? FIRST_LOOK_MS : duties->look_ms));
        step->until_ms = duties->start_at_ms;
        return;
    }
    if (duties->stage == DECIDE)
        decide(duties, now_ms, now_unix_s);
    if (duties->stage == READ_SECRET && now_ms < duties->start_at_ms)
        step->until_ms = duties->start_at_ms;
    else
        ask(duties, now_ms, step);
}

void duties_take(struct duties *duties, int64_t now_ms, const struct call_answer *answer)
{
    duties->waiting = false;
    switch (duties->stage) {
    case READ_SECRET:
        take_secret(duties, now_ms, answer);
        break;
    case READ_VALIDATING:
    case READ_MUTATING:
        take_configuration(duties, answer);
        break;
    case WRITE_SECRET:
    case APPLY_VALIDATING:
    case APPLY_MUTATING:
        take_write(duties, now_ms, answer);
        break;
    case DECIDE:
        break;
    }
}
