"""The response as a whole: how it begins, how it ends, and what is known of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.events import Attach, Break, CallTool, Event, Say, Stop, StopReason, Think
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.machine import StreamMachine
from tests.agents.open_responses.hearing import JSON, hear, hear_bytes
from tests.agents.open_responses.script import Call, Message, Script, Thought, call, say, script


def machine(**options: Any) -> StreamMachine:
    return StreamMachine(outward=CallIds().outward, **options)


def feed(stream: StreamMachine, *events: JSON) -> list[Event]:
    return [one for event in events for one in stream.feed(json.dumps(event).encode())]


def ending(type_: str, response: JSON | None = None, **fields: Any) -> JSON:
    return {"type": type_, "response": {"id": "resp_1", **(response or {})}, **fields}


# The beginning.


def test_a_response_is_told_as_it_comes() -> None:
    stream = machine()
    events = script(say("a", "b"), call())
    said = [feed(stream, event) for event in events]
    assert [[type(one) for one in batch] for batch in said if batch] == [
        [Say],
        [Say],
        [CallTool],
        [Stop],
    ]
    assert stream.is_over


def test_the_outcome_is_what_the_next_request_needs() -> None:
    events = script(Thought([["hm"]]), say("a"), call(), previous_response_id="resp_0")
    outcome = hear(events, previous_response_id="resp_0").outcome
    assert outcome.status == "completed"
    assert outcome.response_id == "resp_1"
    assert outcome.previous_response_id == "resp_0"
    assert outcome.store is True
    assert outcome.has_emitted
    assert outcome.can_be_continued
    items = [json.loads(bytes(raw)) for raw in outcome.output]
    assert [item["type"] for item in items] == ["reasoning", "message", "function_call"]
    assert items[0]["encrypted_content"] == "secret 0"
    (called,) = outcome.calls
    assert (called.call_id, called.server_call_id) == ("gw-call_1", "call_1")
    assert (called.name, called.arguments) == ("look", '{"at":1}')


def test_the_items_that_were_done_stand_in_for_a_final_output_that_lacks_them() -> None:
    events = script(Thought([["hm"]]), call())
    events[-1]["response"]["output"] = []
    items = [json.loads(bytes(raw)) for raw in hear(events).outcome.output]
    assert [item["type"] for item in items] == ["reasoning", "function_call"]


def test_items_are_kept_in_their_order_where_the_server_gives_no_index() -> None:
    events = [{k: v for k, v in e.items() if k != "output_index"} for e in script(say("a"), call())]
    events[-1]["response"]["output"] = []
    items = [json.loads(bytes(raw)) for raw in hear(events).outcome.output]
    assert [item["type"] for item in items] == ["message", "function_call"]


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        ({}, True),
        ({"store": False}, False),
        ({"store": None}, False),
        ({"id": None}, False),
        ({"id": ""}, False),
    ],
)
def test_only_a_stored_response_can_be_continued(change: JSON, is_kept: bool) -> None:
    stream = machine()
    feed(stream, ending("response.completed", {"store": True, **change}))
    assert stream.outcome.can_be_continued is is_kept


def test_a_response_that_is_not_complete_can_not_be_continued() -> None:
    stream = machine()
    assert not stream.outcome.can_be_continued
    details = {"reason": "max_output_tokens"}
    feed(stream, ending("response.incomplete", {"store": True, "incomplete_details": details}))
    assert not stream.outcome.can_be_continued


def test_a_final_output_that_has_lost_the_calls_is_not_what_is_kept() -> None:
    """SGLang's has nothing but a message."""
    events = script(say("a"), call())
    events[-1]["response"]["output"].pop()
    items = [json.loads(bytes(raw)) for raw in hear(events).outcome.output]
    assert [item["type"] for item in items] == ["message", "function_call"]


def test_items_that_were_done_twice_are_kept_once() -> None:
    events = script(say("a"), call())
    again = {**events[-2], "output_index": 9, "item": {**events[-2]["item"], "id": "fc_9"}}
    events[-1]["response"]["output"] = []
    items = [
        json.loads(bytes(raw)) for raw in hear([*events[:-1], again, events[-1]]).outcome.output
    ]
    assert [item.get("id") for item in items] == ["msg_0", "fc_1"]


