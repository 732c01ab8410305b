/* Reviews that a connection answers without reading them again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/known_review.h"
#include "unit.h"
#include "world_of_text.h"

enum { NOW = 1795230245, NUMBER = 7, AT_MS = 1000000, BODY_BYTES_MAX = 64 << 10 };

static const char policy_text[] = "apiVersion: taffrail.dev/v1alpha1\n"
                                  "kind: GuardRails\n"
                                  "metadata: {name: production}\n"
                                  "spec:\n"
                                  "  mode: enforce\n"
                                  "  rails:\n"
                                  "    topology-keys: {}\n"
                                  "    shared-volume: {mode: warn}\n";

/* A Pod as its controller makes it, and what is asked about it. */
struct pod {
    const char *uid, *request_name, *name, *pod_uid, *created, *managed;
    const char *volume, *mount, *second_volume; /* the names of volumes and of a mount */
    const char *generate_name, *operation, *sub_resource, *user, *owner, *kind;
    const char *topology_key, *label, *padding;
};

static const struct pod made = {
    .uid = "5a0c1b7e-3f43-4d0c-9a70-6c1b8a4a3c21",
    .request_name = "web-7c9d8f6b54-x2k8p",
    .name = "web-7c9d8f6b54-x2k8p",
    .pod_uid = "0d3c9f1a-7a52-4b66-8f0e-2d4c5b6a7988",
    .created = "2026-05-04T08:15:16Z",
    .managed = "2026-05-04T08:15:16Z",
    .volume = "kube-api-access-8zq4m",
    .mount = "kube-api-access-8zq4m",
    .second_volume = "config",
    .generate_name = "web-7c9d8f6b54-",
    .operation = "CREATE",
    .sub_resource = "",
    .user = "system:serviceaccount:kube-system:replicaset-controller",
    .owner = "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\","
             "\"name\":\"web-7c9d8f6b54\",\"uid\":\"u\",\"controller\":true}],",
    .kind = "Pod",
    .topology_key = "topology.kubernetes.io/zone",
    .label = "a",
    .padding = "",
};

static struct text body_of(const struct pod *pod, struct arena *arena)
{
    return arena_printf(
        arena,
        "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{"
        "\"uid\":\"%s\",\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},"
        "\"subResource\":\"%s\",\"name\":\"%s\",\"namespace\":\"shop\",\"operation\":\"%s\","
        "\"userInfo\":{\"username\":\"%s\"},"
        "\"object\":{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
        "\"generateName\":\"%s\",\"namespace\":\"shop\",\"uid\":\"%s\","
        "\"creationTimestamp\":\"%s\",\"labels\":{\"app\":\"%s\"},"
        "\"annotations\":{\"padding\":\"%s\"},%s"
        "\"managedFields\":[{\"manager\":\"m\",\"time\":\"%s\",\"fieldsV1\":{\"f:spec\":{}}}]},"
        "\"spec\":{\"volumes\":[{\"name\":\"%s\",\"projected\":{}},{\"name\":\"%s\","
        "\"configMap\":{\"name\":\"c\"}}],\"containers\":[{\"name\":\"web\",\"volumeMounts\":[{"
        "\"name\":\"%s\",\"mountPath\":\"/v\"}]}],\"topologySpreadConstraints\":[{"
        "\"topologyKey\":\"%s\"}]}}}}",
        pod->uid, pod->sub_resource, pod->request_name, pod->operation, pod->user, pod->kind,
        pod->name, pod->generate_name, pod->pod_uid, pod->created, pod->label, pod->padding,
        pod->owner, pod->managed, pod->volume, pod->second_volume, pod->mount, pod->topology_key);
}

static struct world *world;
static struct arena *arena;
static struct known_reviews known;
static atomic_size_t bytes;

static void set_up(void)
{
    arena = arena_create(1 << 26);
    world = world_of_text(policy_text, (struct world_options){0}, 1, NOW);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
}

static void tear_down(void)
{
    known_reviews_free(&known, &bytes);
    CU_ASSERT_EQUAL(atomic_load(&bytes), 0);
    world_destroy(world);
    arena_destroy(arena);
}

/* The body is judged as a whole, and kept if it may be. Its answer; empty: there is none. */
static struct text judge(enum review_phase phase, struct text body, struct review_record *record)
{
    struct text answer = TEXT("");
    struct error error;
    if (!review_answer(world, phase, body, NOW, arena, &answer, record, &error))
        return TEXT("");
    if (record->variables != NULL)
        known_reviews_add(&known, &bytes, phase, NUMBER, AT_MS, body, record->variables, answer);
    return answer;
}

