/* From bytes to a review. A review that is too large to be read as a whole is read again in less
 * detail, so that it can still be decided. */
#include <string.h>

#include "server/review.h"

static const char *const operation_names[] = {
    [OPERATION_CREATE] = "CREATE",
    [OPERATION_UPDATE] = "UPDATE",
    [OPERATION_DELETE] = "DELETE",
    [OPERATION_CONNECT] = "CONNECT",
};

const char *operation_name(enum operation operation)
{
    return operation_names[operation];
}

/* ---- parts ---- */

/* The keys of a map that are treated specially, and what happens to the others. */
struct part {
    struct part_key {
        struct text key;
        enum doc_want want;
        const struct part *inside; /* NULL: the whole */
        /* For DOC_LOOK: read if it occurs. NULL: never, but where it stands is kept. */
        const char *word;
    } keys[14];
    enum doc_want others;
};

static enum doc_want wants(const void *within, struct text key, const void **inside)
{
    const struct part *part = within;
    char first = key.size > 0 ? *key.data : '\0';
    for (const struct part_key *known = part->keys; known->key.data != NULL; known++)
        if (known->key.size == key.size && *known->key.data == first &&
            memcmp(known->key.data, key.data, key.size) == 0) {
            *inside = known->want == DOC_LOOK ? (const void *)known : known->inside;
            return known->want;
        }
    return part->others;
}

#define KEY(name) .key = {(name), sizeof(name) - 1}
#define READ(name)                  \
    {                               \
        KEY(name), .want = DOC_READ \
    }
#define INSIDE(name, part)                             \
    {                                                  \
        KEY(name), .want = DOC_READ, .inside = &(part) \
    }
#define SKIP(name)                  \
    {                               \
        KEY(name), .want = DOC_SKIP \
    }

/* What no rail reads of a pod is most of it, and is passed over. A new field that a rail reads must
 * not be named here. */
static const struct part volume = {
    .keys = {SKIP("projected"), SKIP("configMap"), SKIP("secret"), SKIP("downwardAPI")},
    .others = DOC_READ,
};
static const struct part container = {
    .keys = {SKIP("args"),
             SKIP("command"),
             SKIP("livenessProbe"),
             SKIP("readinessProbe"),
             SKIP("startupProbe"),
             SKIP("lifecycle"),
             SKIP("securityContext"),
             SKIP("envFrom"),
             {KEY("env"), .want = DOC_LOOK, .word = "NVIDIA_VISIBLE_DEVICES"}},
    .others = DOC_READ,
};
/* Of a Pod, and of what holds the template of one. */
static const struct part spec;
static const struct part template = {.keys = {INSIDE("spec", spec)}, .others = DOC_READ};
static const struct part spec = {
    .keys = {INSIDE("containers", container), INSIDE("initContainers", container),
             INSIDE("ephemeralContainers", container), INSIDE("volumes", volume),
             INSIDE("template", template), INSIDE("jobTemplate", template),
             SKIP("securityContext")},
    .others = DOC_READ,
};

#define REQUEST_KEYS                                                                      \
    READ("uid"), READ("operation"), READ("subResource"), READ("namespace"), READ("name"), \
        INSIDE("userInfo", user), READ("dryRun")

static const struct part user = {.keys = {READ("username"), READ("groups")}};

/* No rail reads who last wrote which field; it may be nested deeper than any object. */
static const struct part whole_metadata = {.keys = {{KEY("managedFields"), .want = DOC_LOOK}},
                                           .others = DOC_READ};
static const struct part whole_object = {
    .keys = {INSIDE("metadata", whole_metadata), INSIDE("spec", spec)}, .others = DOC_READ};
static const struct part whole_request = {.keys = {REQUEST_KEYS, READ("resource"), READ("options"),
                                                   INSIDE("object", whole_object),
                                                   INSIDE("oldObject", whole_object)}};

/* Of an object its names alone, and what match, exceptions and owners need. */
#define NAME_KEYS                                                                                  \
    READ("name"), READ("generateName"), READ("namespace"), READ("uid"), READ("creationTimestamp"), \
        READ("deletionTimestamp")
#define OBJECT_KEYS READ("apiVersion"), READ("kind")

