"""An agent's question for permission, as Markdown that a person decides by. Pure.

Said once: what will happen comes first, and words that only say it again are left out. Nothing of
it is hidden by its length, by blanks or by characters that can't be seen (`visible`), and no text
of the agent's ends the block that it stands in. What there is no room for is counted at the top.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, cast

import attrs

from .content import (
    Content,
    Diff,
    EmbeddedResource,
    ResourceContents,
    TextContent,
    ToolCallContent,
)
from .diff_view import diff_lines
from .exhibit import MOST_ITEMS
from .markdown import code, escape, fenced, unfenced
from .todos import beside_list, todo_entries
from .tool_call import COMMANDS, CallRecord
from .visible import cells, has_long_word, visible, visible_line

WHOLE_CHARACTERS = 20_000
"""Characters of a question; of a longer text the middle is left out, and the question says so."""
_SAID_CHARACTERS = 5 * WHOLE_CHARACTERS
"""Characters of a text that others are compared with, so that nothing is said twice."""
_MANY_LINES = 12
_NARROW = 24
"""Cells of a line in a narrow chat, which breaks longer ones."""
_INLINE_CHARACTERS = 200
_ASKED_TWICE = "The agent asks about this call twice, so it may mean another one."
DESCRIPTION = "description"
_PATCHES = frozenset({"diff", "patch", "unified_diff"})
_NO_NEWS = frozenset(
    {
        "apply",
        "bash",
        "change",
        "command",
        "create",
        "delete",
        "edit",
        "exec",
        "execute",
        "file",
        "modify",
        "overwrite",
        "patch",
        "replace",
        "run",
        "shell",
        "terminal",
        "to",
        "update",
        "write",
    }
)
"""Words of a title that say no more than a command or a change does that is shown."""


def question_message(
    call: CallRecord,
    agent: str,
    note: str | None = None,
    *,
    about: Sequence[CallRecord] = (),
    choices: Sequence[str] = (),
) -> str:
    """Return the question whether `agent` may make a call; `note` is what the user must know.

    `about` are the calls that a question without details may be about. `choices` names answers that
    the agent offers and that a yes doesn't choose.
    """
    paper = _Paper()
    body = list(_body(call, paper))
    if about:
        unclear = _ASKED_TWICE if body else "It doesn't say what this is about."
        body += [f"{unclear} These calls are open:", *_calls(about, paper)]
    if choices:
        body.append(f"It offers for longer: {'; '.join(_name(choice) for choice in choices)}")
    title = _title(call, paper)
    head = [f"{escape(visible_line(agent)) or 'The agent'} asks:"]
    if has_long_word(title):
        head.append(fenced(title))
    elif title:
        head[0] += f" {escape(title)}"
    warnings: list[str] = []
    if note:
        shown = visible_line(note)
        warnings.append(f"⚠️\n\n{fenced(shown)}" if has_long_word(shown) else _warning(shown))
    if paper.missing:
        warnings.append(_warning(f"{paper.missing:,} characters of this are not shown."))
    return "\n\n".join([*head, *warnings, *body])


def _size(text: str) -> str:
    """Return how long a text is that a chat shows only a part of at a time, to be scrolled down."""
    lines = text.split("\n")
    if len(lines) > _MANY_LINES:
        return f"*{len(lines):,} lines:*\n\n"
    rows = sum(1 + cells(line) // _NARROW for line in lines)
    return f"*{len(text):,} characters:*\n\n" if rows > _MANY_LINES else ""


def _warning(line: str) -> str:
    return f"⚠️ **{escape(line)}**"


def texts_of(content: Sequence[ToolCallContent]) -> list[str]:
    """Return what the agent says of a call; some put its arguments nowhere else."""
    texts: list[str] = []
    for part in content:
        match part:
            case Content(content=TextContent(text=text)):
                texts.append(text)
            case Content(content=EmbeddedResource(resource=ResourceContents(text=str(text)))):
                texts.append(text)
            case _:
                pass
    return texts


@attrs.define
class _Paper:
    """What the question is written on: there is only so much room."""

    left: int = WHOLE_CHARACTERS
    missing: int = 0
    said: list[str] = attrs.field(factory=list[str])
    """What stands there already, as the agent wrote it."""
    shows_action: bool = False
    """Whether a command or a change stands there."""

    @property
    def beginnings(self) -> list[str]:
        """What stands there already, of long texts only the beginning."""
        return [said[:_SAID_CHARACTERS] for said in self.said]

    def take(self, text: str) -> str:
        """Return a text, its middle left out where there is no room for it."""
        self.said.append(text)
        room = max(self.left, 0)
        more = len(text) - room
        self.left -= len(text)
        if more <= 0:
            return text
        self.missing += more
        tail = room // 3
        end = text[len(text) - tail :]
        return f"{text[: room - tail]}\n… {more:,} characters left out …\n{end}"

    def block(self, text: str, language: str = "") -> str:
        """Return a text as a block of code, of which an editor can break the lines."""
        shown = visible(self.take(text).strip("\n"))
        return _size(shown) + fenced(shown, language)

    def named(self, label: str, text: str, end: str = "") -> str:
        """Return a text as code behind its label, below it where a narrow page can't hold it."""
        shown = visible_line(self.take(text)) or " "
        if has_long_word(shown):
            return f"{label}:\n\n{fenced(shown)}"
        return f"{label} {code(shown)}{end}"

    def has(self, text: str) -> bool:
        """Return whether a text stands there already."""
        text = text.strip()
        return any(text == said.strip() for said in self.said)

    def has_lines(self, patch: str) -> bool:
        """Return whether all that a patch changes stands there already."""
        changes = [line[1:].rstrip() for line in patch.split("\n") if line[:1] in ("+", "-")]
        lines = [line.rstrip() for said in self.beginnings for line in said.split("\n")]
        known = {*lines, *(line[1:] for line in lines if line[:1] in ("+", "-"))}
        files = ["/dev/null", *self.beginnings]
        paths = [path for file in files for path in (file, f"a/{file[1:]}", f"b/{file[1:]}")]
        named = {f"{mark} {path}" for path in paths for mark in ("++", "--")}
        return bool(changes) and all(change in known or change in named for change in changes)


