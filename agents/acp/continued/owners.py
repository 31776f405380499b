"""Remember which chat has a session that a user continued. Pure.

The same session may have been another chat's, or be shown in two. It belongs to the newest chat
that showed it, and the handles of the others don't open it any more. The memory of sessions says
the same beyond this process.
"""

from __future__ import annotations

import attrs

from agents.acp.handles import SessionHandle

MOST_OWNERS = 1_000
"""Continued sessions whose newest owner is known; the oldest is forgotten first."""


@attrs.define(eq=False, repr=False)
class Owners:
    """The newest handle of each session that a user continued, by its id."""

    _handles: dict[str, SessionHandle] = attrs.field(factory=dict[str, SessionHandle], init=False)

    def give(self, handle: SessionHandle) -> None:
        """Note that nobody else has the session from now on."""
        self._handles.pop(handle.session_id, None)
        self._handles[handle.session_id] = handle
        if len(self._handles) > MOST_OWNERS:
            del self._handles[next(iter(self._handles))]

    def rename(self, former: SessionHandle, handle: SessionHandle) -> None:
        """Note that the owner has another handle of its session now."""
        if self._handles.get(former.session_id) == former:
            self._handles[former.session_id] = handle

    def may_open(self, handle: SessionHandle) -> bool:
        """Return whether a handle is that of the newest owner, or nobody has continued it."""
        return self._handles.get(handle.session_id, handle) == handle
