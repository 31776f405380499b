from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from msgspec import Raw

from actors.answers import INTERRUPTED, result_text
from actors.denials import denied_by_answer
from actors.plan import (
    NO_RESULT,
    AgentQuestion,
    Delivery,
    DeliveryPlan,
    offered_tools,
    plan,
    settings_for,
)
from agents.events import (
    AskPermission,
    CallTool,
    Decision,
    PermissionAnswer,
    ToolAnswer,
)
from bridge.history.transcript import TranscriptReader
from bridge.routing.request import RequestClass
from bridge.wire import (
    PERMISSION_TOOL,
    PERMISSION_TOOLS,
    Capabilities,
    ChatMessage,
    ChatOptions,
    EditsBy,
    Permissions,
    Settings,
    TextPart,
    ToolFilter,
    ToolResultPart,
    ToolSpec,
)
from tests.fakes.editor import JSON, assistant, message, text, tool_result, user

CALL = CallTool("1", "f", {})
OTHER_CALL = CallTool("2", "f", {})
ASK = AskPermission("3", "Delete it")
CALLED: JSON = {"type": "tool_call", "toolCallId": "1", "toolName": "f", "parameters": {}}
ASKED: JSON = CALLED | {"toolCallId": "3", "toolName": PERMISSION_TOOL}


def delivery(
    *messages: JSON, new_from: int, withdrawn: bool = False, settings: Settings | None = None
) -> Delivery:
    raws = [Raw(json.dumps(one).encode()) for one in messages]
    return Delivery(
        turn=1,
        transcript=TranscriptReader().read(raws),
        new_from=new_from,
        withdrawn=withdrawn,
        options=ChatOptions(),
        settings=settings or Settings(),
        tools=(),
        asks_by=PERMISSION_TOOL,
        capabilities=Capabilities(),
    )


def result_of(question: AgentQuestion, *texts: str, is_error: bool = False) -> JSON:
    return tool_result({"toolCallId": question.call_id}, *texts, is_error=is_error)


def texts_of(planned: DeliveryPlan) -> list[str]:
    return [
        part.value
        for message in planned.prompt
        for part in message.content
        if isinstance(part, TextPart)
    ]


# What is prompted.


def test_a_fresh_session_is_prompted_with_what_is_new() -> None:
    planned = plan(delivery(user("a"), assistant("b"), user("c"), new_from=2), fresh=True)
    assert planned == DeliveryPlan(prompt=(ChatMessage("user", (TextPart("c"),)),))


def test_system_messages_before_the_first_step_belong_to_it() -> None:
    planned = plan(delivery(message("system", "s"), user("a"), new_from=0), fresh=True)
    assert [said.role for said in planned.prompt] == ["system", "user"]


def test_what_a_session_missed_is_prompted_too() -> None:
    skipped = (ChatMessage("user", (TextPart("c"),)),)
    new = delivery(user("a"), assistant("b"), user("c"), user("d"), new_from=3)
    assert texts_of(plan(new, fresh=False, skipped=skipped)) == ["c", "d"]


def test_a_session_that_knows_what_was_withdrawn_is_replaced() -> None:
    withdrawn = delivery(user("a2"), new_from=0, withdrawn=True)
    assert plan(withdrawn, fresh=False) == DeliveryPlan(rewind=True)


def test_a_fresh_session_has_nothing_to_forget() -> None:
    history = user("a"), assistant("b"), user("c2")
    planned = plan(delivery(*history, new_from=2, withdrawn=True), fresh=True)
    assert planned == DeliveryPlan(prompt=(ChatMessage("user", (TextPart("c2"),)),))


def test_the_user_may_want_to_keep_a_session_that_knows_too_much() -> None:
    planned = plan(
        delivery(user("a2"), new_from=0, withdrawn=True, settings=Settings(rewind="continue")),
        fresh=False,
    )
    assert planned == DeliveryPlan(prompt=(ChatMessage("user", (TextPart("a2"),)),))


def test_a_withdrawn_turn_that_waits_is_abandoned_before_the_prompt() -> None:
    planned = plan(
        delivery(user("a2"), new_from=0, withdrawn=True, settings=Settings(rewind="continue")),
        fresh=False,
        open_questions=[CALL],
    )
    assert planned.abandon
    assert texts_of(planned) == ["a2"]
    assert planned.answers == ()


# What is answered.


