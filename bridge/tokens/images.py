"""Estimate the tokens of an image from the model's family, and from the size in its bytes."""

from __future__ import annotations

import math

PER_IMAGE = 1600
"""Tokens that Anthropic's models count for an image of any size."""
BASE, PER_TILE = 85, 85
"""Tokens that other models count for any image, and for each of its tiles."""
TILE_SIDE, LONGEST_SIDE = 512, 2048
BYTES_PER_PIXEL = 3
MOST = 1700


def estimate_image(size: int, family: str = "") -> int:
    """Return the estimated number of tokens of an image of so many bytes.

    Its dimensions aren't known without decoding it, so it is taken for a square of raw pixels.
    """
    family = family.lower()
    if "anthropic" in family or "claude" in family:
        return PER_IMAGE
    side = min(math.sqrt(size / BYTES_PER_PIXEL), LONGEST_SIDE)
    tiles = math.ceil(side / TILE_SIDE) ** 2
    return min(BASE + tiles * PER_TILE, MOST)
