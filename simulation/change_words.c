/* What a change does, in sentences: the rail change-impact and the command line say the same. */
#include <time.h>

#include "catalog/usd.h"
#include "kube/object.h"
#include "simulation/change_impact.h"

struct telling {
    const struct change_question *question;
    const struct change_impact *impact;
    const struct impact_plan *plan; /* NULL: none is made */
    struct arena *arena;
};

/* "general and spot", "a, b, c and 5 more" */
static struct text names_of(const struct text_list *names, struct arena *arena)
{
    enum { NAMED = 3 };
    return texts_and(names->items, names->count, NAMED, arena);
}

/* ---- how fast ---- */

/* "Sunday 05:00 UTC" within the next days, else with the date. */
static struct text time_words(int64_t unix_s, int64_t now_unix_s, struct arena *arena)
{
    static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
    enum { NEAR_S = 6 * 24 * 3600 };
    time_t seconds = (time_t)unix_s;
    struct tm t = {0};
    if (unix_s - now_unix_s > NEAR_S || gmtime_r(&seconds, &t) == NULL)
        return arena_printf(arena, "%.*s UTC", TEXT_ARGS(window_time_text(unix_s, arena)));
    return arena_printf(arena, "%s %02d:%02d UTC", days[t.tm_wday], t.tm_hour, t.tm_min);
}

static struct text at_once_words(const struct telling *telling)
{
    const struct change_impact *impact = telling->impact;
    if (impact->at_once >= impact->nodes_replaced)
        return TEXT("all at once");
    if (impact->at_once_most > impact->at_once)
        return arena_printf(telling->arena, "at most %zu at a time, then %zu", impact->at_once,
                            impact->at_once_most);
    return arena_printf(telling->arena, "at most %zu at a time", impact->at_once);
}

static struct text pace_words(const struct telling *telling)
{
    const struct change_impact *impact = telling->impact;
    struct arena *arena = telling->arena;
    int64_t now = telling->question->now_unix_s, opens = impact->window.open_unix_s;
    if (impact->windows == WINDOW_NEVER)
        return TEXT(", but budgets never let one go");
    if (impact->windows == WINDOW_UNKNOWN)
        return TEXT(", at a pace that is not known");
    struct text from = opens <= now
                           ? TEXT("now")
                           : arena_printf(arena, "%.*s", TEXT_ARGS(time_words(opens, now, arena)));
    /* A NodePool of a fixed size gives up what nothing blocks first. */
    if (impact->nodes_blocked >= impact->nodes_replaced)
        return TEXT(", all of them blocked as things are");
    if (impact->at_once == 0)
        return arena_printf(arena, ", none of them right %s%.*s", opens <= now ? "" : "from ",
                            TEXT_ARGS(from));
    return arena_printf(arena, ", %.*s, from %.*s%s", TEXT_ARGS(at_once_words(telling)),
                        TEXT_ARGS(from), opens <= now ? " on" : "");
}

/* ---- what it does ---- */

static bool all_stay(const struct change_impact *impact, const struct impact_plan *plan)
{
    return plan != NULL && plan->staying_count > 0 && plan->staying_count == impact->nodes_replaced;
}

static void add_replaced(const struct telling *telling, struct text_builder *words)
{
    const struct change_impact *impact = telling->impact;
    if (all_stay(impact, telling->plan))
        text_builder_printf(words,
                            "This change makes %zu of %zu node%s drift, and Karpenter can replace "
                            "none of them as things are.",
                            impact->drift.counts[DRIFT_NEWLY], impact->nodes_total,
                            plural_s(impact->nodes_total));
    else
        text_builder_printf(words, "This change replaces %zu of %zu node%s%.*s.",
                            impact->nodes_replaced, impact->nodes_total,
                            plural_s(impact->nodes_total), TEXT_ARGS(pace_words(telling)));
    if (impact->nodes_waiting > 0)
        text_builder_printf(words, " %zu more wait%s to be replaced after earlier changes.",
                            impact->nodes_waiting, impact->nodes_waiting == 1 ? "s" : "");
}

static void add_deleted(const struct telling *telling, struct text_builder *words)
{
    const struct change_impact *impact = telling->impact;
    text_builder_printf(
        words,
        "%s deletes %zu of %zu node%s at once, before new ones are there, whatever the "
        "budgets say.",
        words->size > 0 ? " It" : "This", impact->nodes_deleted, impact->nodes_total,
        plural_s(impact->nodes_total));
    if (telling->plan != NULL && telling->plan->staying_count > 0)
        return; /* nobody knows on which nodes */
    const char *at_least = impact->at_least ? "At least " : "";
    size_t moving = impact->pods_moving, gone = impact->pods_gone;
    if (moving > 0)
        text_builder_printf(words, " %s%zu pod%s need%s another place", at_least, moving,
                            plural_s(moving), moving == 1 ? "s" : "");
    if (gone > 0) {
        if (moving > 0)
            text_builder_printf(words, ", and %zu", gone);
        else
            text_builder_printf(words, " %s%zu pod%s", at_least, gone, plural_s(gone));
        text_builder_printf(words, " %s gone for good, since no controller makes %s again",
                            gone == 1 ? "is" : "are", gone == 1 ? "it" : "them");
    }
    if (moving + gone > 0)
        text_builder_add(words, TEXT("."));
}

