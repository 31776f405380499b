"""Identify a point of a conversation by a digest of all messages that the editor repeats.

Two sessions with the same digest have heard the same, so that one may go on from a response of the
other. Details without meaning are left out: how text was cut, the order of results, thoughts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from agents.events import CallTool
from agents.tool_result import is_bookkeeping
from bridge.history.message import canonical_json
from bridge.wire import ChatMessage, DataPart, TextPart, ToolCallPart, ToolResultPart
from bridge.work import Work


@attrs.define
class Track:
    """A digest that is extended by each message."""

    _hash: Any = attrs.field(factory=lambda: hashlib.blake2b(digest_size=16))
    _text: list[str] = attrs.field(factory=list[str])
    _calls: list[bytes] = attrs.field(factory=list[bytes])
    """As JSON, so that no step has to write all of them."""
    _results: dict[str, bytes] = attrs.field(factory=dict[str, bytes])
    """By the calls' ids, as JSON."""

    @property
    def digest(self) -> bytes:
        """The digest of all messages so far."""
        whole = self.copy()
        whole._end_answer()
        whole._end_results()
        return whole._hash.digest()

    def copy(self) -> Track:
        """Return another that has heard the same."""
        return Track(self._hash.copy(), [*self._text], [*self._calls], {**self._results})

    def tell(self, message: ChatMessage) -> None:
        """Add a message of the editor's."""
        if message.role == "assistant":
            self._end_results()
            for part in message.content:
                match part:
                    case TextPart(value=value):
                        self._text.append(value)
                    case ToolCallPart(tool_call_id=call_id, tool_name=name, parameters=given):
                        self._calls.append(canonical_json([call_id, name, given]))
                    case _:
                        pass
            return
        rest: list[Any] = []
        text: list[str] = []
        for part in message.content:
            match part:
                case ToolResultPart():
                    self.answer(part.tool_call_id, written_result(part))
                case TextPart(value=value):
                    text.append(value)
                case DataPart(mime_type=mime, data=data) if not is_bookkeeping(mime):
                    rest.append([mime, hashlib.blake2b(data, digest_size=16).hexdigest()])
                case _:
                    pass
        if text or rest:
            self._end_answer()
            self._end_results()
            self._add(canonical_json([message.role, "".join(text), rest]))

    def say(self, text: str, calls: Iterable[bytes]) -> None:
        """Add what an assistant said; each call as `written_call` writes it."""
        self._end_results()
        self._text.append(text)
        self._calls += calls

    def answer(self, call_id: str, result: bytes) -> None:
        """Add the result of a call, as `written_result` writes it."""
        self._end_answer()
        self._results[call_id] = result

    def _end_answer(self) -> None:
        text = "".join(self._text)
        if text or self._calls:
            calls = b",".join(self._calls)
            self._add(b'["assistant",%b,[%b]]' % (canonical_json(text), calls))
        self._text, self._calls = [], []

    def _end_results(self) -> None:
        if self._results:
            results = b",".join(result for _, result in sorted(self._results.items()))
            self._add(b'["results",[%b]]' % results)
        self._results = {}

    def _add(self, said: bytes) -> None:
        self._hash.update(said + b"\n")


def written_call(call: CallTool) -> bytes:
    """Return a call as a track holds it."""
    return canonical_json([call.call_id, call.name, call.parameters])


def written_result(part: ToolResultPart) -> bytes:
    """Return a result as a track holds it."""
    return canonical_json([part.tool_call_id, [part.result, part.is_error]])


def boundaries(messages: Sequence[ChatMessage]) -> Work[tuple[Track, dict[bytes, int]]]:
    """Return the track of messages, and where answers end in them.

    The result maps each digest to the index of its last message. Each message is a step.
    """
    track = Track()
    found: dict[bytes, int] = {}
    begins = True
    for index, message in enumerate(messages):
        yield
        if not (begins and message.role == "system"):  # the prompt, which every request has
            begins = False
            track.tell(message)
        is_last = index + 1 == len(messages) or messages[index + 1].role != "assistant"
        if message.role == "assistant" and is_last:
            found[track.digest] = index
    return track, found
