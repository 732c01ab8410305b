#!/usr/bin/python3
"""What another policy changes, and what holds for an object: `audit --compare`, `replay`, `policy
explain`; held against `check` and `audit`, which judge the same.

usage: policy_change.py TAFFRAIL"""

import datetime
import gzip
import json
import os
import pathlib
import subprocess
import sys

import yaml

sys.dont_write_bytecode = True  # nothing is written beside the tests
from serving import WAIT_S, check, run_tests

TAFFRAIL = sys.argv[1]
HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "audit-log" / "e2e.log"
SCENARIOS = HERE.parent / "scenarios"
EXPLAINED = ["match", "overrides", "team-documents"]
RAILS = ("topology-keys", "scheduler-bypass", "zones")


def policy(name, **spec):
    return {"apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": name},
            "spec": {"mode": "enforce", **spec}}


def write(folder, name, *documents):
    path = pathlib.Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n---\n".join(json.dumps(one) for one in documents), encoding="utf-8")
    return str(path)


def run(code, *arguments, given=None):
    """Standard output and standard error of a run that ends with this code."""
    no_cluster = {name: value for name, value in os.environ.items()
                  if name not in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST")}
    done = subprocess.run([TAFFRAIL, *map(str, arguments)], capture_output=True, timeout=WAIT_S,
                          env={**no_cluster, "HOME": "/nowhere"},
                          input=given, check=False)
    out, err = done.stdout.decode(), done.stderr.decode()
    check(done.returncode == code,
          f"{' '.join(map(str, arguments))}: ends with {done.returncode}, not {code}:\n{out}{err}")
    return out, err


def workload(kind, namespace, name, **spec):
    template = {"metadata": {"labels": {"app": name}}, "spec": {
        "containers": [{"name": "main", "image": "none"}], **spec}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"namespace": namespace, "name": name},
            "spec": {"selector": {"matchLabels": {"app": name}}, "template": template}}


def spread(key):
    return {"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}}}]}


BYPASS = {"schedulers": ["default-scheduler"]}
OLD = policy("p", rails={"topology-keys": {"mode": "warn"}, "scheduler-bypass": BYPASS},
             exceptions=[{"id": "X", "rails": ["scheduler-bypass"],
                          "match": {"namespaces": ["lab"]}, "expires": "2999-01-01"}])
NEW = policy("p", rails={"topology-keys": {}, "scheduler-bypass": {**BYPASS, "mode": "audit"}})

# ---- audit --compare

CLUSTER = [
    workload("Deployment", "web", "shop", **spread("zone")),                  # warned, denied
    workload("Deployment", "web", "fine", **spread("topology.kubernetes.io/zone")),
    workload("StatefulSet", "ml", "train", schedulerName="volcano"),          # denied, audited
    workload("Deployment", "lab", "both", schedulerName="volcano", **spread("zone")),
    {"apiVersion": "v1", "kind": "Pod",                                       # the Deployment's own
     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"app": "shop"},
                  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "shop-r",
                                       "uid": "r", "controller": True}]},
     "spec": {"containers": [{"name": "main", "image": "none"}],
              **spread("zone")}},
    {"apiVersion": "apps/v1", "kind": "ReplicaSet",
     "metadata": {"namespace": "web", "name": "shop-r", "uid": "r", "labels": {"app": "shop"},
                  "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "shop",
                                       "uid": "d", "controller": True}]},
     "spec": {"replicas": 1, **workload("x", "x", "shop", **spread("zone"))["spec"]}},
]
CLUSTER[0]["metadata"]["uid"] = "d"


def rows_of(out):
    report = json.loads(out)
    return {(row["difference"], row["rail"], row["namespace"], row["kind"], row["name"]): row
            for row in report["owners"]}, report


