"""What an agent wants to do is shown whole, or says what is missing, and hides nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.exhibit import (
    DEEPEST,
    MOST_ITEMS,
    TEXT_LENGTH,
    TITLE_LENGTH,
    WHOLE_LENGTH,
    Exhibit,
    title_of,
)

from .strategies import json_values

any_text = st.text(st.characters(exclude_categories=[]))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Read config.py", "Read config.py"),
        ("  two\n lines\t", "two lines"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("a\x1b]0;rm -rf /\x07b", "a]0;rm -rf /b"),
        ("nul\x00bell\x07", "nulbell"),
        ("\u202etxt.exe", "txt.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("\ud83d", ""),
        ("\u2028line", "line"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("⚠\ufe0f", "⚠\ufe0f"),
        ("soft\u00ad\U000e0041\u3164hyphen", "softhyphen"),
        ("", ""),
    ],
)
def test_a_title_is_one_line_that_can_be_seen(text: str, title: str) -> None:
    assert title_of(text) == title


@given(any_text)
def test_a_title_is_short_and_can_be_sent(text: str) -> None:
    title = title_of(text * 50)
    assert len(title) <= TITLE_LENGTH
    assert "\n" not in title
    assert "\x1b" not in title
    title.encode()


@pytest.mark.limit("agents.acp.exhibit.TITLE_LENGTH")
def test_a_title_that_is_cut_says_so() -> None:
    assert title_of("x" * TITLE_LENGTH) == "x" * TITLE_LENGTH
    assert title_of("x" * 10_000) == "x" * (TITLE_LENGTH - 1) + "…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\n\tlines\n", "two\n\tlines\n"),
        ("dos\r\nlines", "dos\nlines"),
        ("rm -rf / \rls      ", "rm -rf / ␍ls      "),
        ("\x1b]0;x\x07", "␛]0;x␇"),
        ("\x7f\x85", "␡\ufffd"),
        ("\u202etxt", "\ufffdtxt"),
        ("\ud83d", "\ufffd"),
        ("a\u3164\U000e0041b", "a\ufffd\ufffdb"),
        ("dix\u00a0% 👩\u200d💻⚠\ufe0f", "dix\u00a0% 👩\u200d💻⚠\ufe0f"),
    ],
)
@pytest.mark.checklist(34)
def test_what_is_hidden_in_a_text_is_shown(text: str, shown: str) -> None:
    assert Exhibit().text(text) == shown


@pytest.mark.limit("agents.acp.exhibit.TEXT_LENGTH")
def test_the_middle_of_a_long_text_is_left_out_and_its_end_is_shown() -> None:
    shown = Exhibit().text("a" * 10_000 + "; rm -rf /")
    assert shown.startswith("aaa")
    assert shown.endswith("; rm -rf /")
    assert f"… {10_010 - TEXT_LENGTH:,} characters left out …" in shown
    assert len(shown) < TEXT_LENGTH + 100


def test_json_is_shown_as_it_is() -> None:
    value: Any = {"a": [1, 2.5, None, True, "x"], "b": {"c": {}}}
    assert Exhibit().value(value) == value


def test_keys_are_shown_as_texts_are() -> None:
    assert Exhibit().value({"a\x00": 1}) == {"a␀": 1}


@pytest.mark.limit("agents.acp.exhibit.MOST_ITEMS")
def test_long_lists_and_objects_say_how_much_is_missing() -> None:
    shown = Exhibit().value(list(range(MOST_ITEMS + 5)))
    assert shown == [*range(MOST_ITEMS), "… 5 more"]
    shown = Exhibit().value({str(at): at for at in range(MOST_ITEMS + 5)})
    assert len(shown) == MOST_ITEMS + 1
    assert shown["…"] == "5 more"
    whole = list(range(MOST_ITEMS))
    assert Exhibit().value(whole) == whole
    assert Exhibit().value({str(at): at for at in whole}) == {str(at): at for at in whole}


@pytest.mark.limit("agents.acp.exhibit.DEEPEST")
def test_deep_structures_end() -> None:
    value: Any = "bottom"
    for _ in range(2_000):
        value = [value]
    shown = Exhibit().value(value)
    for _ in range(DEEPEST):
        (shown,) = shown
    assert shown == "…"


def test_there_is_one_room_for_all() -> None:
    exhibit = Exhibit()
    shown = [exhibit.text("x" * TEXT_LENGTH) for _ in range(8)]
    assert shown[0] == "x" * TEXT_LENGTH
    assert shown[-1] == f"… {TEXT_LENGTH:,} characters left out …"
    assert exhibit.value(["more"]) == "…"
    assert exhibit.value(7) == 7


@pytest.mark.limit("agents.acp.exhibit.WHOLE_LENGTH")
@given(st.recursive(json_values, lambda inner: inner.map(lambda value: [value] * 50)))
@pytest.mark.checklist(34)
def test_whatever_is_shown_is_bounded_and_can_be_sent(value: Any) -> None:
    shown = Exhibit().value([[value] * 200] * 200)
    assert len(msgspec.json.encode(shown)) < 10 * WHOLE_LENGTH
