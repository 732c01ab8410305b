/* Objects out of files: what is unfolded, what is no object, what helm template writes. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/manifest.h"
#include "unit.h"

const char unit_suite[] = "kube manifests";

static struct arena *arena;

static void manifests_unfold_what_kubectl_writes(void)
{
    char path[] = "/tmp/taffrail-manifest-XXXXXX";
    int descriptor = mkstemp(path);
    CU_ASSERT_FATAL(descriptor >= 0);
    static const char text[] =
        "kind: PodList\napiVersion: v1\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n---\n"
        "kind: List\napiVersion: v1\nitems:\n- {apiVersion: v1, kind: ConfigMap}\n"
        "- {apiVersion: apps/v1, kind: Deployment, metadata: {name: c}}\n---\n---\n"
        "kind: AdmissionReview\napiVersion: admission.k8s.io/v1\n"
        "request: {object: {apiVersion: v1, kind: Pod, metadata: {name: d}}}\n---\n"
        "just text\n---\n{ [ broken\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: e}\n";
    CU_ASSERT_FATAL(write(descriptor, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(descriptor);

    struct manifests manifests;
    manifests_init(&manifests, arena);
    manifests_read(&manifests, path, TEXT("default"));
    unlink(path);
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    ASSERT_INT(manifests.count, 5);
    for (size_t i = 0; i < manifests.count && i < 5; i++)
        ASSERT_TEXT(manifests.items[i].name, names[i]);
    ASSERT_INT(manifests.items[0].kind, KIND_POD);
    ASSERT_INT(manifests.skipped, 1);
    ASSERT_INT(manifests.problems.count, 2);
    ASSERT_INT(manifests.problems.items[0].place.line, 18);
    ASSERT_INT(manifests.problems.items[1].place.line, 20);
}

/* "pods a, b; skipped 1; files 0; problems 2" of what was read. */
static struct text told(const struct manifests *manifests)
{
    struct text_list names = {0};
    FOR_EACH(object, manifests)
        *LIST_PUSH(arena, &names) =
            arena_printf(arena, "%.*s %.*s", TEXT_ARGS(object->kind_name), TEXT_ARGS(object->name));
    struct text all = texts_join(names.items, names.count, names.count, arena);
    return arena_printf(arena, "%.*s; skipped %zu; files %zu; problems %zu", TEXT_ARGS(all),
                        manifests->skipped, manifests->skipped_files, manifests->problems.count);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

#define POD(name) "apiVersion: v1\nkind: Pod\nmetadata: {name: " name "}\n"

static void texts_hold_objects(void)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        /* lists that are typed, and what only looks like one */
        {"kind: PodList\napiVersion: v1\nitems: [{}]\n", "Pod ; skipped 0; files 0; problems 0"},
        {"kind: PodList\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]\n",
         "Pod a; skipped 0; files 0; problems 0"},
        {"kind: PodList\nitems: [{metadata: {name: a}}]\n", "; skipped 0; files 0; problems 1"},
        {"kind: PriceList\napiVersion: example.com/v1\nitems: {}\n",
         "; skipped 1; files 0; problems 0"},
        /* what has items is a list for kubectl, of whatever kind */
        {"kind: ConfigMap\napiVersion: v1\nitems: [{apiVersion: v1, kind: Pod, metadata: {name: "
         "a}}, {kind: Pod, apiVersion: v1, items: [{metadata: {name: b}}]}]\n",
         "Pod a, Pod b; skipped 0; files 0; problems 0"},
        {"kind: Pod\nmetadata: {name: b}\napiVersion: v1\nitems: [{metadata: {name: a}}]\n",
         "Pod a; skipped 0; files 0; problems 0"},
        {"kind: Menu\napiVersion: example.com/v1\nitems: [soup, {metadata: {name: a}}]\n",
         "; skipped 1; files 0; problems 0"},
        {"kind: Pod\napiVersion: v1\nmetadata: {name: a}\nitems: []\n",
         "Pod a; skipped 0; files 0; problems 0"},
        {"items: [{apiVersion: v1, kind: Pod, metadata: {name: a}}]\n",
         "; skipped 0; files 1; problems 1"},
        /* reviews: of a deletion there is only the old object */
        {"kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nrequest: {object: null, "
         "oldObject: {apiVersion: v1, kind: Pod, metadata: {name: d}}}\n",
         "Pod d; skipped 0; files 0; problems 0"},
        {"kind: AdmissionReview\napiVersion: admission.k8s.io/v1\nrequest: {}\n",
         "; skipped 1; files 0; problems 0"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct manifests manifests;
        manifests_init(&manifests, arena);
        manifests_read_from(&manifests, "stream", text_of(cases[i].text), TEXT("default"));
        ASSERT_TEXT(told(&manifests), cases[i].told);
    }
}

