/* What requirements leave to chance: the architecture, a single type, and values kept out that no
 * type has. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/placeholder.h"
#include "kube/pool.h"
#include "kube/snapshot.h"
#include "policy/rails/instance_list.h"
#include "policy/rails/pool_shape.h"
#include "solver/well_known.h"

#define CATEGORY "karpenter.k8s.aws/instance-category"

/* What instance-types of the same policy allows: of the rest that rail speaks. */
static bool is_allowed(const struct rail_call *call, size_t type)
{
    const struct instance_list *list = rail_settings(call, &rail_instance_types);
    return list == NULL || type_set_has(&list->allowed, type);
}

/* ---- the architecture ---- */

/* Under a key that is nearly right, too, of which pool_shape_judge_keys speaks. */
static bool names_architecture(const struct catalog *catalog, const struct expressions *expressions)
{
    FOR_EACH(expression, expressions)
        if (text_is(expression_canonical_key(expression), LABEL_ARCH) ||
            text_is(label_key_meant(catalog, expression->key), LABEL_ARCH))
            return true;
    return false;
}

/* Whether a visible class has images of its own, which Karpenter asks for their architecture. Two
 * that are named by id may be one of each. */
static bool images_may_decide(const struct rail_call *call, const struct pool *pool)
{
    const struct object *class = pool_node_class(call->world->snapshot, pool);
    if (class == NULL)
        return false;
    const struct node *terms = node_at(class->root->node, "spec.amiSelectorTerms");
    size_t aliases = 0, ids = 0;
    FOR_ITEMS(term, terms) {
        aliases += node_is_given(node_get(term, "alias"));
        ids += node_is_given(node_get(term, "id"));
    }
    return node_count(terms) > 0 && aliases == 0 && ids < 2;
}

struct text pool_shape_architecture_to_add(const struct rail_call *call, const struct pool *pool,
                                           const struct type_set *launchable)
{
    const struct catalog *catalog = call->world->catalog;
    size_t amd64 = 0, arm64 = 0;
    if (names_architecture(catalog, &pool->requirements) ||
        names_architecture(catalog, &pool->labels) || images_may_decide(call, pool))
        return TEXT("");
    FOR_TYPES(i, launchable) {
        if (!is_allowed(call, i))
            continue;
        amd64 += text_is(catalog_type(catalog, i)->architecture, "amd64");
        arm64 += text_is(catalog_type(catalog, i)->architecture, "arm64");
    }
    return amd64 > 0 && arm64 > 0 ? TEXT("{key: " LABEL_ARCH ", operator: In, values: [amd64]}")
                                  : TEXT("");
}

static void judge_architecture(struct rail_call *call, const struct pool *pool,
                               const struct type_set *launchable)
{
    struct arena *arena = call->arena;
    struct text requirement = pool_shape_architecture_to_add(call, pool, launchable);
    if (requirement.size == 0)
        return;
    report_as(call, SEVERITY_WARN, .field = pool->requirements_field,
              .statement = TEXT("No requirement names " LABEL_ARCH
                                ", so the pool launches amd64 and arm64 nodes. An image that is "
                                "built for one fails on the other."),
              .fix = arena_printf(
                  arena, "Add to %.*s: [%.*s], or both values where all images are built for both.",
                  TEXT_ARGS(field_path(arena, pool->requirements_field)), TEXT_ARGS(requirement)));
}

/* ---- a single type ---- */

/* Whether the pool names it: then it is wanted. Of spot nodes capacity_spot.c tells that their
 * types are few. */
static bool is_told_of(const struct pool *pool)
{
    const struct expressions *const lists[] = {&pool->requirements, &pool->labels};
    for (size_t i = 0; i < COUNT_OF(lists); i++)
        FOR_EACH(expression, lists[i]) {
            struct text key = expression_canonical_key(expression);
            if (expression->op == SOLVER_IN &&
                (text_is(key, LABEL_INSTANCE_TYPE) ||
                 (text_is(key, LABEL_CAPACITY_TYPE) && expression_names(expression, TEXT("spot")))))
                return true;
        }
    return false;
}

/* Whether a pod of the one would not notice that it runs on the other. */
static bool is_like(const struct instance_type *one, const struct instance_type *other)
{
    return text_equal(one->category, other->category) && text_equal(one->size, other->size) &&
           text_equal(one->architecture, other->architecture) && one->cpu == other->cpu &&
           one->memory_mib == other->memory_mib && !instance_type_is_accelerated(other) &&
           other->generation >= one->generation;
}

