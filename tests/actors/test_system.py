"""One editor from first byte to last: backpressure, leaving, and that nothing is left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from actors.outbox import HIGH_WATER
from actors.response import DRAIN_SECONDS
from actors.system import LEAVING_SECONDS, REST_SECONDS, run_system
from actors.trace import Trace
from agents.events import AskPermission, Await, CallTool, Prompt, Say
from bridge.models import AgentChoice, Catalogue
from bridge.wire import McpServerSpec, TextPart
from tests.fakes.editor import (
    ASKING,
    Chat,
    FakeEditor,
    connected,
    connected_to,
    quiet,
    tools,
    user,
)
from tests.fakes.scripted_agent import (
    Deaf,
    Do,
    Gate,
    Hang,
    Linger,
    ScriptedAgent,
    ScriptedSession,
    Step,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trio.testing import MockClock

CALL = CallTool("call-1", "f", {})
PIECE = "x" * 1024


class Chatterbox(ScriptedAgent):
    """Talks for ever, but for a cancel, when it is asked to; `said` counts the pieces."""

    def __init__(self) -> None:
        super().__init__(self._talk)
        self.said = 0

    def _talk(self, session: ScriptedSession, prompt: Prompt) -> list[Step]:
        def count() -> None:
            self.said += 1

        if prompt.messages[-1].content != (TextPart("Talk."),):
            return [Say("ok")]
        steps: list[Step] = []
        for _ in range(2000):
            steps += [Do(count), Say(PIECE)]
        return [*steps, Hang()]


# An editor that doesn't read.


async def test_an_editor_that_stops_reading_stops_the_agent() -> None:
    agent = Chatterbox()
    async with connected(agent) as editor:
        editor.stop_reading()
        request = Chat(editor).ask("Talk.")
        await quiet()
        so_far = agent.said
        # what waits here, and one piece each with the actors and the writer
        assert so_far * len(PIECE) < 2 * HIGH_WATER
        assert request.parts == []
        editor.go_on_reading()
        await request.reaches(lambda: len(request.parts) == 2000)
        editor.cancel(request)
        await request.settled()
        assert request.text == PIECE * 2000


async def test_an_editor_that_stops_reading_can_still_cancel() -> None:
    agent = Chatterbox()
    async with connected(agent) as editor:
        editor.stop_reading()
        chat = Chat(editor)
        request = chat.ask("Talk.")
        await quiet()
        assert agent.cancels == []
        editor.cancel(request)
        await quiet()
        assert agent.cancels == [1]
        editor.go_on_reading()
        await request.settled()
        assert request.result == {}


async def test_an_editor_that_stops_reading_can_still_supersede() -> None:
    agent = Chatterbox()
    async with connected(agent) as editor:
        chat = Chat(editor)
        await chat.say("Hello")
        editor.stop_reading()
        old = chat.ask("Talk.")
        await quiet()
        new = chat.ask("Thanks.")
        await quiet()
        assert agent.cancels == [2]
        editor.go_on_reading()
        await old.settled()
        assert (await new.settled()).text == "ok"


async def test_the_small_requests_of_an_editor_that_stops_reading_are_heard() -> None:
    agent = Chatterbox()
    async with connected(agent) as editor:
        editor.stop_reading()
        talk = Chat(editor).ask("Talk.")
        await quiet()
        counts = [editor.request("lm/stats") for _ in range(10)]
        editor.cancel(talk)
        await quiet()
        assert agent.cancels == [1]
        editor.go_on_reading()
        for count in counts:
            await count.settled()


@pytest.mark.limit("actors.system.REST_SECONDS")
async def test_each_rest_is_told_once_and_none_while_a_request_is_open(
    autojump_clock: MockClock,
) -> None:
    rests: list[float] = []

    async def wait(seconds: float) -> None:
        await trio.sleep(seconds)
        await quiet()

    agent = ScriptedAgent(lambda session, prompt: [Hang()])
    async with connected_to(lambda choice: agent, at_rest=lambda: rests.append(1)) as editor:
        await wait(REST_SECONDS / 2)
        await editor.call("lm/stats")
        await wait(REST_SECONDS / 2)
        assert len(rests) == 0
        await wait(10 * REST_SECONDS)
        assert len(rests) == 1
        request = Chat(editor).ask("Go.")
        await wait(10 * REST_SECONDS)
        assert len(rests) == 1
        editor.cancel(request)
        await request.settled()
        await wait(REST_SECONDS / 2)
        request = Chat(editor).ask("Go.")
        await wait(10 * REST_SECONDS)
        assert len(rests) == 1
        editor.cancel(request)
        await request.settled()
        await wait(10 * REST_SECONDS)
        assert len(rests) == 2


async def test_models_are_found_and_rests_are_told_beside_each_other(
    autojump_clock: MockClock,
) -> None:
    """And both end with the editor, though neither ends by itself."""
    happened: list[str] = []

    async def list_models(catalogue: Catalogue, change: Callable[[Catalogue], None]) -> None:
        happened.append("listing")
        await trio.sleep_forever()

    with trio.fail_after(10 * REST_SECONDS):
        async with connected_to(
            lambda choice: ScriptedAgent(),
            list_models=list_models,
            at_rest=lambda: happened.append("rest"),
        ) as editor:
            await editor.call("lm/stats")
            await trio.sleep(2 * REST_SECONDS)
    assert happened == ["listing", "rest"]


# Leaving.


@pytest.mark.parametrize("how", ["end of input", "told to stop"])
async def test_leaving_settles_what_is_open_and_ends_what_runs(how: str) -> None:
    """A stream, a pending call, a pending question, an idle session and one that opens."""
    until = trio.CancelScope()
    scripts = {
        "stream": [Say("Well"), Hang()],
        "late": [Say("Well"), Linger(3)],
        "call": [CALL, Await()],
        "ask": [AskPermission("ask-1", "Do it"), Await()],
        "idle": [Say("Well")],
    }
    agents = {word: ScriptedAgent([script]) for word, script in scripts.items()}

    def agent_for(choice: AgentChoice) -> ScriptedAgent:
        assert isinstance(choice.spec.acp, McpServerSpec)
        return agents[choice.spec.acp.name]

    async with connected_to(agent_for, until=until) as editor:
        options = {"tools": tools("f")["tools"] + ASKING["tools"]}
        for word in scripts:
            agent = {"acp": {"name": word, "command": word}}
            Chat(editor, agent=agent, options=options).ask("Go.")
        await quiet()
        streams = list(editor.open.values())
        assert [request.text for request in streams] == ["Well", "Well"]
        if how == "told to stop":
            until.cancel()
    assert all(request.result == {} for request in streams)
    for word, agent in agents.items():
        assert agent.sessions_opened == agent.sessions_closed == [1], word
        assert agent.cancels == ([] if word == "idle" else [1]), word


async def test_a_request_after_the_end_is_not_heard_and_the_ones_before_are_answered() -> None:
    async with connected(ScriptedAgent([[Say("Well"), Hang()]])) as editor:
        requests = [Chat(editor).ask(f"{i}") for i in range(3)]
        editor.request("lm/stats")
        editor.close()
        for request in requests:
            await request.settled()


async def test_an_editor_that_never_said_anything_leaves_at_once() -> None:
    agent = ScriptedAgent()
    async with connected(agent):
        pass
    assert agent.sessions_opened == []


@pytest.mark.limit("actors.system.LEAVING_SECONDS")
async def test_a_session_that_opens_for_ever_does_not_keep_an_editor_from_leaving(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent(opening=[Gate()])
    async with connected(agent, leaves_within=0.1) as editor:
        request = Chat(editor).ask("one")
        await quiet()
        editor.close()
        await request.settled()
    assert agent.prompts == []


async def test_an_agent_that_does_not_stop_does_not_keep_an_editor_from_leaving(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent([[Say("Well"), Deaf()]])
    async with connected(agent, leaves_within=DRAIN_SECONDS + 1) as editor:
        request = await Chat(editor).ask("one").shows("Well")
        editor.close()
        await request.settled()
    assert agent.sessions_open == 0


async def test_a_session_that_closes_for_ever_does_not_keep_an_editor_from_leaving(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent(closing=[Gate()])
    async with connected(agent, leaves_within=LEAVING_SECONDS + 1) as editor:
        await Chat(editor).say("one")
    assert agent.sessions_open == 0


async def test_an_editor_that_leaves_without_reading_is_waited_for_and_then_given_up(
    autojump_clock: MockClock,
) -> None:
    agent = Chatterbox()
    to_system, source = trio.testing.memory_stream_one_way_pair()
    sink, from_system = trio.testing.lockstep_stream_one_way_pair()
    editor = FakeEditor(from_system, to_system)
    editor.stop_reading()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(editor.run)
        Chat(editor).ask("Talk.")
        editor.close()
        with trio.fail_after(LEAVING_SECONDS + 1):
            await run_system(
                source,
                sink,
                agent_for=lambda choice: agent,
                catalogue=Catalogue(),
                trace=Trace(),
                until=trio.CancelScope(),
            )
        assert agent.sessions_open == 0
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("leaves_by", ["broken output", "both ends"])
async def test_an_editor_that_is_gone_ends_the_system(leaves_by: str) -> None:
    agent = Chatterbox()
    to_system, source = trio.testing.memory_stream_one_way_pair()
    sink, from_system = trio.testing.lockstep_stream_one_way_pair()
    editor = FakeEditor(from_system, to_system)
    Chat(editor).ask("Talk.")

    async def leave() -> None:
        await quiet()
        await from_system.aclose()
        if leaves_by == "both ends":
            editor.close()

    async with trio.open_nursery() as nursery:
        editor.stop_reading()
        nursery.start_soon(editor.run)
        nursery.start_soon(leave)
        with trio.fail_after(5):
            await run_system(
                source,
                sink,
                agent_for=lambda choice: agent,
                catalogue=Catalogue(),
                trace=Trace(),
                until=trio.CancelScope(),
            )
        nursery.cancel_scope.cancel()
    assert agent.sessions_opened == agent.sessions_closed == [1]


async def test_what_comes_through_the_wire_is_traced_in_both_directions() -> None:
    class KeptTrace(Trace):
        def __init__(self) -> None:
            self.kept: list[tuple[str, bytes]] = []

        def line(self, direction: str, line: bytes) -> None:
            self.kept.append((direction, line))

        def lines(self, direction: str, lines: bytes) -> None:
            self.kept += [(direction, line) for line in lines.splitlines()]

    trace = KeptTrace()
    async with connected_to(lambda choice: ScriptedAgent(), trace=trace) as editor:
        await Chat(editor).say("one")
        editor.write(b"junk\n")
        await editor.refusals(1)
    assert [direction for direction, _ in trace.kept] == ["in", "out", "out", "out", "in", "out"]
    assert trace.kept[4] == ("in", b"junk")


async def test_a_hundred_sessions_end_together() -> None:
    agent = ScriptedAgent(lambda session, prompt: [Say("Well"), Hang()])
    async with connected(agent) as editor:
        requests = [editor.chat([user(f"{i}")]) for i in range(100)]
        for request in requests:
            await request.shows("Well")
        tasks = trio.lowlevel.current_statistics().tasks_living
        assert tasks > 100
    assert all(request.result == {} for request in requests)
    assert sorted(agent.cancels) == list(range(1, 101))
    assert agent.sessions_open == 0
    await quiet()
    assert trio.lowlevel.current_statistics().tasks_living < tasks - 100