def a_change_is_told_by_owner(folder):
    for number, one in enumerate(CLUSTER):
        write(folder, f"state/{number}.json", one)
    state = os.path.join(folder, "state")
    old, new = write(folder, "old.json", OLD), write(folder, "new.json", NEW)
    out, _ = run(1, "audit", "--compare", old, new, "--state", state, "-o", "json")
    rows, report = rows_of(out)
    check(report["schema"] == "taffrail.dev/audit-compare/v1", report["schema"])
    check(set(rows) == {
        ("denied", "topology-keys", "web", "Deployment", "shop"),
        ("denied", "topology-keys", "lab", "Deployment", "both"),
        ("freed", "scheduler-bypass", "ml", "StatefulSet", "train"),
        ("audited", "scheduler-bypass", "lab", "Deployment", "both")}, f"rows: {sorted(rows)}")
    check(report["summary"]["denied"] == 2 and report["summary"]["freed"] == 1 and
          report["summary"]["judged"] == len(CLUSTER), f"summary: {report['summary']}")
    rails = {(one["rail"], one["namespace"]): one for one in report["rails"]}
    check(rails["topology-keys", "web"]["denied"] == 1, f"rails: {rails}")

    # Each side is what an audit of it says.
    for side, paths in (("before", old), ("after", new)):
        audited, _ = run(1, "audit", "-p", paths, "--state", state, "-o", "json")
        actions = {(f["rail"], f["namespace"], f["kind"], f["name"]): f["action"]
                   for f in json.loads(audited)["findings"]}
        for (_, *key), row in rows.items():
            check(row[side] == actions.get(tuple(key), "none"), f"{side} of {key}: {row[side]}")

    text, _ = run(1, "audit", "--compare", old, "-p", new, "--state", state)
    check(text.startswith("2 newly denied, 1 freed, 1 newly audited; 6 objects judged\n"), text)
    check("      Deployment shop: spec.template.spec.topologySpreadConstraints[0].topologyKey: "
          in text, text)
    check("audited now" in text, text)
    # The other way round two are freed, and one is denied.
    out, _ = run(1, "audit", "--compare", new, old, "--state", state, "-o", "json")
    check({key[0] for key in rows_of(out)[0]} == {"freed", "denied", "cleared"} or
          len(rows_of(out)[0]) == 4, out)
    run(0, "audit", "--compare", old, old, "--state", state)
    # Where the new policy hangs on labels that nobody sees, nobody is freed.
    unseen = write(folder, "unseen.json", policy("p", rails=OLD["spec"]["rails"], match={
        "namespaceSelector": {"matchLabels": {"a": "b"}}}))
    out, _ = run(0, "audit", "--compare", old, unseen, "--state", state, "-o", "json")
    rows, report = rows_of(out)
    check(not rows and report["summary"]["undecided"] == 4, out)
    # Nor are those that the new policy cannot decide of.
    for name in "cde":
        write(folder, f"racks/{name}.json", workload("Deployment", name, name, **spread("example.com/rack")))
    strict, seeing = (write(folder, f"{pools}.json", policy("p", rails={"topology-keys": {"fromNodePools": pools}}))
                      for pools in (False, True))
    for pair in ((strict, seeing), (seeing, strict)):
        out, _ = run(0, "audit", "--compare", *pair, "--state", os.path.join(folder, "racks"), "-o", "json")
        rows, report = rows_of(out)
        check(not rows and report["summary"]["undecided"] == 3, out)
    # Of Pods whose ReplicaSet is not seen the names tell whose they are.
    left = json.loads(json.dumps(CLUSTER[4]))
    left["metadata"].update(name="left-1", labels={"app": "left", "pod-template-hash": "5d4f8c7b9"})
    left["metadata"]["ownerReferences"][0]["name"] = "left-5d4f8c7b9"
    write(folder, "left/pod.json", left)
    out, _ = run(1, "audit", "--compare", old, new, "--state", os.path.join(folder, "left"), "-o", "json")
    check(set(rows_of(out)[0]) == {("denied", "topology-keys", "web", "Deployment", "left")}, out)
    run(0, "audit", "--compare", old, new, "--state", state, "--fail-on", "never")
    # Who is newly warned fails where warnings do.
    none = write(folder, "none.json", policy("p", rails={"zones": {}}))
    warning = write(folder, "warning.json", policy("p", mode="warn", rails={"topology-keys": {}}))
    for code, fail_on in ((0, "deny"), (1, "warn"), (0, "never")):
        out, _ = run(code, "audit", "--compare", none, warning, "--state", state, "--fail-on", fail_on)
        check("newly warned" in out, out)
    run(0, "audit", "--compare", warning, none, "--state", state, "--fail-on", "warn")
    _, err = run(2, "audit", "--compare", old, "--state", state)
    check("wants the new policies, too" in err, err)
    _, err = run(2, "audit", "--compare", old, new, "--state", state, "-o", "sarif")
    check("text or json" in err, err)


