/* The parser of maps by tables of keys, with a table of its own that has every type. */
#include <stdio.h>
#include <string.h>

#include "kube/quantity.h"
#include "policy/schema.h"
#include "unit.h"

struct item {
    struct text name;
    int64_t count;
};

struct settings {
    int color;
    bool on, on_given;
    int64_t number, quantity, duration;
    struct share share;
    struct key_quantities quantities;
    struct text line;
    struct key_strings words, choices, globs, preset;
    int64_t since, until;
    struct key_kinds kinds;
    const struct node *selector, *node;
    int64_t inner;
    bool map_given;
    struct key_maps items;
    struct key_lists lists;
    int64_t least;
    struct text needed;
};

static const char *const colors[] = {"red", "green", "off", NULL};

static const struct key item_keys[] = {
    {.name = "name",
     .type = KEY_STRING,
     .offset = offsetof(struct item, name),
     .summary = "what it is called",
     .required = true},
    {.name = "count",
     .type = KEY_INTEGER,
     .offset = offsetof(struct item, count),
     .default_value = "7"},
    {0},
};

static const struct key map_keys[] = {
    {.name = "inner",
     .type = KEY_INTEGER,
     .offset = offsetof(struct settings, inner),
     .default_value = "42"},
    {0},
};

static const struct key pair_keys[] = {
    {.name = "needed",
     .type = KEY_STRING,
     .offset = offsetof(struct settings, needed),
     .required = true},
    {0},
};

static const struct key keys[] = {
    {.name = "color",
     .type = KEY_ENUM,
     .offset = offsetof(struct settings, color),
     .choices = colors,
     .default_value = "green"},
    {.name = "on",
     .type = KEY_BOOL,
     .offset = offsetof(struct settings, on),
     .given_offset = offsetof(struct settings, on_given)},
    {.name = "number",
     .type = KEY_INTEGER,
     .offset = offsetof(struct settings, number),
     .minimum = 1,
     .maximum = 9},
    {.name = "quantity", .type = KEY_QUANTITY, .offset = offsetof(struct settings, quantity)},
    {.name = "duration", .type = KEY_DURATION, .offset = offsetof(struct settings, duration)},
    {.name = "share", .type = KEY_SHARE, .offset = offsetof(struct settings, share)},
    {.name = "amounts", .type = KEY_QUANTITIES, .offset = offsetof(struct settings, quantities)},
    {.name = "line", .type = KEY_STRING, .offset = offsetof(struct settings, line), .maximum = 12},
    {.name = "words", .type = KEY_STRINGS, .offset = offsetof(struct settings, words)},
    {.name = "choices",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, choices),
     .choices = colors,
     .minimum = 1,
     .maximum = 2},
    {.name = "globs", .type = KEY_GLOBS, .offset = offsetof(struct settings, globs)},
    {.name = "preset",
     .type = KEY_STRINGS,
     .offset = offsetof(struct settings, preset),
     .default_value = "[a, b]"},
    {.name = "since", .type = KEY_TIME, .offset = offsetof(struct settings, since)},
    {.name = "until", .type = KEY_TIME_END, .offset = offsetof(struct settings, until)},
    {.name = "kinds", .type = KEY_KINDS, .offset = offsetof(struct settings, kinds), .minimum = 1},
    {.name = "selector", .type = KEY_SELECTOR, .offset = offsetof(struct settings, selector)},
    {.name = "map",
     .type = KEY_MAP,
     .children = map_keys,
     .given_offset = offsetof(struct settings, map_given)},
    {.name = "items",
     .type = KEY_MAPS,
     .offset = offsetof(struct settings, items),
     .children = item_keys,
     .item_size = sizeof(struct item)},
    {.name = "node", .type = KEY_NODE, .offset = offsetof(struct settings, node)},
    {.name = "lists", .type = KEY_GLOB_LISTS, .offset = offsetof(struct settings, lists)},
    {.name = "least",
     .type = KEY_INTEGER,
     .offset = offsetof(struct settings, least),
     .minimum = 3},
    {.name = "pair", .type = KEY_MAP, .children = pair_keys},
    {0},
};

