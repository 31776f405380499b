from __future__ import annotations

import errno
import io
import json
import stat
import sys
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.trace import FileTrace, Trace, open_trace, trace_or_none
from bridge.known_secrets import KnownSecrets
from bridge.redact import HIDDEN

PLAIN = json.dumps({"t_ms": 0, "direction": "in", "method": "session/new lm/initialize"})


def recorded(folder: Path) -> list[dict[str, Any]]:
    (file,) = folder.iterdir()
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_each_line_is_recorded_with_its_time_and_direction_and_is_on_disk_at_once(
    tmp_path: Path,
) -> None:
    trace = open_trace(tmp_path / "traces", "run")
    trace.line("in", b'{"id": 1}')
    trace.lines("out", b'{"id": 2}\n{"id": 3}\n')
    records = recorded(tmp_path / "traces")
    trace.close()
    assert [(record["direction"], record["message"]) for record in records] == [
        ("in", {"id": 1}),
        ("out", {"id": 2}),
        ("out", {"id": 3}),
    ]
    times = [record["t_ms"] for record in records]
    assert times == sorted(times)
    assert times[0] >= 0


@pytest.mark.parametrize(
    "line",
    [
        b"{oops token=hunter2",
        b"\xff\xfe",
        b'{"token": "hunter2\xff"}',
        b'{"token": "hunter2", "deep": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_of_a_line_that_cannot_be_redacted_only_the_size_is_recorded(
    tmp_path: Path, line: bytes
) -> None:
    trace = open_trace(tmp_path, "run")
    trace.line("in", line)
    trace.close()
    (record,) = recorded(tmp_path)
    assert (record["message"], record["unreadable"]) == (None, len(line))
    assert "hunter2" not in (tmp_path / "run.jsonl").read_text()


HALF = rb'"half an emoji: \ud83d"'
DEEP = b'{"type": "object", "properties": ' * 400 + b"{}" + b"}" * 400


@pytest.mark.parametrize("odd", [HALF, DEEP], ids=["half an emoji", "a deep schema"])
def test_a_line_that_is_odd_is_recorded_without_its_secrets(tmp_path: Path, odd: bytes) -> None:
    trace = open_trace(tmp_path, "run")
    trace.line("in", b'{"token": "hunter2", "odd": ' + odd + b"}")
    trace.close()
    (record,) = recorded(tmp_path)
    assert record["message"]["token"] == HIDDEN
    assert record["message"]["odd"]


def test_known_secrets_are_hidden_in_every_text(tmp_path: Path) -> None:
    trace = open_trace(tmp_path, "run", lambda text: text.replace("hunter2", HIDDEN))
    trace.line("in", b'{"text": "it is hunter2"}')
    trace.close()
    assert recorded(tmp_path)[0]["message"] == {"text": f"it is {HIDDEN}"}


def test_secrets_are_not_recorded(tmp_path: Path) -> None:
    trace = open_trace(tmp_path, "run")
    agent = {"mcp_server": {"name": "x", "env": [{"name": "KEY", "value": "hunter2"}]}}
    trace.line("in", json.dumps({"params": {"agent": agent}}).encode())
    trace.close()
    assert "hunter2" not in (tmp_path / "run.jsonl").read_text()
    assert "KEY" in (tmp_path / "run.jsonl").read_text()


_VALUES = st.text(st.characters(codec="utf-8", exclude_characters="/~:"), min_size=8)


@given(st.lists(_VALUES, min_size=5, max_size=5), st.sampled_from(["lm/initialize", "session/new"]))
def test_of_the_user_s_servers_no_value_is_recorded(values: list[str], method: str) -> None:
    """Whoever is told of them, and where else a value occurs: in an error, or in a command."""
    env, header, argument, password, place = values
    hypothesis.assume(not any(one in PLAIN for one in values))
    servers = [
        {
            "name": "n",
            "command": "/bin/n",
            "args": ["-y", argument, password],
            "env": [{"name": "A", "value": env}],
            "secrets": [password, argument],
        },
        {
            "name": "w",
            "type": "http",
            "url": f"https://host/{quote(place)}",
            "headers": [{"name": "X", "value": header}],
        },
    ]
    file = io.BytesIO()
    secrets = KnownSecrets()
    trace = FileTrace(file, secrets.hide, partial(secrets.learn_from, environment={}))
    line = {"method": method, "params": {"mcpServers": servers}}
    trace.line("in", json.dumps(line).encode())
    written = file.getvalue().decode()
    trace.line("in", json.dumps({"error": {"message": "it said " + " ".join(values)}}).encode())
    told = secrets.hide_all(f"{header} {argument} {password} {env}")
    for value in values:
        assert json.dumps(value, ensure_ascii=False)[1:-1] not in written
    for value in (header, argument, password, env):
        assert value not in told
        assert json.dumps(value, ensure_ascii=False)[1:-1] not in file.getvalue().decode()


def test_of_a_server_its_name_its_type_and_its_program_are_recorded(tmp_path: Path) -> None:
    trace = open_trace(tmp_path, "run")
    server = {"name": "n", "type": "stdio", "command": "/bin/n", "args": ["hunter2"]}
    for servers in ([server, "hunter2"], {"n": "odd"}):
        trace.line("in", json.dumps({"mcpServers": servers}).encode())
    trace.close()
    (first, second) = recorded(tmp_path)
    assert first["message"]["mcpServers"] == [{**server, "args": HIDDEN}, HIDDEN]
    assert second["message"]["mcpServers"] == {"n": "odd"}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_only_its_owner_can_read_a_trace(tmp_path: Path) -> None:
    open_trace(tmp_path, "run").close()
    assert stat.S_IMODE((tmp_path / "run.jsonl").stat().st_mode) == 0o600


def test_a_second_run_of_the_same_name_goes_on_in_the_file(tmp_path: Path) -> None:
    for number in (1, 2):
        trace = open_trace(tmp_path, "run")
        trace.line("in", json.dumps(number).encode())
        trace.close()
    assert [record["message"] for record in recorded(tmp_path)] == [1, 2]


def test_without_a_folder_nothing_is_recorded(tmp_path: Path) -> None:
    trace = Trace()
    trace.line("in", b"{}")
    trace.lines("out", b"{}\n")
    trace.close()
    assert list(tmp_path.iterdir()) == []


def test_an_agent_s_wire_is_recorded_under_its_name(tmp_path: Path) -> None:
    trace = open_trace(tmp_path, "run")
    tap = trace.tap("claude")
    tap("out", b'{"id": 1}\n{"token": "t"}\n')
    tap("in", b"oops")
    trace.line("in", b"{}")
    trace.close()
    assert [(one["direction"], one.get("peer"), one["message"]) for one in recorded(tmp_path)] == [
        ("out", "claude", {"id": 1}),
        ("out", "claude", {"token": HIDDEN}),
        ("in", "claude", None),
        ("in", None, {}),
    ]


def test_without_a_folder_no_wire_is_tapped() -> None:
    assert Trace().tap("claude") is None


class FullDisk(io.RawIOBase):
    """A file that has room for so many bytes, in a file system that may be gone altogether."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = bytes(data)[: self.room]
        self.room -= len(written)
        self.written += written
        return len(written)


@pytest.mark.parametrize("room", [0, 20, 100])
def test_a_full_disk_ends_the_trace_with_one_line_in_the_log(
    room: int, caplog: pytest.LogCaptureFixture
) -> None:
    disk = FullDisk(room)
    trace = FileTrace(io.BufferedWriter(disk))
    tap = trace.tap("claude")
    for _ in range(3):
        trace.lines("out", b'{"id": 1}\n{"id": 2}\n')
        tap("in", b"{}")
    disk.room = 1000
    trace.line("in", b"{}")  # what comes later would make a trace with a hole
    trace.close()
    trace.close()
    assert [record.getMessage() for record in caplog.records] == [
        "the trace ends here: [Errno 28] No space left on device"
    ]
    assert len(disk.written) == room
    assert disk.closed


def test_a_file_that_can_t_be_closed_is_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Unclosable(io.BytesIO):
        def close(self) -> None:
            raise OSError(errno.EIO, "Input/output error")

    trace = FileTrace(Unclosable())
    trace.line("in", b"{}")
    trace.close()
    assert len(caplog.records) == 1


def test_a_folder_that_can_t_be_made_is_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    trace_or_none(tmp_path / "file" / "traces", "run").line("in", b"{}")
    assert len(caplog.records) == 1
    trace_or_none(tmp_path / "traces", "run").close()
    assert (tmp_path / "traces" / "run.jsonl").exists()
