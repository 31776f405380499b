from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.edits import known
from agents.acp.edits.known import KnownTexts

ALL = range(sys.maxsize)
OLD = "a\nb\nc\nd\n"


def after(new: str, *parts: range, old: str = OLD) -> str | None:
    """Return what an agent knows that has read all of the old text, and parts of the new one."""
    texts = KnownTexts()
    texts.note("f", old)
    for lines in parts:
        texts.note_lines("f", new, lines)
    assert texts.is_uncertain("f") is (texts.of("f") is None)
    return texts.of("f")


def test_nothing_is_known_of_another_file() -> None:
    texts = KnownTexts()
    texts.note("f", OLD)
    assert texts.of("g") is None
    assert not texts.is_uncertain("g")


def test_lines_of_an_unknown_file_stand_for_all_of_it() -> None:
    texts = KnownTexts()
    texts.note_lines("f", OLD, range(1))
    assert texts.of("f") == OLD


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        ("a\nB\nc\nd\n", range(1, 2)),
        ("a\nB\nC\nd\n", range(1, 9)),
        ("a\nb\nc\nd\nmine\n", range(4, 5)),
        ("mine\na\nb\nc\nd\n", range(1)),
        ("a\nc\nd\n", range(2)),
        ("b\nc\nd\n", range(1)),
        ("a\nb\nc\n", range(2, 9)),
        ("", range(1)),
        (OLD, range(9, 9)),
    ],
)
def test_lines_that_have_changed_are_known_when_all_are_read(new: str, lines: range) -> None:
    assert after(new, lines) == new


@pytest.mark.parametrize(
    ("new", "lines"),
    [
        ("a\nB\nc\nd\n", range(1)),
        ("a\nB\nc\nd\n", range(2, 9)),
        ("a\nb\nc\nd\nmine\n", range(4)),
        ("a\nb\nd\n", range(1)),
        ("A\nb\nc\nd\n", range(1, 9)),
    ],
)
def test_other_lines_leave_the_old_text_known(new: str, lines: range) -> None:
    assert after(new, lines) == OLD


NEW = "A\nb\nc\nD\n"


def test_an_agent_that_has_read_some_changed_lines_reads_the_whole_file() -> None:
    assert after(NEW, range(2)) is None
    assert after(NEW, range(2), range(3, 4)) is None
    assert after(NEW, range(2), range(2, 4)) == NEW
    assert after(NEW, range(2, 4), range(2)) == NEW
    assert after(NEW, range(2), range(3, 4), range(2)) is None
    assert after(NEW, range(2), ALL) == NEW
    assert after(NEW, range(3), range(3), range(1, 4)) == NEW


def test_parts_of_two_texts_are_not_a_whole_one() -> None:
    texts = KnownTexts()
    texts.note("f", OLD)
    texts.note_lines("f", NEW, range(2))
    texts.note_lines("f", "A\nb\nC\nD\n", range(2, 4))
    assert texts.is_uncertain("f")
    texts.note_lines("f", "A\nb\nC\nD\n", range(2))
    assert texts.of("f") == "A\nb\nC\nD\n"


def test_a_text_in_doubt_is_known_when_all_of_it_is_read() -> None:
    texts = KnownTexts()
    texts.note("f", OLD)
    texts.doubt("f")
    assert texts.is_uncertain("f")
    texts.note_lines("f", OLD, range(2))
    assert texts.is_uncertain("f")
    texts.note_lines("f", OLD, range(2, 4))
    assert texts.of("f") == OLD


def test_line_ends_are_no_change() -> None:
    new = "\ufeffa\r\nb\r\nc\r\nD\r\n"
    assert after(new, range(1)) == OLD
    assert after(new, range(3, 4)) == new


def test_the_oldest_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MOST_REMEMBERED", 2 * len(OLD))
    texts = KnownTexts()
    for path in ("f", "g"):
        texts.note(path, OLD)
    texts.note_lines("f", NEW, range(2))
    texts.note("f", OLD)
    texts.note("h", "x")
    assert [texts.of(path) for path in "fgh"] == [OLD, None, "x"]
    texts.note("h", "x" * (3 * len(OLD)))
    assert texts.of("f") is None
    assert texts.of("h") is not None


LINES = st.lists(st.sampled_from("abc"), max_size=6)


@given(LINES, LINES, st.integers(0, 6), st.integers(0, 6))
def test_what_is_known_is_what_was_shown(
    old: list[str], new: list[str], first: int, count: int
) -> None:
    """The lines that are taken for known are those that were shown, or that were known before."""
    lines = range(first, first + count)
    known_now = after("\n".join(new), lines, old="\n".join(old))
    if known_now == "\n".join(new):
        rest = max(0, len(new) - lines.stop)
        assert old[:first] == new[:first]
        assert old[len(old) - rest :] == new[len(new) - rest :]
    else:
        assert known_now in (None, "\n".join(old))
