"""Where text is cut: as o200k_base cuts it, which the accuracy rests on."""

# ruff: noqa: RUF001  # full-width marks are meant
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tokens.pieces import BLANKS, CAPITALS, LETTERS, NUMBERS, PIECE


@given(st.text(st.characters(exclude_categories=())))
def test_the_pieces_are_the_whole_text(text: str) -> None:
    assert "".join(PIECE.findall(text)) == text


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("one two", ["one", " two"]),
        ("one  two", ["one", " ", " two"]),
        ("camelCase HTTPServer", ["camel", "Case", " HTTPServer"]),
        ("don't I'VE don'the l'état", ["don't", " I'VE", " don't", "he", " l", "'état"]),
        ("snake_case", ["snake", "_case"]),
        ("12345 ½", ["123", "45", " ", "½"]),
        ("x = {};\n\n  y", ["x", " =", " {};\n\n", " ", " y"]),
        ("a\n \n\tb", ["a", "\n \n", "\tb"]),
        ("a   ", ["a", "   "]),
        ("http://x/\n", ["http", "://", "x", "/\n"]),
        ("你好，世界", ["你好", "，世界"]),
        ("Привет МИР", ["Привет", " МИР"]),
        ("🎉🎉 ok", ["🎉🎉", " ok"]),
        ("\ud800", ["\ud800"]),
    ],
)
def test_text_is_cut_as_the_tokenizer_cuts_it(text: str, pieces: list[str]) -> None:
    assert PIECE.findall(text) == pieces


def test_no_character_is_of_two_sorts() -> None:
    seen: set[int] = set()
    for ranges in (CAPITALS, LETTERS, NUMBERS, BLANKS):
        for one in ranges.split():
            first, _, last = one.partition("-")
            codes = set(range(int(first, 16), int(last or first, 16) + 1))
            assert codes, one
            assert not codes & seen, one
            seen |= codes