/* Some files of a folder are those of other programs. */
static void files_of_json_hold_objects(void)
{
    static const struct {
        const char *text;
        bool strict;
        const char *told;
    } cases[] = {
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}", false,
         "Pod a; skipped 0; files 0; problems 0"},
        /* values one after the other, as kubectl takes them; what is wrong ends them */
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n"
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}"
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"c\"}} \n",
         false, "Pod a, Pod b, Pod c; skipped 0; files 0; problems 0"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n"
         "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",",
         false, "Pod a; skipped 0; files 0; problems 1"},
        /* with comments it is that of an editor */
        {"// settings\n{\"editor.tabSize\": 4}\n", false, "; skipped 0; files 1; problems 0"},
        {"{\n  /* settings */\n  \"editor.tabSize\": 4}\n", false,
         "; skipped 0; files 1; problems 0"},
        {"{\n  /+ settings", false, "; skipped 0; files 0; problems 1"},
        {"/", false, "; skipped 0; files 0; problems 1"},
        {"{\"apiVersion\": \"v1\", // the first\n\"kind\": \"Pod\"}", false,
         "; skipped 0; files 0; problems 1"},
        {"// YAML\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", false,
         "; skipped 0; files 0; problems 1"},
        {"{\"editor.tabSize\": 4}", false, "; skipped 0; files 1; problems 0"},
        {"{\"editor.tabSize\": 4}", true, "; skipped 0; files 0; problems 1"},
        {"// settings\n{\"editor.tabSize\": 4}\n", true, "; skipped 0; files 0; problems 1"},
        {"{\"editor.tabSize\": }", true, "; skipped 0; files 0; problems 1"},
    };
    char path[] = "/tmp/taffrail-manifest-XXXXXX.json";
    int descriptor = mkstemps(path, (int)strlen(".json"));
    CU_ASSERT_FATAL(descriptor >= 0);
    close(descriptor);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct manifests manifests;
        manifests_init(&manifests, arena);
        manifests.allow_empty = true;
        manifests.strict_files = cases[i].strict;
        write_file(path, cases[i].text);
        manifests_read(&manifests, path, TEXT("default"));
        ASSERT_TEXT(told(&manifests), cases[i].told);
    }
    unlink(path);
}

/* An object of another kind is one; a path that holds none at all is a mistake. */
static void a_path_without_objects_is_a_mistake(void)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        {"apiVersion: example.com/v1\nkind: Thing\n", "; skipped 1; files 0; problems 0"},
        {"name: settings\n", "; skipped 0; files 1; problems 1"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct manifests manifests;
        manifests_init(&manifests, arena);
        manifests_read_from(&manifests, "stream", text_of(cases[i].text), TEXT("default"));
        ASSERT_TEXT(told(&manifests), cases[i].told);
    }
}

static const char *place_of(const struct object *object)
{
    return source_place(object->source, arena, object->root->node->offset).file;
}

