"""Connect a session's MCP server, which the agent calls, with its turn, which asks the editor.

The server uses `call`, which waits for the result. The turn uses the rest, which never waits. The
broker makes the decisions.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, Protocol, TypeAlias

import attrs
import trio

from agents.events import CallTool, ToolAnswer
from agents.habits import Announcing
from bridge.value import Value
from bridge.version import own_version
from bridge.wire import EnvVariable, ToolSpec

from .call_broker import BrokerEffects, CallBroker, Drop, Reply
from .names import ServerNames
from .offer import NOBODY, ToolsOwner
from .tools import JSON, ToolCatalogue, with_paths
from .wire import LineWire

if TYPE_CHECKING:
    from .server import EditorServer, ReportProgress  # noqa: TC004  it takes long; attrs needs the name only

log = logging.getLogger("vscodelm.mcp")


PROGRESS_SECONDS = 10.0
"""Seconds between two progress notifications of a call: a person may be asked."""
IGNORED_SECONDS = 15.0
"""Seconds after its first prompt in which an agent starts its servers; some are late."""
LISTING_SECONDS = 10.0
"""Seconds that a prompt waits until the agent has listed the tools, if it doesn't wait itself."""
LEARNING_SECONDS = 0.1
"""Seconds that an agent may take to learn of the tools once it has asked for them."""


class StdioAccess(Value):
    """The server is a program to be started."""

    program: str
    arguments: tuple[str, ...]
    environment: tuple[EnvVariable, ...]


class HttpAccess(Value):
    """The server is there, at a URL."""

    url: str
    authorization: str


Access: TypeAlias = StdioAccess | HttpAccess


class WayIn(Protocol):
    """The way by which the agent gets at the tools of one session."""

    def issue(self) -> Access:
        """Return an access, and end the one before it."""
        ...

    def close(self) -> None:
        """End the access."""
        ...


@attrs.define(eq=False, repr=False)
class _Caller:
    answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    answer: ToolAnswer | None = attrs.field(default=None, init=False)

    async def wait(self, report: ReportProgress) -> None:
        """Wait for the answer, and report that it is waited for."""
        for number in count(1):
            with trio.move_on_after(PROGRESS_SECONDS):
                await self.answered.wait()
                return
            await report(number)


async def _report_nothing(_number: int) -> None:
    """Report no progress: nobody listens."""


