/* The rail accelerators with addToleration: who gets which toleration. */
#include "change_table.h"

#define POD(resource, more)                                                                      \
    "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a, resources: " \
    "{limits: {" resource "}}}]" more "}}"
#define GPU "nvidia.com/gpu: 1"

#define NO_LIST "\nadd /spec/tolerations []"
#define ADD(key) "\nadd /spec/tolerations/- {\"key\":\"" key "\",\"operator\":\"Exists\"}"
#define GETS_ONE "applied a toleration of nvidia.com/gpu"
#define GETS_GPU GETS_ONE NO_LIST ADD("nvidia.com/gpu")
#define HAS(toleration) ", tolerations: [{" toleration "}]"

static void pods_that_ask_get_the_toleration(void)
{
    static const struct change_case cases[] = {
        {POD(GPU, ""), GETS_GPU},
        {POD(GPU, ", tolerations: null"), GETS_GPU},
        {POD(GPU, ", tolerations: []"), GETS_ONE ADD("nvidia.com/gpu")},
        {POD(GPU, HAS("key: a, operator: Exists")), GETS_ONE ADD("nvidia.com/gpu")},
        {POD("aws.amazon.com/neuron: 1", ""),
         "applied a toleration of aws.amazon.com/neuron" NO_LIST ADD("aws.amazon.com/neuron")},
        {POD(GPU ", amd.com/gpu: 2", ""),
         "applied tolerations of nvidia.com/gpu, amd.com/gpu" NO_LIST ADD("nvidia.com/gpu")
             ADD("amd.com/gpu")},
        /* a part stands on a node that is tainted for the whole */
        {POD("aws.amazon.com/neurondevice: 1", ""),
         "applied tolerations of aws.amazon.com/neurondevice, aws.amazon.com/neuron, "
         "aws.amazon.com/neuroncore" NO_LIST ADD("aws.amazon.com/neurondevice")
             ADD("aws.amazon.com/neuron") ADD("aws.amazon.com/neuroncore")},
        {POD("nvidia.com/gpu: 1, nvidia.com/mig-1g.5gb: 1", ""),
         "applied tolerations of nvidia.com/gpu, nvidia.com/mig-1g.5gb" NO_LIST ADD(
             "nvidia.com/gpu") ADD("nvidia.com/mig-1g.5gb")},
        {POD("nvidia.com/mig-1g.5gb: 1, nvidia.com/mig-2g.10gb: 1, nvidia.com/gpu: 1", ""),
         "applied tolerations of nvidia.com/mig-1g.5gb, nvidia.com/gpu, "
         "nvidia.com/mig-2g.10gb" NO_LIST ADD("nvidia.com/mig-1g.5gb") ADD("nvidia.com/gpu")
             ADD("nvidia.com/mig-2g.10gb")},
        {POD("nvidia.com/mig-1g.5gb: 1", ""),
         "applied tolerations of nvidia.com/mig-1g.5gb, nvidia.com/gpu" NO_LIST ADD(
             "nvidia.com/mig-1g.5gb") ADD("nvidia.com/gpu")},
        {POD("amd.com/px_gpu: 1", ""),
         "applied tolerations of amd.com/px_gpu, amd.com/gpu" NO_LIST ADD("amd.com/px_gpu")
             ADD("amd.com/gpu")},
        /* of which device it is a part is not known */
        {POD("4paradigm.com/vgpu: 1", ""),
         "applied a toleration of 4paradigm.com/vgpu" NO_LIST ADD("4paradigm.com/vgpu")},
        /* an init container's */
        {"{apiVersion: v1, kind: Pod, metadata: {generateName: a-}, spec: {containers: [{name: "
         "a}], "
         "initContainers: [{name: b, resources: {requests: {nvidia.com/gpu: 1}}}]}}",
         GETS_GPU},
        /* gated, or of a controller that is not visible */
        {POD(GPU, ", schedulingGates: [{name: example.com/wait}]"), GETS_GPU},
    };
    change_table_run(&(struct change_table){"accelerators: {addToleration: true}", NULL, NULL,
                                            cases, COUNT_OF(cases)});
}

