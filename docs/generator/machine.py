"""The machine of `bridge.history`, as tables and as a diagram."""

from __future__ import annotations

from bridge.exchange import Ending
from bridge.history import TRANSITIONS, Kind, Phase, Step

from .markdown import block, table

_INPUTS = {
    Kind.EXTENDS: "A request that goes on from everything shown.",
    Kind.SUPERSEDES: "A request that goes on from the committed part, and takes the rest back.",
    Kind.CANCEL: "The editor cancels the open request.",
    Kind.EMIT: "The agent says something in this turn.",
    Kind.FINISH: "The agent's turn ended, or waits for the results of calls.",
    Kind.FAIL: "The agent's turn failed.",
    Kind.CLOSE: "The conversation is given up: idle too long, one too many, answered for good, or "
    "the process ends.",
    Kind.STALE: "Something about an older turn or another request.",
}

_STEPS = {
    Step.ABORT: "The session is told to stop its turn.",
    Step.CANCELLED: "The open request resolves; the exchange ended cancelled.",
    Step.COMPLETED: "The open request resolves; the exchange ended complete, or empty.",
    Step.FAILED: "The open request gets an error; the exchange ended failed.",
    Step.COMMIT: "The provisional exchange becomes committed, and the path takes the host's words. "
    "Where there is none yet, the exchanges that the request repeats are committed.",
    Step.WITHDRAW: "The provisional exchange is forgotten, and the path takes the host's words.",
    Step.DELIVER: "A new turn begins, and the session gets what is new.",
    Step.FORWARD: "The editor is shown the parts, and they are recorded.",
    Step.REFUSE: "A caller in this process broke a rule: an exception, and nothing changes.",
}

_ENDINGS = {
    Ending.OPEN: "It still streams.",
    Ending.COMPLETE: "The agent said all it had to say, or waits for results of calls.",
    Ending.CANCELLED: "The editor stopped it, or asked the next thing. What was sent stays valid.",
    Ending.FAILED: "The request got an error. What was sent before it stays valid.",
    Ending.EMPTY: "It ended by itself, but showed nothing that a host keeps.",
}


def _cell(phase: Phase, kind: Kind) -> str:
    cell = TRANSITIONS[phase][kind]
    steps = ", ".join(step.value for step in cell.steps)
    if cell.then is not phase:
        return f"{steps} → **{cell.then.value}**".strip()
    return steps or "-"


def transitions() -> str:
    """Return every cell: an input's row, a phase's column; a dash where nothing happens."""
    return table(
        ["input", *(phase.value for phase in TRANSITIONS)],
        [[kind.value, *(_cell(phase, kind) for phase in TRANSITIONS)] for kind in Kind],
    )


def diagram() -> str:
    """Return the state diagram, without the cells in which nothing happens."""
    lines = ["stateDiagram-v2", f"    [*] --> {Phase.IDLE.value}"]
    for phase, row in TRANSITIONS.items():
        for kind, cell in row.items():
            if cell.steps or cell.then is not phase:
                does = f" / {', '.join(step.value for step in cell.steps)}" if cell.steps else ""
                lines.append(f"    {phase.value} --> {cell.then.value}: {kind.value}{does}")
    return block("mermaid", "\n".join(lines))


def inputs() -> str:
    """Return what each input means."""
    return table(["input", "meaning"], [[kind.value, _INPUTS[kind]] for kind in Kind])


def steps() -> str:
    """Return what each step does."""
    return table(["step", "what it does"], [[step.value, _STEPS[step]] for step in Step])


def endings() -> str:
    """Return how an exchange can end."""
    return table(["ending", "when"], [[ending.value, _ENDINGS[ending]] for ending in Ending])
