"""Recorded streams; they are shared by those who build this, not part of it.

They are looked for in the folder that VSCODELM_SHARED names, else in `shared`, beside the project.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agents.open_responses.stream.sse import SseSplitter

JSON = dict[str, Any]

_ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("VSCODELM_SHARED") or _ROOT.parent / "shared")
FOLDER = SHARED / "fixtures" / "open-responses"
_EXPECTED = FOLDER / "expected.json"

needs_recordings = pytest.mark.skipif(
    not _EXPECTED.is_file(), reason=f"no recordings in {FOLDER}; VSCODELM_SHARED names the folder"
)


def expected() -> dict[str, JSON]:
    """Return what each stream says, by its name."""
    return json.loads(_EXPECTED.read_bytes()) if _EXPECTED.is_file() else {}


def body(name: str) -> bytes:
    """Return a stream as it was on the wire, or as it could have been."""
    raw = (FOLDER / name).read_bytes()
    if name.endswith(".sse"):
        return raw
    return b"".join(b"data: " + line + b"\n\n" for line in raw.splitlines() if line.strip())


def responses(name: str) -> list[list[JSON]]:
    """Return the events of a stream; some hold several responses, one after the other."""
    splitter = SseSplitter()
    frames = [*splitter.feed(body(name)), *splitter.finish()]
    found: list[list[JSON]] = []
    for _, data in frames:
        if data == b"[DONE]":
            continue
        event = json.loads(data)
        if event["type"] == "response.created" or not found:
            found.append([])
        found[-1].append(event)
    return found


def as_body(events: list[JSON]) -> bytes:
    """Return events as they could be on the wire."""
    return b"".join(
        b"event: %b\r\ndata: %b\r\n\r\n" % (event["type"].encode(), json.dumps(event).encode())
        for event in events
    )
