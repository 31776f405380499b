"""The official compliance suite of Open Responses, which is no part of this project."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_serve_http import TOKEN
from tooling.http_clients import packages

from .running import CLIENTS, needs_clients, run, serving
from .scripts import SCRIPT

_SHARED = Path(os.environ.get("VSCODELM_SHARED") or Path(__file__).parents[3] / "shared")
SUITE = _SHARED / "fixtures/open-responses-compliance"
ALL = 17
BUN = next((name for name in packages() if name.startswith("@oven/")), "")

pytestmark = [
    pytest.mark.slow,
    needs_clients,
    pytest.mark.skipif(not SUITE.is_dir(), reason="the official suite isn't here"),
    pytest.mark.skipif(not BUN, reason="there is no bun for this machine"),
]


async def results(folder: Path, model: str) -> dict[str, Any]:
    """Return what became of each test, by its name."""
    suite = folder / "suite"
    shutil.copytree(SUITE, suite)
    (suite / "node_modules").symlink_to(CLIENTS / "node_modules")
    bun = CLIENTS / "node_modules" / BUN / "bin" / "bun"
    report = folder / "report.json"
    async with serving(folder, SCRIPT) as one:
        # The suite's status is that of its tests, and Eliza fails one.
        command = 'bun="$1"; shift; "$bun" run bin/compliance-test.ts "$@" > "$REPORT"; true'
        arguments = ("-u", one.url, "-k", TOKEN, "-m", model, "--json")
        await run("sh", "-c", command, "sh", bun, *arguments, folder=suite, REPORT=str(report))
    found = json.loads(report.read_text())["results"]
    assert len(found) == ALL
    return {one["id"]: (one["status"], one.get("errors")) for one in found}


@pytest.mark.skipif(sys.platform == "win32", reason="it needs a shell")
async def test_an_agent_that_calls_the_offered_tool_passes_all(tmp_path: Path) -> None:
    found = await results(tmp_path, "agent")
    assert {name: why for name, (status, why) in found.items() if status != "passed"} == {}


@pytest.mark.skipif(sys.platform == "win32", reason="it needs a shell")
async def test_eliza_passes_all_but_the_call_of_a_tool(tmp_path: Path) -> None:
    """She calls nothing unasked."""
    found = await results(tmp_path, "eliza")
    assert [name for name, (status, _) in found.items() if status != "passed"] == ["tool-calling"]
