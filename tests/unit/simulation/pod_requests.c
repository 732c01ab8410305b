/* What whole pods request: containers, init containers, sidecars, overhead and defaults. */
#include "cluster_fixture.h"
#include "kube/pod.h"
#include "object_fixture.h"
#include "simulation/amounts.h"

const char unit_suite[] = "simulation pod requests";

enum { BUDGET_BYTES = 16 << 20 };

struct requests_case {
    const char *name;
    const char *spec; /* of the pod; with a status where it has one */
    const char *requests;
};

static struct text lines_of(struct fixture *fixture, const char *pod, const char *limit_range)
{
    const char *documents[] = {pod, limit_range};
    const struct snapshot *snapshot =
        fixture_snapshot(fixture, documents, limit_range == NULL ? 1 : 2);
    struct workload workload;
    CU_ASSERT_FATAL(
        workload_read(snapshot_object(snapshot, KIND_POD, 0), fixture->arena, &workload));
    struct named_amounts requests;
    struct error error = {0};
    if (!pod_requests_read(snapshot, &workload, fixture->arena, &requests, &error))
        return arena_text(fixture->arena, text_of(error.what));
    struct text_builder text = {.arena = fixture->arena};
    for (size_t i = 0; i < requests.count; i++)
        text_builder_printf(&text, "%s%s %lld", i == 0 ? "" : ", ", requests.items[i].resource,
                            (long long)requests.items[i].quantity);
    return text_builder_text(&text);
}

static void run_cases(const struct requests_case *cases, size_t count, const char *metadata,
                      const char *limit_range)
{
    for (size_t i = 0; i < count; i++) {
        struct fixture fixture = {.arena = arena_create(BUDGET_BYTES)};
        struct text pod =
            arena_printf(fixture.arena, "{apiVersion: v1, kind: Pod, metadata: {%s}, spec: %s}",
                         metadata, cases[i].spec);
        struct text lines = lines_of(&fixture, pod.data, limit_range);
        if (!text_is(lines, cases[i].requests))
            fprintf(stderr, "in \"%s\":\n", cases[i].name);
        ASSERT_TEXT(lines, cases[i].requests);
        arena_destroy(fixture.arena);
    }
}

#define C(requests) "{name: c, resources: {requests: {" requests "}}}"
#define SIDECAR(requests) "{name: s, restartPolicy: Always, resources: {requests: {" requests "}}}"

/* The figures are those of k8s.io/component-helpers/resource.PodRequests. */
static void a_pod_asks_for_what_its_containers_need_together(void)
{
    static const struct requests_case cases[] = {
        {"nothing", "{containers: [{name: c}]}", ""},
        {"the sum", "{containers: [" C("cpu: 100m, memory: 1Mi") ", " C("cpu: '0.5'") "]}",
         "cpu 600, memory 1048576"},
        {"limits stand in for requests, resource by resource",
         "{containers: [{name: c, resources: {limits: {cpu: 1, memory: 1k}, requests: {cpu: "
         "200m}}}]}",
         "cpu 200, memory 1000"},
        {"fractions of a byte are rounded up once",
         "{containers: [" C("memory: 400m") ", " C("memory: 400m") "]}", "memory 1"},
        {"an init container that needs less",
         "{containers: [" C("cpu: 2") "], initContainers: [" C("cpu: 1") "]}", "cpu 2000"},
        {"one that needs more",
         "{containers: [" C("cpu: 2") "], initContainers: [" C("cpu: 3") "]}", "cpu 3000"},
        {"one after the other",
         "{containers: [" C("cpu: 2") "], initContainers: [" C("cpu: 3") ", " C("cpu: 3") "]}",
         "cpu 3000"},
        {"a sidecar runs beside the containers",
         "{containers: [" C("cpu: 2") "], initContainers: [" SIDECAR("cpu: 1") "]}", "cpu 3000"},
        {"and beside the init containers after it",
         "{containers: [" C("cpu: 1") "], initContainers: [" SIDECAR("cpu: 1") ", " C(
             "cpu: 3") "]}",
         "cpu 4000"},
        {"not those before it",
         "{containers: [" C("cpu: 1") "], initContainers: [" C("cpu: 3") ", " SIDECAR(
             "cpu: 1") "]}",
         "cpu 3000"},
        {"overhead comes on top",
         "{containers: [" C("cpu: 1") "], overhead: {cpu: 250m, memory: 1Mi}}",
         "cpu 1250, memory 1048576"},
        {"what the pod says goes before its containers",
         "{containers: [" C("cpu: 1, memory: 5") "], resources: {requests: {cpu: 3}}, overhead: "
                                                 "{cpu: 1}}",
         "cpu 4000, memory 5"},
        {"its limit only where nobody else says anything",
         "{containers: [" C("cpu: 1") "], resources: {limits: {cpu: 3, memory: 7}}}",
         "cpu 1000, memory 7"},
        {"its limit of huge pages even where a container says something",
         "{containers: [" C("hugepages-2Mi: 2Mi") "], resources: {limits: {hugepages-2Mi: 4Mi}}}",
         "hugepages-2Mi 4194304"},
        {"but not where the pod requests some",
         "{containers: [{name: c}], resources: {limits: {hugepages-2Mi: 4Mi}, requests: "
         "{hugepages-2Mi: 2Mi}}}",
         "hugepages-2Mi 2097152"},
        {"only what a pod can say of itself",
         "{containers: [" C("cpu: 1, memory: 5") "], resources: {requests: {memory: 9, "
                                                 "nvidia.com/gpu: 1}}}",
         "cpu 1000, memory 9"},
        {"null is nothing", "{containers: [" C("cpu: null, memory: 5") "]}", "memory 5"},
        {"extended resources", "{containers: [" C("nvidia.com/gpu: 2") "]}", "nvidia.com/gpu 2"},
        {"the most there is in thousandths", "{containers: [" C("memory: '9223372036854775'") "]}",
         "memory 9223372036854775"},
    };
    run_cases(cases, COUNT_OF(cases), "name: p", NULL);
}

