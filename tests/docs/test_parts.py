"""The programs in "Use the parts" do what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs/how-to/use-the-parts.md"


def test_what_the_page_shows_works() -> None:
    programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(programs) == 2
    names: dict[str, Any] = {}
    for program in programs:
        exec(program, names)  # they are ours, and build on one another
    body = json.loads(names["body"])
    assert body["instructions"] == "Be brief."
    assert [item["type"] for item in body["input"]] == [
        "message",
        "function_call",
        "function_call_output",
    ]
    assert body["input"][1]["call_id"] == "call_1"
    assert body["input"][2]["output"] == "A cat."
    assert (body["model"], body["temperature"]) == ("small", 0.2)
    assert "stays here" not in names["body"].decode()
