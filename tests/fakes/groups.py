"""Who is left of a process group; zombies don't count. Linux has them in /proc, others in `ps`."""

from __future__ import annotations

import subprocess


def group_members(group: int) -> list[int]:
    """Return the processes of a group that live."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [int(pid) for pid, pgid, stat in rows if int(pgid) == group and "Z" not in stat]


def group_is_gone(group: int) -> bool:
    """Return whether nobody of a group is left."""
    return not group_members(group)
