"""The endpoints of the server, as an ASGI application of starlette's. They decide nothing.

A client that leaves cancels its answer: while one is written, the connection is watched.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import msgspec
import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request  # noqa: TC002  # not only for types: starlette looks at its endpoints
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from agents.boundary import contained
from agents.breather import Breather

from .answering import Answering, AnswerWriter, Query
from .api_error import RETRY_SECONDS, ApiError, bad_request
from .body import check_values, read_body
from .completions import about_messages, read_completion
from .gate import HttpGate
from .serving import let_in
from .websocket import talk

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send
    from starlette.websockets import WebSocket

MOST_BODY_BYTES = 32 * 1024 * 1024
"""Bytes of a request's body."""
BODY_SECONDS = 30.0
"""Seconds that a client may take to send a request's body."""
DRAIN_SECONDS = 2.0
"""Seconds that a client may take to read a refusal. The rest of its request is read meanwhile."""

_STREAM = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
]
"""The headers of an event stream."""

log = logging.getLogger("vscodelm.http")


def make_app(answering: Answering) -> Starlette:
    """Return the application; `Guarded` stands before it."""
    endpoints = _Endpoints(answering)
    routes = [
        Route("/v1/models", endpoints.models),
        Route("/v1/responses", endpoints.respond, methods=["POST"]),
        WebSocketRoute("/v1/responses", endpoints.talk),
        Route("/v1/responses/compact", endpoints.compact, methods=["POST"]),
        Route("/v1/responses/{id}", endpoints.retrieve_or_delete, methods=["GET", "DELETE"]),
        Route("/v1/responses/{id}/cancel", endpoints.cancel, methods=["POST"]),
        Route("/v1/responses/{id}/input_items", endpoints.input_items),
        Route("/v1/chat/completions", endpoints.complete, methods=["POST"]),
    ]
    handlers: Any = {ApiError: _refused, HTTPException: _not_routed}
    return Starlette(routes=routes, exception_handlers=handlers)


@attrs.define(eq=False, repr=False)
class Guarded:
    """The application behind its gate."""

    app: ASGIApp
    gate: HttpGate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request that the gate lets through."""
        try:
            self.gate.check(scope["headers"])
        except ApiError as error:
            log.warning("refused %s status=%d", scope["type"], error.status)
            await _refuse(scope, receive, send, error)
            return
        let_in(scope)
        with contained(f"http={scope['type']}"):
            await self.app(scope, receive, send)


async def _refuse(scope: Scope, receive: Receive, send: Send, error: ApiError) -> None:
    """Answer with an error, while what the client still sends is read and dropped."""
    if scope["type"] != "http":
        answer = _error_response(error)
        start = {"status": error.status, "headers": answer.raw_headers}
        await send({"type": "websocket.http.response.start", **start})
        await send({"type": "websocket.http.response.body", "body": error.body})
        return
    with trio.move_on_after(DRAIN_SECONDS):
        await _Drained(_error_response(error))(scope, receive, send)


def _error_response(error: ApiError) -> Response:
    headers = {"retry-after": str(error.retry)} if error.retry else {}
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    if error.status == 413:
        headers["connection"] = "close"
    return Response(error.body, error.status, headers, "application/json")


def _refused(request: Request, error: ApiError) -> Response:
    log.info("refused %s status=%d code=%s", request.url.path, error.status, error.code)
    return _Drained(_error_response(error))


def _not_routed(request: Request, error: HTTPException) -> Response:
    code = "not_found" if error.status_code == 404 else "method_not_allowed"
    answer = _error_response(ApiError(error.status_code, code, error.detail))
    answer.headers.update(error.headers or {})  # a 405 names the methods that are allowed
    return _Drained(answer)


class _Drained(Response):
    """A response during which the rest of the request is dropped."""

    def __init__(self, inner: Response) -> None:
        super().__init__()
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_watch, receive)
            await self._inner(scope, receive, send)
            nursery.cancel_scope.cancel()


async def _watch(receive: Receive, gone: Callable[[], None] | None = None) -> None:
    """Read until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    if gone is not None:
        gone()


class _Answer(Response):
    """An answer that is asked for when the client is there to read it."""

    def __init__(
        self, answering: Answering, query: Query, writer: AnswerWriter, *, is_stream: bool
    ) -> None:
        super().__init__()
        self._answering = answering
        self._query = query
        self._writer = writer
        self._is_stream = is_stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        error: ApiError | None = None
        last: Message | None = None
        with self._answering.place():
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_watch, receive, nursery.cancel_scope.cancel)
                try:
                    last = await self._answer(send)
                except ApiError as refusal:
                    error = refusal  # raised outside, where no nursery wraps it in a group
                nursery.cancel_scope.cancel()
            if last is not None:
                # Not watched any more: the end of an answer counts as a disconnect, and a cancel
                # then would keep hypercorn from closing the connection, or from watching its rest.
                await send(last)
        if error is not None:
            raise error

    async def _answer(self, send: Send) -> Message:
        """Send all but the last message, and return that."""
        answer = await self._answering.begin(self._query, self._writer)
        if not self._is_stream:
            failure = await self._answering.pump(answer, None)
            if failure is not None:
                raise failure
            whole = Response(self._writer.result, media_type="application/json")
            start = {"type": "http.response.start", "status": 200, "headers": whole.raw_headers}
            await send(start)
            return {"type": "http.response.body", "body": whole.body}
        has_begun = False

        async def send_piece(piece: bytes) -> None:
            nonlocal has_begun
            if not has_begun:
                has_begun = True
                await send({"type": "http.response.start", "status": 200, "headers": _STREAM})
            await send({"type": "http.response.body", "body": piece, "more_body": True})

        await self._answering.pump(answer, send_piece)
        return {"type": "http.response.body", "body": b""}


