/* The rail resource-requests: what counts as a request, and what is too much. */
#include "rail_modes.h"

#define POD(spec) "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {" spec "}}"
#define CONTAINER(resources) POD("containers: [{name: app, resources: {" resources "}}]")
#define AT "spec.containers[0].resources."
#define NO_CPU "deny " AT "requests.cpu "
#define NO_MEMORY "deny " AT "requests.memory "
#define NEITHER NO_CPU "\n" NO_MEMORY

static void every_container_must_request(void)
{
    static const struct rail_case cases[] = {
        {CONTAINER("requests: {cpu: 100m, memory: 1Gi}"), ""},
        {CONTAINER("requests: {cpu: 1, memory: 1000000}"), ""},
        {CONTAINER("requests: {cpu: 0.5, memory: 1e9}"), ""},
        {CONTAINER("requests: {cpu: 1m, memory: 1Gi}"), ""}, /* little, but not none */
        {CONTAINER("limits: {cpu: 1, memory: 1Gi}"), ""},
        {CONTAINER("requests: {cpu: 1}, limits: {memory: 1Gi}"), ""},
        {CONTAINER(""), NEITHER},
        {CONTAINER("requests: null, limits: null"), NEITHER},
        {CONTAINER("requests: {cpu: 1}"), NO_MEMORY},
        {CONTAINER("requests: {cpu: 1, memory: null}"), NO_MEMORY},
        /* nothing is not a request, whatever the limit */
        {CONTAINER("requests: {cpu: 0, memory: 1Gi}, limits: {cpu: 2}"), NO_CPU "0"},
        /* nor is one of which the limit makes nothing */
        {CONTAINER("requests: {cpu: 1}, limits: {memory: 0}"), NO_MEMORY},
        {CONTAINER("requests: [cpu, memory]"), NEITHER},
        {POD("containers: [{name: app}]"), NEITHER},
        {POD("containers: [5, null]"), ""},
        {POD("containers: {}"), ""},
        {"{apiVersion: v1, kind: Pod, metadata: {name: p}}", ""},
        /* each list, and containers that nobody can give resources */
        {POD("initContainers: [{name: a}, {name: b, restartPolicy: Always, resources: {requests: "
             "{cpu: 1, memory: 1Gi}}}], ephemeralContainers: [{name: d}]"),
         ""},
        /* the pod's own requests are there for all */
        {POD("resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}, containers: [{name: a}]"),
         ""},
        {POD("resources: {requests: {cpu: 1}}, containers: [{name: a}]"), NO_MEMORY},
        {POD("resources: {requests: {cpu: 0, memory: 1Gi}}, containers: [{name: a}]"), NO_CPU},
        {POD("resources: {requests: {cpu: x, memory: 1Gi}}, containers: [{name: a}]"), NO_CPU},
        {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: "
         "{template: {spec: {containers: [{name: a, resources: {requests: {memory: 1Gi}}}]}}}}}}",
         "deny "
         "spec.jobTemplate.spec.template.spec.containers[0].resources.requests.cpu "},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {}", NULL, cases, COUNT_OF(cases)});
}

static void what_is_required_can_be_chosen(void)
{
    static const struct rail_case none[] = {{CONTAINER(""), ""}};
    rail_table_run(&(struct rail_table){"resource-requests: {require: []}", NULL, none, 1});
    static const struct rail_case others[] = {
        {CONTAINER("limits: {example.com/gpu: 1}, requests: {ephemeral-storage: 1Gi}"), ""},
        {CONTAINER("requests: {ephemeral-storage: 1Gi}"), "deny " AT "requests[example.com/gpu] "},
    };
    rail_table_run(
        &(struct rail_table){"resource-requests: {require: [example.com/gpu, ephemeral-storage]}",
                             NULL, others, COUNT_OF(others)});
}

static void what_is_no_quantity_is_said_once(void)
{
    static const struct rail_case cases[] = {
        {CONTAINER("requests: {cpu: 1, memory: 10 GB}"), "deny " AT "requests.memory 10 GB"},
        {CONTAINER("requests: {cpu: -1, memory: 1Gi}"), "deny " AT "requests.cpu -1"},
        {CONTAINER("requests: {cpu: '', memory: {}}"),
         "deny " AT "requests.cpu \ndeny " AT "requests.memory "},
        {CONTAINER("requests: {cpu: 1, memory: 1Gi}, limits: {example.com/gpu: one}"),
         "deny " AT "limits[example.com/gpu] one"},
        {CONTAINER("requests: {cpu: 1, memory: 1Gi}, limits: {memory: null, cpu: [2]}"),
         "deny " AT "limits.cpu "},
        {CONTAINER("requests: {cpu: x, memory: lots}, limits: {cpu: z}"),
         "deny " AT "limits.cpu z\ndeny " AT "requests.cpu x\ndeny " AT "requests.memory lots"},
        {POD("containers: [{name: a, resources: {requests: {cpu: x, memory: 1Gi}}}, {name: b, "
             "resources: {requests: {cpu: 1, memory: lots}}}]"),
         "deny " AT "requests.cpu x\ndeny spec.containers[1].resources.requests.memory lots"},
        /* of the second container, and the second list */
        {POD("containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}}}, {name: b, "
             "resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: x}}}]"),
         "deny spec.containers[1].resources.limits.memory x"},
        /* larger than thousandths can be counted in 64 bits, but a quantity */
        {CONTAINER("requests: {cpu: 1, memory: 100Pi}"), ""},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {}", NULL, cases, COUNT_OF(cases)});
}

static void nothing_goes_above_the_ceiling(void)
{
    static const struct rail_case cases[] = {
        {CONTAINER("requests: {cpu: 4, memory: 8Gi}, limits: {cpu: 4000m, memory: 8192Mi}"), ""},
        {CONTAINER("requests: {cpu: 4001m, memory: 9Gi}"),
         "deny " AT "requests.cpu 4001m\ndeny " AT "requests.memory 9Gi"},
        /* the request that the limit makes is not said again */
        {CONTAINER("limits: {memory: 9Gi}"), "deny " AT "limits.memory 9Gi"},
        {CONTAINER("requests: {cpu: 1}, limits: {cpu: 5}"), "deny " AT "limits.cpu 5"},
        {CONTAINER("limits: {cpu: -5}"), "deny " AT "limits.cpu -5"},
        {CONTAINER("requests: {memory: 100Pi}"), "deny " AT "requests.memory 100Pi"},
        {CONTAINER("requests: {memory: '1e40'}"), "deny " AT "requests.memory 1e40"},
        {CONTAINER("requests: {cpu: 0}, limits: {cpu: 0, memory: 0}"), ""},
        {CONTAINER("requests: {cpu: 5}, limits: {cpu: 5}"),
         "deny " AT "limits.cpu 5\ndeny " AT "requests.cpu 5"},
        {CONTAINER("requests: {cpu: x}, limits: {cpu: 5}"),
         "deny " AT "limits.cpu 5\ndeny " AT "requests.cpu x"},
        /* of the pod as a whole, as much for each container that runs beside the others */
        {POD("resources: {requests: {cpu: 4}}, containers: [{name: a}]"), ""},
        {POD("resources: {requests: {cpu: 64}}, containers: [{name: a}]"),
         "deny spec.resources.requests.cpu 64"},
        {POD("resources: {limits: {cpu: 64}}, containers: [{name: a}]"),
         "deny spec.resources.limits.cpu 64"},
        {POD("resources: {requests: {cpu: 12}}, initContainers: [{name: i}, {name: s, "
             "restartPolicy: Always}], containers: [{name: a}, {name: b}]"),
         ""},
        {POD("resources: {requests: {cpu: 12001m}}, initContainers: [{name: i}, {name: s, "
             "restartPolicy: Always}], containers: [{name: a}, {name: b}]"),
         "deny spec.resources.requests.cpu 12001m"},
        {POD("resources: {requests: {cpu: 64}}"), ""},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {require: [], max: {cpu: 4, memory: "
                                        "8Gi}}",
                                        NULL, cases, COUNT_OF(cases)});
    static const struct rail_case memory_only[] = {
        {CONTAINER("requests: {cpu: 500}"), ""},
        {CONTAINER("requests: {memory: 9Gi}"), "deny " AT "requests.memory 9Gi"},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {require: [], max: {memory: 8Gi}}",
                                        NULL, memory_only, COUNT_OF(memory_only)});
    /* More than can be counted is not above it. */
    static const struct rail_case vast[] = {
        {POD("resources: {requests: {cpu: 64}}, containers: [{name: a}, {name: b}]"), ""}};
    rail_table_run(
        &(struct rail_table){"resource-requests: {require: [], max: {cpu: 9P}}", NULL, vast, 1});
    static const struct rail_case cpu_only[] = {
        {CONTAINER("requests: {memory: 1Ti}"), ""},
        {CONTAINER("requests: {cpu: 500}"), "deny " AT "requests.cpu 500"},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {require: [], max: {cpu: 8}}", NULL,
                                        cpu_only, COUNT_OF(cpu_only)});
}

/* "1m and 1Mi" meets what is required and buys no room. */
static void a_floor(void)
{
#define FLOOR "resource-requests: {min: {cpu: 10m, memory: 16Mi}}"
    static const struct rail_case cases[] = {
        {CONTAINER("requests: {cpu: 10m, memory: 16Mi}"), ""},
        {CONTAINER("requests: {cpu: 1m, memory: 1Mi}"),
         "deny " AT "requests.cpu 1m\ndeny " AT "requests.memory 1Mi"},
        {CONTAINER("requests: {cpu: 0.009, memory: 16777215}"),
         "deny " AT "requests.cpu 0.009\ndeny " AT "requests.memory 16777215"},
        /* by a limit that stands for it */
        {CONTAINER("limits: {cpu: 1m, memory: 1Gi}"), "deny " AT "requests.cpu 1m"},
        /* one mistake is one finding: nothing, a slip, what is no quantity */
        {CONTAINER(""), NEITHER},
        {CONTAINER("requests: {cpu: 0, memory: 16Mi}"), NO_CPU "0"},
        {CONTAINER("requests: {cpu: 1, memory: 512m}"), "deny " AT "requests.memory 512m"},
        {CONTAINER("requests: {cpu: 1, memory: 512}"), "deny " AT "requests.memory 512"},
        {CONTAINER("requests: {cpu: 1, memory: x}"), "deny " AT "requests.memory x"},
        {CONTAINER("requests: {cpu: 1, memory: 64Ki}"),
         "warn " AT "requests.memory 64Ki\ndeny " AT "requests.memory 64Ki"},
        /* a sidecar stays, an init container ends */
        {POD("initContainers: [{name: i, resources: {requests: {cpu: 1m, memory: 1Mi}}}, {name: s, "
             "restartPolicy: Always, resources: {requests: {cpu: 1m, memory: 16Mi}}}]"),
         "deny spec.initContainers[1].resources.requests.cpu 1m"},
        /* the pod's own stand for all */
        {POD("resources: {requests: {cpu: 1, memory: 1Gi}}, containers: [{name: a, resources: "
             "{requests: {cpu: 1m}}}]"),
         ""},
        {POD("resources: {requests: {cpu: 1m, memory: 1Gi}}, containers: [{name: a}]"),
         "deny spec.resources.requests.cpu 1m"},
        {"{apiVersion: batch/v1, kind: CronJob, metadata: {name: c}, spec: {jobTemplate: {spec: "
         "{template: {spec: {containers: [{name: a, resources: {requests: {cpu: 1m, memory: "
         "1Gi}}}]}}}}}}",
         "deny spec.jobTemplate.spec.template.spec.containers[0].resources.requests.cpu 1m"},
    };
    rail_table_run(&(struct rail_table){FLOOR, NULL, cases, COUNT_OF(cases)});
    static const struct rail_case one[] = {
        {CONTAINER("requests: {memory: 1Mi}"), ""},
        {CONTAINER("requests: {cpu: 1m}"), "deny " AT "requests.cpu 1m"},
        {CONTAINER("requests: {cpu: 0}"), ""},
    };
    rail_table_run(&(struct rail_table){"resource-requests: {require: [], min: {cpu: 5m}}", NULL,
                                        one, COUNT_OF(one)});
    static const struct rail_words words[] = {
        {CONTAINER("requests: {cpu: 1m, memory: 16Mi}"),
         "The cpu request of container \"app\" is 1m, below the floor of 10m.",
         "Request what it needs, at least 10m."},
        {POD("resources: {requests: {cpu: 1m, memory: 1Gi}}, containers: [{name: a}]"),
         "The cpu request of the pod is 1m, below the floor of 10m.",
         "Request what it needs, at least 10m."},
    };
    rail_words_run(FLOOR, NULL, words, COUNT_OF(words));
}

#define RANGE(namespace, name, items)                                \
    "---\n{apiVersion: v1, kind: LimitRange, metadata: {name: " name \
    ", namespace: " namespace "}, spec: {limits: [" items "]}}\n"

static void a_limit_range_fills_in(void)
{
    static const struct rail_case filled[] = {
        {CONTAINER(""), ""},
        {CONTAINER("requests: {cpu: 0, memory: 1Gi}"), NO_CPU "0"},
    };
    static const struct rail_case not_filled[] = {{CONTAINER(""), NEITHER}};
    static const char *const filling[] = {
        RANGE("default", "a", "{type: Container, defaultRequest: {cpu: 1, memory: 1Gi}}"),
        RANGE("default", "a", "{type: Container, default: {cpu: 1, memory: 1Gi}}"),
        RANGE("default", "a", "{type: Container, max: {cpu: 1}, min: {memory: 1Gi}}"),
        RANGE("a", "a", "5") RANGE("b", "a", "5") RANGE("c", "a", "5") RANGE("d", "a", "5")
            RANGE("zzz", "a", "5") RANGE("default", "a", "{type: Container, min: {cpu: 1}}")
                RANGE("default", "b", "5, {type: Container, default: {memory: 1Gi}}"),
    };
    for (size_t i = 0; i < COUNT_OF(filling); i++)
        rail_table_run(
            &(struct rail_table){"resource-requests: {}", filling[i], filled, COUNT_OF(filled)});
    static const char *const other[] = {
        RANGE("other", "a", "{type: Container, default: {cpu: 1, memory: 1Gi}}"),
        RANGE("default", "a", "{type: Pod, max: {cpu: 1, memory: 1Gi}}"),
        RANGE("default", "a", "{type: Container, maxLimitRequestRatio: {cpu: 2, memory: 2}}"),
        "{apiVersion: v1, kind: LimitRange, metadata: {name: a}}",
    };
    for (size_t i = 0; i < COUNT_OF(other); i++)
        rail_table_run(&(struct rail_table){"resource-requests: {}", other[i], not_filled, 1});

    static const struct rail_case above[] = {
        {CONTAINER(""), "deny " AT "limits.memory 16Gi"},
        {CONTAINER("limits: {memory: 1Gi}"), ""},
    };
    static const char *const too_much[] = {
        RANGE("default", "a", "{type: Container, default: {memory: 16Gi}}"),
        RANGE("default", "a", "{type: Container, max: {memory: 16Gi}}"),
    };
    for (size_t i = 0; i < COUNT_OF(too_much); i++)
        rail_table_run(&(struct rail_table){"resource-requests: {require: [], max: {memory: 8Gi}}",
                                            too_much[i], above, COUNT_OF(above)});
    /* Both are above, and only the limit is said; the limit is not, and the request is. */
    static const struct rail_case once[] = {
        {CONTAINER(""), "deny " AT "limits.memory 16Gi"},
        {CONTAINER("requests: {memory: 12Gi}"),
         "deny " AT "limits.memory 16Gi\ndeny " AT "requests.memory 12Gi"},
    };
    rail_table_run(&(struct rail_table){
        "resource-requests: {require: [], max: {memory: 8Gi}}",
        RANGE("default", "a",
              "{type: Container, default: {memory: 16Gi}, defaultRequest: {memory: 12Gi}}"),
        once, COUNT_OF(once)});
    static const struct rail_case request[] = {{CONTAINER(""), "deny " AT "requests.memory 16Gi"}};
    rail_table_run(&(struct rail_table){
        "resource-requests: {require: [], max: {memory: 8Gi}}",
        RANGE("default", "a", "{type: Container, defaultRequest: {memory: 16Gi}}"), request, 1});
}

#define DEPLOYMENT(resources)                                                               \
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {template: {spec: " \
    "{containers: [{name: app, resources: {" resources "}}]}}}}"

