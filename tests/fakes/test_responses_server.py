"""The loopback server is honest: the official SDK's types take what it says, as does the schema."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from agents.open_responses.stream.events import SPECIFIED

from .responses_events import (
    DONE,
    JSON,
    Call,
    Output,
    Refused,
    Text,
    Thought,
    Writer,
    response_object,
    sse,
)

EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
REQUEST: JSON = {
    "model": "small",
    "input": [{"type": "message", "role": "user", "content": "Hello"}],
    "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}],
    "previous_response_id": "resp_0",
    "instructions": "Be kind.",
}
OUTPUTS: list[Output] = [
    Thought("hm", "ENC", "h, m"),
    Text("Hello", link="https://a.example/"),
    Call("f", {"n": 1}),
    Call("f", {}, call_id="call_1"),
    Refused("No."),
]

_ROOT = Path(__file__).parents[2]
_SHARED = Path(os.environ.get("VSCODELM_SHARED") or _ROOT.parent / "shared")
OPENAPI = _SHARED / "fixtures/open-responses/openapi-2026-04-24.json"


def written(end: Callable[[Writer], Any]) -> list[JSON]:
    numbers = iter(range(1000))
    snapshot = response_object(REQUEST, "resp_1")

    def new_id(kind: str) -> str:
        return f"{kind}_{next(numbers)}"

    writer = Writer(snapshot, new_id)
    events = [*writer.begin(is_queued=True)]
    for output in OUTPUTS:
        events += writer.say(output)
    return [*events, *end(writer)]


ENDINGS: dict[str, Callable[[Writer], Any]] = {
    "completed": lambda writer: writer.end(),
    "incomplete": lambda writer: writer.end(
        "incomplete", incomplete_details={"reason": "max_output_tokens"}
    ),
    "failed": lambda writer: writer.fail("server_error", "unwell"),
}


def as_the_sdk_has_it(event: JSON) -> JSON:
    """Return an event under the SDK's names, where these aren't those of the wire."""
    kind = event["type"]
    if kind == "error":  # nested on the wire, as was recorded, and flat in the SDK
        return {**event, **event["error"], "type": kind}
    if kind.startswith("response.reasoning."):  # the specification's name, which nobody sends
        return {**event, "type": kind.replace(".reasoning.", ".reasoning_text.")}
    return event


def test_the_server_has_every_event_of_the_specification() -> None:
    told = {event["type"] for end in ENDINGS.values() for event in written(end)}
    assert told == SPECIFIED.keys()
    assert len(told) == 24


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_official_sdk_knows_every_event(ending: str) -> None:
    for event in map(as_the_sdk_has_it, written(ENDINGS[ending])):
        parsed = EVENTS.validate_python(event)
        assert parsed.type == event["type"]
        assert EVENTS.dump_python(parsed, mode="json")["type"] == event["type"]


@pytest.mark.skipif(not OPENAPI.is_file(), reason="the specification isn't here")
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_event_is_as_the_specification_wants_it(ending: str) -> None:
    document = json.loads(OPENAPI.read_bytes())
    operation = document["paths"]["/responses"]["post"]["responses"]["200"]["content"]
    schema = operation["text/event-stream"]["schema"]
    judge: Any = Draft202012Validator({**document, **schema})
    for event in written(ENDINGS[ending]):
        judge.validate(event)


def test_items_are_announced_before_anything_is_said_of_them() -> None:
    announced: set[int] = set()
    for number, event in enumerate(written(ENDINGS["completed"])):
        assert event["sequence_number"] == number
        if event["type"] == "response.output_item.added":
            announced.add(event["output_index"])
        elif "output_index" in event:
            assert event["output_index"] in announced
    assert sse({"type": "x"}) == b'event: x\ndata: {"type": "x"}\n\n'
    assert DONE == b"data: [DONE]\n\n"
