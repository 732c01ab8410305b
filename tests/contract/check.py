#!/usr/bin/python3
"""`taffrail check` as people and pipelines use it: exit codes, places, formats, hostile files.

usage: check.py TAFFRAIL"""

import json
import pathlib
import resource
import subprocess
import sys
import tempfile

POLICY = """apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: p}
spec:
  mode: enforce
  match: {excludeNamespaces: [exempt]}
  rails:
    topology-keys: {}
    instance-types: {mode: warn, allow: {families: [m5]}}
"""

# {0}: the topologyKey
POD = """apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec:
  topologySpreadConstraints:
    - topologyKey: {0}
"""
GOOD = POD.format("kubernetes.io/hostname")
BAD = POD.format("zone")
WARNED = """apiVersion: v1
kind: Pod
metadata: {name: w}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: r5.large}
"""


def deep(opening, count):
    return opening * count


def bomb():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for previous, name in zip("abcdefgh", "bcdefghi"):
        lines.append(f"{name}: &{name} [" + ", ".join(["*" + previous] * 10) + "]")
    return "\n".join(lines) + "\n"


# name, file name, text, arguments, exit code, findings as (action, line, column), errors as
# (line, column or None, part of the message)
CASES = [
    ("clean", "a.yaml", GOOD, [], 0, [], []),
    ("denied", "a.yaml", BAD, [], 1, [("deny", 6, 20)], []),
    ("never fails", "a.yaml", BAD, ["--fail-on", "never"], 0, [("deny", 6, 20)], []),
    ("a warning passes", "a.yaml", WARNED, [], 0, [("warn", 5, 52)], []),
    ("a warning fails if asked to", "a.yaml", WARNED, ["--fail-on", "warn"], 1,
     [("warn", 5, 52)], []),
    ("an exempt namespace", "a.yaml", BAD, ["-n", "exempt"], 0, [], []),
    ("flow style", "a.yaml",
     "{apiVersion: v1, kind: Pod, spec: {topologySpreadConstraints: [{topologyKey: 'zone'}]}}\n",
     [], 1, [("deny", 1, 78)], []),
    ("JSON", "a.json",
     '{"apiVersion":"v1","kind":"Pod",\n "spec":{"topologySpreadConstraints":'
     '[{"topologyKey":"zone"}]}}\n', [], 1, [("deny", 2, 54)], []),
    ("JSON in a YAML file", "a.yaml",
     '{"apiVersion":"v1","kind":"Pod",\n "spec":{"topologySpreadConstraints":'
     '[{"topologyKey":"zone"}]}}\n', [], 1, [("deny", 2, 54)], []),
    ("columns count code points", "a.yaml",
     'apiVersion: v1\nkind: Pod\nspec: {"é€😀": 1, topologySpreadConstraints: '
     '[{topologyKey: zone}]}\n', [], 1, [("deny", 3, 60)], []),
    ("a List", "a.yaml",
     "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  spec:\n"
     "    topologySpreadConstraints: [{topologyKey: zone}]\n", [], 1, [("deny", 7, 47)], []),
    ("a typed list as kubectl get prints it", "a.json",
     '{"apiVersion":"v1","kind":"PodList","items":[\n{"metadata":{"name":"x"},'
     '"spec":{"topologySpreadConstraints":[{"topologyKey":"zone"}]}}]}', [], 1,
     [("deny", 2, 78)], []),
    ("an AdmissionReview", "a.json",
     '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"object":\n'
     '{"apiVersion":"v1","kind":"Pod","spec":{"topologySpreadConstraints":'
     '[{"topologyKey":"zone"}]}}}}', [], 1, [("deny", 2, 85)], []),
    ("CRLF", "a.yaml", BAD.replace("\n", "\r\n"), [], 1, [("deny", 6, 20)], []),
    ("a byte order mark", "a.yaml", "\ufeff" + BAD, [], 1, [("deny", 6, 20)], []),
    ("an empty file", "a.yaml", "", [], 2, [], [(None, None, "holds no Kubernetes object")]),
    ("an empty file that may be", "a.yaml", "", ["--allow-empty"], 0, [], []),
    ("only comments", "a.yaml", "# nothing\n---\n# here\n", [], 2, [],
     [(None, None, "holds no Kubernetes object")]),
    ("only comments that may be", "a.yaml", "# nothing\n---\n# here\n", ["--allow-empty"], 0, [],
     []),
    ("kinds nobody knows", "a.yaml", "apiVersion: v1\nkind: ConfigMap\n", [], 0, [], []),
    ("a broken document among good ones", "a.yaml", BAD + "---\na: [b\n---\n" + BAD, [], 2,
     [("deny", 6, 20), ("deny", 15, 20)], [(9, 1, "")]),
    ("no object", "a.yaml", "just: text\n", [], 2, [],
     [(None, None, "holds no Kubernetes object: 1 file has none")]),
    ("no object, strictly", "a.yaml", "just: text\n", ["--strict-files"], 2, [],
     [(1, 1, "kind is missing")]),
    ("a document that is no object beside one", "a.yaml", BAD + "---\njust: text\n", [], 2,
     [("deny", 6, 20)], [(8, 1, "kind is missing")]),
    ("half an object", "a.yaml", "kind: Pod\nmetadata: {name: a}\n", [], 2, [],
     [(1, 1, "apiVersion is missing")]),
    ("a duplicate key is judged by the last", "a.yaml",
     POD.format("kubernetes.io/hostname") + "      topologyKey: zone\n", [], 1,
     [("deny", 7, 20)], []),
    ("a duplicate key in JSON", "a.json",
     '{"apiVersion":"v1","kind":"Pod","spec":{},"spec":{"topologySpreadConstraints":'
     '[{"topologyKey":"zone"}]}}', [], 1, [("deny", 1, 95)], []),
    ("an alias bomb", "a.yaml", bomb(), [], 2, [], [(None, None, "")]),
    ("an alias that is fine", "a.yaml",
     "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: &l {app: a}}\nspec:\n"
     "  topologySpreadConstraints:\n    - {topologyKey: zone, labelSelector: {matchLabels: *l}}\n",
     [], 1, [("deny", 6, 21)], []),
    ("100 KB of {", "a.yaml", deep("{", 100_000), [], 2, [], [(1, None, "")]),
    ("100 KB of [ as JSON", "a.json", deep("[", 100_000), [], 2, [], [(1, None, "nesting")]),
    ("broken UTF-8", "a.yaml", b"apiVersion: v1\nkind: \xff\xfe\n", [], 2, [], [(2, None, "")]),
    ("NUL", "a.yaml", b"apiVersion: v1\nkind: Pod\0\n", [], 2, [], [(2, None, "")]),
    ("wrong types everywhere", "a.yaml",
     "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  nodeSelector: [1]\n"
     "  affinity: {nodeAffinity: 3, podAffinity: [x], podAntiAffinity: {"
     "requiredDuringSchedulingIgnoredDuringExecution: {a: b}}}\n"
     "  topologySpreadConstraints: {a: [zone]}\n---\napiVersion: karpenter.sh/v1\nkind: NodePool\n"
     "metadata: {name: pool}\nspec: {template: {spec: {requirements: {a: 1}, nodeClassRef: []}, "
     "metadata: 4}}\n---\napiVersion: apps/v1\nkind: Deployment\nspec: null\n",
     [], 0, None, []),
    ("metadata that is none", "a.yaml", "apiVersion: v1\nkind: Pod\nmetadata: [a]\n", [], 2, [],
     [(3, 11, "metadata is a list")]),
]


