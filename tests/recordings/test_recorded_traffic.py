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

from bridge.history.exchange import Exchange, Extends
from bridge.history.machine import History
from bridge.history.rules import BY_DIGESTS
from bridge.history.transcript import TranscriptReader
from bridge.inspection.steps import RequestDecision
from bridge.routing.outcome import Joins, Outcome
from bridge.routing.relate import Path as Messages
from bridge.routing.relate import tolerant
from bridge.routing.sketch import Sketch, keys, recognise
from bridge.wire import ChatParams
from vscodelm.replay.explain import explain
from vscodelm.replay.labels import Labels, read_labels
from vscodelm.replay.recording import Requested, read_recording
from vscodelm.replay.run import Replay

from .redrawn import completed, redrawn

_ROOT = Path(__file__).parents[2]
FIXTURES = Path(os.environ.get("VSCODELM_SHARED") or _ROOT.parent / "shared") / "fixtures"
HOSTS = ("vscode", "vscode-agent-host")
"""The folders of VS Code's two harnesses."""
DRAWS = 2


def _recordings(*hosts: str) -> list[str]:
    """Return the recordings, as `host/file`."""
    found: list[str] = []
    for host in hosts:
        labels = FIXTURES / host / "labels.json"
        if labels.is_file():
            found += (f"{host}/{name}" for name in sorted(json.loads(labels.read_bytes())))
    return found


pytestmark = pytest.mark.skipif(not _recordings(*HOSTS), reason="the recordings aren't here")


def _each(*hosts: str) -> pytest.MarkDecorator:
    names = _recordings(*hosts) or ["all of them"]
    return pytest.mark.parametrize("name", names, ids=lambda name: name.removesuffix(".jsonl"))


each_recording = _each(*HOSTS)


def _lines(name: str) -> list[bytes]:
    return (FIXTURES / name).read_bytes().splitlines()


def _labels(name: str) -> Labels:
    path = FIXTURES / name
    labels = read_labels((path.parent / "labels.json").read_bytes(), path.name)
    assert labels is not None
    return completed(path.name, labels)


def _are_as_labelled(lines: list[bytes], labels: Labels) -> None:
    told = explain(read_recording(lines), labels)
    assert told.lines[-1] == f"{len(labels)} of {len(labels)} as labelled", "\n".join(told.lines)


@each_recording
def test_every_request_is_decided_as_labelled(name: str) -> None:
    _are_as_labelled(_lines(name), _labels(name))


@pytest.mark.parametrize("seed", range(DRAWS))
@_each("vscode-agent-host")
def test_with_other_ids_words_dates_and_orders_the_agent_hosts_requests_mean_the_same(
    name: str, seed: int
) -> None:
    lines, labels = redrawn(_lines(name), _labels(name), seed)
    assert lines != _lines(name)
    _are_as_labelled(lines, labels)


@each_recording
def test_by_its_sketch_a_chat_is_recognised_where_the_live_one_is(name: str) -> None:
    """As if we had been started anew before each request."""
    replay, reader, recognised = Replay(), TranscriptReader(), 0
    for happening in read_recording(_lines(name)):
        live = [one.conversation for one in replay.tracker.branches()]
        records = {key: replay.chats[key].history.record for key in live if key in replay.chats}
        for step in replay.steps([happening]):
            if not (isinstance(step, RequestDecision) and isinstance(happening, Requested)):
                continue
            path = reader.read(msgspec.json.decode(happening.params, type=ChatParams).messages)
            for key, record in records.items():
                recognised += _is_recognised_as_live(key, record, path.path, step.outcome)
    assert recognised or Path(name).name in NONE_GOES_ON


NONE_GOES_ON = frozenset(
    {
        "16a-switch-to-small-background-compaction.jsonl",
        "22-inline-chat.jsonl",
        "a35-hang11.jsonl",
    }
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
