"""The chat's loop, over a whole system in this process."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import TypeAlias

import attrs
import pytest
import trio
from rich.console import Console
from trio.testing import memory_stream_one_way_pair, wait_all_tasks_blocked

from actors.system import run_system
from actors.trace import Trace
from agents.activities import Activities
from agents.base import Agent
from agents.directory import AgentDirectory, open_directory
from agents.events import AskPermission, Await, CallTool, Say
from bridge import methods
from bridge.models import AgentChoice, Catalogue, parse_catalogue
from bridge.wire import Stats, StatsParams, TextPart, ToolResultPart
from tests.fakes.scripted_agent import Hang, ScriptedAgent, Tell
from vscodelm.chat.client import Client, ServerGone, open_connection
from vscodelm.chat.loop import COMMANDS, Chat, ChatError
from vscodelm.chat.screen import Screen

Typed: TypeAlias = str | bool | None

MODELS = parse_catalogue(
    "[[models]]\nid = 'eliza'\nagent = { eliza = { deterministic = true } }\n"
    "[[models]]\nid = 'other'\nagent = { eliza = { deterministic = true } }\n"
)


class ScriptedLines:
    """A user who types this, line by line: strings, and for questions True, False or None."""

    def __init__(self, typed: Sequence[Typed], *, is_interactive: bool) -> None:
        self._typed = deque(typed)
        self._is_interactive = is_interactive
        self.edited: list[str] = []

    @property
    def is_interactive(self) -> bool:
        return self._is_interactive

    async def read(self) -> str:
        await trio.lowlevel.checkpoint()
        if not self._typed:
            raise EOFError
        line = self._typed.popleft()
        assert isinstance(line, str), "a line is read, and an answer to a question is typed"
        return line

    async def edit(self, text: str) -> str | None:
        self.edited.append(text)
        line = self._typed.popleft()
        assert not isinstance(line, bool)
        return line

    async def confirm(self, question: str) -> bool | None:
        await trio.lowlevel.checkpoint()
        line = self._typed.popleft()
        assert not isinstance(line, str), "a question is asked, and a line is typed"
        return line

    def quiet(self) -> AbstractContextManager[None]:
        return nullcontext()


@attrs.define(eq=False)
class Seat:
    """A chat with what it shows, and a way to its server."""

    chat: Chat
    client: Client
    lines: ScriptedLines
    out: io.StringIO
    notes: io.StringIO
    left: list[bool]
    activities: Activities
    """What the system's agents do that takes long."""

    async def talk(self) -> bool:
        with trio.fail_after(5):
            return await self.chat.talk(self.client)

    @property
    def answers(self) -> list[str]:
        return self.out.getvalue().splitlines()

    @property
    def shown(self) -> str:
        return self.notes.getvalue()

    async def matches(self) -> dict[str, int]:
        """Return how the server related the requests to what it knew."""
        with trio.fail_after(5):
            stats = await self.client.request(methods.STATS, StatsParams(), Stats)
        return {**stats.matches_by_rule, **stats.misses_by_reason}


@asynccontextmanager
async def seat(
    *typed: Typed,
    agent: Agent | None = None,
    catalogue: Catalogue = MODELS,
    model: str = "eliza",
    is_interactive: bool = True,
) -> AsyncGenerator[Seat]:
    """Return a chat that is connected to a system of its own."""
    async with (
        open_directory() as directory,
        _seat(
            directory,
            *typed,
            agent=agent,
            catalogue=catalogue,
            model=model,
            is_interactive=is_interactive,
        ) as taken,
    ):
        yield taken


@asynccontextmanager
async def _seat(
    directory: AgentDirectory,
    *typed: Typed,
    agent: Agent | None,
    catalogue: Catalogue,
    model: str,
    is_interactive: bool,
) -> AsyncGenerator[Seat]:
    def agent_for(choice: AgentChoice) -> Agent:
        return agent or directory.agent_for(choice)

    to_system, source = memory_stream_one_way_pair()
    sink, from_system = memory_stream_one_way_pair()

    activities = Activities()

    async def serve() -> None:
        async with sink:
            await run_system(
                source,
                sink,
                agent_for=agent_for,
                catalogue=catalogue,
                trace=Trace(),
                until=trio.CancelScope(),
                activities=activities,
            )

    out, notes = io.StringIO(), io.StringIO()
    screen = Screen(Console(file=out, width=80), Console(file=notes, width=80), is_live=False)
    lines = ScriptedLines(typed, is_interactive=is_interactive)
    left: list[bool] = []
    chat = Chat(lines, screen, model, leave=lambda: left.append(True))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        with trio.fail_after(5):
            async with open_connection(from_system, to_system, tell=screen.progress) as client:
                yield Seat(chat, client, lines, out, notes, left, activities)


async def test_a_line_is_answered_and_the_end_of_the_lines_ends_the_chat() -> None:
    async with seat("My boyfriend made me come here") as here:
        assert await here.talk()
    assert len(here.answers) == 1
    assert [message.role for message in here.chat.conversation.messages] == ["user", "assistant"]


