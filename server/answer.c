/* The answer to a review: warnings, notes for the audit log, and the reasons of a denial. It is
 * written into the arena, so that no half of an answer is sent when memory ends, and never exceeds
 * ANSWER_BYTES_MAX. */
#include <string.h>

#include "server/patch.h"
#include "server/review.h"

/* Limits of the API server: 4096 runes of warnings for one request, over all sources
 * (docs/reference/admission.md 1.5); an exception warns in its last days. */
enum { WARNINGS_SHOWN = 12, EXCEPTION_WARNS_DAYS = 14 };

/* Bytes of JSON; together with an envelope they leave a third of the answer to the causes. */
enum {
    MESSAGE_BYTES_MAX = 24 << 10,
    NAME_BYTES_MAX = 512,
    WARNING_BYTES_MAX = 512,
    ANNOTATION_BYTES_MAX = 1 << 10,
    PATCH_BYTES_MAX = 40 << 10,
};

struct annotation {
    const char *key;
    struct text value;
};

struct reply {
    const struct review *review;
    const struct verdict *verdict;
    int64_t now_unix_s;
    struct arena *arena;
    struct text warnings[WARNINGS_SHOWN + 1];
    size_t warning_count;
    LIST(struct annotation) annotations;
    struct text patch; /* base64; empty: none */
};

/* ---- warnings ---- */

static bool warns(const struct finding *finding, int64_t now_unix_s)
{
    if (finding->action == ACTION_EXCEPTED)
        return finding->exception_expires_unix_s - now_unix_s <
               (int64_t)EXCEPTION_WARNS_DAYS * 24 * 3600;
    return finding->action == ACTION_WARN && !finding->quiet;
}

static void add_warnings(struct reply *reply)
{
    size_t total = 0;
    for (size_t i = 0; i < reply->verdict->finding_count; i++) {
        const struct finding *finding = &reply->verdict->findings[i];
        if (!warns(finding, reply->now_unix_s))
            continue;
        if (total++ < WARNINGS_SHOWN)
            reply->warnings[reply->warning_count++] =
                message_warning(finding, reply->now_unix_s, reply->arena);
    }
    if (total > WARNINGS_SHOWN)
        reply->warnings[reply->warning_count++] =
            arena_printf(reply->arena, "... and %zu more warnings", total - WARNINGS_SHOWN);
}

static void add_change_warnings(struct reply *reply)
{
    for (size_t i = 0; i < reply->verdict->change_count; i++) {
        const struct change *change = &reply->verdict->changes[i];
        if ((change->outcome == OUTCOME_APPLIED || change->outcome == OUTCOME_WARNED) &&
            reply->warning_count < WARNINGS_SHOWN)
            reply->warnings[reply->warning_count++] = message_change(change, reply->arena);
    }
}

/* ---- for the audit log ---- */

/* A list of distinct texts, as audit annotations hold them; a text that does not fit whole is not
 * added. */
static void add_once(struct text_builder *builder, struct text value)
{
    struct text rest = text_builder_text(builder);
    if (rest.size > 0 && rest.size + 1 + value.size > ANNOTATION_BYTES_MAX)
        return;
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

static void annotate(struct reply *reply, const char *key, struct text value)
{
    if (value.size > 0)
        *LIST_PUSH(reply->arena, &reply->annotations) = (struct annotation){key, value};
}

static void add_annotations(struct reply *reply)
{
    const struct verdict *verdict = reply->verdict;
    if (verdict->limit != LIMIT_NONE)
        annotate(reply, "limit", text_of(limit_name(verdict->limit)));
    if (verdict->finding_count == 0)
        return;
    struct text_builder rails = {.arena = reply->arena};
    struct text_builder policies = {.arena = reply->arena};
    struct text_builder exceptions = {.arena = reply->arena};
    struct text_builder pre_existing = {.arena = reply->arena};
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const struct finding *finding = &verdict->findings[i];
        add_once(&rails, text_of(finding->rail));
        add_once(&policies, finding->policy);
        if (finding->exception.data != NULL)
            add_once(&exceptions, finding->exception);
        if (finding->pre_existing)
            add_once(&pre_existing, text_of(finding->rail));
    }
    annotate(reply, "verdict", text_of(action_name(verdict->action)));
    annotate(reply, "rails", text_builder_text(&rails));
    annotate(reply, "policy", text_builder_text(&policies));
    annotate(reply, "exception", text_builder_text(&exceptions));
    annotate(reply, "pre-existing", text_builder_text(&pre_existing));
}

