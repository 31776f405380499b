"""The machine of `actors.continuity.table`, as tables and as a diagram."""

from __future__ import annotations

import ast
import inspect
from itertools import pairwise

from actors.continuity.states import SessionInput, SessionState
from actors.continuity.table import TRANSITIONS, SessionCell

from .markdown import block, table


def _leads(state: SessionState, cell: SessionCell) -> str:
    steps = ", ".join(step.value for step in cell.steps) or "nothing"
    return steps if cell.then is state else f"{steps} → **{cell.then.value}**"


def transitions() -> str:
    """Return a row for each cell; there are too many inputs for columns."""
    return table(
        ["state", "input", "steps, and the next state"],
        [
            [state.value, what.value, _leads(state, cell)]
            for state, row in TRANSITIONS.items()
            for what, cell in row.items()
        ],
    )


def diagram() -> str:
    """Return the state diagram, without the cells in which no other state follows.

    The end of the conversation is left out, too: it leads from every state to the first one.
    """
    names = {state: state.name.lower() for state in SessionState}
    lines = ["stateDiagram-v2", f"    [*] --> {names[SessionState.ABSENT]}"]
    lines += [f"    {name}: {state.value}" for state, name in names.items() if name != state.value]
    lines += [
        f"    {names[state]} --> {names[cell.then]}: {what.value}"
        for state, row in TRANSITIONS.items()
        for what, cell in row.items()
        if cell.then is not state and what is not SessionInput.ENDED
    ]
    return block("mermaid", "\n".join(lines))


def states() -> str:
    """Return what the session knows in each state."""
    source = _documented(SessionState)
    return table(["state", "meaning"], [[one.value, source[one.name]] for one in SessionState])


def inputs() -> str:
    """Return what each input means."""
    source = _documented(SessionInput)
    return table(["input", "meaning"], [[one.value, source[one.name]] for one in SessionInput])


def _documented(states: type[SessionState | SessionInput]) -> dict[str, str]:
    """Return the words below each member of an enumeration, from its source."""
    (definition,) = ast.parse(inspect.getsource(states)).body
    assert isinstance(definition, ast.ClassDef), "an enumeration is a class"
    return {
        member.targets[0].id: str(ast.literal_eval(words.value))
        for member, words in pairwise(definition.body)
        if isinstance(member, ast.Assign) and isinstance(member.targets[0], ast.Name)
        if isinstance(words, ast.Expr)
    }
