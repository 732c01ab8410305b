#!/usr/bin/python3
"""Runs the scenarios: each folder's cases through `taffrail check` and through `taffrail serve` over
verified TLS, and holds the findings of both against what the case expects and against each other. A
case with `changes` is sent to /mutate, too: the patch is applied, and the pod sent again.

usage: run.py TAFFRAIL [FOLDER ...]
"""

import base64
import concurrent.futures
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import pathlib

import yaml

from every_kind import scenario_folders
from reviews import Failure, Server, kubectl_yaml, review_of

HERE = pathlib.Path(__file__).resolve().parent
LISTED = ("rail", "action", "policy", "field", "found", "undecided", "preExisting")


def state_arguments(folder, case):
    state = case.get("state", "state" if (folder / "state").is_dir() else None)
    return ["--state", str(folder / state)] if state else []


def serve(taffrail, folder, case, scratch):
    policy = ["-p", str(folder / "policy.yaml")]
    return Server(taffrail, policy + state_arguments(folder, case), scratch)


def findings_of_check(taffrail, folder, case):
    command = [taffrail, "check", "-p", str(folder / "policy.yaml"), "-o", "json",
               "-f", str(folder / case["manifest"]), "--as", case.get("user", "jane")]
    for group in case.get("groups", []):
        command += ["--as-group", group]
    run = subprocess.run(command + state_arguments(folder, case), capture_output=True, text=True)
    report = json.loads(run.stdout or "null")
    if report is None or report["errors"]:
        raise Failure(f"check failed ({run.returncode}): {run.stderr}{run.stdout}")
    denied = any(f["action"] == "deny" for f in report["findings"])
    if run.returncode != (1 if denied else 0):
        raise Failure(f"check: exit code {run.returncode}")
    if case.get("loadWarns", "") not in run.stderr:
        raise Failure(f"check does not warn of {case['loadWarns']!r}:\n{run.stderr}")
    return report["findings"]


def findings_of_serve(taffrail, folder, case):
    with tempfile.TemporaryDirectory() as scratch:
        server = serve(taffrail, folder, case, scratch)
        try:
            answers = []
            documents = kubectl_yaml(folder / case["manifest"])
            olds = kubectl_yaml(folder / case["old"]) if "old" in case else [None]
            for number, document in enumerate(documents):
                old = olds[number] if number < len(olds) else None
                answers.append(server.review(review_of(f"uid-{number}", document, old, case)))
        finally:
            trail = server.stop()
    for number, answer in enumerate(answers):
        if answer["uid"] != f"uid-{number}":
            raise Failure(f"the answer's uid is {answer['uid']}")
        check_answer(answer, [line for line in trail if line["uid"] == answer["uid"]], case)
    return [f for line in trail for f in line["findings"]], answers


# ---- changes


def patched(document, patch):
    """RFC 6902 as far as it is used; the rest is a failure."""
    document = copy.deepcopy(document)
    for operation in patch:
        if operation["op"] != "add":
            raise Failure(f"an operation {operation['op']!r}")
        *way, last = [token.replace("~1", "/").replace("~0", "~")
                      for token in operation["path"].split("/")[1:]]
        parent = document
        for token in way:
            parent = parent[int(token) if isinstance(parent, list) else token]
        if not isinstance(parent, list):
            parent[last] = operation["value"]
        elif last == "-":
            parent.append(operation["value"])
        else:
            parent.insert(int(last), operation["value"])
    return document


def value_at(document, path):
    for key in path.split("."):
        document = document.get(key) if isinstance(document, dict) else None
    return document


def change_one(server, number, document, case):
    """The document as /mutate leaves it."""
    answer = server.review(review_of(f"change-{number}", document, None, case), "/mutate")
    if not answer["allowed"] or ("patch" in answer) != (answer.get("patchType") == "JSONPatch"):
        raise Failure(f"/mutate answers {answer}")
    if "changeWarnings" in case and answer.get("warnings", []) != case["changeWarnings"]:
        raise Failure(f"/mutate warns {answer.get('warnings')}")
    if "patch" not in answer:
        return document
    changed = patched(document, json.loads(base64.b64decode(answer["patch"])))
    again = server.review(review_of(f"again-{number}", changed, None, case), "/mutate")
    if "patch" in again:
        raise Failure(f"asked again, it adds {base64.b64decode(again['patch'])}")
    return changed


