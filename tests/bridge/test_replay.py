from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.exchange import Ending
from bridge.recording import Happening, Parted, Requested, Settled, Stopped
from bridge.replay import Decision, Ended, Refused, Replay, Step
from bridge.router import Reason
from bridge.wire import TextPart


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "value": text}]}


def asked(request: int, *texts: str, model: str = "m", **more: Any) -> Requested:
    """Return a request whose messages are the user's and the agent's in turn."""
    roles = ("user", "assistant")
    messages = [said(roles[index % 2], text) for index, text in enumerate(texts)]
    return Requested(request, json.dumps({"modelId": model, "messages": messages, **more}).encode())


def answered(request: int, text: str) -> list[Happening]:
    return [Parted(request, TextPart(text)), Settled(request)]


def steps(*happenings: Happening) -> list[Step]:
    return list(Replay().steps(happenings))


def decisions(*happenings: Happening) -> list[Decision]:
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
        if isinstance(step, Ended)
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
    assert [type(step) for step in told] == [Decision, Ended, Decision, Ended, Decision]
    assert told[3] == Ended(2, Ending.CANCELLED, None)
    assert isinstance(told[4], Decision)
    assert told[4].replaces == (2,)


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
    assert isinstance(told[0], Refused)
    assert [type(step) for step in told] == [Refused, Decision]


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

    monkeypatch.setattr("bridge.replay.ask_whose", deep)
    params = (
        b'{"modelId": "m", "agent": {"eliza": {}}, "messages": [{"role": "user", "content": []}]}'
    )
    (refused,) = Replay().steps([Requested(1, params)])
    assert isinstance(refused, Refused)
    assert "too deeply" in refused.reason
