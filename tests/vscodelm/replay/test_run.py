from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.history.exchange import Ending
from bridge.inspection.steps import (
    InspectionStep,
    Over,
    RequestDecision,
    RequestEnded,
    RequestRefused,
    SessionBegan,
)
from bridge.routing.outcome import Reason
from bridge.wire import TextPart
from vscodelm.replay.recording import Happening, Noted, Parted, Requested, Settled, Stopped
from vscodelm.replay.run import Replay


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "value": text}]}


def asked(request: int, *texts: str, model: str = "m", **more: Any) -> Requested:
    """Return a request whose messages are the user's and the agent's in turn."""
    roles = ("user", "assistant")
    messages = [said(roles[index % 2], text) for index, text in enumerate(texts)]
    return Requested(request, json.dumps({"modelId": model, "messages": messages, **more}).encode())


def answered(request: int, text: str) -> list[Happening]:
    return [Parted(request, TextPart(text)), Settled(request)]


def led(*words: str, **more: Any) -> list[Happening]:
    """Return a chat in which every answer is "ok"."""
    happenings: list[Happening] = []
    for number in range(1, len(words) + 1):
        texts = [text for word in words[: number - 1] for text in (word, "ok")]
        happenings += [asked(number, *texts, words[number - 1], **more), *answered(number, "ok")]
    return happenings


def steps(*happenings: Happening) -> list[InspectionStep]:
    return list(Replay().steps(happenings))


def decisions(*happenings: Happening) -> list[RequestDecision]:
    return list(Replay().decisions(happenings))


def test_a_request_that_goes_on_says_what_it_builds_on_and_how_that_ended() -> None:
    first, second = decisions(
        asked(1, "Hi."), *answered(1, "Hello."), asked(2, "Hi.", "Hello.", "Bye.")
    )
    assert (first.extends, first.committed, first.new_from) == (None, None, 0)
    assert (second.extends, second.committed, second.new_from) == (1, Ending.COMPLETE, 2)
    assert second.conversation == first.conversation
    assert [message.text for message in second.delivered] == ["Bye."]


def test_each_request_ends_once() -> None:
    ends = [
        step
        for step in steps(
            asked(1, "Hi."),
            Parted(1, TextPart("Good ")),
            Stopped(1),
            Parted(1, TextPart("day.")),
            Settled(1, "Canceled"),
            Settled(7),
        )
        if isinstance(step, RequestEnded)
    ]
    (end,) = ends
    assert end.ending is Ending.CANCELLED
    assert end.answer is not None
    assert end.answer.text == "Good "


def test_a_request_that_is_overtaken_ends_before_the_next_begins() -> None:
    told = steps(
        asked(1, "Hi."),
        *answered(1, "Hello."),
        asked(2, "Hi.", "Hello.", "Go on."),
        asked(3, "Hi.", "Hello.", "No, stop."),
        *answered(2, "too late"),
    )
    assert [type(step) for step in told] == [
        RequestDecision,
        RequestEnded,
        RequestDecision,
        RequestEnded,
        RequestDecision,
    ]
    assert told[3] == RequestEnded(2, Ending.CANCELLED, None)
    assert isinstance(told[4], RequestDecision)
    assert told[4].replaces == (2,)


def test_what_another_agent_answered_since_is_told_as_said_before() -> None:
    *_, last = decisions(
        asked(1, "Hi."),
        *answered(1, "Hello."),
        asked(2, "Hi.", "Hello.", "Go on."),
        Stopped(2),
        asked(3, "Hi.", "Hello.", "Rather not.", "I won't.", "Go on."),
    )
    assert (last.outcome.reason, last.new_from) == (Reason.SUPERSEDES, 2)
    assert last.telling.past == 4


def test_what_is_built_on_from_before_the_recording_is_nobodys_request() -> None:
    first, second = decisions(
        asked(1, "Hi.", "Hello.", "Go on."),
        *answered(1, "Well."),
        asked(2, "Hi.", "Hello.", "Go back."),
    )
    assert first.outcome.reason is Reason.NEW
    assert first.new_from == 0
    assert (second.outcome.reason, second.extends) == (Reason.BRANCH, None)
    assert second.replaces == (1,)


@pytest.mark.parametrize(
    "params",
    [
        b"{}",
        b'{"modelId":"m","messages":[]}',
        b'{"modelId":"m","messages":[{"role":"king","content":[]}]}',
        b'{"modelId":"m","messages":[{"role":"user","content":[]}],"agent":{"nobody":{}}}',
    ],
)
def test_a_request_that_can_not_be_read_is_refused_and_the_rest_goes_on(params: bytes) -> None:
    told = steps(Requested(1, params), Settled(1, "Invalid params"), asked(2, "Hi."))
    assert isinstance(told[0], RequestRefused)
    assert [type(step) for step in told] == [RequestRefused, RequestDecision]


def test_a_conversation_belongs_to_the_agent_that_the_request_names() -> None:
    eliza: dict[str, Any] = {"eliza": {}}
    other: dict[str, Any] = {"mcp_server": {"name": "a", "command": "a"}}
    same, differs = (
        decisions(
            asked(1, "Hi.", agent=eliza),
            *answered(1, "Hello."),
            asked(2, "Hi.", "Hello.", "Bye.", model="m2", agent=agent),
        )[1]
        for agent in (eliza, other)
    )
    assert same.outcome.reason is Reason.EXTENDS
    assert differs.outcome.reason is Reason.NEW


