"""A fake VS Code: it asks, collects what it is shown, and holds us to the rules of the wire.

Every line that comes must keep these rules, or the test fails where the line is read:

- one JSON-RPC 2.0 object a line, with nothing else between;
- a part only for a chat request that is open and not yet complete;
- `lm/responseComplete` exactly once before a chat's result, which is `{}`, never before an error;
- nothing about a request that is settled, and each settled exactly once;
- a form only where `initialize` said that this editor shows forms, for a chat request that is open;
  it is taken back at most once, and before its request is settled, unless it was answered.

It echoes like VS Code: a message's text is joined, its calls come last, and each tool result is a
user message of its own. Writing never waits; `stop_reading` makes it a client that is too slow.

    async with connected(agent) as editor:
        chat = Chat(editor)
        first = await chat.say("Hello")
        assert first.text == "How do you do?"

When the block ends the editor closes its end, and then every request must be settled, every task of
the system ended and all its agent sessions closed, without help of the clock.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from typing import Any, TypeAlias, cast

import attrs
import trio
import trio.testing

from actors.history import AgentFactory
from actors.inspection.statistics import AgentCounts, Measure
from actors.memory import SessionMemory
from actors.requests import Accounts
from actors.system import ModelLister, run_system
from actors.trace import Trace
from agents.base import Agent
from agents.ledger import Ledger
from agents.workspace import Workspace
from bridge import methods
from bridge.models import Catalogue
from bridge.wire import PERMISSION_TOOL

from .edited_files import EditedFiles

JSON: TypeAlias = dict[str, Any]

ELIZA: JSON = {"eliza": {"deterministic": True}}
PATIENCE = 5.0
"""Seconds that a test waits for anything."""


# Messages as VS Code sends them.


def text(value: str) -> JSON:
    """Return a text part."""
    return {"type": "text", "value": value}


def message(role: str, *content: str | JSON) -> JSON:
    """Return a message; strings are its texts."""
    parts = [text(part) if isinstance(part, str) else part for part in content]
    return {"role": role, "content": parts}


def user(*content: str | JSON) -> JSON:
    """Return what the user says."""
    return message("user", *content)


def assistant(*content: str | JSON) -> JSON:
    """Return an answer."""
    return message("assistant", *content)


def tool_result(call: JSON, *result: str, is_error: bool = False) -> JSON:
    """Return the user message with the result of a call; VS Code sends a list of text parts."""
    part: JSON = {
        "type": "tool_result",
        "toolCallId": call["toolCallId"],
        "result": [text(value) for value in result],
    }
    return user(part | ({"isError": True} if is_error else {}))


def tools(*names: str) -> JSON:
    """Return chat options that offer these tools."""
    return {"tools": [{"name": name, "description": f"The tool {name}."} for name in names]}


ASKING = tools(PERMISSION_TOOL)
"""Chat options of a host that can ask the user for permission."""


@attrs.define(eq=False)
class Request:
    """A request of the editor's, and what came back for it."""

    id: int | str
    method: str
    patience: float = PATIENCE
    parts: list[JSON] = attrs.field(factory=list[JSON], init=False)
    is_complete: bool = attrs.field(default=False, init=False)
    reply: JSON | None = attrs.field(default=None, init=False)
    is_forsaken: bool = attrs.field(default=False, init=False)
    _changed: trio.lowlevel.ParkingLot = attrs.field(
        factory=trio.lowlevel.ParkingLot, init=False, repr=False
    )

    @property
    def is_settled(self) -> bool:
        """Whether it was answered."""
        return self.reply is not None

    @property
    def result(self) -> Any:
        """The result; it must have resolved."""
        assert self.reply is not None, f"{self} is still open"
        assert "result" in self.reply, f"{self} failed"
        return self.reply["result"]

    @property
    def error(self) -> JSON:
        """The error; it must have failed."""
        assert self.reply is not None, f"{self} is still open"
        assert "error" in self.reply, f"{self} resolved"
        return self.reply["error"]

    @property
    def text(self) -> str:
        """The answer's text so far."""
        return "".join(part["value"] for part in self.parts if part["type"] == "text")

    @property
    def calls(self) -> list[JSON]:
        """The tool calls so far."""
        return [part for part in self.parts if part["type"] == "tool_call"]

    @property
    def echo(self) -> list[JSON]:
        """The answer as it stands in VS Code's history; nothing if it says nothing."""
        content = ([text(self.text)] if self.text else []) + self.calls
        return [assistant(*content)] if content else []

    async def settled(self, within: float | None = None) -> Request:
        """Wait for the reply."""
        await self.reaches(lambda: self.is_settled, within)
        return self

    async def shows(self, piece: str) -> Request:
        """Wait until the text holds `piece`."""
        await self.reaches(lambda: piece in self.text)
        return self

    async def reaches(self, is_so: Callable[[], bool], within: float | None = None) -> None:
        """Wait until something is so."""
        with trio.fail_after(self.patience if within is None else within):
            while not is_so():
                assert not self.is_forsaken, f"the other side is gone, and left {self}"
                await self._changed.park()

    def forsake(self) -> None:
        """Take in that nothing more will come."""
        self.is_forsaken = True
        self._changed.unpark_all()

    def take_part(self, part: JSON) -> None:
        """Take a part in, checking that it may come now."""
        assert self.method == methods.CHAT, f"a part for {self}"
        assert not self.is_complete, f"a part after the end of {self}"
        self.parts.append(part)
        self._changed.unpark_all()

    def take_complete(self) -> None:
        """Take `lm/responseComplete` in."""
        assert self.method == methods.CHAT, f"{self} can't be complete"
        assert not self.is_complete, f"complete twice: {self}"
        self.is_complete = True

    def take_reply(self, reply: JSON) -> None:
        """Take the result or the error in."""
        if self.method == methods.CHAT and "result" in reply:
            assert reply["result"] == {}
            assert self.is_complete, f"resolved before it was complete: {self}"
        if "error" in reply:
            assert not self.is_complete, f"failed after it was complete: {self}"
        self.reply = reply
        self._changed.unpark_all()


