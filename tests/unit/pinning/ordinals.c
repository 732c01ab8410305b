/* Which pod of which StatefulSet, and which claims decide where its volume goes. */
#include "cluster_fixture.h"
#include "object_fixture.h"
#include "pinning/pin.h"

enum { ZONES = 3 };

/* ---- which ordinal of which set ---- */

#define OWNED(kind, name, uid)                                                            \
    ", ownerReferences: [{apiVersion: apps/v1, kind: " kind ", name: " name ", uid: " uid \
    ", controller: true}]"

static void a_pod_is_of_a_set_by_name_and_owner(void)
{
    static const struct {
        const char *name, *more;
        int ordinal; /* -1: of none */
    } cases[] = {
        {"web-2", OWNED("StatefulSet", "web", "s1"), 2},
        {"web-2", OWNED("StatefulSet", "web", "''"), 2},
        {"web-2147483647", OWNED("StatefulSet", "web", "s1"), INT32_MAX},
        {"web-2147483648", OWNED("StatefulSet", "web", "s1"), -1},
        {"web-2", OWNED("StatefulSet", "web", "of-one-before"), -1},
        {"web-2", OWNED("StatefulSet", "unseen", "s1"), -1},
        {"web-2", OWNED("ReplicaSet", "web", "s1"), -1},
        {"web-2", "", -1},
        {"web", OWNED("StatefulSet", "web", "s1"), -1},
        {"other-2", OWNED("StatefulSet", "web", "s1"), -1},
        {"web-x", OWNED("StatefulSet", "web", "s1"), -1},
        {"web-", OWNED("StatefulSet", "web", "s1"), -1},
    };
    static const char *const documents[] = {
        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, uid: s1}}"};
    struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
    const struct snapshot *snapshot = fixture_snapshot(&fixture, documents, 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text yaml =
            arena_printf(fixture.arena, "{apiVersion: v1, kind: Pod, metadata: {name: %s%s}}",
                         cases[i].name, cases[i].more);
        struct pin_set set = pin_set_of(snapshot, fixture_object(fixture.arena, yaml.data, "shop"));
        ASSERT_INT(set.set == NULL ? -1 : set.ordinal, cases[i].ordinal);
    }
    arena_destroy(fixture.arena);
}

/* ---- which claims decide ---- */

/* A claim that is bound in one of the set's zones, by their order for the set. */
struct bound_claim {
    const char *name, *namespace;
    size_t number;
};
struct ordinal_case {
    const char *name;
    const char *set; /* the fields of its spec, and then its uid */
    const char *uid;
    struct bound_claim claims[2];
    int64_t ordinal;
    size_t number; /* of the zone that is chosen */
};

static const struct snapshot *snapshot_of(struct fixture *fixture, const struct ordinal_case *test,
                                          size_t rotation)
{
    struct text_builder yaml = {.arena = fixture->arena};
    text_builder_printf(&yaml,
                        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, namespace: "
                        "shop, uid: '%s'}, spec: {%s, volumeClaimTemplates: [{metadata: {name: "
                        "data}}, {metadata: {name: logs}}]}}\n",
                        test->uid, test->set);
    for (size_t i = 0; i < COUNT_OF(test->claims) && test->claims[i].name != NULL; i++)
        text_builder_printf(
            &yaml,
            "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: '%s', namespace: "
            "%s, annotations: {pv.kubernetes.io/bind-completed: 'yes'}}, spec: {volumeName: v%zu}}"
            "\n---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: v%zu, labels: "
            "{topology.kubernetes.io/zone: z%zu}}}\n",
            test->claims[i].name, test->claims[i].namespace, i, i,
            (rotation + test->claims[i].number) % ZONES);
    const char *documents[] = {text_builder_text(&yaml).data};
    return fixture_snapshot(fixture, documents, 1);
}

/* Without claims the ordinals take the zones in turn. A claim in the zone of ordinal 1, when it
 * counts, leaves that pod the first of the others. */
