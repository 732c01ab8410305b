"""The rows of tests/attack/rows/*.yaml, and the requests that they describe. README.md says how a row is written."""

import copy
import pathlib
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "scenarios"))

from reviews import kubectl_loader, review_of  # noqa: E402

KNOWN = {"id", "trick", "world", "user", "groups", "like", "with", "without", "object", "old",
         "operation", "subresource", "resource", "dryRun", "body", "path", "sent", "expect", "rails",
         "as", "limit", "field", "status", "why", "check", "cpu_ms"}
OUTCOMES = ("stopped", "reported", "open", "refused", "passes")


class BadRow(Exception):
    pass


# ---- padding: what a tag stands for is made when the file is read


class Items(list):
    """Becomes items of the list in which it stands."""


def numbered(value, n):
    if isinstance(value, str):
        return value.replace("{n}", str(n))
    if isinstance(value, list):
        return [numbered(item, n) for item in value]
    if isinstance(value, dict):
        return {numbered(k, n): numbered(v, n) for k, v in value.items()}
    return value


def repeat(times, item):
    return Items(numbered(item, n) for n in range(times))


def keys(times, key, value):
    return {numbered(key, n): numbered(value, n) for n in range(times)}


def text(times, of):
    return of * times


def deep(times, key, leaf=None):
    for _ in range(times):
        leaf = {key: leaf if leaf is not None else {}}
    return leaf


def spliced(value):
    if isinstance(value, list):
        made = []
        for item in value:
            made.extend(spliced(list(item)) if isinstance(item, Items) else [spliced(item)])
        return made
    if isinstance(value, dict):
        return {k: spliced(v) for k, v in value.items()}
    return value


def read(path):
    loader = kubectl_loader()
    for make in (repeat, keys, text, deep):
        loader.add_constructor(
            "!" + make.__name__,
            lambda loader, node, make=make: make(**loader.construct_mapping(node, deep=True)))
    with open(path, encoding="utf-8") as stream:
        return spliced(yaml.load(stream, loader))


# ---- from a row to a request


def step(node, key):
    return node[int(key)] if isinstance(node, list) else node.setdefault(key, {})


def put(document, path, value):
    *way, last = path.split(".")
    for key in way:
        document = step(document, key)
    if isinstance(document, list):
        document[int(last):int(last) + 1] = [value]
    else:
        document[last] = value


def drop(document, path):
    *way, last = path.split(".")
    for key in way:
        document = step(document, key)
    del document[int(last) if isinstance(document, list) else last]


def made(honest, description):
    """The object of a row, or of its `old`."""
    if "object" in description:
        return copy.deepcopy(description["object"])
    document = copy.deepcopy(honest[description["like"]])
    for path, value in description.get("with", {}).items():
        put(document, path, copy.deepcopy(value))
    for path in description.get("without", ()):
        drop(document, path)
    return document


def request_of(honest, row):
    """The AdmissionReview of a row."""
    document = made(honest, row)
    old = None
    if "old" in row:
        old = made(honest, {"like": row.get("like"), **row["old"]})
    return review_of(row["id"], document, old, row)


# ---- all of them


def checked(row, world, path):
    row = {"world": world, **row}
    unknown = set(row) - KNOWN
    where = f"{path.name}: {row.get('id', row)}"
    if unknown:
        raise BadRow(f"{where}: unknown {sorted(unknown)}")
    if row.get("expect") not in OUTCOMES or not row.get("trick"):
        raise BadRow(f"{where}: without a trick, or expect is none of {OUTCOMES}")
    if ("why" in row) != (row["expect"] in ("open", "reported")):
        raise BadRow(f"{where}: what is open or only reported says why, and nothing else does")
    if ("object" in row) == ("like" in row):
        raise BadRow(f"{where}: either object or like")
    return row


def all_rows(paths=None):
    """By file: what its rows are about, and the rows."""
    files, seen = {}, set()
    for path in paths or sorted((HERE / "rows").glob("*.yaml")):
        content = read(path)
        rows = [checked(row, content.get("world", "strict"), path) for row in content["rows"]]
        for row in rows:
            if row["id"] in seen:
                raise BadRow(f"{path.name}: {row['id']} is there twice")
            seen.add(row["id"])
        files[path.stem] = {"about": content["about"], "rows": rows}
    return files


def worlds():
    """The arguments of each world, for serve and check alike."""
    arguments = {}
    for name, world in read(HERE / "worlds.yaml").items():
        arguments[name] = ["-p", str(SOURCE / world["policy"])]
        if "state" in world:
            arguments[name] += ["--state", str(SOURCE / world["state"])]
    return arguments


def honest_objects():
    return read(HERE / "honest.yaml")
