#include <stdlib.h>
#include <string.h>

#include "solver/explain.h"

#define VALUES_SHOWN 5

static const char *const reason_names[SOLVER_REASON_COUNT] = {
    [SOLVER_REASON_TAINT] = "taint",           [SOLVER_REASON_REQUIREMENT] = "requirement",
    [SOLVER_REASON_RESOURCES] = "resources",   [SOLVER_REASON_OFFERING] = "offering",
    [SOLVER_REASON_TOPOLOGY] = "topology",     [SOLVER_REASON_VOLUME] = "volume",
    [SOLVER_REASON_LIMIT] = "limit",           [SOLVER_REASON_PORT] = "port",
    [SOLVER_REASON_MIN_VALUES] = "min-values", [SOLVER_REASON_DEVICES] = "devices",
};

const char *solver_reason_name(enum solver_reason_kind kind)
{
    return reason_names[kind];
}

/* ---- words ---- */

static const char *key_name(const struct solver_problem *problem, uint32_t key, size_t *size)
{
    return solver_names_key_text(problem->names, key, size);
}

static int compare_texts(const void *a, const void *b)
{
    return text_compare(*(const struct text *)a, *(const struct text *)b);
}

/* "a, b or c"; of more than a few the first, then how many. */
static struct text list_values(const struct solver_problem *problem, struct arena *arena,
                               uint32_t key, const uint64_t *words, size_t word_count,
                               const char *last)
{
    LIST(struct text) values = {0};
    for (BITS_EACH(value, words, word_count)) {
        struct text *text = LIST_PUSH(arena, &values);
        text->data = solver_names_value_text(problem->names, key, (uint32_t)value, &text->size);
    }
    if (values.count > 1)
        qsort(values.items, values.count, sizeof *values.items, compare_texts);
    struct text result = TEXT("");
    size_t shown = values.count > VALUES_SHOWN + 1 ? VALUES_SHOWN : values.count;
    for (size_t i = 0; i < shown; i++) {
        const char *between = i == 0 ? "" : i + 1 < values.count ? ", " : last;
        result = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(result), between,
                              TEXT_ARGS(values.items[i]));
    }
    if (shown < values.count)
        result = arena_printf(arena, "%.*s and %zu more", TEXT_ARGS(result), values.count - shown);
    return result;
}

/* What a requirement asks, as somebody would say it. */
static struct text tell_requirement(const struct solver_problem *problem, struct arena *arena,
                                    const struct solver_requirement *r)
{
    size_t size = 0;
    const char *key = key_name(problem, r->key, &size);
    struct text values = list_values(problem, arena, r->key, r->words, r->word_count, " or ");
    struct text bounds = TEXT("");
    if (r->has_gte)
        bounds = arena_printf(arena, " of at least %lld", (long long)r->gte);
    if (r->has_lte)
        bounds = arena_printf(arena, "%.*s of at most %lld", TEXT_ARGS(bounds), (long long)r->lte);
    switch (solver_requirement_op(r)) {
    case SOLVER_IN:
        return arena_printf(arena, "%.*s %.*s", (int)size, key, TEXT_ARGS(values));
    case SOLVER_NOT_IN:
        return arena_printf(arena, "%.*s other than %.*s%.*s", (int)size, key, TEXT_ARGS(values),
                            TEXT_ARGS(bounds));
    case SOLVER_DOES_NOT_EXIST:
        return arena_printf(arena, "no label %.*s", (int)size, key);
    case SOLVER_EXISTS:
    default:
        return bounds.size > 0 ? arena_printf(arena, "%.*s%.*s", (int)size, key, TEXT_ARGS(bounds))
                               : arena_printf(arena, "any %.*s", (int)size, key);
    }
}