@attrs.define(eq=False)
class Form:
    """What an agent asked for, by `lm/elicit`."""

    id: str
    params: JSON
    is_answered: bool = attrs.field(default=False, init=False)
    is_taken_back: bool = attrs.field(default=False, init=False)

    @property
    def is_open(self) -> bool:
        """Whether the user sees it."""
        return not (self.is_answered or self.is_taken_back)


class FakeEditor:
    """An editor at the other ends of our streams."""

    def __init__(
        self,
        source: trio.abc.ReceiveStream,
        sink: trio.abc.SendStream,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self.patience = patience
        self.open: dict[int | str, Request] = {}
        self.requests: list[Request] = []
        self.refused: list[JSON] = []
        """Errors that belong to no request."""
        self.notified: list[JSON] = []
        """Notifications that belong to no request."""
        self.forms: dict[str, Form] = {}
        """What agents asked for, in order."""
        self.lines: list[JSON] = []
        """Everything that came, in order."""
        self.has_ended = trio.Event()
        """Nothing more will come."""
        self.files = EditedFiles()
        """The files of its user."""
        self.returns_texts = True
        """Whether it answers where it is asked for the text of a file."""
        self.texts_asked: list[str] = []
        """The paths of the texts that it was asked for."""
        self.changed_files: JSON | None = {}
        """Its answer where it is asked which files have changed; None: it gives no answer."""
        self.watched: set[int] = set()
        """The turns in which it watches its files."""
        self.changes_asked: list[int] = []
        """The turns in which it was asked which files have changed."""
        self._shows_forms = self._reads_texts = self._watches_files = False
        self.texts_open: set[str] = set()
        self._source = source
        self._sink = sink
        self._ids = count(1)
        self._unwritten = bytearray()
        self._closing = False
        self._news = trio.Event()
        self._changed = trio.lowlevel.ParkingLot()
        self._reads = trio.Event()
        self._reads.set()

    # Asking.

    def request(self, method: str, params: Any = None, id_: int | str | None = None) -> Request:
        """Send a request."""
        request = Request(next(self._ids) if id_ is None else id_, method, self.patience)
        assert request.id not in self.open
        self.open[request.id] = request
        self.requests.append(request)
        line: JSON = {"jsonrpc": "2.0", "id": request.id, "method": method}
        self.send(line if params is None else line | {"params": params})
        return request

    def chat(
        self,
        messages: Sequence[JSON],
        *,
        agent: JSON | None = ELIZA,
        options: JSON | None = None,
        settings: JSON | None = None,
        model: str = "eliza",
        id_: int | str | None = None,
    ) -> Request:
        """Ask for the answer to a history."""
        params: JSON = {"modelId": model, "messages": list(messages)}
        optional = {"agent": agent, "options": options, "settings": settings}
        params |= {key: value for key, value in optional.items() if value is not None}
        return self.request(methods.CHAT, params, id_)

    async def call(self, method: str, params: Any = None) -> Any:
        """Send a request and return its result."""
        return (await self.request(method, params).settled()).result

    def initialize(self, *capabilities: str) -> Request:
        """Say which kinds of part this editor takes."""
        self._shows_forms = "elicit" in capabilities
        self._reads_texts = "readTextFile" in capabilities
        self._watches_files = "changedFiles" in capabilities
        return self.request(
            methods.INITIALIZE,
            {
                "clientInfo": {"name": "fake editor", "version": "1"},
                "capabilities": dict.fromkeys(capabilities, True),
            },
        )

    def cancel(self, request: Request) -> None:
        """Cancel a request, as our extension does."""
        self.notify(methods.CANCEL, {"requestId": request.id})

    def answer(self, form: Form, action: str, **content: Any) -> None:
        """Answer a form."""
        self.reply(form, {"action": action} | ({"content": content} if content else {}))

    def reply(self, form: Form, result: Any) -> None:
        """Answer a form with anything."""
        form.is_answered = True
        self.send({"jsonrpc": "2.0", "id": form.id, "result": result})

    async def asked(self, number: int = 1) -> Form:
        """Wait until so many forms were asked for; return the newest."""
        await self.reaches(lambda: len(self.forms) >= number)
        return list(self.forms.values())[-1]

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def send(self, line: Any) -> None:
        """Send a line of JSON."""
        self.write(json.dumps(line).encode() + b"\n")

    def replay(self, line: bytes) -> None:
        """Send a recorded line, which may be a request, or anything at all."""
        try:
            recorded: Any = json.loads(line)
        except ValueError:
            recorded = None
        match recorded:
            case {"id": int() | str() as id_} if id_ not in self.open:
                method = cast("JSON", recorded).get("method", "")
                self.open[id_] = Request(id_, method, self.patience)
            case _:
                pass
        self.write(line + b"\n")

    def write(self, raw: bytes) -> None:
        """Send bytes, whatever they are."""
        self._unwritten += raw
        self._news.set()

    def close(self) -> None:
        """Send no more."""
        self._closing = True
        self._news.set()

    # Being answered.

    def stop_reading(self) -> None:
        """Leave what comes unread."""
        self._reads = trio.Event()

    def go_on_reading(self) -> None:
        """Read again."""
        self._reads.set()

    async def refusals(self, number: int) -> list[JSON]:
        """Wait for that many errors that belong to no request."""
        await self.reaches(lambda: len(self.refused) >= number)
        return self.refused

    async def reaches(self, is_so: Callable[[], bool]) -> None:
        """Wait until something is so that changes with a line."""
        with trio.fail_after(self.patience):
            while not is_so():
                await self._changed.park()

    async def run(self) -> None:
        """Write what there is to write and read what comes, until that ends."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write)
            await self._read()
            nursery.cancel_scope.cancel()

    async def _write(self) -> None:
        try:
            async with self._sink:
                while self._unwritten or not self._closing:
                    written, self._unwritten = self._unwritten, bytearray()
                    if written:
                        await self._sink.send_all(written)
                    else:
                        self._news = trio.Event()
                        await self._news.wait()
        except trio.BrokenResourceError:
            pass  # they have gone before us

    async def _read(self) -> None:
        rest = bytearray()
        while True:
            await self._reads.wait()
            chunk = await self._source.receive_some()
            if not chunk:
                break
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._hear(json.loads(line.decode()))
            self._changed.unpark_all()
        assert not rest, f"an unfinished line: {bytes(rest)!r}"
        self.has_ended.set()
        for request in self.open.values():
            request.forsake()

    def _hear(self, line: JSON) -> None:
        self.lines.append(line)
        assert line["jsonrpc"] == "2.0"
        match line:
            case {"method": methods.RESPONSE_PART, "params": {"requestId": id_, "part": part}}:
                self.open[id_].take_part(part)
            case {"method": methods.RESPONSE_COMPLETE, "params": {"requestId": id_}}:
                self.open[id_].take_complete()
            case {"method": methods.ELICIT, "id": str(id_), "params": params}:
                request = self.open[params["requestId"]]
                assert request.method == methods.CHAT
                assert not request.is_complete, "a form after the end of its request"
                assert self._shows_forms, "this editor shows no forms"
                assert id_ not in self.forms, "an id is used twice"
                assert ("url" in params) is not ("requestedSchema" in params)
                self.forms[id_] = Form(id_, params)
            case {"method": methods.READ_TEXT_FILE, "id": str(id_), "params": {"path": str(path)}}:
                assert self._reads_texts, "this editor returns no texts"
                self.texts_asked.append(path)
                if self.returns_texts:
                    self.send({"jsonrpc": "2.0", "id": id_, "result": self.files.read(path)})
                else:
                    self.texts_open.add(id_)
            case {"method": methods.WATCH_FILES, "params": {"watch": int(watch), **rest}}:
                assert self._watches_files, "this editor watches no files"
                is_over = rest.get("isOver", False)
                assert (watch in self.watched) is is_over, "a watch begins once and ends once"
                self.watched ^= {watch}
            case {"method": methods.CHANGED_FILES, "id": str(id_), "params": {"watch": watch}}:
                assert watch in self.watched, "it watches nothing by that number"
                self.changes_asked.append(watch)
                if self.changed_files is None:
                    self.texts_open.add(id_)
                else:
                    self.send({"jsonrpc": "2.0", "id": id_, "result": self.changed_files})
            case {"method": methods.CANCEL_REQUEST, "params": {"id": id_}} if (
                id_ in self.texts_open
            ):
                self.texts_open.remove(id_)
            case {"method": methods.CANCEL_REQUEST, "params": {"id": id_}}:
                assert not self.forms[id_].is_taken_back, "taken back twice"
                self.forms[id_].is_taken_back = True
            case {"method": _}:
                assert "id" not in line, "we aren't asked anything"
                self.notified.append(line)
            case {"id": None, "error": error}:
                self.refused.append(error)
            case _:
                assert ("result" in line) is not ("error" in line)
                left = [one for one in self.forms.values() if one.params["requestId"] == line["id"]]
                assert not any(one.is_open for one in left), "a form outlives its request"
                self.open.pop(line["id"]).take_reply(line)


class Chat:
    """One chat window: it keeps the history and sends the whole of it each time."""

    def __init__(
        self,
        editor: FakeEditor,
        *,
        model: str = "eliza",
        agent: JSON | None = ELIZA,
        options: JSON | None = None,
        settings: JSON | None = None,
    ) -> None:
        self.editor = editor
        self.model = model
        self.agent = agent
        self.options = options
        self.settings = settings
        self.history: list[JSON] = []

    def ask(self, *new: str | JSON) -> Request:
        """Add messages (strings are the user's) and ask for the answer."""
        self.history += [user(one) if isinstance(one, str) else one for one in new]
        return self.editor.chat(
            self.history,
            model=self.model,
            agent=self.agent,
            options=self.options,
            settings=self.settings,
        )

    def keep(self, request: Request) -> None:
        """Take an answer into the history."""
        self.history += request.echo

    async def say(self, *new: str | JSON) -> Request:
        """Ask, wait for the answer and keep it."""
        request = await self.ask(*new).settled()
        self.keep(request)
        return request

    async def carry_out(self, request: Request) -> Request:
        """Make the edits that are called for, until the turn ends; return its last response."""
        while True:
            self.keep(await request.settled())
            if not request.calls:
                return request
            files = self.editor.files
            request = self.ask(*(tool_result(one, files.carry_out(one)) for one in request.calls))

    def take_back(self, messages: int) -> None:
        """Forget the newest messages, as VS Code does when one is edited or asked again."""
        del self.history[-messages:]


# The system behind it.


@asynccontextmanager
async def connected_to(
    agent_for: AgentFactory,
    *,
    processes: Callable[[], int] = lambda: 0,
    measure: Measure | None = None,
    memory: SessionMemory | None = None,
    catalogue: Catalogue | None = None,
    ledger: Ledger | None = None,
    list_models: ModelLister | None = None,
    at_rest: Callable[[], None] | None = None,
    trace: Trace | None = None,
    workspace: Workspace | None = None,
    until: trio.CancelScope | None = None,
    accounts: Accounts | None = None,
    leaves_within: float = PATIENCE,
) -> AsyncGenerator[FakeEditor, None]:
    """Connect an editor to a system of its own; on exit it leaves, and everything must end."""
    to_system, source = trio.testing.memory_stream_one_way_pair()
    # in lockstep, so that what the editor doesn't read holds up who writes it
    sink, from_system = trio.testing.lockstep_stream_one_way_pair()
    editor = FakeEditor(from_system, to_system)

    async def serve() -> None:
        async with sink:
            await run_system(
                source,
                sink,
                agent_for=agent_for,
                counts=AgentCounts(processes, measure, ledger or Ledger()),
                memory=memory,
                catalogue=catalogue or Catalogue(),
                list_models=list_models,
                at_rest=at_rest,
                accounts=accounts,
                trace=trace or Trace(),
                workspace=workspace,
                until=until or trio.CancelScope(),
            )

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        nursery.start_soon(editor.run)
        yield editor
        editor.close()
        with trio.fail_after(leaves_within):
            await editor.has_ended.wait()
    assert not editor.open, "left unanswered"


def connected(
    agent: Agent,
    *,
    memory: SessionMemory | None = None,
    workspace: Workspace | None = None,
    leaves_within: float = PATIENCE,
) -> AbstractAsyncContextManager[FakeEditor]:
    """Connect an editor to a system in which this agent answers for every definition."""
    return connected_to(
        lambda choice: agent, memory=memory, workspace=workspace, leaves_within=leaves_within
    )


async def quiet() -> None:
    """Wait until nothing more happens by itself."""
    with trio.fail_after(PATIENCE):
        await trio.testing.wait_all_tasks_blocked()
