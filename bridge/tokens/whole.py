"""Tell which pieces are one token each in o200k_base.

`whole_pieces.bin` is a binary fuse filter of 8 bits: three bytes of it, chosen by the hash of a
piece, give a fourth value. For a piece that is one token that value is right. For any other piece
it is right by chance, once in 256 times. `tooling.token_filter` writes the file. The extension has
it in its bundle, and asks it the same way (`extension/src/tokens/whole.ts`).

The file is a constant of this package, so it is loaded like a module: with the first count.
"""

from __future__ import annotations

import pkgutil
from zlib import crc32

FILE = "whole_pieces.bin"
LONGEST_PART = 8
"""The characters of the longest token that is looked for in a piece; longer ones are seldom. Each
search too many can take for a token what is none.
"""
LONG_RUNS = (64, 32, 16)
"""But a run of one character has its tokens of these lengths."""
SEGMENT = 1 << 12
"""The bytes of a segment. A piece has one byte in each of three neighbouring segments."""
MOST_BYTES = 2 * 128
"""No token is longer; the longest one is a run of blanks."""
MOST_WORD_BYTES = 2 * 26
"""No token with letters is longer; the longest ones are the alphabet. The filter would take one in
256 phrases without blanks for one token, however long they are.
"""
_NO_LETTERS = frozenset(bytes((code, 0)) for code in range(0x80) if not chr(code).isalnum())
"""The characters of ASCII of which longer tokens are made, in UTF-16."""
MIXER = 0x9E3779B1
"""An odd number. The upper bits of a product with it depend on all bits of the other factor."""

_FILTER = pkgutil.get_data("bridge.tokens", FILE) or b""
_STARTS = len(_FILTER) // SEGMENT - 2
"""So many segments have two more after them."""


def is_whole(piece: str) -> bool:
    """Whether a piece is one token; wrong for one in 256 pieces that are several."""
    return _is_whole(piece.encode("utf-16-le", "surrogatepass"))


def _is_whole(encoded: bytes) -> bool:
    if len(encoded) > MOST_WORD_BYTES and encoded[2:4] not in _NO_LETTERS:
        return False
    return len(encoded) <= MOST_BYTES and _has(encoded)


def parts(piece: str) -> list[str]:
    """Take a piece apart, from the left, each time by the longest token that is found."""
    found: list[str] = []
    start = 0
    for end in ends(piece):
        found.append(piece[start:end])
        start = end
    return found


def ends(piece: str) -> list[int]:
    """Return where the parts of a piece end; it has no character that is two in UTF-16."""
    encoded = piece.encode("utf-16-le", "surrogatepass")
    found: list[int] = []
    start, size = 0, len(encoded)
    while start < size:
        end = start + 2 * LONGEST_PART
        if end > size:
            end = size
        elif encoded[start:end] == encoded[start : start + 2] * LONGEST_PART:
            end = _end_of_run(encoded, start) or end
        least = start + 2
        while end > least:
            # `_has` once more, since this is asked most often of all
            crc = crc32(encoded[start:end])
            mixed = crc * MIXER & 0xFFFFFFFF
            at = ((mixed >> 16) * _STARTS >> 16) * SEGMENT
            if (
                _FILTER[at + (crc & 0xFFF)]
                ^ _FILTER[at + SEGMENT + (crc >> 12 & 0xFFF)]
                ^ _FILTER[at + 2 * SEGMENT + (crc >> 20)]
            ) == mixed >> 8 & 0xFF:
                break
            end -= 2
        found.append(end >> 1)
        start = end
    return found


def _end_of_run(encoded: bytes, start: int) -> int:
    """Return where the longest token of one character ends; 0 if there is no long one."""
    for length in LONG_RUNS:
        end = start + 2 * length
        run = encoded[start:end]
        if run == encoded[start : start + 2] * length and _is_whole(run):
            return end
    return 0


def _has(encoded: bytes) -> bool:
    crc = crc32(encoded)
    mixed = crc * MIXER & 0xFFFFFFFF
    at = ((mixed >> 16) * _STARTS >> 16) * SEGMENT
    found = (
        _FILTER[at + (crc & 0xFFF)]
        ^ _FILTER[at + SEGMENT + (crc >> 12 & 0xFFF)]
        ^ _FILTER[at + 2 * SEGMENT + (crc >> 20)]
    )
    return found == mixed >> 8 & 0xFF
