from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.wire import TextPart
from vscodelm.replay.recording import (
    Happening,
    Parted,
    RecordingError,
    Requested,
    Settled,
    Stopped,
    read_recording,
)

CHAT = "lm/provideLanguageModelChatResponse"
PARAMS: dict[str, Any] = {"modelId": "m", "messages": []}
PART = {"requestId": 1, "part": {"type": "text", "value": "Hello."}}


def read(*lines: Any) -> list[Happening]:
    return list(read_recording(json.dumps(line).encode() for line in lines))


def came(message: Any) -> dict[str, Any]:
    return {"t_ms": 1.0, "direction": "in", "message": message}


def went(message: Any) -> dict[str, Any]:
    return {"t_ms": 1.0, "direction": "out", "message": message}


ASKED = came({"id": 1, "method": CHAT, "params": PARAMS})


def test_a_recording_tells_what_was_asked_answered_stopped_and_settled() -> None:
    happenings = read(
        {"kind": "activate", "host": "host1"},
        {"kind": "ui", "action": "send", "text": "Hi."},
        {"kind": "request", "seq": 1, "method": CHAT, "params": PARAMS},
        {"kind": "part", "seq": 1, "params": PART},
        {"kind": "cancel", "seq": 1},
        {"kind": "end", "seq": 1, "status": "error", "message": "Canceled", "name": "Canceled"},
    )
    assert happenings == [
        Requested(1, json.dumps(PARAMS).encode()),
        Parted(1, TextPart("Hello.")),
        Stopped(1),
        Settled(1, "Canceled"),
    ]


def test_a_request_that_ended_well_has_no_error() -> None:
    assert read({"kind": "end", "seq": 3, "status": "complete"}) == [Settled(3)]


def test_an_error_that_is_no_text_is_kept_as_it_is() -> None:
    line = {"kind": "end", "seq": 3, "status": "error", "message": {"code": 7}}
    assert read(line) == [Settled(3, '{"code": 7}')]


def test_requests_of_other_kinds_say_nothing_of_a_chat() -> None:
    assert read({"kind": "request", "seq": 1, "method": "lm/provideTokenCount"}) == []


def test_empty_lines_are_passed_over() -> None:
    assert list(read_recording([b"\n", b"  \n", b'{"kind":"cancel","seq":2}\n'])) == [Stopped(2)]


def test_a_trace_tells_the_same() -> None:
    happenings = read(
        ASKED,
        went({"method": "lm/responsePart", "params": PART}),
        came({"method": "lm/cancel", "params": {"requestId": 1}}),
        went({"method": "lm/responseComplete", "params": {"requestId": 1}}),
        went({"id": 1, "result": {}}),
    )
    assert [type(happening) for happening in happenings] == [Requested, Parted, Stopped, Settled]
    assert happenings[-1] == Settled(1)


def test_a_trace_may_cancel_in_the_language_server_protocols_words() -> None:
    assert read(came({"method": "$/cancelRequest", "params": {"id": "a"}})) == [Stopped("a")]


def test_a_failed_request_of_a_trace_tells_its_message() -> None:
    assert read(ASKED, went({"id": 1, "error": {"code": 1, "message": "No."}}))[-1] == Settled(
        1, "No."
    )


def test_answers_to_other_requests_of_a_trace_settle_no_chat() -> None:
    others = [came({"id": 2, "method": "lm/stats"}), went({"id": 2, "result": {}})]
    assert len(read(ASKED, *others)) == 1


def test_an_id_of_a_trace_settles_once_until_it_is_used_again() -> None:
    end = went({"id": 1, "result": {}})
    kinds = [type(happening) for happening in read(ASKED, end, end, ASKED, end)]
    assert kinds == [Requested, Settled, Requested, Settled]


MISTAKES: list[Any] = [
    "not json at all",  # what a trace makes of a line that isn't
    [{"id": 1}],
    {"id": 1.5, "method": CHAT},
    {"method": "lm/cancel", "params": {"requestId": []}},
    {"method": "lm/cancel", "params": {}},
    {"method": CHAT, "params": PARAMS},
]


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_on_the_wire_changed_nothing_and_says_nothing(message: Any) -> None:
    assert read(came(message)) == []


@pytest.mark.parametrize("part", [{"type": "hologram"}, {"type": "text"}, 7])
def test_a_part_that_we_do_not_know_is_passed_over(part: Any) -> None:
    line = {"kind": "part", "seq": 1, "params": {"requestId": 1, "part": part}}
    assert read(line) == []


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'{"kind": 7}', b'{"kind":"part","seq":1,"params":{}}', b'"\xff"']
)
def test_a_wrong_line_is_named(line: bytes) -> None:
    happenings = read_recording([b'{"kind":"cancel","seq":1}', b"", line])
    assert next(happenings) == Stopped(1)
    with pytest.raises(RecordingError, match=r"^line 3: "):
        next(happenings)


def test_what_an_agent_said_on_its_own_wire_is_nothing_of_the_editor_s() -> None:
    line = b'{"direction":"in","peer":"claude","message":{"id":1,"method":"x"}}'
    chat = f'{{"direction":"in","peer":"a","message":{{"id":1,"method":"{CHAT}","params":{{}}}}}}'
    assert [*read_recording([line, chat.encode()])] == []


@pytest.mark.parametrize(
    "value", [b"[" * 5000 + b"]" * 5000, b'"half a \\ud800"', b'"half a \xed\xa0\x80"']
)
def test_a_line_that_can_t_be_read_is_named(value: bytes) -> None:
    line = b'{"kind": "end", "seq": 1, "status": "failed", "message": %s}' % value
    with pytest.raises(RecordingError, match=r"^line 2: "):
        list(read_recording([b"\n", line]))
