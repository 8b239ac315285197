"""What CoNLL-U files have that is valid, and as a rule a mistake; it is kept, counted and named."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..common.lines import Skipped

HEAD, DEPREL = 6, 7

_MARK = re.compile(
    r"#\s*(?:((?:new|begin|start)[\s_-]*doc\w*)|(doc(?:ument)?(?:[\s_-]*(?:id|name|key))?)\s*[=:])",
    re.IGNORECASE,
)
_STANDARD = re.compile(r"#\s*newdoc\b")


class DocMarks:
    """Comments of a file that look like `# newdoc`, which alone begins a document."""

    def __init__(self, report: Skipped) -> None:
        self._report = report
        self._found: Counter[str] = Counter()
        self._first: dict[str, str] = {}
        self._has_standard = False

    def look(self, block: Iterable[tuple[int, str]], name: str) -> None:
        """Note the comments of a block of lines of the file of this name."""
        for number, line in block:
            if line.startswith("#") and (match := _MARK.match(line)):
                self._has_standard |= _STANDARD.match(line) is not None
                mark = match[1] or match[2]
                self._found[mark] += 1
                self._first.setdefault(mark, f"{name}:{number}")

    def end(self) -> None:
        """Doubt those of a file without any `# newdoc`."""
        for mark, count in () if self._has_standard else self._found.items():
            what = f"comments '# {mark}', which begin no document: only '# newdoc' does"
            self._report.doubt(what, self._first[mark], count)


def doubt_roots(words: Iterable[Sequence[str]], place: str, report: Skipped) -> None:
    """Words of a sentence whose HEAD and DEPREL don't agree on what is the root."""
    for cells in words:
        head, label = cells[HEAD], cells[DEPREL].partition(":")[0].lower()
        if label == "root" and head not in ("0", "_"):
            report.doubt("words labelled root that have a head", place)
        elif head == "0" and label not in ("root", "_"):
            report.doubt("words without a head whose label is not root", place)