static void add_unknown(const struct telling *telling, struct text_builder *words)
{
    const struct change_impact *impact = telling->impact;
    text_builder_printf(words, "%s%zu %s%zu node%s may be replaced, which only the cloud knows.",
                        words->size > 0 ? " " : "", impact->nodes_unknown,
                        words->size > 0 ? "more of " : "of ", impact->nodes_total,
                        plural_s(impact->nodes_total));
}

static void add_kept(const struct telling *telling, struct text_builder *words)
{
    const struct change_impact *impact = telling->impact;
    struct text pools = names_of(&impact->pools, telling->arena);
    if (telling->question->before->kind == KIND_NODE_POOL)
        text_builder_printf(
            words,
            "%zu node%s stay%s without %s NodePool: Karpenter no longer replaces "
            "or consolidates %s.",
            impact->nodes_kept, plural_s(impact->nodes_kept), impact->nodes_kept == 1 ? "s" : "",
            impact->nodes_kept == 1 ? "its" : "their", impact->nodes_kept == 1 ? "it" : "them");
    else
        text_builder_printf(words,
                            "NodePool%s %.*s launch%s no more nodes; the %zu that run%s stay%s, "
                            "without successors.",
                            plural_s(impact->pools.count), TEXT_ARGS(pools),
                            impact->pools.count == 1 ? "es" : "", impact->nodes_kept,
                            impact->nodes_kept == 1 ? "s" : "", impact->nodes_kept == 1 ? "s" : "");
}

/* ---- what uses it ---- */

static void add_class_users(const struct telling *telling, struct text_builder *words)
{
    const struct change_impact *impact = telling->impact;
    size_t total = impact->user_total, stuck = impact->users_stuck;
    text_builder_printf(words, "%zu object%s use%s this StorageClass", total, plural_s(total),
                        total == 1 ? "s" : "");
    if (telling->question->after != NULL)
        text_builder_add(words, TEXT(": their volumes stay as they are, new ones are made as the "
                                     "class then says."));
    else if (stuck > 0)
        text_builder_printf(words,
                            ": %zu PersistentVolumeClaim%s wait%s for a volume that nobody "
                            "makes any more.",
                            stuck, plural_s(stuck), stuck == 1 ? "s" : "");
    else
        text_builder_add(words, TEXT(": no volume can be made or expanded for them any more."));
}

static void add_priority_users(const struct telling *telling, struct text_builder *words)
{
    size_t total = telling->impact->user_total;
    text_builder_printf(words, "%zu Pod%s use%s this PriorityClass and keep%s the old priority",
                        total, plural_s(total), total == 1 ? "s" : "", total == 1 ? "s" : "");
    text_builder_add(words, telling->question->after == NULL
                                ? TEXT("; their successors are refused.")
                                : TEXT("; their successors get the new one."));
}

static void add_claim_users(const struct telling *telling, struct text_builder *words)
{
    const struct change_impact *impact = telling->impact;
    text_builder_printf(words,
                        "%zu Pod%s mount%s this PersistentVolumeClaim: it goes with the last of "
                        "them%s.",
                        impact->user_total, plural_s(impact->user_total),
                        impact->user_total == 1 ? "s" : "",
                        impact->data_lost ? ", and its volume with all data" : "");
}

static void add_namespace_users(const struct telling *telling, struct text_builder *words)
{
    const struct change_impact *impact = telling->impact;
    text_builder_printf(words, "%zu %s with this Namespace%s.", impact->user_total,
                        impact->user_total == 1 ? "Pod or PersistentVolumeClaim goes"
                                                : "Pods and PersistentVolumeClaims go",
                        impact->data_lost ? ", and volumes with all data" : "");
}

static void add_users(const struct telling *telling, struct text_builder *words)
{
    enum kind kind = telling->question->before->kind;
    if (kind == KIND_STORAGE_CLASS)
        add_class_users(telling, words);
    else if (kind == KIND_PRIORITY_CLASS)
        add_priority_users(telling, words);
    else if (kind == KIND_PERSISTENT_VOLUME_CLAIM)
        add_claim_users(telling, words);
    else /* no other kind has users (change_users.c) */
        add_namespace_users(telling, words);
}

