"""`taffrail serve --write-reports`: the elected replica writes what `taffrail audit` finds as reports,
one a namespace, only where something changed, and only its own. The API server is the fake one; where the
definitions of openreports.io are at hand, what is written is held against them.

usage: reports.py TAFFRAIL FAKEAPI [DEFINITIONS]"""

import collections
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is written beside the tests
import fake as fake_server
from audit_cluster import CLUSTER, PLURALS, POLICY, spec, template, thing
from fake import kubeconfig
from serving import ENDS_S, WAIT_S, Serving, check, run_tests

TAFFRAIL, FAKEAPI = sys.argv[1:3]
try:
    import report_definitions
    VALID = report_definitions.validators(pathlib.Path(sys.argv[3])) if len(sys.argv) > 3 else None
except ImportError:
    VALID = None  # no python3-jsonschema
OPENREPORTS = "/apis/openreports.io/v1alpha1/"
WGPOLICY = "/apis/wgpolicyk8s.io/v1alpha2/"
RESOURCES = {OPENREPORTS: ("reports", "clusterreports"),
             WGPOLICY: ("policyreports", "clusterpolicyreports")}
LEASE = ("--lease-duration", "3s", "--lease-renew-deadline", "2s", "--lease-retry-period", "1s")


def put(thing_):
    metadata = thing_["metadata"]
    path = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
    return f"object {PLURALS[thing_['kind']]} {path} {json.dumps(thing_)}"


class Cluster:
    def __init__(self, folder, *script, things=CLUSTER):
        self.folder = pathlib.Path(folder)
        self.policy = self.folder / "policy.yaml"
        self.policy.write_text(POLICY)
        self.fake = fake_server.Fake(FAKEAPI, folder, "\n".join([*map(put, things), *script]))
        self.config = kubeconfig(folder, f"http://127.0.0.1:{self.fake.port}")
        self.serving = None

    def serve(self, *arguments, interval="1s"):
        self.serving = Serving(TAFFRAIL, None, "-p", str(self.policy), "--kubeconfig", self.config,
                               "--write-reports", "--report-interval", interval, "--lease",
                               "taffrail/taffrail", *LEASE, *arguments)
        return self.serving

    def end(self):
        if self.serving:
            begun = time.monotonic()
            self.serving.process.send_signal(signal.SIGINT)  # which does not wait for the API server
            code = self.serving.process.wait(WAIT_S)
            check(code == 0, f"it ended with {code}: {''.join(self.serving.log)[-3000:]}")
            check(time.monotonic() - begun < ENDS_S, "it did not end at once")
            self.serving = None
        self.fake.end()

    def send(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.fake.port, timeout=WAIT_S)
        connection.request(method, path, None if body is None else json.dumps(body))
        reply = connection.getresponse()
        text = reply.read().decode()
        connection.close()
        return None if reply.status == 404 else json.loads(text)

    def report(self, namespace, api=OPENREPORTS):
        plural, cluster_plural = RESOURCES[api]
        return self.send("GET", api + (f"namespaces/{namespace}/{plural}/taffrail" if namespace
                                       else f"{cluster_plural}/taffrail"))

    def writes(self, *verbs):
        """What was written of reports: verb, resource, status."""
        return [tuple(line.split()[1:4]) for line in
                self.fake.ask("GET", "/fake/writes").splitlines() if "reports " in line
                and (not verbs or line.split()[1] in verbs)]

    def wait(self, what, condition):
        end = time.monotonic() + WAIT_S
        while not (found := condition()):
            check(time.monotonic() < end, f"not within {WAIT_S} s: {what}\n"
                  + "".join(self.serving.log)[-4000:] + "\n".join(map(str, self.writes()[-20:])))
            time.sleep(0.05)
        return found

    def rounds(self, more=1):
        """Waits for so many audits more, begun from now on."""
        wanted = self.serving.metric("taffrail_audits_total") + more + 1
        self.wait("audits", lambda: self.serving.metric("taffrail_audits_total") >= wanted)


def told(results):
    return collections.Counter((one["policy"], one["rule"], one["result"], one["message"],
                                json.dumps(one["properties"], sort_keys=True),
                                json.dumps(one.get("resources"), sort_keys=True)) for one in results)


def audit(cluster):
    """What the command finds, by namespace; clean ones left out."""
    done = subprocess.run([TAFFRAIL, "audit", "-p", cluster.policy, "--kubeconfig", cluster.config,
                           "-o", "openreports"], capture_output=True, text=True, check=False)
    return {report["metadata"].get("namespace", ""): report
            for report in json.loads(done.stdout)["items"] if report["results"]}


def held(report):
    """Against the definition of its kind."""
    if VALID is not None:
        for error in VALID[report["kind"]].iter_errors(report):
            check(False, f"{report['kind']}: {list(error.absolute_path)}: {error.message}")


