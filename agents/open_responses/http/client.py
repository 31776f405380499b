"""Asks an endpoint, once: one request, and its answer as it comes.

Only this folder uses httpx. The rest of the package sees bytes and `EndpointError`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import cast

import attrs
import httpx
import trio

from agents.breather import Breather
from agents.guarded import Tasks
from agents.json_limits import MOST_JSON_VALUES, has_too_many_values
from agents.trace import TapFor, untapped
from bridge.errors import Failure
from bridge.value import Value
from bridge.wire import OpenResponsesSpec

from .address import host_of, resource, server_name
from .body import BodyKind, kind_of
from .errors import (
    EndpointError,
    bad_address,
    bad_environment,
    bad_header,
    broke_off,
    no_stream,
    out_of_reach,
    read_fault,
    refused,
    scrubbed,
    silent,
)
from .headers import headers_for, secrets_in
from .inflation import Inflater, NotInflatable, inflater
from .pool import BadEnvironment, ClientLease, Connections
from .socks import SocksWatch
from .trace import WireRecord
from .unexpected import expecting_anything

_END_SECONDS = 0.1
"""Seconds for a complete response to close its stream, so that its connection can be reused."""
_FAULT_BYTES = 64 * 1024
"""Bytes of an error that are read."""
_NOT_MODIFIED = 304
_WHOLE_BYTES = 32 * 1024 * 1024
"""Bytes of an answer that is no stream."""
_LIST_BYTES = 8 * 1024 * 1024
"""Bytes of a list of models."""
_LIST_TOKENS = 100_000
"""Values in a list of models; each model has some fifty."""
_LONGEST_LABEL = 63
"""Bytes between two dots of a host's name (RFC 1035)."""
_OUT_OF_REACH = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.InvalidURL,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)
_IN_OUR_WORDS = (
    httpx.InvalidURL,
    httpx.RequestError,
    httpx.StreamError,
    NotInflatable,
    UnicodeEncodeError,
)
"""Errors that `_in_our_words` or its caller puts into words."""

log = logging.getLogger("vscodelm.open_responses")


@attrs.define(eq=False, repr=False)
class EndpointAnswer:
    """The answer to one request, of a kind that can be read."""

    kind: BodyKind
    _start: bytes
    _body: _Body
    record: WireRecord
    """Records the bytes read."""

    async def receive(self) -> bytes | None:
        """Return the next bytes, None at the end; raises `EndpointError`."""
        if self._start:
            start, self._start = self._start, b""
            return start
        return await self._body.receive()

    async def whole(self) -> bytes:
        """Return all that is left; raises `EndpointError`."""
        body = await self._body.read(_WHOLE_BYTES, self._start)
        await check_size(body, self._body.server)
        self.record.body(body)
        return body

    async def end(self) -> None:
        """Read the rest if it comes at once, so that the connection can be reused.

        Its errors don't matter any more.
        """
        with trio.move_on_after(_END_SECONDS), suppress(EndpointError):
            while await self.receive() is not None:
                pass


class Resource(Value):
    """A resource of an endpoint, and its entity tag for the next conditional request."""

    body: bytes
    etag: str | None


class EndpointClient:
    """Asks one endpoint. Connections are kept for other requests if `tasks` can end them."""

    def __init__(
        self,
        spec: OpenResponsesSpec,
        environment: Mapping[str, str] | None = None,
        tap_for: TapFor = untapped,
        tasks: Tasks | None = None,
    ) -> None:
        self._spec = spec
        self._environment = os.environ if environment is None else environment
        self._connections = Connections(
            httpx.Timeout(spec.idle_seconds, connect=spec.connect_seconds), tasks
        )
        self.server = server_name(spec.base_url)
        self._tap = tap_for(host_of(spec.base_url))
        self.secrets: list[str] = []
        """The secrets that the last request was sent with."""

    @asynccontextmanager
    async def post(self, body: bytes) -> AsyncGenerator[EndpointAnswer]:
        """Ask for a response; raises `EndpointError`. Leaving breaks off what isn't at its end."""
        async with self._ask("POST", "responses", body) as (response, reader, record):
            start = await reader.receive() or b""
            content_type = response.headers.get("content-type", "")
            kind = kind_of(content_type, start)
            if kind == "other":
                whole = await reader.read(_FAULT_BYTES, start)
                record.body(whole)
                text = whole.decode(errors="replace")
                raise no_stream(self.server, content_type, text[:200])
            yield EndpointAnswer(kind, start, reader, record)

    async def get(self, name: str, etag: str | None = None) -> Resource | None:
        """Return a resource, None if it is still that of the tag; raises `EndpointError`."""
        async with self._ask("GET", name, None, etag) as (response, reader, record):
            body = await reader.read(_LIST_BYTES)
            await check_size(body, self.server, _LIST_TOKENS)
            record.body(body)
            if response.status_code == _NOT_MODIFIED:
                return None
            return Resource(body, response.headers.get("etag"))

    @property
    def is_closed(self) -> bool:
        """Whether connections aren't kept any more."""
        return self._connections.is_closed

    async def aclose(self) -> None:
        """Close idle connections."""
        await self._connections.aclose()

    @asynccontextmanager
    async def _ask(
        self, method: str, name: str, body: bytes | None, etag: str | None = None
    ) -> AsyncGenerator[tuple[httpx.Response, _Body, WireRecord]]:
        headers = headers_for(self._spec, self._environment)
        self.secrets = secrets_in(headers)
        if etag is not None:
            headers["if-none-match"] = etag
        record = WireRecord(self._tap, self.secrets)
        url = self._address(name)
        record.request(method, url, body)
        try:
            async with self._connections.lease() as lease:
                with _in_our_words(self.server, self._spec.idle_seconds):
                    request = lease.client.build_request(method, url, content=body, headers=headers)
                    response = await self._send(lease.client, request)
                log.debug("status=%s version=%s", response.status_code, response.http_version)
                record.answer(response.status_code, response.headers.get("content-type", ""))
                reader = _Body(self.server, self._spec.idle_seconds, lease, response)
                try:
                    is_same = etag is not None and response.status_code == _NOT_MODIFIED
                    if not (response.is_success or is_same):
                        await self._refuse(response, reader, record)
                    yield response, reader, record
                finally:
                    await reader.aclose()
        except BadEnvironment as error:
            refusal = bad_environment(self.server, str(error))
            self._tell(refusal, record)
            raise refusal from None
        except EndpointError as error:
            self._tell(error, record)
            raise

    def _address(self, name: str) -> str:
        """Return the address of a resource; raises `EndpointError` if it can't be looked up."""
        url = resource(self._spec.base_url, name)
        try:
            labels = httpx.URL(url).raw_host.removesuffix(b".").split(b".")
        except (httpx.InvalidURL, ValueError):
            raise bad_address(self.server) from None
        if not all(0 < len(label) <= _LONGEST_LABEL for label in labels):
            raise bad_address(self.server)
        return url

    async def _send(self, client: httpx.AsyncClient, request: httpx.Request) -> httpx.Response:
        watch = SocksWatch.of(os.environ, self._spec.connect_seconds)
        if watch is None:
            return await client.send(request, stream=True)
        request.extensions = {**request.extensions, "trace": watch.trace}
        async with watch.watching():
            return await client.send(request, stream=True)

    def _tell(self, error: EndpointError, record: WireRecord) -> None:
        """Take secrets out of a failure, and record it."""
        error.failure = scrubbed(error.failure, self.secrets)
        record.failure(error.failure.message)

    async def _refuse(self, response: httpx.Response, reader: _Body, record: WireRecord) -> None:
        body = await reader.read(_FAULT_BYTES)
        record.body(body)
        fault = read_fault(body, response.status_code)
        raise refused(fault, response.headers, self.server)


