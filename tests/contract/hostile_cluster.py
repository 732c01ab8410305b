"""An API server of a hostile cluster: lists and events that are made while they are sent, of objects as
large, deep and wide as anybody with rights in one namespace can make them."""

import http.server
import json
import queue
import threading
import urllib.parse

from live import (STATEFUL_SET, STORAGE_CLASS, claim, meta, node, volume)

VERSION = "1000"
ENTRIES = 280000  # of a list, in 1.4 MB: an object may not be larger
LARGE = 1400000   # bytes of an object; each "<" of it is six in JSON
BOOKMARK_S = 10
DEPTH = 300       # levels that an API server keeps


def typed(kind, name, rest=b"", namespace="hostile", more=b""):
    """An object as it stands in a list: rest is what follows its metadata."""
    where = f'"namespace":"{namespace}",' if namespace else ""
    return (f'{{"metadata":{{"name":"{name}",{where}"uid":"uid-{name}",'
            f'"resourceVersion":"{VERSION}"').encode() + more + b"}" + rest + b"}"


def deep(levels=DEPTH):
    """managedFields as nested as they may be."""
    fields = b'{"f:a":' * levels + b"{}" + b"}" * levels
    return b',"managedFields":[{"manager":"m","fieldsV1":' + fields + b"}]"


def template(containers):
    return b',"spec":{"selector":{"matchLabels":{"app":"a"}},"template":{"spec":{"containers":[' \
        + containers + b"]}}}"


def angle_brackets():
    return template(b'{"name":"c","env":[{"name":"E","value":"' + b"\\u003c" * LARGE + b'"}]}')


def many_entries():
    return template(b'{"name":"c","env":[' + b'{"name":"E"},' * (ENTRIES - 1) + b'{"name":"E"}]}')


def many_labels(count):
    return b',"labels":{' + b",".join(b'"l%d":"v"' % i for i in range(count)) + b"}"


def many_tolerations(count, number):
    """Of each object others, so that no two share them."""
    one = b'{"key":"k%d"}' % number
    return b',"spec":{"tolerations":[' + (one + b",") * (count - 1) + one + b"]}"


def owned(kind, owner):
    return (f',"ownerReferences":[{{"apiVersion":"apps/v1","kind":"{kind}","name":"{owner}",'
            f'"uid":"uid-{owner}","controller":true}}]').encode()


def plain(thing):
    return json.dumps(thing).replace('"@"', f'"{VERSION}"').encode()


class Listed:
    """The objects of a kind: count of them, made one by one."""

    def __init__(self, kind, version, count=0, make=None):
        self.kind, self.version, self.count, self.make = kind, version, count, make
        self.watches = []
        self.last = VERSION  # of its events


def of(kind, version, *objects):
    return Listed(kind, version, len(objects), lambda i: objects[i])


