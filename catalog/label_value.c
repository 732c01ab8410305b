/* Values of well-known labels: the value that was meant. */
#include "catalog/catalog.h"
#include "catalog/label.h"
#include "kube/label.h"
#include "kube/placeholder.h"
#include "solver/well_known.h"

#define SIZE "karpenter.k8s.aws/instance-size"
#define FAMILY "karpenter.k8s.aws/instance-family"

/* For these labels every value is known, for nodes anywhere. */
static const struct {
    const char *key;
    struct text values[3];
    size_t count;
} closed[] = {
    {LABEL_ARCH, {TEXT("amd64"), TEXT("arm64")}, 2},
    {LABEL_OS, {TEXT("linux"), TEXT("windows")}, 2},
    {LABEL_CAPACITY_TYPE, {TEXT("on-demand"), TEXT("spot"), TEXT("reserved")}, 3},
    {"karpenter.k8s.aws/instance-tenancy", {TEXT("default"), TEXT("dedicated")}, 2},
};

/* Words that people write for a value and that edits do not reach. */
static const struct {
    const char *key, *written;
    struct text meant;
} other_words[] = {
    {LABEL_ARCH, "x86_64", TEXT("amd64")},
    {LABEL_ARCH, "x86-64", TEXT("amd64")},
    {LABEL_ARCH, "x86", TEXT("amd64")},
    {LABEL_ARCH, "x64", TEXT("amd64")},
    {LABEL_ARCH, "aarch64", TEXT("arm64")},
    {LABEL_ARCH, "arm", TEXT("arm64")},
    {LABEL_CAPACITY_TYPE, "on_demand", TEXT("on-demand")},
    {"karpenter.k8s.aws/instance-cpu-manufacturer", "graviton", TEXT("aws")},
};

size_t label_values_all(struct text key, const struct text **values)
{
    for (size_t i = 0; i < COUNT_OF(closed); i++)
        if (text_is(key, closed[i].key)) {
            *values = closed[i].values;
            return closed[i].count;
        }
    return 0;
}

struct values {
    const struct text *items;
    size_t count;
};

static struct values known_values(const struct catalog *catalog, struct text key,
                                  struct arena *arena)
{
    const struct solver_names *names = catalog_names(catalog);
    uint32_t number = solver_names_find_key(names, key.data, key.size);
    struct values values = {0};
    values.count = label_values_all(key, &values.items);
    if (values.count > 0 || number == SOLVER_NONE)
        return values;
    values.count = solver_names_value_count(names, number);
    struct text *items = ARENA_ARRAY(arena, values.count, struct text);
    for (uint32_t i = 0; i < values.count; i++)
        items[i].data = solver_names_value_text(names, number, i, &items[i].size);
    values.items = items;
    return values;
}

static struct text in_lower_case(struct text t, struct arena *arena)
{
    char *lower = ARENA_ARRAY(arena, t.size, char);
    for (size_t i = 0; i < t.size; i++)
        lower[i] = t.data[i] >= 'A' && t.data[i] <= 'Z' ? (char)(t.data[i] - 'A' + 'a') : t.data[i];
    return (struct text){lower, t.size};
}

static bool are_numbers(const struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        if (!text_is_digits(values->items[i]))
            return false;
    return true;
}

/* Empty when it is none of them. */
static struct text among(const struct values *values, struct text value)
{
    for (size_t i = 0; i < values->count; i++)
        if (text_equal(values->items[i], value))
            return values->items[i];
    return TEXT("");
}

/* "2xl" for 2xlarge; "trn1-32xl" for trn1.32xlarge. */
static struct text spelt_out(struct text key, struct text value, struct arena *arena)
{
    struct text family = TEXT("");
    struct text size = value;
    bool is_type = text_is(key, LABEL_INSTANCE_TYPE);
    if (!is_type && !text_is(key, SIZE))
        return value;
    if (is_type && !text_split(value, '.', &family, &size) &&
        !text_split(value, '-', &family, &size))
        return value;
    return arena_printf(arena, "%.*s%s%.*s%s", TEXT_ARGS(family), is_type ? "." : "",
                        TEXT_ARGS(size), text_ends_with(size, TEXT("xl")) ? "arge" : "");
}

