#!/usr/bin/python3
"""`taffrail check -o junit|sarif|github`: what pipelines read, held against expectations that were
worked out by hand, and against readers that did not learn the format here (xml.etree, json). The
fixes of SARIF are applied, and the mended file is judged again.

usage: formats.py TAFFRAIL"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse
import xml.etree.ElementTree as ET

ZONE = "topology.kubernetes.io/zone"
# What formats must escape.
CONTACT = '100% <of> & "us"]]>, ::error::forged'
DOCS = "https://wiki.example.com/rails/{rail}"

POLICY = f"""apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {{name: p}}
spec:
  mode: MODE
  contact: {json.dumps(CONTACT)}
  docs: {DOCS}
  rails:
    topology-keys: {{allow: [{ZONE}]}}
  exceptions:
    - {{id: EX-1, rails: [topology-keys], match: {{names: [spared]}}, owner: us, reason: why,
       expires: 2199-01-01}}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: NAME}
spec:
  topologySpreadConstraints:
    - topologyKey: KEY
"""
BROKEN = "a: [b\n"
# Of one finding, as every format tells it.
MESSAGE = 'Nodes have no label "zone", so these pods would stay Pending.'
ADVICE = (f"{MESSAGE}\nfix: Use {ZONE}.\n"
          "field: spec.topologySpreadConstraints[0].topologyKey\n"
          f"docs: {DOCS.replace('{rail}', 'topology-keys')}\nask: {CONTACT}")


def pod(key="zone", name="a"):
    return POD.replace("KEY", key).replace("NAME", name)


class Failure(Exception):
    pass


def expect(what, actual, expected):
    if actual != expected:
        raise Failure(f"{what} is\n  {actual!r}\nexpected\n  {expected!r}")


class Bench:
    """A folder of manifests, and the program run in it."""

    def __init__(self, taffrail, folder):
        self.taffrail = taffrail
        self.folder = folder
        for mode in ("enforce", "warn", "audit"):
            (folder / f"{mode}.policy").write_text(POLICY.replace("MODE", mode))

    def write(self, name, text):
        path = os.path.join(os.fsencode(self.folder), os.fsencode(name))
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    def run(self, form, *names, mode="enforce", code=None, arguments=()):
        files = [part for name in names for part in ("-f", name)]
        done = subprocess.run([self.taffrail, "check", "-p", f"{mode}.policy", "-o", form, *files,
                               *arguments], cwd=self.folder, capture_output=True, timeout=300,
                              check=False)
        if done.returncode not in (0, 1, 2) or b"Sanitizer" in done.stderr:
            raise Failure(f"it crashed ({done.returncode}): {done.stderr.decode()}")
        if code is not None:
            expect("exit code", done.returncode, code)
        return done.stdout.decode()

    def sarif(self, *names, **options):
        return json.loads(self.run("sarif", *names, **options))["runs"][0]

    def junit(self, *names, **options):
        return ET.fromstring(self.run("junit", *names, **options))


# ---- github


def github_escapes(bench):
    bench.write("odd,na:me 100%.yaml", pod())
    lines = bench.run("github", "./odd,na:me 100%.yaml", code=1).splitlines()
    expect("the command", lines[0],
           "::error file=odd%2Cna%3Ame 100%25.yaml,line=6,col=20,endColumn=24,"
           "title=topology-keys%3A Pod default/a::"
           f'{MESSAGE}%0Afix: Use {ZONE}.%0A'
           "field: spec.topologySpreadConstraints[0].topologyKey%0A"
           "docs: https://wiki.example.com/rails/topology-keys%0A"
           'ask: 100%25 <of> & "us"]]>, ::error::forged')
    expect("the rest", lines[1:], ["1 object checked: 1 denied"])


def github_commands(bench):
    bench.write("a.yaml", pod() + "---\n" + pod(name="spared"))
    bench.write("broken.yaml", BROKEN)
    for mode, command in [("enforce", "error"), ("warn", "warning"), ("audit", "notice")]:
        lines = bench.run("github", "a.yaml", "broken.yaml", mode=mode, code=2).splitlines()
        words = [line.split("::")[1].split(",")[0] for line in lines[:-1]]
        expect(mode, words, [f"{command} file=a.yaml", "notice file=a.yaml",
                             "error file=broken.yaml"])
        if not lines[2].startswith("::error file=broken.yaml,line=2,col=1,title=not readable::not "):
            raise Failure(f"the error is told as {lines[2]}")
    bench.write("many.yaml", "apiVersion: v1\nkind: Pod\nspec: {topologySpreadConstraints: "
                             "[{topologyKey: \"zo\\\n  ne\"}]}\n")
    line = bench.run("github", "many.yaml").splitlines()[0]
    if "line=3,col=50,title=" not in line:
        raise Failure(f"a value of two lines has no end column on the first: {line}")


# ---- junit


def texts_of(case, tag):
    return [(found.get("type"), found.get("message"), found.text) for found in case.iter(tag)]


def junit_tree(bench):
    bench.write("a<&\">.yaml", pod() + "---\n" + pod(name="spared") + "---\n" + pod(ZONE, "good"))
    bench.write("b.yaml", pod() + "---\n" + BROKEN)
    root = bench.junit("b.yaml", "a<&\">.yaml", code=2)
    expect("the root", (root.tag, root.attrib),
           ("testsuites", {"name": "taffrail", "tests": "5", "failures": "2", "errors": "1"}))
    expect("suites", [suite.attrib for suite in root], [
        {"name": "a<&\">.yaml", "tests": "3", "failures": "1", "errors": "0", "skipped": "0"},
        {"name": "b.yaml", "tests": "2", "failures": "1", "errors": "1", "skipped": "0"}])
    expect("cases", [case.attrib for case in root.iter("testcase")], [
        {"classname": "Pod", "name": "default/a"}, {"classname": "Pod", "name": "default/spared"},
        {"classname": "Pod", "name": "default/good"}, {"classname": "Pod", "name": "default/a"},
        {"classname": "document", "name": "line 9"}])
    denied, spared, good = root[0]
    expect("the failure", texts_of(denied, "failure"),
           [("topology-keys", MESSAGE, f'a<&">.yaml:6:20: deny topology-keys\n{ADVICE}')])
    expect("the good one", list(good), [])
    expect("what fails of the spared one", texts_of(spared, "failure"), [])
    said = spared.find("system-out").text
    if not said.startswith('a<&">.yaml:13:20: excepted topology-keys\n') or \
            "\nexception: EX-1, until 2199-01-01\n" not in said:
        raise Failure(f"the spared one says {said!r}")
    (error,) = root[1][1]
    expect("the error", (error.tag, error.get("type")), ("error", "not readable"))


def junit_failures_follow_fail_on(bench):
    bench.write("a.yaml", pod())
    for mode, arguments, code, failures in [
        ("enforce", (), 1, 1), ("enforce", ("--fail-on", "never"), 0, 1), ("warn", (), 0, 0),
        ("warn", ("--fail-on", "warn"), 1, 1), ("audit", ("--fail-on", "warn"), 0, 0),
    ]:
        root = bench.junit("a.yaml", mode=mode, arguments=arguments, code=code)
        counted = root.get("failures"), len(list(root.iter("failure"))), \
            len(list(root.iter("system-out")))
        expect(f"{mode} {arguments}", counted, (str(failures), failures, 1 - failures))


def junit_characters(bench):
    """No control character, no U+FFFF and no broken UTF-8 gets into XML; line breaks stay."""
    bench.write("odd.policy", POLICY.replace("MODE", "enforce").replace(
        json.dumps(CONTACT), r'"\uFFFE\uFFFF\uFFFD\uFFEF"'))
    name = b"\xff\xc3\xa9\x01\t\r\n.yaml"
    bench.write(name, pod("zone", r'"a\u0001\u000ab"') + "---\n" + BROKEN)
    root = bench.junit(name, mode="odd")
    expect("the suite", root[0].get("name"), "\ufffdé\ufffd\t\r\n.yaml")
    expect("the case", root[0][0].get("name"), "default/a  b")
    (_, _, told), = texts_of(root, "failure")
    expect("the failure", told.split(": deny")[0], "\ufffdé\ufffd\t\r\n.yaml:6:20")
    expect("the contact", told.partition("\nask: ")[2], "\ufffd\ufffd\ufffd\uffef")
    (_, message, _), = texts_of(root, "error")
    if not message.startswith("not YAML"):
        raise Failure(f"the error says {message!r}")


def two_failures_are_one_failed_case(bench):
    bench.write("a.yaml", pod() + "    - topologyKey: hostname\n")
    root = bench.junit("a.yaml")
    expect("failed cases", (root.get("tests"), root.get("failures")), ("1", "1"))
    expect("failures", [message for _, message, _ in texts_of(root, "failure")],
           [MESSAGE, MESSAGE.replace('"zone"', '"hostname"')])


# ---- sarif


def sarif_result(bench):
    bench.write("a.yaml", pod())
    run = bench.sarif("a.yaml", code=1)
    driver = run["tool"]["driver"]
    version = subprocess.run([bench.taffrail, "version"], capture_output=True, text=True,
                             check=True).stdout.split()[1]
    expect("the tool", (driver["name"], driver["version"]), ("Taffrail", version))
    expect("the rules", [(rule["id"], rule["helpUri"]) for rule in driver["rules"]],
           [("topology-keys", "https://wiki.example.com/rails/topology-keys")])
    expect("the invocation", run["invocations"],
           [{"executionSuccessful": True, "toolExecutionNotifications": []}])
    expect("columns", run["columnKind"], "utf16CodeUnits")
    (result,) = run["results"]
    region = {"startLine": 6, "startColumn": 20, "endLine": 6, "endColumn": 24}
    fingerprint = result.pop("partialFingerprints")
    expect("the result", result, {
        "ruleId": "topology-keys", "ruleIndex": 0, "kind": "fail", "level": "error",
        "message": {"text": ADVICE},
        "locations": [{
            "physicalLocation": {"artifactLocation": {"uri": "a.yaml"}, "region": region},
            "logicalLocations": [
                {"fullyQualifiedName": "Pod default/a", "kind": "resource"},
                {"fullyQualifiedName": "spec.topologySpreadConstraints[0].topologyKey",
                 "kind": "property"}]}],
        "fixes": [{
            "description": {"text": f"Use {ZONE}."},
            "artifactChanges": [{
                "artifactLocation": {"uri": "a.yaml"},
                "replacements": [{"deletedRegion": region,
                                  "insertedContent": {"text": ZONE}}]}]}],
        "properties": {"policy": "p"}})
    expect("the fingerprint's name", list(fingerprint), ["taffrailFinding/v1"])


def sarif_levels(bench):
    bench.write("a.yaml", pod() + "---\n" + pod(name="spared"))
    for mode, level in [("enforce", "error"), ("warn", "warning"), ("audit", "note")]:
        found, spared = bench.sarif("a.yaml", mode=mode)["results"]
        expect(mode, (found["kind"], found["level"], "suppressions" in found),
               ("fail", level, False))
        expect("the spared one", (spared["level"], spared["suppressions"]),
               ("note", [{"kind": "external", "status": "accepted",
                          "justification": "exception EX-1 of policy p"}]))
    bench.write("unknown.yaml", pod("example.com/rack"))
    (open_result,) = bench.sarif("unknown.yaml", code=0)["results"]
    expect("undecided", (open_result["kind"], open_result["level"]), ("open", "none"))
    expect("no value mends it", "fixes" in open_result, False)


def sarif_rules(bench):
    bench.write("two.policy", POLICY.replace("MODE", "enforce").replace(
        "  rails:\n", "  rails:\n    instance-types: {allow: {families: [m5]}}\n").replace(
            DOCS, "see the wiki"))
    bench.write("a.yaml", pod() + "  nodeSelector: {node.kubernetes.io/instance-type: r5.large}\n")
    run = bench.sarif("a.yaml", mode="two")
    rules = run["tool"]["driver"]["rules"]
    expect("rules", [rule["id"] for rule in rules], ["instance-types", "topology-keys"])
    expect("what is no address", ["helpUri" in rule for rule in rules], [False, False])
    for result in run["results"]:
        expect("the rule's index", rules[result["ruleIndex"]]["id"], result["ruleId"])
    expect("results", [result["ruleId"] for result in run["results"]],
           ["instance-types", "topology-keys"])


def sarif_uris(bench):
    (bench.folder / "b c").mkdir()
    for name, uri in [
        ("./././/a.yaml", "a.yaml"), ("b c/é%#?.yaml", "b%20c/%C3%A9%25%23%3F.yaml"),
        ("a:b.yaml", "a%3Ab.yaml"), (b"\xff.yaml", "%FF.yaml"), ("../x/a.yaml", "../x/a.yaml"),
        (str(bench.folder / "a.yaml"), "file://" + urllib.parse.quote(str(bench.folder)) +
         "/a.yaml"),
    ]:
        if name != "../x/a.yaml":
            bench.write(name, pod())
        run = bench.sarif(name)
        if run["results"]:
            place = run["results"][0]["locations"][0]
        else:
            place = run["invocations"][0]["toolExecutionNotifications"][0]["locations"][0]
        expect(f"the URI of {name!r}", place["physicalLocation"]["artifactLocation"]["uri"], uri)


def sarif_notifications(bench):
    bench.write("broken.yaml", "a: 1\n---\n" + BROKEN)
    (invocation,) = bench.sarif("broken.yaml", "none.yaml", code=2)["invocations"]
    expect("success", invocation["executionSuccessful"], False)
    places = [(one["level"], one["locations"][0]["physicalLocation"])
              for one in invocation["toolExecutionNotifications"]]
    expect("the notifications", places, [
        ("error", {"artifactLocation": {"uri": "broken.yaml"}, "region": {"startLine": 1}}),
        ("error", {"artifactLocation": {"uri": "broken.yaml"}, "region": {"startLine": 4}}),
        ("error", {"artifactLocation": {"uri": "none.yaml"}})])


def fingerprints(bench, text, name="f.yaml"):
    bench.write(name, text)
    return [result["partialFingerprints"]["taffrailFinding/v1"]
            for result in bench.sarif(name)["results"]]


def sarif_fingerprints(bench):
    (plain,) = fingerprints(bench, pod())
    expect("lower down, elsewhere", fingerprints(bench, "# moved\n\n" + pod(), "g.yaml"), [plain])
    others = [pod(name="b"), pod("hostname"), pod().replace("name: a", "name: a, namespace: b"),
              pod().replace("- topologyKey", "- {}\n    - topologyKey")]
    each = {plain, *(one for text in others for one in fingerprints(bench, text))}
    expect("the number of different ones", len(each), 1 + len(others))
    bench.write("enforce.policy", POLICY.replace("MODE", "enforce") + "---\n" + POLICY.replace(
        "MODE", "enforce").replace("name: p", "name: q"))
    first, second = fingerprints(bench, pod())
    expect("of two policies", (first, second), (plain, plain.replace(":1", ":2")))


# Name, file, the text with VALUE in it, the value as it is written, and as the fix writes it; None:
# no fix is offered.
IN_FLOW = ('{"apiVersion": v1, "kind": Pod, "spec": {"é€😀": 1, '
           '"topologySpreadConstraints": [{"topologyKey": VALUE, "maxSkew": 1}]}}\n')
IN_JSON = IN_FLOW.replace("v1,", '"v1",').replace(": Pod", ': "Pod"')
ANCHORED = pod("VALUE").replace("{name: a}", "{name: a, labels: {k: &k zone}}")
FIXES = [
    ("plain", "a.yaml", pod("VALUE"), "zone", ZONE),
    ("plain, with a comment", "a.yaml", pod("VALUE # why"), "zone", ZONE),
    ("single quotes", "a.yaml", pod("VALUE"), "'zone'", f"'{ZONE}'"),
    ("double quotes", "a.yaml", pod("VALUE"), '"zone"', f'"{ZONE}"'),
    ("escapes in double quotes", "a.yaml", pod("VALUE"), r'"z\x6fne"', f'"{ZONE}"'),
    ("double quotes over two lines", "a.yaml", pod("VALUE"), '"zo\\\n        ne"', f'"{ZONE}"'),
    ("CRLF", "a.yaml", pod("VALUE").replace("\n", "\r\n"), "zone", ZONE),
    ("a byte order mark", "a.yaml", "\ufeff" + pod("VALUE"), "zone", ZONE),
    ("flow style behind wide characters", "a.yaml", IN_FLOW, "zone", ZONE),
    ("flow style on the first line behind a mark", "a.yaml", "\ufeff" + IN_FLOW, "'zone'",
     f"'{ZONE}'"),
    ("JSON", "a.json", IN_JSON, '"zone"', f'"{ZONE}"'),
    ("JSON with an escape", "a.json", IN_JSON, r'"z\u006fne"', f'"{ZONE}"'),
    ("a block scalar", "a.yaml", pod("VALUE"), "|-\n        zone", None),
    ("a folded scalar", "a.yaml", pod("VALUE"), ">-\n        zone", None),
    ("an anchor", "a.yaml", pod("VALUE"), "&k zone", None),
    ("a tag", "a.yaml", pod("VALUE"), "!!str zone", None),
    ("an alias", "a.yaml", ANCHORED, "*k", None),
]


def apply_fix(text, fix):
    """As an editor would, that knows lines and UTF-16 code units."""
    (change,) = fix["artifactChanges"]
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    mark = text.startswith("\ufeff")
    lines = text[mark:].split("\n")

    def at(line, column):
        before = "\n".join(lines[:line - 1]) + ("\n" if line > 1 else "")
        units = lines[line - 1].encode("utf-16-le")
        return mark + len(before) + len(units[:2 * (column - 1)].decode("utf-16-le"))

    start = at(region["startLine"], region["startColumn"])
    end = at(region["endLine"], region["endColumn"])
    return text[:start] + replacement["insertedContent"]["text"] + text[end:]


def sarif_fix(bench, name, template, written, wanted):
    text = template.replace("VALUE", written)
    bench.write(name, text)
    (result,) = bench.sarif(name, code=1)["results"]
    if wanted is None:
        expect("the fixes", "fixes" in result, False)
        return
    (fix,) = result["fixes"]
    mended = apply_fix(text, fix)
    expect("the mended file", mended, template.replace("VALUE", wanted))
    bench.write(name, mended)
    expect("what is left", bench.sarif(name, code=0)["results"], [])


# ---- all of them


def outputs_that_cannot_be_written(bench):
    bench.write("a.yaml", pod(ZONE))
    check = ["check", "-p", "enforce.policy", "-f", "a.yaml", "-o"]
    commands = [check + [form] for form in ("text", "json", "junit", "sarif", "github")]
    commands += [["version"], ["--version"], ["--help"], ["help"], ["check", "--help"], ["explain"],
                 ["explain", "policy"], ["catalog", "show", "m5.large"],
                 ["catalog", "filter", "family=m5", "-o", "json"], ["completion", "bash"]]
    for command in commands:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([bench.taffrail, *command], cwd=bench.folder, stdout=full,
                                  stderr=subprocess.PIPE, timeout=300, check=False)
        expect(f"exit code of {command}", done.returncode, 2)
        if b"standard output" not in done.stderr:
            raise Failure(f"{command} says {done.stderr!r}")


def nothing_found(bench):
    bench.write("a.yaml", pod(ZONE))
    expect("github", bench.run("github", "a.yaml", code=0), "1 object checked, nothing found\n")
    run = bench.sarif("a.yaml", code=0)
    expect("sarif", (run["results"], run["tool"]["driver"]["rules"]), ([], []))
    expect("junit", bench.junit("a.yaml", code=0).get("failures"), "0")
    bench.write("empty.yaml", "")
    expect("junit of nothing", list(bench.junit(
        "empty.yaml", code=0, arguments=["--allow-empty"])), [])


def text_underlines_quotes(bench):
    bench.write("a.yaml", pod("'zone' # why"))
    lines = bench.run("text", "a.yaml").splitlines()
    expect("the marks", lines[1:3], ["     6 |     - topologyKey: 'zone' # why",
                                     "       |                    ^~~~~~"])


def json_tells_when_an_exception_ends(bench):
    bench.write("a.yaml", pod() + "---\n" + pod(name="spared"))
    report = json.loads(bench.run("json", "a.yaml"))
    expect("who is excepted, and until when",
           [(f["name"], f["action"], f["exception"], f["exceptionExpires"])
            for f in report["findings"]],
           [("a", "deny", None, None), ("spared", "excepted", "EX-1", "2199-01-01")])


def json_is_utf8(bench):
    bench.write(b"\xff.yaml", pod())
    report = json.loads(bench.run("json", b"\xff.yaml", b"\xfe.yaml", code=2))
    expect("the files", [one["file"] for one in report["findings"] + report["errors"]],
           ["\ufffd.yaml", "\ufffd.yaml"])


TESTS = [github_escapes, github_commands, junit_tree, junit_failures_follow_fail_on,
         junit_characters, two_failures_are_one_failed_case, sarif_result, sarif_levels,
         sarif_rules, sarif_uris, sarif_notifications, sarif_fingerprints,
         outputs_that_cannot_be_written, nothing_found, text_underlines_quotes,
         json_tells_when_an_exception_ends, json_is_utf8]


def main(taffrail):
    jobs = [(test.__name__, test) for test in TESTS]
    jobs += [(f"fix: {name}", lambda bench, case=case: sarif_fix(bench, *case))
             for name, *case in FIXES]
    failed = 0
    for name, job in jobs:
        with tempfile.TemporaryDirectory() as scratch:
            try:
                job(Bench(taffrail, pathlib.Path(scratch)))
            except (Failure, ValueError, ET.ParseError, LookupError,
                    subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED  {name}: {type(failure).__name__}: {failure}")
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