def cluster(scale):
    """What all kinds have; scale says how much of it."""
    brackets, entries, wide = angle_brackets(), many_entries(), many_labels(ENTRIES // 2)
    pods = scale["pods"]
    large = scale["large"]

    def pod(i):
        if i < scale["heavy"]:
            return typed("Pod", f"heavy-{i}", many_tolerations(30000, i))
        return typed("Pod", f"p-{i}", b',"spec":{"nodeName":"n-a","containers":[{"name":"c"}]}',
                     more=owned("ReplicaSet", f"r-{i % 1000}") + (deep() if i % 100 == 0 else b""))

    bound = [plain({key: thing[key] for key in thing if key not in ("apiVersion", "kind")})
             for thing in (claim("data-db-0", "vol-0"), claim("data-db-1", "vol-1"))]
    bound[0] = bound[0].replace(b'"metadata": {', b'"metadata": {' + deep()[1:] + b",", 1)
    bound[1] = bound[1].replace(b'"metadata": {', b'"metadata": {' + wide[1:] + b",", 1)
    kinds = {
        "pods": Listed("Pod", "v1", pods, pod),
        "deployments": Listed("Deployment", "apps/v1", large,
                              lambda i: typed("Deployment", f"d-{i}", brackets)),
        "daemonsets": Listed("DaemonSet", "apps/v1", large,
                             lambda i: typed("DaemonSet", f"d-{i}", brackets)),
        "jobs": Listed("Job", "batch/v1", large, lambda i: typed("Job", f"j-{i}", brackets)),
        "cronjobs": Listed("CronJob", "batch/v1", large,
                           lambda i: typed("CronJob", f"c-{i}", brackets)),
        "replicationcontrollers": Listed("ReplicationController", "v1", large,
                                         lambda i: typed("ReplicationController", f"r-{i}", entries)),
        "statefulsets": Listed("StatefulSet", "apps/v1", large + 1, lambda i: plain(
            {key: STATEFUL_SET[key] for key in ("metadata", "spec")}) if i == 0 else
            typed("StatefulSet", f"s-{i}", entries)),
        # Each is the owner of the next, and the last of the first.
        "replicasets": Listed("ReplicaSet", "apps/v1", 1000, lambda i: typed(
            "ReplicaSet", f"r-{i}", more=owned("ReplicaSet", f"r-{(i + 1) % 1000}"))),
        "poddisruptionbudgets": Listed("PodDisruptionBudget", "policy/v1", large, lambda i: typed(
            "PodDisruptionBudget", f"b-{i}", more=b',"annotations":{"a":"' + b"\\u003c" * LARGE +
            b'"}')),
        "limitranges": of("LimitRange", "v1", typed(
            "LimitRange", "l", b',"spec":{"limits":[' + b'{"type":"Pod"},' * ENTRIES + b"{}]}")),
        "persistentvolumeclaims": of("PersistentVolumeClaim", "v1", *bound),
        "persistentvolumes": of("PersistentVolume", "v1",
                                plain(volume("vol-0", "b", "data-db-0")),
                                plain(volume("vol-1", "c", "data-db-1"))),
        "nodes": of("Node", "v1", *(plain(node("n-" + zone, zone)) for zone in "abc")),
        "storageclasses": of("StorageClass", "storage.k8s.io/v1", plain(STORAGE_CLASS)),
        "namespaces": of("Namespace", "v1", plain({"metadata": meta("shop")})),
        "csinodes": of("CSINode", "storage.k8s.io/v1"),
        "podtemplates": of("PodTemplate", "v1"),
        "horizontalpodautoscalers": of("HorizontalPodAutoscaler", "autoscaling/v2"),
        "priorityclasses": of("PriorityClass", "scheduling.k8s.io/v1"),
        "nodeoverlays": of("NodeOverlay", "karpenter.sh/v1alpha1"),
        "capacitybuffers": of("CapacityBuffer", "autoscaling.x-k8s.io/v1beta1"),
        **{kind.lower() + ("es" if kind.endswith("ss") else "s"): of(kind, "resource.k8s.io/v1")
           for kind in ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")},
    }
    return kinds


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, kinds):
        super().__init__(("127.0.0.1", 0), Handler)
        self.kinds, self.lock, self.asked = kinds, threading.Lock(), []
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        pass  # who asked has gone

    def send(self, plural, kind, body):
        """An event to each watch of a kind. body: an object as in a list, whose version is replaced."""
        thing = self.kinds[plural]
        thing.last = str(int(thing.last) + 1)
        body = body.replace(f'"{VERSION}"'.encode(), f'"{thing.last}"'.encode(), 1)
        head = f'{{"type":"{kind}","object":{{"apiVersion":"{thing.version}","kind":"{thing.kind}",'
        with self.lock:
            for watch in thing.watches:
                watch.put(head.encode() + body[1:] + b"}\n")

    def watched(self, *plurals):
        with self.lock:
            return all(self.kinds[plural].watches for plural in plurals)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def write(self, data):
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")

    def begin(self, status=200):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def do_GET(self):
        where = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(where.query))
        plural = where.path.rpartition("/")[2]
        thing = self.server.kinds.get(plural)
        self.server.asked.append(self.path)
        if thing is None:
            self.begin(404)
            self.write(b'{"kind":"Status","code":404,"message":"no such kind"}')
        elif query.get("watch"):
            self.watch(thing)
            return
        else:
            self.list(thing, int(query.get("limit", 0)), int(query.get("continue", 0)))
        self.wfile.write(b"0\r\n\r\n")

    def list(self, thing, limit, start):
        end = min(thing.count, start + limit) if limit else thing.count
        token = f',"continue":"{end}"' if end < thing.count else ""
        self.begin()
        self.write(f'{{"kind":"{thing.kind}List","apiVersion":"{thing.version}","metadata":'
                   f'{{"resourceVersion":"{VERSION}"{token}}},"items":['.encode())
        for i in range(start, end):
            self.write((b"," if i > start else b"") + thing.make(i))
        self.write(b"]}")

    def watch(self, thing):
        events = queue.Queue()
        with self.server.lock:
            thing.watches.append(events)
        self.begin()
        while True:
            try:
                self.write(events.get(timeout=BOOKMARK_S))
            except queue.Empty:
                self.write(f'{{"type":"BOOKMARK","object":{{"kind":"{thing.kind}","apiVersion":'
                           f'"{thing.version}","metadata":{{"resourceVersion":"{thing.last}"}}}}}}\n'
                           .encode())
