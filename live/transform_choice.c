/* The fields of an object that are read at all. */
#include "live/transform.h"

bool transform_field_finds(const struct transform_field *keep, struct text key,
                           const struct transform_field **inside)
{
    *inside = NULL;
    if (keep == NULL || keep->inside == NULL)
        return true;
    for (*inside = keep->inside; (*inside)->key.data != NULL; ++*inside)
        if (text_equal((*inside)->key, key))
            return true;
    *inside = NULL;
    return false;
}

static bool is_among(struct text key, const char *const *keys)
{
    while (*keys != NULL && !text_is(key, *keys))
        keys++;
    return *keys != NULL;
}

/* The fields that object_read reads of every object, besides those of the table. */
static bool is_of_every_object(const struct transform_field *keep, struct text key)
{
    static const char *const of_root[] = {"apiVersion", "kind", NULL};
    static const char *const of_metadata[] = {"name",
                                              "generateName",
                                              "namespace",
                                              "uid",
                                              "ownerReferences",
                                              "creationTimestamp",
                                              "deletionTimestamp",
                                              NULL};
    if (keep->key.size == 0)
        return is_among(key, of_root);
    return text_is(keep->key, "metadata") && is_among(key, of_metadata);
}

static enum doc_want keeps(const void *within, struct text key, const void **inside)
{
    const struct transform_field *keep = within, *found;
    bool wanted = transform_field_finds(keep, key, &found);
    *inside = found != NULL && found->inside != NULL ? found : NULL;
    return wanted || is_of_every_object(keep, key) ? DOC_READ : DOC_SKIP;
}

struct doc_choice transform_choice(enum kind kind)
{
    return (struct doc_choice){.root = &transform_fields[kind], .wants = keeps};
}

/* Markers for the root, and for its metadata. */
static const char whole_root[] = "root", whole_metadata[] = "metadata";

static enum doc_want wants_whole(const void *within, struct text key, const void **inside)
{
    *inside = within == whole_root && text_is(key, "metadata") ? whole_metadata : NULL;
    return within == whole_root || !text_is(key, "managedFields") ? DOC_READ : DOC_SKIP;
}

const struct doc_choice whole_choice = {.root = whole_root, .wants = wants_whole};
