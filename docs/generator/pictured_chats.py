"""Chats that are led through the real system, with an agent that notes what it is given.

They use the fakes of the tests: an editor that sends what VS Code sends, and an agent whose answers
are its script's. Time is virtual, so that an hour of silence takes none.
"""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import attrs
import trio
import trio.testing

from actors.mailbox import SUPERSEDED_SECONDS
from actors.trace import FileTrace
from agents.events import Prompt, Say
from agents.origin import ForkOf, Origin
from bridge.errors import Failure
from bridge.wire import ChatMessage, TextPart
from tests.fakes.editor import Chat, FakeEditor, connected_to, message, quiet, user
from tests.fakes.scripted_agent import Crash, Hang, ScriptedAgent, ScriptedSession, Steps
from tests.fakes.session_memory import Shelf, ShelfMemory

_AGENT: dict[str, Any] = {"acp": {"name": "an-agent", "command": "an-agent"}}
_GONE = Failure("AgentFailed", "The agent is gone.")


@attrs.frozen
class Given:
    """The messages that one session got at once."""

    session: int
    origin: Origin | None
    """The beginning of the session; None if these aren't its first messages."""
    fork_of: int | None
    past: tuple[str, ...]
    new: tuple[str, ...]
    answer: str


@attrs.define
class Run:
    """A chat as it went, for one picture."""

    is_able: bool = True
    """Whether the agent finds its sessions again, and forks them."""
    events: list[Given | str] = attrs.field(factory=list["Given | str"])
    """The messages that sessions got, and the events in between."""
    shelf: Shelf = attrs.field(factory=Shelf)
    trace: io.BytesIO = attrs.field(factory=io.BytesIO)
    """The messages between the editor and us, in the process that began last."""
    agent: ScriptedAgent = attrs.field(init=False)
    _handles: list[str] = attrs.field(factory=list[str])
    _seen: set[int] = attrs.field(factory=set[int])

    def __attrs_post_init__(self) -> None:
        self.agent = ScriptedAgent(
            self._answer, renames=False, has_handles=self.is_able, forgets=not self.is_able
        )

    @asynccontextmanager
    async def process(self) -> AsyncGenerator[FakeEditor]:
        """Run vscodelm until the block ends."""
        self.trace = io.BytesIO()
        async with connected_to(
            lambda _: self.agent, memory=ShelfMemory(self.shelf), trace=FileTrace(self.trace)
        ) as editor:
            yield editor
            self.trace = io.BytesIO(self.trace.getvalue())

    def note(self, what: str) -> None:
        """Note what the user, the host or the machine does."""
        self.events.append(what)

    def _answer(self, session: ScriptedSession, prompt: Prompt) -> Steps:
        is_first = session.number not in self._seen
        self._seen.add(session.number)
        new = _texts(prompt.messages)
        stops, crashes = "(stopped)" in new[-1], "(crashes)" in new[-1]
        answer = f"answer to {new[-1]}" if not (stops or crashes) else "answer, half"
        origin = self.agent.origins[session.number - 1] if is_first else None
        # A session that is found is the same one to the agent, and keeps its handle.
        handle = session.handle or f"nameless-{session.number}"
        if handle not in self._handles:
            self._handles.append(handle)
        number = self._handles.index(handle) + 1
        fork = self._handles.index(origin.handle) + 1 if isinstance(origin, ForkOf) else None
        fork = fork if session.knows_history else None
        self.events.append(Given(number, origin, fork, _texts(prompt.transcript), new, answer))
        last = [Hang()] if stops else [Crash(_GONE)] if crashes else []
        return [Say(answer), *last]


def _texts(messages: Sequence[ChatMessage]) -> tuple[str, ...]:
    return tuple(
        part.value
        for one in messages
        if one.role != "system"
        for part in one.content
        if isinstance(part, TextPart)
    )


@asynccontextmanager
async def _chat(run: Run, *words: str) -> AsyncGenerator[Chat]:
    """Have a chat in which this was said."""
    async with run.process() as editor:
        chat = Chat(editor, agent=_AGENT)
        for word in words:
            await chat.say(word)
        yield chat


async def _stopped(run: Run, chat: Chat, words: str) -> None:
    request = await chat.ask(words).shows("answer, half")
    chat.editor.cancel(request)
    await request.settled()
    await quiet()
    run.note("the user stops the answer")


def _again(editor: FakeEditor, chat: Chat) -> Chat:
    reopened = Chat(editor, agent=_AGENT)
    reopened.history = [*chat.history]
    return reopened


async def extend(run: Run) -> None:
    """Go on."""
    async with _chat(run, "A", "B"):
        pass


