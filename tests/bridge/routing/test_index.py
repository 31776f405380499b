"""The live conversations: whoever may be meant is found, and who has gone is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.events import Ask, Cancel, Close, Emit, Fail, Finish
from bridge.history.exchange import Extends, Supersedes
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.routing.index import MOST_CHATS, Index, Mark
from bridge.routing.request import Hints, RequestClass
from bridge.wire import DataPart, Part, TextPart, ToolCallPart, ToolResultPart
from tests.bridge.desk import AGENT, BROKE, NOBODY, OTHER_AGENT
from tests.strategies import assistant, histories, user

Q1, Q2, Q3, OTHER = user("q1"), user("q2"), user("q3"), user("other")
A1, A2 = assistant("a1"), assistant("a2")
CALL = ToolCallPart("c1", "read", {})
ONE_SHOTS = [kind for kind in RequestClass if kind.is_one_shot]


def asked(*incoming: Message, new_from: int = 0) -> History:
    history = History()
    history.apply(Ask(1, incoming, Extends(new_from)))
    return history


def answered(*incoming: Message, answer: str | Part = "a1", new_from: int = 0) -> History:
    history = asked(*incoming, new_from=new_from)
    history.apply(Emit(1, [TextPart(answer) if isinstance(answer, str) else answer]))
    history.apply(Finish(1))
    return history


def marks(index: Index, *path: Message) -> dict[int, set[Mark]]:
    """Where along a path somebody is marked, and how."""
    return {
        point.depth: {mark for mark in Mark if list(point.keys(mark))}
        for point in index.points(AGENT, path)
        if point.marks
    }


# Where a later request may join.


def test_a_conversation_is_marked_where_a_request_may_join() -> None:
    index, history = Index(), asked(Q1)
    index.place(1, AGENT, history)
    assert marks(index, Q1, A1) == {1: {Mark.ASKED, Mark.CUT}}
    history.apply(Emit(1, [TextPart("a1")]))
    history.apply(Finish(1))
    index.update(1)
    assert marks(index, Q1, A1) == {1: {Mark.ASKED}, 2: {Mark.HEAD}}
    history.apply(Ask(2, (Q1, A1, Q2), Extends(2)))
    index.place(1, AGENT, history)
    assert marks(index, Q1, A1, Q2) == {2: {Mark.COMMITTED}, 3: {Mark.ASKED, Mark.CUT}}
    history.apply(Emit(2, [TextPart("a2")]))
    history.apply(Cancel(2))
    index.update(1)
    expected = {2: {Mark.COMMITTED}, 3: {Mark.ASKED, Mark.CUT}, 4: {Mark.HEAD}}
    assert marks(index, Q1, A1, Q2, A2) == expected


@given(histories())
def test_whatever_happened_the_marks_are_on_what_was_shown(history: History) -> None:
    index = Index()
    index.place(1, AGENT, history)
    shown = history.shown
    found = marks(index, *shown)
    assert 0 not in found, "nothing said is no place to join"
    assert all(depth <= len(shown) for depth in found)
    if shown and history.request is None:
        assert max(found) == len(shown)
    if history.request is not None:
        assert all(Mark.HEAD not in kinds for kinds in found.values()), "it has not ended"


def test_what_says_nothing_is_found_nowhere_and_leaves_where_it_was() -> None:
    index, history = Index(), asked(Q1)
    index.place(1, AGENT, history)
    index.place(2, AGENT, asked())
    assert marks(index, Q1).keys() == {1}
    history.apply(Cancel(1))
    history.apply(Ask(2, (), Supersedes(0)))
    index.place(1, AGENT, history)
    assert marks(index, Q1) == {}
    assert list(index.likely((Q1,), NOBODY, index.points(AGENT, (Q1,)))) == []


def test_agents_have_points_of_their_own() -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1))
    assert index.points(OTHER_AGENT, (Q1,)) == []
    index.forget(1)
    assert index.points(AGENT, (Q1,)) == [], "and none once they have no conversation"


# Calls.


def test_a_call_is_waited_for_from_the_end_of_its_turn_until_somebody_asks() -> None:
    index, history = Index(), asked(Q1)
    index.place(1, AGENT, history)
    history.apply(Emit(1, [CALL]))
    index.update(1)
    assert index.waiting_for("c1") is None
    history.apply(Finish(1))
    index.update(1)
    assert index.waiting_for("c1") == 1
    assert index[1].calls == {"c1"}
    history.apply(Ask(2, (*history.shown, Q2), Extends(2)))
    index.update(1)
    assert index.waiting_for("c1") is None
    assert index[1].calls == frozenset()


def test_the_calls_of_a_one_shot_are_waited_for_too() -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1, answer=CALL), RequestClass.INLINE)
    assert index.waiting_for("c1") == 1


# What hosts say, and what was answered.

HERE = Hints(conversation="here")


def test_the_hosts_id_finds_its_conversations_the_most_recently_asked_first() -> None:
    index, histories = Index(), {key: answered(Q1) for key in (1, 2, 3, 4)}
    for key in (1, 2, 3):
        index.place(key, AGENT, histories[key], hints=HERE)
    index.place(4, AGENT, histories[4])
    assert list(index.of_host_id("here")) == [3, 2, 1]
    index.update(1)
    assert list(index.of_host_id("here")) == [3, 2, 1], "an answer that ends is nobody's request"
    index.place(2, AGENT, histories[2], hints=HERE)
    assert list(index.of_host_id("here")) == [2, 3, 1]
    index.forget(3)
    assert list(index.of_host_id("here")) == [2, 1]
    assert list(index.of_host_id("there")) == list(index.of_host_id(None)) == []


def test_a_conversation_has_the_newest_id_that_the_host_gave_it() -> None:
    """A request that says nothing leaves what was known; who runs is only of the moment."""
    index, history = Index(), answered(Q1)
    index.place(1, AGENT, history, hints=HERE)
    index.place(1, AGENT, history, hints=Hints(conversation="there", run="r", chat="log"))
    assert list(index.of_host_id("here")) == []
    assert list(index.of_host_id("there")) == [1]
    index.place(1, AGENT, history)
    assert list(index.of_host_id("there")) == [1]
    assert index[1].hints == Hints(conversation="there", chat="log")
    index.forget(1)
    assert list(index.of_host_id("there")) == []


def test_the_newest_answer_that_a_request_may_repeat_is_known() -> None:
    index, history = Index(), asked(Q1)
    index.place(1, AGENT, history)
    assert index[1].answer is None
    history.apply(Emit(1, [TextPart("a1")]))
    index.update(1)
    assert index[1].answer is None, "it is not whole"
    history.apply(Finish(1))
    index.update(1)
    assert index[1].answer == A1.digest
    history.apply(Ask(2, (Q1, A1, Q2), Extends(2)))
    history.apply(Emit(2, [TextPart("a2")]))
    index.update(1)
    assert index[1].answer == A1.digest, "while the next streams"
    history.apply(Fail(2, BROKE))
    index.update(1)
    assert index[1].answer == A2.digest


def test_an_exchange_without_an_answer_leaves_the_one_before() -> None:
    index, history = Index(), answered(Q1)
    history.apply(Ask(2, (Q1, A1, Q2), Extends(2)))
    history.apply(Cancel(2))
    history.apply(Ask(3, (Q1, A1, Q2, Q3), Extends(3)))
    history.apply(Cancel(3))
    index.place(1, AGENT, history)
    assert index[1].answer == A1.digest


def test_the_newest_question_is_known_in_the_words_of_the_user() -> None:
    index, history = Index(), asked()
    index.place(1, AGENT, history)
    assert index[1].question is None
    wrapped = user("<context>\nMonday\n</context>\n<userRequest>\nq1\n</userRequest>\n")
    history = answered(user("<environment_info>"), wrapped, answer=CALL)
    index.place(1, AGENT, history)
    assert index[1].question == "q1"
    called = Message.of("assistant", [CALL])
    result = Message.of("user", [ToolResultPart("c1")])
    history.apply(Ask(2, (*history.shown, result), Extends(3)))
    index.place(1, AGENT, history)
    assert index[1].question == "q1", "a result asks nothing"
    history.apply(Finish(2))
    history.apply(Ask(3, (*history.shown, Q2), Extends(4)))
    index.place(1, AGENT, history)
    assert index[1].question == "q2"
    assert called in history.shown


# Who is likely meant.


def likely(index: Index, *path: Message, hints: Hints = NOBODY) -> list[int]:
    """In order, each once."""
    return list(dict.fromkeys(index.likely(path, hints, index.points(AGENT, path))))


def marked(text: str, token: str) -> Message:
    marker = DataPart("stateful_marker", rf"model\{token}".encode())
    return Message.of("assistant", [TextPart(text), marker])


def test_the_likeliest_come_first() -> None:
    """Our marker, the host's id, an answer of ours, a question, then who begins alike."""
    index = Index()
    index.place(1, AGENT, answered(OTHER, answer="z"))
    index.remember_marker("token", 1)
    index.place(2, AGENT, answered(OTHER, answer="y"), hints=HERE)
    index.place(3, AGENT, answered(OTHER, answer="a2"))
    index.place(4, AGENT, answered(Q1, A1, Q2, A2, OTHER, answer="w", new_from=4))
    index.place(5, AGENT, answered(OTHER, Q2, answer="v"))
    path = (Q1, A1, Q2, marked("a2", "token"), Q3)
    assert likely(index, *path, hints=HERE) == [1, 2, 3, 5, 4]
    assert likely(index, *path) == [1, 3, 5, 4]
    assert likely(index, Q1, A1, Q2, A2, Q3) == [3, 5, 4]
    assert likely(index, Q1, A1, user("never asked")) == [4]
    assert likely(index, Q3) == []


