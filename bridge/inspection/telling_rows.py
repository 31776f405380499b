"""Explain how an agent gets the messages of a request: rows with a name each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from .steps import SessionBegan
from .telling import Cause, MemoryKind, SessionSource, Telling


def rows(told: Telling) -> Iterator[tuple[str, str]]:
    """Yield the explanation row by row; a row that continues the one above has no name."""
    past = "nothing" if told.past == 0 else _numbers(told.past)
    anew = f"a new session, with {past} replayed"
    match told.way:
        case SessionSource.GOES_ON if told.kind is MemoryKind.RESPONSES:
            yield "agent", "continues from its last complete response"
        case SessionSource.GOES_ON:
            yield "agent", "continues in its session"
            if told.is_summarised:
                yield "", "the session knows the messages behind the summary"
            if told.may_be_lost:
                yield "else", anew
                yield "", "if the failure ended that session"
        case SessionSource.IN_MID_TURN:
            yield "agent", "continues its turn, which waits for the results"
        case SessionSource.RUNNING:
            yield "agent", "gets nothing: it already has the first of the equal requests"
        case SessionSource.KEPT:
            yield "agent", "continues in its session, as the settings say"
            yield "", "the session remembers the withdrawn messages"
        case SessionSource.NEW:
            yield "agent", anew if told.past else "a new session"
        case SessionSource.FOUND:
            yield "agent", "the stored session of this chat"
            yield "else", anew
        case SessionSource.FORK:
            yield "agent", f"a fork of the session of conversation {told.beside}"
            yield "else", anew
        case SessionSource.RESPONSE:
            yield "agent", "continues from the response before the new messages"
            yield "else", f"{past} sent again, if the endpoint hasn't kept the response"
        case _:
            assert_never(told.way)
    if told.cause is not None and (told.past or told.cause is not Cause.NEW):
        yield "because", _CAUSES[told.cause]
    if told.beside is not None:
        yield "beside", f"conversation {told.beside} keeps its session, in case the user goes back"
    elif told.closes:
        yield "closes", "its old session"


def rows_of_session(told: Telling, began: SessionBegan | None) -> Iterator[tuple[str, str]]:
    """Yield the server's record: how the session began, or that it continued."""
    if began is None:
        yield (
            next(rows(told))
            if told.way in _NO_START
            else ("agent", "got nothing: no new session began")
        )
        return
    count = "1 message" if began.told == 1 else f"{began.told} messages"
    past = f", with {count} replayed" if began.told else ""
    yield "agent", f"{_STARTS.get(began.start, began.start)}{past}"
    if began.why in _WHYS:
        yield "because", f"{began.why}: {_WHYS[began.why]}"


_NO_START = (
    SessionSource.GOES_ON,
    SessionSource.IN_MID_TURN,
    SessionSource.RUNNING,
    SessionSource.KEPT,
)
_STARTS = {
    "fresh": "a new session",
    "replayed": "a new session",
    "resumed": "its old session, resumed",
    "forked": "a fork of another conversation's session",
    "stored": "the stored session of this chat",
}
_WHYS = {
    "withdrawn": "the old session remembers withdrawn messages",
    "lost": "the old session broke, or its process ended",
    "superseded": "the old session was closed while the chat was in another conversation",
    "tools": "the old session can't get the editor's tools",
    "taken": "another process has taken the old session",
    "forgotten": "the agent has forgotten the old session",
}
_CAUSES = {
    Cause.NEW: "new: no known session has this chat",
    Cause.EDIT: "edit: the messages after that point were taken back",
    Cause.WITHDRAWN: "withdrawn: the old session remembers withdrawn messages",
    Cause.RETRY: "retry: the agent must not know its earlier answer",
    Cause.FORK: "fork: the chat continues in two ways from there",
}


def _numbers(count: int) -> str:
    return "message 0" if count == 1 else f"messages 0 to {count - 1}"
