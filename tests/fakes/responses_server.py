"""An Open Responses server on the loopback interface, honest or with the faults that it is told.

What it says to a request is the next of `plans`, and without one what `model` makes of the whole
context. It keeps responses as a stateful server does; with `stateful=False` it ignores that it is
to go on from one, as some servers do. It speaks HTTP/1.1, over TLS also HTTP/2.

    async with responses_server(model) as server:
        server.plans.append(Plan(status=503, body=b"busy"))
        ...  # ask `server.base_url`
        assert server.heard[0].body["model"] == "small"
"""

from __future__ import annotations

import gzip
import json
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import attrs
import trio

from .responses_events import DONE, JSON, Output, Text, Writer, response_object, sse
from .responses_http import Exchange, HungUp, serve_http

if TYPE_CHECKING:
    import ssl

Model = Callable[["Context"], "Sequence[Output] | Plan"]


@attrs.frozen
class Context:
    """What the server knows when it answers: every item, oldest first, and the request."""

    items: Sequence[JSON]
    request: JSON

    @property
    def users(self) -> list[str]:
        """What users said, in order."""
        return [
            _text(item)
            for item in self.items
            if item["type"] == "message" and item["role"] == "user"
        ]

    @property
    def results(self) -> list[str]:
        """What came of the calls since the user spoke."""
        found: list[str] = []
        for item in reversed(self.items):
            if item["type"] == "message" and item["role"] == "user":
                break
            if item["type"] == "function_call_output":
                found.insert(0, _output(item["output"]))
        return found

    def offers(self, name: str) -> bool:
        """Return whether that function is offered."""
        return any(tool["name"] == name for tool in self.request.get("tools", []))


def _text(item: JSON) -> str:
    return _output(item["content"])


def _output(content: str | list[JSON]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.get("text", f"<{part['type']}>") for part in content)


def remember(context: Context) -> Sequence[Output]:
    """Say everything that users said."""
    return [Text(" / ".join(context.users))]


@attrs.frozen
class Plan:
    """An answer. Faults count the bytes of the body: where it is `cut` off, the end that HTTP wants
    is missing; at `reset` the connection is reset, at `stall` nothing more comes.

    `outputs` None: what the model says. `ending` is the event that ends the response, if any;
    "hang": nothing does.
    """

    status: int = 200
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])
    body: bytes | None = None
    content_type: str = "text/event-stream"
    outputs: Sequence[Output] | None = None
    ending: Literal["completed", "incomplete", "failed", "none", "hang"] = "completed"
    chunk: int = 0
    gzip: bool = False
    cut: int | None = None
    reset: int | None = None
    stall: int | None = None
    corrupt: bool = False
    whole: bool = False
    wait: trio.Event | None = None

    @property
    def is_raw(self) -> bool:
        """Whether it is sent as it is, and no model is asked."""
        return self.body is not None or self.status != 200


