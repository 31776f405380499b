"""One request and its answer, whatever a server makes of HTTP."""

from __future__ import annotations

import gzip
import json
import logging
from typing import Any

import pytest
import trio

from agents.open_responses.http import client
from agents.open_responses.http.client import EndpointClient
from agents.open_responses.http.errors import EndpointError
from bridge.wire import OpenResponsesSpec
from tests.agents.open_responses.endpoints import SOON, agent_at, alone, failure_in
from tests.agents.talk import said
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import Plan, responses_server
from tests.fakes.waiting import until

ANSWER = Text("Grüße, 世界! \u2028 \x85 " * 5, pieces=10)
KEY = "very-secret-0123456789"


@pytest.mark.parametrize("chunk", [0, 64, 1400, 16384])
async def test_an_answer_is_the_same_however_it_is_cut(chunk: int) -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[ANSWER], chunk=chunk))
        assert said(await alone(agent)) == ANSWER.text


@pytest.mark.parametrize("chunk", [1, 2, 3, 7])
async def test_an_answer_is_the_same_in_pieces_of_a_few_bytes(chunk: int) -> None:
    """Each has its own way through the socket, so that there are few events and no big one."""
    words = ["Grüße, ", "世界", "\u2028 \x85 !"]
    events = [{"type": "response.output_text.delta", "delta": word} for word in words]
    end = {"type": "response.completed", "response": {"status": "completed"}}
    lines = [json.dumps(event, ensure_ascii=False) for event in (*events, end)]
    body = "".join(f"data: {line}\r\n\r\n" for line in lines).encode()
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(body=body, chunk=chunk))
        assert said(await alone(agent)) == "".join(words)
        assert len(server.bodies) == 1


@pytest.mark.parametrize(
    "plan",
    [
        Plan(outputs=[ANSWER], gzip=True),
        Plan(outputs=[ANSWER], gzip=True, chunk=5),
        Plan(outputs=[ANSWER], content_type="text/plain"),
        Plan(outputs=[ANSWER], content_type="application/octet-stream", chunk=2000),
        Plan(outputs=[ANSWER], whole=True),
    ],
    ids=["gzip", "gzip in pieces", "no type", "another type", "no stream"],
)
async def test_an_answer_is_the_same_however_it_comes(plan: Plan) -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(plan)
        assert said(await alone(agent)) == ANSWER.text
        assert len(server.bodies) == 1


@pytest.mark.limit("agents.open_responses.http.client._WHOLE_BYTES")
async def test_of_a_whole_answer_no_more_is_read_than_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "_WHOLE_BYTES", 100)
    body = b'{"error":"%s"}' % (b"x" * 1_000_000)
    async with responses_server() as server, agent_at(server, retries=0) as agent:
        server.plans.append(Plan(body=body, content_type="application/json"))
        assert failure_in(await alone(agent)).kind == "AgentFailed"


@pytest.mark.limit("agents.json_limits.MOST_JSON_VALUES")
async def test_an_answer_of_too_many_values_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_WHOLE_BYTES", 10_000_000)
    body = gzip.compress(b'{"output":[' + b"{}," * 1_000_001 + b"{}]}")
    headers = {"content-encoding": "gzip"}
    async with responses_server() as server, agent_at(server, retries=0) as agent:
        server.plans.append(Plan(headers=headers, body=body, content_type="application/json"))
        failure = failure_in(await alone(agent))
    assert "more than 1,000,000 values" in failure.message


@pytest.mark.limit("agents.open_responses.http.client._LIST_BYTES")
@pytest.mark.limit("agents.open_responses.http.client._LIST_TOKENS")
async def test_a_list_of_models_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    async with responses_server(models=[{"id": "small"}]) as server:
        spec = OpenResponsesSpec(server.base_url, "m")
        whole = await _models(spec)
        count = sum(map(whole.count, (b",", b"{", b"[")))
        monkeypatch.setattr(client, "_LIST_TOKENS", count + 1)
        assert await _models(spec) == whole
        monkeypatch.setattr(client, "_LIST_TOKENS", count)
        with pytest.raises(EndpointError) as caught:
            await _models(spec)
        assert f"more than {count} values" in caught.value.failure.message
        monkeypatch.setattr(client, "_LIST_TOKENS", count + 1)
        monkeypatch.setattr(client, "_LIST_BYTES", 1)
        assert len(await _models(spec)) <= len(whole), "no more is read than what came with that"


async def _models(spec: OpenResponsesSpec) -> bytes:
    asked = client.EndpointClient(spec, {})
    try:
        found = await asked.get("models")
        assert found is not None
        return found.body
    finally:
        await asked.aclose()


