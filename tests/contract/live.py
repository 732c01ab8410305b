"""Runs `taffrail serve --kubeconfig` against the fake API server: pods are pinned from live objects,
events are seen at once, and what fails takes nothing else with it."""

import base64
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from fake import kubeconfig
from serving import ENDS_S, WAIT_S, Named, Serving, check, run_tests

TAFFRAIL, FAKEAPI = (sys.argv + ["", ""])[1:3]
VISIBLE_S = 0.25  # of an event, beyond what it takes to put it and to ask
ZONE = "topology.kubernetes.io/zone"
POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: live}
spec:
  mode: enforce
  rails:
    zone-pin: {}
    %s
"""
TRIES = 5
KARPENTER = ("nodepools", "nodeclaims", "ec2nodeclasses")


# ---- objects ----


def meta(name, namespace=None, **more):
    of = {"name": name, "uid": "uid-" + name, "resourceVersion": "@", **more}
    return of if namespace is None else {"namespace": namespace, **of}


def node(name, zone):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": meta(name, labels={ZONE: zone, "kubernetes.io/os": "linux",
                                           "kubernetes.io/hostname": name,
                                           "kubernetes.io/arch": "amd64"}),
            "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "58"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def volume(name, zone, claim):
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta(name),
            "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                     "storageClassName": "fast",
                     "claimRef": {"namespace": "shop", "name": claim, "uid": "uid-" + claim},
                     "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-" + name},
                     "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                         {"key": ZONE, "operator": "In", "values": [zone]}]}]}}},
            "status": {"phase": "Bound"}}


def claim(name, volume_name):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": meta(name, "shop",
                             annotations={"pv.kubernetes.io/bind-completed": "yes"}),
            "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Gi"}}, "volumeName": volume_name},
            "status": {"phase": "Bound"}}


TEMPLATE = {"metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "db", "image": "db",
                                     "resources": {"requests": {"cpu": "100m",
                                                                "memory": "64Mi"}},
                                     "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}}
STATEFUL_SET = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("db", "shop"),
                "spec": {"replicas": 3, "serviceName": "db",
                         "selector": {"matchLabels": {"app": "db"}}, "template": TEMPLATE,
                         "volumeClaimTemplates": [{
                             "metadata": {"name": "data"},
                             "spec": {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"],
                                      "resources": {"requests": {"storage": "1Gi"}}}}]}}
STORAGE_CLASS = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
                 "metadata": meta("fast"), "provisioner": "ebs.csi.aws.com",
                 "volumeBindingMode": "WaitForFirstConsumer"}
PLURALS = {"Deployment": "deployments", "ReplicaSet": "replicasets", "Node": "nodes", "PersistentVolume": "persistentvolumes",
           "PersistentVolumeClaim": "persistentvolumeclaims", "StatefulSet": "statefulsets",
           "StorageClass": "storageclasses", "Namespace": "namespaces", "NodePool": "nodepools"}


def line_of(thing):
    """How the fake server is told of it."""
    name = thing["metadata"]["name"]
    path = "/".join(filter(None, [thing["metadata"].get("namespace"), name]))
    return f"object {PLURALS[thing['kind']]} {path} {json.dumps(thing)}"


CLUSTER = [*(node("n-" + zone, zone) for zone in "abc"), STORAGE_CLASS, STATEFUL_SET,
           volume("vol-0", "b", "data-db-0"), claim("data-db-0", "vol-0"),
           {"apiVersion": "v1", "kind": "Namespace", "metadata": meta("shop")}]
SCRIPT = [line_of(thing) for thing in CLUSTER]
NO_KARPENTER = [f"list {plural} status 404" for plural in KARPENTER] * 9  # asked again now and then


def pod(ordinal):
    name = f"db-{ordinal}"
    labels = {"app": "db", "statefulset.kubernetes.io/pod-name": name,
              "apps.kubernetes.io/pod-index": str(ordinal)}
    spec = {**TEMPLATE["spec"],
            "volumes": [{"name": "data",
                         "persistentVolumeClaim": {"claimName": "data-" + name}}]}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "shop", "labels": labels,
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet",
                                              "name": "db", "uid": "uid-db", "controller": True}]},
            "spec": spec}


CONTROLLER = {"username": "system:serviceaccount:kube-system:statefulset-controller",
              "groups": ["system:serviceaccounts"]}
PERSON = {"username": "jane", "groups": ["developers"]}


def review(thing, user):
    return json.dumps({
        "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": "u", "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "shop", "operation": "CREATE", "object": thing, "oldObject": None,
            "userInfo": user, "dryRun": False, "options": None}}).encode()


# ---- a server on a fake cluster ----


class Live:
    def __init__(self, folder, script, rails="", user="{}", port=0, config=None):
        self.folder = folder
        self.fake = self.start_fake(script, port)
        self.policy = os.path.join(folder, "policy.yaml")
        self.write_policy(rails)
        where = f"http://127.0.0.1:{self.fake.port}"
        self.serving = Serving(TAFFRAIL, os.path.join(folder, "certs"), "-p", self.policy,
                               "--kubeconfig", config or kubeconfig(folder, where, user))
        self.connection = Named("127.0.0.1", self.serving.port, timeout=WAIT_S,
                                context=self.serving.tls)

    def start_fake(self, script, port=0):
        return fake_server.Fake(FAKEAPI, self.folder, "\n".join(script) + "\n", port)

    def write_policy(self, rails):
        with open(self.policy + ".new", "w") as file:
            file.write(POLICY % rails)
        os.rename(self.policy + ".new", self.policy)

    def ask(self, path, body):
        self.connection.request("POST", path, body, {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        answer = reply.read()
        check(reply.status == 200, f"{path}: {reply.status} {answer}")
        return json.loads(answer)["response"]

    def changes(self, thing):
        answer = self.ask("/mutate?timeout=10s", review(thing, CONTROLLER))
        return json.loads(base64.b64decode(answer["patch"])) if "patch" in answer else []

    def required(self, ordinal):
        """The zone that the pod is bound to; None: to none."""
        for change in self.changes(pod(ordinal)):
            if change["path"] == "/spec/nodeSelector/topology.kubernetes.io~1zone":
                return change["value"]
        return None

    def metric(self, name, kind=None):
        return self.serving.metric(name if kind is None else '%s{kind="%s"}' % (name, kind))

    def ready(self, query=""):
        return self.serving.get("/readyz" + query)

    def wait(self, what, condition):
        end = time.monotonic() + WAIT_S
        while not condition():
            check(time.monotonic() < end, f"not within {WAIT_S} s: {what}\n{self.ready('?verbose')}"
                  + "".join(self.serving.log))
            time.sleep(0.01)

    def wait_visible(self):
        self.wait("ready", lambda: self.ready()[0] == 200)
        self.wait("visible", lambda: self.metric("taffrail_cluster_visible") == 1)

    def logged(self, pattern):
        return [line for line in self.serving.log if re.search(pattern, line)]

    def end(self):
        """Ctrl-C: it does not wait for watches that hang."""
        self.connection.close()
        begun = time.monotonic()
        self.serving.process.send_signal(signal.SIGINT)
        code = self.serving.process.wait(WAIT_S)
        check(code == 0, f"it ended with {code}:\n" + "".join(self.serving.log))
        check(time.monotonic() - begun < ENDS_S, f"it took more than {ENDS_S} s to end")
        self.fake.end()


# ---- tests ----


def pods_are_pinned_from_live_objects(folder):
    live = Live(folder, SCRIPT + NO_KARPENTER)
    live.wait_visible()
    check(live.required(0) == "b", f"db-0: {live.changes(pod(0))}")
    texts = json.dumps(live.changes(pod(1)))
    check("preferredDuringScheduling" in texts, f"db-1 is not sent to a zone: {texts}")
    live.fake.do(line_of(volume("vol-1", "c", "data-db-1")), line_of(claim("data-db-1", "vol-1")))
    live.wait("db-1 is bound", lambda: live.required(1) == "c")
    live.fake.do("delete persistentvolumeclaims shop/data-db-0")
    live.wait("db-0 is no longer bound", lambda: live.required(0) is None)
    for name, kind, value in (("objects", "Node", 3), ("lists_total", "Pod", 1),
                              ("events_total", "PersistentVolumeClaim", 2),
                              ("degraded", "NodePool", 1), ("failures_total", "Node", 0)):
        live.wait(f"{name} of {kind} is {value}",
                  lambda n=name, k=kind, v=value: live.metric("taffrail_cluster_" + n, k) == v)
    check(live.metric("taffrail_cluster_object_bytes", "Node") > 300, "bytes are not counted")
    check(live.metric("taffrail_cluster_volumes_stale") == 0, "volumes are stale")
    live.serving.check_metrics_page()
    check(len(live.logged("nodepools.*404")) == 1, "no Karpenter is not said once")
    check(len(live.logged("the cluster is visible: 8 objects")) == 1, "".join(live.serving.log))
    status, text = live.ready("?verbose")
    check("persistentvolumes: 2 objects, known to be right" in text, text)
    live.end()


def an_event_is_seen_at_once(folder):
    live = Live(folder, SCRIPT + NO_KARPENTER)
    live.wait_visible()
    live.required(0)
    took, calm = [], []
    for i in range(60):
        zone = "abc"[i % 3]
        line = line_of(volume("vol-0", zone, "data-db-0"))
        begun = time.monotonic()
        live.fake.do(line)
        while live.required(0) != zone:
            check(time.monotonic() - begun < WAIT_S, f"zone {zone} is not seen")
        took.append(time.monotonic() - begun)
        begun = time.monotonic()
        live.fake.do(line)  # changes nothing that is asked for
        live.required(0)
        calm.append(time.monotonic() - begun)
    median, without = statistics.median(took), statistics.median(calm)
    print(f"    an event is in an answer after {median * 1000:.1f} ms (median), "
          f"{max(took) * 1000:.1f} ms (longest); to put it and ask takes {without * 1000:.1f} ms")
    check(median - without < VISIBLE_S, f"an event takes {median * 1000:.0f} ms")
    live.end()


SPREAD = {"apiVersion": "v1", "kind": "Pod",
          "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
          "spec": {"containers": [{"name": "web", "image": "web"}],
                   "topologySpreadConstraints": [
                       {"maxSkew": 1, "topologyKey": "example.com/rack",
                        "whenUnsatisfiable": "DoNotSchedule",
                        "labelSelector": {"matchLabels": {"app": "web"}}}]}}
POOL = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": meta("default"),
        "spec": {"template": {"spec": {"requirements": [], "nodeClassRef": {
            "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}}}


def what_cannot_be_seen_is_not_decided(folder):
    """Nodes may not be read: a key that only they could carry is not denied, no pod is pinned, and
    the other kinds go on."""
    script = SCRIPT + [line_of(POOL)]
    live = Live(folder, script + ["list nodes status 403"] * 9, rails="topology-keys: {}")
    live.wait_visible()
    answer = live.ask("/validate?timeout=10s", review(SPREAD, PERSON))
    check(answer["allowed"] and "Nodes cannot be seen" in json.dumps(answer), f"{answer}")
    check(live.changes(pod(0)) == [], "pinned though Nodes cannot be seen")
    check(live.metric("taffrail_cluster_degraded", "Node") == 1, "not degraded")
    check(live.metric("taffrail_cluster_objects", "PersistentVolume") == 1, "volumes went, too")
    check(len(live.logged('nodes.*answered 403')) == 1, "the refusal is not said once")
    check("nodes cannot be seen" in live.ready()[1], live.ready()[1])
    live.end()
    with tempfile.TemporaryDirectory() as other:  # where they may be read, it is denied
        live = Live(other, script, rails="topology-keys: {}")
        live.wait_visible()
        answer = live.ask("/validate?timeout=10s", review(SPREAD, PERSON))
        check(not answer["allowed"], f"{answer}")
        live.end()


def an_api_server_that_goes_takes_nothing_with_it(folder):
    """HTML, an end, a token that is gone: the snapshot there is stays; then all is current again."""
    token = os.path.join(folder, "token")
    with open(token, "w") as file:
        file.write("first\n")
    live = Live(folder, SCRIPT + NO_KARPENTER, user="{tokenFile: token}")
    live.wait_visible()
    port = live.fake.port
    os.remove(token)
    live.fake.do(*[f"list {plural} html" for plural in ("nodes", "persistentvolumes")],
                 *[f"watch {plural} html" for plural in ("nodes", "persistentvolumes")],
                 "put namespaces later", "compact")  # every watch has expired
    live.fake.do(line_of(volume("vol-0", "b", "data-db-0")))
    live.wait("the end of the watches is noticed",
              lambda: live.metric("taffrail_cluster_failures_total", "PersistentVolume") > 0)
    check(live.required(0) == "b", "the snapshot is gone")
    live.fake.end()
    check(live.required(0) == "b", "the snapshot is gone with the API server")
    check(live.ready()[0] == 200 and live.serving.get("/livez")[0] == 200, "it is not ready")
    before = live.metric("taffrail_cluster_age_seconds", "PersistentVolumeClaim")
    live.wait("the age grows",
              lambda: live.metric("taffrail_cluster_age_seconds",
                                  "PersistentVolumeClaim") > before + 1)
    live.wait("it is told", lambda: "persistentvolumes may be out of date" in live.ready()[1])
    live.fake = live.start_fake(SCRIPT + [line_of(volume("vol-0", "c", "data-db-0"))] + NO_KARPENTER
                                + ["compact"], port)
    live.wait("what is new is seen", lambda: live.required(0) == "c")
    live.wait("all is well", lambda: "out of date" not in live.ready()[1])
    check(all("=Bearer first " in line for line in live.fake.requests("")), "the token is lost")
    check(live.logged("the token cannot be read; the last one is used on"), "the token is not said")
    live.end()


SINCE = "topology-keys: {since: 2026-01-01}"
OLD, YOUNG = "2025-06-01T00:00:00Z", "2026-06-01T00:00:00Z"
REPLICA_SETS = {"username": "system:serviceaccount:kube-system:replicaset-controller",
                "groups": ["system:serviceaccounts"]}


def owned(kind, name):
    return [{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "uid-" + name,
             "controller": True}]


def workload(kind, name, created, **more):
    template = {"metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "web"}],
                         "topologySpreadConstraints": [{"topologyKey": "zone"}]}}
    return {"apiVersion": "apps/v1", "kind": kind,
            "metadata": meta(name, "shop", creationTimestamp=created, **more),
            "spec": {"template": template}}


def pod_of(name):
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name + "-x", "namespace": "shop",
                         "ownerReferences": owned("ReplicaSet", name)},
            "spec": {"containers": [{"name": "web"}],
                     "topologySpreadConstraints": [{"topologyKey": "zone"}]}}


def an_owner_that_is_not_seen_yet_is_waited_for(folder):
    """A Pod's ReplicaSet and Deployment, old ones, are told of after the Pod has come."""
    live = Live(folder, SCRIPT + NO_KARPENTER, rails=SINCE)
    live.wait_visible()
    live.ask("/validate", review(pod(0), CONTROLLER))

    def timed(thing, user, query=""):
        begun = time.monotonic()
        answer = live.ask("/validate" + query, review(thing, user))
        return answer, time.monotonic() - begun

    def quickest(thing, user, query="", limit_s=0.5):
        """Who waits for an owner does so each time; a busy machine is slow now and then."""
        for _ in range(TRIES):
            answer, took = timed(thing, user, query)
            if took < limit_s:
                break
        return answer, took

    def later(*lines):
        def tell():
            for line in lines:
                time.sleep(0.05)
                live.fake.do(line)
        thread = threading.Thread(target=tell)
        thread.start()
        return thread

    for name in (f"web-{n}" for n in range(TRIES)):  # it waits for a second, and no longer
        begun = time.monotonic()
        thread = later(line_of(workload("ReplicaSet", name, YOUNG,
                                        ownerReferences=owned("Deployment", "top-of-" + name))),
                       line_of(workload("Deployment", "top-of-" + name, OLD)))
        answer, _ = timed(pod_of(name), REPLICA_SETS)
        took = time.monotonic() - begun
        thread.join()
        if answer["allowed"]:
            break
    check(answer["allowed"] and answer["auditAnnotations"]["verdict"] == "warn", f"{answer}")
    check(took >= 0.1, f"it was answered after {took:.3f} s, before its owner was there")
    print(f"    its owners came after 0.1 s, its answer after {took * 1000:.0f} ms")
    answer, took = quickest(pod_of(name), REPLICA_SETS)
    check(answer["allowed"] and took < 0.5, f"{took:.3f} s for owners that are there: {answer}")
    # one that does not come is new; so long the caller has, half of it is waited
    answer, took = timed(pod_of("gone-1"), REPLICA_SETS)
    check(not answer["allowed"] and 0.95 <= took, f"{took:.3f} s: {answer}")
    answer, took = quickest(pod_of("gone-1"), REPLICA_SETS, "?timeout=1s", 0.95)
    check(not answer["allowed"] and 0.45 <= took < 0.95, f"{took:.3f} s: {answer}")
    # nobody waits for what a person says
    answer, took = quickest(pod_of("gone-1"), PERSON)
    check(not answer["allowed"] and took < 0.5, f"{took:.3f} s: {answer}")
    live.end()


