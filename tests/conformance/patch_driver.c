/* Reads files of the public JSON patch suite: a list of {doc, patch, expected | error}. Prints
 * "passed", "skipped" (disabled, or an operation that doc_patch leaves out) or "FAILED" and the
 * comment of each case. */
#include <stdio.h>

#include "base/base.h"

static const struct doc_limits limits = {.bytes = 4 << 20, .nodes = 100000, .depth = 64};

enum reading { READ, WRONG, LEFT_OUT };

static enum reading read_change(const struct node *operation, struct patch_op *change)
{
    static const enum patch_verb ops[] = {PATCH_ADD, PATCH_REMOVE, PATCH_REPLACE, PATCH_TEST};
    struct text op = node_string(node_get(operation, "op"));
    if (text_is(op, "move") || text_is(op, "copy"))
        return LEFT_OUT;
    *change = (struct patch_op){.path = node_string(node_get(operation, "path")),
                                .value = node_get(operation, "value")};
    if (!node_is(node_get(operation, "path"), NODE_STRING))
        return WRONG;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (text_is(op, patch_verb_name(ops[i]))) {
            change->op = ops[i];
            return READ;
        }
    return WRONG;
}

static const char *run(const struct node *test, struct arena *arena)
{
    const struct node *patch = node_get(test, "patch");
    const struct node *document = node_get(test, "doc");
    const struct node *disabled = node_get(test, "disabled");
    if (node_true(disabled))
        return "skipped";
    size_t count = node_count(patch);
    struct patch_op *changes = ARENA_ARRAY(arena, count, struct patch_op);
    bool wrong = false;
    for (size_t i = 0; i < count; i++) {
        enum reading reading = read_change(node_item(patch, i), &changes[i]);
        if (reading == LEFT_OUT)
            return "skipped";
        wrong |= reading == WRONG;
    }
    const struct node *patched;
    struct error error;
    bool done = !wrong && doc_patch(document, changes, count, arena, &patched, &error);
    if (node_get(test, "error") != NULL)
        return done ? "FAILED" : "passed";
    const struct node *expected = node_get(test, "expected");
    return done && (expected == NULL || node_equal(patched, expected)) ? "passed" : "FAILED";
}

static bool run_file(const char *path, struct arena *arena)
{
    struct source source = {.file = path};
    struct problems duplicates = {.arena = arena};
    const struct node *tests;
    struct error error;
    if (!file_read(path, limits.bytes, arena, &source.text, &error) ||
        !doc_read_json(&source, &limits, &duplicates, arena, &tests, &error)) {
        fprintf(stderr, "%s: %s\n", path, error.what);
        return false;
    }
    for (size_t i = 0; i < node_count(tests); i++) {
        const struct node *test = node_item(tests, i);
        struct text comment = node_string(node_get(test, "comment"));
        if (comment.size == 0)
            comment = node_string(node_get(test, "error"));
        printf("%s %zu %.*s\n", run(test, arena), i, TEXT_ARGS(comment));
    }
    return true;
}

int main(int argc, char **argv)
{
    struct arena *arena = arena_create((size_t)64 << 20);
    bool done = arena != NULL;
    for (int i = 1; i < argc && done; i++)
        done = run_file(argv[i], arena);
    arena_destroy(arena);
    return done ? 0 : 1;
}
