"""No secret of a definition is in a trace, a log or an error of a whole `vscodelm`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.editor import Chat

from .process import started

if TYPE_CHECKING:
    from tests.fakes.editor import Request

pytestmark = pytest.mark.slow

JSON = dict[str, Any]
TELLING = (
    "import os, sys; print(sys.argv, os.environ['A_KEY'], os.environ['PLAIN'], os.environ['KEPT'],"
    " file=sys.stderr); sys.exit(3)"
)
"""An agent that tells everything and ends."""
SECRETS = ("in-argument-1", "in-argument-2", "in-a-key-5", "in-plain-4", "in-the-keep-6")
ENDPOINT_SECRETS = ("in-a-query-7", "of-a-user-8", "in-a-header-9")


def deep(levels: int) -> JSON:
    """Return a tool's schema that is nested so deeply."""
    schema: JSON = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def everything(folder: Path, stderr: bytes, request: Request) -> str:
    (trace,) = folder.iterdir()
    return "\n".join([trace.read_text(), stderr.decode(), json.dumps(request.error)])


async def test_an_agent_that_tells_its_secrets_tells_them_to_nobody(tmp_path: Path) -> None:
    agent: JSON = {
        "name": "it",
        "command": sys.executable,
        "args": ["-c", TELLING, "--api-key=in-argument-1", "--token", "in-argument-2"],
        "env": [
            {"name": "A_KEY", "value": "in-a-key-5"},
            {"name": "PLAIN", "value": "in-plain-4"},
            {"name": "KEPT", "value": "${secret:SAFE}"},
        ],
    }
    env = {"VSCODELM_SECRETS": "SAFE", "SAFE": "in-the-keep-6"}
    options = {"tools": [{"name": "t", "description": "T.", "inputSchema": deep(120)}]}
    arguments = ("--log-level", "debug", "--trace-dir", str(tmp_path))
    async with started(*arguments, env=env) as process:
        chat = Chat(process.editor, agent={"acp": agent}, options=options)
        request = await chat.ask("half an emoji: \ud83d").settled()
    assert request.error is not None
    shown = everything(tmp_path, process.stderr, request)
    assert "[redacted]" in request.error["data"]["stderrTail"]
    assert "half an emoji" in shown
    assert [secret for secret in SECRETS if secret in shown] == []


async def test_an_endpoint_s_secrets_are_told_to_nobody(tmp_path: Path) -> None:
    user = "of-a-user-8"
    agent: JSON = {
        "baseUrl": f"http://{user}:pw@127.0.0.1:9/v1?api_key=in-a-query-7",
        "model": "m",
        "headers": {"X-Anything": "in-a-header-9"},
        "retries": 0,
    }
    arguments = ("--log-level", "debug", "--trace-dir", str(tmp_path))
    async with started(*arguments) as process:
        chat = Chat(process.editor, agent={"open_responses": agent})
        request = await chat.ask("hello in-a-header-9").settled()
    assert request.error is not None
    shown = everything(tmp_path, process.stderr, request)
    assert [secret for secret in ENDPOINT_SECRETS if secret in shown] == []


REPEATING = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": asked.get("id")}
    if asked["method"] == "initialize":
        able = {"mcpCapabilities": {"http": True}}
        answer["result"] = {"protocolVersion": 1, "agentCapabilities": able}
    else:
        words = json.dumps(asked["params"])
        print(words, file=sys.stderr, flush=True)
        answer["error"] = {"code": -32603, "message": words}
    print(json.dumps(answer), flush=True)
"""
"""An agent that refuses every session, and repeats what it was asked."""
USERS_SECRETS = (
    *("in-a-variable-1", "in-a-header-2", "as-an-answer-3", "in-a-wrong-one-4"),
    *("as-an-argument-5", "in-an-address-6", "in-a-query-7"),
)


@pytest.mark.parametrize("is_told_later", [False, True])
@pytest.mark.parametrize("is_traced", [False, True])
async def test_the_secrets_of_the_user_s_mcp_servers_are_told_to_nobody(
    tmp_path: Path, *, is_told_later: bool, is_traced: bool
) -> None:
    servers: list[JSON] = [
        {
            "name": "files",
            "command": "/bin/files",
            "args": ["--as=as-an-answer-3", "as-an-argument-5", "short"],
            "env": [{"name": "ANY", "value": "in-a-variable-1"}],
            "secrets": ["as-an-answer-3", "tiny"],
        },
        {
            "name": "wrong",
            "type": "http",
            "url": "in-a-wrong-one-4",
            "headers": [{"name": "X", "value": "in-a-header-2"}],
            "secrets": ["in-a-wrong-one-4"],
        },
        {"name": "odd", "type": "as-a-type-8", "url": "https://h"},
        {"name": "far", "type": "http", "url": "https://h/in-an-address-6/x?y=in-a-query-7"},
    ]
    client: JSON = {"clientInfo": {"name": "it"}}
    traced = ("--trace-dir", str(tmp_path)) if is_traced else ()
    async with started("--log-level", "debug", *traced) as process:
        params = client if is_told_later else {**client, "mcpServers": servers}
        await process.editor.request("lm/initialize", params).settled()
        if is_told_later:
            process.editor.notify("lm/didChangeMcpServers", {"mcpServers": servers})
        agent = {"name": "it", "command": sys.executable, "args": ["-c", REPEATING]}
        request = await Chat(process.editor, agent={"acp": agent}).ask("hello").settled()
    assert request.error is not None
    shown = process.stderr.decode() + json.dumps(request.error)
    if is_traced:
        shown = everything(tmp_path, process.stderr, request)
        assert '"tiny"' not in shown
        assert '"short"' not in everything(tmp_path, b"", request)
    assert "'wrong' is left out" in shown
    assert "'odd' is left out" in shown
    assert "as-a-type-8" not in process.stderr.decode()
    assert "/bin/files" in shown
    assert [secret for secret in USERS_SECRETS if secret in shown] == []
