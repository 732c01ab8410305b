"""Three replicas of `taffrail serve --manage-webhooks` at one fake API server: one of them keeps the
certificate and the CA bundles, whatever happens to it; no two write; and a client that trusts what
the webhook configurations say loses no request while CAs come and go."""

import http.client
import os
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
from fake import kubeconfig
from replicas import LEASE, PLURALS, POLICY, REGISTRATION, SECRET, THEIRS, Cluster, ask
from serving import WAIT_S, Failure, check, run_tests

PROGRAMS = TAFFRAIL, _ = sys.argv[1:3]
TAKEOVER_S = 3 + 2 * 2.2 + 2  # the lease runs out, two pauses of who waits, and a busy machine
LONG = ("--bundle-settle", "1s")
SHORT = ("--bundle-settle", "1s", "--cert-lifetime", "12s", "--ca-lifetime", "40s")


class Load:
    """An API server that asks all replicas all the time. Of a changed bundle it knows a moment later,
    as of everything that it watches."""
    LAG_S = 0.5

    def __init__(self, cluster):
        self.cluster, self.count, self.failures, self.stopping = cluster, 0, [], False
        self.bundle = cluster.bundles()[0]
        self.known = [self.bundle]
        self.serials = {}
        self.resting = set()
        self.threads = [threading.Thread(target=self.run, args=(replica,), daemon=True)
                        for replica in cluster.replicas]
        self.threads.append(threading.Thread(target=self.watch, daemon=True))
        for thread in self.threads:
            thread.start()

    def watch(self):
        while not self.stopping:
            bundles = self.cluster.bundles()
            time.sleep(self.LAG_S)
            self.bundle = bundles[0]
            if self.bundle != self.known[-1]:
                self.known.append(self.bundle)

    def run(self, replica):
        serials = self.serials.setdefault(replica.who, [])
        while not self.stopping:
            if not replica.up:
                self.resting.add(replica.who)
                time.sleep(0.01)
                continue
            self.resting.discard(replica.who)
            try:
                serial = ask(replica, self.bundle)
                if serial not in serials:
                    serials.append(serial)
                self.count += 1
            except (OSError, Failure, http.client.HTTPException) as error:
                if replica.up:
                    self.failures.append(f"{replica.who}: {error!r}")
            time.sleep(0.005)

    def end(self):
        self.stopping = True
        for thread in self.threads:
            thread.join(WAIT_S)
        check(not self.failures,
              f"{len(self.failures)} of {self.count} requests failed: {self.failures[:3]}\n"
              + "".join("".join(replica.log) for replica in self.cluster.replicas)[-6000:])


# ---- tests ----


def three_start_together(folder):
    cluster = Cluster(PROGRAMS, folder)
    before = [cluster.send("GET", REGISTRATION + plural + "/taffrail") for plural in PLURALS]
    cluster.send("POST", SECRET.rpartition("/")[0], {
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"name": "certs", "namespace": "taffrail", "labels": {"of": "somebody"}},
        "data": {"other": "a2VwdA=="}})
    for _ in range(3):
        cluster.start(*LONG)
    for replica in cluster.replicas:
        cluster.wait("ready", lambda r=replica: r.get("/readyz")[0] == 200)
    leader = cluster.wait_leader()
    bundle = cluster.secret()["ca.crt"]
    cluster.wait("published", lambda: cluster.bundles() == [bundle] * 3)
    check(cluster.secret()["other"] == "kept", "somebody's data is gone from the Secret")
    check(cluster.send("GET", SECRET)["metadata"]["labels"] == {"of": "somebody"}, "labels gone")
    check(len({ask(replica, bundle) for replica in cluster.replicas}) == 1, "not one certificate")
    for plural, old in zip(PLURALS, before):
        now = cluster.send("GET", REGISTRATION + plural + "/taffrail")
        for entry in now["webhooks"]:
            if entry["name"] != THEIRS["name"]:
                del entry["clientConfig"]["caBundle"]
        old["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"]
        check(now == old, f"more than the bundle has changed: {now}")
    check("kept by this replica" in leader.get("/readyz")[1], leader.get("/readyz")[1])
    said = [line for line in leader.log if "left alone: theirs.example.com" in line]
    check(len(said) == 1, f"that another's entry is left alone is said {len(said)} times")
    check(len(cluster.leaders()) == 1, "not one leads")
    check(cluster.check_writers() == 3, "not three writes: a Secret and two configurations")
    lease = cluster.send("GET", LEASE)["spec"]
    check(lease["leaseDurationSeconds"] == 3 and lease["leaseTransitions"] == 0, f"{lease}")
    return cluster


