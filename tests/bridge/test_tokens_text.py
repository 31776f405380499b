"""The estimate of a text: what holds of any text, and what is kept of old ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge import tokens_text
from bridge.tokens_pieces import PIECE
from bridge.tokens_table import LENGTHS, WEIGHTS
from bridge.tokens_text import UNFITTED_HAN, UNIT, estimate_text, slots

any_text = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" ", 1),
        ("a", 1),
        ("\n", 1),
        ("hello", 1),
        ("hello world", 2),
        ("1234567890", 4),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("def f(x):\n    return x + 1\n", 11),
    ],
)
def test_plain_texts_have_the_tokens_that_the_tokenizer_says(text: str, tokens: int) -> None:
    assert estimate_text(text) == tokens


@given(any_text)
def test_a_text_has_a_token_and_no_more_than_its_bytes(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert bool(text) <= estimate_text(text) <= 4 * len(whole)
    if text.isascii():
        assert estimate_text(text) <= len(text)


@given(any_text)
def test_a_text_has_at_least_a_token_for_each_piece(text: str) -> None:
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    assert estimate_text(text) >= len(PIECE.findall(whole))


@given(any_text, any_text)
def test_lines_have_the_tokens_that_they_have_alone(text: str, more: str) -> None:
    both = estimate_text(f"{text}x\nx{more}")
    assert abs(both - estimate_text(f"{text}x") - estimate_text(f"x{more}") - 1) <= 1  # rounding


def test_a_character_in_halves_is_the_character() -> None:
    assert estimate_text("\ud83d\ude00" * 20) == estimate_text("😀" * 20)


def test_half_a_character_is_a_character_of_its_own() -> None:
    assert estimate_text("\ude00\ud83d") >= 1


@given(any_text.filter(bool))
def test_a_price_is_the_sum_over_its_slots(text: str) -> None:
    """The loop that adds prices is written apart from what the table was fitted with."""
    lengths = [int(length) for length in LENGTHS.split()]
    for piece in PIECE.findall(text):
        total = sum(tokens_text._WEIGHTS[slot] for slot in slots(piece))  # pyright: ignore[reportPrivateUsage]
        total += lengths[min(len(piece), len(lengths) - 1)]
        total += UNFITTED_HAN * sum("\u2e80" <= character < "\ua000" for character in piece)
        price = tokens_text._price(piece)  # pyright: ignore[reportPrivateUsage]
        if slots(piece):
            least = UNIT * (1 + len(piece) // 128)
            most = UNIT * len(piece) * (1 if piece.isascii() else 4)
            assert price == min(max(total, least), most)
        else:
            assert price == UNIT


def test_the_table_is_small() -> None:
    assert len(WEIGHTS) < 96 * 1024


def test_prices_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_text, "KNOWN_PRICES", 3)
    prices = tokens_text._Prices()  # pyright: ignore[reportPrivateUsage]
    for piece in ("ab", "cd", "ef", "gh"):
        assert prices[piece] == prices[piece] >= UNIT
        assert len(prices) <= 3
    assert "gh" in prices


def test_the_price_of_a_long_piece_is_not_kept() -> None:
    prices = tokens_text._Prices()  # pyright: ignore[reportPrivateUsage]
    assert prices["=" * 1000] >= 8 * UNIT
    assert not prices
