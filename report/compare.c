/* What another policy changes, for people and machines. */
#include "report/compare.h"

#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/tree.h"

/* ---- differences ---- */

enum difference difference_of(enum action before, enum action after)
{
    if (before == after)
        return DIFFERENCE_SAME;
    if (after == ACTION_DENY)
        return DIFFERENCE_DENIED;
    if (before == ACTION_DENY)
        return DIFFERENCE_FREED;
    if (after == ACTION_WARN)
        return DIFFERENCE_WARNED;
    if (after == ACTION_AUDIT && before < ACTION_AUDIT)
        return DIFFERENCE_AUDITED;
    return before >= ACTION_AUDIT && after < ACTION_AUDIT ? DIFFERENCE_CLEARED : DIFFERENCE_SAME;
}

static const struct {
    const char *key;     /* of JSON */
    const char *heading; /* of text, after a number of owners */
    const char *column;
    bool good;
} differences[DIFFERENCES] = {
    [DIFFERENCE_DENIED] = {"denied", "newly denied", "DENIED", false},
    [DIFFERENCE_FREED] = {"freed", "freed", "FREED", true},
    [DIFFERENCE_WARNED] = {"warned", "newly warned", "WARNED", false},
    [DIFFERENCE_AUDITED] = {"audited", "newly audited", "AUDITED", false},
    [DIFFERENCE_CLEARED] = {"cleared", "no longer warned or audited", "CLEARED", true},
};

static int compare_owners(const struct difference_row *a, const struct difference_row *b)
{
    int order = text_compare(a->namespace, b->namespace);
    if (order == 0)
        order = text_compare(a->kind, b->kind);
    return order != 0 ? order : text_compare(a->name, b->name);
}

static int compare_rows(const void *a_pointer, const void *b_pointer)
{
    const struct difference_row *a = a_pointer;
    const struct difference_row *b = b_pointer;
    if (a->difference != b->difference)
        return a->difference < b->difference ? -1 : 1;
    int order = strcmp(a->rail, b->rail);
    if (order == 0)
        order = compare_owners(a, b);
    return order != 0 ? order : text_compare(a->user, b->user);
}

static int compare_rows_by_owner(const void *a, const void *b)
{
    return compare_owners(a, b);
}

void difference_rows_mark_owners(struct difference_row *rows, size_t count)
{
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare_rows_by_owner);
    for (size_t i = 0, next = 0; i < count; i = next) {
        bool before = false, after = false;
        for (next = i; next < count && compare_owners(&rows[i], &rows[next]) == 0; next++) {
            before |= rows[next].before == ACTION_DENY;
            after |= rows[next].after == ACTION_DENY;
        }
        for (size_t j = i; j < next; j++) {
            rows[j].denied_before = before;
            rows[j].denied_after = after;
        }
    }
}

size_t difference_rows_finish(struct difference_row *rows, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].difference != DIFFERENCE_SAME)
            rows[kept++] = rows[i];
    if (kept > 1)
        qsort(rows, kept, sizeof *rows, compare_rows);
    return kept;
}

static int compare_row_owners(const void *a_pointer, const void *b_pointer)
{
    return compare_owners(*(const struct difference_row *const *)a_pointer,
                          *(const struct difference_row *const *)b_pointer);
}

size_t comparison_owners(const struct comparison *comparison, enum difference difference,
                         struct arena *arena)
{
    const struct difference_row **rows = (const struct difference_row **)ARENA_ARRAY(
        arena, comparison->row_count, const struct difference_row *);
    size_t count = 0, owners = 0;
    for (size_t i = 0; i < comparison->row_count; i++)
        if (comparison->rows[i].difference == difference)
            rows[count++] = &comparison->rows[i];
    if (count > 1)
        qsort((void *)rows, count, sizeof *rows, compare_row_owners);
    for (size_t i = 0; i < count; i++)
        owners += i == 0 || compare_owners(rows[i - 1], rows[i]) != 0;
    return owners;
}

/* ---- counts by rail and namespace: of owners, each once ---- */

struct rail_counts {
    const char *rail;
    struct text namespace;
    size_t of[DIFFERENCES];
};
struct rail_count_list {
    struct rail_counts *items;
    size_t count;
};

static int compare_counts(const void *a_pointer, const void *b_pointer)
{
    const struct rail_counts *a = a_pointer;
    const struct rail_counts *b = b_pointer;
    int order = strcmp(a->rail, b->rail);
    return order != 0 ? order : text_compare(a->namespace, b->namespace);
}

