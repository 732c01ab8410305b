/* Numbers for byte strings, tables over each other, and fingerprints. */
#include "solver/intern.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "solver/solver.h"
#include "unit.h"

static struct arena *arena;

static struct intern fresh(void)
{
    arena_destroy(arena);
    arena = arena_create((size_t)64 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    return (struct intern){.arena = arena};
}

/* Each differs from all others: by a byte anywhere, or only by its size. */
static const struct {
    const char *bytes;
    size_t size;
} strings[] = {
    {"", 0},
    {"\0", 1},
    {"\0\0", 2},
    {"a", 1},
    {"a\0", 2},
    {"b", 1},
    {"abcdefg", 7},
    {"abcdefgh", 8},
    {"abcdefgx", 8},
    {"xbcdefgh", 8},
    {"abcdefgh\0", 9},
    {"abcdefghi", 9},
    {"abcdefghijklmnop", 16},
    {"abcdefghijklmnox", 16},
    {"abcdefgxijklmnop", 16},
    {"ijklmnopabcdefgh", 16},
    {"abcdefghijklmnopq", 17},
    {"abcdefghijklmnopr", 17},
};

static void test_numbers_in_order_of_arrival(void)
{
    struct intern table = fresh();
    CU_ASSERT_EQUAL(intern_find(&table, "a", 1), SOLVER_NONE);
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        bool added = false;
        ASSERT_INT(intern_number(&table, strings[i].bytes, strings[i].size, &added), i);
        ASSERT_INT(added, true);
        ASSERT_INT(intern_count(&table), i + 1);
    }
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        bool added = true;
        ASSERT_INT(intern_find(&table, strings[i].bytes, strings[i].size), i);
        ASSERT_INT(intern_number(&table, strings[i].bytes, strings[i].size, &added), i);
        ASSERT_INT(added, false);
        ASSERT_INT(intern_number(&table, strings[i].bytes, strings[i].size, NULL), i);
    }
    ASSERT_INT(intern_count(&table), COUNT_OF(strings));
    ASSERT_INT(intern_find(&table, "c", 1), SOLVER_NONE);
}

/* The caller's bytes may change afterwards, and the copy is terminated. */
static void test_bytes_are_copied(void)
{
    struct intern table = fresh();
    char name[] = "zone-1";
    uint32_t number = intern_number(&table, name, 4, NULL);
    memcpy(name, "xxxx", 4);
    ASSERT_TEXT(text_of(intern_text(&table, number)), "zone");
    ASSERT_INT(intern_string(&table, "zone", NULL), number);
    ASSERT_INT(intern_string(&table, "zone-1", NULL), number + 1);
}

static void test_many(void)
{
    enum { COUNT = 5000 };
    struct intern table = fresh();
    char text[32];
    size_t wrong = 0;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < COUNT; i++) {
            bool added = false;
            snprintf(text, sizeof text, "default/pod-%u", i);
            wrong += intern_string(&table, text, &added) != i || added != (round == 0);
        }
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "default/pod-%u", i);
        wrong += strcmp(intern_text(&table, i), text) != 0;
    }
    ASSERT_INT(wrong, 0);
    ASSERT_INT(intern_count(&table), COUNT);
}

/* A table finds what is below, adds what is not, and leaves the lower ones as they were. */
static void test_tables_over_each_other(void)
{
    struct intern lowest = fresh();
    intern_string(&lowest, "a", NULL);
    intern_string(&lowest, "b", NULL);
    struct intern middle = intern_over(arena, &lowest);
    bool added = true;
    ASSERT_INT(intern_string(&middle, "b", &added), 1);
    ASSERT_INT(added, false);
    ASSERT_INT(intern_string(&middle, "c", &added), 2);
    ASSERT_INT(added, true);
    struct intern upper = intern_over(arena, &middle), other = intern_over(arena, &middle);
    ASSERT_INT(intern_count(&upper), 3);
    ASSERT_INT(intern_string(&upper, "d", NULL), 3);
    ASSERT_INT(intern_string(&other, "e", NULL), 3);
    ASSERT_INT(intern_string(&upper, "a", NULL), 0);
    ASSERT_INT(intern_string(&upper, "c", NULL), 2);
    ASSERT_INT(intern_count(&upper), 4);
    ASSERT_INT(intern_count(&middle), 3);
    ASSERT_INT(intern_count(&lowest), 2);
    ASSERT_INT(intern_find(&other, "d", 1), SOLVER_NONE);
    ASSERT_INT(intern_find(&lowest, "c", 1), SOLVER_NONE);
    static const char *const texts[] = {"a", "b", "c", "d"};
    for (uint32_t i = 0; i < COUNT_OF(texts); i++)
        ASSERT_TEXT(text_of(intern_text(&upper, i)), texts[i]);
    ASSERT_TEXT(text_of(intern_text(&other, 3)), "e");
}

