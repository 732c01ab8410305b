"""Replicas of `taffrail serve --manage-webhooks` at one fake API server, for tests and for long runs."""

import base64
import http.client
import json
import os
import signal
import socket
import ssl
import time

import fake as fake_server
from fake import kubeconfig
from serving import NAME, WAIT_S, Serving, check

LOOK_S = 0.05
POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: duties}
spec: {mode: enforce, rails: {topology-keys: {}}}
"""
REGISTRATION = "/apis/admissionregistration.k8s.io/v1/"
PLURALS = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
SECRET = "/api/v1/namespaces/taffrail/secrets/certs"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/taffrail/leases/taffrail"
REVIEW = json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
    "uid": "1", "operation": "CREATE", "kind": {"group": "", "version": "v1", "kind": "Pod"},
    "userInfo": {"username": "jo"}, "namespace": "web", "oldObject": None, "object": {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "web"},
        "spec": {"containers": [{"name": "a", "image": "a"}]}}}})


def configuration(kind, *names):
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": {"name": "taffrail", "labels": {"of": "somebody-else"}},
            "webhooks": [{"name": name, "failurePolicy": "Ignore", "sideEffects": "None",
                          "clientConfig": {"service": {"name": "taffrail", "namespace": "taffrail",
                                                       "path": "/validate"}},
                          "rules": [{"operations": ["CREATE"]}]} for name in names]}


# An entry of others, who chose the same name for their configuration.
THEIRS = {"name": "theirs.example.com", "failurePolicy": "Ignore", "sideEffects": "None",
          "clientConfig": {"service": {"name": "other", "namespace": "taffrail"},
                           "caBundle": "T1RIRVI="},
          "rules": [{"operations": ["CREATE"]}]}


class Cluster:
    def __init__(self, programs, folder, registered=True):
        """programs: taffrail, and the fake API server."""
        self.taffrail, fakeapi = programs
        self.folder, self.replicas = folder, []
        self.fake = fake_server.Fake(fakeapi, folder, "\n")
        self.policy = os.path.join(folder, "policy.yaml")
        with open(self.policy, "w") as file:
            file.write(POLICY)
        if registered:
            self.register()

    def register(self):
        validating = configuration(
            "ValidatingWebhookConfiguration", "one.taffrail.dev", "two.taffrail.dev")
        validating["webhooks"].insert(1, THEIRS)
        self.send("POST", REGISTRATION + PLURALS[0], validating)
        self.send("POST", REGISTRATION + PLURALS[1], configuration(
            "MutatingWebhookConfiguration", "changes.taffrail.dev"))

    def send(self, method, path, body=None):
        """The object that is answered; None when it is not there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.fake.port, timeout=WAIT_S)
        connection.request(method, path, None if body is None else json.dumps(body))
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        check(reply.status in (200, 201, 404), f"{method} {path}: {reply.status} {text}")
        return None if reply.status == 404 else json.loads(text)

    def start(self, *arguments):
        token = f"replica-{len(self.replicas)}"
        config = kubeconfig(self.folder, f"http://127.0.0.1:{self.fake.port}",
                            "{token: %s}" % token, "config-" + token)
        replica = Serving(self.taffrail, None, "-p", self.policy, "--kubeconfig", config,
                          "--manage-webhooks", "--cert-secret", "taffrail/certs",
                          "--lease-duration", "3s", "--lease-renew-deadline", "2s",
                          "--lease-retry-period", "1s", *arguments)
        replica.who = "Bearer " + token
        replica.up = True  # and to be asked
        self.replicas.append(replica)
        return replica

    def leaders(self, among=None):
        return [replica for replica in among or self.replicas
                if replica.up and replica.metric("taffrail_leader") == 1]

    def wait(self, what, condition, limit_s=WAIT_S):
        """limit_s: on a machine that has time. A look takes LOOK_S there; what it takes more, others had."""
        end = time.monotonic() + limit_s
        while True:
            begun = time.monotonic()
            found = condition()
            if found:
                return found
            check(time.monotonic() < end, f"not within {limit_s} s: {what}\n"
                  + self.fake.ask("GET", "/fake/writes")[-3000:]
                  + "".join("".join(replica.log) for replica in self.replicas)[-6000:])
            time.sleep(0.02)
            end += max(0, time.monotonic() - begun - LOOK_S)

    def wait_leader(self, among=None, limit_s=WAIT_S):
        return self.wait("one leads", lambda: self.leaders(among), limit_s)[0]

    def entries(self):
        return [entry for plural in PLURALS
                for entry in self.send("GET", REGISTRATION + plural + "/taffrail")["webhooks"]]

    def bundles(self):
        """The CA bundle of each webhook entry of ours, as it stands there now."""
        entries = self.entries()
        check(THEIRS in entries, f"another's entry was written: {entries}")
        entries = [entry for entry in entries if entry["name"] != THEIRS["name"]]
        return [base64.b64decode(entry["clientConfig"].get("caBundle", "")).decode()
                for entry in entries]

    def secret(self):
        data = (self.send("GET", SECRET) or {}).get("data", {})
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def check_writers(self):
        """What was written was written by who held the Lease at that moment."""
        identities, count = {}, 0
        for line in self.fake.ask("GET", "/fake/writes").splitlines():
            _, verb, plural, status, rest = line.split(" ", 4)
            who, _, holder = rest.partition(" holder=")
            if who == "-" or int(status) >= 300:
                continue
            if plural == "leases":
                if holder:
                    identities[holder] = who
                continue
            count += 1
            check(identities.get(holder) == who, f"written by another than the holder: {line}")
        check(len(set(identities.values())) == len(identities), f"identities: {identities}")
        return count

    def end(self):
        for replica in self.replicas:
            if replica.process.poll() is None:
                replica.process.send_signal(signal.SIGCONT)
                replica.process.send_signal(signal.SIGINT)
                code = replica.process.wait(WAIT_S)
                check(code == 0, f"it ended with {code}:\n" + "".join(replica.log))
        self.fake.end()


def ask(replica, bundle):
    """One review over a connection of its own, as an API server that trusts this bundle."""
    context = ssl.create_default_context(cadata=bundle)
    with socket.create_connection(("127.0.0.1", replica.port), timeout=WAIT_S) as plain:
        with context.wrap_socket(plain, server_hostname=NAME) as connection:
            connection.sendall((f"POST /validate?timeout=2s HTTP/1.1\r\nHost: {NAME}\r\n"
                                "Content-Type: application/json\r\nConnection: close\r\n"
                                f"Content-Length: {len(REVIEW)}\r\n\r\n{REVIEW}").encode())
            reply = http.client.HTTPResponse(connection)
            reply.begin()
            answer = json.loads(reply.read())
            check(reply.status == 200 and answer["response"]["allowed"], f"{answer}")
            return connection.getpeercert()["serialNumber"]