/* An amount in the units taffrail uses: cpu in thousandths, memory and storage in bytes. */
static struct text tell_quantity(const struct solver_problem *problem, struct arena *arena,
                                 uint32_t resource, int64_t quantity)
{
    const char *name = solver_resource_name(problem, resource);
    if (resource == SOLVER_CPU) {
        if (quantity % 1000 == 0)
            return arena_printf(arena, "%lld cpu", (long long)(quantity / 1000));
        int digits = quantity % 100 == 0 ? 1 : quantity % 10 == 0 ? 2 : 3;
        return arena_printf(arena, "%.*f cpu", digits, (double)quantity / 1000);
    }
    bool bytes = resource == SOLVER_MEMORY || strstr(name, "storage") != NULL ||
                 strncmp(name, "hugepages-", strlen("hugepages-")) == 0;
    if (!bytes)
        return arena_printf(arena, "%lld %s", (long long)quantity, name);
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
    double scaled = (double)quantity;
    size_t unit = 0;
    for (; scaled >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        scaled /= 1024;
    if (scaled == (double)(int64_t)scaled)
        return arena_printf(arena, "%lld%s %s", (long long)scaled, units[unit], name);
    return arena_printf(arena, "%.1f%s %s", scaled, units[unit], name);
}

static const char *type_of_row(const struct solver_problem *problem, size_t row)
{
    return problem->types.items[problem->rows.items[row].type].name;
}

/* ---- each kind ---- */

static void tell_taint(struct question *q, struct solver_reason *reason)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    const char *value = intern_text(&q->problem->words, q->taint->value);
    reason->message = arena_printf(q->run->arena, "does not tolerate the taint %s%s%s:%s",
                                   intern_text(&q->problem->words, q->taint->key),
                                   *value == '\0' ? "" : "=", value, effects[q->taint->effect])
                          .data;
}

static void tell_conflict(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    const struct solver_requirements *pool = &q->run->empty_claims[q->pool].set->requirements;
    const struct solver_requirement *wanted =
        q->conflict == q->problem->hostname_key
            ? q->variant->full.hostname
            : solver_requirements_get(&q->variant->full.requirements, q->conflict);
    const struct solver_requirement *own = solver_requirements_get(pool, q->conflict);
    struct text wants = tell_requirement(q->problem, arena, wanted);
    reason->message = arena_printf(arena, "wants %.*s", TEXT_ARGS(wants)).data;
    if (q->conflict == q->problem->hostname_key) {
        reason->nearest = "a node that is yet to be bought has no such hostname";
        return;
    }
    if (own == NULL) {
        reason->nearest = "the NodePool gives its nodes no such label";
        return;
    }
    struct text has = tell_requirement(q->problem, arena, own);
    reason->nearest = arena_printf(arena, "the NodePool has %.*s", TEXT_ARGS(has)).data;
}

/* The values of a key that rows have. */
static struct text values_of_rows(struct question *q, uint32_t key, const uint64_t *rows)
{
    const struct key_index *index = &q->problem->key_index[key];
    size_t word_count = bits_words(index->value_count) + 1;
    uint64_t *values = ARENA_ARRAY(q->run->arena, word_count, uint64_t);
    for (size_t v = 0; v < index->value_count; v++)
        for (size_t w = 0; index->values[v] != NULL && w < q->problem->row_words; w++)
            if ((index->values[v][w] & rows[w]) != 0)
                bits_add(values, v);
    return list_values(q->problem, q->run->arena, key, values, word_count, " and ");
}

/* Rows that the other reasons of the set leave. */
static uint64_t *others_leave(struct question *q, enum solver_reason_kind kind, unsigned set)
{
    uint64_t *rows = ARENA_ARRAY(q->run->arena, q->problem->row_words, uint64_t);
    for (size_t w = 0; w < q->problem->row_words; w++) {
        rows[w] = q->problem->pools.items[q->pool].rows[w];
        for (size_t i = 0; i < CRITERIA; i++)
            if (i != kind && (set >> i & 1) != 0)
                rows[w] &= q->rows[i][w];
    }
    return rows;
}

