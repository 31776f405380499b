from __future__ import annotations

import pytest

from agents.mcp.http_auth import Gate

GATE = Gate("127.0.0.1:7", "/p/mcp", "t0ken")
HOST = (b"host", b"127.0.0.1:7")
TOKEN = (b"authorization", b"Bearer t0ken")


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/p/mcp", [HOST, TOKEN], None),
        ("/p/mcp", [(b"Host", b"127.0.0.1:7"), (b"AUTHORIZATION", b"Bearer t0ken")], None),
        ("/p/mcp", [HOST], 401),
        ("/p/mcp", [HOST, (b"authorization", b"t0ken")], 401),
        ("/p/mcp", [HOST, (b"authorization", b"Bearer t0ke")], 401),
        ("/p/mcp", [HOST, (b"authorization", b"Bearer \xff")], 401),
        ("/p/mcp", [HOST, TOKEN, TOKEN], 401),
        ("/other", [HOST], 401),
        ("/p/mcp/", [HOST, TOKEN], 404),
        ("/", [HOST, TOKEN], 404),
        ("/p/mcp", [TOKEN], 421),
        ("/p/mcp", [HOST, HOST, TOKEN], 421),
        ("/p/mcp", [(b"host", b"localhost:7"), TOKEN], 421),
        ("/p/mcp", [(b"host", b"evil.example:7"), TOKEN], 421),
        ("/p/mcp", [(b"host", b"127.0.0.1:8"), TOKEN], 421),
        ("/p/mcp", [HOST, TOKEN, (b"Origin", b"http://127.0.0.1:7")], 403),
        ("/p/mcp", [HOST, TOKEN, (b"origin", b"null")], 403),
        ("/p/mcp", [HOST, TOKEN, (b"origin", b"")], 403),
    ],
)
def test_only_the_agent_is_let_through(
    path: str, headers: list[tuple[bytes, bytes]], status: int | None
) -> None:
    assert GATE.refusal(path, headers) == status
