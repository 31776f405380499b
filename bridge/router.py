"""Whose conversation is this? A pure answer, with its reason.

The host's API has no conversation id, so a request is matched against the live conversations of its
agent, in this order (DESIGN rule: a wrong supersession destroys somebody's turn, a fresh session
costs a replay; so doubt means new):

1. pending tool call ids: results answer calls that only one conversation made;
2. the longest canonical prefix that the request extends;
3. a supersession with evidence: the same request again, or a committed exchange that both share;
4. else a new conversation, which may be a branch of one that goes on.

The index is a tree of prefixes, so the cost is that of one walk along the request. The tree
proposes, `bridge.diff` disposes.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias, TypeVar

import attrs

from .diff import Path, diff, opening
from .history import Ending, Extends, History, Match, Phase, Supersedes
from .tree import Node, PrefixTree

ConversationKey: TypeAlias = int
AgentKey: TypeAlias = bytes
"""An agent definition as canonical JSON."""


class Reason(enum.Enum):
    """Why a request went where it went."""

    PENDING_CALL = "pending-call"
    EXTENDS = "extends"
    UNANSWERED = "extends-unanswered"
    RETRY = "retry"
    SUPERSEDES = "supersedes"
    BRANCH = "branch"
    NEW = "new"


@attrs.frozen
class Joins:
    """The request belongs to a live conversation."""

    conversation: ConversationKey
    match: Match
    reason: Reason


@attrs.frozen
class Opens:
    """The request begins a conversation; `origin` is a live one whose beginning it shares."""

    match: Extends
    reason: Reason
    origin: ConversationKey | None = None


Outcome: TypeAlias = Joins | Opens


class _Mark(enum.Enum):
    HEAD = "after the answer"
    CUT = "after a question whose answer was cut short"
    ASKED = "after the question"
    COMMITTED = "after what was acknowledged"


_Node: TypeAlias = Node[ConversationKey, _Mark]
_M = TypeVar("_M", Extends, Supersedes)


@attrs.define
class _Entry:
    agent: AgentKey
    history: History
    calls: frozenset[str] = frozenset()


class Router:
    """The index of live conversations. Nothing here waits or mints an id."""

    def __init__(self) -> None:
        self._trees: dict[AgentKey, PrefixTree[ConversationKey, _Mark]] = {}
        self._entries: dict[ConversationKey, _Entry] = {}
        self._calls: dict[str, ConversationKey] = {}
        self.joined: Counter[Reason] = Counter()
        """Requests that found their conversation, by reason."""
        self.opened: Counter[Reason] = Counter()
        """Requests that began one, by reason."""

    def route(self, agent: AgentKey, incoming: Path) -> Outcome:
        """Return where a request belongs, and count the reason."""
        outcome = self._by_calls(agent, incoming) or self._by_prefix(agent, incoming)
        (self.joined if isinstance(outcome, Joins) else self.opened)[outcome.reason] += 1
        return outcome

    def place(self, key: ConversationKey, agent: AgentKey, history: History) -> None:
        """Index a conversation as its history stands now; call it after every change but `Emit`."""
        self._forget_calls(key)
        entry = self._entries[key] = _Entry(agent, history, _pending_calls(history))
        for call_id in entry.calls:
            self._calls[call_id] = key
        tree = self._trees.setdefault(agent, PrefixTree())
        depths = _depths(history)
        if depths:
            tree.mark(key, history.shown, depths)
        else:
            tree.forget(key)

    def forget(self, key: ConversationKey) -> None:
        """Take a conversation out of the index."""
        self._forget_calls(key)
        entry = self._entries.pop(key)
        tree = self._trees[entry.agent]
        tree.forget(key)
        if not any(other.agent == entry.agent for other in self._entries.values()):
            del self._trees[entry.agent]

    def has_pending_calls(self, key: ConversationKey) -> bool:
        """Return whether the conversation waits for results of calls."""
        return bool(self._entries[key].calls)

    def _forget_calls(self, key: ConversationKey) -> None:
        entry = self._entries.get(key)
        for call_id in entry.calls if entry else ():
            self._calls.pop(call_id, None)

    def _by_calls(self, agent: AgentKey, incoming: Path) -> Joins | None:
        for call_id in _trailing_results(incoming):
            key = self._calls.get(call_id)
            if key is None or self._entries[key].agent != agent:
                continue
            match = diff(self._entries[key].history, incoming)
            if isinstance(match, Extends):
                return Joins(key, match, Reason.PENDING_CALL)
        return None

    def _by_prefix(self, agent: AgentKey, incoming: Path) -> Outcome:
        tree = self._trees.get(agent)
        points = tree.walk(incoming) if tree else []
        for key, match in self._matches(Extends, points, incoming, _Mark.HEAD, _Mark.CUT):
            return Joins(key, match, Reason.EXTENDS if match.echoed else Reason.UNANSWERED)
        for key, match in self._matches(Supersedes, points, incoming, _Mark.ASKED, _Mark.COMMITTED):
            asked = self._entries[key].history.provisional
            again = asked is not None and asked.asked == incoming[match.new_from :]
            return Joins(key, match, Reason.RETRY if again else Reason.SUPERSEDES)
        origin = _owner_below(points[-1]) if points else None
        shares_answer = any(message.role == "assistant" for message in incoming[: len(points) - 1])
        if origin is not None and shares_answer:
            return Opens(opening(incoming), Reason.BRANCH, origin)
        return Opens(opening(incoming), Reason.NEW)

    def _matches(
        self, kind: type[_M], points: list[_Node], incoming: Path, *marks: _Mark
    ) -> Iterator[tuple[ConversationKey, _M]]:
        """Yield what `diff` finds of one kind at marks along the request, the longest first."""
        for point in reversed(points):
            for mark in marks:
                for key in point.keys(mark):
                    match = diff(self._entries[key].history, incoming)
                    if isinstance(match, kind):
                        yield key, match


def _depths(history: History) -> dict[_Mark, int]:
    """Return where in `history.shown` a later request may join."""
    base = len(history.committed_path)
    depths = {_Mark.COMMITTED: base} if base else {}
    if history.provisional is not None:
        asked = base + len(history.provisional.asked)
        depths[_Mark.ASKED] = asked
        if history.provisional.ending is not Ending.COMPLETE:
            depths[_Mark.CUT] = asked
        if history.phase is not Phase.STREAMING and history.answer is not None:
            depths[_Mark.HEAD] = asked + 1
    return depths


def _pending_calls(history: History) -> frozenset[str]:
    if history.phase is not Phase.IDLE or history.answer is None:
        return frozenset()
    return frozenset(call.call_id for call in history.answer.calls)


def _trailing_results(incoming: Path) -> Iterator[str]:
    """Yield the ids of the results after the last answer."""
    for message in reversed(incoming):
        if message.role == "assistant":
            return
        yield from message.results


def _owner_below(point: _Node) -> ConversationKey | None:
    """Return a conversation that goes on from, or ends at, this point."""
    if point.parent is None:
        return None
    while True:
        for keys in point.marks.values():
            return next(reversed(keys))
        point = next(iter(point.children.values()))
