"""Sends Pods of one ReplicaSet to `taffrail serve` over one connection: they are judged once, until the policies or the
cluster change, and each answer is of its own review."""

import json
import os
import signal
import sys
import time
import uuid

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from serving import WAIT_S, Named, Serving, check, run_tests

TAFFRAIL, FAKEAPI = (sys.argv + ["", ""])[1:3]
CONTROLLER = "system:serviceaccount:kube-system:replicaset-controller"
POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: known}
spec:
  mode: enforce
  %s
  rails:
    topology-keys: {allow: [%s]}
"""
SET = "web-7c9d8f6b54"


def pod(number, key="kubernetes.io/hostname", owner=SET, **metadata):
    """As the API server sends it to /validate: what it and its admission plugins add is of this Pod alone."""
    ending = f"{number:05d}"
    volume = "kube-api-access-" + ending
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {
        "name": f"{SET}-{ending}", "generateName": SET + "-", "namespace": "shop",
        "uid": str(uuid.UUID(int=number)), "creationTimestamp": f"2026-05-04T08:15:{number % 60:02d}Z",
        "labels": {"app": "web"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": "uid-" + SET,
                             "controller": True, "blockOwnerDeletion": True}],
        "managedFields": [{"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1",
                           "time": f"2026-05-04T08:15:{number % 60:02d}Z", "fieldsType": "FieldsV1",
                           "fieldsV1": {"f:spec": {}}}], **metadata},
            "spec": {"volumes": [{"name": volume, "projected": {"defaultMode": 420, "sources": []}}],
                     "containers": [{"name": "web", "image": "web:1",
                                     "volumeMounts": [{"name": volume, "readOnly": True, "mountPath": "/token"}]}],
                     "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": key,
                                                    "whenUnsatisfiable": "ScheduleAnyway"}]}}


class Known:
    """One connection to a server."""

    def __init__(self, folder, match="", cluster=()):
        self.policy, self.match = os.path.join(folder, "policy.yaml"), match
        self.allow("kubernetes.io/hostname")
        more = []
        if cluster:
            self.fake = fake_server.Fake(FAKEAPI, folder, "\n".join(cluster) + "\n")
            more = ["--kubeconfig", fake_server.kubeconfig(folder, f"http://127.0.0.1:{self.fake.port}")]
        self.serving = Serving(TAFFRAIL, os.path.join(folder, "certs"), "-p", self.policy, *more)
        self.connection = Named("127.0.0.1", self.serving.port, timeout=WAIT_S, context=self.serving.tls)
        self.asked = 0

    def allow(self, keys):
        with open(self.policy + ".new", "w", encoding="utf-8") as file:
            file.write(POLICY % (self.match, keys))
        os.rename(self.policy + ".new", self.policy)

    def is_allowed(self, thing, user=CONTROLLER):
        self.asked += 1
        uid = str(uuid.UUID(int=1 << 100 | self.asked))
        body = json.dumps({
            "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
            "request": {"uid": uid, "kind": {"group": "", "version": "v1", "kind": "Pod"},
                        "resource": {"group": "", "version": "v1", "resource": "pods"},
                        "name": thing["metadata"]["name"], "namespace": "shop", "operation": "CREATE", "userInfo": {"username": user}, "object": thing, "oldObject": None,
                        "dryRun": False, "options": None}}, separators=(",", ":"))
        self.connection.request("POST", "/validate?timeout=10s", body, {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        response = json.loads(reply.read())["response"]
        check(response["uid"] == uid, f"review {uid} got the answer of {response['uid']}")
        return response["allowed"]

    def known(self):
        return int(self.serving.metric("taffrail_known_reviews_total"))

    def wait(self, holds, what):
        end = time.monotonic() + WAIT_S
        while not holds():
            check(time.monotonic() < end, f"not within {WAIT_S} s: {what}")
            time.sleep(0.02)

    def end(self):
        self.connection.close()
        self.serving.process.send_signal(signal.SIGINT)
        check(self.serving.process.wait(WAIT_S) == 0, "the server did not end well")


def pods_of_one_set_are_judged_once(folder):
    server = Known(folder)
    for number in range(20):
        check(server.is_allowed(pod(number)), f"Pod {number} is denied")
    check(server.known() == 19, f"{server.known()} of 20 Pods were known")
    check(server.serving.metric('taffrail_reviews_total{phase="validate",operation="CREATE",kind="Pod",verdict="none"}')
          == 20, "not all of 20 Pods are counted")
    for number in range(20, 25):
        check(not server.is_allowed(pod(number, key="zone")), f"Pod {number} is allowed")
    for number in range(25, 30):
        check(server.is_allowed(pod(number), user="jane"), f"Pod {number} of a person is denied")
        check(server.is_allowed(pod(number, ownerReferences=[])), f"Pod {number} of nobody is denied")
    check(server.known() == 19, f"{server.known()} Pods were known, of which 19 may be")
    server.end()


def a_policy_that_changes_judges_them_again(folder):
    server = Known(folder)
    check(server.is_allowed(pod(1)) and server.is_allowed(pod(2)) and server.known() == 1, "the second is not known")
    before = server.serving.metric("taffrail_policy_generation")
    server.allow("topology.kubernetes.io/zone")
    server.wait(lambda: server.serving.metric("taffrail_policy_generation") > before, "the policy is not read")
    check(not server.is_allowed(pod(3)), "a Pod is allowed by a policy that is gone")
    check(server.known() == 1, "a Pod is known that nobody has judged by this policy")
    server.end()


def a_cluster_that_changes_judges_them_again(folder):
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "resourceVersion": "@"}}
    replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet",
                   "metadata": {"name": SET, "namespace": "shop", "uid": "uid-" + SET, "resourceVersion": "@"}}
    server = Known(folder, match="match: {namespaceSelector: {matchLabels: {guarded: 'yes'}}}",
                   cluster=[f"object namespaces shop {json.dumps(namespace)}",
                            f"object replicasets shop/{SET} {json.dumps(replica_set)}"])
    server.wait(lambda: server.serving.get("/readyz")[0] == 200, "the cluster is not seen")
    check(server.is_allowed(pod(1, key="zone")) and server.is_allowed(pod(2, key="zone")), "a Pod is denied")
    check(server.known() == 1, f"{server.known()} of 2 Pods were known")
    before = server.serving.metric("taffrail_cluster_views_total")
    namespace["metadata"]["labels"] = {"guarded": "yes"}
    server.fake.do(f"object namespaces shop {json.dumps(namespace)}")
    server.wait(lambda: server.serving.metric("taffrail_cluster_views_total") > before, "the label is not seen")
    check(not server.is_allowed(pod(3, key="zone")), "a Pod is allowed by a namespace that is gone")
    server.end()
    server.fake.end()


run_tests(pods_of_one_set_are_judged_once, a_policy_that_changes_judges_them_again,
          a_cluster_that_changes_judges_them_again)
