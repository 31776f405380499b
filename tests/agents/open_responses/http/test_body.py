from __future__ import annotations

import json
from typing import Any

import pytest

from agents.open_responses.http.body import (
    kind_of,
    terminal_event,
)


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
    ("answer", "error"),
    [
        ({"error": {"message": "x"}}, {"message": "x"}),
        ({"error": "x"}, {"message": "x"}),
        ({"error": ["x"]}, {"message": '["x"]'}),
        ({"detail": "x"}, {"message": "x"}),
    ],
)
def test_a_fault_in_an_answer_that_says_200(answer: Any, error: Any) -> None:
    made = json.loads(terminal_event(json.dumps(answer).encode()) or b"null")
    assert made == {"type": "error", "error": error}


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"{}", b'{"hello": 1}', b"[" * 9999])
def test_what_is_no_answer(body: bytes) -> None:
    assert terminal_event(body) is None
