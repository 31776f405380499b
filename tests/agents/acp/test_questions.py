"""The forms of one turn, until they are answered."""

from __future__ import annotations

from collections.abc import Collection

import attrs

from agents.acp.questions import FormLine, TurnForms
from agents.acp.rpc.news import InputRequested, QuestionId, UserQuestion
from agents.acp.schema.elicitation import CreateElicitationRequest, CreateElicitationResponse
from agents.acp.schema.methods import RequestPermissionOutcome
from agents.acp.turn_ports import ToolsPort
from agents.events import Elicit, ElicitAnswer, TakeBack

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
FORM = CreateElicitationRequest("Your name?", session_id="s", requested_schema=SCHEMA)
PAGE = CreateElicitationRequest(
    "Log in", "url", session_id="s", elicitation_id="e1", url="https://a.example"
)


@attrs.define
class Line:
    """A session's channel, without an agent."""

    open: dict[QuestionId, UserQuestion] = attrs.field(factory=dict["QuestionId", "UserQuestion"])
    answers: list[tuple[QuestionId, object]] = attrs.field(
        factory=list["tuple[QuestionId, object]"]
    )
    log: list[str] = attrs.field(factory=list[str])
    tools: ToolsPort | None = None

    def is_open(self, id_: QuestionId) -> bool:
        return id_ in self.open

    def asks(self, id_: QuestionId, question: UserQuestion) -> bool:
        return self.open.get(id_) is question

    def answer(
        self, id_: QuestionId, answer: RequestPermissionOutcome | CreateElicitationResponse
    ) -> None:
        del self.open[id_]
        self.answers.append((id_, answer))

    def allows_edit(self, kind: str, paths: Collection[str]) -> bool:
        raise AssertionError("a form edits nothing")

    def record(self, words: str) -> None:
        self.log.append(words)

    def wake(self) -> None:
        raise AssertionError("nobody waits")


def forms_with(*requests: CreateElicitationRequest) -> tuple[TurnForms, Line]:
    """Return forms of which these were asked, as the calls `c0`, `c1` and so on."""
    line = Line(dict(enumerate(requests)))
    forms = TurnForms(line)
    for number, request in enumerate(requests):
        forms.put(InputRequested(number, request), f"c{number}")
    return forms, line


def test_a_form_has_a_schema_and_a_page_has_an_address() -> None:
    forms, line = forms_with()
    line.open = {1: FORM, 2: PAGE}
    assert forms.put(InputRequested(1, FORM), "c1") == Elicit("c1", "Your name?", SCHEMA)
    page = forms.put(InputRequested(2, PAGE), "c2")
    assert page == Elicit("c2", "Log in", url="https://a.example")
    assert forms.are_open


def test_the_first_answer_is_handed_over_and_told_without_its_content() -> None:
    forms, line = forms_with(FORM, PAGE)
    forms.answer(ElicitAnswer("c0", "accept", {"name": "secret"}))
    forms.answer(ElicitAnswer("c0", "decline"))
    forms.answer(ElicitAnswer("c1", "accept", {"name": "no page has content"}))
    forms.answer(ElicitAnswer("nobody's", "accept"))
    assert line.answers == [
        (0, CreateElicitationResponse("accept", {"name": "secret"})),
        (1, CreateElicitationResponse("accept")),
    ]
    assert forms.take_ended() == [
        FormLine("✔ **Answered:**", "Your name?"),
        FormLine("✔ **Answered:**", "Log in"),
    ]
    assert forms.take_ended() == []
    assert "secret" not in str(line.log)
    assert not forms.are_open


def test_a_form_that_the_agent_takes_back_is_not_answered() -> None:
    forms, line = forms_with(FORM, PAGE)
    del line.open[0]
    assert forms.take_gone() == (TakeBack("c0"),)
    assert forms.take_gone() == ()
    forms.answer(ElicitAnswer("c0", "accept"))
    assert (line.answers, forms.take_ended()) == ([], [])
    assert forms.are_open


def test_an_id_that_the_agent_uses_again_gets_no_answer_to_what_it_was_before() -> None:
    forms, line = forms_with(FORM)
    line.open[0] = CreateElicitationRequest("Another?", session_id="s", requested_schema=SCHEMA)
    assert not forms.are_open
    forms.answer(ElicitAnswer("c0", "accept", {"name": "x"}))
    assert line.answers == []


def test_a_page_that_was_done_with_elsewhere_is_accepted() -> None:
    forms, line = forms_with(FORM, PAGE)
    forms.complete("another")
    forms.complete("e1")
    forms.complete("e1")
    assert line.answers == [(1, CreateElicitationResponse("accept"))]
    assert forms.take_gone() == (TakeBack("c1"),)
    assert forms.take_ended() == [FormLine("✔ **Answered:**", "Log in")]


def test_after_a_cancel_nothing_is_answered_here() -> None:
    forms, line = forms_with(FORM)
    forms.clear()
    forms.answer(ElicitAnswer("c0", "accept"))
    assert (line.answers, forms.take_gone()) == ([], ())
