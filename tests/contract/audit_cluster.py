"""A cluster in which much is wrong, and what an audit of it is to find."""

import copy

ZONE = "topology.kubernetes.io/zone"
OPT_OUT = "karpenter.sh/do-not-disrupt"
POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: all}
spec:
  mode: enforce
  contact: "#platform"
  docs: https://wiki.example.com/{rail}
  match: {excludeNamespaces: [kube-system]}
  rails:
    topology-keys: {}
    disruption-opt-out: {}
    pool-limits: {}
    capacity-types: {mode: warn, allow: [on-demand]}
    resource-requests: {require: [memory], since: 2026-05-01}
  exceptions:
    - {id: EX-1, rails: [topology-keys, disruption-opt-out], match: {names: [train]}, owner: us,
       reason: why, expires: 2199-01-01}
    - {id: EX-2, rails: [topology-keys], match: {labelSelector: {matchLabels: {tier: batch}}}, owner: us,
       reason: why, expires: 2199-01-01}
"""
PLURALS = {"Deployment": "deployments", "ReplicaSet": "replicasets", "Pod": "pods", "Job": "jobs",
           "CronJob": "cronjobs", "NodePool": "nodepools", "Node": "nodes",
           "Namespace": "namespaces"}
OLD, NEW = "2025-11-03T09:00:00Z", "2026-06-01T12:00:00Z"


def spec(key=ZONE, memory="64Mi", **more):
    """Of a pod, with a topologyKey and a request."""
    requests = {"cpu": "100m", **({"memory": memory} if memory else {})}
    return {"containers": [{"name": "main", "image": "main", "resources": {"requests": requests}}],
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway",
                 "labelSelector": {"matchLabels": {"app": "x"}}}], **more}


def template(pod_spec):
    return {"metadata": {"labels": {"app": "x"}}, "spec": pod_spec}


def thing(api_version, kind, name, namespace="web", owner=None, created=NEW, **more):
    metadata = {"name": name, "uid": f"uid-{kind}-{name}", "creationTimestamp": created,
                "resourceVersion": "7",
                "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
                **more.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    if owner:
        of = owner["metadata"]
        metadata["ownerReferences"] = [{"apiVersion": owner["apiVersion"], "kind": owner["kind"],
                                        "name": of["name"], "uid": of["uid"], "controller": True}]
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def deployment(name, pod_spec, **more):
    return thing("apps/v1", "Deployment", name,
                 spec={"replicas": 2, "selector": {"matchLabels": {"app": "x"}},
                       "template": template(pod_spec)}, **more)


def replica_set(name, pod_spec, owner, replicas=2, **more):
    return thing("apps/v1", "ReplicaSet", name, owner=owner,
                 spec={"replicas": replicas, "selector": {"matchLabels": {"app": "x"}},
                       "template": template(pod_spec)}, **more)


def pod(name, pod_spec, owner=None, phase="Running", **more):
    """As it is once it runs: with what the API server, the scheduler and others have added."""
    running = copy.deepcopy(pod_spec)
    running["nodeName"] = "ip-10-0-0-1"
    running["tolerations"] = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists",
                               "effect": "NoExecute", "tolerationSeconds": 300}]
    running["containers"].insert(0, {"name": "injected", "image": "proxy", "resources": {
        "requests": {"cpu": "10m", "memory": "32Mi"}}})
    metadata = {"labels": {"app": "x"}, **more.pop("metadata", {})}
    return thing("v1", "Pod", name, owner=owner, metadata=metadata, spec=running,
                 status={"phase": phase, "startTime": NEW,
                         "conditions": [{"type": "PodScheduled", "status": "True"}]}, **more)


def rollout(name, pod_spec, **more):
    """A Deployment, its ReplicaSet and two Pods."""
    top = deployment(name, pod_spec, **more)
    middle = replica_set(name + "-1", pod_spec, top, **more)
    return [top, middle, *(pod(f"{name}-1-{i}", pod_spec, middle, **more) for i in "ab")]


def cron_job():
    top = thing("batch/v1", "CronJob", "nightly", spec={
        "schedule": "15 2 * * *",
        "jobTemplate": {"spec": {"template": template(spec("zone", restartPolicy="Never"))}}})
    job = thing("batch/v1", "Job", "nightly-1", owner=top,
                spec={"template": template(spec("zone", restartPolicy="Never"))})
    return [top, job, pod("nightly-1-a", spec("zone", restartPolicy="Never"), job)]


def revisions():
    """A rollout mends a mistake: one old revision still runs, another does not."""
    top = deployment("rolling", spec())
    half = replica_set("rolling-1", spec("zone"), top)
    return [top, half, pod("rolling-1-a", spec("zone"), half),
            replica_set("rolling-0", spec("zone"), top, replicas=0),
            replica_set("rolling-2", spec(), top)]


def labelled():
    """An exception for what has a label; what is made of it has not."""
    top = deployment("labelled", spec("zone"), metadata={"labels": {"tier": "batch"}})
    middle = replica_set("labelled-1", spec("zone"), top)
    return [top, middle, pod("labelled-1-a", spec("zone"), middle)]


def odd_pods():
    """Two that differ from their template in the same way."""
    top, middle, *pods = rollout("odd", spec())
    for one in pods:
        one["metadata"]["annotations"] = {OPT_OUT: "true"}
    return [top, middle, *pods]


def what_goes():
    ended = {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    return [pod("done", spec("zone"), phase="Succeeded"),
            pod("going", spec("zone"), metadata={"deletionTimestamp": NEW,
                                                 "deletionGracePeriodSeconds": 30}),
            thing("batch/v1", "Job", "ended", spec={"template": template(spec("zone"))}, **ended)]


def circle():
    """Two that own each other, as nothing but a mistake would have it."""
    first, second = pod("circle-a", spec("zone")), pod("circle-b", spec("zone"))
    return [pod("circle-a", spec("zone"), second), pod("circle-b", spec("zone"), first)]


def orphans():
    custom = thing("ray.io/v1", "RayCluster", "ray")
    gone = replica_set("again-1", spec("zone"), None)
    other = replica_set("again-1", spec("zone"), None, metadata={"uid": "uid-of-the-next"})
    return [pod("bare", spec("zone")), pod("ray-head", spec("zone"), custom), other,
            pod("again-1-a", spec("zone"), gone)]


POOL = thing("karpenter.sh/v1", "NodePool", "open", None, spec={"template": {"spec": {
    "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In",
                      "values": ["on-demand", "spot"]}],
    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}})
CLUSTER = [
    *rollout("shop", spec("zone")),
    *rollout("fine", spec()),
    *rollout("train", spec("zone")),
    *rollout("old", spec(memory=None), namespace="legacy", created=OLD),
    *rollout("new", spec(memory=None), namespace="legacy"),
    *rollout("exempt", spec("zone"), namespace="kube-system"),
    *cron_job(), *revisions(), *labelled(), *odd_pods(), *what_goes(), *circle(), *orphans(),
    POOL,
    thing("v1", "Node", "ip-10-0-0-1", None, metadata={"labels": {ZONE: "eu-west-1a"}}),
    *(thing("v1", "Namespace", name, None) for name in ("web", "legacy", "kube-system")),
]
LEFT_OUT = {("Pod", "done"), ("Pod", "going"), ("Job", "ended"), ("ReplicaSet", "rolling-0")}

# kind, name, rail, action, whether `since` spares it. A ReplicaSet of a Deployment is never denied.
EXPECTED = sorted([
    ("Deployment", "shop", "topology-keys", "deny", False),
    ("Deployment", "train", "topology-keys", "excepted", False),
    ("Deployment", "old", "resource-requests", "warn", True),
    ("Deployment", "new", "resource-requests", "deny", False),
    ("CronJob", "nightly", "topology-keys", "deny", False),
    ("ReplicaSet", "rolling-1", "topology-keys", "audit", False),
    ("Deployment", "labelled", "topology-keys", "excepted", False),
    ("ReplicaSet", "labelled-1", "topology-keys", "audit", False),
    ("ReplicaSet", "again-1", "topology-keys", "deny", False),
    ("Pod", "odd-1-a", "disruption-opt-out", "deny", False),
    ("Pod", "odd-1-b", "disruption-opt-out", "deny", False),
    ("Pod", "circle-a", "topology-keys", "deny", False),
    ("Pod", "circle-b", "topology-keys", "deny", False),
    ("Pod", "bare", "topology-keys", "deny", False),
    ("Pod", "ray-head", "topology-keys", "deny", False),
    ("Pod", "again-1-a", "topology-keys", "deny", False),
    ("NodePool", "open", "pool-limits", "deny", False),
    ("NodePool", "open", "capacity-types", "warn", False),
])