def test_items_without_any_id_are_kept() -> None:
    done = {"type": "response.output_item.done", "item": {"type": "message"}}
    outcome = hear([done, {**done, "x": 1}, ending("response.completed")]).outcome
    assert len(outcome.output) == 2


def test_the_newest_snapshot_counts() -> None:
    """GitHub Copilot gives a response another id in every event."""
    events = script(say("a"))
    events[-1]["response"]["id"] = "resp_2"
    assert hear(events).outcome.response_id == "resp_2"


# Going on from an earlier response.


def test_a_server_that_echoes_the_previous_id_is_listened_to() -> None:
    events = script(say("a"), previous_response_id="resp_0")
    assert hear(events, previous_response_id="resp_0").text == "a"


@pytest.mark.parametrize(
    "echo", [{}, {"previous_response_id": None}, {"previous_response_id": "x"}]
)
@pytest.mark.parametrize("first", ["response.created", "response.completed"])
def test_a_server_that_does_not_is_not_listened_to(first: str, echo: JSON) -> None:
    stream = machine(previous_response_id="resp_0")
    message = script(say("a"))[-1]["response"]["output"][0]
    assert feed(stream, {"type": first, "response": {"id": "r", "output": [message], **echo}}) == []
    assert stream.is_over
    assert stream.outcome.status == "unchained"
    assert not stream.outcome.has_emitted
    assert feed(stream, *script(say("a"))) == []
    assert stream.finish() == ()


def test_nothing_is_said_before_the_echo() -> None:
    """Where no snapshot comes first, it can't be known what the server goes on from."""
    stream = machine(previous_response_id="resp_0")
    assert feed(stream, {"type": "response.output_text.delta", "delta": "a"}) == []
    assert stream.outcome.status == "unchained"


def test_a_server_that_does_not_know_the_previous_response_says_so() -> None:
    stream = machine(previous_response_id="resp_0")
    feed(stream, {"type": "keepalive"})
    error = {"code": "previous_response_not_found", "message": "Previous response not found."}
    (failed,) = feed(stream, {"type": "error", "error": error})
    assert isinstance(failed, Break)
    assert stream.outcome.fault is not None
    assert stream.outcome.fault.is_unknown_response


# What is left out.


def test_an_unknown_event_is_noted_once_and_left_out() -> None:
    events = script(say("a"))
    unknown = [{"type": "acme:trace", "delta": str(n)} for n in range(3)]
    heard = hear([events[0], *unknown, *events[1:]])
    assert heard.text == "a"
    assert heard.outcome.notes == ("an event of an unknown type was left out: 'acme:trace'",)


def test_a_server_can_not_fill_the_notes() -> None:
    heard = hear([*({"type": f"acme:{n}"} for n in range(1000)), *script(say("a"))])
    assert len(heard.outcome.notes) == 20


@pytest.mark.parametrize("name", ["keepalive", "ping", "response.keepalive"])
def test_signs_of_life_are_not_noted(name: str) -> None:
    heard = hear([{"type": name}, *script(say("a"))])
    assert (heard.text, heard.outcome.notes) == ("a", ())


@pytest.mark.parametrize("data", [b"", b"nonsense", b"[1]", b'"text"', b"{", b"null", b"\xff"])
def test_what_is_no_event_is_noted_and_left_out(data: bytes) -> None:
    stream = machine()
    assert stream.feed(data) == ()
    assert not stream.is_over
    assert stream.outcome.notes == ("an event that is no JSON object was left out",)


def test_what_comes_after_the_end_is_left_out() -> None:
    events = script(say("a"))
    assert hear([*events, *events, {"type": "error", "message": "too late"}]).text == "a"


