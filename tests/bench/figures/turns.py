"""What reviews cost a server: closed loops in turns, and an open loop at a fixed rate."""

import collections
import re
import statistics
import subprocess
import sys
import tempfile

import noise
from servers import CLIENT_CORE, ROOT, Problem

POST = ROOT / "tests/bench/post.lua"
RATE = 1000  # requests a second of the open loop
WARM_UP = "500ms"  # of the open loop: while connections are made, reviews wait for handshakes
LOOK_S = 0.25


def run_client(command, look=lambda: None):
    """Runs a client on its core; look is called from time to time meanwhile."""
    with subprocess.Popen(["taskset", "-c", CLIENT_CORE, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True) as process:
        while True:
            try:
                said, _ = process.communicate(timeout=LOOK_S)
                return process.returncode, said
            except subprocess.TimeoutExpired:
                look()


def load(server, body, seconds, connections, look=lambda: None):
    """Posts the body over kept connections; the reviews that were answered."""
    _, said = run_client(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(POST), server.url, "--", server.body(body)],
                         look)
    result = re.search(r"^result (\d+) (\d+)$", said, re.M)
    if not result or int(result[1]) == 0:
        raise Problem(f"{server.name}: no request was answered\n{said}")
    if int(result[2]) > 0:
        raise Problem(f"{server.name}: {result[2]} of {result[1]} requests failed")
    return int(result[1])


def memory_mib(server, body, seconds, connections):
    """The most RssAnon while so many connections are busy."""
    found = []
    load(server, body, seconds, connections, lambda: found.append(server.memory_mib()))
    if not found:
        raise Problem(f"{server.name}: the client ended too soon")
    return max(found)


def cpu_micros(server, body, seconds, connections):
    """Microseconds of the server's CPU for one review."""
    before = server.cpu_s()
    reviews = load(server, body, seconds, connections)
    return (server.cpu_s() - before) / reviews * 1e6


def are_told(contenders, found, judged):
    """Whether the rounds so far tell how dear each server is to the first one."""
    first = [judged(value) for value in found[contenders[0].name]]
    return not any(noise.unsure([judged(value) for value in found[server.name]], first) for server in contenders[1:])


def take_rounds(servers, contenders, rounds, measure, most=0, judged=float):
    """What measure(server) says, a value a round, by name; and the noise. Each round begins with another server, so that
    what changes slowly meets all alike. A round in which others, or the host, took too much of the cores is measured
    again, but not more rounds than are asked for: then it counts, and no ratio stands. While the rounds do not tell the
    ratios of what judged(value) says to the first server's, there are more, up to most."""
    found, kept, dropped = collections.defaultdict(list), [], 0
    while len(kept) < rounds or (len(kept) < most and not are_told(contenders, found, judged)):
        at, watch = len(kept) % len(contenders), noise.Watch(servers.cpu_s)
        values = {server.name: measure(server) for server in contenders[at:] + contenders[:at]}
        during = watch.end()
        if noise.doubts(during) and dropped < rounds:
            dropped += 1
            continue
        kept.append(during)
        for name, value in values.items():
            found[name].append(value)
    return dict(found), noise.together(kept, dropped)


def take_turns(servers, contenders, body, rounds, seconds, connections, most=0):
    """Microseconds for one review of clients that send the next as soon as one is answered."""
    for server in contenders:
        cpu_micros(server, body, 1, connections)  # warms up
    return take_rounds(servers, contenders, rounds, lambda server: cpu_micros(server, body, seconds, connections), most)


def percentile(values, share):
    """Of sorted values."""
    return values[int((len(values) - 1) * share)]


def send_at_rate(server, body, seconds, connections, rate, *options, look=lambda: None):
    """So many reviews a second, whatever the server does; what h2load says."""
    status, said = run_client(
        ["h2load", "--h1", "-t1", "-c", str(connections), "-D", str(seconds), f"--rps={rate / connections:g}",
         "-d", server.body(body), "-H", "Content-Type: application/json", *options, server.url], look)
    if status != 0:
        raise Problem(f"h2load failed: {said}")
    return said


def open_loop(server, body, seconds, connections):
    """How long reviews took that came whatever the server did, on connections that were there before, in microseconds;
    their number; RssAnon in MiB."""
    memory = []
    with tempfile.NamedTemporaryFile(mode="r", suffix=".log") as log:
        said = send_at_rate(server, body, seconds, connections, RATE, f"--warm-up-time={WARM_UP}",
                            f"--log-file={log.name}", look=lambda: memory.append(server.memory_mib()))
        lines = [line.split() for line in log]
    if not lines or not memory:
        raise Problem(f"h2load failed: {said}")
    if any(code != "200" for _, code, _ in lines):
        raise Problem(f"{server.name}: a request failed")
    micros = sorted(int(one) for _, _, one in lines)
    return {"reviews": len(micros), "median": percentile(micros, 0.5), "p99": percentile(micros, 0.99),
            "longest": micros[-1], "memory": max(memory)}


def open_loops(servers, contenders, body, rounds, seconds, connections, most=0):
    """The same in turns: of each server lists, a value a round; and the noise. Ratios are those of the p99."""
    found, during = take_rounds(servers, contenders, rounds, lambda server: open_loop(server, body, seconds, connections),
                                most, lambda value: value["p99"])
    return {name: {what: [one[what] for one in values] for what in values[0]} for name, values in found.items()}, during


def cpu_micros_at_rate(server, body, seconds, connections, rate):
    """Microseconds of the server's CPU for one review, where so many come in a second."""
    before = server.cpu_s()
    said = send_at_rate(server, body, seconds, connections, rate)
    after = server.cpu_s()
    counts = re.search(r"^requests: .* (\d+) succeeded, (\d+) failed", said, re.M)
    if not counts or int(counts[1]) < 0.9 * rate * seconds or int(counts[2]) > 0:
        raise Problem(f"{server.name} did not answer {rate} reviews a second: {said}")
    return (after - before) / int(counts[1]) * 1e6


def summary(values):
    """Of the rounds of a server."""
    return {"median": round(statistics.median(values), 2), "best": round(min(values), 2),
            "spread": round(noise.spread(values), 3), "rounds": [round(value, 2) for value in values]}


def say(*words):
    print(*words, flush=True)


def refuse(ratios):
    """Says which of these named ratios do not stand, and why; the exit code."""
    lines = noise.refusals(ratios)
    for line in lines:
        print("bench:", line, file=sys.stderr, flush=True)
    return 1 if lines else 0


def run_main(main, *arguments):
    """Ends the program: with 2 where something could not be measured."""
    try:
        sys.exit(main(*arguments))
    except Problem as problem:
        print("bench:", problem, file=sys.stderr)
        sys.exit(2)
