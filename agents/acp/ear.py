"""A session, as the reader of a connection knows it."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from bridge.errors import Failure
from bridge.wire import RequestId

from .methods import (
    CancelledPermissionOutcome,
    RequestPermissionRequest,
    RequestPermissionResponse,
)
from .updates import SessionUpdate

PermissionId: TypeAlias = RequestId | None

CANCELLED = RequestPermissionResponse(CancelledPermissionOutcome())


class Ear(Protocol):
    """What hears what is said of a session. Nothing here waits but `room`."""

    def hear(self, update: SessionUpdate) -> None:
        """Take an update in."""
        ...

    def be_asked(self, id_: PermissionId, request: RequestPermissionRequest) -> None:
        """Take a permission request in, which must be answered once."""
        ...

    def be_unasked(self, id_: PermissionId) -> bool:
        """Take a permission request back that isn't answered; return whether there was one."""
        ...

    async def room(self) -> None:
        """Wait until more can be taken in."""
        ...

    def lose(self, failure: Failure) -> None:
        """Hear that the agent is gone."""
        ...
