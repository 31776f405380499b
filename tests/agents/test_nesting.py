"""Values of peers are cut where they are too deep, without any recursion."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.nesting import DEEPEST_LEVELS, is_deep, json_in, shallow


def nested(levels: int, kind: str = "list", core: Any = 1) -> Any:
    """Return a value of so many lists or objects within each other."""
    for _ in range(levels):
        core = [core] if kind == "list" else {"a": core}
    return core


@pytest.mark.limit("agents.nesting.DEEPEST_LEVELS")
@pytest.mark.parametrize("kind", ["list", "object"])
@pytest.mark.parametrize("core", [1, "text", None])
def test_the_limit_is_not_deep_and_one_more_is(kind: str, core: Any) -> None:
    assert not is_deep(nested(DEEPEST_LEVELS, kind, core))
    assert is_deep(nested(DEEPEST_LEVELS + 1, kind, core))
    assert not is_deep(core)


@pytest.mark.parametrize("kind", ["list", "object"])
def test_what_is_deeper_is_empty(kind: str) -> None:
    inner: Any = [] if kind == "list" else {}
    assert shallow(nested(4, kind), 3) == nested(3, kind, inner)
    assert shallow([1, {"a": [2], "b": 3}], 2) == [1, {"a": [], "b": 3}]
    assert shallow([[1], {"a": 2}, 3], 1) == [[], {}, 3]


def test_a_value_that_is_not_deep_is_returned_as_it_is() -> None:
    value = nested(DEEPEST_LEVELS)
    assert shallow(value) is value


def test_a_value_keeps_what_was_cut_out_of_its_copy() -> None:
    value = nested(5)
    assert shallow(value, 2) == [[[]]]
    assert value == nested(5)


@pytest.mark.parametrize("kind", ["list", "object"])
def test_no_depth_is_too_deep_to_be_cut(kind: str) -> None:
    value = nested(10_000, kind)
    assert is_deep(value)
    cut = shallow(value)
    assert not is_deep(cut)
    assert msgspec.json.encode(cut)  # which recurses


_JSON: Any = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=12,
)


@given(_JSON, st.integers(1, 5))
def test_a_cut_is_never_deep_and_loses_nothing_above_it(value: Any, most: int) -> None:
    cut = shallow(value, most)
    assert not is_deep(cut, most)
    assert is_deep(value, most) == (cut != value)
    assert json.dumps(shallow(cut, most)) == json.dumps(cut)


def test_a_text_may_be_json() -> None:
    assert json_in('{"a": [1]}') == {"a": [1]}
    assert json_in("{") is None
    assert json_in("\ud800") is None


@pytest.mark.parametrize("levels", [DEEPEST_LEVELS + 1, 500, 100_000])
def test_a_text_that_is_too_deep_is_no_value(levels: int) -> None:
    assert json_in("[" * levels + "1" + "]" * levels) is None
    assert json_in("[" * levels) is None
