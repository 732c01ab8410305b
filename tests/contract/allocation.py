"""Fails each allocation of `taffrail serve` in turn, by allocation_injector.so, and holds it to this: what is
denied is never admitted, an answer is whole or is not sent, the process ends only where a library ends
it, the next request is answered as ever, and nothing is leaked.

usage: allocation.py TAFFRAIL INJECTOR FAKEAPI [--all]

Without --all only some allocations of what takes long are tried.
"""

import base64
import collections
import http.client
import json
import mmap
import os
import re
import signal
import ssl
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from fake import kubeconfig
from serving import WAIT_S, Failure, Named, NotStarted, Serving, check

TAFFRAIL, INJECTOR, FAKEAPI = sys.argv[1:4]
ALL = sys.argv[4:] == ["--all"]
REST_S = 0.05  # a process that allocates nothing for so long rests
GROWN_BLOCKS = 64  # caches of libraries may grow by so many
# GnuTLS 3.7 keeps the state of its random numbers for each thread until the process ends, and each
# connection has a thread.
THREAD_BLOCKS = 2
TOO_MANY = 200000
POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: memory%d}
spec:
  mode: enforce
  rails:
    topology-keys: {}
    accelerators: {addToleration: true}
"""


class Control:
    """What the injector shares (struct control)."""

    FIELDS = {"countdown": 0, "failed": 8, "live_blocks": 16, "calls": 24}
    NAMES = {"wanted_by": 32, "ended_by": 160}

    def __init__(self, path):
        with open(path, "wb") as file:
            file.truncate(288)
        self.file = open(path, "r+b")
        self.bytes = mmap.mmap(self.file.fileno(), 288)

    def __getitem__(self, name):
        if name in self.NAMES:
            at = self.NAMES[name]
            return self.bytes[at:at + 128].split(b"\0")[0].decode()
        return struct.unpack_from("<q", self.bytes, self.FIELDS[name])[0]

    def __setitem__(self, name, value):
        struct.pack_into("<q", self.bytes, self.FIELDS[name], value)

    def forget(self):
        self.bytes[:] = bytes(len(self.bytes))


# ---- reviews ----


def review(uid, spec):
    return json.dumps({
        "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": uid, "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "namespace": "shop", "operation": "CREATE", "oldObject": None, "dryRun": False,
            "object": {"apiVersion": "v1", "kind": "Pod",
                       "metadata": {"name": "p", "namespace": "shop", "labels": {"app": "a"}},
                       "spec": spec},
            "userInfo": {"username": "jane", "groups": ["developers"]}}}).encode()


DENIED = review("denied", {
    "containers": [{"name": "c", "image": "i"}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
                                   "whenUnsatisfiable": "DoNotSchedule"}]})
LARGE = review("denied", {
    "containers": [{"name": "c", "image": "i",
                    "env": [{"name": f"V{i}", "value": "v"} for i in range(8000)]}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
                                   "whenUnsatisfiable": "DoNotSchedule"}]})
CHANGED = review("changed", {
    "containers": [{"name": "c", "image": "i",
                    "resources": {"limits": {"nvidia.com/gpu": "1"}}}]})


class Process:
    """A server under the injector, started again when a library has ended it."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        self.arguments = arguments
        self.control = Control(os.path.join(folder, "control"))
        self.policy = os.path.join(folder, "policy.yaml")
        self.blocks = 0  # in use when all is quiet
        self.connections = 0  # since then
        self.write_policy(0)
        self.ends = collections.Counter()
        self.start()

    def write_policy(self, number):
        with open(self.policy + ".new", "w", encoding="utf-8") as file:
            file.write(POLICY % number)
        os.rename(self.policy + ".new", self.policy)

    def environment(self):
        return {**os.environ, "LD_PRELOAD": os.path.abspath(INJECTOR),
                "TAFFRAIL_ALLOCATION_FILE": os.path.join(self.folder, "control")}

    def start(self):
        self.control.forget()
        self.launch()
        for _ in range(20):
            self.ask("/validate", DENIED)
            self.ask("/mutate", CHANGED)
        self.blocks, self.connections = self.count_blocks(), 0

    def launch(self):
        self.connection = None
        self.serving = Serving(TAFFRAIL, os.path.join(self.folder, "certs"), "-p", self.policy,
                               *self.arguments, env=self.environment())

    def connect(self):
        self.connections += 1
        self.connection = Named("127.0.0.1", self.serving.port, timeout=WAIT_S,
                                context=self.serving.tls)
        self.connection.connect()

    def ask(self, path, body):
        """Status and body, or None: no whole answer came."""
        try:
            if self.connection is None:
                self.connect()
            self.connection.request("POST", path, body, {"Content-Type": "application/json"})
            reply = self.connection.getresponse()
            return reply.status, reply.read()
        except (OSError, http.client.HTTPException, ssl.SSLError):
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return None

    def wait(self, what, condition):
        end = time.monotonic() + WAIT_S
        while not condition():
            check(time.monotonic() < end, f"not within {WAIT_S} s: {what}; "
                  f"{self.control['live_blocks'] - self.blocks} blocks more are in use than before")
            time.sleep(0.001)

    def rest(self):
        """Waits until nothing is allocated any more."""
        seen = {"calls": -1, "since": 0.0}

        def rests():
            if self.control["calls"] != seen["calls"]:
                seen.update(calls=self.control["calls"], since=time.monotonic())
            return time.monotonic() - seen["since"] > REST_S

        self.wait("it comes to rest", rests)

    def count_blocks(self):
        self.rest()
        return self.control["live_blocks"]

    def has_ended(self):
        """Whether a library has ended it; then it is started again."""
        try:
            code = self.serving.process.wait(0 if self.control["ended_by"] == "" else WAIT_S)
        except subprocess.TimeoutExpired:
            return False
        by = self.control["ended_by"]
        check(is_library_end(code, by),
              f"the process ended with {code}, by {by or 'nobody'}, when {self.control['wanted_by']} "
              f"had no memory:\n" + "".join(self.serving.log[-5:]))
        self.ends[by] += 1
        self.start()
        return True

    def check_is_well(self):
        reply = None
        for _ in range(3):
            reply = reply or self.ask("/validate", DENIED)
        check(reply is not None and reply[0] == 200, f"after a failure the next review has {reply}")
        judge_denied(reply)

    def check_leaks(self, what):
        """Connections that failed may take their time to end."""
        self.wait(f"{what}: what was allocated is given back",
                  lambda: self.control["live_blocks"] - self.blocks <=
                  GROWN_BLOCKS + THREAD_BLOCKS * self.connections)

    def end(self):
        if self.connection is not None:
            self.connection.close()
        self.serving.process.send_signal(signal.SIGINT)
        check(self.serving.process.wait(WAIT_S) == 0, "it did not end well")