@attrs.define(eq=False, repr=False)
class _Body:
    """The body of an answer. It is always brought to an end, one way or the other."""

    server: str
    idle_seconds: float
    lease: ClientLease
    response: httpx.Response
    _chunks: AsyncIterator[bytes] = attrs.field(init=False)
    _inflate: Inflater = attrs.field(init=False)
    _pieces: Iterator[bytes] = attrs.field(factory=lambda: iter(()), init=False)
    """The rest of a compressed chunk, not yet inflated."""
    _is_broken: bool = attrs.field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        # Not decoded by httpx: its generators would be left open where a body can't be.
        self._chunks = self.response.aiter_raw()
        self._inflate = inflater(self.response.headers.get("content-encoding", ""))

    async def receive(self) -> bytes | None:
        try:
            with _in_our_words(self.server, self.idle_seconds):
                piece = next(self._pieces, None)
                if piece is not None:
                    await trio.lowlevel.checkpoint()
                    return piece
                async for raw in self._chunks:
                    self._pieces = self._inflate(raw)
                    piece = next(self._pieces, None)
                    if piece:
                        return piece
        except NotInflatable as error:
            raise broke_off(self.server, str(error)) from None
        except BaseException:
            self._is_broken = True
            raise
        self.lease.is_clean = not self._is_broken
        return None

    async def read(self, most: int, start: bytes = b"") -> bytes:
        """Return the rest, up to about so many bytes."""
        chunks, length = [start], len(start)
        while length < most and (chunk := await self.receive()) is not None:
            chunks.append(chunk)
            length += len(chunk)
        return b"".join(chunks)

    async def aclose(self) -> None:
        """Break off what isn't at its end. httpx releases it when the reading is cancelled."""
        if self.lease.is_clean:
            return
        if not self._is_broken:
            with trio.CancelScope(shield=True) as scope:
                scope.cancel()
                with suppress(httpx.HTTPError):
                    async for _ in self._chunks:
                        pass
        with trio.move_on_after(_END_SECONDS, shield=True):
            await self.response.aclose()


async def check_size(body: bytes, server: str, most: int = MOST_JSON_VALUES) -> None:
    """Raise `EndpointError` where JSON has more values than are read."""
    if await Breather().do(has_too_many_values(body, most)):
        text = f"{server} sent an answer of more than {most:,} values, which is too much."
        raise EndpointError(Failure("AgentFailed", text, f"{len(body):,} bytes"))


@contextmanager
def _in_our_words(server: str, idle_seconds: float) -> Generator[None]:
    """Translate the errors of httpx, and any other error of sending and reading."""
    try:
        with expecting_anything(server, "HTTP with it", but=_IN_OUR_WORDS):
            yield
    except (httpx.ReadTimeout, httpx.WriteTimeout):
        raise silent(server, idle_seconds) from None
    except _OUT_OF_REACH as error:
        raise out_of_reach(server, _reason(error)) from None
    except (httpx.LocalProtocolError, UnicodeEncodeError):
        raise bad_header(server) from None
    except (httpx.RequestError, httpx.StreamError) as error:
        raise broke_off(server, _reason(error)) from None


def _reason(error: BaseException) -> str:
    """Return the message of an error's cause: httpx and trio often give none."""
    said, at = "", cast("BaseException | None", error)
    while at is not None and not isinstance(at, trio.Cancelled):
        said = str(at) or said
        at = at.__cause__ or at.__context__
    return said or type(error).__name__
