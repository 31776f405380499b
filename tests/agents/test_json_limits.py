"""JSON with too many values is known before it is decoded."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import json_limits
from agents.json_limits import has_too_many_values
from bridge.work import done


def has_values_over(text: bytes, most: int) -> bool:
    return done(has_too_many_values(text, most))


VALUES = st.recursive(
    st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
)


def count(value: Any) -> int:
    if isinstance(value, dict):
        return count([*cast("dict[str, Any]", value).values()])
    return 1 + sum(map(count, cast("list[Any]", value))) if isinstance(value, list) else 1


@pytest.mark.limit("agents.json_limits.MOST_JSON_VALUES")
def test_so_many_values_are_read_and_no_more() -> None:
    assert not has_values_over(b"[1,1]", 10)
    assert not has_values_over(b"[" + b"1," * 8 + b"1]", 10)
    assert has_values_over(b"[" + b"1," * 9 + b"1]", 10)
    assert not has_values_over(b'"' + b"," * 100 + b'"', 10)


@given(VALUES)
def test_values_are_counted_without_what_stands_in_strings(value: Any) -> None:
    text = msgspec.json.encode(value)
    assert has_values_over(text, count(value) - 1) or len(text) == count(value)


def test_what_stands_in_strings_is_no_value() -> None:
    text = rb'["[,{\\",",,,,,,,,,,,\\\\",1]'
    assert not has_values_over(text, 4)
    assert has_values_over(text, 3)
    assert not has_values_over(b"[1,1]", 5)
    assert not has_values_over(b'"' + b",\\" * 50, 10)  # which never ends


@given(st.recursive(st.text('",\\{x'), st.lists, max_leaves=5), st.integers(1, 8))
def test_where_the_steps_end_makes_no_difference(value: Any, size: int) -> None:
    text = msgspec.json.encode(value)
    outside = re.sub(rb'"(?:[^"\\]|\\.)*"', b"", text)
    signs = sum(outside.count(sign) for sign in (b",", b"[", b"{"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_limits, "_STEP_BYTES", size)
        for most in {max(signs, 1), signs + 1}:
            assert has_values_over(text, most) == (len(text) > most and signs >= most)


@pytest.mark.limit("agents.json_limits._STEP_BYTES")
def test_each_step_takes_a_bounded_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_limits, "_STEP_BYTES", 10)
    assert len([*has_too_many_values(b'"' + b"," * 998 + b'"', 5)]) == 100
    assert len([*has_too_many_values(b"," * 1000, 15)]) == 2
