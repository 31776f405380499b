"""What we said ourselves in an answer is left out where the chat is told to an agent again.

A host joins what we streamed into one text, and may cut it or write its links in another way. So
each answer that comes back is found among those of the record, and what of it is our own is cut
out: at its place as far as the texts agree, and from there on where it is found.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from .align import plain
from .message import Message
from .wire import ChatMessage, Part, TextPart
from .work import Work

MODE = "🔀 Mode: "
"""How a line of ours begins that says which mode the agent is in."""
MEMORY = "🗜️ The agent condenses its memory of this chat"
"""How a line of ours begins that says what the agent does with its memory."""
_STATUS = re.compile(
    "^(?:🔀 Mode: `|🗜️ The agent condenses its memory of this chat)[^\n]*$", re.MULTILINE
)
_TELLING = 20
"""How long words of ours must be to be recognised at another place."""


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
        text = "".join(part.value for part in message.content if isinstance(part, TextPart))
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
"""Answers of which a text is looked for as the beginning."""


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
    """Return an answer of which nobody knows which words are ours, without lines that can't be its.

    After a restart nobody does. What says how a call went is left: it is news to the agent.
    """
    pieces = (piece.strip("\n") for piece in _STATUS.split(text))
    return "\n\n".join(piece for piece in pieces if piece.strip())


def _content(content: Sequence[Part], text: str) -> tuple[Part, ...]:
    """Return the parts with this text in place of theirs."""
    others = tuple(part for part in content if not isinstance(part, TextPart))
    return (TextPart(text), *others) if text else others
