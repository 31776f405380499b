"""Splits a body of server-sent events; bytes in, bytes out, in linear time.

Every line ending becomes LF at once. JSON has no bare CR, and a CR at the end of a chunk needn't
wait for the next chunk. So an event ends at two LF, and nothing is decoded here.
"""

from __future__ import annotations

from typing import TypeAlias

Frame: TypeAlias = tuple[bytes, bytes]
"""The name of an event, often empty, and its data: the lines joined."""

MAX_EVENT_BYTES = 32 * 1024 * 1024
"""An image in an output item can have many millions of bytes."""

_BOM = b"\xef\xbb\xbf"
_ERROR = b"error"
_FIELDS = (b"data", b"event", b"id", b"retry", b"")
"""Those of the standard; the last one begins a comment."""


class SseOverflow(Exception):
    """An event is longer than we take; the stream can't be read any further."""


class SseSplitter:
    """Takes the chunks of one body, however they are cut."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._beginning: bytes | None = b""
        """The possible beginning of a byte order mark; None after that."""
        self._ends_in_cr = False
        self._rest = bytearray()
        """An event that isn't complete."""

    def feed(self, chunk: bytes) -> list[Frame]:
        """Return the events that are complete; raises `SseOverflow`."""
        if self._beginning is not None:
            chunk = self._beginning + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._beginning = chunk
                return []
            self._beginning = None
            chunk = chunk.removeprefix(_BOM)
        if self._ends_in_cr or b"\r" in chunk:
            chunk = self._with_lf(chunk)
        if not chunk:
            return []
        rest = self._rest
        if rest:
            # In the chunk alone: a long event is not searched again with each of its chunks.
            if b"\n\n" not in chunk and not (chunk[0] == 10 == rest[-1]):
                rest += chunk
                self._check(len(rest))
                return []
            chunk = bytes(rest) + chunk
            rest.clear()
        *blocks, tail = chunk.split(b"\n\n")
        rest += tail
        self._check(len(rest))
        if len(chunk) > self._max:
            for block in blocks:
                self._check(len(block))
        frames: list[Frame] = []
        for block in blocks:
            # The two shapes that servers really send; anything else may be slower.
            if block[:6] == b"data: " and b"\n" not in block:
                frames.append((b"", block[6:]))
                continue
            first, _, second = block.partition(b"\n")
            if first[:7] == b"event: " and second[:6] == b"data: " and b"\n" not in second:
                frames.append((first[7:], second[6:]))
            else:
                frames += _read(block)
        return frames

    def finish(self) -> list[Frame]:
        """Return what was left at the end of the body, if that is an event."""
        block = bytes(self._rest)
        self._rest.clear()
        return _read(block.removesuffix(b"\n"))

    def _with_lf(self, chunk: bytes) -> bytes:
        if self._ends_in_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._ends_in_cr = False
        if chunk:
            self._ends_in_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _check(self, size: int) -> None:
        if size > self._max:
            raise SseOverflow(
                f"An event of the stream is longer than {self._max} bytes; it has {size} by now."
            )


def _read(block: bytes) -> list[Frame]:
    """Read the lines of an event, as the standard says; without data it is none.

    Some servers write an error as a field of its own, as bare JSON, or as plain text. The standard
    has none of these, so lines without a field are returned as they are, if they may be an error.
    """
    name = b""
    data: list[bytes] = []
    others: list[bytes] = []
    is_error = has_field = False
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        has_field |= field in _FIELDS
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
        elif field == _ERROR:
            name, is_error = _ERROR, True
            data.append(value.removeprefix(b" "))
        elif field not in _FIELDS:
            (data if is_error else others).append(line)
    if not data and _may_be_error(name, others, has_field=has_field):
        data = others if has_field else [block]
    return [(name, b"\n".join(data))] if data else []


def _may_be_error(name: bytes, lines: list[bytes], *, has_field: bool) -> bool:
    """Tell whether the lines without a field of an event without data may be an error.

    The last of them may be the beginning of a field that was cut off.
    """
    if not lines or lines[0].lstrip()[:1] in (b"{", b"["):
        return bool(lines)
    is_cut = any(field.startswith(lines[-1]) for field in (*_FIELDS, _BOM))
    return not is_cut and (not has_field or _ERROR in name.lower())
