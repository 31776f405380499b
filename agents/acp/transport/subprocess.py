"""An agent's child process: started without a shell, drained always, ended for certain.

The process leads a process group of its own. Often it is a launcher (`npx`, `uvx`) with the agent
as its child, and ending the launcher alone would leave the agent running. Closing the input isn't
enough either: some agents ignore it. So the end has steps, each with a time limit: close the input,
wait, terminate the group, wait, kill the group. All of it is shielded. Windows has no such groups:
there the tree of a child that still runs is ended at once.
"""

from __future__ import annotations

import errno
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager, suppress

import attrs
import trio

from agents.acp.errors import cannot_be_given
from agents.acp.launch.definition import cannot_start, definition_fault, no_folder
from agents.acp.launch.node import check_node
from agents.base import AgentError
from bridge.value import Value
from bridge.wire import McpServerSpec

from . import running
from .base import LAST_WORDS_SECONDS, Exit
from .environment import environment_of
from .stderr import Tail
from .windows import ArgumentRefused, command_line, find_program, folded, tree_killer

LEAVING_SECONDS = 2.0
"""Seconds for an agent to end after its input was closed, and again after SIGTERM."""
ORPHAN_SECONDS = 1.0
"""Seconds for the children of an ended agent to end after SIGTERM."""
_POLL_SECONDS = 0.02

log = logging.getLogger("vscodelm.acp")


class ProcessExit(Value):
    """The end of a child after its input was closed: by itself or not, and after how long.

    `left_behind` tells whether others of its group lived on.
    """

    by_itself: bool
    seconds: float
    left_behind: bool


@attrs.define(eq=False, repr=False)
class ChildProcess:
    """A child that runs, or has ended; it satisfies `agents.acp.transport.base.Link`."""

    name: str
    process: trio.Process
    source: trio.abc.ReceiveStream
    sink: trio.abc.SendStream
    ending: ProcessExit | None = attrs.field(default=None, init=False)
    """Known when `end` has returned."""
    _stderr: Tail = attrs.field(factory=Tail, init=False)
    _is_silent: trio.Event = attrs.field(factory=trio.Event, init=False)

    async def ended(self) -> None:
        """Wait until the child has ended."""
        await self.process.wait()

    async def exit(self) -> Exit:
        """Return the status and the last words of a child that has ended, or is about to."""
        with trio.move_on_after(LAST_WORDS_SECONDS):
            await self.process.wait()
            await self._is_silent.wait()
        return Exit(self.process.returncode, self._stderr.text())

    async def drain_stderr(
        self, stderr: trio.abc.ReceiveStream, hear: Callable[[bytes], None] | None = None
    ) -> None:
        """Read stderr to its end: a child that logs much must not come to a stop."""
        async with stderr:
            async for chunk in stderr:
                self._stderr.feed(chunk)
                if hear is not None:
                    hear(bytes(chunk))
                if log.isEnabledFor(logging.DEBUG):
                    log.debug("agent=%s stderr=%r", self.name, bytes(chunk))
        self._is_silent.set()

    async def end(self) -> None:
        """Return when the whole group is gone."""
        with trio.CancelScope(shield=True):
            began = trio.current_time()
            await self.sink.aclose()
            with trio.move_on_after(LEAVING_SECONDS):
                await self.process.wait()
            led = self.process.returncode is None
            seconds = trio.current_time() - began
            if sys.platform == "win32":
                self.ending = ProcessExit(not led, seconds, left_behind=False)
                if led:
                    await self._end_tree()
            else:
                is_left = self._signal(signal.SIGTERM)
                self.ending = ProcessExit(not led, seconds, is_left and not led)
                if is_left:
                    with trio.move_on_after(LEAVING_SECONDS if led else ORPHAN_SECONDS):
                        await self.process.wait()
                        while self._signal(0):  # noqa: ASYNC110  a group can only be looked at
                            await trio.sleep(_POLL_SECONDS)
                self._signal(signal.SIGKILL)
            await self.process.wait()
            await self.source.aclose()
        log.info("agent=%s pid=%s ended status=%s", self.name, self.pid, self.process.returncode)

    @property
    def pid(self) -> int:
        """The process, and its group."""
        return self.process.pid

    if sys.platform == "win32":

        async def _end_tree(self) -> None:
            """End the child and all that it started; what a child that has ended started, stays."""
            with trio.move_on_after(LEAVING_SECONDS), suppress(OSError):
                command = tree_killer(self.pid, folded(os.environ))
                await trio.run_process(
                    command, capture_stdout=True, capture_stderr=True, check=False
                )
            if self.process.returncode is None:
                self.process.kill()

    else:

        def _signal(self, number: int) -> bool:
            """Signal the group, 0 only looks; return whether anybody was there."""
            try:
                os.killpg(self.pid, number)
            except ProcessLookupError:
                return False
            except PermissionError:  # macOS: only zombies are left, or no rights
                return False
            return True


@asynccontextmanager
async def open_process(
    spec: McpServerSpec,
    environment: Mapping[str, str] | None = None,
    *,
    hear: Callable[[bytes], None] | None = None,
) -> AsyncGenerator[ChildProcess]:
    """Start an agent; raises `AgentError` where that can't be done.

    `environment` overrides our own, and the definition overrides both. `hear` gets the agent's
    stderr. On exit the whole group of the child is gone.
    """
    cwd = working_directory(spec)
    whole = environment_of(spec.env, environment or {}, os.environ)
    await check_node((spec.command, *spec.args), whole, cwd)
    process = await _start(spec, whole, cwd)
    assert process.stdout is not None, "asked for in _start"
    assert process.stdin is not None, "asked for in _start"
    assert process.stderr is not None, "asked for in _start"
    child = ChildProcess(spec.name, process, process.stdout, process.stdin)
    running.begins(child.pid)
    log.info("agent=%s pid=%s started command=%s", spec.name, child.pid, spec.command)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(child.drain_stderr, process.stderr, hear)
            try:
                yield child
            finally:
                await child.end()
                nursery.cancel_scope.cancel()
    finally:
        running.has_ended(child.pid)
        with trio.CancelScope(shield=True):  # if the nursery itself was cancelled at once
            await process.stderr.aclose()


def working_directory(spec: McpServerSpec) -> str:
    """Return the absolute folder in which an agent works: its own, or ours.

    Raises `AgentError` where the definition can't be used, or our own folder was removed.
    """
    fault = definition_fault(spec)
    if fault is not None:
        raise AgentError(fault)
    try:
        return os.path.abspath(os.path.expanduser(spec.cwd)) if spec.cwd else os.getcwd()
    except (OSError, ValueError) as error:
        raise AgentError(no_folder(spec, error)) from None


async def _start(spec: McpServerSpec, environment: Mapping[str, str], cwd: str) -> trio.Process:
    try:
        if sys.platform == "win32":
            return await trio.lowlevel.open_process(
                windows_line(spec, environment, os.path.isfile),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=folded(environment),
                cwd=cwd,
                creationflags=subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW,
            )
        return await trio.lowlevel.open_process(
            [spec.command, *spec.args],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise AgentError(cannot_start(spec, error, environment)) from None


def windows_line(
    spec: McpServerSpec, environment: Mapping[str, str], is_file: Callable[[str], bool]
) -> str:
    """Return the line that starts an agent on Windows; raises `AgentError`, or `OSError`."""
    known = folded(environment)
    program = find_program(spec.command, known, is_file)
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), spec.command)
    try:
        return command_line(program, spec.args, known)
    except ArgumentRefused as refused:
        raise AgentError(cannot_be_given(spec, refused)) from None
