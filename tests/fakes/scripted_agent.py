"""An agent that does what its script says, on time, late, or not at all.

A script is a list of turns, a turn a list of steps. The turns are used up in the order in which
they are begun, whatever the session; after the last one every turn says "ok". Where a test needs to
look at the prompt first, the script is a function of the session and the prompt.

Steps are events, each handed out in a batch of its own, and:

    Burst(events)    several events in one batch
    Tell(text_of)    a `Say` whose text is made then, from the session (its prompts, its answers)
    Do(action)       call something of the test's
    Gate()           wait until the test opens it, or for a cancel
    Hang()           wait for a cancel
    Linger(n)        wait for a cancel, then hand out n batches more before the stop
    Deaf()           wait, and don't stop after a cancel
    Crash(failure)   lose the session: `AgentError`, from here on
    GiveUp(failure)  stop as cancelled, and lose the session with that

After `Await` the turn goes on when everything it asked is answered. A cancel makes the turn go on
with `when_cancelled` (at once a `Stop`, unless told otherwise), except where it stands at `Linger`
or `Deaf`. A turn whose script just ends, ends with `Stop()`.

What it was told is in lists: `prompts`, `answers`, `offers`, `cancels`, `sessions_opened`,
`sessions_closed`, `origins`. Its sessions have handles and can be found again, unless it `forgets`;
`lose` ends all that are open. It is strict with its caller: a turn begun before the last one has
ended, or in a closed session, is a `LocalError`.

    agent = ScriptedAgent([[Say("Hello "), Hang()], [Crash(Failure("AgentFailed", "gone"))]])
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias, assert_never

import attrs
import trio

from agents.base import Agent, AgentError
from agents.events import (
    Answer,
    AskPermission,
    Attach,
    Await,
    Batch,
    Break,
    CallTool,
    Counted,
    Elicit,
    Event,
    Prompt,
    Say,
    Stop,
    StopReason,
    TakeBack,
    Think,
)
from agents.origin import FRESH, ForkOf, Fresh, Origin
from bridge.errors import Failure, LocalError
from bridge.wire import Settings, ToolSpec

from .turn import FakeTurn


@attrs.frozen
class Burst:
    """Hand out these events in one batch."""

    events: tuple[Event, ...]


@attrs.frozen
class Tell:
    """Say what this makes of the session, at the time."""

    text_of: Callable[[ScriptedSession], str]


@attrs.frozen
class Do:
    """Call something of the test's, and go on."""

    action: Callable[[], object]


@attrs.frozen
class Gate:
    """Wait until `opened` is set; `reached` tells that somebody waits."""

    reached: trio.Event = attrs.field(factory=trio.Event)
    opened: trio.Event = attrs.field(factory=trio.Event)

    async def wait(self) -> None:
        """Tell that it is reached, and wait until it is opened."""
        self.reached.set()
        await self.opened.wait()


@attrs.frozen
class Hang:
    """Wait for a cancel."""


@attrs.frozen
class Linger:
    """Wait for a cancel, then hand out some batches more, and stop as cancelled."""

    batches: int
    event: Event = attrs.field(factory=lambda: Say("late "))


@attrs.frozen
class Deaf:
    """Wait, and don't stop after a cancel: only closing the session ends it."""


@attrs.frozen
class Crash:
    """Lose the session."""

    failure: Failure


@attrs.frozen
class GiveUp:
    """Stop as cancelled, and lose the session with that."""

    failure: Failure


Step: TypeAlias = Event | Burst | Tell | Do | Gate | Hang | Linger | Deaf | Crash | GiveUp
Steps: TypeAlias = Sequence[Step]
Script: TypeAlias = "Sequence[Steps] | Callable[[ScriptedSession, Prompt], Steps]"

STOP_CANCELLED = Stop(StopReason.CANCELLED)


