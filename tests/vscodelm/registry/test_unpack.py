from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vscodelm.registry import unpack as unpack_module
from vscodelm.registry.addresses import Format
from vscodelm.registry.members import BadArchive
from vscodelm.registry.unpack import unpack

from .archives import Item, all_in, tar, zipped

PROGRAM = Item("bin/goose", "honk", mode=0o755)
FORMATS: list[tuple[Format, Callable[[Any], bytes]]] = [
    ("tar.gz", tar),
    ("tar.bz2", lambda items: tar(items, "bz2")),
    ("zip", zipped),
]
each_format = pytest.mark.parametrize(("format_", "make"), FORMATS, ids=[f for f, _ in FORMATS])
links = pytest.mark.skipif(sys.platform == "win32", reason="making links needs a privilege there")


def unpacked(
    folder: Path, data: bytes, format_: Format, *, program: str = "bin/goose", most: int = 10**6
) -> Path:
    archive = folder / "archive"
    archive.write_bytes(data)
    tree = folder / "tree"
    unpack(
        archive,
        format_,
        tree,
        program=tuple(program.split("/")),
        look=lambda: None,
        most=most,
    )
    return tree


@each_format
def test_files_folders_and_modes_come_out(
    tmp_path: Path, format_: Format, make: Callable[[Any], bytes]
) -> None:
    items = [
        Item("bin", kind="folder"),
        PROGRAM,
        Item("share/doc/readme", "read", mode=0o6777),
        Item("empty", kind="folder"),
        Item("bare", "x", mode=0),
    ]
    tree = unpacked(tmp_path, make(items), format_)
    assert all_in(tree) == {
        *("bin", "bin/goose", "share", "share/doc", "share/doc/readme", "empty", "bare"),
    }
    assert (tree / "bin/goose").read_text() == "honk"
    if sys.platform != "win32":
        assert stat.S_IMODE((tree / "share/doc/readme").stat().st_mode) == 0o755
        assert stat.S_IMODE((tree / "bare").stat().st_mode) == 0o644


@each_format
def test_the_program_becomes_executable(
    tmp_path: Path, format_: Format, make: Callable[[Any], bytes]
) -> None:
    tree = unpacked(tmp_path, make([Item("bin/goose", "honk", mode=0o600)]), format_)
    assert os.access(tree / "bin/goose", os.X_OK)


def test_what_is_no_archive_is_the_program_itself(tmp_path: Path) -> None:
    tree = unpacked(tmp_path, b"\x7fELF", "raw")
    assert all_in(tree) == {"bin", "bin/goose"}
    assert (tree / "bin/goose").read_bytes() == b"\x7fELF"
    assert os.access(tree / "bin/goose", os.X_OK)


@links
def test_links_inside_come_out(tmp_path: Path) -> None:
    items = [
        Item("lib/goose.1", "honk"),
        Item("lib/goose", "goose.1", "symlink"),
        Item("bin/goose", "../lib/goose", "symlink"),
    ]
    for number, (format_, make) in enumerate(FORMATS):
        folder = tmp_path / str(number)
        folder.mkdir()
        tree = unpacked(folder, make(items), format_)
        assert (tree / "bin/goose").read_text() == "honk"
        assert os.readlink(tree / "bin/goose") == "../lib/goose"


@links
@pytest.mark.limit("vscodelm.registry.unpack._MOST_LINK")
def test_no_more_of_a_link_is_read_than_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpack_module, "_MOST_LINK", 3)
    unpacked(tmp_path, zipped([PROGRAM, Item("l", "bin/goose", "symlink")]), "zip")
    assert os.readlink(tmp_path / "tree" / "l") == "bin"


def test_a_hard_link_comes_out(tmp_path: Path) -> None:
    tree = unpacked(tmp_path, tar([PROGRAM, Item("other", "./bin/goose", "hardlink")]), "tar.gz")
    assert (tree / "other").read_text() == "honk"


BAD = [
    Item("/tmp/escaped", "x"),
    Item("../escaped", "x"),
    Item("a/../../escaped", "x"),
    Item("a\\..\\..\\escaped", "x"),
    Item("l", "../escaped", "symlink"),
    Item("l", "/etc/passwd", "symlink"),
    Item("null", kind="device"),
    Item("pipe", kind="fifo"),
    Item("bin/goose", "another"),
]


@each_format
@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("item", BAD, ids=[f"{item.kind} {item.name}" for item in BAD])
def test_an_archive_with_a_bad_member_is_refused(
    tmp_path: Path, item: Item, format_: Format, make: Callable[[Any], bytes]
) -> None:
    before = set(tmp_path.parent.iterdir())
    data = make([PROGRAM, item])
    with pytest.raises(BadArchive):
        unpacked(tmp_path, data, format_)
    assert set(tmp_path.parent.iterdir()) == before
    assert all_in(tmp_path) <= {"archive", "tree", "tree/bin", "tree/bin/goose", "tree/a"}