/* What helm template writes says before each document which file it is from. */
static void standard_input_names_its_files(void)
{
    static char long_name[6000];
    memset(long_name, 'x', sizeof long_name - 1);
    const struct {
        const char *comment, *file;
        bool broken; /* YAML takes no such byte */
    } cases[] = {
        {"# Source: web/templates/pod.yaml", "web/templates/pod.yaml", false},
        {"# Source: web/templates/pod.yaml\r", "web/templates/pod.yaml", false},
        {"# Source: ", "<stdin>", false},
        {"# Source: web\x7F/pod.yaml", "<stdin>", true},
        {"# Source: web\x1B/pod.yaml", "<stdin>", true},
        {"# Source: web/pod.yaml\u2028# of web", "<stdin>", false},
        {"# Source: web\xC2\x85/pod.yaml", "<stdin>", true},
        {"# source: web/pod.yaml", "<stdin>", false},
        {arena_printf(arena, "# Source: %s", long_name).data, "<stdin>", false},
    };
    char path[] = "/tmp/taffrail-manifest-XXXXXX";
    int descriptor = mkstemp(path);
    int standard_input = dup(STDIN_FILENO);
    CU_ASSERT_FATAL(descriptor >= 0);
    close(descriptor);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct manifests manifests;
        manifests_init(&manifests, arena);
        write_file(path, arena_printf(arena, "---\n%s\n" POD("a") "---", cases[i].comment).data);
        descriptor = open(path, O_RDONLY);
        CU_ASSERT_FATAL(dup2(descriptor, STDIN_FILENO) == STDIN_FILENO);
        close(descriptor);
        manifests_read(&manifests, "-", TEXT("default"));
        ASSERT_INT(manifests.problems.count, cases[i].broken);
        ASSERT_INT(manifests.count, !cases[i].broken);
        if (manifests.count == 1)
            ASSERT_TEXT(text_of(place_of(&manifests.items[0])), cases[i].file);
        else if (manifests.problems.count == 1)
            ASSERT_TEXT(text_of(manifests.problems.items[0].place.file), cases[i].file);
    }
    if (standard_input >= 0)
        (void)!dup2(standard_input, STDIN_FILENO);
    close(standard_input);
    unlink(path);
}

/* Also where the folder is named from within the chart. */
static void templates_are_those_of_a_chart(void)
{
    char folder[] = "/tmp/taffrail-chart-XXXXXX";
    int here = open(".", O_RDONLY | O_DIRECTORY);
    CU_ASSERT_FATAL(here >= 0 && mkdtemp(folder) != NULL && chdir(folder) == 0);
    CU_ASSERT_FATAL(mkdir("templates", 0700) == 0);
    write_file("templates/pod.yaml", "# {{ a comment }}\n" POD("a"));
    struct manifests manifests;
    manifests_init(&manifests, arena);
    manifests_read(&manifests, "templates/pod.yaml", TEXT("default"));
    ASSERT_TEXT(told(&manifests), "Pod a; skipped 0; files 0; problems 0");

    write_file("Chart.yaml", "name: web\n");
    manifests_init(&manifests, arena);
    manifests.allow_empty = true;
    manifests_read(&manifests, "templates/pod.yaml", TEXT("default"));
    ASSERT_TEXT(told(&manifests), "; skipped 0; files 1; problems 0");
    ASSERT_INT(manifests.charts.count, 1);

    /* one that needs no rendering is a manifest as it is */
    write_file("templates/pod.yaml", "# { no template }\n" POD("a"));
    manifests_init(&manifests, arena);
    manifests_read(&manifests, "templates/pod.yaml", TEXT("default"));
    ASSERT_TEXT(told(&manifests), "Pod a; skipped 0; files 0; problems 0");
    ASSERT_INT(manifests.charts.count, 0);
    unlink("templates/pod.yaml");
    unlink("Chart.yaml");
    rmdir("templates");
    CU_ASSERT_FATAL(fchdir(here) == 0);
    close(here);
    rmdir(folder);
}

/* A folder may hold several charts, and charts others: each is named once, with the number of its
 * templates. */
