/* What the fake API server holds, to compare with what taffrail holds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "kube/snapshot.h"
#include "truth.h"

struct moment {
    uint64_t revision, superseded; /* when it ended; 0: it is the last of its object */
    enum kind kind;
    char *namespace, *name;
    bool there, first; /* or gone; and it was not there before */
    size_t ballast_bytes;
    char *json; /* NULL: made up of the rest */
};

struct truth {
    struct moment *changes; /* by revision */
    size_t count, capacity;
    uint64_t revision, compacted;
};

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

struct truth *truth_create(void)
{
    struct truth *truth = must(calloc(1, sizeof *truth));
    truth->revision = 997; /* so that versions become longer before long */
    return truth;
}

static void free_change(struct moment *change)
{
    free(change->namespace);
    free(change->name);
    free(change->json);
}

void truth_destroy(struct truth *truth)
{
    for (size_t i = 0; i < truth->count; i++)
        free_change(&truth->changes[i]);
    free(truth->changes);
    free(truth);
}

static int compare_names(const struct moment *a, const struct moment *b)
{
    int order = strcmp(a->namespace, b->namespace);
    return order != 0 ? order : strcmp(a->name, b->name);
}

static bool same_object(const struct moment *a, const struct moment *b)
{
    return a->kind == b->kind && compare_names(a, b) == 0;
}

/* The last change of this object; NULL: there is none. */
static struct moment *last_change(const struct truth *truth, const struct moment *wanted)
{
    for (size_t i = truth->count; i-- > 0;)
        if (same_object(&truth->changes[i], wanted))
            return &truth->changes[i];
    return NULL;
}

static void add(struct truth *truth, struct moment change)
{
    if (truth->count == truth->capacity) {
        truth->capacity = truth->capacity == 0 ? 4096 : 2 * truth->capacity;
        truth->changes = must(realloc(truth->changes, truth->capacity * sizeof change));
    }
    struct moment *last = last_change(truth, &change);
    change.revision = ++truth->revision;
    change.first = last == NULL || !last->there;
    if (last != NULL)
        last->superseded = change.revision;
    change.namespace = must(strdup(change.namespace));
    change.name = must(strdup(change.name));
    if (change.json != NULL)
        change.json = must(strdup(change.json));
    truth->changes[truth->count++] = change;
}

void truth_put(struct truth *truth, enum kind kind, const char *namespace, const char *name,
               size_t ballast_bytes)
{
    add(truth, (struct moment){.kind = kind,
                               .namespace = (char *)(uintptr_t) namespace,
                               .name = (char *)(uintptr_t)name,
                               .there = true,
                               .ballast_bytes = ballast_bytes});
}

void truth_put_json(struct truth *truth, enum kind kind, const char *namespace, const char *name,
                    const char *json)
{
    add(truth, (struct moment){.kind = kind,
                               .namespace = (char *)(uintptr_t) namespace,
                               .name = (char *)(uintptr_t)name,
                               .there = true,
                               .json = (char *)(uintptr_t)json});
}

bool truth_remove(struct truth *truth, enum kind kind, const char *namespace, const char *name)
{
    struct moment change = {
        .kind = kind, .namespace = (char *)(uintptr_t) namespace, .name = (char *)(uintptr_t)name};
    const struct moment *last = last_change(truth, &change);
    if (last == NULL || !last->there)
        return false;
    add(truth, change);
    return true;
}

static bool is_superseded(const struct moment *change, uint64_t revision)
{
    return change->superseded != 0 && change->superseded <= revision;
}

void truth_compact(struct truth *truth)
{
    size_t kept = 0;
    for (size_t i = 0; i < truth->count; i++)
        if (is_superseded(&truth->changes[i], truth->revision) || !truth->changes[i].there)
            truth->changes[i].revision = 0;
    for (size_t i = 0; i < truth->count; i++) {
        if (truth->changes[i].revision == 0)
            free_change(&truth->changes[i]);
        else
            truth->changes[kept++] = truth->changes[i];
    }
    truth->count = kept;
    truth->compacted = truth->revision;
}

