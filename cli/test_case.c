/* Reads the cases of `taffrail test`. */
#include "cli/test_case.h"

#include "policy/schema.h"

const char *const expected_actions[] = {"deny", "warn", "audit", "excepted", NULL};
/* In the order of enum change_outcome. */
static const char *const outcomes[] = {"excepted", "failed", "audited", "warned", "applied", NULL};

static const struct key finding_keys[] = {
    {.name = "rail",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, rail),
     .summary = "its rail",
     .required = true},
    {.name = "action",
     .type = KEY_ENUM,
     .offset = offsetof(struct expected_finding, action),
     .summary = "what it does",
     .choices = expected_actions,
     .given_offset = offsetof(struct expected_finding, action_given)},
    {.name = "field",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, field),
     .summary = "the path, as findings print it"},
    {.name = "found",
     .type = KEY_NODE,
     .offset = offsetof(struct expected_finding, found),
     .summary = "the value found; \"\": something is missing"},
    {.name = "allowed",
     .type = KEY_STRINGS,
     .offset = offsetof(struct expected_finding, allowed),
     .summary = "the values it names instead, nearest first"},
    {.name = "message",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, message),
     .summary = "a part of the message"},
    {.name = "fix",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, fix),
     .summary = "a part of what it says to do"},
    {.name = "undecided",
     .type = KEY_BOOL,
     .offset = offsetof(struct expected_finding, undecided),
     .summary = "whether the rail could not see what it needs",
     .given_offset = offsetof(struct expected_finding, undecided_given)},
    {.name = "preExisting",
     .type = KEY_BOOL,
     .offset = offsetof(struct expected_finding, pre_existing),
     .summary = "whether the old object had it, too",
     .given_offset = offsetof(struct expected_finding, pre_existing_given)},
    {.name = "policy",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, policy),
     .summary = "the name of its policy"},
    {.name = "exception",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, exception),
     .summary = "the id of the exception that lifts it, or has expired"},
    {.name = "override",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, override),
     .summary = "the id of the override that moved the rail's mode"},
    {.name = "kind",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, kind),
     .summary = "the kind of its object"},
    {.name = "name",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_finding, name),
     .summary = "the name of its object"},
    {.name = "line",
     .type = KEY_INTEGER,
     .offset = offsetof(struct expected_finding, line),
     .summary = "where in the manifest",
     .minimum = 1},
    {.name = "column",
     .type = KEY_INTEGER,
     .offset = offsetof(struct expected_finding, column),
     .summary = "where in the line",
     .minimum = 1},
    {0},
};

static const struct key change_keys[] = {
    {.name = "rail",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_change, rail),
     .summary = "the rail that wants it",
     .required = true},
    {.name = "outcome",
     .type = KEY_ENUM,
     .offset = offsetof(struct expected_change, outcome),
     .summary = "what becomes of it",
     .choices = outcomes,
     .given_offset = offsetof(struct expected_change, outcome_given)},
    {.name = "added",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_change, added),
     .summary = "a part of what it says it adds"},
    {.name = "policy",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_change, policy),
     .summary = "the name of its policy"},
    {.name = "exception",
     .type = KEY_STRING,
     .offset = offsetof(struct expected_change, exception),
     .summary = "the id of the exception that stops it, or has expired"},
    {0},
};

static const struct key case_keys[] = {
    {.name = "name",
     .type = KEY_STRING,
     .offset = offsetof(struct test_case, name),
     .summary = "what is tested, in a few words",
     .required = true},
    {.name = "policy",
     .type = KEY_STRING,
     .offset = offsetof(struct test_case, policy),
     .summary = "a policy file or folder, from the folder of the cases",
     .default_value = "policy.yaml"},
    {.name = "policies",
     .type = KEY_STRINGS,
     .offset = offsetof(struct test_case, policies),
     .summary = "several of them instead of policy, as -p repeats",
     .minimum = 1},
    {.name = "manifest",
     .type = KEY_STRING,
     .offset = offsetof(struct test_case, manifest),
     .summary = "a file or folder of the objects to judge",
     .required = true},
    {.name = "old",
     .type = KEY_STRING,
     .offset = offsetof(struct test_case, old),
     .summary = "a file of what they were before: they are judged as updates"},
    {.name = "deleted",
     .type = KEY_BOOL,
     .offset = offsetof(struct test_case, deleted),
     .summary = "they are judged as deletions"},
    {.name = "state",
     .type = KEY_NODE,
     .offset = offsetof(struct test_case, state),
     .summary = "a cluster as files; null: none; absent: the folder state, if it is there"},
    {.name = "catalog",
     .type = KEY_STRING,
     .offset = offsetof(struct test_case, catalog),
     .summary = "instance types instead of the built-in ones"},
    {.name = "user",
     .type = KEY_STRING,
     .offset = offsetof(struct test_case, user),
     .summary = "who asks; absent: a person in no group"},
    {.name = "groups",
     .type = KEY_STRINGS,
     .offset = offsetof(struct test_case, groups),
     .summary = "their groups"},
    {.name = "now",
     .type = KEY_TIME,
     .offset = offsetof(struct test_case, now_unix_s),
     .summary = "the time at which is judged; absent: now"},
    {.name = "loadWarns",
     .type = KEY_STRING,
     .offset = offsetof(struct test_case, load_warns),
     .summary = "a part of what loading the policy warns of"},
    {.name = "allowed",
     .type = KEY_BOOL,
     .offset = offsetof(struct test_case, allowed),
     .summary = "whether nothing is denied",
     .given_offset = offsetof(struct test_case, allowed_given)},
    {.name = "findings",
     .type = KEY_MAPS,
     .offset = offsetof(struct test_case, findings),
     .summary = "all there are, in any order; [] is none",
     .children = finding_keys,
     .required = true,
     .item_size = sizeof(struct expected_finding)},
    {.name = "changes",
     .type = KEY_MAPS,
     .offset = offsetof(struct test_case, changes),
     .summary = "what is changed, or would be, when the Pods are created; absent: not tested",
     .children = change_keys,
     .given_offset = offsetof(struct test_case, changes_given),
     .item_size = sizeof(struct expected_change)},
    {.name = "changeWarnings",
     .type = KEY_STRINGS,
     .offset = offsetof(struct test_case, change_warnings),
     .summary = "all that the person is told of changes, word for word"},
    {.name = "after",
     .type = KEY_NODE,
     .offset = offsetof(struct test_case, after),
     .summary = "paths of the first object, and what is there when it is changed; null: nothing"},
    {0},
};

