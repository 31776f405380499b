from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.open_responses.items import CallItem, MessageItem, ResultItem
from agents.open_responses.request.content import ConversionError
from agents.open_responses.request.messages import (
    NO_RESULT,
    ConversionOptions,
    OpenCall,
    conversion,
    convert_messages,
)
from bridge.wire import ChatMessage, DataPart, ThinkingPart, UnknownPart
from bridge.work import done
from tests.agents.open_responses.words import PNG, PNG_URL, assistant, call, result, system, user

JSON = dict[str, Any]


def items(*messages: ChatMessage, **options: Any) -> list[JSON]:
    converted = convert_messages(messages, ConversionOptions(**options))
    return msgspec.json.decode(msgspec.json.encode(converted.items))


def said(role: str, content: Any) -> JSON:
    return {"type": "message", "role": role, "content": content}


def called(call_id: str, arguments: str = "{}", name: str = "read_file") -> JSON:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def returned(call_id: str, output: Any = "done") -> JSON:
    return {"type": "function_call_output", "call_id": call_id, "output": output}


# What is said.


def test_text_goes_as_a_string() -> None:
    assert items(user("Hello ", "there"), assistant("Hi")) == [
        said("user", "Hello there"),
        said("assistant", "Hi"),
    ]


def test_an_image_of_the_users_goes_as_it_is() -> None:
    assert items(user("See: ", PNG, " that")) == [
        said(
            "user",
            [
                {"type": "input_text", "text": "See: "},
                {"type": "input_image", "image_url": PNG_URL},
                {"type": "input_text", "text": " that"},
            ],
        )
    ]


@pytest.mark.parametrize(
    "message", [user(), user("  \n"), assistant(""), assistant("\n"), system()]
)
def test_a_message_that_says_nothing_is_left_out(message: ChatMessage) -> None:
    assert items(user("a"), message, user("b")) == [said("user", "a"), said("user", "b")]


def test_thoughts_and_what_nobody_knows_are_left_out() -> None:
    thought = ThinkingPart("hm")
    assert items(assistant(thought, "yes", UnknownPart("odd", b"{}"))) == [said("assistant", "yes")]


# The system.


def test_the_system_message_in_front_is_the_instructions() -> None:
    converted = convert_messages([system("Be kind."), system("Be brief."), user("a")])
    assert converted.instructions == "Be kind.\n\nBe brief."
    assert converted.items == (MessageItem("user", "a"),)


@pytest.mark.parametrize("role", ["developer", "system"])
def test_system_messages_can_be_items(role: Any) -> None:
    assert items(system("Be kind."), user("a"), system_messages=role) == [
        said(role, "Be kind."),
        said("user", "a"),
    ]


def test_a_system_message_in_the_middle_stays_there() -> None:
    assert items(user("a"), system("Be brief."), user("b")) == [
        said("user", "a"),
        said("developer", "Be brief."),
        said("user", "b"),
    ]


def test_in_a_conversation_that_goes_on_a_system_message_stays_where_it_is() -> None:
    work = conversion([system("Be brief."), user("b")], ConversionOptions(), begins=False)
    converted = done(work)
    assert converted.instructions == ""
    assert converted.items[0] == MessageItem("developer", "Be brief.")


# What is the host's own.


def test_only_what_the_user_asks_is_told_if_wanted() -> None:
    text = (
        "<environment_info>\nLinux\n</environment_info>\n<attachments>\na file\n</attachments>\n"
        "<userRequest>\nGo\n</userRequest>"
    )
    (one,) = items(system("You are Copilot."), user(text, PNG), context="request")
    assert one["content"] == [
        {"type": "input_text", "text": "<attachments>\na file\n</attachments>\nGo"},
        {"type": "input_image", "image_url": PNG_URL},
    ]
    assert items(user(text))[0]["content"] == text


