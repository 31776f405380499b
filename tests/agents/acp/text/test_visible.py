"""Nothing in a text that a person approves is out of sight."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.text.visible import (
    LONGEST_WORD,
    cells,
    has_long_word,
    is_hidden,
    visible,
    visible_line,
)

ODD = "\u202e\u2066\u200b\u200d\ufeff\u00ad\ufe0f\U000e0041\u3164\u2800\x1b\x00\r\ud800\u00a0\u2028"
TEXTS = st.text(
    st.one_of(st.sampled_from(f" \t\nab`'$⟨↪漢\u0301{ODD}"), st.characters()), max_size=200
)


@given(TEXTS)
def test_nothing_that_cannot_be_seen_stands_there(text: str) -> None:
    shown = visible(text)
    assert not any(is_hidden(character) for character in shown)
    assert not any(unicodedata.category(character) == "Cf" for character in shown)
    shown.encode()


@given(TEXTS)
def test_all_that_can_be_seen_stands_there_in_order(text: str) -> None:
    shown = iter(visible(text))
    wanted = [one for one in text if not (one.isspace() or is_hidden(one) or one in "⟨↪\u0301")]
    assert all(character in shown for character in wanted)


@given(TEXTS, TEXTS)
def test_two_texts_that_run_differently_look_different(one: str, other: str) -> None:
    """Their visible characters and what is written for the others tell them apart."""
    if any(character in f"{one}{other}" for character in " \t\n\r"):
        return
    assert (visible(one) == visible(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("rm \u202etxt.exe", "rm ⟨U+202E⟩txt.exe"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\U000e0072\U000e006d", "a⟨U+E0072⟩⟨U+E006D⟩"),
        ("a\x1b[2Kb\rc", "a⟨U+001B⟩[2Kb⟨U+000D⟩c"),
        ("a\r\nb", "a\nb"),
        ("⟨U+202E⟩", "⟨U+27E8⟩U+202E⟩"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 5, "e" + "\u0301" * 3 + "⟨U+0301⟩⟨U+0301⟩"),
        ("ls" + " " * 33 + "; rm", "ls ⟨33 blanks⟩ ; rm"),
        ("ls" + " " * 32 + "; rm", "ls" + " " * 32 + "; rm"),
        ("\t" * 9 + "x", " ⟨9 blanks⟩ x"),
        ("a\n\n\nb", "a\n\n\nb"),
        ("a" + "\n" * 100 + "b", "a\n⟨99 empty lines⟩\nb"),
        ("a\n \n\t\n \nb", "a\n⟨3 empty lines⟩\nb"),
    ],
)
def test_what_would_hide_a_part_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_text_on_one_line_shows_its_line_ends_and_the_blanks_at_its_ends() -> None:
    assert visible_line("/a b\n/c") == "/a b⟨U+000A⟩/c"
    assert visible_line(" a ") == "⟨U+0020⟩a⟨U+0020⟩"
    assert visible_line("  ") == "⟨U+0020⟩⟨U+0020⟩"
    assert visible_line("") == ""


def test_a_word_is_long_by_the_room_that_it_takes() -> None:
    assert cells("a漢\u0301") == 4
    assert not has_long_word(f"{'a' * LONGEST_WORD} {'b' * LONGEST_WORD}\n")
    assert has_long_word(f"a {'b' * (LONGEST_WORD + 1)}")
    assert has_long_word("漢" * 11)
