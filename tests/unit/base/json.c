/* labels: threads */
/* The JSON reader. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dump.h"
#include "unit.h"

static const size_t budget = (size_t)256 << 20;

static void values_are_read(void)
{
    static const struct {
        const char *json, *tree;
    } cases[] = {
        {"null", "null"},
        {" \t\r\n true \n", "true"},
        {"false", "false"},
        {"0", "0"},
        {"-0", "-0"},
        {"-12.50e+03", "-12.50e+03"},
        {"1E9", "1E9"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"1e400", "1e400"},
        {"\"\"", "\"\""},
        {"\"plain\"", "\"plain\""},
        {"\"exactly8\"", "\"exactly8\""},
        {"\"a string of more than sixteen bytes\"", "\"a string of more than sixteen bytes\""},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\"\\/\\x08\\x0C\\x0A\\x0D\\x09\""},
        {"\"\\u0041\\u00e9\\u6F22\"", "\"A\\xC3\\xA9\\xE6\\xBC\\xA2\""},
        {"\"\\ud83d\\ude00\"", "\"\\xF0\\x9F\\x98\\x80\""},
        {"\"\\uD800\\uDC00 \\uDBFF\\uDFFF\"", "\"\\xF0\\x90\\x80\\x80 \\xF4\\x8F\\xBF\\xBF\""},
        {"\"\\uD7FF\\uE000\\uFFFF\"", "\"\\xED\\x9F\\xBF\\xEE\\x80\\x80\\xEF\\xBF\\xBF\""},
        {"\"x\\u0000y\"", "\"x\\x00y\""},
        {"\"\xC3\xA9\xE6\xBC\xA2\xF0\x9F\x98\x80\x7F\"",
         "\"\\xC3\\xA9\\xE6\\xBC\\xA2\\xF0\\x9F\\x98\\x80\\x7F\""},
        {"\"\xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF\"",
         "\"\\xED\\x9F\\xBF\\xEE\\x80\\x80\\xF4\\x8F\\xBF\\xBF\""},
        {"[]", "[]"},
        {"[ ]", "[]"},
        {"{ }", "{}"},
        {"[1,[2,[3]],{}]", "[1,[2,[3]],{}]"},
        {"{\"a\":{\"b\":[true,null]},\"\":1}", "{\"a\":{\"b\":[true,null]},\"\":1}"},
        {"{ \"a\" : 1 , \"b\" : 2 }", "{\"a\":1,\"b\":2}"},
        {"{\"\\u0061\":1,\"b\\n\":2}", "{\"a\":1,\"b\\x0A\":2}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(budget);
        struct source source = {.text = text_of(cases[i].json)};
        const struct node *root = NULL;
        struct error error = {0};
        CU_ASSERT(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error));
        if (root == NULL)
            ASSERT_TEXT(text_of(error.what), "");
        else
            ASSERT_TEXT(dump(arena, root), cases[i].tree);
        arena_destroy(arena);
    }
}

#define BYTES(literal)                 \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

static void bad_input_is_refused(void)
{
    static const struct {
        struct text json;
        uint32_t line, column;
        const char *what;
    } cases[] = {
        {BYTES(""), 1, 1, "found the end of the text, expected a value"},
        {BYTES("  \n "), 2, 2, "found the end of the text, expected a value"},
        {BYTES("nul"), 1, 1, "found 'n', expected a value"},
        {BYTES("nulll"), 1, 5, "found 'l', expected the end of the text"},
        {BYTES("True"), 1, 1, "found 'T', expected a value"},
        {BYTES("NaN"), 1, 1, "found 'N', expected a value"},
        {BYTES("-Infinity"), 1, 2, "found 'I', expected a digit after '-'"},
        {BYTES("-"), 1, 2, "found the end of the text, expected a digit after '-'"},
        {BYTES("+1"), 1, 1, "found '+', expected a value"},
        {BYTES("01"), 1, 1, "leading zero"},
        {BYTES("-01"), 1, 2, "leading zero"},
        {BYTES("1."), 1, 3, "found the end of the text, expected a digit after the decimal point"},
        {BYTES(".5"), 1, 1, "found '.', expected a value"},
        {BYTES("1e"), 1, 3, "expected a digit in the exponent"},
        {BYTES("1e+"), 1, 4, "expected a digit in the exponent"},
        {BYTES("0x10"), 1, 2, "found 'x', expected the end of the text"},
        {BYTES("1 2"), 1, 3, "found '2', expected the end of the text"},
        {BYTES("{}\0garbage"), 1, 3, "found byte 0x00, expected the end of the text"},
        {BYTES("{}\0"), 1, 3, "found byte 0x00, expected the end of the text"},
        {BYTES("\0"), 1, 1, "found byte 0x00, expected a value"},
        {BYTES("\xEF\xBB\xBF{}"), 1, 1, "byte order mark"},
        {BYTES("// c\n1"), 1, 1, "found '/', expected a value"},
        {BYTES("'a'"), 1, 1, "found ''', expected a value"},
        {BYTES("\""), 1, 2, "found the end of the text, expected the closing '\"'"},
        {BYTES("\"abcdefghijk"), 1, 13, "expected the closing '\"'"},
        {BYTES("{\"a"), 1, 4, "found the end of the text, expected the closing '\"'"},
        {BYTES("\"a\nb\""), 1, 3, "found byte 0x0A, expected control characters"},
        {BYTES("\"a\x1F\""), 1, 3, "found byte 0x1F, expected control characters"},
        {BYTES("\"a\0b\""), 1, 3, "found byte 0x00, expected control characters"},
        {BYTES("\"\\x41\""), 1, 3, "found 'x', expected one of"},
        {BYTES("\"\\\0\""), 1, 3, "found byte 0x00, expected one of"},
        {BYTES("\"\\"), 1, 3, "found the end of the text, expected one of"},
        {BYTES("\"\\u12\""), 1, 6, "found '\"', expected four hexadecimal digits"},
        {BYTES("\"\\u12G4\""), 1, 6, "found 'G', expected four hexadecimal digits"},
        {BYTES("\"\\u12g4\""), 1, 6, "found 'g', expected four hexadecimal digits"},
        {BYTES("\"\\u"), 1, 4, "found the end of the text, expected four hexadecimal"},
        {BYTES("\"\\ud800\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\udc00\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\ud800\\u0041\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\ud800\\ud800\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\udc00\\ud800\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\ud800\\uE000\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\ud800xu0041\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\ud800\\n\""), 1, 2, "half a surrogate pair"},
        {BYTES("\"\\ud800\\u12"), 1, 12, "four hexadecimal digits"},
        {BYTES("\"\xC0\xAF\""), 1, 2, "found byte 0xC0, expected valid UTF-8"},
        {BYTES("\"\xE0\x80\xAF\""), 1, 2, "found byte 0xE0, expected valid UTF-8"},
        {BYTES("\"\xF0\x80\x80\xAF\""), 1, 2, "expected valid UTF-8"},
        {BYTES("\"\xED\xA0\x80\""), 1, 2, "found byte 0xED, expected valid UTF-8"},
        {BYTES("\"\xF4\x90\x80\x80\""), 1, 2, "expected valid UTF-8"},
        {BYTES("\"\xF5\x80\x80\x80\""), 1, 2, "expected valid UTF-8"},
        {BYTES("\"\xFF\xFE\""), 1, 2, "found byte 0xFF, expected valid UTF-8"},
        {BYTES("\"\x80\""), 1, 2, "found byte 0x80, expected valid UTF-8"},
        {BYTES("\"\xC3\""), 1, 2, "expected valid UTF-8"},
        {BYTES("\"\xC3"), 1, 2, "expected valid UTF-8"},
        {BYTES("\"\xE6\xBC\""), 1, 2, "expected valid UTF-8"},
        {BYTES("\"\xF0\x9F\x98"), 1, 2, "expected valid UTF-8"},
        {BYTES("[\"\xC3\xA9\xF0\x9F\x98\x80\", x]"), 1, 8, "found 'x', expected a value"},
        {BYTES("["), 1, 2, "expected a value"},
        {BYTES("[1"), 1, 3, "found the end of the text, expected ',' or ']'"},
        {BYTES("[1,"), 1, 4, "expected a value"},
        {BYTES("[1,]"), 1, 4, "found ']', expected a value"},
        {BYTES("[,1]"), 1, 2, "found ',', expected a value"},
        {BYTES("[1 2]"), 1, 4, "found '2', expected ',' or ']'"},
        {BYTES("[1}"), 1, 3, "found '}', expected ',' or ']'"},
        {BYTES("{"), 1, 2, "expected a key in double quotes"},
        {BYTES("{,}"), 1, 2, "found ',', expected a key"},
        {BYTES("{a:1}"), 1, 2, "found 'a', expected a key in double quotes"},
        {BYTES("{1:1}"), 1, 2, "found '1', expected a key in double quotes"},
        {BYTES("{\"a\"}"), 1, 5, "found '}', expected ':'"},
        {BYTES("{\"a\" 1}"), 1, 6, "found '1', expected ':'"},
        {BYTES("{\"a\":}"), 1, 6, "found '}', expected a value"},
        {BYTES("{\"a\":1"), 1, 7, "expected ',' or '}'"},
        {BYTES("{\"a\":1,}"), 1, 8, "found '}', expected a key"},
        {BYTES("{\"a\":1]"), 1, 7, "found ']', expected ',' or '}'"},
        {BYTES("{\n  \"a\": 1,\n  \"b\": tru\n}"), 3, 8, "found 't', expected a value"},
        {BYTES("{\"a\\u0000b\":1}"), 1, 2, "NUL"},
        {BYTES("{\"a\":1,\n \"b\":2, \"a\":3}"), 2, 9, "the key \"a\" stands twice"},
        {BYTES("{\"a\":1,\"\\u0061\":3}"), 1, 8, "the key \"a\" stands twice"},
        {BYTES("{\"\":1,\"\":3}"), 1, 7, "the key \"\" stands twice"},
        {BYTES("[{\"a\":{\"b\":1,\"b\":1}}]"), 1, 14, "the key \"b\" stands twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(budget);
        /* A copy without anything behind it, so that a sanitizer sees the reader run over. */
        char *copy = malloc(cases[i].json.size == 0 ? 1 : cases[i].json.size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
        memcpy(copy, cases[i].json.data, cases[i].json.size);
        struct source source = {.file = "x.json", .text = {copy, cases[i].json.size}};
        const struct node *root = NULL;
        struct error error = {0};
        CU_ASSERT_FALSE(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error));
        ASSERT_INT(error.kind, ERROR_INPUT);
        if (strstr(error.what, cases[i].what) == NULL)
            ASSERT_TEXT(text_of(error.what), cases[i].what);
        ASSERT_TEXT(text_of(error.place.file), "x.json");
        if (error.place.line != cases[i].line || error.place.column != cases[i].column)
            fprintf(stderr, "case %zu: %s\n", i, error.what);
        ASSERT_INT(error.place.line, cases[i].line);
        ASSERT_INT(error.place.column, cases[i].column);
        free(copy);
        arena_destroy(arena);
    }
}

