/* The allowed instance types of a policy, by type, family, category, size and generation. */
#include "policy/rails/instance_list.h"

#include <string.h>

#include "catalog/catalog.h"
#include "kube/expression.h"
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
    struct text canonical = canonical_key(key);
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
    return texts_have(list->items, list->count, value) ? YES : NO;
}

/* From a name in which Karpenter finds no category and no generation, such as mac-m4.metal, it
 * makes neither label. */
static bool has_no_category(const struct instance_type *type)
{
    return type->name.size > 0 && type->family.size > 0 && type->category.size == 0;
}

static enum answer is_in_categories(const struct key_strings *list,
                                    const struct instance_type *type)
{
    return has_no_category(type) ? NO : contains(list, type->category);
}

/* Every type has one of the two. */
static enum answer is_of_architectures(const struct key_strings *list,
                                       const struct instance_type *type)
{
    bool all = texts_have(list->items, list->count, TEXT("amd64")) &&
               texts_have(list->items, list->count, TEXT("arm64"));
    return all ? YES : contains(list, type->architecture);
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
    if (has_no_category(type))
        return NO;
    if (type->generation == 0)
        return UNSURE;
    return type->generation >= minimum ? YES : NO;
}

static enum answer weakest(const enum answer *answers, size_t count)
{
    enum answer least = YES;
    for (size_t i = 0; i < count; i++)
        if (answers[i] < least)
            least = answers[i];
    return least;
}

/* The weakest answer of all keys given; YES when there are none. */
static enum answer filter_answer(const struct type_filter *filter, const struct instance_type *type)
{
    enum answer answers[] = {
        filter->types.given ? matches_some_glob(&filter->types, type) : YES,
        filter->families.given ? contains(&filter->families, type->family) : YES,
        filter->sizes.given ? contains(&filter->sizes, type->size) : YES,
        filter->categories.given ? is_in_categories(&filter->categories, type) : YES,
        filter->architectures.given ? is_of_architectures(&filter->architectures, type) : YES,
        filter->min_generation > 0 ? reaches_generation(type, filter->min_generation) : YES,
    };
    return weakest(answers, COUNT_OF(answers));
}

/* Of deny, which has no minGeneration. */
static bool filter_is_given(const struct type_filter *filter)
{
    return filter->types.given || filter->families.given || filter->sizes.given ||
           filter->categories.given || filter->architectures.given;
}

int64_t instance_cpu_of_size(struct text size)
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

int64_t instance_memory_mib_at_most(struct text category, int64_t cpu)
{
    enum { MIB_PER_CPU_MOST = 8 << 10 };
    return TEXT_IS_ONE_OF(category, "c", "m", "r", "t") ? cpu * MIB_PER_CPU_MOST : 0;
}

/* 0: cannot tell. */
static int64_t cpu_at_most(struct text size)
{
    enum { CPU_BELOW_LARGE = 2 };
    return TEXT_IS_ONE_OF(size, "nano", "micro", "small", "medium") ? CPU_BELOW_LARGE
                                                                    : instance_cpu_of_size(size);
}

/* The least and the most that a type may have of something; most 0: nobody can tell. */
struct span {
    int64_t least, most;
};

static enum answer is_within(struct span span, int64_t maximum)
{
    if (span.least > maximum)
        return NO;
    return span.most > 0 && span.most <= maximum ? YES : UNSURE;
}

