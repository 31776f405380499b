"""The trace of a run: every wire line in both directions, as JSON lines, secrets redacted.

The lines of the editor's wire have no `peer`; those of an agent's wire have its name there. Notes
of the History Actor's events have an `event` (`actors.journal`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import msgspec

from agents.trace import Direction, Tap
from bridge.jsonrpc import repair_surrogates
from bridge.redact import Hide, redact, unchanged

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
log = logging.getLogger("vscodelm")


def learn_nothing(_message: Any) -> None:
    """Let every message go by."""


class Trace:
    """Writes nothing: a run without `--trace-dir`."""

    is_on = False
    """Whether anything is written, so that it is worth describing what happens."""

    def line(self, direction: Direction, line: bytes) -> None:
        """Record one line."""

    def lines(self, direction: Direction, lines: bytes) -> None:
        """Record lines that are sent together."""

    def note(self, event: Mapping[str, Any]) -> None:
        """Record an event that was decided about."""

    def tap(self, peer: str) -> Tap | None:
        """Return what records the wire of an agent; None where nothing is recorded."""
        return None

    def close(self) -> None:
        """End the trace."""


class FileTrace(Trace):
    """Writes to a file that only its owner can read; each line is on disk before the next.

    If the file can't be written, as on a full disk, the trace ends, and the log says so.
    """

    is_on = True

    def __init__(
        self,
        file: IO[bytes],
        hide: Hide = unchanged,
        learn: Callable[[Any], None] = learn_nothing,
    ) -> None:
        self._file = file
        self._hide = hide
        self._learn = learn
        self._has_ended = False
        self._began = time.monotonic()

    def line(self, direction: Direction, line: bytes) -> None:
        """Record one line; of one that can't be redacted, only its size."""
        self._record(direction, line, {})

    def _record(self, direction: Direction, line: bytes, beside: dict[str, str]) -> None:
        record: dict[str, Any] = {"t_ms": self._passed(), "direction": direction, **beside}
        try:
            message = _read(line)
            if not beside:
                self._learn(message)
            written = _encode({**record, "message": redact(message, self._hide)})
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            written = _encode({**record, "message": None, "unreadable": len(line)})
        self._write(written + b"\n")

    def note(self, event: Mapping[str, Any]) -> None:
        """Record an event that was decided about."""
        self._write(_encode({"t_ms": self._passed(), **redact(dict(event), self._hide)}) + b"\n")

    def _passed(self) -> float:
        return round((time.monotonic() - self._began) * 1000, 3)

    def _write(self, line: bytes) -> None:
        if self._has_ended:
            return
        try:
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            self._end(error)

    def lines(self, direction: Direction, lines: bytes) -> None:
        """Record each of the lines."""
        for line in lines.splitlines():
            self.line(direction, line)

    def tap(self, peer: str) -> Tap:
        """Return what records the wire of an agent, with its name."""

        def record(direction: Direction, lines: bytes) -> None:
            for line in lines.splitlines():
                self._record(direction, line, {"peer": peer})

        return record

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            self._end(error)

    def _end(self, error: OSError) -> None:
        if not self._has_ended:
            self._has_ended = True
            log.error("the trace ends here: %s", error)
            self.close()  # the buffer would be written again and again


def open_trace(
    folder: Path,
    name: str,
    hide: Hide = unchanged,
    learn: Callable[[Any], None] = learn_nothing,
) -> FileTrace:
    """Return a trace in `folder`, which is made if it isn't there; raises `OSError`.

    `hide` removes known secrets from every written string. `learn` gets each message of the editor
    first, because a request contains the secrets of its agent.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.touch(mode=0o600)
    return FileTrace(path.open("ab"), hide, learn)


def trace_or_none(
    folder: Path,
    name: str,
    hide: Hide = unchanged,
    learn: Callable[[Any], None] = learn_nothing,
) -> Trace:
    """Return a trace as `open_trace` does; where there can't be one, the log says why."""
    try:
        return open_trace(folder, name, hide, learn)
    except OSError as error:
        log.error("there is no trace: %s", error)
        return Trace()


def _read(line: bytes) -> Any:
    """Return what a line says, half a character as U+FFFD."""
    try:
        return _decode(line)
    except msgspec.DecodeError:
        return _decode(repair_surrogates(line))
