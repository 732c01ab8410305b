/* What draft.c makes of a draft: which of a list is shown, and what was meant. */
#include "policy/evaluation.h"
#include "unit.h"

static const struct text sizes[] = {TEXT("large"),   TEXT("xlarge"),  TEXT("2xlarge"),
                                    TEXT("4xlarge"), TEXT("8xlarge"), TEXT("metal")};

/* By length alone: a nearness that has nothing to do with spelling. */
static size_t by_length(struct text allowed, struct text found, size_t limit, const void *about)
{
    (void)limit;
    const size_t *factor = about;
    return *factor *
           (allowed.size > found.size ? allowed.size - found.size : found.size - allowed.size);
}

static struct text nearest_of(const struct allowed *allowed, struct text wanted,
                              struct arena *arena)
{
    struct text_list nearest = nearest_allowed(allowed, wanted, arena);
    return texts_join(nearest.items, nearest.count, SIZE_MAX, arena);
}

static void five_are_shown_nearest_first(void)
{
    static const size_t factor = 3;
    struct arena *arena = arena_create(1 << 16);
    struct allowed allowed = ALLOWED_TEXTS(sizes, COUNT_OF(sizes));
    ASSERT_TEXT(nearest_of(&allowed, TEXT(""), arena), "large, xlarge, 2xlarge, 4xlarge, 8xlarge");
    ASSERT_TEXT(nearest_of(&allowed, TEXT("8xlarg"), arena),
                "8xlarge, xlarge, 2xlarge, 4xlarge, large");
    /* five that are as near as can be */
    static const size_t same = 0;
    allowed.nearness = by_length;
    allowed.about = &same;
    ASSERT_TEXT(nearest_of(&allowed, TEXT("metal"), arena),
                "large, xlarge, 2xlarge, 4xlarge, 8xlarge");
    allowed.about = &factor;
    ASSERT_TEXT(nearest_of(&allowed, TEXT("8xlarge"), arena),
                "2xlarge, 4xlarge, 8xlarge, xlarge, large");
    arena_destroy(arena);
}

static void what_was_meant_is_the_fix(void)
{
    static const struct {
        struct text found, meant;
        size_t typo_edits;
        bool in_key;
        const char *fix, *replacement;
    } cases[] = {
        {TEXT("big"), TEXT(""), 2, false, "ask", ""},
        {TEXT("xlage"), TEXT(""), 0, false, "ask", ""},
        {TEXT("xlage"), TEXT(""), 2, false, "Use xlarge.", "xlarge"},
        {TEXT("xlage"), TEXT(""), 2, true, "Use xlarge.", ""},
        {TEXT("xlage"), TEXT("metal"), 2, false, "Use metal.", "metal"},
        {TEXT("big"), TEXT("metal"), 0, true, "Use metal.", ""},
    };
    struct arena *arena = arena_create(1 << 16);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct draft draft = draft_finish(
            &(struct draft){
                .found = cases[i].found,
                .allowed = ALLOWED_TEXTS(sizes, COUNT_OF(sizes)),
                .nearest_to = cases[i].found,
                .meant = cases[i].meant,
                .typo_edits = cases[i].typo_edits,
                .in_key = cases[i].in_key,
                .fix = TEXT("ask"),
            },
            arena);
        ASSERT_TEXT(draft.fix, cases[i].fix);
        ASSERT_TEXT(draft.replacement, cases[i].replacement);
    }
    arena_destroy(arena);
}

const char unit_suite[] = "drafts";
const struct unit_test unit_tests[] = {
    {"five are shown, nearest first", five_are_shown_nearest_first},
    {"what was meant is the fix", what_was_meant_is_the_fix},
    {NULL, NULL},
};