def test_an_item_of_null_is_none() -> None:
    events = script(say("a"))
    null = {"type": "response.output_item.done", "output_index": 0, "item": None}
    events[-1]["response"]["output"] = []
    heard = hear([*events[:-1], null, events[-1]])
    assert heard.text == "a"
    assert [json.loads(bytes(raw))["id"] for raw in heard.outcome.output] == ["msg_0"]


def test_items_of_hosted_tools_say_nothing_and_are_kept() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    events = script(say("a"))
    added = {"type": "response.output_item.added", "output_index": 7, "item": search}
    done = {"type": "response.output_item.done", "output_index": 7, "item": search}
    events[-1]["response"]["output"].append(search)
    heard = hear([events[0], added, done, *events[1:]])
    assert heard.text == "a"
    assert json.loads(bytes(heard.outcome.output[-1])) == search


# Doubled events.


def test_an_event_that_comes_twice_counts_once() -> None:
    events = script(say("ha", "ha"), call())
    heard = hear([one for event in events for one in (event, event)])
    assert heard.text == "haha"
    assert len(heard.calls) == 1


def test_a_stream_without_numbers_whose_beginning_is_doubled_is_doubled_throughout() -> None:
    events = script(say("ha", "ha", "ha"))
    for event in events:
        del event["sequence_number"]
    assert hear([one for event in events for one in (event, event)]).text == "hahaha"
    assert hear(events).text == "hahaha"


def test_a_word_that_is_said_twice_is_said_twice() -> None:
    stream = machine()
    delta = {"type": "response.output_text.delta", "delta": "ha"}
    assert feed(stream, {"type": "response.created"}, delta, delta) == [Say("ha"), Say("ha")]
    same_number = [{**event, "sequence_number": 7} for event in (delta, delta)]
    assert feed(machine(), {"type": "ping", "sequence_number": 7}, *same_number) == [Say("ha")] * 2


def test_a_server_that_gives_all_events_the_same_number_is_not_misunderstood() -> None:
    events = [{**event, "sequence_number": 0} for event in script(say("ha", "ha"))]
    assert hear(events).text == "haha"


def test_the_number_of_an_event_tells_that_it_comes_again() -> None:
    events = script(Thought([["ha", "ha"]]), say("a"))
    heard = hear([one for event in events[1:] for one in (event, event)])
    assert heard.thought == "haha"


# Names and shapes of events.


def test_the_name_of_an_event_counts_where_its_data_has_no_type() -> None:
    body = b""
    for event in script(say("a"), call()):
        name = event.pop("type").encode()
        body += b"event: %b\ndata: %b\n\n" % (name, json.dumps(event).encode())
    heard = hear_bytes([body])
    assert (heard.text, len(heard.calls)) == ("a", 1)


def test_a_whole_response_is_a_stream_of_one_event() -> None:
    """Some servers answer so, whatever they are asked for."""
    end = script(Thought([["hm"]]), say("a"), call(), usage={"input_tokens": 1})[-1]
    response = end["response"]
    heard = hear([response])
    assert (heard.thought, heard.text, len(heard.calls)) == ("hm", "a", 1)
    assert heard.end == Stop()
    assert heard.usage is not None
    assert hear([{**end, "object": "response.event"}]).text == "a"
    again = hear([response], previous_response_id="resp_0")
    assert again.outcome.status == "unchained"


def test_an_event_of_a_type_of_its_own_is_no_response_and_no_error() -> None:
    events = script(say("a"))
    own = {"type": "acme:x", "object": "response", "status": "failed", "error": {"message": "no"}}
    heard = hear([events[0], own, {"object": "chunk"}, *events[1:]])
    assert heard.text == "a"
    assert heard.end == Stop()
    assert len(heard.outcome.notes) == 2


# The end.


def test_done_before_an_item_is_done_is_an_early_end() -> None:
    stream = machine()
    feed(stream, *script(say("a"))[:-2])
    (failed,) = stream.feed(b"[DONE]")
    assert isinstance(failed, Break)
    assert stream.finish() == ()


