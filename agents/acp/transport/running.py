"""The children that run now, so that a second signal can kill all of them at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

from .windows import folded, tree_killer

KILLING_SECONDS = 2.0
"""Seconds that Windows may take to end the tree of one child."""

_running: set[int] = set()
"""The ids of the children; elsewhere than on Windows each is its group's, too."""


def begins(pid: int) -> None:
    """Take in a child that was started."""
    _running.add(pid)


def has_ended(pid: int) -> None:
    """Take in that a child has ended, with all that it started."""
    _running.discard(pid)


def kill_all() -> None:
    """Kill every child that runs, with all that it started, and wait for nothing else."""
    for pid in list(_running):
        with suppress(OSError, subprocess.SubprocessError):
            if sys.platform == "win32":
                command = tree_killer(pid, folded(os.environ))
                subprocess.run(command, capture_output=True, check=False, timeout=KILLING_SECONDS)
            else:
                os.killpg(pid, signal.SIGKILL)