@each_format
def test_an_archive_without_the_program_is_refused(
    tmp_path: Path, format_: Format, make: Callable[[Any], bytes]
) -> None:
    with pytest.raises(BadArchive, match="isn't in it"):
        unpacked(tmp_path, make([Item("readme")]), format_)


@pytest.mark.limit("vscodelm.registry.unpack.UNPACKED_BYTES")
@each_format
def test_what_swells_is_stopped_before_it_fills_the_disk(
    tmp_path: Path, format_: Format, make: Callable[[Any], bytes]
) -> None:
    data = make([PROGRAM, Item("zeros", "\0" * 5_000_000)])
    assert len(data) < 100_000
    with pytest.raises(BadArchive, match="more than is taken"):
        unpacked(tmp_path, data, format_, most=1_000_000)
    assert sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file()) < 2_000_000


def test_many_files_are_counted_together(tmp_path: Path) -> None:
    data = zipped([PROGRAM, *(Item(str(n), "\0" * 300_000) for n in range(5))])
    with pytest.raises(BadArchive, match="more than is taken"):
        unpacked(tmp_path, data, "zip", most=1_000_000)


def test_headers_of_a_tar_are_counted_too(tmp_path: Path) -> None:
    """A name may be as long as an archive likes, and is read whole."""
    with pytest.raises(BadArchive, match="more than is taken"):
        unpacked(tmp_path, tar([Item("x" * 3_000_000)]), "tar.gz", most=1_000_000)


@each_format
@pytest.mark.parametrize("cut", [0, 1, 10, 0.5, 0.95])
def test_a_broken_archive_is_told_as_that(
    tmp_path: Path, format_: Format, make: Callable[[Any], bytes], cut: float
) -> None:
    noise = "".join(chr(0x21 + n * n % 89) for n in range(20_000))
    data = make([PROGRAM, Item("noise", noise)])
    end = int(len(data) * cut) if isinstance(cut, float) else cut
    with pytest.raises(BadArchive):
        unpacked(tmp_path, data[:end], format_)


@each_format
def test_garbage_is_no_archive(
    tmp_path: Path, format_: Format, make: Callable[[Any], bytes]
) -> None:
    with pytest.raises(BadArchive):
        unpacked(tmp_path, b"<html>Not found</html>" * 100, format_)


def test_an_encrypted_zip_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped([PROGRAM]))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(BadArchive, match="encrypted"):
        unpacked(tmp_path, bytes(data), "zip")


def test_a_zip_of_an_unknown_method_is_refused(tmp_path: Path) -> None:
    data = bytearray(zipped([PROGRAM]))
    data[data.index(b"PK\x01\x02") + 10] = 99
    data[data.index(b"PK\x03\x04") + 8] = 99
    with pytest.raises(BadArchive):
        unpacked(tmp_path, bytes(data), "zip")


def test_whoever_looks_can_end_it(tmp_path: Path) -> None:
    def look() -> None:
        raise ZeroDivisionError

    for format_, make in FORMATS:
        archive = tmp_path / "archive"
        archive.write_bytes(make([PROGRAM]))
        with pytest.raises(ZeroDivisionError):
            unpack(archive, format_, tmp_path / format_, program=("bin", "goose"), look=look)


PARTS = st.sampled_from(["a", "b", "A", "l", "..", ".", "", "/", "tree", "outside"])
NAMES = st.lists(PARTS, min_size=1, max_size=5).map("/".join).filter(lambda name: name.strip("/"))
ITEMS = st.builds(
    Item,
    NAMES,
    NAMES,
    st.sampled_from(["file", "file", "folder", "symlink", "symlink", "hardlink"]),
)


@links
@pytest.mark.filterwarnings("ignore:Duplicate name")
@given(st.lists(ITEMS, min_size=1, max_size=8), st.sampled_from(FORMATS))
def test_no_member_escapes_whatever_the_archive(
    items: list[Item], way: tuple[Format, Callable[[Any], bytes]]
) -> None:
    format_, make = way
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "deep" / "er"
        folder.mkdir(parents=True)
        outside = folder / "outside"
        outside.write_text("mine")
        try:
            tree = unpacked(folder, make([PROGRAM, *items]), format_)
        except BadArchive:
            tree = folder / "tree"  # what had come out by then stays inside, too
        assert {path.name for path in Path(name).iterdir()} == {"deep"}
        assert {path.name for path in folder.parent.iterdir()} == {"er"}
        assert {path.name for path in folder.iterdir()} == {"archive", "outside", "tree"}
        assert outside.read_text() == "mine"
        assert outside.stat().st_nlink == 1
        for path in tree.rglob("*"):
            assert not path.is_symlink() or _end_of(path).is_relative_to(tree)


def _end_of(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError):
        return path  # a loop, or nothing, is nowhere