static const struct part head_metadata = {
    .keys = {NAME_KEYS, READ("labels"), READ("ownerReferences")}};
static const struct part head_object = {.keys = {OBJECT_KEYS, INSIDE("metadata", head_metadata)}};
static const struct part head_request = {
    .keys = {REQUEST_KEYS, INSIDE("object", head_object), INSIDE("oldObject", head_object)}};

static const struct part names_metadata = {.keys = {NAME_KEYS}};
static const struct part names_object = {.keys = {OBJECT_KEYS, INSIDE("metadata", names_metadata)}};
static const struct part names_request = {
    .keys = {REQUEST_KEYS, INSIDE("object", names_object), INSIDE("oldObject", names_object)}};

#define REVIEW(request)                                     \
    {                                                       \
        .keys = { OBJECT_KEYS, INSIDE("request", request) } \
    }
static const struct part whole = REVIEW(whole_request);
static const struct part head = REVIEW(head_request);
static const struct part names = REVIEW(names_request);

/* A word with an escape in it is not found, so that what has one is read. */
static bool needs(void *context, const void *inside, struct text value)
{
    struct review *review = context;
    const struct part_key *known = inside;
    if (known->word == NULL) {
        review->managed_fields = value;
        return false;
    }
    return memchr(value.data, '\\', value.size) != NULL || text_holds(value, text_of(known->word));
}

/* ---- reading ---- */

static bool read_operation(struct text name, enum operation *operation, struct error *error)
{
    for (size_t i = 0; i < COUNT_OF(operation_names); i++)
        if (text_is(name, operation_names[i])) {
            *operation = (enum operation)i;
            return true;
        }
    return error_set(error, ERROR_INPUT, NOWHERE,
                     "request.operation is \"%.*s\", not CREATE, UPDATE, DELETE or CONNECT",
                     (int)(name.size < 40 ? name.size : 40), name.data);
}

static struct requester read_requester(const struct node *user_info, struct arena *arena)
{
    struct requester requester = {.name = node_string(node_get(user_info, "username"))};
    const struct node *groups = node_get(user_info, "groups");
    size_t count = node_is(groups, NODE_LIST) ? node_count(groups) : 0;
    struct text *items = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        items[i] = node_string(node_item(groups, i));
    requester.groups = items;
    requester.group_count = count;
    return requester;
}

/* null, absent and a map are all valid (docs/reference/admission.md 1.1). */
static bool read_object(const struct node *request, const char *key, struct arena *arena,
                        struct object *object, const struct object **used, struct error *error)
{
    const struct node *node = node_get(request, key);
    *used = NULL;
    if (node == NULL || node_is(node, NODE_NULL))
        return true;
    if (!object_read(node, NULL, node_string(node_get(request, "namespace")), arena, object, error))
        return false;
    /* A name from generateName is in the request before it is in the object. */
    if (object->name.size == 0)
        object->name = node_string(node_get(request, "name"));
    *used = object;
    return true;
}

/* What is deleted is the object to judge (docs/reference/admission.md 1.1). */
static void take_deleted(const struct node *request, struct subject *subject)
{
    const struct node *options = node_get(request, "options");
    subject->object = subject->old_object;
    subject->old_object = NULL;
    subject->orphans = text_is(node_string(node_get(options, "propagationPolicy")), "Orphan") ||
                       node_true(node_get(options, "orphanDependents"));
}

static bool read_uid(const struct node *request, struct review *review, struct error *error)
{
    enum { UID_BYTES_MAX = 256 }; /* the API server's has 36; the answer repeats it */
    review->uid = node_string(node_get(request, "uid"));
    if (review->uid.size == 0)
        return error_set(error, ERROR_INPUT, NOWHERE, "request.uid is missing or not a string");
    if (review->uid.size > UID_BYTES_MAX)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "request.uid has %zu bytes, more than the allowed %d", review->uid.size,
                         UID_BYTES_MAX);
    return true;
}

