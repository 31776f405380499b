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