# ---- replay

def event(verb, resource, obj, *, code=201, user="jane", groups=(), level="Request", query="",
          subresource=None, response=None, message="", stage="ResponseComplete", annotations=None):
    meta = (response or obj or {}).get("metadata", {})
    ref = {"resource": resource, "namespace": meta.get("namespace", "default"),
           "apiVersion": "v1", "apiGroup": "" if resource in ("pods", "secrets") else "apps",
           **({"name": meta["name"]} if "name" in meta else {}),
           **({"subresource": subresource} if subresource else {})}
    return {"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": level, "auditID": "a",
            "stage": stage, "verb": verb, "requestURI": f"/api/x{query}",
            "user": {"username": user, "groups": list(groups)}, "objectRef": ref,
            "responseStatus": {"code": code, "message": message},
            **({"requestObject": obj} if obj else {}), **({"responseObject": response} if response else {}),
            "requestReceivedTimestamp": "2026-11-23T01:42:16.000000Z",
            "annotations": annotations or {}}


def pod(name, namespace="web", **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": namespace, "name": name},
            "spec": {"containers": [{"name": "main", "image": "none"}], **spec}}


def of_replica_set(one, name, template_hash):
    one["metadata"].pop("name")
    one["metadata"].update(generateName=name + "-", labels={"pod-template-hash": template_hash},
                           ownerReferences=[{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                                             "name": name, "uid": "u", "controller": True}])
    return one


def of_job(one, name):
    one = of_replica_set(one, name, "none")
    one["metadata"]["ownerReferences"][0].update(apiVersion="batch/v1", kind="Job")
    return one


JOBS = "system:serviceaccount:kube-system:job-controller"
DENIAL = ('admission webhook "rails.taffrail.dev" denied the request: denied by compute guard rails: '
          "2 problems in Pod web/x: scheduler-bypass, zones\n1. scheduler-bypass ...")
CONTROLLER = "system:serviceaccount:kube-system:replicaset-controller"
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "web"},
          "data": {"password": "aHVudGVyMg=="}}
