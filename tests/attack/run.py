#!/usr/bin/python3
"""Tries every row of tests/attack/rows/ on a running `taffrail serve`, over verified TLS, and holds the answer to
what the row expects; `taffrail check` must find the same where it judges the same.

usage: run.py TAFFRAIL [ID, or the name of a file of rows, or the path of one elsewhere ...]
"""

import concurrent.futures
import contextlib
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import rows
from registration import is_sent
from reviews import Failure, Server

ANSWER_BYTES_MAX = 64 * 1024
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as stream:
        fields = stream.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND


class World:
    """A server, and what it wrote of each request once it has been stopped."""

    def __init__(self, taffrail, arguments):
        self.scratch = tempfile.TemporaryDirectory()
        self.server = Server(taffrail, arguments, self.scratch.name)

    def ask(self, row, request):
        """The answer of a request, and the CPU seconds that it took."""
        body = json.dumps(request)
        for written, instead in row.get("body", {}).items():
            if written not in body:
                raise Failure(f"{written!r} is not in the body")
            body = body.replace(written, instead)
        before = cpu_seconds(self.server.process)
        status, answer = self.server.post(body, row.get("path", "/validate"))
        if status != row.get("status", 200):
            raise Failure(f"HTTP {status}: {answer[:300]!r}")
        if status != 200:
            return None, 0
        if len(answer) > ANSWER_BYTES_MAX:
            raise Failure(f"an answer of {len(answer)} bytes")
        return json.loads(answer)["response"], cpu_seconds(self.server.process) - before

    def stop(self):
        trail = self.server.stop()
        self.scratch.cleanup()
        return {line["uid"]: line for line in trail}


# ---- what is expected of an answer


def names(text):
    return {name for name in text.split(",") if name}


def denying_rails(answer):
    """Those that the first line of the message names."""
    first = answer["status"]["message"].split("\n")[0]
    return {name.strip() for name in first.rpartition(": ")[2].split(",")}


def hold(answer, row):
    """To the outcome that the row expects."""
    found = names(answer.get("auditAnnotations", {}).get("rails", ""))
    wanted = set(row.get("rails", ()))
    if answer["uid"] != row["id"]:
        raise Failure(f"the answer's uid is {answer['uid']}")
    if row["expect"] == "stopped":
        if answer["allowed"]:
            raise Failure(f"allowed, with findings of {sorted(found)}")
        if answer["status"]["code"] != 403:
            raise Failure(f"denied with {answer['status']['code']}")
        if not wanted <= denying_rails(answer):
            raise Failure(f"denied for {sorted(denying_rails(answer))}")
        return
    if not answer["allowed"]:
        raise Failure("denied: " + answer["status"]["message"][:300])
    if row["expect"] == "reported" and not wanted <= found:
        raise Failure(f"findings of {sorted(found)}")
    if row["expect"] in ("open", "passes") and found != wanted:
        raise Failure(f"findings of {sorted(found)}")


def spoken(finding):
    return "undecided" if finding.get("undecided") else finding["action"]


def hold_trail(line, row):
    """How loud the findings of the row's rails are, and where."""
    for rail in row.get("rails", ()):
        findings = [f for f in line["findings"] if f["rail"] == rail]
        if "as" in row and row["as"] not in {spoken(f) for f in findings}:
            raise Failure(f"{rail} is heard as {sorted({spoken(f) for f in findings})}")
        if "field" in row and row["field"] not in {f["field"] for f in findings}:
            raise Failure(f"{rail} finds {sorted({f['field'] for f in findings})}")
    if "limit" in row and line.get("limit") != row["limit"]:
        raise Failure(f"the limit is {line.get('limit')}")


# ---- the same, offline


def is_judged_by_check(row):
    return row.get("check", True) and not {"old", "body", "path", "subresource", "operation"} & set(row)


def count_of(findings):
    """Those of a rail beyond so many are one finding that says how many they are."""
    unlisted = [re.match(r"(\d+) more findings? of this rail", f["message"])
                for f in findings]
    return sum(int(match[1]) if match else 1 for match in unlisted)


def compared(findings):
    return sorted((f["rail"], f["action"], f["field"], f["found"][:64], bool(f.get("undecided")))
                  for f in findings)


