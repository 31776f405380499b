"""What the counts of a conversation's tokens measure.

A count is of everything that a model was told. So what is compared is what came to a conversation
since the count before: what neither the editor nor we see is in both. Only of the first count is
everything compared.
"""

from __future__ import annotations

import attrs
from msgspec import Raw
from msgspec.structs import replace

from .message import Message
from .transcript import Transcript
from .value import Value
from .wire import ChatMessage, ThinkingPart, ToolSpec

MOST_MEASURED_BYTES = 128 * 1024
"""Of more JSON nothing is learned: estimating it takes long, and it says no more than a shorter."""


class Measured(Value):
    """So many tokens a server counted for some messages; `tools` None: they were counted before."""

    messages: tuple[ChatMessage, ...]
    tokens: int
    tools: tuple[ToolSpec, ...] | None


class _Count(Value):
    path: tuple[Message, ...]
    lineage: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    tokens: int


@attrs.define
class Gauge:
    """The counts of one conversation with one session, which hears every word of it."""

    _last: _Count | None = attrs.field(default=None, init=False)

    def take(
        self, transcript: Transcript, tools: tuple[ToolSpec, ...], tokens: int
    ) -> Measured | None:
        """Return what a count of the whole request measures; None where nothing is comparable.

        That is so when the host has changed what was said before, its system prompt or the tools,
        and where too much was said to compare.
        """
        last = self._last
        self._last = _Count(transcript.path, transcript.lineage, tools, tokens)
        if last is None:
            if transcript.size + sum(map(_size, tools)) > MOST_MEASURED_BYTES:
                return None
            return Measured(_as_told(transcript.messages(0)), tokens, tools)
        size = len(last.path)
        is_same = (transcript.lineage, tools) == (last.lineage, last.tools)
        if not is_same or transcript.path[:size] != last.path or size == len(transcript.path):
            return None
        if transcript.size_from(size) > MOST_MEASURED_BYTES:
            return None
        return Measured(_as_told(transcript.messages(size)), tokens - last.tokens, None)


def _size(tool: ToolSpec) -> int:
    schema = tool.input_schema if isinstance(tool.input_schema, Raw) else b""
    return len(tool.name) + len(tool.description) + len(schema)


def _as_told(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    """Leave out thoughts: hosts repeat them, and no model is told them again."""
    return tuple(
        replace(
            message,
            content=tuple(part for part in message.content if not isinstance(part, ThinkingPart)),
        )
        for message in messages
    )
