"""Eliza as an agent: the built-in one that needs no process and no network.

She is the script's engine with a session round it, and her hooks (`agents.eliza_script`) do what
a real agent may do. She hears a turn when it begins, so a cancelled one was heard all the same, and
what she remembers follows from what the users of the transcript and of the prompts said.
"""

from __future__ import annotations

import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from bridge.errors import LocalError
from bridge.request_text import request_text

from .eliza_engine import Eliza
from .eliza_hooks import CANCELLED, Ask, Hang, Hook, Steps, enact, parse_hook, say
from .eliza_script import NOTHING_SAID
from .events import (
    Answer,
    AskPermission,
    Await,
    Batch,
    Break,
    CallTool,
    Prompt,
    Stop,
    ToolAnswer,
)
from .origin import FRESH, Origin

if TYPE_CHECKING:
    from bridge.wire import ChatMessage, ElizaSpec, ToolSpec


class ElizaTurn(trio.abc.ReceiveChannel[Batch]):
    """One turn: what comes out of `receive` are the steps' batches, up to the last event."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._asked: dict[str, CallTool | AskPermission] = {}
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
        fits = isinstance(answer, ToolAnswer) is isinstance(question, CallTool)
        if question is not None and fits:
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
                return (CANCELLED,)
            if self._hangs or len(self._answers) < len(self._asked):
                await self._changed.park()
                continue
            match self._next_step():
                case Hang():
                    self._hangs = True
                case Ask(questions=questions):
                    self._asked = {question.call_id: question for question in questions}
                    return *questions, Await()
                case batch:
                    self._over = isinstance(batch[-1], Stop | Break)
                    return batch

    def _next_step(self) -> Batch | Ask | Hang:
        if not self._asked:
            return next(self._steps)
        answers = [self._answers[call_id] for call_id in self._asked]
        self._asked, self._answers = {}, {}
        return self._steps.send(answers)

    def close(self) -> None:
        """Close the turn; who receives from it is told so."""
        self._closed = True
        self._changed.unpark_all()

    async def aclose(self) -> None:
        """Close the turn; it never waits for anything."""
        self.close()
        await trio.lowlevel.checkpoint()


class ElizaSession:
    """A conversation with Eliza; it satisfies `agents.base.AgentSession`.

    It ends with our side of it, and is never lost before.
    """

    handle = None
    knows_history = False
    lost = None

    def __init__(self, eliza: Eliza, new_call_id: Callable[[], str]) -> None:
        self._eliza = eliza
        self._new_call_id = new_call_id
        self._turn: ElizaTurn | None = None

    def can_offer(self, tools: Sequence[ToolSpec]) -> bool:
        """Return true: each prompt brings its own."""
        return True

    async def renew(self, prompt: Prompt) -> None:
        """Take nothing: a turn's steps are made at its beginning."""
        await trio.lowlevel.checkpoint()

    def run(self, prompt: Prompt) -> ElizaTurn:
        """Hear what the users said, and begin the answer to the newest of it."""
        if self._turn is not None and self._turn.runs:
            raise LocalError("a turn of this session still runs; receive its last event first")
        self._hear(prompt.transcript)
        hook, answer = self._hear(prompt.messages)
        steps = say(answer) if hook is None else enact(hook, prompt.tools, self._new_call_id)
        self._turn = ElizaTurn(steps)
        return self._turn

    def answer(self, answer: Answer) -> None:
        """Hand over one answer."""
        if self._turn is not None:
            self._turn.answer(answer)

    async def cancel(self) -> None:
        """Ask the running turn to stop; it does at once."""
        if self._turn is not None:
            self._turn.cancel()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        """Close what is still open."""
        if self._turn is not None:
            self._turn.close()

    def _hear(self, messages: Sequence[ChatMessage]) -> tuple[Hook | None, str]:
        """Hear what users said. Return the hook, if the newest text is one, and the answer."""
        hook, answer = None, NOTHING_SAID
        for message in messages:
            text = request_text(message)
            if text is not None:
                hook = parse_hook(text)
                if hook is None:
                    answer = self._eliza.hear(text)
        return hook, answer


class ElizaAgent:
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