def the_reports_are_what_the_audit_finds(folder):
    cluster = Cluster(folder, "api openreports.io on", "api wgpolicyk8s.io on")
    cluster.serve()
    wanted = audit(cluster)
    check(len(wanted) >= 3 and "" in wanted, f"the audit finds {sorted(wanted)}")
    cluster.wait("reports", lambda: all(cluster.report(space) for space in wanted))
    for space, report in wanted.items():
        found = cluster.report(space)
        check(told(found["results"]) == told(report["results"]),
              f"{space}: {found['results']}\nand not {report['results']}")
        check(found["summary"] == report["summary"], f"{space}: {found['summary']}")
        check(found["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "taffrail"},
              found["metadata"])
        held(found)
    check(not cluster.report("web", WGPOLICY), "the older API is written, too")
    # What stays is not written again.
    before = cluster.writes()
    cluster.rounds(2)
    check(cluster.writes() == before, f"written again: {cluster.writes()[len(before):]}")
    serving = cluster.serving
    check(serving.metric('taffrail_reports{api="openreports.io/v1alpha1"}') == len(wanted), "count")
    check(serving.metric("taffrail_leader") == 1, "it does not lead")
    check(time.time() - serving.metric("taffrail_reports_last_success_timestamp_seconds") < 30,
          "no success")
    check(serving.metric("taffrail_audit_objects") > 5, "no objects")
    denied = sum(report["summary"]["fail"] for report in wanted.values())
    page = serving.get("/metrics")[1]
    check(sum(int(line.split()[-1]) for line in page.splitlines()
              if line.startswith("taffrail_audit_findings") and 'outcome="denied"' in line) == denied,
          page)
    check("; reports: " in serving.get("/readyz")[1], serving.get("/readyz")[1])
    serving.check_metrics_page()
    # What somebody changes in a report is put right, and a report of a clean namespace goes.
    mine = cluster.report("web")
    mine["results"] = []
    cluster.send("PUT", OPENREPORTS + "namespaces/web/reports/taffrail", mine)
    cluster.wait("what was changed is put right", lambda: cluster.report("web")["results"])
    clean = thing("apps/v1", "Deployment", "fine", "quiet", spec={"template": template(spec())})
    wrong = thing("apps/v1", "Deployment", "fine", "quiet",
                  spec={"template": template(spec(key="zone"))})
    cluster.fake.do(put(wrong))
    cluster.wait("a new report", lambda: cluster.report("quiet"))
    cluster.fake.do(put(clean))
    cluster.wait("the report is removed", lambda: not cluster.report("quiet"))
    check(cluster.report("web"), "others are removed, too")
    cluster.end()


def nothing_of_others_is_touched(folder):
    cluster = Cluster(folder, "api openreports.io on")
    theirs = {"apiVersion": "openreports.io/v1alpha1", "kind": "Report", "source": "someone",
              "metadata": {"name": "taffrail", "namespace": "web"}, "results": []}
    calm = {**theirs, "metadata": {"name": "taffrail", "namespace": "calm"}}
    other = {**theirs, "metadata": {"name": "polr", "namespace": "calm", "labels": {
        "app.kubernetes.io/managed-by": "taffrail"}}}
    for report in (theirs, calm, other):
        space = report["metadata"]["namespace"]
        cluster.send("POST", OPENREPORTS + f"namespaces/{space}/reports", report)
    cluster.serve()
    cluster.wait("the other reports", lambda: cluster.report(""))
    cluster.wait("it is said", lambda: "that others have made" in "".join(cluster.serving.log))
    check(cluster.report("web")["source"] == "someone", cluster.report("web"))
    check(cluster.report("calm") and cluster.send(
        "GET", OPENREPORTS + "namespaces/calm/reports/polr"), "reports of others are removed")
    check(cluster.serving.metric("taffrail_reports_last_success_timestamp_seconds") == 0, "success")
    cluster.wait("/readyz says it", lambda: "others have made" in cluster.serving.get("/readyz")[1])
    cluster.end()


def the_api_decides(folder):
    """None, then the older one, then the newer one, which takes over."""
    cluster = Cluster(folder)
    cluster.serve()
    cluster.wait("it is said", lambda: "has neither" in "".join(cluster.serving.log))
    time.sleep(2.5)
    said = "".join(cluster.serving.log).count("has neither")
    check(said == 1, f"said {said} times")
    check("taffrail_reports_last_success" not in cluster.serving.get("/metrics")[1], "a metric")
    cluster.wait("/readyz says it", lambda: "is installed" in cluster.serving.get("/readyz")[1])
    check(not cluster.fake.requests("list deployments limit=250"), "it audits for nobody")
    cluster.fake.do("api wgpolicyk8s.io on")
    old = cluster.wait("PolicyReports", lambda: cluster.report("web", WGPOLICY))
    check((old["kind"], old["apiVersion"]) == ("PolicyReport", "wgpolicyk8s.io/v1alpha2"), old)
    check("source" not in old and old["results"][0]["source"] == "taffrail", old)
    severities = {one["result"]: one.get("severity") for one in old["results"]}
    check(severities["fail"] == "high" and severities["skip"] is None, severities)
    cluster.fake.do("api openreports.io on")
    cluster.wait("Reports", lambda: cluster.report("web"))
    cluster.wait("no PolicyReports", lambda: not cluster.report("web", WGPOLICY)
                 and not cluster.report("", WGPOLICY))
    cluster.fake.do("api openreports.io off", "api wgpolicyk8s.io off")
    cluster.wait("it is said again", lambda: "".join(cluster.serving.log).count("has neither") == 2)
    cluster.end()


def what_fails_is_said_and_done_again(folder):
    many = [thing("apps/v1", "Deployment", f"d{i:03}", "crowd",
                  spec={"template": template(spec(key="zone"))}) for i in range(620)]
    cluster = Cluster(folder, "api openreports.io on", things=[*CLUSTER, *many])
    cluster.fake.do("fault patch reports 429 1 1 slow down",
                    "fault patch reports 413 1 0 Request entity too large: limit is 3145728",
                    "fault list clusterreports 503 1 1 away",
                    "fault list reports 500 2 0 etcdserver: leader changed")
    cluster.serve()
    cluster.wait("reports", lambda: cluster.report("web") and cluster.report("crowd"))
    serving = cluster.serving
    cluster.wait("all is well", lambda: serving.metric(
        "taffrail_reports_last_success_timestamp_seconds") > 0)
    check(serving.metric('taffrail_report_writes_total{result="failed"}') == 0, "a failure")
    # A report holds the worst, and says how many more there are.
    crowd = cluster.report("crowd")
    count = len(crowd["results"])
    check(count in (500, 250), f"{count} results")
    check(crowd["summary"]["fail"] == 620, crowd["summary"])
    check(crowd["metadata"]["annotations"] == {"taffrail.dev/left-out": str(620 - count)},
          crowd["metadata"])
    check(crowd["configuration"] == {"limits": {"maxResults": count}}, crowd["configuration"])
    held(crowd)
    cluster.rounds()
    left_out = serving.metric("taffrail_reports_left_out_findings")
    check(left_out == 620 - len(cluster.report("crowd")["results"]), f"{left_out} left out")
    # A refusal is not success; what is refused is named; and it is tried again.
    cluster.fake.do("fault patch reports 403 3 0 user taffrail cannot patch reports",
                    put(thing("apps/v1", "Deployment", "extra", "third",
                              spec={"template": template(spec(key="zone"))})))
    cluster.wait("it is said", lambda: "the Report of third cannot be written: answered 403"
                 in serving.get("/readyz")[1])
    cluster.wait("it is written later", lambda: cluster.report("third"))
    # A namespace that ends is no failure.
    failed = serving.metric('taffrail_report_writes_total{result="failed"}')
    cluster.fake.do("fault patch reports 403 2 0 cannot create: namespace fourth is being terminated",
                    put(thing("apps/v1", "Deployment", "extra", "fourth",
                              spec={"template": template(spec(key="zone"))})))
    cluster.rounds(2)
    check(serving.metric('taffrail_report_writes_total{result="failed"}') == failed, "it failed")
    cluster.end()


def a_new_policy_is_audited_at_once(folder):
    cluster = Cluster(folder, "api openreports.io on")
    cluster.serve(interval="1h")
    cluster.wait("reports", lambda: cluster.report("web"))
    cluster.policy.write_text(POLICY.replace("mode: enforce", "mode: audit", 1))
    cluster.wait("what was denied is audited now",
                 lambda: cluster.report("web")["summary"]["fail"] == 0)
    cluster.end()


def another_takes_over_and_it_ends_at_once(folder):
    cluster = Cluster(folder, "api openreports.io on")
    first = cluster.serve(interval="1h")
    cluster.wait("reports", lambda: cluster.report("web"))
    second = cluster.serve(interval="1h")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(WAIT_S)
    cluster.wait("the other one audits", lambda: second.metric("taffrail_audits_total") == 1)
    cluster.wait("and is content", lambda: second.metric(
        'taffrail_report_writes_total{result="unchanged"}') >= 3)
    check(not [one for one in cluster.writes("patch") if one[2] == "200"], "it writes what is there")
    # In the midst of an audit: the list of pods stalls.
    cluster.fake.do("list pods stall")
    cluster.policy.write_text(POLICY.replace("mode: enforce", "mode: audit", 1))
    cluster.wait("the list", lambda: cluster.fake.requests("list pods limit=250"))
    cluster.end()


run_tests(meanwhile=(the_reports_are_what_the_audit_finds, nothing_of_others_is_touched, the_api_decides,
                     what_fails_is_said_and_done_again, a_new_policy_is_audited_at_once,
                     another_takes_over_and_it_ends_at_once))
