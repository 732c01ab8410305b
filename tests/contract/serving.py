"""`taffrail serve` as a process, for the tests that speak to it over sockets."""

import concurrent.futures
import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

# For what comes in a moment, or not at all: a busy machine, or a slow one, takes longer than people think.
WAIT_S = 300
ENDS_S = 10  # after SIGINT, when it waits for nobody; a drain that waits takes 14 s (cli/serve.c)
NAME = "taffrail.taffrail.svc"  # a name the made certificate is for


class Failure(Exception):
    pass


class NotStarted(Failure):
    """code: how it ended; said: what it said before."""

    def __init__(self, code, said):
        super().__init__("the server did not start:\n" + said)
        self.code, self.said = code, said


def check(condition, what):
    if not condition:
        raise Failure(what)


def run_test(test):
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        test(folder)
        print(f"{test.__name__.replace('_', ' ')}: {time.monotonic() - begun:.1f} s", flush=True)


def run_tests(*tests, meanwhile=()):
    """Each in a folder of its own; says how long it took. The first failure ends the program.
    meanwhile: tests that wait for most of their time; all of them run beside the others."""
    try:
        with concurrent.futures.ThreadPoolExecutor(len(meanwhile) + 1) as pool:
            beside = [pool.submit(run_test, test) for test in meanwhile]
            for test in tests:
                run_test(test)
            for one in beside:
                one.result()
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")


class Named(http.client.HTTPSConnection):
    """Leads to this machine, and checks the name of the service."""

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.port), self.timeout)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock = self._context.wrap_socket(plain, server_hostname=NAME)


class Serving:
    """Listens once it is made; its log grows in a list. certificates: a folder; None: the arguments
    say where they are from. process: more for Popen."""

    def __init__(self, binary, certificates, *arguments, listen="127.0.0.1:0", **process):
        self.process = subprocess.Popen(
            [binary, "serve", *arguments, "--listen", listen, "--ops-listen", "127.0.0.1:0",
             *(["--cert-dir", certificates] if certificates else [])],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **process)
        self.log = []
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"webhook on 127\.0\.0\.1:(\d+), ops on 127\.0\.0\.1:(\d+)", line)
            if found:
                break
        else:
            raise NotStarted(self.process.wait(WAIT_S), "".join(self.log))
        self.port, self.ops_port = int(found[1]), int(found[2])
        self.reading = threading.Thread(target=self.log.extend, args=(self.process.stderr,),
                                        daemon=True)
        self.reading.start()
        if certificates:
            self.tls = ssl.create_default_context(cafile=os.path.join(certificates, "ca.crt"))

    def get(self, path):
        """Status and body of a page of the ops port."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ops_port, timeout=WAIT_S)
        connection.request("GET", path)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()

    def metric(self, series):
        """The value of a series, which is written as on the page: name{label="value"}."""
        for line in self.get("/metrics")[1].splitlines():
            name, _, value = line.rpartition(" ")
            if name == series:
                return float(value)
        raise Failure("no metric " + series)

    def cpu_s(self):
        """What it took of the processors so far: of its own, whatever else the machine does."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def check_metrics_page(self):
        """Prometheus's own tool reads the page and finds nothing to say about it."""
        if shutil.which("promtool") is None:
            print("promtool (Debian's package prometheus) is not installed: the page is not checked")
            return
        found = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics")[1],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               check=False)
        check(found.returncode == 0 and not found.stdout, found.stdout)
