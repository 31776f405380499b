"""Calls of the editor's tools and questions for permission: how they go out and come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from actors.plan import NO_RESULT
from actors.response import DRAIN_SECONDS
from agents.events import (
    AskPermission,
    Await,
    CallTool,
    Decision,
    PermissionAnswer,
    PermissionKind,
    Prompt,
    Say,
    Stop,
    ToolAnswer,
)
from agents.origin import FRESH, Resumed
from bridge.wire import PERMISSION_TOOL, PERMISSION_TOOLS
from tests.fakes.editor import (
    ASKING,
    Chat,
    connected,
    message,
    quiet,
    text,
    tool_result,
    tools,
)
from tests.fakes.scripted_agent import (
    STOP_CANCELLED,
    Deaf,
    Gate,
    ScriptedAgent,
    ScriptedSession,
    Step,
    Tell,
)

from .scenes import texts

if TYPE_CHECKING:
    from trio.testing import MockClock

READ = CallTool("call-1", "read_file", {"path": "a.txt"})
READ_OTHER = CallTool("call-2", "read_file", {"path": "b.txt"})
DELETE = AskPermission("ask-1", "Delete a.txt", "delete", {"path": "a.txt"})
OFFERED = tools("read_file")


def reading(*after: Step) -> list[Step]:
    return [Say("Let me see. "), READ, Await(), *(after or [Say("I see.")])]


# Calls.


async def test_a_call_ends_the_response_and_its_result_goes_on_with_the_turn() -> None:
    agent = ScriptedAgent([reading()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        request = await chat.say("Read it.")
        assert request.parts == [
            text("Let me see. "),
            {
                "type": "tool_call",
                "toolCallId": "call-1",
                "toolName": "read_file",
                "parameters": {"path": "a.txt"},
            },
        ]
        answer = await chat.say(tool_result(request.calls[0], "forty-two"))
        assert answer.text == "I see."
        assert (await chat.say("Thanks.")).text == "ok"
    assert agent.answers == [ToolAnswer("call-1", [text("forty-two")])]
    assert [texts(prompt.messages) for prompt in agent.prompts] == [["Read it."], ["Thanks."]]


async def test_a_result_that_says_it_is_an_error_is_one() -> None:
    agent = ScriptedAgent([reading()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        request = await chat.say("Read it.")
        await chat.say(tool_result(request.calls[0], "no such file", is_error=True))
    assert agent.answers == [ToolAnswer("call-1", [text("no such file")], is_error=True)]


async def test_text_instead_of_a_result_is_prompted_after_the_turn_in_the_same_response() -> None:
    agent = ScriptedAgent([reading(), [Say("Fine.")]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        await chat.say("Read it.")
        answer = await chat.say("Never mind.")
    assert answer.text == "I see.Fine."
    assert agent.answers == [ToolAnswer("call-1", NO_RESULT, is_error=True)]
    assert texts(agent.prompts[-1].messages) == ["Never mind."]
    assert agent.cancels == []


async def test_text_after_results_is_prompted_after_the_turn_in_the_same_response() -> None:
    agent = ScriptedAgent([reading(), [Say("You're welcome.")]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        request = await chat.say("Read it.")
        answer = await chat.say(tool_result(request.calls[0], "x"), "Thanks.")
        assert answer.text == "I see.You're welcome."
        await chat.say("Bye.")
    assert [texts(prompt.messages) for prompt in agent.prompts] == [
        ["Read it."],
        ["Thanks."],
        ["Bye."],
    ]


async def test_text_after_results_waits_while_the_turn_makes_more_calls() -> None:
    agent = ScriptedAgent([reading(READ_OTHER, Await(), Say("I see."))])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        request = await chat.say("Read it.")
        request = await chat.say(tool_result(request.calls[0], "x"), "Thanks.")
        assert [call["toolCallId"] for call in request.calls] == ["call-2"]
        assert len(agent.prompts) == 1
        answer = await chat.say(tool_result(request.calls[0], "y"))
        assert answer.text == "I see.ok"
    assert [texts(prompt.messages) for prompt in agent.prompts] == [["Read it."], ["Thanks."]]


async def test_a_call_of_a_tool_that_is_not_offered_never_reaches_the_editor() -> None:
    agent = ScriptedAgent([reading()])
    async with connected(agent) as editor:
        request = await Chat(editor, options=tools("write_file")).say("Read it.")
    assert request.calls == []
    assert request.text == "Let me see. I see."
    assert agent.answers == [ToolAnswer("call-1", "read_file is not offered.", is_error=True)]


async def test_tools_that_the_settings_leave_out_are_not_offered() -> None:
    agent = ScriptedAgent([reading()])
    async with connected(agent) as editor:
        chat = Chat(
            editor,
            options=tools("read_file", "read_dir", PERMISSION_TOOL),
            settings={"tools": {"exclude": ["*_file"]}},
        )
        request = await chat.say("Read it.")
    assert request.calls == []
    assert [tool.name for tool in agent.prompts[0].tools] == ["read_dir"]


async def test_tools_that_come_with_results_are_offered_before_the_results() -> None:
    agent = ScriptedAgent([reading()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED, settings={"tools": {"exclude": ["run"]}})
        request = await chat.say("Read it.")
        chat.options = tools("read_file", "write_file", "run")
        assert (await chat.say(tool_result(request.calls[0], "x"))).text == "I see."
    ((answers_before, renewal),) = agent.renewals
    assert (answers_before, [tool.name for tool in renewal.tools]) == (
        0,
        ["read_file", "write_file"],
    )
    assert len(agent.answers) == 1


async def test_a_session_that_can_not_be_given_tools_gives_way_when_its_turn_is_over() -> None:
    def script(session: ScriptedSession, prompt: Prompt) -> list[Step]:
        session.takes_tools = session.number > 1
        names = [tool.name for tool in prompt.tools]
        return asking() if len(agent.prompts) == 1 else [Say(f"{session.number} {names}")]

    agent = ScriptedAgent(script)
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete it.")
        chat.options = tools("read_file", PERMISSION_TOOL)
        answer = await chat.say(tool_result(request.calls[0], "Approved"))
        assert answer.text == "allowed", "a turn that waits is not thrown away"
        assert (await chat.say("Read it.")).text == "2 ['read_file']"
        chat.options = ASKING
        assert (await chat.say("Bye.")).text == "2 []"
    assert agent.sessions_opened == [1, 2]
    assert agent.origins == [FRESH, Resumed("scripted-1")]


async def test_calls_of_two_chats_stay_apart() -> None:
    def script(session: ScriptedSession, prompt: object) -> list[Step]:
        call = CallTool(f"call-{session.number}", "read_file", {})
        return [call, Await(), Tell(lambda session: repr(list(session.answers)))]

    agent = ScriptedAgent(script)
    async with connected(agent) as editor:
        chats = [Chat(editor, options=OFFERED) for _ in range(2)]
        requests = [chat.ask("Read it.") for chat in chats]
        for chat, request in zip(chats, requests, strict=True):
            await request.settled()
            chat.keep(request)
        for chat, request in reversed(list(zip(chats, requests, strict=True))):
            answer = await chat.say(tool_result(request.calls[0], "x"))
            assert answer.text == repr([request.calls[0]["toolCallId"]])


async def test_an_edit_while_calls_are_pending_stops_the_turn_before_the_session_goes() -> None:
    agent = ScriptedAgent([[Say("Hello")], reading()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        await chat.say("Hello")
        await chat.say("Read it.")
        chat.take_back(2)
        assert (await chat.say("Read nothing.")).text == "ok"
    assert agent.cancels == [2]
    assert agent.answers == [ToolAnswer("call-1", "The turn was cancelled.", is_error=True)]
    assert agent.sessions_opened == [1, 2]


async def test_who_keeps_a_session_that_waits_has_the_turn_stopped_first() -> None:
    agent = ScriptedAgent([[Say("Hello")], reading()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED, settings={"rewind": "continue"})
        await chat.say("Hello")
        await chat.say("Read it.")
        chat.take_back(2)
        assert (await chat.say("Read nothing.")).text == "ok"
    assert agent.cancels == [2]
    assert agent.sessions_opened == [1]
    assert texts(agent.prompts[-1].messages) == ["Read nothing."]


async def test_an_agent_that_does_not_stop_for_an_edit_while_it_waits_loses_its_session(
    autojump_clock: MockClock,
) -> None:
    agent = ScriptedAgent([[Say("Hello")], reading()], when_cancelled=(Deaf(),))
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED, settings={"rewind": "continue"})
        await chat.say("Hello")
        await chat.say("Read it.")
        chat.take_back(2)
        request = await chat.ask("Read nothing.").settled(within=DRAIN_SECONDS + 1)
        assert request.text == "ok"
    assert agent.sessions_opened == [1, 2]
    assert texts(agent.prompts[-1].transcript) == ["Hello", "Hello"]


async def test_a_cancel_while_the_results_are_worked_on_stops_the_turn() -> None:
    working = Gate()
    agent = ScriptedAgent([reading(Say("I"), working)])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        request = await chat.say("Read it.")
        answer = await chat.ask(tool_result(request.calls[0], "x")).shows("I")
        editor.cancel(answer)
        await answer.settled()
        chat.keep(answer)
        assert (await chat.say("Go on.")).text == "ok"
    assert agent.cancels == [1]
    assert texts(agent.prompts[-1].messages) == ["Go on."]


# Permissions.


@pytest.mark.parametrize("name", PERMISSION_TOOLS)
async def test_a_question_is_a_call_by_the_name_that_the_host_offers(name: str) -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=tools("read_file", name))
        request = await chat.say("Delete it.")
        assert [call["toolName"] for call in request.calls] == [name]
        assert (await chat.say(tool_result(request.calls[0], "Approved"))).text == "allowed"
    assert [tool.name for tool in agent.prompts[0].tools] == ["read_file"]


def asking(ask: AskPermission = DELETE) -> list[Step]:
    return [ask, Await(), Tell(decisions)]


def decisions(session: ScriptedSession) -> str:
    return " ".join(
        answer.decision.value
        for answer in session.answers.values()
        if isinstance(answer, PermissionAnswer)
    )


async def test_a_permission_is_asked_through_the_hosts_tool() -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete it.")
        assert request.parts == [
            {
                "type": "tool_call",
                "toolCallId": "ask-1",
                "toolName": "symposium-agent-action",
                "parameters": {"title": "Delete a.txt", "kind": "delete", "path": "a.txt"},
            }
        ]
        answer = await chat.say(tool_result(request.calls[0], "Approved"))
    assert answer.text == "allowed"
    assert agent.answers == [PermissionAnswer("ask-1", Decision.ALLOWED)]
    assert agent.prompts[0].tools == ()


@pytest.mark.parametrize(
    "answer",
    [
        "Denied",
        "",
        "I approved nothing",
        "The user chose to skip the tool call, they want to proceed without running it",
        "The user cancelled the tool call.",
    ],
)
async def test_a_result_without_the_word_denies_and_the_turn_goes_on(answer: str) -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete it.")
        request = await chat.say(tool_result(request.calls[0], answer))
    assert request.text == "denied"
    assert agent.cancels == []


@pytest.mark.parametrize(
    ("permissions", "allowed", "decision"),
    [
        ("ask", "delete", "allowed"),
        ("read_only", "delete", "denied"),
        ("deny", "delete", "denied"),
    ],
)
async def test_what_the_user_allows_isnt_asked_and_the_settings_come_first(
    permissions: str, allowed: str, decision: str
) -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        options = ASKING | {"allowed": [{"kind": allowed}]}
        chat = Chat(editor, options=options, settings={"permissions": permissions})
        request = await chat.say("Delete it.")
        assert (request.calls, request.text) == ([], decision)
        assert len(agent.answers) == 1


async def test_what_the_user_allows_of_another_kind_is_asked() -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING | {"allowed": [{"kind": "execute"}]})
        assert len((await chat.say("Delete it.")).calls) == 1


async def test_an_approval_takes_the_agents_own_answer_along() -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete it.")
        await chat.say(tool_result(request.calls[0], "Approved with option: always"))
    assert agent.answers == [PermissionAnswer("ask-1", Decision.ALLOWED, option="always")]


async def test_an_approval_that_is_an_error_denies() -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete it.")
        request = await chat.say(tool_result(request.calls[0], "Approved", is_error=True))
    assert request.text == "denied"


@pytest.mark.parametrize("with_result", [True, False])
async def test_a_user_who_denies_and_says_something_else_has_moved_on(with_result: bool) -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete it.")
        results = [tool_result(request.calls[0], "No")] if with_result else []
        answer = await chat.say(*results, "What is in it?")
        assert answer.text == "ok"
    assert agent.cancels == [1]
    assert agent.answers == [PermissionAnswer("ask-1", Decision.ABANDONED)]
    assert [texts(prompt.messages) for prompt in agent.prompts] == [
        ["Delete it."],
        ["What is in it?"],
    ]
    assert agent.sessions_opened == [1]


async def test_a_result_that_comes_with_a_denial_and_new_text_is_dropped_and_the_log_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "vscodelm.session")
    agent = ScriptedAgent([[DELETE, READ, Await()]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=tools("read_file", PERMISSION_TOOL))
        ask, call = (await chat.say("Delete it.")).calls
        await chat.say(tool_result(call, "x"), tool_result(ask, "No"), "What is in it?")
    assert "call=call-1 result dropped: the user has moved on" in caplog.text
    assert [type(answer) for answer in agent.answers] == [PermissionAnswer, ToolAnswer]


async def test_text_after_an_approval_is_prompted_after_the_turn() -> None:
    agent = ScriptedAgent([asking()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete it.")
        answer = await chat.say(tool_result(request.calls[0], "Approved"), "Thanks.")
        assert answer.text == "allowedok"
    assert agent.cancels == []


async def test_several_permissions_are_each_decided_by_their_own_result() -> None:
    other = AskPermission("ask-2", "Delete b.txt", "delete")
    agent = ScriptedAgent([[DELETE, other, Await(), Say("Done.")]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete both.")
        first, second = request.calls
        await chat.say(tool_result(second, "Approved"), tool_result(first, "No"))
    assert agent.answers == [
        PermissionAnswer("ask-1", Decision.DENIED, "The editor answered: No"),
        PermissionAnswer("ask-2", Decision.ALLOWED),
    ]


@pytest.mark.parametrize(
    ("permissions", "kind", "decision"),
    [
        ("ask", "read", "denied"),
        ("ask", "delete", "denied"),
        ("read_only", "read", "allowed"),
        ("read_only", "search", "allowed"),
        ("read_only", "think", "allowed"),
        ("read_only", "delete", "denied"),
        ("allow", "delete", "allowed"),
        ("deny", "read", "denied"),
    ],
)
@pytest.mark.parametrize("can_ask", [False, True], ids=["tool absent", "tool offered"])
async def test_where_nobody_is_asked_the_settings_decide(
    permissions: str, kind: PermissionKind, decision: str, can_ask: bool
) -> None:
    agent = ScriptedAgent([asking(AskPermission("ask-1", "Do it", kind))])
    async with connected(agent) as editor:
        chat = Chat(
            editor, options=ASKING if can_ask else OFFERED, settings={"permissions": permissions}
        )
        request = await chat.say("Do it.")
        if can_ask and permissions == "ask":
            assert [call["toolName"] for call in request.calls] == [PERMISSION_TOOL]
        else:
            assert request.calls == []
            assert request.text == decision


async def test_settings_that_change_in_mid_turn_decide_what_is_asked_from_then_on() -> None:
    other = AskPermission("ask-2", "Delete b.txt", "delete")
    agent = ScriptedAgent([[DELETE, Await(), other, Await(), Tell(decisions)]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        request = await chat.say("Delete both.")
        chat.settings = {"permissions": "allow"}
        answer = await chat.say(tool_result(request.calls[0], "Approved"))
    assert answer.calls == []
    assert answer.text == "allowed allowed"


async def test_a_call_and_a_permission_may_be_pending_together() -> None:
    agent = ScriptedAgent([[READ, DELETE, Await(), Tell(decisions)]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=tools("read_file", PERMISSION_TOOL))
        request = await chat.say("Do both.")
        call, ask = request.calls
        answer = await chat.say(tool_result(ask, "Approved"), tool_result(call, "x"))
    assert answer.text == "allowed"


async def test_what_an_agent_asks_while_it_stops_is_answered_and_never_shown() -> None:
    """Three real agents hang otherwise."""
    late = AskPermission("ask-9", "Delete more", "delete")
    agent = ScriptedAgent(
        [asking()],
        when_cancelled=(CallTool("call-9", "read_file", {}), late, Await(), STOP_CANCELLED),
    )
    async with connected(agent) as editor:
        chat = Chat(editor, options=tools("read_file", PERMISSION_TOOL))
        await chat.say("Delete it.")
        answer = await chat.say("What is in it?")
        assert answer.calls == []
    assert agent.answers == [
        PermissionAnswer("ask-1", Decision.ABANDONED),
        ToolAnswer("call-9", "The turn was cancelled.", is_error=True),
        PermissionAnswer("ask-9", Decision.ABANDONED),
    ]


async def test_the_request_with_which_a_user_moves_on_may_be_cancelled_while_the_turn_stops() -> (
    None
):
    """The next prompt still waits for the stop."""
    stopping = Gate()
    agent = ScriptedAgent([asking()], when_cancelled=(stopping, STOP_CANCELLED))
    async with connected(agent) as editor:
        chat = Chat(editor, options=ASKING)
        await chat.say("Delete it.")
        request = chat.ask("What is in it?")
        await quiet()
        assert stopping.reached.is_set()
        editor.cancel(request)
        await request.settled()
        third = chat.ask("And who wrote it?")
        await quiet()
        assert len(agent.prompts) == 1
        stopping.opened.set()
        await third.settled()
        assert third.text == "ok"
    assert [texts(prompt.messages) for prompt in agent.prompts] == [
        ["Delete it."],
        ["What is in it?", "And who wrote it?"],
    ]
    assert agent.cancels == [1]
    assert agent.sessions_opened == [1]


async def test_a_turn_that_stops_with_a_question_unanswered_asks_nothing_any_more() -> None:
    """The agent went on by itself; a result that comes then is passed on as it is."""
    agent = ScriptedAgent([[READ, Say("Never mind."), Stop()]])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        request = await chat.say("Read it.")
        assert (await chat.say(tool_result(request.calls[0], "x"))).text == "ok"
    assert agent.answers == []
    assert len(agent.prompts) == 2


async def test_text_that_was_withdrawn_before_it_was_prompted_never_is() -> None:
    """Also where the session that knows too much is kept."""
    working = Gate()
    agent = ScriptedAgent([reading(Say("I"), working)])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED, settings={"rewind": "continue"})
        request = await chat.say("Read it.")
        answer = await chat.ask(tool_result(request.calls[0], "x"), "Delete it.").shows("I")
        editor.cancel(answer)
        await answer.settled()
        chat.take_back(1)
        assert (await chat.say("Keep it.")).text == "ok"
    assert [texts(prompt.messages) for prompt in agent.prompts] == [["Read it."], ["Keep it."]]


async def test_a_turn_that_goes_on_is_told_what_is_new_before_the_results() -> None:
    """The host may change its system prompt and its tools from each request to the next."""
    agent = ScriptedAgent([reading()])
    async with connected(agent) as editor:
        chat = Chat(editor, options=OFFERED)
        chat.history.append(message("system", "be brief"))
        request = await chat.say("Read it.")
        chat.history[0] = message("system", "be long")
        chat.options = tools("read_file", "write_file")
        await chat.say(tool_result(request.calls[0], "aaa"))
    (prompt,) = agent.prompts
    ((_, renewal),) = agent.renewals
    assert [texts(one.system or ()) for one in (prompt, renewal)] == [["be brief"], ["be long"]]
    assert [tool.name for tool in renewal.tools] == ["read_file", "write_file"]
    assert renewal.messages == renewal.transcript == ()
