/* Why a pod fits nowhere, as data: a sentence and its operands. simulation/reason_words.h puts them
 * into words. */
#ifndef TAFFRAIL_SOLVER_REASON_H
#define TAFFRAIL_SOLVER_REASON_H

#include "base/base.h"
#include "solver/solver.h"

/* One of reason.def, which has the sentences, too. The solver does not use their words. */
enum solver_says {
#define SAYS(name, sentence) SOLVER_SAYS_##name,
#include "solver/reason.def"
#undef SAYS
};

/* In no order; of the values of a label those that come first, and how many more there are: a label
 * may have a thousand. */
enum { SOLVER_VALUES_TOLD = 6 };
struct solver_texts {
    const struct text *items;
    size_t count, more;
};
/* What a requirement, or an item of a selector, asks of a key. */
struct solver_asked {
    struct text key;
    enum solver_op op;
    bool has_gte, has_lte;
    int64_t gte, lte;
    struct solver_texts values;
};
enum solver_constraint {
    SOLVER_SPREAD,
    SOLVER_AFFINITY,
    SOLVER_ANTI_AFFINITY,
    SOLVER_ANTI_AFFINITY_OF_OTHERS
};
struct solver_saying {
    enum solver_says says;
    const struct solver_operand *operands;
    size_t count;
};
struct solver_operand {
    enum {
        SOLVER_OPERAND_NAME,
        SOLVER_OPERAND_NUMBER,
        SOLVER_OPERAND_QUANTITY,
        SOLVER_OPERAND_TEXTS,
        SOLVER_OPERAND_ASKED,
        SOLVER_OPERAND_SELECTOR,
        SOLVER_OPERAND_TAINT,
        SOLVER_OPERAND_CONSTRAINT,
        SOLVER_OPERAND_SAYINGS
    } kind;
    union {
        struct text name;
        int64_t number;
        struct {
            uint32_t resource;
            const char *name;
            int64_t amount;
            bool up; /* rounded up to the unit that is shown */
        } quantity;
        struct solver_texts texts;
        struct {
            const struct solver_asked *items;
            size_t count;
            bool of_offering; /* of an offering, not of the type */
            bool of_none;     /* the selector is missing or invalid */
        } asked;
        struct { /* a taint, or a toleration of one */
            struct text key, value;
            bool any_effect;
            enum solver_effect effect;
        } taint;
        struct {
            enum solver_constraint kind;
            struct text key;
            bool over_nodes, over_zones;
            int32_t max_skew;
        } constraint;
        struct {
            const struct solver_saying *items;
            size_t count;
        } sayings;
    };
};

/* Why some of the nodes refuse the pod. */
struct solver_cause {
    enum solver_reason_kind kind;
    struct solver_saying saying;
    size_t count; /* of nodes */
};
struct solver_reason {
    uint32_t pool; /* SOLVER_NONE: holds for all pools, or concerns the existing nodes */
    enum solver_reason_kind kind;
    struct solver_saying message, nearest; /* nearest: the nearest miss */
    bool too_large; /* of resources: no instance type has them, whatever the pool */
    /* Of the existing nodes, in no order; count 0: it does not concern them. The most frequent
     * cause is the reason. */
    const struct solver_cause *causes;
    size_t cause_count;
};

#endif