/* Whether it is no larger than the largest type, as far as its hardware or else its name tells. */
static enum answer within_maximum(const struct instance_list *list,
                                  const struct instance_type *type)
{
    const int64_t mib_milli = (int64_t)1024 * 1024 * 1000;
    int64_t memory_mib = (int64_t)type->memory_mib;
    struct span cpu = {type->cpu, type->cpu}, memory = {memory_mib, memory_mib};
    /* A fractional GPU is more than none. */
    int64_t gpus = type->gpu_count > 0 ? (int64_t)type->gpu_count : (type->has_gpu ? 1 : 0);
    bool is_known = type->cpu > 0;
    if (!is_known) {
        cpu = (struct span){instance_cpu_of_size(type->size), cpu_at_most(type->size)};
        memory.most = instance_memory_mib_at_most(type->category, cpu.most);
    }
    enum answer answers[] = {
        list->max_cpu_given ? is_within(cpu, list->max_cpu_milli / 1000) : YES,
        list->max_memory_given ? is_within(memory, list->max_memory_milli / mib_milli) : YES,
        !list->max_gpus_given   ? YES
        : gpus > list->max_gpus ? NO
        : is_known || gpus == 0 ? YES
                                : UNSURE,
    };
    return weakest(answers, COUNT_OF(answers));
}

static enum answer is_denied(const struct instance_list *list, const struct instance_type *type)
{
    return filter_is_given(&list->deny) ? filter_answer(&list->deny, type) : NO;
}

/* Whether a type with these properties, as far as they are known, is in the list. */
static enum answer accepts(const struct instance_list *list, const struct instance_type *type)
{
    enum answer denied = is_denied(list, type);
    enum answer answers[] = {
        filter_answer(&list->allow, type),
        denied == YES  ? NO
        : denied == NO ? YES
                       : UNSURE,
        within_maximum(list, type),
    };
    return weakest(answers, COUNT_OF(answers));
}

/* ---- values ---- */

/* 0: it is no generation. */
static uint32_t generation_of(struct text value)
{
    int64_t number = 0;
    return text_to_int64(value, &number) && number == (uint32_t)number ? (uint32_t)number : 0;
}

/* A generation in the one way to write it, so that "05" is 5. */
static struct text canonical_value(enum dimension dimension, struct text value, struct arena *arena)
{
    uint32_t generation = dimension == DIMENSION_GENERATION ? generation_of(value) : 0;
    return generation > 0 ? arena_printf(arena, "%u", generation) : value;
}

/* What is known of a value: the best that is said of a type with it. */
enum { KNOWN = 1, MAY_BE_OF_THE_LIST, OF_THE_LIST };

static void add_values(struct instance_list *list, size_t index, struct arena *arena)
{
    const struct instance_type *type = catalog_type(list->catalog, index);
    bool is_of_list = type_set_has(&list->allowed, index);
    size_t its_state = is_of_list                             ? OF_THE_LIST
                       : type_set_has(&list->possible, index) ? MAY_BE_OF_THE_LIST
                                                              : KNOWN;
    for (int i = 0; i < DIMENSION_COUNT; i++) {
        struct text value = dimension_value((enum dimension)i, type, arena);
        if (value.size == 0)
            continue;
        size_t *state = text_map_at(&list->known[i], arena, value);
        if (is_of_list && *state != OF_THE_LIST)
            *LIST_PUSH(arena, &list->values[i]) = value;
        if (*state < its_state)
            *state = its_state;
    }
}

/* Types of one family have one architecture. */
static void set_architecture(const struct instance_list *list, struct instance_type *type)
{
    size_t first = text_map_get(&list->families, type->family, SIZE_MAX);
    if (first != SIZE_MAX && type->architecture.size == 0)
        type->architecture = catalog_type(list->catalog, first)->architecture;
}

static void add_type(struct instance_list *list, size_t index, struct arena *arena)
{
    struct instance_type type = *catalog_type(list->catalog, index);
    if (!text_map_has(&list->families, type.family))
        *text_map_at(&list->families, arena, type.family) = index;
    set_architecture(list, &type);
    if (is_denied(list, &type) != NO)
        list->denies_none = false;
    enum answer answer = accepts(list, &type);
    /* A user's types have what their file says. */
    if (answer == YES || (answer == UNSURE && !catalog_is_builtin(list->catalog)))
        type_set_add(&list->allowed, index);
    if (answer != NO)
        type_set_add(&list->possible, index);
    if (within_maximum(list, &type) != NO)
        type_set_add(&list->within_maximum, index);
    add_values(list, index, arena);
}

