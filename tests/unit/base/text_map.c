/* Maps from texts to numbers. */
#include "unit.h"

#include <string.h>

#include "base/base.h"

static struct text name_of(struct arena *arena, size_t number)
{
    return arena_printf(arena, "name-%zu", number);
}

static void what_is_added_is_found(void)
{
    enum { COUNT = 5000 };
    struct arena *arena = arena_create(16 << 20);
    struct text_map map = {0};
    CU_ASSERT_FALSE(text_map_has(&map, TEXT("")));
    for (size_t i = 0; i < COUNT; i++) {
        struct text name = name_of(arena, i);
        CU_ASSERT_FALSE(text_map_has(&map, name));
        CU_ASSERT_TRUE(text_map_add(&map, arena, name));
        CU_ASSERT_FALSE(text_map_add(&map, arena, name_of(arena, i / 2)));
        ASSERT_INT(map.count, i + 1);
    }
    for (size_t i = 0; i < COUNT; i++) {
        ASSERT_TEXT(map.items[i].key, name_of(arena, i).data);
        ASSERT_INT(text_map_get(&map, name_of(arena, i), 77), i < COUNT / 2 ? 3 : 1);
    }
    ASSERT_INT(text_map_get(&map, TEXT("name-"), 77), 77);
    *text_map_at(&map, arena, TEXT("name-7")) = 42;
    *text_map_at(&map, arena, TEXT("")) = 43;
    ASSERT_INT(text_map_get(&map, TEXT("name-7"), 0), 42);
    ASSERT_INT(text_map_get(&map, TEXT(""), 0), 43);
    arena_destroy(arena);
}

static void few_take_no_table(void)
{
    struct arena *arena = arena_create(1 << 20);
    struct text_map map = {0};
    for (size_t i = 0; i < 8; i++)
        (void)text_map_add(&map, arena, name_of(arena, i));
    CU_ASSERT_PTR_NULL(map.slots);
    (void)text_map_add(&map, arena, name_of(arena, 8));
    CU_ASSERT_PTR_NOT_NULL(map.slots);
    for (size_t i = 0; i < 9; i++)
        CU_ASSERT_TRUE(text_map_has(&map, name_of(arena, i)));
    arena_destroy(arena);
}

const char unit_suite[] = "base text map";
const struct unit_test unit_tests[] = {
    {"what is added is found", what_is_added_is_found},
    {"few take no table", few_take_no_table},
    {NULL, NULL},
};
