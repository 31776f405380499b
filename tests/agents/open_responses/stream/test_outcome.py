"""The items of a response: the final output, or what was done."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from agents.open_responses.stream.events import Meaning, Snapshot
from agents.open_responses.stream.outcome import ResponseRecord, fault_in


def raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def call(call_id: str) -> dict[str, str]:
    return {"type": "function_call", "call_id": call_id}


@pytest.mark.parametrize(
    ("details", "words"),
    [
        ({"error": {"message": "too long"}}, "too long"),
        ({"error": "too long"}, "too long"),
        ({"message": "too long"}, "too long"),
        ({"reason": "turn_detected"}, "turn_detected"),
        ("too long", "too long"),
        (" ", "didn't say why"),
        ({"type": "failed"}, "didn't say why"),
        (7, "didn't say why"),
    ],
)
def test_the_details_of_a_status_say_why_a_response_failed(details: Any, words: str) -> None:
    snapshot = Snapshot(status="failed", status_details=details)
    fault = fault_in(Meaning.COMPLETED, snapshot)
    assert fault is not None
    assert words in fault.message


@pytest.mark.parametrize("error", [{"message": None}, {"message": ""}, {}])
@pytest.mark.parametrize("details", ["too long", {"error": {"message": "too long"}}])
def test_the_details_have_the_words_that_an_error_lacks(
    error: dict[str, Any], details: Any
) -> None:
    snapshot = Snapshot(
        status="failed", error={"code": "invalid_prompt", **error}, status_details=details
    )
    fault = fault_in(Meaning.COMPLETED, snapshot)
    assert fault is not None
    assert (fault.message, fault.code) == ("too long", "invalid_prompt")


def test_an_error_with_words_counts_more_than_the_details() -> None:
    for error in ({"message": "no"}, "no"):
        fault = fault_in(Meaning.FAILED, Snapshot(error=error, status_details="other"))
        assert fault is not None
        assert fault.message == "no"


def test_what_a_snapshot_leaves_out_is_as_it_was() -> None:
    record = ResponseRecord()
    record.learn(Snapshot(id="a", status="queued", output=raw([call("1")])))
    record.learn(Snapshot(status="completed", store=False))
    snapshot = record.snapshot
    assert (snapshot.id, snapshot.status, snapshot.store) == ("a", "completed", False)
    assert record.output(["1"]) == (raw(call("1")),)


def test_the_final_output_counts_unless_it_lacks_calls() -> None:
    record = ResponseRecord()
    record.keep(raw(call("2")), 1)
    record.keep(raw(call("1")), 0)
    done = (raw(call("1")), raw(call("2")))
    assert record.output(["1", "2"]) == done
    record.learn(Snapshot(output=raw([call("x")])))
    assert record.output(["1", "2"]) == done
    assert record.output(["1"]) == (raw(call("x")),)


def test_items_without_an_index_stand_as_they_came_and_doubled_ones_once() -> None:
    record = ResponseRecord()
    for item in (call("1"), call("1"), {"type": "message", "id": "m"}, {"type": "message"}):
        record.keep(raw(item), None)
    assert len(record.output(["1"])) == 3
