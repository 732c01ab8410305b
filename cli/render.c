/* `taffrail render`: the install manifests, filled in. */
#include "cli/render.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/version.h"
#include "catalog/catalog.h"
#include "certs/certs.h"
#include "cli/cli.h"

/* The policy of an install without -p. */
#define STARTER "starter.yaml"

enum { REPLICAS_MAX = 100, FILE_BYTES_MAX = 4 << 20, NOT_GIVEN = -1 };

/* Values of --failure-policy. */
enum { IGNORE, FAIL };

struct render_options {
    struct string_list policies, excluded;
    const char *namespace, *image, *ca_file, *replicas;
    int64_t replica_count;
    int format, certificates, failure_policy;
    bool on_karpenter_nodes;
};

/* Values of --output. */
enum { FORMAT_YAML, FORMAT_VALUES };

static const char notes[] =
    "Prints what `kubectl apply -f -` needs to install the webhook. Its replicas make their own\n"
    "certificate, renew it and tell the API server its CA. With --ca, or --certificates secret, "
    "they\n"
    "serve that of a Secret taffrail-tls that you make; with --certificates cert-manager, one "
    "that\n"
    "cert-manager makes. With -p the webhook is sent what the rails of these policies judge; "
    "without,\n"
    "the starter policy is installed and all kinds that any rail judges are sent. Read\n"
    "docs/guides/install.md before --failure-policy Fail.\n";

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
    if (image.size == 0)
        usage_error("render",
                    "give --image: no image of Taffrail is public, so name the one in your "
                    "registry, such as registry.example.com/taffrail:%s "
                    "(docs/guides/install.md, 1)",
                    taffrail_version);
    else if (!good)
        usage_error("render", "the image \"%.*s\" is no reference such as registry/taffrail:%s",
                    TEXT_ARGS(image), taffrail_version);
    return good;
}

/* A single replica is away during each replacement, and with Fail everything is refused meanwhile.
 */
static bool read_replicas(struct render_options *options)
{
    bool fails = options->failure_policy == FAIL;
    const char *written = options->replicas != NULL ? options->replicas : fails ? "3" : "2";
    int64_t *count = &options->replica_count;
    if (!text_to_int64(text_of(written), count) || *count < 1 || *count > REPLICAS_MAX)
        usage_error("render", "--replicas is \"%s\", not a number from 1 to %d", written,
                    REPLICAS_MAX);
    else if (fails && *count == 1)
        usage_error("render", "--failure-policy Fail with one replica refuses everything whenever "
                              "that is replaced; give --replicas 2 or more");
    else
        return true;
    return false;
}

static bool read_certificates(struct render_options *options)
{
    if (options->certificates == NOT_GIVEN)
        options->certificates = options->ca_file == NULL ? CERTIFICATES_SELF : CERTIFICATES_SECRET;
    if (options->ca_file == NULL || options->certificates == CERTIFICATES_SECRET)
        return true;
    usage_error("render", "--ca is the CA of a Secret that you make: --certificates secret; %s",
                options->certificates == CERTIFICATES_SELF
                    ? "by themselves the replicas make their own, and write it"
                    : "cert-manager writes its own");
    return false;
}

static bool exclusions_are_right(const struct string_list *excluded)
{
    for (size_t i = 0; i < excluded->count; i++)
        if (!is_label(text_of(excluded->items[i]))) {
            usage_error("render", "--exclude-namespace \"%s\" is no name of a namespace",
                        excluded->items[i]);
            return false;
        }
    return true;
}

/* The chart has values of its own for everything else. */
static bool is_for_values(const struct render_options *options)
{
    bool plain = options->image == NULL && options->replicas == NULL && options->ca_file == NULL &&
                 options->certificates == NOT_GIVEN && options->failure_policy == IGNORE &&
                 options->namespace == NULL && options->excluded.count == 0 &&
                 !options->on_karpenter_nodes;
    if (!plain)
        usage_error("render", "-o values prints what follows from the policies: of the other "
                              "options it takes only -p; set the rest in your values");
    return plain;
}

static bool are_right(struct render_options *options)
{
    if (options->format == FORMAT_VALUES)
        return is_for_values(options);
    if (options->namespace == NULL)
        options->namespace = "taffrail";
    return namespace_is_right(text_of(options->namespace)) && read_certificates(options) &&
           exclusions_are_right(&options->excluded) && read_replicas(options) &&
           image_is_right(text_of(options->image));
}

