"""What a review is to cost, held against what was measured.

An aim is a most or a least; where it is missed, its explanation says what stands in the way, in figures of the same
run."""

from dataclasses import dataclass
from typing import Callable, Optional


def at(found, *path):
    """What stands there; None: nothing was measured."""
    for name in path:
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    return found


def ratio(*path):
    """Where a ratio stands (noise.ratio), or None."""
    return lambda sections: at(sections, *path)


def turns(body, server):
    """Where the ratio of a server to the bare one stands."""
    return ratio("reviews", "figures", "bodies", body, "to_bare", server)


def parts(body, server):
    """Where the time of a review goes that is beyond the bare server's."""
    def explain(sections, aim):
        of = at(sections, "reviews", "figures", "bodies", body)
        bare, ours = of["servers"]["bare"]["median"], of["servers"][server]["median"]
        judged = of["judgement"].get(server, 0)  # Pods that are known are not judged
        return (f"The bare server takes {bare:.0f} us of {ours:.0f}. To read and to judge the review takes {judged} us, "
                f"and {max(0, ours - bare - judged):.0f} us are the answer, the trail and the server around both. The aim "
                f"leaves {bare * (aim - 1):.0f} us for all of this.")
    return explain


def against_peer(body):
    def explain(sections, aim):
        of = at(sections, "reviews", "figures", "bodies", body, "servers")
        bare, peer = of["bare"]["median"], of["scaffold"]["median"]
        return (f"The peer takes {peer:.0f} us, so the aim is {peer / aim:.0f} us; the bare server, which looks at "
                f"nothing, takes {bare:.0f} us.")
    return explain


def waiting(body, server="strict"):
    def explain(sections, _):
        awake = at(sections, "tail", "figures", "bodies", body, "awake")
        text = ("h2load sends for some of its 16 connections at the same moment, so the last of these reviews waits for the "
                "others on the one core.")
        if server in awake["servers"]:
            found = awake["to_bare"][server]
            text += (" The machine adds to it: to wake a core that sleeps takes long, and an answer wakes the client, "
                     "unless the server is so fast that its client is still awake. Where a loop of the lowest priority "
                     f"keeps both cores awake, p99 is {awake['servers'][server]['p99']:.0f} us, of the bare server "
                     f"{awake['servers']['bare']['p99']:.0f}")
            text += (": the rounds do not tell how many times as long." if found["value"] is None else
                     f": {found['value']:.2f} ± {found['value'] * found['off']:.2f} times as long.")
        return text
    return explain


def memory(sections, _):
    of = at(sections, "connections", "figures", "memory")
    few, many = of["strict"]["16"], of["strict"]["64"]
    return (f"{of['strict']['at_rest']:.1f} MiB are there before the first review; a connection adds "
            f"{(many - few) / 48 * 1024:.0f} KiB, of the bare server {(of['bare']['64'] - of['bare']['16']) / 48 * 1024:.0f}.")


def policies(sections, _):
    of = at(sections, "reviews", "figures", "bodies", "pod-6k", "servers")
    more = of["hundred"]["median"] - of["strict"]["median"]
    return f"A policy that does not reach the Pod takes {more / 99 * 1000:.0f} ns to be passed over."


@dataclass
class Aim:
    """most: the value is to be no more than the aim; else no less. unit: of both. off: how far the value may be off, as a
    share of it; 0: it is no median of rounds."""
    what: str
    aim: float
    unit: str
    found: Callable
    explain: Callable
    most: bool = True
    value: Optional[float] = None
    off: float = 0

    def aim_text(self):
        return f"{'at most' if self.most else 'at least'} {self.aim:g}{self.unit}"

    def measured_text(self):
        if self.value is None:
            return "–"
        digits = 1 if self.unit.strip() == "MiB" else 2
        off = f" ± {self.value * self.off:.{digits}f}" if self.off else ""
        return f"{self.value:.{digits}f}{off}{self.unit}"

    def is_met(self):
        return self.value is not None and (self.value <= self.aim if self.most else self.value >= self.aim)

    def missed_by(self):
        """As a share of the aim."""
        return self.value / self.aim - 1 if self.most else 1 - self.value / self.aim

    def verdict(self):
        if self.value is None:
            return f"left out: it may be off by {self.off:.0%}" if self.off else "not measured"
        return "met" if self.is_met() else f"missed by {self.missed_by():.0%}"


def of_sets():
    """The same where Pods differ in names alone, and are judged once."""
    for body, what, aim in (("pod-6k", "6 KB", 1.6), ("pod-20k", "20 KB", 2.0)):
        yield Aim(f"{what} Pods of one ReplicaSet, strict.yaml, to the bare server", aim, "", turns(body, "strict-known"),
                  parts(body, "strict-known"))
    yield Aim("6 KB Pods of one ReplicaSet, strict.yaml and the cluster, to the bare server", 1.8, "",
              turns("pod-6k", "cluster-known"), parts("pod-6k", "cluster-known"))
    for body, what in (("pod-6k", "6 KB"), ("pod-20k", "20 KB")):
        yield Aim(f"p99 at 1,000 reviews a second, {what} Pods of one ReplicaSet, strict.yaml, to the bare server", 1.3, "",
                  ratio("tail", "figures", "bodies", body, "to_bare", "strict-known"), waiting(body, "strict-known"))


def aims():
    return [
        Aim("6 KB Pod, strict.yaml, to the bare server", 1.6, "", turns("pod-6k", "strict"), parts("pod-6k", "strict")),
        Aim("6 KB Pod, strict.yaml and the cluster, to the bare server", 1.8, "", turns("pod-6k", "cluster"),
            parts("pod-6k", "cluster")),
        Aim("20 KB Pod, strict.yaml, to the bare server", 2.0, "", turns("pod-20k", "strict"),
            parts("pod-20k", "strict")),
        Aim("an empty validator of Pods on controller-runtime, to strict.yaml and the cluster, 6 KB Pod", 10, "",
            ratio("reviews", "figures", "bodies", "pod-6k", "to_cluster", "scaffold"), against_peer("pod-6k"), most=False),
        Aim("p99 at 1,000 reviews a second, 6 KB Pod, strict.yaml, to the bare server", 1.3, "",
            ratio("tail", "figures", "bodies", "pod-6k", "to_bare", "strict"), waiting("pod-6k")),
        Aim("p99 at 1,000 reviews a second, 20 KB Pod, strict.yaml, to the bare server", 1.3, "",
            ratio("tail", "figures", "bodies", "pod-20k", "to_bare", "strict"), waiting("pod-20k")),
        *of_sets(),
        Aim("RssAnon with 64 busy connections, strict.yaml", 16, " MiB",
            lambda sections: {"value": at(sections, "connections", "figures", "memory", "strict", "64")}, memory),
        Aim("100 policies, one of which reaches the Pod, to one", 1.5, "",
            ratio("reviews", "figures", "bodies", "pod-6k", "to_strict", "hundred"), policies),
    ]


def held(sections):
    """The aims with what was measured."""
    made = aims()
    for aim in made:
        found = aim.found(sections) or {}
        aim.value, aim.off = found.get("value"), found.get("off", 0)
    return made
