"""How an agent gets to know a request, in words for a person: rows with a name each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from .telling import Cause, Kind, Telling, Way


def rows(told: Telling) -> Iterator[tuple[str, str]]:
    """Yield what there is to tell, row by row; what goes on from the row above has no name."""
    past = "nothing" if told.past == 0 else _numbers(told.past)
    anew = f"a new session, told {past} as what was said before"
    match told.way:
        case Way.GOES_ON if told.kind is Kind.RESPONSES:
            yield "agent", "goes on from its last whole response"
        case Way.GOES_ON:
            yield "agent", "goes on in its session"
            if told.is_summarised:
                yield "", "it knows all that the summary stands for"
            if told.may_be_lost:
                yield "else", anew
                yield "", "if the failure ended that one"
        case Way.IN_MID_TURN:
            yield "agent", "goes on in its turn, which waits for the results"
        case Way.KEPT:
            yield "agent", "goes on in its session, as the settings want"
            yield "", "it remembers what was withdrawn"
        case Way.NEW:
            yield "agent", anew if told.past else "a new session"
        case Way.FOUND:
            yield "agent", "the session that is remembered of this chat"
            yield "else", anew
        case Way.FORK:
            yield "agent", f"a fork of the session of conversation {told.beside}"
            yield "else", anew
        case Way.RESPONSE:
            yield "agent", "goes on from the response that stands before what is new"
            yield "else", f"told {past} again, if the endpoint hasn't kept it"
        case _:
            assert_never(told.way)
    if told.cause is not None and (told.past or told.cause is not Cause.NEW):
        yield "because", _CAUSES[told.cause]
    if told.beside is not None:
        yield "beside", f"conversation {told.beside} keeps its own, to go back to"
    elif told.closes:
        yield "closes", "the one that it had"


_CAUSES = {
    Cause.NEW: "new: no conversation here has a session that knows it",
    Cause.EDIT: "edit: what was said after that isn't part of it",
    Cause.WITHDRAWN: "withdrawn: the one that it had remembers what was taken back",
    Cause.RETRY: "retry: the answer that was given to it is not to be known",
    Cause.FORK: "fork: the chat goes on in two ways from there",
}


def _numbers(count: int) -> str:
    return "message 0" if count == 1 else f"messages 0 to {count - 1}"
