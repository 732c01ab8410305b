#include <json-c/json.h>
#include <string.h>

#include "policy/policy.h"
#include "report/report.h"
#include "server/patch.h"
#include "server/server.h"

/* Limits of the API server: 4096 runes of warnings for one request, over all sources
 * (docs/reference/admission.md 1.5); an exception warns in its last days. */
enum { WARNINGS_SHOWN = 12, EXCEPTION_WARNS_DAYS = 14 };

static const struct {
    const char *name;
    enum operation operation;
} operations[] = {
    {"CREATE", OPERATION_CREATE},
    {"UPDATE", OPERATION_UPDATE},
    {"DELETE", OPERATION_DELETE},
    {"CONNECT", OPERATION_CONNECT},
};

/* ---- in ---- */

struct review {
    struct text uid;
    struct subject subject;
    struct object object, old_object;
};

static bool read_operation(struct text name, enum operation *operation, struct error *error)
{
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        if (text_is(name, operations[i].name)) {
            *operation = operations[i].operation;
            return true;
        }
    return error_set(error, ERROR_INPUT, NOWHERE,
                     "request.operation is \"%.*s\", not CREATE, UPDATE, DELETE or CONNECT",
                     (int)(name.size < 40 ? name.size : 40), name.data);
}

static struct requester read_requester(const struct node *user, struct arena *arena)
{
    struct requester requester = {.name = node_string(node_get(user, "username"))};
    const struct node *groups = node_get(user, "groups");
    size_t count = node_is(groups, NODE_LIST) ? node_count(groups) : 0;
    struct text *items = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < count; i++)
        items[i] = node_string(node_item(groups, i));
    requester.groups = items;
    requester.group_count = count;
    return requester;
}

/* null, absent and a map are all fine (docs/reference/admission.md 1.1). */
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

static bool read_review(struct text body, struct arena *arena, struct review *review,
                        struct error *error)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = body;
    const struct node *root = NULL;
    if (!doc_read_json(source, &doc_limits_review, NULL, arena, &root, error))
        return false;
    if (!text_is(node_string(node_get(root, "kind")), "AdmissionReview") ||
        !text_is(node_string(node_get(root, "apiVersion")), "admission.k8s.io/v1"))
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "the body is no AdmissionReview of admission.k8s.io/v1");
    const struct node *request = node_get(root, "request");
    if (!node_is(request, NODE_MAP))
        return error_set(error, ERROR_INPUT, NOWHERE, "the AdmissionReview has no request");
    review->uid = node_string(node_get(request, "uid"));
    if (review->uid.size == 0)
        return error_set(error, ERROR_INPUT, NOWHERE, "request.uid is missing or not a string");

    struct subject *subject = &review->subject;
    *subject = (struct subject){
        .subresource = node_string(node_get(request, "subResource")),
        .requester = read_requester(node_get(request, "userInfo"), arena),
        .dry_run = node_true(node_get(request, "dryRun")),
        .resource_kind = kind_of_resource(node_string(node_at(request, "resource.group")),
                                          node_string(node_at(request, "resource.resource"))),
    };
    return read_operation(node_string(node_get(request, "operation")), &subject->operation,
                          error) &&
           read_object(request, "object", arena, &review->object, &subject->object, error) &&
           read_object(request, "oldObject", arena, &review->old_object, &subject->old_object,
                       error);
}

/* ---- out ---- */

struct annotation {
    const char *key;
    struct text value;
};

/* What the answer says, complete before json-c is touched: under the arena's guard json-c may hold
 * nothing. */
struct reply {
    struct text uid;
    bool allowed;
    struct text denial;
    const struct object *object;
    const struct verdict *verdict;
    struct text warnings[WARNINGS_SHOWN + 1];
    size_t warning_count;
    LIST(struct annotation) annotations;
    struct text patch; /* base64; empty: none */
};

static bool warns(const struct finding *finding, int64_t now_unix_s)
{
    if (finding->action == ACTION_EXCEPTED)
        return finding->exception_expires_unix_s - now_unix_s <
               (int64_t)EXCEPTION_WARNS_DAYS * 24 * 3600;
    return finding->action == ACTION_WARN && !finding->quiet;
}

static void add_warnings(struct reply *reply, int64_t now_unix_s, struct arena *arena)
{
    size_t total = 0;
    for (size_t i = 0; i < reply->verdict->finding_count; i++) {
        const struct finding *finding = &reply->verdict->findings[i];
        if (!warns(finding, now_unix_s))
            continue;
        if (total++ < WARNINGS_SHOWN)
            reply->warnings[reply->warning_count++] = message_warning(finding, now_unix_s, arena);
    }
    if (total > WARNINGS_SHOWN)
        reply->warnings[reply->warning_count++] =
            arena_printf(arena, "... and %zu more warnings", total - WARNINGS_SHOWN);
}

