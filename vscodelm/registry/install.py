"""The programs of the registry that were downloaded: one folder for each version of each agent.

An installation is made beside its place and then renamed into it. So it is there as a whole or not
at all, and a running one is never touched.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import attrs
import trio

from .addresses import BadAddress, Format, check, format_of
from .fetch import FetchError, Progress, download
from .index import Archive
from .launch import program_path
from .members import BadArchive
from .unpack import unpack

FOLDER = "agents"
_CHUNK = 1024 * 1024


class InstallError(Exception):
    """The agent isn't installed; the message says why."""


@attrs.frozen
class Shelf:
    """The installed agents, in a folder that needn't exist."""

    folder: Path

    def place(self, id_: str, version: str) -> Path:
        """Return where a version of an agent is, or would be."""
        return self.folder / FOLDER / id_ / version

    def has(self, id_: str, version: str, cmd: str) -> bool:
        """Tell whether a version of an agent is installed."""
        try:
            return self.place(id_, version).joinpath(*program_path(cmd)).is_file()
        except BadArchive:
            return False

    def versions(self, id_: str) -> list[str]:
        """Return the versions of an agent that are installed."""
        try:
            found = [path.name for path in (self.folder / FOLDER / id_).iterdir() if path.is_dir()]
        except OSError:
            return []
        return sorted(name for name in found if not name.endswith(".tmp"))

    async def install(
        self, id_: str, version: str, archive: Archive, tell: Progress, *, loopback: bool = False
    ) -> Path:
        """Download a version and return its folder; raises `InstallError`.

        `loopback` allows an http address on this machine.
        """
        place = self.place(id_, version)
        try:
            check(archive.archive, loopback=loopback)
            format_ = format_of(archive.archive)
            program = program_path(archive.cmd)
            place.parent.mkdir(parents=True, exist_ok=True)
            # A name of its own, so that two installations at once don't meet.
            work = Path(tempfile.mkdtemp(prefix=f"{version}.", suffix=".tmp", dir=place.parent))
            try:
                file, tree = work / "archive", work / "tree"
                await download(archive.archive, file, tell, loopback=loopback)
                await trio.to_thread.run_sync(_verify, file, archive.sha256)
                await trio.to_thread.run_sync(_unpack, file, format_, tree, program)
                _put(tree, place, program)
            finally:
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(lambda: shutil.rmtree(work, ignore_errors=True))
        except (BadAddress, FetchError) as error:
            raise InstallError(f"{archive.archive} can't be downloaded: {error}.") from None
        except BadArchive as error:
            raise InstallError(f"{archive.archive} isn't installed: {error}.") from None
        except OSError as error:
            raise InstallError(f"{place} can't be written ({error}).") from None
        return place


def _unpack(file: Path, format_: Format, tree: Path, program: tuple[str, ...]) -> None:
    """Unpack in a thread, which a cancel ends."""
    unpack(file, format_, tree, program=program, look=trio.from_thread.check_cancelled)


def _verify(file: Path, sha256: str | None) -> None:
    """Compare the checksum in a thread, which a cancel ends; raises `BadArchive`."""
    if sha256 is None:
        return
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            trio.from_thread.check_cancelled()
            digest.update(chunk)
    if digest.hexdigest() != sha256.lower():
        raise BadArchive("it isn't the file that the index names (its SHA-256 differs)")


def _put(tree: Path, place: Path, program: tuple[str, ...]) -> None:
    """Rename a tree into its place, unless somebody else was faster."""
    if place.exists() and not place.joinpath(*program).is_file():
        shutil.rmtree(place)  # something that was never an installation
    try:
        os.rename(tree, place)
    except OSError:
        if not place.joinpath(*program).is_file():
            raise
