"""What `initialize` advertises is handled, what is handled is advertised, and a page tells both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

import msgspec
import pytest

from agents.acp.processes.process import CAPABILITIES
from agents.acp.schema import methods, updates
from agents.acp.schema.coverage import CLIENT_CAPABILITIES, METHODS, UPDATES
from agents.acp.schema.elicitation import COMPLETE_ELICITATION
from agents.acp.schema.files import FILE_REQUESTS
from bridge.errors import METHOD_NOT_FOUND
from tests.fakes.acp_agents import agent_in_process

from .protocol_schema import definitions, needs_schema
from .schema_names import differences
from .talk import answer_to, asking

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
KNOWN = {
    str(kind.__struct_config__.tag)
    for kind in cast("tuple[type[msgspec.Struct], ...]", get_args(updates.SessionUpdate))
} - {"?"}
"""The kinds of update that are read."""
SENT = {
    *(method.name for method in methods.METHODS if method is not methods.SET_MODEL),
    methods.CANCEL,
}
FROM_AGENTS = [entry for entry in METHODS if entry.side == "client"]


def leaves(value: JSON) -> set[str]:
    """Return the paths of a capability's parts that are advertised."""
    found: set[str] = set()
    for key, part in value.items():
        if key == "_meta" or part in (None, False):
            continue
        within = leaves(cast("JSON", part)) if isinstance(part, dict) else set[str]()
        found |= {f"{key}.{path}" for path in within} or {key}
    return found


def test_what_is_advertised_is_what_is_handled() -> None:
    """A capability is handled if all that it promises is, and it is stable."""
    advertised = leaves(cast("JSON", msgspec.to_builtins(CAPABILITIES)))
    answered = {entry.name for entry in METHODS if entry.how != "ignored"}
    handled = {
        entry.name
        for entry in CLIENT_CAPABILITIES
        if entry.is_stable and set(entry.serves) <= KNOWN | answered
    }
    assert advertised == handled
    assert all(entry.serves for entry in CLIENT_CAPABILITIES)


def test_the_table_says_which_capabilities_are_advertised() -> None:
    advertised = leaves(cast("JSON", msgspec.to_builtins(CAPABILITIES)))
    assert {entry.name for entry in CLIENT_CAPABILITIES if entry.how != "ignored"} == advertised


def test_the_table_says_which_updates_are_read() -> None:
    assert {entry.name for entry in UPDATES if entry.how != "ignored"} == KNOWN


def test_the_table_says_which_methods_are_sent() -> None:
    to_agents = {entry.name for entry in METHODS if entry.side == "agent"}
    told = {entry.name for entry in METHODS if entry.side == "agent" and entry.how != "ignored"}
    assert told == SENT
    assert to_agents >= SENT


@pytest.mark.parametrize("entry", FROM_AGENTS, ids=lambda entry: entry.name)
async def test_the_table_says_which_requests_of_an_agent_are_answered(
    entry: Any, autojump_clock: MockClock
) -> None:
    if entry.name in (methods.UPDATE, COMPLETE_ELICITATION, *FILE_REQUESTS):
        return  # notifications, and requests about files, which other tests are about
    params: JSON = {"sessionId": "session-1", "toolCall": {"toolCallId": "c"}, "options": []}
    params |= {"message": "Your name?", "mode": "form", "requestedSchema": {"type": "object"}}
    steps = [{"request": entry.name, "params": params}, {"await": True}, {"say": "ok"}]
    script = {"turns": [[{"say": "ok"}], steps]}
    async with agent_in_process(script) as (agent, peers), agent.session(asking("x")) as session:
        await answer_to(session, "x")
        turn = session.run(asking("x"))
        await turn.receive()
        await session.cancel()
        async for _ in turn:
            pass
    answers = [one for one in peers.heard if "method" not in one and "id" in one]
    codes = [one.get("error", {}).get("code") for one in answers]
    assert codes == [METHOD_NOT_FOUND if entry.how == "ignored" else None]


@needs_schema
def test_the_table_has_every_name_of_the_schema_and_no_other() -> None:
    assert differences(definitions(), definitions("unstable")) == []


@needs_schema
def test_a_name_that_the_table_lacks_is_found() -> None:
    unstable = definitions("unstable")
    variant: JSON = {"properties": {"sessionUpdate": {"const": "dance"}}}
    more: JSON = {
        **unstable,
        "SessionUpdate": {"oneOf": [*unstable["SessionUpdate"]["oneOf"], variant]},
        "DanceRequest": {"x-side": "client", "x-method": "dance/begin"},
        "NoticeCapabilities": {"properties": {"dances": {}}},
    }
    assert differences(definitions(), more) == [
        "the table lacks the method ('client', 'dance/begin')",
        "the table lacks the update ('', 'dance')",
        "the table lacks the capability of ours ('', 'session.notices.dances')",
    ]
    stable = {
        key: value for key, value in definitions().items() if value.get("x-method") != "logout"
    }
    assert differences(stable, unstable) == [
        "the method ('agent', 'logout') is unstable in the schema"
    ]
