"""Recognising a conversation in other words: never more than there is, whatever there is."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.exchange import Ending, Exchange
from bridge.history.machine import History
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.routing.align import (
    Alignment,
    RecordedMessage,
    align,
    is_summary,
    items_of,
    plain,
    same,
    says_nothing,
)
from bridge.wire import ToolCallPart, ToolResultPart
from tests.growth import assert_linear
from tests.strategies import any_messages, assistant, exchanges, histories, odd_messages, user

Q1, Q2, A1, A2 = user("q1"), user("q2"), assistant("a1"), assistant("a2")
UNFINISHED = {Ending.CANCELLED, Ending.FAILED, Ending.EMPTY, Ending.OPEN}
PREAMBLES = odd_messages.filter(says_nothing)

records = st.lists(exchanges, max_size=4)
requests = st.lists(odd_messages | any_messages, max_size=6)


def as_shown(history: History) -> list[Exchange]:
    newest = history.provisional
    shown = [Exchange(newest.asked, history.answer, newest.ending)] if newest else []
    return [*history.committed, *shown]


def answers_in(messages: Sequence[Message]) -> int:
    return sum(message.role == "assistant" for message in messages)


# A faithful echo.


@given(histories(), st.lists(any_messages, max_size=2))
def test_a_faithful_echo_needs_no_rule_and_proves_itself(
    history: History, new: list[Message]
) -> None:
    items = items_of(as_shown(history))
    shown = history.shown
    assert [item.message for item in items] == shown
    found = align(items, [*shown, *new])
    assert (found.recorded, found.consumed) == (len(items), len(shown))
    assert found.rules == frozenset()
    assert found.proof == answers_in(shown)


@given(records, st.lists(any_messages, max_size=2))
def test_whatever_was_said_its_echo_needs_no_rule(
    record: list[Exchange], new: list[Message]
) -> None:
    items = items_of(record)
    echo = [item.message for item in items]
    found = align(items, [*echo, *new])
    assert (found.recorded, found.consumed, found.rules) == (len(items), len(echo), frozenset())


@given(histories())
def test_the_beginnings_of_exchanges_are_where_they_stand(history: History) -> None:
    record = as_shown(history)
    expected: list[int] = []
    position = 0
    for exchange in record:
        expected.append(position)
        position += len(exchange.asked) + (exchange.answer is not None)
    assert list(align(items_of(record), history.shown).starts) == expected


# Anything else.


def may_be_missing(items: Sequence[RecordedMessage], at: int) -> set[Rule]:
    """By which rules a step of the record may be missing, told step by step and generously."""
    item = items[at]
    message = item.message
    unfinished = item.ending in UNFINISHED
    rules = {Rule.SUMMARY}
    if unfinished and item.is_answer:
        rules |= {Rule.ANSWER_ABSENT}
    if unfinished and item.exchange < items[-1].exchange:
        rules |= {Rule.TURN_ABSENT}
    if message.role == "user" and says_nothing(message) and not item.is_answer:
        rules |= {Rule.PREAMBLE}
    if message.calls and item.is_answer:
        later = {result for one in items[at + 1 :] for result in one.message.results}
        answered = later & {call.call_id for call in message.calls}
        rules |= {Rule.ROUND_PRUNED} if answered else {Rule.CALLS_DROPPED}
    if message.results:
        rules |= {Rule.ROUND_PRUNED, Rule.RESULTS_REGROUPED}
    return rules


def may_be_extra(message: Message) -> set[Rule]:
    """By which rules a step of the request may be more than what is on record."""
    rules: set[Rule] = set()
    if says_nothing(message):
        rules |= {Rule.PREAMBLE, Rule.SUMMARY}
    if is_summary(message):
        rules |= {Rule.SUMMARY}
    if message.results:
        rules |= {Rule.RESULTS_REGROUPED}
    return rules


def is_accounted_for(
    items: Sequence[RecordedMessage], incoming: Sequence[Message], found: Alignment
) -> bool:
    """Whether, by the rules that are named, each step is matched, or missing, or extra.

    All ways are tried, so this says what may be; `align` has to have found one of them.
    """
    ways = {(0, 0)}
    for at in range(found.recorded + 1):
        for to in range(found.consumed + 1):
            if (at, to) not in ways:
                continue
            if at < found.recorded and may_be_missing(items, at) & found.rules:
                ways.add((at + 1, to))
            if to < found.consumed and may_be_extra(incoming[to]) & found.rules:
                ways.add((at, to + 1))
            if at < found.recorded and to < found.consumed:
                rule = same(items[at], incoming[to])
                if rule is True or rule in found.rules:
                    ways.add((at + 1, to + 1))
    return (found.recorded, found.consumed) in ways


@given(records, requests)
def test_aligning_never_claims_more_than_there_is(
    record: list[Exchange], incoming: list[Message]
) -> None:
    """What isn't new is matched, or named by a rule. It is total, too: nothing raises."""
    items = items_of(record)
    found = align(items, incoming)
    assert 0 <= found.recorded <= len(items)
    assert 0 <= found.consumed <= len(incoming)
    assert is_accounted_for(items, incoming, found)
    assert 0 <= found.proof <= answers_in(incoming[: found.consumed])
    assert found.proof <= sum(item.is_answer for item in items[: found.recorded])
    assert list(found.starts) == sorted(found.starts)
    assert all(0 <= start <= found.consumed for start in found.starts)
    if not found.rules:
        assert found.recorded == found.consumed
        assert [item.message for item in items[: found.recorded]] == incoming[: found.consumed]


