"""The questions of agents that the editor hasn't answered, and what its answers say. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import count

import attrs
from msgspec import UNSET

from actors.messages import FormAsked
from agents.events import ElicitAnswer
from bridge.jsonrpc import REFUSED, RpcResponse, decoder_of, notification_line, request_line
from bridge.methods import CANCEL_REQUEST, ELICIT
from bridge.wire import CancelRequestParams, ElicitParams, ElicitResult, RequestId

ID_PREFIX = "elicit-"
"""Begins the ids of our requests. The editor's ids are another kind: it may use the same."""
CLOSED = ElicitResult("cancel")
"""The answer where the user can't be asked, and in place of an answer that can't be read."""


@attrs.frozen(eq=False, repr=False)
class _OpenForm:
    request: RequestId
    asked: FormAsked


@attrs.define(eq=False, repr=False)
class OpenForms:
    """The questions, with the chat requests that are answered meanwhile; each leaves once."""

    _send: Callable[[bytes], None]
    """Sends lines to the editor."""
    dropped: deque[FormAsked] = attrs.field(factory=deque["FormAsked"], init=False)
    """Questions whose request was answered, the oldest first. Each must be asked again for the
    request that its turn answers now, or be closed."""
    _open: dict[RequestId, _OpenForm] = attrs.field(
        factory=dict["RequestId", "_OpenForm"], init=False
    )
    _ids: count[int] = attrs.field(factory=lambda: count(1), init=False)

    def __contains__(self, form: RequestId) -> bool:
        """Return whether an id is that of an open question."""
        return form in self._open

    def ask(self, request: RequestId, asked: FormAsked) -> str:
        """Ask the user a question while `request` is open; return its id."""
        form = f"{ID_PREFIX}{next(self._ids)}"
        elicit = asked.elicit
        params = ElicitParams(
            request,
            elicit.message,
            UNSET if elicit.form is None else elicit.form,
            UNSET if elicit.url is None else elicit.url,
        )
        line = request_line(form, ELICIT, params)
        self._open[form] = _OpenForm(request, asked)
        self._send(line)
        return form

    def take(self, form: RequestId) -> FormAsked | None:
        """Close a question, because it is answered; return it, if it was open."""
        open_form = self._open.pop(form, None)
        return None if open_form is None else open_form.asked

    def take_back(self, call_id: str) -> None:
        """Close the question of that call, if it is open: the agent asks it no longer."""
        self._close(lambda one: one.asked.elicit.call_id == call_id)

    def end(self, request: RequestId) -> None:
        """Close the questions that were asked for a request, and keep them in `dropped`."""
        if self._open:
            self.dropped += self._close(lambda one: one.request == request)

    def _close(self, is_meant: Callable[[_OpenForm], bool]) -> list[FormAsked]:
        closed = [(form, one.asked) for form, one in self._open.items() if is_meant(one)]
        for form, _ in closed:
            del self._open[form]
            self._send(notification_line(CANCEL_REQUEST, CancelRequestParams(form)))
        return [asked for _, asked in closed]


def answer_to(asked: FormAsked, result: ElicitResult) -> ElicitAnswer:
    """Return the answer that the agent gets; only an accepted form has values."""
    content = result.content if result.action == "accept" else None
    return ElicitAnswer(asked.elicit.call_id, result.action, content)


def read_result(response: RpcResponse) -> tuple[ElicitResult, str]:
    """Return the editor's answer, and what is wrong with it, if something is."""
    if response.error is not UNSET and response.result is UNSET:
        return CLOSED, "it is an error"
    try:
        result = b"null" if response.result is UNSET else response.result
        return decoder_of(ElicitResult).decode(result), ""
    except REFUSED as error:
        return CLOSED, str(error)
