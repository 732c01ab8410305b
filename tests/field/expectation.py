"""What a judged row expects of the findings, in a small language:

    present                 a finding of the rail is there, at the field or at the list that it stands in
    said                    likewise, or an undecided one
    gone                    no finding is there that decides (an undecided one may be)
    silent                  no finding is there at all
    at-most warn            a finding there is at most a warning (or an audit; or there is none)
    once                    at most one finding stands in the list (or object) that the field names
    once-over RAIL,RAIL     the rails together say it exactly once at that field
    once-a-file ~ REGEX     at most one finding of the whole file, of any rail, speaks of this
    pair NAME               exactly one of the two objects tells of the other
    fix ~ REGEX, fix !~ R   the fix of each finding there matches, does not match
    message ~ R, advice ~ R the message; message and fix together; likewise with !~
    any-rail                the clauses that follow look at all rails
    at FIELD                the clauses that follow look at this field instead; `at *`: at the whole object
    disputed: WHY           the label is wrong, and the reason; nothing is asked
    answered: WHY           a miss that is not said, and why
    absent: WHY             what the row was judged with is not in the set

Clauses are joined with `; `, alternatives with ` || `. Regular expressions are Python's, and search."""

import re

LEVELS = {"excepted": 0, "audit": 1, "warn": 2, "deny": 3}
# The end of a value's place, after that of the list it stands in; the end of a place within a requirement or map.
LIST_PART = re.compile(r"(\[\d+\]|\.(key|values?|operator|cpu|memory))*$")
WITHIN = re.compile(r"(\[[^\]]*\]|\.(key|values?|operator|cpu|memory|name))*")
WRITTEN = ("disputed: ", "answered: ", "absent: ")


def list_of(field):
    return LIST_PART.sub("", field)


def near(one, other):
    """The same field, or one is the list (or requirement, or map) that the other stands in."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and bool(WITHIN.fullmatch(long[len(short):]))


def text(finding, part):
    if part == "advice":
        return f'{finding["message"]} {finding["fix"]}'
    return finding[part]


class View:
    """The findings of one run as a row looks at them."""

    def __init__(self, row, findings):
        self.row, self.all = row, findings
        self.rails, self.field = {row["rail"]}, row["field"]

    def named(self, name):
        return [f for f in self.all if f["kind"] == self.row["kind"] and f["name"] == name and
                (self.rails is None or f["rail"] in self.rails)]

    def of_object(self):
        return self.named(self.row["name"])

    def here(self):
        return [f for f in self.of_object() if self.field == "*" or near(f["field"], self.field)]

    def decided(self):
        return [f for f in self.here() if not f["undecided"]]

    def exact(self):
        return [f for f in self.of_object()
                if not f["undecided"] and (self.field in ("*", f["field"]))]


def tells(view, name, other):
    return any(not f["undecided"] and re.search(rf"(?<![\w-]){re.escape(other)}(?![\w-])",
                                                f["found"] + " " + f["message"])
               for f in view.named(name) if view.field == "*" or near(f["field"], view.field))


def clause_holds(view, clause):
    """None: it holds; else why not."""
    word, _, rest = clause.partition(" ")
    if clause.startswith(WRITTEN):
        return None
    if word == "any-rail":
        view.rails = None
    elif word == "at":
        view.field = rest
    elif word == "present":
        return None if view.decided() else "nothing is said there"
    elif word == "said":
        return None if view.here() else "nothing is said there"
    elif word == "gone":
        return "it is still said" if view.exact() else None
    elif word == "silent":
        return "it is still said" if view.here() else None
    elif word == "at-most":
        loud = [f["action"] for f in view.decided() if LEVELS[f["action"]] > LEVELS[rest]]
        return f"it is said as {loud[0]}" if loud else None
    elif word == "once":
        place = list_of(view.field)
        times = sum(1 for f in view.of_object()
                    if not f["undecided"] and (view.field == "*" or list_of(f["field"]) == place))
        return f"it is said {times} times" if times > 1 else None
    elif word == "once-over":
        view.rails = set(rest.split(","))
        times = len(view.decided())
        return None if times == 1 else f"it is said {times} times"
    elif word == "once-a-file":
        regex = re.compile(rest.removeprefix("~ "))
        times = sum(1 for f in view.all if regex.search(f["found"] + " " + text(f, "advice")))
        return f"it is said {times} times" if times > 1 else None
    elif word == "pair":
        name = view.row["name"]
        times = tells(view, name, rest) + tells(view, rest, name)
        return None if times == 1 else f"{times} of the two tell of the other"
    elif word in ("fix", "message", "advice"):
        operator, _, regex = rest.partition(" ")
        found = view.here()
        if operator == "~" and not any(re.search(regex, text(f, word)) for f in found):
            return f"no {word} matches {regex}"
        if operator == "!~" and any(re.search(regex, text(f, word)) for f in found):
            return f"a {word} matches {regex}"
        if operator not in ("~", "!~"):
            raise ValueError(f"not a clause: {clause}")
    else:
        raise ValueError(f"not a clause: {clause}")
    return None


def holds(row, findings):
    """None where the row's expectation holds of the findings; else why not, for each alternative."""
    reasons = []
    for alternative in row["expect"].split(" || "):
        view = View(row, findings)
        clauses = [alternative] if alternative.startswith(WRITTEN) else alternative.split("; ")
        why = next(filter(None, (clause_holds(view, clause) for clause in clauses)), None)
        if why is None:
            return None
        reasons.append(why)
    return ", or ".join(reasons)
