/* One requirement: a set of values or its complement, with bounds. */
#include <assert.h>
#include <string.h>

#include "base/base.h"
#include "solver/solver.h"

#define WORD_BITS 64u

static const char *const op_names[SOLVER_OP_COUNT] = {
    [SOLVER_IN] = "In",         [SOLVER_NOT_IN] = "NotIn",
    [SOLVER_EXISTS] = "Exists", [SOLVER_DOES_NOT_EXIST] = "DoesNotExist",
    [SOLVER_GT] = "Gt",         [SOLVER_LT] = "Lt",
    [SOLVER_GTE] = "Gte",       [SOLVER_LTE] = "Lte",
};

const char *solver_op_name(enum solver_op op)
{
    return op_names[op];
}

bool solver_op_parse(const char *data, size_t size, enum solver_op *op)
{
    for (size_t i = 0; i < SOLVER_OP_COUNT; i++)
        if (text_is((struct text){data, size}, op_names[i])) {
            *op = (enum solver_op)i;
            return true;
        }
    return false;
}

static bool has_bit(const struct solver_requirement *r, uint32_t value)
{
    uint32_t word = value / WORD_BITS;
    return word < r->word_count && (r->words[word] >> (value % WORD_BITS) & 1) != 0;
}

static uint64_t word_of(const struct solver_requirement *r, uint32_t index)
{
    return index < r->word_count ? r->words[index] : 0;
}

static void set_words(struct solver_requirement *r, const uint64_t *words, uint32_t word_count)
{
    while (word_count > 0 && words[word_count - 1] == 0)
        word_count--;
    r->words = word_count > 0 ? words : NULL;
    r->word_count = word_count;
}

static void set_values(struct solver_requirement *r, const uint32_t *values, size_t value_count,
                       struct arena *arena)
{
    uint32_t word_count = 0;
    for (size_t i = 0; i < value_count; i++)
        if (values[i] / WORD_BITS + 1 > word_count)
            word_count = values[i] / WORD_BITS + 1;
    if (word_count == 0)
        return;
    uint64_t *words = ARENA_ARRAY(arena, word_count, uint64_t);
    for (size_t i = 0; i < value_count; i++)
        words[values[i] / WORD_BITS] |= (uint64_t)1 << (values[i] % WORD_BITS);
    set_words(r, words, word_count);
}

/* One below an Lt bound. Below the least integer it wraps round, as in Karpenter. */
static int64_t predecessor(int64_t number)
{
    return number == INT64_MIN ? INT64_MAX : number - 1;
}

static void set_bound(struct solver_requirement *r, enum solver_op op, int64_t bound)
{
    switch (op) {
    case SOLVER_GT:
        if (bound == INT64_MAX) {
            r->complement = false;
            r->min_values = 0;
            return;
        }
        r->has_gte = true;
        r->gte = bound + 1;
        return;
    case SOLVER_GTE:
        r->has_gte = true;
        r->gte = bound;
        return;
    case SOLVER_LT:
        r->has_lte = true;
        r->lte = predecessor(bound);
        return;
    case SOLVER_LTE:
        r->has_lte = true;
        r->lte = bound;
        return;
    case SOLVER_IN:
    case SOLVER_NOT_IN:
    case SOLVER_EXISTS:
    case SOLVER_DOES_NOT_EXIST:
        return;
    }
}

struct solver_requirement solver_requirement_make(const struct solver_names *names, uint32_t key,
                                                  enum solver_op op, const uint32_t *values,
                                                  size_t value_count, uint32_t min_values,
                                                  struct arena *arena)
{
    struct solver_requirement r = {
        .key = key,
        .complement = op != SOLVER_IN && op != SOLVER_DOES_NOT_EXIST,
        .needs_label = !solver_op_is_negative(op),
        .min_values = min_values,
    };
    if (op == SOLVER_IN || op == SOLVER_NOT_IN) {
        set_values(&r, values, value_count, arena);
    } else if (op != SOLVER_EXISTS && op != SOLVER_DOES_NOT_EXIST) {
        int64_t bound = 0;
        if (value_count > 0)
            (void)solver_names_value_number(names, key, values[0], &bound);
        set_bound(&r, op, bound);
    }
    return r;
}

/* The merged bounds of two requirements. */
struct bounds {
    bool has_gte, has_lte;
    int64_t gte, lte;
};

static struct bounds merge_bounds(const struct solver_requirement *a,
                                  const struct solver_requirement *b)
{
    struct bounds bounds = {a->has_gte || b->has_gte, a->has_lte || b->has_lte, a->gte, a->lte};
    if (b->has_gte && (!a->has_gte || b->gte > a->gte))
        bounds.gte = b->gte;
    if (b->has_lte && (!a->has_lte || b->lte < a->lte))
        bounds.lte = b->lte;
    return bounds;
}

static bool is_empty(const struct bounds *bounds)
{
    return bounds->has_gte && bounds->has_lte && bounds->gte > bounds->lte;
}