static void tell_types(struct question *q, struct solver_reason *reason, unsigned set)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    const uint64_t *left = others_leave(q, SOLVER_REASON_REQUIREMENT, set);
    const struct solver_requirements *wanted = &q->variant->full.requirements;
    struct text wants = TEXT("");
    uint64_t *rows = ARENA_ARRAY(arena, problem->row_words, uint64_t);
    for (size_t i = 0; i < wanted->count; i++) {
        const struct solver_requirement *r = &wanted->items[i];
        if (r->key >= problem->key_count || !problem->key_index[r->key].defined)
            continue;
        wants = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(wants), wants.size > 0 ? " and " : "",
                             TEXT_ARGS(tell_requirement(problem, arena, r)));
        struct solver_requirements one = {(struct solver_requirement *)(uintptr_t)r, 1, 1};
        catalog_select_types(problem, &one, rows);
        bool some = false;
        for (size_t w = 0; w < problem->row_words; w++)
            some |= (rows[w] & left[w]) != 0;
        size_t size = 0;
        const char *key = key_name(problem, r->key, &size);
        if (!some && *reason->nearest == '\0' && bits_any(left, problem->row_words))
            reason->nearest = arena_printf(arena, "%.*s here: %.*s", (int)size, key,
                                           TEXT_ARGS(values_of_rows(q, r->key, left)))
                                  .data;
    }
    reason->message =
        wants.size > 0 ? arena_printf(arena, "no instance type here is %.*s", TEXT_ARGS(wants)).data
                       : "no instance type of this NodePool can be launched";
}

/* Of the rows left, the one that lacks least, and of which resource. */
static size_t nearest_row(struct question *q, const uint64_t *left, size_t *resource)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    size_t row_count = q->problem->rows.count, best = SIZE_MAX;
    double least = 0;
    for (BITS_EACH(row, left, q->problem->row_words)) {
        double worst = 0;
        size_t at = SOLVER_CPU;
        for (size_t r = 0; r < q->problem->resource_count; r++) {
            double wanted = (double)q->shape->requests[r];
            double short_of = wanted - (double)pool->room[r * row_count + row];
            if (short_of > 0 && short_of / (wanted + 1) > worst) {
                worst = short_of / (wanted + 1);
                at = r;
            }
        }
        bool first = best == SIZE_MAX;
        if (first || worst < least ||
            (worst <= least &&
             strcmp(type_of_row(q->problem, row), type_of_row(q->problem, best)) < 0)) {
            best = row;
            least = worst;
            *resource = at;
        }
    }
    return best;
}

static void tell_resources(struct question *q, struct solver_reason *reason, unsigned set)
{
    struct arena *arena = q->run->arena;
    const struct pool *pool = &q->problem->pools.items[q->pool];
    const uint64_t *left = others_leave(q, SOLVER_REASON_RESOURCES, set);
    size_t resource = SOLVER_CPU;
    size_t row = nearest_row(q, left, &resource);
    if (row == SIZE_MAX) {
        reason->message = "no instance type of this NodePool can be launched";
        return;
    }
    int64_t wanted = q->shape->requests[resource];
    struct text needs = tell_quantity(q->problem, arena, (uint32_t)resource, wanted);
    int64_t has = pool->room[resource * q->problem->rows.count + row];
    struct text room = tell_quantity(q->problem, arena, (uint32_t)resource, has > 0 ? has : 0);
    /* A request in whole cpu where thousandths were meant. */
    bool slip = resource == SOLVER_CPU && wanted >= (int64_t)1000000 * 1000;
    reason->message = arena_printf(arena, "needs %.*s%s", TEXT_ARGS(needs),
                                   slip ? " (M written where m was meant?)" : "")
                          .data;
    reason->nearest = arena_printf(arena, "the largest type left has room for %.*s, %s",
                                   TEXT_ARGS(room), type_of_row(q->problem, row))
                          .data;
}

