"""Counts the processes of agents with their children, and their memory.

A process of an agent leads a group, which contains its children. Linux lists each process in
`/proc`, and other systems by `ps`. On Windows, which has no groups, nothing is counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import trio

MEASURING_SECONDS = 2.0
"""Seconds that measuring the memory of agents' processes may take."""

ProcessRow: TypeAlias = tuple[int, int]
"""The group of a process, and the bytes of its memory."""

_GROUP, _RESIDENT = 2, 21
"""Fields of `/proc/PID/stat`, counted behind the name, which may hold anything."""


class Held(NamedTuple):
    """The processes and the memory of a group."""

    processes: int
    memory_bytes: int


async def held_by(groups: Collection[int]) -> Mapping[int, Held]:
    """Return what groups of processes hold, as far as it can be read."""
    if not groups or sys.platform == "win32":
        return {}
    rows: Iterable[ProcessRow] = ()
    with suppress(OSError), trio.move_on_after(MEASURING_SECONDS):
        if sys.platform == "linux":
            rows = await trio.to_thread.run_sync(_read_proc, abandon_on_cancel=True)
        else:
            listed = await trio.run_process(
                # An option each: all that follows "=" is the header, to the end of the argument.
                ["ps", "-A", "-o", "pgid=", "-o", "rss=", "-o", "stat="],
                capture_stdout=True,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            rows = rows_of_ps(listed.stdout)
    return summed(rows, groups)


def summed(rows: Iterable[ProcessRow], groups: Collection[int]) -> Mapping[int, Held]:
    """Return what each of the groups holds of which there are rows."""
    held: dict[int, Held] = {}
    for group, size in rows:
        if group in groups:
            before = held.get(group, Held(0, 0))
            held[group] = Held(before.processes + 1, before.memory_bytes + size)
    return held


def row_of_stat(stat: bytes, page: int) -> ProcessRow | None:
    """Read `/proc/PID/stat`; None for a process that has ended and is but waited for."""
    fields = stat[stat.rindex(b")") + 1 :].split()
    if fields[0] == b"Z":
        return None
    return int(fields[_GROUP]), int(fields[_RESIDENT]) * page


def rows_of_ps(listed: bytes) -> Iterator[ProcessRow]:
    """Read lines with a group, the KiB of memory and a state, as `ps` writes them."""
    for line in listed.splitlines():
        group, size, state = line.split()
        if not state.startswith(b"Z"):
            yield int(group), int(size) * 1024


def _read_proc() -> list[ProcessRow]:
    page = os.sysconf("SC_PAGE_SIZE")
    rows: list[ProcessRow] = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # it may be gone
                row = row_of_stat(file.read(), page)
                if row is not None:
                    rows.append(row)
    return rows
