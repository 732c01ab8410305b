#!/usr/bin/python3
"""Whether the scenarios hold every rail to all that a policy can make of it. What a case expects is read
from its cases.yaml, and set against what `taffrail check` says of it (scenarios.test runs the cases
themselves, through check and serve). For each rail there must be

  find       a finding that denies, or a change that is applied
  near miss  an object of its kinds of which it says nothing, where it finds others
  KIND       a finding on an object of each kind that `taffrail explain` names
  exception, warn, audit
             a finding, or a change, of each outcome
  since      of a Pod: one that is warned of under a policy with `since`, and denied without

usage: coverage.py TAFFRAIL
"""

import copy
import pathlib
import re
import subprocess
import sys
import tempfile
import json

import yaml

import run
from every_kind import scenario_folders
from reviews import kubectl_yaml

# What cannot be, and why.
IMPOSSIBLE = {
    ("cost", "since"): "the Pods of a workload count with it",
    ("resource-claims", "since"): "of pods it only warns",
    ("zone-pin", "since"): "it changes pods, and finds only what is never denied",
}
# Rails that judge no new object, only updates and deletions.
CHANGES = {"change-impact"}
OUTCOMES = {
    "exception": ("excepted", "excepted"),
    "warn": ("warn", "warned"),
    "audit": ("audit", "audited"),
    "find": ("deny", "applied"),
}


def output(taffrail, *arguments):
    return subprocess.run([taffrail, *arguments], capture_output=True, text=True,
                          check=True).stdout


def read_rails(taffrail):
    """The kinds of each rail."""
    rails = {}
    for line in output(taffrail, "explain").splitlines():
        name = re.match(r"  ([a-z][a-z-]+) +\S", line)
        page = output(taffrail, "explain", name[1]) if name and name[1] != "policy" else ""
        kinds = re.search(r"^On: (.*?)\n(?:\n|Can change|Only )", page, re.S | re.M)
        if kinds:
            rails[name[1]] = [k for k in re.findall(r"\w+", kinds[1].replace("workloads", ""))
                              if k[0].isupper()]
    return rails


def check(taffrail, folder, case, policy):
    command = [taffrail, "check", "-p", str(policy), "-o", "json", "--fail-on", "never",
               "-f", str(folder / case["manifest"]), "--as", case.get("user", "jane")]
    for group in case.get("groups", []):
        command += ["--as-group", group]
    command += run.state_arguments(folder, case)
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(f"{folder.name}, {case['manifest']}: {answer.stderr}")
    return json.loads(answer.stdout)["findings"]


def without_since(policies):
    """The same policies; None when there is no `since` in them."""
    policies = copy.deepcopy(policies)
    found = False
    for policy in policies:
        places = [policy["spec"], *(policy["spec"].get("rails") or {}).values()]
        for place in places:
            found = (place or {}).pop("since", None) is not None or found
    return policies if found else None


class Coverage:
    def __init__(self, taffrail):
        self.taffrail = taffrail
        self.rails = read_rails(taffrail)
        self.seen = set()

    def expect(self):
        for rail, kinds in self.rails.items():
            wanted = ["find", "near miss", "exception", "warn", "audit", *kinds]
            wanted += ["since"] if "Pod" in kinds else []
            for what in wanted:
                if (rail, what) not in IMPOSSIBLE:
                    yield rail, what

    def take_folder(self, folder):
        policies = [p for p in kubectl_yaml(folder / "policy.yaml") if p]
        used = {rail for p in policies for rail in p["spec"].get("rails") or {}}
        cases = kubectl_yaml(folder / "cases.yaml")[0]
        found = {f["rail"] for case in cases for f in case["findings"] + case.get("changes", [])}
        for case in cases:
            self.take_outcomes(case)
            # What is updated, or needs what check has not, is judged by serve alone.
            if "old" in case or case.get("deleted"):
                self.take_changes(folder, case, used & found & CHANGES)
                continue
            actual = check(self.taffrail, folder, case, folder / "policy.yaml")
            if len(actual) != len(case["findings"]):
                continue
            for finding, expected in zip(actual, case["findings"]):
                if finding["rail"] == expected["rail"] and not finding["undecided"]:
                    self.seen.add((expected["rail"], finding["kind"]))
            self.take_near_misses(folder, case, used & found)
            self.take_since(folder, case, policies, actual)

    def take_outcomes(self, case):
        for what, (action, outcome) in OUTCOMES.items():
            for finding in case["findings"]:
                settled = not finding.get("undecided") and not finding.get("preExisting")
                if finding.get("action") == action and settled:
                    self.seen.add((finding["rail"], what))
            for change in case.get("changes", []):
                if change.get("outcome") == outcome:
                    self.seen.add((change["rail"], what))
        kinds = {"Pod"} if case.get("changes") else set()
        self.seen |= {(c["rail"], kind) for c in case.get("changes", []) for kind in kinds}

    def take_near_misses(self, folder, case, rails):
        kinds = {d.get("kind") for d in kubectl_yaml(folder / case["manifest"])}
        said = {f["rail"] for f in case["findings"] + case.get("changes", [])}
        self.seen |= {(rail, "near miss") for rail in rails - said
                      if kinds & set(self.rails.get(rail, []))}

    def take_changes(self, folder, case, rails):
        """Of rails that judge nothing else, what is expected of serve counts."""
        kinds = {d.get("kind") for d in kubectl_yaml(folder / case["manifest"])}
        for finding in case["findings"]:
            if finding["rail"] in rails and not finding.get("undecided"):
                self.seen |= {(finding["rail"], kind) for kind in kinds}
        self.take_near_misses(folder, case, rails)

    def take_since(self, folder, case, policies, actual):
        stripped = without_since(policies)
        warned = [f for f, e in zip(actual, case["findings"])
                  if f["kind"] == "Pod" and e.get("action") == "warn" and not e.get("undecided")]
        if stripped is None or not warned:
            return
        with tempfile.TemporaryDirectory() as scratch:
            policy = pathlib.Path(scratch) / "policy.yaml"
            policy.write_text(yaml.safe_dump_all(stripped), encoding="utf-8")
            denied = {(f["rail"], f["name"], f["field"]) for f in
                      check(self.taffrail, folder, case, policy) if f["action"] == "deny"}
        self.seen |= {(f["rail"], "since") for f in warned
                      if (f["rail"], f["name"], f["field"]) in denied}


def main(taffrail):
    coverage = Coverage(taffrail)
    with scenario_folders() as folders:
        for folder in folders:
            coverage.take_folder(folder)
    wanted = list(coverage.expect())
    missing = [want for want in wanted if want not in coverage.seen]
    for rail in coverage.rails:
        holes = [what for r, what in missing if r == rail]
        print(f"{'ok     ' if not holes else 'MISSING'} {rail}{': ' if holes else ''}"
              f"{', '.join(holes)}")
    for stale in sorted(want for want in IMPOSSIBLE if want in coverage.seen):
        missing.append(stale)
        print(f"FAILED  {stale} is said to be impossible, and a case has it")
    print(f"{len(coverage.rails)} rails, {len(wanted)} requirements, {len(missing)} without a case")
    return 1 if missing or len(coverage.rails) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
