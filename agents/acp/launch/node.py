"""Check whether the Node on this machine runs an agent, before npx starts it.

An agent on a Node that is too old ends with a syntax error, or in the middle of a chat.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import trio

from agents.base import AgentError
from agents.launchers import NODE
from bridge.errors import Failure

from .package import LaunchedPackage, is_older, launched_package
from .ready_agents import ReadyAgent, ready_package

ANSWER_SECONDS = 10.0
"""Seconds for `node --version`; after that the version isn't checked."""
_VERSION = re.compile(r"v?([0-9]{1,9})\.[0-9]")

log = logging.getLogger("vscodelm.acp")


async def check_node(argv: Sequence[str], environment: Mapping[str, str], cwd: str) -> None:
    """Raise `AgentError` where a command starts an agent on a Node that is too old for it."""
    package = launched_package(argv)
    agent = _agent_of(package)
    if package is None or agent is None or agent.node is None:
        return
    node = shutil.which("node", path=environment.get("PATH"))
    if node is None:
        return  # npx may bring its own; where it doesn't, it says so
    version = await _version_of(os.path.join(cwd, node), environment, cwd)
    found = _VERSION.match(version)
    if found is not None and int(found[1]) < agent.node:
        raise AgentError(too_old(agent, package, node, version))


def too_old(agent: ReadyAgent, package: LaunchedPackage, node: str, version: str) -> Failure:
    """Return the failure for an agent that a Node is too old for."""
    named = f"{agent.name} {package.version or agent.version}"
    return Failure(
        "NotFound",
        f"{named} needs Node {agent.node} or newer; {node} is {version.removeprefix('v')}. "
        "Install a newer Node from https://nodejs.org, or put it first on PATH.",
        f"{package.requirement} on Node {version}",
        fixes=(NODE,),
    )


def _agent_of(package: LaunchedPackage | None) -> ReadyAgent | None:
    """Return the agent in a package, if what is known of it holds for this version."""
    if package is None or package.tool != "npx":
        return None
    agent = ready_package(package.name)
    older = agent is not None and package.version and is_older(package.version, agent.version)
    return None if older else agent


async def _version_of(node: str, environment: Mapping[str, str], cwd: str) -> str:
    """Return Node's version in a folder: a version manager chooses it by the folder."""
    hidden: dict[str, Any] = {}
    if sys.platform == "win32":
        hidden["creationflags"] = subprocess.CREATE_NO_WINDOW
    with trio.move_on_after(ANSWER_SECONDS):
        try:
            ended: subprocess.CompletedProcess[bytes] = await trio.run_process(
                [node, "--version"],
                capture_stdout=True,
                stderr=subprocess.DEVNULL,
                check=False,
                env=environment,
                cwd=cwd,
                **hidden,
            )
        except OSError as error:
            log.info("the version of %s is unknown: %s", node, error)
            return ""
        return ended.stdout.decode(errors="replace").strip()[:100]
    return ""
