from __future__ import annotations

import pytest

from agents.acp.schema.initialize import (
    HttpHeader,
    McpCapabilities,
    McpServerHttp,
    McpServerSse,
    McpServerStdio,
)
from agents.acp.schema.user_servers import servers_for, with_distinct_names
from bridge.wire import EnvVariable, McpHeader, UserMcpServer

STDIO = UserMcpServer("p", command="/p", args=("a",), env=(EnvVariable("K", "v"),))
HTTP = UserMcpServer("h", "http", url="http://h", headers=(McpHeader("K", "v"),))
SSE = UserMcpServer("s", "sse", url="http://s")
ALL = (STDIO, HTTP, SSE)
AS_STDIO = McpServerStdio("p", "/p", ("a",), (EnvVariable("K", "v"),))
AS_HTTP = McpServerHttp("h", "http://h", (HttpHeader("K", "v"),))
AS_SSE = McpServerSse("s", "http://s", ())


@pytest.mark.parametrize(
    ("able", "taken", "left_out"),
    [
        (McpCapabilities(), (AS_STDIO,), (HTTP, SSE)),
        (McpCapabilities(http=True), (AS_STDIO, AS_HTTP), (SSE,)),
        (McpCapabilities(sse=True), (AS_STDIO, AS_SSE), (HTTP,)),
        (McpCapabilities(http=True, sse=True), (AS_STDIO, AS_HTTP, AS_SSE), ()),
    ],
)
def test_an_agent_gets_what_it_takes(
    able: McpCapabilities, taken: object, left_out: object
) -> None:
    assert servers_for(ALL, able) == (taken, left_out)


def test_an_agent_that_takes_no_programs_gets_none() -> None:
    assert servers_for(ALL, McpCapabilities(), http_only=True) == ((AS_HTTP,), (STDIO, SSE))


def test_no_server_has_the_name_of_another_nor_of_the_editors() -> None:
    named = [McpServerStdio(name, "/x", (), ()) for name in ("a", "vsc1", "a", "a_2", "b", "a")]
    names = [one.name for one in with_distinct_names(named, {"vsc1"})]
    assert names == ["a", "vsc1_2", "a_2", "a_2_2", "b", "a_3"]
