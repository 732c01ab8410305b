#!/usr/bin/python3
"""scripts/bench all: every figure of README.md and docs, with what else the machine did meanwhile.

usage: everything.py PROGRAMS BODIES [--only SECTION,...] [--whole] [--json FILE] [--judge PROGRAM]

Measures the sections in their order, prints a table of each, and writes FILE: a JSON object of sections, each with
the date, the command, the revision, the machine, the noise and its figures. A section that is in FILE and is not
measured stays as it is. A ratio that its rounds do not tell is left out, and it is said why (noise.py). Ends with 1 when
a section was measured on a loaded machine; it is written all the same, and scripts/performance makes no page of it. --whole: also what takes longer than twenty minutes together."""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import aims  # noqa: E402
import noise
import peers
from peers import STRICT
from servers import ROOT, Problem, Servers
from titles import TITLES
from turns import (RATE, cpu_micros_at_rate, memory_mib, open_loops, run_main, say, summary, take_rounds,
                   take_turns)

BODIES = peers.BODIES
CONNECTIONS, MANY_CONNECTIONS = 16, 64
ROUNDS, SECONDS = 21, 1
ROUNDS_MOST = 3 * ROUNDS  # while they do not tell a ratio
TAIL_SECONDS = 2
SAME_RATE = 8000  # reviews a second that each server is sent