static void tell_offering(struct question *q, struct solver_reason *reason, unsigned set)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    const uint64_t *left = others_leave(q, SOLVER_REASON_OFFERING, set);
    const uint32_t keys[] = {problem->zone_key, problem->capacity_type_key};
    struct text wants = TEXT("");
    for (size_t i = 0; i < 2; i++) {
        const struct solver_requirement *r =
            solver_requirements_get(&q->variant->full.requirements, keys[i]);
        if (r != NULL)
            wants =
                arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(wants), wants.size > 0 ? " and " : "",
                             TEXT_ARGS(tell_requirement(problem, arena, r)));
    }
    size_t count = 0;
    for (BITS_EACH(row, left, problem->row_words))
        count++;
    reason->message =
        wants.size > 0 ? arena_printf(arena, "nothing is on offer in %.*s", TEXT_ARGS(wants)).data
                       : "nothing of what would suit it is on offer";
    reason->nearest =
        arena_printf(arena, "%zu types would do, none of them is to be had there", count).data;
}

static struct text zones_of_volume(struct question *q, size_t volume)
{
    struct arena *arena = q->run->arena;
    struct text zones = TEXT("");
    for (size_t i = 0; i < q->shape->volume_term_counts[volume]; i++) {
        const struct term *term = &q->shape->volume_terms[volume][i];
        const struct solver_requirement *r =
            solver_requirements_get(&term->requirements, q->problem->zone_key);
        if (r == NULL)
            r = term->requirements.count > 0 ? &term->requirements.items[0] : term->hostname;
        if (r == NULL)
            continue;
        struct text one =
            r->key == q->problem->zone_key && solver_requirement_op(r) == SOLVER_IN
                ? list_values(q->problem, arena, r->key, r->words, r->word_count, " or ")
                : tell_requirement(q->problem, arena, r);
        zones = arena_printf(arena, "%.*s%s%.*s", TEXT_ARGS(zones), zones.size > 0 ? " or " : "",
                             TEXT_ARGS(one));
    }
    return zones;
}

/* "volume shop/data is in eu-west-1a, volume shop/logs in eu-west-1b". */
static struct text tell_volume_places(struct question *q)
{
    struct arena *arena = q->run->arena;
    struct text result = TEXT("");
    for (size_t i = 0; i < q->shape->volume_count; i++) {
        if (q->shape->volume_term_counts[i] == 0)
            continue;
        const char *name = i < q->pod->mount_count
                               ? intern_text(&q->problem->claims, q->pod->mounts[i].claim)
                               : "";
        struct text zones = zones_of_volume(q, i);
        result =
            arena_printf(arena, "%.*s%s%s%s%s %.*s", TEXT_ARGS(result), result.size > 0 ? ", " : "",
                         result.size > 0 ? "volume" : "its volume", *name == '\0' ? "" : " ", name,
                         TEXT_ARGS(arena_printf(arena, "can be in %.*s only", TEXT_ARGS(zones))));
    }
    return result;
}

static void tell_volume(struct question *q, struct solver_reason *reason)
{
    reason->message = tell_volume_places(q).data;
    const struct solver_requirement *own = solver_requirements_get(
        &q->run->empty_claims[q->pool].set->requirements, q->problem->zone_key);
    struct text here =
        values_of_rows(q, q->problem->zone_key, q->problem->pools.items[q->pool].rows);
    if (own != NULL && solver_requirement_op(own) == SOLVER_IN)
        here =
            list_values(q->problem, q->run->arena, own->key, own->words, own->word_count, " and ");
    reason->nearest =
        here.size == 0
            ? ""
            : arena_printf(q->run->arena, "the NodePool reaches %.*s", TEXT_ARGS(here)).data;
}

