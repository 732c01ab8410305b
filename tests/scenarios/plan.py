#!/usr/bin/python3
"""Runs the scenarios of `taffrail plan`: each folder below plan/ has clusters (state/ unless a case names
another), changes, and expected.yaml, whose keys are in plan/README.md.

Every case is run as Karpenter would choose, in JSON and as text, and with --optimize in JSON; and each
once more with its documents and files in another order, which must not change a byte.

usage: plan.py TAFFRAIL [FOLDER ...]
"""

import collections
import functools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent / "plan"
ZONE = "topology.kubernetes.io/zone"
KEYS = {"name", "state", "files", "options", "only", "exit", "rounds", "usd", "saves", "existing",
        "claims", "zones", "unschedulable", "errors"}


class Failure(Exception):
    pass


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what} is\n  {json.dumps(found, sort_keys=True)}\nexpected\n"
                      f"  {json.dumps(wanted, sort_keys=True)}")


def run(taffrail, arguments, folder, text=None):
    done = subprocess.run([taffrail, "plan", *arguments], cwd=folder, capture_output=True,
                          input=text, encoding="utf-8", timeout=240, check=False)
    if done.returncode not in (0, 1, 2):
        raise Failure(f"ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return done


# ---- what a plan says, counted ----

def workload(pod):
    """web/shop-3 is a pod of shop, and so is web/shop-6f7d9c-3, whose ReplicaSet is older."""
    return re.sub(r"(-[0-9a-f]{6,10})?-[0-9]+$", "", pod.split("/")[1])


def counted(pods):
    return dict(collections.Counter(workload(pod) for pod in pods))


def documents(path):
    files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
    return [text for file in files for text in file.read_text(encoding="utf-8").split("\n---\n")]


def zone_of_nodes(folder, case):
    nodes = [yaml.safe_load(text) for text in documents(folder / case.get("state", "state"))]
    return {node["metadata"]["name"]: node["metadata"]["labels"][ZONE]
            for node in nodes if node and node["kind"] == "Node"}


def zones_of_pods(plan, node_zones):
    zones = collections.defaultdict(collections.Counter)
    for entry in plan["existing"]:
        for pod in entry["pods"]:
            zones[workload(pod)][node_zones[entry["node"]]] += 1
    for claim in plan["claims"]:
        for pod in claim["pods"]:
            zones[workload(pod)][claim["zone"]] += 1
    return {name: dict(counts) for name, counts in zones.items()}


FIELDS = {
    "pool": lambda claim: claim["nodePool"],
    "type": lambda claim: claim["instanceType"],
    "zones": lambda claim: claim["zones"],
    "pods": lambda claim: counted(claim["pods"]),
}


def check_claims(plan, wanted):
    """Each wanted claim says what it wants to say, times how many there are of it."""
    wanted = [{key: value for key, value in one.items() if key != "times"}
              for one in wanted for _ in range(one.get("times", 1))]
    keys = wanted[0].keys() if wanted else FIELDS.keys()
    found = [{key: FIELDS[key](claim) for key in keys} for claim in plan["claims"]]
    expect("claims", sorted(found, key=str), sorted(({key: one[key] for key in keys}
                                                     for one in wanted), key=str))


def check_unschedulable(plan, wanted):
    found = {entry["pod"]: entry["reasons"] for entry in plan["unschedulable"]}
    expect("unschedulable", sorted(found), sorted(wanted))
    for pod, reasons in wanted.items():
        expect(f"pools and kinds of {pod}", [[r["nodePool"], r["kind"]] for r in found[pod]],
               [[r["pool"], r["kind"]] for r in reasons])
        for reason, said in zip(reasons, found[pod]):
            for words in reason.get("says", []):
                if words not in f"{said['message']}; {said['nearest']}":
                    raise Failure(f"{pod}: {words!r} is not said in {json.dumps(said)}")


def check_sums(plan):
    """What holds for every plan: each pod is somewhere once, and the total is the claims'."""
    pods = [pod for entry in plan["existing"] + plan["claims"] for pod in entry["pods"]]
    pods += [entry["pod"] for entry in plan["unschedulable"]]
    expect("pods named twice", sorted(set(pods)), sorted(pods))
    expect("the sum of prices", plan["usdPerHour"],
           round(sum(claim["usdPerHour"] or 0 for claim in plan["claims"]), 6))
    for entry in plan["unschedulable"]:
        if not all(reason["message"] for reason in entry["reasons"]) or not entry["reasons"]:
            raise Failure(f"{entry['pod']} fits nowhere, and nothing says why")


def check_plan(plan, case, folder):
    check_sums(plan)
    if "rounds" in case:
        expect("rounds", plan["rounds"], case["rounds"])
    if "usd" in case:
        expect("usdPerHour", plan["usdPerHour"], case["usd"])
    if "saves" in case:
        expect("savedUsdPerHour", plan["optimize"]["savedUsdPerHour"], case["saves"])
    if "existing" in case:
        expect("existing", {e["node"]: counted(e["pods"]) for e in plan["existing"]},
               case["existing"])
    if "claims" in case:
        check_claims(plan, case["claims"])
    if "zones" in case:
        expect("zones", zones_of_pods(plan, zone_of_nodes(folder, case)), case["zones"])
    check_unschedulable(plan, case.get("unschedulable", {}))


# ---- order ----

def shuffled(folder, case, scratch, order):
    """The same cluster and changes, a document a file, all in another order."""
    state = pathlib.Path(scratch, "state")
    state.mkdir()
    texts = documents(folder / case.get("state", "state"))
    order.shuffle(texts)
    for number, text in enumerate(texts):
        (state / f"{number:03}.yaml").write_text(text, encoding="utf-8")
    texts = [text for name in case.get("files", []) for text in documents(folder / name)]
    order.shuffle(texts)
    arguments = ["--state", "state"]
    for number, text in enumerate(texts):
        pathlib.Path(scratch, f"{number:03}.yaml").write_text(text, encoding="utf-8")
        arguments += ["-f", f"{number:03}.yaml"]
    return arguments


def check_order(taffrail, folder, case, options, wanted, order):
    with tempfile.TemporaryDirectory() as scratch:
        again = run(taffrail, [*shuffled(folder, case, scratch, order), *options], scratch)
        if again.stdout != wanted:
            raise Failure(f"in another order the plan is another:\n{again.stdout}\ninstead of\n"
                          f"{wanted}")


# ---- what is too long to be written down ----

def check_long_pod(taffrail):
    """A pod of ten thousand labels, each chosen by a spread or an affinity of its own, has its place."""
    labels = {f"label-{number}": f"value-{number}" for number in range(10000)}
    spreads = [{"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {key: value}}}
               for key, value in list(labels.items())[:200]]
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "long", "namespace": "web", "labels": labels},
           "spec": {"topologySpreadConstraints": spreads, "containers": [{
               "name": "main", "image": "registry.example.com/long:1",
               "resources": {"requests": {"cpu": "1"}}}]}}
    for options in ([], ["--optimize"]):
        done = run(taffrail, ["--state", "pool", "-f", "-", "-o", "json", *options],
                   HERE / "bad-input", json.dumps(pod))
        case = {"claims": [{"type": "m5.large", "pods": {"long": 1}}]}
        check_ending(done, case)
        check_plan(json.loads(done.stdout), case, HERE)


