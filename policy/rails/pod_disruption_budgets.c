/* The rail pod-disruption-budgets: budgets that block drains. */
#include "kube/autoscaler.h"
#include "kube/pod.h"
#include "kube/quantity.h"
#include "kube/selector.h"
#include "kube/snapshot.h"
#include "policy/reading.h"

static const struct key keys[] = {{0}};

struct check {
    struct rail_call *call;
    const struct field *spec;
    const struct node *selector;
    const struct selector_index *index;  /* of the selector */
    LIST(const struct object *) holders; /* of labels that it selects: workloads and Pods */
    /* What it selects, as far as it is visible. */
    int64_t pods;                     /* of its workloads at most; where one says no number, 1 */
    int64_t fewest;                   /* when autoscalers leave as few as they may */
    const struct object *scaled;      /* one that an autoscaler scales */
    const struct object *first;       /* one of those workloads */
    size_t workloads;                 /* how many they are */
    const struct object *unsaid;      /* one that says no number: an autoscaler's, or it has 1 */
    const struct object *uncountable; /* one whose number nobody can ask for */
    struct {
        bool known;
        const struct object *first; /* one of the Pods without a controller */
        int64_t count;              /* how many they are */
        bool others;                /* some Pods are of controllers that are not looked at */
    } bare;
};

/* ---- what it selects ---- */

static const enum kind counted_kinds[] = {KIND_DEPLOYMENT, KIND_STATEFUL_SET, KIND_REPLICA_SET,
                                          KIND_REPLICATION_CONTROLLER};
/* They have no subresource scale, by which the disruption controller asks for replicas: it then
 * allows nothing. */
static const enum kind uncountable_kinds[] = {KIND_DAEMON_SET, KIND_CRON_JOB, KIND_JOB};

static bool is_controlled(const struct object *object)
{
    return object->controller.name.size > 0;
}

static const struct node *template_labels(const struct object *workload)
{
    const char *template = kind_table[workload->kind].pod_template;
    return node_at(node_at(workload->root->node, template), "metadata.labels");
}

static void count_selected(struct check *check, const struct object *workload)
{
    if (!text_equal(workload->namespace, check->call->object->namespace) ||
        is_controlled(workload) || !selector_index_matches(check->index, template_labels(workload)))
        return;
    if (check->first == NULL)
        check->first = workload;
    struct replicas replicas = replicas_read(check->call->world->snapshot, workload);
    check->workloads++;
    check->pods += replicas.most;
    check->fewest += replicas.least;
    if (!replicas.said && check->unsaid == NULL)
        check->unsaid = workload;
    if (replicas.autoscaler != NULL && check->scaled == NULL)
        check->scaled = workload;
}

static void find_uncountable(struct check *check, const struct object *workload)
{
    if (check->uncountable != NULL ||
        !text_equal(workload->namespace, check->call->object->namespace) ||
        (workload->kind == KIND_CRON_JOB &&
         node_true(node_at(workload->root->node, "spec.suspend"))) ||
        !selector_index_matches(check->index, template_labels(workload)))
        return;
    check->uncountable = workload;
}

static void find_selected(struct check *check)
{
    const struct snapshot *snapshot = check->call->world->snapshot;
    for (size_t i = 0; i < COUNT_OF(counted_kinds); i++)
        for (size_t j = 0; j < snapshot_count(snapshot, counted_kinds[i]); j++)
            count_selected(check, snapshot_object(snapshot, counted_kinds[i], j));
    for (size_t i = 0; i < COUNT_OF(uncountable_kinds); i++)
        for (size_t j = 0; j < snapshot_count(snapshot, uncountable_kinds[i]); j++)
            find_uncountable(check, snapshot_object(snapshot, uncountable_kinds[i], j));
}

static kind_set all_counted(void)
{
    kind_set kinds = 0;
    for (size_t i = 0; i < COUNT_OF(counted_kinds); i++)
        kinds |= KIND_BIT(counted_kinds[i]);
    return kinds;
}

/* Who makes a workload that cannot be read has nothing of it: it counts as none. */
static bool sees_workloads(const struct world *world)
{
    return kinds_without_object(world, all_counted()) != all_counted() &&
           world_lists(world, all_counted());
}

