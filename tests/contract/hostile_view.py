"""`taffrail serve` on a hostile cluster (hostile_cluster.py): every kind is listed, what cannot be read
costs itself, no pin is wrong, and memory stays below a limit.

  hostile_view.py TAFFRAIL [--whole] [--large N] [--look SECONDS]
"""

import argparse
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
import hostile_cluster
import live
from fake import kubeconfig
from serving import WAIT_S, Failure, Serving, check

LIMIT_MIB = 768  # of manifests/base/deployment.yaml
SHORT = {"pods": 20000, "heavy": 40, "large": 6}
WHOLE = {"pods": 1000000, "heavy": 2000, "large": 100}


class View(live.Live):
    """A server that may take so much memory, in front of a hostile API server."""

    def __init__(self, folder, taffrail, api):
        self.folder, self.api = folder, api
        self.policy = os.path.join(folder, "policy.yaml")
        self.write_policy("")
        binary = os.path.join(folder, "taffrail")
        with open(binary, "w") as file:
            file.write(f'#!/bin/sh\nulimit -m {LIMIT_MIB * 1024}\nexec "{taffrail}" "$@"\n')
        os.chmod(binary, 0o755)
        self.serving = Serving(binary, os.path.join(folder, "certs"), "-p", self.policy,
                               "--kubeconfig", kubeconfig(folder, f"http://127.0.0.1:{api.port}"))
        self.connection = live.Named("127.0.0.1", self.serving.port, timeout=WAIT_S,
                                     context=self.serving.tls)

    def memory_mib(self, what):
        with open(f"/proc/{self.serving.process.pid}/status") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines[what].split()[0]) / 1024

    def wait_listed(self, limit_s):
        begun = time.monotonic()
        while time.monotonic() - begun < limit_s:
            text = self.kinds_without_karpenter()
            if "pods: " in text and "never listed" not in text:
                break
            time.sleep(0.1)
        return time.monotonic() - begun

    def kinds_without_karpenter(self):
        return "\n".join(line for line in self.ready("?verbose")[1].splitlines()
                         if line.partition(":")[0] not in live.KARPENTER)

    def end(self):
        self.connection.close()
        self.serving.process.terminate()
        check(self.serving.process.wait(WAIT_S) == 0, "it did not end well")


def report(view, took_s):
    text = view.kinds_without_karpenter()
    never = [line for line in text.splitlines() if "never listed" in line]
    print(f"    after {took_s:.1f} s {len(never)} kinds were never listed; memory: "
          f"{view.memory_mib('VmRSS'):.0f} MiB, {view.memory_mib('VmHWM'):.0f} at most; "
          f"CPU {view.serving.cpu_s():.1f} s")
    return never, text


def storm(view, scale):
    """Large events of several kinds at the same time, and objects that change what they are."""
    api, plurals = view.api, ("deployments", "jobs", "statefulsets", "pods", "daemonsets")
    view.wait("all is watched", lambda: api.watched(*plurals, "persistentvolumeclaims"))
    large = hostile_cluster.angle_brackets()
    for i in range(scale["large"]):
        for plural in plurals:
            api.send(plural, "ADDED", hostile_cluster.typed("", f"storm-{i}", large))
    view.wait("every event is told", lambda: all(
        view.metric("taffrail_cluster_events_total", kind) >= scale["large"]
        for kind in ("Deployment", "Job", "StatefulSet", "Pod", "DaemonSet")))
    healed = live.claim("data-db-1", "vol-1")
    api.send("persistentvolumeclaims", "MODIFIED", hostile_cluster.plain(
        {key: healed[key] for key in ("metadata", "spec", "status")}))
    view.wait("the claim is healed", lambda: view.required(1) == "c")


def run(taffrail, scale, limit_s):
    with tempfile.TemporaryDirectory() as folder:
        api = hostile_cluster.Server(hostile_cluster.cluster(scale))
        view = View(folder, taffrail, api)
        took_s = view.wait_listed(limit_s)
        never, text = report(view, took_s)
        check(not never, f"never listed:\n{text}")
        view.wait_visible()
        check("persistentvolumeclaims: 2 objects" in text and "1 cannot be read (shop/data-db-1)"
              in text, f"the claim that cannot be read is not named:\n{text}")
        check(view.metric("taffrail_cluster_lacking", "Pod") == (scale["pods"] > 100000),
              "Pods have taken more room than they may, or less")
        check(view.metric("taffrail_cluster_unreadable_objects", "PersistentVolumeClaim") == 1,
              "the metric does not count it")
        check(len(view.logged("PersistentVolumeClaim shop/data-db-1.*cannot be read|"
                              "cannot be read.*PersistentVolumeClaim shop/data-db-1")) == 1,
              "the log does not name it once")
        check(view.required(0) == "b", "a claim with deep managedFields is not read")
        check(view.changes(live.pod(1)) == [] or view.required(1) is None, "a guess is a pin")
        storm(view, scale)
        never, text = report(view, took_s)
        check(view.ready()[0] == 200, f"not ready:\n{text}")
        check(view.required(0) == "b", "the pin is gone")
        most = view.memory_mib("VmHWM")
        check(most < LIMIT_MIB, f"it took {most:.0f} MiB")
        view.end()


def watch_before(taffrail, scale, limit_s):
    """What a program does that may do anything: for figures."""
    with tempfile.TemporaryDirectory() as folder:
        view = View(folder, taffrail, hostile_cluster.Server(hostile_cluster.cluster(scale)))
        report(view, view.wait_listed(limit_s))
        print("\n".join("    " + line[:150] for line in
                        view.kinds_without_karpenter().splitlines()))
        view.serving.process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taffrail")
    parser.add_argument("--whole", action="store_true", help="a million Pods, gigabytes of lists")
    parser.add_argument("--pods", type=int)
    parser.add_argument("--large", type=int, help="so many large objects of each kind")
    parser.add_argument("--look", type=float, metavar="SECONDS",
                        help="print what it does in so long, and judge nothing")
    options = parser.parse_args()
    scale, limit_s = (WHOLE, 1200) if options.whole else (SHORT, 200)
    if options.pods:
        scale["pods"] = options.pods
    if options.large:
        scale["large"] = options.large
    if options.look:
        watch_before(options.taffrail, scale, options.look)
    else:
        run(options.taffrail, scale, limit_s)


try:
    main()
except Failure as failure:
    sys.exit(f"FAILED: {failure}")
