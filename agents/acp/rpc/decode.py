"""Decode an agent's lines in two steps: first the kind of message, then its content.

`decode_lines` takes the lines of `bridge.jsonrpc.LineSplitter` and never fails: a line that is no
message becomes `Skipped`, with the reason. Parameters and results stay raw until the method is
known; then `decode_update`, `decode_params` and `decode_result` read them, or raise
`ProtocolFault`.

Each step tries msgspec first, which is fast and strict. A line that it refuses is decoded again
with `json` and `lenient`. They accept texts cut inside a character, NaN, a byte order mark and
bytes that aren't UTF-8. They also accept malformed fields where the protocol allows it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeVar, cast

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from agents.acp.schema.errors import Error, ProtocolFault
from agents.acp.schema.methods import Method
from agents.acp.schema.updates import SessionNotification
from agents.nesting import DEEPEST_LEVELS, is_deep, shallow
from bridge.depth import is_too_deep
from bridge.errors import INTERNAL_ERROR
from bridge.jsonrpc import REFUSED, TooLong, decoder_of, repair_surrogates
from bridge.value import Value
from bridge.wire import RequestId

from . import lenient
from .surrogates import mend

SHOWN = 200
"""Characters of a skipped line that are kept."""

P = TypeVar("P", bound=msgspec.Struct)
R = TypeVar("R", bound=msgspec.Struct)


class Envelope(Value):
    """A message. With a method it is a request, or without `id` a notification.

    Without a method it is a response: `error`, or else `result`, where absent is like null. An id
    may be null, which is not the same as absent.
    """

    id: RequestId | UnsetType | None = UNSET
    method: str | None = None
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Error | None = None


class Skipped(Value):
    """A line, or an item of a batch, that is no message; agents print all sorts of things."""

    reason: str
    text: str = ""


_decode_envelope = msgspec.json.Decoder(Envelope).decode
_decode_update = msgspec.json.Decoder(SessionNotification).decode
_NOTHING = b"{}"


def decode_lines(lines: Iterable[bytes | TooLong]) -> list[Envelope | Skipped]:
    """Return the messages on some lines, in order; a batch (a JSON array) gives several."""
    messages: list[Envelope | Skipped] = []
    for line in lines:
        if isinstance(line, TooLong):
            messages.append(Skipped(f"a line of {line.size} bytes is too long"))
            continue
        try:
            envelope = _decode_envelope(line)
        except REFUSED:
            messages.extend(_open(line))
            continue
        if envelope.method is None and envelope.id is UNSET:
            messages.append(_skipped("neither a request nor a response", line))
        else:
            messages.append(_shallow(envelope))
    return messages


def _shallow(envelope: Envelope) -> Envelope:
    """Return a message in which the data of an error isn't nested too deeply; the rest is raw."""
    error = envelope.error
    if error is None or not is_deep(error.data):
        return envelope
    return replace(envelope, error=replace(error, data=shallow(error.data)))


def decode_update(params: Raw | UnsetType) -> SessionNotification:
    """Return the parameters of `session/update`.

    The text of a message's chunk may begin or end with half a character: see `TextJoiner`.
    """
    raw = _NOTHING if params is UNSET else params
    try:
        if not is_too_deep(raw, DEEPEST_LEVELS):
            return _decode_update(raw)
    except REFUSED:
        pass
    return _forgive(SessionNotification, raw, "session/update")


def decode_params(type_: type[P], params: Raw | UnsetType, method: str) -> P:
    """Return the parameters of another method."""
    return _decode(type_, params, method)


def decode_result(method: Method[Any, R], result: Raw | UnsetType) -> R:
    """Return the result of a request; null and nothing are like `{}`."""
    return _decode(method.result, result, f"result of {method.name}")


def _decode(type_: type[P], given: Raw | UnsetType, what: str) -> P:
    raw = _NOTHING if given is UNSET else given
    try:
        if not is_too_deep(raw, DEEPEST_LEVELS):
            return decoder_of(type_).decode(raw)
    except REFUSED:
        pass
    return _forgive(type_, raw, what)


# The slow way.


