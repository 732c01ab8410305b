/* Instance types and their labels, indexed so that a requirement selects them fast. */
#include "catalog/catalog.h"

#include <stdio.h>
#include <string.h>

#include "catalog/build.h"
#include "solver/well_known.h"

enum { WORD_BITS = 64 };

#define AWS "karpenter.k8s.aws/instance-"
#define KWOK "karpenter.kwok.sh/instance-"

static const char *const label_keys[CATALOG_LABEL_COUNT] = {
    [CATALOG_TYPE] = LABEL_INSTANCE_TYPE,
    [CATALOG_ARCH] = LABEL_ARCH,
    [CATALOG_OS] = LABEL_OS,
    [CATALOG_ZONE] = LABEL_ZONE,
    [CATALOG_CAPACITY_TYPE] = LABEL_CAPACITY_TYPE,
    [CATALOG_CATEGORY] = AWS "category",
    [CATALOG_FAMILY] = AWS "family",
    [CATALOG_GENERATION] = AWS "generation",
    [CATALOG_SIZE] = AWS "size",
    [CATALOG_FLEX] = AWS "capability-flex",
    [CATALOG_CPU] = AWS "cpu",
    [CATALOG_CPU_MANUFACTURER] = AWS "cpu-manufacturer",
    [CATALOG_MEMORY] = AWS "memory",
    [CATALOG_HYPERVISOR] = AWS "hypervisor",
    [CATALOG_ENCRYPTION] = AWS "encryption-in-transit-supported",
    [CATALOG_TENANCY] = AWS "tenancy",
    [CATALOG_NETWORK_BANDWIDTH] = AWS "network-bandwidth",
    [CATALOG_EBS_BANDWIDTH] = AWS "ebs-bandwidth",
    [CATALOG_LOCAL_NVME] = AWS "local-nvme",
    [CATALOG_GPU_NAME] = AWS "gpu-name",
    [CATALOG_GPU_MANUFACTURER] = AWS "gpu-manufacturer",
    [CATALOG_GPU_COUNT] = AWS "gpu-count",
    [CATALOG_GPU_MEMORY] = AWS "gpu-memory",
    [CATALOG_ACCELERATOR_NAME] = AWS "accelerator-name",
    [CATALOG_ACCELERATOR_MANUFACTURER] = AWS "accelerator-manufacturer",
    [CATALOG_ACCELERATOR_COUNT] = AWS "accelerator-count",
    [CATALOG_KWOK_SIZE] = KWOK "size",
    [CATALOG_KWOK_FAMILY] = KWOK "family",
    [CATALOG_KWOK_CPU] = KWOK "cpu",
    [CATALOG_KWOK_MEMORY] = KWOK "memory",
};

/* The labels that a node of every built-in type has besides the type's own. */
static const char *const sold_everywhere[] = {
    LABEL_ZONE,
    LABEL_REGION,
    LABEL_ZONE_ID,
    LABEL_CAPACITY_TYPE,
};

struct catalog *catalog_create(struct arena *arena, size_t type_count, bool is_builtin)
{
    struct catalog *catalog = ARENA_NEW(arena, struct catalog);
    catalog->arena = arena;
    catalog->types = ARENA_ARRAY(arena, type_count, struct instance_type);
    catalog->count = type_count;
    catalog->is_builtin = is_builtin;
    if (!is_builtin) {
        catalog->amounts = ARENA_ARRAY(arena, type_count, struct catalog_amounts);
        catalog->offers = ARENA_ARRAY(arena, type_count, struct catalog_offers);
    }
    catalog->names = solver_names_create(arena, NULL);
    for (size_t i = 0; i < CATALOG_LABEL_COUNT; i++)
        (void)solver_names_key(catalog->names, label_keys[i], strlen(label_keys[i]));
    return catalog;
}

static void set(struct catalog *catalog, struct instance_type *type, enum catalog_label label,
                enum solver_op op, const uint32_t *values, size_t count)
{
    struct solver_requirement requirement = solver_requirement_make(
        catalog->names, (uint32_t)label, op, values, count, 0, catalog->arena);
    solver_requirements_add(catalog->names, &type->requirements, requirement, catalog->arena);
}

void catalog_set(struct catalog *catalog, struct instance_type *type, enum catalog_label label,
                 struct text value)
{
    uint32_t number = solver_names_value(catalog->names, (uint32_t)label, value.data, value.size);
    set(catalog, type, label, SOLVER_IN, &number, 1);
}

