from __future__ import annotations

import json
from typing import Any

import pytest

from agents.open_responses.http.body import (
    kind_of,
    terminal_event,
)
from agents.open_responses.http.errors import Fault, fault_of


@pytest.mark.parametrize(
    ("content_type", "start", "kind"),
    [
        ("text/event-stream", b"", "stream"),
        ("Text/Event-Stream; charset=utf-8", b"{", "stream"),
        ("application/json", b"data:", "json"),
        ("application/problem+json; x", b"", "json"),
        ("text/html", b"data:", "other"),
        ("", b"data: {}", "stream"),
        ("text/plain", b"\xef\xbb\xbf\nevent: x", "stream"),
        ("text/plain", b": hello", "stream"),
        ("application/octet-stream", b'  {"a"', "json"),
        ("text/plain", b"no", "other"),
        ("", b"", "other"),
    ],
)
def test_what_kind_an_answer_is(content_type: str, start: bytes, kind: str) -> None:
    assert kind_of(content_type, start) == kind


@pytest.mark.parametrize(
    ("answer", "event"),
    [
        ({"status": "completed", "output": []}, "response.completed"),
        ({"output": []}, "response.completed"),
        ({"status": "incomplete", "output": []}, "response.incomplete"),
        ({"status": "failed", "output": [], "error": {"message": "x"}}, "response.failed"),
    ],
)
def test_a_whole_answer_ends_a_stream(answer: Any, event: str) -> None:
    made = json.loads(terminal_event(json.dumps(answer).encode()) or b"null")
    assert made == {"type": event, "response": answer}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"error": {"message": "x"}}, Fault(500, "x")),
        ({"error": {"message": "x", "code": 429}, "user_id": "u"}, Fault(429, "x", "429")),
        ({"error": "x"}, Fault(500, "x")),
        ({"error": "Access denied", "status": 401}, Fault(401, "Access denied")),
        ({"error": ["x"]}, Fault(500, "x")),
        ({"errors": [{"message": "a"}, {"message": "b"}]}, Fault(500, "a; b")),
        ([{"error": {"message": "x", "code": 400}}], Fault(400, "x", "400")),
        ({"detail": "x"}, Fault(500, "x")),
        (
            {"type": "about:blank", "title": "Too Many Requests", "status": 429, "detail": "Wait"},
            Fault(429, "Wait", type="about:blank"),
        ),
        ({"message": "x", "code": 400}, Fault(400, "x", "400")),
        ({"statusCode": 401, "message": "x"}, Fault(401, "x")),
        ({"type": "error", "error": {"message": "x"}}, Fault(500, "x")),
    ],
)
def test_a_fault_in_an_answer_that_says_200_is_read_as_that_of_a_stream(
    answer: Any, fault: Fault
) -> None:
    body = json.dumps(answer).encode()
    for begin in (b"", b"\xef\xbb\xbf", b"\n "):
        made = json.loads(terminal_event(begin + body) or b"null")
        assert made["type"] == "error"
        assert fault_of(made) == fault


OTHERS = (
    b'{"message": {"role": "assistant", "content": "no error, but another interface"}}',
    b'{"error": null, "id": "x"}',
    b'{"error": {}}',
    b'"text"',
    b'[{"error": "a"}, {"error": "b"}]',
)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[]", b"{}", b'{"hello": 1}', b"[" * 9999, b"[1]", *OTHERS]
)
def test_what_is_no_answer(body: bytes) -> None:
    assert terminal_event(body) is None