class ScriptedTurn(FakeTurn):
    """One turn of a script."""

    def __init__(self, session: ScriptedSession, steps: Steps, when_cancelled: Steps) -> None:
        super().__init__(session)
        self._session = session
        self._steps: deque[Step] = deque(steps)
        self._when_cancelled = when_cancelled
        self._cancelled = False
        self._obeys = False
        self._awaits = False
        self._open: set[str] = set()

    def cancel(self) -> None:
        """Let the turn know that it is cancelled."""
        self._cancelled = True
        self.wake()

    def answer(self, answer: Answer) -> bool:
        """Close the question; say whether it was open."""
        was_open = answer.call_id in self._open
        self._open.discard(answer.call_id)
        self.wake()
        return was_open

    async def next(self) -> Batch:
        """Do the script's next step, or wait until there is one to do."""
        step = self._steps[0] if self._steps else Stop()
        if self._cancelled and not self._obeys and not isinstance(step, Deaf):
            self._obey(step)
            return ()
        if self._awaits and self._open:
            await self.wait()
            return ()
        match step:
            case Hang() | Linger() | Deaf():
                await self.wait()
                return ()
            case Gate() if not step.opened.is_set():
                await self._wait_at(step)
                return ()
            case _:
                pass
        if self._steps:
            self._steps.popleft()
        return self._done(step)

    def _obey(self, step: Step) -> None:
        """Go on with what follows a cancel."""
        self._obeys = True
        self._awaits = False
        if isinstance(step, Linger):
            self._steps = deque([*(step.event for _ in range(step.batches)), STOP_CANCELLED])
        else:
            self._steps = deque(self._when_cancelled)

    async def _wait_at(self, gate: Gate) -> None:
        """Wait for the gate, or for anything else that changes."""
        async with trio.open_nursery() as nursery:

            async def wait_for_gate() -> None:
                await gate.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(wait_for_gate)
            await self.wait()
            nursery.cancel_scope.cancel()

    def _done(self, step: Step) -> Batch:
        """Return the batch that a step which needn't wait comes to; an empty one is none."""
        match step:
            case Burst(events=events):
                for event in events:
                    self._note(event)
                return events
            case Tell(text_of=text_of):
                return (Say(text_of(self._session)),)
            case Do(action=action):
                action()
                return ()
            case Gate():
                step.reached.set()
                return ()
            case Crash(failure=failure):
                self._session.lost = failure
                raise AgentError(failure)
            case GiveUp(failure=failure):
                self._session.lost = failure
                return (STOP_CANCELLED,)
            case Hang() | Linger() | Deaf():
                raise AssertionError("it waits")
            case (
                Say()
                | Think()
                | Attach()
                | Counted()
                | CallTool()
                | AskPermission()
                | Elicit()
                | TakeBack()
                | Await()
                | Stop()
                | Break() as event
            ):
                self._note(event)
                return (event,)
            case _:
                assert_never(step)

    def _note(self, event: Event) -> None:
        self._awaits = isinstance(event, Await)
        if isinstance(event, CallTool | AskPermission | Elicit):
            self._open.add(event.call_id)


