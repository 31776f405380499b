from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.mcp.names import aliases, server_name

LEGAL = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
SERVER = server_name("a1b2")

names = st.lists(
    st.one_of(
        st.text(max_size=80).filter(lambda text: text.isprintable()),
        st.from_regex(LEGAL, fullmatch=True),
        st.sampled_from(["a b", "a.b", "a_b", "x" * 50, "x" * 51, "x" * 52 + "y"]),
    ),
    max_size=30,
)


@given(names)
@example(["a.b", "a_b", "a b", ""])
@example(["x" * 60 + "1", "x" * 60 + "2"])
def test_every_tool_has_a_legal_name_of_its_own_with_the_longest_prefix(given: list[str]) -> None:
    found = aliases(given, SERVER)
    assert set(found) == set(given)
    assert len(set(found.values())) == len(found)
    assert all(LEGAL.match(f"mcp__{SERVER}__{alias}") for alias in found.values())


@given(names, names)
def test_a_name_is_the_same_whatever_is_offered_beside_it(one: list[str], other: list[str]) -> None:
    together = aliases([*one, *other], SERVER)
    assert {name: together[name] for name in one} == dict(aliases(one, SERVER))


def test_names_that_can_stay_do() -> None:
    kept = ["read_file", "runSubagent", "mcp-search", "x" * 50]
    assert aliases(kept, "vsca1b2") == {name: name for name in kept if len(name) <= 50}


def test_a_name_that_another_tools_alias_would_take_gives_way() -> None:
    (alias,) = aliases(["a.b"], SERVER).values()
    found = aliases(["a.b", alias], SERVER)
    assert found[alias] == alias
    assert found["a.b"] not in (alias, "a.b")


@pytest.mark.parametrize("suffix", ["", "A", "a_b", "a-b", "ü"])
def test_a_servers_name_is_of_letters_and_digits(suffix: str) -> None:
    with pytest.raises(ValueError, match="letters and digits"):
        server_name(suffix)
