/* The frame of a denial and of a warning: headline, place, contact. Each rail says in policy/rails/
 * what is wrong. */
#include "policy/evaluation.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- text that is safe to show ---- */

static bool continues_code_point(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* At most limit bytes, cut between code points, with "..." at the end when cut. */
static struct text cut_end(struct text t, size_t limit, struct arena *arena)
{
    if (t.size <= limit)
        return t;
    size_t size = limit - 3;
    while (size > 0 && continues_code_point(t.data[size]))
        size--;
    return arena_printf(arena, "%.*s...", (int)size, t.data);
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

struct text message_printable(struct text t, size_t limit_bytes, struct arena *arena)
{
    struct text cut = cut_end(t, limit_bytes, arena);
    size_t clean = 0;
    while (clean < cut.size && !is_control(cut.data[clean]))
        clean++;
    if (clean == cut.size)
        return cut;
    char *copy = ARENA_ARRAY(arena, cut.size + 1, char);
    for (size_t i = 0; i < cut.size; i++)
        copy[i] = is_control(cut.data[i]) ? ' ' : cut.data[i];
    return (struct text){copy, cut.size};
}

/* ---- one finding ---- */

struct text message_day(int64_t unix_s, struct arena *arena)
{
    time_t seconds = (time_t)unix_s;
    struct tm broken_down;
    if (gmtime_r(&seconds, &broken_down) == NULL)
        return TEXT("an unknown day");
    return arena_printf(arena, "%04d-%02d-%02d", broken_down.tm_year + 1900, broken_down.tm_mon + 1,
                        broken_down.tm_mday);
}

struct text message_problem(const struct draft *draft, const struct finding *finding,
                            struct text unknown_namespace, struct arena *arena)
{
    struct text_builder builder = {.arena = arena};
    text_builder_add(&builder, draft->statement);
    if (finding->exception_expired)
        text_builder_printf(&builder, " Exception %.*s expired on %.*s.",
                            TEXT_ARGS(finding->exception),
                            TEXT_ARGS(message_day(finding->exception_expires_unix_s, arena)));
    if (unknown_namespace.size > 0)
        text_builder_printf(&builder,
                            " Whether this applies depends on the labels of Namespace %.*s, which "
                            "is not visible.",
                            TEXT_ARGS(unknown_namespace));
    return text_builder_text(&builder);
}

struct text message_whole(struct text problem, struct text fix, struct arena *arena)
{
    enum { FIX_LIMIT = 400 }; /* a longer one is text to paste, in a line of its own */
    if (fix.size == 0 || fix.size > FIX_LIMIT)
        return problem;
    return arena_printf(arena, "%.*s %.*s", TEXT_ARGS(problem), TEXT_ARGS(fix));
}

/* ---- the denial ---- */

static bool denies(const struct finding *finding)
{
    return finding->action == ACTION_DENY;
}

static size_t problems_of(const struct finding *finding)
{
    return finding->more > 0 ? finding->more : 1;
}

/* Each denying rail once, in order of the findings. */
static void add_rails(struct text_builder *builder, const struct verdict *verdict)
{
    const char **named = (const char **)ARENA_ARRAY(builder->arena, rail_count() + 1, const char *);
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const char *rail = verdict->findings[i].rail;
        size_t j = 0;
        while (j < count && strcmp(named[j], rail) != 0)
            j++;
        if (j < count || !denies(&verdict->findings[i]))
            continue;
        named[count++] = rail; /* of them there are the rails, and the limits */
        text_builder_printf(builder, "%s%s", count == 1 ? "" : ", ", rail);
    }
}

static void add_headline(struct text_builder *builder, const struct object *object,
                         const struct verdict *verdict, size_t count)
{
    enum { NAME_LIMIT = 253 };
    struct arena *arena = builder->arena;
    const struct owner *owner = &object->controller;
    struct text name = message_printable(object_display_name(object, arena), NAME_LIMIT, arena);
    struct text kind = message_printable(object->kind_name, NAME_LIMIT, arena);
    struct text namespace = message_printable(object->namespace, NAME_LIMIT, arena);
    text_builder_printf(builder, "denied by compute guard rails: %zu problem%s in %.*s ", count,
                        count == 1 ? "" : "s", TEXT_ARGS(kind));
    if (namespace.size > 0)
        text_builder_printf(builder, "%.*s/", TEXT_ARGS(namespace));
    text_builder_add(builder, name);
    if (owner->name.size > 0)
        text_builder_printf(builder, " (owner %.*s %.*s)",
                            TEXT_ARGS(message_printable(owner->kind, NAME_LIMIT, arena)),
                            TEXT_ARGS(message_printable(owner->name, NAME_LIMIT, arena)));
    text_builder_add(builder, TEXT(": "));
    add_rails(builder, verdict);
}

static void add_problem(struct text_builder *builder, size_t number, const struct finding *finding)
{
    text_builder_printf(builder, "\n%zu. %s  %.*s%s%.*s", number, finding->rail,
                        TEXT_ARGS(finding->path), finding->path.size == 0 ? "" : ": ",
                        TEXT_ARGS(finding->message));
    const char *separator = "\n   ";
    const struct {
        const char *label;
        struct text text;
    } notes[] = {{"fix", finding->message.size > finding->problem.size ? TEXT("") : finding->fix},
                 {"policy", finding->policy},
                 {"docs", finding->docs},
                 {"ask", finding->contact}};
    for (size_t i = 0; i < COUNT_OF(notes); i++) {
        if (notes[i].text.size == 0)
            continue;
        text_builder_printf(builder, "%s%s: %.*s", separator, notes[i].label,
                            TEXT_ARGS(notes[i].text));
        separator = "   ";
    }
}

/* A hostile object can have thousands, and long ones; people read the first. Returns how many
 * problems the text names. */
static size_t add_problems(struct text_builder *builder, const struct verdict *verdict)
{
    enum { PROBLEMS_SHOWN = 20, TEXT_LIMIT = 16 << 10 };
    size_t number = 0, named = 0;
    for (size_t i = 0; i < verdict->finding_count && number < PROBLEMS_SHOWN; i++) {
        const struct finding *finding = &verdict->findings[i];
        size_t size = builder->size;
        if (!denies(finding))
            continue;
        add_problem(builder, ++number, finding);
        if (builder->size > TEXT_LIMIT && number > 1) {
            builder->size = size;
            break;
        }
        named += problems_of(finding);
    }
    return named;
}

/* Of several policies the first that says one. */
static struct text command_to_check(const struct verdict *verdict, struct arena *arena)
{
    enum { COMMAND_LIMIT = 200 };
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (denies(&verdict->findings[i]) && verdict->findings[i].check.size > 0)
            return message_printable(verdict->findings[i].check, COMMAND_LIMIT, arena);
    return TEXT("taffrail check -p POLICY -f FILE");
}

struct text message_denial(const struct subject *subject, const struct verdict *verdict,
                           struct arena *arena)
{
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count; i++)
        if (denies(&verdict->findings[i]))
            count += problems_of(&verdict->findings[i]);
    if (count == 0)
        return TEXT("");

    struct text_builder builder = {.arena = arena};
    add_headline(&builder, subject->object, verdict, count);
    size_t named = add_problems(&builder, verdict);
    if (count > named)
        text_builder_printf(&builder, "\n... and %zu more", count - named);
    text_builder_printf(&builder, "\ncheck before you push: %.*s",
                        TEXT_ARGS(command_to_check(verdict, arena)));
    return text_builder_text(&builder);
}

