from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from bridge.methods import CHAT
from tests.recordings.cases import played
from tests.recordings.script import Script
from vscodelm.cli import main


@pytest.fixture
def script() -> Script:
    return played("plain-turns")


@pytest.fixture
def recording(tmp_path: Path, script: Script) -> Path:
    path = tmp_path / "plain.jsonl"
    path.write_bytes(script.jsonl())
    return path


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["replay", *map(str, arguments)])


def label(path: Path, script: Script, name: str = "plain.jsonl") -> Path:
    path.write_bytes(msgspec.json.encode({name: {"requests": script.labels}}))
    return path


def test_a_recording_is_told_request_by_request(recording: Path) -> None:
    result = run(recording)
    assert result.exit_code == 0
    assert result.output.startswith("request 1: main, opens conversation 1\n")
    assert "labelled" not in result.output


@pytest.mark.parametrize("agent", [{}, {"agent": {"registry": "claude-acp"}}])
def test_a_trace_is_told_the_same_way(agent: Any, tmp_path: Path) -> None:
    messages: Any = [
        {"role": "user", "content": [{"type": "text", "value": "\N{WHITE SMILING FACE}"}]}
    ]
    params = {"modelId": "m", "messages": messages, **agent}
    wire: list[Any] = [
        ("in", {"id": 1, "method": CHAT, "params": params}),
        ("out", {"id": 1, "result": {}}),
    ]
    lines = [{"t_ms": 1.0, "direction": way, "message": message} for way, message in wire]
    path = tmp_path / "vscodelm-1.jsonl"
    path.write_bytes(msgspec.json.Encoder().encode_lines(lines))
    result = run(path)
    assert result.exit_code == 0
    assert 'user    "\N{WHITE SMILING FACE}"' in result.output
    assert "answer      empty" in result.output
    page = tmp_path / "page.html"
    assert run(path, "--html", page).exit_code == 0
    assert '"event":"request"' in page.read_text(encoding="utf-8")


def test_labels_beside_it_are_compared(recording: Path, script: Script) -> None:
    label(recording.parent / "labels.json", script)
    result = run(recording)
    assert result.exit_code == 0
    assert result.output.endswith("3 of 3 as labelled\n")


def test_a_difference_makes_the_exit_status_1(recording: Path, script: Script) -> None:
    script.labels["2"] = msgspec.structs.replace(script.labels["2"], kind="branch")
    result = run(recording, "--labels", label(recording.parent / "mine.json", script))
    assert result.exit_code == 1
    assert "  DIFFERENT   continue, the label says branch\n" in result.output
    assert result.output.endswith("2 of 3 as labelled\n")


def test_labels_beside_it_that_know_only_others_are_left_alone(
    recording: Path, script: Script
) -> None:
    label(recording.parent / "labels.json", script, "other.jsonl")
    result = run(recording)
    assert result.exit_code == 0
    assert "labelled" not in result.output


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    result = run(tmp_path / "nothing.jsonl")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == f"Error: {tmp_path / 'nothing.jsonl'}: No such file or directory\n"


def test_a_wrong_line_is_one_clear_line(recording: Path) -> None:
    recording.write_bytes(recording.read_bytes() + b"{oops\n")
    number = recording.read_bytes().count(b"\n")
    result = run(recording)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"Error: {recording}: line {number}: ")
    assert result.stderr.count("\n") == 1


def test_named_labels_must_be_there_and_right_and_know_the_file(
    recording: Path, script: Script
) -> None:
    named = recording.parent / "mine.json"
    assert "No such file" in run(recording, "--labels", named).stderr
    named.write_text("[")
    assert run(recording, "--labels", named).stderr.startswith(f"Error: {named}: ")
    label(named, script, "other.jsonl")
    result = run(recording, "--labels", named)
    assert result.stderr == f"Error: {named}: it has no labels for plain.jsonl\n"
    assert result.exit_code == 2


def test_the_name_of_a_file_must_be_given() -> None:
    assert run().exit_code == 2


def test_a_recording_is_drawn_on_a_page_that_only_its_owner_reads(
    recording: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    result = run(recording, "--html", page)
    assert (result.exit_code, result.output) == (0, f"{page}: 3 events are drawn.\n")
    text = page.read_text(encoding="utf-8")
    assert '"event":"request"' in text
    assert "{{" not in text
    assert os.name != "posix" or page.stat().st_mode & 0o777 == 0o600


def test_a_page_needs_a_recording_and_a_place(recording: Path, tmp_path: Path) -> None:
    page, wrong = tmp_path / "page.html", tmp_path / "wrong.jsonl"
    wrong.write_text("{")
    for file, place in ((tmp_path / "none", page), (wrong, page), (recording, tmp_path / "a/b")):
        result = run(file, "--html", place)
        assert result.exit_code == 2
        assert result.output.startswith("Error: ")
    assert not page.exists()


def test_a_page_has_no_labels(recording: Path, tmp_path: Path) -> None:
    result = run(recording, "--html", tmp_path / "page.html", "--labels", tmp_path / "labels")
    assert result.exit_code == 2
    assert "--html can't be used with --labels" in result.output
