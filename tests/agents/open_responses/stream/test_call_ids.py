from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.open_responses.stream.call_ids import CallIds, inward

server_ids = (
    st.sampled_from(["", "call_1", "call_2", "call_1~1", "~1", "gw-x", "x" * 80]) | st.text()
)


@given(st.lists(server_ids), st.integers(0, 5))
def test_no_id_is_given_twice_in_a_process(given_ids: list[str], remembered: int) -> None:
    ids = CallIds(remembered)
    outward = [ids.outward(one) for one in given_ids]
    assert len(set(outward)) == len(outward)
    assert all(one.startswith("gw-") for one in outward)


@given(st.lists(server_ids.filter(bool)), st.integers(0, 5))
def test_the_server_gets_its_own_id_back(given_ids: list[str], remembered: int) -> None:
    ids = CallIds(remembered)
    for one in given_ids:
        assert inward(ids.outward(one)) == one


def test_the_id_is_the_servers_with_a_prefix() -> None:
    ids = CallIds()
    assert ids.outward("call_1") == "gw-call_1"
    assert ids.outward("call_1") == "gw-call_1~1"
    assert inward("gw-call_1~1") == "call_1"


@pytest.mark.limit("agents.open_responses.stream.call_ids.MAX_REMEMBERED")
def test_only_so_many_ids_are_remembered() -> None:
    """From then on each gets a suffix, as it may have been given."""
    ids = CallIds(1)
    assert [ids.outward(one) for one in "aba"] == ["gw-a", "gw-b~1", "gw-a~2"]


def test_a_call_without_an_id_gets_one() -> None:
    ids = CallIds()
    first, second = ids.outward(""), ids.outward("")
    assert first != second
    assert inward(first)
    assert inward(first) != inward(second)


def test_an_id_of_another_provider_stays_as_it_is() -> None:
    assert inward("call_1~1") == "call_1~1"
