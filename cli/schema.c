/* `taffrail schema`: the JSON Schema of policy files. */
#include <stdio.h>

#include "cli/cli.h"
#include "report/report.h"

static int print_schema(struct arena *arena, void *argument)
{
    (void)argument;
    const struct node schema = policy_schema(arena);
    struct text printed;
    struct error error;
    if (!json_print(json_of_node(&schema), true, arena, &printed, &error)) {
        fprintf(stderr, "error: %s\n", error.what);
        return EXIT_USAGE;
    }
    printf("%.*s\n", TEXT_ARGS(printed));
    return EXIT_CLEAN;
}

int command_schema(int argc, char **argv)
{
    static const struct option_spec table[] = {{0}};
    struct string_list operands = {0};
    enum options_result result = options_read(
        argc, argv, table, "schema",
        "Prints the JSON Schema of policy files, with which editors complete and check them. For\n"
        "the YAML language server a file begins with the line\n"
        "# yaml-language-server: $schema=taffrail.schema.json\n",
        &operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    if (operands.count > 0)
        return usage_error("schema", "it takes no arguments");
    return run_in_arena(print_schema, NULL);
}
