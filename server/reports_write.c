/* Makes the reports of the cluster those of an audit. A report is written when what it says has
 * changed, and removed when its namespace is clean; those of others are left alone. */
#include "server/reports.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"

enum {
    ROUND_BYTES = 32 << 20, /* what is known of the reports */
    WORK_BYTES = 32 << 20,  /* one report, as it is and as it is to be */
    TRIES = 4,
    FIRST_PAUSE_MS = 1000,
    PAUSE_MAX_MS = 60 * 1000,
};

static const struct {
    enum resource in_namespace, of_cluster;
} resources[REPORT_API_COUNT] = {
    [REPORT_API_OPENREPORTS] = {RESOURCE_REPORT, RESOURCE_CLUSTER_REPORT},
    [REPORT_API_WGPOLICY] = {RESOURCE_POLICY_REPORT, RESOURCE_CLUSTER_POLICY_REPORT},
};

/* ---- asking ---- */

bool reports_wait(struct reports_link *link, int64_t for_ms)
{
    struct error error;
    int64_t end_ms = monotonic_ms() + for_ms, left_ms = for_ms;
    while (link->goes_on(link->context) && left_ms > 0) {
        if (!client_run(link->client, left_ms, &error))
            return false;
        left_ms = end_ms - monotonic_ms();
    }
    return link->goes_on(link->context);
}

static void take(void *context, const struct call_answer *answer)
{
    struct reports_link *link = context;
    link->answered = true;
    link->answer = *answer;
    free(link->body);
    link->body = answer->result == CALL_DONE ? text_duplicate(answer->body) : NULL;
    link->answer.body.data = link->body;
    if (answer->result == CALL_DONE && link->body == NULL)
        call_read(0, TEXT(""), 0, "no memory for the answer", &link->answer);
    client_wake(link->client);
}

static bool ask_once(struct reports_link *link, const struct call_request *request)
{
    struct error error;
    link->answered = false;
    if (!client_call(link->client, request, take, link, &error)) {
        call_read(0, TEXT(""), 0, error.what, &link->answer);
        return true;
    }
    /* A request that is under way is waited for a moment also at the end: it may be a write. An
     * answer that comes later yet is not that of the next request. */
    while (!link->answered) {
        if (!client_run(link->client, FIRST_PAUSE_MS, &error)) {
            client_drop_calls(link->client);
            call_read(0, TEXT(""), 0, error.what, &link->answer);
            return true;
        }
        if (!link->answered && !link->goes_on(link->context)) {
            client_drop_calls(link->client);
            return false;
        }
    }
    return true;
}

static bool is_worth_another(const struct call_answer *answer)
{
    return answer->result == CALL_BUSY ||
           (answer->result == CALL_FAILED && (answer->status == 0 || answer->status >= 500));
}

bool reports_ask(struct reports_link *link, const struct call_request *request)
{
    int64_t pause_ms = FIRST_PAUSE_MS;
    for (int i = 0; link->goes_on(link->context) && ask_once(link, request); i++) {
        if (!is_worth_another(&link->answer) || i + 1 == TRIES)
            return true;
        int64_t wished_ms = link->answer.retry_after_s * 1000;
        int64_t wait_ms = wished_ms > pause_ms ? wished_ms : pause_ms;
        pause_ms *= 2;
        if (!reports_wait(link, wait_ms < PAUSE_MAX_MS ? wait_ms : PAUSE_MAX_MS))
            return false;
    }
    return false;
}

/* *error stays ERROR_NONE when it is over. */
static bool ask(struct reports_link *link, const struct call_request *request, struct error *error)
{
    *error = (struct error){0};
    return reports_ask(link, request);
}

static bool refused(const struct reports_link *link, const char *what, enum resource resource,
                    struct error *error)
{
    return error_set(error, ERROR_CLUSTER, NOWHERE, "%s cannot be %s: %s",
                     resource_table[resource].plural, what, link->answer.problem);
}

/* ---- which API there is ---- */

