/* The rail instance-types: a list of instance types as a policy writes it, and what is said of
 * workloads and NodePools by it. */
#ifndef TAFFRAIL_POLICY_RAILS_INSTANCE_LIST_H
#define TAFFRAIL_POLICY_RAILS_INSTANCE_LIST_H

#include "catalog/type_set.h"
#include "policy/rail.h"

struct catalog;
struct expression_value;
struct instance_type;

/* Every key given must accept (AND of keys, OR within a list). */
struct type_filter {
    struct key_strings types, families, sizes, categories, architectures;
    int64_t min_generation; /* 0: any */
};

/* The labels whose values name instance types, or kinds of them. */
enum dimension {
    DIMENSION_TYPE,
    DIMENSION_FAMILY,
    DIMENSION_SIZE,
    DIMENSION_CATEGORY,
    DIMENSION_GENERATION,
    DIMENSION_ARCHITECTURE,
    DIMENSION_COUNT
};

struct instance_list {
    struct type_filter allow, deny;
    int64_t max_cpu_milli, max_memory_milli, max_gpus;
    bool max_cpu_given, max_memory_given, max_gpus_given;
    /* Derived by instance_list_prepare. */
    const struct catalog *catalog;
    struct type_set allowed;
    struct text_list values[DIMENSION_COUNT]; /* those of its types, each once, as catalogued */
    struct text_map known[DIMENSION_COUNT];   /* those of all types; 1 more where one is of its */
    struct text_map families;                 /* the index of the first type of each */
};

extern const char *const dimension_keys[DIMENSION_COUNT];
/* DIMENSION_COUNT for any other key; aliases are known. */
enum dimension dimension_of(struct text key);
/* A type's value; empty when it is not known. */
struct text dimension_value(enum dimension dimension, const struct instance_type *type,
                            struct arena *arena);

void instance_list_prepare(struct instance_list *list, const struct catalog *catalog,
                           struct arena *arena);

enum value_state {
    VALUE_POSSIBLE,
    VALUE_OUTSIDE, /* no type of the list has it */
    VALUE_UNKNOWN, /* the catalogue has no type with it; by its name it is possible */
};
enum value_state instance_list_value(const struct instance_list *list, enum dimension dimension,
                                     struct text value, struct arena *arena);
/* Whether some type of the catalogue has it. */
bool instance_list_knows(const struct instance_list *list, enum dimension dimension,
                         struct text value);

/* ---- the parts of the rail ---- */

void instance_judge_workload(struct rail_call *call, const struct instance_list *list);
void instance_judge_pool(struct rail_call *call, const struct instance_list *list);

/* Findings at a value: outside the list; not in the catalogue, though its name would pass. */
void instance_report_outside(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value,
                             enum severity severity);
void instance_report_unknown(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value);

#endif