static bool read_part(struct text body, const struct part *part, struct arena *arena,
                      struct review *review, struct error *error)
{
    const struct doc_choice choice = {part, wants, needs, review};
    struct doc_limits limits = doc_limits_review;
    limits.choice = &choice;
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = body;
    const struct node *root = NULL;
    if (!doc_read_json(source, &limits, NULL, arena, &root, error))
        return false;
    if (!text_is(node_string(node_get(root, "kind")), "AdmissionReview") ||
        !text_is(node_string(node_get(root, "apiVersion")), "admission.k8s.io/v1"))
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "the body is no AdmissionReview of admission.k8s.io/v1");
    const struct node *request = node_get(root, "request");
    if (!node_is(request, NODE_MAP))
        return error_set(error, ERROR_INPUT, NOWHERE, "the AdmissionReview has no request");
    if (!read_uid(request, review, error))
        return false;

    review->name = node_string(node_get(request, "name"));
    struct subject *subject = &review->subject;
    *subject = (struct subject){
        .subresource = node_string(node_get(request, "subResource")),
        .requester = read_requester(node_get(request, "userInfo"), arena),
        .dry_run = node_true(node_get(request, "dryRun")),
        .resource_kind = kind_of_resource(node_string(node_at(request, "resource.group")),
                                          node_string(node_at(request, "resource.resource"))),
    };
    if (!read_operation(node_string(node_get(request, "operation")), &subject->operation, error) ||
        !read_object(request, "object", arena, &review->object, &subject->object, error) ||
        !read_object(request, "oldObject", arena, &review->old_object, &subject->old_object, error))
        return false;
    if (subject->operation == OPERATION_DELETE && subject->object == NULL)
        take_deleted(request, subject);
    return true;
}

struct review_reader {
    struct text body;
    const struct part *part;
    struct arena *arena;
    struct review *review;
    struct error *error;
    bool done;
};

static void read_body(void *argument)
{
    struct review_reader *reader = argument;
    reader->done =
        read_part(reader->body, reader->part, reader->arena, reader->review, reader->error);
}

/* *limit is the limit that was reached, or LIMIT_NONE when the body has no review. */
static bool try_part(struct review_reader *reader, enum review_limit *limit)
{
    struct error error;
    bool ended = arena_guard(reader->arena, read_body, reader, &error);
    if (!ended)
        *reader->error = error;
    *limit = !ended                               ? limit_of_arena(reader->arena)
             : reader->error->kind == ERROR_LIMIT ? LIMIT_SHAPE
                                                  : LIMIT_NONE;
    return ended && reader->done;
}

/* What is read when the whole does not fit; the last one uses the memory that is reserved for the
 * answer. */
static const struct part *const less[] = {&head, &names};

bool review_read(struct text body, struct arena *arena, struct review *review, struct error *error)
{
    struct arena_mark mark = arena_mark(arena);
    struct review_reader reader = {body, &whole, arena, review, error, false};
    enum review_limit limit, again;
    *error = (struct error){0};
    if (try_part(&reader, &limit))
        return true;
    review->limit = limit;
    review->obstacle = *error;
    if (limit == LIMIT_NONE || limit == LIMIT_TIMEOUT || limit == LIMIT_CLIENT_GONE)
        return false;
    arena_watch(arena, NULL); /* the rest takes little, and must be completed */
    for (size_t i = 0; i < COUNT_OF(less); i++) {
        arena_rewind(arena, mark);
        if (i + 1 == COUNT_OF(less))
            arena_open_reserve(arena);
        *error = (struct error){0};
        *review = (struct review){.limit = limit, .obstacle = review->obstacle};
        reader = (struct review_reader){body, less[i], arena, review, error, false};
        if (try_part(&reader, &again))
            return true;
        if (again == LIMIT_NONE)
            return false;
    }
    return false;
}

/* ---- the largest value ---- */

static struct text size_words(size_t bytes, struct arena *arena)
{
    if (bytes < 1 << 20)
        return arena_printf(arena, "%zu KiB", (bytes + 1023) >> 10);
    size_t tenths = bytes / ((1 << 20) / 10);
    return tenths % 10 == 0 ? arena_printf(arena, "%zu MiB", tenths / 10)
                            : arena_printf(arena, "%zu.%zu MiB", tenths / 10, tenths % 10);
}