@given(records, requests)
def test_the_beginning_of_each_exchange_that_was_reached_is_known(
    record: list[Exchange], incoming: list[Message]
) -> None:
    """Also of one that a summary swallowed: callers ask where the last one begins."""
    items = items_of(record)
    found = align(items, incoming)
    reached = items[: found.recorded + 1]
    assert len(found.starts) == (reached[-1].exchange + 1 if reached else 0)


@given(records, st.data())
def test_what_a_host_does_to_its_own_words_is_followed(
    record: list[Exchange], data: st.DataObject
) -> None:
    """Its facts come and go anywhere, and no more than them is lost."""
    items = items_of(record)
    incoming: list[Message] = []
    for item in items:
        incoming += data.draw(st.lists(PREAMBLES.filter(lambda m: not is_summary(m)), max_size=1))
        incoming.append(item.message)
    if any(is_summary(item.message) or says_nothing(item.message) for item in items):
        return
    found = align(items, incoming)
    assert (found.recorded, found.consumed) == (len(items), len(incoming))
    assert found.rules <= {Rule.PREAMBLE}


@given(st.lists(st.tuples(any_messages, any_messages), max_size=6))
def test_a_request_that_shares_nothing_proves_nothing(
    pairs: list[tuple[Message, Message]],
) -> None:
    ours = [user(f"ours {number} {message.text}") for number, (message, _) in enumerate(pairs)]
    record = [Exchange((one,), assistant(f"answer to {one.text}"), Ending.COMPLETE) for one in ours]
    incoming = [theirs for _, theirs in pairs if not is_summary(theirs)]
    assert align(items_of(record), incoming).proof == 0


# What is the same.


@given(any_messages, st.sampled_from(Ending), st.booleans())
def test_a_message_is_the_same_as_itself_without_a_rule(
    message: Message, ending: Ending, is_answer: bool
) -> None:
    assert same(RecordedMessage(message, 0, is_answer, ending), message) is True


@given(any_messages, any_messages, st.sampled_from(Ending))
def test_roles_and_names_are_never_confused(ours: Message, theirs: Message, ending: Ending) -> None:
    if (ours.role, ours.name) != (theirs.role, theirs.name):
        assert same(RecordedMessage(ours, 0, False, ending), theirs) is None


def test_nothing_said_is_no_request_that_both_share() -> None:
    facts, others = user("<environment_info>a"), user("<environment_info>b")
    assert same(RecordedMessage(facts, 0, False, Ending.COMPLETE), others) is None


# The steps of a record.


def test_a_record_is_its_messages_in_order_and_each_knows_its_exchange() -> None:
    record = [
        Exchange((Q1, Q2), A1, Ending.COMPLETE),
        Exchange((), A2, Ending.CANCELLED),
        Exchange((Q1,), None, Ending.EMPTY),
        Exchange((), None, Ending.EMPTY),
    ]
    assert items_of(record) == [
        RecordedMessage(Q1, 0, False, Ending.COMPLETE),
        RecordedMessage(Q2, 0, False, Ending.COMPLETE),
        RecordedMessage(A1, 0, True, Ending.COMPLETE),
        RecordedMessage(A2, 1, True, Ending.CANCELLED),
        RecordedMessage(Q1, 2, False, Ending.EMPTY),
    ]
    assert items_of([]) == []


def test_nothing_is_aligned_with_nothing() -> None:
    assert align([], []) == Alignment(0, 0, (), 0, frozenset())
    assert align([], [Q1]) == Alignment(0, 0, (), 0, frozenset())
    assert align(items_of([Exchange((Q1,), A1)]), []) == Alignment(0, 0, (0,), 0, frozenset())


