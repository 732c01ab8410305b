/* Turns libyaml's events into nodes: its own loader is quadratic in depth, and knows no types. */
#include <math.h>
#include <string.h>

#include "base/yaml_internal.h"

/* ---- places and problems ---- */

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static uint32_t offset_of(struct yaml_reader *reader, const yaml_mark_t *mark)
{
    struct text t = reader->source->text;
    while (reader->cursor_characters < mark->index && reader->cursor_bytes < t.size) {
        do
            reader->cursor_bytes++;
        while (reader->cursor_bytes < t.size && continues_character(t.data[reader->cursor_bytes]));
        reader->cursor_characters++;
    }
    while (reader->cursor_characters > mark->index && reader->cursor_bytes > reader->part_start) {
        do
            reader->cursor_bytes--;
        while (continues_character(t.data[reader->cursor_bytes]));
        reader->cursor_characters--;
    }
    return (uint32_t)reader->cursor_bytes;
}

static uint32_t event_offset(struct yaml_reader *reader)
{
    return offset_of(reader, &reader->event.start_mark);
}

struct place yaml_place(struct yaml_reader *reader, uint32_t offset)
{
    return source_place(reader->source, reader->arena, offset);
}

/* Everything that ends a document adds its problem and returns false. */
#define FAIL(reader, kind, offset, ...) \
    (problems_add(&(reader)->problems, (kind), yaml_place((reader), (offset)), __VA_ARGS__), false)

static bool fail_parse(struct yaml_reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem == NULL ? "it cannot be read" : parser->problem;
    if (parser->error == YAML_MEMORY_ERROR)
        return FAIL(reader, ERROR_MEMORY, (uint32_t)reader->part_start,
                    "the system gives no memory to read the YAML");
    if (parser->error == YAML_READER_ERROR)
        return FAIL(reader, ERROR_INPUT, (uint32_t)(reader->part_start + parser->problem_offset),
                    "not YAML: %s", problem);
    return FAIL(reader, ERROR_INPUT, offset_of(reader, &parser->problem_mark), "not YAML: %s%s%s",
                parser->context == NULL ? "" : parser->context, parser->context == NULL ? "" : ", ",
                problem);
}

static void policy_refuses(struct yaml_reader *reader, const char *what)
{
    if (reader->style == YAML_POLICY)
        problems_add(&reader->problems, ERROR_INPUT, yaml_place(reader, event_offset(reader)),
                     "%s is not allowed in a policy; write the value out", what);
}

/* ---- events ---- */

bool yaml_next_event(struct yaml_reader *reader)
{
    yaml_event_delete(&reader->event);
    if (yaml_parser_parse(&reader->parser, &reader->event) != 0)
        return true;
    return fail_parse(reader);
}

bool yaml_count_nodes(struct yaml_reader *reader, size_t count)
{
    reader->exhausted = count > reader->limits->nodes - reader->node_count;
    if (reader->exhausted)
        return FAIL(reader, ERROR_LIMIT, event_offset(reader),
                    "the YAML has more than the allowed %zu values, aliases counted as often as "
                    "they are used",
                    reader->limits->nodes);
    reader->node_count += count;
    return true;
}

static bool go_down(struct yaml_reader *reader)
{
    if (reader->depth == reader->limits->depth)
        return FAIL(reader, ERROR_LIMIT, event_offset(reader),
                    "the YAML has more than the allowed %zu levels of nesting",
                    reader->limits->depth);
    reader->depth++;
    return true;
}

static struct text text_of_yaml(const yaml_char_t *text)
{
    return text_of((const char *)text);
}

enum { NO_ANCHOR = -1, ANCHORS_MAX = 1000 }; /* an alias looks at all of them */

static bool note_anchor(struct yaml_reader *reader, const yaml_char_t *name, int *index)
{
    *index = NO_ANCHOR;
    if (name == NULL)
        return true;
    policy_refuses(reader, "an anchor (&)");
    if (reader->anchors.count == ANCHORS_MAX)
        return FAIL(reader, ERROR_LIMIT, event_offset(reader),
                    "the document has more than the allowed %d anchors", ANCHORS_MAX);
    *index = (int)reader->anchors.count;
    LIST_PUSH(reader->arena, &reader->anchors)->name =
        arena_text(reader->arena, text_of_yaml(name));
    return true;
}

