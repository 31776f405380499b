"""Requests as the router gets them, its outcomes, and how many there were of each."""

from __future__ import annotations

import enum
from collections import Counter
from typing import TypeAlias

import attrs
import msgspec

from bridge.history.exchange import Extends, Match
from bridge.history.transcript import Transcript
from bridge.value import Value
from bridge.wire import ChatOptions

from .index import AgentKey, ConversationKey
from .relate import Path
from .request import Harness, Hints, RequestClass, RequestSource, classify

STORED = "stored"
"""Why a request found a session, though no conversation."""


class Reason(enum.Enum):
    """Why a request went where it went."""

    PENDING_CALL = "pending-call"
    PROGRESS = "progress"
    EXTENDS = "extends"
    TOLERANT = "extends-by-rule"
    RETRY = "retry"
    REPEAT = "repeat"
    SUPERSEDES = "supersedes"
    BRANCH = "branch"
    SUB_AGENT = "sub-agent"
    ONE_SHOT = "one-shot"
    UNPROVEN = "unproven"
    NEW = "new"


class RoutedRequest(Value):
    """A request, with everything that may identify its conversation."""

    agent: AgentKey
    path: Path
    request_class: RequestClass = RequestClass.MAIN
    hints: Hints = msgspec.field(default_factory=Hints)
    keep: bool = False
    """Whether a withdrawn answer is forgotten without a branch (`settings.rewind` "continue")."""
    source: RequestSource = msgspec.field(default_factory=RequestSource)

    @classmethod
    def of(
        cls, agent: AgentKey, transcript: Transcript, options: ChatOptions, *, keep: bool
    ) -> RoutedRequest:
        """Return a request of the editor as it is routed."""
        path, lineage = transcript.path, transcript.lineage
        tools = [tool.name for tool in options.tools]
        return cls(
            agent=agent,
            path=path,
            request_class=classify(
                path, lineage, tools, options.model_options, options.request_initiator
            ),
            hints=Hints.of(options.model_options, lineage, options.request_initiator),
            keep=keep,
            source=RequestSource.of(options),
        )


class Candidate(Value):
    """A conversation that was considered, with the evidence for and against it."""

    conversation: ConversationKey
    verdict: str


class Joins(Value):
    """The request belongs to a live conversation."""

    conversation: ConversationKey
    match: Match
    reason: Reason
    request_class: RequestClass = RequestClass.MAIN
    runner_up: Candidate | None = None


class Opens(Value):
    """The request begins a conversation.

    `origin` is a live conversation from which it branches off, or the parent of a sub-agent. They
    share the first `shared` exchanges; the newest counts even if nothing was built on it yet.
    """

    match: Extends
    reason: Reason
    request_class: RequestClass = RequestClass.MAIN
    origin: ConversationKey | None = None
    shared: int = 0
    runner_up: Candidate | None = None


Outcome: TypeAlias = Joins | Opens


_FOUND = frozenset(
    {
        Reason.PENDING_CALL,
        Reason.EXTENDS,
        Reason.TOLERANT,
        Reason.RETRY,
        Reason.REPEAT,
        Reason.SUPERSEDES,
        Reason.BRANCH,
    }
)


@attrs.define(eq=False, repr=False)
class Tally:
    """Outcomes since the process began. Rounds of the progress tool are no requests of a chat."""

    classes: Counter[RequestClass] = attrs.field(factory=Counter[RequestClass])
    """Requests, by class."""
    matches: Counter[str] = attrs.field(factory=Counter[str])
    """Requests that found their conversation, or the one that they branch off, by reason and by
    each rule that it took."""
    misses: Counter[Reason] = attrs.field(factory=Counter[Reason])
    """Requests without a known conversation, by reason."""
    harnesses: Counter[Harness] = attrs.field(factory=Counter[Harness])
    """Requests of the class `MAIN`, by harness."""
    rounds: int = 0
    """Rounds of the progress tool."""
    newest: RequestSource | None = None
    """The source of the newest request of the class `MAIN`."""

    def count(self, outcome: Outcome, source: RequestSource) -> None:
        """Count one outcome."""
        if outcome.reason is Reason.PROGRESS:
            self.rounds += 1
            return
        if outcome.request_class is RequestClass.MAIN:
            self.harnesses[source.harness] += 1
            self.newest = source
        self.classes[outcome.request_class] += 1
        if outcome.reason in _FOUND:
            self.matches[outcome.reason.value] += 1
            self.matches.update(rule.value for rule in outcome.match.rules)
        else:
            self.misses[outcome.reason] += 1

    def count_stored(self) -> None:
        """Count a conversation that was unknown here, but known to a stored session of the agent.

        Its request is among the misses, too.
        """
        self.matches[STORED] += 1
