"""Lists and watches a fake API server through every fault a script can name, by kube/client, and
without faults by clients that others wrote. The fake server's own account of what it holds is what
all are compared with."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from fake import kubeconfig
from serving import WAIT_S, Failure, check, run_tests

BIN = sys.argv[1]
Fake = functools.partial(fake_server.Fake, os.path.join(BIN, "fakeapi"))

# A kind for each fault, so that all happen at once: (kind, plural, is in a namespace).
KINDS = [
    ("Pod", "pods", True), ("Deployment", "deployments", True), ("Job", "jobs", True),
    ("ReplicaSet", "replicasets", True), ("StatefulSet", "statefulsets", True),
    ("DaemonSet", "daemonsets", True), ("CronJob", "cronjobs", True),
    ("NodePool", "nodepools", False), ("NodeClaim", "nodeclaims", False),
    ("Node", "nodes", False), ("Namespace", "namespaces", False),
    ("StorageClass", "storageclasses", False), ("PersistentVolume", "persistentvolumes", False),
    ("CSINode", "csinodes", False),
]
LIST_FAULTS = ["html", "status 500", "status 429 1", "refuse", "cut", "stall", "status 410",
               "status 401", "status 503"]
EVENT = '{"type":"ADDED","object":{"kind":"%s","metadata":{"name":"x","namespace":"y"%s}}}'
WATCH_FAULTS = [
    "refuse", "html", "status 410", "status 500", "status 429 1", "pieces 1", "cut", "stall", "end",
    "say <html>", 'say {"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Gone"}}',
    "say " + EVENT % ("Secret", ',"resourceVersion":"999999"'),
    "say " + EVENT % ("Pod", ""),
    'say {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"1"}}}',
]


class Driver:
    def __init__(self, where, *kinds, idle=("--list-idle", "700", "--watch-idle", "1500")):
        self.process = subprocess.Popen(
            [os.path.join(BIN, "client_driver"), *idle, *where, *kinds], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.log = []
        self.reader = threading.Thread(target=self.log.extend, args=(self.process.stderr,),
                                       daemon=True)
        self.reader.start()

    def ask(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def hold(self, fake, kind, plural):
        """Waits until it holds what the server holds."""
        wanted = fake.truth(plural).replace("\n", ",")
        if self.ask(f"wait {kind} {wanted}") != "yes":
            raise Failure(f"{kind}: wanted {wanted}, has {self.ask('show ' + kind)}, "
                          f"{self.ask('report ' + kind)}\n" + "".join(self.log))

    def until(self, question, pattern):
        """Works until the answer has the pattern."""
        end = time.monotonic() + WAIT_S
        while not re.search(pattern, answer := self.ask(question)):
            check(time.monotonic() < end, f"{question}: {answer}, no {pattern}")
            self.ask("run 50")
        return answer

    def end(self, code=0):
        self.process.stdin.close()
        check(self.process.wait(WAIT_S) == code, "the driver ended with another code")
        self.reader.join()
        return "".join(self.log)


def name_of(namespaced, name):
    return "shop/" + name if namespaced else name


def everything_that_fails_comes_right(folder):
    script = ["bookmarks 300 # a heartbeat"]
    for i, (_, plural, namespaced) in enumerate(KINDS):
        script += [f"put {plural} {name_of(namespaced, 'o' + str(n))} {n * 100}" for n in range(5)]
        script.append(f"list {plural} {LIST_FAULTS[i % len(LIST_FAULTS)]}")
        script.append(f"watch {plural} put {plural} {name_of(namespaced, 'seen')}; "
                      f"delete {plural} {name_of(namespaced, 'o1')}; "
                      f"{WATCH_FAULTS[i % len(WATCH_FAULTS)]}"
                      if not WATCH_FAULTS[i].startswith(("refuse", "html", "status")) else
                      f"watch {plural} {WATCH_FAULTS[i]}")
    fake = Fake(folder, "\n".join(script) + "\n")
    server = f"http://127.0.0.1:{fake.port}"
    driver = Driver(["kubeconfig", kubeconfig(folder, server)], *[kind[0] for kind in KINDS])
    driver.ask("run 2000")
    for _, plural, namespaced in KINDS:  # unseen by those whose watch has failed
        fake.do(f"delete {plural} {name_of(namespaced, 'o2')}",
                f"put {plural} {name_of(namespaced, 'o3')}",
                f"put {plural} {name_of(namespaced, 'new')}")
    for kind, plural, _ in KINDS:
        driver.hold(fake, kind, plural)
    # Now all watches work; what expires meanwhile is listed anew, and nothing is lost.
    fake.do("watch pods stall", "compact")
    for kind, plural, namespaced in KINDS:
        fake.do(f"delete {plural} {name_of(namespaced, 'new')}", f"put {plural} "
                f"{name_of(namespaced, 'last')}", "compact")
    for kind, plural, _ in KINDS:
        driver.hold(fake, kind, plural)
        report = driver.ask("report " + kind)
        check("synced=1 degraded=0" in report, f"{kind}: {report}")
        check(int(re.search(r"failures=(\d+)", report)[1]) > 0, f"{kind} had no fault: {report}")
    for request in fake.requests("watch"):
        check(request.endswith("encoding="), "a watch may be compressed: " + request)
    lists = fake.requests("list")
    check(all("gzip" in request for request in lists), "a list may not be compressed")
    check(any("limit=2 continue=" in r and "continue= " not in r for r in lists), "no second page")
    driver.end()
    fake.end()


def a_kind_that_is_forbidden_goes_alone(folder):
    fake = Fake(folder, "put pods shop/a\nput nodes n\n" + "list nodes status 403\n" * 9)
    driver = Driver(["kubeconfig", kubeconfig(folder, f"http://127.0.0.1:{fake.port}")],
                    "Pod", "Node")
    driver.hold(fake, "Pod", "pods")
    driver.until("report Node", "degraded=1")
    driver.ask("run 1500")
    check(driver.ask("show Node") == "", "nodes were read")
    asked = len(fake.requests("list nodes"))
    check(asked <= 4, f"nodes were asked for {asked} times within 1.5 s")
    log = driver.end()
    check(log.count("403") == 1, "the refusal is not said once: " + log)
    fake.end()


def a_quiet_watch_counts_as_open(folder):
    """It sends its head, and nothing more until a bookmark."""
    fake = Fake(folder, "bookmarks 3600000\nput pods shop/a\n")
    driver = Driver(["kubeconfig", kubeconfig(folder, f"http://127.0.0.1:{fake.port}")], "Pod",
                    idle=())
    driver.until("report Pod", "watching=1 .*events=0")
    driver.end()
    fake.end()


def a_token_is_read_anew(folder):
    token = os.path.join(folder, "token")

    def write(text):
        with open(token + ".new", "w") as file:
            file.write(text)
        os.rename(token + ".new", token)

    write("first\n")
    fake = Fake(folder, "put pods shop/a\nwatch pods end\nwatch pods end\nwatch pods end\n")
    config = kubeconfig(folder, f"http://127.0.0.1:{fake.port}", "{tokenFile: token}")
    driver = Driver(["kubeconfig", config], "Pod")

    def seen(word):
        end = time.monotonic() + WAIT_S
        while not any(f"=Bearer {word} " in request for request in fake.requests("")[-1:]):
            check(time.monotonic() < end, f"no request with {word}: {fake.requests('')}")
            driver.ask("run 50")

    seen("first")
    write("second")
    seen("second")
    os.remove(token)
    count = len(fake.requests(""))
    while len(fake.requests("")) == count:
        driver.ask("run 50")
    seen("second")
    log = driver.end()
    check("the last one is used on" in log, "a token that is gone is not said: " + log)
    check("second" not in log, "the log has the token")
    fake.end()


def a_changed_kubeconfig_is_no_failure(folder):
    fake = Fake(folder, "put pods shop/a\n")
    where = f"http://127.0.0.1:{fake.port}"
    config = kubeconfig(folder, where, "{token: first}")
    driver = Driver(["kubeconfig", config], "Pod", idle=())
    driver.until("report Pod", "watching=1")
    os.rename(kubeconfig(folder, where, "{token: second}", "next"), config)
    end = time.monotonic() + WAIT_S
    while not any("=Bearer second " in request for request in fake.requests("watch pods")):
        check(time.monotonic() < end, f"no watch with the new token: {fake.requests('')}")
        driver.ask("run 50")
    report = driver.until("report Pod", "watching=1")
    check("lists=1 " in report and "failures=0 problem=" in report, report)
    log = driver.end()
    check("read again" in log and "asked" not in log, "a failure is said: " + log)
    fake.end()


def credentials_are_not_sent_in_the_clear(folder):
    config = kubeconfig(folder, "http://192.0.2.1:8080", "{token: secret}")
    log = Driver(["kubeconfig", config], "Pod").end(2)
    check("over https only" in log and "secret" not in log, log)


def tls_is_checked(folder):
    """Python's TLS is the server: by the right CA, by another, by another name, with a client's
    certificate, as a service account."""
    import http.server
    import ssl

    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=folder, capture_output=True)

    for ca in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=" + ca, "-keyout", ca + ".key", "-out", ca + ".crt")
    for name, extension in (("api", "subjectAltName=IP:127.0.0.1"),
                            ("named", "subjectAltName=DNS:api.example"),
                            ("me", "extendedKeyUsage=clientAuth")):
        with open(os.path.join(folder, "extension"), "w") as file:
            file.write(extension)
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".csr")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days",
                "2", "-CAcreateserial", "-extfile", "extension", "-out", name + ".crt")
    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            peer = self.connection.getpeercert()
            self.server.seen.append((self.headers.get("Authorization"), peer and peer["subject"][0][0][1]))
            watch = "watch=1" in self.path
            body = b"" if watch else json.dumps({
                "kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"},
                "items": [{"metadata": {"name": "tls", "namespace": "shop",
                                        "resourceVersion": "5", "labels": {"revision": "5"}}}]
            }).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    def serve(certificate, client):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(folder, certificate + ".crt"),
                                os.path.join(folder, certificate + ".key"))
        context.load_verify_locations(os.path.join(folder, "ca.crt"))
        context.verify_mode = ssl.CERT_REQUIRED if client else ssl.CERT_OPTIONAL
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        server.daemon_threads = True
        server.seen = []  # the client before may still ask another server
        server.handle_error = lambda *_: None  # what the client refuses
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    def data(name):
        import base64
        with open(os.path.join(folder, name), "rb") as file:
            return base64.b64encode(file.read()).decode()

    def drive(server, cluster, user):
        path = os.path.join(folder, "tls-config")
        with open(path, "w") as file:
            file.write(f"""current-context: here
