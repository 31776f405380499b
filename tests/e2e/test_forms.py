"""The subprocess asks the editor for its user's input, and its trace can be replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.process import run, started
from tests.fakes.editor import ASKING, JSON, Chat


def traced(folder: Path) -> tuple[Path, list[tuple[str, JSON]]]:
    """Return the trace, and the messages of the editor's wire in it, each with its direction."""
    (trace,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    return trace, [(one["direction"], one["message"]) for one in lines if "direction" in one]


@pytest.mark.parametrize("hook", ["!form", "!form url"])
async def test_a_form_is_answered_over_the_wire_and_its_trace_is_replayed(
    hook: str, tmp_path: Path
) -> None:
    async with started("--trace-dir", str(tmp_path)) as process:
        editor = process.editor
        await editor.initialize("elicit").settled()
        chat = Chat(editor, options=ASKING)
        request = chat.ask(hook)
        form = await editor.asked()
        editor.answer(form, "accept", name="Ada", count=3)
        await request.settled()
        assert ("Ada" in request.text) is (hook == "!form")
        chat.keep(request)
        stopped = chat.ask(hook)
        await editor.asked(2)
        editor.cancel(stopped)
        await stopped.settled()
    trace, wire = traced(tmp_path)
    assert [way for way, one in wire if one.get("id") == "elicit-1"] == ["out", "in"]
    assert [way for way, one in wire if one.get("method") == "$/cancelRequest"] == ["out"]
    replayed = await run("replay", str(trace))
    assert replayed.returncode == 0, replayed.stderr
