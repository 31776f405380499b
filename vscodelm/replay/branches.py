"""The branches of a chat, for a person: which conversation shares how many exchanges with which."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.inspection.steps import Branch
from bridge.routing.index import ConversationKey


def drawn(found: list[Branch]) -> Iterator[str]:
    """Yield which conversations share a beginning, as a tree; nothing if none does."""
    if not any(branch.origin is not None for branch in found):
        return
    yield "branches"
    for branch in found:
        if branch.origin is None and any(other.origin == branch.conversation for other in found):
            yield f"  conversation {branch.conversation}: {_exchanges(branch.exchanges)}"
            yield from _grown(found, branch.conversation, 1)


def _grown(found: list[Branch], origin: ConversationKey, depth: int) -> Iterator[str]:
    for branch in found:
        if branch.origin == origin:
            name = f"conversation {branch.conversation}: {_exchanges(branch.exchanges)}"
            yield f"  {'   ' * (depth - 1)}+- {name}, the first {branch.shared} shared"
            yield from _grown(found, branch.conversation, depth + 1)


def _exchanges(number: int) -> str:
    return "1 exchange" if number == 1 else f"{number} exchanges"
