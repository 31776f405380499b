"""What is missing of a text, by what was said of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.open_responses.stream.passage import MOST_PARTS, Passage, PassagePart, Texts
from agents.open_responses.stream.text_parts import MOST_TRIED, Passages
from tests.growth import assert_linear


def rest(passages: Passages, item_id: str | None, index: int | None, texts: Texts) -> str:
    passage = passages.finished(item_id, index, texts)
    return "".join(text for _, text in passages.finish(passage, texts))


@given(st.lists(st.text()), st.text())
def test_what_is_missing_is_what_follows_what_was_said(said: list[str], more: str) -> None:
    part = PassagePart(Passage())
    for text in said:
        part.add(text)
    assert part.rest_of("".join(said) + more) == more


@given(st.text(min_size=1), st.text())
def test_another_text_is_told_from_what_was_said(said: str, other: str) -> None:
    part = PassagePart(Passage())
    part.add(said)
    if not other.startswith(said):
        assert part.rest_of(other) is None


@given(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=3)), max_size=8), st.booleans())
def test_deltas_and_the_wholes_say_everything_once(
    deltas: list[tuple[int, str]], has_wholes: bool
) -> None:
    passages = Passages()
    deltas = [*((place, f"<{place}") for place in range(4)), *deltas]
    said = [passages.add("a", 0, place, text) for place, text in deltas]
    assert said == [text for _, text in deltas]
    whole = [
        (place, "".join(text for at, text in deltas if at == place) + "!") for place in range(4)
    ]
    if has_wholes:
        said += [passages.complete("a", 0, place, text) for place, text in whole]
    said.append(rest(passages, "a", 0, whole))
    assert sorted("".join(said)) == sorted("".join(text for _, text in whole))
    assert rest(passages, "a", 0, whole) == ""


def test_a_beginning_that_is_told_again_under_another_id_changes_nothing() -> None:
    passages = Passages()
    passages.open("a", 0)
    passages.open("b", 0)
    assert passages.add("c", 0, 0, "x") == "x"
    assert rest(passages, "d", 0, [(0, "xy")]) == "y"


def test_an_item_that_was_announced_elsewhere_is_found_at_its_index() -> None:
    """Hugging Face gives the index 0 when it announces, and the right one later."""
    passages = Passages()
    passages.open("msg", 0)
    assert passages.add(None, 1, 0, "x") == "x"
    assert rest(passages, "msg", 1, [(0, "x")]) == ""


def test_two_items_that_only_come_whole_are_two() -> None:
    passages = Passages()
    assert rest(passages, "a", 0, [(0, "x")]) == "x"
    assert rest(passages, "b", 1, [(0, "x")]) == "x"


def test_an_announced_item_that_repeats_a_streamed_one_is_its_double() -> None:
    passages = Passages()
    passages.add("a", 0, 0, "x")
    assert rest(passages, "a", 0, [(0, "x")]) == ""
    passages.open("b", 1)
    assert rest(passages, "b", 1, [(0, "x")]) == ""
    passages.open("c", 2)
    assert rest(passages, "c", 2, [(0, "z")]) == "z"


def test_deltas_that_come_after_the_whole_were_said_with_it() -> None:
    passages = Passages()
    passages.add("a", 0, 0, "x")
    assert passages.complete("a", 0, 0, "xyz") == "yz"
    assert passages.add("a", 0, 0, "y") == ""
    assert passages.add("a", 0, 0, "z") == ""
    assert passages.add("a", 0, 0, "more") == ""


def test_a_new_part_may_begin_while_deltas_of_another_are_late() -> None:
    passages = Passages()
    assert passages.complete("a", 0, 0, "xyz") == "xyz"
    assert passages.add("a", 0, 1, "new") == "new"
    assert passages.add("a", 0, 0, "xyz") == ""


def test_without_keys_what_comes_after_a_whole_is_new_if_it_was_not_said_with_it() -> None:
    passages = Passages()
    assert passages.complete(None, None, None, "xy") == "xy"
    assert passages.add(None, None, None, "x") == ""
    assert passages.add(None, None, None, "z") == "z"


def test_places_that_count_up_are_one_text() -> None:
    """vLLM gave each delta, and each whole, a place of its own."""
    passages = Passages()
    for place, text in enumerate("abc"):
        passages.add("a", 0, place, text)
    assert passages.complete("a", 0, 7, "abcd") == "d"
    assert passages.complete("a", 0, 8, "abcd") == ""
    assert rest(passages, "a", 0, [(0, "abcd")]) == ""


def test_wholes_that_count_up_are_one_text() -> None:
    passages = Passages()
    assert passages.complete("a", 0, 7, "abc") == "abc"
    assert passages.complete("a", 0, 8, "abc") == ""


def test_two_parts_of_places_that_count_up_are_told_apart() -> None:
    passages = Passages()
    for place, text in ((0, "ab"), (7, "cd")):
        assert passages.add("a", 0, place, text) == text
        assert passages.complete("a", 0, place + 1, text) == ""
        assert passages.complete("a", 0, place + 2, text) == ""
    assert passages.complete("a", 0, 17, "bcd") == "bcd"


def test_items_that_are_announced_are_told_apart_without_an_index() -> None:
    passages = Passages()
    for item_id in ("a", "b"):
        passages.open(item_id, None)
        assert passages.complete(item_id, None, 0, "ok") == "ok"


def test_parts_at_several_places_that_are_no_one_text_are_completed_each() -> None:
    passages = Passages()
    passages.add("a", 0, 0, "x")
    passages.add("a", 0, 1, "y")
    assert passages.complete("a", 0, 0, "x!") == "!"
    assert passages.complete("a", 0, 1, "y!") == "!"
    passages.add("b", 1, 0, "x")
    assert passages.complete("b", 1, 1, "other") == "other"


def test_a_note_on_a_text_belongs_to_the_newest_where_nothing_says_to_which() -> None:
    passages = Passages()
    assert passages.near("a", 0).length == 0
    passages.add("a", 0, 0, "x")
    assert passages.near("b", 7).item_id == "a"
    assert passages.near("a", 0).item_id == "a"


def test_an_empty_whole_says_nothing() -> None:
    passages = Passages()
    assert passages.complete(None, None, None, "") == ""
    assert passages.add(None, None, None, "x") == "x"


def test_an_index_finds_what_is_done_where_every_event_has_another_id() -> None:
    passages = Passages()
    passages.add("r1", 0, 0, "x")
    assert rest(passages, "r2", 0, [(0, "x")]) == ""
    assert passages.complete("r3", 0, 0, "x") == ""
    assert passages.add("r4", 0, 0, "x") == ""


def test_an_item_without_text_is_no_other_one() -> None:
    passages = Passages()
    passages.open("a", 0)
    assert rest(passages, "b", None, []) == ""
    assert passages.add("a", 0, 0, "x") == "x"
    assert rest(passages, "a", 0, [(0, "xy")]) == "y"


def test_what_is_owed_is_not_taken_off_a_text_that_begins_otherwise() -> None:
    """Each event has a place of its own here, and the last delta of the first part is missing."""
    passages = Passages()
    assert passages.add("a", 0, 0, "x") == "x"
    assert passages.complete("a", 0, 1, "xa") == "a"
    said = [passages.add("a", 0, place, text) for place, text in ((2, "y"), (3, "a"), (4, "z"))]
    assert said == ["y", "a", "z"]
    assert passages.complete("a", 0, 5, "yaz") == ""


# What is looked through is bounded.


@pytest.mark.limit("agents.open_responses.stream.text_parts.MOST_TRIED")
def test_a_text_is_looked_for_in_the_newest_passages_only() -> None:
    for others, said in ((MOST_TRIED - 1, ""), (MOST_TRIED, "text")):
        passages = Passages()
        rest(passages, "a", 0, [(0, "text")])
        for number in range(others):
            rest(passages, f"b{number}", number + 1, [(0, f"other {number}")])
        assert rest(passages, "c", None, [(0, "text")]) == said


@pytest.mark.limit("agents.open_responses.stream.passage.MOST_PARTS")
def test_what_is_at_more_places_belongs_to_the_last_part() -> None:
    passage = Passage()
    for place in range(MOST_PARTS + 1):
        passage.part(place).add("x")
    assert len(passage.parts) == MOST_PARTS
    assert passage.part(MOST_PARTS - 1).length == 2
    assert passage.tells([(0, "x" * (MOST_PARTS + 1))])


def stream_then_complete(count: int) -> None:
    passages = Passages()
    for place in range(count):
        passages.add("a", 0, place, f"<{place}>")
    for place in range(count):
        passages.complete("a", 0, place, f"<{place}>")


def complete_the_last_first(count: int) -> None:
    passages = Passages()
    for place in range(count):
        passages.add("a", 0, place, f"<{place}>")
    for place in reversed(range(count)):
        passages.complete("a", 0, place, f"<{place}>")


def stream_nothing_then_complete(count: int) -> None:
    passages = Passages()
    for place in range(count):
        passages.add("a", 0, place, "")
    passages.add("a", 0, 0, "beginning")
    for place in range(count):
        passages.complete("a", 0, count + place, "x" * 20)


def complete_without_keys(count: int) -> None:
    passages = Passages()
    for place in range(count):
        passages.add(None, None, place, f"<{place}>")
    for place in range(count):
        passages.complete(None, None, place, f"<{place}>")


@pytest.mark.parametrize(
    "tell",
    [
        stream_then_complete,
        complete_the_last_first,
        stream_nothing_then_complete,
        complete_without_keys,
    ],
)
def test_many_parts_of_an_item_take_linear_time(tell: Callable[[int], None]) -> None:
    assert_linear(lambda size: size, tell, MOST_PARTS // 10)


def test_parts_that_were_said_out_of_order_are_one_text_in_their_own() -> None:
    for is_item_done in (False, True):
        passages = Passages()
        passages.add("a", 0, 0, "")
        for place, text in ((1, "two "), (0, "one "), (2, "three")):
            passages.add("a", 0, place, text)
        whole = "one two three!"
        if is_item_done:
            assert rest(passages, "a", 0, [(0, whole)]) == "!"
        else:
            assert passages.complete("a", 0, 3, whole) == "!"


def test_a_part_that_was_done_is_open_again_after_an_empty_whole() -> None:
    passages = Passages()
    passages.complete("a", 0, 0, "one")
    assert not passages.near("a", 0).is_open
    passages.complete("a", 0, 0, "")
    assert passages.near("a", 0).is_open
    assert passages.complete("a", 0, 0, "one two") == " two"
