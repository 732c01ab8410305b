/* Any document and any patch ({"doc": ..., "patch": [...]}): no crash, the old tree does not
 * change, and a value that was set at a path is found there. */
/* reads: base/doc_patch.c */
#include "base/base.h"
#include "fuzz.h"

enum { ARENA_BYTES = 64 << 20, CHANGES_MAX = 64 };

static const struct doc_limits limits = {.bytes = 1 << 16, .nodes = 10000, .depth = 64};
static struct arena *arena;

static struct patch_op change_of(const struct node *operation)
{
    struct patch_op change = {
        .op = PATCH_ADD,
        .path = node_string(node_get(operation, "path")),
        .value = node_get(operation, "value"),
    };
    for (enum patch_verb op = PATCH_ADD; op <= PATCH_TEST; op++)
        if (text_is(node_string(node_get(operation, "op")), patch_verb_name(op)))
            change.op = op;
    return change;
}

static bool one_after_the_other(const struct node *document, const struct patch_op *changes,
                                size_t count, const struct node **patched)
{
    *patched = document;
    for (size_t i = 0; i < count; i++) {
        struct error error;
        if (!doc_patch(*patched, &changes[i], 1, arena, patched, &error))
            return false;
        struct patch_op test = {PATCH_TEST, changes[i].path, changes[i].value};
        const struct node *same;
        bool ends_open = text_ends_with(test.path, TEXT("/-"));
        if (changes[i].op != PATCH_REMOVE && !ends_open)
            REQUIRE(doc_patch(*patched, &test, 1, arena, &same, &error));
    }
    return true;
}

static void run(void *argument)
{
    const struct text *input = argument;
    const struct node *root = fuzz_tree(*input, &limits, arena);
    const struct node *before = fuzz_tree(*input, &limits, arena);
    const struct node *document = node_get(root, "doc");
    const struct node *patch = node_get(root, "patch");
    if (document == NULL)
        return;
    struct patch_op changes[CHANGES_MAX];
    size_t count = node_count(patch) < CHANGES_MAX ? node_count(patch) : CHANGES_MAX;
    for (size_t i = 0; i < count; i++)
        changes[i] = change_of(node_item(patch, i));
    const struct node *patched;
    const struct node *stepwise;
    struct error error = {0};
    bool done = doc_patch(document, changes, count, arena, &patched, &error);
    REQUIRE(done || error.kind == ERROR_INPUT);
    REQUIRE(one_after_the_other(document, changes, count, &stepwise) == done);
    REQUIRE(!done || node_equal(patched, stepwise));
    REQUIRE(node_equal(root, before));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_text(&arena, ARENA_BYTES, run, data, size);
}
