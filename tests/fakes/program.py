"""What programs of the tests' own have in common, for tests that aren't written in Python.

Such a program prints one line when it is ready, keeps what happens to it in a log, a line of JSON
each, and ends with its input: nobody who is killed leaves it behind.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trio


@contextmanager
def kept_in(log: Path) -> Generator[Callable[[dict[str, Any]], None]]:
    """Give what keeps an event, at once."""
    with log.open("a", encoding="utf-8") as file:

        def keep(event: dict[str, Any]) -> None:
            file.write(json.dumps(event) + "\n")
            file.flush()

        yield keep


async def ready_until_the_input_ends(greeting: str) -> None:
    """Say so, and wait."""
    sys.stdout.write(f"{greeting}\n")
    sys.stdout.flush()
    await trio.to_thread.run_sync(sys.stdin.buffer.read)
