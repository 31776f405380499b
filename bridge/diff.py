"""How a request relates to a conversation: it extends it, supersedes its end, or neither.

Both functions are total and compare canonical forms only. That nothing is lost shows in the result:
what stands before `new_from` is known, what stands at it and after is new.
"""

from __future__ import annotations

from .history import Ending, Extends, History, Match, Phase, Supersedes
from .message import Message

Path = tuple[Message, ...]


def opening(incoming: Path) -> Extends:
    """Return how a request begins a conversation: what follows the last answer in it is new."""
    last = max((i for i, message in enumerate(incoming) if message.role == "assistant"), default=-1)
    return Extends(last + 1)


def diff(history: History, incoming: Path) -> Match | None:
    """Return how `incoming` relates to `history`, None if it is another conversation.

    A supersession needs evidence (docs/explanation/routing.md): a committed exchange that both
    share, or the very same request again after it was settled. An empty committed history proves
    nothing.
    """
    base = len(history.committed_path)
    if list(incoming[:base]) != history.committed_path:
        return None
    if history.provisional is None:
        return Extends(base) if base else opening(incoming)
    asked, answer = history.provisional.asked, history.answer
    settled = history.phase is not Phase.STREAMING
    here = base + len(asked)
    if incoming[base:here] == asked:
        if len(incoming) == here:
            return Supersedes(base) if base or settled else None
        if answer is not None and incoming[here] == answer:
            return Extends(here + 1)
        if history.provisional.ending is not Ending.COMPLETE and (base or settled):
            # An answer that was cut short may be left out by the host; the question was asked all
            # the same. While it streams, this is how a host without cancellation says stop.
            return Extends(here, echoed=False)
    return Supersedes(base) if 0 < base < len(incoming) else None
