"""Each text once, and each call once, whatever is dropped, doubled, renamed and moved."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.events import Break, Say

from .hearing import JSON, Heard, hear
from .losses import silently_lost
from .mutations import MUTATIONS, Mutation, knows_calls, knows_texts, mutate, taken
from .script import Call, Message, Piece, Script, Thought

words = st.text("abc \n\u00e4\U0001f600.", min_size=1, max_size=4)


@st.composite
def deltas(draw: st.DrawFn) -> list[str]:
    return draw(st.lists(words, min_size=1, max_size=4))


@st.composite
def pieces(draw: st.DrawFn) -> list[Piece]:
    """Draw what a response has; no two texts are equal, which is how one is told from another."""
    is_summary = draw(st.booleans())
    drawn: list[Piece] = []
    for number in range(draw(st.integers(1, 4))):
        match draw(st.sampled_from(["message", "refusal", "thought", "call", "call"])):
            case "call":
                value = draw(st.dictionaries(words, words, max_size=2))
                text = json.dumps(value) if value else draw(st.sampled_from(["{}", ""]))
                cut = draw(st.integers(0, len(text)))
                bits = [bit for bit in (text[:cut], text[cut:]) if bit]
                drawn.append(Call(draw(st.sampled_from(["look", "go"])), bits, f"call_{number}"))
            case "thought":
                parts = [
                    [f"<{number}{n}>", *draw(deltas())] for n in range(draw(st.integers(1, 2)))
                ]
                drawn.append(Thought(parts, is_summary))
            case kind:
                parts = [
                    [f"<{number}{n}>", *draw(deltas())] for n in range(draw(st.integers(1, 2)))
                ]
                drawn.append(Message(parts, "refusal" if kind == "refusal" else "output_text"))
    return drawn


def texts_of(drawn: list[Piece], kind: type[Message | Thought]) -> str:
    """Return what is told in all messages, or thoughts, as one text."""
    found = [piece for piece in drawn if isinstance(piece, kind)]
    return "".join("".join(bits) for piece in found for bits in piece.parts)


def told(drawn: list[Piece]) -> list[JSON]:
    script = Script()
    script.begin()
    script.tell(drawn)
    return script.complete()


def sort(calls: list[tuple[str, Any]]) -> list[str]:
    return sorted(json.dumps(one, sort_keys=True) for one in calls)


def assert_calls_once(heard: Heard, drawn: list[Piece]) -> None:
    calls = [(c.name, c.parameters) for c in drawn if isinstance(c, Call)]
    assert sort(heard.calls) == sort(calls)
    assert len(set(heard.call_ids)) == len(heard.call_ids)


def assert_once(heard: Heard, drawn: list[Piece]) -> None:
    assert_calls_once(heard, drawn)
    assert heard.text == texts_of(drawn, Message)
    assert heard.thought.replace("\n\n", "") == texts_of(drawn, Thought).replace("\n\n", "")


def is_known(drawn: list[Piece], mutations: list[Mutation]) -> bool:
    """Tell whether all that was drawn can still be told from the stream."""
    has_empty = any(isinstance(piece, Call) and not piece.arguments for piece in drawn)
    if not knows_texts(mutations) or not knows_calls(mutations, has_empty=has_empty):
        return False
    gone = taken(mutations)
    return not ({"index", "ids"} <= gone)


def named(*names: str) -> list[Mutation]:
    return [one for one in MUTATIONS if one.name in names]


@given(pieces(), st.lists(st.sampled_from(MUTATIONS), max_size=4, unique_by=str))
@example([Call("look", [], "call_0")], named("doubled items", "other call ids at the end"))
def test_each_text_and_each_call_is_told_once(
    drawn: list[Piece], mutations: list[Mutation]
) -> None:
    heard = hear(mutate(told(drawn), mutations))
    if is_known(drawn, mutations):
        assert_once(heard, drawn)
    elif not {"items", "final"} <= taken(mutations):
        assert_calls_once(heard, drawn)


@st.composite
def parallel_calls(draw: st.DrawFn) -> list[Call]:
    """Draw calls that are told at the same time."""
    calls: list[Call] = []
    for number in range(draw(st.integers(2, 4))):
        value = draw(st.dictionaries(words, words, max_size=2))
        text = json.dumps(value) if value else draw(st.sampled_from(["{}", ""]))
        cut = draw(st.integers(0, len(text)))
        bits = [bit for bit in (text[:cut], text[cut:]) if bit]
        calls.append(Call(draw(st.sampled_from(["look", "go"])), bits, f"call_{number}"))
    return calls


NO_KEYS = ("no output index", "no item id", "item before its end")
BETWEEN = [Call("look", [], "call_0"), Call("look", ['{"a"', ':"a"}'], "call_1")]


@given(parallel_calls(), st.lists(st.sampled_from(MUTATIONS), max_size=4, unique_by=str))
@example([*BETWEEN, Call("look", [], "call_2")], named(*NO_KEYS))
@example([*BETWEEN, Call("look", ["{}"], "call_2")], named(*NO_KEYS))
@example([Call("look", ['{"a":"', '"}'], "call_0"), Call("go", ["{}"], "call_1")], named(*NO_KEYS))
def test_calls_at_the_same_time_are_told_once_as_long_as_items_tell_them(
    drawn: list[Call], mutations: list[Mutation]
) -> None:
    """Even where no event of their arguments has a key."""
    written = Script()
    written.begin()
    written.tell_calls(drawn)
    heard = hear(mutate(written.complete(), mutations))
    if not {"items", "final"} <= taken(mutations):
        assert_calls_once(heard, [*drawn])


@given(pieces(), st.lists(st.sampled_from(MUTATIONS), max_size=4, unique_by=str))
def test_whatever_is_lost_no_call_is_told_twice_or_made_up_or_lost_without_a_word(
    drawn: list[Piece], mutations: list[Mutation]
) -> None:
    events = mutate(told(drawn), mutations)
    heard = hear(events)
    left = sort([(c.name, c.parameters) for c in drawn if isinstance(c, Call)])
    for call in sort(heard.calls):
        left.remove(call)
    assert len(set(heard.call_ids)) == len(heard.call_ids)
    assert not silently_lost(heard, events)


@given(pieces(), st.lists(st.sampled_from(MUTATIONS), max_size=2, unique_by=str), st.data())
def test_a_stream_that_is_cut_says_the_beginning_and_fails(
    drawn: list[Piece], mutations: list[Mutation], data: st.DataObject
) -> None:
    events = mutate(told(drawn), mutations)
    end = next(n for n, event in enumerate(events) if event["type"] == "response.completed")
    heard = hear(events[: data.draw(st.integers(0, end))])
    if isinstance(heard.end, Break):
        assert heard.outcome.fault is not None
        assert heard.outcome.fault.code == "stream_ended_early"
        assert heard.outcome.fault.is_retryable
    else:  # it was cut behind an item, so nothing shows that it was cut
        assert not heard.outcome.can_be_continued
        assert heard.text or heard.calls
    shows_tool = any(isinstance(one, Say) and one.by_us for one in heard.events)
    has_said = bool(heard.text or heard.thought or heard.calls)
    assert heard.outcome.has_emitted == (has_said or shows_tool)
    left = sort([(c.name, c.parameters) for c in drawn if isinstance(c, Call)])
    for call in sort(heard.calls):
        left.remove(call)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_every_mutation_changes_a_stream(mutation: Mutation) -> None:
    """What changes nothing shows nothing."""
    drawn: list[Piece] = [
        Thought([["hm", "m"]]),
        Message([["a", "b"], ["c", "d"]]),
        Call("look", ['{"a":', '1,"b":2}'], "call_1"),
    ]
    assert mutate(told(drawn), [mutation]) != told(drawn)
    assert_once(hear(mutate(told(drawn), [mutation])), drawn)
