/* Values of policy files, checked by the tables of keys. */
#include "policy/schema.h"

#include "kube/quantity.h"
#include "kube/time.h"

/* ---- scalars ---- */

typedef bool read_value(const struct schema *schema, const struct field *field,
                        const struct key *key, void *settings);

static void *target_of(const struct key *key, void *settings)
{
    return (char *)settings + key->offset;
}

static bool read_bool(const struct schema *schema, const struct field *field, const struct key *key,
                      void *settings)
{
    bool *target = target_of(key, settings);
    if (!node_is(field->node, NODE_BOOL))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    *target = node_true(field->node);
    return true;
}

static bool read_integer(const struct schema *schema, const struct field *field,
                         const struct key *key, void *settings)
{
    int64_t *target = target_of(key, settings);
    bool bounded = key->minimum != 0 || key->maximum != 0;
    if (!node_integer(field->node, target) || (bounded && *target < key->minimum) ||
        (key->maximum != 0 && *target > key->maximum))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key),
                             node_is(field->node, NODE_STRING) ? TEXT(" without quotes")
                                                               : TEXT(""));
    return true;
}

static bool read_quantity(const struct schema *schema, const struct field *field,
                          const struct key *key, void *settings)
{
    int64_t *target = target_of(key, settings);
    bool scalar = node_is(field->node, NODE_STRING) || node_is(field->node, NODE_NUMBER);
    if (scalar && quantity_is_vast(node_text(field->node)))
        return schema_refuse(schema, field, TEXT("a quantity of 9.2P at most"), TEXT(""));
    if (!scalar || !quantity_milli(node_text(field->node), target) || *target <= 0)
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    return true;
}

static bool read_duration(const struct schema *schema, const struct field *field,
                          const struct key *key, void *settings)
{
    int64_t *target = target_of(key, settings);
    if (!duration_parse(node_string(field->node), target) || *target == 0)
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    return true;
}

/* A text stands in messages, logs and annotations: it is one line, and what would steer a terminal
 * is refused. */
static bool has_control(struct text t)
{
    for (size_t i = 0; i < t.size; i++) {
        unsigned char c = (unsigned char)t.data[i];
        if (c < 0x20 || c == 0x7F ||
            (c == 0xC2 && i + 1 < t.size && (unsigned char)t.data[i + 1] < 0xA0))
            return true;
    }
    return false;
}

static struct text one_line(struct arena *arena, struct text t)
{
    while (t.size > 0 && t.data[t.size - 1] == '\n')
        t.size--;
    char *copy = ARENA_ARRAY(arena, t.size + 1, char);
    for (size_t i = 0; i < t.size; i++)
        copy[i] = t.data[i] == '\n' ? ' ' : t.data[i];
    return (struct text){copy, t.size};
}

static struct text quoted_hint(const struct schema *schema, const struct node *node)
{
    struct text t = node_is(node, NODE_BOOL) ? schema_written(schema, node) : node_text(node);
    if (!node_is(node, NODE_BOOL) && !node_is(node, NODE_NUMBER))
        return TEXT("");
    return arena_printf(schema->arena, "; quote it: \"%.*s\"",
                        TEXT_ARGS(schema_printable(schema->arena, t)));
}

/* A string of at least one byte without control characters. */
static bool check_string(const struct schema *schema, const struct field *field, struct text wanted)
{
    if (!node_is(field->node, NODE_STRING))
        return schema_refuse(schema, field, wanted, quoted_hint(schema, field->node));
    struct text value = node_string(field->node);
    if (value.size == 0)
        return schema_problem(schema, field, field->node->offset, "is empty, expected %.*s",
                              TEXT_ARGS(wanted));
    if (has_control(value))
        return schema_problem(schema, field, field->node->offset,
                              "holds a control character, expected %.*s of plain text",
                              TEXT_ARGS(wanted));
    return true;
}

static bool read_string(const struct schema *schema, const struct field *field,
                        const struct key *key, void *settings)
{
    struct text *target = target_of(key, settings);
    struct node line = *field->node;
    if (node_is(&line, NODE_STRING)) {
        struct text t = one_line(schema->arena, node_string(&line));
        line.bytes = t.data;
        line.size = (uint32_t)t.size & 0xfffffffU;
    }
    struct field of_line = *field;
    of_line.node = &line;
    if (!check_string(schema, &of_line, TEXT("a string")))
        return false;
    *target = node_string(&line);
    if (key->maximum != 0 && (int64_t)target->size > key->maximum)
        return schema_problem(schema, field, field->node->offset,
                              "is %zu bytes long, at most %lld are allowed", target->size,
                              (long long)key->maximum);
    return true;
}