def one_is_killed_frozen_cut_off(folder):
    """Each time, another takes over, and the bundle that was spoilt meanwhile is put right, once."""
    cluster = three_start_together(folder)
    bundle = cluster.bundles()[0]
    load = Load(cluster)

    def spoil():
        path = REGISTRATION + PLURALS[1] + "/taffrail"
        there = cluster.send("GET", path)
        there["webhooks"][0]["clientConfig"]["caBundle"] = "Cg=="
        cluster.send("PUT", path, there)

    def taken_over(what, others):
        begun = time.monotonic()
        leader = cluster.wait_leader(others, TAKEOVER_S)
        print(f"    {what}: another leads after {time.monotonic() - begun:.1f} s")
        spoil()
        cluster.wait("the bundle is put right", lambda: cluster.bundles() == [bundle] * 3)
        return leader

    leader = cluster.wait_leader()
    others = [replica for replica in cluster.replicas if replica is not leader]
    leader.up = False
    leader.process.send_signal(signal.SIGSTOP)
    second = taken_over("frozen", others)
    leader.process.send_signal(signal.SIGCONT)
    cluster.wait("the frozen one knows", lambda: leader.metric("taffrail_leader") == 0, 3)
    # It closes connections that were open meanwhile: their time is over.
    cluster.wait("what it was asked while frozen has ended", lambda: leader.who in load.resting)
    leader.up = True
    cluster.fake.do("cut " + second.who)
    others = [replica for replica in cluster.replicas if replica is not second]
    cluster.wait("the one that is cut off stops", lambda: second.metric("taffrail_leader") == 0, 4)
    third = taken_over("cut off", others)
    check(second.get("/readyz")[0] == 200, "what is cut off is not ready")
    cluster.fake.do("join " + second.who)
    third.up = False
    third.process.kill()
    others = [replica for replica in cluster.replicas if replica is not third]
    fourth = taken_over("killed", others)
    begun = time.monotonic()
    fourth.up = False
    fourth.process.send_signal(signal.SIGINT)
    fourth.process.wait(WAIT_S)
    cluster.wait_leader([replica for replica in others if replica is not fourth], 3.5)
    print(f"    told to end: another leads after {time.monotonic() - begun:.1f} s")
    load.end()
    writes = cluster.check_writers()
    print(f"    {load.count} requests, none lost; {writes} writes, each by the one that led")
    check(writes == 6, "a bundle that was put right is written once")
    cluster.end()


def rotation_loses_no_request(folder):
    """CAs of 40 s and certificates of 12 s, and the one that leads is killed meanwhile."""
    cluster = Cluster(PROGRAMS, folder)
    for _ in range(3):
        cluster.start(*SHORT)
    for replica in cluster.replicas:
        cluster.wait("ready", lambda r=replica: r.get("/readyz")[0] == 200)
    cluster.wait("published", lambda: cluster.bundles()[0] and len(set(cluster.bundles())) == 1)
    load = Load(cluster)
    leaf = lambda: cluster.secret()["tls.crt"]
    first = leaf()
    cluster.wait("a next certificate", lambda: leaf() != first)
    cluster.wait("a next CA", lambda: load.bundle.count("BEGIN") == 2)
    leader = cluster.wait_leader()
    leader.up = False
    leader.process.kill()
    old = load.known[0]
    cluster.wait("the old CA leaves", lambda: load.bundle.count("BEGIN") == 1
                 and load.bundle != old)
    cluster.wait("a certificate after that", lambda count=len(load.serials[leader.who]): min(
        len(load.serials[r.who]) for r in cluster.replicas if r.up) >= 4)
    new = load.bundle
    cluster.wait("a thousand requests", lambda: load.count > 1000)
    load.end()
    check(new in load.known[1] and old in load.known[1] and load.known[1].count("BEGIN") == 2,
          "new and old did not stand side by side")
    print(f"    {load.count} requests, none lost; {cluster.check_writers()} writes, "
          f"{len(load.known)} bundles, certificates seen: "
          f"{[len(serials) for serials in load.serials.values()]}")
    cluster.end()


