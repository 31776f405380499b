"""Find live conversations by anything that a request may share with them. Nothing here decides."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Generic, TypeAlias, TypeVar

from bridge.history.exchange import Ending
from bridge.history.machine import History, Phase
from bridge.history.progress_rounds import is_progress_call
from bridge.value import Key, Value

from .relate import Path
from .request import Hints, RequestClass
from .tree import Node, PrefixTree

ConversationKey: TypeAlias = int
AgentKey: TypeAlias = bytes
"""An agent definition as canonical JSON."""


MOST_CHATS = 1_000
"""Most chats of the host that are remembered besides the live conversations."""


class Mark(Key):
    """The points of a conversation at which a later request may join."""

    HEAD = "after the answer"
    CUT = "after a question whose answer was cut short"
    ASKED = "after the question"
    COMMITTED = "after what was acknowledged"


MarkedNode: TypeAlias = Node[ConversationKey, Mark]


class Entry(Value):
    """A live conversation."""

    agent: AgentKey
    history: History
    request_class: RequestClass
    hints: Hints
    root: ConversationKey
    """The conversation that it goes back to by branching off, again and again; or itself."""

    @property
    def calls(self) -> frozenset[str]:
        """Return the ids of the calls whose results it waits for."""
        if self.history.phase is not Phase.IDLE or self.history.answer is None:
            return frozenset()
        return frozenset(call.call_id for call in self.history.answer.calls)

    @property
    def answer(self) -> bytes | None:
        """Return the digest of its newest answer."""
        history = self.history
        if history.phase is not Phase.STREAMING and history.answer is not None:
            return history.answer.digest
        newest = next((e.answer for e in reversed(history.committed) if e.answer is not None), None)
        return newest.digest if newest is not None else None

    @property
    def question(self) -> str | None:
        """Return the user's last request in it."""
        newest = [self.history.provisional] if self.history.provisional is not None else []
        exchanges = chain(newest, reversed(self.history.committed))
        words = (message.request for one in exchanges for message in reversed(one.asked))
        return next(filter(None, words), None)

    @property
    def awaits_results(self) -> bool:
        """Whether its newest answer is complete but for the results of calls in it."""
        provisional = self.history.provisional
        complete = provisional is not None and provisional.ending is Ending.COMPLETE
        return complete and not all(map(is_progress_call, self.calls))

    @property
    def is_done(self) -> bool:
        """Whether no later request will build on it."""
        if self.history.phase is not Phase.IDLE:
            return False
        led = self.request_class is RequestClass.SUB_AGENT and not self.calls
        return led or self.request_class.is_one_shot


class _Found(Value):
    """The parts of an `Entry` by which a conversation is found."""

    calls: frozenset[str] = frozenset()
    answer: bytes | None = None
    question: str | None = None


_NOTHING = _Found()

T = TypeVar("T")
V = TypeVar("V")


def _remember(chats: dict[T, V], chat: T, newest: V) -> None:
    """Remember the newest of a chat, and forget the chat that was remembered first of too many."""
    chats.pop(chat, None)
    chats[chat] = newest
    if len(chats) > MOST_CHATS:
        del chats[next(iter(chats))]


class _Groups(Generic[T]):
    """Conversations by something they share, the most recent last."""

    def __init__(self) -> None:
        self._keys: dict[T, dict[ConversationKey, None]] = {}

    def add(self, at: T | None, key: ConversationKey) -> None:
        if at is not None:
            self._keys.setdefault(at, {})[key] = None

    def discard(self, at: T | None, key: ConversationKey) -> None:
        if at is not None and at in self._keys:
            self._keys[at].pop(key, None)
            if not self._keys[at]:
                del self._keys[at]

    def newest_first(self, at: T | None) -> Iterator[ConversationKey]:
        return reversed(self._keys.get(at, {}) if at is not None else {})


