"""What the user types, on a pipe and on a terminal that is none."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
import trio
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from vscodelm.chat.keyboard import PipedLines, TerminalLines, history_in, is_yes, open_lines


@pytest.fixture
def keys() -> Generator[PipeInput]:
    """Give a keyboard."""
    with create_pipe_input() as keyboard:
        yield keyboard


@pytest.fixture
def lines(keys: PipeInput) -> TerminalLines:
    """Give the lines of who sits at it."""
    return TerminalLines(["/retry"], InMemoryHistory(), terminal=(keys, DummyOutput()))


async def piped(content: bytes) -> tuple[list[str | bool | None], list[str]]:
    """Return every line of a pipe, asking after one that is `?`; and the questions shown."""
    asked: list[str] = []
    read_end, write_end = os.pipe()
    os.write(write_end, content)
    os.close(write_end)
    source = PipedLines(read_end, asked.append)
    found: list[str | bool | None] = []
    try:
        with trio.fail_after(5):
            while True:
                line = await source.read()
                found.append(line)
                if line == "?":
                    found.append(await source.confirm("Sure?"))
    except EOFError:
        pass
    os.close(read_end)
    return found, asked


async def test_a_pipe_gives_its_lines_without_their_ends_and_without_blank_ones() -> None:
    assert await piped(b"one\n\ntwo\r\nthree") == (["one", "two", "three"], [])


async def test_bytes_that_are_no_text_do_not_stop_a_pipe() -> None:
    assert await piped(b"\xff\n") == (["\ufffd"], [])


async def test_a_question_on_a_pipe_is_answered_by_the_next_line() -> None:
    assert await piped(b"?\ny\n?\nwhat\n") == (["?", True, "?", False], ["Sure?", "Sure?"])


async def test_a_question_that_a_pipe_does_not_answer_is_answered_no() -> None:
    assert await piped(b"?\n") == (["?", False], ["Sure?"])


async def test_on_a_pipe_nothing_can_be_edited() -> None:
    with trio.fail_after(5):
        assert await PipedLines(0, print).edit("something") is None


@pytest.mark.parametrize("line", ["y", "Y ", "yes", " YES"])
def test_a_yes_is_a_yes(line: str) -> None:
    assert is_yes(line)


@pytest.mark.parametrize("line", ["", "n", "no", "yy", "yes please", "1"])
def test_whatever_is_unclear_is_a_no(line: str) -> None:
    assert not is_yes(line)


async def test_ctrl_c_at_the_prompt_clears_the_line(keys: PipeInput, lines: TerminalLines) -> None:
    keys.send_text("never min\x03Hello\r")
    with trio.fail_after(5):
        assert await lines.read() == "Hello"


async def test_ctrl_d_ends_the_lines(keys: PipeInput, lines: TerminalLines) -> None:
    keys.send_text("\x04")
    with trio.fail_after(5), pytest.raises(EOFError):
        await lines.read()


async def test_alt_enter_begins_a_new_line(keys: PipeInput, lines: TerminalLines) -> None:
    keys.send_text("one\x1b\rtwo\r")
    with trio.fail_after(5):
        assert await lines.read() == "one\ntwo"


async def test_an_edit_begins_with_the_text(keys: PipeInput, lines: TerminalLines) -> None:
    keys.send_text("\x7f\x7fad\r")
    with trio.fail_after(5):
        assert await lines.edit("I am sda") == "I am sad"


async def test_ctrl_c_gives_an_edit_up(keys: PipeInput, lines: TerminalLines) -> None:
    keys.send_text("\x03")
    with trio.fail_after(5):
        assert await lines.edit("I am sad") is None


@pytest.mark.parametrize(
    ("typed", "answer"), [("y\r", True), ("n\r", False), ("\x04", False), ("\x03", None)]
)
async def test_a_question_is_answered_by_a_line_and_stopped_by_ctrl_c(
    keys: PipeInput, lines: TerminalLines, typed: str, answer: bool | None
) -> None:
    keys.send_text(typed)
    with trio.fail_after(5):
        assert await lines.confirm("Sure?") is answer


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_the_history_is_a_file_that_only_its_user_can_read(tmp_path: Path) -> None:
    path = tmp_path / "state" / "chat_history"
    assert isinstance(history_in(path), FileHistory)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o644)
    history_in(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_without_a_place_for_it_the_history_lasts_as_long_as_the_chat(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert isinstance(history_in(tmp_path / "file" / "chat_history"), InMemoryHistory)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such terminals")
def test_a_terminal_does_not_show_what_is_typed_while_it_is_quiet(
    monkeypatch: pytest.MonkeyPatch, lines: TerminalLines
) -> None:
    import pty
    import termios

    keyboard, terminal = pty.openpty()

    def echoes() -> bool:
        return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

    with open(terminal, encoding="utf-8") as stdin, open(keyboard, "wb"):
        monkeypatch.setattr(sys, "stdin", stdin)
        assert echoes()
        with lines.quiet():
            assert not echoes()
        assert echoes()


def test_a_standard_input_that_is_no_terminal_is_read_as_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "lines"
    path.touch()
    with path.open(encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert isinstance(open_lines([], print), PipedLines)