def _open(line: bytes) -> list[Envelope | Skipped]:
    try:
        value = _load(line)
        if isinstance(value, list):
            items = cast("list[Any]", value)
            return [_envelope(item, line) for item in items] or [_skipped("an empty batch", line)]
        return [_envelope(value, line)]
    except (ValueError, RecursionError):
        return [_skipped("not JSON", line)]


def _envelope(value: Any, line: bytes) -> Envelope | Skipped:
    if not isinstance(value, dict):
        return _skipped("not an object", line)
    fields = cast("dict[str, Any]", value)
    id_ = fields.get("id", UNSET)
    if isinstance(id_, str):
        id_ = mend(id_)
    if isinstance(id_, float) and id_.is_integer():
        id_ = int(id_)
    if isinstance(id_, bool) or not isinstance(id_, int | str | UnsetType | None):
        return _skipped("its `id` is no id", line)
    match fields.get("method"):
        case str(method):
            return Envelope(id_, mend(method), _raw(fields, "params"))
        case None if id_ is not UNSET:
            return Envelope(id_, result=_raw(fields, "result"), error=_error(fields.get("error")))
        case _:
            return _skipped("neither a request nor a response", line)


def _raw(fields: dict[str, Any], key: str) -> Raw | UnsetType:
    """Return a field as JSON again. Halves of characters stay escapes, which only `json` writes."""
    return Raw(json.dumps(fields[key]).encode()) if key in fields else UNSET


def _error(value: Any) -> Error | None:
    """Return an error from any malformed one, so that the request fails."""
    if value is None:
        return None
    whole = _load(repair_surrogates(json.dumps(value).encode()))
    try:
        return lenient.read(Error, whole, "$.error")
    except ProtocolFault:
        pass
    match whole:
        case str(message) | {"message": str(message)}:
            return Error(INTERNAL_ERROR, message, whole)
        case _:
            return Error(INTERNAL_ERROR, json.dumps(whole))


def _skipped(reason: str, line: bytes) -> Skipped:
    return Skipped(reason, line[: 4 * SHOWN].decode("utf-8", "replace").strip()[:SHOWN])


def _load(raw: bytes | Raw) -> Any:
    """Load JSON as nearly everybody reads it; raises ValueError or RecursionError.

    Lists and objects that are nested too deeply are empty.
    """
    text = bytes(raw).decode("utf-8-sig", "replace")
    return shallow(json.loads(text, parse_constant=_nothing, strict=False))


def _nothing(_constant: str) -> None:
    """Read NaN and the infinities as JavaScript writes them: null."""


def _forgive(type_: type[P], raw: bytes | Raw, what: str) -> P:
    try:
        value = _load(repair_surrogates(raw))
        return lenient.read(type_, {} if value is None else _amended(value, raw), "$")
    except (ProtocolFault, ValueError, RecursionError) as fault:
        raise ProtocolFault(f"{what}: {fault}") from None


_CHUNKS = ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk")
_CONTENT = ("text", "image", "audio", "resource_link", "resource")


def _amended(value: Any, raw: bytes | Raw) -> Any:
    """Correct the mistakes of the protocol's own examples, and rejoin split surrogates."""
    match value:
        case {"update": {"sessionUpdate": "current_mode_update", "modeId": mode} as update}:
            cast("dict[str, Any]", update).setdefault("currentModeId", mode)
        case {"update": {"sessionUpdate": tag, "content": {"text": str()} as content}} if (
            tag in _CHUNKS
        ):
            content["text"] = _load(raw)["update"]["content"]["text"]
        case {"update": {"content": items} as call} | {"toolCall": {"content": items} as call}:
            call["content"] = _wrapped(items)
        case _:
            pass
    return value


def _wrapped(content: Any) -> Any:
    """Return a tool call's content, where bare content blocks may stand for wrapped ones."""
    if not isinstance(content, list):
        return content
    items = cast("list[Any]", content)
    return [
        {"type": "content", "content": item}
        if isinstance(item, dict) and cast("dict[str, Any]", item).get("type") in _CONTENT
        else item
        for item in items
    ]