class Failure(Exception):
    pass


def limit_memory(taffrail):
    """Hostile files must not cost much. Sanitizers reserve far more address space than that."""
    program = pathlib.Path(taffrail).read_bytes()
    if b"__asan_init" not in program and b"__tsan_init" not in program:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def run(taffrail, *arguments, stdin=None):
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([taffrail, *map(str, arguments)], input=stdin, capture_output=True,
                          timeout=300)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)  # of the processor: others may have it, too
    done.seconds = ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime
    if done.returncode < 0 or b"Sanitizer" in done.stderr:
        raise Failure(f"it crashed ({done.returncode}): {done.stderr.decode()}")
    return done


def expect(what, actual, expected):
    if actual != expected:
        raise Failure(f"{what} is {actual!r}, expected {expected!r}")


def check_errors(errors, expected):
    expect("errors", len(errors), len(expected))
    for error, (line, column, part) in zip(errors, expected):
        if line is not None:
            expect("error line", error["line"], line)
        if column is not None:
            expect("error column", error["column"], column)
        if part not in error["message"] or not error["message"]:
            raise Failure(f"the error says {error['message']!r}, not {part!r}")


def run_case(taffrail, folder, case):
    _, name, text, arguments, code, findings, errors = case
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run(taffrail, "check", "-p", folder / "policy.yaml", "-f", path, "-o", "json",
               *arguments)
    report = json.loads(done.stdout)
    expect("schema", report["schema"], "taffrail.dev/findings/v1")
    if findings is not None:
        actual = [(f["action"], f["line"], f["column"]) for f in report["findings"]]
        expect("findings", actual, findings)
        expect("exit code", done.returncode, code)
    check_errors(report["errors"], errors)
    expect("summary.errors", report["summary"]["errors"], len(errors))
    if done.seconds > 20:
        raise Failure(f"it took {done.seconds:.1f} s")


def text_output(taffrail, folder):
    (folder / "a.yaml").write_text(BAD)
    done = run(taffrail, "check", "-p", folder / "policy.yaml", "-f", folder / "a.yaml")
    lines = done.stdout.decode().splitlines()
    expect("line 1", lines[0], f"{folder}/a.yaml:6:20: deny topology-keys  Pod default/a")
    expect("line 2", lines[1], "     6 |     - topologyKey: zone")
    expect("line 3", lines[2], "       |                    ^~~~")
    expect("summary", lines[-1], "1 object checked: 1 denied")
    expect("stderr", done.stderr, b"")


