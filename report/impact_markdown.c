/* What changes do to nodes and pods, as Markdown for a comment on a pull request. Names come from
 * files that anybody may have written: none of them becomes markup, a link or a mention. */
#include "report/impact_format.h"

#include <string.h>

enum { UNSCHEDULABLE_SHOWN = 20 };

/* ---- text that stays text ---- */

/* Characters that mean nothing in Markdown, whatever is beside them. */
static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr(" ,.:;/%\"'-=()?+", c) != NULL);
}

/* Characters that a backslash makes plain. */
static bool is_escaped(char c)
{
    return c != '\0' && strchr("_[]{}", c) != NULL;
}

/* What GitHub makes a link of by itself, without markup. */
static bool is_linked(struct text t)
{
    static const struct text parts[] = {{"://", 3}, {"www.", 4}, {"mailto:", 7}, {"xmpp:", 5}};
    for (size_t i = 0; i < t.size; i++)
        for (size_t j = 0; j < COUNT_OF(parts); j++)
            if (text_starts_with((struct text){t.data + i, t.size - i}, parts[j]))
                return true;
    return false;
}

/* Of names, and of sentences with characters that nobody meant to be there: literally. The fence is
 * longer than any run of backticks inside. */
static void put_code(struct text t, FILE *out)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < t.size; i++) {
        run = t.data[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
    fputs(longest > 0 ? " " : "", out);
    put_printable(t, out);
    fputs(longest > 0 ? " " : "", out);
    for (size_t i = 0; i <= longest; i++)
        fputc('`', out);
}

static void put_sentence(struct text t, FILE *out)
{
    bool plain = !is_linked(t);
    for (size_t i = 0; i < t.size && plain; i++)
        plain = is_plain(t.data[i]) || is_escaped(t.data[i]);
    if (!plain) {
        put_code(t, out);
        return;
    }
    for (size_t i = 0; i < t.size; i++) {
        if (is_escaped(t.data[i]))
            fputc('\\', out);
        fputc(t.data[i], out);
    }
}

/* ---- the comment ---- */

static void put_list(const char *title, const struct text *items, size_t count, size_t total,
                     FILE *out)
{
    if (count == 0)
        return;
    fprintf(out, "\n<details><summary>%s (%zu)</summary>\n\n", title, total);
    for (size_t i = 0; i < count; i++) {
        fputs("- ", out);
        put_sentence(items[i], out);
        fputc('\n', out);
    }
    if (count < total)
        fprintf(out, "- %zu more\n", total - count);
    fputs("\n</details>\n", out);
}

static void put_details(const struct impact_entry *entry, struct arena *arena, FILE *out)
{
    const struct change_impact *impact = &entry->impact;
    const struct text_list *lost = &entry->plan.unschedulable;
    struct text *blocks = ARENA_ARRAY(arena, impact->block_count, struct text);
    for (size_t i = 0; i < impact->block_count; i++)
        blocks[i] = impact_block_words(&impact->blocks[i], arena);
    put_list("Why", impact->reasons.items, impact->reasons.count, impact->reason_total, out);
    put_list("What blocks", blocks, impact->block_count, impact->block_total, out);
    if (entry->planned)
        put_list("Pods that would fit nowhere", lost->items,
                 lost->count < UNSCHEDULABLE_SHOWN ? lost->count : UNSCHEDULABLE_SHOWN, lost->count,
                 out);
}

static void put_entry(const struct impact_entry *entry, struct arena *arena, FILE *out)
{
    const struct text_list sentences = impact_sentences(entry, arena);
    fprintf(out, "\n#### %s ", impact_operation_names[entry->operation]);
    put_code(impact_title(entry, arena), out);
    fputs("\n\n", out);
    FOR_EACH(sentence, &sentences) {
        put_sentence(*sentence, out);
        fputc('\n', out);
    }
    if (entry->nothing.size == 0)
        put_details(entry, arena, out);
}

void impact_markdown(const struct impact_report *report, struct arena *arena, FILE *out)
{
    bool unknown = false;
    for (size_t i = 0; i < report->count; i++)
        unknown = unknown || impact_is_unknown(&report->entries[i]);
    if (unknown && report->nodes_together == 0)
        fputs("### Impact on nodes: not known\n", out);
    else
        fprintf(out, "### Impact on nodes: %zu node%s go%s\n", report->nodes_together,
                plural_s(report->nodes_together), report->nodes_together == 1 ? "es" : "");
    struct text together = impact_together(report, arena);
    if (together.size > 0) {
        fputc('\n', out);
        put_sentence(together, out);
        fputc('\n', out);
    }
    if (report->count == 0 && impact_none(report).size > 0)
        fprintf(out, "\n%.*s\n", TEXT_ARGS(impact_none(report)));
    if (report->errors > 0)
        fprintf(out, "\n%zu error%s: not all could be read or understood.\n", report->errors,
                plural_s(report->errors));
    for (size_t i = 0; i < report->count; i++)
        put_entry(&report->entries[i], arena, out);
}