class Index:
    """Every live conversation of one editor.

    A conversation changes more often than it is looked for: twice in each round of a tool call. So
    `update` only notes that it has changed, and the next search indexes it anew, or `refresh` does.
    """

    def __init__(self) -> None:
        self._entries: dict[ConversationKey, Entry] = {}
        self._found: dict[ConversationKey, _Found] = {}
        self._changed: dict[ConversationKey, None] = {}
        """The conversations that are to be indexed anew, the most recently changed last."""
        self._trees: dict[AgentKey, PrefixTree[ConversationKey, Mark]] = {}
        self._by_call: dict[str, ConversationKey] = {}
        self._by_marker: dict[str, ConversationKey] = {}
        self._markers: dict[ConversationKey, list[str]] = {}
        self._by_host_id: _Groups[str] = _Groups()
        self._by_answer: _Groups[bytes] = _Groups()
        self._by_question: _Groups[str] = _Groups()
        self._by_root: _Groups[ConversationKey] = _Groups()
        self._newest: dict[tuple[AgentKey, str, str | None], ConversationKey] = {}
        """The newest conversation of a chat, even an ended one: earlier branches know too much."""
        self._last_asked: dict[tuple[str, str | None], AgentKey] = {}
        """The agent that was last asked in a chat."""

    def __getitem__(self, key: ConversationKey) -> Entry:
        """Return the entry of a conversation."""
        return self._entries[key]

    def place(
        self,
        key: ConversationKey,
        agent: AgentKey,
        history: History,
        request_class: RequestClass = RequestClass.MAIN,
        hints: Hints | None = None,
        origin: ConversationKey | None = None,
    ) -> None:
        """Index a conversation as its newest request leaves it.

        `origin` is the conversation that a new one branches off.
        """
        former = self._entries.get(key)
        hints = hints or Hints()
        root = key if former is None else former.root
        if former is not None:
            for name in former.hints.names:
                self._by_host_id.discard(name, key)
            hints = hints.after(former.hints)
        origin_entry = self._entries.get(origin) if origin is not None else None
        if origin_entry is not None and is_same_chat(hints, origin_entry.hints):
            root = origin_entry.root
        self._entries[key] = Entry(agent, history, request_class, hints, root=root)
        self._by_root.add(root, key)
        if not request_class.is_one_shot:
            for name in hints.names:
                self._by_host_id.add(name, key)
        if hints.names and request_class is RequestClass.MAIN:
            chat = (hints.names[0], hints.chat)
            _remember(self._newest, (agent, *chat), key)
            _remember(self._last_asked, chat, agent)
        self.update(key)

    def update(self, key: ConversationKey) -> None:
        """Note that a history has changed; call it after every change but `Emit`."""
        self._changed.pop(key, None)
        self._changed[key] = None

    def refresh(self) -> None:
        """Index anew what has changed; the next search need not."""
        while self._changed:
            key = next(iter(self._changed))
            del self._changed[key]  # first: an error must not come back with every search
            self._index(key)

    def _index(self, key: ConversationKey) -> None:
        self._unlink(key)
        entry = self._entries[key]
        found = _Found(entry.calls, entry.answer, entry.question)
        self._found[key] = found
        self._by_call.update(dict.fromkeys(found.calls, key))
        if entry.request_class.is_one_shot:
            return
        self._by_answer.add(found.answer, key)
        self._by_question.add(found.question, key)
        tree = self._trees.setdefault(entry.agent, PrefixTree())
        depths = _depths(entry.history)
        if depths:
            tree.mark(key, entry.history.shown, depths)
        else:
            tree.forget(key)

    def remember_marker(self, token: str, key: ConversationKey) -> None:
        """Remember that a response of this conversation carries our marker."""
        self._by_marker[token] = key
        self._markers.setdefault(key, []).append(token)

    def forget(self, key: ConversationKey) -> None:
        """Take a conversation out, which may have no place yet."""
        for token in self._markers.pop(key, []):
            del self._by_marker[token]
        self._unlink(key)
        self._changed.pop(key, None)
        entry = self._entries.pop(key, None)
        if entry is None:
            return
        for name in entry.hints.names:
            self._by_host_id.discard(name, key)
        self._by_root.discard(entry.root, key)
        tree = self._trees.get(entry.agent)
        if tree is not None:
            tree.forget(key)
            if tree.is_empty:
                del self._trees[entry.agent]

    def _unlink(self, key: ConversationKey) -> None:
        found = self._found.pop(key, _NOTHING)
        for call_id in found.calls:
            self._by_call.pop(call_id, None)
        self._by_answer.discard(found.answer, key)
        self._by_question.discard(found.question, key)

    # The keys by which a request finds conversations.

    def waiting_for(self, call_id: str) -> ConversationKey | None:
        """Return the conversation that waits for the result of a call."""
        self.refresh()
        return self._by_call.get(call_id)

    def points(self, agent: AgentKey, path: Path) -> list[MarkedNode]:
        """Return the points along a request, the root first."""
        self.refresh()
        tree = self._trees.get(agent)
        return tree.walk(path) if tree is not None else []

    def was_asked_elsewhere(self, agent: AgentKey, hints: Hints) -> bool:
        """Return whether another agent was asked last in the chat that the host names."""
        if not hints.names:
            return False
        return self._last_asked.get((hints.names[0], hints.chat), agent) != agent

    def of_host_id(self, *names: str | None) -> Iterator[ConversationKey]:
        """Yield the conversations that the host gave these ids, the most recently asked first."""
        return chain.from_iterable(map(self._by_host_id.newest_first, names))

    def newest_of(self, agent: AgentKey, hints: Hints) -> ConversationKey | None:
        """Return the conversation of a named chat's last request; None if it is gone."""
        if not hints.names:
            return None
        key = self._newest.get((agent, hints.names[0], hints.chat))
        return key if key in self._entries else None

    def other_branches(self, key: ConversationKey) -> set[ConversationKey]:
        """Return the other branches of a conversation's chat: the user sees one at a time.

        A branch shares its beginning with another one, or the host says that both are of one chat.
        A chat that is copied is another chat, as far as the host says so. Sub-agents are no
        branches.
        """
        entry = self._entries[key]
        related = chain(
            self._by_root.newest_first(entry.root),
            self.of_host_id(*entry.hints.names),
        )
        return {
            other
            for other in related
            if other != key
            and self._entries[other].agent == entry.agent
            and self._entries[other].request_class is RequestClass.MAIN
            and is_same_chat(self._entries[other].hints, entry.hints)
        }

    def likely(
        self, path: Path, hints: Hints, points: list[MarkedNode]
    ) -> Iterator[ConversationKey]:
        """Yield conversations that a request may continue, the likeliest first, maybe twice."""
        self.refresh()
        for message in reversed(path):
            if message.marker is not None and message.marker in self._by_marker:
                yield self._by_marker[message.marker]
                break
        yield from self.of_host_id(*hints.names)
        for message in reversed(path):
            if message.role == "assistant":
                yield from self._by_answer.newest_first(message.digest)
        for message in reversed(path[:-1]):
            yield from self._by_question.newest_first(message.request)
        for point in reversed(points[1:]):
            for mark in Mark:
                yield from point.keys(mark)
        if len(points) > 1:
            yield from points[-1].beyond()


def is_same_chat(one: Hints, other: Hints) -> bool:
    """Return whether nothing says that these are two chats, such as a fork and its origin."""
    pairs = ((one.chat, other.chat), (one.session, other.session))
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _depths(history: History) -> dict[Mark, int]:
    """Return where in `history.shown` a later request may join; nothing said is no place to."""
    base = len(history.committed_path)
    depths = {Mark.COMMITTED: base}
    if history.provisional is not None:
        asked = base + len(history.provisional.asked)
        depths[Mark.ASKED] = asked
        if history.provisional.ending is not Ending.COMPLETE:
            depths[Mark.CUT] = asked
        if history.phase is not Phase.STREAMING and history.answer is not None:
            depths[Mark.HEAD] = asked + 1
    return {mark: depth for mark, depth in depths.items() if depth}
