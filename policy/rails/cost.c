/* The rail cost: what a workload adds in nodes and money a month. */
#include "catalog/catalog.h"
#include "catalog/usd.h"
#include "kube/autoscaler.h"
#include "kube/snapshot.h"
#include "policy/policy_set.h"
#include "policy/rails/capacity_buffer.h"
#include "simulation/added.h"

struct settings {
    int64_t warn_above_milli; /* 0: none */
    struct key_quantities max;
};

static const struct key keys[] = {
    {.name = "warnAbove",
     .type = KEY_QUANTITY,
     .offset = offsetof(struct settings, warn_above_milli),
     .summary = "what one workload may add without a warning, in US dollars a month"},
    {.name = "max",
     .type = KEY_QUANTITIES,
     .offset = offsetof(struct settings, max),
     .summary =
         "the most that one workload may add, in US dollars a month, by namespace: its name, "
         "or a glob; of several globs the least counts"},
    {0},
};

/* ---- what may be added ---- */

static bool takes(const struct key_quantity *item, struct text namespace, bool by_name)
{
    return by_name ? text_equal(item->name, namespace)
                   : text_is_glob(item->name) && text_matches_glob(namespace, item->name);
}

/* In thousandths of a dollar; 0: there is no ceiling. */
static int64_t ceiling_of(const struct settings *settings, struct text namespace)
{
    int64_t least = 0;
    for (int by_name = 1; by_name >= 0 && least == 0; by_name--)
        for (size_t i = 0; i < settings->max.count; i++) {
            const struct key_quantity *item = &settings->max.items[i];
            if (takes(item, namespace, by_name == 1) && (least == 0 || item->milli < least))
                least = item->milli;
        }
    return least;
}

static bool is_above(int64_t month_micro, int64_t limit_milli)
{
    int64_t limit_micro;
    return limit_milli > 0 && !__builtin_mul_overflow(limit_milli, 1000, &limit_micro) &&
           month_micro > limit_micro;
}

/* ---- what is asked ---- */

/* A workload with a number of pods, and what it adds. */
struct bill {
    struct rail_call *call;
    const struct object *workload;
    const struct field *field;       /* that says how many */
    const struct object *autoscaler; /* that does; NULL: the workload itself */
    int64_t replicas;                /* below 0: as the workload says */
    struct buffer_room room;         /* of a CapacityBuffer */
    struct added added;
    int64_t month_micro;
};

static const struct field *field_of(const struct object *workload, struct arena *arena)
{
    switch (workload->kind) {
    case KIND_POD:
        return field_at(arena, workload->root, "spec");
    case KIND_JOB:
        return field_at(arena, workload->root, "spec.parallelism");
    case KIND_CRON_JOB:
        return field_at(arena, workload->root, "spec.jobTemplate.spec.parallelism");
    default:
        return field_at(arena, workload->root, "spec.replicas");
    }
}

static bool is_scaled(const struct object *object)
{
    return (KINDS_SCALED & KIND_BIT(object->kind)) != 0;
}

/* False: nothing is seen that it scales, or it does not act. */
static bool read_autoscaler(struct bill *bill, const struct object *autoscaler)
{
    struct autoscaler_target target;
    if (!autoscaler_target_read(autoscaler, &target) || (KINDS_SCALED & KIND_BIT(target.kind)) == 0)
        return false;
    bill->workload =
        snapshot_find(bill->call->world->snapshot, target.kind, target.namespace, target.name);
    /* One that is judged itself tells of its autoscaler. */
    if (bill->workload != NULL &&
        (bill->call->subject->existing || bill->workload->origin == ORIGIN_CHANGE))
        return false;
    bill->autoscaler = autoscaler;
    bill->field = field_at(bill->call->arena, autoscaler->root, "spec.maxReplicas");
    bill->replicas = target.most;
    return bill->workload != NULL &&
           autoscaler_acts(&target, node_int32(bill->workload->root->node, "spec.replicas", 1));
}

