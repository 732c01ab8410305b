#!/usr/bin/python3
"""Three replicas of `taffrail serve` for long, at half of what they can do together with their client,
while everything changes: policies, certificates and their CA, the cluster, and which replicas there are.

A replica in turn is told to end, as a rollout does it (it gets SIGTERM, and a second later it is no
longer asked), or is killed outright; another takes its place. The first of them stays, and its memory and
descriptors are looked at. Every answer is checked. A request that fails counts, unless the replica that
was asked had been killed outright at that moment.

usage: run.py TAFFRAIL FAKEAPI POLICY [--minutes N] [--json FILE] [--docs]
"""

import argparse
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "contract"), str(ROOT.parent / "scripts")]
arguments = argparse.ArgumentParser(usage=__doc__)
for name in ("taffrail", "fakeapi", "policy"):
    arguments.add_argument(name)
arguments.add_argument("--minutes", type=float, default=60)
arguments.add_argument("--json")
arguments.add_argument("--docs", action="store_true", help="writes docs/reliability.md")
OPTIONS = arguments.parse_args()
import replicas
from sections import write_section
from serving import NAME, WAIT_S, Failure, check

CLIENTS = 2  # processes
CONNECTIONS = 4  # of each process to each replica
KNOWN_AFTER_S = 1  # which replicas there are, and which CA is to be trusted
ASKED_S = 10  # no answer takes longer
POLICY_EVERY_S, STORM_EVERY_S, CHANGE_EVERY_S, SAMPLE_EVERY_S = 2, 20, 30, 5
STORM_OBJECTS = 2000
CERTIFICATES = ("--bundle-settle", "2s", "--cert-lifetime", "60s", "--ca-lifetime", "300s")
GROWTH_KIB, GROWTH_SHARE = 2048, 0.05  # that the memory of the first replica may have


# ---- who asks ----


