"""Folders of sockets that a killed process left are removed, and no others."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path

import pytest
import trio

from agents.mcp import folders
from agents.mcp.folders import SETTLING_SECONDS, SOCKET, make_folder, remove_left
from agents.mcp.listener import open_listener

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there it is a port")

NOBODY = 2**22 + 7
"""No process has a number like that on Linux or macOS."""


def left(parent: Path, number: int = NOBODY, age: float = 2 * SETTLING_SECONDS) -> Path:
    """Make a folder such as a process leaves that is killed."""
    folder = parent / f"vscodelm-{number}-abc"
    folder.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        bind(one, folder)
    grow_old(folder, age)
    return folder


def bind(one: socket.socket, folder: Path) -> None:
    here = Path.cwd()
    os.chdir(folder)  # because the paths of a test's folder are longer than a socket's may be
    try:
        one.bind(SOCKET)
    finally:
        os.chdir(here)


def grow_old(folder: Path, age: float) -> None:
    then = folder.stat().st_mtime - age
    os.utime(folder, (then, then))


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, with a path that is short enough."""
    monkeypatch.chdir(tmp_path)
    return Path()


def test_the_folder_of_a_process_that_is_gone_is_removed(parent: Path) -> None:
    folder = left(parent)
    remove_left(str(parent))
    assert not folder.exists()


def test_our_own_is_for_this_user_alone_and_stays(parent: Path) -> None:
    folder = Path(make_folder(str(parent)))
    grow_old(folder, 2 * SETTLING_SECONDS)
    remove_left(str(parent))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_one_that_somebody_listens_in_stays(parent: Path) -> None:
    """A container has process numbers of its own, and may share this folder."""
    folder = left(parent)
    (folder / SOCKET).unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as one:
        bind(one, folder)
        one.listen(1)
        grow_old(folder, 2 * SETTLING_SECONDS)
        remove_left(str(parent))
        assert folder.exists()
    grow_old(folder, 2 * SETTLING_SECONDS)
    remove_left(str(parent))
    assert not folder.exists()


@pytest.mark.limit("agents.mcp.folders.SETTLING_SECONDS")
@pytest.mark.parametrize(
    ("age", "stays"), [(SETTLING_SECONDS / 2, True), (SETTLING_SECONDS, False)]
)
def test_a_new_one_stays(parent: Path, age: float, stays: bool) -> None:
    folder = left(parent, age=age + 0.001)
    remove_left(str(parent))
    assert folder.exists() is stays


def test_one_of_a_process_that_runs_stays(parent: Path) -> None:
    folder = left(parent, number=os.getppid())
    remove_left(str(parent))
    assert folder.exists()


def test_another_user_s_stays(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = left(parent)
    monkeypatch.setattr(folders.os, "geteuid", lambda: os.getuid() + 1)
    remove_left(str(parent))
    assert folder.exists()


def test_what_has_more_in_it_than_a_socket_stays(parent: Path) -> None:
    folder = left(parent)
    (folder / "mine").touch()
    grow_old(folder, 2 * SETTLING_SECONDS)
    remove_left(str(parent))
    assert (folder / "mine").exists()


@pytest.mark.parametrize("name", ["vscodelm-abc", "vscodelm-0-abc", "vscodelm-9", "other-9-abc"])
def test_what_is_named_otherwise_stays(parent: Path, name: str) -> None:
    folder = left(parent).rename(name)
    remove_left(str(parent))
    assert folder.exists()


def test_a_link_is_not_followed(parent: Path) -> None:
    folder = left(parent).rename("elsewhere")
    link = parent / f"vscodelm-{NOBODY}-link"
    link.symlink_to(folder, target_is_directory=True)
    remove_left(str(parent))
    assert (folder / SOCKET).exists()


def test_a_folder_that_is_not_there_is_no_trouble(parent: Path) -> None:
    remove_left(str(parent / "nowhere"))


async def test_whoever_listens_next_removes_what_a_killed_process_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        left(Path(short))
        async with open_listener():
            with trio.fail_after(5):
                while len(os.listdir(short)) > 1:
                    await trio.lowlevel.checkpoint()
        assert os.listdir(short) == []
