/* `taffrail completion`: completions for shells. Their scripts ask the program what a word may
 * become, so they are never out of date. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "policy/policy.h"

/* ---- the scripts ---- */

/* The last line of what the program tells is ":NUMBER", as in completion_candidates. */
static const char bash_script[] =
    "_taffrail() {\n"
    "  local word=${COMP_WORDS[COMP_CWORD]} lines rule\n"
    "  [[ $word == = ]] && word=\n"
    "  mapfile -t lines < <(\"${COMP_WORDS[0]}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
    "2>/dev/null)\n"
    "  ((${#lines[@]})) || return\n"
    "  rule=${lines[-1]}\n"
    "  unset 'lines[-1]'\n"
    "  COMPREPLY=(\"${lines[@]%%$'\\t'*}\")\n"
    "  case $rule in\n"
    "    :0) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;\n"
    "    :16) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;\n"
    "  esac\n"
    "}\n"
    "complete -F _taffrail taffrail kubectl-taffrail\n";

static const char zsh_script[] =
    "#compdef taffrail kubectl-taffrail\n"
    "_taffrail() {\n"
    "  local -a lines candidates\n"
    "  local line rule\n"
    "  lines=(\"${(@f)$(\"${words[1]}\" __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "  rule=${lines[-1]}\n"
    "  for line in \"${(@)lines[1,-2]}\"; do\n"
    "    candidates+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "  done\n"
    "  case $rule in\n"
    "    :0) _files ;;\n"
    "    :16) _files -/ ;;\n"
    "    *) compset -P '--*='; _describe -t values value candidates ;;\n"
    "  esac\n"
    "}\n"
    "if [[ $funcstack[1] == _taffrail ]]; then _taffrail \"$@\"; else compdef _taffrail taffrail "
    "kubectl-taffrail; fi\n";

static const char fish_script[] =
    "function __taffrail_complete\n"
    "  set -l words (commandline -opc)\n"
    "  set -l word (commandline -ct)\n"
    "  set -l lines ($words[1] __complete $words[2..-1] \"$word\" 2>/dev/null)\n"
    "  test (count $lines) -gt 0; or return\n"
    "  set -l start (string match -r -- '^--[^=]+=' \"$word\")\n"
    "  switch $lines[-1]\n"
    "    case :0\n"
    "      __fish_complete_path \"$word\"\n"
    "    case :16\n"
    "      __fish_complete_directories \"$word\"\n"
    "    case '*'\n"
    "      for line in $lines[1..-2]\n"
    "        echo \"$start\"$line\n"
    "      end\n"
    "  end\n"
    "end\n"
    "complete -c taffrail -f -a '(__taffrail_complete)'\n"
    "complete -c kubectl-taffrail -f -a '(__taffrail_complete)'\n";

static const struct {
    const char *shell, *script;
} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

int command_completion(int argc, char **argv)
{
    static const struct option_spec table[] = {{0}};
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "completion bash|zsh|fish",
                     "Prints a script for the shell, which completes commands, options and their "
                     "values. The script asks the program, so it need not be made anew.\n",
                     &operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    for (size_t i = 0; operands.count == 1 && i < COUNT_OF(scripts); i++)
        if (strcmp(operands.items[0], scripts[i].shell) == 0) {
            fputs(scripts[i].script, stdout);
            return EXIT_CLEAN;
        }
    return usage_error("completion", "name the shell: bash, zsh or fish");
}

/* ---- what a word may become ---- */

/* What the shell does beside the candidates: cobra's ShellCompDirective. */
enum rule { RULE_FILES = 0, RULE_NOTHING = 4, RULE_FOLDERS = 16 };

struct completing {
    struct text word; /* to be completed */
    char **before;    /* the words before it, from the command's name on */
    int before_count;
    enum rule rule;
};

static void offer(const struct completing *completing, const char *candidate, const char *help)
{
    if (text_starts_with(text_of(candidate), completing->word))
        printf("%s\t%s\n", candidate, help);
}

/* What the first word behind a command may be, where it is not the name of a file. */
static const struct {
    const char *command, *words[4];
} operands[] = {
    {"catalog", {"show", "filter", "import", NULL}},
    {"certs", {"make", NULL}},
    {"completion", {"bash", "zsh", "fish", NULL}},
    {"explain", {"policy", "exceptions", "metrics", NULL}},
    {"policy", {"explain", NULL}},
    {"why", {"pod", "node", NULL}},
};

