/* labels: once */
/* A StatefulSet that comes up through two servers, one of which may be some events behind: pods are
 * admitted in any order, tried before, sent again and made anew, and a scheduler in miniature binds
 * their claims late, where the answer said or, when that is only a preference, elsewhere. What must
 * come out is reckoned here by another way: the zones as level as what was bound before allows. */
#include <stdlib.h>

#include "dump.h"
#include "pin_cluster.h"
#include "pinning/pin.h"
#include "server/server.h"

enum { SEEDS = 1000, LAG = 6, NO_ZONE = -1 };

/* All that changes of the cluster. */
struct version {
    int replicas, zones;
    struct claim_state claims[MOST_REPLICAS];
};
struct server {
    size_t seen; /* the version it knows */
    struct world world;
    bool loaded;
};
struct stage {
    uint64_t seed, state;
    struct arena *arena; /* of this seed */
    bool requires;       /* else the pin prefers */
    int start, dead_zone;
    LIST(struct version) versions;
    struct server servers[2];
    int sent[MOST_REPLICAS];
};

static uint32_t draw(struct stage *stage, uint32_t below)
{
    stage->state = stage->state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(stage->state >> 33) % below;
}

static void check(const struct stage *stage, bool good, const char *what)
{
    if (!good)
        fprintf(stderr, "TAFFRAIL_SEED=%llu: %s\n", (unsigned long long)stage->seed, what);
    CU_ASSERT_TRUE_FATAL(good);
}

/* ---- versions, and what a server knows ---- */

static const struct object *set_object(const struct stage *stage, int replicas)
{
    return read_one(
        stage->arena,
        arena_printf(stage->arena,
                     "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web, uid: s%llu}, "
                     "spec: {replicas: %d, ordinals: {start: %d}, template: {spec: {containers: "
                     "[{name: main, resources: {requests: {cpu: '4'}}}]}}, volumeClaimTemplates: "
                     "[{metadata: {name: data}, spec: {storageClassName: wait}}]}}",
                     (unsigned long long)stage->seed, replicas, stage->start));
}

static struct version *newest(struct stage *stage)
{
    return &stage->versions.items[stage->versions.count - 1];
}

/* A copy of the newest, to be changed. */
static struct version *change(struct stage *stage)
{
    struct version version = *newest(stage);
    struct version *next = LIST_PUSH(stage->arena, &stage->versions);
    *next = version;
    return next;
}

static const struct snapshot *snapshot_of(const struct stage *stage, const struct version *version)
{
    struct snapshot_builder *builder = snapshot_builder_create(stage->arena);
    snapshot_put(builder, shared.classes);
    snapshot_put(builder, shared.pools[version->zones]);
    snapshot_put(builder, set_object(stage, version->replicas));
    for (int zone = 0; zone < MOST_ZONES; zone++) {
        snapshot_put(builder, shared.nodes[zone]);
        snapshot_put(builder, shared.volumes[zone]);
    }
    for (int i = 0; i < MOST_REPLICAS; i++)
        if (version->claims[i].phase != ABSENT)
            snapshot_put(builder, claim_object(stage->start + i, version->claims[i]));
    return snapshot_build(builder);
}

/* A server that is late stays late, or catches up; it never goes back. */
static const struct world *world_of(struct stage *stage, int number)
{
    struct server *server = &stage->servers[number];
    size_t last = stage->versions.count - 1;
    size_t lag = number == 0 ? 0 : draw(stage, LAG + 1);
    size_t seen = lag > last ? 0 : last - lag;
    if (server->loaded && seen <= server->seen)
        return &server->world;
    const struct version *version = &stage->versions.items[seen];
    const struct catalog *catalog = shared.catalogs[stage->dead_zone];
    const struct snapshot *snapshot = snapshot_of(stage, version);
    const struct supply **supply = &shared.supplies[stage->dead_zone][version->zones];
    if (*supply == NULL)
        *supply = supply_create(snapshot, catalog, NULL, false);
    *server = (struct server){
        .seen = seen,
        .loaded = true,
        .world = {.policies = shared.policies[stage->requires],
                  .snapshot = snapshot,
                  .catalog = catalog,
                  .supply = *supply},
    };
    return &server->world;
}

static void catch_up(struct stage *stage)
{
    stage->servers[1].loaded = false;
    while (!stage->servers[1].loaded || stage->servers[1].seen + 1 < stage->versions.count)
        (void)world_of(stage, 1);
}

