/* labels: threads */
/* JSON without a tree, and trees of a part of it. */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "unit.h"

static void members_and_items_are_found_as_written(void)
{
    static const struct {
        const char *json, *members; /* "KEY=VALUE ..." and "." when none is missing */
    } cases[] = {
        {"{}", "."},
        {" [ ] ", "."},
        {"{\"a\":1,\"b\":\"x\"}", "a=1 b=\"x\" ."},
        {"{ \"a\" : [1, {\"b\":\"]\"}] , \"c\" : null }", "a=[1, {\"b\":\"]\"}] c=null ."},
        {"[true,\"\\\"]\",{}]", "=true =\"\\\"]\" ={} ."},
        {"{\"\\u0061\":{}}", "\\u0061={} ."},
        /* Cut off. */
        {"{\"a\":{\"b\":1},\"c\":{\"d\"", "a={\"b\":1} "},
        {"{\"a\":\"x\\\"", ""},
        {"{\"a\":\"x\\", ""},
        {"{\"a\":", ""},
        {"{\"a\"", ""},
        {"[1,2,", "=1 =2 "},
        {"[[1]", "=[1] "},
        {"{", ""},
        /* No JSON. */
        {"{a:1}", ""},
        {"{\"a\" 1}", ""},
        {"{\"a\":1 \"b\":2}", "a=1 "},
        {"[,]", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char members[200] = "";
        struct json_walk walk;
        struct text key, value;
        CU_ASSERT(json_walk_begin(&walk, text_of(cases[i].json)));
        while (json_walk_next(&walk, &key, &value)) {
            size_t size = strlen(members);
            snprintf(members + size, sizeof members - size, "%.*s=%.*s ", TEXT_ARGS(key),
                     TEXT_ARGS(value));
        }
        if (walk.ended)
            strcat(members, ".");
        CU_ASSERT(!json_walk_next(&walk, &key, &value)); /* nor later */
        ASSERT_TEXT(text_of(members), cases[i].members);
    }
    struct json_walk walk;
    static const char *const none[] = {"", " ", "1", "\"{}\"", "null"};
    for (size_t i = 0; i < COUNT_OF(none); i++)
        CU_ASSERT(!json_walk_begin(&walk, text_of(none[i])));
}

static void one_member_is_found(void)
{
    struct text map = TEXT("{\"z\":{\"name\":\"no\"},\"name\":\"x\",\"e\":\"\\n\",\"name\":\"y\"}");
    ASSERT_TEXT(json_find(map, "name"), "\"x\"");
    ASSERT_TEXT(json_plain_string(json_find(map, "name")), "x");
    ASSERT_TEXT(json_find(map, "nam"), "");
    ASSERT_TEXT(json_find(TEXT("[\"name\"]"), "name"), "");
    ASSERT_TEXT(json_plain_string(json_find(map, "e")), "");
    ASSERT_TEXT(json_plain_string(json_find(map, "z")), "");
    ASSERT_TEXT(json_plain_string(TEXT("")), "");
}

static void what_comes_behind_is_not_looked_at(void)
{
    struct text map = TEXT("{\"z\":[1], \"a\": {\"b\":2},\"c\":tr");
    ASSERT_TEXT(json_find_start(map, "a"), "{\"b\":2},\"c\":tr");
    ASSERT_TEXT(json_find(json_find_start(map, "a"), "b"), "2");
    ASSERT_TEXT(json_find_start(map, "b"), "");
    ASSERT_TEXT(json_find_start(TEXT("[\"a\"]"), "a"), "");
    ASSERT_TEXT(json_find_start(TEXT("{\"z\":[1"), "a"), "");
    ASSERT_TEXT(json_find_start(TEXT("7"), "a"), "");
    ASSERT_TEXT(json_find_start(TEXT("{\r\n\t\"z\":\n1,\r\n\t\"a\":\t2}"), "a"), "2}");
}

static void what_is_heavy_is_found(void)
{
    static const struct {
        const char *json, *way;
    } cases[] = {
        {"{\"a\":1,\"bcd\":[0,{\"efg\":\"a long text\"},2]}", "bcd 1 efg "},
        {"{\"bcd\":[0,{\"efg\":\"a long text\"},2]} , [\"what comes behind\"]", "bcd 1 efg "},
        {"{\"a\":[\"half of it\"],\"b\":[\"half of it\"]}", ""},
        {"{\"a\":\"more than half\",\"b\":1}", "a "},
        {"[[ [[[[ \"deeper than it looks, which is five\" ]]]] ]]", "0 0 0 0 0 "},
        {"[1,{\"\":\"the empty key is a key\"}]", "1  "},
        {"{\"a\":\"cut off", ""},
        {"{\"a\":[\"no end\"]", ""},
        {"\"text\"", ""},
        {"12", ""},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char way[200] = "";
        struct json_step steps[JSON_STEPS_MAX];
        size_t count = json_heaviest(text_of(cases[i].json), steps);
        for (size_t j = 0; j < count; j++) {
            size_t size = strlen(way);
            if (steps[j].in_map)
                snprintf(way + size, sizeof way - size, "%.*s ", TEXT_ARGS(steps[j].key));
            else
                snprintf(way + size, sizeof way - size, "%zu ", steps[j].index);
        }
        ASSERT_TEXT(text_of(way), cases[i].way);
    }
}

/* ---- values of any length ---- */

struct maker {
    char *at;
    uint64_t state;
};

static unsigned roll(struct maker *maker, unsigned sides)
{
    maker->state = maker->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(maker->state >> 33) % sides;
}

static void put(struct maker *maker, const char *text)
{
    size_t size = strlen(text);
    memcpy(maker->at, text, size);
    maker->at += size;
}

static void add_string(struct maker *maker)
{
    static const char *const parts[] = {"a",    "long text ", "[",        "]",        "{}",
                                        "\\\"", "\\\\",       "\\\\\\\"", "\xC3\xA9", "},{"};
    put(maker, "\"");
    for (unsigned i = roll(maker, 12); i > 0; i--)
        put(maker, parts[roll(maker, COUNT_OF(parts))]);
    put(maker, "\"");
}

static void add_value(struct maker *maker, int levels)
{
    unsigned choice = roll(maker, levels == 0 ? 2 : 6);
    if (choice == 0)
        put(maker, "17");
    else if (choice == 1)
        add_string(maker);
    else {
        bool map = choice < 4;
        put(maker, map ? "{" : "[");
        for (unsigned i = roll(maker, 5); i > 0; i--) {
            if (map) {
                add_string(maker);
                put(maker, ":");
            }
            add_value(maker, levels - 1);
            put(maker, i > 1 ? "," : "");
        }
        put(maker, map ? "}" : "]");
    }
}

/* Whatever its strings say, and whatever comes behind. */
static void a_value_ends_where_it_was_made_to_end(void)
{
    enum { ROUNDS = 3000, BYTES = 1 << 20, BEHIND = 100 };
    char *json = malloc(BYTES);
    struct maker maker = {.state = 19};
    for (int round = 0; round < ROUNDS; round++) {
        maker.at = json;
        put(&maker, "[");
        add_value(&maker, 5);
        size_t size = (size_t)(maker.at - json) - 1;
        memset(maker.at, round % 2 == 0 ? ',' : ']', BEHIND);
        maker.at += roll(&maker, BEHIND);
        struct json_walk walk;
        struct text key, value;
        CU_ASSERT(json_walk_begin(&walk, (struct text){json, (size_t)(maker.at - json)}));
        CU_ASSERT(json_walk_next(&walk, &key, &value));
        ASSERT_INT(value.size, size);
        if (value.size != size)
            break;
    }
    free(json);
}

/* Wherever a text is cut off, also between the blocks that are read at once. */
static void a_value_that_is_cut_off_has_no_end(void)
{
    enum { LETTERS = 130, BACKSLASHES = 60 };
    char whole[LETTERS + BACKSLASHES + 8] = "[[\"";
    struct json_walk walk;
    struct text key, value;
    memset(whole + 3, 'a', LETTERS);
    memset(whole + 3 + LETTERS, '\\', BACKSLASHES);
    strcpy(whole + 3 + LETTERS + BACKSLASHES, "\"]");
    size_t size = strlen(whole);
    CU_ASSERT(json_walk_begin(&walk, (struct text){whole, size}));
    CU_ASSERT(json_walk_next(&walk, &key, &value));
    for (size_t cut = 2; cut < size; cut++) {
        char *part = malloc(cut); /* what is read behind it is found */
        memcpy(part, whole, cut);
        CU_ASSERT(json_walk_begin(&walk, (struct text){part, cut}));
        CU_ASSERT(!json_walk_next(&walk, &key, &value));
        free(part);
    }
}

/* No JSON, and still of one end: readers of pieces and readers of the whole look for it. */
static void a_backslash_outside_of_strings_hides_no_quote(void)
{
    struct arena *arena = arena_create(1 << 20);
    for (int before = 0; before <= 130; before++)
        for (int behind = 0; behind <= 130; behind += 65) {
            struct text value = arena_printf(arena, "{\"%*s\\\\\" \\\"}\\\"}\"}", before, "");
            struct text map = arena_printf(arena, "{\"a\":%.*s%*s}", TEXT_ARGS(value), behind, "");
            CU_ASSERT(text_equal(json_find(map, "a"), value));
        }
    arena_destroy(arena);
}

/* A million brackets cost no stack. */
static void depth_costs_nothing(void)
{
    enum { DEPTH = 1000000 };
    char *json = malloc(2 * DEPTH + 32);
    memcpy(json, "{\"a\":", 5);
    memset(json + 5, '[', DEPTH);
    memset(json + 5 + DEPTH, ']', DEPTH);
    strcpy(json + 5 + (size_t)2 * DEPTH, ",\"b\":2}");
    ASSERT_TEXT(json_find(text_of(json), "b"), "2");
    struct json_step steps[JSON_STEPS_MAX];
    CU_ASSERT_EQUAL(json_heaviest(text_of(json), steps), JSON_STEPS_MAX);
    free(json);
}

/* ---- what is chosen of a tree ---- */

struct want {
    const char *key;
    const struct want *inside;
    const char *word; /* if it occurs */
};

static enum doc_want wants(const void *within, struct text key, const void **inside)
{
    for (const struct want *want = within; want->key != NULL; want++)
        if (text_is(key, want->key)) {
            *inside = want->word != NULL ? want : want->inside;
            return want->word != NULL ? DOC_LOOK : DOC_READ;
        }
    return DOC_SKIP;
}

/* How often a value was looked at. */
static size_t looks;

static bool needs(void *context, const void *inside, struct text value)
{
    CU_ASSERT_PTR_EQUAL(context, &looks);
    looks++;
    const struct want *want = inside;
    return text_holds(value, text_of(want->word));
}

static void what_is_not_wanted_is_passed_over(void)
{
    static const struct want leaf[] = {{"b", NULL, NULL}, {NULL, NULL, NULL}};
    static const struct want root[] = {
        {"a", leaf, NULL}, {"w", NULL, NULL}, {"l", NULL, "look"}, {NULL, NULL, NULL}};
    static const struct doc_choice choice = {root, wants, needs, &looks};
    static const struct doc_limits limits = {
        .bytes = 1000, .nodes = 6, .depth = 4, .choice = &choice};
    static const struct {
        const char *json, *read; /* empty: refused */
    } cases[] = {
        {"{\"a\":{\"b\":1,\"c\":[2,[[[[]]]],3,4,5]},\"x\":{},\"w\":[{\"x\":1}]}",
         "{\"a\":{\"b\":1},\"w\":[{\"x\":1}]}"},
        /* Each item of a list, and what is no map at all. */
        {"{\"a\":[{\"b\":1,\"c\":2},{\"c\":3}]}", "{\"a\":[{\"b\":1},{}]}"},
        {"{\"a\":[[{\"c\":3}]]}", "{\"a\":[[{}]]}"},
        {"{\"a\":7}", "{\"a\":7}"},
        /* Not wanted twice is no harm; wanted twice is. */
        {"{\"x\":1,\"x\":2,\"a\":7}", "{\"a\":7}"},
        {"{\"a\":1,\"a\":2}", ""},
        {"{\"x\":[\"]\\\"\"],\"a\":7}", "{\"a\":7}"},
        /* Limits are those of what is read. */
        {"{\"a\":{\"b\":[1]}}", "{\"a\":{\"b\":[1]}}"},
        {"{\"a\":{\"b\":[[[1]]]}}", ""},
        {"{\"w\":[1,2,3,4]}", "{\"w\":[1,2,3,4]}"},
        {"{\"w\":[1,2,3,4,5]}", ""},
        /* What is looked at is read as a whole, or not at all. */
        {"{\"l\":[{\"b\":\"on\"}],\"a\":7}", "{\"a\":7}"},
        {"{\"l\":[{\"b\":\"look\"}],\"a\":7}", "{\"l\":[{\"b\":\"look\"}],\"a\":7}"},
        {"{\"l\":\"look", ""},
        {"{\"x\":[1,2", ""},
        {"{\"x\":}", ""},
        {"{\"x\"}", ""},
    };
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct source source = {.text = text_of(cases[i].json)};
        const struct node *node = NULL;
        struct error error = {0};
        bool done = doc_read_json(&source, &limits, NULL, arena, &node, &error);
        ASSERT_TEXT(done ? node_json(node, arena) : TEXT(""), cases[i].read);
        ASSERT_INT(error.kind != ERROR_NONE, !done);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "base scan";
const struct unit_test unit_tests[] = {
    {"members and items are found as written", members_and_items_are_found_as_written},
    {"one member is found", one_member_is_found},
    {"what comes behind is not looked at", what_comes_behind_is_not_looked_at},
    {"what is heavy is found", what_is_heavy_is_found},
    {"a value ends where it was made to end", a_value_ends_where_it_was_made_to_end},
    {"a value that is cut off has no end", a_value_that_is_cut_off_has_no_end},
    {"a backslash outside of strings hides no quote",
     a_backslash_outside_of_strings_hides_no_quote},
    {"depth costs nothing", depth_costs_nothing},
    {"what is not wanted is passed over", what_is_not_wanted_is_passed_over},
    {NULL, NULL},
};
