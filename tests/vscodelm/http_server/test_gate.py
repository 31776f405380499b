from __future__ import annotations

import pytest

from vscodelm.http_server.api_error import ApiError
from vscodelm.http_server.gate import HttpGate, gate_of, is_loopback

TOKEN = "a-token-of-the-tests"
HOST = (b"host", b"127.0.0.1:80")
GOOD = (b"authorization", f"Bearer {TOKEN}".encode())


def status(gate: HttpGate, *headers: tuple[bytes, bytes]) -> int:
    try:
        gate.check(headers)
    except ApiError as error:
        return error.status
    return 200


@pytest.mark.parametrize("host", [b"127.0.0.1:80", b"LOCALHOST:80", b"[::1]:80"])
def test_the_token_and_a_host_of_the_server_are_let_in(host: bytes) -> None:
    assert status(gate_of(TOKEN, "127.0.0.1", 80), (b"Host", host), GOOD) == 200


@pytest.mark.parametrize(
    "host",
    [b"evil.example:80", b"evil.example", b"127.0.0.1:81", b"", b"127.0.0.1.evil.example:80"],
)
def test_a_foreign_host_is_refused(host: bytes) -> None:
    assert status(gate_of(TOKEN, "127.0.0.1", 80), (b"host", host), GOOD) == 421


@pytest.mark.parametrize("host", [b"127.0.0.1", b"LOCALHOST", b"[::1]"])
def test_only_the_port_of_http_is_left_out(host: bytes) -> None:
    assert status(gate_of(TOKEN, "127.0.0.1", 80), (b"host", host), GOOD) == 200
    assert status(gate_of(TOKEN, "127.0.0.1", 8321), (b"host", host), GOOD) == 421


def test_no_host_and_two_hosts_are_refused() -> None:
    gate = gate_of(TOKEN, "127.0.0.1", 80)
    assert status(gate, GOOD) == 421
    assert status(gate, HOST, HOST, GOOD) == 421


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"Bearer",
        b"Bearer ",
        TOKEN.encode(),
        f"Basic {TOKEN}".encode(),
        f"Bearer {TOKEN}x".encode(),
        f"Bearer {TOKEN[:-1]}".encode(),
        "Bearer ä".encode(),
    ],
)
def test_another_token_is_refused(header: bytes) -> None:
    gate = gate_of(TOKEN, "127.0.0.1", 80)
    assert status(gate, HOST, (b"authorization", header)) == 401


def test_no_token_and_two_tokens_are_refused() -> None:
    gate = gate_of(TOKEN, "127.0.0.1", 80)
    assert status(gate, HOST) == 401
    assert status(gate, HOST, GOOD, GOOD) == 401


def test_a_web_page_is_refused_unless_its_origin_is_allowed() -> None:
    gate = gate_of(TOKEN, "127.0.0.1", 80, ["https://good.example"])
    good, bad = (b"origin", b"https://good.example"), (b"origin", b"https://evil.example")
    assert status(gate, HOST, GOOD, good) == 200
    assert status(gate, HOST, GOOD, bad) == 403
    assert status(gate, HOST, GOOD, good, bad) == 403
    assert status(gate_of(TOKEN, "127.0.0.1", 80), HOST, GOOD, (b"origin", b"null")) == 403


def test_on_a_unix_socket_any_host_will_do_with_the_token() -> None:
    assert status(gate_of(TOKEN, None), (b"host", b"anything"), GOOD) == 200
    assert status(gate_of(TOKEN, None), (b"host", b"anything")) == 401


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (b"192.168.1.5:80", 200),
        (b"[fe80::1]:80", 200),
        (b"[fe80::1]", 200),
        (b"evil.example:80", 421),
        (b"evil.example", 421),
    ],
)
def test_a_server_on_all_addresses_takes_addresses_and_no_names(host: bytes, expected: int) -> None:
    assert status(gate_of(TOKEN, "0.0.0.0", 80), (b"host", host), GOOD) == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.5", False),
        ("example.org", False),
    ],
)
def test_only_this_machine_reaches_the_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected
