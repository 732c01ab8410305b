"""Changes the files under `taffrail serve` while clients post over real TLS.

Policies come as kubelet mounts a ConfigMap: a new folder, then one rename of the link `..data`. Two
files make one form, red or blue, and each answer must be by one form in whole.
"""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
from serving import NAME, Failure, Serving, check

WAIT_S = 45  # less than until files are looked at without a sign
STORM_S = 8
FLIP_S, GENERATIONS = 0.1, 8
with open(sys.argv[1], "rb") as program:
    if b"__tsan_init" in program.read():
        # ThreadSanitizer makes a load take longer than 0.1 s: files that never rest for so long are
        # never read whole.
        FLIP_S, GENERATIONS = 1.0, 3

POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata:
  name: %(colour)s-%(rail)s
spec:
  mode: enforce
  contact: "#%(colour)s"
  rails:
    %(rail)s: %(settings)s
"""
RAILS = {"topology-keys": "{}", "instance-types": "{deny: {families: [p3]}}"}

BODY = json.dumps({
    "kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
    "request": {
        "uid": "u", "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "namespace": "shop", "operation": "CREATE", "userInfo": {"username": "jane"},
        "object": {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {
                "containers": [{"name": "web", "image": "nginx"}],
                "nodeSelector": {"node.kubernetes.io/instance-type": "p3.2xlarge"},
                "topologySpreadConstraints": [
                    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
                     "labelSelector": {"matchLabels": {"app": "web"}}}]}},
        "oldObject": None, "dryRun": False, "options": None}})


def await_that(condition, what):
    end = time.monotonic() + WAIT_S
    while not condition():
        check(time.monotonic() < end, "not within %d s: %s" % (WAIT_S, what))
        time.sleep(0.01)


# ---- files ----


class Mount:
    """A folder that changes as kubelet changes a mounted ConfigMap."""

    def __init__(self, folder):
        self.folder, self.version = folder, 0
        os.mkdir(folder)

    def show(self, files):
        old, self.version = self.version, self.version + 1
        data = "..%d" % self.version
        os.mkdir(os.path.join(self.folder, data))
        for name, content in files.items():
            with open(os.path.join(self.folder, data, name), "w", encoding="utf-8") as file:
                file.write(content)
        draft = os.path.join(self.folder, "..data_tmp")
        os.symlink(data, draft)
        os.rename(draft, os.path.join(self.folder, "..data"))
        for name in files:
            link = os.path.join(self.folder, name)
            if not os.path.islink(link):
                os.symlink(os.path.join("..data", name), link)
        if old:
            shutil.rmtree(os.path.join(self.folder, "..%d" % old))


def form(colour):
    return {rail + ".yaml": POLICY % {"colour": colour, "rail": rail, "settings": settings}
            for rail, settings in RAILS.items()}


def make_certificates(folder):
    driver = os.path.join(os.environ["TAFFRAIL_BINARY_DIR"], "tests/contract/contract_certs")
    subprocess.run([driver, folder, NAME], check=True, stdout=subprocess.DEVNULL)


def leaf_of(folder):
    with open(os.path.join(folder, "tls.crt"), encoding="ascii") as file:
        return ssl.PEM_cert_to_DER_cert(re.search("-+BEGIN.*?-+END.*?-+\n", file.read(), re.S)[0])


def replace(name, source, target):
    shutil.copy(os.path.join(source, name), os.path.join(target, ".draft"))
    os.rename(os.path.join(target, ".draft"), os.path.join(target, name))


# ---- the server and its clients ----


class Server(Serving):
    def __init__(self, binary, folder):
        self.policies = Mount(os.path.join(folder, "policies"))
        self.policies.show(form("red"))
        self.state = os.path.join(folder, "state")
        os.mkdir(self.state)
        self.certificates, self.others = [os.path.join(folder, name) for name in ("certs", "others")]
        make_certificates(self.certificates)
        make_certificates(self.others)
        super().__init__(binary, self.certificates, "-p", self.policies.folder,
                         "--state", self.state)
        self.tls.load_verify_locations(os.path.join(self.others, "ca.crt"))

    def generation(self):
        return self.metric("taffrail_policy_generation")

    def failures(self, what="world"):
        return self.metric('taffrail_reload_failures_total{what="%s"}' % what)

    def await_generation(self, wanted):
        await_that(lambda: self.generation() >= wanted, "generation %d" % wanted)
        check(self.generation() == wanted, "generation %d, not %d" % (self.generation(), wanted))

    def await_failures(self, wanted, what="world"):
        await_that(lambda: self.failures(what) >= wanted, "%d failures of %s" % (wanted, what))
        check(self.failures(what) == wanted, "%d failures" % self.failures(what))

    def has_logged(self, text):
        return any(text in line for line in self.log)

    def signal(self, number):
        self.process.send_signal(number)


class Client:
    """One connection, kept; that the server closes it is a failure."""

    def __init__(self, server):
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=WAIT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = http.client.HTTPConnection(NAME)
        self.connection.sock = server.tls.wrap_socket(connection, server_hostname=NAME)
        self.connection.auto_open = False

    def leaf(self):
        return self.connection.sock.getpeercert(binary_form=True)

    def colour(self):
        """Posts the review and says which form denied it, both rails of it."""
        self.connection.request("POST", "/validate?timeout=10s", BODY,
                                {"Content-Type": "application/json"})
        reply = self.connection.getresponse()
        body = reply.read().decode()
        check(reply.status == 200, "status %d: %s" % (reply.status, body))
        response = json.loads(body)["response"]
        check(response["allowed"] is False, body)
        message = response["status"]["message"]
        check(message.count("topology-keys") >= 1 and message.count("instance-types") >= 1, message)
        colours = {colour for colour in ("red", "blue") if "#" + colour in message}
        check(len(colours) == 1, "by two forms at once: " + message)
        return colours.pop()

    def close(self):
        self.connection.sock.close()


class Load:
    def __init__(self, server, kept, brief):
        self.server, self.over = server, False
        self.seen, self.lost, self.answered = set(), [], 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(i < kept,))
                        for i in range(kept + brief)]
        for thread in self.threads:
            thread.start()

    def run(self, kept):
        client = None
        while not self.over and not self.lost:
            try:
                client = client or Client(self.server)
                colour = client.colour()
                with self.lock:
                    self.seen.add(colour)
                    self.answered += 1
                if not kept:
                    client.close()
                    client = None
            except Exception as failure:  # any of http.client, ssl or socket is a lost request
                self.lost.append("%s: %s" % (type(failure).__name__, failure))

    def end(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        check(not self.lost, "lost %d requests: %s" % (len(self.lost), self.lost[:3]))


# ---- cases ----


def storm(server):
    """First files alone, which are looked at when they rest, then a signal at every flip too."""
    load = Load(server, 3, 1)
    began = time.monotonic()
    flips = 0
    # A slow server gets more time: it has to come to so many generations while it storms.
    while time.monotonic() < began + STORM_S or (server.generation() < GENERATIONS and
                                                 time.monotonic() < began + WAIT_S):
        flips += 1
        server.policies.show(form("red" if flips % 2 else "blue"))
        if flips % 8 == 0:
            for name in ("tls.key", "tls.crt"):
                replace(name, server.certificates, server.certificates)
        if time.monotonic() > began + STORM_S / 2:
            server.signal(signal.SIGHUP)
        time.sleep(FLIP_S)
    # A slow server may have looked at every second flip only: at rest each form comes into force.
    for colour in ("red", "blue"):
        server.policies.show(form(colour))
        await_that(lambda seen=colour: seen in load.seen, "an answer by the form " + colour)
    load.end()
    check(load.seen == {"red", "blue"}, "forms seen: %s" % load.seen)
    check(server.generation() >= GENERATIONS, "only %d generations of %d flips" % (server.generation(), flips))
    # Files that change faster than a slow server reads them are given up for a while, and that is said.
    outrun = sum("changed each time while they were read" in line for line in server.log)
    check(server.failures() <= outrun, "%d reloads failed" % server.failures())
    print("storm: %d flips, generation %d, %d requests answered, none lost" %
          (flips, server.generation(), load.answered))


def settle(server):
    """All that came before has been looked at when the server refuses what came last."""
    server.policies.show({name: "kind: Interlude" for name in form("red")})
    await_that(lambda: server.has_logged("Interlude"), "a line of the log")


def swapped_mount(server):
    settle(server)
    client = Client(server)
    generation = server.generation()
    colours = ("blue", "red", "blue") if client.colour() == "red" else ("red", "blue", "red", "blue")
    for step, colour in enumerate(colours):
        server.policies.show(form(colour))
        server.await_generation(generation + step + 1)
        check(client.colour() == colour, "not by the form " + colour)
    client.close()


def hang_up(server):
    """A signal alone brings no new world; what was refused is tried again."""
    generation, failures = server.generation(), server.failures()
    count = len(server.log)
    server.signal(signal.SIGHUP)
    await_that(lambda: any("the world is as it was" in line for line in server.log[count:]),
               "a line of the log")
    check(server.generation() == generation, "a new generation of the same files")
    server.policies.show({name: "kind: [" for name in form("red")})
    server.await_failures(failures + 1)
    server.signal(signal.SIGHUP)
    server.await_failures(failures + 2)
    server.policies.show(form("red"))
    server.await_generation(generation + 1)


def broken_policy(server):
    client = Client(server)
    generation, failures = server.generation(), server.failures()
    files = form("blue")
    files["topology-keys.yaml"] = files["topology-keys.yaml"].replace("enforce", "enforced")
    server.policies.show(files)
    server.await_failures(failures + 1)
    status, text = server.get("/readyz")
    check(status == 200, "not ready")
    check(re.fullmatch(r"ok, world %d loaded 2\d{3}-[0-9T:-]*Z; last reload failed 2\d{3}-[0-9T:-]*Z: "
                       r"\S*topology-keys.yaml:\d+:\d+: .*enforced.*\n" % generation, text), text)
    await_that(lambda: server.has_logged("enforced"), "a line of the log")
    check(client.colour() == "red", "not by the last good form")
    server.policies.show(form("blue"))
    server.await_generation(generation + 1)
    text = server.get("/readyz")[1]
    check("failed" not in text, text)
    check(client.colour() == "blue", "not by the mended form")
    client.close()


def new_state(server):
    generation, failures = server.generation(), server.failures()
    folder = os.path.join(server.state, "classes")
    os.mkdir(folder)
    path = os.path.join(folder, "gp2.yaml")
    content = ("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: gp2}\n"
               "provisioner: ebs.csi.aws.com\nvolumeBindingMode: WaitForFirstConsumer\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    server.await_generation(generation + 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content + "parameters: [\n")
    server.await_failures(failures + 1)
    check("gp2.yaml" in server.get("/readyz")[1], server.get("/readyz")[1])
    os.remove(path)
    server.await_generation(generation + 2)


def new_certificate(server):
    failures = server.failures("certificate")
    old, new = leaf_of(server.certificates), leaf_of(server.others)
    before = Client(server)
    check(before.leaf() == old, "not the certificate of the folder")
    load = Load(server, 2, 1)
    replace("tls.crt", server.others, server.certificates)
    server.await_failures(failures + 1, "certificate")
    status, text = server.get("/readyz")
    check(status == 200 and "; last certificate reload failed 2" in text, text)
    client = Client(server)
    check(client.leaf() == old, "a certificate without its key")
    client.close()
    replace("tls.key", server.others, server.certificates)

    def serves_new():
        probe = Client(server)
        leaf = probe.leaf()
        probe.close()
        return leaf == new

    await_that(serves_new, "the new certificate")
    load.end()
    check(before.colour() in ("red", "blue"), "the connection of before")
    check(before.leaf() == old, "the connection of before has another certificate")
    before.close()
    await_that(lambda: "failed" not in server.get("/readyz")[1], "no failure")


def mounted_secret(server):
    """A Secret as cert-manager keeps it and kubelet mounts it: certificate, key and CA at once."""
    def files(folder):
        return {name: open(os.path.join(folder, name), encoding="ascii").read()
                for name in ("ca.crt", "tls.crt", "tls.key")}

    mount = Mount(server.certificates + "-mounted")
    mount.show(files(server.certificates))
    mounted = Serving(sys.argv[1], mount.folder, "-p", server.policies.folder)
    try:
        mounted.tls.load_verify_locations(os.path.join(server.others, "ca.crt"))
        load = Load(mounted, 2, 1)
        for folder in (server.others, server.certificates, server.others):
            mount.show(files(folder))

            def serves_it():
                probe = Client(mounted)
                leaf = probe.leaf()
                probe.close()
                return leaf == leaf_of(folder)

            await_that(serves_it, "the certificate of " + folder)
        load.end()
        failures = mounted.metric('taffrail_reload_failures_total{what="certificate"}')
        check(failures == 0, "%d failures" % failures)
    finally:
        mounted.process.kill()
        mounted.process.wait()


def signals_while_draining(server):
    server.signal(signal.SIGTERM)
    await_that(lambda: server.get("/readyz")[0] == 503, "draining")
    server.signal(signal.SIGHUP)
    check(server.process.wait(WAIT_S) == 0, "exit code %d" % server.process.returncode)


CASES = [storm, swapped_mount, hang_up, broken_policy, new_state, new_certificate,
         mounted_secret, signals_while_draining]


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(sys.argv[1], folder)
        try:
            for case in CASES:
                try:
                    case(server)
                except (Failure, OSError, http.client.HTTPException) as failure:
                    failed += 1
                    print("FAILED %s: %s: %s" % (case.__name__, type(failure).__name__, failure))
                    print("".join(server.log[-10:]))
        finally:
            if server.process.poll() is None:
                server.process.kill()
                server.process.wait()
    print("%d cases, %d failed" % (len(CASES), failed))
    return failed > 0


sys.exit(main())
