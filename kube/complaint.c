/* What the API server would refuse, in words: the value, and what is allowed. */
#include "kube/complaint.h"

#include "base/duration.h"
#include "kube/object.h"
#include "kube/pod.h"
#include "kube/pool.h"
#include "kube/quantity.h"
#include "kube/taint.h"
#include "kube/topology.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

struct place object_place(const struct object *object, const struct field *field,
                          struct arena *arena)
{
    return object->source == NULL ? NOWHERE
                                  : source_place(object->source, arena, field_offset(field));
}

bool complaint_is_none(const struct complaint *complaint, const struct object *object,
                       struct arena *arena, struct error *error)
{
    return complaint->field == NULL ||
           error_set(error, ERROR_INPUT, object_place(object, complaint->field, arena), "%.*s",
                     TEXT_ARGS(complaint->message));
}

static struct text found_text(const struct node *node, struct arena *arena)
{
    if (node == NULL)
        return TEXT("missing");
    if (node_is(node, NODE_STRING))
        return arena_printf(arena, "\"%.*s\"", TEXT_ARGS(node_string(node)));
    if (node_is(node, NODE_NUMBER) || node_is(node, NODE_BOOL))
        return node_text(node);
    if (node_is(node, NODE_LIST) && node_count(node) == 0)
        return TEXT("an empty list");
    return text_of(node_kind_name((enum node_kind)node->kind));
}

/* Only the first complaint counts. */
static void complain(struct complaint *complaint, const struct field *field, struct text allowed,
                     struct arena *arena)
{
    if (complaint->field != NULL)
        return;
    complaint->field = field;
    complaint->message =
        arena_printf(arena, "%.*s is %.*s; it must be %.*s", TEXT_ARGS(field_path(arena, field)),
                     TEXT_ARGS(found_text(field->node, arena)), TEXT_ARGS(allowed));
}

static bool is_absent(const struct node *node)
{
    return node == NULL || node_is(node, NODE_NULL);
}

static size_t list_size(const struct field *list)
{
    return node_is(list->node, NODE_LIST) ? node_count(list->node) : 0;
}

void kind_check(const struct field *field, enum node_kind kind, struct arena *arena,
                struct complaint *complaint)
{
    if (!is_absent(field->node) && !node_is(field->node, kind))
        complain(complaint, field, text_of(node_kind_name(kind)), arena);
}

/* ---- choices ---- */

struct choice {
    const char *key, *allowed;
    const char *names[5]; /* NULL ends them */
};