static void take_root(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

/* Whether the text was accepted. */
static bool read_text(const char *text, struct arena *arena, struct settings *settings,
                      struct problems *problems)
{
    *problems = (struct problems){.arena = arena};
    *settings = (struct settings){0};
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = text_of(text);
    const struct node *root = NULL;
    doc_read_yaml(source, YAML_POLICY, &doc_limits_policy, arena, problems, take_root,
                  (void *)&root);
    CU_ASSERT_PTR_NOT_NULL_FATAL(root);
    struct schema schema = {source, arena, problems};
    return schema_read(&schema, field_root(arena, root), &(struct schema_part){keys, settings}, 1);
}

/* ---- what is refused ---- */

#define SIXTY "123456789.123456789.123456789.123456789.123456789.123456789."

/* A text of one line, and its problems: "COLUMN part of the message", one a line. */
static const struct {
    const char *text, *problems;
} refused[] = {
    /* keys */
    {"{colour: red}", "2 unknown key `colour`, did you mean `color`? allowed: color, on, number"},
    {"{zzzzzzzz: red}", "2 unknown key `zzzzzzzz`; allowed: color"},
    {"{quan: 1}", "2 unknown key `quan`, did you mean `quantity`?"},
    {"{map: {iner: 1, outer: 2}}",
     "8 map: unknown key `iner`, did you mean `inner`? allowed: inner\n"
     "17 map: unknown key `outer`"},
    {"{\"a\\eb\": 1}", "2 unknown key `a?b`"},
    /* enum */
    {"{color: blue}", "9 color: found \"blue\"; allowed: red, green, off"},
    {"{color: gren}", "9 color: found \"gren\", did you mean `green`? allowed: red, green, off"},
    {"{color: Off}", "9 color: found the boolean Off; allowed:"},
    {"{color: false}", "9 color: found the boolean false; allowed:"},
    {"{color: 1}", "9 color: found the number 1; allowed:"},
    {"{color: [red]}", "9 color: found a list; allowed:"},
    {"{color: }", "color: found nothing; allowed:"},
    {"color: Off", "8 color: found the boolean Off; allowed:"},
    /* bool */
    {"{\"on\": 1}", "8 on: found the number 1, expected true or false"},
    {"{\"on\": \"true\"}", "8 on: found \"true\", expected true or false"},
    /* integer */
    {"{number: 0}", "10 number: found the number 0, expected a whole number from 1 to 9"},
    {"{number: 10}", "10 number: found the number 10, expected a whole number from 1 to 9"},
    {"{number: -3}", "10 number: found the number -3"},
    {"{number: 1.5}", "10 number: found the number 1.5"},
    {"{number: \"5\"}",
     "10 number: found \"5\", expected a whole number from 1 to 9 without quotes"},
    {"{number: 99999999999999999999}", "10 number: found the number 1"},
    {"{number: {}}", "10 number: found an empty map, expected a whole number"},
    {"{least: 2}", "9 least: found the number 2, expected a whole number, 3 or more"},
    /* quantity */
    {"{quantity: 99999999999999999999}",
     "12 quantity: found the number 100000000000000000000, expected a quantity of 9.2P at most"},
    {"{quantity: 10E}", "12 quantity: found \"10E\", expected a quantity of 9.2P at most"},
    {"{quantity: 0}", "12 quantity: found the number 0, expected a quantity above 0, such as 64"},
    {"{quantity: -1}", "12 quantity: found the number -1"},
    {"{quantity: -5Gi}", "12 quantity: found \"-5Gi\""},
    {"{quantity: 5GB}", "12 quantity: found \"5GB\""},
    {"{quantity: \"\"}", "12 quantity: found \"\""},
    {"{quantity: many}", "12 quantity: found \"many\""},
    {"{quantity: true}", "12 quantity: found the boolean true"},
    {"{quantity: [1]}", "12 quantity: found a list"},
    /* duration */
    {"{duration: 30d}", "12 duration: found \"30d\", expected a duration above 0 in h, m and s"},
    {"{duration: 720}", "12 duration: found the number 720"},
    {"{duration: 0s}", "12 duration: found \"0s\""},
    {"{duration: [1h]}", "12 duration: found a list"},
    /* share */
    {"{share: ten}", "9 share: found \"ten\", expected a whole number or a percentage"},
    {"{share: 101%}", "9 share: found \"101%\""},
    {"{share: -1}", "9 share: found the number -1"},
    {"{share: true}", "9 share: found the boolean true"},
    /* a map of quantities */
    {"{amounts: 5}", "11 amounts: found the number 5, expected a map of names to quantities"},
    {"{amounts: {cpu: many, memory: 0}}",
     "17 amounts.cpu: found \"many\", expected a quantity above 0, such as 64 or 256Gi\n"
     "31 amounts.memory: found the number 0, expected a quantity above 0, such as 64 or 256Gi"},
    {"{amounts: {cpu: many, memory: 1Gi}}", "17 amounts.cpu: found \"many\", expected a quantity"},
    /* a map of lists */
    {"{lists: [a]}", "9 lists: found a list, expected a map"},
    {"{lists: {a: [\"[\", b], c: [\"d*\"]}}", "14 lists.a[0]: found \"[\", which holds '['"},
    {"{lists: {a: b}}", "13 lists.a: found \"b\", expected a list of globs"},
    /* string */
    {"{line: 12}", "8 line: found the number 12, expected a string; quote it: \"12\""},
    {"{line: yes}", "8 line: found the boolean yes, expected a string; quote it: \"yes\""},
    {"{line: \"\"}", "8 line: is empty, expected a string"},
    {"{line: }", "line: found nothing, expected a string; give it a value, or leave the key out"},
    {"{line: {a: b}}", "8 line: found a map, expected a string"},
    {"{line: \"a\\eb\"}", "8 line: holds a control character"},
    {"{line: \"a\\tb\"}", "8 line: holds a control character"},
    {"{line: \"a\\u009bb\"}", "8 line: holds a control character"},
    {"{line: \"a\\x7fb\"}", "8 line: holds a control character"},
    {"{\"a\\x7fb\": 1}", "2 unknown key `a?b`"},
    {"{\"a\\u0085\\u00a0b\": 1}", "2 unknown key `a??\xC2\xA0"
                                  "b`"},
    /* Cut between characters: the 60th byte is within one. */
    {"{globs: [\"[23456789.123456789.123456789.123456789.123456789.123456789\xC3\xA9\xC3\xA9\"]}",
     "10 globs[0]: found \"[23456789.123456789.123456789.123456789.123456789.123456789...\""},
    {"{line: 1234567890abc}", "8 line: is 13 bytes long, at most 12 are allowed"},
    /* lists */
    {"{words: large}", "9 words: found \"large\", expected a list of strings; write [\"large\"]"},
    {"{words: {large: }}", "9 words: found a map, expected a list of strings"},
    {"{words: [2xlarge, 1, 2.5, on, ~, [a], {b: c}]}",
     "19 words[1]: found the number 1, expected a string; quote it: \"1\"\n"
     "22 words[2]: found the number 2.5, expected a string; quote it: \"2.5\"\n"
     "27 words[3]: found the boolean on, expected a string; quote it: \"on\"\n"
     "31 words[4]: found nothing, expected a string\n"
     "34 words[5]: found a list, expected a string\n"
     "39 words[6]: found a map, expected a string"},
    {"{words: [1, a]}", "10 words[0]: found the number 1, expected a string"},
    {"{words: [\"\"]}", "10 words[0]: is empty, expected a string"},
    {"{choices: []}",
     "11 choices: found 0 items, expected at least 1; name them, or leave the key"},
    {"{choices: [red, off, green]}", "11 choices: found 3 items, expected at most 2"},
    {"{choices: [reed]}", "12 choices[0]: found \"reed\", did you mean `red`? allowed: red, green"},
    {"{choices: red}",
     "11 choices: found \"red\", expected a list of any of red, green, off; write"},
    /* globs */
    {"{globs: [\"team-[ab]\"]}",
     "10 globs[0]: found \"team-[ab]\", which holds '['; a glob is one"},
    {"{globs: [\"a,b\", \"!a\", \"a b\", \"{a}\", \"a\\\\b\"]}",
     "10 which holds ','\n17 which holds '!'\n23 which holds ' '\n30 which holds '{'\n"
     "37 which holds '\\'"},
    {"{globs: [\"\", 5]}", "10 globs[0]: is empty, expected a glob\n14 expected a glob; quote it"},
    {"{globs: team-*}", "9 globs: found \"team-*\", expected a list of globs; write [\"team-*\"]"},
    /* times */
    {"{since: 2027-02-30}", "9 since: found \"2027-02-30\", expected a day such as 2027-03-31, or"},
    {"{since: 2027-13-01}", "9 since: found \"2027-13-01\""},
    {"{since: 2027-1-1}", "9 since: found \"2027-1-1\""},
    {"{since: 2027}", "9 since: found the number 2027"},
    {"{since: tomorrow}", "9 since: found \"tomorrow\""},
    {"{since: 2027-01-01T00:00:00}", "9 since: found \"2027-01-01T00:00:00\""},
    {"{until: 2027-02-29}", "9 until: found \"2027-02-29\""},
    {"{until: 2027-03-31T24:00:00Z}", "9 until: found \"2027-03-31T24:00:00Z\""},
    /* kinds */
    {"{kinds: [Deploymnet]}",
     "10 kinds[0]: found \"Deploymnet\", did you mean `Deployment`? allowed: Pod, Deployment"},
    {"{kinds: [Service, 3]}",
     "10 kinds[0]: found \"Service\"; allowed:\n19 kinds[1]: found the num"},
    {"{kinds: []}", "9 kinds: found 0 items, expected at least 1"},
    {"{kinds: Pod}", "9 kinds: found \"Pod\", expected a list of kinds; write [\"Pod\"]"},
    /* selectors */
    {"{selector: [a]}",
     "12 selector: found a list, expected a label selector: a map of matchLabels"},
    {"{selector: {tier: prod}}", "13 selector: unknown key `tier`; allowed: matchLabels, matchExp"},
    {"{selector: {matchLabel: {a: b}}}",
     "13 unknown key `matchLabel`, did you mean `matchLabels`?"},
    {"{selector: {matchLabels: [a]}}",
     "26 selector.matchLabels: found a list, expected a map of la"},
    {"{selector: {matchLabels: {a: 1, b: yes, c: [d], \"e f\": g, h: \"i j\"}}}",
     "30 selector.matchLabels.a: found the number 1, expected a label value\n"
     "36 found the boolean yes\n44 found a list\n"
     "49 selector.matchLabels: found \"e f\", expected a label key\n62 found \"i j\""},
    {"{selector: {matchLabels: {Example.com/a: b, a/b/c: d, /a: b, a/: b, -a: b}}}",
     "27 found \"Example.com/a\"\n45 found \"a/b/c\"\n55 found \"/a\"\n62 found \"a/\"\n69 found "
     "\"-a\""},
    {"{selector: {matchLabels: {.a/b: c, a..b/c: d, a-/b: c, a.-b/c: d}}}",
     "27 found \".a/b\"\n36 found \"a..b/c\"\n47 found \"a-/b\"\n56 found \"a.-b/c\""},
    {"{selector: {matchLabels: {~a/b: c, 1.a/b: c, " SIXTY SIXTY SIXTY SIXTY
     "12345678901234/b: c}}}",
     "27 found \"~a/b\"\n46 found \"" SIXTY "...\""},
    {"{selector: {matchExpressions: [{key: a, operator: In, values: b}]}}",
     "63 selector.matchExpressions[0].values: found \"b\", expected a list of label values"},
    {"{selector: {matchExpressions: [{key: a, operator: In, values: [b, [], \"c d\", e]}]}}",
     "67 values[1]: found an empty list\n71 values[2]: found \"c d\""},
    {"{selector: {matchLabels: {a: " SIXTY "abc, b: " SIXTY "abcd}}}",
     "98 selector.matchLabels.b: found \"" SIXTY "...\", expected a label value"},
    {"{selector: {matchExpressions: [{key: a, operator: in, values: [b]}]}}",
     "51 selector.matchExpressions[0].operator: found \"in\", did you mean `In`? allowed: In, "
     "NotIn"},
    {"{selector: {matchExpressions: [{key: a, operator: In}]}}",
     "32 selector.matchExpressions[0]: `values` is missing: the operator In needs some"},
    {"{selector: {matchExpressions: [{key: a, operator: NotIn, values: []}]}}",
     "66 selector.matchExpressions[0].values: found an empty list, expected a list of label "
     "values"},
    {"{selector: {matchExpressions: [{key: a, operator: Exists, values: [b]}]}}",
     "67 selector.matchExpressions[0].values: found a list, expected no values with the operator"},
    {"{selector: {matchExpressions: [{key: a, operator: Exists, values: {}}]}}",
     "67 selector.matchExpressions[0].values: found an empty map, expected no values"},
    {"{selector: {matchExpressions: [{key: a b, operator: Exists}, {key: c, operator: Exists}]}}",
     "38 selector.matchExpressions[0].key: found \"a b\", expected a label key"},
    {"{selector: {matchExpressions: [{key: a b, operator: Exists}]}}",
     "38 selector.matchExpressions[0].key: found \"a b\", expected a label key"},
    {"{selector: {matchExpressions: [{operator: Exists}, 5]}}",
     "32 `key` is missing, expected a string\n52 found the number 5, expected a map"},
    /* maps */
    {"{map: 5}", "7 map: found the number 5, expected a map"},
    {"{map: }", "map: found nothing, expected a map; give it a value, or leave the key out"},
    {"{items: [{count: 1}, {name: a}]}", "10 items[0]: `name` is missing, expected a string"},
    {"{pair: {}}", "8 pair: `needed` is missing, expected a string"},
    {"{items: {name: a}}", "9 items: found a map, expected a list of maps"},
    {"{items: a}", "9 items: found \"a\", expected a list of maps"},
    {"{items: [{count: 1}, {name: a, count: x}, b]}",
     "10 items[0]: `name` is missing, expected a string\n"
     "39 items[1].count: found \"x\", expected a whole number\n43 items[2]: found \"b\", expected "
     "a map"},
    /* everything at once, in the order of the table of keys */
    {"{until: never, color: pink, extra: 1}",
     "29 unknown key `extra`\n23 color: found \"pink\"\n9 until: found \"never\""},
};

static void assert_problem(const struct error *problem, struct text expected, const char *text)
{
    struct text before;
    struct text part = expected;
    int64_t column = 0; /* without one the place is the YAML reader's business */
    if (text_split(expected, ' ', &before, &part) && !text_to_int64(before, &column))
        part = expected;
    bool found = memmem(problem->what, strlen(problem->what), part.data, part.size) != NULL &&
                 (column == 0 || problem->place.column == column);
    if (!found)
        fprintf(stderr, "%s\n  expected %.*s\n  actual   %u %s\n", text, TEXT_ARGS(expected),
                problem->place.column, problem->what);
    CU_ASSERT_TRUE(found);
    CU_ASSERT_EQUAL(problem->place.line, 1);
    CU_ASSERT_EQUAL(problem->kind, ERROR_POLICY);
}

static void bad_values_are_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct arena *arena = arena_create(4 << 20);
        struct settings settings;
        struct problems problems;
        CU_ASSERT_FALSE(read_text(refused[i].text, arena, &settings, &problems));
        struct text rest = text_of(refused[i].problems);
        size_t count = 0;
        for (; rest.size > 0; count++) {
            struct text expected = rest;
            if (!text_split(rest, '\n', &expected, &rest))
                rest = TEXT("");
            if (count < problems.count)
                assert_problem(&problems.items[count], expected, refused[i].text);
        }
        if (problems.count != count)
            fprintf(stderr, "%s\n", refused[i].text);
        ASSERT_INT(problems.count, count);
        arena_destroy(arena);
    }
}

