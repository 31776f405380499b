"""An editor as the benchmarks need it: it asks, reads to the end, and repeats what it was told."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import count

import attrs
import msgspec
from msgspec import UNSET, Raw, UnsetType

from .harness import VSCODELM, Child, running

KILOBYTE = ("The café is open — “we said so”, he wrote, and nobody\nhad asked him. " * 14)[:1000]
"""A thousand characters of prose: not all of it ASCII, as chats are, and some of it escaped."""

_encode = msgspec.json.encode


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


def message(role: str, text: str) -> bytes:
    """Return a message as JSON."""
    return _encode({"role": role, "content": [{"type": "text", "value": text}]})


def chat_line(request: int, messages: Sequence[bytes]) -> bytes:
    """Return the line that asks deterministic Eliza."""
    return (
        b'{"jsonrpc":"2.0","id":%d,"method":"lm/provideLanguageModelChatResponse","params":'
        b'{"modelId":"eliza","agent":{"eliza":{"deterministic":true}},"messages":[%b]}}'
        % (request, b",".join(messages))
    )


@attrs.frozen
class Answer:
    """An answer, whole."""

    parts: int
    text: str


class Editor:
    """An editor with `vscodelm` as its child."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self._requests = count(1)

    def ask(self, messages: Sequence[bytes], *, cancel: bool = False) -> Answer:
        """Ask and return the answer; with `cancel`, say so at the first part."""
        request = next(self._requests)
        self.child.write(chat_line(request, messages))
        return self.read(request if cancel else None)

    def read(self, cancel: int | None = None) -> Answer:
        """Read an answer to its end; at its first part, cancel that request."""
        texts: list[str] = []
        while (line := _decode(self.child.read())).result is UNSET:
            if line.error is not UNSET:
                raise RuntimeError(f"refused: {bytes(line.error).decode()}")
            if line.params.part is not None:
                texts.append(line.params.part.value)
            if cancel is not None:
                self.child.write(
                    b'{"jsonrpc":"2.0","method":"lm/cancel","params":{"requestId":%d}}' % cancel
                )
                cancel = None
        return Answer(len(texts), "".join(texts))

    def live_sessions(self) -> int:
        """Return how many sessions the bridge has."""
        self.child.write(b'{"jsonrpc":"2.0","id":"stats","method":"lm/stats","params":{}}')
        return msgspec.json.decode(self.child.read())["result"]["sessions"]


@attrs.define
class Chat:
    """A conversation that grows; the history is repeated with each request."""

    editor: Editor
    messages: list[bytes] = attrs.field(factory=list[bytes])

    def say(self, text: str, *, cancel: bool = False) -> Answer:
        """Say something and take the answer into the history."""
        self.messages.append(message("user", text))
        answer = self.editor.ask(self.messages, cancel=cancel)
        self.messages.append(message("assistant", answer.text))
        return answer


@contextmanager
def editing() -> Generator[Editor]:
    """Run `vscodelm` as an editor does."""
    with running([VSCODELM]) as child:
        yield Editor(child)