struct text test_case_keys(struct arena *arena)
{
    struct text_builder page = {.arena = arena};
    static const struct {
        const char *title;
        const struct key *keys;
    } tables[] = {
        {"Keys of a case:", case_keys},
        {"\nKeys of a finding that is expected (what is not written is not compared):",
         finding_keys},
        {"\nKeys of a change:", change_keys},
    };
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        text_builder_printf(&page, "%s\n", tables[i].title);
        for (const struct key *key = tables[i].keys; key->name != NULL; key++)
            text_builder_printf(&page, "  %-15s %s%s\n", key->name, key->summary,
                                key->required ? " (required)" : "");
    }
    return text_builder_text(&page);
}

/* ---- a file ---- */

struct case_reader {
    struct schema schema;
    struct test_cases *cases;
};

/* Checks that the tables do not cover. */
static bool check_case(const struct test_case *one, const struct schema *schema,
                       const struct field *field)
{
    struct arena *arena = schema->arena;
    const struct expected_finding *findings = one->findings.items;
    for (size_t i = 0; i < one->findings.count; i++)
        if (findings[i].found != NULL && !node_is(findings[i].found, NODE_STRING))
            return schema_refuse(
                schema,
                field_get(arena, field_item(arena, field_get(arena, field, "findings"), i),
                          "found"),
                TEXT("a string"), TEXT("; quote it"));
    const struct node *state = one->state;
    if (state != NULL && !node_is(state, NODE_NULL) && !node_is(state, NODE_STRING))
        return schema_refuse(schema, field_get(arena, field, "state"),
                             TEXT("a folder, or null for no cluster"), TEXT(""));
    if (one->after != NULL && !node_is(one->after, NODE_MAP))
        return schema_refuse(schema, field_get(arena, field, "after"),
                             TEXT("a map of paths to values"), TEXT(""));
    return true;
}

static void read_case(struct case_reader *reader, const struct field *field)
{
    const struct schema *schema = &reader->schema;
    struct test_case one = {0};
    if (!node_is(field->node, NODE_MAP)) {
        (void)schema_refuse(schema, field, TEXT("a case: a map with name, manifest and findings"),
                            TEXT(""));
        return;
    }
    bool good = schema_read(schema, field, &(struct schema_part){case_keys, &one}, 1);
    if (!good || !check_case(&one, schema, field))
        return;
    one.place = source_place(schema->source, schema->arena, field->node->offset);
    *LIST_PUSH(schema->arena, reader->cases) = one;
}

static void read_document(void *context, const struct node *root)
{
    struct case_reader *reader = context;
    struct arena *arena = reader->schema.arena;
    const struct field *top = field_root(arena, root);
    if (node_is(root, NODE_NULL))
        return;
    if (!node_is(root, NODE_LIST)) {
        (void)schema_refuse(&reader->schema, top, TEXT("a list of cases"), TEXT(""));
        return;
    }
    for (size_t i = 0; i < node_count(root); i++)
        read_case(reader, field_item(arena, top, i));
}

void test_cases_read(const char *file, struct arena *arena, struct test_cases *cases,
                     struct problems *problems)
{
    struct source *source = ARENA_NEW(arena, struct source);
    struct case_reader reader = {{source, arena, problems}, cases};
    struct error error;
    source->file = file;
    if (!file_read(file, doc_limits_policy.bytes, arena, &source->text, &error)) {
        problems_add_error(problems, &error);
        return;
    }
    doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, arena, problems, read_document, &reader);
}
