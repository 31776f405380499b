"""Files of the session's folder are read to show where they were changed; no others are."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio

from agents.acp import changed_files
from agents.acp.changed_files import MOST_BYTES, read_changed

if TYPE_CHECKING:
    from trio.testing import MockClock


async def test_a_file_of_the_folder_is_read(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "a.txt"
    file.parent.mkdir()
    file.write_text("what it has\n")
    assert await read_changed(str(file), str(tmp_path)) == "what it has\n"


async def test_a_file_elsewhere_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("x")
    (root / "link").symlink_to(secret)
    for path in (str(secret), str(root / "link"), str(root / ".." / "secret"), "secret", ""):
        assert await read_changed(path, str(root)) is None
    assert await read_changed(str(secret), "") is None


@pytest.mark.limit("agents.acp.changed_files.MOST_BYTES")
async def test_what_is_no_text_or_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(MOST_BYTES + 1)
    for name in ("bytes", "large", "missing", ".", "nul\0"):
        assert await read_changed(f"{tmp_path}/{name}", str(tmp_path)) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files here")
async def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with trio.fail_after(5):
        assert await read_changed(str(tmp_path / "pipe"), str(tmp_path)) is None


async def test_a_folder_that_does_not_answer_is_given_up(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = threading.Event()

    def hang(path: str, root: str) -> None:
        gone.wait(30)

    monkeypatch.setattr(changed_files, "_read", hang)
    try:
        assert await read_changed(str(tmp_path / "a"), str(tmp_path)) is None
        assert trio.current_time() >= changed_files.SECONDS
    finally:
        gone.set()
