/* The JSON Schema of policy files, made from the tables that parse them, for editors. It lacks the
 * parser's checks beyond shapes: duplicate names, dates, values that select nothing. */
#include <string.h>

#include "policy/document.h"
#include "report/report.h"
#include "report/tree.h"

static struct node names_of(const char *const *names, struct arena *arena)
{
    size_t count = 0;
    const struct text *texts = schema_choices(arena, names, &count);
    struct node *items = ARENA_ARRAY(arena, count, struct node);
    for (size_t i = 0; i < count; i++)
        items[i] = node_of_text(texts[i]);
    return node_of_items(items, count);
}

static struct node table_schema(const struct key *const *tables, size_t table_count,
                                struct arena *arena);
static struct node rails_schema(struct arena *arena);

/* ---- values ---- */

/* The JSON shape of a simple type's value; a string without a pattern is any text. */
static const struct {
    const char *types[3]; /* of JSON; ends with NULL */
    const char *pattern;
    bool above_zero;
} simple_types[] = {
    [KEY_BOOL] = {{"boolean"}, NULL, false},
    [KEY_INTEGER] = {{"integer"}, NULL, false},
    [KEY_QUANTITY] = {{"string", "number"},
                      "^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([numkKMGTPE]i?|[eE][+-]?[0-9]+)?$",
                      true},
    [KEY_DURATION] = {{"string"}, "^([0-9]+[hms])+$", false},
    [KEY_SHARE] = {{"string", "integer"}, "^[0-9]+%?$", false},
    [KEY_STRING] = {{"string"}, NULL, false},
    [KEY_STRINGS] = {{"string"}, NULL, false},
    [KEY_GLOBS] = {{"string"}, "^[^\\[\\]{}()!^\\\\, \\t]+$", false},
    [KEY_ACCOUNTS] = {{"string"}, "^[^/\\[\\]{}()!^\\\\, \\t]+/[^/\\[\\]{}()!^\\\\, \\t]+$", false},
    [KEY_PATHS] = {{"string"},
                   "^[A-Za-z0-9_-]+(\\[[*]\\])?([.][A-Za-z0-9_-]+(\\[[*]\\])?)*$",
                   false},
    [KEY_TIME] = {{"string"}, "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ].*)?$", false},
    [KEY_TIME_END] = {{"string"}, "^[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ].*)?$", false},
};

static struct node simple_value(enum key_type type, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put(&map, "type", names_of(simple_types[type].types, arena));
    if (strcmp(simple_types[type].types[0], "string") == 0)
        tree_put(&map, "minLength", node_of_integer(1, arena));
    if (simple_types[type].above_zero)
        tree_put(&map, "exclusiveMinimum", node_of_integer(0, arena));
    if (simple_types[type].pattern != NULL)
        tree_put_string(&map, "pattern", simple_types[type].pattern);
    return tree_map_node(&map);
}

static struct node named_values(struct node value, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "type", "object");
    tree_put(&map, "additionalProperties", value);
    return tree_map_node(&map);
}

static struct node kind_names(struct arena *arena)
{
    static const char *names[KIND_OWNER_FIRST];
    for (size_t kind = KIND_UNKNOWN + 1; kind < KIND_OWNER_FIRST; kind++)
        names[kind - 1] = kind_table[kind].name;
    struct tree_map known = {.arena = arena};
    tree_put(&known, "enum", names_of(names, arena));
    struct tree_map custom = {.arena = arena};
    tree_put_string(&custom, "type", "string");
    tree_put_string(&custom, "pattern", "^[A-Z][A-Za-z0-9]*[.][a-z0-9.-]+$");
    struct node *both = ARENA_ARRAY(arena, 2, struct node);
    both[0] = tree_map_node(&known);
    both[1] = tree_map_node(&custom);
    struct tree_map map = {.arena = arena};
    tree_put(&map, "anyOf", node_of_items(both, 2));
    return tree_map_node(&map);
}

static struct node list_schema(const struct key *key, struct node item, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "type", "array");
    tree_put(&map, "items", item);
    if (key->minimum != 0)
        tree_put(&map, "minItems", node_of_integer(key->minimum, arena));
    if (key->maximum != 0)
        tree_put(&map, "maxItems", node_of_integer(key->maximum, arena));
    return tree_map_node(&map);
}

static struct node choice_schema(const char *const *choices, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put(&map, "enum", names_of(choices, arena));
    return tree_map_node(&map);
}

static struct node integer_schema(const struct key *key, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "type", "integer");
    if (key->minimum != 0 || key->maximum != 0)
        tree_put(&map, "minimum", node_of_integer(key->minimum, arena));
    if (key->maximum != 0)
        tree_put(&map, "maximum", node_of_integer(key->maximum, arena));
    return tree_map_node(&map);
}

