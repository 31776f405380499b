"""Writes files as a whole or not at all, whatever reads them or crashes meanwhile."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import attrs
import msgspec

from bridge.jsonrpc import REFUSED
from bridge.value import Value

Row = TypeVar("Row", bound=Value)

log = logging.getLogger("vscodelm.agents")


def write_whole(path: Path, content: bytes, *, keeps_mode: bool = False) -> None:
    """Write a file, and make its folder if it isn't there; raises `OSError`.

    Only its owner may use the file, unless it `keeps_mode`: the permissions that it had.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        if keeps_mode and path.exists():
            shutil.copymode(path, name)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


@attrs.define(eq=False, repr=False)
class KeptRows(Generic[Row]):
    """A JSON file with a list of rows, which several processes change. Its methods block.

    A file that can't be used is like none; the log says so once.
    """

    find: Callable[[], Path]
    """Returns the path; called each time, because the folder may be made late."""
    row: type[Row]
    most_bytes: int
    """Bytes of the file; a larger one isn't ours."""
    _has_warned: bool = attrs.field(default=False, init=False)

    def read(self) -> tuple[Row, ...]:
        """Return the rows, the newest last."""
        file = self.find()
        try:
            with file.open("rb") as opened:
                content = opened.read(self.most_bytes + 1)
            if len(content) > self.most_bytes:
                raise ValueError("it is too large")
            return self._decode(content)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            if not self._has_warned:
                self._has_warned = True
                log.warning("%s can't be used: %s", file, error)
            return ()

    def change(self, change: Callable[[tuple[Row, ...]], tuple[Row, ...]]) -> None:
        """Write the rows that `change` makes of the present ones; a failure is logged."""
        file = self.find()
        try:
            content = msgspec.json.format(msgspec.json.encode(change(self.read())), indent=2)
            write_whole(file, content + b"\n")
        except (OSError, ValueError) as error:  # such as half a character in a name
            log.warning("%s can't be written: %s", file, error)

    def _decode(self, content: bytes) -> tuple[Row, ...]:
        try:
            rows = msgspec.json.decode(content, type=list[self.row])
        except REFUSED as error:
            raise ValueError(str(error)) from None
        return tuple(rows)
