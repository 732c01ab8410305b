/* The rail instance-types: which instance types may be asked for. */
#include "policy/rails/instance_list.h"

#include "catalog/label.h"

#define NAMES(list, member, form, words)                                                        \
    {                                                                                           \
        .name = #member, .type = (form), .offset = offsetof(struct instance_list, list.member), \
        .summary = (words), .minimum = 1                                                        \
    }
#define ARCHITECTURES(list)                                                              \
    {                                                                                    \
        .name = "architectures", .type = KEY_STRINGS,                                    \
        .offset = offsetof(struct instance_list, list.architectures),                    \
        .summary = "of their processors", .minimum = 1, .choices = (const char *const[]) \
        {                                                                                \
            "amd64", "arm64", NULL                                                       \
        }                                                                                \
    }

static const struct key allow_keys[] = {
    NAMES(allow, types, KEY_GLOBS, "names of types, as in m5.large or m6i.*"),
    NAMES(allow, families, KEY_STRINGS, "as in m5; no globs"),
    NAMES(allow, sizes, KEY_STRINGS, "as in 2xlarge; no globs"),
    NAMES(allow, categories, KEY_STRINGS,
          "the letters a family begins with: c, m, r, ...; no globs"),
    {.name = "minGeneration",
     .type = KEY_INTEGER,
     .offset = offsetof(struct instance_list, allow.min_generation),
     .summary = "the number in the family, at least",
     .minimum = 1,
     .maximum = 99},
    ARCHITECTURES(allow),
    {0},
};

static const struct key deny_keys[] = {
    NAMES(deny, types, KEY_GLOBS, "names of types, as in m5.large or m6i.*"),
    NAMES(deny, families, KEY_STRINGS, "as in p4d; no globs"),
    NAMES(deny, sizes, KEY_STRINGS,
          "as in metal, which metal-24xl is not; no globs: for all of them types: [\"*.metal*\"]"),
    NAMES(deny, categories, KEY_STRINGS, "the letters a family begins with; no globs"),
    ARCHITECTURES(deny),
    {0},
};

static const struct key max_keys[] = {
    {.name = "cpu",
     .type = KEY_QUANTITY,
     .offset = offsetof(struct instance_list, max_cpu_milli),
     .given_offset = offsetof(struct instance_list, max_cpu_given),
     .summary = "vCPUs of a type, at most"},
    {.name = "memory",
     .type = KEY_QUANTITY,
     .offset = offsetof(struct instance_list, max_memory_milli),
     .given_offset = offsetof(struct instance_list, max_memory_given),
     .summary = "memory of a type, at most, as in 512Gi"},
    {.name = "gpus",
     .type = KEY_INTEGER,
     .offset = offsetof(struct instance_list, max_gpus),
     .given_offset = offsetof(struct instance_list, max_gpus_given),
     .summary = "GPUs of a type, at most; a fraction of one counts as one",
     .minimum = 0,
     .maximum = 64},
    {0},
};

static const struct key keys[] = {
    {.name = "allow",
     .type = KEY_MAP,
     .summary = "a type is in the list when every key given here accepts it",
     .children = allow_keys},
    {.name = "deny",
     .type = KEY_MAP,
     .summary = "a type that every key given here accepts is out of the list",
     .children = deny_keys},
    {.name = "max", .type = KEY_MAP, .summary = "the largest type", .children = max_keys},
    {0},
};

/* ---- loading: values that cannot work ---- */

/* Families, categories and sizes take no globs: one of types says what was meant. */
static struct text hint_for(const struct instance_list *list, enum dimension dimension,
                            struct text value, struct arena *arena)
{
    if (text_is_glob(value) && dimension == DIMENSION_TYPE)
        return TEXT("");
    if (text_is_glob(value)) {
        bool is_type = text_split(value, '.', NULL, NULL);
        return arena_printf(arena, "; only types takes globs: write types: [\"%s%.*s%s\"] instead",
                            is_type || dimension != DIMENSION_SIZE ? "" : "*.", TEXT_ARGS(value),
                            is_type || dimension == DIMENSION_SIZE ? "" : ".*");
    }
    struct text meant =
        label_value_meant(list->catalog, text_of(dimension_keys[dimension]), value, arena);
    return meant.size == 0 ? TEXT("")
                           : arena_printf(arena, "; did you mean \"%.*s\"?", TEXT_ARGS(meant));
}

static bool is_known(const struct instance_list *list, enum dimension dimension, struct text value)
{
    if (dimension != DIMENSION_TYPE)
        return instance_list_knows(list, dimension, value);
    size_t i = 0, count = catalog_count(list->catalog);
    while (i < count && !text_matches_glob(catalog_type(list->catalog, i)->name, value))
        i++;
    return i < count;
}

/* Warns of each value the catalogue does not know. */
static void check_values(const struct instance_list *list, enum dimension dimension,
                         const struct key_strings *written, const struct rail_loading *loading)
{
    struct arena *arena = loading->arena;
    for (size_t i = 0; i < written->count; i++) {
        struct text value = written->items[i];
        if (is_known(list, dimension, value))
            continue;
        loading_warn(loading, written->nodes[i], "the catalogue has no type with %s \"%.*s\"%.*s",
                     dimension_keys[dimension], TEXT_ARGS(value),
                     TEXT_ARGS(hint_for(list, dimension, value, arena)));
    }
}