class Bench:
    """What the sections share."""

    def __init__(self, arguments, work):
        self.programs, self.work = pathlib.Path(arguments.programs).resolve(), pathlib.Path(work)
        self.bodies = {name: str(pathlib.Path(arguments.bodies) / f"{name}.json") for name in BODIES}
        self.judge = arguments.judge

    def run(self, *command):
        """What a command prints."""
        done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Problem(f"{command[0]} ends with {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def program(self, name, *arguments):
        """The same of a program of tests/bench, on the core of the servers."""
        return self.run("taskset", "-c", "0", self.programs / "tests/bench" / name, *arguments)

    def judgement_micros(self, body, *arguments):
        """A review read and judged in this process, without TLS, HTTP and the trail: the cheapest of many."""
        said = self.program("bench_review_cost", *arguments, "-p", STRICT, "--repeat", "200", body)
        return int(said.split()[1])


def numbers(pattern, text):
    """The groups of the one place where it stands."""
    found = re.findall(pattern, text, re.M)
    if len(found) != 1:
        raise Problem(f"{len(found)} times instead of once: {pattern}\n{text}")
    groups = found[0] if isinstance(found[0], tuple) else (found[0],)
    return [float(one) for one in groups]


# ---- reviews ----

def many_policies(folder, namespaced):
    """A folder of 100 policies with the rails of strict.yaml: each for a namespace, of which one is that of the Pod,
    or each for all."""
    text, folder = STRICT.read_text(encoding="utf-8"), pathlib.Path(folder)
    folder.mkdir()
    for number in range(100):
        made = text.replace("  name: strict\n", f"  name: team-{number}\n")
        if namespaced:
            made = made.replace("  match:\n", f"  match:\n    namespaces: [{'shop' if number == 0 else f'team-{number}'}]\n")
        if made.count(f"team-{number}" if not namespaced else "namespaces: [") != 1:
            raise Problem("strict.yaml does not look as many_policies() thinks")
        (folder / f"{number:02}.yaml").write_text(made, encoding="utf-8")
    return folder


def reviews(bench):
    """CPU of a review, in turns; the peers among them, after their verdicts were compared."""
    figures = {"connections": CONNECTIONS, "rounds": ROUNDS, "rounds_most": ROUNDS_MOST, "seconds": SECONDS,
               "bodies": {}}
    with Servers(bench.programs, bench.work / "reviews") as servers:
        contenders = peers.start(servers)
        for name, namespaced in (("hundred", True), ("hundred-all", False)):
            contenders.append(servers.taffrail(name, many_policies(servers.work / name, namespaced)))
        allowed, denied = peers.compare_verdicts(contenders, bench.bodies["pod-6k"])
        figures["verdicts"], figures["versions"] = {"allowed": allowed, "denied": denied}, peers.versions()
        contenders += [server.with_pods_of_set() for server in contenders if server.name in ("strict", "cluster")]
        ours = [server for server in contenders if server.name.split("-")[0] in ("bare", "strict", "cluster")]
        for body, path in bench.bodies.items():
            found, during = take_turns(servers, contenders, path, ROUNDS, SECONDS, CONNECTIONS, ROUNDS_MOST)
            figures["bodies"][body] = {
                "same_rate": at_same_rate(servers, ours, path),
                "bytes": os.path.getsize(path), "noise": during,
                "servers": {name: summary(rounds) for name, rounds in found.items()},
                "to_bare": {name: noise.ratio(rounds, found["bare"], during) for name, rounds in found.items()},
                "to_cluster": {name: noise.ratio(rounds, found["cluster"], during) for name, rounds in found.items()},
                "to_strict": {name: noise.ratio(found[name], found["strict"], during)
                              for name in ("hundred", "hundred-all")},
                "judgement": {"strict": bench.judgement_micros(path),
                              "cluster": bench.judgement_micros(path, "--cluster")},
                "vap_in_process": peers.in_process_micros(path)}
    return figures


def at_same_rate(servers, contenders, path):
    """CPU of a review where each server is sent as many."""
    found, during = take_rounds(servers, contenders, ROUNDS, lambda server: cpu_micros_at_rate(
        server, path, SECONDS, CONNECTIONS, SAME_RATE), ROUNDS_MOST)
    return {"rate": SAME_RATE, "noise": during, "servers": {name: summary(rounds) for name, rounds in found.items()},
            "to_bare": {name: noise.ratio(rounds, found["bare"], during) for name, rounds in found.items()}}


def print_reviews(figures):
    for body, of in figures["bodies"].items():
        say(f"{body + ', CPU in us':<54} {'median':>8} {'best':>8} {'spread':>7} {'to bare':>8} {'to ours':>8}")
        for name, one in of["servers"].items():
            say(f"{TITLES[name]:<54} {one['median']:8.1f} {one['best']:8.1f} {one['spread']:7.1%} "
                f"{noise.shown(of['to_bare'][name], 8)} {noise.shown(of['to_cluster'][name], 8)}")
        for name, one in of["same_rate"]["servers"].items():
            say(f"{TITLES[name] + ', at ' + str(SAME_RATE) + ' a second':<54} {one['median']:8.1f} {one['best']:8.1f} "
                f"{one['spread']:7.1%} {noise.shown(of['same_rate']['to_bare'][name], 8)}")
        say(f"{'ValidatingAdmissionPolicy, in the API server itself':<54} {of['vap_in_process']:8.1f}")
        say(f"{'read and judged in process, without and with a cluster':<54} {of['judgement']['strict']:8} "
            f"{of['judgement']['cluster']:8}")


def connections(bench):
    """64 connections: CPU; and memory with 16 and 64."""
    figures = {"bodies": {}, "memory": {}}
    with Servers(bench.programs, bench.work / "connections") as servers:
        contenders = [servers.bare(), servers.taffrail("strict", STRICT),
                      servers.taffrail("cluster", STRICT, cluster=peers.cluster_script(bench.programs))]
        for server in contenders:
            at_rest = server.memory_mib()
            few, many = (max(memory_mib(sent, path, 3, count) for path in bench.bodies.values()
                             for sent in (server, server.with_pods_of_set()))
                         for count in (CONNECTIONS, MANY_CONNECTIONS))
            figures["memory"][server.name] = {"at_rest": round(at_rest, 1), str(CONNECTIONS): round(few, 1),
                                              str(MANY_CONNECTIONS): round(many, 1)}
        for body, path in bench.bodies.items():
            found, during = take_turns(servers, contenders, path, ROUNDS, SECONDS, MANY_CONNECTIONS, ROUNDS_MOST)
            figures["bodies"][body] = {
                "noise": during, "servers": {name: summary(rounds) for name, rounds in found.items()},
                "to_bare": {name: noise.ratio(rounds, found["bare"], during) for name, rounds in found.items()}}
    return figures


def print_connections(figures):
    for body, of in figures["bodies"].items():
        for name, one in of["servers"].items():
            say(f"{body + ', ' + str(MANY_CONNECTIONS) + ' connections, ' + TITLES[name]:<66} {one['median']:8.1f} us "
                f"{noise.shown(of['to_bare'][name], 8)}")
    for name, of in figures["memory"].items():
        say(f"{'RssAnon in MiB, ' + TITLES[name]:<66} " +
            ", ".join(f"{value:.1f} with {count}" for count, value in of.items() if count != "at_rest"))


def tail(bench):
    """How long reviews take that come at a fixed rate."""
    figures = {"rate": RATE, "connections": CONNECTIONS, "rounds": ROUNDS, "seconds": TAIL_SECONDS, "bodies": {}}
    with Servers(bench.programs, bench.work / "tail") as servers:
        contenders = [servers.bare(), servers.taffrail("strict", STRICT),
                      servers.taffrail("cluster", STRICT, cluster=peers.cluster_script(bench.programs))]
        contenders += [server.with_pods_of_set() for server in contenders[1:]]
        for body, path in bench.bodies.items():
            figures["bodies"][body] = tail_of(servers, contenders, path)
            with servers.awake():
                figures["bodies"][body]["awake"] = tail_of(servers, contenders[:2], path)
    return figures


def tail_of(servers, contenders, path):
    found, during = open_loops(servers, contenders, path, ROUNDS, TAIL_SECONDS, CONNECTIONS, ROUNDS_MOST)
    return {"noise": during,
            "servers": {name: {what: statistics.median(of[what]) for what in ("median", "p99", "longest")}
                        for name, of in found.items()},
            "to_bare": {name: noise.ratio(of["p99"], found["bare"]["p99"], during) for name, of in found.items()}}


def print_tail(figures):
    for body, of in figures["bodies"].items():
        for when, those in (("", of), (", cores awake", of["awake"])):
            what = f"{body}, us at {RATE}/s{when}"
            say(f"{what:<54} {'median':>8} {'p99':>8} {'longest':>8} {'p99 to bare':>12}")
            for name, one in those["servers"].items():
                say(f"{TITLES[name]:<54} {one['median']:8.0f} {one['p99']:8.0f} {one['longest']:8.0f} "
                    f"{noise.shown(those['to_bare'][name], 12)}")


# ---- what is measured in a program of its own ----

def json_reader(bench):
    """The JSON reader against json-c."""
    figures = {}
    for line in bench.program("bench_json", *bench.bodies.values()).splitlines()[1:]:
        file, size, ours, theirs, _, our_bytes, their_bytes, _ = line.split()
        figures[file.removesuffix(".json")] = {
            "bytes": int(size), "taffrail_us": float(ours), "json_c_us": float(theirs), "taffrail_bytes": int(our_bytes),
            "json_c_bytes": int(their_bytes)}
    return figures


def watched(bench):
    """A cluster that is watched, and its supply."""
    live = bench.program("bench_live")
    figures = dict(zip(("json_mib", "kept_mib", "resident_mib"), numbers(
        r"^JSON ([\d.]+) MiB, kept ([\d.]+) MiB, resident ([\d.]+) MiB more", live)))
    figures["changes_a_second"] = max(float(one) for one in re.findall(r"(\d+) events/s", live))
    supply, review = bench.program("bench_pin", "supply"), bench.program("bench_pin", "review")
    figures["pin_resident_mib"], figures["supply_mib"] = numbers(
        r"^the cluster ([\d.]+) MiB resident, the supply ([\d.]+) MiB more", supply)
    figures["supply"] = rows(supply, ("count", "median", "p99", "longest"))
    figures["pin"] = rows(review, ("pods", "patched", "review", "added", "added_p99"))
    return figures


def rows(text, columns):
    """The rows of a program's table: a name of many words, then its numbers."""
    found = {}
    for line in text.splitlines():
        row = re.match(rf"(.{{34}})((?:\s+[\d.]+){{{len(columns)}}})$", line)
        if row:
            found[row[1].strip()] = dict(zip(columns, map(float, row[2].split())))
    if not found:
        raise Problem("no table in\n" + text)
    return found


MIX = (5000, 20000, 100000)
SOLVER_ROUNDS = 5


def solver(bench):
    """Plans of Karpenter's own benchmark, and questions about one pod. CPU seconds: of the whole, and of solving."""
    figures = {"mix": {}, "query": {}}
    for pods in MIX:
        runs = [bench.program("bench_solver", "mix", pods).split() for _ in range(SOLVER_ROUNDS)]
        columns = {"cpu_s": 4, "nodes": 5, "unplaced": 6, "usd": 7, "arena_mib": 8, "peak_mib": 9}
        figures["mix"][str(pods)] = {name: statistics.median(float(run[at]) for run in runs)
                                     for name, at in columns.items()}
    for line in bench.program("bench_solver_query").splitlines():
        row = re.match(r"(.{22}) p50 +([\d.]+)  p99 +([\d.]+)  max +([\d.]+)", line)
        if row:
            figures["query"][row[1].strip()] = {"median": float(row[2]), "p99": float(row[3])}
    return figures


SERVED = 20  # reviews of each sort
LARGER = 10000  # Nodes


def impact_micros(bench, folder, nodes):
    """Reviews of a NodePool by change-impact, in process: microseconds by name. The folder keeps the cluster."""
    bench.run(sys.executable, ROOT / "tests/bench/make_impact.py", folder, nodes)
    said = bench.program("bench_review_cost", "--state", folder / "state", "-p", folder / "policy.yaml", "--repeat", 20,
                         *sorted(folder.glob("*.review")))
    return {pathlib.Path(line.split()[-1]).stem: int(line.split()[1]) for line in said.splitlines()}


def impact_script(folder):
    """That cluster for the fake API server."""
    lines = []
    for path in sorted((folder / "state").glob("*.json")):
        for item in json.loads(path.read_text(encoding="utf-8"))["items"]:
            metadata = item["metadata"]
            metadata["resourceVersion"] = "@"
            name = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
            lines.append(f"object {item['kind'].lower()}s {name} {json.dumps(item)}\n")
    return "".join(lines)


def served_micros(bench, folder):
    """The same by a server that watches the cluster, over TLS with a handshake each."""
    figures = {}
    with Servers(bench.programs, folder) as servers:
        server = servers.taffrail("impact", folder / "policy.yaml", cluster=impact_script(folder))
        for name in ("update", "delete"):
            body = (folder / f"{name}.review").read_bytes()
            server.ask(body)
            before = server.cpu_s()
            for _ in range(SERVED):
                server.ask(body)
            figures[name] = round((server.cpu_s() - before) / SERVED * 1e6)
    return figures


def questions(bench):
    """What `why`, and changes judged by change-impact, take of a cluster of 1,000 Nodes and 10,000 Pods."""
    folder, larger = bench.work / "questions/impact", bench.work / "questions/larger"
    figures = {"why": {line.split()[0]: int(line.split()[1]) for line in bench.program("bench_why").splitlines()},
               "impact": impact_micros(bench, folder, 1000)}
    figures["served"] = served_micros(bench, folder)
    figures["larger"] = {"nodes": LARGER, **impact_micros(bench, larger, LARGER)}
    return figures


def instructions(bench):
    """Counted by callgrind: the same on every machine, whatever else it does."""
    said = bench.run("scripts/bench", "instructions", "--print", "--build", bench.programs)
    return {name: int(count) for name, count in (line.split("\t") for line in said.splitlines())}


def bound(bench):
    """What a plan costs against what no plan can cost less than."""
    command = [ROOT / "tests/bench/bound/bound.py", bench.programs / "taffrail", bench.work / "bound"]
    said = bench.run("/usr/bin/python3", *command, *(["--judge", bench.judge] if bench.judge else []))
    return {"said": said.splitlines()}


def karpenter(bench):
    """Karpenter's own scheduler on the mix: seconds of its process."""
    if not bench.judge:
        raise Problem("no Karpenter: scripts/bench says why")
    figures = {}
    for pods in MIX[:2]:
        path = bench.work / f"karpenter/mix-{pods}"
        path.write_text(bench.run(bench.judge, "mix", "-pods", pods, "-seed", 42), encoding="utf-8")
        before = os.times()
        nodes = bench.run("taskset", "-c", "0", bench.judge, "bench", "-mix", path).splitlines()[-1].split()[4]
        after = os.times()
        ours = bench.program("bench_solver", "mix", path).split()
        figures[str(pods)] = {"karpenter_cpu_s": round(after[2] + after[3] - before[2] - before[3], 2),
                              "karpenter_nodes": int(nodes), "cpu_s": float(ours[4]), "nodes": int(ours[5])}
    return figures


def soak(bench):
    """Ten minutes of reviews while the policies change."""
    said = bench.run("scripts/soak", "reload", "--build", bench.programs)
    reviews_, failed = numbers(r"^requests (\d+), failed (\d+)$", said)
    reloads, = numbers(r"^changes \d+, reloads (\d+)", said)
    first, last = numbers(r"^RssAnon at start (\d+) KiB, at the end (\d+) KiB$", said)
    return {"minutes": 10, "reviews": int(reviews_), "failed": int(failed), "reloads": int(reloads),
            "first_mib": round(first / 1024, 1), "last_mib": round(last / 1024, 1)}


# Name, what measures it, what prints its table, whether it is left to --whole, whether noise matters to it.
SECTIONS = (
    ("reviews", reviews, print_reviews, False, True),
    ("connections", connections, print_connections, False, True),
    ("tail", tail, print_tail, False, True),
    ("json", json_reader, None, False, True),
    ("watched", watched, None, False, True),
    ("solver", solver, None, False, True),
    ("questions", questions, None, False, True),
    ("instructions", instructions, None, False, False),
    ("bound", bound, None, False, False),
    ("karpenter", karpenter, None, True, True),
    ("soak", soak, None, True, False),
)


# ---- all of it ----

def machine():
    """What it is, without its name."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    with open("/proc/meminfo", encoding="ascii") as file:
        kib = int(re.search(r"^MemTotal:\s+(\d+)", file.read(), re.M)[1])
    return {"processor": model[1] if model else os.uname().machine, "cores": os.cpu_count(),
            "memory_gib": round(kib / (1 << 20)), "kernel": os.uname().release.split("-")[0]}


def revision():
    """Of the sources; "+" where they were changed since."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout.strip()
    return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain") else "")


def noises(found):
    """Of the turns within these figures."""
    if isinstance(found, dict):
        yield from [found["noise"]] if "noise" in found else ()
        for value in found.values():
            yield from noises(value)


def left_out(found, path=""):
    """The ratios within these figures that do not stand, each with a reason."""
    if isinstance(found, dict) and "why" in found:
        yield from (f"{path}: {why}" for why in found["why"])
    elif isinstance(found, dict):
        for name, value in found.items():
            yield from left_out(value, f"{path}{', ' if path else ''}{name}")


def flat(found, path=""):
    """Every figure with its path, for a table."""
    if isinstance(found, dict):
        for name, value in found.items():
            yield from flat(value, f"{path}{', ' if path else ''}{name}")
    elif isinstance(found, list):
        for line in found:
            yield path, line
    else:
        yield path, found


def measure(bench, name, section, command):
    began, watch = time.monotonic(), noise.Watch()
    (bench.work / name).mkdir()
    figures = section(bench)
    during = watch.end()
    shutil.rmtree(bench.work / name)
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "command": command,
            "revision": revision(), "machine": machine(), "took_s": round(time.monotonic() - began),
            "noise": during, "figures": figures}


