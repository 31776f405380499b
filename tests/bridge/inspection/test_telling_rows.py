from __future__ import annotations

from bridge.inspection.telling import Cause, MemoryKind, SessionSource, Telling
from bridge.inspection.telling_rows import rows
from tests.vscodelm.replay.test_run import asked, led
from vscodelm.replay.recording import Happening, Settled, Stopped

from .test_telling import ENDPOINT, JSON, copied_chat, last


def told(*happenings: Happening) -> list[str]:
    """Return what is told of the last request."""
    return [f"{name} {text}".strip() for name, text in rows(last(*happenings))]


def test_a_copy_of_a_chat_is_told_as_a_fork_and_what_else() -> None:
    assert told(*copied_chat()) == [
        "agent a fork of the session of conversation 1",
        "else a new session, with messages 0 to 4 replayed",
        "because fork: the chat continues in two ways from there",
        "beside conversation 1 keeps its session, in case the user goes back",
    ]


def test_a_session_that_is_remembered_comes_first() -> None:
    assert told(asked(1, "a", "ok", "b")) == [
        "agent the stored session of this chat",
        "else a new session, with messages 0 to 1 replayed",
        "because new: no known session has this chat",
    ]


def test_an_endpoint_goes_on_from_its_responses() -> None:
    chat = led("a", "b", agent=ENDPOINT)
    assert told(*chat) == ["agent continues from its last complete response"]
    assert told(*chat, asked(3, "a", "ok", "c", agent=ENDPOINT)) == [
        "agent continues from the response before the new messages",
        "else messages 0 to 1 sent again, if the endpoint hasn't kept the response",
        "because edit: the messages after that point were taken back",
        "beside conversation 1 keeps its session, in case the user goes back",
    ]


def test_a_session_that_was_kept_is_told_to_remember_too_much() -> None:
    keep: JSON = {"settings": {"rewind": "continue"}}
    assert told(*led("a", "b", **keep), asked(3, "a", "ok", "c", **keep)) == [
        "agent continues in its session, as the settings say",
        "the session remembers the withdrawn messages",
    ]


def test_what_follows_a_failure_says_what_may_be_lost() -> None:
    chat = [*led("a"), asked(2, "a", "ok", "b"), Settled(2, "gone")]
    assert told(*chat, asked(3, "a", "ok", "b", "c")) == [
        "agent continues in its session",
        "else a new session, with messages 0 to 2 replayed",
        "if the failure ended that session",
    ]


def test_what_is_withdrawn_closes_the_session() -> None:
    chat = [*led("a"), asked(2, "a", "ok", "b"), Stopped(2)]
    assert told(*chat, asked(3, "a", "ok", "c")) == [
        "agent a new session, with messages 0 to 1 replayed",
        "because withdrawn: the old session remembers withdrawn messages",
        "closes its old session",
    ]


def test_a_retry_of_the_first_question_is_told_nothing_before() -> None:
    assert told(*led("a"), asked(2, "a")) == [
        "agent a new session",
        "because retry: the agent must not know its earlier answer",
        "beside conversation 1 keeps its session, in case the user goes back",
    ]


def test_an_open_turn_and_a_summary_are_named() -> None:
    in_turn = Telling(MemoryKind.SESSIONS, SessionSource.IN_MID_TURN, past=1)
    assert list(rows(in_turn)) == [("agent", "continues its turn, which waits for the results")]
    summarised = Telling(MemoryKind.SESSIONS, SessionSource.GOES_ON, past=1, is_summarised=True)
    assert list(rows(summarised))[1] == ("", "the session knows the messages behind the summary")


def test_one_message_is_named_as_one() -> None:
    (row, *_) = rows(Telling(MemoryKind.SESSIONS, SessionSource.NEW, Cause.EDIT, 1))
    assert row == ("agent", "a new session, with message 0 replayed")
