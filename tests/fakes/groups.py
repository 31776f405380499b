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


def groups_of_children(parent: int) -> list[int]:
    """Return the groups that living children of a process lead."""
    listed = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="], capture_output=True, text=True, check=True
    )
    rows = [line.split() for line in listed.stdout.splitlines()]
    return [
        int(pid)
        for pid, ppid, pgid, stat in rows
        if int(ppid) == parent and pid == pgid and "Z" not in stat
    ]


def group_is_gone(group: int) -> bool:
    """Return whether nobody of a group is left."""
    return not group_members(group)
