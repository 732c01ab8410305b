/* Findings and errors, with the parts that all formats print. */
#include <string.h>

#include "report/format.h"

static struct place place_as_utf8(struct place place, struct arena *arena)
{
    if (place.file != NULL)
        place.file = text_as_utf8(text_of(place.file), arena).data;
    return place;
}

struct located_finding *locate_findings(const struct report *report, struct arena *arena,
                                        size_t *count)
{
    size_t total = 0;
    for (size_t i = 0; i < report->entry_count; i++)
        total += report->entries[i].verdict.finding_count;
    struct located_finding *located = ARENA_ARRAY(arena, total, struct located_finding);
    size_t next = 0;
    for (size_t i = 0; i < report->entry_count; i++) {
        const struct report_entry *entry = &report->entries[i];
        for (size_t j = 0; j < entry->verdict.finding_count; j++) {
            const struct finding *finding = &entry->verdict.findings[j];
            struct source *source = entry->object->source;
            struct place place = NOWHERE;
            if (source != NULL)
                place = source_place(source, arena, field_offset(finding->field));
            located[next++] =
                (struct located_finding){entry->object, finding, place_as_utf8(place, arena), 0};
        }
    }
    *count = total;
    return located;
}

const struct located_error *locate_errors(const struct report *report, struct arena *arena,
                                          size_t *count)
{
    *count = report->errors->count;
    struct located_error *located = ARENA_ARRAY(arena, *count, struct located_error);
    for (size_t i = 0; i < *count; i++) {
        const struct error *error = &report->errors->items[i];
        located[i] = (struct located_error){error->place.file, place_as_utf8(error->place, arena),
                                            text_as_utf8(text_of(error->what), arena)};
    }
    return located;
}

const char *finding_label(const struct finding *finding)
{
    return finding->undecided ? "undecided" : action_name(finding->action);
}

struct text object_title(const struct object *object, struct arena *arena)
{
    struct text name = object_display_name(object, arena);
    char *title = ARENA_ARRAY(arena, object->namespace.size + name.size + 2, char);
    size_t size = 0;
    if (object->namespace.size > 0) {
        memcpy(title, object->namespace.data, object->namespace.size);
        size = object->namespace.size;
        title[size++] = '/';
    }
    if (name.size > 0)
        memcpy(title + size, name.data, name.size);
    size += name.size;
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)title[i] < 0x20 || title[i] == 0x7f)
            title[i] = ' ';
    return (struct text){title, size};
}

struct text block_text(const struct object *pod, struct text owner, struct text by,
                       struct arena *arena)
{
    return arena_printf(arena, "pod %.*s%s%.*s: %.*s", TEXT_ARGS(object_title(pod, arena)),
                        owner.size > 0 ? " of " : "", TEXT_ARGS(owner), TEXT_ARGS(by));
}

struct text finding_exception(const struct finding *finding, struct arena *arena)
{
    if (finding->exception.data == NULL || finding->exception_expired)
        return TEXT("");
    return arena_printf(arena, "%.*s, until %.*s", TEXT_ARGS(finding->exception),
                        TEXT_ARGS(message_day(finding->exception_expires_unix_s, arena)));
}

size_t finding_notes(const struct finding *finding, struct note notes[MOST_NOTES],
                     struct arena *arena)
{
    const struct note all[MOST_NOTES] = {
        {"fix", finding->fix},
        {"field", finding->path},
        {"exception", finding_exception(finding, arena)},
        {"override", finding->override},
        {"docs", finding->docs},
        {"ask", finding->contact},
    };
    size_t count = 0;
    for (size_t i = 0; i < MOST_NOTES; i++)
        if (all[i].text.size > 0)
            notes[count++] = all[i];
    return count;
}

struct text finding_advice(const struct finding *finding, struct arena *arena)
{
    struct text_builder advice = {.arena = arena};
    text_builder_add(&advice, finding->problem);
    struct note notes[MOST_NOTES];
    size_t count = finding_notes(finding, notes, arena);
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&advice, "\n%s: %.*s", notes[i].label, TEXT_ARGS(notes[i].text));
    return text_builder_text(&advice);
}
