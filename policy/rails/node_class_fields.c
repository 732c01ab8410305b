/* Fields that no EC2NodeClass has, as Karpenter's CRD tells. */
#include "policy/rails/known_fields.h"
#include "policy/rails/node_class.h"

/* spec.kubelet is not here: the API server keeps all that is in it. */
static const struct known_place v1[] = {
    {"", {"apiVersion", "kind", "metadata", "spec", "status"}},
    {"spec",
     {"amiFamily",
      "amiSelectorTerms",
      "associatePublicIPAddress",
      "blockDeviceMappings",
      "capacityReservationSelectorTerms",
      "connectionTracking",
      "context",
      "cpuOptions",
      "detailedMonitoring",
      "enclaveOptions",
      "instanceProfile",
      "instanceStorePolicy",
      "ipPrefixCount",
      "kubelet",
      "metadataOptions",
      "networkInterfaces",
      "placementGroupSelector",
      "role",
      "securityGroupSelectorTerms",
      "subnetSelectorTerms",
      "tags",
      "userData"}},
    {"spec.amiSelectorTerms[]", {"alias", "id", "name", "owner", "ssmParameter", "tags"}},
    {"spec.blockDeviceMappings[]", {"deviceName", "ebs", "rootVolume"}},
    {"spec.blockDeviceMappings[].ebs",
     {"deleteOnTermination", "encrypted", "iops", "kmsKeyID", "snapshotID", "throughput",
      "volumeInitializationRate", "volumeSize", "volumeType"}},
    {"spec.capacityReservationSelectorTerms[]", {"id", "instanceMatchCriteria", "ownerID", "tags"}},
    {"spec.connectionTracking", {"tcpEstablishedTimeout", "udpStreamTimeout", "udpTimeout"}},
    {"spec.cpuOptions", {"nestedVirtualization"}},
    {"spec.enclaveOptions", {"enabled"}},
    {"spec.metadataOptions",
     {"httpEndpoint", "httpProtocolIPv6", "httpPutResponseHopLimit", "httpTokens"}},
    {"spec.networkInterfaces[]", {"deviceIndex", "interfaceType", "networkCardIndex"}},
    {"spec.placementGroupSelector", {"id", "name"}},
    {"spec.securityGroupSelectorTerms[]", {"id", "name", "tags"}},
    {"spec.subnetSelectorTerms[]", {"id", "tags"}},
    {0},
};

/* Of AWSNodeTemplates, Provisioners and NodePools. */
static const struct known_elsewhere elsewhere[] = {
    {"kubeletConfiguration", "write spec.kubelet"},
    {"subnetSelector", "write spec.subnetSelectorTerms, a list"},
    {"securityGroupSelector", "write spec.securityGroupSelectorTerms, a list"},
    {"amiSelector", "write spec.amiSelectorTerms, a list"},
    {"requirements", "move it to the NodePool, as spec.template.spec.requirements"},
    {"taints", "move it to the NodePool, as spec.template.spec.taints"},
    {"limits", "move it to the NodePool, as spec.limits"},
    {"size", "write volumeSize, as in 100Gi"},
    {0},
};

void node_class_judge_fields(struct judgement *judgement)
{
    struct text version = TEXT("");
    text_split(judgement->object->api_version, '/', NULL, &version);
    if (text_is(version, "v1"))
        known_fields_judge(judgement, &(struct known_fields){
                                          .places = v1,
                                          .elsewhere = elsewhere,
                                          .object = "an EC2NodeClass of v1",
                                      });
}
