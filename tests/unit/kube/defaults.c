/* What the API server fills in: the class of a claim that names none, and what LimitRanges give. */
#include "kube/defaults.h"
#include "cluster_fixture.h"
#include "kube/limit_range.h"

enum { BUDGET_BYTES = 1 << 20 };

#define CLASS(name, created, annotations)                                                        \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: p, metadata: {name: " name \
    ", creationTimestamp: '" created "T00:00:00Z', annotations: {" annotations "}}}\n---\n"
#define DEFAULT "storageclass.kubernetes.io/is-default-class: 'true'"

static void the_newest_default_class_is_taken(void)
{
    static const struct {
        const char *cluster, *class; /* NULL: none */
    } cases[] = {
        {CLASS("a", "2026-01-01", ""), NULL},
        {CLASS("a", "2026-01-01", "storageclass.kubernetes.io/is-default-class: 'false'"), NULL},
        {CLASS("a", "2026-01-01", "") CLASS("b", "2026-01-01", DEFAULT), "b"},
        {CLASS("a", "2026-01-01", "storageclass.beta.kubernetes.io/is-default-class: 'true'"), "a"},
        {CLASS("a", "2026-01-01", DEFAULT) CLASS("b", "2026-01-02", DEFAULT), "b"},
        {CLASS("a", "2026-01-02", DEFAULT) CLASS("b", "2026-01-01", DEFAULT), "a"},
        /* of the same age the first by name */
        {CLASS("b", "2026-01-01", DEFAULT) CLASS("a", "2026-01-01", DEFAULT), "a"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct object *class =
            default_storage_class(fixture_snapshot(&fixture, &cases[i].cluster, 1));
        struct text name = class == NULL ? TEXT("none") : class->name;
        ASSERT_TEXT(name, cases[i].class == NULL ? "none" : cases[i].class);
        arena_destroy(fixture.arena);
    }
}

#define RANGE(namespace, name, items)                           \
    "{apiVersion: v1, kind: LimitRange, metadata: {name: " name \
    ", namespace: " namespace "}, spec: {limits: [" items "]}}\n---\n"
#define CONTAINER(rest) "{type: Container, " rest "}"

/* "2 by a, 4 by b": the request and the limit that a container without any gets. */
static struct text given(const struct limit_default *given, struct arena *arena)
{
    if (given == NULL)
        return TEXT("nothing");
    struct text all = TEXT("none");
    if (given->request != NULL)
        all = arena_printf(arena, "%.*s by %.*s", TEXT_ARGS(node_text(given->request)),
                           TEXT_ARGS(given->request_by->name));
    if (given->limit == NULL)
        return arena_printf(arena, "%.*s, none", TEXT_ARGS(all));
    return arena_printf(arena, "%.*s, %.*s by %.*s", TEXT_ARGS(all),
                        TEXT_ARGS(node_text(given->limit)), TEXT_ARGS(given->limit_by->name));
}

/* Kubernetes' defaulting of LimitRanges: a missing default is the max, a missing defaultRequest the
 * default, then the min. The LimitRanges of the namespace take effect in order of name. */
static void limit_ranges_give_requests_and_limits(void)
{
    static const struct {
        const char *cluster, *cpu;
    } cases[] = {
        {RANGE("shop", "a", CONTAINER("defaultRequest: {cpu: 1}, default: {cpu: 2}")),
         "1 by a, 2 by a"},
        {RANGE("shop", "a", CONTAINER("default: {cpu: 2}, max: {cpu: 3}")), "2 by a, 2 by a"},
        {RANGE("shop", "a", CONTAINER("max: {cpu: 3}, min: {cpu: 1}")), "3 by a, 3 by a"},
        {RANGE("shop", "a", CONTAINER("min: {cpu: 1}")), "1 by a, none"},
        {RANGE("shop", "a", CONTAINER("defaultRequest: {cpu: 1}, max: {cpu: 3}")),
         "1 by a, 3 by a"},
        {RANGE("shop", "a", CONTAINER("default: {cpu: null, memory: 1Gi}")), "nothing"},
        {RANGE("shop", "a", "{type: Pod, default: {cpu: 2}}"), "nothing"},
        /* several, by name, each filling in what is missing yet */
        {RANGE("shop", "b", CONTAINER("default: {cpu: 2}"))
             RANGE("shop", "a", CONTAINER("defaultRequest: {cpu: 1}")),
         "1 by a, 2 by b"},
        {RANGE("shop", "b", CONTAINER("default: {cpu: 2}"))
             RANGE("shop", "a", CONTAINER("default: {cpu: 1}")),
         "1 by a, 1 by a"},
        {RANGE("shop", "a", CONTAINER("min: {cpu: 1}") ", " CONTAINER("default: {cpu: 2}")),
         "1 by a, 2 by a"},
        /* those of the namespace */
        {RANGE("a", "a", CONTAINER("default: {cpu: 1}"))
             RANGE("b", "a", CONTAINER("default: {cpu: 2}"))
                 RANGE("shop", "c", CONTAINER("default: {cpu: 3}"))
                     RANGE("t", "a", CONTAINER("default: {cpu: 4}")),
         "3 by c, 3 by c"},
        {RANGE("a", "a", CONTAINER("default: {cpu: 1}"))
             RANGE("t", "a", CONTAINER("default: {cpu: 4}")),
         "nothing"},
        {"", "nothing"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        const struct snapshot *snapshot = fixture_snapshot(&fixture, &cases[i].cluster, 1);
        struct limit_defaults defaults = {0};
        limit_defaults_read(snapshot, TEXT("shop"), fixture.arena, &defaults);
        struct text found = given(limit_defaults_find(&defaults, TEXT("cpu")), fixture.arena);
        if (!text_is(found, cases[i].cpu))
            fprintf(stderr, "case %zu:\n", i);
        ASSERT_TEXT(found, cases[i].cpu);
        arena_destroy(fixture.arena);
    }
}

const char unit_suite[] = "kube defaults";
const struct unit_test unit_tests[] = {
    {"the newest default class is taken", the_newest_default_class_is_taken},
    {"LimitRanges give requests and limits", limit_ranges_give_requests_and_limits},
    {NULL, NULL},
};
