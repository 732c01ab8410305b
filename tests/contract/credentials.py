"""Who a command is to the API server, and which way it takes there: exec plugins that work and that fail,
client certificates, impersonation, proxies, and what -f names on the web.

usage: credentials.py TAFFRAIL"""

import base64
import json
import os
import pty
import subprocess
import sys
import textwrap
import time

import yaml

sys.dont_write_bytecode = True  # nothing is written beside the tests
from api_stub import Socks, Stub, certificates, tls_of
from serving import WAIT_S, check, run_tests

TAFFRAIL = sys.argv[1]
SOURCE = os.environ["TAFFRAIL_SOURCE_DIR"]
POLICY = os.path.join(SOURCE, "manifests/policies/starter.yaml")
SHOP = os.path.join(SOURCE, "manifests/demo/requests/shop.yaml")
V1, V1BETA1 = "client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"
AUDIT = ["audit", "-p", POLICY, "--fail-on", "never"]


def run(code, *arguments, stdin=subprocess.DEVNULL, **env):
    clean = {name: value for name, value in os.environ.items()
             if not name.upper().endswith("_PROXY") and name != "KUBECONFIG"}
    begun = time.monotonic()
    done = subprocess.run([TAFFRAIL, *arguments], capture_output=True, text=True, timeout=WAIT_S,
                          stdin=stdin, env={**clean, "HOME": "/nowhere", **env})
    check(done.returncode == code,
          f"{arguments}: ends with {done.returncode}, not {code}:\n{done.stdout}{done.stderr}")
    check(time.monotonic() - begun < 90, f"{arguments} took {time.monotonic() - begun:.0f} s")
    return done.stdout, done.stderr


def script(folder, text, name="plugin"):
    """A program of /bin/sh."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\n" + textwrap.dedent(text))
    os.chmod(path, 0o755)
    return path


def config(folder, server, user, cluster=None, name="config"):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": server, **(cluster or {})}}],
            "users": [{"name": "u", "user": user}]}, file)
    return path


def plugin(command, version=V1BETA1, **more):
    return {"exec": {"apiVersion": version, "command": command, **more}}


def credential(version=V1BETA1, **status):
    return json.dumps({"kind": "ExecCredential", "apiVersion": version, "spec": {}, "status": status})


# ---- exec plugins ----

# As `aws eks update-kubeconfig --name demo --role-arn ... --profile prod` writes it, less the authority.
EKS = """\
apiVersion: v1
clusters:
- cluster:
    server: SERVER
  name: arn:aws:eks:eu-west-1:111122223333:cluster/demo
contexts:
- context:
    cluster: arn:aws:eks:eu-west-1:111122223333:cluster/demo
    user: arn:aws:eks:eu-west-1:111122223333:cluster/demo
  name: arn:aws:eks:eu-west-1:111122223333:cluster/demo
current-context: arn:aws:eks:eu-west-1:111122223333:cluster/demo
kind: Config
preferences: {}
users:
- name: arn:aws:eks:eu-west-1:111122223333:cluster/demo
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args:
      - --region
      - eu-west-1
      - eks
      - get-token
      - --cluster-name
      - demo
      - --output
      - json
      - --role
      - arn:aws:iam::111122223333:role/dev
      command: aws
      env:
      - name: AWS_PROFILE
        value: prod
