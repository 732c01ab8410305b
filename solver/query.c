#include "solver/query.h"

#include <stdlib.h>
#include <string.h>

/* What a query may add to a list before the list moves to the query's arena. */
#define SPARE 64
/* Apart from the numbers of variants, of which a query has some more. */
#define FIRST_VOLUME_TERM (1u << 30)

/* ---- a run at rest ---- */

static void *with_spare(struct arena *arena, const void *items, size_t count, size_t size_bytes)
{
    void *copy = arena_array(arena, count + SPARE, size_bytes);
    if (count > 0)
        memcpy(copy, items, count * size_bytes);
    return copy;
}
#define WITH_SPARE(arena, list)                                                            \
    ((list).items = with_spare((arena), (list).items, (list).count, sizeof *(list).items), \
     (list).capacity = (list).count + SPARE)

static struct warm *warm_up(struct solver_run *run)
{
    struct warm *warm = ARENA_NEW(run->arena, struct warm);
    warm->arena = run->arena;
    warm->base = *run->problem;
    WITH_SPARE(run->arena, warm->base.shapes);
    WITH_SPARE(run->arena, warm->base.label_classes);
    WITH_SPARE(run->arena, warm->base.selectors);
    WITH_SPARE(run->arena, warm->base.groups);
    WITH_SPARE(run->arena, warm->base.inverse_groups);
    WITH_SPARE(run->arena, run->sets.sets);
    run->groups = with_spare(run->arena, run->groups, warm->base.groups.count, sizeof *run->groups);
    run->variants =
        with_spare(run->arena, run->variants, warm->base.variant_count, sizeof *run->variants);
    /* What pools are without a pod, every query asks. */
    for (uint32_t i = 0; i < warm->base.pools.count; i++) {
        size_t row;
        const struct claim_set *set = run->empty_claims[i].set;
        (void)claim_cheapest(run, set, claim_set_rows(run, set), &row);
        (void)pool_limit_rows(run, i);
    }
    warm->rest = *run;
    warm->rest.warm = warm;
    return warm;
}

static void rest(struct solver_run *run)
{
    struct warm *warm = run->warm;
    overlay_undo(warm);
    *run = warm->rest;
    warm->asking = false;
}

/* ---- a query ---- */

struct query {
    struct solver_run *run;
    struct solver_problem *view;
    struct solver_builder builder;
    const struct shape *shape;
    struct overlaid overlaid;
    size_t variant_count; /* made so far */
    size_t known_groups;  /* with their counts */
    uint64_t *nodes, *some_nodes, *types, *rows;
};

static bool asks_for_nothing_known(const struct solver_question *question)
{
    for (size_t i = 0; i < question->shape->requests.count; i++)
        if (question->shape->requests.items[i].resource == SOLVER_NONE)
            return true;
    return false;
}

/* Rows of what is asked without the resources nothing has; false when some of these are wanted. */
static bool take_known(const struct solver_question *question, struct arena *arena,
                       struct solver_shape *shape)
{
    *shape = *question->shape;
    if (!asks_for_nothing_known(question))
        return true;
    struct solver_amount *items = ARENA_ARRAY(arena, shape->requests.count, struct solver_amount);
    bool all_known = true;
    shape->requests = (struct solver_amounts){items, 0};
    for (size_t i = 0; i < question->shape->requests.count; i++) {
        struct solver_amount amount = question->shape->requests.items[i];
        if (amount.resource != SOLVER_NONE)
            items[shape->requests.count++] = amount;
        else
            all_known = all_known && amount.quantity == 0;
    }
    return all_known;
}

