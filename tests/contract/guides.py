#!/usr/bin/python3
"""The policies that README.md and docs show load, and an example that claims a finding gives it. tests/docs runs the
commands.

usage: guides.py TAFFRAIL
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

SOURCE = pathlib.Path(os.environ["TAFFRAIL_SOURCE_DIR"])
HEAD = {"apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": "guide"}}
FINE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


def blocks(path):
    """The language, the line and the text of each fenced block."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield found[1], text.count("\n", 0, found.start()) + 2, found[2]


def policy_of(block):
    """A policy, or a piece of one, made whole; None: it is something else."""
    documents = list(yaml.safe_load_all(block))
    if len(documents) != 1 or not isinstance(documents[0], dict):
        return None
    document = documents[0]
    if document.get("kind") != "GuardRails" and set(document) != {"spec"}:
        return None
    document = {**HEAD, **document}
    document.setdefault("spec", {}).setdefault("rails", {"topology-keys": {}})
    return document


class Guides:
    def __init__(self, taffrail, scratch):
        self.taffrail = taffrail
        self.scratch = pathlib.Path(scratch)
        self.failed = 0
        self.counts = {"policies": 0, "findings": 0}

    def fail(self, where, what):
        self.failed += 1
        print(f"FAILED  {where}: {what}")

    def check(self, policy, manifest, form="json"):
        (self.scratch / "policy.yaml").write_text(yaml.safe_dump(policy), encoding="utf-8")
        (self.scratch / "manifest.yaml").write_text(manifest, encoding="utf-8")
        return subprocess.run([self.taffrail, "check", "-p", self.scratch / "policy.yaml", "-f",
                               self.scratch / "manifest.yaml", "-o", form],
                              capture_output=True, text=True, check=False)

    def load(self, where, policy):
        self.counts["policies"] += 1
        run = self.check(policy, FINE)
        if run.returncode != 0:
            self.fail(where, run.stderr)

    def custom_kind(self, where, policy, kind, line, field):
        """That a claimed finding in a custom resource, which begins like line, is one."""
        value = re.search(r"(\S+) is not allowed here", line)[1]
        entry = next(e for e in policy["spec"]["podTemplates"] if e["kind"] == kind)
        path, _, key = field.partition("[")
        *way, last = [*path.split("."), *filter(None, [key.rstrip("]")])]
        document = {"apiVersion": entry["group"] + "/v1", "kind": kind,
                    "metadata": {"name": "train"}}
        place = document
        for step in way:
            place = place.setdefault(step, {})
        place[last] = value
        self.counts["findings"] += 1
        run = self.check({**policy, "spec": {"mode": "enforce", **policy["spec"]}},
                         yaml.safe_dump(document), "text")
        if f"  {line}\n" not in run.stdout or f"  field: {field}\n" not in run.stdout:
            self.fail(where, f"of {document} check says\n{run.stdout}{run.stderr}")

    def templates(self, where, rows):
        """The table of custom kinds: each row is an entry of podTemplates."""
        for kind, entry in rows:
            keys = yaml.safe_load("{kind: " + kind + ", " + ", ".join(entry) + "}")
            self.load(f"{where}: {kind}", {**HEAD, "spec": {
                "rails": {"topology-keys": {}}, "podTemplates": [keys]}})


def main(taffrail):
    with tempfile.TemporaryDirectory() as scratch:
        guides = Guides(os.path.abspath(taffrail), scratch)
        for path in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
            policy = None
            for language, line, block in blocks(path):
                where = f"{path.relative_to(SOURCE)}:{line}"
                if language == "yaml":
                    policy = policy_of(block)
                    if policy:
                        guides.load(where, policy)
                    continue
                claimed = re.search(r"deny \S+  (\w+) \S+\n  (.* is not allowed here\.)\n"
                                    r"(?:  fix: .*\n)?  field: (\S+)", block)
                if claimed and policy and "podTemplates" in policy["spec"]:
                    guides.custom_kind(where, policy, *claimed.groups())
            rows = re.findall(r"^\| (\w+) \| (`group: .*?) \| [^|]+ \|$",
                              path.read_text(encoding="utf-8"), re.M)
            guides.templates(path.name, [(kind, re.findall(r"`(.*?)`", entry))
                                         for kind, entry in rows])
        print(", ".join(f"{count} {what}" for what, count in guides.counts.items()))
        if min(guides.counts.values()) == 0:
            guides.fail("guides", "nothing of a kind is looked at any more")
        return 1 if guides.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
