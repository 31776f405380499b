"""A session that an agent opened again: its replay, and how lost tools are noticed.

All agents replay a session that they load, and some replay one that they resume. A replay may begin
before the answer and go on after it. Its updates are dropped until a moment of silence, because the
bridge keeps the history itself. If the user continues a session that isn't a chat yet, a
`ToldAgain` keeps them.

Some agents ignore the servers that come with a session to load, or with one that their process
still has open. Others keep the servers of a process by name, and connect to no second server of the
same name. In all these cases the chat loses the editor's tools, and no message says so. Most agents
connect to a server before the first prompt. vscodelm waits for such an agent, and leaves a session
whose server it ignores.
"""

from __future__ import annotations

import math
from collections import deque

import attrs
import trio

from agents.acp.schema.methods import FORK_SESSION, LOAD_SESSION, RESUME_SESSION
from agents.acp.schema.updates import SessionUpdate, UserMessageChunk, is_of_a_turn

from .learned import AgentFacts, Fact

SILENCE_SECONDS = 0.08
"""Seconds without an update after which a replay counts as over."""
REPLAY_BEGINS_SECONDS = 1.0
"""Seconds that an agent may take to begin its replay of a loaded session."""
MOST_REPLAY_SECONDS = 5.0
"""The most seconds of a replay after the session is open."""

MOST_REPLAYED_BYTES = 2 * 1024 * 1024
"""Bytes of a replay that are kept where the user is to see it."""

CONNECTING_SECONDS = 10.0
"""Seconds in which an agent connects to the server of a reopened session."""

GOES_ON_WITHOUT = (
    "*This agent has continued the chat without the offered tools. It gets them with your next "
    "message.*"
)
_WITHOUT_TOOLS = {
    LOAD_SESSION.name: Fact.LOAD_WITHOUT_TOOLS,
    RESUME_SESSION.name: Fact.RESUME_WITHOUT_TOOLS,
    FORK_SESSION.name: Fact.FORK_WITHOUT_TOOLS,
}
"""The fact about an agent that ignores the server, by the method."""


@attrs.define(eq=False, repr=False)
class ToldAgain:
    """The newest parts of a replay, as many as there is room for."""

    most_bytes: int = MOST_REPLAYED_BYTES
    is_cut: bool = attrs.field(default=False, init=False)
    """Whether the beginning was dropped."""
    _updates: deque[tuple[SessionUpdate, int]] = attrs.field(
        factory=deque[tuple[SessionUpdate, int]], init=False
    )
    _size: int = attrs.field(default=0, init=False)

    def add(self, update: SessionUpdate, size: int) -> None:
        """Keep an update of `size` bytes, and drop the oldest ones that it leaves no room for."""
        self._updates.append((update, size))
        self._size += size
        while self._size > self.most_bytes:
            self._size -= self._updates.popleft()[1]
            self.is_cut = True

    @property
    def updates(self) -> tuple[SessionUpdate, ...]:
        """Return what is kept, in order."""
        return tuple(update for update, _ in self._updates)


@attrs.define(eq=False, repr=False)
class Reopened:
    """A session that an agent opened again; `way` is the method.

    `is_name_used` if the process was given another server of the same name before. `must_replay` if
    an agent that replays nothing has forgotten the session. `is_open` if the process still had the
    session, because the agent can't close one. `replay` gets what was said, if anybody wants it.
    """

    way: str
    is_name_used: bool = False
    must_replay: bool = False
    is_open: bool = False
    replay: ToldAgain | None = None
    is_replaying: bool = attrs.field(default=True, init=False)
    is_proven: bool = attrs.field(default=False, init=False)
    """Whether the agent has sent any part of a turn: then it knows the session."""
    has_replayed_prompts: bool = attrs.field(default=False, init=False)
    """Whether the replay had the user's prompts, too: an agent may only greet, or warn."""
    _replayed_at: float = attrs.field(default=-math.inf, init=False)
    """When the newest update of the replay came."""
    _begun: trio.Event = attrs.field(factory=trio.Event, init=False)

    def hear(self, update: SessionUpdate, size: int) -> bool:
        """Take an update of `size` bytes in; return whether it is part of the replay."""
        if is_of_a_turn(update):
            self.is_proven = True
            self._begun.set()
        if self.is_replaying:
            self._replayed_at = trio.current_time()
            self.has_replayed_prompts |= isinstance(update, UserMessageChunk)
            if self.replay is not None and is_of_a_turn(update):
                self.replay.add(update, size)
        return self.is_replaying

    def lose(self) -> None:
        """Wait for no replay: the agent is gone."""
        self._begun.set()

    async def replayed(self) -> bool:
        """Wait until the replay of an open session is over; return whether the session is known."""
        if self.must_replay:
            with trio.move_on_after(REPLAY_BEGINS_SECONDS):
                await self._begun.wait()
            if not self.is_proven:
                return False
        now = trio.current_time()
        self._replayed_at, latest = now, now + MOST_REPLAY_SECONDS
        until = min(now + SILENCE_SECONDS, latest)
        while until > trio.current_time():
            await trio.sleep_until(until)
            until = min(self._replayed_at + SILENCE_SECONDS, latest)
        self.is_replaying = False
        return True


def loses_tools(facts: AgentFacts, way: str, *, is_open: bool) -> bool:
    """Return whether the agent ignores the server that it is given with such a session."""
    return facts.has(_WITHOUT_TOOLS[way]) or (is_open and facts.has(Fact.OPEN_WITHOUT_TOOLS))


def connects_first(reopened: Reopened, facts: AgentFacts, *, is_first: bool) -> bool:
    """Return whether to wait until the agent has connected to the server of such a session.

    Some agents connect only after a prompt, so it must be known that this one connects earlier.
    If the process still has the session, a new session can serve the chat as well. Then it is
    enough if the agent takes servers at all, or if its process was given none before (`is_first`).
    """
    may_take = is_first or facts.has(Fact.ASKS_FOR_TOOLS)
    return facts.has(Fact.ASKS_BEFORE_PROMPT) or (reopened.is_open and may_take)


def lesson(reopened: Reopened, facts: AgentFacts) -> Fact:
    """Return the fact about an agent that didn't connect to the server of such a session.

    It may have ignored the server for its name. Then another name helps, so that comes first.
    """
    if reopened.is_name_used and not facts.has(Fact.KEEPS_SERVERS):
        return Fact.KEEPS_SERVERS
    if reopened.is_open:
        return Fact.OPEN_WITHOUT_TOOLS
    return _WITHOUT_TOOLS[reopened.way]