/* ---- warnings ---- */

/* The end of a path, from the first key on with which it fits; brackets hold dots of their own. At
 * least the last key, however long it is. */
static struct text cut_path(struct text path, size_t limit, struct arena *arena)
{
    if (path.size <= limit)
        return path;
    size_t start = 0, depth = 0;
    for (size_t i = 0; i < path.size && (start == 0 || path.size - start + 3 > limit); i++) {
        depth += path.data[i] == '[';
        depth -= depth > 0 && path.data[i] == ']';
        if (depth == 0 && path.data[i] == '.')
            start = i + 1;
    }
    if (start == 0)
        return path;
    return arena_printf(arena, "...%.*s", (int)(path.size - start), path.data + start);
}

/* The sentences of t that fit; cut in the first where not even that one does. */
static struct text cut_sentences(struct text t, size_t limit, struct arena *arena)
{
    if (t.size <= limit)
        return t;
    for (size_t end = limit; end > 1; end--)
        if (t.data[end - 1] == '.' && t.data[end] == ' ')
            return (struct text){t.data, end};
    return cut_end(t, limit, arena);
}

static const char *verb_of(enum change_outcome outcome)
{
    static const char *const verbs[] = {
        [OUTCOME_EXCEPTED] = "by exception not added:",
        [OUTCOME_FAILED] = "could not add",
        [OUTCOME_AUDITED] = "would add",
        [OUTCOME_WARNED] = "would add",
        [OUTCOME_APPLIED] = "added",
    };
    return verbs[outcome];
}