/* Pods without a controller are among those that are healthy, and not among the replicas of which a
 * share or a maxUnavailable is reckoned (docs/reference/karpenter.md 6.2). They are looked for only
 * where they could decide. */
static void find_bare(struct check *check)
{
    const struct rail_call *call = check->call;
    const struct snapshot *snapshot = call->world->snapshot;
    if (check->bare.known)
        return;
    check->bare.known = true;
    arena_tick(call->arena, snapshot_count(snapshot, KIND_POD));
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD); i++) {
        const struct object *pod = snapshot_object(snapshot, KIND_POD, i);
        if (!text_equal(pod->namespace, call->object->namespace) || pod->deleting ||
            pod_is_done(pod) || !selector_index_matches(check->index, pod->labels))
            continue;
        if (is_controlled(pod)) {
            enum kind kind = kind_of(pod->controller.api_version, pod->controller.kind);
            check->bare.others |= (KIND_BIT(kind) & all_counted()) == 0;
            continue;
        }
        if (check->bare.count++ == 0)
            check->bare.first = pod;
    }
}

/* Whether all pods that are seen have no controller. Callers have judged what is uncountable,
 * unless it stands beside another workload. */
static bool has_bare_alone(struct check *check)
{
    if (check->first != NULL)
        return false;
    find_bare(check);
    return check->bare.count > 0 && !check->bare.others;
}

/* Of files one may be missing that has the workload of other such pods. */
static bool sees_all_pods(const struct world *world)
{
    return world->of_cluster && world_lists(world, all_counted() | KIND_BIT(KIND_POD));
}

static struct text advice_to_show_workloads(const struct rail_call *call)
{
    if (!call->world->of_cluster)
        return TEXT("Check it together with its workload (-f), or use --state DIR.");
    return world_lists(call->world, all_counted())
               ? TEXT("Create its workload first, or correct the selector.")
               : advice_to_show(call, all_counted(), "");
}

/* ---- what was there before ---- */

/* On UPDATE a finding was there before when the same stood in the field, of pods among which are
 * all that are selected now. */
static struct text_list values_of(const struct check *check, struct text found)
{
    struct arena *arena = check->call->arena;
    const struct object *old = check->call->subject->old_object;
    struct text_list values = {0};
    if (old == NULL)
        return values;
    const struct node *before = node_at(old->root->node, "spec.selector");
    bool is_narrower = selector_selects_no_more(check->selector, before, arena);
    *LIST_PUSH(arena, &values) =
        arena_printf(arena, "%.*s of %.*s", TEXT_ARGS(found),
                     TEXT_ARGS(node_json(is_narrower ? before : check->selector, arena)));
    return values;
}

/* As report_found(), of the pods that the budget selects. */
#define report_of_pods(check, its_severity, at, what, advice, ...)         \
    report_as((check)->call, its_severity, .field = (at), .found = (what), \
              .values = values_of(check, what), .fix = (advice),           \
              .statement = arena_printf((check)->call->arena, __VA_ARGS__))

/* ---- one that never lets a pod go ---- */

/* A number of pods, or a percentage of them; unlike share_parse() also below 0 and above 100 %. */
static bool read_share(const struct node *node, struct share *share)
{
    struct text t = node_text(node);
    share->percent = text_ends_with(t, TEXT("%"));
    return share->percent ? text_to_int64((struct text){t.data, t.size - 1}, &share->amount)
                          : node_integer(node, &share->amount);
}

#define TWO_REPLICAS ", and run two replicas or more where one must always run."

/* Of pods that have no number of replicas neither maxUnavailable nor a share lets one go. */
static bool has_no_replicas(struct check *check)
{
    return check->uncountable != NULL || has_bare_alone(check);
}

static struct text fix_of_never(struct check *check, const struct field *field)
{
    bool is_most = text_is(field->key, "maxUnavailable");
    if (has_no_replicas(check))
        return is_most ? TEXT("Write minAvailable instead, less than the number of these pods.")
                       : TEXT("Write minAvailable as a number, less than that of these pods.");
    return is_most ? TEXT("Set maxUnavailable: 1" TWO_REPLICAS)
                   : TEXT("Write maxUnavailable: 1 instead" TWO_REPLICAS);
}

static const char *or_as_most(const struct check *check)
{
    return check->uncountable == NULL ? ", or write maxUnavailable: 1 instead" : "";
}

