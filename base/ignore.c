/* Which files a walk leaves out: lines as .gitignore has them. */
#include "base/ignore.h"

#include <fnmatch.h>
#include <string.h>

/* ---- a line ---- */

static struct text without_blank_end(struct text line)
{
    while (line.size > 0 && strchr(" \t\r", line.data[line.size - 1]) != NULL &&
           !(line.size > 1 && line.data[line.size - 2] == '\\'))
        line.size--;
    return line;
}

/* The parts between slashes. */
static void split(struct text path, struct arena *arena, struct ignore_path *parts)
{
    size_t start = 0;
    *parts = (struct ignore_path){0};
    for (size_t i = 0; i <= path.size; i++) {
        if (i < path.size && path.data[i] != '/')
            continue;
        if (i > start)
            *LIST_PUSH(arena, parts) =
                arena_text(arena, (struct text){path.data + start, i - start}).data;
        start = i + 1;
    }
}

void ignore_add_line(struct ignore_rules *rules, struct text line, size_t depth)
{
    struct ignore_rule rule = {.depth = depth};
    line = without_blank_end(line);
    if (line.size == 0 || line.data[0] == '#')
        return;
    if (line.data[0] == '!') {
        rule.keeps = true;
        line.data++;
        line.size--;
    }
    if (line.size > 0 && line.data[line.size - 1] == '/') {
        rule.folders_only = true;
        line.size--;
    }
    rule.anchored = line.size > 0 && memchr(line.data, '/', line.size) != NULL;
    split(line, rules->arena, &rule.parts);
    if (rule.parts.count > 0)
        *LIST_PUSH(rules->arena, rules) = rule;
}

void ignore_add_lines(struct ignore_rules *rules, struct text lines, size_t depth)
{
    struct text line, rest = lines;
    while (text_split(rest, '\n', &line, &rest))
        ignore_add_line(rules, line, depth);
    ignore_add_line(rules, rest, depth);
}

/* ---- a path ---- */

static bool is_any_depth(const char *part)
{
    return strcmp(part, "**") == 0;
}

/* The last ** may be extended by one part at a time: what comes before it has been matched in the
 * shortest way, which leaves the most to what comes after it. */
static bool matches_parts(const struct ignore_path *glob, const struct ignore_path *path,
                          size_t from)
{
    size_t at = 0, next = from, resume_at = SIZE_MAX, resume_next = 0;
    while (next < path->count) {
        if (at < glob->count && is_any_depth(glob->items[at])) {
            if (++at == glob->count)
                return true;
            resume_at = at;
            resume_next = next;
        } else if (at < glob->count && fnmatch(glob->items[at], path->items[next], 0) == 0) {
            at++;
            next++;
        } else if (resume_at != SIZE_MAX) {
            at = resume_at;
            next = ++resume_next;
        } else {
            return false;
        }
    }
    return at == glob->count;
}

static bool matches(const struct ignore_rule *rule, const struct ignore_path *path, bool is_folder)
{
    if (path->count <= rule->depth || (rule->folders_only && !is_folder))
        return false;
    if (rule->anchored)
        return matches_parts(&rule->parts, path, rule->depth);
    return fnmatch(rule->parts.items[0], path->items[path->count - 1], 0) == 0;
}

bool ignore_leaves_out(const struct ignore_rules *rules, const struct ignore_path *path,
                       bool is_folder)
{
    for (size_t i = rules->count; i-- > 0;)
        if (matches(&rules->items[i], path, is_folder))
            return !rules->items[i].keeps;
    return false;
}
