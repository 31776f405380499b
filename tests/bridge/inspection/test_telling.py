from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.inspection.telling import Cause, MemoryKind, SessionSource, Telling
from bridge.models import AgentChoice
from bridge.routing.request import RequestClass
from bridge.wire import TextPart, ToolCallPart
from tests.vscodelm.replay.test_run import answered, asked, decisions, led
from vscodelm.replay.recording import Happening, Parted, Requested, Settled, Stopped
from vscodelm.replay.run import Replay

JSON = dict[str, Any]
ACP: JSON = {"acp": {"name": "a", "command": "a"}}
ENDPOINT: JSON = {"open_responses": {"baseUrl": "http://127.0.0.1:1/v1", "model": "m"}}
ELIZA: JSON = {"eliza": {}}
CALL: JSON = {"type": "tool_call", "toolCallId": "c1", "toolName": "look", "parameters": {}}


def last(*happenings: Happening) -> Telling:
    return decisions(*happenings)[-1].telling


def test_what_is_said_in_a_conversation_goes_on_in_its_session() -> None:
    first, second = (one.telling for one in decisions(*led("a", "b")))
    assert first == Telling(MemoryKind.SESSIONS, SessionSource.NEW, Cause.NEW)
    assert second == Telling(MemoryKind.SESSIONS, SessionSource.GOES_ON, past=2)


def test_an_edit_is_told_what_stands_before_it_and_leaves_the_rest() -> None:
    told = last(*led("a", "b", "c"), asked(4, "a", "ok", "b, rather"))
    assert told == Telling(MemoryKind.SESSIONS, SessionSource.NEW, Cause.EDIT, 2, beside=1)


def test_a_line_that_lives_no_more_may_be_remembered_beside_one_that_does() -> None:
    line = ("a", "ok", "b, rather", "ok", "c")
    assert last(*led("a", "b"), asked(3, *line)) == Telling(
        MemoryKind.SESSIONS, SessionSource.FOUND, Cause.EDIT, 4, beside=1
    )
    beside = last(*led("a", "b", agent=ENDPOINT), asked(3, *line, agent=ENDPOINT))
    assert beside.way is SessionSource.RESPONSE


def test_undoing_an_edit_goes_on_in_the_session_that_is_still_there() -> None:
    edited = [asked(3, "a", "ok", "b, rather"), *answered(3, "ok")]
    undone = decisions(*led("a", "b"), *edited, asked(4, "a", "ok", "b", "ok", "c"))[-1]
    assert (undone.conversation, undone.telling.way) == (1, SessionSource.GOES_ON)


def test_a_retry_is_told_without_its_last_answer() -> None:
    complete = last(*led("a", "b"), asked(3, "a", "ok", "b"))
    assert complete == Telling(MemoryKind.SESSIONS, SessionSource.NEW, Cause.RETRY, 2, beside=1)
    stopped = [asked(3, "a", "ok", "b", "ok", "c"), Stopped(3)]
    cut = last(*led("a", "b"), *stopped, asked(4, "a", "ok", "b", "ok", "c"))
    assert cut == Telling(MemoryKind.SESSIONS, SessionSource.NEW, Cause.RETRY, 4, closes=True)


def test_what_was_stopped_and_edited_is_withdrawn_and_its_session_closed() -> None:
    happenings = [*led("a"), asked(2, "a", "ok", "b"), Stopped(2), asked(3, "a", "ok", "c")]
    assert last(*happenings) == Telling(
        MemoryKind.SESSIONS, SessionSource.NEW, Cause.WITHDRAWN, 2, closes=True
    )


def test_who_wants_it_keeps_the_session_and_what_it_remembers() -> None:
    keep: JSON = {"settings": {"rewind": "continue"}}
    happenings = [*led("a", "b", **keep), asked(3, "a", "ok", "c", **keep)]
    assert last(*happenings) == Telling(MemoryKind.SESSIONS, SessionSource.KEPT)


def test_after_a_failure_the_session_may_be_lost() -> None:
    happenings = [*led("a"), asked(2, "a", "ok", "b"), Settled(2, "gone")]
    told = last(*happenings, asked(3, "a", "ok", "b", "c"))
    assert told == Telling(MemoryKind.SESSIONS, SessionSource.GOES_ON, past=3, may_be_lost=True)


def line_of(request: int, line: str, *texts: str, **more: Any) -> Happening:
    """Return a request of one of two copies of a chat, which the host's prompt tells apart."""
    plain = asked(request, *texts, **more)
    params = json.loads(plain.params)
    log = f"Be kind.\nVSCODE_TARGET_SESSION_LOG: {line}\n"
    params["messages"].insert(0, {"role": "system", "content": [{"type": "text", "value": log}]})
    params["options"] = {
        "modelOptions": {"_conversationId": "c", "_telemetryTurn": 1, "_otelTraceContext": {}}
    }
    return type(plain)(request, json.dumps(params).encode())


