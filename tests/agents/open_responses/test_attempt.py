"""Asking for a response until it comes: retries, and what a server doesn't know any more."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import attrs
import pytest
import trio

from agents.events import (
    Batch,
    Break,
    CallTool,
    Counted,
    Event,
    Prompt,
    Stop,
    StopReason,
    Think,
)
from agents.open_responses.attempt import MOST_SHOWN_EVENTS, ResponseAttempt
from agents.open_responses.checkpoints import Points
from agents.open_responses.endpoint import Endpoint
from agents.open_responses.http.errors import EndpointError
from agents.open_responses.pictures import Pictures
from agents.open_responses.request.names import fitting_name
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.sse import SseSplitter
from bridge.errors import Failure
from bridge.wire import OpenResponsesSpec, Settings, ThinkingPart, ToolSpec
from tests.agents.talk import said
from tests.fakes.responses_events import Call, Refused, Text, Thought
from tests.fakes.responses_server import Context, Plan, responses_server

from .endpoints import SOON, TOOLS, agent_at, alone, asking, events_of, failure_in, rest_of
from .words import assistant, call, result, user

if TYPE_CHECKING:
    from trio.testing import MockClock

    from agents.open_responses.http.client import EndpointAnswer, EndpointClient

# Before the first part.

BUSY = Plan(503, SOON, b"busy", "text/plain")


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504])
async def test_a_status_that_may_pass_is_tried_again(status: int) -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans += [Plan(status, SOON, b"busy", "text/plain")] * 2
        events = await alone(agent)
        assert said(events) == "hello"
        assert len(server.bodies) == 3
        assert server.bodies[0] == server.bodies[2]


@pytest.mark.parametrize(
    "plan",
    [
        Plan(cut=0),
        Plan(cut=700),
        Plan(reset=0),
        Plan(reset=700),
        Plan(outputs=[], ending="failed"),
        Plan(outputs=[], ending="none"),
        Plan(outputs=[Thought("")], ending="none"),
    ],
    ids=str,
)
async def test_a_stream_that_fails_before_it_says_anything_is_tried_again(plan: Plan) -> None:
    async with responses_server() as server, agent_at(server, retries=1) as agent:
        server.plans.append(plan)
        assert said(await alone(agent)) == "hello"
        assert len(server.bodies) == 2


async def test_there_is_an_end_to_trying() -> None:
    async with responses_server() as server, agent_at(server, retries=2) as agent:
        server.plans += [BUSY] * 3
        failure = failure_in(await alone(agent))
        assert failure.kind == "Unavailable"
        assert "busy" in failure.message
        assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, b'{"error":{"message":"bad","type":"invalid_request_error"}}', "AgentFailed"),
        (401, b'{"error":{"message":"bad key"}}', "NoPermissions"),
        (403, b"{}", "NoPermissions"),
        (404, b'{"error":{"message":"no model","code":"model_not_found"}}', "NotFound"),
        (429, b'{"error":{"message":"pay","code":"insufficient_quota"}}', "Blocked"),
        (400, b'{"error":{"message":"no","code":"content_filter"}}', "Blocked"),
        (302, b"", "AgentFailed"),
        (413, b"<html><body>Too large</body></html>", "AgentFailed"),
    ],
)
async def test_a_status_that_is_final_is_told_at_once(status: int, body: bytes, kind: str) -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(status, SOON, body, "application/json"))
        failure = failure_in(await alone(agent))
        assert failure.kind == kind
        assert "<" not in failure.message
        assert len(server.bodies) == 1


async def test_who_asks_for_much_patience_is_not_waited_for() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(429, {"retry-after": "600"}, b"slow down", "text/plain"))
        failure = failure_in(await alone(agent))
        assert failure.kind == "Blocked"
        assert len(server.bodies) == 1


async def test_usage_of_a_try_that_failed_is_not_told() -> None:
    usage = '"usage":{"input_tokens":1,"output_tokens":0}'
    error = '"error":{"code":"server_error","message":"unwell"}'
    event = f'{{"type":"response.failed","response":{{"status":"failed",{usage},{error}}}}}'
    async with responses_server() as server, agent_at(server, retries=1) as agent:
        server.plans += [Plan(body=f"data: {event}\n\n".encode())] * 2
        assert [type(event).__name__ for event in await alone(agent)] == ["Break"]
        assert len(server.bodies) == 2


# After it.


CUT = Plan(
    body=b'data: {"type":"response.output_item.added","item":{"type":"message","id":"a"}}\n\n'
    b'data: {"type":"response.output_text.delta","item_id":"a","delta":"Oh, "}\n\n'
)


@pytest.mark.parametrize("plan", [Plan(outputs=[Text("Oh, ")], ending="failed"), CUT])
async def test_after_the_first_part_nothing_is_tried_again(plan: Plan) -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(plan)
        async with agent.session(asking("")) as session:
            events = await events_of(session, "one")
            assert said(events) == "Oh, "
            assert failure_in(events).kind == "Unavailable"
            assert len(server.bodies) == 1
            assert said(await events_of(session, "two")) == "one / two"
        assert [item["content"] for item in server.bodies[-1]["input"]] == ["one", "Oh, ", "two"]


async def test_a_whole_response_without_its_end_is_told_again_and_not_gone_on_from() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[Text("Oh.")], ending="none"))
        async with agent.session(asking("")) as session:
            assert (await events_of(session, "one"))[-1] == Stop()
            await events_of(session, "two")
        assert "previous_response_id" not in server.bodies[-1]
        assert [item["content"] for item in server.bodies[-1]["input"]] == ["one", "Oh.", "two"]


async def test_a_response_cut_short_is_told_again_and_not_gone_on_from() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[Text("Oh, ")], ending="incomplete"))
        async with agent.session(asking("")) as session:
            assert (await events_of(session, "one"))[-1] == Stop(StopReason.MAX_TOKENS)
            await events_of(session, "two")
        assert "previous_response_id" not in server.bodies[-1]
        assert len(server.bodies[-1]["input"]) == 3


async def test_a_refusal_is_the_answer() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[Refused("No.")]))
        events = await alone(agent)
        assert said(events) == "No."
        assert events[-1] == Stop(StopReason.REFUSAL)


async def test_a_connection_that_breaks_after_the_end_breaks_nothing() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[Text("Well.")], reset=10**9))
        events = await alone(agent)
        assert said(events) == "Well."
        assert events[-1] == Stop()
        assert len(server.bodies) == 1


async def test_what_is_odd_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async with responses_server() as server, agent_at(server, retries=0) as agent:
        server.plans.append(Plan(body=b"data: oh\n\n"))
        assert failure_in(await alone(agent)).kind == "Unavailable"
    assert "no JSON object" in caplog.text


@pytest.mark.limit("agents.open_responses.stream.sse.MAX_EVENT_BYTES")
async def test_an_event_that_is_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.open_responses.attempt.SseSplitter", partial(SseSplitter, 5000))
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[Text("x" * 9000, pieces=1)]))
        assert "too long" in failure_in(await alone(agent)).message
        assert len(server.bodies) == 1


@pytest.mark.limit("agents.open_responses.attempt.MOST_SHOWN_EVENTS")
async def test_many_calls_are_shown_in_batches() -> None:
    most = MOST_SHOWN_EVENTS
    items = [
        {"type": "function_call", "call_id": f"{number}", "name": TOOLS[0].name, "arguments": "{}"}
        for number in range(most + 1)
    ]
    body = json.dumps({"output": items}).encode()
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(body=body, content_type="application/json"))
        async with agent.session(asking("")) as session:
            events = await events_of(session, "one")
    assert sum(isinstance(one, CallTool) for one in events) == most + 1


# What it was to go on from.


async def test_an_unknown_response_is_told_in_full_and_gone_on_from() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        async with agent.session(asking("")) as session:
            await events_of(session, "one")
            server.responses.clear()
            assert said(await events_of(session, "two")) == "one / two"
            assert said(await events_of(session, "three")) == "one / two / three"
        assert [len(body["input"]) for body in server.bodies] == [1, 1, 3, 1]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b'{"error":{"message":"gone","param":"response_id"}}'),
        (400, b'{"error":{"message":"gone","param":"previous_response_id"}}'),
        (409, b"previous_response_not_found"),
        (200, b'data: {"error":{"message":"gone","code":"previous_response_not_found"}}\n\n'),
    ],
)
async def test_servers_say_so_in_many_ways(status: int, body: bytes) -> None:
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        await events_of(session, "one")
        kind = "text/event-stream" if status == 200 else "application/json"
        server.plans.append(Plan(status, {}, body, kind))
        assert said(await events_of(session, "two")) == "one / two"


async def test_a_server_that_begins_anew_is_told_everything_and_soon_nothing_else() -> None:
    """The echo guard: what it says to the shortened request is never shown."""
    async with responses_server(forgets=True) as server, agent_at(server) as agent:
        async with agent.session(asking("")) as session:
            texts = [said(await events_of(session, str(n))) for n in range(4)]
        assert texts == ["0", "0 / 1", "0 / 1 / 2", "0 / 1 / 2 / 3"]
        asked = ["previous_response_id" in body for body in server.bodies]
        assert asked == [False, True, False, True, False, False]


async def test_a_server_that_keeps_nothing_is_never_asked_to_go_on() -> None:
    async with responses_server(stateful=False) as server, agent_at(server) as agent:
        async with agent.session(asking("")) as session:
            for n in range(3):
                await events_of(session, str(n))
        assert [len(body["input"]) for body in server.bodies] == [1, 3, 5]
        assert not any("previous_response_id" in body for body in server.bodies)


@pytest.mark.parametrize("fields", [{"stateful": False}, {"store": False}])
async def test_going_on_can_be_switched_off(fields: dict[str, bool]) -> None:
    async with responses_server() as server, agent_at(server, **fields) as agent:
        async with agent.session(asking("")) as session:
            for n in range(2):
                await events_of(session, str(n))
        assert [len(body["input"]) for body in server.bodies] == [1, 3]


async def test_other_tools_are_told_with_everything() -> None:
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        await events_of(session, "one")
        other = Prompt((user("two"),), tools=(ToolSpec("other"),))
        await rest_of(session, session.run(other))
        await events_of(session, "three")
    assert [len(body["input"]) for body in server.bodies] == [1, 3, 5]


async def test_reasoning_goes_back_with_the_results_of_calls() -> None:
    fields = {"store": False, "reasoning": {"effort": "low"}}
    async with responses_server() as server, agent_at(server, **fields) as agent:
        server.plans.append(Plan(outputs=[Thought("hm", "ENC"), Call("read_file", {"n": 1})]))
        await alone(agent)
        first, second = server.bodies
        assert first["include"] == ["reasoning.encrypted_content"]
        assert [item["type"] for item in second["input"]] == [
            "message",
            "reasoning",
            "function_call",
            "function_call_output",
        ]
        assert second["input"][1]["encrypted_content"] == "ENC"


async def test_after_a_restart_it_goes_back_as_the_editor_kept_it() -> None:
    fields = {"store": False, "reasoning": {"effort": "low"}}
    async with responses_server() as server:
        server.plans.append(Plan(outputs=[Thought("hm", "ENC"), Call("read_file", {"n": 1})]))
        async with agent_at(server, **fields) as agent:
            events = await alone(agent)
        *_, kept = (event for event in events if isinstance(event, Think))
        (made,) = (event for event in events if isinstance(event, CallTool))
        part = ThinkingPart("hm", kept.id, kept.metadata)
        chat = user("hello"), assistant(part, call(made.call_id, made.name, n=1))
        prompt = Prompt((user(result(made.call_id)),), transcript=chat)
        async with agent_at(server, **fields) as agent, agent.session(prompt) as session:
            await rest_of(session, session.run(prompt))
        before, after = (body["input"] for body in server.bodies[-2:])
    assert [item["type"] for item in after] == [item["type"] for item in before]
    assert after[:2] == before[:2]
    assert after[1]["encrypted_content"] == "ENC"


async def test_a_tool_is_called_by_the_editor_s_name() -> None:
    prompt = Prompt((user("go"),), tools=(ToolSpec("my tool!"),))
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(outputs=[Call(fitting_name("my tool!"), {})]))
        async with agent.session(prompt) as session:
            events = await rest_of(session, session.run(prompt))
    (tool,) = server.bodies[0]["tools"]
    assert tool["name"] == fitting_name("my tool!")
    assert [event.name for event in events if isinstance(event, CallTool)] == ["my tool!"]


# What it counted.


def thirty(context: Context) -> int:
    return 30


def nothing(context: Context) -> int:
    return 0


def counts(events: list[Event]) -> list[int]:
    return [event.tokens for event in events if isinstance(event, Counted)]


async def test_the_tokens_of_a_request_are_told_before_its_end() -> None:
    async with responses_server(count=thirty) as server, agent_at(server) as agent:
        events = await alone(agent)
    assert events[-2:] == [Counted(30), Stop()]


async def test_a_server_that_does_not_know_the_tokens_tells_none() -> None:
    async with responses_server(count=nothing) as server, agent_at(server) as agent:
        assert counts(await alone(agent)) == []


async def test_the_tokens_of_less_than_the_editor_said_are_not_told() -> None:
    short = Settings(context="request")
    async with responses_server() as server, agent_at(server) as agent:
        assert counts(await alone(agent, settings=short)) == []
        server.plans.append(Plan(outputs=[Text("Oh, ")], ending="none"))
        assert counts(await alone(agent)) == []


async def test_thoughts_that_the_server_may_have_kept_are_not_counted_as_the_editor_s() -> None:
    """They count until the user speaks again."""
    async with responses_server() as server, agent_at(server) as agent:
        server.plans += [Plan(outputs=[Thought("hm"), Call("read_file", {})])]
        async with agent.session(asking("")) as session:
            assert counts(await events_of(session, "one")) == [30]
            assert counts(await events_of(session, "two")) == [30]


async def test_results_of_calls_without_thoughts_are_counted() -> None:
    async with responses_server(count=thirty) as server, agent_at(server) as agent:
        server.plans += [Plan(outputs=[Call("read_file", {})])]
        assert counts(await alone(agent)) == [30, 30]


@pytest.mark.parametrize("kind", ["web_search_call", "compaction"])
async def test_what_a_server_adds_by_itself_is_counted_no_more(kind: str) -> None:
    item: dict[str, Any] = {"type": kind, "id": "x", "encrypted_content": "ENC"}
    said_too: dict[str, Any] = {"type": "message", "role": "assistant"}
    said_too["content"] = [{"type": "output_text", "text": "Found."}]
    answer: dict[str, Any] = {
        "id": "resp_x",
        "status": "completed",
        "output": [item, said_too],
        "usage": {"input_tokens": 30, "output_tokens": 1},
    }
    async with responses_server() as server, agent_at(server) as agent:
        server.plans.append(Plan(body=json.dumps(answer).encode(), content_type="application/json"))
        async with agent.session(asking("")) as session:
            events = await events_of(session, "one")
            assert said(events).endswith("Found.")
            assert counts(events) == counts(await events_of(session, "two")) == []


# When it is asked again.


@attrs.define
class Unwell:
    """A client that never gets an answer; it notes when it was asked."""

    wanted: float | None
    asked: list[float] = attrs.field(factory=list[float])
    server: str = "The endpoint x"
    secrets: tuple[str, ...] = ()

    @asynccontextmanager
    async def post(self, body: bytes) -> AsyncGenerator[EndpointAnswer]:
        self.asked.append(trio.current_time())
        await trio.lowlevel.checkpoint()
        if len(self.asked) < 100:
            busy = Failure("Unavailable", "busy")
            raise EndpointError(busy, can_retry=True, retry_after=self.wanted)
        yield cast("EndpointAnswer", None)


@pytest.mark.parametrize(
    ("wanted", "chance", "pauses"),
    [
        (7.0, 0.9, [7.0, 7.0, 7.0]),
        (30.0, 0.0, [30.0, 30.0, 30.0]),
        (31.0, 0.0, []),
        (None, 0.0, [0.5, 1.0, 2.0]),
        (None, 0.8, [0.4, 0.8, 1.6]),
    ],
)
async def test_it_is_asked_again_when_the_server_wants_or_later_each_time(
    autojump_clock: MockClock, wanted: float | None, chance: float, pauses: list[float]
) -> None:
    client = Unwell(wanted)
    spec = OpenResponsesSpec("http://x/v1", "m", retries=3)
    asked = cast("EndpointClient", client)
    endpoint = Endpoint(spec, {}, asked, CallIds(), lambda: chance, Points(), Pictures())
    chain = endpoint.chain()
    chain.tell(asking("one").messages, endpoint.options(asking("one")))

    async def show(batch: Batch) -> None:
        raise AssertionError(batch)

    assert isinstance(await ResponseAttempt(endpoint, chain, asking("one"), show).run(), Break)
    assert [b - a for a, b in pairwise(client.asked)] == pytest.approx(pauses)