static void no_quantity_is_named(void)
{
    static const struct requests_case cases[] = {
        {"no number", "{containers: [" C("cpu: lots") "]}",
         "the request of cpu is \"lots\", which is no quantity of 0 or more"},
        {"negative", "{containers: [{name: c, resources: {limits: {memory: -1Gi}}}]}",
         "the limit of memory is \"-1Gi\", which is no quantity of 0 or more"},
        {"too large", "{containers: [" C("memory: 9223372036854776") "]}",
         "the request of memory is \"9223372036854776\", which is too large: it may be 9.2P at "
         "most"},
        {"too large together", "{containers: [" C("memory: 9P") ", " C("memory: 9P") "]}",
         "the pod's requests of memory together are too large: they may be 9.2P at most"},
        {"of an init container", "{containers: [{name: c}], initContainers: [" C("cpu: x") "]}",
         "the request of cpu is \"x\", which is no quantity of 0 or more"},
        {"of the pod", "{containers: [{name: c}], resources: {requests: {memory: x}}}",
         "the pod's request of memory is \"x\", which is no quantity of 0 or more"},
        {"the pod's limit", "{containers: [{name: c}], resources: {limits: {memory: x}}}",
         "the pod's limit of memory is \"x\", which is no quantity of 0 or more"},
        {"in the status",
         "{containers: [{name: c}]}, status: {containerStatuses: [{name: c, resources: {requests: "
         "{cpu: x}}}]}",
         "the status of cpu is \"x\", which is no quantity of 0 or more"},
        {"overhead", "{containers: [{name: c}], overhead: {cpu: x}}",
         "the overhead of cpu is \"x\", which is no quantity of 0 or more"},
    };
    run_cases(cases, COUNT_OF(cases), "name: p", NULL);
}

#define LIMIT_RANGE                                                                   \
    "{apiVersion: v1, kind: LimitRange, metadata: {name: r}, spec: {limits: [{type: " \
    "Container, defaultRequest: {cpu: 100m, memory: 1Mi}}]}}"

static void limit_ranges_fill_in_what_is_missing(void)
{
    static const struct requests_case cases[] = {
        {"for each container",
         "{containers: [{name: a}, {name: b, resources: {requests: {cpu: 1}}}]}",
         "cpu 1100, memory 2097152"},
        {"a limit goes before", "{containers: [{name: a, resources: {limits: {memory: 5}}}]}",
         "memory 5, cpu 100"},
        {"so does a limit of the pod",
         "{containers: [{name: a}], resources: {limits: {cpu: 30, memory: 60}}}",
         "cpu 30000, memory 60"},
        {"and a request of the pod", "{containers: [{name: a}], resources: {requests: {cpu: 3}}}",
         "cpu 3000, memory 1048576"},
        {"a pod with a limit requests what its containers do by themselves",
         "{containers: [{name: a}, {name: b, resources: {requests: {cpu: 1}}}], resources: "
         "{limits: {cpu: 30}}}",
         "cpu 1000, memory 2097152"},
        {"also of what it has no limit of",
         "{containers: [{name: a}, {name: b, resources: {limits: {cpu: 1}}}], initContainers: "
         "[" C("cpu: 2") "], resources: {limits: {memory: 60}}}",
         "cpu 2000, memory 60"},
        {"but of what no pod can say of itself",
         "{containers: [{name: a, resources: {requests: {ephemeral-storage: 1}}}], resources: "
         "{limits: {cpu: 3, ephemeral-storage: 5}}}",
         "ephemeral-storage 1, cpu 3000, memory 1048576"},
    };
    run_cases(cases, COUNT_OF(cases), "name: p", LIMIT_RANGE);
    static const struct requests_case wrong[] = {
        {"a default that is no quantity", "{containers: [{name: a}]}",
         "the LimitRange's default for cpu is \"lots\", which is no quantity of 0 or more"},
        {"and is not asked for", "{containers: [" C("cpu: 1") "]}", "cpu 1000"},
    };
    run_cases(wrong, COUNT_OF(wrong), "name: p",
              "{apiVersion: v1, kind: LimitRange, metadata: {name: r}, spec: {limits: [{type: "
              "Container, defaultRequest: {cpu: lots}}]}}");
    static const struct requests_case limits[] = {
        {"the most that is allowed is no default", "{containers: [{name: a}]}", ""},
    };
    run_cases(limits, COUNT_OF(limits), "name: p",
              "{apiVersion: v1, kind: LimitRange, metadata: {name: r}, spec: {limits: [{type: "
              "Container, maxLimitRequestRatio: {cpu: 2}}]}}");
    /* One that is stored has had them, if they were there then. */
    static const struct requests_case stored[] = {
        {"not for a stored pod", "{containers: [{name: a}]}", ""},
    };
    run_cases(stored, COUNT_OF(stored), "name: p, uid: u", LIMIT_RANGE);
}

