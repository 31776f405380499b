"""Whole conversations on the wire, as documents: each file in tests/golden is played and compared.

A file is read from top to bottom:

    # says something to the reader
    > is a line from the editor
    < is a line to the editor; what follows one `>` is everything that comes before it grows quiet

`make golden` writes the `<` lines anew. Eliza answers (deterministic, with call ids that count from
1), except where `SCRIPTS` has an agent for a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.history import AgentFactory
from agents.base import Agent
from agents.eliza.agent import ElizaAgent
from agents.events import AskPermission, Attach, Await, CallTool, Say, Think
from bridge.models import AgentChoice
from bridge.wire import ElizaSpec
from tests.fakes.editor import JSON, FakeEditor, connected_to, quiet
from tests.fakes.scripted_agent import Hang, ScriptedAgent, Steps

GOLDEN = Path(__file__).parent / "golden"

SCRIPTS: dict[str, list[Steps]] = {
    "seed_commit_flow": [[Say("P1 "), Say("P2 "), Say("P3")], [Say("A2")]],
    "seed_history_mismatch": [[Say("A1")], [Say("P1 "), Say("P2"), Hang()], [Say("A3")]],
    "seed_examples": [[Say("How "), Say("do you do?")]],
    "parallel_tool_calls": [
        [
            Say("Let me look at both."),
            CallTool("call_1", "read_file", {"path": "a.txt"}),
            CallTool("call_2", "read_file", {"path": "b.txt"}),
            Await(),
            Say("They differ."),
        ],
        [Say("You're welcome.")],
    ],
    "user_moves_on": [
        [AskPermission("call_1", "Delete a.txt", "delete", {"path": "a.txt"}), Await()],
        [Say("It holds a poem.")],
    ],
    "kinds_of_part": [
        [Think("The user "), Think("greets me."), Say("Hello!"), Attach("usage", b'{"total": 9}')]
    ],
}


def agents_for(name: str) -> AgentFactory:
    """Return the agents of a file: its script's for child processes, and Eliza."""
    calls = count(1)
    eliza = ElizaAgent(ElizaSpec(deterministic=True), new_call_id=lambda: f"call_{next(calls)}")
    scripted = ScriptedAgent(SCRIPTS.get(name, []))

    def agent_for(choice: AgentChoice) -> Agent:
        return eliza if isinstance(choice.spec.eliza, ElizaSpec) else scripted

    return agent_for


def written(line: JSON) -> str:
    """Return a line to the editor as it stands in a file; our version changes with releases."""
    match line:
        case {"result": {"serverInfo": {"version": str()} as info}}:
            info["version"] = "*"
        case _:
            pass
    return f"< {json.dumps(line, ensure_ascii=False)}"


def asked(transcript: str) -> Iterator[str]:
    """Yield what the editor says and what is said to the reader."""
    return (line for line in transcript.splitlines() if not line.startswith("<"))


async def play(transcript: str, agent_for: AgentFactory) -> str:
    """Return the transcript as it is now."""
    lines: list[str] = []

    def listen(editor: FakeEditor) -> None:
        lines.extend(written(line) for line in editor.lines)
        editor.lines.clear()

    async with connected_to(agent_for) as editor:
        for line in asked(transcript):
            lines.append(line)
            if line.startswith("> "):
                editor.replay(line[2:].encode())
                await quiet()
                listen(editor)
    listen(editor)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_conversation_goes_as_it_is_written(path: Path, pytestconfig: pytest.Config) -> None:
    expected = path.read_text(encoding="utf-8")
    played = trio.run(play, expected, agents_for(path.stem))
    if pytestconfig.getoption("--update-golden"):
        path.write_text(played, encoding="utf-8")
    else:
        assert played.splitlines() == expected.splitlines(), "`make golden` records it anew"


def test_every_script_has_its_file() -> None:
    assert {path.stem for path in GOLDEN.glob("*.jsonl")} >= set(SCRIPTS)


def test_a_transcript_is_comments_and_json_lines_alone() -> None:
    """Lines that the editor sends may be wrong on purpose; ours never are."""
    for path in GOLDEN.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert line == "" or line[:2] in ("# ", "> ", "< "), f"{path.name}: {line}"
            if line.startswith("< "):
                json.loads(line[2:])


# The examples of the protocol that we took over, as JSON values.

SEED_EXAMPLES: list[tuple[str, JSON]] = [
    (
        ">",
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "lm/provideLanguageModelChatResponse",
            "params": {
                "modelId": "symposium",
                "messages": [
                    {"role": "user", "content": [{"type": "text", "value": "Hello"}]},
                ],
                "agent": {
                    "mcp_server": {
                        "name": "my-agent",
                        "command": "/path/to/agent",
                        "args": ["--flag"],
                        "env": [{"name": "KEY", "value": "value"}],
                    }
                },
            },
        },
    ),
    (
        ">",
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "lm/provideLanguageModelChatResponse",
            "params": {
                "modelId": "symposium-eliza",
                "messages": [
                    {"role": "user", "content": [{"type": "text", "value": "Hello"}]},
                ],
                "agent": {"eliza": {"deterministic": True}},
            },
        },
    ),
    (
        "<",
        {
            "jsonrpc": "2.0",
            "method": "lm/responsePart",
            "params": {"requestId": 1, "part": {"type": "text", "value": "How "}},
        },
    ),
    (
        "<",
        {"jsonrpc": "2.0", "method": "lm/responseComplete", "params": {"requestId": 1}},
    ),
    ("<", {"jsonrpc": "2.0", "id": 1, "result": {}}),
]


@pytest.mark.parametrize(("direction", "example"), SEED_EXAMPLES)
def test_each_example_of_the_protocol_stands_in_a_transcript(direction: str, example: Any) -> None:
    lines = (GOLDEN / "seed_examples.jsonl").read_text(encoding="utf-8").splitlines()
    assert example in [json.loads(line[2:]) for line in lines if line.startswith(direction)]
