"""Estimate the tokens of an image: by its size in pixels, and the formula of the model's family.

The size is read from the first bytes, without decoding the image. All numbers are integers, so that
the extension's counts are equal (`extension/src/tokens/image.ts`).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Size: TypeAlias = tuple[int, int]
"""Width and height, in pixels."""

READ_BYTES = 196_608
"""A JPEG has its size behind its other records, such as a thumbnail. Further behind isn't read."""
LONGEST_SIDE = 65_535
"""The longest side of a JPEG or GIF; a longer one is no size that a server takes."""
DEFAULT_SIZE: Size = (1920, 1080)
"""The size of an image that doesn't tell its own: that of a common screen."""

OPENAI_BASE, OPENAI_TILE = 85, 170
"""GPT-4o and GPT-4.1 count these for an image, and for each tile of it."""
OPENAI_SIDE, OPENAI_LONGEST, OPENAI_SHORTEST = 512, 2048, 768
"""The side of a tile; the sides that a larger image is scaled to first."""
ANTHROPIC_PIXELS, ANTHROPIC_LONGEST, ANTHROPIC_MOST = 750, 1568, 1600
"""The pixels of a token; the side and the tokens that a larger image is scaled to."""
GEMINI_TILE, GEMINI_SMALL, GEMINI_SIDE, GEMINI_LONGEST = 258, 384, 768, 3072
"""The tokens of a small image or a tile; their sides; the side that a larger one is scaled to."""


def estimate_image(data: bytes, family: str = "") -> int:
    """Return the estimated number of tokens of an image; an unknown family is counted as OpenAI."""
    width, height = image_size(data) or DEFAULT_SIZE
    family = family.lower()
    if "anthropic" in family or "claude" in family:
        return _anthropic(width, height)
    if "gemini" in family or "google" in family:
        return _gemini(width, height)
    return _openai(width, height)


def _openai(width: int, height: int) -> int:
    width, height = _within(width, height, max(width, height), OPENAI_LONGEST)
    width, height = _within(width, height, min(width, height), OPENAI_SHORTEST)
    return OPENAI_BASE + OPENAI_TILE * _tiles(width, height, OPENAI_SIDE)


def _anthropic(width: int, height: int) -> int:
    width, height = _within(width, height, max(width, height), ANTHROPIC_LONGEST)
    return min(-(-(width * height) // ANTHROPIC_PIXELS), ANTHROPIC_MOST)


def _gemini(width: int, height: int) -> int:
    if max(width, height) <= GEMINI_SMALL:
        return GEMINI_TILE
    width, height = _within(width, height, max(width, height), GEMINI_LONGEST)
    return GEMINI_TILE * _tiles(width, height, GEMINI_SIDE)


def _within(width: int, height: int, side: int, most: int) -> Size:
    """Return the size that one of the sides is scaled to, if that is too long."""
    if side <= most:
        return width, height
    return max(1, width * most // side), max(1, height * most // side)


def _tiles(width: int, height: int, side: int) -> int:
    return -(-width // side) * -(-height // side)


def image_size(data: bytes) -> Size | None:
    """Return the size of a PNG, a JPEG, a GIF or a WebP; None if it can't be read."""
    head = data[:READ_BYTES]
    size: Size | None = None
    if head.startswith(b"\x89PNG\r\n\x1a\n") and head[12:16] == b"IHDR":
        size = _number(head, 16, 4, "big"), _number(head, 20, 4, "big")
    elif head.startswith((b"GIF87a", b"GIF89a")):
        size = _number(head, 6, 2), _number(head, 8, 2)
    elif head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        size = _webp(head)
    elif head.startswith(b"\xff\xd8"):
        size = _jpeg(head)
    if size is None or not all(1 <= side <= LONGEST_SIDE for side in size):
        return None
    return size


def _number(head: bytes, at: int, size: int, order: Literal["big", "little"] = "little") -> int:
    """Return a number; 0 if it is cut off."""
    found = head[at : at + size]
    if len(found) < size:
        return 0
    return int.from_bytes(found, order)


def _webp(head: bytes) -> Size | None:
    match head[12:16]:
        case b"VP8 ":  # 14 bits each, and 2 that say how to enlarge it
            return _number(head, 26, 2) & 0x3FFF, _number(head, 28, 2) & 0x3FFF
        case b"VP8L" if bits := _number(head, 21, 4):
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X" if len(head) >= 30:
            return _number(head, 24, 3) + 1, _number(head, 27, 3) + 1
        case _:
            return None


_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""The markers of a JPEG's records that begin with its size."""


def _jpeg(head: bytes) -> Size | None:
    at = 2
    while at + 4 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:  # markers may begin with several of these
            at += 1
        elif marker in _FRAMES:
            return _number(head, at + 7, 2, "big"), _number(head, at + 5, 2, "big")
        else:
            at += 2 + max(2, _number(head, at + 2, 2, "big"))
    return None