static void a_resize_under_way_holds_both(void)
{
#define STATUS(more)                                                                              \
    "{containers: [" C("cpu: 1, memory: 10") "]}, status: {" more                                 \
                                             "containerStatuses: [{name: c, allocatedResources: " \
                                             "{cpu: 2}, resources: {requests: {cpu: "             \
                                             "500m, memory: 20}}}]"
    static const struct requests_case cases[] = {
        {"the greatest of what is wanted, given and used", STATUS("") "}", "cpu 2000, memory 20"},
        {"what cannot be given is not waited for",
         "{containers: [" C("cpu: 9") "]}, status: {conditions: [{type: PodResizePending, reason: "
                                      "Infeasible, status: 'True'}], containerStatuses: [{name: c, "
                                      "allocatedResources: {cpu: "
                                      "2}, resources: {requests: {cpu: 1}}}]}",
         "cpu 2000"},
    };
    run_cases(cases, COUNT_OF(cases), "name: p, uid: u", NULL);
}

static void what_machines_have_is_rounded_down(void)
{
    static const struct {
        const char *allocatable, *amounts;
    } cases[] = {
        {"{cpu: 1900m, memory: 1500m, pods: '110'}", "cpu 1900, memory 1, pods 110"},
        {"{memory: 10P, cpu: null}", "memory 10000000000000000"},
        {"{memory: -1500m}", "status.allocatable.memory is \"-1500m\", which is no quantity of 0 "
                             "or more"},
        {"{memory: -10P}",
         "status.allocatable.memory is \"-10P\", which is no quantity of 0 or more"},
        {"{memory: x}", "status.allocatable.memory is \"x\", which is no quantity of 0 or more"},
        {"{memory: 10E}",
         "status.allocatable.memory is \"10E\", which is too large: it may be 9.2E at most"},
        {"{cpu: 10P}",
         "status.allocatable.cpu is \"10P\", which is too large: it may be 9.2P at most"},
        {"{cpu: -1}", "status.allocatable.cpu is \"-1\", which is no quantity of 0 or more"},
        {"[]", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(BUDGET_BYTES);
        struct text yaml =
            arena_printf(arena,
                         "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: "
                         "{allocatable: %s}}",
                         cases[i].allocatable);
        const struct object *node = fixture_object(arena, yaml.data, "");
        struct named_amounts amounts;
        struct error error = {0};
        struct text_builder text = {.arena = arena};
        if (!named_amounts_read(node, field_at(arena, node->root, "status.allocatable"), arena,
                                &amounts, &error))
            text_builder_add(&text, text_of(error.what));
        for (size_t j = 0; error.what[0] == '\0' && j < amounts.count; j++)
            text_builder_printf(&text, "%s%s %lld", j == 0 ? "" : ", ", amounts.items[j].resource,
                                (long long)amounts.items[j].quantity);
        ASSERT_TEXT(text_builder_text(&text), cases[i].amounts);
        arena_destroy(arena);
    }
}

const struct unit_test unit_tests[] = {
    {"what machines have is rounded down", what_machines_have_is_rounded_down},
    {"a pod asks for what its containers need together",
     a_pod_asks_for_what_its_containers_need_together},
    {"no quantity is named", no_quantity_is_named},
    {"limit ranges fill in what is missing", limit_ranges_fill_in_what_is_missing},
    {"a resize under way holds both", a_resize_under_way_holds_both},
    {NULL, NULL},
};
