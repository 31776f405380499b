"""The examples of the guide work, just as they stand there."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from .running import CLIENTS, needs_clients, node, run, serving
from .scripts import SCRIPT

PAGE = Path(__file__).parents[2] / "docs/how-to/serve-http.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
pytestmark = pytest.mark.slow


def example(language: str) -> str:
    (found,) = [text for name, text in BLOCK.findall(PAGE.read_text()) if name == language]
    return found


@pytest.mark.skipif(not shutil.which("curl"), reason="there is no curl here")
async def test_the_example_with_curl(tmp_path: Path) -> None:
    async with serving(tmp_path, SCRIPT) as one:
        said = await run("sh", "-c", example("bash"), folder=tmp_path, VSCODELM_URL=one.url)
    assert "sad" in json.loads(said)["output"][0]["content"][0]["text"]


async def test_the_example_in_python(tmp_path: Path) -> None:
    async with serving(tmp_path, SCRIPT) as one:
        argv = (sys.executable, "-c", example("python"))
        said = await run(*argv, folder=tmp_path, VSCODELM_URL=one.url)
    assert len(said.splitlines()) >= 2


@needs_clients
async def test_the_example_in_javascript(tmp_path: Path) -> None:
    (tmp_path / "node_modules").symlink_to(CLIENTS / "node_modules")
    (tmp_path / "example.mjs").write_text(example("javascript"))
    async with serving(tmp_path, SCRIPT) as one:
        argv = (node(), tmp_path / "example.mjs")
        said = await run(*argv, folder=tmp_path, VSCODELM_URL=one.url)
    assert "sad" in said


def test_the_example_for_vs_code_names_an_endpoint_that_is_served() -> None:
    (entry,) = json.loads(example("json"))
    (model,) = entry["models"]
    assert model["url"].endswith("/v1/responses")
    assert entry["apiType"] == "responses"
