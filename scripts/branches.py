"""The branches of the code, and which of them ran: read from what clang's source-based coverage counted.

A condition has two branches: it was true, and it was false; so have the parts of && and ||, and each `case`. Of a
switch over an enum that has no `default` there is a hidden one, which is left out: the compiler warns of a value
without a case. A macro of a header is one place, wherever it is used."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build-coverage"
# In order of floor, as in docs/architecture.md.
FOLDERS = ("base", "certs", "solver", "kube", "live", "catalog", "simulation", "pinning", "policy", "report", "server",
           "cli")

# never: "true" or "false", what the condition never was.
Miss = collections.namedtuple("Miss", "file function never condition")


class Branch:
    """A condition; counts are how often it was true, and how often false."""

    def __init__(self, file, function, line, condition):
        self.file, self.function, self.line, self.condition = file, function, line, condition
        self.counts = [0, 0]

    def missed(self):
        return [Miss(self.file, self.function, never, self.condition)
                for never, count in zip(("true", "false"), self.counts) if count == 0]


def run(command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False, cwd=ROOT, **options)
    if done.returncode != 0:
        sys.exit(f"{sys.argv[0]}: {' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def need(*tasks):
    subprocess.run(["bash", "-c", f". scripts/lib.sh; need {' '.join(tasks)}"], cwd=ROOT, check=True)


def build(*targets):
    """The preset `coverage`: the whole, or only some targets."""
    run(["cmake", "--preset", "coverage"])
    command = ["cmake", "--build", "--preset", "coverage"]
    done = subprocess.run([*command, *(["--target", *targets] if targets else []), "--", "--quiet"], cwd=ROOT,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{sys.argv[0]}: the build failed")


class Source:
    """The text of a file, by llvm-cov's places: lines from 1, columns in bytes from 1, the end behind the last."""

    files = {}

    def __init__(self, path):
        self.lines = path.read_text(encoding="latin-1").splitlines()

    @classmethod
    def of(cls, path):
        if path not in cls.files:
            cls.files[path] = cls(path)
        return cls.files[path]

    def between(self, line, column, end_line, end_column):
        taken = self.lines[line - 1:end_line]
        taken[-1] = taken[-1][:end_column - 1]
        taken[0] = taken[0][column - 1:]
        return " ".join(" ".join(taken).split())

    def is_operand_of_switch(self, line, column):
        before = " ".join(self.lines[max(0, line - 2):line - 1]) + " " + self.lines[line - 1][:column - 1]
        return re.search(r"\bswitch \($", before) is not None


def whole_library():
    """All of the libraries, whether a program links it or not; llvm-cov reads no archives."""
    archives = [path for path in (BUILD / f"libtaffrail_{folder}.a" for folder in FOLDERS) if path.exists()]
    whole = BUILD / "libtaffrail_whole.so"
    if not whole.exists() or any(path.stat().st_mtime > whole.stat().st_mtime for path in archives):
        run(["clang", "-shared", "-fprofile-instr-generate", "-o", whole, "-Wl,--whole-archive", *archives,
             "-Wl,--no-whole-archive"])
    return whole


def read(counts):
    """All branches of the folders, in order of file and line. counts: the .profraw files."""
    merged = BUILD / "merged.profdata"
    listed = BUILD / "profiles.txt"
    listed.write_text("".join(f"{path}\n" for path in counts), encoding="utf-8")
    run(["llvm-profdata", "merge", "-sparse", f"-input-files={listed}", "-o", merged])
    told = json.loads(run(["llvm-cov", "export", "-skip-expansions", f"-instr-profile={merged}", BUILD / "taffrail",
                           f"-object={whole_library()}"]))
    return collect(told["data"][0]["functions"])


def built_at(folder):
    library = BUILD / f"libtaffrail_{folder}.a"
    return (library if library.exists() else BUILD / "taffrail").stat().st_mtime


def collect(functions):
    branches, newer = {}, set()
    built = {folder: built_at(folder) for folder in FOLDERS}
    for function in functions:
        files = [pathlib.Path(os.path.normpath(BUILD / name)) for name in function["filenames"]]
        if not files[0].is_relative_to(ROOT):
            continue
        file, name = str(files[0].relative_to(ROOT)), function["name"].rpartition(":")[2]
        changed = {path for path in files if path.stat().st_mtime > built[file.partition("/")[0]]}
        newer |= changed
        if changed:
            continue
        if not file.startswith(FOLDERS):
            continue
        for line, column, end_line, end_column, is_true, is_false, in_file, *_ in function["branches"]:
            place = (line, column, end_line, end_column)
            source = Source.of(files[in_file])
            if source.is_operand_of_switch(line, column):
                continue
            told = (file, name) if files[in_file] == files[0] else (str(files[in_file].relative_to(ROOT)), "macro")
            branch = branches.setdefault((*told, *place), Branch(*told, line, source.between(*place)))
            branch.counts[0] += is_true
            branch.counts[1] += is_false
    for path in sorted(newer):
        print(f"{path.relative_to(ROOT)} is newer than what was counted, and left out")
    return sorted(branches.values(), key=lambda branch: (branch.file, branch.line))


def share(branches):
    """(taken, all) of these branches, two a condition."""
    return sum(2 - len(branch.missed()) for branch in branches), 2 * len(branches)


def percent(taken, of):
    """Rounded down, so that 100 means all."""
    return "100" if taken == of else f"{int(1000 * taken / of) / 10:.1f}"