static void report_never(struct check *check, const struct field *field)
{
    report_of_pods(check, SEVERITY_RAIL, field, node_text(field->node), fix_of_never(check, field),
                   "With %.*s %.*s no pod may ever be evicted, so their nodes are never replaced.",
                   TEXT_ARGS(field->key), TEXT_ARGS(node_text(field->node)));
}

static struct text selected_text(const struct check *check)
{
    struct arena *arena = check->call->arena;
    struct text name = object_display_name(check->first, arena);
    const char *bound = check->scaled != NULL ? "at most " : "";
    if (check->workloads == 1)
        return arena_printf(arena, "%.*s %.*s has %s%lld", TEXT_ARGS(check->first->kind_name),
                            TEXT_ARGS(name), bound, (long long)check->pods);
    return arena_printf(arena, "%.*s %.*s and %zu more have %s%lld",
                        TEXT_ARGS(check->first->kind_name), TEXT_ARGS(name), check->workloads - 1,
                        bound, (long long)check->pods);
}

/* The fewest pods of which one may go: of a percentage, 100 / (100 - it), rounded up. */
static int64_t enough_for(const struct share *least)
{
    if (least->percent)
        return (199 - least->amount) / (100 - least->amount);
    return (least->amount < INT32_MAX ? least->amount : INT32_MAX) + 1;
}

/* It lets pods go by day, and none at night, when the autoscaler leaves few. */
static void judge_fewest(struct check *check, const struct field *field, const struct share *least)
{
    struct arena *arena = check->call->arena;
    if (check->scaled == NULL || check->fewest == 0 ||
        share_amount(*least, check->fewest) < check->fewest)
        return;
    struct replicas scaled = replicas_read(check->call->world->snapshot, check->scaled);
    long long needed = enough_for(least) - (check->fewest - scaled.least);
    report_of_pods(
        check, SEVERITY_WARN, field, node_text(field->node),
        arena_printf(arena, "Set its minReplicas to %lld at least%s.", needed, or_as_most(check)),
        "HorizontalPodAutoscaler %.*s may leave %lld pod%s of %.*s %.*s, and then none may be "
        "evicted.",
        TEXT_ARGS(scaled.autoscaler->name), (long long)scaled.least, scaled.least == 1 ? "" : "s",
        TEXT_ARGS(check->scaled->kind_name), TEXT_ARGS(object_display_name(check->scaled, arena)));
}

/* A chart with an autoscaler leaves replicas out; the API server writes them into what it stores.
 */
static void report_unsaid(struct check *check, const struct field *field, const struct share *least)
{
    struct arena *arena = check->call->arena;
    const struct object *unsaid = check->unsaid;
    /* It was counted as one. */
    long long needed = enough_for(least) - (check->pods - 1);
    report_of_pods(
        check, SEVERITY_UNDECIDED, field, node_text(field->node),
        arena_printf(arena, "Have its autoscaler keep %lld at least (minReplicas)%s.", needed,
                     or_as_most(check)),
        "%.*s %.*s does not say how many replicas it has. With fewer than %lld none may ever be "
        "evicted.",
        TEXT_ARGS(unsaid->kind_name), TEXT_ARGS(object_display_name(unsaid, arena)), needed);
}

/* The pods of a Job count as long as they run: then one more may go. */
static void report_too_few(struct check *check, const struct field *field,
                           const struct share *least, int64_t staying)
{
    struct arena *arena = check->call->arena;
    const struct object *job = check->uncountable;
    if (job == NULL)
        report_of_pods(check, SEVERITY_RAIL, field, node_text(field->node),
                       fix_of_never(check, field),
                       "%lld must stay and %.*s, so none may ever be evicted.", (long long)staying,
                       TEXT_ARGS(selected_text(check)));
    else
        report_of_pods(check, SEVERITY_RAIL, field, node_text(field->node),
                       arena_printf(arena, "Run %lld replicas or more, or set minAvailable lower.",
                                    (long long)(enough_for(least) - check->bare.count)),
                       "%lld must stay and %.*s, so none may be evicted while no pods of %.*s "
                       "%.*s run.",
                       (long long)staying, TEXT_ARGS(selected_text(check)),
                       TEXT_ARGS(job->kind_name), TEXT_ARGS(object_display_name(job, arena)));
}

