"""Make text whole that an agent has cut inside a character. Pure.

A `TextJoiner` joins the pieces of one message. A `ChunkJoiner` does so for the updates of a turn:
text that it holds back is released when the message ends. The next message, another kind of update,
or the end of the turn ends a message.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agents.acp.schema.content import TextContent
from agents.acp.schema.updates import (
    AgentMessageChunk,
    AgentThoughtChunk,
    SessionUpdate,
    UsageUpdate,
)

REPLACEMENT = "\ufffd"


class TextJoiner:
    """Joins characters that a stream of chunks was cut in; one for each message.

    JavaScript counts in UTF-16, so an agent may cut an emoji into two halves (surrogates), which no
    our encoder takes. The result has no halves: a half without its partner becomes U+FFFD.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def push(self, text: str) -> str:
        """Return the text that can be shown now: all of it except a first half at the end."""
        if not self._held and text.isascii():
            return text
        whole = self._held + text
        self._held = whole[-1:] if "\ud800" <= whole[-1:] <= "\udbff" else ""
        return mend(whole[: len(whole) - len(self._held)])

    def flush(self) -> str:
        """Return the rest at the end of the message."""
        held, self._held = self._held, ""
        return REPLACEMENT if held else ""


def mend(text: str) -> str:
    """Join the halves of characters; those that are alone become U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_Spoken = AgentMessageChunk | AgentThoughtChunk


class ChunkJoiner:
    """Passes updates through; one for each turn."""

    def __init__(self) -> None:
        self._joiner = TextJoiner()
        self._last: _Spoken | None = None
        """The chunk whose end is held back."""

    def pass_on(self, update: SessionUpdate) -> Sequence[SessionUpdate]:
        """Return an update that can be shown, after the rest held back from another message."""
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
        """Return the text held back, with its half replaced."""
        last, self._last = self._last, None
        left = self._joiner.flush()
        return (_saying(last, left),) if last is not None and left else ()


def _same_message(one: _Spoken, other: _Spoken) -> bool:
    return type(one) is type(other) and one.message_id == other.message_id


def _saying(chunk: _Spoken, text: str) -> _Spoken:
    return replace(chunk, content=TextContent(text))