class Asker(threading.Thread):
    """A kept connection after the other, each to the replica that comes next."""

    def __init__(self, client, number):
        super().__init__(daemon=True)
        self.client, self.number, self.asked = client, number, number
        self.connection = self.port = self.bundle = None

    def connect(self):
        ports = self.client.ports
        self.number += 1
        self.port, self.bundle = ports[self.number % len(ports)], self.client.bundle
        context = ssl.create_default_context(cadata=self.bundle)
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=ASKED_S)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = context.wrap_socket(plain, server_hostname=NAME)

    def leave(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def ask(self):
        if self.connection is not None and (self.port not in self.client.ports or self.bundle != self.client.bundle):
            self.leave()
        if self.connection is None:
            self.connect()
        self.asked += 1
        body, wanted = self.client.bodies[self.asked % len(self.client.bodies)]
        self.connection.sendall(b"POST /validate?timeout=10s HTTP/1.1\r\nHost: taffrail\r\nContent-Type: "
                                b"application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        reply = http.client.HTTPResponse(self.connection)
        reply.begin()
        answer = json.loads(reply.read())
        if reply.will_close:
            self.leave()
        check(reply.status == 200, f"status {reply.status}")
        check(answer["response"]["allowed"] is wanted, f"the wrong answer: {answer}")

    def run(self):
        while not self.client.stopping:
            self.client.pace()
            if self.client.stopping:
                break
            begun = time.monotonic()
            try:
                self.ask()
            except (OSError, Failure, http.client.HTTPException, ValueError) as error:
                self.client.failed(self.port, begun, repr(error))
                self.leave()
            else:
                self.client.answered(time.monotonic() - begun)


class Client:
    """One process of clients. Commands come as tuples: ("ports", [..]), ("bundle", PEM), ("rate", R),
    ("end",); what was seen goes back as ("count", answers, slowest answers) and ("failed", port, at, why)."""

    def __init__(self, commands, reports, bodies):
        self.commands, self.reports, self.bodies = commands, reports, bodies
        self.ports, self.bundle, self.rate, self.stopping = [], None, None, False
        self.lock, self.next_at = threading.Lock(), time.monotonic()
        self.times = []

    def pace(self):
        """Waits for its turn at the rate that is wanted; without one there is no wait."""
        with self.lock:
            if not self.rate:
                return
            now = time.monotonic()
            at = self.next_at = max(self.next_at + 1 / self.rate, now - 1)
        if at > now:
            time.sleep(at - now)

    def answered(self, seconds):
        with self.lock:
            self.times.append(seconds)

    def failed(self, port, at, why):
        self.reports.put(("failed", port, at, why))

    def tell(self):
        with self.lock:
            times, self.times = self.times, []
        self.reports.put(("times", times))

    def run(self):
        kind, *first = self.commands.get()
        self.ports, self.bundle = first
        threads = [Asker(self, number) for number in range(CONNECTIONS * len(self.ports))]
        for thread in threads:
            thread.start()
        while kind != "end":
            kind, *rest = self.commands.get()
            if kind == "known":
                self.ports, self.bundle = rest
            elif kind == "rate":
                self.rate, self.next_at = rest[0], time.monotonic()
            elif kind == "tell":
                self.tell()
        self.stopping = True
        for thread in threads:
            thread.join(WAIT_S)
        self.tell()
        self.reports.put(("over",))


# ---- what happens ----


class Run:
    def __init__(self, folder):
        self.folder, self.random = folder, random.Random(1)
        self.policies = os.path.join(folder, "policies")
        self.version = self.storms = self.ended = self.killed = 0
        self.times, self.failures, self.samples, self.dead = [], [], [], {}
        self.cluster = replicas.Cluster((OPTIONS.taffrail, OPTIONS.fakeapi), folder)
        self.cluster.policy = self.policies
        self.change_policies()
        os.symlink("..data/policy.yaml", os.path.join(self.policies, "policy.yaml"))
        self.cluster.fake.do("bookmarks 1000", *(f"put nodes node-{i}" for i in range(200)))
        for _ in range(3):
            self.cluster.start(*CERTIFICATES)
        self.first = self.cluster.replicas[0]
        for replica in self.cluster.replicas:
            self.cluster.wait("ready", lambda r=replica: r.get("/readyz")[0] == 200)
        self.cluster.wait("published", lambda: self.cluster.bundles()[0] and len(set(self.cluster.bundles())) == 1)
        self.known = None

    def change_policies(self):
        """As a mounted ConfigMap: all files by one rename."""
        self.version += 1
        folder = os.path.join(self.policies, f"..{self.version}")
        os.makedirs(folder)
        text = pathlib.Path(OPTIONS.policy).read_text(encoding="utf-8")
        with open(os.path.join(folder, "policy.yaml"), "w", encoding="utf-8") as file:
            file.write(re.sub("(?m)^  contact: .*$", f'  contact: "#platform-{self.version}"', text))
        link = os.path.join(self.policies, "..data_tmp")
        os.symlink(f"..{self.version}", link)
        os.replace(link, os.path.join(self.policies, "..data"))
        old = os.path.join(self.policies, f"..{self.version - 1}")
        if os.path.isdir(old):
            os.unlink(os.path.join(old, "policy.yaml"))
            os.rmdir(old)

    def storm(self):
        """Pods come and go, and now and then the API server forgets what was, or cuts all watches."""
        self.storms += 1
        kind = "delete" if self.storms % 2 == 0 else "put"
        lines = [f"{kind} pods storm/pod-{i}" for i in range(STORM_OBJECTS)]
        if self.storms % 5 == 0:
            lines.append("compact")
        self.cluster.fake.do(*lines)

    def change_replicas(self):
        """The second or the third ends, in turn, one time in four without warning; a new one comes."""
        old = next(replica for replica in self.cluster.replicas if replica.up and replica is not self.first)
        is_killed = self.random.random() < 0.25
        new = self.cluster.start(*CERTIFICATES)
        self.cluster.wait("ready", lambda: new.get("/readyz")[0] == 200)
        old.up = False
        if is_killed:
            self.killed += 1
            self.dead[old.port] = time.monotonic()
            old.process.kill()
        else:
            self.ended += 1
            old.process.send_signal(signal.SIGTERM)
        time.sleep(KNOWN_AFTER_S)
        self.tell_clients()
        code = old.process.wait(WAIT_S)
        check(is_killed or code == 0, f"a replica ended with {code}:\n" + "".join(old.log)[-6000:])
        self.cluster.check_writers()

    def sample(self):
        with open(f"/proc/{self.first.process.pid}/status", encoding="ascii") as file:
            memory_kib = next(int(line.split()[1]) for line in file if line.startswith("RssAnon:"))
        try:
            descriptors = len(os.listdir(f"/proc/{self.first.process.pid}/fd"))
        except PermissionError:  # it is not dumpable: only root sees them
            descriptors = 0
        self.samples.append((time.monotonic(), memory_kib, descriptors))

    # ---- the clients ----

    def start_clients(self):
        subprocess.run([sys.executable, str(ROOT / "bench" / "make_bodies.py"), self.folder], check=True)
        paths = sorted(pathlib.Path(self.folder).glob("pod-*.json"))
        bodies = [(path.read_bytes(), self.answer(path.read_bytes())["allowed"]) for path in paths]
        denied = json.loads(bodies[0][0])
        denied["request"]["object"]["spec"]["topologySpreadConstraints"] = [{"topologyKey": "zone", "maxSkew": 1}]
        self.denied = json.dumps(denied)
        self.reports = multiprocessing.Queue()
        self.clients = []
        for _ in range(CLIENTS):
            commands = multiprocessing.Queue()
            client = multiprocessing.Process(target=lambda c=commands: Client(c, self.reports, bodies).run(), daemon=True)
            client.start()
            self.clients.append(commands)
        self.tell_clients()

    def answer(self, body):
        """What the first replica answers, now that nothing happens."""
        context = ssl.create_default_context(cadata=self.cluster.bundles()[0])
        connection = http.client.HTTPSConnection("127.0.0.1", self.first.port, context=context, timeout=WAIT_S)
        context.check_hostname = False
        connection.request("POST", "/validate", body, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())["response"]

    def has_newest_policy(self):
        """Changes that come while one is read are read together, so that their number says nothing."""
        return re.search(rf"#platform-{self.version}\b", self.answer(self.denied)["status"]["message"])

    def say(self, *command):
        for commands in self.clients:
            commands.put(command)

    def tell_clients(self):
        known = ([replica.port for replica in self.cluster.replicas if replica.up], self.cluster.bundles()[0])
        if known != self.known:
            self.known = known
            self.say("known", *known)

    def read_reports(self, until_over=False):
        """Of all clients what they told: times of answers, and failures."""
        over = 0
        while over < CLIENTS:
            try:
                kind, *rest = self.reports.get(timeout=WAIT_S if until_over else 0.01)
            except Exception:  # queue.Empty
                return
            over += kind == "over"
            if kind == "times":
                self.times += rest[0]
            elif kind == "failed":
                self.take_failure(*rest)

    def take_failure(self, port, at, why):
        killed_at = self.dead.get(port)
        if killed_at is None or at < killed_at - ASKED_S:
            self.failures.append(f"port {port}: {why}")

    def capacity(self):
        """Answers a second when nobody waits."""
        time.sleep(2)
        self.say("tell")
        time.sleep(0.5)
        self.read_reports()
        self.times = []
        begun = time.monotonic()
        time.sleep(5)
        self.say("tell")
        time.sleep(0.2)
        self.read_reports()
        count, self.times = len(self.times), []
        return count / (time.monotonic() - begun)

    def go(self, minutes):
        self.start_clients()
        capacity = self.capacity()
        self.say("rate", capacity / 2 / CLIENTS)
        begun = time.monotonic()
        tasks = {self.change_policies: POLICY_EVERY_S, self.storm: STORM_EVERY_S, self.change_replicas: CHANGE_EVERY_S,
                 self.sample: SAMPLE_EVERY_S, self.tell_clients: KNOWN_AFTER_S}
        due = {task: begun + every for task, every in tasks.items()}
        told = begun
        while time.monotonic() < begun + minutes * 60:
            task = min(due, key=due.get)
            time.sleep(max(0, due[task] - time.monotonic()))
            task()
            due[task] = max(due[task] + tasks[task], time.monotonic())
            self.say("tell")
            self.read_reports()
            if time.monotonic() - told > 60:
                told = time.monotonic()
                print(f"minute {(told - begun) / 60:.0f}: {len(self.times)} answers, {len(self.failures)} failed, "
                      f"RssAnon {self.samples[-1][1]} KiB, {self.samples[-1][2]} descriptors", flush=True)
        self.say("end")
        self.read_reports(until_over=True)
        return self.result(capacity, time.monotonic() - begun)

    # ---- what came of it ----

    def result(self, capacity, seconds):
        self.cluster.wait("the last policies are read", self.has_newest_policy)
        self.sample()
        later = self.samples[len(self.samples) // 5:]  # the caches are full
        part = max(1, len(later) // 5)
        # What they fall back to: a storm's Pods are there half of the time, a reload has two worlds, and clients of a
        # replica that ends come to the others.
        memory, descriptors = ([sorted(sample[what] for sample in of)[len(of) // 10] for of in (later[:part], later[-part:])]
                               for what in (1, 2))
        times = sorted(self.times)
        writes = self.cluster.check_writers()
        failed_reloads = sum(self.first.metric('taffrail_reload_failures_total{what="%s"}' % what)
                             for what in ("world", "certificate"))
        return {
            "minutes": round(seconds / 60, 1), "capacity_per_s": round(capacity), "answers": len(times),
            "answers_per_s": round(len(times) / seconds), "failed": len(self.failures),
            "failures": self.failures[:5],
            "p50_ms": round(1000 * times[len(times) // 2], 2), "p99_ms": round(1000 * times[len(times) * 99 // 100], 2),
            "slowest_ms": round(1000 * times[-1], 2),
            "policy_changes": self.version - 1, "failed_reloads": int(failed_reloads),
            "writes_of_certificates_and_bundles": writes,
            "event_storms": self.storms, "events": self.storms * STORM_OBJECTS,
            "replicas_ended": self.ended, "replicas_killed": self.killed,
            "memory_kib_early": memory[0], "memory_kib_late": memory[1], "memory_kib_most": max(sample[1] for sample in later),
            "descriptors_early": descriptors[0], "descriptors_late": descriptors[1],
            "descriptors_most": max(sample[2] for sample in later),
        }


def faults(result):
    grown = result["memory_kib_late"] - result["memory_kib_early"]
    if result["failed"]:
        yield f"{result['failed']} requests failed"
    if result["failed_reloads"]:
        yield f"{result['failed_reloads']} reloads failed"
    if grown > max(GROWTH_KIB, GROWTH_SHARE * result["memory_kib_early"]):
        yield f"memory grew by {grown} KiB"
    if result["descriptors_late"] > result["descriptors_early"] + CONNECTIONS:
        yield "descriptors were left open"


def page(result):
    """The section of docs/reliability.md."""
    of = result.get
    rows = [
        ("reviews", f"{of('answers'):,} in {of('minutes'):.0f} minutes, {of('answers_per_s'):,} a second; {of('failed')} failed"),
        ("half of", f"{of('capacity_per_s'):,} a second"),
        ("an answer, seen by a client in Python", f"{of('p50_ms')} ms in the median, {of('p99_ms')} ms at the 99th percentile"),
        ("policies", f"{of('policy_changes'):,} changes, {of('failed_reloads')} failed reloads"),
        ("Secret and CA bundles", f"{of('writes_of_certificates_and_bundles')} writes, each by the replica that led"),
        ("Pods", f"{of('events'):,} came or went, in {of('event_storms')} storms"),
        ("replicas", f"{of('replicas_ended')} ended, {of('replicas_killed')} killed"),
        ("what memory of the one that stayed falls back to (RssAnon)",
         f"{of('memory_kib_early') / 1024:.1f} MiB early, {of('memory_kib_late') / 1024:.1f} MiB late; at most "
         f"{of('memory_kib_most') / 1024:.1f} MiB"),
        ("what its descriptors fall back to",
         f"{of('descriptors_early')} early, {of('descriptors_late')} late; at most {of('descriptors_most')}"),
    ]
    lines = [f"{time.strftime('%Y-%m-%d', time.gmtime())}, `scripts/soak replicas --minutes {OPTIONS.minutes:.0f}`, "
             f"{os.cpu_count()} cores:", "", "| what | seen |", "|---|---|", *(f"| {what} | {seen} |" for what, seen in rows)]
    return "\n".join(lines)


def main():
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder)
        result = run.go(OPTIONS.minutes)
        run.cluster.end()
    for name, value in result.items():
        print(f"{name:36} {value}")
    if OPTIONS.json:
        pathlib.Path(OPTIONS.json).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if OPTIONS.docs:
        write_section("soak", page(result))
    found = list(faults(result))
    for fault in found:
        print("FAULT:", fault)
    sys.exit(1 if found else 0)


main()
