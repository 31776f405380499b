"""Render an agent's permission request as Markdown for the user's decision. Pure.

The action comes first, and words that only repeat it are left out. Long texts, blanks and invisible
characters can't hide any part of the action (`visible`). No text of the agent can end the block
that contains it. Parts that don't fit are counted at the top.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, cast

from agents.acp.calls.state import CallRecord, command_in
from agents.acp.schema.content import (
    Content,
    Diff,
    EmbeddedResource,
    ResourceContents,
    TextContent,
    ToolCallContent,
)
from agents.acp.text.markdown import MOST_ITEMS, code, escape, fenced, unfenced
from agents.acp.text.visible import has_long_word, visible_line

from .call_subject import leading_object
from .diff import diff_lines
from .question_paper import Paper, is_news, news_in
from .todos import beside_list, todo_entries

_INLINE_CHARACTERS = 200
_ASKED_TWICE = "The agent has already asked about this call, so this may be about another one."
_UNSAID = "It doesn't say what this is about."
_TOOL = re.compile(r"\w*")
"""A title that is only the name of a tool."""
DESCRIPTION = "description"
_PATCHES = frozenset({"diff", "patch", "unified_diff"})
_PATH_KEY = re.compile(r"path|file", re.IGNORECASE)
_ONE_WORD = re.compile(r"[a-z_]+")
_PART = re.compile(r"(?:old|new)(?:_?(?:str|string|text))?", re.IGNORECASE)
"""Keys of a text that a change removes or puts in."""
_NEW_OLD = re.compile(r"new\w* old\w*", re.IGNORECASE)
"""The keys of a text that is to stand somewhere, and of the one that stands there."""
_COUNTS = frozenset({"additions", "deletions"})
"""Keys with the number of lines that a patch changes."""


def question_message(
    call: CallRecord,
    agent: str,
    note: str | None = None,
    *,
    about: Sequence[CallRecord] = (),
    choices: Sequence[str] = (),
) -> str:
    """Return the question whether `agent` may make a call; `note` is a warning for the user.

    `about` are the calls that a question without details may be about. `choices` names answers that
    the agent offers and that a yes doesn't choose.
    """
    paper = Paper()
    body = list(_body(call, paper))
    if about:
        unclear = _ASKED_TWICE if body else _UNSAID
        body += [f"{unclear} These calls are open:", *_calls(about, paper)]
    elif not body and _TOOL.fullmatch(_name_of(call)):
        body = [_UNSAID]
    if choices:
        offered = "; ".join(_name(choice) for choice in choices)
        body.append(f"The agent also offers permissions that last longer: {offered}")
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


def _warning(line: str) -> str:
    return f"⚠️ **{escape(line)}**"


def texts_of(content: Sequence[ToolCallContent]) -> list[str]:
    """Return the agent's content for a call; some agents put the arguments only there."""
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


def _title(call: CallRecord, paper: Paper) -> str:
    """Return the agent's words for the call if they add something to the text already shown."""
    title, description = _name_of(call), _description(call, paper)
    words = [title, "" if description in title else description]
    told = [" ".join(text.split()) for text in words if is_news(text, paper)]
    if not (told or paper.said):
        return "Use a tool"
    return " · ".join(visible_line(paper.take(text)) for text in told)


def _name_of(call: CallRecord) -> str:
    """Return the title of a call, without the input as JSON, and without an argument at the end.

    The question shows those with the arguments.
    """
    title, given = call.title or call.name, call.arguments
    head, brace, tail = title.partition("{")
    found, end = leading_object(brace + tail)
    if found and all(key in given and given[key] == value for key, value in found.items()):
        parts = (head.strip(" :"), (brace + tail)[end:].strip(" :"))
        title = ": ".join(filter(None, parts))
    for text in _texts(given):
        if has_long_word(text) or title.endswith(f"$ {text}"):
            title = title.removesuffix(text).rstrip(" :$") or title
    return title


def _texts(given: dict[str, Any]) -> list[str]:
    return [value for value in given.values() if isinstance(value, str)]


def _description(call: CallRecord, paper: Paper) -> str:
    """Return the agent's stated purpose of a command or a change, "" if the line has none."""
    said = call.arguments.get(DESCRIPTION) if paper.shows_action else None
    return said if isinstance(said, str) and len(said) <= _INLINE_CHARACTERS else ""


def _calls(calls: Sequence[CallRecord], paper: Paper) -> Iterator[str]:
    """Return calls, each with a number, its title and its arguments."""
    for number, call in enumerate(calls[:MOST_ITEMS], 1):
        part = Paper(left=paper.left)
        body = list(_body(call, part))
        title = _title(call, part) or visible_line(part.take(_name_of(call)))
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