static void claims_of_the_set_decide(void)
{
    static const struct ordinal_case cases[] = {
        {"none", "replicas: 3", "s1", {{0}}, 1, 1},
        {"a claim", "replicas: 3", "s1", {{"data-web-0", "shop", 1}}, 1, 0},
        {"its own claim", "replicas: 3", "s1", {{"data-web-1", "shop", 0}}, 1, 1},
        {"beyond the replicas", "replicas: 3", "s1", {{"data-web-3", "shop", 1}}, 1, 1},
        {"padded", "replicas: 3", "s1", {{"data-web-00", "shop", 1}}, 1, 1},
        {"of a letter", "replicas: 3", "s1", {{"data-web-x", "shop", 1}}, 1, 1},
        {"of a dot", "replicas: 3", "s1", {{"data-web-.", "shop", 1}}, 1, 1},
        {"of nothing", "replicas: 3", "s1", {{"data-web-", "shop", 1}}, 1, 1},
        {"too long", "replicas: 3", "s1", {{"data-web-99999999999999999999", "shop", 1}}, 1, 1},
        {"of another namespace", "replicas: 3", "s1", {{"data-web-0", "zoo", 1}}, 1, 1},
        {"of another set", "replicas: 3", "s1", {{"data-xeb-0", "shop", 1}}, 1, 1},
        {"of a template it has not", "replicas: 3", "s1", {{"tmp-web-0", "shop", 1}}, 1, 1},
        {"the first template decides",
         "replicas: 3",
         "s1",
         {{"data-web-0", "shop", 1}, {"logs-web-0", "shop", 2}},
         2,
         2},
        {"before the start",
         "replicas: 3, ordinals: {start: 5}",
         "s1",
         {{"data-web-0", "shop", 1}},
         6,
         1},
        {"from the start",
         "replicas: 3, ordinals: {start: 5}",
         "s1",
         {{"data-web-5", "shop", 1}},
         6,
         0},
        {"a pod before the start", "replicas: 3, ordinals: {start: 5}", "s1", {{0}}, 0, 1},
        {"a set that has no uid yet", "replicas: 3", "", {{"data-web-0", "shop", 1}}, 1, 0},
        {"as many as are looked at", "replicas: 1000", "s1", {{"data-web-0", "shop", 1}}, 1, 1},
        {"more than are looked at", "replicas: 1001", "s1", {{"data-web-0", "shop", 0}}, 1000, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct ordinal_case *test = &cases[i];
        struct fixture fixture = {.arena = arena_create((size_t)16 << 20)};
        struct zones zones = {0};
        for (size_t zone = 0; zone < ZONES; zone++)
            zones_add(&zones, arena_printf(fixture.arena, "z%zu", zone), fixture.arena);
        size_t rotation =
            pin_rotation(test->uid[0] == '\0' ? TEXT("shop/web") : text_of(test->uid), &zones);
        const struct snapshot *snapshot = snapshot_of(&fixture, test, rotation);
        struct text pod =
            arena_printf(fixture.arena,
                         "{apiVersion: v1, kind: Pod, metadata: {name: web-%lld" OWNED(
                             "StatefulSet", "web", "'%s'") "}}",
                         (long long)test->ordinal, test->uid);
        struct pin_set set = pin_set_of(snapshot, fixture_object(fixture.arena, pod.data, "shop"));
        CU_ASSERT_PTR_NOT_NULL_FATAL(set.set);
        struct text zone = pin_zone_of_ordinal(snapshot, &set, &zones, fixture.arena);
        if (!text_equal(zone, zones.items[(rotation + test->number) % ZONES]))
            fprintf(stderr, "in \"%s\":\n", test->name);
        ASSERT_TEXT(zone, zones.items[(rotation + test->number) % ZONES].data);
        arena_destroy(fixture.arena);
    }
}

const char unit_suite[] = "pinning ordinals";
const struct unit_test unit_tests[] = {
    {"a pod is of a set by name and owner", a_pod_is_of_a_set_by_name_and_owner},
    {"claims of the set decide", claims_of_the_set_decide},
    {NULL, NULL},
};