static bool read_enum(const struct schema *schema, const struct field *field, const struct key *key,
                      void *settings)
{
    int *target = target_of(key, settings);
    struct text value = node_is(field->node, NODE_BOOL) ? schema_written(schema, field->node)
                                                        : node_string(field->node);
    size_t count = 0;
    const struct text *choices = schema_choices(schema->arena, key->choices, &count);
    for (size_t i = 0; i < count; i++) {
        if (text_equal(value, choices[i])) {
            *target = (int)i;
            return true;
        }
    }
    return schema_refuse_choice(schema, field, choices, count);
}

static bool read_time(const struct schema *schema, const struct field *field, const struct key *key,
                      void *settings)
{
    enum { DAY_BYTES = 10, DAY_S = 24 * 60 * 60 };
    int64_t *target = target_of(key, settings);
    struct text value = node_string(field->node);
    if (!time_parse(value, target))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    if (key->type == KEY_TIME_END && value.size == DAY_BYTES)
        *target += DAY_S - 1;
    return true;
}

/* ---- lists and maps ---- */

static bool check_list(const struct schema *schema, const struct field *field,
                       const struct key *key)
{
    struct arena *arena = schema->arena;
    const struct node *node = field->node;
    if (!node_is(node, NODE_LIST)) {
        bool alone = node_is(node, NODE_STRING) && key->type != KEY_MAPS;
        struct text hint = alone
                               ? arena_printf(arena, "; write [\"%.*s\"]",
                                              TEXT_ARGS(schema_printable(arena, node_string(node))))
                               : TEXT("");
        return schema_refuse(schema, field, schema_wanted(arena, key), hint);
    }
    int64_t count = (int64_t)node_count(node);
    if (count < key->minimum)
        return schema_problem(schema, field, node->offset,
                              "found %lld items, expected at least %lld; %s", (long long)count,
                              (long long)key->minimum,
                              key->required ? "name them" : "name them, or leave the key out");
    if (key->maximum != 0 && count > key->maximum)
        return schema_problem(schema, field, node->offset,
                              "found %lld items, expected at most %lld", (long long)count,
                              (long long)key->maximum);
    return true;
}

static bool check_item(const struct schema *schema, const struct field *item, const struct key *key)
{
    if (!check_string(schema, item, key->type == KEY_GLOBS ? TEXT("a glob") : TEXT("a string")))
        return false;
    if (key->type == KEY_GLOBS)
        return schema_check_glob(schema, item);
    if (key->type == KEY_ACCOUNTS)
        return schema_check_account(schema, item);
    if (key->type == KEY_PATHS)
        return schema_check_path(schema, item);
    if (key->choices == NULL)
        return true;
    size_t count = 0;
    const struct text *choices = schema_choices(schema->arena, key->choices, &count);
    return texts_have(choices, count, node_string(item->node)) ||
           schema_refuse_choice(schema, item, choices, count);
}

static bool read_strings(const struct schema *schema, const struct field *field,
                         const struct key *key, void *settings)
{
    struct key_strings *target = target_of(key, settings);
    if (!check_list(schema, field, key))
        return false;
    size_t count = node_count(field->node);
    *target = (struct key_strings){
        .items = ARENA_ARRAY(schema->arena, count, struct text),
        .nodes = ARENA_ARRAY(schema->arena, count, const struct node *),
        .count = count,
        .given = true,
    };
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(schema->arena, field, i);
        good = check_item(schema, item, key) && good;
        target->items[i] = node_string(item->node);
        target->nodes[i] = item->node;
    }
    return good;
}

