"""Long chats, and messages of many pieces, take a time that grows as they do."""

from __future__ import annotations

import attrs
import pytest

from agents.acp.render.plans import PlanView
from agents.acp.schema.plans import PlanEntry
from agents.host_context import spans
from agents.open_responses.request.messages import convert_messages
from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from bridge.routing.align import MOST_SUMMARIES, SUMMARY_TAG, align, items_of
from bridge.routing.own_words import MOST_TRIED, without_own_words
from bridge.wire import ChatMessage, TextPart, ToolCallPart, ToolResultPart
from bridge.work import done
from tests.growth import assert_linear
from tests.strategies import assistant, user


def test_blocks_that_close_within_a_line_take_linear_time() -> None:
    block = '<attachment id="a">x</attachment>\n'
    assert_linear(lambda count: block * count, spans, 4_000)


def test_plans_take_linear_time() -> None:
    def show(count: int) -> None:
        view = PlanView()
        for name in "ab":
            view.show([PlanEntry(f"{name}{number}", "pending") for number in range(count)])

    assert_linear(lambda count: count, show, 500)


def test_calls_take_linear_time_also_with_one_id() -> None:
    def calls(count: int) -> list[ChatMessage]:
        each = [ToolCallPart(f"c{number}", "look", {}) for number in range(count)]
        same = [ToolCallPart(prefix, "look", {}) for prefix in ("c", "gw-c") for _ in range(count)]
        return [ChatMessage("assistant", (*each, *same))]

    assert_linear(calls, convert_messages, 1_000)


def test_answers_are_found_in_linear_time() -> None:
    def told(count: int) -> None:
        answers = [assistant(f"answer {number}") for number in range(count)]
        messages = [ChatMessage("assistant", (TextPart(f"other {n}"),)) for n in range(count)]
        done(without_own_words(messages, answers))

    assert_linear(lambda count: count, told, 500)


def calling(number: int) -> Message:
    return Message.of("assistant", [ToolCallPart(f"c{number}", "look", {})])


def results_of(number: int) -> Message:
    return Message.of("user", [ToolResultPart(f"c{number - 1}", "found")])


def test_pruned_rounds_take_linear_time() -> None:
    def pruned(count: int) -> None:
        rounds = [
            Exchange((results_of(n),) if n else (user("go"),), calling(n), Ending.COMPLETE)
            for n in range(count)
        ]
        record = items_of(
            [*rounds, Exchange((results_of(count),), assistant("done"), Ending.COMPLETE)]
        )
        found = align(record, [user("go"), assistant("done"), user("more")])
        assert found.recorded == len(record)

    assert_linear(lambda count: count, pruned, 300)


def test_summaries_take_linear_time() -> None:
    def summed(count: int) -> None:
        record = items_of([Exchange((user(f"q{n}"),), assistant(f"a{n}")) for n in range(count)])
        incoming = [
            message
            for n in range(count)
            for message in (user(f"{SUMMARY_TAG}x"), user(f"q{n}"), assistant(f"a{n}"))
        ]
        align(record, incoming)

    assert_linear(lambda count: count, summed, 300)


@pytest.mark.limit("bridge.routing.align.MOST_SUMMARIES")
def test_so_many_summaries_stand_for_what_is_missing() -> None:
    record = items_of([Exchange((user(f"q{n}"),), assistant(f"a{n}")) for n in range(100)])
    for more, is_whole in ((0, True), (1, False)):
        known = range(MOST_SUMMARIES - 1 + more)
        incoming = [
            message
            for n in (*known, 99)
            for message in (user(f"{SUMMARY_TAG}x"), user(f"q{n}"), assistant(f"a{n}"))
        ]
        assert (align(record, incoming).recorded == len(record)) is is_whole


@pytest.mark.limit("bridge.routing.own_words.MOST_TRIED")
def test_so_many_answers_are_tried_as_the_whole_of_a_beginning() -> None:
    for others, is_found in ((MOST_TRIED - 1, True), (MOST_TRIED, False)):
        answers = [assistant(f"other {n}") for n in range(others)]
        own = attrs.evolve(assistant("agent OURS"), own=((5, 10),))
        (told,) = done(
            without_own_words([ChatMessage("assistant", (TextPart("agent OUR"),))], [*answers, own])
        )
        assert (told.content == (TextPart("agent"),)) is is_found
