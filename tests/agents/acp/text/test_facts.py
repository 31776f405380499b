from __future__ import annotations

import pytest

from agents.acp.schema.updates import (
    AvailableCommand,
    AvailableCommandInput,
    AvailableCommandsUpdate,
    Notice,
    SessionInfoUpdate,
    UsageUpdate,
)
from agents.acp.text.facts import MOST_COMMANDS, cost_of, note
from agents.ledger import SessionRecord
from agents.token_record import MOST_TOKENS
from bridge import wire
from bridge.wire import Cost


def test_a_title_is_one_line_and_stays_until_there_is_another() -> None:
    record = SessionRecord("a")
    note(record, SessionInfoUpdate("Mend\nit"))
    note(record, SessionInfoUpdate(updated_at="2026-11-26T00:00:00Z"))
    assert record.title == "Mend it"
    note(record, SessionInfoUpdate(""))
    assert record.title == ""


def test_the_commands_are_those_that_can_be_typed() -> None:
    record = SessionRecord("a")
    odd = [AvailableCommand(name, "x") for name in ("", "two words", "a\nb", "x" * 101)]
    review = AvailableCommand("review", "Look\nat it", AvailableCommandInput("which\tfile"))
    note(record, AvailableCommandsUpdate((*odd, review, AvailableCommand("mcp:x/y", ""))))
    assert record.commands == (
        wire.AgentCommand("review", "Look at it", "which file"),
        wire.AgentCommand("mcp:x/y", ""),
    )
    note(record, AvailableCommandsUpdate())
    assert record.commands == ()


@pytest.mark.limit("agents.acp.text.facts.MOST_COMMANDS")
def test_there_are_no_more_commands_than_a_person_can_choose_from() -> None:
    record = SessionRecord("a")
    note(record, AvailableCommandsUpdate((AvailableCommand("x", "x"),) * 1_000))
    assert len(record.commands) == MOST_COMMANDS


def test_tokens_and_cost_are_the_newest_that_are_known() -> None:
    record = SessionRecord("a")
    note(record, UsageUpdate(10, 100, Cost(0.5, "credits")))
    note(record, UsageUpdate(0, 0))
    note(record, UsageUpdate(MOST_TOKENS + 1, MOST_TOKENS + 1))
    note(record, Notice("info", "x"))
    assert (record.used, record.window) == (10, 100)
    assert record.cost == Cost(0.5, "credits")


def test_a_cost_that_makes_no_sense_is_none() -> None:
    odd = [Cost(-0.1, "USD"), Cost(float("nan"), "USD"), Cost(1.0, " "), None]
    assert [cost_of(one) for one in odd] == [None] * 4
