"""Chunks of messages whose characters are whole. Pure.

Each message's text runs through a joiner of its own; what it holds back comes out where the message
ends: with the next one, with anything else that is said, or with the turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from .content import TextContent
from .joiner import TextJoiner
from .updates import AgentMessageChunk, AgentThoughtChunk, SessionUpdate, UsageUpdate

_Spoken = AgentMessageChunk | AgentThoughtChunk


class ChunkJoiner:
    """Passes updates through; one for each turn."""

    def __init__(self) -> None:
        self._joiner = TextJoiner()
        self._last: _Spoken | None = None
        """The chunk whose end is held back."""

    def pass_on(self, update: SessionUpdate) -> Sequence[SessionUpdate]:
        """Return an update as it can be shown, after what was held back of another message."""
        if not isinstance(update, _Spoken) or not isinstance(update.content, TextContent):
            if self._last is None or isinstance(update, UsageUpdate):
                return (update,)
            return (*self.flush(), update)
        text = update.content.text
        if self._last is None and text.isascii():
            return (update,)  # nearly always
        before: Sequence[SessionUpdate] = ()
        if self._last is not None and not _same_message(self._last, update):
            before = self.flush()
        whole = self._joiner.push(text)
        self._last = update if "\ud800" <= text[-1:] <= "\udbff" else None
        if whole == text:
            return (*before, update)
        return (*before, _saying(update, whole)) if whole else before

    def flush(self) -> Sequence[SessionUpdate]:
        """Return what is held back, made whole."""
        last, self._last = self._last, None
        left = self._joiner.flush()
        return (_saying(last, left),) if last is not None and left else ()


def _same_message(one: _Spoken, other: _Spoken) -> bool:
    return type(one) is type(other) and one.message_id == other.message_id


def _saying(chunk: _Spoken, text: str) -> _Spoken:
    return replace(chunk, content=TextContent(text))