"""


def what_aws_writes_works(folder):
    stub = Stub()
    path = os.path.join(folder, "config")
    with open(path, "w", encoding="utf-8") as file:
        file.write(EKS.replace("SERVER", f"http://127.0.0.1:{stub.port}"))
    script(folder, f"""\
        mine=$(tr '\\0' '\\n' < /proc/$$/environ | grep ^AWS_PROFILE=)
        printf '%s\\n' "$@" "$mine" "$KUBERNETES_EXEC_INFO" > {folder}/told
        echo a line of the plugin >&2
        cat << 'END'
        {{
            "kind": "ExecCredential",
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "spec": {{}},
            "status": {{
                "expirationTimestamp": "2199-11-23T05:35:08Z",
                "token": "k8s-aws-v1.aHR0cHM6Ly9zdHM"
            }}
        }}
        END
        """, "aws")
    places = f"{folder}:{os.environ['PATH']}"
    for command in (AUDIT, ["plan"], ["check", "-p", POLICY, "-f", SHOP, "--kubeconfig", path,
                                      "--fail-on", "never"]):
        stub.requests.clear()
        _, said = run(0, *command, KUBECONFIG=path, PATH=places, AWS_PROFILE="of the shell")
        check("a line of the plugin" in said, said)
        check(stub.headers("Authorization") == {"Bearer k8s-aws-v1.aHR0cHM6Ly9zdHM"},
              stub.headers("Authorization"))
    with open(folder + "/told", encoding="utf-8") as file:
        *told, info = file.read().splitlines()
    check(told == ["--region", "eu-west-1", "eks", "get-token", "--cluster-name", "demo", "--output",
                   "json", "--role", "arn:aws:iam::111122223333:role/dev", "AWS_PROFILE=prod"], told)
    check(json.loads(info) == {"kind": "ExecCredential", "apiVersion": V1BETA1,
                               "spec": {"interactive": False}}, info)
    _, said = run(3, *AUDIT, KUBECONFIG=path, PATH="/nowhere")
    check("the exec plugin aws is not installed, or not in $PATH" in said, said)
    stub.end()


def a_plugin_is_told_its_cluster(folder):
    stub = Stub()
    script(folder, f"""\
        printf '%s' "$KUBERNETES_EXEC_INFO" > {folder}/told
        echo '{credential(V1, token="t")}'
        """)
    path = config(folder, f"http://127.0.0.1:{stub.port}",
                  plugin("./plugin", V1, interactiveMode="Never", provideClusterInfo=True),
                  {"certificate-authority-data": base64.b64encode(b"pem").decode(),
                   "tls-server-name": "api.example",
                   "extensions": [{"name": "client.authentication.k8s.io/exec",
                                   "extension": {"audience": ["a", 1]}}]})
    run(0, *AUDIT, "--kubeconfig", path)  # the command is relative to the kubeconfig
    with open(folder + "/told", encoding="utf-8") as file:
        told = json.load(file)
    check(told == {"kind": "ExecCredential", "apiVersion": V1, "spec": {"interactive": False, "cluster": {
        "server": f"http://127.0.0.1:{stub.port}", "tls-server-name": "api.example",
        "certificate-authority-data": base64.b64encode(b"pem").decode(),
        "config": {"audience": ["a", 1]}}}}, told)
    stub.end()


def a_plugin_that_fails_is_told_of(folder):
    stub = Stub()
    server = f"http://127.0.0.1:{stub.port}"
    good = credential(token="secret-token")
    for text, wanted in (
            ("echo no such profile >&2; exit 255", "ended with exit code 255"),
            ("kill -9 $$", "was ended by signal 9"),
            ("exec sleep 100", "has not answered within 1 s"),
            ("sleep 100 & wait", "has not answered within 1 s"),
            (f"echo '{good}'; exec >&-; sleep 100", "closed its output and did not end"),
            ("exit 0", "it printed nothing"),
            ("echo Unable to locate credentials", "what it printed is no ExecCredential as JSON"),
            (f"echo '{good}' | cut -c1-60", "what it printed is no ExecCredential as JSON"),
            ("echo '{}'", "what it printed is no ExecCredential"),
            ("echo '[]'", "what it printed is no ExecCredential"),
            ("yes", "prints more than a mebibyte"),
            (f"echo '{credential(V1, token='t')}'", "it answers in " + V1),
            ("echo '{\"kind\":\"ExecCredential\",\"apiVersion\":\"" + V1BETA1 + "\"}'",
             "its answer has no status"),
            (f"echo '{credential()}'", "neither a token nor a client certificate"),
            (f"echo '{credential(clientCertificateData='x')}'", "without the client key"),
            (f"printf %s '{credential(token='a-NL-b')}' | sed 's/-NL-/\\\\n/'", "its token has a space"),
            (f"echo '{credential(token='t', expirationTimestamp='soon')}'", "is no time")):
        script(folder, text + "\n")
        path = config(folder, server, plugin("./plugin"))
        patience = "1s" if "sleep" in text else "30s"
        out, said = run(3, *AUDIT, "--kubeconfig", path, "--timeout", patience)
        check(wanted in said and out == "", f"{text}: {said}")
        check("secret" not in said, "the answer is printed: " + said)
    check(stub.requests == [], "the API server is asked without credentials")
    script(folder, f"printf %s '{credential(token='t-NL-')}' | sed 's/-NL-/\\\\n/'\n")
    run(0, *AUDIT, "--kubeconfig", path)
    check(stub.headers("Authorization") == {"Bearer t"}, stub.headers("Authorization"))
    script(folder, f"echo '{credential(token='t', expirationTimestamp='2020-01-01T00:00:00Z')}'\n")
    check("have expired already" in run(0, *AUDIT, "--kubeconfig", path)[1], "an old token is not told of")
    os.chmod(folder + "/plugin", 0o644)
    check("cannot be started: Permission denied" in run(3, *AUDIT, "--kubeconfig", path)[1], path)
    stub.end()


def what_a_kubeconfig_says_of_a_plugin_is_checked(folder):
    for user, code, wanted in (
            (plugin("nobody-has-this", installHint="Get it:\n  brew install x\x1b[31m"), 3,
             "Get it:\n  brew install x [31m\n"),
            (plugin("x", "client.authentication.k8s.io/v1alpha1"), 2, "aws eks update-kubeconfig"),
            (plugin("x", V1), 2, 'interactiveMode is ""'),
            (plugin("x", interactiveMode="Perhaps"), 2, 'interactiveMode is "Perhaps"'),
            (plugin("x", interactiveMode="Always"), 3, "standard input is no terminal"),
            (plugin(""), 2, "command is missing"),
            (plugin("x", args=[1]), 2, "args[0] is no string"),
            (plugin("x", env=[{"name": "A=B", "value": ""}]), 2, "env[0] wants a name and a value")):
        path = config(folder, "http://127.0.0.1:1", user)
        _, said = run(code, *AUDIT, "--kubeconfig", path)
        check(wanted in said, f"{user}: {said}")
    script(folder, f"touch {folder}/ran\n")
    stub = Stub()
    path = config(folder, f"http://127.0.0.1:{stub.port}", {**plugin("./plugin"), "token": "t"})
    run(0, *AUDIT, "--kubeconfig", path)
    stub.end()
    path = config(folder, "http://127.0.0.1:1", plugin("./plugin"))
    _, said = run(2, "serve", "-p", POLICY, "--kubeconfig", path, "--listen", "127.0.0.1:0",
                  "--ops-listen", "127.0.0.1:0")
    check("a server runs no other program" in said, said)
    check(not os.path.exists(folder + "/ran"), "a plugin runs that is not asked for")


def at_a_terminal_a_plugin_may_ask(folder):
    stub = Stub()
    script(folder, """\
        printf 'code: ' >&2
        read -r code
        echo '{"kind":"ExecCredential","apiVersion":"%s","status":{"token":"'"$code"'"}}'
        """ % V1)
    path = config(folder, f"http://127.0.0.1:{stub.port}",
                  plugin("./plugin", V1, interactiveMode="Always"))
    ours, theirs = pty.openpty()
    os.write(ours, b"1234\n")
    run(0, *AUDIT, "--kubeconfig", path, stdin=theirs)
    check(stub.headers("Authorization") == {"Bearer 1234"}, stub.headers("Authorization"))
    _, said = run(3, "check", "-p", POLICY, "--kubeconfig", path, "-f", "-", stdin=theirs)
    check("read as a manifest (-f -)" in said, said)
    os.close(ours)
    os.close(theirs)
    stub.end()


def a_plugin_may_give_a_certificate(folder):
    certificates(folder)
    stub = Stub(tls_of(folder, asks_clients=True))
    parts = {}
    for name, file_name in (("clientCertificateData", "me.crt"), ("clientKeyData", "me.key")):
        with open(f"{folder}/{file_name}", encoding="utf-8") as file:
            parts[name] = file.read()
    with open(folder + "/answer", "w", encoding="utf-8") as file:
        file.write(credential(**parts))
    script(folder, f"cat {folder}/answer\n")
    path = config(folder, f"https://127.0.0.1:{stub.port}", plugin("./plugin"),
                  {"certificate-authority": "ca.crt"})
    run(0, *AUDIT, "--kubeconfig", path)
    check(all(peer and ("commonName", "me") in peer["subject"][0] for _, _, peer in stub.requests),
          "the API server does not see the client's certificate")
    stub.end()


# ---- who is asked as ----

IMPERSONATED = {"as": "jane@example.com", "as-uid": "u-1", "as-groups": ["dev", "web team"],
                "as-user-extra": {"example.com/scope": ["a", "b"], "plain": ["c"]}}


def others_are_asked_as(folder):
    stub = Stub()
    path = config(folder, f"http://127.0.0.1:{stub.port}", {"token": "t", **IMPERSONATED})
    names = ["User", "Uid", "Group", "Extra-example.com%2Fscope", "Extra-plain"]

    def asked(*arguments):
        stub.requests.clear()
        run(0, *arguments, KUBECONFIG=path)
        return [stub.headers("Impersonate-" + name) for name in names]

    everything = [{"jane@example.com"}, {"u-1"}, {"dev", "web team"}, {"a", "b"}, {"c"}]
    check(asked(*AUDIT) == everything, asked(*AUDIT))
    found = asked("plan", "--as", "system:serviceaccount:ci:bot", "--as-group", "x", "--as-group", "y",
                  "--as-uid", "7")
    check(found == [{"system:serviceaccount:ci:bot"}, {"7"}, {"x", "y"}, set(), set()], found)
    # Of check --as is who is judged, and the API server hears of the kubeconfig's alone.
    found = asked("check", "-p", POLICY, "-f", SHOP, "--fail-on", "never", "--context", "here",
                  "--as", "somebody")
    check(found == everything, found)
    _, said = run(2, *AUDIT, "--as-group", "x", KUBECONFIG=path)
    check("without a user" in said, said)
    for option in ("--as", "--as-group", "--as-uid"):
        _, said = run(2, "plan", "--state", folder, option, "x")
        check("are for a cluster that is listed" in said, said)
    _, said = run(2, *AUDIT, "--as", "a\r\nAuthorization: b", KUBECONFIG=path)
    check("has a control character" in said, said)
    stub.end()


# ---- the way there ----


def proxies_are_those_of_kubectl(folder):
    certificates(folder)
    stub = Stub(tls_of(folder))
    proxy = Stub()
    proxy.tunnel_to = stub.port
    socks = Socks(stub.port)
    direct = f"https://127.0.0.1:{stub.port}"
    far = "https://api.example:6443"
    ca = {"certificate-authority": "ca.crt"}
    through = f"http://127.0.0.1:{proxy.port}"

    def ways(code, server, cluster=None, **env):
        proxy.requests.clear()
        socks.names.clear()
        path = config(folder, server, {"token": "t"}, {**ca, **(cluster or {})})
        _, said = run(code, *AUDIT, "--kubeconfig", path, "--timeout", "10s", **env)
        return {path for path, _, _ in proxy.requests}, set(socks.names), said

    def expect(found, wanted):
        check(found[:2] == wanted, f"{found} instead of {wanted}")

    expect(ways(0, direct), (set(), set()))
    expect(ways(0, far, {"proxy-url": through}), ({"api.example:6443"}, set()))
    expect(ways(0, far, {"proxy-url": f"socks5://127.0.0.1:{socks.port}"}), (set(), {"api.example"}))
    expect(ways(0, far, HTTPS_PROXY=through), ({"api.example:6443"}, set()))
    expect(ways(0, far, https_proxy=f"127.0.0.1:{proxy.port}"), ({"api.example:6443"}, set()))
    expect(ways(0, far, HTTPS_PROXY=f"socks5://127.0.0.1:{socks.port}"), (set(), {"api.example"}))
    # What loops back needs no proxy of the environment, but the kubeconfig's counts.
    expect(ways(0, direct, HTTPS_PROXY="http://127.0.0.1:1", ALL_PROXY="http://127.0.0.1:1"),
           (set(), set()))
    expect(ways(0, direct, {"proxy-url": through}), ({f"127.0.0.1:{stub.port}"}, set()))
    expect(ways(0, far, {"proxy-url": through}, NO_PROXY="*"), ({"api.example:6443"}, set()))
    # Without a proxy the name leads nowhere.
    found = ways(3, far, HTTPS_PROXY=through, NO_PROXY="x,.example:6443")
    expect(found, (set(), set()))
    check("api.example" in found[2], found[2])
    expect(ways(0, far, HTTPS_PROXY=through, NO_PROXY="api.example:443,ample"),
           ({"api.example:6443"}, set()))
    check("the scheme \"ftp\"" in ways(2, far, {"proxy-url": "ftp://127.0.0.1"})[2], "ftp")
    # Another name than the address has; of a wrong one tests/contract/client.py.
    expect(ways(0, direct, {"tls-server-name": "api.example"}), (set(), set()))
    for each in (stub, proxy, socks):
        each.end()


def nobody_is_believed_without_a_reason(folder):
    certificates(folder)
    stub = Stub(tls_of(folder))
    server = f"https://127.0.0.1:{stub.port}"
    _, said = run(3, *AUDIT, "--kubeconfig", config(folder, server, {"token": "t"}))
    check("certificate" in said and server in said and "the context here of" in said, said)
    path = config(folder, server, {"token": "t"}, {"insecure-skip-tls-verify": True})
    _, said = run(0, *AUDIT, "--kubeconfig", path)
    check("nobody checks that this is the API server" in said, said)
    path = config(folder, server, {"token": "t"},
                  {"insecure-skip-tls-verify": True, "certificate-authority": "ca.crt"})
    check("take one of them out" in run(2, *AUDIT, "--kubeconfig", path)[1], path)
    stub.end()


# ---- what -f names ----


def files_may_be_on_the_web(folder):
    with open(SHOP, "rb") as file:
        shop = file.read()
    stub = Stub(documents={"/shop.yaml": shop, "/broken.yaml": b"a: [b\n", "/gone.yaml": (404, b"no"),
                           "/busy.yaml": (503, b"later")},
                redirects={"/moved.yaml": "/shop.yaml", "/round.yaml": "/round.yaml"})
    base = f"http://127.0.0.1:{stub.port}"

    def judged(code, *paths):
        return run(code, "check", "-p", POLICY, "-R", *(part for path in paths for part in ("-f", path)))

    wanted = judged(0, SHOP)[0]
    for name in ("shop.yaml", "moved.yaml"):
        check(judged(0, f"{base}/{name}")[0].replace(f"{base}/{name}", SHOP) == wanted, name)
    for name, what in (("gone.yaml", "the server answers 404"), ("round.yaml", "again and again"),
                       ("busy.yaml", "the server answers 503"), ("broken.yaml", "broken.yaml:")):
        _, said = judged(2, f"{base}/{name}")
        check(what in said and name in said, f"{name}: {said}")
    # As `policy explain` reads what -f names.
    explained = [run(0, "policy", "explain", "-p", POLICY, "-R", "-f", path)[0] for path in (SHOP, f"{base}/shop.yaml")]
    check(explained[0] == explained[1] != "", explained)
    check([path for path, _, _ in stub.requests].count("/busy.yaml") == 3, "not asked again")
    check("cannot be fetched" in judged(2, "http://127.0.0.1:1/x.yaml")[1], "nobody is there")
    with open(SHOP, encoding="utf-8") as file:
        run(0, "check", "-p", POLICY, "-f", "-", stdin=file)
    check(stub.headers("Authorization") == set(), "somebody else gets credentials")
    stub.end()


run_tests(what_aws_writes_works, a_plugin_is_told_its_cluster, a_plugin_that_fails_is_told_of,
          what_a_kubeconfig_says_of_a_plugin_is_checked, at_a_terminal_a_plugin_may_ask,
          a_plugin_may_give_a_certificate, others_are_asked_as, proxies_are_those_of_kubectl,
          nobody_is_believed_without_a_reason, files_may_be_on_the_web)
