"""What kind of request it is, by what hosts say and were recorded to say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.message import Message
from bridge.routing.request import Harness, Hints, RequestClass, RequestSource, classify
from bridge.wire import PROGRESS_TOOL, ChatOptions, TextPart, ToolSpec
from tests.strategies import assistant, json_values, messages, user

MAIN, UTILITY = RequestClass.MAIN, RequestClass.UTILITY
COMPACTION, INLINE = RequestClass.COMPACTION, RequestClass.INLINE

Q1, A1, Q2 = user("q1"), assistant("a1"), user("q2")
TOOLS = [f"tool_{number}" for number in range(40)]

CORRELATION = {"_capturingTokenCorrelationId": "f3"}
TRACE = {"_otelTraceContext": {"traceId": "7", "spanId": "1"}}
BUILT_IN: dict[str, Any] = CORRELATION | TRACE
LOOP: dict[str, Any] = BUILT_IN | {"_conversationId": "c", "_telemetryTurn": 1}
FORK = {key: value for key, value in LOOP.items() if key != "_telemetryTurn"}


def system(text: str) -> Message:
    return Message.of("system", [TextPart(text)])


AGENT = system("You are an expert AI programming assistant, working with a user.")
SUMMARISER = system("\nYour task is to create a comprehensive, detailed summary of the chat.")
TITLES = system("You are an expert in crafting pithy titles for chatbot conversations.")
COMMITS = system(
    "You are an AI programming assistant, helping a software developer to come with the best git "
    "commit message for their code changes."
)

# What the built-in agent sends, as recorded.


@pytest.mark.parametrize("path", [(Q1,), (Q1, A1, Q2), ()])
@pytest.mark.parametrize("tools", [TOOLS, TOOLS[:1], []])
def test_a_turn_of_a_chat_has_an_id_and_a_number(
    path: tuple[Message, ...], tools: list[str]
) -> None:
    """In agent mode with forty tools, in ask mode with none."""
    assert classify(path, [AGENT], tools, LOOP) is MAIN


@pytest.mark.parametrize("lineage", [TITLES, COMMITS, system("a prompt that is new to us")])
@pytest.mark.parametrize("options", [BUILT_IN, CORRELATION, TRACE, TRACE | {"_conversationId": ""}])
def test_no_id_and_no_tools_is_a_title_or_the_like(
    lineage: Message, options: dict[str, Any]
) -> None:
    assert classify((user("Write a title"),), [lineage], [], options) is UTILITY


@pytest.mark.parametrize("tool", ["categorize_prompt", "manage_todo_list"])
@pytest.mark.parametrize("options", [{}, BUILT_IN])
def test_a_question_with_one_tool_of_the_hosts_own_is_a_utility_too(
    tool: str, options: dict[str, Any]
) -> None:
    assert classify((Q1,), [], [tool], options) is UTILITY
    assert classify((Q1,), [], [tool, *TOOLS], options) is MAIN


def test_a_compaction_in_the_background_is_the_chat_without_a_number() -> None:
    request = user("The conversation has grown too large for the context window and must be ...")
    assert classify((Q1, A1, request), [AGENT], TOOLS, FORK) is COMPACTION
    assert (
        classify((Q1, A1, user("in words of a later version")), [AGENT], TOOLS, FORK) is COMPACTION
    )


def test_a_compaction_in_the_foreground_has_a_prompt_and_no_tools() -> None:
    request = user("Summarize the conversation history so far, paying special attention ...")
    assert classify((request,), [SUMMARISER], [], BUILT_IN) is COMPACTION
    assert classify((user("other words"),), [SUMMARISER], [], BUILT_IN) is COMPACTION
    assert classify((request,), [system("other words")], [], BUILT_IN) is COMPACTION


def test_a_compaction_by_command_has_the_whole_history_and_all_tools() -> None:
    request = user("\nSummarize the conversation history so far, paying special attention ...")
    assert classify((Q1, A1, request), [SUMMARISER], TOOLS, BUILT_IN) is COMPACTION
    assert classify((Q1, A1, request), [AGENT], TOOLS, LOOP) is COMPACTION


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_edit_at_the_cursor_is_offered_tools_to_edit_with(count: int) -> None:
    assert classify((Q1,), [AGENT], TOOLS[:count], BUILT_IN) is INLINE


def test_an_edit_at_the_cursor_has_few_tools_and_no_history() -> None:
    assert classify((Q1,), [AGENT], TOOLS[:4], BUILT_IN) is MAIN
    assert classify((Q1, A1, Q2), [AGENT], TOOLS[:1], BUILT_IN) is MAIN
    assert classify((Q1,), [AGENT], TOOLS[:1], {}) is MAIN


# What others send.


@pytest.mark.parametrize("lineage", [[TITLES], [COMMITS], [system("\n" + TITLES.text)]])
def test_an_older_host_is_known_by_its_prompts(lineage: list[Message]) -> None:
    assert classify((Q1,), lineage, [], {}) is UTILITY
    assert classify((Q1,), lineage, TOOLS, {}) is MAIN, "with tools it is a chat"


def test_an_older_hosts_compaction_is_known_by_its_prompts() -> None:
    request = user("Summarize the conversation history so far, paying special attention ...")
    assert classify((Q1, A1, request), [SUMMARISER], [], {}) is COMPACTION
    assert classify((Q1, A1, request), [AGENT], TOOLS, {}) is COMPACTION


@pytest.mark.parametrize("tools", [[], TOOLS, ["read"]])
@pytest.mark.parametrize("lineage", [[], [AGENT]])
@pytest.mark.parametrize("path", [(Q1,), (Q1, A1, Q2)])
@pytest.mark.parametrize("options", [{}, {"temperature": 0.1}, {"_conversationId": "c"}])
def test_who_calls_directly_has_a_chat(
    path: tuple[Message, ...], lineage: list[Message], tools: list[str], options: dict[str, Any]
) -> None:
    """Other extensions, participants, and hosts that keep their keys to themselves."""
    assert classify(path, lineage, tools, options) is MAIN


def test_a_user_who_asks_for_a_summary_has_a_chat() -> None:
    """Without a tool or a key it may be anybody's own words."""
    request = user("Summarize the conversation history so far, please.")
    assert classify((Q1, A1, request), [], [], {}) is MAIN


