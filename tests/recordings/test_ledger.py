"""A ledger that catches nothing would pass everything: each kind of fault is planted once."""

from __future__ import annotations

from msgspec.structs import replace

from bridge.labels import Label
from bridge.match import Extends, Supersedes
from bridge.replay import Decision, Replay
from bridge.router import Joins, Opens, Reason

from .cases import played
from .ledger import faults, should_know


def decided(case: str) -> tuple[list[Decision], dict[str, Label]]:
    script = played(case)
    return list(Replay().decisions(script.happenings())), script.labels


def test_what_an_agent_should_know_follows_what_its_request_builds_on() -> None:
    _, labels = decided("edit")
    assert should_know(4, labels) == ["What is for lunch?", "With bread?", "bread-1", "And butter?"]
    assert should_know(6, labels) == ["What is for lunch?", "With cheese?", "And to drink?"]


def test_a_word_that_is_given_twice_is_found() -> None:
    decisions, labels = decided("plain-turns")
    decisions[1] = replace(decisions[1], delivered=decisions[0].delivered + decisions[1].delivered)
    assert faults(decisions, labels)[0] == (
        "request 2 gives 'Where do the keys lie?' where 'And the lamp?' is due"
    )


def test_a_word_that_is_lost_is_found() -> None:
    decisions, labels = decided("plain-turns")
    decisions[1] = replace(decisions[1], delivered=())
    assert faults(decisions, labels) == [
        "request 2 doesn't give 'And the lamp?'",
        "request 3 gives 'Thank you.' where 'And the lamp?' is due",
    ]


def test_words_in_another_order_are_found() -> None:
    decisions, labels = decided("steering-while-a-tool-runs")
    decisions[1] = replace(decisions[1], delivered=decisions[1].delivered[::-1])
    assert faults(decisions, labels)


def test_a_withdrawn_word_that_is_left_in_is_found() -> None:
    decisions, labels = decided("error-before-a-word")
    retry = decisions[1].outcome
    assert isinstance(retry, Joins)
    assert isinstance(retry.match, Supersedes)
    left_in = replace(retry, match=Extends(retry.match.new_from))
    decisions[1] = replace(decisions[1], outcome=left_in)
    assert faults(decisions, labels)[0].startswith("request 2 gives 'Ring the bell.'")


def test_a_branch_that_knows_too_much_is_found() -> None:
    decisions, labels = decided("edit")
    branch = decisions[4].outcome
    assert isinstance(branch, Opens)
    assert branch.reason is Reason.BRANCH
    decisions[4] = replace(decisions[4], outcome=replace(branch, shared=branch.shared + 1))
    assert faults(decisions, labels)[0].startswith("request 5 gives 'With bread?'")


def test_a_session_that_is_told_only_the_news_is_found() -> None:
    decisions, labels = decided("plain-turns")
    new = Opens(Extends(2), Reason.NEW)
    decisions[1] = replace(decisions[1], conversation=9, outcome=new)
    assert faults(decisions, labels)
