#!/usr/bin/python3
"""The GitLab template, run by gitlab-ci-local: a pipeline that includes it, in a repository with manifests,
against a release on loopback.

usage: gitlab.py TAFFRAIL GITLAB-CI-LOCAL"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import site_of_release as site
from action import POD, POLICY

SOURCE = pathlib.Path(os.environ["TAFFRAIL_SOURCE_DIR"])
PIPELINE = """include:
  - local: /taffrail.yml
    inputs:
      version: "VERSION"
      releases: URL/releases/download
      policy: policies/
"""
failed = 0


def expect(name, good, found):
    global failed
    if not good:
        failed += 1
        print(f"FAILED  {name}: {found}")


class Project:
    def __init__(self, folder, url, runner):
        self.folder, self.url, self.runner = folder, url, runner
        shutil.copy(SOURCE / "scripts/packaging/gitlab/taffrail.yml", folder)
        (folder / "policies").mkdir()
        (folder / "policies/p.yaml").write_text(POLICY, encoding="utf-8")
        remote = ["remote", "add", "origin", "https://git.example.com/a/b.git"]
        for command in (["init", "-q"], remote, ["add", "."]):
            subprocess.run(["git", *command], cwd=folder, check=True)

    def pipeline(self, **inputs):
        """The exit code and output of the job, and its JUnit report where it wrote one."""
        text = PIPELINE.replace("VERSION", site.VERSION).replace("URL", self.url)
        for name, value in inputs.items():
            text += f'      {name.replace("_", "-")}: "{value}"\n'
        (self.folder / ".gitlab-ci.yml").write_text(text, encoding="utf-8")
        report = self.folder / "taffrail.xml"
        report.unlink(missing_ok=True)
        done = subprocess.run([self.runner, "--force-shell-executor", "--no-json-schema-validation", "taffrail"], cwd=self.folder,
                              capture_output=True, text=True, check=False,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder / "home")})
        cases = None
        if report.exists():
            cases = len(xml.etree.ElementTree.parse(report).findall(".//testcase"))
        return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr), cases


def tell(project, sums):
    code, said, cases = project.pipeline()
    expect("nothing to judge", code == 0 and cases == 0, (code, said, cases))
    (project.folder / "pod.yaml").write_text(POD.replace("KEY", "zone"), encoding="utf-8")
    code, said, cases = project.pipeline()
    expect("a denial", "FAIL 1" in said and "pod.yaml:6:33: deny topology-keys" in said and cases == 1,
           (code, said, cases))
    code, said, cases = project.pipeline(fail_on="never", options="--namespace=web", files="pod.yaml")
    expect("fail-on", code == 0 and "deny topology-keys" in said and cases == 1, (code, said, cases))
    code, said, _ = project.pipeline(fail_on="sometimes")
    expect("an input that is wrong", code != 0 and "fail-on" in said, (code, said))
    sums.write_text(re.sub(r"^[0-9a-f]{8}", "00000000", sums.read_text(encoding="utf-8"), flags=re.M),
                    encoding="utf-8")
    code, said, cases = project.pipeline()
    expect("a wrong checksum", "FAIL 2" in said and "gz: FAILED" in said and cases is None, (code, said, cases))


def main():
    taffrail, runner = sys.argv[1:]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        sums = site.make(scratch / "site", taffrail)
        (scratch / "project").mkdir()
        with site.serve(scratch / "site") as url:
            tell(Project(scratch / "project", url, runner), sums)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
