"""How a request relates to a conversation: it extends it, supersedes its end, or leaves it earlier.

Exact first; then by the rules of `bridge.rules`, if something proves that it is this conversation.
All functions are total and compare canonical forms only. That nothing is lost shows in the result:
what stands before `new_from` is accounted for, what stands at it and after is new.
"""

from __future__ import annotations

from msgspec.structs import replace

from .align import Alignment, align, items_of
from .history import Diverges, Ending, Exchange, Extends, History, Match, Phase, Supersedes
from .message import Message
from .rules import Rule

Path = tuple[Message, ...]


def opening(incoming: Path) -> Extends:
    """Return how a request begins a conversation: what follows the last answer in it is new."""
    last = max((i for i, message in enumerate(incoming) if message.role == "assistant"), default=-1)
    return Extends(last + 1)


def exact(history: History, incoming: Path, *, keep: bool = False) -> Match | Diverges | None:
    """Return how `incoming` relates to a history that it repeats word for word; None if it doesn't.

    `keep`: a withdrawn answer doesn't get a branch of its own (`settings.rewind` "continue").
    """
    base = len(history.committed_path)
    if list(incoming[:base]) != history.committed_path:
        return None
    if history.provisional is None:
        return Extends(base) if base else opening(incoming)
    asked, answer = history.provisional.asked, history.answer
    here = base + len(asked)
    if incoming[base:here] != asked:
        return withdraw(history, base, again=False, keep=keep)
    if len(incoming) == here:
        return withdraw(history, base, again=True, keep=keep)
    if answer is not None and incoming[here] == answer:
        return Extends(here + 1)
    if history.provisional.ending is not Ending.COMPLETE and may_go_on(history):
        return Extends(here, frozenset({Rule.ANSWER_ABSENT}))
    return withdraw(history, base, again=False, keep=keep)


def may_go_on(history: History) -> bool:
    """Return whether a question whose answer was cut short may be followed by another.

    While the first answer of all streams, it is another chat with the same opening.
    """
    return history.phase is not Phase.STREAMING or bool(history.committed)


def withdraw(
    history: History, new_from: int, *, again: bool, keep: bool = False
) -> Supersedes | Diverges | None:
    """Return what it means that the provisional exchange isn't in a request that shares the rest.

    It needs evidence: a committed exchange that both share, or the very same question `again` after
    it was settled. An empty committed history proves nothing. An answer that is complete stays, as
    a branch that the user may come back to; one that streams, waits or was cut short is withdrawn.
    """
    settled = history.phase is not Phase.STREAMING
    if not history.committed and not (again and settled):
        return None
    provisional = history.provisional
    waits = provisional is not None and provisional.answer is not None and provisional.answer.calls
    complete = provisional is not None and provisional.ending is Ending.COMPLETE
    if settled and complete and not waits and not keep:
        return Diverges(len(history.committed), new_from, again)
    return Supersedes(new_from)


def tolerant(
    history: History, incoming: Path, *, known: bool = False, keep: bool = False
) -> Match | Diverges | None:
    """Return how `incoming` relates to a history that it repeats in other words.

    `known`: the host says that it is this conversation. Otherwise an answer, or a call, of ours
    must have come back, because users of two chats may well type the same.
    """
    record = [*history.committed]
    if history.provisional is not None:
        record.append(_as_shown(history, history.provisional))
    items = items_of(record)
    if not items:
        return None
    found = align(items, incoming)
    if not (found.proof or (known and found.consumed)):
        return None
    if found.recorded == len(items):
        if found.consumed == len(incoming) and incoming[-1].role == "user":
            begins = found.starts[items[-1].exchange]
            return _with_rules(withdraw(history, begins, again=True, keep=keep), found)
        return Extends(found.consumed, found.rules) if may_go_on(history) else None
    stopped = items[found.recorded]
    begins = found.starts[stopped.exchange]
    again = stopped.is_answer and found.consumed == len(incoming)
    if stopped.exchange == len(history.committed):
        return _with_rules(withdraw(history, begins, again=again, keep=keep), found)
    return Diverges(stopped.exchange, begins, again, found.rules)


def _as_shown(history: History, provisional: Exchange) -> Exchange:
    return Exchange(provisional.asked, history.answer, provisional.ending)


def _with_rules(
    match: Supersedes | Diverges | None, found: Alignment
) -> Supersedes | Diverges | None:
    match match:
        case Supersedes():
            return replace(match, rules=found.rules)
        case Diverges():
            return replace(match, rules=found.rules)
        case None:
            return None