static void read_workload(struct bill *bill, const struct object *workload)
{
    bill->workload = workload;
    bill->field = field_of(workload, bill->call->arena);
    if (!is_scaled(workload))
        return;
    const struct replicas replicas = replicas_read(bill->call->world->snapshot, workload);
    bill->replicas = replicas.most;
    bill->autoscaler = replicas.autoscaler;
}

static bool is_buffer(const struct bill *bill)
{
    return bill->workload->kind == KIND_CAPACITY_BUFFER;
}

static bool read_buffer(struct bill *bill, const struct object *buffer)
{
    bill->workload = buffer;
    if (!buffer_room_read(bill->call, buffer, &bill->room))
        return false;
    bill->field = bill->room.from;
    bill->replicas = bill->room.count;
    return true;
}

/* False: the object adds nothing, or whose pods are meant is not seen. */
static bool read_bill(struct bill *bill, struct rail_call *call, const struct object *object)
{
    *bill = (struct bill){.call = call, .replicas = -1};
    if (object->kind == KIND_HORIZONTAL_POD_AUTOSCALER)
        return read_autoscaler(bill, object);
    if (object->kind == KIND_CAPACITY_BUFFER)
        return read_buffer(bill, object);
    read_workload(bill, object);
    return true;
}

static struct added_question question_of(const struct bill *bill)
{
    return (struct added_question){
        .workload = bill->workload,
        .replicas = bill->replicas,
        .pods = is_buffer(bill) ? &bill->room.pods : NULL,
        .extended_resource_toleration = bill->call->policy->extended_resource_toleration,
    };
}

/* Of more pods than are planned the others are taken to be like the first, unless these have come
 * to a limit. */
static bool is_estimated(const struct added *added)
{
    return added->pods_left_out > 0 && added->pods > 0 && added->unplaced_count == 0;
}

static int64_t usd_of_all(const struct added *added)
{
    int64_t usd_micro = added->usd_micro_per_hour;
    if (!is_estimated(added))
        return usd_micro;
    int64_t pods = added->pods + added->pods_left_out;
    return __builtin_mul_overflow(usd_micro / added->pods, pods, &usd_micro) ? INT64_MAX
                                                                             : usd_micro;
}

static enum added_kind plan(struct bill *bill)
{
    const struct world *world = bill->call->world;
    const struct added_question question = question_of(bill);
    enum added_kind kind =
        supply_plan_alone(world->supply, world->snapshot, &question, &bill->added);
    if (kind == ADDED_KNOWN)
        bill->month_micro = usd_a_month(usd_of_all(&bill->added));
    return kind;
}

/* False: what is there is not seen, or is nothing, or the workload is part of it. */
static bool plan_beside(const struct bill *bill, struct added *beside)
{
    const struct world *world = bill->call->world;
    const struct added_question question = question_of(bill);
    return !is_buffer(bill) && !bill->call->subject->existing &&
           snapshot_count(world->snapshot, KIND_NODE) > 0 &&
           snapshot_count(world->snapshot, KIND_POD) > 0 &&
           world_sees(world, KIND_BIT(KIND_NODE)) && world_lists(world, KIND_BIT(KIND_POD)) &&
           supply_plan_beside(world->supply, world->snapshot, &question, beside) == ADDED_KNOWN;
}

/* ---- what is said ---- */

static void report_blind(const struct bill *bill)
{
    report_found(bill->call, SEVERITY_UNDECIDED, bill->field, TEXT(""),
                 advice_to_show(bill->call, KIND_BIT(KIND_NODE_POOL), ""),
                 "What it adds is not known, since no NodePool is visible that could run it.");
}

/* Whether more nodes may be bought for its pods than are planned. */
static bool is_unknown(const struct added *added)
{
    return added->node_count == 0 && added->unplaced_count > 0 &&
           (added->asks_for_devices || added->lacks_types);
}