@attrs.frozen
class Heard:
    """A request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: JSON
    version: str

    @property
    def said(self) -> list[JSON]:
        """Its items."""
        return self.body["input"]


@attrs.define
class ResponsesServer:
    """The server; `base_url` is what a client is given."""

    base_url: str
    model: Model
    stateful: bool = True
    forgets: bool = False
    """It keeps responses, and begins anew all the same when it is told to go on from one."""
    count: Callable[[Context], int] | None = None
    """Counts the tokens of what the model is told; without it there is always the same usage."""
    models: Sequence[JSON] = ()
    etag: str | None = None
    """That of the models; who has it is told that nothing has changed."""
    key: str | None = None
    """What a request must bring, if anything."""
    plans: deque[Plan] = attrs.field(factory=deque[Plan])
    heard: list[Heard] = attrs.field(factory=list[Heard])
    hung_up: int = 0
    """How many answers weren't heard to their end."""
    keep: Callable[[JSON], object] = lambda event: None
    """Is given what happens, when it does: each request, and each answer that was hung up on."""
    connections: int = 0
    responses: dict[str, list[JSON]] = attrs.field(factory=dict[str, "list[JSON]"])
    """What is kept: the whole context, by the id of the response at its end."""
    _numbers: Iterator[int] = attrs.field(factory=lambda: iter(range(1, 10**9)))

    @property
    def bodies(self) -> list[JSON]:
        """The bodies of the requests for responses."""
        return [one.body for one in self.heard if one.method == "POST"]

    async def answer(self, exchange: Exchange) -> None:
        """Answer one request."""
        body: JSON = json.loads(exchange.body) if exchange.body else {}
        self.heard.append(
            Heard(exchange.method, exchange.path, exchange.headers, body, exchange.version)
        )
        self.keep({"path": exchange.path, "body": body})
        try:
            if self.key and exchange.headers.get("authorization") != f"Bearer {self.key}":
                await self._refuse(exchange, 401, "invalid_api_key", "Incorrect API key provided.")
            elif exchange.path.partition("?")[0].endswith("/models"):
                await self._list(exchange)
            else:
                await self._respond(exchange, body, self.plans.popleft() if self.plans else Plan())
        except HungUp:
            self.hung_up += 1
            self.keep({"hung_up": exchange.path})

    async def _respond(self, exchange: Exchange, body: JSON, plan: Plan) -> None:
        if plan.wait is not None:
            await exchange.watch(plan.wait)
        if plan.is_raw:
            await self._send_raw(exchange, plan)
            return
        goes_on = self.stateful and not self.forgets
        previous = body.get("previous_response_id") if goes_on else None
        if previous is not None and previous not in self.responses:
            message = f"Previous response with id '{previous}' not found."
            await self._refuse(exchange, 400, "previous_response_not_found", message)
            return
        before = self.responses[previous] if previous else []
        given = body["input"]
        context = Context([*before, *given], body)
        if plan.outputs is None:
            made = self.model(context)
            plan = made if isinstance(made, Plan) else attrs.evolve(plan, outputs=made)
            if plan.is_raw:
                await self._send_raw(exchange, plan)
                return
        events = self._events(context, plan)
        if plan.whole or not body.get("stream"):
            *_, last = events
            await self._send_json(exchange, last["response"])
            return
        await exchange.start(200, {"content-type": plan.content_type, **_encoding(plan)})
        done = [] if plan.ending in ("none", "hang") else [DONE]
        await self._deliver(exchange, plan, [*map(sse, events), *done])

    async def _send_raw(self, exchange: Exchange, plan: Plan) -> None:
        await exchange.start(plan.status, {"content-type": plan.content_type, **plan.headers})
        await self._deliver(exchange, plan, [plan.body or b""])

    def _events(self, context: Context, plan: Plan) -> list[JSON]:
        response_id = self._new_id("resp")
        request = context.request
        fields: JSON = {} if self.stateful else {"store": False}
        if self.forgets or not self.stateful:
            fields["previous_response_id"] = None
        writer = Writer(response_object(request, response_id, **fields), self._new_id)
        events = [*writer.begin()]
        for output in plan.outputs or ():
            events += writer.say(output)
        match plan.ending:
            case "completed":
                events += writer.end(**self._usage(context))
            case "incomplete":
                details = {"incomplete_details": {"reason": "max_output_tokens"}}
                events += writer.end("incomplete", **details)
            case "failed":
                events += writer.fail("server_error", "The model is unwell.")
            case "none" | "hang":
                pass
        if self.stateful and request.get("store", True) and plan.ending == "completed":
            self.responses[response_id] = [*context.items, *writer.output]
        return events

    async def _list(self, exchange: Exchange) -> None:
        if self.etag and exchange.headers.get("if-none-match") == self.etag:
            await exchange.start(304, {"etag": self.etag})
            await exchange.end()
            return
        headers = {"etag": self.etag} if self.etag else {}
        await exchange.start(200, {"content-type": "application/json", **headers})
        await exchange.write(json.dumps({"object": "list", "data": list(self.models)}).encode())
        await exchange.end()

    def _usage(self, context: Context) -> JSON:
        if self.count is None:
            return {}
        tokens = self.count(context)
        return {"usage": {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}}

    async def _deliver(self, exchange: Exchange, plan: Plan, writes: Sequence[bytes]) -> None:
        if plan.gzip:
            writes = [gzip.compress(b"".join(writes))]
        if plan.corrupt:
            writes = [write.replace(b'"delta": "', b'"delta": "\xff\xfe') for write in writes]
        if plan.chunk:
            whole = b"".join(writes)
            writes = [whole[at : at + plan.chunk] for at in range(0, len(whole), plan.chunk)]
        sent = 0
        end = min((at for at in (plan.cut, plan.reset, plan.stall) if at is not None), default=None)
        for write in writes:
            piece = write if end is None else write[: end - sent]
            if piece:
                await exchange.write(piece)
            sent += len(piece)
            if sent == end:
                break
        if plan.cut is not None:
            await exchange.cut()
        elif plan.reset is not None:
            await exchange.reset()
        elif plan.stall is not None or plan.ending == "hang":
            await exchange.watch(trio.Event())
        else:
            await exchange.end()

    async def _refuse(self, exchange: Exchange, status: int, code: str, message: str) -> None:
        fields = {"type": "invalid_request_error", "code": code, "message": message, "param": None}
        await self._send_json(exchange, {"error": fields}, status)

    async def _send_json(self, exchange: Exchange, value: Any, status: int = 200) -> None:
        await exchange.start(status, {"content-type": "application/json"})
        await exchange.write(json.dumps(value).encode())
        await exchange.end()

    def _new_id(self, kind: str) -> str:
        return f"{kind}_{next(self._numbers):024x}"


def _encoding(plan: Plan) -> dict[str, str]:
    return {**plan.headers, **({"content-encoding": "gzip"} if plan.gzip else {})}


@asynccontextmanager
async def responses_server(
    model: Model = remember, *, tls: ssl.SSLContext | None = None, **fields: Any
) -> AsyncGenerator[ResponsesServer]:
    """Run a server; on exit it is gone, with every connection."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    scheme, host = ("http", "127.0.0.1") if tls is None else ("https", "localhost")
    server = ResponsesServer(f"{scheme}://{host}:{port}/v1", model, **fields)

    async def serve(stream: trio.SocketStream) -> None:
        server.connections += 1
        await serve_http(stream, server.answer, tls)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield server
        nursery.cancel_scope.cancel()