BAD, FINE = spread("zone"), spread("topology.kubernetes.io/zone")
EVENTS = [
    event("create", "pods", pod("one", **BAD)),
    event("create", "pods", pod("one", **BAD)),
    event("create", "pods", pod("one", **BAD), user="joe"),
    event("create", "pods", pod("one", **BAD), stage="RequestReceived"),
    event("create", "pods", pod("fine", **FINE)),
    event("create", "pods", of_replica_set(pod("", **BAD), "shop-abc12", "abc12"), user=CONTROLLER),
    event("create", "pods", of_replica_set(pod("", **BAD), "shop-def34", "def34"), user=CONTROLLER),
    *(event("create", "pods", of_job(pod("", **BAD), f"nightly-2940{minute}"), user=JOBS)
      for minute in (1320, 2760, 4200)),
    event("create", "pods", pod("x", schedulerName="volcano"), code=403, message=DENIAL),
    event("create", "pods", pod("y", **BAD), query="?dryRun=All"),
    event("create", "pods", pod("z", **BAD), code=409),
    event("create", "pods", pod("z", **BAD), subresource="eviction"),
    event("create", "pods", None, level="Metadata"),
    event("delete", "pods", pod("one")),
    event("list", "pods", None),
    event("create", "secrets", SECRET),
    # What was there before is not new; what is new is.
    event("create", "deployments", workload("Deployment", "web", "old", **BAD)),
    event("update", "deployments", workload("Deployment", "web", "old", **BAD, hostNetwork=True)),
    event("update", "deployments", workload("Deployment", "web", "fresh", **FINE), code=200),
    event("update", "deployments", workload("Deployment", "web", "fresh", **BAD), code=200),
    event("patch", "deployments", {"spec": {}}, code=200),
    event("patch", "deployments", {"spec": {}}, code=200, level="RequestResponse",
          response=workload("Deployment", "web", "fresh", **spread("hostname"))),
    event("patch", "deployments", {"spec": {}}, code=201, level="RequestResponse",
          response=workload("Deployment", "web", "applied", **BAD)),
]
REPLAYED = {
    ("denied", "topology-keys", "web", "Pod", "one", "jane"): 2,
    ("denied", "topology-keys", "web", "Pod", "one", "joe"): 1,
    ("denied", "topology-keys", "web", "Deployment", "shop", CONTROLLER): 2,
    ("denied", "topology-keys", "web", "Job", "nightly-*", JOBS): 3,
    ("denied", "topology-keys", "web", "Deployment", "old", "jane"): 1,
    ("denied", "topology-keys", "web", "Deployment", "fresh", "jane"): 2,
    ("denied", "topology-keys", "web", "Deployment", "applied", "jane"): 1,
    ("freed", "scheduler-bypass", "web", "Pod", "x", "jane"): 1,
    ("freed", "zones", "web", "Pod", "x", "jane"): 1,
}
COUNTS = {"judged": 15, "withoutObject": 1, "patchesWithoutResult": 1, "updatesOfUnseen": 1,
          "subresources": 1, "dryRuns": 1, "deletes": 1, "failedThen": 1, "otherRequests": 2}
TOPOLOGY = policy("p", rails={"topology-keys": {}})


def lines(events):
    return "".join(json.dumps(one) + "\n" for one in events).encode()


def replayed(out):
    report = json.loads(out)
    return {(row["difference"], row["rail"], row["namespace"], row["kind"], row["name"],
             row["user"]): row["count"] for row in report["owners"]}, report


def requests_are_judged_anew(folder):
    new = write(folder, "new.json", TOPOLOGY)
    log = pathlib.Path(folder, "audit.log")
    log.write_bytes(lines(EVENTS))
    out, err = run(1, "replay", log, "-p", new, "-o", "json")
    rows, report = replayed(out)
    check(rows == REPLAYED, f"rows: {json.dumps([[*map(str, k), v] for k, v in rows.items()], indent=1)}")
    check(report["schema"] == "taffrail.dev/replay/v1", report["schema"])
    found = {key: report["summary"][key] for key in COUNTS}
    check(found == COUNTS, f"counts: {found}")
    # An owner counts once, whoever asked for it; in the table by rail as in the total.
    denied = sum(one["denied"] for one in report["rails"])
    check((denied, report["summary"]["denied"]) == (6, 6), f"denied: {report['rails']}, {report['summary']}")
    text, err = run(1, "replay", log, "-p", new)
    check("Deployment shop, by " + CONTROLLER + " (2 requests): spec.topologySpread" in text, text)
    for secret in ("aHVudGVyMg", "hunter2"):
        check(secret not in out + text + err, "a secret is printed")

    # Against the policies until now: what was decided then does not count.
    old = write(folder, "old.json", policy("o", rails={"topology-keys": {"mode": "warn"},
                                                       "scheduler-bypass": BYPASS}))
    rows, _ = replayed(run(1, "replay", log, "-p", new, "--against", old, "-o", "json")[0])
    check(("freed", "scheduler-bypass", "web", "Pod", "x", "jane") in rows, rows)
    check(("freed", "zones", "web", "Pod", "x", "jane") not in rows, rows)
    check(rows["denied", "topology-keys", "web", "Pod", "one", "jane"] == 2, rows)
    unseen = write(folder, "unseen.json", policy("p", rails={"topology-keys": {}}, match={
        "namespaceSelector": {"matchLabels": {"a": "b"}}}))
    rows, report = replayed(run(0, "replay", log, "-p", unseen, "--against", new, "-o", "json")[0])
    check(not rows and report["summary"]["undecided"] > 0, f"undecided: {rows}")
    rows, _ = replayed(run(1, "replay", log, "-p", old, "--against", new, "-o", "json")[0])
    check(rows["freed", "topology-keys", "web", "Pod", "one", "jane"] == 2, rows)


