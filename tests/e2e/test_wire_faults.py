"""Faults of the wire, against a real process: each is answered, and the next request works."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.process import started
from tests.fakes.editor import ELIZA, JSON, Chat, FakeEditor, Request, assistant, user

MiB = 1024 * 1024
MAX_LINE = 256 * MiB
CHAT = "lm/provideLanguageModelChatResponse"

NO_REQUESTS: list[tuple[bytes, int]] = [
    (b"hello", -32700),
    (b"{", -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "lm/stats"', -32700),
    (b'{"jsonrpc": "2.0"} {"jsonrpc": "2.0"}', -32700),
    (b"\xff\xfe\x00", -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xc3\x28"}', -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "lm/stats", "params": {"x": "\xed\xa0\x80"}}', -32700),
    (b'{"x": ' * 100_000, -32700),
    (b"null", -32600),
    (b"42", -32600),
    (b'"text"', -32600),
    (b"[]", -32600),
    (b"[" * 100_000, -32600),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "lm/stats"}]', -32600),
    (b"{}", -32600),
    (b'{"jsonrpc": "2.0", "id": {}, "method": "lm/stats"}', -32600),
    (b'{"jsonrpc": "2.0", "id": true, "method": "lm/stats"}', -32600),
    (b'{"jsonrpc": "2.0", "id": null, "method": "lm/stats"}', -32600),
]


async def test_lines_that_are_no_request_are_refused_in_order() -> None:
    async with started() as process:
        for line, _ in NO_REQUESTS:
            process.editor.write(line + b"\n")
        await process.editor.refusals(len(NO_REQUESTS))
        assert [error["code"] for error in process.editor.refused] == [c for _, c in NO_REQUESTS]
        assert (await Chat(process.editor).say("Hello")).text


BAD_REQUESTS: list[tuple[str, Any, int]] = [
    ("lm/nothing", {}, -32601),
    ("initialize", {}, -32601),
    ("lm/responsePart", {}, -32601),
    ("lm/initialize", {}, -32602),
    ("lm/provideTokenCount", {"modelId": "x", "text": 1}, -32602),
    ("lm/stats", [], -32602),
    ("lm/stats", "x", -32602),
    (CHAT, None, -32602),
    (CHAT, {"modelId": "x"}, -32602),
    (CHAT, {"modelId": "x", "messages": "Hello", "agent": ELIZA}, -32602),
    (CHAT, {"modelId": "x", "messages": [], "agent": ELIZA}, -32602),
    (CHAT, {"modelId": "x", "messages": [user("Hello")], "agent": {"nobody": {}}}, -32602),
    (CHAT, {"modelId": "x", "messages": [{"role": "robot"}], "agent": ELIZA}, -32602),
    (CHAT, {"modelId": "nobody", "messages": [user("Hello")]}, -32000),
]


async def test_requests_that_are_wrong_fail_and_their_ids_are_free_again() -> None:
    async with started() as process:
        for method, params, code in BAD_REQUESTS:
            request = await process.editor.request(method, params, id_="the same").settled()
            assert request.error["code"] == code
        assert (await Chat(process.editor).say("Hello")).text


DEEP = "<something deep>"
CALL: JSON = {"type": "tool_call", "toolCallId": "1", "toolName": "f", "parameters": DEEP}
RESULT: JSON = {"type": "tool_result", "toolCallId": "1", "result": DEEP}
UNKNOWN: JSON = {"type": "unknown", "x": DEEP}
GOOD: JSON = {"modelId": "eliza", "messages": [user("Hello")], "agent": ELIZA}
NESTED: list[tuple[str, JSON]] = [
    *(
        (CHAT, GOOD | {"messages": [user("Hello"), assistant(part), user("Hm.")]})
        for part in (CALL, RESULT, UNKNOWN)
    ),
    (CHAT, GOOD | {"options": {"modelOptions": {"x": DEEP}}}),
    (CHAT, GOOD | {"options": {"tools": [{"name": "f", "inputSchema": DEEP}]}}),
    (CHAT, GOOD | {"agent": {"eliza": {"x": DEEP}}}),
    (CHAT, GOOD | {"agent": {"x": DEEP, "eliza": {}}}),
    ("lm/provideTokenCount", {"modelId": "eliza", "message": user(CALL, RESULT, UNKNOWN)}),
]


def is_answered(editor: FakeEditor, request: Request) -> bool:
    """What is too deep to be read at all is refused without its id."""
    return request.is_settled or bool(editor.refused)


@pytest.mark.parametrize("traced", [False, True])
async def test_whatever_is_nested_deeply_is_answered_somehow(tmp_path: Path, traced: bool) -> None:
    """How deep is too deep is nobody's business; that the process lives on is."""
    async with started(*(["--trace-dir", str(tmp_path)] if traced else [])) as process:
        for depth in (*range(100, 1000, 25), 2000, 100_000):
            deep = "[" * depth + "1.0" + "]" * depth
            for number, (method, params) in enumerate(NESTED):
                request = Request(f"{number}, {depth} deep", method, process.editor.patience)
                line = {"jsonrpc": "2.0", "id": request.id, "method": method, "params": params}
                process.editor.open[request.id] = request
                process.editor.write(json.dumps(line).replace(f'"{DEEP}"', deep).encode() + b"\n")
                await process.editor.reaches(partial(is_answered, process.editor, request))
                process.editor.refused.clear()
                process.editor.open.pop(request.id, None)
        assert (await Chat(process.editor).say("Hello")).text