/* What may fill in a template's requests cannot be seen; in a Pod it would stand already. */
static void limit_ranges_that_cannot_be_seen_leave_it_open(void)
{
    static const struct rail_case cases[] = {
        {DEPLOYMENT(""), "undecided spec.template.spec.containers[0].resources.requests.cpu \n"
                         "undecided spec.template.spec.containers[0].resources.requests.memory "},
        {DEPLOYMENT("requests: {cpu: 1, memory: 1Gi}"), ""},
        {CONTAINER(""), NEITHER},
    };
    static const struct rail_words words = {
        DEPLOYMENT("requests: {memory: 1Gi}"),
        "The cpu request of container \"app\" is missing, and LimitRanges that may add it cannot "
        "be seen.",
        "Set resources.requests.cpu to what the container needs."};
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("resource-requests: {}", NULL, arena);
    struct rail_table table = {"", NULL, cases, COUNT_OF(cases)};
    world.unseen = KIND_BIT(KIND_LIMIT_RANGE);
    rail_table_run_in(&world, &table, arena);
    rail_words_run_in(&world, &words, 1, arena);
    /* Others that cannot be seen do not matter. */
    static const struct rail_case decided[] = {
        {DEPLOYMENT("requests: {memory: 1Gi}"),
         "deny spec.template.spec.containers[0].resources.requests.cpu "},
    };
    table = (struct rail_table){"", NULL, decided, 1};
    world.unseen = KIND_BIT(KIND_NODE_POOL);
    rail_table_run_in(&world, &table, arena);
    arena_destroy(arena);
}

