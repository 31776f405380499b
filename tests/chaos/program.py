"""`vscodelm` for the chaos: it forgets what nobody uses after a second, and says what it holds.

    python -m tests.chaos.program FILE [OPTIONS OF VSCODELM]

On SIGUSR1 it writes to FILE how many tasks, descriptors and threads it has. On SIGUSR2 its disk is
full, as ENOSPC says it, for everything that it writes down; on the next SIGUSR2 it isn't any more.
"""

from __future__ import annotations

import errno
import functools
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import trio

from actors import session
from actors.trace import FileTrace
from agents.acp.agent import AcpAgent
from agents.directory import DirectoryOptions
from agents.open_responses.http import pool as connections
from vscodelm import serve
from vscodelm.cli import main
from vscodelm.store import database

SHORT_SECONDS = 1.0
is_full = False


class ForgetfulDirectory(DirectoryOptions):
    """Options with a shorter time than the server's."""

    idle_seconds: float = 2 * SHORT_SECONDS


def forget_soon() -> None:
    """Keep nothing for long that nobody uses."""
    defaults = AcpAgent.__init__.__kwdefaults__
    assert defaults is not None
    defaults["idle_seconds"] = SHORT_SECONDS
    connections.KEPT_SECONDS = SHORT_SECONDS
    session.ANSWER_SECONDS = 5 * SHORT_SECONDS
    serve.DirectoryOptions = ForgetfulDirectory


def fill_the_disk() -> None:
    """Let writing fail while the disk is said to be full."""
    write, change = FileTrace._write, database.Database.change  # pyright: ignore[reportPrivateUsage]

    def written(self: FileTrace, line: bytes) -> None:
        if is_full:
            self._end(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))  # pyright: ignore[reportPrivateUsage]
        write(self, line)

    @functools.wraps(change)
    def changed(self: database.Database, *arguments: Any, **named: Any) -> Any:
        if is_full:
            raise database.FullStore("database or disk is full")  # SQLite's words for ENOSPC
        return change(self, *arguments, **named)

    FileTrace._write = written  # pyright: ignore[reportPrivateUsage]
    database.Database.change = changed


def tell(file: Path) -> None:
    """Write down what the process holds now."""
    held = {
        "tasks": trio.lowlevel.current_statistics().tasks_living,
        "descriptors": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
    }
    new = file.with_suffix(".new")
    new.write_text(json.dumps(held))
    new.replace(file)


def toggle() -> None:
    """Fill the disk, or make room on it."""
    global is_full
    is_full = not is_full


if __name__ == "__main__":
    told = Path(sys.argv.pop(1))
    forget_soon()
    fill_the_disk()
    signal.signal(signal.SIGUSR1, lambda number, frame: tell(told))
    signal.signal(signal.SIGUSR2, lambda number, frame: toggle())
    main(prog_name="vscodelm")
