#include "server/duties_contest.h"

#include <stdlib.h>

#include "server/duties.h"

enum {
    COUNT_MAX = 5, /* doublings of the pause */
    CALM_MS = 30 * 60 * 1000,
};

void contest_look(struct contest *contest, const struct node *configuration, bool differs,
                  struct text bundle, struct arena *arena)
{
    contest->overwritten = differs && contest->applied != NULL && text_is(bundle, contest->applied);
    contest->manager = contest->overwritten ? bundle_manager(configuration, arena) : TEXT("");
}

int64_t contest_pause_ms(struct contest *contest, int64_t look_ms, int64_t now_ms)
{
    int64_t since_ms = now_ms - contest->put_back_at_ms;
    if (since_ms > CALM_MS)
        contest->count = 0;
    int64_t left_ms = contest->count == 0 ? 0 : (look_ms << contest->count) - since_ms;
    return contest->overwritten && left_ms > 0 ? left_ms : 0;
}

void contest_applied(struct contest *contest, const char *name, struct text bundle, int64_t now_ms)
{
    if (contest->overwritten) {
        log_line(LOG_WARN, "duties", name, NULL,
                 "the CA bundle was overwritten%s%.*s; it was put back, %s. Leave caBundle out of "
                 "what installs the configuration",
                 contest->manager.size > 0 ? " by field manager " : "", TEXT_ARGS(contest->manager),
                 contest->count > 0 ? "less and less often" : "at once");
        contest->put_back_at_ms = now_ms;
        if (contest->count < COUNT_MAX)
            contest->count++;
    }
    free(contest->applied);
    contest->applied = text_duplicate(bundle);
}

void contest_forget(struct contest *contest)
{
    free(contest->applied);
    *contest = (struct contest){0};
}
