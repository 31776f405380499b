"""How many tokens an image has: by the family of the model, and by its bytes where those tell."""

from __future__ import annotations

import math

PER_IMAGE = 1600
"""What Anthropic's models take for an image, whatever its size."""
BASE, PER_TILE = 85, 85
"""The others: so much for any image, and for each tile of it."""
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
