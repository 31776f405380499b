"""The events, each of them by the specification's schema where that is here."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from actors.presentation import OWN_CALL, OWN_IMAGE
from agents.events import OwnCall
from bridge.wire import DataPart, Part, TextPart, ThinkingPart, ToolCallPart, UnknownPart
from tests.fakes.http_face import events_in
from vscodelm.http_server.api_error import ApiError
from vscodelm.http_server.body import echo, offer_of, read_body
from vscodelm.http_server.events import KEEPALIVE, EventWriter

_SHARED = Path(os.environ.get("VSCODELM_SHARED") or Path(__file__).parents[4] / "shared")
OPENAPI = _SHARED / "fixtures/open-responses/openapi-2026-04-24.json"
_SCHEMAS = "#/components/schemas/"
USAGE = b'{"prompt_tokens": 7, "completion_tokens": 3}'


def writer(*, frames: bool = True) -> EventWriter:
    body = read_body(b'{"model": "eliza", "input": "x"}')
    return EventWriter(
        {"id": "resp_1", "created_at": 1, **echo(body, offer_of(None, None))}, frames
    )


def own(call_id: str, status: Any, output: str = "") -> UnknownPart:
    call = OwnCall(call_id, "shell", status, {"command": "ls"}, output)
    return UnknownPart(OWN_CALL, msgspec.json.encode(call))


IMAGE = UnknownPart(OWN_IMAGE, b'{"mime_type":"image/png","result":"cG5n"}')


def written(*batches: list[Part], **end: Any) -> list[dict[str, Any]]:
    one = writer()
    return events_in((one.begin() + b"".join(map(one.add, batches)) + one.end(2, **end)).decode())


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events][2:-1]


@cache
def validator(schema: str) -> Any:
    document = json.loads(OPENAPI.read_bytes())
    return Draft202012Validator({**document, "$ref": _SCHEMAS + schema})


@cache
def schemas() -> dict[str, str]:
    """Return the names of the schemas of the events, by their types."""
    document = json.loads(OPENAPI.read_bytes())
    found: dict[str, str] = {}
    for name, schema in document["components"]["schemas"].items():
        if name.endswith("StreamingEvent"):
            found[schema["properties"]["type"]["enum"][0]] = name
    return found


PARTS = st.one_of(
    st.builds(TextPart, st.text(max_size=4)),
    st.builds(ThinkingPart, st.text(max_size=4)),
    st.builds(ToolCallPart, st.text("ab", min_size=1), st.just("read"), st.just({"a": 1})),
    st.just(DataPart("usage", USAGE)),
)
BATCHES = st.lists(st.lists(PARTS, max_size=4), max_size=5)
ENDS = st.sampled_from([{}, {"failure": ApiError(502, "died", "x")}, {"is_cancelled": True}])


@pytest.mark.skipif(not OPENAPI.is_file(), reason="the specification isn't here")
@given(BATCHES, ENDS)
def test_each_event_is_as_the_specification_has_it(
    batches: list[list[Part]], end: dict[str, Any]
) -> None:
    for event in written(*batches, **end):
        validator(schemas()[event["type"]]).validate(event)


@given(BATCHES, ENDS)
def test_items_begin_before_their_content_and_end_after_it(
    batches: list[list[Part]], end: dict[str, Any]
) -> None:
    events = written(*batches, **end)
    items: dict[int, list[str]] = {}
    for event in events:
        if "output_index" in event:
            kind = event["type"].rpartition("response.")[2]
            items.setdefault(event["output_index"], []).append(kind)
    assert list(items) == list(range(len(items)))
    for steps in items.values():
        assert (steps[0], steps[-1]) == ("output_item.added", "output_item.done")
        assert steps.count("output_item.done") == 1
    done = [event["item"] for event in events if event["type"].endswith("item.done")]
    assert done == events[-1]["response"]["output"]


@given(BATCHES)
def test_all_text_is_in_the_deltas_and_in_the_whole(batches: list[list[Part]]) -> None:
    events = written(*batches)
    parts = [part for batch in batches for part in batch]
    text = "".join(part.value for part in parts if isinstance(part, TextPart))
    deltas = [event["delta"] for event in events if event["type"].endswith("output_text.delta")]
    whole = [item for item in events[-1]["response"]["output"] if item["type"] == "message"]
    assert "".join(deltas) == text
    assert "".join(item["content"][0]["text"] for item in whole) == text


def test_a_call_is_whole_at_once() -> None:
    events = written([TextPart("a"), ToolCallPart("c1", "read", {"a": 1})])
    assert kinds(events)[-5:] == [
        "output_item.done",
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]
    call = events[-1]["response"]["output"][1]
    assert (call["call_id"], call["arguments"]) == ("c1", '{"a":1}')


def test_the_agents_own_call_stays_open_while_it_talks_on() -> None:
    events = written(
        [TextPart("a"), own("1", "in_progress")], [TextPart("b")], [own("1", "completed", "x")]
    )
    first, call, second = events[-1]["response"]["output"]
    assert call == {
        "id": call["id"],
        "type": "vscodelm:tool_call",
        "status": "completed",
        "name": "shell",
        "arguments": '{"command":"ls"}',
        "output": "x",
    }
    assert (first["content"][0]["text"], second["content"][0]["text"]) == ("a", "b")


def test_own_calls_that_never_end_are_incomplete_and_others_may_only_end() -> None:
    events = written([own("1", "in_progress"), own("2", "failed")])
    statuses = [item["status"] for item in events[-1]["response"]["output"]]
    assert statuses == ["incomplete", "failed"]


def test_for_a_client_that_can_not_skip_them_own_calls_are_left_out() -> None:
    one = writer()
    one.hides_own = True
    one.add([TextPart("a"), own("1", "completed")])
    assert [item["type"] for item in json.loads(one.result)["output"]] == ["message"]


def test_usage_is_real_or_null() -> None:
    known = written([TextPart("a"), DataPart("usage", USAGE)])
    assert known[-1]["response"]["usage"] == {
        "input_tokens": 7,
        "output_tokens": 3,
        "total_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    assert written([TextPart("a")])[-1]["response"]["usage"] is None
    assert known[0]["response"]["usage"] is None
    marked = written([DataPart("usage", USAGE), DataPart("usage", b"{}"), DataPart("a/b", b"")])
    assert marked[-1]["response"]["usage"]["total_tokens"] == 10


def test_a_response_that_was_cut_is_incomplete_and_so_is_its_last_item() -> None:
    last = written([TextPart("a")], is_cancelled=True)[-1]
    assert last["type"] == "response.incomplete"
    assert last["response"]["incomplete_details"] == {"reason": "cancelled"}
    assert last["response"]["output"][0]["status"] == "incomplete"
    assert last["response"]["completed_at"] is None


def test_a_failure_is_told_once_as_an_error_and_once_in_the_response() -> None:
    *_, error, failed = written([], failure=ApiError(502, "died", "It died."))
    assert error["error"]["code"] == "died"
    assert failed["response"]["error"] == {"code": "died", "message": "It died."}
    assert failed["response"]["status"] == "failed"


def test_without_frames_each_event_is_a_line() -> None:
    one = writer(frames=False)
    lines = (one.begin() + one.add([TextPart("a\nb")]) + one.end(2)).splitlines()
    assert [json.loads(line)["sequence_number"] for line in lines] == list(range(len(lines)))
    assert (one.keepalive, writer().keepalive) == (b"", KEEPALIVE)


def test_the_result_is_the_response() -> None:
    one = writer()
    one.begin()
    assert json.loads(one.result)["status"] == "in_progress"
    one.end(2)
    assert json.loads(one.result)["completed_at"] == 2


def test_an_image_is_an_item_between_the_texts() -> None:
    events = written([TextPart("See:"), IMAGE, TextPart("Nice.")])
    first, image, last = events[-1]["response"]["output"]
    assert [item["content"][0]["text"] for item in (first, last)] == ["See:", "Nice."]
    assert image == {
        "id": "ig_101",
        "type": "vscodelm:image",
        "status": "completed",
        "mime_type": "image/png",
        "result": "cG5n",
    }
    added = [event for event in events if event["type"] == "response.output_item.added"][1]
    assert (added["item"]["status"], added["item"]["result"]) == ("in_progress", None)


def test_a_client_that_can_skip_nothing_gets_no_item_of_our_own() -> None:
    one = EventWriter({"id": "resp_1"}, frames=False, hides_own=True)
    one.add([TextPart("See:"), IMAGE, own("1", "completed")])
    assert [item["type"] for item in one.resource()["output"]] == ["message"]