def test_of_those_who_begin_alike_the_longest_come_first() -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1, A1, OTHER, A2, Q3, answer="x", new_from=4))
    index.place(2, AGENT, answered(Q1, A1, Q3, answer="y", new_from=2))
    assert likely(index, Q1, A1, OTHER, A2, Q2) == [1, 2]
    assert likely(index, Q1, A1, Q2) == [2]


def test_what_is_asked_just_now_finds_nobody_by_its_words() -> None:
    """Many chats begin with the same words."""
    index = Index()
    index.place(1, AGENT, answered(OTHER, Q1))
    assert likely(index, Q1) == []
    assert likely(index, Q1, Q2) == [1]


def test_the_newest_marker_counts_and_only_if_it_is_ours() -> None:
    index = Index()
    for key in (1, 2):
        index.place(key, AGENT, answered(OTHER, answer=f"a{key}"))
        index.remember_marker(f"token-{key}", key)
    path = marked("x", "token-1"), marked("y", "token-2"), marked("z", "somebody's")
    assert likely(index, Q1, *path) == [2]
    assert likely(index, Q1, *path[::-1]) == [1]


def test_who_goes_on_from_where_a_request_ends_is_likely_too() -> None:
    """Its marks are all further on: an edit far back."""
    index = Index()
    index.place(1, AGENT, answered(Q1, A1, Q2, A2, Q3, answer="a3", new_from=4))
    assert likely(index, Q1, OTHER) == [1]
    assert likely(index, OTHER) == [], "to begin anywhere is to share nothing"


