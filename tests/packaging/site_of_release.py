"""A site with a release of taffrail, as the integrations download it: the binary that was built, without
the libraries that a real release brings."""

import contextlib
import functools
import hashlib
import http.server
import io
import pathlib
import tarfile
import threading

VERSION = "9.9.9"
MACHINES = ("amd64", "arm64")


def _archive(taffrail, name):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        tar.add(taffrail, f"{name}/taffrail")
    return data.getvalue()


def make(folder, taffrail):
    """The files of a release below folder; returns that of the checksums."""
    release = pathlib.Path(folder) / f"releases/download/v{VERSION}"
    release.mkdir(parents=True)
    sums = ""
    for machine in MACHINES:
        name = f"taffrail-{VERSION}-linux-{machine}"
        data = _archive(taffrail, name)
        (release / f"{name}.tar.gz").write_bytes(data)
        sums += f"{hashlib.sha256(data).hexdigest()}  {name}.tar.gz\n"
    (release / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return release / "SHA256SUMS"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(folder):
    """The URL of a server of this folder, on loopback."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
