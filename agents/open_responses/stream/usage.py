"""The tokens of a response: as the server reports them, and as VS Code expects them."""

from __future__ import annotations

from typing import Any, cast

from agents.events import Attach
from agents.loading import fields_of
from agents.token_record import MOST_TOKENS, token_record

from .outcome import TokenUsage


def read_usage(value: Any) -> TokenUsage | None:
    """Read the `usage` of a response; None if nothing was counted.

    Servers that grew out of Chat Completions keep its names.
    """
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    taken = _count(fields, "input_tokens", "prompt_tokens")
    given = _count(fields, "output_tokens", "completion_tokens")
    if taken is None and given is None:
        return None
    taken, given = taken or 0, given or 0
    return TokenUsage(
        taken,
        given,
        _count(fields, "total_tokens") or taken + given,
        _detail(fields, "cached_tokens", "input_tokens_details", "prompt_tokens_details"),
        _detail(fields, "reasoning_tokens", "output_tokens_details", "completion_tokens_details"),
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
    return token_record(record)


def _count(fields: dict[str, Any], *names: str) -> int | None:
    """Return a number of tokens; servers without a tokenizer say -1, null or a fraction.

    A number above `MOST_TOKENS` is no count.
    """
    for name in names:
        value = fields.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if 0 <= value <= MOST_TOKENS:
            return int(value)
    return None


def _detail(fields: dict[str, Any], name: str, *places: str) -> int | None:
    found = (_count(fields_of(fields.get(place)), name) for place in places)
    return next((count for count in found if count is not None), None)
