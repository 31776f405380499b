"""Where a conversation is: a digest of all that was said so far, as the editor repeats it.

Two sessions with the same digest have heard the same, so that one may go on from a response of the
other. What has no meaning is left out: how text was cut, the order of results, thoughts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import attrs

from agents.events import CallTool
from agents.tool_result import BOOKKEEPING
from bridge.message import canonical_json
from bridge.wire import ChatMessage, DataPart, TextPart, ToolCallPart, ToolResultPart


@attrs.define
class Track:
    """A digest that grows with what is said."""

    _hash: Any = attrs.field(factory=lambda: hashlib.blake2b(digest_size=16))
    _text: list[str] = attrs.field(factory=list[str])
    _calls: list[list[Any]] = attrs.field(factory=list[list[Any]])
    _results: dict[str, Any] = attrs.field(factory=dict[str, Any])

    @property
    def digest(self) -> bytes:
        """The digest of what was said up to now."""
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
                        self._calls.append([call_id, name, given])
                    case _:
                        pass
            return
        rest: list[Any] = []
        text: list[str] = []
        for part in message.content:
            match part:
                case ToolResultPart():
                    self.answer(part)
                case TextPart(value=value):
                    text.append(value)
                case DataPart(mime_type=mime, data=data) if mime not in BOOKKEEPING:
                    rest.append([mime, hashlib.blake2b(data, digest_size=16).hexdigest()])
                case _:
                    pass
        if text or rest:
            self._end_answer()
            self._end_results()
            self._add([message.role, "".join(text), rest])

    def say(self, text: str, calls: Sequence[CallTool]) -> None:
        """Add what an assistant said."""
        self._end_results()
        self._text.append(text)
        self._calls += [[call.call_id, call.name, call.parameters] for call in calls]

    def answer(self, part: ToolResultPart) -> None:
        """Add the result of a call."""
        self._end_answer()
        self._results[part.tool_call_id] = [part.result, part.is_error]

    def _end_answer(self) -> None:
        text = "".join(self._text)
        if text or self._calls:
            self._add(["assistant", text, self._calls])
        self._text, self._calls = [], []

    def _end_results(self) -> None:
        if self._results:
            self._add(["results", sorted(self._results.items())])
        self._results = {}

    def _add(self, said: Any) -> None:
        self._hash.update(canonical_json(said) + b"\n")


def boundaries(messages: Sequence[ChatMessage]) -> tuple[Track, dict[bytes, int]]:
    """Return the track of messages, and where answers end in them: the last message's index, by
    the digest there.
    """  # noqa: D205  one sentence
    track = Track()
    found: dict[bytes, int] = {}
    begins = True
    for index, message in enumerate(messages):
        if not (begins and message.role == "system"):  # that is the prompt, which every request has
            begins = False
            track.tell(message)
        is_last = index + 1 == len(messages) or messages[index + 1].role != "assistant"
        if message.role == "assistant" and is_last:
            found[track.digest] = index
    return track, found
