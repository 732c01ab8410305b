/* Reads a YAML stream into its documents. The text is cut at document boundaries before libyaml
 * sees it, so that a broken document ends only itself. */
#include <string.h>

#include "base/yaml_internal.h"

static void add_root(struct yaml_reader *reader, const struct node *node)
{
    struct node *root = ARENA_NEW(reader->arena, struct node);
    *root = *node;
    *LIST_PUSH(reader->arena, &reader->roots) = root;
}

static bool read_document(struct yaml_reader *reader)
{
    struct node root;
    reader->anchors.count = 0;
    reader->depth = 0;
    if (!yaml_next_event(reader) || !yaml_read_node(reader, &root) || !yaml_next_event(reader))
        return false;
    add_root(reader, &root);
    return true;
}

static void reader_close(struct yaml_reader *reader)
{
    if (!reader->open)
        return;
    reader->open = false;
    yaml_event_delete(&reader->event);
    yaml_parser_delete(&reader->parser);
}

static void read_yaml_part(struct yaml_reader *reader, size_t start, size_t end)
{
    struct text t = reader->source->text;
    reader->part_start = reader->cursor_bytes = start;
    reader->cursor_characters = 0;
    if (yaml_parser_initialize(&reader->parser) == 0) {
        problems_add(&reader->problems, ERROR_MEMORY, yaml_place(reader, (uint32_t)start),
                     "the system gives no memory to read the YAML");
        return;
    }
    reader->open = true;
    /* Named, so that libyaml does not look for a byte order mark. */
    yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader->parser, (const unsigned char *)t.data + start,
                                 end - start);
    bool go_on = yaml_next_event(reader);
    while (go_on && reader->event.type != YAML_STREAM_END_EVENT)
        go_on = reader->event.type == YAML_DOCUMENT_START_EVENT ? read_document(reader)
                                                                : yaml_next_event(reader);
    reader_close(reader);
}

/* JSON is YAML, except for tabs and escapes that libyaml does not know, and the JSON reader is
 * faster. False when it is not JSON: then nothing was added. */
static bool read_json_part(struct yaml_reader *reader, size_t start, size_t end)
{
    struct text t = reader->source->text;
    struct problems duplicates = {.arena = reader->arena};
    struct node root;
    struct error error;
    size_t node_count = reader->node_count;
    if (!json_read_part(reader->source, (struct text){t.data + start, end - start}, reader->limits,
                        &duplicates, reader->arena, &node_count, &root, NULL, &error)) {
        if (error.kind == ERROR_LIMIT)
            problems_add_error(&reader->problems, &error);
        return error.kind == ERROR_LIMIT;
    }
    reader->node_count = node_count;
    for (size_t i = 0; i < duplicates.count; i++) {
        duplicates.items[i].kind = yaml_kind_of_duplicate(reader);
        problems_add_error(&reader->problems, &duplicates.items[i]);
    }
    add_root(reader, &root);
    return true;
}

static void read_empty_part(struct yaml_reader *reader, size_t start)
{
    struct node root = {.kind = NODE_NULL, .offset = (uint32_t)start};
    reader->part_start = reader->cursor_bytes = start;
    reader->cursor_characters = 0;
    if (yaml_count_nodes(reader, 1))
        add_root(reader, &root);
}

static void read_stream(void *argument)
{
    struct yaml_reader *reader = argument;
    struct text t = reader->source->text;
    size_t start = text_starts_with(t, TEXT("\xEF\xBB\xBF")) ? 3 : 0;
    while (start < t.size && !reader->exhausted) {
        struct yaml_part part = yaml_part_find(t, start);
        bool json =
            part.content < part.end && (t.data[part.content] == '{' || t.data[part.content] == '[');
        if (part.content == part.end && part.begins)
            read_empty_part(reader, start);
        else if (part.content < part.end &&
                 !(json && read_json_part(reader, part.content, part.end)))
            read_yaml_part(reader, part.start, part.end);
        start = part.end;
    }
}

static bool check_text(const struct source *source, const struct doc_limits *limits,
                       struct problems *problems)
{
    struct place place = {source->file, 0, 0};
    size_t limit = limits->bytes < DOC_BYTES_MAX ? limits->bytes : DOC_BYTES_MAX;
    if (source->text.size > limit) {
        problems_add(problems, ERROR_LIMIT, place,
                     "the YAML has %zu bytes, more than the allowed %zu", source->text.size, limit);
        return false;
    }
    if (text_starts_with(source->text, TEXT("\xFF\xFE")) ||
        text_starts_with(source->text, TEXT("\xFE\xFF"))) {
        problems_add(problems, ERROR_INPUT, place, "is UTF-16; save it as UTF-8");
        return false;
    }
    return true;
}

void doc_read_yaml(struct source *source, enum yaml_style style, const struct doc_limits *limits,
                   struct arena *arena, struct problems *problems,
                   void (*sink)(void *context, const struct node *root), void *context)
{
    if (!check_text(source, limits, problems))
        return;
    struct yaml_reader reader = {
        .source = source,
        .style = style,
        .limits = limits,
        .arena = arena,
        .problems = {.arena = arena},
    };
    struct error error;
    bool complete = arena_guard(arena, read_stream, &reader, &error);
    /* From here on the code holds nothing of libyaml, so the caller's guards may end it. */
    reader_close(&reader);
    for (size_t i = 0; i < reader.roots.count; i++)
        sink(context, reader.roots.items[i]);
    for (size_t i = 0; i < reader.problems.count; i++)
        problems_add_error(problems, &reader.problems.items[i]);
    if (!complete) {
        error.place.file = source->file;
        problems_add_error(problems, &error);
    }
}
