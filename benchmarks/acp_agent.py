"""An ACP agent for the benchmarks: the fake one of the tests, as a program of its own."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from .harness import VSCODELM, Child, running

PROGRAM = Path(__file__).parent.parent / "tests" / "fakes" / "acp_program.py"


class _Part(msgspec.Struct):
    value: str


class _Params(msgspec.Struct):
    part: _Part | None = None


class _Line(msgspec.Struct):
    """A line of the bridge: a part, or anything else."""

    params: _Params = msgspec.field(default_factory=_Params)
    error: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET


_decode = msgspec.json.Decoder(_Line).decode


class AcpEditor:
    """An editor with `vscodelm` as its child, which has the agent as its own."""

    def __init__(self, child: Child, agent: dict[str, Any]) -> None:
        self.child = child
        self._agent = agent
        self._requests = 0

    def send(self, *texts: str) -> None:
        """Ask for the answer to a history: what the user and the agent said in turn."""
        self._requests += 1
        roles = ("user", "assistant")
        messages = [
            {"role": roles[n % 2], "content": [{"type": "text", "value": text}]}
            for n, text in enumerate(texts)
        ]
        params = {"modelId": "acp", "agent": {"acp": self._agent}, "messages": messages}
        method = "lm/provideLanguageModelChatResponse"
        request = {"jsonrpc": "2.0", "id": self._requests, "method": method, "params": params}
        self.child.write(msgspec.json.encode(request))

    def parts(self) -> Generator[str]:
        """Return the texts of the answer's parts, as they come."""
        while (line := _decode(self.child.read())).result is UNSET:
            if line.error is not UNSET:
                raise RuntimeError(f"refused: {bytes(line.error).decode()}")
            if line.params.part is not None:
                yield line.params.part.value

    def ask(self, *texts: str) -> str:
        """Ask and return the answer."""
        self.send(*texts)
        return "".join(self.parts())

    def stats(self) -> dict[str, Any]:
        """Return the bridge's counters."""
        self.child.write(b'{"jsonrpc":"2.0","id":"stats","method":"lm/stats","params":{}}')
        return msgspec.json.decode(self.child.read())["result"]


@contextmanager
def scripted(script: dict[str, Any]) -> Generator[list[str]]:
    """Return the command of an agent with a script."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "script.json"
        path.write_text(json.dumps(script))
        yield [sys.executable, "-S", str(PROGRAM), str(path)]


@contextmanager
def editing(script: dict[str, Any]) -> Generator[AcpEditor]:
    """Run `vscodelm` as an editor does, for an agent with a script."""
    with scripted(script) as (command, *args), running([VSCODELM]) as child:
        yield AcpEditor(child, {"name": "fake", "command": command, "args": args})