void catalog_set_number(struct catalog *catalog, struct instance_type *type,
                        enum catalog_label label, uint64_t value)
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    catalog_set(catalog, type, label, (struct text){digits, (size_t)size});
}

void catalog_set_list(struct catalog *catalog, struct instance_type *type, enum catalog_label label,
                      const struct text *values, size_t count)
{
    uint32_t *numbers = ARENA_ARRAY(catalog->arena, count, uint32_t);
    for (size_t i = 0; i < count; i++)
        numbers[i] =
            solver_names_value(catalog->names, (uint32_t)label, values[i].data, values[i].size);
    set(catalog, type, label, SOLVER_IN, numbers, count);
}

void catalog_set_absent(struct catalog *catalog, struct instance_type *type,
                        enum catalog_label label)
{
    set(catalog, type, label, SOLVER_DOES_NOT_EXIST, NULL, 0);
}

void catalog_set_any(struct catalog *catalog, struct instance_type *type, enum catalog_label label)
{
    set(catalog, type, label, SOLVER_EXISTS, NULL, 0);
}

bool catalog_set_name_labels(struct catalog *catalog, struct instance_type *type)
{
    if (!catalog_name_split(type->name, &type->family, &type->size))
        return false;
    catalog_set(catalog, type, CATALOG_FAMILY, type->family);
    catalog_set(catalog, type, CATALOG_SIZE, type->size);
    bool is_flex = text_matches_glob(type->family, TEXT("*-flex*"));
    catalog_set(catalog, type, CATALOG_FLEX, text_of(is_flex ? "true" : "false"));
    if (instance_name_parse(type->name, &type->family, &type->size, &type->category,
                            &type->generation)) {
        catalog_set(catalog, type, CATALOG_CATEGORY, type->category);
        catalog_set_number(catalog, type, CATALOG_GENERATION, type->generation);
    } else {
        catalog_set_absent(catalog, type, CATALOG_CATEGORY);
        catalog_set_absent(catalog, type, CATALOG_GENERATION);
    }
    return true;
}

static bool same_requirements(const struct solver_requirements *a,
                              const struct solver_requirements *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!solver_requirement_equal(&a->items[i], &b->items[i]))
            return false;
    return true;
}

/* The number of the shape with these requirements. */
static size_t shape_of(struct catalog *catalog, const struct solver_requirements *requirements)
{
    for (size_t i = 0; i < catalog->shapes.count; i++)
        if (same_requirements(&catalog->shapes.items[i].requirements, requirements))
            return i;
    struct catalog_shape *shape = LIST_PUSH(catalog->arena, &catalog->shapes);
    shape->requirements = *requirements;
    shape->types = type_set_create(catalog, catalog->arena);
    return catalog->shapes.count - 1;
}

void catalog_add_offering(struct catalog *catalog, size_t type,
                          const struct solver_requirements *requirements,
                          int64_t usd_micro_per_hour, uint32_t reservation_capacity)
{
    size_t shape = shape_of(catalog, requirements);
    type_set_add(&catalog->shapes.items[shape].types, type);
    *LIST_PUSH(catalog->arena, &catalog->offers[type]) =
        (struct catalog_offer){.shape = shape,
                               .usd_micro_per_hour = usd_micro_per_hour,
                               .reservation_capacity = reservation_capacity};
}

static void add_all(struct type_set *set, const struct type_set *more)
{
    for (size_t i = 0; i < set->word_count; i++)
        set->words[i] |= more->words[i];
}

static void remove_all(struct type_set *set, const struct type_set *less)
{
    for (size_t i = 0; i < set->word_count; i++)
        set->words[i] &= ~less->words[i];
}

static void keep_all(struct type_set *set, const struct type_set *kept)
{
    for (size_t i = 0; i < set->word_count; i++)
        set->words[i] &= kept->words[i];
}

/* The next value of a concrete requirement from *value on, within the catalogue's own values. */
static bool next_value(const struct solver_requirement *r, uint32_t limit, uint32_t *value)
{
    while (*value < limit && *value / WORD_BITS < r->word_count) {
        uint64_t rest = r->words[*value / WORD_BITS] >> (*value % WORD_BITS);
        if (rest != 0) {
            *value += (uint32_t)__builtin_ctzll(rest);
            return *value < limit;
        }
        *value = (*value / WORD_BITS + 1) * WORD_BITS;
    }
    return false;
}

