"""How a request relates to a conversation: the laws, and what counts as evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.errors import Failure
from bridge.history.events import Ask, Cancel, Emit, Fail, Finish, Input
from bridge.history.exchange import Diverges, Ending, Extends, Supersedes
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing.relate import Asks, exact, opening, tolerant
from bridge.wire import Part, TextPart, ToolCallPart, ToolResultPart
from tests.strategies import (
    assistant,
    chunkings,
    conversations,
    histories,
    odd_messages,
    questions,
    user,
)

ABSENT = frozenset({Rule.ANSWER_ABSENT})
KEEP, CANCELS = Asks(keep=True), Asks(cancels=True)
manners = st.builds(Asks, st.booleans(), st.booleans())

# The laws.


@given(histories(), st.lists(questions, min_size=1, max_size=2))
def test_what_was_shown_and_more_is_an_extension_by_just_that(
    history: History, new: list[Message]
) -> None:
    """Laws 2 and 8: a faithful echo extends, needs no rule, and never supersedes.

    But a first answer that is still awaited, and has not begun, proves nothing: who asks the same
    and goes on may be another window.
    """
    known = tuple(history.shown)
    match = exact(history, (*known, *new))
    if history.request is not None and not history.is_acknowledged and history.answer is None:
        assert match is None
        return
    assert match == Extends(len(known))


@given(histories(), st.lists(questions, min_size=1, max_size=2))
def test_a_faithful_echo_is_an_extension_to_the_tolerant_too(
    history: History, new: list[Message]
) -> None:
    """Where there is an answer at all; a question that comes back alone proves nothing."""
    known = tuple(history.shown)
    match = tolerant(history, (*known, *new))
    is_proven = any(message.role == "assistant" for message in known)
    assert match == (Extends(len(known)) if is_proven else None)


@given(histories(), conversations(), manners)
def test_every_message_of_a_request_is_accounted_for(
    history: History, incoming: tuple[Message, ...], asks: Asks
) -> None:
    """Law 3: what stands before `new_from` is known to be there, the rest is new."""
    match = exact(history, incoming, asks=asks)
    known, committed = history.shown, history.committed_path
    match match:
        case None:
            pass
        case Supersedes(new_from=new_from):
            assert list(incoming[:new_from]) == committed
            assert new_from < len(incoming), "there is a request in it"
        case Diverges(exchange=exchange, new_from=new_from):
            assert list(incoming[:new_from]) == committed
            assert exchange == len(history.committed)
            assert new_from < len(incoming), "there is a request in it"
        case Extends(new_from=new_from) if history.provisional is None:
            assert new_from <= len(incoming)
        case Extends(new_from=new_from, rules=rules) if not rules:
            assert list(incoming[:new_from]) == known
        case Extends(new_from=new_from, rules=rules):
            assert rules == ABSENT
            assert list(incoming[:new_from]) == [*committed, *asked(history)]
            assert new_from < len(incoming), "there is a request in it"


def asked(history: History) -> tuple[Message, ...]:
    return history.provisional.asked if history.provisional else ()


@given(histories(), st.lists(questions | odd_messages, max_size=4), st.booleans(), manners)
def test_the_tolerant_answer_whatever_they_are_asked(
    history: History, rest: list[Message], known: bool, asks: Asks
) -> None:
    """It is total, and always leaves a request to be answered, or says that the end was shown."""
    for incoming in (tuple(rest), (*history.shown, *rest), (*history.shown[1:], *rest)):
        match tolerant(history, incoming, known=known, asks=asks):
            case None:
                pass
            case Extends(new_from=new_from):
                assert 0 < new_from <= len(incoming)
            case Supersedes(new_from=new_from):
                assert new_from < len(incoming), "there is a request in it"
            case Diverges(exchange=exchange, new_from=new_from):
                assert exchange <= len(history.committed)
                assert new_from < len(incoming), "there is a request in it"


@given(histories(), st.lists(questions, min_size=1))
def test_without_an_answer_of_ours_nothing_is_proven(
    history: History, incoming: list[Message]
) -> None:
    """Users of two chats may well type the same."""
    assert tolerant(history, tuple(incoming)) is None


@given(histories(), st.data())
def test_a_request_of_another_conversation_is_no_match(
    history: History, data: st.DataObject
) -> None:
    """One message that differs in what is committed is enough."""
    path = list(history.shown)
    if not history.committed_path:
        return
    index = data.draw(st.integers(0, len(history.committed_path) - 1))
    path[index] = user("something else")
    assert exact(history, (*path, user("new"))) is None
    assert exact(history, tuple(history.shown[:index])) is None


@given(st.data())
def test_however_the_answer_was_cut_it_is_recognised(data: st.DataObject) -> None:
    """Law 1, as a host sees it: we streamed pieces, and one text comes back."""
    text = data.draw(st.text(min_size=1))
    history = History()
    history.apply(Ask(1, (user("q"),), Extends(0)))
    for piece in data.draw(chunkings(text)):
        history.apply(Emit(1, [TextPart(piece)]))
    history.apply(data.draw(st.sampled_from([Finish(1), Cancel(1)])))
    assert exact(history, (user("q"), assistant(text), user("r"))) == Extends(2)


# What begins.


@pytest.mark.parametrize(
    ("incoming", "new_from"),
    [
        ((), 0),
        ((user("q"),), 0),
        ((user("q"), user("r")), 0),
        ((user("q"), assistant("theirs"), user("r")), 2),
        ((user("q"), assistant("x"), user("r"), assistant("y"), user("s"), user("t")), 4),
        ((user("q"), assistant("theirs")), 2),
    ],
)
def test_what_follows_the_last_answer_is_new_to_a_conversation_that_begins(
    incoming: tuple[Message, ...], new_from: int
) -> None:
    assert opening(incoming) == Extends(new_from)
    assert exact(History(), incoming) == Extends(new_from)
    assert tolerant(History(), incoming, known=True) is None


# Evidence.

Q1, A1, Q2, A2 = user("q1"), assistant("a1"), user("q2"), assistant("a2")
Q3, OTHER = user("q3"), user("other")
FAILED = Fail(1, Failure("AgentFailed", "it fell over"))


def first_exchange(*events: Input) -> History:
    history = History()
    history.apply(Ask(1, (Q1,), Extends(0)))
    for event in events:
        history.apply(event)
    return history


def says(turn: int, *parts: Part | str) -> Emit:
    return Emit(turn, [TextPart(part) if isinstance(part, str) else part for part in parts])


SAID = says(1, "a1")


def second_exchange(*events: Input) -> History:
    history = first_exchange(SAID, Finish(1))
    history.apply(Ask(2, (Q1, A1, Q2), Extends(2)))
    for event in events:
        history.apply(event)
    return history


SAID_2 = says(2, "a2")
FAILED_2 = Fail(2, Failure("AgentFailed", "it fell over"))


@pytest.mark.parametrize("history", [first_exchange(), first_exchange(SAID)])
@pytest.mark.parametrize("asks", [Asks(), KEEP, CANCELS])
def test_the_same_first_request_while_the_first_is_open_is_another_window(
    history: History, asks: Asks
) -> None:
    assert exact(history, (Q1,), asks=asks) is None
    assert exact(history, (OTHER,), asks=asks) is None
    assert exact(history, (OTHER, A1, Q2), asks=asks) is None


CUT_SHORT = [
    first_exchange(Finish(1)),
    first_exchange(SAID, Cancel(1)),
    first_exchange(Cancel(1)),
    first_exchange(SAID, FAILED),
    first_exchange(FAILED),
]


@pytest.mark.parametrize("history", CUT_SHORT)
def test_the_same_first_request_after_the_first_was_cut_short_is_a_retry(history: History) -> None:
    assert exact(history, (Q1,)) == Supersedes(0)


def test_the_same_first_request_after_a_complete_answer_branches_off() -> None:
    """The answer stays valid, and the user may come back to it; or it was another window's."""
    history = first_exchange(SAID, Finish(1))
    assert exact(history, (Q1,)) == Diverges(0, 0, again=True)
    assert exact(history, (Q1,), asks=CANCELS) == Diverges(0, 0, again=True)


