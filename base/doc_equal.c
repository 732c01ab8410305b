/* Whether two trees say the same. */
#include "base/doc_internal.h"

#include <stdlib.h>
#include <string.h>

/* A decimal number by its significant digits: 0.d1d2d3... times ten to the exponent. */
struct decimal {
    bool negative;
    const char *first, *end; /* of the significant digits; a point may stand between them */
    int64_t exponent;
};

static bool decimal_read(struct text t, struct decimal *decimal)
{
    struct text mantissa = t, power;
    int64_t exponent = 0;
    if ((text_split(t, 'e', &mantissa, &power) || text_split(t, 'E', &mantissa, &power)) &&
        (!text_to_int64(power, &exponent) || exponent > INT32_MAX || exponent < INT32_MIN))
        return false;
    *decimal = (struct decimal){.negative = mantissa.size > 0 && mantissa.data[0] == '-'};
    const char *end = mantissa.data + mantissa.size, *point = end;
    for (const char *at = mantissa.data; at < end; at++) {
        if (*at == '.')
            point = at;
        if (*at < '1' || *at > '9')
            continue;
        if (decimal->first == NULL)
            decimal->first = at;
        decimal->end = at + 1;
    }
    if (decimal->first == NULL) {
        decimal->negative = false;
        return true;
    }
    decimal->exponent = exponent + (point - decimal->first) + (decimal->first > point);
    return true;
}

static bool number_equal(struct text a, struct text b)
{
    struct decimal x, y;
    if (text_equal(a, b))
        return true;
    if (!decimal_read(a, &x) || !decimal_read(b, &y) || x.negative != y.negative ||
        x.exponent != y.exponent)
        return false;
    while (x.first < x.end && y.first < y.end) {
        x.first += *x.first == '.';
        y.first += *y.first == '.';
        if (*x.first++ != *y.first++)
            return false;
    }
    return x.first == x.end && y.first == y.end;
}

static int compare_keys(const void *a, const void *b)
{
    const struct member *const *x = a, *const *y = b;
    return text_compare(member_key(*x), member_key(*y));
}

static bool same_order(const struct node *a, const struct node *b)
{
    for (size_t i = 0; i < a->size; i++)
        if (!text_equal(member_key(&a->members[i]), member_key(&b->members[i])))
            return false;
    return true;
}

static bool members_equal(const struct member *const *a, const struct member *const *b,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!text_equal(member_key(a[i]), member_key(b[i])) ||
            !node_equal(&a[i]->value, &b[i]->value))
            return false;
    return true;
}

static bool map_equal_by_search(const struct node *a, const struct node *b)
{
    for (size_t i = 0; i < a->size; i++) {
        const struct node *other = node_member(b, member_key(&a->members[i]));
        if (other == NULL || !node_equal(&a->members[i].value, other))
            return false;
    }
    return true;
}

static bool map_equal(const struct node *a, const struct node *b)
{
    enum { SEARCH_MAX = 16 };
    if (same_order(a, b)) {
        for (size_t i = 0; i < a->size; i++)
            if (!node_equal(&a->members[i].value, &b->members[i].value))
                return false;
        return true;
    }
    size_t count = a->size;
    const struct member **sorted = NULL;
    if (count > SEARCH_MAX)
        sorted = malloc(2 * count * sizeof *sorted);
    if (sorted == NULL)
        return map_equal_by_search(a, b);
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &a->members[i];
        sorted[count + i] = &b->members[i];
    }
    qsort(sorted, count, sizeof *sorted, compare_keys);
    qsort(sorted + count, count, sizeof *sorted, compare_keys);
    bool equal = members_equal(sorted, sorted + count, count);
    free(sorted);
    return equal;
}

bool node_equal(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->kind != b->kind)
        return false;
    switch ((enum node_kind)a->kind) {
    case NODE_NULL:
        return true;
    case NODE_BOOL:
    case NODE_STRING:
        return text_equal(node_text(a), node_text(b));
    case NODE_NUMBER:
        return number_equal(node_text(a), node_text(b));
    case NODE_LIST:
        for (size_t i = 0; i < a->size && a->size == b->size && a->items != b->items; i++)
            if (!node_equal(&a->items[i], &b->items[i]))
                return false;
        return a->size == b->size;
    case NODE_MAP: /* a store keeps equal parts once */
        return a->size == b->size && (a->members == b->members || map_equal(a, b));
    }
    return false;
}
