"""Agents by the contract (`agents.base`) whose sessions remember every word.

What they can do is in `Reach`. A session is kept like on a real agent's disk: it outlives whoever
had it open. `forgets`: not its process.
"""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import count

import attrs
import trio

from agents.base import Agent
from agents.events import (
    Answer,
    Await,
    Batch,
    Break,
    CallTool,
    Event,
    Prompt,
    Say,
    Stop,
    StopReason,
    Think,
    ToolAnswer,
)
from agents.open_responses.checkpoints import PointMemory
from agents.origin import FRESH, ForkOf, Origin, Resumed
from bridge.errors import Failure, LocalError
from bridge.models import AgentChoice
from bridge.wire import ChatMessage, Part, Settings, TextPart, ThinkingPart, ToolCallPart, ToolSpec
from tests.fakes.turn import FakeTurn
from tests.host.facts import facts_in, facts_in_result

from .mind import Mind, Taken
from .spelling import read_all

REQUEST = "_request"
"""The model option with the number of a request."""

_CRASHED = Failure("AgentFailed", "The agent crashed.")
_FAILED = Failure("AgentFailed", "It fell over.")


class Reach(enum.Enum):
    """What an agent can find again."""

    NOTHING = "nothing"
    RESUME = "resume"
    FORK = "fork"
    """Copies, and what it can resume."""


class RememberingTurn(FakeTurn):
    """A turn that says what it is told to say."""

    def __init__(self, session: RememberingSession) -> None:
        super().__init__(session)
        self._said: deque[Event] = deque()
        self.has_said_all = False

    def say(self, *events: Event) -> None:
        """Say something; after the last event nothing is said."""
        if not self.has_said_all:
            self._said.extend(events)
            self.has_said_all = isinstance(events[-1], Stop | Break)
        self.wake()

    async def next(self) -> Batch:
        """Return the next event, or wait for it."""
        if self._said:
            return (self._said.popleft(),)
        await self.wait()
        return ()


@attrs.define(eq=False)
class RememberingSession:
    """An open session; it satisfies `agents.base.AgentSession`."""

    agent: RememberingAgent
    handle: str | None
    mind: Mind
    knows_history: bool
    lost: Failure | None = None
    is_closed: bool = False
    _turn: RememberingTurn | None = None
    _is_new: bool = True
    _is_cancelled: bool = False
    _request: int | None = None
    """The newest request."""
    _answer: int | None = None
    """The answer that it gives."""
    _questions: list[str] = attrs.field(factory=list[str])

    @property
    def has_own_process(self) -> bool:
        """Whether it is closed when its chat goes on elsewhere."""
        return self.agent.troupe.one_session_each

    @property
    def runs(self) -> bool:
        """Whether a turn runs in it."""
        return self._turn is not None and not self._turn.has_said_all and self.lost is None

    def is_working_on(self, request: int) -> bool:
        """Return whether it works on a request, and wasn't told to stop."""
        return self._request == request and self.runs and not self._is_cancelled

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return true."""
        return True

    async def renew(self, prompt: Prompt) -> None:
        """Go on for another request."""
        self._take(prompt, goes_on=True)
        await trio.lowlevel.checkpoint()

    def run(self, prompt: Prompt) -> RememberingTurn:
        """Take in what is said, and begin a turn."""
        if self.is_closed or self.runs:
            raise LocalError("it is closed" if self.is_closed else "a turn runs")
        if prompt.transcript and not self._is_new:
            raise LocalError("what was said before is told first, or not at all")
        self._take(prompt, goes_on=False)
        self.mind.facts += self._learnt(prompt.transcript)
        self.mind.facts += self._learnt(prompt.messages)
        self._turn, self._is_cancelled = RememberingTurn(self), False
        return self._turn

    def _learnt(self, messages: Sequence[ChatMessage]) -> list[int]:
        return read_all(messages) if self.agent.troupe.spells else facts_in(messages)

    def _take(self, prompt: Prompt, *, goes_on: bool) -> None:
        taken = Taken(prompt.model_options[REQUEST], self._is_new, goes_on)
        self._request = taken.request
        self.agent.troupe.take(taken, self)
        self._is_new, self._answer = False, None

    def answer(self, answer: Answer) -> None:
        """Take in a result."""
        if answer.call_id in self._questions:
            self._questions.remove(answer.call_id)
            if isinstance(answer, ToolAnswer):
                spells, result = self.agent.troupe.spells, answer.result
                self.mind.facts += read_all(result) if spells else facts_in_result(result)

    async def cancel(self) -> None:
        """Stop now, or when it is time."""
        self._is_cancelled = True
        if not self.agent.troupe.dawdles:
            self.stop()
        await trio.lowlevel.checkpoint()

    def stop(self) -> None:
        """Stop what is to be stopped."""
        if self._turn is not None and self._is_cancelled:
            self._turn.say(Stop(StopReason.CANCELLED))
            self._questions.clear()

    def say(self, event: Event, fact: int) -> None:
        """Say something, and remember that."""
        if self._answer != fact:
            self._answer = fact
            self.mind.facts.append(fact)
        if isinstance(event, CallTool):
            self._questions.append(event.call_id)
        self.hand(event)

    def finish(self) -> None:
        """End what it says."""
        self.hand(Await() if self._questions else Stop())

    def hand(self, event: Event) -> None:
        """Say something that it doesn't remember."""
        if self._turn is not None:
            self._turn.say(event)

    def lose(self) -> None:
        """Crash."""
        self.lost = _CRASHED
        if self._turn is not None:
            self._turn.wake()


