"""The tokens of a turn, in the words of VS Code: its `usage` record."""

from __future__ import annotations

from agents.events import Attach
from agents.token_record import MOST_TOKENS, token_record

from .methods import Usage
from .updates import UsageUpdate


def context_usage(update: UsageUpdate) -> Attach | None:
    """Return the record of what is in the agent's context; None where it doesn't know (0)."""
    if not 0 < update.used <= MOST_TOKENS:
        return None
    record = {
        "prompt_tokens": update.used,
        "completion_tokens": 0,
        "total_tokens": update.used,
    }
    if 0 < update.size <= MOST_TOKENS:
        record["context_window"] = update.size
    return token_record(record)


def turn_usage(usage: Usage) -> Attach | None:
    """Return the record of what a turn took; None where the agent doesn't know (0 after a cancel).

    Some agents count cached tokens among the input, as VS Code does, and others apart: the total
    tells.
    """
    if usage.total_tokens <= 0 or any(abs(count) > MOST_TOKENS for count in _counts(usage)):
        return None
    read, written = usage.cached_read_tokens or 0, usage.cached_write_tokens or 0
    thought = usage.thought_tokens or 0
    prompt, completion = usage.input_tokens, usage.output_tokens
    if prompt + completion + read + written <= usage.total_tokens:
        prompt += read + written
    if prompt + completion + thought <= usage.total_tokens:
        completion += thought
    record: dict[str, object] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
    if usage.cached_read_tokens is not None:
        record["prompt_tokens_details"] = {"cached_tokens": read}
    if usage.thought_tokens is not None:
        record["completion_tokens_details"] = {"reasoning_tokens": thought}
    return token_record(record)


def _counts(usage: Usage) -> list[int]:
    """Return every count of a turn that is there."""
    counts = [getattr(usage, name) for name in usage.__struct_fields__]
    return [count for count in counts if isinstance(count, int)]
