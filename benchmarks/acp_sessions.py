"""The memory of the bridge with many sessions open on one ACP agent."""

from __future__ import annotations

from .acp_agent import editing
from .harness import Result

LIMIT = 60.0
TURNS = 3
"""Of each conversation."""


def measure(sessions: int = 100) -> list[Result]:
    """Hold conversations side by side, on one process, then look."""
    with editing({"otherwise": [{"say": "word ", "times": 200}]}) as editor:
        for n in range(sessions):
            texts = [f"This is chat {n}, turn 0."]
            for turn in range(1, TURNS):
                texts += [editor.ask(*texts), f"This is chat {n}, turn {turn}."]
            editor.ask(*texts)
        stats = editor.stats()
        if (stats["sessions"], stats["processes"]) != (sessions, 1):
            raise RuntimeError(f"not {sessions} sessions on one process: {stats}")
        size = editor.child.resident_bytes()
    return [Result("acp sessions", size / 1e6, LIMIT, "MB", f"{sessions} on one agent process")]