# ---- what came of it ----


def is_library_end(code, by):
    """Whether a library has ended the process because it had no memory, and not Taffrail."""
    return code in (-signal.SIGABRT, -signal.SIGSEGV) and re.match(r"lib(?!c\.)", by) is not None


def judged(judge):
    """A judge of responses as one of replies, which may not be whole, or refused."""
    def judge_reply(reply):
        if reply is None:
            return "no answer"
        status, body = reply
        if status != 200:
            check(status in (500, 503), f"status {status}: {body}")
            return f"status {status}"
        return judge(json.loads(body)["response"])

    return judge_reply


@judged
def judge_denied(response):
    check(response["uid"] == "denied" and response["allowed"] is False, f"admitted: {response}")
    return "denied"


@judged
def judge_changed(response):
    check(response["uid"] == "changed" and response["allowed"] is True, f"denied: {response}")
    check(("patch" in response) == ("patchType" in response), f"half a patch: {response}")
    if "patch" not in response:
        return "unchanged"
    changes = json.loads(base64.b64decode(response["patch"], validate=True))
    check([change["path"] for change in changes][-1:] == ["/spec/tolerations"] or
          changes[-1]["path"] == "/spec/tolerations/-", f"another patch: {changes}")
    return "changed"


def try_each(process, what, step, attempt):
    """attempt() with the 1st allocation failing, then the 1 + step'th, until it needs fewer."""
    outcomes = collections.Counter()
    wanted = collections.Counter()
    number, unreached = 1, 0
    while unreached < 3 and number < TOO_MANY:  # not all take as many each time
        process.rest()
        failed = process.control["failed"]
        process.control["countdown"] = number
        outcome = attempt(number)
        process.control["countdown"] = 0
        if process.has_ended():
            outcome = "ended by a library"
        elif process.control["failed"] == failed:
            outcome = "not reached"
        else:
            wanted[process.control["wanted_by"]] += 1
        unreached = unreached + 1 if outcome == "not reached" else 0
        outcomes[outcome] += 1
        process.check_is_well()
        number += step
    check(wanted.total() + process.ends.total() > 0, f"{what}: no allocation failed, so nothing was tried")
    process.check_leaks(what)
    print(f"{what}: {dict(outcomes)}; wanted by {dict(wanted)}")