static struct text effect_words(const struct telling *telling)
{
    const struct change_impact *impact = telling->impact;
    struct text_builder words = {.arena = telling->arena};
    if (impact->nodes_replaced > 0)
        add_replaced(telling, &words);
    if (impact->nodes_deleted > 0)
        add_deleted(telling, &words);
    if (impact->nodes_unknown > 0)
        add_unknown(telling, &words);
    if (impact->nodes_kept > 0)
        add_kept(telling, &words);
    if (impact->user_total > 0)
        add_users(telling, &words);
    if (words.size == 0 && impact->nodes_spared > 0)
        text_builder_printf(&words, "This change keeps %zu node%s that would have been replaced.",
                            impact->nodes_spared, plural_s(impact->nodes_spared));
    if (words.size == 0)
        text_builder_add(&words, TEXT("This change replaces and deletes no node."));
    return text_builder_text(&words);
}

/* ---- what blocks ---- */

/* The namespaces of the pods that block, in which their owners are found. */
static struct text teams_of(const struct telling *telling)
{
    const struct change_impact *impact = telling->impact;
    struct text_map seen = {0};
    struct text_list names = {0};
    size_t pods = 0;
    for (size_t i = 0; i < impact->block_count; i++) {
        const struct object *pod = impact->blocks[i].pod;
        pods += pod != NULL;
        if (pod != NULL && text_map_add(&seen, telling->arena, pod->namespace))
            *LIST_PUSH(telling->arena, &names) = pod->namespace;
    }
    texts_sort(names.items, names.count);
    struct text named = names_of(&names, telling->arena);
    return impact->pods_blocking == pods
               ? named
               : arena_printf(telling->arena, "%.*s and perhaps others", TEXT_ARGS(named));
}

/* "team-a/web-0 (PodDisruptionBudget web), ...": pods, or the nodes themselves. */
static struct text list_blocks(const struct telling *telling, bool pods, size_t total)
{
    enum { NAMED = 3 };
    const struct change_impact *impact = telling->impact;
    struct arena *arena = telling->arena;
    struct text_builder words = {.arena = arena};
    size_t named = 0;
    for (size_t i = 0; i < impact->block_count && named < NAMED; i++) {
        const struct impact_block *block = &impact->blocks[i];
        if ((block->pod != NULL) != pods)
            continue;
        named++;
        text_builder_list(
            &words, pods ? arena_printf(arena, "%.*s/%.*s (%.*s)", TEXT_ARGS(block->pod->namespace),
                                        TEXT_ARGS(block->pod->name), TEXT_ARGS(block->by))
                         : arena_printf(arena, "%.*s (%.*s)", TEXT_ARGS(block->node->name),
                                        TEXT_ARGS(block->by)));
    }
    if (total > named)
        text_builder_printf(&words, " and %zu more", total - named);
    return text_builder_text(&words);
}

static struct text blocks_words(const struct telling *telling)
{
    const struct change_impact *impact = telling->impact;
    struct text_builder words = {.arena = telling->arena};
    size_t pods = impact->pods_blocking, nodes = impact->block_total - pods;
    const char *verb = impact->nodes_deleted > 0 ? "hold up the drain" : "block it";
    const char *verb_of_one = impact->nodes_deleted > 0 ? "holds up the drain" : "blocks it";
    if (pods > 0)
        text_builder_printf(&words, "%s%zu pod%s of %.*s %s: %.*s.",
                            impact->at_least ? "At least " : "", pods, plural_s(pods),
                            TEXT_ARGS(teams_of(telling)), pods == 1 ? verb_of_one : verb,
                            TEXT_ARGS(list_blocks(telling, true, pods)));
    if (nodes > 0)
        text_builder_printf(&words, "%s%zu node%s cannot go: %.*s.", words.size > 0 ? " " : "",
                            nodes, plural_s(nodes), TEXT_ARGS(list_blocks(telling, false, nodes)));
    return text_builder_text(&words);
}

/* ---- what is not seen ---- */

static struct text unseen_words(const struct telling *telling)
{
    kind_set unseen = telling->impact->unseen;
    return unseen == 0 ? TEXT("")
                       : arena_printf(telling->arena, "%.*s cannot all be seen",
                                      TEXT_ARGS(kinds_in_words(unseen, telling->arena)));
}

struct impact_words change_impact_words(const struct change_question *question,
                                        const struct change_impact *impact,
                                        const struct impact_plan *plan, struct arena *arena)
{
    const struct telling telling = {question, impact, plan, arena};
    return (struct impact_words){
        .effect = effect_words(&telling),
        .blocks = blocks_words(&telling),
        .unseen = unseen_words(&telling),
    };
}

/* ---- the plan ---- */