static void index_requirement(struct catalog *catalog, size_t type,
                              const struct solver_requirement *requirement)
{
    struct catalog_key *key = &catalog->keys[requirement->key];
    enum solver_op op = solver_requirement_op(requirement);
    key->defined = true;
    if (op == SOLVER_DOES_NOT_EXIST) {
        type_set_add(&key->none, type);
        return;
    }
    type_set_add(&key->some, type);
    if (op == SOLVER_EXISTS) {
        type_set_add(&key->any, type);
        return;
    }
    unsigned count = 0;
    for (uint32_t value = 0; next_value(requirement, key->value_count, &value); value++, count++)
        type_set_add(&key->values[value], type);
    key->single = key->single && count == 1;
}

static struct catalog_key create_key(const struct catalog *catalog, uint32_t number)
{
    struct catalog_key key = {
        .single = true,
        .some = type_set_create(catalog, catalog->arena),
        .any = type_set_create(catalog, catalog->arena),
        .none = type_set_create(catalog, catalog->arena),
        .unsaid = type_set_create(catalog, catalog->arena),
        .value_count = solver_names_value_count(catalog->names, number),
    };
    key.values = ARENA_ARRAY(catalog->arena, key.value_count, struct type_set);
    for (uint32_t value = 0; value < key.value_count; value++)
        key.values[value] = type_set_create(catalog, catalog->arena);
    return key;
}

static void add_everything(const struct catalog *catalog, struct type_set *set)
{
    memset(set->words, 0xff, set->word_count * sizeof *set->words);
    if (catalog->count % WORD_BITS != 0)
        set->words[set->word_count - 1] = ((uint64_t)1 << (catalog->count % WORD_BITS)) - 1;
}

static void read_values(struct catalog *catalog)
{
    for (uint32_t key = 0; key < catalog->key_count; key++) {
        uint32_t count = solver_names_value_count(catalog->names, key);
        for (uint32_t i = 0; i < count; i++) {
            struct text value;
            value.data = solver_names_value_text(catalog->names, key, i, &value.size);
            (void)text_map_add(&catalog->values, catalog->arena, value);
        }
    }
}

void catalog_index(struct catalog *catalog)
{
    catalog->key_count = solver_names_key_count(catalog->names);
    catalog->keys = ARENA_ARRAY(catalog->arena, catalog->key_count, struct catalog_key);
    for (uint32_t i = 0; i < catalog->key_count; i++)
        catalog->keys[i] = create_key(catalog, i);
    catalog_read_known_keys(catalog);
    read_values(catalog);
    for (size_t type = 0; type < catalog->count; type++) {
        const struct solver_requirements *requirements = &catalog->types[type].requirements;
        for (size_t i = 0; i < requirements->count; i++)
            index_requirement(catalog, type, &requirements->items[i]);
    }
    for (uint32_t i = 0; i < catalog->key_count; i++) {
        struct catalog_key *key = &catalog->keys[i];
        add_everything(catalog, &key->unsaid);
        remove_all(&key->unsaid, &key->some);
        remove_all(&key->unsaid, &key->none);
    }
}

/* Adds the types with a value of the key that wanted allows. */
static void add_with_value(const struct catalog_key *key, const struct solver_names *names,
                           const struct solver_requirement *wanted, struct type_set *found)
{
    bool bounded = wanted->has_gte || wanted->has_lte;
    if (!wanted->complement) {
        for (uint32_t value = 0; next_value(wanted, key->value_count, &value); value++)
            add_all(found, &key->values[value]);
    } else if (key->single && !bounded) {
        add_all(found, &key->some);
        for (uint32_t value = 0; next_value(wanted, key->value_count, &value); value++)
            remove_all(found, &key->values[value]);
    } else {
        for (uint32_t value = 0; value < key->value_count; value++)
            if (solver_requirement_has(names, wanted, value))
                add_all(found, &key->values[value]);
    }
}

/* docs/reference/karpenter.md 1.3 for one key. If only some types have a value, the hardware of the
 * others is not known. Only a requirement that an absent value meets takes these. */