def test_a_stream_whose_items_are_all_done_is_complete_but_nobody_keeps_it() -> None:
    stream = machine()
    feed(stream, *script(say("a"), call())[:-1])
    assert stream.finish() == (Stop(),)
    assert stream.outcome.status == "completed"
    assert stream.outcome.response_id == "resp_1"
    assert not stream.outcome.can_be_continued
    assert stream.finish() == ()


def test_a_stream_without_its_end_that_was_to_go_on_from_a_response_is_no_complete_one() -> None:
    stream = machine(previous_response_id="resp_0")
    feed(stream, *script(say("a"))[2:-1])
    assert stream.outcome.status == "unchained"


def test_a_cut_item_is_no_end() -> None:
    events = script(say("a"))[:-1]
    events[-1]["item"]["status"] = "incomplete"
    assert isinstance(hear(events).end, Break)


def test_done_after_it_is_nothing() -> None:
    stream = machine()
    feed(stream, *script(say("a")))
    assert stream.feed(b"[DONE]") == ()
    assert stream.outcome.status == "completed"


def test_a_stream_that_just_ends_is_a_failure() -> None:
    heard = hear(script(say("a"), call())[:-2])
    assert isinstance(heard.end, Break)
    assert heard.end.failure.kind == "Unavailable"
    assert (
        heard.end.failure.message == "The server failed: The stream ended early. Try again later."
    )
    assert (heard.text, heard.calls) == ("a", [])  # the item of the call isn't done
    assert heard.outcome.status == "failed"
    assert heard.outcome.has_emitted


def test_nothing_at_all_is_a_failure_that_can_be_retried() -> None:
    heard = hear([], server="Local")
    assert isinstance(heard.end, Break)
    assert heard.end.failure.message == "Local failed: The stream ended early. Try again later."
    assert heard.outcome.fault is not None
    assert heard.outcome.fault.is_retryable
    assert not heard.outcome.has_emitted


@pytest.mark.parametrize("status", ["completed", None, "whatever"])
def test_completed_is_an_end(status: str | None) -> None:
    heard = hear([*script(say("a"))[:-1], ending("response.completed", {"status": status})])
    assert heard.end == Stop(StopReason.END_TURN)


@pytest.mark.parametrize("name", ["response.completed", "response.failed", "response.cancelled"])
def test_the_status_counts_more_than_the_name_of_the_event(name: str) -> None:
    error = {"code": "server_error", "message": "boom"}
    heard = hear([ending(name, {"status": "failed", "error": error})])
    assert isinstance(heard.end, Break)
    assert "boom" in heard.end.failure.message


def test_a_response_that_failed_without_a_reason_is_a_failure() -> None:
    heard = hear([ending("response.failed")])
    assert isinstance(heard.end, Break)
    assert "didn't say why" in heard.end.failure.message


@pytest.mark.parametrize(
    "beside",
    [{"code": "server_error", "message": "boom"}, {"error": {"message": "boom"}}],
    ids=["flat", "nested"],
)
@pytest.mark.parametrize("response", [None, {"id": "resp_1", "status": "failed"}], ids=str)
def test_why_it_failed_may_stand_beside_the_response(beside: JSON, response: JSON | None) -> None:
    event = {"type": "response.failed", **beside, **({"response": response} if response else {})}
    end = hear([event]).end
    assert isinstance(end, Break)
    assert "boom" in end.failure.message


@pytest.mark.parametrize("word", ["cancelled", "canceled"])
def test_a_response_that_was_cancelled_is_a_failure(word: str) -> None:
    for name in ("response.completed", f"response.{word}"):
        heard = hear([ending(name, {"status": word})])
        assert isinstance(heard.end, Break)
        assert "cancelled the response" in heard.end.failure.message
    assert isinstance(hear([{"type": f"response.{word}"}]).end, Break)


def test_no_call_is_made_by_a_response_that_failed() -> None:
    events = script(call())
    failed = ending("response.failed", {"output": events[-1]["response"]["output"]})
    assert hear([events[0], failed]).calls == []