/* A list of distinct texts, as audit annotations hold them. */
static void add_once(struct text_builder *builder, struct text value)
{
    struct text rest = text_builder_text(builder);
    while (rest.size > 0) {
        struct text one = rest;
        struct text after = TEXT("");
        text_split(rest, ',', &one, &after);
        if (text_equal(one, value))
            return;
        rest = after;
    }
    text_builder_printf(builder, "%s%.*s", builder->size == 0 ? "" : ",", TEXT_ARGS(value));
}

static void annotate(struct reply *reply, const char *key, struct text value, struct arena *arena)
{
    if (value.size == 0)
        return;
    *LIST_PUSH(arena, &reply->annotations) = (struct annotation){key, value};
}

static void add_annotations(struct reply *reply, struct arena *arena)
{
    const struct verdict *verdict = reply->verdict;
    if (verdict->finding_count == 0)
        return;
    struct text_builder rails = {.arena = arena};
    struct text_builder policies = {.arena = arena};
    struct text_builder exceptions = {.arena = arena};
    struct text_builder pre_existing = {.arena = arena};
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        add_once(&rails, text_of(finding->rail));
        add_once(&policies, finding->policy);
        if (finding->exception.data != NULL)
            add_once(&exceptions, finding->exception);
        if (finding->pre_existing)
            add_once(&pre_existing, text_of(finding->rail));
    }
    annotate(reply, "verdict", text_of(action_name(verdict->action)), arena);
    annotate(reply, "rails", text_builder_text(&rails), arena);
    annotate(reply, "policy", text_builder_text(&policies), arena);
    annotate(reply, "exception", text_builder_text(&exceptions), arena);
    annotate(reply, "pre-existing", text_builder_text(&pre_existing), arena);
}

/* ---- what was changed, or would be ---- */

static void add_change_warnings(struct reply *reply, struct arena *arena)
{
    for (size_t i = 0; i < reply->verdict->amendment_count; i++) {
        const struct amendment *amendment = &reply->verdict->amendments[i];
        if ((amendment->outcome == OUTCOME_APPLIED || amendment->outcome == OUTCOME_WARNED) &&
            reply->warning_count < WARNINGS_SHOWN)
            reply->warnings[reply->warning_count++] = message_amendment(amendment, arena);
    }
}

/* Of one rail all amendments together, since a key stands once. */
static struct text changes_of_rail(const struct verdict *verdict, const char *rail,
                                   struct arena *arena)
{
    struct text_builder all = {.arena = arena};
    for (size_t i = 0; i < verdict->amendment_count; i++) {
        const struct amendment *amendment = &verdict->amendments[i];
        if (strcmp(amendment->rail, rail) == 0)
            text_builder_printf(&all, "%s%.*s", all.size == 0 ? "" : "; ",
                                TEXT_ARGS(message_amendment_audit(amendment, arena)));
    }
    return text_builder_text(&all);
}

/* The keys are the rails' names. Asked again about a pod that carries the changes, nothing is said:
 * a key that comes with another value is lost. */
static void add_change_annotations(struct reply *reply, struct arena *arena)
{
    const struct verdict *verdict = reply->verdict;
    struct text_builder policies = {.arena = arena};
    struct text_builder exceptions = {.arena = arena};
    for (size_t i = 0; i < verdict->amendment_count; i++) {
        const struct amendment *amendment = &verdict->amendments[i];
        add_once(&policies, amendment->policy);
        if (amendment->exception.data != NULL)
            add_once(&exceptions, amendment->exception);
        bool is_first = true;
        for (size_t j = 0; j < i; j++)
            is_first &= strcmp(verdict->amendments[j].rail, amendment->rail) != 0;
        if (is_first)
            annotate(reply, amendment->rail, changes_of_rail(verdict, amendment->rail, arena),
                     arena);
    }
    annotate(reply, "policy", text_builder_text(&policies), arena);
    annotate(reply, "exception", text_builder_text(&exceptions), arena);
}

static struct json_object *json_of_cause(const struct finding *finding)
{
    const char *reason = "FieldValueRequired";
    if (finding->found.size > 0)
        reason = finding->allowed_total > 0 ? "FieldValueNotSupported" : "FieldValueInvalid";
    struct json_object *cause = json_object_new_object();
    json_object_object_add(cause, "reason", json_object_new_string(reason));
    json_object_object_add(cause, "message", json_of_text(finding->message));
    json_object_object_add(cause, "field", json_of_text(finding->path));
    return cause;
}

/* 403 on every operation: `kubectl apply --force` deletes live objects on Invalid. */
static struct json_object *json_of_status(const struct reply *reply)
{
    struct json_object *causes = json_object_new_array();
    for (size_t i = 0; i < reply->verdict->finding_count; i++) {
        const struct finding *finding = &reply->verdict->findings[i];
        if (finding->action == ACTION_DENY && !finding->undecided)
            json_object_array_add(causes, json_of_cause(finding));
    }
    struct text group = TEXT("");
    text_split(reply->object->api_version, '/', &group, NULL);
    struct json_object *details = json_object_new_object();
    json_object_object_add(details, "name", json_of_text(reply->object->name));
    json_object_object_add(details, "group", json_of_text(group));
    json_object_object_add(details, "kind", json_of_text(reply->object->kind_name));
    json_object_object_add(details, "causes", causes);

