"""Every limit of what comes in has a test, and every mark names a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.generator import limits


def test_every_limit_has_a_test_that_names_it() -> None:
    """Mark the test with `pytest.mark.limit`, or say in `OUR_OWN` why it isn't a limit."""
    assert limits.missing() == []


def test_every_mark_names_a_constant() -> None:
    assert limits.marked_tests().keys() <= limits.constants().keys()


def test_every_limit_says_in_words_what_it_limits() -> None:
    assert [name for name in limits.marked_tests() if not limits.constants()[name].words] == []


def test_what_is_no_limit_is_there_and_has_no_mark() -> None:
    ours = frozenset[str]().union(*limits.OUR_OWN.values())
    assert sorted(ours - limits.constants().keys()) == []
    assert sorted(ours & limits.marked_tests().keys()) == []


def test_constants_are_found_with_their_values_and_words(tmp_path: Path) -> None:
    (tmp_path / "bridge").mkdir()
    source = '''
KIB = 1024

MOST_BYTES: Final = 2 * KIB  # bytes of a line
# Items of
# a list.
MOST_ITEMS = 3
ONE_SECONDS = 60.0
TWO_SECONDS = 0.5
"""How long both
may take."""
NAME = "x"
MOST_UNKNOWN = len(NAME)
def f(): ...
'''
    (tmp_path / "bridge" / "a.py").write_text(source)
    found = limits.constants(tmp_path)
    told = [
        (limit.name.removeprefix("bridge.a."), limits.shown(limit), limit.words)
        for limit in found.values()
    ]
    assert told == [
        ("KIB", "1,024", ""),
        ("MOST_BYTES", "2 KiB", "bytes of a line"),
        ("MOST_ITEMS", "3", "Items of a list."),
        ("ONE_SECONDS", "1 min", "How long both may take."),
        ("TWO_SECONDS", "0.5 s", "How long both may take."),
    ]


@pytest.mark.parametrize("mark", ['"bridge.a.MOST"', '"bridge.b.MOST", "bridge.a.MOST"'])
def test_marks_are_read_from_the_sources(tmp_path: Path, mark: str) -> None:
    (tmp_path / "test_a.py").write_text(f"@pytest.mark.limit({mark})\ndef test_x(): ...\n")
    assert limits.marked_tests(tmp_path)["bridge.a.MOST"] == ["test_a.py::test_x"]
