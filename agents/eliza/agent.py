"""Eliza as an agent: the built-in one that needs no process and no network.

She is the script's engine with a session round it, and her hooks (`agents.eliza.script`) do what a
real agent may do. Her memory follows from the users' words in the transcript and the prompts, in
that order. She hears a prompt when its turn is received. The next turn first hears the rest of a
cancelled one.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from agents.base import Agent, OneTurn
from agents.breather import Breather
from agents.events import (
    CANCELLED,
    Answer,
    AskPermission,
    Await,
    Batch,
    Break,
    CallTool,
    Elicit,
    ElicitAnswer,
    PermissionAnswer,
    Prompt,
    Stop,
    ToolAnswer,
)
from agents.origin import FRESH, Origin
from bridge.history.request_text import request_text

from .engine import Eliza
from .hooks import AwaitAnswers, AwaitForm, Hang, Hook, TurnScript, enact, parse_hook, say
from .script import NOTHING_SAID

if TYPE_CHECKING:
    from bridge.wire import ChatMessage, ElizaSpec, Settings, ToolSpec


_HEARD: Iterator[TurnScript | None] = iter(())
"""In place of what refers back to the session, so that nothing waits for the garbage collector."""


_ANSWERS: dict[type[CallTool | AskPermission | Elicit], type[Answer]] = {
    CallTool: ToolAnswer,
    AskPermission: PermissionAnswer,
    Elicit: ElicitAnswer,
}


class ElizaTurn(trio.abc.ReceiveChannel[Batch]):
    """One turn: what comes out of `receive` are the steps' batches, up to the last event.

    `hearing` yields None while there is more to hear, and then the steps.
    """

    def __init__(self, hearing: Iterator[TurnScript | None]) -> None:
        self._hearing = hearing
        self._breather = Breather()
        self._steps: TurnScript | None = None
        self._asked: dict[str, CallTool | AskPermission | Elicit] = {}
        self._answers: dict[str, Answer] = {}
        self._hangs = False
        self._cancelled = False
        self._over = False
        self._closed = False
        self._changed = trio.lowlevel.ParkingLot()

    @property
    def runs(self) -> bool:
        """Whether the last event is still to come, and somebody to receive it."""
        return not (self._over or self._closed)

    def answer(self, answer: Answer) -> None:
        """Take the first answer to a question that is open, of the kind that was asked for."""
        question = self._asked.get(answer.call_id)
        if question is not None and isinstance(answer, _ANSWERS[type(question)]):
            self._answers.setdefault(answer.call_id, answer)
            self._changed.unpark_all()

    def cancel(self) -> None:
        """Make the next event the last one."""
        self._cancelled = True
        self._changed.unpark_all()

    async def receive(self) -> Batch:
        """Return the next events."""
        await trio.lowlevel.checkpoint()
        while True:
            if self._closed:
                raise trio.ClosedResourceError
            if self._over:
                raise trio.EndOfChannel
            if self._cancelled:
                self._over = True
                self._hearing = _HEARD
                return (CANCELLED,)
            if self._steps is None:
                self._steps = next(self._hearing)
                if self._steps is not None:
                    self._hearing = _HEARD
                await self._breather.rest()
                continue
            if self._hangs or len(self._answers) < len(self._asked):
                await self._changed.park()
                continue
            match self._next_step(self._steps):
                case Hang():
                    self._hangs = True
                case AwaitAnswers(questions=questions):
                    self._asked = {question.call_id: question for question in questions}
                    return *questions, Await()
                case AwaitForm(elicit=elicit):
                    self._asked = {elicit.call_id: elicit}
                    return (elicit,)
                case batch:
                    self._over = isinstance(batch[-1], Stop | Break)
                    return batch

    def _next_step(self, steps: TurnScript) -> Batch | AwaitAnswers | AwaitForm | Hang:
        if not self._asked:
            return next(steps)
        answers = [self._answers[call_id] for call_id in self._asked]
        self._asked, self._answers = {}, {}
        return steps.send(answers)

    def close(self) -> None:
        """Close the turn; its receiver gets the end of the channel."""
        self._hearing = _HEARD
        self._closed = True
        self._changed.unpark_all()

    async def aclose(self) -> None:
        """Close the turn; it never waits for anything."""
        self.close()
        await trio.lowlevel.checkpoint()


class ElizaSession(OneTurn[ElizaTurn]):
    """A conversation with Eliza; it satisfies `agents.base.AgentSession`.

    It ends when our side ends it, and is never lost before.
    """

    handle = None
    knows_history = False
    lost = None
    has_own_process = False
    process = None

    def __init__(self, eliza: Eliza, new_call_id: Callable[[], str]) -> None:
        self._eliza = eliza
        self._new_call_id = new_call_id
        self._unheard: deque[ChatMessage] = deque()

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return true: each prompt brings its own."""
        return True

    async def renew(self, prompt: Prompt) -> None:
        """Take nothing: a turn's steps are made at its beginning."""
        await trio.lowlevel.checkpoint()

    def run(self, prompt: Prompt) -> ElizaTurn:
        """Begin the answer to the newest of what the users said; it is heard in the turn."""
        self._check_over()
        self._unheard += prompt.transcript
        before = len(self._unheard)
        self._unheard += prompt.messages
        self._turn = ElizaTurn(self._hearing(prompt, before))
        return self._turn

    def close(self) -> None:
        """Close what is still open."""
        if self._turn is not None:
            self._turn.close()

    def _hearing(self, prompt: Prompt, before: int) -> Iterator[TurnScript | None]:
        """Hear each message, and yield after it; then yield the steps of the answer.

        The first messages, so many as `before`, are no part of what is answered.
        """
        for _ in range(before):
            self._hear(self._unheard.popleft())
            yield None
        hook, answer = None, NOTHING_SAID
        while self._unheard:
            said = self._hear(self._unheard.popleft())
            if isinstance(said, str):
                hook, answer = None, said
            elif said is not None:
                hook = said
            yield None
        yield say(answer) if hook is None else enact(hook, prompt.tools, self._new_call_id)

    def _hear(self, message: ChatMessage) -> Hook | str | None:
        """Hear one message. Return the hook that it is, or the answer; None if no user spoke."""
        text = request_text(message)
        if text is None:
            return None
        return parse_hook(text) or self._eliza.hear(text)


class ElizaAgent(Agent):
    """Eliza; it satisfies `agents.base.Agent`. `new_call_id` gives ids that nobody else has."""

    def __init__(
        self,
        spec: ElizaSpec,
        *,
        new_call_id: Callable[[], str],
        choose: Callable[[int], int] = random.randrange,
    ) -> None:
        self._choose = None if spec.deterministic else choose
        self._new_call_id = new_call_id

    @asynccontextmanager
    async def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AsyncGenerator[ElizaSession, None]:
        """Open a session, always a fresh one: what was said is heard when it runs."""
        session = ElizaSession(Eliza(self._choose), self._new_call_id)
        try:
            yield session
        finally:
            session.close()
