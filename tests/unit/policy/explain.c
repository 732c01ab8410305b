/* The registry of rails, and the pages that the tables of keys become. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "policy/rail.h"
#include "unit.h"

enum { PAGE_COLUMNS = 80 };

static bool holds(struct text page, const char *part)
{
    bool found = memmem(page.data, page.size, part, strlen(part)) != NULL;
    if (!found)
        fprintf(stderr, "%.*s\n  does not hold \"%s\"\n", TEXT_ARGS(page), part);
    return found;
}

/* Only a word that is longer than the page may go over its edge, and no line ends in a space. */
static void assert_fits(struct text page)
{
    while (page.size > 0) {
        struct text line;
        CU_ASSERT_TRUE_FATAL(text_split(page, '\n', &line, &page));
        struct text last_word = line;
        text_split_last(line, ' ', NULL, &last_word);
        bool fits = line.size <= PAGE_COLUMNS || last_word.size > PAGE_COLUMNS / 2;
        if (!fits || text_ends_with(line, TEXT(" ")))
            fprintf(stderr, "\"%.*s\"\n", TEXT_ARGS(line));
        CU_ASSERT_TRUE(fits);
        CU_ASSERT_FALSE(text_ends_with(line, TEXT(" ")));
    }
}

static void assert_keys_are_told(struct text page, const struct key *keys, const char *prefix)
{
    for (const struct key *key = keys; key != NULL && key->name != NULL; key++) {
        char path[128];
        snprintf(path, sizeof path, "\n  %s%s ", prefix, key->name);
        CU_ASSERT_TRUE(holds(page, path));
        snprintf(path, sizeof path, "%s%s.", prefix, key->name);
        assert_keys_are_told(page, key->children, path);
    }
}

static void rails_are_found_by_name(void)
{
    CU_ASSERT_TRUE(rail_count() > 0);
    for (size_t i = 0; i < rail_count(); i++) {
        const struct rail *rail = rail_at(i);
        CU_ASSERT_PTR_EQUAL(rail_find(text_of(rail_name(rail))), rail);
        CU_ASSERT_TRUE(i == 0 || strcmp(rail_name(rail_at(i - 1)), rail_name(rail)) < 0);
        CU_ASSERT_TRUE(rail_summary(rail)[0] != '\0' && strchr(rail_summary(rail), '\n') == NULL);
        CU_ASSERT_TRUE(rail->kinds != 0 && rail->judge != NULL);
        CU_ASSERT_EQUAL(rail->change == NULL, rail->may_change == NULL);
    }
    CU_ASSERT_PTR_NULL(rail_find(TEXT("")));
    CU_ASSERT_PTR_NULL(rail_find(TEXT("topology-key")));
}

static void every_key_of_a_rail_is_explained(void)
{
    for (size_t i = 0; i < rail_count(); i++) {
        struct arena *arena = arena_create(1 << 20);
        const struct rail *rail = rail_at(i);
        struct text page = rail_explain(rail, arena);
        assert_fits(page);
        assert_keys_are_told(page, rail->keys, "");
        CU_ASSERT_TRUE(holds(page, rail->name));
        CU_ASSERT_TRUE(holds(page, "\n  mode "));
        CU_ASSERT_TRUE(holds(page, "\n  since "));
        arena_destroy(arena);
    }
}

/* What no rail has yet. */
static void lists_of_maps_and_custom_resources_are_explained(void)
{
    static const struct key children[] = {
        {.name = "size", .type = KEY_INTEGER, .summary = "how large"}, {0}};
    static const struct key keys[] = {
        {.name = "shelves", .type = KEY_MAPS, .summary = "which shelves", .children = children},
        {0}};
    static const struct rail rail = {.name = "shelf",
                                     .summary = "shelves that hold",
                                     .detail = "What stands on them.",
                                     .example = "shelf:\n\n  shelves: []\n",
                                     .kinds = KIND_BIT(KIND_CUSTOM),
                                     .keys = keys};
    struct arena *arena = arena_create(1 << 20);
    struct text page = rail_explain(&rail, arena);
    assert_fits(page);
    CU_ASSERT_TRUE(holds(page, "\nOn: the pod templates of custom resources\n"));
    CU_ASSERT_TRUE(holds(page, "\n  shelves[].size "));
    CU_ASSERT_TRUE(holds(page, "\n      shelf:\n\n        shelves: []\n"));
    arena_destroy(arena);
}

