"""The sessions that stand before other ones."""

from __future__ import annotations

from agents.base import AgentSession, WrappedSession


def test_a_wrapped_session_passes_on_every_member_of_a_session() -> None:
    """A member that is left out would be that of the protocol, which returns None."""
    members = {name for name in vars(AgentSession) if not name.startswith("_")}
    assert {"handle", "lost", "run", "cancel"} <= members
    assert members <= vars(WrappedSession).keys()