def owners_that_may_not_be_listed_are_believed(folder):
    script = SCRIPT + [line_of(workload("ReplicaSet", "web-1", YOUNG,
                                        ownerReferences=owned("Deployment", "web")))]
    live = Live(folder, script + ["list deployments status 403"] * 9, rails=SINCE)
    live.wait_visible()
    answer = live.ask("/validate", review(pod_of("web-1"), REPLICA_SETS))
    check(answer["allowed"], f"its Deployment is not believed to be old: {answer}")
    answer = live.ask("/validate?timeout=2s", review(pod_of("web-2"), REPLICA_SETS))
    check(not answer["allowed"], f"ReplicaSets can be seen, and this is none: {answer}")
    check(len(live.logged(r"rests on what authors write.*\(Deployment\)")) == 1,
          "".join(live.serving.log))
    live.end()


ROLLOUTS = SINCE + """
  trustedControllers:
    - {account: argo/argo, owner: Rollout.argoproj.io, makes: ReplicaSet}"""
SERVES_ROLLOUTS = ["custom rollouts argoproj.io v1alpha1"]


def rollout(name, created):
    thing = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
             "metadata": meta(name, "shop", creationTimestamp=created)}
    return f"object rollouts shop/{name} {json.dumps(thing)}"


def set_of_rollout(name, owner, created=YOUNG):
    reference = {**owned("Rollout", owner)[0], "apiVersion": "argoproj.io/v1alpha1"}
    return line_of(workload("ReplicaSet", name, created, ownerReferences=[reference]))