static void add_meeting(const struct catalog_key *key, const struct solver_names *names,
                        const struct solver_requirement *wanted, struct type_set *found)
{
    enum solver_op op = solver_requirement_op(wanted);
    add_with_value(key, names, wanted, found);
    if (op != SOLVER_DOES_NOT_EXIST)
        add_all(found, &key->any);
    if (solver_op_is_negative(op)) {
        add_all(found, &key->none);
        add_all(found, &key->unsaid);
    }
}

static struct type_set with_offering(const struct catalog *catalog,
                                     const struct solver_names *names,
                                     const struct solver_requirements *wanted, struct arena *arena)
{
    struct type_set found = type_set_create(catalog, arena);
    for (size_t i = 0; i < catalog->shapes.count; i++)
        if (solver_requirements_intersect(names, wanted, &catalog->shapes.items[i].requirements,
                                          NULL))
            add_all(&found, &catalog->shapes.items[i].types);
    return found;
}

/* Karpenter's AWS provider gives each of its nodes these labels. */
static const enum catalog_label of_each_machine[] = {
    CATALOG_ARCH,
    CATALOG_OS,
    CATALOG_CATEGORY,
    CATALOG_FAMILY,
    CATALOG_GENERATION,
    CATALOG_SIZE,
    CATALOG_FLEX,
    CATALOG_CPU,
    CATALOG_MEMORY,
    CATALOG_TENANCY,
    CATALOG_CPU_MANUFACTURER,
    CATALOG_HYPERVISOR,
    CATALOG_ENCRYPTION,
};

static bool is_of_each_machine(uint32_t key)
{
    for (size_t i = 0; i < COUNT_OF(of_each_machine); i++)
        if (key == (uint32_t)of_each_machine[i])
            return true;
    return false;
}

bool catalog_is_of_each_machine(struct text key)
{
    for (size_t i = 0; i < COUNT_OF(of_each_machine); i++)
        if (text_is(key, label_keys[of_each_machine[i]]))
            return true;
    return false;
}

/* A type of its family of which the value of the key is known; SIZE_MAX: there is none. */
static size_t known_of_family(const struct catalog *catalog, uint32_t key, struct text family)
{
    uint32_t value =
        solver_names_find_value(catalog->names, CATALOG_FAMILY, family.data, family.size);
    const struct type_set *its = &catalog->keys[CATALOG_FAMILY].values[value];
    FOR_TYPES(i, its)
        if (!type_set_has(&catalog->keys[key].unsaid, i))
            return i;
    return SIZE_MAX;
}

/* Whether it allows what every type of unknown hardware has: Linux, or one of the architectures. */
static bool allows_platform(const struct catalog *catalog, const struct solver_names *names,
                            const struct solver_requirement *wanted)
{
    if (wanted->key == CATALOG_OS)
        return solver_requirement_has(
            names, wanted, solver_names_find_value(catalog->names, CATALOG_OS, "linux", 5));
    if (wanted->key != CATALOG_ARCH)
        return false;
    for (uint32_t value = 0; value < catalog->keys[CATALOG_ARCH].value_count; value++)
        if (!solver_requirement_has(names, wanted, value))
            return false;
    return true;
}

enum meeting { MEETS_NEVER, MEETS_PERHAPS, MEETS_SURELY };

/* How a type of unknown hardware meets a requirement on it. found: the known types that do. Its
 * category tells of its devices. The types of a family have one architecture and one maker of their
 * processors: where others of it are known, they tell. */
static enum meeting meeting_of(const struct catalog *catalog,
                               const struct solver_requirement *wanted, size_t index,
                               const struct type_set *found)
{
    const struct instance_type *type = &catalog->types[index];
    enum solver_op op = solver_requirement_op(wanted);
    uint32_t key = wanted->key;
    bool is_gpu = key >= CATALOG_GPU_NAME && key <= CATALOG_GPU_MEMORY;
    bool is_accelerator = key >= CATALOG_ACCELERATOR_NAME && key <= CATALOG_ACCELERATOR_COUNT;
    bool has_some = is_of_each_machine(key) || (is_gpu && type->has_gpu) ||
                    (is_accelerator && type->has_accelerator);
    if ((is_gpu || is_accelerator) && !has_some)
        return solver_op_is_negative(op) ? MEETS_SURELY : MEETS_NEVER;
    if (key == CATALOG_ARCH || key == CATALOG_OS || key == CATALOG_CPU_MANUFACTURER) {
        size_t other = known_of_family(catalog, key, type->family);
        if (other != SIZE_MAX && !type_set_has(found, other))
            return MEETS_NEVER;
        if (other != SIZE_MAX && key != CATALOG_OS)
            return MEETS_SURELY;
    }
    if (has_some && op == SOLVER_DOES_NOT_EXIST)
        return MEETS_NEVER;
    if (type->cpu > 0) /* of known hardware: one that lacks the label */
        return solver_op_is_negative(op) ? MEETS_SURELY : MEETS_PERHAPS;
    bool wants_any = op == SOLVER_EXISTS && !wanted->has_gte && !wanted->has_lte;
    return has_some && wants_any ? MEETS_SURELY : MEETS_PERHAPS;
}

