from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.render.python_text import fields_in

SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
VALUES = SCALARS | st.lists(SCALARS, max_size=3)


@attrs.define
class Match:
    """An object within a result."""

    line: int
    text: str


@given(st.dictionaries(st.sampled_from(["content", "error", "x_1", "Y"]), VALUES, min_size=2))
def test_an_object_that_python_shows_is_read(fields: dict[str, Any]) -> None:
    text = " ".join(f"{name}={value!r}" for name, value in fields.items())
    assert fields_in(text) == fields


def test_what_is_within_an_object_is_read() -> None:
    found = [Match(1, "it's (a=1)")]
    shown = f"matches={found!r} error=None place=(1, -2) kinds={{'a': 1}} when=now(1)"
    assert fields_in(shown) == {
        "matches": [{"line": 1, "text": "it's (a=1)"}],
        "error": None,
        "place": [1, -2],
        "kinds": {"a": 1},
        "when": "now(1)",
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello",
        "a=1",
        "a=1 b",
        "a=1, b=2",
        "a=1 b='",
        "a=1 a=2",
        "a=1 b='" + r"\'" * 50_000,
        "a=1) + f(b=2 c=3",
        "a=1 b=" + "(" * 500,
        "a=1 b=\0",
        "PATH=/bin HOME=/root",
        "a='" + "x" * 200_000 + "' b=1",
    ],
)
def test_other_text_is_no_object(text: str) -> None:
    assert fields_in(text) is None


def test_escapes_that_python_does_not_know_are_nothing_odd() -> None:
    assert fields_in(r"a='\d' b=1") == {"a": r"\d", "b": 1}
