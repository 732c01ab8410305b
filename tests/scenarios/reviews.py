"""`taffrail serve` as a process, and AdmissionReviews as the API server sends them, for the tests that judge what is
answered."""

import http.client
import json
import os
import re
import ssl
import subprocess
import threading

import yaml


class Failure(Exception):
    pass


def kubectl_loader():
    """Scalars as the API server gets them: times stay text, as in kubectl."""
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, rule) for tag, rule in rules if tag != "tag:yaml.org,2002:timestamp"]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    return loader


def kubectl_yaml(path):
    """The documents of a file."""
    with open(path, encoding="utf-8") as stream:
        return [document for document in yaml.load_all(stream, kubectl_loader())
                if document is not None]


class Server:
    """A running `taffrail serve`, asked over TLS that is verified against its own CA."""

    def __init__(self, taffrail, arguments, scratch):
        certs = os.path.join(scratch, "certs")
        command = [taffrail, "serve", "--cert-dir", certs, "--listen", "127.0.0.1:0",
                   "--ops-listen", "127.0.0.1:0", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.log = []
        self.port = self.wait_for_port()
        self.trail = []
        self.readers = [self.read(self.process.stderr, self.log),
                        self.read(self.process.stdout, self.trail)]
        self.context = ssl.create_default_context(cafile=os.path.join(certs, "ca.crt"))

    @staticmethod
    def read(stream, lines):
        """Takes what is written, so that the server never waits for a full pipe."""
        reader = threading.Thread(target=lines.extend, args=(stream,), daemon=True)
        reader.start()
        return reader

    def wait_for_port(self):
        for line in self.process.stderr:
            self.log.append(line)
            found = re.search(r"webhook on 127\.0\.0\.1:(\d+)", line)
            if found:
                return int(found.group(1))
        raise Failure("the server did not start:\n" + "".join(self.log))

    def post(self, body, path="/validate"):
        """The status and the bytes of the answer to these bytes."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context,
                                                 timeout=300)
        connection.request("POST", path + "?timeout=30s", body,
                           {"Content-Type": "application/json"})
        response = connection.getresponse()
        answer = response.read()
        connection.close()
        return response.status, answer

    def review(self, body, path="/validate"):
        status, answer = self.post(json.dumps(body), path)
        if status != 200:
            raise Failure(f"HTTP {status}: {answer!r}")
        return json.loads(answer)["response"]

    def stop(self):
        """Ends the server; returns the lines of its trail."""
        self.process.send_signal(2)
        self.process.wait(timeout=300)
        for reader in self.readers:
            reader.join()
        if self.process.returncode != 0:
            raise Failure(f"the server ended with {self.process.returncode}")
        return [json.loads(line) for line in self.trail]


def plural_of(kind):
    return kind.lower() + ("es" if kind.endswith("s") else "s")


def review_of(uid, document, old, asking):
    """asking: user and groups; deleted, or operation, where it is neither CREATE nor UPDATE; subresource; dryRun."""
    group, _, version = document["apiVersion"].rpartition("/")
    kind = {"group": group, "version": version, "kind": document["kind"]}
    resource = asking.get("resource", {"group": group, "version": version,
                                       "resource": plural_of(document["kind"])})
    metadata = document.setdefault("metadata", {})
    subresource = asking.get("subresource", "")
    operation = "DELETE" if asking.get("deleted") else \
        asking.get("operation", "UPDATE" if old else "CREATE")
    deleted = operation == "DELETE"
    return {
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": uid, "kind": kind, "resource": resource, "requestKind": kind,
            "requestResource": resource,
            **({"subResource": subresource, "requestSubResource": subresource}
               if subresource else {}),
            "name": metadata.get("name", ""),
            "namespace": metadata.get("namespace", "default"),
            "operation": operation,
            "userInfo": {"username": asking.get("user", "jane"),
                         "groups": asking.get("groups", [])},
            "object": None if deleted else document, "oldObject": document if deleted else old,
            "dryRun": asking.get("dryRun", False),
            "options": {"apiVersion": "meta.k8s.io/v1",
                        "kind": operation.capitalize() + "Options"},
        },
    }