/* A hostile pod asks for very many. */
static void so_many_resources_are_tolerated(void)
{
    enum { ASKED = 100, TOLERATED = 32 };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("accelerators: {addToleration: true}", NULL, arena);
    struct text_builder limits = {.arena = arena};
    for (size_t i = 0; i < ASKED; i++)
        text_builder_printf(&limits, "%s4paradigm.com/vgpu%zu: 1", i == 0 ? "" : ", ", i);
    struct rail_documents documents = rail_table_read(
        arena_printf(arena, POD("%s", ""), text_builder_text(&limits).data).data, arena);
    const struct subject subject = {.operation = OPERATION_CREATE, .object = &documents.items[0]};
    struct verdict verdict;
    policy_mutate(&world, &subject, 0, arena, &verdict);
    CU_ASSERT_EQUAL_FATAL(verdict.change_count, 1);
    ASSERT_INT(verdict.patch.count, 1 + TOLERATED); /* the list, and each in it */
    arena_destroy(arena);
}

static void who_tolerates_it_is_left_alone(void)
{
    static const struct change_case cases[] = {
        {POD("cpu: 1", ""), ""},
        {POD("nvidia.com/gpu: 0", ""), ""},
        {POD(GPU, HAS("key: nvidia.com/gpu, operator: Exists")), ""},
        {POD(GPU, HAS("operator: Exists")), ""},
        {POD(GPU, ", tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}, "
                  "{key: nvidia.com/gpu, operator: Exists, effect: NoExecute}]"),
         ""},
        /* each half by another */
        {POD(GPU, ", tolerations: [{operator: Exists, effect: NoExecute}, "
                  "{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]"),
         ""},
        {POD("nvidia.com/gpu: 1, amd.com/gpu: 1", HAS("key: nvidia.com/gpu, operator: Exists")),
         "applied a toleration of amd.com/gpu" ADD("amd.com/gpu")},
        /* of one effect, or of one value, is not of the taint whatever it is */
        {POD(GPU, HAS("key: nvidia.com/gpu, operator: Exists, effect: PreferNoSchedule")),
         GETS_ONE ADD("nvidia.com/gpu")},
        {POD(GPU, HAS("key: nvidia.com/gpu, operator: Gt, value: '0'")),
         GETS_ONE ADD("nvidia.com/gpu")},
        {POD(GPU, HAS("key: nvidia.com/gpu, operator: Exists, effect: NoSchedule")),
         GETS_ONE ADD("nvidia.com/gpu")},
        {POD(GPU, HAS("key: nvidia.com/gpu, operator: Exists, effect: NoExecute")),
         GETS_ONE ADD("nvidia.com/gpu")},
        {POD(GPU, HAS("key: nvidia.com/gpu, value: 'true'")), GETS_ONE ADD("nvidia.com/gpu")},
        {POD(GPU, HAS("key: nvidia.com/gpu")), GETS_ONE ADD("nvidia.com/gpu")},
        /* only Pods */
        {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: "
         "{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}}}",
         ""},
    };
    change_table_run(&(struct change_table){"accelerators: {addToleration: true}", NULL, NULL,
                                            cases, COUNT_OF(cases)});
}

static void a_part_stands_where_the_policy_says(void)
{
    static const struct change_case cases[] = {
        {POD("nvidia.com/mig-1g.5gb: 1", ""),
         "applied tolerations of nvidia.com/mig-1g.5gb, nvidia.com/gpu, nvidia.com/all" NO_LIST ADD(
             "nvidia.com/mig-1g.5gb") ADD("nvidia.com/gpu") ADD("nvidia.com/all")},
        /* a taint of its own, or of none of these devices */
        {POD("nvidia.com/gpu: 1", ""), GETS_GPU},
        {POD("example.com/vgpu: 1", ""),
         "applied a toleration of example.com/vgpu" NO_LIST ADD("example.com/vgpu")},
        {POD("amd.com/gpu: 1", ""),
         "applied a toleration of amd.com/gpu" NO_LIST ADD("amd.com/gpu")},
    };
    change_table_run(&(struct change_table){
        "accelerators: {addToleration: true, taints: [dedicated, nvidia.com/gpu, nvidia.com/all]}",
        NULL, NULL, cases, COUNT_OF(cases)});
}

static void the_key_is_wanted(void)
{
    static const struct change_case cases[] = {{POD(GPU, ""), ""}};
    change_table_run(
        &(struct change_table){"accelerators: {}", NULL, NULL, cases, COUNT_OF(cases)});
}

const char unit_suite[] = "policy accelerators addToleration";
const struct unit_test unit_tests[] = {
    {"pods that ask get the toleration", pods_that_ask_get_the_toleration},
    {"so many resources are tolerated", so_many_resources_are_tolerated},
    {"who tolerates it is left alone", who_tolerates_it_is_left_alone},
    {"a part stands where the policy says", a_part_stands_where_the_policy_says},
    {"the key is wanted", the_key_is_wanted},
    {NULL, NULL},
};