async def test_notifications_that_are_wrong_are_never_answered() -> None:
    async with started() as process:
        wrong: list[Any] = [{}, {"requestId": 1.5}, {"requestId": None}, [], 7]
        for params in wrong:
            process.editor.notify("lm/cancel", params)
        process.editor.notify("lm/nothing", {})
        process.editor.notify(CHAT, {})
        process.editor.send({"jsonrpc": "2.0", "id": 99, "result": {}})
        assert (await Chat(process.editor).say("Hello")).text
        assert process.editor.refused == []


async def test_an_id_that_is_used_again_while_it_is_open_is_refused_and_its_owner_goes_on() -> None:
    async with started() as process:
        hung = await Chat(process.editor).ask("!hang").shows("me.")
        for _ in range(3):
            process.editor.send({"jsonrpc": "2.0", "id": hung.id, "method": "lm/stats"})
        await process.editor.refusals(3)
        assert not hung.is_settled
        process.editor.cancel(hung)
        await hung.settled()
        assert await process.editor.request("lm/stats", {}, id_=hung.id).settled()


async def test_half_a_surrogate_pair_is_no_reason_to_fail() -> None:
    """JavaScript strings may be cut in the middle of an emoji."""
    async with started() as process:
        chat = Chat(process.editor)
        chat.ask("I like \ud83d")
        (request,) = process.editor.open.values()
        await request.settled()
        assert request.text


@pytest.mark.slow
async def test_a_line_of_a_hundred_megabytes_is_a_request_like_any_other() -> None:
    async with started() as process:
        request = await Chat(process.editor).ask("I am sad. " * (10 * MiB)).settled()
        assert "sad" in request.text
        assert (await Chat(process.editor).say("Hello")).text


@pytest.mark.limit("bridge.jsonrpc.MAX_LINE")
@pytest.mark.slow
@pytest.mark.parametrize("ending", [b"\n", b'"}\n'])
async def test_a_line_over_the_limit_is_refused_with_its_size_and_skipped(ending: bytes) -> None:
    async with started() as process:
        piece = b"x" * MiB
        for _ in range(MAX_LINE // MiB):
            process.editor.write(piece)
        process.editor.write(b"x" + ending)
        (error,) = await process.editor.refusals(1)
        assert error["code"] == -32600
        assert str(MAX_LINE + len(ending)) in error["message"]
        assert (await Chat(process.editor).say("Hello")).text


async def test_a_line_may_come_with_blanks_and_a_carriage_return() -> None:
    async with started() as process:
        process.editor.write(b"\r\n  \n\t ")
        process.editor.replay(b'  {"jsonrpc": "2.0", "id": 7, "method": "lm/stats"}  \r')
        await process.editor.open[7].settled()
