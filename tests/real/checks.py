"""The checks that each real agent undergoes: their names, and how a test becomes one of them.

    @check("second turn")
    async def test_the_second_turn_knows_the_first(site: Site) -> None: ...

A check may have several tests; each is run with every agent. What they come to is a table, which
`outcomes` makes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from .agents import ALL_AGENTS
from .real_agent import RealAgent
from .stage import Check, Stage

CHECKS = {
    "answer": "a first message is answered",
    "second turn": "the model knows the first turn, once",
    "allow": "an action that is allowed is done, and no sooner",
    "deny": "an action that is denied isn't done, and the chat goes on",
    "editor tool": "a tool of the editor's is called, its result reaches the model, and nobody is "
    "asked twice",
    "two at once": "two calls in one answer of the model's each get their own result",
    "stop in text": "an answer stops in the middle, and the next is clean",
    "stop in a tool": "a running tool, the agent's or the editor's, is left, and the chat goes on",
    "stop in a question": "a question is left unanswered or skipped, and the chat goes on",
    "edit": "what was taken back is unknown to the model",
    "retry": "an answer that is asked for again is given again, to the same words",
    "reload": "after a restart of vscodelm the model knows all of the chat, once",
    "session lost": "the same, where the agent has lost what it kept",
    "image": "the model sees an image",
    "two chats": "two chats that call tools and ask questions at once stay apart",
    "killed": "an agent that is killed, in a turn or before it, is replaced by one that knows all",
    "choices": "another model, mode and effort are chosen and chosen back, in one session; the "
    "table has those that can be",
    "context": "what the user attached reaches the model, and the editor's own words do if wanted",
    "quiet log": "vscodelm logs no warning and no error in all of this",
    "processes": "how many processes two chats take, and how much memory",
}
"""What is in the table, from top to bottom, and what each check shows."""
SHORT = frozenset(
    {"answer", "second turn", "allow", "deny", "editor tool", "stop in text", "edit", "reload"}
    | {"two chats"}
)
"""The checks of the short form."""


def is_short(agent: RealAgent, check: str | None = None) -> bool:
    """Return whether the short form has an agent, and a check of it.

    It has the agents that vscodelm comes with, and fast-agent. The rest takes minutes to install.
    """
    is_installed = agent.ready is not None or agent.part == "fast-agent"
    return is_installed and (check is None or check in SHORT)


def check(name: str) -> Callable[[Check], Callable[[Stage], None]]:
    """Make an asynchronous function a test of a check, with every agent."""
    assert name in CHECKS

    def wrapped(body: Check) -> Callable[[Stage], None]:
        def test(stage: Stage) -> None:
            stage.run(body)

        test.__name__ = test.__qualname__ = getattr(body, "__name__", name)
        test.__doc__ = inspect.getdoc(body)
        test.__module__ = body.__module__
        agents = [
            pytest.param(
                agent,
                id=agent.name,
                marks=[
                    pytest.mark.xdist_group(agent.name),
                    *([] if is_short(agent, name) else [pytest.mark.thorough]),
                ],
            )
            for agent in ALL_AGENTS
        ]
        each = pytest.mark.parametrize("stage", agents, indirect=True, scope="session")
        return each(pytest.mark.check(name)(test))

    return wrapped
