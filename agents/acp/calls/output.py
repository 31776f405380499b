"""The output and the exit status of a tool call's command, as agents send them in `_meta`. Pure.

The protocol has no field for either. So agents that run commands themselves send pieces of the
output in `_meta`, and the exit status with the last of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import attrs

from agents.acp.text.markdown import one_line

MOST_CHARACTERS = 200_000
"""Characters of a command's output that are kept: half of its beginning, half of its end."""

_HALF = MOST_CHARACTERS // 2
_PIECES = ("terminal_output", "terminal_output_delta")
_CODES = ("exit_code", "exitCode")
_STATUS_KEYS = frozenset({*_CODES, "signal"})


@attrs.define
class CallOutput:
    """The output of one call's command, as far as it has come."""

    status: str = ""
    """The command's failure, for a person; empty if it succeeded or its end is unknown."""
    _head: list[str] = attrs.field(factory=list[str], init=False)
    _room: int = attrs.field(default=_HALF, init=False)
    """Characters for which the beginning has room."""
    _tail: list[str] = attrs.field(factory=list[str], init=False)
    _held: int = attrs.field(default=0, init=False)
    """Characters in the end."""
    _left_out: int = attrs.field(default=0, init=False)

    def learn(self, meta: Mapping[str, Any] | None) -> None:
        """Take in the command's output from an update of the call."""
        if not meta:
            return
        for key in _PIECES:
            match meta.get(key):
                case {"data": str(piece)}:
                    self._add(piece)
                case _:
                    pass
        self.status = exit_status(meta.get("terminal_exit")) or self.status

    @property
    def text(self) -> str:
        """The output, without its middle if it is too long."""
        end = "".join(self._tail)
        left_out = self._left_out + max(0, len(end) - _HALF)
        gap = f"\n… {left_out:,} characters left out …\n" if left_out else ""
        return "".join((*self._head, gap, end[-_HALF:]))

    def _add(self, piece: str) -> None:
        if self._room:
            begins, piece = piece[: self._room], piece[self._room :]
            self._head.append(begins)
            self._room -= len(begins)
        if not piece:
            return
        self._tail.append(piece)
        self._held += len(piece)
        if self._held > 2 * _HALF:  # now and then, so that a piece costs nothing
            self._left_out += self._held - _HALF
            self._tail, self._held = ["".join(self._tail)[-_HALF:]], _HALF


def exit_status(given: Any) -> str:
    """Return how a command ended, for a person; nothing where it ended well, or isn't told."""
    if not isinstance(given, dict):
        return ""
    fields = cast("dict[str, Any]", given)
    if not any(key in fields for key in _CODES):
        return ""
    signal = fields.get("signal")
    if isinstance(signal, str) and signal:
        return f"ended by {one_line(signal, 20)}"
    code = next(fields[key] for key in _CODES if key in fields)
    return f"exit code {code}" if type(code) is int and code else ""


def is_exit_status(given: Any) -> bool:
    """Return whether a call's raw output is nothing but the exit status of its command."""
    if not isinstance(given, dict):
        return False
    keys = cast("dict[str, Any]", given).keys()
    return not keys.isdisjoint(_CODES) and keys <= _STATUS_KEYS
