/* `taffrail convert`: old pools and node classes as Karpenter's v1 objects. */
#include <stdio.h>

#include "base/wrap.h"
#include "cli/cli.h"
#include "kube/manifest.h"
#include "kube/object.h"
#include "kube/upgrade.h"

struct convert_options {
    struct input_options input;
    struct string_list files;
};

static const char notes[] =
    "Prints the v1 objects to write instead of Provisioners, AWSNodeTemplates and what is of\n"
    "v1beta1; all else is passed over. What has no counterpart, or must be filled in by hand, is\n"
    "said on standard error, and stands as a comment above the object.\n";

/* The pools that are converted, each with where its kubelet settings go. */
struct converted {
    const struct object *object;
    struct text class_name;
    const struct node *kubelet;
};
struct all_converted {
    struct converted *items;
    size_t count, capacity;
};

/* A class has one kubelet for all its pools; before v1 each pool had its own. */
static void compare_kubelets(const struct all_converted *all, const struct object *object,
                             struct arena *arena, struct upgrade *upgrade)
{
    FOR_EACH(other, all) {
        bool same = (other->kubelet == NULL && upgrade->kubelet == NULL) ||
                    (other->kubelet != NULL && upgrade->kubelet != NULL &&
                     node_equal(other->kubelet, upgrade->kubelet));
        /* Pools of one name are of several clusters. */
        if (same || upgrade->class_name.size == 0 ||
            text_equal(other->object->name, object->name) ||
            !text_equal(other->class_name, upgrade->class_name))
            continue;
        upgrade_note(upgrade, arena,
                     "make an EC2NodeClass of its own for %.*s: %.*s %.*s is of EC2NodeClass %.*s, "
                     "too, with other kubelet settings, and a class has one spec.kubelet",
                     TEXT_ARGS(object->name), TEXT_ARGS(other->object->kind_name),
                     TEXT_ARGS(other->object->name), TEXT_ARGS(other->class_name));
        return;
    }
}

static void print_upgrade(const struct object *object, struct all_converted *all,
                          struct arena *arena)
{
    struct upgrade upgrade;
    struct place place = {NULL, 0, 0};
    bool first = all->count == 0;
    upgrade_make(object, TEXT(""), arena, &upgrade);
    compare_kubelets(all, object, arena, &upgrade);
    *LIST_PUSH(arena, all) = (struct converted){object, upgrade.class_name, upgrade.kubelet};
    if (object->source != NULL)
        place = source_place(object->source, arena, field_offset(object->root));
    for (size_t i = 0; i < upgrade.object_count; i++) {
        fputs(first && i == 0 ? "" : "---\n", stdout);
        put_printf(stdout, "# %.*s %.*s, was %.*s", TEXT_ARGS(object->kind_name),
                   TEXT_ARGS(object->name), TEXT_ARGS(object->api_version));
        putchar('\n');
        for (size_t j = 0; i == 0 && j < upgrade.notes.count; j++) {
            put_printf(stdout, "# by hand: %.*s", TEXT_ARGS(upgrade.notes.items[j]));
            putchar('\n');
        }
        struct text yaml = node_yaml(upgrade.objects[i], arena);
        fwrite(yaml.data, 1, yaml.size, stdout);
    }
    for (size_t j = 0; j < upgrade.notes.count; j++) {
        put_printf(stderr, "%s:%u: %.*s %.*s: by hand: %.*s", place.file == NULL ? "-" : place.file,
                   place.line, TEXT_ARGS(object->kind_name), TEXT_ARGS(object->name),
                   TEXT_ARGS(upgrade.notes.items[j]));
        fputc('\n', stderr);
    }
}

static int convert(struct arena *arena, void *argument)
{
    const struct convert_options *options = argument;
    struct manifests manifests;
    struct all_converted all = {0};
    input_begin(&manifests, &options->input, arena);
    for (size_t i = 0; i < options->files.count; i++)
        manifests_read(&manifests, options->files.items[i], TEXT("default"));
    input_say(&manifests);
    size_t fragments = input_drop_fragments(&manifests);
    for (size_t i = 0; i < manifests.count; i++)
        if (upgrade_applies(&manifests.items[i]))
            print_upgrade(&manifests.items[i], &all, arena);
    if (all.count == 0 && fragments == 0 && manifests.problems.count == 0)
        fprintf(stderr, "nothing to convert: no Provisioner, AWSNodeTemplate or v1beta1 object is "
                        "there\n");
    return print_problems(&manifests.problems, "error");
}

int command_convert(int argc, char **argv)
{
    struct convert_options options = {0};
    const struct option_spec table[] = {
        {'f', "filename", OPTION_LIST, &options.files, "FILE",
         "a file, a folder or - for standard input (repeats)", NULL},
        OPTIONS_INPUT(&options.input),
        OPTION_ALLOW_EMPTY(&options.input),
        OPTION_QUIET,
        {0},
    };
    struct string_list operands = {0};
    enum options_result result =
        options_read(argc, argv, table, "convert -f FILE|DIR|- ...", notes, &operands);
    if (result != OPTIONS_READ)
        return options_exit_code(result);
    if (operands.count > 0)
        return usage_error("convert", "what is \"%s\" for? manifests are given with -f",
                           operands.items[0]);
    if (options.files.count == 0)
        return usage_error("convert",
                           "nothing to convert is given (-f FILE, or -f - for standard input)");
    return run_in_arena(convert, &options);
}