/* The shape by its number in the view, made ready when it is new. */
static bool take_shape(struct query *q, const struct solver_shape *given, struct error *error)
{
    struct solver_problem *view = q->view;
    const struct solver_problem *base = &q->run->warm->base;
    uint32_t number;
    if (!amounts_check(view, given->requests, "a pod of namespace", given->namespace, error) ||
        !shape_add(&q->builder, given, &number, error))
        return false;
    struct shape *shape = &view->shapes.items[number];
    if (number >= base->shapes.count) {
        int64_t *requests = amounts_vector(view, shape->amounts);
        requests[SOLVER_PODS] = add_capped(requests[SOLVER_PODS], 1);
        shape->requests = requests;
        shape->first_volume_term = FIRST_VOLUME_TERM;
        inverse_groups_make(&q->builder, shape);
        if (shape->label_class >= base->label_classes.count)
            class_kept_away(view, &view->label_classes.items[shape->label_class]);
    }
    q->shape = shape;
    return true;
}

static void take_room(struct query *q)
{
    struct solver_run *run = q->run;
    struct solver_problem *view = q->view;
    struct arena *arena = run->arena;
    size_t most = variants_most(q->shape) + q->shape->required_count;
    uint32_t known = run->warm->base.variant_count;
    if (most > SPARE)
        run->variants = ARENA_ARRAY(arena, known + most, struct variant_state);
    else
        memset(&run->variants[known], 0, most * sizeof *run->variants);
    view->variant_count = known + (uint32_t)most;
    q->nodes = ARENA_ARRAY(arena, bits_words(view->nodes.count), uint64_t);
    q->some_nodes = ARENA_ARRAY(arena, bits_words(view->nodes.count), uint64_t);
    q->types = ARENA_ARRAY(arena, view->row_words, uint64_t);
    q->rows = ARENA_ARRAY(arena, view->row_words, uint64_t);
}

static bool begin(struct query *q, struct solver_run *run, const struct solver_question *question,
                  const struct solver_shape *shape, struct arena *arena, struct error *error)
{
    if (run->plan.places != NULL)
        return error_set(error, ERROR_INPUT, NOWHERE, "the run was solved; ask another one");
    if (run->warm == NULL)
        run->warm = warm_up(run);
    struct warm *warm = run->warm;
    if (warm->asking)
        rest(run);
    warm->asking = true;
    problem_over(&warm->view, &warm->base, arena);
    run->problem = &warm->view;
    run->asked = true;
    run->arena = arena;
    run->sets.signatures = intern_over(arena, &warm->rest.sets.signatures);
    run->sets.scratch = (struct signature){.arena = arena};
    *q = (struct query){
        .run = run,
        .view = &warm->view,
        .builder = {.problem = &warm->view, .scratch = {.arena = arena}},
        .known_groups = warm->base.groups.count,
    };
    if (!overlay_apply(run, question->overlay, &q->overlaid, error) || !take_shape(q, shape, error))
        return false;
    if (question->mount_count != 0 && question->mount_count != q->shape->volume_count)
        return error_set(error, ERROR_INPUT, NOWHERE,
                         "the pod has %zu mounts and its shape %zu volumes", question->mount_count,
                         q->shape->volume_count);
    struct mount *mounts = ARENA_ARRAY(arena, question->mount_count, struct mount);
    for (size_t i = 0; i < question->mount_count; i++)
        mounts[i] = mount_make(&warm->view, &question->mounts[i]);
    warm->pod = (struct pod){
        .uid = "",
        .shape = q->shape->number,
        .node = SOLVER_NONE,
        .mounts = mounts,
        .mount_count = question->mount_count,
    };
    warm->view.pods.items = &warm->pod;
    warm->view.pods.count = 1;
    take_room(q);
    return true;
}

/* ---- variants ---- */

/* Gives the groups that came with a variant what they count. */
static void count_new_groups(struct query *q)
{
    struct solver_run *run = q->run;
    struct solver_problem *view = q->view;
    size_t count = view->groups.count;
    if (count > run->warm->base.groups.count + SPARE) {
        struct group_state *states = ARENA_ARRAY(run->arena, count, struct group_state);
        memcpy(states, run->groups, q->known_groups * sizeof *states);
        run->groups = states;
    }
    /* Pods are counted by class and node, of which the view has those of the problem. */
    for (; q->known_groups < count; q->known_groups++) {
        struct group *group = &view->groups.items[q->known_groups];
        group_count(view, group);
        run->groups[q->known_groups] = (struct group_state){
            .counts = group->counts,
            .count_size = group->count_size,
            .occupied = group->occupied,
        };
        overlay_apply_to(run, &q->overlaid, (uint32_t)q->known_groups);
    }
}

