"""Runs `taffrail check` over the field set, a file at a time, and gives back what it finds. tests/field/README.md
says what the field set is. A run is one file under one policy; some rows were judged with more in view."""

import collections
import concurrent.futures
import csv
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ("starter", "strict", "gpu-platform", "cost")
POLICIES = {name: ROOT / f"manifests/policies/{name}.yaml" for name in SAMPLES}
POLICIES["capacity-types allow [on-demand]"] = ROOT / "tests/field/policies/on-demand.yaml"
POLICIES["zones allow [us-east-1a, us-east-1b, us-east-1c]"] = ROOT / "tests/field/policies/zones.yaml"
# What a sample's example list was when its rows were judged; a list is nobody's but its cluster's.
LISTED = {("zones", "strict"): "zones allow [us-east-1a, us-east-1b, us-east-1c]"}
ALL = "all"  # the policies above in one process; a finding names its own
ONE_POLICY = {"gpu-workloads": "gpu-platform", "cost-of-development": "cost",
              "on-demand": "capacity-types allow [on-demand]",
              "zones": "zones allow [us-east-1a, us-east-1b, us-east-1c]"}  # where a file has several, or another name
WITH_POOLS = ", with the NodePools of the repository as --state"
AS_ONE = ", with the field files of the repository as one change"
FOLDER = "/ (directory, checked as one change)"
POOL_KINDS = {"NodePool", "Provisioner", "EC2NodeClass", "AWSNodeTemplate", "NodeClass", "AKSNodeClass"}

# A file, or a folder as the tables name it, under one policy (with one of the endings above).
Run = collections.namedtuple("Run", "file policy")


def read_table(path):
    """The rows of a TSV with a first line of names; it knows no quoting."""
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


class FieldSet:
    """INDEX.tsv and files/ of the folder that TAFFRAIL_FIELD names."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.index = read_table(self.folder / "INDEX.tsv")
        self.row = {row["file"]: row for row in self.index}

    def path(self, file):
        return self.folder / "files" / file

    def names(self):
        return [row["file"] for row in self.index]

    def of_repository(self, repo, kinds=None):
        return [row["file"] for row in self.index
                if row["repo"] == repo and (not kinds or kinds & set(row["kinds"].split(",")))]

    def of_folder(self, name):
        """The files of a folder and of the folders below it; a name is REPOSITORY__PATH, and _ stands for /."""
        flat = name.removesuffix(FOLDER)
        return [row["file"] for row in self.index if row["file"].startswith(flat + "_")]

    def inputs(self, run):
        """(what is judged, what is visible beside it)."""
        if run.file.endswith(FOLDER):
            return self.of_folder(run.file), []
        repo = self.row[run.file]["repo"]
        if run.policy.endswith(WITH_POOLS):
            return [run.file], self.of_repository(repo, POOL_KINDS)
        if run.policy.endswith(AS_ONE):
            return self.of_repository(repo), []
        return [run.file], []


def policy_files(policy):
    name = policy.removesuffix(WITH_POOLS).removesuffix(AS_ONE)
    return list(POLICIES.values()) if name == ALL else [POLICIES[name]]


def check(taffrail, policies, files, state=(), form="json"):
    """The report of one process, as a dict; {"crash": ...} where there is none."""
    command = [taffrail, "check", "-o", form]
    for policy in policies:
        command += ["-p", policy]
    for file in files:
        command += ["-f", file]
    with tempfile.TemporaryDirectory() as folder:
        for file in state:
            shutil.copy(file, folder)
        if state:
            command += ["--state", folder]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    try:
        return json.loads(run.stdout)
    except ValueError:
        return {"crash": f"exit {run.returncode}: {run.stderr.strip()[-400:]}", "findings": [],
                "errors": []}


def check_run(taffrail, field, run):
    files, state = field.inputs(run)
    report = check(taffrail, policy_files(run.policy), [field.path(f) for f in files],
                   [field.path(f) for f in state])
    for finding in report["findings"]:
        finding["file"] = pathlib.Path(finding["file"]).name
    return report


def check_runs(taffrail, field, runs):
    """{run: report}, as many processes at once as there are processors."""
    runs = list(dict.fromkeys(runs))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(runs, pool.map(lambda run: check_run(taffrail, field, run), runs)))
