"""VS Code's Agent Host repeats requests by itself: no prompt is executed twice."""

from __future__ import annotations

import json

import pytest
import trio
import trio.testing

from agents.events import Await, Break, CallTool, Say, Think
from bridge import methods
from bridge.errors import Failure, FailureKind
from bridge.fixes import LogIn, SetKey
from bridge.routing.repeats import FAILED_SECONDS, FINISHED_SECONDS, LASTING
from bridge.wire import PROGRESS_TOOL
from tests.fakes.editor import (
    JSON,
    Chat,
    FakeEditor,
    connected,
    message,
    quiet,
    tool_result,
    tools,
)
from tests.fakes.scripted_agent import Gate, ScriptedAgent

from .scenes import FOLDER, hosted_chat, texts

CORE: JSON = {"requestInitiator": "core"}
PACED: JSON = {**CORE, **tools("read_file", PROGRESS_TOOL)}
SUMMARISE = (
    "Please create a detailed summary of the conversation so far. The history is being compacted"
)
SUB_AGENT = "As a sub-agent, complete your parent's task"


def chat_with(editor: FakeEditor, options: JSON = CORE) -> Chat:
    return hosted_chat(editor, options)


# While the turn runs, and just after it.


async def test_a_repeat_while_its_turn_runs_joins_the_turn(
    autojump_clock: trio.testing.MockClock,
) -> None:
    gate = Gate()
    agent = ScriptedAgent([[Say("One "), Think("Hm."), Say("two "), gate, Say("three.")]])
    async with connected(agent) as editor:
        await editor.initialize("thinking").settled()
        chat = chat_with(editor)
        newest = await chat.ask("Count.").shows("two ")
        for _ in range(5):
            await trio.sleep(600)
            older, newest = newest, chat.ask()
            assert (await older.settled()).result == {}
            assert (await newest.shows("two ")).text == "One two "
        gate.opened.set()
        assert (await newest.settled()).text == "One two three."
        assert [part["type"] for part in newest.parts] == ["text", "thinking", "text", "text"]
        chat.keep(newest)
        assert (await chat.say("Thanks.")).text == "ok"
    assert [texts(prompt.messages)[-1] for prompt in agent.prompts] == ["Count.", "Thanks."]
    assert (agent.cancels, agent.sessions_opened) == ([], [1])


async def test_a_repeat_gets_the_calls_that_were_sent_and_its_results_answer_them(
    autojump_clock: trio.testing.MockClock,
) -> None:
    gate = Gate()
    steps = [Say("See: "), CallTool("a", "read_file", {"path": "x"}), gate, Await(), Say("It is.")]
    agent = ScriptedAgent([steps])
    async with connected(agent) as editor:
        chat = chat_with(editor, {**CORE, **tools("read_file")})
        first = chat.ask("Is it there?")
        await first.reaches(lambda: bool(first.calls))
        repeat = chat.ask()
        await first.settled()
        gate.opened.set()
        assert (await repeat.settled()).calls == first.calls
        again = await chat.ask().settled()  # it was lost, too
        assert (again.text, again.calls) == ("See: ", first.calls)
        chat.keep(again)
        assert (await chat.say(tool_result(again.calls[0], "yes"))).text == "It is."
    assert len(agent.prompts) == 1


