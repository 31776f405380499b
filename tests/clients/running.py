"""A server as a process, and programs that are its clients, in any language."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.e2e.test_serve_http import TOKEN, Server, server
from tests.fakes import acp_program
from tooling.node import NoNode, find_node

CLIENTS = Path(os.environ.get("VSCODELM_CLIENTS") or Path(__file__).parent / "nowhere")
SECONDS = 120.0
needs_clients = pytest.mark.skipif(
    not CLIENTS.is_dir(), reason="`make test-http` installs the clients"
)


def script(folder: Path, turns: Any) -> list[str]:
    """Return the options of a server whose model `agent` is an ACP agent with a script."""
    (folder / "script.json").write_text(json.dumps(turns))
    argv = [sys.executable, "-S", acp_program.__file__, str(folder / "script.json")]
    model = {"name": "fake", "command": argv[0], "args": argv[1:]}
    agent = f"{{ acp = {_toml(model)} }}"
    (folder / "config.toml").write_text(f'[[models]]\nid = "agent"\nagent = {agent}\n')
    return ["--config", str(folder / "config.toml")]


def _toml(value: dict[str, Any]) -> str:
    fields = (f"{key} = {json.dumps(one)}" for key, one in value.items())
    return f"{{ {', '.join(fields)} }}"


@asynccontextmanager
async def serving(folder: Path, turns: Any, *options: str) -> AsyncGenerator[Server]:
    """Serve Eliza and a scripted ACP agent."""
    chosen = [*script(folder, turns), "--state-dir", str(folder / "state"), *options]
    async with server(*chosen) as one:
        yield one


async def run(*argv: str | Path, folder: Path, **environment: str) -> str:
    """Run a program to its good end, and return what it prints."""
    with trio.fail_after(SECONDS):
        done = await trio.run_process(
            [str(one) for one in argv],
            cwd=folder,
            env={**os.environ, "VSCODELM_TOKEN": TOKEN, **environment},
            capture_stdout=True,
            stderr=subprocess.STDOUT,
            check=False,
        )
    assert done.returncode == 0, done.stdout.decode()
    return done.stdout.decode()


def node() -> Path:
    """Return the program that runs JavaScript."""
    try:
        return find_node()[0]
    except NoNode as error:
        pytest.skip(str(error))
