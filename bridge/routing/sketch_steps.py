"""The steps of a sketch: messages without their words, of a fixed size each.

A step holds two digests: of the whole canonical message, and of its *loose* form. The loose form
has only the parts that no host changes (`bridge.history.rules`). The loose form of a result has the
ids of all later results in the run, because hosts may group them differently.
"""

from __future__ import annotations

import enum
import hashlib
import struct
from collections.abc import Iterator, Sequence
from typing import assert_never
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import astuple

from bridge.history.message import Message
from bridge.value import Value

from .align import UNFINISHED, RecordedMessage, plain, says_nothing

_VERSION = b"\x01"
_STEP = struct.Struct(">B8s8s")
_SEAL = 8
"""Bytes of the digest at the end: a truncated sketch mustn't look like an earlier state."""
_IS_UNFINISHED = 0x40
_BEGINS = 0x80
_encode = msgspec.json.Encoder().encode
_loose_digests: WeakKeyDictionary[Message, bytes] = WeakKeyDictionary()
"""Of messages that live: a record is sketched at each turn, and most of it was before."""


class StepKind(enum.IntEnum):
    """The role of a message in a conversation."""

    FACTS = 1
    """The host's own: it comes, changes and goes."""
    QUESTION = 2
    PICTURED = 3
    """A question with images."""
    RESULTS = 4
    """Of tools, and nothing else."""
    OTHER = 5
    """The user's, and compared as a whole only."""
    TOLD = 6
    """An answer that another gave."""
    ANSWER = 7


_KINDS = {int(kind): kind for kind in StepKind}


class SketchStep(Value):
    """One message."""

    kind: StepKind
    is_unfinished: bool
    """Its exchange has no whole answer."""
    begins: bool
    """Its exchange does so with it."""
    whole: bytes
    loose: bytes

    @property
    def is_whole_answer(self) -> bool:
        """Whether it is our own answer that nothing cut short."""
        return self.kind is StepKind.ANSWER and not self.is_unfinished

    def is_same(self, theirs: Message) -> bool:
        """Return whether a message says the same, by its digest or in other words."""
        if self.whole == theirs.digest[: len(self.whole)]:
            return True
        match self.kind:
            case StepKind.QUESTION | StepKind.PICTURED:
                is_alike = kind_of(theirs) is StepKind.QUESTION
            case StepKind.TOLD | StepKind.ANSWER:
                is_alike = theirs.role == "assistant"
            case StepKind.FACTS | StepKind.RESULTS | StepKind.OTHER:
                is_alike = False
            case _:
                assert_never(self.kind)
        return is_alike and self.loose == loose_digest(theirs)

    def is_cut_to(self, theirs: Message) -> bool:
        """Return whether a message may be the rest of this answer."""
        is_cut = self.kind is StepKind.ANSWER and self.is_unfinished
        return is_cut and theirs.role == "assistant" and not (theirs.calls or theirs.results)


def kind_of(message: Message) -> StepKind:
    """Return what kind of step a message is; whose an answer is, it doesn't tell."""
    if message.role == "assistant":
        return StepKind.TOLD
    if message.results:
        return StepKind.OTHER if message.text else StepKind.RESULTS
    if says_nothing(message):
        return StepKind.FACTS
    if message.request is None:
        return StepKind.OTHER
    return StepKind.PICTURED if message.images else StepKind.QUESTION


def loose_digest(message: Message) -> bytes:
    """Return the digest of the parts that no host changes in a message."""
    known = _loose_digests.get(message)
    if known is not None:
        return known
    if message.role == "user":
        found = digest(_encode(("asked", message.name, message.request)))
    else:
        calls = [astuple(call) for call in message.calls]
        found = digest(_encode(("answered", message.name, plain(message.text), calls)))
    _loose_digests[message] = found
    return found


def rests(results: Sequence[Message]) -> Iterator[bytes]:
    """Yield the digests of all ids from each message on, those of the last message first."""
    running = hashlib.blake2b(digest_size=8)
    for message in reversed(results):
        for call_id in reversed(message.results):
            running.update(_encode(call_id))
        yield running.digest()


def packed(items: Sequence[RecordedMessage]) -> bytes:
    """Return the steps of a record; its last one is no result."""
    steps = _VERSION + b"".join(_each_packed(items))
    return steps + digest(steps)


def _each_packed(items: Sequence[RecordedMessage]) -> Iterator[bytes]:
    looses = _looses([item.message for item in items])
    exchange = -1
    for item, loose in zip(items, looses, strict=True):
        kind = StepKind.ANSWER if item.is_answer else kind_of(item.message)
        unfinished = _IS_UNFINISHED if item.ending in UNFINISHED else 0
        begins = _BEGINS if item.exchange != exchange else 0
        exchange = item.exchange
        yield _STEP.pack(kind | unfinished | begins, item.message.digest[:8], loose)


def _looses(messages: Sequence[Message]) -> list[bytes]:
    looses: list[bytes] = []
    run: list[Message] = []
    for message in messages:
        if kind_of(message) is StepKind.RESULTS:
            run.append(message)
            continue
        looses += reversed([*rests(run)])
        looses.append(loose_digest(message))
        run = []
    return looses


class Steps:
    """The steps of a record, each made when it is looked at: most records differ at once."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def __len__(self) -> int:
        return len(self._body) // _STEP.size

    def __iter__(self) -> Iterator[SketchStep]:
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> SketchStep:
        bits, whole, loose = _STEP.unpack_from(self._body, index * _STEP.size)
        kind = _KINDS[bits & ~(_IS_UNFINISHED | _BEGINS)]
        return SketchStep(kind, bool(bits & _IS_UNFINISHED), bool(bits & _BEGINS), whole, loose)


_ALL_BITS = frozenset(
    kind | unfinished | begins
    for kind in StepKind
    for unfinished in (0, _IS_UNFINISHED)
    for begins in (0, _BEGINS)
)


def unpacked(steps: bytes) -> Steps | None:
    """Return the steps of a record that ends with a whole answer; None if these are none."""
    body, seal = steps[:-_SEAL], steps[-_SEAL:]
    if not body.startswith(_VERSION) or seal != digest(body) or len(body) % _STEP.size != 1:
        return None
    if not _ALL_BITS.issuperset(body[1 :: _STEP.size]):
        return None
    found = Steps(body[1:])
    return found if len(found) and found[len(found) - 1].is_whole_answer else None


def digest(content: bytes, size: int = 8) -> bytes:
    """Return a digest of so many bytes."""
    return hashlib.blake2b(content, digest_size=size).digest()
