/* What -f names: how it is read, and what of it is no object to judge. */
#include <stdio.h>

#include "base/wrap.h"
#include "cli/cli.h"
#include "kube/manifest.h"
#include "kube/whole.h"
#include "live/fetch.h"

enum { NAMED_MAX = 5 }; /* of what is passed over */

void input_begin(struct manifests *manifests, const struct input_options *options,
                 struct arena *arena)
{
    manifests_init(manifests, arena);
    manifests->origin = ORIGIN_CHANGE;
    manifests->strict_files = options->strict_files;
    manifests->allow_empty = options->allow_empty;
    manifests->ignore = options->ignore.items;
    manifests->ignore_count = options->ignore.count;
}

static void read_web(struct manifests *manifests, const char *address,
                     struct text default_namespace)
{
    struct text body;
    struct error error;
    if (web_fetch(address, doc_limits_manifest.bytes, manifests->arena, &body, &error))
        manifests_read_from(manifests, address, body, default_namespace);
    else
        problems_add_error(&manifests->problems, &error);
}

void input_read(struct manifests *manifests, const struct input_options *options,
                struct text default_namespace)
{
    for (size_t i = 0; i < options->files.count; i++) {
        const char *path = options->files.items[i];
        if (is_web_address(path))
            read_web(manifests, path, default_namespace);
        else
            manifests_read(manifests, path, default_namespace);
    }
}

static void say_fragment(const struct object *object, struct text missing, struct arena *arena)
{
    struct place place = source_place(object->source, arena, field_offset(object->root));
    struct text name = object_display_name(object, arena);
    put_printf(stderr, "  %s:%u: %.*s %.*s has no %.*s", place.file, place.line,
               TEXT_ARGS(object->kind_name), TEXT_ARGS(name), TEXT_ARGS(missing));
    fputc('\n', stderr);
}

size_t input_drop_fragments(struct manifests *manifests)
{
    size_t kept = 0, dropped = 0;
    for (size_t i = 0; i < manifests->count; i++) {
        const struct object *object = &manifests->items[i];
        struct text missing = object_missing_field(object, manifests->arena);
        if (missing.size == 0) {
            manifests->items[kept++] = *object;
            continue;
        }
        if ((KIND_BIT(object->kind) & KINDS_WORKLOADS) != 0)
            *LIST_PUSH(manifests->arena, &manifests->fragments) = *object;
        if (dropped == 0)
            say_note("passed over are parts of objects, which the API server would refuse; take "
                     "what kustomize build makes of them:");
        if (dropped++ < NAMED_MAX && !quiet)
            say_fragment(object, missing, manifests->arena);
    }
    if (dropped > NAMED_MAX && !quiet)
        fprintf(stderr, "  and %zu more\n", dropped - NAMED_MAX);
    manifests->count = kept;
    return dropped;
}

void input_say(const struct manifests *manifests)
{
    print_problems(&manifests->warnings, "warning");
    for (size_t i = 0; i < manifests->charts.count; i++) {
        const struct chart *chart = &manifests->charts.items[i];
        say_note("%.*s is a chart, whose %zu template%s not read: helm template %.*s | "
                 "taffrail check -f -",
                 TEXT_ARGS(chart->folder), chart->templates,
                 chart->templates == 1 ? " is" : "s are", TEXT_ARGS(chart->folder));
    }
}
