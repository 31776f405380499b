"""An answer on the screen, while it comes: Markdown on a terminal, plain text anywhere else.

On a terminal only the last block of the answer is redrawn. A block that another one follows can't
change any more, so it is printed for good, and scrolls away like any output.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Self, TypeAlias

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import Markdown
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

REFRESHES_A_SECOND = 12
DRAWN_CHARACTERS = 20_000
"""Characters of a growing block that are laid out; a screen doesn't hold more."""
_HINT = "Ctrl-C stops"

# Show control characters as pictures, so that an agent can't control the terminal. Marks that
# change the direction of text are dropped, so that the text reads as it is written.
_PICTURES: dict[int, int | None] = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys((0x0D, *range(0x202A, 0x202F), *range(0x2066, 0x206A))),
}


def printable(text: str) -> str:
    """Return text that does nothing to a terminal but stand on it."""
    return text.translate(_PICTURES)


def finished(text: str) -> int:
    """Return where the last block of a Markdown text begins; what is before it stays as it is.

    Only whole lines count, for a line may become something else by its next character.
    """
    lines = text.split("\n")
    tokens = Markdown("\n".join([*lines[:-1], ""])).parsed
    starts = [token.map[0] for token in tokens if token.level == 0 and token.map]
    return sum(len(line) + 1 for line in lines[: starts[-1]]) if starts else 0


class PlainView:
    """Text as it is on `out`, so that it can be piped on; the reasoning on `notes`."""

    def __init__(self, out: Console, notes: Console) -> None:
        self._out = out
        self._notes = notes
        self._thoughts: list[str] = []
        self._last = ""
        self._awaited = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._end_thoughts()
        if self._last and not self._last.endswith("\n"):
            self._out.file.write("\n")
        self._out.file.flush()

    def say(self, text: str) -> None:
        """Write at once."""
        self._end_thoughts()
        self._out.file.write(text)
        self._out.file.flush()
        self._last = text or self._last

    def think(self, text: str) -> None:
        """Write when the thought is whole."""
        self._thoughts.append(text)

    def wait_for(self, title: str, message: str) -> None:
        """Write what the answer waits for when that begins, in one line; no title: it is over."""
        if title and title != self._awaited:
            self._notes.print(Text(printable(f"{title} ..."), style="dim"), soft_wrap=True)
        self._awaited = title

    def _end_thoughts(self) -> None:
        thought = "".join(self._thoughts).strip()
        self._thoughts.clear()
        if thought:
            self._notes.print(Text(printable(thought), style="dim italic"), soft_wrap=True)


class LiveView:
    """Markdown, redrawn as it grows, at most `refreshes` times a second."""

    def __init__(self, out: Console, refreshes: float = REFRESHES_A_SECOND) -> None:
        self._out = out
        self._growing = ""
        self._is_thought = False
        self._printed = False
        self._next_check = 0.0
        self._pause = 1 / refreshes
        # Rich's own thread can redraw between the drawing and the writing of what we print, and
        # then takes away too few lines or too many. So the thread is ours, and they take turns.
        self._turn = threading.Lock()
        self._ended = threading.Event()
        self._redrawing = threading.Thread(target=self._redraw, daemon=True)
        self._spinner = Spinner("dots", Text(_HINT, style="dim"), style="dim")
        self._live = Live(
            console=out,
            get_renderable=self._draw,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        self._redrawing.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._print_until(len(self._growing))
        self._ended.set()
        self._redrawing.join()
        self._live.stop()

    def say(self, text: str) -> None:
        """Draw a piece of the answer, soon."""
        self._grow(text, is_thought=False)

    def think(self, text: str) -> None:
        """Draw a piece of the reasoning, dimmed."""
        self._grow(text, is_thought=True)

    def wait_for(self, title: str, message: str) -> None:
        """Draw what the answer waits for beside the spinner; no title: it is over."""
        parts = (printable(part) for part in (title, message, _HINT) if part)
        with self._turn:
            self._spinner.text = Text(" - ".join(parts), style="dim")

    def _grow(self, text: str, *, is_thought: bool) -> None:
        if is_thought is not self._is_thought:
            self._print_until(len(self._growing))
            self._is_thought = is_thought
        self._growing += printable(text)
        began = time.monotonic()
        if began >= self._next_check:
            self._print_until(finished(self._growing))
            # To look means to parse the block: a long one is looked at less often.
            cost = time.monotonic() - began
            self._next_check = began + max(self._pause, 10 * cost)

    def _print_until(self, end: int) -> None:
        done = self._growing[:end].strip("\n")
        if not done.strip():
            return
        with self._turn:
            # Shorter first: the two are never on the screen together.
            self._growing = self._growing[end:]
            if self._printed:
                self._out.print()
            self._out.print(self._block(done))
            self._printed = True

    def _redraw(self) -> None:
        while not self._ended.wait(self._pause):
            with self._turn:
                self._live.refresh()

    def _block(self, text: str) -> RenderableType:
        if self._is_thought:
            return Text(text, style="dim italic")
        return Markdown(text, hyperlinks=False)  # a link's address is to be seen

    def _drawable(self, text: str) -> RenderableType:
        if len(text) > DRAWN_CHARACTERS:
            return Text(text[-DRAWN_CHARACTERS:])
        return self._block(text)

    def _draw(self) -> RenderableType:
        parts: Iterable[RenderableType] = (self._spinner,)
        if self._growing.strip():
            parts = (_Tail(self._drawable(self._growing)), self._spinner)
            if self._printed:
                parts = ("", *parts)
        return Group(*parts)


class _Tail:
    """The last lines of something that may be longer than the screen."""

    def __init__(self, whole: RenderableType) -> None:
        self._whole = whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._whole, options, pad=False)
        for line in lines[-max(1, console.height - 4) :]:
            yield from line
            yield Segment.line()


AnswerView: TypeAlias = PlainView | LiveView
"""Shows one answer, from entering to leaving."""
