"""Limit the JSON of a peer. It is counted before it is decoded, because decoding takes memory.

A few kilobytes, compressed, can hold many millions of empty objects. Pure.
"""

from __future__ import annotations

from bridge.work import Work

MOST_JSON_VALUES = 1_000_000
"""Values of one JSON text: an answer with 16,000 tool calls has 200,000."""
_SIGNS = (b",", b"{", b"[")
_STEP_BYTES = 65_536
"""Bytes of JSON whose values are counted at once; others have their turn after them."""


def has_too_many_values(text: bytes, most: int = MOST_JSON_VALUES) -> Work[bool]:
    """Tell, in short steps, whether JSON has more values than that, or about as many.

    Each value is the first, or follows a comma, or is the first in a bracket that opens. Brackets
    in strings aren't counted.
    """
    if len(text) <= most:
        return False  # each takes a byte
    found, at, is_in_string = 0, 0, False
    while at < len(text) and found < most:
        piece = text[at : at + _STEP_BYTES]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:  # an escaped byte isn't torn from its sign
            piece = text[at : at + _STEP_BYTES + 1]
        at += len(piece)
        runs = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        outside = b"".join(runs[is_in_string::2])
        found += sum(outside.count(sign) for sign in _SIGNS)
        is_in_string ^= len(runs) % 2 == 0
        yield
    return found >= most
