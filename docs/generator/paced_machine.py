"""The machine of `actors.progress.machine`, as a diagram."""

from __future__ import annotations

from actors.progress.machine import TRANSITIONS, PacedState

from .markdown import block


def diagram() -> str:
    """Return the state diagram, without the cells in which nothing happens."""
    lines = ["stateDiagram-v2", f"    [*] --> {PacedState.RUNNING.value}"]
    for state, row in TRANSITIONS.items():
        for event, (then, steps) in row.items():
            if then is not state or steps:
                does = "".join(f" / {step.value}" for step in steps)
                lines.append(f"    {state.value} --> {then.value}: {event.value}{does}")
    return block("mermaid", "\n".join(lines))