@attrs.define(eq=False, repr=False)
class _Endpoints:
    answering: Answering
    _began: int = attrs.field(factory=lambda: int(time.time()), init=False)

    async def models(self, request: Request) -> Response:
        listed = [
            {
                "id": one.information.id,
                "object": "model",
                "created": self._began,
                "owned_by": "vscodelm",
            }
            for one in self.answering.catalogue.models
        ]
        return _json({"object": "list", "data": listed})

    async def respond(self, request: Request) -> Response:
        body = read_body(await _read(request))
        query = await self.answering.query(body)
        agent = request.headers.get("user-agent", "")
        writer = self.answering.writer(body, query, agent=agent)
        return _Answer(self.answering, query, writer, is_stream=body.stream is True)

    async def complete(self, request: Request) -> Response:
        body, wants_usage, origins = read_completion(await _read(request))
        try:
            query = await self.answering.query(body)
        except ApiError as error:
            raise about_messages(error, origins) from None
        writer = self.answering.completion_writer(query, wants_usage=wants_usage)
        return _Answer(self.answering, query, writer, is_stream=body.stream is True)

    async def talk(self, socket: WebSocket) -> None:
        await talk(self.answering, socket)

    async def compact(self, request: Request) -> Response:
        body = read_body(await _read(request))
        item = {
            "type": "compaction",
            "id": f"cmp_{secrets.token_hex(16)}",
            "encrypted_content": await self.answering.compacted(body),
        }
        nothing = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}  # no agent was asked
        details = {
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        return _json(
            {
                "id": f"resp_{secrets.token_hex(16)}",
                "object": "response.compaction",
                "created_at": int(time.time()),
                "output": [item],
                "usage": {**nothing, **details},
            }
        )

    async def retrieve_or_delete(self, request: Request) -> Response:
        """Serve both methods of one path, so that a refusal of another names both."""
        return await (self._delete if request.method == "DELETE" else self._retrieve)(request)

    async def _retrieve(self, request: Request) -> Response:
        if request.query_params.get("stream") == "true":
            raise bad_request("A response can't be streamed again.", "stream", "unsupported")
        found = await self.answering.resource(request.path_params["id"])
        return Response(found, media_type="application/json")

    async def _delete(self, request: Request) -> Response:
        named = request.path_params["id"]
        await self.answering.drop(named)
        return _json({"id": named, "object": "response", "deleted": True})

    async def cancel(self, request: Request) -> Response:
        found = await self.answering.cancel(request.path_params["id"])
        return Response(found, media_type="application/json")

    async def input_items(self, request: Request) -> Response:
        named = _named(await self.answering.items(request.path_params["id"]))
        if request.query_params.get("order", "desc") == "desc":
            named.reverse()
        after = request.query_params.get("after")
        places = [index for index, item in enumerate(named) if item["id"] == after]
        if after is not None and not places:
            raise bad_request(f"There is no item {after!r}.", "after")
        rest = named[places[0] + 1 :] if places else named
        limit = _limit(request.query_params.get("limit", "20"))
        page = rest[:limit]
        ids = [item["id"] for item in page]
        ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
        return _json({"object": "list", "data": page, **ends, "has_more": len(rest) > limit})


def _limit(given: str) -> int:
    if re.fullmatch("[0-9]{1,3}", given) and 1 <= int(given) <= 100:
        return int(given)
    raise bad_request("It must be a number from 1 to 100.", "limit")


def _named(items: Sequence[msgspec.Raw]) -> list[dict[str, Any]]:
    """Return items, each with an id of its own, so that pages never begin again."""
    found: dict[str, dict[str, Any]] = {}
    for index, item in enumerate(items):
        fields: dict[str, Any] = msgspec.json.decode(item)
        name = fields.get("id") or f"item_{index}"
        while name in found:
            name = f"{name}_{index}"
        found[name] = {**fields, "id": name}
    return [*found.values()]


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


async def _read(request: Request) -> bytes:
    """Return the body of a request; raises `ApiError`."""
    too_large = f"A body may have {MOST_BODY_BYTES // (1024 * 1024)} MiB."
    length = request.headers.get("content-length", "")
    if length.isdigit() and (len(length) > 18 or int(length) > MOST_BODY_BYTES):
        raise ApiError(413, "request_too_large", too_large)
    body = bytearray()
    with trio.move_on_after(BODY_SECONDS) as waiting:
        is_more = True
        while is_more:
            message = await request.receive()
            if message["type"] == "http.disconnect":
                raise ApiError(400, "client_gone", "The client has left.")
            body += message.get("body", b"")
            is_more = message.get("more_body", False)
            if len(body) > MOST_BODY_BYTES:
                raise ApiError(413, "request_too_large", too_large)
    if waiting.cancelled_caught:
        raise ApiError(408, "request_timeout", "The body took too long.", retry=RETRY_SECONDS)
    whole = bytes(body)
    await Breather().do(check_values(whole))
    return whole
