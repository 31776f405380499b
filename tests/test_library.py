"""The parts can be used in other programs: they have types, and bring nothing along that waits."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tooling.pure import ROOT

PACKAGES = ("bridge", "agents", "actors", "vscodelm")
PARTS = (
    "agents.ai_sdk",
    "agents.open_responses.stream.media",
    "agents.open_responses.request.body",
    "agents.open_responses.request.messages",
    "agents.open_responses.stream.sse",
    "agents.open_responses.stream.machine",
    "bridge.tokens.message",
    "bridge.tokens.hybrid",
)
"""What the how-to pages show."""


@pytest.mark.parametrize("package", PACKAGES)
def test_type_checkers_of_other_programs_are_told_that_there_are_types(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_a_part_brings_no_event_loop_no_network_and_no_terminal_along(part: str) -> None:
    program = f"import {part}, sys; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert part in loaded
    assert loaded.isdisjoint({"trio", "anyio", "asyncio", "httpx", "mcp", "logging", "click"})
