"""The questions of agents that the editor hasn't answered, and what its answers say. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import count

import attrs
import msgspec
from msgspec import UNSET

from bridge.jsonrpc import RpcResponse
from bridge.wire import ElicitResult, RequestId

from .messages import FormAsked

ID_PREFIX = "elicit-"
"""Begins the ids of our requests. The editor's ids are another kind: it may use the same."""
CLOSED = ElicitResult("cancel")
"""Taken for an answer that can't be read."""


@attrs.frozen(eq=False, repr=False)
class _OpenForm:
    request: RequestId
    asked: FormAsked


@attrs.define(eq=False, repr=False)
class OpenForms:
    """The questions, with the chat requests that are answered meanwhile; each leaves once."""

    _open: dict[RequestId, _OpenForm] = attrs.field(
        factory=dict["RequestId", "_OpenForm"], init=False
    )
    _ids: count[int] = attrs.field(factory=lambda: count(1), init=False)

    def __contains__(self, form: RequestId) -> bool:
        """Return whether an id is that of an open question."""
        return form in self._open

    def open(self, request: RequestId, asked: FormAsked) -> str:
        """Note a question that is asked while `request` is open; return its id."""
        form = f"{ID_PREFIX}{next(self._ids)}"
        self._open[form] = _OpenForm(request, asked)
        return form

    def take(self, form: RequestId) -> FormAsked | None:
        """Close a question, because it is answered; return it, if it was open."""
        open_form = self._open.pop(form, None)
        return None if open_form is None else open_form.asked

    def take_back(self, call_id: str) -> list[RequestId]:
        """Close the question of that call; return its id, if it was open."""
        return [form for form, _ in self._close(lambda one: one.asked.elicit.call_id == call_id)]

    def end(self, request: RequestId) -> list[tuple[RequestId, FormAsked]]:
        """Close the questions that were asked for a request; return them with their ids."""
        return self._close(lambda one: one.request == request)

    def _close(self, is_meant: Callable[[_OpenForm], bool]) -> list[tuple[RequestId, FormAsked]]:
        closed = [(form, one.asked) for form, one in self._open.items() if is_meant(one)]
        for form, _ in closed:
            del self._open[form]
        return closed


def read_result(response: RpcResponse) -> tuple[ElicitResult, str]:
    """Return the editor's answer, and what is wrong with it, if something is."""
    if response.error is not UNSET and response.result is UNSET:
        return CLOSED, "it is an error"
    try:
        return _decoder().decode(b"null" if response.result is UNSET else response.result), ""
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return CLOSED, str(error)


@cache
def _decoder() -> msgspec.json.Decoder[ElicitResult]:
    return msgspec.json.Decoder(ElicitResult)