bool reason_volumes_meet(struct question *q, struct solver_reason *reason)
{
    if (q->shape->volume_alternative_count == 0)
        return true;
    for (size_t i = 0; i < q->shape->volume_alternative_count; i++) {
        bool empty = false;
        const struct solver_requirements *set = &q->shape->volumes[i].requirements;
        for (size_t j = 0; j < set->count; j++)
            empty |= solver_requirement_op(&set->items[j]) == SOLVER_DOES_NOT_EXIST;
        if (!empty)
            return true;
    }
    reason->message = arena_printf(q->run->arena, "%.*s: no place holds all of them",
                                   TEXT_ARGS(tell_volume_places(q)))
                          .data;
    reason->nearest = "";
    return false;
}

struct counted { /* a domain, first by what it is sorted by */
    struct text name;
    int32_t count;
};

static struct text tell_counts(struct question *q, const struct group *group)
{
    const struct group_state *state = &q->run->groups[q->group];
    struct arena *arena = q->run->arena;
    LIST(struct counted) domains = {0};
    for (size_t v = 0; v < state->count_size && !group->hostname; v++) {
        if (state->counts[v] < 0)
            continue;
        struct counted *domain = LIST_PUSH(arena, &domains);
        domain->count = state->counts[v];
        domain->name.data =
            solver_names_value_text(q->problem->names, group->key, (uint32_t)v, &domain->name.size);
    }
    if (domains.count > 1)
        qsort(domains.items, domains.count, sizeof *domains.items, compare_texts);
    struct text result = TEXT("");
    for (size_t i = 0; i < domains.count && i < VALUES_SHOWN; i++)
        result = arena_printf(arena, "%.*s%s%.*s %d", TEXT_ARGS(result), i > 0 ? ", " : "",
                              TEXT_ARGS(domains.items[i].name), domains.items[i].count);
    return result;
}

static void tell_topology(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    const struct group *group = &q->problem->groups.items[q->group];
    size_t size = 0;
    const char *key = key_name(q->problem, group->key, &size);
    struct text counts = tell_counts(q, group);
    switch (group->kind) {
    case GROUP_SPREAD:
        reason->message =
            arena_printf(arena, "its spread over %.*s (maxSkew %d) allows no domain here",
                         (int)size, key, group->max_skew)
                .data;
        break;
    case GROUP_AFFINITY:
        reason->message = arena_printf(arena, "its pod affinity by %.*s finds no pod to join here",
                                       (int)size, key)
                              .data;
        break;
    case GROUP_ANTI_AFFINITY:
        reason->message = arena_printf(arena, "%s anti-affinity by %.*s leaves no domain free here",
                                       group->inverse ? "another pod's" : "its pod", (int)size, key)
                              .data;
        break;
    }
    if (group->hostname)
        return;
    reason->nearest = counts.size > 0
                          ? arena_printf(arena, "pods it selects: %.*s", TEXT_ARGS(counts)).data
                          : "no NodePool and no node has this topology key";
}

static void tell_limit(struct question *q, struct solver_reason *reason, unsigned set)
{
    const struct solver_problem *problem = q->problem;
    struct arena *arena = q->run->arena;
    const int64_t *limits = q->run->limits[q->pool];
    if (limits[SOLVER_NODES] <= 0) {
        reason->message = "the NodePool's limit of nodes is reached";
        return;
    }
    const uint64_t *left = others_leave(q, SOLVER_REASON_LIMIT, set);
    size_t row_count = problem->rows.count, best = SIZE_MAX, at = SOLVER_CPU;
    double least = 0;
    for (BITS_EACH(row, left, problem->row_words)) {
        if (!bits_has(q->rows[SOLVER_REASON_RESOURCES], row))
            continue;
        double most = 0;
        size_t of = SOLVER_CPU;
        for (size_t r = 0; r < problem->resource_count; r++) {
            if (r == SOLVER_NODES || limits[r] == INT64_MAX)
                continue;
            double excess = (double)problem->capacity[r * row_count + row] /
                            ((limits[r] > 0 ? (double)limits[r] : 0) + 1);
            if (excess > most) {
                most = excess;
                of = r;
            }
        }
        if (best == SIZE_MAX || most < least) {
            best = row;
            least = most;
            at = of;
        }
    }
    for (size_t r = 0; r < problem->resource_count && best == SIZE_MAX; r++)
        if (r != SOLVER_NODES && limits[r] != INT64_MAX && limits[r] <= limits[at])
            at = r;
    struct text rest = tell_quantity(problem, arena, (uint32_t)at, limits[at] > 0 ? limits[at] : 0);
    reason->message =
        arena_printf(arena, "of the NodePool's limit %.*s is left", TEXT_ARGS(rest)).data;
    if (best != SIZE_MAX)
        reason->nearest =
            arena_printf(arena, "the smallest type that would do has %.*s, %s",
                         TEXT_ARGS(tell_quantity(problem, arena, (uint32_t)at,
                                                 problem->capacity[at * row_count + best])),
                         type_of_row(problem, best))
                .data;
}

