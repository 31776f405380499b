"""The tokens of a response, from the records that agents give. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from bridge.value import Value


class _Details(msgspec.Struct):
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class _Tokens(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Record(_Tokens):
    prompt_tokens_details: _Details = msgspec.field(default_factory=_Details)
    completion_tokens_details: _Details = msgspec.field(default_factory=_Details)
    turn: _Tokens | None = None


_decode = msgspec.json.Decoder(_Record).decode


class ResponseUsage(Value):
    """The tokens that a response took."""

    taken: int
    given: int
    cached: int = 0
    reasoning: int = 0

    @property
    def as_response(self) -> dict[str, Any]:
        """Return it in the words of the specification."""
        return {
            "input_tokens": self.taken,
            "output_tokens": self.given,
            "total_tokens": self.taken + self.given,
            "input_tokens_details": {"cached_tokens": self.cached},
            "output_tokens_details": {"reasoning_tokens": self.reasoning},
        }

    @property
    def as_completion(self) -> dict[str, Any]:
        """Return it in the words of Chat Completions."""
        return {
            "prompt_tokens": self.taken,
            "completion_tokens": self.given,
            "total_tokens": self.taken + self.given,
            "prompt_tokens_details": {"cached_tokens": self.cached},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning},
        }


def usage_in(data: bytes) -> ResponseUsage | None:
    """Return the tokens in a record; None if it only tells how full the agent's context is."""
    try:
        record = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    counted = record.turn or record
    taken, given = counted.prompt_tokens or 0, counted.completion_tokens or 0
    if given <= 0 or taken < 0:
        return None
    cached = record.prompt_tokens_details.cached_tokens or 0
    reasoning = record.completion_tokens_details.reasoning_tokens or 0
    return ResponseUsage(taken, given, cached, reasoning)
