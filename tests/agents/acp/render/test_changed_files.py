"""Files of the session's folder are read to show where they were changed; no others are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trio

from agents.acp.render.changed_files import MOST_BYTES, read_changed


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


@pytest.mark.limit("agents.acp.render.changed_files.MOST_BYTES")
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
