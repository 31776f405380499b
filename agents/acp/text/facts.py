"""Take an agent's facts about a session into its record. Pure."""

from __future__ import annotations

import math

from agents.acp.schema.updates import (
    AvailableCommand,
    AvailableCommandsUpdate,
    SessionInfoUpdate,
    SessionUpdate,
    UsageUpdate,
)
from agents.ledger import SessionRecord
from agents.token_record import MOST_TOKENS
from bridge.wire import AgentCommand, Cost

from .markdown import one_line

MOST_COMMANDS = 200
"""Slash commands of a session that are kept."""
_MOST_NAME = 100
_MOST_WORDS = 300
_MOST_CURRENCY = 20


def note(record: SessionRecord, update: SessionUpdate) -> None:
    """Take an update in; one that is no fact about the session changes nothing."""
    match update:
        case AvailableCommandsUpdate(available_commands=commands):
            named = (one for one in commands[:MOST_COMMANDS] if _is_name(one.name))
            record.commands = tuple(map(_command, named))
        case SessionInfoUpdate(title=str(title)):
            record.title = one_line(title, _MOST_WORDS)
        case UsageUpdate(used=used, size=size, cost=cost):
            if 0 < used <= MOST_TOKENS:
                record.used = used
            if 0 < size <= MOST_TOKENS:
                record.window = size
            record.cost = cost_of(cost) or record.cost
        case _:
            pass


def cost_of(cost: Cost | None) -> Cost | None:
    """Return a cost that makes sense, or None."""
    if cost is None or not math.isfinite(cost.amount) or cost.amount < 0:
        return None
    currency = one_line(cost.currency, _MOST_CURRENCY)
    return Cost(cost.amount, currency) if currency else None


def _is_name(name: str) -> bool:
    """Return whether `/name` can be typed as one word."""
    return 0 < len(name) <= _MOST_NAME and name == one_line(name, _MOST_NAME) and " " not in name


def _command(command: AvailableCommand) -> AgentCommand:
    hint = "" if command.input is None else one_line(command.input.hint, _MOST_WORDS)
    return AgentCommand(command.name, one_line(command.description, _MOST_WORDS), hint)