/* Whatever the reader does to be fast, it looks at every byte. */
static void every_byte_is_looked_at(void)
{
    struct arena *arena = arena_create(budget);
    for (int byte = 0; byte < 256; byte++) {
        for (size_t position = 1; position < 25; position++) {
            char json[34];
            memset(json, 'a', sizeof json);
            json[0] = json[sizeof json - 1] = '"';
            json[position] = (char)byte;
            struct source source = {.text = {json, sizeof json}};
            const struct node *root;
            bool fine = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
            if (doc_read_json(&source, &doc_limits_review, NULL, arena, &root, NULL) != fine)
                fprintf(stderr, "byte 0x%02X at %zu\n", (unsigned)byte, position);
            ASSERT_INT(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, NULL), fine);
        }
    }
    arena_destroy(arena);
}

static void strings_are_not_copied(void)
{
    struct arena *arena = arena_create(budget);
    struct text json = TEXT("{\"key\": \"value\", \"\\u006bey\": [\"a\\nb\"]}");
    struct source source = {.text = json};
    const struct node *root;
    struct problems duplicates = {.arena = arena};
    CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, &duplicates, arena, &root, NULL));
    ASSERT_INT(duplicates.count, 1);
    ASSERT_INT(duplicates.items[0].kind, ERROR_INPUT);
    ASSERT_INT(duplicates.items[0].place.column, 18);
    ASSERT_INT(node_count(root), 1);
    const struct node *list = node_get(root, "key");
    ASSERT_TEXT(dump(arena, list), "[\"a\\x0Ab\"]");
    ASSERT_INT(list->offset, 29);
    ASSERT_INT(node_item(list, 0)->offset, 30);
    ASSERT_INT(root->members[0].key_offset, 17);
    arena_reset(arena);
    source = (struct source){.text = TEXT("{\"key\": \"value\"}")};
    CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, NULL));
    CU_ASSERT_PTR_EQUAL(root->members[0].key, source.text.data + 2);
    CU_ASSERT_PTR_EQUAL(node_get(root, "key")->bytes, source.text.data + 9);
    arena_destroy(arena);
}