    struct json_object *status = json_object_new_object();
    json_object_object_add(status, "apiVersion", json_object_new_string("v1"));
    json_object_object_add(status, "kind", json_object_new_string("Status"));
    json_object_object_add(status, "status", json_object_new_string("Failure"));
    json_object_object_add(status, "code", json_object_new_int(403));
    json_object_object_add(status, "reason", json_object_new_string("Forbidden"));
    json_object_object_add(status, "message", json_of_text(reply->denial));
    json_object_object_add(status, "details", details);
    return status;
}

static struct json_object *json_of_reply(const struct reply *reply)
{
    struct json_object *response = json_object_new_object();
    json_object_object_add(response, "uid", json_of_text(reply->uid));
    json_object_object_add(response, "allowed", json_object_new_boolean(reply->allowed));
    if (!reply->allowed)
        json_object_object_add(response, "status", json_of_status(reply));
    if (reply->warning_count > 0) {
        struct json_object *warnings = json_object_new_array();
        for (size_t i = 0; i < reply->warning_count; i++)
            json_object_array_add(warnings, json_of_text(reply->warnings[i]));
        json_object_object_add(response, "warnings", warnings);
    }
    if (reply->annotations.count > 0) {
        struct json_object *annotations = json_object_new_object();
        for (size_t i = 0; i < reply->annotations.count; i++)
            json_object_object_add(annotations, reply->annotations.items[i].key,
                                   json_of_text(reply->annotations.items[i].value));
        json_object_object_add(response, "auditAnnotations", annotations);
    }
    if (reply->patch.size > 0) {
        json_object_object_add(response, "patchType", json_object_new_string("JSONPatch"));
        json_object_object_add(response, "patch", json_of_text(reply->patch));
    }
    struct json_object *root = json_object_new_object();
    json_object_object_add(root, "apiVersion", json_object_new_string("admission.k8s.io/v1"));
    json_object_object_add(root, "kind", json_object_new_string("AdmissionReview"));
    json_object_object_add(root, "response", response);
    return root;
}

/* ---- the way of a request ---- */

static void fill_record(const struct review *review, bool allowed, const struct verdict *verdict,
                        struct review_record *record)
{
    const struct subject *subject = &review->subject;
    const struct object *object = subject->object != NULL ? subject->object : subject->old_object;
    *record = (struct review_record){
        .uid = review->uid,
        .operation = text_of(operations[subject->operation].name),
        .user = subject->requester.name,
        .dry_run = subject->dry_run,
        .allowed = allowed,
        .verdict = *verdict,
    };
    if (object == NULL)
        return;
    record->kind = object->kind_name;
    record->namespace = object->namespace;
    record->name = object->name.size > 0 ? object->name : object->generate_name;
}

static void judge(const struct world *world, const struct review *review, int64_t now_unix_s,
                  struct arena *arena, struct verdict *verdict, struct reply *reply)
{
    policy_evaluate(world, &review->subject, now_unix_s, arena, verdict);
    reply->allowed = verdict->action != ACTION_DENY;
    reply->denial = message_denial(&review->subject, verdict, arena);
    if (!requester_is_controller(&review->subject.requester))
        add_warnings(reply, now_unix_s, arena);
    add_annotations(reply, arena);
}

static bool change(const struct world *world, const struct review *review, int64_t now_unix_s,
                   struct arena *arena, struct verdict *verdict, struct reply *reply,
                   struct error *error)
{
    policy_mutate(world, &review->subject, now_unix_s, arena, verdict);
    if (!requester_is_controller(&review->subject.requester))
        add_change_warnings(reply, arena);
    add_change_annotations(reply, arena);
    return verdict->change_count == 0 ||
           patch_print(verdict->changes, verdict->change_count, arena, &reply->patch, error);
}

bool review_answer(const struct world *world, enum review_phase phase, struct text body,
                   int64_t now_unix_s, struct arena *arena, struct text *answer,
                   struct review_record *record, struct error *error)
{
    struct review review = {0};
    if (!read_review(body, arena, &review, error))
        return false;
    subject_of_scale(world, arena, &review.subject);

    struct verdict verdict = {0};
    struct reply reply = {
        .uid = review.uid,
        .allowed = true,
        .object = review.subject.object,
        .verdict = &verdict,
    };
    if (phase == REVIEW_VALIDATE && review.subject.object != NULL)
        judge(world, &review, now_unix_s, arena, &verdict, &reply);
    if (phase == REVIEW_MUTATE && review.subject.object != NULL &&
        !change(world, &review, now_unix_s, arena, &verdict, &reply, error))
        return false;
    fill_record(&review, reply.allowed, &verdict, record);
    return json_print(json_of_reply(&reply), false, arena, answer, error);
}
