"""Long answers in VS Code's Agent Host: shown in pieces, and stopped by a missing result."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import pytest
import trio
import trio.testing

from actors.plan import GO_ON
from actors.progress.pace import FIRST_SECONDS, LONGEST_SECONDS, Pace
from actors.progress.turn import MOST_KEPT
from agents.events import (
    AskPermission,
    Await,
    CallTool,
    Counted,
    PermissionAnswer,
    Say,
    Stop,
    StopReason,
    Think,
    ToolAnswer,
)
from bridge.errors import Failure
from bridge.history.progress_rounds import is_progress_call
from bridge.wire import PERMISSION_TOOL, PROGRESS_TOOL
from tests.actors.scenes import FOLDER, hosted_chat, texts, told
from tests.fakes.editor import (
    JSON,
    Chat,
    FakeEditor,
    Request,
    connected,
    tool_result,
    tools,
)
from tests.fakes.scripted_agent import (
    STOP_CANCELLED,
    Crash,
    Do,
    Gate,
    Hang,
    Linger,
    ScriptedAgent,
    Step,
)

# When a response ends.


def dues(pace: Pace, rounds: int, *, says: bool = True) -> list[float]:
    """Return how long each response takes; the agent says something as each begins."""
    found: list[float] = []
    for _ in range(rounds):
        pace.respond(100)
        if says:
            pace.say(100)
        found.append(pace.due - 100)
        pace.pause()
    return found


@pytest.mark.limit("actors.progress.pace.FIRST_SECONDS")
@pytest.mark.limit("actors.progress.pace.LONGEST_SECONDS")
def test_the_pauses_grow_from_two_seconds_to_twenty() -> None:
    assert dues(Pace(), 6) == [2, 4, 8, 16, 20, 20]


def test_an_agent_that_says_nothing_is_asked_to_show_nothing_before_the_longest_wait() -> None:
    pace = Pace()
    assert dues(pace, 2, says=False) == [20, 20]
    assert not pace.has_shown
    assert dues(pace, 2) == [2, 4], "the first text is shown soon, whenever it comes"


def test_the_first_text_waits_from_when_it_came() -> None:
    pace = Pace()
    pace.respond(0)
    pace.say(5)
    pace.say(6)
    assert pace.due == 5 + FIRST_SECONDS
    pace = Pace()
    pace.respond(0)
    pace.say(LONGEST_SECONDS - 1)
    assert pace.due == LONGEST_SECONDS


# A chat of the Agent Host.

OFFERED = tools(PROGRESS_TOOL, PERMISSION_TOOL, "read_file") | {"requestInitiator": "core"}

SUMMARISE = (
    "Please create a detailed summary of the conversation so far. The history is being compacted"
)


def chat_with(editor: FakeEditor, options: JSON = OFFERED, system: str = FOLDER) -> Chat:
    return hosted_chat(editor, options, system)


def progress(request: Request) -> list[JSON]:
    return [call for call in request.calls if call["toolName"] == PROGRESS_TOOL]


async def shown(chat: Chat, *new: str | JSON) -> list[Request]:
    """Say something, and go on with every call of the progress tool, as the host does."""
    requests = [await chat.ask(*new).settled(60)]
    while calls := progress(requests[-1]):
        chat.keep(requests[-1])
        requests.append(await chat.ask(tool_result(calls[0], "")).settled(60))
    chat.keep(requests[-1])
    return requests


async def wait(seconds: float) -> None:
    await trio.sleep(seconds)
    await trio.testing.wait_all_tasks_blocked()


def after(nursery: trio.Nursery, *seconds: float) -> list[Gate]:
    """Return gates that open one after the other, each so long after the last one was reached."""
    gates = [Gate() for _ in seconds]

    async def open_in_time(gate: Gate, delay: float) -> None:
        await gate.reached.wait()
        await trio.sleep(delay)
        gate.opened.set()

    for gate, delay in zip(gates, seconds, strict=True):
        nursery.start_soon(open_in_time, gate, delay)
    return gates


async def test_a_long_answer_is_shown_in_pieces_of_one_turn(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    first, second = after(nursery, 3, 12)
    agent = ScriptedAgent([[Say("One "), first, Say("two "), second, Say("three.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        requests = await shown(chat, "Count.")
        assert [request.text for request in requests] == ["One ", "two ", "", "three."]
        assert (await chat.say("Thanks.")).text == "ok"
    assert [texts(prompt.messages)[-1] for prompt in agent.prompts] == ["Count.", "Thanks."]
    assert agent.answers == [], "the agent hears nothing of the rounds"
    assert [tool.name for tool in agent.prompts[0].tools] == ["read_file"]
    assert agent.sessions_opened == [1]


async def test_a_turn_of_eleven_minutes_is_one_turn_and_no_request_is_long(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, 660)
    agent = ScriptedAgent([[gate, Say("Done.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        before = trio.current_time()
        requests = await shown(chat, "Take eleven minutes.")
        assert trio.current_time() - before < 700
        assert len(requests) == 660 / LONGEST_SECONDS + 1
        assert requests[-1].text == "Done."
    assert (len(agent.prompts), agent.cancels) == (1, [])


@pytest.mark.limit("actors.progress.pace.STOPPED_SECONDS")
async def test_a_missing_result_stops_the_agent_and_the_session_goes_on(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[Say("Hello.")], [Say("One "), Hang()]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        await chat.say("Hello.")
        request = await chat.ask("Count.").settled(60)
        assert progress(request)
        await wait(7)
        assert agent.cancels == []
        await wait(2)
        assert agent.cancels == [2]
        # The host has dropped the answer: two messages of the user follow each other.
        assert (await chat.say("Stop counting.")).text == "ok"
    assert agent.cancels == [2], "it is told once"
    assert agent.sessions_opened == [1]
    assert texts(agent.prompts[2].messages) == ["Stop counting."]


async def test_a_stop_reaches_the_agent_in_time_whenever_it_comes(
    autojump_clock: trio.testing.MockClock,
) -> None:
    for stopped_at in (0.5, 2.1, 5.9, 6.1, 13.0, 29.0, 31.0, 100.0):
        agent = ScriptedAgent([[Say("One "), Hang()]])
        async with connected(agent) as editor:
            chat = chat_with(editor)
            began = trio.current_time()
            request = await chat.ask("Count.").settled(60)
            while trio.current_time() - began < stopped_at:
                chat.keep(request)
                request = await chat.ask(tool_result(progress(request)[0], "")).settled(60)
            while not agent.cancels:
                await wait(0.25)
            took = trio.current_time() - began - stopped_at
            assert took <= (12 if stopped_at < 6 else 30) + 0.25
            await chat.say("Next.")


async def test_a_result_that_comes_after_all_goes_on_with_the_turn(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[Say("One "), Linger(2)], [Say("three.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        request = await chat.say("Count.")
        await wait(20)
        assert agent.cancels == [1]
        late = await chat.say(tool_result(progress(request)[0], ""))
        assert late.text == "late late three."
        assert (await chat.say("Thanks.")).text == "ok"
    assert [prompt.messages for prompt in agent.prompts[1:2]] == [(GO_ON,)]
    assert agent.sessions_opened == [1]


async def test_a_turn_that_ends_while_its_result_is_missing_is_not_cancelled_and_not_lost(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, 5)
    agent = ScriptedAgent([[Say("One "), gate, Stop()]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        request = await chat.say("Count.")
        await wait(60)
        assert agent.cancels == []
        late = await chat.say(tool_result(progress(request)[0], ""))
        assert late.text == "*The agent is done.*", "a response is never empty"
    assert len(agent.prompts) == 1


@pytest.mark.limit("actors.progress.turn.MOST_KEPT")
async def test_an_agent_that_goes_on_for_ever_after_a_stop_has_to_wait(
    autojump_clock: trio.testing.MockClock,
) -> None:
    taken: list[int] = []
    flood: list[Step] = []
    for number in range(2 * MOST_KEPT):
        flood += [Do(lambda number=number: taken.append(number)), Say("more ")]
    agent = ScriptedAgent([[Say("Hello.")], [Say("One "), Hang()]])
    agent.when_cancelled = [*flood, STOP_CANCELLED]
    async with connected(agent) as editor:
        chat = chat_with(editor)
        await chat.say("Hello.")
        await chat.ask("Count.").settled(60)
        await wait(30)
        assert MOST_KEPT <= len(taken) <= MOST_KEPT + 2
        assert (await chat.say("Next.")).text == "ok"
    assert len(taken) == 2 * MOST_KEPT


@pytest.mark.parametrize("ask", [AskPermission("a", "Delete it"), CallTool("a", "read_file", {})])
async def test_what_an_agent_asks_after_a_stop_is_answered(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery, ask: AskPermission | CallTool
) -> None:
    before, later = after(nursery, 5, 0)
    steps: Sequence[Step] = [Say("One "), before, ask, Await(), Say("never")]
    agent = ScriptedAgent([[Say("Hello.")], steps])
    agent.when_cancelled = [later, AskPermission("b", "And this"), Await(), STOP_CANCELLED]
    async with connected(agent) as editor:
        chat = chat_with(editor)
        await chat.say("Hello.")
        await chat.ask("Count.").settled(60)
        await wait(30)
        assert [answer.call_id for answer in agent.answers] == ["a", "b"]
        assert (await chat.say("Next.")).text == "ok"
    assert agent.sessions_opened == [1]
    assert all(isinstance(answer, PermissionAnswer | ToolAnswer) for answer in agent.answers)


async def test_a_question_of_the_agent_waits_for_the_user_and_is_no_stop(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, 3)
    steps: Sequence[Step] = [
        Say("One "),
        gate,
        AskPermission("a", "Delete it"),
        Await(),
        Say("Deleted."),
    ]
    agent = ScriptedAgent([steps])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        requests = await shown(chat, "Delete it.")
        assert [call["toolName"] for call in requests[-1].calls] == [PERMISSION_TOOL]
        await wait(600)
        assert agent.cancels == []
        answer = await chat.say(tool_result(requests[-1].calls[0], "Approved"))
        assert answer.text == "Deleted."


async def test_a_call_that_is_announced_is_not_overtaken_by_the_progress_tool(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, LONGEST_SECONDS - 1)
    agent = ScriptedAgent([[Say("One "), CallTool("a", "read_file", {}), gate, Await(), Say("x")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        request = await chat.ask("Read.").settled(60)
        assert [call["toolName"] for call in request.calls] == ["read_file"]
        chat.keep(request)
        assert (await chat.say(tool_result(request.calls[0], "y"))).text == "x"


async def test_a_question_that_the_agent_takes_back_ends_a_response_and_no_more(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    """The host shows it with the response; the user may take time, and rounds go on after that."""
    (gate,) = after(nursery, 660)
    agent = ScriptedAgent([[Say("One "), AskPermission("a", "Delete it"), gate, Say("two.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        asked = await chat.ask("Count.").settled(LONGEST_SECONDS + 5)
        assert [call["toolName"] for call in asked.calls] == [PERMISSION_TOOL]
        chat.keep(asked)
        await wait(60)
        requests = await shown(chat, tool_result(asked.calls[0], "Approved"))
        assert len(requests) > 660 / LONGEST_SECONDS - 5
        assert requests[-1].text == "two."
    assert (len(agent.prompts), agent.cancels) == (1, [])


async def test_a_session_that_is_lost_during_a_pause_fails_the_next_request(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, 3)
    agent = ScriptedAgent([[Say("One "), gate, Crash(Failure("AgentFailed", "It crashed."))]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        request = await chat.say("Count.")
        await wait(5)
        late = await chat.ask(tool_result(progress(request)[0], "")).settled(60)
        assert late.error["message"] == "It crashed."


async def test_an_agent_that_stops_by_itself_is_told_as_such(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, 3)
    agent = ScriptedAgent([[Think("Hm."), Say("One "), gate, Stop(StopReason.MAX_TOKENS)]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        requests = await shown(chat, "Count.")
        assert requests[-1].text == "*The agent stopped: it reached its token limit.*"


async def test_an_answer_is_told_again_without_its_rounds(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, 3)
    agent = ScriptedAgent([[Say("One "), gate, Say("two.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        await shown(chat, "Count.")
    other = ScriptedAgent()
    async with connected(other) as editor:
        chat.editor = editor
        await chat.say("Go on.")
    assert told(other.prompts[0]) == ([FOLDER, "Count.", "One two."], ["Go on."])


async def test_a_turn_that_another_process_began_is_gone_on_with(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[Say("One "), Hang()]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        request = await chat.say("Count.")
    other = ScriptedAgent()
    async with connected(other) as editor:
        chat.editor = editor
        await chat.say(tool_result(progress(request)[0], ""))
    assert other.prompts[0].messages == (GO_ON,)


async def test_a_chat_that_was_stopped_is_idle(autojump_clock: trio.testing.MockClock) -> None:
    agent = ScriptedAgent([[Say("One "), Hang()]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        chat.settings = {"idleSeconds": 60}
        await chat.ask("Count.").settled(60)
        await wait(100)
        assert agent.sessions_closed == [1]


@pytest.mark.parametrize(
    ("options", "system", "is_told"),
    [
        (tools("read_file") | {"requestInitiator": "core"}, FOLDER, True),
        (tools(PROGRESS_TOOL) | {"requestInitiator": "core"}, "Explore.", False),
        (tools(PROGRESS_TOOL) | {"requestInitiator": "github.copilot-chat"}, FOLDER, False),
        (tools(PROGRESS_TOOL), FOLDER, False),
    ],
    ids=["not offered", "no chat", "the other harness", "another host"],
)
async def test_elsewhere_an_answer_is_one_response(
    autojump_clock: trio.testing.MockClock,
    nursery: trio.Nursery,
    caplog: pytest.LogCaptureFixture,
    options: JSON,
    system: str,
    is_told: bool,
) -> None:
    caplog.set_level(logging.INFO)
    (gate,) = after(nursery, 300)
    agent = ScriptedAgent([[Say("One "), gate, Say("two.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor, options, system)
        request = await chat.ask("Count.").settled(400)
        chat.keep(request)
        assert (request.text, request.calls) == ("One two.", [])
        await chat.say("Thanks.")
    lines = [line for line in caplog.messages if PROGRESS_TOOL in line]
    assert len(lines) == is_told, "it is said once"


@pytest.mark.parametrize(
    "options", [OFFERED, {"requestInitiator": "core"}], ids=["offered", "not offered"]
)
async def test_a_summary_is_one_response(
    autojump_clock: trio.testing.MockClock,
    nursery: trio.Nursery,
    caplog: pytest.LogCaptureFixture,
    options: JSON,
) -> None:
    caplog.set_level(logging.INFO)
    (gate,) = after(nursery, 60)
    agent = ScriptedAgent([[Say("They "), gate, Say("met.")]])
    async with connected(agent) as editor:
        request = await chat_with(editor, options).ask(SUMMARISE).settled(100)
        assert (request.text, request.calls) == ("They met.", [])
    assert agent.cancels == []
    assert [line for line in caplog.messages if PROGRESS_TOOL in line] == []


async def test_rounds_are_no_calls_in_the_statistics(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    (gate,) = after(nursery, 3)
    agent = ScriptedAgent([[Say("One "), gate, Counted(7), Say("two.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        requests = await shown(chat, "Count.")
        stats = await editor.call("lm/stats", {})
    assert all(is_progress_call(call["toolCallId"]) for one in requests for call in one.calls)
    assert len(requests) == 2
    assert stats["requestsByClass"] == {"main": 1}
    assert stats["requestsByHarness"] == {"agentHost": 1}
    assert stats["newestRequest"] == {"harness": "agentHost", "offersProgress": True}
    assert stats["matchesByRule"] == {}
