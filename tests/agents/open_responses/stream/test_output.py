"""The events that are about items, told to who knows them."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from agents.events import CallTool, Event, Say, Think
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.events import Meaning, Snapshot, StreamEvent
from agents.open_responses.stream.output import Output


def output() -> Output:
    return Output(CallIds().outward, "inline", None, "", "The server")


def done(item: Any, index: int = 0) -> StreamEvent:
    return StreamEvent(item=msgspec.Raw(json.dumps(item).encode()), output_index=index)


def tell(said: Output, meaning: Meaning, event: StreamEvent) -> list[Event]:
    return list(said.tell(meaning, event))


CALL = {"type": "function_call", "call_id": "1", "name": "look", "arguments": "{}"}


def test_each_kind_of_item_is_told_and_kept() -> None:
    said = output()
    assert not said.has_emitted
    message = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    secret = {"type": "reasoning", "id": "rs", "encrypted_content": "ENC"}
    assert tell(said, Meaning.ITEM_ADDED, done(message)) == []
    assert tell(said, Meaning.ITEM_DONE, done(message)) == [Say("No.")]
    assert tell(said, Meaning.ITEM_DONE, done(secret, 1)) == []
    assert tell(said, Meaning.ITEM_ADDED, done(CALL, 2)) == []
    assert tell(said, Meaning.ITEM_DONE, done(CALL, 2)) == [CallTool("gw-1", "look", {})]
    assert tell(said, Meaning.ITEM_DONE, done(None, 3)) == []
    assert said.has_emitted
    assert said.has_refused
    assert len(said.items) == 3
    (kept,) = filter(None, said.keep_reasoning())
    assert isinstance(kept, Think)
    assert (kept.text, kept.id) == ("", None)
    assert kept.metadata


def test_reasoning_that_led_to_no_call_is_not_kept() -> None:
    said = output()
    secret = {"type": "reasoning", "id": "rs", "encrypted_content": "ENC"}
    assert tell(said, Meaning.ITEM_DONE, done(secret)) == []
    assert list(said.keep_reasoning()) == []


def test_pieces_of_arguments_are_a_call_in_the_end() -> None:
    said = output()
    tell(said, Meaning.ITEM_ADDED, done({**CALL, "arguments": ""}))
    tell(said, Meaning.ARGUMENTS_DELTA, StreamEvent(delta='{"a"', output_index=0))
    assert said.broken == ["look"]
    whole = StreamEvent(arguments=msgspec.Raw(rb'"{\"a\":1}"'), output_index=0)
    assert tell(said, Meaning.ARGUMENTS_DONE, whole) == []
    told = [one for one in said.conclude(is_complete=True) if one is not None]
    assert told == [CallTool("gw-1", "look", {"a": 1})]
    assert said.broken == []


def test_what_only_the_final_output_has_is_told_in_the_end() -> None:
    said = output()
    assert said.say_more(StreamEvent(item_id="m"), "a") == (Say("a"),)
    message = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "ab"}]}
    final = msgspec.Raw(json.dumps([message, CALL]).encode())
    said.record.learn(Snapshot(output=final))
    told = [one for one in said.conclude(is_complete=True) if one is not None]
    assert told == [Say("b"), CallTool("gw-1", "look", {})]