bool reports_discover(struct reports_link *link, enum report_api *api, struct error *error)
{
    for (*api = 0; *api < REPORT_API_COUNT; (*api)++) {
        enum resource resource = resources[*api].in_namespace;
        const struct call_request request = {
            .verb = CALL_DISCOVER, .resource = resource, .namespace = "", .name = ""};
        if (!ask(link, &request, error))
            return false;
        if (link->answer.result == CALL_DONE)
            return true;
        if (link->answer.result != CALL_MISSING)
            return refused(link, "looked for", resource, error);
    }
    return true;
}

/* ---- the reports that are there ---- */

struct there {
    struct text namespace, version, uid;
    bool ours, wanted;
};

/* What this replica wrote, or found to be right. */
struct known {
    struct text namespace, version;
    uint64_t hash;
};

/* What is known of the reports: of the last round, and of this one. */
struct round {
    struct arena *arena;
    enum report_api api;
    struct text_map by_namespace; /* of known: index + 1 */
    LIST(struct known) known;
};

struct reports_writer {
    struct round rounds[2];
    size_t now; /* index of this round */
    struct hash_seed seed;
    struct arena *work; /* of one report */
};

struct reports_writer *reports_writer_create(void)
{
    struct reports_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL)
        return NULL;
    writer->seed = hash_seed_new();
    writer->rounds[0].arena = arena_create(ROUND_BYTES);
    writer->rounds[1].arena = arena_create(ROUND_BYTES);
    writer->work = arena_create(WORK_BYTES);
    if (writer->rounds[0].arena == NULL || writer->rounds[1].arena == NULL ||
        writer->work == NULL) {
        reports_writer_destroy(writer);
        return NULL;
    }
    return writer;
}

void reports_writer_destroy(struct reports_writer *writer)
{
    if (writer == NULL)
        return;
    arena_destroy(writer->rounds[0].arena);
    arena_destroy(writer->rounds[1].arena);
    arena_destroy(writer->work);
    free(writer);
}

struct existing_reports {
    struct arena *arena, *work;
    struct text body; /* of a page */
    LIST(struct there) list;
    struct text continue_token;
    struct text_map by_namespace; /* index + 1 */
    bool read;
};

static const struct doc_limits answer_limits = {.bytes = 8 << 20, .nodes = 1 << 20, .depth = 64};

static struct text copy_at(const struct node *node, const char *path, struct arena *arena)
{
    return arena_text(arena, node_string(node_at(node, path)));
}

static bool is_ours(const struct node *report)
{
    return text_is(node_string(node_get(node_at(report, "metadata.labels"), REPORT_OWNER_LABEL)),
                   "taffrail");
}

static const struct node *read_answer(struct text body, struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    const struct node *root = NULL;
    struct error error;
    source->text = body;
    return doc_read_json(source, &answer_limits, NULL, arena, &root, &error) ? root : NULL;
}

static void read_page(void *argument)
{
    struct existing_reports *existing = argument;
    struct arena *arena = existing->arena;
    const struct node *root = read_answer(existing->body, existing->work);
    /* The API server writes null for no items. */
    existing->read = node_get(root, "items") != NULL;
    existing->continue_token = copy_at(root, "metadata.continue", arena);
    FOR_ITEMS(report, node_get(root, "items")) {
        if (!text_is(node_string(node_at(report, "metadata.name")), REPORT_NAME))
            continue;
        *LIST_PUSH(arena, &existing->list) =
            (struct there){.namespace = copy_at(report, "metadata.namespace", arena),
                           .version = copy_at(report, "metadata.resourceVersion", arena),
                           .uid = copy_at(report, "metadata.uid", arena),
                           .ours = is_ours(report)};
        *text_map_at(&existing->by_namespace, arena,
                     existing->list.items[existing->list.count - 1].namespace) =
            existing->list.count;
    }
}

static void read_page_in_round(void *argument)
{
    struct existing_reports *existing = argument;
    struct error error;
    existing->read = false;
    if (!arena_guard(existing->work, read_page, existing, &error))
        existing->read = false;
}