def _title(call: CallRecord, paper: _Paper) -> str:
    """Return the agent's words for the call, where they say more than what is shown."""
    words = [call.title or call.name, _description(call, paper)]
    told = [" ".join(text.split()) for text in words if _is_news(text, paper)]
    if not (told or paper.said):
        return "Use a tool"
    return " · ".join(visible_line(paper.take(text)) for text in dict.fromkeys(told))


def _description(call: CallRecord, paper: _Paper) -> str:
    """Return what the agent says that a command or a change is for, "" if that is no such line."""
    said = call.arguments.get(DESCRIPTION) if paper.shows_action else None
    return said if isinstance(said, str) and len(said) <= _INLINE_CHARACTERS else ""


def _calls(calls: Sequence[CallRecord], paper: _Paper) -> Iterator[str]:
    """Return calls, each with a number, its title and what it is given."""
    for number, call in enumerate(calls[:MOST_ITEMS], 1):
        part = _Paper(left=paper.left)
        body = list(_body(call, part))
        title = _title(call, part) or visible_line(part.take(call.title or call.name))
        paper.left, paper.missing = part.left, paper.missing + part.missing
        yield (
            f"{number}.\n\n{fenced(title)}"
            if has_long_word(title)
            else f"{number}. {escape(title)}"
        )
        yield from body
    paper.missing += sum(
        len(call.title) + len(_text(call.raw_input)) for call in calls[MOST_ITEMS:]
    )


def _name(choice: str) -> str:
    return code(visible_line(choice)[:_INLINE_CHARACTERS] or " ")


def _is_news(text: str, paper: _Paper) -> bool:
    """Return whether a text says more than what is shown."""
    plain = " ".join(text.replace("`", "").split()).rstrip("….").strip()
    shown = [" ".join(said.replace("`", "").split()) for said in paper.beginnings]
    if not paper.shows_action:
        return bool(plain) and plain not in shown
    if any(plain in said for said in shown):
        return False
    known = {word for said in shown for word in said.split()} | _NO_NEWS
    rest = (word.strip("():") for word in plain.split())
    return not all({word, word.lower()} & known or _is_end(word, shown) for word in rest)


def _is_end(word: str, paths: Sequence[str]) -> bool:
    """Return whether a word is the end of a path, or all of it."""
    return any(path == word or path.endswith(f"/{word}") for path in paths)