static bool is_kept(enum review_phase phase, const struct pod *pod)
{
    struct review_record record;
    CU_ASSERT_FATAL(judge(phase, body_of(pod, arena), &record).size > 0);
    return record.variables != NULL;
}

static struct text ask(const struct pod *pod)
{
    return known_reviews_answer(&known, REVIEW_VALIDATE, NUMBER, AT_MS, body_of(pod, arena));
}

/* ---- the tests ---- */

#define WITH(field, text) ((struct pod){.field = (text)})

/* What is given of the changes stands in place of what the Pod has. */
static struct pod changed(const struct pod *changes)
{
    struct pod pod = made;
    const char *const *given = (const char *const *)(const void *)changes;
    const char **fields = (const char **)(void *)&pod;
    for (size_t i = 0; i < sizeof pod / sizeof *fields; i++)
        if (given[i] != NULL)
            fields[i] = given[i];
    return pod;
}

static void pods_that_differ_in_names_get_the_answer_of_the_first(void)
{
    static const struct pod alike[] = {
        {.uid = "5a0c1b7e-3f43-4d0c-9a70-6c1b8a4a3c22"},
        {.request_name = "web-7c9d8f6b54-zzzzz", .name = "web-7c9d8f6b54-zzzzz"},
        {.pod_uid = "1d3c9f1a-7a52-4b66-8f0e-2d4c5b6a7989"},
        {.created = "2026-05-04T08:15:17Z"},
        {.managed = "2026-05-04T08:15:18Z"},
        {.volume = "kube-api-access-00000", .mount = "kube-api-access-00000"},
        {.uid = "00000000-0000-0000-0000-000000000000",
         .request_name = "web-7c9d8f6b54-abcde",
         .name = "web-7c9d8f6b54-abcde",
         .pod_uid = "00000000-0000-0000-0000-000000000001",
         .volume = "kube-api-access-22222",
         .mount = "kube-api-access-22222"},
    };
    CU_ASSERT(is_kept(REVIEW_VALIDATE, &made));
    for (size_t i = 0; i < COUNT_OF(alike); i++) {
        struct pod pod = changed(&alike[i]);
        struct text answer = arena_printf(arena, "%.*s", TEXT_ARGS(ask(&pod)));
        struct review_record record;
        struct text whole = judge(REVIEW_VALIDATE, body_of(&pod, arena), &record);
        CU_ASSERT(whole.size > 0 && text_equal(answer, whole));
        CU_ASSERT(text_holds(answer, text_of(pod.uid)));
    }
}

static void pods_that_differ_elsewhere_are_judged(void)
{
    static const struct pod others[] = {
        {.topology_key = "zone.of.nobody.example/zone"}, /* as long as the allowed one */
        {.label = "b"},
        {.user = "system:serviceaccount:kube-system:replicaset-controllex"},
        {.name = "web-7c9d8f6b54-zzzzz"}, /* and another of the request */
        {.request_name = "web-7c9d8f6b54-zzzzz"},
        {.request_name = "wab-7c9d8f6b54-x2k8p", .name = "wab-7c9d8f6b54-x2k8p"},
        {.request_name = "web-7c9d8f6b54-x2k8", .name = "web-7c9d8f6b54-x2k8"},
        {.request_name = "web-7c9d8f6b54-\\\"k8p", .name = "web-7c9d8f6b54-\\\"k8p"},
        {.uid = "5a0c1b7e 3f43-4d0c-9a70-6c1b8a4a3c21"},
        {.volume = "kube-api-access-00000"}, /* its mount is of another volume */
        {.mount = "kube-api-access-00000"},
        {.second_volume = "confix"},
        {.operation = "UPDATE"},
        {.padding = "."},
    };
    CU_ASSERT(is_kept(REVIEW_VALIDATE, &made));
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        struct pod pod = changed(&others[i]);
        CU_ASSERT_EQUAL(ask(&pod).size, 0);
    }
    CU_ASSERT(ask(&made).size > 0);
}

