/* Small random clusters: the plan is the same each time and in whatever order things are added, and
 * it keeps every hard constraint. A failure names its seed; TAFFRAIL_SEED runs one alone. */
#include "solver_fixture.h"

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(state >> 33) % limit;
}
static bool one_in(uint32_t n)
{
    return below(n) == 0;
}
#define PICK(list) ((list)[below(sizeof(list) / sizeof *(list))])

static const char *const zones[] = {"zone=test-zone-1", "zone=test-zone-2", "zone=test-zone-3"};
static const char *const apps[] = {"app=a", "app=b", "app=c"};
static const char *const keys[] = {"zone", "host", "capacity", "arch"};

static void random_topology(struct a_pod *pod)
{
    for (size_t i = 0; i < 2 && one_in(2); i++)
        pod->spreads[i] = (struct a_spread)SPREAD(
            PICK(keys), (int32_t)below(3) + 1, one_in(3) ? PICK(apps) : pod->labels,
            .soft = one_in(3), .min_domains = one_in(6) ? 2 : 0, .honor_taints = one_in(5),
            .ignore_affinity = one_in(5));
    if (one_in(3))
        pod->affinities[0] = (struct an_affinity){
            .key = PICK(keys),
            .selector = PICK(apps),
            .anti = one_in(2),
            .weight = one_in(3) ? (int32_t)below(100) + 1 : 0,
        };
}

static struct a_pod random_pod(void)
{
    static const char *const sizes[] = {NULL, "cpu 250m; memory 100M", "cpu 1; memory 1Gi",
                                        "cpu 2; memory 512Mi", "cpu 3; fake.com/vendor-a 1"};
    static const char *const tolerations[] = {NULL, NULL, "dedicated", "*"};
    struct a_pod pod = {
        .labels = PICK(apps), .requests = PICK(sizes), .tolerations = PICK(tolerations)};
    if (one_in(4))
        pod.selector = PICK(zones);
    if (one_in(5)) {
        pod.required[0] = "arch=arm64; zone NotIn test-zone-1";
        pod.required[1] = one_in(2) ? "capacity=on-demand" : NULL;
    }
    for (size_t i = 0; i < 2 && one_in(4); i++)
        pod.preferred[i] = i == 0 ? "10 zone In test-zone-2 nowhere" : "7 arch=arm64";
    random_topology(&pod);
    if (one_in(6))
        pod.ports[0] = (struct solver_host_port){"", "", 8080 + below(2), below(2) == 0};
    if (one_in(5))
        pod.volumes[0] =
            (struct a_volume)VOLUME("zone=test-zone-3 | zone=test-zone-1",
                                    .claim = one_in(2) ? "own-#" : "shared", .driver = "csi");
    return pod;
}

static void random_cluster(uint64_t seed, uint32_t shuffle)
{
    static const char *const taints[] = {NULL, NULL, "dedicated=x:NoSchedule",
                                         "soft=x:PreferNoSchedule"};
    static const char *const limits[] = {NULL, NULL, "cpu 40", "nodes 2"};
    static const char *const names[] = {"p1", "p2", "p3"};
    world_fresh();
    world.title = arena_printf(world.arena, "seed %llu", (unsigned long long)seed).data;
    world.shuffle = shuffle;
    state = seed * 2654435761U + 1;
    world.settings.ignore_preferences = one_in(6);
    for (size_t i = 0; i <= below(3); i++)
        POOL(.name = names[i], .weight = below(2) * 10, .taints = PICK(taints),
             .limits = PICK(limits), .requirements = one_in(4) ? "capacity=spot" : NULL);
    for (size_t i = 0; i < below(4); i++)
        NODE(.name = arena_printf(world.arena, "node-%zu", i).data, .taints = PICK(taints),
             .pool = one_in(2) ? "p1" : NULL, .uninitialized = one_in(3),
             .labels = arena_printf(world.arena, "%s; arch=amd64; capacity=spot", PICK(zones)).data,
             .allocatable = "cpu 4; memory 4Gi; pods 6", .attach = "csi 2");
    for (size_t i = 0; i < world.nodes.count && one_in(2); i++)
        POD(.labels = PICK(apps), .requests = "cpu 500m", .node = world.nodes.items[i].as.name);
    for (size_t i = 0; i < below(3); i++)
        DAEMON(.requests = "cpu 200m", .tolerations = PICK(taints) == NULL ? NULL : "*",
               .selector = one_in(3) ? PICK(zones) : NULL);
    for (size_t i = 0; i < 4 + below(5); i++) {
        struct a_pod pod = random_pod();
        world_pods(1 + below(4), &pod);
    }
}

