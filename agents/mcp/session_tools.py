"""Connect a session's MCP server, which the agent calls, with its turn, which asks the editor.

The server uses `call`, which waits for the result. The turn uses the rest, which never waits. The
broker makes the decisions.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import ExitStack
from importlib import import_module
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

import attrs
import trio

from agents.events import CallTool, ToolAnswer
from agents.habits import Announcing
from bridge.value import Value
from bridge.version import own_version
from bridge.wire import EnvVariable, ToolSpec

from .call_broker import BrokerEffects, CallBroker, Drop, Reply
from .tools import JSON, ToolCatalogue, with_paths
from .wire import LineWire

if TYPE_CHECKING:
    from .server import EditorServer, ReportProgress  # noqa: TC004  it takes long; attrs needs the name only

log = logging.getLogger("vscodelm.mcp")


PROGRESS_SECONDS = 10.0
"""Seconds between two progress notifications of a call: a person may be asked."""
IGNORED_SECONDS = 15.0
"""Seconds after its first prompt in which an agent starts its servers; some are late."""
IGNORED = (
    "*This agent hasn't asked for the offered tools, so it can't use them here. Some agents "
    "ignore the MCP servers of their clients.*"
)
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
CallGuard: TypeAlias = Callable[[str, JSON], Awaitable[str | None]]
"""Called with the editor's name of a tool; returns what a call that is refused is answered with."""


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


async def _refuse_nothing(_name: str, _arguments: JSON) -> None:
    """Let a call pass."""


async def _report_nothing(_number: int) -> None:
    """Report no progress: nobody listens."""


