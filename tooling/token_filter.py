"""Write the filter of the pieces that are one token each in o200k_base.

python -m tooling.token_filter            writes bridge/tokens/whole_pieces.bin
python -m tooling.token_filter --check    fails if that is not the filter of the tokenizer

The filter is a binary fuse filter (Graf and Lemire, 2022). Each piece has three places in it, and
the bytes at these must give the fingerprint of the piece. The pieces are put in one after the
other, each at a place that no later one has: they are taken off in the opposite order first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from zlib import crc32

from bridge.tokens.pieces import PIECE
from bridge.tokens.whole import FILE, MIXER, SEGMENT
from tooling import exact_tokens

FILTER = Path(__file__).parent.parent / "bridge" / "tokens" / FILE
LEAST_ROOM = 1.12
"""Bytes for each piece. With fewer, no order is found; then a segment is added, and so on."""


class NoOrder(Exception):
    """The pieces can't be put into so many segments."""


def whole_pieces() -> Iterator[str]:
    """Yield each token that is a whole piece. The others are parts of a character, or several."""
    for token in exact_tokens.vocabulary():
        try:
            piece = token.decode()
        except UnicodeDecodeError:
            continue
        if PIECE.fullmatch(piece) and exact_tokens.count(piece) == 1:
            yield piece


def build(pieces: Iterable[str]) -> bytes:
    """Return the smallest filter of some pieces that can be had."""
    hashes = sorted({(_places(piece), _fingerprint(piece)) for piece in pieces})
    segments = max(3, int(len(hashes) * LEAST_ROOM / SEGMENT))
    while True:
        try:
            return _fill(hashes, segments)
        except NoOrder:
            segments += 1


def _places(piece: str) -> tuple[int, int, int, int]:
    """Return a piece's share of all segments (in 65536ths), and its place in each of its three."""
    crc = crc32(piece.encode("utf-16-le", "surrogatepass"))
    mixed = crc * MIXER & 0xFFFFFFFF
    return mixed >> 16, crc & 0xFFF, crc >> 12 & 0xFFF, crc >> 20


def _fingerprint(piece: str) -> int:
    """Return the value that the three bytes of a whole piece give together."""
    crc = crc32(piece.encode("utf-16-le", "surrogatepass"))
    return crc * MIXER >> 8 & 0xFF


def _fill(hashes: Sequence[tuple[tuple[int, int, int, int], int]], segments: int) -> bytes:
    keys = [_bytes_of(one, segments - 2) for one, _ in hashes]
    filled = bytearray(segments * SEGMENT)
    for key, place in reversed(_order(keys, len(filled))):
        value = hashes[key][1]
        for other in keys[key]:
            if other != place:
                value ^= filled[other]
        filled[place] = value
    return bytes(filled)


def _bytes_of(hashed: tuple[int, int, int, int], starts: int) -> tuple[int, int, int]:
    share, first, second, third = hashed
    start = (share * starts >> 16) * SEGMENT
    return start + first, start + SEGMENT + second, start + 2 * SEGMENT + third


def _order(keys: Sequence[tuple[int, int, int]], size: int) -> list[tuple[int, int]]:
    """Return each key with a place that no key after it has."""
    counts = [0] * size
    mixed = [0] * size  # the numbers of all keys at a place: of a single one it is its number
    for number, key in enumerate(keys):
        for place in key:
            counts[place] += 1
            mixed[place] ^= number
    alone = [place for place, count in enumerate(counts) if count == 1]
    order: list[tuple[int, int]] = []
    while alone:
        place = alone.pop()
        if counts[place] != 1:
            continue  # its key was taken off by another place
        number = mixed[place]
        order.append((number, place))
        for other in keys[number]:
            counts[other] -= 1
            mixed[other] ^= number
            if counts[other] == 1:
                alone.append(other)
    if len(order) < len(keys):
        raise NoOrder
    return order


def main(arguments: Sequence[str]) -> int:
    """Write the filter, or say whether it is up to date."""
    wanted = build(whole_pieces())
    if "--check" in arguments:
        return int(not FILTER.exists() or FILTER.read_bytes() != wanted)
    FILTER.parent.mkdir(parents=True, exist_ok=True)
    FILTER.write_bytes(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
