"""What kind of answer an endpoint gave, and what to make of one that isn't a stream."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias, cast

import msgspec

from agents.nesting import shallow

Kind: TypeAlias = Literal["stream", "json", "other"]

_UNTOLD = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream"})
_STREAM_STARTS = (b"data:", b"event:", b":", b"id:", b"retry:")


class NotInflatable(Exception):
    """A body isn't compressed as it says, or in a way that we didn't ask for and don't know."""


def inflater(content_encoding: str) -> Callable[[bytes], bytes]:
    """Return what makes chunks plain. Servers and proxies compress though we ask them not to."""
    named = [one.strip().lower() for one in content_encoding.split(",")]
    encodings = [one for one in named if one not in ("", "identity")]
    if not encodings:
        return bytes
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # gzip or zlib, as its first bytes say

    def inflated(chunk: bytes) -> bytes:
        if encodings not in (["gzip"], ["x-gzip"], ["deflate"]):
            raise NotInflatable(f"it is compressed as {content_encoding}")
        try:
            return inflate.decompress(chunk)
        except zlib.error as error:
            raise NotInflatable(str(error)) from None

    return inflated


def kind_of(content_type: str, start: bytes) -> Kind:
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


def terminal_event(body: bytes) -> bytes | None:
    """Return a whole answer as the event that ends a stream; None if it isn't one.

    A fault counts as one, too: some servers tell it in an answer that says 200.
    """
    try:
        value: Any = shallow(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    answer = cast("dict[str, Any]", value)
    if isinstance(answer.get("output"), list):
        status = answer.get("status")
        kind = status if status in ("failed", "incomplete") else "completed"
        return msgspec.json.encode({"type": f"response.{kind}", "response": answer})
    if answer.get("error") or answer.get("detail"):
        return msgspec.json.encode({"type": "error", **_fault(answer)})
    return None


def _fault(answer: Mapping[str, Any]) -> dict[str, Any]:
    error = answer.get("error") or answer.get("detail")
    if isinstance(error, dict):
        return {"error": error}
    message = error if isinstance(error, str) else msgspec.json.encode(error).decode()
    return {"error": {"message": message}}
