"""An API server with nothing in it, that remembers how it was asked; a proxy that remembers whom it was asked
for. Both are Python's own HTTP, so that headers and TLS are read by somebody else."""

import http.server
import json
import socket
import ssl
import subprocess
import threading


class Stub:
    """documents: bytes by path; redirects: addresses by path. Everything else is an empty list. tls: a
    context of ssl."""

    def __init__(self, tls=None, documents=None, redirects=None, family=socket.AF_INET):
        self.requests, self.documents, self.redirects = [], documents or {}, redirects or {}
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                peer = self.connection.getpeercert() if tls else None
                stub.requests.append((self.path, self.headers, peer))
                stub.answer(self)

            def do_CONNECT(self):
                stub.requests.append((self.path, self.headers, None))
                stub.tunnel(self)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            address_family = family
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        if tls:
            # Each handshake on the thread of its connection, and none keeps the others waiting.
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        self.port = self.server.server_port
        self.tunnel_to = None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, handler):
        path = handler.path.split("?")[0]
        if path in self.redirects:
            handler.send_response(302)
            handler.send_header("Location", self.redirects[path])
            body = b""
        else:
            found = self.documents.get(path)
            status, body = found if isinstance(found, tuple) else (200, found)
            if body is None:
                body = json.dumps({"kind": "List", "apiVersion": "v1", "items": [],
                                   "metadata": {"resourceVersion": "1"}}).encode()
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def tunnel(self, handler):
        """To tunnel_to, whoever was asked for."""
        handler.send_response(200)
        handler.end_headers()
        splice(handler.connection, self.tunnel_to)

    def headers(self, name):
        """All values of that header in all requests, each once."""
        return {value for _, headers, _ in self.requests for value in headers.get_all(name, [])}

    def end(self):
        self.server.shutdown()
        self.server.server_close()


def splice(one, port):
    with socket.create_connection(("127.0.0.1", port)) as other:
        def copy(source, target):
            try:
                while data := source.recv(65536):
                    target.sendall(data)
                target.shutdown(socket.SHUT_WR)
            except OSError:
                pass

        back = threading.Thread(target=copy, args=(other, one), daemon=True)
        back.start()
        copy(one, other)
        back.join()


class Socks:
    """A SOCKS5 proxy that sends all to one port, and remembers the names it was asked for."""

    def __init__(self, to):
        self.names, self.to = [], to
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            connection.recv(connection.recv(2)[1])
            connection.sendall(b"\x05\x00")
            kind = connection.recv(4)[3]
            self.names.append(connection.recv(connection.recv(1)[0]).decode() if kind == 3 else kind)
            connection.recv(2 if kind == 3 else 6)
            connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
            splice(connection, self.to)

    def end(self):
        self.socket.close()


def certificates(folder):
    """ca.crt, and api.crt (127.0.0.1, api.example) and me.crt (a client's) with their keys."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], check=True, cwd=folder, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=ca", "-keyout", "ca.key", "-out", "ca.crt")
    for name, extension in (("api", "subjectAltName=IP:127.0.0.1,DNS:api.example"),
                            ("me", "extendedKeyUsage=clientAuth")):
        with open(f"{folder}/extension", "w", encoding="utf-8") as file:
            file.write(extension)
        openssl("req", *key, "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", name + ".csr")
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-days", "2",
                "-CAcreateserial", "-extfile", "extension", "-out", name + ".crt")


def tls_of(folder, asks_clients=False):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/api.crt", f"{folder}/api.key")
    if asks_clients:
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_verify_locations(f"{folder}/ca.crt")
    return context