/* Which types of unknown hardware meet a requirement on it. */
enum unknown {
    UNKNOWN_AS_LABELLED, /* as if they had no such label */
    UNKNOWN_LAUNCHABLE,  /* the same without those that never meet it */
    UNKNOWN_SURE,
    UNKNOWN_OF_PLATFORM, /* those that may by their platform, else as launchable */
    UNKNOWN_OF_ALL_KEYS, /* those that may */
};

/* Whether a type may count that does not meet it as labelled. */
static bool counts_unlabelled(enum unknown unknown, uint32_t key)
{
    bool of_platform = key == CATALOG_ARCH || key == CATALOG_OS || key == CATALOG_TENANCY;
    return unknown == UNKNOWN_SURE || unknown == UNKNOWN_OF_ALL_KEYS ||
           (unknown == UNKNOWN_OF_PLATFORM && of_platform);
}

static void settle_unknown(const struct catalog *catalog, const struct solver_names *names,
                           const struct solver_requirement *wanted, enum unknown unknown,
                           struct type_set *found)
{
    const struct type_set *unsaid = &catalog->keys[wanted->key].unsaid;
    bool unlabelled = counts_unlabelled(unknown, wanted->key);
    if (allows_platform(catalog, names, wanted)) {
        if (unlabelled)
            add_all(found, unsaid);
        return;
    }
    FOR_TYPES(i, unsaid) {
        if (!unlabelled && !type_set_has(found, i))
            continue;
        enum meeting meeting = meeting_of(catalog, wanted, i, found);
        found->words[i / WORD_BITS] &= ~((uint64_t)1 << (i % WORD_BITS));
        if (unknown == UNKNOWN_SURE ? meeting == MEETS_SURELY : meeting != MEETS_NEVER)
            type_set_add(found, i);
    }
}

static struct type_set select_types(const struct catalog *catalog, const struct solver_names *names,
                                    const struct solver_requirements *set, enum unknown unknown,
                                    struct arena *arena)
{
    struct type_set selected = type_set_create(catalog, arena);
    add_everything(catalog, &selected);
    struct type_set found = type_set_create(catalog, arena);
    for (size_t i = 0; i < set->count; i++) {
        const struct solver_requirement *wanted = &set->items[i];
        if (wanted->key >= catalog->key_count || !catalog->keys[wanted->key].defined)
            continue;
        memset(found.words, 0, found.word_count * sizeof *found.words);
        add_meeting(&catalog->keys[wanted->key], names, wanted, &found);
        if (unknown != UNKNOWN_AS_LABELLED)
            settle_unknown(catalog, names, wanted, unknown, &found);
        keep_all(&selected, &found);
    }
    if (!catalog->is_builtin) {
        struct type_set offered = with_offering(catalog, names, set, arena);
        keep_all(&selected, &offered);
    }
    return selected;
}

struct type_set catalog_select(const struct catalog *catalog, const struct solver_names *names,
                               const struct solver_requirements *set, struct arena *arena)
{
    return select_types(catalog, names, set, UNKNOWN_AS_LABELLED, arena);
}

/* Whether a requirement lists types or families, or those that names tell leave no type of known
 * hardware. */
static bool names_the_unknown(const struct catalog *catalog, const struct solver_names *names,
                              const struct solver_requirements *set, struct arena *arena)
{
    struct solver_requirements by_name = {0};
    for (size_t i = 0; i < set->count; i++) {
        const struct solver_requirement *wanted = &set->items[i];
        if ((wanted->key == CATALOG_TYPE || wanted->key == CATALOG_FAMILY) &&
            solver_requirement_op(wanted) == SOLVER_IN)
            return true;
        if (wanted->key < catalog->key_count &&
            type_set_is_empty(&catalog->keys[wanted->key].unsaid))
            *LIST_PUSH(arena, &by_name) = *wanted;
    }
    struct type_set named = catalog_select(catalog, names, &by_name, arena);
    FOR_TYPES(i, &named)
        if (catalog->types[i].cpu > 0)
            return false;
    return true;
}

