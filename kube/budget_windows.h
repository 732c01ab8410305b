/* The disruption budgets of a NodePool, and when they let nodes be disrupted. */
#ifndef TAFFRAIL_KUBE_BUDGET_WINDOWS_H
#define TAFFRAIL_KUBE_BUDGET_WINDOWS_H

#include "kube/cron.h"
#include "kube/quantity.h"

struct object;

enum { REASON_UNDERUTILIZED = 1, REASON_EMPTY = 2, REASON_DRIFTED = 4, REASONS_ALL = 7 };
/* The repair of nodes, which is behind a feature gate, and not in REASONS_ALL: advice never names
 * it, since Karpenter before 1.15 refuses it. A budget without reasons is for it, too. */
enum { REASON_UNHEALTHY = 8 };

/* What cron_next() said last: it says the same of any time before the one it found. */
struct firing {
    bool known;
    int64_t after_unix_s, unix_s;
};
struct budget {
    const struct field *field, *nodes_field, *schedule_field, *duration_field;
    struct text nodes, schedule, duration; /* as written */
    bool nodes_given, schedule_given, duration_given;
    unsigned reasons; /* a set of REASON_X */
    struct share share;
    bool nodes_valid, schedule_valid, duration_valid;
    struct text schedule_fault;
    struct cron cron;
    bool fires;                    /* some day */
    struct firing *active, *start; /* asked whether it is active, and when it starts */
    int64_t duration_s;
};
struct budgets {
    const struct field *field;
    struct budget *items;
    size_t count, capacity;
    bool given;       /* the list is there; where it is not, there is one budget of 10 % */
    unsigned reasons; /* those for which Karpenter disrupts nodes of the pool at all */
};
void budgets_read(const struct object *pool, int64_t now_unix_s, struct arena *arena,
                  struct budgets *budgets);
/* A list that is not there is one budget of 10 %. */
struct budgets budgets_with_default(const struct budgets *budgets, struct arena *arena);
/* Those that hold for a reason, as budgets of all reasons: their windows are those of the reason.
 */
struct budgets budgets_of_reason(const struct budgets *budgets, unsigned reason,
                                 struct arena *arena);

/* Whether a set of REASON_X has all reasons of the pool. */
bool budgets_have_no_other(const struct budgets *budgets, unsigned reasons);
/* It can be read as a whole. One that cannot makes Karpenter disrupt no node of the pool. */
bool budget_is_valid(const struct budget *budget);
/* The rest is asked of budgets that are valid. */
/* It allows no node to be disrupted while it is active. */
bool budget_blocks(const struct budget *budget);
/* It comes and goes. One whose schedule never comes is always active. */
bool budget_is_scheduled(const struct budget *budget);

/* How many of the nodes may be disrupted at once, for a reason, at a time; 0 where some budget
 * cannot be read. */
#define BUDGETS_UNLIMITED ((int64_t)INT32_MAX)
int64_t budgets_allowed(const struct budgets *budgets, unsigned reason, int64_t nodes,
                        int64_t unix_s);

/* Whether nodes may be disrupted, for some reason, at a time. */
bool budgets_open(const struct budgets *budgets, int64_t unix_s);

/* A stretch of time in which nodes may be disrupted. */
struct window {
    int64_t open_unix_s, close_unix_s; /* INT64_MAX: it does not close */
};
enum window_answer {
    WINDOW_FOUND,
    WINDOW_NEVER, /* none opens any more */
    WINDOW_UNKNOWN,
};
/* The first one that is open at a time or opens after it. */
enum window_answer window_next(const struct budgets *budgets, int64_t from_unix_s,
                               struct window *window);
/* The same for who asks often: a step is a time at which some budget comes or goes, and those taken
 * are taken off *steps_left. WINDOW_UNKNOWN when none is left. */
enum { WINDOW_STEPS = 20000 }; /* what window_next takes at most */
enum window_answer window_next_within(const struct budgets *budgets, int64_t from_unix_s,
                                      size_t *steps_left, struct window *window);

/* "Sat 2026-11-28 00:00" */
struct text window_time_text(int64_t unix_s, struct arena *arena);
/* "Sat 2026-11-28 00:00 to Mon 2026-11-30 09:00, ... UTC": the next three from a time on; empty
 * when there is none. */
struct text windows_text(const struct budgets *budgets, int64_t from_unix_s, struct arena *arena);

#endif
