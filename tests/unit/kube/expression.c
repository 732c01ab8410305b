/* Requirements as people write them. */
#include "kube/expression.h"
#include "object_fixture.h"

static struct expression read_one(struct arena *arena, const char *requirement)
{
    struct expressions expressions = {0};
    struct text pool =
        arena_printf(arena, "{apiVersion: v1, kind: ConfigMap, list: [%s]}", requirement);
    const struct object *object = fixture_object(arena, pool.data, "shop");
    expressions_add_list(&expressions, field_get(arena, object->root, "list"), arena);
    CU_ASSERT_EQUAL_FATAL(expressions.count, 1);
    return expressions.items[0];
}

/* The API server takes 1 to 50. */
static void min_values_are_few(void)
{
    static const struct {
        const char *written;
        uint32_t read;
    } cases[] = {{"1", 1}, {"50", 50}, {"51", 0}, {"0", 0}, {"-1", 0}, {"many", 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct text text = arena_printf(arena, "{key: a, operator: In, values: [b], minValues: %s}",
                                        cases[i].written);
        struct expression expression = read_one(arena, text.data);
        CU_ASSERT_TRUE(expression.valid);
        ASSERT_INT(expression.min_values, cases[i].read);
        arena_destroy(arena);
    }
}

/* Values that come again and again cost no more than their reading: one after the other, and in
 * turns. The seed of their hashes is drawn, and values that share a slot may stay when they come in
 * turns, but never do all of sixteen. */
static void repeated_values_are_dropped(void)
{
    enum { COUNT = 960, NAMES = 16 };
    for (int in_turns = 0; in_turns < 2; in_turns++) {
        struct arena *arena = arena_create(1 << 22);
        struct text_builder text = {.arena = arena};
        struct text names[NAMES];
        for (size_t i = 0; i < NAMES; i++)
            names[i] = arena_printf(arena, "type-%zu", 13 + i * 7919);
        text_builder_add(&text, TEXT("{key: a, operator: In, values: ["));
        for (size_t i = 0; i < COUNT; i++) {
            size_t name = in_turns ? i % NAMES : i / (COUNT / NAMES);
            text_builder_printf(&text, "%s%.*s", i == 0 ? "" : ", ", TEXT_ARGS(names[name]));
        }
        text_builder_add(&text, TEXT("]}"));
        struct expression expression = read_one(arena, text_builder_text(&text).data);
        CU_ASSERT_TRUE(expression.valid);
        CU_ASSERT_TRUE(in_turns ? expression.value_count < COUNT : expression.value_count == NAMES);
        for (size_t i = 0; i < NAMES; i++)
            CU_ASSERT_TRUE(expression_names(&expression, names[i]));
        CU_ASSERT_FALSE(expression_names(&expression, TEXT("type")));
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube expressions";
const struct unit_test unit_tests[] = {
    {"min values are few", min_values_are_few},
    {"repeated values are dropped", repeated_values_are_dropped},
    {NULL, NULL},
};