/* Requirements that leave a label of each machine no value leave no type. */
static bool leaves_no_machine(const struct solver_requirements *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (is_of_each_machine(set->items[i].key) &&
            solver_requirement_op(&set->items[i]) == SOLVER_DOES_NOT_EXIST)
            return true;
    return false;
}

/* What a user's catalogue does not say, its types do not have. */
static struct type_set select_machines(const struct catalog *catalog,
                                       const struct solver_names *names,
                                       const struct solver_requirements *set, enum unknown unknown,
                                       struct arena *arena)
{
    if (!catalog->is_builtin)
        return catalog_select(catalog, names, set, arena);
    if (leaves_no_machine(set))
        return type_set_create(catalog, arena);
    return select_types(catalog, names, set, unknown, arena);
}

struct type_set catalog_select_launchable(const struct catalog *catalog,
                                          const struct solver_names *names,
                                          const struct solver_requirements *set,
                                          struct arena *arena)
{
    return select_machines(catalog, names, set, UNKNOWN_LAUNCHABLE, arena);
}

struct type_set catalog_select_sure(const struct catalog *catalog, const struct solver_names *names,
                                    const struct solver_requirements *set, struct arena *arena)
{
    return select_machines(catalog, names, set, UNKNOWN_SURE, arena);
}

struct type_set catalog_select_possible(const struct catalog *catalog,
                                        const struct solver_names *names,
                                        const struct solver_requirements *set, struct arena *arena)
{
    bool all = catalog->is_builtin && names_the_unknown(catalog, names, set, arena);
    return select_machines(catalog, names, set, all ? UNKNOWN_OF_ALL_KEYS : UNKNOWN_OF_PLATFORM,
                           arena);
}

bool catalog_is_builtin(const struct catalog *catalog)
{
    return catalog->is_builtin;
}

bool instance_type_is_accelerated(const struct instance_type *type)
{
    return type->has_gpu || type->has_accelerator;
}

size_t catalog_count(const struct catalog *catalog)
{
    return catalog->count;
}

const struct instance_type *catalog_type(const struct catalog *catalog, size_t index)
{
    return &catalog->types[index];
}

size_t catalog_find(const struct catalog *catalog, struct text name)
{
    size_t low = 0, high = catalog->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = text_compare(catalog->types[middle].name, name);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return catalog->count;
}

const struct solver_names *catalog_names(const struct catalog *catalog)
{
    return catalog->names;
}

static bool offerings_have_key(const struct catalog *catalog, uint32_t key)
{
    for (size_t i = 0; i < catalog->shapes.count; i++) {
        const struct solver_requirement *requirement =
            solver_requirements_get(&catalog->shapes.items[i].requirements, key);
        if (requirement != NULL && solver_requirement_op(requirement) != SOLVER_DOES_NOT_EXIST)
            return true;
    }
    return false;
}

bool catalog_knows_value(const struct catalog *catalog, struct text value)
{
    return text_map_has(&catalog->values, value);
}

bool catalog_has_value(const struct catalog *catalog, struct text key, struct text value)
{
    if (!catalog_knows_value(catalog, value)) /* as most are that a stranger writes */
        return false;
    uint32_t number = solver_names_find_key(catalog->names, key.data, key.size);
    return number != SOLVER_NONE &&
           solver_names_find_value(catalog->names, number, value.data, value.size) != SOLVER_NONE;
}

bool catalog_tells_by(const struct catalog *catalog, struct text key)
{
    uint32_t number = solver_names_find_key(catalog->names, key.data, key.size);
    return !catalog->is_builtin || (number < catalog->key_count && catalog->keys[number].defined);
}

bool catalog_has_key(const struct catalog *catalog, struct text key)
{
    for (size_t i = 0; catalog->is_builtin && i < sizeof sold_everywhere / sizeof(char *); i++)
        if (text_is(key, sold_everywhere[i]))
            return true;
    uint32_t number = solver_names_find_key(catalog->names, key.data, key.size);
    if (number >= catalog->key_count)
        return false;
    return !type_set_is_empty(&catalog->keys[number].some) || offerings_have_key(catalog, number);
}
