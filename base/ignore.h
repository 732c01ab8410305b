/* Which files a walk leaves out: lines as .gitignore has them. */
#ifndef TAFFRAIL_BASE_IGNORE_H
#define TAFFRAIL_BASE_IGNORE_H

#include "base/base.h"

/* The parts of a path between its slashes. */
struct ignore_path {
    const char **items;
    size_t count, capacity;
};
struct ignore_rule {
    struct ignore_path parts;
    size_t depth;      /* of the folder that has the line: so many parts of a path lead there */
    bool keeps;        /* !GLOB: does not leave out what an earlier line leaves out */
    bool folders_only; /* GLOB/ */
    bool anchored;     /* has a slash before its end: matches from its folder on */
};
/* The rules of a folder and of those around it, in order. Zero-initialise with an arena. */
struct ignore_rules {
    struct arena *arena;
    struct ignore_rule *items;
    size_t count, capacity;
};

/* What is read of .gitignore's syntax: comments (#), !, a slash at the end, at the beginning and
 * within, *, ?, [a-z], [!a-z], ** as a whole part, and the backslash. Blanks at the end do not
 * count, unless there is a backslash before them. */
void ignore_add_line(struct ignore_rules *rules, struct text line, size_t depth);
void ignore_add_lines(struct ignore_rules *rules, struct text lines, size_t depth);
/* The last rule that matches decides. As with git, nothing in a folder that is left out comes back.
 */
bool ignore_leaves_out(const struct ignore_rules *rules, const struct ignore_path *path,
                       bool is_folder);

#endif