@pytest.mark.parametrize("together", [False, True], ids=["apart", "together"])
def test_results_answer_their_calls_in_any_order_and_number_of_messages(together: bool) -> None:
    second, first = result_of(OTHER_CALL, "y"), result_of(CALL, "x", is_error=True)
    new = [user(*second["content"], *first["content"])] if together else [second, first]
    planned = plan(
        delivery(user("a"), *new, new_from=1), fresh=False, open_questions=[CALL, OTHER_CALL]
    )
    assert planned == DeliveryPlan(
        answers=(
            ToolAnswer("1", [text("x")], is_error=True),
            ToolAnswer("2", [text("y")]),
        )
    )


def test_a_call_without_a_result_is_answered_with_an_error() -> None:
    history = user("a"), assistant("", CALLED), user("b")
    planned = plan(delivery(*history, new_from=2), fresh=False, open_questions=[CALL])
    assert planned.answers == (ToolAnswer("1", NO_RESULT, is_error=True),)
    assert texts_of(planned) == ["b"]


def test_a_call_that_the_history_forgot_is_abandoned() -> None:
    """The user moved on, and the agent is not to wait for what nobody will answer."""
    planned = plan(delivery(user("a"), user("b"), new_from=1), fresh=False, open_questions=[CALL])
    assert planned == DeliveryPlan(abandon=True, prompt=(ChatMessage("user", (TextPart("b"),)),))


def test_what_comes_along_with_results_is_prompted() -> None:
    mixed = user("b", *result_of(CALL, "x")["content"], "c")
    planned = plan(
        delivery(user("a"), mixed, user("d"), new_from=1), fresh=False, open_questions=[CALL]
    )
    assert planned.answers == (ToolAnswer("1", [text("x")]),)
    assert texts_of(planned) == ["b", "c", "d"]


def test_results_that_nobody_waits_for_are_passed_on_as_they_are() -> None:
    planned = plan(
        delivery(user("a"), result_of(OTHER_CALL, "y"), new_from=1),
        fresh=False,
        open_questions=[CALL],
    )
    (said,) = planned.prompt
    assert said.content == (ToolResultPart("2", [text("y")]),)


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ("Approved", Decision.ALLOWED),
        ("Denied", Decision.DENIED),
        ("The user chose to skip the tool call, ...", Decision.DENIED),
        ("The user cancelled the tool call.", Decision.DENIED),
        (None, Decision.DENIED),
    ],
)
def test_only_an_approval_allows(answer: str | None, decision: Decision) -> None:
    new = [] if answer is None else [result_of(ASK, answer)]
    planned = plan(
        delivery(user("a"), assistant(ASKED), *new, new_from=2), fresh=False, open_questions=[ASK]
    )
    part = None if answer is None else ToolResultPart("3", answer)
    reason = denied_by_answer(part) if decision is Decision.DENIED else ""
    assert planned == DeliveryPlan(answers=(PermissionAnswer("3", decision, reason),))


def test_a_denial_with_new_text_means_that_the_user_moved_on() -> None:
    planned = plan(
        delivery(user("a"), result_of(ASK, "No"), user("b"), new_from=1),
        fresh=False,
        open_questions=[ASK],
    )
    assert planned.abandon
    assert texts_of(planned) == ["b"]


def test_results_that_come_with_a_denial_and_new_text_are_dropped_by_name() -> None:
    new = result_of(ASK, "No"), result_of(CALL, "x"), user("b")
    planned = plan(
        delivery(user("a"), *new, new_from=1), fresh=False, open_questions=[ASK, CALL, OTHER_CALL]
    )
    assert planned.abandon
    assert planned.dropped == ("1",)
    assert texts_of(planned) == ["b"]


def test_an_approval_with_new_text_goes_on_and_the_text_comes_after() -> None:
    new = result_of(ASK, "Approved"), user("b")
    planned = plan(delivery(user("a"), *new, new_from=1), fresh=False, open_questions=[ASK])
    assert planned.answers == (PermissionAnswer("3", Decision.ALLOWED),)
    assert texts_of(planned) == ["b"]
    assert not planned.abandon


@pytest.mark.parametrize("question", [CALL, ASK])
def test_a_call_that_the_user_interrupted_ends_the_turn_where_a_new_message_follows(
    question: AgentQuestion,
) -> None:
    called = CALLED if question is CALL else ASKED
    result = result_of(question, INTERRUPTED)
    new = delivery(user("a"), assistant(called), result, user("b"), new_from=2)
    planned = plan(new, fresh=False, open_questions=[question])
    assert (planned.abandon, texts_of(planned)) == (True, ["b"])
    alone = delivery(user("a"), assistant(called), result, new_from=2)
    assert not plan(alone, fresh=False, open_questions=[question]).abandon


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ("x", "x"),
        ([{"value": "x"}, {"other": "y"}, "z", 1], "xz"),
        ({"value": 1}, ""),
        (None, ""),
        (3.5, ""),
    ],
)
def test_the_text_of_a_result_is_that_of_its_text_parts(result: Any, expected: str) -> None:
    assert result_text(result) == expected


