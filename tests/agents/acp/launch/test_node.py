"""Programs called `node` that tell a version: real ones, so that PATH and the start count."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import trio

from agents.acp.launch import node
from agents.acp.launch.node import check_node
from agents.acp.transport.subprocess import open_process
from agents.base import AgentError
from agents.launchers import NODE
from bridge.wire import EnvVariable, McpServerSpec

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its programs are shell scripts")

PATIENCE = 30.0
GEMINI = ("npx", "-y", "@google/gemini-cli@0.61.0", "--acp")


def program(folder: Path, name: str, code: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{code}\n")
    (folder / name).chmod(0o755)


def path_with(folder: Path, version: str) -> dict[str, str]:
    program(folder, "node", f'[ "$*" = --version ] && echo {version}')
    return {"PATH": str(folder)}


async def test_a_node_that_is_too_old_is_told_before_the_agent_is_started(tmp_path: Path) -> None:
    environment = path_with(tmp_path / "bin", "v18.19.1")
    program(tmp_path / "bin", "npx", f"touch {tmp_path}/started")
    npx = str(tmp_path / "bin" / "npx")
    spec = McpServerSpec("g", npx, GEMINI[1:], (EnvVariable("PATH", environment["PATH"]),))
    with trio.fail_after(PATIENCE), pytest.raises(AgentError) as raised:
        async with open_process(spec):
            pass
    assert raised.value.failure.kind == "NotFound"
    assert raised.value.failure.message == (
        f"Gemini CLI 0.61.0 needs Node 20 or newer; {tmp_path}/bin/node is 18.19.1. "
        "Install a newer Node from https://nodejs.org, or put it first on PATH."
    )
    assert raised.value.failure.fixes == (NODE,)
    assert not (tmp_path / "started").exists()


async def test_a_node_that_is_chosen_by_the_folder_is_asked_in_the_agents_folder(
    tmp_path: Path,
) -> None:
    program(tmp_path / "bin", "node", "read version < .node-version; echo $version")
    environment = {"PATH": str(tmp_path / "bin")}
    for name, version in {"old": "v18.0.0", "new": "v24.0.0"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".node-version").write_text(f"{version}\n")
    with trio.fail_after(PATIENCE):
        await check_node(GEMINI, environment, str(tmp_path / "new"))
        with pytest.raises(AgentError):
            await check_node(GEMINI, environment, str(tmp_path / "old"))


@pytest.mark.parametrize("version", ["v20.0.0", "v24.1.2", "who knows", ""])
async def test_a_node_that_is_new_enough_or_unknown_is_taken(tmp_path: Path, version: str) -> None:
    with trio.fail_after(PATIENCE):
        await check_node(GEMINI, path_with(tmp_path, version), str(tmp_path))


@pytest.mark.parametrize(
    ("command", "is_refused"),
    [
        ("npx -y @google/gemini-cli --acp", True),
        ("npx -y @google/gemini-cli@latest --acp", True),
        ("npx -y @google/gemini-cli@0.62.0 --acp", True),
        ("npx -y @google/gemini-cli@0.60.0 --acp", False),  # what it needs isn't known
        ("npx -y @somebody/else --acp", False),
        ("npx -y opencode-ai acp", False),
        ("uvx @google/gemini-cli", False),
        ("node gemini.js", False),
    ],
)
async def test_it_is_asked_for_what_is_known_to_need_it(
    tmp_path: Path, command: str, is_refused: bool
) -> None:
    environment = path_with(tmp_path, "v18.0.0")
    with trio.fail_after(PATIENCE):
        if not is_refused:
            await check_node(command.split(), environment, str(tmp_path))
            return
        with pytest.raises(AgentError, match=r"Gemini CLI .* needs Node 20"):
            await check_node(command.split(), environment, str(tmp_path))


async def test_without_a_node_the_launcher_says_what_is_missing(tmp_path: Path) -> None:
    await check_node(GEMINI, {"PATH": str(tmp_path)}, str(tmp_path))
    (tmp_path / "node").mkdir()  # and what can't be run is no node
    await check_node(GEMINI, {"PATH": str(tmp_path)}, str(tmp_path))
    (tmp_path / "node").rmdir()
    (tmp_path / "node").write_text("neither a script nor a program")
    (tmp_path / "node").chmod(0o755)
    await check_node(GEMINI, {"PATH": str(tmp_path)}, str(tmp_path))


@pytest.mark.limit("agents.acp.launch.node.ANSWER_SECONDS")
async def test_a_node_that_never_answers_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "ANSWER_SECONDS", 0.1)
    program(tmp_path, "node", "exec sleep 600")
    with trio.fail_after(PATIENCE):
        await check_node(GEMINI, {"PATH": f"{tmp_path}{os.pathsep}/usr/bin:/bin"}, str(tmp_path))
