"""Recorded streams, whole, over HTTP: what they say reaches the turn.

The recordings aren't part of the project; they are looked for as in `tests.recordings`.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agents.events import Say
from tests.fakes.responses_server import Plan, responses_server

from .endpoints import agent_at, alone

_ROOT = Path(__file__).parents[3]
_SHARED = Path(os.environ.get("VSCODELM_SHARED") or _ROOT.parent / "shared")
FOLDER = _SHARED / "fixtures/open-responses"
EXPECTED = FOLDER / "expected.json"

pytestmark = pytest.mark.skipif(not EXPECTED.is_file(), reason="the recordings aren't here")


def _recordings() -> list[str]:
    """Return the recordings of one response each that has a text and no calls."""
    if not EXPECTED.is_file():
        return ["none"]
    expected: dict[str, Any] = json.loads(EXPECTED.read_bytes())
    return sorted(
        name
        for name, one in expected.items()
        if name.endswith(".sse")
        and one["terminals"] == 1
        and one["terminal"] == "response.completed"
        and one["text_chars"]
        and not (one["tool_calls"] or one["refusal"] or one["error"])
    )


@pytest.mark.parametrize("name", _recordings())
@pytest.mark.parametrize("chunk", [0, 700])
async def test_a_recorded_answer_is_heard_over_http(name: str, chunk: int) -> None:
    expected: Any = json.loads(EXPECTED.read_bytes())[name]
    body = (FOLDER / name).read_bytes()
    async with responses_server() as server, agent_at(server, annotations="none") as agent:
        server.plans.append(Plan(body=body, chunk=chunk))
        events = await alone(agent)
    heard = "".join(one.text for one in events if isinstance(one, Say) and not one.by_us)
    assert hashlib.sha256(heard.encode()).hexdigest()[:16] == expected["text_sha256"]
