"""What a request says was said: raw messages in, canonical path out.

A request repeats the whole history, so the cost must lie in what is new: a message whose raw bytes
were seen before is not decoded again. The memory of what was seen is
weak: it lasts as long as a conversation holds the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakValueDictionary, ref

import attrs
import msgspec
from msgspec import Raw

from .jsonrpc import decode_at
from .message import Message
from .wire import ChatMessage, KnownPart, Part, Role, UnknownPart


class _Shell(msgspec.Struct):
    role: Role
    content: list[Raw]
    name: str | None = None


class _Kind(msgspec.Struct):
    type: str


_shell_decoder: msgspec.json.Decoder[_Shell] = msgspec.json.Decoder(_Shell)
_part_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(KnownPart)
_kind_decoder: msgspec.json.Decoder[_Kind] = msgspec.json.Decoder(_Kind)
_KNOWN_KINDS = frozenset({"text", "tool_call", "tool_result", "thinking", "data"})


def decode_message(raw: bytes | Raw, path: str) -> ChatMessage:
    """Return the message at `path` of the parameters; raises `RpcError` with a fault's path."""
    shell = decode_at(_shell_decoder, raw, path)
    parts = tuple(
        _decode_part(part, f"{path}.content[{index}]") for index, part in enumerate(shell.content)
    )
    return ChatMessage(shell.role, parts, shell.name)


def _decode_part(raw: Raw, path: str) -> Part:
    kind = decode_at(_kind_decoder, raw, path).type
    if kind not in _KNOWN_KINDS:
        return UnknownPart(kind, bytes(raw))
    return decode_at(_part_decoder, raw, path)


@attrs.frozen(eq=False)
class Transcript:
    """A request's messages.

    `path` is the conversation in canonical form: system messages are kept apart in `lineage`,
    messages that say nothing are left out. `positions[i]` is the index in the request of `path[i]`.
    """

    path: tuple[Message, ...]
    positions: tuple[int, ...]
    lineage: tuple[Message, ...]
    _starts: Sequence[int] = attrs.field(repr=False)
    """Where each step begins, with the system messages in front of it."""
    _raws: Sequence[Raw] = attrs.field(repr=False)
    _decoded: dict[int, ChatMessage] = attrs.field(repr=False)

    def messages(self, start: int, stop: int | None = None) -> tuple[ChatMessage, ...]:
        """Return the whole messages from step `start` of the path to before step `stop`.

        System messages in front of a step belong to it; to the first, all that is in front of it.
        """
        last = len(self._raws) if stop is None else self.index(stop)
        return tuple(map(self._message, range(self.index(start), last)))

    def system(self) -> tuple[ChatMessage, ...]:
        """Return the system messages in front of all that was said."""
        front = map(self._message, range(self.positions[0] if self.positions else len(self._raws)))
        return tuple(message for message in front if message.role == "system")

    def _message(self, index: int) -> ChatMessage:
        known = self._decoded.get(index)
        if known is None:
            known = decode_message(self._raws[index], f"$.messages[{index}]")
        return known

    def index(self, step: int) -> int:
        """Return the index in the request of a step of the path."""
        if step == 0:
            return 0
        return self._starts[step] if step < len(self._starts) else len(self._raws)


class TranscriptReader:
    """Reads transcripts, remembering what it read for as long as somebody holds it."""

    def __init__(self) -> None:
        self._by_raw: dict[bytes, ref[Message]] = {}
        self._same: WeakValueDictionary[tuple[bytes, str | None], Message] = WeakValueDictionary()

    def read(self, raws: Sequence[Raw]) -> Transcript:
        """Return the transcript of `$.messages`; raises `RpcError` with the path of a fault."""
        path: list[Message] = []
        positions: list[int] = []
        starts: list[int] = []
        lineage: list[Message] = []
        decoded: dict[int, ChatMessage] = {}
        start: int | None = None
        seen = self._by_raw.get
        for index, raw in enumerate(map(bytes, raws)):
            known = seen(raw)
            message = None if known is None else known()
            if message is None:
                whole = decode_message(raw, f"$.messages[{index}]")
                decoded[index] = whole
                message = self._remember(raw, Message.of(whole.role, whole.content, whole.name))
            if message.is_said:
                path.append(message)
                positions.append(index)
                starts.append(index if start is None else start)
                start = None
            elif message.role == "system":
                lineage.append(message)
                start = index if start is None else start
        return Transcript(tuple(path), tuple(positions), tuple(lineage), starts, raws, decoded)

    def _remember(self, raw: bytes, message: Message) -> Message:
        same = self._same.setdefault((message.digest, message.marker), message)
        self._by_raw[raw] = ref(same, lambda _: self._by_raw.pop(raw, None))
        return same