static void memory_is_limited_to_what_is_requested(void)
{
    static const struct rail_case cases[] = {
        {CONTAINER("requests: {memory: 1Gi}, limits: {memory: 1024Mi}"), ""},
        {CONTAINER("limits: {memory: 1Gi}"), ""},
        {CONTAINER("requests: {memory: 1Gi}, limits: {memory: 2Gi}"),
         "deny " AT "limits.memory 2Gi"},
        {CONTAINER("requests: {memory: 1Gi}"), "deny " AT "limits.memory "},
        {CONTAINER(""), "deny " AT "limits.memory "},
        {POD("resources: {limits: {memory: 1Gi}}, containers: [{name: a}]"), ""},
        {POD("resources: {requests: {memory: 1Gi}, limits: {memory: 2Gi}}, containers: [{name: "
             "a}]"),
         "deny " AT "limits.memory "},
        {POD("resources: {requests: {memory: 1Gi}}, containers: [{name: a}]"),
         "deny " AT "limits.memory "},
        {POD("resources: {limits: {memory: 0}}, containers: [{name: a}]"),
         "deny " AT "limits.memory "},
        /* one that asks for some of it has no limit of its own */
        {POD("resources: {limits: {memory: 1Gi}}, containers: [{name: a, resources: {requests: "
             "{memory: 512Mi}}}]"),
         "deny " AT "limits.memory "},
        {POD("resources: {limits: {memory: 1Gi}}, containers: [{name: a, resources: {requests: "
             "{memory: 512Mi}, limits: {memory: 1Gi}}}]"),
         "deny " AT "limits.memory 1Gi"},
        {CONTAINER("requests: {memory: 1Gi}, limits: {memory: 1073741824}"), ""},
        {CONTAINER("requests: {memory: 1Gi}, limits: {memory: 1073741825}"),
         "deny " AT "limits.memory 1073741825"},
        {CONTAINER("requests: {cpu: 1}, limits: {cpu: 2, memory: 1Gi}"), ""},
        /* what is no quantity is said, and that alone */
        {CONTAINER("requests: {memory: x}, limits: {memory: 1Gi}"), "deny " AT "requests.memory x"},
        {CONTAINER("requests: {memory: 1Gi}, limits: {memory: x}"), "deny " AT "limits.memory x"},
        {CONTAINER("limits: {memory: x}"), "deny " AT "limits.memory x"},
    };
    rail_table_run(
        &(struct rail_table){"resource-requests: {require: [], memoryLimitEqualsRequest: true}",
                             NULL, cases, COUNT_OF(cases)});
}

