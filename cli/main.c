/* The program: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "cli/cli.h"

const struct command commands[] = {
#ifdef TAFFRAIL_SERVE
    {"serve", "answer a cluster's admission reviews over HTTPS", command_serve},
#endif
    {"check", "judge manifests before they are pushed", command_check},
    {"test", "hold policies against cases: manifests, and what to find", command_test},
    {"plan", "what the provisioner would buy for the pending pods", command_plan},
    {"impact", "which nodes a change would replace, how fast, and what blocks", command_impact},
    {"why", "why a pod is pending or where it is, why a node is still there", command_why},
    {"audit", "what already runs and breaks a rail", command_audit},
    {"replay", "what other policies would have said to what an audit log has", command_replay},
    {"explain", "what a rail checks, its keys and defaults", command_explain},
    {"policy", "what holds for an object here, and which file and line says so", command_policy},
    {"schema", "the JSON Schema of policy files, for editors", command_schema},
    {"convert", "old pools and node classes as Karpenter's v1 objects", command_convert},
    {"catalog", "show and filter instance types", command_catalog},
    {"render", "the install manifests, filled in", command_render},
    {"certs", "make certificates for the webhook", command_certs},
    {"completion", "completions for bash, zsh and fish", command_completion},
    {"version", "the version of this program", command_version},
    {NULL, NULL, NULL},
};

static void print_usage(FILE *out)
{
    fprintf(out, "Taffrail guards the rails of compute and placement in a Kubernetes cluster.\n\n"
                 "usage: taffrail COMMAND [OPTIONS]\n\n");
    for (const struct command *command = commands; command->name != NULL; command++)
        fprintf(out, "  %-12s %s\n", command->name, command->summary);
    fprintf(out, "\ntaffrail help COMMAND tells more. Exit codes: 0 clean, 1 findings, 2 usage,\n"
                 "policy or input error, 3 cluster not reachable.\n");
}

int command_version(int argc, char **argv)
{
    static const struct option_spec table[] = {{0}};
    struct string_list operands = {0};
    enum options_result result = options_read(argc, argv, table, "version", NULL, &operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    if (operands.count > 0)
        return usage_error("version", "it takes no arguments");
    printf("taffrail %s\n", taffrail_version);
    return EXIT_CLEAN;
}

static int say_unknown_command(const char *written)
{
    enum { COUNT = COUNT_OF(commands) - 1 };
    struct text names[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        names[i] = text_of(commands[i].name);
    size_t nearest = text_meant(text_of(written), names, COUNT);
    fprintf(stderr, "taffrail: there is no command \"%s\"", written);
    if (nearest < COUNT)
        fprintf(stderr, "; did you mean %s?", commands[nearest].name);
    fprintf(stderr, "\ntry: taffrail --help\n");
    return EXIT_USAGE;
}

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name != NULL; command++)
        if (strcmp(name, command->name) == 0)
            return command;
    return NULL;
}

static int help(const char *name)
{
    char flag[] = "--help";
    const struct command *command = name == NULL ? NULL : command_find(name);
    if (name != NULL && command == NULL)
        return say_unknown_command(name);
    if (command != NULL)
        return command->run(2, (char *[]){(char *)command->name, flag, NULL});
    print_usage(stdout);
    return EXIT_CLEAN;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0)
        return command_version(1, argv);
    if (strcmp(name, "__complete") == 0)
        return completion_candidates(argc - 2, argv + 2);
    if (strcmp(name, "__manual") == 0 && argc == 3)
        return manual_write(argv[2]);
    const struct command *command = command_find(name);
    return command == NULL ? say_unknown_command(name) : command->run(argc - 1, argv + 1);
}

/* An incomplete report must not look complete. */
static int finish_output(int code)
{
    bool failed_before = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !failed_before)
        return code;
    fprintf(stderr, "error: standard output could not be written; what is there is not complete\n");
    return code > EXIT_USAGE ? code : EXIT_USAGE;
}

int main(int argc, char **argv)
{
    int code = finish_output(run(argc, argv));
    options_free();
    return code;
}
