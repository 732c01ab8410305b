/* What placeable says of a pod that fits nowhere: the nearest NodePools, why each cannot run it,
 * and what to do. */
#include <string.h>

#include "kube/snapshot.h"
#include "policy/rails/instance_list.h"
#include "policy/rails/placeable.h"
#include "simulation/supply.h"

/* How near a NodePool is: what the pod does not select it does not want, a taint keeps most pods
 * out, and what is said of Nodes tells least. */
enum standing { STANDS_FIRST, STANDS_SECOND, STANDS_THIRD, STANDS_FOURTH, STANDS_LAST, STANDINGS };

static enum standing standing_of(const struct supply_reason *reason)
{
    if (reason->node_pool.size == 0)
        return STANDS_LAST;
    bool taint = reason->kind == SOLVER_REASON_TAINT;
    if (!reason->selected)
        return taint ? STANDS_FOURTH : STANDS_THIRD;
    return taint ? STANDS_SECOND : STANDS_FIRST;
}

static bool same_reason(const struct supply_reason *a, const struct supply_reason *b)
{
    return standing_of(a) == standing_of(b) && text_equal(a->message, b->message) &&
           text_equal(a->nearest, b->nearest);
}

static bool is_told(const struct supply_answer *answer, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (same_reason(&answer->reasons[i], &answer->reasons[index]))
            return true;
    return false;
}

/* A name alone, and not a sentence. */
static bool is_name(struct text nearest)
{
    return nearest.size > 0 && memchr(nearest.data, ' ', nearest.size) == NULL;
}

/* "NodePool a", "NodePools a, b and 3 more": all that fail for one reason. */
static size_t add_pools(struct text_builder *text, const struct supply_answer *answer, size_t index)
{
    enum { SHOWN = 3 };
    struct text_builder names = {.arena = text->arena};
    size_t count = 0;
    for (size_t i = index; i < answer->reason_count; i++)
        if (same_reason(&answer->reasons[index], &answer->reasons[i]) && count++ < SHOWN)
            text_builder_printf(&names, "%s%.*s", count == 1 ? "" : ", ",
                                TEXT_ARGS(answer->reasons[i].node_pool));
    text_builder_printf(text, "NodePool%s %.*s", count == 1 ? "" : "s",
                        TEXT_ARGS(text_builder_text(&names)));
    if (count > SHOWN)
        text_builder_printf(text, " and %zu more", count - SHOWN);
    return count;
}

/* Reasons that begin with a verb are said of the pod. */
static bool is_of_the_pod(struct text message)
{
    static const char *const verbs[] = {"asks ", "needs ", "does ", "attaches "};
    for (size_t i = 0; i < COUNT_OF(verbs); i++)
        if (text_starts_with(message, text_of(verbs[i])))
            return true;
    return false;
}

/* Returns for how many NodePools it stands. */
static size_t add_reason(struct text_builder *why, const struct supply_answer *answer, size_t index)
{
    const struct supply_reason *reason = &answer->reasons[index];
    size_t count = 0;
    if (reason->node_pool.size > 0) {
        count = add_pools(why, answer, index);
        text_builder_add(why, TEXT(": "));
    }
    text_builder_printf(why, "%s%.*s", is_of_the_pod(reason->message) ? "the pod " : "",
                        TEXT_ARGS(reason->message));
    if (reason->nearest.size > 0)
        text_builder_printf(why, " (%s%.*s)", is_name(reason->nearest) ? "nearest: " : "",
                            TEXT_ARGS(reason->nearest));
    return count;
}

static const struct supply_reason *nearest_reason(const struct supply_answer *answer)
{
    const struct supply_reason *nearest = NULL;
    for (size_t i = 0; i < answer->reason_count; i++)
        if (nearest == NULL || standing_of(&answer->reasons[i]) < standing_of(nearest))
            nearest = &answer->reasons[i];
    return nearest;
}

static void begin_sentence(struct text_builder *text, size_t start)
{
    char *first = &text->data[start];
    if (*first >= 'a' && *first <= 'z')
        *first = (char)(*first - 'a' + 'A');
}

/* ---- what to do ---- */

static struct text sentence_of(struct text words, struct arena *arena)
{
    struct text_builder text = {.arena = arena};
    text_builder_printf(&text, "%.*s.", TEXT_ARGS(words));
    begin_sentence(&text, 0);
    return text_builder_text(&text);
}

/* Whether the policy's instance-types, where it has one, allows a type. */
static bool is_allowed(const struct rail_call *call, struct text type)
{
    const struct instance_list *list = rail_settings(call, &rail_instance_types);
    return list == NULL ||
           instance_list_value(list, DIMENSION_TYPE, type, call->arena) == VALUE_POSSIBLE;
}

