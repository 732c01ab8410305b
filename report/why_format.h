/* Private to report/: what the formats of an answer to why share. */
#ifndef TAFFRAIL_REPORT_WHY_FORMAT_H
#define TAFFRAIL_REPORT_WHY_FORMAT_H

#include "report/format.h"
#include "report/why.h"

/* One thing about a Node: text has it as a line, JSON as an item of reasons. */
struct why_point {
    const char *kind;
    struct text message;
    struct text pod, by, owner; /* of what blocks */
};
struct why_telling {
    const struct why_node *why;
    const struct disruption_pool *pool; /* NULL: it is of no NodePool */
    bool disruptable;                   /* nothing keeps it now */
    bool has_room;                      /* the budgets of its NodePool let a node more go now */
    int64_t now_unix_s;
    struct arena *arena;
    LIST(struct why_point) points;
};

/* taffrail.dev/why/v1 */
bool why_pod_json(const struct why_pod *why, struct arena *arena, FILE *out,
                  struct error *error) MUST_CHECK;
bool why_node_json(const struct why_telling *telling, FILE *out, struct error *error) MUST_CHECK;

#endif