static struct rail_count_list count_rails(const struct comparison *comparison, struct arena *arena)
{
    struct rail_count_list list = {ARENA_ARRAY(arena, comparison->row_count, struct rail_counts),
                                   0};
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct difference_row *row = &comparison->rows[i];
        bool of_another_user = i > 0 && row[-1].difference == row->difference &&
                               strcmp(row[-1].rail, row->rail) == 0 &&
                               compare_owners(&row[-1], row) == 0;
        list.items[i] = (struct rail_counts){.rail = row->rail, .namespace = row->namespace};
        list.items[i].of[row->difference] = of_another_user ? 0 : 1;
    }
    if (comparison->row_count > 1)
        qsort(list.items, comparison->row_count, sizeof *list.items, compare_counts);
    for (size_t i = 0; i < comparison->row_count; i++) {
        struct rail_counts *last = list.count == 0 ? NULL : &list.items[list.count - 1];
        if (last == NULL || compare_counts(last, &list.items[i]) != 0)
            list.items[list.count++] = list.items[i];
        else
            for (size_t j = 0; j < DIFFERENCES; j++)
                last->of[j] += list.items[i].of[j];
    }
    return list;
}

/* ---- text ---- */

enum { LINES_SHOWN = 20 }; /* of a rail and a namespace */

struct printing {
    const struct comparison *comparison;
    struct arena *arena;
    FILE *out;
    bool colour;
};

static const char *colour(const struct printing *printing, const char *sequence)
{
    return printing->colour ? sequence : "";
}

static void put_verdict(const struct printing *printing)
{
    const struct comparison *comparison = printing->comparison;
    bool any = false;
    for (enum difference i = 0; i < DIFFERENCES; i++) {
        size_t owners = comparison_owners(comparison, i, printing->arena);
        if (owners == 0 && i != DIFFERENCE_DENIED)
            continue;
        const char *sequence = owners == 0 || differences[i].good ? "\033[32m" : "\033[31m";
        fprintf(printing->out, "%s%s%zu%s %s", any ? ", " : "", colour(printing, sequence), owners,
                colour(printing, "\033[0m"), differences[i].heading);
        any = true;
    }
    fprintf(printing->out, "; %zu %s%s judged\n", comparison->judged, comparison->unit,
            plural_s(comparison->judged));
    fprintf(printing->out, "old: ");
    put_printable(comparison->before, printing->out);
    fprintf(printing->out, "\nnew: ");
    put_printable(comparison->after, printing->out);
    fputc('\n', printing->out);
    if (comparison->first.size > 0) {
        fputs("requests from ", printing->out);
        put_printable(comparison->first, printing->out);
        fputs(" to ", printing->out);
        put_printable(comparison->last, printing->out);
        fputc('\n', printing->out);
    }
}

/* Why it is otherwise now, or what is wrong. */
static void put_reason(const struct printing *printing, const struct difference_row *row)
{
    static const char *const now[] = {[ACTION_NONE] = "nothing is found any more",
                                      [ACTION_EXCEPTED] = "excepted now",
                                      [ACTION_AUDIT] = "audited now",
                                      [ACTION_WARN] = "warned now",
                                      [ACTION_DENY] = "denied"};
    if (!differences[row->difference].good) {
        if (row->path.size > 0) {
            put_printable(row->path, printing->out);
            fputs(": ", printing->out);
        }
        put_printable(row->problem, printing->out);
        return;
    }
    fputs(now[row->after], printing->out);
    if (row->exception.size > 0) {
        fputs(" (", printing->out);
        put_printable(row->exception, printing->out);
        fputc(')', printing->out);
    }
}

/* Whether all but the name is the same. */
static bool reads_alike(const struct difference_row *a, const struct difference_row *b)
{
    return text_equal(a->kind, b->kind) && text_equal(a->user, b->user) &&
           text_equal(a->path, b->path) && text_equal(a->problem, b->problem) &&
           text_equal(a->exception, b->exception) && a->after == b->after &&
           a->denied_before == b->denied_before && a->denied_after == b->denied_after;
}