/* Adds the reports of a resource. */
static bool list_reports(struct reports_link *link, enum resource resource,
                         struct existing_reports *existing, struct error *error)
{
    struct call_request request = {
        .verb = CALL_LIST, .resource = resource, .namespace = "", .name = REPORT_NAME};
    do {
        if (!ask(link, &request, error))
            return false;
        if (link->answer.result != CALL_DONE)
            return refused(link, "listed", resource, error);
        existing->body = link->answer.body;
        arena_reset(existing->work);
        if (!arena_guard(existing->arena, read_page_in_round, existing, error))
            return false;
        if (!existing->read)
            return error_set(error, ERROR_CLUSTER, NOWHERE, "the list of %s cannot be read",
                             resource_table[resource].plural);
        request.continue_token = existing->continue_token.data;
    } while (existing->continue_token.size > 0);
    return true;
}

/* ---- one report ---- */

struct writing {
    struct reports_writer *writer;
    struct reports_link *link;
    enum report_api api;
    const struct reports_audit *audit;
    struct existing_reports existing;
    struct reports_written *written;
    bool missing; /* a write found no such resource, or no such namespace */

    /* Of one space. */
    size_t index, results_max;
    struct report_space space;
    const struct node *wanted;
    struct text body;
    uint64_t hash;
    bool same, ours;
    struct text version;
};

static struct round *this_round(struct reports_writer *writer)
{
    return &writer->rounds[writer->now];
}

static void build(void *argument)
{
    struct writing *writing = argument;
    struct arena *arena = writing->writer->work;
    writing->space =
        reports_audit_space(writing->audit, writing->index, writing->results_max, arena);
    writing->wanted = node_keep(arena, report_node(writing->api, &writing->space, arena));
    writing->body = node_json(writing->wanted, arena);
    writing->hash = hash_text(writing->writer->seed, writing->body);
}

static void compare(void *argument)
{
    struct writing *writing = argument;
    const struct node *root = read_answer(writing->link->answer.body, writing->writer->work);
    writing->ours = is_ours(root);
    writing->same = writing->ours && report_is_same(root, writing->wanted);
    writing->version = node_string(node_at(root, "metadata.resourceVersion"));
}

static void read_version(void *argument)
{
    struct writing *writing = argument;
    const struct node *root = read_answer(writing->link->answer.body, writing->writer->work);
    writing->version = node_string(node_at(root, "metadata.resourceVersion"));
}

static void remember(void *argument)
{
    struct writing *writing = argument;
    struct round *round = this_round(writing->writer);
    struct text namespace = arena_text(round->arena, writing->space.namespace);
    *LIST_PUSH(round->arena, &round->known) =
        (struct known){namespace, arena_text(round->arena, writing->version), writing->hash};
    *text_map_at(&round->by_namespace, round->arena, namespace) = round->known.count;
}

/* Without memory for it, it is compared again the next time. */
static void keep_known(struct writing *writing)
{
    struct error error;
    (void)!arena_guard(this_round(writing->writer)->arena, remember, writing, &error);
}

static const struct known *known_before(const struct writing *writing)
{
    const struct round *before = &writing->writer->rounds[!writing->writer->now];
    size_t at = before->api == writing->api
                    ? text_map_get(&before->by_namespace, writing->space.namespace, 0)
                    : 0;
    return at == 0 ? NULL : &before->known.items[at - 1];
}

static enum resource resource_of(const struct writing *writing)
{
    return writing->space.namespace.size > 0 ? resources[writing->api].in_namespace
                                             : resources[writing->api].of_cluster;
}

static const char *name_of(const struct writing *writing)
{
    return writing->space.namespace.size > 0 ? writing->space.namespace.data : "the cluster";
}

static void note_failure(struct writing *writing, const char *what, const char *problem)
{
    writing->written->failed++;
    snprintf(writing->written->problem, sizeof writing->written->problem,
             "the %s of %s cannot be %s: %s", resource_table[resource_of(writing)].kind,
             name_of(writing), what, problem);
    log_line(LOG_WARN, "reports", name_of(writing), problem, "the %s cannot be %s",
             resource_table[resource_of(writing)].kind, what);
}

enum comparison { COMPARED_SAME, COMPARED_OTHER, COMPARED_NONE, COMPARED_NOT_OURS, NOT_COMPARED };

