#!/usr/bin/python3
"""docs/performance.md is what scripts/performance makes of docs/performance.json. Of figures made up here: aims that are
met and missed, sections that were not measured, and figures of a loaded machine, of which no page is made."""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("TAFFRAIL_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
FAILED = []

# Microseconds of a 6 KB Pod; of a 20 KB Pod twice as many.
COSTS = {"bare": 20.0, "three": 26.0, "strict": 31.0, "cluster": 40.0, "hundred": 45.0, "hundred-all": 900.0,
         "empty": 260.0, "scaffold": 360.0, "opa": 700.0, "vap": 900.0}


def check(name, good, more=""):
    print(("ok      " if good else "FAILED  ") + name + ("" if good else "\n" + more))
    if not good:
        FAILED.append(name)


def ratio(value):
    return {"value": value, "off": 0.01}


def body(size, factor):
    return {
        "bytes": size, "noise": {"others": 0.0, "steal": 0.0, "load": [0.1, 1.0]},
        "servers": {name: {"median": cost * factor, "best": cost * factor, "spread": 0.01} for name, cost in COSTS.items()},
        "to_bare": {name: ratio(cost / 20) for name, cost in COSTS.items()},
        "to_cluster": {name: ratio(cost / 40) for name, cost in COSTS.items()},
        "to_strict": {name: ratio(COSTS[name] / 31) for name in ("hundred", "hundred-all")},
        "same_rate": {"rate": 8000, "servers": {name: {"median": 1.5 * COSTS[name] * factor} for name in ("bare", "strict")},
                      "to_bare": {"bare": ratio(1.0), "strict": ratio(1.55)}},
        "judgement": {"strict": 5 * factor, "cluster": 8 * factor}, "vap_in_process": 130.0 * factor}


def section(figures):
    return {"date": "2026-11-23 18:00 UTC", "command": "scripts/bench all", "revision": "abc",
            "machine": {"processor": "a processor", "cores": 2, "memory_gib": 8, "kernel": "6.1"}, "took_s": 60,
            "noise": {"others": 0.01, "steal": 0.0, "load": [0.1, 1.0]}, "figures": figures, "doubts": []}


MEASURED = {"reviews": section({"connections": 16, "rounds": 7, "rounds_most": 21, "seconds": 1,
                                "verdicts": {"allowed": 90, "denied": 250},
                                "versions": {"OPA": "v1.2.3"},
                                "bodies": {"pod-6k": body(6000, 1), "pod-20k": body(20000, 2)}})}


def tail(to_bare, awake):
    """Of 1,000 reviews a second; the same with cores that are kept awake."""
    def of(found, p99):
        return {"servers": {name: {"median": 300.0, "p99": value, "longest": 2000.0} for name, value in p99.items()},
                "to_bare": {"bare": ratio(1.0), "strict": found}}
    body_of = {**of(to_bare, {"bare": 600.0, "strict": 900.0}), "awake": of(awake, {"bare": 500.0, "strict": 610.0})}
    return section({"rate": 1000, "connections": 16, "rounds": 7, "seconds": 2,
                    "bodies": {"pod-6k": body_of, "pod-20k": body_of}})


def performance(folder, sections, *arguments):
    path = pathlib.Path(folder) / "measured.json"
    path.write_text(json.dumps(sections), encoding="utf-8")
    page = pathlib.Path(folder) / "page.md"
    done = subprocess.run([SOURCE / "scripts/performance", "--json", path, "--page", page, *arguments],
                          capture_output=True, text=True, check=False)
    return done.returncode, page.read_text(encoding="utf-8") if page.exists() else "", done.stdout + done.stderr


def main():
    committed = subprocess.run([SOURCE / "scripts/performance", "--check"], capture_output=True, text=True, check=False)
    check("the page is what is made of the committed figures", committed.returncode == 0, committed.stdout + committed.stderr)
    with tempfile.TemporaryDirectory() as folder:
        code, page, said = performance(folder, MEASURED)
        check("a page is made", code == 0 and page.startswith("# What it costs"), said)
        check("nothing of the template is left", "{{" not in page and "@needs" not in page and "@end" not in page, page)
        check("an aim that is met, and how far it may be off", "| 6 KB Pod, strict.yaml, to the bare server | at most 1.6 | 1.55 ± 0.02 | met |" in page, page)
        check("an aim that is missed, by how much", "| at most 1.8 | 2.00 ± 0.02 | missed by 11% |" in page, page)
        check("... and what stands in the way: 40 us, of which 20 are the bare server's and 8 the judgement's",
              "The bare server takes 20 us of 40. To read and to judge the review takes 8 us, and 12 us are" in page, page)
        check("an aim that is a least", "| at least 10 | 9.00 ± 0.09 | missed by 10% |" in page, page)
        check("what was not measured is said", "| at most 16 MiB | – | not measured |" in page, page)
        check("a section that was not measured is not there", "## The solver" not in page and "64 connections" not in
              page.partition("## A review")[2], page)
        check("the peers are there", "| OPA's server, three rails | 700 us | 35.0 | 17.5 | 1.4 ms | 35.0 | 17.5 |" in page, page)
        check("so is what each takes at the same rate",
              "| taffrail, strict.yaml | 46 us | 1.55 | 93 us | 1.55 |" in page, page)
        check("how many rounds", "16 kept connections, 7 to 21 rounds of 1 s." in page, page)
        check("--check finds it as it is", performance(folder, MEASURED, "--check")[0] == 0)
        other = copy.deepcopy(MEASURED)
        other["reviews"]["figures"]["bodies"]["pod-6k"]["servers"]["bare"]["median"] = 21.0
        check("--check finds a figure that differs", performance(folder, other, "--check")[0] == 1)
        check("... and writes nothing", performance(folder, MEASURED, "--check")[0] == 0)
        vague = copy.deepcopy(MEASURED)
        vague["reviews"]["figures"]["bodies"]["pod-6k"]["to_bare"]["strict"] = {"value": None, "off": 0.2, "why": ["why"]}
        code, page, said = performance(folder, vague)
        check("a ratio that its rounds do not tell is left out", code == 0 and "| taffrail, strict.yaml | 31 us | – |" in page, page)
        check("... of the aims, too", "| at most 1.6 | – | left out: it may be off by 20% |" in page, page)
        late = {**MEASURED, "tail": tail(ratio(1.5), ratio(1.22))}
        code, page, said = performance(folder, late)
        check("a p99 that misses its aim", code == 0 and "| at most 1.3 | 1.50 ± 0.01 | missed by 15% |" in page, said + page)
        check("... and what it is where cores are awake",
              "keeps both cores awake, p99 is 610 us, of the bare server 500: 1.22 ± 0.01 times as long." in page, page)
        check("... which the table has, too",
              "| 6 KB Pod, cores kept awake | taffrail, strict.yaml | 300 us | 610 us | 1.22 | 2.0 ms |" in page, page)
        late["tail"] = tail(ratio(1.5), {"value": None, "off": 0.2, "why": ["why"]})
        page = performance(folder, late)[1]
        check("... unless the rounds do not tell", "of the bare server 500: the rounds do not tell how many times as long." in page, page)
        page = performance(folder, vague)[1]
        loaded = copy.deepcopy(other)
        loaded["reviews"]["doubts"] = ["other work took 0.40 of a core, and 0.15 is the most"]
        code, after, said = performance(folder, loaded)
        check("no page is made of a loaded machine", code == 1 and after == page and "other work took 0.40" in said, said)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