static void offer_operands(struct completing *completing)
{
    const char *command = completing->before[0];
    completing->rule = RULE_FILES;
    for (size_t i = 0; i < COUNT_OF(operands) && completing->before_count == 1; i++) {
        if (strcmp(operands[i].command, command) != 0)
            continue;
        for (const char *const *word = operands[i].words; *word != NULL; word++)
            offer(completing, *word, "");
        completing->rule = RULE_NOTHING;
    }
    for (size_t i = 0; strcmp(command, "explain") == 0 && i < rail_count(); i++)
        offer(completing, rail_name(rail_at(i)), rail_summary(rail_at(i)));
}

static void offer_values(struct completing *completing, const struct option_spec *spec)
{
    completing->rule = RULE_NOTHING;
    for (size_t i = 0; spec->choices != NULL && spec->choices[i] != NULL; i++)
        offer(completing, spec->choices[i], "");
    if (spec->argument != NULL && strcmp(spec->argument, "FILE") == 0)
        completing->rule = RULE_FILES;
    else if (spec->argument != NULL && strcmp(spec->argument, "DIR") == 0)
        completing->rule = RULE_FOLDERS;
}

static void offer_options(struct completing *completing, const struct option_spec *table)
{
    char name[80];
    completing->rule = RULE_NOTHING;
    for (const struct option_spec *spec = table; spec->name != NULL; spec++) {
        snprintf(name, sizeof name, "--%s", spec->name);
        offer(completing, name, spec->help);
    }
    offer(completing, "--help", "show this");
}

/* "--output" or "-o". NULL: no option, or one without a value. */
static const struct option_spec *option_with_value(const struct option_spec *table,
                                                   struct text written)
{
    for (const struct option_spec *spec = table; spec->name != NULL; spec++) {
        bool named = text_starts_with(written, TEXT("--"))
                         ? text_is((struct text){written.data + 2, written.size - 2}, spec->name)
                         : written.size == 2 && written.data[0] == '-' && spec->letter != 0 &&
                               written.data[1] == spec->letter;
        if (named)
            return spec->kind == OPTION_FLAG ? NULL : spec;
    }
    return NULL;
}

static void complete_word(const struct description *description, void *context)
{
    struct completing *completing = context;
    const struct option_spec *table = description->options;
    const struct option_spec *spec = NULL;
    int last = completing->before_count - 1;
    /* bash makes three words of --output=json. */
    if (text_is(completing->word, "=") && last > 0)
        completing->word = TEXT("");
    else if (last > 1 && strcmp(completing->before[last], "=") == 0)
        last--;
    struct text name, value;
    if (text_starts_with(completing->word, TEXT("--")) &&
        text_split(completing->word, '=', &name, &value)) {
        spec = option_with_value(table, name);
        completing->word = value;
    } else if (last > 0) {
        spec = option_with_value(table, text_of(completing->before[last]));
        if (spec != NULL && spec->kind == OPTION_MAYBE)
            spec = NULL;
    }
    if (spec != NULL)
        offer_values(completing, spec);
    else if (text_starts_with(completing->word, TEXT("-")))
        offer_options(completing, table);
    else
        offer_operands(completing);
}

static void offer_commands(struct completing *completing)
{
    completing->rule = RULE_NOTHING;
    for (const struct command *command = commands; command->name != NULL; command++)
        offer(completing, command->name, command->summary);
    offer(completing, "help", "what a command does");
}

int completion_candidates(int argc, char **argv)
{
    if (argc == 0)
        return EXIT_USAGE;
    struct completing completing = {text_of(argv[argc - 1]), argv, argc - 1, RULE_NOTHING};
    const struct command *command = argc > 1 ? command_find(argv[0]) : NULL;
    if (argc == 1 || (argc == 2 && strcmp(argv[0], "help") == 0))
        offer_commands(&completing);
    else if (command != NULL)
        options_describe(command, complete_word, &completing);
    printf(":%d\n", completing.rule);
    return EXIT_CLEAN;
}