static void the_templates_of_each_chart_are_counted(void)
{
    static const char *const folders[] = {
        "web",
        "web/templates",
        "web/templates/more",
        "web/charts",
        "web/charts/db",
        "web/charts/db/templates",
        "plain",
        "plain/templates",
        "plain/templates/in",
        "plain/templates/in/templates",
    };
    static const char template[] = "metadata: {name: {{ .Values.name }}}\n";
    static const struct {
        const char *path, *text;
    } files[] = {
        {"web/Chart.yaml", "name: web\n"},
        {"web/templates/a.yaml", template},
        {"web/templates/b.yaml", template},
        {"web/templates/more/c.yaml", template},
        {"web/templates/pod.yaml", POD("of-web")},
        {"web/charts/db/Chart.yaml", "name: db\n"},
        {"web/charts/db/templates/d.yaml", template},
        {"plain/templates/in/Chart.yaml", "name: in\n"},
        {"plain/templates/in/templates/e.yaml", template},
        {"plain/templates/pod.yaml", "# {{ a comment }}\n" POD("plain")},
    };
    char root[] = "/tmp/taffrail-charts-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
    for (size_t i = 0; i < COUNT_OF(folders); i++)
        CU_ASSERT_FATAL(mkdir(arena_printf(arena, "%s/%s", root, folders[i]).data, 0700) == 0);
    for (size_t i = 0; i < COUNT_OF(files); i++)
        write_file(arena_printf(arena, "%s/%s", root, files[i].path).data, files[i].text);

    struct manifests manifests;
    manifests_init(&manifests, arena);
    manifests_read(&manifests, root, TEXT("default"));
    /* five templates, and three Chart.yaml */
    ASSERT_TEXT(told(&manifests), "Pod plain, Pod of-web; skipped 0; files 8; problems 0");
    static const struct {
        const char *folder;
        size_t templates;
    } charts[] = {{"plain/templates/in", 1}, {"web/charts/db", 1}, {"web", 3}};
    ASSERT_INT(manifests.charts.count, COUNT_OF(charts));
    for (size_t i = 0; i < COUNT_OF(charts); i++) {
        struct text folder = arena_printf(arena, "%s/%s", root, charts[i].folder);
        size_t templates = 0;
        FOR_EACH(chart, &manifests.charts)
            if (text_equal(chart->folder, folder))
                templates += chart->templates;
        ASSERT_INT(templates, charts[i].templates);
    }

    /* who wants every file to be read is told how */
    manifests_init(&manifests, arena);
    manifests.strict_files = true;
    manifests_read(&manifests, arena_printf(arena, "%s/web/templates/a.yaml", root).data,
                   TEXT("default"));
    ASSERT_INT(manifests.charts.count, 0);
    ASSERT_INT(manifests.problems.count, 1);
    if (manifests.problems.count == 1)
        ASSERT_TEXT(text_of(manifests.problems.items[0].what),
                    arena_printf(arena,
                                 "is a template of a chart, and becomes a manifest only when it is "
                                 "rendered: helm template %s/web | taffrail check -f -",
                                 root)
                        .data);

    for (size_t i = 0; i < COUNT_OF(files); i++)
        unlink(arena_printf(arena, "%s/%s", root, files[i].path).data);
    for (size_t i = COUNT_OF(folders); i-- > 0;)
        rmdir(arena_printf(arena, "%s/%s", root, folders[i]).data);
    rmdir(root);
}

#define TEST(function)                       \
    static void in_arena_##function(void)    \
    {                                        \
        arena = arena_create(1 << 24);       \
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena); \
        function();                          \
        arena_destroy(arena);                \
    }
TEST(manifests_unfold_what_kubectl_writes)
TEST(texts_hold_objects)
TEST(files_of_json_hold_objects)
TEST(a_path_without_objects_is_a_mistake)
TEST(standard_input_names_its_files)
TEST(templates_are_those_of_a_chart)
TEST(the_templates_of_each_chart_are_counted)

const struct unit_test unit_tests[] = {
    {"manifests unfold what kubectl writes", in_arena_manifests_unfold_what_kubectl_writes},
    {"texts hold objects", in_arena_texts_hold_objects},
    {"files of JSON hold objects", in_arena_files_of_json_hold_objects},
    {"a path without objects is a mistake", in_arena_a_path_without_objects_is_a_mistake},
    {"standard input names its files", in_arena_standard_input_names_its_files},
    {"templates are those of a chart", in_arena_templates_are_those_of_a_chart},
    {"the templates of each chart are counted", in_arena_the_templates_of_each_chart_are_counted},
    {NULL, NULL},
};
