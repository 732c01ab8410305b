/* The answers of the fake API server: lists, watches and single objects. */
#include "answers.h"

#include "base/clock.h"
#include "objects.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACTIONS_MAX = 32, ARGUMENT_BYTES = 512 };

struct action {
    char name[16], argument[ARGUMENT_BYTES];
};
struct plan {
    struct plan *next;
    enum kind kind;
    bool watching;
    struct action actions[ACTIONS_MAX];
    size_t count;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct truth *truth;
static struct plan *plans;
static bool closing;
static int64_t bookmarks_ms = 1000;
static FILE *requests;
static char *requests_text;
static size_t requests_size;

/* Custom resources, by what the script says of them. */
struct custom {
    char plural[64], group[64], version[32];
};
static struct custom customs[OWNER_KINDS_MAX];
static size_t custom_count;

struct stream {
    struct plan plan;
    size_t action;
    bool watching, stalled, over;
    ssize_t last; /* STREAM_END or STREAM_CUT, once it is over */
    char *pending;
    size_t at, size, piece;
    uint64_t revision;
    int64_t bookmark_ms, end_ms;
};

void fake_open(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &attributes);
    pthread_condattr_destroy(&attributes);
    truth = truth_create();
    requests = open_memstream(&requests_text, &requests_size);
    if (requests == NULL)
        abort();
}

void fake_close(void)
{
    pthread_mutex_lock(&mutex);
    closing = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

void fake_free(void)
{
    while (plans != NULL) {
        struct plan *next = plans->next;
        free(plans);
        plans = next;
    }
    truth_destroy(truth);
    fclose(requests);
    free(requests_text);
    pthread_cond_destroy(&changed);
}

/* ---- scripts ---- */

static const struct custom *custom_of(enum kind kind)
{
    return kind_is_custom_owner(kind) ? &customs[kind - KIND_OWNER_FIRST] : NULL;
}

static bool add_custom(const char *line)
{
    struct custom *custom = &customs[custom_count];
    return custom_count < OWNER_KINDS_MAX &&
           sscanf(line, "%63s %63s %31s", custom->plural, custom->group, custom->version) == 3 &&
           ++custom_count > 0;
}

static bool kind_of_plural(const char *plural, enum kind *kind)
{
    for (size_t i = 0; i < custom_count; i++)
        if (strcmp(plural, customs[i].plural) == 0) {
            *kind = (enum kind)(KIND_OWNER_FIRST + i);
            return true;
        }
    for (int i = KIND_UNKNOWN + 1; i < KIND_OWNER_FIRST; i++)
        if (strcmp(plural, kind_table[i].plural) == 0) {
            *kind = (enum kind)i;
            return true;
        }
    return false;
}

/* What changes the truth. */
static bool run_change(const char *line)
{
    char word[16] = "", plural[64], path[128];
    unsigned bytes = 0;
    enum kind kind;
    int count = sscanf(line, "%15s %63s %127s %u", word, plural, path, &bytes);
    if (strcmp(word, "compact") == 0) {
        truth_compact(truth);
        return true;
    }
    bool puts = strcmp(word, "put") == 0;
    if (count < 3 || (!puts && strcmp(word, "delete") != 0) || !kind_of_plural(plural, &kind))
        return false;
    char *slash = strchr(path, '/');
    const char *namespace = slash == NULL ? "" : path;
    const char *name = slash == NULL ? path : slash + 1;
    if (slash != NULL)
        *slash = '\0';
    if (kind_table[kind].namespaced != (slash != NULL))
        return false;
    if (puts)
        truth_put(truth, kind, namespace, name, bytes);
    return puts || truth_remove(truth, kind, namespace, name);
}

/* "KIND [NAMESPACE/]NAME JSON" */
static bool put_object(const char *line)
{
    char plural[64], path[128];
    int used = 0;
    enum kind kind;
    if (sscanf(line, "%63s %127s %n", plural, path, &used) != 2 || line[used] != '{' ||
        !kind_of_plural(plural, &kind))
        return false;
    char *slash = strchr(path, '/');
    if (slash != NULL)
        *slash = '\0';
    truth_put_json(truth, kind, slash == NULL ? "" : path, slash == NULL ? path : slash + 1,
                   line + used);
    return true;
}

static bool add_plan(bool watching, const char *line)
{
    char plural[64];
    int used = 0;
    struct plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL)
        abort();
    plan->watching = watching;
    bool good = sscanf(line, "%63s%n", plural, &used) == 1 && kind_of_plural(plural, &plan->kind);
    for (const char *rest = line + used; good && *rest != '\0';) {
        rest += strspn(rest, " ");
        size_t name = strcspn(rest, " ;");
        size_t end = strcspn(rest, ";");
        size_t argument = name < end ? end - name - 1 : 0;
        struct action *action = &plan->actions[plan->count];
        good =
            ++plan->count < ACTIONS_MAX && name < sizeof action->name && argument < ARGUMENT_BYTES;
        if (!good)
            break;
        memcpy(action->name, rest, name);
        memcpy(action->argument, rest + end - argument, argument);
        rest += end + (rest[end] == ';');
    }
    struct plan **last = &plans;
    while (*last != NULL)
        last = &(*last)->next;
    if (good)
        *last = plan;
    else
        free(plan);
    return good;
}

