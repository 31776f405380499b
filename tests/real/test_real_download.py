"""What the real npx fetches into a cache of its own, from the registry that npm is set to."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import trio

from agents.acp.launch.cache import is_cached
from agents.acp.launch.package import launched_package
from agents.acp.transport.downloads import Downloads
from agents.base import AgentError
from bridge.wire import EnvVariable, McpServerSpec

pytestmark = pytest.mark.agents

PACKAGE = "is-number"
VERSION = "7.0.0"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(scope="module")
def registry() -> None:
    """Skip where no registry answers."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    asked = subprocess.run(
        [npm, "view", f"{PACKAGE}@{VERSION}", "version", "--fetch-retries=0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if asked.stdout.strip() != VERSION:
        pytest.skip(f"no registry answers: {asked.stderr.strip()[-200:]}")


def starting(version: str, folder: Path, **more: str) -> McpServerSpec:
    """Return the definition of an agent whose package goes into this folder."""
    environment = {"npm_config_cache": str(folder), **more}
    variables = tuple(EnvVariable(name, value) for name, value in environment.items())
    return McpServerSpec("agent", "npx", ("-y", f"{PACKAGE}@{version}"), variables)


@pytest.mark.usefixtures("registry")
async def test_npx_fetches_a_package_to_where_it_is_looked_for(tmp_path: Path) -> None:
    spec = starting(VERSION, tmp_path)
    package = launched_package((spec.command, *spec.args))
    assert package is not None
    environment = {**os.environ, "npm_config_cache": str(tmp_path)}
    assert not is_cached(package, environment)
    with trio.fail_after(120):
        await Downloads().prepare(spec, os.environ)
    assert is_cached(package, environment)


@pytest.mark.usefixtures("registry")
async def test_a_version_that_npm_does_not_find_is_told_in_a_sentence(tmp_path: Path) -> None:
    with trio.fail_after(120), pytest.raises(AgentError, match="the registry has no such version"):
        await Downloads().prepare(starting("999.0.0", tmp_path), os.environ)


@pytest.mark.skipif(shutil.which("npx") is None, reason="there is no npx")
async def test_a_registry_that_npm_does_not_reach_is_told_in_a_sentence(tmp_path: Path) -> None:
    spec = starting(VERSION, tmp_path, npm_config_registry=NOWHERE)
    with trio.fail_after(120), pytest.raises(AgentError, match="the registry can't be reached"):
        await Downloads().prepare(spec, os.environ)