static bool is_within(const struct solver_names *names, uint32_t key, uint32_t value,
                      const struct bounds *bounds)
{
    if (!bounds->has_gte && !bounds->has_lte)
        return true;
    int64_t number = 0;
    return solver_names_value_number(names, key, value, &number) &&
           (!bounds->has_gte || number >= bounds->gte) &&
           (!bounds->has_lte || number <= bounds->lte);
}

/* A word of the merged values: the excluded ones when both are complements, else the allowed
 * ones. */
static uint64_t merged_word(const struct solver_requirement *a, const struct solver_requirement *b,
                            uint32_t index)
{
    uint64_t x = word_of(a, index), y = word_of(b, index);
    if (a->complement && b->complement)
        return x | y;
    return (a->complement ? ~x : x) & (b->complement ? ~y : y);
}

static uint32_t merged_word_count(const struct solver_requirement *a,
                                  const struct solver_requirement *b)
{
    if (a->complement && b->complement)
        return a->word_count > b->word_count ? a->word_count : b->word_count;
    if (a->complement)
        return b->word_count;
    if (b->complement)
        return a->word_count;
    return a->word_count < b->word_count ? a->word_count : b->word_count;
}

static uint64_t drop_outside(const struct solver_names *names, uint32_t key, uint32_t index,
                             uint64_t word, const struct bounds *bounds)
{
    if (!bounds->has_gte && !bounds->has_lte)
        return word;
    for (uint64_t left = word; left != 0; left &= left - 1) {
        uint32_t bit = (uint32_t)__builtin_ctzll(left);
        if (!is_within(names, key, index * WORD_BITS + bit, bounds))
            word &= ~((uint64_t)1 << bit);
    }
    return word;
}

struct solver_requirement solver_requirement_intersect(const struct solver_names *names,
                                                       const struct solver_requirement *a,
                                                       const struct solver_requirement *b,
                                                       struct arena *arena)
{
    assert(a->key == b->key);
    struct solver_requirement r = {
        .key = a->key,
        .needs_label = a->needs_label || b->needs_label,
        .min_values = a->min_values > b->min_values ? a->min_values : b->min_values,
    };
    struct bounds bounds = merge_bounds(a, b);
    if (is_empty(&bounds))
        return r;
    r.complement = a->complement && b->complement;
    uint32_t word_count = merged_word_count(a, b);
    if (word_count > 0) {
        uint64_t *words = ARENA_ARRAY(arena, word_count, uint64_t);
        for (uint32_t i = 0; i < word_count; i++)
            words[i] = drop_outside(names, r.key, i, merged_word(a, b, i), &bounds);
        set_words(&r, words, word_count);
    }
    if (r.complement) {
        r.has_gte = bounds.has_gte;
        r.gte = bounds.has_gte ? bounds.gte : 0;
        r.has_lte = bounds.has_lte;
        r.lte = bounds.has_lte ? bounds.lte : 0;
    }
    return r;
}

bool solver_requirement_has(const struct solver_names *names, const struct solver_requirement *r,
                            uint32_t value)
{
    struct bounds bounds = {r->has_gte, r->has_lte, r->gte, r->lte};
    return has_bit(r, value) != r->complement && is_within(names, r->key, value, &bounds);
}

bool solver_requirement_intersects(const struct solver_names *names,
                                   const struct solver_requirement *a,
                                   const struct solver_requirement *b)
{
    assert(a->key == b->key);
    struct bounds bounds = merge_bounds(a, b);
    if (is_empty(&bounds))
        return false;
    if (a->complement && b->complement)
        return true;
    for (uint32_t i = 0; i < merged_word_count(a, b); i++)
        if (drop_outside(names, a->key, i, merged_word(a, b, i), &bounds) != 0)
            return true;
    return false;
}

enum solver_op solver_requirement_op(const struct solver_requirement *r)
{
    bool any = false;
    for (uint32_t i = 0; i < r->word_count && !any; i++)
        any = r->words[i] != 0;
    if (r->complement)
        return any ? SOLVER_NOT_IN : SOLVER_EXISTS;
    return any ? SOLVER_IN : SOLVER_DOES_NOT_EXIST;
}

bool solver_requirement_is_negative(const struct solver_requirement *r)
{
    return solver_op_is_negative(solver_requirement_op(r));
}

bool solver_requirement_equal(const struct solver_requirement *a,
                              const struct solver_requirement *b)
{
    if (a->key != b->key || a->complement != b->complement || a->min_values != b->min_values ||
        a->has_gte != b->has_gte || a->has_lte != b->has_lte)
        return false;
    if ((a->has_gte && a->gte != b->gte) || (a->has_lte && a->lte != b->lte))
        return false;
    uint32_t word_count = a->word_count > b->word_count ? a->word_count : b->word_count;
    for (uint32_t i = 0; i < word_count; i++)
        if (word_of(a, i) != word_of(b, i))
            return false;
    return true;
}