/* ---- a review ---- */

static const struct node *read_json(struct text json, struct arena *arena)
{
    struct source *source = ARENA_NEW(arena, struct source);
    source->text = json;
    const struct node *root = NULL;
    struct error error;
    CU_ASSERT_TRUE_FATAL(doc_read_json(source, &doc_limits_review, NULL, arena, &root, &error));
    return root;
}

/* The patch, "" when there is none; *after: the pod with it. */
static struct text review(struct stage *stage, int server, const struct node *pod, bool dry_run,
                          const struct node **after)
{
    struct arena *arena = stage->arena;
    struct text name = node_string(node_at(pod, "metadata.name"));
    struct text body = arena_printf(
        arena,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
        "\"uid\":\"u\",\"operation\":\"CREATE\",\"namespace\":\"default\",\"name\":\"%.*s\","
        "\"dryRun\":%s,\"userInfo\":{\"username\":"
        "\"system:serviceaccount:kube-system:statefulset-controller\"},\"object\":%.*s}}",
        TEXT_ARGS(name), dry_run ? "true" : "false", TEXT_ARGS(dump(arena, pod)));
    struct text answer;
    struct text patch;
    struct review_record record;
    struct error error;
    CU_ASSERT_TRUE_FATAL(review_answer(world_of(stage, server), REVIEW_MUTATE, body, 0, arena,
                                       &answer, &record, &error));
    const struct node *response = node_get(read_json(answer, arena), "response");
    check(stage, node_true(node_get(response, "allowed")), "a pod is refused");
    *after = pod;
    if (node_get(response, "patch") == NULL)
        return TEXT("");
    CU_ASSERT_TRUE_FATAL(text_from_base64(node_string(node_get(response, "patch")), arena, &patch));
    const struct node *list = read_json(patch, arena);
    struct patch_op *changes = ARENA_ARRAY(arena, node_count(list), struct patch_op);
    for (size_t i = 0; i < node_count(list); i++) {
        const struct node *item = node_item(list, i);
        check(stage, text_is(node_string(node_get(item, "op")), "add"), "no addition");
        changes[i] = (struct patch_op){PATCH_ADD, node_string(node_get(item, "path")),
                                       node_get(item, "value")};
    }
    CU_ASSERT_TRUE_FATAL(doc_patch(pod, changes, node_count(list), arena, after, &error));
    return patch;
}

static int zone_number(struct text zone)
{
    return zone.size == 2 && zone.data[0] == 'z' ? zone.data[1] - '0' : NO_ZONE;
}

/* The zone of a pod's selector or only preference, which its note must tell, too. */
static int zone_in(const struct stage *stage, const struct node *pod)
{
    const struct node *selector = node_get(node_at(pod, "spec.nodeSelector"), ZONE_KEY);
    const struct node *preferred =
        node_at(pod, "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution");
    struct text note =
        node_string(node_get(node_at(pod, "metadata.annotations"), "taffrail.dev/zone"));
    struct text zone = node_string(selector);
    check(stage, (selector != NULL) + node_count(preferred) == 1, "not one change of one kind");
    if (selector == NULL) {
        const struct node *expressions =
            node_at(node_item(preferred, 0), "preference.matchExpressions");
        zone = node_string(node_item(node_get(node_item(expressions, 0), "values"), 0));
    }
    check(stage, text_equal(zone, note), "the note tells another zone");
    return zone_number(zone);
}

/* Where the pod of an ordinal is sent; with dry runs, retries and reinvocations by whichever
 * server. honest: all servers know enough to agree. */
static int admit(struct stage *stage, int index, bool honest)
{
    int server = (int)draw(stage, 2);
    const struct node *after;
    const struct node *again;
    const struct node *pod = read_json(
        arena_printf(stage->arena,
                     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-%d\","
                     "\"namespace\":\"default\",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\","
                     "\"kind\":\"StatefulSet\",\"name\":\"web\",\"uid\":\"s%llu\",\"controller\":"
                     "true}]},\"spec\":{\"containers\":[{\"name\":\"main\",\"resources\":"
                     "{\"requests\":{\"cpu\":\"4\"}}}],\"volumes\":[{"
                     "\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"data-web-%d\"}}"
                     "]}}",
                     stage->start + index, (unsigned long long)stage->seed, stage->start + index),
        stage->arena);
    if (draw(stage, 4) == 0) {
        (void)review(stage, server, pod, true, &again);
        check(stage, zone_in(stage, again) != stage->dead_zone, "sent where nothing fits");
    }
    (void)review(stage, server, pod, false, &after);
    int zone = zone_in(stage, after);
    check(stage, zone >= 0, "no zone is chosen");
    if (draw(stage, 4) == 0) {
        (void)review(stage, 1 - server, pod, draw(stage, 2) == 0, &again);
        check(stage, !honest || zone_in(stage, again) == zone, "the servers do not agree");
    }
    if (draw(stage, 4) == 0)
        check(stage, review(stage, 1 - server, after, false, &again).size == 0,
              "invoked again, it adds to what it has added");
    return zone;
}