static void report_unknown(const struct bill *bill)
{
    bool devices = bill->added.asks_for_devices;
    report_found(bill->call, SEVERITY_UNDECIDED, bill->field, TEXT(""),
                 devices ? TEXT("") : TEXT("Give the types with --catalog FILE."),
                 devices ? "What it adds is not known: its pods ask for devices by resourceClaims."
                         : "What it adds is not known: the catalogue has no instance types of a "
                           "NodePool here.");
}

/* Else whoever writes enough rules would be spared. */
static void report_too_much(const struct bill *bill, enum severity severity)
{
    report_found(bill->call, severity, bill->field, TEXT(""),
                 TEXT("Let its pods have fewer terms of affinity, constraints and volumes."),
                 "What it adds cannot be planned: its pods have too many rules.");
}

static void report_unpriced(const struct bill *bill)
{
    report_found(bill->call, SEVERITY_UNDECIDED, bill->field, TEXT(""),
                 TEXT("Give prices with --catalog FILE (taffrail catalog import)."),
                 "It adds %zu node%s, and the catalogue has no price for %s.",
                 bill->added.node_count, plural_s(bill->added.node_count),
                 bill->added.node_count == 1 ? "it" : "them");
}

/* "first 1000 of 9000 pods", "5 pods", "pod". */
static struct text pods_text(const struct added *added, struct arena *arena)
{
    long long pods = (long long)added->pods + (long long)added->pods_left_out;
    if (added->pods_left_out > 0)
        return arena_printf(arena, "first %lld of %lld pods", (long long)added->pods, pods);
    return pods == 1 ? TEXT("pod") : arena_printf(arena, "%lld pods", pods);
}

/* "Its 100 pods add". */
static void add_pods(const struct bill *bill, struct text_builder *text)
{
    struct text pods = pods_text(&bill->added, text->arena);
    const char *verb = bill->added.pods == 1 ? "adds" : "add";
    if (is_buffer(bill))
        text_builder_printf(text, "The room for its %.*s is ", TEXT_ARGS(pods));
    else if (bill->autoscaler != NULL)
        text_builder_printf(text, "The %.*s that HorizontalPodAutoscaler %.*s lets it have %s ",
                            TEXT_ARGS(pods), TEXT_ARGS(bill->autoscaler->name), verb);
    else
        text_builder_printf(text, "Its %.*s %s ", TEXT_ARGS(pods), verb);
}

/* "3 nodes, $2,382.72 a month". */
static void add_nodes(const struct added *added, struct text_builder *text)
{
    text_builder_printf(
        text, "%zu node%s, %.*s a month", added->node_count, plural_s(added->node_count),
        TEXT_ARGS(usd_dollars(usd_a_month(added->usd_micro_per_hour), text->arena)));
    if (added->unpriced_count > 0)
        text_builder_printf(text, " without %zu of no known price", added->unpriced_count);
}

static bool runs_for_a_while(const struct bill *bill)
{
    return bill->workload->kind == KIND_JOB || bill->workload->kind == KIND_CRON_JOB;
}

static void add_beside(const struct bill *bill, struct text_builder *text)
{
    struct added beside;
    if (!plan_beside(bill, &beside))
        return;
    text_builder_add(text, TEXT(" Beside what runs it adds "));
    if (beside.node_count > 0)
        add_nodes(&beside, text);
    else
        text_builder_add(text, TEXT("none"));
    text_builder_add(text, TEXT("."));
}

static void add_prices(const struct bill *bill, struct text_builder *text)
{
    const struct added *added = &bill->added;
    text_builder_printf(text, " These are %.*s",
                        TEXT_ARGS(catalog_prices_title(bill->call->world->catalog, text->arena)));
    if (added->elsewhere[0] != '\0')
        text_builder_printf(text, ", not of %s", added->elsewhere);
    text_builder_add(text, TEXT("."));
    if (added->spot_unpriced)
        text_builder_add(text, TEXT(" No price of spot is known: spot nodes cost less."));
}

