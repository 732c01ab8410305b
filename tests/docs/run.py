#!/usr/bin/python3
"""Runs the commands that the documentation shows, as a reader would.

usage: run.py TAFFRAIL [--cluster KUBECONFIG --kubectl PROGRAM [--helm PROGRAM]] [PAGE ...]

Each page gets a folder with a copy of manifests/ and of the page's own files, and its blocks are run there in order:

  ```sh       commands; each must succeed
  ```console  commands after "$ ", and what they print; a line ... stands for any lines that are left out

  ```usage    how commands are called; their flags are looked up

A block in any other language is not run, and must not look like commands. What a page needs first, and words to
replace in it, is in tests/docs/pages/NAME.sh. A comment before a block says more of it:

  <!-- run: cluster -->        it needs a cluster: only run with --cluster
  <!-- run: no, REASON -->     it is not run
  <!-- run: exit 1 -->         it ends with this exit code
  <!-- run: demo -->           scripts/demo prints it
  <!-- run: until -->          it is tried until it is as the page says: something takes its time

Without --cluster, pages whose .sh says "# cluster" are left out, and so are blocks that need one; without
--helm those with "# helm"."""

import argparse
import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
LANGUAGES = {"sh", "console", "yaml", "text", "json", "csv", "c", "promql", "usage"}
COMMAND = re.compile(r"^(\$ )?(taffrail|kubectl|helm|scripts/\w+|git|docker|cmake|build/taffrail|mkdir|curl) ", re.M)
BLOCK = re.compile(r"(?:^ *<!-- run: (?P<how>.*?) -->\n+)?^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
                   re.M | re.S)
PATIENCE_S = 300
UNTIL_S = 60


def pages():
    return [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]


def name_of(page):
    return str(page.relative_to(SOURCE)).removesuffix(".md").removeprefix("docs/").replace("/", "-")


def is_like(text, pattern):
    """A line ... stands for any lines that were left out, and ... within a line for anything in it."""
    lines = [re.escape(line).replace(re.escape(" ..."), "(?: .*)?") + "\n" if line != "..." else r"(?:.*\n)*?"
             for line in pattern.splitlines()]
    return re.fullmatch("".join(lines), text + "\n") is not None


