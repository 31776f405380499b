"""What it means where an agent has a session again, and doesn't connect to its server.

Some agents ignore the servers that they are given with a session to load. Others keep the servers
of a process by their names: they don't connect to another one of a name that they have had. Either
way the chat has lost the editor's tools, and nobody is told.
"""

from __future__ import annotations

from bridge.value import Value

from .learned import AgentFacts, Fact
from .methods import FORK_SESSION, LOAD_SESSION, RESUME_SESSION

GOES_ON_WITHOUT = (
    "*This agent has gone on with the chat without the editor's tools. It gets them with your next "
    "message.*"
)
_WITHOUT_TOOLS = {
    LOAD_SESSION.name: Fact.LOAD_WITHOUT_TOOLS,
    RESUME_SESSION.name: Fact.RESUME_WITHOUT_TOOLS,
    FORK_SESSION.name: Fact.FORK_WITHOUT_TOOLS,
}
"""What an agent has shown that ignores the server, by the method."""


class Reopened(Value):
    """How an agent had a session again: by which method, and with which server.

    `is_name_used` where its process was given a server of that name before.
    """

    way: str
    is_name_used: bool = False


def loses_tools(facts: AgentFacts, way: str) -> bool:
    """Return whether the agent ignores the servers that it is given in that way."""
    return facts.has(_WITHOUT_TOOLS[way])


def lesson(reopened: Reopened, facts: AgentFacts) -> Fact:
    """Return what an agent has shown that didn't connect to the server of such a session.

    It may have ignored the server for its name. Then another name helps, so that comes first.
    """
    if reopened.is_name_used and not facts.has(Fact.KEEPS_SERVERS):
        return Fact.KEEPS_SERVERS
    return _WITHOUT_TOOLS[reopened.way]
