#!/usr/bin/python3
"""Adds a rail as CONTRIBUTING.md says, word for word, to a copy of the sources, builds it, and runs the checks
that a new rail meets.

usage: contributing.py
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TAFFRAIL_SOURCE_DIR"])
STEP = re.compile(r"^\*\*\d\. [^*]+\*\*, (?:in )?`([^`]+)`.*?^```\w+\n(.*?)^```$", re.M | re.S)
CHECKS = ["tests/contract/explain.test", "tests/contract/policy_schema.test",
          "tests/scenarios/coverage.test"]


def run(command, where, **environment):
    done = subprocess.run([str(part) for part in command], cwd=where, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "TAFFRAIL_SOURCE_DIR": str(where), **environment})
    if done.returncode != 0:
        print(f"FAILED  {' '.join(str(part) for part in command)}: {done.returncode}\n{done.stdout[-6000:]}")
        sys.exit(1)
    return done.stdout


def insert_in_order(path, block):
    """One entry more, where it belongs by name."""
    text = path.read_text(encoding="utf-8")
    entries = re.compile(r"^(?:RAIL\(|- rail: ).*\n(?:(?!RAIL\(|- rail: ).*\n)*", re.M)
    later = next((e for e in entries.finditer(text) if e[0] > block), None)
    at = later.start() if later else len(text)
    path.write_text(text[:at] + block + text[at:], encoding="utf-8")


def follow(copy):
    """Does what the steps say; returns the files that are new."""
    new = []
    for name, block in STEP.findall((SOURCE / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        path = copy / name
        if path.exists():
            insert_in_order(path, block)
        else:
            path.write_text(block, encoding="utf-8")
            new.append(name)
    return new


def main():
    with tempfile.TemporaryDirectory() as scratch:
        copy = pathlib.Path(scratch) / "taffrail"
        shutil.copytree(SOURCE, copy, symlinks=True,
                        ignore=shutil.ignore_patterns(".git", "build", "build-*", "node_modules"))
        run(["git", "init", "--quiet"], copy)
        new = follow(copy)
        run(["git", "add", "--all"], copy)
        if len(new) != 2:
            print(f"FAILED  CONTRIBUTING.md says to write {new}; a rail and its table were expected")
            return 1
        unsaid = [name for name in new if not (copy / name).read_text(encoding="utf-8").startswith("/*")]
        if unsaid:  # scripts/lint openings
            print(f"FAILED  the first line of {unsaid} does not say what the file is for")
            return 1
        subject = "policy_" + pathlib.Path(new[1]).stem
        run(["cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_BUILD_TYPE=Debug",
             "-DCMAKE_C_FLAGS=-O0 -Werror"], copy)
        run(["cmake", "--build", "build", "--target", "taffrail", f"unit_{subject}"], copy)
        run([f"build/tests/unit_{subject}"], copy)
        rail = pathlib.Path(new[0]).stem.replace("_", "-")
        page = run(["build/taffrail", "explain", rail], copy)
        for check in CHECKS:
            run([copy / check, copy / "build/taffrail"], copy)
        run(["/usr/bin/python3", "tests/scenarios/run.py", "build/taffrail", "every-kind"], copy)
        for script in ("scripts/check-floors", "scripts/check-citations", "scripts/reference"):
            run([script], copy)
        if shutil.which("clang-format"):
            run(["clang-format", "--dry-run", "--Werror", *new], copy)
    print(page)
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
