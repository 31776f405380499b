"""Keeps account of what each agent was given over a whole recording, and of what it should know.

What it was given follows from the decisions alone. What it should know follows from the labels
alone: the words of every request that a request builds on, one after the other, and its own. A word
that was withdrawn isn't among them, because nothing builds on it.
"""

from __future__ import annotations

import attrs

from bridge.index import ConversationKey
from bridge.labels import Label, Labels, first_difference, words
from bridge.match import Supersedes
from bridge.message import Message
from bridge.recording import RequestNumber
from bridge.replay import Decision
from bridge.router import Joins, Opens, Reason

_APART = frozenset({"new", "utility", "compaction", "sub-agent", "one-shot"})
"""Kinds whose agent knows nothing of what was said before."""

Given = list[tuple[Message, ...]]
"""What an agent was given, exchange by exchange."""


@attrs.define
class Ledger:
    """What the agent of each conversation was given and hasn't been made to forget."""

    _given: dict[ConversationKey, Given] = attrs.field(
        factory=dict["ConversationKey", "Given"], init=False
    )

    def enter(self, decision: Decision) -> list[str]:
        """Take a decision in and return the words that the agent knows now."""
        key, outcome, newest = decision.conversation, decision.outcome, decision.delivered
        match outcome:
            case Opens(reason=Reason.BRANCH | Reason.RETRY):
                assert outcome.origin is not None, "a branch without an origin"
                given = self._given[outcome.origin][: outcome.shared]
            case Opens():
                given, newest = _led_elsewhere(newest)
            case Joins(match=Supersedes()):
                given = self._given[key][:-1]
            case Joins():
                given = self._given[key]
        self._given[key] = [*given, newest]
        return [word for messages in self._given[key] for word in words(messages)]


def _led_elsewhere(path: tuple[Message, ...]) -> tuple[Given, tuple[Message, ...]]:
    """Return the exchanges in a first request that were had before: up to an answer; and the rest.

    The router counts them as shared where a later request branches off.
    """
    given: Given = []
    begins = 0
    for index, message in enumerate(path, 1):
        if message.role == "assistant":
            given.append(path[begins:index])
            begins = index
    return given, path[begins:]


def should_know(request: RequestNumber, labels: Labels) -> list[str]:
    """Return a piece of each word that the agent of a request must know, in order."""
    pieces: list[str] = []
    newest: Label | None = labels[str(request)]
    while newest is not None:
        pieces[:0] = newest.new_texts
        before = None if newest.kind in _APART else newest.extends
        newest = None if before is None else labels[str(before)]
    return pieces


def faults(decisions: list[Decision], labels: Labels) -> list[str]:
    """Return where an agent knows a word twice, too early, too late, still, or not at all."""
    ledger = Ledger()
    found: list[str] = []
    for decision in decisions:
        known = ledger.enter(decision)
        fault = first_difference(known, should_know(decision.request, labels))
        if fault is not None:
            found.append(f"request {decision.request} {fault}")
    return found
