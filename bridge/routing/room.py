"""Choose the conversations that end so that there is room for others. Pure.

Idle conversations end first, the least recently used before the others. If that isn't enough, those
that wait for the user end, the one that has waited longest before the others. A conversation that
is being answered never ends to make room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from bridge.history.message import Message
from bridge.routing.index import ConversationKey
from bridge.value import Value

MOST_KEPT_BYTES = 128 * 1024 * 1024
"""Bytes of the newest requests of all conversations together; more of them end idle ones. The
conversation that was asked last counts for half of them at most."""
MOST_DENIALS = 1_000
"""Denied calls whose reasons are kept until their users come back."""

TOO_MANY = "{limit} sessions with one agent are the limit (`maxSessions`)"
TOO_LARGE = "the chats took more than {limit} MiB of memory together"
NOTICE = (
    "*{reason}, so the session of this chat was closed and its question denied: it had waited "
    "longest for an answer. A new session gets the chat's text.*\n\n"
)


class Occupant(Value):
    """A conversation, as far as it takes room."""

    key: ConversationKey
    size: int
    """Bytes of its newest request."""
    is_busy: bool
    """Whether it is being answered."""
    waits_since: float | None
    """When it put its question to the user; None: it waits for nothing."""


def giving_way(
    occupants: Iterable[Occupant],
    excess: int,
    weigh: Callable[[Occupant], int] = lambda _: 1,
    *,
    spare_questions: bool = False,
) -> list[Occupant]:
    """Return those that end so that `excess` is gone, as far as there are such.

    `occupants` come with the least recently used first. With `spare_questions` none ends that waits
    for the user.
    """
    free = [one for one in occupants if not one.is_busy]
    idle = [one for one in free if one.waits_since is None]
    asking = [] if spare_questions else [one for one in free if one.waits_since is not None]
    asking.sort(key=lambda one: one.waits_since or 0.0)
    chosen: list[Occupant] = []
    for one in (*idle, *asking):
        if excess <= 0:
            break
        chosen.append(one)
        excess -= weigh(one)
    return chosen


@attrs.define(eq=False, repr=False)
class Denials:
    """The questions that were denied to make room, until their users have seen the reason."""

    _reasons: dict[str, str] = attrs.field(factory=dict[str, str], init=False)
    """By the ids of the calls."""

    def note(self, calls: Iterable[str], reason: str) -> None:
        """Remember why calls were denied; only the newest `MOST_DENIALS` are remembered."""
        self._reasons.update(dict.fromkeys(calls, reason))
        while len(self._reasons) > MOST_DENIALS:
            del self._reasons[next(iter(self._reasons))]

    def notices(self, path: Sequence[Message]) -> list[str]:
        """Return the message to a chat's user about its denied calls, once."""
        if not self._reasons:
            return []
        ids = {id_ for message in path for id_ in _calls_in(message)}
        reasons = [self._reasons.pop(id_) for id_ in list(self._reasons) if id_ in ids]
        return [
            NOTICE.format(reason=reason[0].upper() + reason[1:])
            for reason in dict.fromkeys(reasons)
        ]


def _calls_in(message: Message) -> Iterable[str]:
    return (*(call.call_id for call in message.calls), *message.results)