@pytest.mark.parametrize(
    "error",
    [
        {"type": "error", "error": {"type": "server_error", "code": None, "message": "boom"}},
        {"type": "error", "code": "server_error", "message": "boom", "param": None},
        {"type": "response.error", "error": {"message": "boom"}},
        {"error": {"message": "boom", "code": 500}},
        {"error": "boom"},
        {"type": "error", "error": "boom"},
        {"type": "error", "message": "boom", "error": None},
    ],
)
def test_an_error_comes_in_many_shapes_and_is_told_once(error: JSON) -> None:
    events = script(say("a"))
    failed = ending("response.failed", {"error": {"message": "again"}})
    heard = hear([*events[:-1], error, failed])
    assert isinstance(heard.end, Break)
    assert "boom" in heard.end.failure.message
    assert heard.text == "a"


def test_a_quota_is_final_and_an_overload_is_not() -> None:
    for code, is_retryable in (("insufficient_quota", False), ("server_overloaded", True)):
        outcome = hear([{"type": "error", "error": {"code": code, "message": "no"}}]).outcome
        assert outcome.fault is not None
        assert outcome.fault.is_retryable is is_retryable
        assert not outcome.has_emitted


# Incomplete responses.


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("max_output_tokens", StopReason.MAX_TOKENS),
        ("content_filter", StopReason.REFUSAL),
        ("max_messages", StopReason.END_TURN),
        ("something_new", StopReason.END_TURN),
        (None, StopReason.END_TURN),
    ],
)
@pytest.mark.parametrize("name", ["response.incomplete", "response.completed"])
def test_an_incomplete_response_stops_with_its_reason(
    name: str, reason: str | None, stop: StopReason
) -> None:
    details = {"reason": reason}
    response = {"status": "incomplete", "incomplete_details": details}
    heard = hear([*script(say("a"))[:-1], ending(name, response)])
    assert heard.end == Stop(stop)
    assert heard.outcome.status == "incomplete"
    assert heard.outcome.incomplete_reason == (reason or "unknown")


@pytest.mark.parametrize(
    ("reason", "kind", "is_retryable"),
    [("content_filter", "Blocked", False), ("something_new", "Unavailable", True)],
)
def test_an_incomplete_response_that_said_nothing_is_a_failure(
    reason: str, kind: str, is_retryable: bool
) -> None:
    heard = hear([ending("response.incomplete", {"incomplete_details": {"reason": reason}})])
    assert isinstance(heard.end, Break)
    assert heard.end.failure.kind == kind
    assert reason in heard.end.failure.message
    assert heard.outcome.fault is not None
    assert heard.outcome.fault.is_retryable is is_retryable


def test_a_limit_of_tokens_is_no_failure_even_if_nothing_was_said() -> None:
    details = {"reason": "max_output_tokens"}
    heard = hear([ending("response.incomplete", {"incomplete_details": details})])
    assert heard.end == Stop(StopReason.MAX_TOKENS)


def test_an_incomplete_response_without_details_stops_too() -> None:
    heard = hear([*script(say("a"))[:-1], ending("response.incomplete")])
    assert heard.end == Stop(StopReason.END_TURN)


# Usage.


