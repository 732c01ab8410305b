/* What holds for an object: which policies reach it, and how strict each of their rails is with it,
 * whatever is found in it. */
#ifndef TAFFRAIL_POLICY_HOLDING_H
#define TAFFRAIL_POLICY_HOLDING_H

#include "policy/policy_set.h"

/* Who says a rail's mode. */
enum mode_source {
    MODE_OF_RAIL,      /* the rail's own key */
    MODE_OF_POLICY,    /* spec.mode */
    MODE_BY_DEFAULT,   /* nobody: audit */
    MODE_OF_WARN_RAIL, /* nobody: a rail that only warns unless it is told otherwise */
};

struct rail_holding {
    const struct rail_use *use;
    enum mode_source mode_source;
    enum mode mode; /* as the override leaves it */
    const struct override *override;
    const struct exception *exception;
    bool exception_expired;
    bool since_spares;  /* it or its owner is older than use->since_unix_s */
    bool audited_only;  /* a controller makes it of what is judged itself */
    bool unknown;       /* it hangs on labels of the namespace, which are not visible */
    enum action action; /* what becomes of a finding that weighs as its rail does */
};

struct policy_holding {
    const struct policy *policy;
    enum match_result match;
    const char *key; /* of spec.match, which decides that it does not reach it, or may not */
    const struct rail_holding *rails; /* those that judge such objects */
    size_t rail_count, other_rails;
};

struct object_holding {
    const struct object *object;
    struct text root_name; /* whose names are matched; the object's own when nothing owns it */
    const struct policy_holding *policies;
    size_t policy_count;
};

void holding_find(const struct world *world, const struct subject *subject, int64_t now_unix_s,
                  struct arena *arena, struct object_holding *holding);

#endif