/* What must stay, of Pods that no controller makes. A share of them is told of as of Jobs. */
static void judge_least_of_bare(struct check *check, const struct field *field,
                                const struct share *least)
{
    struct arena *arena = check->call->arena;
    long long count = check->bare.count;
    if (least->percent || least->amount < count)
        return;
    report_of_pods(
        check, SEVERITY_RAIL, field, node_text(field->node),
        arena_printf(arena,
                     "Delete the budget, or run the pods by a Deployment of %lld replicas or "
                     "more.",
                     (long long)enough_for(least)),
        "%lld must stay and there %s %lld, Pod %.*s%s, so none may ever be evicted.",
        (long long)least->amount, count == 1 ? "is" : "are", count,
        TEXT_ARGS(object_display_name(check->bare.first, arena)), count == 1 ? "" : " among them");
}

/* What must stay, of the pods there are. */
static void judge_least(struct check *check, const struct field *field)
{
    struct text written = node_text(field->node);
    struct share least;
    if (!read_share(field->node, &least) || least.amount <= 0)
        return;
    if (least.percent && least.amount > 100) {
        report_of_pods(
            check, SEVERITY_RAIL, field, node_text(field->node), fix_of_never(check, field),
            "%.*s is more than 100%%, so the API server refuses this budget.", TEXT_ARGS(written));
        return;
    }
    if (least.percent && least.amount == 100) {
        report_never(check, field);
        return;
    }
    /* judge_uncountable tells of a share; how many nodes there are, and how many pods of a Job,
     * nobody can say. */
    if (check->uncountable != NULL &&
        (least.percent || check->first == NULL || check->uncountable->kind == KIND_DAEMON_SET))
        return;
    if (has_bare_alone(check) && (least.percent || sees_all_pods(check->call->world))) {
        judge_least_of_bare(check, field, &least);
        return;
    }
    if (check->first == NULL) {
        if (!sees_workloads(check->call->world))
            report_of_pods(
                check, SEVERITY_UNDECIDED, field, node_text(field->node),
                advice_to_show_workloads(check->call),
                "No visible workload says how many pods there are, so whether %.*s of them leave "
                "any to evict is not known.",
                TEXT_ARGS(written));
        return;
    }
    int64_t staying = share_amount(least, check->pods);
    if (check->pods == 0)
        return;
    if (staying < check->pods) {
        judge_fewest(check, field, &least);
        return;
    }
    find_bare(check);
    if (staying < check->pods + check->bare.count)
        return;
    if (check->unsaid != NULL)
        report_unsaid(check, field, &least);
    else
        report_too_few(check, field, &least, staying);
}

/* How many may be missing. */
static void judge_most(struct check *check, const struct field *field)
{
    struct share most;
    if (read_share(field->node, &most) && most.amount <= 0)
        report_never(check, field);
}

/* The controller then expects no pods, and where it expects none it allows nothing. The API server
 * drops a key that is spelled wrong. */
static void judge_neither(struct check *check, const struct field *least, const struct field *most)
{
    if (node_is_given(least->node) || node_is_given(most->node))
        return;
    report_of_pods(check, SEVERITY_RAIL, most, TEXT(""),
                   fix_of_never(check, has_no_replicas(check) ? least : most),
                   "The budget says neither minAvailable nor maxUnavailable, so it never allows a "
                   "disruption.");
}

/* The controller asks how many replicas there are to be, of which some kinds say no number, and a
 * Pod alone has nobody to say it. */
static void judge_uncountable(struct check *check, const struct field *field)
{
    struct arena *arena = check->call->arena;
    struct share share;
    if (!read_share(field->node, &share))
        return;
    bool is_most = text_is(field->key, "maxUnavailable");
    if (is_most ? share.amount <= 0 : !share.percent || share.amount >= 100)
        return; /* none may go, or any number can be reckoned with */
    struct text fix =
        is_most ? TEXT("Write minAvailable instead, less than the number of these pods, or select "
                       "none of them.")
                : TEXT("Write minAvailable as a number, less than that of these pods, or select "
                       "none of them.");
    if (check->uncountable != NULL)
        report_of_pods(
            check, SEVERITY_RAIL, field, node_text(field->node), fix,
            "%.*s %.*s says no number of replicas, so the budget never allows a disruption.",
            TEXT_ARGS(check->uncountable->kind_name),
            TEXT_ARGS(object_display_name(check->uncountable, arena)));
    else if (has_bare_alone(check))
        report_of_pods(
            check, sees_all_pods(check->call->world) ? SEVERITY_RAIL : SEVERITY_UNDECIDED, field,
            node_text(field->node), fix,
            "Pod %.*s has no controller that says a number of replicas. With such pods alone "
            "the budget never allows a disruption.",
            TEXT_ARGS(object_display_name(check->bare.first, arena)));
}