static void put_names(const struct printing *printing, const struct difference_row *rows,
                      size_t count)
{
    enum { NAMES_SHOWN = 5 };
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        fputs(i == 0 ? " " : ", ", printing->out);
        fputs(colour(printing, "\033[1m"), printing->out);
        put_printable(rows[i].name, printing->out);
        fputs(colour(printing, "\033[0m"), printing->out);
    }
    if (count > NAMES_SHOWN)
        fprintf(printing->out, " and %zu more", count - NAMES_SHOWN);
}

static void put_alike(const struct printing *printing, const struct difference_row *row,
                      size_t count)
{
    size_t units = 0;
    for (size_t i = 0; i < count; i++)
        units += row[i].count;
    fputs("      ", printing->out);
    put_printable(row->kind, printing->out);
    put_names(printing, row, count);
    if (row->user.size > 0) {
        fputs(", by ", printing->out);
        put_printable(row->user, printing->out);
    }
    if (units > count || row->user.size > 0)
        fprintf(printing->out, " (%zu %s%s)", units, printing->comparison->unit, plural_s(units));
    fputs(": ", printing->out);
    put_reason(printing, row);
    if (row->difference == DIFFERENCE_DENIED && row->denied_before)
        fputs(" (It was denied already, by another rail.)", printing->out);
    if (row->difference == DIFFERENCE_FREED && row->denied_after)
        fputs("; still denied by another rail", printing->out);
    fputc('\n', printing->out);
}

static void put_namespace(const struct printing *printing, const struct difference_row *rows,
                          size_t count)
{
    fputs("    ", printing->out);
    if (rows->namespace.size > 0)
        put_printable(rows->namespace, printing->out);
    else
        fputs("in no namespace", printing->out);
    fputc('\n', printing->out);
    size_t lines = 0, next = 0;
    for (size_t i = 0; i < count && lines < LINES_SHOWN; i = next, lines++) {
        for (next = i + 1; next < count && reads_alike(&rows[i], &rows[next]);)
            next++;
        put_alike(printing, &rows[i], next - i);
    }
    if (next < count)
        fprintf(printing->out, "      and %zu more; -o json has them all\n", count - next);
}

/* How many rows from this one on are of the same difference and rail, or namespace besides. */
static size_t run_of(const struct difference_row *rows, size_t count, bool of_namespace)
{
    size_t size = 1;
    while (size < count && rows[size].difference == rows->difference &&
           strcmp(rows[size].rail, rows->rail) == 0 &&
           (!of_namespace || text_equal(rows[size].namespace, rows->namespace)))
        size++;
    return size;
}

static void put_rows(const struct printing *printing)
{
    const struct comparison *comparison = printing->comparison;
    for (size_t i = 0; i < comparison->row_count;) {
        const struct difference_row *row = &comparison->rows[i];
        size_t size = run_of(row, comparison->row_count - i, false);
        if (i == 0 || row[-1].difference != row->difference)
            fprintf(printing->out, "\n%s%s%s\n", colour(printing, "\033[1m"),
                    differences[row->difference].heading, colour(printing, "\033[0m"));
        fprintf(printing->out, "  %s\n", row->rail);
        for (size_t j = 0; j < size;) {
            size_t of_namespace = run_of(&row[j], size - j, true);
            put_namespace(printing, &row[j], of_namespace);
            j += of_namespace;
        }
        i += size;
    }
}

static void put_table(const struct printing *printing)
{
    struct rail_count_list list = count_rails(printing->comparison, printing->arena);
    int rail_width = (int)strlen("RAIL");
    int namespace_width = (int)strlen("NAMESPACE");
    FOR_EACH(row, &list) {
        int rail = (int)strlen(row->rail);
        int namespace = (int)code_points(row->namespace);
        rail_width = rail > rail_width ? rail : rail_width;
        namespace_width = namespace > namespace_width ? namespace : namespace_width;
    }
    if (list.count == 0)
        return;
    fprintf(printing->out, "\n%-*s  %-*s", rail_width, "RAIL", namespace_width, "NAMESPACE");
    for (size_t i = 0; i < DIFFERENCES; i++)
        fprintf(printing->out, "  %s", differences[i].column);
    fputc('\n', printing->out);
    FOR_EACH(row, &list) {
        fprintf(printing->out, "%-*s  ", rail_width, row->rail);
        put_printable(row->namespace, printing->out);
        fprintf(printing->out, "%*s", namespace_width - (int)code_points(row->namespace), "");
        for (size_t i = 0; i < DIFFERENCES; i++)
            fprintf(printing->out, "  %*zu", (int)strlen(differences[i].column), row->of[i]);
        fputc('\n', printing->out);
    }
}

