"""Which TLS `taffrail serve` speaks. OpenSSL offers its suites one by one, to a server with a P-256
certificate and to one with an RSA key, and each version and signature that is not to be had.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is written beside the tests
from http_contract import POLICY
from serving import NAME, WAIT_S, Failure, Serving, check

TLS_1_3 = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
AEAD = ("AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305")
WEAKEST = "@SECLEVEL=0"  # has OpenSSL offer what it holds back otherwise


def openssl(*arguments, check_code=True):
    result = subprocess.run(["openssl", *arguments], stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=WAIT_S,
                            check=False)
    check(not check_code or result.returncode == 0, result.stdout)
    return result.stdout


def agreed(server, *offer):
    """The suite of a handshake; None when there was none."""
    found = re.search(r"^New, (\S+), Cipher is (\S+)$",
                      openssl("s_client", "-connect", "127.0.0.1:%d" % server.port, "-servername",
                              NAME, *offer, check_code=False), re.MULTILINE)
    return None if found is None or found[2] == "(NONE)" else found[2]


def check_suites(server, authentication):
    """Of what OpenSSL knows, exactly those are agreed on."""
    offered = openssl("ciphers", "-s", "-tls1_2", "ALL:eNULL" + ":" + WEAKEST).strip().split(":")
    check(len(offered) > 50, "OpenSSL offers only %s" % offered)
    found = {suite for suite in offered
             if agreed(server, "-tls1_2", "-cipher", suite + ":" + WEAKEST)}
    expected = {"ECDHE-%s-%s" % (authentication, suite) for suite in AEAD}
    check(found == expected, "TLS 1.2: %s" % sorted(found ^ expected))
    found = {suite for suite in TLS_1_3 | {"TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256"}
             if agreed(server, "-tls1_3", "-ciphersuites", suite)}
    check(found == TLS_1_3, "TLS 1.3: %s" % sorted(found ^ TLS_1_3))


def check_old(server):
    for version in ("-tls1", "-tls1_1"):
        check(not agreed(server, version, "-cipher", "ALL" + ":" + WEAKEST), "agreed on " + version)
    for signature in ("ECDSA+SHA1", "RSA+SHA1"):
        check(not agreed(server, "-tls1_2", "-cipher", "ALL:" + WEAKEST, "-sigalgs", signature),
              "signed with " + signature)


def serve(binary, folder, *certificate):
    policy = os.path.join(folder, "policy.yaml")
    with open(policy, "w", encoding="utf-8") as file:
        file.write(POLICY)
    return Serving(binary, None, "-p", policy, *certificate)


def p256(binary, folder):
    return serve(binary, folder)


def rsa(binary, folder):
    key, certificate = os.path.join(folder, "tls.key"), os.path.join(folder, "tls.crt")
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
            "-subj", "/CN=taffrail", "-addext", "subjectAltName=DNS:" + NAME)
    return serve(binary, folder, "--cert", certificate, "--key", key)


CASES = [("ECDSA", p256), ("RSA", rsa)]


def main():
    failures = 0
    for authentication, start in CASES:
        with tempfile.TemporaryDirectory() as folder:
            server = start(sys.argv[1], folder)
            try:
                check_suites(server, authentication)
                check_old(server)
            except Failure as failure:
                failures += 1
                print("FAILED %s: %s" % (authentication, failure))
            finally:
                server.process.kill()
                server.process.wait()
    print("%d cases, %d failures" % (len(CASES), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