def custom_owners_are_seen_by_their_metadata(folder):
    """A young ReplicaSet passes on what an older one has when its Rollout is old, and is there."""
    script = [*SCRIPT, *NO_KARPENTER, *SERVES_ROLLOUTS, rollout("old", OLD), rollout("new", YOUNG)]
    late = [f"late-{n}" for n in range(TRIES)]
    script += [set_of_rollout(f"{name}-{i}", name, created) for name in ("old", "new", *late)
               for i, created in enumerate((OLD, YOUNG))]
    live = Live(folder, script, rails=ROLLOUTS)
    live.wait_visible()
    live.wait("rollouts are seen", lambda: live.metric("taffrail_cluster_objects",
                                                       "Rollout.argoproj.io") == 2)

    def allows(name, query=""):
        return live.ask("/validate" + query, review(pod_of(name), REPLICA_SETS))["allowed"]

    live.wait("an old owner spares", lambda: allows("old-1"))
    check(not allows("new-1"), "a young Rollout spares its Pods")
    check(not allows("late-0-1", "?timeout=2s"), "a Rollout that is not there spares Pods")
    check(not live.logged("rests on what authors write"), "seen owners are said to be believed")

    def comes_meanwhile(name):
        thread = threading.Timer(0.05, lambda: live.fake.do(rollout(name, OLD)))
        thread.start()
        allowed = allows(name + "-1")
        thread.join()
        return allowed

    tries = next((n for n, name in enumerate(late, 1) if comes_meanwhile(name)), None)
    check(tries, "an owner that comes while it is waited for is not seen")
    seen = f"Rollout.argoproj.io: {2 + tries} objects, known"
    live.wait("they are told of", lambda: seen + " to be right" in live.ready("?verbose")[1])
    live.serving.check_metrics_page()
    # other rules, other owners
    live.write_policy(ROLLOUTS.replace("Rollout.argoproj.io", "Canary.example.com"))
    live.wait("the next owners are asked for",
              lambda: live.logged(r"rests on what authors write.*\(Canary\.example\.com\)"))
    live.wait("no Rollout is kept", lambda: "Rollout" not in live.ready("?verbose")[1])
    live.wait("it is told", lambda: "Canary.example.com are not there" in live.ready()[1])
    live.write_policy(ROLLOUTS)
    live.wait("rollouts are seen again", lambda: seen in live.ready("?verbose")[1])
    live.wait("an old owner spares again", lambda: allows("old-1"))
    check(not allows("new-1"), "a young Rollout spares its Pods after a reload")
    live.end()


