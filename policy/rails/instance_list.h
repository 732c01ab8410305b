/* The rail instance-types: a list of instance types as a policy writes it, and what is said of
 * workloads and NodePools by it. */
#ifndef TAFFRAIL_POLICY_RAILS_INSTANCE_LIST_H
#define TAFFRAIL_POLICY_RAILS_INSTANCE_LIST_H

#include "catalog/catalog.h"
#include "policy/rail.h"

struct expression_value;

/* Every key given must accept (AND of keys, OR within a list). */
struct type_filter {
    struct key_strings types, families, sizes, categories, architectures;
    int64_t min_generation; /* 0: any */
};

/* The vCPUs a size stands for, where the catalogue does not say: "4xlarge" has 16. 0: cannot tell.
 */
int64_t instance_cpu_of_size(struct text size);
/* The most memory that so many vCPUs have in types of general use. 0: cannot tell. */
int64_t instance_memory_mib_at_most(struct text category, int64_t cpu);

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
    struct type_set possible;                 /* with those of which the hardware is not known */
    bool denies_none;                         /* deny is given, and no type is, or may be, of it */
    struct type_set within_maximum;           /* all types that `max` does not rule out */
    device_set devices;                       /* of the allowed types */
    struct text_list values[DIMENSION_COUNT]; /* those of its types, each once, as catalogued */
    struct text_map known[DIMENSION_COUNT];   /* those of all types, and whether one is of its */
    struct text_map families;                 /* the index of the first type of each */
};

/* The fix where no type has a value, and none like it is known. */
#define CHECK_NAME_IN_CATALOG "Check the name: taffrail catalog filter type lists those there are."

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
    VALUE_UNSURE,  /* one may, of which the hardware is not known */
    VALUE_UNKNOWN, /* the catalogue has no type with it; by its name it is possible */
};
enum value_state instance_list_value(const struct instance_list *list, enum dimension dimension,
                                     struct text written, struct arena *arena);
/* What can be told of the types that have it: of a type all, of a family or a category what its
 * types share, as far as the first one shows. */
struct instance_type instance_list_type(const struct instance_list *list, enum dimension dimension,
                                        struct text written);
/* Whether some type of the catalogue has it. */
bool instance_list_knows(const struct instance_list *list, enum dimension dimension,
                         struct text value);

/* ---- the parts of the rail ---- */

void instance_judge_workload(struct rail_call *call, const struct instance_list *list);
void instance_judge_pool(struct rail_call *call, const struct instance_list *list);

/* Values of one expression that are outside the list, in its order. */
struct values_outside {
    const struct expression_value *first;
    struct text_list names;
    bool others_stay; /* the expression has others, which are in the list */
    bool preferred;
};
void instance_report_outside(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct values_outside *values);
/* A value that is not in the catalogue, though its name would pass. */
void instance_report_unknown(struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, const struct expression_value *value);
/* Types that are reached, and of which the catalogue does not know whether they are in the list. */
void instance_report_unsure(struct rail_call *call, const struct instance_list *list,
                            enum severity severity, const struct field *field,
                            const struct type_set *reached);
/* The allowed value that is nearest in kind; empty where none has the accelerators, and for a value
 * that the catalogue does not know. */
struct text instance_nearest(const struct rail_call *call, const struct instance_list *list,
                             enum dimension dimension, struct text value);
/* "Ask #platform for an exception to policy strict": what is left where no allowed type will do. */
struct text instance_ask_for_exception(const struct rail_call *call);

#endif
