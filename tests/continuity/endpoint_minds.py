"""An Open Responses server that remembers every word: the real `OpenResponsesAgent`, over loopback.

It says what the test says. What it knows when it answers is the chain of the responses that it is
to go on from, and what it is given; a fact is known by its spelling. A response is kept when it is
complete, and never changed.
"""

from __future__ import annotations

import enum
import json
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import attrs
import trio

from agents.base import AgentSession
from agents.open_responses.agent import OpenResponsesAgent
from agents.open_responses.checkpoints import PointMemory, Points
from bridge.models import AgentChoice
from bridge.wire import OpenResponsesSpec, Part, TextPart, ThinkingPart, ToolCallPart
from tests.fakes.responses_events import DONE, Call, Output, Text, Thought, Writer, response_object
from tests.fakes.responses_events import sse as event_lines
from tests.fakes.responses_http import Exchange, HungUp, serve_http

from .mind import Mind, Taken
from .noted import NotedAgent
from .spelling import read

JSON = dict[str, Any]

_PATIENCE = 1e6
"""A model may think for as long as the test likes."""


class Keeping(enum.Enum):
    """What a server keeps."""

    ALL = "all"
    UNTIL_IT_CRASHES = "until it crashes"
    NOTHING = "nothing"
    """And it doesn't say so: it begins anew."""
    NOT_WANTED = "not wanted"
    """It is asked not to."""


class Ending(enum.Enum):
    """How a response ends."""

    COMPLETE = "complete"
    FAILED = "failed"
    RESET = "reset"


@attrs.define(eq=False)
class Response:
    """A response that is being made."""

    writer: Writer
    mind: Mind
    todo: deque[Output | Ending] = attrs.field(factory=deque["Output | Ending"])
    news: trio.Event = attrs.field(factory=trio.Event)

    def do(self, what: Output | Ending) -> None:
        """Say something, or end."""
        self.todo.append(what)
        self.news.set()

    async def next(self, exchange: Exchange) -> Output | Ending:
        """Wait for what is to be done; raises `HungUp`."""
        while not self.todo:
            self.news = trio.Event()
            await exchange.watch(self.news)
        return self.todo.popleft()


