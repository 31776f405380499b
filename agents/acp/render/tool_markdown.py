"""A tool call of the agent's, as Markdown: one line when it begins, its outcome when it ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import assert_never

from agents.acp.calls.output import exit_status, is_exit_status
from agents.acp.calls.state import CallRecord
from agents.acp.schema.content import (
    Content,
    Diff,
    Terminal,
    TextContent,
    ToolCallContent,
    UnknownToolCallContent,
)
from agents.acp.text.markdown import code, excerpt, fenced, one_line

from .call_results import is_said, result_of, says_failed, text_of, todos_in
from .call_subject import relative, subject
from .content import content_view
from .diff import diff_view
from .plans import checklist
from .todos import listed

ICONS = {
    "read": "📖",
    "edit": "✏️",
    "delete": "🗑️",
    "move": "📦",
    "search": "🔍",
    "execute": "▶️",
    "think": "💭",
    "fetch": "🌐",
    "switch_mode": "🔀",
}
OTHER_ICON = "🔧"
_MOST_LINES = {"read": 12, "search": 12, "fetch": 12}
_OTHERWISE_LINES = 40
_MOST_BLOCKS = 20
_SHORT = 80


def started(call: CallRecord, root: str) -> str:
    """Return the line for a call that begins."""
    return f"{ICONS.get(call.kind, OTHER_ICON)} {subject(call, root)}"


def outcome(call: CallRecord, root: str, *, follows: bool) -> str:
    """Return how a call ended: to stand behind its first line (`follows`), or by itself."""
    failed = has_failed(call)
    mark = "✘" if failed else "✔"
    head = f" {mark}" if follows else f"{mark} {subject(call, root)}"
    how = call.output.status or exit_status(call.raw_output)
    if failed:
        word = _failure(call)
        how = f"{word}: {how}" if how else word
    if how:
        head += f" *{how}*"
    blocks = list(_blocks(call, root, failed=failed))
    if not blocks:
        return head
    more = len(blocks) - _MOST_BLOCKS
    rest = [f"*… {more:,} more results*"] if more > 0 else []
    if isinstance(blocks[0], _Short):
        return "\n\n".join([f"{head} {blocks[0]}", *blocks[1:_MOST_BLOCKS], *rest])
    return "\n\n".join([head, *blocks[:_MOST_BLOCKS], *rest])


def has_failed(call: CallRecord) -> bool:
    """Return whether a call has failed: as its status or its result says, or as it was denied.

    Some agents say of a denied call that it is completed. It has no result then, or one that says
    that it failed. A denied call with another result was made all the same.
    """
    if call.has_failed or says_failed(call.raw_output):
        return True
    gave = call.content or call.output.text or call.raw_output not in (None, "", [], {})
    return call.is_denied and not gave


def unfinished(call: CallRecord, root: str, *, follows: bool) -> str:
    """Return the line for a call without a reported end, and its output so far."""
    head = "" if follows else started(call, root)
    written = next(_text_block([call.output.text], call), None)
    if written is None:
        return f"{head} *no result*"
    gap = " " if isinstance(written, _Short) else "\n\n"
    return f"{head} *not finished*{gap}{written}"


def denied(call: CallRecord, root: str, *, follows: bool) -> str:
    """Return the line for a denied call about which the agent says nothing more."""
    return f"{'' if follows else f'✘ {subject(call, root)}'} *denied*"


def _failure(call: CallRecord) -> str:
    if call.is_denied:
        return "denied"
    return call.status if call.status == "cancelled" else "failed"


class _Short(str):
    """A result for the line of its call."""

    __slots__ = ()


def _blocks(call: CallRecord, root: str, *, failed: bool) -> Iterator[str]:
    """Return the call's result: text in fences, changes as diffs, the rest by name."""
    texts: list[str] = []
    begins = _begins(call)
    # Terminals aren't supported; the output of a command comes in other fields.
    parts = [part for part in call.content if not isinstance(part, Terminal)]
    gave = [part for part in parts if _is_given(part, call)]
    for content in gave:
        entries = None
        if isinstance(content, Content) and isinstance(content.content, TextContent):
            text = content.content.text
            entries = todos_in(text, call)
            if entries is None:
                texts.append(text)
                continue
        yield from _text_block(texts, call)
        texts = []
        match content:
            case Content() if entries is not None:
                yield checklist(entries)
            case Content(content=block):
                yield content_view(block)
            case Diff():
                # A failed call changed nothing, so its change isn't shown.
                if not failed:
                    name = relative(content.path, root)
                    line = next(begins.get(content.path, iter(())), None)
                    yield diff_view(content, name, call.files.get(content.path), line)
            case UnknownToolCallContent(kind=kind):
                yield f"*(a result of the kind {code(one_line(kind, 60) or '?')})*"
            case _:
                assert_never(content)
    written = call.output.text.strip("\n")
    if written and not any(written in text for text in texts):
        texts.append(written)
    yield from _text_block(texts, call)
    if not (gave or written or call.raw_output is None or is_exit_status(call.raw_output)):
        entries = listed(call.raw_output)
        if entries is None:
            yield from _text_block([text_of(call.raw_output)], call)
        else:
            yield checklist(entries)


def _is_given(content: ToolCallContent, call: CallRecord) -> bool:
    """Return whether content is part of the result rather than a description of the call."""
    match content:
        case Content(content=TextContent(text=text)):
            return not is_said(text, call)
        case _:
            return True


def _begins(call: CallRecord) -> dict[str, Iterator[int]]:
    """Return for each path the lines at which its changes begin, where the agent names them all."""
    changes = Counter(diff.path for diff in call.diffs)
    lines: dict[str, list[int]] = {path: [] for path in changes}
    for place in call.locations:
        if place.line is not None and place.line > 0 and place.path in lines:
            lines[place.path].append(place.line)
    return {path: iter(found) for path, found in lines.items() if len(found) == changes[path]}


def _text_block(texts: list[str], call: CallRecord) -> Iterator[str]:
    found = [(text, language) for text, language in (result_of(one, call) for one in texts) if text]
    languages = {language for _, language in found}
    whole = "\n".join(text.strip("\n") for text, _ in found)
    text = excerpt(whole, _MOST_LINES.get(call.kind, _OTHERWISE_LINES))
    if not text.strip():
        return
    if "\n" not in text and len(text) <= _SHORT:
        yield _Short(code(text.strip()))
    else:
        yield fenced(text, languages.pop() if len(languages) == 1 else "")
