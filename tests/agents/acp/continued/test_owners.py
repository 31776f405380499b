from __future__ import annotations

import pytest

from agents.acp.continued.owners import MOST_OWNERS, Owners
from agents.acp.handles import SessionHandle

ONE, OTHER = SessionHandle("s1", "vsc1"), SessionHandle("s1", "vsc2", "/x")


def test_a_session_that_nobody_continued_is_anybodys() -> None:
    owners = Owners()
    assert owners.may_open(ONE)
    owners.rename(ONE, OTHER)
    assert owners.may_open(ONE)


def test_only_the_newest_owner_may_open_it() -> None:
    owners = Owners()
    owners.give(OTHER)
    assert not owners.may_open(ONE)
    assert owners.may_open(OTHER)
    owners.give(ONE)
    assert owners.may_open(ONE)
    assert not owners.may_open(OTHER)


def test_an_owner_keeps_its_session_under_another_name() -> None:
    owners = Owners()
    owners.give(ONE)
    owners.rename(ONE, OTHER)
    assert owners.may_open(OTHER)
    assert not owners.may_open(ONE)
    owners.rename(ONE, ONE)
    assert owners.may_open(OTHER), "it isn't the owner's name any more"


@pytest.mark.limit("agents.acp.continued.owners.MOST_OWNERS")
def test_the_oldest_owners_are_forgotten() -> None:
    owners = Owners()
    owners.give(SessionHandle("a", "vsc1"))
    for number in range(MOST_OWNERS - 1):
        owners.give(SessionHandle(f"s{number}", "vsc1"))
    assert not owners.may_open(SessionHandle("a"))
    owners.give(SessionHandle("b", "vsc1"))
    assert owners.may_open(SessionHandle("a"))
    assert not owners.may_open(SessionHandle("b"))