/* Whether the report that is there says the same; false: it is over. */
static bool look_at(struct writing *writing, const struct there *there, enum comparison *comparison)
{
    struct error error;
    const struct known *known = known_before(writing);
    *comparison = COMPARED_NONE;
    if (there == NULL)
        return true;
    *comparison = COMPARED_NOT_OURS;
    if (!there->ours)
        return true;
    if (known != NULL && text_equal(known->version, there->version)) {
        *comparison = known->hash == writing->hash ? COMPARED_SAME : COMPARED_OTHER;
        writing->version = there->version;
        return true;
    }
    const struct call_request request = {.verb = CALL_GET,
                                         .resource = resource_of(writing),
                                         .namespace = there->namespace.data,
                                         .name = REPORT_NAME};
    *comparison = COMPARED_OTHER;
    if (!reports_ask(writing->link, &request))
        return false;
    if (writing->link->answer.result == CALL_DONE &&
        arena_guard(writing->writer->work, compare, writing, &error))
        *comparison = writing->same   ? COMPARED_SAME
                      : writing->ours ? COMPARED_OTHER
                                      : COMPARED_NOT_OURS;
    return true;
}

/* A namespace that ends takes no new objects, and its report ends with it. */
static bool is_ending(const struct call_answer *answer)
{
    return answer->result == CALL_FORBIDDEN && strstr(answer->problem, "being terminated") != NULL;
}

static bool is_too_large(const struct call_answer *answer)
{
    return answer->status == 413 || strstr(answer->problem, "too large") != NULL ||
           strstr(answer->problem, "Too long") != NULL;
}

/* False: it is over. */
static bool apply(struct writing *writing)
{
    struct error error;
    struct reports_link *link = writing->link;
    const struct call_request request = {.verb = CALL_APPLY,
                                         .resource = resource_of(writing),
                                         .namespace = writing->space.namespace.data,
                                         .name = REPORT_NAME,
                                         .body = writing->body};
    if (!reports_ask(link, &request))
        return false;
    if (link->answer.result == CALL_DONE) {
        writing->written->written++;
        if (arena_guard(writing->writer->work, read_version, writing, &error))
            keep_known(writing);
    } else if (is_too_large(&link->answer) && writing->space.result_count > 1) {
        writing->results_max = writing->space.result_count / 2;
    } else if (link->answer.result == CALL_MISSING) {
        writing->missing = true;
    } else if (!is_ending(&link->answer)) {
        note_failure(writing, "written", link->answer.problem);
    }
    return true;
}

static struct there *there_of(struct writing *writing)
{
    size_t at = text_map_get(&writing->existing.by_namespace, writing->space.namespace, 0);
    return at == 0 ? NULL : &writing->existing.list.items[at - 1];
}

/* Builds the report and writes it when it differs; false: it is over. */
static bool write_space(struct writing *writing)
{
    struct error error;
    enum comparison comparison;
    size_t results_max = writing->results_max;
    arena_reset(writing->writer->work);
    if (!arena_guard(writing->writer->work, build, writing, &error)) {
        note_failure(writing, "made", error.what);
        return true;
    }
    struct there *there = there_of(writing);
    if (there != NULL)
        there->wanted = true;
    if (!look_at(writing, there, &comparison))
        return false;
    if (comparison == COMPARED_NOT_OURS) {
        note_failure(
            writing, "written",
            "there is one of this name that others have made (without the label " REPORT_OWNER_LABEL
            "=taffrail): remove or rename it");
        return true;
    }
    if (comparison == COMPARED_SAME) {
        writing->written->unchanged++;
        keep_known(writing);
        return true;
    }
    if (!apply(writing))
        return false;
    /* It was too large. */
    return writing->results_max == results_max || write_space(writing);
}

/* ---- reports that are not wanted any more ---- */

struct removal {
    struct text uid, version;
    struct arena *arena;
    struct text body;
};

static void write_removal(void *argument)
{
    struct removal *removal = argument;
    struct text_builder out = {.arena = removal->arena};
    text_builder_add(&out, TEXT("{"));
    json_write_member(&out, "apiVersion", TEXT("v1"));
    json_write_member(&out, "kind", TEXT("DeleteOptions"));
    json_write_key(&out, "preconditions");
    text_builder_add(&out, TEXT("{"));
    json_write_member(&out, "uid", removal->uid);
    json_write_member(&out, "resourceVersion", removal->version);
    text_builder_add(&out, TEXT("}}"));
    removal->body = text_builder_text(&out);
}

