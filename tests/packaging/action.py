#!/usr/bin/python3
"""The GitHub Action: its steps run as GitHub's runner runs them (a composite action's steps in order, each
with its expressions filled in, GITHUB_PATH in between), against a release on loopback.

usage: action.py TAFFRAIL"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import yaml

import site_of_release as site

SOURCE = pathlib.Path(os.environ["TAFFRAIL_SOURCE_DIR"])
POLICY = """apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: p}
spec: {mode: enforce, rails: {topology-keys: {}}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: KEY, whenUnsatisfiable: DoNotSchedule}
  containers: [{name: a, image: a}]
"""
failed = 0


def expect(name, good, found):
    global failed
    if not good:
        failed += 1
        print(f"FAILED  {name}: {found}")


class Runner:
    def __init__(self, action, workspace, server):
        self.action, self.workspace, self.server = action, workspace, server
        self.definition = yaml.safe_load((action / "action.yml").read_text(encoding="utf-8"))

    def run(self, ref=f"v{site.VERSION}", **inputs):
        """The exit code of the first step that fails, else 0, and all that was printed."""
        wrong = set(inputs) - {i.replace("-", "_") for i in self.definition["inputs"]}
        assert not wrong, wrong
        values = {name: inputs.get(name.replace("-", "_"), spec.get("default", ""))
                  for name, spec in self.definition["inputs"].items()}
        github = {"action_ref": ref, "action_repository": "owner/taffrail"}
        with tempfile.TemporaryDirectory() as temp:
            path_file = pathlib.Path(temp) / "path"
            path_file.touch()
            printed = ""
            for step in self.definition["runs"]["steps"]:
                done = self._step(step, values, github, temp, path_file)
                printed += done.stdout + done.stderr
                if done.returncode != 0:
                    return done.returncode, printed
        return 0, printed

    def _step(self, step, inputs, github, temp, path_file):
        def fill(text):
            text = re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda m: inputs[m[1]], text)
            return re.sub(r"\$\{\{ github\.(\w+) \}\}", lambda m: github[m[1]], text)

        assert step["shell"] == "bash" and "${{" not in step["run"], step
        added = path_file.read_text(encoding="utf-8").split()
        env = {"PATH": os.pathsep.join([*added, "/usr/bin", "/bin"]), "HOME": temp,
               "GITHUB_ACTION_PATH": str(self.action), "GITHUB_PATH": str(path_file),
               "GITHUB_SERVER_URL": self.server, "RUNNER_TEMP": temp,
               **{name: fill(value) for name, value in step.get("env", {}).items()}}
        script = pathlib.Path(temp) / "step.sh"
        script.write_text(step["run"], encoding="utf-8")
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script]
        return subprocess.run(command, cwd=self.workspace, env=env, capture_output=True, text=True,
                              check=False)


def tell(runner, workspace, sums):
    (workspace / "policies").mkdir()
    (workspace / "policies/p.yaml").write_text(POLICY, encoding="utf-8")
    (workspace / "empty").mkdir()
    code, said = runner.run(policy="policies/", files="empty/")
    expect("nothing to judge", code == 0, said)

    (workspace / "web pod.yaml").write_text(POD.replace("KEY", "zone"), encoding="utf-8")
    code, said = runner.run(policy="policies/")
    expect("a denial", code == 1 and "::error file=web pod.yaml,line=6" in said, said)
    code, said = runner.run(policy="policies/\n", fail_on="never")
    expect("fail-on", code == 0 and "::error" in said, said)
    code, said = runner.run(policy="policies/", files="web pod.yaml\n", options="--namespace=web\n",
                            sarif="taffrail.sarif")
    expect("files, options and sarif", code == 1, said)
    sarif = json.loads((workspace / "taffrail.sarif").read_text(encoding="utf-8"))
    expect("sarif", len(sarif["runs"][0]["results"]) == 1, sarif)
    code, said = runner.run(policy="nowhere.yaml", sarif="taffrail.sarif")
    expect("a policy that is not there", code == 2 and "nowhere.yaml" in said, said)
    code, said = runner.run(policy="policies/", files="$(touch hacked)\n`touch hacked`")
    expect("no input is a command", code == 2 and not (workspace / "hacked").exists(), said)

    for ref in ("main", "0123456789abcdef0123456789abcdef01234567"):
        code, said = runner.run(ref, policy="policies/")
        expect(f"used at {ref}", code == 2 and "which is no release: use a tag" in said, said)
        code, said = runner.run(ref, policy="policies/", version=f"v{site.VERSION}", fail_on="never")
        expect(f"used at {ref}, with a version", code == 0, said)
    # As GitHub sends a commit: git has filled this file in.
    tag = runner.action / "scripts/packaging/version.txt"
    tag.write_text(f"v{site.VERSION}-5-gab12cd3\n", encoding="utf-8")
    code, said = runner.run("ab12cd3", policy="policies/")
    expect("used at a commit after a tag", code == 2 and "which is no release" in said, said)
    tag.write_text(f"v{site.VERSION}\n", encoding="utf-8")
    code, said = runner.run("0123456789abcdef0123456789abcdef01234567", policy="policies/",
                            fail_on="never")
    expect("used at a tag's commit", code == 0, said)

    code, said = runner.run("v9.9.8", policy="policies/")
    expect("no such release", code == 2 and "v9.9.8/SHA256SUMS cannot be had" in said, said)
    sums.write_text(re.sub(r"^[0-9a-f]{8}", "00000000", sums.read_text(encoding="utf-8"), flags=re.M),
                    encoding="utf-8")
    code, said = runner.run(policy="policies/")
    expect("a wrong checksum", code == 2 and "not installed" in said and "::error" in said, said)
    sums.write_text("", encoding="utf-8")
    code, said = runner.run(policy="policies/")
    expect("no checksum", code == 2 and "not installed" in said, said)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        action, workspace = scratch / "action", scratch / "workspace"
        workspace.mkdir()
        (action / "scripts/packaging").mkdir(parents=True)
        shutil.copy(SOURCE / "action.yml", action)
        for part in ("action", "fetch", "version.txt"):
            copy = shutil.copytree if (SOURCE / "scripts/packaging" / part).is_dir() else shutil.copy
            copy(SOURCE / "scripts/packaging" / part, action / "scripts/packaging" / part)
        sums = site.make(scratch / "site/owner/taffrail", sys.argv[1])
        with site.serve(scratch / "site") as url:
            tell(Runner(action, workspace, url), workspace, sums)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
