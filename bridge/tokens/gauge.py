"""Measure estimates of a conversation's tokens against the counts of a server.

A count covers everything that the model received, also parts that neither the editor nor we see.
These are in every count, so only the growth since the last count is compared. The first count is
compared as a whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from msgspec import Raw
from msgspec.structs import replace

from bridge.history.message import Message
from bridge.history.transcript import Transcript
from bridge.value import Value
from bridge.wire import ChatMessage, ThinkingPart, ToolSpec

if TYPE_CHECKING:
    from .hybrid import HybridEstimator

MOST_MEASURED_BYTES = 128 * 1024
"""Of more JSON nothing is learned: estimating it takes long, and it says no more than a shorter."""
MOST_MODELS = 100
"""Most models that are kept; the least recently used go first."""
MOST_WAITING = 8
"""Most models for which an unrequested measurement is kept."""


class Measured(Value):
    """The tokens that a server counted for some messages; `tools` None: counted before."""

    messages: tuple[ChatMessage, ...]
    tokens: int
    tools: tuple[ToolSpec, ...] | None


class _Count(Value):
    path: tuple[Message, ...]
    lineage: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    tokens: int


@attrs.define(eq=False, repr=False)
class Gauge:
    """The counts of one conversation with one session, which receives all of it."""

    _last: _Count | None = attrs.field(default=None, init=False)

    def take(
        self, transcript: Transcript, tools: tuple[ToolSpec, ...], tokens: int
    ) -> Measured | None:
        """Return the measurement from a count of the whole request; None if nothing is comparable.

        Nothing is comparable if the host changed earlier messages, its system prompt or the tools,
        or if there is too much to compare.
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
    """Leave out thoughts: hosts repeat them, but they aren't sent to a model again."""
    return tuple(
        replace(
            message,
            content=tuple(part for part in message.content if not isinstance(part, ThinkingPart)),
        )
        for message in messages
    )


class Calibration:
    """An estimator for each model with a request for its ratio.

    Until then only the latest measurement of a model is kept. Our own extension counts by itself,
    so an unrequested ratio needn't be computed.
    """

    def __init__(self) -> None:
        self._estimators: dict[str, HybridEstimator] = {}
        """The one that was asked for last comes last."""
        self._waiting: dict[str, Measured] = {}
        """The newest comes last."""

    def learn(self, model: str, measured: Measured) -> None:
        """Take a measurement."""
        estimator = self._estimators.get(model)
        if estimator is None:
            self._keep(model, measured)
        else:
            estimator.learn(measured.messages, measured.tokens, measured.tools)

    def estimator(self, model: str, family: str) -> HybridEstimator:
        """Return the estimator of a model."""
        from .hybrid import HybridEstimator  # here, because its table is slow to load

        estimator = self._estimators.pop(model, None)
        measured = self._waiting.pop(model, None)
        self._estimators[model] = estimator = estimator or HybridEstimator(family)
        if measured is not None:
            self.learn(model, measured)
        if len(self._estimators) > MOST_MODELS:
            del self._estimators[next(iter(self._estimators))]
        return estimator

    def _keep(self, model: str, measured: Measured) -> None:
        """Keep a measurement until somebody asks for the model."""
        self._waiting.pop(model, None)
        self._waiting[model] = measured
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]
