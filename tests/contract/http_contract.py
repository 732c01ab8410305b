"""Speaks to `taffrail serve` over real TLS with raw sockets (docs/reference/admission.md 1.7).

Each case sends bytes and says which replies may come back; after each, a review on a new connection
must be answered as ever. At the end the server is told to stop under load and must lose no reply.
"""

import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import warnings

sys.dont_write_bytecode = True  # nothing is written beside the tests
from serving import NAME, WAIT_S, Failure, Serving, check

LIMIT = 40 << 20  # bytes of a body

POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata:
  name: contract
spec:
  mode: enforce
  rails:
    topology-keys: {}
"""


# ---- the server ----


class Server(Serving):
    """more: lines of the policy's spec."""

    def __init__(self, binary, folder, more="", **process):
        policy = os.path.join(folder, "policy.yaml")
        with open(policy, "w", encoding="utf-8") as file:
            file.write(POLICY + more)
        self.binary = binary
        super().__init__(binary, os.path.join(folder, "certs"), "-p", policy, **process)

    def plain(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)

    def connect(self):
        connection = self.plain()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.tls.wrap_socket(connection, server_hostname=NAME)


# ---- requests ----


def review(uid="good", topology_key=None, **more):
    pod = {"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
           "spec": {"containers": [{"name": "web", "image": "nginx"}]}}
    if topology_key:
        pod["spec"]["topologySpreadConstraints"] = [
            {"maxSkew": 1, "topologyKey": topology_key, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": {"app": "web"}}}]
    request = {"uid": uid, "kind": {"group": "", "version": "v1", "kind": "Pod"},
               "resource": {"group": "", "version": "v1", "resource": "pods"},
               "namespace": "shop", "operation": "CREATE", "userInfo": {"username": "jane"},
               "object": pod, "oldObject": None, "dryRun": False, "options": None}
    request.update(more)
    return json.dumps({"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1",
                       "request": request}).encode() + b"\n"


GOOD = review()


def post(body=GOOD, target=b"/validate", version=b"HTTP/1.1", method=b"POST", host=b"Host: " +
         NAME.encode() + b":443\r\n", content_type=b"Content-Type: application/json\r\n",
         length=None, more=b""):
    if length is None:
        length = b"Content-Length: %d\r\n" % len(body)
    return (method + b" " + target + b" " + version + b"\r\n" + host + content_type + length +
            more + b"\r\n" + body)


# ---- replies ----


class Reply:
    def __init__(self, head, body):
        lines = head.decode("latin-1").split("\r\n")
        check(re.fullmatch(r"HTTP/1\.1 \d{3} .*", lines[0]), "status line " + repr(lines[0]))
        self.status = int(lines[0].split()[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            check(name.lower() not in self.fields, "two fields " + name)
            self.fields[name.lower()] = value
        self.body = body

    def closes(self):
        return self.fields.get("connection", "").lower() == "close"


class Reader:
    """Reads replies from a socket, each to its Content-Length and not a byte further."""

    def __init__(self, connection):
        self.connection, self.buffer, self.ended = connection, b"", False

    def fill(self):
        try:
            more = self.connection.recv(65536)
        except (ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
            more = b""
        self.ended = not more
        self.buffer += more
        return bool(more)

    def reply(self, head_only=False):
        """The next reply; None when the server ended before it began."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.fill():
                check(not self.buffer, "ended within the header " + repr(self.buffer[:200]))
                return None
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        reply = Reply(head, b"")
        if reply.status == 100:
            return reply
        check("content-length" in reply.fields, "no Content-Length in " + repr(head))
        size = 0 if head_only else int(reply.fields["content-length"])
        while len(self.buffer) < size:
            check(self.fill(), "ended within the body")
        reply.body, self.buffer = self.buffer[:size], self.buffer[size:]
        # Of what libmicrohttpd cannot read at all, it writes the reply itself, as HTML without a type.
        check("content-type" in reply.fields or reply.body.startswith(b"<html>"),
              "no Content-Type in " + repr(head))
        return reply

    def end(self):
        """Nothing more comes, and the server closes."""
        while self.fill():
            pass
        check(not self.buffer, "after the reply came " + repr(self.buffer[:200]))


def send(connection, data):
    """The server may have answered and closed before everything is sent."""
    try:
        connection.sendall(data)
    except (ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
        pass


def half_close(connection):
    """The end of what is sent, without a word of TLS; what comes can still be read."""
    socket.socket.shutdown(connection, socket.SHUT_WR)


def check_answer(reply, uid, allowed):
    check(reply is not None, "no reply")
    check(reply.status == 200, "status %d: %r" % (reply.status, reply.body[:200]))
    check(reply.fields["content-type"] == "application/json", "type " + str(reply.fields))
    answer = json.loads(reply.body)
    check(answer["apiVersion"] == "admission.k8s.io/v1" and answer["kind"] == "AdmissionReview",
          "not an AdmissionReview: " + repr(answer))
    response = answer["response"]
    check(response["uid"] == uid and response["allowed"] is allowed, repr(response))
    if not allowed:
        check(response["status"]["code"] == 403, repr(response))


def check_serves(server):
    """A good review is allowed and one against the policy denied, on one new connection."""
    with server.connect() as connection:
        reader = Reader(connection)
        send(connection, post(review("after-1")))
        check_answer(reader.reply(), "after-1", True)
        send(connection, post(review("after-2", topology_key="zone")))
        check_answer(reader.reply(), "after-2", False)


def padded(topology_key, value, count):
    """A Pod whose spec has a list of so many values beside what a rail reads."""
    body = json.loads(review("padded", topology_key))
    body["request"]["object"]["spec"]["padding"] = [value] * count
    return json.dumps(body).encode()


def nested(depth):
    """A Pod with managedFields as deep as the API server keeps them, and deeper."""
    fields = b"[" * depth + b"]" * depth
    return review("nested", "zone").replace(
        b'"metadata": {"name"', b'"metadata": {"managedFields": [{"fieldsV1": ' + fields +
        b'}], "name"')


def decided(server):
    """What is too much to be judged is denied where a rail in enforce guards it; status 413 would
    admit it under failurePolicy Ignore."""
    bodies = [padded("zone", {}, 4500000), padded("zone", "<" * 1000, 30000),
              padded("kubernetes.io/hostname", {}, 4500000),
              padded("zone", [[[[[{}]]]]], 500000), nested(130), nested(300), nested(5000)]
    for body in bodies:
        with server.connect() as connection:
            send(connection, post(body))
            reply = Reader(connection).reply()
            check(len(reply.body) <= 64 << 10, "an answer of %d bytes" % len(reply.body))
            uid = "nested" if b"fieldsV1" in body else "padded"
            check_answer(reply, uid, False)


def decided_for_memory(server):
    """By a policy that gives them time: a slow machine would bring them to that limit first."""
    with tempfile.TemporaryDirectory() as folder:
        patient = Server(server.binary, folder, "  limits: {cpuMilliseconds: 28000, timeoutSeconds: 30}\n")
        try:
            decided(patient)
            limited = patient.metric('taffrail_review_limits_total{limit="memory",verdict="deny"}')
            check(limited > 0, "no review came to its limit of memory")
        finally:
            patient.process.kill()
            patient.process.wait()


# ---- cases: what is sent, what may come back ----

# A body: the connection is kept, and a good review on it is answered next.
BODIES = [
    ("nothing", b"", {400}),
    ("a word", b"hello", {400}),
    ("a number", b"12", {400}),
    ("null", b"null", {400}),
    ("a list", b"[]", {400}),
    ("an empty object", b"{}", {400}),
    ("another kind", GOOD.replace(b'"AdmissionReview"', b'"Pod"'), {400}),
    ("an older version", GOOD.replace(b"admission.k8s.io/v1", b"admission.k8s.io/v1beta1"), {400}),
    ("no request", b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}', {400}),
    ("request null", b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",'
                     b'"request":null}', {400}),
    ("request a list", b'{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",'
                       b'"request":[]}', {400}),
    ("no uid", GOOD.replace(b'"uid"', b'"UID"'), {400}),
    ("uid a number", review(uid=7), {400}),
    ("uid empty", review(uid=""), {400}),
    ("uid null", review(uid=None), {400}),
    ("operation a number", review(operation=1), {400}),
    ("operation unknown", review(operation="PATCH"), {400}),
    ("object a text", review(object="pod"), {400}),
    ("object a list", review(object=[1]), {400}),
    ("objects nested", b"{" * 100000, {400, 413}),
    ("keys nested", b'{"a":' * 20000 + b"1" + b"}" * 20000, {400, 413}),
    ("lists nested", b"[" * 100000, {400, 413}),
    ("lists nested and closed", b"[" * 50000 + b"]" * 50000, {400, 413}),
    ("very many values", b"[" + b"0," * 4000000 + b"0]", {400, 413}),
    ("very many objects", b"[" + b"{}," * 4000000 + b"{}]", {400, 413}),
    ("NULs", b"\0" * 1000, {400}),
    ("NUL after the review", GOOD + b"\0", {400}),
    ("NUL in a text", GOOD.replace(b'"good"', b'"go\0od"'), {400}),
    ("NUL escaped in a key", GOOD.replace(b'"uid"', b'"u\\u0000id"'), {400}),
    ("overlong UTF-8", GOOD.replace(b'"nginx"', b'"\xc0\xaf"'), {400}),
    ("a surrogate in UTF-8", GOOD.replace(b'"nginx"', b'"\xed\xa0\x80"'), {400}),
    ("no UTF-8", GOOD.replace(b'"nginx"', b'"\xff\xfe"'), {400}),
    ("UTF-8 cut short", GOOD.replace(b'"nginx"', b'"\xe2\x82"'), {400}),
    ("half an escaped surrogate pair", GOOD.replace(b'"nginx"', b'"\\ud800"'), {200, 400}),
    ("a byte order mark", b"\xef\xbb\xbf" + GOOD, {400}),
    ("a key twice", GOOD.replace(b'"uid"', b'"uid": "first", "uid"'), {400}),
    ("two reviews", GOOD + GOOD, {400}),
    ("cut short", GOOD[:-30], {400}),
    ("as many bytes as are allowed", GOOD + b" " * (LIMIT - len(GOOD)), {200}),
    ("a byte more than allowed", GOOD + b" " * (LIMIT - len(GOOD) + 1), {413}),
    ("four times what is allowed", b" " * (4 * LIMIT), {413}),
    ("two body parts of TLS records", review(options={"pad": "x" * 40000}), {200}),
]

# A whole request whose body can be told from what follows: the connection is kept.
KEPT = [
    ("type with a parameter", post(content_type=b"Content-Type: application/json; charset=utf-8\r\n"),
     {200}),
    ("type in capitals", post(content_type=b"CONTENT-TYPE: Application/JSON\r\n"), {200}),
    ("type text", post(content_type=b"Content-Type: text/plain\r\n"), {415}),
    ("type like JSON", post(content_type=b"Content-Type: application/jsonp\r\n"), {415}),
    ("no type", post(content_type=b""), {415}),
    ("two types", post(content_type=b"Content-Type: application/json\r\n" * 2), {415}),
    ("a timeout", post(target=b"/validate?timeout=10s"), {200}),
    ("a query with NUL", post(target=b"/validate?a=%00&b=%zz"), {200}),
    ("the other path", post(target=b"/mutate?timeout=10s"), {200}),
    ("NUL after the path", post(target=b"/validate%00"), {404}),
    ("an escaped path", post(target=b"/%76alidate"), {404}),
    ("a slash more", post(target=b"/validate/"), {404}),
    ("two slashes", post(target=b"//validate"), {404}),
    ("capitals", post(target=b"/Validate"), {404}),
    ("dots", post(target=b"/a/../validate"), {404}),
    ("the root", post(target=b"/"), {404}),
    ("a prefix", post(target=b"/valid"), {404}),
    ("a suffix", post(target=b"/validate2"), {404}),
    ("a parameter", post(target=b"/validate;a=b"), {404}),
    ("absolute form", post(target=b"https://" + NAME.encode() + b"/validate"), {404}),
    ("asterisk form", post(target=b"*"), {404}),
    ("a path of 8 KiB", post(target=b"/" + b"a" * 8192), {404}),
    ("a wrong path with a large body", post(b" " * 300000, target=b"/nowhere"), {404}),
    ("Connection: keep-alive", post(more=b"Connection: keep-alive\r\n"), {200}),
    ("Upgrade", post(more=b"Connection: Upgrade\r\nUpgrade: h2c\r\n"), {200}),
    ("many fields", post(more=b"X-A: b\r\n" * 200), {200}),
]

# The end of the request cannot be trusted: one reply, then the end. What is appended looks like a
# second request and must not be answered.
ENDED = [
    ("no Content-Length", post(length=b""), {411}),
    ("Content-Length twice, the same", post(length=b"Content-Length: %d\r\n" % len(GOOD) * 2), {400}),
    ("Content-Length twice", post(length=b"Content-Length: 5\r\nContent-Length: %d\r\n" % len(GOOD)),
     {400}),
    ("Content-Length and chunked",
     post(b"0\r\n\r\n", more=b"Transfer-Encoding: chunked\r\n"), {400}),
    ("chunked", post(b"5\r\nhello\r\n0\r\n\r\n", length=b"Transfer-Encoding: chunked\r\n"), {400}),
    ("chunked before Content-Length",
     post(b"0\r\n\r\n", length=b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), {400}),
    ("xchunked", post(length=b"Transfer-Encoding: xchunked\r\n"), {400}),
    ("gzip, chunked", post(length=b"Transfer-Encoding: gzip, chunked\r\n"), {400}),
    ("identity", post(more=b"Transfer-Encoding: identity\r\n"), {400}),
    ("chunked on a line of its own",
     post(length=b"Transfer-Encoding:\r\n chunked\r\n"), {400, 411}),
    ("blank before the colon", post(length=b"Content-Length : %d\r\n" % len(GOOD)), {400}),
    ("tab before the colon", post(length=b"Content-Length\t: %d\r\n" % len(GOOD)), {400}),
    ("blank before the colon of chunked",
     post(b"0\r\n\r\n", more=b"Transfer-Encoding : chunked\r\n"), {400}),
    ("no Host", post(host=b""), {400}),
    ("two Hosts", post(host=b"Host: a\r\nHost: b\r\n"), {400}),
    ("a body far beyond the limit", post(length=b"Content-Length: 99999999999\r\n"), {413}),
    ("a field without a colon", post(more=b"nonsense\r\n"), {400}),
    ("40 KB of a field", post(more=b"X-Filler: " + b"a" * 40000 + b"\r\n"), {431}),
    ("10 000 fields", post(more=b"X-A: b\r\n" * 10000), {431}),
    ("40 KB of a path", post(target=b"/" + b"a" * 40000), {414}),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400, 404, 505}),
    ("HTTP/3.0", post(version=b"HTTP/3.0"), {400, 505}),
    ("a version that is none", post(version=b"HTTZ/1.1"), {400, 505}),
    ("Connection: close", post(more=b"Connection: close\r\n"), {200}),
    ("HTTP/1.0", post(version=b"HTTP/1.0"), {200}),
]
ENDED += [(method.decode(), post(b"", method=method), {405})
          for method in (b"GET", b"HEAD", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"TRACE", b"BREW",
                         b"post")]
ENDED += [("GET of another path", post(b"", b"/healthz", method=b"GET"), {404}),
          ("PUT with a body", post(GOOD, method=b"PUT"), {405})]

# libmicrohttpd itself refuses these, and sends the header of its reply twice before it closes.
ENDED_TWICE = [("Content-Length " + repr(length.decode()),
                post(b"hello", length=b"Content-Length: " + length + b"\r\n"), {400})
               for length in (b"5,5", b"+5", b"0x5", b"-5", b"", b"5 5", b"5.0")]
ENDED_TWICE += [("Content-Length beyond 64 bits",
                 post(b"hello", length=b"Content-Length: 18446744073709551621\r\n"), {413})]

# Bytes in which a request may be seen or not: a reply or none, but the end comes, and nothing breaks.
ENDED_ANYHOW = [
    ("no request", b"\r\n\r\n\r\nhello\r\n\r\n"),
    ("a request of HTTP/0.9", b"POST /validate\r\n\r\n"),
    ("a blank in the path", post(target=b"/valid ate")),
    ("NUL in the path", post(target=b"/validate\0")),
    ("NUL in the method", post(method=b"PO\0ST")),
    ("NUL in a field", post(more=b"X-A: b\0c\r\n")),
    ("NUL in Content-Length", post(length=b"Content-Length: %d\0\r\n" % len(GOOD))),
    ("NUL in Transfer-Encoding", post(more=b"Transfer-Encoding\0: chunked\r\n")),
    ("a field without a name", post(more=b": value\r\n")),
    ("bare line feeds", post().replace(b"\r\n", b"\n")),
    ("bare carriage returns", post(more=b"X-A: b\rX-C: d\r\n")),
    ("bytes of no kind", bytes(range(256)) * 40),
    ("TLS within TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500),
]


def run_kept(server, request, statuses):
    """Twice on one connection, each followed by a good review."""
    with server.connect() as connection:
        reader = Reader(connection)
        for uid in ("kept-1", "kept-2"):
            send(connection, request)
            reply = reader.reply()
            check(reply is not None, "no reply")
            check(reply.status in statuses, "status %d: %r" % (reply.status, reply.body[:200]))
            check(not reply.closes(), "the connection is not kept")
            if reply.status != 200:
                check(reply.body.count(b"\n") == 1 and len(reply.body) > 10,
                      "not a line: " + repr(reply.body))
            send(connection, post(review(uid)))
            check_answer(reader.reply(), uid, True)


def run_ended(server, request, statuses, twice=False):
    with server.connect() as connection:
        reader = Reader(connection)
        send(connection, request + post(review("smuggled")))
        head_only = request.startswith(b"HEAD ")
        if twice:
            while reader.fill():
                pass
            found = re.match(rb"HTTP/1\.1 (\d+) ", reader.buffer)
            check(found and int(found[1]) in statuses, repr(reader.buffer[:300]))
            check(b"smuggled" not in reader.buffer, repr(reader.buffer))
            return
        reply = reader.reply(head_only)
        check(reply is not None, "no reply")
        check(reply.status in statuses, "status %d: %r" % (reply.status, reply.body[:200]))
        check(reply.closes() or request.find(b"HTTP/1.0") > 0, "it does not say that it closes")
        check(reply.status != 405 or reply.fields.get("allow") == "POST", "no Allow")
        reader.end()


def run_ended_anyhow(server, request):
    with server.connect() as connection:
        send(connection, request)
        half_close(connection)
        reader = Reader(connection)
        while reader.fill():
            pass
        check(len(reader.buffer) < 20000, "a lot came back")


# ---- cases that are not one request ----


def truncated_body(server):
    for size in (0, 1, len(GOOD) // 2, len(GOOD) - 1):
        with server.connect() as connection:
            send(connection, post(GOOD[:size], length=b"Content-Length: %d\r\n" % len(GOOD)))
            half_close(connection)
            reply = Reader(connection).reply()
            check(reply is None, "a reply to %d bytes: %r" % (size, reply and reply.body))


def client_gone(server):
    for _ in range(20):
        connection = server.connect()
        send(connection, post(b"", length=b"Content-Length: 100000\r\n"))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()  # with a reset


def pipelined(server):
    with server.connect() as connection:
        send(connection, b"".join(post(review("p%d" % i)) for i in range(20)))
        reader = Reader(connection)
        for i in range(20):
            check_answer(reader.reply(), "p%d" % i, True)


def in_pieces(server):
    request = post(review("pieces"))
    for size in (1, 7, 100):
        with server.connect() as connection:
            for start in range(0, len(request), size):
                send(connection, request[start:start + size])
            check_answer(Reader(connection).reply(), "pieces", True)


class Records:
    """A connection whose TLS is spoken here, to count the records that come."""

    def __init__(self, server):
        self.socket = server.plain()
        self.incoming, self.outgoing, self.count = ssl.MemoryBIO(), ssl.MemoryBIO(), 0
        self.tls = server.tls.wrap_bio(self.incoming, self.outgoing, server_hostname=NAME)
        self.step(self.tls.do_handshake)

    def step(self, step, *arguments):
        while True:
            try:
                result = step(*arguments)
            except ssl.SSLWantReadError:
                self.socket.sendall(self.outgoing.read())
                self.take_record()
            else:
                self.socket.sendall(self.outgoing.read())
                return result

    def take_record(self):
        head = self.take(5)
        self.incoming.write(head + self.take(int.from_bytes(head[3:], "big")))
        self.count += 1

    def take(self, size):
        taken = self.socket.recv(size, socket.MSG_WAITALL)
        check(len(taken) == size, "ended within a record")
        return taken

    def sendall(self, data):
        self.step(self.tls.write, data)

    def recv(self, size):
        return self.step(self.tls.read, size)


def replies_whole(server):
    """Header and body leave in one record, and at once: no timer of the kernel holds a reply back,
    which takes 200 ms, be it shorter than a packet or longer."""
    denied = review("whole", topology_key="zone")
    long = json.loads(denied)
    long["request"]["object"]["spec"]["topologySpreadConstraints"] *= 5
    bodies = {"allowed": review("whole"), "denied": denied, "long": json.dumps(long).encode()}
    for order in (("allowed", "denied"), ("denied", "allowed"), ("long", "allowed", "denied")):
        connection = Records(server)
        reader = Reader(connection)
        quickest_s = dict.fromkeys(order, float("inf"))
        for name in order * 5:
            begun, connection.count = time.monotonic(), 0
            connection.sendall(post(bodies[name]))
            reply = reader.reply()
            check_answer(reply, "whole", name == "allowed")
            check((len(reply.body) > 1400) == (name == "long"), "%d bytes" % len(reply.body))
            check(connection.count == 1, "a reply of %d records" % connection.count)
            quickest_s[name] = min(quickest_s[name], time.monotonic() - begun)
        check(max(quickest_s.values()) < 0.1, "the quickest replies took %r" % quickest_s)


def expected_body(server):
    with server.connect() as connection:
        reader = Reader(connection)
        send(connection, post(b"", length=b"Content-Length: %d\r\n" % len(GOOD),
                              more=b"Expect: 100-continue\r\n"))
        check(reader.reply().status == 100, "no 100")
        send(connection, GOOD)
        check_answer(reader.reply(), "good", True)
    with server.connect() as connection:
        reader = Reader(connection)
        send(connection, post(b"", length=b"Content-Length: %d\r\n" % (LIMIT + 1),
                              more=b"Expect: 100-continue\r\n"))
        reply = reader.reply()
        check(reply.status == 413 and reply.closes(), "status %d" % reply.status)
        reader.end()


def old_tls(server):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated, which is the point
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1_1
    try:
        context.wrap_socket(server.plain(), server_hostname=NAME).close()
    except ssl.SSLError as error:
        check("EOF" in str(error) or "ALERT" in str(error),
              "it was not the server that refused: %s" % error)
        return
    raise Failure("TLS 1.1 is spoken")


def new_tls(server):
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.minimum_version = context.maximum_version = version
        context.set_alpn_protocols(["h2", "http/1.1"])
        with context.wrap_socket(server.plain(), server_hostname=NAME) as connection:
            check(connection.selected_alpn_protocol() == "http/1.1",
                  "ALPN " + str(connection.selected_alpn_protocol()))
            send(connection, post())
            check_answer(Reader(connection).reply(), "good", True)


def plain_http(server):
    with server.plain() as connection:
        connection.sendall(post())
        reader = Reader(connection)
        while reader.fill():
            pass
        check(b"HTTP/" not in reader.buffer, "an answer without TLS: " + repr(reader.buffer))


def metrics_page(server):
    """Prometheus's own tool reads the page and finds nothing to say about it."""
    with server.connect() as connection:
        reader = Reader(connection)
        for number, (key, allowed) in enumerate([(None, True), ("zone", False)]):
            send(connection, post(review("metrics-%d" % number, topology_key=key)))
            check_answer(reader.reply(), "metrics-%d" % number, allowed)
    denied = ('taffrail_reviews_total{phase="validate",operation="CREATE",kind="Pod",'
              'verdict="deny"}')
    check(server.metric(denied) >= 1, "the denial is not counted")
    server.check_metrics_page()


def many_at_once(server):
    """Hostile and good clients side by side."""
    failures = []

    def hostile():
        for name, request, statuses in ENDED[:20]:
            try:
                run_ended(server, request, statuses)
            except (Failure, OSError) as failure:
                failures.append("%s: %s" % (name, failure))

    def good():
        for _ in range(20):
            try:
                check_serves(server)
            except (Failure, OSError) as failure:
                failures.append(str(failure))

    threads = [threading.Thread(target=target) for target in (hostile, good) * 8]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(not failures, "; ".join(failures[:5]))


ALONE = [
    ("a body that ends early", truncated_body),
    ("clients that go away", client_gone),
    ("pipelined requests", pipelined),
    ("a request in pieces", in_pieces),
    ("replies in one record", replies_whole),
    ("Expect: 100-continue", expected_body),
    ("TLS 1.1", old_tls),
    ("TLS 1.2 and 1.3", new_tls),
    ("HTTP without TLS", plain_http),
    ("the page of metrics", metrics_page),
    ("many clients at once", many_at_once),
]


# ---- stopping ----


class Load:
    """Clients that post in a loop until nobody listens. A request that was sent and not answered is
    lost; a connection that is refused, or ended before its handshake is done, is not."""

    def __init__(self, server, clients):
        self.server, self.answered, self.lost = server, 0, []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        connection = None
        for count in range(10 ** 9):
            if connection is None:
                try:
                    connection = self.server.connect()
                    reader = Reader(connection)
                except OSError:
                    return
            uid = "load-%d-%d" % (number, count)
            reply = None
            try:
                connection.sendall(post(review(uid)))
                reply = reader.reply()
                check_answer(reply, uid, True)
            except (OSError, Failure) as failure:
                self.lost.append("%s: %s" % (uid, failure))
            with self.lock:
                self.answered += 1
            if reply is None or reply.closes():
                connection.close()
                connection = None

    def wait_for(self, answered):
        end = time.monotonic() + WAIT_S
        while self.answered < answered:
            check(time.monotonic() < end, "the load does not run")
            time.sleep(0.01)

    def join(self):
        for thread in self.threads:
            thread.join()


def stop_under_load(server, number):
    idle = server.connect()
    load = Load(server, 6)
    load.wait_for(500)
    check(server.get("/readyz")[0] == 200, "not ready")
    server.process.send_signal(number)
    if number == signal.SIGTERM:
        # It goes on answering while the news spreads, so that this can be seen.
        end = time.monotonic() + WAIT_S
        while server.get("/readyz") != (503, "draining\n"):
            check(time.monotonic() < end, "still ready")
    check(server.process.wait(WAIT_S) == 0, "exit code %d" % server.process.returncode)
    load.join()
    idle.close()
    check(not load.lost, "%d of %d requests lost: %s" %
          (len(load.lost), load.answered, load.lost[:3]))


# ---- all of it ----


def cases():
    for name, body, statuses in BODIES:
        yield "body: " + name, lambda server, b=body, s=statuses: run_kept(server, post(b), s)
    for name, request, statuses in KEPT:
        yield "kept: " + name, lambda server, r=request, s=statuses: run_kept(server, r, s)
    for name, request, statuses in ENDED:
        yield "ended: " + name, lambda server, r=request, s=statuses: run_ended(server, r, s)
    for name, request, statuses in ENDED_TWICE:
        yield "ended: " + name, lambda server, r=request, s=statuses: run_ended(server, r, s, True)
    for name, request in ENDED_ANYHOW:
        yield "bytes: " + name, lambda server, r=request: run_ended_anyhow(server, r)
    yield from ALONE
    yield "decided", decided
    yield "decided for memory", decided_for_memory


def main():
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(sys.argv[1], folder)
        try:
            for name, run in cases():
                count += 1
                try:
                    run(server)
                    check(server.process.poll() is None, "the server has ended")
                    check_serves(server)
                except (Failure, OSError) as failure:
                    failures += 1
                    print("FAILED %s: %s: %s" % (name, type(failure).__name__, failure))
                    if server.process.poll() is not None:
                        print("".join(server.log[-50:]))
                        break
            for name, number in (("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT)):
                count += 1
                if server.process.poll() is not None:
                    server = Server(sys.argv[1], folder)
                try:
                    stop_under_load(server, number)
                except (Failure, OSError, subprocess.TimeoutExpired) as failure:
                    failures += 1
                    print("FAILED stop by %s: %s" % (name, failure))
        finally:
            server.process.kill()
            server.process.wait()
    print("%d cases, %d failures" % (count, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