def check_changes(taffrail, folder, case):
    documents = kubectl_yaml(folder / case["manifest"])
    with tempfile.TemporaryDirectory() as scratch:
        server = serve(taffrail, folder, case, scratch)
        try:
            after = [change_one(server, n, document, case) for n, document in enumerate(documents)]
        finally:
            trail = server.stop()
    changes = [c for line in trail for c in line.get("changes", [])
               if line["uid"].startswith("change-")]
    if len(changes) != len(case["changes"]) or not all(map(matches, changes, case["changes"])):
        raise Failure(f"changes\n{json.dumps(changes, indent=1)}\nexpected\n"
                      f"{json.dumps(case['changes'], indent=1)}")
    for path, wanted in case.get("after", {}).items():
        if value_at(after[0], path) != wanted:
            raise Failure(f"{path} is {value_at(after[0], path)}, not {wanted}")


def check_answer(answer, lines, case):
    """An answer, its trail and the message must tell the same story."""
    findings = [f for line in lines for f in line["findings"]]
    denied = [f for f in findings if f["action"] == "deny"]
    if answer["allowed"] == bool(denied):
        raise Failure(f"allowed is {answer['allowed']} with {len(denied)} denying findings")
    if denied:
        status = answer["status"]
        causes = [cause["field"] for cause in status["details"]["causes"]]
        if status["code"] != 403 or status["reason"] != "Forbidden":
            raise Failure(f"denied with {status['code']} {status['reason']}")
        if causes != [f["field"] for f in denied]:
            raise Failure(f"causes {causes} are not the denying findings")
        for finding in denied:
            if finding["field"] not in status["message"]:
                raise Failure(f"the message does not name {finding['field']}")
    for warning in answer.get("warnings", []):
        if len(warning) > 120 or re.search(r"[\x00-\x1f\x7f]", warning):
            raise Failure(f"bad warning {warning!r}")
    if "allowed" in case and answer["allowed"] != case["allowed"]:
        raise Failure(f"allowed is {answer['allowed']}")


def matches(finding, expected):
    for key, value in expected.items():
        actual = finding.get(key)
        if key in ("undecided", "preExisting"):
            actual = bool(actual)
        if key == "message":
            if value not in actual:
                return False
        elif actual != value:
            return False
    return True


def expect(source, findings, case, known):
    expected = [{k: v for k, v in e.items() if k in known} for e in case["findings"]]
    if len(findings) != len(expected) or not all(map(matches, findings, expected)):
        raise Failure(f"{source} found\n{json.dumps(findings, indent=1)}\nexpected\n"
                      f"{json.dumps(expected, indent=1)}")


def without_unseen(case, checked):
    """Where nothing of a kind is visible, the server says so at load, and a check once; what is
    said of each object has the words that `taffrail test` compares."""
    rails = {f["rail"] for f in checked if f["unseen"]}
    told = [f["rail"] for f in case["findings"] if f.get("undecided")]
    if not rails <= set(told):
        raise Failure(f"check says what is not expected of {rails - set(told)}")
    findings = [f for f in case["findings"] if not (f.get("undecided") and f["rail"] in rails)]
    return {**case, "findings": findings}, [f for f in checked if not f["unseen"]]


def run_case(taffrail, folder, case):
    served, _ = findings_of_serve(taffrail, folder, case)
    if "changes" in case:
        check_changes(taffrail, folder, case)
    if "old" in case or case.get("deleted"):
        expect("serve", served, case, LISTED)
        return
    case, checked = without_unseen(case, findings_of_check(taffrail, folder, case))
    expect("serve", served, case, LISTED)
    expect("check", checked, case, checked[0].keys() if checked else ())
    for a, b in zip(served, checked):
        for key in ("rail", "action", "policy", "field", "found"):
            if a[key] != b[key]:
                raise Failure(f"serve says {key} {a[key]!r}, check {b[key]!r}")
    if len(served) != len(checked):
        raise Failure(f"serve has {len(served)} findings, check {len(checked)}")


def problem_of_case(taffrail, folder, case):
    try:
        run_case(taffrail, folder, case)
    except Failure as failure:
        return str(failure)
    return None


def main(taffrail, names):
    failed = 0
    with scenario_folders() as folders, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = [(folder, case, pool.submit(problem_of_case, taffrail, folder, case))
                 for folder in folders if not names or folder.name in names
                 for case in yaml.safe_load((folder / "cases.yaml").read_text(encoding="utf-8"))]
        for folder, case, running in cases:
            problem = running.result()
            failed += problem is not None
            print(f"ok      {folder.name}: {case['name']}" if problem is None
                  else f"FAILED  {folder.name}: {case['name']}\n{problem}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