/* The pod is the only one pending: what its own anti-affinity keeps away is at most itself. */
static void add_own_inverse(struct query *q, struct variant *variant)
{
    const struct shape *shape = q->shape;
    const struct solver_problem *view = q->view;
    uint32_t *groups =
        ARENA_ARRAY(q->run->arena, variant->group_count + shape->inverse_group_count, uint32_t);
    memcpy(groups, variant->groups, variant->group_count * sizeof *groups);
    for (size_t i = 0; i < shape->inverse_group_count; i++)
        if (group_selects(view, &view->groups.items[shape->inverse_groups[i]],
                          &view->label_classes.items[shape->label_class]))
            groups[variant->group_count++] = shape->inverse_groups[i];
    variant->groups = groups;
}

/* Makes a variant one that can be tried. False: topology leaves it no place. */
static bool take_variant(struct query *q, struct variant *variant)
{
    struct solver_run *run = q->run;
    variant->number = run->warm->base.variant_count + (uint32_t)q->variant_count++;
    add_own_inverse(q, variant);
    count_new_groups(q);
    if (!topology_want(run, q->shape, variant, NULL))
        return false;
    const struct variant_state *state = &run->variants[variant->number];
    for (size_t i = 0; i < state->wanted_count; i++)
        if (state->wanted[i].word_count > run->scratch_domain_words) {
            run->scratch_domain_words = state->wanted[i].word_count;
            run->scratch_domains = ARENA_ARRAY(run->arena, run->scratch_domain_words, uint64_t);
            run->scratch_domain = ARENA_ARRAY(run->arena, run->scratch_domain_words, uint64_t);
        }
    return true;
}

/* ---- nodes ---- */

/* Leaves the nodes whose volumes, labels and taints are right and that are in wanted domains. */
static void choose_nodes(struct query *q, const struct variant *variant)
{
    const struct solver_problem *view = q->view;
    const struct shape *shape = q->shape;
    size_t words = bits_words(view->nodes.count);
    bits_fill(q->nodes, view->nodes.count);
    nodes_keep_tolerated(view, &shape->tolerations, variant->prefer, q->nodes);
    nodes_keep(view, &variant->full, q->nodes);
    if (shape->volume_alternative_count > 0) {
        uint64_t *before = ARENA_ARRAY(q->run->arena, words, uint64_t);
        memcpy(before, q->nodes, words * sizeof *before);
        memset(q->nodes, 0, words * sizeof *q->nodes);
        for (size_t i = 0; i < shape->volume_alternative_count; i++) {
            memcpy(q->some_nodes, before, words * sizeof *before);
            nodes_keep(view, &shape->volumes[i], q->some_nodes);
            for (size_t w = 0; w < words; w++)
                q->nodes[w] |= q->some_nodes[w];
        }
    }
    const struct variant_state *state = &q->run->variants[variant->number];
    for (size_t i = 0; i < state->wanted_count; i++) {
        const struct wanted *wanted = &state->wanted[i];
        if (wanted->domains != NULL)
            nodes_keep_domains(view, view->groups.items[wanted->group].key, wanted->domains,
                               wanted->word_count, q->nodes);
    }
}

/* Of a node that was chosen. */
static bool node_takes(const struct query *q, const struct variant *variant, uint32_t node)
{
    const struct solver_run *run = q->run;
    return node_has_room(run, node, q->shape) &&
           topology_host(run, &run->variants[variant->number], node, NULL) == ACCEPTED &&
           !host_ports_conflict(run->node_ports[node].items, run->node_ports[node].count,
                                q->shape->ports, q->shape->port_count) &&
           node_attaches(run, node, &run->warm->pod);
}

