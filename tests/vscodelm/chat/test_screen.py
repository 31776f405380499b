"""What the terminal chat shows beside the answers."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bridge.models import ELIZA
from bridge.wire import (
    DataPart,
    ProgressParams,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from vscodelm.chat.screen import DETAIL_LINES, Screen
from vscodelm.chat.tools import Permission


def screen(*, is_live: bool = False) -> tuple[Screen, io.StringIO, io.StringIO]:
    out, notes = io.StringIO(), io.StringIO()
    consoles = (Console(file=file, width=60) for file in (out, notes))
    return Screen(*consoles, is_live=is_live), out, notes


def test_standard_output_gets_the_answers_and_nothing_else() -> None:
    shown, out, notes = screen()
    with shown.answer() as answer:
        answer.show(ThinkingPart(["Hm, ", "well."]))
        answer.show(TextPart("Hello"))
        answer.show(ToolCallPart("1", "current_time", {}))
        answer.show(
            DataPart("usage", b'{"prompt_tokens":1200,"completion_tokens":3,"total_tokens":1203}')
        )
    assert out.getvalue() == "Hello\n"
    assert notes.getvalue() == "Hm, well.\n1,200 tokens in, 3 out\n"


@pytest.mark.parametrize("data", [b"", b"{}", b'{"prompt_tokens":"many"}'])
def test_a_usage_record_that_is_none_is_passed_over(data: bytes) -> None:
    shown, _, notes = screen()
    with shown.answer() as answer:
        answer.show(DataPart("usage", data))
    assert notes.getvalue() == ""


def test_what_an_answer_waits_for_is_said_once_and_not_among_the_answers() -> None:
    shown, out, notes = screen()
    fetching = ProgressParams(1, "Fetching parrot\x1b[2J", "1 s")
    shown.progress(fetching)  # no answer is waited for
    with shown.answer() as answer:
        shown.progress(fetching)
        shown.progress(ProgressParams(1, fetching.title, "2 s"))
        shown.progress(ProgressParams(1, fetching.title, is_over=True))
        answer.show(TextPart("Hello"))
    shown.progress(fetching)
    assert out.getvalue() == "Hello\n"
    assert notes.getvalue() == "Fetching parrot\u241b[2J ...\n"


def test_calls_and_results_are_one_short_line_each() -> None:
    shown, _, notes = screen()
    shown.call(ToolCallPart("1", "read_file", {"path": "x" * 1000}))
    shown.result(ToolResultPart("1", [TextPart("one\ntwo\x1b[2J")]))
    call, result = notes.getvalue().splitlines()
    assert call.startswith('-> read_file {"path":"xxx')
    assert len(call) < 250
    assert result == "<- one two\u241b[2J"


def test_a_permission_shows_title_kind_and_details() -> None:
    shown, _, notes = screen()
    shown.permission(Permission("Run [bold]ls[/bold]", "execute", '{\n  "command": "ls"\n}'))
    text = notes.getvalue()
    assert "Run [bold]ls[/bold]" in text
    assert "kind: execute" in text
    assert '"command": "ls"' in text


def test_details_that_are_not_shown_are_counted() -> None:
    shown, _, notes = screen()
    details = "\n".join(str(number) for number in range(DETAIL_LINES + 2))
    shown.permission(Permission("Do it", "other", details))
    assert "and 2 more lines that are not shown" in notes.getvalue()


def test_the_model_that_answers_is_marked() -> None:
    shown, _, notes = screen()
    shown.models([ELIZA.information], "eliza")
    assert notes.getvalue().startswith("* eliza  Eliza  ")


def test_notes_and_errors_are_whole_lines_however_long() -> None:
    shown, _, notes = screen()
    for show in (shown.note, shown.error, shown.text):
        show("word " * 50)
    assert notes.getvalue() == ("word " * 50 + "\n") * 3


def test_on_a_terminal_an_answer_that_was_seen_is_set_apart() -> None:
    shown, out, _ = screen(is_live=True)
    with shown.answer() as answer:
        answer.show(ToolCallPart("1", "current_time", {}))
    assert not out.getvalue().endswith("\n\n")
    with shown.answer() as answer:
        answer.show(TextPart("Hello"))
    assert "Hello" in out.getvalue()
    assert out.getvalue().endswith("\n\n")


def test_a_process_whose_output_is_no_terminal_writes_plainly() -> None:
    assert not Screen.of_process().is_live