/* ---- two on one pod ---- */

/* A visible workload's template has labels of pods, and so has a Pod. */
static const struct node *labels_held(const struct object *object)
{
    return object->kind == KIND_POD ? object->labels : template_labels(object);
}

static void find_holders(struct check *check)
{
    static const enum kind kinds[] = {
        KIND_DEPLOYMENT, KIND_STATEFUL_SET, KIND_REPLICA_SET, KIND_REPLICATION_CONTROLLER,
        KIND_DAEMON_SET, KIND_CRON_JOB,     KIND_JOB,         KIND_POD};
    const struct snapshot *snapshot = check->call->world->snapshot;
    struct text namespace = check->call->object->namespace;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        for (size_t j = 0; j < snapshot_count(snapshot, kinds[i]); j++) {
            const struct object *object = snapshot_object(snapshot, kinds[i], j);
            if (text_equal(object->namespace, namespace) &&
                selector_index_matches(check->index, labels_held(object)))
                *LIST_PUSH(check->call->arena, &check->holders) = object;
        }
    }
}

/* One whose labels both select; NULL: none. */
static const struct object *find_shared(const struct check *check, const struct node *other)
{
    struct arena *arena = check->call->arena;
    const struct selector_index *index = selector_index_make(other, arena);
    arena_tick(arena, check->holders.count);
    for (size_t i = 0; i < check->holders.count; i++)
        if (selector_index_matches(index, labels_held(check->holders.items[i])))
            return check->holders.items[i];
    return NULL;
}

static struct text shared_text(const struct object *shared, struct arena *arena)
{
    if (shared == NULL)
        return TEXT("the same pods");
    const char *of = shared->kind == KIND_POD ? "" : "the pods of ";
    return arena_printf(arena, "%s%.*s %.*s", of, TEXT_ARGS(shared->kind_name),
                        TEXT_ARGS(object_display_name(shared, arena)));
}

/* "a, b and c": of many the first few, and how many more. */
static struct text names_text(const struct text_list *names, struct arena *arena)
{
    enum { NAMES_SHOWN = 4 };
    bool cut = names->count > NAMES_SHOWN;
    size_t listed = cut ? NAMES_SHOWN : names->count - 1;
    struct text list = texts_join(names->items, listed, SIZE_MAX, arena);
    if (cut)
        return arena_printf(arena, "%.*s and %zu more", TEXT_ARGS(list), names->count - listed);
    return arena_printf(arena, "%.*s and %.*s", TEXT_ARGS(list), TEXT_ARGS(names->items[listed]));
}

/* names: of the budget itself and of others. */
static void report_double(struct check *check, const struct text_list *names,
                          const struct object *shared)
{
    struct arena *arena = check->call->arena;
    report_of_pods(
        check, SEVERITY_RAIL, field_get(arena, check->spec, "selector"), names->items[1],
        names->count == 2 ? TEXT("Delete one.") : TEXT("Delete all but one."),
        "PodDisruptionBudgets %.*s select %.*s. Kubernetes evicts no pod that two budgets "
        "cover.",
        TEXT_ARGS(names_text(names, arena)), TEXT_ARGS(shared_text(shared, arena)));
}

static void judge_others(struct check *check)
{
    const struct object *own = check->call->object;
    const struct snapshot *snapshot = check->call->world->snapshot;
    bool holders_found = false, is_seen = call_is_seen(check->call, "spec.selector");
    const struct object *first_shared = NULL;
    struct text_list names = {0};
    *LIST_PUSH(check->call->arena, &names) = own->name;
    for (size_t i = 0; i < snapshot_count(snapshot, KIND_POD_DISRUPTION_BUDGET); i++) {
        const struct object *other = snapshot_object(snapshot, KIND_POD_DISRUPTION_BUDGET, i);
        const struct node *selector = node_at(other->root->node, "spec.selector");
        if (other->deleting || text_equal(other->name, own->name) ||
            call_leaves_to(check->call, is_seen, other) ||
            !text_equal(other->namespace, own->namespace))
            continue;
        if (!holders_found)
            find_holders(check);
        holders_found = true;
        const struct object *shared = find_shared(check, selector);
        if (shared == NULL && !node_equal(selector, check->selector))
            continue;
        if (names.count == 1)
            first_shared = shared;
        *LIST_PUSH(check->call->arena, &names) = other->name;
    }
    if (names.count > 1)
        report_double(check, &names, first_shared);
}

