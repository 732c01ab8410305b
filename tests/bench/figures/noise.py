"""What else a machine did while something was measured, and which figures can be stood by.

A ratio stands when the cores that it was measured on did little else, and when its rounds tell their median well
enough. On a machine that others use, CPU time is not enough: what shares caches, memory and the host's processors makes
a server dearer, and not every server by as much. Single rounds then differ; their median is known the better, the more
rounds there are."""

import math
import os
import statistics
import time

# The most that a ratio may be measured with. A quiet machine of two cores is far below these.
OTHERS_MOST = 0.15  # CPU that others took, in cores
STEAL_MOST = 0.03  # of the time of these cores, taken by other guests of the host
UNCERTAIN_MOST = 0.10  # how far the median of the rounds' ratios may be off, as a share of it; and the reference's
ROUNDS_LEAST = 5
# A median is off by no more than so many distances of the quartiles / sqrt(rounds), nine times of ten (McGill, Tukey and
# Larsen, Variations of Box Plots, 1978: 1.7 standard deviations of a median).
NOTCH = 1.57

STAT_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
BUSY = ("user", "nice", "system", "irq", "softirq")


def read_cores(text, cores):
    """Seconds of each state, of these cores together, as /proc/stat has them."""
    sums = dict.fromkeys(STAT_FIELDS, 0.0)
    for line in text.splitlines():
        words = line.split()
        if words and words[0].startswith("cpu") and words[0][3:].isdigit() and int(words[0][3:]) in cores:
            for field, ticks in zip(STAT_FIELDS, words[1:]):
                sums[field] += int(ticks) / os.sysconf("SC_CLK_TCK")
    return sums


def between(before, after, ours_s, seconds, cores, load):
    """The noise of so many seconds on so many cores, of which ours_s of CPU were our own."""
    spent = {field: after[field] - before[field] for field in STAT_FIELDS}
    others_s = max(0.0, sum(spent[field] for field in BUSY) - ours_s)
    return {"seconds": round(seconds, 1), "others": round(others_s / seconds, 3),
            "steal": round(spent["steal"] / (seconds * cores), 4), "load": [round(one, 2) for one in load]}


class Watch:
    """Looks at the cores from its making to its end. ours: a function that says what our own processes have taken of
    the processors so far, in seconds; this process and the children it has waited for are counted by themselves."""

    def __init__(self, ours=lambda: 0.0, cores=(0, 1)):
        self.cores, self.ours = [core for core in cores if core < (os.cpu_count() or 1)], ours
        self.load = os.getloadavg()[0]
        self.began, self.ours_before, self.before = time.monotonic(), self._ours_s(), self._read()

    def _read(self):
        with open("/proc/stat", encoding="ascii") as file:
            return read_cores(file.read(), self.cores)

    def _ours_s(self):
        times = os.times()
        return self.ours() + sum(times[:4])

    def end(self):
        return between(self.before, self._read(), self._ours_s() - self.ours_before, time.monotonic() - self.began,
                       len(self.cores), [self.load, os.getloadavg()[0]])


def spread(values):
    """The distance of the quartiles, as a share of the median; of less than two values nothing is known."""
    if len(values) < 2:
        return float("inf")
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / statistics.median(values)


def uncertainty(values):
    """How far their median may be off, as a share of it."""
    return NOTCH * spread(values) / math.sqrt(len(values)) if values else float("inf")


def doubts(noise):
    """Why nothing can be stood by that was measured meanwhile, a sentence each; none: all is well."""
    found = []
    if noise["others"] > OTHERS_MOST:
        found.append(f"other work took {noise['others']:.2f} of a core, and {OTHERS_MOST:.2f} is the most")
    if noise["steal"] > STEAL_MOST:
        found.append(f"the host took {noise['steal']:.1%} of the cores away, and {STEAL_MOST:.0%} is the most")
    return found


def together(rounds, dropped):
    """The noise of rounds that are kept, by their seconds, and how many were disturbed and measured again."""
    seconds = sum(one["seconds"] for one in rounds)
    return {"seconds": round(seconds, 1),
            **{name: round(sum(one[name] * one["seconds"] for one in rounds) / seconds, 4) for name in ("others", "steal")},
            "load": [rounds[0]["load"][0], rounds[-1]["load"][1]], "dropped": dropped}


def unsure(values, references):
    """Why so many rounds do not tell the ratio of two servers that took turns, a sentence each; none: they do."""
    each = [value / reference for value, reference in zip(values, references)]
    if len(each) < ROUNDS_LEAST:
        return [f"{len(each)} rounds are fewer than {ROUNDS_LEAST}"]
    return [f"{what} may be off by {uncertainty(rounds):.0%}, and {UNCERTAIN_MOST:.0%} is the most"
            for what, rounds in (("the reference's median", references), ("the median of the rounds' ratios", each))
            if uncertainty(rounds) > UNCERTAIN_MOST]


def ratio(values, references, noise):
    """Of two servers that took turns, round by round; "off" is how far it may be off, as a share of it. "value" is None
    where "why" says that it does not stand."""
    each = [value / reference for value, reference in zip(values, references)]
    why = doubts(noise) or unsure(values, references)
    found = {"value": None if why else round(statistics.median(each), 3),
             "off": round(uncertainty(each), 3) if len(each) > 1 else None}
    if why:
        found["why"] = why
    return found


def shown(found, width=0):
    """A ratio in a table."""
    return (f"{found['value']:.2f}" if found["value"] is not None else "-").rjust(width)


def refusals(ratios):
    """Why some of these named ratios do not stand, a line a reason."""
    names = {}
    for name, found in ratios:
        for why in found.get("why", []):
            names.setdefault(why, []).append(name)
    return [f"{why}: no ratio of {'; '.join(dict.fromkeys(those))}" for why, those in names.items()]


def told(noise):
    """The noise in a line."""
    again = f"; {noise['dropped']} rounds were disturbed and measured again" if noise.get("dropped") else ""
    return (f"meanwhile other work took {noise['others']:.2f} of a core, the host {noise['steal']:.1%} of the cores; "
            f"load {noise['load'][0]:.1f} before, {noise['load'][1]:.1f} after{again}")
