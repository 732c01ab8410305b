"""The fake API server (tests/fakeapi) as a process, and a kubeconfig that leads to it."""

import http.client
import os
import subprocess

from serving import WAIT_S, check



class Fake:
    """Answers once it is made. port 0: any free one."""

    def __init__(self, program, folder, script, port=0):
        path = os.path.join(folder, "script")
        with open(path, "w") as file:
            file.write(script)
        self.process = subprocess.Popen([program, path, str(port)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline().rpartition(":")[2])

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        connection.request(method, path, body)
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        check(reply.status == 200, f"{path}: {reply.status} {text}")
        return text

    def do(self, *lines):
        self.ask("POST", "/fake", "\n".join(lines))

    def truth(self, plural):
        return self.ask("GET", "/fake/truth/" + plural)

    def requests(self, start):
        return [line for line in self.ask("GET", "/fake/requests").splitlines()
                if line.startswith(start)]

    def end(self):
        self.process.stdin.close()
        check(self.process.wait(WAIT_S) == 0, "the fake server did not end well")


def kubeconfig(folder, server, user="{}", name="config"):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(f"""apiVersion: v1
kind: Config
current-context: here
contexts: [{{name: here, context: {{cluster: fake, user: me}}}}]
clusters: [{{name: fake, cluster: {{server: "{server}"}}}}]
users: [{{name: me, user: {user}}}]
""")
    return path
