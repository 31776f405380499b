"""Makes toolboxes, and keeps what they share: the listener, and whether an agent ignores them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import trio

from agents.base import AgentError
from agents.guarded import Tasks
from agents.habits import Habits
from bridge.errors import Failure
from bridge.wire import ToolSpec

from .listener import RelayListener, open_listener
from .names import server_name
from .session_tools import StdioAccess, Toolbox, load
from .tools import ToolCatalogue

if TYPE_CHECKING:
    from .http import Web
    from .server import EditorServer

_SUFFIX_BYTES = 3


@attrs.define(eq=False, repr=False)
class Toolboxes:
    """The toolboxes of one agent definition; what they need lives in `nursery`."""

    nursery: Tasks
    new_call_id: Callable[[], str]
    habits: Habits = attrs.field(factory=Habits)
    """Behaviour of the agent, seen in any session."""
    _has_complained: bool = attrs.field(default=False, init=False)
    _listener: RelayListener | None = attrs.field(default=None, init=False)
    _listening: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _opening: trio.Lock = attrs.field(factory=trio.Lock, init=False)
    _names: set[str] = attrs.field(factory=set[str], init=False)

    async def prepare(self) -> None:
        """Get ready for agents that start a program; raises `AgentError`."""
        async with self._opening:
            if self._listener is None:
                self._listener = await self.nursery.start(self._keep_listener)
                self.nursery.start_soon(load, "server")

    @property
    def is_ready(self) -> bool:
        """Whether `make` can be called: not before `prepare`, nor once the listener has failed."""
        return self._listener is not None

    def close(self) -> None:
        """Let nobody in any more; `prepare` opens another listener."""
        self._listener = None
        self._listening.cancel()

    def make(self, specs: Sequence[ToolSpec], server: str = "") -> Toolbox:
        """Return a toolbox for an agent that starts a program to get at it; `prepare` first.

        Its server has the name `server`, if one is given that no other has.
        """
        assert self._listener is not None, "prepare it first"
        toolbox = self._make(specs, server)
        listener = self._listener
        one = listener.issue(toolbox.serve)

        def renew() -> StdioAccess:
            nonlocal one
            one.revoke()
            one = listener.issue(toolbox.serve)
            return one.access

        toolbox.access, toolbox.renew = one.access, renew
        toolbox.closing.callback(lambda: one.revoke())
        return toolbox

    async def make_web(self, specs: Sequence[ToolSpec], server: str = "") -> Toolbox:
        """Return a toolbox for an agent that calls a URL; raises `AgentError`."""
        toolbox = self._make(specs, server)
        scope = trio.CancelScope()
        toolbox.closing.callback(scope.cancel)
        await load("http")
        web = await self.nursery.start(self._keep_web, await toolbox.mcp(), scope)
        toolbox.access, toolbox.renew = web.issue(), web.issue
        return toolbox

    def new_name(self) -> str:
        """Return the name for a server that a session may have later."""
        name = self._name()
        self._names.discard(name)
        return name

    def _make(self, specs: Sequence[ToolSpec], server: str = "") -> Toolbox:
        server = self._name(server)
        catalogue = ToolCatalogue.of(specs, server)
        toolbox = Toolbox(server, catalogue, self.new_call_id, self.habits.calls)
        toolbox.may_complain = self._may_complain

        def rename() -> str:
            name = self._name()
            self._names.discard(toolbox.server)
            return name

        toolbox.rename = rename
        toolbox.closing.callback(lambda: self._names.discard(toolbox.server))
        return toolbox

    def _name(self, wanted: str = "") -> str:
        """Return a name that no other server has: the one that is wanted, if it can be."""
        while not wanted or wanted in self._names:
            wanted = server_name(secrets.token_hex(_SUFFIX_BYTES))
        self._names.add(wanted)
        return wanted

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