# What VS Code's Agent Host sends, as recorded.

FOLDER = "Session folder: {}/session-state/5a01"
HOST = system("You are an assistant.\n" + FOLDER.format("/home/me/.copilot"))
SUM_UP = user(
    "Please create a detailed summary of the conversation so far. The history is being compacted "
    "so moving forward, all of it will be removed."
)


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ("As a sub-agent, complete your parent's task yourself.", RequestClass.SUB_AGENT),
        ("\nYou are an exploration agent. Answer fast.", RequestClass.SUB_AGENT),
        ("You are an assistant. As a sub-agent, complete your parent's task.", MAIN),
    ],
)
def test_the_agent_hosts_sub_agents_are_known_by_their_opening(
    first: str, expected: RequestClass
) -> None:
    assert classify((Q1,), [system(first)], TOOLS, {}, "core") is expected
    assert classify((Q1, A1, Q2), [system(first)], TOOLS, {}, "core") is expected
    assert classify((Q1,), [system(first)], TOOLS, {}, "an.extension") is MAIN


@pytest.mark.parametrize("tools", [TOOLS, []])
def test_the_agent_hosts_summaries_are_known_by_their_prompt(tools: list[str]) -> None:
    """In the background with tools, by command without."""
    assert classify((Q1, Q2, SUM_UP), [HOST], tools, {}, "core") is COMPACTION
    typed = user(f"<current_datetime>2030</current_datetime>\n\n{SUM_UP.text}")
    assert classify((Q1, typed), [HOST], tools, {}, "core") is MAIN
    assert classify((Q1, SUM_UP), [HOST], tools, {}) is MAIN


@pytest.mark.parametrize(
    ("prompt", "session"),
    [
        (HOST.text, "5a01"),
        ("Session folder: C:\\Users\\me\\.copilot\\session-state\\5a01\n\nContents:", "5a01"),
        (f"They say {FOLDER}", None),
        ("Session folder: /tmp/5a01", None),
        ("", None),
    ],
)
def test_the_agent_hosts_chat_is_known_by_its_folder(prompt: str, session: str | None) -> None:
    assert Hints.of({}, [system(prompt)], "core") == Hints(session=session)
    assert Hints.of({}, [system(prompt)], "an.extension") == Hints()


def test_a_chat_that_changes_harness_has_the_newer_names_only() -> None:
    local, host = Hints("c", "r", 1, "log"), Hints(session="s")
    assert host.after(local) == host
    assert local.after(host) == local
    assert Hints().after(host) == host


