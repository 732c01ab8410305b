#!/usr/bin/python3
"""Holds the tables of docs/threat-model.md to the rows: each row is one line, its trick, its outcome and why; --write
writes them.

usage: document.py [--write]"""

import sys

import rows

DOCUMENT = rows.SOURCE / "docs" / "threat-model.md"
BEGIN, END = "<!-- rows: {} -->", "<!-- end of rows -->"


def cell(text):
    return text.replace("|", "\\|").strip()


def line_of(row):
    if row["expect"] == "stopped":
        outcome = "stopped by " + ", ".join(row.get("rails", ()))
    elif row["expect"] == "refused":
        outcome = f"refused with {row['status']}: it is no review that an API server would send"
    elif row["expect"] == "passes":
        outcome = "passes"
    else:
        said = f" ({row['as']})" if "as" in row else ""
        outcome = f"{row['expect']}{said}: {row['why']}"
    return f"| `{row['id']}` | {cell(row['trick'])} | {cell(outcome)} |"


def table(content):
    lines = ["| row | trick | what comes of it |", "|---|---|---|"]
    return "\n".join(lines + [line_of(row) for row in content["rows"]])


def tables(text, files):
    """The document with the tables of the rows; a file without a place is an error."""
    for name, content in files.items():
        begin = BEGIN.format(name)
        if text.count(begin) != 1:
            sys.exit(f"docs/threat-model.md has {begin} {text.count(begin)} times; it wants it once")
        head, _, rest = text.partition(begin)
        tail = rest.partition(END)[2]
        text = f"{head}{begin}\n### {content['about']}\n\n{table(content)}\n{END}{tail}"
    return text


def main(arguments):
    written = DOCUMENT.read_text(encoding="utf-8")
    files = rows.all_rows()
    wanted = tables(written, files)
    if arguments == ["--write"]:
        DOCUMENT.write_text(wanted, encoding="utf-8")
        return 0
    ids = [row["id"] for content in files.values() for row in content["rows"]]
    for name in ids:
        if written.count(f"`{name}`") != 1:
            print(f"docs/threat-model.md has {name} {written.count(f'`{name}`')} times")
    if written != wanted:
        print("docs/threat-model.md is not what the rows say; tests/attack/document.py --write mends it")
        return 1
    print(f"{len(ids)} rows stand in docs/threat-model.md")
    return 0 if ids else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
