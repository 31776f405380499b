"""The tokens and the cost of a turn and its chat, in the words of VS Code: its `usage` record."""

from __future__ import annotations

from msgspec.structs import replace

from agents.acp.schema.methods import Usage
from agents.acp.schema.updates import UsageUpdate
from agents.acp.text.facts import cost_of
from agents.events import Attach
from agents.ledger import SessionRecord
from agents.token_record import MOST_TOKENS, token_record
from bridge.value import Value


class TurnTokens(Value):
    """The tokens of a turn as VS Code counts them: cached ones belong to the prompt."""

    prompt: int
    completion: int
    cached: int | None = None
    thought: int | None = None

    @classmethod
    def of(cls, usage: Usage) -> TurnTokens | None:
        """Return the tokens; None where the agent doesn't know (0 after a cancel).

        Some agents count cached tokens among the input, as VS Code does, and others apart: the
        total tells.
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
        return cls(prompt, completion, usage.cached_read_tokens, usage.thought_tokens)


def context_usage(update: UsageUpdate) -> Attach | None:
    """Return the record of what is in the agent's context, and of the cost; None without both."""
    context = _context(update)
    return token_record(context) if context else None


def newest_usage(before: UsageUpdate | None, update: UsageUpdate) -> UsageUpdate:
    """Return an update, with the context of the one before where it has only a cost."""
    if before is None or _knows_context(update) or update.cost is None:
        return update
    return replace(before, cost=update.cost)


def final_usage(
    context: UsageUpdate | None, turn: TurnTokens | None, chat: SessionRecord
) -> Attach | None:
    """Return the last record of a turn; None where nothing is known beyond the former ones.

    The editor needs the size of the context. The tokens of the turn are the next best.
    """
    if turn is None:
        return None
    known = {} if context is None else _context(context)
    record = known if "total_tokens" in known else _turn(turn) | known
    record["turn"] = _tokens(turn.prompt, turn.completion)
    record["chat"] = _tokens(chat.prompt_tokens, chat.completion_tokens)
    return token_record(record)


def _knows_context(update: UsageUpdate) -> bool:
    """Return whether the agent knows what is in its context: 0 means that it doesn't."""
    return 0 < update.used <= MOST_TOKENS


def _context(update: UsageUpdate) -> dict[str, object]:
    record: dict[str, object] = {}
    if _knows_context(update):
        record = _tokens(update.used, 0)
        if 0 < update.size <= MOST_TOKENS:
            record["context_window"] = update.size
    cost = cost_of(update.cost)
    if cost is not None:
        record["cost"] = {"amount": cost.amount, "currency": cost.currency}
    return record


def _turn(turn: TurnTokens) -> dict[str, object]:
    record = _tokens(turn.prompt, turn.completion)
    if turn.cached is not None:
        record["prompt_tokens_details"] = {"cached_tokens": turn.cached}
    if turn.thought is not None:
        record["completion_tokens_details"] = {"reasoning_tokens": turn.thought}
    return record


def _tokens(prompt: int, completion: int) -> dict[str, object]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _counts(usage: Usage) -> list[int]:
    """Return every count of a turn that is there."""
    counts = [getattr(usage, name) for name in usage.__struct_fields__]
    return [count for count in counts if isinstance(count, int)]