def test_who_wants_one_session_whatever_was_withdrawn_gets_no_branch() -> None:
    assert exact(first_exchange(SAID, Finish(1)), (Q1,), asks=KEEP) == Supersedes(0)
    history = second_exchange(SAID_2, Finish(2))
    assert exact(history, (Q1, A1, OTHER), asks=KEEP) == Supersedes(2)


def test_an_answer_that_waits_for_results_is_withdrawn_and_not_left_alone() -> None:
    """Nobody will come back to a call that the history forgot."""
    history = second_exchange(says(2, ToolCallPart("c1", "read", {})), Finish(2))
    assert exact(history, (Q1, A1, Q2)) == Supersedes(2)
    assert exact(history, (Q1, A1, OTHER)) == Supersedes(2)


@pytest.mark.parametrize("history", [first_exchange(), first_exchange(SAID, Finish(1))])
def test_an_edit_of_the_first_message_has_no_evidence(history: History) -> None:
    """It may as well be a new chat; taking it for one costs a session, not a turn."""
    assert exact(history, (OTHER,)) is None
    assert exact(history, ()) is None


@pytest.mark.parametrize(
    "history",
    [
        second_exchange(),
        second_exchange(SAID_2),
        second_exchange(SAID_2, Cancel(2)),
        second_exchange(FAILED_2),
        second_exchange(Finish(2)),
    ],
)
def test_a_shared_acknowledged_answer_is_evidence_also_while_it_streams(history: History) -> None:
    assert exact(history, (Q1, A1, Q2)) == Supersedes(2)
    assert exact(history, (Q1, A1, OTHER)) == Supersedes(2)
    assert exact(history, (Q1, A1, Q2, assistant("never said"), OTHER)) == Supersedes(2)