static void it_says_whose_limit_it_is(void)
{
    static const struct rail_words of_pod[] = {
        {POD("resources: {limits: {memory: 9Gi}}, containers: [{name: a}]"),
         "The memory limit of the pod is 9Gi, above the ceiling of 8Gi for its 1 container.",
         "Ask for at most 8Gi for each container, or split the work over more pods."},
        {POD("resources: {requests: {memory: 17Gi}}, containers: [{name: a}, {name: b}]"),
         "The memory request of the pod is 17Gi, above the ceiling of 8Gi for each of its 2 "
         "containers.",
         "Ask for at most 8Gi for each container, or split the work over more pods."},
    };
    rail_words_run("resource-requests: {require: [], max: {memory: 8Gi}}", NULL, of_pod,
                   COUNT_OF(of_pod));
    static const struct rail_words words = {
        CONTAINER(""),
        "The memory limit of container \"app\" is 16Gi (by LimitRange a), above the ceiling of "
        "8Gi.",
        "Ask for at most 8Gi, or split the work over more pods."};
    rail_words_run("resource-requests: {require: [], max: {memory: 8Gi}}",
                   RANGE("default", "a", "{type: Container, default: {memory: 16Gi}}"), &words, 1);
    static const struct rail_words init = {
        POD("initContainers: [{name: first, resources: {limits: {cpu: 9}}}]"),
        "The cpu limit of init container \"first\" is 9, above the ceiling of 8.",
        "Ask for at most 8, or split the work over more pods."};
    rail_words_run("resource-requests: {require: [], max: {cpu: 8}}", NULL, &init, 1);
}

