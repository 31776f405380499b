"""Files of the session's folder are read to show where they were changed; no others are."""

from __future__ import annotations

import os
import threading
from functools import partial
from pathlib import Path

import pytest
import trio

from agents.acp.render import changed_files
from agents.acp.render.changed_files import MOST_BYTES, MOST_READERS, ChangedFileReader


async def test_a_file_of_the_folder_is_read(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "a.txt"
    file.parent.mkdir()
    file.write_text("what it has\n")
    assert await ChangedFileReader(str(tmp_path)).read(str(file)) == "what it has\n"


async def test_a_file_elsewhere_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("x")
    (root / "link").symlink_to(secret)
    for path in (str(secret), str(root / "link"), str(root / ".." / "secret"), "secret", ""):
        assert await ChangedFileReader(str(root)).read(path) is None
    assert await ChangedFileReader("").read(str(secret)) is None


@pytest.mark.limit("agents.acp.render.changed_files.MOST_BYTES")
async def test_what_is_no_text_or_too_large_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(MOST_BYTES + 1)
    for name in ("bytes", "large", "missing", ".", "nul\0"):
        assert await ChangedFileReader(str(tmp_path)).read(f"{tmp_path}/{name}") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such files here")
async def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with trio.fail_after(5):
        assert await ChangedFileReader(str(tmp_path)).read(str(tmp_path / "pipe")) is None


@pytest.mark.limit("agents.acp.render.changed_files.MOST_READERS")
async def test_a_folder_that_does_not_answer_costs_no_other_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor a later one: its threads may be stuck for as long as the program runs."""
    file = tmp_path / "a.txt"
    file.write_text("x")
    gone, stuck = threading.Event(), threading.Semaphore(0)

    def hang(path: str, root: str) -> None:
        stuck.release()
        gone.wait(30)

    hung = ChangedFileReader(str(tmp_path))
    try:
        with monkeypatch.context() as patched, trio.fail_after(5):
            patched.setattr(changed_files, "_read", hang)
            async with trio.open_nursery() as nursery:
                for _ in range(MOST_READERS + 1):
                    nursery.start_soon(hung.read, str(file))
                for _ in range(MOST_READERS):
                    await trio.to_thread.run_sync(partial(stuck.acquire, timeout=5))
                nursery.cancel_scope.cancel()
        assert not stuck.acquire(blocking=False), "no more threads than these"
        with trio.fail_after(5):
            assert await ChangedFileReader(str(tmp_path)).read(str(file)) == "x"
    finally:
        gone.set()
