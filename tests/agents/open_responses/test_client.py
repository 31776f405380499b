"""One request and its answer, whatever a server makes of HTTP."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio

from agents.open_responses.client import EndpointClient
from agents.open_responses.trouble import EndpointError
from bridge.wire import OpenResponsesSpec
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import Plan, responses_server

from .endpoints import SOON, agent_at, alone, failure_in, said

ANSWER = Text("Grüße, 世界! \u2028 \x85 " * 5, pieces=10)
KEY = "very-secret-0123456789"


@pytest.mark.parametrize("chunk", [0, 1, 2, 3, 7, 64, 1400, 16384])
async def test_an_answer_is_the_same_however_it_is_cut(chunk: int) -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[ANSWER], chunk=chunk))
        assert said(await alone(agent)) == ANSWER.text


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
        (Plan(body=b"\x1f\x8bno", headers={"content-encoding": "gzip"}), "Unavailable", "broke"),
        (Plan(stall=900, outputs=[ANSWER]), "Unavailable", "said nothing for 0.3 seconds"),
        (Plan(wait=trio.Event()), "Unavailable", "said nothing for 0.3 seconds"),
        (Plan(cut=4000, outputs=[ANSWER]), "Unavailable", "broke the connection off"),
        (Plan(reset=4000, outputs=[ANSWER]), "Unavailable", "broke the connection off"),
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


@pytest.mark.parametrize(
    "base_url", ["http://127.0.0.1:1/v1", "http://nowhere.invalid/v1", "http://x:99999/v1"]
)
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
                with trio.fail_after(10):
                    while len(server.heard) < heard:  # noqa: ASYNC110  a socket tells it
                        await trio.sleep(0.005)
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
