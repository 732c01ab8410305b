/* Which machine images an alias stands for. */
#include "kube/image_family.h"

struct text image_family_of_alias(struct text alias)
{
    static const char *const families[][2] = {
        {"al2", "AL2"},
        {"al2023", "AL2023"},
        {"bottlerocket", "Bottlerocket"},
        {"windows2019", "Windows2019"},
        {"windows2022", "Windows2022"},
        {"windows2025", "Windows2025"},
    };
    struct text name;
    if (!text_split(alias, '@', &name, NULL))
        return TEXT("");
    for (size_t i = 0; i < COUNT_OF(families); i++)
        if (text_is(name, families[i][0]))
            return text_of(families[i][1]);
    return TEXT("");
}

/* As strings.TrimLeft() of Go, which takes off every v. */
static bool read_bottlerocket(struct text alias, struct text *version)
{
    struct text family;
    if (!text_split(alias, '@', &family, version) || !text_is(family, "bottlerocket"))
        return false;
    while (text_starts_with(*version, TEXT("v")))
        *version = (struct text){version->data + 1, version->size - 1};
    return true;
}

bool image_aliases_agree(struct text a, struct text b)
{
    struct text a_version, b_version;
    return text_equal(a, b) ||
           (read_bottlerocket(a, &a_version) && read_bottlerocket(b, &b_version) &&
            text_equal(a_version, b_version));
}
