from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.shortening import NOTE, shortened, size_of

LEFT_OUT = re.compile(r"\n\[… ([\d,]+) characters left out …\]\n")
FAMILY = "\U0001f468\N{ZERO WIDTH JOINER}\U0001f469\N{ZERO WIDTH JOINER}\U0001f467"
HAND = "\U0001f44b\U0001f3fd"
ACCENT = "e\N{COMBINING ACUTE ACCENT}"
LETTERS = st.sampled_from(["a", "é", "漢", "\U0001f600", FAMILY, HAND, ACCENT, "\r\n", "\n"])


def test_what_is_short_enough_stays() -> None:
    assert shortened("漢字", 6) == "漢字"


def test_the_beginning_is_longer_than_the_end() -> None:
    assert shortened("a" * 50 + "b" * 50, 9) == "aaaaaa\n[… 91 characters left out …]\nbbb"


def test_nothing_but_a_note_may_be_left() -> None:
    assert shortened("abc", 0) == "\n[… 3 characters left out …]\n"


@pytest.mark.parametrize("letter", [FAMILY, HAND, ACCENT, "\r\n"])
@pytest.mark.parametrize("most", range(40))
def test_what_a_reader_takes_for_one_character_is_not_cut(letter: str, most: int) -> None:
    begins, _, ends = LEFT_OUT.split(shortened(letter * 20, most))
    assert begins == letter * (len(begins) // len(letter))
    assert ends == letter * (len(ends) // len(letter))


def test_the_halves_of_a_character_stay_together() -> None:
    halves = "\ud83d\ude00" * 20
    for most in range(40):
        begins, _, ends = LEFT_OUT.split(shortened(halves, most))
        assert len(begins) % 2 == len(ends) % 2 == 0


def test_a_letter_of_another_size_counts_with_all_its_bytes() -> None:
    assert (size_of("a"), size_of("é"), size_of("漢"), size_of("\U0001f600")) == (1, 2, 3, 4)


@given(st.lists(LETTERS).map("".join), st.integers(0, 200))
def test_what_is_missing_is_counted_and_the_rest_is_as_it_was(text: str, most: int) -> None:
    told = shortened(text, most)
    found = LEFT_OUT.search(told)
    if found is None:
        assert told == text
        assert size_of(text) <= most
        return
    begins, missing, ends = (
        told[: found.start()],
        int(found[1].replace(",", "")),
        told[found.end() :],
    )
    assert text.startswith(begins)
    assert text.endswith(ends)
    assert len(begins) + missing + len(ends) == len(text)
    assert size_of(begins) + size_of(ends) <= most
    assert size_of(found[0]) <= NOTE
    assert not (ends and unicodedata.combining(ends[0]))
