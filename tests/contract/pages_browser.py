#!/usr/bin/python3
"""The pages of `audit` and `plan` in Chromium: how wide they are, and what their script does.

usage: pages_browser.py TAFFRAIL [--quick | FOLDER-FOR-PICTURES]"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

sys.dont_write_bytecode = True  # nothing is written beside the tests
import pages_cluster as clusters

SKIPPED = 77
WIDTHS = (390, 1280)
HEIGHT = 3000
QUICK = ("audit-small", "plan-150", "plan-misfits")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--hide-scrollbars", "--allow-file-access-from-files"]
# The page is shown in a frame, since no window is narrower than 500 pixels. What sticks out is what
# is wider than its page; the filter is used as a person would.
FRAME = """<!DOCTYPE html><body style="margin:0"><iframe id="f" src="PAGE" width="WIDTH"
height="HEIGHT" style="border:0;display:block"></iframe><pre id="told"></pre><script>
onload = function () {
  var d = f.contentDocument, w = f.contentWindow, told = {};
  told.width = d.documentElement.scrollWidth;
  told.out = Array.from(d.querySelectorAll("main *")).filter(function (e) {
    var r = e.getBoundingClientRect();
    return r.width > 0 && r.right > WIDTH + 1 && !e.closest("svg");
  }).slice(0, 5).map(function (e) { return e.outerHTML.slice(0, 200); });
  told.small = Array.from(d.querySelectorAll("svg text")).filter(function (e) {
    var size = parseFloat(w.getComputedStyle(e).fontSize), s = e.ownerSVGElement;
    var r = s.getBoundingClientRect();
    return r.width > 0 && size * r.width / s.viewBox.baseVal.width < 7.5;
  }).length;
  var bar = d.getElementById("filter");
  told.filter = bar ? (bar.hidden ? "hidden" : "shown") : "none";
  if (bar && !bar.hidden) {
    var items = Array.from(d.querySelectorAll("details.item"));
    var seen = function () { return items.filter(function (e) { return !e.hidden; }).length; };
    told.items = items.length;
    var input = bar.querySelector("input"), select = bar.querySelector("select");
    var put = function (e, value, name) { e.value = value; e.dispatchEvent(new w.Event(name)); };
    put(input, "no such word", "input");
    told.none = seen();
    put(input, "", "input");
    told.again = seen();
    put(select, select.options[1].value, "change");
    told.first = seen();
    told.firstWanted = d.querySelectorAll("details.item." + select.options[1].value).length;
    put(select, "", "change");
    bar.querySelector("[data-open='1']").click();
    told.open = items.filter(function (e) { return e.open; }).length;
    told.openWidth = d.documentElement.scrollWidth;
    bar.querySelector("[data-open='0']").click();
    told.folded = items.filter(function (e) { return e.open; }).length;
  }
  document.getElementById("told").textContent = JSON.stringify(told);
};
</script>"""


def pages():
    """Name, arguments' maker, objects."""
    right = clusters.deployment("a", "b", clusters.spec(
        topologySpreadConstraints=clusters.spread("topology.kubernetes.io/zone")))
    return (("audit-large", clusters.write_audit, clusters.audit_things(30, 120)),
            ("audit-small", clusters.write_audit,
             clusters.audit_things(2, 6) + clusters.hostile_things()),
            ("audit-clean", clusters.write_audit, [right]),
            ("plan-150", clusters.write_plan, clusters.plan_things(150)),
            ("plan-small", clusters.write_plan, clusters.plan_things(6, 3)),
            ("plan-hostile", clusters.write_plan, clusters.hostile_plan_things()),
            ("plan-misfits", clusters.write_plan, clusters.misfit_things(40)))


def browse(folder, *arguments):
    profile = tempfile.mkdtemp(dir=folder)
    done = subprocess.run([BROWSER, *FLAGS, f"--user-data-dir={profile}", *arguments],
                          capture_output=True, timeout=300, check=False)
    shutil.rmtree(profile, ignore_errors=True)
    return done.stdout.decode()


def frame(folder, page, width, height):
    path = folder / "frame.html"
    path.write_text(FRAME.replace("PAGE", urllib.parse.quote(str(page)))
                    .replace("WIDTH", str(width)).replace("HEIGHT", str(height)))
    return f"file://{path}"


def measure(folder, page, width):
    dom = browse(folder, f"--window-size={max(width, 500)},{HEIGHT}", "--dump-dom",
                 "--virtual-time-budget=20000", frame(folder, page, width, HEIGHT))
    told = re.search(r'<pre id="told">(\{.*?\})</pre>', dom, re.S)
    if told is None:
        sys.exit(f"Chromium told nothing of {page.name}: {dom[:500]}")
    return json.loads(told[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))


def faults(told, width):
    if told["width"] > width:
        yield f"it is {told['width']} pixels wide"
    for one in told["out"]:
        yield f"this sticks out: {one}"
    if told["small"]:
        yield f"{told['small']} words of the picture are too small to be read"
    if told["filter"] == "hidden":
        yield "the script does not run, and the filter stays hidden"
    if told["filter"] != "shown":
        return
    for what, wanted in (("none", 0), ("again", told["items"]), ("first", told["firstWanted"]),
                         ("open", told["items"]), ("folded", 0)):
        if told[what] != wanted:
            yield f"the filter leaves {told[what]} ({what}), not {wanted}"
    if told["openWidth"] > width:
        yield f"unfolded it is {told['openWidth']} pixels wide"


def picture(folder, page, width, mode, out):
    browse(folder, f"--window-size={max(width, 500)},{HEIGHT}", f"--screenshot={out}",
           f"--blink-settings=preferredColorScheme={0 if mode == 'dark' else 1}",
           frame(folder, page, width, HEIGHT))


def main():
    if BROWSER is None:
        print("skipped: chromium is not installed (apt-get install chromium; scripts/pages does)")
        sys.exit(SKIPPED)
    taffrail = os.path.abspath(sys.argv[1])
    quick = sys.argv[2:] == ["--quick"]
    keep = pathlib.Path(sys.argv[2]).absolute() if len(sys.argv) > 2 and not quick else None
    failed = False
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        where = keep or folder
        where.mkdir(parents=True, exist_ok=True)
        for name, write, things in pages():
            if quick and name not in QUICK:
                continue
            cluster = folder / name
            cluster.mkdir()
            done = subprocess.run([taffrail, *write(cluster, things), "-o", "html"], cwd=cluster,
                                  capture_output=True, timeout=300, check=False)
            page = where / f"{name}.html"
            page.write_bytes(done.stdout)
            for width in WIDTHS[:1] if quick else WIDTHS:
                told = measure(folder, page, width)
                found = list(faults(told, width))
                failed |= bool(found)
                print(f"{name}, {width}: {'; '.join(found) or 'well'}"
                      f"{', with a filter' if told['filter'] == 'shown' else ''}", flush=True)
                for mode in ("light", "dark") if keep else ():
                    picture(folder, page, width, mode, keep / f"{name}-{width}-{mode}.png")
    sys.exit(1 if failed else 0)


main()
