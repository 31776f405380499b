"""The chat's loop: what the user types, what the agent answers and asks for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import attrs
import msgspec
import trio
from msgspec import Raw

from bridge import methods
from bridge.errors import RpcError
from bridge.wire import (
    PERMISSION_TOOL,
    ChatOptions,
    ChatParams,
    ModelInformation,
    ModelsParams,
    ModelsResult,
    ToolCallPart,
    ToolResultPart,
)

from .client import Client, ServerGone
from .conversation import NothingSaid, TerminalConversation
from .keyboard import Lines
from .screen import Screen
from .tools import TOOLS, Permission, decided, run_tool

COMMANDS = {
    "/retry": "ask the last question again",
    "/edit": "/edit TEXT says TEXT instead of the last question; alone, it lets you change that",
    "/new": "begin a new chat",
    "/models": "list the models; /models ID picks one",
    "/help": "show this",
    "/quit": "leave, as Ctrl-D does",
}
HELP = "\n".join(
    (
        *(f"{name:<9} {what}" for name, what in COMMANDS.items()),
        "//...     say something that begins with a slash",
        "Ctrl-C    stop an answer, or clear the line; Alt-Enter begins a new line",
    )
)

_encode = msgspec.json.Encoder().encode


class ChatError(Exception):
    """The chat can't begin, or not go on; the message says why."""


class _Quit(Exception):
    """The user is done."""


@attrs.define(eq=False, repr=False)
class Chat:
    """One user's chat. It outlives the server: what was said is here, and is sent each time."""

    lines: Lines
    screen: Screen
    model: str
    leave: Callable[[], None]
    """Ends it all; an interrupt does, where there is nothing else to stop."""
    conversation: TerminalConversation = attrs.field(factory=TerminalConversation, init=False)
    _stop: Callable[[], None] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._stop = self.leave

    def interrupt(self) -> None:
        """Stop what is going on now."""
        self._stop()

    async def talk(self, client: Client) -> bool:
        """Talk until the user is done; return whether they are, or else the server is gone."""
        try:
            models = await _models(client)
            if self.model not in [model.id for model in models]:
                raise ChatError(_no_model(self.model, models))
            while True:
                try:
                    await self._obey(await self._read(), client)
                except (NothingSaid, RpcError) as error:
                    self.screen.error(str(error))
        except _Quit:
            return True
        except ServerGone as error:
            self.screen.error(f"{error}\nIt is restarted; /retry asks again.")
            return False

    async def _read(self) -> str:
        stop = _do_nothing if self.lines.is_interactive else self.leave
        try:
            with self._stopping(stop):
                return await self.lines.read()
        except EOFError:
            raise _Quit from None

    async def _obey(self, line: str, client: Client) -> None:
        """Do what a line says: a command, or something to say."""
        name, rest = [*line.split(maxsplit=1), "", ""][:2]
        match name, rest.strip():
            case "", _:
                pass
            case "/retry", _:
                self.conversation.retry()
                await self._answer(client)
            case "/edit", text:
                await self._edit(text, client)
            case "/new", _:
                self.conversation = TerminalConversation()
                self.screen.note("A new chat.")
            case "/models", chosen:
                await self._pick(chosen, client)
            case "/help", _:
                self.screen.text(HELP)
            case "/quit", _:
                raise _Quit
            case _ if name.startswith("/") and not name.startswith("//"):
                self.screen.error(
                    f"There is no command {name}; /help lists them. "
                    f"/{name} says it to the agent instead."
                )
            case _:
                self.conversation.ask(line.removeprefix("/") if name.startswith("//") else line)
                await self._answer(client)

    async def _edit(self, text: str, client: Client) -> None:
        last = self.conversation.question
        if last is None:
            raise NothingSaid
        if not text and not self.lines.is_interactive:
            self.screen.error("Give the new text: /edit TEXT")
            return
        changed = text or await self.lines.edit(last)
        if changed and changed.strip():
            self.conversation.edit(changed)
            await self._answer(client)

    async def _pick(self, chosen: str, client: Client) -> None:
        models = await _models(client)
        if chosen and chosen not in [model.id for model in models]:
            self.screen.error(_no_model(chosen, models))
            return
        self.model = chosen or self.model
        self.screen.models(models, self.model)

    # One answer, and its tool calls and questions.

    async def _answer(self, client: Client) -> None:
        """Get the answer to what was said, and to the results that it asks for meanwhile."""
        try:
            while calls := await self._hear(client):
                results = await self._results(calls)
                if results is None:
                    self.screen.note("Stopped. Say something, or /retry.")
                    return
                self.conversation.answer(results)
        except RpcError as error:
            self.screen.error(f"{error.message}\n/retry asks again.")

    async def _hear(self, client: Client) -> tuple[ToolCallPart, ...]:
        """Hear one answer; return the calls in it, none if the user stopped it."""
        stopped = False
        params = ChatParams(
            self.model,
            [Raw(_encode(message)) for message in self.conversation.messages],
            options=ChatOptions(tools=TOOLS),
        )
        with trio.CancelScope() as waiting:
            async with client.chat(params) as answer:

                def stop() -> None:
                    nonlocal stopped
                    if stopped:
                        waiting.cancel()  # asked twice: not even the words before the stop
                    stopped = True
                    client.cancel(answer.id)

                with self._stopping(stop), self.lines.quiet(), self.screen.answer() as shown:
                    async for part in answer:
                        self.conversation.hear(part)
                        shown.show(part)
        calls = self.conversation.settle()
        if stopped:
            self.screen.note("Stopped. The text so far stays; /retry asks again.")
            return ()
        return calls

    async def _results(self, calls: Sequence[ToolCallPart]) -> list[ToolResultPart] | None:
        """Return the calls' results, None if the user stops."""
        results: list[ToolResultPart] = []
        for call in calls:
            if call.tool_name == PERMISSION_TOOL:
                self.screen.permission(Permission.of(call.parameters))
                allowed = await self.lines.confirm("Allow it? [y/N] ")
                if allowed is None:
                    return None
                result = decided(call, allowed=allowed)
            else:
                self.screen.call(call)
                result = run_tool(call)
            self.screen.result(result)
            results.append(result)
        return results

    @contextmanager
    def _stopping(self, stop: Callable[[], None]) -> Generator[None]:
        before, self._stop = self._stop, stop
        try:
            yield
        finally:
            self._stop = before


def _do_nothing() -> None:
    """Take a signal that came from outside; the key is the prompt's."""


async def _models(client: Client) -> list[ModelInformation]:
    return (await client.request(methods.MODELS, ModelsParams(silent=True), ModelsResult)).models


def _no_model(name: str, models: Sequence[ModelInformation]) -> str:
    return f"There is no model {name!r}; there is: {', '.join(model.id for model in models)}."