static bool run_line(const char *line)
{
    unsigned ms;
    if (strncmp(line, "list ", 5) == 0)
        return add_plan(false, line + 5);
    if (strncmp(line, "watch ", 6) == 0)
        return add_plan(true, line + 6);
    if (strncmp(line, "object ", 7) == 0)
        return put_object(line + 7);
    if (strncmp(line, "cut ", 4) == 0 || strncmp(line, "join ", 5) == 0) {
        objects_cut(strchr(line, ' ') + 1, line[0] == 'c');
        return true;
    }
    if (strncmp(line, "custom ", 7) == 0)
        return add_custom(line + 7);
    if (strncmp(line, "api ", 4) == 0)
        return objects_serve(line + 4);
    if (strncmp(line, "fault ", 6) == 0)
        return objects_fault(line + 6);
    if (sscanf(line, "bookmarks %u", &ms) == 1) {
        bookmarks_ms = ms;
        return true;
    }
    return run_change(line);
}

char *fake_script(const char *lines)
{
    char *complaint = NULL;
    pthread_mutex_lock(&mutex);
    while (*lines != '\0' && complaint == NULL) {
        size_t size = strcspn(lines, "\n");
        char *line = strndup(lines, size);
        if (line == NULL)
            abort();
        line[strcspn(line, "#")] = '\0';
        bool blank = line[strspn(line, " ")] == '\0';
        if (!blank && !run_line(line) && asprintf(&complaint, "cannot do \"%s\"\n", line) < 0)
            abort();
        free(line);
        lines += size + (lines[size] == '\n');
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return complaint;
}

/* ---- streams ---- */

static void set_pending(struct stream *stream, char *text)
{
    free(stream->pending);
    stream->pending = text;
    stream->size = strlen(text);
    stream->at = 0;
}

static void finish(struct stream *stream, ssize_t last)
{
    stream->over = true;
    stream->last = last;
}

static void act(struct stream *stream)
{
    const struct action *action = &stream->plan.actions[stream->action++];
    char line[ARGUMENT_BYTES + 32];
    snprintf(line, sizeof line, "%s %s", action->name, action->argument);
    if (strcmp(action->name, "end") == 0) {
        finish(stream, STREAM_END);
    } else if (strcmp(action->name, "cut") == 0) {
        set_pending(stream, strdup("{\"type\":\"ADDED\",\"object\":{\"kind\":\"P"));
        finish(stream, STREAM_CUT);
    } else if (strcmp(action->name, "stall") == 0) {
        stream->stalled = true;
    } else if (strcmp(action->name, "pieces") == 0) {
        stream->piece = strtoul(action->argument, NULL, 10);
    } else if (strcmp(action->name, "say") == 0) {
        set_pending(stream, strdup(action->argument));
    } else if (!run_change(line)) {
        fprintf(stderr, "fakeapi: cannot do \"%s\"\n", line);
        abort();
    }
    pthread_cond_broadcast(&changed);
}

/* Something to send, or to do, at once; false: wait. */
static bool advance(struct stream *stream)
{
    char *event = truth_event(truth, stream->plan.kind, &stream->revision);
    if (event != NULL) {
        if (strncmp(event, "{\"type\":\"ERROR\"", 15) == 0)
            finish(stream, STREAM_END);
        set_pending(stream, event);
    } else if (stream->action < stream->plan.count) {
        act(stream);
    } else if (monotonic_ms() >= stream->bookmark_ms) {
        stream->bookmark_ms = monotonic_ms() + bookmarks_ms;
        set_pending(stream, truth_bookmark(truth, stream->plan.kind));
    } else if (monotonic_ms() >= stream->end_ms) {
        finish(stream, STREAM_END);
    } else {
        return false;
    }
    return true;
}

static void wait_until(int64_t until_ms)
{
    struct timespec until = timespec_of_ms(until_ms);
    pthread_cond_timedwait(&changed, &mutex, &until);
}

ssize_t stream_read(struct stream *stream, char *buffer, size_t size)
{
    ssize_t result = STREAM_END;
    pthread_mutex_lock(&mutex);
    while (!closing) {
        if (stream->at < stream->size) {
            size_t count = stream->size - stream->at;
            count = count < size ? count : size;
            if (stream->piece > 0 && count > stream->piece)
                count = stream->piece;
            memcpy(buffer, stream->pending + stream->at, count);
            stream->at += count;
            result = (ssize_t)count;
            break;
        }
        if (stream->over) {
            result = stream->last;
            break;
        }
        if (stream->stalled)
            pthread_cond_wait(&changed, &mutex);
        else if (!advance(stream))
            wait_until(stream->bookmark_ms < stream->end_ms ? stream->bookmark_ms : stream->end_ms);
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

void stream_destroy(struct stream *stream)
{
    free(stream->pending);
    free(stream);
}

/* ---- answers ---- */

static struct plan take_plan(const struct question *question)
{
    struct plan **at = &plans;
    while (*at != NULL && ((*at)->kind != question->kind || (*at)->watching != question->watching))
        at = &(*at)->next;
    struct plan taken = {.kind = question->kind};
    struct plan *found = *at;
    if (found != NULL) {
        *at = found->next;
        taken = *found;
        free(found);
    }
    return taken;
}

static struct stream *open_stream(const struct plan *plan, const struct question *question)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        abort();
    stream->plan = *plan;
    stream->bookmark_ms = question->bookmarks ? monotonic_ms() + bookmarks_ms : INT64_MAX;
    int64_t seconds = strtoll(question->timeout_seconds, NULL, 10);
    stream->end_ms = monotonic_ms() + (seconds > 0 ? seconds : 1800) * 1000;
    stream->revision = strtoull(question->resource_version, NULL, 10);
    if (question->watching && stream->revision == 0) {
        stream->revision = truth_revision(truth);
        set_pending(stream, truth_beginning(truth, plan->kind));
    }
    return stream;
}

/* Half of a list, and then nothing, or an end that is none. */
static struct stream *break_list(const struct plan *plan, const struct question *question,
                                 char *text)
{
    struct stream *stream = open_stream(plan, question);
    text[strlen(text) / 2] = '\0';
    set_pending(stream, text);
    stream->stalled = strcmp(plan->actions[0].name, "stall") == 0;
    if (!stream->stalled)
        finish(stream, STREAM_CUT);
    return stream;
}

static void write_request(const struct question *question)
{
    const struct custom *custom = custom_of(question->kind);
    fprintf(requests,
            "%s %s limit=%s continue=%s resourceVersion=%s authorization=%s encoding=%s\n",
            question->watching ? "watch" : "list",
            custom != NULL ? custom->plural : kind_table[question->kind].plural, question->limit,
            question->continue_token, question->resource_version, question->authorization,
            question->encoding);
}

static bool accepts_metadata(const struct question *question)
{
    char wanted[128];
    int size = snprintf(wanted, sizeof wanted,
                        "application/json;as=PartialObjectMetadata%s;g=meta.k8s.io;v=v1",
                        question->watching ? "" : "List");
    return strncmp(question->accept, wanted, (size_t)size) == 0;
}

void fake_answer(const struct question *question, struct answer *answer)
{
    pthread_mutex_lock(&mutex);
    *answer = (struct answer){.status = 200, .type = "application/json"};
    write_request(question);
    struct plan plan = take_plan(question);
    const struct action *first = &plan.actions[0];
    unsigned code = 0, retry_after_s = 0;
    if (kind_is_custom_owner(question->kind) && !accepts_metadata(question)) {
        answer->status = 406;
        answer->text = truth_status(406, "NotAcceptable", "only metadata is served");
    } else if (strcmp(first->name, "refuse") == 0) {
        answer->refused = true;
    } else if (strcmp(first->name, "html") == 0) {
        answer->text = strdup("<html><body>welcome to the proxy</body></html>\n");
        answer->type = "text/html";
    } else if (strcmp(first->name, "status") == 0 &&
               sscanf(first->argument, "%u %u", &code, &retry_after_s) >= 1) {
        answer->status = code;
        answer->retry_after_s = retry_after_s;
        answer->text = truth_status(code, code == 410 ? "Expired" : "Scripted", "as it was told");
    } else if (question->watching) {
        answer->stream = open_stream(&plan, question);
    } else {
        answer->text = truth_list(truth, question->kind, strtoul(question->limit, NULL, 10),
                                  question->continue_token, &answer->status);
        if (plan.count > 0) {
            answer->stream = break_list(&plan, question, answer->text);
            answer->text = NULL;
        }
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- pages ---- */

/* Kinds that have no v1 are served in their newest version. */
static const char *version_of(enum kind kind)
{
    const struct custom *custom = custom_of(kind);
    if (custom != NULL)
        return custom->version;
    return kind == KIND_NODE_OVERLAY ? "v1alpha1" : kind == KIND_CAPACITY_BUFFER ? "v1beta1" : "v1";
}

bool fake_kind_of_path(const char *path, enum kind *kind)
{
    char group[64] = "", version[32] = "v1", plural[64];
    if (sscanf(path, "/api/v1/%63[^/]", plural) != 1 &&
        sscanf(path, "/apis/%63[^/]/%31[^/]/%63[^/]", group, version, plural) != 3)
        return false;
    if (!kind_of_plural(plural, kind))
        return false;
    const struct custom *custom = custom_of(*kind);
    return strcmp(group, custom != NULL ? custom->group : kind_table[*kind].group) == 0 &&
           strcmp(version, version_of(*kind)) == 0;
}

static void put_resources(FILE *out, const char *group)
{
    const char *comma = "";
    fprintf(out,
            "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"%s%sv1\","
            "\"resources\":[",
            group, *group == '\0' ? "" : "/");
    for (int i = KIND_UNKNOWN + 1; i < KIND_OWNER_FIRST; i++) {
        if (strcmp(kind_table[i].group, group) != 0)
            continue;
        fprintf(out,
                "%s{\"name\":\"%s\",\"singularName\":\"\",\"namespaced\":%s,\"kind\":\"%s\","
                "\"verbs\":[\"get\",\"list\",\"watch\"]}",
                comma, kind_table[i].plural, kind_table[i].namespaced ? "true" : "false",
                kind_table[i].name);
        comma = ",";
    }
    fprintf(out, "]}\n");
}

static void put_groups(FILE *out)
{
    static const char *const groups[] = {"apps", "batch", "storage.k8s.io", "karpenter.sh"};
    fprintf(out, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        fprintf(out,
                "%s{\"name\":\"%s\",\"versions\":[{\"groupVersion\":\"%s/v1\",\"version\":\"v1\"}],"
                "\"preferredVersion\":{\"groupVersion\":\"%s/v1\",\"version\":\"v1\"}}",
                i > 0 ? "," : "", groups[i], groups[i], groups[i]);
    fprintf(out, "]}\n");
}

/* What "/apis/GROUP" answers. False: there is no such group. */
static bool put_group(FILE *out, const char *group)
{
    size_t i = 0;
    while (i < custom_count && strcmp(customs[i].group, group) != 0)
        i++;
    if (i == custom_count)
        return false;
    const char *version = customs[i].version;
    fprintf(out,
            "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",\"name\":\"%s\",\"versions\":[{"
            "\"groupVersion\":\"%s/%s\",\"version\":\"%s\"}],\"preferredVersion\":{"
            "\"groupVersion\":\"%s/%s\",\"version\":\"%s\"}}\n",
            group, group, version, version, group, version, version);
    return true;
}

char *fake_page(const char *path, unsigned *status)
{
    char word[64], *text = NULL;
    size_t size;
    int used = 0;
    enum kind kind;
    const char *group = strncmp(path, "/apis/", 6) == 0 ? path + 6 : "";
    pthread_mutex_lock(&mutex);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        abort();
    if (sscanf(path, "/fake/truth/%63s", word) == 1 && kind_of_plural(word, &kind)) {
        char *lines = truth_lines(truth, kind);
        fputs(lines, out);
        free(lines);
    } else if (strcmp(path, "/fake/requests") == 0) {
        char *others = objects_requests();
        fflush(requests);
        fwrite(requests_text, 1, requests_size, out);
        fputs(others, out);
        free(others);
    } else if (strcmp(path, "/fake/writes") == 0) {
        char *lines = objects_writes();
        fputs(lines, out);
        free(lines);
    } else if (strcmp(path, "/api") == 0) {
        fprintf(out, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}\n");
    } else if (strcmp(path, "/apis") == 0) {
        put_groups(out);
    } else if (strcmp(path, "/api/v1") == 0) {
        put_resources(out, "");
    } else if (put_group(out, group)) {
        ; /* done */
    } else if (sscanf(path, "/apis/%63[^/]/v1%n", word, &used) == 1 && path[used] == '\0') {
        put_resources(out, word);
    } else {
        char *refusal = truth_status(404, "NotFound", "the server could not find it");
        fputs(refusal, out);
        free(refusal);
        *status = 404;
    }
    fclose(out);
    pthread_mutex_unlock(&mutex);
    return text;
}