/* All changes of one rail together, because a key may occur only once. */
static struct text changes_of_rail(const struct reply *reply, const char *rail)
{
    struct text_builder all = {.arena = reply->arena};
    for (size_t i = 0; i < reply->verdict->change_count; i++) {
        const struct change *change = &reply->verdict->changes[i];
        if (strcmp(change->rail, rail) == 0)
            text_builder_printf(&all, "%s%.*s", all.size == 0 ? "" : "; ",
                                TEXT_ARGS(message_change_audit(change, reply->arena)));
    }
    return text_builder_text(&all);
}

/* The keys are the rails' names. In a second call about a pod that has the changes, there is no
 * annotation: a key with another value would be lost. */
static void add_change_annotations(struct reply *reply)
{
    const struct verdict *verdict = reply->verdict;
    struct text_builder policies = {.arena = reply->arena};
    struct text_builder exceptions = {.arena = reply->arena};
    if (verdict->limit != LIMIT_NONE)
        annotate(reply, "limit",
                 arena_printf(reply->arena, "%s: nothing is changed", limit_name(verdict->limit)));
    for (size_t i = 0; i < verdict->change_count; i++) {
        const struct change *change = &verdict->changes[i];
        add_once(&policies, change->policy);
        if (change->exception.data != NULL)
            add_once(&exceptions, change->exception);
        bool is_first = true;
        for (size_t j = 0; j < i; j++)
            is_first &= strcmp(verdict->changes[j].rail, change->rail) != 0;
        if (is_first)
            annotate(reply, change->rail, changes_of_rail(reply, change->rail));
    }
    annotate(reply, "policy", text_builder_text(&policies));
    annotate(reply, "exception", text_builder_text(&exceptions));
}

/* ---- JSON ---- */

static void add_cut(struct text_builder *out, const char *key, struct text value, size_t limit)
{
    json_write_member(out, key, json_cut(value, limit));
}

static struct text json_of_cause(const struct finding *finding, struct arena *arena)
{
    const char *reason = "FieldValueInvalid";
    if (finding->more == 0 && finding->path.size > 0 && finding->found.size == 0)
        reason = "FieldValueRequired";
    else if (finding->allowed_total > 0)
        reason = "FieldValueNotSupported";
    struct text_builder out = {.arena = arena};
    text_builder_add(&out, TEXT("{"));
    json_write_member(&out, "reason", text_of(reason));
    json_write_member(&out, "message", finding->message);
    json_write_member(&out, "field", finding->path);
    text_builder_add(&out, TEXT("}"));
    return text_builder_text(&out);
}

/* As many as fit, then the number of the rest. */
static void add_causes(struct text_builder *out, const struct reply *reply, size_t room_bytes)
{
    enum { LAST_BYTES = 128 };
    size_t left = 0, end = out->size + room_bytes - LAST_BYTES;
    json_write_key(out, "causes");
    text_builder_add(out, TEXT("["));
    const char *separator = "";
    for (size_t i = 0; i < reply->verdict->finding_count; i++) {
        const struct finding *finding = &reply->verdict->findings[i];
        if (finding->action != ACTION_DENY || finding->undecided)
            continue;
        struct text cause = left > 0 ? TEXT("") : json_of_cause(finding, reply->arena);
        if (left > 0 || out->size + cause.size + 1 > end) {
            left += finding->more > 0 ? finding->more : 1;
            continue;
        }
        text_builder_printf(out, "%s%.*s", separator, TEXT_ARGS(cause));
        separator = ",";
    }
    if (left > 0)
        text_builder_printf(out,
                            "%s{\"reason\":\"FieldValueInvalid\",\"message\":\"... and %zu "
                            "more\",\"field\":\"\"}",
                            separator, left);
    text_builder_add(out, TEXT("]"));
}