static void note_not_removed(const struct there *there, enum resource resource, const char *problem,
                             struct reports_written *written)
{
    written->failed++;
    snprintf(written->problem, sizeof written->problem, "the %s of %s cannot be removed: %.400s",
             resource_table[resource].kind,
             there->namespace.size > 0 ? there->namespace.data : "the cluster", problem);
    log_line(LOG_WARN, "reports", there->namespace.data, problem, "the %s cannot be removed",
             resource_table[resource].kind);
}

static bool remove_report(struct reports_link *link, enum report_api api, const struct there *there,
                          struct arena *work, struct reports_written *written)
{
    struct error error;
    enum resource resource =
        there->namespace.size > 0 ? resources[api].in_namespace : resources[api].of_cluster;
    struct removal removal = {.uid = there->uid, .version = there->version, .arena = work};
    arena_reset(work);
    if (!arena_guard(work, write_removal, &removal, &error)) {
        note_not_removed(there, resource, error.what, written);
        return true;
    }
    const struct call_request request = {.verb = CALL_DELETE,
                                         .resource = resource,
                                         .namespace = there->namespace.data,
                                         .name = REPORT_NAME,
                                         .body = removal.body};
    if (!reports_ask(link, &request))
        return false;
    if (link->answer.result == CALL_DONE)
        written->removed++;
    else if (link->answer.result != CALL_MISSING && link->answer.result != CALL_CONFLICT)
        note_not_removed(there, resource, link->answer.problem, written);
    return true;
}

static bool remove_unwanted(struct reports_link *link, enum report_api api,
                            const struct existing_reports *existing,
                            struct reports_written *written)
{
    FOR_EACH(there, &existing->list)
        if (there->ours && !there->wanted &&
            !remove_report(link, api, there, existing->work, written))
            return false;
    return true;
}

/* Where the newer API came after the older one was written, nobody would mend the older reports. */
static bool remove_older(struct writing *writing, struct error *error)
{
    struct reports_link *link = writing->link;
    for (enum report_api api = writing->api + 1; api < REPORT_API_COUNT; api++) {
        const struct call_request request = {.verb = CALL_DISCOVER,
                                             .resource = resources[api].in_namespace,
                                             .namespace = "",
                                             .name = ""};
        if (!ask(link, &request, error))
            return false;
        if (link->answer.result != CALL_DONE)
            continue;
        struct existing_reports older = {.arena = writing->existing.arena,
                                         .work = writing->existing.work};
        if (!list_reports(link, resources[api].in_namespace, &older, error) ||
            !list_reports(link, resources[api].of_cluster, &older, error))
            return false;
        if (!remove_unwanted(link, api, &older, writing->written))
            return false;
    }
    return true;
}

/* ---- all of them ---- */

static void begin_round(struct reports_writer *writer, enum report_api api)
{
    writer->now = !writer->now;
    struct round *round = this_round(writer);
    struct arena *arena = round->arena;
    arena_reset(arena);
    *round = (struct round){.arena = arena, .api = api};
}

bool reports_write(struct reports_writer *writer, struct reports_link *link, enum report_api api,
                   const struct reports_audit *audit, struct reports_written *written,
                   struct error *error)
{
    begin_round(writer, api);
    struct writing writing = {
        .writer = writer, .link = link, .api = api, .audit = audit, .written = written};
    writing.existing =
        (struct existing_reports){.arena = this_round(writer)->arena, .work = writer->work};
    if (!list_reports(link, resources[api].in_namespace, &writing.existing, error) ||
        !list_reports(link, resources[api].of_cluster, &writing.existing, error))
        return false;
    *error = (struct error){0};
    for (writing.index = 0; writing.index < reports_audit_space_count(audit); writing.index++) {
        writing.results_max = REPORT_RESULTS_MAX;
        if (!write_space(&writing))
            return false;
        written->left_out += writing.space.left_out;
    }
    if (!remove_unwanted(link, api, &writing.existing, written) || !remove_older(&writing, error))
        return false;
    enum report_api served = api;
    if (writing.missing && !reports_discover(link, &served, error))
        return false;
    return served == api || error_set(error, ERROR_CLUSTER, NOWHERE,
                                      "the API of the reports is gone; it is looked for again");
}
