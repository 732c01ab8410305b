"""The servers that are measured: each on core 0 and a free port of 127.0.0.1, with the same certificate."""

import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
PEERS = ROOT / "tests/bench/peers"
SERVER_CORE, CLIENT_CORE = "0", "1"
STARTS_S = 120
CPU_CLOCK = 2  # CPUCLOCK_SCHED of a process: clock_getcpuclockid(3)
# A loop that gives way to all other work at once.
IDLE_LOOP = "import os\nos.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nwhile True:\n    pass"

sys.path.insert(0, str(ROOT / "tests/contract"))
from fake import Fake, kubeconfig  # noqa: E402
from serving import Serving  # noqa: E402


class Problem(Exception):
    pass


class Server:
    """name: how tables call it; path: where it takes reviews; of_set: whether it is sent the Pods of one ReplicaSet in
    place of Pods whose names somebody chose."""

    def __init__(self, name, pid, port, path="/validate?timeout=10s", stop=lambda: None, of_set=False):
        self.name, self.pid, self.port, self.path, self.stop, self.of_set = name, pid, port, path, stop, of_set
        self.url = f"https://127.0.0.1:{port}{path}"

    def with_pods_of_set(self):
        """The same server, as tables call it where it is sent such Pods."""
        return Server(self.name + "-known", self.pid, self.port, self.path, of_set=True)

    def body(self, path):
        """The file that it is sent for this one."""
        return path.removesuffix(".json") + "-of-set.json" if self.of_set else path

    def cpu_s(self):
        return time.clock_gettime((~self.pid << 3) | CPU_CLOCK)

    def memory_mib(self):
        """RssAnon: what is its own."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(re.search(r"^RssAnon:\s+(\d+) kB", file.read(), re.M)[1]) / 1024

    def ask(self, body):
        """The AdmissionReview that answers one, as JSON."""
        tls = ssl._create_unverified_context()  # pylint: disable=protected-access
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=tls, timeout=60)
        connection.request("POST", self.path, body, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        if reply.status != 200:
            raise Problem(f"{self.name}: {reply.status} {text[:300]!r}")
        return json.loads(text)


def pinned():
    os.sched_setaffinity(0, {int(SERVER_CORE)})


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Servers:
    """Starts them, and ends them all. programs: the build folder; work: a folder for what they need."""

    def __init__(self, programs, work):
        self.programs, self.work = pathlib.Path(programs).resolve(), pathlib.Path(work)
        self.certs = self.work / "certs"
        self.all, self.fakes, self.loops, self.logs = [], [], [], 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.all:
            server.stop()
        for fake in self.fakes:
            fake.process.kill()
            fake.process.wait()

    def cpu_s(self):
        """What they all have taken so far; and the API servers behind them, and the loops of awake()."""
        clocks = [server.pid for server in self.all] + [fake.process.pid for fake in self.fakes]
        clocks += [loop.pid for loop in self.loops]
        return sum(time.clock_gettime((~pid << 3) | CPU_CLOCK) for pid in clocks)

    @contextlib.contextmanager
    def awake(self):
        """Meanwhile neither core sleeps, so that nobody waits until one is awake."""
        self.loops = [subprocess.Popen(["taskset", "-c", core, sys.executable, "-c", IDLE_LOOP])
                      for core in (SERVER_CORE, CLIENT_CORE)]
        try:
            yield
        finally:
            for loop in self.loops:
                loop.kill()
                loop.wait()
            self.loops = []

    def _add(self, server):
        self.all.append(server)
        return server

    def taffrail(self, name, *policies, cluster=None):
        """cluster: the script of a fake API server (tests/fakeapi) that it watches."""
        arguments = [word for policy in policies for word in ("-p", str(policy))]
        if cluster is not None:
            folder = self.work / f"cluster-{len(self.fakes)}"
            folder.mkdir()
            fake = Fake(str(self.programs / "tests/fakeapi/fakeapi"), str(folder), cluster)
            self.fakes.append(fake)
            arguments += ["--kubeconfig", kubeconfig(str(folder), f"http://127.0.0.1:{fake.port}")]
        serving = Serving(str(self.programs / "taffrail"), str(self.certs), *arguments, preexec_fn=pinned)

        def stop():
            serving.process.kill()
            serving.process.wait()

        server = self._add(Server(name, serving.process.pid, serving.port, stop=stop))
        if cluster is not None:
            self._wait(lambda: serving.get("/readyz")[0] == 200, name, serving.process)
        return server

    def bare(self):
        self.certificate()
        process = subprocess.Popen([self.programs / "tests/bench/bench_bare", self.certs], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=pinned)
        return self._add(self._made("bare", process, int(process.stdout.readline()), "/validate?timeout=10s"))

    def certificate(self):
        """That which a taffrail makes for itself when there is none yet."""
        if not (self.certs / "tls.crt").exists():
            subprocess.run([self.programs / "taffrail", "certs", "make", self.certs], check=True,
                           stdout=subprocess.DEVNULL)

    def peer(self, name, program, *arguments, path="/validate?timeout=10s"):
        """A program that is told its port as "{port}" of an argument."""
        self.certificate()
        port = free_port()
        self.logs += 1
        with open(self.work / f"peer-{self.logs}.log", "wb") as log:
            process = subprocess.Popen([str(program), *(str(one).format(port=port) for one in arguments)],
                                       stdout=log, stderr=log, preexec_fn=pinned)
        self._wait(lambda: self._listens(port), name, process)
        return self._add(self._made(name, process, port, path))

    @staticmethod
    def _made(name, process, port, path):
        def stop():
            process.kill()
            process.wait()

        return Server(name, process.pid, port, path, stop)

    @staticmethod
    def _listens(port):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    def _wait(self, ready, name, process):
        until, pause = time.monotonic() + STARTS_S, threading.Event()
        while not ready():
            if process.poll() is not None or time.monotonic() > until:
                logs = [path.read_text(errors="replace")[-2000:] for path in sorted(self.work.glob("peer-*.log"))]
                raise Problem(f"{name} did not start\n" + "".join(logs[-1:]))
            pause.wait(0.05)


def build_peers():
    """The folder with the programs peers and opa, built once for each state of their sources."""
    digest = hashlib.sha256()
    for path in sorted([*PEERS.glob("*.go"), *PEERS.glob("go.*"), *PEERS.glob("opa/go.*")]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"))
    folder = cache / "taffrail/peers" / digest.hexdigest()[:16]
    if (folder / "opa").exists():
        return folder
    print("building the peers (once; some minutes)", file=sys.stderr)
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "auto", "GOFLAGS": "-buildvcs=false"}
    for where, package, name in ((PEERS, ".", "peers"), (PEERS / "opa", "github.com/open-policy-agent/opa", "opa")):
        try:
            built = subprocess.run(["go", "build", "-ldflags=-s -w", "-o", folder / (name + ".new"), package],
                                   cwd=where, env=environment, capture_output=True, text=True, check=False)
        except FileNotFoundError as missing:
            raise Problem("no Go, which builds the peers") from missing
        if built.returncode != 0:
            raise Problem(f"go build {package}: {built.stderr[-2000:]}")
        (folder / (name + ".new")).rename(folder / name)
    return folder
