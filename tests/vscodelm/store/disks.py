"""Disks that don't answer."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager

from vscodelm.store.database import Database


class Disk:
    """A disk that hangs until it is told to go on."""

    def __init__(self) -> None:
        self.is_reached = threading.Event()
        self.goes_on = threading.Event()
        self.has_gone_on = False

    def hang(self, _: Database) -> None:
        self.is_reached.set()
        self.goes_on.wait(20)
        self.has_gone_on = True


@contextmanager
def hanging() -> Generator[Disk]:
    disk = Disk()
    try:
        yield disk
    finally:
        disk.goes_on.set()