/* The path of the value that has most of the object's bytes; empty: there is none. */
static struct text heaviest_path(struct text body, struct arena *arena)
{
    enum { KEY_BYTES_MAX = 63, LOOKED_AT_MAX = 8 << 20 };
    struct text_builder path = {.arena = arena};
    struct json_step steps[JSON_STEPS_MAX];
    struct text object = json_find_start(json_find_start(body, "request"), "object");
    size_t count = body.size > LOOKED_AT_MAX ? 0 : json_heaviest(object, steps);
    for (size_t i = 0; i < count; i++) {
        struct text key = json_cut(steps[i].key, KEY_BYTES_MAX);
        if (steps[i].in_map)
            text_builder_printf(&path, "%s%.*s", i == 0 ? "" : ".", TEXT_ARGS(key));
        else
            text_builder_printf(&path, "[%zu]", steps[i].index);
    }
    return text_builder_text(&path);
}

static struct text within_words(const struct world *world, const struct review *review,
                                enum review_limit limit, struct arena *arena)
{
    switch (limit) {
    case LIMIT_MEMORY:
        return arena_printf(arena, "judged within %.*s of memory",
                            TEXT_ARGS(size_words(arena_budget_bytes(arena), arena)));
    case LIMIT_SHAPE:
        return arena_printf(arena, "read: %s", review->obstacle.what);
    case LIMIT_CPU:
        return arena_printf(arena, "judged within %lld ms of processor time",
                            (long long)(world->cpu_limit_us / 1000));
    default:
        return TEXT("judged before its caller's time was over");
    }
}

/* ---- an update that changes nothing that rails read ---- */

static bool next_guarded(struct json_walk *walk, struct text *key, struct text *value)
{
    while (json_walk_next(walk, key, value))
        if (!text_is(*key, "metadata") && !text_is(*key, "status"))
            return true;
    return false;
}

/* Compared as text: the API server writes both in the same way. */
static bool slices_are_equal(struct text object, struct text old_object, bool with_metadata)
{
    struct json_walk walk, old_walk;
    struct text key, value, old_key, old_value;
    if (!json_walk_begin(&walk, object) || !json_walk_begin(&old_walk, old_object))
        return false;
    while (next_guarded(&walk, &key, &value))
        if (!next_guarded(&old_walk, &old_key, &old_value) || !text_equal(key, old_key) ||
            !text_equal(value, old_value))
            return false;
    if (next_guarded(&old_walk, &old_key, &old_value))
        return false;
    if (!with_metadata)
        return true;
    struct text metadata = json_find(object, "metadata");
    struct text old_metadata = json_find(old_object, "metadata");
    return text_equal(json_find(metadata, "labels"), json_find(old_metadata, "labels")) &&
           text_equal(json_find(metadata, "annotations"), json_find(old_metadata, "annotations"));
}

static bool is_unchanged(const struct review *review, struct text body)
{
    if (review->subject.operation != OPERATION_UPDATE)
        return false;
    if (review->limit == LIMIT_NONE)
        return subject_is_unchanged(&review->subject);
    struct text request = json_find_start(body, "request");
    return slices_are_equal(json_find(request, "object"), json_find(request, "oldObject"),
                            review->subject.object == NULL ||
                                guards_metadata(review->subject.object->kind));
}

struct shortfall review_shortfall(const struct world *world, const struct review *review,
                                  enum review_limit limit, struct text body, struct arena *arena)
{
    enum { KIND_BYTES_MAX = 63 };
    struct text kind = TEXT("object");
    if (review->subject.object != NULL)
        kind = json_cut(review->subject.object->kind_name, KIND_BYTES_MAX);
    struct text path = heaviest_path(body, arena);
    struct shortfall shortfall = {
        .limit = limit, .fix = TEXT("Make it smaller."), .unchanged = is_unchanged(review, body)};
    shortfall.message =
        arena_printf(arena, "This %.*s could not be %.*s; its review is %.*s of JSON.",
                     TEXT_ARGS(kind), TEXT_ARGS(within_words(world, review, limit, arena)),
                     TEXT_ARGS(size_words(body.size, arena)));
    if (path.size > 0)
        shortfall.fix =
            arena_printf(arena, "Make it smaller: most of it is in %.*s.", TEXT_ARGS(path));
    return shortfall;
}
