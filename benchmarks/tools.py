"""Measure the cost of a tool call through the bridge, and the start of its relay.

The same agent calls a tool of the editor, by its relay and the bridge, and the tool of a server on
its own stdio. It reports its measurements only at the end, because the bridge would have to pass on
each report during the calls. The bridge waits on purpose, for calls that come together, and so does
that server, because waiting for a time takes more than that time.

The work of the editor itself, from the end of a response to its next request, isn't what is
measured: it is taken off.

Other processes only add time to a call, and more time to the way that wakes more processes. So both
ways run in turn, in equally many rounds. For each position of a call in a turn, the fastest of all
rounds counts. So no call is left out, not even the slow ones late in a long turn. The result is the
median over the positions.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw

from agents.mcp import stdio_proxy as relay
from agents.mcp.call_broker import SETTLE_SECONDS

from .acp_agent import scripted
from .harness import VSCODELM, Child, Result, environment, running

MOST_TIMES = 1.6
"""Times as long as a call of a server on its own stdio takes beside the wait. In milliseconds the
difference isn't comparable: the same commit has 0.9 to 1.0 more on one machine and 1.3 on another,
which needs longer to wake a process."""
RELAY_MS = 60.0
CALLS = 40
"""In one turn, one after the other; the first ones aren't counted."""
_WARM = 5
_TIME = re.compile(r"(?<!\d)\d+\.\d{6}")
_DIRECT = """
import anyio, sys, mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def list_tools(ctx, params):
    return types.ListToolsResult(tools=[types.Tool(name="tool", input_schema={"type": "object"})])

async def call_tool(ctx, params):
    await anyio.sleep(float(sys.argv[1]))
    return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

async def main():
    server = Server("direct", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main, backend="trio")
"""


def measure(calls: int = CALLS, rounds: int = 8) -> list[Result]:
    """Measure both ways in turn."""
    step = [{"note": True}, {"call": "tool"}, {"gather": True}]
    script: dict[str, Any] = {"turns": [[*step * calls, {"note": True}, {"notes": True}]]}
    direct_server = {
        "name": "direct",
        "command": sys.executable,
        "args": ["-c", _DIRECT, str(SETTLE_SECONDS)],
        "env": [],
    }
    through: list[list[float]] = []
    direct: list[list[float]] = []
    for _ in range(rounds):
        through.append(round_trips(script))
        direct.append(round_trips({**script, "servers": [direct_server]}))
    way, other = undisturbed(through) * 1e3, undisturbed(direct) * 1e3
    note = f"{way:.2f} ms with the wait for company, direct {other:.2f} ms with the same wait"
    wait = SETTLE_SECONDS * 1e3
    return [
        Result("tool call", (way - wait) / (other - wait), MOST_TIMES, "x", note),
        relay_start(),
    ]


def undisturbed(rounds: list[list[float]]) -> float:
    """Return the median of the calls of a turn, each at its quickest."""
    return statistics.median(min(call) for call in zip(*rounds, strict=True))


def round_trips(script: dict[str, Any]) -> list[float]:
    """Return how long each call took, as the agent sees it."""
    with scripted(script) as (command, *args), running([VSCODELM]) as child:
        editor = _Editor(child, {"name": "fake", "command": command, "args": args})
        said = editor.ask("go")
    times = [float(time) for time in _TIME.findall(said)]  # the bridge may say something, too
    took = [after - before for before, after in pairwise(times)]
    own = editor.own_seconds or [0.0] * len(took)  # none, where the server is the agent's own
    return [each - editors for each, editors in zip(took, own, strict=True)][_WARM:]


class _Editor:
    """An editor that runs a tool at once."""

    def __init__(self, child: Child, agent: dict[str, Any]) -> None:
        self._child = child
        self._agent = agent
        self._requests = 0
        self._ended_at = 0.0
        self.own_seconds: list[float] = []
        """Its own work for each call: from the end of a response to its next request."""

    def ask(self, text: str) -> str:
        """Return all that is said, over as many requests as it takes."""
        messages = [_message("user", {"type": "text", "value": text})]
        said = ""
        while True:
            parts = list(self._parts(messages))
            said += "".join(part["value"] for part in parts if part["type"] == "text")
            calls = [part for part in parts if part["type"] == "tool_call"]
            if not calls:
                return said
            messages.append(_message("assistant", *parts))
            messages += [_message("user", _result(call)) for call in calls]

    def _parts(self, messages: list[Raw]) -> Generator[dict[str, Any]]:
        self._requests += 1
        tools = [{"name": "tool", "description": "Does it.", "inputSchema": {"type": "object"}}]
        params = {
            "modelId": "acp",
            "agent": {"acp": self._agent},
            "messages": messages,
            "options": {"tools": tools},
        }
        method = "lm/provideLanguageModelChatResponse"
        line = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params}
        encoded = msgspec.json.encode(line)
        if self._ended_at:
            self.own_seconds.append(time.perf_counter() - self._ended_at)
        self._child.write(encoded)
        while "result" not in (answer := msgspec.json.decode(self._child.read())):
            if "error" in answer:
                raise RuntimeError(f"refused: {answer['error']}")
            if "part" in answer["params"]:
                yield answer["params"]["part"]
        self._ended_at = time.perf_counter()


def _message(role: str, *parts: dict[str, Any]) -> Raw:
    """Return a message that is encoded once, however often it is repeated."""
    return Raw(msgspec.json.encode({"role": role, "content": list(parts)}))


def _result(call: dict[str, Any]) -> dict[str, Any]:
    done = [{"type": "text", "value": "done"}]
    return {"type": "tool_result", "toolCallId": call["toolCallId"], "result": done}


def relay_start(starts: int = 15) -> Result:
    """Measure from the start of a relay to when it shows its token."""
    took = statistics.median(_relay_seconds() for _ in range(starts))
    return Result("relay start", took * 1e3, RELAY_MS, "ms", "from its start to its token")


def _relay_seconds() -> float:
    token = secrets.token_hex(32)
    with _listening() as (listening, address):
        begun = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-I", "-S", relay.__file__, address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**environment(), relay.TOKEN: token},
        ) as process:
            connection, _ = listening.accept()
            with connection:
                shown = b""
                while not shown.endswith(b"\n"):
                    shown += connection.recv(256)
                took = time.perf_counter() - begun
                connection.sendall(b"ok\n")
            process.wait(timeout=60)
    if shown != token.encode() + b"\n":
        raise RuntimeError("that was not the token")
    return took


@contextmanager
def _listening() -> Generator[tuple[socket.socket, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "s")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(path)
            listening.listen()
            listening.settimeout(60)
            yield listening, f"unix:{Path(path)}"
