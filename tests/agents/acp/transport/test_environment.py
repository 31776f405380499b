from __future__ import annotations

import pytest

from agents.acp.transport.environment import environment_of
from bridge.wire import EnvVariable

OURS = {"PATH": "/bin", "A_KEY": "a", "B_KEY": "b", "VSCODELM_SECRETS": "A_KEY,B_KEY,GONE"}


def own(**variables: str) -> list[EnvVariable]:
    return [EnvVariable(name, value) for name, value in variables.items()]


def test_what_the_definition_says_lies_over_what_is_known_and_that_over_ours() -> None:
    ours = {"ONE": "ours", "TWO": "ours", "THREE": "ours"}
    known = {"TWO": "known", "THREE": "known"}
    found = environment_of(own(THREE="own"), known, ours)
    assert found == {"ONE": "ours", "TWO": "known", "THREE": "own"}


def test_an_agent_that_names_no_secret_is_given_none() -> None:
    assert environment_of([], {}, OURS) == {"PATH": "/bin"}


def test_an_agent_is_given_the_secret_that_it_names_under_the_name_that_it_wants() -> None:
    found = environment_of(own(TOKEN="${secret:A_KEY}"), {}, OURS)
    assert found == {"PATH": "/bin", "TOKEN": "a"}


def test_several_secrets_may_stand_in_one_variable() -> None:
    found = environment_of(own(BOTH="${secret:A_KEY}:${secret:B_KEY}!"), {}, OURS)
    assert found["BOTH"] == "a:b!"


@pytest.mark.parametrize("name", ["GONE", "NEVER", "", "PATH", "VSCODELM_SECRETS"])
def test_what_is_no_secret_is_not_filled_in_and_its_variable_stays_as_it_was(name: str) -> None:
    """A ready entry names the keys that its agent may have; who logs in has none of them."""
    ours = {**OURS, "TOKEN": "from the shell"}
    found = environment_of(own(TOKEN=f"${{secret:{name}}}", LANG="C"), {}, ours)
    assert found == {"PATH": "/bin", "TOKEN": "from the shell", "LANG": "C"}


def test_a_secret_that_looks_like_a_reference_is_taken_as_it_is() -> None:
    ours = {**OURS, "A_KEY": r"${secret:B_KEY}\1"}
    assert environment_of(own(T="${secret:A_KEY}"), {}, ours)["T"] == r"${secret:B_KEY}\1"


def test_without_secrets_everything_of_ours_is_inherited() -> None:
    assert environment_of([], {}, {"A_KEY": "a"}) == {"A_KEY": "a"}
