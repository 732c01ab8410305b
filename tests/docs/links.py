#!/usr/bin/python3
"""The pages of the documentation hold together: each link leads somewhere, each page can be found, and each word of
Taffrail's own that a page uses is explained.

usage: links.py"""

import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("TAFFRAIL_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# A page as code, messages and other pages name it in passing.
MENTION = re.compile(r"\bdocs/[a-z0-9-]+(?:/[a-z0-9-]+)*\.md\b")
# Words of the code that a reader of these pages need not know: a page that uses one explains it or links to words.md.
WORDS = {"world": r"\bworlds?\b(?! (?:bank|wide))", "arena": r"\barenas?\b", "supply": r"\bthe supply\b",
         "draft": r"\bdrafts?\b"}
FOR_DEVELOPERS = ("docs/decisions/", "docs/architecture.md", "docs/reference/words.md", "docs/threat-model.md",
                  "docs/performance.md", "docs/mutation.md", "docs/simulation.md", "CONTRIBUTING.md")


def tracked():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=SOURCE,
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        return [SOURCE / name for name in listed.stdout.splitlines() if (SOURCE / name).is_file()]
    return [path for path in SOURCE.rglob("*") if path.is_file() and not path.parts[len(SOURCE.parts)].startswith("build")]


def without_code(text):
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)


def anchors(text):
    """As GitHub makes them of headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", without_code(text), re.M):
        words = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return found


def main():
    files = tracked()
    pages = [path for path in files if path.suffix == ".md"]
    problems, leads_to = [], {}
    for page in pages:
        text = page.read_text(encoding="utf-8")
        name = str(page.relative_to(SOURCE))
        leads_to[page] = set()
        for link in LINK.findall(without_code(text)):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            leads_to[page].add(target)
            if not target.exists():
                problems.append(f"{name}: there is no {link}")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
                problems.append(f"{name}: {link}: there is no such heading")
        if name.startswith("docs/") and not name.startswith(FOR_DEVELOPERS) and "words.md" not in text:
            for word, pattern in WORDS.items():
                if re.search(pattern, without_code(text)):
                    problems.append(f"{name}: says \"{word}\" and has no link to docs/reference/words.md")
    for path in files:
        if path.suffix in (".png", ".gz", ".zip", ".tsv") or "tests/" in str(path):
            continue
        for mention in MENTION.findall(path.read_text(encoding="utf-8", errors="replace")):
            if not (SOURCE / mention).exists():
                problems.append(f"{path.relative_to(SOURCE)}: there is no {mention}")
    seen, ahead = set(), [SOURCE / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in seen:
            continue
        seen.add(page)
        ahead += [target for target in leads_to.get(page, ()) if target.suffix == ".md"]
        ahead += [child for target in leads_to.get(page, ()) if target.is_dir() for child in target.glob("*.md")]
    problems += [f"{page.relative_to(SOURCE)}: no link leads here from README.md" for page in pages
                 if page not in seen and (SOURCE / "docs") in page.parents]
    for problem in problems:
        print(f"FAILED  {problem}")
    print(f"{len(pages)} pages, {sum(map(len, leads_to.values()))} links, {len(problems)} problems")
    return 1 if problems or len(pages) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
