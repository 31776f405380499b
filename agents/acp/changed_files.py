"""Reads the files that an agent has changed, to show at which lines it did.

Only files of the session's own folder are read. Some folders are on the other side of a network, so
who reads bounds the time: what can't be read soon is shown without line numbers.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import trio

MOST_BYTES = 1_000_000
"""The largest file that is read."""
_READERS = trio.CapacityLimiter(2)


async def read_changed(path: str, root: str) -> str | None:
    """Return the text of a file below the folder `root`, None if it can't be had.

    It may take for ever; a thread that is stuck is left behind when this is cancelled.
    """
    if not (os.path.isabs(path) and root):
        return None
    return await trio.to_thread.run_sync(
        _read, path, root, abandon_on_cancel=True, limiter=_READERS
    )


def _read(path: str, root: str) -> str | None:
    try:
        real = Path(path).resolve(strict=True)
        if not real.is_relative_to(Path(root).resolve()):
            return None
        file = os.open(real, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(file, "rb") as opened:
            about = os.fstat(opened.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
                return None
            content = opened.read(MOST_BYTES + 1)
        return content.decode() if len(content) <= MOST_BYTES else None
    except (OSError, ValueError):
        return None
