"""The history that a request continues, and the settings that it gets. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from bridge.wire import ChatMessage, Permissions, Settings, TextPart
from bridge.work import Work

from .items import messages_of

_RANK: tuple[Permissions, ...] = ("deny", "read_only", "ask", "allow")
_STRICT: tuple[Permissions, ...] = ("deny", "read_only")
"""Values that hold for a model whatever the server allows; the others are the server's to give."""


_SKIP_NOTHING = ("ai-sdk/",)
"""Clients that refuse a whole response if the type of one of its items is unknown to them."""


class _Reference(msgspec.Struct):
    type: str = ""
    id: str | None = None


class _Output(msgspec.Struct):
    output: list[Raw]


_decode_reference = msgspec.json.Decoder(_Reference).decode
_decode_output = msgspec.json.Decoder(_Output).decode


def policy(settings: Settings, permissions: Permissions) -> Settings:
    """Return a model's settings under the server's policy; a model can only be stricter."""
    strictest = min(settings.permissions, permissions, key=_RANK.index)
    is_set = settings.permissions in _STRICT
    return replace(settings, permissions=strictest if is_set else permissions)


def can_skip_nothing(agent: str) -> bool:
    """Return whether a client can't skip items of our own type in a whole response."""
    return any(name in agent for name in _SKIP_NOTHING)


def system_message(text: str) -> ChatMessage:
    """Return instructions as a message."""
    return ChatMessage("system", (TextPart(text),))


def user_item(text: str) -> Raw:
    """Return an input that is only a text as an item."""
    content = [{"type": "input_text", "text": text}]
    return Raw(msgspec.json.encode({"type": "message", "role": "user", "content": content}))


def response_of(item: str) -> str:
    """Return what an item's id and its response's id have in common."""
    return item.partition("_")[2][:32]


def referred(given: str | Sequence[Raw]) -> Work[list[str]]:
    """Return the ids of the items that an input refers to, one for each response."""
    found: dict[str, str] = {}
    for raw in () if isinstance(given, str) else given:
        yield
        try:
            item = _decode_reference(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # it is refused where all items are read
        if item.type == "item_reference" and item.id:
            found.setdefault(response_of(item.id), item.id)
    return list(found.values())


def answer_of(resource: bytes) -> Work[dict[str, list[ChatMessage]]]:
    """Return the output items of a response as messages, by their ids."""

    def no_reference(_kind: str, _named: str) -> Work[Sequence[ChatMessage]]:
        raise AssertionError("no output item refers to another")

    output: list[Any] = _decode_output(resource).output
    found: dict[str, list[ChatMessage]] = {}
    for raw in output:
        found[_decode_reference(raw).id or ""] = yield from messages_of([raw], no_reference)
    return found