void instance_list_prepare(struct instance_list *list, const struct catalog *catalog,
                           struct arena *arena)
{
    list->catalog = catalog;
    list->allowed = type_set_create(catalog, arena);
    list->possible = type_set_create(catalog, arena);
    list->denies_none = filter_is_given(&list->deny);
    list->within_maximum = type_set_create(catalog, arena);
    for (size_t i = 0; i < catalog_count(catalog); i++)
        add_type(list, i, arena);
    FOR_TYPES(i, &list->allowed)
        list->devices |= catalog_type(catalog, i)->devices;
}

/* What a name says of a type that the catalogue does not know. */
static void read_name(const struct instance_list *list, struct text name,
                      struct instance_type *type)
{
    if (instance_name_parse(name, &type->family, &type->size, &type->category, &type->generation))
        set_architecture(list, type);
}

/* SageMaker HyperPod writes "ml." before the name of a type. */
static struct text without_prefix(enum dimension dimension, struct text value)
{
    static const struct text prefix = TEXT("ml.");
    if (dimension != DIMENSION_TYPE || !text_starts_with(value, prefix))
        return value;
    return (struct text){value.data + prefix.size, value.size - prefix.size};
}

/* A type of which nothing is known but this value, which the catalogue does not have. */
static struct instance_type type_of_value(const struct instance_list *list,
                                          enum dimension dimension, struct text value)
{
    struct instance_type type = {0};
    switch (dimension) {
    case DIMENSION_TYPE:
        read_name(list, value, &type);
        type.name = value;
        break;
    case DIMENSION_FAMILY:
        type.family = value;
        (void)instance_family_parse(value, &type.category, &type.generation);
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

enum value_state instance_list_value(const struct instance_list *list, enum dimension dimension,
                                     struct text written, struct arena *arena)
{
    struct text value = without_prefix(dimension, written);
    struct text canonical = canonical_value(dimension, value, arena);
    switch (text_map_get(&list->known[dimension], canonical, 0)) {
    case OF_THE_LIST:
        return VALUE_POSSIBLE;
    case MAY_BE_OF_THE_LIST:
        return VALUE_UNSURE;
    case KNOWN:
        return VALUE_OUTSIDE;
    default:
        break;
    }
    struct instance_type type = type_of_value(list, dimension, value);
    return accepts(list, &type) != NO ? VALUE_UNKNOWN : VALUE_OUTSIDE;
}

static size_t first_type_of(const struct instance_list *list, enum dimension dimension,
                            struct text value)
{
    const struct catalog *catalog = list->catalog;
    size_t count = catalog_count(catalog);
    if (dimension == DIMENSION_TYPE)
        return catalog_find(catalog, value);
    if (dimension == DIMENSION_FAMILY)
        return text_map_get(&list->families, value, count);
    size_t i = 0;
    while (dimension == DIMENSION_CATEGORY && i < count &&
           !text_equal(catalog_type(catalog, i)->category, value))
        i++;
    return dimension == DIMENSION_CATEGORY ? i : count;
}

struct instance_type instance_list_type(const struct instance_list *list, enum dimension dimension,
                                        struct text written)
{
    struct text value = without_prefix(dimension, written);
    struct instance_type type = type_of_value(list, dimension, value);
    type.cpu = (uint32_t)instance_cpu_of_size(type.size);
    size_t first = first_type_of(list, dimension, value);
    if (first == catalog_count(list->catalog))
        return type;
    struct instance_type known = *catalog_type(list->catalog, first);
    if (dimension == DIMENSION_TYPE)
        return known;
    known.cpu = known.gpu_count = known.neuron_count = 0; /* of its size alone */
    known.memory_mib = 0;
    if (dimension == DIMENSION_CATEGORY)
        known.generation = 0; /* it has many */
    return known;
}

bool instance_list_knows(const struct instance_list *list, enum dimension dimension,
                         struct text value)
{
    return text_map_has(&list->known[dimension], value);
}
