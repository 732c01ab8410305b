/* Go's sort.Slice, a pattern-defeating quicksort. Karpenter sorts its NodeClaims by the number of
 * pods before each pod. The sort is not stable but deterministic, so the order of NodeClaims with
 * equally many pods follows from its steps. This file repeats them. */
#include "solver/run.h"

#define INSERTION_MAX 12 /* up to this many are sorted by insertion, which is stable */
#define SHIFTING_MIN 50  /* from this many on, a few items that are out of place are shifted */
#define SHIFTS_MAX 5     /* how many */
#define MEDIANS_MIN 50   /* from this many on, the pivot is a median of three medians */
#define SWAPS_MAX 12    /* the most swaps that choosing a pivot makes: then the order is reversed */
#define BALANCED_PART 8 /* a side with less than this part: a bad split */

struct sorting {
    uint32_t *items;
    const struct node_claim *claims;
};

static bool before(const struct sorting *s, size_t a, size_t b)
{
    return s->claims[s->items[a]].pod_count < s->claims[s->items[b]].pod_count;
}

static void swap(const struct sorting *s, size_t a, size_t b)
{
    uint32_t item = s->items[a];
    s->items[a] = s->items[b];
    s->items[b] = item;
}

/* Moves an item towards first while it belongs before its neighbour. */
static void shift_down(const struct sorting *s, size_t first, size_t item)
{
    for (; item > first && before(s, item, item - 1); item--)
        swap(s, item, item - 1);
}

static void insert_each(const struct sorting *s, size_t first, size_t end)
{
    for (size_t i = first + 1; i < end; i++)
        shift_down(s, first, i);
}

/* ---- bad splits ---- */

static void sift(const struct sorting *s, size_t first, size_t root, size_t count)
{
    for (size_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
        if (child + 1 < count && before(s, first + child, first + child + 1))
            child++;
        if (!before(s, first + root, first + child))
            return;
        swap(s, first + root, first + child);
        root = child;
    }
}

static void sort_as_heap(const struct sorting *s, size_t first, size_t end)
{
    size_t count = end - first;
    for (size_t i = (count - 1) / 2 + 1; i-- > 0;)
        sift(s, first, i, count);
    for (size_t i = count; i-- > 0;) {
        swap(s, first, first + i);
        sift(s, first, 0, i);
    }
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Swaps three items around the middle with others, which follow from the count. */
static void scatter(const struct sorting *s, size_t first, size_t end)
{
    size_t count = end - first, power = 1;
    uint64_t state = count;
    while (power <= count)
        power *= 2;
    for (size_t i = 0; i < 3; i++) {
        size_t other = (size_t)next_random(&state) & (power - 1);
        swap(s, first + count / 4 * 2 - 1 + i, first + (other < count ? other : other - count));
    }
}

/* ---- the pivot ---- */

static void order_two(const struct sorting *s, size_t *a, size_t *b, size_t *swaps)
{
    if (!before(s, *b, *a))
        return;
    size_t other = *a;
    *a = *b;
    *b = other;
    (*swaps)++;
}

static size_t median(const struct sorting *s, size_t a, size_t b, size_t c, size_t *swaps)
{
    order_two(s, &a, &b, swaps);
    order_two(s, &b, &c, swaps);
    order_two(s, &a, &b, swaps);
    return b;
}

static size_t choose_pivot(const struct sorting *s, size_t first, size_t end, size_t *swaps)
{
    size_t quarter = (end - first) / 4, places[3];
    for (size_t i = 0; i < 3; i++) {
        places[i] = first + quarter * (i + 1);
        if (end - first >= MEDIANS_MIN)
            places[i] = median(s, places[i] - 1, places[i], places[i] + 1, swaps);
    }
    return median(s, places[0], places[1], places[2], swaps);
}

/* ---- sorting ---- */

/* Sorts what is out of order in a few places; false: it is still not sorted. */
static bool shift_few(const struct sorting *s, size_t first, size_t end)
{
    size_t i = first + 1;
    for (size_t shifts = 0; shifts < SHIFTS_MAX; shifts++) {
        while (i < end && !before(s, i, i - 1))
            i++;
        if (i == end || end - first < SHIFTING_MIN)
            return i == end;
        swap(s, i, i - 1);
        if (i - first >= 2)
            shift_down(s, 0, i - 1);
        for (size_t j = i + 1; j < end && before(s, j, j - 1); j++)
            swap(s, j, j - 1);
    }
    return false;
}

/* Moves the items equal to the pivot to the front and returns where the greater ones begin. No item
 * is smaller. */
static size_t split_equals(const struct sorting *s, size_t first, size_t end, size_t pivot)
{
    swap(s, first, pivot);
    for (size_t i = first + 1, j = end - 1;; i++, j--) {
        while (i <= j && !before(s, first, i))
            i++;
        while (i <= j && before(s, first, j))
            j--;
        if (i > j)
            return i;
        swap(s, i, j);
    }
}

/* Moves smaller items before the pivot and the others behind it; returns its index. */
static size_t split(const struct sorting *s, size_t first, size_t end, size_t pivot,
                    bool *was_split)
{
    swap(s, first, pivot);
    *was_split = true;
    for (size_t i = first + 1, j = end - 1;; i++, j--) {
        while (i <= j && before(s, i, first))
            i++;
        while (i <= j && !before(s, j, first))
            j--;
        if (i > j) {
            swap(s, j, first);
            return j;
        }
        swap(s, i, j);
        *was_split = false;
    }
}

static void sort(const struct sorting *s, size_t first, size_t end, size_t patience)
{
    bool balanced = true, was_split = true;
    while (end - first > INSERTION_MAX) {
        if (patience == 0) {
            sort_as_heap(s, first, end);
            return;
        }
        if (!balanced) {
            scatter(s, first, end);
            patience--;
        }
        size_t swaps = 0, pivot = choose_pivot(s, first, end, &swaps);
        if (swaps == SWAPS_MAX) {
            for (size_t i = first, j = end - 1; i < j; i++, j--)
                swap(s, i, j);
            pivot = end - 1 - (pivot - first);
        }
        if (balanced && was_split && (swaps == 0 || swaps == SWAPS_MAX) && shift_few(s, first, end))
            return;
        if (first > 0 && !before(s, first - 1, pivot)) {
            first = split_equals(s, first, end, pivot);
            continue;
        }
        size_t middle = split(s, first, end, pivot, &was_split), length = end - first;
        if (middle - first < end - middle) {
            balanced = middle - first >= length / BALANCED_PART;
            sort(s, first, middle, patience);
            first = middle + 1;
        } else {
            balanced = end - middle >= length / BALANCED_PART;
            sort(s, middle + 1, end, patience);
            end = middle;
        }
    }
    insert_each(s, first, end);
}

void node_claims_sort(const struct node_claim *claims, uint32_t *order, size_t count)
{
    struct sorting sorting = {order, claims};
    size_t patience = 0;
    for (size_t left = count; left > 0; left /= 2)
        patience++;
    sort(&sorting, 0, count, patience);
}