static void it_speaks_in_every_mode(void)
{
    rail_modes_run("resource-requests", "", NULL, CONTAINER(""));
    rail_modes_since("resource-requests", "", "containers: [{name: app}]");
}

/* A resize in place is an UPDATE of the Pod through its subresource. */
static void a_resize_is_judged(void)
{
    static const struct {
        const char *cpu, *subresource;
        enum action action;
    } cases[] = {
        {"8", "resize", ACTION_NONE},
        {"9", "resize", ACTION_DENY},
        {"9", "", ACTION_DENY},
        {"9", "status", ACTION_NONE},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    const struct catalog *catalog = catalog_builtin(arena);
    struct policy policy =
        rail_table_policy("resource-requests: {require: [], max: {cpu: 8}}", catalog, arena);
    struct world world = {.policies = &(struct policy_set){.items = &policy, .count = 1},
                          .snapshot = snapshot_build(snapshot_builder_create(arena)),
                          .catalog = catalog};
    struct rail_documents old = rail_table_read(CONTAINER("requests: {cpu: 4}"), arena);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text pod = arena_printf(arena, CONTAINER("requests: {cpu: %s}"), cases[i].cpu);
        struct rail_documents new = rail_table_read(pod.data, arena);
        struct subject subject = {.operation = OPERATION_UPDATE,
                                  .object = &new.items[0],
                                  .old_object = &old.items[0],
                                  .subresource = text_of(cases[i].subresource)};
        struct verdict verdict;
        policy_evaluate(&world, &subject, 0, arena, &verdict);
        ASSERT_INT(verdict.action, cases[i].action);
    }
    arena_destroy(arena);
}

