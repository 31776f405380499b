"""Real traffic: what a person would have decided about it is what we decide.

The recordings aren't part of the project. They are looked for in the folder that VSCODELM_SHARED
names, else in `shared`, beside the project.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bridge.explain import explain
from bridge.labels import Labels, read_labels
from bridge.recording import read_recording
from bridge.replay import Decision, Replay

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