def _body(call: CallRecord, paper: _Paper) -> Iterator[str]:
    """Return what the call does, and what is said of it."""
    entries = todo_entries(call)
    if entries is not None:
        paper.shows_action = True
        shown = entries[:MOST_ITEMS]
        boxes = ["[x]" if entry.status == "completed" else "[ ]" for entry in shown]
        texts = [visible_line(paper.take(entry.content)) for entry in shown]
        if any(map(has_long_word, texts)):
            yield fenced("\n".join(f"{box} {text}" for box, text in zip(boxes, texts, strict=True)))
        else:
            lines = zip(boxes, texts, strict=True)
            yield "\n".join(f"- {box} {escape(text)}" for box, text in lines)
        paper.missing += sum(len(entry.content) for entry in entries[MOST_ITEMS:])
        yield from _input(call, beside_list(call), paper)
        return
    given = call.arguments
    key = next((key for key in COMMANDS if command_line(given.get(key))), None)
    if key is not None:
        paper.shows_action = True
        yield paper.block(command_line(given[key]), "sh")
    content = call.content[:MOST_ITEMS]
    for part in content:
        if isinstance(part, Diff):
            paper.shows_action = True
            yield from _change(part, call, paper)
    paper.missing += sum(len(str(part)) for part in call.content[MOST_ITEMS:])
    yield from _input(call, {name: given[name] for name in given if name != key}, paper)
    for text in texts_of(content):
        inside, language = unfenced(text)
        if inside.strip() and not paper.has(inside):
            yield paper.block(inside, language)
    places = {
        place.path if place.line is None else f"{place.path}:{place.line}": None
        for place in call.locations[:MOST_ITEMS]
        if place.path and not paper.has(place.path)
    }
    if any(map(has_long_word, places)):
        lines = [visible_line(paper.take(place)) for place in places]
        yield "In:\n\n" + fenced("\n".join(lines))
    elif places:
        yield f"In {', '.join(code(visible_line(paper.take(place))) for place in places)}"


def command_line(given: Any) -> str:
    """Return a command line as a shell would be given it, "" if this is none."""
    if isinstance(given, list):
        return shlex.join(str(word) for word in cast("list[Any]", given))
    return given if isinstance(given, str) else ""


def _change(diff: Diff, call: CallRecord, paper: _Paper) -> Iterator[str]:
    """Return a change of a file."""
    lines, left_out = diff_lines(diff, call.files.get(diff.path))
    paper.missing += left_out
    if diff.old_text is None:
        label = "New file" if lines else "New empty file"
    elif diff.old_text == diff.new_text:
        label = "No change in"
    else:
        label = "Change" if lines else "Only line ends change in"
    yield paper.named(label, diff.path, ":" if lines else "")
    paper.said += [diff.old_text or "", diff.new_text]
    if lines:
        yield paper.block("\n".join(lines), "diff")


def _input(call: CallRecord, given: dict[str, Any], paper: _Paper) -> Iterator[str]:
    """Return what else the tool is given, each of it by its name."""
    whole = call.raw_input
    if not isinstance(whole, dict):
        if whole is not None and not paper.has(_text(whole)):
            yield paper.block(_text(whole))
        return
    raw = cast("dict[str, Any]", whole)
    if call.arguments is not raw:  # in a wrapper, which names the tool
        given = {**{name: raw[name] for name in raw if name != "arguments"}, **given}
    items = [(name, value) for name, value in given.items() if value not in (None, "", [], {})]
    lines: list[str] = []
    blocks: list[str] = []
    for name, value in items[:MOST_ITEMS]:
        text = _text(value)
        if isinstance(value, str) and (paper.has(text) or paper.has_lines(text)):
            continue
        if isinstance(value, list) and _only(cast("list[Any]", value), paper):
            continue
        if name == DESCRIPTION and value == _description(call, paper):
            continue  # it stands at the top
        paper.shows_action = paper.shows_action or name in _PATCHES
        label = visible_line(name[: _INLINE_CHARACTERS + 1])
        if len(name) > _INLINE_CHARACTERS or has_long_word(label):
            blocks.append(paper.block(f"{name}: {text}"))
            continue
        paper.take(name)
        if "\n" in text or has_long_word(visible_line(text)) or len(text) > _INLINE_CHARACTERS:
            language = "diff" if name in _PATCHES else "" if isinstance(value, str) else "json"
            blocks += [f"{escape(label)}:", paper.block(text, language)]
        else:
            lines.append(f"- {escape(label)}: {code(visible_line(paper.take(text)) or ' ')}")
    paper.missing += sum(len(name) + len(_text(value)) for name, value in items[MOST_ITEMS:])
    if lines:
        yield "\n".join(lines)
    yield from blocks


def _only(values: list[Any], paper: _Paper) -> bool:
    """Return whether a list has one text, which stands there already."""
    return len(values) == 1 and isinstance(values[0], str) and paper.has(values[0])


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return (
        text if len(text) <= _INLINE_CHARACTERS else json.dumps(value, indent=2, ensure_ascii=False)
    )
