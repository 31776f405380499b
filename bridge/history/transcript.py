"""Convert the raw messages of a request to a canonical path.

A request repeats the whole history, so only new messages may cost time. A message with the same raw
bytes as before isn't decoded again. The cache is weak: an entry lasts as long as a conversation, or
the last request, holds the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count
from operator import ne
from weakref import WeakValueDictionary, ref

import attrs
import msgspec
from msgspec import Raw

from bridge.depth import TOO_DEEP, is_too_deep
from bridge.errors import INVALID_PARAMS, RpcError
from bridge.jsonrpc import decode_at
from bridge.wire import ChatMessage, DataPart, Part, Role, TextPart, decode_part
from bridge.work import Work, done

from .message import Message


class _Shell(msgspec.Struct):
    role: Role
    content: list[Raw]
    name: str | None = None


_decode_shell = msgspec.json.Decoder(_Shell).decode


def decode_message(raw: bytes | Raw, path: str) -> ChatMessage:
    """Return the message at `path` of the parameters; raises `RpcError` with a fault's path."""
    shell = decode_at(_decode_shell, raw, path)
    parts = tuple(
        _decode_part(part, f"{path}.content[{index}]") for index, part in enumerate(shell.content)
    )
    return ChatMessage(shell.role, parts, shell.name)


def _decode_part(raw: Raw, path: str) -> Part:
    part = decode_at(decode_part, raw, path)
    if not isinstance(part, TextPart | DataPart) and is_too_deep(raw):
        raise RpcError(INVALID_PARAMS, f"Invalid params: {TOO_DEEP} - at `{path}`")
    return part


@attrs.frozen(eq=False, repr=False)
class Transcript:
    """A request's messages.

    `path` is the conversation in canonical form: system messages are kept apart in `lineage`,
    messages that say nothing are left out. `positions[i]` is the index in the request of `path[i]`.
    """

    path: tuple[Message, ...]
    positions: tuple[int, ...]
    lineage: tuple[Message, ...]
    _starts: Sequence[int] = attrs.field(repr=False)
    """The index at which each step begins, with the system messages in front of it."""
    _raws: Sequence[Raw] = attrs.field(repr=False)
    _decoded: dict[int, ChatMessage] = attrs.field(repr=False)
    size: int = 0
    """Bytes of all messages, as they came."""

    def messages(self, start: int, stop: int | None = None) -> tuple[ChatMessage, ...]:
        """Return the whole messages from step `start` of the path to before step `stop`.

        System messages in front of a step belong to it; to the first, all that is in front of it.
        """
        return done(self.telling(start, stop))

    def telling(self, start: int, stop: int | None = None) -> Work[tuple[ChatMessage, ...]]:
        """Return what `messages` does, in steps: a message that was seen before is decoded."""
        last = len(self._raws) if stop is None else self.index(stop)
        told: list[ChatMessage] = []
        for index in range(self.index(start), last):
            told.append(self._message(index))
            yield
        return tuple(told)

    def system(self) -> tuple[ChatMessage, ...]:
        """Return the system messages in front of all that was said."""
        front = map(self._message, range(self.positions[0] if self.positions else len(self._raws)))
        return tuple(message for message in front if message.role == "system")

    def size_from(self, start: int) -> int:
        """Return the bytes of the messages from step `start` of the path on, as they came."""
        return sum(map(len, self._raws[self.index(start) :]))

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


@attrs.define(eq=False, repr=False)
class _Reading:
    """A request as it is read; for the other lists see `Transcript`."""

    raws: list[Raw] = attrs.field(factory=list[Raw])
    """Copies, so that no whole line is held for a message."""
    messages: list[Message] = attrs.field(factory=list[Message])
    path: list[Message] = attrs.field(factory=list[Message])
    positions: list[int] = attrs.field(factory=list[int])
    starts: list[int] = attrs.field(factory=list[int])
    lineage: list[Message] = attrs.field(factory=list[Message])
    _start: int | None = None
    """The index of the first system message that no step has followed yet."""
    size: int = 0

    def add(self, raw: Raw, message: Message) -> None:
        """Take in the next message."""
        index = len(self.raws)
        self.size += len(raw)
        self.raws.append(raw)
        self.messages.append(message)
        if message.is_said:
            self.path.append(message)
            self.positions.append(index)
            self.starts.append(index if self._start is None else self._start)
            self._start = None
        elif message.role == "system":
            self.lineage.append(message)
            self._start = index if self._start is None else self._start

    def repeated(self, raws: Sequence[Raw]) -> int:
        """Return how many messages stand in front of all in another request, too."""
        most = min(len(self.raws), len(raws))
        return next(compress(count(), map(ne, self.raws, raws)), most)

    def before(self, end: int) -> _Reading:
        """Return the first messages, as one that can be added to."""
        if end < len(self.raws):
            begun = _Reading()
            for raw, message in zip(self.raws[:end], self.messages, strict=False):
                begun.add(raw, message)
            return begun
        return _Reading(
            [*self.raws],
            [*self.messages],
            [*self.path],
            [*self.positions],
            [*self.starts],
            [*self.lineage],
            self._start,
            self.size,
        )


def _nothing() -> None:
    return None


_UNSEEN = (Raw(), _nothing)


class TranscriptReader:
    """Reads transcripts; remembers each message as long as something refers to it.

    To compare bytes costs a quarter of looking them up. So the last request is held, and the next
    one is compared with it first. Mostly it repeats the same messages and adds a few.
    """

    def __init__(self) -> None:
        self._by_raw: dict[bytes, tuple[Raw, ref[Message]]] = {}
        self._same: WeakValueDictionary[tuple[bytes, str | None], Message] = WeakValueDictionary()
        self._last = _Reading()

    def read(self, raws: Sequence[Raw]) -> Transcript:
        """Return the transcript of `$.messages`; raises `RpcError` with the path of a fault."""
        return done(self.reading(raws))

    def reading(self, raws: Sequence[Raw]) -> Work[Transcript]:
        """Read a transcript in steps, one for each new message; see `read`.

        The last request is replaced only in the last step.
        """
        decoded: dict[int, ChatMessage] = {}
        reading = self._last.before(self._last.repeated(raws))
        for index in range(len(reading.raws), len(raws)):
            raw = bytes(raws[index])
            kept, known = self._by_raw.get(raw, _UNSEEN)
            message = known()
            if message is None:
                whole = decode_message(raw, f"$.messages[{index}]")
                decoded[index] = whole
                kept, message = self._remember(raw, whole)
                yield
            reading.add(kept, message)
        self._last = reading
        return Transcript(
            tuple(reading.path),
            tuple(reading.positions),
            tuple(reading.lineage),
            reading.starts,
            raws,
            decoded,
            reading.size,
        )

    def let_go(self) -> None:
        """Release the last request: its conversation has ended."""
        self._last = _Reading()

    def _remember(self, raw: bytes, whole: ChatMessage) -> tuple[Raw, Message]:
        message = Message.of(whole.role, whole.content, whole.name)
        same = self._same.setdefault((message.digest, message.marker), message)
        kept = Raw(raw)
        self._by_raw[raw] = kept, ref(same, lambda _: self._by_raw.pop(raw, None))
        return kept, same
