"""What an examination looks like. The pages in golden/ are for a person to judge; `make golden`
writes them anew.
"""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from agents.launchers import advice_on
from vscodelm.doctor.findings import Finding, Report
from vscodelm.doctor.view import ExaminationView

GOLDEN = Path(__file__).parent / "golden"

COMMAND = Finding(
    "command",
    "ok",
    "/usr/bin/npx",
    facts=(
        ("runs", "npx -y @agentclientprotocol/claude-agent-acp@0.49.0"),
        ("works in", "/home/eva/project"),
        ("set for it", "ENABLE_TOOL_SEARCH=false"),
    ),
)
PROCESS = Finding("process", "ok", "started, with the id 4711", 0.0123)
HEALTHY = (
    COMMAND,
    PROCESS,
    Finding(
        "initialize",
        "ok",
        "Claude Agent 0.49.0 (@agentclientprotocol/claude-agent-acp)",
        1.24,
        (
            ("protocol", "version 1"),
            ("prompts", "text, links, images, files"),
            ("sessions", "load, resume, fork, close, list, delete"),
            ("MCP servers", "stdio, http, sse"),
            ("login", "no login methods"),
        ),
    ),
    Finding("session/new", "ok", "a session is open", 0.31),
    Finding(
        "choices",
        "ok",
        "the options of a session",
        facts=(
            ("Mode", "Always ask (default); or Accept edits (acceptEdits), plan"),
            ("Model", "Default (recommended) (default); or " + "Sonnet (sonnet), " * 8 + "3 more"),
        ),
    ),
    Finding(
        "prompt",
        "ok",
        "the turn ended",
        2.5,
        (("first text", "after 0.9 s"), ("it said", "Hello! How can I help you today?")),
    ),
    Finding(
        "end", "note", "it ended, but its child processes went on; the doctor ended them", 0.07
    ),
)
LOGIN = (
    COMMAND,
    PROCESS,
    Finding(
        "session/new",
        "failed",
        "claude-acp needs a login. Run `claude /login` in a terminal, then ask again.",
        stderr="warning: no credentials in ~/.claude\n\x1b[31mnot logged in",
    ),
    Finding("end", "ok", "it ended by itself and left no processes behind", 0.07),
)
MISSING = (
    Finding(
        "command",
        "failed",
        "uvx was not found",
        facts=(("runs", "uvx owl-agent==0.9.0"), ("works in", "/home/eva")),
        advice=advice_on("uvx"),
    ),
)
SCENES = {"healthy": HEALTHY, "login": LOGIN, "missing": MISSING}


def page(findings: tuple[Finding, ...]) -> str:
    out = io.StringIO()
    view = ExaminationView(Console(file=out, width=90, highlight=False))
    for finding in findings:
        view.begin(finding.step)
        view.tell(finding)
    view.conclude(Report("claude-acp", findings))
    view.close()
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@pytest.mark.parametrize("scene", SCENES)
def test_an_examination_reads_well(scene: str, request: pytest.FixtureRequest) -> None:
    path = GOLDEN / f"{scene}.txt"
    shown = page(SCENES[scene])
    if request.config.getoption("--update-golden"):
        path.write_text(shown, encoding="utf-8", newline="\n")
    assert shown == path.read_text(encoding="utf-8")


def test_without_a_turn_it_says_that_one_can_be_led() -> None:
    assert "`--prompt TEXT`" in page(HEALTHY[:4])
    assert "`--prompt TEXT`" not in page(HEALTHY)


def test_what_an_agent_says_does_nothing_to_the_terminal() -> None:
    nasty = "\x1b[2J\x9b1m[bold]"
    shown = page(
        (Finding("end", "failed", nasty, 1, ((nasty, nasty),), nasty, f"{nasty}\n{nasty}"),)
    )
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "[bold]" in shown


def test_on_a_terminal_the_step_that_goes_on_is_shown() -> None:
    out = io.StringIO()
    view = ExaminationView(Console(file=out, width=60, force_terminal=True, highlight=False))
    view.begin("initialize")
    view.begin("session/new")
    view.close()
    assert "initialize ..." in out.getvalue()
    assert "session/new ..." in out.getvalue()


def test_a_process_without_a_terminal_has_a_fixed_width() -> None:
    assert ExaminationView.of_process().out.width == 100
