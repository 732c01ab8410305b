#!/usr/bin/python3
"""scripts/bench admission: a review over HTTPS, against the bare server.

usage: admission.py PROGRAMS BODIES POLICY CONNECTIONS ROUNDS SECONDS"""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
import noise  # noqa: E402
from servers import Servers
from turns import RATE, open_loop, refuse, run_main, say, summary, take_turns

BODIES = ("pod-6k", "pod-20k")


def main(programs, bodies, policy, connections, rounds, seconds):
    files = {name: str(pathlib.Path(bodies) / f"{name}.json") for name in BODIES}
    with tempfile.TemporaryDirectory() as work, Servers(programs, work) as servers:
        bare, taffrail = servers.bare(), servers.taffrail("taffrail", policy)
        say(f"server CPU per review in microseconds, {connections} connections, {rounds} rounds of {seconds} s, "
            f"policy {policy}")
        say(f"{'':<9} {'':>6}  {'-------- median ---------':>27}  {'--------- best ----------':>27}")
        say(f"{'body':<9} {'bytes':>6}  {'bare':>9} {'taffrail':>9} {'ratio':>7}  {'bare':>9} {'taffrail':>9} {'ratio':>7}")
        ratios, meanwhile = [], []
        for name, path in files.items():
            found, during = take_turns(servers, [bare, taffrail], path, rounds, seconds, connections)
            theirs, ours = summary(found["bare"]), summary(found["taffrail"])
            ratio = noise.ratio(found["taffrail"], found["bare"], during)
            best = ratio if ratio["value"] is None else {"value": ours["best"] / theirs["best"]}
            say(f"{name:<9} {pathlib.Path(path).stat().st_size:6}  {theirs['median']:9.1f} {ours['median']:9.1f} "
                f"{noise.shown(ratio, 7)}  {theirs['best']:9.1f} {ours['best']:9.1f} {noise.shown(best, 7)}")
            ratios.append((name, ratio))
            meanwhile.append(f"{name}: {noise.told(during)}")
        say(f"{RATE} reviews a second, times in microseconds, RssAnon in MiB")
        say(f"{'body':<9} {'server':<9}  {'reviews':>9} {'median':>9} {'p99':>9} {'longest':>9}  {'memory':>9}")
        for name, path in files.items():
            for server in (bare, taffrail):
                took = open_loop(server, path, rounds * seconds, connections)
                say(f"{name:<9} {server.name:<9}  {took['reviews']:9} {took['median']:9} {took['p99']:9} "
                    f"{took['longest']:9}  {took['memory']:9.1f}")
    for line in meanwhile:
        say(line)
    return refuse(ratios)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    run_main(main, *sys.argv[1:4], *map(int, sys.argv[4:]))
