"""Many values are replaced in a text in one pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.occurrences import SHORTEST_VALUE, Occurrences
from tests.growth import assert_linear

VALUES = st.sets(st.text("ab", min_size=SHORTEST_VALUE, max_size=9), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("values", "text", "shown"),
    [
        ([], "hunter2", "hunter2"),
        (["hunter2"], "", ""),
        (["hunter2"], "hunter", "hunter"),
        (["hunter2"], "hunter2", "#"),
        (["hunter2"], "a hunter2, a hunter2hunter2!", "a #, a ##!"),
        (["hunter2", "hunter2-and-more"], "hunter2-and-more, hunter2-and-", "#, #-and-"),
        (["hunter2", "2-and-more"], "a hunter2-and-more", "a #"),
        (["hunter2", "hunter3"], "hunter1", "hunter1"),
        (["x" * 90 + "1", "x" * 90 + "12", "x" * 90], "x" * 90 + "123", "#3"),
        (["x" * 90 + "1", "x" * 70], "x" * 80, "#"),
        (["x" * 90 + "1"], "x" * 91, "x" * 91),
    ],
)
def test_values_are_replaced(values: list[str], text: str, shown: str) -> None:
    assert Occurrences(values).replace(text, "#") == shown


@given(VALUES, st.text("ab", max_size=60))
def test_just_the_characters_of_values_are_replaced(values: set[str], text: str) -> None:
    covered = {
        place
        for value in values
        for start in range(len(text))
        if text.startswith(value, start)
        for place in range(start, start + len(value))
    }
    left = "".join(one for place, one in enumerate(text) if place not in covered)
    assert Occurrences(values).replace(text, "#").replace("#", "") == left


@pytest.mark.parametrize("piece", ["sk-shared-", "number-00001 ", "other words ", "s"])
def test_the_time_grows_with_the_text(piece: str) -> None:
    found = Occurrences([f"sk-shared-number-{n:05}" for n in range(1_000)])
    assert_linear(lambda size: piece * (size // len(piece)), lambda t: found.replace(t, "#"), 5_000)


def test_the_time_does_not_grow_with_the_number_of_values() -> None:
    text = "sk-shared-number-00000 sk-shared-" * 200

    def made(count: int) -> Occurrences:
        return Occurrences([f"sk-shared-number-{n:05}" for n in range(count)])

    assert_linear(made, lambda found: found.replace(text, "#"), 500)