uint64_t truth_revision(const struct truth *truth)
{
    return truth->revision;
}

/* ---- as text ---- */

/* Of custom owners only the metadata is served. */
static const char *type_name(enum kind kind)
{
    return kind_is_custom_owner(kind) ? "PartialObjectMetadata" : kind_table[kind].name;
}

static const char *type_group(enum kind kind)
{
    return kind_is_custom_owner(kind) ? "meta.k8s.io" : kind_table[kind].group;
}

static void put_json(FILE *out, const struct moment *change)
{
    for (const char *at = change->json; *at != '\0'; at++) {
        if (*at == '@')
            fprintf(out, "%" PRIu64, change->revision);
        else
            fputc(*at, out);
    }
}

static void put_object(FILE *out, const struct moment *change, bool typed)
{
    if (change->json != NULL) {
        put_json(out, change);
        return;
    }
    fputc('{', out);
    if (typed)
        fprintf(out, "\"apiVersion\":\"%s%sv1\",\"kind\":\"%s\",", type_group(change->kind),
                *type_group(change->kind) == '\0' ? "" : "/", type_name(change->kind));
    fprintf(out, "\"metadata\":{\"name\":\"%s\",", change->name);
    if (*change->namespace != '\0')
        fprintf(out, "\"namespace\":\"%s\",", change->namespace);
    fprintf(out, "\"uid\":\"u-%s\",\"resourceVersion\":\"%" PRIu64 "\",", change->name,
            change->revision);
    /* A label is kept where the resourceVersion is not. */
    fprintf(out, "\"labels\":{\"revision\":\"%" PRIu64 "\"},", change->revision);
    /* Brackets and quotes in a string mislead who counts them without care. */
    fprintf(out, "\"annotations\":{\"note\":\"a \\\"}]{[\\\\\",\"ballast\":\"");
    for (size_t i = 0; i < change->ballast_bytes; i++)
        fputc('a' + (int)(i % 26), out);
    fprintf(out, "\"}},\"spec\":{}}");
}

static int compare_changes(const void *a_pointer, const void *b_pointer)
{
    return compare_names(*(const struct moment *const *)a_pointer,
                         *(const struct moment *const *)b_pointer);
}

/* Objects of a kind as they were at a revision, by name. */
static const struct moment **state_at(const struct truth *truth, enum kind kind, uint64_t revision,
                                      size_t *count)
{
    const struct moment **state = must(calloc(truth->count + 1, sizeof *state));
    *count = 0;
    for (size_t i = 0; i < truth->count; i++) {
        const struct moment *change = &truth->changes[i];
        if (change->kind == kind && change->revision <= revision && change->there &&
            !is_superseded(change, revision))
            state[(*count)++] = change;
    }
    qsort(state, *count, sizeof *state, compare_changes);
    return state;
}

size_t truth_count(const struct truth *truth, enum kind kind)
{
    size_t count;
    free(state_at(truth, kind, truth->revision, &count));
    return count;
}

char *truth_status(unsigned code, const char *reason, const char *message)
{
    char *text = NULL;
    if (asprintf(&text,
                 "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                 "\"Failure\",\"message\":\"%s\",\"reason\":\"%s\",\"code\":%u}",
                 message, reason, code) < 0)
        abort();
    return text;
}

