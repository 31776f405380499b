"""Decide whether a request extends a conversation, supersedes its end, or leaves it earlier.

Exact first; then by the rules of `bridge.history.rules`, if something proves that it is this
conversation. All functions are total and compare canonical forms only. No message is lost: those
before `new_from` are accounted for, those at it and after are new.
"""

from __future__ import annotations

from typing import assert_never

from msgspec.structs import replace

from bridge.history.exchange import Diverges, Ending, Exchange, Extends, Match, Supersedes
from bridge.history.machine import History, Phase
from bridge.history.message import Message
from bridge.history.rules import Rule
from bridge.value import Value

from .align import Alignment, align, is_summary, items_of

Path = tuple[Message, ...]


class Asks(Value):
    """Properties of an editor's requests that aren't in the requests themselves."""

    keep: bool = False
    """A withdrawn answer doesn't get a branch of its own (`settings.rewind` "continue")."""
    cancels: bool = False
    """The editor cancels answers that it no longer wants. A streaming answer is therefore still
    wanted, for example by the original chat of a fork."""
    is_session: bool = False
    """VS Code's Agent Host names this very chat. It never tells of a stop."""


NOTHING_SPECIAL = Asks()


def opening(incoming: Path) -> Extends:
    """Return how a request begins a conversation: what follows the last answer in it is new."""
    last = max((i for i, message in enumerate(incoming) if message.role == "assistant"), default=-1)
    return Extends(last + 1)


def told_before(incoming: Path, new_from: int) -> int:
    """Return how many messages a session knows, or receives as its record, at its first request.

    They include messages from `new_from` on that its conversation doesn't have, up to the last
    answer. This answer may come from an ended branch of the chat or from another agent.
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
    if incoming[here].role == "assistant":
        return withdraw(history, base, again=False, asks=asks)
    unfinished = history.provisional.ending is not Ending.COMPLETE
    if unfinished and may_go_on(history, asks):
        return Extends(here, frozenset({Rule.ANSWER_ABSENT}) if answer else frozenset())
    if asks.is_session and answer is not None and not answer.calls:
        return Extends(here, frozenset({Rule.ANSWER_UNSEEN}))
    return withdraw(history, base, again=False, asks=asks)


def asks_again(history: History, incoming: Path) -> bool:
    """Return whether `incoming` is the newest request word for word: then no rule is needed."""
    asked = history.provisional.asked if history.provisional is not None else ()
    base = len(history.committed_path)
    return incoming[base:] == asked and list(incoming[:base]) == history.committed_path


def may_go_on(history: History, asks: Asks) -> bool:
    """Return whether a question whose answer was cut short may be followed by another.

    While the first answer of all streams, it is another chat with the same opening, unless the host
    names its chats.
    """
    return history.phase is not Phase.STREAMING or history.is_acknowledged or asks.is_session


def answered_by_another(incoming: Path, here: int) -> bool:
    """Return whether the last question before `here` has an answer there that we never gave.

    It was asked of another agent, or it is another chat's, which is further than ours. The question
    behind an answer after a summary is unknown.
    """
    if is_summary(incoming[here - 1]):
        return False
    return [message.role for message in incoming[here - 1 : here + 1]] == ["user", "assistant"]


def withdraw(
    history: History, new_from: int, *, again: bool, asks: Asks = NOTHING_SPECIAL
) -> Supersedes | Diverges | None:
    """Decide about a provisional exchange that is missing in a request with the same beginning.

    It needs evidence: an answer that was acknowledged and that both share, or the very same
    question `again` after it was settled. The user's words prove nothing, because two users may
    type the same. A complete answer stays, as a branch that the user may return to. An answer that
    waits or was cut short is withdrawn. So is a streaming one, unless the host would have cancelled
    it.
    """
    settled = history.phase is not Phase.STREAMING
    if not history.is_acknowledged and not (again and (settled or asks.is_session)):
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

    `known`: the host says that it is this conversation. Otherwise one of our answers or calls
    must have come back, because users of two chats may well type the same.
    """
    record = [*history.committed]
    if history.provisional is not None:
        record.append(_as_shown(history, history.provisional))
    items = items_of(record)
    if not items:
        return None
    found = align(items, incoming, may_be_unseen=asks.is_session)
    if not (found.proof or (known and found.consumed)):
        return None
    if found.recorded == len(items):
        if found.consumed == len(incoming) and incoming[-1].role == "user":
            begins = found.starts[items[-1].exchange]
            if begins == len(incoming):
                return None  # a summary stands for all of it, and nothing is asked after it
            return _with_rules(withdraw(history, begins, again=True, asks=asks), found)
        if _is_busy(history) and answered_by_another(incoming, found.consumed):
            # The request continues another answer than ours, which is still streaming.
            begins = found.starts[items[-1].exchange]
            return _with_rules(withdraw(history, begins, again=False, asks=asks), found)
        goes_on = found.proof or may_go_on(history, asks)
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
