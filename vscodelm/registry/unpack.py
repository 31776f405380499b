"""Takes an archive apart, into a folder that is new and ours. It trusts nothing in it.

`members.Layout` decides what may be there. Sizes are counted while unpacking; announced sizes are
ignored. Files are only made where none was. Of the modes only "executable" is kept.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast

import attrs

from .addresses import Format
from .members import BadArchive, Layout, Member, path_of

UNPACKED_BYTES = 4 * 1024 * 1024 * 1024
"""The most that an archive may hold."""
_CHUNK = 1024 * 1024
_MOST_LINK = 4096
"""Bytes of a symbolic link in an archive."""
_BROKEN = (EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def unpack(
    archive: Path,
    format_: Format,
    folder: Path,
    *,
    program: tuple[str, ...],
    look: Callable[[], None],
    most: int = UNPACKED_BYTES,
) -> None:
    """Make `folder` and put into it what the archive holds; `program` becomes executable.

    `look` is called all the time, and ends it by raising. Raises `BadArchive` and `OSError`.
    """
    folder.mkdir()
    unpacking = _Unpacking(folder, look, most)
    try:
        match format_:
            case "zip":
                unpacking.zip(archive)
            case "tar.gz":
                with gzip.open(archive) as file:
                    unpacking.tar(file)
            case "tar.bz2":
                with bz2.open(archive) as file:
                    unpacking.tar(file)
            case "raw":
                with archive.open("rb") as file:
                    unpacking.file(Member("file", "/".join(program)), file, is_executable=True)
    except _BROKEN as error:
        raise BadArchive(f"it is broken: {error}") from None
    _make_executable(folder, program)


def _make_executable(folder: Path, program: tuple[str, ...]) -> None:
    path = folder.joinpath(*program)
    name = "/".join(program)
    if not path.is_file():
        raise BadArchive(f"the program {name!r} isn't in it")
    whole = path.resolve()
    if not whole.is_relative_to(folder.resolve()):  # a link has been followed
        raise BadArchive(f"the program {name!r} is outside of it")
    whole.chmod(whole.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)


@attrs.define
class _Unpacking:
    folder: Path
    look: Callable[[], None]
    left: int
    """The number of further bytes that are allowed."""
    layout: Layout = attrs.field(factory=Layout, init=False)

    def zip(self, archive: Path) -> None:
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                mode = info.external_attr >> 16
                if info.is_dir():
                    self.folder_(Member("folder", info.filename))
                    continue
                try:
                    with opened.open(info) as source:
                        self._zipped(info.filename, mode, source)
                except (NotImplementedError, RuntimeError) as error:
                    raise BadArchive(str(error)) from None

    def _zipped(self, name: str, mode: int, source: IO[bytes]) -> None:
        match stat.S_IFMT(mode):
            case stat.S_IFLNK:
                target = source.read(_MOST_LINK).decode(errors="replace")
                self.link(Member("symlink", name, target))
            case 0 | stat.S_IFREG:
                self.file(Member("file", name), source, is_executable=bool(mode & 0o111))
            case _:
                raise BadArchive(f"{name!r} is neither a file nor a folder nor a link")

    def tar(self, stream: gzip.GzipFile | bz2.BZ2File) -> None:
        # Through `_Bounded`, because headers have sizes, too.
        bounded = _Bounded(stream, self.look, self.left)
        with tarfile.open(fileobj=cast("IO[bytes]", bounded), mode="r|") as opened:
            for info in opened:
                self._tarred(opened, info)

    def _tarred(self, opened: tarfile.TarFile, info: tarfile.TarInfo) -> None:
        if info.issparse():
            raise BadArchive(f"{info.name!r} is a sparse file")
        if info.isdir():
            self.folder_(Member("folder", info.name))
        elif info.issym():
            self.link(Member("symlink", info.name, info.linkname))
        elif info.islnk():
            self.link(Member("hardlink", info.name, info.linkname))
        elif info.isreg():
            source = opened.extractfile(info)
            assert source is not None, "it is a file"
            self.file(Member("file", info.name), source, is_executable=bool(info.mode & 0o111))
        else:
            raise BadArchive(f"{info.name!r} is neither a file nor a folder nor a link")

    def folder_(self, member: Member) -> None:
        self.look()
        self.folder.joinpath(*self.layout.place(member)).mkdir(parents=True, exist_ok=True)

    def link(self, member: Member) -> None:
        self.look()
        path = self._new(member)
        if member.kind == "symlink":
            path.symlink_to(member.target)
        else:
            path.hardlink_to(self.folder.joinpath(*path_of(member.target)))

    def file(self, member: Member, source: IO[bytes], *, is_executable: bool) -> None:
        path = self._new(member)
        with path.open("xb") as file:
            while chunk := source.read(_CHUNK):
                self.look()
                self.left -= len(chunk)
                if self.left < 0:
                    raise _too_much()
                file.write(chunk)
        path.chmod(0o755 if is_executable else 0o644)

    def _new(self, member: Member) -> Path:
        path = self.folder.joinpath(*self.layout.place(member))
        path.parent.mkdir(parents=True, exist_ok=True)
        return path


def _too_much() -> BadArchive:
    return BadArchive("it holds more than is taken from an archive")


class _Bounded:
    """A stream that has an end."""

    def __init__(
        self, stream: gzip.GzipFile | bz2.BZ2File, look: Callable[[], None], most: int
    ) -> None:
        self._stream = stream
        self._look = look
        self._left = most + most // 8  # bytes between the files count here, too

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        self._look()
        try:
            chunk = self._stream.read(size)
        except OSError as error:
            if error.errno is None:  # the decompressor's, not the disk's
                raise BadArchive(f"it is broken: {error}") from None
            raise
        self._left -= len(chunk)
        if self._left < 0:
            raise _too_much()
        return chunk
