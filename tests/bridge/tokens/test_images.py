"""Images: by the rules of the library that this one can stand in for."""

from __future__ import annotations

import pytest

from bridge.tokens.images import estimate_image

TILE = 512 * 512 * 3


@pytest.mark.parametrize(
    ("size", "tokens"),
    [
        (0, 85),
        (1, 170),
        (TILE, 170),
        (TILE + 1, 85 + 4 * 85),
        (4 * TILE, 85 + 4 * 85),
        (9 * TILE, 85 + 9 * 85),
        (16 * TILE, 85 + 16 * 85),
        (1000 * TILE, 85 + 16 * 85),
    ],
)
def test_an_image_is_priced_by_its_tiles(size: int, tokens: int) -> None:
    assert estimate_image(size, "gpt-5") == tokens


@pytest.mark.parametrize("family", ["claude-sonnet", "Claude", "anthropic/opus"])
def test_some_models_take_the_same_for_any_image(family: str) -> None:
    assert estimate_image(1, family) == estimate_image(10**7, family) == 1600