static void a_floor_above_the_ceiling_is_warned_of(void)
{
    static const struct {
        const char *rails, *warning;
    } rows[] = {
        {"min: {memory: 2Gi}, max: {memory: 1Gi}",
         "resource-requests: min.memory is above max.memory, so every container that requests it "
         "will be a finding"},
        {"min: {memory: 1Gi}, max: {memory: 1Gi}", NULL},
        {"min: {memory: 2Gi}, max: {cpu: 1}", NULL},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct source source = {
            .file = "policy.yaml",
            .text = arena_printf(arena,
                                 "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: "
                                 "{name: p}, spec: {rails: {resource-requests: {%s}}}}",
                                 rows[i].rails)};
        struct problems problems = {.arena = arena}, warnings = {.arena = arena};
        const struct node *root = NULL;
        doc_read_yaml(&source, YAML_POLICY, &doc_limits_policy, arena, &problems,
                      rail_table_take_root, (void *)&root);
        struct schema schema = {&source, arena, &problems};
        struct policy policy = {0};
        CU_ASSERT(document_read(&schema, root, catalog_builtin(arena), &warnings, &policy));
        CU_ASSERT_EQUAL_FATAL(warnings.count, rows[i].warning != NULL);
        if (rows[i].warning != NULL)
            CU_ASSERT_PTR_NOT_NULL(strstr(warnings.items[0].what, rows[i].warning));
    }
    arena_destroy(arena);
}

const char unit_suite[] = "policy resource-requests";
const struct unit_test unit_tests[] = {
    {"every container must request", every_container_must_request},
    {"what is required can be chosen", what_is_required_can_be_chosen},
    {"what is no quantity is said once", what_is_no_quantity_is_said_once},
    {"nothing goes above the ceiling", nothing_goes_above_the_ceiling},
    {"a floor", a_floor},
    {"a LimitRange fills in", a_limit_range_fills_in},
    {"memory is limited to what is requested", memory_is_limited_to_what_is_requested},
    {"LimitRanges that cannot be seen leave it open",
     limit_ranges_that_cannot_be_seen_leave_it_open},
    {"it says whose limit it is", it_says_whose_limit_it_is},
    {"it speaks in every mode", it_speaks_in_every_mode},
    {"a resize is judged", a_resize_is_judged},
    {"a floor above the ceiling is warned of", a_floor_above_the_ceiling_is_warned_of},
    {NULL, NULL},
};