# ---- tests ----


def reviews_and_changes(folder):
    process = Process(folder)
    process.connect()
    try_each(process, "review", 1, lambda _: judge_denied(process.ask("/validate", DENIED)))
    try_each(process, "large review", 1, lambda _: judge_denied(process.ask("/validate", LARGE)))
    try_each(process, "mutate", 1, lambda _: judge_changed(process.ask("/mutate", CHANGED)))

    def handshake(_):
        process.connection.close()
        process.connection = None
        return judge_denied(process.ask("/validate", DENIED))

    process.check_is_well()
    try_each(process, "handshake and review", 1 if ALL else 11, handshake)

    def reload(number):
        process.write_policy(number)
        process.serving.process.send_signal(signal.SIGHUP)
        process.rest()
        return "reloaded" if any(re.search(r"reloaded|in force|loaded", line)
                                 for line in process.serving.log[-3:]) else "not reloaded"

    try_each(process, "reload", 1 if ALL else 97, reload)
    process.end()
    print(f"ended by: {dict(process.ends)}")


def node(number):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "n", "uid": "n", "resourceVersion": "@",
                         "labels": {"topology.kubernetes.io/zone": "a", "number": str(number)}}}


def events(folder):
    fake = fake_server.Fake(FAKEAPI, folder, "")
    config = kubeconfig(folder, f"http://127.0.0.1:{fake.port}")
    process = Process(folder, "--kubeconfig", config)

    def event(number):
        calls = process.control["calls"]
        fake.do(f"object nodes n {json.dumps(node(number))}")
        process.wait("the event arrives", lambda: process.control["calls"] > calls)
        process.rest()
        return "seen or asked for again"

    try_each(process, "event", 1, event)
    process.end()
    fake.end()
    print(f"ended by: {dict(process.ends)}")


def starts(folder):
    """It serves and denies, or says why not and ends."""
    process = Process(folder)
    process.end()
    outcomes = collections.Counter()
    number, step = 1, 1 if ALL else 149
    while number < TOO_MANY:
        process.control.forget()
        process.control["countdown"] = number
        try:
            process.launch()
            process.control["countdown"] = 0
            process.check_is_well()
            process.end()
            outcomes["served"] += 1
        except NotStarted as failure:
            by = process.control["ended_by"]
            check(is_library_end(failure.code, by) or (failure.code > 0 and failure.said),
                  f"allocation {number}: it ended with {failure.code} by {by}: {failure}")
            outcomes[by or "said so and ended"] += 1
        if process.control["failed"] == 0:
            break
        number += step
    check(number > 1, "no allocation failed, so nothing was tried")
    print(f"start: {dict(outcomes)}")


def main():
    tests = [reviews_and_changes, events, starts]
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                print(f"ok      {test.__name__}")
            except Failure as failure:
                failed += 1
                print(f"FAILED  {test.__name__}: {failure}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
