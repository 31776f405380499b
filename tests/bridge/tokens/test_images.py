"""Images: their size is read from their first bytes, and priced by the family's formula."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tokens.images import (
    DEFAULT_SIZE,
    GEMINI_SMALL,
    GEMINI_TILE,
    LONGEST_SIDE,
    OPENAI_BASE,
    OPENAI_TILE,
    READ_BYTES,
    Size,
    estimate_image,
    image_size,
)
from tooling.token_vectors import gif, jpeg, png, webp

FORMATS: dict[str, Callable[[Size], bytes]] = {
    "png": png,
    "gif": gif,
    "jpeg": jpeg,
    "webp": lambda size: webp(size, "VP8 "),
    "lossless webp": lambda size: webp(size, "VP8L"),
    "extended webp": lambda size: webp(size, "VP8X"),
}
SIZES: list[Size] = [(1, 1), (640, 480), (1920, 1080), (3000, 4000), (16_383, 1)]
SCREEN = png((1920, 1080))
sides = st.integers(1, LONGEST_SIDE)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("size", SIZES)
def test_the_size_is_read_from_the_first_bytes(form: str, size: Size) -> None:
    image = FORMATS[form](size)
    assert image_size(image) == size
    assert image_size(image + b"more" * 100_000) == size


@pytest.mark.parametrize("form", FORMATS)
def test_an_image_that_is_cut_off_has_no_size(form: str) -> None:
    image = FORMATS[form]((300, 200))
    whole = next(n for n in range(len(image) + 1) if image_size(image[:n]) is not None)
    assert all(image_size(image[:n]) is None for n in range(whole))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg/>",
        b"RIFF....WAVEfmt ",
        b"RIFF....WEBPALPH" + bytes(20),
        png((0, 10)),
        png((10, 0)),
        gif((0, 0)),
        webp((0, 0), "VP8 "),
        png((LONGEST_SIDE + 1, 10)),
        png((2**32 - 1, 2**32 - 1)),
        b"\xff\xd8\xff\xd9",
        b"\xff\xd8 no marker",
        b"\xff\xd8" + b"\xff" * 1000,
    ],
)
def test_what_has_no_size_is_counted_like_a_screen(data: bytes) -> None:
    assert image_size(data) is None
    assert estimate_image(data, "gpt") == estimate_image(png(DEFAULT_SIZE), "gpt") == 1105


@pytest.mark.limit("bridge.tokens.images.READ_BYTES")
@pytest.mark.parametrize("over", [0, 1])
def test_a_size_behind_many_records_is_not_read(over: int) -> None:
    frame = len(jpeg((640, 480), 0)) - 2
    image = jpeg((640, 480), READ_BYTES - frame - 2 + over)
    assert (image_size(image[:READ_BYTES]) is None) is bool(over)
    assert (image_size(image) is None) is bool(over)


@given(st.binary(max_size=200), st.sampled_from(["", *"abcdef"]))
def test_any_bytes_have_some_tokens(rest: bytes, which: str) -> None:
    """Cut off, or with anything behind its beginning, an image has a price all the same."""
    begin = list(FORMATS.values())["abcdef".index(which)]((9, 9))[:20] if which else b""
    for family in ("gpt", "claude", "gemini"):
        assert 1 <= estimate_image(begin + rest, family) <= 6000


@pytest.mark.parametrize(
    ("family", "size", "tokens"),
    [
        ("gpt-4o", (1920, 1080), 85 + 6 * 170),
        ("", (1920, 1080), 85 + 6 * 170),
        ("gpt-4o", (512, 512), 85 + 170),
        ("gpt-4o", (513, 512), 85 + 2 * 170),
        ("gpt-4o", (1024, 1024), 85 + 4 * 170),  # scaled to 768 by 768
        ("gpt-4o", (2048, 4096), 85 + 6 * 170),  # scaled to 1024 by 2048, and to 768 by 1536
        ("gpt-4o", (65_535, 1), 85 + 4 * 170),
        ("Claude Sonnet", (1000, 1000), 1334),
        ("anthropic/opus", (200, 200), 54),
        ("claude", (1920, 1080), 1600),
        ("claude", (3136, 100), 105),  # scaled to 1568 by 50
        ("gemini-2.5-pro", (384, 384), 258),
        ("gemini-2.5-pro", (385, 10), 258),
        ("google/gemini", (1920, 1080), 6 * 258),
        ("Gemini", (769, 768), 2 * 258),
        ("Gemini", (30_720, 30_720), 16 * 258),
    ],
)
def test_each_family_has_its_formula(family: str, size: Size, tokens: int) -> None:
    assert estimate_image(png(size), family) == tokens


@given(sides, sides, st.sampled_from(["gpt", "claude", "gemini"]))
def test_an_image_on_its_side_has_as_many_tokens(width: int, height: int, family: str) -> None:
    tokens = estimate_image(png((width, height)), family)
    assert tokens == estimate_image(png((height, width)), family)
    assert tokens <= {"gpt": OPENAI_BASE + 8 * OPENAI_TILE, "claude": 1600}.get(family, 16 * 258)


@given(st.integers(1, GEMINI_SMALL), st.integers(1, GEMINI_SMALL))
def test_a_small_image_is_a_single_tile(width: int, height: int) -> None:
    assert estimate_image(png((width, height)), "gemini") == GEMINI_TILE
    assert estimate_image(png((width, height)), "gpt") == OPENAI_BASE + OPENAI_TILE


def test_the_bytes_of_an_image_count_for_nothing() -> None:
    assert estimate_image(SCREEN + bytes(250_000)) == estimate_image(SCREEN) == 1105
