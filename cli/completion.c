/* `taffrail completion`: completions for bash. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

int command_completion(int argc, char **argv)
{
    static const struct option_spec table[] = {{0}};
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "completion bash",
                     "Load it with: source <(taffrail completion bash)\n", &operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    if (operands.count != 1 || strcmp(operands.items[0], "bash") != 0)
        return usage_error("completion", "name the shell: bash");
    /* The script asks the program for its options, so it is never out of date. */
    printf("_taffrail() {\n"
           "  local word=${COMP_WORDS[COMP_CWORD]}\n"
           "  if ((COMP_CWORD == 1)); then\n"
           "    mapfile -t COMPREPLY < <(compgen -W '");
    for (const struct command *command = commands; command->name != NULL; command++)
        printf("%s%s", command == commands ? "" : " ", command->name);
    printf("' -- \"$word\")\n"
           "  elif [[ $word == -* ]]; then\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$(\"${COMP_WORDS[0]}\" "
           "\"${COMP_WORDS[1]}\" --help 2>/dev/null |\n"
           "      grep -oE -- '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')\" -- "
           "\"$word\")\n"
           "  else\n"
           "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
           "  fi\n"
           "}\n"
           "complete -o filenames -F _taffrail taffrail kubectl-taffrail\n");
    return EXIT_CLEAN;
}
