"""Real clients of others, against a server as a process with a scripted ACP agent behind it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from .running import CLIENTS, needs_clients, node, run, serving
from .scripts import SCRIPT

HERE = Path(__file__).parent
pytestmark = pytest.mark.slow


async def test_the_official_python_client(tmp_path: Path) -> None:
    async with serving(tmp_path, SCRIPT) as one:
        said = await run(sys.executable, HERE / "openai_client.py", one.url, folder=tmp_path)
    assert said.endswith("all is well\n")


@needs_clients
@pytest.mark.parametrize("program", ["openai_client.mjs", "ai_sdk.mjs"])
async def test_a_client_in_javascript(tmp_path: Path, program: str) -> None:
    async with serving(tmp_path, SCRIPT) as one:
        argv = (node(), HERE / program, one.url)
        said = await run(*argv, folder=tmp_path, VSCODELM_CLIENTS=str(CLIENTS))
    assert said.endswith("all is well\n")
