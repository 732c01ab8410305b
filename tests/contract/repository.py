#!/usr/bin/python3
"""`taffrail check -f .` in a repository as it is: what is read, skipped, ignored, passed over, and
what of it is said where.

usage: repository.py TAFFRAIL"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scenarios"))
from reviews import Server  # noqa: E402

POLICY = """apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: p}
spec: {mode: enforce, rails: {topology-keys: {}}}
"""
WORKLOAD = """apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 2
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      topologySpreadConstraints: [{topologyKey: zone}]
      containers: [{name: a, image: a}]
"""
PATCH = """apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
spec:
  template:
    spec:
      topologySpreadConstraints: [{topologyKey: zone}]
"""
POOL_PATCH = """apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec: {limits: {cpu: 100}}
"""
GOING = """apiVersion: v1
kind: Pod
metadata: {name: goes, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec:
  topologySpreadConstraints: [{topologyKey: zone}]
  containers: [{name: a, image: a}]
"""

BUDGET_PATCH = """apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: a}
spec: {minAvailable: 0}
"""

BOUND = """apiVersion: v1
kind: Pod
metadata: {name: runs}
spec:
  nodeName: ip-10-0-0-1
  topologySpreadConstraints: [{topologyKey: zone}]
  containers: [{name: a, image: a}]