def test_a_complete_answer_is_left_as_a_branch_and_no_longer_superseded() -> None:
    """Going back to the earlier branch finds the session that is still there (DESIGN.md, 5)."""
    history = second_exchange(SAID_2, Finish(2))
    assert exact(history, (Q1, A1, Q2)) == Diverges(1, 2, again=True)
    assert exact(history, (Q1, A1, OTHER)) == Diverges(1, 2)
    assert exact(history, (Q1, A1, Q2, assistant("never said"), OTHER)) == Diverges(1, 2)


@pytest.mark.parametrize("history", [second_exchange(), second_exchange(SAID_2)])
def test_a_host_that_says_stop_still_wants_what_streams(history: History) -> None:
    """So who shares all that was acknowledged is a fork of the chat."""
    assert exact(history, (Q1, A1, Q2), asks=CANCELS) == Diverges(1, 2, again=True)
    assert exact(history, (Q1, A1, OTHER), asks=CANCELS) == Diverges(1, 2)
    history.apply(Cancel(2))
    assert exact(history, (Q1, A1, OTHER), asks=CANCELS) == Supersedes(2)


def test_going_back_behind_what_is_committed_is_no_supersession() -> None:
    """That is a branch, which `tolerant` finds: this one is left as it is."""
    history = second_exchange(SAID_2, Finish(2))
    assert exact(history, (Q1, A1)) is None
    assert exact(history, (OTHER,)) is None
    assert exact(history, (Q1,)) is None


@pytest.mark.parametrize("history", CUT_SHORT)
def test_an_answer_that_was_cut_short_may_be_left_out(history: History) -> None:
    """The question was asked all the same; where nothing was shown, it doesn't even take a rule."""
    rules = ABSENT if history.answer else frozenset[Rule]()
    assert exact(history, (Q1, Q2)) == Extends(1, rules)