def a_change_alone_may_be_judged(folder):
    """change-impact judges no pool that is made, only what becomes of it."""
    impact = SCENARIOS / "change-impact"
    old, new = (yaml.safe_load((impact / name).read_text()) for name in ("general.yaml", "general-labelled.yaml"))
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "web"},
             "spec": {"accessModes": ["ReadWriteOnce"]}}
    log = pathlib.Path(folder, "audit.log")
    log.write_bytes(lines([{**event(verb, resource, one), "objectRef": {
        "resource": resource, "apiGroup": group, "apiVersion": "v1", "name": one["metadata"]["name"],
        "namespace": one["metadata"].get("namespace", "")}} for verb, resource, group, one in (
            ("create", "nodepools", "karpenter.sh", old), ("update", "nodepools", "karpenter.sh", new),
            ("delete", "nodepools", "karpenter.sh", new), ("create", "persistentvolumeclaims", "", claim),
            ("delete", "persistentvolumeclaims", "", claim))]))
    out, _ = run(1, "replay", log, "-p", impact / "policy.yaml", "--state", impact / "state", "-o", "json")
    rows, report = replayed(out)
    check(rows == {("denied", "change-impact", "", "NodePool", "general", "jane"): 1}, out)
    found = {key: report["summary"][key] for key in ("judged", "deletes", "otherRequests")}
    check(found == {"judged": 2, "deletes": 2, "otherRequests": 1}, found)


def exports_are_read_as_they_come(folder):
    """The same events, in every form in which they leave an API server or EKS."""
    new = write(folder, "new.json", TOPOLOGY)
    whole = lines(EVENTS)
    messages = [{"timestamp": 1, "message": json.dumps(one), "ingestionTime": 2} for one in EVENTS]
    stamped = b"".join(b"2026-11-23T01:42:16.000Z " + line for line in whole.splitlines(True))
    forms = {
        "plain.log": whole,
        "crlf.log": whole.replace(b"\n", b"\r\n"),
        "no-newline.log": whole.rstrip(b"\n"),
        "lines.gz": gzip.compress(whole),
        "several.gz": b"".join(gzip.compress(line) for line in whole.splitlines(True)),
        "export/task/kube-apiserver-audit-1/000000.gz": gzip.compress(stamped),
        "aws-logs.json": json.dumps({"nextToken": "a{\"[", "events": messages,
                                     "searchedLogStreams": []}, indent=4).encode(),
        "aws-logs-line.json": json.dumps({"events": messages}).encode(),
        "subscription": b"".join(json.dumps({"messageType": "DATA_MESSAGE",
                                             "logEvents": [one]}).encode() for one in messages),
        "list.json": json.dumps({"kind": "EventList", "apiVersion": "audit.k8s.io/v1",
                                 "items": EVENTS}, indent=1).encode(),
        "pretty.json": "\n".join(json.dumps(one, indent=2) for one in EVENTS).encode(),
    }
    for name, content in forms.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        out, _ = run(1, "replay", path, "-p", new, "-o", "json")
        check(replayed(out)[0] == REPLAYED, f"{name}: {out}")
        out, _ = run(1, "replay", "-", "-p", new, "-o", "json", given=content)
        check(replayed(out)[0] == REPLAYED, f"{name} on standard input: {out}")
    out, _ = run(1, "replay", pathlib.Path(folder, "export"), "-p", new, "-o", "json")
    check(replayed(out)[0] == REPLAYED, f"a folder: {out}")
    # What a link leads to is read, and once; what cannot be read is an error.
    linked = pathlib.Path(folder, "linked")
    linked.mkdir()
    (linked / "current.log").symlink_to(pathlib.Path(folder, "plain.log"))
    (linked / "again.log").symlink_to("current.log")
    (linked / "back").symlink_to(linked)
    (linked / "export").symlink_to(pathlib.Path(folder, "export/empty"))
    pathlib.Path(folder, "export/empty").mkdir()
    out, _ = run(1, "replay", linked, "-p", new, "-o", "json")
    check(replayed(out)[0] == REPLAYED, f"a folder of links: {out}")
    (linked / "gone.log").symlink_to("nowhere.log")
    os.mkfifo(linked / "pipe")
    out, _ = run(2, "replay", linked, "-p", new, "-o", "json")
    rows, report = replayed(out)
    check(rows == REPLAYED, f"a folder of links: {out}")
    said = [(os.path.basename(error["file"]), error["message"]) for error in report["errors"]]
    check(said == [("gone.log", "cannot be read: it is a link to what is not there"),
                   ("pipe", "is neither a file nor a folder, so it is not read")], f"errors: {said}")


