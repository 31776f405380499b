"""Transcripts: what is new is decoded, what was seen is recognised, faults have whole paths."""

from __future__ import annotations

import base64
import gc
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from bridge.errors import INVALID_PARAMS, PARSE_ERROR, RpcError
from bridge.history import transcript
from bridge.history.message import Message
from bridge.history.transcript import TranscriptReader, decode_message
from bridge.wire import ChatMessage, TextPart, ToolResultPart, UnknownPart
from bridge.work import done
from tests.strategies import assistant, user


def raw(role: str, *content: Any, **more: Any) -> Raw:
    return Raw(msgspec.json.encode({"role": role, "content": content, **more}))


def said(role: str, text: str) -> Raw:
    return raw(role, {"type": "text", "value": text})


def texts(messages: Iterable[ChatMessage]) -> list[str]:
    return [
        "".join(part.value for part in message.content if isinstance(part, TextPart))
        for message in messages
    ]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the messages that were decoded, in order."""
    paths: list[str] = []

    def watched(raw: Raw, path: str) -> ChatMessage:
        paths.append(path)
        return decode_message(raw, path)

    monkeypatch.setattr(transcript, "decode_message", watched)
    return paths


# What was seen.


def test_a_message_that_was_seen_is_not_decoded_again(decoded: list[str]) -> None:
    reader = TranscriptReader()
    history = [said("user", "hello"), said("assistant", "hi"), said("user", "bye")]
    first = reader.read(history[:1])
    second = reader.read(history)
    assert decoded == ["$.messages[0]", "$.messages[1]", "$.messages[2]"]
    assert second.path[0] is first.path[0]


def test_each_new_message_is_a_step_and_nothing_changes_before_the_last(
    decoded: list[str],
) -> None:
    reader = TranscriptReader()
    history = [said("user", str(number)) for number in range(5)]
    held = reader.read(history[:2])
    reading = reader.reading(history)
    next(reading)
    assert decoded[2:] == ["$.messages[2]"]
    assert len(held.path) == len(reader.read(history[:2]).path) == 2
    read = done(reading)
    assert len(decoded) == 5
    assert [message.text for message in read.path] == ["0", "1", "2", "3", "4"]
    assert read.path[0] is held.path[0]


def test_the_cost_of_a_chat_grows_with_what_is_new(decoded: list[str]) -> None:
    """Also when the new messages are then read whole."""
    reader = TranscriptReader()
    history: list[Raw] = []
    held = reader.read(history)
    for number in range(50):
        history += [said("user", str(number)), said("assistant", f"answer {number}")]
        held = reader.read(history)
        held.messages(len(held.path) - 2)
    assert len(held.path) == len(decoded) == 100


def test_old_messages_are_decoded_when_somebody_asks_for_them(decoded: list[str]) -> None:
    reader = TranscriptReader()
    history = [said("user", "hello"), said("assistant", "hi")]
    held = reader.read(history)
    again = reader.read(history)
    decoded.clear()
    assert texts(again.messages(1)) == ["hi"]
    assert decoded == ["$.messages[1]"]
    assert len(held.path) == 2


def test_what_nobody_holds_is_forgotten(decoded: list[str]) -> None:
    """The request after it lets go of what a request held."""
    reader = TranscriptReader()
    history = [said("user", "hello"), said("assistant", "hi")]
    held = reader.read(history)
    question = held.path[0]
    del held
    reader.read([])
    gc.collect()
    decoded.clear()
    assert reader.read(history).path[0] is question
    assert decoded == ["$.messages[1]"]


def test_equal_messages_are_one_object_however_they_were_written() -> None:
    """So a conversation that a host writes anew doesn't take the memory twice."""
    reader = TranscriptReader()
    spaced = Raw(b'{"role":"user", "content":[{"type":"text", "value":"hello"}]}')
    parts = raw("user", {"type": "text", "value": "he"}, {"type": "text", "value": "llo"})
    read = reader.read([said("user", "hello"), spaced, parts])
    assert read.path[0] is read.path[1] is read.path[2]


def test_messages_that_differ_in_our_marker_alone_are_two_though_they_are_equal() -> None:
    """The marker isn't part of what was said, and must not be lost on the way."""
    read = TranscriptReader().read(
        [
            raw("assistant", {"type": "text", "value": "a"}, marker(b"m\\one")),
            raw("assistant", {"type": "text", "value": "a"}, marker(b"m\\two")),
            raw("assistant", marker(b"m\\two"), {"type": "text", "value": "a"}),
        ]
    )
    assert [message.marker for message in read.path] == ["one", "two", "two"]
    assert read.path[0] == read.path[1]
    assert read.path[1] is read.path[2]


