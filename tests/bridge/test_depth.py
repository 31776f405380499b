"""The depth of JSON is counted in its text."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.depth import DEEPEST_JSON, is_too_deep


@pytest.mark.limit("bridge.depth.DEEPEST_JSON")
@pytest.mark.parametrize(("opens", "closes"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_the_limit_is_not_too_deep_and_one_more_is(opens: bytes, closes: bytes) -> None:
    def nested(levels: int) -> bytes:
        return opens * levels + b"1" + closes * levels

    assert not is_too_deep(nested(DEEPEST_JSON))
    assert is_too_deep(nested(DEEPEST_JSON + 1))
    assert is_too_deep(nested(100_000))


def test_what_stands_side_by_side_is_not_deep() -> None:
    assert not is_too_deep(b"[" + b",".join([b'{"a":[]}'] * 1000) + b"]")


def test_brackets_in_texts_do_not_count() -> None:
    assert not is_too_deep(json.dumps(["[" * 1000, "\\", '"' + "{" * 1000]).encode())
    assert not is_too_deep(b'"' + b'\\"[' * 1000)  # a text that doesn't end


def depth_of(value: Any) -> int:
    if isinstance(value, dict):
        return depth_of(list(cast("dict[str, Any]", value).values()))
    return (
        1 + max(map(depth_of, cast("list[Any]", value)), default=0)
        if isinstance(value, list)
        else 0
    )


_JSON: Any = st.recursive(
    st.text('[]{}"\\a', max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('[{"\\'), inner),
    max_leaves=10,
)


@given(_JSON, st.integers(1, 4))
def test_the_text_says_what_the_value_says(value: Any, most: int) -> None:
    assert is_too_deep(json.dumps(value).encode(), most) == (depth_of(value) > most)