@attrs.define(eq=False, repr=False)
class Toolbox:
    """The tools of one session.

    `habit` is whether its agent announces its calls. `server_names` has the other names that its
    server can get. `may_complain` returns True the first time for an agent.
    """

    server: str
    catalogue: ToolCatalogue
    new_call_id: Callable[[], str]
    habit: Announcing = attrs.field(factory=Announcing)
    owner: ToolsOwner = NOBODY
    server_names: ServerNames | None = None
    may_complain: Callable[[], bool] = lambda: True
    calls: CallBroker = attrs.field(init=False)
    """The calls, as the session's turn has them."""
    access: Access | None = attrs.field(default=None, init=False)
    """The agent's access to the tools."""
    _way_in: WayIn | None = attrs.field(default=None, init=False)
    _wake: Callable[[], None] = attrs.field(default=lambda: None, init=False)
    _specs: Sequence[ToolSpec] | None = attrs.field(default=None, init=False)
    """The tools of the last `offer`."""
    _is_presented: bool = attrs.field(default=False, init=False)
    """Whether an opening of a session was given the access."""
    _has_waited: bool = attrs.field(default=False, init=False)
    """Whether a prompt has waited for the agent."""
    _mcp: EditorServer | None = attrs.field(default=None, init=False)
    _callers: dict[int, _Caller] = attrs.field(factory=dict[int, _Caller], init=False)
    _keys: count[int] = attrs.field(factory=count, init=False)

    def __attrs_post_init__(self) -> None:
        self.calls = CallBroker(self.habit)

    def open(self, way_in: WayIn) -> None:
        """Let the agent in by this way, until the end."""
        self._way_in = way_in
        self.access = way_in.issue()

    def subscribe(self, wake: Callable[[], None]) -> None:
        """Call `wake`, and nothing else any more, when there is news for the session's turn."""
        self._wake = wake

    # The server's side.

    async def call(self, name: str, arguments: JSON, report: ReportProgress) -> ToolAnswer:
        """Have the editor run a tool, as the agent asks; cancelling this takes the call back."""
        words = await self.owner.refusal(self, name, arguments)
        if words is not None:
            return ToolAnswer("", words, is_error=True)
        return await self._run(name, with_paths(arguments, self.owner.spelled), report)

    async def run(self, name: str, arguments: JSON) -> ToolAnswer:
        """Have the editor run a tool that no call of the agent's asks for, such as for a write."""
        return await self._run(name, arguments, _report_nothing, is_announced=True)

    async def _run(
        self, name: str, arguments: JSON, report: ReportProgress, *, is_announced: bool = False
    ) -> ToolAnswer:
        key, caller = next(self._keys), _Caller()
        self._callers[key] = caller
        try:
            event = CallTool(self.new_call_id(), name, arguments)
            log.info("server=%s call=%s tool=%s", self.server, event.call_id, name)
            now = trio.current_time()
            self._perform(self.calls.arrive(key, event, now, is_announced=is_announced))
            self._wake()
            await caller.wait(report)
        finally:
            del self._callers[key]
            if caller.answer is None:
                self.calls.withdraw(key)
                self._wake()
        assert caller.answer is not None, "that is what was waited for"
        return caller.answer

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Serve one connection of its agent's."""
        mcp = await self.mcp()
        await mcp.serve(LineWire(stream))

    async def mcp(self) -> EditorServer:
        """Return the server; the first time it may take a second."""
        await load("server")
        if self._mcp is None:
            from .server import EditorServer

            self._mcp = EditorServer(
                self.server,
                own_version(),
                self.catalogue,
                self.call,
                on_asked=self._be_asked,
                on_come=lambda: self._wake(),
            )
        return self._mcp

    def _be_asked(self) -> None:
        self.owner.be_asked(is_prompted=self.calls.begun_at < math.inf)
        self._wake()

    @property
    def was_asked(self) -> bool:
        """Whether its agent ever asked what there is."""
        return self._mcp is not None and self._mcp.was_asked

    async def learned(self) -> None:
        """Wait until the agent knows what there is: once, and for some time."""
        if self._has_waited:
            return
        self._has_waited = True
        mcp = await self.mcp()
        if mcp.was_asked:
            return
        with trio.move_on_after(LISTING_SECONDS):
            await mcp.asked.wait()
            await trio.sleep(LEARNING_SECONDS)
            return
        log.warning("server=%s not asked for tools before the first prompt", self.server)

    def present(self) -> Access | None:
        """Return the access for one opening of a session, which no other opening is given.

        An agent may have started a server for an opening that failed. It loses its connection,
        and what it did doesn't count for the next one. The next one's server has another name
        then, because an agent may keep its connections by their names.
        """
        if self._is_presented and self._way_in is not None:
            self.access = self._way_in.issue()
            if self._mcp is not None:
                if self._mcp.has_come:
                    self._rename()
                self._mcp.start_over(self.server)
        self._is_presented = True
        return self.access

    @property
    def names(self) -> Collection[str]:
        """The editor's names of the tools."""
        return {tool.name for tool in self.catalogue.tools.values()}

    # The turn's side.

    def answer(self, answer: ToolAnswer) -> None:
        """Hand a result over."""
        self._perform(self.calls.answer(answer))

    def cancel(self) -> None:
        """Cancel the turn."""
        self._perform(self.calls.cancel())

    def is_ignored(self, now: float) -> bool:
        """Return whether the agent ignores the server that it was given.

        It may still start its servers in the first seconds of the first turn.
        """
        return now >= self.calls.begun_at + IGNORED_SECONDS and self.is_awaited

    @property
    def is_awaited(self) -> bool:
        """Whether the agent was given a server that has tools, and hasn't connected to it."""
        has_come = self._mcp is not None and (self._mcp.has_come or self._mcp.was_asked)
        return self.access is not None and bool(self.catalogue.tools) and not has_come

    async def offer(self, specs: Sequence[ToolSpec]) -> None:
        """Offer these tools from now on; the agent is notified if they have changed."""
        if specs == self._specs:
            return  # as mostly, and it is soon seen
        self._specs = specs
        catalogue = ToolCatalogue.of(specs, self.server)
        if catalogue == self.catalogue:
            return
        log.info("server=%s tools=%d changed", self.server, len(catalogue.tools))
        self.catalogue = catalogue
        if self._mcp is not None:
            await self._mcp.change(catalogue)

    def close(self) -> None:
        """End it: nobody gets at it any more. It may be called again."""
        self._perform(self.calls.close())
        if self._way_in is not None:
            self._way_in.close()
        if self.server_names is not None:
            self.server_names.give_up(self.server)
            self.server_names = None  # another server may have the name by the next call

    def _rename(self) -> None:
        if self.server_names is not None:
            old, self.server = self.server, self.server_names.take()
            self.server_names.give_up(old)

    def _perform(self, effects: BrokerEffects) -> None:
        for effect in effects:
            match effect:
                case Reply(key=key, result=result, is_error=is_error):
                    caller = self._callers[key]
                    caller.answer = ToolAnswer("", result, is_error)
                    caller.answered.set()
                case Drop(call_id=call_id, reason=reason):
                    log.info("server=%s call=%s result dropped: %s", self.server, call_id, reason)


_loaded: set[str] = set()
_loading = threading.Lock()
"""Python gives an import up where another thread imports what the two have in common."""


async def load(module: str) -> None:
    """Import a module of this package that takes long, without stopping everything else."""
    if module not in _loaded:
        await trio.to_thread.run_sync(load_now, module, abandon_on_cancel=True)


def load_now(module: str) -> None:
    """Import a module of this package."""
    with _loading:
        import_module(f"{__package__}.{module}")
        _loaded.add(module)