def what_is_cut_costs_itself(folder):
    new = write(folder, "new.json", TOPOLOGY)
    good = lines(EVENTS[:1])
    def judge(name, content, *said, code=2):
        path = pathlib.Path(folder, name)
        path.write_bytes(content)
        out, err = run(code, "replay", path, "-p", new, "-o", "json")
        errors = json.loads(out)["errors"]
        for part in said:
            check(any(part in f"{e['line']} {e['message']}" for e in errors), f"{name}: {errors}")
        check(len(errors) == len(said), f"{name}: {errors}")
        return json.loads(out)["summary"]
    for cut in (10, 200, len(good) - 3):
        summary = judge("end.log", good + good[:cut], "2 an event breaks off here")
        check(summary["judged"] == 1, f"cut at {cut}: {summary}")
        summary = judge("middle.log", good + good[:cut] + b"\n" + good, "2 an event breaks off here")
        check(summary["judged"] == 2, f"cut at {cut} in the middle: {summary}")
        summary = judge("begin.log", good[:cut] + b"\n" + good, "1 an event breaks off here")
        check(summary["judged"] == 1, f"cut at {cut} at the beginning: {summary}")
    _, err = run(2, "replay", "-", "-p", new, given=good + good[:10])
    check("<stdin>:2: an event breaks off here" in err, err)
    _, err = run(2, "replay", "-", "-p", new, given=gzip.compress(good)[:20])
    check("<stdin>: it ends in the middle of its gzip data" in err, err)
    _, err = run(2, "replay", "-", "-p", new, given=b"")
    check("<stdin>: it holds no audit event" in err, err)
    packed = gzip.compress(lines(EVENTS * 20))
    summary = judge("cut.gz", packed[:len(packed) // 2], "it ends in the middle of its gzip data",
                    "an event breaks off here")
    check(summary["judged"] > 12, summary)
    broken = bytearray(gzip.compress(os.urandom(1 << 16) + good))
    broken[len(broken) // 2] ^= 0xFF
    path = pathlib.Path(folder, "broken.gz")
    path.write_bytes(bytes(broken))
    _, err = run(2, "replay", path, "-p", new)
    check("gzip data is damaged" in err, err)
    judge("none.log", b"I1123 started\nno json here\n", "it holds no audit event")
    judge("empty.log", b"", "it holds no audit event")
    summary = judge("mixed.log", b"# a header\n" + good + b"[1, 2]\n{\"a\": 1}\n", code=1)
    check(summary["otherRecords"] == 3, summary)
    judge("deep.log", good + b'{"requestObject":' + b"[" * 100000 + b"\n", "2 an event breaks off")
    summary = judge("invalid.log", good + good.replace(b'"Event"', b'"Event",,') , code=1)
    check(summary["otherRecords"] == 1, summary)
    _, err = run(2, "replay", os.path.join(folder, "nowhere.log"), "-p", new)
    check("cannot be opened: No such file" in err, err)


def a_real_log_is_replayed(folder):
    """Of a real API server, with a real Taffrail before it: its denials then, and what now is."""
    events = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    denied = [one for one in events if one["responseStatus"].get("code") == 403 and
              "dryRun" not in one["requestURI"]]
    new = write(folder, "new.json", policy("p", rails={"resource-requests": {"min": {"cpu": "64"}}}))
    rows, report = replayed(run(1, "replay", RECORDED, "-p", new, "-o", "json")[0])
    check(report["summary"]["otherRecords"] == 0 and not report["errors"], report["summary"])
    check(any(key[0] == "freed" for key in rows) and denied, f"rows: {rows}")
    # What is created is denied, as check denies it.
    for one in events:
        if (one["verb"], one["objectRef"]["resource"]) != ("create", "pods") or \
                one["responseStatus"]["code"] != 201 or "requestObject" not in one or \
                "dryRun" in one["requestURI"] or one["objectRef"].get("subresource"):
            continue
        manifest = write(folder, "pod.json", one["requestObject"])
        out, _ = run(1, "check", "-p", new, "-f", manifest, "-o", "json", "--as",
                     one["user"]["username"])
        name = one["requestObject"]["metadata"].get("name")
        wanted = any(f["action"] == "deny" for f in json.loads(out)["findings"])
        found = any(key[0] == "denied" and key[4] == name for key in rows)
        check(wanted == found, f"{name}: check {wanted}, replay {found}")


# ---- documents of exceptions in a pipeline's tests

def documents_are_tested_together(folder):
    """Also by a case of the past, to which an exception of today may last longer than is granted."""
    today = datetime.date.today()
    day = datetime.timedelta(days=1)
    write(folder, "base.json", policy("base", rails={"scheduler-bypass": BYPASS}, grants=[
        {"owner": "ml", "rails": ["scheduler-bypass"], "maxDuration": "1440h"}]))
    write(folder, "manifest.json", workload("Deployment", "ml", "train", schedulerName="volcano"))

    def team(days):
        write(folder, "team.json", {
            "apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRailExceptions",
            "metadata": {"name": "t"}, "spec": {"policies": ["base"], "owner": "ml", "exceptions": [
                {"id": "e", "rails": ["scheduler-bypass"], "expires": str(today + days * day)}]}})

    team(50)
    cases = [{"name": "the team may", "policies": ["base.json", "team.json"],
              "manifest": "manifest.json", "now": str(today - 100 * day),
              "findings": [{"rail": "scheduler-bypass", "exception": "t/e"}]},
             {"name": "others may not", "policy": "base.json", "manifest": "manifest.json",
              "findings": [{"rail": "scheduler-bypass", "action": "deny"}]}]
    pathlib.Path(folder, "cases.yaml").write_text(json.dumps(cases), encoding="utf-8")
    out, _ = run(0, "test", folder)
    check("2 passed, 0 failed" in out, out)
    team(70)
    out, err = run(1, "test", folder)
    check("the exception t/e ends later than the policy \"base\" grants \"ml\"" in out + err, out + err)
    # Whoever reads policies refuses it: render would install it, serve load it.
    arguments = ["-p", os.path.join(folder, "base.json"), "-p", os.path.join(folder, "team.json")]
    for command in (["check", "-f", os.path.join(folder, "manifest.json")],
                    ["audit", "--state", folder], ["render", "--image", "a/b:1"],
                    ["serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0", "--cert-dir",
                     os.path.join(folder, "certificates")]):
        _, err = run(2, *command, *arguments)
        check("ends later than the policy" in err, f"{command[0]}: {err}")


# ---- policy explain

def what_holds_is_what_is_found(_):
    """A finding is never stricter than what is said to hold, and excepted and moved as is said."""
    import yaml
    compared = 0
    for folder in EXPLAINED:
        place = SCENARIOS / folder
        for case in yaml.safe_load((place / "cases.yaml").read_text()):
            manifest = place / case["manifest"]
            if "old" in case or case.get("operation") or "state" in case:
                continue
            arguments = ["-p", place / "policy.yaml", "-f", manifest, "-o", "json",
                         "--as", case.get("user", "jane")]
            for group in case.get("groups", []):
                arguments += ["--as-group", group]
            if (place / "state").is_dir():
                arguments += ["--state", place / "state"]
            done = subprocess.run([TAFFRAIL, "check", *map(str, arguments)], capture_output=True,
                                  text=True, check=False)
            findings = json.loads(done.stdout)["findings"]
            holds = {}
            for one in json.loads(run(0, "policy", "explain", *arguments)[0])["objects"]:
                for stands in one["policies"]:
                    for rail in stands["rails"]:
                        holds[one["kind"], one["namespace"], one["name"], stands["policy"],
                              rail["rail"]] = rail
            for finding in findings:
                key = tuple(finding[k] for k in ("kind", "namespace", "name", "policy", "rail"))
                rail = holds.get(key)
                check(rail is not None, f"{folder}: {key} does not hold")
                if finding["undecided"]:
                    continue
                order = ["none", "excepted", "audit", "warn", "deny"]
                check(order.index(finding["action"]) <= order.index(rail["action"]) and
                      (finding["action"] == "excepted") == (rail["action"] == "excepted"),
                      f"{folder}: {key} is {finding['action']}, and {rail['action']} holds")
                parts = {part["part"]: part for part in rail["parts"]}
                check(finding["override"] == parts.get("override", {}).get("id"),
                      f"{folder}: {key}: {parts}")
                check(finding["exception"] == parts.get("exception", {}).get("id"),
                      f"{folder}: {key}: {parts}")
                for part in parts.values():
                    line = pathlib.Path(part["file"]).read_text().splitlines()[part["line"] - 1]
                    check(part.get("id", "").split("/")[-1] in line or part["part"] != "exception",
                          f"{folder}: {part} is not at {line}")
                compared += 1
    check(compared > 20, f"only {compared} findings were compared")


def what_holds_is_said_with_its_place(folder):
    place = SCENARIOS / "team-documents"
    text, _ = run(0, "policy", "explain", "-p", place / "policy.yaml", "-f", place / "lab.yaml")
    check("\n    scheduler-bypass  excepted   " in text and "policy.yaml:28 says enforce for all rails; "
          "exception ml/EX-12 (" in text and "of team-ml lifts it until 2999-12-31: volcano" in text,
          text)
    check("topology-keys     audit      " in text and "override ml/soft" in text, text)
    base = write(folder, "p.json", policy("p", rails={"topology-keys": {}},
                                          match={"kinds": ["NodePool"]}))
    text, _ = run(0, "policy", "explain", "-p", base, "-f", place / "lab.yaml")
    check("is not for it: match.kinds (" in text, text)
    state = os.path.join(folder, "state")
    write(folder, "state/d.json", workload("Deployment", "web", "shop"))
    text, _ = run(0, "policy", "explain", "-p", place / "policy.yaml", "deploy/shop", "-n", "web",
                  "--state", state)
    check(text.startswith("Deployment web/shop\n"), text)
    _, err = run(2, "policy", "explain", "-p", base, "deploy/nobody", "--state", state)
    check("there is no Deployment default/nobody in " in err, err)
    _, err = run(2, "policy", "explain", "-p", base, "deploy/nobody")
    check("no cluster is given" in err and "--state DIR" in err, err)
    _, err = run(2, "policy", "explain", "-p", base, "frob/nobody", "--state", state)
    check("is no KIND/NAME" in err, err)


run_tests(a_change_is_told_by_owner, requests_are_judged_anew, a_change_alone_may_be_judged,
          exports_are_read_as_they_come, what_is_cut_costs_itself, a_real_log_is_replayed,
          documents_are_tested_together, what_holds_is_what_is_found, what_holds_is_said_with_its_place)
