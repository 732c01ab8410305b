"""The commands that reach a cluster: which one they take, as kubectl would, and that `plan`, `check` and
`audit` say of a live one what they say of its files.

usage: cluster.py TAFFRAIL FAKEAPI"""

import base64
import glob
import json
import os
import pty
import re
import subprocess
import sys

import yaml

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from api_stub import Stub
from fake import kubeconfig
from serving import WAIT_S, check, run_tests

TAFFRAIL, FAKEAPI = sys.argv[1:3]
SOURCE = os.environ["TAFFRAIL_SOURCE_DIR"]
STATE = os.path.join(SOURCE, "manifests/demo/cluster")
REQUESTS = os.path.join(SOURCE, "manifests/demo/requests")
POLICY = os.path.join(SOURCE, "manifests/policies/demo.yaml")
CLUSTERED = {"Node", "NodePool", "EC2NodeClass", "Namespace", "StorageClass", "PersistentVolume"}


def plural(kind):
    return kind.lower() + ("es" if kind.endswith("s") else "s")


def run(code, *arguments, **env):
    """Standard output and standard error of a run that ends with this code; the environment names no
    cluster unless env does."""
    clean = {name: value for name, value in os.environ.items()
             if not name.upper().endswith("_PROXY") and name not in ("KUBECONFIG", "HOME", "KUBERNETES_SERVICE_HOST")}
    done = subprocess.run([TAFFRAIL, *arguments], capture_output=True, text=True, timeout=WAIT_S,
                          stdin=subprocess.DEVNULL, env={**clean, "HOME": "/nowhere", **env})
    check(done.returncode == code,
          f"{arguments}: ends with {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def documents():
    for path in sorted(glob.glob(STATE + "/*.yaml")):
        with open(path, encoding="utf-8") as file:
            for document in filter(None, yaml.safe_load_all(file)):
                yield from document["items"] if document["kind"] == "List" else [document]


def script(more=()):
    """The demo's cluster behind an API server."""
    lines = list(more)
    for one in documents():
        metadata = one["metadata"]
        if one["kind"] not in CLUSTERED:
            metadata.setdefault("namespace", "default")
        path = "/".join(filter(None, [metadata.get("namespace"), metadata["name"]]))
        metadata["resourceVersion"] = "@"
        lines.append(f"object {plural(one['kind'])} {path} {json.dumps(one, default=str)}")
    return "\n".join(lines) + "\n"


def cluster(folder, more=()):
    fake = fake_server.Fake(FAKEAPI, folder, script(more))
    return fake, f"http://127.0.0.1:{fake.port}"


# ---- tests ----


def check_why(config, plan):
    """Of pods that are placed, bought for and placed nowhere, and of Nodes."""
    pods = [pod for node in plan["existing"] + plan["claims"] for pod in node["pods"]]
    asked = [["pod", pod] for pod in pods + [each["pod"] for each in plan["unschedulable"]]]
    asked += [["node", node["node"]] for node in plan["existing"]]
    codes = set()
    for words in asked:
        code = 1 if words[1] not in pods and words[0] == "pod" else 0
        of_files = ["why", *words, "-o", "json", "--state", STATE]
        before, found, after = (json.loads(run(code, *command, **env)[0]) for command, env in (
            (of_files, {}), (of_files[:-2], {"KUBECONFIG": config}), (of_files, {})))
        # The next window is counted from now, in seconds.
        windows = [each.pop("nextWindow", None) or "" for each in (before, found, after)]
        check(found == before and windows == sorted(windows) and len(set(map(bool, windows))) == 1,
              f"why {words}: the cluster and its files differ:\n{found}\n{before}\n{windows}")
        codes.add(code)
    check(codes == {0, 1}, f"the demo shows too little: {asked}")
    check("there is no Pod default/nobody" in run(2, "why", "pod", "nobody", KUBECONFIG=config)[1], "nobody")


def check_impact(folder, config):
    """Of a NodePool that is changed, and deleted."""
    pool = next(one for one in documents() if one["kind"] == "NodePool")
    pool["spec"]["template"].setdefault("metadata", {}).setdefault("labels", {})["changed"] = "yes"
    change = write(folder, "pool.yaml", json.dumps(pool, default=str))
    for more in ([], ["--delete"]):
        words = ["impact", "-f", change, "-o", "json", *more]
        wanted, found = (json.loads(run(0, *words, *where)[0])["changes"][0]
                         for where in (["--state", STATE], ["--kubeconfig", config]))
        # Files without a Pod do not say that there is none; a cluster does.
        differs = {key for key in wanted if wanted[key] != found[key]} - {"firstWindow", "unseen"}
        check(not differs and found["nodesTotal"] > 0, f"{more}: {differs}: {wanted}\n{found}")
        _, said = run(2, *words, KUBECONFIG=config)
        check("say against which cluster" in said, said)


def a_live_cluster_is_what_its_files_are(folder):
    fake, server = cluster(folder)
    config = kubeconfig(folder, server)
    shop = os.path.join(REQUESTS, "shop.yaml")
    for command in (["plan", "-o", "json"], ["plan", "-o", "json", "-f", shop],
                    ["check", "-p", POLICY, "-f", REQUESTS, "-o", "json"]):
        wanted, _ = run(1, *command, "--state", STATE)
        found, said = run(1, *command, "--kubeconfig", config)
        check(json.loads(found) == json.loads(wanted),
              f"{command}: the cluster and its files differ:\n{found}\n{wanted}")
        check(said == run(1, *command, "--state", STATE)[1], said)
    log = os.path.join(SOURCE, "tests/contract/audit-log/e2e.log")
    for command in (["policy", "explain", "-p", POLICY, "sts/ledger", "-n", "payments", "-o", "json"],
                    ["replay", log, "-p", POLICY, "--fail-on", "never", "-o", "json"]):
        wanted, _ = run(0, *command, "--state", STATE)
        found, _ = run(0, *command, "--kubeconfig", config)
        check(json.loads(found) == json.loads(wanted),
              f"{command}: the cluster and its files differ:\n{found}\n{wanted}")
    holding, _ = run(0, "policy", "explain", "-p", POLICY, "sts/ledger", "-n", "payments", KUBECONFIG=config)
    check("payments/ledger" in holding, "policy explain does not follow $KUBECONFIG: " + holding)
    check(run(1, "plan", KUBECONFIG=config)[0] == run(1, "plan", "--state", STATE)[0],
          "plan does not follow $KUBECONFIG")
    check_impact(folder, config)
    check_why(config, json.loads(run(1, "plan", "-o", "json", "--state", STATE)[0]))
    check(fake.requests("watch") == [], "what is listed once is watched, too")
    alone, _ = run(1, "check", "-p", POLICY, "-f", REQUESTS, "-o", "json", KUBECONFIG=config)
    offline, _ = run(1, "check", "-p", POLICY, "-f", REQUESTS, "-o", "json")
    check(alone == offline, "check goes to a cluster that nobody named")
    fake.end()


def many(folder, name, servers, current, namespace="default", users="{}"):
    """A kubeconfig with a context, a cluster and a user for each server."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": current,
            "contexts": [{"name": one, "context": {"cluster": one, "user": "me",
                                                   "namespace": namespace}} for one in servers],
            "clusters": [{"name": one, "cluster": {"server": server}}
                         for one, server in servers.items()],
            "users": [{"name": "me", "user": yaml.safe_load(users)}]}, file)
    return path


def the_cluster_is_the_one_kubectl_takes(folder):
    fake, server = cluster(folder)
    dead = "http://127.0.0.1:1"
    first = many(folder, "first", {"dead": dead}, "dead")
    second = many(folder, "second", {"demo": server, "dead": server}, "demo")
    home = os.path.join(folder, "home")
    os.makedirs(os.path.join(home, ".kube"))
    many(home, ".kube/config", {"demo": server}, "demo")
    missing = os.path.join(folder, "missing")
    audit = ["audit", "-p", POLICY, "--fail-on", "never"]
    run(0, *audit, KUBECONFIG=second)
    run(0, *audit, HOME=home)
    run(0, *audit, KUBECONFIG="", HOME=home)
    run(0, *audit, "--kubeconfig", second, KUBECONFIG=first)
    run(0, *audit, "--context", "demo", KUBECONFIG=f"{missing}::{first}:{second}")
    # Of an entry in two files the first file's counts, and so does its current context.
    _, said = run(3, *audit, KUBECONFIG=f"{missing}:{first}:{second}")
    check("127.0.0.1:1" in said or "127.0.0.1 port 1" in said, said)
    check("dead" in said and first in said, "it does not say which cluster it asked: " + said)
    for wanted, env in (("neither $KUBECONFIG nor $HOME", {"HOME": ""}), (missing, {"KUBECONFIG": missing}),
                        ("/nowhere/.kube/config", {})):
        _, said = run(2, *audit, **env)
        check("no cluster is given" in said and wanted in said, said)
    _, said = run(2, *audit, "--context", "prod", KUBECONFIG=second)
    check('no context "prod"' in said and "demo" in said, said)
    for command in (["plan"], ["check", "-f", STATE, "-p", POLICY], audit):
        _, said = run(2, *command, "--state", STATE, "--context", "demo")
        check("either --state, or a cluster" in said, said)
    fake.end()


def the_namespace_is_that_of_the_context(folder):
    """As kubectl apply has it; -n wins. `audit -n` reports one namespace."""
    fake, server = cluster(folder)
    config = many(folder, "config", {"demo": server}, "demo", namespace="payments")
    policy = write(folder, "policy.yaml", """
        {apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: all},
         spec: {mode: enforce, rails: {resource-requests: {require: [memory, ephemeral-storage]}}}}""")
    pod = write(folder, "pod.yaml", POD)
    for more, wanted in ((["--context", "demo"], "payments"), (["-n", "web"], "web"), ([], "default"),
                         (["--context", "demo", "-n", "web"], "web")):
        out, _ = run(1, "check", "-p", policy, "-f", pod, "-o", "json", *more, KUBECONFIG=config)
        found = {finding["namespace"] for finding in json.loads(out)["findings"]}
        check(found == {wanted}, f"{more}: {found}")
    out, _ = run(0, "audit", "-p", policy, "-o", "json", "--fail-on", "never", KUBECONFIG=config)
    everywhere = json.loads(out)["findings"]
    namespaces = {finding["namespace"] for finding in everywhere}
    check(len(namespaces) > 1, namespaces)
    one = sorted(filter(None, namespaces))[0]
    out, _ = run(0, "audit", "-p", policy, "-o", "json", "--fail-on", "never", "-n", one,
                 KUBECONFIG=config)
    found = json.loads(out)["findings"]
    check(found == [each for each in everywhere if each["namespace"] == one], found)
    fake.end()


def who_may_list_little_is_told_so_once(folder):
    kinds = {plural(one["kind"]) for one in documents()} | {
        "persistentvolumeclaims", "persistentvolumes", "csinodes", "limitranges"}
    fake, server = cluster(folder, [f"list {kind} status 403" for kind in kinds - {"namespaces"}])
    config = kubeconfig(folder, server)
    _, said = run(1, "check", "-p", POLICY, "-f", REQUESTS, "--kubeconfig", config)
    lines = [line for line in said.splitlines() if "could not be listed" in line]
    check(len(lines) == 1 and "403" in lines[0] and "more could not be listed" in lines[0], said)
    fake.do("list pods status 403")
    _, said = run(2, "plan", "--kubeconfig", config)
    check("pods could not be listed, so the plan knows none of them" in said, said)
    fake.end()


# ---- the policies of the cluster

CONFIG_MAPS = "/api/v1/namespaces/taffrail/configmaps"
NEEDS_MEMORY = """apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: memory}
spec: {mode: enforce, rails: {resource-requests: {require: [memory]}}}
"""
POD = """
{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}"""


def config_map(name="taffrail-policies", **data):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "taffrail", "resourceVersion": "1"},
            "data": {key.replace("_", "."): value for key, value in data.items()}}


def refusal(status, message):
    return status, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                               "code": status, "message": message}).encode()


def policies_may_be_those_of_the_cluster(folder):
    """As the webhook has them mounted; what else a ConfigMap holds is no policy."""
    whole = config_map(production_yaml=NEEDS_MEMORY, cases_yaml="a: [", README_md="no policy")
    stub = Stub(documents={f"{CONFIG_MAPS}/taffrail-policies": json.dumps(whole).encode()})
    config = kubeconfig(folder, f"http://127.0.0.1:{stub.port}")
    pod, policy = write(folder, "pod.yaml", POD), write(folder, "policy.yaml", NEEDS_MEMORY)
    check_it = ["check", "-f", pod, "-o", "json"]
    wanted, _ = run(1, *check_it, "-p", policy, "--kubeconfig", config)
    found, said = run(1, *check_it, "--from-cluster", KUBECONFIG=config)
    check(json.loads(found) == json.loads(wanted) and said == "", found + said)
    run(0, "audit", "--from-cluster", KUBECONFIG=config)
    config_maps = [path for path, _, _ in stub.requests if "configmaps" in path]
    check(config_maps == [f"{CONFIG_MAPS}/taffrail-policies"] * 2, config_maps)
    # `render` puts a file under binaryData that a literal block would change.
    for bytes in (NEEDS_MEMORY[:-1].encode(), NEEDS_MEMORY.replace("\n", "\r\n").encode()):
        encoded = {**config_map(README_md="no policy"), "binaryData": {
            "production.yaml": base64.b64encode(bytes).decode(), "cases.yaml": "YTogWw=="}}
        stub.documents[f"{CONFIG_MAPS}/taffrail-policies"] = json.dumps(encoded).encode()
        found, said = run(1, *check_it, "--from-cluster", KUBECONFIG=config)
        check(json.loads(found) == json.loads(wanted) and said == "", found + said)
    other = config_map("other", b_yml=NEEDS_MEMORY)
    stub.documents["/api/v1/namespaces/rails/configmaps"] = json.dumps(
        {"kind": "ConfigMapList", "apiVersion": "v1", "items": [other]}).encode()
    stub.documents["/api/v1/namespaces/rails/configmaps/one"] = json.dumps(
        config_map("one", c_json=json.dumps(yaml.safe_load(NEEDS_MEMORY.replace("memory}", "m}"))))).encode()
    run(1, *check_it, "--from-cluster", "--policy-namespace", "rails", "--policy-selector",
        "team in (a, b),x!=y", "--policy-configmap", "one", KUBECONFIG=config)
    check(any(path.endswith("?labelSelector=team%20in%20%28a%2C%20b%29%2Cx%21%3Dy")
              for path, _, _ in stub.requests), "the selector is not that one")
    stub.end()


def without_the_clusters_policies_it_says_why(folder):
    path = f"{CONFIG_MAPS}/taffrail-policies"
    stub = Stub()
    config = kubeconfig(folder, f"http://127.0.0.1:{stub.port}")
    judge = ["check", "-f", write(folder, "pod.yaml", POD), "--from-cluster"]
    forbidden = 'configmaps "taffrail-policies" is forbidden: User "jane" cannot get'
    for code, answer, wanted in (
            (2, refusal(404, "not found"), "there is no ConfigMap taffrail/taffrail-policies in the cluster"),
            (2, refusal(403, forbidden), "may not be read: answered 403: " + forbidden + ". The Role "
             "taffrail-policy-readers grants it (manifests/base/rbac-policies.yaml), unless the policies are elsewhere "
             "(--policy-namespace, --policy-configmap)"),
            (3, refusal(401, "Unauthorized"), "could not be read: answered 401: Unauthorized (http://127"),
            (3, refusal(500, "broken"), "answered 500"),
            (2, json.dumps(config_map(README_md="x")).encode(), "holds no policy file"),
            (2, json.dumps(config_map(a_yaml="kind: Nothing")).encode(), "taffrail-policies: a.yaml"),
            (2, json.dumps({**config_map(), "binaryData": {"a.yaml": "YQ"}}).encode(),
             "taffrail-policies: a.yaml: its value under binaryData is no base64"),
            (2, json.dumps(config_map(a_yaml=NEEDS_MEMORY.replace("rails", "rail"))).encode(),
             "configmap taffrail/taffrail-policies: a.yaml:4:23: "),
            (3, b"<html>", "what answers is no API server of Kubernetes")):
        stub.documents[path] = answer
        out, said = run(code, *judge, KUBECONFIG=config)
        check(wanted in said and out == "", f"{wanted}: {out}{said}")
    stub.end()
    _, said = run(3, *judge, KUBECONFIG=config)
    check("onnect" in said and "the context here of" in said, said)
    for more, wanted in ((["-p", POLICY], "either -p, or --from-cluster"),
                         (["--state", folder], "either --state, or --from-cluster")):
        check(wanted in run(2, *judge, *more)[1], wanted)
    check("are for --from-cluster" in run(2, *judge[:-1], "-p", POLICY, "--policy-namespace", "x")[1], "-n")


def a_terminal_shows_what_takes_long(folder):
    """A line that is gone at the end; nothing where nobody looks, or the terminal cannot go back."""
    fake, server = cluster(folder)
    config = kubeconfig(folder, server)

    def begin(terminal, **env):
        fake.do("list pods stall")
        reader, writer = pty.openpty() if terminal else os.pipe()
        process = subprocess.Popen([TAFFRAIL, "plan", "--kubeconfig", config, "--timeout", "4s"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writer,
                                   env={"PATH": os.environ["PATH"], "TERM": "xterm", **env})
        os.close(writer)
        return process, reader

    def shown(process, reader):
        said = b""
        try:
            while piece := os.read(reader, 65536):
                said += piece
        except OSError:
            pass  # the end of a terminal
        os.close(reader)
        process.wait(WAIT_S)
        return said.decode()

    begun = [begin(True), begin(True, NO_COLOR="1"), begin(False), begin(True, TERM="dumb"),
             begin(True, TERM="")]
    with_colour, without, *others = [shown(*each) for each in begun]
    line = re.compile(r"listing the cluster: \d+ of \d+ kinds, \d+ objects, [1-4] s")
    check(line.search(with_colour) and "\r\x1b[K" in with_colour, with_colour)
    check(line.search(without) and "\x1b" not in without, without)
    for said in (with_colour.split("\r\x1b[K")[-1], re.split(r"\r +\r", without)[-1], *others):
        check("listing" not in said and "pods could not be listed" in said, said)
    fake.end()


def who_may_list_nothing_may_check(folder):
    kinds = {path for path, _, _ in listed_paths(folder)}
    stub = Stub(documents={
        **{kind: refusal(403, "no") for kind in kinds},
        f"{CONFIG_MAPS}/taffrail-policies": json.dumps(config_map(a_yaml=NEEDS_MEMORY)).encode()})
    config = kubeconfig(folder, f"http://127.0.0.1:{stub.port}")
    out, said = run(1, "check", "-f", write(folder, "pod.yaml", POD), "--from-cluster", KUBECONFIG=config)
    check("deny" in out and len(said.splitlines()) == 1 and "could not be listed" in said, out + said)
    check("lets nothing be listed" in run(3, "audit", "--from-cluster", KUBECONFIG=config)[1], "audit")
    stub.end()


def listed_paths(folder):
    """What a listing asks for."""
    stub = Stub()
    run(0, "audit", "-p", POLICY, "--kubeconfig", kubeconfig(folder, f"http://127.0.0.1:{stub.port}"))
    stub.end()
    return [(path.split("?")[0], headers, peer) for path, headers, peer in stub.requests]


run_tests(a_live_cluster_is_what_its_files_are, the_cluster_is_the_one_kubectl_takes,
          the_namespace_is_that_of_the_context, who_may_list_little_is_told_so_once,
          policies_may_be_those_of_the_cluster, without_the_clusters_policies_it_says_why,
          a_terminal_shows_what_takes_long, who_may_list_nothing_may_check)
