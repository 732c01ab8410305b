#!/usr/bin/python3
"""The pages of `audit` and `plan`: what stands first, what is folded, and that names of the cluster's
users are only ever text. scripts/pages looks at the same clusters in a browser.

usage: pages.py TAFFRAIL"""
import html
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is written beside the tests
import pages_cluster as clusters
from page import Page
from serving import WAIT_S, check, run_tests

TAFFRAIL = sys.argv[1]
SOURCE = pathlib.Path(os.environ["TAFFRAIL_SOURCE_DIR"])


def page_of(folder, arguments, code=1):
    done = subprocess.run([TAFFRAIL, *arguments, "-o", "html"], cwd=folder, capture_output=True,
                          timeout=WAIT_S)
    text = done.stdout.decode()
    check(done.returncode == code, f"{arguments} ends with {done.returncode}: {done.stderr}")
    return Page(text), text


def in_order(page, *parts):
    """Each after the one before; it may be earlier, too, as in the list to jump by."""
    at = 0
    for part in parts:
        found = page.text.find(part, at)
        check(found >= 0, f"{part!r} is not after {page.text[max(0, at - 40):at]!r}")
        at = found + len(part)


def names_are_text(page, text):
    check(clusters.HOSTILE in page.text, "the name is not there as it is written")
    check("<script>alert" not in text and "<img" not in text, "a name became an element")
    check(clusters.LONG in page.text, "the long name is not there")


def an_audit_says_the_verdict_first(folder):
    page, _ = page_of(folder, clusters.write_audit(folder, clusters.audit_things(3, 6)))
    in_order(page, "3 objects would be refused if created now.", "They keep running.",
             "18objects checked", "denied", "Clusterfolder state", "When20", "Policiespolicy.yaml",
             "Taffrail", "On this page", "By rail", "team-0", "Action", "Policy", "production")
    check("tolerations-of-the-whole-company" in page.text, "the second policy is not named")
    choices = [attributes["value"] for tag, attributes in page.elements if tag == "option"]
    classes = {name for tag, attributes in page.elements if tag == "details"
               for name in attributes.get("class", "").split()}
    check(choices[0] == "" and set(choices[1:]) - {"excepted-in"} <= classes, (choices, classes))
    form = next(attributes for tag, attributes in page.elements if tag == "form")
    check("hidden" in form, "the filter is there without its script")


def a_large_audit_is_folded_by_owner(folder):
    page, text = page_of(folder, clusters.write_audit(folder, clusters.audit_things(20, 60)))
    items = [attributes for tag, attributes in page.elements
             if tag == "details" and "item" in (attributes.get("class") or "")]
    check(len(items) == 280, len(items))
    check(not any("open" in item for item in items), "something is open in a large page")
    check(page.count("details", "group") == 20, page.count("details", "group"))
    # What 10 Deployments have in common is there once.
    check("and 9 others" in page.text, "equal findings are not one")
    check(len(text) < 2000 * len(items), f"{len(text)} bytes for {len(items)} items")


def nothing_wrong_is_said_plainly(folder):
    right = clusters.deployment("a", "b", clusters.spec(
        topologySpreadConstraints=clusters.spread("topology.kubernetes.io/zone")))
    page, _ = page_of(folder, clusters.write_audit(folder, [right]), code=0)
    check("Nothing breaks a rail." in page.text, page.text)
    check(page.count("form") == 0 and page.count("nav") == 0, "there is nothing to filter")


def hostile_names_stay_text(folder):
    page, text = page_of(folder, clusters.write_audit(folder, clusters.hostile_things()), code=0)
    names_are_text(page, text)
    check("2 objects are warned about" in page.text, page.text[:300])
    check(html.escape("#platform <x", quote=False) in text, "the contact is not escaped")


def a_plan_says_first_what_fits_nowhere(folder):
    page, _ = page_of(folder, clusters.write_plan(folder, clusters.plan_things(150)))
    in_order(page, "10 of 490 pending pods fit nowhere.", "490pods pending", "10fit nowhere",
             "an hour", "a month", "Clusterfolder cluster", "When20", "Taffrail", "On this page",
             "CausePodsWorkloads", "resources51", "Nearest miss",
             "ml/vast-0 and 4 more", "Nodes of one NodePool and zone are one box", "By NodePool",
             "By namespace", "Existing nodes", "general", "50 nodes, cpu ")
    check(page.count("details", "pool") == 3, "a NodePool's nodes are not folded")
    # So few boxes that each can be read, with all nodes in them.
    boxes = sum(1 for tag, attributes in page.elements
                if tag == "rect" and "tf-room" in attributes.get("class", ""))
    check(boxes // 2 <= 60, f"{boxes // 2} boxes")


def a_plan_of_hostile_names_is_text(folder):
    page, text = page_of(folder, clusters.write_plan(folder, clusters.hostile_plan_things()))
    names_are_text(page, text)
    check("3 of 6 pending pods fit nowhere." in page.text, page.text[:300])


def the_picture_of_the_docs_is_what_is_drawn_now(_):
    demo = SOURCE / "manifests/demo"
    done = subprocess.run([TAFFRAIL, "plan", "--state", demo / "cluster", "-f",
                           demo / "requests/shop.yaml", "-o", "svg"], capture_output=True,
                          timeout=WAIT_S)
    check(done.stdout == (SOURCE / "docs/images/plan.svg").read_bytes(),
          "docs/images/plan.svg is another picture: run scripts/pictures")


run_tests(an_audit_says_the_verdict_first, a_large_audit_is_folded_by_owner,
          nothing_wrong_is_said_plainly, hostile_names_stay_text,
          a_plan_says_first_what_fits_nowhere, a_plan_of_hostile_names_is_text,
          the_picture_of_the_docs_is_what_is_drawn_now)
