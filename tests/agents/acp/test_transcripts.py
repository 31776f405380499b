"""What real agents said, as a user reads it.

`transcripts/AGENT.json` is what an agent said on a tour of all that agents do, and `AGENT.md` is
how it is shown. tests/README.md says how they are recorded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agents.mcp.session_tools import load_now

from .readable import faults_in
from .reader import read

if TYPE_CHECKING:
    from trio.testing import MockClock

TRANSCRIPTS = Path(__file__).parent / "transcripts"
NAMES = sorted(file.stem for file in TRANSCRIPTS.glob("*.json"))


@pytest.fixture(autouse=True)
def loaded() -> None:
    """Keep threads away from the mock clock."""
    load_now("server")
    load_now("http")


@pytest.mark.parametrize("name", NAMES)
async def test_a_recorded_chat_is_shown_as_its_golden_file_has_it(
    name: str, request: pytest.FixtureRequest, autojump_clock: MockClock
) -> None:
    reader = await read(json.loads((TRANSCRIPTS / f"{name}.json").read_text(encoding="utf-8")))
    shown = "".join(reader.shown).strip() + "\n"
    file = TRANSCRIPTS / f"{name}.md"
    if request.config.getoption("--update-golden"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")
    assert [fault for response in reader.ours for fault in faults_in(response)] == []


def test_the_agents_that_vscodelm_comes_with_are_recorded() -> None:
    assert {"claude", "codex", "copilot", "gemini", "opencode", "qwen"} <= set(NAMES)


@pytest.mark.parametrize(
    "text",
    [
        '🔧 write `todos: [{"a": 1}]`',
        '✔ write\n\n```\n{\n  "exit_code": 1\n}\n```',
        "▶️ `make`\n\n✔ `make`",
        "▶️ make `make`",
        "📖 Read ✔",
        "✔",
        "▶️ Run *no result*",
    ],
)
def test_what_nobody_should_have_to_read_is_found(text: str) -> None:
    assert len(faults_in(text)) == 1


def test_what_is_fine_is_no_fault() -> None:
    text = "▶️ `ls` ✔\n\n```\nls\nls\n```\n\n📖 Read `a` ✔ `{a}`\n\n✔ Read `b`\n\n- [ ] one"
    assert faults_in(text) == []
