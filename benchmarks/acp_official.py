"""Do the work of the bridge's ACP client with the official SDK's, to compare the cost of a part.

`python -m benchmarks.acp_official COMMAND ARGS...` starts an agent and prompts it with each line
that is read. It writes a line for each text of the agent's, in the bridge's shape, then a result.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, cast

import msgspec
from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block
from acp.schema import AgentMessageChunk, TextContentBlock


class _Text(msgspec.Struct, tag_field="type", tag="text"):
    value: str


class _Params(msgspec.Struct, rename="camel"):
    request_id: int
    part: _Text


class _Notification(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: _Params


_encode = msgspec.json.Encoder().encode


class _Editor:
    """Writes what is said; a burst needs nothing else of a client."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContentBlock):
            part = _Text(update.content.text)
            line = _encode(_Notification("lm/responsePart", _Params(1, part)))
            sys.stdout.buffer.write(line + b"\n")


async def main(command: str, *args: str) -> None:
    """Prompt until the input ends."""
    editor = cast("Client", _Editor())
    async with spawn_agent_process(editor, command, *args) as (agent, _process):
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        session = await agent.new_session(cwd="/", mcp_servers=[])
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            await agent.prompt(prompt=[text_block(line.strip())], session_id=session.session_id)
            sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
