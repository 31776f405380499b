"""The HTTP server in a test's own process: real sockets, and any agent behind it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import attrs
import httpx
import trio

from agents.base import Agent
from agents.eliza.agent import ElizaAgent
from bridge.models import Catalogue
from bridge.wire import ElizaSpec, Permissions
from vscodelm.http_server.answering import Answering
from vscodelm.http_server.app import Guarded, make_app
from vscodelm.http_server.core import open_answering
from vscodelm.http_server.gate import gate_of
from vscodelm.http_server.records import open_records
from vscodelm.http_server.serving import ServedAddress, bound, serving

TOKEN = "token-of-the-tests"
PATIENCE = 20.0
"""Seconds; a busy machine needs some."""


@attrs.define(eq=False)
class Face:
    """A running server, with a client that has the token."""

    address: ServedAddress
    http: httpx.AsyncClient
    answering: Answering

    async def post(self, path: str, body: Any) -> httpx.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        with trio.fail_after(PATIENCE):
            return await self.http.post(path, content=content)

    async def respond(self, given: Any, **fields: Any) -> dict[str, Any]:
        """Return a response that must succeed."""
        answer = await self.post("responses", {"model": "eliza", "input": given, **fields})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def fails(self, status: int, body: Any, path: str = "responses") -> dict[str, Any]:
        """Return the error of a request that must fail with a status."""
        answer = await self.post(path, body)
        assert answer.status_code == status, answer.text
        return answer.json()["error"]

    async def get(self, path: str) -> httpx.Response:
        with trio.fail_after(PATIENCE):
            return await self.http.get(path)

    async def events(self, given: Any, **fields: Any) -> list[dict[str, Any]]:
        """Return the events of a stream, whose framing must be right."""
        body = {"model": "eliza", "input": given, "stream": True, **fields}
        return events_in((await self.post("responses", body)).text)


def events_in(text: str) -> list[dict[str, Any]]:
    """Return the events of a response's stream, which must be framed by the rules."""
    *frames, done, rest = text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    events: list[dict[str, Any]] = []
    for frame in frames:
        if frame.startswith(":"):
            continue
        name, data = frame.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        events.append(event)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


def text_of(response: Mapping[str, Any]) -> str:
    """Return the text of a response's messages."""
    messages = [item for item in response["output"] if item["type"] == "message"]
    return "".join(part["text"] for item in messages for part in item["content"])


@asynccontextmanager
async def open_face(
    state: Path,
    agent: Agent | None = None,
    *,
    permissions: Permissions = "read_only",
    catalogue: Catalogue | None = None,
    origins: tuple[str, ...] = (),
) -> AsyncGenerator[Face]:
    """Serve an agent on the loopback until the exit; Eliza, if no other is given."""
    numbers = count()
    answers = agent or ElizaAgent(
        ElizaSpec(deterministic=True), new_call_id=lambda: f"eliza-{next(numbers)}"
    )
    records = open_records(state)
    try:
        async with open_answering(
            lambda _choice: answers,
            records,
            catalogue or Catalogue(),
            key=b"key-of-the-tests",
            permissions=permissions,
        ) as answering:
            with bound("127.0.0.1", 0) as (listening, address):
                gate = gate_of(TOKEN, address.host, address.port, origins)
                async with (
                    serving(Guarded(make_app(answering), gate), listening),
                    httpx.AsyncClient(
                        base_url=f"{address.url}/",
                        headers={"authorization": f"Bearer {TOKEN}"},
                        timeout=PATIENCE,
                    ) as client,
                ):
                    yield Face(address, client, answering)
    finally:
        records.close()