static struct node value_schema(const struct key *key, struct arena *arena)
{
    static const struct key *const selector = selector_keys;
    const struct key *const children = key->children;
    switch (key->type) {
    case KEY_INTEGER:
        return integer_schema(key, arena);
    case KEY_ENUM:
        return choice_schema(key->choices, arena);
    case KEY_STRINGS:
    case KEY_GLOBS:
    case KEY_ACCOUNTS:
    case KEY_PATHS:
        return list_schema(key,
                           key->choices != NULL ? choice_schema(key->choices, arena)
                                                : simple_value(key->type, arena),
                           arena);
    case KEY_KINDS:
        return list_schema(key, kind_names(arena), arena);
    case KEY_QUANTITIES:
        return named_values(simple_value(KEY_QUANTITY, arena), arena);
    case KEY_GLOB_LISTS:
        return named_values(
            list_schema(&(struct key){.name = ""}, simple_value(KEY_GLOBS, arena), arena), arena);
    case KEY_SELECTOR:
        return table_schema(&selector, 1, arena);
    case KEY_MAP:
        return table_schema(&children, 1, arena);
    case KEY_MAPS:
        return list_schema(key, table_schema(&children, 1, arena), arena);
    case KEY_RAILS:
        return rails_schema(arena);
    case KEY_NODE:
        return node_of_members(NULL, 0);
    default:
        return simple_value(key->type, arena);
    }
}

/* ---- keys ---- */

static void take_root(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

static void put_default(struct tree_map *map, const char *written)
{
    struct source *source = ARENA_NEW(map->arena, struct source);
    struct problems problems = {.arena = map->arena};
    const struct node *root = NULL;
    *source = (struct source){.text = text_of(written)};
    doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, map->arena, &problems, take_root,
                  (void *)&root);
    if (root != NULL)
        tree_put(map, "default", *root);
}

static struct node key_schema(const struct key *key, struct arena *arena)
{
    struct node value = value_schema(key, arena);
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "description", key->summary);
    for (size_t i = 0; i < node_count(&value); i++)
        *LIST_PUSH(arena, &map) = value.members[i];
    if (key->type == KEY_STRING && key->maximum != 0)
        tree_put(&map, "maxLength", node_of_integer(key->maximum, arena));
    if (key->default_value != NULL)
        put_default(&map, key->default_value);
    return tree_map_node(&map);
}

/* A map that several tables of keys read together. */
static struct node table_schema(const struct key *const *tables, size_t table_count,
                                struct arena *arena)
{
    struct tree_map properties = {.arena = arena};
    struct tree_map map = {.arena = arena};
    LIST(const char *) required = {0};
    for (size_t i = 0; i < table_count; i++)
        for (const struct key *key = tables[i]; key->name != NULL; key++) {
            tree_put(&properties, key->name, key_schema(key, arena));
            if (key->required)
                *LIST_PUSH(arena, &required) = key->name;
        }
    tree_put_string(&map, "type", "object");
    tree_put(&map, "properties", tree_map_node(&properties));
    tree_put(&map, "additionalProperties", node_of_bool(false));
    *LIST_PUSH(arena, &required) = NULL;
    if (required.count > 1)
        tree_put(&map, "required", names_of(required.items, arena));
    return tree_map_node(&map);
}

/* By name; a name without a value is a rail with its defaults. */
static struct node rails_schema(struct arena *arena)
{
    static const char *const types[] = {"object", "null", NULL};
    struct tree_map rails = {.arena = arena};
    for (size_t i = 0; i < rail_count(); i++) {
        const struct rail *rail = rail_at(i);
        const struct key *const tables[] = {rail->keys, rail_common_keys};
        struct node keys = table_schema(tables, 2, arena);
        struct tree_map map = {.arena = arena};
        tree_put_string(&map, "description", rail->summary);
        tree_put(&map, "type", names_of(types, arena));
        for (size_t j = 1; j < node_count(&keys); j++)
            *LIST_PUSH(arena, &map) = keys.members[j];
        tree_put(&rails, rail->name, tree_map_node(&map));
    }
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "type", "object");
    tree_put(&map, "properties", tree_map_node(&rails));
    tree_put(&map, "additionalProperties", node_of_bool(false));
    return tree_map_node(&map);
}

static struct node document_schema(const struct key *keys, struct arena *arena)
{
    const struct key *const table = keys;
    return table_schema(&table, 1, arena);
}

/* Whether the document says that it is of this kind. */
static struct node if_kind(const char *kind, struct arena *arena)
{
    const char *const required[] = {"kind", NULL};
    struct tree_map is = {.arena = arena}, properties = {.arena = arena}, map = {.arena = arena};
    tree_put_string(&is, "const", kind);
    tree_put(&properties, "kind", tree_map_node(&is));
    tree_put(&map, "properties", tree_map_node(&properties));
    tree_put(&map, "required", names_of(required, arena));
    return tree_map_node(&map);
}

struct node policy_schema(struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "$schema", "http://json-schema.org/draft-07/schema#");
    tree_put_string(&map, "title", "Taffrail GuardRails");
    tree_put_string(&map, "type", "object");
    tree_put(&map, "if", if_kind("GuardRailExceptions", arena));
    tree_put(&map, "then", document_schema(exceptions_document_keys, arena));
    tree_put(&map, "else", document_schema(document_keys, arena));
    return tree_map_node(&map);
}
