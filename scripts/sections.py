"""The parts of docs/reliability.md, each of which a script writes from its run."""

import pathlib
import sys

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs/reliability.md"


def write_section(name, text):
    """Puts the text into the part of scripts/NAME."""
    begin, end = f"<!-- {name}: written by scripts/{name} -->", f"<!-- {name} ends here -->"
    before, found, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    if not found or end not in rest:
        sys.exit(f"{sys.argv[0]}: docs/reliability.md has no part \"{begin}\"")
    PAGE.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{rest.partition(end)[2]}", encoding="utf-8")