static bool is_one_of(struct text name, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

/* The API server replaces an absent or empty value by its default. */
static void check_choice(const struct field *parent, const struct choice *choice,
                         struct arena *arena, struct complaint *complaint)
{
    const struct node *node = node_get(parent->node, choice->key);
    struct text name = node_string(node);
    if (is_absent(node) || (node_is(node, NODE_STRING) && name.size == 0) ||
        is_one_of(name, choice->names))
        return;
    complain(complaint, field_get(arena, parent, choice->key), text_of(choice->allowed), arena);
}

void name_check(const struct field *field, const char *const *names, struct arena *arena,
                struct complaint *complaint)
{
    struct text name = node_string(field->node);
    struct text_list allowed = {0};
    if (is_absent(field->node) || (names[0] == NULL ? name.size > 0 : is_one_of(name, names)))
        return;
    for (size_t i = 0; names[i] != NULL; i++)
        if (names[i][0] != '\0')
            *LIST_PUSH(arena, &allowed) = text_of(names[i]);
    complain(complaint, field,
             allowed.count == 0 ? TEXT("a name") : texts_or(allowed.items, allowed.count, arena),
             arena);
}

/* ---- numbers ---- */

static void complain_of_range(const struct field *field, int64_t least, int64_t most,
                              struct arena *arena, struct complaint *complaint)
{
    complain(
        complaint, field,
        arena_printf(arena, "a whole number from %lld to %lld", (long long)least, (long long)most),
        arena);
}

static void check_range(const struct field *field, int64_t least, int64_t most, struct arena *arena,
                        struct complaint *complaint)
{
    int64_t number = 0;
    if (is_absent(field->node) ||
        (node_integer(field->node, &number) && number >= least && number <= most))
        return;
    complain_of_range(field, least, most, arena, complaint);
}

void count_check(const struct field *field, int64_t least, struct arena *arena,
                 struct complaint *complaint)
{
    check_range(field, least, INT32_MAX, arena, complaint);
}

void priority_check(const struct field *field, int64_t most, struct arena *arena,
                    struct complaint *complaint)
{
    int64_t milli = 0;
    if (is_absent(field->node) ||
        (quantity_milli(node_text(field->node), &milli) && milli % 1000 == 0 &&
         milli / 1000 >= INT32_MIN && milli / 1000 <= most))
        return;
    complain_of_range(field, INT32_MIN, most, arena, complaint);
}

struct text quantity_complaint(struct text quantity, const char *most, struct arena *arena)
{
    if (quantity_is_vast(quantity))
        return arena_printf(arena, "\"%.*s\", which is too large: it may be %s at most",
                            TEXT_ARGS(quantity), most);
    return arena_printf(arena, "\"%.*s\", which is no quantity of 0 or more", TEXT_ARGS(quantity));
}

/* ---- expressions ---- */

struct operators {
    const char *allowed;
    enum solver_op last;
    bool strict; /* Exists and DoesNotExist take no values */
};
static const struct operators of_nodes = {"In, NotIn, Exists, DoesNotExist, Gt or Lt", SOLVER_LT,
                                          true};
static const struct operators of_pools = {"In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte",
                                          SOLVER_LTE, false};
/* Expressions of volumes are accepted as far as they can be understood. */
static const struct operators of_volumes = {"In, NotIn, Exists, DoesNotExist, Gt or Lt", SOLVER_LTE,
                                            false};
static const struct operators of_labels = {"In, NotIn, Exists or DoesNotExist",
                                           SOLVER_DOES_NOT_EXIST, true};

static void check_values(const struct field *values, enum solver_op op, bool strict,
                         struct arena *arena, struct complaint *complaint)
{
    size_t count = list_size(values);
    int64_t number = 0;
    struct text name = text_of(solver_op_name(op));
    bool takes_none = op == SOLVER_EXISTS || op == SOLVER_DOES_NOT_EXIST;
    if (takes_none && strict && count > 0)
        complain(complaint, values,
                 arena_printf(arena, "absent, since %.*s takes no values", TEXT_ARGS(name)), arena);
    if (op > SOLVER_DOES_NOT_EXIST) {
        bool one = count == 1 && text_to_int64(node_string(node_item(values->node, 0)), &number);
        if (!one)
            complain(complaint, count == 1 ? field_item(arena, values, 0) : values,
                     arena_printf(arena, "a whole number in quotes, and the only value of %.*s",
                                  TEXT_ARGS(name)),
                     arena);
    } else if (!takes_none && count == 0) {
        complain(complaint, values, TEXT("a list of one string or more"), arena);
    }
    for (size_t i = 0; i < count; i++)
        if (!node_is(node_item(values->node, i), NODE_STRING))
            complain(complaint, field_item(arena, values, i), TEXT("a string"), arena);
}

static void check_expression(const struct field *field, const struct operators *operators,
                             struct arena *arena, struct complaint *complaint)
{
    struct text name = node_string(node_get(field->node, "operator"));
    enum solver_op op = SOLVER_IN;
    if (node_string(node_get(field->node, "key")).size == 0) {
        complain(complaint, field_get(arena, field, "key"), TEXT("the key of a label"), arena);
        return;
    }
    if (!solver_op_parse(name.data, name.size, &op) || op > operators->last) {
        complain(complaint, field_get(arena, field, "operator"), text_of(operators->allowed),
                 arena);
        return;
    }
    check_values(field_get(arena, field, "values"), op, operators->strict, arena, complaint);
}

static void check_expressions(const struct field *list, const struct operators *operators,
                              struct arena *arena, struct complaint *complaint)
{
    if (!is_absent(list->node) && !node_is(list->node, NODE_LIST))
        complain(complaint, list, TEXT("a list"), arena);
    for (size_t i = 0; i < list_size(list); i++)
        check_expression(field_item(arena, list, i), operators, arena, complaint);
}

void pool_requirements_check(const struct pool *pool, struct arena *arena,
                             struct complaint *complaint)
{
    check_expressions(pool->requirements_field, &of_pools, arena, complaint);
}

/* ---- a NodePool ---- */

static void check_duration(const struct field *field, bool or_never, struct arena *arena,
                           struct complaint *complaint)
{
    struct text t = node_string(field->node);
    if (is_absent(field->node) || (or_never && text_is(t, "Never")) || duration_is_whole(t))
        return;
    complain(complaint, field,
             or_never ? TEXT("hours, minutes and seconds such as 720h or 1h30m, or Never")
                      : TEXT("hours, minutes and seconds such as 720h or 1h30m"),
             arena);
}

static void check_taints(const struct taints *taints, struct arena *arena,
                         struct complaint *complaint)
{
    FOR_EACH(taint, taints) {
        if (taint->key.size == 0)
            complain(complaint, field_get(arena, taint->field, "key"), TEXT("the key of a taint"),
                     arena);
        if (!TEXT_IS_ONE_OF(taint->effect, "NoSchedule", "PreferNoSchedule", "NoExecute"))
            complain(complaint, field_get(arena, taint->field, "effect"),
                     TEXT("NoSchedule, PreferNoSchedule or NoExecute"), arena);
    }
}

/* With replicas a NodePool has no weight, and no limit but one of nodes. */
static void check_static(const struct pool *pool, struct arena *arena, struct complaint *complaint)
{
    const struct field *root = pool->object->root;
    const struct node *limits = pool->limits_field->node;
    check_range(field_at(arena, root, "spec.replicas"), 0, INT64_MAX, arena, complaint);
    if (!pool_is_static(pool))
        return;
    if (!is_absent(node_at(root->node, "spec.weight")))
        complain(complaint, field_at(arena, root, "spec.weight"),
                 TEXT("absent beside spec.replicas"), arena);
    for (size_t i = 0; node_is(limits, NODE_MAP) && i < node_count(limits); i++)
        if (!text_is(member_key(&limits->members[i]), "nodes"))
            complain(
                complaint, field_member(arena, pool->limits_field, member_key(&limits->members[i])),
                TEXT("absent beside spec.replicas, which leaves only a limit of nodes"), arena);
}

void pool_check(const struct pool *pool, struct arena *arena, struct complaint *complaint)
{
    static const struct {
        const char *path;
        bool or_never;
    } durations[] = {{"spec.template.spec.expireAfter", true},
                     {"spec.template.spec.terminationGracePeriod", false},
                     {"spec.disruption.consolidateAfter", true}};
    static const struct choice policy = {"consolidationPolicy",
                                         "WhenEmpty, WhenEmptyOrUnderutilized or Balanced",
                                         {"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"}};
    const struct field *root = pool->object->root;
    pool_requirements_check(pool, arena, complaint);
    if (pool->object->kind != KIND_NODE_POOL || object_is_v1beta1(pool->object))
        return;
    check_range(field_at(arena, root, "spec.weight"), 1, 100, arena, complaint);
    check_static(pool, arena, complaint);
    for (size_t i = 0; i < COUNT_OF(durations); i++)
        check_duration(field_at(arena, root, durations[i].path), durations[i].or_never, arena,
                       complaint);
    check_choice(field_at(arena, root, "spec.disruption"), &policy, arena, complaint);
    check_taints(&pool->taints, arena, complaint);
    check_taints(&pool->startup_taints, arena, complaint);
}

void volume_check(const struct object *volume, struct arena *arena, struct complaint *complaint)
{
    if (node_at(volume->root->node, "spec.nodeAffinity") == NULL)
        return;
    const struct field *terms =
        field_at(arena, volume->root, "spec.nodeAffinity.required.nodeSelectorTerms");
    for (size_t i = 0; i < list_size(terms); i++)
        check_expressions(field_get(arena, field_item(arena, terms, i), "matchExpressions"),
                          &of_volumes, arena, complaint);
}

/* ---- labels and their selectors ---- */

static void check_strings(const struct field *map, struct arena *arena, struct complaint *complaint)
{
    if (is_absent(map->node))
        return;
    if (!node_is(map->node, NODE_MAP)) {
        complain(complaint, map, TEXT("a map of strings"), arena);
        return;
    }
    for (size_t i = 0; i < node_count(map->node); i++) {
        const struct member *member = &map->node->members[i];
        if (!node_is(&member->value, NODE_STRING))
            complain(complaint, field_member(arena, map, member_key(member)), TEXT("a string"),
                     arena);
    }
}

static void check_selector(const struct field *selector, struct arena *arena,
                           struct complaint *complaint)
{
    if (is_absent(selector->node))
        return;
    if (!node_is(selector->node, NODE_MAP)) {
        complain(complaint, selector, TEXT("a map with matchLabels or matchExpressions"), arena);
        return;
    }
    check_strings(field_get(arena, selector, "matchLabels"), arena, complaint);
    check_expressions(field_get(arena, selector, "matchExpressions"), &of_labels, arena, complaint);
}

/* ---- a pod ---- */

static void check_tolerations(const struct tolerations *tolerations, struct arena *arena,
                              struct complaint *complaint)
{
    static const struct choice choices[] = {
        {"operator", "Exists, Equal, Gt or Lt", {"Exists", "Equal", "Gt", "Lt"}},
        {"effect",
         "NoSchedule, PreferNoSchedule or NoExecute",
         {"NoSchedule", "PreferNoSchedule", "NoExecute"}},
    };
    FOR_EACH(toleration, tolerations) {
        if (toleration->field == NULL)
            continue; /* nobody has written it */
        for (size_t i = 0; i < COUNT_OF(choices); i++)
            check_choice(toleration->field, &choices[i], arena, complaint);
        int64_t number = 0;
        if (toleration_compares(toleration) && !text_to_canonical_int64(toleration->value, &number))
            complain(complaint, field_get(arena, toleration->field, "value"),
                     TEXT("a whole number in quotes, without a leading zero or a plus"), arena);
    }
}

static void check_spread(const struct field *spread, struct arena *arena,
                         struct complaint *complaint)
{
    static const struct choice choices[] = {
        {"whenUnsatisfiable",
         "DoNotSchedule or ScheduleAnyway",
         {"DoNotSchedule", "ScheduleAnyway"}},
        {"nodeAffinityPolicy", "Honor or Ignore", {"Honor", "Ignore"}},
        {"nodeTaintsPolicy", "Honor or Ignore", {"Honor", "Ignore"}},
    };
    count_check(field_get(arena, spread, "maxSkew"), 1, arena, complaint);
    count_check(field_get(arena, spread, "minDomains"), 1, arena, complaint);
    for (size_t i = 0; i < COUNT_OF(choices); i++)
        check_choice(spread, &choices[i], arena, complaint);
}

static void check_topology(const struct topology_terms *terms, struct arena *arena,
                           struct complaint *complaint)
{
    FOR_EACH(item, terms) {
        if (item->use == TOPOLOGY_SPREAD)
            check_spread(item->term, arena, complaint);
        check_selector(field_get(arena, item->term, "labelSelector"), arena, complaint);
        check_selector(field_get(arena, item->term, "namespaceSelector"), arena, complaint);
    }
}

static void check_node_selection(const struct workload *workload,
                                 const struct node_selection *selection, struct arena *arena,
                                 struct complaint *complaint)
{
    check_strings(selection->selector_field, arena, complaint);
    if (selection->required.count == 0 &&
        !is_absent(node_at(workload->spec->node, "affinity.nodeAffinity." REQUIRED)))
        complain(
            complaint,
            field_at(arena, workload->spec, "affinity.nodeAffinity." REQUIRED ".nodeSelectorTerms"),
            TEXT("a list of one term or more"), arena);
    const struct node_terms *all[] = {&selection->required, &selection->preferred};
    for (size_t i = 0; i < COUNT_OF(all); i++)
        for (size_t j = 0; j < all[i]->count; j++)
            check_expressions(field_get(arena, all[i]->items[j].field, "matchExpressions"),
                              &of_nodes, arena, complaint);
}

void pod_check(const struct workload *workload, const struct pod_scheduling *scheduling,
               struct arena *arena, struct complaint *complaint)
{
    check_node_selection(workload, scheduling->selection, arena, complaint);
    check_tolerations(scheduling->tolerations, arena, complaint);
    check_topology(scheduling->topology, arena, complaint);
}
