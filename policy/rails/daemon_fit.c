/* The rail daemon-fit: what a DaemonSet does to the machines that it runs on. */
#include "simulation/daemon_fit.h"
#include "catalog/usd.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/quantity.h"
#include "kube/snapshot.h"
#include "policy/launchable.h"
#include "policy/rails/placeable.h"
#include "simulation/supply.h"

struct settings {
    struct share max_lost;
    int64_t warn_above;
    bool warns_above;
};

static const struct key keys[] = {
    {.name = "maxLost",
     .type = KEY_SHARE,
     .offset = offsetof(struct settings, max_lost),
     .summary = "how many instance types of a NodePool, or what part of them, it may leave without "
                "room for pods",
     .default_value = "10%"},
    {.name = "warnAbove",
     .type = KEY_INTEGER,
     .offset = offsetof(struct settings, warn_above),
     .given_offset = offsetof(struct settings, warns_above),
     .summary = "what it may take of all Nodes together, in dollars a month; more is a warning, "
                "and with 0 what each DaemonSet takes is said",
     .minimum = 0,
     .maximum = 1000000000},
    {0},
};

struct check {
    struct rail_call *call;
    struct workload workload;
    struct daemon_fit fit;
};

/* ---- words ---- */

static struct text quantity_text(const struct named_amount *request, struct arena *arena)
{
    const int64_t mebi = 1 << 20;
    struct text resource = text_of(request->resource);
    if (text_is(resource, "cpu"))
        return quantity_canonical(arena_printf(arena, "%lldm", (long long)request->quantity),
                                  arena);
    int64_t whole_mebi = request->quantity / mebi + (request->quantity % mebi > 0 ? 1 : 0);
    if (TEXT_IS_ONE_OF(resource, "memory", "ephemeral-storage"))
        return quantity_canonical(arena_printf(arena, "%lldMi", (long long)whole_mebi), arena);
    return arena_printf(arena, "%lld", (long long)request->quantity);
}

/* "250m cpu and 512Mi memory"; of many resources the first. */
static struct text request_text(const struct check *check)
{
    enum { SHOWN = 3 };
    struct arena *arena = check->call->arena;
    struct text parts[SHOWN];
    size_t count = 0;
    FOR_EACH(request, &check->fit.requests) {
        if (count == SHOWN || text_is(text_of(request->resource), "pods"))
            break;
        parts[count++] = arena_printf(arena, "%.*s %s", TEXT_ARGS(quantity_text(request, arena)),
                                      request->resource);
    }
    return count == 0 ? TEXT("no more than its place") : texts_and(parts, count, SHOWN, arena);
}

/* ---- instance types ---- */

static bool is_many(const struct settings *settings, size_t lost, size_t roomy)
{
    size_t most = (size_t)settings->max_lost.amount;
    return settings->max_lost.percent ? lost * 100 > roomy * most : lost > most;
}

static void report_lost(struct check *check, const struct pool *pool, const struct type_set *lost,
                        size_t count, size_t roomy)
{
    struct rail_call *call = check->call;
    struct arena *arena = call->arena;
    const struct catalog *catalog = call->world->catalog;
    struct text name = pool->object->name;
    struct text which =
        count == roomy ? arena_printf(arena, "no instance type of NodePool %.*s", TEXT_ARGS(name))
                       : arena_printf(arena, "%zu of %zu instance types of NodePool %.*s", count,
                                      roomy, TEXT_ARGS(name));
    struct text statement =
        count == roomy
            ? arena_printf(arena,
                           "With this DaemonSet %.*s has room for the DaemonSets of its nodes "
                           "(%.*s), so Karpenter buys no node there.",
                           TEXT_ARGS(which), TEXT_ARGS(type_set_text(catalog, lost, arena)))
            : arena_printf(arena,
                           "With this DaemonSet %.*s %s no room for the DaemonSets of such "
                           "nodes, so Karpenter buys no more of them: %.*s.",
                           TEXT_ARGS(which), count == 1 ? "has" : "have",
                           TEXT_ARGS(type_set_text(catalog, lost, arena)));
    report_with(call, .field = check->workload.spec, .found = name,
                .values = type_set_names(catalog, lost, arena), .statement = statement,
                .fix = arena_printf(arena,
                                    "Ask for less than %.*s, or keep its pods off NodePool %.*s "
                                    "with node affinity.",
                                    TEXT_ARGS(request_text(check)), TEXT_ARGS(name)));
}

