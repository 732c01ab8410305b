/* Which files are read: folders, the templates of charts, what helm template writes. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "kube/manifest_text.h"

/* ---- charts ---- */

/* The folder of the chart that the path is a template of; empty: of none. */
static struct text chart_of(const char *path, struct arena *arena)
{
    const struct text templates = TEXT("/templates/");
    const char *at = path;
    while ((at = strstr(at, templates.data)) != NULL) {
        struct text folder = {path, (size_t)(at - path)};
        if (access(arena_printf(arena, "%.*s/Chart.yaml", TEXT_ARGS(folder)).data, F_OK) == 0)
            return folder;
        at++;
    }
    if (strncmp(path, templates.data + 1, templates.size - 1) == 0 &&
        access("Chart.yaml", F_OK) == 0)
        return TEXT(".");
    return TEXT("");
}

static void skip_template(struct manifests *manifests, struct text chart, const char *file)
{
    manifests->skipped_files++;
    if (manifests->strict_files) {
        problems_add(&manifests->problems, ERROR_INPUT, (struct place){file, 0, 0},
                     "is a template of a chart, and becomes a manifest only when it is rendered: "
                     "helm template %.*s | taffrail check -f -",
                     TEXT_ARGS(chart));
        return;
    }
    size_t at = 0;
    while (at < manifests->charts.count && !text_equal(manifests->charts.items[at].folder, chart))
        at++;
    if (at == manifests->charts.count)
        LIST_PUSH(manifests->arena, &manifests->charts)->folder =
            arena_text(manifests->arena, chart);
    manifests->charts.items[at].templates++;
}

/* ---- what helm template writes ---- */

static struct text line_from(struct text text, size_t start)
{
    const char *end = memchr(text.data + start, '\n', text.size - start);
    size_t next = end == NULL ? text.size : (size_t)(end - text.data);
    return (struct text){text.data + start, next - start};
}

/* The file that a line `# Source: FILE` names; empty: it is none. What ends a line of YAML amid it
 * may have an object behind it. */
static struct text source_named(struct text line)
{
    const struct text prefix = TEXT("# Source: ");
    if (!text_starts_with(line, prefix) || line.size > PATH_MAX)
        return TEXT("");
    struct text name = {line.data + prefix.size, line.size - prefix.size};
    while (name.size > 0 && name.data[name.size - 1] == '\r')
        name.size--;
    for (size_t i = 0; i < name.size; i++)
        if (control_size((struct text){name.data + i, name.size - i}) > 0)
            return TEXT("");
    return name;
}

/* Up to the next line --- that such a line follows; all when there is none. *file and *rest are
 * those of what comes then. */
static struct text next_rendered(struct text text, struct text *file, size_t *rest)
{
    size_t at = 0;
    while (at < text.size) {
        struct text line = line_from(text, at);
        size_t next = at + line.size + 1;
        if (text_starts_with(line, TEXT("---")) && next < text.size) {
            struct text comment = line_from(text, next);
            *file = source_named(comment);
            *rest = next + comment.size;
            if (file->size > 0)
                return (struct text){text.data, at};
        }
        at = next;
    }
    *file = TEXT("");
    *rest = text.size;
    return text;
}

/* Each part is a text of its own, whose lines count from its `# Source:` line on. */
static void read_rendered(struct manifests *manifests, struct text text,
                          struct text default_namespace)
{
    struct text name = text_of(path_as_shown("-"));
    while (text.size > 0) {
        struct text next_name;
        size_t rest = 0;
        struct source *source = ARENA_NEW(manifests->arena, struct source);
        source->file = arena_text(manifests->arena, name).data;
        source->text = next_rendered(text, &next_name, &rest);
        if (source->text.size > 0)
            manifests_read_text(manifests, source, default_namespace, false);
        text = (struct text){text.data + rest, text.size - rest};
        name = next_name;
    }
}

/* ---- paths ---- */

static void read_file(struct manifests *manifests, const char *path, struct text default_namespace)
{
    struct arena *arena = manifests->arena;
    struct source *source = ARENA_NEW(arena, struct source);
    bool standard_input = strcmp(path, "-") == 0;
    source->file = arena_text(arena, text_of(path_as_shown(path))).data;
    struct error error;
    if (!file_read(path, doc_limits_manifest.bytes, arena, &source->text, &error)) {
        problems_add_error(&manifests->problems, &error);
        return;
    }
    struct text chart = standard_input ? TEXT("") : chart_of(path, arena);
    if (chart.size > 0 && text_holds(source->text, TEXT("{{")))
        skip_template(manifests, chart, source->file);
    else if (standard_input && !text_opens_with(source->text, "{"))
        read_rendered(manifests, source->text, default_namespace);
    else
        manifests_read_text(manifests, source, default_namespace,
                            text_ends_with(text_of(path), TEXT(".json")));
}

void manifests_init(struct manifests *manifests, struct arena *arena)
{
    *manifests = (struct manifests){
        .arena = arena, .problems = {.arena = arena}, .warnings = {.arena = arena}};
}

static void read_folder(struct manifests *manifests, const char *path,
                        struct text default_namespace)
{
    struct path_list files = {0};
    struct folder_filter filter = {
        .file_name = ".taffrailignore",
        .lines = manifests->ignore,
        .line_count = manifests->ignore_count,
    };
    folder_find_documents(path, &filter, manifests->arena, &files, &manifests->problems);
    manifests->ignored += filter.ignored;
    for (size_t i = 0; i < files.count; i++)
        read_file(manifests, files.items[i], default_namespace);
}

static void expect_objects(struct manifests *manifests, const struct manifests *before,
                           const char *path)
{
    bool empty = manifests->count == before->count && manifests->skipped == before->skipped &&
                 manifests->problems.count == before->problems.count;
    size_t skipped = manifests->skipped_files - before->skipped_files;
    size_t ignored = manifests->ignored - before->ignored;
    if (empty && !manifests->allow_empty)
        problems_add(&manifests->problems, ERROR_INPUT, (struct place){path_as_shown(path), 0, 0},
                     "holds no Kubernetes object: %zu file%s none, %zu file%s ignored "
                     "(--allow-empty lets this pass)",
                     skipped, skipped == 1 ? " has" : "s have", ignored,
                     ignored == 1 ? " or folder is" : "s and folders are");
}

void manifests_read(struct manifests *manifests, const char *path, struct text default_namespace)
{
    struct manifests before = *manifests;
    if (path_is_folder(path))
        read_folder(manifests, path, default_namespace);
    else
        read_file(manifests, path, default_namespace);
    expect_objects(manifests, &before, path);
}

void manifests_read_from(struct manifests *manifests, const char *name, struct text text,
                         struct text default_namespace)
{
    struct manifests before = *manifests;
    struct source *source = ARENA_NEW(manifests->arena, struct source);
    *source =
        (struct source){.file = arena_text(manifests->arena, text_of(name)).data, .text = text};
    manifests_read_text(manifests, source, default_namespace, false);
    expect_objects(manifests, &before, source->file);
}