enum { WARNING_LIMIT = 120 };

struct text message_change(const struct change *change, struct arena *arena)
{
    struct text whole = arena_printf(arena, "[%s] %s %.*s", change->rail, verb_of(change->outcome),
                                     TEXT_ARGS(change->added));
    return cut_end(whole, WARNING_LIMIT, arena);
}

struct text message_change_audit(const struct change *change, struct arena *arena)
{
    return arena_printf(arena, "%s %.*s", verb_of(change->outcome), TEXT_ARGS(change->added));
}

/* A fix is worth more than what follows from the problem, where there is no room for both. */
static struct text warning_words(const struct finding *finding, size_t room, struct arena *arena)
{
    if (finding->message.size <= room)
        return finding->message;
    if (finding->replacement.size > 0) {
        struct text found = message_printable(finding->found, WARNING_LIMIT, arena);
        struct text words =
            arena_printf(arena, "found \"%.*s\". %.*s", TEXT_ARGS(found), TEXT_ARGS(finding->fix));
        if (words.size <= room)
            return words;
    }
    return cut_sentences(finding->problem, room, arena);
}

struct text message_warning(const struct finding *finding, int64_t now_unix_s, struct arena *arena)
{
    enum { PATH_AT_LEAST = 40 };
    struct text prefix = arena_printf(arena, "[%s] ", finding->rail);
    size_t room = WARNING_LIMIT - prefix.size - sizeof ": " + 1;
    /* With no less room than the last keys of the path leave. */
    struct text path = cut_path(finding->path, PATH_AT_LEAST, arena);
    path = cut_end(path, PATH_AT_LEAST, arena);
    struct text what;
    if (finding->action == ACTION_EXCEPTED) {
        int64_t days = (finding->exception_expires_unix_s - now_unix_s) / 86400;
        what = arena_printf(arena, "allowed by exception %.*s until %.*s (%lld days left)",
                            TEXT_ARGS(finding->exception),
                            TEXT_ARGS(message_day(finding->exception_expires_unix_s, arena)),
                            (long long)days);
        what = cut_end(what, room - path.size, arena);
    } else {
        what = warning_words(finding, room - path.size, arena);
    }
    struct text longer = cut_path(finding->path, room - what.size, arena);
    if (longer.size + what.size <= room)
        path = longer;
    return arena_printf(arena, "%.*s%.*s%s%.*s", TEXT_ARGS(prefix), TEXT_ARGS(path),
                        path.size == 0 ? "" : ": ", TEXT_ARGS(what));
}