def test_an_answer_that_is_complete_may_not_be_left_out() -> None:
    assert exact(first_exchange(SAID, Finish(1)), (Q1, Q2)) is None
    history = second_exchange(SAID_2, Finish(2))
    assert exact(history, (Q1, A1, Q2, OTHER)) == Diverges(1, 2)


def test_going_on_while_the_answer_streams_is_how_a_host_without_cancellation_stops_it() -> None:
    assert exact(first_exchange(SAID), (Q1, A1, Q2)) == Extends(2)
    assert exact(second_exchange(), (Q1, A1, Q2, OTHER)) == Extends(3)
    assert exact(second_exchange(SAID_2), (Q1, A1, Q2, OTHER)) == Extends(3, ABSENT)


def test_an_opening_is_no_supersession_where_it_was_committed_without_an_answer() -> None:
    """Found by a property of test_router_windows: a turn was stopped, with nothing to deliver."""
    history = first_exchange(Cancel(1))
    history.apply(Ask(2, (Q1, Q2), Extends(1)))
    assert exact(history, (Q1,)) is None


def test_a_question_that_was_committed_without_an_answer_is_no_evidence() -> None:
    history = first_exchange(Cancel(1))
    history.apply(Ask(2, (Q1, Q2), Extends(1)))
    assert exact(history, (Q1, OTHER)) is None
    assert exact(history, (Q1, Q2)) is None
    assert exact(history, (Q1, assistant("to the other window"), OTHER)) is None


@pytest.mark.parametrize("event", [Cancel(1), FAILED])
def test_an_answer_that_we_never_gave_is_not_one_that_was_left_out(event: Input) -> None:
    """Another window asked the same, and somebody else answered it, or we did before a reload."""
    history = first_exchange(SAID, event)
    assert exact(history, (Q1, assistant("never said"), Q2)) is None
    assert tolerant(history, (Q1, assistant("never said"), Q2)) is None


# In other words.

CONTEXT = "<context>\nMonday\n</context>\n"


def asks_for(text: str) -> Message:
    """A question as the host wraps it."""
    return user(f"{CONTEXT}<userRequest>\n{text}\n</userRequest>\n")


def wrapped(*endings: Ending) -> History:
    """A chat of wrapped questions and their answers, which the host keeps in its own words."""
    history = History()
    path: list[Message] = []
    for turn, ending in enumerate(endings, 1):
        path.append(asks_for(f"q{turn}"))
        history.apply(Ask(turn, tuple(path), Extends(len(history.shown))))
        history.apply(says(turn, f"a{turn}"))
        match ending:
            case Ending.COMPLETE:
                history.apply(Finish(turn))
            case Ending.CANCELLED:
                history.apply(Cancel(turn))
            case _:
                pass
        path.append(assistant(f"a{turn}"))
    return history


COMPLETE, CANCELLED, OPEN = Ending.COMPLETE, Ending.CANCELLED, Ending.OPEN
REQUEST_ONLY = frozenset({Rule.REQUEST_ONLY})


def test_what_goes_on_in_other_words_extends_and_names_the_rule() -> None:
    history = wrapped(COMPLETE, COMPLETE)
    assert exact(history, (Q1, A1, Q2, A2, Q3)) is None
    assert tolerant(history, (Q1, A1, Q2, A2, Q3)) == Extends(4, REQUEST_ONLY)


def test_what_goes_on_is_an_extension_also_where_it_repeats_a_cut_answer_no_more() -> None:
    history = wrapped(COMPLETE, CANCELLED)
    assert tolerant(history, (Q1, A1, Q2, Q3)) == Extends(3, REQUEST_ONLY | ABSENT)


