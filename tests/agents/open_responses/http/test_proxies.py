"""Proxies and certificates that the environment names, wrong ones among them."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import trustme

from agents.open_responses.http.proxies import exceptions_in, proxies_in, proxy_fault
from bridge.errors import Failure
from tests.agents.open_responses.endpoints import agent_at, alone, failure_in
from tests.agents.talk import said
from tests.fakes.responses_server import ResponsesServer, responses_server
from tests.fakes.socks_server import socks_server

PASSWORD = "very-secret-0123456789"
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


# What is said of them.


@pytest.mark.parametrize("name", ["HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize(
    "address",
    [
        "socks4://proxy:1080",
        "ftp://proxy",
        "://",
        "http://",
        "http://:8080",
        "http://proxy:port",
        "http://proxy:99999",
        "http://proxy:0",
        "http://[1:2:3]:80",
        "http://[::1",
        "http://pro xy",
        " http://proxy",
        "http://proxy\n",
        "http://\udcff",
        f"gopher://user:{PASSWORD}@proxy",
    ],
)
def test_a_bad_address_is_told_by_the_name_of_its_variable(name: str, address: str) -> None:
    fault = proxy_fault({name: address})
    assert fault is not None
    assert fault.startswith(f"the environment variable {name} ")
    assert PASSWORD not in fault


@pytest.mark.parametrize(
    "address",
    [
        "http://proxy:3128",
        "HTTPS://user:secret@proxy",
        "socks5://127.0.0.1:1080",
        "socks5h://proxy",
        "proxy:3128",
        "http://[::1]:3128/",
        "http://pr\u00f6xy",
        "",
    ],
)
def test_a_good_address_is_no_fault(address: str) -> None:
    assert proxy_fault({"HTTPS_PROXY": address, "NO_PROXY": "a,b"}) is None


def test_only_what_the_client_would_take_counts() -> None:
    assert proxies_in({"all_proxy": "a", "ALL_PROXY": "b"}) == {"all_proxy": "http://a"}
    assert proxies_in({"all_proxy": "", "ALL_PROXY": "b"}) == {}
    assert proxies_in({"ALL_PROXY": "b", "NO_PROXY": "a, *"}) == {}
    assert proxy_fault({"ALL_PROXY": "socks4://b", "no_proxy": "*"}) is None
    assert exceptions_in({"NO_PROXY": "a"}) == "NO_PROXY"
    assert exceptions_in({}) is None


# What becomes of a request.


async def failure() -> Failure:
    """Return what a request fails with; the endpoint would answer."""
    async with responses_server() as server, agent_at(server, retries=0) as agent:
        failed = failure_in(await alone(agent))
        assert not server.heard
        return failed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", f"socks4://user:{PASSWORD}@proxy"),
        ("https_proxy", "http://[1:2:3]:80"),
        ("HTTP_PROXY", f"http://{PASSWORD}@xn--0.a:port"),
        ("NO_PROXY", "[::1"),
        ("NO_PROXY", "http://xn--0.a"),
        ("HTTP_PROXY", "http://xn--0\u00e9.a"),
    ],
)
async def test_a_variable_that_no_request_can_be_sent_with_is_named(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    failed = await failure()
    assert failed.kind == "Unavailable"
    assert f"environment variable {name} " in failed.message
    assert PASSWORD not in failed.message + failed.detail


async def test_a_request_goes_out_as_soon_as_the_variable_is_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with responses_server() as server, agent_at(server) as agent:
        monkeypatch.setenv("ALL_PROXY", "socks4://proxy")
        failure_in(await alone(agent))
        monkeypatch.delenv("ALL_PROXY")
        assert said(await alone(agent)) == "hello"


def place_of(server: ResponsesServer) -> tuple[str, int]:
    parts = urlsplit(server.base_url)
    assert parts.hostname
    assert parts.port
    return parts.hostname, parts.port


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_a_socks_proxy_is_asked_for_the_endpoint_by_name(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with responses_server() as server, socks_server(place_of(server)) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"{scheme}://127.0.0.1:{proxy.port}")
        async with agent_at("http://elsewhere.test:8080/v1") as agent:
            assert said(await alone(agent)) == "hello"
            assert said(await alone(agent)) == "hello"
        assert proxy.asked == [("elsewhere.test", 8080)]
        assert server.heard[0].headers["host"] == "elsewhere.test:8080"


@pytest.mark.parametrize("is_right", [True, False])
async def test_a_socks_proxy_may_want_a_password(
    is_right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = ("me", PASSWORD if is_right else "another")
    async with responses_server() as server, socks_server(place_of(server), login) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"socks5://me:{PASSWORD}@127.0.0.1:{proxy.port}")
        async with agent_at("http://elsewhere.test/v1", retries=0) as agent:
            events = await alone(agent)
            if is_right:
                assert said(events) == "hello"
            else:
                failed = failure_in(events)
                assert failed.kind == "Unavailable"
                assert PASSWORD not in failed.message + failed.detail


async def test_a_socks_proxy_that_refuses_is_an_error_of_the_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with responses_server() as server, socks_server(place_of(server), refuses=True) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{proxy.port}")
        async with agent_at("http://elsewhere.test/v1", retries=0) as agent:
            assert "can't be reached" in failure_in(await alone(agent)).message


async def test_a_socks_proxy_that_says_nothing_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with responses_server() as server, socks_server(place_of(server), is_silent=True) as one:
        monkeypatch.setenv("ALL_PROXY", f"socks5://127.0.0.1:{one.port}")
        async with agent_at("http://e.test/v1", retries=0, connect_seconds=0.05) as agent:
            failed = failure_in(await alone(agent))
        assert "can't be reached" in failed.message
        assert "SOCKS proxy said nothing" in failed.detail


# Certificates.


@pytest.fixture
def not_there(tmp_path: Path) -> str:
    return str(tmp_path / "nothing" / "here")


@pytest.fixture
def no_certificates(tmp_path: Path) -> str:
    file = tmp_path / "notes.pem"
    file.write_text("no certificates")
    return str(file)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("SSL_CERT_FILE", "not_there"),
        ("SSL_CERT_FILE", "tmp_path"),
        ("SSL_CERT_FILE", "no_certificates"),
        ("SSL_CERT_DIR", "not_there"),
        ("SSL_CERT_DIR", "no_certificates"),
        ("SSLKEYLOGFILE", "not_there"),
        ("SSLKEYLOGFILE", "tmp_path"),
    ],
)
async def test_certificates_that_cannot_be_read_are_told_by_their_variable(
    name: str, place: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, str(request.getfixturevalue(place)))
    failed = await failure()
    assert failed.kind == "Unavailable"
    assert f"environment variable {name} " in failed.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
async def test_a_pipe_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "pipe"))
    assert "SSL_CERT_FILE" in (await failure()).message


async def test_a_folder_and_a_log_of_keys_that_are_there_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trustme.CA().cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", os.pathsep.join(["/nowhere", str(tmp_path)]))
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    async with responses_server() as server, agent_at(server) as agent:
        assert said(await alone(agent)) == "hello"