/* ---- the cluster ---- */

static int count_settled(const struct version *version, int zone)
{
    int count = 0;
    for (int i = 0; i < version->replicas; i++)
        count += version->claims[i].phase > MADE && version->claims[i].zone == zone;
    return count;
}

/* Claims under way go on by a step, the first of them first. */
static void bind_some(struct stage *stage, uint32_t chance_of_8)
{
    for (int i = 0; i < MOST_REPLICAS; i++) {
        struct claim_state state = newest(stage)->claims[i];
        if (state.phase == ABSENT || state.phase == BOUND || draw(stage, 8) >= chance_of_8)
            continue;
        /* until its node is chosen a claim has no zone; sent is where it will be */
        state.zone = (signed char)stage->sent[i];
        state.phase++;
        change(stage)->claims[i] = state;
    }
}

static void bind_all(struct stage *stage)
{
    for (int phase = MADE; phase < BOUND; phase++)
        bind_some(stage, 8);
}

/* A zone where something fits, as a scheduler could take it that cannot have the one preferred. */
static int another_zone(struct stage *stage)
{
    int zone = stage->dead_zone;
    while (zone == stage->dead_zone)
        zone = (int)draw(stage, (uint32_t)newest(stage)->zones);
    return zone;
}

/* Creates most of the pods that have no claim yet, in any order; honest: claims are bound where the
 * pods were sent. */
static void bring_up(struct stage *stage, bool honest, int most)
{
    int order[MOST_REPLICAS];
    int count = 0;
    for (int i = 0; i < newest(stage)->replicas; i++)
        if (newest(stage)->claims[i].phase == ABSENT)
            order[count++] = i;
    for (int i = 0; i < count && i < most; i++) {
        int at = i + (int)draw(stage, (uint32_t)(count - i));
        int index = order[at];
        order[at] = order[i];
        order[i] = index;
        int zone = admit(stage, index, honest);
        check(stage, zone != stage->dead_zone, "sent where nothing fits");
        if (!honest && !stage->requires && draw(stage, 3) == 0)
            zone = another_zone(stage);
        stage->sent[index] = zone;
        change(stage)->claims[index] = (struct claim_state){.phase = MADE};
        bind_some(stage, 3);
        /* one that is made anew finds its claim as it is by now */
        int made = order[draw(stage, (uint32_t)i + 1)];
        if (honest && draw(stage, 6) == 0)
            check(stage, admit(stage, made, true) == stage->sent[made],
                  "made anew, it is sent elsewhere");
    }
    bind_all(stage);
}

/* ---- what must come out ---- */

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* How many are in each zone that counts, sorted; the return value is how many zones these are. */
static int counts_of(const struct stage *stage, const struct version *version, int *counts)
{
    int count = 0;
    for (int zone = 0; zone < version->zones; zone++)
        if (zone != stage->dead_zone)
            counts[count++] = count_settled(version, zone);
    qsort(counts, (size_t)count, sizeof *counts, by_number);
    return count;
}

/* The pods without a claim, each put where fewest are. */
static int level(const struct stage *stage, const struct version *version, int *counts)
{
    int zones = counts_of(stage, version, counts);
    for (int i = 0; i < version->replicas; i++) {
        if (version->claims[i].phase != ABSENT)
            continue;
        counts[0]++;
        qsort(counts, (size_t)zones, sizeof *counts, by_number);
    }
    return zones;
}

/* Returns whether they are within one. */
static bool bring_up_level(struct stage *stage)
{
    int expected[MOST_ZONES];
    int found[MOST_ZONES];
    catch_up(stage);
    int zones = level(stage, newest(stage), expected);
    bring_up(stage, true, MOST_REPLICAS);
    counts_of(stage, newest(stage), found);
    for (int i = 0; i < zones; i++)
        check(stage, found[i] == expected[i], "the zones are not as level as they can be");
    return found[zones - 1] - found[0] <= 1;
}

