/* Leader election as client-go does it, so that both may use one Lease. The last writer of the
 * record holds it; a process that sees it unchanged for its duration takes over. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "live/client.h"

enum {
    RECORD_BYTES = 4 << 20, /* of an arena: a Lease, once as it came and once as it is read */
    TIME_BYTES = 40,
    LIMIT_MIN_MS = 1000,
    DURATION_MAX_S = 24 * 60 * 60,
};
static const struct doc_limits limits = {.bytes = 1 << 20, .nodes = 20000, .depth = 32};

enum waiting { WAITS_FOR_NOTHING, WAITS_FOR_GET, WAITS_FOR_CREATE, WAITS_FOR_UPDATE };

struct record {
    char holder[128], acquired[TIME_BYTES], renewed[TIME_BYTES];
    int64_t duration_s, transitions;
};

struct lease {
    struct lease_settings settings;
    struct arena *kept;    /* memory of what was read last */
    struct arena *sending; /* memory of the body that is being sent */

    bool there; /* the Lease existed at the last read; record and root are its */
    const struct node *root;
    struct record record;
    int64_t changed_ms; /* when the current record was first seen */
    int64_t leads_until_ms;

    enum waiting waiting;
    bool known;     /* record, or its absence, is fresh enough for a write */
    bool fast;      /* the next write needs no read */
    bool stale;     /* a write failed: what was read may be out of date */
    bool releasing; /* only the release is left to do */
    bool looked;    /* the read before the release is done */
    bool released;
    int64_t start_at_ms, sent_ms;
    uint64_t failures;
    char problem[200];
};

bool lease_settings_check(const struct lease_settings *s, struct error *error)
{
    if (s->duration_ms < 1000 || s->duration_ms % 1000 != 0 ||
        s->duration_ms > DURATION_MAX_S * 1000LL)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "the lease must last a number of whole seconds, from 1s to 24h");
    if (s->retry_ms < 1 || s->renew_deadline_ms * 10 <= s->retry_ms * 12)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "the renew deadline must be more than 1.2 times the retry period, or "
                         "the lease is given up before it is asked for again");
    if (s->duration_ms <= s->renew_deadline_ms)
        return error_set(error, ERROR_USAGE, NOWHERE,
                         "the lease must last longer than the renew deadline, or two could hold it "
                         "at once");
    return true;
}

struct lease *lease_create(const struct lease_settings *settings)
{
    struct lease *lease = calloc(1, sizeof *lease);
    if (lease == NULL)
        return NULL;
    lease->settings = *settings;
    lease->kept = arena_create(RECORD_BYTES);
    lease->sending = arena_create(RECORD_BYTES);
    if (lease->kept == NULL || lease->sending == NULL) {
        lease_destroy(lease);
        return NULL;
    }
    return lease;
}

void lease_destroy(struct lease *lease)
{
    if (lease == NULL)
        return;
    arena_destroy(lease->kept);
    arena_destroy(lease->sending);
    free(lease);
}

/* ---- the record ---- */

static void keep_text(char *kept, size_t size, struct text t)
{
    snprintf(kept, size, "%.*s", TEXT_ARGS(t));
}

static int64_t integer_or(const struct node *node, int64_t otherwise)
{
    int64_t value;
    return node_integer(node, &value) ? value : otherwise;
}

static struct record record_of(const struct lease *lease, const struct node *root)
{
    const struct node *spec = node_get(root, "spec");
    struct record record = {0};
    keep_text(record.holder, sizeof record.holder, node_string(node_get(spec, "holderIdentity")));
    keep_text(record.acquired, TIME_BYTES, node_string(node_get(spec, "acquireTime")));
    keep_text(record.renewed, TIME_BYTES, node_string(node_get(spec, "renewTime")));
    record.duration_s =
        integer_or(node_get(spec, "leaseDurationSeconds"), lease->settings.duration_ms / 1000);
    record.transitions = integer_or(node_get(spec, "leaseTransitions"), 0);
    if (record.transitions < 0 || record.transitions >= INT32_MAX)
        record.transitions = 0;
    if (record.duration_s < 0 || record.duration_s > INT32_MAX)
        record.duration_s = lease->settings.duration_ms / 1000;
    return record;
}

