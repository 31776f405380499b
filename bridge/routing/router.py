"""Find the conversation of a request. Pure; each answer has its reason.

The host's API has no conversation id, so a request is matched against the live conversations of its
agent, in this order:

1. a request that no later one builds on (title, summary, inline edit) gets a conversation for
   itself;
2. pending tool call ids: results answer calls that only one conversation made;
3. the longest conversation that the request repeats exactly;
4. one that it repeats by the rules of `bridge.history.rules`;
5. a withdrawal of the newest exchange, with evidence;
6. a sub-agent, in a conversation of its own;
7. a branch, which shares exchanges with a conversation;
8. else a new conversation.

The host's hints (`Hints`, our own marker) rank candidates and exclude conversations of another
chat. They prove nothing, with one exception: the newest conversation with the host's id needs no
other proof. A wrong supersession destroys a turn, but a fresh session only costs a replay: doubt
means new. An exact match costs one walk along the request. Only without one is the request aligned,
with a bounded number of candidates.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile
from typing import TypeAlias, assert_never

import attrs
from msgspec.structs import replace

from bridge.history.exchange import Diverges, Ending, Extends, Match, Supersedes
from bridge.history.machine import Phase
from bridge.history.progress_rounds import is_progress_call
from bridge.history.rules import Rule

from .align import is_summary
from .index import ConversationKey, Index, Mark, MarkedNode, is_same_chat
from .outcome import Candidate, Joins, Opens, Outcome, Reason, RoutedRequest
from .relate import Asks, Path, answered_by_another, asks_again, exact, opening, tolerant
from .request import RequestClass

MOST_CANDIDATES = 16
"""Most conversations that a request is compared with, at each step of the search."""

_Relation: TypeAlias = Match | Diverges


def route(index: Index, request: RoutedRequest) -> Outcome:
    """Return where a request belongs."""
    if request.request_class.is_one_shot:
        return Opens(opening(request.path), Reason.ONE_SHOT, request.request_class)
    return _Search(index, request).run()


def alone(request: RoutedRequest) -> Opens:
    """Return the place of a request that has nothing to do with any other chat."""
    return Opens(opening(request.path), Reason.UNPROVEN, request.request_class)


@attrs.define(eq=False, repr=False)
class _Search:
    index: Index
    request: RoutedRequest
    _found: dict[ConversationKey, Supersedes | Diverges] = attrs.field(
        factory=dict["ConversationKey", "Supersedes | Diverges"], init=False
    )
    """Relations other than an extension, the closest first."""
    _considered: list[Candidate] = attrs.field(factory=list[Candidate], init=False)

    def run(self) -> Outcome:
        points = self.index.points(self.request.agent, self.request.path)
        outcome = (
            self._by_calls()
            or self._by_repetition(points)
            or self._by_asking_again()
            or self._by_rules(points)
            or self._by_withdrawal()
            or self._by_parent()
            or self._by_branching()
            or self._opening()
        )
        winner = outcome.conversation if isinstance(outcome, Joins) else outcome.origin
        others = (c for c in reversed(self._considered) if c.conversation != winner)
        return replace(outcome, runner_up=next(others, None))

    # Each step of the search.

    def _by_calls(self) -> Outcome | None:
        path = self.request.path
        for call_id in _trailing_results(path):
            key = self.index.waiting_for(call_id)
            if key is None or self.index[key].agent != self.request.agent:
                continue
            match = self._relate(key, known=True)
            if not isinstance(match, Extends):
                # Nobody else can have results of this call, whatever became of the rest.
                match = Extends(opening(path).new_from, frozenset({Rule.CALL_ALONE}))
            is_progress = is_progress_call(call_id)
            return self._join(key, match, Reason.PROGRESS if is_progress else Reason.PENDING_CALL)
        return None

    def _by_repetition(self, points: list[MarkedNode]) -> Outcome | None:
        for key in self._along(points, Mark.HEAD, Mark.CUT):
            asks = self._asks(key)
            match = exact(self.index[key].history, self.request.path, asks=asks)
            if isinstance(match, Extends):
                if self._goes_on(key, match):
                    return self._join(key, match, Reason.EXTENDS)
                self._note_fork(key, match)
        for key in self._along(points, Mark.ASKED, Mark.COMMITTED):
            asks = self._asks(key)
            match = exact(self.index[key].history, self.request.path, asks=asks)
            if match is not None and not isinstance(match, Extends):
                self._note(key, match)
        return None

    def _by_asking_again(self) -> Outcome | None:
        for key, relation in self._found.items():
            if asks_again(self.index[key].history, self.request.path):
                return self._withdrawn(key, relation)
        return None

    def _by_rules(self, points: list[MarkedNode]) -> Outcome | None:
        seen: set[ConversationKey] = set()
        likely = self.index.likely(self.request.path, self.request.hints, points)
        # Earlier branches of a chat know messages that were taken back since; sub-agents never did.
        newest = self.index.newest_of(self.request.agent, self.request.hints)
        further: Joins | None = None
        for key in likely:
            if key in seen or not self._is_ours(key):
                continue
            seen.add(key)
            if len(seen) > MOST_CANDIDATES:
                break
            match = self._relate(key, known=key == newest)
            if isinstance(match, Extends) and self._goes_on(key, match):
                joins = self._join(key, match, Reason.TOLERANT if match.rules else Reason.EXTENDS)
                if not answered_by_another(self.request.path, match.new_from):
                    return joins
                further = further or joins  # somebody else may know that answer
            elif match is None:
                self._considered.append(Candidate(key, "nothing proves it"))
            elif isinstance(match, Extends):
                self._note_fork(key, match)
            else:
                self._note(key, match)
        return further

    def _by_withdrawal(self) -> Outcome | None:
        for key, relation in self._found.items():
            if isinstance(relation, Supersedes):
                return self._withdrawn(key, relation)
        return None

    def _by_branching(self) -> Outcome | None:
        closest = next(iter(self._found.items()), None)  # the rest: no withdrawal is among them
        return self._withdrawn(*closest) if closest is not None else None

    def _withdrawn(self, key: ConversationKey, relation: Supersedes | Diverges) -> Outcome:
        match relation:
            case Supersedes():
                provisional = self.index[key].history.provisional
                new = self.request.path[relation.new_from :]
                again = provisional is not None and provisional.asked == new
                return self._join(key, relation, Reason.RETRY if again else Reason.SUPERSEDES)
            case Diverges() if self._may_cut(key, relation):
                match = Supersedes(relation.new_from, relation.rules, relation.exchange)
                return self._join(key, match, Reason.SUPERSEDES)
            case Diverges():
                return Opens(
                    Extends(relation.new_from, relation.rules),
                    Reason.RETRY if relation.again else Reason.BRANCH,
                    self.request.request_class,
                    key,
                    relation.exchange,
                )
            case _:
                assert_never(relation)

    def _by_parent(self) -> Outcome | None:
        hints = self.request.hints
        led = self.request.request_class is RequestClass.SUB_AGENT
        if hints.session is not None and not led:
            return None  # the Agent Host's sub-agents say what they are
        keys = self.index.of_host_id(*hints.names)
        parent = next((key for key in keys if self._is_agents(key) and self._leads(key)), None)
        if parent is None and not led:
            return None
        match = opening(self.request.path)
        return Opens(match, Reason.SUB_AGENT, RequestClass.SUB_AGENT, parent)

    def _opening(self) -> Opens:
        reason = Reason.UNPROVEN if self._considered else Reason.NEW
        return Opens(opening(self.request.path), reason, self.request.request_class)

    # State that the steps of the search share.

    def _along(self, points: list[MarkedNode], *marks: Mark) -> Iterator[ConversationKey]:
        """Yield conversations marked along the request: longest first, then by the host's hints."""
        for point in reversed(points):
            for mark in marks:
                keys = [key for key in point.keys(mark) if self._is_ours(key)]
                keys.sort(key=self._closeness, reverse=True)
                yield from keys[:MOST_CANDIDATES]

    def _relate(self, key: ConversationKey, *, known: bool) -> _Relation | None:
        history = self.index[key].history
        path, asks = self.request.path, self._asks(key)
        match = exact(history, path, asks=asks)
        if isinstance(match, Extends) or (match is not None and asks_again(history, path)):
            return match
        return tolerant(history, path, known=known, asks=asks) or match

    @property
    def _cancels(self) -> bool:
        # Hosts that name their chats also send cancellations, which are the older feature.
        return self.request.hints.conversation is not None

    def _asks(self, key: ConversationKey) -> Asks:
        return Asks(self.request.keep, self._cancels, self._is_session(key))

    def _is_session(self, key: ConversationKey) -> bool:
        """Return whether the Agent Host says that it is this chat, and no sub-agent of it."""
        session = self.request.hints.session
        is_chat = self.request.request_class is RequestClass.MAIN
        return is_chat and session is not None and session == self.index[key].hints.session

    def _is_ours(self, key: ConversationKey) -> bool:
        """Return whether nothing says that it is somebody else's."""
        return self._is_agents(key) and self._is_same_class(key)

    def _is_agents(self, key: ConversationKey) -> bool:
        entry = self.index[key]
        theirs, ours = self.request.hints.conversation, entry.hints.conversation
        other = theirs is not None and ours is not None and theirs != ours
        return entry.agent == self.request.agent and not other

    def _is_same_class(self, key: ConversationKey) -> bool:
        """Return whether both are sub-agents or neither is, as far as the host says so."""
        request = self.request
        led = request.request_class is RequestClass.SUB_AGENT
        if not led and request.hints.session is None:
            return True
        return led == (self.index[key].request_class is RequestClass.SUB_AGENT)

    def _is_known(self, key: ConversationKey) -> bool:
        """Return whether the host says that it is this conversation."""
        same = set(self.request.hints.names) & set(self.index[key].hints.names)
        return bool(same) and self._is_same_chat(key)

    def _is_same_chat(self, key: ConversationKey) -> bool:
        """Return whether nothing says that it is another chat, such as the origin of a fork.

        A fork begins with all that its origin knows, so it may branch off, but never go on with it.
        """
        return is_same_chat(self.request.hints, self.index[key].hints)

    def _goes_on(self, key: ConversationKey, match: Extends) -> bool:
        """Return whether a request may continue at the conversation's end: no evidence denies it.

        A summary of everything fits every branch of a chat. The Agent Host makes one of the newest
        branch. Elsewhere, if turns were taken back, their numbers are used again. And if the
        summary hides turns of another model, there are more numbers than messages. Not every host
        numbers them, so the agent must be the one that was asked last. Results that it hides were
        never given to the agent that waits for them. Not every prompt names its chat; one that
        doesn't mustn't end a turn that streams, for that may be a fork's.
        """
        entry, hints = self.index[key], self.request.hints
        if Rule.SUMMARY in match.rules:
            if entry.awaits_results or self.index.was_asked_elsewhere(self.request.agent, hints):
                return False
            newest = self.index.newest_of(self.request.agent, hints)
            if hints.session is not None and newest not in (None, key):
                return False
            if hints.turn is not None and entry.hints.turn is not None:
                later = hints.turn - entry.hints.turn
                if not 0 < later <= _turns_after_summary(self.request.path):
                    return False
        if entry.history.phase is Phase.STREAMING and self._cancels:
            return hints.chat is not None and entry.hints.chat == hints.chat
        return self._is_same_chat(key)

    def _may_withdraw(self, key: ConversationKey) -> bool:
        """Return whether no other request may still need the exchange that a request leaves out.

        A turn of a named chat may be waiting for tools. A request without a chat's name may come
        from the origin of a fork, unless it repeats the question.
        """
        entry, chat = self.index[key], self.request.hints.chat
        if chat is None and entry.hints.chat is not None and entry.awaits_results:
            return asks_again(entry.history, self.request.path)
        return self._is_same_chat(key)

    def _may_cut(self, key: ConversationKey, relation: Diverges) -> bool:
        """Return whether an earlier edit stays in its conversation: no branch is wanted.

        It shows an answer before it and brings none after it, as an undo does. Its agent has seen
        all that is taken back, and is at rest.
        """
        entry, path = self.index[key], self.request.path
        history = entry.history
        return (
            self.request.keep
            and relation.exchange < len(history.committed)
            and all(one.ending is Ending.COMPLETE for one in history.exchanges[relation.exchange :])
            and not entry.awaits_results
            and 0 < opening(path).new_from <= relation.new_from
            and self._may_withdraw(key)
        )

    def _closeness(self, key: ConversationKey) -> tuple[bool, bool]:
        """Return how well a conversation fits among those that share as much."""
        return self._is_known(key), self.index[key].history.answer is None

    def _leads(self, key: ConversationKey) -> bool:
        """Return whether a call that the conversation waits for leads this request.

        A sub-agent carries the id and the run of the chat that called it, and begins with a first
        turn. It has no tool to lead others with.
        """
        entry, hints = self.index[key], self.request.hints
        if entry.request_class is RequestClass.SUB_AGENT:
            return False
        fresh = all(message.role != "assistant" for message in self.request.path)
        same_run = None in (hints.run, entry.hints.run) or hints.run == entry.hints.run
        return fresh and bool(entry.calls) and self._is_known(key) and same_run

    def _is_twin(self, key: ConversationKey) -> bool:
        """Return whether this is another sub-agent with the same task.

        Within a run a host repeats only unanswered questions, and those have no relation here. The
        Agent Host has no Retry button.
        """
        entry, run = self.index[key], self.request.hints.run
        led = entry.request_class is RequestClass.SUB_AGENT
        told = self.request.request_class is RequestClass.SUB_AGENT
        same_run = told or (run is not None and run == entry.hints.run)
        return led and same_run and asks_again(entry.history, self.request.path)

    def _note(self, key: ConversationKey, relation: Supersedes | Diverges) -> None:
        if self._is_twin(key):
            self._considered.append(Candidate(key, "twin"))
            return
        if isinstance(relation, Supersedes) and not self._may_withdraw(key):
            shared = len(self.index[key].history.committed)
            relation = Diverges(shared, relation.new_from, rules=relation.rules)
        self._considered.append(Candidate(key, type(relation).__name__.lower()))
        self._found.setdefault(key, relation)

    def _note_fork(self, key: ConversationKey, match: Extends) -> None:
        """Note a conversation that the request repeats whole, but doesn't go on with.

        If all its messages are kept and no turn is open, it can be forked.
        """
        self._considered.append(Candidate(key, "another branch of the chat"))
        history = self.index[key].history
        provisional = history.provisional
        is_whole = provisional is not None and provisional.ending is Ending.COMPLETE
        if is_whole and not self.index[key].calls and Rule.SUMMARY not in match.rules:
            whole = len(history.committed) + 1
            self._found.setdefault(key, Diverges(whole, match.new_from, rules=match.rules))

    def _join(self, key: ConversationKey, match: Match, reason: Reason) -> Joins:
        return Joins(key, match, reason, self.index[key].request_class)


def _trailing_results(path: Path) -> Iterator[str]:
    """Yield the ids of the results after the last answer."""
    for message in reversed(path):
        if message.role == "assistant":
            return
        yield from message.results


def _turns_after_summary(path: Path) -> int:
    """Return how many messages of the user, empty ones of commands too, follow the summary."""
    after = takewhile(lambda message: not is_summary(message), reversed(path))
    return sum(message.role == "user" and not message.results for message in after)
