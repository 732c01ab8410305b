/* Clusters as YAML text. */
#ifndef TAFFRAIL_TESTS_CLUSTER_FIXTURE_H
#define TAFFRAIL_TESTS_CLUSTER_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "kube/snapshot.h"
#include "transform_fixture.h"
#include "unit.h"

struct snapshot;

struct fixture {
    struct arena *arena;
    struct snapshot_builder *builder;
    struct source *source;
    struct problems problems;
};

static void fixture_take(void *context, const struct node *root)
{
    struct fixture *fixture = context;
    struct object object;
    struct error error = {0};
    if (node_is(root, NODE_NULL))
        return;
    if (!object_read(root, fixture->source, TEXT("shop"), fixture->arena, &object, &error) ||
        object.kind == KIND_UNKNOWN) {
        fprintf(stderr, "the test's cluster: %s\n", error.what);
        CU_FAIL_FATAL("an object of the cluster is none");
    }
    snapshot_put(fixture->builder, kept_or_whole(&object));
}

/* Documents without a namespace are in "shop". */
static const struct snapshot *fixture_snapshot(struct fixture *fixture,
                                               const char *const *documents, size_t count)
{
    fixture->builder = snapshot_builder_create(fixture->arena);
    fixture->problems = (struct problems){.arena = fixture->arena};
    for (size_t i = 0; i < count; i++) {
        fixture->source = ARENA_NEW(fixture->arena, struct source);
        fixture->source->text = text_of(documents[i]);
        struct problems unread = {.arena = fixture->arena};
        doc_read_yaml(fixture->source, YAML_MANIFEST, &doc_limits_manifest, fixture->arena, &unread,
                      fixture_take, fixture);
        if (unread.count > 0) {
            fprintf(stderr, "%s\n%s\n", documents[i], unread.items[0].what);
            CU_FAIL_FATAL("a document of the cluster does not parse");
        }
    }
    return snapshot_build(fixture->builder);
}

#endif
