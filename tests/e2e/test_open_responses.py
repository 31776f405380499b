"""A whole `vscodelm` with an Open Responses endpoint, over real sockets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.editor import Chat, tool_result, tools
from tests.fakes.responses_events import Call, Text
from tests.fakes.responses_server import Context, Plan, ResponsesServer, remember, responses_server
from tests.fakes.waiting import until

from .process import PATIENCE, started

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.fakes.editor import FakeEditor
    from tests.fakes.responses_events import Output

pytestmark = pytest.mark.slow

JSON = dict[str, Any]
KEY = "sk-very-secret-0123456789"


def endpoint(server: ResponsesServer, **fields: Any) -> JSON:
    return {"open_responses": {"baseUrl": server.base_url, "model": "small", **fields}}


def chat_with(editor: FakeEditor, server: ResponsesServer, **fields: Any) -> Chat:
    return Chat(editor, agent=endpoint(server, **fields), options=tools("read_file"))


def model(context: Context) -> Sequence[Output] | Plan:
    if context.results:
        return [Text(" and ".join(context.results))]
    match context.users[-1]:
        case "read both":
            return [Text("Let me see."), *(Call("read_file", {"n": n}) for n in (1, 2))]
        case "hang":
            return Plan(outputs=[Text("Well")], ending="hang")
        case _:
            return remember(context)


async def test_a_chat_tells_the_endpoint_each_word_once() -> None:
    async with responses_server(model) as server, started() as process:
        chat = chat_with(process.editor, server)
        assert (await chat.say("I am Ada")).text == "I am Ada"
        assert (await chat.say("who am I?")).text == "I am Ada / who am I?"
        first, second = server.bodies
        assert "previous_response_id" not in first
        assert second["previous_response_id"]
        assert second["input"] == [{"type": "message", "role": "user", "content": "who am I?"}]
        assert server.connections == 1


async def test_calls_at_once_are_answered_in_one_request() -> None:
    async with responses_server(model) as server, started() as process:
        chat = chat_with(process.editor, server)
        asked = await chat.say("read both")
        assert asked.text == "Let me see."
        one, two = asked.calls
        assert [call["parameters"] for call in (one, two)] == [{"n": 1}, {"n": 2}]
        assert one["toolCallId"].startswith("gw-")
        answer = await chat.say(tool_result(two, "second"), tool_result(one, "first"))
        assert answer.text == "first and second"
        said = server.bodies[-1]["input"]
        assert [item["type"] for item in said] == ["function_call_output"] * 2
        assert [f"gw-{item['call_id']}" for item in said] == [
            call["toolCallId"] for call in (one, two)
        ]


async def test_a_cancelled_turn_hangs_up_and_its_question_is_told_again() -> None:
    async with responses_server(model) as server, started() as process:
        chat = chat_with(process.editor, server)
        await chat.say("I am Ada")
        request = chat.ask("hang")
        await request.shows("Well")
        process.editor.cancel(request)
        chat.keep(await request.settled())
        await until(lambda: bool(server.hung_up))
        assert (await chat.say("and now?")).text == "I am Ada / hang / and now?"
        last = server.bodies[-1]
        assert last["previous_response_id"] == next(iter(server.responses))
        assert [item["content"] for item in last["input"]] == ["hang", "Well", "and now?"]


async def test_an_edit_and_the_way_back_cost_one_small_request_each() -> None:
    async with responses_server(model) as server, started() as process:
        chat = chat_with(process.editor, server)
        await chat.say("one")
        await chat.say("two")
        first_branch = [*chat.history]
        chat.take_back(2)
        assert (await chat.say("three")).text == "one / three"
        chat.history[:] = first_branch
        assert (await chat.say("four")).text == "one / two / four"
        assert [len(body["input"]) for body in server.bodies] == [1, 1, 1, 1]
        ids = [*server.responses]
        assert [body.get("previous_response_id") for body in server.bodies] == [
            None,
            ids[0],
            ids[0],
            ids[1],
        ]


async def test_two_chats_know_nothing_of_each_other() -> None:
    async with responses_server(model) as server, started() as process:
        ada, bob = (chat_with(process.editor, server) for _ in range(2))
        requests = [ada.ask("I am Ada"), bob.ask("I am Bob")]
        for chat, request in zip((ada, bob), requests, strict=True):
            chat.keep(await request.settled())
        assert (await ada.say("who?")).text == "I am Ada / who?"
        assert (await bob.say("who?")).text == "I am Bob / who?"


async def test_a_server_that_forgets_is_told_everything() -> None:
    async with responses_server(model) as server, started() as process:
        chat = chat_with(process.editor, server)
        await chat.say("one")
        server.responses.clear()
        assert (await chat.say("two")).text == "one / two"
        assert len(server.bodies[-1]["input"]) == 3


async def test_the_endpoint_s_wire_is_traced_without_the_key(tmp_path: Path) -> None:
    other = "another-secret-42"
    async with responses_server(model, key=KEY, models=[{"id": "small"}]) as server:
        config = tmp_path / "vscodelm.toml"
        config.write_text(
            f"""[[endpoints]]
            id = "local"
            open_responses = {{ baseUrl = "{server.base_url}", apiKeyEnv = "ENDPOINT_KEY" }}
            """
        )
        arguments = ("--trace-dir", str(tmp_path / "t"), "--log-level", "debug")
        env = {"ENDPOINT_KEY": KEY, "VSCODELM_CACHE_DIR": str(tmp_path / "cache")}
        async with started(*arguments, "--config", str(config), env=env) as process:
            chat = chat_with(
                process.editor, server, apiKeyEnv="ENDPOINT_KEY", headers={"x-other": other}
            )
            await chat.say("one")
            await chat.say("read both")
            body = b"You sent %s and %s" % (KEY.encode(), other.encode())
            server.plans.append(Plan(400, body=body, content_type="text/plain"))
            assert (await chat.ask("two").settled(PATIENCE)).error is not None
            await process.editor.reaches(lambda: any(one.method == "GET" for one in server.heard))
    (trace,) = (tmp_path / "t").iterdir()
    content = trace.read_text()
    told = content + process.stderr.decode() + str(process.editor.lines)
    assert not [secret for secret in (KEY, other) if secret in told]
    records = [json.loads(line) for line in content.splitlines()]
    messages: list[Any] = [one["message"] for one in records if "peer" in one]
    asked = [one["body"] for one in messages if "body" in one]
    assert asked == server.bodies
    kinds = [one["type"] for one in messages if "type" in one]
    assert kinds.count("response.completed") == 2
    assert "You sent [redacted] and [redacted]" in messages


async def test_errors_are_told_and_the_next_request_works() -> None:
    async with responses_server(model, key=KEY) as server:
        async with started("--log-level", "debug") as process:
            chat = chat_with(process.editor, server, apiKeyEnv="NO_SUCH_KEY")
            error = (await chat.ask("one").settled(PATIENCE)).error
            assert error["data"]["kind"] == "NoPermissions"
            assert "NO_SUCH_KEY" in error["message"]
        env = {"ENDPOINT_KEY": KEY}
        async with started("--log-level", "debug", env=env) as process:
            chat = chat_with(process.editor, server, apiKeyEnv="ENDPOINT_KEY")
            body = b'{"error": {"message": "No such model; you sent %s", "code": "x"}}'
            server.plans.append(
                Plan(404, body=body % KEY.encode(), content_type="application/json")
            )
            error = (await chat.ask("one").settled(PATIENCE)).error
            assert error["data"]["kind"] == "NotFound"
            assert "No such model; you sent [redacted]" in error["message"]
            chat.history.clear()
            assert (await chat.say("two")).text == "two"
        assert KEY.encode() not in process.stderr
        assert not any(KEY in str(line) for line in process.editor.lines)
        assert server.heard[-1].headers["authorization"] == f"Bearer {KEY}"
