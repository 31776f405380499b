"""The machine of `agents.acp.turn_states`, as a table and as a diagram."""

from __future__ import annotations

from agents.acp.turn_states import (
    TRANSITIONS,
    TURN_EVENTS,
    TurnCell,
    TurnEvent,
    TurnState,
    changes,
)

from .markdown import block, table


def _name(event: type[TurnEvent]) -> str:
    words = "".join(
        f" {letter.lower()}" if letter.isupper() else letter for letter in event.__name__
    )
    return words.strip()


def _does(cell: TurnCell) -> str:
    return ", ".join(step.value for step in cell.steps)


def transitions() -> str:
    """Return an event's row with the cells in which something happens, equal ones together."""
    rows: list[list[str]] = []
    for event in TURN_EVENTS:
        states: dict[TurnCell, list[str]] = {}
        for state in TurnState:
            if changes(state, event):
                states.setdefault(TRANSITIONS[state][event], []).append(state.value)
        cells = (
            f"{', '.join(names)}: {_does(cell) or '-'} → **{cell.then.value}**"
            for cell, names in states.items()
        )
        rows.append([_name(event), event.__doc__ or "", "<br>".join(cells)])
    return table(["event", "meaning", "in these states: steps → next state"], rows)


def diagram() -> str:
    """Return the state diagram, without the cells in which nothing happens."""
    lines = ["stateDiagram-v2", f"    [*] --> {TurnState.NEW.value}"]
    for state, row in TRANSITIONS.items():
        for event, cell in row.items():
            if changes(state, event):
                does = f" / {_does(cell)}" if cell.steps else ""
                lines.append(f"    {state.value} --> {cell.then.value}: {_name(event)}{does}")
    return block("mermaid", "\n".join(lines))
