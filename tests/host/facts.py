"""Facts: things that were said, each with a number, carried along inside the messages.

Two chats may say the same, so words can't tell whether an agent was given the right ones. A message
of the model's carries the numbers of its facts in parts of an unknown kind, and a result in its
payload; the code under test carries both and compares neither.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any, cast

import attrs
import msgspec

from bridge.wire import ChatMessage, ToolResultPart, UnknownPart

Json = dict[str, Any]

_FACT = "fact"


class Kind(enum.Enum):
    WORD = "word"
    """What the user said."""
    ANSWER = "answer"
    """What was answered, as far as it came."""
    RESULT = "result"
    """What a tool of the host's returned."""


@attrs.frozen
class Fact:
    number: int
    kind: Kind
    text: str
    """What a stranger could tell it by: the words, or the id of the call."""

    def __str__(self) -> str:
        return f"{self.kind.value} {self.text!r} ({self.number})"


def fact_part(number: int) -> Json:
    """The part that carries a fact's number, in a message or in a result."""
    return {"type": _FACT, "number": number}


def facts_of(messages: Iterable[Json]) -> list[int]:
    """The facts in messages as the model makes them."""
    found: list[int] = []
    for message in messages:
        found.extend(_numbers(message["content"]))
    return found


def facts_in(messages: Iterable[ChatMessage]) -> list[int]:
    """The facts in messages as the code under test carries them."""
    found: list[int] = []
    for message in messages:
        for part in message.content:
            match part:
                case UnknownPart(kind="fact", json=raw):
                    found.extend(_numbers([msgspec.json.decode(raw)]))
                case ToolResultPart(result=result):
                    found.extend(facts_in_result(result))
                case _:
                    pass
    return found


def facts_in_result(result: Any) -> list[int]:
    """The facts in a tool's result."""
    return _numbers(cast("list[Json]", result)) if isinstance(result, list) else []


def without_facts(parts: Sequence[Json]) -> list[Json]:
    """The parts that a real host sends."""
    return [part for part in parts if part["type"] != _FACT]


def is_within(some: Sequence[object], whole: Sequence[object]) -> bool:
    """Whether `some` is `whole` with nothing added, nothing twice and nothing moved."""
    rest = iter(whole)
    return all(one in rest for one in some)


def _numbers(parts: Iterable[Json]) -> list[int]:
    found: list[int] = []
    for part in parts:
        if part["type"] == _FACT:
            found.append(part["number"])
        elif part["type"] == "tool_result":
            found.extend(facts_in_result(part["result"]))
    return found