/* ---- what is accepted ---- */

static struct settings read_good(const char *text, struct arena *arena)
{
    struct settings settings;
    struct problems problems;
    bool good = read_text(text, arena, &settings, &problems);
    for (size_t i = 0; i < problems.count; i++)
        fprintf(stderr, "%s\n  %s\n", text, problems.items[i].what);
    CU_ASSERT_TRUE(good);
    ASSERT_INT(problems.count, 0);
    return settings;
}

static void values_arrive_at_their_offsets(void)
{
    struct arena *arena = arena_create(4 << 20);
    struct settings s = read_good("color: red\n"
                                  "\"on\": yes\n"
                                  "number: 9\n"
                                  "quantity: 256Gi\n"
                                  "duration: 1h30m\n"
                                  "share: 20%\n"
                                  "amounts: {cpu: 100, nvidia.com/gpu: \"8\"}\n"
                                  "line: |\n"
                                  "  one\n"
                                  "  two\n"
                                  "words: [\"1\", two, \"*[\"]\n"
                                  "choices: [\"off\", red]\n"
                                  "globs: [team-*, \"?\"]\n"
                                  "since: 2027-03-31\n"
                                  "until: 2027-03-31\n"
                                  "kinds: [Pod, NodePool]\n"
                                  "map: {inner: -5}\n"
                                  "items: [{name: a}, {name: b, count: 2}]\n"
                                  "node: [1]\n"
                                  "lists: {team: [\"a*\", b], app: [c]}\n"
                                  "least: 3\n"
                                  "pair: {needed: \"20\\u00b0\"}\n",
                                  arena);
    ASSERT_INT(s.color, 0);
    CU_ASSERT_TRUE(s.on && s.on_given && s.map_given);
    ASSERT_INT(s.number, 9);
    ASSERT_INT(s.quantity, INT64_C(256) * 1024 * 1024 * 1024 * 1000);
    ASSERT_INT(s.duration, 5400);
    ASSERT_INT(s.share.amount, 20);
    CU_ASSERT_TRUE(s.share.percent);
    ASSERT_INT(s.quantities.count, 2);
    ASSERT_TEXT(s.quantities.items[1].name, "nvidia.com/gpu");
    ASSERT_TEXT(s.quantities.items[1].written, "8");
    ASSERT_INT(s.quantities.items[1].milli, 8000);
    ASSERT_TEXT(s.line, "one two");
    ASSERT_INT(s.words.count, 3);
    CU_ASSERT_TRUE(s.words.given);
    ASSERT_TEXT(s.words.items[0], "1");
    ASSERT_TEXT(s.words.items[2], "*[");
    ASSERT_TEXT(node_string(s.words.nodes[1]), "two");
    ASSERT_TEXT(s.choices.items[0], "off");
    ASSERT_TEXT(s.globs.items[0], "team-*");
    ASSERT_INT(s.since, 1806451200);
    ASSERT_INT(s.until, 1806451200 + 86399);
    ASSERT_INT(s.kinds.known, KIND_BIT(KIND_POD) | KIND_BIT(KIND_NODE_POOL));
    ASSERT_INT(s.inner, -5);
    const struct item *items = s.items.items;
    ASSERT_INT(s.items.count, 2);
    ASSERT_TEXT(items[0].name, "a");
    ASSERT_INT(items[0].count, 7);
    ASSERT_TEXT(items[1].name, "b");
    ASSERT_INT(items[1].count, 2);
    ASSERT_INT(s.items.nodes[1]->kind, NODE_MAP);
    CU_ASSERT_TRUE(node_is(s.node, NODE_LIST));
    ASSERT_INT(s.lists.count, 2);
    ASSERT_TEXT(s.lists.items[0].name, "team");
    ASSERT_TEXT(s.lists.items[0].values.items[1], "b");
    ASSERT_INT(s.lists.items[1].values.count, 1);
    ASSERT_INT(s.least, 3);
    ASSERT_TEXT(s.needed, "20\xC2\xB0");
    arena_destroy(arena);
}

