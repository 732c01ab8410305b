/* Which resources are those of device plugins. */
#include "kube/device.h"
#include "kube/pod.h"
#include "object_fixture.h"

static void an_extended_resource_has_a_foreign_domain(void)
{
    static const struct {
        const char *name;
        bool extended;
    } cases[] = {
        {"nvidia.com/gpu", true},
        {"example.org/licence", true},
        {"cpu", false},
        {"hugepages-2Mi", false},
        {"kubernetes.io/batch-cpu", false},
        {"node.kubernetes.io/gpu", false},
        {"requests.nvidia.com/gpu", false},
        {"", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if (resource_is_extended(text_of(cases[i].name)) != cases[i].extended)
            fprintf(stderr, "%s:\n", cases[i].name);
        CU_ASSERT_EQUAL(resource_is_extended(text_of(cases[i].name)), cases[i].extended);
    }
}

/* Those of all containers, except of what is 0 or not said. */
static void a_pod_asks_for_resources(void)
{
    static const struct {
        const char *resources, *names;
    } cases[] = {
        {"requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, nvidia.com/gpu: 1}",
         "cpu, memory, nvidia.com/gpu"},
        {"limits: {nvidia.com/gpu: 0, amd.com/gpu: null}", ""},
        {"limits: [nvidia.com/gpu]", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct workload workload;
        struct text_map names;
        struct text_list words = {0};
        struct text pod = arena_printf(arena,
                                       "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: "
                                       "{containers: [{name: a, resources: {%s}}]}}",
                                       cases[i].resources);
        CU_ASSERT_FATAL(workload_read(fixture_object(arena, pod.data, "shop"), arena, &workload));
        resource_names_read(&workload, arena, &names);
        for (size_t j = 0; j < names.count; j++)
            *LIST_PUSH(arena, &words) = names.items[j].key;
        ASSERT_TEXT(texts_join(words.items, words.count, words.count, arena), cases[i].names);
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube device";
const struct unit_test unit_tests[] = {
    {"an extended resource has a foreign domain", an_extended_resource_has_a_foreign_domain},
    {"a pod asks for resources", a_pod_asks_for_resources},
    {NULL, NULL},
};