static enum options_result read_options(int argc, char **argv, struct render_options *options)
{
    static const char *const formats[] = {"yaml", "values", NULL};
    static const char *const certificates[] = {"self", "secret", "cert-manager", NULL};
    static const char *const failure_policies[] = {"Ignore", "Fail", NULL};
    const struct option_spec table[] = {
        {'p', "policy", OPTION_LIST, &options->policies, "FILE",
         "a policy file or folder to install (repeats)", NULL},
        {0, "certificates", OPTION_CHOICE, &options->certificates, "FROM",
         "self, secret or cert-manager (self; secret with --ca)", certificates},
        {0, "ca", OPTION_STRING, &options->ca_file, "FILE",
         "the CA of the certificate in your Secret, PEM", NULL},
        {0, "failure-policy", OPTION_CHOICE, &options->failure_policy, "POLICY",
         "when no replica answers: Ignore or Fail (Ignore)", failure_policies},
        {0, "exclude-namespace", OPTION_LIST, &options->excluded, "NAMESPACE",
         "one more that is never judged (repeats)", NULL},
        {0, "namespace", OPTION_STRING, &options->namespace, "NAMESPACE",
         "where it is installed (taffrail)", NULL},
        {0, "image", OPTION_STRING, &options->image, "IMAGE",
         "the container image; there is no default", NULL},
        {0, "replicas", OPTION_STRING, &options->replicas, "N", "of the webhook (2; with Fail 3)",
         NULL},
        {0, "on-karpenter-nodes", OPTION_FLAG, &options->on_karpenter_nodes, NULL,
         "the replicas may run there, too", NULL},
        {'o', "output", OPTION_CHOICE, &options->format, "FORMAT",
         "yaml, or values for the chart: what follows from the policies", formats},
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "render --image IMAGE [OPTIONS]", notes, &operands);
    if (result != OPTIONS_READ)
        return result;
    if (operands.count > 0)
        usage_error("render", "what is \"%s\" for? policies are given with -p", operands.items[0]);
    else if (are_right(options))
        return OPTIONS_READ;
    return OPTIONS_WRONG;
}

/* ---- the values for the manifests ---- */

struct rendering {
    const struct render_options *options;
    struct arena *arena;
    struct problems errors, warnings;
    const struct policy_set *policies; /* NULL: none given */
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

/* Installs only policies that the server accepts. */
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
                     rendering->arena, &rendering->policies, errors, &rendering->warnings) ||
        !policy_refuse_long(rendering->policies, (int64_t)time(NULL), rendering->arena, errors))
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

/* In the order of the files; the policies replace the starter policy. */
static void print_manifests(const struct render_values *values, struct text policies,
                            struct arena *arena)
{
    for (const struct render_text *file = render_texts; file->name != NULL; file++) {
        bool is_policy = strcmp(file->name, STARTER) == 0;
        struct text manifest = is_policy ? policies : render_fill(file, values, arena);
        if (manifest.size > 0)
            printf("%s%.*s", file == render_texts ? "" : "---\n", TEXT_ARGS(manifest));
    }
}

/* Values of manifests/chart, in the place of those for all rails. */
static void print_values(const struct render_values *values)
{
    printf("webhooks:\n");
    if (values->timeout_s != 0)
        printf("  timeoutSeconds: %lld\n", (long long)values->timeout_s);
    printf("  rules:%.*s\n"
           "  nodeClaimRules:%.*s\n"
           "  changeRules:%.*s\n",
           TEXT_ARGS(values->rules), TEXT_ARGS(values->claim_rules),
           TEXT_ARGS(values->change_rules));
    if (values->owner_rights.size > 0)
        printf("rbac:\n  extraRules:%.*s\n", TEXT_ARGS(values->owner_rights));
}

/* kubectl apply writes what it applied into an annotation, as JSON. */
static void say_large(const struct render_policy *policies, size_t count, struct arena *arena)
{
    enum { ANNOTATIONS_BYTES_MAX = 256 << 10 }; /* of an object */
    struct text_builder json = {.arena = arena};
    for (size_t i = 0; i < count; i++) {
        struct text bytes = policies[i].bytes;
        json_write_string(&json, render_is_literal(bytes) ? bytes : text_base64(bytes, arena));
    }
    if (json.size > ANNOTATIONS_BYTES_MAX)
        say_note(
            "the policies have over %d KiB in their ConfigMap, which kubectl apply cannot keep "
            "in the annotation of what it applied; kubectl apply --server-side keeps none",
            ANNOTATIONS_BYTES_MAX >> 10);
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
        .certificates = (enum render_certificates)options->certificates,
        .fails = options->failure_policy == FAIL,
        .on_karpenter_nodes = options->on_karpenter_nodes,
        .excluded_namespaces = options->excluded.items,
        .excluded_count = options->excluded.count,
    };
    bool good = read_policies(&rendering);
    good = read_ca(&rendering, &values.ca_bundle) && good;
    print_problems(&rendering.warnings, "warning");
    if (!good)
        return print_problems(&rendering.errors, "error");
    values.rules = render_rules(rendering.policies, arena);
    values.claim_rules = render_claim_rules(rendering.policies, rendering.arena);
    values.change_rules = render_change_rules(rendering.policies);
    values.owner_rights = render_owner_rights(rendering.policies, arena);
    if (rendering.policies != NULL)
        values.timeout_s = policy_set_timeout_s(rendering.policies);

    if (options->format == FORMAT_VALUES) {
        print_values(&values);
        return EXIT_CLEAN;
    }
    struct text policies;
    struct error error;
    if (!render_policies(rendering.files.items, rendering.files.count, values.namespace, arena,
                         &policies, &error)) {
        problems_add_error(&rendering.errors, &error);
        return print_problems(&rendering.errors, "error");
    }
    print_manifests(&values, policies, arena);
    say_large(rendering.files.items, rendering.files.count, arena);
    return EXIT_CLEAN;
}

int command_render(int argc, char **argv)
{
    struct render_options options = {.certificates = NOT_GIVEN};
    enum options_result result = read_options(argc, argv, &options);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    return run_in_arena(render, &options);
}