static void the_policy_file_is_explained(void)
{
    struct arena *arena = arena_create(1 << 20);
    struct text page = policy_explain(arena);
    assert_fits(page);
    static const char *const parts[] = {
        "\nKeys, under metadata:\n  name ",
        "\nKeys, under spec.match:\n",
        "off, audit, warn, enforce\n",
        "default: audit\n",
        "\n  excludeGroups ",
        "\nKeys, under spec.exceptions[]:\n  id ",
        "\n  expires                 day, or time (RFC 3339) (required)\n",
        "\nKeys, under spec.exceptions[].match:\n",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        CU_ASSERT_TRUE(holds(page, parts[i]));
    for (size_t i = 0; i < rail_count(); i++)
        CU_ASSERT_TRUE(holds(page, rail_summary(rail_at(i))));
    arena_destroy(arena);
}

/* Loads a text as a policy file; what it is refused for is printed. */
static bool loads(struct text text)
{
    struct arena *arena = arena_create(64 << 20);
    char path[] = "/tmp/taffrail-unit-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0 && write(fd, text.data, text.size) == (ssize_t)text.size);
    close(fd);
    const char *const paths[] = {path};
    const struct policy_set *set = NULL;
    struct problems errors = {.arena = arena};
    struct problems warnings = {.arena = arena};
    bool good = policy_load(paths, 1, catalog_builtin(arena), arena, &set, &errors, &warnings);
    unlink(path);
    for (size_t i = 0; i < errors.count; i++)
        fprintf(stderr, "%u: %s\n", errors.items[i].place.line, errors.items[i].what);
    good = good && policy_set_count(set) == 1;
    arena_destroy(arena);
    return good;
}

/* The lines after "Example:". */
static struct text example_of(struct text page)
{
    static const char title[] = "\nExample:\n";
    const char *found = memmem(page.data, page.size, title, strlen(title));
    CU_ASSERT_PTR_NOT_NULL_FATAL(found);
    const char *begin = found + strlen(title);
    return (struct text){begin, page.size - (size_t)(begin - page.data)};
}

static void the_examples_on_the_pages_load(void)
{
    struct arena *arena = arena_create(64 << 20);
    CU_ASSERT_TRUE(loads(example_of(policy_explain(arena))));
    for (size_t i = 0; i < rail_count(); i++) {
        struct text example = example_of(rail_explain(rail_at(i), arena));
        struct text policy = arena_printf(arena,
                                          "  apiVersion: taffrail.dev/v1alpha1\n"
                                          "  kind: GuardRails\n"
                                          "  metadata: {name: p}\n"
                                          "%.*s",
                                          TEXT_ARGS(example));
        CU_ASSERT_TRUE(loads(policy));
    }
    arena_destroy(arena);
}

static void every_rail_loads_with_its_defaults(void)
{
    struct arena *arena = arena_create(64 << 20);
    for (size_t i = 0; i < rail_count(); i++)
        CU_ASSERT_TRUE(loads(arena_printf(arena,
                                          "apiVersion: taffrail.dev/v1alpha1\n"
                                          "kind: GuardRails\n"
                                          "metadata: {name: p}\n"
                                          "spec: {rails: {%s: {}}}\n",
                                          rail_name(rail_at(i)))));
    arena_destroy(arena);
}

const char unit_suite[] = "policy explain";
const struct unit_test unit_tests[] = {
    {"rails are found by name", rails_are_found_by_name},
    {"every key of a rail is explained", every_key_of_a_rail_is_explained},
    {"lists of maps and custom resources are explained",
     lists_of_maps_and_custom_resources_are_explained},
    {"the policy file is explained", the_policy_file_is_explained},
    {"the examples on the pages load", the_examples_on_the_pages_load},
    {"every rail loads with its defaults", every_rail_loads_with_its_defaults},
    {NULL, NULL},
};
