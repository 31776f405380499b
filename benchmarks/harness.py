"""Share results between the benchmarks, and run child processes to read their CPU time and memory.

The machine is never quiet. So all benchmarks but one read the CPU time that the kernel counted for
the child. Only `benchmarks.start` reads a wall clock, and it compares two processes that run in
turn. Linux only.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sysconfig
import tempfile
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

ROOT = Path(__file__).parent.parent
VSCODELM = os.path.join(sysconfig.get_path("scripts"), "vscodelm")
CHUNK = 64 * 1024
"""Bytes per read; a pipe holds no more."""
PATIENCE_SECONDS = 600.0
"""Seconds that one child may run; it hangs if it needs longer."""


@attrs.frozen
class Result:
    """One number and what it may be at most; `note` is what to judge it by."""

    name: str
    measured: float
    limit: float
    unit: str
    note: str = ""

    @property
    def held(self) -> bool:
        """Whether the limit is held."""
        return self.measured <= self.limit


def environment() -> dict[str, str]:
    """Return the environment of every child: compiled files are kept, and nothing is a user's."""
    left_out = {"PYTHONDONTWRITEBYTECODE", "VSCODELM_CONFIG"}
    kept = {key: value for key, value in os.environ.items() if key not in left_out}
    return {**kept, "XDG_CONFIG_HOME": os.devnull, "VSCODELM_STATE_DIR": state_folder()}


@functools.cache
def state_folder() -> str:
    """Return the folder for what outlives the children; it doesn't outlive us."""
    folder = tempfile.mkdtemp(prefix="vscodelm-benchmarks-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Child:
    """A process that answers lines with lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._input = process.stdin
        self._output = process.stdout.fileno()
        self._lines: list[bytes] = []  # the next one last
        self._rest = b""

    def write(self, line: bytes) -> None:
        """Write a line; the child must be reading."""
        self._input.write(line + b"\n")
        self._input.flush()

    def read(self) -> bytes:
        """Return the next line; raises `EOFError` when the child has ended."""
        while not self._lines:
            chunk = os.read(self._output, CHUNK)
            if not chunk:
                raise EOFError(f"{self._process.args!r} ended, or was stopped because it hung")
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            self._lines = lines[::-1]
        return self._lines.pop()

    def cpu_seconds(self) -> float:
        """Return the CPU time of all its threads, user and system, since it began.

        The number is clock_getcpuclockid(3) by hand: Python has it for threads only. It counts
        nanoseconds, where /proc/PID/stat counts hundredths of a second.
        """
        return time.clock_gettime(~self._process.pid << 3 | 2)

    def resident_bytes(self) -> int:
        """Return how much of it is in memory."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def running(
    argv: Sequence[str], *, variables: Mapping[str, str] | None = None, ends_by: int = 0
) -> Generator[Child]:
    """Run a child; when the block is left its input ends, and it must end too.

    A child that doesn't read its input ends by the signal `ends_by`.
    """
    whole = {**environment(), **(variables or {})}
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=whole, cwd=ROOT
    ) as process:
        stop = threading.Timer(PATIENCE_SECONDS, process.kill)
        stop.start()
        try:
            yield Child(process)
            assert process.stdin is not None
            process.stdin.close()
            if ends_by:
                process.send_signal(ends_by)
            process.wait(timeout=PATIENCE_SECONDS)
        finally:
            stop.cancel()
            process.kill()
