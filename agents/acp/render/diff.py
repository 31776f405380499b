"""A change of a file, as a block of Markdown.

An agent sends the old and the new text, mostly a few lines from the middle of a file. The change
alone therefore doesn't give line numbers or the end of the file. They come from the file itself or
from the line that the agent names. Without either they are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from agents.acp.schema.content import Diff
from agents.acp.text.markdown import clean, code, cut, fenced, one_line
from bridge.value import Value

_MOST_LINES = 80
_WIDEST = 300
_CONTEXT = 3
_MOST_COMPARED = 1000
"""Lines. Comparing takes time that grows with their square."""
MOST_CHARACTERS = 1_000_000
"""Of a change, old and new text; of the middle of a longer one nothing is compared or shown."""
MOST_LINES = 40_000
"""The same, in lines."""
_LEFT = 40_000
"""Characters of the old and of the new text that are left of a change that is too large."""
_BLOCK = 65_536
_NO_END = "\\ No newline at end of file"
_MOST_OCCURRENCES = 1000
"""Most occurrences of a text that are searched in a file."""
_Opcode = tuple[str, int, int, int, int]
"""A tag of difflib, and the begin and end of the range in the old lines and in the new ones."""


def diff_view(diff: Diff, path: str, file: str | None = None, line: int | None = None) -> str:
    """Return the change as a unified diff of bounded size; the file is called `path`.

    `file` is the file's text, read after the change or before it. `line` is a line that the agent
    names, counted from 1: some name the first of the text, others the first that is changed. So it
    is only a place where these are one, or where the file has the text in several places. If a call
    makes several changes, the line numbers of each assume that the others are made.
    """
    name = one_line(path, 200)
    if diff.old_text == diff.new_text:
        return f"No change in {code(name)}."
    change = _change(diff, file, line)
    changes = list(_hunks(change))
    if not changes and diff.old_text is not None:
        return f"Only line ends change in {code(name)}."
    before = "/dev/null" if diff.old_text is None else name
    shown = "\n".join((f"--- {before}", f"+++ {name}", *map(_shown, changes[:_MOST_LINES])))
    left_out = len(changes) - _MOST_LINES
    many = "many more" if change.left_out else f"{left_out:,} more"
    more = f"\n\n*… {many} lines of this change*" if left_out > 0 else ""
    return fenced(shown, "diff") + more


def diff_lines(diff: Diff, file: str | None = None) -> tuple[list[str], int]:
    """Return every line of the change as it is, without the file's names; `file` as above.

    A change that is too large lacks its middle: that is how many characters, else 0.
    """
    change = _change(diff, file, None)
    lines = [line[:-1] if line.endswith("\n") else f"{line}\n{_NO_END}" for line in _hunks(change)]
    return lines, change.left_out


class _Change(Value):
    """The lines of a change. `first` is the number of the first line, None where it isn't known."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    first: int | None
    left_out: int = 0
    """Characters of their middle that are missing."""


def _change(diff: Diff, file: str | None, line: int | None) -> _Change:
    """Return the lines that are compared: with those around them where the file has them."""
    old, new = _plain(diff.old_text or ""), _plain(diff.new_text)
    if _is_large(old, new):
        ends = map(_ends, _different(_ended(old), _ended(new)))
        (old, new), left_out = zip(*ends, strict=True)
        first = 1 if diff.old_text is None else None
        return _Change(_lines(old), _lines(new), first, sum(left_out))
    old_lines, new_lines = _lines(_ended(old)), _lines(_ended(new))
    equal = _common(zip(old_lines, new_lines, strict=False))
    if file is not None:
        text = _plain(file)
        named = set[int]() if line is None else {line, line - equal}
        for part in (new, old):
            at = _find(text, part, named)
            if at is not None:
                return _in_file(text, at, at + len(part), old, new)
    first = 1 if diff.old_text is None else None if equal else line
    return _Change(old_lines, new_lines, first)


def _is_large(old: str, new: str) -> bool:
    is_long = len(old) + len(new) > MOST_CHARACTERS
    return is_long or old.count("\n") + new.count("\n") > MOST_LINES


def _different(old: str, new: str) -> tuple[str, str]:
    """Return the lines between equal ends, with a few of those; found without splitting lines."""
    begin = 0
    while old[begin : begin + _BLOCK] == new[begin : begin + _BLOCK] and begin < len(old):
        begin += _BLOCK
    begin += _common(zip(old[begin : begin + _BLOCK], new[begin : begin + _BLOCK], strict=False))
    most = max(min(len(old), len(new)) - begin, 0)  # no character is of both ends
    for _ in range(_CONTEXT + 1):
        begin = old.rfind("\n", 0, max(begin, 0))
    begin += 1
    old, new = old[begin:], new[begin:]
    end = 0
    while end + _BLOCK <= most and _before(old, end) == _before(new, end):
        end += _BLOCK
    pairs = zip(reversed(_before(old, end)), reversed(_before(new, end)), strict=False)
    end = min(end + _common(pairs), most)
    stop = len(old) - end
    for _ in range(_CONTEXT + 1):
        found = old.find("\n", stop)
        stop = len(old) if found < 0 else found + 1
    kept = len(old) - stop
    return old[:stop], new[: len(new) - kept]


