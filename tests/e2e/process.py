"""A real `vscodelm` subprocess with a fake editor at its pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio

from tests.fakes.editor import FakeEditor

COMMAND = (sys.executable, "-m", "vscodelm")
PATIENCE = 30.0
"""Seconds; a process needs some to start where every core is busy."""


@attrs.define(eq=False)
class Process:
    """A running process; `editor` speaks with it."""

    it: trio.Process
    editor: FakeEditor
    stderr: bytes = b""

    async def exits(self) -> int:
        """Wait for the end and return the exit status."""
        with trio.fail_after(PATIENCE):
            await self.editor.has_ended.wait()
            return await self.it.wait()


@asynccontextmanager
async def started(
    *arguments: str,
    command: Sequence[str] = COMMAND,
    env: Mapping[str, str] | None = None,
    inherits: bool = True,
    status: int = 0,
) -> AsyncGenerator[Process, None]:
    """Start a process. On exit its input ends, and it must end with this status.

    Its environment is ours with `env` over it, or `env` alone.
    """
    it = await trio.lowlevel.open_process(
        [*command, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(env) if inherits else dict(env or {}),
    )
    assert it.stdin is not None
    assert it.stdout is not None
    process = Process(it, FakeEditor(it.stdout, it.stdin, patience=PATIENCE))
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_drain, process)
            nursery.start_soon(process.editor.run)
            yield process
            process.editor.close()
            assert await process.exits() == status
        assert not process.editor.open, "left unanswered"
    finally:
        it.kill()  # has no effect on one that has ended
        with trio.CancelScope(shield=True):
            await it.wait()


async def run(
    *arguments: str, env: Mapping[str, str] | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """Run a process to its end."""
    with trio.fail_after(PATIENCE):
        return await trio.run_process(
            [*COMMAND, *arguments],
            stdin=stdin,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
            env=_environment(env),
        )


def _environment(added: Mapping[str, str] | None) -> dict[str, str]:
    """Return our environment without what a user of this machine has configured."""
    environment = {key: value for key, value in os.environ.items() if key != "VSCODELM_CONFIG"}
    nowhere = str(Path(__file__).parent / "nowhere")
    return {**environment, "XDG_CONFIG_HOME": nowhere, "COLUMNS": "500", **(added or {})}


async def _drain(process: Process) -> None:
    assert process.it.stderr is not None
    async for chunk in process.it.stderr:
        process.stderr += chunk
