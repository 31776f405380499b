"""An odd answer is an error of its own request: the agent answers the next one as ever."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from agents.events import Attach, Break, CallTool
from agents.nesting import DEEPEST_LEVELS
from agents.open_responses.http.errors import EndpointError
from agents.open_responses.http.retry import wanted_wait
from agents.open_responses.http.unexpected import expecting_anything
from agents.open_responses.stream.events import MEANINGS, OutputItem, Snapshot, StreamEvent
from agents.open_responses.stream.machine import StreamMachine
from agents.trace import Direction, Tap
from bridge.errors import LocalError
from tests.agents.talk import said
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import Plan, responses_server

from .endpoints import agent_at, alone, failure_in

LEVELS = 600
DEEP_LIST = b"[" * LEVELS + b"]" * LEVELS
DEEP_OBJECT = b'{"a":' * LEVELS + b"1" + b"}" * LEVELS
HUGE = b"7" * 4300
"""As many digits as can be read, and one more can't be written."""


async def test_the_errors_of_odd_answers_are_those_of_their_request() -> None:
    odd = [
        (Plan(status=400, body=DEEP_LIST), "failed: "),
        (Plan(status=400, body=b'{"error":' + DEEP_OBJECT + b"}"), "failed: "),
        (Plan(status=400, body=b'{"detail":' + DEEP_LIST + b"}"), "failed: "),
        (Plan(status=400, body=b'{"message":"no","code":"' + b"5" * 5000 + b'"}'), "failed: no"),
        (Plan(status=400, body=b'{"message":"no","code":' + b"5" * 4300 + b"}"), "failed: no"),
        (Plan(status=400, body=b'{"message":"no","status":' + b"5" * 5000 + b"}"), "failed: "),
        (Plan(status=429, headers={"retry-after": "9" * 300}, body=b"no"), "Try again later."),
        (Plan(status=302, headers={"location": "http://xn--0.a"}), "HTTP with it failed"),
        (
            Plan(status=302, headers={"location": "http://[1:2:3]/"}),
            "closed the connection too early",
        ),
        (Plan(body=b'{"a":' + DEEP_LIST + b"}", content_type="application/json"), "JSON"),
        (Plan(body=b'{"error":' + DEEP_LIST + b"}", content_type="application/json"), "failed: "),
        (
            Plan(body=b'{"message":"no","code":' + HUGE + b"}", content_type="application/json"),
            "no",
        ),
    ]
    async with responses_server() as server, agent_at(server, retries=0) as agent:
        for plan, words in odd:
            server.plans.append(plan)
            failure = failure_in(await alone(agent))
            assert words in failure.message, plan
            assert len(failure.message) < 1500
            assert len(failure.detail) < 1500
        server.plans.append(Plan(outputs=[Text("hello")]))
        assert said(await alone(agent)) == "hello"


@pytest.mark.limit("agents.open_responses.http.client._LONGEST_LABEL")
@pytest.mark.parametrize(
    ("address", "words"),
    [
        (f"http://{'a' * 64}.test/v1", "`baseUrl`"),
        ("http://a..test/v1", "`baseUrl`"),
        ("http://./v1", "`baseUrl`"),
        ("http://xn--\u00e9/v1", "`baseUrl`"),
        ("http://127.0.0.1:1/v1", "can't be reached"),
        ("http://localhost.:1/v1", "can't be reached"),
    ],
)
async def test_an_address_that_no_host_can_have_is_told_by_its_field(
    address: str, words: str
) -> None:
    async with agent_at(address, retries=0) as agent:
        assert words in failure_in(await alone(agent)).message


@pytest.mark.parametrize("name", ["Content-Length", "transfer-encoding", "Connection"])
async def test_a_header_that_is_not_to_be_set_is_named(name: str) -> None:
    async with responses_server() as server, agent_at(server, headers={name: "5"}) as agent:
        failure = failure_in(await alone(agent))
    assert f"remove `{name.lower()}` from `headers`" in failure.message


@pytest.mark.parametrize(
    "after",
    [
        "Tue, 15 Nov 99999999999999999999 08:12:41 GMT",
        "Tue, 15 Nov 1994 08:12:41 +9999999999999999",
        "Tue, 15 Nov 1994 08:12:41 -99999999999",
        "9" * 5000,
        "1e999",
    ],
)
def test_a_wait_that_is_out_of_range_is_none(after: str) -> None:
    date = {"date": "Tue, 15 Nov 1994 08:12:31 GMT"}
    assert wanted_wait({"retry-after": after, **date}) in (None, 0.0)
    assert wanted_wait({"retry-after": date["date"], "date": after}) in (None, 0.0)


# Every field of every event.


def hear(data: bytes) -> list[Any]:
    """Return what a response says that has an event like this, up to its end."""
    machine = StreamMachine(outward=lambda server_id: f"gw-{server_id}", tools={"look"})
    events = [*machine.feed(data)]
    if not machine.is_over:
        events += machine.feed(b'{"type":"response.completed","response":{"status":"completed"}}')
    assert machine.is_over
    machine.outcome  # noqa: B018  it reads what was kept
    return events