/* A continue token has bytes that a query must escape: "revision+offset/=". */
char *truth_list(const struct truth *truth, enum kind kind, size_t limit,
                 const char *continue_token, unsigned *status)
{
    uint64_t revision = truth->revision;
    size_t from = 0;
    *status = 200;
    if (continue_token != NULL && *continue_token != '\0') {
        char end = '\0';
        if (sscanf(continue_token, "%" SCNu64 "+%zu/%c", &revision, &from, &end) != 3 || end != '=')
            return truth_status(*status = 400, "BadRequest", "continue key is not valid");
        if (revision < truth->compacted)
            return truth_status(*status = 410, "Expired",
                                "The provided continue parameter is too old");
    }
    size_t count;
    const struct moment **state = state_at(truth, kind, revision, &count);
    size_t to = limit == 0 || count - from <= limit ? count : from + limit;
    char *text = NULL;
    size_t size;
    FILE *out = must(open_memstream(&text, &size));
    const char *group = type_group(kind);
    fprintf(out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s%sv1\",\"metadata\":{", type_name(kind),
            group, *group == '\0' ? "" : "/");
    fprintf(out, "\"resourceVersion\":\"%" PRIu64 "\"", revision);
    if (to < count)
        fprintf(out, ",\"continue\":\"%" PRIu64 "+%zu/=\",\"remainingItemCount\":%zu", revision, to,
                count - to);
    fprintf(out, "},\"items\":[");
    for (size_t i = from; i < to; i++) {
        if (i > from)
            fputc(',', out);
        put_object(out, state[i], strchr(group, '.') != NULL);
    }
    fprintf(out, "]}\n");
    fclose(out);
    free(state);
    return text;
}

char *truth_event(const struct truth *truth, enum kind kind, uint64_t *revision)
{
    char *text = NULL;
    size_t size;
    if (*revision < truth->compacted) {
        char *status = truth_status(410, "Expired", "too old resource version");
        if (asprintf(&text, "{\"type\":\"ERROR\",\"object\":%s}\n", status) < 0)
            abort();
        free(status);
        return text;
    }
    for (size_t i = 0; i < truth->count; i++) {
        const struct moment *change = &truth->changes[i];
        if (change->revision <= *revision || change->kind != kind)
            continue;
        *revision = change->revision;
        FILE *out = must(open_memstream(&text, &size));
        fprintf(out, "{\"type\":\"%s\",\"object\":",
                !change->there ? "DELETED" : (change->first ? "ADDED" : "MODIFIED"));
        put_object(out, change, true);
        fprintf(out, "}\n");
        fclose(out);
        return text;
    }
    return NULL;
}

char *truth_beginning(const struct truth *truth, enum kind kind)
{
    size_t count, size;
    char *text = NULL;
    const struct moment **state = state_at(truth, kind, truth->revision, &count);
    FILE *out = must(open_memstream(&text, &size));
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "{\"type\":\"ADDED\",\"object\":");
        put_object(out, state[i], true);
        fprintf(out, "}\n");
    }
    fclose(out);
    free(state);
    return text;
}

char *truth_bookmark(const struct truth *truth, enum kind kind)
{
    char *text = NULL;
    if (asprintf(&text,
                 "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"%s%sv1\","
                 "\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\",\"creationTimestamp\":null}}}"
                 "\n",
                 type_name(kind), type_group(kind), *type_group(kind) == '\0' ? "" : "/",
                 truth->revision) < 0)
        abort();
    return text;
}

char *truth_lines(const struct truth *truth, enum kind kind)
{
    size_t count, size;
    char *text = NULL;
    const struct moment **state = state_at(truth, kind, truth->revision, &count);
    FILE *out = must(open_memstream(&text, &size));
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s/%s %" PRIu64 "\n", state[i]->namespace, state[i]->name,
                state[i]->revision);
    fclose(out);
    free(state);
    return text;
}

char *snapshot_lines(const struct snapshot *snapshot, enum kind kind)
{
    char *text = NULL;
    size_t size;
    FILE *out = must(open_memstream(&text, &size));
    for (size_t i = 0; i < snapshot_count(snapshot, kind); i++) {
        const struct object *object = snapshot_object(snapshot, kind, i);
        struct text version = node_string(node_get(object->labels, "revision"));
        fprintf(out, "%.*s/%.*s %.*s\n", TEXT_ARGS(object->namespace), TEXT_ARGS(object->name),
                TEXT_ARGS(version));
    }
    fclose(out);
    return text;
}
