"""The kind of an endpoint's answer, and the reading of answers that aren't streams."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from agents.loading import NOTHING, fields_of, load
from bridge.jsonrpc import REFUSED

from .errors import fault_of, sole

BodyKind: TypeAlias = Literal["stream", "json", "other"]

_UNTOLD = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
_BOM = b"\xef\xbb\xbf"
_STREAM_STARTS = (b"data:", b"event:", b":", b"id:", b"retry:", b"error:")


def kind_of(content_type: str, start: bytes) -> BodyKind:
    """Return how to read a body, by its type; by its first bytes where that says nothing."""
    told = content_type.partition(";")[0].strip().lower()
    if told == "text/event-stream":
        return "stream"
    if told == "application/json" or told.endswith("+json"):
        return "json"
    if told not in _UNTOLD:
        return "other"
    begins = start.removeprefix(_BOM).lstrip()
    if begins.startswith(_STREAM_STARTS):
        return "stream"
    return "json" if begins.startswith(b"{") else "other"


class _Answer(msgspec.Struct):
    """The evidence for a whole response."""

    output: msgspec.Raw = NOTHING
    status: msgspec.Raw = NOTHING


_decode = msgspec.json.Decoder(_Answer).decode


def terminal_event(body: bytes) -> bytes | None:
    """Return a whole answer as the event that ends a stream; None if it isn't one.

    A fault counts as one, too: some servers tell it in an answer that says 200.
    """
    body = body.removeprefix(_BOM)
    try:
        answer = _decode(body)
    except REFUSED:
        answer = _Answer()
    if bytes(memoryview(answer.output)[:1]) == b"[":
        status = load(answer.status)
        kind = status if status in ("failed", "incomplete") else "completed"
        # Undecoded: an answer may be long, and each event decodes only the fields that it needs.
        return b'{"type":"response.%s","response":%s}' % (kind.encode(), body)
    return b'{"type":"error","error":%s}' % body if _is_fault(load(body)) else None


def _is_fault(answer: Any) -> bool:
    """Tell whether an answer has the fields of an error that says something."""
    told = fields_of(sole(answer))
    is_named = any(told.get(name) for name in ("error", "errors", "detail", "details"))
    return bool((is_named or isinstance(told.get("message"), str)) and fault_of(told).message)
