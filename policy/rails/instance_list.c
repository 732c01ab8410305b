#include "policy/rails/instance_list.h"
#include "solver/well_known.h"

const char *const dimension_keys[DIMENSION_COUNT] = {
    [DIMENSION_TYPE] = LABEL_INSTANCE_TYPE,
    [DIMENSION_FAMILY] = "karpenter.k8s.aws/instance-family",
    [DIMENSION_SIZE] = "karpenter.k8s.aws/instance-size",
    [DIMENSION_CATEGORY] = "karpenter.k8s.aws/instance-category",
    [DIMENSION_GENERATION] = "karpenter.k8s.aws/instance-generation",
    [DIMENSION_ARCHITECTURE] = LABEL_ARCH,
};

enum dimension dimension_of(struct text key)
{
    struct text canonical = key;
    canonical.data = solver_canonical_key(key.data, &canonical.size);
    int dimension = 0;
    while (dimension < DIMENSION_COUNT && !text_is(canonical, dimension_keys[dimension]))
        dimension++;
    return (enum dimension)dimension;
}

struct text dimension_value(enum dimension dimension, const struct instance_type *type,
                            struct arena *arena)
{
    switch (dimension) {
    case DIMENSION_TYPE:
        return type->name;
    case DIMENSION_FAMILY:
        return type->family;
    case DIMENSION_SIZE:
        return type->size;
    case DIMENSION_CATEGORY:
        return type->category;
    case DIMENSION_GENERATION:
        return type->generation == 0 ? TEXT("") : arena_printf(arena, "%u", type->generation);
    case DIMENSION_ARCHITECTURE:
        return type->architecture;
    case DIMENSION_COUNT:
        break;
    }
    return TEXT("");
}

/* ---- one type against the list ---- */

/* What one key of a filter says of a type. UNSURE: the type does not say, as when only its family
 * is known. */
enum answer { NO, UNSURE, YES };

static enum answer contains(const struct key_strings *list, struct text value)
{
    if (value.size == 0)
        return UNSURE;
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(list->items[i], value))
            return YES;
    return NO;
}

static enum answer matches_some_glob(const struct key_strings *globs,
                                     const struct instance_type *type)
{
    if (type->name.size == 0 && type->family.size == 0)
        return UNSURE;
    for (size_t i = 0; i < globs->count; i++) {
        if (type->name.size > 0) {
            if (text_matches_glob(type->name, globs->items[i]))
                return YES;
            continue;
        }
        struct text family_glob = globs->items[i];
        text_split(globs->items[i], '.', &family_glob, NULL);
        if (text_matches_glob(type->family, family_glob))
            return UNSURE;
    }
    return NO;
}

static enum answer reaches_generation(const struct instance_type *type, int64_t minimum)
{
    if (type->generation == 0)
        return UNSURE;
    return type->generation >= minimum ? YES : NO;
}

/* The weakest answer of all keys given; YES when there are none. */
static enum answer filter_answer(const struct type_filter *filter, const struct instance_type *type)
{
    enum answer answers[] = {
        filter->types.given ? matches_some_glob(&filter->types, type) : YES,
        filter->families.given ? contains(&filter->families, type->family) : YES,
        filter->sizes.given ? contains(&filter->sizes, type->size) : YES,
        filter->categories.given ? contains(&filter->categories, type->category) : YES,
        filter->architectures.given ? contains(&filter->architectures, type->architecture) : YES,
        filter->min_generation > 0 ? reaches_generation(type, filter->min_generation) : YES,
    };
    enum answer weakest = YES;
    for (size_t i = 0; i < COUNT_OF(answers); i++)
        if (answers[i] < weakest)
            weakest = answers[i];
    return weakest;
}

/* Of deny, which has no minGeneration. */
static bool filter_is_given(const struct type_filter *filter)
{
    return filter->types.given || filter->families.given || filter->sizes.given ||
           filter->categories.given || filter->architectures.given;
}

/* The vCPUs a size stands for, where the catalogue does not say: "4xlarge" has 16. 0: cannot tell.
 */
static int64_t cpu_of_size(struct text size)
{
    if (text_is(size, "large"))
        return 2;
    if (text_is(size, "xlarge"))
        return 4;
    struct text times = size;
    int64_t number = 0;
    if (!text_ends_with(size, TEXT("xlarge")))
        return 0;
    times.size -= sizeof "xlarge" - 1;
    return text_to_int64(times, &number) && !__builtin_mul_overflow(number, 4, &number) ? number
                                                                                        : 0;
}