static bool read_kinds(const struct schema *schema, const struct field *field,
                       const struct key *key, void *settings)
{
    struct key_kinds *target = target_of(key, settings);
    if (!check_list(schema, field, key))
        return false;
    size_t count = node_count(field->node);
    *target = (struct key_kinds){
        .custom = {.items = ARENA_ARRAY(schema->arena, count, struct text),
                   .nodes = ARENA_ARRAY(schema->arena, count, const struct node *)}};
    struct text names[KIND_OWNER_FIRST];
    for (size_t i = 0; i < KIND_OWNER_FIRST - 1; i++)
        names[i] = text_of(kind_table[i + 1].name);
    names[KIND_OWNER_FIRST - 1] = TEXT("KIND.GROUP of a custom resource under podTemplates");
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(schema->arena, field, i);
        struct text name = node_string(item->node);
        enum kind kind = kind_by_name(name);
        if (kind != KIND_UNKNOWN) {
            target->known |= KIND_BIT(kind);
        } else if (text_split(name, '.', NULL, NULL)) {
            target->custom.items[target->custom.count] = name;
            target->custom.nodes[target->custom.count++] = item->node;
        } else {
            good = schema_refuse_choice(schema, item, names, KIND_OWNER_FIRST);
        }
    }
    return good;
}

static bool read_selector(const struct schema *schema, const struct field *field,
                          const struct key *key, void *settings)
{
    const struct node **target = target_of(key, settings);
    if (!node_is(field->node, NODE_MAP))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    *target = field->node;
    return schema_check_selector(schema, field);
}

static bool read_node(const struct schema *schema, const struct field *field, const struct key *key,
                      void *settings)
{
    const struct node **target = target_of(key, settings);
    (void)schema;
    *target = field->node;
    return true;
}

static bool read_share(const struct schema *schema, const struct field *field,
                       const struct key *key, void *settings)
{
    struct share *target = target_of(key, settings);
    bool scalar = node_is(field->node, NODE_STRING) || node_is(field->node, NODE_NUMBER);
    if (!scalar || !share_parse(node_text(field->node), target))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    return true;
}

static bool read_quantities(const struct schema *schema, const struct field *field,
                            const struct key *key, void *settings)
{
    struct key_quantities *target = target_of(key, settings);
    if (!node_is(field->node, NODE_MAP))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    size_t count = node_count(field->node);
    target->items = ARENA_ARRAY(schema->arena, count, struct key_quantity);
    target->count = count;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &field->node->members[i];
        struct key_quantity *item = &target->items[i];
        *item = (struct key_quantity){member_key(member), node_text(&member->value), 0};
        const struct field *value = field_member(schema->arena, field, item->name);
        const struct key one = {.name = "", .type = KEY_QUANTITY};
        good = read_quantity(schema, value, &one, &item->milli) && good;
    }
    return good;
}

static bool read_glob_lists(const struct schema *schema, const struct field *field,
                            const struct key *key, void *settings)
{
    struct key_lists *target = target_of(key, settings);
    if (!node_is(field->node, NODE_MAP))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    size_t count = node_count(field->node);
    *target = (struct key_lists){ARENA_ARRAY(schema->arena, count, struct key_list), count};
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &field->node->members[i];
        struct key_list *item = &target->items[i];
        item->name = member_key(member);
        const struct field *list = field_member(schema->arena, field, item->name);
        const struct key one = {.name = "", .type = KEY_GLOBS};
        good = read_strings(schema, list, &one, &item->values) && good;
    }
    return good;
}

static bool read_map(const struct schema *schema, const struct field *field, const struct key *key,
                     void *settings)
{
    if (!node_is(field->node, NODE_MAP))
        return schema_refuse(schema, field, schema_wanted(schema->arena, key), TEXT(""));
    return schema_read(schema, field, &(struct schema_part){key->children, settings}, 1);
}

static bool read_maps(const struct schema *schema, const struct field *field, const struct key *key,
                      void *settings)
{
    struct key_maps *target = target_of(key, settings);
    if (!check_list(schema, field, key))
        return false;
    size_t count = node_count(field->node);
    *target = (struct key_maps){
        .items = arena_array(schema->arena, count, key->item_size),
        .nodes = ARENA_ARRAY(schema->arena, count, const struct node *),
        .count = count,
    };
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        const struct field *item = field_item(schema->arena, field, i);
        struct schema_part part = {key->children, (char *)target->items + i * key->item_size};
        target->nodes[i] = item->node;
        if (!node_is(item->node, NODE_MAP))
            good = schema_refuse(schema, item, TEXT("a map"), TEXT(""));
        else
            good = schema_read(schema, item, &part, 1) && good;
    }
    return good;
}

/* ---- keys ---- */