class ScriptedSession:
    """A session of a `ScriptedAgent`, with what it was told.

    `answers` holds those that a turn waited for; the agent's list holds all. `prompts` are those,
    too, of the session that it began with.
    """

    def __init__(
        self,
        agent: ScriptedAgent,
        number: int,
        before: Sequence[Prompt] | None = None,
        handle: str | None = None,
    ) -> None:
        self.number = number
        self.handle = (handle or f"scripted-{number}") if agent.has_handles else None
        self.knows_history = before is not None
        self.prompts: list[Prompt] = list(before or ())
        self.answers: dict[str, Answer] = {}
        self.lost: Failure | None = None
        self.takes_tools = True
        self.has_own_process = agent.one_session_each
        self._agent = agent
        self._turn: ScriptedTurn | None = None
        self._turn_number = 0
        self._closed = False

    @property
    def _runs(self) -> bool:
        return self._turn is not None and not self._turn.over and self.lost is None

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return what the test says."""
        return self.takes_tools or not tools

    async def renew(self, prompt: Prompt) -> None:
        """Keep what is new."""
        if self._closed:
            raise LocalError(f"session {self.number} is closed")
        self._agent.renewals.append((len(self._agent.answers), prompt))
        await trio.lowlevel.checkpoint()

    def run(self, prompt: Prompt) -> ScriptedTurn:
        """Begin the script's next turn."""
        if self._closed:
            raise LocalError(f"session {self.number} is closed")
        if self._runs:
            raise LocalError(f"turn {self._turn_number} has not ended yet")
        self.prompts.append(prompt)
        self._agent.prompts.append(prompt)
        self._turn_number = len(self._agent.prompts)
        self._turn = ScriptedTurn(
            self, self._agent.steps_of(self, prompt), self._agent.when_cancelled
        )
        return self._turn

    def answer(self, answer: Answer) -> None:
        """Note the answer, and hand it to the turn."""
        self._agent.answers.append(answer)
        if self._turn is not None and self._turn.answer(answer):
            self.answers[answer.call_id] = answer

    async def cancel(self) -> None:
        """Note the cancel, and let the turn know."""
        self._agent.cancels.append(self._turn_number if self._runs else 0)
        if self._turn is not None:
            self._turn.cancel()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close the session and what still runs in it."""
        self._closed = True
        if self._turn is not None:
            self._turn.close()


class ScriptedAgent(Agent):
    """The fake; it satisfies `agents.base.Agent`. Turns and sessions are numbered from 1.

    `opening` and `closing` are done when a session is opened and closed: gates make it slow, a
    crash in `opening` makes it fail (each time). A session that is found has a new handle, unless
    it never `renames` one; a fork always has. With `one_session_each` a session takes a process.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        when_cancelled: Steps = (STOP_CANCELLED,),
        opening: Sequence[Gate | Crash] = (),
        closing: Sequence[Gate] = (),
        has_handles: bool = True,
        forgets: bool = False,
        renames: bool = True,
        one_session_each: bool = False,
    ) -> None:
        self.when_cancelled = when_cancelled
        self.has_handles = has_handles
        self.forgets = forgets
        self.renames = renames
        self.one_session_each = one_session_each
        self.prompts: list[Prompt] = []
        """Of every turn, in order."""
        self.renewals: list[tuple[int, Prompt]] = []
        """What was new for each open turn, and after how many answers in all."""
        self.answers: list[Answer] = []
        """Every answer, wanted or not."""
        self.cancels: list[int] = []
        """For every cancel the number of the turn that ran, 0 if none did."""
        self.sessions_opened: list[int] = []
        self.sessions_closed: list[int] = []
        self.origins: list[Origin] = []
        """What each session was to begin with."""
        self._sessions: dict[str, ScriptedSession] = {}
        self.opening = opening
        """What is done when the next session is opened."""
        self._script = script
        self._closing = closing

    @property
    def sessions(self) -> Collection[ScriptedSession]:
        """The sessions that were opened, but for those whose handle another has now."""
        return self._sessions.values()

    @property
    def sessions_open(self) -> int:
        """How many sessions are open now."""
        return len(self.sessions_opened) - len(self.sessions_closed)

    def steps_of(self, session: ScriptedSession, prompt: Prompt) -> Steps:
        """Return the steps of the turn that begins now."""
        if callable(self._script):
            return self._script(session, prompt)
        turn = len(self.prompts)
        return self._script[turn - 1] if turn <= len(self._script) else (Say("ok"),)

    def lose(self, failure: Failure) -> None:
        """Lose every session that is open, as when a process ends."""
        for session in self._sessions.values():
            if session.number not in self.sessions_closed:
                session.lost = failure

    @asynccontextmanager
    async def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[ScriptedSession, None]:
        """Open a session."""
        await trio.lowlevel.checkpoint()
        for step in self.opening:
            match step:
                case Gate():
                    await step.wait()
                case Crash(failure=failure):
                    raise AgentError(failure)
        self.origins.append(origin)
        found = None
        if not (self.forgets or isinstance(origin, Fresh)):
            found = self._sessions.get(origin.handle)
        number = len(self.sessions_opened) + 1
        session = ScriptedSession(
            self,
            number,
            None if found is None else found.prompts,
            None if found is None or self.renames or isinstance(origin, ForkOf) else found.handle,
        )
        self._sessions[session.handle or f"nameless-{number}"] = session
        self.sessions_opened.append(session.number)
        try:
            yield session
        finally:
            session.close()
            try:
                for gate in self._closing:
                    await gate.wait()
            finally:
                self.sessions_closed.append(session.number)