/* A claim as text; its number is left out, its pods tell it from the others. */
static const char *claim_text(const struct solver_node_claim *claim)
{
    struct text_builder out = {.arena = world.arena};
    text_builder_printf(&out, "%s %s %s %s %lld [%s]", solver_pool_name(world.problem, claim->pool),
                        solver_type_name(world.problem, claim->type), claim->zone,
                        claim->capacity_type, (long long)claim->price_usd_micro,
                        claim_types(claim));
    for (uint32_t i = 0; i < solver_resource_count(world.problem); i++)
        if (claim->requests[i] != 0)
            text_builder_printf(&out, " %s=%lld", solver_resource_name(world.problem, i),
                                (long long)claim->requests[i]);
    return text_builder_text(&out).data;
}

/* Where every pod is, in the order the cluster was told. */
static const char *plan_text(void)
{
    struct text_builder out = {.arena = world.arena};
    for (size_t i = 0; i < world.pods.count; i++) {
        const struct world_pod *pod = &world.pods.items[i];
        const char *on = pod->place.kind == SOLVER_ON_NODE_CLAIM
                             ? claim_text(&world.plan->claims[pod->place.index])
                             : node_of(i);
        size_t first = 0;
        while (first < i && !same_node(first, i))
            first++;
        text_builder_printf(&out, "%s with %zu: %s\n", pod->name, first, on == NULL ? "none" : on);
    }
    return text_builder_text(&out).data;
}

static void for_each_seed(void (*check)(uint64_t seed))
{
    const char *one = getenv("TAFFRAIL_SEED");
    if (one != NULL)
        check(strtoull(one, NULL, 10));
    for (uint64_t seed = 1; one == NULL && seed <= 300; seed++)
        check(seed);
}

static void check_order(uint64_t seed)
{
    random_cluster(seed, 0);
    solve();
    struct arena *kept = arena_create((size_t)1 << 26);
    CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
    const char *expected = notation_copy(kept, text_of(plan_text()));
    world_solve();
    EXPECT_TEXT(plan_text(), expected);
    for (uint32_t shuffle = 1; shuffle <= 6; shuffle++) {
        random_cluster(seed, shuffle);
        solve();
        EXPECT_TEXT(plan_text(), expected);
    }
    arena_destroy(kept);
}

static void test_order(void)
{
    for_each_seed(check_order);
}

/* What the pods of one node request of a resource, daemons left aside. */
static int64_t requested_on(const char *node, const char *resource)
{
    int64_t sum = 0;
    for (size_t i = 0; i < world.pods.count; i++) {
        const char *on = node_of(i);
        if (on != NULL && strcmp(on, node) == 0)
            sum += strcmp(resource, "pods") == 0
                       ? 1
                       : world_amount(notation_amounts(world.arena, world.builder,
                                                       world.pods.items[i].as.requests),
                                      resource);
    }
    return sum;
}

static void check_node(const struct world_node *node)
{
    static const char *const resources[] = {"cpu", "memory", "pods", "fake.com/vendor-a"};
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        struct solver_amounts has =
            node->type != NULL ? world_resources(node->type, NULL, true)
                               : notation_amounts(world.arena, world.builder, node->as.allocatable);
        EXPECT_INT(requested_on(node->as.name, resources[i]) <= world_amount(has, resources[i]), 1);
    }
}

static bool in_words(const char *word, const struct solver_expression *expression)
{
    for (size_t i = 0; i < expression->value_count; i++)
        if (strcmp(word, expression->values[i]) == 0)
            return true;
    return false;
}

static bool term_holds(const char *node, const char *term)
{
    struct solver_expressions expressions = notation_expressions(world.arena, term);
    for (size_t i = 0; i < expressions.count; i++) {
        const char *label = node_label(node, expressions.items[i].key);
        if (in_words(label, &expressions.items[i]) != (expressions.items[i].op == SOLVER_IN))
            return false;
    }
    return true;
}

