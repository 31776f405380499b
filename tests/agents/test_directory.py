"""The agents of definitions, and the lives of their processes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
import trio

from agents.acp.agent import AcpAgent
from agents.base import AgentError
from agents.directory import AgentDirectory, DirectoryOptions, open_directory
from agents.eliza.agent import ElizaAgent
from agents.mcp import tool_servers as toolboxes
from agents.open_responses.agent import OpenResponsesAgent
from bridge.models import AgentChoice
from tests.fakes.acp_agents import child_program
from tests.fakes.editor import Chat, connected_to, tools, user
from tests.fakes.waiting import until

if TYPE_CHECKING:
    from trio.testing import MockClock

ACP = {"name": "fake", "command": "fake-acp", "args": ["--x"]}


def choice(**definition: Any) -> AgentChoice:
    return AgentChoice.of(definition)


@asynccontextmanager
async def borrowed(directory: AgentDirectory, one: AgentChoice) -> AsyncGenerator[object]:
    """Borrow an agent, among other asynchronous contexts."""
    with directory.borrow(one) as agent:
        yield agent


async def test_a_definition_has_one_agent_however_it_is_written() -> None:
    async with open_directory() as directory, borrowed(directory, choice(acp=ACP)) as agent:
        assert isinstance(agent, AcpAgent)
        for same in (choice(acp=dict(reversed(ACP.items()))), choice(mcp_server=ACP)):
            with directory.borrow(same) as found:
                assert found is agent
        with directory.borrow(choice(acp={**ACP, "args": []})) as other:
            assert other is not agent
        assert directory.processes == 0
        assert directory.agents == 2


@pytest.mark.parametrize(
    "definition",
    [{"eliza": {}}, {"open_responses": {"baseUrl": "http://127.0.0.1:1/v1", "model": "m"}}],
)
async def test_only_an_acp_agent_has_a_login(definition: Any) -> None:
    async with open_directory() as directory:
        with pytest.raises(AgentError, match="has no login"):
            await directory.log_in(choice(**definition), "browser")
        with pytest.raises(AgentError, match="has no login"):
            await directory.log_out(choice(**definition))


async def test_eliza_is_always_there() -> None:
    async with open_directory() as directory:
        assert isinstance(directory.agent_for(choice(eliza={})), ElizaAgent)


async def test_an_endpoint_s_definition_has_one_agent_with_its_further_options() -> None:
    definition = {"baseUrl": "http://127.0.0.1:1/v1", "model": "m", "top_p": 0.5, "store": True}
    same = dict(reversed(definition.items()))
    async with (
        open_directory() as directory,
        borrowed(directory, choice(open_responses=definition)) as agent,
        borrowed(directory, choice(open_responses=same)) as found,
        borrowed(directory, choice(open_responses={**definition, "top_p": 1})) as other,
    ):
        assert isinstance(agent, OpenResponsesAgent)
        assert agent.endpoint.further == {"top_p": 0.5}
        assert found is agent
        assert isinstance(other, OpenResponsesAgent)
        assert other is not agent
        assert other.endpoint.call_ids is agent.endpoint.call_ids
        assert directory.processes == 0


async def test_call_ids_are_unique() -> None:
    async with open_directory() as one, open_directory() as other:
        ids = [directory.new_call_id() for directory in (one, other) for _ in range(10)]
    assert len(set(ids)) == 20


async def test_processes_are_counted_and_end_with_the_directory() -> None:
    """What `lm/stats` tells is the directory's count; the program's group is gone at the end."""
    async with child_program({}) as child, open_directory() as directory:
        spec = child.spec()
        definition = {"acp": {"name": spec.name, "command": spec.command, "args": [*spec.args]}}
        async with connected_to(
            directory.agent_for,
            processes=lambda: directory.processes,
            measure=directory.measure,
        ) as editor:
            for text in ("one", "two"):
                await editor.chat([user(text)], agent=definition).settled(within=30)
            stats = await editor.call("lm/stats")
            assert stats["processes"] == 1
            (process,) = stats["agentProcesses"]
            assert (process["agent"], [process["pid"]]) == ("fake", child.processes)
            assert process["processes"] == len(child.living)
            assert process["memoryBytes"] > 1_000_000
        assert directory.processes == 1
        assert len(child.living) == 1
    assert directory.processes == 0


# Agents without sessions.


async def nothing(_module: str) -> None:
    """Load no module: that takes a second."""


@pytest.mark.limit("agents.directory.IDLE_SECONDS")
async def test_agents_without_sessions_are_forgotten_with_all_that_they_keep(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token that changes makes a new definition each time."""
    monkeypatch.setattr(toolboxes, "load", nothing)
    # pytest's own folders can have names that are too long for a socket
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        await see_agents_forgotten(folder)