/* ---- the tests ---- */

static void begin(struct stage *stage, uint64_t seed, int replicas, int zones)
{
    shared_open();
    *stage = (struct stage){.seed = seed, .state = seed, .dead_zone = MOST_ZONES};
    stage->arena = arena_create((size_t)512 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stage->arena);
    stage->requires = draw(stage, 2) == 0;
    *LIST_PUSH(stage->arena, &stage->versions) =
        (struct version){.replicas = replicas, .zones = zones};
}

static uint64_t first_seed(void)
{
    const char *given = getenv("TAFFRAIL_SEED");
    return given == NULL ? 1 : strtoull(given, NULL, 10);
}

static void twenty_over_three_zones(void)
{
    struct stage stage;
    for (uint64_t seed = first_seed(); seed < first_seed() + SEEDS; seed++) {
        begin(&stage, seed, 20, 3);
        check(&stage, bring_up_level(&stage), "the zones are not balanced");
        arena_destroy(stage.arena);
    }
}

/* Up to six of ten in one zone, and none of the others there: twenty can still be within one. */
static void half_of_twenty_bound_unevenly(void)
{
    struct stage stage;
    for (uint64_t seed = first_seed(); seed < first_seed() + SEEDS / 4; seed++) {
        begin(&stage, seed, 20, 3);
        struct version *version = newest(&stage);
        for (int left = 10; left > 0;) {
            int index = (int)draw(&stage, 20);
            int zone = draw(&stage, 3) > 0 ? 0 : (int)draw(&stage, 3);
            zone = count_settled(version, zone) < 6 ? zone : 2;
            if (version->claims[index].phase != ABSENT)
                continue;
            version->claims[index] = (struct claim_state){BOUND, (signed char)zone};
            stage.sent[index] = zone;
            left--;
        }
        check(&stage, bring_up_level(&stage), "the rest does not level it");
        arena_destroy(stage.arena);
    }
}

static void disturb(struct stage *stage)
{
    int replicas = newest(stage)->replicas;
    switch (draw(stage, 4)) {
    case 0: /* scaled; claims beyond the end stay */
        change(stage)->replicas = 2 + (int)draw(stage, MOST_REPLICAS - 1);
        break;
    case 1: /* a zone more, or one less in which volumes are */
        change(stage)->zones = 2 + (int)draw(stage, MOST_ZONES - 2);
        if (newest(stage)->zones == 2)
            newest(stage)->zones = 3;
        break;
    case 2: /* some pods go with their claims */
        for (uint32_t i = draw(stage, 8); i > 0; i--)
            change(stage)->claims[draw(stage, (uint32_t)replicas)] = (struct claim_state){0};
        break;
    default: /* some come up, and are not all bound where they are sent */
        bring_up(stage, false, (int)draw(stage, 12));
    }
}

/* Two to seven zones, one of which may have no room for these pods. */
static void whatever_happens_the_rest_levels_it(void)
{
    struct stage stage;
    int balanced = 0;
    for (uint64_t seed = first_seed(); seed < first_seed() + SEEDS; seed++) {
        begin(&stage, seed, 0, 0);
        newest(&stage)->replicas = 2 + (int)draw(&stage, MOST_REPLICAS - 1);
        newest(&stage)->zones = 2 + (int)draw(&stage, MOST_ZONES - 2);
        stage.start = (int)draw(&stage, 3) * 13;
        if (newest(&stage)->zones > 2 && draw(&stage, 4) == 0)
            stage.dead_zone = (int)draw(&stage, (uint32_t)newest(&stage)->zones);
        for (uint32_t round = 1 + draw(&stage, 3); round > 0; round--) {
            for (uint32_t i = draw(&stage, 4); i > 0; i--)
                disturb(&stage);
            balanced += bring_up_level(&stage);
        }
        arena_destroy(stage.arena);
    }
    printf("%d rounds within one ", balanced);
    CU_ASSERT_TRUE(balanced > SEEDS);
}

const char unit_suite[] = "server pin balance";
const struct unit_test unit_tests[] = {
    {"twenty over three zones", twenty_over_three_zones},
    {"half of twenty bound unevenly", half_of_twenty_bound_unevenly},
    {"whatever happens, the rest levels it", whatever_happens_the_rest_levels_it},
    {NULL, NULL},
};