static struct text fix_of_taint(const struct rail_call *call, const struct supply_reason *reason)
{
    static const struct {
        const char *says, *without;
    } sayings[] = {{"does not tolerate the taint ", "it"},
                   {"does not tolerate the taints ", "them"}};
    for (size_t i = 0; i < COUNT_OF(sayings); i++) {
        struct text said = text_of(sayings[i].says), taints = reason->message;
        if (!text_starts_with(taints, said))
            continue;
        taints.data += said.size;
        taints.size -= said.size;
        return arena_printf(call->arena, "Tolerate %.*s, or let a NodePool without %s run the pod.",
                            TEXT_ARGS(taints), sayings[i].without);
    }
    return TEXT("Tolerate the taints of a NodePool, or select another one.");
}

static struct text fix_of(const struct rail_call *call, const struct supply_reason *reason)
{
    struct text pool = reason->node_pool;
    if (reason->fix.size > 0)
        return sentence_of(reason->fix, call->arena);
    if (reason->kind == SOLVER_REASON_VOLUME)
        return TEXT("Let a NodePool launch where the volume is, or move the data.");
    if (pool.size == 0 && text_starts_with(reason->message, TEXT("asks for ")))
        return TEXT("Remove the request, or add nodes that have it.");
    if (pool.size == 0)
        return TEXT("Ask for what some Node has, or add a NodePool.");
    switch (reason->kind) {
    case SOLVER_REASON_TAINT:
        return fix_of_taint(call, reason);
    case SOLVER_REASON_RESOURCES:
        if (text_starts_with(reason->nearest, TEXT("no type ")))
            return arena_printf(call->arena,
                                "Let NodePool %.*s launch types that have it, or select another "
                                "NodePool.",
                                TEXT_ARGS(pool));
        return arena_printf(call->arena,
                            "Ask for less, or let NodePool %.*s launch types that hold it.",
                            TEXT_ARGS(pool));
    case SOLVER_REASON_REQUIREMENT:
        if (is_name(reason->nearest) && is_allowed(call, reason->nearest))
            return arena_printf(call->arena,
                                "Select %.*s, or widen the requirements of NodePool %.*s.",
                                TEXT_ARGS(reason->nearest), TEXT_ARGS(pool));
        return arena_printf(call->arena,
                            "Select what NodePool %.*s has, or change its requirements or labels.",
                            TEXT_ARGS(pool));
    default:
        return arena_printf(call->arena,
                            "Change what the pod asks for, or NodePool %.*s; taffrail plan shows "
                            "what would be bought.",
                            TEXT_ARGS(pool));
    }
}

/* ---- the whole ---- */

static const char *who_cannot(const struct snapshot *snapshot)
{
    if (snapshot_count(snapshot, KIND_NODE) == 0)
        return "No NodePool can";
    return snapshot_pool_count(snapshot) == 0 ? "No Node can" : "No NodePool and no Node can";
}

static struct text statement_of(const struct placing *placing, const struct supply_answer *answer)
{
    enum { SHOWN = 2 };
    const struct rail_call *call = placing->call;
    struct text_builder why = {.arena = call->arena};
    size_t shown = 0, pools = 0, told = 0;
    text_builder_printf(&why, "%s run %s.", who_cannot(call->world->snapshot),
                        call->object->kind == KIND_POD ? "this pod" : "these pods");
    if (answer->term_count > SUPPLY_TERMS_MAX)
        text_builder_printf(&why, " Only the first %d of its %zu nodeSelectorTerms count here.",
                            SUPPLY_TERMS_MAX, answer->term_count);
    for (size_t i = 0; i < answer->reason_count; i++)
        pools += answer->reasons[i].node_pool.size > 0;
    for (enum standing standing = STANDS_FIRST; standing < STANDINGS; standing++) {
        for (size_t i = 0; i < answer->reason_count && shown < SHOWN; i++) {
            if (standing_of(&answer->reasons[i]) != standing || is_told(answer, i))
                continue;
            text_builder_add(&why, shown == 0 ? TEXT(" ") : TEXT("; "));
            size_t start = why.size;
            told += add_reason(&why, answer, i);
            if (shown++ == 0)
                begin_sentence(&why, start);
        }
    }
    text_builder_add(&why, TEXT("."));
    if (pools > told)
        text_builder_printf(&why, " %zu other NodePool%s not suit either.", pools - told,
                            pools - told == 1 ? " does" : "s do");
    return text_builder_text(&why);
}

void placeable_report_nowhere(const struct placing *placing, const struct supply_answer *answer)
{
    struct rail_call *call = placing->call;
    const struct supply_reason *nearest = nearest_reason(answer);
    report_with(call, .field = placing->workload.spec, .statement = statement_of(placing, answer),
                .fault = TEXT(RUNS_NOWHERE),
                .fix = nearest == NULL ? TEXT("Ask for less.") : fix_of(call, nearest));
}
