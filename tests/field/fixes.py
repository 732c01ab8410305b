#!/usr/bin/python3
"""No fix may raise a finding under the same policy: applies fixes and judges again.

usage: fixes.py [--taffrail BINARY] [--seed SEED] [--per-file N] [--field FOLDER] [--sample N] [--show] [FILE|FOLDER ...]

Each file is judged under all sample policies, some of its fixes are applied one at a time (N of each rail, drawn by
SEED), and the file is judged again. A finding of the same policy that was not there before is a fault. What can be
applied: what SARIF gives to tools, and in a fix's text an object to write instead, requirements to add, a value to
set. Where a field set is at hand, N of its files are drawn, too. Exits with 1 when a fix raises a finding that
fixes-open.tsv does not name, or when one of these forms never occurs."""

import argparse
import collections
import concurrent.futures
import copy
import os
import pathlib
import random
import re
import sys
import tempfile

import yaml

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_runs import ROOT, POLICIES, check  # noqa: E402

# A fix of a finding: the form it has, and the file's text with it applied.
Fix = collections.namedtuple("Fix", "form finding mended")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Rail of the fix, rail of the finding it leaves, why. A line goes when its fault is mended.
OPEN = ROOT / "tests/field/fixes-open.tsv"

PATH = r"(?P<path>(?:spec|metadata)(?:\.[A-Za-z]+)+)"
# Rails that do not judge the old kinds: what they find in the object to write instead was there before.
V1_ALONE = {"instance-types", "zones", "accelerators", "pool-overlap", "pool-shape"}
FORMS = {  # form: how a fix says it
    "write instead": re.compile(r"write instead: (?P<value>\{.*)", re.I | re.S),
    "add": re.compile(rf"\badd to {PATH}\b[^:\[{{]*?(?::| as in) (?P<value>\[.*)", re.I | re.S),
    "map": re.compile(rf"\bset {PATH}(?:, at most|:| to) (?P<value>\{{.*)", re.I | re.S),
    "set": re.compile(r"^(?:set (?:it to|[A-Za-z]+:)(?: at (?:most|least))?|use(?= \S+?(?:\.$|, or ))) "
                      r"(?P<value>[\w./-]+?)(?=[.,;]?(?:\s|$))", re.I),
}


def flow_value(text):
    """The YAML value that the text begins with; words may follow a list or a map."""
    if text[0] not in "{[":
        return yaml.load(text, LOADER)
    depth = 0
    quoted = False
    for at, letter in enumerate(text):
        if letter == '"' and text[at - 1] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (letter in "{[") - (letter in "}]")
            if depth == 0 and at:
                return yaml.load(text[:at + 1], LOADER)
    return yaml.load(text, LOADER)


def steps(path):
    """a.b[0][c/d] as ["a", "b", 0, "c/d"]."""
    return [int(index) if index.isdigit() else index or word
            for word, index in re.findall(r"([^.\[\]]+)(?![^\[]*\])|\[([^\]]+)\]", path)]


def put(document, path, value, add):
    """Sets (or extends) what stands at the path; false where the way there is not one of maps and lists."""
    at = document
    *way, last = steps(path)
    for step in way:
        if isinstance(at, dict):
            at = at.setdefault(step, {})
        elif isinstance(at, list) and isinstance(step, int) and step < len(at):
            at = at[step]
        else:
            return False
    if isinstance(at, dict):
        if add:
            value = list(at.get(last) or []) + value
        elif isinstance(value, dict) and isinstance(at.get(last), dict):
            value = at[last] | value
        at[last] = value
        return True
    if isinstance(at, list) and isinstance(last, int) and last < len(at):
        at[last] = value
        return True
    return False


def with_value(text, finding):
    """(form, the file's text with the fix applied to the finding's object), or (None, None)."""
    for form, regex in FORMS.items():
        match = regex.search(finding["fix"])
        if not match or form == "set" and steps(finding["field"])[-1] == finding["found"]:  # a key
            continue
        try:
            documents = list(yaml.load_all(text, LOADER))
            value = flow_value(match["value"])
        except yaml.YAMLError:
            return None, None
        for number, document in enumerate(documents):
            if isinstance(document, dict) and document.get("kind") == finding["kind"] and (
                    document.get("metadata") or {}).get("name") == finding["name"]:
                mended = copy.deepcopy(document)
                if form == "write instead":
                    mended = value
                elif not put(mended, match["path"] if "path" in match.groupdict() else finding["field"],
                             value, form == "add"):
                    continue
                documents[number] = mended
                return form, yaml.safe_dump_all(documents, sort_keys=False)
    return None, None


def with_replacement(text, result):
    """The text with the replacements of a SARIF result, whose columns count code points from 1."""
    lines = text.split("\n")
    for change in result["fixes"][0]["artifactChanges"]:
        for replacement in change["replacements"]:
            region = replacement["deletedRegion"]
            if region["startLine"] != region["endLine"]:
                return None
            line = lines[region["startLine"] - 1]
            lines[region["startLine"] - 1] = (line[:region["startColumn"] - 1] +
                                              replacement["insertedContent"]["text"] +
                                              line[region["endColumn"] - 1:])
    return "\n".join(lines)


