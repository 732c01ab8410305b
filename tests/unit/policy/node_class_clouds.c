/* The rail node-class on the node classes of EKS Auto Mode, Azure and Google Cloud. */
#include "rail_modes.h"
#include "rail_table.h"

#define AUTO(spec) \
    "{apiVersion: eks.amazonaws.com/v1, kind: NodeClass, metadata: {name: a}, spec: {" spec "}}"
#define AKS(spec)                                                                               \
    "{apiVersion: karpenter.azure.com/v1beta1, kind: AKSNodeClass, metadata: {name: a}, spec: " \
    "{" spec "}}"
#define GCE_BARE(spec)                                                                         \
    "{apiVersion: karpenter.k8s.gcp/v1alpha1, kind: GCENodeClass, metadata: {name: a}, spec: " \
    "{" spec "}}"
#define GCE(spec) GCE_BARE("imageSelectorTerms: [{alias: ContainerOptimizedOS@latest}], " spec)

static void fields_are_those_of_the_crd(void)
{
    static const struct rail_case cases[] = {
        {AUTO("role: a, ephemeralStorage: {size: 80Gi}, tags: {a: b}, subnetSelectorTerms: [{tags: "
              "{Name: a}}, {id: subnet-1}], networkPolicy: DefaultDeny"),
         ""},
        {AUTO("ephemeralStorage: {sise: 80Gi}"), "deny spec.ephemeralStorage.sise sise"},
        {AUTO("userData: a"), "deny spec.userData userData"},
        {AUTO("entirelyNew: a"), "warn spec.entirelyNew entirelyNew"},
        {AUTO("subnetSelectorTerms: [{tag: {a: b}}]"), "deny spec.subnetSelectorTerms[0].tag tag"},
        {AUTO("snatPolicy: Randon"), "deny spec.snatPolicy Randon"},
        {AUTO("ephemeralStorage: {iops: many}"), "deny spec.ephemeralStorage.iops many"},
        {AUTO("role: null"), ""},
        {AKS("imageFamily: AzureLinux, osDiskSizeGB: 128, maxPods: 110, tags: {a: b}"), ""},
        {AKS("imageFamily: Ubunto"), "deny spec.imageFamily Ubunto"},
        {AKS("imageFamily: Windows"), "deny spec.imageFamily Windows"},
        {AKS("osDiskSizeGb: 128"), "deny spec.osDiskSizeGb osDiskSizeGb"},
        {AKS("osDiskSizeGB: 29"), "deny spec.osDiskSizeGB 29"},
        {AKS("osDiskSizeGB: 30"), ""},
        {AKS("osDiskSizeGB: 2048"), ""},
        {AKS("osDiskSizeGB: 2049"), "deny spec.osDiskSizeGB 2049"},
        {AKS("maxPods: 9"), "deny spec.maxPods 9"},
        {AKS("maxPods: 251"), "deny spec.maxPods 251"},
        {AKS("maxPods: '30'"), "deny spec.maxPods 30"},
        {AKS("linuxOSConfig: {sysctls: {vmMaxMapCounts: 262144}}"),
         "deny spec.linuxOSConfig.sysctls.vmMaxMapCounts vmMaxMapCounts"},
        {AKS("localDNS: {mode: Preferred, kubeDNSOverrides: [{zone: ., protocol: UDP}], "
             "vnetDNSOverrides: []}"),
         "deny spec.localDNS.kubeDNSOverrides[0].protocol UDP"},
        {AKS("linuxOSConfig: {swapFileSize: 2Gi}"), "deny spec.linuxOSConfig.swapFileSize 2Gi"},
        {AKS("linuxOSConfig: {swapFileSize: 2Gi}, kubelet: {failSwapOn: true}"),
         "deny spec.linuxOSConfig.swapFileSize 2Gi"},
        {AKS("linuxOSConfig: {swapFileSize: 2Gi}, kubelet: {failSwapOn: false}"), ""},
        {AKS("fipsMode: FIPS, imageFamily: Ubuntu2204"), "deny spec.fipsMode FIPS"},
        {AKS("fipsMode: FIPS, imageFamily: Ubuntu"), ""},
        {AKS("fipsMode: Disabled, imageFamily: Ubuntu2404"), ""},
        {GCE("disks: [{category: pd-ssd, sizeGiB: 10, boot: true}]"), ""},
        {GCE("disks: [{category: pd-ssd, boot: true}]"), ""},
        {GCE("disks: [{category: pd-sdd, sizeGiB: 9}]"),
         "deny spec.disks[0].category pd-sdd\ndeny spec.disks[0].sizeGiB 9"},
        {GCE("disks: pd-ssd"), "deny spec.disks pd-ssd"},
        {GCE("kubelet: {maxPods: 30}"), "warn spec.kubelet kubelet"},
        {GCE("autoGPUTaint: true, gpuDriverVersion: latest, localSsdMode: Ephemeral, "
             "networkConfig: {enablePrivateNodes: true, subnetwork: a, "
             "additionalNetworkInterfaces: [{network: a, subnetwork: b}]}"),
         ""},
        {GCE("subnetRangeNames: [a, b], linuxNodeConfig: {hugepages: {hugepageSize2m: 4}}, "
             "kubeletConfiguration: {serializeImagePulls: false, maxParallelImagePulls: 3}, "
             "preemptionNoticeDuration: 120s, confidentialInstanceType: SEV, "
             "advancedMachineFeatures: {enableNestedVirtualization: true}"),
         ""},
        {GCE("autoGPUTaint: 'yes', gpuDriverVersion: newest"),
         "deny spec.autoGPUTaint yes\ndeny spec.gpuDriverVersion newest"},
        {GCE_BARE("imageFamily: Ubuntu"), "deny spec.imageSelectorTerms "},
        {GCE_BARE("imageSelectorTerms: [{family: Ubuntu2404, version: v1}, {family: Ubuntu2404, "
                  "channel: cluster}]"),
         ""},
        {GCE("networkTags: [a], networkConfig: {networkInterfaces: [{subnet: a}]}"),
         "warn spec.networkConfig.networkInterfaces[0].subnet subnet"},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
}

static void tags_are_required_where_they_are(void)
{
    static const struct rail_case cases[] = {
        {AUTO("tags: {team: a}"), ""},
        {AUTO("role: a"), "deny spec.tags.team "},
        {AKS("tags: {other: a}"), "deny spec.tags.team "},
        {GCE("labels: {team: a}"), ""},
        {GCE("networkTags: [team]"), "deny spec.labels.team "},
    };
    static const struct rail_words words[] = {
        {AKS("imageFamily: Ubuntu"),
         "The tag team is missing. Machines and volumes are made without it.",
         "Add team to spec.tags."},
        {GCE("labels: {team: ''}"),
         "The label team is empty. Machines and volumes are made without it.",
         "Add team to spec.labels."},
    };
    static const char rail[] = "node-class: {requireTags: [team]}";
    rail_table_run(&(struct rail_table){rail, NULL, cases, COUNT_OF(cases)});
    rail_words_run(rail, NULL, words, COUNT_OF(words));
}

static void it_says_what_was_meant(void)
{
    static const struct rail_words words[] = {
        {AKS("imageFamily: Ubunto"),
         "There is no imageFamily \"Ubunto\", so the API server refuses the class.", "Use Ubuntu."},
        {AKS("maxPods: lots"), "This is no value for maxPods, so the API server refuses the class.",
         "Write a whole number."},
        {AUTO("userData: a"),
         "A NodeClass of EKS Auto Mode has no field \"userData\" here. The API server drops it "
         "silently.",
         "Remove it: Auto Mode runs none. A DaemonSet can set nodes up."},
    };
    rail_words_run("node-class: {}", NULL, words, COUNT_OF(words));
}

const char unit_suite[] = "policy node-class of other clouds";
const struct unit_test unit_tests[] = {
    {"fields are those of the CRD", fields_are_those_of_the_crd},
    {"tags are required where they are", tags_are_required_where_they_are},
    {"it says what was meant", it_says_what_was_meant},
    {NULL, NULL},
};