status: {phase: Running}
"""
TEMPLATE = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n"
STRANGERS = {
    "kustomization.yaml": "resources: [shop.yaml]\n",
    "overlays/prod/kustomization.yaml": "resources: [../..]\n",
    "values.yaml": "image: {repository: a, tag: '1'}\n",
    "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "charts/web/values.yaml": "replicas: 3\n",
    "ci/pipeline.yml": "on: push\njobs: {a: {steps: []}}\n",
    "stack.yaml": "Resources:\n  A: {Type: !Sub '${B}', Properties: !GetAtt C.D}\n",
    "package.json": '{"name": "a", "scripts": {}}\n',
    "list.json": "[1, 2]\n",
    "tsconfig.json": '{\n  // what is built\n  "files": []\n}\n',
    "patch.yaml": "- op: replace\n  path: /spec/replicas\n  value: 3\n",
    "empty.yaml": "",
    "comments.yaml": "# nothing\n",
}


class Failure(Exception):
    pass


def expect(what, actual, expected):
    if actual != expected:
        raise Failure(f"{what} is {actual!r}, expected {expected!r}")


class Repository:
    """A folder with a policy beside it."""

    def __init__(self, taffrail, scratch):
        self.taffrail = taffrail
        self.policy = pathlib.Path(scratch) / "policy.yaml"
        self.policy.write_text(POLICY)
        self.folder = pathlib.Path(scratch) / "repository"
        self.folder.mkdir()

    def write(self, **files):
        self.write_all(files)

    def write_all(self, files):
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def run(self, *arguments, stdin=None):
        done = subprocess.run([self.taffrail, *map(str, arguments)], cwd=self.folder,
                              input=None if stdin is None else stdin.encode(),
                              capture_output=True, timeout=300)
        if done.returncode < 0 or b"Sanitizer" in done.stderr:
            raise Failure(f"it crashed ({done.returncode}): {done.stderr.decode()}")
        done.said = done.stderr.decode()
        return done

    def check(self, *arguments, path=".", stdin=None):
        done = self.run("check", "-p", self.policy, "-o", "json", "-f", path, *arguments,
                        stdin=stdin)
        done.report = json.loads(done.stdout)
        done.files = sorted({f["file"] for f in done.report["findings"]})
        done.broken = sorted(e["file"] for e in done.report["errors"])
        return done


def strangers_are_skipped(repository):
    repository.write_all({**STRANGERS, "shop.yaml": WORKLOAD})
    done = repository.check()
    expect("exit code", done.returncode, 1)
    expect("files", done.files, ["./shop.yaml"])
    expect("errors", done.report["errors"], [])
    expect("skippedFiles", done.report["summary"]["skippedFiles"], len(STRANGERS))
    expect("skipped", done.report["summary"]["skipped"], len(STRANGERS))
    expect("what is said", done.said, "")
    strict = repository.check("--strict-files")
    expect("exit code", strict.returncode, 2)
    expect("files", strict.files, ["./shop.yaml"])
    expect("errors", strict.broken, sorted("./" + name for name in STRANGERS))


def charts_are_named(repository):
    repository.write_all({
        "shop.yaml": WORKLOAD,
        "charts/web/Chart.yaml": "apiVersion: v2\nname: web\n",
        "charts/web/templates/a.yaml": TEMPLATE,
        "charts/web/templates/deeper/b.yaml": WORKLOAD + "# {{ .Values.a }}\n",
        "charts/web/templates/plain.yaml": WORKLOAD,
        "other/templates/c.yaml": WORKLOAD,
    })
    done = repository.check()
    expect("exit code", done.returncode, 1)
    expect("files", done.files, ["./charts/web/templates/plain.yaml", "./other/templates/c.yaml",
                                 "./shop.yaml"])
    expect("what is said", done.said,
           "note: ./charts/web is a chart, whose 2 templates are not read: "
           "helm template ./charts/web | taffrail check -f -\n")
    repository.write_all({"Chart.yaml": "apiVersion: v2\nname: shop\n", "templates/a.yaml": TEMPLATE})
    for path in (".", "templates"):
        if "helm template . | taffrail check -f -" not in repository.check(path=path).said:
            raise Failure(f"of -f {path} it says: {repository.check(path=path).said}")
    expect("errors", repository.check("--strict-files").broken,
           ["./Chart.yaml", "./charts/web/Chart.yaml", "./charts/web/templates/a.yaml",
            "./charts/web/templates/deeper/b.yaml", "./templates/a.yaml"])


def rendered_charts_name_their_files(repository):
    rendered = "".join(f"---\n# Source: shop/templates/{name}.yaml\n{WORKLOAD}" for name in "ab")
    rendered += "---\n" + WORKLOAD + "---\n# Source: shop/templates/broken.yaml\na: [b\n"
    done = repository.check(path="-", stdin=rendered)
    expect("exit code", done.returncode, 2)
    places = [(f["file"], f["line"], f["column"]) for f in done.report["findings"]]
    expect("places", places, [("shop/templates/a.yaml", 11, 49), ("shop/templates/b.yaml", 11, 49),
                              ("shop/templates/b.yaml", 23, 49)])
    broken = [(e["file"], e["line"]) for e in done.report["errors"]]
    expect("errors", broken, [("shop/templates/broken.yaml", 3)])
    plain = repository.check(path="-", stdin=WORKLOAD + "---\n# Source of all evil\n" + WORKLOAD)
    expect("files", plain.files, ["<stdin>"])
    forged = repository.check(path="-", stdin="---\n# Source: a\033[2Jb\n" + WORKLOAD)
    expect("errors", forged.broken, ["<stdin>"])
    repository.write_all({"rendered.yaml": rendered})
    expect("files", repository.check(path="rendered.yaml").files, ["rendered.yaml"])


# .taffrailignore of the root, of the folder a; --ignore; what is judged
IGNORED = [
    ("", "", [], "a/b/x.yaml a/b/y.yaml a/x.yaml b/x.yaml old.yaml x.yaml"),
    ("x.yaml\n", "", [], "a/b/y.yaml old.yaml"),
    ("/x.yaml\n", "", [], "a/b/x.yaml a/b/y.yaml a/x.yaml b/x.yaml old.yaml"),
    ("a/x.yaml\n", "", [], "a/b/x.yaml a/b/y.yaml b/x.yaml old.yaml x.yaml"),
    ("b/\n", "", [], "a/x.yaml old.yaml x.yaml"),
    ("/b/\n", "", [], "a/b/x.yaml a/b/y.yaml a/x.yaml old.yaml x.yaml"),
    ("x.yaml/\n", "", [], "a/b/x.yaml a/b/y.yaml a/x.yaml b/x.yaml old.yaml x.yaml"),
    ("**/b\n", "", [], "a/x.yaml old.yaml x.yaml"),
    ("a/**\n", "", [], "b/x.yaml old.yaml x.yaml"),
    ("a/**/y.yaml\n", "", [], "a/b/x.yaml a/x.yaml b/x.yaml old.yaml x.yaml"),
    ("a/**/x.yaml\n", "", [], "a/b/y.yaml b/x.yaml old.yaml x.yaml"),
    ("*.yaml\n!old.yaml\n", "", [], "old.yaml"),
    ("*.yaml\n!/a/b/[x].yaml\n", "", [], "a/b/x.yaml"),
    ("a\n!a/x.yaml\n", "", [], "b/x.yaml old.yaml x.yaml"),
    ("[!xy].yaml\n?ld.yaml\n", "", [], "a/b/x.yaml a/b/y.yaml a/x.yaml b/x.yaml x.yaml"),
    ("# x.yaml\n\\#x.yaml\nold.yaml  \r\n", "", [],
     "a/b/x.yaml a/b/y.yaml a/x.yaml b/x.yaml x.yaml"),
    ("", "x.yaml\n", [], "a/b/y.yaml b/x.yaml old.yaml x.yaml"),
    ("", "/b/x.yaml\n", [], "a/b/y.yaml a/x.yaml b/x.yaml old.yaml x.yaml"),
    ("x.yaml\n", "!x.yaml\n", [], "a/b/x.yaml a/b/y.yaml a/x.yaml old.yaml"),
    ("", "", ["a/b", "old*"], "a/x.yaml b/x.yaml x.yaml"),
    ("!x.yaml\n", "", ["x.yaml"], "a/b/x.yaml a/b/y.yaml a/x.yaml b/x.yaml old.yaml x.yaml"),
]


def ignored_files_are_not_read(repository):
    files = IGNORED[0][3].split()
    repository.write_all({name: WORKLOAD for name in files})
    for root, inner, globs, judged in IGNORED:
        repository.write_all({".taffrailignore": root, "a/.taffrailignore": inner})
        options = [part for glob in globs for part in ("--ignore", glob)]
        case = f"{root!r}, {inner!r}, {globs}: the files judged"
        done = repository.check(*options)
        expect(case, [name.removeprefix("./") for name in done.files], judged.split())
        if (done.report["summary"]["ignored"] > 0) != (len(judged.split()) < len(files)):
            raise Failure(f"{case}: {done.report['summary']['ignored']} are counted as ignored")
    repository.write_all({".taffrailignore": "old.yaml\n", "a/.taffrailignore": ""})
    expect("a file that -f names", repository.check(path="old.yaml").files, ["old.yaml"])


def nothing_to_judge_is_an_error(repository):
    repository.write_all({"values.yaml": "a: b\n", ".taffrailignore": "shop.yaml\n",
                          "shop.yaml": WORKLOAD})
    for path, stdin in ((".", None), ("values.yaml", None), ("-", ""), ("-", "a: b\n"),
                        ("-", "apiVersion: v1\nkind: List\nitems: []\n")):
        done = repository.check(path=path, stdin=stdin)
        expect(f"exit code of -f {path} {stdin!r}", done.returncode, 2)
        expect("errors", len(done.broken), 1)
        if "--allow-empty" not in done.report["errors"][0]["message"]:
            raise Failure(f"it says {done.report['errors'][0]['message']}")
        done = repository.check("--allow-empty", path=path, stdin=stdin)
        expect(f"exit code of -f {path} --allow-empty", done.returncode, 0)
    # An object of another kind is one.
    expect("exit code", repository.check(path="-", stdin="apiVersion: v1\nkind: Secret\n").returncode, 0)
    for command in (["convert", "-f", "."], ["plan", "--state", ".", "-f", "values.yaml"]):
        done = repository.run(*command)
        expect(f"exit code of {command}", done.returncode, 2)
        if "holds no Kubernetes object" not in done.said:
            raise Failure(f"{command} says {done.said}")
        done = repository.run(*command, "--allow-empty")
        expect(f"exit code of {command} --allow-empty", done.returncode, 0)


def parts_of_objects_are_passed_over(repository):
    repository.write_all({"patch.yaml": PATCH, "pool.yaml": POOL_PATCH, "bound.yaml": BOUND, "going.yaml": GOING,
                          "base/patches/budget.yaml": BUDGET_PATCH,
                          "shop.yaml": WORKLOAD.replace("NAME", "shop")})
    done = repository.check()
    expect("exit code", done.returncode, 1)
    expect("files", done.files, ["./shop.yaml"])
    summary = done.report["summary"]
    expect("fragments", (summary["fragments"], summary["boundPods"], summary["skipped"]), (3, 2, 5))
    for part in ("./patch.yaml:1: Deployment shop has no spec.selector",
                 "./pool.yaml:1: NodePool default has no spec.template.spec.nodeClassRef",
                 "./base/patches/budget.yaml:1: PodDisruptionBudget a has no spec.selector",
                 "2 Pods of a cluster"):
        if part not in done.said:
            raise Failure(f"it does not say {part}: {done.said}")
    # What a part says of a workload's pods is seen; a whole object of the name wins.
    repository.write_all({"budget.yaml": "apiVersion: policy/v1\nkind: PodDisruptionBudget\n"
                          "metadata: {name: a}\nspec: {minAvailable: 2, selector: {matchLabels: {app: a}}}\n",
                          "part.yaml": WORKLOAD.replace("NAME", "shop").replace("replicas: 2", "replicas: 9")
                          .replace(", image: a", "")})
    repository.policy.write_text(POLICY.replace("topology-keys", "pod-disruption-budgets"))
    expect("files", repository.check().files, ["./budget.yaml"])
    # "patch" is a word of its path: the file of an application named dispatch is none.
    repository.write_all({"dispatch.yaml": BUDGET_PATCH.replace("name: a", "name: dispatch")})
    done = repository.check()
    if "dispatch has no spec.selector" in done.said:
        raise Failure(f"a budget is passed over for its file's name: {done.said}")
    (repository.folder / "dispatch.yaml").unlink()
    (repository.folder / "shop.yaml").unlink()
    expect("files", repository.check().files, [])
    repository.policy.write_text(POLICY)
    # The admission webhook, and a policy's test, judge what they are sent.
    repository.write_all({"cases.yaml": "- name: a patch\n  manifest: patch.yaml\n"
                          "  policy: ../policy.yaml\n  findings: [{rail: topology-keys}]\n"})
    expect("exit code of test", repository.run("test", "cases.yaml").returncode, 0)
    # An audit judges what runs.
    done = repository.run("audit", "-p", repository.policy, "--state", ".", "-o", "json")
    if b'"runs"' not in done.stdout:
        raise Failure("the audit passes over a Pod that runs")
    if b"NodePool default has no spec.template.spec.nodeClassRef" not in done.stderr:
        raise Failure(f"the audit judges a part of an object: {done.stderr.decode()}")
    # To convert one would write what the whole has, such as requirements: [].
    repository.write_all({"pool.yaml": POOL_PATCH.replace("/v1", "/v1beta1")})
    done = repository.run("convert", "-f", "pool.yaml")
    expect("exit code of convert", done.returncode, 0)
    expect("what is converted", done.stdout, b"")


def a_class_has_one_kubelet(repository):
    """Before v1 each NodePool had its own."""
    pool = ("---\napiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: NAME}\nspec: {template: {spec: "
            "{nodeClassRef: {name: CLASS}, requirements: []KUBELET}}}\n")

    def write(name, node_class, kubelet):
        return pool.replace("NAME", name).replace("CLASS", node_class).replace(
            "KUBELET", f", kubelet: {kubelet}" if kubelet else "")
    repository.write_all({"pools.yaml": write("a", "nc", "{maxPods: 20, cpuCFSQuota: true}")
                          + write("b", "nc", "{cpuCFSQuota: true, maxPods: 20}") + write("c", "nc", "{maxPods: 40}")
                          + write("d", "nc", "") + write("e", "other", "{maxPods: 40}")})
    done = repository.run("convert", "-f", "pools.yaml")
    said = [line for line in done.said.splitlines() if "EC2NodeClass of its own" in line]
    expect("of its own", [line.split(": by hand: ")[1].split(",")[0] for line in said],
           [f"make an EC2NodeClass of its own for {name}: NodePool a is of EC2NodeClass nc" for name in "cd"])


COMMANDS = "\n::stop-commands::x7f3\n##[stop-commands]x7f3 ##vso[task.complete]\x1b[2J\u009b2J\u2028x"
COMMANDED = re.compile(r"^\W*::|##\[|##vso\[|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028]", re.M)


def no_file_commands_a_pipeline(repository):
    """What runs in a pipeline prints names that anybody chose, and the pipeline obeys some words."""
    def made(kind, name=COMMANDS, api_version="apps/v1", **members):
        return json.dumps({"apiVersion": api_version, "kind": kind, "metadata": {
            "name": name, "namespace": name}, **members})
    containers = [{"name": COMMANDS, "image": "a"}]
    whole = {"selector": {"matchLabels": {"app": "a"}}, "template": {
        "metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers, "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": COMMANDS, "whenUnsatisfiable": "DoNotSchedule"}]}}}
    old = {"template": {"spec": {"nodeClassRef": {"name": COMMANDS}, "requirements": [],
                                 "kubelet": {"maxPods": 20}}}, COMMANDS: 1}
    charts = "chart##[group]\u009b"
    repository.write_all({
        "::stop-commands::x7f3.yaml": made("Deployment", spec=whole),
        "##[group]/fragment.json": made("Deployment", spec={"replicas": 3}),
        "twice.json": '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "annotations": {%s}}}'
        % ", ".join([f"{json.dumps(COMMANDS)}: ''"] * 2),
        "broken.json": "{" + json.dumps(COMMANDS),
        "secret.json": made("Secret##[group]", api_version="v1"),
        f"{charts}/Chart.yaml": "name: a\n", f"{charts}/templates/a.yaml": "{{ a }}\n",
        "old.json": made("NodePool", api_version="karpenter.sh/v1beta1", spec=old),
        "old2.json": made("NodePool", "other", "karpenter.sh/v1beta1", spec={"template": {"spec": {
            **old["template"]["spec"], "kubelet": {"maxPods": 30}}}})})
    loose = repository.policy.parent / "loose.yaml"
    loose.write_text(POLICY.replace("topology-keys: {}", "scheduler-bypass: {}"))
    files = [argument for name in sorted(os.listdir(repository.folder)) for argument in ("-f", name)]
    for words in (["check", "-p", repository.policy, *files],
                  ["check", "-p", repository.policy, *files, "-o", "github"],
                  ["audit", "-p", repository.policy, "--state", "."],
                  ["audit", "--compare", loose, repository.policy, "--state", "."],
                  ["policy", "explain", "-p", repository.policy, *files],
                  ["convert", *files]):
        done = repository.run(*words)
        told = done.stdout.decode() + done.said
        if "-o" in words:  # its own commands, each with its values behind it
            told = re.sub(r"^::(error|warning|notice) .*\n", "", told, flags=re.M)
        if words[0] == "convert":  # the objects are data
            expect("what is converted", [one["kind"] for one in yaml.safe_load_all(done.stdout)], ["NodePool"] * 2)
            told = "".join(re.findall("^#.*\n", done.stdout.decode(), re.M)) + done.said
        found = COMMANDED.search(told)
        expect(f"what {words[0]} {words[-1]} passes on", found and told[:found.end()][-300:], None)
        expect(f"{words[0]} tells of them", "stop-commands" in told, True)


def what_is_not_visible_is_said_once(repository):
    repository.policy.write_text(POLICY.replace("topology-keys: {}", "placeable: {mode: enforce}"))
    repository.write_all({f"{name}.yaml": WORKLOAD.replace("NAME", name) for name in "abc"})
    done = repository.check()
    expect("exit code", done.returncode, 0)
    expect("undecided", [(finding["name"], finding["undecided"], finding["unseen"])
                         for finding in done.report["findings"]],
           [(name, True, ["NodePool", "Node"]) for name in "abc"])
    expect("the summary", done.report["summary"]["undecided"], 3)
    # A person reads of the first, and how many are like it.
    for form, once in (("text", 1), ("github", 1), ("json", 3), ("junit", 3), ("sarif", 3)):
        done = repository.run("check", "-p", repository.policy, "-f", ".", "-o", form)
        told = done.stdout.decode()
        expect(f"{form}: the fix", told.count("NodePools and Nodes visible (--state DIR)") >= once, True)
        expect(f"{form}: how many more", told.count("2 more are like it: no NodePool and no Node is visible."),
               once % 3)
        if form in ("text", "github"):
            expect(f"{form}: objects", [told.count(f"Deployment default/{name}") for name in "abc"], [1, 0, 0])
            expect(f"{form}: all are counted", "3 undecided" in told, True)
        elif form == "junit":
            expect("junit: findings", told.count("undecided placeable"), 3)
    repository.write_all({"cases.yaml": "- name: each is told\n  manifest: a.yaml\n"
                          "  policy: ../policy.yaml\n"
                          "  findings: [{rail: placeable, undecided: true}]\n"})
    expect("exit code of test", repository.run("test", "cases.yaml").returncode, 0)
    audit = repository.run("audit", "-p", repository.policy, "--state", ".", "-o", "json")
    expect("undecided in the audit", json.loads(audit.stdout)["summary"]["undecided"], 3)
    audit = repository.run("audit", "-p", repository.policy, "--state", ".")
    expect("an audit for a person", (audit.stdout.count(b"\n  placeable: "), b" and 2 more\n" in audit.stdout,
                                     b"3 undecided" in audit.stdout), (1, True, True))


def the_server_says_so_at_load(repository):
    repository.policy.write_text(POLICY.replace("topology-keys: {}", "placeable: {}"))
    server = Server(repository.taffrail, ["-p", str(repository.policy)], str(repository.folder))
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "a", "operation": "CREATE", "userInfo": {"username": "jane"}, "kind": {
            "group": "apps", "version": "v1", "kind": "Deployment"}, "resource": {
            "group": "apps", "version": "v1", "resource": "deployments"},
        "object": yaml.safe_load(WORKLOAD)}}
    try:
        answer = server.review(review)
    finally:
        trail = server.stop()
    expect("the answer", (answer["allowed"], answer.get("warnings", [])), (True, []))
    expect("findings in the trail", [f for line in trail for f in line["findings"]], [])
    said = [line for line in server.log if "no NodePool (placeable), no Node (placeable)" in line]
    expect("lines about it", len(said), 1)


def duplicate_keys_are_warnings(repository):
    repository.write_all({
        "shop.yaml": WORKLOAD + "      topologySpreadConstraints: []\n",
        "many.yaml": "apiVersion: v1\nkind: Secret\n" + "a: b\n" * 1000,
        "few.yaml": "apiVersion: v1\nkind: Secret\n" + "a: b\n" * 22,
        "twice.json": '{"apiVersion": "v1", "kind": "Pod", "kind": "Secret"}',
    })
    done = repository.check()
    expect("exit code", done.returncode, 0)
    expect("errors", done.report["errors"], [])
    for part in ('warning: ./shop.yaml:12:7: the key "topologySpreadConstraints" stands twice',
                 'warning: ./twice.json:1:37: the key "kind" stands twice',
                 "warning: ./many.yaml: 979 more keys stand twice",
                 "warning: ./few.yaml: 1 more key stands twice"):
        if part not in done.said:
            raise Failure(f"it does not say {part}: {done.said}")
    done = repository.run("check", "-p", repository.policy, "-f", "many.yaml", "--state", ".")
    expect("exit code with such a state", done.returncode, 0)


def bad_files_are_named(repository):
    repository.write_all({
        "broken.yaml": "apiVersion: v1\nkind: Pod\nspec: [a\n",
        "broken.json": '{"apiVersion": "v1",\n "kind": }',
        "binary.yaml": bytes(range(256)) * 16,
        "zipped.json": b"\x1f\x8b\x08\x00" + bytes(64),
        "wide.yaml": "apiVersion: v1\nkind: Pod\nspec: {a: " + "[" * 200 + "]" * 200 + "}\n",
        "shop.yaml": WORKLOAD,
        "deep/deeper/more.yaml": WORKLOAD,
    })
    (repository.folder / "dangling.yaml").symlink_to("nowhere")
    (repository.folder / "deep" / "back").symlink_to("..")
    (repository.folder / "deep" / "itself").symlink_to("itself")
    (repository.folder / "a-link").symlink_to("deep/deeper")
    os.mkfifo(repository.folder / "pipe.yaml")
    expected = ["./binary.yaml", "./broken.json", "./broken.yaml", "./dangling.yaml",
                "./deep/itself", "./pipe.yaml", "./wide.yaml", "./zipped.json"]
    if os.geteuid() != 0:
        repository.write_all({"unreadable.yaml": WORKLOAD})
        (repository.folder / "unreadable.yaml").chmod(0)
        expected = sorted([*expected, "./unreadable.yaml"])
    done = repository.check()
    expect("exit code", done.returncode, 2)
    expect("errors", done.broken, expected)
    # A folder is read once, and by its own name.
    expect("files", done.files, ["./deep/deeper/more.yaml", "./shop.yaml"])
    lines = {e["file"]: e["line"] for e in done.report["errors"]}
    expect("lines", (lines["./broken.yaml"], lines["./broken.json"], lines["./wide.yaml"]), (4, 2, 3))
    (repository.folder / "outside").mkdir()
    done = repository.check(path="a-link")
    expect("files through a link", done.files, ["a-link/more.yaml"])


def long_lists_are_read(repository):
    count = 5000
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"a{i}"},
             "spec": {"topologySpreadConstraints": [{"topologyKey": "zone"}]}} for i in range(count)]
    items = [*pods, 7, {"apiVersion": "v1"}]
    repository.write_all({"list.json": json.dumps({"apiVersion": "v1", "kind": "List",
                                                   "items": items})})
    done = repository.check()
    expect("exit code", done.returncode, 2)
    expect("denied", done.report["summary"]["denied"], count)
    expect("errors", len(done.broken), 2)


TESTS = [strangers_are_skipped, charts_are_named, rendered_charts_name_their_files,
         ignored_files_are_not_read, nothing_to_judge_is_an_error, parts_of_objects_are_passed_over,
         no_file_commands_a_pipeline, what_is_not_visible_is_said_once, a_class_has_one_kubelet,
         the_server_says_so_at_load, duplicate_keys_are_warnings, bad_files_are_named, long_lists_are_read]


def main(taffrail):
    failed = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                test(Repository(taffrail, scratch))
            except (Failure, ValueError, KeyError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED  {test.__name__}: {failure}")
    print(f"{len(TESTS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