@pytest.mark.limit("agents.open_responses.http.client._FAULT_BYTES")
async def test_of_an_error_no_more_is_read_than_the_limit() -> None:
    body = b"x" * 64 * 1024 + b" " * 1_000_000 + b"QED"
    async with responses_server() as server, agent_at(server, retries=0) as agent:
        server.plans.append(Plan(500, body=body, content_type="text/plain"))
        assert "QED" not in failure_in(await alone(agent)).message


async def test_bad_utf_8_is_replaced_and_nothing_else_is_lost() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[ANSWER], corrupt=True))
        told = said(await alone(agent))
        assert "\ufffd" in told
        assert told.replace("\ufffd", "") == ANSWER.text


@pytest.mark.parametrize(
    ("plan", "kind", "words"),
    [
        (Plan(body=b"<html>Log in</html>", content_type="text/html"), "AgentFailed", "text/html"),
        (Plan(body=b"hello", content_type="text/plain"), "AgentFailed", "text/plain"),
        (Plan(body=b'{"a":1}', content_type="application/json"), "AgentFailed", "JSON"),
        (
            Plan(
                body=b'{"error":{"message":"odd","code":"invalid"}}', content_type="text/json+json"
            ),
            "AgentFailed",
            "odd",
        ),
        (
            Plan(502, {}, b"<html><head><title>x</title></head>Bad gateway</html>", "text/html"),
            "Unavailable",
            "Bad gateway",
        ),
        (
            Plan(body=b"\x1f\x8bno", headers={"content-encoding": "gzip"}),
            "Unavailable",
            "closed the connection",
        ),
        (Plan(stall=900, outputs=[ANSWER]), "Unavailable", "sent nothing for 0.3 seconds"),
        (Plan(wait=trio.Event()), "Unavailable", "sent nothing for 0.3 seconds"),
        (Plan(cut=4000, outputs=[ANSWER]), "Unavailable", "closed the connection too early"),
        (Plan(reset=4000, outputs=[ANSWER]), "Unavailable", "closed the connection too early"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_an_answer_that_is_none_says_what_it_was(plan: Plan, kind: str, words: str) -> None:
    async with responses_server() as server, agent_at(server, retries=0, idle_seconds=0.3) as agent:
        server.plans.append(plan)
        failure = failure_in(await alone(agent))
        assert failure.kind == kind
        assert words in failure.message
        assert said(await alone(agent, "and now?")) == "and now?"


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1/v1", "http://nowhere.invalid/v1"])
async def test_an_endpoint_that_is_not_there(base_url: str) -> None:
    async with agent_at(base_url, retries=0, connect_seconds=2.0) as agent:
        failure = failure_in(await alone(agent))
        assert failure.kind == "Unavailable"
        assert "can't be reached" in failure.message


@pytest.mark.parametrize("value", [f"{KEY}\nx", f"{KEY}\u20ac"])
async def test_a_header_that_can_not_be_sent_is_not_told(value: str) -> None:
    async with responses_server() as server:
        async with agent_at(server, headers={"x-key": value}) as agent:
            failure = failure_in(await alone(agent))
            assert failure.kind == "NoPermissions"
            assert KEY not in repr(failure)
        assert server.heard == []


async def test_a_connection_is_used_again_where_an_answer_was_read_to_its_end() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        for _ in range(3):
            await alone(agent)
        server.plans.append(Plan(503, SOON, b"busy"))
        await alone(agent)
        assert server.connections == 1


async def test_few_connections_wait_however_many_were_needed_at_once() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        for _ in range(2):
            opened = trio.Event()
            server.plans += [Plan(wait=opened)] * 9
            heard = len(server.heard) + 9
            async with trio.open_nursery() as nursery:
                for _ in range(9):
                    nursery.start_soon(alone, agent)
                await until(lambda heard=heard: len(server.heard) >= heard)
                opened.set()
        assert server.connections == 9 + 5


async def test_a_connection_that_was_broken_off_is_not_used_again() -> None:
    async with responses_server() as server, agent_at(server, retries=1) as agent:
        server.plans.append(Plan(cut=0))
        await alone(agent)
        assert server.connections == 2


async def test_no_secret_is_logged_however_much_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    fields: dict[str, Any] = {"api_key_env": "KEY", "headers": {"x-other": "also-secret"}}
    async with (
        responses_server(key=KEY) as server,
        agent_at(server, environment={"KEY": KEY}, **fields) as agent,
    ):
        await alone(agent)
        body = f"You sent {KEY} and also-secret".encode()
        server.plans.append(Plan(400, {}, body, "text/plain"))
        failure = failure_in(await alone(agent))
        assert failure.message.count("[redacted]") == 2
    assert caplog.records
    assert not [text for text in (KEY, "also-secret") if text in caplog.text + repr(failure)]


async def test_no_secret_is_told_that_a_server_repeats_in_a_stream() -> None:
    event = f'{{"error":{{"message":"You sent {KEY}","code":"invalid"}}}}'
    fields: dict[str, Any] = {"environment": {"KEY": KEY}, "api_key_env": "KEY"}
    async with responses_server() as server, agent_at(server, **fields) as agent:
        server.plans.append(Plan(body=f"data: {event}\n\n".encode()))
        assert "You sent [redacted]" in failure_in(await alone(agent)).message


async def test_no_secret_is_told_by_a_resource_either() -> None:
    """The server says "Incorrect API key provided.", and here the first word is a secret."""
    async with responses_server(key=KEY) as server:
        spec = OpenResponsesSpec(server.base_url, "m", headers={"x-key": "Incorrect"})
        client = EndpointClient(spec, {})
        with pytest.raises(EndpointError) as caught:
            await client.get("models")
        await client.aclose()
    assert "[redacted] API key provided" in caught.value.failure.message


async def test_a_key_can_change_while_we_run() -> None:
    environment = {"KEY": "old"}
    async with (
        responses_server(key="new") as server,
        agent_at(server, environment=environment, api_key_env="KEY") as agent,
    ):
        assert failure_in(await alone(agent)).kind == "NoPermissions"
        environment["KEY"] = "new"
        assert said(await alone(agent)) == "hello"


def said_by_server(message: str, code: str = "") -> bytes:
    return json.dumps({"error": {"message": message, "code": code}}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind", "words"),
    [
        (401, said_by_server("Wrong key."), "NoPermissions", "Wrong key. Check the key"),
        (403, said_by_server("Not you."), "NoPermissions", "Not you. Check the key"),
        (404, said_by_server("No such model."), "NotFound", "No such model. Check the address"),
        (408, b"", "Unavailable", "status 408"),
        (409, said_by_server("Busy with it."), "AgentFailed", "Busy with it."),
        (429, said_by_server("Slow down."), "Blocked", "Slow down."),
        (429, said_by_server("Pay.", "insufficient_quota"), "Blocked", "Pay."),
        (500, said_by_server("Oh no."), "Unavailable", "Oh no."),
        (503, b"<html><h1>Down</h1></html>", "Unavailable", "Down"),
    ],
)
async def test_a_status_says_what_can_be_done(
    status: int, body: bytes, kind: str, words: str
) -> None:
    async with responses_server() as server, agent_at(server, retries=0) as agent:
        server.plans.append(Plan(status, {"retry-after": "7"}, body, "application/json"))
        failure = failure_in(await alone(agent))
        assert failure.kind == kind
        assert words in failure.message
        assert failure.message.startswith("The endpoint 127.0.0.1:")
        assert said(await alone(agent, "and now?")) == "and now?"


async def test_a_connection_that_is_never_ready_is_given_up() -> None:
    """The port is open, and nobody there speaks TLS."""

    async def be_silent(stream: trio.SocketStream) -> None:
        await trio.sleep_forever()

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, be_silent, [listener])
        async with agent_at(
            f"https://127.0.0.1:{port}/v1", retries=0, connect_seconds=0.2
        ) as agent:
            with trio.fail_after(5):
                failure = failure_in(await alone(agent))
        nursery.cancel_scope.cancel()
    assert failure.kind == "Unavailable"
    assert "can't be reached" in failure.message


async def test_whatever_comes_shows_that_an_endpoint_still_works(
    autojump_clock: object,
) -> None:
    """Its silence is measured between two pieces of an answer, and not from its beginning."""
    comment = b": still thinking\n\n"
    answer = b'data: {"type": "response.output_text.delta", "delta": "Well."}\n\n'
    end = b'data: {"type": "response.completed", "response": {"status": "completed"}}\n\n'

    async def think(stream: trio.SocketStream) -> None:
        await stream.receive_some(65_536)
        head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
        await stream.send_all(head)
        for _ in range(8):
            await trio.sleep(1)
            await stream.send_all(comment)
        await stream.send_all(answer + end)
        await stream.aclose()

    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, think, [listener])
        async with agent_at(f"http://127.0.0.1:{port}/v1", retries=0, idle_seconds=5) as agent:
            assert said(await alone(agent)) == "Well."
        nursery.cancel_scope.cancel()
