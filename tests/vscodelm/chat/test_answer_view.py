"""An answer on the screen, while it comes."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from tests.strategies import chunkings
from vscodelm.chat.answer_view import LiveView, PlainView, finished, printable

MARKDOWN = "# Title\n\nSome *text*.\n\n1. one\n\n2. two\n\n```sh\nls\n\npwd\n```\n\nThe end.\n"


def terminal(height: int = 24) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, width=40, height=height, color_system=None
    )


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def last_frame(console: Console) -> str:
    """Return what stays on the screen, where only whole lines are drawn over."""
    lines = [""]
    for text, code in re.findall(r"([^\x1b]*)(?:\x1b\[([^A-Za-z]*[A-Za-z]))?", written(console)):
        first, *rest = text.replace("\r", "").split("\n")
        lines[-1] += first
        lines += rest
        match code:
            case "1A":  # a line up
                lines.pop()
            case "2K":  # erase the line
                lines[-1] = ""
            case _:
                pass
    return "\n".join(line.rstrip() for line in lines)


def test_control_characters_stand_on_the_screen_and_do_nothing_to_it() -> None:
    assert printable("a\x1b[2Jb\x9bc\x07\x7f") == "a\u241b[2Jb\ufffdc\u2407\u2421"
    assert printable("tab\there\r\nnext") == "tab\there\nnext"


def test_marks_that_turn_the_direction_of_text_are_dropped() -> None:
    assert printable("a\u202eb\u2066c") == "abc"


@given(st.text())
def test_what_is_printable_stays_so(text: str) -> None:
    once = printable(text)
    assert printable(once) == once
    assert "\x1b" not in once


@pytest.mark.parametrize(
    ("text", "open_block"),
    [
        ("", ""),
        ("one line", "one line"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("one\n\ntwo\n", "two\n"),
        ("one\u2028one\n\ntwo\n", "two\n"),
        ("1. one\n\n2", "1. one\n\n2"),
        ("one\n\n- a\n\n- b\n", "- a\n\n- b\n"),
        ("one\n\n```\ncode\n\nmore", "```\ncode\n\nmore"),
        ("# one\n```\ncode\n```\ntwo\n", "two\n"),
    ],
)
def test_only_the_last_block_of_the_whole_lines_can_still_change(
    text: str, open_block: str
) -> None:
    assert text[finished(text) :] == open_block


@given(chunkings(MARKDOWN))
def test_what_is_finished_stays_so_whatever_follows(pieces: list[str]) -> None:
    whole = ""
    ends = [0]
    for piece in pieces:
        whole += piece
        ends.append(finished(whole))
    assert ends == sorted(ends)


def test_on_a_pipe_an_answer_is_the_text_itself_and_ends_its_line() -> None:
    out, notes = Console(file=io.StringIO()), Console(file=io.StringIO())
    with PlainView(out, notes) as view:
        view.think("Hm, ")
        view.think("well.")
        view.say("**Good")
        assert written(out) == "**Good"
        view.say(" day**")
    assert written(out) == "**Good day**\n"
    assert written(notes) == "Hm, well.\n"


def test_on_a_pipe_an_answer_without_text_leaves_no_line() -> None:
    out, notes = Console(file=io.StringIO()), Console(file=io.StringIO())
    with PlainView(out, notes) as view:
        view.think("Hm.")
    assert (written(out), written(notes)) == ("", "Hm.\n")


@given(chunkings(MARKDOWN))
def test_on_a_terminal_the_whole_answer_stays_however_it_came(pieces: list[str]) -> None:
    console = terminal()
    with LiveView(console) as view:
        view.think("Let me think.")
        for piece in pieces:
            view.say(piece)
    shown = last_frame(console)
    assert "Ctrl-C" not in shown
    words = ["Let me think.", "Title", "Some text.", "1 one", "2 two", "ls", "pwd", "The end."]
    places = [shown.find(word) for word in words]
    assert -1 not in places
    assert places == sorted(places)
    assert [shown.count(word) for word in ("Title", "The end.")] == [1, 1]


def test_what_is_redrawn_meanwhile_leaves_no_trace() -> None:
    console = terminal()
    with LiveView(console, refreshes=1e5) as view:
        for number in range(200):
            view.say(f"Block {number}.\n\n")
            view._next_check = 0.0  # pyright: ignore[reportPrivateUsage]  # look at once again
    shown = last_frame(console)
    assert "Ctrl-C" not in shown
    assert [word for word in shown.split("\n") if word.strip()] == [
        f"Block {number}." for number in range(200)
    ]


def test_of_a_block_longer_than_the_screen_the_end_is_drawn() -> None:
    console = terminal(height=10)
    with LiveView(console) as view:
        view.say("```\n" + "".join(f"line {number}\n" for number in range(100)))
        console.file = io.StringIO()
        view._live.refresh()  # pyright: ignore[reportPrivateUsage]  # as its own clock does
        frame = written(console)
    assert "line 99" in frame
    assert "line 50" not in frame


def test_of_a_very_long_block_only_the_end_is_laid_out() -> None:
    console = terminal(height=10)
    with LiveView(console) as view:
        view.say("word " * 20_000 + "last")
        console.file = io.StringIO()
        view._live.refresh()  # pyright: ignore[reportPrivateUsage]  # as its own clock does
        assert "last" in written(console)


def test_on_a_terminal_what_is_waited_for_stands_beside_the_spinner_until_it_is_over() -> None:
    console = terminal()

    def frame() -> str:
        console.file = io.StringIO()
        view._live.refresh()  # pyright: ignore[reportPrivateUsage]  # as its own clock does
        return written(console)

    with LiveView(console) as view:
        view.wait_for("Fetching \x1b[2J", "9 MB, 2 s")
        assert "Fetching \u241b[2J - 9 MB, 2 s - Ctrl-C" in frame()
        view.wait_for("Fetching a package of which the name is long", "9 MB, 2 s")
        assert " ".join(frame().split()).endswith("long - 9 MB, 2 s - Ctrl-C stops"), "all of it"
        view.wait_for("", "")
        assert "Fetching" not in frame()
        assert "Ctrl-C stops" in frame()