@attrs.define(eq=False)
class EndpointMinds:
    """The server and the agents that ask it; it satisfies `mind.Troupe`."""

    keeping: Keeping
    spells: bool = attrs.field(default=True, init=False)
    calls_tools: bool = attrs.field(default=True, init=False)
    reaction_seconds: float = attrs.field(default=0.4, init=False)
    responses: dict[str, Mind] = attrs.field(factory=dict["str", "Mind"])
    """What is kept, by the id of the response at the end."""
    _base_url: str = attrs.field(default="", init=False)
    _points: PointMemory = attrs.field(init=False)
    _nursery: trio.Nursery = attrs.field(init=False)
    _agents: dict[bytes, OpenResponsesAgent] = attrs.field(
        factory=dict["bytes", "OpenResponsesAgent"], init=False
    )
    _asked: Taken | None = attrs.field(default=None, init=False)
    """What the next response is for: what was asked last, or what goes on by itself because its
    last response has ended and called no tool."""
    _session: AgentSession | None = attrs.field(default=None, init=False)
    _gaps: dict[AgentSession, set[int]] = attrs.field(
        factory=dict["AgentSession", "set[int]"], init=False
    )
    """What each session of ours wasn't told; it tells it to no server."""
    _answered: dict[int, Response] = attrs.field(factory=dict["int", "Response"], init=False)
    _taken: list[Taken] = attrs.field(factory=list["Taken"], init=False)
    _ids: count[int] = attrs.field(factory=lambda: count(1), alias="ids")

    def beside(self) -> EndpointMinds:
        return EndpointMinds(self.keeping, responses=self.responses, ids=self._ids)

    @asynccontextmanager
    async def running(self, points: PointMemory) -> AsyncGenerator[None, None]:
        self._points = points
        self._agents.clear()
        self._answered.clear()
        self._taken.clear()
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self._base_url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/v1"
        async with trio.open_nursery() as server:
            server.start_soon(trio.serve_listeners, self._serve, [listener])
            async with trio.open_nursery() as self._nursery:
                try:
                    yield
                finally:
                    with trio.CancelScope(shield=True):
                        for agent in self._agents.values():
                            await agent.aclose()
                assert not self._nursery.child_tasks, "a turn is left"
            server.cancel_scope.cancel()

    def agent_for(self, choice: AgentChoice) -> NotedAgent:
        if choice.key not in self._agents:
            store = False if self.keeping is Keeping.NOT_WANTED else None
            spec = OpenResponsesSpec(
                self._base_url, "small", store=store, retries=0, idle_seconds=_PATIENCE
            )
            self._agents[choice.key] = OpenResponsesAgent(
                spec,
                self._nursery,
                environment={},
                chance=lambda: 0.0,
                points=Points(memory=self._points, scope=choice.key),
            )
        return NotedAgent(self._agents[choice.key], self._note)

    def _note(self, taken: Taken, session: AgentSession) -> None:
        self._asked, self._session = taken, session

    # What the server does.

    async def _serve(self, stream: trio.SocketStream) -> None:
        await serve_http(stream, self._answer, None)

    async def _answer(self, exchange: Exchange) -> None:
        body: JSON = json.loads(exchange.body)
        previous: str | None = body.get("previous_response_id")
        if self.keeping is Keeping.NOTHING:
            previous = None
        if previous is not None and previous not in self.responses:
            await self._refuse(exchange)
            return
        before = self.responses[previous] if previous is not None else Mind()
        told = json.dumps(body["input"], ensure_ascii=False)
        assert self._session is not None, "nobody asked"
        gaps = self._gaps.setdefault(self._session, set())
        gaps |= before.gaps
        mind = Mind([*before.facts, *read(told)], gaps)
        fields: JSON = {"previous_response_id": previous}
        if self.keeping is Keeping.NOT_WANTED:
            fields["store"] = False
        response_id = self._new_id("resp")
        writer = Writer(response_object(body, response_id, **fields), self._new_id)
        response = Response(writer, mind)
        assert self._asked is not None, "nobody asked"
        self._answered[self._asked.request] = response
        self._taken.append(attrs.evolve(self._asked, is_first=True))
        with suppress(HungUp):
            if await self._write(exchange, response) and self._keeps:
                self.responses[response_id] = mind

    @property
    def _keeps(self) -> bool:
        return self.keeping in (Keeping.ALL, Keeping.UNTIL_IT_CRASHES)

    async def _write(self, exchange: Exchange, response: Response) -> bool:
        """Write a response; return whether it is complete."""
        await exchange.start(200, {"content-type": "text/event-stream"})
        events = response.writer.begin()
        while True:
            for event in events:
                await exchange.write(event_lines(event))
            match await response.next(exchange):
                case Ending.COMPLETE:
                    events = response.writer.end()
                    break
                case Ending.FAILED:
                    events = response.writer.fail("server_error", "It is unwell.")
                    break
                case Ending.RESET:
                    await exchange.reset()
                    return False
                case Text() | Thought() | Call() as output:
                    events = response.writer.say(output)
                case output:
                    raise AssertionError(f"nobody says {output}")
        *_, last = written = [*events]
        for event in written:
            await exchange.write(event_lines(event))
        await exchange.write(DONE)
        await exchange.end()
        return last["type"] == "response.completed"

    async def _refuse(self, exchange: Exchange) -> None:
        fields = {"type": "invalid_request_error", "code": "previous_response_not_found"}
        error = {"error": {**fields, "message": "Previous response not found.", "param": None}}
        await exchange.start(400, {"content-type": "application/json"})
        await exchange.write(json.dumps(error).encode())
        await exchange.end()

    def _new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._ids):024x}"

    # What the test has it do.

    def taken(self) -> Sequence[Taken]:
        taken, self._taken = self._taken, []
        return taken

    def mind(self, request: int) -> Mind:
        return self._answered[request].mind

    def is_working(self, request: int) -> bool:
        raise NotImplementedError("these aren't asked by the Agent Host")

    def is_stopping(self) -> bool:
        return False

    def say(self, request: int, part: Part, fact: int) -> None:
        response = self._answered[request]
        match part:
            case TextPart(value=text):
                response.mind.facts += read(text)
                response.do(Text(text))
            case ThinkingPart(value=text):
                response.do(Thought(str(text)))
            case ToolCallPart(tool_name=name, parameters=parameters):
                response.do(Call(name, parameters))
            case _:
                raise AssertionError(f"no model says {part}")

    def finish(self, request: int) -> None:
        self._asked = Taken(request, is_first=True, goes_on=False)
        self._answered[request].do(Ending.COMPLETE)

    def fail(self, request: int) -> None:
        self._answered[request].do(Ending.FAILED)

    def crash(self, request: int) -> None:
        if self.keeping is Keeping.UNTIL_IT_CRASHES:
            self.responses.clear()
        self._answered[request].do(Ending.RESET)

    def dawdle(self) -> None:
        """Do nothing: it is hung up on."""

    def hurry(self) -> None:
        """Do nothing."""
