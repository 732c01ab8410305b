/* Scalars as kubectl reads them: sigs.k8s.io/yaml over go-yaml v2. tests/contract/yaml compares. */
#include "base/yaml_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    enum scalar_type type;
    const char *meaning;
} words[] = {
    {"", SCALAR_NULL, ""},           {"~", SCALAR_NULL, ""},
    {"null", SCALAR_NULL, ""},       {"Null", SCALAR_NULL, ""},
    {"NULL", SCALAR_NULL, ""},       {"true", SCALAR_BOOL, "true"},
    {"True", SCALAR_BOOL, "true"},   {"TRUE", SCALAR_BOOL, "true"},
    {"y", SCALAR_BOOL, "true"},      {"Y", SCALAR_BOOL, "true"},
    {"yes", SCALAR_BOOL, "true"},    {"Yes", SCALAR_BOOL, "true"},
    {"YES", SCALAR_BOOL, "true"},    {"on", SCALAR_BOOL, "true"},
    {"On", SCALAR_BOOL, "true"},     {"ON", SCALAR_BOOL, "true"},
    {"false", SCALAR_BOOL, "false"}, {"False", SCALAR_BOOL, "false"},
    {"FALSE", SCALAR_BOOL, "false"}, {"n", SCALAR_BOOL, "false"},
    {"N", SCALAR_BOOL, "false"},     {"no", SCALAR_BOOL, "false"},
    {"No", SCALAR_BOOL, "false"},    {"NO", SCALAR_BOOL, "false"},
    {"off", SCALAR_BOOL, "false"},   {"Off", SCALAR_BOOL, "false"},
    {"OFF", SCALAR_BOOL, "false"},   {".nan", SCALAR_FLOAT, "nan"},
    {".NaN", SCALAR_FLOAT, "nan"},   {".NAN", SCALAR_FLOAT, "nan"},
    {".inf", SCALAR_FLOAT, "inf"},   {".Inf", SCALAR_FLOAT, "inf"},
    {".INF", SCALAR_FLOAT, "inf"},   {"+.inf", SCALAR_FLOAT, "inf"},
    {"+.Inf", SCALAR_FLOAT, "inf"},  {"+.INF", SCALAR_FLOAT, "inf"},
    {"-.inf", SCALAR_FLOAT, "-inf"}, {"-.Inf", SCALAR_FLOAT, "-inf"},
    {"-.INF", SCALAR_FLOAT, "-inf"},
};

/* The text if it already has that form, else a copy of what is printed. */
static struct text keep_or_copy(struct arena *arena, struct text value, const char *printed)
{
    return text_is(value, printed) ? value : arena_text(arena, text_of(printed));
}

/* ---- floats ---- */

/* The fewest digits that read back as the same number; the last of them is no 0, since one less
 * would do then. */
struct digits {
    bool negative;
    int count, exponent; /* d.ddd times ten to the exponent */
    char digit[24];
};

static struct digits shortest_digits(double number, bool single)
{
    char printed[40];
    int precision = 0;
    do
        snprintf(printed, sizeof printed, "%.*e", precision, number);
    while (++precision < 17 &&
           (single ? strtof(printed, NULL) != (float)number : strtod(printed, NULL) != number));
    struct digits digits = {.negative = printed[0] == '-'};
    const char *at = printed + digits.negative;
    for (; *at != 'e'; at++)
        if (*at != '.')
            digits.digit[digits.count++] = *at;
    digits.exponent = (int)strtol(at + 1, NULL, 10);
    return digits;
}

enum { FLOAT_TEXT_BYTES = 400 };

static void write_scientific(const struct digits *digits, int least_exponent_digits, char *out)
{
    bool fraction = digits->count > 1;
    snprintf(out, FLOAT_TEXT_BYTES, "%s%c%s%.*se%c%0*d", digits->negative ? "-" : "",
             digits->digit[0], fraction ? "." : "", digits->count - 1, digits->digit + 1,
             digits->exponent < 0 ? '-' : '+', least_exponent_digits, abs(digits->exponent));
}

static void write_plain(const struct digits *digits, char *out)
{
    if (digits->negative)
        *out++ = '-';
    int point = digits->exponent + 1; /* digits before the point */
    if (point <= 0)
        *out++ = '0';
    for (int i = point < 0 ? point : 0; i < digits->count || i < point; i++) {
        if (i == (point < 0 ? point : 0) && point <= 0)
            *out++ = '.';
        else if (i == point)
            *out++ = '.';
        *out++ = i < 0 || i >= digits->count ? '0' : digits->digit[i];
    }
    *out = '\0';
}

static void write_word(const char *word, char *out)
{
    memcpy(out, word, strlen(word) + 1);
}

