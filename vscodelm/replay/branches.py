"""The branches of a chat, for a person: which conversation shares how many exchanges with which."""

from __future__ import annotations

from collections.abc import Iterator

from bridge.inspection.steps import Line
from bridge.routing.index import ConversationKey


def drawn(found: list[Line]) -> Iterator[str]:
    """Yield which conversations share a beginning, as a tree; nothing if none does."""
    if not any(line.origin is not None for line in found):
        return
    yield "branches"
    for line in found:
        if line.origin is None and any(other.origin == line.conversation for other in found):
            yield f"  conversation {line.conversation}: {_exchanges(line.exchanges)}"
            yield from _grown(found, line.conversation, 1)


def _grown(found: list[Line], origin: ConversationKey, depth: int) -> Iterator[str]:
    for line in found:
        if line.origin == origin:
            name = f"conversation {line.conversation}: {_exchanges(line.exchanges)}"
            yield f"  {'   ' * (depth - 1)}+- {name}, the first {line.shared} shared"
            yield from _grown(found, line.conversation, depth + 1)


def _exchanges(number: int) -> str:
    return "1 exchange" if number == 1 else f"{number} exchanges"
