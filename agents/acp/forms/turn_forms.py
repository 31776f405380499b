"""Keep the input that an agent asks the user for in a turn, until it is answered. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from agents.acp.rpc.news import InputRequested
from agents.acp.schema.elicitation import CreateElicitationResponse
from agents.acp.turn_ports import QuestionLine
from agents.events import Elicit, ElicitAnswer, TakeBack
from bridge.value import Value

_MARKS = {
    "accept": "✔ **Answered:**",
    "decline": "✘ **Declined:**",
    "cancel": "✘ **Closed without an answer:**",
}


class FormLine(Value):
    """A line for the answer that tells how a form ended, but no value: a value may be a secret."""

    mark: str
    message: str


@attrs.define(eq=False, repr=False)
class TurnForms:
    """The forms of one turn, by the calls that stand for them in the editor."""

    line: QuestionLine
    _asked: dict[str, InputRequested] = attrs.field(factory=dict[str, "InputRequested"], init=False)
    _ended: list[FormLine] = attrs.field(factory=list[FormLine], init=False)

    @property
    def are_open(self) -> bool:
        """Whether one of them waits for its answer."""
        return any(map(self._waits, self._asked.values()))

    def put(self, asked: InputRequested, call_id: str) -> Elicit:
        """Take a form in; return it as the user is asked it."""
        self._asked[call_id] = asked
        request = asked.request
        self.line.record(f"form={call_id} mode={request.mode}")
        is_form = request.mode == "form"
        return Elicit(
            call_id,
            request.message,
            request.requested_schema if is_form else None,
            None if is_form else request.url,
        )

    def answer(self, answer: ElicitAnswer) -> None:
        """Hand the agent the answer to a form, if it still waits for that."""
        asked = self._asked.pop(answer.call_id, None)
        if asked is None or not self._waits(asked):
            return
        self.line.record(f"form={answer.call_id} action={answer.action}")
        if not answer.is_told:
            self._ended.append(FormLine(_MARKS[answer.action], asked.request.message))
        content = answer.content if asked.request.mode == "form" else None
        self.line.answer(asked.id, CreateElicitationResponse(answer.action, content))

    def complete(self, elicitation_id: str) -> None:
        """Hear that the user has done what an address was for, though nobody said so here."""
        for call_id, asked in self._asked.items():
            request = asked.request
            is_meant = request.mode == "url" and request.elicitation_id == elicitation_id
            if is_meant and self._waits(asked):
                self.line.record(f"form={call_id} complete")
                self._ended.append(FormLine(_MARKS["accept"], request.message))
                self.line.answer(asked.id, CreateElicitationResponse("accept"))

    def take_gone(self) -> Sequence[TakeBack]:
        """Forget the forms whose answers the agent needs no more, and return that."""
        gone = [call_id for call_id, asked in self._asked.items() if not self._waits(asked)]
        for call_id in gone:
            del self._asked[call_id]
        return tuple(map(TakeBack, gone))

    def take_ended(self) -> Sequence[FormLine]:
        """Return how forms have ended since."""
        ended, self._ended = self._ended, []
        return ended

    def clear(self) -> None:
        """Forget them all: a cancel answers them."""
        self._asked.clear()

    def _waits(self, asked: InputRequested) -> bool:
        """Return whether the agent waits for the answer: it may have taken the form back."""
        return self.line.asks(asked.id, asked.request)