contexts: [{{name: here, context: {{cluster: fake, user: me}}}}]
clusters:
- name: fake
  cluster: {{server: "https://127.0.0.1:{server.server_port}", {cluster}}}
users: [{{name: me, user: {{{user}}}}}]
""")
        return Driver(["kubeconfig", path], "Pod", idle=())

    def attempt(server, cluster, user, good):
        driver = drive(server, cluster, user)
        if good:
            answer = driver.ask("wait Pod shop/tls 5,")
            check(answer == "yes", f"{cluster}: {driver.ask('report Pod')}")
        else:
            report = driver.until("report Pod", "failures=[1-9]")
            check("synced=0" in report and "certificate" in report, f"{cluster}: {report}")
        driver.end()

    plain, named, mutual = serve("api", False), serve("named", False), serve("api", True)
    attempt(plain, "certificate-authority: ca.crt", "token: abc", True)
    check(plain.seen[0][0] == "Bearer abc", f"the token did not come: {plain.seen}")
    attempt(plain, "certificate-authority-data: " + data("ca.crt"), "", True)
    attempt(plain, "certificate-authority: other.crt", "", False)
    attempt(plain, "certificate-authority-data: " + data("other.crt"), "", False)
    attempt(plain, "insecure-skip-tls-verify: true", "", True)
    attempt(named, "certificate-authority: ca.crt", "", False)
    attempt(named, "certificate-authority: ca.crt, tls-server-name: api.example", "", True)
    shutil.copy(os.path.join(folder, "other.crt"), os.path.join(folder, "used.crt"))
    driver = drive(plain, "certificate-authority: used.crt", "")
    driver.until("report Pod", "failures=[1-9].*certificate")
    shutil.copy(os.path.join(folder, "ca.crt"), os.path.join(folder, "next.crt"))
    os.rename(os.path.join(folder, "next.crt"), os.path.join(folder, "used.crt"))
    check(driver.ask("wait Pod shop/tls 5,") == "yes", "a new CA: " + driver.ask("report Pod"))
    driver.end()
    attempt(mutual, "certificate-authority: ca.crt",
            f"client-certificate-data: {data('me.crt')}, client-key: me.key", True)
    check(mutual.seen[0][1] == "me", f"the client's certificate did not come: {mutual.seen}")
    account = os.path.join(folder, "account")
    os.mkdir(account)
    shutil.copy(os.path.join(folder, "ca.crt"), account)
    for name, text in (("token", "of-the-account"), ("namespace", "taffrail")):
        with open(os.path.join(account, name), "w") as file:
            file.write(text)
    own = serve("api", False)
    driver = Driver(["in-cluster", account, "127.0.0.1", str(own.server_port)], "Pod", idle=())
    check(driver.ask("wait Pod shop/tls 5,") == "yes", driver.ask("report Pod"))
    check(own.seen[0][0] == "Bearer of-the-account", f"no token of the account: {own.seen}")
    driver.end()
    for server in (plain, named, mutual, own):
        server.shutdown()


def kubectl_sees_the_same(folder):
    if not shutil.which("kubectl"):
        print("kubectl is not installed: passed over")
        return
    fake = Fake(folder, "bookmarks 300\n" + "".join(f"put pods shop/o{n}\n" for n in range(5)))
    config = kubeconfig(folder, f"http://127.0.0.1:{fake.port}")
    command = ["kubectl", "--kubeconfig", config, "--cache-dir", os.path.join(folder, "cache"),
               "get", "pods", "--all-namespaces", "--chunk-size=2", "--output",
               "jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} "
               "{.metadata.resourceVersion}{\"\\n\"}{end}"]
    listed = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    check(listed.stdout == fake.truth("pods"), f"kubectl lists {listed.stdout} {listed.stderr}")
    watching = subprocess.Popen(
        [*command[:8], "--watch-only", "--output-watch-events", "--output",
         "jsonpath={.type} {.object.metadata.name}{\"\\n\"}"], text=True, stdout=subprocess.PIPE)
    stop = threading.Timer(WAIT_S, watching.kill)
    stop.start()
    while not fake.requests("watch pods") and watching.poll() is None:
        time.sleep(0.05)
    fake.do("put pods shop/live", "delete pods shop/o1", "put pods shop/o2 5000")
    lines = [watching.stdout.readline().strip() for _ in range(3)]
    watching.kill()
    watching.communicate()
    stop.cancel()
    check(lines == ["ADDED live", "DELETED o1", "MODIFIED o2"], f"kubectl watches {lines}")
    fake.end()


def pythons_client_sees_the_same(folder):
    try:
        import kubernetes
    except ImportError:
        print("python3-kubernetes is not installed: passed over")
        return
    fake = Fake(folder, "bookmarks 300\n" + "".join(f"put nodes o{n}\n" for n in range(5)))
    api = kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(
        kubeconfig(folder, f"http://127.0.0.1:{fake.port}")))
    lines, token = "", None
    while token != "":
        page = api.list_node(limit=2, _continue=token)
        lines += "".join(f"/{node.metadata.name} {node.metadata.resource_version}\n"
                         for node in page.items)
        token = page.metadata._continue or ""
    check(lines == fake.truth("nodes"), f"Python's client lists {lines}")
    fake.do("put nodes live", "delete nodes o1")
    events = []
    for event in kubernetes.watch.Watch().stream(
            api.list_node, resource_version=page.metadata.resource_version, timeout_seconds=30):
        events.append((event["type"], event["object"].metadata.name))
        if len(events) == 2:
            break
    check(events == [("ADDED", "live"), ("DELETED", "o1")], f"Python's client watches {events}")
    # what has been forgotten: a revision to watch from, and the rest of a list
    stale = api.list_node(limit=2).metadata
    fake.do("put nodes later", "compact", "put nodes latest")

    def is_gone(ask, **arguments):
        try:
            list(ask(**arguments))
        except kubernetes.client.ApiException as error:
            return error.status == 410
        return False

    check(is_gone(kubernetes.watch.Watch().stream, func=api.list_node, timeout_seconds=5,
                  resource_version=stale.resource_version), "an old revision can be watched")
    check(is_gone(lambda **more: api.list_node(**more).items, limit=2, _continue=stale._continue),
          "an old list goes on")
    fake.end()


run_tests(everything_that_fails_comes_right, a_kind_that_is_forbidden_goes_alone,
          a_quiet_watch_counts_as_open, a_token_is_read_anew, a_changed_kubeconfig_is_no_failure,
          credentials_are_not_sent_in_the_clear, tls_is_checked, kubectl_sees_the_same,
          pythons_client_sees_the_same)