def test_where_withdrawn_answers_are_forgotten_an_earlier_edit_makes_no_branch_either() -> None:
    settings = {"rewind": "continue"}
    said = ["Hi.", "Hello.", "Go on.", "Well.", "More."]
    happenings = [
        asked(1, *said[:1]),
        *answered(1, "Hello."),
        asked(2, *said[:3]),
        *answered(2, "Well."),
        asked(3, *said),
        *answered(3, "No."),
        asked(4, "Hi.", "Hello.", "Go back.", settings=settings),
        *answered(4, "There."),
        asked(5, "Hi.", "Hello.", "Go back.", "There.", "Thanks.", settings=settings),
    ]
    edit, after = decisions(*happenings)[-2:]
    assert edit.outcome.reason is Reason.SUPERSEDES
    assert edit.replaces == (2, 3)
    assert edit.extends == 1
    assert after.extends == 4


def test_where_withdrawn_answers_are_forgotten_an_edit_makes_no_branch() -> None:
    settings = {"rewind": "continue"}
    happenings = [
        asked(1, "Hi."),
        *answered(1, "Hello."),
        asked(2, "Hi.", "Hello.", "Go on."),
        *answered(2, "Well."),
    ]
    branch = decisions(*happenings, asked(3, "Hi.", "Hello.", "Go back."))[-1]
    kept = decisions(*happenings, asked(3, "Hi.", "Hello.", "Go back.", settings=settings))[-1]
    assert branch.outcome.reason is Reason.BRANCH
    assert kept.outcome.reason is Reason.SUPERSEDES
    assert branch.replaces == kept.replaces == (2,)


def test_a_request_that_is_nested_too_deeply_is_refused_as_on_the_wire(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def deep(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr("vscodelm.replay.run.ask_whose", deep)
    params = (
        b'{"modelId": "m", "agent": {"eliza": {}}, "messages": [{"role": "user", "content": []}]}'
    )
    (refused,) = Replay().steps([Requested(1, params)])
    assert isinstance(refused, RequestRefused)
    assert "too deeply" in refused.reason


# What the server noted.

CONFIGURATION = Noted("configuration", most_bytes=1_000)


def noted(request: int, **more: Any) -> Noted:
    return Noted("request", request=request, agent=1, max_sessions=2, **more)


def test_a_noted_request_is_decided_about_when_it_is_noted_and_within_its_limits() -> None:
    happenings: list[Happening] = [CONFIGURATION]
    for number in (1, 2, 3):
        happenings += [
            asked(number, f"Hi {number}."),
            noted(number, at=float(number)),
            Parted(number, TextPart("Hello.")),
            Noted("ended", conversation=number, turn=1),
            Settled(number),
        ]
    assert [type(step) for step in steps(*happenings)] == [
        *(RequestDecision, RequestEnded) * 2,
        *(RequestDecision, Over, RequestEnded),
    ]


def test_how_a_session_began_is_told_of_its_request() -> None:
    replay = Replay()
    began = Noted("began", conversation=1, turn=1, start="stored", why="new", told=2)
    other = Noted("began", conversation=7, turn=1, start="fresh", why="new")
    found = list(replay.steps([CONFIGURATION, asked(1, "Hi."), noted(1), began, other]))
    assert found[1:] == [SessionBegan(1, "stored", "new", 2)]
    assert replay.tally.matches["stored"] == 1


@pytest.mark.parametrize(
    ("note", "ending"),
    [
        (Noted("cancelled", request=1), Ending.CANCELLED),
        (Noted("failed", conversation=1, turn=1, message="It broke."), Ending.FAILED),
        (Noted("broke", conversation=1, message="It broke."), Ending.FAILED),
        (Noted("broke", request=1, message="It broke."), Ending.FAILED),
        (Noted("leaving"), Ending.CANCELLED),
    ],
)
def test_a_noted_end_is_the_end(note: Noted, ending: Ending) -> None:
    found = steps(CONFIGURATION, asked(1, "Hi."), noted(1), note, Settled(1), Stopped(1))
    assert isinstance(found[1], RequestEnded)
    assert found[1].ending is ending


def test_a_note_of_a_later_version_and_of_an_unreadable_request_are_no_obstacle() -> None:
    found = steps(CONFIGURATION, Noted("later"), noted(1))
    assert [type(step) for step in found] == [RequestRefused]


def test_a_conversation_that_was_idle_for_its_time_is_over() -> None:
    ended = Noted("ended", conversation=1, turn=1)
    idle = Noted("expired", conversation=1)
    found = steps(CONFIGURATION, asked(1, "Hi."), noted(1), ended, idle)
    assert found[-1] == Over(1, "idle")


def test_repeats_are_refused_at_the_times_that_are_noted() -> None:
    happenings: list[Happening] = [CONFIGURATION]
    for number in (1, 2, 3):
        failed = Noted("failed", conversation=1, turn=number, message="It broke.")
        happenings += [asked(number, "Hi."), noted(number), failed]
    assert isinstance(steps(*happenings)[-1], RequestRefused)
