from __future__ import annotations

from bridge.recording import Happening, Settled, Stopped
from bridge.telling import Cause, Kind, Telling, Way
from bridge.telling_rows import rows

from .test_replay import asked
from .test_telling import ENDPOINT, JSON, copied_chat, last, led


def told(*happenings: Happening) -> list[str]:
    """Return what is told of the last request."""
    return [f"{name} {text}".strip() for name, text in rows(last(*happenings))]


def test_a_copy_of_a_chat_is_told_as_a_fork_and_what_else() -> None:
    assert told(*copied_chat()) == [
        "agent a fork of the session of conversation 1",
        "else a new session, told messages 0 to 4 as what was said before",
        "because fork: the chat goes on in two ways from there",
        "beside conversation 1 keeps its own, to go back to",
    ]


def test_a_session_that_is_remembered_comes_first() -> None:
    assert told(asked(1, "a", "ok", "b")) == [
        "agent the session that is remembered of this chat",
        "else a new session, told messages 0 to 1 as what was said before",
        "because new: no conversation here has a session that knows it",
    ]


def test_an_endpoint_goes_on_from_its_responses() -> None:
    chat = led("a", "b", agent=ENDPOINT)
    assert told(*chat) == ["agent goes on from its last whole response"]
    assert told(*chat, asked(3, "a", "ok", "c", agent=ENDPOINT)) == [
        "agent goes on from the response that stands before what is new",
        "else told messages 0 to 1 again, if the endpoint hasn't kept it",
        "because edit: what was said after that isn't part of it",
        "beside conversation 1 keeps its own, to go back to",
    ]


def test_a_session_that_was_kept_is_told_to_remember_too_much() -> None:
    keep: JSON = {"settings": {"rewind": "continue"}}
    assert told(*led("a", "b", **keep), asked(3, "a", "ok", "c", **keep)) == [
        "agent goes on in its session, as the settings want",
        "it remembers what was withdrawn",
    ]


def test_what_follows_a_failure_says_what_may_be_lost() -> None:
    chat = [*led("a"), asked(2, "a", "ok", "b"), Settled(2, "gone")]
    assert told(*chat, asked(3, "a", "ok", "b", "c")) == [
        "agent goes on in its session",
        "else a new session, told messages 0 to 2 as what was said before",
        "if the failure ended that one",
    ]


def test_what_is_withdrawn_closes_the_session() -> None:
    chat = [*led("a"), asked(2, "a", "ok", "b"), Stopped(2)]
    assert told(*chat, asked(3, "a", "ok", "c")) == [
        "agent a new session, told messages 0 to 1 as what was said before",
        "because withdrawn: the one that it had remembers what was taken back",
        "closes the one that it had",
    ]


def test_a_retry_of_the_first_question_is_told_nothing_before() -> None:
    assert told(*led("a"), asked(2, "a")) == [
        "agent a new session",
        "because retry: the answer that was given to it is not to be known",
        "beside conversation 1 keeps its own, to go back to",
    ]


def test_an_open_turn_and_a_summary_are_named() -> None:
    in_turn = Telling(Kind.SESSIONS, Way.IN_MID_TURN, past=1)
    assert list(rows(in_turn)) == [("agent", "goes on in its turn, which waits for the results")]
    summarised = Telling(Kind.SESSIONS, Way.GOES_ON, past=1, is_summarised=True)
    assert list(rows(summarised))[1] == ("", "it knows all that the summary stands for")


def test_one_message_is_named_as_one() -> None:
    (row, *_) = rows(Telling(Kind.SESSIONS, Way.NEW, Cause.EDIT, 1))
    assert row == ("agent", "a new session, told message 0 as what was said before")
