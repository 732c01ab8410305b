/* NodePools for the tables of the rail pool-shape. */
#ifndef TAFFRAIL_POOL_SHAPE_POOLS_H
#define TAFFRAIL_POOL_SHAPE_POOLS_H

#define HEAD "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: "
#define CLASS "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}"
#define POOL_WITH(more, template, requirements) \
    HEAD "{" more "template: {" template "spec: {" CLASS ", requirements: [" requirements "]}}}}"
#define POOL(requirements) POOL_WITH("", "", requirements)
#define POOL2(a, b) POOL(a ", " b)
#define POOL3(a, b, c) POOL2(a, b ", " c)
#define POOL4(a, b, c, d) POOL3(a, b, c ", " d)
#define POOL5(a, b, c, d, e) POOL4(a, b, c, d ", " e)
#define IN(key, values) "{key: " key ", operator: In, values: [" values "]}"
#define AWS "karpenter.k8s.aws/instance-"
/* Of one architecture, so that nothing is said of a choice of two. */
#define CMR IN(AWS "family", "c5, c6i, m5, m6i, r5, r6i")
#define AT "spec.template.spec.requirements"
#define LABELS(labels) POOL_WITH("", "metadata: {labels: {" labels "}}, ", CMR)
#define LABELS_AT "spec.template.metadata.labels"
#define TAINTS(taints) HEAD "{template: {spec: {" CLASS ", " taints ", requirements: [" CMR "]}}}}"
#define X63 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

#endif