class Page:
    def __init__(self, path, arguments, scratch):
        self.path, self.arguments = path, arguments
        self.setup = HERE / "pages" / (name_of(path) + ".sh")
        setup = self.setup.read_text(encoding="utf-8") if self.setup.exists() else ""
        self.needs_cluster = re.search(r"^# cluster$", setup, re.M) is not None
        self.needs_helm = re.search(r"^# helm$", setup, re.M) is not None
        self.words = dict(re.findall(r"^# word (\S+) = (.*)$", setup, re.M))
        self.folder = scratch / name_of(path)
        self.problems, self.ran, self.left = [], 0, 0

    def environment(self):
        shims = self.folder.parent / "bin"
        known = {"PATH": f"{shims}:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.folder.parent), "LC_ALL": "C.UTF-8",
                 "SOURCE": str(SOURCE), "TAFFRAIL": str(self.arguments.taffrail)}
        if self.arguments.cluster:
            known["KUBECONFIG"] = self.arguments.cluster
        return known

    def bash(self, script):
        before = f'. "{self.setup}"\n' if self.setup.exists() else ""
        return subprocess.run(["bash", "-euo", "pipefail", "-c", before + script], cwd=self.folder, check=False,
                              env=self.environment(), capture_output=True, text=True, timeout=PATIENCE_S,
                              stdin=subprocess.DEVNULL)

    def replaced(self, text):
        for word, value in self.words.items():
            text = re.sub(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", value, text)
        return text

    def prepare(self):
        self.folder.mkdir()
        shutil.copytree(SOURCE / "manifests", self.folder / "manifests")
        (self.folder / "build").mkdir()
        (self.folder / "build/taffrail").symlink_to(self.arguments.taffrail)
        if self.path.parent.name == "tutorial":
            shutil.copytree(self.path.parent, self.folder / "docs/tutorial")
        if self.arguments.cluster:
            self.clear()
        if self.setup.exists():
            done = self.bash("if declare -F prepare >/dev/null; then prepare; fi")
            if done.returncode != 0:
                self.problems.append(f"{self.setup.name}: {done.stdout}{done.stderr}")

    def clear(self):
        """The cluster has no Taffrail, as a reader finds it."""
        ours = [f"{kind}/taffrail{part}" for kind in ("clusterrole", "clusterrolebinding")
                for part in ("", "-webhooks", "-reports", "-policies")]
        done = subprocess.run(["kubectl", "delete", "--ignore-not-found", "--wait",
                               "validatingwebhookconfiguration/taffrail", "mutatingwebhookconfiguration/taffrail",
                               "namespace/taffrail", "namespace/shop", *ours],
                              env=self.environment(), check=False, capture_output=True, text=True, timeout=PATIENCE_S)
        if done.returncode != 0:
            self.problems.append(f"{self.path.name}: the cluster before it: {done.stderr}")

    def fail(self, line, what):
        self.problems.append(f"{self.path.relative_to(SOURCE)}:{line}: {what}")

    def problem_of_commands(self, text, wanted_code):
        done = self.bash(text)
        if done.returncode == wanted_code:
            return None
        return f"ends with {done.returncode}, expected {wanted_code}:\n{text}{done.stdout}{done.stderr}"

    def problem_of_session(self, text):
        for piece in re.split(r"^\$ ", text, flags=re.M)[1:]:
            command = re.match(r"(?:.*\\\n)*.*\n?", piece)[0]
            wanted = piece[len(command):]
            done = self.bash(command)
            printed = done.stderr + done.stdout
            if not any(is_like(text.rstrip(), wanted.rstrip()) for text in (done.stdout, printed)):
                return f"{command.strip()} prints\n{printed}\nand not\n{wanted}"
        return None

    def problem_of(self, language, text, how):
        text = self.replaced(text)
        code = re.search(r"exit (\d+)", how)
        deadline = time.monotonic() + (UNTIL_S if "until" in how else 0)
        while True:
            problem = (self.problem_of_session(text) if language == "console"
                       else self.problem_of_commands(text, int(code[1]) if code else 0))
            if problem is None or time.monotonic() > deadline:
                return problem
            time.sleep(0.5)

    def block(self, line, found):
        how, language = found["how"] or "", found["language"]
        text = re.sub(rf"^{found['indent']}", "", found["text"], flags=re.M)
        if language not in LANGUAGES:
            self.fail(line, f"a block in the language {language!r}; known are {sorted(LANGUAGES)}")
        elif language == "text" and COMMAND.search(text) and not self.is_written_by_the_program():
            self.fail(line, "looks like commands; write sh or console, so that they are run")
        if language == "usage":
            self.usage(line, text)
        if language not in ("sh", "console"):
            return
        if how == "demo":
            self.ran += 1
            if text.replace("\n", "") not in self.demo().replace("\n", ""):
                self.fail(line, f"scripts/demo prints no such thing, but\n{self.demo()}")
            return
        if not re.fullmatch(r"no, .+|((cluster|until|exit \d+)(, |$))*", how):
            self.fail(line, f"unknown: run: {how}")
        if how.startswith("no, ") or ("cluster" in how and not self.arguments.cluster):
            self.left += 1
            return
        self.ran += 1
        problem = self.problem_of(language, text, how)
        if problem:
            self.fail(line, problem)

    def usage(self, line, text):
        """Each flag that a line shows is one of its command's."""
        for command, rest in re.findall(r"^taffrail ([a-z]+)(.*(?:\n .*)*)", text, re.M):
            self.ran += 1
            known = subprocess.run([self.arguments.taffrail, command, "--help"], check=False, capture_output=True,
                                   text=True).stdout
            for flag in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", rest.split("  # ")[0]):
                if not re.search(rf"(?<![\w-]){flag}(?![\w-])", known):
                    self.fail(line, f"{flag} is no flag of taffrail {command}")

    @functools.cache
    def demo(self):
        """What scripts/demo prints, words of the shell left out."""
        return subprocess.run([SOURCE / "scripts/demo", self.arguments.taffrail], check=False, capture_output=True,
                              text=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL).stdout

    def is_written_by_the_program(self):
        return "`scripts/reference` writes this page." in self.path.read_text(encoding="utf-8")

    def run(self):
        text = self.path.read_text(encoding="utf-8")
        blocks = list(BLOCK.finditer(text))
        if self.needs_cluster and not self.arguments.cluster or self.needs_helm and not self.arguments.helm:
            self.left = len(blocks)
            return
        try:
            if any(found["language"] in ("sh", "console") for found in blocks):
                self.prepare()
        except subprocess.TimeoutExpired as late:
            self.problems.append(f"{self.path.name}: {late}")
            return
        for found in blocks:
            try:
                self.block(text.count("\n", 0, found.start("indent")) + 1, found)
            except subprocess.TimeoutExpired:
                self.fail(text.count("\n", 0, found.start("indent")) + 1, f"not within {PATIENCE_S} s")


def put_programs(folder, arguments):
    folder.mkdir()
    for name in ("taffrail", "kubectl-taffrail"):
        (folder / name).symlink_to(arguments.taffrail)
    for name, command in (("kubectl", arguments.kubectl), ("helm", arguments.helm)):
        if command:
            (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
            (folder / name).chmod(0o755)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("taffrail", type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--cluster")
    parser.add_argument("--kubectl")
    parser.add_argument("--helm")
    parser.add_argument("pages", nargs="*")
    arguments = parser.parse_args()
    ran, left, failed = 0, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        put_programs(scratch / "bin", arguments)
        for path in pages():
            if arguments.pages and name_of(path) not in arguments.pages:
                continue
            page = Page(path, arguments, scratch)
            page.run()
            ran, left, failed = ran + page.ran, left + page.left, failed + len(page.problems)
            for problem in page.problems:
                print(f"FAILED  {problem}")
    print(f"{ran} blocks ran, {left} blocks were left out, {failed} problems")
    return 1 if failed or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
