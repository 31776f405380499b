"""The list of sessions, and what we say of them."""

from __future__ import annotations

import pytest

from agents.acp.continued.words import (
    MOST_LISTED,
    MOST_NAMED,
    failed,
    list_text,
    listed,
    time_text,
)
from agents.acp.schema.methods import SessionInfo
from bridge.wire import ListedSession


def info(session_id: str, updated_at: str | None = None, cwd: str = "/x") -> SessionInfo:
    return SessionInfo(session_id, cwd, title=f"Title of {session_id}", updated_at=updated_at)


def ids(*sessions: SessionInfo) -> list[str]:
    found = listed(sessions, lambda cwd: cwd == "/x", lambda one: one == "open")
    return [one.session_id for one in found]


def test_the_newest_session_comes_first_and_one_without_a_time_last() -> None:
    old, new = "2026-01-01T10:00:00Z", "2026-02-01T10:00:00Z"
    assert ids(info("no"), info("old", old), info("new", new), info("odd", "today")) == [
        "new",
        "old",
        "no",
        "odd",
    ]


def test_a_session_of_another_folder_or_of_a_chat_of_ours_is_left_out() -> None:
    assert ids(info("a"), info("open"), info("b", cwd="/y"), info("a")) == ["a"]


@pytest.mark.parametrize("session_id", ["", "a b", "a\nb", "ä", "a" * 201, "#file", "@them", "/x"])
def test_an_id_that_can_t_be_sent_is_left_out(session_id: str) -> None:
    assert ids(info(session_id)) == []


@pytest.mark.limit("agents.acp.continued.words.MOST_LISTED")
def test_a_list_is_bounded() -> None:
    assert len(ids(*(info(str(number)) for number in range(MOST_LISTED + 5)))) == MOST_LISTED


def test_a_title_is_one_short_line() -> None:
    (one,) = listed(
        [SessionInfo("a", "/x", title="Say\n\x1b[31mthis\u202e " + "x" * 5_000)],
        lambda _: True,
        lambda _: False,
    )
    assert one.title.startswith("Say this ")
    assert len(one.title) <= 200


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2026-02-01T10:20:30.123Z", "2026-02-01 10:20 UTC"),
        ("2026-02-01T10:20:30+01:00", "2026-02-01 10:20 +01:00"),
        ("2026-02-01T10:20", "2026-02-01 10:20"),
        ("yesterday", ""),
    ],
)
def test_a_time_is_written_as_people_do(given: str, shown: str) -> None:
    assert time_text(given) == shown


def test_the_list_in_a_chat_has_a_line_to_send_for_each() -> None:
    one = ListedSession("a", "/x", "# Fix *it* [x](command:y)", "2026-02-01T10:20:30Z")
    assert list_text("it", [one, ListedSession("b", "/x")]) == (
        "Earlier sessions of it. To continue one, send its line:\n\n"
        "- **# Fix \\*it\\* \\[x\\](command:y)** (2026-02-01 10:20 UTC): `/continue a`\n"
        "- *no title*: `/continue b`"
    )


def test_the_list_names_the_folders_where_there_are_several() -> None:
    text = list_text("it", [ListedSession("a", "/x"), ListedSession("b", "/y")])
    assert "- *no title* (`/y`): `/continue b`" in text


@pytest.mark.limit("agents.acp.continued.words.MOST_NAMED")
def test_an_empty_list_says_so_and_a_long_one_how_many_there_are() -> None:
    assert list_text("it", []) == "*it has no earlier sessions in this folder.*"
    many = [ListedSession(str(number), "/x") for number in range(MOST_NAMED + 2)]
    assert list_text("it", many).endswith("*There are 2 older ones.*")


def test_a_reason_of_the_agents_is_shown_as_text() -> None:
    text = failed("it", "a`b", "Not *found*.\n# No")
    assert text.startswith("**it didn't continue the session ``a`b``:** Not \\*found\\*. # No.")
