"""Which agent answers for a definition, and where its processes live."""

from __future__ import annotations

from typing import Any

from agents.acp.agent import AcpAgent
from agents.directory import open_directory
from agents.eliza import ElizaAgent
from agents.open_responses.agent import OpenResponsesAgent
from bridge.models import AgentChoice
from tests.fakes.acp_agents import child_program
from tests.fakes.editor import connected_to, user

ACP = {"name": "fake", "command": "fake-acp", "args": ["--x"]}


def choice(**definition: Any) -> AgentChoice:
    return AgentChoice.of(definition)


async def test_a_definition_has_one_agent_however_it_is_written() -> None:
    async with open_directory() as directory:
        agent = directory.agent_for(choice(acp=ACP))
        assert isinstance(agent, AcpAgent)
        assert directory.agent_for(choice(acp=dict(reversed(ACP.items())))) is agent
        assert directory.agent_for(choice(mcp_server=ACP)) is agent
        assert directory.agent_for(choice(acp={**ACP, "args": []})) is not agent
        assert directory.processes == 0


async def test_eliza_is_always_there() -> None:
    async with open_directory() as directory:
        assert isinstance(directory.agent_for(choice(eliza={})), ElizaAgent)


async def test_an_endpoint_s_definition_has_one_agent_with_its_further_options() -> None:
    definition = {"baseUrl": "http://127.0.0.1:1/v1", "model": "m", "top_p": 0.5, "store": True}
    async with open_directory() as directory:
        agent = directory.agent_for(choice(open_responses=definition))
        assert isinstance(agent, OpenResponsesAgent)
        assert agent.endpoint.further == {"top_p": 0.5}
        same = dict(reversed(definition.items()))
        assert directory.agent_for(choice(open_responses=same)) is agent
        other = directory.agent_for(choice(open_responses={**definition, "top_p": 1}))
        assert isinstance(other, OpenResponsesAgent)
        assert other is not agent
        assert other.endpoint.call_ids is agent.endpoint.call_ids


async def test_call_ids_are_unique() -> None:
    async with open_directory() as one, open_directory() as other:
        ids = [directory.new_call_id() for directory in (one, other) for _ in range(10)]
    assert len(set(ids)) == 20


async def test_processes_are_counted_and_end_with_the_directory() -> None:
    """What `lm/stats` tells is the directory's count; the program's group is gone at the end."""
    async with child_program({}) as child, open_directory() as directory:
        spec = child.spec()
        definition = {"acp": {"name": spec.name, "command": spec.command, "args": [*spec.args]}}
        agent = directory.agent_for(choice(**definition))
        async with connected_to(
            directory.agent_for, processes=lambda: directory.processes
        ) as editor:
            for text in ("one", "two"):
                await editor.chat([user(text)], agent=definition).settled(within=30)
            assert (await editor.call("lm/stats"))["processes"] == 1
        assert isinstance(agent, AcpAgent)
        assert agent.processes == 1
        assert len(child.living) == 1
    assert directory.processes == 0
