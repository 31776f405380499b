"""Faults to be planted into what a person is told (`tests.test_planted_faults`)."""

from __future__ import annotations

from tests.planted import Fault, Ground

GROUND = Ground(
    "bridge/inspection",
    "tests/bridge/inspection",
    copied=("agents", "bridge", "actors", "vscodelm", "docs", "tests"),
    tested_by={
        "telling": ("tests/bridge/inspection/test_telling.py",),
        "tracker": ("tests/bridge/inspection/test_telling.py", "tests/vscodelm/replay/test_run.py"),
    },
)

FAULTS = [
    Fault(
        "a chat that went on since is said to be forked",
        "telling",
        "shared == len(self.history.exchanges)",
        "True",
    ),
    Fault(
        "a session that remembers too much is said to be forked",
        "telling",
        "kind is MemoryKind.SESSIONS and not origin.is_rewound",
        "kind is MemoryKind.SESSIONS",
    ),
    Fault(
        "a session forgets by itself what was withdrawn",
        "telling",
        "            return before\n",
        "            return False\n",
    ),
    Fault(
        "what another agent answered is said to be new",
        "tracker",
        "past = told_before(asked.routed.path, new_from)",
        "past = new_from",
    ),
    Fault(
        "a secret is looked for in what is left of a text",
        "inspection",
        "return shown(self.hide(_beginning(text)), MOST_SHOWN)",
        "return self.hide(shown(_beginning(text), MOST_SHOWN))",
    ),
    Fault(
        "the events are never forgotten",
        "inspection",
        "if len(self._entries) > self.most:",
        "if False:",
    ),
    Fault(
        "each round of the progress tool is a row",
        "inspection",
        "if decision.outcome.reason is Reason.PROGRESS and newest is not None:",
        "if False:",
    ),
    Fault(
        "the messages of a chat are kept after its end",
        "inspection",
        "            self.decision = replace(self.decision, delivered=())\n",
        "",
    ),
    Fault(
        "times don't begin with the first event",
        "inspection",
        "self._start = now\n",
        "self._start = 0.0\n",
        ("tests/bridge/inspection/test_inspection.py",),
    ),
]
