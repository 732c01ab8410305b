/* Options of `taffrail plan`, `impact` and `why` for Karpenter's settings. */
#include "cli/plan_settings.h"

#include <stddef.h>
#include <stdio.h>

#include "kube/time.h"
#include "simulation/simulation.h"

struct solver_settings solver_settings_of(const struct policies_of_karpenter *policies)
{
    return (struct solver_settings){
        .ignore_preferences = policies->preference == KARPENTER_IGNORE_PREFERENCES,
        .best_effort_min_values = policies->min_values == KARPENTER_BEST_EFFORT_MIN_VALUES,
    };
}

/* ---- --optimize ---- */

static const struct {
    const char *name;
    size_t offset; /* of a bool in struct solver_optimize */
} optimizations[] = {
    {"joint-zones", offsetof(struct solver_optimize, joint_zones)},
    {"spread-in-one", offsetof(struct solver_optimize, spread_in_one)},
    {"exact-limits", offsetof(struct solver_optimize, exact_limits)},
    {"best-fit", offsetof(struct solver_optimize, best_fit)},
    {"cheapest", offsetof(struct solver_optimize, cheapest)},
};

static bool switch_on(struct text name, struct solver_optimize *optimize)
{
    bool all = text_is(name, "all"), any = all;
    for (size_t i = 0; i < COUNT_OF(optimizations); i++)
        if (all || text_is(name, optimizations[i].name)) {
            *(bool *)((char *)optimize + optimizations[i].offset) = true;
            any = true;
        }
    return any;
}

#define OPTIMIZE_TIME_S 10

static bool read_time(const char *time, int64_t *time_s)
{
    *time_s = OPTIMIZE_TIME_S;
    if (time == NULL || (duration_parse(text_of(time), time_s) && *time_s > 0))
        return true;
    usage_error("plan",
                "--optimize-time is \"%s\"; it wants a duration above 0 in h, m and s, such "
                "as 30s or 5m",
                time);
    return false;
}

bool plan_read_optimize(const char *names, const char *time, struct plan_optimize *optimize)
{
    *optimize = (struct plan_optimize){0};
    if (!read_time(time, &optimize->time_s))
        return false;
    if (names == NULL)
        return true;
    struct text rest = text_of(names[0] == '\0' ? "all" : names), name;
    for (bool more = true; more;) {
        more = text_split(rest, ',', &name, &rest);
        if (!more)
            name = rest;
        if (switch_on(name, &optimize->what))
            continue;
        usage_error("plan",
                    "--optimize names \"%.*s\"; allowed are joint-zones, spread-in-one, "
                    "exact-limits, best-fit, cheapest and all, with commas between",
                    TEXT_ARGS(name));
        return false;
    }
    return true;
}

/* ---- --feature-gates ---- */

/* Gates that change what is bought in a way that a plan does not model. */
static const bool is_beyond_plans[KARPENTER_GATE_COUNT] = {
    [KARPENTER_NodeOverlay] = true,
    [KARPENTER_StaticCapacity] = true,
    [KARPENTER_CapacityBuffer] = true,
};

/* As Go's strconv.ParseBool, which Karpenter uses. */
static bool read_bool(struct text value, bool *read)
{
    static const char *const words[2][6] = {{"0", "f", "F", "false", "False", "FALSE"},
                                            {"1", "t", "T", "true", "True", "TRUE"}};
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < COUNT_OF(words[i]); j++)
            if (text_is(value, words[i][j])) {
                *read = i == 1;
                return true;
            }
    return false;
}

static bool read_gate(struct text name, bool on, struct reserved_capacity *reserved)
{
    for (size_t i = 0; i < KARPENTER_GATE_COUNT; i++) {
        if (!text_is(name, karpenter_gates[i]))
            continue;
        if (i == KARPENTER_ReservedCapacity)
            reserved->off = !on;
        if (!on || !is_beyond_plans[i])
            return true;
        usage_error("plan", "--feature-gates sets %s=true, which a plan cannot reckon with",
                    karpenter_gates[i]);
        return false;
    }
    usage_error("plan",
                "--feature-gates names \"%.*s\", which is no feature gate of Karpenter's; the one "
                "that changes a plan is ReservedCapacity",
                TEXT_ARGS(name));
    return false;
}

bool plan_read_feature_gates(const char *gates, struct reserved_capacity *reserved)
{
    struct text rest = text_of(gates), gate, name, value;
    for (bool more = true; more;) {
        bool on = false;
        more = text_split(rest, ',', &gate, &rest);
        if (!more)
            gate = rest;
        if (!text_split(gate, '=', &name, &value) || !read_bool(value, &on)) {
            usage_error("plan",
                        "--feature-gates has \"%.*s\"; a gate is written NAME=true or NAME=false, "
                        "with commas between",
                        TEXT_ARGS(gate));
            return false;
        }
        if (!read_gate(name, on, reserved))
            return false;
    }
    return true;
}

/* ---- --reservation ---- */

bool plan_read_reservations(const struct string_list *counts, struct arena *arena,
                            struct reserved_capacity *reserved)
{
    struct reservation_count *items = ARENA_ARRAY(arena, counts->count, struct reservation_count);
    for (size_t i = 0; i < counts->count; i++) {
        struct text id, machines;
        int64_t count = 0;
        if (!text_split(text_of(counts->items[i]), '=', &id, &machines) || id.size == 0 ||
            !text_to_int64(machines, &count) || count < 0 || count > INT32_MAX) {
            usage_error("plan",
                        "--reservation is \"%s\"; it must be ID=N, as in cr-0123456789abcdef0=4: "
                        "the machines that are free in that capacity reservation",
                        counts->items[i]);
            return false;
        }
        items[i] = (struct reservation_count){arena_text(arena, id).data, (uint32_t)count};
    }
    reserved->items = items;
    reserved->count = counts->count;
    return true;
}
