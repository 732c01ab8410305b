/* A comment on a pull request: what is said, and that nothing of it becomes markup, a link or a
 * mention. */
#include "report/impact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/object.h"
#include "unit.h"

const char unit_suite[] = "report: impact as Markdown";

static struct text said_of(const struct impact_report *report, struct arena *arena)
{
    enum { FORMAT_MARKDOWN = 2 };
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const struct report_style style = {.columns = 120};
    struct error error;
    CU_ASSERT_FATAL(out != NULL);
    CU_ASSERT(report_impact_write(FORMAT_MARKDOWN, report, &style, arena, out, &error));
    fclose(out);
    struct text said = arena_text(arena, text_of(text));
    free(text);
    return said;
}

static void the_heading_says_how_much(void)
{
    static const struct object pool = {
        .kind = KIND_NODE_POOL, .kind_name = TEXT("NodePool"), .name = TEXT("general")};
    static const struct impact_entry effect = {
        .operation = IMPACT_UPDATE, .object = &pool, .words = {.effect = TEXT("Some nodes go.")}};
    const struct impact_entry both[] = {effect, effect};
    static const struct impact_entry nothing = {
        .operation = IMPACT_DELETE, .object = &pool, .nothing = TEXT("It is not there.")};
    static const struct impact_entry unknown = {.operation = IMPACT_CREATE,
                                                .object = &pool,
                                                .words = {.unseen = TEXT("Nodes are not seen")}};
#define UPDATE "\n#### update `NodePool general`\n\nSome nodes go.\n"
#define UNKNOWN                                                        \
    "\n#### create `NodePool general`\n\nWhat it does is not known.\n" \
    "This is not certain: Nodes are not seen.\n"
    const struct {
        struct impact_report report;
        const char *said;
    } cases[] = {
        {{0},
         "### Impact on nodes: 0 nodes go\n\nThere is no change of a NodePool, a node class, a "
         "StorageClass, a PriorityClass, a PersistentVolumeClaim or a Namespace.\n"},
        {{.fragments = 1},
         "### Impact on nodes: 0 nodes go\n\nOnly parts of objects were given, as kustomize "
         "patches are: what they change is not known. Give what they are built into (kustomize "
         "build).\n"},
        {{.errors = 1},
         "### Impact on nodes: 0 nodes go\n\n1 error: not all could be read or understood.\n"},
        {{.entries = &effect, .count = 1, .nodes_together = 1, .errors = 2},
         "### Impact on nodes: 1 node goes\n\n2 errors: not all could be read or "
         "understood.\n" UPDATE},
        {{.entries = both, .count = 2, .nodes_together = 3},
         "### Impact on nodes: 3 nodes go\n\nEach of the 2 changes is looked at as if it came "
         "alone. Together they take 3 nodes, each counted once.\n" UPDATE UPDATE},
        {{.entries = &nothing, .count = 1},
         "### Impact on nodes: 0 nodes go\n\n#### delete `NodePool general`\n\nIt is not there.\n"},
        {{.entries = &unknown, .count = 1}, "### Impact on nodes: not known\n" UNKNOWN},
        {{.entries = &unknown, .count = 1, .nodes_together = 2},
         "### Impact on nodes: 2 nodes go\n" UNKNOWN},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        ASSERT_TEXT(said_of(&cases[i].report, arena), cases[i].said);
        arena_destroy(arena);
    }
}

/* Names come from files that anybody may have written. */
static void text_stays_text(void)
{
    static const struct {
        const char *name, *effect, *said; /* behind the heading */
    } cases[] = {
        {"a*b*", "Two nodes go (10%), at 09:00.",
         "`NodePool a*b*`\n\nTwo nodes go (10%), at 09:00.\n"},
        {"a`b", "a_b [c] {d}", "`` NodePool a`b ``\n\na\\_b \\[c\\] \\{d\\}\n"},
        {"a```b", "a `b`", "```` NodePool a```b ````\n\n`` a `b` ``\n"},
        {"<img src=x>", "<b>a</b>", "`NodePool <img src=x>`\n\n`<b>a</b>`\n"},
        {"[a](b)", "see https://example.com", "`NodePool [a](b)`\n\n`see https://example.com`\n"},
        {"@team", "ask @team", "`NodePool @team`\n\n`ask @team`\n"},
        {"a", "see www.example.com", "`NodePool a`\n\n`see www.example.com`\n"},
        {"a", "write mailto:a", "`NodePool a`\n\n`write mailto:a`\n"},
        {"a", "as #1 says", "`NodePool a`\n\n`as #1 says`\n"},
        {"a", "caf\u00e9", "`NodePool a`\n\n`caf\u00e9`\n"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        const struct object pool = {
            .kind = KIND_NODE_POOL, .kind_name = TEXT("NodePool"), .name = text_of(cases[i].name)};
        const struct impact_entry entry = {.operation = IMPACT_UPDATE,
                                           .object = &pool,
                                           .words = {.effect = text_of(cases[i].effect)}};
        const struct impact_report report = {.entries = &entry, .count = 1};
        const struct text begin = TEXT("### Impact on nodes: 0 nodes go\n\n#### update ");
        struct text said = said_of(&report, arena);
        CU_ASSERT_FATAL(text_starts_with(said, begin));
        ASSERT_TEXT(((struct text){said.data + begin.size, said.size - begin.size}), cases[i].said);
        arena_destroy(arena);
    }
}

/* Of long lists what is not shown is counted. */
static void details_are_folded(void)
{
    enum { LOST = 21 };
    static const struct object node = {
        .kind = KIND_NODE, .kind_name = TEXT("Node"), .name = TEXT("n_1")};
    struct text reasons[] = {TEXT("drift: spec.template"), TEXT("deletion")}, lost[LOST];
    struct impact_block block = {.node = &node, .by = TEXT("do-not-disrupt")};
    struct arena *arena = arena_create(1 << 20);
    for (size_t i = 0; i < LOST; i++)
        lost[i] = arena_printf(arena, "web-%zu", i);
    const struct impact_entry entry = {
        .operation = IMPACT_UPDATE,
        .object = &node,
        .words = {.effect = TEXT("Some nodes go.")},
        .planned = true,
        .impact = {.reasons = {.items = reasons, .count = COUNT_OF(reasons)},
                   .reason_total = 5,
                   .blocks = &block,
                   .block_count = 1,
                   .block_total = 1},
        .plan = {.unschedulable = {.items = lost, .count = LOST}},
    };
    const struct impact_report report = {.entries = &entry, .count = 1};
    struct text said = said_of(&report, arena);
    static const char *const parts[] = {
        "\n<details><summary>Why (5)</summary>\n\n- drift: spec.template\n- deletion\n- 3 more\n"
        "\n</details>\n",
        "\n<details><summary>What blocks (1)</summary>\n\n- node n\\_1: do-not-disrupt\n"
        "\n</details>\n",
        "\n<details><summary>Pods that would fit nowhere (21)</summary>\n\n- web-0\n- web-1\n",
        "\n- web-19\n- 1 more\n\n</details>\n",
    };
    const char *at = said.data;
    for (size_t i = 0; i < COUNT_OF(parts) && at != NULL; i++) {
        at = strstr(at, parts[i]);
        CU_ASSERT_PTR_NOT_NULL(at);
    }
    arena_destroy(arena);
}

const struct unit_test unit_tests[] = {
    {"the heading says how much", the_heading_says_how_much},
    {"text stays text", text_stays_text},
    {"details are folded", details_are_folded},
    {NULL, NULL},
};
