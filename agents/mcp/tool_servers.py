"""Makes toolboxes, and keeps what they share: the listener, and whether an agent ignores them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import attrs
import trio

from agents.base import AgentError
from agents.guarded import Tasks
from agents.habits import Habits
from bridge.errors import Failure
from bridge.wire import ToolSpec

from .listener import Pass, RelayListener, open_listener
from .names import ServerNames
from .offer import NOBODY, ToolsOwner
from .session_tools import HttpAccess, StdioAccess, Toolbox, load
from .tools import ToolCatalogue

if TYPE_CHECKING:
    from .http import Web  # noqa: TC004  it takes long; attrs needs the name only
    from .server import EditorServer

_SUFFIX_BYTES = 3


@attrs.define(eq=False, repr=False)
class _Relay:
    """The way in by a program that the agent starts."""

    listener: RelayListener
    box: Toolbox
    _pass: Pass | None = attrs.field(default=None, init=False)

    def issue(self) -> StdioAccess:
        self.close()
        self._pass = self.listener.issue(self.box.serve)
        return self._pass.access

    def close(self) -> None:
        if self._pass is not None:
            self._pass.revoke()


@attrs.frozen(eq=False, repr=False)
class _Url:
    """The way in by a URL."""

    web: Web
    serving: trio.CancelScope

    def issue(self) -> HttpAccess:
        return self.web.issue()

    def close(self) -> None:
        self.serving.cancel()


@attrs.define(eq=False, repr=False)
class Toolboxes:
    """The toolboxes of one agent definition; what they need runs in `tasks`."""

    tasks: Tasks
    new_call_id: Callable[[], str]
    habits: Habits = attrs.field(factory=Habits)
    """Behaviour of the agent, seen in any session."""
    names: ServerNames = attrs.field(
        factory=lambda: ServerNames(partial(secrets.token_hex, _SUFFIX_BYTES)), init=False
    )
    _has_complained: bool = attrs.field(default=False, init=False)
    _listener: RelayListener | None = attrs.field(default=None, init=False)
    _listening: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _opening: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    async def prepare(self) -> None:
        """Get ready for agents that start a program; raises `AgentError`."""
        async with self._opening:
            if self._listener is None:
                self._listener = await self.tasks.start(self._keep_listener)
                self.tasks.start_soon(load, "server")

    @property
    def is_ready(self) -> bool:
        """Whether `make` can be called: not before `prepare`, nor once the listener has failed."""
        return self._listener is not None

    def close(self) -> None:
        """Let nobody in any more; `prepare` opens another listener."""
        self._listener = None
        self._listening.cancel()

    def make(
        self, specs: Sequence[ToolSpec], server: str = "", owner: ToolsOwner = NOBODY
    ) -> Toolbox:
        """Return a toolbox for an agent that starts a program to get at it; `prepare` first.

        Its server has the name `server`, if one is given that no other has.
        """
        assert self._listener is not None, "prepare it first"
        toolbox = self._make(specs, server, owner)
        toolbox.open(_Relay(self._listener, toolbox))
        return toolbox

    async def make_web(
        self, specs: Sequence[ToolSpec], server: str = "", owner: ToolsOwner = NOBODY
    ) -> Toolbox:
        """Return a toolbox for an agent that calls a URL; raises `AgentError`."""
        toolbox = self._make(specs, server, owner)
        scope = trio.CancelScope()
        await load("http")
        web = await self.tasks.start(self._keep_web, await toolbox.mcp(), scope)
        toolbox.open(_Url(web, scope))
        return toolbox

    def _make(self, specs: Sequence[ToolSpec], server: str, owner: ToolsOwner) -> Toolbox:
        name = self.names.take(server)
        return Toolbox(
            name,
            ToolCatalogue.of(specs, name),
            self.new_call_id,
            self.habits.calls,
            owner,
            self.names,
            self._may_complain,
        )

    def _may_complain(self) -> bool:
        has_complained, self._has_complained = self._has_complained, True
        return not has_complained

    async def _keep_listener(self, task_status: trio.TaskStatus[RelayListener]) -> None:
        mine: RelayListener | None = None
        try:
            with trio.CancelScope() as self._listening:
                async with open_listener() as mine:
                    task_status.started(mine)
                    await trio.sleep_forever()
        except OSError as error:
            raise _cannot_listen(error) from error
        finally:
            if self._listener is mine:
                self._listener = None  # the next session with tools opens another

    async def _keep_web(
        self,
        server: EditorServer,
        scope: trio.CancelScope,
        task_status: trio.TaskStatus[Web],
    ) -> None:
        from .http import open_web

        with scope:
            try:
                async with open_web(server) as web:
                    task_status.started(web)
                    await trio.sleep_forever()
            except OSError as error:
                raise _cannot_listen(error) from error


def _cannot_listen(error: OSError) -> AgentError:
    words = f"The agent can't be given the offered tools, because nothing can listen here: {error}"
    return AgentError(Failure("Unavailable", words))
