/* Which accelerators a NodePool is for. */
#include "catalog/catalog.h"
#include "kube/pool.h"
#include "policy/rails/accelerators.h"
#include "policy/rails/instance_list.h"

static bool is_accelerator_key(struct text key)
{
    static const char *const globs[] = {
        "karpenter.*/instance-gpu-*",
        "karpenter.*/instance-accelerator-*",
        "karpenter.azure.com/sku-gpu-*",
        "cloud.google.com/gke-accelerator*",
    };
    key = canonical_key(key);
    for (size_t i = 0; i < COUNT_OF(globs); i++)
        if (text_matches_glob(key, text_of(globs[i])))
            return true;
    return false;
}

/* Some value above 0: "instance-gpu-count In [0]" names no GPU, or a fraction of one, which the
 * catalogue tells. */
static bool has_value_above_zero(const struct expression *expression)
{
    for (size_t i = 0; i < expression->value_count; i++)
        if (!text_is(expression->values[i].text, "0"))
            return true;
    return false;
}

/* What was asked of each value of a dimension: few of those that may be written are in the
 * catalogue. */
struct asked {
    const struct accelerators *settings;
    struct arena *arena;
    uint32_t keys[DIMENSION_COUNT]; /* their numbers in the catalogue */
    struct text_map values[DIMENSION_COUNT];
};

static struct asked ask(const struct accelerators *settings, struct arena *arena)
{
    struct asked asked = {.settings = settings, .arena = arena};
    for (size_t i = 0; i < DIMENSION_COUNT; i++) {
        struct text key = text_of(dimension_keys[i]);
        asked.keys[i] = solver_names_find_key(catalog_names(settings->catalog), key.data, key.size);
    }
    return asked;
}

static bool is_in_catalog(const struct asked *asked, enum dimension dimension, struct text value)
{
    uint32_t key = asked->keys[dimension];
    return key != SOLVER_NONE &&
           solver_names_find_value(catalog_names(asked->settings->catalog), key, value.data,
                                   value.size) != SOLVER_NONE;
}

/* Whether the types with this value all carry an accelerator; of a type or family that the
 * catalogue does not know, the others of its category tell. */
static bool value_names_accelerator(struct asked *asked, enum dimension dimension,
                                    struct text value)
{
    const struct accelerators *settings = asked->settings;
    const struct catalog *catalog = settings->catalog;
    if (dimension != DIMENSION_CATEGORY && !is_in_catalog(asked, dimension, value)) {
        struct text family, size, category;
        uint32_t generation;
        bool is_read = dimension == DIMENSION_FAMILY
                           ? instance_family_parse(value, &category, &generation)
                           : instance_name_parse(value, &family, &size, &category, &generation);
        if (!is_read)
            return false;
        value = category;
        dimension = DIMENSION_CATEGORY;
    }
    if (!is_in_catalog(asked, dimension, value))
        return false;
    size_t *answer = text_map_at(&asked->values[dimension], asked->arena, value);
    if (*answer == 0) {
        struct type_set named = requirement_select(catalog, dimension_keys[dimension], SOLVER_IN,
                                                   &value, 1, asked->arena);
        struct type_set generic = type_set_minus(&named, &settings->carriers, asked->arena);
        /* A catalogue of a file may name a value that no type has. */
        *answer = !type_set_is_empty(&named) && type_set_is_empty(&generic) ? 2 : 1;
    }
    return *answer == 2;
}

static bool names_accelerator(struct asked *asked, const struct expression *expression)
{
    if (!expression->valid)
        return false;
    if (is_accelerator_key(expression->key))
        return expression->op == SOLVER_EXISTS || expression->op == SOLVER_GT ||
               expression->op == SOLVER_GTE ||
               (expression->op == SOLVER_IN && has_value_above_zero(expression));
    enum dimension dimension = dimension_of(expression->key);
    if (expression->op != SOLVER_IN ||
        (dimension != DIMENSION_TYPE && dimension != DIMENSION_FAMILY &&
         dimension != DIMENSION_CATEGORY))
        return false;
    for (size_t i = 0; i < expression->value_count; i++)
        if (value_names_accelerator(asked, dimension, expression->values[i].text))
            return true;
    return false;
}

static bool some_names_accelerator(struct asked *asked, const struct expressions *expressions)
{
    for (size_t i = 0; i < expressions->count; i++)
        if (names_accelerator(asked, &expressions->items[i]))
            return true;
    return false;
}

/* "sku-gpu-count DoesNotExist", "In [0]", "Lt [1]", "Lte [0]": said of a cloud whose types are not
 * known, by a pool that names none. */
static bool rules_accelerators_out(const struct pool *pool)
{
    FOR_EACH(expression, &pool->requirements)
        if (expression->valid && is_accelerator_key(expression->key) &&
            (expression->op == SOLVER_DOES_NOT_EXIST || expression->op == SOLVER_IN ||
             (expression->op == SOLVER_LT && text_is(expression->values[0].text, "1")) ||
             (expression->op == SOLVER_LTE && text_is(expression->values[0].text, "0"))))
            return true;
    return false;
}

struct pool_purpose accelerators_find_purpose(const struct rail_call *call, const struct pool *pool)
{
    const struct accelerators *settings = call->settings;
    const struct launchable *launchable = pool_launchable(call, pool);
    struct pool_purpose result = {.purpose = FOR_ACCELERATORS, .launchable = launchable};
    struct asked asked = ask(settings, call->arena);
    bool named = some_names_accelerator(&asked, &pool->requirements) ||
                 some_names_accelerator(&asked, &pool->labels);
    if (!launchable->covered) {
        if (!named)
            result.purpose = rules_accelerators_out(pool) ? FOR_ANYTHING : PURPOSE_UNKNOWN;
        return result;
    }
    result.carried = type_set_and(&launchable->types, &settings->carriers, call->arena);
    result.carried_count = type_set_count(&result.carried);
    FOR_TYPES(i, &result.carried)
        result.devices |= catalog_type(settings->catalog, i)->devices;
    bool only_carriers = launchable->count > 0 && result.carried_count == launchable->count;
    if (only_carriers || (named && (result.carried_count > 0 || launchable->count == 0)))
        return result;
    result.purpose = result.carried_count > 0 ? FOR_BOTH : FOR_ANYTHING;
    return result;
}