def _body(call: CallRecord, paper: Paper) -> Iterator[str]:
    """Return the call's action and its description."""
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
    key, line = command_in(given)
    if key is not None and _is_mode(given[key], given):
        key = None
    if key is not None:
        paper.shows_action = True
        yield paper.block(line, "sh")
    content = call.content[:MOST_ITEMS]
    for part in content:
        if isinstance(part, Diff):
            paper.shows_action = True
            yield from _change(part, call, paper)
    paper.missing += sum(len(str(part)) for part in call.content[MOST_ITEMS:])
    yield from _input(call, {name: given[name] for name in given if name != key}, paper)
    names = (call.title, *given)
    for text in texts_of(content):
        inside, language = unfenced(news_in(text, paper, names) if given else text)
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


def _is_mode(command: Any, given: dict[str, Any]) -> bool:
    """Return whether a command is only the name of what a tool is to do with a file."""
    has_path = any(_PATH_KEY.search(key) for key in given)
    return has_path and isinstance(command, str) and _ONE_WORD.fullmatch(command) is not None


def _change(diff: Diff, call: CallRecord, paper: Paper) -> Iterator[str]:
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


def _input(call: CallRecord, given: dict[str, Any], paper: Paper) -> Iterator[str]:
    """Return the tool's other arguments, each with its name."""
    whole = call.raw_input
    if not isinstance(whole, dict):
        if whole is not None and not paper.has(_text(whole)):
            yield paper.block(_text(whole))
        return
    raw = cast("dict[str, Any]", whole)
    if call.arguments is not raw:  # in a wrapper, which names the tool
        beside = {name: raw[name] for name in raw if raw[name] is not call.arguments}
        given = {**beside, **given}
    items = [(name, value) for name, value in given.items() if value not in (None, "", [], {})]
    lines: list[str] = []
    blocks: list[str] = []
    for name, value in items[:MOST_ITEMS]:
        text = _text(value)
        if isinstance(value, str) and (paper.has(text) or paper.has_lines(text)):
            continue
        if isinstance(value, list) and _only(cast("list[Any]", value), paper):
            continue
        if isinstance(value, dict) and _is_said(cast("dict[str, Any]", value), paper):
            continue
        if _is_in_change(name, value, call):
            continue
        if name == DESCRIPTION and value == _description(call, paper):
            continue  # it stands at the top
        changes = _replacements(value)
        language = "diff" if changes or name in _PATCHES else ""
        paper.shows_action = paper.shows_action or bool(language)
        text = changes or text
        label = visible_line(name[: _INLINE_CHARACTERS + 1])
        if len(name) > _INLINE_CHARACTERS or has_long_word(label):
            blocks.append(paper.block(f"{name}: {text}"))
            continue
        paper.take(name)
        if "\n" in text or has_long_word(visible_line(text)) or len(text) > _INLINE_CHARACTERS:
            language = language or ("" if isinstance(value, str) else "json")
            blocks += [f"{escape(label)}:", paper.block(text, language)]
        else:
            lines.append(f"- {escape(label)}: {code(visible_line(paper.take(text)) or ' ')}")
    paper.missing += sum(len(name) + len(_text(value)) for name, value in items[MOST_ITEMS:])
    if lines:
        yield "\n".join(lines)
    yield from blocks


def _is_in_change(name: str, value: Any, call: CallRecord) -> bool:
    """Return whether an argument is a part of the change that the question shows."""
    changes = [part for part in call.content[:MOST_ITEMS] if isinstance(part, Diff)]
    if not isinstance(value, dict):
        fields: dict[str, Any] = {name: value}
    else:
        fields = cast("dict[str, Any]", value)
    return bool(fields) and all(
        isinstance(text, str)
        and _PART.fullmatch(key)
        and any(
            text in (change.new_text if key[:3].lower() == "new" else change.old_text or "")
            for change in changes
        )
        for key, text in fields.items()
    )


def _replacements(value: Any) -> str | None:
    """Return a diff of texts that others are to replace, None if a value is anything else."""
    lines: list[str] = []
    for one in cast("list[Any]", value) if isinstance(value, list) else [value]:
        match sorted(cast("dict[str, Any]", one).items()) if isinstance(one, dict) else ():
            case [(str(new), str(to)), (str(old), str(text))] if _NEW_OLD.fullmatch(f"{new} {old}"):
                lines += [f"-{line}" for line in text.split("\n")]
                lines += [f"+{line}" for line in to.split("\n")]
            case _:
                return None
    return "\n".join(lines) or None


def _is_said(fields: dict[str, Any], paper: Paper) -> bool:
    """Return whether an object only repeats text already written: a patch, its file, its size."""
    rest = {name: value for name, value in fields.items() if name not in _COUNTS}
    texts = [value for value in rest.values() if isinstance(value, str)]
    is_patch = not _PATCHES.isdisjoint(rest) and len(texts) == len(rest)
    return is_patch and all(paper.has(one) or paper.has_lines(one) for one in texts)


def _only(values: list[Any], paper: Paper) -> bool:
    """Return whether a list has one text, which stands there already."""
    return len(values) == 1 and isinstance(values[0], str) and paper.has(values[0])


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    return (
        text if len(text) <= _INLINE_CHARACTERS else json.dumps(value, indent=2, ensure_ascii=False)
    )