def marker(data: bytes) -> dict[str, str]:
    encoded = base64.b64encode(data).decode()
    return {"type": "data", "mimeType": "stateful_marker", "data": encoded}


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text("ab"))))
def test_a_reader_that_has_seen_everything_reads_the_same(chat: list[tuple[Any, str]]) -> None:
    raws = [said(role, text) for role, text in chat]
    reader = TranscriptReader()
    first, second = reader.read(raws), reader.read(raws)
    expected = [
        Message.of(role, [TextPart(text)]) for role, text in chat if text and role != "system"
    ]
    assert list(first.path) == list(second.path) == expected
    assert first.positions == second.positions
    assert first.lineage == second.lineage
    assert first.messages(0) == second.messages(0)


@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from(["user", "assistant", "system"]), st.sampled_from(["", "a"])),
            max_size=6,
        ),
        max_size=4,
    )
)
def test_whatever_was_read_before_a_request_reads_the_same(
    requests: list[list[tuple[Any, str]]],
) -> None:
    reader = TranscriptReader()
    for chat in requests:
        raws = [said(role, text) for role, text in chat]
        read, alone = reader.read(raws), TranscriptReader().read(raws)
        assert read.path == alone.path
        assert read.positions == alone.positions
        assert read.lineage == alone.lineage
        assert read.messages(0) == alone.messages(0)


# Path, positions, lineage.


def test_system_messages_are_lineage_and_empty_messages_are_left_out() -> None:
    read = TranscriptReader().read(
        [
            said("system", "be kind"),
            said("user", "hello"),
            raw("assistant", {"type": "thinking", "value": "hm"}),
            said("system", ""),
            said("user", "still there?"),
        ]
    )
    assert read.path == (user("hello"), user("still there?"))
    assert read.positions == (1, 4)
    assert [message.text for message in read.lineage] == ["be kind", ""]


def test_steps_of_the_path_give_whole_messages_and_what_stands_between_them() -> None:
    read = TranscriptReader().read(
        [
            said("system", "be kind"),
            said("user", "one"),
            said("assistant", ""),
            said("assistant", "two"),
            said("user", "three"),
            said("system", "be brief"),
        ]
    )
    assert read.path == (user("one"), assistant("two"), user("three"))
    assert texts(read.messages(0)) == ["be kind", "one", "", "two", "three", "be brief"]
    assert texts(read.messages(0, 1)) == ["be kind", "one", ""]
    assert texts(read.messages(1, 2)) == ["two"]
    assert texts(read.messages(2)) == texts(read.messages(2, 3)) == ["three", "be brief"]
    assert read.messages(3) == ()
    assert read.messages(0, 0) == ()
    assert read.messages(1, 1) == ()


@given(st.data())
def test_cutting_a_transcript_anywhere_loses_nothing(data: st.DataObject) -> None:
    chat = data.draw(
        st.lists(st.tuples(st.sampled_from(["user", "assistant", "system"]), st.text("ab")))
    )
    read = TranscriptReader().read([said(role, text) for role, text in chat])
    step = data.draw(st.integers(0, len(read.path)))
    assert read.messages(0, step) + read.messages(step) == read.messages(0)
    assert texts(read.messages(0)) == [text for _, text in chat]


# Whole messages.


def test_everything_in_a_message_is_decoded() -> None:
    message = decode_message(
        raw("user", {"type": "tool_result", "toolCallId": "c1", "result": [1]}, name="alice"), "$"
    )
    assert message == ChatMessage("user", (ToolResultPart("c1", [1]),), "alice")


def test_parts_of_an_unknown_kind_are_carried_as_they_came() -> None:
    text = b'{"type": "hologram", "size": [1, 2]}'
    message = decode_message(Raw(b'{"role":"user","content":[' + text + b"]}"), "$")
    assert message.content == (UnknownPart("hologram", text),)


def test_unknown_fields_are_ignored() -> None:
    message = decode_message(
        raw("user", {"type": "text", "value": "a", "color": "red"}, id=5), "$.messages[0]"
    )
    assert message == ChatMessage("user", (TextPart("a"),))


