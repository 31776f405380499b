"""The MCP server with a session's tools, on the official SDK. Importing it takes a second.

So nothing imports it at once: `toolbox` does, in a thread. It serves every connection of the
session alike, in each era of the protocol that the SDK knows. This module makes no decisions: its
callbacks interpret the calls and answer them.

The SDK speaks anyio, so this file does; it runs under trio.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from agents.events import ToolAnswer
from agents.loading import writable
from agents.nesting import is_deep

from .results import content
from .streams import McpReceiveStream, Outgoing, Sink, Source
from .tools import JSON, ToolCatalogue

if TYPE_CHECKING:
    from mcp.server.models import InitializationOptions
    from mcp.server.session import ServerSession

NOTICE_SECONDS = 2.0
"""Seconds that an agent may take to read that the tools have changed."""
MOST_SESSIONS = 16
"""MCP sessions that get notifications of changes; agents open one, or a few one after the other."""
INSTRUCTIONS = (
    "These are the tools of the editor that the user works in. The user may be asked before one is "
    "used, so a call can take minutes."
)

ReportProgress: TypeAlias = Callable[[int], Awaitable[None]]
"""Called with how often it was called, to say that a call is still being seen to."""
ToolHandler: TypeAlias = Callable[[str, JSON, ReportProgress], Awaitable[ToolAnswer]]
"""Called with the editor's name of a tool; cancelled where the agent takes the call back."""
_Context: TypeAlias = ServerRequestContext[Any, Any]


class LineStream(Source, Sink, Protocol):
    """A connection of lines."""


class _Server(Server[Any]):
    """The SDK's server; it says that the tools may change, also where the SDK doesn't ask us."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, JSON] | None = None,
        extensions: dict[str, JSON] | None = None,
    ) -> InitializationOptions:
        """Return what is said in the answer to `initialize`."""
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class EditorServer:
    """Serves the tools of a catalogue; calls go to `call`.

    `on_come` is called when an agent connects, `on_asked` when it asks for the tools or calls one.
    """

    def __init__(
        self,
        name: str,
        version: str,
        catalogue: ToolCatalogue,
        call: ToolHandler,
        on_asked: Callable[[], None] = lambda: None,
        on_come: Callable[[], None] = lambda: None,
    ) -> None:
        self.asked = anyio.Event()
        """Set when an agent has asked what there is."""
        self.has_come = False
        """Whether an agent has ever connected."""
        self._catalogue = catalogue
        self._call = call
        self._on_asked = on_asked
        self._on_come = on_come
        self._name = name
        self._version = version
        self._audiences: list[deque[ServerSession]] = []
        """Of each connection the sessions to notify of changes, where they needn't subscribe."""
        self._bus = InMemorySubscriptionBus()
        """Tells of changes who has subscribed to them, in the newest era."""

    def start_over(self, name: str) -> None:
        """Forget who has come and asked: another connection counts, and sees this name."""
        self._name = name
        self.asked, self.has_come = anyio.Event(), False

    @property
    def was_asked(self) -> bool:
        """Whether an agent ever asked what there is."""
        return self.asked.is_set()

    @contextmanager
    def sdk(self) -> Generator[Server[Any]]:
        """Return a server of the SDK's with these tools, that hears of changes until the exit."""
        audience: deque[ServerSession] = deque(maxlen=MOST_SESSIONS)

        async def greet(context: _Context, _params: types.NotificationParams) -> None:
            self._come()
            audience.append(context.session)

        server = _Server(
            self._name,
            version=self._version,
            title="VS Code",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            on_call_tool=self._serve_call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, greet
        )
        server.middleware.clear()  # it measures for telemetry, which nobody collects here
        self._audiences.append(audience)
        try:
            yield server
        finally:
            self._audiences = [one for one in self._audiences if one is not audience]

    async def change(self, catalogue: ToolCatalogue) -> None:
        """Offer other tools from now on, and say so."""
        self._catalogue = catalogue
        await self._bus.publish(ToolsListChanged())
        for session in [one for audience in self._audiences for one in audience]:
            with anyio.move_on_after(NOTICE_SECONDS):
                await session.send_tool_list_changed()

    async def serve(self, wire: LineStream) -> None:
        """Serve one connection until either side ends it."""
        self._come()
        outgoing = Outgoing(wire)
        with self.sdk() as server:
            options = server.create_initialization_options()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(outgoing.run, tasks.cancel_scope)
                await server.run(McpReceiveStream(wire, outgoing), outgoing, options)
                tasks.cancel_scope.cancel()

    # Callbacks of the SDK.

    def _come(self) -> None:
        self.has_come = True
        self._on_come()

    def _note(self) -> None:
        self.asked.set()
        self._on_asked()

    async def _list(
        self, _context: _Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        self._note()
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=tool.alias,
                    description=tool.description,
                    input_schema=tool.schema,
                    annotations=types.ToolAnnotations.model_validate(tool.annotations)
                    if tool.annotations
                    else None,
                )
                for tool in self._catalogue.tools.values()
            ]
        )

    async def _serve_call(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self._note()
        tool = self._catalogue.tools.get(params.name)
        if tool is None:
            return _result(f"The editor offers no tool named {params.name} now.", is_error=True)

        async def report(number: int) -> None:
            await context.session.report_progress(number, message="Waiting for the editor")

        given = params.arguments or {}
        arguments = writable(given)
        if arguments is None or (arguments is not given and is_deep(given)):
            words = (
                "Its arguments can't be passed on: a number is too long, or the nesting too deep."
            )
            return _result(words, is_error=True)
        answer = await self._call(tool.name, arguments, report)
        return _result(answer.result, is_error=answer.is_error)


def _result(result: Any, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult.model_validate({"content": content(result), "isError": is_error})
