"""Agents work in the folders of the editor's window."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from agents.origin import Resumed
from agents.workspace import Workspace
from bridge.wire import McpServerSpec
from tests.fakes.acp_agents import agent_in_process

from .talk import answer_to, asking

if TYPE_CHECKING:
    from trio.testing import MockClock

SEVERAL: dict[str, Any] = {
    "agent": {
        "agentCapabilities": {
            "loadSession": True,
            "sessionCapabilities": {"additionalDirectories": {}, "close": {}},
        }
    }
}


def places(message: dict[str, Any]) -> tuple[str, list[str]]:
    return message["cwd"], message.get("additionalDirectories", [])


async def test_a_session_gets_the_first_folder_and_the_others_beside_it(
    autojump_clock: MockClock,
) -> None:
    workspace = Workspace(("/one", "/two", "/one", "/three"))
    async with agent_in_process(SEVERAL, workspace=workspace) as (agent, peers):
        async with agent.session(asking("x")) as session:
            assert await answer_to(session, "x") == "ok"
            handle = session.handle
        workspace.open_folders(("/two", "/four"))
        async with agent.session(asking("x")) as session:
            assert await answer_to(session, "x") == "ok"
        assert handle is not None
        async with agent.session(asking("x"), Resumed(handle)):
            pass
        prompted = [prompt["sessionId"] for prompt in peers.asked("session/prompt")]
        opened = [places(message) for message in peers.asked("session/new")]
        assert opened[0] == ("/one", ["/two", "/three"])
        assert ("/two", ["/four"]) in opened
        assert len(set(prompted)) == 2
        (loaded,) = peers.asked("session/load")
        assert places(loaded) == ("/two", ["/four"])
        assert peers.faults == []


async def test_an_agent_that_works_in_one_folder_gets_one(autojump_clock: MockClock) -> None:
    async with agent_in_process({}, workspace=Workspace(("/one", "/two"))) as (agent, peers):
        async with agent.session(asking("x")):
            pass
        assert {places(one)[0] for one in peers.asked("session/new")} == {"/one"}
        assert all("additionalDirectories" not in one for one in peers.asked("session/new"))


@pytest.mark.parametrize("cwd", ["/chosen", None])
def test_the_folder_of_a_definition_comes_before_those_of_the_window(cwd: str | None) -> None:
    spec = replace(McpServerSpec("a", "a"), cwd=cwd)
    own = spec.cwd or os.getcwd()
    window = Workspace(("/one", "/chosen"))
    folder = window.folder_for(own, is_set=spec.cwd is not None)
    assert folder == (cwd or "/one")
    assert window.beside(folder) == (("/one",) if cwd else ("/chosen",))
    assert Workspace().folder_for(own, is_set=False) == own
