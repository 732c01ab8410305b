/* Quantities and shares. */
#include "kube/quantity.h"

#include <string.h>

/* A quantity is a decimal number with a suffix. It is stored as digits, so that nothing is lost
 * before the one rounding at the end. MOST_DIGITS are read; 1024^6 adds at most 19 to them. */
enum { MOST_DIGITS = 128, DIGIT_ROOM = MOST_DIGITS + 19, MOST_EXPONENT = 1000 };

struct decimal {
    uint8_t digits[DIGIT_ROOM]; /* most significant first */
    size_t count;
    bool more;        /* digits that did not fit were not all 0 */
    int64_t exponent; /* the value is digits * 10^exponent */
    bool negative;
};

struct suffix {
    const char *text;
    unsigned binary_power; /* of 1024 */
    int decimal_exponent;  /* of 10 */
};

static const struct suffix suffixes[] = {
    {"", 0, 0},   {"n", 0, -9}, {"u", 0, -6}, {"m", 0, -3}, {"k", 0, 3},  {"M", 0, 6},
    {"G", 0, 9},  {"T", 0, 12}, {"P", 0, 15}, {"E", 0, 18}, {"Ki", 1, 0}, {"Mi", 2, 0},
    {"Gi", 3, 0}, {"Ti", 4, 0}, {"Pi", 5, 0}, {"Ei", 6, 0},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add_digit(struct decimal *decimal, char c, bool in_fraction)
{
    bool room = decimal->count < MOST_DIGITS;
    if (room && (decimal->count > 0 || c != '0'))
        decimal->digits[decimal->count++] = (uint8_t)(c - '0');
    if (room && in_fraction)
        decimal->exponent--;
    if (!room && !in_fraction)
        decimal->exponent++;
    decimal->more = decimal->more || (!room && c != '0');
}

/* Whether no suffix makes a number of it that fits: the rest, however long, need not be read. */
static bool is_beyond_all(const struct decimal *decimal)
{
    return decimal->exponent / 2 > MOST_EXPONENT;
}

/* Reads the sign and the digits; *rest is what follows. */
static bool read_number(struct text t, struct decimal *decimal, struct text *rest)
{
    size_t i = 0, digits_seen = 0;
    if (t.size == 0)
        return false;
    if (t.data[0] == '-' || t.data[0] == '+')
        decimal->negative = t.data[i++] == '-';
    bool in_fraction = false;
    for (; i < t.size && (is_digit(t.data[i]) || (t.data[i] == '.' && !in_fraction)); i++) {
        if (t.data[i] == '.') {
            in_fraction = true;
            continue;
        }
        digits_seen++;
        add_digit(decimal, t.data[i], in_fraction);
        if (is_beyond_all(decimal))
            i = t.size - 1;
    }
    *rest = (struct text){t.data + i, t.size - i};
    return digits_seen > 0;
}

/* Digits times 1024: each step carries the overflow of a digit to the left. */
static void multiply_by_1024(struct decimal *decimal)
{
    unsigned carry = 0;
    for (size_t i = decimal->count; i-- > 0;) {
        carry += decimal->digits[i] * 1024u;
        decimal->digits[i] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    for (; carry > 0; carry /= 10) {
        memmove(decimal->digits + 1, decimal->digits, decimal->count);
        decimal->digits[0] = (uint8_t)(carry % 10);
        decimal->count++;
    }
}

static bool apply_suffix(struct decimal *decimal, struct text suffix)
{
    for (size_t i = 0; i < COUNT_OF(suffixes); i++) {
        if (!text_is(suffix, suffixes[i].text))
            continue;
        decimal->exponent += suffixes[i].decimal_exponent;
        for (unsigned power = 0; power < suffixes[i].binary_power; power++)
            multiply_by_1024(decimal);
        return true;
    }
    if (suffix.size < 2 || (suffix.data[0] != 'e' && suffix.data[0] != 'E'))
        return false;
    int64_t exponent = 0;
    if (!text_to_int64((struct text){suffix.data + 1, suffix.size - 1}, &exponent))
        return false;
    if (exponent > MOST_EXPONENT || exponent < -MOST_EXPONENT)
        exponent = exponent > 0 ? MOST_EXPONENT : -MOST_EXPONENT;
    decimal->exponent += exponent;
    return true;
}

/* The value as an integer, rounded away from zero; false when it does not fit. */
static bool to_integer(const struct decimal *decimal, int64_t *integer)
{
    int64_t whole_digits = (int64_t)decimal->count + decimal->exponent;
    uint64_t magnitude = 0;
    for (int64_t i = 0; decimal->count > 0 && i < whole_digits; i++) {
        unsigned digit = i < (int64_t)decimal->count ? decimal->digits[i] : 0;
        if (__builtin_mul_overflow(magnitude, 10u, &magnitude) ||
            __builtin_add_overflow(magnitude, digit, &magnitude))
            return false;
    }
    bool fraction = decimal->more;
    for (int64_t i = whole_digits > 0 ? whole_digits : 0; i < (int64_t)decimal->count; i++)
        fraction = fraction || decimal->digits[i] != 0;
    if (__builtin_add_overflow(magnitude, fraction ? 1u : 0u, &magnitude) ||
        magnitude > (uint64_t)INT64_MAX)
        return false;
    *integer = decimal->negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

bool quantity_scaled(struct text t, int places, int64_t *value)
{
    struct decimal decimal = {.count = 0};
    struct text suffix;
    if (!read_number(t, &decimal, &suffix) || !apply_suffix(&decimal, suffix))
        return false;
    decimal.exponent += places;
    return to_integer(&decimal, value);
}

/* Thousandths in a unit; 0: it is none, or a rare one. */
static int64_t milli_of_unit(struct text unit)
{
    static const int64_t milli = 1000;
    if (unit.size == 0)
        return milli;
    if (unit.size == 2 && unit.data[1] == 'i')
        switch (unit.data[0]) {
        case 'K':
            return milli << 10;
        case 'M':
            return milli << 20;
        case 'G':
            return milli << 30;
        case 'T':
            return milli << 40;
        default:
            return 0;
        }
    switch (unit.size == 1 ? unit.data[0] : '\0') {
    case 'm':
        return 1;
    case 'k':
        return milli * 1000;
    case 'M':
        return milli * 1000000;
    case 'G':
        return milli * 1000000000;
    default:
        return 0;
    }
}

/* What nearly all quantities are: a few digits and a usual unit. False for any other. */
static bool read_usual(struct text t, int64_t *milli)
{
    enum { FEW_DIGITS = 15 };
    int64_t number = 0;
    size_t count = 0;
    for (; count < t.size && count < FEW_DIGITS && is_digit(t.data[count]); count++)
        number = 10 * number + (t.data[count] - '0');
    if (count == 0)
        return false;
    int64_t product = 0;
    int64_t unit = milli_of_unit((struct text){t.data + count, t.size - count});
    if (unit == 0 || __builtin_mul_overflow(number, unit, &product))
        return false;
    *milli = product;
    return true;
}

bool quantity_milli(struct text t, int64_t *milli)
{
    return read_usual(t, milli) || quantity_scaled(t, 3, milli);
}

bool quantity_is_vast(struct text t)
{
    struct decimal decimal = {.count = 0};
    struct text suffix;
    int64_t milli = 0;
    if (!read_number(t, &decimal, &suffix) || !apply_suffix(&decimal, suffix))
        return false;
    decimal.exponent += 3;
    return !decimal.negative && !to_integer(&decimal, &milli);
}

/* Divides *value by radix while it divides evenly; returns how many times: at most 6, since no
 * int64_t has a factor of 1000^7 or 1024^7 but 0, which has none. */
static unsigned take_factors(int64_t *value, int64_t radix)
{
    unsigned taken = 0;
    for (; *value != 0 && *value % radix == 0; taken++)
        *value /= radix;
    return taken;
}

struct text quantity_canonical(struct text t, struct arena *arena)
{
    static const char *const decimal[] = {"m", "", "k", "M", "G", "T", "P", "E"};
    static const char *const binary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    int64_t value = 0;
    if (!quantity_milli(t, &value))
        return t;
    if (text_ends_with(t, TEXT("i")) && value % 1000 == 0) {
        value /= 1000;
        unsigned power = take_factors(&value, 1024);
        return arena_printf(arena, "%lld%s", (long long)value, binary[power]);
    }
    unsigned power = value == 0 ? 1 : take_factors(&value, 1000);
    bool has_exponent = t.size > 1 && (memchr(t.data, 'e', t.size) != NULL ||
                                       memchr(t.data, 'E', t.size - 1) != NULL);
    if (has_exponent && power != 1)
        return arena_printf(arena, "%llde%d", (long long)value, 3 * (int)power - 3);
    return arena_printf(arena, "%lld%s", (long long)value, decimal[power]);
}

bool share_parse(struct text t, struct share *share)
{
    enum { ALL_PERCENT = 100 };
    struct text number = t;
    share->percent = text_ends_with(t, TEXT("%"));
    if (share->percent)
        number.size--;
    if (number.size == 0 || number.data[0] < '0' || number.data[0] > '9' ||
        !text_to_int64(number, &share->amount))
        return false;
    return !share->percent || share->amount <= ALL_PERCENT;
}

int64_t share_amount(struct share share, int64_t all)
{
    enum { PERCENT = 100 };
    if (!share.percent)
        return share.amount;
    /* In two parts, of which none overflows. */
    return all / PERCENT * share.amount + (all % PERCENT * share.amount + PERCENT - 1) / PERCENT;
}
