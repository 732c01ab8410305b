/* A cluster as a folder of files, as objects that were listed, and with a change beside it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/manifest.h"
#include "kube/object.h"
#include "kube/snapshot.h"
#include "unit.h"

const char unit_suite[] = "kube state folder";

static struct arena *arena;

static void what_is_no_folder_is_said(void)
{
    char path[] = "/tmp/taffrail-state-XXXXXX";
    int descriptor = mkstemp(path);
    CU_ASSERT_FATAL(descriptor >= 0);
    close(descriptor);
    const struct snapshot *snapshot = NULL;
    struct problems problems = {.arena = arena};
    struct error error = {0};
    CU_ASSERT_FALSE(state_load(path, NULL, NULL, arena, &snapshot, &problems, &error));
    ASSERT_TEXT(text_of(error.what), "--state wants a folder of manifests, and this is none");
    unlink(path);
    CU_ASSERT_FALSE(state_load(path, NULL, NULL, arena, &snapshot, &problems, &error));
    CU_ASSERT_TRUE(text_starts_with(text_of(error.what), TEXT("cannot read the state folder: ")));
}

/* A Node of each of the letters, which carries under "from" what says where it is from. */
static struct text nodes(const char *letters, const char *from)
{
    struct text all = TEXT("");
    for (; *letters != '\0'; letters++)
        all = arena_printf(arena,
                           "%.*s---\napiVersion: v1\nkind: Node\n"
                           "metadata: {name: %c, labels: {from: %s}}\n",
                           TEXT_ARGS(all), *letters, from);
    return all;
}

static struct manifests *listed(struct text text)
{
    struct manifests *manifests = ARENA_NEW(arena, struct manifests);
    manifests_init(manifests, arena);
    manifests_read_from(manifests, "stdin", text, TEXT("default"));
    return manifests;
}

static void add_fragments(struct manifests *change, struct text text)
{
    const struct manifests *fragments = listed(text);
    for (size_t i = 0; i < fragments->count; i++)
        *LIST_PUSH(arena, &change->fragments) = fragments->items[i];
}

static const char *from(const struct snapshot *snapshot, const char *name)
{
    const struct object *node = snapshot_find(snapshot, KIND_NODE, TEXT(""), text_of(name));
    if (node == NULL)
        return "none";
    const struct node *said = node_at(node->root->node, "metadata.labels.from");
    return arena_printf(arena, "%.*s", TEXT_ARGS(node_text(said))).data;
}

static char folder[] = "/tmp/taffrail-state-XXXXXX";

static void write_file(const char *name, struct text text)
{
    FILE *file = fopen(arena_printf(arena, "%s/%s", folder, name).data, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "%.*s", TEXT_ARGS(text));
    fclose(file);
}

