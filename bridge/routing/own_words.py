"""Remove our own words from an answer before an agent gets the chat again.

A host joins all parts of an answer into one text, and may cut it or write its links in another
way. So each answer that comes back is looked up in the record, and our own words are cut out: at
their recorded place as far as the texts agree, and after that wherever they are found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from bridge.history.message import Message
from bridge.wire import ChatMessage, Part, TextPart
from bridge.work import Work

from .align import plain

CHANGED = "🔀 "
"""The beginning of a line that says which mode or option the agent has changed."""
MEMORY = "🗜️ The agent condenses its memory of this chat"
"""Begins our line about an agent that condenses its memory."""
COMMANDS = "⌨️ Commands of this agent: "
"""The beginning of a line that names an agent's slash commands."""
CHANGED_FILES = "📝 Changed by the agent: "
"""The beginning of a line that names the files which an agent has changed by itself."""
CHANGED_MEANWHILE = "📝 Changed while the agent worked: "
"""The beginning of a line that names changed files that the agent hasn't reported."""
CHANGED_UNTIL_STOPPED = "📝 Changed in the turn that was stopped: "
"""The beginning of a line that names files at the beginning of the next answer."""
_STATUS = re.compile(
    "^(?:🔀 [^\n`]{1,100}: `|🗜️ The agent condenses its memory of this chat"
    "|⌨️ Commands of this agent: `/"
    "|📝 Changed (?:by the agent|while the agent worked|in the turn that was stopped): `)[^\n]*$",
    re.MULTILINE,
)
_TELLING = 20
"""Fewest characters of our own words that are recognised at another place."""


def without_own_words(
    messages: Iterable[ChatMessage], answers: Sequence[Message]
) -> Work[tuple[ChatMessage, ...]]:
    """Return the messages without our own words, as the record's `answers` tell them apart.

    An answer that was nothing else is left out. Each message is a step, and each answer.
    """
    plains: list[str] = []
    for answer in answers:
        plains.append(plain(answer.text))
        yield
    whole: dict[str, list[int]] = {}
    for index, text in enumerate(plains):
        whole.setdefault(text, []).append(index)
    kept: list[ChatMessage] = []
    next_ = 0
    for message in messages:
        yield
        text = message.text
        found = _find(plains, whole, next_, text) if message.role == "assistant" and text else None
        if found is not None:
            next_ = found + 1
        if found is not None and answers[found].own:
            content = _content(message.content, _agents_words(text, answers[found]))
            message = replace(message, content=content)
        elif found is None and not (message.role == "assistant" and _STATUS.search(text)):
            kept.append(message)
            continue
        elif _STATUS.search(text):
            content = _content(message.content, _without_status(text))
            message = replace(message, content=content)
        if message.content:
            kept.append(message)
    return tuple(kept)


MOST_TRIED = 64
"""Answers whose beginnings are compared with a text."""


def _find(
    plains: Sequence[str], whole: Mapping[str, Sequence[int]], start: int, text: str
) -> int | None:
    """Return which answer it is that the host repeats: whole, or else its beginning."""
    theirs = plain(text)
    same = whole.get(theirs, ())
    place = bisect_left(same, start)
    if place < len(same):
        return same[place]
    for index in range(start, min(start + MOST_TRIED, len(plains))):
        if plains[index].startswith(theirs):
            return index
    return None


def _agents_words(text: str, answer: Message) -> str:
    kept: list[str] = []
    at = 0
    for start, end in answer.own:
        ours = answer.text[start:end]
        if answer.text.startswith(text[:end]):
            place = start if start < len(text) else -1
        else:
            place = text.find(ours, at) if len(ours) >= _TELLING else -1
        if place >= at:
            kept.append(text[at:place])
            at = place + len(ours)
    kept.append(text[at:])
    return "\n\n".join(piece.strip("\n") for piece in kept if piece.strip())


def _without_status(text: str) -> str:
    """Return an answer without the lines that can't be the agent's.

    After a restart nobody knows which words are ours. Lines about the result of a call stay: they
    are news to the agent.
    """
    pieces = (piece.strip("\n") for piece in _STATUS.split(text))
    return "\n\n".join(piece for piece in pieces if piece.strip())


def _content(content: Sequence[Part], text: str) -> tuple[Part, ...]:
    """Return the parts with this text in place of theirs."""
    others = tuple(part for part in content if not isinstance(part, TextPart))
    return (TextPart(text), *others) if text else others
