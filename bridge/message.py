"""The canonical form of a message: what is compared, and nothing else.

A host doesn't echo what we streamed: it joins text, puts calls last, re-renders results and keeps
records of its own in data parts (docs/explanation/history.md). Two messages are equal when their
canonical forms are; there is no other way to build one than `Message.of`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, cast

import attrs
import msgspec

from .wire import DataPart, Part, Role, TextPart, ToolCallPart, ToolResultPart

_encode = msgspec.json.Encoder(order="sorted").encode


@attrs.frozen
class CallKey:
    """A tool call as it is compared; `arguments` is canonical JSON."""

    call_id: str
    name: str
    arguments: bytes


@attrs.frozen(eq=False)
class Message:
    """A message in canonical form; equal when the digests are.

    `images` are the digests of its images; a result is known by its call's id alone.
    """

    role: Role
    name: str
    text: str
    calls: tuple[CallKey, ...]
    results: tuple[str, ...]
    images: tuple[bytes, ...]
    digest: bytes = attrs.field(repr=bytes.hex)

    @classmethod
    def of(cls, role: Role, parts: Iterable[Part], name: str | None = None) -> Message:
        """Return the canonical form: text joined, calls in order, the rest dropped."""
        texts: list[str] = []
        calls: list[CallKey] = []
        results: list[str] = []
        images: list[bytes] = []
        for part in parts:
            match part:
                case TextPart(value=value):
                    texts.append(value)
                case ToolCallPart(tool_call_id=call_id, tool_name=tool, parameters=parameters):
                    calls.append(CallKey(call_id, tool, canonical_json(parameters)))
                case ToolResultPart(tool_call_id=call_id):
                    results.append(call_id)
                case DataPart(mime_type=mime, data=data) if mime.startswith("image/"):
                    images.append(_digest(mime.encode() + b"\0" + data))
                case _:
                    pass  # thinking, bookkeeping and unknown parts come and go with the host's mood
        text = "".join(texts)
        key = _encode(
            (role, name or "", text, [attrs.astuple(call) for call in calls], results, images)
        )
        return cls(
            role, name or "", text, tuple(calls), tuple(results), tuple(images), _digest(key)
        )

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing, so that a host may leave it out."""
        return not (self.text or self.calls or self.results or self.images)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def canonical_json(value: Any) -> bytes:
    """Return JSON, equal for values that JavaScript can't tell apart (1.0 and 1, key order)."""
    return _encode(_without_integral_floats(value))


def _without_integral_floats(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {key: _without_integral_floats(item) for key, item in items}
    if isinstance(value, list):
        return [_without_integral_floats(item) for item in cast("list[Any]", value)]
    return value


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