static bool within_maximum(const struct instance_list *list, const struct instance_type *type)
{
    int64_t cpu = type->cpu > 0 ? (int64_t)type->cpu : cpu_of_size(type->size);
    if (list->max_cpu_given && cpu > list->max_cpu_milli / 1000)
        return false;
    int64_t memory_milli = (int64_t)type->memory_mib * 1024 * 1024 * 1000;
    if (list->max_memory_given && memory_milli > list->max_memory_milli)
        return false;
    /* A fractional GPU is more than none. */
    int64_t gpus = type->gpu_count > 0 ? (int64_t)type->gpu_count : (type->has_gpu ? 1 : 0);
    return !list->max_gpus_given || gpus <= list->max_gpus;
}

/* Whether a type with these properties, as far as they are known, may be in the list. */
static bool accepts(const struct instance_list *list, const struct instance_type *type)
{
    if (filter_answer(&list->allow, type) == NO)
        return false;
    if (filter_is_given(&list->deny) && filter_answer(&list->deny, type) == YES)
        return false;
    return within_maximum(list, type);
}

void instance_list_prepare(struct instance_list *list, const struct catalog *catalog,
                           struct arena *arena)
{
    list->catalog = catalog;
    list->allowed = type_set_create(catalog, arena);
    for (size_t i = 0; i < catalog_count(catalog); i++)
        if (accepts(list, catalog_type(catalog, i)))
            type_set_add(&list->allowed, i);
}

/* ---- values ---- */

/* 0: it is no generation. */
static uint32_t generation_of(struct text value)
{
    int64_t number = 0;
    return text_to_int64(value, &number) && number == (uint32_t)number ? (uint32_t)number : 0;
}

static bool has_value(enum dimension dimension, const struct instance_type *type, struct text value)
{
    if (dimension == DIMENSION_GENERATION)
        return type->generation > 0 && generation_of(value) == type->generation;
    return text_equal(dimension_value(dimension, type, NULL), value);
}

/* What a name says of a type that the catalogue does not know. */
static void read_name(const struct catalog *catalog, struct text name, struct instance_type *type)
{
    if (!instance_name_parse(name, &type->family, &type->size, &type->category, &type->generation))
        return;
    /* Types of one family have one architecture. */
    for (size_t i = 0; i < catalog_count(catalog); i++)
        if (text_equal(catalog_type(catalog, i)->family, type->family)) {
            type->architecture = catalog_type(catalog, i)->architecture;
            return;
        }
}

static struct instance_type type_of_value(const struct catalog *catalog, enum dimension dimension,
                                          struct text value, struct arena *arena)
{
    struct instance_type type = {0};
    switch (dimension) {
    case DIMENSION_TYPE:
        read_name(catalog, value, &type);
        type.name = value;
        break;
    case DIMENSION_FAMILY:
        /* Any size makes a name of it. */
        read_name(catalog, arena_printf(arena, "%.*s.large", TEXT_ARGS(value)), &type);
        type.family = value;
        type.size = TEXT("");
        break;
    case DIMENSION_SIZE:
        type.size = value;
        break;
    case DIMENSION_CATEGORY:
        type.category = value;
        break;
    case DIMENSION_GENERATION:
        type.generation = generation_of(value);
        break;
    case DIMENSION_ARCHITECTURE:
        type.architecture = value;
        break;
    case DIMENSION_COUNT:
        break;
    }
    return type;
}

enum value_judgement instance_list_judge_value(const struct instance_list *list,
                                               enum dimension dimension, struct text value,
                                               struct arena *arena)
{
    const struct catalog *catalog = list->catalog;
    bool known = false;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        if (!has_value(dimension, catalog_type(catalog, i), value))
            continue;
        if (type_set_has(&list->allowed, i))
            return VALUE_POSSIBLE;
        known = true;
    }
    if (known)
        return VALUE_OUTSIDE;
    struct instance_type type = type_of_value(catalog, dimension, value, arena);
    return accepts(list, &type) ? VALUE_UNKNOWN : VALUE_OUTSIDE;
}

struct text_list instance_list_values(const struct instance_list *list, enum dimension dimension,
                                      bool all, struct arena *arena)
{
    struct text_list values = {0};
    for (size_t i = 0; i < catalog_count(list->catalog); i++) {
        if (!all && !type_set_has(&list->allowed, i))
            continue;
        struct text value = dimension_value(dimension, catalog_type(list->catalog, i), arena);
        bool seen = value.size == 0;
        for (size_t j = values.count; j-- > 0 && !seen && dimension != DIMENSION_TYPE;)
            seen = text_equal(values.items[j], value);
        if (!seen)
            *LIST_PUSH(arena, &values) = value;
    }
    return values;
}

bool text_list_has(const struct text_list *list, struct text value)
{
    for (size_t i = 0; i < list->count; i++)
        if (text_equal(list->items[i], value))
            return true;
    return false;
}

const struct text *instance_list_nearest(const struct instance_list *list, enum dimension dimension,
                                         struct text wanted, size_t *count, struct arena *arena)
{
    struct text_list values = instance_list_values(list, dimension, false, arena);
    nearest_first(values.items, values.count, wanted);
    *count = values.count;
    return values.items;
}