def test_a_first_answer_that_streams_is_taken_over_only_by_who_repeats_it() -> None:
    """As far as it has come; whoever says nothing of it may be another window."""
    assert tolerant(wrapped(OPEN), (Q1, A1, Q2)) == Extends(2, REQUEST_ONLY)
    assert tolerant(wrapped(OPEN), (Q1, Q2)) is None
    assert tolerant(wrapped(OPEN), (Q1, Q2), known=True) is None
    assert tolerant(wrapped(COMPLETE, OPEN), (Q1, A1, Q2, Q3)) == Extends(3, REQUEST_ONLY | ABSENT)


def second_in_other_words(*events: Input) -> History:
    """A chat of wrapped questions, to the second of which this happened."""
    history = wrapped(COMPLETE)
    history.apply(Ask(2, (asks_for("q1"), A1, asks_for("q2")), Extends(2)))
    for event in events:
        history.apply(event)
    return history


CALLED_2 = says(2, ToolCallPart("c2", "read", {}))
ANSWERED_BY_ANOTHER = Q1, A1, Q2, assistant("never said"), Q3


@pytest.mark.parametrize("said", [[], [says(2, "a2")]])
def test_a_turn_that_streams_is_not_gone_on_with_after_an_answer_that_we_never_gave(
    said: list[Input],
) -> None:
    """It is another chat's, that is further than ours, or another agent's."""
    history = second_in_other_words(*said)
    rules = REQUEST_ONLY | (ABSENT if said else frozenset[Rule]())
    assert tolerant(history, ANSWERED_BY_ANOTHER) == Supersedes(2, rules)
    assert tolerant(history, ANSWERED_BY_ANOTHER, asks=CANCELS) == Diverges(1, 2, rules=rules)


def test_nor_is_a_turn_that_waits_for_results() -> None:
    history = second_in_other_words(CALLED_2, Finish(2))
    rules = REQUEST_ONLY | {Rule.CALLS_DROPPED}
    assert tolerant(history, ANSWERED_BY_ANOTHER) == Supersedes(2, rules)


@pytest.mark.parametrize("said", [[], [says(2, "a2")], [CALLED_2]])
@pytest.mark.parametrize("event", [Cancel(2), FAILED_2])
def test_a_turn_that_ended_too_early_may_be_answered_by_another(
    said: list[Input], event: Input
) -> None:
    """By another agent, which was asked when ours had failed; then both go on."""
    history = second_in_other_words(*said, event)
    rules = REQUEST_ONLY | (ABSENT if said else frozenset[Rule]())
    assert tolerant(history, ANSWERED_BY_ANOTHER) == Extends(3, rules)


def test_an_answer_after_ours_is_new() -> None:
    history = wrapped(COMPLETE, COMPLETE)
    theirs = (Q1, A1, Q2, A2, assistant("said by another"), Q3)
    assert tolerant(history, theirs) == Extends(4, REQUEST_ONLY)


def test_an_answer_after_ours_that_waits_is_new_too() -> None:
    """It came in two pieces, and the first one is ours."""
    history = second_in_other_words(CALLED_2, Finish(2))
    assert history.answer is not None
    theirs = (Q1, A1, Q2, history.answer, assistant("said by another"), Q3)
    assert tolerant(history, theirs) == Extends(4, REQUEST_ONLY)


def test_the_newest_question_again_in_other_words_is_a_retry() -> None:
    match = tolerant(wrapped(COMPLETE, CANCELLED), (Q1, A1, Q2))
    assert match == Supersedes(2, REQUEST_ONLY | ABSENT)
    match = tolerant(wrapped(COMPLETE, COMPLETE), (Q1, A1, Q2))
    assert match == Diverges(1, 2, again=True, rules=REQUEST_ONLY)
    match = tolerant(wrapped(COMPLETE, COMPLETE), (Q1, A1, Q2), asks=KEEP)
    assert match == Supersedes(2, REQUEST_ONLY)


