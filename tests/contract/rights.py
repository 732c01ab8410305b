"""RBAC is the least that works: what `taffrail serve`, as it is installed, asks of an API server in its
life is what the rendered roles allow, no verb, resource or name more or less. It is watched making its
certificate, electing, publishing, renewing, listing and watching every kind, and writing reports of either
API. (In a role `list` and
`watch` of a kind are asked for by two requests.)

usage: rights.py TAFFRAIL FAKEAPI
"""

import base64
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

import yaml

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from fake import kubeconfig
from serving import WAIT_S, Failure, Serving, check

TAFFRAIL, FAKEAPI = sys.argv[1:3]
REGISTRATION = "/apis/admissionregistration.k8s.io/v1/"
REPORTS = (("openreports.io", "v1alpha1", "reports", "clusterreports"),
           ("wgpolicyk8s.io", "v1alpha2", "policyreports", "clusterpolicyreports"))
PLURALS = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")


def documents(text):
    return list(yaml.safe_load_all(text))


def granted(manifests):
    """Each right of the replicas: group, resource, namespace and name ("" for any), verb."""
    rights = set()
    of_replicas = {document["roleRef"]["name"] for document in manifests
                   if document["kind"] in ("RoleBinding", "ClusterRoleBinding") and
                   any(subject["kind"] == "ServiceAccount" for subject in document["subjects"])}
    for document in manifests:
        if document["kind"] not in ("Role", "ClusterRole"):
            continue
        if document["metadata"]["name"] not in of_replicas:
            continue
        namespace = document["metadata"].get("namespace", "")
        for rule in document["rules"]:
            rights |= {(group, resource, namespace, name, verb)
                       for group in rule["apiGroups"] for resource in rule["resources"]
                       for name in rule.get("resourceNames", [""]) for verb in rule["verbs"]}
    return rights


class Between:
    """Passes on what is said to a server, and keeps the first line of each request."""

    def __init__(self, port):
        self.server, self.lines = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            far = socket.create_connection(("127.0.0.1", self.server))
            threading.Thread(target=self.copy, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self.copy, args=(far, near, False), daemon=True).start()

    def copy(self, source, target, listens):
        said = b""
        try:
            while piece := source.recv(65536):
                if listens:
                    said += piece
                    self.lines += [b" ".join(found).decode() for found in re.findall(
                        rb"(GET|POST|PUT|PATCH|DELETE) (/\S*) HTTP/1\.1\r\n", said)]
                    said = said[said.rfind(b"\n") + 1:]
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of them is gone, and the other will notice


def used(line):
    """The right that a request needs, as the API server's authorizer reads it."""
    method, target = line.split(" ")[:2]
    path, _, query = target.partition("?")
    if method == "GET" and re.fullmatch(r"/apis/[^/]+(/v1alpha\d)?", path):
        return None  # discovery, which every account has by system:discovery
    found = re.fullmatch(r"/(?:api|apis/([^/]+))/[^/]+(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+))?",
                         path)
    check(found, f"a request that no role is about: {line}")
    group, namespace, resource, name = (part or "" for part in found.groups())
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(method)
    name = name or "".join(re.findall(r"fieldSelector=metadata\.name%3D([^&]*)", query))
    if method == "GET":
        verb = "get" if found[4] else "watch" if re.search(r"\bwatch=(1|true)", query) else "list"
    return group, resource, namespace, name, verb