static bool same_record(const struct record *a, const struct record *b)
{
    return strcmp(a->holder, b->holder) == 0 && strcmp(a->acquired, b->acquired) == 0 &&
           strcmp(a->renewed, b->renewed) == 0 && a->duration_s == b->duration_s &&
           a->transitions == b->transitions;
}

struct lease_reader {
    struct lease *lease;
    struct text body;
    const struct node *root;
    bool done;
};

static void read_body(void *context)
{
    struct lease_reader *reader = context;
    struct arena *arena = reader->lease->kept;
    struct source *source = ARENA_NEW(arena, struct source);
    struct error error;
    source->text = arena_text(arena, reader->body);
    reader->done = doc_read_json(source, &limits, NULL, arena, &reader->root, &error) &&
                   node_is(node_get(reader->root, "metadata"), NODE_MAP) &&
                   node_string(node_at(reader->root, "metadata.resourceVersion")).size > 0;
}

/* False: it is no Lease, and nothing is known any more. */
static bool keep_record(struct lease *lease, int64_t now_ms, struct text body)
{
    struct lease_reader reader = {.lease = lease, .body = body};
    struct error error;
    lease->there = false;
    arena_reset(lease->kept);
    if (!arena_guard(lease->kept, read_body, &reader, &error) || !reader.done)
        return false;
    struct record record = record_of(lease, reader.root);
    /* An unchanged record is as old as its first sight; other changes of the object, and the
     * record's own times, do not matter. */
    if (!same_record(&record, &lease->record))
        lease->changed_ms = now_ms;
    lease->record = record;
    lease->root = reader.root;
    lease->there = true;
    return true;
}

/* ---- writing ---- */

/* RFC 3339 with six digits: Kubernetes' MicroTime takes no other. */
static struct text micro_time(int64_t unix_us, struct arena *arena)
{
    time_t seconds = (time_t)(unix_us / 1000000);
    struct tm utc;
    char text[TIME_BYTES] = "1970-01-01T00:00:00";
    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return arena_printf(arena, "%s.%06dZ", text, (int)(unix_us % 1000000));
}

struct writing {
    struct lease *lease;
    int64_t now_unix_us;
    struct text body;
};

static bool is_mine(const struct lease *lease)
{
    return strcmp(lease->record.holder, lease->settings.identity) == 0;
}

static struct node spec_of(const struct lease *lease, int64_t now_unix_us, struct arena *arena)
{
    const struct record *old = &lease->record;
    bool mine = lease->there && is_mine(lease);
    bool release = lease->releasing;
    int64_t transitions = !lease->there ? 0 : old->transitions + (mine ? 0 : 1);
    struct text now = micro_time(now_unix_us, arena);
    bool keeps = mine && !release && old->acquired[0] != '\0';
    struct member *spec = ARENA_ARRAY(arena, 5, struct member);
    size_t count = 0;
    /* Readers treat empty and absent alike; the API server refuses an empty one. */
    if (!release)
        spec[count++] =
            member_of(TEXT("holderIdentity"), node_of_text(text_of(lease->settings.identity)));
    spec[count++] =
        member_of(TEXT("leaseDurationSeconds"),
                  node_of_integer(release ? 1 : lease->settings.duration_ms / 1000, arena));
    spec[count++] =
        member_of(TEXT("acquireTime"), node_of_text(keeps ? text_of(old->acquired) : now));
    spec[count++] = member_of(TEXT("renewTime"), node_of_text(now));
    spec[count++] = member_of(TEXT("leaseTransitions"), node_of_integer(transitions, arena));
    return node_of_members(spec, count);
}

