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
SEGMENT = 1 << 12
"""The bytes of a segment. A piece has one byte in each of three neighbouring segments."""
MOST_BYTES = 2 * 128
"""No token is longer; the longest one is a run of blanks."""
MIXER = 0x9E3779B1
"""An odd number. The upper bits of a product with it depend on all bits of the other factor."""


def places(piece: str) -> tuple[int, int, int, int]:
    """Return a piece's share of all segments (in 65536ths), and its place in each of its three."""
    crc = crc32(piece.encode("utf-16-le", "surrogatepass"))
    mixed = crc * MIXER & 0xFFFFFFFF
    return mixed >> 16, crc & 0xFFF, crc >> 12 & 0xFFF, crc >> 20


def fingerprint(piece: str) -> int:
    """Return the value that the three bytes of a whole piece give together."""
    crc = crc32(piece.encode("utf-16-le", "surrogatepass"))
    return crc * MIXER >> 8 & 0xFF


_FILTER = pkgutil.get_data(__package__, FILE) or b""
_STARTS = len(_FILTER) // SEGMENT - 2
"""So many segments have two more after them."""


def is_whole(piece: str) -> bool:
    """Whether a piece is one token; wrong for one in 256 pieces that are several."""
    encoded = piece.encode("utf-16-le", "surrogatepass")
    if len(encoded) > MOST_BYTES:
        return False
    # `places` and `fingerprint` in one: this is asked once for each new piece.
    crc = crc32(encoded)
    mixed = crc * MIXER & 0xFFFFFFFF
    start = ((mixed >> 16) * _STARTS >> 16) * SEGMENT
    found = (
        _FILTER[start + (crc & 0xFFF)]
        ^ _FILTER[start + SEGMENT + (crc >> 12 & 0xFFF)]
        ^ _FILTER[start + 2 * SEGMENT + (crc >> 20)]
    )
    return found == mixed >> 8 & 0xFF
