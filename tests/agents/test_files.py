"""A file is there whole or not at all."""

from __future__ import annotations

import os
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