async def test_what_follows_quit_is_not_said() -> None:
    async with seat("/quit", "Hello") as here:
        assert await here.talk()
    assert here.answers == []


async def test_the_agent_is_told_each_thing_once_while_the_chat_goes_on() -> None:
    agent = ScriptedAgent()
    async with seat("one", "two", agent=agent) as here:
        await here.talk()
        assert await here.matches() == {"new": 1, "extends": 1}
    said = [
        [part.value for m in p.messages for part in m.content if isinstance(part, TextPart)]
        for p in agent.prompts
    ]
    assert said == [["one"], ["two"]]


async def test_an_interrupt_stops_the_answer_and_what_was_said_stays() -> None:
    async with seat("!hang", "Hello") as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.talk)
        await wait_all_tasks_blocked()
        here.chat.interrupt()
        await wait_all_tasks_blocked()
        assert await here.matches() == {"new": 1, "extends": 1}
    assert here.answers[0].startswith("Let me listen")
    assert len(here.answers) == 2
    assert "Stopped." in here.shown
    roles = [message.role for message in here.chat.conversation.messages]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert not here.left


async def test_an_interrupted_question_can_be_asked_again() -> None:
    script = [[Say("Well, "), Hang()], [Say("Yes.")]]
    async with seat("So?", "/retry", agent=ScriptedAgent(script)) as here:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.talk)
            await wait_all_tasks_blocked()
            here.chat.interrupt()
        assert await here.matches() == {"new": 1, "retry": 1}
    assert here.answers == ["Well, ", "Yes."]


async def test_what_the_agent_needs_first_is_shown_and_an_interrupt_stops_it() -> None:
    come, fetching = trio.Event(), list[Activities]()

    class Fetched(ScriptedAgent):
        async def prepare(self) -> None:
            with fetching[0].begin("Fetching parrot") as activity:
                activity.tell("1 s")
                activity.tell("2 s")
                await come.wait()

    async with seat("Hello", "/retry", agent=Fetched([[Say("Yes.")]])) as here:
        fetching.append(here.activities)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(here.talk)
            await wait_all_tasks_blocked()
            assert here.shown == "Fetching parrot ...\n"
            here.chat.interrupt()
            await wait_all_tasks_blocked()
            assert here.shown.splitlines()[1:] == [
                "Stopped. The text so far stays; /retry asks again.",
                "Fetching parrot ...",
            ]
            come.set()
        assert here.answers == ["Yes."]


async def test_a_second_interrupt_does_not_wait_for_the_server() -> None:
    async with seat("!hang") as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.talk)
        await wait_all_tasks_blocked()
        here.chat.interrupt()
        here.chat.interrupt()
        await wait_all_tasks_blocked()
        assert len(here.chat.conversation.messages) == 2


async def test_calls_of_an_answer_that_was_stopped_are_not_made() -> None:
    script = [[CallTool("1", "current_time", {}), Hang()], [Say("Fine.")]]
    agent = ScriptedAgent(script)
    async with seat("Time?", "Never mind", agent=agent) as here, trio.open_nursery() as nursery:
        nursery.start_soon(here.talk)
        await wait_all_tasks_blocked()
        here.chat.interrupt()
    assert "->" not in here.shown
    assert here.answers == ["Fine."]


async def test_a_tool_is_run_and_the_agent_goes_on_with_its_result() -> None:
    async with seat("!tool current_time {}") as here:
        await here.talk()
    assert here.answers[0] == "The tool current_time answered:"
    assert "-> current_time {}" in here.shown
    assert f"<- {here.answers[-1]}" in here.shown


@pytest.mark.parametrize(("answer", "verdict"), [(True, "allowed"), (False, "denied")])
async def test_a_permission_is_the_users_to_give(answer: bool, verdict: str) -> None:
    async with seat("!permission Delete everything", answer) as here:
        await here.talk()
    assert here.answers == [f"You have {verdict} it: Delete everything"]
    assert "Delete everything" in here.shown


async def test_several_questions_are_answered_in_one_message() -> None:
    script = [
        [
            AskPermission("1", "Read it", "read"),
            CallTool("2", "current_time", {}),
            Await(),
            Tell(lambda session: " ".join(sorted(session.answers))),
        ]
    ]
    async with seat("Go", True, agent=ScriptedAgent(script)) as here:
        await here.talk()
    assert here.answers == ["1 2"]


async def test_who_stops_at_a_permission_gives_none_and_the_chat_goes_on() -> None:
    agent = ScriptedAgent([[AskPermission("1", "Delete it"), Await(), Say("Deleted.")]])
    async with seat("Go", None, "Hello", agent=agent) as here:
        await here.talk()
        assert await here.matches() == {"new": 1, "pending-call": 1}
    assert "Stopped." in here.shown
    assert here.answers == ["ok"]
    first = here.chat.conversation.messages[2].content[0]
    assert isinstance(first, ToolResultPart)
    assert first.is_error


