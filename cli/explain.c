/* `taffrail explain`: what a rail checks. */
#include <stdio.h>

#include "cli/cli.h"
#include "policy/policy.h"
#include "server/metric_table.h"

/* Beside the names of rails. */
static const struct page {
    const char *name;
    struct text (*print)(struct arena *arena);
} pages[] = {
    {"policy", policy_explain},
    {"exceptions", exceptions_explain},
    {"metrics", metric_page},
};

static int print_list(void)
{
    printf("Rails, for use under spec.rails of a policy file:\n\n");
    for (size_t i = 0; i < rail_count(); i++)
        printf("  %-22s %s\n", rail_name(rail_at(i)), rail_summary(rail_at(i)));
    printf("\n`taffrail explain RAIL` shows what a rail checks, its keys and an example;\n"
           "`taffrail explain policy` the keys of the policy file itself, `taffrail explain\n"
           "exceptions` those of exceptions in a document of their own, and `taffrail explain\n"
           "metrics` what `serve` counts.\n");
    return EXIT_CLEAN;
}

static int say_unknown(struct arena *arena, struct text wanted)
{
    size_t count = rail_count() + COUNT_OF(pages);
    struct text *names = ARENA_ARRAY(arena, count, struct text);
    for (size_t i = 0; i < rail_count(); i++)
        names[i] = text_of(rail_name(rail_at(i)));
    for (size_t i = 0; i < COUNT_OF(pages); i++)
        names[rail_count() + i] = text_of(pages[i].name);
    size_t nearest = text_meant(wanted, names, count);
    if (nearest < count)
        return usage_error("explain", "there is no rail \"%.*s\"; did you mean %.*s?",
                           TEXT_ARGS(wanted), TEXT_ARGS(names[nearest]));
    return usage_error("explain",
                       "there is no rail \"%.*s\"; `taffrail explain` lists those there are",
                       TEXT_ARGS(wanted));
}

static const struct page *page_find(struct text name)
{
    for (size_t i = 0; i < COUNT_OF(pages); i++)
        if (text_is(name, pages[i].name))
            return &pages[i];
    return NULL;
}

static int print_page(struct arena *arena, void *argument)
{
    struct text wanted = text_of(argument);
    const struct rail *rail = rail_find(wanted);
    const struct page *other = page_find(wanted);
    if (rail == NULL && other == NULL)
        return say_unknown(arena, wanted);
    struct text page = rail != NULL ? rail_explain(rail, arena) : other->print(arena);
    fwrite(page.data, 1, page.size, stdout);
    return EXIT_CLEAN;
}

int command_explain(int argc, char **argv)
{
    static const struct option_spec table[] = {{0}};
    struct string_list operands = {0};
    enum options_result result = options_read(
        argc, argv, table, "explain [RAIL | policy | exceptions | metrics]",
        "Without a name it lists the rails; policy is the page on the policy "
        "file itself, exceptions\nthat on exceptions in a document of their own, metrics "
        "that on what `serve` counts.\n",
        &operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    if (operands.count == 0)
        return print_list();
    if (operands.count > 1)
        return usage_error("explain", "one rail at a time; \"%s\" is too much", operands.items[1]);
    return run_in_arena(print_page, (void *)operands.items[0]);
}
