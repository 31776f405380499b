"""The tokens of a response: as the server tells them, and as VS Code wants to be told."""

from __future__ import annotations

from typing import Any, cast

import msgspec

from agents.events import Attach

from .outcome import TokenUsage

USAGE_MIME_TYPE = "usage"


def read_usage(value: Any) -> TokenUsage | None:
    """Read the `usage` of a response; None if nothing was counted."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    taken, given = _count(fields, "input_tokens"), _count(fields, "output_tokens")
    if taken is None and given is None:
        return None
    taken, given = taken or 0, given or 0
    return TokenUsage(
        taken,
        given,
        _count(fields, "total_tokens") or taken + given,
        _count(fields.get("input_tokens_details"), "cached_tokens"),
        _count(fields.get("output_tokens_details"), "reasoning_tokens"),
    )


def usage_record(usage: TokenUsage) -> Attach:
    """Return the record that the host shows: it has other names for the same."""
    record: dict[str, object] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }
    if usage.cached_tokens is not None:
        record["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens is not None:
        record["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return Attach(USAGE_MIME_TYPE, msgspec.json.encode(record))


def _count(fields: Any, name: str) -> int | None:
    """Return a number of tokens; servers without a tokenizer say -1, null or a fraction."""
    if not isinstance(fields, dict):
        return None
    value = cast("dict[str, Any]", fields).get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return int(value)
