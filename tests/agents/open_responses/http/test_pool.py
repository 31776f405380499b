"""HTTP/2, certificates and proxies, as the environment and the server have them."""

from __future__ import annotations

import logging
import ssl
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import trio
import trustme

from agents.open_responses.http.pool import KEPT_SECONDS, MOST_IDLE, Connections
from tests.agents.open_responses.endpoints import agent_at, alone, asking, events_of, failure_in
from tests.agents.open_responses.test_turn import until_hung_up
from tests.agents.talk import said
from tests.fakes.responses_events import Text
from tests.fakes.responses_server import Plan, responses_server
from tests.fakes.waiting import until

if TYPE_CHECKING:
    from trio.testing import MockClock

KEY = "very-secret-0123456789"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def tls(authority: trustme.CA) -> ssl.SSLContext:
    """A server's side, which offers HTTP/2."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.set_alpn_protocols(["h2", "http/1.1"])
    certificate: Any = authority.issue_cert("localhost")
    certificate.configure_cert(context)
    return context


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that trusts it."""
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


@pytest.mark.usefixtures("trusted")
async def test_http_2_is_spoken_where_it_is_offered(tls: ssl.SSLContext) -> None:
    async with responses_server(tls=tls) as server, agent_at(server) as agent:
        # longer than what may be sent before it is read
        server.plans.append(Plan(outputs=[Text("word " * 15_000, pieces=50)]))
        async with agent.session(asking("")) as session:
            assert said(await events_of(session)) == "word " * 15_000
            await events_of(session)
        assert [one.version for one in server.heard] == ["HTTP/2"] * 2
        assert server.connections == 1


@pytest.mark.usefixtures("trusted")
async def test_http_1_is_spoken_where_nothing_else_is_offered(tls: ssl.SSLContext) -> None:
    tls.set_alpn_protocols(["http/1.1"])
    async with responses_server(tls=tls) as server, agent_at(server) as agent:
        assert said(await alone(agent)) == "hello"
        assert [one.version for one in server.heard] == ["HTTP/1.1"]


@pytest.mark.usefixtures("trusted")
async def test_a_cancelled_answer_ends_over_http_2_too(tls: ssl.SSLContext) -> None:
    """And another chat's goes on: they share no connection."""
    async with (
        responses_server(tls=tls) as server,
        agent_at(server) as agent,
        agent.session(asking("")) as one,
        agent.session(asking("")) as other,
    ):
        opened = trio.Event()
        server.plans += [
            Plan(outputs=[Text("Well")], ending="hang"),
            Plan(outputs=[Text("fine")], wait=opened),
        ]
        turn = one.run(asking("a"))
        with trio.fail_after(5):
            await turn.receive()
            other_turn = other.run(asking("b"))
            await until(lambda: len(server.heard) == 2)
            await one.cancel()
            async for _ in turn:
                pass
            await until_hung_up(server)
            opened.set()
            assert said([event async for batch in other_turn for event in batch]) == "fine"
        assert said(await events_of(one, "c")) == "a / c"


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("plan", [Plan(reset=0), Plan(cut=0)], ids=["reset", "cut"])
async def test_a_broken_stream_of_http_2_is_tried_again(plan: Plan, tls: ssl.SSLContext) -> None:
    async with responses_server(tls=tls) as server, agent_at(server, retries=1) as agent:
        server.plans.append(plan)
        assert said(await alone(agent)) == "hello"


@pytest.mark.usefixtures("trusted")
async def test_no_key_is_logged_over_http_2_either(
    tls: ssl.SSLContext, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    fields = {"environment": {"KEY": KEY}, "api_key_env": "KEY"}
    async with responses_server(tls=tls, key=KEY) as server, agent_at(server, **fields) as agent:
        assert said(await alone(agent)) == "hello"
    assert caplog.records
    assert KEY not in caplog.text


async def test_a_certificate_that_nobody_vouches_for_is_told(tls: ssl.SSLContext) -> None:
    async with responses_server(tls=tls) as server, agent_at(server) as agent:
        failure = failure_in(await alone(agent))
        assert failure.kind == "Unavailable"
        assert "SSL_CERT_FILE" in failure.message


async def test_a_proxy_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async with responses_server() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("NO_PROXY", "")
        async with agent_at("http://elsewhere.test/v1") as agent:
            assert said(await alone(agent)) == "hello"
        assert proxy.heard[0].path == "http://elsewhere.test/v1/responses"
        assert proxy.heard[0].headers["host"] == "elsewhere.test"


async def test_a_secure_connection_goes_through_the_proxy_for_these(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with responses_server() as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("NO_PROXY", "")
        proxy.plans.append(Plan(403, body=b"No."))
        async with agent_at("https://elsewhere.test/v1", retries=0) as agent:
            assert "can't be reached" in failure_in(await alone(agent)).message
    assert [(one.method, one.path) for one in proxy.heard] == [("CONNECT", "elsewhere.test:443")]


async def test_who_needs_no_proxy_is_asked_without(monkeypatch: pytest.MonkeyPatch) -> None:
    async with responses_server() as server:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("NO_PROXY", "localhost,127.0.0.1")
        async with agent_at(server) as agent:
            assert said(await alone(agent)) == "hello"


# Clients that nobody uses.


async def use(connections: Connections) -> None:
    async with connections.lease() as lease:
        lease.is_clean = True


@pytest.mark.limit("agents.open_responses.http.pool.KEPT_SECONDS")
async def test_idle_clients_are_closed_after_a_while(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    connections = Connections(httpx.Timeout(5), nursery)
    async with connections.lease() as one, connections.lease() as other:
        one.is_clean = other.is_clean = True
    assert connections.idle == 2
    await trio.sleep(KEPT_SECONDS - 1)
    await use(connections)
    assert connections.idle == 2
    await trio.sleep(2)
    assert connections.idle == 1
    await trio.sleep(KEPT_SECONDS)
    assert connections.idle == 0
    assert one.client.is_closed
    assert other.client.is_closed


@pytest.mark.limit("agents.open_responses.http.pool.MOST_IDLE")
@pytest.mark.parametrize(("used", "kept"), [(MOST_IDLE, MOST_IDLE), (MOST_IDLE + 1, MOST_IDLE)])
async def test_only_so_many_clients_are_kept(nursery: trio.Nursery, used: int, kept: int) -> None:
    connections = Connections(httpx.Timeout(5), nursery)
    async with AsyncExitStack() as stack:
        for _ in range(used):
            (await stack.enter_async_context(connections.lease())).is_clean = True
    assert connections.idle == kept
    await connections.aclose()
    assert connections.idle == 0


async def test_all_clients_share_one_context_of_tls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is 800 KB and a tenth of a second each."""
    made: list[ssl.SSLContext] = []

    def make() -> ssl.SSLContext:
        made.append(ssl.create_default_context())
        return made[-1]

    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))  # another environment than any before
    monkeypatch.setattr(httpx, "create_ssl_context", make)
    for _ in range(3):
        async with Connections(httpx.Timeout(5)).lease():
            pass
    assert len(made) == 1