static char *repeat(const char *piece, size_t bytes, size_t *size)
{
    size_t length = strlen(piece);
    char *text = malloc(bytes + 1);
    for (*size = 0; *size + length <= bytes; *size += length)
        memcpy(text + *size, piece, length);
    text[*size] = '\0';
    return text;
}

static double read_seconds(struct source *source, const struct doc_limits *limits,
                           struct arena *arena, struct error *error, bool *done)
{
    const struct node *root;
    *error = (struct error){0};
    clock_t start = clock();
    *done = doc_read_json(source, limits, NULL, arena, &root, error);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void limits_hold(void)
{
    static const struct doc_limits limits = {.bytes = 100, .nodes = 5, .depth = 3};
    static const struct {
        const char *json, *what;
    } cases[] = {
        {"[1,2,3,4]", NULL},
        {"[1,2,3,4,5]", "allowed 5 values"},
        {"{\"a\":1,\"b\":[1,2]}", NULL},
        {"{\"a\":1,\"b\":[1,2,3]}", "allowed 5 values"},
        {"[[[]]]", NULL},
        {"[[[[]]]]", "allowed 3 levels"},
        {"{\"a\":{\"a\":{\"a\":{}}}}", "allowed 3 levels"},
        {"[[],[],[[]]]", NULL},
        {"\"123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
         "56789012345678\"",
         NULL},
        {"\"123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
         "567890123456789\"",
         "has 101 bytes, more than the allowed 100"},
    };
    struct arena *arena = arena_create(budget);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct source source = {.text = text_of(cases[i].json)};
        struct error error;
        bool done;
        read_seconds(&source, &limits, arena, &error, &done);
        ASSERT_INT(done, cases[i].what == NULL);
        ASSERT_INT(error.kind, done ? ERROR_NONE : ERROR_LIMIT);
        if (!done)
            CU_ASSERT_PTR_NOT_NULL(strstr(error.what, cases[i].what));
    }
    /* No text may be longer than a node can say, whatever the limit is. */
    const struct doc_limits none = {.bytes = SIZE_MAX, .nodes = 5, .depth = 3};
    struct source source = {.text = {"", (size_t)1 << 28}};
    struct error error;
    bool done;
    read_seconds(&source, &none, arena, &error, &done);
    CU_ASSERT(!done && strstr(error.what, "more than the allowed 268435455") != NULL);
    arena_destroy(arena);
}

