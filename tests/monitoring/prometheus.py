"""Prometheus scrapes the server: every metric of the page is there, of the type it is said to be; every rule can be
evaluated; every panel of the dashboard has an answer, and the answers are those of what was done.

usage: prometheus.py TAFFRAIL FAKEAPI"""

import sys
import tempfile

from monitored import ApiServer, Monitored, filled, panels, table
from serving import Failure, check

# Panels that have nothing to show while all is well.
QUIET = {"What rails did besides denying"}


def up(monitored):
    targets = monitored.ask("targets")["activeTargets"]
    return len(targets) == 2 and all(one["health"] == "up" for one in targets)


def metrics_are_there(monitored):
    known = table()
    check(len(known) > 40, f"the page has {len(known)} metrics")
    page = monitored.serving.get("/metrics")[1]
    described = {line.split()[2] for line in page.splitlines() if line.startswith("# TYPE ")}
    check(described == set(known), f"described and not on the page {described - set(known)}, on the page and not "
          f"described {set(known) - described}")
    types = monitored.ask("metadata")
    for name, kind in known.items():
        sample = name + ("_count" if kind == "histogram" else "")
        check(monitored.value(sample), f"Prometheus has no {sample}")
        check([one["type"] for one in types[name]] == [kind], f"{name}: {types[name]} is no {kind}")


def rules_are_evaluated(monitored):
    rules = [rule for group in monitored.ask("rules")["groups"] for rule in group["rules"]]
    check(len(rules) >= 12 and all(rule["health"] == "ok" for rule in rules),
          [(rule["name"], rule["health"], rule.get("lastError")) for rule in rules])
    firing = {rule["name"] for rule in rules if rule["state"] == "firing"}
    check(firing == {"TaffrailFailsOpen"}, f"firing: {firing}")  # it lets objects through


def panels_have_answers(monitored):
    count = 0
    for panel in panels():
        for target in panel["targets"]:
            found = monitored.value(filled(target["expr"]))
            check(found or panel["title"] in QUIET, f"nothing for {panel['title']}: {target['expr']}")
            count += 1
    check(count > 20, f"{count} queries")
    return count


def answers_are_right(monitored):
    def one(title):
        panel = next(panel for panel in panels() if panel["title"] == title)
        return monitored.value(filled(panel["targets"][0]["expr"]))

    def number(title):
        return list(one(title).values())[0]
    check(number("Replicas ready") == 1, one("Replicas ready"))
    check(80 < number("Certificate ends in") / 86400 < 91, one("Certificate ends in"))
    let_through, refused = (sum(monitored.value(filled(target["expr"])).values()) for target in next(
        panel for panel in panels() if panel["title"] == "Unjudged, 1 h")["targets"])
    check(let_through > 0 and refused == 0, f"unjudged: {let_through}, {refused}")
    check(number("Reload") == 0 and number("View of the cluster") < 60 and number("Reports") < 60, "now")
    denied = monitored.value('sum(taffrail_audit_findings{outcome="denied"})')
    check(number("Broken now") == list(denied.values())[0] > 5, one("Broken now"))
    verdicts = {dict(labels)["verdict"]: rate for labels, rate in one("Reviews by verdict").items()}
    check(set(verdicts) == {"none", "deny"} and verdicts["none"] > verdicts["deny"] > 0, verdicts)
    rails = {dict(labels)["rail"] for labels in one("Denials by rail")}
    check(rails == {"topology-keys"}, rails)
    totals = monitored.value('sum by (verdict) (taffrail_reviews_total)')
    check(totals[(("verdict", "deny"),)] * 4 == totals[(("verdict", "none"),)], totals)
    check(monitored.value("taffrail_review_timeout_seconds").popitem()[1] == 2, "the timeout")


def run(monitored):
    monitored.wait("Prometheus scrapes", lambda: up(monitored))
    monitored.wait("the first reports", lambda: monitored.value(
        "taffrail_reports_last_success_timestamp_seconds > 0"))
    for _ in range(4):
        monitored.judge(10, wrong=2)
        ApiServer.let_through += 1
        before = monitored.value("count_over_time(taffrail_ready[1m])")
        monitored.wait("another scrape", lambda before=before: monitored.value(
            "count_over_time(taffrail_ready[1m])") != before)
    monitored.wait("all reviews", lambda: monitored.value("sum(taffrail_reviews_total) == 40"))
    metrics_are_there(monitored)
    rules_are_evaluated(monitored)
    count = panels_have_answers(monitored)
    answers_are_right(monitored)
    # A reload that fails shows.
    monitored.policy.write_text("kind: GuardRails\n")
    monitored.wait("the failure", lambda: monitored.value('taffrail_reload_failing{what="world"} == 1'))
    print(f"{len(table())} metrics, {count} queries of panels")


def main(folder):
    monitored = Monitored(*sys.argv[1:3], folder)
    try:
        run(monitored)
    finally:
        monitored.end()


try:
    with tempfile.TemporaryDirectory() as scratch:
        main(scratch)
except Failure as failure:
    sys.exit(f"FAILED: {failure}")