def custom_owners_that_may_not_be_listed_are_believed(folder):
    script = [*SCRIPT, *NO_KARPENTER, *SERVES_ROLLOUTS, set_of_rollout("new-1", "new"),
              rollout("new", YOUNG)]
    live = Live(folder, script + ["list rollouts status 403"] * 9, rails=ROLLOUTS)
    live.wait_visible()
    answer = live.ask("/validate", review(pod_of("new-1"), REPLICA_SETS))
    check(answer["allowed"], f"its Rollout is not believed to be old: {answer}")
    live.wait("it is said", lambda: len(live.logged(
        r"rests on what authors write.*\(Rollout\.argoproj\.io\)")) == 1)
    live.end()


def who_waits_leaves_room_for_others(folder):
    """Many pods of an owner that never comes, and the reviews of others beside them."""
    live = Live(folder, SCRIPT + NO_KARPENTER, rails=SINCE)
    live.wait_visible()

    def ask(denied):
        connection = Named("127.0.0.1", live.serving.port, timeout=WAIT_S,
                           context=live.serving.tls)
        for _ in range(3):
            connection.request("POST", "/validate", review(pod_of("gone-1"), REPLICA_SETS),
                               {"Content-Type": "application/json"})
            reply = connection.getresponse()
            answer = json.loads(reply.read())
            denied.append(reply.status == 200 and not answer["response"]["allowed"])
        connection.close()

    def slowest_beside_a_crowd():
        denied, slowest = [], 0
        threads = [threading.Thread(target=ask, args=(denied,)) for _ in range(40)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            begun = time.monotonic()
            answer = live.ask("/validate", review(pod_of("gone-1"), PERSON))
            slowest = max(slowest, time.monotonic() - begun)
            check(not answer["allowed"], f"{answer}")
        check(len(denied) == 120 and all(denied),
              f"{denied.count(True)} of {len(denied)} are denied")
        print(f"    of 40 at a time some wait; another review takes {slowest * 1000:.0f} ms at most")
        return slowest

    # Without room another review takes a second each time.
    check(any(slowest_beside_a_crowd() < 1 for _ in range(TRIES)), "another review took a second")
    live.end()


def without_an_api_server_it_serves(folder):
    """It waits a while for a first look, is ready without, and sees the cluster when it is there."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    config = kubeconfig(folder, f"http://127.0.0.1:{port}")
    live = Live(folder, [], config=config)
    live.fake.end()
    status, text = live.ready()
    check(status == 503 and "first look" in text, f"ready at once: {status} {text}")
    check(live.changes(pod(0)) == [], "pinned without a look at the cluster")
    live.wait("ready all the same", lambda: live.ready()[0] == 200)
    check("not visible yet" in live.ready()[1], live.ready()[1])
    live.fake = live.start_fake(SCRIPT + NO_KARPENTER, port)
    live.wait_visible()
    live.wait("db-0 is pinned", lambda: live.required(0) == "b")
    live.end()


def rules_change_and_the_cluster_stays(folder):
    live = Live(folder, SCRIPT + NO_KARPENTER)
    live.wait_visible()
    check(live.required(0) == "b", "db-0 is not pinned")
    lists = len(live.fake.requests("list pods"))
    live.write_policy("topology-keys: {}")
    live.wait("the next policy is in force",
              lambda: live.metric("taffrail_policy_generation") == 2)
    check(live.required(0) == "b", "the cluster went with the policy")
    live.serving.process.send_signal(signal.SIGHUP)
    live.wait("SIGHUP is heard", lambda: live.logged("the world is as it was"))
    live.fake.do(line_of(volume("vol-0", "c", "data-db-0")))
    live.wait("events are seen", lambda: live.required(0) == "c")
    check(len(live.fake.requests("list pods")) == lists, "a reload listed the cluster again")
    live.end()


def it_ends_while_watches_hang(folder):
    live = Live(folder, SCRIPT + NO_KARPENTER + ["watch pods stall", "watch nodes stall"])
    live.wait_visible()
    begun = time.monotonic()
    live.connection.close()
    live.serving.process.send_signal(signal.SIGTERM)
    code = live.serving.process.wait(WAIT_S)
    took = time.monotonic() - begun
    check(code == 0 and took < 15, f"SIGTERM: code {code} after {took:.1f} s")
    live.fake.end()


def what_cannot_be_is_refused(folder):
    def refused(code, wanted, *arguments, env=None):
        done = subprocess.run([TAFFRAIL, "serve", "-p", policy, *arguments], capture_output=True,
                              text=True, env={**os.environ, **(env or {})}, timeout=WAIT_S)
        check(done.returncode == code and wanted in done.stderr,
              f"{arguments}: {done.returncode} {done.stderr}")

    policy = os.path.join(folder, "policy.yaml")
    with open(policy, "w") as file:
        file.write(POLICY % "")
    config = kubeconfig(folder, "http://127.0.0.1:1", "{exec: {command: get-token}}", "exec")
    refused(2, "either --state", "--state", folder, "--kubeconfig", config)
    refused(2, "either --state", "--in-cluster", "--kubeconfig", config)
    refused(2, "exec", "--kubeconfig", config)
    refused(2, "there is no kubeconfig", "--kubeconfig", os.path.join(folder, "none"))
    refused(2, "not in a cluster", "--in-cluster", env={"KUBERNETES_SERVICE_HOST": ""})


if __name__ == "__main__":
    run_tests(what_cannot_be_is_refused, pods_are_pinned_from_live_objects,
              an_event_is_seen_at_once, what_cannot_be_seen_is_not_decided,
              rules_change_and_the_cluster_stays, an_owner_that_is_not_seen_yet_is_waited_for,
              who_waits_leaves_room_for_others, owners_that_may_not_be_listed_are_believed,
              custom_owners_are_seen_by_their_metadata,
              custom_owners_that_may_not_be_listed_are_believed,
              meanwhile=(an_api_server_that_goes_takes_nothing_with_it,
                         without_an_api_server_it_serves, it_ends_while_watches_hang))
