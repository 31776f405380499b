"""The types of events, and reading them as forgivingly as servers need it."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
import pytest

from agents.events import Break, Stop
from agents.open_responses.stream.events import (
    ALIASES,
    NOTHING,
    SPECIFIED,
    Meaning,
    annotations_of,
    load,
    read_event,
    read_item,
    read_items,
    read_snapshot,
)
from tests.agents.open_responses.hearing import JSON, hear
from tests.agents.open_responses.recordings import FOLDER, needs_recordings

LIFECYCLE = ("created", "queued", "in_progress", "completed", "failed", "incomplete")


def test_there_are_24_types() -> None:
    assert len(SPECIFIED) == 24
    assert {f"response.{name}" for name in LIFECYCLE} | {"error"} <= set(SPECIFIED)
    assert not set(SPECIFIED) & set(ALIASES)


def test_every_meaning_has_a_name() -> None:
    assert {*SPECIFIED.values(), *ALIASES.values()} == {*Meaning} - {Meaning.HOSTED}


@needs_recordings
def test_the_types_are_those_of_the_specification() -> None:
    specification = json.loads((FOLDER / "openapi-2026-04-24.json").read_bytes())
    found: set[str] = set()
    for name, schema in specification["components"]["schemas"].items():
        if name.endswith("StreamingEvent"):
            found |= set(schema["properties"]["type"].get("enum", ()))
    assert found == set(SPECIFIED)


@needs_recordings
def test_the_smallest_event_of_each_type_is_understood() -> None:
    lines = (FOLDER / "spec-minimal-events.jsonl").read_bytes().splitlines()
    events = [cast("JSON", json.loads(line)) for line in lines]
    assert {event["type"] for event in events} == set(SPECIFIED)
    for event in events:
        heard = hear([event])
        assert heard.outcome.notes == ()
        assert isinstance(heard.end, Break | Stop)


def test_unknown_fields_are_skipped() -> None:
    event = read_event(b'{"type":"x","obfuscation":"y","logprobs":[{"a":[1,2]}],"delta":"z"}')
    assert event is not None
    assert (event.type, event.delta) == ("x", "z")


def test_a_field_that_is_not_what_it_should_be_is_left_out() -> None:
    wrong: JSON = {
        "type": "response.output_text.delta",
        "delta": "a",
        "item_id": 7,
        "output_index": "0",
        "content_index": None,
        "sequence_number": 1.0,
        "item": {"type": "message"},
    }
    event = read_event(json.dumps(wrong).encode())
    assert event is not None
    assert (event.delta, event.item_id, event.output_index) == ("a", None, 0)
    assert (event.content_index, event.sequence_number) == (None, 1)
    assert json.loads(bytes(event.item)) == {"type": "message"}


def test_half_a_character_is_replaced() -> None:
    event = read_event(rb'{"type":"x","delta":"a\ud83d","item":{"name":"\ude00"}}')
    assert event is not None
    assert event.delta == "a\ufffd"
    assert json.loads(bytes(event.item)) == {"name": "\ufffd"}


def test_bytes_that_are_no_utf_8_are_replaced() -> None:
    event = read_event(b'{"type":"x","delta":"a\xff"}')
    assert event is not None
    assert event.delta == "a\ufffd"


@pytest.mark.parametrize("data", [b"", b"[]", b"7", b'"x"', b"{", b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_no_event(data: bytes) -> None:
    assert read_event(data) is None


def test_a_snapshot_is_read_as_far_as_it_can_be() -> None:
    raw = b'{"id":7,"status":"completed","store":"yes","output":{},"usage":[],"error":"x"}'
    snapshot = read_snapshot(raw)
    assert (snapshot.id, snapshot.status, snapshot.store) == (None, "completed", None)
    assert read_items(snapshot.output) == []
    assert read_snapshot(b"null") == read_snapshot(b"{}")
    assert read_snapshot(b"{}").output == NOTHING


def test_items_are_read_one_by_one() -> None:
    raws = read_items(b'[{"type":"message"},null,7,{"type":"x\\ud83d"}]')
    assert [read_item(raw).type for raw in raws[:3]] == ["message", None, None]
    assert read_item(raws[3]).type == "x\ufffd"
    assert read_items(b"null") == []
    broken = msgspec.Raw(b'["\xff", {"type":"message"}]')
    assert [read_item(raw).type for raw in read_items(broken)] == [None, "message"]


@pytest.mark.parametrize(
    ("raw", "value"),
    [(b"{}", {}), (b'"\xff"', "\ufffd"), (rb'"\ud83d"', "\ufffd"), (b"{", None), (b"", None)],
)
def test_json_is_loaded_or_nothing(raw: bytes, value: Any) -> None:
    assert load(raw) == value


def test_annotations_are_found_in_parts_and_in_contents() -> None:
    part = {"type": "output_text", "annotations": [1, 2]}
    assert annotations_of(part) == [1, 2]
    assert annotations_of([part, None, {}, part]) == [1, 2, 1, 2]
    assert annotations_of(None) == []


def test_the_id_of_an_item_may_stand_beside_its_own() -> None:
    assert read_item(b'{"id":null,"item_id":"fc_1"}').id == "fc_1"
    assert read_item(b'{"id":"fc_2","item_id":"fc_1"}').id == "fc_2"
