"""Tokens of a conversation: exact for what a server counted, estimated for the rest.

A server reports with each answer how many tokens the request had. So the exact number is known for
each conversation that begins with the messages of that request. The ratio of this number to the
estimate shows how the model's tokenizer differs from the estimate, and corrects later estimates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import attrs

from bridge.history.message import Message
from bridge.value import Value
from bridge.wire import ChatMessage, ToolSpec
from bridge.work import Work

from .message import (
    MESSAGE_OVERHEAD,
    REPLY_OVERHEAD,
    estimate_message,
    estimate_text,
    estimate_tools,
    estimating_message,
)
from .text import estimating

EstimateMethod: TypeAlias = Literal["actual", "hybrid", "estimated"]

CONFIDENCE: dict[EstimateMethod, float] = {"actual": 1.0, "hybrid": 0.85, "estimated": 0.7}
KNOWN_CONVERSATIONS = 1000
"""So many counts are remembered, the latest ones."""
LEAST_SAMPLE = 100
"""Fewer tokens than this say little of a ratio."""
LEAST_RATIO, MOST_RATIO = 0.5, 4.0
"""No two tokenizers differ more: the older cl100k_base has 2.7 times as many for Hindi and Thai.
Beyond, the server counted something that we don't see.
"""
WEIGHT = 0.3
"""The weight of a new measurement against all earlier ones."""


class Estimate(Value):
    """A number of tokens, its source, and its certainty (0 to 1)."""

    tokens: int
    method: EstimateMethod
    confidence: float


@attrs.define
class HybridEstimator:
    """The tokens of one model's conversations; `family` is the model's, for images."""

    family: str = ""
    _ratio: float = attrs.field(default=1.0, init=False)
    _counted: dict[bytes, int] = attrs.field(factory=dict[bytes, int], init=False)

    @property
    def ratio(self) -> float:
        """The model's tokens per estimated token, as measured."""
        return self._ratio

    def estimate_text(self, text: str) -> int:
        """Return the estimated tokens of a text."""
        return self._corrected(estimate_text(text))

    def estimate_message(self, message: ChatMessage) -> int:
        """Return the estimated tokens of a message."""
        return self._corrected(estimate_message(message, self.family))

    def estimating(self, said: str | ChatMessage) -> Work[int]:
        """Return the estimated tokens of a text or a message, in steps."""
        if isinstance(said, str):
            return self._corrected((yield from estimating(said)))
        return self._corrected((yield from estimating_message(said, self.family)))

    def estimate_conversation(
        self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec] = ()
    ) -> Estimate:
        """Return the tokens of a request: exact as far as its beginning was counted.

        A count has the tools of its request in it, so that `tools` add to an estimate only.
        """
        known, count = self._longest_counted(_beginnings(messages))
        if known == len(messages) and count:
            return _estimate(count, "actual")
        rest = self._corrected(self._price(messages, known, tools))
        return _estimate(count + rest, "hybrid" if known else "estimated")

    def calibrate(
        self, messages: Sequence[ChatMessage], tokens: int, tools: Sequence[ToolSpec] = ()
    ) -> None:
        """Learn that a server counted so many input tokens for these messages (and tools)."""
        beginnings = _beginnings(messages)
        if tokens <= 0 or not beginnings:
            return  # some servers say 0 when they don't know
        known, count = self._longest_counted(beginnings[:-1])
        self._learn(self._price(messages, known, tools), tokens - count)
        self._counted.pop(beginnings[-1], None)  # the latest one goes to the end
        self._counted[beginnings[-1]] = tokens
        if len(self._counted) > KNOWN_CONVERSATIONS:
            del self._counted[next(iter(self._counted))]

    def learn(
        self,
        messages: Sequence[ChatMessage],
        tokens: int,
        tools: Sequence[ToolSpec] | None = None,
    ) -> None:
        """Learn that these messages alone have so many tokens, wherever they stand.

        With `tools` they are a whole request, and the tools are counted, too.
        """
        beside = 0 if tools is None else REPLY_OVERHEAD + estimate_tools(tools)
        self._learn(beside + self._sum(messages), tokens)

    def reset(self) -> None:
        """Forget the counts; the ratio belongs to the model and stays."""
        self._counted.clear()

    def _longest_counted(self, beginnings: Sequence[bytes]) -> tuple[int, int]:
        """Return how many messages were counted together, and their tokens; 0, 0 if none were."""
        for size in range(len(beginnings), 0, -1):
            count = self._counted.get(beginnings[size - 1])
            if count is not None:
                return size, count
        return 0, 0

    def _learn(self, estimated: int, tokens: int) -> None:
        ratio = tokens / max(estimated, 1)
        if estimated >= LEAST_SAMPLE and LEAST_RATIO <= ratio <= MOST_RATIO:
            self._ratio = (1 - WEIGHT) * self._ratio + WEIGHT * ratio

    def _price(self, messages: Sequence[ChatMessage], known: int, tools: Sequence[ToolSpec]) -> int:
        """Return the uncorrected estimate of the messages after the known beginning."""
        total = self._sum(messages[known:])
        return total if known else REPLY_OVERHEAD + estimate_tools(tools) + total

    def _sum(self, messages: Iterable[ChatMessage]) -> int:
        return sum(MESSAGE_OVERHEAD + estimate_message(one, self.family) for one in messages)

    def _corrected(self, tokens: int) -> int:
        return int(tokens * self._ratio + 0.5)


def _estimate(tokens: int, method: EstimateMethod) -> Estimate:
    return Estimate(tokens, method, CONFIDENCE[method])


def _beginnings(messages: Sequence[ChatMessage]) -> list[bytes]:
    """Return a digest of the first message, of the first two, and so on."""
    digest = b""
    digests: list[bytes] = []
    for message in messages:
        said = Message.of(message.role, message.content, message.name).digest
        digest = hashlib.blake2b(digest + said, digest_size=16).digest()
        digests.append(digest)
    return digests
