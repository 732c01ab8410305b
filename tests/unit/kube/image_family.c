/* Families of machine images by alias (docs/reference/karpenter.md 5.4, 6.9). */
#include "kube/image_family.h"

#include "unit.h"

static void aliases_stand_for_families(void)
{
    static const struct {
        const char *alias, *family;
    } rows[] = {
        {"al2@latest", "AL2"},
        {"al2023@latest", "AL2023"},
        {"al2023@v20260901", "AL2023"},
        {"bottlerocket@v1.20.0", "Bottlerocket"},
        {"windows2019@latest", "Windows2019"},
        {"windows2022@latest", "Windows2022"},
        {"windows2025@latest", "Windows2025"},
        {"al2023", ""},
        {"al20@latest", ""},
        {"AL2023@latest", ""},
        {"ubuntu@latest", ""},
        {"@latest", ""},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        ASSERT_TEXT(image_family_of_alias(text_of(rows[i].alias)), rows[i].family);
}

static void aliases_agree_on_images(void)
{
    static const struct {
        const char *a, *b;
        bool agree;
    } rows[] = {
        {"bottlerocket@1.20.4", "bottlerocket@v1.20.4", true},
        {"bottlerocket@vv1.20.4", "bottlerocket@v1.20.4", true},
        {"bottlerocket@1.20.4", "bottlerocket@1.20.4", true},
        {"bottlerocket@1.20.4", "bottlerocket@v1.20.5", false},
        {"bottlerocket@latest", "bottlerocket@v1.20.4", false},
        {"al2023@v20260901", "al2023@v20260901", true},
        {"al2023@20260901", "al2023@v20260901", false},
        {"al2023@20260901", "bottlerocket@20260901", false},
        {"bottlerocket@20260901", "al2023@20260901", false},
        {"bottlerocket", "bottlerocket@v1.20.4", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        CU_ASSERT_EQUAL(image_aliases_agree(text_of(rows[i].a), text_of(rows[i].b)), rows[i].agree);
}

const char unit_suite[] = "kube image families";
const struct unit_test unit_tests[] = {
    {"aliases stand for families", aliases_stand_for_families},
    {"aliases agree on images", aliases_agree_on_images},
    {NULL, NULL},
};
