"""What is told of whole recordings is in tests/recordings/golden; here are the odd ends."""

from __future__ import annotations

import json
from typing import Any

from bridge.history.progress_rounds import CALL_PREFIX
from bridge.inspection.facts import MOST_CHARACTERS
from bridge.wire import TextPart, ToolCallPart
from tests.recordings.cases import played
from vscodelm.replay.explain import explain
from vscodelm.replay.labels import Label
from vscodelm.replay.recording import Happening, Parted, Requested, Settled


def asked(*parts: dict[str, Any], history: int = 0) -> Requested:
    past = [
        {"role": role, "content": [{"type": "text", "value": f"{role} {number}"}]}
        for number in range(history)
        for role in ("user", "assistant")
    ]
    messages = [*past, {"role": "user", "content": list(parts)}]
    return Requested(1, json.dumps({"modelId": "m", "messages": messages}).encode())


def told(*happenings: Happening) -> list[str]:
    return list(explain(happenings).lines)


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "value": value}


def test_nothing_to_tell_is_told() -> None:
    assert told() == ["no chat request in it"]


def test_one_request_is_counted_as_one() -> None:
    assert "1 request" in told(asked(text("Hi.")))


def test_a_long_text_is_cut_and_stands_on_one_line() -> None:
    lines = told(asked(text("First line.\n\n  Second line. " + "word " * 100_000)))
    (line,) = (line for line in lines if "First" in line)
    assert line.strip().startswith('user    "First line. Second line. word')
    assert line.endswith('..."')
    assert len(line.partition('"')[2]) == MOST_CHARACTERS + 1


def test_a_text_of_blanks_and_a_few_words_far_behind_is_still_cut() -> None:
    lines = told(asked(text("Short." + " " * 100_000 + "Secret.")))
    assert any(line.endswith('"Short...."') for line in lines)


def test_what_a_terminal_would_obey_is_not_passed_on() -> None:
    lines = told(asked(text("\x1b[2Jgone\x07")), Settled(1, "\x1b]0;title\x07"))
    assert not any("\x1b" in line or "\x07" in line for line in lines)
    assert any("gone" in line for line in lines)


def test_a_long_history_is_counted_and_not_listed() -> None:
    lines = told(asked(text("Hi."), history=20))
    assert "              ... 32 more ..." in lines
    assert '              user    "user 0"' in lines
    assert '              agent   "assistant 19"' in lines


def test_images_are_counted() -> None:
    image = {"type": "data", "mimeType": "image/png", "data": "aGFsbA=="}
    lines = told(asked(text("Look."), image, image))
    assert '              user    "Look."; 2 images' in lines


def test_a_request_that_never_ended_says_so() -> None:
    assert "  answer      open: its end isn't recorded" in told(asked(text("Hi.")))


def test_a_request_that_was_refused_says_why() -> None:
    lines = told(Requested("a", b"{}"), asked(text("Hi.")))
    assert lines[0] == "request a: refused"
    assert lines[1].startswith("  why         Invalid params: ")


def test_a_difference_is_marked_and_counted() -> None:
    script = played("plain-turns")
    labels = {
        **script.labels,
        "2": Label("A", "retry", 1, (), 4, ("lamp",)),
        "9": Label("A", "new"),
    }
    explanation = explain(script.happenings(), labels)
    assert explanation.is_different
    assert "  DIFFERENT   continue, the label says retry" in explanation.lines
    assert explanation.lines[-2:] == ("request 9 never came", "2 of 4 as labelled")


def test_without_labels_nothing_is_compared() -> None:
    explanation = explain(played("plain-turns").happenings())
    assert not explanation.is_different
    assert not any("labelled" in line for line in explanation.lines)


def test_a_progress_round_is_no_call() -> None:
    """The user sees a part of an answer; nothing was called."""
    call: dict[str, Any] = {
        "type": "tool_call",
        "toolCallId": f"{CALL_PREFIX}1",
        "toolName": "vscodelm-progress",
        "parameters": {},
    }
    result: dict[str, Any] = {"type": "tool_result", "toolCallId": call["toolCallId"], "result": []}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [text("Count.")]},
        {"role": "assistant", "content": [text("One "), call]},
        {"role": "user", "content": [result]},
    ]
    goes_on = Requested(2, json.dumps({"modelId": "m", "messages": messages}).encode())
    parts = [TextPart("One "), ToolCallPart(f"{CALL_PREFIX}1", "vscodelm-progress", {})]
    lines = told(asked(text("Count.")), *(Parted(1, part) for part in parts), Settled(1), goes_on)
    assert not any(CALL_PREFIX in line or "vscodelm-progress" in line for line in lines)
    assert "              host    a progress round is over" in lines
    assert "  rounds      1 of the progress tool" in lines
    assert "  class       1 main" in lines
    assert "2 requests" in lines