def test_the_tokens_are_told_before_the_end() -> None:
    usage = {
        "input_tokens": 7,
        "output_tokens": 5,
        "total_tokens": 12,
        "input_tokens_details": {"cached_tokens": 3},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    heard = hear(script(say("a"), usage=usage))
    assert [type(one) for one in heard.events] == [Say, Attach, Stop]
    assert heard.usage == {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    assert heard.outcome.usage is not None
    assert heard.outcome.usage.cached_tokens == 3


def test_a_failure_has_tokens_too() -> None:
    heard = hear([ending("response.failed", {"usage": {"input_tokens": 7}})])
    assert heard.usage is not None
    assert not heard.outcome.has_emitted


# Calls, as far as the whole response counts.


def test_calls_at_the_same_time_are_told_apart() -> None:
    written = Script()
    written.begin()
    written.tell_calls([call("look", '{"a":1}', "call_1"), call("look", '{"b":22}', "call_2")])
    heard = hear(written.complete())
    assert heard.calls == [("look", {"a": 1}), ("look", {"b": 22})]
    assert heard.call_ids == ["gw-call_1", "gw-call_2"]


def test_a_call_id_that_comes_again_in_the_process_gets_another_outward() -> None:
    ids = CallIds()
    first = hear(script(call()), outward=ids.outward)
    second = hear(script(call()), outward=ids.outward)
    assert first.call_ids == ["gw-call_1"]
    assert second.call_ids == ["gw-call_1~1"]
    assert second.outcome.calls[0].server_call_id == "call_1"
    assert second.outcome.can_be_continued


def test_one_call_id_for_two_calls_is_two_calls_that_can_not_be_answered_by_it() -> None:
    heard = hear(script(call(arguments='{"a":1}'), call(arguments='{"a":2}')))
    assert heard.calls == [("look", {"a": 1}), ("look", {"a": 2})]
    assert len(set(heard.call_ids)) == 2
    assert not heard.outcome.can_be_continued


def test_arguments_that_are_no_object_fail_the_response_that_says_nothing_else() -> None:
    heard = hear(script(Call("lookAt", ['{"a":'], "call_1"), Call("go", ["[1]"], "call_2")))
    assert heard.calls == []
    assert isinstance(heard.end, Break)
    assert "`lookAt`, `go`" in heard.end.failure.message
    assert heard.outcome.fault is not None
    assert heard.outcome.fault.is_retryable


def test_arguments_that_are_no_object_are_told_beside_what_else_is_said() -> None:
    heard = hear(script(Call("look", ['{"a":'], "call_1"), call("go", "{}", "call_2")))
    assert heard.calls == [("go", {})]
    assert heard.end == Stop()
    assert "`look`" in heard.shown
    assert heard.text == ""
    assert heard.outcome.notes != ()


def test_a_call_of_parallel_is_the_calls_in_it() -> None:
    uses: list[JSON] = [
        {"recipient_name": "functions.look", "parameters": {"a": 1}},
        {"recipient_name": "go", "parameters": {}},
    ]
    events = script(call("parallel", json.dumps({"tool_uses": uses})))
    assert hear(events, tools=["look", "go"]).calls == [("look", {"a": 1}), ("go", {})]
    assert len(set(hear(events, tools=["look", "go"]).call_ids)) == 2
    assert not hear(events, tools=["look", "go"]).outcome.can_be_continued
    assert len(hear(events).calls) == 1


# Refusals.


def test_a_refusal_is_text_and_a_reason_to_stop() -> None:
    heard = hear(script(Message([["I ", "won't."]], "refusal")))
    assert heard.text == "I won't."
    assert heard.end == Stop(StopReason.REFUSAL)


def test_thinking_counts_as_said() -> None:
    stream = machine()
    (thought,) = feed(stream, {"type": "response.reasoning.delta", "delta": "hm"})
    assert thought == Think("hm")
    assert stream.outcome.has_emitted


@pytest.mark.parametrize(
    ("body", "words", "status"),
    [
        (b'{"object":"error","message":"no model x","type":"X","code":404}', "no model x", 404),
        (
            b'data: {"object":"error","message":"no model x","type":"X","code":404}',
            "no model x",
            404,
        ),
        (b'{"detail": "Not authenticated"}', "Not authenticated", 401),
        (b'data: {"message": "no such key", "code": 403}', "no such key", 403),
        (b'[{"error": {"code": 400, "message": "bad key"}}]', "bad key", 400),
        (b'data: [{"error": {"code": 400, "message": "bad key"}}]', "bad key", 400),
        (b'data: "upstream is gone"', "upstream is gone", 500),
        (b"no healthy upstream", "no healthy upstream", 500),
        (b"HTTP/1.1 401 Unauthorized\nno key", "HTTP/1.1 401 Unauthorized", 401),
        (b"event: Error\ndata: Unauthorized: invalid api key", "invalid api key", 401),
        (b"event: response.error\ndata: it broke", "it broke", 500),
        (b"event: response.failed\ndata: it broke", "it broke", 500),
        (b'event: Error\ndata: {"type": "X", "message": "it broke"}', "it broke", 500),
        (b"Error: API error (status 400): bad", "API error (status 400): bad", 400),
    ],
    ids=str,
)
def test_the_words_of_a_body_that_is_no_stream_are_those_of_the_failure(
    body: bytes, words: str, status: int
) -> None:
    for end in (b"", b"\n", b"\n\n"):
        fault = hear_bytes([body + end]).outcome.fault
        assert fault is not None
        assert words in fault.message
        assert fault.status == status


@pytest.mark.limit("agents.open_responses.stream.outcome._LONGEST_WORDS")
@pytest.mark.parametrize("length", [200, 201])
def test_plain_text_is_cut(length: int) -> None:
    fault = hear_bytes([b"x" * length]).outcome.fault
    assert fault is not None
    assert fault.message == "x" * 200


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "acme.note", "message": "working"},
        {"type": "acme"},
        {"note": 7},
        7,
        [],
    ],
    ids=str,
)
def test_odd_events_without_words_are_no_reason_for_an_early_end(odd: Any) -> None:
    fault = hear_bytes([b"data: %s\n\n" % json.dumps(odd).encode()]).outcome.fault
    assert fault is not None
    assert fault.code == "stream_ended_early"