/* As it was read, so that foreign labels stay; managedFields stay when they are not sent. */
static struct node metadata_of(const struct lease *lease, struct arena *arena)
{
    const struct node *read = lease->there ? node_get(lease->root, "metadata") : NULL;
    struct member *members = ARENA_ARRAY(arena, 2 + node_count(read), struct member);
    size_t count = 0;
    for (size_t i = 0; read != NULL && i < node_count(read); i++) {
        struct text key = member_key(&read->members[i]);
        if (!text_is(key, "managedFields"))
            members[count++] = read->members[i];
    }
    if (!lease->there) {
        members[count++] = member_of(TEXT("name"), node_of_text(text_of(lease->settings.name)));
        members[count++] =
            member_of(TEXT("namespace"), node_of_text(text_of(lease->settings.namespace)));
    }
    return node_of_members(members, count);
}

static void write_body(void *context)
{
    struct writing *writing = context;
    struct arena *arena = writing->lease->sending;
    const struct resource_info *info = &resource_table[RESOURCE_LEASE];
    struct member *members = ARENA_ARRAY(arena, 4, struct member);
    members[0] = member_of(TEXT("apiVersion"), node_of_text(text_of(info->api_version)));
    members[1] = member_of(TEXT("kind"), node_of_text(text_of(info->kind)));
    members[2] = member_of(TEXT("metadata"), metadata_of(writing->lease, arena));
    members[3] = member_of(TEXT("spec"), spec_of(writing->lease, writing->now_unix_us, arena));
    struct node root = node_of_members(members, 4);
    writing->body = node_json(&root, arena);
}

static bool write_record(struct lease *lease, int64_t now_unix_us, struct text *body)
{
    struct writing writing = {.lease = lease, .now_unix_us = now_unix_us};
    struct error error;
    arena_reset(lease->sending);
    bool done = arena_guard(lease->sending, write_body, &writing, &error);
    *body = writing.body;
    return done;
}

/* ---- what to do ---- */

bool lease_leads(const struct lease *lease, int64_t now_ms)
{
    return !lease->releasing && now_ms < lease->leads_until_ms;
}

static bool is_free(const struct lease *lease, int64_t now_ms)
{
    /* A Lease that was deleted under its holder still belongs to it for its duration. */
    return lease->record.holder[0] == '\0' || is_mine(lease) ||
           now_ms - lease->changed_ms > lease->record.duration_s * 1000;
}

static void ask(struct lease *lease, int64_t now_ms, int64_t now_unix_us, enum waiting waiting,
                struct lease_step *step)
{
    const struct lease_settings *settings = &lease->settings;
    int64_t half_ms = settings->renew_deadline_ms / 2;
    static const enum call_verb verbs[] = {
        [WAITS_FOR_GET] = CALL_GET,
        [WAITS_FOR_CREATE] = CALL_CREATE,
        [WAITS_FOR_UPDATE] = CALL_UPDATE,
    };
    step->request = (struct call_request){
        .verb = verbs[waiting],
        .resource = RESOURCE_LEASE,
        .namespace = settings->namespace,
        .name = settings->name,
        .limit_ms = half_ms > LIMIT_MIN_MS ? half_ms : LIMIT_MIN_MS,
    };
    if (waiting != WAITS_FOR_GET && !write_record(lease, now_unix_us, &step->request.body)) {
        lease->start_at_ms = step->until_ms = now_ms + settings->retry_ms;
        return;
    }
    lease->waiting = waiting;
    lease->sent_ms = now_ms;
    step->ask = true;
}

void lease_next(struct lease *lease, int64_t now_ms, int64_t now_unix_us, struct lease_step *step)
{
    *step = (struct lease_step){.until_ms = INT64_MAX};
    if (lease->waiting != WAITS_FOR_NOTHING || lease->released)
        return;
    if (lease->releasing) {
        bool held = lease->there && is_mine(lease) && now_ms < lease->leads_until_ms;
        bool looks = held && lease->stale && !lease->looked;
        lease->released = !looks;
        lease->looked = true;
        if (held)
            ask(lease, now_ms, now_unix_us, looks ? WAITS_FOR_GET : WAITS_FOR_UPDATE, step);
        return;
    }
    if (now_ms < lease->start_at_ms) {
        step->until_ms = lease->start_at_ms;
        return;
    }
    lease->fast = !lease->known && !lease->stale && lease->there && lease_leads(lease, now_ms);
    if (lease->known || lease->fast)
        ask(lease, now_ms, now_unix_us, lease->there ? WAITS_FOR_UPDATE : WAITS_FOR_CREATE, step);
    else
        ask(lease, now_ms, now_unix_us, WAITS_FOR_GET, step);
    lease->known = false;
}

