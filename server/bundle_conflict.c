/* Another writer of CA bundles: how long our own write waits. */
#include "server/bundle_conflict.h"

#include <stdlib.h>

#include "server/webhook_manager.h"

enum {
    COUNT_MAX = 5, /* doublings of the pause */
    CALM_MS = 30 * 60 * 1000,
};

void bundle_conflict_look(struct bundle_conflict *conflict, const struct node *configuration,
                          bool differs, struct text bundle, struct arena *arena)
{
    conflict->overwritten =
        differs && conflict->applied != NULL && text_is(bundle, conflict->applied);
    conflict->manager = conflict->overwritten ? bundle_manager(configuration, arena) : TEXT("");
}

int64_t bundle_conflict_pause_ms(struct bundle_conflict *conflict, int64_t look_ms, int64_t now_ms)
{
    int64_t since_ms = now_ms - conflict->put_back_at_ms;
    if (since_ms > CALM_MS)
        conflict->count = 0;
    int64_t left_ms = conflict->count == 0 ? 0 : (look_ms << conflict->count) - since_ms;
    return conflict->overwritten && left_ms > 0 ? left_ms : 0;
}

void bundle_conflict_applied(struct bundle_conflict *conflict, const char *name, struct text bundle,
                             int64_t now_ms)
{
    if (conflict->overwritten) {
        log_line(LOG_WARN, "webhook-manager", name, NULL,
                 "the CA bundle was overwritten%s%.*s; it was put back, %s. Leave caBundle out of "
                 "what installs the configuration",
                 conflict->manager.size > 0 ? " by field manager " : "",
                 TEXT_ARGS(conflict->manager),
                 conflict->count > 0 ? "less and less often" : "at once");
        conflict->put_back_at_ms = now_ms;
        if (conflict->count < COUNT_MAX)
            conflict->count++;
    }
    free(conflict->applied);
    conflict->applied = text_duplicate(bundle);
}

void bundle_conflict_forget(struct bundle_conflict *conflict)
{
    free(conflict->applied);
    *conflict = (struct bundle_conflict){0};
}