def standard_input(taffrail, folder):
    done = run(taffrail, "check", "-p", folder / "policy.yaml", "-f", "-", "-o", "json",
               stdin=BAD.encode())
    finding = json.loads(done.stdout)["findings"][0]
    expect("file", finding["file"], "<stdin>")
    expect("exit code", done.returncode, 1)


def many_documents(taffrail, folder):
    (folder / "many.yaml").write_text("---\n".join([GOOD] * 9_999 + [BAD]))
    done = run(taffrail, "check", "-p", folder / "policy.yaml", "-f", folder / "many.yaml", "-o",
               "json")
    report = json.loads(done.stdout)
    expect("objects", report["summary"]["objects"], 10_000)
    expect("denied", report["summary"]["denied"], 1)
    expect("line", report["findings"][0]["line"], 9_999 * 7 + 6)


def many_pods_on_one_line(taffrail, folder):
    """What a pipeline writes without line breaks: places on a long line are not counted from its start."""
    count = 20_000
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
           "spec": {"topologySpreadConstraints": [{"topologyKey": "zone"}]}}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [pod] * count})
    (folder / "line.json").write_text(text)
    for output in ("text", "json", "sarif"):
        done = run(taffrail, "check", "-p", folder / "policy.yaml", "-f", folder / "line.json",
                   "-o", output)
        expect("exit code", done.returncode, 1)
        if done.seconds > 20:
            raise Failure(f"-o {output} took {done.seconds:.1f} s")
        if output == "json":
            finding = json.loads(done.stdout)["findings"][-1]
            expect("place", (finding["line"], finding["column"]),
                   (1, text.rindex('"zone"') + 1))


def folders(taffrail, folder):
    tree = folder / "tree" / "deeper"
    tree.mkdir(parents=True)
    (tree / "b.yml").write_text(BAD)
    (tree / "a.json").write_text('{"apiVersion": "v1", "kind": "Pod"}')
    (tree / "notes.txt").write_text("not a manifest")
    (tree / "loop").symlink_to(folder / "tree")
    done = run(taffrail, "check", "-p", folder / "policy.yaml", "-f", folder / "tree" / "deeper",
               "-f", folder / "missing.yaml", "-o", "json")
    report = json.loads(done.stdout)
    expect("exit code", done.returncode, 2)
    files = {error["file"] for error in report["errors"]}
    if str(folder / "missing.yaml") not in files:
        raise Failure(f"missing.yaml is not among the errors: {files}")


def usage_errors(taffrail, folder):
    policy = folder / "policy.yaml"
    (folder / "bad.yaml").write_text(POLICY.replace("families", "familys"))
    (folder / "a.yaml").write_text(GOOD)
    for arguments, part in [
        (["check"], "no policy"),
        (["check", "-p", policy], "nothing to judge"),
        (["check", "-p", policy, "-f", "x", "--colour"], "--colour"),
        (["check", "-p", policy, "-f", "x", "-o", "xml"], "text, json"),
        (["check", "-p", policy, "-f"], "wants a value"),
        (["check", "-p", policy, "x"], "what is \"x\" for"),
        (["check", "-p", folder / "none.yaml", "-f", folder / "a.yaml"], "none.yaml"),
        (["check", "-p", folder / "bad.yaml", "-f", folder / "a.yaml"], "bad.yaml:9:42"),
        (["check", "-p", policy, "-f", folder / "a.yaml", "--state", folder / "none"], "none"),
        (["check", "-p", policy, "-f", folder / "a.yaml", "--catalog", folder / "none"], "none"),
        (["check", "-p", "-", "-f", "-"], "standard input (-) is named more than once"),
        (["plan", "-f", "-", "-f", "-"], "standard input (-) is named more than once"),
        (["replay", "-", "--against", "-", "-p", policy], "standard input (-) is named more than once"),
        (["chekc"], "did you mean check"),
        (["serve", "-p", policy, "--kubeconfig", "x"], "there is no kubeconfig: x"),
        ([], "usage"),
    ]:
        done = run(taffrail, *arguments)
        expect(f"exit code of {arguments}", done.returncode, 2)
        if part not in done.stderr.decode():
            raise Failure(f"{arguments} says {done.stderr.decode()!r}, not {part!r}")


def main(taffrail):
    passed = failed = 0
    others = [text_output, standard_input, many_documents, many_pods_on_one_line, folders,
              usage_errors]
    limit_memory(taffrail)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "policy.yaml").write_text(POLICY)
        jobs = [(case[0], lambda case=case: run_case(taffrail, folder, case)) for case in CASES]
        jobs += [(test.__name__, lambda test=test: test(taffrail, folder)) for test in others]
        for name, job in jobs:
            try:
                job()
                passed += 1
            except (Failure, ValueError, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED  {name}: {failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