/* Of one object in several places one is the cluster's. */
static void a_change_wins(void)
{
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    write_file("nodes.yaml", nodes("abcd", "folder"));
    write_file("broken.yaml", TEXT("{ [ broken\n"));
    write_file("twice.yaml", TEXT("apiVersion: v1\nkind: Node\nmetadata: {name: e, name: e}\n"));
    write_file("readme.md", TEXT("no manifest"));
    struct manifests *change = listed(nodes("df", "change"));
    add_fragments(change, nodes("bg", "fragment"));
    struct text unknown = TEXT("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    struct text of_list = nodes("cd", "list");
    struct manifests *of_server =
        listed(arena_printf(arena, "%.*s%.*s", TEXT_ARGS(of_list), TEXT_ARGS(unknown)));
    struct problems problems = {.arena = arena};
    struct error error = {0};
    const struct snapshot *snapshot = NULL;
    CU_ASSERT_FATAL(state_load(folder, of_server, change, arena, &snapshot, &problems, &error));
    static const char *const wanted[][2] = {
        {"a", "folder"}, {"b", "folder"},   {"c", "list"}, {"d", "change"},
        {"f", "change"}, {"g", "fragment"}, {"h", "none"},
    };
    for (size_t i = 0; i < COUNT_OF(wanted); i++)
        ASSERT_TEXT(text_of(from(snapshot, wanted[i][0])), wanted[i][1]);
    ASSERT_INT(snapshot_count(snapshot, KIND_UNKNOWN), 0);
    /* What one file has wrong is told, and the others are read. */
    ASSERT_INT(problems.count, 2);
    for (size_t i = 0; i < problems.count; i++) {
        const char *file = strrchr(problems.items[i].place.file, '/');
        CU_ASSERT_TRUE(file != NULL &&
                       (strcmp(file, "/broken.yaml") == 0 || strcmp(file, "/twice.yaml") == 0));
    }

    /* Nothing beside the list; and an empty folder is a cluster without objects. */
    CU_ASSERT_FATAL(state_load(NULL, of_server, NULL, arena, &snapshot, &problems, &error));
    ASSERT_TEXT(text_of(from(snapshot, "c")), "list");
    ASSERT_TEXT(text_of(from(snapshot, "a")), "none");
    static const char *const files[] = {"nodes.yaml", "broken.yaml", "twice.yaml", "readme.md"};
    for (size_t i = 0; i < COUNT_OF(files); i++)
        unlink(arena_printf(arena, "%s/%s", folder, files[i]).data);
    problems.count = 0;
    CU_ASSERT_FATAL(state_load(folder, NULL, NULL, arena, &snapshot, &problems, &error));
    ASSERT_INT(problems.count, 0);
    ASSERT_INT(snapshot_count(snapshot, KIND_NODE), 0);
    rmdir(folder);
}

/* But no claim loses the volume that it is bound to. */
static void a_claim_keeps_its_volume(void)
{
#define CLAIM_WITH(spec) \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {" spec "}}"
    static const struct {
        const char *stored, *change;
        enum object_origin stored_from, change_from;
        const char *volume, *class;
    } cases[] = {
        {"volumeName: v", "storageClassName: now", ORIGIN_CLUSTER, ORIGIN_CHANGE, "v", ""},
        {"volumeName: v", "storageClassName: now", ORIGIN_STATE, ORIGIN_CHANGE, "v", ""},
        {"volumeName: v", "volumeName: w", ORIGIN_STATE, ORIGIN_CHANGE, "w", ""},
        {"storageClassName: was", "storageClassName: now", ORIGIN_STATE, ORIGIN_CHANGE, "", "now"},
        /* of one place, and of a list beside the folder, the last is taken */
        {"volumeName: v", "storageClassName: now", ORIGIN_CHANGE, ORIGIN_CHANGE, "", "now"},
        {"volumeName: v", "storageClassName: now", ORIGIN_STATE, ORIGIN_CLUSTER, "", "now"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct manifests *stored = listed(arena_printf(arena, CLAIM_WITH("%s"), cases[i].stored));
        struct manifests *change = listed(arena_printf(arena, CLAIM_WITH("%s"), cases[i].change));
        stored->items[0].origin = cases[i].stored_from;
        change->items[0].origin = cases[i].change_from;
        struct problems problems = {.arena = arena};
        struct error error = {0};
        const struct snapshot *snapshot = NULL;
        CU_ASSERT_FATAL(state_load(NULL, stored, change, arena, &snapshot, &problems, &error));
        ASSERT_INT(snapshot_count(snapshot, KIND_PERSISTENT_VOLUME_CLAIM), 1);
        const struct node *claim =
            snapshot_object(snapshot, KIND_PERSISTENT_VOLUME_CLAIM, 0)->root->node;
        ASSERT_TEXT(node_string(node_at(claim, "spec.volumeName")), cases[i].volume);
        ASSERT_TEXT(node_string(node_at(claim, "spec.storageClassName")), cases[i].class);
    }
}

/* Nor a volume its claim, nor a node class the status that tells what its terms select. */
static void a_change_keeps_what_it_leaves_out(void)
{
#define VOLUME(spec) \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: o}, spec: {" spec "}}"
#define CLASS(more) \
    "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: o}, " more "}"
#define SUBNETS(value) "subnetSelectorTerms: [{tags: {a: " value "}}]"
#define RESERVED "capacityReservationSelectorTerms: [{id: r}]"
#define STATUS "status: {subnets: [{zone: z}]}"
    static const struct {
        enum kind kind;
        const char *stored, *change, *path, *wanted;
    } cases[] = {
        {KIND_PERSISTENT_VOLUME, VOLUME("claimRef: {name: c}"), VOLUME("storageClassName: now"),
         "spec.claimRef.name", "c"},
        {KIND_PERSISTENT_VOLUME, VOLUME("claimRef: {name: c}"), VOLUME("claimRef: {name: d}"),
         "spec.claimRef.name", "d"},
        {KIND_PERSISTENT_VOLUME, VOLUME("storageClassName: was"), VOLUME("storageClassName: now"),
         "spec.storageClassName", "now"},
        {KIND_EC2_NODE_CLASS, CLASS("spec: {role: was, " SUBNETS("b") "}, " STATUS),
         CLASS("spec: {role: now, " SUBNETS("b") "}"), "status.subnets", "[{zone: z}]"},
        {KIND_EC2_NODE_CLASS, CLASS("spec: {role: was, " SUBNETS("b") "}, " STATUS),
         CLASS("spec: {role: now, " SUBNETS("b") "}"), "spec.role", "now"},
        {KIND_EC2_NODE_CLASS, CLASS("spec: {" SUBNETS("b") "}, " STATUS),
         CLASS("spec: {" SUBNETS("c") "}"), "status.subnets", ""},
        {KIND_EC2_NODE_CLASS, CLASS("spec: {" SUBNETS("b") "}, " STATUS),
         CLASS("spec: {" SUBNETS("b") ", " RESERVED "}"), "status.subnets", ""},
        {KIND_EC2_NODE_CLASS, CLASS("spec: {" SUBNETS("b") "}, " STATUS),
         CLASS("spec: {" SUBNETS("b") "}, status: {subnets: [{zone: x}]}"), "status.subnets",
         "[{zone: x}]"},
        {KIND_EC2_NODE_CLASS, CLASS("spec: {" SUBNETS("b") "}"), CLASS("spec: {" SUBNETS("b") "}"),
         "status.subnets", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct manifests *stored = listed(text_of(cases[i].stored));
        struct manifests *change = listed(text_of(cases[i].change));
        change->items[0].origin = ORIGIN_CHANGE;
        struct problems problems = {.arena = arena};
        struct error error = {0};
        const struct snapshot *snapshot = NULL;
        CU_ASSERT_FATAL(state_load(NULL, stored, change, arena, &snapshot, &problems, &error));
        const struct object *object = snapshot_find(snapshot, cases[i].kind, TEXT(""), TEXT("o"));
        CU_ASSERT_PTR_NOT_NULL_FATAL(object);
        const struct node *found = node_at(object->root->node, cases[i].path);
        ASSERT_TEXT(found == NULL ? TEXT("") : node_yaml_line(found, arena), cases[i].wanted);
        ASSERT_INT(problems.count, 0);
    }
}

/* Of two that differ the last counts, and both places are told; a status that differs is another
 * moment's. */
static void what_stands_twice_is_told(void)
{
#define POOL(name, more) \
    "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: " name "}\n" more "\n"
#define POD(more) "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\n" more "\n"
    strcpy(folder, "/tmp/taffrail-state-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    write_file("a.yaml", TEXT(POOL("a", "spec: {weight: 1}") POOL("b", "spec: {weight: 1}")
                                  POD("status: {phase: Pending}") POD("status: {phase: Running}")
                                      POOL("d", "spec: {weight: 1}\nstatus: {nodes: 1}")));
    write_file("b.yaml", TEXT(POOL("b", "spec: {weight: 1}") POOL("a", "spec: {weight: 2}")
                                  POOL("c", "spec: {weight: 1}") POOL("c", "spec: {weight: 3}")
                                      POD("spec: {nodeName: n}")
                                          POOL("d", "spec: {weight: 1}\nstatus: {nodes: 2}")));
    struct manifests *change = listed(TEXT(POOL("c", "spec: {weight: 2}")));
    add_fragments(change, TEXT(POOL("b", "spec: {weight: 5}") POOL("b", "spec: {weight: 6}")));
    struct problems problems = {.arena = arena};
    struct error error = {0};
    const struct snapshot *snapshot = NULL;
    CU_ASSERT_FATAL(state_load(folder, NULL, change, arena, &snapshot, &problems, &error));
    static const struct {
        unsigned line;
        const char *object;
        unsigned again;
    } told[] = {{12, "Pod shop/p", 22}, {17, "Pod shop/p", 22}, {2, "NodePool a", 7}};
    ASSERT_INT(problems.count, COUNT_OF(told));
    CU_ASSERT_FALSE(problems_have_errors(&problems));
    for (size_t i = 0; i < COUNT_OF(told) && i < problems.count; i++) {
        CU_ASSERT_EQUAL(problems.items[i].kind, ERROR_TWICE);
        ASSERT_INT(problems.items[i].place.line, told[i].line);
        ASSERT_TEXT(text_of(problems.items[i].what),
                    arena_printf(arena,
                                 "%s stands again at %s/b.yaml:%u, with another spec, which is "
                                 "the one that counts",
                                 told[i].object, folder, told[i].again)
                        .data);
    }
    unlink(arena_printf(arena, "%s/a.yaml", folder).data);
    unlink(arena_printf(arena, "%s/b.yaml", folder).data);
    rmdir(folder);
}

static void ten_that_stand_twice_are_told(void)
{
    static const struct {
        int twice;
        const char *more; /* NULL: no more are told of */
    } rows[] = {
        {10, NULL},
        {11, "1 more object of the state stands twice"},
        {12, "2 more objects of the state stand twice"},
    };
    strcpy(folder, "/tmp/taffrail-state-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct text_builder pools = {.arena = arena};
        for (int j = 0; j < 2 * rows[i].twice; j++)
            text_builder_printf(&pools,
                                "---\napiVersion: karpenter.sh/v1\nkind: NodePool\n"
                                "metadata: {name: pool-%d}\nspec: {weight: %d}\n",
                                j / 2, j + 1);
        write_file("pools.yaml", text_builder_text(&pools));
        struct problems problems = {.arena = arena};
        struct error error = {0};
        const struct snapshot *snapshot = NULL;
        CU_ASSERT_FATAL(state_load(folder, NULL, NULL, arena, &snapshot, &problems, &error));
        ASSERT_INT(problems.count, rows[i].more == NULL ? 10 : 11);
        if (rows[i].more != NULL)
            ASSERT_TEXT(text_of(problems.items[problems.count - 1].what), rows[i].more);
    }
    unlink(arena_printf(arena, "%s/pools.yaml", folder).data);
    rmdir(folder);
}

#define TEST(function)                       \
    static void in_arena_##function(void)    \
    {                                        \
        arena = arena_create(1 << 24);       \
        CU_ASSERT_PTR_NOT_NULL_FATAL(arena); \
        function();                          \
        arena_destroy(arena);                \
    }
TEST(what_is_no_folder_is_said)
TEST(a_change_wins)
TEST(a_claim_keeps_its_volume)
TEST(a_change_keeps_what_it_leaves_out)
TEST(what_stands_twice_is_told)
TEST(ten_that_stand_twice_are_told)

const struct unit_test unit_tests[] = {
    {"what is no folder is said", in_arena_what_is_no_folder_is_said},
    {"a change wins", in_arena_a_change_wins},
    {"a claim keeps its volume", in_arena_a_claim_keeps_its_volume},
    {"a change keeps what it leaves out", in_arena_a_change_keeps_what_it_leaves_out},
    {"what stands twice is told", in_arena_what_stands_twice_is_told},
    {"ten that stand twice are told", in_arena_ten_that_stand_twice_are_told},
    {NULL, NULL},
};