static struct text statement_of(const struct bill *bill, int64_t ceiling_milli)
{
    struct arena *arena = bill->call->arena;
    struct text_builder text = {.arena = arena};
    add_pods(bill, &text);
    add_nodes(&bill->added, &text);
    if (runs_for_a_while(bill))
        text_builder_add(&text, TEXT(" while they run"));
    if (is_estimated(&bill->added))
        text_builder_printf(&text, "; all of them about %.*s",
                            TEXT_ARGS(usd_dollars(bill->month_micro, arena)));
    if (ceiling_milli > 0)
        text_builder_printf(&text, ", and a workload in namespace %.*s may add %.*s.",
                            TEXT_ARGS(bill->workload->namespace),
                            TEXT_ARGS(usd_dollars(ceiling_milli * 1000, arena)));
    else
        text_builder_add(&text, TEXT("."));
    if (bill->added.unplaced_count > 0)
        text_builder_printf(&text, " %zu of them fit%s nowhere and add%s nothing.",
                            bill->added.unplaced_count, bill->added.unplaced_count == 1 ? "s" : "",
                            bill->added.unplaced_count == 1 ? "s" : "");
    add_beside(bill, &text);
    add_prices(bill, &text);
    return text_builder_text(&text);
}

static bool costs_more(const struct bill *now, const struct bill *before)
{
    return now->month_micro > before->month_micro ||
           now->added.pods_left_out > before->added.pods_left_out ||
           now->added.unpriced_count > before->added.unpriced_count;
}

/* An update that makes nothing dearer is no new finding. */
static bool is_raised(const struct bill *bill)
{
    const struct subject *subject = bill->call->subject;
    const struct object *old = subject->old_object;
    struct bill before;
    return old != NULL && bill->call->object != old &&
           !(read_bill(&before, bill->call, old) && plan(&before) == ADDED_KNOWN &&
             !costs_more(bill, &before));
}

static struct text fix_of(const struct bill *bill)
{
    return bill->workload->kind == KIND_POD
               ? TEXT("Ask for less; taffrail plan shows which node it needs.")
               : TEXT("Ask for fewer pods, or for less in each; taffrail plan shows which nodes "
                      "they "
                      "need.");
}

static void report_cost(const struct bill *bill, enum severity severity, int64_t ceiling_milli)
{
    struct arena *arena = bill->call->arena;
    struct text *values = ARENA_ARRAY(arena, 2, struct text);
    bool of_old = bill->call->object == bill->call->subject->old_object;
    values[0] = TEXT("cost");
    values[1] = TEXT("raised");
    report_as(bill->call, severity, .field = bill->field,
              .found =
                  arena_printf(arena, "%s%.*s a month", is_estimated(&bill->added) ? "about " : "",
                               TEXT_ARGS(usd_dollars(bill->month_micro, arena))),
              .statement = of_old ? TEXT("") : statement_of(bill, ceiling_milli),
              .values = {.items = values, .count = is_raised(bill) ? 2 : 1}, .fix = fix_of(bill));
}

/* ---- the whole ---- */

/* What a workload's controller makes counts with the workload. */
static bool is_made(const struct rail_call *call)
{
    const kind_set made = KIND_BIT(KIND_POD) | KIND_BIT(KIND_REPLICA_SET) | KIND_BIT(KIND_JOB);
    bool unseen = false;
    return (made & KIND_BIT(call->object->kind)) != 0 &&
           (call_maker(call, &unseen) != NULL || unseen);
}

static bool is_blind(const struct world *world)
{
    return snapshot_pool_count(world->snapshot) == 0 ||
           !world_sees(world, KIND_BIT(KIND_NODE_POOL));
}