static read_value *const readers[] = {
    [KEY_BOOL] = read_bool,
    [KEY_INTEGER] = read_integer,
    [KEY_QUANTITY] = read_quantity,
    [KEY_STRING] = read_string,
    [KEY_ENUM] = read_enum,
    [KEY_STRINGS] = read_strings,
    [KEY_GLOBS] = read_strings,
    [KEY_ACCOUNTS] = read_strings,
    [KEY_PATHS] = read_strings,
    [KEY_TIME] = read_time,
    [KEY_TIME_END] = read_time,
    [KEY_KINDS] = read_kinds,
    [KEY_SELECTOR] = read_selector,
    [KEY_MAP] = read_map,
    [KEY_MAPS] = read_maps,
    [KEY_NODE] = read_node,
    [KEY_RAILS] = read_node,
    [KEY_SHARE] = read_share,
    [KEY_DURATION] = read_duration,
    [KEY_QUANTITIES] = read_quantities,
    [KEY_GLOB_LISTS] = read_glob_lists,
};

static void take_root(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

/* Reads the table's own text for a key that nobody wrote. */
static bool read_default(const struct schema *schema, const struct key *key, void *settings)
{
    struct arena *arena = schema->arena;
    struct source *source = ARENA_NEW(arena, struct source);
    *source = (struct source){
        .file = arena_printf(arena, "<default of %s>", key->name).data,
        .text = text_of(key->default_value),
    };
    const struct node *root = NULL;
    doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, arena, schema->problems, take_root,
                  (void *)&root);
    struct schema of_default = {source, arena, schema->problems};
    if (root == NULL || !readers[key->type](&of_default, field_root(arena, root), key, settings))
        return false;
    if (key->type == KEY_STRINGS || key->type == KEY_GLOBS) {
        struct key_strings *strings = target_of(key, settings);
        strings->nodes = NULL;
        strings->given = false;
    }
    return true;
}

static bool read_absent(const struct schema *schema, const struct field *map,
                        const struct field *field, const struct key *key, void *settings)
{
    if (key->required && map->node != NULL)
        return schema_problem(schema, map, map->node->offset, "`%s` is missing, expected %.*s",
                              key->name, TEXT_ARGS(schema_wanted(schema->arena, key)));
    if (key->type == KEY_MAP)
        return schema_read(schema, field, &(struct schema_part){key->children, settings}, 1);
    return key->default_value == NULL || read_default(schema, key, settings);
}

static bool read_key(const struct schema *schema, const struct field *map, const struct key *key,
                     void *settings)
{
    const struct field *field = field_get(schema->arena, map, key->name);
    if (field->node == NULL)
        return read_absent(schema, map, field, key, settings);
    if (key->given_offset != 0)
        *(bool *)((char *)settings + key->given_offset) = true;
    return readers[key->type](schema, field, key, settings);
}

static size_t key_names(const struct schema *schema, const struct schema_part *parts,
                        size_t part_count, struct text **names)
{
    size_t count = 0;
    for (size_t i = 0; i < part_count; i++)
        for (const struct key *key = parts[i].keys; key->name != NULL; key++)
            count++;
    *names = ARENA_ARRAY(schema->arena, count, struct text);
    count = 0;
    for (size_t i = 0; i < part_count; i++)
        for (const struct key *key = parts[i].keys; key->name != NULL; key++)
            (*names)[count++] = text_of(key->name);
    return count;
}

static bool refuse_unknown_keys(const struct schema *schema, const struct field *map,
                                const struct schema_part *parts, size_t part_count)
{
    struct text *names = NULL;
    size_t count = key_names(schema, parts, part_count, &names);
    bool good = true;
    for (size_t i = 0; i < node_count(map->node); i++) {
        const struct member *member = &map->node->members[i];
        if (schema->problems->count >= SCHEMA_PROBLEMS_MAX)
            return false;
        if (!texts_have(names, count, member_key(member)))
            good = schema_unknown(schema, map, member, "key", names, count);
    }
    return good;
}

bool schema_read(const struct schema *schema, const struct field *field,
                 const struct schema_part *parts, size_t part_count)
{
    bool good = refuse_unknown_keys(schema, field, parts, part_count);
    for (size_t i = 0; i < part_count; i++)
        for (const struct key *key = parts[i].keys; key->name != NULL; key++)
            good = read_key(schema, field, key, parts[i].settings) && good;
    return good;
}
