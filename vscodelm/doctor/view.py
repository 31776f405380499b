"""Shows an examination while it goes on: a line for each step, with what belongs to it."""

from __future__ import annotations

import sys

import attrs
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.status import Status
from rich.table import Table
from rich.text import Text

from vscodelm.chat.answer_view import printable

from .findings import ExaminationStep, Finding, Report, State, duration

_MARKS: dict[State, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "note": ("note", "yellow"),
    "failed": ("FAIL", "bold red"),
}
_WIDTH = 100
_SHOWN_LINES = 10
"""Lines of stderr that are shown."""


@attrs.define(eq=False, repr=False)
class ExaminationView:
    """Shows findings as they come. Only a terminal gets animations."""

    out: Console
    _waiting: Status | None = attrs.field(default=None, init=False)

    @classmethod
    def of_process(cls) -> ExaminationView:
        """Return the view on standard output."""
        console = Console(highlight=False, soft_wrap=False)
        if not sys.stdout.isatty():
            console = Console(highlight=False, width=_WIDTH)
        return cls(console)

    def begin(self, step: ExaminationStep) -> None:
        """Show that a step has begun."""
        self.close()
        if self.out.is_terminal and not self.out.is_dumb_terminal:
            self._waiting = self.out.status(Text(f"{step} ... (Ctrl-C stops)", style="dim"))
            self._waiting.start()

    def tell(self, finding: Finding) -> None:
        """Show what came of a step."""
        self.close()
        mark, style = _MARKS[finding.state]
        line = Table.grid(padding=(0, 1))
        line.add_column(width=4, no_wrap=True)
        line.add_column(width=12, no_wrap=True)
        line.add_column(ratio=1, overflow="fold")
        summary = Text(printable(finding.summary))
        if finding.seconds is not None:
            summary.append(f"  {duration(finding.seconds)}", style="dim")
        line.add_row(Text(mark, style=style), Text(finding.step, style="bold"), summary)
        self.out.print(line)
        self._more(finding)

    def conclude(self, report: Report) -> None:
        """Show the end of it."""
        self.close()
        name = printable(report.agent)
        if report.is_usable:
            more = "" if report.has_turn else " `--prompt TEXT` also sends it a message."
            self.out.print(Text(f"\n{name} can be used.{more}", style="green"))
        else:
            self.out.print(Text(f"\n{name} can't be used.", style="bold red"))

    def _more(self, finding: Finding) -> None:
        if finding.facts:
            facts = Table.grid(padding=(0, 2))
            facts.add_column(style="dim", no_wrap=True, max_width=24)
            facts.add_column(overflow="fold")
            for label, fact in finding.facts:
                facts.add_row(Text(printable(label)), Text(printable(fact)))
            self._indented(facts)
        if finding.stderr:
            lines = finding.stderr.splitlines()[-_SHOWN_LINES:]
            told = Text(printable("\n".join(lines)), style="dim")
            self._indented(Group(Text("the last lines of its stderr:", style="dim"), told))
        if finding.advice:
            self._indented(Text(printable(finding.advice), style="yellow"))

    def _indented(self, what: RenderableType) -> None:
        self.out.print(Padding(what, (0, 0, 0, 18), expand=False))

    def close(self) -> None:
        """Leave the screen as it is."""
        if self._waiting is not None:
            self._waiting.stop()
            self._waiting = None
