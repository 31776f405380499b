"""What of HTTP with an endpoint is recorded, and what never is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.open_responses.http.client import EndpointClient
from agents.open_responses.http.trace import SHOWN_DATA, WireRecord
from agents.trace import Direction
from bridge.wire import OpenResponsesSpec
from tests.agents.open_responses.endpoints import agent_at, alone
from tests.agents.talk import said
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import Plan, responses_server

KEY = "very-secret-0123456789"


class Tape:
    """A tap that keeps what it is given."""

    def __init__(self) -> None:
        self.lines: list[tuple[Direction, bytes]] = []
        self.peers: list[str] = []

    def __call__(self, direction: Direction, line: bytes) -> None:
        self.lines.append((direction, line))

    def tap_for(self, peer: str) -> Tape:
        self.peers.append(peer)
        return self

    @property
    def records(self) -> list[tuple[Direction, Any]]:
        return [(direction, json.loads(line)) for direction, line in self.lines]


def test_a_request_is_recorded_without_its_host_and_query() -> None:
    tape = Tape()
    record = WireRecord(tape)
    record.request("POST", f"https://a:{KEY}@host/v1/responses?api-key={KEY}", b'{"model":"m"}')
    record.request("GET", "https://host/v1/models", None)
    assert tape.records == [
        ("out", {"method": "POST", "path": "/v1/responses", "body": {"model": "m"}}),
        ("out", {"method": "GET", "path": "/v1/models"}),
    ]


def test_an_answer_is_recorded_as_it_comes() -> None:
    tape = Tape()
    record = WireRecord(tape)
    record.answer(200, "text/event-stream")
    record.body(b'{"type":"ping","n":[1,null,true]}')
    record.body(b"[DONE]")
    record.body(b"")
    record.body(b"\xff")
    record.failure("gone")
    assert tape.records == [
        ("in", {"status": 200, "contentType": "text/event-stream"}),
        ("in", {"type": "ping", "n": [1, None, True]}),
        ("in", "[DONE]"),
        ("in", "\ufffd"),
        ("in", {"failure": "gone"}),
    ]


def test_no_secret_is_recorded_wherever_a_server_repeats_it() -> None:
    tape = Tape()
    record = WireRecord(tape, ['Bearer k"e\\y', 'k"e\\y', "abc"])
    record.body(json.dumps({'k"e\\y': ['Bearer k"e\\y', {"a": 'my k"e\\y!'}]}).encode())
    record.body(b'you sent k"e\\y and sk-abcdefghijklmnop')
    told = b"".join(line for _, line in tape.lines).decode()
    assert tape.records[0][1] == {"[redacted]": ["[redacted]", {"a": "my [redacted]!"}]}
    assert tape.records[1][1] == "you sent [redacted] and [redacted]"
    assert "e\\\\y" not in told


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("data:image/png;base64," + "A" * SHOWN_DATA, None),
        (
            "data:image/png;base64," + "A" * (SHOWN_DATA + 1),
            f"data:image/png;base64,[{SHOWN_DATA + 1} characters]",
        ),
        ("data: " + "x" * 5000, None),
        ("x" * 5000, None),
    ],
    ids=["a small image", "an image", "no address", "text"],
)
def test_of_a_large_file_only_the_size_is_recorded(text: str, shown: str | None) -> None:
    tape = Tape()
    WireRecord(tape).body(json.dumps({"image_url": text}).encode())
    assert tape.records == [("in", {"image_url": shown or text})]


# In use.


async def test_a_turn_is_recorded_from_the_request_to_the_last_event() -> None:
    tape = Tape()
    fields: dict[str, Any] = {"environment": {"KEY": KEY}, "api_key_env": "KEY"}
    async with (
        responses_server(key=KEY) as server,
        agent_at(server, tap_for=tape.tap_for, **fields) as agent,
    ):
        server.plans.append(Plan(outputs=[Text(f"You sent {KEY}.", pieces=1)]))
        assert said(await alone(agent)) == f"You sent {KEY}."
        assert tape.peers == [server.base_url.removeprefix("http://").removesuffix("/v1")]
    (out, request), (_, status), *events = tape.records
    assert (out, request["path"]) == ("out", "/v1/responses")
    assert request["body"] == server.bodies[0]
    assert status == {"status": 200, "contentType": "text/event-stream"}
    kinds = [event if isinstance(event, str) else event["type"] for _, event in events]
    assert kinds[0] == "response.created"
    assert "response.completed" in kinds[-2:]
    assert KEY.encode() not in b"".join(line for _, line in tape.lines)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan(401, {}, b'{"error":{"message":"bad %s"}}' % KEY.encode()), "bad [redacted]"),
        (Plan(body=b"<p>%s</p>" % KEY.encode(), content_type="text/html"), "<p>[redacted]</p>"),
        (Plan(body=b'{"a":"%s"}' % KEY.encode(), content_type="application/json"), "[redacted]"),
        (Plan(cut=0), "closed the connection too early"),
    ],
    ids=["refused", "no stream", "JSON", "cut"],
)
async def test_an_answer_that_is_none_is_recorded_with_what_it_was(plan: Plan, words: str) -> None:
    tape = Tape()
    fields: dict[str, Any] = {"environment": {"KEY": KEY}, "api_key_env": "KEY", "retries": 0}
    async with (
        responses_server(key=KEY) as server,
        agent_at(server, tap_for=tape.tap_for, **fields) as agent,
    ):
        server.plans.append(plan)
        await alone(agent)
    told = b"".join(line for _, line in tape.lines).decode()
    assert words in told
    assert "failure" in told
    assert KEY not in told


async def test_a_list_of_models_is_recorded() -> None:
    tape = Tape()
    async with responses_server(models=[{"id": "small"}]) as server:
        client = EndpointClient(OpenResponsesSpec(server.base_url, "m"), {}, tape.tap_for)
        await client.get("models")
        await client.aclose()
    assert tape.records[-1][1]["data"] == [{"id": "small"}]


@pytest.mark.parametrize("depth", [600, 100_000])
def test_a_body_that_is_nested_deeply_is_recorded_or_left_out(depth: int) -> None:
    tape = Tape()
    record = WireRecord(tape, (KEY,))
    record.body(b"[" * depth + json.dumps(KEY).encode() + b"]" * depth)
    ((_, line),) = tape.lines
    assert KEY.encode() not in line
    assert line.startswith(b"[" * depth if depth == 600 else b'"[nested too deeply')
