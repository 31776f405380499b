"""A file is there whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any

import pytest

from agents.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "new" / "file"
    for content in (b"one", b"two"):
        write_whole(file, content)
        assert file.read_bytes() == content
    assert [*file.parent.iterdir()] == [file]


@pytest.mark.skipif(sys.platform == "win32", reason="no such modes")
@pytest.mark.parametrize(("keeps_mode", "mode"), [(False, 0o600), (True, 0o640)])
def test_a_file_keeps_its_permissions_where_it_is_to(
    keeps_mode: bool, mode: int, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    write_whole(file, b"one", keeps_mode=keeps_mode)
    file.chmod(0o640)
    write_whole(file, b"two", keeps_mode=keeps_mode)
    assert file.read_bytes() == b"two"
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_a_file_that_can_not_be_finished_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    write_whole(file, b"one")

    def fail(*_: Any) -> None:
        raise OSError("no room")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no room"):
        write_whole(file, b"two")
    assert file.read_bytes() == b"one"
    assert [*tmp_path.iterdir()] == [file]