static uint32_t find_node(struct query *q, const struct variant *variant)
{
    choose_nodes(q, variant);
    for (size_t i = 0; i < q->view->nodes.count; i++) {
        uint32_t node = q->view->node_order[i];
        if (bits_has(q->nodes, node) && node_takes(q, variant, node))
            return node;
    }
    return SOLVER_NONE;
}

/* ---- claims ---- */

/* The rows any pool could hold the variant on, by requirements alone: more than a pool will find,
 * which narrows them by its own. */
static bool choose_types(struct query *q, const struct variant *variant)
{
    const struct solver_problem *view = q->view;
    const struct shape *shape = q->shape;
    catalog_select_types(view, &variant->full.requirements, q->types);
    if (shape->volume_alternative_count == 0)
        return bits_any(q->types, view->row_words);
    uint64_t *any = ARENA_ARRAY(q->run->arena, view->row_words, uint64_t);
    for (size_t i = 0; i < shape->volume_alternative_count; i++) {
        catalog_select_types(view, &shape->volumes[i].requirements, q->rows);
        for (size_t w = 0; w < view->row_words; w++)
            any[w] |= q->rows[w];
    }
    for (size_t w = 0; w < view->row_words; w++)
        q->types[w] &= any[w];
    return bits_any(q->types, view->row_words);
}

/* A claim of the pool with nothing on it, of the rows that were chosen; false when none is left. */
static bool empty_claim(struct query *q, uint32_t pool, struct claim *claim)
{
    const uint64_t *limited = pool_limit_rows(q->run, pool);
    bool any = false;
    for (size_t w = 0; w < q->view->row_words && limited != NULL; w++) {
        q->rows[w] = limited[w] & q->types[w];
        any |= q->rows[w] != 0;
    }
    *claim = q->run->empty_claims[pool];
    claim->rows = q->rows;
    return any;
}

static bool try_claim(struct query *q, const struct claim *claim, const struct variant *variant,
                      struct candidate *candidate)
{
    enum verdict verdict = claim_try(q->run, claim, (uint32_t)q->view->nodes.count, 0, variant,
                                     q->view->settings.best_effort_min_values, candidate);
    q->run->deferred = verdict == DEFERRED;
    return verdict == ACCEPTED;
}

static const struct solver_claim *buy(struct query *q, const struct claim *empty,
                                      const struct candidate *candidate)
{
    struct claim claim = *empty;
    claim.set = candidate->set;
    claim.rows = (uint64_t *)(uintptr_t)candidate->rows;
    claim.requests = (int64_t *)(uintptr_t)q->shape->requests;
    claim.first_pod = SOLVER_NONE;
    claim.held = (uint64_t *)(uintptr_t)candidate->held;
    struct solver_claim *bought = ARENA_NEW(q->run->arena, struct solver_claim);
    *bought = plan_claim(q->run, &claim);
    return bought;
}

static const struct solver_claim *find_claim(struct query *q, const struct variant *variant)
{
    if (!choose_types(q, variant))
        return NULL;
    q->run->deferred = false;
    for (size_t i = 0; i < q->view->pools.count && !q->run->deferred; i++) {
        struct claim claim;
        struct candidate candidate;
        if (empty_claim(q, q->view->pool_order[i], &claim) &&
            try_claim(q, &claim, variant, &candidate))
            return buy(q, &claim, &candidate);
    }
    return NULL;
}

/* ---- where one pod would go ---- */

struct tried {
    struct variant *items;
    size_t count, capacity;
};

static bool place(struct query *q, struct variant variant, struct tried *tried,
                  struct solver_answer *answer)
{
    bool may_be = take_variant(q, &variant);
    *LIST_PUSH(q->run->arena, tried) = variant;
    if (!may_be)
        return false;
    answer->node = find_node(q, &variant);
    if (answer->node != SOLVER_NONE) {
        answer->kind = SOLVER_ON_NODE;
        return true;
    }
    answer->claim = find_claim(q, &variant);
    if (answer->claim != NULL)
        answer->kind = SOLVER_ON_CLAIM;
    return answer->claim != NULL;
}

