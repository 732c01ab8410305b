"""A real Prometheus, Debian's, that scrapes a real server: `taffrail serve` at the fake API server, with the rules
and the dashboard of manifests/monitoring."""

import contextlib
import http.client
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True  # nothing is written beside the tests
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/contract"))
import fake as fake_server
from audit_cluster import CLUSTER, PLURALS, POLICY, spec, template, thing
from fake import kubeconfig
from serving import WAIT_S, Serving, check

MONITORING = SOURCE / "manifests/monitoring"
REGISTRATION = "/apis/admissionregistration.k8s.io/v1/"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def put(one):
    metadata = one["metadata"]
    path = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
    return f"object {PLURALS[one['kind']]} {path} {json.dumps(one)}"


def review(pod_spec, operation="CREATE"):
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "1", "operation": operation, "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
        "userInfo": {"username": "jo"}, "namespace": "web", "oldObject": None,
        "object": thing("apps/v1", "Deployment", "shop", spec={"template": template(pod_spec)})}})


class ApiServer(http.server.BaseHTTPRequestHandler):
    """Says what an API server says of webhooks; the stories of scripts/e2e see it at a real one.

    As there, a count of what never happened has no series."""
    let_through = 0

    def do_GET(self):
        webhook = 'name="rails.taffrail.dev",type="validating"'
        text = f"apiserver_admission_webhook_admission_duration_seconds_count{{{webhook}}} 40\n"
        if self.let_through > 0:
            text += f"apiserver_admission_webhook_fail_open_count{{{webhook}}} {self.let_through}\n"
        text = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Monitored:
    def __init__(self, taffrail, fakeapi, folder, scrape_s=1):
        self.folder = pathlib.Path(folder)
        self.policy = self.folder / "policy.yaml"
        self.policy.write_text(POLICY)
        self.fake = fake_server.Fake(fakeapi, folder, "\n".join(
            ["api openreports.io on", *map(put, CLUSTER)]))
        for plural, kind in (("validatingwebhookconfigurations", "Validating"),
                             ("mutatingwebhookconfigurations", "Mutating")):
            self.send("POST", REGISTRATION + plural, {
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "WebhookConfiguration",
                "metadata": {"name": "taffrail"}, "webhooks": [{
                    "name": "rails.taffrail.dev", "clientConfig": {"service": {
                        "name": "taffrail", "namespace": "taffrail"}}}]})
        config = kubeconfig(folder, f"http://127.0.0.1:{self.fake.port}")
        self.serving = Serving(taffrail, None, "-p", str(self.policy), "--kubeconfig", config,
                               "--manage-webhooks", "--cert-secret", "taffrail/tls", "--write-reports",
                               "--report-interval", "2s", "--lease-duration", "3s",
                               "--lease-renew-deadline", "2s", "--lease-retry-period", "1s",
                               "--bundle-settle", "1s")
        self.tls = ssl._create_unverified_context()  # the CA is in a Secret of the fake API server
        self.apiserver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
        threading.Thread(target=self.apiserver.serve_forever, daemon=True).start()
        self.port = free_port()
        shutil.copy(MONITORING / "alerts.yaml", self.folder)
        (self.folder / "prometheus.yaml").write_text(json.dumps({
            "global": {"scrape_interval": f"{scrape_s}s", "evaluation_interval": f"{scrape_s}s"},
            "rule_files": ["alerts.yaml"],
            "scrape_configs": [
                {"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}
                for job, port in (("taffrail", self.serving.ops_port),
                                  ("apiserver", self.apiserver.server_port))]}))
        self.log = open(self.folder / "prometheus.log", "w")
        self.prometheus = subprocess.Popen(
            ["prometheus", f"--config.file={self.folder}/prometheus.yaml",
             f"--storage.tsdb.path={self.folder}/data", f"--web.listen-address=127.0.0.1:{self.port}",
             "--log.level=warn"], stdout=self.log, stderr=subprocess.STDOUT)

    def end(self):
        self.prometheus.terminate()
        self.prometheus.wait(WAIT_S)
        self.log.close()
        self.serving.process.kill()
        self.serving.process.wait(WAIT_S)
        self.apiserver.shutdown()
        self.fake.end()

    def send(self, method, path, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.fake.port, timeout=WAIT_S)
        connection.request(method, path, json.dumps(body))
        connection.getresponse().read()
        connection.close()

    def wait(self, what, condition):
        end = time.monotonic() + WAIT_S
        while True:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):  # it is starting
                found = condition()
                if found:
                    return found
            check(time.monotonic() < end, f"not within {WAIT_S} s: {what}\n"
                  + (self.folder / "prometheus.log").read_text()[-2000:]
                  + "".join(self.serving.log)[-2000:])
            time.sleep(0.2)

    def judge(self, count, wrong=1, warned=0):
        """So many reviews, of which the first ones are denied and the last ones warned of."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.serving.port, context=self.tls,
                                                 timeout=WAIT_S)
        for i in range(count):
            more = {"nodeSelector": {"karpenter.sh/capacity-type": "spot"}} if i >= count - warned else {}
            body = review(spec(key="zone" if i < wrong else "topology.kubernetes.io/zone", **more))
            connection.request("POST", "/validate?timeout=2s", body, {"Content-Type": "application/json"})
            connection.getresponse().read()
        connection.close()

    def load(self, seconds):
        """As of people at work: more, fewer, some wrong."""
        dice, end = random.Random(7), time.monotonic() + seconds
        while time.monotonic() < end:
            self.judge(dice.randrange(9, 40), dice.choice((0, 0, 1, 1, 2, 5)), dice.choice((0, 0, 3)))
            time.sleep(dice.choice((0.1, 0.4, 1.5)))

    def ask(self, path, **arguments):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request("GET", f"/api/v1/{path}?" + urllib.parse.urlencode(arguments))
        answer = json.loads(connection.getresponse().read())
        check(answer["status"] == "success", f"{path} {arguments}: {answer}")
        return answer["data"]

    def value(self, expression):
        """The samples of a query now: by their labels."""
        return {tuple(sorted(one["metric"].items())): float(one["value"][1])
                for one in self.ask("query", query=expression)["result"]}


def panels(rows=False):
    """The dashboard's panels that ask something, in their order; and the titles between them."""
    board = json.loads((MONITORING / "dashboard.json").read_text())
    return [panel for panel in board["panels"] if panel.get("targets") or rows]


def filled(expression, interval="15s"):
    """As Grafana asks it, with every variable at All."""
    asked = re.sub(r"\$(cluster|job)\b", ".*", expression).replace("$__rate_interval", interval)
    check("$" not in asked, f"a variable that is not known: {asked}")
    return asked


def table():
    """The metrics of docs/reference/metrics.md: name and type."""
    page = (SOURCE / "docs/reference/metrics.md").read_text()
    return dict(re.findall(r"^\| `(taffrail_\w+)` \| (\w+) \|", page, re.M))
