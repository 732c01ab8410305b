/* One object as YAML text. */
#ifndef TAFFRAIL_TESTS_OBJECT_FIXTURE_H
#define TAFFRAIL_TESTS_OBJECT_FIXTURE_H

#include <stdio.h>

#include "kube/object.h"
#include "unit.h"

static void fixture_take_root(void *context, const struct node *root)
{
    *(const struct node **)context = root;
}

/* NULL of NULL. A namespaced one that names no namespace is in this one. */
static const struct object *fixture_object(struct arena *arena, const char *yaml,
                                           const char *namespace)
{
    if (yaml == NULL)
        return NULL;
    struct source *source = ARENA_NEW(arena, struct source);
    struct problems problems = {.arena = arena};
    const struct node *root = NULL;
    source->text = text_of(yaml);
    doc_read_yaml(source, YAML_MANIFEST, &doc_limits_manifest, arena, &problems, fixture_take_root,
                  &root);
    struct object *object = ARENA_NEW(arena, struct object);
    struct error error = {0};
    if (!object_read(root, source, text_of(namespace), arena, object, &error)) {
        fprintf(stderr, "%s\n%s\n", yaml, error.what);
        CU_FAIL_FATAL("the test's object is none");
    }
    return object;
}

#endif