static void check_filter(const struct instance_list *list, const struct type_filter *filter,
                         const struct rail_loading *loading)
{
    check_values(list, DIMENSION_TYPE, &filter->types, loading);
    check_values(list, DIMENSION_FAMILY, &filter->families, loading);
    check_values(list, DIMENSION_SIZE, &filter->sizes, loading);
    check_values(list, DIMENSION_CATEGORY, &filter->categories, loading);
}

/* Collects the values that the catalogue knows but that select nothing beside the other keys. */
static void find_idle(const struct instance_list *list, enum dimension dimension,
                      const struct key_strings *written, struct arena *arena,
                      struct text_list *idle)
{
    for (size_t i = 0; i < written->count; i++) {
        struct text value = written->items[i];
        if (instance_list_knows(list, dimension, value) &&
            instance_list_value(list, dimension, value, arena) == VALUE_OUTSIDE)
            *LIST_PUSH(arena, idle) = value;
    }
}

static void prepare(void *settings, const struct rail_loading *loading)
{
    struct instance_list *list = settings;
    struct arena *arena = loading->arena;
    instance_list_prepare(list, loading->catalog, arena);

    struct text_list idle = {0};
    const struct type_filter *allow = &list->allow;
    check_filter(list, allow, loading);
    check_filter(list, &list->deny, loading);
    find_idle(list, DIMENSION_FAMILY, &allow->families, arena, &idle);
    find_idle(list, DIMENSION_SIZE, &allow->sizes, arena, &idle);
    find_idle(list, DIMENSION_CATEGORY, &allow->categories, arena, &idle);

    const struct node *allow_node = node_get(loading->rail_node, "allow");
    const struct node *at = allow_node == NULL ? loading->rail_node : allow_node;
    struct text left = type_set_text(loading->catalog, &list->possible, arena);
    size_t left_count = type_set_count(&list->possible);
    if (left_count == 0)
        loading_warn(loading, at,
                     "instance-types: no type of the catalogue is in this list: everything that "
                     "names a type will be a finding");
    else if (idle.count > 0)
        loading_warn(loading, at,
                     "instance-types: %.*s select%s nothing together with the other keys; only "
                     "%.*s %s left",
                     TEXT_ARGS(texts_join(idle.items, idle.count, SIZE_MAX, arena)),
                     idle.count == 1 ? "s" : "", TEXT_ARGS(left), left_count == 1 ? "is" : "are");
    if (list->denies_none)
        loading_warn(loading, node_get(loading->rail_node, "deny"),
                     "instance-types: no type of the catalogue matches all keys of deny, so it "
                     "keeps none out");
}

static void judge(struct rail_call *call)
{
    if (call->object->kind == KIND_NODE_POOL)
        instance_judge_pool(call, call->settings);
    else
        instance_judge_workload(call, call->settings);
}

const struct rail rail_instance_types = {
    .name = "instance-types",
    .summary = "which instance types may be selected and launched",
    .detail =
        "A platform has images, quotas and money for some machines and not for all: the rail keeps "
        "pods and pools to a list of them. A type is in the list when every key under allow "
        "accepts it, deny does not match it, and it is no larger than max. With nothing under "
        "allow every type is in the list that deny and max leave.\n\n"
        "On a workload, each value that the nodeSelector or a required node affinity term names "
        "(of type, family, size, category, generation or architecture) must be possible within "
        "the list, and the types that selector and term reach together must meet the list. A pod "
        "that selects nothing, or a range that meets the list, is fine: the NodePools confine it. "
        "Preferred terms warn. Beside a value that the catalogue does not have, or that is filled "
        "in before a file is applied, a term is found where all that is known of it is outside the "
        "list, and what it requires otherwise is above max.\n\n"
        "On a NodePool every type it can launch must be in the list, and there must be one. The "
        "finding counts and names the types outside and gives the requirement to add.\n\n"
        "A type that the catalogue does not know is judged by its name; that it may not exist is "
        "only a warning, unless the catalogue is your own (--catalog). So is one of which the "
        "built-in catalogue knows the name alone (u-12tb1.metal, m8g-flex.large): what the name "
        "does not tell, and allow, deny or max ask for, is only a warning; and so is a type "
        "outside the list, beside one of it, where a requirement on such hardware may keep it out "
        "of the pool. Linux runs on all of them; others of its family tell a type's architecture, "
        "and its category whether it has GPUs.",
    .example = "instance-types:\n"
               "  mode: enforce\n"
               "  allow: {categories: [c, m, r], minGeneration: 5}\n"
               "  deny: {types: [\"*.metal*\"]}\n"
               "  max: {cpu: 32, memory: 256Gi, gpus: 0}\n",
    .kinds = KINDS_WORKLOADS | KIND_BIT(KIND_NODE_POOL),
    .keys = keys,
    .settings_size = sizeof(struct instance_list),
    .prepare = prepare,
    .judge = judge,
};
