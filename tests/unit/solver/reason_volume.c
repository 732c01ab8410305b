/* Reasons of volumes: where they can be, as their claims or their places are known, and how many a
 * type attaches. */
#include "solver_reasons.h"

struct volume_case {
    const char *name;
    struct a_pool pool;
    struct a_pod pod;
    const char *said;
};

static void test_places(void)
{
    static const struct volume_case cases[] = {
        {"a zone out of reach",
         {.name = "default", .requirements = "zone In test-zone-1 test-zone-2"},
         {.volumes = {VOLUME("zone=test-zone-3", .claim = "data")}},
         "volume: claim default/data can be in test-zone-3 only; the NodePool reaches test-zone-1 "
         "and test-zone-2"},
        {"several zones out of reach, as alternatives and as a list",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.volumes = {VOLUME("zone=test-zone-3 | zone In test-zone-2 test-zone-9",
                             .claim = "data")}},
         "volume: claim default/data can be in test-zone-2, test-zone-3 or test-zone-9 only; the "
         "NodePool reaches test-zone-1"},
        {"all but a zone",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.volumes = {VOLUME("zone NotIn test-zone-1", .claim = "data")}},
         "volume: claim default/data can be in topology.kubernetes.io/zone other than test-zone-1 "
         "only; the NodePool reaches test-zone-1"},
        {"a zone where nothing is sold as spot",
         {.name = "default", .requirements = "capacity=spot"},
         {.volumes = {VOLUME("zone=test-zone-3", .claim = "data")}},
         "volume: claim default/data can be in test-zone-3 only; the NodePool reaches test-zone-1 "
         "and test-zone-2"},
        {"a label that is no zone",
         {.name = "default"},
         {.volumes = {VOLUME("topology.gke.io/zone=a", .claim = "data")}},
         "volume: claim default/data can be in topology.gke.io/zone a only"},
        {"a zone in reach, and a label that the pool does not give",
         {.name = "default"},
         {.volumes = {VOLUME("zone=test-zone-1; example.com/rack=r1", .claim = "data")}},
         "volume: claim default/data can be in example.com/rack r1 only"},
        {"a zone out of reach, and such a label",
         {.name = "default", .requirements = "zone=test-zone-2"},
         {.volumes = {VOLUME("zone=test-zone-1; example.com/rack=r1", .claim = "data")}},
         "volume: claim default/data can be in test-zone-1 only; the NodePool reaches test-zone-2"},
        {"a zone of one volume, and a label of another",
         {.name = "default"},
         {.volumes = {VOLUME("zone=test-zone-1", .claim = "a"),
                      VOLUME("zone=test-zone-1; example.com/rack=r1", .claim = "b")}},
         "volume: claim default/a can be in test-zone-1 only, claim default/b in example.com/rack "
         "r1"},
        {"a zone, and a machine of it",
         {.name = "default"},
         {.volumes = {VOLUME("zone=test-zone-1; host=old", .claim = "disk")}},
         "volume: claim default/disk can be in kubernetes.io/hostname old only; a node that is yet "
         "to be bought has no such name"},
        {"one zone, and two architectures",
         {.name = "default"},
         {.volumes = {VOLUME("zone=test-zone-1; arch=amd64", .claim = "a"),
                      VOLUME("zone=test-zone-1; arch=arm64", .claim = "b")}},
         "volume: claim default/a can be in kubernetes.io/arch amd64 only, claim default/b in "
         "kubernetes.io/arch arm64: no place holds all of them"},
        {"a machine, and a zone",
         {.name = "default"},
         {.volumes = {VOLUME("host=old", .claim = "disk"),
                      VOLUME("zone=test-zone-1", .claim = "a")}},
         "volume: claim default/disk can be in kubernetes.io/hostname old only, claim default/a in "
         "test-zone-1; a node that is yet to be bought has no such name"},
        {"one that can be anywhere is not named",
         {.name = "default", .requirements = "zone=test-zone-1"},
         {.volumes = {VOLUME("", .claim = "any"), VOLUME("zone=test-zone-2", .claim = "b"),
                      VOLUME("zone=test-zone-2 | zone=test-zone-3", .claim = "c")}},
         "volume: claim default/b can be in test-zone-2 only, claim default/c in test-zone-2 or "
         "test-zone-3; the NodePool reaches test-zone-1"},
        {"three apart",
         {.name = "default"},
         {.volumes = {VOLUME("zone=test-zone-1", .claim = "a"),
                      VOLUME("zone=test-zone-1", .claim = "b"),
                      VOLUME("zone=test-zone-2", .claim = "c")}},
         "volume: claim default/a can be in test-zone-1 only, claim default/b in test-zone-1, "
         "claim default/c in test-zone-2: no place holds all of them"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_fresh();
        world.title = cases[i].name;
        world_pool(&cases[i].pool);
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told(pod), cases[i].said);
    }
}