def test_another_question_after_the_same_words_is_an_edit_of_the_newest() -> None:
    match = tolerant(wrapped(COMPLETE, CANCELLED), (Q1, A1, OTHER))
    assert match == Supersedes(2, REQUEST_ONLY)
    match = tolerant(wrapped(COMPLETE, COMPLETE), (Q1, A1, OTHER))
    assert match == Diverges(1, 2, rules=REQUEST_ONLY)


def test_leaving_a_conversation_earlier_says_where() -> None:
    history = wrapped(COMPLETE, COMPLETE, COMPLETE)
    match = tolerant(history, (Q1, A1, OTHER))
    assert match == Diverges(1, 2, rules=REQUEST_ONLY)
    match = tolerant(history, (Q1, A1, Q2))
    assert match == Diverges(1, 2, again=True, rules=REQUEST_ONLY)


def test_an_edit_of_the_first_message_is_a_branch_where_the_host_says_whose_it_is() -> None:
    """It shares nothing but the facts about the machine, so only the host can know."""
    facts = user("<environment_info>\nLinux\n</environment_info>")
    history = History()
    history.apply(Ask(1, (facts, Q1), Extends(0)))
    history.apply(SAID)
    history.apply(Finish(1))
    history.apply(Ask(2, (facts, Q1, A1, Q2), Extends(3)))
    assert tolerant(history, (facts, OTHER), known=True) == Diverges(0, 0)
    assert tolerant(history, (facts, OTHER)) is None


def test_what_ends_where_we_were_asks_nothing() -> None:
    history = wrapped(COMPLETE, COMPLETE, COMPLETE)
    assert tolerant(history, (Q1, A1)) is None
    assert tolerant(history, (Q1, A1, Q2, A2)) is None


def test_the_very_end_as_it_was_shown_is_an_extension_by_nothing() -> None:
    assert tolerant(wrapped(COMPLETE), (Q1, A1)) == Extends(2, REQUEST_ONLY)


def test_results_as_they_were_are_a_retry_of_the_turn_that_they_feed() -> None:
    history = first_exchange(says(1, ToolCallPart("c1", "read", {})), Finish(1))
    called = Message.of("assistant", [ToolCallPart("c1", "read", {})])
    result = Message.of("user", [ToolResultPart("c1", "text")])
    history.apply(Ask(2, (Q1, called, result), Extends(2)))
    history.apply(FAILED_2)
    again = (asks_for("q1"), called, result)
    assert tolerant(history, again) == Supersedes(2, REQUEST_ONLY)


def test_that_the_host_knows_it_is_no_proof_if_nothing_came_back() -> None:
    history = wrapped(COMPLETE)
    assert tolerant(wrapped(COMPLETE, COMPLETE), (OTHER,), known=True) is None
    assert tolerant(history, (OTHER,), known=True) is None
    assert tolerant(history, (), known=True) is None
    assert tolerant(history, (Q1, assistant("never said"), Q2), known=True) is None


def test_a_summary_alone_asks_nothing_that_could_be_told() -> None:
    """What was asked is in it: it is told to a new session. (It once was an IndexError.)"""
    summary = user("<conversation-summary>\nThey said q1.\n</conversation-summary>")
    assert tolerant(wrapped(COMPLETE, COMPLETE), (summary,), known=True) is None
    assert tolerant(wrapped(COMPLETE, CANCELLED), (summary,), known=True) is None
    assert tolerant(wrapped(COMPLETE, OPEN), (summary,), known=True) is None
    branch = Diverges(0, 0, again=True, rules=frozenset({Rule.SUMMARY}))
    assert tolerant(wrapped(COMPLETE), (summary,), known=True) == branch


def test_a_summary_and_a_question_go_on_where_the_host_says_whose_they_are() -> None:
    summary = user("<conversation-summary>\nThey said q1.\n</conversation-summary>")
    history = wrapped(COMPLETE, COMPLETE)
    expected = Extends(1, frozenset({Rule.SUMMARY}))
    assert tolerant(history, (summary, Q3), known=True) == expected
    assert tolerant(history, (summary, Q3)) is None
