"""A change of a file, as a block of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from .content import Diff
from .markdown import clean, code, cut, fenced, one_line

_MOST_LINES = 80
_WIDEST = 300
_CONTEXT = 3
_MOST_COMPARED = 1000
"""Lines. Comparing takes time that grows with their square."""


def diff_view(diff: Diff, path: str) -> str:
    """Return the change as a unified diff of bounded size; the file is called `path`."""
    name = one_line(path, 200)
    old, new = _lines(diff.old_text or ""), _lines(diff.new_text)
    changes = list(_changes(old, new))
    if not changes and diff.old_text is not None:
        return f"No change in {code(name)}."
    before = "/dev/null" if diff.old_text is None else name
    shown = "\n".join((f"--- {before}", f"+++ {name}", *map(_shown, changes[:_MOST_LINES])))
    left_out = len(changes) - _MOST_LINES
    more = f"\n\n*… {left_out:,} more lines of this change*" if left_out > 0 else ""
    return fenced(shown, "diff") + more


def _lines(text: str) -> list[str]:
    """Return the lines, each with its end, so that a missing last end is a difference."""
    *lines, last = text.split("\n")
    ended = [f"{line}\n" for line in lines]
    return [*ended, last] if last else ended


def _changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Return the hunks of a unified diff. Only what lies between equal ends is compared."""
    start = _common(zip(old, new, strict=False))
    rest = zip(reversed(old[start:]), reversed(new[start:]), strict=False)
    kept_end = max(_common(rest) - _CONTEXT, 0)
    start = max(start - _CONTEXT, 0)
    old, new = old[start : len(old) - kept_end], new[start : len(new) - kept_end]
    if old == new:
        return
    if max(len(old), len(new)) > _MOST_COMPARED:
        groups = iter([[("replace", 0, len(old), 0, len(new))]])
    else:
        groups = SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
    for group in groups:
        first, last = group[0], group[-1]
        was = _range(start + first[1], start + last[2])
        becomes = _range(start + first[3], start + last[4])
        yield f"@@ -{was} +{becomes} @@\n"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[old_from:old_to])
            else:
                yield from (f"-{line}" for line in old[old_from:old_to])
                yield from (f"+{line}" for line in new[new_from:new_to])


def _common(pairs: Iterator[tuple[str, str]]) -> int:
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _range(start: int, end: int) -> str:
    """Return a range as `diff -u` writes it: from which line, how many."""
    count = end - start
    return f"{start + 1 if count else start},{count}"


def _shown(line: str) -> str:
    no_end = "" if line.endswith("\n") else "\n\\ No newline at end of file"
    return cut(clean(line[: 2 * _WIDEST]).replace("\n", ""), _WIDEST) + no_end
