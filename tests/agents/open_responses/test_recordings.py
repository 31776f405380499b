"""Recorded streams say what `expected.json` has of them, however they are cut and mutated."""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.events import Break, Stop, StopReason

from .hearing import Heard, hear, hear_bytes
from .mutations import MUTATIONS, Mutation, knows_calls, knows_texts, mutate, taken
from .recordings import as_body, expected, needs_recordings, responses

pytestmark = needs_recordings

_EXPECTED = expected()
# Every mutation copies the events; the long ones hold nothing that these don't.
_SHORT = sorted(name for name, known in _EXPECTED.items() if known["events"] <= 150)

each_recording = pytest.mark.parametrize("name", sorted(_EXPECTED) or ["all of them"])
each_short_one = pytest.mark.parametrize("name", _SHORT or ["all of them"])


def listen(name: str) -> list[Heard]:
    return [hear(events, annotations="none") for events in responses(name)]


def sort(calls: list[tuple[str, Any]]) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in calls)


@each_recording
def test_a_recording_says_what_is_expected_of_it(name: str) -> None:
    known, heard = _EXPECTED[name], listen(name)
    text = "".join(one.text for one in heard)
    if known["refusal"]:
        assert text == known["refusal"]
    else:
        assert len(text) == known["text_chars"]
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == known["text_sha256"]
    thought = "".join(one.thought for one in heard)
    assert len(thought.replace("\n\n", "")) <= known["reasoning_chars"] <= len(thought)
    calls = [
        (call["name"], json.loads(call["arguments"] or "{}"))
        for call in known["tool_calls"]
        if call["status"] != "incomplete"
    ]
    assert [call for one in heard for call in one.calls] == calls
    server_ids = [call.server_call_id for one in heard for call in one.outcome.calls]
    assert server_ids == [
        call["call_id"] for call in known["tool_calls"] if call["status"] != "incomplete"
    ]
    assert len(heard) == known["terminals"]


@each_recording
def test_a_recording_ends_as_is_expected_of_it(name: str) -> None:
    known, heard = _EXPECTED[name], listen(name)[-1]
    match known["terminal"]:
        case "response.completed":
            reason = StopReason.REFUSAL if known["refusal"] else StopReason.END_TURN
            assert heard.end == Stop(reason)
            assert heard.outcome.status == "completed"
        case "response.incomplete":
            assert heard.end == Stop(StopReason.MAX_TOKENS)
            assert heard.outcome.incomplete_reason == "max_output_tokens"
        case _:
            assert isinstance(heard.end, Break)
            assert heard.outcome.fault is not None
            assert heard.outcome.fault.code == known["error"]["code"]
            assert known["error"]["message"] in heard.end.failure.message
    if known["usage"] is None:
        assert heard.usage is None
    else:
        assert heard.usage is not None
        assert heard.usage["prompt_tokens"] == known["usage"]["input_tokens"]
        assert heard.usage["completion_tokens"] == known["usage"]["output_tokens"]
        assert heard.usage["total_tokens"] == known["usage"]["total_tokens"]


@each_recording
def test_every_link_of_a_recording_is_shown_once(name: str) -> None:
    for events in responses(name):
        annotations = [e["annotation"] for e in events if e["type"].endswith("annotation.added")]
        urls = {one["url"] for one in annotations if one and one.get("url")}
        heard = hear(events)
        assert len(heard.shown) >= len(heard.text)
        assert heard.shown.count("](http") - heard.text.count("](http") == len(urls)


@each_short_one
def test_a_recording_can_come_byte_by_byte(name: str) -> None:
    for events in responses(name):
        body = as_body(events)
        heard = hear_bytes(body[i : i + 1] for i in range(len(body)))
        assert heard == hear(events)


@given(st.data())
def test_a_recording_can_be_cut_anywhere(data: st.DataObject) -> None:
    for events in responses(data.draw(st.sampled_from(sorted(_EXPECTED)))):
        body = as_body(events)
        cuts = data.draw(st.sets(st.integers(0, len(body)), max_size=20))
        chunks = [body[a:b] for a, b in pairwise(sorted({0, len(body), *cuts}))]
        assert hear_bytes(chunks) == hear(events)


@each_short_one
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_recording_says_each_thing_once_under_a_mutation(name: str, mutation: Mutation) -> None:
    check_once(name, [mutation])


@given(
    st.sampled_from(_SHORT or [""]),
    st.lists(st.sampled_from(MUTATIONS), min_size=2, max_size=4, unique_by=str),
)
def test_a_recording_says_each_thing_once_under_several_mutations(
    name: str, mutations: list[Mutation]
) -> None:
    check_once(name, mutations)


def check_once(name: str, mutations: list[Mutation]) -> None:
    for events in responses(name):
        plain = hear(events, annotations="none")
        heard = hear(mutate(events, mutations), annotations="none")
        left = sort(plain.calls)
        for call in sort(heard.calls):
            left.remove(call)
        assert len(set(heard.call_ids)) == len(heard.call_ids)
        if not isinstance(plain.end, Stop) or plain.end.reason is StopReason.MAX_TOKENS:
            continue  # what didn't come to its end isn't told by its end
        has_empty = any(not parameters for _, parameters in plain.calls)
        is_lost = {"index", "ids"} <= taken(mutations)
        is_told = not {"items", "final"} <= taken(mutations)
        if is_told or (not is_lost and knows_calls(mutations, has_empty=has_empty)):
            assert left == []
        if not is_lost and knows_texts(mutations):
            assert heard.text == plain.text
            assert heard.thought.replace("\n\n", "") == plain.thought.replace("\n\n", "")
