"""The filter of whole pieces: it never misses one, and seldom takes another for one."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tokens import whole
from bridge.tokens.whole import LONGEST_PART, ends, is_whole, parts
from tooling import token_filter

# Half characters, too, but no character that is two halves in UTF-16.
plane = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=()))


def test_every_whole_piece_is_known() -> None:
    pieces = list(token_filter.whole_pieces())
    assert len(pieces) > 190_000
    assert all(map(is_whole, pieces))


def test_another_piece_is_seldom_taken_for_one() -> None:
    chance = random.Random(3)
    others = ["".join(chance.choices(string.ascii_letters, k=10)) for _ in range(50_000)]
    assert sum(map(is_whole, others)) / len(others) < 1.2 / 256


def test_what_is_longer_than_any_token_is_none() -> None:
    assert is_whole(" " * 128)
    assert not any(is_whole(letter * size) for letter in " a" for size in range(129, 2000))
    assert not any(is_whole(letter * size) for letter in "a你é\x81" for size in range(27, 129))


@given(plane)
def test_the_parts_of_a_piece_are_the_piece(piece: str) -> None:
    assert "".join(parts(piece)) == piece
    assert all(parts(piece))
    assert ends(piece)[-1:] == [len(piece)][: len(piece)]


@given(plane)
def test_each_part_is_a_token_or_a_character(piece: str) -> None:
    assert all(len(part) == 1 or is_whole(part) for part in parts(piece))


@given(plane)
def test_no_longer_part_begins_where_a_part_begins(piece: str) -> None:
    start = 0
    for part in parts(piece):
        for size in range(len(part) + 1, min(LONGEST_PART, len(piece) - start) + 1):
            assert not is_whole(piece[start : start + size])
        start += len(part)


@pytest.mark.parametrize(
    ("piece", "taken"),
    [
        ("", []),
        ("tokenizers", ["token", "izers"]),
        ("=" * 90, ["=" * 64, "=" * 16, "=" * 8, "=="]),
        ("q" * 18, ["qq"] * 9),
    ],
)
def test_a_piece_is_taken_apart_by_the_longest_tokens(piece: str, taken: list[str]) -> None:
    assert parts(piece) == taken


@given(st.sets(st.text(st.characters(exclude_categories=()), max_size=13), max_size=300))
def test_a_filter_of_any_pieces_has_them(pieces: set[str]) -> None:
    filled = token_filter.build(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(whole, "_FILTER", filled)
        patch.setattr(whole, "_STARTS", len(filled) // whole.SEGMENT - 2)
        assert all(map(is_whole, pieces))


def test_a_filter_that_is_too_full_gets_another_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(token_filter, "LEAST_ROOM", 1.0)
    chance = random.Random(4)
    pieces = {"".join(chance.choices(string.ascii_letters, k=12)) for _ in range(12_000)}
    filled = token_filter.build(pieces)
    assert len(filled) > 12_288
    assert len(filled) % whole.SEGMENT == 0