/* How many volumes of which driver are too many: a claim that is mounted twice is one volume. */
static void test_attaching(void)
{
#define CSI(name) VOLUME(NULL, .claim = name, .driver = "csi")
#define NFS(name) VOLUME(NULL, .claim = name, .driver = "nfs")
    static const struct {
        const char *name, *one, *two; /* what the types attach */
        struct a_pod pod;
        const char *said;
    } cases[] = {
        {"more than any",
         "csi 1",
         "csi 2",
         {.volumes = {CSI("a"), CSI("b"), CSI("c")}},
         "volume: attaches 3 volumes of driver csi; the most a type of this NodePool attaches is "
         "2, two"},
        {"a claim mounted twice",
         "csi 1",
         "csi 1",
         {.volumes = {CSI("a"), CSI("a"), CSI("b")}},
         "volume: attaches 2 volumes of driver csi; the most a type of this NodePool attaches is "
         "1, one"},
        {"none can be attached",
         "csi 0",
         "csi 0",
         {.volumes = {CSI("a")}},
         "volume: attaches 1 volumes of driver csi; the most a type of this NodePool attaches is "
         "0, one"},
        {"of two drivers the one that is too many",
         "csi 9; nfs 1",
         "nfs 1; csi 9",
         {.volumes = {CSI("a"), CSI("b"), NFS("c"), NFS("d")}},
         "volume: attaches 2 volumes of driver nfs; the most a type of this NodePool attaches is "
         "1, one"},
        {"of two drivers that are too many the first",
         "csi 1; nfs 1",
         "nfs 1; csi 1",
         {.volumes = {NFS("c"), NFS("d"), CSI("a"), CSI("b")}},
         "volume: attaches 2 volumes of driver nfs; the most a type of this NodePool attaches is "
         "1, one"},
        {"one type attaches these, the other those",
         "csi 1; nfs 2",
         "csi 2; nfs 1",
         {.volumes = {CSI("a"), CSI("b"), NFS("c"), NFS("d")}},
         "volume: attaches 2 volumes of driver csi; the most a type of this NodePool attaches is "
         "2, two"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_empty();
        world.title = cases[i].name;
        TYPE(.name = "one", .attach = cases[i].one);
        TYPE(.name = "two", .attach = cases[i].two);
        POOL(.name = "default");
        size_t pod = world_pod(&cases[i].pod);
        solve();
        EXPECT_TEXT(told(pod), cases[i].said);
    }
}

/* A question may leave open which claims a pod mounts. */
static void test_without_claims(void)
{
    static const struct {
        const char *first, *second; /* where the volumes can be */
        const char *said;
    } cases[] = {
        {"zone=test-zone-3", NULL,
         "its volume can be in test-zone-3 only; the NodePool reaches test-zone-1"},
        {"zone=test-zone-3", "zone In test-zone-2 test-zone-3",
         "its volume can be in test-zone-3 only, its volume in test-zone-2 or test-zone-3; the "
         "NodePool reaches test-zone-1"},
        {"zone=test-zone-1", "zone=test-zone-2",
         "its volume can be in test-zone-1 only, its volume in test-zone-2: no place holds all of "
         "them"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        world_fresh();
        POOL(.name = "default", .requirements = "zone=test-zone-1");
        world_build();
        struct solver_volume volumes[2] = {{0}};
        const char *const places[] = {cases[i].first, cases[i].second};
        struct solver_shape shape = {.namespace = "default", .volumes = volumes};
        for (size_t j = 0; j < 2 && places[j] != NULL; j++)
            volumes[shape.volume_count++].alternatives =
                notation_alternatives(world.arena, places[j], &volumes[j].alternative_count);
        struct solver_question question = {.shape = &shape, .explain = true};
        struct solver_answer answer;
        struct error error;
        bool good = solver_query(solver_run_create(world.problem, world.arena), &question,
                                 world.arena, &answer, &error);
        CU_ASSERT_TRUE_FATAL(good && answer.kind == SOLVER_UNSCHEDULABLE);
        struct reasons_words reasons = reasons_tell(answer.reasons, world.arena);
        CU_ASSERT_TRUE_FATAL(reasons.count == 1);
        EXPECT_INT(reasons.items[0].kind, SOLVER_REASON_VOLUME);
        EXPECT_TEXT(arena_printf(world.arena, "%s%s%s", reasons.items[0].message,
                                 *reasons.items[0].nearest == '\0' ? "" : "; ",
                                 reasons.items[0].nearest)
                        .data,
                    cases[i].said);
    }
}

const char unit_suite[] = "solver reason volume";
const struct unit_test unit_tests[] = {
    {"places", test_places},
    {"attaching", test_attaching},
    {"without claims", test_without_claims},
    {NULL, NULL},
};
