"""Place the store: its folder, its permissions, and the place of a broken one.

The database has a folder of its own, because its several files belong together. Moved aside one by
one, they could be mixed with another database's files.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import attrs

_FILE = "sessions.db"
_BROKEN = "store-broken"


@attrs.frozen(eq=False, repr=False)
class StoreFolder:
    """The store's folder in the folder `state`; neither needs to exist."""

    state: Path

    @property
    def folder(self) -> Path:
        """The folder of the database's files."""
        return self.state / "store"

    @property
    def file(self) -> Path:
        """The database; SQLite puts two more files beside it."""
        return self.folder / _FILE

    @property
    def aside(self) -> Path:
        """The folder of the newest broken store."""
        return self.state / _BROKEN

    def prepare(self) -> None:
        """Make the file, for its owner alone, whatever the umask is; raises `OSError`."""
        self.state.mkdir(parents=True, exist_ok=True)
        _make_private(self.folder)
        # SQLite gives the files beside it the same mode.
        number = os.open(self.file, os.O_RDWR | os.O_CREAT, 0o600)
        os.close(number)
        self.file.chmod(0o600)

    def identity(self) -> tuple[int, int]:
        """Return what tells this file from another one of the same name; raises `OSError`."""
        found = self.file.stat()
        return found.st_dev, found.st_ino

    def put_aside(self) -> None:
        """Give the whole folder another name, at once; raises `OSError`."""
        if self.aside.is_dir() and not self.aside.is_symlink():
            shutil.rmtree(self.aside)
        self.folder.rename(self.aside)


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
    folder.chmod(0o700)