def test_the_hosts_own_words_are_marked_if_only_the_users_are_wanted() -> None:
    reminder = "You have not yet marked the task as complete using the task_complete tool."
    (one,) = items(user(reminder), context="request")
    assert one["content"] == f"<system_notification>\n{reminder}\n</system_notification>"
    assert items(user(reminder))[0]["content"] == reminder


# Images where servers take none.


def test_an_image_of_the_assistants_is_named() -> None:
    pdf = DataPart("application/pdf", b"%PDF")
    assert items(assistant("Here: ", PNG, pdf)) == [
        said("assistant", "Here: [image: image/png][file: attachment.pdf]")
    ]


def test_an_image_of_the_assistants_can_be_skipped_or_be_an_error() -> None:
    assert items(assistant("Here", PNG), image_in_non_user_message="skip") == [
        said("assistant", "Here")
    ]
    with pytest.raises(ConversionError, match="an image stands"):
        items(assistant(PNG), image_in_non_user_message="error")
    with pytest.raises(ConversionError, match="a file stands"):
        items(system(DataPart("application/pdf", b"%")), image_in_non_user_message="error")


# Calls and results.


def test_a_result_stands_after_its_call_wherever_it_came() -> None:
    assert items(
        user("go"),
        assistant("Let me see.", call("gw-1", path="a"), call("gw-2")),
        user(result("gw-2", "two")),
        user(result("gw-1", "one"), "and?"),
    ) == [
        said("user", "go"),
        said("assistant", "Let me see."),
        called("1", '{"path":"a"}'),
        called("2"),
        returned("1", "one"),
        returned("2", "two"),
        said("user", "and?"),
    ]


def test_calls_and_results_can_take_turns() -> None:
    assert items(
        assistant(call("a"), call("b")),
        user(result("b", "2"), result("a", "1")),
        call_order="interleaved",
    ) == [called("a"), returned("a", "1"), called("b"), returned("b", "2")]


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    assert items(assistant(call("a")), user("never mind")) == [
        called("a"),
        returned("a", NO_RESULT),
        said("user", "never mind"),
    ]


def test_a_result_without_a_call_is_told_as_text() -> None:
    told = "[The result of a tool call that isn't in the record: done]\n"
    assert items(user(result("x"), "and?")) == [said("user", told + "and?")]
    assert items(assistant(result("x"), "well")) == [said("user", told), said("assistant", "well")]


def test_a_failure_is_told_with_its_result() -> None:
    assert items(assistant(call("a")), user(result("a", "gone", is_error=True)))[1] == returned(
        "a", "The tool failed: gone"
    )


def test_a_call_that_is_repeated_is_told_once() -> None:
    twice = assistant(call("a"), call("a"))
    assert items(twice, user(result("a"), result("a", "again"))) == [called("a"), returned("a")]


@pytest.mark.parametrize("call_order", ["grouped", "interleaved"])
def test_an_id_that_another_provider_used_again_is_another_call(call_order: str) -> None:
    chat = [
        assistant(call("a", at=1)),
        user(result("a", "one")),
        assistant(call("a", at=2), call("a", at=2)),
        user(result("a", "two")),
        assistant(call("a", at=2)),
    ]
    assert items(*chat, call_order=call_order) == [
        called("a", '{"at":1}'),
        returned("a", "one"),
        called("a_", '{"at":2}'),
        returned("a_", "two"),
    ]


def test_an_empty_id_is_no_other_call_s() -> None:
    chat = assistant(call("call_none"), call("gw-")), user(result("gw-", "b"), result("call_none"))
    assert items(*chat) == [
        called("call_none"),
        called("call_none_"),
        returned("call_none"),
        returned("call_none_", "b"),
    ]


def test_ids_that_differ_in_our_prefix_alone_stay_apart() -> None:
    calls = assistant(call("gw-a"), call("a"))
    told = items(calls, user(result("gw-a", "1"), result("a", "2")))
    first, second = (item["call_id"] for item in told[:2])
    assert first != second
    assert told[2:] == [returned(first, "1"), returned(second, "2")]