@attrs.define(eq=False, repr=False)
class Toolbox:
    """The tools of one session. `wake` is called when there is news for its turn.

    `habit` is whether its agent announces its calls.
    """

    server: str
    catalogue: ToolCatalogue
    new_call_id: Callable[[], str]
    habit: Announcing = attrs.field(factory=Announcing)
    wake: Callable[[], None] = attrs.field(default=lambda: None, init=False)
    spelled: Callable[[str], str] = attrs.field(default=str, init=False)
    """Returns the path of a file as the editor has it."""
    refusal: CallGuard = attrs.field(default=_refuse_nothing, init=False)
    """Says why a call isn't passed on."""
    others: Callable[[], Collection[str]] = attrs.field(default=lambda: (), init=False)
    """Returns the servers' names that the agent's process was given for other sessions."""
    has_neighbours: Callable[[], bool] = attrs.field(default=lambda: False, init=False)
    """Returns whether the agent's process was given servers of others, too."""
    on_mixed: Callable[[], None] = attrs.field(default=lambda: None, init=False)
    """Called when the agent would use one of those in this session."""
    titles_name_tools: bool = attrs.field(default=False, init=False)
    """Whether no model can choose what its agent calls a call."""
    ids_name_tools: bool = attrs.field(default=False, init=False)
    """Whether its agent begins the id of a call with the name of the tool."""
    access: Access | None = attrs.field(default=None, init=False)
    """The agent's access to the tools."""
    renew: Callable[[], Access | None] = attrs.field(default=lambda: None, init=False)
    """Makes another access and ends the one before it."""
    rename: Callable[[], str] = attrs.field(init=False)
    """Returns another name for the server, which is as long, and gives the old one up."""
    closing: ExitStack = attrs.field(factory=ExitStack, init=False)
    """The callbacks of its end."""
    on_asked: Callable[[], None] = attrs.field(default=lambda: None, init=False)
    """Called when its agent asks what there is, or calls a tool."""
    may_complain: Callable[[], bool] = attrs.field(default=lambda: True, init=False)
    """Called when there is cause to; true the first time for an agent."""
    complaint: str = attrs.field(default=IGNORED, init=False)
    """The message for the user then."""
    _specs: Sequence[ToolSpec] | None = attrs.field(default=None, init=False)
    """The tools of the last `offer`."""
    _begun_at: float = attrs.field(default=math.inf, init=False)
    """When the first turn began."""
    _is_presented: bool = attrs.field(default=False, init=False)
    """Whether an opening of a session was given the access."""
    _has_waited: bool = attrs.field(default=False, init=False)
    """Whether a prompt has waited for the agent."""
    _broker: CallBroker = attrs.field(init=False)
    _mcp: EditorServer | None = attrs.field(default=None, init=False)
    _callers: dict[int, _Caller] = attrs.field(factory=dict[int, _Caller], init=False)
    _keys: count[int] = attrs.field(factory=count, init=False)

    def __attrs_post_init__(self) -> None:
        self._broker = CallBroker(self.habit)
        self.rename = lambda: self.server

    # The server's side.

    async def call(self, name: str, arguments: JSON, report: ReportProgress) -> ToolAnswer:
        """Have the editor run a tool, as the agent asks; cancelling this takes the call back."""
        words = await self.refusal(name, arguments)
        if words is not None:
            return ToolAnswer("", words, is_error=True)
        return await self._run(name, with_paths(arguments, self.spelled), report)

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
            self._perform(self._broker.arrive(key, event, now, is_announced=is_announced))
            self.wake()
            await caller.wait(report)
        finally:
            del self._callers[key]
            if caller.answer is None:
                self._broker.withdraw(key)
                self.wake()
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
                on_come=lambda: self.wake(),
            )
        return self._mcp

    def _be_asked(self) -> None:
        self.on_asked()
        self.wake()

    @property
    def is_only_server(self) -> bool:
        """Whether every server that the agent's process was given is of this kind."""
        return not self.has_neighbours()

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
        if self._is_presented:
            self.access = self.renew()
            if self._mcp is not None:
                if self._mcp.has_come:
                    self.server = self.rename()
                self._mcp.start_over(self.server)
        self._is_presented = True
        return self.access

    @property
    def names(self) -> Collection[str]:
        """The editor's names of the tools."""
        return {tool.name for tool in self.catalogue.tools.values()}

    # The turn's side.

    def begin(self) -> None:
        """Begin a turn."""
        self._begun_at = min(self._begun_at, trio.current_time())
        self._broker.begin(trio.current_time())

    def resume(self) -> None:
        """Go on in another response."""
        self._broker.resume(trio.current_time())

    def announce(self, under_way: int, tools: Sequence[str]) -> None:
        """Note how many calls the agent says are under way, and the tools of the new ones."""
        self._broker.announce(under_way, tools)

    @property
    def is_open(self) -> bool:
        """Whether a turn runs."""
        return self._broker.is_open

    @property
    def due(self) -> float:
        """When what waits goes out; infinite where nothing does."""
        return self._broker.due

    @property
    def out(self) -> int:
        """The number of calls that the editor has."""
        return self._broker.out

    def emit(self) -> tuple[CallTool, ...]:
        """Send out all that waits."""
        return self._broker.emit(trio.current_time())

    def answer(self, answer: ToolAnswer) -> None:
        """Hand a result over."""
        self._perform(self._broker.answer(answer))

    def end(self) -> None:
        """End the turn by itself."""
        self._broker.end()

    def cancel(self) -> None:
        """Cancel the turn."""
        self._perform(self._broker.cancel())

    def complain(self) -> str | None:
        """Return, once, what the user should know where the agent ignores its server."""
        return self.complaint if self.is_ignored and self.may_complain() else None

    @property
    def is_ignored(self) -> bool:
        """Whether the agent ignores the server that it was given.

        It may still start its servers in the first seconds of the first turn.
        """
        has_had_time = trio.current_time() >= self._begun_at + IGNORED_SECONDS
        return has_had_time and self.is_awaited

    @property
    def is_awaited(self) -> bool:
        """Whether the agent was given a server that has tools, and hasn't connected to it."""
        has_come = self._mcp is not None and (self._mcp.has_come or self._mcp.was_asked)
        return self.access is not None and bool(self.catalogue.tools) and not has_come

    @property
    def has_begun(self) -> bool:
        """Whether a turn has begun in the session."""
        return self._begun_at < math.inf

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
        """End it: nobody gets at it any more."""
        self._perform(self._broker.close())
        self.closing.close()

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
