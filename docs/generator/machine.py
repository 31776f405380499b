"""The machine of `bridge.history.machine`, as tables and as a diagram."""

from __future__ import annotations

from bridge.history.exchange import Ending
from bridge.history.machine import TRANSITIONS, InputKind, Phase, Step

from .markdown import block, table

_INPUTS = {
    InputKind.EXTENDS: "A request that continues from everything shown.",
    InputKind.SUPERSEDES: (
        "A request that continues from the committed part and takes the rest back."
    ),
    InputKind.REJOIN: "The editor repeats the newest request by itself.",
    InputKind.CANCEL: "The editor cancels the open request.",
    InputKind.EMIT: "The agent sends output in this turn.",
    InputKind.FINISH: "The agent's turn ended, or waits for the results of tool calls.",
    InputKind.FAIL: "The agent's turn failed.",
    InputKind.CLOSE: "The conversation ends: it was idle too long, there were too many, no later "
    "request will continue it, or the process ends.",
    InputKind.STALE: "Output of an older turn, or a cancel of another request.",
}

_STEPS = {
    Step.ABORT: "Cancel the session's turn.",
    Step.CANCELLED: "Answer the open request. The exchange ends *cancelled*.",
    Step.COMPLETED: "Answer the open request. The exchange ends *complete* or *empty*.",
    Step.FAILED: "Answer the open request with an error. The exchange ends *failed*.",
    Step.COMMIT: "Commit the provisional exchange, and take the path from the request. "
    "A new conversation commits the exchanges that its first request repeats.",
    Step.WITHDRAW: "Forget the provisional exchange, and take the path from the request.",
    Step.DELIVER: "Begin a new turn, and send the session the new messages.",
    Step.FORWARD: "Send the parts to the editor, and record them.",
    Step.HAND_OVER: "Answer the open request. Its repeat is the open request from now on.",
    Step.REPEAT: "Send the editor again all parts of the newest answer.",
    Step.RESOLVE: "Answer the repeated request.",
    Step.REFUSE: "Raise an exception and change nothing: a caller in this process broke a rule.",
}

_ENDINGS = {
    Ending.OPEN: "The answer is still streaming.",
    Ending.COMPLETE: "The agent finished its answer, or waits for results of tool calls.",
    Ending.CANCELLED: "The editor cancelled the request, or sent the next one. The parts that were "
    "sent stay valid.",
    Ending.FAILED: "The request got an error. The parts that were sent before it stay valid.",
    Ending.EMPTY: "The answer ended by itself, but had nothing that an editor keeps.",
}


def _cell(phase: Phase, kind: InputKind) -> str:
    cell = TRANSITIONS[phase][kind]
    steps = ", ".join(step.value for step in cell.steps)
    if cell.then is not phase:
        return f"{steps} → **{cell.then.value}**".strip()
    return steps or "-"


def transitions() -> str:
    """Return every cell: an input's row, a phase's column; a dash where nothing happens."""
    return table(
        ["input", *(phase.value for phase in TRANSITIONS)],
        [[kind.value, *(_cell(phase, kind) for phase in TRANSITIONS)] for kind in InputKind],
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
    return table(["input", "meaning"], [[kind.value, _INPUTS[kind]] for kind in InputKind])


def steps() -> str:
    """Return what each step does."""
    return table(["step", "what it does"], [[step.value, _STEPS[step]] for step in Step])


def endings() -> str:
    """Return how an exchange can end."""
    return table(["ending", "when"], [[ending.value, _ENDINGS[ending]] for ending in Ending])