def send(fake, method, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", fake.port, timeout=WAIT_S)
    connection.request(method, path, body and json.dumps(body))
    reply = connection.getresponse()
    text = reply.read().decode()
    check(reply.status in (200, 201, 404), f"{method} {path}: {reply.status} {text}")
    return None if reply.status == 404 else json.loads(text)


def entries(fake):
    return [entry for plural in PLURALS
            for entry in send(fake, "GET", REGISTRATION + plural + "/taffrail", None)["webhooks"]]


def wait(what, condition, serving):
    end = time.monotonic() + WAIT_S
    while not (found := condition()):
        check(time.monotonic() < end, f"{what}:\n" + "".join(serving.log)[-3000:])
        time.sleep(0.05)
    return found


def write_reports(fake, serving, group, version, plural, cluster_plural):
    """A report in a namespace and one of the cluster are made, put right, and removed."""
    paths = (f"/apis/{group}/{version}/namespaces/web/{plural}/taffrail",
             f"/apis/{group}/{version}/{cluster_plural}/taffrail")
    fake.do(f"api {group} on", *(f"object {kind} {path} {json.dumps(wrong)}"
                                 for kind, path, wrong in WRONG))
    for path in paths:
        report = wait("no report", lambda path=path: send(fake, "GET", path, None), serving)
        send(fake, "PUT", path, {**report, "results": []})
        wait("not put right", lambda path=path: send(fake, "GET", path, None)["results"], serving)
    fake.do(*(f"delete {kind} {path}" for kind, path, _ in WRONG))
    wait("the report stays", lambda: not send(fake, "GET", paths[0], None), serving)
    # What is not visible is told of the cluster.
    fake.do(f"api {group} off")


POD = {"containers": [{"name": "a", "image": "a"}], "topologySpreadConstraints": [
    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]}
WRONG = [("deployments", "web/a", {
    "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "web"},
    "spec": {"template": {"metadata": {}, "spec": POD}}}),
    ("nodepools", "a", {"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
                        "metadata": {"name": "a"}, "spec": {"template": {"spec": {}}}})]


def life(fake, folder, policy, arguments):
    """The requests of a server from its first certificate to its second CA, which is published."""
    between = Between(fake.port)
    config = kubeconfig(folder, f"http://127.0.0.1:{between.port}")
    arguments = [a for a in arguments if not a.startswith(("--policy=", "--listen=", "--ops-listen="))]
    arguments[arguments.index("--in-cluster")] = "--kubeconfig=" + config
    serving = Serving(TAFFRAIL, None, "-p", policy, *arguments[1:], "--lease-duration", "3s",
                      "--lease-renew-deadline", "2s", "--lease-retry-period", "1s",
                      "--bundle-settle", "1s", "--cert-lifetime", "9s", "--ca-lifetime", "30s",
                      "--report-interval", "1s")
    for api in REPORTS:
        write_reports(fake, serving, *api)
    bundles = set()
    end = time.monotonic() + WAIT_S
    while len(bundles) < 2:
        check(time.monotonic() < end, "no second CA is published:\n" + "".join(serving.log)[-3000:])
        found = [base64.b64decode(entry["clientConfig"].get("caBundle", ""))
                 for entry in entries(fake)]
        if all(found):
            bundles |= {tuple(found)}
        time.sleep(0.1)
    serving.process.terminate()
    code = serving.process.wait(WAIT_S)
    check(code == 0, f"it ended with {code}:\n" + "".join(serving.log)[-3000:])
    return between.lines


SPEC = {"trustedControllers": [{"account": "argo/argo", "owner": "Rollout.argoproj.io",
                                "makes": "ReplicaSet"},
                               {"account": "shop/lady", "owner": "Lady.shop.io",
                                "resource": "ladies", "makes": "Pod"}],
        "podTemplates": [{"group": "ray.io", "kind": "RayCluster", "paths": ["spec.template"],
                          "controllers": ["ray/operator"]}]}
CUSTOM = "custom rollouts argoproj.io v1alpha1\ncustom ladies shop.io v2\ncustom rayclusters ray.io v1\n"


def every_rail(folder):
    path = os.path.join(folder, "policy.yaml")
    page = subprocess.run([TAFFRAIL, "explain"], capture_output=True, text=True, check=True).stdout
    rails = {name: {} for name in re.findall(r"^  ([a-z][a-z-]+) +\S", page, re.M)
             if name != "policy"}
    for name in rails:
        page = subprocess.run([TAFFRAIL, "explain", name], capture_output=True, text=True,
                              check=True).stdout
        example = yaml.safe_load(page.partition("\nExample:\n")[2])
        rails[name] = example["spec"]["rails"][name]
    with open(path, "w") as file:
        yaml.safe_dump({"apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails",
                        "metadata": {"name": "all"}, "spec": {"rails": rails, **SPEC}}, file)
    return path


def main():
    with tempfile.TemporaryDirectory() as folder:
        policy = every_rail(folder)
        render = [TAFFRAIL, "render", "--image", "taffrail:0.1.0", "-p", policy]
        manifests = documents(subprocess.run(render, capture_output=True, text=True,
                                             check=True).stdout)
        deployment = next(d for d in manifests if d["kind"] == "Deployment")
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        namespace = deployment["metadata"]["namespace"]
        arguments = [a.replace("--cert-secret=", f"--cert-secret={namespace}/") for a in arguments]
        fake = fake_server.Fake(FAKEAPI, folder, CUSTOM)
        for plural, kind in zip(PLURALS, ("Validating", "Mutating")):
            send(fake, "POST", REGISTRATION + plural,
                 next(d for d in manifests if d["kind"] == kind + "WebhookConfiguration"))
        asked = {used(line) for line in life(fake, folder, policy, arguments)} - {None}
        fake.end()
    # An apply that makes its object is asked for both; reports are in namespaces that nobody knows
    # beforehand, so their rights are for all of them.
    reports = {api[0] for api in REPORTS}
    asked |= {(*right[:4], "create") for right in asked if right[0] in reports
              and right[4] == "patch"}
    asked = {(right[0], right[1], "" if right[0] in reports else right[2], *right[3:])
             for right in asked}
    # Creating is granted without a name: what is not there has none to be allowed by.
    asked = {(*right[:3], "" if right[4] == "create" else right[3], right[4]) for right in asked}
    allowed = granted(manifests)
    print(f"{len(allowed)} rights, {len(asked)} in use")
    problems = [f"{' '.join(right)} is allowed, and never asked for"
                for right in sorted(allowed - asked)]
    problems += [f"{' '.join(right)} is asked for, and not allowed"
                 for right in sorted(asked - allowed)]
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems else 0


try:
    sys.exit(main())
except Failure as failure:
    print("FAILED:", failure)
    sys.exit(1)