@given(
    st.lists(messages, max_size=3),
    st.lists(messages, max_size=2),
    st.lists(st.sampled_from([*TOOLS[:2], "manage_todo_list"]), max_size=4),
    st.dictionaries(st.sampled_from([*LOOP, "temperature"]), json_values),
)
def test_whatever_comes_has_a_class(
    path: list[Message], lineage: list[Message], tools: list[str], options: dict[str, Any]
) -> None:
    found = classify(path, lineage, tools, options)
    assert found is not RequestClass.SUB_AGENT, "which can't be told from here"


def test_no_request_builds_on_some_classes() -> None:
    assert {one for one in RequestClass if one.is_one_shot} == {UTILITY, COMPACTION, INLINE}


# Hints.


def test_the_hints_are_read_from_private_keys() -> None:
    assert Hints.of(LOOP) == Hints(conversation="c", run="7", turn=1)
    assert Hints.of({}) == Hints() == Hints(None, None, None)


@pytest.mark.parametrize(
    "options",
    [
        {"_conversationId": ""},
        {"_conversationId": 5},
        {"_conversationId": ["c"]},
        {"_conversationId": None, "_telemetryTurn": None, "_otelTraceContext": None},
        {"_telemetryTurn": "1"},
        {"_telemetryTurn": 1.5},
        {"_otelTraceContext": "7"},
        {"_otelTraceContext": []},
        {"_otelTraceContext": {}},
        {"_otelTraceContext": {"traceId": None}},
        {"_otelTraceContext": {"traceId": ""}},
        {"_otelTraceContext": {"traceId": 7}},
        {"conversationId": "c", "telemetryTurn": 1},
    ],
)
def test_hints_of_an_odd_shape_are_none(options: dict[str, Any]) -> None:
    assert Hints.of(options) == Hints()


LOG = "VSCODE_TARGET_SESSION_LOG: "


@pytest.mark.parametrize(
    ("lineage", "chat"),
    [
        ([], None),
        ([AGENT], None),
        ([system(f"Be good.\n{LOG}/logs/a93c\nMore.")], "/logs/a93c"),
        ([AGENT, system(f"{LOG}/logs/a93c"), system(f"{LOG}/logs/aa81")], "/logs/a93c"),
        ([system(f"{LOG}"), system(f"{LOG}/logs/aa81")], "/logs/aa81"),
        ([system("VSCODE_TARGET_SESSION_LOG=/logs/a93c")], None),
    ],
)
def test_the_chat_is_known_by_the_log_that_the_agents_prompt_names(
    lineage: list[Message], chat: str | None
) -> None:
    """A fork has the id of its origin, and another log."""
    assert Hints.of({}, lineage) == Hints(chat=chat)
    assert Hints.of(LOOP, lineage).chat == chat


def test_what_only_an_earlier_request_said_stays_known() -> None:
    earlier = Hints("c", "r", 1, "log")
    assert Hints().after(earlier) == Hints(conversation="c", chat="log")
    assert Hints("d", "s", 2, "other log").after(earlier) == Hints("d", "s", 2, "other log")
    assert earlier.after(Hints()) == earlier


@given(st.dictionaries(st.sampled_from(list(LOOP)), json_values))
def test_hints_of_any_shape_are_read_or_left(options: dict[str, Any]) -> None:
    hints = Hints.of(options)
    assert hints.conversation in (None, options.get("_conversationId"))
    assert hints.turn in (None, options.get("_telemetryTurn"))


@pytest.mark.parametrize(
    ("initiator", "options", "harness"),
    [
        ("core", {}, Harness.AGENT_HOST),
        ("core", LOOP, Harness.AGENT_HOST),
        ("github.copilot-chat", LOOP, Harness.LOCAL),
        ("github.copilot-chat", CORRELATION, Harness.LOCAL),
        (None, TRACE, Harness.LOCAL),
        ("an.extension", {"temperature": 1}, Harness.OTHER),
        (None, {}, Harness.OTHER),
    ],
)
def test_the_harness_is_known_by_the_initiator_and_by_the_private_keys(
    initiator: str | None, options: dict[str, Any], harness: Harness
) -> None:
    offered = (ToolSpec("bash"), ToolSpec(PROGRESS_TOOL))
    for tools in (offered, offered[:1], ()):
        asked = ChatOptions(tools=tools, model_options=options, request_initiator=initiator)
        assert RequestSource.of(asked) == RequestSource(harness, has_progress_tool=tools == offered)
