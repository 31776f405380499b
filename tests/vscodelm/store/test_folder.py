from __future__ import annotations

import stat
import sys
from pathlib import Path

import pytest

from vscodelm.store.folder import StoreFolder

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")


def test_it_makes_the_folders_that_are_missing(tmp_path: Path) -> None:
    place = StoreFolder(tmp_path / "a" / "b")
    place.prepare()
    assert place.file.stat().st_size == 0
    place.file.write_bytes(b"something")
    place.prepare()
    assert place.file.read_bytes() == b"something"


@posix
def test_what_others_could_read_is_made_private(tmp_path: Path) -> None:
    place = StoreFolder(tmp_path)
    place.folder.mkdir(mode=0o755)
    place.file.touch(mode=0o644)
    place.prepare()
    assert stat.S_IMODE(place.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.file.stat().st_mode) == 0o600


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    place = StoreFolder(tmp_path)
    place.folder.touch()
    with pytest.raises(OSError, match="exists"):
        place.prepare()


def test_what_is_put_aside_replaces_what_was(tmp_path: Path) -> None:
    place = StoreFolder(tmp_path)
    for content in (b"first", b"second"):
        place.prepare()
        place.file.write_bytes(content)
        place.put_aside()
    assert not place.folder.exists()
    assert (place.aside / place.file.name).read_bytes() == b"second"


def test_a_new_file_of_the_same_name_is_another_one(tmp_path: Path) -> None:
    place = StoreFolder(tmp_path)
    place.prepare()
    before = place.identity()
    assert place.identity() == before
    place.put_aside()
    place.prepare()
    assert place.identity() != before
