/* The rail node-class: fields that are dropped. */
#include "rail_modes.h"

#define CLASS_OF(version, spec)                                                                   \
    "{apiVersion: karpenter.k8s.aws/" version ", kind: EC2NodeClass, metadata: {name: a}, spec: " \
    "{role: nodes, " spec "}}"
#define CLASS(spec) CLASS_OF("v1", spec)

static void fields_there_are_stay_silent(void)
{
    static const struct rail_case cases[] = {
        {CLASS(
             "amiFamily: AL2023, amiSelectorTerms: [{alias: al2023@v1, id: a, name: a, owner: a, "
             "ssmParameter: a, tags: {any: thing}}], associatePublicIPAddress: true, "
             "capacityReservationSelectorTerms: [{id: a, instanceMatchCriteria: open, ownerID: "
             "a, tags: {a: b}}], connectionTracking: {tcpEstablishedTimeout: 1m, "
             "udpStreamTimeout: 1m, udpTimeout: 1m}, context: a, cpuOptions: "
             "{nestedVirtualization: enabled}, detailedMonitoring: true, enclaveOptions: "
             "{enabled: true}, instanceProfile: a, instanceStorePolicy: RAID0, ipPrefixCount: 1, "
             "networkInterfaces: [{deviceIndex: 0, interfaceType: efa, networkCardIndex: 0}], "
             "placementGroupSelector: {id: a, name: a}, securityGroupSelectorTerms: [{id: a, "
             "name: a, tags: {a: b}}], subnetSelectorTerms: [{id: a, tags: {a: b}}], tags: {size: "
             "a}, userData: a"),
         ""},
        {CLASS("blockDeviceMappings: [{deviceName: /dev/xvda, rootVolume: true, ebs: "
               "{deleteOnTermination: true, encrypted: true, iops: 1, kmsKeyID: a, snapshotID: a, "
               "throughput: 1, volumeInitializationRate: 1, volumeSize: 1Gi, volumeType: gp3}}], "
               "metadataOptions: {httpEndpoint: enabled, httpProtocolIPv6: disabled, "
               "httpPutResponseHopLimit: 1, httpTokens: required}"),
         ""},
        /* an older version had others, and of a newer nobody knows */
        {CLASS_OF("v1beta1", "subnetSelector: {a: b}"), ""},
        {CLASS_OF("v2", "subnetSelector: {a: b}"), ""},
        /* where there is no map nothing is dropped silently */
        {CLASS("blockDeviceMappings: [5, {deviceName: a, ebs: 5}], metadataOptions: [1], tags: []"),
         ""},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
}

static void dropped_fields_are_found(void)
{
    static const struct rail_case cases[] = {
        {CLASS("blockDeviceMapping: []"), "deny spec.blockDeviceMapping blockDeviceMapping"},
        {CLASS("metadataOptions: {httpToken: required, httpTokens: required}"),
         "deny spec.metadataOptions.httpToken httpToken"},
        {CLASS("kubeletConfiguration: {}"), "deny spec.kubeletConfiguration kubeletConfiguration"},
        {CLASS("amiSelectorTerms: [{alias: al2023@v1}, {ids: a}]"),
         "deny spec.amiSelectorTerms[1].ids ids"},
        {CLASS("blockDeviceMappings: [{deviceName: a, ebs: {encrypted: true}}, {deviceName: b, "
               "device: b, ebs: {size: 5Gi, encrypted: true}}]"),
         "warn spec.blockDeviceMappings[1].device device\n"
         "deny spec.blockDeviceMappings[1].ebs.size size"},
        {CLASS("subnetSelector: {}, securityGroupSelector: {}, amiSelector: {}"),
         "deny spec.amiSelector amiSelector\ndeny spec.securityGroupSelector "
         "securityGroupSelector\ndeny spec.subnetSelector subnetSelector"},
        {CLASS("requirements: [], taints: [], limits: {}"),
         "deny spec.limits limits\ndeny spec.requirements requirements\ndeny spec.taints taints"},
        /* a level too high */
        {CLASS("httpTokens: required"), "deny spec.httpTokens httpTokens"},
        {"{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: a}, spec: {}, "
         "role: nodes}",
         "deny role role"},
        /* and one of which nothing is known */
        {CLASS("ofTomorrow: 1"), "warn spec.ofTomorrow ofTomorrow"},
        /* many things have a name, or are enabled */
        {CLASS("name: a, id: a, kind: a, enabled: true"),
         "warn spec.enabled enabled\nwarn spec.id id\nwarn spec.kind kind\nwarn spec.name name"},
    };
    rail_table_run(&(struct rail_table){"node-class: {}", NULL, cases, COUNT_OF(cases)});
}

static void it_says_where_things_belong(void)
{
    static const char dropped[] = "\" here. The API server drops it silently.";
    static const struct {
        const char *field, *fix;
    } fields[] = {
        {"blockDeviceMapping", "Rename it to blockDeviceMappings."},
        {"httpTokens", "Move it to spec.metadataOptions.httpTokens."},
        {"kubeletConfiguration", "Write spec.kubelet."},
        {"subnetSelector", "Write spec.subnetSelectorTerms, a list."},
        {"securityGroupSelector", "Write spec.securityGroupSelectorTerms, a list."},
        {"amiSelector", "Write spec.amiSelectorTerms, a list."},
        {"requirements", "Move it to the NodePool, as spec.template.spec.requirements."},
        {"taints", "Move it to the NodePool, as spec.template.spec.taints."},
        {"limits", "Move it to the NodePool, as spec.limits."},
    };
    struct arena *arena = arena_create((size_t)64 << 20);
    struct world world = rail_table_world("node-class: {}", NULL, arena);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct rail_words row = {arena_printf(arena, CLASS("%s: 1"), fields[i].field).data,
                                 arena_printf(arena, "An EC2NodeClass of v1 has no field \"%s%s",
                                              fields[i].field, dropped)
                                     .data,
                                 fields[i].fix};
        rail_words_run_in(&world, &row, 1, arena);
    }
    static const struct rail_words rows[] = {
        {CLASS("ofTomorrow: 1"),
         "An EC2NodeClass of v1 has no field \"ofTomorrow\" here, unless your Karpenter is newer. "
         "The API server drops it silently.",
         "Remove it."},
        {CLASS("blockDeviceMappings: [{deviceName: a, ebs: {encrypted: true, size: 5Gi}}]"),
         "An EC2NodeClass of v1 has no field \"size\" here. The API server drops it silently.",
         "Write volumeSize, such as 100Gi."},
    };
    rail_words_run_in(&world, rows, COUNT_OF(rows), arena);
    arena_destroy(arena);
}

const char unit_suite[] = "policy node-class: fields";
const struct unit_test unit_tests[] = {
    {"fields there are stay silent", fields_there_are_stay_silent},
    {"dropped fields are found", dropped_fields_are_found},
    {"it says where things belong", it_says_where_things_belong},
    {NULL, NULL},
};