def settle(measured, matters):
    """Adds why the section is not to be stood by; nothing: it is. Where servers took turns, each turn is judged by its
    own noise."""
    of = list(noises(measured["figures"])) or [measured["noise"]]
    measured["doubts"] = sorted({doubt for one in of for doubt in noise.doubts(one)}) if matters else []


def show(measured, table):
    if table is not None:
        table(measured["figures"])
    else:
        for what, value in flat(measured["figures"]):
            say(f"{what:<66} {value}" if what != "said" else value)
    say(f"{measured['took_s']} s; {noise.told(measured['noise'])}")
    for ratio in left_out(measured["figures"]):
        say(f"LEFT OUT: {ratio.removeprefix('bodies, ')}")
    for doubt in measured["doubts"]:
        say(f"NOT TO BE STOOD BY: {doubt}")


def parse(arguments):
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("programs")
    parser.add_argument("bodies")
    parser.add_argument("--only", default="")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--json", default="")
    parser.add_argument("--judge", default="")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    only = [name for name in options.only.split(",") if name]
    unknown = set(only) - {section[0] for section in SECTIONS}
    if unknown:
        raise Problem(f"no section {', '.join(sorted(unknown))}; there are {', '.join(one[0] for one in SECTIONS)}")
    path = pathlib.Path(options.json) if options.json else None
    kept = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}
    command = "scripts/bench all" + (f" --only {options.only}" if only else "") + (" --whole" if options.whole else "")
    failed = []
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(options, work)
        for name, section, table, is_long, matters in SECTIONS:
            if name not in only if only else is_long and not options.whole:
                continue
            say(f"== {name}: {section.__doc__.splitlines()[0]}")
            try:
                kept[name] = measure(bench, name, section, command)
            except Problem as problem:
                failed.append(f"{name}: {problem}")
                say(f"NOT MEASURED: {problem}")
                continue
            settle(kept[name], matters)
            show(kept[name], table)
            if path:
                path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    say("== aims")
    for aim in aims.held(kept):
        say(f"{aim.what}: {aim.aim_text()}, measured {aim.measured_text()}: {aim.verdict()}")
    if failed:
        raise Problem("not measured: " + "\n".join(failed))
    return 1 if any(section["doubts"] for section in kept.values()) else 0


if __name__ == "__main__":
    run_main(main, sys.argv[1:])