/* What costs a general reader seconds and gigabytes. */
static void hostile_input_is_cheap(void)
{
    static const struct {
        const char *prefix, *piece, *suffix;
        size_t bytes;
        enum error_kind kind;
    } cases[] = {
        {"", "{", "", 100 << 10, ERROR_INPUT},
        {"", "[", "", 100 << 10, ERROR_LIMIT},
        {"", "{\"a\":", "", 100 << 10, ERROR_LIMIT},
        {"[", "{},", "1]", 3 << 20, ERROR_LIMIT},
        {"[", "{},", "1]", 2 << 20, ERROR_NONE},
        {"[", "1,", "1]", 1 << 20, ERROR_NONE},
        {"\"", "\\u0041", "\"", 3 << 20, ERROR_NONE},
        {"\"", "\xC3\xA9", "\"", 3 << 20, ERROR_NONE},
        {"", " \n", "1", 3 << 20, ERROR_NONE},
        {"\"", "aaaaaaaa", "\n", 3 << 20, ERROR_INPUT},
    };
    struct doc_limits limits = doc_limits_review;
    limits.nodes = 1000000;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(budget);
        size_t size;
        char *pieces = repeat(cases[i].piece, cases[i].bytes, &size);
        struct source source = {
            .text = arena_printf(arena, "%s%s%s", cases[i].prefix, pieces, cases[i].suffix)};
        free(pieces);
        size_t before = arena_used_bytes(arena);
        struct error error;
        bool done;
        double seconds = read_seconds(&source, &limits, arena, &error, &done);
        ASSERT_INT(error.kind, cases[i].kind);
        CU_ASSERT(seconds < 5);
        CU_ASSERT(arena_used_bytes(arena) - before < 64 << 20);
        arena_destroy(arena);
    }
}