SAID = b"".join(
    b"data: %s\n\n" % json.dumps(event).encode()
    for event in (
        {"type": "response.output_text.delta", "item_id": "m", "delta": "Hello."},
        {"type": "response.output_item.done", "item": {"type": "message", "id": "m"}},
    )
)
SEARCHED = (
    b"data: %s\n\n"
    % json.dumps(
        {"type": "response.output_item.done", "item": {"type": "web_search_call", "id": "w"}}
    ).encode()
)


@pytest.mark.parametrize("done", [SAID, SEARCHED], ids=["message", "search"])
@pytest.mark.parametrize("last", [b"", b"data: [DONE]\n\n"], ids=["", "DONE"])
@pytest.mark.parametrize(
    ("end", "words"),
    [
        (
            b"upstream connect error or disconnect/reset before headers\n\n",
            "upstream connect error",
        ),
        (b"data: upstream request timeout\n\n", "upstream request timeout"),
        (b"event: message\ndata: upstream request timeout\n\n", "upstream request timeout"),
        (b"data: Unauthorized\n\n", "Unauthorized"),
        (b'data: "the model crashed"\n\n', "the model crashed"),
        (b'{"detail":"Internal failure"}\n\n', "Internal failure"),
        (b'data: {"message":"Model crashed","status":503}\n\n', "Model crashed"),
        (b'data: {"type":"server_error","message":"Model crashed"}\n\n', "Model crashed"),
        (b'data: [{"error":{"message":"Model crashed"}}]\n\n', "Model crashed"),
    ],
)
def test_an_error_behind_items_that_are_done_is_a_failure_in_its_words(
    done: bytes, last: bytes, end: bytes, words: str
) -> None:
    for body in (done + end + last, (done + end + last).strip()):
        heard = hear_bytes([body])
        assert isinstance(heard.end, Break)
        assert words in heard.end.failure.message


@pytest.mark.parametrize(
    "end",
    [
        b'data: {"type":"vendor.timing","message":"it took a second"}\n\n',
        b'data: {"type":"status","message":"all is well"}\n\n',
        b'event: status\ndata: {"message":"all is well"}\n\n',
        b"event: status\ndata: all is well\n\n",
        b'data: {"usage":{"total_tokens":3}}\n\n',
        b"data: [END]\n\n",
        b"data: done\n\n",
        b"data: [1, 2]\n\n",
        b"data: 3\n\n",
        b'data: {"type": "response.completed", "resp',
    ],
)
def test_what_is_no_error_behind_items_that_are_done_is_no_failure(end: bytes) -> None:
    assert hear_bytes([SAID + end]).end == Stop()


