"""Output of the terminal chat beside the answers themselves.

On a terminal everything goes to standard output. A pipe or a file gets only the answers, and the
rest goes to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress

import attrs
import msgspec
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from bridge.wire import (
    DataPart,
    ModelInformation,
    Part,
    ProgressParams,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)

from .answer_view import AnswerView, LiveView, PlainView, printable
from .tools import Permission, text_of

DETAIL_LINES = 40
"""Lines of a permission's details that are shown."""
LINE_CHARACTERS = 200
"""Characters of a tool's input or result that are shown."""


class AnswerTokens(msgspec.Struct):
    """The tokens of an answer, as the server reports them."""

    prompt_tokens: int
    completion_tokens: int


@attrs.define(eq=False, repr=False)
class Screen:
    """Shows things. `out` gets the answers, `notes` everything else; they may be the same."""

    out: Console
    notes: Console
    is_live: bool
    _view: AnswerView | None = attrs.field(default=None, init=False)
    """Shows the answer that is waited for."""

    @classmethod
    def of_process(cls) -> Screen:
        """Return the screen that standard output is, or is not."""
        out = Console(highlight=False)
        if out.is_terminal and not out.is_dumb_terminal and sys.stdout.isatty():
            return cls(out, out, is_live=True)
        return cls(out, Console(stderr=True, highlight=False), is_live=False)

    @contextmanager
    def answer(self) -> Generator[AnswerOnScreen]:
        """Show an answer while it comes."""
        view: AnswerView = LiveView(self.out) if self.is_live else PlainView(self.out, self.notes)
        answer = AnswerOnScreen(view)
        self._view = view
        try:
            with view:
                yield answer
        finally:
            self._view = None
        if answer.usage is not None:
            used = answer.usage
            self._line(f"{used.prompt_tokens:,} tokens in, {used.completion_tokens:,} out", "dim")
        if self.is_live and answer.said:
            self.out.print()

    def progress(self, progress: ProgressParams) -> None:
        """Show how far something is that the answer waits for."""
        if self._view is not None:
            self._view.wait_for("" if progress.is_over else progress.title, progress.message)

    def note(self, text: str) -> None:
        """Show a line of the program's own, or of the server's log."""
        self._line(text, "dim")

    def error(self, text: str) -> None:
        """Show what went wrong and what to do."""
        self._line(text, "red")

    def call(self, call: ToolCallPart) -> None:
        """Show that a tool is called."""
        given = msgspec.json.encode(call.parameters).decode()
        self._line(f"-> {call.tool_name} {_short(given)}", "cyan")

    def result(self, result: ToolResultPart) -> None:
        """Show what a call got."""
        self._line(f"<- {_short(text_of(result))}", "red" if result.is_error else "cyan")

    def permission(self, asked: Permission) -> None:
        """Show what is asked for; the question itself follows."""
        lines = asked.details.splitlines()
        parts: list[RenderableType] = [
            Text(printable(asked.title), style="bold"),
            Text(f"kind: {printable(asked.kind)}", style="dim"),
        ]
        if lines:
            parts.append(Text(printable("\n".join(lines[:DETAIL_LINES]))))
        if len(lines) > DETAIL_LINES:
            more = len(lines) - DETAIL_LINES
            parts.append(Text(f"... and {more} more lines that are not shown", style="bold red"))
        self.notes.print(
            Panel(Group(*parts), title="The agent asks", title_align="left", border_style="yellow")
        )

    def models(self, models: Sequence[ModelInformation], chosen: str) -> None:
        """Show the models, and which one answers."""
        width = max((len(model.id) for model in models), default=0)
        for model in models:
            mark = "*" if model.id == chosen else " "
            about = model.tooltip or ""
            self._line(f"{mark} {model.id:<{width}}  {model.name}  {about}".rstrip())

    def text(self, text: str) -> None:
        """Show lines as they are."""
        self._line(text)

    def _line(self, text: str, style: str = "") -> None:
        self.notes.print(Text(printable(text), style=style), soft_wrap=True)


@attrs.define(eq=False, repr=False)
class AnswerOnScreen:
    """One answer; takes its parts."""

    _view: AnswerView
    usage: AnswerTokens | None = attrs.field(default=None, init=False)
    said: bool = attrs.field(default=False, init=False)
    """Whether there was anything to see."""

    def show(self, part: Part) -> None:
        """Show a part. Calls are shown when they are made, after the answer."""
        self.said |= isinstance(part, TextPart | ThinkingPart)
        match part:
            case TextPart(value=value):
                self._view.say(value)
            case ThinkingPart(value=value):
                self._view.think(value if isinstance(value, str) else "".join(value))
            case DataPart(mime_type="usage", data=data):
                with suppress(msgspec.DecodeError):  # a number less on the screen
                    self.usage = msgspec.json.decode(data, type=AnswerTokens)
            case _:
                pass


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LINE_CHARACTERS else f"{line[:LINE_CHARACTERS]}..."