static struct text many_keys(struct arena *arena, size_t count, size_t again)
{
    struct text_builder json = {.arena = arena};
    text_builder_add(&json, TEXT("{"));
    for (size_t i = 0; i < count; i++)
        text_builder_printf(&json, "%s\"key-%zu\":%zu", i == 0 ? "" : ",", i, i);
    for (size_t i = 0; i < again; i++)
        text_builder_printf(&json, ",\"key-%zu\":-1", 2 * i);
    text_builder_add(&json, TEXT("}"));
    return text_builder_text(&json);
}

/* Around the number of members where pairs give way to a table, and far beyond. */
static void duplicates_are_found_in_maps_of_any_size(void)
{
    static const size_t counts[] = {1, 2, 8, 23, 24, 25, 26, 64, 65, 1000, 250000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct arena *arena = arena_create(budget);
        struct source source = {.text = many_keys(arena, counts[i], 0)};
        struct error error;
        bool done;
        double seconds = read_seconds(&source, &doc_limits_review, arena, &error, &done);
        CU_ASSERT(done);
        CU_ASSERT(seconds < 20);
        source = (struct source){.text = many_keys(arena, counts[i], 1)};
        read_seconds(&source, &doc_limits_review, arena, &error, &done);
        CU_ASSERT_FALSE(done);
        ASSERT_TEXT(text_of(error.what),
                    "the key \"key-0\" stands twice in one map; keep one of them");
        /* Reported: each at its second place, and the last value stands. */
        size_t again = counts[i] < 10 ? 1 : 10;
        source = (struct source){.text = many_keys(arena, counts[i], again)};
        struct problems duplicates = {.arena = arena};
        const struct node *root;
        CU_ASSERT_FATAL(
            doc_read_json(&source, &doc_limits_review, &duplicates, arena, &root, NULL));
        ASSERT_INT(duplicates.count, again);
        ASSERT_INT(node_count(root), counts[i]);
        ASSERT_TEXT(node_text(node_get(root, "key-0")), "-1");
        if (counts[i] > 1)
            ASSERT_TEXT(node_text(node_get(root, "key-1")), "1");
        if (counts[i] > 10)
            ASSERT_TEXT(node_text(node_get(root, "key-18")), "-1");
        arena_destroy(arena);
    }
}