def test_odd_words_within_a_stream_that_goes_on_are_no_failure() -> None:
    odd = {"message": "slow", "code": 503}
    begun, *rest = script(say("a"))
    assert hear([begun, odd, *rest]).end == Stop()
    cut = hear([odd, *rest[:-2]]).outcome.fault
    assert cut is not None
    assert cut.code == "stream_ended_early"
    delta = {"type": "response.output_text.delta", "delta": "a"}
    early = "stream_ended_early"
    for last, code in ((delta, early), (begun, early), ({"type": "ping"}, "503")):
        fault = hear([begun, odd, last]).outcome.fault
        assert fault is not None
        assert fault.code == code


@pytest.mark.parametrize("name", [b"error", b"Error", b"response.error"])
def test_an_error_in_words_ends_the_answer_whatever_follows(name: bytes) -> None:
    more = b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in script(say("a")))
    heard = hear_bytes([b"event: %s\ndata: it broke\n\n" % name, more])
    assert isinstance(heard.end, Break)
    assert heard.text == ""
    assert "it broke" in heard.end.failure.message


# A stream without a terminal event.

WHOLE: JSON = {"type": "output_text", "text": "a", "annotations": []}
ITEM_KEY: JSON = {"item_id": "msg_1", "output_index": 0}
TEXT_ITEM: JSON = {"type": "message", "id": "msg_1", "role": "assistant", "content": [WHOLE]}
CALL_ITEM: JSON = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"a":1}',
}


def told_whole(item: JSON) -> list[JSON]:
    """Return the events of an item that comes whole."""
    return [
        {"type": f"response.output_item.{step}", "output_index": 0, "item": item}
        for step in ("added", "done")
    ]


def first_and_last(events: list[JSON]) -> str:
    return f"{events[0]['item']['type']} {events[-1]['type']}"


def arguments(step: str, item_id: str = "fc_1", index: int = 0) -> JSON:
    kind = f"response.function_call_arguments.{step}"
    text = {"delta": '{"a":1}', "arguments": '{"a":1}'}
    return {"type": kind, "item_id": item_id, "output_index": index, **text}


LATE: list[JSON] = [
    {"type": "response.output_text.done", **ITEM_KEY, "text": "a"},
    {"type": "response.output_text.delta", **ITEM_KEY, "delta": "a"},
    {"type": "response.content_part.done", **ITEM_KEY, "part": WHOLE},
    {
        "type": "response.output_text.annotation.added",
        **ITEM_KEY,
        "annotation": {"type": "url_citation", "url": "https://a.test/", "title": "A"},
    },
]
NEW: list[JSON] = [
    {"type": "response.output_text.done", "output_index": 1, "text": "b"},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "b"},
    {"type": "response.content_part.added", "output_index": 1, "part": {}},
    arguments("done", "fc_2", 1),
    arguments("delta", "fc_2", 1),
]


@pytest.mark.parametrize(
    "events",
    [
        told_whole({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
        told_whole({"type": "image_generation_call", "id": "ig_1", "status": "completed"}),
        told_whole({"type": "acme:search_call", "id": "ws_1"}),
        *([*told_whole(TEXT_ITEM), late] for late in LATE),
        [*told_whole(CALL_ITEM), arguments("done")],
        [*told_whole(CALL_ITEM), arguments("delta")],
    ],
    ids=first_and_last,
)
def test_a_stream_is_whole_without_its_end_if_all_items_are_done_and_nothing_new_came(
    events: list[JSON],
) -> None:
    heard = hear([script()[0], *events])
    assert heard.end == Stop()
    assert heard.outcome.status == "completed"


@pytest.mark.parametrize(
    "events",
    [
        told_whole({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "git"}),
        told_whole({"type": "web_search_call", "id": "ws_1"})[:1],
        *([*told_whole(TEXT_ITEM), new] for new in NEW),
    ],
    ids=first_and_last,
)
def test_a_stream_that_began_something_new_is_not_whole_without_its_end(
    events: list[JSON],
) -> None:
    heard = hear([script()[0], *events])
    assert heard.outcome.fault is not None
    assert heard.outcome.fault.code == "stream_ended_early"
