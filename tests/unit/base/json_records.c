/* Records of JSON streams: where each begins and ends, in every form, and what a cut costs. */
#include "unit.h"

#include <string.h>

#include "base/json_records.h"

enum { LIMIT_BYTES = 40 };

static void note(void *context, enum record_end end, struct text record, size_t line)
{
    static const char *const names[] = {[RECORD_WHOLE] = "",
                                        [RECORD_CUT] = "cut",
                                        [RECORD_LARGE] = "large",
                                        [RECORD_OTHER] = "other"};
    struct text_builder *found = context;
    text_builder_printf(found, "%s%zu:%s%.*s", found->size == 0 ? "" : " ", line, names[end],
                        TEXT_ARGS(record));
}

static struct text records_of(const char *stream, size_t part, struct arena *arena)
{
    static const char *const lists[] = {"events", "items", NULL};
    struct text_builder found = {.arena = arena};
    struct json_records records = {
        .lists = lists, .limit_bytes = LIMIT_BYTES, .sink = note, .context = &found};
    size_t size = strlen(stream);
    for (size_t at = 0; at < size; at += part)
        CU_ASSERT_TRUE_FATAL(
            json_records_take(&records, stream + at, size - at < part ? size - at : part));
    json_records_end(&records);
    return text_builder_text(&found);
}

static const struct {
    const char *stream, *expected;
} cases[] = {
    {"", ""},
    {"\n\n", ""},
    {"{}\n{\"a\":1}\n", "1:{} 2:{\"a\":1}"},
    {"{}\r\n{}", "1:{} 2:{}"},
    {"{}{}", "1:{} 1:{}"},
    {"2026-01-01T00:00:00Z {\"a\":\"}\"}\n", "1:{\"a\":\"}\"}"},
    {"{\"a\":\"\\\"}\"}\n", "1:{\"a\":\"\\\"}\"}"},
    /* lines that hold none */
    {"# log\n{}\nx", "1:other 2:{} 3:other"},
    {"[1]\n", "1:other"},
    /* what is cut off costs itself */
    {"{\"a\":\n{}\n", "1:cut 2:{}"},
    {"{}\n{\"a\":\"b\n{}\n", "1:{} 2:cut 3:{}"},
    {"{}\n{\"a\":{\n{}\n", "1:{} 2:cut 3:{}"},
    {"{}\n{\"a\"", "1:{} 2:cut"},
    /* and so does what is too large */
    {"{\"a\":\"0123456789012345678901234567890123456789\"}\n{}\n", "1:large 2:{}"},
    /* documents */
    {"{\n \"a\": {\n }\n}\n{\n}\n", "1:{  \"a\": {  } } 5:{ }"},
    {"{\"events\":[{\"a\":1},{}],\"x\":\"{\"}\n", "1:{\"a\":1} 1:{}"},
    {"{\n\"next\": \"[{\",\n\"items\": [\n{\n},\n{}\n]\n}\n", "4:{ } 6:{}"},
    {"{\"events\":[]}\n{}\n", "2:{}"},
    {"{\"other\":[{}]}\n", "1:{\"other\":[{}]}"},
    {"{\"a\":{\"events\":[{}]}}\n", "1:{\"a\":{\"events\":[{}]}}"},
};

static void records_are_found_in_whatever_parts_they_come(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t part = 1; part < 5; part++) {
            struct arena *arena = arena_create(1 << 20);
            struct text found = records_of(cases[i].stream, part, arena);
            if (!text_is(found, cases[i].expected))
                fprintf(stderr, "%s\n", cases[i].stream);
            ASSERT_TEXT(found, cases[i].expected);
            arena_destroy(arena);
        }
}

const char unit_suite[] = "base json_records";
const struct unit_test unit_tests[] = {
    {"records are found in whatever parts they come",
     records_are_found_in_whatever_parts_they_come},
    {NULL, NULL},
};
