/* What volume-binding says of PersistentVolumes that a person writes. */
#include "kube/label.h"
#include "kube/object.h"
#include "policy/rails/volume_binding.h"
#include "solver/well_known.h"

#include <string.h>

/* Where a volume says what disk it is. Only drivers are here whose disks are in a zone always. */
static const struct volume_source {
    const char *path, *provisioner, *handle;
} sources[] = {
    {"spec.awsElasticBlockStore", "kubernetes.io/aws-ebs", "volumeID"},
    {"spec.gcePersistentDisk", "kubernetes.io/gce-pd", "pdName"},
    {"spec.csi", "ebs.csi.aws.com", "volumeHandle"},
    {"spec.csi", "ebs.csi.eks.amazonaws.com", "volumeHandle"},
    {"spec.csi", "pd.csi.storage.gke.io", "volumeHandle"},
};

/* The handle of the volume's disk; false when it is none of a zone. */
static bool disk_of(const struct node *volume, const struct key_strings *provisioners,
                    struct text *handle)
{
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        const struct volume_source *source = &sources[i];
        const struct node *disk = node_at(volume, source->path);
        struct text driver = node_string(node_get(disk, "driver"));
        bool fits = strcmp(source->path, "spec.csi") == 0 ? text_is(driver, source->provisioner)
                                                          : node_is(disk, NODE_MAP);
        *handle = node_string(node_get(disk, source->handle));
        if (fits)
            return texts_have(provisioners->items, provisioners->count,
                              text_of(source->provisioner));
    }
    return false;
}

/* What stands in a text between two others; empty when they do not. */
static struct text between(struct text t, struct text before, struct text after)
{
    const char *begin = memmem(t.data, t.size, before.data, before.size);
    if (begin == NULL)
        return TEXT("");
    begin += before.size;
    const char *end = memmem(begin, (size_t)(t.data + t.size - begin), after.data, after.size);
    return end == NULL ? TEXT("") : (struct text){begin, (size_t)(end - begin)};
}

/* The zone that a label or the handle names: aws://eu-west-1a/vol-1, projects/p/zones/z/disks/d. */
static struct text zone_of(const struct object *volume, struct text handle)
{
    struct text zone = node_string(node_get(volume->labels, LABEL_ZONE));
    if (zone.size == 0)
        zone = node_string(node_get(volume->labels, "failure-domain.beta.kubernetes.io/zone"));
    if (zone.size == 0)
        zone = between(handle, TEXT("aws://"), TEXT("/"));
    if (zone.size == 0)
        zone = between(handle, TEXT("/zones/"), TEXT("/"));
    return zone;
}

/* Karpenter reads the node affinity alone, kube-scheduler also the labels. */
void volume_binding_judge_static(struct rail_call *call, const struct key_strings *provisioners)
{
    struct arena *arena = call->arena;
    const struct object *volume = call->object;
    struct text handle;
    const struct field *affinity = field_at(arena, volume->root, "spec.nodeAffinity");
    if (affinity->node != NULL || !disk_of(volume->root->node, provisioners, &handle))
        return;
    struct text zone = zone_of(volume, handle);
    bool regional = memmem(handle.data, handle.size, "/regions/", strlen("/regions/")) != NULL;
    if (regional || memmem(zone.data, zone.size, "__", 2) != NULL)
        return;
    bool known = label_value_is_valid(zone) && zone.size > 0;
    struct text fix =
        arena_printf(arena,
                     "Add spec.nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: "
                     "[{key: " LABEL_ZONE ", operator: In, values: [%.*s]}]}]}}%s.",
                     TEXT_ARGS(known ? zone : TEXT("ZONE")),
                     known ? "" : ", with the zone of the disk for ZONE");
    report(call, SEVERITY_RAIL, affinity, fix,
           "Without nodeAffinity Karpenter may buy a node in a zone where the disk is not, and the "
           "pod waits for ever.");
}