async def edit_and_undo(run: Run) -> None:
    """Edit the second of three turns, and undo that."""
    async with _chat(run, "A", "B", "C") as chat:
        before = [*chat.history]
        run.note("the user edits B")
        chat.take_back(4)
        await chat.say("B2")
        run.note("the user undoes the edit")
        chat.history = before
        await chat.say("D")


async def edit_and_undo_later(run: Run) -> None:
    """Edit the second of two turns, and undo that when the session of it is closed."""
    run.agent.one_session_each = True
    async with _chat(run, "A", "B") as chat:
        before = [*chat.history]
        run.note("the user edits B")
        chat.take_back(2)
        await chat.say("B2")
        run.note("a minute later session 1 is closed")
        await trio.sleep(SUPERSEDED_SECONDS + 1)
        run.note("the user undoes the edit")
        chat.history = before
        await chat.say("C")


async def retry(run: Run) -> None:
    """Ask for another answer."""
    async with _chat(run, "A", "B") as chat:
        run.note("the user asks for another answer")
        chat.take_back(2)
        await chat.say("B")


async def stop_and_go_on(run: Run) -> None:
    """Stop an answer, and say something else."""
    async with _chat(run, "A") as chat:
        await _stopped(run, chat, "B (stopped)")
        await chat.say("C")


async def stop_and_edit(run: Run) -> None:
    """Stop an answer, and edit its question."""
    async with _chat(run, "A") as chat:
        await _stopped(run, chat, "B (stopped)")
        run.note("the user edits B; nothing is done yet")
        chat.take_back(1)
        await chat.say("B2")


async def fork(run: Run) -> None:
    """Copy a whole chat, and go on in both."""
    async with run.process() as editor:
        chats: list[Chat] = []
        for log in ("one", "two"):
            options: dict[str, Any] = {"_conversationId": "c", "_telemetryTurn": 1}
            chat = Chat(
                editor, agent=_AGENT, options={"modelOptions": {**options, "_otelTraceContext": {}}}
            )
            chat.history = [message("system", f"Be kind.\nVSCODE_TARGET_SESSION_LOG: {log}\n")]
            chats.append(chat)
        origin, copy = chats
        await origin.say("A")
        await origin.say("B")
        run.note("the user copies the chat")
        copy.history += origin.history[1:]
        await copy.say("C, in the copy")
        await origin.say("D, in the original")


async def compaction(run: Run) -> None:
    """Have the beginning summed up by the host."""
    async with _chat(run, "A", "B", "C") as chat:
        run.note("the editor puts a summary in place of A and B")
        summary = "<conversation-summary>\nA and B.\n</conversation-summary>"
        chat.history[:4] = [user(summary)]
        await chat.say("D")


async def reload(run: Run) -> None:
    """End vscodelm, and go on in another process of it."""
    async with _chat(run, "A", "B") as chat:
        pass
    run.note("the window is reloaded: another process of vscodelm")
    async with run.process() as editor:
        await _again(editor, chat).say("C")


async def crash(run: Run) -> None:
    """Lose the agent in mid-turn."""
    async with _chat(run, "A") as chat:
        await chat.ask("B (crashes)").settled()
        run.note("the agent's process ends in mid-turn, the request fails with the reason")
        await chat.say("C")


async def crash_between_turns(run: Run) -> None:
    """Lose the agent while nobody waits for it."""
    async with _chat(run, "A") as chat:
        run.agent.lose(_GONE)
        run.note("the agent's process ends while nobody waits for it")
        await chat.say("B")


async def two_windows(run: Run) -> None:
    """Go on with one chat in two windows."""
    async with _chat(run, "A") as chat:
        pass
    run.note("the chat is opened in two windows")
    async with run.process() as left, run.process() as right:
        first, second = _again(left, chat), _again(right, chat)
        await first.say("B, in the first")
        await second.say("C, in the second")
        await first.say("D, in the first")


async def idle(run: Run) -> None:
    """Say nothing for longer than a session is kept."""
    async with run.process() as editor:
        chat = Chat(editor, agent=_AGENT, settings={"idleSeconds": 3600})
        await chat.say("A")
        await trio.sleep(3601)
        await quiet()
        run.note("an hour passes, the session is closed")
        await chat.say("B")


Play: TypeAlias = Callable[[Run], Awaitable[None]]


def played(play: Play, *, is_able: bool = True) -> Run:
    """Return how a chat goes."""
    run = Run(is_able)
    clock = trio.testing.MockClock(autojump_threshold=0)
    trio.run(play, run, clock=clock)
    return run