def copied_chat(*answer: Happening, **more: Any) -> list[Happening]:
    """Return a chat whose second answer is this, and the first request of its copy."""
    return [
        line_of(1, "one", "a", **more),
        *answered(1, "ok"),
        line_of(2, "one", "a", "ok", "b", **more),
        *(answer or answered(2, "ok")),
        line_of(3, "two", "a", "ok", "b", "ok", "c", **more),
    ]


def test_a_copy_of_a_whole_chat_is_a_fork_of_its_session() -> None:
    assert last(*copied_chat()) == Telling(
        MemoryKind.SESSIONS, SessionSource.FORK, Cause.FORK, 5, beside=1
    )


@pytest.mark.parametrize(
    ("agent", "kind", "way"),
    [
        (ELIZA, MemoryKind.NOTHING, SessionSource.NEW),
        (ENDPOINT, MemoryKind.RESPONSES, SessionSource.RESPONSE),
    ],
)
def test_who_has_no_sessions_is_told_a_copy_in_its_own_way(
    agent: JSON, kind: MemoryKind, way: SessionSource
) -> None:
    assert last(*copied_chat(agent=agent)) == Telling(kind, way, Cause.FORK, 5, beside=1)


def test_a_session_that_remembers_what_was_withdrawn_is_not_forked() -> None:
    keep: JSON = {"settings": {"rewind": "continue"}}
    happenings = [
        line_of(1, "one", "a", **keep),
        *answered(1, "ok"),
        line_of(2, "one", "a", "ok", "b", **keep),
        *answered(2, "ok"),
        line_of(3, "one", "a", "ok", "b, rather", **keep),
        *answered(3, "ok"),
        line_of(4, "one", "a", "ok", "b, rather", "ok", "c", **keep),
        *answered(4, "ok"),
        line_of(5, "two", "a", "ok", "b, rather", "ok", "c", "ok", "d", **keep),
    ]
    ways = [one.telling.way for one in decisions(*happenings)]
    assert ways == [
        SessionSource.NEW,
        SessionSource.GOES_ON,
        SessionSource.KEPT,
        SessionSource.GOES_ON,
        SessionSource.NEW,
    ]


def test_a_chat_from_elsewhere_is_looked_for_and_else_told() -> None:
    told = last(asked(1, "a", "ok", "b"))
    assert told == Telling(MemoryKind.SESSIONS, SessionSource.FOUND, Cause.NEW, 2)
    assert last(asked(1, "a", "ok", "b", agent=ELIZA)).way is SessionSource.NEW
    assert last(asked(1, "a", "ok", "b", agent=ENDPOINT)).way is SessionSource.RESPONSE


def test_what_is_asked_beside_a_chat_is_looked_for_nowhere() -> None:
    options: JSON = {"modelOptions": {"_conversationId": "c", "_otelTraceContext": {}}}
    (decision,) = decisions(asked(1, "a", "ok", "b", options=options))
    assert decision.request_class is RequestClass.COMPACTION
    assert decision.telling == Telling(MemoryKind.SESSIONS, SessionSource.NEW, Cause.NEW, 2)


def test_results_go_to_the_turn_that_waits_for_them() -> None:
    results = [{"type": "tool_result", "toolCallId": "c1", "result": "seen"}]
    messages = [
        {"role": "user", "content": [{"type": "text", "value": "a"}]},
        {"role": "assistant", "content": [CALL]},
        {"role": "user", "content": results},
    ]
    given = Requested(2, json.dumps({"modelId": "m", "messages": messages}).encode())
    call = Parted(1, ToolCallPart("c1", "look", {}))
    told = last(asked(1, "a"), call, Settled(1), given)
    assert told == Telling(MemoryKind.SESSIONS, SessionSource.IN_MID_TURN, past=2)


def test_a_copy_of_a_chat_that_waits_for_results_is_no_fork() -> None:
    """The session has made a call since, that the copy may know nothing of."""
    call = Parted(2, ToolCallPart("c1", "look", {}))
    told = last(*copied_chat(Parted(2, TextPart("ok")), call, Settled(2)))
    assert told.way is not SessionSource.FORK


@pytest.mark.parametrize(
    ("definition", "model", "kind"),
    [
        (None, "eliza", MemoryKind.NOTHING),
        (None, "m", MemoryKind.SESSIONS),
        (ELIZA, "m", MemoryKind.NOTHING),
        (ACP, "m", MemoryKind.SESSIONS),
        (ENDPOINT, "m", MemoryKind.RESPONSES),
    ],
)
def test_the_kind_of_an_agent_is_that_of_its_definition(
    definition: JSON | None, model: str, kind: MemoryKind
) -> None:
    agent = None if definition is None else AgentChoice.of(definition)
    assert MemoryKind.of(agent, model) is kind


def test_the_lines_of_a_chat_say_what_they_share() -> None:
    replay = Replay()
    list(replay.steps([*led("a", "b"), asked(3, "a", "ok", "c")]))
    first, second = replay.tracker.branches()
    assert (first.origin, first.exchanges) == (None, 2)
    assert (second.origin, second.shared, second.exchanges) == (1, 1, 2)
