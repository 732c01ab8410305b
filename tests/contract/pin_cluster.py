"""A cluster for the tests of the zone pin: a pool for zones a, b and c, a Node in each, claims in
every state, and pods to mount them."""

import copy

ZONE = "topology.kubernetes.io/zone"
BIND_COMPLETED = {"pv.kubernetes.io/bind-completed": "yes"}


def named(api_version, kind, name, spec, metadata=None, **more):
    return {"apiVersion": api_version, "kind": kind,
            "metadata": {"name": name, **(metadata or {})}, "spec": spec, **more}


# ---- claims and volumes ----


def term(*zones):
    return {"matchExpressions": [{"key": ZONE, "operator": "In", "values": list(zones)}]}


def volume(name, terms, claim_ref=None, **more):
    spec = {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"],
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}, **more}
    if claim_ref:
        spec["claimRef"] = {"namespace": "shop", **claim_ref}
    return named("v1", "PersistentVolume", name, spec,
                 status={"phase": "Bound" if claim_ref else "Available"})


def free_volume(name, zone, class_name):
    return volume(name, [term(zone)], storageClassName=class_name)


def claim(name, annotations=None, **spec):
    return named("v1", "PersistentVolumeClaim", name, {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec},
        {"namespace": "shop", "uid": "u-" + name, "annotations": annotations or {}})


def bound(name, zones=None, terms=None):
    """The claim and its volume."""
    return [claim(name, BIND_COMPLETED, volumeName="v-" + name),
            volume("v-" + name, terms or [term(*zones)], {"name": name, "uid": "u-" + name})]


def storage_class(name, provisioner="ebs.csi.aws.com"):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}


# ---- the rest ----


def stateful_set(name, replicas):
    return named("apps/v1", "StatefulSet", name, {
        "replicas": replicas, "template": {"spec": {"containers": [{"name": "main"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"},
                                  "spec": {"storageClassName": "wait"}}]},
        {"namespace": "shop", "uid": "u-" + name})


def node_pool(name, *requirements):
    return named("karpenter.sh/v1", "NodePool", name,
                 {"template": {"spec": {"requirements": list(requirements)}}})


def objects():
    pool = node_pool("default", {"key": ZONE, "operator": "In", "values": ["a", "b", "c"]})
    nodes = [named("v1", "Node", f"n{n}", {}, {"labels": {ZONE: zone}})
             for n, zone in enumerate("abc")]
    db = pod({"labels": {"app": "db"}}, volumes=mounts("in-b"))
    db["metadata"]["name"] = "db-0"
    return [
        pool, *nodes, db, storage_class("wait"),
        storage_class("static", "kubernetes.io/no-provisioner"),
        storage_class("by-hand", "kubernetes.io/no-provisioner"),
        *bound("in-a", ["a"]), *bound("in-b", ["b"]), *bound("regional", ["a", "b"]),
        claim("chosen", {"volume.kubernetes.io/selected-node": "n1"}, storageClassName="wait"),
        claim("shared", storageClassName="wait"),
        claim("static", storageClassName="by-hand"), free_volume("by-hand", "b", "by-hand"),
        claim("orphan", BIND_COMPLETED, volumeName="v-gone"),
        claim("robbed", BIND_COMPLETED, volumeName="v-in-a"),
        # of a set of four, one is in each of two zones, one is on its way to the third
        stateful_set("web", 4), *bound("data-web-0", ["a"]), *bound("data-web-1", ["a"]),
        claim("data-web-2", {"volume.kubernetes.io/selected-node": "n2"}, storageClassName="wait"),
    ]


def mounts(*claims):
    return [{"name": name if i == 0 else f"{name}-{i}" if name in claims[:i] else name,
             "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]


def pod(metadata=None, **spec):
    return named("v1", "Pod", "p", {"containers": [{"name": "main"}], **spec},
                 {"namespace": "shop", **copy.deepcopy(metadata or {})})


def generated(one):
    """Made by a controller that leaves the name to the API server."""
    one = copy.deepcopy(one)
    del one["metadata"]["name"]
    one["metadata"]["generateName"] = "p-"
    return one


def of_set(name, ordinal):
    one = pod({"ownerReferences": [{
        "apiVersion": "apps/v1", "kind": "StatefulSet", "name": name, "uid": "u-" + name,
        "controller": True}]}, volumes=[{
            "name": "data", "persistentVolumeClaim": {"claimName": f"data-{name}-{ordinal}"}}])
    one["metadata"]["name"] = f"{name}-{ordinal}"
    return one
