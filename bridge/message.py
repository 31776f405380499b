"""The canonical form of a message: what is compared, and nothing else.

A host doesn't echo what we streamed: it joins text, puts calls last, re-renders results and keeps
records of its own in data parts (docs/explanation/history.md). Two messages are equal when their
canonical forms are; there is no other way to build one than `Message.of`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Any, cast

import attrs
import msgspec
from msgspec.structs import astuple

from .request_text import request_in
from .value import Value
from .wire import DataPart, OwnTextPart, Part, Role, TextPart, ToolCallPart, ToolResultPart

_encode = msgspec.json.Encoder(order="sorted").encode


class CallKey(Value):
    """A tool call as it is compared; `arguments` is canonical JSON."""

    call_id: str
    name: str
    arguments: bytes


@attrs.frozen(eq=False)
class Message:
    """A message in canonical form; equal when the digests are.

    `images` are the digests of its images; a result is known by its call's id alone. `marker` is
    the token of our own that came back in it, which says nothing about what was said.
    """

    role: Role
    name: str
    text: str
    calls: tuple[CallKey, ...]
    results: tuple[str, ...]
    images: tuple[bytes, ...]
    marker: str | None
    digest: bytes = attrs.field(repr=bytes.hex)
    request: str | None = attrs.field(repr=False)
    """What the user asks in it (`bridge.request_text`)."""
    is_said: bool = attrs.field(repr=False)
    """Whether it is a step of the conversation: not the system's, and not empty."""
    own: tuple[tuple[int, int], ...] = attrs.field(default=(), repr=False)
    """Where the text is our own (`OwnTextPart`), from and to; known of answers that we gave."""

    @classmethod
    def of(cls, role: Role, parts: Iterable[Part], name: str | None = None) -> Message:
        """Return the canonical form: text joined, calls in order, the rest dropped."""
        texts: list[str] = []
        calls: list[CallKey] = []
        results: list[str] = []
        images: list[bytes] = []
        marker: str | None = None
        own: list[tuple[int, int]] = []
        length = 0
        for part in parts:
            match part:
                case TextPart(value=value):
                    texts.append(value)
                    if isinstance(part, OwnTextPart):
                        start = own.pop()[0] if own and own[-1][1] == length else length
                        own.append((start, length + len(value)))
                    length += len(value)
                case ToolCallPart(tool_call_id=call_id, tool_name=tool, parameters=parameters):
                    key = CallKey(_call_id(call_id), _tool_name(tool), canonical_json(parameters))
                    calls.append(key)
                case ToolResultPart(tool_call_id=call_id):
                    results.append(_call_id(call_id))
                case DataPart(mime_type=mime, data=data) if mime.startswith("image/"):
                    images.append(_digest(mime.encode() + b"\0" + data))
                case DataPart(mime_type="stateful_marker", data=data):
                    marker = marker_token(data)
                case _:
                    pass  # thinking, bookkeeping and unknown parts come and go with the host's mood
        text = "".join(texts)
        compared = _encode(
            (role, name or "", text, [astuple(call) for call in calls], results, images)
        )
        return cls(
            role,
            name or "",
            text,
            tuple(calls),
            tuple(results),
            tuple(images),
            marker,
            _digest(compared),
            request_in(text) if role == "user" else None,
            role != "system" and bool(text or calls or results or images),
            tuple(own),
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
    try:
        return _encode(_without_integral_floats(value))
    except RecursionError:
        return _encode(value)  # too deep to be looked through, and deeper than any tool's input


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


_INTERNAL_SUFFIX = re.compile(r"__vscode-.*", re.DOTALL)
_NO_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]")


def _call_id(call_id: str) -> str:
    """Return the id without the suffix that some hosts leave on their own copies."""
    return _INTERNAL_SUFFIX.sub("", call_id) or call_id


def _tool_name(name: str) -> str:
    """Return the name as hosts return it when they don't know the tool."""
    return _NO_TOOL_NAME.sub("_", name)


def marker_token(data: bytes) -> str | None:
    """Return the token in a `stateful_marker` part: what follows the first backslash.

    What stands before it is a model id, which hosts replace by that of the current model.
    """
    _, backslash, token = data.decode(errors="replace").partition("\\")
    return token if backslash else None
