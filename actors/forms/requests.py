"""Puts the questions of agents to the editor, and hands its answers back. Nothing here waits."""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from actors.log import decision
from actors.messages import FormAnswered, FormAsked, FormTakenBack
from agents.boundary import failure_of
from bridge.chats import Chats
from bridge.routing.chat_events import Broke
from bridge.wire import ElicitResult

from .open_forms import CLOSED, OpenForms, answer_to


@attrs.frozen(eq=False, repr=False)
class FormRequests:
    """The questions of the agents of one editor's chats.

    If an agent can't take an answer, its conversation is broken.
    """

    forms: OpenForms
    chats: Chats

    def hear(self, message: FormAsked | FormTakenBack | FormAnswered) -> Iterator[Broke]:
        """Handle one message."""
        match message:
            case FormAsked():
                yield from self._ask(message)
            case FormTakenBack(call_id=call_id):
                self.forms.take_back(call_id)
            case FormAnswered(form=form, result=result):
                asked = self.forms.take(form)
                if asked is not None:
                    yield from self._answer(asked, result)

    def ask_again(self) -> Iterator[Broke]:
        """Ask again what was asked for requests that are answered."""
        while self.forms.dropped:
            yield from self._ask(self.forms.dropped.popleft())

    def _ask(self, asked: FormAsked) -> Iterator[Broke]:
        """Put an agent's question to the editor, for the request that its turn answers now.

        If no request is open for the turn, the user has moved on.
        """
        request = self.chats.request_of(asked.conversation, asked.turn)
        if request is None:
            yield from self._answer(asked, CLOSED)
        else:
            form = self.forms.ask(request, asked)
            decision("elicit", request=request, conversation=asked.conversation, form=form)

    def _answer(self, asked: FormAsked, result: ElicitResult) -> Iterator[Broke]:
        key = asked.conversation
        try:
            asked.answer(answer_to(asked, result))
        except Exception as error:
            yield Broke(failure_of(error, f"conversation={key}"), key)
