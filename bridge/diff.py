"""How a request relates to a conversation: it extends it, supersedes its end, or leaves it earlier.

Exact first; then by the rules of `bridge.rules`, if something proves that it is this conversation.
All functions are total and compare canonical forms only. That nothing is lost shows in the result:
what stands before `new_from` is accounted for, what stands at it and after is new.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from .align import Alignment, align, is_summary, items_of
from .exchange import Ending, Exchange
from .history import History, Phase
from .match import Diverges, Extends, Match, Supersedes
from .message import Message
from .rules import Rule
from .value import Value

Path = tuple[Message, ...]


class Asks(Value):
    """How an editor asks for what it doesn't say with a request."""

    keep: bool = False
    """A withdrawn answer doesn't get a branch of its own (`settings.rewind` "continue")."""
    cancels: bool = False
    """It says when it no longer wants an answer, so one that streams is still wanted, maybe by a
    fork of the chat that shares all that was acknowledged."""


NOTHING_SPECIAL = Asks()


def opening(incoming: Path) -> Extends:
    """Return how a request begins a conversation: what follows the last answer in it is new."""
    last = max((i for i, message in enumerate(incoming) if message.role == "assistant"), default=-1)
    return Extends(last + 1)


def told_before(incoming: Path, new_from: int) -> int:
    """Return how many messages a session is told, or knows, that begins with a request.

    What its conversation has no record of, from `new_from` on, is among them, up to an answer of
    whoever: of a line of the chat that isn't live any more, or of another agent.
    """
    answered = opening(incoming).new_from
    is_asked = answered < len(incoming)
    return max(new_from, answered) if is_asked else new_from


def exact(
    history: History, incoming: Path, *, asks: Asks = NOTHING_SPECIAL
) -> Match | Diverges | None:
    """Return how `incoming` relates to a history that it repeats word for word; None if not."""
    base = len(history.committed_path)
    if list(incoming[:base]) != history.committed_path:
        return None
    if history.provisional is None:
        return Extends(base) if base else opening(incoming)
    if len(incoming) == base:
        return None  # it ends with an answer that was built upon: it asks nothing
    asked, answer = history.provisional.asked, history.answer
    here = base + len(asked)
    if incoming[base:here] != asked:
        return withdraw(history, base, again=False, asks=asks)
    if len(incoming) == here:
        return withdraw(history, base, again=True, asks=asks)
    if answer is not None and incoming[here] == answer:
        return Extends(here + 1)
    unfinished = history.provisional.ending is not Ending.COMPLETE
    if unfinished and incoming[here].role != "assistant" and may_go_on(history):
        return Extends(here, frozenset({Rule.ANSWER_ABSENT}) if answer else frozenset())
    return withdraw(history, base, again=False, asks=asks)


def asks_again(history: History, incoming: Path) -> bool:
    """Return whether `incoming` is the newest request word for word: then no rule is needed."""
    asked = history.provisional.asked if history.provisional is not None else ()
    base = len(history.committed_path)
    return incoming[base:] == asked and list(incoming[:base]) == history.committed_path


def may_go_on(history: History) -> bool:
    """Return whether a question whose answer was cut short may be followed by another.

    While the first answer of all streams, it is another chat with the same opening.
    """
    return history.phase is not Phase.STREAMING or history.is_acknowledged


def answered_by_another(incoming: Path, here: int) -> bool:
    """Return whether the last question before `here` has an answer there that we never gave.

    It was asked of another agent, or it is another chat's, which is further than ours. What follows
    a summary answers nobody knows what.
    """
    if is_summary(incoming[here - 1]):
        return False
    return [message.role for message in incoming[here - 1 : here + 1]] == ["user", "assistant"]


def withdraw(
    history: History, new_from: int, *, again: bool, asks: Asks = NOTHING_SPECIAL
) -> Supersedes | Diverges | None:
    """Return what it means that the provisional exchange isn't in a request that shares the rest.

    It needs evidence: an answer that was acknowledged and that both share, or the very same
    question `again` after it was settled. What users type proves nothing, because two may type the
    same. An answer that is complete stays, as a branch that the user may come back to; one that
    waits or was cut short is withdrawn; so is one that streams, unless the host would have said so.
    """
    settled = history.phase is not Phase.STREAMING
    if not history.is_acknowledged and not (again and settled):
        return None
    provisional = history.provisional
    waits = provisional is not None and provisional.answer is not None and provisional.answer.calls
    complete = provisional is not None and provisional.ending is Ending.COMPLETE
    if settled and complete and not waits and not asks.keep:
        return Diverges(len(history.committed), new_from, again)
    if not settled and asks.cancels:
        return Diverges(len(history.committed), new_from, again)
    return Supersedes(new_from)


def tolerant(
    history: History, incoming: Path, *, known: bool = False, asks: Asks = NOTHING_SPECIAL
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
            if begins == len(incoming):
                return None  # a summary stands for all of it, and nothing is asked after it
            return _with_rules(withdraw(history, begins, again=True, asks=asks), found)
        if _is_busy(history) and answered_by_another(incoming, found.consumed):
            # Whoever goes on from another answer has no business with ours, which is still at work.
            begins = found.starts[items[-1].exchange]
            return _with_rules(withdraw(history, begins, again=False, asks=asks), found)
        goes_on = found.proof or may_go_on(history)
        return Extends(found.consumed, found.rules) if goes_on else None
    stopped = items[found.recorded]
    begins = found.starts[stopped.exchange]
    if begins == len(incoming):
        return None  # it asks nothing
    again = stopped.is_answer and found.consumed == len(incoming)
    if stopped.exchange == len(history.committed):
        return _with_rules(withdraw(history, begins, again=again, asks=asks), found)
    return Diverges(stopped.exchange, begins, again, found.rules)


def _is_busy(history: History) -> bool:
    """Return whether the newest turn streams, or waits for the results of calls."""
    newest, answer = history.provisional, history.answer
    complete = newest is not None and newest.ending is Ending.COMPLETE
    waits = complete and answer is not None and bool(answer.calls)
    return history.phase is Phase.STREAMING or waits


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
        case _:
            assert_never(match)