@pytest.mark.parametrize(
    ("faulty", "path"),
    [
        (Raw(b"5"), "$.messages[3]"),
        (raw("robot"), "$.messages[3].role"),
        (Raw(b'{"role":"user"}'), "$.messages[3]"),
        (Raw(b'{"role":"user","content":"hello"}'), "$.messages[3].content"),
        (raw("user", {"type": "text", "value": "a"}, "b"), "$.messages[3].content[1]"),
        (raw("user", {"type": "text", "value": "a"}, {}), "$.messages[3].content[1]"),
        (raw("user", {"type": "hologram"}, {"type": 5}), "$.messages[3].content[1].type"),
        (raw("user", {"type": "text"}), "$.messages[3].content[0]"),
        (raw("user", {"type": "text", "value": 5}), "$.messages[3].content[0].value"),
        (
            raw("user", {"type": "data", "mimeType": "image/png", "data": "!"}),
            "$.messages[3].content[0].data",
        ),
        (
            raw("user", {"type": "thinking", "value": ["a", 1]}),
            "$.messages[3].content[0].value[1]",
        ),
    ],
)
def test_a_fault_is_told_with_its_whole_path(faulty: Raw, path: str) -> None:
    good = said("user", "hello")
    with pytest.raises(RpcError) as refused:
        TranscriptReader().read([good, good, good, faulty])
    assert refused.value.code == INVALID_PARAMS
    assert refused.value.message.endswith(f" - at `{path}`")


@pytest.mark.parametrize(
    ("faulty", "path"),
    [
        (b'{"role":"user","content":[{"type":"text","value":"\xc3"}]}', ".content[0]"),
        (b'{"role":"user","content":[{"type":"text","value":""},{"type":"\xff"}]}', ".content[1]"),
        (b'{"role":"user","content":[],"name":"\xff"}', ""),
    ],
)
def test_text_that_is_no_utf8_is_no_json_wherever_it_turns_up(faulty: bytes, path: str) -> None:
    """A line that is read in one pass isn't looked through for it (`bridge.methods.read_chat`)."""
    with pytest.raises(RpcError) as refused:
        TranscriptReader().read([said("user", "hello"), Raw(faulty)])
    assert refused.value.code == PARSE_ERROR
    assert refused.value.message.endswith(f" - at `$.messages[1]{path}`")


def test_a_request_that_was_refused_leaves_no_trace(decoded: list[str]) -> None:
    reader = TranscriptReader()
    with pytest.raises(RpcError):
        reader.read([said("user", "hello"), Raw(b"5")])
    decoded.clear()
    assert reader.read([said("user", "hello")]).path == (user("hello"),)
    assert decoded == ["$.messages[0]"]


@pytest.mark.parametrize(
    "depth",
    [100, 600, 5_000],
)
def test_arguments_nested_deeply_are_read_or_refused_but_never_fatal(depth: int) -> None:
    nested = b"[" * depth + b"]" * depth
    call = b'{"type":"tool_call","toolCallId":"c1","toolName":"t","parameters":' + nested + b"}"
    message = Raw(b'{"role":"assistant","content":[' + call + b"]}")
    try:
        assert len(TranscriptReader().read([message]).path) == 1
    except RpcError as refused:
        assert refused.code == INVALID_PARAMS  # noqa: PT017  either is fine


def test_a_system_message_belongs_to_the_step_that_it_stands_in_front_of() -> None:
    """Or one that comes into a chat later would be told to nobody."""
    history = [
        said("system", "be brief"),
        said("user", "one"),
        said("assistant", "1"),
        said("system", "be long"),
        said("user", "two"),
        said("system", "and now?"),
    ]
    read = TranscriptReader().read(history)
    assert texts(read.messages(2)) == ["be long", "two", "and now?"]
    assert texts(read.messages(0, 2)) == ["be brief", "one", "1"]
    assert texts(read.messages(1, 2)) == ["1"]
    assert texts(read.messages(3)) == []


@pytest.mark.parametrize("rest", [[], [said("user", "one")]])
def test_the_system_prompt_is_what_stands_in_front_of_everything(rest: list[Raw]) -> None:
    empty = raw("user")
    front = [said("system", "be brief"), empty, said("system", "be kind")]
    later = [said("assistant", "1"), said("system", "be long")]
    read = TranscriptReader().read([*front, *rest, *(later if rest else [])])
    assert texts(read.system()) == ["be brief", "be kind"]
    assert texts(TranscriptReader().read(rest).system()) == []


def test_the_system_prompt_of_a_history_that_was_seen_is_decoded_alone(decoded: list[str]) -> None:
    reader = TranscriptReader()
    history = [said("system", "be brief"), said("user", "one"), said("assistant", "1")]
    held = reader.read(history)
    again = reader.read(history)
    decoded.clear()
    assert texts(again.system()) == ["be brief"]
    assert decoded == ["$.messages[0]"]
    assert len(held.path) == 2
