"""Faults of the page of what agents know, and of the report of a problem."""

from __future__ import annotations

from tests.planted import Fault

from .faults import ExtensionGround

GROUND = ExtensionGround(
    package="extension/src/inspection",
    tests="test/inspection",
    copied=("extension/src", "extension/test"),
)

FAULTS = [
    Fault(
        "a page starts the program",
        "knowledge",
        "if (this.server.pid !== undefined) {",
        "{",
    ),
    Fault(
        "a page that nobody sees asks on",
        "knowledge",
        "panel !== this.panel || !panel.visible) {",
        "panel !== this.panel) {",
    ),
    Fault(
        "a slow program is asked again and again",
        "knowledge",
        "if (this.asking || ",
        "if (",
    ),
    Fault(
        "two commands at once leave two pages",
        "knowledge",
        "    this.dispose(); // the command was run twice meanwhile\n",
        "",
    ),
    Fault(
        "a report has secrets",
        "problem",
        "content: hidden(text, await sources.secrets()),",
        "content: text,",
    ),
    Fault(
        "a line of the log ends its block in a report",
        "problem",
        "Math.max(3, ...runs.map((run) => run.length + 1))",
        "3",
    ),
    Fault(
        "a shorter secret is hidden first, and the rest of a longer one is left",
        "hidden",
        "other.length - one.length",
        "one.length - other.length",
    ),
    Fault(
        "what looks like a key stays in a report",
        "hidden",
        ".replace(KEYS, HIDDEN)",
        "",
    ),
    Fault(
        "the log of a report grows without end",
        "kept_lines",
        "    this.lines.splice(0, this.lines.length - MAX_KEPT_LINES);\n",
        "",
    ),
]