def place(finding, whole_object):
    """Where a finding is, as far as a fix leaves it there: a rewritten object has other fields."""
    field = re.sub(r"\[\d+\]", "[]", finding["field"])
    return (finding["rail"], finding["name"]) + (() if whole_object else (finding["kind"], field))


def raised(fix, before, after):
    """The findings of the fix's policy at places that have more of them than before; where the fix itself is
    about, there must be fewer. (A rewritten object has none of the rail that had it rewritten.)"""
    whole = fix.form == "write instead"
    at = {}
    for moment, findings in (("before", before), ("after", after)):
        at[moment] = collections.defaultdict(list)
        for finding in findings:
            if finding["policy"] == fix.finding["policy"] and not finding["undecided"]:
                at[moment][place(finding, whole)].append(finding)
    own = place(fix.finding, whole)
    return [findings[-1] for where, findings in at["after"].items()
            if len(findings) > (0 if whole and not at["before"][where] else
                                len(at["before"][where]) - (where == own)) and
            not (whole and (where[0] in V1_ALONE or where != own and at["before"][where]))]


def candidates(report, sarif, text):
    """All fixes that can be applied. SARIF has the findings in the order of JSON, excepted ones apart."""
    for finding in report["findings"]:
        form, mended = with_value(text, finding)
        if form:
            yield Fix(form, finding, mended)
    at = {(f["rail"], f["policy"], f["kind"], f["name"], f["field"]): f for f in report["findings"]}
    for result in sarif.get("runs", [{}])[0].get("results", []):
        if "fixes" in result:
            mended = with_replacement(text, result)
            names = [where["fullyQualifiedName"] for where in result["locations"][0]["logicalLocations"]]
            kind, _, name = names[0].partition(" ")
            finding = at.get((result["ruleId"], result["properties"]["policy"], kind, name.split("/")[-1], names[1]))
            if mended is not None and finding:
                yield Fix("tools", finding, mended)


def try_file(options, path):
    """[(fix, findings raised)] of the fixes drawn from a file."""
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    before = check(options.taffrail, POLICIES.values(), [path])
    sarif = check(options.taffrail, POLICIES.values(), [path], form="sarif")
    chance = random.Random(f"{options.seed} {path.name}")
    by_kind = collections.defaultdict(list)
    for fix in candidates(before, sarif, text):
        by_kind[fix.form, fix.finding["rail"]].append(fix)
    tried = []
    for each in by_kind.values():
        for fix in chance.sample(each, min(len(each), options.per_file)):
            with tempfile.TemporaryDirectory() as folder:
                mended = pathlib.Path(folder) / path.name
                mended.write_text(fix.mended, encoding="utf-8", errors="surrogateescape")
                after = check(options.taffrail, POLICIES.values(), [mended])
            tried.append((fix, raised(fix, before["findings"], after["findings"])))
    return tried


def files_of(paths):
    for path in map(pathlib.Path, paths):
        yield from sorted(p for p in path.rglob("*") if p.suffix in (".yaml", ".yml", ".json") and p.is_file()) \
            if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--taffrail", default=ROOT / "build/taffrail")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--per-file", type=int, default=1)
    parser.add_argument("--field", default=os.environ.get("TAFFRAIL_FIELD"))
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    known = {tuple(line.split("\t")[:2]) for line in OPEN.read_text(encoding="utf-8").splitlines()}
    files = list(files_of(options.paths))
    if options.sample and options.field:
        published = list(files_of([pathlib.Path(options.field) / "files"]))
        files += random.Random(options.seed).sample(published, min(options.sample, len(published)))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: try_file(options, path), files))
    forms, faults, seen = collections.Counter(), 0, collections.Counter()
    for path, tried in zip(files, results):
        for fix, new in tried:
            forms[fix.form] += 1
            for finding in new:
                pair = (fix.finding["rail"], finding["rail"])
                seen[pair] += 1
                if pair not in known or options.show:
                    faults += pair not in known
                    print(f"{path}: {finding['policy']}: the fix of {pair[0]}, \"{fix.finding['fix'][:300]}\" at "
                          f"{fix.finding['field']}, leaves {pair[1]} at {finding['field']}: {finding['message'][:300]}")
    print(f"seed {options.seed}: {len(files)} files,", ", ".join(f"{n} fixes: {form}" for form, n in sorted(
        forms.items())))
    for pair, times in sorted(seen.items()):
        print(f"{'open' if pair in known else 'fault'}: {pair[0]} leaves {pair[1]}: {times}")
    silent = (set(FORMS) | {"tools"}) - set(forms)
    if silent:
        print("no fix of this form, is it worded otherwise now?", *sorted(silent))
    return 1 if faults or silent else 0


if __name__ == "__main__":
    sys.exit(main())