/* What is cut is cut between characters; what is not UTF-8 ends, too. */
static void bytes_that_are_no_text_end(void)
{
    struct arena *arena = arena_create(1 << 16);
    char bytes[100];
    memset(bytes, 0x80, sizeof bytes);
    ASSERT_TEXT(schema_printable(arena, (struct text){bytes, sizeof bytes}), "...");
    arena_destroy(arena);
}

static void what_is_not_written_has_its_default(void)
{
    struct arena *arena = arena_create(4 << 20);
    struct settings s = read_good("{}", arena);
    ASSERT_INT(s.color, 1);
    ASSERT_INT(s.inner, 42);
    CU_ASSERT_FALSE(s.on || s.on_given || s.map_given);
    ASSERT_INT(s.preset.count, 2);
    ASSERT_TEXT(s.preset.items[1], "b");
    CU_ASSERT_FALSE(s.preset.given);
    CU_ASSERT_PTR_NULL(s.preset.nodes);
    CU_ASSERT_FALSE(s.words.given);
    ASSERT_INT(s.since, 0);
    CU_ASSERT_PTR_NULL(s.selector);

    s = read_good("{map: {}, preset: [], words: [], quantity: 1.5}", arena);
    ASSERT_INT(s.inner, 42);
    CU_ASSERT_TRUE(s.map_given && s.preset.given && s.words.given);
    ASSERT_INT(s.preset.count, 0);
    ASSERT_INT(s.quantity, 1500);
    arena_destroy(arena);
}

