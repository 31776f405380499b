"""Keep enough of a conversation to recognise it, without any of its text.

A `Sketch` holds digests. The digests have no secret key. A reader of the store could read a key
beside it, too, so a key wouldn't prevent guessing. Processes that share a store would also have to
share the key. Digests reveal whether a guess is right, and the number of messages. Each message
takes the same space.

`recognise` follows `bridge.routing.align` as far as digests allow. In doubt it says no: a summary,
a pruned round, a dropped call, a replaced image, a preamble with results. It is stricter in one
point: the record must end with a complete answer that came back. It is less strict in another.
Digests can't tell how much of an interrupted answer came back. So any words are accepted there,
because the messages after them have to agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import attrs
import msgspec

from bridge.history.exchange import Ending, Exchange
from bridge.history.message import Message
from bridge.value import Value

from .align import MOST_RESULTS, RecordedMessage, is_summary, items_of, says_nothing
from .sketch_steps import StepKind, Steps, digest, kind_of, loose_digest, packed, rests, unpacked

MOST_KEYS = 32
"""Most keys with which a path is looked up."""

_encode = msgspec.json.Encoder().encode


class Sketch(Value):
    """A conversation without its words: the keys for its lookup, and the steps to recognise it."""

    key: bytes
    steps: bytes

    @classmethod
    def of(cls, record: Sequence[Exchange]) -> Sketch | None:
        """Return the sketch of a record that ends with a whole answer; None of any other."""
        items = items_of(record)
        if not items or not _is_whole(items[-1]) or not all(_is_usual(i.message) for i in items):
            return None
        requests = _requests_before(item.message for item in items)
        first = next(asked for item, asked in zip(items, requests, strict=True) if _is_whole(item))
        key = _key(first, requests[-1], loose_digest(items[-1].message))
        return cls(key, packed(items))


def keys(path: Sequence[Message]) -> list[bytes]:
    """Return what a record of the beginning of `path` may be looked up by, the longest first.

    A chat is looked up by its newest answer, that answer's request, and its first request. The
    newest answer may have been cut short, so it can be either of two.
    """
    requests = _requests_before(path)
    answers = [index for index, message in enumerate(path) if message.role == "assistant"]
    firsts = dict.fromkeys(requests[index] for index in answers[:2])
    found: dict[bytes, None] = {}
    for index in reversed(answers[-MOST_KEYS:]):
        newest = loose_digest(path[index])
        found.update(dict.fromkeys(_key(first, requests[index], newest) for first in firsts))
        if len(found) >= MOST_KEYS:
            break
    return list(found)[:MOST_KEYS]


def recognise(steps: bytes, path: Sequence[Message]) -> int | None:
    """Return how many messages of `path` a record accounts for, if all of it stands there.

    None if not, or if that can't be told; bytes that no `Sketch` has are none.
    """
    recorded = unpacked(steps)
    return _Reader(recorded, path).run() if recorded is not None else None


@attrs.define(eq=False, repr=False)
class _Reader:
    """Reads record and path side by side, as `bridge.routing.align` does."""

    recorded: Steps
    path: Sequence[Message]
    at: int = 0
    """In the record."""
    to: int = 0
    """In the path."""

    def run(self) -> int | None:
        while self.at < len(self.recorded):
            if self.to == len(self.path):
                return None  # the last answer of the record is still to come
            if not (self._found() or self._differs_by_rule()):
                return None
        return self.to

    def _found(self) -> bool:
        step, theirs = self.recorded[self.at], self.path[self.to]
        if not (step.is_same(theirs) or step.is_cut_to(theirs)):
            return self._found_results()
        self.at += 1
        self.to += 1
        return True

    def _found_results(self) -> bool:
        """Match results that are grouped into messages in another way."""
        ours = 0
        for index in range(self.at, min(self.at + MOST_RESULTS + 1, len(self.recorded))):
            if self.recorded[index].kind is not StepKind.RESULTS:
                break
            ours += 1
        theirs: list[Message] = []
        for message in self.path[self.to : self.to + MOST_RESULTS + 1]:
            if kind_of(message) is not StepKind.RESULTS:
                break
            theirs.append(message)
        if not (0 < ours <= MOST_RESULTS and 0 < len(theirs) <= MOST_RESULTS):
            return False
        *_, rest = rests(theirs)
        if self.recorded[self.at].loose != rest:
            return False
        self.at += ours
        self.to += len(theirs)
        return True

    def _differs_by_rule(self) -> bool:
        """Pass over a step that only one of the two has."""
        step, theirs = self.recorded[self.at], self.path[self.to]
        if is_summary(theirs):
            return False
        if says_nothing(theirs):
            self.to += 1
            return True
        if step.kind is StepKind.FACTS or (step.kind is StepKind.ANSWER and step.is_unfinished):
            self.at += 1
            return True
        if step.kind is not StepKind.QUESTION or not step.is_unfinished:
            return False
        after = range(self.at + 1, len(self.recorded))
        following = next((index for index in after if self.recorded[index].begins), None)
        if following is None or not self.recorded[following].is_same(theirs):
            return False
        self.at = following
        return True


def _is_whole(item: RecordedMessage) -> bool:
    return item.is_answer and item.ending is Ending.COMPLETE


def _is_usual(message: Message) -> bool:
    """Return whether it is an answer of hosts or agents."""
    amiss = message.results if message.role == "assistant" else message.calls
    return message.is_said and not amiss


def _requests_before(messages: Iterable[Message]) -> list[str]:
    """Return for each message the last request before it."""
    before: list[str] = []
    newest = ""
    for message in messages:
        before.append(newest)
        newest = message.request or newest
    return before


def _key(first: str, request: str, answer: bytes) -> bytes:
    return digest(_encode((first, request, answer)), 16)