def test_it_stops_where_the_two_part() -> None:
    record = [Exchange((Q1,), A1, Ending.COMPLETE), Exchange((Q2,), A2, Ending.COMPLETE)]
    found = align(items_of(record), [Q1, A1, user("other")])
    assert found == Alignment(2, 2, (0, 2), 1, frozenset())


# Its cost.


@pytest.mark.parametrize("rounds", [1, 128])
def test_a_long_run_of_results_is_followed_as_far_as_hosts_go(rounds: int) -> None:
    ids = [f"c{number}" for number in range(rounds)]
    calls = Message.of("assistant", [ToolCallPart(one, "t", {}) for one in ids])
    together = Message.of("user", [ToolResultPart(one) for one in ids])
    apart = [Message.of("user", [ToolResultPart(one)]) for one in ids]
    record = [
        Exchange((Q1,), calls, Ending.COMPLETE),
        Exchange((together,), A1, Ending.COMPLETE),
    ]
    found = align(items_of(record), [Q1, calls, *apart, A1])
    assert (found.recorded, found.consumed, found.proof) == (4, rounds + 3, 2)


# Texts.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a b", "a b"),
        ("a \n\n", "a"),
        (" a", " a"),
        ("[a](b)", "a"),
        ("[`a`](b) and [c](d#L1-L2)", "a and c"),
        ("[a] (b)", "[a] (b)"),
        ("`[a](b)`", "`a`"),
        ("[](b)", ""),
        ("[a](", "[a]("),
    ],
)
def test_a_text_is_plain_when_each_link_is_its_label(text: str, expected: str) -> None:
    assert plain(text) == expected


# What `plain` says in linear time: in a pattern, each bracket would be searched for its end.
_LINK = re.compile(r"\[`?([^\]`]*)`?\]\([^)]*\)")


@given(
    st.lists(st.sampled_from(["[", "]", "](", "(", ")", "`", "a", "\n"]), max_size=30).map("".join)
)
def test_a_link_is_what_the_pattern_says(text: str) -> None:
    assert plain(text) == _LINK.sub(r"\1", text).rstrip()


@pytest.mark.parametrize("piece", ["[", "](", "[a](", "[`", "[a]", "`](", "[](b)"])
def test_a_text_is_plain_in_linear_time(piece: str) -> None:
    assert_linear(lambda count: piece * count, plain, 20_000)


@given(st.text("[]()`a \n"))
def test_plain_text_is_never_longer(text: str) -> None:
    assert len(plain(text)) <= len(text)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (user("<conversation-summary>x"), True),
        (user("\n <conversation-summary>\nx"), True),
        (user("x <conversation-summary>"), False),
        (assistant("<conversation-summary>x"), False),
    ],
)
def test_a_summary_is_a_users_message_that_begins_with_the_tag(
    message: Message, expected: bool
) -> None:
    assert is_summary(message) is expected


def dated(minute: int, text: str) -> Message:
    """Return a question as the Agent Host writes it."""
    return user(f"<current_datetime>2026-11-26T10:{minute:02}:00Z</current_datetime>\n\n{text}")


@pytest.mark.parametrize("first", [True, False])
def test_the_message_behind_a_summary_is_found_by_its_exact_words_first(first: bool) -> None:
    """The user asked the same twice; only the dates tell which question stands there."""
    record = items_of(
        [Exchange((dated(minute, "go"),), assistant(f"a{minute}")) for minute in (1, 2, 3)]
    )
    there = 2 if first else 3
    summary = user("<conversation-summary>It began.</conversation-summary>")
    incoming = [summary, dated(there, "go"), assistant(f"a{there}"), dated(4, "hi")]
    found = align(record, incoming)
    assert (found.recorded, found.consumed) == (2 * there, 3)
    assert found.proof == 1


@pytest.mark.parametrize("repeats_it", [True, False])
def test_an_answer_behind_a_summary_that_is_said_twice_is_found_by_what_follows(
    repeats_it: bool,
) -> None:
    """The last message is asked now, so it doesn't tell where the answer stands."""
    turns = [("hi", "ok"), ("go", "ok"), ("more", "a3")]
    record = items_of([Exchange((user(asked),), assistant(said)) for asked, said in turns])
    summary = user("<conversation-summary>It began.</conversation-summary>")
    behind = [assistant("ok"), user("go"), *([assistant("ok"), user("new")] if repeats_it else [])]
    found = align(record[:4], [summary, *behind])
    assert found.recorded == 4
    assert found.consumed == (4 if repeats_it else 2)
