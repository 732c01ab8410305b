/* A cluster with volumes in zones and pods that mount them, for the tests of the rail zone-pin and
 * its messages. */
#ifndef TAFFRAIL_ZONE_PIN_CLUSTER_H
#define TAFFRAIL_ZONE_PIN_CLUSTER_H

#include "rail_modes.h"

#define ZONE "topology.kubernetes.io/zone"

#define VOLUME(name, zones)                                                                     \
    "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " name "}, spec: {nodeAffinity:" \
    " {required: {nodeSelectorTerms: [{matchExpressions: [{key: " ZONE                          \
    ", operator: In, values: [" zones "]}]}]}}}}\n---\n"
#define CLAIM(name, meta, spec)                                                       \
    "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " name meta "}, " \
    "spec: {accessModes: [ReadWriteOnce], " spec "}}\n---\n"
#define BOUND(name) \
    CLAIM(name, ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}", "volumeName: v-" name)
#define SET(name, replicas, class)                                                            \
    "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: " name ", uid: u-" name        \
    "}, spec: {replicas: " replicas ", volumeClaimTemplates: [{metadata: {name: data}, spec:" \
    " {storageClassName: " class "}}]}}\n---\n"
#define CLASS(name, rest)                                                        \
    "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " name \
    "}, provisioner: ebs.csi.aws.com" rest "}\n---\n"
#define WAITS ", volumeBindingMode: WaitForFirstConsumer"

#define ALLOWED(zone) \
    WAITS ", allowedTopologies: [{matchLabelExpressions: [{key: " ZONE ", values: [" zone "]}]}]"
#define MOUNTING(name, labels, claim, rest)                                                \
    "{apiVersion: v1, kind: Pod, metadata: {name: " name ", labels: {" labels "}}, spec: " \
    "{volumes: [{name: data, persistentVolumeClaim: {claimName: " claim "}}]}" rest "}\n---\n"
#define POOL(name, zones, rest)                                                                  \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: " name "}, spec: "           \
    "{template: {spec: {requirements: [{key: " ZONE ", operator: In, values: [" zones "]}]" rest \
    "}}}}\n---\n"

#define CLASSES CLASS("wait", WAITS) CLASS("early", "") CLASS("in-c", ALLOWED("c"))
#define CLASS_OF_NOWHERE CLASS("in-d", ALLOWED("d"))
#define IN_ONE_ZONE VOLUME("v-one", "a") VOLUME("v-two", "b") VOLUME("v-db", "c")
#define IN_MORE_ZONES VOLUME("v-both", "a, b") VOLUME("v-edge", "a, d") VOLUME("v-far", "d")
#define ITS_CLAIMS BOUND("one") BOUND("two") BOUND("db") BOUND("both") BOUND("edge") BOUND("far")
#define OF_WEB BOUND("data-web-0") BOUND("data-web-1")
#define VOLUMES_OF_WEB VOLUME("v-data-web-0", "a") VOLUME("v-data-web-1", "b")
#define RESERVED CLAIM("reserved", "", "volumeName: v-one")
#define RESERVED_OF_DUO CLAIM("data-duo-1", "", "volumeName: v-one")
#define RESERVED_TWO CLAIM("reserved-two", "", "volumeName: v-both")
#define NEW CLAIM("new", "", "storageClassName: wait")
#define NEW_C CLAIM("new-c", "", "storageClassName: in-c")
#define NEW_D CLAIM("new-d", "", "storageClassName: in-d")
#define EARLY CLAIM("early", "", "storageClassName: early")
#define SELECTED ", annotations: {volume.kubernetes.io/selected-node: n1}"
#define CHOSEN CLAIM("chosen", SELECTED, "storageClassName: wait")
#define SETS SET("web", "3", "wait") SET("solo", "1", "in-c") SET("duo", "2", "in-c")
#define POOLS POOL("default", "a, b, c", "") POOL("reserved", "e", RESERVED_FOR_A_TEAM)
#define RESERVED_FOR_A_TEAM ", taints: [{key: team, effect: NoSchedule}]"
#define OF_NO_POD BOUND("p-e") VOLUME("v-p-e", "a")
#define DB MOUNTING("db-0", "app: db", "db", "")
#define OLD MOUNTING("old-0", "app: old", "two", ", status: {phase: Succeeded}")
#define TWIN_LEFT MOUNTING("twin-0", "app: twin, side: left", "one", "")
#define TWIN_RIGHT MOUNTING("twin-1", "app: twin, side: right", "two", "")

/* b is the zone of a Node, a and c are zones of a pool, d has neither. The twins are in a and in
 * b. */
static const char pin_cluster[] = CLASSES CLASS_OF_NOWHERE IN_ONE_ZONE IN_MORE_ZONES ITS_CLAIMS
    OF_WEB VOLUMES_OF_WEB RESERVED RESERVED_OF_DUO RESERVED_TWO NEW NEW_C NEW_D EARLY CHOSEN SETS
        POOLS OF_NO_POD DB OLD TWIN_LEFT TWIN_RIGHT
    "{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {" ZONE ": b}}}\n";

#define POD(meta, spec) "{apiVersion: v1, kind: Pod, metadata: {name: p" meta "}, spec: {" spec "}}"
#define MOUNT(claim) "{name: " claim ", persistentVolumeClaim: {claimName: " claim "}}"
#define VOLUMES(list) "volumes: [" list "]"
#define OWNED(set, ordinal, meta, spec)                                                   \
    "{apiVersion: v1, kind: Pod, metadata: {name: " set "-" ordinal ", ownerReferences: " \
    "[{apiVersion: apps/v1, kind: StatefulSet, name: " set ", uid: u-" set                \
    ", controller: true}]" meta "}, spec: {" VOLUMES(                                     \
        "{name: data, persistentVolumeClaim: {claimName: data-" set "-" ordinal "}}") spec "}}"
#define WEB(spec) OWNED("web", "2", "", spec)
#define SPREAD(key)                                                                   \
    ", topologySpreadConstraints: [{topologyKey: " key ", maxSkew: 1, minDomains: 3," \
    " whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]"
#define AFFINITY(rest) ", affinity: {" rest "}"
#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"
#define NODE_TERMS(terms) "nodeAffinity: {" REQUIRED ": {nodeSelectorTerms: [" terms "]}}"
#define ARM "{matchExpressions: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}"
#define FOLLOW(app)                                                                                \
    "podAffinity: {" REQUIRED ": [{topologyKey: " ZONE ", labelSelector: {matchLabels: {app: " app \
    "}}}]}"
#define PREFERS_ARM "nodeAffinity: {" PREFERRED ": [{weight: 5, preference: " ARM "}]}"
#define OWNED_BY(kind)                                                                   \
    ", ownerReferences: [{apiVersion: v1, kind: " kind ", name: d, uid: u, controller: " \
    "true}]"
#define MIRROR ", annotations: {kubernetes.io/config.mirror: x}"
#define FARGATE_PROFILE ", labels: {eks.amazonaws.com/fargate-profile: f}"
#define COMPUTE_TYPE(value) ", nodeSelector: {eks.amazonaws.com/compute-type: " value "}"

#endif