/* Whether a Pod is kept at all. */
static void what_may_hang_on_a_name_is_not_kept(void)
{
    static const struct {
        const char *what;
        struct pod pod;
        enum review_phase phase;
        bool kept;
    } cases[] = {
        {"made by its controller", {0}, REVIEW_VALIDATE, true},
        {"a volume of another kind", {.volume = "data", .mount = "data"}, REVIEW_VALIDATE, true},
        {"two volumes of that name, so none is taken for the token's",
         {.second_volume = "kube-api-access-99999"},
         REVIEW_VALIDATE,
         true},
        {"something is found", {.topology_key = "zone"}, REVIEW_VALIDATE, false},
        {"match would ask for its own name", {.owner = ""}, REVIEW_VALIDATE, false},
        {"somebody writes that it has a controller", {.user = "jane"}, REVIEW_VALIDATE, false},
        {"its name is not generated", {.generate_name = ""}, REVIEW_VALIDATE, false},
        {"its name is not of generateName",
         {.request_name = "evil", .name = "evil"},
         REVIEW_VALIDATE,
         false},
        {"its name is not that of the request",
         {.name = "web-7c9d8f6b54-evil1"},
         REVIEW_VALIDATE,
         false},
        {"the request's name is not of generateName",
         {.request_name = "evil"},
         REVIEW_VALIDATE,
         false},
        {"the request says the name, and the Pod does not", {.name = ""}, REVIEW_VALIDATE, true},
        {"the Pod says the name, and the request does not",
         {.request_name = ""},
         REVIEW_VALIDATE,
         true},
        {"the name is written with an escape",
         {.request_name = "web-7c9d8f6b54-abcde", .name = "web-7c9d8f6b54-\\u0061bcde"},
         REVIEW_VALIDATE,
         false},
        {"it is no Pod", {.kind = "PodTemplate"}, REVIEW_VALIDATE, false},
        {"it is not created", {.operation = "UPDATE"}, REVIEW_VALIDATE, false},
        {"it is a subresource", {.sub_resource = "binding"}, REVIEW_VALIDATE, false},
        {"it may be changed, and has a name", {0}, REVIEW_MUTATE, false},
        {"it may be changed, and the request has a name", {.name = ""}, REVIEW_MUTATE, false},
        {"it may be changed, and has none yet",
         {.request_name = "", .name = ""},
         REVIEW_MUTATE,
         true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct pod pod = changed(&cases[i].pod);
        if (is_kept(cases[i].phase, &pod) != cases[i].kept) {
            fprintf(stderr, "%s\n", cases[i].what);
            CU_FAIL("kept, or not, against what is said");
        }
    }
}

static void a_pod_with_two_such_volumes_keeps_both_names(void)
{
    struct pod two = changed(&WITH(second_volume, "kube-api-access-99999"));
    CU_ASSERT(is_kept(REVIEW_VALIDATE, &two));
    CU_ASSERT(ask(&two).size > 0);
    two.second_volume = "kube-api-access-99997";
    CU_ASSERT_EQUAL(ask(&two).size, 0);
    two = changed(&WITH(second_volume, "kube-api-access-99999"));
    two.volume = two.mount = "kube-api-access-99998";
    CU_ASSERT_EQUAL(ask(&two).size, 0);
}

static void another_world_phase_or_time_judges_again(void)
{
    struct text body = body_of(&made, arena);
    CU_ASSERT(is_kept(REVIEW_VALIDATE, &made));
    const struct {
        enum review_phase phase;
        uint64_t number;
        int64_t at_ms;
        bool known;
    } cases[] = {
        {REVIEW_VALIDATE, NUMBER, AT_MS, true},
        {REVIEW_VALIDATE, NUMBER, AT_MS + KNOWN_FOR_MS - 1, true},
        {REVIEW_VALIDATE, NUMBER, AT_MS + KNOWN_FOR_MS, false},
        {REVIEW_VALIDATE, NUMBER + 1, AT_MS, false},
        {REVIEW_VALIDATE, NUMBER - 1, AT_MS, false},
        {REVIEW_MUTATE, NUMBER, AT_MS, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        CU_ASSERT_EQUAL(
            known_reviews_answer(&known, cases[i].phase, cases[i].number, cases[i].at_ms, body)
                    .size > 0,
            cases[i].known);
}

static void the_oldest_is_replaced(void)
{
    static const char *const labels[] = {"a", "b", "c", "d", "e"};
    CU_ASSERT_EQUAL_FATAL(COUNT_OF(labels), KNOWN_REVIEWS + 1);
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        struct pod pod = changed(&WITH(label, labels[i]));
        CU_ASSERT(is_kept(REVIEW_VALIDATE, &pod));
    }
    for (size_t i = 0; i < COUNT_OF(labels); i++) {
        struct pod pod = changed(&WITH(label, labels[i]));
        CU_ASSERT_EQUAL(ask(&pod).size > 0, i > 0);
    }
}

static const char *padding_of(size_t size)
{
    char *padding = ARENA_ARRAY(arena, size + 1, char);
    memset(padding, 'x', size);
    padding[size] = '\0';
    return padding;
}

/* The body of that size in bytes. */
static struct pod pod_of_size(size_t size)
{
    size_t rest = body_of(&made, arena).size;
    return changed(&WITH(padding, padding_of(size - rest)));
}

static void long_bodies_are_not_kept(void)
{
    struct pod longest = pod_of_size(KNOWN_BODY_BYTES_MAX);
    struct pod longer = pod_of_size(KNOWN_BODY_BYTES_MAX + 1);
    CU_ASSERT(is_kept(REVIEW_VALIDATE, &longest));
    CU_ASSERT_FALSE(is_kept(REVIEW_VALIDATE, &longer));
}

/* As if other connections had taken the rest. */
static void all_connections_share_a_limit(void)
{
    struct pod second = changed(&WITH(label, "b"));
    CU_ASSERT(is_kept(REVIEW_VALIDATE, &made));
    size_t one = atomic_load(&bytes);
    CU_ASSERT(one > body_of(&made, arena).size);
    atomic_fetch_add(&bytes, KNOWN_BYTES_LIMIT - 2 * one + 1);
    (void)is_kept(REVIEW_VALIDATE, &second);
    CU_ASSERT_EQUAL(ask(&second).size, 0);
    CU_ASSERT(ask(&made).size > 0);
    CU_ASSERT_EQUAL(atomic_load(&bytes), KNOWN_BYTES_LIMIT - one + 1);
    atomic_fetch_sub(&bytes, 1);
    (void)is_kept(REVIEW_VALIDATE, &second);
    CU_ASSERT(ask(&second).size > 0);
    CU_ASSERT_EQUAL(atomic_load(&bytes), KNOWN_BYTES_LIMIT);
    atomic_fetch_sub(&bytes, KNOWN_BYTES_LIMIT - 2 * one);
}

static void an_answer_without_its_uid_is_not_kept(void)
{
    struct review_record record;
    struct text body = body_of(&made, arena);
    CU_ASSERT_FATAL(judge(REVIEW_VALIDATE, body, &record).size > 0 && record.variables != NULL);
    known_reviews_free(&known, &bytes);
    static const char *const answers[] = {
        "",
        "{\"response\":{}}",
        "{\"response\":{\"uid\":\"other\",\"allowed\":true}}",
        "{\"response\":{\"uid\":\"5a0c1b7e-3f43",
    };
    for (size_t i = 0; i < COUNT_OF(answers); i++) {
        known_reviews_add(&known, &bytes, REVIEW_VALIDATE, NUMBER, AT_MS, body, record.variables,
                          text_of(answers[i]));
        CU_ASSERT_EQUAL(ask(&made).size, 0);
        CU_ASSERT_EQUAL(atomic_load(&bytes), 0);
    }
}

#define IN_WORLD(test)                \
    static void in_world_##test(void) \
    {                                 \
        set_up();                     \
        test();                       \
        tear_down();                  \
    }
IN_WORLD(pods_that_differ_in_names_get_the_answer_of_the_first)
IN_WORLD(pods_that_differ_elsewhere_are_judged)
IN_WORLD(what_may_hang_on_a_name_is_not_kept)
IN_WORLD(a_pod_with_two_such_volumes_keeps_both_names)
IN_WORLD(another_world_phase_or_time_judges_again)
IN_WORLD(the_oldest_is_replaced)
IN_WORLD(long_bodies_are_not_kept)
IN_WORLD(all_connections_share_a_limit)
IN_WORLD(an_answer_without_its_uid_is_not_kept)

const char unit_suite[] = "server/known review";
const struct unit_test unit_tests[] = {
    {"pods that differ in names get the answer of the first",
     in_world_pods_that_differ_in_names_get_the_answer_of_the_first},
    {"pods that differ elsewhere are judged", in_world_pods_that_differ_elsewhere_are_judged},
    {"what may hang on a name is not kept", in_world_what_may_hang_on_a_name_is_not_kept},
    {"a pod with two such volumes keeps both names",
     in_world_a_pod_with_two_such_volumes_keeps_both_names},
    {"another world, phase or time judges again",
     in_world_another_world_phase_or_time_judges_again},
    {"the oldest is replaced", in_world_the_oldest_is_replaced},
    {"long bodies are not kept", in_world_long_bodies_are_not_kept},
    {"all connections share a limit", in_world_all_connections_share_a_limit},
    {"an answer without its uid is not kept", in_world_an_answer_without_its_uid_is_not_kept},
    {NULL, NULL},
};
