"""Examines an agent: each step is bounded, and told as soon as it is done.

It goes the way that a chat goes: the same process, the same conversation, the same turn.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import attrs
import msgspec
import trio

from actors.trace import Trace
from agents.acp.public.described import missing_fixes, started_by
from agents.acp.public.running import (
    AcpProcess,
    AcpSession,
    ChildProcess,
    ConnectedAgent,
    Downloads,
    Learned,
    Link,
    SessionChannel,
    SessionParams,
    TappedLink,
    environment_of,
    open_process,
    working_directory,
)
from agents.base import AgentError
from agents.habits import Habits
from agents.launchers import advice_on
from bridge.errors import Failure
from bridge.redact import redact_arguments
from bridge.wire import McpServerSpec

from . import words
from .findings import ExaminationStep, Finding
from .turn import CLOSING_SECONDS, one_turn

STEP_SECONDS = 120.0
"""Seconds that a step may take by default; a launcher may download the agent first."""


@attrs.define(eq=False, repr=False)
class Examination:
    """One examination of one agent.

    `begin` is called before each step, `tell` with its result. `missing` is the advice if the
    command isn't there.
    """

    spec: McpServerSpec
    begin: Callable[[ExaminationStep], None]
    tell: Callable[[Finding], None]
    seconds: float = STEP_SECONDS
    prompt: str | None = None
    missing: str = ""
    trace: Trace = attrs.field(factory=Trace)
    mode: str | None = None
    """The mode that the settings choose."""
    _child: ChildProcess | None = attrs.field(default=None, init=False)
    _tried: trio.Event = attrs.field(factory=trio.Event, init=False)
    """The process was started, or couldn't be."""

    async def run(self) -> None:
        """Go through the steps, until one fails; when this returns, the agent has ended."""
        if not self._find_command():
            return
        self.begin("process")
        async with trio.open_nursery() as nursery:
            learned = Learned(nursery)  # no facts: advertised methods are tried
            process = AcpProcess(self.spec, self._connect, math.inf, spares=False, learned=learned)
            process.claim()
            nursery.start_soon(process.run)
            await self._meet(process)
            self.begin("end")
            has_ended = self._child is None or self._child.process.returncode is not None
            nursery.cancel_scope.cancel()
        self._tell_end(has_ended)

    # Before it runs.

    @property
    def _argv(self) -> tuple[str, ...]:
        return (self.spec.command, *self.spec.args)

    def _find_command(self) -> bool:
        self.begin("command")
        try:
            return self._look_for_command()
        except AgentError as error:
            failure = error.failure
            data: dict[str, Any] = {"kind": failure.kind, "detail": failure.detail}
            fixes = failure.fixes
            self.tell(Finding("command", "failed", failure.message, data=data, fixes=fixes))
            return False

    def _look_for_command(self) -> bool:
        cwd = working_directory(self.spec)
        known = started_by(self._argv).environment
        whole = environment_of(self.spec.env, known, os.environ)
        own = [variable.name for variable in self.spec.env if variable.name in whole]
        path = whole.get("PATH")
        is_path = os.path.dirname(self.spec.command) != ""
        command = os.path.join(cwd, self.spec.command) if is_path else self.spec.command
        found = shutil.which(command, path=path)
        facts = (
            ("runs", shlex.join(redact_arguments(self._argv))),
            ("works in", cwd),
            *_environment(known, own),
        )
        if found is None:
            advice = self.missing or advice_on(self.spec.command) or _WHERE
            summary = f"{self.spec.command} was not found"
            fixes = () if self.missing else missing_fixes(self.spec.command)
            self.tell(Finding("command", "failed", summary, None, facts, advice, fixes=fixes))
            return False
        self.tell(Finding("command", "ok", found, facts=facts))
        return True

    @asynccontextmanager
    async def _connect(self) -> AsyncGenerator[Link]:
        try:
            known = started_by(self._argv).environment
            await Downloads().prepare(self.spec, known)  # it takes as long as it takes
            async with open_process(self.spec, known) as child:
                self._child = child
                self._tried.set()
                yield TappedLink.of(child, self.trace.lines)
        finally:
            self._tried.set()

    # While it runs.

    async def _meet(self, process: AcpProcess) -> None:
        began = trio.current_time()
        await self._tried.wait()
        if self._child is None:
            await process.ready.wait()
            await self._fail("process", process.failure)
            return
        started = trio.current_time()
        summary = f"started, with the id {self._child.pid}"
        self.tell(Finding("process", "ok", summary, started - began))
        self.begin("initialize")
        with trio.move_on_after(self.seconds):
            await process.ready.wait()
        if not process.ready.is_set():
            await self._fail("initialize", process.no_introduction(self.seconds))
            return
        peer = process.peer
        if process.failure is not None or peer is None:
            await self._fail("initialize", process.failure)
            return
        self.tell(
            Finding(
                "initialize",
                "ok",
                words.name_of(peer.about),
                trio.current_time() - started,
                words.introduction(self.spec, peer.about, peer.known),
                data=msgspec.to_builtins(peer.about),
            )
        )
        await self._open(peer)

    async def _open(self, peer: ConnectedAgent) -> None:
        self.begin("session/new")
        began = trio.current_time()
        cwd = working_directory(self.spec)
        channel: SessionChannel | None = None
        try:
            with trio.move_on_after(self.seconds):
                channel = await peer.open(SessionParams(cwd), lambda: None)  # no spare is needed
        except AgentError as error:
            await self._fail("session/new", error.failure)
            return
        if channel is None:
            why = f"{self.spec.name} didn't open a session within {self.seconds:g} seconds."
            await self._fail("session/new", Failure("Unavailable", why))
            return
        self.tell(Finding("session/new", "ok", "a session is open", trio.current_time() - began))
        offered = channel.choices
        facts = (*words.choices(offered), *words.permission(offered, peer.known, self.mode))
        summary = "the options of a session" if facts else "it has no choice of model or mode"
        self.tell(Finding("choices", "ok", summary, facts=facts))
        numbers = count(1)
        session = AcpSession(
            peer,
            channel,
            root=cwd,
            habits=Habits(),
            new_call_id=lambda: f"doctor_{next(numbers)}",
        )
        try:
            if self.prompt is not None:
                self.begin("prompt")
                finding = await one_turn(session, self.prompt, self.seconds)
                if finding.state == "failed" and not finding.stderr:
                    finding = msgspec.structs.replace(finding, stderr=await self._last_words())
                self.tell(finding)
        finally:
            with trio.CancelScope(shield=True):
                await session.end(CLOSING_SECONDS)
            peer.close(channel)

    # Failures.

    async def _fail(self, step: ExaminationStep, failure: Failure | None) -> None:
        assert failure is not None, "it failed"
        stderr = failure.stderr_tail or await self._last_words()
        data: dict[str, Any] = {"kind": failure.kind, "detail": failure.detail}
        advice = _ADVICE.get(failure.kind, "")
        fixes = failure.fixes
        self.tell(Finding(step, "failed", failure.message, None, (), advice, stderr, data, fixes))

    async def _last_words(self) -> str:
        return "" if self._child is None else (await self._child.exit()).last_words

    # After it ran.

    def _tell_end(self, had_ended: bool) -> None:
        """Tell how it ended when it was to; of one that had already, only what it left."""
        ending = None if self._child is None else self._child.ending
        if ending is None or (had_ended and not ending.left_behind):
            return
        state, summary = "note", "it ended, but its child processes went on; the doctor ended them"
        if not ending.by_itself:
            summary = "it doesn't end with its input; the doctor ended it and its child processes"
        elif not ending.left_behind:
            state, summary = "ok", "it ended by itself and left no processes behind"
        data = {"byItself": ending.by_itself, "leftBehind": ending.left_behind}
        self.tell(Finding("end", state, summary, ending.seconds, data=data))


_WHERE = (
    "Install it, or give its whole path. vscodelm searches the folders of PATH; an editor may "
    "have fewer of them than a terminal."
)
_ADVICE = {
    "Unavailable": "Run its command in a terminal to see why it waits. If a launcher downloads the "
    "agent first, try again, or set a longer --timeout.",
}


def _environment(known: Mapping[str, str], own: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Tell what is set beside our own environment; values that a user chose may be secrets."""
    set_ = [f"{name}={value}" for name, value in known.items() if name not in own]
    facts = [("set for it", ", ".join(set_))] if set_ else []
    return (*facts, *([("configured", ", ".join(own))] if own else []))
