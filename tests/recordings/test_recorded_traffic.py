"""Real traffic: what a person would have decided about it is what we decide.

The recordings aren't part of the project. They are looked for in the folder that VSCODELM_SHARED
names, else in `shared`, beside the project.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from bridge.diff import Path as Messages
from bridge.diff import tolerant
from bridge.exchange import Exchange
from bridge.explain import explain
from bridge.history import History
from bridge.labels import Labels, read_labels
from bridge.match import Extends
from bridge.recording import Requested, read_recording
from bridge.replay import Decision, Replay
from bridge.router import Joins, Outcome
from bridge.rules import BY_DIGESTS
from bridge.sketch import Sketch, keys, recognise
from bridge.transcript import TranscriptReader
from bridge.wire import ChatParams

from .ledger import faults

_ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("VSCODELM_SHARED") or _ROOT.parent / "shared") / "fixtures/vscode"
LABELS = FOLDER / "labels.json"


def _recordings() -> list[str]:
    return sorted(json.loads(LABELS.read_bytes())) if LABELS.is_file() else []


pytestmark = pytest.mark.skipif(not LABELS.is_file(), reason="the recordings aren't here")

each_recording = pytest.mark.parametrize(
    "name", _recordings() or ["all of them"], ids=lambda name: name.removesuffix(".jsonl")
)


def _labels(name: str) -> Labels:
    labels = read_labels(LABELS.read_bytes(), name)
    assert labels is not None
    return labels


def _decisions(name: str) -> list[Decision]:
    with (FOLDER / name).open("rb") as lines:
        return list(Replay().decisions(read_recording(lines)))


@each_recording
def test_every_request_is_decided_as_labelled(name: str) -> None:
    with (FOLDER / name).open("rb") as lines:
        told = explain(read_recording(lines), _labels(name))
    assert told.lines[-1] == f"{len(_labels(name))} of {len(_labels(name))} as labelled", "\n".join(
        told.lines
    )


@each_recording
def test_an_agent_knows_every_word_once_and_nothing_that_was_withdrawn(name: str) -> None:
    assert faults(_decisions(name), _labels(name)) == []


@each_recording
def test_by_its_sketch_a_chat_is_recognised_where_the_live_one_is(name: str) -> None:
    """As if we had been started anew before each request."""
    replay, reader, recognised = Replay(), TranscriptReader(), 0
    with (FOLDER / name).open("rb") as lines:
        for happening in read_recording(lines):
            records = replay.records()
            for step in replay.steps([happening]):
                if not (isinstance(step, Decision) and isinstance(happening, Requested)):
                    continue
                path = reader.read(msgspec.json.decode(happening.params, type=ChatParams).messages)
                for key, record in records.items():
                    recognised += _is_recognised_as_live(key, record, path.path, step.outcome)
    assert recognised or name in NONE_GOES_ON


NONE_GOES_ON = frozenset(
    {"16a-switch-to-small-background-compaction.jsonl", "22-inline-chat.jsonl"}
)
"""Recordings in which no request goes on with what was begun there."""


def _is_recognised_as_live(
    key: int, record: list[Exchange], path: Messages, outcome: Outcome
) -> bool:
    """Return whether a record is recognised; fail where that isn't as it should be."""
    sketch = Sketch.of(record)
    found = recognise(sketch.steps, path) if sketch is not None else None
    live = History()
    live.committed.extend(record)
    if found is not None:
        match = tolerant(live, path)
        assert isinstance(match, Extends)
        assert match.new_from == found
        assert sketch is not None
        assert sketch.key in keys(path)
    joins = isinstance(outcome, Joins) and outcome.conversation == key
    if joins and sketch is not None and isinstance(outcome.match, Extends):
        assert found == (outcome.match.new_from if outcome.match.rules <= BY_DIGESTS else None)
    return found is not None