static void check_labels(size_t pod)
{
    const struct a_pod *as = &world.pods.items[pod].as;
    const char *node = node_of(pod);
    if (as->selector != NULL)
        EXPECT_INT(term_holds(node, as->selector), 1);
    if (as->required[0] != NULL)
        EXPECT_INT(term_holds(node, as->required[0]) ||
                       (as->required[1] != NULL && term_holds(node, as->required[1])),
                   1);
    if (as->volumes[0].where != NULL)
        EXPECT_INT(term_holds(node, "zone In test-zone-1 test-zone-3"), 1);
}

/* Of each two pods of one domain: required anti-affinity, and ports of one node. */
static void check_pairs(size_t a)
{
    const struct a_pod *first = &world.pods.items[a].as;
    for (size_t b = 0; b < world.pods.count; b++) {
        const struct a_pod *second = &world.pods.items[b].as;
        const struct an_affinity *term = &first->affinities[0];
        if (a == b || node_of(b) == NULL)
            continue;
        if (term->key != NULL && term->anti && term->weight == 0 &&
            has_labels(second, term->selector) && label_of(a, term->key)[0] != '\0')
            EXPECT_INT(strcmp(label_of(a, term->key), label_of(b, term->key)) != 0, 1);
        if (first->ports[0].port != 0 && first->ports[0].port == second->ports[0].port)
            EXPECT_OTHER_NODE(a, b);
    }
}

static void check_validity(uint64_t seed)
{
    random_cluster(seed, 0);
    provision();
    for (size_t i = 0; i < world.nodes.count; i++)
        check_node(&world.nodes.items[i]);
    for (size_t i = 0; i < world.pods.count; i++)
        if (world.pods.items[i].place.kind != SOLVER_UNSCHEDULABLE) {
            check_labels(i);
            check_pairs(i);
        }
}

static void test_validity(void)
{
    for_each_seed(check_validity);
}

/* Rounds end: what was placed stays, and nothing new comes of asking again. */
static void check_rest(uint64_t seed)
{
    random_cluster(seed, 0);
    size_t rounds = 0, nodes, pending;
    do {
        nodes = world.nodes.count;
        provision();
        pending = world.plan->unschedulable_count;
        rounds++;
    } while (world.plan->placement_count > pending && rounds < 100);
    EXPECT_INT(rounds < 100, 1);
    EXPECT_INT(world.nodes.count, nodes);
    size_t without = 0;
    for (size_t i = 0; i < world.pods.count; i++)
        without += node_of(i) == NULL;
    EXPECT_INT(without, pending);
}

/* A pod without a place has reasons, in order, and those of a pool for every pool. */
static void check_reasons(uint64_t seed)
{
    random_cluster(seed, 0);
    solve();
    for (size_t i = 0; i < world.pods.count; i++) {
        if (node_of(i) != NULL)
            continue;
        struct reasons_words reasons =
            reasons_tell(solver_explain(world.run, world.pods.items[i].number), world.arena);
        EXPECT_INT(reasons.count > 0, 1);
        uint64_t pools = 0;
        for (size_t j = 0; j < reasons.count; j++) {
            const struct reason_words *reason = &reasons.items[j], *before = reason - 1;
            EXPECT_INT(reason->message[0] != '\0' && strchr(reason->message, '\n') == NULL, 1);
            EXPECT_INT(reason->nearest != NULL && strchr(reason->nearest, '\n') == NULL, 1);
            EXPECT_INT(j == 0 || reason->pool + 1 > before->pool + 1 ||
                           (reason->pool == before->pool && reason->kind > before->kind),
                       1);
            pools |= reason->pool == SOLVER_NONE ? UINT64_MAX : (uint64_t)1 << reason->pool;
        }
        for (uint32_t pool = 0; pool < solver_pool_count(world.problem); pool++)
            EXPECT_INT(pools >> pool & 1, 1);
    }
}

static void test_reasons(void)
{
    for_each_seed(check_reasons);
}

static void test_rest(void)
{
    for_each_seed(check_rest);
}

const char unit_suite[] = "solver determinism";
const struct unit_test unit_tests[] = {
    {"whatever the order", test_order},
    {"hard constraints hold", test_validity},
    {"rounds come to rest", test_rest},
    {"no place without reasons", test_reasons},
    {NULL, NULL},
};
