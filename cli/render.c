#include "cli/render.h"

#include <stdio.h>
#include <string.h>

#include "certs/certs.h"
#include "cli/cli.h"

/* What is installed when no policy is given. */
#define STARTER "starter.yaml"

enum { REPLICAS_MAX = 100, FILE_BYTES_MAX = 4 << 20 };

struct render_options {
    struct string_list policies;
    const char *namespace, *image, *ca_file, *replicas;
    int64_t replica_count;
    int format;
};

static const char notes[] =
    "Prints what `kubectl apply -f -` needs to install the webhook, but for the Secret\n"
    "taffrail-tls. Without --ca the API server is told no CA, and trusts the webhook only if its\n"
    "own roots do. With -p the webhook is sent what the rails of these policies judge; without,\n"
    "the starter policy is installed and all kinds that any rail judges are sent.\n";

/* ---- options ---- */

static bool is_label(struct text name)
{
    bool good = name.size > 0 && name.size <= 63;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool inside = i > 0 && i + 1 < name.size;
        good &= (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c == '-' && inside);
    }
    return good;
}

static bool namespace_is_right(struct text namespace)
{
    if (!is_label(namespace))
        usage_error("render",
                    "the namespace \"%.*s\" is no DNS label: at most 63 lower-case letters, digits "
                    "and -",
                    TEXT_ARGS(namespace));
    else if (text_is(namespace, "default") || text_starts_with(namespace, TEXT("kube-")))
        usage_error("render",
                    "the namespace %.*s is not Taffrail's own: it is exempt from every rail, and "
                    "its labels are replaced; name one made for it",
                    TEXT_ARGS(namespace));
    else
        return true;
    return false;
}

static bool image_is_right(struct text image)
{
    static const char others[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "._-/:@";
    bool good = image.size > 0;
    for (size_t i = 0; i < image.size; i++)
        good &= strchr(others, image.data[i]) != NULL;
    if (!good)
        usage_error("render", "the image \"%.*s\" is no reference such as registry/taffrail:%s",
                    TEXT_ARGS(image), TAFFRAIL_VERSION);
    return good;
}

static bool read_replicas(const char *written, int64_t *count)
{
    if (text_to_int64(text_of(written), count) && *count >= 1 && *count <= REPLICAS_MAX)
        return true;
    usage_error("render", "--replicas is \"%s\", not a number from 1 to %d", written, REPLICAS_MAX);
    return false;
}

static enum options_result read_options(int argc, char **argv, struct render_options *options)
{
    static const char *const formats[] = {"yaml", NULL};
    const struct option_spec table[] = {
        {'p', "policy", OPTION_LIST, &options->policies, "FILE",
         "a policy file or folder to install (repeats)", NULL},
        {0, "ca", OPTION_STRING, &options->ca_file, "FILE",
         "the CA of the webhook's certificate, PEM", NULL},
        {0, "namespace", OPTION_STRING, &options->namespace, "NAMESPACE",
         "where it is installed (taffrail)", NULL},
        {0, "image", OPTION_STRING, &options->image, "IMAGE",
         "the container image (taffrail:" TAFFRAIL_VERSION ")", NULL},
        {0, "replicas", OPTION_STRING, &options->replicas, "N", "of the webhook (2)", NULL},
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT", "yaml", formats},
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "render [OPTIONS]", notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    if (operands.count > 0)
        usage_error("render", "what is \"%s\" for? policies are given with -p", operands.items[0]);
    else if (namespace_is_right(text_of(options->namespace)) &&
             image_is_right(text_of(options->image)) &&
             read_replicas(options->replicas, &options->replica_count))
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

/* ---- what fills the manifests ---- */

struct rendering {
    const struct render_options *options;
    struct arena *arena;
    struct problems errors, warnings;
    const struct policy_set *policies; /* NULL: none are given */
    struct {
        struct render_policy *items;
        size_t count, capacity;
    } files;
};

static void add_file(struct rendering *rendering, const char *path)
{
    struct error error;
    struct render_policy *policy = LIST_PUSH(rendering->arena, &rendering->files);
    policy->path = path;
    policy->name = text_of(path);
    text_split_last(policy->name, '/', NULL, &policy->name);
    if (!file_read(path, FILE_BYTES_MAX, rendering->arena, &policy->bytes, &error))
        problems_add_error(&rendering->errors, &error);
}

/* Only policies that the server will take are installed. */
static bool read_policies(struct rendering *rendering)
{
    const struct string_list *paths = &rendering->options->policies;
    struct problems *errors = &rendering->errors;
    if (paths->count == 0) {
        *LIST_PUSH(rendering->arena, &rendering->files) = (struct render_policy){
            "starter.yaml", TEXT("starter.yaml"), render_text_of("starter.yaml")};
        return true;
    }
    if (!policy_load(paths->items, paths->count, catalog_builtin(rendering->arena),
                     rendering->arena, &rendering->policies, errors, &rendering->warnings))
        return false;
    for (size_t i = 0; i < paths->count; i++) {
        struct path_list found = {0};
        policy_find_files(paths->items[i], rendering->arena, &found, errors);
        for (size_t j = 0; j < found.count; j++)
            add_file(rendering, found.items[j]);
    }
    return errors->count == 0;
}

static bool read_ca(struct rendering *rendering, struct text *ca_bundle)
{
    const char *path = rendering->options->ca_file;
    struct text pem;
    struct error error;
    if (path == NULL)
        return true;
    if (!file_read(path, FILE_BYTES_MAX, rendering->arena, &pem, &error)) {
        problems_add_error(&rendering->errors, &error);
        return false;
    }
    if (!cert_check_bundle(pem, &error)) {
        error.place.file = path;
        problems_add_error(&rendering->errors, &error);
        return false;
    }
    *ca_bundle = text_base64(pem, rendering->arena);
    return true;
}

/* In the order of the files; the policies stand where the starter policy does. */
static void print_manifests(const struct render_values *values, struct text policies,
                            struct arena *arena)
{
    for (const struct render_text *file = render_texts; file->name != NULL; file++) {
        bool is_policy = strcmp(file->name, STARTER) == 0;
        struct text manifest = is_policy ? policies : render_fill(file, values, arena);
        printf("%s%.*s", file == render_texts ? "" : "---\n", TEXT_ARGS(manifest));
    }
}

static int render(struct arena *arena, void *argument)
{
    const struct render_options *options = argument;
    struct rendering rendering = {.options = options,
                                  .arena = arena,
                                  .errors = {.arena = arena},
                                  .warnings = {.arena = arena}};
    struct render_values values = {
        .namespace = text_of(options->namespace),
        .image = text_of(options->image),
        .replicas = arena_printf(arena, "%lld", (long long)options->replica_count),
    };
    bool good = read_policies(&rendering);
    good = read_ca(&rendering, &values.ca_bundle) && good;
    print_problems(&rendering.warnings, "warning");
    if (!good)
        return print_problems(&rendering.errors, "error");
    values.rules = render_rules(rendering.policies, arena);
    values.change_rules = render_change_rules(rendering.policies);

    struct text policies;
    struct error error;
    if (!render_policies(rendering.files.items, rendering.files.count, values.namespace, arena,
                         &policies, &error)) {
        problems_add_error(&rendering.errors, &error);
        return print_problems(&rendering.errors, "error");
    }
    print_manifests(&values, policies, arena);
    return EXIT_CLEAN;
}

int command_render(int argc, char **argv)
{
    struct render_options options = {
        .namespace = "taffrail", .image = "taffrail:" TAFFRAIL_VERSION, .replicas = "2"};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(render, &options);
}