static struct text_list types_like(const struct rail_call *call, size_t only)
{
    enum { PROPOSED = 3 };
    const struct catalog *catalog = call->world->catalog;
    const struct instance_type *type = catalog_type(catalog, only);
    struct text_list like = {0};
    for (size_t i = 0; i < catalog_count(catalog) && like.count < PROPOSED; i++)
        if (i != only && is_like(type, catalog_type(catalog, i)) && is_allowed(call, i))
            *LIST_PUSH(call->arena, &like) = catalog_type(catalog, i)->name;
    return like;
}

static void judge_single_type(struct rail_call *call, const struct pool *pool,
                              const struct type_set *launchable)
{
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    if (type_set_count(launchable) != 1 || is_told_of(pool))
        return;
    size_t only = type_set_next(launchable, 0);
    const struct instance_type *type = catalog_type(catalog, only);
    struct text_list like = types_like(call, only);
    if (like.count == 0 || instance_type_is_accelerated(type))
        return;
    struct text name = type->name;
    report_as(call, SEVERITY_AUDIT, .field = pool->requirements_field, .found = name,
              .statement = arena_printf(arena,
                                        "The requirements leave only one instance type, %.*s. When "
                                        "a zone has no more of it, pods of the pool stay Pending.",
                                        TEXT_ARGS(name)),
              .fix = arena_printf(arena, "Allow others like it, such as %.*s.",
                                  TEXT_ARGS(texts_or(like.items, like.count, arena))));
}

void pool_shape_judge_choice(struct rail_call *call, const struct pool *pool,
                             const struct type_set *launchable)
{
    judge_architecture(call, pool, launchable);
    judge_single_type(call, pool, launchable);
}

/* ---- values kept out that no type has ---- */

/* Categories are letters; people write words. */
static const struct {
    const char *word;
    struct text letters[2];
    size_t count;
} category_words[] = {
    {"gpu", {TEXT("g"), TEXT("p")}, 2},
    {"accelerated", {TEXT("g"), TEXT("p")}, 2},
    {"fpga", {TEXT("f")}, 1},
};

static void add_letters(struct text word, struct text_list *letters, struct arena *arena)
{
    for (size_t i = 0; i < COUNT_OF(category_words); i++)
        for (size_t j = 0; text_is(word, category_words[i].word) && j < category_words[i].count;
             j++)
            if (!texts_have(letters->items, letters->count, category_words[i].letters[j]))
                *LIST_PUSH(arena, letters) = category_words[i].letters[j];
}

static void judge_excluded(struct rail_call *call, const struct expression *expression)
{
    enum { NAMED = 5 };
    const struct catalog *catalog = call->world->catalog;
    struct arena *arena = call->arena;
    struct text key = expression_canonical_key(expression);
    bool of_category = text_is(key, CATEGORY);
    const struct expression_value *first = NULL;
    struct text home = TEXT("");
    struct text_list names = {0}, letters = {0};
    for (size_t i = 0; i < expression->value_count; i++) {
        const struct expression_value *value = &expression->values[i];
        struct text its_home = pool_shape_key_of_value(catalog, value->text);
        if (catalog_has_value(catalog, key, value->text) || text_has_placeholder(value->text) ||
            (!of_category && its_home.size == 0))
            continue;
        if (names.count == 0)
            first = value;
        home = names.count == 0 || text_equal(home, its_home) ? its_home : TEXT("");
        *LIST_PUSH(arena, &names) = value->text;
        add_letters(value->text, &letters, arena);
    }
    if (names.count == 0)
        return;
    struct text listed = texts_join(names.items, names.count, NAMED, arena);
    struct text fix = of_category
                          ? TEXT("Write the letters that families begin with, such as g and p.")
                          : TEXT("Keep each out under the key that has it.");
    if (home.size > 0)
        fix = arena_printf(arena, "Use the key %.*s.", TEXT_ARGS(home));
    else if (letters.count > 0)
        fix = arena_printf(arena, "Write [%.*s].",
                           TEXT_ARGS(texts_join(letters.items, letters.count, SIZE_MAX, arena)));
    report_as(call, SEVERITY_WARN,
              .field = names.count == 1 ? expression_value_field(first, arena) : first->within,
              .found = listed, .values = names,
              .statement = arena_printf(arena,
                                        "NotIn %.*s keeps nothing out, because no instance type "
                                        "has %s as %.*s.",
                                        TEXT_ARGS(listed), names.count == 1 ? "it" : "them",
                                        TEXT_ARGS(expression->key)),
              .fix = fix);
}

void pool_shape_judge_excluded(struct rail_call *call, const struct pool *pool)
{
    FOR_EACH(requirement, &pool->requirements)
        if (requirement->valid && requirement->op == SOLVER_NOT_IN &&
            catalog_has_key(call->world->catalog, expression_canonical_key(requirement)))
            judge_excluded(call, requirement);
}
