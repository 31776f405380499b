"""The findings of an examination, step by step. Pure."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from bridge.fixes import Fix, without_secrets
from bridge.redact import Hide, map_strings
from bridge.value import Value

State: TypeAlias = Literal["ok", "note", "failed"]
ExaminationStep: TypeAlias = Literal[
    "agent", "command", "process", "initialize", "session/new", "choices", "prompt", "end"
]
Facts: TypeAlias = tuple[tuple[str, str], ...]


class Finding(Value):
    """The result of a step: `facts` are pairs of a label and a value, `data` is for programs.

    `advice` tells the user what to do, and an editor makes buttons of `fixes`. `stderr` is the end
    of the agent's standard error.
    """

    step: ExaminationStep
    state: State
    summary: str
    seconds: float | None = None
    facts: Facts = ()
    advice: str = ""
    stderr: str = ""
    data: Any = None
    fixes: tuple[Fix, ...] = ()

    def without_secrets(self, hide: Hide) -> Finding:
        """Return the finding with `hide` applied to each text: reports are shown to others."""
        return Finding(
            self.step,
            self.state,
            hide(self.summary),
            self.seconds,
            tuple((label, hide(text)) for label, text in self.facts),
            hide(self.advice),
            hide(self.stderr),
            map_strings(self.data, hide),
            without_secrets(self.fixes, hide),
        )


class Report(Value):
    """All findings; `agent` is the name that the user gave."""

    agent: str
    findings: tuple[Finding, ...]

    @property
    def is_usable(self) -> bool:
        """Whether chats can be led with the agent."""
        return bool(self.findings) and all(one.state != "failed" for one in self.findings)

    @property
    def has_turn(self) -> bool:
        """Whether a turn was led: an agent may want a login only then."""
        return any(one.step == "prompt" for one in self.findings)

    def as_json(self) -> dict[str, Any]:
        """Return the report for programs."""
        return {
            "agent": self.agent,
            "usable": self.is_usable,
            "findings": [_as_json(finding) for finding in self.findings],
        }


def duration(seconds: float) -> str:
    """Return a duration for a person."""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"


def _as_json(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = {
        "step": finding.step,
        "state": finding.state,
        "summary": finding.summary,
    }
    if finding.seconds is not None:
        told["seconds"] = round(finding.seconds, 3)
    more = {
        "facts": dict(finding.facts),
        "advice": finding.advice,
        "stderr": finding.stderr,
        "data": finding.data,
        "fixes": [msgspec.to_builtins(fix) for fix in finding.fixes],
    }
    return told | {name: value for name, value in more.items() if value}