/* A message has the beginning of a long key, and a key longer than any text is in no map. */
static void long_keys_are_cut_and_looked_up(void)
{
    enum { LONG = 100 };
    struct arena *arena = arena_create(budget);
    char key[LONG + 1];
    memset(key, 'k', LONG);
    key[LONG] = '\0';
    struct source source = {.text = arena_printf(arena, "{\"%s\":1,\"%s\":2}", key, key)};
    const struct node *root = NULL;
    struct error error = {0};
    CU_ASSERT(!doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error));
    key[80] = '\0';
    struct text what =
        arena_printf(arena, "the key \"%s\" stands twice in one map; keep one of them", key);
    ASSERT_TEXT(text_of(error.what), what.data);
    source = (struct source){.text = many_keys(arena, 1000, 1)};
    struct problems duplicates = {.arena = arena};
    CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, &duplicates, arena, &root, &error));
    CU_ASSERT_PTR_NOT_NULL(node_get(root, "key-1"));
    CU_ASSERT_PTR_NULL(node_member(root, (struct text){"key-1", (size_t)1 << 33}));
    arena_destroy(arena);
}

struct attempt {
    struct source *source;
    struct arena *arena;
    struct error error;
};

static void read_once(void *argument)
{
    struct attempt *attempt = argument;
    const struct node *root;
    if (!doc_read_json(attempt->source, &doc_limits_review, NULL, attempt->arena, &root,
                       &attempt->error))
        CU_FAIL("refused");
}

/* Every possible end of the memory ends in the guard. */
static void the_memory_budget_holds(void)
{
    struct source source = {.text = TEXT("{\"a\":[1,{\"\\u0062\":[]},\"\\n\"],\"c\":{\"d\":1}}")};
    struct arena *arena = arena_create(budget);
    struct attempt attempt = {.source = &source, .arena = arena};
    CU_ASSERT_FATAL(arena_guard(arena, read_once, &attempt, NULL));
    size_t needed = arena_used_bytes(arena);
    arena_destroy(arena);
    CU_ASSERT(needed > 100 && needed < 400);
    for (size_t bytes = 0; bytes <= needed; bytes++) {
        arena = arena_create(bytes);
        attempt.arena = arena;
        struct error error = {0};
        ASSERT_INT(arena_guard(arena, read_once, &attempt, &error), bytes == needed);
        ASSERT_INT(error.kind, bytes == needed ? ERROR_NONE : ERROR_LIMIT);
        arena_destroy(arena);
    }
}

/* Values one after the other: those before what is wrong are there. */
static void several_values_are_read(void)
{
    static const struct {
        const char *json, *trees;
        uint32_t column; /* of what is wrong; 0: nothing is */
    } cases[] = {
        {"{}", "{}", 0},           {" {\"a\":1}\n[2]3 null\t", "{\"a\":1} [2] 3 null", 0},
        {"{}{}", "{} {}", 0},      {"{} x", "{}", 4},
        {"{} {\"a\":}", "{}", 9},  {"", "", 1},
        {"\xEF\xBB\xBF{}", "", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_create(budget);
        struct source source = {.text = text_of(cases[i].json)};
        struct node_list roots = {0};
        struct error error = {0};
        struct text_builder trees = {.arena = arena};
        bool good = doc_read_json_values(&source, &doc_limits_review, NULL, arena, &roots, &error);
        for (size_t j = 0; j < roots.count; j++)
            text_builder_printf(&trees, "%s%.*s", j == 0 ? "" : " ",
                                TEXT_ARGS(dump(arena, roots.items[j])));
        CU_ASSERT_EQUAL(good, cases[i].column == 0);
        ASSERT_INT(error.place.column, cases[i].column);
        ASSERT_TEXT(text_builder_text(&trees), cases[i].trees);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "base json";
const struct unit_test unit_tests[] = {
    {"values are read", values_are_read},
    {"several values are read", several_values_are_read},
    {"bad input is refused", bad_input_is_refused},
    {"every byte is looked at", every_byte_is_looked_at},
    {"strings are not copied", strings_are_not_copied},
    {"limits hold", limits_hold},
    {"hostile input is cheap", hostile_input_is_cheap},
    {"duplicates are found in maps of any size", duplicates_are_found_in_maps_of_any_size},
    {"long keys are cut and looked up", long_keys_are_cut_and_looked_up},
    {"the memory budget holds", the_memory_budget_holds},
    {NULL, NULL},
};