static void judge_bill(const struct bill *bill, int64_t ceiling_milli)
{
    const struct settings *settings = bill->call->settings;
    const struct added *added = &bill->added;
    if (is_unknown(added))
        report_unknown(bill);
    else if (added->node_count > 0 && added->unpriced_count == added->node_count)
        report_unpriced(bill);
    else if (is_above(bill->month_micro, ceiling_milli))
        report_cost(bill, SEVERITY_RAIL, ceiling_milli);
    else if (is_above(bill->month_micro, settings->warn_above_milli))
        report_cost(bill, SEVERITY_WARN, 0);
}

static void judge(struct rail_call *call)
{
    const struct settings *settings = call->settings;
    int64_t ceiling_milli = ceiling_of(settings, call->object->namespace);
    struct bill bill;
    if ((ceiling_milli == 0 && settings->warn_above_milli == 0) || is_made(call) ||
        !read_bill(&bill, call, call->object) || bill.replicas == 0)
        return;
    enum added_kind kind = is_blind(call->world) ? ADDED_UNKNOWN : plan(&bill);
    if (kind == ADDED_KNOWN)
        judge_bill(&bill, ceiling_milli);
    else if (kind == ADDED_UNKNOWN)
        report_blind(&bill);
    else
        report_too_much(&bill, ceiling_milli > 0 ? SEVERITY_RAIL : SEVERITY_WARN);
}

static void prepare(void *settings_pointer, const struct rail_loading *loading)
{
    const struct settings *settings = settings_pointer;
    if (settings->warn_above_milli == 0 && settings->max.count == 0)
        loading_warn(loading, loading->rail_node,
                     "cost has nothing to compare with: set warnAbove or max");
}

const struct rail rail_cost = {
    .name = "cost",
    .summary = "what a workload adds in nodes and money a month",
    .detail =
        "A workload is planned as taffrail plan does it, alone, as if no Node and no other pod "
        "were there: which nodes Karpenter would buy for all of its pods, by its requests and "
        "those of DaemonSets, its selectors, spread and volumes, and the limits of NodePools. "
        "What these nodes cost a month, of 730 hours, is compared: above warnAbove is a warning, "
        "above max of the namespace a finding. So one small pod counts with the smallest node "
        "that holds it, though it may share one. The message also says what it adds beside what "
        "runs, where Nodes and Pods are visible, of Nodes 500 and of Pods 5000 at most. max is "
        "for one workload, not for the sum of a namespace: that is what ResourceQuotas and the "
        "limits of NodePools are for.\n\n"
        "A workload with a visible HorizontalPodAutoscaler counts with its maxReplicas, and an "
        "autoscaler is judged with the workload that it scales. Jobs and CronJobs count with the "
        "pods that run at once, CapacityBuffers with those that they hold room for. Pods, "
        "ReplicaSets and Jobs that a controller makes count with the workload above them. Where "
        "there are more than a thousand pods, or fewer with long rules, the first are planned "
        "and the others are taken to be like them. Pods that fit nowhere add nothing. An update "
        "that does not raise the cost is no new finding.\n\n"
        "Prices are those of the catalogue, as taffrail catalog says, and the message names "
        "their region and date. Nothing is decided where no NodePool is visible, the instance "
        "types of one that might run the pods are not known, no node that would be bought has a "
        "price, or the pods ask for devices by resourceClaims.",
    .example = "cost:\n"
               "  warnAbove: 500\n"
               "  max: {ml-research: 20000, \"team-*\": 3000}\n",
    .kinds = KIND_BIT(KIND_POD) | KINDS_SCALED | KIND_BIT(KIND_JOB) | KIND_BIT(KIND_CRON_JOB) |
             KIND_BIT(KIND_HORIZONTAL_POD_AUTOSCALER) | KIND_BIT(KIND_CAPACITY_BUFFER),
    .sources = KIND_BIT(KIND_NODE_POOL),
    .judges_scale = true,
    .asks_supply = true,
    .plans = true,
    .keys = keys,
    .settings_size = sizeof(struct settings),
    .prepare = prepare,
    .judge = judge,
};