static void judge_pool(struct check *check, const struct pool *pool)
{
    struct rail_call *call = check->call;
    const struct launchable *launchable = pool_launchable(call, pool);
    if (!launchable->covered || launchable->count == 0 || !pool_makes_nodes(pool) ||
        !pool_takes(call->world->catalog, pool, &check->workload, call->arena) ||
        placeable_tells_daemon_set(call, &check->workload, pool))
        return;
    size_t roomy;
    struct type_set lost = daemon_fit_lost(&check->fit, pool, &launchable->types, &roomy);
    size_t count = type_set_count(&lost);
    if (count > 0 && is_many(call->settings, count, roomy))
        report_lost(check, pool, &lost, count, roomy);
}

/* ---- Nodes that are there ---- */

static int64_t value_of(const struct object *class)
{
    int64_t value = 0;
    (void)node_integer(node_get(class->root->node, "value"), &value);
    return value;
}

/* Of pods that name no class. */
static int64_t usual_priority(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_PRIORITY_CLASS); i++) {
        const struct object *class = snapshot_object(snapshot, KIND_PRIORITY_CLASS, i);
        if (node_true(node_get(class->root->node, "globalDefault")))
            return value_of(class);
    }
    return 0;
}

/* Whether other pods make room for its own. A class that cannot be seen is believed to. */
static bool preempts(const struct check *check)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    struct text name = node_string(node_get(check->workload.spec->node, "priorityClassName"));
    if (name.size == 0 || TEXT_IS_ONE_OF(name, "system-node-critical", "system-cluster-critical"))
        return name.size > 0;
    const struct object *class = snapshot_find(snapshot, KIND_PRIORITY_CLASS, TEXT(""), name);
    return class == NULL ||
           (!text_is(node_string(node_get(class->root->node, "preemptionPolicy")), "Never") &&
            value_of(class) > usual_priority(snapshot));
}

/* Of Nodes and Pods the kinds that do not show how full Nodes are. */
static kind_set kinds_unseen(const struct world *world)
{
    const kind_set kinds = KIND_BIT(KIND_NODE) | KIND_BIT(KIND_POD);
    return kinds_without_object(world, kinds) | (world->unseen & kinds);
}

static void report_unseen(struct check *check, kind_set unseen)
{
    struct arena *arena = check->call->arena;
    report_found(check->call, SEVERITY_UNDECIDED,
                 field_get(arena, check->workload.spec, "priorityClassName"), TEXT(""),
                 advice_to_show(check->call, unseen, ""),
                 "Without a priority class it needs room on every Node, and %.*s are not visible.",
                 TEXT_ARGS(kinds_in_words(unseen, arena)));
}

static void report_full(struct check *check, const struct daemon_nodes *nodes)
{
    enum { SHOWN = 5 };
    struct arena *arena = check->call->arena;
    const struct field *field = field_get(arena, check->workload.spec, "priorityClassName");
    struct text class = node_string(field->node);
    struct text why =
        class.size == 0 ? TEXT("Without a priority class")
                        : arena_printf(arena, "With priority class %.*s, which displaces no pods,",
                                       TEXT_ARGS(class));
    report_with(
        check->call, .field = field, .found = class, .values = nodes->full,
        .statement = arena_printf(
            arena,
            "It fits on %zu of the %zu Nodes that it is for; %zu %s no room for it (%.*s): %.*s. "
            "%.*s it stays Pending there, since Karpenter buys no node for a DaemonSet.",
            nodes->count - nodes->full.count, nodes->count, nodes->full.count,
            nodes->full.count == 1 ? "has" : "have", TEXT_ARGS(request_text(check)),
            TEXT_ARGS(texts_and(nodes->full.items, nodes->full.count, SHOWN, arena)),
            TEXT_ARGS(why)),
        .fix = TEXT("Set a priorityClassName such as system-node-critical, or ask for less."));
}