/* Names of machines begin with the letter of their category: p4 is p4d, and not c4. The shortest
 * that begins with the value, else the nearest by edits. */
static struct text machine_meant(const struct values *values, struct text wanted, size_t most,
                                 struct arena *arena)
{
    struct text *same = ARENA_ARRAY(arena, values->count, struct text);
    struct text longer = TEXT("");
    size_t count = 0;
    for (size_t i = 0; i < values->count && wanted.size > 1; i++) {
        struct text value = values->items[i];
        if (value.size == 0 || value.data[0] != wanted.data[0])
            continue;
        same[count++] = value;
        if (text_starts_with(value, wanted) && (longer.size == 0 || value.size < longer.size))
            longer = value;
    }
    size_t nearest = longer.size > 0 ? count : text_nearest(wanted, same, count, most);
    return nearest < count ? same[nearest] : longer;
}

static struct text value_meant(const struct catalog *catalog, struct text key, struct text value,
                               struct arena *arena)
{
    enum { SHORT = 6, MOST_EDITS = 5 };
    struct values values = known_values(catalog, key, arena);
    struct text wanted = in_lower_case(value, arena);
    for (size_t i = 0; i < COUNT_OF(other_words); i++)
        if (text_is(key, other_words[i].key) && text_is(wanted, other_words[i].written))
            return other_words[i].meant;
    /* Edit distance says nothing about numbers. */
    if (values.count == 0 || are_numbers(&values))
        return among(&values, (struct text){value.data, text_leading_digits(value)});
    if (text_starts_with(wanted, TEXT("ml."))) /* as SageMaker names types */
        wanted = (struct text){wanted.data + 3, wanted.size - 3};
    struct text same = among(&values, wanted);
    if (same.size == 0)
        same = among(&values, spelt_out(key, wanted, arena));
    if (same.size > 0)
        return same;
    /* One digit too many at the end is likelier than a wrong one within: "m51" is m5. */
    if (wanted.size > 2 && text_leading_digits((struct text){wanted.data + wanted.size - 1, 1}) > 0)
        same = among(&values, (struct text){wanted.data, wanted.size - 1});
    if (same.size > 0)
        return same;
    /* Short values are near each other even when another one was meant. */
    size_t most = wanted.size > SHORT ? MOST_EDITS : wanted.size / 2;
    if (TEXT_IS_ONE_OF(key, LABEL_INSTANCE_TYPE, FAMILY))
        return machine_meant(&values, wanted, most, arena);
    size_t nearest = text_nearest(wanted, values.items, values.count, most);
    return nearest < values.count ? values.items[nearest] : TEXT("");
}

/* The list of all types is not returned: the result points into the catalogue. */
struct text label_value_meant(const struct catalog *catalog, struct text key, struct text value,
                              struct arena *arena)
{
    struct arena_mark mark = arena_mark(arena);
    struct text meant = value_meant(catalog, key, value, arena);
    arena_rewind(arena, mark);
    return meant;
}

/* ---- values that are none ---- */

bool label_value_is_architecture(struct text value)
{
    return TEXT_IS_ONE_OF(value, "386", "arm", "loong64", "mips64le", "ppc64le", "riscv64",
                          "s390x");
}

/* SPOT and ON_DEMAND are values, written otherwise. */
static bool is_value_in_capitals(const struct catalog *catalog, struct text key, struct text value)
{
    char lower[LABEL_VALUE_BYTES];
    for (size_t i = 0; i < value.size; i++)
        lower[i] = value.data[i] == '_' ? '-' : (char)(value.data[i] - 'A' + 'a');
    struct text wanted = {lower, value.size};
    const struct text *all = NULL;
    size_t count = label_values_all(key, &all);
    return texts_have(all, count, wanted) || catalog_has_value(catalog, key, wanted);
}

bool label_value_is_template(const struct catalog *catalog, struct text key, struct text value)
{
    if (!label_value_is_valid(value))
        return true;
    return text_is_capitals(value) && solver_is_well_known(key.data, key.size) &&
           !is_value_in_capitals(catalog, key, value);
}