def what_is_not_there_is_said(folder):
    cluster = Cluster(PROGRAMS, folder, registered=False)
    replica = cluster.start(*LONG)
    cluster.wait("ready", lambda: replica.get("/readyz")[0] == 200)
    missing = 'taffrail_webhook_configuration_missing{kind="MutatingWebhookConfiguration"}'
    cluster.wait("missing", lambda: replica.metric(missing) == 1)
    check("there is no MutatingWebhookConfiguration taffrail" in replica.get("/readyz")[1],
          replica.get("/readyz")[1])
    check(len([line for line in replica.log if "no Mutating" in line]) == 1, "not said once")
    check(cluster.send("GET", REGISTRATION + PLURALS[0] + "/taffrail") is None, "it was made")
    cluster.register()
    bundle = cluster.secret()["ca.crt"]
    cluster.wait("published", lambda: cluster.bundles() == [bundle] * 3)
    cluster.wait("there", lambda: replica.metric(missing) == 0)
    cluster.end()


def without_an_api_server_it_waits(folder):
    cluster = Cluster(PROGRAMS, folder)
    cluster.fake.do("cut Bearer replica-0")
    replica = cluster.start(*LONG)
    cluster.wait("said", lambda: replica.metric('taffrail_duty_failures_total{duty="lease"}') > 0)
    status, text = replica.get("/readyz")
    check(status == 503, text)
    cluster.wait("said why", lambda: "Secret taffrail/certs" in replica.get("/readyz")[1], 15)
    cluster.fake.do("join Bearer replica-0")
    cluster.wait("ready", lambda: replica.get("/readyz")[0] == 200)
    cluster.end()


def a_changed_kubeconfig_is_read_again(folder):
    """The token is another one, and the old one is refused: for the Lease as for what is watched."""
    cluster = Cluster(PROGRAMS, folder)
    replica = cluster.start(*LONG)
    cluster.wait_leader()
    config = kubeconfig(folder, f"http://127.0.0.1:{cluster.fake.port}", "{token: renewed}", "next")
    cluster.fake.do("cut Bearer replica-0")
    os.rename(config, os.path.join(folder, "config-replica-0"))
    before = len(cluster.fake.requests("watch nodes"))
    cluster.wait("it stops", lambda: replica.metric("taffrail_leader") == 0, 5)
    cluster.wait("it leads again", lambda: replica.metric("taffrail_leader") == 1, 15)
    cluster.wait("it watches again", lambda: "authorization=Bearer renewed" in "".join(
        cluster.fake.requests("watch nodes")[before:]), 15)
    check(len([line for line in replica.log if "kubeconfig was read again" in line]) == 2,
          "not said by both")
    cluster.end()


def what_does_not_fit_is_refused(folder):
    policy = os.path.join(folder, "policy.yaml")
    with open(policy, "w") as file:
        file.write(POLICY)
    config = kubeconfig(folder, "http://127.0.0.1:1")
    live = ("--kubeconfig", config)
    both = ("--manage-webhooks", "--cert-secret")
    for wanted, *arguments in (
            ("needs --cert-secret", *live, "--manage-webhooks"),
            ("needs --manage-webhooks", *live, "--cert-secret", "a/b"),
            ("needs a cluster", *both, "a/b"),
            ("did not sign them", *live, *both, "a/b", "--cert-dir", folder),
            ("neither is given", *live, "--lease-duration", "15s"),
            ("which is not given", *live, "--report-interval", "1h"),
            ("--write-reports needs a cluster", "--write-reports"),
            ("give NAMESPACE/NAME", *live, "--write-reports"),
            ("--report-interval is \"soon\"", *live, "--write-reports", "--lease", "a/b",
             "--report-interval", "soon"),
            ("give NAMESPACE/NAME", *live, *both, "b"),
            ("as Kubernetes allows names", *live, *both, "a/B_"),
            ("or two could hold it", *live, *both, "a/b", "--lease-duration", "10s"),
            ("1.2 times the retry", *live, *both, "a/b", "--lease-retry-period", "9s"),
            ("a time from a second", *live, *both, "a/b", "--cert-lifetime", "soon"),
            ("three times --cert-lifetime", *live, *both, "a/b", "--ca-lifetime", "24h"),
            ("six times --bundle-settle", *live, *both, "a/b", "--cert-lifetime", "5m"),
            ("name of the Service", *live, *both, "a/b", "--service", "a b")):
        done = subprocess.run([TAFFRAIL, "serve", "-p", policy, *arguments], capture_output=True,
                              text=True, timeout=WAIT_S)
        check(done.returncode == 2 and wanted in done.stderr,
              f"{arguments}: {done.returncode} {done.stderr}")


run_tests(what_does_not_fit_is_refused, what_is_not_there_is_said, one_is_killed_frozen_cut_off,
          rotation_loses_no_request,
          meanwhile=(without_an_api_server_it_waits, a_changed_kubeconfig_is_read_again))
