"""The processes of one agent, and which of them serves the next session.

The first session starts a process, and simultaneous sessions start only one. It serves all
sessions, unless sessions of one process would disturb each other. After a failure a process serves
no new session, so the next session starts another.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial

import attrs
from msgspec.structs import replace

from agents.acp.connected_agent import ConnectedAgent
from agents.acp.learned import Learned
from agents.acp.prompt.budget import ContextWindow
from agents.acp.quirks import KnownAgent
from agents.acp.transport.base import Connect, Link
from agents.acp.transport.subprocess import open_process
from agents.acp.transport.trace import tapped
from agents.boundary import failure_of
from agents.guarded import Tasks
from agents.trace import TapFor
from agents.workspace import Workspace
from bridge.wire import EnvVariable, McpServerSpec

from .process import AcpProcess


@attrs.define(eq=False, repr=False)
class ProcessPool:
    """The processes of one definition; they run in `tasks`, and `start_link` starts one.

    One without a session is kept for `idle_seconds`. `spares`: sessions are opened in advance.
    """

    spec: McpServerSpec
    known: KnownAgent
    tasks: Tasks
    start_link: Connect | None
    tap_for: TapFor
    idle_seconds: float
    spares: bool
    learned: Learned
    workspace: Workspace
    window: ContextWindow
    gives_one_each: bool = attrs.field(default=False, init=False)
    """Whether each process has one session, because sessions would disturb each other."""
    _repeats_ids: bool = attrs.field(default=False, init=False)
    """Whether the agent gave two sessions one id."""
    _processes: list[AcpProcess] = attrs.field(factory=list[AcpProcess], init=False)
    _shares_tools: bool = attrs.field(default=False, init=False)

    def __len__(self) -> int:
        return len(self._processes)

    @property
    def groups(self) -> Mapping[int, str]:
        """The groups that the processes lead, each with the agent's name."""
        return {one.pid: one.name for one in self._processes if one.pid is not None}

    @property
    def peers(self) -> Iterator[ConnectedAgent]:
        """The agents that have introduced themselves."""
        return (one.peer for one in self._processes if one.peer is not None)

    def end(self) -> None:
        """End the processes; nobody may use them any more."""
        for process in self._processes:
            process.end()

    def retire(self) -> None:
        """Have the next session start a process; the others end with their sessions."""
        for process in self._processes:
            process.retire()
            if not process.claims:
                process.end()

    def separate(self) -> None:
        """Give each further session its own process: the agent gave two sessions one id."""
        self._repeats_ids = True

    @asynccontextmanager
    async def claimed(
        self, *, edits_by_editor: bool | None = None
    ) -> AsyncGenerator[ConnectedAgent]:
        """Have a process that is ready for one session more; raises `AgentError`.

        In one process either the editor makes all edits, or the agent makes all; None takes any.
        """
        process, peer = await self._claim(edits_by_editor=edits_by_editor)
        try:
            yield peer
        finally:
            process.vacate()
            self._release(process)

    async def _claim(self, *, edits_by_editor: bool | None) -> tuple[AcpProcess, ConnectedAgent]:
        while True:
            self._shares_tools |= any(process.shares_tools for process in self._processes)
            free = (
                process
                for process in self._processes
                if edits_by_editor in (process.edits_by_editor, None) and self._has_room(process)
            )
            process = next(free, None) or self._start(edits_by_editor=bool(edits_by_editor))
            process.claim()
            try:
                peer = await process.introduced()
            except BaseException:
                self._release(process)
                raise
            self._shares_tools |= peer.shares_tools
            self.gives_one_each = self._repeats_ids or self._shares_tools
            if not self.gives_one_each or not process.is_occupied:
                process.occupy()
                return process, peer
            self._release(process)  # several came before it was known that only one can stay

    def _release(self, process: AcpProcess) -> None:
        """Release a process. One without a session is kept for the next chat, no more."""
        process.release()
        if process.is_spare:
            for other in self._processes:
                if other is not process and other.is_spare:
                    other.end()

    def _has_room(self, process: AcpProcess) -> bool:
        return process.is_usable and not (self.gives_one_each and process.claims)

    def _start(self, *, edits_by_editor: bool) -> AcpProcess:
        spec = self._without_own_edits if edits_by_editor else self.spec
        process = AcpProcess(
            spec,
            partial(self._connect, spec),
            self.idle_seconds,
            self.spares,
            self.learned,
            self.workspace,
            self.window,
            edits_by_editor,
        )
        self._processes.append(process)
        self.tasks.start_soon(self._run, process, name=f"agent {self.spec.name}")
        return process

    async def _run(self, process: AcpProcess) -> None:
        try:
            await process.run()
        except* Exception as group:
            process.lose(failure_of(group, f"agent={self.spec.name}"))
        finally:
            self._processes.remove(process)

    def _connect(self, spec: McpServerSpec) -> AbstractAsyncContextManager[Link]:
        tap = self.tap_for(spec.name)
        start = self.start_link
        link = open_process(spec, self.known.environment) if start is None else start()
        return link if tap is None else tapped(link, tap)

    @property
    def _without_own_edits(self) -> McpServerSpec:
        """The definition with the agent's own tools to edit switched off, as far as that can be."""
        known, spec = self.known, self.spec
        more = (EnvVariable(name, value) for name, value in known.edit_environment.items())
        return replace(spec, args=(*spec.args, *known.edit_arguments), env=(*more, *spec.env))
