/* Fields that no EC2NodeClass has, as Karpenter's CRD tells. spec.kubelet is open: the API server
 * keeps all that is in it. */
#include "policy/rails/crd_shape.h"
#include "policy/rails/node_class.h"

/* Of AWSNodeTemplates, Provisioners and NodePools. */
static const struct moved_field moved[] = {
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

static const struct crd_shape_words words = {SHAPE_DROPPED("an EC2NodeClass of v1"),
                                             .moved = moved};

void node_class_judge_fields(struct rail_call *call)
{
    struct text version = TEXT("");
    text_split(call->object->api_version, '/', NULL, &version);
    if (text_is(version, "v1"))
        crd_shape_judge_names(call, &crd_shape_ec2_node_class_v1, call->object->root, &words);
}
