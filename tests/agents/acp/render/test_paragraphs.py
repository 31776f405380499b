from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.render.paragraphs import Page
from agents.events import Say, Think


def text(*says: Say) -> str:
    return "".join(say.text for say in says)


def test_a_text_in_pieces_is_joined_exactly() -> None:
    page = Page()
    says = [*page.say("Good", None), *page.say("bye ", None), *page.say("\nyou", None)]
    assert says == [Say("Good"), Say("bye "), Say("\nyou")]


@pytest.mark.checklist(28)
def test_another_message_is_another_paragraph() -> None:
    page = Page()
    says = [*page.say("One.", "1"), *page.say(" Still.", "1"), *page.say("Two.", "2")]
    assert says == [Say("One."), Say(" Still."), Say("\n\n", by_us=True), Say("Two.")]


@pytest.mark.checklist(28)
def test_a_message_that_gets_its_id_late_is_one_message() -> None:
    page = Page()
    assert (
        text(*page.say("One", None), *page.say(" two", "1"), *page.say(" three", None))
        == "One two three"
    )


@pytest.mark.checklist(28)
def test_what_has_no_id_among_messages_that_have_is_another_paragraph() -> None:
    """A warning of the agent's stands between its messages, and isn't glued to them."""
    page = Page()
    says = [*page.say("Done.", "1"), *page.say("Warning: ", None), *page.say("Old.", None)]
    assert text(*says, *page.say("More.", "1")) == "Done.\n\nWarning: Old.\n\nMore."


@pytest.mark.checklist(28)
@pytest.mark.parametrize("rest", [" three", "se", ", too.", "\nNext."])
def test_a_piece_without_an_id_that_goes_on_stays(rest: str) -> None:
    page = Page()
    assert text(*page.say("One", "1"), *page.say(rest, None)) == f"One{rest}"


@pytest.mark.checklist(28)
def test_a_paragraph_of_ours_stands_by_itself() -> None:
    page = Page()
    says = [*page.say("One.", None), *page.add("Ours."), *page.say("Two.", None)]
    assert says == [
        Say("One."), Say("\n\nOurs.", by_us=True), Say("\n\n", by_us=True), Say("Two."),
    ]  # fmt: skip


def test_line_ends_that_are_there_are_not_added() -> None:
    page = Page()
    says = [*page.say("One.\n", None), *page.add("Ours."), *page.say("\n\nTwo.\n\n", None)]
    assert text(*says, *page.add("Ours.")) == "One.\n\nOurs.\n\nTwo.\n\nOurs."
    page = Page()
    assert (
        text(*page.say("One.", None), *page.say("\n", None), *page.say("\n", None), *page.add("x"))
        == "One.\n\nx"
    )


def test_a_piece_of_line_ends_only_after_a_paragraph_counts_once() -> None:
    page = Page()
    says = [*page.add("Ours."), *page.say("\n", None), *page.say("Two.", None)]
    assert text(*says) == "Ours.\n\nTwo."


def test_nothing_stands_before_what_comes_first() -> None:
    assert Page().add("Ours.") == (Say("Ours.", by_us=True),)
    assert Page().add("") == ()
    assert Page().say_block("![x](y)") == (Say("![x](y)"),)


def test_a_block_of_the_agents_stands_by_itself_and_is_its_own() -> None:
    page = Page()
    says = [*page.say("Look:", None), *page.say_block("![x](y)"), *page.say("Nice.", None)]
    assert text(*says) == "Look:\n\n![x](y)\n\nNice."
    assert text(*(say for say in says if not say.by_us)) == "Look:![x](y)Nice."


def test_a_new_response_begins_without_a_gap() -> None:
    page = Page()
    page.add("Ours.")
    page.turn()
    assert page.add("Ours.") == (Say("Ours.", by_us=True),)


def test_thinking_in_between_ends_a_paragraph_unless_the_message_goes_on() -> None:
    page = Page()
    assert page.say("One.", None) == (Say("One."),)
    assert page.think("Hm.", None) == Think("Hm.")
    assert text(*page.say("Two.", None)) == "\n\nTwo."
    page = Page()
    page.say("One", "1")
    page.think("Hm.", None)
    assert text(*page.say(" and a half.", "1")) == " and a half."


def test_thoughts_apart_are_paragraphs_apart() -> None:
    page = Page()
    thoughts = [page.think("One ", None), page.think("two.", None)]
    page.say("Said.", None)
    thoughts.append(page.think("Three.", "t"))
    assert thoughts == [Think("One "), Think("two."), Think("\n\nThree.", "t")]


def test_an_outcome_stands_behind_its_line_only_if_nothing_came_in_between() -> None:
    page, call = Page(), object()
    page.add("Ours", about=call)
    assert page.is_about(call)
    assert not page.is_about(object())
    assert page.add_behind(" done") == (Say(" done", by_us=True),)
    assert not page.is_about(call)
    for interrupt in (
        lambda: page.say("x", None),
        lambda: page.say_block("x"),
        lambda: page.think("x", None),
        lambda: page.add("x"),
        page.turn,
    ):
        page.add("Ours", about=call)
        interrupt()
        assert not page.is_about(call)


@given(st.lists(st.text("ab \n", min_size=1)))
def test_however_text_is_split_the_same_goes_out(pieces: list[str]) -> None:
    page = Page()
    assert text(*(say for piece in pieces for say in page.say(piece, None))) == "".join(pieces)
    whole = Page()
    if pieces:
        whole.say("".join(pieces), None)
    assert page.add("x") == whole.add("x")


@given(st.lists(st.tuples(st.booleans(), st.text("ab\n", min_size=1))))
def test_paragraphs_of_ours_have_an_empty_line_on_both_sides(steps: list[tuple[bool, str]]) -> None:
    page = Page()
    shown = ""
    for is_ours, piece in steps:
        shown += text(*(page.add("OURS") if is_ours else page.say(piece, None)))
    parts = shown.split("OURS")
    assert all(part.endswith("\n\n") for part in parts[1:-1])
    assert all(part.startswith("\n\n") or part.strip("\n") == "" for part in parts[1:])
    assert len(parts) == 1 or parts[0].strip("\n") == "" or parts[0].endswith("\n\n")
