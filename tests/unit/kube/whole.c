/* Which objects of files are whole. */
#include "kube/whole.h"
#include "object_fixture.h"

#define CONTAINER "containers: [{name: a, image: b}]"

static void parts_of_objects_lack_fields(void)
{
    static const struct {
        const char *yaml, *file, *missing;
    } cases[] = {
        {"{apiVersion: v1, kind: Pod, spec: {" CONTAINER "}}", "pod.yaml", ""},
        {"{apiVersion: v1, kind: Pod, spec: {containers: [{name: a}]}}", "pod.yaml",
         "spec.containers[0].image"},
        {"{apiVersion: v1, kind: Pod, spec: {" CONTAINER ", initContainers: [{image: b}]}}",
         "pod.yaml", "spec.initContainers[0].name"},
        {"{apiVersion: apps/v1, kind: Deployment, spec: {selector: {}}}", "deploy.yaml",
         "spec.template.spec.containers"},
        /* of versions that are no longer served nothing is known */
        {"{apiVersion: extensions/v1beta1, kind: Deployment, spec: {}}", "deploy.yaml", ""},
        {"{apiVersion: apps/v1beta2, kind: Deployment, spec: {}}", "deploy.yaml", ""},
        {"{apiVersion: batch/v1, kind: CronJob, spec: {}}", "job.yaml", "spec.schedule"},
        {"{apiVersion: karpenter.sh/v1, kind: NodePool, spec: {limits: {cpu: 10}}}", "pool.yaml",
         "spec.template.spec.nodeClassRef"},
        /* a part of a budget is told by its file's name */
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}",
         "patches/pdb.yaml", "spec.selector"},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}",
         "patch.yaml", "spec.selector"},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}",
         "dispatch.yaml", ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 1}}", NULL, ""},
        {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {selector: {}}}", "patch.yaml",
         ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena *arena = arena_create(1 << 20);
        struct object object = *fixture_object(arena, cases[i].yaml, "shop");
        object.source->file = cases[i].file;
        if (!text_is(object_missing_field(&object, arena), cases[i].missing))
            fprintf(stderr, "%s: %s\n", cases[i].file, cases[i].yaml);
        ASSERT_TEXT(object_missing_field(&object, arena), cases[i].missing);
        object.source = NULL; /* of a request: no file's name tells */
        if (object.kind == KIND_POD_DISRUPTION_BUDGET)
            ASSERT_TEXT(object_missing_field(&object, arena), "");
        arena_destroy(arena);
    }
}

const char unit_suite[] = "kube whole objects";
const struct unit_test unit_tests[] = {
    {"parts of objects lack fields", parts_of_objects_lack_fields},
    {NULL, NULL},
};
