"""Requests that VS Code's Agent Host repeats by itself.

It sends a request that failed up to six times within about 16 seconds. Each repeat gets the failure
of the first, so that nothing is done twice and the user reads the cause. A later request is the
user's own wish, and is answered anew.

It also gives up a request after ten minutes, tells nobody, and sends the same request again. That
repeat joins the turn of the first one, and gets all that was sent until then.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import attrs
import msgspec

from bridge.errors import Failure, FailureKind
from bridge.history.message import joined
from bridge.wire import DataPart, Part, TextPart

from .outcome import RoutedRequest
from .request import RequestClass

FAILED_SECONDS = 30.0
"""Seconds after a failure in which the same request is a repeat by the host."""
FINISHED_SECONDS = 30.0
"""Seconds after a complete answer in which the same request gets that answer again."""
LASTING: frozenset[FailureKind] = frozenset({"NoPermissions", "NotFound", "Blocked"})
"""Kinds of failure that a repeat at once can't change."""


def repeated_as(request: RoutedRequest) -> Hashable:
    """Return what the host's own repeats of a request are known by; None: it makes none."""
    if request.hints.session is None:
        return None
    digests = tuple(message.digest for message in request.path)
    return request.agent, request.hints.session, digests


def has_no_twin(request: RoutedRequest) -> bool:
    """Return whether an equal request of the same chat can only be a repeat.

    Two sub-agents may have the same task. But results answer the calls of only one of them.
    """
    is_led = request.request_class is RequestClass.SUB_AGENT
    return not is_led or any(message.results for message in request.path)


@attrs.define(eq=False, repr=False)
class SentParts:
    """The parts of an answer that a repeat of its request needs."""

    size: int = attrs.field(default=0, init=False)
    """Bytes, roughly."""
    _parts: list[Part] = attrs.field(factory=list["Part"], init=False)

    def add(self, parts: Sequence[Part]) -> None:
        """Keep parts that were sent."""
        self._parts += parts
        self.size += sum(map(_size, parts))

    def joined(self) -> list[Part]:
        """Return the parts in order, with adjacent texts as one."""
        return joined(self._parts)


def _size(part: Part) -> int:
    match part:
        case TextPart(value=value):
            return len(value)
        case DataPart(data=data):
            return len(data)
        case _:
            return len(msgspec.json.encode(part))


@attrs.define(eq=False, repr=False)
class FailedRequests:
    """Remembers failures for as long as they matter. Times are in seconds, on any clock."""

    _failed: dict[Hashable, tuple[float, Failure]] = attrs.field(
        factory=dict["Hashable", "tuple[float, Failure]"], init=False
    )

    def note(self, request: Hashable, failure: Failure, now: float) -> None:
        """Remember that a request failed; None: the host doesn't repeat it."""
        if request is not None:
            self._failed[request] = now, failure

    def known(self, request: Hashable, now: float) -> Failure | None:
        """Return the failure that a request repeats, None if there is none."""
        self._failed = {
            one: (at, failure)
            for one, (at, failure) in self._failed.items()
            if now - at < FAILED_SECONDS
        }
        return self._failed[request][1] if request in self._failed else None
