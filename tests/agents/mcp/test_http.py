"""The server over HTTP: a real socket on the loopback, so no mock clock."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import product
from typing import Any
from urllib.parse import urlsplit

import attrs
import httpx
import pytest
import trio

from agents.events import ToolAnswer
from agents.mcp import http as web
from agents.mcp.http import open_web
from agents.mcp.server import EditorServer, ReportProgress
from agents.mcp.session_tools import HttpAccess
from agents.mcp.streams import MOST_VALUES
from agents.mcp.tools import JSON, ToolCatalogue
from bridge.wire import ToolSpec
from tests.fakes.waiting import until

from .client import STATELESS, Client

BOTH = "application/json, text/event-stream"


@attrs.define(eq=False)
class Tools:
    withdrawn: int = 0
    hangs: bool = False
    result: Any = None

    async def call(self, name: str, arguments: JSON, _report: ReportProgress) -> ToolAnswer:
        try:
            if self.hangs:
                await trio.sleep_forever()
            await trio.lowlevel.checkpoint()
        except trio.Cancelled:
            self.withdrawn += 1
            raise
        return ToolAnswer("", self.result or f"{name} {json.dumps(arguments)}")


@attrs.define(eq=False)
class Web:
    server: EditorServer
    entry: HttpAccess
    http: httpx.AsyncClient
    tools: Tools
    issue: Callable[[], HttpAccess]
    session: dict[str, str] = attrs.field(factory=dict[str, str])

    async def post(self, message: Any, **headers: str) -> httpx.Response:
        own = {"authorization": self.entry.authorization, "accept": BOTH, **self.session}
        return await self.http.post(self.entry.url, json=message, headers={**own, **headers})

    async def ask(self, message: JSON, **headers: str) -> JSON:
        response = await self.post(message, **headers)
        assert response.status_code == 200, response.text
        if "mcp-session-id" in response.headers:
            self.session["mcp-session-id"] = response.headers["mcp-session-id"]
        for line in response.text.splitlines():
            if line.startswith("data:") and line.removeprefix("data:").strip():
                return json.loads(line.removeprefix("data:"))
        return response.json()


@asynccontextmanager
async def serving() -> AsyncGenerator[Web]:
    tools = Tools()
    catalogue = ToolCatalogue.of([ToolSpec("read_file", "d")], "vscx")
    server = EditorServer("vscx", "1", catalogue, tools.call)
    with trio.fail_after(30):
        async with (
            open_web(server) as web,
            httpx.AsyncClient(trust_env=False, timeout=20) as http,
        ):
            yield Web(server, web.issue(), http, tools, web.issue)


def message(era: str, method: str, params: JSON | None = None, **more: Any) -> JSON:
    return Client(trio.testing.memory_stream_pair()[0], era).message(method, params, **more)


INITIALIZE: JSON = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


async def test_an_agent_lists_and_calls() -> None:
    async with serving() as web_:
        assert not web_.server.has_come
        about = await web_.ask(INITIALIZE)
        assert about["result"]["capabilities"]["tools"]["listChanged"] is True
        assert (
            await web_.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        ).is_success
        listed = await web_.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        assert web_.server.has_come
        assert [tool["name"] for tool in listed["result"]["tools"]] == ["read_file"]
        params = {"name": "read_file", "arguments": {"a": 1}}
        called = await web_.ask(
            {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}
        )
        assert called["result"]["content"][0]["text"] == 'read_file {"a": 1}'
        assert web_.server.was_asked


async def test_an_agent_of_the_newest_era_lists_without_a_session() -> None:
    async with serving() as web_:
        listed = await web_.ask(
            message(STATELESS, "tools/list", id=2),
            **{"mcp-protocol-version": STATELESS, "mcp-method": "tools/list"},
        )
        assert [tool["name"] for tool in listed["result"]["tools"]] == ["read_file"]


async def test_a_change_is_told_on_the_open_stream() -> None:
    async with serving() as web_:
        await web_.ask(INITIALIZE)
        await web_.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        heard = 0
        headers = {
            "authorization": web_.entry.authorization,
            "accept": "text/event-stream",
            **web_.session,
        }
        async with web_.http.stream("GET", web_.entry.url, headers=headers) as stream:
            assert stream.status_code == 200
            await web_.server.change(ToolCatalogue.of([], "vscx"))
            async for line in stream.aiter_lines():
                if "notifications/tools/list_changed" in line:
                    heard += 1
                    assert (await web_.http.delete(web_.entry.url, headers=headers)).is_success
        assert heard == 1


METHODS = ("GET", "POST", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS")


def paths(web_: Web) -> list[str]:
    """Return the right path, those around it, and what a stranger would try."""
    right = urlsplit(web_.entry.url).path
    return [right, f"{right}/", f"{right}?a=b", right.removesuffix("/mcp"), "/", "/mcp", "/x/mcp"]


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"authorization": None}, 401),
        ({"authorization": ""}, 401),
        ({"authorization": "Bearer"}, 401),
        ({"authorization": "Bearer x"}, 401),
        ({"authorization": "Basic {token}"}, 401),
        ({"authorization": "{token}"}, 401),
        ({"host": "evil.example"}, 421),
        ({"host": "localhost:1"}, 421),
        ({"host": "127.0.0.1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1"}, 403),
    ],
    ids=str,
)
async def test_whoever_is_not_the_agent_is_refused_whatever_is_asked(
    wrong: dict[str, str | None], status: int
) -> None:
    """Also with the id of a session that is open."""
    async with serving() as web_:
        await web_.ask(INITIALIZE)
        token = web_.entry.authorization.removeprefix("Bearer ")
        headers = {"authorization": web_.entry.authorization, "accept": BOTH, **web_.session}
        for name, value in wrong.items():
            headers.pop(name, None)
            if value is not None:
                headers[name] = value.format(token=token)
        base = web_.entry.url.removesuffix(urlsplit(web_.entry.url).path)
        for method, path in product(METHODS, paths(web_)):
            body = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
            response = await web_.http.request(method, base + path, content=body, headers=headers)
            assert response.status_code == status, (method, path)
            assert response.content == b""
            assert response.headers.get("www-authenticate") == ("Bearer" if status == 401 else None)
            assert "access-control-allow-origin" not in response.headers
        assert not web_.server.was_asked
        assert (await web_.ask({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}))["result"]


async def test_a_large_result_arrives_whole() -> None:
    async with serving() as web_:
        web_.tools.result = "x" * 10_000_000
        await web_.ask(INITIALIZE)
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "read_file"}}
        (block,) = (await web_.ask(call))["result"]["content"]
        assert block["text"] == web_.tools.result


async def test_another_path_leads_nowhere() -> None:
    async with serving() as web_:
        headers = {"authorization": web_.entry.authorization}
        url = web_.entry.url.rpartition("/mcp")[0]
        assert (await web_.http.post(url, json={}, headers=headers)).status_code == 404


@pytest.mark.limit("agents.mcp.http.MOST_BYTES")
async def test_a_body_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "MOST_BYTES", 1000)
    async with serving() as web_:
        assert (await web_.post({"x": "y" * 2000})).status_code == 413


async def test_a_body_with_too_many_values_is_refused_before_it_is_decoded() -> None:
    async with serving() as web_:
        response = await web_.post({"x": [1] * MOST_VALUES})
        assert response.status_code == 400
        assert response.json()["id"] is None
        assert "at most 50,000 values" in response.json()["error"]["message"]
        assert (await web_.post({"x": [1] * (MOST_VALUES - 10)})).status_code == 400
        assert (await web_.post(INITIALIZE)).status_code == 200


@pytest.mark.parametrize("era", ["2025-06-18", "2026-07-28"])
async def test_a_batch_is_refused(era: str) -> None:
    async with serving() as web_:
        response = await web_.post([1] * 1000, **{"mcp-protocol-version": era})
        assert response.status_code == 400
        assert "error" in response.json()


@pytest.mark.limit("agents.mcp.http.MOST_SESSIONS")
async def test_more_sessions_than_an_agent_needs_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(web, "MOST_SESSIONS", 2)
    async with serving() as web_:
        statuses = [(await web_.post(INITIALIZE)).status_code for _ in range(3)]
        assert statuses == [200, 200, 503]


async def test_it_is_on_the_loopback_at_a_path_that_nobody_can_guess() -> None:
    async with serving() as one, serving() as other:
        assert one.entry.url.startswith("http://127.0.0.1:")
        assert len(one.entry.url.split("/")[3]) >= 20
        assert one.entry.url != other.entry.url
        assert one.entry.authorization != other.entry.authorization
        assert one.entry.authorization not in one.entry.url


async def test_a_new_token_ends_the_one_before_it() -> None:
    async with serving() as web_:
        former, web_.entry = web_.entry, web_.issue()
        assert former.url == web_.entry.url
        assert (await web_.post(INITIALIZE)).status_code == 200
        assert (await web_.post(INITIALIZE, authorization=former.authorization)).status_code == 401


async def test_a_web_socket_is_refused() -> None:
    async with serving() as web_:
        upgrade = {
            "connection": "upgrade",
            "upgrade": "websocket",
            "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
            "sec-websocket-version": "13",
            "authorization": web_.entry.authorization,
        }
        assert (await web_.http.get(web_.entry.url, headers=upgrade)).status_code == 403


async def test_when_the_session_ends_nothing_listens_and_calls_are_withdrawn() -> None:
    async with serving() as web_:
        web_.tools.hangs = True
        await web_.ask(INITIALIZE)
        params = {"name": "read_file"}
        call = {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}

        async def hang() -> None:
            with pytest.raises(httpx.TransportError):
                await web_.post(call)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hang)
            await until(lambda: web_.server.was_asked)
            url = web_.entry.url
            nursery.cancel_scope.cancel()
    assert web_.tools.withdrawn == 1
    async with httpx.AsyncClient(trust_env=False) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(url)


UPGRADE = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        UPGRADE + b"Upgrade: h2c\r\nHTTP2-Settings: A\r\n\r\n",
        UPGRADE + b"Upgrade: websocket\r\nSec-WebSocket-Extensions: \xff\r\n\r\n",
    ],
    ids=["upgrade", "websocket"],
)
async def test_a_stranger_s_broken_request_ends_its_own_connection_only(request_: bytes) -> None:
    async with serving() as web_:
        where = urlsplit(web_.entry.url)
        async with await trio.open_tcp_stream(str(where.hostname), where.port or 0) as stranger:
            await stranger.send_all(request_)
            while await stranger.receive_some():
                pass
        assert (await web_.ask(INITIALIZE))["result"]


async def test_a_request_that_fails_inside_the_server_ends_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("odd")

    async with serving() as web_:
        with monkeypatch.context() as broken:
            broken.setattr("mcp.server.streamable_http_manager.Request", fail)
            assert (await web_.post(INITIALIZE)).status_code == 500
        assert (await web_.ask(INITIALIZE))["result"]
    assert [record.getMessage() for record in caplog.records if record.exc_info] == [
        "mcp=request failed: RuntimeError"
    ]