async def test_a_failed_answer_is_shown_with_what_to_do_and_the_chat_goes_on() -> None:
    async with seat("!error", "Hello") as here:
        await here.talk()
    assert "Eliza failed" in here.shown
    assert "/retry asks again." in here.shown
    assert len(here.answers) == 2


async def test_an_edit_says_something_else_instead() -> None:
    agent = ScriptedAgent()
    async with seat("one", "/edit two", agent=agent) as here:
        await here.talk()
    assert here.chat.conversation.question == "two"
    assert len(here.chat.conversation.messages) == 2


async def test_an_edit_without_text_lets_the_user_change_the_last_question() -> None:
    async with seat("I am sda", "/edit", "I am sad") as here:
        await here.talk()
    assert here.lines.edited == ["I am sda"]
    assert here.chat.conversation.question == "I am sad"


@pytest.mark.parametrize("given_up", [None, "", "  "])
async def test_an_edit_that_is_given_up_changes_nothing(given_up: str | None) -> None:
    async with seat("I am sda", "/edit", given_up) as here:
        await here.talk()
    assert here.chat.conversation.question == "I am sda"
    assert len(here.answers) == 1


async def test_on_a_pipe_an_edit_needs_its_text() -> None:
    async with seat("one", "/edit", is_interactive=False) as here:
        await here.talk()
    assert "/edit TEXT" in here.shown
    assert here.lines.edited == []


@pytest.mark.parametrize("command", ["/retry", "/edit", "/edit two"])
async def test_before_anything_was_said_nothing_can_be_taken_back(command: str) -> None:
    async with seat(command) as here:
        await here.talk()
    assert "There is no message yet" in here.shown


async def test_a_new_chat_knows_nothing_of_the_old_one() -> None:
    async with seat("one", "/new", "two") as here:
        await here.talk()
        assert await here.matches() == {"new": 2}
    assert here.chat.conversation.question == "two"
    assert len(here.chat.conversation.messages) == 2


async def test_another_model_answers_from_then_on() -> None:
    async with seat("one", "/models other", "two", "/models") as here:
        await here.talk()
    assert here.chat.model == "other"
    assert "* other" in here.shown
    assert len(here.answers) == 2


async def test_a_model_that_is_not_there_is_refused_with_those_that_are() -> None:
    async with seat("/models nobody") as here:
        await here.talk()
    assert here.chat.model == "eliza"
    assert "There is no model 'nobody'; there is: eliza, other." in here.shown


async def test_a_chat_does_not_begin_with_a_model_that_is_not_there() -> None:
    async with seat(model="nobody") as here:
        with pytest.raises(ChatError, match="there is: eliza, other"):
            await here.talk()


async def test_the_help_names_every_command() -> None:
    async with seat("/help") as here:
        await here.talk()
    assert all(f"\n{command}" in f"\n{here.shown}" for command in COMMANDS)


async def test_an_unknown_command_is_not_said_but_can_be() -> None:
    agent = ScriptedAgent()
    async with seat("/compact", "//compact now", "", agent=agent) as here:
        await here.talk()
    assert "There is no command /compact" in here.shown
    assert here.chat.conversation.question == "/compact now"
    assert len(agent.prompts) == 1


async def test_an_interrupt_leaves_where_lines_come_from_a_pipe_and_nothing_runs() -> None:
    class Waits(ScriptedLines):
        async def read(self) -> str:
            await trio.sleep_forever()
            raise AssertionError("it waits")

    async with seat() as here, trio.open_nursery() as nursery:
        here.chat.lines = Waits((), is_interactive=False)
        nursery.start_soon(here.chat.talk, here.client)
        await wait_all_tasks_blocked()
        here.chat.interrupt()
        assert here.left == [True]
        here.chat.lines = Waits((), is_interactive=True)
        nursery.cancel_scope.cancel()


async def test_an_interrupt_from_outside_leaves_a_user_at_the_prompt_alone() -> None:
    class Waits(ScriptedLines):
        async def read(self) -> str:
            await trio.sleep_forever()
            raise AssertionError("it waits")

    async with seat() as here, trio.open_nursery() as nursery:
        here.chat.lines = Waits((), is_interactive=True)
        nursery.start_soon(here.chat.talk, here.client)
        await wait_all_tasks_blocked()
        here.chat.interrupt()
        assert here.left == []
        nursery.cancel_scope.cancel()


async def test_what_was_said_outlives_the_server() -> None:
    async with seat("one", "two") as here:
        await here.talk()
        said = list(here.chat.conversation.messages)
    gone = ServerGone("vscodelm was ended by signal 9.")
    here.client._gone = gone  # pyright: ignore[reportPrivateUsage]  # as when it dies meanwhile
    assert not await here.talk()
    assert "It is restarted; /retry asks again." in here.shown
    assert here.chat.conversation.messages == said
    async with seat("/retry") as again:
        again.chat.conversation = here.chat.conversation
        assert await again.talk()
        assert await again.matches() == {"new": 1}
    assert len(again.answers) == 1