# ---- cases ----

def check_ending(done, case):
    allowed = case.get("exit", [1 if case.get("unschedulable") else 0])
    if done.returncode not in allowed:
        raise Failure(f"exit code {done.returncode}, expected {allowed}\n{done.stderr}")
    for words in case.get("errors", []):
        if words not in done.stderr:
            raise Failure(f"{words!r} is not said in:\n{done.stderr}")
    for line in done.stderr.splitlines():
        if done.returncode != 2 or not re.match(r"error: [^:]+:\d+:\d+: .", line):
            raise Failure(f"not an error with its place: {line!r}")


def run_case(taffrail, folder, case, order):
    if not KEYS.issuperset(case):
        raise Failure(f"expected.yaml: unknown keys {sorted(set(case) - KEYS)}")
    arguments = ["--state", case.get("state", "state")]
    for name in case.get("files", []):
        arguments += ["-f", name]
    ways = {"compat": [], "optimize": ["--optimize"]}
    for way in [case["only"]] if "only" in case else ways:
        for output in ("json", "text") if way == "compat" else ("json",):
            options = [*case.get("options", []), *ways[way], "-o", output]
            done = run(taffrail, [*arguments, *options], folder)
            try:
                check_ending(done, case)
                if output == "json" and done.stdout:
                    check_plan(json.loads(done.stdout), case, folder)
                if done.returncode != 2:
                    check_order(taffrail, folder, case, options, done.stdout, order)
            except Failure as failure:
                raise Failure(f"{way}, {output}: {failure}") from failure


def all_cases(taffrail, names, seed):
    """What to print of each case, and the function that runs it."""
    for folder in sorted(path.parent for path in HERE.glob("*/expected.yaml")):
        if names and folder.name not in names:
            continue
        with open(folder / "expected.yaml", encoding="utf-8") as stream:
            cases = yaml.safe_load(stream)
        for case in cases:
            order = random.Random(f"{seed} {case['name']}")
            yield (f"{folder.name}: {case['name']}",
                   functools.partial(run_case, taffrail, folder, case, order))
    if not names:
        yield "a pod of ten thousand labels", functools.partial(check_long_pod, taffrail)


def main(taffrail, names):
    seed = int(os.environ.get("TEST_SEED", "1"))
    print(f"TEST_SEED={seed}")
    passed = failed = 0
    for title, check in all_cases(taffrail, names, seed):
        try:
            check()
            passed += 1
            print(f"ok      {title}")
        except Failure as failure:
            failed += 1
            print(f"FAILED  {title}\n{failure}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
