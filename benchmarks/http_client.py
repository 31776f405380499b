"""Clients of `vscodelm serve-http` as the benchmarks need them: one, or many at once."""

from __future__ import annotations

import json
import re
import selectors
import signal
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import msgspec

from .acp_agent import scripted
from .harness import CHUNK, VSCODELM, Child, running

_TOKEN = "token-of-the-benchmarks"
_HEADERS = {"authorization": f"Bearer {_TOKEN}", "content-type": "application/json"}
_DELTA = b"\nevent: response.output_text.delta\n"
_COMPLETED = re.compile(rb"\nevent: response.completed\ndata: (.+)\n")
PATIENCE_SECONDS = 120.0
"""Seconds without a byte after which a stream is stuck."""


class _Response(msgspec.Struct):
    id: str
    metadata: dict[str, str]


class _Event(msgspec.Struct):
    response: _Response


_decode = msgspec.json.Decoder(_Event).decode


@attrs.frozen
class Streamed:
    """An answer that was streamed: its deltas, and what its response repeats of the request."""

    id: str
    deltas: int
    metadata: dict[str, str]


def streamed(text: bytes) -> Streamed:
    """Return what a whole event stream says; raises `RuntimeError` if it isn't complete."""
    found = _COMPLETED.search(text)
    if found is None:
        raise RuntimeError(f"no answer: {text[:1000].decode()}")
    response = _decode(found[1]).response
    return Streamed(response.id, text.count(_DELTA), response.metadata)


class HttpClient:
    """A client with one connection to a server, which is a child."""

    def __init__(self, child: Child, model: str) -> None:
        self.child = child
        self.port = int(child.read().split(b":")[2].split(b"/")[0])
        self._model = model
        self._connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)

    def ask(self, text: str, **fields: Any) -> Streamed:
        """Ask for a stream, and read it to its end."""
        body = self._body(text, fields)
        try:
            return self._post(body)
        except ConnectionError:  # it has rested too long, and the server has closed it
            self._connection.close()
            return self._post(body)

    def _post(self, body: bytes) -> Streamed:
        self._connection.request("POST", "/v1/responses", body, _HEADERS)
        return streamed(b"\n" + self._connection.getresponse().read())

    def ask_at_once(self, texts: Sequence[str]) -> list[Streamed]:
        """Ask for many streams, each on its own connection, and read them in turn.

        None is read on before each of them has begun. Each request has its number as metadata.
        """
        streams = [self._begin(number, text) for number, text in enumerate(texts)]
        read = [bytearray(stream.recv(CHUNK)) for stream in streams]
        with selectors.DefaultSelector() as ready:
            for stream, so_far in zip(streams, read, strict=True):
                ready.register(stream, selectors.EVENT_READ, so_far)
            left = len(streams)
            while left:
                found = ready.select(PATIENCE_SECONDS)
                if not found:
                    raise RuntimeError(f"{left} streams are stuck")
                for key, _ in found:
                    chunk = key.fileobj.recv(CHUNK)  # pyright: ignore  # it is a socket
                    key.data.extend(chunk)
                    if not chunk:
                        ready.unregister(key.fileobj)
                        left -= 1
        for stream in streams:
            stream.close()
        return [streamed(_dechunked(bytes(so_far))) for so_far in read]

    def leave(self, text: str) -> None:
        """Ask for a stream, and leave when it has begun."""
        with self._begin(0, text) as stream:
            stream.recv(CHUNK)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _begin(self, number: int, text: str) -> socket.socket:
        body = self._body(text, {"metadata": {"number": str(number)}})
        lines = [f"{name}: {value}" for name, value in _HEADERS.items()]
        head = [
            "POST /v1/responses HTTP/1.1",
            f"host: 127.0.0.1:{self.port}",
            f"content-length: {len(body)}",
            "connection: close",
            *lines,
            "",
            "",
        ]
        stream = socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS)
        stream.sendall("\r\n".join(head).encode() + body)
        return stream

    def _body(self, text: str, fields: dict[str, Any]) -> bytes:
        return msgspec.json.encode({"model": self._model, "input": text, "stream": True, **fields})


def _dechunked(answer: bytes) -> bytes:
    """Return the body of an answer that came in chunks."""
    _, _, rest = answer.partition(b"\r\n\r\n")
    pieces = [b"\n"]
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        length = int(size, 16)
        pieces.append(rest[:length])
        rest = rest[length + 2 :]
    return b"".join(pieces)


@contextmanager
def serving(script: dict[str, Any] | None = None) -> Generator[HttpClient]:
    """Serve Eliza over HTTP, or an ACP agent with a script."""
    with TemporaryDirectory() as folder, scripted(script or {}) as (command, *args):
        config = Path(folder) / "config.toml"
        words = f"command = {json.dumps(command)}, args = {json.dumps(args)}"  # as TOML has them
        config.write_text(
            f'[[models]]\nid = "fake"\nagent = {{ acp = {{ name = "fake", {words} }} }}\n'
        )
        argv = [VSCODELM, "serve-http", "--config", str(config), "--state-dir", folder]
        with running(argv, variables={"VSCODELM_TOKEN": _TOKEN}, ends_by=signal.SIGTERM) as child:
            client = HttpClient(child, "eliza" if script is None else "fake")
            try:
                yield client
            finally:
                client.close()