/* As JSON writes a number. */
static void write_json(double number, char *out)
{
    struct digits digits = shortest_digits(number, false);
    if (number == 0)
        write_word(signbit(number) ? "-0" : "0", out);
    else if (fabs(number) < 1e-6 || fabs(number) >= 1e21)
        write_scientific(&digits, 1, out);
    else
        write_plain(&digits, out);
}

/* As go-yaml writes a key: single precision. */
static void write_key(double number, char *out)
{
    float single = (float)number;
    if (isnan(single) || isinf(single)) {
        write_word(isnan(single) ? ".nan" : single > 0 ? ".inf" : "-.inf", out);
        return;
    }
    struct digits digits = shortest_digits((double)single, true);
    if (single == 0)
        write_word(signbit(single) ? "-0" : "0", out);
    else if (digits.exponent < -4 || digits.exponent >= 6)
        write_scientific(&digits, 2, out);
    else
        write_plain(&digits, out);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool looks_like_float(const char *at)
{
    at += *at == '-' || *at == '+';
    const char *whole = skip_digits(at);
    const char *end = whole;
    if (*whole == '.') {
        end = skip_digits(whole + 1);
        if (whole == at && end == whole + 1)
            return false;
    } else if (whole == at) {
        return false;
    }
    if (*end == 'e' || *end == 'E') {
        end += end[1] == '-' || end[1] == '+' ? 2 : 1;
        if (!is_digit(*end))
            return false;
        end = skip_digits(end);
    }
    return *end == '\0';
}

static bool read_float(struct arena *arena, struct text value, const char *plain,
                       struct scalar *scalar)
{
    if (!looks_like_float(plain))
        return false;
    double number = strtod(plain, NULL);
    if (isinf(number))
        return false; /* too large: go-yaml keeps the string */
    char printed[FLOAT_TEXT_BYTES];
    write_json(number, printed);
    *scalar = (struct scalar){SCALAR_FLOAT, keep_or_copy(arena, value, printed), number};
    return true;
}

/* ---- integers ---- */

static bool read_magnitude(const char *digits, unsigned base, uint64_t *magnitude)
{
    if (*digits == '\0')
        return false;
    uint64_t sum = 0;
    for (; *digits != '\0'; digits++) {
        char lower = (char)(*digits | 0x20);
        unsigned digit = is_digit(*digits)              ? (unsigned)(*digits - '0')
                         : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a' + 10)
                                                        : base;
        if (digit >= base || __builtin_mul_overflow(sum, base, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *magnitude = sum;
    return true;
}

static bool read_integer(struct arena *arena, struct text value, const char *plain,
                         struct scalar *scalar)
{
    bool sign = *plain == '-' || *plain == '+', negative = *plain == '-';
    const char *digits = plain + sign;
    unsigned base = 10;
    if (digits[0] == '0' && digits[1] != '\0') {
        char letter = (char)(digits[1] | 0x20);
        base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
        digits += letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1;
        /* go-yaml's second pass over "0b" accepts a sign after it. */
        if (!sign && digits[-1] == 'b' && (*digits == '-' || *digits == '+')) {
            sign = true;
            negative = *digits++ == '-';
        }
    }
    uint64_t magnitude;
    if (!read_magnitude(digits, base, &magnitude))
        return false;
    const uint64_t least = (uint64_t)INT64_MAX + 1;
    if (magnitude > (negative ? least : (uint64_t)INT64_MAX) && sign)
        return false;
    char printed[32];
    snprintf(printed, sizeof printed, "%s%llu", negative && magnitude != 0 ? "-" : "",
             (unsigned long long)magnitude);
    scalar->type =
        magnitude > least || (magnitude == least && !negative) ? SCALAR_UNSIGNED : SCALAR_INTEGER;
    scalar->text = keep_or_copy(arena, value, printed);
    return true;
}

/* ---- all of them ---- */

static bool read_word(struct text value, struct scalar *scalar)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (!text_is(value, words[i].word))
            continue;
        scalar->type = words[i].type;
        scalar->text = text_of(words[i].meaning);
        if (scalar->type == SCALAR_FLOAT)
            scalar->number = strtod(words[i].meaning, NULL);
        return true;
    }
    return false;
}

enum { NUMBER_TEXT_BYTES = 512 }; /* of a number somebody would write */

static bool read_number(struct arena *arena, struct text value, struct scalar *scalar)
{
    /* In a number that starts with a point, underscores are only between digits. */
    bool leading_point = value.data[0] == '.';
    char plain[NUMBER_TEXT_BYTES];
    size_t size = 0;
    if (value.size >= sizeof plain)
        return false;
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] == '\0')
            return false;
        if (value.data[i] != '_')
            plain[size++] = value.data[i];
        else if (leading_point && (!is_digit(value.data[i - 1]) || i + 1 == value.size ||
                                   !is_digit(value.data[i + 1])))
            return false;
    }
    plain[size] = '\0';
    if (!leading_point && read_integer(arena, value, plain, scalar))
        return true;
    return read_float(arena, value, plain, scalar);
}

