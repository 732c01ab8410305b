"""The lists of branches that nothing takes, with the reason of each: tests/coverage/unreached.txt, tests/fuzz/unreached.txt.

A line with the path of a file, and below it a row for each branch: `function never-true|never-false condition  -- reason`.
Reasons that many share stand at the top, as `= word: reason`, and a row then has the word.

A list of parts has a line `== part` before the files of a part. There a row may also speak of more than one branch:
`function *  -- reason` of all that is left of a function, `*  -- reason` of all that is left of a file, and with `*` for
the function a condition stands for itself wherever it is in the file."""

import collections
import sys

from branches import ROOT, Miss

# never is None: the row is of each branch.
Row = collections.namedtuple("Row", "part file function never condition reason number")


class List:
    """head: the lines before the first file; words: those of reasons that many share."""

    def __init__(self, path, parts=()):
        self.path, self.parts = path.relative_to(ROOT), parts
        self.head, self.words, self.rows = [], set(), []
        part = file = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("== "):
                part, file = line[3:], None
                if part not in parts:
                    self.refuse(number, f"there is no part `{part}`")
            elif part is None and file is None and (line.startswith(("#", "= ")) or not line):
                self.head.append(line)
                if line.startswith("= "):
                    self.words.add(line[2:].partition(":")[0])
            elif line and not line.startswith(" "):
                file = line
            elif line:
                self.rows.append(self.read_row(part, file, line.strip(), number))

    def refuse(self, number, what):
        sys.exit(f"{self.path}:{number}: {what}")

    def read_row(self, part, file, text, number):
        what, _, reason = text.partition("  -- ")
        function, never, condition = (what.split(" ", 2) + ["", ""])[:3]
        is_one = never in ("never-true", "never-false") and condition and (self.parts or function != "*")
        is_whole = self.parts and (never == "*" and not condition or function == "*" and not never)
        if file is None or not reason or not (is_one or is_whole):
            self.refuse(number, "wants `function never-true|never-false condition  -- reason`, and its file above")
        if not is_one:
            return Row(part, file, function, None, None, reason, number)
        return Row(part, file, function, never.removeprefix("never-"), condition.strip(), reason, number)

    def is_reason(self, reason):
        return reason != "?" and (" " in reason or reason in self.words)

    def find(self, part, miss):
        """The row that speaks of the branch, or None."""
        for row in self.rows:
            if (row.part, row.file) == (part, miss.file) and row.function in ("*", miss.function) and \
                    (row.never is None or (row.never, row.condition) == (miss.never, miss.condition)):
                return row
        return None

    def miss(self, row):
        """What a row of one branch says."""
        return Miss(row.file, row.function, row.never, row.condition)
