"""Whoever reads the log and the trail of `taffrail serve` is stuck, or is gone: reviews are answered
as ever, and the server ends when it is told to.

usage: readers.py TAFFRAIL
"""

import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is written beside the tests
from http_contract import POLICY, review
from serving import ENDS_S, WAIT_S, check, run_tests

BINARY = sys.argv[1]
FINDING = review(topology_key="zone")


class Server:
    """Its log and its trail are pipes that this program reads when it says so, and at no other time."""

    def __init__(self, folder):
        policy, certificates = os.path.join(folder, "policy.yaml"), os.path.join(folder, "certs")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY)
        self.trail, trail = os.pipe()
        self.log, log = os.pipe()
        self.written = [trail, log]
        self.process = subprocess.Popen(
            [BINARY, "serve", "-p", policy, "--cert-dir", certificates,
             "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"], stdout=trail, stderr=log)
        found = self.read_log(rb"webhook on 127\.0\.0\.1:(\d+)")
        tls = ssl.create_default_context(cafile=os.path.join(certificates, "ca.crt"))
        self.connection = http.client.HTTPSConnection("localhost", int(found[1]), timeout=WAIT_S,
                                                      context=tls)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.process.kill()
        self.process.wait()

    def read_log(self, pattern):
        """Up to the line that has it."""
        read = b""
        while not (found := re.search(pattern, read)) or not read.endswith(b"\n"):
            more = os.read(self.log, 1 << 16)
            check(more, "the log has no %r: %r" % (pattern, read))
            read += more
        return found

    def fill(self):
        """Until the pipes take nothing more."""
        for end in self.written:
            # Another open file of the same pipe: the server's goes on to wait.
            own = os.open("/proc/self/fd/%d" % end, os.O_WRONLY | os.O_NONBLOCK)
            try:
                while True:
                    os.write(own, b"\n")
            except BlockingIOError:
                os.close(own)

    def close(self):
        for end in [self.trail, self.log, *self.written]:
            os.close(end)

    def post(self, body):
        self.connection.request("POST", "/validate", body, {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        return reply.status, reply.read()

    def check_answers(self):
        status, answer = self.post(FINDING)
        check(status == 200 and not json.loads(answer)["response"]["allowed"],
              "a review got %d: %r" % (status, answer))
        status, answer = self.post(b"no review")
        check(status == 400, "what is no review got %d: %r" % (status, answer))

    def end(self):
        self.connection.close()
        self.process.send_signal(signal.SIGINT)
        try:
            check(self.process.wait(ENDS_S) == 0, "it ended with %d" % self.process.returncode)
        except subprocess.TimeoutExpired:
            check(False, "it did not end within %d s" % ENDS_S)


def readers_are_stuck(folder):
    with Server(folder) as server:
        server.fill()
        for _ in range(3):
            server.check_answers()
        os.read(server.log, 1 << 20)
        server.post(b"no review")
        found = server.read_log(rb'a request got status 400.*"dropped":(\d+)')
        check(int(found[1]) == 3, "%d lines were dropped" % int(found[1]))
        server.fill()
        server.end()


def readers_are_gone(folder):
    with Server(folder) as server:
        server.close()
        for _ in range(3):
            server.check_answers()
        server.end()


if __name__ == "__main__":
    run_tests(readers_are_stuck, readers_are_gone)
