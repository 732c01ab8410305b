/* Policy files in a folder of their own, loaded; and what is said of them. */
#ifndef TAFFRAIL_TESTS_UNIT_POLICY_FILES_H
#define TAFFRAIL_TESTS_UNIT_POLICY_FILES_H

#include "catalog/catalog.h"
#include "folder.h"
#include "policy/policy_set.h"
#include "unit.h"

struct load {
    struct arena *arena;
    bool good;
    const struct policy_set *set;
    struct problems errors, warnings;
};

/* Names are of the folder; ends with NULL. */
static struct load load(const char *const *names)
{
    struct arena *arena = arena_create(64 << 20);
    struct load result = {.arena = arena, .errors = {.arena = arena}, .warnings = {.arena = arena}};
    char paths[8][256];
    const char *pointers[8];
    size_t count = 0;
    for (; names[count] != NULL; count++) {
        path_in_folder(names[count], paths[count]);
        pointers[count] = paths[count];
    }
    result.good = policy_load(pointers, count, catalog_builtin(arena), arena, &result.set,
                              &result.errors, &result.warnings);
    CU_ASSERT_EQUAL(result.good, result.errors.count == 0);
    return result;
}

static inline struct load load_text(const char *name, const char *text)
{
    make_folder();
    write_file(name, text);
    struct load result = load((const char *const[]){name, NULL});
    remove_folder();
    return result;
}

static inline struct load load_good(const char *name, const char *text)
{
    struct load result = load_text(name, text);
    for (size_t i = 0; i < result.errors.count; i++)
        fprintf(stderr, "%s\n%u:%u %s\n", text, result.errors.items[i].place.line,
                result.errors.items[i].place.column, result.errors.items[i].what);
    CU_ASSERT_TRUE_FATAL(result.good);
    return result;
}

static void end(struct load *result)
{
    arena_destroy(result->arena);
}

/* expected: "LINE:COLUMN part of the message" a line, in this order; LINE:COLUMN 0:0 is the file.
 */
static void assert_problems(const struct problems *problems, const char *expected, const char *text)
{
    struct text rest = text_of(expected);
    size_t count = 0;
    for (; rest.size > 0; count++) {
        struct text line = rest;
        if (!text_split(rest, '\n', &line, &rest))
            rest = TEXT("");
        if (count >= problems->count)
            continue;
        const struct error *problem = &problems->items[count];
        char actual[600];
        int size = snprintf(actual, sizeof actual, "%u:%u %s", problem->place.line,
                            problem->place.column, problem->what);
        struct text place;
        struct text part;
        CU_ASSERT_TRUE_FATAL(text_split(line, ' ', &place, &part));
        bool good = strncmp(actual, place.data, place.size) == 0 && actual[place.size] == ' ' &&
                    memmem(actual, (size_t)size, part.data, part.size) != NULL;
        if (!good)
            fprintf(stderr, "%s\n  expected %.*s\n  actual   %s\n", text, TEXT_ARGS(line), actual);
        CU_ASSERT_TRUE(good);
    }
    if (problems->count != count)
        fprintf(stderr, "%s\n  has %zu problems, the last: %s\n", text, problems->count,
                problems->count > 0 ? problems->items[problems->count - 1].what : "");
    ASSERT_INT(problems->count, count);
}

#endif
