"""Text of others put into Markdown of ours, so that it stays where it was put.

Titles, paths, inputs and outputs come from agents, and from whatever the agents have read. None of
them may end a line, a fence or a code span of ours, carry control characters to a terminal, link to
a command of the editor's, or fill the chat.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?"  # window titles, links
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
    "\u202a-\u202e\u2066-\u2069]"  # these turn text round, so that it reads as another
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """Return the text as a terminal would leave it: no escapes, no controls but tabs and line ends.

    A carriage return takes the cursor back, and what comes after overwrites: progress bars.
    """
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").rstrip("\r")
    if "\r" in text:
        text = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub("", text))


def one_line(text: str, limit: int) -> str:
    """Return the text cleaned, on one line, of at most `limit` characters."""
    # Far more than enough is cleaned, and not all of a title of a megabyte.
    text = _SPACES.sub(" ", clean(text[: 8 * limit].replace("\r", "\n"))).strip()
    return cut(text, limit)


_SPECIAL = re.compile(
    r"[\\`*\[\]<$]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # a_b is no emphasis
    r"|~(?=~)|(?<=~)~"
    r"|&(?=#?\w+;)"
)


def escape(line: str) -> str:
    """Return the Markdown that shows this line as it is, within a line."""
    return _SPECIAL.sub(r"\\\g<0>", line)


_BACKTICKS = re.compile("`+")
_CODE = re.compile("`([^`]+)`")


def inline(line: str) -> str:
    """Return the Markdown for a line in which `code` is marked, as agents mark it in titles."""
    texts = _CODE.split(line)
    return "".join(code(text) if at % 2 else escape(text) for at, text in enumerate(texts))


def code(line: str) -> str:
    """Return a line as a code span."""
    ticks = "`" * (_longest_run(line) + 1)
    edges = line[:1] + line[-1:]
    # A span loses one blank at either end where it has both.
    space = " " if "`" in edges or (edges == "  " and line.strip(" ")) else ""
    return f"{ticks}{space}{line}{space}{ticks}"


def fenced(text: str, language: str = "") -> str:
    """Return text as a fenced block, behind a fence that isn't in it."""
    ticks = "`" * max(3, _longest_run(text) + 1)
    language = re.sub(r"[^\w+#.-]", "", language)[:20]
    end = "" if text.endswith("\n") else "\n"
    return f"{ticks}{language}\n{text}{end}{ticks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in _BACKTICKS.findall(text)), default=0)


def unfenced(text: str) -> tuple[str, str]:
    """Return text and language: of the block, where the whole text is one fenced block."""
    first, _, rest = text.strip().partition("\n")
    language = first.lstrip("`")
    fence = first[: len(first) - len(language)]
    inside = rest.rstrip("`")
    if len(fence) < 3 or "`" in language or len(rest) - len(inside) < len(fence):
        return text, ""
    inside = inside.removesuffix("\n")
    return (text, "") if f"\n{fence}" in inside else (inside, language.strip())


_UNSAFE = {ord(character): f"%{ord(character):02X}" for character in '\t ()<>"\\`{}|^'}
_LINKED = re.compile(r"(?:https?|file)://", re.IGNORECASE)
_LONGEST_LINK = 2000


def link(label: str, uri: str) -> str:
    """Return a link, or the two as text where the address isn't one to follow.

    VS Code runs `command:` links.
    """
    target = _CONTROLS.sub("", clean(uri)).translate(_UNSAFE)
    label = escape(one_line(label, 200)) or "link"
    if len(target) > _LONGEST_LINK or "\n" in target or not _LINKED.match(target):
        return f"{label} ({code(one_line(uri, 200) or '?')})"
    return f"[{label}]({target})"


_LONGEST_CLEANED = 200_000
"""Characters of a text that are cleaned; the middle of a longer one is left out."""


def excerpt(text: str, lines: int, width: int = 400) -> str:
    """Return the text cleaned, with at most so many lines: its beginning, and more of its end.

    What went wrong stands at the end of an output, what it is about at its beginning.
    """
    if len(text) > _LONGEST_CLEANED:
        half = _LONGEST_CLEANED // 2
        left_out = len(text) - 2 * half
        text = f"{text[:half]}\n… {left_out:,} characters left out …\n{text[-half:]}"
    found = clean(text).strip("\n").split("\n")
    if len(found) > lines:
        head = lines // 3
        left_out = len(found) - lines
        found[head : head + left_out] = [f"… {left_out:,} more lines …"]
    return "\n".join(cut(line.rstrip(), width) for line in found)


def cut(line: str, width: int) -> str:
    """Return the line, with its end left out where it is too long."""
    return line if len(line) <= width else line[: width - 1] + "…"


def size(count: int) -> str:
    """Return a number of bytes for people."""
    amount = float(count)
    for unit in ("bytes", "kB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} MB"