static void tell_port(struct question *q, struct solver_reason *reason)
{
    const struct pool *pool = &q->problem->pools.items[q->pool];
    uint32_t taken = 0;
    for (size_t i = 0; i < pool->daemon_count && taken == 0; i++)
        for (size_t j = 0; j < q->shape->port_count && taken == 0; j++)
            if (host_ports_conflict(pool->daemons[i].ports, pool->daemons[i].port_count,
                                    &q->shape->ports[j], 1))
                taken = q->shape->ports[j].port;
    reason->message = arena_printf(q->run->arena,
                                   "host port %u is taken by a DaemonSet on every node here", taken)
                          .data;
}

/* Which minimum the types that would hold the pod fall short of. */
static void tell_min_values(struct question *q, struct solver_reason *reason)
{
    struct arena *arena = q->run->arena;
    uint64_t *rows = others_leave(q, SOLVER_REASON_MIN_VALUES, (1u << CRITERIA) - 1);
    const struct solver_requirements *set = &q->run->empty_claims[q->pool].set->requirements;
    reason->message = "the NodePool's minValues cannot all be kept";
    for (size_t i = 0; i < set->count; i++) {
        const struct solver_requirement *r = &set->items[i];
        uint32_t count = r->min_values == 0 ? 0 : requirement_count_values(q->problem, r, rows);
        if (count >= r->min_values)
            continue;
        size_t size = 0;
        const char *key = key_name(q->problem, r->key, &size);
        reason->message = arena_printf(arena, "the NodePool wants minValues %u of %.*s",
                                       r->min_values, (int)size, key)
                              .data;
        reason->nearest = arena_printf(arena, "the types that would hold it have %u", count).data;
        return;
    }
}

struct solver_reason reason_tell(struct question *q, enum solver_reason_kind kind, unsigned set)
{
    struct solver_reason reason = {.pool = q->pool, .kind = kind, .message = "", .nearest = ""};
    switch (kind) {
    case SOLVER_REASON_TAINT:
        tell_taint(q, &reason);
        break;
    case SOLVER_REASON_REQUIREMENT:
        if (q->requirement_fits_pool)
            tell_types(q, &reason, set);
        else
            tell_conflict(q, &reason);
        break;
    case SOLVER_REASON_RESOURCES:
        tell_resources(q, &reason, set);
        break;
    case SOLVER_REASON_OFFERING:
        tell_offering(q, &reason, set);
        break;
    case SOLVER_REASON_TOPOLOGY:
        tell_topology(q, &reason);
        break;
    case SOLVER_REASON_VOLUME:
        tell_volume(q, &reason);
        break;
    case SOLVER_REASON_LIMIT:
        tell_limit(q, &reason, set);
        break;
    case SOLVER_REASON_PORT:
        tell_port(q, &reason);
        break;
    case SOLVER_REASON_MIN_VALUES:
        tell_min_values(q, &reason);
        break;
    case SOLVER_REASON_DEVICES:
    case SOLVER_REASON_COUNT:
        break;
    }
    return reason;
}
