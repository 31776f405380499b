"""The canonical form of a message: what is compared, and nothing else.

A host doesn't echo what we streamed: it joins text, puts calls last, re-renders results and keeps
records of its own in data parts (docs/explanation/history.md). Two messages are equal when their
canonical forms are; only `Message.of` and `Draft` build one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from itertools import groupby
from typing import Any, cast

import attrs
import msgspec
from msgspec.structs import astuple

from bridge.value import Value
from bridge.wire import (
    PERMISSION_TOOLS,
    DataPart,
    OwnTextPart,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    joined_text,
)

from .request_text import request_in

_encode = msgspec.json.Encoder(order="sorted").encode


class CallKey(Value):
    """A tool call as it is compared; `arguments` is canonical JSON, empty for a question."""

    call_id: str
    name: str
    arguments: bytes


@attrs.frozen(eq=False)
class Message:
    """A message in canonical form; equal when the digests are.

    `images` are the digests of its images; a result is known by its call's id alone. `marker` is
    our own token that came back in it; it isn't part of the content.
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
    """The user's request in it (`bridge.history.request_text`)."""
    is_said: bool = attrs.field(repr=False)
    """Whether it is a step of the conversation: not the system's, and not empty."""
    own: tuple[tuple[int, int], ...] = attrs.field(default=(), repr=False)
    """Start and end of each text of our own (`OwnTextPart`); only for answers that we sent."""

    @classmethod
    def of(cls, role: Role, parts: Iterable[Part], name: str | None = None) -> Message:
        """Return the canonical form: text joined, calls in order, the rest dropped."""
        draft = Draft(role, name or "")
        draft.add(parts)
        return draft.message()

    @property
    def is_empty(self) -> bool:
        """Whether it says nothing, so that a host may leave it out."""
        return not (self.text or self.calls or self.results or self.images)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


@attrs.define(repr=False)
class Draft:
    """A message that is built part by part; the cost is shared among the parts."""

    role: Role
    name: str = ""
    _texts: list[str] = attrs.field(factory=list[str], init=False)
    _calls: list[CallKey] = attrs.field(factory=list["CallKey"], init=False)
    _results: list[str] = attrs.field(factory=list[str], init=False)
    _images: list[bytes] = attrs.field(factory=list[bytes], init=False)
    _marker: str | None = attrs.field(default=None, init=False)
    _own: list[tuple[int, int]] = attrs.field(factory=list[tuple[int, int]], init=False)
    _length: int = attrs.field(default=0, init=False)
    """Of the text."""

    def add(self, parts: Iterable[Part]) -> None:
        """Add parts."""
        for part in parts:
            match part:
                case TextPart(value=value):
                    self._texts.append(value)
                    end = self._length + len(value)
                    if isinstance(part, OwnTextPart):
                        goes_on = bool(self._own) and self._own[-1][1] == self._length
                        start = self._own.pop()[0] if goes_on else self._length
                        self._own.append((start, end))
                    self._length = end
                case ToolCallPart(tool_call_id=call_id, tool_name=tool, parameters=parameters):
                    # A question's text is only for the user: editors may drop it.
                    given = b"" if tool in PERMISSION_TOOLS else canonical_json(parameters)
                    key = CallKey(_call_id(call_id), _tool_name(tool), given)
                    self._calls.append(key)
                case ToolResultPart(tool_call_id=call_id):
                    self._results.append(_call_id(call_id))
                case DataPart(mime_type=mime, data=data) if mime.startswith("image/"):
                    self._images.append(_digest(mime.encode() + b"\0" + data))
                case DataPart(mime_type="stateful_marker", data=data):
                    self._marker = marker_token(data)
                case _:
                    pass  # hosts keep or drop thinking, bookkeeping and unknown parts

    def message(self) -> Message:
        """Return the message of the parts until now."""
        text = "".join(self._texts)
        calls = [astuple(call) for call in self._calls]
        compared = _encode((self.role, self.name, text, calls, self._results, self._images))
        return Message(
            self.role,
            self.name,
            text,
            tuple(self._calls),
            tuple(self._results),
            tuple(self._images),
            self._marker,
            _digest(compared),
            request_in(text) if self.role == "user" else None,
            self.role != "system" and bool(text or calls or self._results or self._images),
            tuple(self._own),
        )


def joined(parts: Iterable[Part]) -> list[Part]:
    """Return parts in their order, with adjacent texts as one."""
    whole: list[Part] = []
    for is_text, run in groupby(parts, lambda part: isinstance(part, TextPart)):
        same = list(run)
        whole += [TextPart(joined_text(same))] if is_text else same
    return whole


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

    The text before it is a model id, which hosts replace by that of the current model.
    """
    _, backslash, token = data.decode(errors="replace").partition("\\")
    return token if backslash else None
