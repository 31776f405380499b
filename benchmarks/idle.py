"""Measure the idle bridge: its CPU time with live ACP agents and no traffic."""

from __future__ import annotations

import time
from contextlib import ExitStack

from .acp_agent import AcpEditor, scripted
from .harness import VSCODELM, Result, running

LIMIT = 0.1
SETTLING_SECONDS = 2.0
"""Work soon after a turn, such as writing to the store, doesn't count as idle."""


def measure(
    agents: int = 20, seconds: float = 60.0, settling: float = SETTLING_SECONDS
) -> list[Result]:
    """Talk once with each of so many agents, each a process, then measure how little happens."""
    with ExitStack() as stack:
        child = stack.enter_context(running([VSCODELM]))
        for number in range(agents):
            command, *args = stack.enter_context(scripted({}))
            # An agent of its own for each: another name is another definition.
            agent = {"name": f"fake-{number}", "command": command, "args": args}
            AcpEditor(child, agent).ask(f"This is chat {number}.")
        stats = AcpEditor(child, {}).stats()
        if (stats["sessions"], stats["processes"]) != (agents, agents):
            raise RuntimeError(f"not {agents} sessions, each with its process: {stats}")
        time.sleep(settling)
        before, began = child.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        used = (child.cpu_seconds() - before) / (time.monotonic() - began)
    note = f"{agents} live ACP agents, {seconds:g} s without a word"
    return [Result("idle", 100 * used, LIMIT, "% CPU", note)]