def test_a_name_that_no_server_takes_is_changed() -> None:
    (one, _) = items(assistant(call("a", "my tool!")))
    assert one["name"].startswith("my_tool_")


def test_calls_made_before_are_answered_first() -> None:
    open_calls = {"gw-1": OpenCall("srv", "read_file"), "gw-2": OpenCall("two", "read_file")}
    messages = [user("so?"), user(result("gw-1"))]
    converted = done(conversion(messages, ConversionOptions(), open_calls=open_calls, begins=False))
    assert converted.items == (
        ResultItem("srv", "done"),
        ResultItem("two", NO_RESULT),
        MessageItem("user", "so?"),
    )


def test_a_server_s_own_id_is_used_where_it_is_known() -> None:
    messages = [assistant(call("gw-x~1")), user(result("gw-x~1"))]
    work = conversion(messages, ConversionOptions(), server_ids={"gw-x~1": "real"})
    converted = done(work)
    assert converted.items == (CallItem("real", "read_file", "{}"), ResultItem("real", "done"))


def test_images_of_results_go_in_the_result_or_in_a_message_after_all_of_them() -> None:
    image = {"type": "data", "mimeType": "image/png", "data": "iVBORw=="}
    messages = (
        assistant(call("a"), call("b")),
        user(result("a", ["see ", image]), result("b")),
    )
    assert items(*messages)[2]["output"] == [
        {"type": "input_text", "text": "see "},
        {"type": "input_image", "image_url": PNG_URL},
    ]
    beside = items(*messages, result_images="message")
    assert [one["type"] for one in beside[2:]] == ["function_call_output"] * 2 + ["message"]
    assert beside[2]["output"] == "see "
    assert beside[4]["content"][1]["image_url"] == PNG_URL


def test_where_an_item_is_from_tells_what_a_request_may_leave_out() -> None:
    converted = convert_messages(
        [user("a"), assistant("b", call("1"), call("2")), user(result("2")), user(result("1"), "c")]
    )
    assert [one.source for one in converted.placed] == [0, 1, 1, 1, 3, 2, 3]


# Laws.

IDS = st.sampled_from(["gw-1", "1", "gw-2", "2", "", "x" * 80])
PARTS = st.one_of(
    st.sampled_from(["", " ", "text"]),
    st.builds(call, IDS),
    st.builds(result, IDS),
    st.just(PNG),
)
MESSAGES = st.lists(
    st.one_of(
        *(
            st.lists(PARTS, max_size=4).map(lambda parts, make=make: make(*parts))
            for make in (user, assistant, system)
        )
    ),
    max_size=6,
)


@given(MESSAGES, st.sampled_from(["grouped", "interleaved"]), st.booleans())
def test_each_call_has_one_result_after_it_and_each_result_a_call(
    messages: list[ChatMessage], order: Any, beside: bool
) -> None:
    options = ConversionOptions(call_order=order, result_images="message" if beside else "result")
    open_ids: list[str] = []
    seen: set[str] = set()
    for item in convert_messages(messages, options).items:
        match item:
            case CallItem(call_id=call_id):
                assert call_id not in seen
                seen.add(call_id)
                open_ids.append(call_id)
            case ResultItem(call_id=call_id):
                open_ids.remove(call_id)
            case _:
                assert not open_ids, "something stands between a call and its result"
    assert not open_ids


@given(MESSAGES)
def test_sources_are_those_of_messages_and_no_item_is_from_before_its_call(
    messages: list[ChatMessage],
) -> None:
    calls: dict[str, int] = {}
    for one in convert_messages(messages).placed:
        assert 0 <= one.source <= len(messages)
        match one.item:
            case CallItem(call_id=call_id):
                calls[call_id] = one.source
            case ResultItem(call_id=call_id):
                assert one.source > calls[call_id]
            case _:
                pass