static void an_unquoted_off_is_a_choice(void)
{
    struct arena *arena = arena_create(4 << 20);
    ASSERT_INT(read_good("{color: off}", arena).color, 2);
    ASSERT_INT(read_good("{color: \"off\"}", arena).color, 2);
    arena_destroy(arena);
}

static void times_are_days_or_rfc_3339(void)
{
    static const struct {
        const char *text;
        int64_t since, until;
    } cases[] = {
        {"1970-01-02", 86400, 172799},
        {"2028-02-29", 1835395200, 1835481599},
        {"2027-03-31T18:00:00Z", 1806516000, 1806516000},
        {"2027-03-31T18:00:00+02:00", 1806508800, 1806508800},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena *arena = arena_create(4 << 20);
        struct text text =
            arena_printf(arena, "since: %s\nuntil: %s", cases[i].text, cases[i].text);
        struct settings s = read_good(text.data, arena);
        ASSERT_INT(s.since, cases[i].since);
        ASSERT_INT(s.until, cases[i].until);
        arena_destroy(arena);
    }
}

static void good_selectors_are_kept(void)
{
    static const char *const selectors[] = {
        "{}",
        "{matchLabels: {}}",
        "{matchLabels: {tier: prod, example.com/a_B.c: \"\", kubernetes.io/metadata.name: A-1}}",
        "{matchExpressions: []}",
        "{matchExpressions: [{key: a, operator: In, values: [\"1\", \"\"]}]}",
        ("{matchExpressions: [{key: b/c, operator: DoesNotExist},"
         " {key: d, operator: Exists, values: []}]}"),
    };
    for (size_t i = 0; i < sizeof selectors / sizeof selectors[0]; i++) {
        struct arena *arena = arena_create(4 << 20);
        struct text text = arena_printf(arena, "{selector: %s}", selectors[i]);
        CU_ASSERT_TRUE(node_is(read_good(text.data, arena).selector, NODE_MAP));
        arena_destroy(arena);
    }
}

static void a_flood_of_problems_is_cut(void)
{
    struct arena *arena = arena_create(64 << 20);
    struct text_builder text = {.arena = arena};
    for (int i = 0; i < 20000; i++)
        text_builder_printf(&text, "key%d: 1\n", i);
    struct settings settings;
    struct problems problems;
    CU_ASSERT_FALSE(read_text(text_builder_text(&text).data, arena, &settings, &problems));
    ASSERT_INT(problems.count, SCHEMA_PROBLEMS_MAX);
    arena_destroy(arena);
}

const char unit_suite[] = "policy schema";
const struct unit_test unit_tests[] = {
    {"bad values are refused", bad_values_are_refused},
    {"bytes that are no text end", bytes_that_are_no_text_end},
    {"values arrive at their offsets", values_arrive_at_their_offsets},
    {"what is not written has its default", what_is_not_written_has_its_default},
    {"an unquoted off is a choice", an_unquoted_off_is_a_choice},
    {"times are days or RFC 3339", times_are_days_or_rfc_3339},
    {"good selectors are kept", good_selectors_are_kept},
    {"a flood of problems is cut", a_flood_of_problems_is_cut},
    {NULL, NULL},
};
