#!/usr/bin/python3
"""`taffrail audit`: what is found and where, the same over files and over an API server, and the
same as `check` finds; exit codes; formats; what cannot be read.

usage: audit.py TAFFRAIL FAKEAPI"""

import json
import os
import resource
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from audit_cluster import (CLUSTER, EXPECTED, LEFT_OUT, PLURALS, POLICY, POOL, pod, rollout, spec,
                           thing)
from fake import kubeconfig
from page import Page
from serving import WAIT_S, check, run_tests

TAFFRAIL, FAKEAPI = sys.argv[1:3]
ALL = [*PLURALS.values(), "replicationcontrollers", "statefulsets", "daemonsets", "storageclasses",
       "persistentvolumeclaims", "persistentvolumes", "poddisruptionbudgets", "limitranges",
       "csinodes", "nodeclaims", "ec2nodeclasses", "nodeoverlays", "capacitybuffers", "podtemplates",
       "horizontalpodautoscalers", "priorityclasses", "deviceclasses", "resourceclaims",
       "resourceclaimtemplates", "resourceslices"]


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def run(code, *arguments, command="audit", **env):
    """Standard output and standard error of a run that ends with this code."""
    done = subprocess.run([TAFFRAIL, command, *arguments], capture_output=True, text=True,
                          timeout=WAIT_S, env={**os.environ, **env})
    check(done.returncode == code,
          f"{arguments}: ends with {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


class Cluster:
    """The same objects as a folder and behind an API server."""

    def __init__(self, folder, things=(), policy=POLICY, script=()):
        self.policy = write(folder, "policy.yaml", policy)
        self.state = os.path.join(folder, "state")
        write(folder, "state/all.json", json.dumps({"apiVersion": "v1", "kind": "List",
                                                    "items": list(things)}, indent=1))
        lines = list(script)
        for one in things:
            metadata = one["metadata"]
            path = "/".join(filter(None, [metadata.get("namespace"), metadata["name"]]))
            lines.append(f"object {PLURALS[one['kind']]} {path} {json.dumps(one)}")
        self.fake = fake_server.Fake(FAKEAPI, folder, "\n".join(lines) + "\n")
        self.config = kubeconfig(folder, f"http://127.0.0.1:{self.fake.port}")

    def files(self, code, *more):
        return run(code, "-p", self.policy, "--state", self.state, *more)

    def live(self, code, *more):
        return run(code, "-p", self.policy, "--kubeconfig", self.config, *more)


def told(report, keys=("kind", "name", "rail", "action", "spared")):
    return sorted(tuple(finding[key] for key in keys) for finding in report["findings"])


def without_place(report):
    place = ("file", "line", "column")
    rest = [{key: value for key, value in finding.items() if key not in place}
            for finding in report["findings"]]
    return sorted(rest, key=json.dumps), report["errors"], report["summary"]


def differ(what, found, wanted):
    missing = [one for one in wanted if one not in found]
    more = [one for one in found if one not in wanted]
    check(found == wanted, f"{what}:\n  missing: {missing}\n  too much: {more}")


# ---- tests ----


def each_mistake_is_told_once_and_where_it_belongs(folder):
    cluster = Cluster(folder, CLUSTER)
    from_files = json.loads(cluster.files(1, "-o", "json")[0])
    differ("findings", told(from_files), EXPECTED)
    check(from_files["schema"] == "taffrail.dev/findings/v1", from_files["schema"])
    check(from_files["summary"]["objects"] == len(CLUSTER) - len(LEFT_OUT), from_files["summary"])
    check(all(finding["file"] and finding["line"] for finding in from_files["findings"]),
          "a finding in a file has no place")
    live, said = cluster.live(1, "-o", "json")
    live = json.loads(live)
    differ("live findings", told(live), EXPECTED)
    check(without_place(live) == without_place(from_files), "files and cluster differ")
    check(said == "", said)
    check(all(finding[key] is None for finding in live["findings"]
              for key in ("file", "line", "column")), "a live finding has a place")
    cluster.fake.end()


def check_finds_the_same(folder):
    """Of what nobody owns, and that is not old; Pods on a node are for the audit alone."""
    things = [one for one in CLUSTER if "ownerReferences" not in one["metadata"] and
              (one["kind"], one["metadata"]["name"]) not in LEFT_OUT and
              one["metadata"]["name"] != "old" and one["kind"] != "Pod"]
    cluster = Cluster(folder, things)
    audited = without_place(json.loads(cluster.files(1, "-o", "json")[0]))
    checked = without_place(json.loads(run(1, "-p", cluster.policy, "-f", cluster.state, "-o",
                                           "json", command="check")[0]))
    check(len(audited[0]) > 5 and audited == checked, f"audit {audited}\ncheck {checked}")
    cluster.fake.end()


TEMPLATES = """  podTemplates:
    - {group: ray.io, kind: RayCluster, paths: [spec.headGroupSpec.template]}
  rails:
"""


def custom_resources_tell_their_templates(folder):
    """In files; an API server is not asked for them, and their Pods are judged."""
    ray = thing("ray.io/v1", "RayCluster", "ray",
                spec={"headGroupSpec": {"template": {"spec": spec("zone")}}})
    head = pod("ray-head", spec("zone"), ray)
    cluster = Cluster(folder, [head], POLICY.replace("  rails:\n", TEMPLATES))
    keys = ("kind", "name", "field")
    found = told(json.loads(cluster.live(1, "-o", "json")[0]), keys)
    check(found == [("Pod", "ray-head", "spec.topologySpreadConstraints[0].topologyKey")], found)
    check("rayclusters.ray.io are not listed" in cluster.live(1)[1], "nobody says what is left out")
    write(folder, "state/ray.json", json.dumps(ray))
    found = told(json.loads(cluster.files(1, "-o", "json")[0]), keys)
    check(found == [("RayCluster", "ray", "spec.headGroupSpec.template.spec."
                     "topologySpreadConstraints[0].topologyKey")], found)
    cluster.fake.end()


def exit_codes(folder):
    cluster = Cluster(folder, CLUSTER)
    cluster.files(0, "--fail-on", "never")
    cluster.live(0, "--fail-on", "never")
    cluster.fake.end()
    warned = Cluster(os.path.join(folder, "warned"), rollout("old", spec(memory=None),
                                                             created="2020-01-01T00:00:00Z"))
    warned.files(0)
    warned.files(1, "--fail-on", "warn")
    warned.live(1, "--fail-on", "warn")
    warned.fake.end()
    out, _ = run(0, "-p", cluster.policy, "--state", os.path.dirname(write(folder, "none/x", "")))
    check(out == "0 objects checked, nothing found\n", out)


def what_cannot_be_is_refused(folder):
    policy = write(folder, "policy.yaml", POLICY)
    state = os.path.dirname(write(folder, "state/x.yaml", ""))
    config = kubeconfig(folder, "http://127.0.0.1:1")
    base = ["-p", policy]
    for wanted, arguments in (
            ("no policy is given", ["--state", state]),
            ("no cluster is given", base),
            ("cannot be read again", ["-p", "-", "--state", state]),
            ("cannot be read again", ["--compare", "-", policy, "--state", state]),
            ("cannot be read again", ["--compare", policy, "-", "--state", state]),
            ("either --in-cluster", [*base, "--context", "x", "--in-cluster"]),
            ("--timeout is for", [*base, "--state", state, "--timeout", "5s"]),
            ("either --state", [*base, "--state", state, "--in-cluster"]),
            ("junit", [*base, "--state", state, "-o", "junit"]),
            ("what is \"x\" for", [*base, "--state", state, "x"]),
            ("there is no such folder", [*base, "--state", folder + "/missing"]),
            ("this is none", [*base, "--state", policy]),
            ("--timeout is \"soon\"", [*base, "--kubeconfig", config, "--timeout", "soon"]),
            ("--timeout is \"0s\"", [*base, "--kubeconfig", config, "--timeout", "0s"]),
            ("there is no kubeconfig", [*base, "--kubeconfig", folder + "/missing"]),
            ("did you mean", ["-p", write(folder, "wrong.yaml", POLICY.replace("match:", "mach:")),
                              "--state", state])):
        _, said = run(2, *arguments, KUBECONFIG="", HOME=folder)
        check(wanted in said, f"{arguments}: {said}")
    _, said = run(2, *base, "--in-cluster", KUBERNETES_SERVICE_HOST="")
    check("not in a cluster" in said, said)
    help_text, _ = run(0, "--help")
    check("--in-cluster" in help_text and "openreports" in help_text, help_text)


def a_broken_file_hides_nothing(folder):
    cluster = Cluster(folder, rollout("shop", spec("zone")))
    write(folder, "state/broken.yaml", "a: [b\n")
    report = json.loads(cluster.files(2, "-o", "json")[0])
    check(told(report) == [("Deployment", "shop", "topology-keys", "deny", False)], report)
    check(report["errors"][0]["file"].endswith("broken.yaml"), report["errors"])
    _, said = cluster.files(2)
    check("broken.yaml" in said, said)
    cluster.fake.end()


def without_an_api_server_it_ends(folder):
    policy = write(folder, "policy.yaml", POLICY)
    begun = time.monotonic()
    out, said = run(3, "-p", policy, "--kubeconfig", kubeconfig(folder, "http://127.0.0.1:1"))
    check(out == "" and "cannot be asked" in said and "onnect" in said, said)
    check(time.monotonic() - begun < 20, "it took over 20 s to see that nobody is there")
    refuses = Cluster(os.path.join(folder, "refuses"), CLUSTER,
                      script=[f"list {plural} status 403" for plural in ALL])
    out, said = refuses.live(3)
    check(out == "" and "lets nothing be listed" in said and "403" in said, said)
    refuses.fake.end()


def what_may_not_be_read_is_said(folder):
    """A Node could carry the label that no NodePool makes."""
    things = rollout("shop", spec("example.com/rack")) + rollout("bad", spec("zone"))
    nodes = Cluster(os.path.join(folder, "a"), [*things, POOL], script=["list nodes status 403"])
    out, said = nodes.live(1, "-o", "json")
    report = json.loads(out)
    check("nodes could not be listed" in said and "is not decided" in said, said)
    found = told(report, ("name", "rail", "undecided"))
    check(found == [("bad", "topology-keys", False), ("open", "capacity-types", False),
                    ("open", "pool-limits", False), ("shop", "topology-keys", True)], found)
    check(report["errors"] == [], "what is only looked up is no error")
    nodes.fake.end()
    tops = Cluster(os.path.join(folder, "b"), things, script=["list deployments status 403"])
    report = json.loads(tops.live(2, "-o", "json")[0])
    check("deployments could not be listed" in report["errors"][0]["message"], report["errors"])
    check(("ReplicaSet", "bad-1") in told(report, ("kind", "name")), "not told of the ReplicaSet")
    tops.fake.end()
    late = Cluster(os.path.join(folder, "c"), things, script=["list pods stall"])
    out, said = late.live(3, "--timeout", "4s")
    check("pods could not be listed" in said and "Deployment bad" in out, out + said)
    late.fake.end()
    both = Cluster(os.path.join(folder, "f"), things, script=["list pods stall", *["list deployments status 403"] * 20])
    _, said = both.live(3, "--timeout", "4s")
    check("pods could not be listed" in said and "deployments could not be listed" in said, said)
    both.fake.end()
    # What most clusters do not have is refused by RBAC all the same, as the roles that are installed have it.
    rails = "{node-class: {requireImdsv2: true}, topology-keys: {}}"
    policy = ("{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: all}, "
              f"spec: {{mode: enforce, rails: {rails}}}}}")
    for status in (403, 404):
        clouds = Cluster(os.path.join(folder, f"e{status}"), things, policy, script=[
            f"list nodeclasses status {status}"])  # of the other clouds it knows no version, and answers 404
        out, said = clouds.live(1, "-o", "json")
        check(json.loads(out)["errors"] == [], out)
        wanted = ("warning: nodeclasses could not be listed, so if there are any, they are not audited: answered 403"
                  if status == 403 else "")
        check(said.startswith(wanted) and said.count("\n") == (status == 403), said)
        clouds.fake.end()
    without = Cluster(os.path.join(folder, "d"), things, script=[
        f"list {plural} status 404" for plural in ("nodepools", "nodeclaims", "ec2nodeclasses")])
    check(without.live(1)[1] == "", "a cluster without Karpenter is warned of")
    without.fake.end()


def advice_fits_where_it_looks(folder):
    """Who looks at a cluster has no files to name."""
    rails = "{node-labels: {}, topology-keys: {}, accelerators: {}, placeable: {}, cost: {warnAbove: 1}}"
    cluster = Cluster(folder, rollout("shop", spec("example.com/rack", nodeSelector={"team": "a"})),
                      "{apiVersion: taffrail.dev/v1alpha1, kind: GuardRails, metadata: {name: all}, "
                      f"spec: {{mode: warn, rails: {rails}}}}}", ["list nodes status 403"])
    for names_files, look in ((True, cluster.files), (False, cluster.live)):
        found = [finding for finding in json.loads(look(0, "-o", "json")[0])["findings"] if finding["undecided"]]
        rails = {finding["rail"] for finding in found}
        check(rails == {"cost", "node-labels", "placeable", "topology-keys"}, rails)
        for finding in found:
            check(("--state" in finding["fix"]) == names_files, finding["fix"])
    check("Let Taffrail list the Nodes" in found[0]["fix"] + found[1]["fix"], found)
    cluster.fake.end()


def formats(folder):
    hostile = pod("hostile", spec("<script>\x1b[31m"), namespace="zz")
    cluster = Cluster(folder, [*CLUSTER, hostile])
    text, _ = cluster.files(1)
    live, _ = cluster.live(1)
    check(text == live, "the texts of files and cluster differ")
    for wanted in ("  Deployment shop\n", "namespace web: 10 denied, 2 audited, 2 excepted",
                   "the cluster: 1 denied, 1 warned", "exception: EX-1, until 2199-01-01",
                   "Pod odd-1-a and 1 more of ReplicaSet odd-1",
                   "  Pod ray-head, of RayCluster ray\n"
                   "  Pod again-1-a, of ReplicaSet again-1\n    deny",
                   "since: it is older than the policy's since; created anew it would be denied",
                   "docs: https://wiki.example.com/topology-keys  ask: #platform",
                   "it would be refused if it were created now"):
        check(wanted in text, f"{wanted!r} is not in\n{text}")
    places = [text.index(part) for part in ("namespace web", "the cluster", "namespace legacy",
                                            "namespace zz", "RAIL")]
    check(places == sorted(places) and "\x1b" not in text, f"not the worst first: {places}\n{text}")
    page = Page(cluster.live(1, "-o", "html")[0])
    check("Deployment shop" in page.text and "<script>" in page.text, "the page lacks something")
    for wanted in ("objects would be refused", f"http://127.0.0.1:{cluster.fake.port}",
                   "policy.yaml"):
        check(wanted in page.text, f"the page does not say {wanted!r}:\n{page.text[:1500]}")
    sarif = json.loads(cluster.live(1, "-o", "sarif")[0])
    results = sarif["runs"][0]["results"]
    check(len(results) == len(EXPECTED) + 1, len(results))
    check(not any("physicalLocation" in result["locations"][0] for result in results),
          "a live object lies in a file")
    sarif = json.loads(cluster.files(1, "-o", "sarif")[0])
    check(all("physicalLocation" in result["locations"][0]
              for result in sarif["runs"][0]["results"]), "a file is not named")
    cluster.fake.end()


def many_pods_take_a_second(folder):
    things = []
    for i in range(500):
        top, middle, *_ = rollout(f"app-{i}", spec("zone" if i % 50 == 0 else "rack.example"))
        things += [top, middle, *(pod(f"app-{i}-1-{j}", middle["spec"]["template"]["spec"], middle)
                                  for j in range(10))]
    cluster = Cluster(folder, [*things, thing("v1", "Node", "n", None)])
    begun = resource.getrusage(resource.RUSAGE_CHILDREN)
    report = json.loads(cluster.files(1, "-o", "json")[0])
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
    check(report["summary"]["denied"] == 10, report["summary"])
    check(took < 20, f"{took:.1f} s for 5,000 pods")
    print(f"    5,000 pods of 500 Deployments: {took:.2f} s")
    cluster.fake.end()


run_tests(each_mistake_is_told_once_and_where_it_belongs, check_finds_the_same,
          custom_resources_tell_their_templates, exit_codes, what_cannot_be_is_refused,
          a_broken_file_hides_nothing, without_an_api_server_it_ends, what_may_not_be_read_is_said,
          advice_fits_where_it_looks, formats, many_pods_take_a_second)
