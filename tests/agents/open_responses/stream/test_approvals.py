"""Questions about remote tools: each asked once, with all that the user must see."""

from __future__ import annotations

from typing import Any

import pytest

from agents.events import AskPermission, Stop
from tests.agents.open_responses.hearing import JSON, Heard, hear

ASKED: JSON = {
    "type": "mcp_approval_request",
    "id": "mcpr_1",
    "server_label": "git`hub",
    "name": "close_issue",
    "arguments": '{"number": 7}',
}


def done(item: JSON) -> JSON:
    return {"type": "response.output_item.done", "output_index": 0, "item": item}


def end(*output: JSON) -> JSON:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


def questions(heard: Heard) -> list[AskPermission]:
    return [event for event in heard.events if isinstance(event, AskPermission)]


def message(**fields: object) -> str:
    (asked,) = questions(hear([done({**ASKED, **fields}), end()], server="Cloud"))
    return str(asked.details["message"])


def test_a_question_is_asked_once() -> None:
    heard = hear([done(ASKED), done(ASKED), end(ASKED)])
    (asked,) = questions(heard)
    assert (asked.call_id, asked.title) == ("gw-mcpr_1", "git`hub: close_issue")
    assert [one.request_id for one in heard.outcome.approvals] == ["mcpr_1"]
    assert heard.outcome.has_emitted
    assert heard.end == Stop()
    assert questions(hear([end(ASKED)])) == [asked]


@pytest.mark.parametrize(
    "events",
    [
        [done(ASKED), end()],
        [done(ASKED)],
        [end(ASKED)],
        [{"type": "response.completed", "response": {"output": [ASKED]}}],
        [{"type": "response.incomplete", "response": {"output": [ASKED]}}],
    ],
)
def test_a_question_that_is_told_in_one_place_alone_is_asked_once(events: list[JSON]) -> None:
    heard = hear(events)
    assert [asked.call_id for asked in questions(heard)] == ["gw-mcpr_1"]
    assert heard.outcome.notes == ()
    assert isinstance(heard.end, Stop)


def test_two_questions_are_two_wherever_they_are_told() -> None:
    second = {**ASKED, "id": "mcpr_2", "arguments": '{"number": 8}'}
    for events in ([done(ASKED), end(second)], [end(ASKED, second)], [done(second), done(ASKED)]):
        assert {asked.call_id for asked in questions(hear(events))} == {"gw-mcpr_1", "gw-mcpr_2"}


def test_a_question_with_another_id_in_the_final_output_is_asked_once() -> None:
    renamed = {**ASKED, "id": "mcpr_9", "arguments": {"number": 7}}
    heard = hear([done({**ASKED, "id": "mcpr_8"}), end(renamed)])
    assert [asked.call_id for asked in questions(heard)] == ["gw-mcpr_8"]
    approvals = [(one.call_id, one.request_id) for one in heard.outcome.approvals]
    assert approvals == [("gw-mcpr_8", "mcpr_9")], "the id that later requests repeat"


def test_two_equal_questions_are_two_whatever_ids_the_final_output_has() -> None:
    second = {**ASKED, "id": "mcpr_2"}
    for output in ((ASKED, second), ({**ASKED, "id": "mcpr_8"}, {**ASKED, "id": "mcpr_9"})):
        heard = hear([done(ASKED), done(second), end(*output)])
        assert [asked.call_id for asked in questions(heard)] == ["gw-mcpr_1", "gw-mcpr_2"]
        ids = [one.request_id for one in heard.outcome.approvals]
        assert ids == [item["id"] for item in output]
    assert len(questions(hear([done(ASKED), end(ASKED, second)]))) == 2


@pytest.mark.parametrize("events", [[done, end], [done], [end]])
def test_a_question_whose_kind_has_an_owner_is_asked(events: list[Any]) -> None:
    owned = {**ASKED, "type": "openai:mcp_approval_request"}
    heard = hear([event(owned) for event in events])
    assert [asked.call_id for asked in questions(heard)] == ["gw-mcpr_1"]
    assert heard.end == Stop()


def test_a_question_without_an_id_could_not_be_answered() -> None:
    assert not questions(hear([done({**ASKED, "id": None}), end({**ASKED, "id": ""})]))


def test_a_question_shows_the_server_the_tool_and_its_arguments() -> None:
    assert message() == (
        "`Cloud` asks to use `close_issue` of the remote server `git'hub`.\n\n"
        '```json\n{\n  "number": 7\n}\n```'
    )


def test_a_question_of_which_little_is_known_is_one_all_the_same() -> None:
    shown = message(server_label=None, name=7, arguments=None)
    assert shown == "`Cloud` asks to use a tool.\n\n```json\n{}\n```"
    assert "no JSON" in message(arguments="no JSON")
    assert "[\n  1\n]" in message(arguments=[1])
    assert message(arguments=True).endswith("```json\ntrue\n```")


@pytest.mark.limit("agents.open_responses.stream.approvals._MOST_NAME")
def test_a_long_name_is_cut() -> None:
    assert f"`{'x' * 200}` of" in message(name="x" * 201)


def test_nothing_of_the_arguments_is_hidden() -> None:
    shown = message(arguments='{"a": "x\u200b\u202e\u3164\ufe0f```` é%sy"}' % (" " * 40))
    assert "⟨U+200B⟩⟨U+202E⟩⟨U+3164⟩⟨U+FE0F⟩```` é⟨40 blanks⟩y" in shown
    assert shown.endswith("\n`````")


@pytest.mark.limit("agents.open_responses.stream.approvals._MOST_SHOWN")
def test_what_is_not_shown_of_long_arguments_is_counted() -> None:
    shown = message(arguments='{"a": "%s"}' % ("x" * 10_000))
    assert "⚠️ **13 characters of this are not shown.**" in shown
    assert len(shown) < 10_200
