"""Read the events between an editor and a provider: a recording, or our trace.

Both are JSON lines. A recording's line has a `kind` (request, part, cancel, end, ...); a trace's
line has a `direction` and the `message` of the wire, or an `event` that the server noted
(docs/how-to/read-a-trace.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import msgspec

from bridge import methods
from bridge.errors import FailureKind
from bridge.value import Value
from bridge.wire import Part, RequestId, UnknownPart, decode_part, decode_part_params


class RecordingError(Exception):
    """A line isn't what a recording or a trace has; the message says which."""


class Requested(Value):
    """A chat request: the raw parameters of `lm/provideLanguageModelChatResponse`."""

    request: RequestId
    params: bytes


class Parted(Value):
    """A part of the answer."""

    request: RequestId
    part: Part


class Stopped(Value):
    """The editor cancelled the request."""

    request: RequestId


class Settled(Value):
    """The request was answered; `error` is the message if it failed."""

    request: RequestId
    error: str | None = None


class Noted(msgspec.Struct, frozen=True, rename="camel"):
    """A note of the server in its trace: an event, as it decided about it (`actors.journal`).

    Which of the fields count depends on the event.
    """

    event: str
    at: float = 0.0
    """Seconds, on any clock."""
    request: RequestId | None = None
    conversation: int = 0
    turn: int = 0
    agent: int = 0
    keep: bool = False
    bytes: int = 0
    max_sessions: int = 0
    marker: str | None = None
    among_strangers: bool = False
    message: str = ""
    failure_kind: FailureKind = "AgentFailed"
    remembered: bool = False
    start: str = ""
    why: str = ""
    told: int = 0
    process: int | None = None
    most_bytes: int = 0


Happening: TypeAlias = Requested | Parted | Stopped | Settled | Noted


class _Line(msgspec.Struct):
    kind: str = ""
    seq: RequestId | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"null")
    status: str = ""
    message: msgspec.Raw = msgspec.Raw(b"null")
    direction: str = ""
    event: str = ""
    peer: str = ""


class _Wire(msgspec.Struct):
    id: RequestId | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"null")
    error: dict[str, Any] | None = None


class _CancelParams(msgspec.Struct, rename="camel"):
    request_id: RequestId | None = None
    id: RequestId | None = None


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_note = msgspec.json.Decoder(Noted).decode
_decode_wire = msgspec.json.Decoder(_Wire).decode
_decode_cancel = msgspec.json.Decoder(_CancelParams).decode
_decode_text = msgspec.json.Decoder(str).decode


def read_recording(lines: Iterable[bytes]) -> Iterator[Happening]:
    """Yield what happened, in order; raises `RecordingError` with the number of a wrong line."""
    chats: set[RequestId] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            happening = _happening(line, chats)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise RecordingError(f"line {number}: {error}") from None
        except RecursionError:
            raise RecordingError(f"line {number}: it is nested too deeply") from None
        if isinstance(happening, Requested):
            chats.add(happening.request)
        if happening is not None:
            yield happening


def _happening(json: bytes, chats: set[RequestId]) -> Happening | None:
    line = _decode_line(json)
    if line.event:
        return _decode_note(json)
    if line.peer:
        return None  # an agent's wire
    if line.direction:
        try:
            return _of_trace(_decode_wire(line.message), line.direction, chats)
        except msgspec.ValidationError:
            return None  # on the wire a wrong line was an answered mistake, which changed nothing
    if line.kind == "part":
        return _part(line.params)
    if line.seq is None:
        return None
    match line.kind:
        case "request" if line.method == methods.CHAT:
            return Requested(line.seq, bytes(line.params))
        case "cancel":
            return Stopped(line.seq)
        case "end":
            return Settled(line.seq, None if line.status == "complete" else _text(line.message))
        case _:
            return None


def _of_trace(wire: _Wire, direction: str, chats: set[RequestId]) -> Happening | None:
    if direction == "in":
        if wire.method == methods.CHAT and wire.id is not None:
            return Requested(wire.id, bytes(wire.params))
        if wire.method in (methods.CANCEL, methods.CANCEL_REQUEST):
            params = _decode_cancel(wire.params)
            request = params.id if params.request_id is None else params.request_id
            return Stopped(request) if request is not None else None
        return None
    if wire.method == methods.RESPONSE_PART:
        return _part(wire.params)
    if not wire.method and wire.id in chats:
        chats.discard(wire.id)
        return Settled(wire.id, None if wire.error is None else str(wire.error.get("message")))
    return None


def _text(raw: msgspec.Raw) -> str:
    """Return a string, or whatever stands in its place as JSON."""
    try:
        return _decode_text(raw)
    except msgspec.ValidationError:
        return bytes(raw).decode()


def _part(raw: msgspec.Raw) -> Parted | None:
    params = decode_part_params(raw)
    try:
        part = decode_part(params.part)
    except msgspec.ValidationError:
        return None
    # A kind of part that this version doesn't know says nothing of the history.
    return None if isinstance(part, UnknownPart) else Parted(params.request_id, part)
