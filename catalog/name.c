/* Parses the names of EC2 instance types. */
#include <string.h>

#include "catalog/build.h"
#include "catalog/catalog.h"

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* The size of "-6tb", which may be between the letters and the generation of a high memory family.
 * 0: none. */
static size_t memory_part_size(struct text t)
{
    if (t.size == 0 || t.data[0] != '-')
        return 0;
    size_t i = 1 + text_leading_digits((struct text){t.data + 1, t.size - 1});
    return i > 1 && i + 2 <= t.size && memcmp(t.data + i, "tb", 2) == 0 ? i + 2 : 0;
}

static bool read_generation(struct text t, uint32_t *generation)
{
    uint32_t number = 0;
    size_t digits = text_leading_digits(t);
    for (size_t i = 0; i < digits; i++)
        if (__builtin_mul_overflow(number, 10u, &number) ||
            __builtin_add_overflow(number, (uint32_t)(t.data[i] - '0'), &number))
            return false;
    *generation = number;
    return digits > 0;
}

bool catalog_name_split(struct text name, struct text *family, struct text *size)
{
    struct text before, after;
    if (!text_split(name, '.', &before, &after) || before.size == 0 || after.size == 0 ||
        memchr(after.data, '.', after.size) != NULL)
        return false;
    *family = before;
    *size = after;
    return true;
}

/* Karpenter's AWS provider reads names by (^[a-z]+)(\-[0-9]+tb)?([0-9]+).*\. and by the one dot. */
bool instance_family_parse(struct text family, struct text *category, uint32_t *generation)
{
    size_t letters = 0;
    while (letters < family.size && is_lower(family.data[letters]))
        letters++;
    struct text rest = {family.data + letters, family.size - letters};
    size_t memory = memory_part_size(rest);
    rest = (struct text){rest.data + memory, rest.size - memory};
    uint32_t number = 0;
    if (letters == 0 || !read_generation(rest, &number) ||
        memchr(family.data, '.', family.size) != NULL)
        return false;
    *category = (struct text){family.data, letters};
    *generation = number;
    return true;
}

bool instance_name_parse(struct text name, struct text *family, struct text *size,
                         struct text *category, uint32_t *generation)
{
    struct text family_part, size_part;
    if (!catalog_name_split(name, &family_part, &size_part) ||
        !instance_family_parse(family_part, category, generation))
        return false;
    *family = family_part;
    *size = size_part;
    return true;
}
