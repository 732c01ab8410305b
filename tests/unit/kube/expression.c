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

/* Values that come again and again cost no more than their reading. */
static void repeated_values_are_dropped(void)
{
    const size_t rounds = 500;
    struct arena *arena = arena_create(1 << 22);
    struct text_builder text = {.arena = arena};
    text_builder_add(&text, TEXT("{key: a, operator: In, values: [x"));
    for (size_t i = 0; i < rounds; i++)
        text_builder_add(&text, TEXT(", x, 'y'"));
    text_builder_add(&text, TEXT("]}"));
    struct expression expression = read_one(arena, text_builder_text(&text).data);
    CU_ASSERT_TRUE(expression.valid);
    CU_ASSERT_TRUE(expression.value_count < 2 * rounds);
    CU_ASSERT_TRUE(expression_names(&expression, TEXT("x")));
    CU_ASSERT_TRUE(expression_names(&expression, TEXT("y")));
    CU_ASSERT_FALSE(expression_names(&expression, TEXT("z")));
    arena_destroy(arena);
}

const char unit_suite[] = "kube expressions";
const struct unit_test unit_tests[] = {
    {"min values are few", min_values_are_few},
    {"repeated values are dropped", repeated_values_are_dropped},
    {NULL, NULL},
};
