/* Lists of texts, and the children of a field one after the other. */
#include "base/base.h"
#include "unit.h"

static const struct text words[] = {TEXT("a"), TEXT("b"), TEXT("c*")};

static void words_are_found(void)
{
    CU_ASSERT(texts_have(words, 3, TEXT("b")));
    CU_ASSERT(!texts_have(words, 1, TEXT("b")));
    CU_ASSERT(!texts_have(words, 3, TEXT("cd")));
    CU_ASSERT(texts_match(words, 3, TEXT("cd")));
    CU_ASSERT(!texts_match(words, 2, TEXT("cd")));
    CU_ASSERT(TEXT_IS_ONE_OF(TEXT("Job"), "CronJob", "Job"));
    CU_ASSERT(!TEXT_IS_ONE_OF(TEXT("Jo"), "CronJob", "Job"));
}

static void words_are_joined(void)
{
    struct arena *arena = arena_create(1 << 16);
    ASSERT_TEXT(texts_join(words, 3, SIZE_MAX, arena), "a, b, c*");
    ASSERT_TEXT(texts_join(words, 3, 2, arena), "a, b, ... (3)");
    ASSERT_TEXT(texts_join(words, 0, 2, arena), "");
    ASSERT_TEXT(texts_or(words, 3, arena), "a, b or c*");
    ASSERT_TEXT(texts_or(words, 1, arena), "a");
    ASSERT_TEXT(texts_and(words, 3, 3, arena), "a, b and c*");
    ASSERT_TEXT(texts_and(words, 3, 2, arena), "a, b and 1 more");
    ASSERT_TEXT(texts_and(words, 1, 2, arena), "a");
    arena_destroy(arena);
}

static struct text paths_below(const char *json, struct arena *arena)
{
    struct source source = {.text = text_of(json)};
    const struct node *root = NULL;
    struct error error;
    struct text_builder paths = {.arena = arena};
    CU_ASSERT_FATAL(doc_read_json(&source, &doc_limits_review, NULL, arena, &root, &error));
    FOR_FIELDS(item, arena, field_root(arena, root))
        text_builder_list(&paths, field_path(arena, item));
    FOR_MEMBERS(member, arena, field_root(arena, root))
        text_builder_list(&paths, field_path(arena, member));
    return text_builder_text(&paths);
}

static void children_come_with_their_fields(void)
{
    struct arena *arena = arena_create(1 << 16);
    ASSERT_TEXT(paths_below("[1,2]", arena), "[0], [1]");
    ASSERT_TEXT(paths_below("{\"a\":1,\"b\":{}}", arena), "a, b");
    ASSERT_TEXT(paths_below("[]", arena), "");
    ASSERT_TEXT(paths_below("\"ab\"", arena), "");
    arena_destroy(arena);
}

const char unit_suite[] = "lists of texts";
const struct unit_test unit_tests[] = {
    {"words are found", words_are_found},
    {"words are joined", words_are_joined},
    {"children come with their fields", children_come_with_their_fields},
    {NULL, NULL},
};