static bool place_relaxing(struct query *q, struct tried *tried, struct solver_answer *answer)
{
    const struct shape *shape = q->shape;
    for (size_t i = 0; i < shape->variant_count && !q->run->deferred; i++)
        if (place(q, shape->variants[i], tried, answer))
            return true;
    if (shape->variant_count > 0)
        return false;
    struct variant_steps *steps = variant_steps(&q->builder, shape);
    for (struct variant variant; !q->run->deferred && variant_next(steps, &variant);)
        if (place(q, variant, tried, answer))
            return true;
    return false;
}

static void answer_query(struct query *q, bool explain, struct solver_answer *answer)
{
    struct tried tried = {0};
    if ((!q->shape->needs_devices && place_relaxing(q, &tried, answer)) || !explain)
        return;
    /* As the shape of a pod of the view, with what was tried under the numbers it has here. */
    struct shape shape = *q->shape;
    shape.number = (uint32_t)q->view->shapes.count;
    shape.variants = tried.items;
    shape.variant_count = tried.count;
    *LIST_PUSH(q->run->arena, &q->view->shapes) = shape;
    q->run->warm->pod.shape = shape.number;
    answer->reasons = solver_explain(q->run, 0);
}

static const struct solver_reason nothing_has_it = {
    .pool = SOLVER_NONE,
    .kind = SOLVER_REASON_RESOURCES,
    .message = "asks for a resource that no instance type and no node has",
    .nearest = "",
};

bool solver_query(struct solver_run *run, const struct solver_question *question,
                  struct arena *arena, struct solver_answer *answer, struct error *error)
{
    struct query q;
    struct solver_shape shape;
    *answer = (struct solver_answer){.kind = SOLVER_UNSCHEDULABLE, .node = SOLVER_NONE};
    bool all_known = take_known(question, arena, &shape);
    bool good = begin(&q, run, question, &shape, arena, error);
    if (good && all_known)
        answer_query(&q, question->explain, answer);
    if (good && !all_known && question->explain)
        answer->reasons = (struct solver_reasons){&nothing_has_it, 1};
    answer->names = run->problem->names;
    if (run->warm != NULL && run->warm->asking)
        rest(run);
    return good;
}

/* ---- where it could go ---- */

/* Zones something sold or a pool names. */
static void known_zones(const struct solver_problem *problem, uint64_t *zones)
{
    uint32_t key = problem->zone_key;
    for (size_t i = 0; i < problem->key_index[key].value_count; i++)
        if (problem->key_index[key].defined && problem->key_index[key].values[i] != NULL)
            bits_add(zones, i);
    size_t count = problem->offering_shapes.count;
    for (size_t i = 0; i < count + problem->pools.count; i++) {
        const struct solver_requirement *r =
            solver_requirements_get(i < count ? &problem->offering_shapes.items[i].requirements
                                              : &problem->pools.items[i - count].requirements,
                                    key);
        for (size_t w = 0; r != NULL && !r->complement && w < r->word_count; w++)
            zones[w] |= r->words[w];
    }
}

struct zone_search {
    uint64_t *known, *found, *of_pools, *of_nodes, *one;
    size_t word_count;
    bool others_matter;
};

static void search_nodes(struct query *q, const struct variant *variant, struct zone_search *search)
{
    const uint32_t *zones = label_values(q->view, q->view->zone_key);
    if (zones == NULL)
        return;
    choose_nodes(q, variant);
    for (BITS_EACH(node, q->nodes, bits_words(q->view->nodes.count))) {
        if (zones[node] == SOLVER_NONE)
            continue;
        bits_add(search->of_nodes, zones[node]);
        if (!bits_has(search->found, zones[node]) && node_takes(q, variant, (uint32_t)node))
            bits_add(search->found, zones[node]);
    }
}