/* Of the nodes that go, those that would not go without the change. */
static size_t nodes_priced(const struct change_impact *impact, const struct impact_plan *plan)
{
    size_t nodes = change_impact_nodes(impact) - plan->staying_count;
    for (size_t i = 0; i < impact->forecast.node_count; i++)
        nodes -= impact->forecast.nodes[i].leaving;
    return nodes;
}

static struct text price_words(const struct change_impact *impact, const struct impact_plan *plan,
                               struct arena *arena)
{
    enum { DECIMALS = 4 };
    if (nodes_priced(impact, plan) == 0)
        return TEXT("");
    if (impact->forecast.node_count < change_impact_nodes(impact) ||
        plan->staying_count < plan->staying.count)
        return TEXT("What it costs is not known: Karpenter chooses which nodes go.");
    bool is_priced = plan->usd_micro_per_hour_before >= 0;
    bool is_unknown = plan->from_template || plan->bought_undecided;
    if (!is_priced || (plan->usd_micro_per_hour_after < 0 && !is_unknown))
        return TEXT("What it costs is not known: nodes have no price in the catalogue.");
    const struct text before = usd_text(plan->usd_micro_per_hour_before, DECIMALS, arena);
    if (plan->from_template)
        return arena_printf(arena,
                            "The nodes that go cost $%.*s an hour. What is bought instead is not "
                            "known: for a NodePool of a fixed size the cloud chooses.",
                            TEXT_ARGS(before));
    if (plan->bought_undecided)
        return arena_printf(arena,
                            "The nodes that go cost $%.*s an hour. What is bought instead is not "
                            "known: of some pods it is not decided whether they fit.",
                            TEXT_ARGS(before));
    if (plan->usd_micro_per_hour_after == 0)
        return arena_printf(arena,
                            "The nodes that go cost $%.*s an hour, and none is bought instead.",
                            TEXT_ARGS(before));
    return arena_printf(arena, "The nodes that go cost $%.*s an hour, those bought instead $%.*s.",
                        TEXT_ARGS(before),
                        TEXT_ARGS(usd_text(plan->usd_micro_per_hour_after, DECIMALS, arena)));
}

/* Karpenter looks for the places before it replaces a node (docs/reference/karpenter.md 6.11). */
static void add_staying(const struct impact_plan *plan, struct text_builder *words)
{
    size_t nodes = plan->staying_count;
    if (plan->in_doubt)
        text_builder_printf(
            words, "%sKarpenter does not begin with a node whose pods fit nowhere%s.",
            words->size > 0 ? " " : "",
            plan->of_leaving ? ", nor with any while pods of one that is leaving do" : "");
    if (nodes > 0)
        text_builder_printf(words, " So %zu node%s stay%s.", nodes, plural_s(nodes),
                            nodes == 1 ? "s" : "");
}

static struct text unschedulable_words(const struct change_impact *impact,
                                       const struct impact_plan *plan, struct arena *arena)
{
    enum { PODS_NAMED = 5 };
    const struct text_list *pods = &plan->unschedulable, *undecided = &plan->undecided;
    const struct text_list *gone = &plan->gone;
    struct text_builder words = {.arena = arena};
    text_builder_add(&words, plan->stopped);
    if (pods->count > 0)
        text_builder_printf(&words, "%s%zu pod%s would fit nowhere afterwards: %.*s.",
                            words.size > 0 ? " " : "", pods->count, plural_s(pods->count),
                            TEXT_ARGS(texts_and(pods->items, pods->count, PODS_NAMED, arena)));
    if (impact->nodes_replaced > 0)
        add_staying(plan, &words);
    if (undecided->count > 0)
        text_builder_printf(
            &words, "%sOf %zu pod%s it is not decided whether %s afterwards: %.*s.",
            words.size > 0 ? " " : "", undecided->count, plural_s(undecided->count),
            undecided->count == 1 ? "it fits" : "they fit",
            TEXT_ARGS(texts_and(undecided->items, undecided->count, PODS_NAMED, arena)));
    if (gone->count > 0 && impact->nodes_deleted == 0)
        text_builder_printf(
            &words, "%s%zu pod%s %s gone for good, since no controller makes %s again: %.*s.",
            words.size > 0 ? " " : "", gone->count, plural_s(gone->count),
            gone->count == 1 ? "is" : "are", gone->count == 1 ? "it" : "them",
            TEXT_ARGS(texts_and(gone->items, gone->count, PODS_NAMED, arena)));
    return text_builder_text(&words);
}

struct impact_plan_words change_plan_words(const struct change_impact *impact,
                                           const struct impact_plan *plan, struct arena *arena)
{
    return (struct impact_plan_words){
        .unschedulable = unschedulable_words(impact, plan, arena),
        .price = price_words(impact, plan, arena),
    };
}