async def see_agents_forgotten(folder: str) -> None:
    async with trio.open_nursery() as nursery:
        directory = AgentDirectory(nursery, DirectoryOptions(idle_seconds=60))
        for number in range(20):
            with directory.borrow(choice(acp={**ACP, "args": [f"{number}"]})) as agent:
                assert isinstance(agent, AcpAgent)
                await agent.toolboxes.prepare()
        assert directory.agents == len(os.listdir(folder)) == 20
        await trio.sleep(61)
        assert directory.agents == 0
        assert os.listdir(folder) == []
        assert not nursery.child_tasks


async def test_an_agent_with_a_session_is_kept_and_so_is_one_that_gets_another_in_time(
    autojump_clock: MockClock,
) -> None:
    async with open_directory(DirectoryOptions(idle_seconds=60)) as directory:
        with directory.borrow(choice(acp=ACP)) as first:
            await trio.sleep(600)
        await trio.sleep(59)
        with directory.borrow(choice(acp=ACP)) as second:
            await trio.sleep(600)
        assert second is first
        await trio.sleep(61)
        with directory.borrow(choice(acp=ACP)) as third:
            assert third is not first


async def test_an_endpoint_s_connections_are_closed_when_it_is_forgotten(
    autojump_clock: MockClock,
) -> None:
    endpoint = {"baseUrl": "http://127.0.0.1:1/v1", "model": "m"}
    async with open_directory(DirectoryOptions(idle_seconds=60)) as directory:
        with directory.borrow(choice(open_responses=endpoint)) as agent:
            assert isinstance(agent, OpenResponsesAgent)
        await trio.sleep(61)
        assert directory.agents == 0
        assert agent.endpoint.client.is_closed


async def test_a_chat_outlives_the_agent_that_was_forgotten() -> None:
    """What a conversation has is the definition: its next session makes the agent anew."""
    definition = {"acp": {"name": "x", "command": "/no/such/command"}}
    async with (
        open_directory(DirectoryOptions(idle_seconds=0)) as directory,
        connected_to(directory.agent_for) as editor,
    ):
        chat = Chat(editor, agent=definition)
        for _ in range(2):
            request = await chat.ask("one").settled()
            assert request.error["data"]["kind"] == "NotFound"
            with trio.fail_after(5):
                while directory.agents:
                    await trio.lowlevel.checkpoint()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="descriptors are counted there")
async def test_a_definition_that_changes_leaves_no_descriptor_task_folder_or_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        async with (
            child_program({}) as child,
            trio.open_nursery() as nursery,
            connected_to(
                (directory := AgentDirectory(nursery, DirectoryOptions(idle_seconds=0.1))).agent_for
            ) as e,
        ):
            monkeypatch.setattr(tempfile, "tempdir", short)
            spec = child.spec()
            counts: list[tuple[int, int, int]] = []
            for number in range(4):
                token = {"name": "TOKEN", "value": f"{number}"}
                command = {"name": spec.name, "command": spec.command, "args": [*spec.args]}
                chat = Chat(
                    e,
                    agent={"acp": {**command, "env": [token]}},
                    options=tools("f"),
                    settings={"idleSeconds": 0.1},
                )
                request = await chat.ask("one").settled(within=30)
                assert request.text == "ok"
                await until(lambda: directory.agents == 0 and child.living == [])
                await until(lambda: not nursery.child_tasks)
                descriptors = len(os.listdir("/proc/self/fd"))
                counts.append((descriptors, len(nursery.child_tasks), len(os.listdir(short))))
            assert counts[1:] == [counts[1]] * 3
            assert counts[1][1:] == (0, 0)