@attrs.define(eq=False)
class Disk:
    """What the processes of one definition share."""

    kept: dict[str, Mind] = attrs.field(factory=dict[str, Mind], init=False)
    """The sessions that can be found again."""
    numbers: count[int] = attrs.field(factory=lambda: count(1), init=False)


@attrs.define(eq=False)
class RememberingAgent(Agent):
    """One definition; it satisfies `agents.base.Agent`."""

    troupe: RememberingTroupe
    disk: Disk
    open: list[RememberingSession] = attrs.field(factory=list["RememberingSession"], init=False)

    @asynccontextmanager
    async def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[RememberingSession, None]:
        """Open a session, now or when it is time."""
        await trio.lowlevel.checkpoint()
        if self.troupe.dawdles:
            await self.troupe.hurried.wait()
        session = self._open(origin)
        self.open.append(session)
        try:
            yield session
        finally:
            session.is_closed = True
            self.open.remove(session)

    def _open(self, origin: Origin) -> RememberingSession:
        reach, kept = self.troupe.reach, self.disk.kept
        match origin:
            case Resumed(handle=handle) if handle in kept:
                return RememberingSession(self, handle, kept[handle], knows_history=True)
            case ForkOf(handle=handle) if handle in kept and reach is Reach.FORK:
                found = kept[handle]
                mind = Mind([*found.facts], {*found.gaps})
                return RememberingSession(self, self._keep(mind), mind, knows_history=True)
            case _:
                mind = Mind()
                return RememberingSession(self, self._keep(mind), mind, knows_history=False)

    def _keep(self, mind: Mind) -> str | None:
        if self.troupe.reach is Reach.NOTHING:
            return None
        handle = f"session-{next(self.disk.numbers)}"
        self.disk.kept[handle] = mind
        return handle

    def crash(self) -> None:
        """End the process."""
        for session in self.open:
            session.lose()
        if self.troupe.forgets:
            self.disk.kept.clear()


@attrs.define(eq=False)
class RememberingTroupe:
    """Such agents, one for each definition; it satisfies `mind.Troupe`."""

    reach: Reach
    forgets: bool
    spells: bool = False
    one_session_each: bool = False
    """Whether each session takes a process for itself."""
    calls_tools: bool = attrs.field(default=True, init=False)
    reaction_seconds: float = attrs.field(default=0.0, init=False)
    dawdles: bool = False
    """Whether they take their time to open a session, and to stop."""
    hurried: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set when they no longer do."""
    _disks: dict[bytes, Disk] = attrs.field(factory=dict["bytes", "Disk"], alias="disks")
    _agents: dict[bytes, RememberingAgent] = attrs.field(
        factory=dict["bytes", "RememberingAgent"], init=False
    )
    _sessions: dict[int, RememberingSession] = attrs.field(
        factory=dict["int", "RememberingSession"], init=False
    )
    """Who took each request."""
    _taken: list[Taken] = attrs.field(factory=list["Taken"], init=False)

    def agent_for(self, choice: AgentChoice) -> RememberingAgent:
        disk = self._disks.setdefault(choice.key, Disk())
        return self._agents.setdefault(choice.key, RememberingAgent(self, disk))

    def beside(self) -> RememberingTroupe:
        return RememberingTroupe(
            self.reach, self.forgets, self.spells, self.one_session_each, disks=self._disks
        )

    @asynccontextmanager
    async def running(self, points: PointMemory) -> AsyncGenerator[None, None]:
        self._sessions.clear()
        self._taken.clear()
        yield
        for agent in self._agents.values():
            assert not agent.open, "a session is left open"
            agent.crash()
        self.dawdles = False

    def take(self, taken: Taken, session: RememberingSession) -> None:
        """Note that a session takes a request."""
        self._sessions[taken.request] = session
        self._taken.append(taken)

    def taken(self) -> Sequence[Taken]:
        taken, self._taken = self._taken, []
        return taken

    def mind(self, request: int) -> Mind:
        return self._sessions[request].mind

    def is_working(self, request: int) -> bool:
        session = self._sessions.get(request)
        return session is not None and session.is_working_on(request)

    def is_stopping(self) -> bool:
        return self.dawdles

    def say(self, request: int, part: Part, fact: int) -> None:
        match part:
            case TextPart(value=text):
                event = Say(text)
            case ThinkingPart(value=text):
                event = Think(str(text))
            case ToolCallPart(tool_call_id=call_id, tool_name=name, parameters=parameters):
                event = CallTool(call_id, name, parameters)
            case _:
                raise AssertionError(f"no agent says {part}")
        if isinstance(event, Think):
            self._sessions[request].hand(event)
        else:
            self._sessions[request].say(event, fact)

    def finish(self, request: int) -> None:
        self._sessions[request].finish()

    def fail(self, request: int) -> None:
        self._sessions[request].hand(Break(_FAILED))

    def crash(self, request: int) -> None:
        self._sessions[request].agent.crash()

    def dawdle(self) -> None:
        if not self.dawdles:
            self.dawdles, self.hurried = True, trio.Event()

    def hurry(self) -> None:
        self.dawdles = False
        self.hurried.set()
        for agent in self._agents.values():
            for session in agent.open:
                session.stop()