/* ---- money ---- */

enum { MICRO = 1000000 };

static void judge_cost(struct check *check, const struct daemon_nodes *nodes)
{
    const struct settings *settings = check->call->settings;
    struct arena *arena = check->call->arena;
    int64_t month_micro = usd_a_month(nodes->usd_micro_per_hour);
    if (!settings->warns_above || nodes->priced == 0 || month_micro <= settings->warn_above * MICRO)
        return;
    int64_t of_one = month_micro / (int64_t)nodes->priced;
    struct text limit = TEXT("");
    if (settings->warn_above > 0)
        limit = arena_printf(arena, ", above the %.*s that this policy warns of",
                             TEXT_ARGS(usd_dollars(settings->warn_above * MICRO, arena)));
    report_as(check->call, SEVERITY_WARN, .field = check->workload.spec,
              .statement = arena_printf(
                  arena,
                  "It takes %.*s of each of %zu Node%s. That is worth %.*s a month on a Node and "
                  "%.*s on all (%.*s)%.*s.",
                  TEXT_ARGS(request_text(check)), nodes->priced, plural_s(nodes->priced),
                  TEXT_ARGS(usd_dollars(of_one, arena)), TEXT_ARGS(usd_dollars(month_micro, arena)),
                  TEXT_ARGS(catalog_prices_title(check->call->world->catalog, arena)),
                  TEXT_ARGS(limit)),
              .fix = TEXT("Ask for less, or run it on fewer nodes with node affinity."));
}

/* ---- the whole ---- */

static void judge_nodes(struct check *check)
{
    const struct settings *settings = check->call->settings;
    const struct world *world = check->call->world;
    bool first = preempts(check);
    kind_set unseen = kinds_unseen(world);
    if (first && !settings->warns_above)
        return;
    if (unseen != 0 && !first) {
        report_unseen(check, unseen);
        return;
    }
    const struct daemon_nodes nodes = daemon_fit_nodes(&check->fit);
    if (!first && nodes.full.count > 0)
        report_full(check, &nodes);
    judge_cost(check, &nodes);
}

static void judge(struct rail_call *call)
{
    const struct world *world = call->world;
    struct check check = {.call = call};
    if (!workload_read(call->object, call->arena, &check.workload) ||
        !daemon_fit_read(world->snapshot, world->catalog, &check.workload, call->arena, &check.fit))
        return;
    for (size_t i = 0; i < snapshot_pool_count(world->snapshot); i++)
        judge_pool(&check, snapshot_pool(world->snapshot, i));
    judge_nodes(&check);
}

const struct rail rail_daemon_fit = {
    .name = "daemon-fit",
    .summary = "DaemonSets that leave room, and find room",
    .detail =
        "A DaemonSet takes its part of every node, before any other pod. Karpenter does not buy an "
        "instance type on which the DaemonSets of a node do not fit together: the rail counts and "
        "names the types of each NodePool that this one adds to those, and finds it when they are "
        "more than maxLost. It reckons with what a machine leaves to pods, by its node class, and "
        "with what the other DaemonSets that run there request. What placeable says of it already, "
        "in a policy that has that rail, is not said again.\n\n"
        "Karpenter buys no node for a pod of a DaemonSet, either: on a Node that is full it stays "
        "Pending, unless its priority class displaces other pods. The rail names the Nodes that it "
        "selects and tolerates and that have less room than it asks for. While no Node or no Pod "
        "is visible this cannot be decided.\n\n"
        "With warnAbove it warns of what the DaemonSet takes of all Nodes together, in dollars a "
        "month: of each Node's price on demand the larger of its parts of processors and "
        "memory.\n\n"
        "How full Nodes are changes, so the rail only warns unless the policy gives it a mode of "
        "its own.",
    .example = "daemon-fit:\n"
               "  maxLost: 5%\n"
               "  warnAbove: 500\n",
    .kinds = KIND_BIT(KIND_DAEMON_SET),
    .sources = KIND_BIT(KIND_NODE) | KIND_BIT(KIND_POD),
    .only_warns = true,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .judge = judge,
};
