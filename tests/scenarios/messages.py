#!/usr/bin/python3
"""Writes docs/reference/messages.md: every message of every rail of new objects, as the scenarios make them say it. With --check
it holds the page against what is said now, and each message against how messages are written.

usage: messages.py TAFFRAIL [--check]
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True  # nothing is written beside the tests
import coverage
from every_kind import scenario_folders
from reviews import kubectl_yaml

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/reference/messages.md"
HEAD = """# What the rails say

Each message as the rails say it of the scenarios in `tests/scenarios`: what is wrong and what follows from it,
then what to do. A long fix has a line of its own. Objects are judged as new ones: what is said of an update or a
deletion alone, as change-impact does, is not here ([changes that replace nodes](../guides/change-impact.md) shows it).
`tests/scenarios/messages.py` writes this page.
"""
LONGEST = 700
TIMES = re.compile(r"\w{3} \d{4}-\d\d-\d\d \d\d:\d\d")
# A sentence may begin with the name of a field, a label or a resource.
BEGINS = re.compile(r'[A-Z"0-9]|[a-z]+[A-Z]|[a-z0-9.-]+[/.][a-z]')


def collect(taffrail):
    """The first finding of each message of each rail, by the kind and field it stands at."""
    rails = {}
    with scenario_folders() as folders:
        for folder in folders:
            for case in kubectl_yaml(folder / "cases.yaml")[0]:
                if "old" in case or case.get("deleted"):
                    continue
                for finding in coverage.check(taffrail, folder, case, folder / "policy.yaml"):
                    said = rails.setdefault(finding["rail"], {})
                    said.setdefault(finding["message"], finding)
    return rails


def lines_of(finding):
    field = re.sub(r"^spec\.(jobTemplate\.spec\.)?template\.spec\.", "", finding["field"])
    level = "undecided" if finding["undecided"] else finding["action"]
    yield TIMES.sub("DAY HH:MM", f"- **{finding['kind']}**, `{field}` ({level}): {finding['message']}")
    if finding["fix"] and not finding["message"].endswith(finding["fix"]):
        yield f"  Fix: `{finding['fix']}`"


def page_of(rails):
    lines = [HEAD]
    for rail in sorted(rails):
        lines += [f"## {rail}", ""]
        for message in sorted(rails[rail], key=lambda m: (rails[rail][m]["kind"] != "Pod",
                                                          rails[rail][m]["field"], m)):
            lines += lines_of(rails[rail][message])
        lines.append("")
    return "\n".join(lines)


def faults_of(message):
    """What speaks against the way a message is written."""
    if not BEGINS.match(message):
        yield "does not begin as a sentence does"
    if not message.endswith("."):
        yield "does not end as a sentence does"
    if message.startswith('found "'):
        yield "has no subject"
    if "..." in re.sub(r", \.\.\. \(\d+\)", "", message):
        yield "leaves out what is to be written"
    if len(message) > LONGEST:
        yield f"has {len(message)} bytes"


def main(taffrail, check=None):
    rails = collect(taffrail)
    page = page_of(rails)
    if check is None:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    problems = [f"{rail}: {fault}: {message}" for rail, said in sorted(rails.items())
                for message in said for fault in faults_of(message)]
    if PAGE.read_text(encoding="utf-8") != page:
        problems.append(f"{PAGE.name} is not what is said now: write it anew with tests/scenarios/messages.py")
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
