"""The user's input: an editable line on a terminal, or the lines of a pipe."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import trio
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from bridge.jsonrpc import LineSplitter
from vscodelm.places import own_state_folder

if TYPE_CHECKING:
    from prompt_toolkit.input import Input
    from prompt_toolkit.output import Output

if sys.platform != "win32":
    import termios

T = TypeVar("T")
CHUNK = 64 * 1024


class Lines(Protocol):
    """A source of lines."""

    @property
    def is_interactive(self) -> bool:
        """Whether a person edits them, so that Ctrl-C is a key and not a signal."""
        ...

    async def read(self) -> str:
        """Return the next line; raises `EOFError` at the end."""
        ...

    async def edit(self, text: str) -> str | None:
        """Return the text as the user changed it, None if they can't or don't want to."""
        ...

    async def confirm(self, question: str) -> bool | None:
        """Return whether the user says yes; the end is a no. None: they stop everything."""
        ...

    def quiet(self) -> AbstractContextManager[None]:
        """Keep what is typed meanwhile off the screen, for the next line."""
        ...


def is_yes(line: str) -> bool:
    """Return whether an answer is a yes; whatever is unclear is a no."""
    return line.strip().lower() in ("y", "yes")


class PipedLines:
    """Lines of a file or pipe. Blank ones are passed over."""

    is_interactive = False

    def __init__(self, fd: int, ask: Callable[[str], None]) -> None:
        self._fd = fd
        self._ask = ask  # shows a question
        self._splitter = LineSplitter()
        self._lines: deque[str] = deque()
        self._ended = False

    async def edit(self, text: str) -> str | None:
        """Change nothing: a pipe can't see the text."""
        await trio.lowlevel.checkpoint()
        return None

    async def read(self) -> str:
        """Return the next line."""
        while not self._lines:
            if self._ended:
                raise EOFError
            # Not sys.stdin: a thread that waits in it holds its lock, and Python can't end.
            chunk = await trio.to_thread.run_sync(os.read, self._fd, CHUNK, abandon_on_cancel=True)
            self._ended = not chunk
            lines = self._splitter.feed(chunk) if chunk else self._splitter.finish()
            self._lines += [
                line.decode(errors="replace").removesuffix("\r")
                for line in lines
                if isinstance(line, bytes)
            ]
        return self._lines.popleft()

    async def confirm(self, question: str) -> bool | None:
        """Take the next line for the answer."""
        self._ask(question)
        try:
            return is_yes(await self.read())
        except EOFError:
            return False

    def quiet(self) -> AbstractContextManager[None]:
        """Do nothing: nothing is typed."""
        return nullcontext()


class TerminalLines:
    """Lines that a person edits, with a history that outlives the chat.

    prompt_toolkit runs an event loop of its own, so it runs in a thread; there it leaves signals
    alone. While it runs the terminal is raw, and Ctrl-C a key.
    """

    is_interactive = True

    def __init__(
        self,
        words: list[str],
        history: History,
        *,
        terminal: tuple[Input, Output] | None = None,
    ) -> None:
        source, sink = terminal or (None, None)
        self._session = PromptSession[str](
            "> ",
            history=history,
            key_bindings=_bindings(),
            completer=WordCompleter(words, sentence=True),
            complete_while_typing=False,
            input=source,
            output=sink,
        )
        self._question = PromptSession[str](input=source, output=sink)

    async def read(self) -> str:
        """Let the user write a line; Ctrl-C clears it."""
        return _encodable(await _in_thread(self._session.prompt))

    async def edit(self, text: str) -> str | None:
        """Let the user change a text; Ctrl-C leaves it as it is."""
        edited = await self._ask("edit> ", text)
        return None if edited is None else _encodable(edited)

    async def confirm(self, question: str) -> bool | None:
        """Ask; Ctrl-C stops everything, Ctrl-D is a no."""
        answer = await self._ask(question)
        return None if answer is None else is_yes(answer)

    def quiet(self) -> AbstractContextManager[None]:
        """Turn the terminal's echo off."""
        return nullcontext() if sys.platform == "win32" else _without_echo(sys.stdin.fileno())

    async def _ask(self, prompt: str, prefill: str = "") -> str | None:
        def ask() -> str | None:
            try:
                return self._question.prompt(prompt, default=prefill)
            except EOFError:
                return ""
            except KeyboardInterrupt:
                return None

        return await _in_thread(ask)


if sys.platform != "win32":

    @contextmanager
    def _without_echo(fd: int) -> Generator[None]:
        before = termios.tcgetattr(fd)
        silent = termios.tcgetattr(fd)
        silent[3] &= ~termios.ECHO
        termios.tcsetattr(fd, termios.TCSANOW, silent)
        try:
            yield
        finally:
            termios.tcsetattr(fd, termios.TCSANOW, before)


async def _in_thread(prompt: Callable[[], T]) -> T:
    def run() -> T:
        with patch_stdout(raw=True):  # other output goes above the line meanwhile
            return prompt()

    return await trio.to_thread.run_sync(run)


def _bindings() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c")
    def clear(event: KeyPressEvent) -> None:
        event.current_buffer.reset()

    @keys.add("escape", "enter")
    def break_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    _ = clear, break_line  # registered by their decorators
    return keys


def _encodable(text: str) -> str:
    """Return the text without what isn't Unicode: keys that sent half a character."""
    return text.encode(errors="replace").decode()


def open_history() -> History:
    """Return the history of typed lines, kept in a file that only the user can read."""
    return history_in(own_state_folder() / "chat_history")


def history_in(path: Path) -> History:
    """Return the history in a file; one that lasts as long as the chat if that can't be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        path.chmod(0o600)  # it may have been there
    except OSError:
        return InMemoryHistory()
    return FileHistory(path)


def open_lines(words: list[str], ask: Callable[[str], None]) -> Lines:
    """Return the lines of standard input."""
    if sys.stdin.isatty():
        return TerminalLines(words, open_history())
    return PipedLines(sys.stdin.fileno(), ask)
