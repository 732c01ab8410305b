"""Clusters for pages that people look at, as files: large ones, and one whose names are hostile."""
import json
import os

HOSTILE = "</style></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
LONG = "a-name-that-goes-on-" * 10
POLICY = f"""apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {{name: production}}
spec:
  mode: enforce
  contact: "#platform <{'x' * 60}>"
  docs: https://wiki.example.com/compute/{{rail}}?a=1&b="2"
  match: {{excludeNamespaces: [kube-system]}}
  rails:
    topology-keys: {{}}
    zone-spread: {{mode: warn, minReplicas: 2}}
    resource-requests: {{mode: audit, require: [cpu, memory]}}
    scheduler-bypass: {{}}
  exceptions:
    - {{id: EX-1, rails: [scheduler-bypass], match: {{namespaces: [team-3]}}, owner: us, reason: why,
       expires: 2199-01-01}}
---
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {{name: tolerations-of-the-whole-company}}
spec:
  mode: warn
  rails:
    tolerations: {{allow: [team]}}
    node-labels: {{}}
"""


def deployment(namespace, name, spec, replicas=3):
    labels = {"app": "x"}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": namespace, "name": name, "uid": f"{namespace}-{name}"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": spec}}}


def spec(cpu="500m", memory="1Gi", **more):
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}], **more}


def spread(key):
    return [{"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": {"app": "x"}}}]


def audit_things(namespaces, workloads):
    """So many workloads in each namespace, wrong in several ways; every sixth is right."""
    things = []
    for i in range(namespaces):
        for j in range(workloads):
            wrongs = [spec(memory=None), spec(topologySpreadConstraints=spread(f"rack-{j}.zone")),
                      spec(topologySpreadConstraints=spread("zone"),
                           tolerations=[{"operator": "Exists"}]),
                      spec(schedulerName="nobody", nodeSelector={"disktype": "ssd"}),
                      spec(cpu=None, schedulerName=f"mine-{j}"),
                      spec(topologySpreadConstraints=spread("topology.kubernetes.io/zone"))]
            things.append(deployment(f"team-{i}", f"app-{j}", wrongs[j % len(wrongs)]))
    return things


def hostile_things():
    return [deployment(HOSTILE, HOSTILE, spec(schedulerName=HOSTILE, topologySpreadConstraints=spread(HOSTILE))),
            deployment("long", LONG, spec(schedulerName=LONG, topologySpreadConstraints=spread(LONG)))]


def write_audit(folder, things, policy=POLICY):
    """Returns the arguments of `taffrail audit`."""
    os.makedirs(os.path.join(folder, "state"), exist_ok=True)
    with open(os.path.join(folder, "state/all.json"), "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": list(things)}, file)
    with open(os.path.join(folder, "policy.yaml"), "w", encoding="utf-8") as file:
        file.write(policy)
    return ["audit", "-p", "policy.yaml", "--state", "state"]


# ---- plans ----

ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
TYPES = (("m5.xlarge", 4, 16), ("m5.2xlarge", 8, 32), ("r5.xlarge", 4, 32), ("c5.4xlarge", 16, 32),
         ("m5.4xlarge", 16, 64))


def pool(name, weight=1, taints=()):
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
            "spec": {"weight": weight, "template": {"spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass",
                                 "name": "default"},
                "taints": list(taints),
                "requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                    {"key": "node.kubernetes.io/instance-type", "operator": "In",
                     "values": [name for name, _, _ in TYPES]}]}}}}


def node_class():
    return {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
            "metadata": {"name": "default"},
            "spec": {"amiSelectorTerms": [{"alias": "al2023@v20260101"}]},
            "status": {"subnets": [{"id": f"subnet-{zone}", "zone": zone} for zone in ZONES]}}


def node(i, pools):
    type_name, cpu, memory = TYPES[i % len(TYPES)]
    name = f"ip-10-0-{i // 250}-{i % 250}.eu-west-1.compute.internal"
    room = {"cpu": f"{cpu * 1000 - 100}m", "memory": f"{memory - 1}Gi", "pods": "58"}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {
                "karpenter.sh/nodepool": pools[i % len(pools)], "karpenter.sh/registered": "true",
                "karpenter.sh/initialized": "true", "karpenter.sh/capacity-type": "on-demand",
                "node.kubernetes.io/instance-type": type_name, "kubernetes.io/hostname": name,
                "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
                "topology.kubernetes.io/zone": ZONES[i % len(ZONES)]}},
            "spec": {"providerID": f"kwok://{name}"},
            "status": {"capacity": room, "allocatable": room,
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod_on(node_name, i, j):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": f"team-{j % 7}", "name": f"app-{j}-{i}",
                         "labels": {"app": f"app-{j}"},
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                                              "name": f"app-{j}", "uid": f"app-{j}",
                                              "controller": True}]},
            "spec": {"nodeName": node_name, **spec(cpu=f"{200 + 37 * ((i + j) % 11)}m",
                                                   memory=f"{512 + 64 * (j % 9)}Mi")},
            "status": {"phase": "Running"}}


def plan_things(nodes, pending=60, pools=("general", "memory", "batch")):
    """So many Nodes with three to nine Pods each, and Deployments that fit, or fit nowhere."""
    things = [node_class(), *(pool(name, weight) for weight, name in enumerate(pools, 1))]
    for i in range(nodes):
        one = node(i, pools)
        things.append(one)
        things += [pod_on(one["metadata"]["name"], i, j) for j in range(3 + i % 7)]
    for j in range(pending):
        things.append(deployment(f"team-{j % 7}", f"new-{j}", spec(cpu=f"{1 + j % 3}500m"), 8))
    things += [deployment("ml", "vast", spec(cpu="200"), 5),
               deployment("ml", "arm", spec(nodeSelector={"kubernetes.io/arch": "arm64"}), 2),
               deployment("shop", "elsewhere", spec(
                   nodeSelector={"topology.kubernetes.io/zone": "us-east-1a"}), 3)]
    return things


def misfit_things(count):
    """So many Deployments that fit nowhere, each for other reasons."""
    return [node_class(), pool("general"), node(0, ["general"]),
            *(deployment(f"team-{j % 7}", f"odd-{j}", spec(
                cpu=f"{100 + j}", nodeSelector={f"example.com/{'x' * j}": "y"} if j % 2 else {}), 2)
              for j in range(count))]


def hostile_plan_things():
    return [node_class(), pool(HOSTILE), pool(LONG),
            deployment(HOSTILE, HOSTILE, spec(cpu="200")), deployment("long", LONG, spec(cpu="1"))]


def write_plan(folder, things):
    """Returns the arguments of `taffrail plan`."""
    os.makedirs(os.path.join(folder, "cluster"), exist_ok=True)
    with open(os.path.join(folder, "cluster/all.json"), "w", encoding="utf-8") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": list(things)}, file)
    return ["plan", "--state", "cluster"]
