"""Asks more of `taffrail serve` than it can hold, over real sockets: bodies that are held open,
thousands of connections left idle, clients that send a byte a second. Meanwhile, or soon after, a
review must be answered as ever; and in the end nothing of it may be left in the process.
"""

import os
import re
import resource
import selectors
import signal
import socket
import ssl
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
from http_contract import (GOOD, LIMIT, Reader, Server, check_answer, check_serves, post, review,
                           send)
from serving import WAIT_S, Failure, check

LARGE_BODY_BYTES = 96 << 20  # of all bodies over 64 KiB together
REQUEST_S = 15  # within which a request must have arrived
HANDSHAKE_S = 3
CONNECTIONS = 512
OPS_CONNECTIONS = 32
FEW_FILES, FEW_CONNECTIONS = 200, 40
with open(sys.argv[1], "rb") as program:
    SANITIZED = re.search(rb"__[at]san_init", program.read()) is not None


def counts(server):
    """Descriptors and threads of the server. It is not dumpable, so only root sees the former."""
    folder = "/proc/%d/" % server.process.pid
    try:
        descriptors = len(os.listdir(folder + "fd"))
    except PermissionError:
        descriptors = 0
    return descriptors, len(os.listdir(folder + "task"))


def memory_mib(server):
    """RssAnon; None where a sanitizer keeps what was freed."""
    if SANITIZED:
        return None
    with open("/proc/%d/status" % server.process.pid, encoding="utf-8") as file:
        return int(re.search(r"RssAnon:\s*(\d+) kB", file.read())[1]) / 1024


def wait_until(condition, what, seconds=WAIT_S):
    end = time.monotonic() + seconds
    while not condition():
        check(time.monotonic() < end, what)
        time.sleep(0.02)


def overload_refusals(server):
    return server.metric('taffrail_requests_refused_total{reason="overload"}')


# ---- connections that are kept ----


