/* The command line: one file a command, one table of options each. */
#ifndef TAFFRAIL_CLI_CLI_H
#define TAFFRAIL_CLI_CLI_H

#include "base/base.h"

struct world_options;

/* Exit codes: 2 beats 1. */
enum exit_code { EXIT_CLEAN = 0, EXIT_FINDINGS = 1, EXIT_USAGE = 2, EXIT_UNREACHABLE = 3 };

/* argv[0] is the command's name; the result is the exit code. */
int command_serve(int argc, char **argv);
int command_check(int argc, char **argv);
int command_test(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_why(int argc, char **argv);
int command_impact(int argc, char **argv);
int command_audit(int argc, char **argv);
int command_explain(int argc, char **argv);
int command_policy(int argc, char **argv);
int command_replay(int argc, char **argv);
int command_schema(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_catalog(int argc, char **argv);
int command_render(int argc, char **argv);
int command_certs(int argc, char **argv);
int command_completion(int argc, char **argv);
int command_version(int argc, char **argv);

struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};
extern const struct command commands[]; /* ends with a NULL name */

/* ---- the terminal ---- */

enum { TERMINAL_COLUMNS = 80 }; /* where nobody says */
/* Whether colours may be written to this file descriptor. */
bool terminal_has_colours(int file);
/* How wide it is; 0: it is none, and lines are read by programs. */
size_t terminal_columns(int file);

/* ---- options ---- */

struct string_list {
    const char **items; /* of argv: not owned */
    size_t count;
};
struct text strings_joined(const struct string_list *list, struct arena *arena); /* "a, b" */
size_t string_list_count(const struct string_list *list, const char *item);      /* how often */
enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_STRING, /* const char * */
    OPTION_MAYBE,  /* const char *: --NAME alone is "", --NAME=VALUE the value */
    OPTION_LIST,   /* struct string_list; the option repeats */
    OPTION_CHOICE, /* int: index into choices */
};
struct option_spec {
    char letter; /* 0: none */
    const char *name;
    enum option_kind kind;
    void *target;
    const char *argument, *help;
    const char *const *choices; /* ends with NULL */
};
/* Options that commands share. */
#define OPTION_POLICIES(list)                                                                 \
    {                                                                                         \
        'p', "policy", OPTION_LIST, (list), "FILE", "a policy file or folder (repeats)", NULL \
    }
#define OPTION_CATALOG(file)                                    \
    {                                                           \
        0, "catalog", OPTION_STRING, (file), "FILE",            \
            "instance types instead of the built-in ones", NULL \
    }
#define OPTION_KUBECONFIG(file)                                                                    \
    {                                                                                              \
        0, "kubeconfig", OPTION_STRING, (file), "FILE", "the cluster of its current context", NULL \
    }
#define OPTION_CONTEXT(name)                                                                   \
    {                                                                                          \
        0, "context", OPTION_STRING, (name), "NAME", "another context of the kubeconfig", NULL \
    }
#define OPTION_IN_CLUSTER(flag)                                          \
    {                                                                    \
        0, "in-cluster", OPTION_FLAG, (flag), NULL,                      \
            "the cluster this Pod runs in, as its service account", NULL \
    }

/* ---- what -f names ---- */

struct manifests;

/* Which files are read, and what is no error in them. */
struct input_options {
    struct string_list files, ignore;
    bool strict_files, allow_empty;
    bool recursive; /* kubectl's, which says nothing here */
};
#define OPTIONS_FILES(input, help)                                          \
    {'f', "filename", OPTION_LIST, &(input)->files, "FILE", help, NULL},    \
    {                                                                       \
        'R', "recursive", OPTION_FLAG, &(input)->recursive, NULL,           \
            "as kubectl has it: folders are read to their end anyway", NULL \
    }
#define OPTIONS_INPUT(input)                                                      \
    {0,           "ignore",                                                       \
     OPTION_LIST, &(input)->ignore,                                               \
     "GLOB",      "leave out of folders, as a line of .taffrailignore (repeats)", \
     NULL},                                                                       \
    {                                                                             \
        0, "strict-files", OPTION_FLAG, &(input)->strict_files, NULL,             \
            "a file that holds no Kubernetes object is an error", NULL            \
    }
#define OPTION_ALLOW_EMPTY(input)                                      \
    {                                                                  \
        0, "allow-empty", OPTION_FLAG, &(input)->allow_empty, NULL,    \
            "a path that holds no Kubernetes object is no error", NULL \
    }
/* Prepares manifests to be read so. */
void input_begin(struct manifests *manifests, const struct input_options *options,
                 struct arena *arena);
/* Reads what -f names: files, folders, "-", and addresses of the web. */
void input_read(struct manifests *manifests, const struct input_options *options,
                struct text default_namespace);
/* Takes the parts of objects out, which only kustomize or the like makes whole, and says on stderr
 * which. Returns their number. Those of workloads stay visible where no whole one of the name is.
 */
size_t input_drop_fragments(struct manifests *manifests);
/* Says on stderr what the files hold besides objects to judge, and prints the warnings. */
void input_say(const struct manifests *manifests);

/* ---- help ---- */

/* What `taffrail COMMAND --help` tells of a command. */
struct description {
    const char *command, *usage, *notes; /* notes: NULL for none */
    const struct option_spec *options;   /* ends with a NULL name */
};
void help_print(const struct description *description);
/* Lines of "# what it does" and of commands; never NULL for a command of the table. */
const char *help_examples(const char *command);
/* Prints words as wide as the terminal: lines that begin with a blank or a # stay as they are. */
void help_put_notes(const char *notes, size_t columns);
/* Has the command describe itself instead of doing something. */
void options_describe(const struct command *command,
                      void (*describe)(const struct description *description, void *context),
                      void *context);
const struct command *command_find(const char *name); /* NULL: there is none */

/* Hidden commands: what a shell may complete the words to, in the protocol of cobra, which kubectl
 * speaks with its plugins; and the manual pages, into a folder. */
int completion_candidates(int argc, char **argv);
int manual_write(const char *folder);

enum options_result { OPTIONS_READ, OPTIONS_HELPED, OPTIONS_WRONG };
/* Reads argv by the table (ends with a NULL name). --help prints usage, the table and notes on
 * stdout. Errors go to stderr, with the nearest option. Arguments that are no options stay in
 * *operands. Lists and operands last until options_free. */
enum options_result options_read(int argc, char **argv, const struct option_spec *table,
                                 const char *usage, const char *notes,
                                 struct string_list *operands);
void options_free(void);
/* The exit code when the command ends here: its help was printed, or its options are wrong. */
int options_exit_code(enum options_result result);
/* "taffrail COMMAND: ..." on stderr; returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) PRINTF_LIKE(2, 3);

/* Set by --quiet: warnings and notes are not printed. Errors are. */
extern bool quiet;
/* "note: ..." and a newline on stderr. */
void say_note(const char *format, ...) PRINTF_LIKE(1, 2);
#define OPTION_QUIET                                                                        \
    {                                                                                       \
        'q', "quiet", OPTION_FLAG, &quiet, NULL, "no warnings and notes, only errors", NULL \
    }
/* Prints "error: file:line:column: ..." (or "warning: ...") on stderr, one line each. Returns the
 * exit code of the worst, EXIT_CLEAN for none. */
int print_problems(const struct problems *problems, const char *label);
/* The same for one error. */
int print_error(const struct error *error);

/* Runs body under the guard of an arena of its own; without memory it prints an error and returns
 * EXIT_USAGE. */
int run_in_arena(int (*body)(struct arena *arena, void *argument), void *argument);

#endif
