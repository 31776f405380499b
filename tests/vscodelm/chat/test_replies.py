"""What a server sends, line by line."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw

from bridge import methods
from bridge.errors import Failure, RpcError
from bridge.jsonrpc import TooLong, error_line, notification_line, result_line
from bridge.wire import (
    DataPart,
    Empty,
    KnownPart,
    ProgressParams,
    ResponsePartParams,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UnknownPart,
)
from vscodelm.chat.replies import (
    BadReply,
    OtherNotification,
    PartOf,
    RequestSettled,
    parse_reply,
)


def part_line(part: Any) -> bytes:
    return notification_line("lm/responsePart", {"requestId": 7, "part": part})


@pytest.mark.parametrize(
    "part",
    [
        TextPart("Hello"),
        ThinkingPart("Hm."),
        ToolCallPart("call_1", "current_time", {}),
        DataPart("usage", b"{}"),
    ],
)
def test_a_part_comes_as_the_bridge_wrote_it(part: KnownPart) -> None:
    line = notification_line("lm/responsePart", ResponsePartParams(7, part))
    assert parse_reply(line) == PartOf(7, part)


def test_a_part_of_an_unknown_kind_is_carried_as_it_is() -> None:
    reply = parse_reply(part_line({"type": "smell", "of": "roses"}))
    assert reply == PartOf(7, UnknownPart("smell", b'{"type":"smell","of":"roses"}'))


def test_a_result_settles_its_request() -> None:
    assert parse_reply(result_line(7, Empty())) == RequestSettled(7, Raw(b"{}"))


def test_an_error_settles_its_request_with_all_that_it_says() -> None:
    error = Failure("Blocked", "The quota is used up.").as_rpc_error()
    reply = parse_reply(error_line("a", error))
    assert isinstance(reply, RequestSettled)
    assert isinstance(reply.outcome, RpcError)
    assert reply.request == "a"
    assert (reply.outcome.code, reply.outcome.message, reply.outcome.data) == (
        error.code,
        error.message,
        error.data,
    )


def test_progress_comes_as_the_bridge_wrote_it() -> None:
    progress = ProgressParams(3, "Fetching parrot 1.0.0", "34 MB, 12 s")
    assert parse_reply(notification_line(methods.PROGRESS, progress)) == progress
    assert parse_reply(b'{"method":"lm/progress"}') == OtherNotification("lm/progress")


def test_other_notifications_are_only_named() -> None:
    line = notification_line("lm/didChangeLanguageModelChatInformation", Empty())
    assert parse_reply(line) == OtherNotification("lm/didChangeLanguageModelChatInformation")


@pytest.mark.parametrize(
    "line",
    [
        b"Traceback (most recent call last):",
        b"\xff",
        b"[]",
        b"{}",
        b'{"jsonrpc":"2.0","id":null,"result":{}}',
        part_line({"type": "text"}),
        part_line({"value": "no type"}),
        b'{"method":"lm/progress","params":{"token":1}}',
        TooLong(1_000_000_000),
    ],
)
def test_what_is_not_of_the_protocol_is_a_bad_reply(line: bytes | TooLong) -> None:
    with pytest.raises(BadReply):
        parse_reply(line)


def test_an_error_about_a_line_of_ours_is_a_bad_reply_that_says_what_it_says() -> None:
    with pytest.raises(BadReply, match="Parse error"):
        parse_reply(error_line(None, RpcError(-32700, "Parse error")))