static void search_pool(struct query *q, uint32_t pool, const struct variant *variant,
                        struct zone_search *search)
{
    struct claim claim;
    struct candidate candidate;
    if (!empty_claim(q, pool, &claim))
        return;
    const struct claim_set *any_zone = claim.set;
    for (BITS_EACH(zone, search->known, search->word_count)) {
        if (bits_has(search->found, zone))
            continue;
        memset(search->one, 0, search->word_count * sizeof *search->one);
        bits_add(search->one, zone);
        claim.set =
            claim_set_narrow(q->run, any_zone, q->view->zone_key, search->one, search->word_count);
        if (claim.set != NULL && try_claim(q, &claim, variant, &candidate)) {
            bits_add(search->found, zone);
            bits_add(search->of_pools, zone);
        }
    }
}

static void search_zones(struct query *q, struct zone_search *search)
{
    size_t terms = q->shape->required_count > 0 ? q->shape->required_count : 1;
    for (size_t i = 0; i < terms && !q->shape->needs_devices; i++) {
        struct variant variant = variant_of_required(&q->builder, q->shape, i);
        bool may_be = take_variant(q, &variant);
        struct variant_state *state = &q->run->variants[variant.number];
        search->others_matter |= state->wanted_count > 0;
        if (!may_be)
            continue;
        /* Every domain that would do, not the one that would be chosen. */
        for (size_t j = 0; j < state->wanted_count; j++)
            state->wanted[j].pick_one = false;
        for (uint32_t j = 0; j < q->view->pools.count && choose_types(q, &variant); j++)
            search_pool(q, j, &variant, search);
        search_nodes(q, &variant, search);
    }
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct solver_strings zone_names(const struct query *q, const uint64_t *zones,
                                        size_t word_count)
{
    struct arena *arena = q->run->arena;
    LIST(const char *) names = {0};
    for (BITS_EACH(zone, zones, word_count)) {
        struct text name = {0};
        name.data =
            solver_names_value_text(q->view->names, q->view->zone_key, (uint32_t)zone, &name.size);
        *LIST_PUSH(arena, &names) = arena_text(arena, name).data;
    }
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, compare_strings);
    return (struct solver_strings){names.items, names.count};
}

static void answer_zones(struct query *q, struct solver_zones *zones)
{
    struct arena *arena = q->run->arena;
    uint32_t key = q->view->zone_key;
    struct zone_search search = {.word_count =
                                     bits_words(solver_names_value_count(q->view->names, key)) + 1};
    search.known = ARENA_ARRAY(arena, search.word_count, uint64_t);
    search.found = ARENA_ARRAY(arena, search.word_count, uint64_t);
    search.of_pools = ARENA_ARRAY(arena, search.word_count, uint64_t);
    search.of_nodes = ARENA_ARRAY(arena, search.word_count, uint64_t);
    search.one = ARENA_ARRAY(arena, search.word_count, uint64_t);
    known_zones(q->view, search.known);
    search_zones(q, &search);
    for (size_t w = 0; w < search.word_count; w++)
        search.of_nodes[w] &= ~search.of_pools[w];
    *zones = (struct solver_zones){
        .all = zone_names(q, search.found, search.word_count),
        .of_pools = zone_names(q, search.of_pools, search.word_count),
        .by_room = zone_names(q, search.of_nodes, search.word_count),
        .others_matter = search.others_matter,
    };
}

bool solver_query_zones(struct solver_run *run, const struct solver_question *question,
                        struct arena *arena, struct solver_zones *zones, struct error *error)
{
    struct query q;
    struct solver_shape shape;
    *zones = (struct solver_zones){0};
    bool all_known = take_known(question, arena, &shape);
    bool good = begin(&q, run, question, &shape, arena, error);
    if (good && all_known)
        answer_zones(&q, zones);
    if (run->warm != NULL && run->warm->asking)
        rest(run);
    return good;
}