static void note(struct lease *lease, const char *problem)
{
    lease->failures++;
    snprintf(lease->problem, sizeof lease->problem, "%s", problem);
}

/* From 1 to 2.2 times the period, so that waiting processes do not come all at once. */
static int64_t pause_ms(const struct lease *lease, uint64_t random)
{
    int64_t ms = lease->settings.retry_ms;
    return ms + (int64_t)(random % (uint64_t)(ms + ms / 5 + 1));
}

static void take_get(struct lease *lease, int64_t now_ms, uint64_t random,
                     const struct call_answer *answer)
{
    bool missing = answer->result == CALL_MISSING;
    bool read = answer->result == CALL_DONE && keep_record(lease, now_ms, answer->body);
    if (missing)
        lease->there = false;
    if (missing || (read && !is_mine(lease)))
        lease->leads_until_ms = 0;
    lease->stale = !read && !missing;
    if (!lease->stale)
        lease->problem[0] = '\0';
    else
        note(lease, answer->problem[0] == '\0' ? "the answer is no Lease" : answer->problem);
    lease->known = (read || missing) && is_free(lease, now_ms);
    /* The leader goes on at once, and so does anybody who finds the Lease free. */
    lease->start_at_ms = lease->known ? now_ms : now_ms + pause_ms(lease, random);
}

static void take_write(struct lease *lease, int64_t now_ms, uint64_t random,
                       const struct call_answer *answer)
{
    const struct lease_settings *settings = &lease->settings;
    bool read = answer->result == CALL_DONE && keep_record(lease, now_ms, answer->body);
    if (read && is_mine(lease)) {
        /* From the time of sending: the others may have seen it since then. */
        lease->leads_until_ms = lease->sent_ms + settings->renew_deadline_ms;
        lease->start_at_ms = lease->sent_ms + settings->retry_ms;
        lease->problem[0] = '\0';
        return;
    }
    if (read)
        lease->leads_until_ms = 0; /* whatever has changed what was written */
    lease->stale = true;
    if (answer->result == CALL_CONFLICT && !lease->there)
        lease->problem[0] = '\0'; /* another process made it first */
    else
        note(lease,
             answer->problem[0] == '\0' ? "the answer is not this one's Lease" : answer->problem);
    /* After a conflict, too: it may be this process's own write, whose answer was lost. */
    int64_t later_ms = now_ms + pause_ms(lease, random);
    lease->start_at_ms = lease->fast ? now_ms : later_ms;
    if (answer->result == CALL_BUSY)
        lease->start_at_ms = later_ms + answer->retry_after_s * 1000;
}

void lease_take(struct lease *lease, int64_t now_ms, uint64_t random,
                const struct call_answer *answer)
{
    enum waiting waited = lease->waiting;
    lease->waiting = WAITS_FOR_NOTHING;
    if (waited == WAITS_FOR_GET)
        take_get(lease, now_ms, random, answer);
    else if (waited != WAITS_FOR_NOTHING && !lease->released)
        take_write(lease, now_ms, random, answer);
}

void lease_release(struct lease *lease)
{
    lease->releasing = true;
}

void lease_report(const struct lease *lease, struct lease_report *report)
{
    *report = (struct lease_report){
        .transitions = lease->record.renewed[0] == '\0' ? -1 : lease->record.transitions,
        .failures = lease->failures,
    };
    keep_text(report->holder, sizeof report->holder, text_of(lease->record.holder));
    keep_text(report->problem, sizeof report->problem, text_of(lease->problem));
}
