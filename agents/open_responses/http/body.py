"""The kind of an endpoint's answer, and the reading of answers that aren't streams."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

import msgspec

from agents.loading import NOTHING, REFUSED, load

BodyKind: TypeAlias = Literal["stream", "json", "other"]

_UNTOLD = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
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
    begins = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if begins.startswith(_STREAM_STARTS):
        return "stream"
    return "json" if begins.startswith(b"{") else "other"


class _Answer(msgspec.Struct):
    """The evidence for the kind of an answer."""

    output: msgspec.Raw = NOTHING
    status: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING
    detail: msgspec.Raw = NOTHING


_decode = msgspec.json.Decoder(_Answer).decode


def terminal_event(body: bytes) -> bytes | None:
    """Return a whole answer as the event that ends a stream; None if it isn't one.

    A fault counts as one, too: some servers tell it in an answer that says 200.
    """
    if not body.lstrip().startswith(b"{"):
        return None
    try:
        answer = _decode(body)
    except REFUSED:
        return None
    if bytes(memoryview(answer.output)[:1]) == b"[":
        status = load(answer.status)
        kind = status if status in ("failed", "incomplete") else "completed"
        # Undecoded: an answer may be long, and each event decodes only the fields that it needs.
        return b'{"type":"response.%s","response":%s}' % (kind.encode(), body)
    error = load(answer.error) or load(answer.detail)
    return msgspec.json.encode({"type": "error", "error": _fault(error)}) if error else None


def _fault(error: Any) -> dict[str, Any]:
    if isinstance(error, dict):
        return cast("dict[str, Any]", error)
    message = error if isinstance(error, str) else msgspec.json.encode(error).decode()
    return {"message": message}
