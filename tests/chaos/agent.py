"""An ACP agent for the chaos: it says what marks it has heard, and does as it is told.

    python -S agent.py FOLDER

It leaves a file named after its process in the folder while it lives. Every answer begins with
all marks (`p03-0012`) that its session was ever told. The last word of a prompt says the rest:

    slow    forty pieces, ten milliseconds apart      flood   a thousand pieces at once
    hang    until it is cancelled                     ask     whether it may, and goes on
    die     in the middle of the answer               noise   lines that are no messages
    deny    an error in place of an answer            late    a word after its answer
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from typing import Any

JSON = dict[str, Any]
MARK = re.compile(r"p\d\d-\d{4}")
AGENT: JSON = {
    "protocolVersion": 1,
    "agentInfo": {"name": "chaos", "version": "1"},
    "agentCapabilities": {"sessionCapabilities": {"close": {}, "resume": {}, "fork": {}}},
    "authMethods": [],
}
OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


class ChaosAgent:
    """Answers each prompt in a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._heard: dict[str, list[str]] = {}
        self._cancelled: dict[str, threading.Event] = {}
        self._waiting: dict[str, threading.Event] = {}
        self._servers: dict[str, list[subprocess.Popen[bytes]]] = {}

    def say(self, message: JSON) -> None:
        """Write a message; whoever can't be told any more is gone, and so are we."""
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def write(self, line: bytes) -> None:
        """Write bytes."""
        with self._lock:
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(1, rest) :]
            except OSError:
                os._exit(0)

    def hear(self, message: JSON) -> None:
        """Take one message in."""
        params: JSON = message.get("params") or {}
        session = params.get("sessionId", "")
        match message.get("method"):
            case None:
                answered = self._waiting.pop(str(message.get("id")), None)
                if answered is not None:
                    answered.set()
            case "initialize":
                self.say({"id": message["id"], "result": AGENT})
            case "session/new" | "session/fork":
                name = f"{os.getpid()}-{len(self._heard)}"
                self._heard[name] = list(self._heard.get(session, []))
                self._servers[name] = [_server(one) for one in params.get("mcpServers", [])]
                self.say({"id": message["id"], "result": {"sessionId": name}})
            case "session/resume" if session not in self._heard:
                error = {"code": -32002, "message": f"Resource not found: {session}"}
                self.say({"id": message["id"], "error": error})
            case "session/prompt":
                self._cancelled[session] = threading.Event()
                threading.Thread(target=self._answer, args=(message,), daemon=True).start()
            case "session/cancel":
                self._cancelled.setdefault(session, threading.Event()).set()
            case "session/close":
                for server in self._servers.pop(session, []):
                    server.kill()
                self.say({"id": message["id"], "result": {}})
            case _ if "id" in message:
                self.say({"id": message["id"], "result": {}})
            case _:
                pass

    def _answer(self, message: JSON) -> None:
        session = message["params"]["sessionId"]
        cancelled = self._cancelled[session]
        text = "\n".join(block.get("text", "") for block in message["params"]["prompt"])
        heard = self._heard.setdefault(session, [])
        heard += [mark for mark in MARK.findall(text) if mark not in heard]
        answer: JSON = {"result": {"stopReason": "end_turn"}}
        self._chunk(session, " ".join(heard) + " ")
        word = text.split()[-1] if text.split() else ""
        match word:
            case "slow":
                for number in range(40):
                    if cancelled.wait(0.01):
                        break
                    self._chunk(session, f"{number} ")
            case "flood":
                for number in range(1000):
                    self._chunk(session, f"{number} ")
            case "hang":
                cancelled.wait()
            case "die":
                os._exit(7)
            case "deny":
                answer = {"error": {"code": -32603, "message": "not today"}}
            case "noise":
                self.write(b"\xff\xfe nonsense\n{}\n[]\n[1,2]\n" + b"[" * 2000 + b"\n")
            case "ask":
                self._ask(session, f"{session} {heard[-1]}", cancelled)
            case _:
                pass
        if cancelled.is_set():
            answer = {"result": {"stopReason": "cancelled"}}
        self.say({"id": message["id"], **answer})
        if word == "late":
            time.sleep(0.02)
            self._chunk(session, "too late")

    def _ask(self, session: str, name: str, cancelled: threading.Event) -> None:
        answered = self._waiting[name] = threading.Event()
        call = {"toolCallId": name, "title": f"Do {name.split()[1]}", "kind": "execute"}
        params = {"sessionId": session, "toolCall": call, "options": OPTIONS}
        self.say({"id": name, "method": "session/request_permission", "params": params})
        while not answered.wait(0.02) and not cancelled.is_set():
            pass
        done = {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": "completed"}
        self._update(session, done)

    def _chunk(self, session: str, text: str) -> None:
        content = {"type": "text", "text": text}
        self._update(session, {"sessionUpdate": "agent_message_chunk", "content": content})

    def _update(self, session: str, update: JSON) -> None:
        params = {"sessionId": session, "update": update}
        self.say({"method": "session/update", "params": params})


def _server(server: JSON) -> subprocess.Popen[bytes]:
    """Start a server that the client gives, and list its tools; nobody reads what it says."""
    environment = {**os.environ, **{one["name"]: one["value"] for one in server["env"]}}
    argv = [server["command"], *server["args"]]
    process = subprocess.Popen(
        argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin is not None
    client = {"name": "chaos", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    with contextlib.suppress(OSError):
        for message in (
            {"id": 1, "method": "initialize", "params": hello},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
        ):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        process.stdin.flush()
    return process


def main(folder: str) -> None:
    """Be an agent until the input ends."""
    path = os.path.join(folder, str(os.getpid()))
    with open(path, "wb"):
        pass
    agent, rest = ChaosAgent(), b""
    while chunk := os.read(0, 65_536):
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            agent.hear(json.loads(line))
    os.unlink(path)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