static void complete_anchor(struct yaml_reader *reader, int index, const struct node *node,
                            size_t count_before)
{
    if (index == NO_ANCHOR)
        return;
    struct node *copy = ARENA_NEW(reader->arena, struct node);
    *copy = *node;
    reader->anchors.items[index].node = copy;
    reader->anchors.items[index].node_count = reader->node_count - count_before;
}

static bool find_anchor(struct yaml_reader *reader, const struct anchor **anchor)
{
    policy_refuses(reader, "an alias (*)");
    struct text name = text_of_yaml(reader->event.data.alias.anchor);
    for (size_t i = reader->anchors.count; i-- > 0;) {
        *anchor = &reader->anchors.items[i];
        if (!text_equal((*anchor)->name, name))
            continue;
        if ((*anchor)->node != NULL)
            return true;
        return FAIL(reader, ERROR_INPUT, event_offset(reader),
                    "the alias *%.*s stands inside of what it stands for", TEXT_ARGS(name));
    }
    return FAIL(reader, ERROR_INPUT, event_offset(reader),
                "the alias *%.*s has no anchor &%.*s before it", TEXT_ARGS(name), TEXT_ARGS(name));
}

/* ---- scalars ---- */

/* The event's value as a slice of the source where it is there unchanged, else a copy. */
static struct text scalar_text(struct yaml_reader *reader, uint32_t offset)
{
    struct text value = {(const char *)reader->event.data.scalar.value,
                         reader->event.data.scalar.length};
    struct text source = reader->source->text;
    size_t start = offset;
    if (reader->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        start++;
    if (start <= source.size && value.size <= source.size - start &&
        memcmp(source.data + start, value.data, value.size) == 0)
        return (struct text){source.data + start, value.size};
    return arena_text(reader->arena, value);
}

static bool read_scalar_event(struct yaml_reader *reader, uint32_t offset, struct scalar *scalar)
{
    const yaml_char_t *tag = reader->event.data.scalar.tag;
    if (tag != NULL)
        policy_refuses(reader, "a tag (!)");
    const char *problem = NULL;
    if (scalar_resolve(reader->arena, scalar_text(reader, offset), text_of_yaml(tag),
                       reader->event.data.scalar.plain_implicit != 0, scalar, &problem))
        return true;
    size_t length = reader->event.data.scalar.length;
    return FAIL(reader, ERROR_INPUT, offset, "\"%.*s\" is %s", (int)(length < 80 ? length : 80),
                (const char *)reader->event.data.scalar.value, problem);
}

static const enum node_kind kind_of_scalar[] = {
    [SCALAR_NULL] = NODE_NULL,       [SCALAR_BOOL] = NODE_BOOL,    [SCALAR_INTEGER] = NODE_NUMBER,
    [SCALAR_UNSIGNED] = NODE_NUMBER, [SCALAR_FLOAT] = NODE_NUMBER, [SCALAR_STRING] = NODE_STRING,
};

/* .inf and .nan */
static bool is_beyond_json(const struct scalar *scalar)
{
    return scalar->type == SCALAR_FLOAT && !isfinite(scalar->number);
}

static bool read_scalar(struct yaml_reader *reader, struct node *node)
{
    struct scalar scalar;
    if (!read_scalar_event(reader, node->offset, &scalar))
        return false;
    if (is_beyond_json(&scalar))
        return FAIL(reader, ERROR_INPUT, node->offset,
                    "%.*s is a number that JSON, and so Kubernetes, does not have",
                    (int)reader->event.data.scalar.length, reader->event.data.scalar.value);
    node->kind = kind_of_scalar[scalar.type] & 7;
    node->bytes = scalar.text.data;
    node->size = (uint32_t)scalar.text.size & DOC_BYTES_MAX;
    return true;
}

/* ---- collections ---- */

static bool read_list(struct yaml_reader *reader, struct node *node)
{
    LIST(struct node) items = {0};
    if (reader->event.data.sequence_start.tag != NULL)
        policy_refuses(reader, "a tag (!)");
    if (!go_down(reader) || !yaml_next_event(reader))
        return false;
    while (reader->event.type != YAML_SEQUENCE_END_EVENT) {
        struct node item;
        if (!yaml_read_node(reader, &item))
            return false;
        *LIST_PUSH(reader->arena, &items) = item;
        if (!yaml_next_event(reader))
            return false;
    }
    reader->depth--;
    node->kind = NODE_LIST;
    node->size = (uint32_t)items.count & DOC_BYTES_MAX;
    node->items = items.items;
    return true;
}

struct merge {
    size_t position; /* the number of members written before it */
    const struct node *map;
};

/* A map being read; merges are applied at its end. */
struct map {
    LIST(struct member) members;
    LIST(struct merge) merges;
};

static bool add_merge(struct yaml_reader *reader, struct map *map, const struct node *source,
                      uint32_t offset)
{
    if (source->kind != NODE_MAP)
        return FAIL(reader, ERROR_INPUT, offset,
                    "the value of a merge key (<<) is %s; a map or a list of maps is wanted",
                    node_kind_name(source->kind));
    *LIST_PUSH(reader->arena, &map->merges) = (struct merge){map->members.count, source};
    return true;
}

/* The event is the merge key. */
static bool read_merge(struct yaml_reader *reader, struct map *map)
{
    policy_refuses(reader, "a merge key (<<)");
    uint32_t offset = event_offset(reader);
    struct node *source = ARENA_NEW(reader->arena, struct node);
    if (!yaml_next_event(reader))
        return false;
    bool alias = reader->event.type == YAML_ALIAS_EVENT;
    if (!yaml_read_node(reader, source))
        return false;
    if (source->kind != NODE_LIST || alias)
        return add_merge(reader, map, source, offset);
    /* The first of a list is added last, so that it wins. */
    for (size_t i = source->size; i-- > 0;)
        if (!add_merge(reader, map, &source->items[i], offset))
            return false;
    return true;
}

static bool is_merge_key(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 2 &&
           memcmp(event->data.scalar.value, "<<", 2) == 0 &&
           (event->data.scalar.plain_implicit != 0 ||
            text_is(text_of_yaml(event->data.scalar.tag), "tag:yaml.org,2002:merge"));
}

static bool fail_key(struct yaml_reader *reader, uint32_t offset, enum node_kind kind)
{
    return FAIL(reader, ERROR_INPUT, offset, "a key of a map is %s; write a string",
                node_kind_name(kind));
}

static bool key_from_alias(struct yaml_reader *reader, uint32_t offset, struct text *key)
{
    const struct anchor *anchor;
    if (!find_anchor(reader, &anchor))
        return false;
    if (anchor->node->kind == NODE_NULL || anchor->node->kind >= NODE_LIST)
        return fail_key(reader, offset, anchor->node->kind);
    *key = node_text(anchor->node);
    return true;
}

static bool read_key(struct yaml_reader *reader, struct member *member)
{
    uint32_t offset = event_offset(reader);
    struct text key;
    struct scalar scalar;
    if (reader->event.type == YAML_ALIAS_EVENT) {
        if (!key_from_alias(reader, offset, &key))
            return false;
    } else if (reader->event.type != YAML_SCALAR_EVENT) {
        return fail_key(reader, offset,
                        reader->event.type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST);
    } else {
        int anchor;
        if (!note_anchor(reader, reader->event.data.scalar.anchor, &anchor) ||
            !read_scalar_event(reader, offset, &scalar))
            return false;
        if (!scalar_key(reader->arena, &scalar, &key))
            return fail_key(reader, offset, kind_of_scalar[scalar.type]);
        struct node node = {.bytes = scalar.text.data,
                            .kind = kind_of_scalar[scalar.type] & 7,
                            .size = (uint32_t)scalar.text.size & DOC_BYTES_MAX,
                            .offset = offset};
        if (is_beyond_json(&scalar)) {
            node.bytes = key.data;
            node.kind = NODE_STRING;
            node.size = (uint32_t)key.size & DOC_BYTES_MAX;
        }
        complete_anchor(reader, anchor, &node, reader->node_count);
    }
    if (key.size != 0 && memchr(key.data, '\0', key.size) != NULL)
        return FAIL(reader, ERROR_INPUT, offset,
                    "a key with a NUL character, which no Kubernetes "
                    "object has");
    member->key = key.data;
    member->key_size = (uint32_t)key.size;
    member->key_offset = offset;
    return true;
}

enum error_kind yaml_kind_of_duplicate(const struct yaml_reader *reader)
{
    return reader->style == YAML_POLICY ? ERROR_INPUT : ERROR_TWICE;
}

static bool report_duplicate(void *context, const struct member *member)
{
    struct yaml_reader *reader = context;
    int size = (int)(member->key_size < 80 ? member->key_size : 80);
    problems_add(&reader->problems, yaml_kind_of_duplicate(reader),
                 yaml_place(reader, member->key_offset),
                 "the key \"%.*s\" stands twice in one map; keep one of them", size, member->key);
    return true;
}

/* The members of the map in the order in which they take effect: a merged member overwrites earlier
 * ones, and later ones overwrite it. */
static bool apply_merges(struct yaml_reader *reader, const struct map *map, struct member **members,
                         size_t *count)
{
    size_t total = map->members.count;
    for (size_t i = 0; i < map->merges.count; i++)
        total += map->merges.items[i].map->size;
    struct member *merged = ARENA_ARRAY(reader->arena, total, struct member);
    size_t written = 0, next = 0;
    for (size_t i = 0; i <= map->members.count; i++) {
        for (; next < map->merges.count && map->merges.items[next].position == i; next++) {
            const struct node *source = map->merges.items[next].map;
            for (size_t j = 0; j < source->size; j++)
                merged[written++] = source->members[j];
        }
        if (i < map->members.count)
            merged[written++] = map->members.items[i];
    }
    *members = merged;
    *count = written;
    return members_drop_duplicates(reader->arena, merged, count, NULL, NULL);
}

static bool close_map(struct yaml_reader *reader, struct map *map, struct node *node)
{
    struct member *members = map->members.items;
    size_t count = map->members.count;
    if (map->merges.count != 0 && !apply_merges(reader, map, &members, &count))
        return false;
    /* After the merges, because it removes what positions count. */
    if (!members_drop_duplicates(reader->arena, map->members.items, &map->members.count,
                                 report_duplicate, reader))
        return false;
    node->kind = NODE_MAP;
    node->size = (uint32_t)(map->merges.count == 0 ? map->members.count : count) & DOC_BYTES_MAX;
    node->members = members;
    return true;
}

static bool read_map(struct yaml_reader *reader, struct node *node)
{
    struct map map = {0};
    if (reader->event.data.mapping_start.tag != NULL)
        policy_refuses(reader, "a tag (!)");
    if (!go_down(reader) || !yaml_next_event(reader))
        return false;
    while (reader->event.type != YAML_MAPPING_END_EVENT) {
        struct member member;
        if (is_merge_key(&reader->event)) {
            if (!read_merge(reader, &map))
                return false;
        } else {
            if (!read_key(reader, &member) || !yaml_next_event(reader) ||
                !yaml_read_node(reader, &member.value))
                return false;
            *LIST_PUSH(reader->arena, &map.members) = member;
        }
        if (!yaml_next_event(reader))
            return false;
    }
    reader->depth--;
    return close_map(reader, &map, node);
}

static bool read_alias(struct yaml_reader *reader, struct node *node)
{
    const struct anchor *anchor;
    uint32_t offset = node->offset;
    if (!find_anchor(reader, &anchor) || !yaml_count_nodes(reader, anchor->node_count))
        return false;
    *node = *anchor->node;
    node->offset = offset;
    return true;
}

bool yaml_read_node(struct yaml_reader *reader, struct node *node)
{
    *node = (struct node){.offset = event_offset(reader)};
    if (reader->event.type == YAML_ALIAS_EVENT)
        return read_alias(reader, node);
    size_t count_before = reader->node_count;
    int anchor;
    bool done = yaml_count_nodes(reader, 1);
    switch (reader->event.type) {
    case YAML_SEQUENCE_START_EVENT:
        done = done && note_anchor(reader, reader->event.data.sequence_start.anchor, &anchor) &&
               read_list(reader, node);
        break;
    case YAML_MAPPING_START_EVENT:
        done = done && note_anchor(reader, reader->event.data.mapping_start.anchor, &anchor) &&
               read_map(reader, node);
        break;
    default:
        done = done && note_anchor(reader, reader->event.data.scalar.anchor, &anchor) &&
               read_scalar(reader, node);
        break;
    }
    if (done)
        complete_anchor(reader, anchor, node, count_before);
    return done;
}