def hold_check(taffrail, arguments, request, row, line):
    """`check` has the findings of `serve`, which cuts those it writes down. What came to a limit of the server
    has fewer there; it is denied here, too."""
    user = request["request"]["userInfo"]
    command = [taffrail, "check", *arguments, "-o", "json", "--fail-on", "never", "-f", "-",
               "--as", user["username"]]
    for group in user["groups"]:
        command += ["--as-group", group]
    run = subprocess.run(command, input=json.dumps(request["request"]["object"]), text=True,
                         capture_output=True, check=False)
    report = json.loads(run.stdout or "null")
    if report is None or report["errors"]:
        errors = report["errors"] if report else run.stdout[:300]
        raise Failure(f"check ends with {run.returncode}: {run.stderr[-300:]} {errors}")
    # What is undecided because nothing of a kind is visible, serve says when it loads.
    report["findings"] = [finding for finding in report["findings"] if not finding["unseen"]]
    offline = compared(report["findings"])
    if "limit" in line:
        if line["action"] == "deny" and not report["summary"]["denied"]:
            raise Failure("check denies nothing")
        return
    if count_of(report["findings"]) != line["findingsTotal"]:
        raise Failure(f"serve has {line['findingsTotal']} findings, check "
                      f"{count_of(report['findings'])}")
    if len(line["findings"]) == line["findingsTotal"] and compared(line["findings"]) != offline:
        raise Failure(f"serve finds\n{compared(line['findings'])}\ncheck\n{offline}")


# ---- all rows


def try_row(worlds, requests, row):
    request = requests[row["id"]]
    if is_sent(request["request"]) != row.get("sent", True):
        raise Failure("the webhook is not sent this" if row.get("sent", True)
                      else "the webhook is sent this")
    answer, seconds = worlds[row["world"]].ask(row, request)
    if answer is not None:
        hold(answer, row)
    if 1000 * seconds > row.get("cpu_ms", 1000):
        raise Failure(f"{1000 * seconds:.0f} ms of CPU")


def honest_rows():
    """The objects that rows begin with must pass untouched, in each world."""
    return [{"id": f"honest-{name}-{world}", "like": name, "world": world, "expect": "passes",
             "trick": "none", "check": True}
            for name in rows.honest_objects() for world in ("strict", "guarded")]


def chosen_rows(wanted):
    chosen = honest_rows() if not wanted else []
    paths = [pathlib.Path(name) for name in wanted if name.endswith(".yaml")]
    for path in paths:
        chosen += rows.all_rows([path])[path.stem]["rows"]
    for name, content in rows.all_rows().items():
        chosen += [row for row in content["rows"]
                   if not wanted or name in wanted or row["id"] in wanted]
    return chosen


def attempt(failures, row, what, *arguments):
    try:
        what(*arguments)
    except Failure as failure:
        failures.setdefault(row["id"], str(failure))


def run_rows(taffrail, chosen):
    """What went wrong, by the row's id."""
    failures = {}
    honest, arguments = rows.honest_objects(), rows.worlds()
    requests = {row["id"]: rows.request_of(honest, row) for row in chosen}
    lines = {}
    with contextlib.ExitStack() as stack:
        worlds = {name: World(taffrail, arguments[name]) for name in {r["world"] for r in chosen}}
        for world in worlds.values():
            stack.callback(lambda world=world: lines.update(world.stop()))
        for row in chosen:
            attempt(failures, row, try_row, worlds, requests, row)
    for row in chosen:
        if row["id"] in lines:
            attempt(failures, row, hold_trail, lines[row["id"]], row)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for row in filter(is_judged_by_check, chosen):
            if row["id"] in lines and row["id"] not in failures:
                pool.submit(attempt, failures, row, functools.partial(
                    hold_check, taffrail, arguments[row["world"]], requests[row["id"]], row,
                    lines[row["id"]]))
    return failures


def main(taffrail, wanted):
    chosen = chosen_rows(wanted)
    failures = run_rows(taffrail, chosen)
    for row in chosen:
        if row["id"] in failures:
            print(f"FAILED  {row['id']}: {row['trick']}\n        expected {row['expect']}: "
                  f"{failures[row['id']]}")
    print(f"{len(chosen) - len(failures)} passed, {len(failures)} failed")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