def pod_of(size_bytes):
    """A review of about that size, of many values rather than one: those take memory to judge."""
    notes = {"note-%d" % i: "a few words" for i in range(size_bytes // 30)}
    return review("kept", object={
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "annotations": notes},
        "spec": {"containers": [{"name": "web", "image": "nginx"}]}})


def kept_connections(server):
    """What is needed for a review stays with the server, not with each of its connections."""
    count, body = 64, pod_of(20 << 10)
    clients = [server.connect() for _ in range(count)]
    readers = [Reader(client) for client in clients]

    def post_one_after_the_other(body, uid):
        for client, reader in zip(clients, readers):
            send(client, post(body))
            check_answer(reader.reply(), uid, True)

    post_one_after_the_other(GOOD, "good")
    before = memory_mib(server)
    for _ in range(3):
        post_one_after_the_other(body, "kept")
    after = memory_mib(server)
    for client in clients:
        client.close()
    if before is not None:
        check(after < before + 1, "%d connections keep %.1f MiB" % (count, after - before))


# ---- bodies held open ----


def hold_bodies(server):
    """Sends bodies to all but their last byte, until there is room for no more."""
    holders, left = [], LARGE_BODY_BYTES
    while left > 0:
        size = min(LIMIT, left)
        holder = server.connect()
        send(holder, post(GOOD + b" " * (size - len(GOOD)))[:-1])
        holders.append(holder)
        left -= size
    return holders


def bodies_held_open(server):
    """They keep no small review waiting; a large one has the slowest make room."""
    memory_before = memory_mib(server)
    began = time.monotonic()
    holders = hold_bodies(server)
    took = time.monotonic() - began
    if took > REQUEST_S / 2:
        print("bodies held open: skipped, since sending them takes %.1f s here" % took)
        for holder in holders:
            holder.close()
        return
    wait_until(lambda: server.metric("taffrail_body_bytes_in_flight") == LARGE_BODY_BYTES,
               "the bodies are not counted")
    refused = overload_refusals(server)
    for _ in range(10):
        check_serves(server)
    check(overload_refusals(server) == refused, "a small review was refused")
    large = pod_of(200 << 10)
    with server.connect() as connection:
        reader = Reader(connection)

        def is_answered():
            send(connection, post(large))
            reply = reader.reply()
            if reply.status == 200:
                return True
            check(reply.status == 429 and reply.fields.get("retry-after") == "1",
                  "status %d: %r" % (reply.status, reply.fields))
            return False

        wait_until(is_answered, "no large review is answered", REQUEST_S / 2)
    for holder in holders[1:]:  # the first to begin was the slowest
        send(holder, b" ")
        check_answer(Reader(holder).reply(), "good", True)
    wait_until(lambda: server.metric("taffrail_body_bytes_in_flight") == 0, "bytes are left")
    check(Reader(holders[0]).reply() is None, "the slowest was not cut")
    for holder in holders:
        holder.close()
    if memory_before is not None:
        check(memory_mib(server) < memory_before + 16, "memory is not given back: %.1f MiB, at first "
              "%.1f" % (memory_mib(server), memory_before))


def large_bodies_announced(server):
    """Bodies that are only announced take next to nothing."""
    clients = [server.connect() for _ in range(100)]
    for client in clients:
        send(client, post(b"", length=b"Content-Length: %d\r\n" % LIMIT))
    wait_until(lambda: server.metric("taffrail_body_bytes_in_flight") > 0, "not counted")
    check(server.metric("taffrail_body_bytes_in_flight") < 100 * (128 << 10), "too much is taken")
    check_serves(server)
    for client in clients:
        client.close()
    wait_until(lambda: server.metric("taffrail_body_bytes_in_flight") == 0, "bytes are left")


# ---- idle connections ----


def descriptor_limit(wanted):
    """Raises the limit of this process; returns how many connections it may open."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    limit = wanted + 100 if hard == resource.RLIM_INFINITY else min(wanted + 100, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    if limit < wanted + 100:
        print("only %d connections instead of %d: ulimit -n" % (limit - 100, wanted))
    return limit - 100


def idle_connections(server):
    """As many with a handshake as the server takes, then many more that say nothing."""
    count = descriptor_limit(5000)
    clients = []
    try:
        for _ in range(CONNECTIONS):
            try:
                clients.append(server.connect())
            except OSError:
                pass  # closed in its handshake: near the limit
        check(len(clients) >= CONNECTIONS // 2, "only %d handshakes" % len(clients))
        while len(clients) < count:
            clients.append(server.plain())
        check(server.get("/livez")[0] == 200, "not alive")

        def serves():
            try:
                check_serves(server)
            except (Failure, OSError):
                return False
            return True

        wait_until(serves, "idle connections keep a review out", REQUEST_S / 2)
        descriptors, threads = counts(server)
        check(descriptors < CONNECTIONS + 100 and threads < CONNECTIONS + 100,
              "%d descriptors, %d threads" % (descriptors, threads))
    finally:
        for client in clients:
            client.close()


def young_connections(server):
    """A stream of new connections to the ops port holds no place that a probe needs."""
    clients = []
    try:
        for _ in range(3):
            for _ in range(2 * OPS_CONNECTIONS):
                clients.append(socket.create_connection(("127.0.0.1", server.ops_port)))
            for page in ("/livez", "/readyz"):
                check(server.get(page)[0] == 200, page)
    finally:
        for client in clients:
            client.close()


def few_open_files(binary, folder):
    """With a hard limit of open files it takes fewer connections, and never meets that limit."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES - 50, FEW_FILES))

    server = Server(binary, folder, preexec_fn=limit)
    clients = []
    try:
        while len(clients) < 2 * FEW_FILES:
            clients.append(server.plain())
        check(server.get("/livez")[0] == 200, "not alive")
        check_serves(server)
        for _ in range(2 * FEW_CONNECTIONS):  # most of them younger than a second
            clients.append(server.connect())
        check_serves(server)
        descriptors, threads = counts(server)
        check(descriptors < FEW_FILES and threads < FEW_CONNECTIONS + 50,
              "%d descriptors, %d threads" % (descriptors, threads))
    finally:
        for client in clients:
            client.close()
    check_serves(server)
    server.process.send_signal(signal.SIGINT)
    check(server.process.wait(WAIT_S) == 0, "it ends with a failure")
    server.reading.join()
    log = "".join(server.log)
    check("this process may have %d files open, so it takes %d connections at once"
          % (FEW_FILES, FEW_CONNECTIONS) in log, log)
    check("limit" not in log.replace("ulimit", ""), log)


# ---- a byte a second ----

DRIPS = [
    ("a handshake", HANDSHAKE_S, False, b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500),
    ("a header", REQUEST_S, True, b"", b"POST /validate HTTP/1.1\r\nX-Filler: " + b"a" * 500),
    ("a body", REQUEST_S, True, post(b"", length=b"Content-Length: 1000\r\n"), b" " * 1000),
]


def open_drip(server, tls, begin):
    connection = server.connect() if tls else server.plain()
    send(connection, begin)
    connection.setblocking(False)
    return connection


def is_ended(connection):
    try:
        return not connection.recv(4096)
    except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return False
    except OSError:
        return True


def drips(server):
    """200 clients: each is cut once its request is late, and none keeps a review waiting."""
    left = {}
    with selectors.DefaultSelector() as selector:
        for i in range(200):
            name, seconds, tls, begin, rest = DRIPS[i % len(DRIPS)]
            began = time.monotonic()
            connection = open_drip(server, tls, begin)
            left[connection] = [name, rest, seconds, began, time.monotonic()]
            selector.register(connection, selectors.EVENT_READ)
        second = opened = time.monotonic()
        while left:
            names = {drip[0] for drip in left.values()}
            check(time.monotonic() < opened + 2 * REQUEST_S,
                  "not cut in time: " + ", ".join(sorted(names)))
            for key, _ in selector.select(max(0, second - time.monotonic())):
                if is_ended(key.fileobj):
                    now = time.monotonic()
                    name, _, seconds, began, opened_then = left[key.fileobj]
                    check(now > began + seconds * 0.9, "cut too early: " + name)
                    check(now < opened_then + seconds * 2 + 5, "not cut in time: " + name)
                    selector.unregister(key.fileobj)
                    key.fileobj.close()
                    del left[key.fileobj]
            if time.monotonic() < second:
                continue
            second += 1
            for connection, drip in left.items():
                byte, drip[1] = drip[1][:1], drip[1][1:]
                try:
                    connection.send(byte)
                except OSError:
                    pass  # seen as ended when it is read
            check_serves(server)


# ---- all of it ----

CASES = [
    ("kept connections", kept_connections),
    ("bodies held open", bodies_held_open),
    ("large bodies announced", large_bodies_announced),
    ("idle connections", idle_connections),
    ("young connections", young_connections),
    ("drips", drips),
]


def run(server, case, quiet):
    check_serves(server)
    case(server)
    check(server.process.poll() is None, "the server has ended")
    check_serves(server)
    try:
        wait_until(lambda: all(now <= then for now, then in zip(counts(server), quiet)), "", 10)
    except Failure:
        raise Failure("%d descriptors and %d threads are left, at first there were %d and %d" %
                      (*counts(server), *quiet)) from None


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server(sys.argv[1], folder)
        try:
            quiet = counts(server)
            for name, case in CASES:
                try:
                    run(server, case, quiet)
                except (Failure, OSError) as failure:
                    failures += 1
                    print("FAILED %s: %s: %s" % (name, type(failure).__name__, failure))
                    if server.process.poll() is not None:
                        print("".join(server.log[-50:]))
                        break
            server.process.send_signal(signal.SIGINT)
            code = server.process.wait(WAIT_S)
            if code != 0:
                failures += 1
                print("FAILED stop: exit code %d\n%s" % (code, "".join(server.log[-50:])))
        finally:
            server.process.kill()
            server.process.wait()
        try:
            few_open_files(sys.argv[1], folder)
        except (Failure, OSError) as failure:
            failures += 1
            print("FAILED few open files: %s: %s" % (type(failure).__name__, failure))
    print("%d cases, %d failures" % (len(CASES) + 2, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