static struct scalar resolve(struct arena *arena, struct text value)
{
    struct scalar scalar = {SCALAR_STRING, value, 0};
    if (value.size != 0 && strchr("+-0123456789yYnNtTfFoO~.", value.data[0]) == NULL)
        return scalar;
    if (read_word(value, &scalar))
        return scalar;
    if (strchr("+-0123456789.", value.data[0]) != NULL && read_number(arena, value, &scalar))
        return scalar;
    return (struct scalar){SCALAR_STRING, value, 0};
}

/* ---- tags ---- */

/* A JSON string is UTF-8: a byte that is not becomes U+FFFD. */
static struct text make_utf8(struct arena *arena, struct text bytes)
{
    struct text_builder builder = {.arena = arena};
    const char *end = bytes.data + bytes.size;
    for (const char *at = bytes.data; at < end;) {
        size_t length = (unsigned char)*at < 0x80 ? 1 : utf8_length(at, end);
        text_builder_add(&builder, length == 0 ? TEXT("\xEF\xBF\xBD") : (struct text){at, length});
        at += length == 0 ? 1 : length;
    }
    return text_builder_text(&builder);
}

/* YYYY-M-D, alone or with a time behind it. A timestamp stays a string. */
static bool is_timestamp(struct text value)
{
    size_t at = 0;
    for (int part = 0; part < 3; part++) {
        size_t digits = text_leading_digits((struct text){value.data + at, value.size - at});
        at += digits;
        if (part == 0 ? digits != 4 : digits < 1 || digits > 2)
            return false;
        if (part < 2 && (at == value.size || value.data[at++] != '-'))
            return false;
    }
    return at == value.size || strchr("Tt ", value.data[at]) != NULL;
}

static const struct {
    const char *tag;
    enum scalar_type type;
    const char *problem;
} tags[] = {
    {"null", SCALAR_NULL, "not null, as its tag !!null demands"},
    {"bool", SCALAR_BOOL, "not a boolean, as its tag !!bool demands"},
    {"int", SCALAR_INTEGER, "not an integer, as its tag !!int demands"},
    {"float", SCALAR_FLOAT, "not a number, as its tag !!float demands"},
};

static bool resolve_tagged(struct arena *arena, struct text value, size_t tag,
                           struct scalar *scalar, const char **problem)
{
    *scalar = resolve(arena, value);
    if (scalar->type == tags[tag].type)
        return true;
    if (tags[tag].type == SCALAR_INTEGER && scalar->type == SCALAR_UNSIGNED)
        return true;
    if (tags[tag].type == SCALAR_FLOAT && scalar->type == SCALAR_INTEGER) {
        char printed[FLOAT_TEXT_BYTES], digits[32];
        snprintf(digits, sizeof digits, "%.*s", TEXT_ARGS(scalar->text));
        scalar->number = strtod(digits, NULL);
        write_json(scalar->number, printed);
        scalar->text = keep_or_copy(arena, value, printed);
        scalar->type = SCALAR_FLOAT;
        return true;
    }
    *problem = tags[tag].problem;
    return false;
}

bool scalar_resolve(struct arena *arena, struct text value, struct text tag, bool plain,
                    struct scalar *scalar, const char **problem)
{
    *scalar = (struct scalar){SCALAR_STRING, value, 0};
    if (tag.size == 0) {
        if (plain)
            *scalar = resolve(arena, value);
        return true;
    }
    struct text prefix = TEXT("tag:yaml.org,2002:");
    if (!text_starts_with(tag, prefix))
        return true;
    struct text name = {tag.data + prefix.size, tag.size - prefix.size};
    for (size_t i = 0; i < COUNT_OF(tags); i++)
        if (text_is(name, tags[i].tag))
            return resolve_tagged(arena, value, i, scalar, problem);
    if (text_is(name, "timestamp") && !is_timestamp(value)) {
        *problem = "not a date, as its tag !!timestamp demands";
        return false;
    }
    if (!text_is(name, "binary"))
        return true;
    if (!text_from_base64(value, arena, &scalar->text)) {
        *problem = "not base64, as its tag !!binary demands";
        return false;
    }
    scalar->text = make_utf8(arena, scalar->text);
    return true;
}

bool scalar_key(struct arena *arena, const struct scalar *scalar, struct text *key)
{
    *key = scalar->text;
    if (scalar->type == SCALAR_FLOAT) {
        char printed[FLOAT_TEXT_BYTES];
        write_key(scalar->number, printed);
        *key = keep_or_copy(arena, scalar->text, printed);
    }
    return scalar->type != SCALAR_NULL && scalar->type != SCALAR_UNSIGNED;
}