static void put_counts(const struct printing *printing)
{
    const struct comparison *comparison = printing->comparison;
    bool begun = false;
    for (size_t i = 0; i < comparison->count_count; i++) {
        const struct comparison_count *count = &comparison->counts[i];
        if (count->count == 0)
            continue;
        fprintf(printing->out, "%s%s %zu", begun ? ", " : "\nnot compared: ", count->words,
                count->count);
        begun = true;
    }
    if (begun)
        fputc('\n', printing->out);
}

static void write_text(const struct comparison *comparison, const struct report_style *style,
                       struct arena *arena, FILE *out)
{
    const struct printing printing = {comparison, arena, out, style->colour};
    put_verdict(&printing);
    put_rows(&printing);
    put_table(&printing);
    put_counts(&printing);
}

/* ---- JSON ---- */

static struct node row_node(const struct difference_row *row, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put_string(&map, "difference", differences[row->difference].key);
    tree_put_string(&map, "rail", row->rail);
    tree_put_text(&map, "namespace", row->namespace);
    tree_put_text(&map, "kind", row->kind);
    tree_put_text(&map, "name", row->name);
    tree_put_text(&map, "user", row->user);
    tree_put_string(&map, "before", action_name(row->before));
    tree_put_string(&map, "after", action_name(row->after));
    tree_put(&map, "ownerDeniedBefore", node_of_bool(row->denied_before));
    tree_put(&map, "ownerDeniedAfter", node_of_bool(row->denied_after));
    tree_put_count(&map, "count", row->count);
    tree_put_text(&map, "policy", row->policy);
    tree_put_text(&map, "field", row->path);
    tree_put_text(&map, "message", row->problem);
    tree_put_text(&map, "exception", row->exception);
    return tree_map_node(&map);
}

static struct node totals_node(const struct comparison *comparison, struct arena *arena)
{
    struct tree_map map = {.arena = arena};
    tree_put_count(&map, "judged", comparison->judged);
    for (enum difference i = 0; i < DIFFERENCES; i++)
        tree_put_count(&map, differences[i].key, comparison_owners(comparison, i, arena));
    for (size_t i = 0; i < comparison->count_count; i++)
        tree_put_count(&map, comparison->counts[i].key, comparison->counts[i].count);
    tree_put_count(&map, "errors", comparison->errors->count);
    return tree_map_node(&map);
}

static struct node rails_node(const struct comparison *comparison, struct arena *arena)
{
    struct tree_list rails = {.arena = arena};
    struct rail_count_list list = count_rails(comparison, arena);
    FOR_EACH(row, &list) {
        struct tree_map map = {.arena = arena};
        tree_put_string(&map, "rail", row->rail);
        tree_put_text(&map, "namespace", row->namespace);
        for (size_t i = 0; i < DIFFERENCES; i++)
            tree_put_count(&map, differences[i].key, row->of[i]);
        tree_add(&rails, tree_map_node(&map));
    }
    return tree_list_node(&rails);
}

static bool write_json(const struct comparison *comparison, struct arena *arena, FILE *out,
                       struct error *error)
{
    struct tree_map root = {.arena = arena};
    struct tree_list rows = {.arena = arena};
    for (size_t i = 0; i < comparison->row_count; i++)
        tree_add(&rows, row_node(&comparison->rows[i], arena));
    tree_put_string(&root, "schema", comparison->schema);
    tree_put_text(&root, "old", comparison->before);
    tree_put_text(&root, "new", comparison->after);
    tree_put_text(&root, "first", comparison->first);
    tree_put_text(&root, "last", comparison->last);
    tree_put(&root, "owners", tree_list_node(&rows));
    tree_put(&root, "rails", rails_node(comparison, arena));
    tree_put(&root, "errors", tree_errors(comparison->errors, arena));
    tree_put(&root, "summary", totals_node(comparison, arena));
    const struct node node = tree_map_node(&root);
    return tree_write(&node, arena, out, error);
}

/* ---- formats ---- */

const char *const report_comparison_format_names[] = {"text", "json", NULL};

bool report_comparison_write(int format, const struct comparison *comparison,
                             const struct report_style *style, struct arena *arena, FILE *out,
                             struct error *error)
{
    if (format == 1)
        return write_json(comparison, arena, out, error);
    write_text(comparison, style, arena, out);
    return true;
}