@pytest.mark.parametrize("request_class", ONE_SHOTS)
def test_nobody_finds_a_one_shot(request_class: RequestClass) -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1), request_class, HERE)
    assert likely(index, Q1, A1, Q2, hints=HERE) == []
    assert list(index.of_host_id("here")) == []
    index.forget(1)


# The end.


def test_what_is_forgotten_is_found_by_nothing() -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1, answer=CALL), hints=HERE)
    index.place(2, AGENT, answered(Q1), hints=Hints(conversation="there"))
    index.remember_marker("token", 1)
    index.remember_marker("another", 1)
    assert index.waiting_for("c1") == 1
    index.forget(1)
    assert index.waiting_for("c1") is None
    called = Message.of("assistant", [CALL])
    path = Q1, called, marked("x", "token"), marked("y", "another")
    assert likely(index, *path, hints=HERE) == [2]
    with pytest.raises(KeyError):
        index[1]


def test_one_that_took_its_answer_back_is_found_by_the_new_one_alone() -> None:
    index, history = Index(), answered(Q1, answer="a1")
    index.place(1, AGENT, history)
    assert likely(index, Q3, A1) == [1]
    history.apply(Ask(2, (OTHER,), Supersedes(0)))
    index.place(1, AGENT, history)
    assert likely(index, Q3, A1) == []
    assert likely(index, Q1, Q2) == []
    assert likely(index, OTHER) == [1]


@given(
    st.lists(
        st.tuples(st.sampled_from([1, 2, 3]), histories(), st.booleans(), st.booleans()),
        max_size=6,
    )
)
def test_nothing_is_left_once_all_are_forgotten(
    steps: list[tuple[int, History, bool, bool]],
) -> None:
    index, fresh = Index(), Index()
    live: set[int] = set()
    for key, history, is_searched, stays in steps:
        index.place(key, AGENT, history, hints=HERE)
        index.remember_marker(f"{key} {len(history.shown)} {id(history)} {len(live)}", key)
        live.add(key)
        if is_searched:
            index.refresh()
        if not stays:
            index.forget(key)
            live.discard(key)
    for key in live:
        index.forget(key)
    assert contents(index) == contents(fresh)


def contents(index: Index) -> list[str]:
    """Everything that it holds on to, spelled out: what stays would be a leak."""
    kept = ("_newest", "_last_asked")  # on purpose: they are limited
    fields = {name: field for name, field in vars(index).items() if name not in kept}
    return [repr(getattr(field, "_keys", field)) for field in fields.values()]


