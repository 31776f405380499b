"""What an agent can't do it can't do for another client either: the official TypeScript SDK's.

Each check that a recipe says the agent lacks is tried here without vscodelm, and must fail.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from tooling.real_agents import node

from .agents import ALL_AGENTS
from .bench import alone
from .checks import CHECKS
from .model_server import model_server
from .pictures import a_picture
from .real_agent import MODULES, RealAgent, bare_environment

JSON = dict[str, Any]
SDK = MODULES / "@agentclientprotocol" / "sdk"
CLIENT = Path(__file__).parent / "acp_client.mjs"
PATIENCE = 90.0
SWORN = "my name is Ada"


class Proof(NamedTuple):
    """What is said to an agent, and whether it fails at it, by what it can do and has answered."""

    prompts: tuple[JSON, ...]
    fails: Callable[[JSON, list[Any]], bool]
    servers: tuple[JSON, ...] = ()


def prompt(words: str, *more: JSON, stop_at: int | None = None, patience: int = 80_000) -> JSON:
    text = {"type": "text", "text": words}
    return {"prompt": [text, *more], "stopAt": stop_at, "patience": patience}


def _asks_nobody(can: JSON, said: list[JSON]) -> bool:
    return said[0]["asked"] == 0


def _shows_no_image(can: JSON, said: list[JSON]) -> bool:
    takes: JSON = can.get("promptCapabilities", {})
    return not takes.get("image") or "I see images: 0." in said[0]["text"]


def _forgets(can: JSON, said: list[Any]) -> bool:
    """Return whether a stop loses what was asked, or the whole session."""
    return said[1] is None or "You told me: nothing." in said[1]["text"]


def _asks_without_a_name(can: JSON, said: list[JSON]) -> bool:
    """Return whether the agent asks, and nothing that it says by then tells which tool."""
    about = json.dumps(said[0]["about"])
    return said[0]["asked"] > 0 and not any(name in about for name in ("shell", "helper"))


_PICTURE: JSON = {"type": "image", "mimeType": "image/png", "data": a_picture()}
_HELPER: JSON = {
    "name": "helper",
    "command": sys.executable,
    "args": ["-S", "-I", str(Path(__file__).parent / "shell_server.py")],
    "env": [],
}
_CALL = 'USE shell {"command": "true", "summary": "Look around"}'
"""With words of the model's own for the call, as one agent asks its model for them."""
_QUESTION = Proof((prompt("WRITE(FOLDER/new.txt)"),), _asks_nobody)
PROOFS: Mapping[str, Proof] = {
    "allow": _QUESTION,
    "deny": _QUESTION,
    "stop in a question": _QUESTION,
    "editor tool": Proof((prompt(_CALL),), _asks_without_a_name, (_HELPER,)),
    "image": Proof((prompt("LOOK", _PICTURE),), _shows_no_image),
    "stop in text": Proof(
        (prompt(f"{SWORN}. ENDLESS", stop_at=5_000, patience=35_000), prompt("RECALL")), _forgets
    ),
}
"""How each check is tried that some agent lacks."""
LACKED = [(agent, name) for agent in ALL_AGENTS for name in agent.lacks if name in CHECKS]


def test_everything_that_an_agent_lacks_is_tried() -> None:
    assert {name for _, name in LACKED} <= {*PROOFS}


@pytest.mark.agents
@pytest.mark.parametrize(
    ("agent", "name"), LACKED, ids=[f"{agent.name}-{name}" for agent, name in LACKED]
)
async def test_the_official_client_fails_likewise(
    agent: RealAgent, name: str, tmp_path: Path
) -> None:
    if (reason := agent.why_missing()) is not None:
        pytest.skip(f"{agent.name}: {reason}")
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    proof = PROOFS[name]
    async with alone(home), model_server() as server:
        acp: JSON = agent.definition(home, work, server.url)["acp"]
        own = {one["name"]: one["value"] for one in acp["env"]}
        task = {key: acp[key] for key in ("command", "args", "cwd")}
        task |= {"sdk": str(SDK), "env": bare_environment(home) | own}
        task |= {"servers": proof.servers, "prompts": proof.prompts}
        with trio.fail_after(PATIENCE):
            done = await trio.run_process(
                [node(), CLIENT, json.dumps(task).replace("FOLDER", str(work))],
                stdin=subprocess.DEVNULL,
                capture_stdout=True,
            )
    can, *said = map(json.loads, done.stdout.splitlines())
    assert len(said) == len(proof.prompts)
    assert proof.fails(can, said), said