/* ---- one without pods ---- */

/* The labels to select are those of a workload of its name, where there is one. */
static void report_no_selector(struct check *check)
{
    struct rail_call *call = check->call;
    const struct object *own = call->object;
    const struct node *labels = NULL;
    for (size_t i = 0; i < COUNT_OF(counted_kinds) && labels == NULL; i++) {
        const struct object *workload =
            snapshot_find(call->world->snapshot, counted_kinds[i], own->namespace, own->name);
        labels = workload == NULL ? NULL : template_labels(workload);
    }
    struct text fix =
        node_count(labels) == 0
            ? TEXT("Set spec.selector to the labels of its pods, or delete the budget.")
            : arena_printf(call->arena, "Set spec.selector: {matchLabels: %.*s}.",
                           TEXT_ARGS(node_yaml_line(labels, call->arena)));
    report(call, SEVERITY_WARN, field_get(call->arena, check->spec, "selector"), fix,
           "Without a selector this budget covers no pod.");
}

static void judge(struct rail_call *call)
{
    struct arena *arena = call->arena;
    struct check check = {
        .call = call,
        .spec = field_get(arena, call->object->root, "spec"),
        .selector = node_at(call->object->root->node, "spec.selector"),
    };
    const struct field *least = field_get(arena, check.spec, "minAvailable");
    const struct field *most = field_get(arena, check.spec, "maxUnavailable");
    if (!node_is(check.selector, NODE_MAP)) {
        if (check.selector == NULL || node_is(check.selector, NODE_NULL))
            report_no_selector(&check);
        return;
    }
    check.index = selector_index_make(check.selector, arena);
    find_selected(&check);
    judge_least(&check, least);
    judge_most(&check, most);
    judge_uncountable(&check, least);
    judge_uncountable(&check, most);
    judge_neither(&check, least, most);
    judge_others(&check);
}

const struct rail rail_pod_disruption_budgets = {
    .name = "pod-disruption-budgets",
    .summary = "budgets that let nodes be replaced",
    .detail =
        "Before a node goes, its pods are evicted as their PodDisruptionBudgets allow. One that "
        "never allows any keeps its nodes for ever: no consolidation, no patch, no upgrade.\n\n"
        "Found are maxUnavailable of 0 or 0%, minAvailable of 100%, a budget that says neither of "
        "the two, and a minAvailable that all the pods of the visible workloads just meet: 1 of "
        "one replica, or 51% of one, since shares are rounded up. Pods of two budgets are never "
        "evicted: found where a visible "
        "workload or Pod is selected by both, or both selectors are the same; of budgets that are "
        "judged together each tells of those before it by name. And a share or a maxUnavailable "
        "for the pods of a DaemonSet, a Job or a CronJob, which have no replicas to reckon with, "
        "or for Pods without a controller alone, which is decided "
        "only where a cluster is seen. How many pods a DaemonSet has is not known: a "
        "minAvailable that is a number is then not judged. Those of Jobs and CronJobs, which run "
        "for a while, do not count beside other pods, and are not judged alone. A budget without a "
        "selector covers no "
        "pod: that is a warning.\n\n"
        "Replicas are those the workload says now, or with a visible HorizontalPodAutoscaler its "
        "maxReplicas; where its minReplicas alone would let none go, that is a warning. A workload "
        "that says none, as in a chart whose autoscaler is not visible, may have 1, or more: a "
        "minAvailable that would let no pod of 1 go cannot be decided then, and neither can one "
        "with no workload visible.",
    .example = "pod-disruption-budgets:\n"
               "  mode: enforce\n",
    .kinds = KIND_BIT(KIND_POD_DISRUPTION_BUDGET),
    .keys = keys,
    .judge = judge,
};
