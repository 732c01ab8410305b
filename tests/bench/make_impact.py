#!/usr/bin/python3
"""Writes into FOLDER a cluster (state/) of one NodePool with NODES Nodes (1000) and ten Pods on each, a policy
with the rail change-impact (policy.yaml), and reviews of that NodePool: update.review makes all its nodes
drift, zones.review a third of them, budget.review none, delete.review deletes it. The Pods have owners, and
every tenth workload a PodDisruptionBudget that allows nothing.

    tests/bench/make_impact.py FOLDER
    build/tests/bench/bench_review_cost --state FOLDER/state -p FOLDER/policy.yaml --repeat 20 FOLDER/*.review

usage: make_impact.py FOLDER [NODES]
"""

import copy
import json
import pathlib
import sys

ZONES = ["eu-west-1a", "eu-west-1b", "eu-west-1c"]
HASHES = {"karpenter.sh/nodepool-hash": "6821555240594823858", "karpenter.sh/nodepool-hash-version": "v3"}
PODS_OF_A_NODE = 10
OBJECTS_OF_A_FILE = 20000


def pool():
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
            "metadata": {"name": "general", "uid": "pool-uid", "annotations": dict(HASHES)},
            "spec": {"disruption": {"budgets": [{"nodes": "10%"}]},
                     "limits": {"cpu": "100000"},
                     "template": {"spec": {
                         "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass",
                                          "name": "default"},
                         "expireAfter": "720h",
                         "requirements": [
                             {"key": "karpenter.sh/capacity-type", "operator": "In",
                              "values": ["on-demand"]},
                             {"key": "topology.kubernetes.io/zone", "operator": "In",
                              "values": ZONES}]}}}}


def machine(number):
    name = f"ip-10-0-{number // 250}-{number % 250}.eu-west-1.compute.internal"
    labels = {"karpenter.sh/nodepool": "general", "karpenter.sh/initialized": "true",
              "karpenter.sh/registered": "true", "karpenter.sh/capacity-type": "on-demand",
              "topology.kubernetes.io/zone": ZONES[number % 3], "kubernetes.io/arch": "amd64",
              "kubernetes.io/os": "linux", "node.kubernetes.io/instance-type": "m5.2xlarge",
              "kubernetes.io/hostname": name}
    amounts = {"cpu": "8", "memory": "32Gi", "pods": "58"}
    claim = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
             "metadata": {"name": f"general-{number:05}", "uid": f"claim-{number}", "labels": labels,
                          "annotations": dict(HASHES)},
             "spec": {"nodeClassRef": pool()["spec"]["template"]["spec"]["nodeClassRef"]},
             "status": {"nodeName": name, "providerID": f"aws:///i-{number:08x}",
                        "conditions": [{"type": "Ready", "status": "True"}]}}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": f"aws:///i-{number:08x}"},
            "status": {"capacity": amounts, "allocatable": amounts,
                       "conditions": [{"type": "Ready", "status": "True"}]}}
    return name, [claim, node]


def workload(number, nodes):
    namespace, name = f"team-{number % 50}", f"app-{number}"
    labels = {"app": name, "pod-template-hash": "5f6d"}

    def owned(kind, owner):
        return {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner,
                                     "uid": f"{owner}-uid", "controller": True}]}

    yield {"apiVersion": "apps/v1", "kind": "ReplicaSet",
           "metadata": {"namespace": namespace, "name": f"{name}-5f6d", "uid": f"{name}-5f6d-uid",
                        **owned("Deployment", name)},
           "spec": {"replicas": len(nodes), "selector": {"matchLabels": labels}}}
    if number % 10 == 0:
        yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
               "metadata": {"namespace": namespace, "name": name},
               "spec": {"selector": {"matchLabels": {"app": name}}, "minAvailable": "100%"},
               "status": {"disruptionsAllowed": 0}}
    for index, node in enumerate(nodes):
        yield {"apiVersion": "v1", "kind": "Pod",
               "metadata": {"namespace": namespace, "name": f"{name}-5f6d-{index:05}", "labels": labels,
                            **owned("ReplicaSet", f"{name}-5f6d")},
               "spec": {"nodeName": node,
                        "containers": [{"name": "app", "resources": {
                            "requests": {"cpu": "250m", "memory": "1Gi"}}}],
                        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                                         "effect": "NoExecute", "tolerationSeconds": 300}]},
               "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def cluster(count):
    items, names = [pool()], []
    for number in range(count):
        name, objects = machine(number)
        names.append(name)
        items += objects
    replicas = 10
    for number in range(count * PODS_OF_A_NODE // replicas):
        items += workload(number, [names[(number * 7 + i) % count] for i in range(replicas)])
    return items


def review(operation, old, new):
    resource = {"group": "karpenter.sh", "version": "v1", "resource": "nodepools"}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "request": {"uid": operation, "operation": operation, "resource": resource, "name": "general",
                        "kind": {"group": "karpenter.sh", "version": "v1", "kind": "NodePool"},
                        "userInfo": {"username": "jane", "groups": ["system:authenticated"]},
                        "object": new, "oldObject": old, "dryRun": False}}


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    folder.mkdir(parents=True, exist_ok=True)
    labelled, fewer, calm = pool(), pool(), pool()
    labelled["spec"]["template"]["metadata"] = {"labels": {"team": "a"}}
    fewer["spec"]["template"]["spec"]["requirements"][1]["values"] = ZONES[:2]
    calm["spec"]["disruption"]["budgets"][0]["nodes"] = "5%"
    reviews = {"update": ("UPDATE", pool(), labelled), "zones": ("UPDATE", pool(), fewer),
               "budget": ("UPDATE", pool(), calm), "delete": ("DELETE", pool(), None)}
    for name, parts in reviews.items():
        (folder / f"{name}.review").write_text(json.dumps(review(*copy.deepcopy(parts))))
    items = cluster(count)
    (folder / "state").mkdir(exist_ok=True)
    for first in range(0, len(items), OBJECTS_OF_A_FILE):
        part = {"apiVersion": "v1", "kind": "List", "items": items[first:first + OBJECTS_OF_A_FILE]}
        (folder / "state" / f"{first:07}.json").write_text(json.dumps(part))
    (folder / "policy.yaml").write_text(
        "apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: production}\n"
        "spec:\n  mode: enforce\n  rails:\n    change-impact: {maxShare: 25%}\n")


main()
