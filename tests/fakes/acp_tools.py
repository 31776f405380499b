"""The hands of the scripted ACP agent: an MCP client for a session's server, and what runs it.

`ToolClient` decides and does no I/O, as the peer does. `ToolProcesses` starts the servers for the
program. It needs nothing but the standard library.
"""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from typing import Any

JSON = dict[str, Any]

VERSION = "2025-06-18"


class ToolClient:
    """Speaks with one server, whose process somebody else starts."""

    def __init__(self, server: JSON) -> None:
        self.server = server
        self.output = bytearray()
        self.tools: list[JSON] | None = None
        self.listed = 0
        """How often it has learned what there is."""
        self.results: dict[str, str] = {}
        """What calls led to, by the name that the script has for them."""
        self.ended = False
        self._rest = bytearray()
        self._ids = 0
        self._out: dict[int, str] = {}
        """Calls that aren't answered."""
        self._asked: dict[int, str] = {}
        client = {"name": "scripted", "version": "1"}
        self._ask(
            "initialize", {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": client}
        )

    def waits_for(self, key: str) -> bool:
        """Return whether a call isn't answered."""
        return key in self._out.values() and not self.ended

    def call(self, tool: str, arguments: JSON, key: str) -> None:
        """Call a tool."""
        id_ = self._ask("tools/call", {"name": tool, "arguments": arguments})
        self._out[id_] = key

    def take_back(self, key: str) -> None:
        """Tell the server that a call isn't waited for any more."""
        for id_ in [id_ for id_, out in self._out.items() if out == key]:
            del self._out[id_]
            self._send({"method": "notifications/cancelled", "params": {"requestId": id_}})

    def receive(self, chunk: bytes) -> None:
        """Take bytes in."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._hear(json.loads(line))

    def _hear(self, message: JSON) -> None:
        if message.get("method") == "notifications/tools/list_changed":
            self._ask("tools/list", {})
        method = self._asked.pop(message.get("id", 0), "")
        result: JSON = message.get("result", {})
        match method:
            case "initialize":
                self._send({"method": "notifications/initialized"})
                self._ask("tools/list", {})
            case "tools/list":
                self.tools = result["tools"]
                self.listed += 1
            case "tools/call" if message["id"] in self._out:
                self.results[self._out.pop(message["id"])] = _told(message)
            case _:
                pass

    def _ask(self, method: str, params: JSON) -> int:
        self._ids += 1
        self._asked[self._ids] = method
        self._send({"id": self._ids, "method": method, "params": params})
        return self._ids

    def _send(self, message: JSON) -> None:
        self.output += json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def _told(message: JSON) -> str:
    if "error" in message:
        return f"!!{message['error']['message']}"
    result: JSON = message["result"]
    texts = [part.get("text", part["type"]) for part in result["content"]]
    return ("!" if result.get("isError") else "=") + "|".join(texts)


class ToolProcesses:
    """The processes of the servers, by their clients."""

    def __init__(self) -> None:
        self._running: dict[int, tuple[ToolClient, subprocess.Popen[bytes]]] = {}
        """By the descriptor of their output."""

    def tend(self, clients: list[ToolClient]) -> list[int]:
        """Start what isn't started, end what has no client, send; return what to listen to."""
        for fd, (client, process) in list(self._running.items()):
            if client not in clients:
                self._end(fd, process)
        known = [client for client, _ in self._running.values()]
        for client in clients:
            if client not in known and not client.ended:
                self._start(client)
        for client, process in self._running.values():
            assert process.stdin is not None
            if client.output:
                try:
                    process.stdin.write(client.output)
                    process.stdin.flush()
                except OSError:
                    client.ended = True
                client.output.clear()
        return list(self._running)

    def receive(self, fd: int) -> None:
        """Take in what a server says."""
        client, process = self._running[fd]
        chunk = os.read(fd, 65536)
        if chunk:
            client.receive(chunk)
        else:
            client.ended = True
            self._end(fd, process)

    def _start(self, client: ToolClient) -> None:
        environment = {one["name"]: one["value"] for one in client.server["env"]}
        process = subprocess.Popen(
            [client.server["command"], *client.server["args"]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        assert process.stdout is not None
        self._running[process.stdout.fileno()] = client, process

    def _end(self, fd: int, process: subprocess.Popen[bytes]) -> None:
        del self._running[fd]
        process.kill()
        process.wait()
        for end in (process.stdin, process.stdout):
            assert end is not None
            with suppress(OSError):
                end.close()