def _before(text: str, end: int) -> str:
    """Return the block that ends so many characters before the end."""
    return text[max(len(text) - end - _BLOCK, 0) : len(text) - end]


def _ends(text: str) -> tuple[str, int]:
    """Return a text without its middle, if it is long, and how many characters are missing."""
    if len(text) <= _LEFT:
        return text, 0
    head, tail = text[: _LEFT // 2], text[-_LEFT // 2 :]
    head = head[: head.rfind("\n") + 1] or head
    tail = tail[tail.find("\n") + 1 :] or tail
    left_out = len(text) - len(head) - len(tail)
    end = "" if head.endswith("\n") else "\n"
    return f"{head}{end}[… {left_out:,} characters left out …]\n{tail}", left_out


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _ended(text: str) -> str:
    """Return the text with an end of its last line: a part of a file says nothing about the end."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def _find(file: str, part: str, lines: Collection[int]) -> int | None:
    """Return where the file has this part, None if nowhere or if it could be in several places.

    Of several places, that counts which begins in one of the `lines`.
    """
    if not part:
        return 0 if not file else None
    places: list[int] = []
    at = file.find(part)
    while at >= 0 and len(places) < _MOST_OCCURRENCES:
        places.append(at)
        at = file.find(part, at + 1)
    if len(places) > 1:
        # One count for each, from the place before: the whole is one pass over the file.
        number, before, named = 1, 0, list[int]()
        for place in places:
            number += file.count("\n", before, place)
            before = place
            if number in lines:
                named.append(place)
        places = named
    return places[0] if len(places) == 1 else None


def _in_file(file: str, start: int, end: int, old: str, new: str) -> _Change:
    """Return a change with whole lines and a few around it."""
    begin = start
    for _ in range(_CONTEXT + 1):
        begin = file.rfind("\n", 0, begin)
        if begin < 0:
            break
    begin += 1
    stop = end
    lines = _CONTEXT + (end > 0 and file[end - 1] != "\n")
    for _ in range(lines):
        found = file.find("\n", stop)
        stop = len(file) if found < 0 else found + 1
    before, after = file[begin:start], file[end:stop]
    first = 1 + file.count("\n", 0, begin)
    return _Change(_lines(f"{before}{old}{after}"), _lines(f"{before}{new}{after}"), first)


def _lines(text: str) -> tuple[str, ...]:
    """Return the lines, each with its end, so that a missing last end is a difference."""
    *lines, last = text.split("\n")
    ended = [f"{line}\n" for line in lines]
    return (*ended, last) if last else tuple(ended)


def _hunks(change: _Change) -> Iterator[str]:
    """Return the hunks of a unified diff."""
    old, new = _alike(change.old, change.new)
    for at, group in enumerate(_groups(old, new)):
        if change.first is not None:
            began = change.first - 1
            was = _range(began + group[0][1], began + group[-1][2])
            becomes = _range(began + group[0][3], began + group[-1][4])
            yield f"@@ -{was} +{becomes} @@\n"
        elif at:
            yield "@@ … @@\n"
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[old_from:old_to])
            else:
                yield from (f"-{line}" for line in old[old_from:old_to])
                yield from (f"+{line}" for line in new[new_from:new_to])


def _groups(old: Sequence[str], new: Sequence[str]) -> list[list[_Opcode]]:
    """Return the opcodes of each hunk. Only what lies between the equal ends is compared.

    With some lines of the equal ends, difflib could take those for changed where they recur.
    """
    start = _common(zip(old, new, strict=False))
    rest = zip(reversed(old[start:]), reversed(new[start:]), strict=False)
    end = _common(rest)
    stop, new_stop = len(old) - end, len(new) - end
    if start == stop == new_stop:
        return []
    if max(stop, new_stop) - start > _MOST_COMPARED:
        groups: list[list[_Opcode]] = [[("replace", start, stop, start, new_stop)]]
    else:
        matcher = SequenceMatcher(None, old[start:stop], new[start:new_stop])
        groups = [
            [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group]
            for group in matcher.get_grouped_opcodes(_CONTEXT)
        ]
    before, after = min(start, _CONTEXT), min(end, _CONTEXT)
    groups[0].insert(0, ("equal", start - before, start, start - before, start))
    groups[-1].append(("equal", stop, stop + after, new_stop, new_stop + after))
    return groups


def _alike(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the lines, with an end of the last one where both sides lack it: nothing changes."""
    if old and new and not (old[-1].endswith("\n") or new[-1].endswith("\n")):
        return [*old[:-1], f"{old[-1]}\n"], [*new[:-1], f"{new[-1]}\n"]
    return old, new


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
    no_end = "" if line.endswith("\n") else f"\n{_NO_END}"
    return cut(clean(line[: 2 * _WIDEST]).replace("\n", ""), _WIDEST) + no_end
