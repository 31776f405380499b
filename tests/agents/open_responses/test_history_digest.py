from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agents.events import CallTool
from agents.open_responses.history_digest import Track, boundaries, written_call, written_result
from bridge.wire import ChatMessage, DataPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart
from bridge.work import done

from .words import PNG, assistant, call, result, system, user


def digest(*messages: ChatMessage) -> bytes:
    return done(boundaries(messages))[0].digest


def test_what_has_no_meaning_makes_no_difference() -> None:
    plain = digest(
        user("go"), assistant("ab", call("1"), call("2")), user(result("1"), result("2"))
    )
    assert plain == digest(
        user("g", "o"),
        assistant("a"),
        assistant(ThinkingPart("hm"), "b", call("1"), call("2")),
        user(result("2")),
        user(DataPart("cache_control", b"x"), DataPart("Usage; v=1", b"x"), result("1")),
    )
    assert digest(user("a"), user()) == digest(user("a"))


def test_what_has_meaning_does() -> None:
    told = [
        digest(),
        digest(user("a")),
        digest(user("b")),
        digest(user("a"), user("b")),
        digest(user("ab")),
        digest(user("ab", PNG)),
        digest(assistant("ab")),
        digest(assistant("ab", call("1"))),
        digest(assistant("ab", call("1", path="a"))),
        digest(assistant("ab", call("1")), user(result("1"))),
        digest(assistant("ab", call("1")), user(result("1", "x"))),
        digest(assistant("ab", call("1")), user(result("1", is_error=True))),
        digest(user("a"), system("b")),
    ]
    assert len(set(told)) == len(told)


def test_digests_of_earlier_processes_stay_good() -> None:
    told = digest(
        user("a", PNG),
        assistant("ab", call("1", path="a", n=1.0), call("2")),
        user(result("2", "x"), result("1", is_error=True)),
        system("b"),
    )
    assert told.hex() == "b8815a464038b55c936918968c4df9ad"


def test_the_prompt_in_front_counts_elsewhere() -> None:
    assert digest(system("x"), system("y"), user("a")) == digest(user("a"))


def test_answers_end_where_somebody_else_speaks() -> None:
    messages = [
        system("s"),
        user("a"),
        assistant("b"),
        assistant(call("1")),
        user(result("1")),
        assistant("c"),
    ]
    _, ends = done(boundaries(messages))
    assert [*ends.values()] == [3, 5]
    assert [*ends] == [digest(*messages[:4]), digest(*messages)]


TEXTS = st.text("ab ", max_size=3)
ROUNDS = st.lists(
    st.tuples(TEXTS.filter(bool), st.lists(st.tuples(TEXTS, st.integers(0, 2)), max_size=3)),
    max_size=3,
)


@given(ROUNDS, st.data())
def test_a_session_and_the_editor_s_history_agree(rounds: Any, data: st.DataObject) -> None:
    """What was lived through has the digest of the same as the editor repeats it."""
    live, number = Track(), 0
    repeated: list[ChatMessage] = []
    for question, responses in rounds:
        live.tell(user(question))
        repeated.append(user(question))
        for said, calls in responses:
            made = [CallTool(f"gw-{number + n}", "f", {"n": n}) for n in range(calls)]
            number += calls
            live.say(said, map(written_call, made))
            repeated.append(
                assistant(said, *(ToolCallPart(c.call_id, c.name, c.parameters) for c in made))
            )
            assert done(boundaries(repeated))[0].digest == live.digest
            for one in made:
                answered = ToolResultPart(one.call_id, "done")
                live.answer(one.call_id, written_result(answered))
            results = [user(ToolResultPart(one.call_id, "done")) for one in made]
            repeated += data.draw(st.permutations(results))
    assert done(boundaries(repeated))[0].digest == live.digest


def test_text_alone_is_text() -> None:
    assert done(boundaries([ChatMessage("user", (TextPart("a"),))]))[0].digest == digest(user("a"))