/* 403 on every operation: on Invalid, `kubectl apply --force` deletes live objects. */
static void add_status(struct text_builder *out, const struct reply *reply, size_t rest_bytes)
{
    const struct subject *subject = &reply->review->subject;
    struct text denial = message_denial(subject, reply->verdict, reply->arena);
    struct text group = TEXT("");
    text_split(subject->object->api_version, '/', &group, NULL);
    json_write_key(out, "status");
    text_builder_add(out, TEXT("{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"status\":\"Failure\","
                               "\"code\":403,\"reason\":\"Forbidden\""));
    add_cut(out, "message", denial, MESSAGE_BYTES_MAX);
    json_write_key(out, "details");
    text_builder_add(out, TEXT("{"));
    add_cut(out, "name", subject->object->name, NAME_BYTES_MAX);
    add_cut(out, "group", group, NAME_BYTES_MAX);
    add_cut(out, "kind", subject->object->kind_name, NAME_BYTES_MAX);
    add_causes(out, reply, ANSWER_BYTES_MAX - rest_bytes - out->size);
    text_builder_add(out, TEXT("}}"));
}

/* The part after the status. */
static struct text json_of_rest(const struct reply *reply)
{
    struct text_builder out = {.arena = reply->arena};
    for (size_t i = 0; i < reply->warning_count; i++) {
        text_builder_add(&out, i == 0 ? TEXT(",\"warnings\":[") : TEXT(","));
        json_write_string(&out, json_cut(reply->warnings[i], WARNING_BYTES_MAX));
    }
    if (reply->warning_count > 0)
        text_builder_add(&out, TEXT("]"));
    for (size_t i = 0; i < reply->annotations.count; i++) {
        if (i == 0)
            text_builder_add(&out, TEXT(",\"auditAnnotations\":{"));
        add_cut(&out, reply->annotations.items[i].key, reply->annotations.items[i].value,
                ANNOTATION_BYTES_MAX);
    }
    if (reply->annotations.count > 0)
        text_builder_add(&out, TEXT("}"));
    if (reply->patch.size > 0)
        text_builder_printf(&out, ",\"patchType\":\"JSONPatch\",\"patch\":\"%.*s\"",
                            TEXT_ARGS(reply->patch));
    return text_builder_text(&out);
}

static struct text json_of_reply(const struct reply *reply)
{
    const struct text end = TEXT("}}");
    struct text rest = json_of_rest(reply);
    bool denied = reply->verdict->action == ACTION_DENY;
    struct text_builder out = {.arena = reply->arena};
    text_builder_add(&out, TEXT("{\"apiVersion\":\"admission.k8s.io/v1\","
                                "\"kind\":\"AdmissionReview\",\"response\":{\"uid\":"));
    json_write_string(&out, reply->review->uid);
    text_builder_add(&out, denied ? TEXT(",\"allowed\":false") : TEXT(",\"allowed\":true"));
    if (denied)
        add_status(&out, reply, rest.size + end.size);
    text_builder_add(&out, rest);
    text_builder_add(&out, end);
    return text_builder_text(&out);
}

bool answer_print(enum review_phase phase, const struct review *review,
                  const struct verdict *verdict, int64_t now_unix_s, struct arena *arena,
                  struct text *answer)
{
    struct reply reply = {review, verdict, now_unix_s, arena, .warning_count = 0};
    bool is_read = !requester_is_controller(&review->subject.requester);
    if (phase == REVIEW_VALIDATE) {
        if (is_read)
            add_warnings(&reply);
        add_annotations(&reply);
    } else {
        if (verdict->patch.count > 0)
            reply.patch = patch_print(verdict->patch.items, verdict->patch.count, arena);
        if (reply.patch.size > PATCH_BYTES_MAX)
            return false;
        if (is_read)
            add_change_warnings(&reply);
        add_change_annotations(&reply);
    }
    *answer = json_of_reply(&reply);
    return true;
}