@pytest.mark.limit("bridge.routing.repeats.FINISHED_SECONDS")
async def test_a_repeat_just_after_the_answer_gets_that_answer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[Say("One.")], [Say("Once more.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        assert (await chat.ask("Count.").settled()).text == "One."
        for _ in range(5):
            await trio.sleep(FINISHED_SECONDS / 6)
            assert (await chat.ask().settled()).text == "One."
        assert len(agent.prompts) == 1
        await trio.sleep(FINISHED_SECONDS)
        assert (await chat.ask().settled()).text == "Once more."


async def test_repeats_of_paced_requests_join_them(
    autojump_clock: trio.testing.MockClock,
) -> None:
    gate = Gate()
    agent = ScriptedAgent([[Say("One "), gate, Say("two.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor, PACED)
        paused = await chat.ask("Count.").settled(60)
        repeat = await chat.ask().settled(60)
        assert (repeat.text, repeat.calls) == (paused.text, paused.calls)
        chat.keep(repeat)
        rest = chat.ask(tool_result(repeat.calls[0], ""))
        await quiet()
        newest = chat.ask()
        await rest.settled(1)
        gate.opened.set()
        assert (await newest.settled(60)).text == "two."
    assert (len(agent.prompts), agent.cancels) == (1, [])


async def test_a_repeat_of_a_summary_joins_it(autojump_clock: trio.testing.MockClock) -> None:
    gate = Gate()
    agent = ScriptedAgent([[gate, Say("They met.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        first = chat.ask(SUMMARISE)
        await quiet()
        repeat = chat.ask()
        await first.settled()
        gate.opened.set()
        assert (await repeat.settled()).text == "They met."
    assert len(agent.prompts) == 1


async def test_sub_agents_with_one_task_are_no_repeats(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Not before one of them has results: these answer its own calls."""
    gate = Gate()
    ask = [CallTool("a", "read_file", {}), Await(), gate, Say("Done.")]
    agent = ScriptedAgent([ask, [Say("Other.")]])
    async with connected(agent) as editor:
        chats = [chat_with(editor, {**CORE, **tools("read_file")}) for _ in range(2)]
        for chat in chats:
            chat.history = [message("system", f"{SUB_AGENT}\n{FOLDER}")]
        one, other = chats
        asked = one.ask("Look.")
        assert (await other.ask("Look.").settled()).text == "Other."
        one.keep(await asked.settled())
        first = one.ask(tool_result(asked.calls[0], "x"))
        await quiet()
        repeat = one.ask()
        await first.settled()
        gate.opened.set()
        assert (await repeat.settled()).text == "Done."
    assert len(agent.prompts) == 2


async def test_the_same_question_of_another_folder_is_another_chats(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[Say("One.")], [Say("Two.")]])
    async with connected(agent) as editor:
        one, two = chat_with(editor), chat_with(editor)
        two.history = [message("system", FOLDER.replace("0c5", "1d6"))]
        asked = [one.ask("Count."), two.ask("Count.")]
        assert sorted([(await request.settled()).text for request in asked]) == ["One.", "Two."]


# After a failure.


@pytest.mark.limit("bridge.routing.repeats.FAILED_SECONDS")
async def test_repeats_get_the_failure_and_a_later_request_runs_anew(
    autojump_clock: trio.testing.MockClock,
) -> None:
    failure = Break(Failure("Unavailable", "The line is down."))
    agent = ScriptedAgent([[failure], [Say("It is up.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        first = await chat.ask("Hello.").settled(60)
        for _ in range(5):
            await trio.sleep(3)
            repeat = await chat.ask().settled(60)
            assert repeat.error == first.error
        assert len(agent.prompts) == 1, "no prompt is executed twice"
        await trio.sleep(FAILED_SECONDS)
        assert (await chat.say()).text == "It is up."


@pytest.mark.parametrize("kind", sorted(LASTING))
async def test_a_lasting_failure_is_told_as_the_answer(
    autojump_clock: trio.testing.MockClock, kind: FailureKind
) -> None:
    agent = ScriptedAgent([[Break(Failure(kind, "Log in first."))], [Say("Welcome.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        assert (await chat.say("Hello.")).text == "Log in first."
        assert (await chat.say("Again.")).text == "Welcome."


@pytest.mark.parametrize("kind", sorted(LASTING))
async def test_a_lasting_failure_of_a_summary_is_an_error(
    autojump_clock: trio.testing.MockClock, kind: FailureKind
) -> None:
    """As text it would take the place of what was said."""
    agent = ScriptedAgent([[Break(Failure(kind, "Log in first."))]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        request = await chat.ask(SUMMARISE).settled()
        assert (request.text, request.error["message"]) == ("", "Log in first.")
        assert (await chat.ask().settled()).error == request.error
    assert len(agent.prompts) == 1


async def test_a_lasting_failure_of_a_sub_agent_is_told_as_its_answer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[Break(Failure("Blocked", "No quota."))]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        chat.history = [message("system", f"{SUB_AGENT}\n{FOLDER}")]
        assert (await chat.say("Look.")).text == "No quota."


async def test_what_the_user_can_do_about_a_failure_goes_with_the_answer_that_tells_it(
    autojump_clock: trio.testing.MockClock,
) -> None:
    fixes = (LogIn("Log in", "oauth"), SetKey("Set KEY", ("KEY",)))
    failure = Failure("NoPermissions", "Log in first.", "401", "last words", fixes)
    agent = ScriptedAgent([[Break(failure)], [Say("Welcome.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor)
        await chat.say("Hello.")
        await chat.say("Again.")
        data = json.loads(json.dumps(failure.as_rpc_error().data))
        ends = [line for line in editor.lines if line.get("method") == methods.RESPONSE_COMPLETE]
    assert [line["params"] for line in ends] == [
        {
            "requestId": 1,
            "failure": {
                "message": "Log in first.",
                **data,
            },
        },
        {"requestId": 2},
    ]


async def test_a_failure_that_is_told_as_the_answer_shows_no_secret(
    autojump_clock: trio.testing.MockClock,
) -> None:
    secret = "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345"
    agent = ScriptedAgent([[Break(Failure("NoPermissions", secret))]])
    async with connected(agent) as editor:
        request = await chat_with(editor).say("Hello.")
    assert request.text
    assert "abcdefghijkl" not in str((request.text, editor.lines))


async def test_in_another_host_a_failure_is_an_error_and_a_repeat_runs_anew(
    autojump_clock: trio.testing.MockClock,
) -> None:
    agent = ScriptedAgent([[Break(Failure("Blocked", "No quota."))], [Say("It is up.")]])
    async with connected(agent) as editor:
        chat = chat_with(editor, {"requestInitiator": "github.copilot-chat"})
        assert (await chat.ask("Hello.").settled(60)).error["message"] == "No quota."
        assert (await chat.ask().settled(60)).text == "It is up."
