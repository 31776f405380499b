from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.open_responses.request.names import fitting_id, fitting_name


@pytest.mark.parametrize("call_id", ["a", "call_1", "x" * 64, "é~1"])
def test_an_id_that_fits_stays(call_id: str) -> None:
    assert fitting_id(call_id) == call_id


@given(st.text(min_size=65), st.text(min_size=65))
def test_a_long_id_is_shortened_to_one_of_its_own(one: str, other: str) -> None:
    assert len(fitting_id(one)) == 64
    assert (fitting_id(one) == fitting_id(other)) is (one == other)


def test_there_is_always_an_id() -> None:
    assert fitting_id("") == "call_none"


@given(st.text(), st.text())
def test_a_name_fits_and_is_its_own(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", fitting_name(one))
    assert (fitting_name(one) == fitting_name(other)) is (one == other)