@pytest.mark.limit("bridge.routing.index.MOST_CHATS")
def test_who_was_asked_last_of_a_chat_is_remembered_when_it_is_gone_but_not_of_all_chats() -> None:
    """Else an earlier branch of the chat would be taken for the newest."""
    index = Index()
    index.place(1, AGENT, History(), hints=HERE)
    index.place(2, AGENT, History(), hints=HERE)
    assert index.newest_of(AGENT, HERE) == 2
    index.forget(2)
    assert index.newest_of(AGENT, HERE) is None
    for number in range(MOST_CHATS):
        index.place(3, AGENT, History(), hints=Hints(f"chat {number}"))
    index.place(1, AGENT, History(), hints=HERE)
    assert index.newest_of(AGENT, HERE) == 1
    assert index.newest_of(AGENT, Hints("chat 0")) is None
    assert index.newest_of(AGENT, Hints()) is None


def test_a_chat_in_which_another_agent_was_asked_last_is_known_by_its_name() -> None:
    index = Index()
    index.place(1, AGENT, History(), hints=HERE)
    assert not index.was_asked_elsewhere(AGENT, HERE)
    index.place(2, OTHER_AGENT, History(), hints=HERE)
    assert index.was_asked_elsewhere(AGENT, HERE)
    assert not index.was_asked_elsewhere(OTHER_AGENT, HERE)
    assert not index.was_asked_elsewhere(AGENT, Hints("elsewhere"))
    assert not index.was_asked_elsewhere(AGENT, Hints())


@pytest.mark.parametrize("request_class", RequestClass)
def test_only_a_turn_of_the_chat_itself_is_its_newest_line(request_class: RequestClass) -> None:
    index = Index()
    index.place(1, AGENT, History(), hints=HERE)
    index.place(2, AGENT, History(), request_class, HERE)
    assert index.newest_of(AGENT, HERE) == (2 if request_class is RequestClass.MAIN else 1)
    assert index.newest_of(OTHER_AGENT, HERE) is None
    assert index.newest_of(AGENT, Hints("here", chat="a fork's log")) is None


# Who is done.


@pytest.mark.parametrize("request_class", RequestClass)
def test_some_are_done_with_their_first_answer(request_class: RequestClass) -> None:
    index, history = Index(), asked(Q1)
    index.place(1, AGENT, history, request_class)
    assert not index[1].is_done, "it streams"
    history.apply(Finish(1))
    index.update(1)
    assert index[1].is_done is (request_class is not RequestClass.MAIN)


def test_a_sub_agent_that_waits_for_a_result_is_not_done() -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1, answer=CALL), RequestClass.SUB_AGENT)
    index.place(2, AGENT, answered(Q1, answer=CALL), RequestClass.UTILITY)
    assert not index[1].is_done
    assert index[2].is_done, "nobody answers the call of a title"


def test_what_was_closed_is_nobodys_to_end() -> None:
    index, history = Index(), answered(Q1)
    index.place(1, AGENT, history, RequestClass.UTILITY)
    history.apply(Close())
    assert not index[1].is_done


# Lines of a chat, of which its user sees one.


def test_a_conversation_and_all_that_branch_off_it_are_lines_of_one_chat() -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1))
    index.place(2, AGENT, answered(Q1, A1, Q2), origin=1)
    index.place(3, AGENT, answered(Q1, A1, Q3), origin=2)
    index.place(4, AGENT, answered(Q1))
    assert [index.other_branches(key) for key in (1, 2, 3, 4)] == [{2, 3}, {1, 3}, {1, 2}, set()]
    index.place(2, AGENT, answered(Q1, A1, Q2))
    index.forget(1)
    assert index.other_branches(3) == {2}, "a branch stays one when it is gone on with"
    index.place(5, AGENT, answered(Q1), origin=1)
    assert index.other_branches(5) == set(), "what it branches off is gone"


def test_conversations_of_one_id_are_lines_of_one_chat_but_for_copies_and_sub_agents() -> None:
    index = Index()
    index.place(1, AGENT, answered(Q1), hints=Hints("c", chat="one"))
    index.place(2, AGENT, answered(Q2), hints=Hints("c", chat="one"))
    index.place(3, AGENT, answered(Q1), hints=Hints("c", chat="two"), origin=1)
    index.place(4, AGENT, answered(Q3), RequestClass.SUB_AGENT, Hints("c"), origin=1)
    index.place(5, b"another", answered(Q1), hints=Hints("c", chat="one"))
    index.place(6, AGENT, answered(OTHER), hints=Hints("c"))
    assert [index.other_branches(key) for key in (1, 2, 3)] == [{2, 6}, {1, 6}, {6}]
    assert index.other_branches(6) == {1, 2, 3}, "nothing says of which chat it is"