# Tools and settings.


@pytest.mark.parametrize(
    ("chosen", "offered"),
    [
        (ToolFilter(), ["read_file", "read_dir", "run"]),
        (ToolFilter(include=("read_*",)), ["read_file", "read_dir"]),
        (ToolFilter(exclude=("read_*",)), ["run"]),
        (ToolFilter(include=("read_*", "run"), exclude=("*dir",)), ["read_file", "run"]),
        (ToolFilter(include=()), []),
    ],
)
def test_the_agent_is_offered_the_chosen_tools_and_never_the_permission_tool(
    chosen: ToolFilter, offered: list[str]
) -> None:
    specs = tuple(ToolSpec(name) for name in ("read_file", *PERMISSION_TOOLS, "read_dir", "run"))
    for to_agent in (False, True):
        tools = offered_tools(ChatOptions(tools=specs), Settings(tools=chosen), to_agent=to_agent)
        assert [tool.name for tool in tools] == offered


_HOST = ("read_file", "run_in_terminal", "bash", "get_errors", "mcp_mine_read_file")


@pytest.mark.parametrize(
    ("chosen", "to_agent", "offered"),
    [
        (ToolFilter(duplicates="leave_out"), True, ["get_errors", "mcp_mine_read_file"]),
        (ToolFilter(duplicates="leave_out"), False, [*_HOST]),
        (ToolFilter(), True, [*_HOST]),
        (
            ToolFilter(include=("*", "bash"), duplicates="leave_out"),
            True,
            ["bash", "get_errors", "mcp_mine_read_file"],
        ),
        (ToolFilter(exclude=("get_*",), duplicates="leave_out"), True, ["mcp_mine_read_file"]),
    ],
)
def test_an_agent_is_not_offered_what_it_has_itself_and_a_model_is(
    chosen: ToolFilter, to_agent: bool, offered: list[str]
) -> None:
    options = ChatOptions(tools=tuple(ToolSpec(name) for name in _HOST))
    tools = offered_tools(options, Settings(tools=chosen), to_agent=to_agent)
    assert [tool.name for tool in tools] == offered


ALLOWED, DENIED = Decision.ALLOWED, Decision.DENIED


@pytest.mark.parametrize("request_class", list(RequestClass))
@pytest.mark.parametrize("context", ["request", "full", None])
def test_what_is_asked_beside_a_chat_is_told_whole_unless_the_settings_say_otherwise(
    request_class: RequestClass, context: Literal["request", "full"] | None
) -> None:
    settings = settings_for(Settings(context=context, permissions="deny"), request_class)
    one_shots = {RequestClass.UTILITY, RequestClass.COMPACTION, RequestClass.INLINE}
    assert settings.context == (context or ("full" if request_class in one_shots else None))
    assert settings.permissions == "deny"


@pytest.mark.parametrize(("edits", "offered"), [(None, True), ("editor", True), ("agent", False)])
def test_the_editors_edit_tools_are_offered_unless_the_agent_edits(
    edits: EditsBy | None, offered: bool
) -> None:
    tools = tuple(map(ToolSpec, ("read_file", "create_file", "replace_string_in_file")))
    settings = Settings(tools=ToolFilter(duplicates="leave_out"), edits=edits)
    kept = offered_tools(ChatOptions(tools), settings, to_agent=True)
    assert kept == (tools[1:] if offered else ())


@pytest.mark.parametrize("duplicates", ["offer", "leave_out"])
@pytest.mark.parametrize("permissions", ["ask", "read_only", "allow", "deny"])
def test_an_agent_that_may_change_no_file_gets_no_tool_that_does_it_unasked(
    permissions: Permissions, duplicates: Literal["offer", "leave_out"]
) -> None:
    edits = ("create_file", "replace_string_in_file", "edit_notebook_file")
    options = ChatOptions(tuple(map(ToolSpec, ("get_errors", *edits))))
    chosen = ToolFilter(include=("*", "create_file"), duplicates=duplicates)
    settings = Settings(tools=chosen, permissions=permissions, edits="editor")
    for to_agent in (False, True):
        kept = {tool.name for tool in offered_tools(options, settings, to_agent=to_agent)}
        may_change = not to_agent or permissions in ("ask", "allow")
        assert kept == {"get_errors", *(edits if may_change else ())}