ODD = [DEEP_LIST, DEEP_OBJECT, HUGE, b"-" + HUGE, b'"' + b"5" * 5000 + b'"', b"1e308"]


@pytest.mark.parametrize("kind", sorted(MEANINGS))
def test_odd_json_in_a_field_of_an_event_does_no_harm(kind: str) -> None:
    for field in StreamEvent.__struct_fields__[1:]:
        for odd in ODD:
            hear(b'{"type":"%s","%s":%s}' % (kind.encode(), field.encode(), odd))


@pytest.mark.parametrize("kind", ["message", "reasoning", "function_call", "compaction"])
def test_odd_json_in_a_field_of_an_item_does_no_harm(kind: str) -> None:
    for field in OutputItem.__struct_fields__[1:]:
        for odd in ODD:
            named = b'"name":"look","call_id":"a",' if kind == "function_call" else b""
            item = b'{"type":"%s",%s"%s":%s}' % (kind.encode(), named, field.encode(), odd)
            for event in (b"response.output_item.added", b"response.output_item.done"):
                hear(b'{"type":"%s","item":%s}' % (event, item))
            hear(b'{"type":"response.completed","response":{"output":[%s]}}' % item)


def test_odd_json_in_a_field_of_a_response_does_no_harm() -> None:
    for field in Snapshot.__struct_fields__:
        for odd in ODD:
            response = b'{"%s":%s}' % (field.encode(), odd)
            for event in (b"response.completed", b"response.failed", b"response.incomplete"):
                hear(b'{"type":"%s","response":%s}' % (event, response))


@pytest.mark.limit("agents.token_record.MOST_TOKENS")
def test_counts_of_thousands_of_digits_are_none() -> None:
    usage = b'{"input_tokens":%s,"output_tokens":7,"total_tokens":%s}' % (HUGE, HUGE)
    told = hear(b'{"type":"response.completed","response":{"usage":%s}}' % usage)
    (record,) = (event for event in told if isinstance(event, Attach))
    assert json.loads(record.data) == {
        "prompt_tokens": 0,
        "completion_tokens": 7,
        "total_tokens": 7,
    }


@pytest.mark.limit("agents.nesting.DEEPEST_LEVELS")
def test_arguments_that_are_too_deep_are_cut_at_the_limit() -> None:
    for levels, is_whole in ((DEEPEST_LEVELS - 1, True), (DEEPEST_LEVELS, False)):
        value = b"[" * levels + b"1" + b"]" * levels
        arguments = json.dumps(f'{{"a":{value.decode()}}}').encode()
        item = b'{"type":"function_call","name":"look","call_id":"a","arguments":%s}' % arguments
        told = hear(b'{"type":"response.output_item.done","item":%s}' % item)
        (call,) = (event for event in told if isinstance(event, CallTool))
        assert (b"1" in json.dumps(call.parameters).encode()) is is_whole
        assert not isinstance(told[-1], Break)


async def test_what_an_endpoint_says_of_odd_depth_is_repeated_to_it_and_recorded() -> None:
    """The next request of the chat holds the answer before, and a trace holds both."""
    recorded: list[bytes] = []

    def tap(_direction: Direction, data: bytes) -> None:
        recorded.append(data)

    def tap_for(_peer: str) -> Tap:
        return tap

    deep = b'{"type":"function_call","name":"read_file","call_id":"a","arguments":{"a":%s}}'
    for odd in (DEEP_LIST, DEEP_OBJECT):
        body = b'data: {"type":"response.output_item.done","item":%s}\n\n' % (deep % odd)
        body += b'data: {"type":"response.completed","response":{"status":"completed"}}\n\n'
        async with (
            responses_server() as server,
            agent_at(server, tap_for=tap_for) as agent,
        ):
            server.plans.append(Plan(body=body))
            server.plans.append(Plan(outputs=[Text("read")]))
            assert said(await alone(agent)) == "read"
            assert len(server.bodies) == 2
    assert recorded


# What nobody thought of.


@pytest.mark.parametrize(
    "error", [OverflowError("big"), RecursionError(), UnicodeError("xn--0"), ImportError("socksio")]
)
def test_any_other_error_becomes_one_of_the_request(error: Exception) -> None:
    with pytest.raises(EndpointError) as raised, expecting_anything("S", "reading"):
        raise error
    assert type(error).__name__ in raised.value.failure.message
    assert str(error) in raised.value.failure.detail


@pytest.mark.parametrize("error", [LocalError("ours"), AssertionError("ours"), ZeroDivisionError()])
def test_what_we_broke_is_no_fault_of_a_server(error: Exception) -> None:
    with pytest.raises(type(error)), expecting_anything("S", "reading", but=(ZeroDivisionError,)):
        raise error


async def test_being_cancelled_is_no_error() -> None:
    with trio.move_on_after(0) as scope, expecting_anything("S", "reading"):
        await trio.sleep_forever()
    assert scope.cancelled_caught
