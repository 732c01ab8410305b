/* Selects the instance types that match requirements. */
#include "catalog/catalog.h"
#include "kube/expression.h"
#include "kube/pool.h"

/* Of values that no type has, the first few are enough. */
static void keep_telling_values(struct expression *expression, const struct catalog *catalog,
                                struct arena *arena)
{
    enum { FEW = 100, UNKNOWN_MAX = 64 };
    const struct solver_names *names = catalog_names(catalog);
    struct text key = expression_canonical_key(expression);
    uint32_t number = solver_names_find_key(names, key.data, key.size);
    if (expression->value_count <= FEW || !expression_takes_values(expression->op) ||
        number == SOLVER_NONE)
        return;
    LIST(struct expression_value) kept = {0};
    size_t unknown = 0;
    for (size_t i = 0; i < expression->value_count; i++) {
        struct text value = expression->values[i].text;
        if (solver_names_find_value(names, number, value.data, value.size) != SOLVER_NONE ||
            ++unknown <= UNKNOWN_MAX)
            *LIST_PUSH(arena, &kept) = expression->values[i];
    }
    expression->values = kept.items;
    expression->value_count = kept.count;
}

/* The expressions that separate types: no labels of the user's own, no endless values. */
static struct expressions telling(const struct catalog *catalog,
                                  const struct expressions *expressions, struct arena *arena)
{
    struct expressions kept = {0};
    for (size_t i = 0; i < expressions->count; i++) {
        if (!catalog_tells_by(catalog, expression_canonical_key(&expressions->items[i])))
            continue;
        struct expression *last = LIST_PUSH(arena, &kept);
        *last = expressions->items[i];
        keep_telling_values(last, catalog, arena);
    }
    return kept;
}

static void add_telling(const struct expressions *expressions, const struct catalog *catalog,
                        struct solver_names *names, struct solver_requirements *set,
                        struct arena *arena)
{
    struct expressions kept = telling(catalog, expressions, arena);
    expressions_add(&kept, names, set, arena);
}

typedef struct type_set selector(const struct catalog *catalog, const struct solver_names *names,
                                 const struct solver_requirements *set, struct arena *arena);

static struct type_set select_by(selector *select, const struct catalog *catalog,
                                 const struct expressions *first, const struct expressions *second,
                                 struct arena *arena)
{
    struct solver_names *names = solver_names_create(arena, catalog_names(catalog));
    struct solver_requirements set = {0};
    add_telling(first, catalog, names, &set, arena);
    if (second != NULL)
        add_telling(second, catalog, names, &set, arena);
    return select(catalog, names, &set, arena);
}

struct type_set expressions_select(const struct catalog *catalog, const struct expressions *first,
                                   const struct expressions *second, struct arena *arena)
{
    return select_by(catalog_select_launchable, catalog, first, second, arena);
}

struct type_set expressions_select_sure(const struct catalog *catalog,
                                        const struct expressions *first,
                                        const struct expressions *second, struct arena *arena)
{
    return select_by(catalog_select_sure, catalog, first, second, arena);
}

struct type_set expressions_select_possible(const struct catalog *catalog,
                                            const struct expressions *first,
                                            const struct expressions *second, struct arena *arena)
{
    return select_by(catalog_select_possible, catalog, first, second, arena);
}

/* Where no group is written the kind tells whose it is. */
static bool is_kind_of_aws(struct text kind)
{
    return kind.size == 0 || text_is(kind, "EC2NodeClass") || text_is(kind, "AWSNodeTemplate") ||
           text_is(kind, "NodeClass");
}

bool pool_is_covered_by(const struct catalog *catalog, const struct pool *pool)
{
    struct text group = pool->node_class_group;
    if (!catalog_is_builtin(catalog))
        return true;
    if (group.size == 0)
        return is_kind_of_aws(pool->node_class_kind);
    return text_ends_with(group, TEXT("karpenter.k8s.aws")) || pool_is_of_auto_mode(pool);
}