/* An empty table between two others changes nothing, however many there are. */
static void test_over_empty_tables(void)
{
    struct intern lowest = fresh();
    struct intern over_nothing = intern_over(arena, &lowest);
    ASSERT_INT(intern_count(&over_nothing), 0);
    ASSERT_INT(intern_string(&over_nothing, "a", NULL), 0);
    intern_string(&lowest, "a", NULL);
    intern_string(&lowest, "b", NULL);
    struct intern empty = intern_over(arena, &lowest), again = intern_over(arena, &empty);
    struct intern upper = intern_over(arena, &again);
    ASSERT_INT(intern_count(&upper), 2);
    ASSERT_INT(intern_string(&upper, "b", NULL), 1);
    ASSERT_INT(intern_string(&upper, "c", NULL), 2);
    ASSERT_TEXT(text_of(intern_text(&upper, 0)), "a");
    ASSERT_TEXT(text_of(intern_text(&upper, 2)), "c");
}

static void test_hash(void)
{
    for (size_t i = 0; i < COUNT_OF(strings); i++) {
        uint64_t hash = intern_hash(strings[i].bytes, strings[i].size, 0);
        CU_ASSERT_EQUAL(intern_hash(strings[i].bytes, strings[i].size, 0), hash);
        CU_ASSERT_NOT_EQUAL(intern_hash(strings[i].bytes, strings[i].size, 1), hash);
        for (size_t j = 0; j < i; j++)
            CU_ASSERT_NOT_EQUAL(intern_hash(strings[j].bytes, strings[j].size, 0), hash);
    }
}

/* Whatever byte the keys differ in, few of them meet in one slot: a table is searched from there.
 */
static void test_hash_spreads(void)
{
    enum { KEYS = 4096, SLOTS = 8192, MOST = 10, BYTES = 24 };
    for (size_t at = 0; at + 2 <= BYTES; at++) {
        static uint8_t met[SLOTS];
        unsigned most = 0;
        memset(met, 0, sizeof met);
        for (uint16_t i = 0; i < KEYS; i++) {
            char key[BYTES] = "default/deployment-name";
            memcpy(key + at, &i, sizeof i);
            uint8_t *slot = &met[intern_hash(key, BYTES, 0) % SLOTS];
            most = ++*slot > most ? *slot : most;
        }
        CU_ASSERT_TRUE(most <= MOST);
    }
}

static void test_fingerprints(void)
{
    (void)fresh();
    struct fingerprint one = {.arena = arena}, other = {.arena = arena};
    fingerprint_bytes(&one, NULL, 0);
    ASSERT_INT(one.size, 0);
    fingerprint_number(&one, 7);
    ASSERT_INT(one.size, sizeof(uint64_t));
    /* A string says where it ends, so that two are not mistaken for two others. */
    fingerprint_string(&one, "ab");
    fingerprint_string(&one, "c");
    fingerprint_number(&other, 7);
    fingerprint_string(&other, "a");
    fingerprint_string(&other, "bc");
    ASSERT_INT(one.size, other.size);
    CU_ASSERT_TRUE(memcmp(one.bytes, other.bytes, one.size) != 0);
}

/* What was there before stays as the fingerprint grows: a bit at a time, and by very much at
 * once. */
static void test_long_fingerprints(void)
{
    static const size_t parts[] = {1, 254, 1, 1, 255, 256, 2000, 1, 5000};
    (void)fresh();
    struct fingerprint grown = {.arena = arena};
    static unsigned char expected[8000];
    size_t size = 0;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        for (size_t j = 0; j < parts[i]; j++)
            expected[size + j] = (unsigned char)(size + j + i);
        fingerprint_bytes(&grown, expected + size, parts[i]);
        size += parts[i];
        ASSERT_INT(grown.size, size);
        CU_ASSERT_TRUE(grown.capacity >= size);
        CU_ASSERT_TRUE(memcmp(grown.bytes, expected, size) == 0);
    }
}

const char unit_suite[] = "solver intern";
const struct unit_test unit_tests[] = {
    {"numbers in order of arrival", test_numbers_in_order_of_arrival},
    {"bytes are copied", test_bytes_are_copied},
    {"many", test_many},
    {"tables over each other", test_tables_over_each_other},
    {"over empty tables", test_over_empty_tables},
    {"hash", test_hash},
    {"the hash spreads", test_hash_spreads},
    {"fingerprints", test_fingerprints},
    {"long fingerprints", test_long_fingerprints},
    {NULL, NULL},
};
