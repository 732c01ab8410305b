/* `taffrail certs`: certificates for the webhook. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "certs/certs.h"
#include "cli/cli.h"

struct certs_options {
    struct string_list names;
    const char *folder;
};

static const char notes[] =
    "Makes a CA, and a certificate and key signed by it, in DIR: ca.crt, tls.crt, tls.key. A DIR\n"
    "that holds files already is left as it is. The CA's key is not kept: for the next\n"
    "certificate make a folder anew. All replicas of a webhook use one folder.\n";

static enum options_result read_options(int argc, char **argv, struct certs_options *options)
{
    const struct option_spec table[] = {
        {0, "dns", OPTION_LIST, &options->names, "NAME",
         "a name it is for, instead of taffrail.taffrail.svc (repeats)", NULL},
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "certs make DIR [--dns NAME ...]", notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    if (operands.count == 0 || strcmp(operands.items[0], "make") != 0)
        usage_error("certs", "what is it to do? make is all there is");
    else if (operands.count != 2)
        usage_error("certs", "make wants one folder, and was given %zu", operands.count - 1);
    else {
        options->folder = operands.items[1];
        return OPTIONS_READ;
    }
    return OPTIONS_WRONG;
}

static int make(struct arena *arena, void *argument)
{
    static const char *const own_names[] = {"taffrail.taffrail.svc",
                                            "taffrail.taffrail.svc.cluster.local"};
    const struct certs_options *options = argument;
    struct cert_names names = {.dns = own_names, .dns_count = COUNT_OF(own_names)};
    if (options->names.count > 0)
        names = (struct cert_names){.dns = options->names.items, .dns_count = options->names.count};

    int64_t now_unix_s = (int64_t)time(NULL);
    int64_t not_after_unix_s = 0;
    struct cert_pair leaf;
    struct error error;
    bool made = false;
    if (!certs_open_dir(options->folder, &names, now_unix_s, arena, &leaf, &made, &error) ||
        !cert_check(&leaf, now_unix_s, &not_after_unix_s, &error))
        return print_error(&error);
    if (!made) {
        fprintf(stderr,
                "error: %s: holds a certificate already; name a folder that is empty or not "
                "there\n",
                options->folder);
        return EXIT_USAGE;
    }
    char day[16];
    time_t not_after = (time_t)not_after_unix_s;
    struct tm parts;
    strftime(day, sizeof day, "%Y-%m-%d", gmtime_r(&not_after, &parts));
    printf("made %s/ca.crt, tls.crt and tls.key for", options->folder);
    for (size_t i = 0; i < names.dns_count; i++)
        printf("%s %s", i == 0 ? "" : ",", names.dns[i]);
    printf("; valid until %s\n", day);
    return EXIT_CLEAN;
}

int command_certs(int argc, char **argv)
{
    struct certs_options options = {0};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(make, &options);
}
